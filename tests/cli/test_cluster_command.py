"""`hypermodes cluster`: clusters of hypergraphs and of tables, and how the two are told apart."""

import csv
import json

import numpy as np
import pytest

import hypermodes as hm
from hypermodes.datasets import five_crescents


def test_clusters_of_a_table_come_with_their_ids(run, blobs, tmp_path):
    code, out, err = run("cluster", blobs, "--out", tmp_path / "labels.csv")
    assert (code, err) == (0, "")
    assert f"{blobs}: 120 points in 2 columns (x, y); not used: colour" in out
    with open(tmp_path / "labels.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [f"p{k}" for k in range(120)]
    expected = hm.cluster(hm.read_points(blobs).points)
    assert [int(row["cluster"]) for row in rows] == expected.labels.tolist()
    assert [float(row["probability"]) for row in rows] == expected.probabilities.tolist()
    assert run("cluster", blobs, "--out", "-")[1] == (tmp_path / "labels.csv").read_text()


def test_json_of_points(run, blobs):
    document = json.loads(run("cluster", blobs, "--json", "-k", "3")[1])
    assert list(document) == [
        "command", "version", "file", "kind", "points", "columns", "left_out", "n_clusters", "n_outliers",
        "levels", "clusters", "labels",
    ]  # fmt: skip
    assert document["kind"] == "points"
    assert document["n_clusters"] == len(document["clusters"]) == 3
    assert set(document["labels"][0]) == {"id", "cluster", "probability", "outlier_score"}
    inside = [row for row in document["labels"] if row["cluster"] >= 0]
    assert sum(one["size"] for one in document["clusters"]) == len(inside)
    assert document["clusters"][0]["mode"]["points"][0].startswith("p")
    borders = hm.cluster(hm.read_points(blobs).points, 3).borders.tolist()
    assert [one["border"] for one in document["clusters"]] == borders


def test_options_of_points_reach_the_library(run, blobs):
    def labels(*options):
        return [row["cluster"] for row in json.loads(run("cluster", blobs, "--json", *options)[1])["labels"]]

    table = hm.read_points(blobs)
    assert labels("-k", "2") == hm.cluster(table.points, 2).labels.tolist()
    assert labels("--threshold", "0.5") == hm.cluster(table.points, threshold=0.5).labels.tolist()
    assert labels("--metric", "manhattan") == hm.cluster(table.points, metric="manhattan").labels.tolist()
    assert labels("--neighbors", "4") == hm.cluster(table.points, n_neighbors=4).labels.tolist()
    assert labels("--scale") == hm.cluster(table.standardised().points).labels.tolist()
    assert labels("--columns", "y") == hm.cluster(table.points[:, 1:]).labels.tolist()
    assert labels("--layout") == hm.cluster(table.points, layout=True).labels.tolist()
    assert labels("--no-layout") == labels() == hm.cluster(table.points, layout=False).labels.tolist()
    assert min(labels("--outliers", "assign")) == 0


def test_levels_that_stand_out_are_told_and_borders_shown(run, tmp_path):
    points = five_crescents(200, outliers=0.2, noise=1.0, rng=1).points
    np.save(tmp_path / "points.npy", points)
    found = hm.cluster(points)
    others = [one.n_clusters for one in found.levels if not one.is_answer]
    assert others
    lines = run("cluster", tmp_path / "points.npy")[1].splitlines()
    assert f"other levels: {', '.join(map(str, others))} clusters" in lines
    head, first = (line.split() for line in lines[lines.index("") + 1 :][:2])
    assert head[:5] == ["cluster", "points", "share", "border", "density"]
    assert float(first[3]) == pytest.approx(found.borders[0], rel=1e-3)
    document = json.loads(run("cluster", tmp_path / "points.npy", "--json")[1])
    told = [(one["n_clusters"], one["is_answer"]) for one in document["levels"]]
    assert told == [(one.n_clusters, one.is_answer) for one in found.levels]
    np.save(tmp_path / "few.npy", points[:5])
    assert "other levels" not in run("cluster", tmp_path / "few.npy")[1]


def test_the_report_of_points_is_written(run, blobs, tmp_path):
    assert run("cluster", blobs, "--report", tmp_path / "page.html")[0] == 0
    assert (tmp_path / "page.html").stat().st_size > 1000


def test_clusters_of_a_hypergraph(run, meetings, tmp_path):
    code, out, err = run(
        "cluster", meetings, "-k", "2", "--out", tmp_path / "clusters.csv", "--report", tmp_path / "g.html"
    )
    assert (code, err) == (0, "")
    assert "2 clusters" in out
    assert (tmp_path / "g.html").exists()
    found = hm.cluster(hm.read(meetings), 2)
    with open(tmp_path / "clusters.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    vertices = {row["id"]: int(row["cluster"]) for row in rows if row["kind"] == "vertex"}
    edges = {row["id"]: int(row["cluster"]) for row in rows if row["kind"] == "hyperedge"}
    assert vertices == dict(zip(found.hypergraph.vertices, found.vertex_labels.tolist(), strict=True))
    assert edges == dict(zip(found.hypergraph.labels, found.edge_labels.tolist(), strict=True))
    document = json.loads(run("cluster", meetings, "-k", "2", "--json", "--names", "name")[1])
    assert list(document) == [
        "command", "version", "file", "kind", "hypergraph", "n_clusters", "n_outliers", "levels", "clusters",
        "vertices", "hyperedges",
    ]  # fmt: skip
    assert {row["id"]: row["cluster"] for row in document["vertices"]} == vertices
    assert document["vertices"][0]["name"] == "Ann"
    assert document["clusters"][0]["mode"]["status"] == "CERTIFIED"
    assert [one["border"] for one in document["clusters"]] == found.borders.tolist()


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.csv", "edge,vertex\ne,a\ne,b\nf,b\n", "hypergraph"),
        ("a.csv", "hyperedge;node;weight\n1;2;0.5\n1;3;1\n", "hypergraph"),
        ("a.tsv", "x\ty\n1\t2\n3\t4\n", "points"),
        ("a.csv", "1.5,2\n3,4\n", "points"),
        ("a.txt", "1e3 2\n3 4\n", "points"),
        ("a.csv", "name,x\nann,1\nbob,2\n", "points"),
        ("a.edges", "1 2\n2 3\n", "hypergraph"),
        ("a.csv", "1,2\n3,4\n", None),
        ("a.csv", "basket,item\n1,milk\n1,tea\n2,tea\n", None),
        ("a.csv", "level,colour\n1.5,red\n2,blue\n", "points"),
        ("a.csv", "ann,bob\nbob,cid\n", "hypergraph"),
        ("a.txt", "1 2\n3 4\n", None),
    ],
)
def test_hypergraphs_and_points_are_told_apart(run, fails, tmp_path, name, text, kind):
    (tmp_path / name).write_text(text)
    if kind is None:
        assert "say --hypergraph or --points" in fails("cluster", tmp_path / name)
        assert run("cluster", tmp_path / name, "--hypergraph", "--json")[0] == 0
    else:
        code, out, _ = run("cluster", tmp_path / name, "--json")
        assert code == 0
        assert json.loads(out)["kind"] == kind


