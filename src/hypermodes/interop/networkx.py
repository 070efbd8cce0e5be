"""NetworkX graphs, both ways: the bipartite graph of a hypergraph, and graphs as 2-uniform hypergraphs."""

from typing import Any, Literal

from hypermodes.hypergraph import Hypergraph
from hypermodes.interop.building import Reading, short
from hypermodes.interop.records import (
    Parts,
    hypergraph_of,
    parts_of,
    properties_of,
    record_of,
    weighted,
)

_VERTEX, _EDGE = "v", "e"
_SIDE = "bipartite"  # 0: vertices, 1: hyperedges; the property NetworkX itself uses
_LABEL, _DIRECTION = "label", "direction"


def to_networkx(hypergraph: Hypergraph, *, kind: Literal["bipartite", "graph"] = "bipartite") -> Any:
    """Make a ``networkx.Graph``.

    Parameters
    ----------
    hypergraph : Hypergraph
        Any, or for ``"graph"`` one whose hyperedges have two vertices, or one.
    kind : {"bipartite", "graph"}
        Bipartite: a node ``("v", x)`` for vertex x with the property ``bipartite=0``, a node ``("e", y)`` for
        hyperedge y with ``bipartite=1`` and ``weight`` w(e), an edge with ``weight`` p(v|e) for each
        incidence. Graph: hyperedges are edges (of a ``MultiGraph``, since they may be parallel), with their
        names as the property ``label``; one with a single vertex is a loop.
    """
    try:
        import networkx
    except ImportError:
        raise ImportError("to_networkx needs NetworkX: install hypermodes[interop]") from None
    if kind not in ("bipartite", "graph"):
        raise ValueError(f"kind: expected 'bipartite' or 'graph'; got {kind!r}")
    parts = parts_of(hypergraph)
    if kind == "graph":
        return _as_graph(networkx, hypergraph, parts)
    out = networkx.Graph()
    out.graph.update(parts.network())
    out.add_nodes_from(
        ((_VERTEX, v), {**properties_of(record), _SIDE: 0}) for v, record in parts.vertices.items()
    )
    heavy, soft = bool((hypergraph.weights != 1).any()), bool((hypergraph.incidence.data != 1).any())
    out.add_nodes_from(
        ((_EDGE, e), {**weighted(properties_of(record), heavy), _SIDE: 1})
        for e, record in parts.edges.items()
    )
    out.add_edges_from(
        ((_VERTEX, v), (_EDGE, e), weighted(_incidence_properties(record), soft))
        for e, v, record in parts.incidences
    )
    return out


def _incidence_properties(record: Any) -> dict[str, Any]:
    properties = properties_of({key: value for key, value in record.items() if key != _DIRECTION})
    return {**properties, _DIRECTION: record[_DIRECTION]} if _DIRECTION in record else properties


def _as_graph(networkx: Any, hypergraph: Hypergraph, parts: Parts) -> Any:
    if (hypergraph.edge_sizes > 2).any():
        i = int((hypergraph.edge_sizes > 2).argmax())
        raise ValueError(
            f"kind: hyperedge {short(hypergraph.labels[i])} has {int(hypergraph.edge_sizes[i])} "
            f"vertices, and an edge of a graph has two; use kind='bipartite'"
        )
    if any(record for _, _, record in parts.incidences):
        raise ValueError("kind: a graph has no place for p(v|e); use kind='bipartite'")
    members: dict[Any, list[Any]] = {}
    for edge, vertex, _ in parts.incidences:
        members.setdefault(edge, []).append(vertex)
    any_weight = bool((hypergraph.weights != 1).any())
    out = networkx.MultiGraph()
    out.graph.update(parts.network())
    out.add_nodes_from((v, properties_of(record)) for v, record in parts.vertices.items())
    for edge, ends in members.items():
        properties = weighted(properties_of(parts.edges[edge]), any_weight)
        out.add_edges_from([(ends[0], ends[-1], {**properties, _LABEL: edge})])
    return out


