"""What a page says: the numbers are right, the sizes bounded, the pictures true to what they show."""

import base64
import dataclasses
import json
import re
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hypermodes as hm
from hypermodes.report import branches, bubbles, content, report_of, scatter
from hypermodes.report.wording import LONGEST, number, share, shown
from hypermodes.result import ModeTable
from report_results import communities, crescents, meetings


def column(report, title):
    return next(one.values for one in report.columns if one.title == title)


# -- words ----------------------------------------------------------------------------------------------


@given(st.text())
def test_a_shown_name_is_one_visible_line_that_can_be_written_as_utf8(text):
    visible = shown(text)
    visible.encode("utf-8")
    assert all(c.isprintable() or c in "\u200c\u200d" for c in visible)
    assert len(visible) <= 10 * LONGEST + 30


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"]), max_size=LONGEST))
def test_a_name_that_can_be_shown_is_shown_as_it_is(text):
    assert shown(text) == text


def test_names_of_any_kind_are_shown():
    class Broken:
        def __str__(self):
            raise RuntimeError

    assert [shown(x) for x in (None, 3, 2.5, ("a", 1), frozenset({1}), b"x")] == [
        "None", "3", "2.5", "('a', 1)", "frozenset({1})", "b'x'",
    ]  # fmt: skip
    assert shown(Broken()) == "<Broken>"
    assert shown("x" * 10_000) == "x" * LONGEST + "… (10000 characters)"


def test_numbers_and_shares_never_say_more_than_is_true():
    assert [number(x) for x in (None, np.nan, -np.inf, 1234567, 0.5, 7.1054e-15)] == [
        "–", "–", "–", "1,234,567", "0.5", "7.1e-15",
    ]  # fmt: skip
    assert share(1, 10**6) == "below 0.1\u00a0%"
    assert share(10**6 - 1, 10**6) == "above 99.9\u00a0%"
    assert share(0, 5) == "0\u00a0%"
    assert share(5, 5) == "100\u00a0%"


# -- results --------------------------------------------------------------------------------------------


def test_modes_are_told_with_their_own_numbers():
    modes = hm.find_modes(meetings())
    report = report_of(modes)
    assert report.headline == f"{len(modes)} modes in 30 hyperedges."
    assert column(report, "Density") == pytest.approx(modes.densities.tolist(), rel=1e-5)
    assert column(report, "Starts") == modes.sizes.tolist()
    vertices, edges = report.listings
    for k in range(len(modes)):
        assert {vertices.names[i] for i in vertices.rows[k]} == set(modes.vertices(k))
        assert {edges.names[i] for i in edges.rows[k]} == set(modes.labels(k))
        assert vertices.totals[k] == len(modes.vertices(k))
    assert {report.verdicts[k].word for k in report.verdict_of} <= {"certified", "certified, flat"}


def test_clusters_are_told_with_their_own_numbers():
    clusters, points = crescents()
    report = report_of(clusters, points=points)
    sizes = np.bincount(clusters.labels[clusters.labels >= 0])
    assert column(report, "Points") == sizes.tolist()
    assert report.listings[0].totals == sizes.tolist()
    assert column(report, "Density") == pytest.approx([mode.density for mode in clusters.modes()], rel=1e-5)
    assert f"{(clusters.labels < 0).sum()} point" in report.headline


def test_clusters_of_a_hypergraph_are_told_with_their_own_numbers():
    found = communities()
    report = report_of(found)
    own = found.edge_labels[found.edge_labels >= 0]
    assert column(report, "Hyperedges") == np.bincount(own).tolist()
    assert sum(column(report, "Vertices")) == found.hypergraph.n_vertices
    assert report.verdicts[report.verdict_of[2]].word == "no mode"
    assert column(report, "Core density")[2] is None
    # The person two groups share belongs to both by half, and is named in both.
    listing = report.listings[0]
    both = [[listing.names[i] for i in row].count("person 4") for row in listing.rows]
    assert sorted(both) == [0, 1, 1]
    # The modes at their cores come with their hyperedges; the last cluster has none.
    core = report.listings[1]
    assert {core.names[i] for i in core.rows[0]} <= set(found.hypergraph.labels)
    assert core.totals == [*(len(mode) for mode in found.modes()[:2]), 0]