def test_a_header_of_words_is_no_hyperedge(run, tmp_path):
    path = tmp_path / "tags.csv"
    path.write_text("package,tag\ngimp,image\ngimp,gtk\nkrita,image\n")
    code, out, err = run("cluster", path, "--json")
    assert code == 0
    assert {row["id"] for row in json.loads(out)["hyperedges"]} == {"gimp", "krita"}
    assert "tags.csv: the first row ('package', 'tag') is taken for a header" in err
    assert "say --no-header if it is an incidence" in err
    for option in (("--columns", "package,tag"), ("--header",)):
        assert run("cluster", path, "--json", *option) == (0, out, "")
    code, out, err = run("cluster", path, "--json", "--no-header")
    assert {row["id"] for row in json.loads(out)["hyperedges"]} == {"package", "gimp", "krita"}
    assert err == ""


def test_what_is_said_outweighs_what_it_looks_like(run, tmp_path):
    (tmp_path / "a.csv").write_text("edge,vertex\n1,2\n3,4\n")
    assert json.loads(run("cluster", tmp_path / "a.csv", "--points", "--json")[1])["columns"] == [
        "edge",
        "vertex",
    ]


def test_arrays_and_parquet_are_points(run, tmp_path):
    points = np.random.default_rng(0).normal(size=(30, 3))
    np.save(tmp_path / "a.npy", points)
    document = json.loads(run("cluster", tmp_path / "a.npy", "--json")[1])
    assert (document["kind"], document["points"], document["columns"]) == ("points", 30, ["1", "2", "3"])
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    import pyarrow.parquet

    table = pa.table({"cell": [f"c{k}" for k in range(30)], "x": points[:, 0], "y": points[:, 1]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    document = json.loads(run("cluster", tmp_path / "a.parquet", "--id-column", "cell", "--json")[1])
    assert (document["columns"], document["labels"][7]["id"]) == (["x", "y"], "c7")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("x,y\n1,2\n3\n", (), "line 3 has 1 cells; expected 2"),
        ("x,y\n1,2\n3,\n", (), "line 3, column 'y' is empty"),
        ("x,y\n1,2\n3,NA\n", (), "line 3, column 'y' is missing (it says 'NA')"),
        ("x,y\n1,2\n\n3,inf\n", (), "line 4, column 'y' is 'inf', not a finite number"),
        ("x,y\n1,2\n3,4\n5,six\n", (), "line 4, column 'y' is 'six'"),
        ("x;y\n1,5;2\n", (), "commas in numbers are not read"),
        ("x,y\n1,2\n", ("--columns", "z"), "has no column 'z'; it has 'x', 'y'"),
        ("x,y\n1,2\n", ("--columns", "x,x"), "expected different columns"),
        ("x,y\n1,2\n", ("--id-column", "z"), "has no column 'z'"),
        ("x,y\n1,2\n", ("--metric", "nonsense"), "metric: expected"),
        ("x,y\n1,2\n", ("--directed", "ignore"), "is read as a table of points"),
        ("x,y\n", ("--points",), "expected"),
        ("", ("--points",), "the file is empty"),
        ("a,b\nc,d\n", ("--points",), "found none among 'a', 'b'"),
        ('x,y\n"1,2\n', ("--points",), "no proper table"),
    ],
)
def test_bad_tables_end_in_one_line(fails, tmp_path, text, options, message):
    (tmp_path / "bad.csv").write_text(text)
    assert message in fails("cluster", tmp_path / "bad.csv", *options)


