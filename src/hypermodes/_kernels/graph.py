"""What the kernels read: a hypergraph or a sparse matrix as plain arrays, with twin hyperedges as one.

Two hyperedges are *twins* when they have the same rate and the same vertices, vertices that are in one
hyperedge only not counting: no affinity can tell them apart, and at a mode they have equal shares. A
class of μ twins is one row here, with the affinity 2 r |e| (1 - 1/μ) to itself. Without this a
thousand copies of a hyperedge, or a vertex that is in every hyperedge, would make faces of thousands.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from hypermodes._kernels.faces import OPTIONS

_TOGETHER = 1 << 13  # hyperedges: what is computed of them stays in the cache


class Graph(NamedTuple):
    """Rows are hyperedges (classes of twins), either over vertices or, for a matrix, over each other."""

    row_ptr: np.ndarray
    row_idx: np.ndarray
    row_val: np.ndarray
    """Affinities, for a matrix; empty for a hypergraph."""
    vertex_ptr: np.ndarray
    vertex_idx: np.ndarray
    """The rows of each vertex; empty for a matrix."""
    rate: np.ndarray
    """w(e)/δ(e); empty for a matrix."""
    twins: np.ndarray
    """Number of twins a row stands for."""
    first_edge: np.ndarray
    """The first hyperedge a row stands for: among equals the first is taken, whatever the layout."""


class Work(NamedTuple):
    """Scratch of one thread. A slot is valid if its stamp is the current one, so nothing is ever cleared."""

    reward: np.ndarray
    row_stamp: np.ndarray
    row_list: np.ndarray
    place: np.ndarray
    place_stamp: np.ndarray
    mass: np.ndarray
    rated_mass: np.ndarray
    vertex_stamp: np.ndarray
    vertex_list: np.ndarray
    mark: np.ndarray
    stamp: np.ndarray


def workspace(graph):
    """Scratch arrays for one thread."""
    n, n_vertices = graph.twins.size, graph.vertex_ptr.size - 1
    return Work(
        reward=np.zeros(n),
        row_stamp=np.zeros(n, np.int64),
        row_list=np.zeros(n, np.int64),
        place=np.zeros(n, np.int32),
        place_stamp=np.zeros(n, np.int64),
        mass=np.zeros(n_vertices),
        rated_mass=np.zeros(n_vertices),
        vertex_stamp=np.zeros(n_vertices, np.int64),
        vertex_list=np.zeros(n_vertices, np.int64),
        mark=np.zeros(n_vertices, np.int64),
        stamp=np.zeros(1, np.int64),
    )


def first_twins(ptr, vertices, rate):
    """For each hyperedge the first one with the same shared vertices and rate (itself, as a rule)."""
    return confirmed_twins(ptr, vertices, rate, twin_keys(ptr, vertices, rate))


def twin_keys(ptr, vertices, rate):
    """A number for each hyperedge that is equal for twins and, as a rule, for no others."""
    keys = scramble(rate.astype(np.float64).view(np.uint64))
    for low in range(0, keys.size, _TOGETHER):
        within = ptr[low : low + _TOGETHER + 1]
        sums = np.zeros(within[-1] - within[0] + 1, np.uint64)
        np.cumsum(scramble(vertices[within[0] : within[-1]].astype(np.uint64) + np.uint64(1)), out=sums[1:])
        keys[low : low + _TOGETHER] += np.diff(sums[within - within[0]])
    return scramble(keys)


def confirmed_twins(ptr, vertices, rate, key):
    """The first twin of each hyperedge, given their keys."""
    order = np.argsort(key, kind="stable")
    key = key[order]
    same_key = np.concatenate(([False], key[1:] == key[:-1]))
    first = np.arange(rate.size)
    if same_key.any():
        _confirm_twins(ptr, vertices, rate, order, same_key, first)
    return first


def scramble(x):
    """A 64-bit mixing function (splitmix64), so that sums of it tell sets apart."""
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(**OPTIONS)
def _confirm_twins(ptr, vertices, rate, order, same_key, first):
    """Compare hyperedges with equal keys: a key may lie. Those without shared vertices stay alone."""
    begin = 0
    for k in range(order.size):
        if not same_key[k]:
            begin = k
            continue
        i = order[k]
        size = ptr[i + 1] - ptr[i]
        for other in range(begin, k):
            j = order[other]
            if first[j] != j or size == 0 or ptr[j + 1] - ptr[j] != size or rate[i] != rate[j]:
                continue
            equal = True
            for t in range(size):
                if vertices[ptr[i] + t] != vertices[ptr[j] + t]:
                    equal = False
                    break
            if equal:
                first[i] = j
                break
