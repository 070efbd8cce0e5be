"""Groups join by the largest lift, ties over what their degrees would make by chance, until none is left."""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import INNER, OPTIONS

NOBODY = -1


@njit(**INNER)
def sink(heap, size, bound, place):
    """Put a tie whose bound was lowered in its place; of equal ones the first goes first."""
    while True:
        first, child = place, 2 * place + 1
        for other in range(child, min(child + 2, size)):
            a, b = heap[other], heap[first]
            if bound[a] > bound[b] or (bound[a] == bound[b] and a < b):
                first = other
        if first == place:
            return
        heap[place], heap[first] = heap[first], heap[place]
        place = first


@njit(**INNER)
def slot_of(table, ends, weight, a, b):
    """Where the table has the tie between a and b, or would have it; ties that are used up are passed by."""
    mask = np.uint64(table.size - 1)
    low, high = np.uint64(min(a, b)), np.uint64(max(a, b))
    slot = (low * np.uint64(0x9E3779B97F4A7C15) + high) * np.uint64(0xBF58476D1CE4E5B9)
    slot = (slot ^ (slot >> np.uint64(32))) & mask
    while True:
        tie = table[slot]
        if tie == NOBODY:
            return slot
        one, other = ends[2 * tie], ends[2 * tie + 1]
        if weight[tie] > 0 and ((one == a and other == b) or (one == b and other == a)):
            return slot
        slot = (slot + np.uint64(1)) & mask


@njit(**INNER)
def filled(table, ends, weight):
    """Enter all ties that are left into an empty table."""
    table[:] = NOBODY
    count = 0
    for tie in range(weight.size):
        if weight[tie] > 0:
            table[slot_of(table, ends, weight, ends[2 * tie], ends[2 * tie + 1])] = tie
            count += 1
    return count


@njit(**OPTIONS)
def join(ends, weight, degree):
    """Join the ends of the tie of the largest lift w D/(D_a D_b), again and again: a, b and lift of each.

    `ends[2t]` and `ends[2t + 1]` are what tie t of weight[t] > 0 is between; all three are used up. What is
    joined keeps the number of the one that had more ties.

    Notes
    -----
    The lift of two groups taken together is between those of each, so a lift that was true once is a bound
    for good: ties wait in a heap by what they were, and are looked at again when they come to the top. The
    ties of the joined are handed over from the fewer to the more. O(T log² T) for T ties.
    """
    n, n_ties, total = degree.size, weight.size, degree.sum()
    following = np.full(2 * n_ties, NOBODY)  # ends are in a list for each group
    first, last, length = np.full(n, NOBODY), np.full(n, NOBODY), np.zeros(n, np.int64)
    for end in range(2 * n_ties):
        a = ends[end]
        if first[a] == NOBODY:
            first[a] = end
        else:
            following[last[a]] = end
        last[a] = end
        length[a] += 1
    size = 4
    while size < 4 * n_ties:
        size *= 2
    table = np.empty(size, np.int64)
    used = filled(table, ends, weight)
    bound = np.empty(n_ties)
    for t in range(n_ties):
        bound[t] = weight[t] * total / (degree[ends[2 * t]] * degree[ends[2 * t + 1]])
    heap = np.arange(n_ties)
    for place in range(n_ties // 2 - 1, -1, -1):
        sink(heap, n_ties, bound, place)
    joined, lifts, n_joins = np.empty((n, 2), np.int64), np.empty(n), 0
    waiting = n_ties
    while waiting > 0:
        t = heap[0]
        a, b = ends[2 * t], ends[2 * t + 1]
        if weight[t] > 0:
            lift = weight[t] * total / (degree[a] * degree[b])
            if lift < bound[t] * (1 - 1e-12):
                bound[t] = lift
                sink(heap, waiting, bound, 0)
                continue
            joined[n_joins, 0], joined[n_joins, 1], lifts[n_joins] = a, b, lift
            n_joins += 1
            if length[a] < length[b]:
                a, b = b, a
            weight[t] = 0.0
            if used + length[b] > size // 2:
                used = filled(table, ends, weight)
            degree[a] += degree[b]
            end = first[b]
            while end != NOBODY:
                own = end // 2
                if weight[own] > 0:
                    slot = slot_of(table, ends, weight, a, ends[end ^ 1])
                    other = table[slot]
                    if other == NOBODY:
                        table[slot] = own
                        used += 1
                    elif bound[own] > bound[other]:  # the one with the larger bound stands for both
                        weight[own] += weight[other]
                        weight[other] = 0.0
                        table[slot] = own
                    else:
                        weight[other] += weight[own]
                        weight[own] = 0.0
                ends[end] = a
                end = following[end]
            following[last[a]] = first[b]
            last[a] = last[b]
            length[a] += length[b]
        waiting -= 1
        heap[0] = heap[waiting]
        sink(heap, waiting, bound, 0)
    return joined[:n_joins], lifts[:n_joins]
