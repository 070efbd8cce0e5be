"""From an affinity to the arrays the kernels read, with rows that meet lying together in memory.

The starts of a block are neighbours then, and find what they touch in the cache: on 10^5 hyperedges in
random order this halves the time of a shift, and it keeps the time from growing with their number.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from hypermodes.affinity import Affinity, HyperedgeAffinity

_ORDERED = range(2048, 2**30)  # entries worth putting in order: below all is in the cache, above int32 ends


def lay_out(affinity: Affinity) -> tuple[Any, np.ndarray]:
    """The graph of an affinity, and the row of each hyperedge: twins share one (see `_kernels.graph`)."""
    if isinstance(affinity, HyperedgeAffinity):
        stored = affinity.hypergraph.stored_rows
        if stored is not None:
            return _in_place(stored)
        return _hypergraph(affinity.hypergraph.incidence, affinity.rate)
    return _matrix(affinity.matrix())


def _in_place(stored: Mapping[str, np.ndarray]) -> tuple[Any, np.ndarray]:
    """Rows as they lie on disk, in the order they were written."""
    from hypermodes._kernels.graph import Graph

    arrays = {name: unlocked(array) for name, array in stored.items()}
    class_of = arrays.pop("class_of")
    return Graph(row_val=np.empty(0), **arrays), class_of


class _Window:
    """Shows the memory of an array without saying that it is read-only, and keeps it alive."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def unlocked(array: np.ndarray) -> np.ndarray:
    """The same memory as an array that numba does not take for read-only.

    Else kernels, which write to no array of a graph, would be compiled a second time for read-only ones.
    """
    return array if array.flags.writeable or array.size == 0 else np.asarray(_Window(array))


def _hypergraph(incidence: sp.csc_array, rate: np.ndarray) -> tuple[Any, np.ndarray]:
    """Rows over vertices. Vertices of one hyperedge alone are left out: they join nothing."""
    from hypermodes._kernels.graph import Graph, first_twins

    n_vertices, n_edges = incidence.shape
    ptr, vertices = incidence.indptr.astype(np.int64), incidence.indices
    lonely = (np.bincount(vertices, minlength=n_vertices) <= 1)[vertices]
    if lonely.any():
        vertices = vertices[~lonely]
        ptr = ptr - np.searchsorted(np.flatnonzero(lonely), ptr)
    first = first_twins(ptr, vertices, rate)
    kept = np.flatnonzero(first == np.arange(n_edges))
    rows = _members(vertices, ptr, n_vertices)
    rows = rows if kept.size == n_edges else rows[kept]
    by_vertex = rows.tocsc()
    near, near_vertices = _bipartite_order(rows, by_vertex)
    if near is not None:
        kept = kept[near]
        place = np.empty(n_vertices, np.int32)
        place[near_vertices] = np.arange(n_vertices, dtype=np.int32)
        rows = rows[near]
        rows = _members(place[rows.indices], rows.indptr, n_vertices)
        by_vertex = rows.tocsc()
    row_of = np.empty(n_edges, np.int64)
    row_of[kept] = np.arange(kept.size)
    row_of = row_of[first]
    twins = np.bincount(row_of, minlength=kept.size).astype(np.float64)
    graph = Graph(
        rows.indptr.astype(np.int64), rows.indices.astype(np.int32), np.empty(0),
        by_vertex.indptr.astype(np.int64), by_vertex.indices.astype(np.int32), rate[kept].astype(np.float64),
        twins, kept.astype(np.int64),
    )  # fmt: skip
    return graph, row_of


def _matrix(matrix: sp.csr_array) -> tuple[Any, np.ndarray]:
    """Rows of a symmetric sparse matrix with zero diagonal."""
    from hypermodes._kernels.graph import Graph

    n = matrix.shape[0]
    near = row_of = np.arange(n)
    if matrix.nnz in _ORDERED:
        near = reverse_cuthill_mckee(matrix, symmetric_mode=True)
        matrix = matrix[near][:, near]
        row_of = np.argsort(near)
    graph = Graph(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float64),
        np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0), np.ones(n), near.astype(np.int64),
    )  # fmt: skip
    return graph, row_of


def _bipartite_order(
    rows: sp.csr_array, by_vertex: sp.csc_array
) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
    """Rows and vertices breadth first from one another; None where it is not worth while."""
    if rows.nnz not in _ORDERED:
        return None, None
    n = rows.shape[0]
    ptr = np.concatenate((rows.indptr, rows.indptr[-1] + by_vertex.indptr[1:])).astype(np.int32)
    meets = np.concatenate((rows.indices.astype(np.int32) + np.int32(n), by_vertex.indices.astype(np.int32)))
    both = sp.csr_array((np.ones(meets.size, np.int8), meets, ptr), shape=(ptr.size - 1, ptr.size - 1))
    order = reverse_cuthill_mckee(both, symmetric_mode=True)
    return order[order < n], order[order >= n] - n


def _members(vertices: np.ndarray, ptr: np.ndarray, n_vertices: int) -> sp.csr_array:
    return sp.csr_array(
        (np.ones(vertices.size, np.int8), vertices, ptr), shape=(ptr.size - 1, n_vertices), copy=False
    )
