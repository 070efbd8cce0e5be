"""Whether the columns of a hypergraph on disk are as they were written, and say the same of it.

Digests lie beside what they are of, so they find accidents. Whoever forges a column forges its digest: so
what is stored twice, by hyperedge and by vertex, and as rows for the kernels, is compared as well. All of it
is read piece by piece.
"""

import secrets
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hypermodes import labels as names
from hypermodes.columns import PIECE, digest_of
from hypermodes.hypergraph import Hypergraph
from hypermodes.matrices import check_pointers
from hypermodes.transposing import row_ranges

_ROUNDING = 1e-9  # by which a degree may miss the sum it is, relative to it


def verify_columns(
    hypergraph: Hypergraph, read: Mapping[str, np.ndarray], columns: Mapping[str, Any]
) -> None:
    """Raise a ValueError that names the first column that is not as it should be.

    Parameters
    ----------
    hypergraph : Hypergraph
        Made of the columns.
    read : mapping
        The columns themselves.
    columns : mapping
        What is said of each: type, length and digest.
    """
    for name, array in read.items():
        if digest_of(array) != columns[name][2]:
            raise ValueError(f"{name}.npy is not as it was written")
    rows = hypergraph.stored_rows or {}
    n_vertices, n_edges, n_rows = hypergraph.n_vertices, hypergraph.n_edges, rows["twins"].size
    by_edge, by_vertex = hypergraph.incidence, hypergraph.incidence_by_vertex
    for what, ptr, idx, n in (
        ("edge_vertices", by_edge.indptr, by_edge.indices, n_vertices),
        ("vertex_edges", by_vertex.indptr, by_vertex.indices, n_edges),
        ("row_vertices", rows["row_ptr"], rows["row_idx"], n_vertices),
        ("row_vertex_edges", rows["vertex_ptr"], rows["vertex_idx"], n_rows),
    ):
        _check_ascending(what, ptr, idx, n)
    for what, else_it_holds, good in _SOUND:
        values = read.get(what, np.empty(0))
        for low in range(0, values.size, PIECE):
            if not good(values[low : low + PIECE], n_edges, n_rows).all():
                raise ValueError(f"{what} holds {else_it_holds}")
    if (np.diff(by_edge.indptr) < 1).any():
        raise ValueError("a hyperedge has no vertices")
    for name, labels in (("vertices", hypergraph.vertices), ("labels", hypergraph.labels)):
        if not isinstance(labels, range):
            names.index_of(name, labels)
    _check_both_ways(
        "vertex_edges",
        (by_edge.indptr, by_edge.indices, by_edge.data),
        (by_vertex.indptr, by_vertex.indices, by_vertex.data),
    )
    _check_both_ways(
        "row_vertex_edges", (rows["row_ptr"], rows["row_idx"]), (rows["vertex_ptr"], rows["vertex_idx"])
    )
    _check_degrees(hypergraph)
    _check_rows(hypergraph, rows)


# -- columns by themselves ----------------------------------------------------------------------------

_Test = Callable[[np.ndarray, int, int], np.ndarray]
_SOUND: tuple[tuple[str, str, _Test], ...] = (
    ("edge_values", "probabilities outside (0, 1]", lambda x, edges, rows: (x > 0) & (x <= 1)),
    ("vertex_values", "probabilities outside (0, 1]", lambda x, edges, rows: (x > 0) & (x <= 1)),
    ("ones", "other numbers", lambda x, edges, rows: x == 1),
    ("weights", "no positive numbers", lambda x, edges, rows: (x > 0) & np.isfinite(x)),
    ("degrees", "no positive numbers", lambda x, edges, rows: (x > 0) & np.isfinite(x)),
    ("row_rates", "rates out of range", lambda x, edges, rows: (x > 1e-100) & (x < 1e100)),
    ("row_twins", "no numbers of twins", lambda x, edges, rows: (x >= 1) & (x <= edges)),
    ("row_first_edges", "other than hyperedges", lambda x, edges, rows: (x >= 0) & (x < edges)),
    ("row_of_edges", "other than rows", lambda x, edges, rows: (x >= 0) & (x < rows)),
)