@pytest.mark.parametrize("make", [lambda: communities(4), lambda: crescents()[0]])
def test_clusters_come_with_their_borders_and_their_tree(make):
    found = make()
    report = report_of(found)
    assert column(report, "Border") == pytest.approx(found.borders.tolist(), rel=1e-5)
    tree = report.tree
    assert tree["leaves"] == found.tree.n
    alone = [row for row, inside in zip(tree["row"], tree["inside"], strict=True) if inside == 1]
    assert set(alone) == set(range(found.n_clusters))
    assert tree["inside"][0] == found.n_clusters


def test_other_levels_that_stand_out_are_told():
    found, _ = crescents()
    told = report_of(found).story[-1]
    others = [reading.n_clusters for reading in found.levels if not reading.is_answer]
    assert others
    assert [int(n) for n in re.findall(r"\d+", told.split("other levels, too:")[1])] == others


def test_a_status_that_is_not_certified_is_told_in_its_own_words():
    modes = hm.find_modes(meetings(2))
    table = dataclasses.replace(modes.table, status=np.array(["MAX_ROUNDS"] * len(modes), dtype="U12"))
    report = report_of(hm.ModeSet(table, modes.edge_mode, modes.hypergraph))
    assert {report.verdicts[k].sentence for k in report.verdict_of} == {hm.Status.MAX_ROUNDS.value}
    assert not any(report.verdicts[k].good for k in report.verdict_of)


def test_other_names_change_names_only():
    modes = hm.find_modes(meetings())
    plain, named = report_of(modes), report_of(modes, names={"person 0": "Ada"})
    assert {"Ada"} == set(named.listings[0].names) - set(plain.listings[0].names)
    assert dataclasses.replace(named, listings=plain.listings) == plain


def test_attributes_of_the_file_are_names_where_they_tell_vertices_apart():
    @dataclasses.dataclass
    class Records:
        values: dict

        def attribute(self, name):
            return self.values.get(name, [None] * 13)

    hypergraph = meetings(3)
    modes = hm.find_modes(hypergraph)

    def names_by(values, names=None):
        annotations = type("Annotations", (), {"vertices": Records(values), "edges": Records({})})()
        object.__setattr__(hypergraph, "annotations", annotations)
        return set(report_of(modes, names=names).listings[0].names)

    called = [f"called {k}" for k in range(13)]
    assert names_by({"name": called}) <= set(called)
    assert names_by({"name": ["the same"] * 13, "label": called}) <= set(called)
    assert names_by({"name": ["the same"] * 13}) <= set(hypergraph.vertices)
    assert names_by({"full": called}, "full") <= set(called)
    with pytest.raises(
        ValueError, match="names: expected an attribute that vertices have; none has 'colour'"
    ):
        names_by({}, "colour")


def test_the_order_of_hyperedges_does_not_change_the_page_beyond_ties():
    hypergraph = meetings()
    order = np.random.default_rng(0).permutation(hypergraph.n_edges)
    turned = hypergraph.subset([hypergraph.labels[i] for i in order])
    one, other = (report_of(hm.find_modes(h)) for h in (hypergraph, turned))
    assert column(one, "Density") == pytest.approx(column(other, "Density"))
    assert one.headline == other.headline
    assert one.facts == other.facts


# -- bounds ---------------------------------------------------------------------------------------------


def many_modes(n_modes, label="vertex"):
    """A set of modes of two hyperedges each, made without looking for them."""
    edges = np.repeat(np.arange(n_modes), 2)
    rows = np.column_stack((2 * edges, 2 * edges + 1))
    incidence = sp.csc_array(
        (np.ones(rows.size), (rows.ravel(), np.repeat(np.arange(2 * n_modes), 2))), (2 * n_modes, 2 * n_modes)
    )
    names = [f"{label} {v}" for v in range(2 * n_modes)]
    hypergraph = hm.Hypergraph.from_incidence(incidence, vertices=names)
    one = hm.find_modes(hypergraph.subset([0, 1]))[0]
    repeated = {
        f.name: np.repeat(getattr(ModeTable.of([one]), f.name), n_modes)
        for f in dataclasses.fields(ModeTable)
    }
    table = ModeTable(
        **repeated
        | {
            "ptr": 2 * np.arange(n_modes + 1),
            "support": np.arange(2 * n_modes),
            "weights": np.full(2 * n_modes, 0.5),
        }
    )
    return hm.ModeSet(table, edges, hypergraph)


