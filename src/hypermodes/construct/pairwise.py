"""Affinities of items to a probabilistic hypergraph: one hyperedge for each item and those most like it."""

from math import ceil, log2
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.hypergraph import Hypergraph
from hypermodes.matrices import given_matrix
from hypermodes.memory import room_for
from hypermodes.scalars import whole_number

KINDS = ("similarity", "distance")
SCALE = 7  # the neighbour whose distance is the scale around an item
_BYTES = {"dense": 100, "sparse": 200}  # of memory for each number that is given
ASYMMETRY = 1e-6  # of the largest entry: what rounding may do to a symmetric matrix


def pairwise_hypergraph(affinity: Any, k: int | None = None, *, kind: str = "similarity") -> Hypergraph:
    """Make hyperedge i of item i and the k items most similar to it, weighted by density.

    With x_ij the squared distance of two items, and x_i that of i and its 7th neighbour, their similarity is

        s_ij = exp(-x_ij/√(x_i x_j))

    (Zelnik-Manor & Perona, 2004). An item j belongs to the hyperedge of i with probability
    p(j|e_i) = s_ij / max_j s_ij, and i itself with probability 1: the scale is that of the items, not of the
    matrix. The weight is w(e) = δ(e) m, with m the mean similarity of i to the others in its hyperedge: a
    shared vertex is worth m, the local density.

    Parameters
    ----------
    affinity : (n, n) array or sparse matrix
        Symmetric up to rounding, finite, no number below 0; the diagonal plays no part. What a sparse matrix
        does not hold is not similar at all, or infinitely far.
    k : int, optional
        Others in a hyperedge; ⌈log₂ n⌉ for n items that are like another if not given. All that are level
        with the k-th belong to it too, and nobody whose similarity is 0.
    kind : {"similarity", "distance"}
        What the numbers are. Distances are squared; a similarity a is taken for exp(-x) in units of the
        largest, x = -log(a/max a), and those of 0 for infinitely far.

    Examples
    --------
    >>> pairwise_hypergraph([[0, 3, 1], [3, 0, 2], [1, 2, 0]], k=1)
    Hypergraph(3 vertices, 3 hyperedges of 2 vertices, 6 incidences, weighted)
    """
    similar = similarities(affinity, kind)
    n = similar.shape[0]
    if k is None:
        k = ceil(log2(max(2, int((np.diff(similar.indptr) > 0).sum()))))
    k = whole_number("k", k, "a positive whole number")
    nearest = _strongest(similar, min(k, n - 1))
    counts = np.diff(nearest.indptr)
    row = np.repeat(np.arange(n), counts)
    best, total = np.ones(n), np.zeros(n)
    begins = np.flatnonzero(counts)
    if begins.size:
        best[begins] = np.maximum.reduceat(nearest.data, nearest.indptr[begins])
        total[begins] = np.add.reduceat(nearest.data, nearest.indptr[begins])
    share = np.maximum(nearest.data / best[row], np.finfo(float).tiny)
    belongs = sp.csr_array((share, nearest.indices, nearest.indptr), shape=(n, n)) + sp.eye_array(n)
    incidence = sp.csc_array(belongs.T)
    incidence.sort_indices()
    # Who is like nobody is a hyperedge of one, as light as the lightest of the others.
    density = np.where(counts > 0, total / np.maximum(counts, 1), 1.0)
    density[counts == 0] = density.min()
    return Hypergraph.from_incidence(incidence, weights=np.asarray(incidence.sum(axis=0)).ravel() * density)


def similarities(affinity: Any, kind: str = "similarity") -> sp.csr_array:
    """Check affinities and put each on the scale of its two items: s_ij of `pairwise_hypergraph`.

    The result is symmetric; the diagonal, and what vanishes, are left out. Where so many coincide that x_i
    would be 0, the smallest positive one counts, and 1 if there is none.
    """
    if kind not in KINDS:
        raise ValueError(f"kind: expected 'similarity' or 'distance'; got {kind!r}")
    matrix = _checked(affinity)
    if kind == "distance" and matrix.diagonal().any():
        raise ValueError(
            f"affinity: expected distances, so 0 on the diagonal; it has {float(matrix.diagonal().max())!r}"
        )
    squares = _squared_distances(matrix, kind)
    counts = np.diff(squares.indptr)
    row = np.repeat(np.arange(counts.size), counts)
    order = np.lexsort((squares.data, row))
    last = squares.indptr[:-1] + np.minimum(SCALE, counts) - 1
    scale = np.zeros(counts.size)
    some = counts > 0
    scale[some] = squares.data[order[last[some]]]
    root = np.sqrt(_positive(scale))
    with np.errstate(over="ignore"):  # infinitely far, on the scale of the two: not similar
        similar = np.exp(-squares.data / (root[row] * root[squares.indices]))
    return _kept(sp.csr_array((similar, squares.indices, squares.indptr), shape=squares.shape), similar > 0)


