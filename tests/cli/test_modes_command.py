"""`hypermodes modes` and `hypermodes info`: the same answers as the library, in every form."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import hypermodes as hm
from hypermodes.description import describe


def test_the_table_shows_every_mode_with_its_members(run, meetings):
    code, out, err = run("modes", meetings)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"{meetings}: 9 vertices, 6 hyperedges, 15 incidences"
    assert lines[1] == "2 modes, 2 certified; 1 hyperedge in none"
    assert lines[4].split()[0] == "0"
    assert lines[4].endswith("ann, cid, bob, dan")
    assert lines[5].endswith("fay, eve, gus")
    assert len(lines) == 6


def test_json_is_one_document_that_says_what_the_library_says(run, meetings):
    code, out, err = run("modes", meetings, "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert list(document) == ["command", "version", "file", "hypergraph", "found", "certified", "modes"]
    assert document["hypergraph"] == {"vertices": 9, "hyperedges": 6, "incidences": 15}
    hypergraph = hm.read(meetings)
    modes = hm.find_modes(hypergraph)
    assert document["found"] == len(modes) == len(document["modes"])
    for k, (record, mode) in enumerate(zip(document["modes"], modes, strict=True)):
        assert list(record) == [
            "rank", "starts", "density", "status", "hyperedges", "shares", "vertices", "certificate",
        ]  # fmt: skip
        assert record["rank"] == k
        assert record["density"] == mode.density
        assert record["starts"] == modes.sizes[k]
        assert sorted(record["hyperedges"]) == sorted(modes.labels(k))
        assert sorted(record["vertices"]) == sorted(modes.vertices(k))
        shares = dict(zip(modes.labels(k), mode.weights, strict=True))
        assert dict(zip(record["hyperedges"], record["shares"], strict=True)) == shares
        assert record["shares"] == pytest.approx(sorted(record["shares"], reverse=True))
        assert record["certificate"]["holds"] is True
        assert record["certificate"]["excess"] == mode.certificate.excess


def test_results_as_csv_and_json_agree_with_json_on_standard_output(run, meetings, tmp_path):
    document = json.loads(run("modes", meetings, "--json")[1])
    run("modes", meetings, "--out", tmp_path / "modes.json")
    assert json.loads((tmp_path / "modes.json").read_text()) == document
    assert run("modes", meetings, "--out", tmp_path / "modes.csv")[1].endswith("modes.csv\n")
    with open(tmp_path / "modes.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert run("modes", meetings, "--out", "-")[1] == (tmp_path / "modes.csv").read_text()
    for row, record in zip(rows, document["modes"], strict=True):
        assert float(row["density"]) == record["density"]
        assert row["hyperedges"].split(";") == record["hyperedges"]
        assert row["vertices"].split(";") == record["vertices"]
        assert int(row["n_vertices"]) == len(record["vertices"])
        assert row["holds"] == "True"


def test_save_keeps_what_python_can_load(run, meetings, tmp_path):
    run("modes", meetings, "--save", tmp_path / "modes.npz", "--top", "1")
    hypergraph = hm.read(meetings)
    assert len(hm.ModeSet.load(tmp_path / "modes.npz", hypergraph)) == 2


def test_the_report_is_written(run, meetings, tmp_path):
    code, out, _ = run("modes", meetings, "--report", tmp_path / "page.html", "--names", "name")
    assert code == 0
    assert out.endswith("page.html\n")
    assert "Fay" in (tmp_path / "page.html").read_text()


def test_top_cuts_every_form(run, meetings, tmp_path):
    out = run("modes", meetings, "--top", "1", "--out", tmp_path / "modes.csv")[1]
    assert "1 more mode" in out
    assert len((tmp_path / "modes.csv").read_text().splitlines()) == 2
    assert len(json.loads(run("modes", meetings, "--top", "1", "--json")[1])["modes"]) == 1


def test_distinct_modes_are_those_of_the_library(run, tmp_path):
    edges = [[1, 2, 3], [1, 2, 4], [2, 3, 4], [1, 2, 3, 4], [4, 5, 6], [5, 6, 7], [8, 9], [9, 10]]
    hm.write(hm.Hypergraph.from_edges(edges), tmp_path / "h.json")
    everything = json.loads(run("modes", tmp_path / "h.json", "--json")[1])["modes"]
    distinct = json.loads(run("modes", tmp_path / "h.json", "--json", "--distinct", "--top", "2")[1])["modes"]
    ranks = hm.find_modes(hm.read(tmp_path / "h.json")).distinct(2)
    assert distinct == [everything[k] for k in ranks]


def test_names_of_vertices_take_the_place_of_ids(run, fails, meetings):
    assert "Ann, Cid, Bob, Dan" in run("modes", meetings, "--names", "name")[1]
    record = json.loads(run("modes", meetings, "--names", "name", "--json")[1])["modes"][0]
    assert record["names"] == [who.title() for who in record["vertices"]]
    assert "no attribute 'nick'" in fails("modes", meetings, "--names", "nick")


def test_peaks_are_fewer_starts(run, meetings):
    code, out, _ = run("modes", meetings, "--starts", "peaks", "--json")
    assert code == 0
    assert sum(mode["starts"] for mode in json.loads(out)["modes"]) <= 2


def test_the_table_fits_the_terminal(run, tmp_path, monkeypatch):
    many = [f"person-{k}-大-\u0301" for k in range(40)]
    hm.write(hm.Hypergraph.from_edges([many, many[:30], many[5:]]), tmp_path / "wide.json")
    from hypermodes.cli.terminal import columns_of

    for columns in (80, 120, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = run("modes", tmp_path / "wide.json")[1].splitlines()[3:]
        assert max(map(columns_of, lines)) <= columns
        assert "more" in lines[-1]


def test_ids_cannot_move_the_cursor(run, tmp_path):
    hm.write(hm.Hypergraph.from_edges([["\x1b[2J", "a\nb"], ["a\nb", "c\rd"]]), tmp_path / "evil.json")
    code, out, _ = run("modes", tmp_path / "evil.json")
    assert code == 0
    assert "\x1b" not in out
    assert "\r" not in out
    assert "\\x1b[2J" in out
    assert "a\\nb" in out


def test_semicolons_in_ids_are_quoted_in_cells(run, tmp_path):
    hm.write(hm.Hypergraph.from_edges({"x;y": ["a;b", 'q"'], "z": ["a;b", "c"]}), tmp_path / "marks.json")
    row = next(csv.DictReader(run("modes", tmp_path / "marks.json", "--out", "-")[1].splitlines()))
    assert set(next(csv.reader([row["vertices"]], delimiter=";"))) == {"a;b", 'q"', "c"}
    assert set(next(csv.reader([row["hyperedges"]], delimiter=";"))) == {"x;y", "z"}


@pytest.mark.parametrize(
    ("option", "name", "message"),
    [
        ("--out", "missing/modes.csv", "there is no folder"),
        ("--save", "missing/modes.npz", "there is no folder"),
        ("--report", "missing/page.html", "there is no folder"),
    ],
)
def test_what_cannot_be_written_is_told_before_the_work(
    fails, monkeypatch, tmp_path, meetings, option, name, message
):
    monkeypatch.setattr("hypermodes.cli.modes.read_hypergraph", None)  # nothing is read, let alone shifted
    assert message in fails("modes", meetings, option, tmp_path / name)


def test_the_input_is_never_overwritten(fails, run, meetings, tmp_path):
    (tmp_path / "link.json").symlink_to(meetings)
    before = Path(meetings).read_text()
    for target in (meetings, tmp_path / "link.json"):
        assert "is the input" in fails("modes", meetings, "--out", target)
    assert Path(meetings).read_text() == before
    message = fails(
        "modes", meetings, "--out", tmp_path / "a.csv", "--save", tmp_path / "sub" / ".." / "a.npz"
    )
    assert "no folder" in message


def test_files_are_written_through_links(run, meetings, tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    run("modes", meetings, "--out", tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("rank,")


def test_info_counts_what_is_there(run, meetings):
    code, out, err = run("info", meetings)
    assert (code, err) == (0, "")
    told = dict(line.split(":", 1) for line in out.splitlines())
    assert told["vertices"].strip().startswith("9, in 0 to 3")
    assert told["hyperedges"].strip().startswith("6, of 1 to 4")
    assert told["components"].strip() == "3; the largest has 4 vertices"
    assert told["alone"].strip() == "1 vertex in no hyperedge, 1 hyperedge touching no other"
    assert "attributes of vertices name" in told["also there"]
    document = json.loads(run("info", meetings, "--json")[1])
    assert document["sizes"] == {"smallest": 1, "median": 2.5, "largest": 4}
    assert document["isolated_hyperedges"] == 1
    assert document["annotations"]["metadata"] == ["where"]
    assert document["seconds_for_modes"] >= 0
    assert document["soft"] is False


def test_counts_are_those_of_a_slow_look():
    rng = np.random.default_rng(1)
    sets = [frozenset(rng.choice(30, size=rng.integers(1, 4), replace=False).tolist()) for _ in range(60)]
    found = describe(hm.Hypergraph.from_edges([sorted(one) for one in sets], vertices=range(31)))
    assert found.duplicates == len(sets) - len(set(sets))
    touching = [sum(bool(one & other) for other in sets) for one in sets]
    assert found.isolated_hyperedges == sum(n == 1 for n in touching)
    assert (
        found.neighbours
        == sum(len(a & b) for i, a in enumerate(sets) for j, b in enumerate(sets) if i != j) / 60
    )
    assert found.isolated_vertices == 31 - len(frozenset().union(*sets))
    parts = []
    for one in map(set, sets):
        meets = [part for part in parts if part & one]
        parts = [part for part in parts if not part & one] + [one.union(*meets)]
    assert (found.components, found.largest_component) == (len(parts), max(map(len, parts)))


def test_why_nothing_was_found_is_told(run, tmp_path):
    (tmp_path / "apart.csv").write_text("edge,vertex\na,1\na,2\nb,3\n")
    for command, found in (("modes", "0 modes"), ("cluster", "0 clusters")):
        code, out, err = run(command, tmp_path / "apart.csv")
        assert (code, err) == (0, "")
        assert found in out
        assert out.splitlines()[-1].startswith("no two ")


def test_names_with_commas_are_told_apart():
    from hypermodes.cli.terminal import listed

    assert listed(["Leanness, inherited", "Asthma"], 80) == "Leanness, inherited; Asthma"
    assert listed(["Asthma", "Obesity", "Atopy"], 20) == "Asthma, +2 more"
