"""What a file says of a hypergraph beyond incidence, weights and names: kept, written back, never used."""

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from hypermodes import labels as names
from hypermodes.json_text import json_text

DIRECTIONS = (None, "head", "tail")
"""What the numbers 0, 1, 2 of `Records.directions` mean."""


@dataclass(frozen=True, eq=False, repr=False)
class Records:
    """What is said of ``n`` things, vertices or hyperedges or incidences: columns with one entry a thing.

    A column that is ``None`` says nothing of any of them.

    Parameters
    ----------
    n : int
        How many things.
    listed : (n,) bool, optional
        Whether the thing has a record of its own, even one that says nothing.
    weights : (n,) float, optional
        A weight as it was given; NaN where none was.
    attributes : sequence of n mappings or None, optional
        Attributes, JSON values by name; ``None`` where none were given.
    directions : (n,) integers, optional
        0, 1, 2: no direction, head, tail.
    """

    n: int
    listed: np.ndarray | None = None
    weights: np.ndarray | None = None
    attributes: tuple[Mapping[str, Any] | None, ...] | None = None
    directions: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name, kind in (("listed", np.bool_), ("weights", np.float64), ("directions", np.int8)):
            given = getattr(self, name)
            if given is not None:
                column = np.asarray(given, dtype=kind).view()
                self._fits(name, column.shape == (self.n,), column.shape)
                column.flags.writeable = False
                object.__setattr__(self, name, column)
        if self.attributes is not None:
            attributes = tuple(self.attributes)
            self._fits("attributes", len(attributes) == self.n, (len(attributes),))
            for one in attributes:
                if one is not None and not isinstance(one, Mapping):
                    raise ValueError(f"attributes: expected mappings or None; got a {type(one).__name__}")
            object.__setattr__(self, "attributes", attributes)
        if self.directions is not None and not np.isin(self.directions, (0, 1, 2)).all():
            raise ValueError("directions: expected 0 (none), 1 (head) or 2 (tail)")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Freeze copies as well: a pickle or a deep copy brings fresh arrays."""
        self.__dict__.update(state)
        for name in ("listed", "weights", "directions"):
            if getattr(self, name) is not None:
                getattr(self, name).flags.writeable = False

    def _fits(self, name: str, fits: bool, shape: tuple[int, ...]) -> None:
        if not fits:
            raise ValueError(f"{name}: expected {self.n} entries; got an array of shape {shape}")

    def take(self, positions: np.ndarray) -> "Records":
        """The records of these things, in this order."""
        attributes = self.attributes
        return Records(
            len(positions),
            None if self.listed is None else self.listed[positions],
            None if self.weights is None else self.weights[positions],
            None if attributes is None else tuple(attributes[i] for i in positions.tolist()),
            None if self.directions is None else self.directions[positions],
        )

    @classmethod
    def joined(cls, parts: "Sequence[Records]") -> "Records":
        """Records of some things and then of others; a column that none of them has is absent."""

        def column(name: str, nothing: Any) -> np.ndarray | None:
            said = [getattr(part, name) for part in parts]
            if all(one is None for one in said):
                return None
            pairs = zip(parts, said, strict=True)
            return np.concatenate([np.full(part.n, nothing) if one is None else one for part, one in pairs])

        attributes = None
        if any(part.attributes is not None for part in parts):
            attributes = tuple(chain.from_iterable(part.attributes or (None,) * part.n for part in parts))
        return cls(
            sum(part.n for part in parts), column("listed", False), column("weights", np.nan), attributes,
            column("directions", np.int8(0)),
        )  # fmt: skip

    def attribute(self, name: str, default: Any = None) -> list[Any]:
        """One attribute of every thing, in order; ``default`` where it is not given."""
        return [
            default if one is None else one.get(name, default) for one in self.attributes or (None,) * self.n
        ]

    @property
    def says_nothing(self) -> bool:
        """Whether every column is absent."""
        return all(part is None for part in (self.listed, self.weights, self.attributes, self.directions))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Records):
            return NotImplemented
        return (
            self.n == other.n
            and _same_column(self.listed, other.listed)
            and _same_column(self.weights, other.weights)
            and _same_column(self.directions, other.directions)
            and self.attributes == other.attributes
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        said = [
            part
            for part in ("listed", "weights", "attributes", "directions")
            if getattr(self, part) is not None
        ]
        return f"Records({self.n}: {', '.join(said) or 'nothing said'})"


@dataclass(frozen=True, eq=False, repr=False)
class Annotations:
    """What a file says of a hypergraph beyond what the algorithms use.

    Algorithms ignore it; `hypermodes.write` writes it back. The mappings inside are not to be changed.

    Parameters
    ----------
    vertices, edges, incidences : Records
        In the order of ``Hypergraph.vertices``, ``Hypergraph.labels`` and ``Hypergraph.incidence.data``. The
        weights of `incidences` are the ones given where p(v|e) had to be made from them; the weights of
        `edges` only say which hyperedges were given one.
    network_type : str, optional
        ``"undirected"``, ``"directed"`` or ``"asc"`` (abstract simplicial complex).
    metadata : mapping, optional
        Anything said of the whole.
    empty_edges : sequence of labels
        Hyperedges without vertices, which a `Hypergraph` does not hold.
    empty : Records, optional
        What is said of them, in the same order.
    aside : sequence of mappings
        Incidence records, as in HIF, that are no part of the incidence: a vertex of weight zero or less,
        or the second direction of a vertex that is both head and tail.

    Examples
    --------
    >>> from hypermodes import Hypergraph
    >>> vertices = Records(2, attributes=({"colour": "red"}, None))
    >>> H = Hypergraph.from_edges([["ann", "bob"]], annotations=Annotations(vertices, Records(1), Records(2)))
    >>> H.annotations.vertices.attribute("colour")
    ['red', None]
    """

    vertices: Records
    edges: Records
    incidences: Records
    network_type: str | None = None
    metadata: Mapping[str, Any] | None = None
    empty_edges: tuple[Hashable, ...] = ()
    empty: Records = field(default_factory=lambda: Records(0))
    aside: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "empty_edges", tuple(self.empty_edges))
        object.__setattr__(self, "aside", tuple(self.aside))
        names.index_of("empty_edges", self.empty_edges)
        if self.network_type not in (None, "undirected", "directed", "asc"):
            raise ValueError(
                f"network_type: expected 'undirected', 'directed', 'asc' or None; got {self.network_type!r}"
            )
        if not isinstance(self.metadata, Mapping | None) or not all(
            isinstance(x, Mapping) for x in self.aside
        ):
            raise ValueError("metadata, aside: expected a mapping and mappings")
        if self.empty.n != len(self.empty_edges):
            raise ValueError(
                f"empty: expected records of {len(self.empty_edges)} empty hyperedges; got {self.empty.n}"
            )

    def check(self, n_vertices: int, n_edges: int, n_incidences: int) -> None:
        """See that this can be said of a hypergraph of that size."""
        for what, records, n in (
            ("vertices", self.vertices, n_vertices),
            ("hyperedges", self.edges, n_edges),
            ("incidences", self.incidences, n_incidences),
        ):
            if records.n != n:
                raise ValueError(f"annotations: expected records of {n} {what}; got {records.n}")

    def of_edges(self, edges: np.ndarray, incidences: np.ndarray, kept: Iterable[Hashable]) -> "Annotations":
        """What still applies when only these hyperedges, with these incidences, are kept."""
        aside = self.aside
        if aside:
            remaining = set(kept)
            aside = tuple(record for record in aside if record.get("edge") in remaining)
        return Annotations(
            self.vertices, self.edges.take(edges), self.incidences.take(incidences),
            self.network_type, self.metadata, aside=aside,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Annotations):
            return NotImplemented
        return (
            self.vertices == other.vertices
            and self.edges == other.edges
            and self.incidences == other.incidences
            and self.network_type == other.network_type
            and self.metadata == other.metadata
            and self.empty_edges == other.empty_edges
            and self.empty == other.empty
            and self.aside == other.aside
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"Annotations(vertices {self.vertices!r}, edges {self.edges!r}, incidences {self.incidences!r}, "
            f"network type {self.network_type!r}, {len(self.metadata or ())} metadata, "
            f"{len(self.empty_edges)} empty hyperedges, {len(self.aside)} incidences aside)"
        )

    # -- keeping: plain arrays and JSON, never pickle -------------------------------------------------

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Arrays to save: numbers as they are, everything else as one JSON text in bytes."""
        arrays: dict[str, np.ndarray] = {}
        attributes: dict[str, Any] = {}
        for level in _LEVELS:
            records: Records = getattr(self, level)
            for column in ("listed", "weights", "directions"):
                if getattr(records, column) is not None:
                    arrays[f"{_PREFIX}{level}_{column}"] = getattr(records, column)
            if records.attributes is not None:
                attributes[level] = {
                    str(i): one for i, one in enumerate(records.attributes) if one is not None
                }
        plain = {
            "network_type": self.network_type,
            "metadata": self.metadata,
            "attributes": attributes,
            "aside": self.aside,
        }
        try:
            text = json_text(plain).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"annotations: can only save attributes that are JSON values: {error}") from None
        arrays[_PREFIX + "json"] = np.frombuffer(text, dtype=np.uint8)
        arrays[_PREFIX + "empty_edges"] = names.encode("empty_edges", self.empty_edges)
        return arrays

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], n_vertices: int, n_edges: int, n_incidences: int
    ) -> "Annotations | None":
        """Read what `to_arrays` wrote of a hypergraph of that size; ``None`` if there is none of it."""
        if _PREFIX + "json" not in arrays:
            return None
        for name, (kind, _) in NUMBERS.items():
            if name in arrays and arrays[name].dtype.newbyteorder("<") != np.dtype(kind):
                raise ValueError(f"{name}: expected numbers of the type {kind}; got {arrays[name].dtype}")
        plain = json.loads(names.text_of(arrays[_PREFIX + "json"]))
        empty_edges = names.decode(arrays[_PREFIX + "empty_edges"])
        if isinstance(empty_edges, range):
            raise ValueError("expected a list of empty hyperedges")
        levels = {}
        sizes = (n_vertices, n_edges, n_incidences, len(empty_edges))
        for level, n in zip(_LEVELS, sizes, strict=True):
            columns: dict[str, Any] = {
                column: arrays.get(f"{_PREFIX}{level}_{column}")
                for column in ("listed", "weights", "directions")
            }
            said = plain["attributes"].get(level)
            if said is not None:
                columns["attributes"] = tuple(said.get(str(i)) for i in range(n))
            levels[level] = Records(n, **columns)
        return cls(
            **levels,
            network_type=plain["network_type"],
            metadata=plain["metadata"],
            empty_edges=tuple(empty_edges),
            aside=tuple(plain["aside"]),
        )


_LEVELS = ("vertices", "edges", "incidences", "empty")
_KINDS = {"listed": "|b1", "weights": "<f8", "directions": "|i1"}
_PREFIX = "annotations_"
TEXTS = (f"{_PREFIX}json", f"{_PREFIX}empty_edges")
"""Arrays of `Annotations.to_arrays` that are JSON in bytes."""
NUMBERS = {
    f"{_PREFIX}{level}_{column}": (kind, level) for level in _LEVELS for column, kind in _KINDS.items()
}
"""The others: of each, if it is there, the type, and of what it has an entry each."""


def _same_column(ours: np.ndarray | None, theirs: np.ndarray | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f")
