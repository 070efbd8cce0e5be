"""Many ties: those that neither the support nor another tie can tell apart are of one kind, and count as one.

Twin of `certificate._kinds`. Ties of one kind may differ in what they share with hyperedges that are neither
in the support nor tied; for the question which mix of ties would raise F that plays no part, and a mix that
is best has equal parts of all hyperedges of a kind.
"""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import INNER


@njit(**INNER)
def _scattered(x):
    """An integer over all 64 bits (splitmix64)."""
    x = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(**INNER)
def _entry(row, bits):
    """What an affinity to a row adds to a key."""
    return _scattered(_scattered(row) + np.uint64(bits))


@njit(**INNER)
def kinds_of_ties(graph, rate, entries, work, rows, m, most):
    """Kind of each tie rows[m:], the first of each kind, and the affinity of each kind to itself.

    Keys are sums of scattered integers: the same within a kind, and as a rule nowhere else. Of a hypergraph
    they say the rate, the vertices that another tie has as well, and how many each member has; of a matrix
    the row, without the entry of the tie itself: two of a kind agree once each has what they have in common
    in its own place. As soon as there are more than `most` kinds, the others are left alone.
    """
    t = rows.size - m
    keys, common = np.zeros(t, np.uint64), np.zeros(t)
    work.stamp[0] += 1
    stamp = work.stamp[0]
    if rate is not None:
        rate_bits = rate.view(np.int64)
        for a in range(rows.size):
            k = rows[a]
            for u in range(graph.row_ptr[k], graph.row_ptr[k + 1]):
                v = graph.row_idx[u]
                if work.vertex_stamp[v] != stamp:
                    work.vertex_stamp[v] = stamp
                    work.mass[v] = 0.0  # hyperedges among the ties that have the vertex
                    work.mark[v] = 0  # the members that have it
                if a < m:
                    work.mark[v] += np.int64(_scattered(k))
                else:
                    work.mass[v] += graph.twins[k]
        for j in range(t):
            k = rows[m + j]
            key = _scattered(rate_bits[k])
            shared = 0
            for u in range(graph.row_ptr[k], graph.row_ptr[k + 1]):
                v = graph.row_idx[u]
                if work.mass[v] > 1.0:
                    key += _scattered(-1 - np.int64(v))
                    shared += 1
                else:
                    key += np.uint64(work.mark[v])
            keys[j], common[j] = key, 2.0 * rate[k] * shared
    if entries is not None:
        bits = entries.view(np.int64)
        for a in range(rows.size):
            work.place_stamp[rows[a]] = stamp
            work.place[rows[a]] = a - m
        for j in range(t):
            k = rows[m + j]
            for u in range(graph.row_ptr[k], graph.row_ptr[k + 1]):
                if work.place_stamp[graph.row_idx[u]] == stamp:
                    keys[j] += _entry(graph.row_idx[u], bits[u])
    kind, first, own, size = np.full(t, -1, np.int64), np.empty(t, np.int64), np.empty(t), np.empty(t)
    n = 0
    for j in range(t):
        if kind[j] >= 0:
            continue
        if n > most:
            break
        k = rows[m + j]
        for i in range(j, t):  # those that have nothing in common with it, or share vertices with it
            if kind[i] < 0 and keys[i] == keys[j]:
                kind[i] = n
        if entries is not None:
            for u in range(graph.row_ptr[k], graph.row_ptr[k + 1]):
                other = graph.row_idx[u]
                if work.place_stamp[other] == stamp and work.place[other] > j:
                    i = work.place[other]
                    both = keys[j] + _entry(k, bits[u]) == keys[i] + _entry(other, bits[u])
                    if both and kind[i] < 0:
                        kind[i], common[j] = n, entries[u]
        first[n], size[n] = j, 0.0
        for i in range(j, t):
            if kind[i] == n:
                size[n] += graph.twins[rows[m + i]]
        own[n] = common[j] * (1.0 - 1.0 / size[n])
        n += 1
    return kind, first[:n], own[:n]


@njit(**INNER)
def spread_over_kinds(twins, rows, m, kind, q, most):
    """Rows and shares of a point that has mass on members and kinds: in each kind, equal parts of all.

    No more than `most` rows are taken in: of a kind that is too large, the first.
    """
    n_kinds = q.size - m
    each, size, taken = most, np.zeros(n_kinds), np.zeros(n_kinds, np.int64)
    n_present = 0
    for k in range(n_kinds):
        n_present += q[m + k] > 0.0
    if n_present > 0:
        each = most // n_present
    where, shares = np.empty(m + most, np.int64), np.zeros(m + most)
    for fill in range(2):  # count, then fill
        w = m
        taken[:] = 0
        for j in range(kind.size):
            k = kind[j]
            if q[m + k] > 0.0 and taken[k] < each:
                taken[k] += 1
                count = twins[rows[m + j]]
                if fill == 0:
                    size[k] += count
                else:
                    where[w], shares[w] = rows[m + j], q[m + k] * count / size[k]
                    w += 1
    for a in range(m):
        where[a], shares[a] = rows[a], q[a]
    return where[:w], shares[:w]