def from_networkx(
    graph: Any,
    *,
    kind: Literal["bipartite", "graph"] | None = None,
    directed: Literal["refuse", "ignore"] = "refuse",
    above_one: Literal["rescale", "refuse", "binary"] = "rescale",
    nonpositive: Literal["refuse", "aside"] = "refuse",
) -> Hypergraph:
    """Make a `Hypergraph` of a NetworkX graph.

    Parameters
    ----------
    graph : networkx.Graph, MultiGraph, …
        Bipartite: nodes with the property ``bipartite`` 0 are vertices, with 1 hyperedges; nodes named
        ``("v", x)`` and ``("e", y)`` are called x and y. Any other graph: each edge is a hyperedge of its two
        ends, called by its property ``label`` if all have one, otherwise 0, 1, 2, …; ``weight`` is w(e).
    kind : {"bipartite", "graph"}, optional
        If not given, bipartite when every node has the property ``bipartite``.
    directed : {"refuse", "ignore"}
        A directed graph is an error, or is read as if it were not; directions are kept as annotations.
    above_one, nonpositive
        As for `hypermodes.read`.
    """
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed", "is_multigraph")):
        raise ValueError(f"graph: expected a networkx.Graph; got a {type(graph).__name__}")
    if graph.is_directed() and directed == "refuse":
        raise ValueError(
            "graph: it is directed, and modes have no direction; pass directed='ignore' to read heads and "
            "tails alike"
        )
    if kind not in (None, "bipartite", "graph"):
        raise ValueError(f"kind: expected 'bipartite', 'graph' or None; got {kind!r}")
    sides = {properties.get(_SIDE) for _, properties in graph.nodes(data=True)}
    if kind is None:
        kind = "bipartite" if sides == {0, 1} else "graph"
    if kind == "bipartite" and not sides <= {0, 1}:
        raise ValueError("graph: in a bipartite graph every node has the property bipartite, 0 or 1")
    parts = _of_bipartite(graph) if kind == "bipartite" else _of_graph(graph)
    parts.take_network(graph.graph)
    return hypergraph_of(parts, Reading(directed=directed, above_one=above_one, nonpositive=nonpositive))


def _of_bipartite(graph: Any) -> Parts:
    nodes = dict(graph.nodes(data=True))
    tagged = all(
        isinstance(node, tuple) and len(node) == 2 and node[0] == (_VERTEX, _EDGE)[properties[_SIDE]]
        for node, properties in nodes.items()
    )
    parts = Parts({}, {}, [], "directed" if graph.is_directed() else "undirected")
    for node, properties in nodes.items():
        level = parts.edges if properties[_SIDE] else parts.vertices
        level[node[1] if tagged else node] = record_of(_without(properties, _SIDE))
    for a, b, properties in graph.edges(data=True):
        from_edge = nodes[a][_SIDE]
        if from_edge == nodes[b][_SIDE]:
            raise ValueError(f"graph: {short(a)} and {short(b)} are joined, and are on the same side")
        record = dict(record_of(_without(properties, _DIRECTION)) or {})
        if graph.is_directed():
            record[_DIRECTION] = "head" if from_edge else "tail"
        elif properties.get(_DIRECTION) in ("head", "tail"):
            record[_DIRECTION] = properties[_DIRECTION]
        edge, vertex = (a, b) if from_edge else (b, a)
        parts.incidences.append((edge[1], vertex[1], record) if tagged else (edge, vertex, record))
    return parts


def _of_graph(graph: Any) -> Parts:
    rows = list(graph.edges(data=True))
    labels: list[Any] = [properties.get(_LABEL) for _, _, properties in rows]
    try:
        named = None not in labels and len(set(labels)) == len(labels)
    except TypeError:
        named = False
    parts = Parts({}, {}, [], "directed" if graph.is_directed() else "undirected")
    parts.vertices = {node: record_of(properties) for node, properties in graph.nodes(data=True)}
    for number, (a, b, properties) in enumerate(rows):
        label = labels[number] if named else number
        parts.edges[label] = record_of(_without(properties, _LABEL) if named else properties)
        ends = ((a, "tail"), (b, "head"))
        if graph.is_directed():
            parts.incidences += [(label, v, {_DIRECTION: direction}) for v, direction in ends]
        else:
            parts.incidences += [(label, v, {}) for v in dict.fromkeys((a, b))]
    return parts


def _without(properties: Any, name: str) -> dict[str, Any]:
    return {key: value for key, value in properties.items() if key != name}
