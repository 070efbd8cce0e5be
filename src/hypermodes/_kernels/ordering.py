"""Rows and vertices put in an order in which those that meet lie together."""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import OPTIONS

NOWHERE = -1

_AWAY, _AT_THE_BORDER, _PLACED = range(3)


# Arrays are made here and filled by the kernels: NumPy asks the system for large pages, numba does not.


def in_patches(ptr, meets, most):
    """Nodes of a graph in patches of about ``most``, each gathered breadth first and then left behind.

    All that a node meets goes into one patch, however much it is. A patch begins at the node that has waited
    longest at the border of those before, or at the next node nobody came to. Breadth first through all of a
    graph, neighbours would lie a whole front apart.
    """
    n = ptr.size - 1
    order = np.empty(n, np.int32)
    _gather_patches(ptr, meets, most, np.empty(n, np.int32), np.zeros(n, np.int8), order)
    return order


def rearranged(ptr, indices, order, place, room):
    """Rows of a sparse matrix in this order, and columns at these places or NOWHERE, as (ptr, indices).

    Indices are written into the room for them.
    """
    new_ptr = np.zeros(order.size + 1, np.int64)
    _rearrange(ptr, indices, order, place, new_ptr, room)
    return new_ptr, room[: new_ptr[-1]]


def transposed(ptr, indices, n_columns, room):
    """Rows of each column of a sparse matrix, in order, as (ptr, rows). Rows are written into the room."""
    ends = np.zeros(n_columns + 2, np.int64)
    _transpose(ptr, indices, ends, room)
    return ends[:-1], room[: ends[-2]]


@njit(**OPTIONS)
def _gather_patches(ptr, meets, most, border, state, order):
    n_placed = n_border = n_passed = 0
    for seed in range(order.size):
        if state[seed] != _AWAY:
            continue
        state[seed] = _AT_THE_BORDER
        border[n_border] = seed
        n_border += 1
        while n_passed < n_border:
            begin = border[n_passed]
            n_passed += 1
            if state[begin] == _PLACED:
                continue
            state[begin] = _PLACED
            order[n_placed] = begin
            looked_at, full = n_placed, n_placed + most
            n_placed += 1
            while looked_at < n_placed:
                node, growing = order[looked_at], n_placed < full
                looked_at += 1
                for k in range(ptr[node], ptr[node + 1]):
                    other = meets[k]
                    if growing and state[other] != _PLACED:
                        state[other] = _PLACED
                        order[n_placed] = other
                        n_placed += 1
                    elif state[other] == _AWAY:
                        state[other] = _AT_THE_BORDER
                        border[n_border] = other
                        n_border += 1


@njit(**OPTIONS)
def _rearrange(ptr, indices, order, place, new_ptr, new_indices):
    end = 0
    for there in range(order.size):
        for k in range(ptr[order[there]], ptr[order[there] + 1]):
            new_indices[end] = place[indices[k]]
            end += new_indices[end] != NOWHERE
        new_ptr[there + 1] = end


@njit(**OPTIONS)
def _transpose(ptr, indices, ends, rows):
    """Each end is first where a column begins, and moves on with every row that is put there."""
    for column in indices:
        ends[column + 2] += 1
    for column in range(ends.size - 1):
        ends[column + 1] += ends[column]
    for row in range(ptr.size - 1):
        for k in range(ptr[row], ptr[row + 1]):
            end = ends[indices[k] + 1]
            rows[end] = row
            ends[indices[k] + 1] = end + 1
