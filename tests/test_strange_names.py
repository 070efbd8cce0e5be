"""Names and values that some files cannot hold: they come back as they were, are escaped, or are one line."""

import csv
import io
import json

import numpy as np
import pytest

import hypermodes as hm
from hypermodes.annotations import Annotations, Records
from hypermodes.cli.documents import together
from hypermodes.shape_groups import ShapeGroups

HALF = "caf\udce9"  # what Python makes of a file name in Latin-1
ESCAPED = "caf\\udce9"
H = hm.Hypergraph.from_edges({HALF: [HALF, "b"], "two": ["b", "c"]})
SAID = hm.Hypergraph.from_edges(
    [["a", "b"], ["b", "c"]],
    annotations=Annotations(
        Records(3, attributes=({"where": HALF}, None, None)), Records(2), Records(4), metadata={HALF: HALF}
    ),
)


@pytest.mark.parametrize("hypergraph", [H, SAID], ids=["names", "attributes"])
@pytest.mark.parametrize("ending", [".hif.json", ".hif.json.gz", ".npz"])
def test_json_and_our_own_file_keep_any_text(tmp_path, hypergraph, ending):
    path = tmp_path / f"kept{ending}"
    hm.write(hypergraph, path)
    again = hm.read(path)
    assert again.labels == hypergraph.labels
    assert again.vertices == hypergraph.vertices
    if hypergraph is SAID:
        assert again.annotations.vertices.attribute("where") == [HALF, None, None]
        assert again.annotations.metadata == {HALF: HALF}


@pytest.mark.parametrize("hypergraph", [H, SAID], ids=["names", "attributes"])
def test_a_folder_keeps_any_text(tmp_path, hypergraph):
    hm.write_folder(hypergraph, tmp_path / "kept")
    assert hm.open(tmp_path / "kept", verify=True) == hypergraph


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".txt", ".parquet"])
def test_tables_of_hypergraphs_refuse_what_they_cannot_hold(tmp_path, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    refusal = (
        r"^(vertices|labels): a table is UTF-8, which cannot hold '.*' with half of a surrogate pair; "
        "write hif or npz$"
    )
    with pytest.raises(ValueError, match=refusal):
        hm.write(H, tmp_path / f"refused{ending}")
    assert list(tmp_path.iterdir()) == []


def test_results_for_programs_keep_any_text(tmp_path):
    for result in (hm.find_modes(H), hm.cluster(H)):
        result.to_json(tmp_path / "result.json")
        content = json.loads((tmp_path / "result.json").read_text("utf-8"))
        assert content["edges"] == [HALF, "two"]


def test_results_as_tables_escape_what_they_cannot_hold(tmp_path):
    groups = hm.cluster(H)
    for write, names in ((groups.to_csv, H.vertices), (groups.edges_to_csv, H.labels)):
        write(tmp_path / "table.csv")
        with open(tmp_path / "table.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        assert [row[0] for row in rows[1:]] == [ESCAPED if name == HALF else name for name in names]


def test_reports_escape_what_they_cannot_hold(tmp_path):
    modes = hm.find_modes(H)
    hm.write_report(modes, tmp_path / "page.html", title=HALF)
    hm.write_report(modes, tmp_path / "named.html", names=[HALF, "p", "q"])
    for name in ("page.html", "named.html"):
        assert "udce9" in (tmp_path / name).read_text("utf-8")


def test_names_of_silhouettes_are_escaped(tmp_path):
    found = hm.cluster(np.array([[0, 1.0], [1.0, 0]]), metric="precomputed")
    masks = (np.ones((2, 2), bool),) * 2
    ShapeGroups((HALF, "b"), found, np.zeros((2, 2), np.float32), masks).save_csv(tmp_path / "shapes.csv")
    assert ESCAPED in (tmp_path / "shapes.csv").read_text("utf-8")


@pytest.mark.parametrize("label", [np.inf, -np.inf])
def test_a_label_that_json_has_no_number_for_is_text(tmp_path, label):
    hypergraph = hm.Hypergraph.from_edges({label: [label, "b"], "two": ["b", 1.5]})
    for result in (hm.find_modes(hypergraph), hm.cluster(hypergraph)):
        result.to_json(tmp_path / "result.json")
        content = json.loads((tmp_path / "result.json").read_text(), parse_constant=pytest.fail)
        assert content["edges"] == [str(label), "two"]
    assert hm.cluster(hypergraph).hypergraph.labels == (label, "two")


@pytest.mark.parametrize("names", [True, 3, 2.5, b"abc", len, np.array(1)], ids=str)
def test_names_that_are_no_names_are_one_line(tmp_path, names):
    with pytest.raises(ValueError, match=r"^names: expected 3 names, one a vertex, or a mapping; got "):
        hm.write_report(hm.find_modes(H), tmp_path / "page.html", names=names)


def test_line_ends_in_names_stay_in_their_cell(tmp_path):
    """Another row could be forged otherwise."""
    names = ["a", "b\ra", "c\nd", "e\r\nf", 'g"h', "i,j"]
    crossing = hm.Hypergraph.from_edges([[one, other] for one in names for other in names if one < other])
    hm.cluster(crossing, n_clusters=2).to_csv(tmp_path / "clusters.csv")
    with open(tmp_path / "clusters.csv", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head[0] == "vertex"
    assert [row[0] for row in rows] == list(crossing.vertices)
    assert {len(row) for row in rows} == {3}
    assert next(csv.reader(io.StringIO(together(names), newline=""), delimiter=";")) == names
