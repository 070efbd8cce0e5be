"""Clusters of hypergraphs: planted ones are found, chance is one, and the laws one expects hold."""

import csv
import json
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hypermodes as hm
from lobes import same_groups
from planted import planted

laws = settings(max_examples=settings().max_examples // 3)
OPTIONS = [{}, {"n_clusters": 3}, {"n_clusters": 5}, {"threshold": 0.1}]
CASES = {
    "plain": {},
    "strangers": {"strangers": 0.4, "edges": 1200},
    "small and uneven": {"n": 200, "groups": 12, "edges": 700, "strangers": 0.3, "skew": 0.5, "seed": 3},
}
asked = pytest.mark.parametrize("case", CASES)
wanted = pytest.mark.parametrize("options", OPTIONS, ids=str)


@cache
def graph(case="plain"):
    """A hypergraph with planted groups."""
    return planted(**CASES[case])[0]


@cache
def found():
    """The clusters of the plain one."""
    return hm.cluster(graph())


def mixed_up(hypergraph, seed):
    """The same with vertices, hyperedges and names in another order; and the new order of vertices."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(hypergraph.n_vertices), rng.permutation(hypergraph.n_edges)
    names = [f"vertex {name}" for name in rng.permutation(hypergraph.n_vertices)]
    incidence = hypergraph.incidence[rows][:, columns]
    return hm.Hypergraph(incidence, hypergraph.weights[columns], vertices=names), rows, columns


@st.composite
def small_hypergraphs(draw):
    """Pairs, or hyperedges of up to five, some in several parts, hard or soft, with weights or not."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m, largest = int(rng.integers(3, 60)), int(rng.integers(2, 120)), int(rng.integers(2, 6))
    edges = [rng.choice(n, min(n, int(rng.integers(1, largest + 1))), False).tolist() for _ in range(m)]
    if draw(st.booleans()):
        edges = [{v: float(rng.uniform(0.1, 1)) for v in edge} for edge in edges]
    weights = rng.uniform(0.5, 2, m) if draw(st.booleans()) else None
    return hm.Hypergraph.from_edges(edges, weights=weights, vertices=range(n))


# -- what is found ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"strangers": 0.4, "edges": 1200},
        {"skew": 0.5, "strangers": 0.3, "edges": 1500},
        {"sizes": (12, 20, 40), "edges": 200, "strangers": 0.4},
        {"n": 400, "groups": 25, "edges": 2500},
    ],
    ids=str,
)
def test_planted_groups_are_found_exactly(case):
    hypergraph, truth = planted(**case, seed=3)
    assert same_groups(hm.cluster(hypergraph).assigned, truth)


