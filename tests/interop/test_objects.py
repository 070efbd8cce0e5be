"""XGI, HyperNetX and NetworkX: there and back again, nothing lost; and what their users make themselves."""

import sys
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings

import hypermodes as hm
from hypermodes import Hypergraph
from interop.documents import read_document
from strategies import hif_documents, hypergraphs

FULL = {
    "network-type": "undirected",
    "metadata": {"name": "full", "deep": [1, {"x": None}]},
    "incidences": [
        {"edge": "e1", "node": "a", "weight": 0.25, "attrs": {"weight": "x", "role": 1}},
        {"edge": "e1", "node": 1},
        {"edge": "e1", "node": "1", "weight": 1},
        {"edge": 3, "node": "a", "attrs": {}},
    ],
    "nodes": [{"node": "alone"}, {"node": "a", "weight": 3, "attrs": {"colour": "red", "hif": 5}}],
    "edges": [
        {"edge": "empty", "weight": 2, "attrs": {"z": [1]}},
        {"edge": "e1", "weight": 2.5, "attrs": {}},
    ],
}


def through(library, hypergraph):
    pytest.importorskip(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs
        return getattr(hm, f"from_{library}")(getattr(hm, f"to_{library}")(hypergraph))


@pytest.fixture(params=["xgi", "hypernetx", "networkx"])
def library(request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of their imports
        pytest.importorskip(request.param)
    return request.param


def test_nothing_is_lost_on_the_way(library):
    hypergraph = read_document(FULL)
    assert through(library, hypergraph) == hypergraph


@pytest.mark.data
@pytest.mark.parametrize("name", ["diseasome.json.gz", "lesmis.hif.json.gz", "email-enron.json.gz"])
def test_nothing_of_real_files_is_lost_on_the_way(name, library, data_folder):
    if (library, name) == ("hypernetx", "email-enron.json.gz"):
        pytest.skip("HyperNetX takes too long to build it; benchmarks/interop.py does it")
    hypergraph = hm.read(data_folder / "hypergraphs_hif" / name)
    assert through(library, hypergraph) == hypergraph


@given(hif_documents())
def test_any_document_survives_xgi(document):
    hypergraph = read_document(document, directed="ignore")
    assert through("xgi", hypergraph) == hypergraph


@given(hif_documents())
def test_any_document_survives_networkx(document):
    hypergraph = read_document(document, directed="ignore")
    directed = hypergraph.annotations and hypergraph.annotations.network_type == "directed"
    assume(not directed)  # its directions are kept, but NetworkX' graph is undirected
    assert through("networkx", hypergraph) == hypergraph


@settings(max_examples=15)
@given(hypergraphs())
def test_any_hypergraph_survives_hypernetx(hypergraph):
    assert through("hypernetx", hypergraph) == hypergraph


# -- what users of those libraries have -----------------------------------------------------------------


def test_xgi_hypergraphs():
    xgi = pytest.importorskip("xgi")
    theirs = xgi.Hypergraph([["a", "b"], ["b", "c", "d"]])
    theirs.add_node("alone")
    theirs.set_edge_attributes({0: {"weight": 2.5, "kind": "x"}})
    theirs["name"] = "mine"
    ours = hm.from_xgi(theirs)
    assert set(ours.members(1)) == {"b", "c", "d"}
    assert ours.weights.tolist() == [2.5, 1.0]
    assert ours.annotations.edges.attribute("kind") == ["x", None]
    assert "alone" in ours.vertices
    assert ours.annotations.metadata == {"name": "mine"}
    back = hm.to_xgi(ours)
    assert back.edges.members() == theirs.edges.members()
    assert back.edges[0] == theirs.edges[0]
    assert hm.from_xgi(xgi.SimplicialComplex([[1, 2, 3]])).n_edges == 4


def test_changes_made_in_xgi_count():
    pytest.importorskip("xgi")
    theirs = hm.to_xgi(read_document(FULL))
    theirs.set_edge_attributes({"e1": {"weight": 7.0}})
    theirs.remove_node(1)
    ours = hm.from_xgi(theirs)
    assert ours.weights[ours.edge_index("e1")] == 7.0
    assert ours.incidence[ours.vertex_index("a"), ours.edge_index("e1")] == 0.25
    assert 1 not in ours.vertices


def test_directed_xgi_hypergraphs_are_refused_or_read_alike():
    xgi = pytest.importorskip("xgi")
    theirs = xgi.DiHypergraph([([1, 2], [2, 3])])
    with pytest.raises(ValueError, match="directed='ignore'"):
        hm.from_xgi(theirs)
    assert set(hm.from_xgi(theirs, directed="ignore").members(0)) == {1, 2, 3}


def test_networkx_graphs_are_hypergraphs_of_pairs():
    networkx = pytest.importorskip("networkx")
    theirs = networkx.karate_club_graph()
    ours = hm.from_networkx(theirs)
    assert (ours.n_vertices, ours.n_edges) == (34, 78)
    assert (ours.edge_sizes == 2).all()
    assert {frozenset(ours.members(i)) for i in range(78)} == {frozenset(edge) for edge in theirs.edges}
    assert ours.weights.sum() == sum(weight for _, _, weight in theirs.edges(data="weight"))
    back = hm.to_networkx(ours, kind="graph")
    assert hm.from_networkx(back) == ours
    assert sorted(back.edges(data="weight")) == sorted(theirs.edges(data="weight"))


def test_networkx_graphs_of_every_kind():
    networkx = pytest.importorskip("networkx")
    loop = hm.from_networkx(networkx.Graph([("a", "a"), ("a", "b")]))
    assert loop.edge_sizes.tolist() == [1, 2]
    parallel = hm.from_networkx(networkx.MultiGraph([("a", "b"), ("a", "b")]))
    assert parallel.n_edges == 2
    with pytest.raises(ValueError, match="directed='ignore'"):
        hm.from_networkx(networkx.DiGraph([(1, 2)]))
    assert hm.from_networkx(networkx.DiGraph([(1, 2), (2, 1)]), directed="ignore").n_edges == 2
    plain = networkx.Graph()
    plain.add_nodes_from(["a", "b"], bipartite=0)
    plain.add_nodes_from(["x"], bipartite=1)
    plain.add_edges_from([("a", "x"), ("b", "x")])
    assert hm.from_networkx(plain).members("x") == ("a", "b")
    assert hm.from_networkx(plain, kind="graph").n_edges == 2
    plain.add_edge("a", "b")
    with pytest.raises(ValueError, match="on the same side"):
        hm.from_networkx(plain)


def test_only_pairs_are_graphs():
    pytest.importorskip("networkx")
    with pytest.raises(ValueError, match="hyperedge 0 has 3 vertices"):
        hm.to_networkx(Hypergraph.from_edges([[1, 2, 3]]), kind="graph")
    with pytest.raises(ValueError, match=r"no place for p\(v\|e\)"):
        hm.to_networkx(Hypergraph.from_edges([{1: 0.5, 2: 1.0}]), kind="graph")


def test_hypernetx_hypergraphs():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hypernetx = pytest.importorskip("hypernetx")
        theirs = hypernetx.Hypergraph(
            {"e": {"a": {"weight": 4}, "b": {"weight": 2}}, "f": {"b": {}}},
            edge_properties={"e": {"weight": 3.0, "kind": "x"}},
            node_properties={"a": {"colour": "red"}},
        )
        ours = hm.from_hypernetx(theirs)
    assert ours.weights.tolist() == [3.0, 1.0]
    assert ours.incidence.toarray().tolist() == [[1.0, 0.0], [0.5, 1.0]]
    assert ours.annotations.incidences.weights.tolist() == pytest.approx([4, 2, np.nan], nan_ok=True)
    assert ours.annotations.edges.attribute("kind") == ["x", None]
    assert ours.annotations.vertices.attribute("colour") == ["red", None]


@pytest.mark.parametrize("library", ["xgi", "hypernetx", "networkx"])
def test_other_objects_are_refused(library):
    with pytest.raises(ValueError, match=r"expected an? .*; got a list"):
        getattr(hm, f"from_{library}")([[1, 2]])
    pytest.importorskip(library)
    with pytest.raises(ValueError, match="hypergraph: expected a Hypergraph; got a list"):
        getattr(hm, f"to_{library}")([[1, 2]])


@pytest.mark.parametrize("library", ["xgi", "hypernetx", "networkx"])
def test_a_missing_library_is_named(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=r"install hypermodes\[interop\]"):
        getattr(hm, f"to_{library}")(Hypergraph.from_edges([[1, 2]]))
