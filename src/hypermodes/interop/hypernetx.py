"""HyperNetX hypergraphs, both ways. HyperNetX drops isolated vertices and empty hyperedges: they go along."""

from typing import Any, Literal

from hypermodes.hypergraph import Hypergraph
from hypermodes.interop.building import Reading
from hypermodes.interop.records import KEY, Parts, hypergraph_of, parts_of, properties_of, record_of

_INNER = {"_level", "misc_properties"}  # properties that HyperNetX adds for itself


def to_hypernetx(hypergraph: Hypergraph) -> Any:
    """Make an ``hnx.Hypergraph``: w(e) and p(v|e) are its edge and cell weights.

    What HyperNetX has no place for is in the attribute ``hif`` of the object. `from_hypernetx` gives the same
    hypergraph back.
    """
    try:
        import hypernetx
    except ImportError:
        raise ImportError("to_hypernetx needs HyperNetX: install hypermodes[interop]") from None
    parts = parts_of(hypergraph)
    cells: dict[Any, dict[Any, dict[str, Any]]] = {}
    for edge, vertex, record in parts.incidences:
        cells.setdefault(edge, {})[vertex] = properties_of(record)
    out = hypernetx.Hypergraph(
        cells,
        edge_properties={
            edge: properties_of(record) for edge, record in parts.edges.items() if edge in cells
        },
        node_properties={vertex: properties_of(record) for vertex, record in parts.vertices.items()},
    )
    out.hif = {
        **parts.network(),
        "nodes": {vertex: properties_of(record) for vertex, record in parts.vertices.items()},
        "edges": {edge: properties_of(record) for edge, record in parts.edges.items() if edge not in cells},
    }
    return out


def from_hypernetx(
    hypergraph: Any,
    *,
    above_one: Literal["rescale", "refuse", "binary"] = "rescale",
    nonpositive: Literal["refuse", "aside"] = "refuse",
) -> Hypergraph:
    """Make a `Hypergraph` of an ``hnx.Hypergraph``: edge weights are w(e), cell weights p(v|e).

    Other properties are kept in the annotations. The options are those of `hypermodes.read`.
    """
    kinds = {cls.__module__.partition(".")[0] for cls in type(hypergraph).__mro__}
    if "hypernetx" not in kinds or not hasattr(hypergraph, "incidences"):
        raise ValueError(f"hypergraph: expected an hnx.Hypergraph; got a {type(hypergraph).__name__}")
    incidences = [
        (edge, vertex, record_of(properties) or {})
        for (edge, vertex), properties in _rows(hypergraph.incidences.to_dataframe)
    ]
    beside = dict(getattr(hypergraph, KEY, {}))
    nodes, empty = beside.pop("nodes", {}), beside.pop("edges", {})
    found = dict(_rows(hypergraph.nodes.to_dataframe))
    used = dict.fromkeys(vertex for _, vertex, _ in incidences)
    order = [*(vertex for vertex in nodes if vertex in used or vertex not in found), *used]
    vertices = {
        vertex: record_of(found.get(vertex, nodes.get(vertex, {}))) for vertex in dict.fromkeys(order)
    }
    of_edges = dict(_rows(hypergraph.edges.to_dataframe))
    edges: dict[Any, Any] = {
        edge: record_of(of_edges.get(edge, {})) for edge in dict.fromkeys(edge for edge, _, _ in incidences)
    }
    edges.update((edge, record_of(properties)) for edge, properties in empty.items() if edge not in edges)
    parts = Parts(vertices, edges, incidences)
    parts.take_network(beside)
    return hypergraph_of(parts, Reading(above_one=above_one, nonpositive=nonpositive))


def _rows(frame: Any) -> list[tuple[Any, dict[str, Any]]]:
    """Names and properties of the rows of a table of properties."""
    columns = [name for name in frame.columns if name != "misc_properties"]
    more = frame["misc_properties"] if "misc_properties" in frame.columns else [{}] * len(frame)
    rows = []
    plain = frame[columns].to_numpy(dtype=object)
    for key, values, misc in zip(frame.index.tolist(), plain, more, strict=True):
        properties = {
            name: value
            for name, value in zip(columns, values, strict=True)
            if value is not None and value == value
        }
        properties.update({name: value for name, value in dict(misc or {}).items() if name not in _INNER})
        rows.append((key, {name: value for name, value in properties.items() if name not in _INNER}))
    return rows
