"""Which of many lists are equal: hyperedges that are twins, starts that came to the same support."""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import OPTIONS

NOTHING = np.zeros(0, np.bool_)
_MIX = np.uint64(0x9E3779B97F4A7C15)


def first_alike(ptr, items, kind, left_out):
    """For each list the first one of the same kind with the same items in the same order: itself, as a rule.

    List i has items[ptr[i]:ptr[i+1]]; those that are ``left_out`` (a mask of items, or NOTHING) do not count,
    and a list without any other is like none.
    """
    n = ptr.size - 1
    first, keys = np.arange(n), np.empty(n, np.uint64)
    _write_keys(ptr, items, kind, left_out, keys)
    _compare(ptr, items, kind, left_out, keys, np.full(1 << (2 * n).bit_length(), -1, np.int32), first)
    return first


@njit(**OPTIONS)
def _write_keys(ptr, items, kind, left_out, keys):
    """Numbers that are the same for equal lists and as a rule for no others; 0 for those without items."""
    for i in range(keys.size):
        key, n_items = np.uint64(kind[i]), 0
        for k in range(ptr[i], ptr[i + 1]):
            if left_out.size == 0 or not left_out[items[k]]:
                key = (key ^ (key >> np.uint64(29)) ^ np.uint64(items[k])) * _MIX
                n_items += 1
        keys[i] = key | np.uint64(1) if n_items > 0 else np.uint64(0)


@njit(**OPTIONS)
def _compare(ptr, items, kind, left_out, keys, table, first):
    """The first ones lie in a table, at the slot that their key says or at the next that is free.

    Lists with equal keys are compared. Keys are written before: the processor then waits for the slots of
    several lists at once, which makes it four times faster.
    """
    last_slot = np.uint64(table.size - 1)
    for i in range(keys.size):
        key = keys[i]
        if key == 0:
            continue
        slot = (key ^ (key >> np.uint64(32))) & last_slot
        while table[slot] >= 0 and first[i] == i:
            j = table[slot]
            slot = (slot + np.uint64(1)) & last_slot
            if key != keys[j] or kind[i] != kind[j]:
                continue
            a, b = ptr[i], ptr[j]
            while True:
                while left_out.size > 0 and a < ptr[i + 1] and left_out[items[a]]:
                    a += 1
                while left_out.size > 0 and b < ptr[j + 1] and left_out[items[b]]:
                    b += 1
                if a == ptr[i + 1] or b == ptr[j + 1] or items[a] != items[b]:
                    break
                a, b = a + 1, b + 1
            if a == ptr[i + 1] and b == ptr[j + 1]:
                first[i] = j
        if first[i] == i:
            table[slot] = i
