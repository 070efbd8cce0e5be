"""Single items move to the group where the home likelihood gains most, one after the other."""

from math import lgamma, log1p

import numpy as np
from numba import njit

from hypermodes._kernels.faces import INNER, OPTIONS


@njit(**INNER)
def ties_kept(inside, degree, odds, total):
    """What a group adds to the likelihood: its inner ties, each log(1 + odds · D/D_g)."""
    return inside * log1p(odds * total / degree) if degree > 0 else 0.0


@njit(**OPTIONS)
def settle(ptr, index, tie, own, degree, count, labels, odds, cost, may_open, sweeps):
    """Move items between groups until nobody gains; `labels` (below n) is changed in place. How many moves.

    `own` are ties inside an item, `count` the vertices it stands for. The gain of a partition is
    Σ_g ties_kept - cost · (bits to say who is in which group); an empty group is offered if `may_open`,
    and the last of a group stays if not.
    """
    n = degree.size
    total, everyone = degree.sum(), count.sum()
    inside, degrees, members = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        g = labels[i]
        degrees[g] += degree[i]
        members[g] += count[i]
        inside[g] += own[i]
        for t in range(ptr[i], ptr[i + 1]):
            if labels[index[t]] == g:
                inside[g] += tie[t] / 2
    empty, n_empty, n_groups = np.empty(n, np.int64), 0, 0
    for g in range(n):
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
            alone = members[a] - count[i] < 0.5
            if alone and not may_open:
                continue
            inside[a] -= to[a] + own[i]
            degrees[a] -= degree[i]
            members[a] -= count[i]
            if alone:
                inside[a] = degrees[a] = members[a] = 0.0
                n_groups -= 1
            elif may_open and n_empty > 0:
                g = empty[n_empty - 1]
                seen[g], to[g] = i, 0.0
                near[n_near] = g
                n_near += 1
            best, chosen = 0.0, a
            for t in range(n_near):
                g = near[t]
                gain = ties_kept(inside[g] + to[g] + own[i], degrees[g] + degree[i], odds, total)
                gain -= ties_kept(inside[g], degrees[g], odds, total)
                groups = n_groups + (1 if members[g] == 0 else 0)
                words = lgamma(everyone) - lgamma(groups) - lgamma(everyone - groups + 1)
                gain += cost * (lgamma(members[g] + count[i] + 1) - lgamma(members[g] + 1) - words)
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
