"""From what a file lists to a hypergraph: repeated, zero and large weights, empty hyperedges; one policy."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from hypermodes.annotations import DIRECTIONS, Annotations, Records
from hypermodes.edge_lists import ends, pair_keys, sorted_pairs
from hypermodes.files import LARGEST
from hypermodes.hypergraph import Hypergraph
from hypermodes.scalars import whole_number


@dataclass(frozen=True)
class Reading:
    """How to read what a hypergraph cannot hold as it is; the options of `hypermodes.read`."""

    directed: Literal["refuse", "ignore"] = "refuse"
    above_one: Literal["rescale", "refuse", "binary"] = "rescale"
    nonpositive: Literal["refuse", "aside"] = "refuse"
    duplicates: Literal["last", "sum", "refuse"] | None = None
    ids: Literal["auto", "text"] = "auto"
    header: bool | None = None
    delimiter: str | None = None
    columns: Sequence[str | int | None] | None = None
    max_bytes: int = LARGEST

    def __post_init__(self) -> None:
        for name, allowed in (
            ("directed", ("refuse", "ignore")),
            ("above_one", ("rescale", "refuse", "binary")),
            ("nonpositive", ("refuse", "aside")),
            ("duplicates", (None, "last", "sum", "refuse")),
            ("ids", ("auto", "text")),
            ("header", (None, True, False)),
        ):
            if getattr(self, name) not in allowed:
                words = ", ".join(map(repr, allowed))
                raise ValueError(f"{name}: expected one of {words}; got {getattr(self, name)!r}")
        if self.columns is not None and (
            isinstance(self.columns, str)
            or not isinstance(self.columns, Sequence)
            or not {str, int, type(None)}.issuperset(map(type, self.columns))
        ):
            raise ValueError(
                "columns: expected names or positions of the columns of edge, node[, weight[, edge weight]]; "
                f"got {self.columns!r}"
            )
        if self.delimiter is not None and (
            not isinstance(self.delimiter, str) or len(self.delimiter) != 1 or self.delimiter in '"\r\n'
        ):
            raise ValueError(
                f"delimiter: expected one character, no quote and no end of a line; got {self.delimiter!r}"
            )
        whole_number("max_bytes", self.max_bytes, "a positive whole number")


@dataclass(frozen=True)
class Listing:
    """Incidences as a file lists them, by position among the names; columns as in `Records`."""

    edges: np.ndarray
    vertices: np.ndarray
    records: Records
    """What is said of each; its weights are not yet probabilities."""

    def take(self, positions: np.ndarray) -> "Listing":
        """Some of them, in this order."""
        return Listing(self.edges[positions], self.vertices[positions], self.records.take(positions))


def build(
    labels: Sequence[Hashable],
    names: Sequence[Hashable],
    listing: Listing,
    edges: Records,
    vertices: Records,
    reading: Reading,
    *,
    network_type: str | None = "undirected",
    metadata: Mapping[str, Any] | None = None,
    repeated: Literal["last", "refuse"] = "refuse",
) -> Hypergraph:
    """Make the hypergraph of these hyperedges (``labels``) and vertices (``names``), and its annotations.

    Whatever a `Hypergraph` does not hold goes to the annotations, so that writing gives it back.
    """
    listing, aside = _said_once(listing, labels, names, reading.duplicates or repeated)
    listing, more = _positive(listing, labels, names, edges, reading)
    aside += more
    sizes = np.bincount(listing.edges, minlength=len(labels))
    if not sizes.any():
        raise ValueError("expected at least one hyperedge with a vertex; found none")
    full = np.flatnonzero(sizes)
    empty = np.flatnonzero(sizes == 0)
    if empty.size:
        place = np.cumsum(sizes > 0) - 1
        listing = Listing(place[listing.edges], listing.vertices, listing.records)
        empty_edges, empty_records = tuple(labels[i] for i in empty.tolist()), edges.take(empty)
        labels, edges = tuple(labels[i] for i in full.tolist()), edges.take(full)
    else:
        empty_edges, empty_records = (), Records(0)
    probabilities = _probabilities(listing, labels, names, reading.above_one)
    weights = None
    if edges.weights is not None:
        weights = np.where(np.isnan(edges.weights), 1.0, edges.weights)
    shape = (len(names), len(labels))
    incidence = sp.csc_array((probabilities, listing.vertices, ends(listing.edges, shape[1])), shape=shape)
    annotations = _annotations(
        incidence, weights, listing.records, edges, vertices, network_type, metadata, empty_edges,
        empty_records, tuple(aside),
    )  # fmt: skip
    return Hypergraph(incidence, weights, names, labels, annotations)  # type: ignore[arg-type]


# -- incidences -----------------------------------------------------------------------------------------


def _said_once(
    listing: Listing, labels: Sequence[Hashable], names: Sequence[Hashable], policy: str
) -> tuple[Listing, list[dict[str, Any]]]:
    """Sort as a hypergraph stores them; records of one incidence become one; other directions go aside."""
    directions = listing.records.directions
    key = pair_keys(listing.edges, listing.vertices, max(len(names), 1))
    if directions is None:
        arrange, first = sorted_pairs(key)
    else:
        arrange, first = sorted_pairs(3 * key + directions)
    if arrange is not None:
        listing, key = listing.take(arrange), key[arrange]
    if first is not None:
        where: Callable[[int], str] = lambda i: (  # noqa: E731
            f"vertex {short(names[listing.vertices[i]])} of hyperedge {short(labels[listing.edges[i]])}"
        )
        records = _merged(listing.records, np.flatnonzero(first), policy, where)
        kept = np.flatnonzero(first)
        listing, key = Listing(listing.edges[kept], listing.vertices[kept], records), key[kept]
    aside: list[dict[str, Any]] = []
    if directions is not None and key.size:
        again = np.concatenate(([False], key[1:] == key[:-1]))
        if again.any():
            aside = _records_of(listing.take(np.flatnonzero(again)), labels, names)
            listing = listing.take(np.flatnonzero(~again))
    return listing, aside


def _merged(records: Records, starts: np.ndarray, policy: str, where: Callable[[int], str]) -> Records:
    """One record for each group of records of the same incidence; ``starts`` says where groups begin."""
    weights, attributes = records.weights, records.attributes
    if weights is not None:
        low, high = np.fmin.reduceat(weights, starts), np.fmax.reduceat(weights, starts)
        differ = np.flatnonzero(low < high)
        if policy == "refuse" and differ.size:
            raise ValueError(
                f"{where(int(starts[differ[0]]))} is listed twice with different weights, "
                f"{low[differ[0]]:g} and {high[differ[0]]:g}; pass duplicates='last' or 'sum'"
            )
        if policy == "sum":
            weights = np.add.reduceat(np.where(np.isnan(weights), 1.0, weights), starts)
        else:
            said = np.where(np.isnan(weights), -1, np.arange(len(weights)))
            weights = weights[np.maximum.reduceat(said, starts)]
            weights = np.where(np.isnan(low), np.nan, weights)  # none of the group said one
    if attributes is not None:
        stops = np.append(starts[1:], records.n)
        attributes = tuple(
            merged_attributes(attributes[i:j]) for i, j in zip(starts.tolist(), stops.tolist(), strict=True)
        )
    directions = None if records.directions is None else records.directions[starts]
    return Records(len(starts), None, weights, attributes, directions)


def merged_attributes(said: Sequence[Mapping[str, Any] | None]) -> Mapping[str, Any] | None:
    """All attributes said of one thing; the later of two values of one attribute wins."""
    given = [one for one in said if one is not None]
    if len(given) <= 1:
        return given[0] if given else None
    return {name: value for one in given for name, value in one.items()}


def _positive(
    listing: Listing, labels: Sequence[Hashable], names: Sequence[Hashable], edges: Records, reading: Reading
) -> tuple[Listing, list[dict[str, Any]]]:
    """Incidences of positive weight in hyperedges of positive weight; the others are refused or go aside."""
    out = np.zeros(len(listing.edges), dtype=bool)
    if listing.records.weights is not None:
        out |= listing.records.weights <= 0
        if out.any() and reading.nonpositive == "refuse":
            i = int(np.flatnonzero(out)[0])
            raise ValueError(
                f"p(v|e) must be positive; vertex {short(names[listing.vertices[i]])} of hyperedge "
                f"{short(labels[listing.edges[i]])} has the weight {listing.records.weights[i]:g}; pass "
                f"nonpositive='aside' to leave such incidences out"
            )
    if edges.weights is not None:
        weightless = edges.weights <= 0
        if weightless.any():
            if reading.nonpositive == "refuse":
                i = int(np.flatnonzero(weightless)[0])
                raise ValueError(
                    f"w(e) must be positive; hyperedge {short(labels[i])} has the weight "
                    f"{edges.weights[i]:g}; pass nonpositive='aside' to leave such hyperedges out"
                )
            out |= weightless[listing.edges]
    if not out.any():
        return listing, []
    return listing.take(np.flatnonzero(~out)), _records_of(listing.take(np.flatnonzero(out)), labels, names)


def _probabilities(
    listing: Listing, labels: Sequence[Hashable], names: Sequence[Hashable], policy: str
) -> np.ndarray:
    """p(v|e): the weights if none exceeds 1; otherwise divided by the largest of their hyperedge."""
    weights = listing.records.weights
    if weights is None or policy == "binary":
        return np.ones(len(listing.edges))
    weights = np.where(np.isnan(weights), 1.0, weights)
    large = np.flatnonzero(weights > 1)
    if not large.size:
        return weights
    if policy == "refuse":
        i = int(large[0])
        raise ValueError(
            f"p(v|e) must lie in (0, 1]; vertex {short(names[listing.vertices[i]])} of hyperedge "
            f"{short(labels[listing.edges[i]])} has the weight {weights[i]:g}; pass "
            f"above_one='rescale' or 'binary'"
        )
    largest = np.maximum.reduceat(weights, ends(listing.edges, len(labels))[:-1])
    shares = weights / largest[listing.edges]
    if not shares.all():
        i = int(np.flatnonzero(shares == 0)[0])
        raise ValueError(
            f"the weights of hyperedge {short(labels[listing.edges[i]])} are too far apart: "
            f"{weights[i]:g} is nothing beside {largest[listing.edges[i]]:g}"
        )
    return shares


def _records_of(
    listing: Listing, labels: Sequence[Hashable], names: Sequence[Hashable]
) -> list[dict[str, Any]]:
    """Incidences as the records of HIF."""
    out = []
    for i, (edge, vertex) in enumerate(zip(listing.edges.tolist(), listing.vertices.tolist(), strict=True)):
        record: dict[str, Any] = {"edge": labels[edge], "node": names[vertex]}
        said = listing.records
        if said.weights is not None and said.weights[i] == said.weights[i]:
            record["weight"] = float(said.weights[i])
        if said.directions is not None and said.directions[i]:
            record["direction"] = DIRECTIONS[said.directions[i]]
        if said.attributes is not None and said.attributes[i] is not None:
            record["attrs"] = said.attributes[i]
        out.append(record)
    return out


# -- annotations: only what the hypergraph itself does not say ------------------------------------------


def _annotations(
    incidence: sp.csc_array,
    weights: np.ndarray | None,
    incidences: Records,
    edges: Records,
    vertices: Records,
    network_type: str | None,
    metadata: Mapping[str, Any] | None,
    empty_edges: tuple[Hashable, ...],
    empty: Records,
    aside: tuple[dict[str, Any], ...],
) -> Annotations | None:
    n_vertices, n_edges = incidence.shape
    vertices, edges, incidences = (_without_silent_columns(r) for r in (vertices, edges, incidences))
    # An empty hyperedge has a record of its own, unless its incidences are aside: then it need not have one.
    listed = empty.listed if aside and empty.listed is not None and not empty.listed.all() else None
    empty = _without_silent_columns(Records(empty.n, listed, empty.weights, empty.attributes))
    if incidences.weights is not None and np.array_equal(
        incidences.weights, np.where(incidence.data == 1, np.nan, incidence.data), equal_nan=True
    ):
        incidences = Records(incidences.n, None, None, incidences.attributes, incidences.directions)
    if edges.weights is not None and np.array_equal(
        edges.weights, np.where(edges.weights == 1, np.nan, edges.weights), equal_nan=True
    ):
        edges = Records(n_edges, edges.listed, None, edges.attributes)
    unequal = weights is not None and bool((weights != 1).any())
    if edges.listed is not None and (edges.listed == all_edges_listed(edges, unequal)).all():
        edges = Records(n_edges, None, edges.weights, edges.attributes)
    if vertices.listed is not None and (
        (vertices.listed == all_vertices_listed(incidence, vertices)).all()
        or not _keeps_order(incidence, vertices.listed)
    ):
        vertices = Records(n_vertices, None, vertices.weights, vertices.attributes)
    nothing = (
        vertices.says_nothing and edges.says_nothing and incidences.says_nothing
        and network_type == "undirected" and metadata is None and not empty_edges and not aside
    )  # fmt: skip
    if nothing:
        return None
    return Annotations(vertices, edges, incidences, network_type, metadata, empty_edges, empty, aside)


def all_edges_listed(edges: Records, weighted: bool) -> bool:
    """Whether hyperedges get records of their own if nothing else is known: if one has something to say."""
    return weighted or edges.weights is not None or edges.attributes is not None


def all_vertices_listed(incidence: sp.csc_array, vertices: Records) -> bool:
    """Whether vertices get records of their own if nothing else is known.

    They do if one has something to say, or is isolated, or if they come in another order than in the
    incidences: the records then fix the order.
    """
    if vertices.weights is not None or vertices.attributes is not None:
        return True
    return not _keeps_order(incidence, np.zeros(incidence.shape[0], dtype=bool))


def _keeps_order(incidence: sp.csc_array, listed: np.ndarray) -> bool:
    """Whether vertices come in their order if these are listed and the others follow as they appear."""
    n = incidence.shape[0]
    first = np.full(n, -1, dtype=np.int64)
    first[incidence.indices[::-1]] = np.arange(incidence.nnz)[::-1]  # the last write wins: the first one
    unlisted = first[~listed]
    in_front = bool(listed[: int(listed.sum())].all())
    return in_front and bool((unlisted >= 0).all() and (np.diff(unlisted) > 0).all())


def _without_silent_columns(records: Records) -> Records:
    weights, attributes, directions = records.weights, records.attributes, records.directions
    return Records(
        records.n,
        records.listed,
        None if weights is None or np.isnan(weights).all() else weights,
        None if attributes is None or all(one is None for one in attributes) else attributes,
        None if directions is None or not directions.any() else directions,
    )


def short(value: object) -> str:
    """Name a value of the input in a message, however long it is."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