def test_a_page_of_many_modes_with_long_names_is_small_and_says_so(tmp_path):
    modes = many_modes(20_000, "a rather long name " * 8)
    hm.write_report(modes, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 5e6
    report = report_of(modes)
    assert len(report.verdict_of) == content.MOST_ROWS
    assert report.headline.startswith("20,000 modes in 40,000 hyperedges.")
    assert "The table has the 5,000 densest of 20,000 modes." in report.notes
    assert "The tree is grown from the 1,000 densest modes." in report.notes
    assert len(report.picture["rows"]) == bubbles.MOST_BUBBLES


def test_names_stop_where_there_is_no_room_and_totals_do_not(monkeypatch):
    monkeypatch.setattr(content, "MOST_TEXT", 100)
    listing = report_of(hm.find_modes(meetings())).listings[0]
    assert sum(map(len, listing.names)) <= 100
    assert sum(listing.totals) > sum(map(len, listing.rows))
    assert listing.totals == report_of(hm.find_modes(meetings())).listings[0].totals


@pytest.mark.parametrize("n_clusters", [0, 1])
def test_clusters_with_nothing_in_them(n_clusters):
    n = 30
    labels = np.full(n, n_clusters - 1)
    clusters = hm.Clusters(
        labels,
        labels,
        np.ones(n),
        np.zeros(n),
        np.zeros(n_clusters),
        None,
        None,
        labels,
        None,
        None,
        None,
        None,
    )
    report = report_of(clusters, points=np.zeros((n, 2)))
    json.dumps(report.as_json(), allow_nan=False)
    assert len(report.verdict_of) == n_clusters


def test_results_with_nothing_in_them():
    no_modes = report_of(hm.find_modes(hm.Hypergraph.from_edges([[1, 2], [3]])))
    assert no_modes.headline.startswith("No modes in 2 hyperedges")
    assert no_modes.picture is None
    assert no_modes.tree is None
    one = report_of(hm.cluster([[1.0, 2.0]]), points=[[1.0, 2.0]])
    assert one.headline == "1 cluster in 1 point. Every point is in one."
    matrix = report_of(hm.find_modes(hm.MatrixAffinity(1 - np.eye(3))))
    assert matrix.listings[0].names == ["0", "1", "2"]
    assert "There is no picture" in report_of(hm.cluster(np.ones((3, 2)))).notes[0]


def test_numbers_that_are_none_are_left_out():
    modes = hm.find_modes(meetings(2))
    table = dataclasses.replace(
        modes.table, density=np.full(len(modes), np.nan), curvature=np.full(len(modes), np.inf)
    )
    report = report_of(hm.ModeSet(table, modes.edge_mode, modes.hypergraph))
    assert set(column(report, "Density")) == {None}
    json.dumps(report.as_json(), allow_nan=False)


# -- pictures -------------------------------------------------------------------------------------------


def test_levels_between_modes_are_those_of_the_affinity():
    hypergraph = meetings(4)
    weighted = hm.Hypergraph(hypergraph.incidence, np.linspace(1, 3, 20), hypergraph.vertices)
    modes = hm.find_modes(weighted)
    dense = hm.HyperedgeAffinity(weighted).restrict(np.arange(20))
    p = np.array([mode.distribution(20) for mode in modes])
    level = branches.between_modes(weighted, sp.csc_array(p.T)).toarray()
    np.testing.assert_allclose(level, p @ dense @ p.T, rtol=1e-12, atol=1e-12)


@settings(max_examples=20)
@given(st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=8), min_size=1, max_size=30))
def test_bubbles_never_lie_on_one_another(rows):
    strength = sp.csr_array(np.array([[float(v in row) for v in range(31)] for row in rows]))
    drawn = bubbles.bubbles(strength, list(range(len(rows))))
    assert drawn == bubbles.bubbles(strength, list(range(len(rows))))
    x, y, r = (np.array(drawn[key]) for key in "xyr")
    apart = np.hypot(x[:, None] - x, y[:, None] - y) - (r[:, None] + r)
    np.fill_diagonal(apart, 1)
    assert apart.min() > 0
    for a, b, shared in drawn["links"]:
        assert shared == len(set(rows[a]) & set(rows[b])) > 0


