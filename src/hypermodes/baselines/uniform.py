"""A k-uniform hypergraph as a polynomial: Σ over hyperedges of the weight times the product of its vertices.

The clustering game, the affinity ensembles and EHC all climb this polynomial; they differ in the domain and
in the steps. With s(e) the weight of a hyperedge,

    P(x) = Σ_e s(e) Π_{v∈e} x_v,      ∂P/∂x_i = Σ_{e∋i} s(e) Π_{v∈e, v≠i} x_v.

The papers that sum over ordered k-tuples have f = k! P and r_i = (k-1)! ∂P/∂x_i.
"""

from dataclasses import dataclass
from functools import cached_property
from math import factorial
from typing import Self

import numpy as np

from hypermodes.hypergraph import Hypergraph


@dataclass(frozen=True, eq=False)
class UniformHypergraph:
    """The hyperedges of a k-uniform hypergraph as an array, and where each vertex occurs in it.

    Attributes
    ----------
    n : int
        Number of vertices.
    edges : (m, k) int64
        Vertices of each hyperedge, sorted.
    weights : (m,) float
        s(e) > 0.
    """

    n: int
    edges: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, subject: Hypergraph) -> Self:
        """Take the hyperedges and weights of a hypergraph; probabilities p(v|e) play no part here."""
        if not isinstance(subject, Hypergraph):
            raise TypeError(f"subject: expected a k-uniform Hypergraph; got a {type(subject).__name__}")
        sizes = subject.edge_sizes
        k = int(sizes[0])
        if (sizes != k).any() or k < 2:
            raise ValueError(
                "subject: expected hyperedges of one size k, 2 or more; "
                f"got sizes {sizes.min()} to {sizes.max()}"
            )
        edges = subject.incidence.indices.reshape(-1, k).astype(np.int64)
        return cls(subject.n_vertices, edges, subject.weights)

    @property
    def k(self) -> int:
        """Vertices of a hyperedge."""
        return int(self.edges.shape[1])

    @property
    def orders(self) -> int:
        """k!, the ordered tuples of a hyperedge: f = k! P."""
        return factorial(self.k)

    @cached_property
    def _occurrences(self) -> tuple[np.ndarray, np.ndarray]:
        """Hyperedges by vertex, each vertex's heaviest first, and where the list of each vertex begins."""
        vertex = self.edges.ravel()
        edge = np.repeat(np.arange(len(self.edges)), self.k)
        order = np.lexsort((edge, -self.weights[edge], vertex))
        return edge[order], np.searchsorted(vertex[order], np.arange(self.n + 1))

    @cached_property
    def degrees(self) -> np.ndarray:
        """How many hyperedges each vertex is in."""
        return np.diff(self._occurrences[1])

    def edges_at(self, vertex: int) -> np.ndarray:
        """Hyperedges of a vertex, heaviest first."""
        edges, begin = self._occurrences
        return edges[begin[vertex] : begin[vertex + 1]]

    def edges_near(self, support: np.ndarray) -> np.ndarray:
        """Hyperedges with at least one vertex in ``support``, each once."""
        edges, begin = self._occurrences
        counts = begin[support + 1] - begin[support]
        ends = np.cumsum(counts)
        if ends.size == 0 or ends[-1] == 0:
            return np.empty(0, dtype=np.int64)
        found = edges[np.repeat(begin[support] - ends + counts, counts) + np.arange(ends[-1])]
        # A hyperedge is named by each of its vertices in the support; the first of them keeps it.
        inside = np.zeros(self.n, dtype=bool)
        inside[support] = True
        members = self.edges[found]
        first = members[np.arange(found.size), inside[members].argmax(axis=1)]
        return found[first == np.repeat(support, counts)]

    def without(self, vertices: np.ndarray) -> "UniformHypergraph":
        """Leave out all hyperedges that touch any of these vertices; the numbering stays."""
        gone = np.zeros(self.n, dtype=bool)
        gone[vertices] = True
        kept = ~gone[self.edges].any(axis=1)
        return UniformHypergraph(self.n, self.edges[kept], self.weights[kept])

    def value(self, x: np.ndarray) -> float:
        """P(x)."""
        return float(self.weights @ x[self.edges].prod(axis=1))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """∂P/∂x_i for every vertex."""
        shares = others(x[self.edges]) * self.weights[:, None]
        return np.bincount(self.edges.ravel(), weights=shares.ravel(), minlength=self.n)

    def local_gradient(self, x: np.ndarray) -> np.ndarray:
        """The same from the hyperedges near the support of x alone: no other can contribute for k ≥ 2."""
        near = self.edges_near(np.flatnonzero(x))
        members = self.edges[near]
        shares = others(x[members]) * self.weights[near, None]
        return np.bincount(members.ravel(), weights=shares.ravel(), minlength=self.n)


def others(factors: np.ndarray) -> np.ndarray:
    """Product of the other entries of each row: entry (e, t) is Π_{u≠t} factors(e, u), zeros included."""
    before, after = np.ones_like(factors), np.ones_like(factors)
    for t in range(1, factors.shape[1]):
        before[:, t] = before[:, t - 1] * factors[:, t - 1]
        after[:, -t - 1] = after[:, -t] * factors[:, -t]
    products: np.ndarray = before * after
    return products
