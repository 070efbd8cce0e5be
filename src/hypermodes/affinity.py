"""How much hyperedges have in common: the matrix M of Eq. (2), and any other symmetric matrix.

Everything that climbs sees only an `Affinity`: a symmetric non-negative matrix with zero diagonal,
through products, rows and small dense blocks. `HyperedgeAffinity` never forms the matrix.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from hypermodes.hypergraph import Hypergraph
from hypermodes.matrices import given_matrix
from hypermodes.memory import room_for

# A face larger than this is worked on through products instead of as a dense matrix (32 MB).
DENSE_FACE = 2048
_LARGE_PRODUCT = 1_000_000  # entries of a sparse matrix from which a product is worth threads


class Affinity(Protocol):
    """A symmetric, non-negative n x n matrix with zero diagonal."""

    @property
    def n(self) -> int:
        """Number of hyperedges (rows and columns)."""

    def matvec(self, x: np.ndarray) -> np.ndarray:
        """Product with a vector, M x."""

    def row(self, i: int) -> np.ndarray:
        """One row, dense: M(i, ·)."""

    def neighbours(self, support: np.ndarray) -> np.ndarray:
        """Sorted indices outside ``support`` with a positive affinity to some member of it."""

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The dense block M(rows, columns)."""

    def restrict(self, support: np.ndarray) -> np.ndarray:
        """The dense matrix M_S of a subhypergraph: block(support, support)."""

    def matrix(self) -> sp.csr_array:
        """The whole matrix, sparse. Its size is the number of overlapping pairs: ask only when you must."""


