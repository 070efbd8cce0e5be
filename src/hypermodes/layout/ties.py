"""Ties: how strongly items hold together two by two, whatever they were made from.

Points, distances and similarities give each item its nearest neighbours with strengths on a local scale
(McInnes, Healy & Melville, 2018): with distances d_ij of the k nearest of i and d_i the smallest of them,

    p(j|i) = exp(-(d_ij - d_i)/s_i),    s_i such that Σ_j p(j|i) = log₂ k.

A hyperedge e ties each two of its members by w(e)/(|e| - 1), more or less as they are soft members; p(j|i) is
the tie of i and j over the strongest of i. In both cases the tie of two items is
p(j|i) + p(i|j) - p(j|i) p(i|j): that one of them holds to the other.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hypermodes.construct.neighbours import Neighbours, Outline
from hypermodes.hypergraph import Hypergraph
from hypermodes.memory import room_for
from hypermodes.neighbourhoods import local_dimension
from hypermodes.numbering import mixed, number_type
from hypermodes.pair_ties import PARTNERS, connected_ties
from hypermodes.threads import in_threads, stretches

_AN_AFFINITY = 100  # bytes of memory for each that is given
_A_TIE = 130  # bytes of memory for each that members of a hyperedge have, before those of all are added up
LEVELS = 4096  # ties are multiples of one over this: rounding in what they are made from does not show
ROUNDING = 1e-9  # in distances that are the same
SINGLED_OUT = 16  # items of a connected part at most, of those that look the same
ROUNDS = 64  # of refining colours: items that differ further away look the same


@dataclass(frozen=True, eq=False)
class Ties:
    """A symmetric sparse matrix of ties, and what is known of the ground it lies on.

    Attributes
    ----------
    matrix : (n, n) csr_array
        Ties of two items, from 1/4096 to 1; nothing on the diagonal.
    dimension : float
        Local dimension of the points it was made from; infinite for a hypergraph or graph, which has none.
    n_neighbors : int
        Neighbours that were asked for each item; 0 for a hypergraph.
    """

    matrix: sp.csr_array
    dimension: float
    n_neighbors: int

    @classmethod
    def of_neighbours(
        cls, indices: np.ndarray, distances: np.ndarray, dimension: float, n_jobs: int | None = 1
    ) -> "Ties":
        """Tie items to their neighbours.

        Parameters
        ----------
        indices, distances : (n, k) arrays
            The neighbours of each item, nearest first. Infinite distances are no neighbours: where an item
            has fewer than k.
        dimension : float
            The local dimension.
        """
        n, k = indices.shape
        share = _strengths(distances, n_jobs)
        held = share > 0
        row = np.repeat(np.arange(n), held.sum(axis=1))
        directed = sp.csr_array((share[held], (row, indices[held])), shape=(n, n))
        return cls(_either_way(directed), dimension, k)

    @classmethod
    def of_hypergraph(cls, hypergraph: Hypergraph) -> "Ties":
        """Tie members of the same hyperedges; a connected part of one hyperedge has no ties.

        Equal hyperedges are one with the sum of their weights. A member of a hyperedge of more than 33 is
        tied to 32 others, more strongly: the cost is bounded by the incidences.
        """
        n = hypergraph.n_vertices
        rows, columns, values = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
        size = hypergraph.edge_sizes
        entries = int((size * np.minimum(size - 1, PARTNERS)).sum())
        room_for("data", f"{entries:,} ties of members", _A_TIE * entries, "leave out the largest hyperedges")
        for part in connected_ties(hypergraph):
            entries = part.matrix.tocoo()
            rows.append(part.vertices[entries.row])
            columns.append(part.vertices[entries.col])
            values.append(entries.data)
        row, column = np.concatenate(rows), np.concatenate(columns)
        matrix = sp.csr_array((np.concatenate(values), (row, column)), shape=(n, n))
        strongest = (
            np.maximum(matrix.max(axis=1).toarray().ravel(), np.finfo(float).tiny) if n else np.empty(0)
        )
        matrix.data = matrix.data / np.repeat(strongest, np.diff(matrix.indptr))
        return cls(_either_way(matrix), np.inf, 0)

    @classmethod
    def of_similarities(cls, matrix: Any, n_neighbors: int, n_jobs: int | None = 1) -> "Ties":
        """Tie items to those most similar to them: (n, n), symmetric, no number below 0.

        A similarity a is taken for that of a Gaussian: the distance is the root of -log(a / max a).
        Similarities of 0, and the diagonal, are no neighbours. All that are level with the last neighbour are
        neighbours too, or the order of items would decide.
        """
        far = _distances(matrix)
        k = max(1, min(n_neighbors, int((np.diff(far.indptr) > 0).sum()) - 1))
        short = number_type(max(far.shape[0], far.nnz))
        row = np.repeat(np.arange(far.shape[0], dtype=short), np.diff(far.indptr))
        order = np.lexsort((far.data, row))
        column, distance = far.indices[order], far.data[order]
        del order
        place = np.arange(far.nnz, dtype=short) - far.indptr.astype(short)[row]
        near = place < k
        nearest = np.full((far.shape[0], k), np.inf)
        nearest[row[near], place[near]] = distance[near]
        full = np.isfinite(nearest[:, -1])
        growth = np.empty(0)
        if full.any():
            growth = Outline.of(Neighbours(np.zeros((int(full.sum()), k), np.int64), nearest[full])).growth
        share = _strengths(nearest, n_jobs)
        held = distance <= nearest[row, -1] * (1 + ROUNDING)
        row, column, place = row[held], column[held], np.minimum(place[held], k - 1)
        directed = sp.csr_array((share[row, place], (row, column)), shape=far.shape)
        # Where all are level, or nobody has k neighbours, it is a graph and has no dimension.
        even = not (growth > ROUNDING).any()
        return cls(_either_way(directed), np.inf if even else max(1.0, local_dimension(growth, k)), k)

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self.matrix.shape[0])

    @property
    def tied(self) -> np.ndarray:
        """Whether each item has a tie."""
        return np.asarray(np.diff(self.matrix.indptr) > 0)

    def parts(self) -> np.ndarray:
        """Connected part of each item."""
        return np.asarray(connected_components(self.matrix, directed=False)[1])

    def between(self, labels: np.ndarray, n_groups: int) -> sp.csr_array:
        """Sums of ties between groups, each tie counted from both ends; items with -1 are in none."""
        inside = np.flatnonzero(labels >= 0)
        member = sp.csr_array((np.ones(inside.size), (inside, labels[inside])), shape=(labels.size, n_groups))
        return sp.csr_array(member.T @ (self.matrix @ member))

    def effective_degree(self) -> float:
        """Number of equal ties that would tell as much as the ties of an item do, on average."""
        row = np.repeat(np.arange(self.n), np.diff(self.matrix.indptr))
        total = np.bincount(row, weights=self.matrix.data, minlength=self.n)
        squares = np.bincount(row, weights=self.matrix.data**2, minlength=self.n)
        tied = total > 0
        return float((total[tied] ** 2 / squares[tied]).mean()) if tied.any() else 0.0

    def __repr__(self) -> str:
        ground = "a hypergraph" if self.n_neighbors == 0 else f"{self.n_neighbors} neighbours each"
        return f"Ties({self.matrix.nnz // 2} of {self.n} items, from {ground})"


def _either_way(share: sp.csr_array) -> sp.csr_array:
    """a + b - ab of the two directions, in 4096 levels, sorted, without a diagonal."""
    back = sp.csr_array(share.T)
    matrix = sp.csr_array(share + back - share * back)
    matrix.sum_duplicates()
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    off = row != matrix.indices
    level = np.maximum(np.rint(matrix.data[off] * LEVELS), 1.0) / LEVELS
    return sp.csr_array((level, (row[off], matrix.indices[off])), shape=matrix.shape)


def _strengths(distances: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """p(j|i) of each neighbour, nearest first."""
    from hypermodes._kernels.layout import local_strengths

    n, k = distances.shape
    share = np.empty((n, k))

    def fill(part: slice) -> None:
        local_strengths(distances[part], np.log2(max(k, 2)), share[part])

    in_threads(n_jobs, fill, stretches(n))
    return share


def _distances(matrix: Any) -> sp.csr_array:
    """Distances of all pairs that are similar."""
    similar = sp.csr_array(matrix, dtype=np.float64, copy=True)
    room_for(
        "data", f"{similar.nnz:,} affinities", _AN_AFFINITY * similar.nnz, "give a sparse matrix of fewer"
    )
    row = np.repeat(np.arange(similar.shape[0], dtype=similar.indices.dtype), np.diff(similar.indptr))
    held = (similar.data > 0) & (row != similar.indices)
    value = similar.data[held]
    if value.size:
        value = np.sqrt(np.maximum(0.0, -np.log(value / value.max())))
    return sp.csr_array((value, (row[held], similar.indices[held])), shape=similar.shape)


def canonical_order(matrix: sp.csr_array) -> np.ndarray:
    """Items in an order that depends on their ties only, not on how they are listed.

    Colours of items are refined by those around them while that tells more items apart. Of those that look
    the same in a connected part one is singled out, and colours are refined again. Where that was done often,
    the rest stay as they are listed.
    """
    part = connected_components(matrix, directed=False)[1]
    colour = _refined(matrix, np.zeros(matrix.shape[0], np.uint64), part)
    for _ in range(SINGLED_OUT):
        order, new = _kinds(colour, part)
        alike = order[~new]
        if alike.size == 0:
            break
        _, first = np.unique(part[alike], return_index=True)
        colour[alike[first]] = mixed(colour[alike[first]] + np.uint64(1))
        colour = _refined(matrix, colour, part)
    return np.argsort(colour, kind="stable")


def _refined(matrix: sp.csr_array, colour: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Colours that say what is around items that have some, as far as that tells more of them apart.

    How far that is depends on the connected part alone.
    """
    level = np.rint(matrix.data * LEVELS).astype(np.uint64) * np.uint64(0x9E3779B1)
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    size = np.bincount(part)
    known = np.zeros_like(size)
    for _ in range(ROUNDS):
        order, new = _kinds(colour, part)
        count = np.bincount(part[order[new]])
        active = (count > known) & (count < size)
        if not active.any():
            break
        known = count
        around = np.zeros_like(colour)
        np.add.at(around, row, mixed(colour[matrix.indices] + level))
        colour = np.where(active[part], mixed(colour + around), colour)
    return colour


def _kinds(colour: np.ndarray, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Items by part and colour, and whether each of them is the first of its kind."""
    order = np.lexsort((colour, part))
    new = np.ones(order.size, bool)
    new[1:] = (part[order[1:]] != part[order[:-1]]) | (colour[order[1:]] != colour[order[:-1]])
    return order, new
