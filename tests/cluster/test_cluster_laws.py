"""Laws of clusters that are read from a layout: points of many dimensions, directions, distances."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

import hypermodes as hm
from lobes import same_groups

laws = settings(max_examples=settings().max_examples // 3)


def small_set(seed):
    """Points of many dimensions: shapeless, of few digits, in three clouds, with equal distances."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 150)), int(rng.integers(4, 30))
    kinds = (
        lambda: rng.normal(size=(n, d)),
        lambda: np.round(rng.normal(size=(n, d)), 1),
        lambda: rng.integers(0, 3, (n, d)),
        lambda: rng.normal(size=(n, d)) + 9 * np.eye(d)[np.arange(n) % 3],
        lambda: rng.standard_cauchy((n, d)),
        lambda: rng.integers(0, 2, (n, d)),
    )
    return np.array(kinds[seed % len(kinds)](), float)


sets = st.integers(0, 10**6).map(small_set)


@cache
def clouds(dimension=20):
    """Four clouds of 450 points, and which each is of."""
    rng = np.random.default_rng(0)
    where = np.repeat(range(4), [150, 120, 100, 80])
    points = rng.normal(size=(450, dimension)) + 8 * np.eye(dimension)[where]
    return points, where


@cache
def directions():
    """Unit vectors around six directions, as embeddings are."""
    rng = np.random.default_rng(1)
    where = np.repeat(range(6), 80)
    points = np.linalg.qr(rng.normal(size=(32, 32)))[0][where] + 0.1 * rng.normal(size=(480, 32))
    return points / np.linalg.norm(points, axis=1)[:, None], where


def of(points, **options):
    return hm.cluster(points, layout=True, **options)


def assert_same(found, expected, rows=slice(None)):
    np.testing.assert_array_equal(found.labels, expected.labels[rows])
    np.testing.assert_array_equal(found.assigned, expected.assigned[rows])
    if expected.layout is not None:
        np.testing.assert_array_equal(found.layout, expected.layout[rows])


# -- points -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [10, 20, 50])
def test_clouds_are_found_in_a_layout(dimension):
    points, where = clouds(dimension)
    found = hm.cluster(points)
    assert found.layout.shape == (450, 5)
    assert same_groups(found.assigned, where)
    assert (found.borders < 0.2).all()


@given(sets, st.integers(0, 99))
@laws
def test_order_units_signs_and_repeated_rows_play_no_part(points, seed):
    rng = np.random.default_rng(seed)
    n, d = points.shape
    one, rows = of(points), rng.permutation(n)
    mixed_up = of(points[rows], n_jobs=2)
    assert same_groups(mixed_up.labels, one.labels[rows])
    if one.layout is not None:
        np.testing.assert_array_equal(mixed_up.layout, one.layout[rows])
    others = (
        points * 2.0 ** int(rng.integers(-60, 60)), -points, points * rng.choice([-1.0, 1.0], d),
        points[:, rng.permutation(d)],
    )  # fmt: skip
    for other in others:
        assert_same(of(other, n_jobs=1), one)
    twice = of(np.vstack((points, points)))
    assert_same(twice, one, np.tile(np.arange(n), 2))


def test_how_points_lie_and_the_unit_play_no_part():
    for points in (clouds()[0], directions()[0]):
        one, rng = hm.cluster(points), np.random.default_rng(0)
        turn = np.linalg.qr(rng.normal(size=(points.shape[1],) * 2))[0]
        for other in (points @ turn, 3.3 * points, points + rng.normal(size=points.shape[1])):
            again = hm.cluster(other)
            np.testing.assert_array_equal(again.labels, one.labels)
            np.testing.assert_array_equal(again.layout, one.layout)


def test_columns_that_say_nothing_change_nothing():
    points, _ = clouds()
    wide = np.column_stack((np.full(450, 3.0), points, np.zeros(450)))
    assert_same(hm.cluster(wide), hm.cluster(points))


@pytest.mark.parametrize("n_jobs", [2, 4, -1])
def test_threads_change_no_bit(n_jobs):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2500, 12)) + 7 * np.eye(12)[np.arange(2500) % 5]
    one, other = hm.cluster(points, n_jobs=1), hm.cluster(points, n_jobs=n_jobs)
    assert_same(other, one)
    np.testing.assert_array_equal(other.probabilities, one.probabilities)
    np.testing.assert_array_equal(hm.layout(points, n_jobs=n_jobs), hm.layout(points, n_jobs=1))


def test_cosine_and_euclidean_say_the_same_of_unit_vectors():
    points, where = directions()
    one, other = hm.cluster(points), hm.cluster(points, metric="cosine")
    for found in (one, other):
        assert same_groups(found.assigned, where)
    assert same_groups(one.assigned, other.assigned)
    lengths = np.random.default_rng(0).uniform(0.1, 10, (480, 1))
    np.testing.assert_array_equal(hm.cluster(lengths * points, metric="cosine").assigned, other.assigned)


def test_every_form_of_the_same_points_finds_the_same():
    points, _ = clouds()
    one = hm.cluster(points)
    table = cdist(points, points)
    graph = NearestNeighbors(n_neighbors=30).fit(points).kneighbors_graph(mode="distance")
    for data, options in (
        (points.tolist(), {}),
        (sp.csr_array(points), {}),
        (points.astype(np.float64), {"n_neighbors": None}),
        (points, {"index": NearestNeighbors().fit(points)}),
        (table, {"metric": "precomputed"}),
        (sp.csr_array(graph), {"metric": "precomputed"}),
    ):
        found = hm.cluster(data, layout=True, **options)
        np.testing.assert_array_equal(found.labels, one.labels)
        np.testing.assert_array_equal(found.layout, one.layout)