@dataclass(frozen=True, eq=False)
class HyperedgeAffinity:
    """Affinity of hyperedges, Eq. (2), applied without being formed.

    Two hyperedges are as close as the vertices they share, each hyperedge counting a shared vertex
    at its own rate r(e) = w(e)/δ(e):

        M(i,j) = |e_i ∩ e_j| (r_i + r_j)  for i ≠ j,   M(i,i) = 0.

    With B the 0/1 incidence, vertices by hyperedges, and |e| the sizes,

        M x = r∘Bᵀ(B x) + Bᵀ(B (r∘x)) - 2 r∘|e|∘x.

    Notes
    -----
    A product takes four sparse passes, O(number of incidences) in time, in threads where that is worth
    it; both orientations together
    take 32 bytes an incidence (below 2³¹ of them). Nothing is of size |E|².

    Examples
    --------
    >>> H = Hypergraph.from_edges([["v1", "v2"], ["v2", "v3"], ["v2", "v3", "v4"]])
    >>> HyperedgeAffinity(H).restrict(np.arange(3)).round(3)
    array([[0.   , 1.   , 0.833],
           [1.   , 0.   , 1.667],
           [0.833, 1.667, 0.   ]])
    """

    hypergraph: Hypergraph

    @property
    def n(self) -> int:
        """Number of hyperedges."""
        return self.hypergraph.n_edges

    @cached_property
    def rate(self) -> np.ndarray:
        """r(e) = w(e)/δ(e), what one shared vertex is worth to e."""
        rate: np.ndarray = self.hypergraph.weights / self.hypergraph.edge_degrees
        rate.flags.writeable = False
        return rate

    @cached_property
    def _own_overlap(self) -> np.ndarray:
        """2 r(e) |e|: what the formula would put on the diagonal of M."""
        return 2 * self.rate * self.hypergraph.edge_sizes

    @cached_property
    def _edge_rows(self) -> sp.csr_array:
        """Bᵀ: one row a hyperedge, ones where it has vertices. Shares its indices with the hypergraph."""
        columns = self.hypergraph.incidence
        parts = (np.ones(columns.nnz), columns.indices, columns.indptr)
        return sp.csr_array(parts, shape=columns.shape[::-1], copy=False)

    @cached_property
    def _vertex_rows(self) -> sp.csr_array:
        """B: one row a vertex, ones where a hyperedge has it."""
        rows = self.hypergraph.incidence_by_vertex
        parts = (self._edge_rows.data, rows.indices, rows.indptr)
        return sp.csr_array(parts, shape=rows.shape, copy=False)

    @cached_property
    def _edge_blocks(self) -> list[sp.csr_array]:
        return _in_blocks(self._edge_rows)

    @cached_property
    def _vertex_blocks(self) -> list[sp.csr_array]:
        return _in_blocks(self._vertex_rows)

    def matvec(self, x: np.ndarray) -> np.ndarray:
        """Product M x in O(number of incidences), Eq. (2)."""
        x = np.asarray(x, dtype=np.float64)
        by_vertex, rated = _product(self._vertex_blocks, x), _product(self._vertex_blocks, self.rate * x)
        product = _product(self._edge_blocks, by_vertex)
        product *= self.rate
        product += _product(self._edge_blocks, rated)
        if np.count_nonzero(x) > self.n // 8:
            own = self._own_overlap * x
            product -= own  # M has no diagonal
            # What is left of large terms that cancel is rounding: |e| of them were added up.
            own *= 1e-15 * self.hypergraph.edge_sizes
            product[np.abs(product) <= np.abs(own, out=own)] = 0.0
        else:  # few: their own terms leave vertex by vertex, exactly where nobody else has mass
            present = np.flatnonzero(x)
            rows = self._edge_rows[present]
            entry = np.repeat(present, np.diff(rows.indptr))
            others = self.rate[entry] * (by_vertex[rows.indices] - x[entry])
            others += rated[rows.indices] - self.rate[entry] * x[entry]
            if present.size:
                product[present] = np.add.reduceat(others, rows.indptr[:-1])
        return product

    def _overlap(self, x: np.ndarray) -> np.ndarray:
        """Bᵀ(B x): Σ_j |e_i ∩ e_j| x_j for every i."""
        return _product(self._edge_blocks, _product(self._vertex_blocks, x))

    def row(self, i: int) -> np.ndarray:
        """One row, dense: the affinity of hyperedge i to all."""
        values = self._overlap(_unit(self.n, i)) * (self.rate + self.rate[i])
        values[i] = 0.0
        return values

    def neighbours(self, support: np.ndarray) -> np.ndarray:
        """Hyperedges outside ``support`` that share a vertex with a member of it."""
        inside = np.zeros(self.n, dtype=bool)
        inside[support] = True
        touched = np.unique(self._edge_rows[np.flatnonzero(inside)].indices)
        near = np.unique(self._vertex_rows[touched].indices)
        return near[~inside[near]].astype(np.int64)

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The dense block M(rows, columns)."""
        rows, columns = np.asarray(rows), np.asarray(columns)
        overlap: np.ndarray = (self._edge_rows[rows] @ self._edge_rows[columns].T).toarray()
        values: np.ndarray = overlap * (self.rate[rows][:, None] + self.rate[columns][None, :])
        values[rows[:, None] == columns[None, :]] = 0.0
        return values

    def restrict(self, support: np.ndarray) -> np.ndarray:
        """The dense matrix M_S of the subhypergraph on ``support``."""
        return self.block(support, support)

    def matrix(self) -> sp.csr_array:
        """The whole of M, sparse: one entry for each ordered pair of hyperedges that share a vertex."""
        overlap = (self._edge_rows @ self._vertex_rows).tocoo()
        i, j = overlap.coords
        values = np.where(i == j, 0.0, overlap.data * (self.rate[i] + self.rate[j]))
        full = sp.csr_array((values, (i, j)), shape=overlap.shape)
        full.eliminate_zeros()
        full.sort_indices()
        return full


@dataclass(frozen=True, eq=False)
class MatrixAffinity:
    """Any symmetric non-negative matrix as an affinity, dense or CSR.

    Graph shift and affinity data run through the same solvers this way. The diagonal is dropped:
    what an item has in common with itself says nothing about a group.

    Examples
    --------
    >>> MatrixAffinity(np.array([[1.0, 0.5], [0.5, 1.0]])).matvec(np.array([1.0, 0.0]))
    array([0. , 0.5])
    """

    values: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _checked_matrix(self.values))

    @property
    def n(self) -> int:
        """Number of rows and columns."""
        return int(self.values.shape[0])

    def matvec(self, x: np.ndarray) -> np.ndarray:
        """Product A x."""
        product: np.ndarray = self.values @ np.asarray(x, dtype=np.float64)
        return product

    def row(self, i: int) -> np.ndarray:
        """One row, dense."""
        return self.block(np.array([i]), np.arange(self.n))[0]

    def neighbours(self, support: np.ndarray) -> np.ndarray:
        """Items outside ``support`` with a positive affinity to a member of it."""
        inside = np.zeros(self.n, dtype=bool)
        inside[support] = True
        near = self.values[:, np.flatnonzero(inside)].sum(axis=1) > 0
        return np.flatnonzero(near & ~inside)

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The dense block A(rows, columns)."""
        if sp.issparse(self.values):
            part: np.ndarray = self.values[np.asarray(rows)][:, np.asarray(columns)].toarray()
        else:
            part = self.values[np.ix_(rows, columns)]
        return part

    def restrict(self, support: np.ndarray) -> np.ndarray:
        """The dense matrix on ``support``."""
        return self.block(support, support)

    def matrix(self) -> sp.csr_array:
        """The whole matrix, sparse."""
        return sp.csr_array(self.values)


