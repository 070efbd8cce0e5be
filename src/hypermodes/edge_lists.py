"""Hyperedges given one by one, or as the rows of an array, turned into an incidence matrix."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.labels import Labels, index_of


def vertex_index(vertices: Iterable[Hashable]) -> dict[Hashable, int]:
    """Position of each vertex in a given order."""
    if isinstance(vertices, str | bytes) or not isinstance(vertices, Iterable):
        kind = "the text " if isinstance(vertices, str | bytes) else ""
        raise ValueError(f"vertices: expected an iterable of vertices; got {kind}{vertices!r}")
    return index_of("vertices", tuple(vertices))


def incidence_of_iterables(
    edges: Iterable[Any], known: dict[Hashable, int] | None
) -> tuple[sp.csc_array, Labels]:
    """Read hyperedges one by one; ``known`` fixes the vertices, otherwise they come as they appear."""
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable) or getattr(edges, "ndim", 1) == 0:
        raise ValueError(f"edges: expected an iterable of hyperedges; got {edges!r}")
    index: dict[Hashable, int] = {} if known is None else known
    rows: list[int] = []
    probabilities: list[float] = []
    ends = [0]
    for number, edge in enumerate(edges):
        for vertex, probability in _members(number, edge).items():
            if known is not None and vertex not in known:
                raise ValueError(f"edges: hyperedge {number} has vertex {vertex!r}, which is not in vertices")
            rows.append(index.setdefault(vertex, len(index)))
            probabilities.append(probability)
        ends.append(len(rows))
    if len(ends) == 1:
        raise ValueError("edges: expected at least one hyperedge; got none")
    parts = (np.array(probabilities, dtype=np.float64), np.array(rows, dtype=np.int64), np.array(ends))
    return sp.csc_array(parts, shape=(len(index), len(ends) - 1)), tuple(index)


def _members(number: int, edge: Any) -> Mapping[Hashable, float]:
    """Vertices of one hyperedge with their probabilities."""
    if isinstance(edge, str | bytes) or not isinstance(edge, Iterable):
        raise ValueError(
            f"edges: hyperedge {number} is {edge!r}; expected an iterable of vertices, such as [{edge!r}]"
        )
    try:
        members = edge if isinstance(edge, Mapping) else dict.fromkeys(edge, 1.0)
    except TypeError as error:
        raise ValueError(f"edges: hyperedge {number} has a vertex that is not hashable: {error}") from None
    if not members:
        raise ValueError(f"edges: hyperedge {number} has no vertices; leave empty hyperedges out")
    for vertex in members:
        if vertex != vertex:
            raise ValueError(
                f"edges: hyperedge {number} has the vertex {vertex!r}, which is not equal to itself"
            )
    if members is edge:
        for vertex, probability in members.items():
            if not (_is_number(probability) and 0 < probability <= 1):
                raise ValueError(
                    f"edges: p(v|e) must lie in (0, 1]; vertex {vertex!r} of hyperedge {number} "
                    f"has {probability!r}"
                )
    return members


def incidence_of_array(edges: np.ndarray, known: dict[Hashable, int] | None) -> tuple[sp.csc_array, Labels]:
    """Read the rows of an integer array as hyperedges: the same result as one by one, without the loop."""
    n_edges, size = edges.shape
    if n_edges == 0:
        raise ValueError("edges: expected at least one hyperedge; got none")
    if size == 0:
        raise ValueError("edges: hyperedge 0 has no vertices; leave empty hyperedges out")
    found, codes = _codes(edges.ravel())
    if known is None:
        first = np.empty(len(found), dtype=np.int64)
        first[codes[::-1]] = np.arange(codes.size)[::-1]  # the last write wins: the first appearance
        appearance = np.argsort(first)
        order: Labels = tuple(found[appearance].tolist())
        place = np.empty(len(found), dtype=np.int64)
        place[appearance] = np.arange(len(found))
    else:
        order = tuple(known)
        missing = [vertex for vertex in found.tolist() if vertex not in known]
        if missing:
            raise ValueError(f"edges: vertex {missing[0]!r} is not in vertices")
        place = np.array([known[vertex] for vertex in found.tolist()], dtype=np.int64)
    parts = (np.ones(codes.size), place[codes], np.arange(0, codes.size + 1, size))
    matrix = sp.csc_array(parts, shape=(len(order), n_edges))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0  # a vertex named twice counts once
    return matrix, order


def _codes(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values, sorted, and the place of each value among them; sorts only when it must."""
    low, high = int(values.min()), int(values.max())
    if high - low > 4 * values.size or high >= 2**63:
        found, codes = np.unique(values, return_inverse=True)
        return found, codes
    used = np.zeros(high - low + 1, dtype=bool)
    shifted = values.astype(np.int64) - low
    used[shifted] = True
    return np.flatnonzero(used) + low, (np.cumsum(used) - 1)[shifted]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