def test_order_of_precomputed_distances_plays_no_part():
    points, _ = clouds()
    rows = np.random.default_rng(0).permutation(450)
    table = cdist(points, points)
    graph = sp.csr_array(NearestNeighbors(n_neighbors=20).fit(points).kneighbors_graph(mode="distance"))
    for far in (table, graph):
        one = of(far, metric="precomputed")
        assert_same(of(far[rows][:, rows], metric="precomputed"), one, rows)
        assert_same(of(far * 0.25, metric="precomputed"), one)


def test_parts_of_a_graph_of_distances_have_nothing_to_do_with_each_other():
    points, _ = clouds()
    half = NearestNeighbors(n_neighbors=20).fit(points).kneighbors_graph(mode="distance")
    both = sp.csr_array(sp.block_diag((half, 3 * half)))
    one, two = of(sp.csr_array(half), metric="precomputed"), of(both, metric="precomputed")
    for part in (slice(0, 450), slice(450, 900)):
        assert same_groups(two.assigned[part], one.assigned)
    part = two.ties.parts()
    for k in range(two.n_clusters):
        assert np.unique(part[two.assigned == k]).size == 1


# -- strengths, outliers, new points ----------------------------------------------------------------------


@given(sets)
@laws
def test_what_is_found_fits_together(points):
    found = of(points)
    inside = found.labels >= 0
    np.testing.assert_array_equal(found.labels[inside], found.assigned[inside])
    for labels in (found.labels, found.assigned):
        assert set(labels.tolist()) - {-1} == set(range(found.n_clusters))
    assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all()
    np.testing.assert_array_equal(found.probabilities > 0, inside)
    np.testing.assert_array_equal(found.outlier_scores[inside], 1 - found.probabilities[inside])
    np.testing.assert_array_equal(found.predict(points), found.labels)
    np.testing.assert_array_equal(found.predict(points, assign=True), found.assigned)
    for k, mode in enumerate(found.modes()):
        if mode is not None:
            assert mode.certificate.holds()
            assert (found.assigned[mode.support] == k).all()
    for k in range(found.n_clusters):
        assert set(found.members(k).tolist()) == set(np.flatnonzero(found.labels == k).tolist())
    for array in (found.labels, found.assigned, found.probabilities, found.layout, found.leaves):
        assert array is None or not array.flags.writeable


@given(sets, st.sampled_from([1, 2, 3, 5, 1000]))
@laws
def test_the_wanted_number_is_found_in_a_layout(points, wanted):
    found = of(points, n_clusters=wanted)
    assert found.n_clusters == min(wanted, len(np.unique(points, axis=0))) == found.borders.size
    assert next(level for level in found.levels if level.is_answer).labels.tolist() == found.assigned.tolist()


def test_far_points_are_outliers_and_change_no_cluster():
    points, where = clouds()
    far = np.vstack((points, 300 * np.eye(20)[:3]))
    found = hm.cluster(far)
    assert (found.labels[450:] == -1).all()
    assert same_groups(found.assigned[:450], where)
    predicted = hm.cluster(points).predict(far[450:])
    assert predicted.tolist() == [-1, -1, -1]
    assert (hm.cluster(points).predict(far[450:], assign=True) >= 0).all()


def test_new_points_join_the_cloud_they_lie_in():
    points, where = clouds()
    found, rng = hm.cluster(points), np.random.default_rng(5)
    new = 0.8 * rng.normal(size=(60, 20)) + 8 * np.eye(20)[np.arange(60) % 4]
    label_of = np.array([found.assigned[where == k][0] for k in range(4)])
    np.testing.assert_array_equal(found.predict(new, assign=True), label_of[np.arange(60) % 4])
    single = [int(found.predict(row[None])[0]) for row in new]
    np.testing.assert_array_equal(found.predict(new), single)


# -- odd and bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7])
def test_fewer_than_eight_are_one_cluster_in_a_layout_too(n):
    points = np.random.default_rng(0).normal(size=(n, 9))
    found = of(points)
    assert found.labels.tolist() == [0] * n
    assert found.layout is None
    assert found.predict(points + 1).tolist() == [0] * n
    if n > 1:
        assert of(points, n_clusters=2).n_clusters == 2


@pytest.mark.parametrize("options", [{}, {"n_clusters": 3}, {"threshold": 0.5}], ids=str)
def test_points_that_are_all_equal_are_one_cluster(options):
    found = of(np.full((50, 7), 2.5), **options)
    assert found.labels.tolist() == [0] * 50
    assert [level.n_clusters for level in found.levels] == [1]


@pytest.mark.parametrize("k", [8, 9, 10, 1000])
def test_more_neighbours_than_points_are_all_of_them(k):
    points = np.random.default_rng(0).normal(size=(9, 12))
    assert_same(of(points, n_neighbors=k), of(points, n_neighbors=8))


@pytest.mark.parametrize(
    ("points", "options", "message"),
    [
        (np.ones((9, 9)), {"layout": 1}, "layout: expected True, False or None; got 1"),
        (np.ones((9, 9)), {"layout": "yes"}, "layout: expected True, False or None; got 'yes'"),
        (np.full((9, 9), np.nan), {}, "points: expected finite coordinates; found NaN or infinity"),
        (np.ones((9, 9)), {"n_clusters": 10**30}, "n_clusters: expected a positive whole number"),
        (np.ones((9, 9)), {"n_neighbors": 0}, "n_neighbors: expected"),
        (sp.csr_array((30, 30)), {"metric": "precomputed"}, "points: expected at least k = "),
        (None, {}, "points: expected"),
    ],
)
def test_bad_input_gets_one_clear_error(points, options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        hm.cluster(points, **options)
