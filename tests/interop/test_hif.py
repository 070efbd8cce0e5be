"""HIF: what a file says comes back; what the schema forbids is refused; what it leaves open is decided."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hypermodes as hm
from interop.documents import WAYS, again, as_sets, read_document, read_text, reading_by, written
from strategies import hif_documents, hypergraphs

both_ways = pytest.mark.usefixtures("way")
INCIDENCES = [{"edge": "e", "node": "a"}, {"edge": "e", "node": "b"}]


# -- laws -----------------------------------------------------------------------------------------------


@given(hif_documents(), st.sampled_from(list(WAYS)))
def test_nothing_of_a_file_is_lost(document, way):
    with reading_by(way):
        hypergraph = read_document(document, directed="ignore")
        content = written(hypergraph)
        assert as_sets(json.loads(content)) == as_sets(document)
        assert read_text(content, directed="ignore") == hypergraph


@given(hif_documents())
def test_both_ways_of_reading_agree(document):
    with reading_by("at once"):
        plain = read_document(document, directed="ignore")
    with reading_by("in pieces"):
        assert read_document(document, directed="ignore") == plain
        text = json.dumps(document, indent=3, ensure_ascii=False)
        half = any("\ud800" <= character <= "\udfff" for character in text)  # has no UTF-8 form
        assert read_text(json.dumps(document, indent=3, ensure_ascii=half), directed="ignore") == plain


@given(hif_documents(), st.randoms(use_true_random=False))
def test_the_order_of_incidences_does_not_matter(document, random):
    names = [list(dict.fromkeys(r[k] for r in document["incidences"])) for k in ("node", "edge")]
    document.setdefault("nodes", [{"node": name} for name in names[0]])
    document.setdefault("edges", [{"edge": name} for name in names[1]])
    first = read_document(document, directed="ignore")
    random.shuffle(document["incidences"])
    assert read_document(document, directed="ignore") == first


@given(hypergraphs())
def test_any_hypergraph_comes_back_as_it_was(hypergraph):
    assert again(hypergraph) == hypergraph


@both_ways
@pytest.mark.data
@pytest.mark.parametrize("name", ["diseasome.json.gz", "email-enron.json.gz", "lesmis.hif.json.gz"])
def test_real_files_come_back_as_they_were(name, data_folder, tmp_path):
    path = data_folder / "hypergraphs_hif" / name
    hypergraph = hm.read(path)
    hm.write(hypergraph, tmp_path / name)
    copy, original = (json.loads(gzip.decompress(p.read_bytes())) for p in (tmp_path / name, path))
    assert as_sets(copy) == as_sets(original)
    assert hm.read(tmp_path / name) == hypergraph


# -- the schema -----------------------------------------------------------------------------------------


COMPLIANT = {
    "only incidences": {"incidences": INCIDENCES},
    "whole-number names": {"incidences": [{"edge": 1, "node": 2}]},
    "every key": {
        "network-type": "undirected",
        "metadata": {"deep": {"er": [1, {"x": None}]}},
        "incidences": [{"edge": "e", "node": "a", "weight": 0.5, "direction": "head", "attrs": {"k": [1]}}],
        "nodes": [{"node": "a", "weight": -1.5, "attrs": {}}, {"node": "alone"}],
        "edges": [{"edge": "e", "weight": 2, "attrs": {"x": 1}}, {"edge": "empty", "weight": 3, "attrs": {}}],
    },
    "simplicial complex": {"network-type": "asc", "incidences": INCIDENCES},
    "empty lists": {"incidences": INCIDENCES, "nodes": [], "edges": [], "metadata": {}},
}


@both_ways
@pytest.mark.parametrize("document", COMPLIANT.values(), ids=COMPLIANT)
def test_what_the_schema_allows_is_read_and_kept(document):
    hypergraph = read_document(document)
    assert as_sets(json.loads(written(hypergraph))) == as_sets(document)


NON_COMPLIANT = {
    "no incidences": ({}, "'incidences' is missing"),
    "unknown key": ({"incidences": INCIDENCES, "type": "x"}, "unknown key 'type'"),
    "network type": ({"incidences": INCIDENCES, "network-type": "mixed"}, "network-type: expected one of"),
    "metadata list": ({"incidences": INCIDENCES, "metadata": []}, "metadata: expected an object"),
    "metadata null": ({"incidences": INCIDENCES, "metadata": None}, "metadata: expected an object"),
    "incidences object": ({"incidences": {}}, "incidences: expected a list"),
    "nodes object": ({"incidences": INCIDENCES, "nodes": {}}, "nodes: expected a list"),
    "incidence list": ({"incidences": [["e", "a"]]}, r"incidences\[0\]: expected an object"),
    "no node": ({"incidences": [{"edge": "e"}]}, r"incidences\[0\]: the key 'node' is missing"),
    "no edge": ({"incidences": [*INCIDENCES, {"node": "e"}]}, r"incidences\[2\]: the key 'edge' is missing"),
    "float name": ({"incidences": [{"edge": 1.5, "node": 1}]}, "edge must be text or a whole number"),
    "true name": ({"incidences": [{"edge": True, "node": 1}]}, "edge must be text or a whole number"),
    "null name": ({"incidences": [{"edge": 1, "node": None}]}, "node must be text or a whole number"),
    "text weight": ({"incidences": [{"edge": 1, "node": 1, "weight": "1"}]}, "weight must be a number"),
    "true weight": ({"incidences": [{"edge": 1, "node": 1, "weight": True}]}, "weight must be a number"),
    "direction": ({"incidences": [{"edge": 1, "node": 1, "direction": "up"}]}, "direction must be"),
    "attrs list": ({"incidences": [{"edge": 1, "node": 1, "attrs": []}]}, "attrs must be an object"),
    "attrs null": ({"incidences": [{"edge": 1, "node": 1, "attrs": None}]}, "attrs must be an object"),
    "incidence key": ({"incidences": [{"edge": 1, "node": 1, "x": 1}]}, "unknown key 'x'"),
    "node key": ({"incidences": INCIDENCES, "nodes": [{"node": 1, "edge": 2}]}, "unknown key 'edge'"),
    "node nameless": ({"incidences": INCIDENCES, "nodes": [{"weight": 1}]}, r"nodes\[0\]: the key 'node'"),
    "edge weight": ({"incidences": INCIDENCES, "edges": [{"edge": 1, "weight": []}]}, "weight must be"),
    "edge float": ({"incidences": INCIDENCES, "edges": [{"edge": 1.0}]}, "text or a whole number"),
    "list": ([], "expected"),
    "text": ("incidences", "expected"),
}


@both_ways
@pytest.mark.parametrize(("document", "message"), NON_COMPLIANT.values(), ids=NON_COMPLIANT)
def test_what_the_schema_forbids_is_refused(document, message):
    with pytest.raises(ValueError, match=message):
        read_document(document)


@both_ways
@pytest.mark.parametrize(
    "document",
    [
        {"incidences": []},
        {"incidences": [], "nodes": [{"node": 1}]},
        {"incidences": [], "edges": [{"edge": 1}]},
    ],
)
def test_a_file_without_a_hyperedge_that_has_vertices_is_refused(document):
    with pytest.raises(ValueError, match="at least one hyperedge with a vertex"):
        read_document(document)


# -- what it means --------------------------------------------------------------------------------------


@both_ways
def test_names_that_are_text_and_numbers_stay_apart():
    hypergraph = read_text('{"incidences":[{"edge":1,"node":"1"},{"edge":"1","node":1},{"edge":1,"node":1}]}')
    assert hypergraph.labels == (1, "1")
    assert hypergraph.vertices == ("1", 1)
    assert set(hypergraph.members(1)) == {1, "1"}


@both_ways
def test_escaped_names_are_the_names_they_spell():
    hypergraph = read_text(r'{"incidences":[{"edge":"\u0061","node":"x"},{"edge":"a","node":"\u0079"}]}')
    assert hypergraph.labels == ("a",)
    assert hypergraph.vertices == ("x", "y")


@both_ways
def test_half_a_character_survives():
    hypergraph = read_text(r'{"incidences":[{"edge":"\ud800","node":"x","attrs":{"\udfff":"\ud800"}}]}')
    assert hypergraph.labels == ("\ud800",)
    assert again(hypergraph) == hypergraph


@both_ways
def test_weights_are_what_the_algorithms_use():
    hypergraph = read_document(COMPLIANT["every key"])
    assert hypergraph.weights.tolist() == [2.0]
    assert hypergraph.incidence.data.tolist() == [0.5]
    assert hypergraph.vertices == ("a", "alone")
    assert hypergraph.annotations.empty_edges == ("empty",)
    assert hypergraph.annotations.empty.weights.tolist() == [3.0]
    assert hypergraph.annotations.vertices.weights[0] == -1.5
    assert hypergraph.annotations.edges.attribute("x") == [1]


@both_ways
@pytest.mark.parametrize(
    "weight", [0.1, 1 / 3, 0.37454011884736254, 1e-17, 123456789e-9, 9007199254740993, 1e22]
)
def test_weights_are_read_to_the_last_bit(weight):
    # Alone in its hyperedge a large weight is rescaled to 1; what was given is what is written.
    for text in (repr(weight), f"{weight:.25e}", f"{weight:.3e}"):
        hypergraph = read_text(f'{{"incidences":[{{"edge":1,"node":1,"weight":{text}}}]}}')
        expected = float(text)
        assert hypergraph.incidence.data[0] == min(expected, 1.0)
        assert json.loads(written(hypergraph))["incidences"][0].get("weight", 1) == expected


def heavy(weights):
    return {"incidences": [{"edge": e, "node": v, "weight": w} for (e, v), w in weights.items()]}


@both_ways
def test_weights_above_one_are_divided_by_the_largest_of_their_hyperedge():
    document = heavy({("e", "a"): 4, ("e", "b"): 1, ("f", "a"): 0.5, ("f", "b"): 0.25})
    hypergraph = read_document(document)
    assert hypergraph.incidence.toarray().tolist() == [[1.0, 1.0], [0.25, 0.5]]
    assert as_sets(json.loads(written(hypergraph)))["incidences"] == as_sets(document)["incidences"]
    assert (read_document(document, above_one="binary").incidence.data == 1).all()
    with pytest.raises(ValueError, match=r"'a' of hyperedge 'e' has the weight 4; pass above_one="):
        read_document(document, above_one="refuse")


@both_ways
def test_weights_of_one_or_less_are_left_alone():
    document = heavy({("e", "a"): 0.5, ("e", "b"): 0.25})
    assert read_document(document).incidence.data.tolist() == [0.5, 0.25]


@both_ways
def test_an_unsaid_weight_is_one_when_others_are_larger():
    hypergraph = read_document({"incidences": [{"edge": 1, "node": 1}, {"edge": 1, "node": 2, "weight": 2}]})
    assert hypergraph.incidence.data.tolist() == [0.5, 1.0]


@both_ways
@pytest.mark.parametrize("weight", [0, -1, -0.5])
def test_incidences_without_positive_weight_are_refused_or_go_aside(weight):
    document = heavy({("e", "a"): 0.5, ("e", "b"): weight, ("f", "b"): weight})
    with pytest.raises(ValueError, match=f"'b' of hyperedge 'e' has the weight {weight}; pass nonpositive="):
        read_document(document)
    hypergraph = read_document(document, nonpositive="aside")
    assert hypergraph.members("e") == ("a",)
    assert hypergraph.n_edges == 1
    assert hypergraph.annotations.empty_edges == ("f",)
    content = written(hypergraph)
    assert as_sets(json.loads(content))["incidences"] == as_sets(document)["incidences"]
    assert read_text(content, nonpositive="aside") == hypergraph


@both_ways
def test_hyperedges_without_positive_weight_are_refused_or_go_aside():
    document = {
        "incidences": [*INCIDENCES, {"edge": "bad", "node": "a", "attrs": {"k": 1}}],
        "edges": [{"edge": "bad", "weight": -2, "attrs": {"x": 1}}],
    }
    with pytest.raises(ValueError, match="hyperedge 'bad' has the weight -2; pass nonpositive="):
        read_document(document)
    hypergraph = read_document(document, nonpositive="aside")
    assert hypergraph.labels == ("e",)
    content = written(hypergraph)
    assert as_sets(json.loads(content)) == as_sets(document)
    assert read_text(content, nonpositive="aside") == hypergraph


@both_ways
def test_directed_files_are_refused_or_read_with_their_directions_kept():
    document = {
        "network-type": "directed",
        "incidences": [
            {"edge": "e", "node": "a", "direction": "tail", "weight": 0.5},
            {"edge": "e", "node": "b", "direction": "head"},
            {"edge": "e", "node": "a", "direction": "head", "attrs": {"both": True}},
        ],
    }
    with pytest.raises(ValueError, match="directed, and modes have no direction; pass directed='ignore'"):
        read_document(document)
    hypergraph = read_document(document, directed="ignore")
    assert hypergraph.members("e") == ("a", "b")
    content = written(hypergraph)
    assert as_sets(json.loads(content)) == as_sets(document)
    assert read_text(content, directed="ignore") == hypergraph


@both_ways
def test_directions_without_a_network_type_make_a_file_directed():
    with pytest.raises(ValueError, match="directed='ignore'"):
        read_document({"incidences": [{"edge": 1, "node": 1, "direction": "head"}]})


@both_ways
def test_repeated_records_say_one_thing_and_the_last_word_holds():
    document = {
        "incidences": [
            {"edge": 1, "node": 1, "weight": 0.25, "attrs": {"a": 1, "b": 1}},
            {"edge": 1, "node": 2},
            {"edge": 1, "node": 1, "weight": 0.5, "attrs": {"b": 2}},
            {"edge": 1, "node": 1},
        ],
        "nodes": [{"node": 1, "weight": 2}, {"node": 1, "attrs": {"x": 1}}, {"node": 2}, {"node": 2}],
        "edges": [{"edge": 1, "weight": 5}, {"edge": 1, "weight": 3}],
    }
    hypergraph = read_document(document)
    assert hypergraph.incidence.data.tolist() == [0.5, 1.0]
    assert hypergraph.annotations.incidences.attributes == ({"a": 1, "b": 2}, None)
    assert hypergraph.weights.tolist() == [3.0]
    assert hypergraph.annotations.vertices.weights[0] == 2
    assert hypergraph.annotations.vertices.attribute("x") == [1, None]
    assert again(hypergraph) == hypergraph
    assert read_document(document, duplicates="sum").incidence.data.tolist() == [1.0, 1 / 1.75]
    with pytest.raises(ValueError, match=r"twice with different weights, 0\.25 and 0\.5"):
        read_document(document, duplicates="refuse")


@both_ways
@pytest.mark.parametrize("label", [("a", 1), 2.5, None, True, b"x"])
def test_names_that_hif_cannot_hold_are_refused_and_nothing_is_left(label, tmp_path):
    hypergraph = hm.Hypergraph.from_edges([[label, 7]])
    with pytest.raises(ValueError, match="HIF names are text or whole numbers"):
        hm.write(hypergraph, tmp_path / "x.hif.json")
    assert list(tmp_path.iterdir()) == []


@both_ways
def test_a_subset_keeps_what_still_applies(tmp_path):
    document = {
        **COMPLIANT["every key"],
        "incidences": [
            {"edge": e, "node": v, "weight": w, "attrs": {"is": [e, v]}}
            for e, v, w in [
                ("e", "a", 0.5),
                ("e", "b", 0.25),
                ("f", "a", 0.75),
                ("g", "b", 0.5),
                ("g", "c", 0.125),
            ]
        ],
    }
    part = read_document(document).subset(["g", "e"])
    said = part.annotations
    assert said.incidences.attribute("is") == [["g", "b"], ["g", "c"], ["e", "a"], ["e", "b"]]
    assert said.edges.attribute("x") == [None, 1]
    assert said.vertices.n == part.n_vertices
    assert said.metadata == document["metadata"]
    assert said.empty_edges == ()
    assert again(part) == read_text(written(part))
    part.save(tmp_path / "part.npz")
    assert hm.Hypergraph.load(tmp_path / "part.npz") == part


@both_ways
def test_algorithms_ignore_annotations():
    plain = hm.Hypergraph.from_edges([["a", "b"], ["b", "c"], ["a", "c"]])
    document = json.loads(written(plain))
    document["metadata"] = {"x": 1}
    document["edges"] = [{"edge": "none of them", "attrs": {}}]
    annotated = read_document(document)
    assert annotated != plain
    assert np.array_equal(hm.find_modes(annotated).densities, hm.find_modes(plain).densities)
