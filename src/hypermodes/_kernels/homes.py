"""Single items move to the group where the home likelihood gains most, one after the other."""

from math import log, log1p

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import INNER, OPTIONS

INSIDE, DEGREE, WORTH, MEMBERS = range(4)  # what is known of a group, side by side: they are read together


@njit(**INNER)
def worth(degree, odds, total):
    """What a tie inside a group adds to the likelihood: log(1 + odds · D/D_g)."""
    return log1p(odds * total / degree) if degree > 0 else 0.0


@njit(**INNER)
def settle(ptr, index, tie, own, degree, count, labels, orders, odds, cost, may_open, sweeps):
    """Move items between groups until nobody gains; `labels` (below n) is changed in place. How many moves.

    `own` are ties inside an item, `count` the vertices it stands for, `orders` the logs of 0!, 1!, 2!, … up
    to all vertices. The gain of a partition is Σ_g (ties inside · worth) - cost · (nats to say who is in
    which group); an empty group is offered if `may_open`, and the last of a group stays if not.
    """
    n = degree.size
    total, everyone = degree.sum(), count.sum()
    group = np.zeros((n, 4))
    for i in range(n):
        g = labels[i]
        group[g, DEGREE] += degree[i]
        group[g, MEMBERS] += count[i]
        inside = own[i]
        for t in range(ptr[i], ptr[i + 1]):
            if labels[index[t]] == g:
                inside += tie[t] / 2
        group[g, INSIDE] += inside
    empty, n_empty, n_groups = np.empty(n, labels.dtype), 0, 0
    for g in range(n):
        group[g, WORTH] = worth(group[g, DEGREE], odds, total)
        if group[g, MEMBERS] > 0:
            n_groups += 1
        else:
            empty[n_empty] = g
            n_empty += 1
    to, near = np.full(n, -1.0), np.empty(n + 1, labels.dtype)  # ties to groups that are near, else -1
    awake = np.ones(n, np.bool_)  # only those around whom something has changed are asked again
    moves = 0
    for _ in range(sweeps):
        moved = 0
        for i in range(n):
            if not awake[i]:
                continue
            awake[i] = False
            a = labels[i]
            alone = group[a, MEMBERS] == count[i]
            if alone and not may_open:
                continue
            near[0], n_near = a, 1
            to[a] = 0.0
            for t in range(ptr[i], ptr[i + 1]):
                g = labels[index[t]]
                if to[g] < 0:
                    to[g] = 0.0
                    near[n_near] = g
                    n_near += 1
                to[g] += tie[t]
            group[a, INSIDE] -= to[a] + own[i]
            group[a, DEGREE] -= degree[i]
            group[a, MEMBERS] -= count[i]
            if alone:
                group[a, INSIDE] = group[a, DEGREE] = 0.0
                n_groups -= 1
            elif may_open and n_empty > 0:
                g = empty[n_empty - 1]
                to[g] = 0.0
                near[n_near] = g
                n_near += 1
            group[a, WORTH] = worth(group[a, DEGREE], odds, total)
            # With one group more, sizes are one of C(N-1, K) and no longer of C(N-1, K-1).
            opening = cost * log((everyone - n_groups) / n_groups) if n_groups > 0 else 0.0
            best, chosen = 0.0, a
            for t in range(n_near):
                g = near[t]
                brought, members = to[g] + own[i], int(group[g, MEMBERS])
                told = cost * (orders[members + count[i]] - orders[members])
                if members == 0:
                    told -= opening
                elif t > 0 and brought * group[g, WORTH] + told <= best:
                    continue  # each tie is worth less in a larger group: it cannot gain more than this
                gain = (group[g, INSIDE] + brought) * worth(group[g, DEGREE] + degree[i], odds, total)
                gain += told - group[g, INSIDE] * group[g, WORTH]
                # near[0] is where it is: it stays on a tie
                if t == 0 or gain > best + 1e-9 * (1 + abs(best)):
                    best, chosen = gain, g
            g = chosen
            if group[g, MEMBERS] == 0:
                n_groups += 1
            group[g, INSIDE] += to[g] + own[i]
            group[g, DEGREE] += degree[i]
            group[g, MEMBERS] += count[i]
            group[g, WORTH] = worth(group[g, DEGREE], odds, total)
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
                to[near[t]] = -1.0
        moves += moved
        if moved == 0:
            break
    return moves