@given(st.lists(st.sets(st.integers(0, 12), max_size=6), max_size=20))
def test_modes_that_are_told_do_not_repeat_each_other(rows):
    strength = sp.csr_array(np.array([[float(v in row) for v in range(13)] for row in rows]).reshape(-1, 13))
    chosen = bubbles.telling(strength, 5)
    for later, k in enumerate(chosen):
        assert rows[k]
        assert all(2 * len(rows[k] & rows[j]) <= len(rows[k]) for j in chosen[:later])
    for k in set(range(len(rows))) - set(
        chosen
    ):  # whoever is left out is nobody, repeats one, or comes too late
        repeats = any(2 * len(rows[k] & rows[j]) > len(rows[k]) for j in chosen if j < k)
        assert not rows[k] or repeats or len(chosen) == 5


@pytest.mark.parametrize("n", [2, 10, 1000])
def test_bars_of_the_tree_fit_into_one_another(n):
    rng = np.random.default_rng(n)
    links = branches.Links(np.arange(n - 1), np.arange(1, n), rng.random(n - 1))
    tree = hm.ModeTree.grow(links, rng.integers(1, 9, n).astype(float))
    bars = branches.icicle(tree, np.arange(n), 1.0, np.ones(n))
    up, x0, x1, y0, y1 = (np.array(bars[key]) for key in ("up", "x0", "x1", "y0", "y1"))
    assert bars["ends"] <= branches.MOST_LEAVES
    assert bars["ends"] == n or n > branches.MOST_LEAVES
    assert bars["count"][0] == n
    assert (x0[0], x1[0], up[0]) == (0, 1, -1)
    inner = np.arange(1, up.size)
    assert (up[inner] < inner).all()
    assert (x0[inner] >= x0[up[inner]] - 1e-4).all()
    assert (x1[inner] <= x1[up[inner]] + 1e-4).all()
    assert (y1 >= y0).all()
    assert (y0[inner] >= y0[up[inner]] - 1e-4).all()
    for parent in set(up[inner].tolist()):  # siblings lie side by side
        ends = sorted((x0[k], x1[k]) for k in inner[up[inner] == parent])
        assert all(a[1] <= b[0] + 1e-4 for a, b in pairwise(ends))


def test_a_sample_has_some_of_every_cluster_and_the_same_share_of_the_large_ones():
    labels = np.repeat([-1, 0, 1, 2], [5000, 30_000, 15_000, 3])
    rows = scatter.sample(labels, 5000)
    assert rows.size == np.unique(rows).size == 5000
    assert (np.diff(rows) > 0).all()
    counts = np.bincount(labels[rows] + 1)
    assert counts[3] == 3
    assert counts[1] / counts[2] == pytest.approx(2, rel=0.02)
    np.testing.assert_array_equal(scatter.sample(labels, 100_000), np.arange(labels.size))


def test_principal_components_keep_what_lies_in_a_plane_wherever_it_is():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(50, 2)) * (3, 1)
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0][:2]
    place, sentence = scatter.plane(flat @ turn + 100)
    assert "100 % of the variance" in sentence
    gaps = [np.linalg.norm(x[:, None] - x, axis=2) for x in (flat, place)]
    np.testing.assert_allclose(*gaps, atol=1e-9)
    np.testing.assert_allclose(scatter.plane(flat @ turn)[0], place, atol=1e-9)


def drawn_places(picture):
    steps = np.column_stack([np.frombuffer(base64.b64decode(picture[key]), "<u2") for key in "xy"])
    return np.array(picture["low"]) + steps / 65_535 * np.array(picture["extent"])