def test_options_of_points_are_refused_for_hypergraphs(fails, meetings):
    for options in (("--metric", "cosine"), ("--layout",), ("--no-layout",)):
        told = fails("cluster", meetings, *options)
        assert "is read as a hypergraph" in told
        assert options[0] in told


def test_a_table_that_is_not_utf8_or_no_table_at_all(fails, tmp_path):
    (tmp_path / "latin.csv").write_bytes("näme,x\nö,1.5\n".encode("latin-1"))
    assert "not text in UTF-8" in fails("cluster", tmp_path / "latin.csv", "--points")
    (tmp_path / "noise.csv").write_bytes(bytes(range(256)))
    fails("cluster", tmp_path / "noise.csv", "--points")
    (tmp_path / "noise.npy").write_bytes(b"\x93NUMPY\x01\x00garbage")
    assert "no array saved by NumPy" in fails("cluster", tmp_path / "noise.npy")
    (tmp_path / "noise.parquet").write_bytes(b"PAR1garbage")
    fails("cluster", tmp_path / "noise.parquet", "--points")


def test_labels_name_hyperedges_that_have_a_name(run, meetings):
    _, table, _ = run("cluster", meetings, "-k", "2", "--names", "name", "--out", "-")
    assert "hyperedge,chess,1,1.0,CHESS" in table.splitlines()
    document = json.loads(run("cluster", meetings, "-k", "2", "--json", "--names", "name")[1])
    assert {one["id"]: one["name"] for one in document["hyperedges"]}["chess"] == "CHESS"


def test_fewer_clusters_than_asked_for_are_told(run, meetings):
    assert ", not 1,000: there are no more; in none: " in run("cluster", meetings, "-k", "1000")[1]
    assert "no more" not in run("cluster", meetings, "-k", "2")[1]
