"""What is in a hypergraph, in numbers, and what it will cost to find its modes."""

import sys
from collections.abc import Hashable
from dataclasses import dataclass
from time import process_time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hypermodes.hypergraph import Hypergraph
from hypermodes.labels import Labels
from hypermodes.modes import find_modes


@dataclass(frozen=True)
class Description:
    """A hypergraph in numbers.

    Attributes
    ----------
    vertices, hyperedges, incidences : int
        How many there are.
    sizes, degrees : (int, float, int)
        Smallest, median and largest number of vertices of a hyperedge, and of hyperedges of a vertex.
    soft, weighted : bool
        Whether some p(v|e) is not 1, and whether weights differ from 1.
    isolated_vertices : int
        Vertices in no hyperedge.
    isolated_hyperedges : int
        Hyperedges that share no vertex with another: they belong to no mode.
    duplicates : int
        Hyperedges with the very vertices of an earlier one.
    components, largest_component : int
        Parts that share no vertex with each other, vertices in no hyperedge aside; vertices of the largest.
    neighbours : float
        How often a hyperedge meets others at its vertices, on average.
    bytes : int
        Memory of the hypergraph.
    """

    vertices: int
    hyperedges: int
    incidences: int
    sizes: tuple[int, float, int]
    degrees: tuple[int, float, int]
    soft: bool
    weighted: bool
    isolated_vertices: int
    isolated_hyperedges: int
    duplicates: int
    components: int
    largest_component: int
    neighbours: float
    bytes: int


def describe(hypergraph: Hypergraph) -> Description:
    """Count what is in a hypergraph; O(incidences)."""
    incidence = hypergraph.incidence
    by_vertex = np.bincount(incidence.indices, minlength=hypergraph.n_vertices)
    alone = np.logical_and.reduceat(by_vertex[incidence.indices] == 1, incidence.indptr[:-1])
    used = by_vertex > 0
    components, largest = _components(hypergraph, used)
    return Description(
        vertices=hypergraph.n_vertices,
        hyperedges=hypergraph.n_edges,
        incidences=int(incidence.nnz),
        sizes=_spread(hypergraph.edge_sizes),
        degrees=_spread(by_vertex),
        soft=bool((incidence.data != 1).any()),
        weighted=bool((hypergraph.weights != 1).any()),
        isolated_vertices=int((~used).sum()),
        isolated_hyperedges=int(alone.sum()),
        duplicates=hypergraph.n_edges - _distinct(hypergraph),
        components=components,
        largest_component=largest,
        neighbours=float((by_vertex.astype(float) ** 2).sum() - by_vertex.sum()) / hypergraph.n_edges,
        bytes=_bytes(hypergraph),
    )


def seconds_for_modes(hypergraph: Hypergraph, *, patience: float = 0.2) -> float:
    """About how long `find_modes` takes on one thread, from a few starts, and more if they are quick.

    Counts do not tell: what decides is how many hyperedges a start admits on its way. Hyperedges with the
    vertices of an earlier one cost next to nothing.
    """
    starts = [hypergraph.labels[i] for i in np.random.default_rng(0).permutation(hypergraph.n_edges)]
    for few in (8, 64, 512):
        tried = starts[:few]
        seconds = min(_seconds_of(hypergraph, tried), _seconds_of(hypergraph, tried))  # the first may compile
        if seconds > patience:
            break
    return seconds / len(tried) * _distinct(hypergraph)


def _seconds_of(hypergraph: Hypergraph, starts: list[Hashable]) -> float:
    begun = process_time()
    find_modes(hypergraph, starts=starts, n_jobs=1)
    return process_time() - begun


def _spread(values: np.ndarray) -> tuple[int, float, int]:
    return int(values.min()), float(np.median(values)), int(values.max())


def _components(hypergraph: Hypergraph, used: np.ndarray) -> tuple[int, int]:
    """Number of components, and vertices of the largest, from the graph of hyperedges and their vertices."""
    incidence = hypergraph.incidence
    n_edges, n_vertices = hypergraph.n_edges, hypergraph.n_vertices
    edges = np.repeat(np.arange(n_edges), np.diff(incidence.indptr))
    n = n_edges + n_vertices
    graph = sp.coo_array((np.ones(edges.size, np.int8), (edges, incidence.indices + n_edges)), shape=(n, n))
    part = connected_components(graph, directed=False)[1][n_edges:][used]
    sizes = np.bincount(part)
    return int((sizes > 0).sum()), int(sizes.max())


def _distinct(hypergraph: Hypergraph) -> int:
    """How many sets of vertices there are, told by 128 random bits of each, summed over its vertices."""
    bits = np.random.default_rng(0).integers(0, 2**64, size=(2, hypergraph.n_vertices), dtype=np.uint64)
    incidence = hypergraph.incidence
    marks = [np.add.reduceat(one[incidence.indices], incidence.indptr[:-1]) for one in bits]
    return len(np.unique(np.rec.fromarrays(marks)))


def _bytes(hypergraph: Hypergraph) -> int:
    incidence = hypergraph.incidence
    arrays = (incidence.data, incidence.indices, incidence.indptr, hypergraph.weights)
    return sum(array.nbytes for array in arrays) + sum(
        map(_label_bytes, (hypergraph.vertices, hypergraph.labels))
    )


def _label_bytes(labels: Labels) -> int:
    if isinstance(labels, range):
        return 0
    return sys.getsizeof(labels) + sum(map(sys.getsizeof, labels))
