"""What the kernels read: a hypergraph or a sparse matrix as plain arrays, with twin hyperedges as one.

Two hyperedges are *twins* when they have the same rate and the same vertices, vertices that are in one
hyperedge only not counting: no affinity can tell them apart, and at a mode they have equal shares. A
class of μ twins is one row here, with the affinity 2 r |e| (1 - 1/μ) to itself. Without this a
thousand copies of a hyperedge, or a vertex that is in every hyperedge, would make faces of thousands.
"""

from typing import NamedTuple

import numpy as np


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
