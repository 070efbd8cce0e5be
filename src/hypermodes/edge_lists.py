"""Hyperedges given one by one, as the rows of an array or as pairs, turned into an incidence matrix."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.labels import Labels, index_of
from hypermodes.matrices import unmasked
from hypermodes.scalars import is_real, shown


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
    unmasked(f"edges: hyperedge {number}", edge)
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
            if not (is_real(probability) and 0 < probability <= 1):
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
        place, appearance = _by_appearance(codes, len(found))
        order: Labels = tuple(found[appearance].tolist())
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


def incidence_of_pairs(edges: Any, vertices: Any, probabilities: Any) -> tuple[sp.csc_array, Labels, Labels]:
    """Read (hyperedge, vertex) pairs; also the vertices and the hyperedges in the order they first appear."""
    edge_codes, labels = factorised("edges", edges)
    vertex_codes, order = factorised("vertices", vertices)
    n = len(edge_codes)
    if len(vertex_codes) != n:
        raise ValueError(f"vertices: expected {n}, one for each entry of edges; got {len(vertex_codes)}")
    if n == 0:
        raise ValueError("edges: expected at least one incidence; got none")
    data = _probabilities(probabilities, n)
    key = pair_keys(edge_codes, vertex_codes, len(order))
    arrange, first = sorted_pairs(key)
    if arrange is not None:
        key, edge_codes, vertex_codes = key[arrange], edge_codes[arrange], vertex_codes[arrange]
        data = data if data is None else data[arrange]
    if first is not None:
        if data is not None and (data != data[first][np.cumsum(first) - 1]).any():
            i = int(np.flatnonzero(data != data[first][np.cumsum(first) - 1])[0])
            raise ValueError(
                f"probabilities: vertex {order[vertex_codes[i]]!r} is in hyperedge {labels[edge_codes[i]]!r} "
                f"twice, with {float(data[i - 1])!r} and {float(data[i])!r}"
            )
        edge_codes, vertex_codes = edge_codes[first], vertex_codes[first]
        data = data if data is None else data[first]
    del key, arrange, first
    parts = (np.ones(len(edge_codes)) if data is None else data, vertex_codes, ends(edge_codes, len(labels)))
    return sp.csc_array(parts, shape=(len(order), len(labels))), order, labels


def pair_keys(edges: np.ndarray, vertices: np.ndarray, n_vertices: int) -> np.ndarray:
    """One number a pair, increasing as incidences are stored: by hyperedge, then by vertex."""
    key = edges.astype(np.int64)
    key *= n_vertices
    key += vertices
    return key


def sorted_pairs(key: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
    """How to arrange pairs as they are stored, and then which are the first of their kind.

    ``None`` for either where there is nothing to do: files mostly come sorted, without repetition. Pairs
    that are repeated stay in the order they came.
    """
    step = np.diff(key)
    if (step > 0).all():
        return None, None
    arrange = None
    if (step < 0).any():
        arrange = np.argsort(key, kind="stable")
        step = np.diff(key[arrange])
    return arrange, None if step.all() else np.concatenate(([True], step != 0))


def ends(edges: np.ndarray, n_edges: int) -> np.ndarray:
    """Where each hyperedge begins and ends among sorted incidences: ``indptr``."""
    return np.concatenate(([0], np.cumsum(np.bincount(edges, minlength=n_edges))))


def factorised(name: str, values: Any) -> tuple[np.ndarray, Labels]:
    """The place of each value among the distinct ones, which come in the order they first appear."""
    unmasked(name, values)
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iu" and values.size:
        found, codes = _codes(values)
        place, appearance = _by_appearance(codes, len(found))
        if (appearance[1:] > appearance[:-1]).all():
            return _narrow(codes, len(found)), _listed_range(found)
        return _narrow(place, len(found))[codes], _listed_range(found[appearance])
    if (
        isinstance(values, str | bytes | Mapping)
        or not isinstance(values, Iterable)
        or getattr(values, "ndim", 1) != 1
    ):
        raise ValueError(f"{name}: expected a list of labels, one an incidence; got {values!r}")
    numbered = Numbered()
    remaining = iter(values)
    start = 0
    while True:
        block = (
            values[start : start + _BLOCK].tolist()
            if isinstance(values, np.ndarray)
            else list(islice(remaining, _BLOCK))
        )
        if not block:
            break
        try:
            numbered.add(block)
        except TypeError as error:
            raise ValueError(f"{name}: labels must be hashable: {error}") from None
        start += len(block)
    return numbered.codes, numbered.labels


class Numbered:
    """Labels of incidences, numbered as they first appear; taken in some at a time."""

    def __init__(self) -> None:
        self._index: defaultdict[Hashable, int] = defaultdict()
        self._index.default_factory = self._index.__len__  # an unknown label gets the next number
        self._blocks: list[np.ndarray] = []

    def add(self, block: Sequence[Hashable]) -> None:
        """Take in some more."""
        self._blocks.append(np.fromiter(map(self._index.__getitem__, block), np.int32, len(block)))

    def behind_first(self) -> "Numbered":
        """The same without the first label, which must not come again."""
        rest = Numbered()
        rest._index.update((label, number - 1) for label, number in self._index.items() if number)
        rest._blocks = [self.codes[1:] - np.int32(1)]
        return rest

    @property
    def codes(self) -> np.ndarray:
        """The number of each."""
        return np.concatenate(self._blocks) if self._blocks else np.empty(0, np.int32)

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """The different ones, by number."""
        return tuple(self._index)


_BLOCK = 1 << 16


def _by_appearance(codes: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each code goes when codes are ordered by first appearance, and the codes in that order."""
    first = np.empty(n, dtype=np.int64)
    first[codes[::-1]] = np.arange(codes.size)[::-1]  # the last write wins: the first appearance
    appearance = np.argsort(first)
    place = np.empty(n, dtype=np.int64)
    place[appearance] = np.arange(n)
    return place, appearance


def _narrow(codes: np.ndarray, n: int) -> np.ndarray:
    return codes.astype(np.int32) if n < 2**31 else codes


def _listed_range(found: np.ndarray) -> Labels:
    """Whole numbers 0 … n-1 stay a range, which costs no memory."""
    n = len(found)
    return range(n) if np.array_equal(found, np.arange(n)) else tuple(found.tolist())


def _probabilities(given: Any, n: int) -> np.ndarray | None:
    if given is None:
        return None
    unmasked("probabilities", given)
    try:
        data = np.asarray(given if isinstance(given, np.ndarray) else list(given), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"probabilities: expected {n} numbers in (0, 1]; got {shown(given)}") from None
    if data.shape != (n,):
        raise ValueError(f"probabilities: expected {n} numbers, one an incidence; got shape {data.shape}")
    bad = np.flatnonzero(~((data > 0) & (data <= 1)))
    if bad.size:
        raise ValueError(
            f"probabilities: p(v|e) must lie in (0, 1]; entry {bad[0]} is {float(data[bad[0]])!r}"
        )
    return data


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
