"""The hypergraph: soft incidence and weights, checked once, never changed. Eq. (1)."""

import os
from collections.abc import Hashable, Iterable, Mapping, Set
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, BinaryIO, Self, SupportsIndex

import numpy as np
import scipy.sparse as sp

from hypermodes import edge_lists
from hypermodes import labels as names
from hypermodes.annotations import NUMBERS, TEXTS, Annotations
from hypermodes.files import LARGEST, load_arrays, save_arrays
from hypermodes.matrices import check_compressed, given_matrix, unmasked
from hypermodes.scalars import shown

_FORMAT = "hypermodes-hypergraph-1"
_PARTS = ("data", "indices", "indptr", "shape", "weights", "vertices", "labels")
_ISOLATED = 24  # bytes that a vertex in no hyperedge takes: a pointer, a record, and a place to put them


@dataclass(frozen=True, eq=False, repr=False)
class Hypergraph:
    """A weighted hypergraph with probabilistic incidence.

    A vertex belongs to a hyperedge with a probability: ``h(v,e) = p(v|e)`` in (0, 1] where v is in e
    and 0 elsewhere, Eq. (1). Build one with `from_edges` or `from_incidence`; every array of it is
    read-only.

    Parameters
    ----------
    incidence : (n_vertices, n_edges) sparse array or dense array
        The matrix H of the paper. Rows are vertices, columns are hyperedges. No column may be empty.
    weights : (n_edges,) float, optional
        w(e) > 0; all 1 if not given.
    vertices, labels : iterables of hashables, optional
        Names of vertices and of hyperedges, in order; 0, 1, 2, … if not given.
    annotations : Annotations, optional
        What a file says beyond that. No algorithm looks at it; it is kept, compared, saved and written back.

    Examples
    --------
    >>> H = Hypergraph.from_edges([["ann", "bob"], ["bob", "cid"], {"cid": 0.5, "dan": 1.0}])
    >>> H
    Hypergraph(4 vertices, 3 hyperedges of 2 vertices, 6 incidences, soft)
    >>> H.members(2)
    ('cid', 'dan')
    >>> H.edge_degrees
    array([2. , 2. , 1.5])
    """

    incidence: sp.csc_array
    weights: np.ndarray = None  # type: ignore[assignment]  # filled in by __post_init__
    vertices: names.Labels = None  # type: ignore[assignment]
    labels: names.Labels = None  # type: ignore[assignment]
    annotations: Annotations | None = None

    def __post_init__(self) -> None:
        incidence = _checked_incidence(self.incidence)
        n_vertices, n_edges = incidence.shape
        fields = {
            "incidence": incidence,
            "weights": _checked_weights(self.weights, n_edges),
            "vertices": names.as_labels("vertices", self.vertices, n_vertices, "vertex"),
            "labels": names.as_labels("labels", self.labels, n_edges, "hyperedge"),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        _check_magnitudes(self)
        _check_annotations(self)

    # -- building ---------------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Any] | Mapping[Hashable, Any] | np.ndarray,
        weights: Iterable[float] | None = None,
        vertices: Iterable[Hashable] | None = None,
        labels: Iterable[Hashable] | None = None,
        annotations: Annotations | None = None,
    ) -> Self:
        """Build from hyperedges given one by one.

        Parameters
        ----------
        edges : iterable
            Each hyperedge is an iterable of vertices (a vertex named twice counts once), or a
            mapping vertex → p(v|e). A two-dimensional integer array is read row by row without a
            Python loop. A mapping label → hyperedge gives the labels as well.
        weights : iterable of float, optional
            w(e) > 0, one a hyperedge; all 1 if not given.
        vertices : iterable of hashables, optional
            Fixes the order of the vertices and admits some that are in no hyperedge. If not given,
            vertices come in the order they first appear.
        labels : iterable of hashables, optional
            Names of the hyperedges; 0, 1, 2, … if not given.
        annotations : Annotations, optional
            What else is known; no algorithm looks at it.
        """
        if isinstance(edges, Mapping):
            if labels is not None:
                raise ValueError("labels: edges is a mapping, its keys are the labels; give one or the other")
            labels, edges = tuple(edges), list(edges.values())
        unmasked("edges", edges)
        known = None if vertices is None else edge_lists.vertex_index(vertices)
        if isinstance(edges, np.ndarray) and edges.ndim == 2 and edges.dtype.kind in "iu":
            matrix, order = edge_lists.incidence_of_array(edges, known)
        else:
            matrix, order = edge_lists.incidence_of_iterables(edges, known)
        return cls(matrix, _listed("weights", weights), order, labels, annotations)  # type: ignore[arg-type]

    @classmethod
    def from_incidences(
        cls,
        edges: Iterable[Hashable] | np.ndarray,
        vertices: Iterable[Hashable] | np.ndarray,
        probabilities: Iterable[float] | np.ndarray | None = None,
        weights: Mapping[Hashable, float] | Iterable[float] | None = None,
    ) -> Self:
        """Build from a list of incidences: entry i says that ``vertices[i]`` is in ``edges[i]``.

        The way for large data: arrays of whole numbers or of text are read without a Python loop over the
        incidences. Hyperedges and vertices come in the order they first appear.

        Parameters
        ----------
        edges, vertices : arrays or iterables of hashables, equally long
            A vertex that is in the same hyperedge twice counts once.
        probabilities : iterable of float, optional
            p(v|e) in (0, 1], one an incidence; all 1 if not given.
        weights : mapping or iterable of float, optional
            w(e) > 0 by hyperedge, or in the order hyperedges first appear; all 1 if not given.

        Examples
        --------
        >>> baskets = Hypergraph.from_incidences([7, 7, 9, 9], ["milk", "tea", "tea", "jam"])
        >>> baskets.members(9)
        ('tea', 'jam')
        """
        matrix, order, labels = edge_lists.incidence_of_pairs(edges, vertices, probabilities)
        if isinstance(weights, Mapping):
            try:
                weights = [weights[label] for label in labels]
            except KeyError as error:
                raise ValueError(f"weights: hyperedge {error.args[0]!r} has none") from None
        return cls(matrix, _listed("weights", weights), order, labels)

    @classmethod
    def from_incidence(
        cls,
        incidence: Any,
        weights: Iterable[float] | None = None,
        vertices: Iterable[Hashable] | None = None,
        labels: Iterable[Hashable] | None = None,
        annotations: Annotations | None = None,
    ) -> Self:
        """Build from the matrix H of the paper, |V| x |E|, sparse or dense: rows are vertices."""
        return cls(incidence, _listed("weights", weights), vertices, labels, annotations)  # type: ignore[arg-type]

    @classmethod
    def _trusted(cls, **parts: Any) -> Self:
        """Take parts that were checked when they were written, as they are: nothing of them is read."""
        hypergraph = cls.__new__(cls)
        hypergraph.__dict__.update({field.name: None for field in fields(cls)} | parts)
        return hypergraph

    def subset(self, edges: Iterable[Hashable]) -> "Hypergraph":
        """Keep the hyperedges with these labels, in this order, with their labels; all vertices stay.

        Annotations of what is kept are kept; those of empty hyperedges are not.
        """
        if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
            raise ValueError(f"edges: expected labels of hyperedges to keep; got {edges!r}")
        try:
            keep = np.array([self.edge_index(label) for label in edges], dtype=np.int64)
        except ValueError as error:
            raise ValueError(f"edges: {error}") from None
        if keep.size == 0:
            raise ValueError("edges: expected at least one hyperedge to keep; got none")
        repeated = np.flatnonzero(np.bincount(keep) > 1)
        if repeated.size:
            raise ValueError(f"edges: expected distinct labels; {self.labels[repeated[0]]!r} comes twice")
        kept = [self.labels[i] for i in keep]
        annotations = self.annotations
        if annotations is not None:
            starts, sizes = self.incidence.indptr[keep].astype(np.int64), self.edge_sizes[keep]
            skipped = np.cumsum(sizes) - sizes  # of the new incidences, those before each hyperedge
            incidences = np.repeat(starts - skipped, sizes) + np.arange(sizes.sum())
            annotations = annotations.of_edges(keep, incidences, kept)
        return Hypergraph(self.incidence[:, keep], self.weights[keep], self.vertices, kept, annotations)

    # -- looking ----------------------------------------------------------------------------------

    @property
    def n_vertices(self) -> int:
        """Number of vertices, |V|."""
        return int(self.incidence.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of hyperedges, |E|."""
        return int(self.incidence.shape[1])

    @cached_property
    def incidence_by_vertex(self) -> sp.csr_array:
        """The incidence again, stored row by row: the hyperedges of a vertex are contiguous."""
        return _frozen_sparse(self.incidence.tocsr())

    @cached_property
    def edge_degrees(self) -> np.ndarray:
        """δ(e) = Σ_v h(v,e), the diagonal of D_e."""
        return _frozen(np.add.reduceat(self.incidence.data, self.incidence.indptr[:-1]))

    @cached_property
    def vertex_degrees(self) -> np.ndarray:
        """Σ_e h(v,e) w(e), the diagonal of D_v."""
        return _frozen(np.asarray(self.incidence @ self.weights))

    @cached_property
    def edge_sizes(self) -> np.ndarray:
        """|e|, the number of vertices of each hyperedge whatever their probabilities."""
        return _frozen(np.diff(self.incidence.indptr).astype(np.int64))

    @cached_property
    def is_soft(self) -> bool:
        """Whether any p(v|e) is below 1."""
        return bool((self.incidence.data != 1).any())

    @property
    def stored_rows(self) -> Mapping[str, np.ndarray] | None:
        """What the kernels read, where it lies on disk beside the hypergraph (see `folder`); else None."""
        return self.__dict__.get("_stored_rows")

    def edge_index(self, label: Hashable) -> int:
        """Position of the hyperedge with this label."""
        return names.position(self.labels, self._edge_positions, label, "hyperedge")

    def vertex_index(self, label: Hashable) -> int:
        """Position of the vertex with this label."""
        return names.position(self.vertices, self._vertex_positions, label, "vertex")

    def members(self, label: Hashable) -> tuple[Hashable, ...]:
        """Vertices of the hyperedge with this label."""
        i = self.edge_index(label)
        rows = self.incidence.indices[self.incidence.indptr[i] : self.incidence.indptr[i + 1]]
        return tuple(self.vertices[int(v)] for v in rows)

    @cached_property
    def _edge_positions(self) -> dict[Hashable, int] | None:
        return None if isinstance(self.labels, range) else names.index_of("labels", self.labels)

    @cached_property
    def _vertex_positions(self) -> dict[Hashable, int] | None:
        return None if isinstance(self.vertices, range) else names.index_of("vertices", self.vertices)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hypergraph):
            return NotImplemented
        ours, theirs = self.incidence, other.incidence
        return (
            ours.shape == theirs.shape
            and ours.nnz == theirs.nnz
            and np.array_equal(ours.indptr, theirs.indptr)
            and np.array_equal(ours.indices, theirs.indices)
            and np.array_equal(ours.data, theirs.data)
            and np.array_equal(self.weights, other.weights)
            and _same_labels(self.vertices, other.vertices)
            and _same_labels(self.labels, other.labels)
            and self.annotations == other.annotations
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Pickle and copy as any object, but one that lies on disk by its place there."""
        return self.__dict__.get("_reopened_by") or super().__reduce_ex__(protocol)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Freeze copies as well: a pickle or a deep copy brings fresh arrays."""
        fields = ("incidence", "weights", "vertices", "labels", "annotations")
        self.__dict__.update({name: state[name] for name in fields})
        _frozen_sparse(self.incidence)
        _frozen(self.weights)

    def __repr__(self) -> str:
        low, high = int(self.edge_sizes.min()), int(self.edge_sizes.max())
        size = f"{low}" if low == high else f"{low} to {high}"
        hyperedges = "hyperedge" if self.n_edges == 1 else "hyperedges"
        vertices = "vertex" if self.n_vertices == 1 else "vertices"
        marks = ["soft"] * self.is_soft
        marks += ["weighted"] * bool((self.weights != 1).any())
        return (
            f"Hypergraph({self.n_vertices} {vertices}, {self.n_edges} {hyperedges} of {size} "
            f"{'vertex' if size == '1' else 'vertices'}, {self.incidence.nnz} incidences"
            f"{''.join(', ' + mark for mark in marks)})"
        )

    # -- keeping ----------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Write to one ``.npz`` file, all at once or not at all, or into an open binary file.

        Labels and annotations are stored as text, not pickled.
        """
        save_arrays(
            path,
            _FORMAT,
            {
                "data": self.incidence.data,
                "indices": self.incidence.indices,
                "indptr": self.incidence.indptr,
                "shape": np.array(self.incidence.shape, dtype=np.int64),
                "weights": self.weights,
                "vertices": names.encode("vertices", self.vertices),
                "labels": names.encode("labels", self.labels),
                **({} if self.annotations is None else self.annotations.to_arrays()),
            },
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str] | BinaryIO, *, max_bytes: int = LARGEST) -> Self:
        """Read what `save` wrote; everything is checked again, nothing is unpickled.

        What the file unpacks to, and what vertices in no hyperedge need, may be at most ``max_bytes``.
        """
        return load_arrays(
            path, _FORMAT, "a hypergraph", (*_PARTS, *TEXTS, *NUMBERS),
            lambda stored: cls._from_arrays(stored, max_bytes), max_bytes,
        )  # fmt: skip

    @classmethod
    def _from_arrays(cls, stored: dict[str, np.ndarray], max_bytes: int) -> Self:
        data, indices, indptr, shape = (stored[name] for name in ("data", "indices", "indptr", "shape"))
        if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape.min() < 0:
            raise ValueError("shape: expected two whole numbers, 0 or more")
        n_vertices, n_edges = (int(n) for n in shape)
        check_compressed(indptr, indices, (n_edges, n_vertices))
        if data.shape != indices.shape or data.dtype.kind not in "fiub":
            raise ValueError(f"data: expected {indices.size} numbers; got shape {data.shape}, {data.dtype}")
        if (n_vertices - indices.size) * _ISOLATED > max_bytes:  # they take no room in the file
            raise ValueError(
                f"of its {n_vertices} vertices {indices.size} at most are in a hyperedge; the others need "
                f"more than max_bytes={max_bytes}; raise max_bytes to read it"
            )
        incidence = sp.csc_array((data, indices, indptr), shape=(n_vertices, n_edges))
        vertices, labels = names.decode(stored["vertices"]), names.decode(stored["labels"])
        annotations = Annotations.from_arrays(stored, n_vertices, n_edges, indices.size)
        return cls(incidence, stored["weights"], vertices, labels, annotations)