def _check_ascending(what: str, ptr: np.ndarray, idx: np.ndarray, n: int) -> None:
    try:
        check_pointers(ptr, ptr.size - 1, idx.size)
    except ValueError as error:
        raise ValueError(f"the pointers of {what} are wrong: {error}") from None
    for low, high in row_ranges(ptr, PIECE):
        part = idx[ptr[low] : ptr[high]].astype(np.int64)
        owner = np.repeat(np.arange(high - low), np.diff(ptr[low : high + 1]))
        if part.size and not (part.min() >= 0 and part.max() < n):
            raise ValueError(f"{what} holds numbers outside 0 … {n - 1}")
        if (np.diff(owner * n + part) <= 0).any():
            raise ValueError(f"{what} are not ascending")


# -- columns beside each other ------------------------------------------------------------------------


def _check_both_ways(what: str, one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> None:
    """See that two orientations, (pointers, indices) with or without values, are of one matrix.

    Each entry becomes a number that nobody can foresee, and the order of a sum plays no part.
    """
    keys = np.uint64(secrets.randbits(64)), np.uint64(secrets.randbits(64))
    if _sum_of_entries(*one, keys=keys) != _sum_of_entries(*other, keys=keys, flipped=True):
        raise ValueError(f"{what} are not the same incidences in the other order")


def _sum_of_entries(
    ptr: np.ndarray,
    idx: np.ndarray,
    values: np.ndarray | None = None,
    *,
    keys: tuple[np.uint64, np.uint64],
    flipped: bool = False,
) -> int:
    total = 0
    for low, high in row_ranges(ptr, PIECE):
        owner = np.repeat(np.arange(low, high, dtype=np.uint64), np.diff(ptr[low : high + 1]))
        entry = idx[ptr[low] : ptr[high]].astype(np.uint64)
        left, right = (entry, owner) if flipped else (owner, entry)
        mixed = _mixed(_mixed(left ^ keys[0]) ^ right ^ keys[1])
        if values is not None:
            mixed = _mixed(mixed ^ np.ascontiguousarray(values[ptr[low] : ptr[high]]).view(np.uint64))
        total += int(mixed.sum())
    return total % 2**64


def _mixed(words: np.ndarray) -> np.ndarray:
    """Words stirred so that every bit hangs on every other: the last steps of SplitMix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = words ^ (words >> np.uint64(31))
    return mixed


def _check_degrees(hypergraph: Hypergraph) -> None:
    """See that δ(e) is the sum of p(v|e)."""
    incidence, degrees = hypergraph.incidence, hypergraph.edge_degrees
    ptr = incidence.indptr
    for low, high in row_ranges(ptr, PIECE):
        begins = (ptr[low:high] - ptr[low]).astype(np.int64)
        sums = np.add.reduceat(incidence.data[ptr[low] : ptr[high]], begins)
        if (abs(sums - degrees[low:high]) > _ROUNDING * sums).any():
            raise ValueError("degrees holds other than the sums of edge_values")


def _check_rows(hypergraph: Hypergraph, rows: Mapping[str, np.ndarray]) -> None:
    """See that every hyperedge has the row of its shared vertices, with its own w(e)/δ(e)."""
    row_ptr, row_idx, row_of = rows["row_ptr"], rows["row_idx"], rows["class_of"]
    if not np.array_equal(np.bincount(row_of, minlength=rows["twins"].size), rows["twins"]):
        raise ValueError("row_twins holds other than the numbers of hyperedges of row_of_edges")
    first = np.full(rows["twins"].size, row_of.size)
    np.minimum.at(first, row_of, np.arange(row_of.size))
    if not np.array_equal(first, rows["first_edge"]):
        raise ValueError("row_first_edges holds other than the first hyperedges of rows")
    shared = np.diff(hypergraph.incidence_by_vertex.indptr) > 1
    ptr, vertices = hypergraph.incidence.indptr.astype(np.int64), hypergraph.incidence.indices
    for low, high in row_ranges(ptr, PIECE):
        row = row_of[low:high]
        if (hypergraph.weights[low:high] / hypergraph.edge_degrees[low:high] != rows["rate"][row]).any():
            raise ValueError("row_rates holds other than weights by degrees")
        part = vertices[ptr[low] : ptr[high]]
        kept = shared[part]
        owner = np.repeat(np.arange(high - low), np.diff(ptr[low : high + 1]))[kept]
        sizes = row_ptr[row + 1] - row_ptr[row]
        if np.array_equal(np.bincount(owner, minlength=high - low), sizes):
            within = np.arange(owner.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            if np.array_equal(row_idx[np.repeat(row_ptr[row], sizes) + within], part[kept]):
                continue
        raise ValueError("row_vertices holds other than the shared vertices of hyperedges")