@pytest.mark.parametrize(
    "case",
    [{}, {"edges": 150}, {"edges": 3000}, {"skew": 0.6}, {"sizes": (30,), "edges": 80}, {"sizes": (2,)}],
    ids=str,
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_chance_alone_is_one_cluster(case, seed):
    clusters = hm.cluster(planted(**case, strangers=1.0, seed=seed)[0])
    sizes = np.bincount(clusters.assigned[clusters.assigned >= 0])
    assert sizes[0] >= 0.95 * sizes.sum()


def test_large_hyperedges_are_not_torn():
    """A member of 5,000 is tied to some of the others: as if drawn at random, so that no part stands out."""
    assert hm.cluster(hm.Hypergraph.from_edges([range(5000), [5, 7]])).n_clusters == 1
    both = hm.cluster(hm.Hypergraph.from_edges([range(3000), range(3000, 6000), [2999, 3000]]))
    assert np.bincount(both.assigned).tolist() == [3000, 3000]
    assert same_groups(both.assigned, np.repeat([0, 1], 3000))


@asked
@wanted
def test_every_core_is_a_certified_mode_of_the_hyperedges_of_its_cluster(case, options):
    hypergraph = graph(case)
    clusters = hm.cluster(hypergraph, **options)
    for k, mode in enumerate(clusters.modes()):
        own = clusters.hyperedges(k)
        if mode is None:  # no two hyperedges of the cluster meet
            vertices = [vertex for label in own for vertex in hypergraph.members(label)]
            assert len(vertices) == len(set(vertices))
            continue
        assert mode.status is hm.Status.CERTIFIED
        assert (clusters.edge_labels[mode.support] == k).all()
        certificate = hm.certify(
            hypergraph.subset(own), mode.distribution(hypergraph.n_edges)[clusters.edge_labels == k]
        )
        assert certificate.holds()
        assert certificate.density == pytest.approx(mode.density)


def test_threads_find_the_same_cores():
    one, other = (hm.cluster(graph("strangers")).modes(n_jobs=n_jobs) for n_jobs in (1, 2))
    assert [m.support.tolist() for m in one] == [m.support.tolist() for m in other]
    assert [m.weights.tolist() for m in one] == [m.weights.tolist() for m in other]


@asked
@wanted
def test_the_cluster_of_each_is_the_one_it_belongs_to_most(case, options):
    clusters = hm.cluster(graph(case), **options)
    for shares, labels in (
        (clusters.memberships, clusters.vertex_labels),
        (clusters.edge_memberships, clusters.edge_labels),
    ):
        inside = np.flatnonzero(labels >= 0)
        shares = shares.toarray()[inside]
        assert (shares[np.arange(inside.size), labels[inside]] >= shares.max(axis=1, initial=0)).all()


@asked
@wanted
def test_borders_are_those_of_the_clusters_that_are_returned(case, options):
    clusters = hm.cluster(graph(case), **options)
    ties = clusters.ties.matrix.toarray()
    degree = ties.sum(axis=1)
    tied = degree > 0
    equal_ties = (degree[tied] ** 2 / (ties[tied] ** 2).sum(axis=1)).mean()
    for k, border in enumerate(clusters.borders):
        own = clusters.assigned == k
        leaving = ties[own][:, ~own].sum() / degree[own].sum()
        by_chance = 1 - degree[own].sum() / degree.sum()
        expected = by_chance * max(0.05, 1 - 1.526 / equal_ties**0.5)
        assert border == pytest.approx(leaving / expected if expected > 0 else 0.0, abs=1e-12)
    answer = next(level for level in clusters.levels if level.is_answer)
    np.testing.assert_array_equal(answer.labels, clusters.assigned)
    np.testing.assert_array_equal(answer.borders, clusters.borders)


def test_hyperedges_belong_where_their_members_do_and_strangers_nowhere():
    hypergraph, clusters = graph(), found()
    held = np.zeros((hypergraph.n_edges, clusters.n_clusters))
    for e in range(hypergraph.n_edges):
        members = hypergraph.incidence[:, [e]].indices
        np.add.at(held[e], clusters.vertex_labels[members], 1 / members.size)
    pure = held.max(axis=1) == 1
    assert (clusters.edge_labels[pure] == held[pure].argmax(axis=1)).all()
    apart = held.max(axis=1) <= 0.5
    assert (clusters.edge_labels[apart] == -1).all()
    np.testing.assert_allclose(clusters.edge_memberships.toarray(), held, atol=1e-12)
    assert clusters.outliers.tolist() == np.flatnonzero(clusters.edge_labels == -1).tolist()


def test_memberships_are_shares():
    for shares in (found().memberships, found().edge_memberships):
        assert shares.min() >= 0
        assert shares.sum(axis=1).max() <= 1 + 1e-9
    two_homes, _ = planted(groups=2, seed=5)
    edges = [two_homes.members(e) for e in two_homes.labels]
    guest = [(*list(edges[i])[:2], "guest") for i in range(200)]
    clusters = hm.cluster(hm.Hypergraph.from_edges(edges + guest))
    both = clusters.memberships[[clusters.hypergraph.vertex_index("guest")]].toarray()[0]
    assert clusters.n_clusters == 2
    assert (both > 0.2).all()  # of both, by what it does with either


def test_representatives_are_vertices_of_most_weight_in_the_mode():
    clusters, hypergraph = found(), graph()
    for k, (vertex, mode) in enumerate(zip(clusters.representatives(), clusters.modes(), strict=True)):
        weight = np.zeros(hypergraph.n_vertices)
        for e, share in zip(mode.support, mode.weights, strict=True):
            members = hypergraph.incidence[:, [e]].indices
            weight[members] += share
        weight[clusters.assigned != k] = 0
        assert weight[vertex] == pytest.approx(weight.max())


# -- laws -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
@asked
def test_order_and_names_play_no_part(case, seed):
    hypergraph = graph(case)
    one, (other, rows, columns) = hm.cluster(hypergraph), mixed_up(hypergraph, seed)
    clusters = hm.cluster(other)
    np.testing.assert_array_equal(clusters.layout, one.layout[rows])
    assert same_groups(clusters.labels, one.labels[rows])
    assert same_groups(clusters.edge_labels, one.edge_labels[columns])
    np.testing.assert_allclose(clusters.probabilities, one.probabilities[rows])


@given(small_hypergraphs(), st.integers(0, 99))
@settings(max_examples=settings().max_examples * 2)
def test_order_plays_no_part_where_much_looks_the_same(hypergraph, seed):
    """As far as anything tells vertices apart: those that look the same may change places."""
    other, rows, _ = mixed_up(hypergraph, seed)
    one, two = hm.cluster(hypergraph, n_jobs=1), hm.cluster(other, n_jobs=1)
    assert one.n_clusters == two.n_clusters
    for k in (-1, *range(one.n_clusters)):
        for name in ("labels", "assigned"):
            assert (getattr(one, name) == k).sum() == (getattr(two, name) == k).sum()
    np.testing.assert_allclose(np.sort(one.borders), np.sort(two.borders))
    assert one.ties.matrix[rows][:, rows].toarray().tolist() == two.ties.matrix.toarray().tolist()


def test_twins_in_many_pairs_are_told_apart_together():
    """A ladder of rungs that all look alike from near: the order of one side must be that of the other."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = 40
        edges = [[i, (i + 1) % n] for i in range(n)] + [[n + i, n + (i + 1) % n] for i in range(n)]
        ring = hm.Hypergraph.from_edges(edges + [[i, n + i] for i in range(0, n, 10)])
        other, _, _ = mixed_up(ring, seed)
        one, two = hm.cluster(ring), hm.cluster(other)
        assert np.sort(one.layout, axis=0).tolist() == np.sort(two.layout, axis=0).tolist()
        rng.shuffle(edges)


@given(small_hypergraphs())
@laws
def test_everything_twice_and_other_units_of_weight_are_the_same(hypergraph):
    one = hm.cluster(hypergraph, n_jobs=1)
    incidence, weights = hypergraph.incidence, hypergraph.weights
    doubled = hm.Hypergraph(sp.csc_array(sp.hstack((incidence, incidence))), np.tile(weights, 2))
    for other in (doubled, hm.Hypergraph(incidence, 8 * weights), hm.Hypergraph(incidence, 1e-3 * weights)):
        again = hm.cluster(other, n_jobs=2)
        np.testing.assert_array_equal(again.layout, one.layout)
        np.testing.assert_array_equal(again.labels, one.labels)
        np.testing.assert_array_equal(again.edge_labels[: hypergraph.n_edges], one.edge_labels)
        assert abs(again.memberships - one.memberships).max() < 1e-12


def test_a_hyperedge_of_weight_2_is_one_that_came_twice():
    hypergraph = graph()
    chosen = np.arange(0, hypergraph.n_edges, 3)
    heavier = hypergraph.weights.copy()
    heavier[chosen] *= 2
    more = sp.csc_array(sp.hstack((hypergraph.incidence, hypergraph.incidence[:, chosen])))
    one, other = hm.cluster(hm.Hypergraph(hypergraph.incidence, heavier)), hm.cluster(hm.Hypergraph(more))
    np.testing.assert_array_equal(one.layout, other.layout)
    np.testing.assert_array_equal(one.labels, other.labels)


@given(small_hypergraphs(), st.integers(1, 9))
@laws
def test_vertices_in_no_hyperedge_are_outliers_and_change_nothing(hypergraph, more):
    n = hypergraph.n_vertices
    wider = sp.vstack((hypergraph.incidence, sp.csc_array((more, hypergraph.n_edges))), format="csc")
    one, other = hm.cluster(hypergraph), hm.cluster(hm.Hypergraph(wider, hypergraph.weights))
    np.testing.assert_array_equal(other.layout[:n], one.layout)
    np.testing.assert_array_equal(other.labels[:n], one.labels)
    np.testing.assert_array_equal(other.borders, one.borders)
    for labels in (other.labels, other.assigned):
        assert (labels[n:] == -1).all()
    assert np.isnan(other.layout[n:]).all()


@given(small_hypergraphs())
@laws
def test_no_cluster_is_in_two_connected_parts(hypergraph):
    clusters = hm.cluster(hypergraph)
    part = clusters.ties.parts()
    for k in range(clusters.n_clusters):
        assert np.unique(part[clusters.assigned == k]).size == 1


def test_what_is_not_connected_plays_no_part():
    one, (other, _) = graph(), planted(n=90, groups=3, seed=7)
    weights = np.concatenate((one.weights, 100 * other.weights))
    both = hm.cluster(hm.Hypergraph(sp.block_diag((one.incidence, other.incidence), format="csc"), weights))
    alone, n = hm.cluster(other), one.n_vertices
    assert same_groups(both.assigned[:n], found().assigned)
    assert same_groups(both.assigned[n:], alone.assigned)
    assert both.n_clusters == found().n_clusters + alone.n_clusters


def test_clusters_of_hundreds_of_parts_are_in_one_part_each():
    """Not always all of them: how small a cluster may be grows with the logarithm of the number of items."""
    parts = [planted(n=24, groups=2, edges=60, strangers=0.1, seed=seed)[0] for seed in range(4)] * 60
    together = hm.cluster(hm.Hypergraph(sp.block_diag([part.incidence for part in parts], format="csc")))
    assert 240 <= together.n_clusters <= 480
    for k in range(together.n_clusters):
        assert np.unique(np.flatnonzero(together.assigned == k) // 24).size == 1


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_threads_do_not_matter(n_jobs):
    """More items than one thread moves: 1,200."""
    hypergraph = planted(n=1200, groups=6, edges=5000)[0]
    one, other = hm.cluster(hypergraph, n_jobs=n_jobs), hm.cluster(hypergraph, n_jobs=3)
    np.testing.assert_array_equal(one.layout, other.layout)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.probabilities, other.probabilities)


# -- how many ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6, 9, 120])
def test_as_many_as_asked_for(k):
    clusters = hm.cluster(graph(), n_clusters=k)
    assert clusters.n_clusters == k == clusters.borders.size
    sizes = np.bincount(clusters.assigned)
    assert (np.diff(sizes) <= 0).all()
    assert sizes.min() > 0


def test_never_more_than_vertices():
    assert hm.cluster(graph(), n_clusters=1000).n_clusters == 120


def test_a_threshold_cuts_the_tree():
    assert hm.cluster(graph(), threshold=0.0).n_clusters == 1
    none = hm.cluster(graph(), threshold=1.0)
    assert none.n_clusters == 0
    assert (none.labels == -1).all()
    assert none.modes() == ()
    assert none.levels[0].is_answer


def test_two_groups_that_are_tied_ever_more_become_one_once():
    """From no stranger to nobody at home: 2, 2, …, 1, 1."""
    numbers = [
        hm.cluster(planted(n=200, groups=2, edges=1500, strangers=share, seed=1)[0]).n_clusters
        for share in np.linspace(0.0, 1.0, 15)
    ]
    assert numbers[0] == 2
    assert numbers[-1] == 1
    assert (np.diff(numbers) <= 0).all()
    assert set(numbers) == {1, 2}


# -- odd input --------------------------------------------------------------------------------------------


def test_what_meets_nothing_is_an_outlier():
    H = hm.Hypergraph.from_edges([[1, 2], [2, 3], [8, 9], [7]], vertices=[1, 2, 3, 7, 8, 9, 10])
    clusters = hm.cluster(H)
    assert clusters.vertex_labels.tolist() == clusters.labels.tolist() == [0, 0, 0, -1, -1, -1, -1]
    assert clusters.edge_labels.tolist() == [0, 0, -1, -1]
    assert "4 vertices in none" in repr(clusters)


@pytest.mark.parametrize(
    "edges", [[[1]], [[1], [1]], [[1, 2]], [[1, 2], [3]], [[1, 2], [3, 4, 5], [6, 7], [6, 7]]]
)
@pytest.mark.parametrize("options", [{}, {"n_clusters": 2}, {"threshold": 0.5}], ids=str)
def test_hyperedges_that_never_meet_make_no_clusters(edges, options):
    H = hm.Hypergraph.from_edges(edges)
    clusters = hm.cluster(H, **options)
    assert clusters.n_clusters == len(clusters) == 0
    assert clusters.modes() == ()
    assert clusters.representatives().size == clusters.borders.size == 0
    assert (clusters.labels == -1).all()
    assert (clusters.outlier_scores == 1).all()
    assert clusters.outliers.tolist() == list(range(len(edges)))
    assert [level.n_clusters for level in clusters.levels] == [0]
    assert clusters.memberships.shape == (H.n_vertices, 0)
    assert repr(clusters).startswith("Clusters(0 clusters of ")
    assert np.isnan(hm.layout(H)).all()


def test_parts_that_are_asked_to_be_one_are():
    H = hm.Hypergraph.from_edges([[1, 2], [2, 3], [4, 5], [5, 6]])
    assert hm.cluster(H).n_clusters == 2
    assert hm.cluster(H, n_clusters=1).vertex_labels.tolist() == [0] * 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "n_clusters: expected a positive whole number or None; got 0"),
        ({"n_clusters": True}, "n_clusters: expected"),
        ({"n_clusters": 2.5}, "n_clusters: expected"),
        ({"n_clusters": 10**30}, "n_clusters: expected"),
        ({"threshold": 1.5}, "threshold: expected a share from 0 to 1, or None; got 1.5"),
        ({"threshold": float("nan")}, "threshold: expected"),
        ({"threshold": 0.5, "n_clusters": 2}, "threshold: expected n_clusters or threshold, not both"),
        ({"n_neighbors": 3}, "n_neighbors: expected none for a Hypergraph; got 3"),
        ({"metric": "cosine"}, "metric: expected none for a Hypergraph; got 'cosine'"),
        ({"index": 7}, "index: expected none for a Hypergraph; got 7"),
        ({"layout": False}, "layout: expected True or None for a Hypergraph; got False"),
        ({"layout": "yes"}, "layout: expected True, False or None; got 'yes'"),
        ({"n_jobs": 0}, "n_jobs: expected"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        hm.cluster(graph(), **options)


def test_new_points_have_no_place_in_a_hypergraph():
    with pytest.raises(ValueError, match=r"^points: expected clusters of points; these are of a hypergraph"):
        found().predict(np.zeros((3, 2)))


@pytest.mark.parametrize("k", [99, -1, True, 1.0, None])
def test_clusters_go_by_their_numbers(k):
    for ask in (found().vertex_names, found().hyperedges):
        with pytest.raises(IndexError, match=r"^k: expected the number of a cluster, 0 … 3; got"):
            ask(k)
    if k != -1:
        with pytest.raises(IndexError, match=r"^k: expected the number of a cluster, -1 … 3; got"):
            found().members(k)


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 14), min_size=1, max_size=6), min_size=1, max_size=25),
    st.lists(st.floats(0.01, 100), min_size=25, max_size=25),
)
def test_any_hypergraph_has_clusters_that_fit_together(edges, weights):
    hypergraph = hm.Hypergraph.from_edges(edges, weights=weights[: len(edges)])
    clusters = hm.cluster(hypergraph)
    assert clusters.memberships.shape == (hypergraph.n_vertices, clusters.n_clusters)
    for labels in (clusters.labels, clusters.assigned):
        assert set(labels.tolist()) - {-1} == set(range(clusters.n_clusters))
    inside = clusters.labels >= 0
    assert (clusters.labels[inside] == clusters.assigned[inside]).all()
    assert set(clusters.edge_labels.tolist()) <= set(range(-1, clusters.n_clusters))
    assert (np.isfinite(clusters.memberships.data)).all()
    assert clusters.memberships.sum(axis=1).max(initial=0) <= 1 + 1e-9
    assert clusters.edge_memberships.sum(axis=1).max(initial=0) <= 1 + 1e-9
    assert len(clusters.modes()) == clusters.n_clusters
    for k, item in enumerate(clusters.representatives()):
        assert clusters.assigned[item] == k
    for e in range(hypergraph.n_edges):  # a hyperedge is of a cluster of one of its vertices, or none
        members = hypergraph.incidence[:, [e]].indices
        assert clusters.edge_labels[e] == -1 or clusters.edge_labels[e] in clusters.vertex_labels[members]


# -- passing on -------------------------------------------------------------------------------------------


def test_what_is_written_is_what_was_found(tmp_path):
    clusters = found()
    clusters.to_csv(tmp_path / "v.csv")
    clusters.edges_to_csv(tmp_path / "e.csv")
    clusters.to_json(tmp_path / "g.json")
    with open(tmp_path / "v.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["cluster"]) for row in rows] == clusters.vertex_labels.tolist()
    with open(tmp_path / "e.csv", newline="") as file:
        assert [int(row["cluster"]) for row in csv.DictReader(file)] == clusters.edge_labels.tolist()
    content = json.loads((tmp_path / "g.json").read_text())
    assert [tuple(one["members"]) for one in content["clusters"]] == [
        clusters.vertex_names(k) for k in range(clusters.n_clusters)
    ]
    assert [tuple(one["edges"]) for one in content["clusters"]] == [
        clusters.hyperedges(k) for k in range(clusters.n_clusters)
    ]
    assert len(clusters) == clusters.n_clusters == len(clusters.to_columns()["core"])
