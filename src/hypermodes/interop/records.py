"""Hypergraphs as records of vertices, hyperedges and incidences: the way to other libraries and back.

Those libraries hold properties by name. A record ``{"weight": 2, "attrs": {"colour": "red"}}`` becomes the
properties ``{"weight": 2, "colour": "red"}``. Where that would not read back as the same record, the record
itself goes along as the property ``"hif"``, and counts as long as the other properties are left as they are.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hypermodes.annotations import DIRECTIONS, Annotations, Records
from hypermodes.hypergraph import Hypergraph
from hypermodes.interop.building import Listing, Reading, build, short
from hypermodes.interop.hif import given_weights

KEY = "hif"
Record = Mapping[str, Any]


@dataclass
class Parts:
    """Everything of a hypergraph, as records by name; ``None`` is a thing that has no record of its own."""

    vertices: dict[Hashable, Record | None]
    edges: dict[Hashable, Record | None]
    incidences: list[tuple[Hashable, Hashable, Record]]
    network_type: str | None = "undirected"
    metadata: Mapping[str, Any] | None = None
    aside: tuple[Record, ...] = ()
    listed: tuple[str, ...] = field(default=())
    """Levels at which everything has a record of its own although it need not."""

    def network(self) -> dict[str, Any]:
        """Properties of the whole."""
        properties = {name: value for name, value in (self.metadata or {}).items() if name != KEY}
        known = {"network-type": self.network_type, "metadata": self.metadata, "aside": list(self.aside),
                 "listed": list(self.listed)}  # fmt: skip
        plain: dict[str, Any] = {
            "network-type": "undirected",
            "metadata": properties or None,
            "aside": [],
            "listed": [],
        }
        return properties if known == plain else {**properties, KEY: known}

    def take_network(self, properties: Mapping[str, Any]) -> None:
        """Read the properties of the whole."""
        said = {name: plain_value(value) for name, value in properties.items() if name != KEY}
        self.metadata = said or None
        known = properties.get(KEY)
        if isinstance(known, Mapping) and {*known} == {"network-type", "metadata", "aside", "listed"}:
            self.network_type, self.listed = known["network-type"], tuple(known["listed"])
            edges, vertices = self.edges, self.vertices
            self.aside = tuple(
                one for one in known["aside"] if one.get("edge") in edges and one.get("node") in vertices
            )
            metadata = known["metadata"]
            if said == {name: value for name, value in (metadata or {}).items() if name != KEY}:
                self.metadata = metadata


# -- records and properties ---------------------------------------------------------------------------


def properties_of(record: Record | None) -> dict[str, Any]:
    """Properties by name that `record_of` reads back as this record."""
    if record is None:
        return {KEY: None}
    properties = _natural(record)
    return properties if record_of(properties) == record else {**properties, KEY: dict(record)}


def weighted(properties: dict[str, Any], any_weight: bool) -> dict[str, Any]:
    """Say the weight 1 as well if other things have another: so do users of those libraries."""
    return {**properties, "weight": properties.get("weight", 1)} if any_weight else properties


def record_of(properties: Mapping[str, Any]) -> Record | None:
    """The record that these properties stand for."""
    others = {name: plain_value(value) for name, value in properties.items() if name != KEY}
    if KEY in properties:
        known = properties[KEY]
        if known is None and not _said(others):
            return None
        if isinstance(known, Mapping) and _said(_natural(known)) == _said(others):
            return known
    weight = others.pop("weight", None)
    record: dict[str, Any] = {}
    if _is_number(weight):
        if weight != 1:
            record["weight"] = float(weight)
    elif weight is not None:
        others["weight"] = weight
    if others:
        record["attrs"] = others
    return record


def _natural(record: Record) -> dict[str, Any]:
    properties = {name: value for name, value in (record.get("attrs") or {}).items() if name != KEY}
    if "weight" in record:
        properties["weight"] = record["weight"]
    return properties


def _said(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Without a weight of 1, which some libraries give to everything."""
    return {
        name: value
        for name, value in properties.items()
        if not (name == "weight" and (value is None or (_is_number(value) and value == 1)))
    }


