"""Which of many lists are equal: hyperedges that are twins, starts that came to the same support."""

import numpy as np
from numba import njit

from hypermodes._kernels.faces import INNER, OPTIONS

_MIX = np.uint64(0x9E3779B97F4A7C15)
NOTHING = np.zeros(0, np.bool_)


@njit(**OPTIONS)
def first_alike(ptr, items, kind, left_out):
    """For each list the first one of the same kind with the same items in the same order: itself, as a rule.

    List i has items[ptr[i]:ptr[i+1]]; those that are ``left_out`` (a mask of items, or NOTHING) do not count,
    and a list without any other is like none. The first ones lie in a table, at the slot that their key says
    or at the next that is free; lists with equal keys are compared.
    """
    n = ptr.size - 1
    n_slots = 2
    while n_slots < 2 * n:
        n_slots *= 2
    table, last_slot = np.full(n_slots, -1, np.int32), np.uint64(n_slots - 1)
    first, keys = np.arange(n), _keys(ptr, items, kind, left_out)
    for i in range(n):
        key = keys[i]
        if key == 0:
            continue
        slot = (key ^ (key >> np.uint64(32))) & last_slot
        while table[slot] >= 0 and first[i] == i:
            j = table[slot]
            if key == keys[j] and kind[i] == kind[j] and _equal(ptr, items, left_out, i, j):
                first[i] = j
            slot = (slot + np.uint64(1)) & last_slot
        if first[i] == i:
            table[slot] = i
    return first


@njit(**INNER)
def _keys(ptr, items, kind, left_out):
    """Numbers that are the same for equal lists and as a rule for no others; 0 for those without items."""
    keys = np.empty(ptr.size - 1, np.uint64)
    for i in range(keys.size):
        key, n_items = np.uint64(kind[i]), 0
        for k in range(ptr[i], ptr[i + 1]):
            if left_out.size == 0 or not left_out[items[k]]:
                key = (key ^ (key >> np.uint64(29)) ^ np.uint64(items[k])) * _MIX
                n_items += 1
        keys[i] = key | np.uint64(1) if n_items else np.uint64(0)
    return keys


@njit(**INNER)
def _equal(ptr, items, left_out, i, j):
    """Whether two lists have the same items."""
    a, b = _next(ptr, items, left_out, ptr[i], i), _next(ptr, items, left_out, ptr[j], j)
    while a < ptr[i + 1] and b < ptr[j + 1] and items[a] == items[b]:
        a, b = _next(ptr, items, left_out, a + 1, i), _next(ptr, items, left_out, b + 1, j)
    return a == ptr[i + 1] and b == ptr[j + 1]


@njit(**INNER)
def _next(ptr, items, left_out, k, i):
    """The first place from k on where list i has an item that counts, or its end."""
    while k < ptr[i + 1] and left_out.size > 0 and left_out[items[k]]:
        k += 1
    return k
