"""A set of modes: what can be asked of it, and that it survives being written and read."""

import csv
import json

import numpy as np
import pytest

import hypermodes as hm

EDGES = {"a": [1, 2, 3], "b": [2, 3, 4], "c": [1, 3, 4], "d": [5, 6], "e": [6, 7], "f": [9]}
HYPERGRAPH = hm.Hypergraph.from_edges(EDGES)
MODES = hm.find_modes(HYPERGRAPH)


def test_questions_about_a_mode():
    assert MODES.labels(0) == ("a", "b", "c")
    assert MODES.vertices(1) == (5, 6, 7)
    assert MODES.mode_of("e").support.tolist() == [3, 4]
    assert MODES.mode_of("f") is None
    assert MODES.members(-1).tolist() == [3, 4]
    assert MODES.sizes.tolist() == [3, 2]
    assert len(MODES.modes) == len(MODES) == 2
    with pytest.raises(IndexError):
        MODES[2]
    with pytest.raises(ValueError, match="unknown hyperedge 'zzz'"):
        MODES.mode_of("zzz")


def test_columns_and_csv_say_the_same(tmp_path):
    columns = MODES.to_columns()
    assert columns["density"] == MODES.densities.tolist()
    assert columns["hyperedges"] == [3, 2]
    assert columns["vertices"] == [4, 3]
    assert columns["starts"] == [3, 2]
    MODES.to_csv(tmp_path / "modes.csv")
    with open(tmp_path / "modes.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(columns)
    assert [float(row["density"]) for row in rows] == columns["density"]


def test_json_has_labels_and_no_infinities(tmp_path):
    MODES.to_json(tmp_path / "modes.json")

    def refuse(constant):
        raise AssertionError(constant)

    content = json.loads((tmp_path / "modes.json").read_text(), parse_constant=refuse)
    assert content["modes"][0]["support"] == ["a", "b", "c"]
    assert content["edge_mode"] == [0, 0, 0, 1, 1, -1]
    assert content["edges"] == list(EDGES)
    assert content["modes"][0]["tie_curvature"] is None


def test_what_was_saved_is_what_is_loaded(tmp_path):
    MODES.save(tmp_path / "modes.npz")
    again = hm.ModeSet.load(tmp_path / "modes.npz", HYPERGRAPH)
    np.testing.assert_array_equal(again.edge_mode, MODES.edge_mode)
    for name, column in vars(MODES.table).items():
        np.testing.assert_array_equal(getattr(again.table, name), column)
    assert again[0].certificate == MODES[0].certificate
    assert again.labels(0) == MODES.labels(0)
    without = hm.ModeSet.load(tmp_path / "modes.npz")
    assert without.mode_of(3).support.tolist() == [3, 4]
    with pytest.raises(ValueError, match="loaded without their hypergraph"):
        without.vertices(0)


def test_files_that_are_something_else_are_refused(tmp_path):
    HYPERGRAPH.save(tmp_path / "h.npz")
    with pytest.raises(ValueError, match="is not a set of modes saved by hypermodes"):
        hm.ModeSet.load(tmp_path / "h.npz")
    MODES.save(tmp_path / "modes.npz")
    with pytest.raises(ValueError, match="is not a hypergraph saved by hypermodes"):
        hm.Hypergraph.load(tmp_path / "modes.npz")
    with pytest.raises(ValueError, match="they belong to 6 hyperedges, the hypergraph given has 1"):
        hm.ModeSet.load(tmp_path / "modes.npz", hm.Hypergraph.from_edges([[1, 2]]))
    stored = dict(np.load(tmp_path / "modes.npz"))
    np.savez(tmp_path / "bad.npz", **{**stored, "support": stored["support"] + 100})
    with pytest.raises(ValueError, match="found an index outside"):
        hm.ModeSet.load(tmp_path / "bad.npz")


def test_columns_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        MODES.table.density[0] = 5.0
    with pytest.raises(ValueError, match="read-only"):
        MODES.edge_mode[0] = 5


def test_the_readable_layer_gives_the_same_set():
    slow = hm.find_modes(HYPERGRAPH, dynamics=hm.Replicator())
    np.testing.assert_array_equal(slow.edge_mode, MODES.edge_mode)
    np.testing.assert_allclose(slow.densities, MODES.densities, rtol=1e-12)
    assert slow.labels(0) == MODES.labels(0)