@njit(**OPTIONS)
def gathered(ptr, index, tie, labels, k):
    """Ties between k groups in compressed sorted rows, and those inside each group; ties are symmetric."""
    n = labels.size
    first = np.zeros(k + 1, np.int64)  # members group by group
    for i in range(n):
        first[labels[i] + 1] += 1
    for g in range(k):
        first[g + 1] += first[g]
    member, place = np.empty(n, np.int32), first.copy()
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
    # Columns are found in the order of rows, and are the rows.
    row_index, row_tie, free = np.empty(size, index.dtype), np.empty(size), new_ptr.copy()
    for g in range(k):
        for t in range(new_ptr[g], new_ptr[g + 1]):
            h = new_index[t]
            row_index[free[h]], row_tie[free[h]] = g, new_tie[t]
            free[h] += 1
    return new_ptr, row_index, row_tie, inside


@njit(**OPTIONS)
def fit(inside, degrees):
    """The most likely x: the share of ties that is made at home, given x (EM, a concave problem)."""
    total, share = degrees.sum(), 0.5
    for _ in range(200):
        at_home = 0.0
        for g in range(degrees.size):
            ratio = share * total / degrees[g]
            at_home += inside[g] * ratio / (1 - share + ratio)
        new = min(max(at_home / (total / 2), 1e-6), 1 - 1e-6)
        if abs(new - share) < 1e-9:
            break
        share = new
    return share


@njit(**INNER)
def explained(inside, degrees, members, share, cost, orders):
    """Evidence: Σ_g E_g log(1 - x + x D/D_g) + E_between log(1 - x) - cost · words."""
    total, everyone, k = degrees.sum(), orders.size - 1, degrees.size
    gain = (total / 2 - inside.sum()) * log(1 - share)
    words = orders[everyone] + orders[everyone - 1] - orders[k - 1] - orders[everyone - k] + log(everyone)
    for g in range(k):
        gain += inside[g] * log(1 - share + share * total / degrees[g])
        words -= orders[members[g]]
    return gain - cost * words


@njit(**INNER)
def renumber(labels):
    """Number groups without gaps, in place; how many there are."""
    number = np.zeros(labels.size, labels.dtype)
    for g in labels:
        number[g] = 1
    k = 0
    for g in range(labels.size):
        if number[g]:
            number[g] = k
            k += 1
    for i in range(labels.size):
        labels[i] = number[labels[i]]
    return k


@njit(**INNER)
def summed(values, labels, k):
    """Sums over the members of each group."""
    total = np.zeros(k, values.dtype)
    for i in range(labels.size):
        total[labels[i]] += values[i]
    return total


@njit(**OPTIONS)
def ascend(ptr, index, tie, labels, orders, share, cost, may_open, sweeps, rounds, least):
    """Vertices settle, then whole groups, and so on upwards; the best labels, their x and their evidence.

    x is fitted again, and everything is done again, while that gains more than the share `least`.
    """
    n = labels.size
    degree = np.zeros(n)
    for i in range(n):
        for t in range(ptr[i], ptr[i + 1]):
            degree[i] += tie[t]
    nothing, ones = np.zeros(n), np.ones(n, np.int64)
    labels = labels.copy()
    best, best_share, best_labels = -np.inf, share, labels.copy()
    for _ in range(rounds):
        odds = share / (1 - share)
        level_ptr, level_index, level_tie = ptr, index, tie  # vertices at first, then groups of them
        inside, degrees, members = nothing, degree, ones
        above, ground, k = labels.copy(), True, n
        while True:  # one call of each, because every one is compiled
            moves = settle(
                level_ptr, level_index, level_tie, inside, degrees, members, above, orders, odds, cost,
                may_open, sweeps,
            )  # fmt: skip
            if moves == 0 and not ground:
                break
            k = renumber(above)
            level_ptr, level_index, level_tie, joined = gathered(level_ptr, level_index, level_tie, above, k)
            inside = summed(inside, above, k) + joined
            degrees, members = summed(degrees, above, k), summed(members, above, k)
            for i in range(n):
                labels[i] = above[i if ground else labels[i]]
            if not may_open:
                break
            above, ground = np.arange(k).astype(labels.dtype), False
        share, now = 0.5, 0.0
        if k > 1:
            share = fit(inside, degrees)
            now = explained(inside, degrees, members, share, cost, orders)
        worth_it = now > best + 1e-6 + least * abs(best) or best == -np.inf
        if now > best:
            best, best_share, best_labels = now, share, labels.copy()
        if not worth_it:
            break
    return best_labels, best_share, best
