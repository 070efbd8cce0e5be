"""A set of modes: what can be asked of it, and that it survives being written and read."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given

import hypermodes as hm
from strategies import hypergraphs, tied_hypergraphs

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


def changed(name, change):
    return lambda stored: {name: change(stored[name])}


DAMAGE = {
    "text for numbers": changed("density", lambda x: x.astype(str)),
    "complex numbers": changed("spread", lambda x: x.astype(complex)),
    "whole numbers": changed("weights", lambda x: x.astype(int)),
    "numbers for counts": changed("ties", lambda x: x.astype(float)),
    "a place that is text": changed("edge_mode", lambda x: x.astype(str)),
    "a tolerance that is none": changed("tol", lambda x: x * np.nan),
    "a status in numbers": changed("status", lambda x: np.zeros(x.size)),
    "twice the shares": changed("weights", lambda x: 2 * x),
    "negative shares": changed("weights", lambda x: -x),
    "one hyperedge": changed("support", lambda x: 0 * x),
    "negative rounds": changed("rounds", lambda x: -x),
    "certified without tie curvature": changed("tie_curvature", lambda x: x * np.nan),
    "a certified saddle": changed("curvature", lambda x: x + 10),
}
ONLY_WITH_HYPERGRAPH = {
    "twice the density": changed("density", lambda x: 2 * x),
    "other shares": changed("weights", lambda x: np.where(x == 0.5, 0.25 + np.arange(x.size) % 2 / 2, x)),
}


@pytest.mark.parametrize("damage", [*DAMAGE, *ONLY_WITH_HYPERGRAPH])
def test_numbers_that_modes_cannot_have_are_refused(tmp_path, damage):
    MODES.save(tmp_path / "modes.npz")
    with np.load(tmp_path / "modes.npz") as file:
        stored = dict(file)
    np.savez(tmp_path / "bad.npz", **stored | (DAMAGE | ONLY_WITH_HYPERGRAPH)[damage](stored))
    with pytest.raises(ValueError, match="is not a set of modes saved by hypermodes"):
        hm.ModeSet.load(tmp_path / "bad.npz", HYPERGRAPH)
    if damage in DAMAGE:
        with pytest.raises(ValueError, match="is not a set of modes saved by hypermodes"):
            hm.ModeSet.load(tmp_path / "bad.npz")


@given(hypergraphs() | tied_hypergraphs())
def test_every_set_of_modes_is_loaded_with_its_hypergraph(hypergraph):
    file, modes = io.BytesIO(), hm.find_modes(hypergraph)
    modes.save(file)
    file.seek(0)
    again = hm.ModeSet.load(file, hypergraph)
    for name, column in vars(modes.table).items():
        np.testing.assert_array_equal(getattr(again.table, name), column)
    assert modes.table.holds.tolist() == [mode.certificate.holds() for mode in modes]


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


def test_ranks_count_from_either_end_and_slices_are_tuples():
    assert MODES[-1].support.tolist() == MODES[1].support.tolist()
    assert [mode.density for mode in MODES[:5]] == MODES.densities.tolist()
    for k in (2, -3, "a"):
        with pytest.raises(IndexError, match=r"k: expected the rank of a mode, 0 … 1; got"):
            MODES[k]
        with pytest.raises(IndexError, match="k: expected the rank of a mode"):
            MODES.members(k)


def test_a_mode_is_certified_again_by_name():
    for mode in MODES:
        assert hm.certify(HYPERGRAPH, mode).holds()
        assert hm.certify(hm.HyperedgeAffinity(HYPERGRAPH), mode.distribution(6)).holds()


@pytest.mark.parametrize("given", [MODES, "a", np.ones(3), np.ones(6), np.array([np.nan] * 6), None])
def test_what_is_no_point_of_the_hypergraph_is_not_certified(given):
    with pytest.raises(ValueError, match="point: expected a mode of this hypergraph, or 6 probabilities"):
        hm.certify(HYPERGRAPH, given)


def test_a_mode_of_another_hypergraph_is_not_certified():
    with pytest.raises(ValueError, match="point: expected a mode of this hypergraph"):
        hm.certify(hm.Hypergraph.from_edges([[1, 2], [2, 3]]), MODES[1])


def test_what_cannot_be_written_names_the_path(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; expected the name of a file"):
        MODES.to_csv(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        MODES.save(tmp_path / "nowhere" / "modes.npz")
    assert list(tmp_path.iterdir()) == []