def _squared_distances(matrix: Any, kind: str) -> sp.csr_array:
    """x_ij of all pairs that a sparse matrix holds, or of all; nothing on the diagonal."""
    if sp.issparse(matrix):
        # Entry by entry, not by a sum of matrices, which would drop what is held as 0: a distance.
        row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        off = row != matrix.indices
        row, column, half = row[off], matrix.indices[off], matrix.data[off] / 2
        both = np.tile(half, 2), (np.append(row, column), np.append(column, row))
        held = sp.coo_array(both, shape=matrix.shape).tocsr()
        held.sort_indices()
    else:
        even = matrix / 2 + matrix.T / 2  # halves first: numbers near the largest must not become infinite
        n = even.shape[0]
        off = ~np.eye(n, dtype=bool)
        column = np.broadcast_to(np.arange(n, dtype=np.int32), (n, n))[off]
        held = sp.csr_array((even[off], column, np.arange(0, n * n, n - 1)[: n + 1]), shape=(n, n))
    largest = held.data.max(initial=0.0)
    if kind == "similarity":
        held = _kept(held, held.data > 0)
        held.data = -np.log(np.maximum(held.data / largest, np.finfo(float).tiny))
    elif largest > 0:
        held.data = (held.data / largest) ** 2  # in units of the longest: squares do not leave the range
    return held


def _positive(scale: np.ndarray) -> np.ndarray:
    positive = scale[scale > 0]
    return np.where(scale > 0, scale, positive.min() if positive.size else 1.0)


def _kept(matrix: sp.csr_array, which: np.ndarray) -> sp.csr_array:
    """The same with only some of the entries it holds."""
    counts = np.add.reduceat(np.append(which, False), matrix.indptr[:-1]) * (np.diff(matrix.indptr) > 0)
    ptr = np.concatenate(([0], np.cumsum(counts)))
    return sp.csr_array((matrix.data[which], matrix.indices[which], ptr), shape=matrix.shape)


def _strongest(similar: sp.csr_array, k: int) -> sp.csr_array:
    """The k largest of each row, and all that are level with the k-th."""
    n = similar.shape[0]
    row = np.repeat(np.arange(n), np.diff(similar.indptr))
    order = np.lexsort((-similar.data, row))
    kth = similar.indptr[:-1] + np.minimum(k, np.diff(similar.indptr)) - 1
    least = np.zeros(n)
    some = np.diff(similar.indptr) > 0
    least[some] = similar.data[order[kth[some]]]
    return _kept(similar, similar.data >= least[row])


def _checked(given: Any) -> Any:
    """A square matrix of numbers as float64, dense or in compressed rows; a copy."""
    array = given_matrix("affinity", given, "an (n, n) matrix")
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.dtype.kind not in "biuf":
        raise ValueError(
            f"affinity: expected an (n, n) matrix of numbers; got shape {array.shape}, type {array.dtype}"
        )
    if array.shape[0] < 2:
        raise ValueError(f"affinity: expected two items or more; got {array.shape[0]}")
    held = array.nnz if sp.issparse(array) else array.shape[0] ** 2
    each = _BYTES["sparse" if sp.issparse(array) else "dense"]
    room_for("affinity", f"{held:,} numbers", each * float(held), "give a sparse matrix of fewer")
    if sp.issparse(array):
        matrix: Any = sp.csr_array(array, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        values = matrix.data
    else:
        matrix = np.array(array, dtype=np.float64)
        values = matrix
    if not np.isfinite(values).all():
        raise ValueError("affinity: expected finite numbers; found NaN or infinity")
    if values.size and values.min() < 0:
        raise ValueError(f"affinity: expected numbers, 0 or more; the smallest is {float(values.min())!r}")
    largest = float(values.max(initial=0.0))
    gap = float(np.abs(matrix - matrix.T).max())
    if gap > ASYMMETRY * largest:
        raise ValueError(
            f"affinity: expected a symmetric matrix; entries differ from their mirror images by {gap:.3g}"
        )
    return matrix
