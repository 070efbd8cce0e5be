"""Single items move to the group where the home likelihood gains most, one after the other."""

from math import log, log1p

import numpy as np
from numba import njit

from hypermodes._kernels.faces import INNER, OPTIONS


@njit(**INNER)
def ties_kept(inside, degree, odds, total):
    """What a group adds to the likelihood: its inner ties, each log(1 + odds · D/D_g)."""
    return inside * log1p(odds * total / degree) if degree > 0 else 0.0


@njit(**OPTIONS)
def settle(ptr, index, tie, own, degree, count, labels, orders, odds, cost, may_open, sweeps):
    """Move items between groups until nobody gains; `labels` (below n) is changed in place. How many moves.

    `own` are ties inside an item, `count` the vertices it stands for, `orders` the logs of 0!, 1!, 2!, … up to
    all vertices. The gain of a partition is Σ_g ties_kept - cost · (bits to say who is in which group); an
    empty group is offered if `may_open`, and the last of a group stays if not.
    """
    n = degree.size
    total, everyone = degree.sum(), count.sum()
    inside, degrees, members = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
    for i in range(n):
        g = labels[i]
        degrees[g] += degree[i]
        members[g] += count[i]
        inside[g] += own[i]
        for t in range(ptr[i], ptr[i + 1]):
            if labels[index[t]] == g:
                inside[g] += tie[t] / 2
    kept = np.empty(n)  # ties_kept of each group: most candidates have not changed since they were last asked
    empty, n_empty, n_groups = np.empty(n, np.int64), 0, 0
    for g in range(n):
        kept[g] = ties_kept(inside[g], degrees[g], odds, total)
        if members[g] > 0:
            n_groups += 1
        else:
            empty[n_empty] = g
            n_empty += 1
    to, seen, near = np.zeros(n), np.full(n, -1, np.int64), np.empty(n + 1, np.int64)
    awake = np.ones(n, np.bool_)  # only those around whom something has changed are asked again
    moves = 0
    for _ in range(sweeps):
        moved = 0
        for i in range(n):
            if not awake[i]:
                continue
            awake[i] = False
            a = labels[i]
            near[0], n_near = a, 1
            seen[a], to[a] = i, 0.0
            for t in range(ptr[i], ptr[i + 1]):
                g = labels[index[t]]
                if seen[g] != i:
                    seen[g], to[g] = i, 0.0
                    near[n_near] = g
                    n_near += 1
                to[g] += tie[t]
            alone = members[a] == count[i]
            if alone and not may_open:
                continue
            inside[a] -= to[a] + own[i]
            degrees[a] -= degree[i]
            members[a] -= count[i]
            if alone:
                inside[a] = degrees[a] = 0.0
                n_groups -= 1
            elif may_open and n_empty > 0:
                g = empty[n_empty - 1]
                seen[g], to[g] = i, 0.0
                near[n_near] = g
                n_near += 1
            kept[a] = ties_kept(inside[a], degrees[a], odds, total)
            # One group more has C(everyone - 1, n_groups) ways of sizes instead of C(everyone - 1, n_groups - 1).
            opening = cost * log((everyone - n_groups) / n_groups) if n_groups > 0 else 0.0
            best, chosen = 0.0, a
            for t in range(n_near):
                g = near[t]
                gain = ties_kept(inside[g] + to[g] + own[i], degrees[g] + degree[i], odds, total) - kept[g]
                gain += cost * (orders[members[g] + count[i]] - orders[members[g]])
                if members[g] == 0:
                    gain -= opening
                if t == 0 or gain > best + 1e-9 * (
                    1 + abs(best)
                ):  # near[0] is where it is: it stays on a tie
                    best, chosen = gain, g
            g = chosen
            if members[g] == 0:
                n_groups += 1
            inside[g] += to[g] + own[i]
            degrees[g] += degree[i]
            members[g] += count[i]
            kept[g] = ties_kept(inside[g], degrees[g], odds, total)
            if g != a:
                labels[i] = g
                moved += 1
                for t in range(ptr[i], ptr[i + 1]):
                    awake[index[t]] = True
                if n_empty > 0 and empty[n_empty - 1] == g:
                    n_empty -= 1
                if alone:
                    empty[n_empty] = a
                    n_empty += 1
            for t in range(n_near):
                seen[near[t]] = -1
        moves += moved
        if moved == 0:
            break
    return moves


@njit(**OPTIONS)
def gathered(ptr, index, tie, labels, k):
    """Ties between k groups in compressed rows, in order of first sight, and those inside each group."""
    n = labels.size
    first = np.zeros(k + 1, np.int64)  # members group by group
    for i in range(n):
        first[labels[i] + 1] += 1
    for g in range(k):
        first[g + 1] += first[g]
    member, place = np.empty(n, np.int64), first.copy()
    for i in range(n):
        member[place[labels[i]]] = i
        place[labels[i]] += 1
    inside = np.zeros(k)
    new_ptr, size = np.zeros(k + 1, ptr.dtype), 0
    new_index, new_tie = np.empty(index.size, index.dtype), np.empty(tie.size)
    at = np.full(k, -1, np.int64)  # where the tie to a group is, if that is in the present row
    for g in range(k):
        begin = size
        for m in range(first[g], first[g + 1]):
            for t in range(ptr[member[m]], ptr[member[m] + 1]):
                h = labels[index[t]]
                if h == g:
                    inside[g] += tie[t] / 2
                elif at[h] < begin:
                    at[h] = size
                    new_index[size], new_tie[size] = h, tie[t]
                    size += 1
                else:
                    new_tie[at[h]] += tie[t]
        new_ptr[g + 1] = size
    return new_ptr, new_index[:size].copy(), new_tie[:size].copy(), inside