@dataclass(frozen=True, eq=False)
class Restriction:
    """M_S of a large support, through products: what ``@`` and rows of the dense matrix would give."""

    affinity: Affinity
    support: np.ndarray

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        full = np.zeros(self.affinity.n)
        full[self.support] = x
        return self.affinity.matvec(full)[self.support]

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        return self.affinity.block(self.support[rows], self.support)


Face = np.ndarray | Restriction


def face_of(affinity: Affinity, support: np.ndarray) -> Face:
    """M_S as something with ``@`` and rows: dense while it is small, through products beyond that."""
    return affinity.restrict(support) if support.size <= DENSE_FACE else Restriction(affinity, support)


def as_affinity(subject: Hypergraph | Affinity) -> Affinity:
    """Take a hypergraph for its affinity, and an affinity for itself."""
    if isinstance(subject, Hypergraph):
        return HyperedgeAffinity(subject)
    if not all(hasattr(subject, name) for name in ("n", "matvec", "block")):
        raise TypeError(
            f"subject: expected a Hypergraph, HyperedgeAffinity or MatrixAffinity; "
            f"got a {type(subject).__name__}"
            + (": wrap the matrix in MatrixAffinity(...)" if hasattr(subject, "shape") else "")
        )
    return subject


def _in_blocks(matrix: sp.csr_array) -> list[sp.csr_array]:
    """The rows of a large matrix in one block for each core, without copying its entries."""
    cores = os.cpu_count() or 1
    if matrix.nnz < _LARGE_PRODUCT or cores == 1:
        return [matrix]
    cuts = np.searchsorted(matrix.indptr, np.linspace(0, matrix.nnz, cores + 1))
    cuts[0], cuts[-1] = 0, matrix.shape[0]
    blocks = []
    for low, high in pairwise(cuts):
        begin, end = matrix.indptr[low], matrix.indptr[high]
        pieces = (matrix.data[begin:end], matrix.indices[begin:end], matrix.indptr[low : high + 1] - begin)
        blocks.append(sp.csr_array(pieces, shape=(high - low, matrix.shape[1]), copy=False))
    return blocks


def _product(blocks: list[sp.csr_array], x: np.ndarray) -> np.ndarray:
    """Product of a matrix in blocks of rows with x, a thread a block; the result is the same to the bit."""
    if len(blocks) == 1:
        return blocks[0] @ x
    with ThreadPoolExecutor(len(blocks)) as pool:
        return np.concatenate(list(pool.map(lambda block: block @ x, blocks)))


def _unit(n: int, i: int) -> np.ndarray:
    e = np.zeros(n)
    e[i] = 1.0
    return e


_A_DENSE_ENTRY = 56  # bytes of memory, until modes are found


def _checked_matrix(given: Any) -> Any:
    matrix = given_matrix("values", given, "a square affinity matrix")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise ValueError(f"values: expected a square affinity matrix; got shape {matrix.shape}")
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"values: expected an affinity matrix of numbers; got type {matrix.dtype}")
    sparse = sp.issparse(matrix)
    if not sparse:
        room_for("values", f"{matrix.size:,} affinities", _A_DENSE_ENTRY * matrix.size, "give them sparse")
    matrix = sp.csr_array(matrix, dtype=np.float64, copy=True) if sparse else matrix.astype(np.float64)
    entries: np.ndarray = matrix.data if sparse else matrix
    if not np.isfinite(entries).all():
        raise ValueError("values: expected finite affinities; found NaN or infinity")
    if entries.size and entries.min() < 0:
        raise ValueError(
            f"values: expected non-negative affinities; the smallest is {float(entries.min())!r}"
        )
    if sparse:
        matrix = sp.csr_array(matrix - sp.diags_array(matrix.diagonal()))
        matrix.eliminate_zeros()
    else:
        np.fill_diagonal(matrix, 0.0)
    largest = float(matrix.max())
    if largest > 1e100:
        raise ValueError(f"values: expected affinities below 1e100; the largest is {largest!r}")
    gap = float(abs(matrix - matrix.T).max())
    if gap > 1e-8 * largest:
        raise ValueError(
            f"values: expected a symmetric affinity matrix; some pair differs by {gap!r}. "
            "If that is meant, use (A + A.T) / 2"
        )
    matrix = (matrix + matrix.T) / 2  # exactly symmetric from here on
    if sparse:
        matrix = sp.csr_array(matrix)
        matrix.sort_indices()
    parts: tuple[np.ndarray, ...] = (matrix.data, matrix.indices, matrix.indptr) if sparse else (matrix,)
    for part in parts:
        part.flags.writeable = False
    return matrix