def plain_value(value: Any) -> Any:
    """A property as JSON has it, where there is a way."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0


# -- hypergraphs and parts ------------------------------------------------------------------------------


def parts_of(hypergraph: Hypergraph) -> Parts:
    """Everything of a hypergraph."""
    if not isinstance(hypergraph, Hypergraph):
        raise ValueError(f"hypergraph: expected a Hypergraph; got a {type(hypergraph).__name__}")
    n_vertices, n_edges, n = hypergraph.n_vertices, hypergraph.n_edges, int(hypergraph.incidence.nnz)
    said = hypergraph.annotations
    if said is None:
        said = Annotations(Records(n_vertices), Records(n_edges), Records(n), "undirected")
    given = None if said.edges.weights is None else ~np.isnan(said.edges.weights)
    unequal = hypergraph.weights != 1
    weights = np.where(unequal if given is None else unequal | given, hypergraph.weights, np.nan)
    edges = dict(zip(hypergraph.labels, _listed_records(said.edges, weights), strict=True))
    edges.update(zip(said.empty_edges, _listed_records(said.empty, said.empty.weights), strict=True))
    owners = np.repeat(np.arange(n_edges), hypergraph.edge_sizes).tolist()
    labels, names = list(hypergraph.labels), list(hypergraph.vertices)
    told = _plain_records(said.incidences, given_weights(hypergraph))
    return Parts(
        dict(zip(names, _listed_records(said.vertices, said.vertices.weights), strict=True)),
        edges,
        [
            (labels[e], names[v], record)
            for e, v, record in zip(owners, hypergraph.incidence.indices.tolist(), told, strict=True)
        ],
        said.network_type,
        said.metadata,
        said.aside,
        tuple(
            level
            for level, records in (("vertices", said.vertices), ("edges", said.edges))
            if records.listed is not None and records.listed.all()
        ),
    )


def _listed_records(records: Records, weights: np.ndarray | None) -> list[Record | None]:
    told = _plain_records(records, weights)
    if records.listed is None or records.listed.all():
        return told  # type: ignore[return-value]
    return [one if listed or one else None for one, listed in zip(told, records.listed.tolist(), strict=True)]


def _plain_records(records: Records, weights: np.ndarray | None) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = [{} for _ in range(records.n)]
    if weights is not None:
        for record, weight in zip(out, weights.tolist(), strict=True):
            if weight == weight:
                record["weight"] = weight
    if records.directions is not None:
        for record, direction in zip(out, records.directions.tolist(), strict=True):
            if direction:
                record["direction"] = DIRECTIONS[direction]
    if records.attributes is not None:
        for record, attributes in zip(out, records.attributes, strict=True):
            if attributes is not None:
                record["attrs"] = dict(attributes)
    return out


def hypergraph_of(parts: Parts, reading: Reading) -> Hypergraph:
    """Build the hypergraph; the same policies hold as for files."""
    edge_index = {label: i for i, label in enumerate(parts.edges)}
    vertex_index = {label: i for i, label in enumerate(parts.vertices)}
    n = len(parts.incidences)
    edges = np.fromiter((edge_index[e] for e, _, _ in parts.incidences), np.int32, n)
    vertices = np.fromiter((vertex_index[v] for _, v, _ in parts.incidences), np.int32, n)
    said = _columns([record for _, _, record in parts.incidences], "incidence")
    hypergraph = build(
        tuple(parts.edges), tuple(parts.vertices), Listing(edges, vertices, said),
        _things(parts.edges, "hyperedge", "edges" in parts.listed),
        _things(parts.vertices, "vertex", "vertices" in parts.listed),
        reading, network_type=parts.network_type, metadata=parts.metadata, repeated="last",
    )  # fmt: skip
    if not parts.aside:
        return hypergraph
    known = hypergraph.annotations
    base = known or Annotations(
        Records(hypergraph.n_vertices), Records(hypergraph.n_edges), Records(n), parts.network_type
    )
    annotations = Annotations(
        base.vertices, base.edges, base.incidences, base.network_type, base.metadata, base.empty_edges,
        base.empty, (*parts.aside, *base.aside),
    )  # fmt: skip
    return Hypergraph(
        hypergraph.incidence, hypergraph.weights, hypergraph.vertices, hypergraph.labels, annotations
    )


def _things(records: Mapping[Hashable, Record | None], what: str, all_listed: bool) -> Records:
    columns = _columns([record or {} for record in records.values()], what)
    listed = None
    if all_listed or None in records.values():
        listed = np.array([record is not None for record in records.values()])
    return Records(columns.n, listed, columns.weights, columns.attributes)


def _columns(records: list[Record], what: str) -> Records:
    weights = attributes = directions = None
    if any("weight" in record for record in records):
        weights = np.array([_weight(record.get("weight", np.nan), what) for record in records])
    if any("attrs" in record for record in records):
        attributes = tuple(record.get("attrs") for record in records)
    if any("direction" in record for record in records):
        directions = np.array(
            [DIRECTIONS.index(record.get("direction")) for record in records], dtype=np.int8
        )
    return Records(len(records), None, weights, attributes, directions)


def _weight(value: Any, what: str) -> float:
    value = plain_value(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value in (np.inf, -np.inf):
        raise ValueError(f"weight: the weight of a {what} must be a finite number; got {short(value)}")
    return float(value)