def test_what_was_laid_out_is_drawn_by_a_layout_of_two_dimensions():
    points = np.repeat(np.eye(5) * 20, 12, axis=0) + np.random.default_rng(0).normal(size=(60, 5))
    found = hm.cluster(points, layout=True)
    expected = hm.layout(points)
    for told in (None, points):
        drawn = report_of(found, points=told).picture
        assert drawn["said"].startswith("A layout in two dimensions")
        np.testing.assert_allclose(drawn_places(drawn), expected, atol=np.ptp(expected) / 10_000)
    flat = report_of(found, points=points[:, :2]).picture
    assert flat["said"] == "Both coordinates as they are."
    where_they_are = hm.cluster(points, layout=False)
    assert report_of(where_they_are).picture is None
    assert "principal components" in report_of(where_they_are, points=points).picture["said"]


def test_similarities_are_drawn_but_for_what_is_like_nothing():
    similar = sp.block_diag([np.ones((10, 10)), np.ones((10, 10)), np.zeros((1, 1))]).toarray()
    report = report_of(
        hm.cluster(hm.MatrixAffinity(similar - np.diag(np.diag(similar)))),
        names=list("abcdefghijklmnopqrstu"),
    )
    assert (report.picture["n"], report.picture["total"]) == (20, 20)
    np.testing.assert_array_equal(
        np.frombuffer(base64.b64decode(report.picture["rows"]), "<u4"), np.arange(20)
    )
    assert report.picture["names"] == list("abcdefghijklmnopqrst")
    assert "Not in the picture: 1 point without a neighbour to be tied to." in report.notes
    nothing = report_of(hm.cluster(hm.MatrixAffinity(np.zeros((9, 9)))))
    json.dumps(nothing.as_json(), allow_nan=False)


def test_points_come_out_of_the_bytes_as_they_went_in():
    clusters, points = crescents()
    drawn = report_of(clusters, points=points).picture
    np.testing.assert_allclose(drawn_places(drawn), points, atol=np.ptp(points, axis=0).max() / 65_535)
    np.testing.assert_array_equal(np.frombuffer(base64.b64decode(drawn["label"]), "<i2"), clusters.labels)


def test_members_of_a_cluster_begin_with_those_it_is_about():
    hub = {f"gene {i}": [f"leaf {i}", "hub"] for i in range(6)}
    found = hm.cluster(hm.Hypergraph.from_edges(hub | {"bridge": ["hub", "x"], "far": ["x", "y"]}), 1)
    listing, _ = report_of(found).listings
    assert listing.names[listing.rows[0][0]] == "hub"  # though all of what a leaf has is in the cluster, too


def test_no_clusters_is_told_with_the_reason():
    apart = hm.cluster(hm.Hypergraph.from_edges([[1, 2], [3, 4], [4, 3]]))
    assert report_of(apart).headline == (
        "No clusters in 4 vertices and 3 hyperedges: no two different hyperedges share a vertex."
    )


def test_hyperedges_are_called_by_their_attribute(tmp_path):
    (tmp_path / "genes.json").write_text(
        '{"edges": [{"edge": 1, "attrs": {"label": "TP53"}}, {"edge": 2}], "incidences": '
        '[{"edge": 1, "node": 1}, {"edge": 1, "node": 2}, {"edge": 2, "node": 2}, {"edge": 2, "node": 3}]}'
    )
    modes = hm.find_modes(hm.read(tmp_path / "genes.json"))
    assert sorted(report_of(modes).listings[1].names) == ["2", "TP53"]


def test_members_of_a_cluster_that_are_not_shown_are_still_found():
    crowd = {e: [f"person {v}" for v in range(60) if v % 7 != e] for e in range(7)}
    report = report_of(hm.cluster(hm.Hypergraph.from_edges(crowd), 1))
    members = report.listings[0]
    assert (len(members.rows[0]), len(members.rest[0]), members.totals) == (40, 20, [60])
    assert {members.names[k] for k in members.rows[0] + members.rest[0]} == {f"person {v}" for v in range(60)}
    assert any(note.endswith("the filter knows all of them.") for note in report.notes)