# -- checks, made once at the border ------------------------------------------------------------------


def _checked_incidence(given: Any) -> sp.csc_array:
    matrix = given_matrix("incidence", given, "a |V| x |E| matrix of probabilities")
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise ValueError(
            f"incidence: expected a |V| x |E| matrix of probabilities; got an array of shape "
            f"{matrix.shape} and type {matrix.dtype}"
        )
    matrix = sp.csc_array(matrix, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    bad = np.flatnonzero(~((matrix.data >= 0) & (matrix.data <= 1)))  # NaN is bad too
    if bad.size:
        edge = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        raise ValueError(
            f"incidence: p(v|e) must lie in (0, 1]; vertex {int(matrix.indices[bad[0]])} of hyperedge "
            f"{edge} has {float(matrix.data[bad[0]])!r}"
        )
    matrix.eliminate_zeros()
    matrix.sort_indices()
    if matrix.shape[1] == 0:
        raise ValueError("incidence: expected at least one hyperedge (column); got none")
    empty = np.flatnonzero(np.diff(matrix.indptr) == 0)
    if empty.size:
        raise ValueError(
            f"incidence: hyperedge {int(empty[0])} has no vertices; leave empty hyperedges out "
            f"({empty.size} of {matrix.shape[1]} are empty)"
        )
    if max(*matrix.shape, matrix.nnz) < np.iinfo(np.int32).max:  # half the memory, a third of the time
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return _frozen_sparse(matrix)


def _checked_weights(given: Any, n_edges: int) -> np.ndarray:
    if given is None:
        return _frozen(np.ones(n_edges))
    unmasked("weights", given)
    try:
        weights = np.array(given)
        if weights.dtype.kind not in "fiub":
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(
            f"weights: expected {n_edges} positive numbers, one a hyperedge; got {shown(given)}"
        ) from None
    weights = weights.astype(np.float64)
    if weights.shape != (n_edges,):
        raise ValueError(
            f"weights: expected {n_edges} positive numbers, one a hyperedge; got shape {weights.shape}"
        )
    bad = np.flatnonzero(~((weights > 0) & np.isfinite(weights)))
    if bad.size:
        raise ValueError(
            f"weights: expected positive finite numbers, one a hyperedge; entry {int(bad[0])} is "
            f"{float(weights[bad[0]])!r}"
        )
    return _frozen(weights)


def _check_magnitudes(hypergraph: Hypergraph) -> None:
    """Refuse weights so extreme that the affinity of Eq. (2) or its square would overflow or vanish."""
    with np.errstate(over="ignore"):
        rate = hypergraph.weights / hypergraph.edge_degrees
    bad = np.flatnonzero(~((rate > 1e-100) & (rate < 1e100)))
    if bad.size:
        i = int(bad[0])
        raise ValueError(
            f"weights: w(e) divided by the degree of e must lie between 1e-100 and 1e100; for hyperedge "
            f"{i} it is {float(hypergraph.weights[i])!r} / {float(hypergraph.edge_degrees[i])!r}"
        )


def _check_annotations(hypergraph: Hypergraph) -> None:
    annotations = hypergraph.annotations
    if annotations is None:
        return
    if not isinstance(annotations, Annotations):
        raise ValueError(f"annotations: expected Annotations or None; got {annotations!r}")
    annotations.check(hypergraph.n_vertices, hypergraph.n_edges, int(hypergraph.incidence.nnz))
    known = set(hypergraph.labels) if annotations.empty_edges else set()
    both = [label for label in annotations.empty_edges if label in known]
    if both:
        raise ValueError(f"annotations: hyperedge {both[0]!r} is said to be empty but has vertices")


def _listed(name: str, values: Any) -> Any:
    if values is None or isinstance(values, np.ndarray):
        return values
    if isinstance(values, Mapping | Set | str | bytes) or not isinstance(values, Iterable):
        raise ValueError(f"{name}: expected one number a hyperedge, in order; got {values!r}")
    return list(values)


# -- small things -------------------------------------------------------------------------------------


def _same_labels(ours: names.Labels, theirs: names.Labels) -> bool:
    if isinstance(ours, range) and isinstance(theirs, range):
        return ours == theirs
    return tuple(ours) == tuple(theirs)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _frozen_sparse(matrix: Any) -> Any:
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix
