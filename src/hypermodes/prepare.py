"""From an affinity to the arrays the kernels read, with rows that meet lying together in memory.

The starts of a block are neighbours then, and find what they touch in the cache: on 10^5 hyperedges in
random order this halves the time of a shift, and it keeps the time from growing with their number.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.affinity import Affinity, HyperedgeAffinity
from hypermodes.columns import unlocked

_ORDERED = 2048  # entries worth putting in order: fewer are all in the cache
_NODES = 2**31 - 1  # rows and vertices that can be: they are numbered together, in 32 bits
_PATCH = 4096  # rows and vertices that are put together: they are in the cache


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


def _hypergraph(incidence: sp.csc_array, rate: np.ndarray) -> tuple[Any, np.ndarray]:
    """Rows over vertices. Vertices of one hyperedge alone are left out: they join nothing."""
    from hypermodes._kernels.alike import first_alike
    from hypermodes._kernels.graph import Graph
    from hypermodes._kernels.ordering import NOWHERE, rearranged, transposed

    n_vertices, n_edges = incidence.shape
    ptr, vertices = _indices(incidence)
    both = np.empty(2 * vertices.size, np.int32)  # the same memory for both orientations, before and after
    by_edge, by_vertex = both[: vertices.size], both[vertices.size :]
    vertex_ptr, _ = transposed(ptr, vertices, n_vertices, by_vertex)
    lonely = np.diff(vertex_ptr) <= 1
    first = first_alike(ptr, vertices, unlocked(rate).view(np.int64), lonely)
    kept, near = first == np.arange(n_edges), np.arange(n_edges)
    near_vertices = np.arange(n_vertices)
    if vertices.size >= _ORDERED and n_edges + n_vertices <= _NODES:
        np.add(vertices, n_edges, out=by_edge)  # vertices are nodes after all hyperedges
        order = _order(np.concatenate((ptr, ptr[-1] + vertex_ptr[1:])), both)
        is_edge = order < n_edges
        near, near_vertices = order[is_edge].astype(np.int64), order[~is_edge] - n_edges
    near = near[kept[near]]
    place = np.empty(n_vertices, np.int32)
    place[near_vertices] = np.arange(n_vertices)
    ptr, vertices = rearranged(ptr, vertices, near, np.where(lonely, NOWHERE, place), by_edge)
    vertex_ptr, edges = transposed(ptr, vertices, n_vertices, by_vertex)
    row_of = np.empty(n_edges, np.int64)
    row_of[near] = np.arange(near.size)
    row_of = row_of[first]
    twins = np.bincount(row_of, minlength=near.size).astype(np.float64)
    graph = Graph(ptr, vertices, np.empty(0), vertex_ptr, edges, rate[near], twins, near)
    return graph, row_of


def _matrix(matrix: sp.csr_array) -> tuple[Any, np.ndarray]:
    """Rows of a symmetric sparse matrix with zero diagonal."""
    from hypermodes._kernels.graph import Graph

    n = matrix.shape[0]
    near = row_of = np.arange(n)
    if matrix.nnz >= _ORDERED:
        near = _order(*_indices(matrix)).astype(np.int64)
        matrix = matrix[near][:, near]
        row_of = np.argsort(near)
    graph = Graph(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float64),
        np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0), np.ones(n), near,
    )  # fmt: skip
    return graph, row_of


def _order(ptr: np.ndarray, meets: np.ndarray) -> np.ndarray:
    """Nodes of a graph in an order in which those that meet lie together."""
    from hypermodes._kernels.ordering import in_patches

    order: np.ndarray = in_patches(ptr, meets, _PATCH)
    return order


def _indices(matrix: sp.csc_array | sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Where columns, or rows, begin, and what is in them, as the kernels want it."""
    return matrix.indptr.astype(np.int64), unlocked(matrix.indices.astype(np.int32, copy=False))
