"""XGI hypergraphs, both ways. XGI has no properties of incidences: they travel with their hyperedge."""

from typing import Any, Literal

from hypermodes.hypergraph import Hypergraph
from hypermodes.interop.building import Reading
from hypermodes.interop.records import Parts, hypergraph_of, parts_of, properties_of, record_of, weighted

INCIDENCES = "incidences"
"""The property of a hyperedge that holds what is said of its incidences: a list of HIF records."""


def to_xgi(hypergraph: Hypergraph) -> Any:
    """Make an ``xgi.Hypergraph``: w(e) is the property ``weight`` of a hyperedge.

    p(v|e) and anything else said of incidences is the property ``incidences`` of a hyperedge, a list of
    ``{"node": v, "weight": p}``. `from_xgi` gives the same hypergraph back.
    """
    try:
        import xgi
    except ImportError:
        raise ImportError("to_xgi needs XGI: install hypermodes[interop]") from None
    parts = parts_of(hypergraph)
    members: dict[Any, list[Any]] = {label: [] for label in parts.edges}
    told: dict[Any, list[Any]] = {}
    for edge, vertex, record in parts.incidences:
        members[edge].append(vertex)
        if record:
            told.setdefault(edge, []).append({"node": vertex, **record})
    out = xgi.Hypergraph()
    out.add_nodes_from((vertex, properties_of(record)) for vertex, record in parts.vertices.items())
    heavy = bool((hypergraph.weights != 1).any())
    for edge, of_edge in parts.edges.items():
        properties = weighted(properties_of(of_edge), heavy)
        if edge in told:
            properties[INCIDENCES] = told[edge]
        out.add_edges_from([(members[edge], edge, properties)])
    for name, value in parts.network().items():
        out[name] = value
    return out


def from_xgi(
    hypergraph: Any,
    *,
    directed: Literal["refuse", "ignore"] = "refuse",
    above_one: Literal["rescale", "refuse", "binary"] = "rescale",
    nonpositive: Literal["refuse", "aside"] = "refuse",
) -> Hypergraph:
    """Make a `Hypergraph` of an XGI hypergraph, simplicial complex or (if asked to) directed hypergraph.

    The property ``weight`` of a hyperedge is w(e); other properties are kept in the annotations. The options
    are those of `hypermodes.read`.
    """
    kinds = {cls.__name__ for cls in type(hypergraph).__mro__ if cls.__module__.partition(".")[0] == "xgi"}
    if not kinds & {"Hypergraph", "DiHypergraph"}:
        raise ValueError(f"hypergraph: expected an xgi.Hypergraph; got a {type(hypergraph).__name__}")
    is_directed = "DiHypergraph" in kinds
    if is_directed and directed == "refuse":
        raise ValueError(
            "hypergraph: it is directed, and modes have no direction; pass directed='ignore' to read heads "
            "and tails alike"
        )
    vertices = {vertex: record_of(hypergraph.nodes[vertex]) for vertex in hypergraph.nodes}
    edges: dict[Any, Any] = {}
    incidences: list[tuple[Any, Any, Any]] = []
    for edge in hypergraph.edges:
        properties = dict(hypergraph.edges[edge])
        told = _told(properties)
        edges[edge] = record_of(properties)
        if is_directed:
            for direction, group in (
                ("tail", hypergraph.edges.tail(edge)),
                ("head", hypergraph.edges.head(edge)),
            ):
                incidences += [(edge, v, {**told.get(v, {}), "direction": direction}) for v in group]
        else:
            incidences += [(edge, v, told.get(v, {})) for v in hypergraph.edges.members(edge)]
    kind = "directed" if is_directed else "asc" if "SimplicialComplex" in kinds else "undirected"
    parts = Parts(vertices, edges, incidences, kind)
    # XGI has no public way to list the properties of the whole.
    parts.take_network(dict(getattr(hypergraph, "_net_attr", {})))
    return hypergraph_of(parts, Reading(directed=directed, above_one=above_one, nonpositive=nonpositive))


def _told(properties: dict[str, Any]) -> dict[Any, dict[str, Any]]:
    """Take what is said of incidences out of the properties of a hyperedge."""
    given = properties.get(INCIDENCES)
    if not isinstance(given, list) or not all(isinstance(one, dict) and "node" in one for one in given):
        return {}
    del properties[INCIDENCES]
    return {one["node"]: {key: value for key, value in one.items() if key != "node"} for one in given}
