"""Clusters of points where they are: what may not change them, every way to give them, bad input."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from hypermodes import HyperedgeAffinity, HypergraphShift, Status, certify, cluster
from hypermodes.cluster.settings import CLUSTER
from hypermodes.construct.metrics import Minkowski
from hypermodes.datasets import five_crescents, noisy_shapes
from hypermodes.linking import link_level
from hypermodes.simplex import Point
from strategies import seeds

laws = settings(max_examples=settings().max_examples // 3)
some_seeds = pytest.mark.parametrize("seed", range(10))  # for what is very likely, and no law
CORNERS = np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0], [12.0, 12.0]])


def blobs(seed, sizes=(40, 35, 30), spread=1.0):
    """Gaussian blobs at the corners of a square, 12 standard deviations apart, and which each point is of."""
    rng = np.random.default_rng(seed)
    where = np.repeat(np.arange(len(sizes)), sizes)
    order = rng.permutation(where.size)
    return (CORNERS[where] + spread * rng.normal(size=(where.size, 2)))[order], where[order]


def crescents(seed):
    """Something harder: outliers, bridges, clusters that are nearly cut in two."""
    return five_crescents(150, outliers=0.2, noise=4.0, rng=seed).points


def same_partition(one, other):
    return adjusted_rand_score(one, other) == 1.0


def turned(points, seed):
    """The points turned by some angle, mirrored or not, and moved."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(points.shape[1],) * 2))[0]
    return points @ turn + rng.normal(size=points.shape[1])


# -- what is found ------------------------------------------------------------------------------------


@some_seeds
def test_blobs_far_apart_are_found(seed):
    points, where = blobs(seed)
    found = cluster(points)
    assert found.n_clusters == 3
    assert same_partition(found.assigned, where)
    assert (found.labels >= 0).mean() > 0.9
    assert found.assigned[where == 0].tolist() == [0] * 40  # the largest is the first
    assert found.assigned[where == 2].tolist() == [2] * 30


def test_what_is_found_says_what_it_is():
    points, _ = blobs(0)
    found = cluster(points)
    assert repr(found).startswith("Clusters(3 clusters of 105 items, ")
    assert found.labels.dtype == found.assigned.dtype == np.int64
    inside = found.labels >= 0
    np.testing.assert_array_equal(found.labels[inside], found.assigned[inside])
    assert found.fences.shape == (3,)
    assert found.tree.n == found.level.labels.size == 105
    for array in (found.labels, found.assigned, found.probabilities, found.outlier_scores):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@given(seeds)
@laws
def test_strengths_are_shares(seed):
    found = cluster(crescents(seed))
    outside = found.labels < 0
    for values in (found.probabilities, found.outlier_scores):
        assert ((values >= 0) & (values <= 1)).all()
    assert (found.probabilities[outside] == 0).all()
    assert (found.probabilities[~outside] > 0).all()
    np.testing.assert_array_equal(found.outlier_scores[~outside], 1 - found.probabilities[~outside])
    for c in range(found.n_clusters):  # a quarter of the group that makes a cluster is as close as can be
        assert (found.probabilities[found.labels == c] == 1).sum() >= 1


def test_crescents_are_told_apart_better_than_by_modes():
    data = five_crescents(600)
    by_tree = normalized_mutual_info_score(data.labels, HypergraphShift().fit(data.points).labels_)
    by_modes = normalized_mutual_info_score(
        data.labels, HypergraphShift(selection="modes").fit(data.points).labels_
    )
    assert by_tree > 0.9
    assert by_tree > by_modes


# -- laws ---------------------------------------------------------------------------------------------


@given(seeds, st.sampled_from(["crescents", "lattice"]))
@laws
def test_the_order_of_rows_plays_no_part(seed, kind):
    rng = np.random.default_rng(seed)
    points = crescents(seed) if kind == "crescents" else rng.integers(0, 12, (150, 2)).astype(float)
    mix = rng.permutation(len(points))
    one, other = cluster(points), cluster(points[mix])
    np.testing.assert_array_equal(one.labels[mix], other.labels)
    np.testing.assert_array_equal(one.assigned[mix], other.assigned)
    np.testing.assert_allclose(one.probabilities[mix], other.probabilities, rtol=1e-9)


def small_set(seed):
    """What ties: points on a lattice, with gaps, at the same place, of few digits; or none of that."""
    rng = np.random.default_rng(seed)
    n, d, side = int(rng.integers(8, 100)), int(rng.integers(1, 4)), int(rng.integers(3, 12))
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side + 2)), axis=-1).reshape(-1, 2)
    kinds = (
        lambda: rng.integers(0, side, (n, d)),
        lambda: grid[rng.random(len(grid)) < 0.8],
        lambda: np.concatenate((rng.integers(0, 5, (n, d)), 9 + rng.integers(0, 5, (n // 2, d)))),
        lambda: rng.integers(-side, side, (n, d)) ** 3,
        lambda: np.round(rng.normal(size=(n, d)), 1),
        lambda: rng.standard_cauchy((n, d)),
        lambda: np.concatenate((rng.normal(size=(n, d)), rng.uniform(-9, 9, (n // 4, d)))),
    )
    return np.array(kinds[seed % len(kinds)](), float)


def same_up_to_names(one, other):
    """Whether labels are the same; clusters of equal size and height may have each other's numbers."""
    table = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(table) == len(set(one.tolist())) == len(set(other.tolist())) and all(
        (a < 0) == (b < 0) for a, b in table
    )


@pytest.mark.parametrize("block", range(4))
def test_powers_of_two_change_no_bit(block):
    for seed in range(70 * block, 70 * (block + 1)):
        points = small_set(seed)
        one = cluster(points, n_jobs=1)
        for power in (1, -9, 64, 300):
            other = cluster(points * 2.0**power, n_jobs=1)
            for name in ("labels", "assigned", "probabilities", "fences"):
                assert (getattr(one, name) == getattr(other, name)).all(), (seed, power, name)


@pytest.mark.parametrize("block", range(4))
def test_axes_and_rows_in_another_order_or_direction_change_nothing(block):
    """Ties are decided alike, as far as anything tells the points apart: not where the set is symmetric."""
    for seed in range(70 * block, 70 * (block + 1)):
        points, rng = small_set(seed), np.random.default_rng(seed)
        d, rows = points.shape[1], rng.permutation(len(points))
        one = cluster(points, n_jobs=1)
        lain = points[:, rng.permutation(d)] * rng.choice([-1.0, 1.0], d)
        if seed % 7 in (0, 1, 2, 3):  # whole numbers: to move them is exact
            lain += rng.integers(-99, 99, d)
        for other in (lain, -points, np.concatenate((points, points)), np.tile(points, (3, 1))):
            labels = cluster(other, n_jobs=1).labels[: len(points)]
            assert same_up_to_names(one.labels, labels), seed
        assert (cluster(points[rows], n_jobs=1).labels == one.labels[rows]).all(), seed


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine", Minkowski(3.0)])
def test_the_laws_hold_in_other_metrics(metric):
    for seed in range(28):
        rng = np.random.default_rng(seed)
        points = np.round(rng.normal(size=(60, 2 + seed % 14)), 1 + seed % 2) + 0.01
        one = cluster(points, metric=metric, n_jobs=1)
        lain = (points * rng.choice([-1.0, 1.0], points.shape[1]))[:, rng.permutation(points.shape[1])] / 8
        other = cluster(lain, metric=metric, n_jobs=1)
        assert (one.labels == other.labels).all(), seed
        assert (one.probabilities == other.probabilities).all(), seed


def test_the_unit_of_sparse_points_changes_no_bit():
    for seed in range(20):
        points = sp.csr_array(np.random.default_rng(seed).integers(-2, 3, (50, 4)) / 4.0)
        one, other = (cluster(points * unit, n_jobs=1) for unit in (1.0, 2.0**11))
        assert (one.labels == other.labels).all(), seed
        assert (one.probabilities == other.probabilities).all(), seed


@pytest.mark.parametrize("n", [700, 6000])
def test_turning_changes_nothing_where_groups_are_far_apart_either(n):
    """More points than are asked how far groups are apart: who is asked does not hang on how they lie."""
    for seed in range(3):
        points = five_crescents(n, outliers=0.02, noise=2.0, rng=seed).points
        one, other = cluster(points), cluster(turned(points, seed))
        np.testing.assert_array_equal(one.labels, other.labels)
        np.testing.assert_allclose(one.tree.heights, other.tree.heights, rtol=1e-9)


@given(seeds)
@laws
def test_how_the_points_lie_plays_no_part(seed):
    points = crescents(seed)
    one, other = cluster(points), cluster(turned(points, seed))
    np.testing.assert_array_equal(one.labels, other.labels)
    # Turning moves a distance by some eps of the coordinates, a hundred times the smallest distances.
    np.testing.assert_allclose(one.probabilities, other.probabilities, rtol=1e-9)


@given(seeds, st.integers(-300, 300), st.floats(-6, 6))
@laws
def test_the_unit_plays_no_part(seed, power, exponent):
    points = crescents(seed)
    one = cluster(points)
    np.testing.assert_array_equal(one.labels, cluster(points * 2.0**power).labels)
    np.testing.assert_array_equal(one.labels, cluster(points * 10**exponent).labels)


@pytest.mark.parametrize("side", [8, 12, 15])
@pytest.mark.parametrize("power", [-20, 7, 20])
def test_the_unit_of_a_lattice_plays_no_part(side, power):
    lattice = np.array([(a, b) for a in range(side) for b in range(side)], float)
    there = cluster(lattice * 2.0**power)
    np.testing.assert_array_equal(there.labels, cluster(lattice).labels)


@given(seeds, st.integers(2, 5))
@laws
def test_data_that_came_twice_say_the_same(seed, times):
    points = crescents(seed)
    one, other = cluster(points), cluster(np.tile(points, (times, 1)))
    np.testing.assert_array_equal(np.tile(one.labels, times), other.labels)
    np.testing.assert_array_equal(np.tile(one.assigned, times), other.assigned)


@given(seeds)
@laws
def test_equal_rows_have_equal_labels(seed):
    rng = np.random.default_rng(seed)
    points = crescents(seed)
    again = rng.integers(0, len(points), 100)
    found = cluster(np.vstack((points, points[again])))
    np.testing.assert_array_equal(found.labels[: len(points)][again], found.labels[len(points) :])


@some_seeds
def test_far_outliers_are_outliers_and_change_no_cluster(seed):
    points, where = blobs(seed)
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * (np.arange(6) + rng.uniform(0, 0.5, 6)) / 6
    far = rng.uniform(200, 1000, 6)[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    found = cluster(np.vstack((points, far)))
    assert found.n_clusters == 3
    assert same_partition(found.assigned[:105], where)
    assert found.labels[105:].tolist() == [-1] * 6
    assert (found.outlier_scores[105:] > 0.9).all()


def test_constant_columns_change_nothing():
    points = crescents(1)
    wide = np.column_stack((np.full(len(points), 7.0), points, np.zeros(len(points))))
    one, other = cluster(points), cluster(wide)
    assert same_partition(one.labels, other.labels)
    assert same_partition(one.assigned, other.assigned)


@pytest.mark.parametrize("options", [{}, {"n_clusters": 5}, {"threshold": 0.2}])
@pytest.mark.parametrize("n_jobs", [2, 4, -1, None])
def test_threads_change_nothing(n_jobs, options):
    points = noisy_shapes(800, rng=1).points
    one = cluster(points, n_jobs=1, **options)
    other = cluster(points, n_jobs=n_jobs, **options)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_long_numbers_of_points_say_the_same(monkeypatch):
    """Numbers are short where they will do; a test of points for which they do not would take too long."""
    points = np.concatenate((crescents(5), blobs(5)[0], blobs(5)[0][:30]))
    expected = cluster(points)
    for module in ("tree", "neighbourhoods", "construct.neighbours", "construct.searching"):
        monkeypatch.setattr(f"hypermodes.{module}.number_type", lambda n: np.int64)
    found = cluster(points)
    assert (found.neighbourhoods.members.dtype, found.tree.children.dtype) == (np.int64, np.int64)
    for name in ("labels", "assigned", "probabilities", "outlier_scores"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(found.tree.children, expected.tree.children)


def test_what_is_found_is_not_changed_by_who_looks_at_it():
    found = cluster(crescents(5))
    for name, array in vars(found.neighbourhoods).items():
        if isinstance(array, np.ndarray):
            assert not array.flags.writeable, name


def test_progress_is_told():
    for points in (blobs(0)[0], blobs(0)[0] @ np.ones((2, 9)), np.zeros((3, 2))):
        for layout in (None, True):
            seen = []
            cluster(points, layout=layout, progress=lambda done, total, seen=seen: seen.append((done, total)))
            steps = [done for done, _ in seen]
            assert steps == sorted(set(steps))
            assert {total for _, total in seen} == {steps[-1]}


# -- how many, and at which level ---------------------------------------------------------------------


@given(seeds, st.integers(1, 12))
@laws
def test_the_wanted_number_is_found(seed, wanted):
    found = cluster(crescents(seed), wanted)
    assert found.n_clusters == wanted
    assert set(found.assigned.tolist()) == set(range(wanted))
    assert set(found.labels.tolist()) - {-1} == set(range(wanted))
    sizes = np.bincount(found.assigned)
    assert (np.diff(sizes) <= 0).all()


@pytest.mark.parametrize("wanted", [1, 2, 3, 4])
def test_blobs_are_joined_or_parted_whole(wanted):
    points, where = blobs(3, sizes=(40, 40, 40, 40))
    found = cluster(points, wanted)
    table = np.zeros((4, wanted), bool)
    table[where, found.assigned] = True
    assert (table.sum(axis=1) == 1).all()  # no blob is cut
    assert found.n_clusters == wanted


def test_there_are_never_more_than_different_points():
    points = np.random.default_rng(0).normal(size=(12, 2))
    doubled = np.vstack((points, points))
    for wanted in (12, 13, 1000):
        found = cluster(doubled, wanted)
        assert found.n_clusters == 12
        assert same_partition(found.assigned, np.tile(np.arange(12), 2))


def test_wanted_clusters_of_a_lattice_are_that_many_in_spite_of_ties():
    points = np.array([(i, j) for i in range(8) for j in range(8)], float)
    for wanted in (1, 2, 5, 64):
        assert cluster(points, wanted).n_clusters == wanted


@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.2, 0.5, 0.9, 1.0])
def test_a_threshold_is_a_share_of_the_highest_level(threshold):
    points = crescents(2)
    found = cluster(points, threshold=threshold)
    tree, around = found.tree, found.neighbourhoods
    kept = tree.heights >= threshold * tree.heights[0]
    graph = sp.coo_array((np.ones(kept.sum()), tree.ends[kept].T), shape=(tree.n, tree.n))
    count, group = sp.csgraph.connected_components(graph, directed=False)
    large = np.bincount(group, minlength=count) >= max(4, around.k / 2)
    assert found.n_clusters == large.sum()
    core = found.level.core
    assert ((core >= 0) == large[group]).all()
    if found.n_clusters:
        assert same_partition(core[core >= 0], group[core >= 0])
        assert (found.assigned >= 0).all()


def test_a_threshold_of_0_joins_everyone():
    assert cluster(crescents(0), threshold=0.0).n_clusters == 1


def test_no_cluster_at_all_is_an_answer():
    points = crescents(2)
    found = cluster(points, threshold=1.0)
    assert found.n_clusters == 0
    assert found.modes() == ()
    for labels in (found.labels, found.assigned, found.predict(points), found.predict(points, assign=True)):
        assert labels.tolist() == [-1] * len(points)
    assert (found.probabilities == 0).all()
    assert (found.outlier_scores == 1).all()
    assert "0 clusters" in repr(found)


@pytest.mark.parametrize("n_blobs", [256, 1024])
def test_very_many_small_clusters_are_found(n_blobs):
    """Most smallest sizes of the ladder are larger than any of them: those are not asked."""
    rng = np.random.default_rng(n_blobs)
    side = int(n_blobs**0.5)
    where = np.repeat(np.arange(n_blobs), 40)
    points = 12.0 * np.column_stack((where % side, where // side)) + rng.normal(size=(where.size, 2))
    found = cluster(points)
    assert found.n_clusters == n_blobs
    assert same_partition(found.assigned, where)


def test_lumps_of_noise_are_no_clusters():
    """Uniform outliers are denser here and there, by no more than chance (measured, 18 of 20 times)."""
    n_clusters = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        points = np.vstack((rng.normal(size=(5000, 2)), rng.normal((9, 0), 1.0, (5000, 2)),
                            rng.uniform((-25, -20), (35, 20), (2000, 2))))  # fmt: skip
        found = cluster(points)
        n_clusters.append(found.n_clusters)
        assert (found.labels[10_000:] == -1).mean() > 0.7
        assert (found.labels[:10_000] == -1).mean() < 0.01
    assert sorted(n_clusters)[:3] == [2, 2, 2]


def test_where_nothing_stands_out_there_is_one_cluster():
    """Nearly always in five dimensions (measured, 39 of 40); in the plane not nearly as often."""
    found = [cluster(np.random.default_rng(seed).normal(size=(1000, 3)), layout=False) for seed in range(5)]
    assert sum(one.n_clusters == 1 for one in found) >= 4


# -- steps, literally ---------------------------------------------------------------------------------


def uneven(seed):
    """Crescents of which some points came more often than others."""
    points = crescents(seed)
    return np.vstack((points, np.repeat(points[::4], 5, axis=0)))


@given(seeds)
@laws
def test_rates_and_spacings_are_what_they_are_said_to_be(seed):
    points = uneven(seed)
    around = cluster(points).neighbourhoods
    places, counts = np.unique(points, axis=0, return_counts=True)
    n, k = len(places), int(np.ceil(np.log2(len(places))))
    order = [int(np.flatnonzero((places == row).all(axis=1))[0]) for row in points[around.rows]]
    table = cdist(places, places)[np.ix_(order, order)]
    near = np.sort(table, axis=1)[:, 1 : k + 1]
    dimension = min(2.0, max(1.0, 1 / np.log(near[:, -1:] / near[:, :-1]).mean()))
    weights = counts[order] * n / counts.sum()
    crowd = np.array([weights[np.argsort(row)[: k + 1]].mean() for row in table])
    np.testing.assert_allclose(around.weights, weights, rtol=1e-12)
    np.testing.assert_allclose(around.dimension, dimension, rtol=1e-9)
    np.testing.assert_allclose(around.reach, near[:, -1], rtol=1e-12)
    rate = crowd ** (1 / dimension) * np.median(near[:, -1]) / near[:, -1]
    np.testing.assert_allclose(around.rate, rate, rtol=1e-9)
    np.testing.assert_allclose(around.spacing, -np.log(rate), atol=1e-9)


@given(seeds)
@laws
def test_outliers_are_beyond_the_fences_of_their_cluster(seed):
    found = cluster(crescents(seed))
    around, level = found.neighbourhoods, found.level
    spacing, core = around.spacing[around.place], level.core[around.place]
    ground = set()
    for c in range(found.n_clusters):
        lower, upper = np.quantile(spacing[core == c], [0.25, 0.75], method="hazen")
        mine = found.assigned == c
        if abs(found.fences[c] - (upper + 3 * (upper - lower))) > 1e-8:
            ground.add(found.fences[c])
            assert (spacing[mine] > found.fences[c]).mean() <= 0.5
        np.testing.assert_array_equal(found.labels[mine] == -1, spacing[mine] > found.fences[c])
        strength = np.exp(np.minimum(0, lower - spacing[mine]))
        np.testing.assert_allclose(1 - found.outlier_scores[mine], strength, atol=1e-9)
    assert len(ground) <= 1  # all clusters stand on the same


@given(seeds)
@laws
def test_new_points_are_placed_by_the_neighbour_they_hold_together_with_most(seed):
    points = uneven(seed)
    found = cluster(points)
    around, level = found.neighbourhoods, found.level
    k, places = around.k, points[around.rows]
    edges = [{i, *row} for i, row in enumerate(around.members.tolist())]
    popularity, rated = (
        [sum(amount[i] for i, e in enumerate(edges) if v in e) for v in range(len(places))]
        for amount in (np.ones(len(places)), around.rate)
    )
    new = np.random.default_rng(seed).uniform((-2.5, -2.5), (7.0, 2.5), (60, 2))
    expected = []
    for row in new:
        apart = np.linalg.norm(places - row, axis=1)
        near = np.argsort(apart)[:k].tolist()
        crowd = ((1 + sum(around.weights[near])) / (k + 1)) ** (1 / around.dimension)
        rate = crowd * around.unit / max(apart[near[-1]], around.reach.min())
        density = sum(rate * popularity[v] + rated[v] for v in near) / (2 * (k + 1) ** 2)
        holds = [
            min(
                link_level(density, around.density[j], len(edges[j] & set(near)), k),
                level.height[j],
            )
            for j in near
        ]
        best = near[int(np.argmax(holds))]
        label = level.labels[best]
        spacing = np.log(max(apart[near[-1]], around.reach.min()) / around.unit / crowd)
        expected.append(-1 if spacing > found.fences[label] else label)
    assert found.predict(new).tolist() == expected


# -- ways to give the points --------------------------------------------------------------------------

POINTS, WHERE = blobs(5)
TABLE = cdist(POINTS, POINTS)


@cache
def clusters_of_points():
    return cluster(POINTS)


@pytest.mark.parametrize(
    "metric",
    [
        "euclidean", "l2", "minkowski", "manhattan", "cityblock", "chebyshev", "canberra", "braycurtis",
        "sqeuclidean", Minkowski(2), Minkowski(3.5), Minkowski(np.inf), lambda x, y: np.abs(x - y).sum(),
    ],
)  # fmt: skip
def test_every_metric_finds_what_is_far_apart(metric):
    assert same_partition(cluster(POINTS + 20, metric=metric).assigned, WHERE)


def test_cosine_finds_directions():
    rng = np.random.default_rng(0)
    angle = np.concatenate([middle + 0.05 * rng.normal(size=40) for middle in (0.2, 1.0, 2.5)])
    points = rng.uniform(0.1, 10, 120)[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    assert same_partition(cluster(points, metric="cosine").assigned, np.repeat([0, 1, 2], 40))


def test_booleans_are_points_too():
    rng = np.random.default_rng(0)
    inside = rng.random((2, 40, 30)) < np.repeat([[0.8, 0.05], [0.05, 0.8]], 15, axis=1)[:, None, :]
    points = inside.reshape(80, 30)
    found = cluster(points, metric="jaccard", n_clusters=2)
    assert same_partition(found.assigned, np.repeat([0, 1], 40))
    np.testing.assert_array_equal(
        found.labels, cluster(points.astype(float), metric="jaccard", n_clusters=2).labels
    )


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.float32])
def test_any_kind_of_number_will_do(kind):
    whole = np.round(POINTS * 6 + 20)
    np.testing.assert_array_equal(cluster(whole.astype(kind)).labels, cluster(whole).labels)


@pytest.mark.parametrize(
    "given_as",
    [
        lambda: cluster(POINTS.tolist()),
        lambda: cluster(POINTS, metric=Minkowski(2)),
        lambda: cluster(POINTS, metric=lambda x, y: np.linalg.norm(x - y)),
        lambda: cluster(TABLE, metric="precomputed"),
        lambda: cluster(sp.csr_array(POINTS)),
        lambda: cluster(sp.coo_matrix(POINTS)),
        lambda: cluster(POINTS, index=NearestNeighbors().fit(POINTS)),
        lambda: cluster(POINTS, n_neighbors=7),
    ],
    ids=["list", "minkowski", "function", "table", "csr", "coo", "index", "k"],
)
def test_every_way_to_the_same_neighbours_finds_the_same(given_as):
    found = given_as()
    np.testing.assert_array_equal(found.labels, clusters_of_points().labels)
    np.testing.assert_array_equal(found.assigned, clusters_of_points().assigned)
    np.testing.assert_allclose(found.probabilities, clusters_of_points().probabilities, rtol=1e-9)


def test_a_graph_of_neighbours_will_do():
    points = crescents(4)
    k = 8
    expected = cluster(points, n_neighbors=k)
    graph = kneighbors_graph(points, k, mode="distance")
    found = cluster(graph, metric="precomputed", n_neighbors=k)
    n_groups = sp.csgraph.connected_components(graph, directed=False)[0]
    assert n_groups == 1  # else bridges would be missing
    np.testing.assert_array_equal(found.labels, expected.labels)


def test_a_graph_in_pieces_will_do():
    """What is in another piece is infinitely far: no piece has anything to do with another."""
    points, where = blobs(1, sizes=(60, 40, 30, 10))
    graph = kneighbors_graph(points, 8, mode="distance")
    assert sp.csgraph.connected_components(graph, directed=False)[0] == 4
    found = cluster(graph, metric="precomputed")
    for c in range(found.n_clusters):
        assert np.unique(where[found.assigned == c]).size <= 2  # the smallest may be too small to count
    np.testing.assert_array_equal(cluster(graph, 4, metric="precomputed").assigned, where)


def test_equal_sparse_rows_are_one_point_however_they_are_stored():
    points = np.round(POINTS, 1)
    points[:, 0] *= np.arange(len(points)) % 3 > 0
    plain = sp.csr_array(np.vstack((points, points)))
    n = len(points)
    data, columns = points.ravel(), np.tile([0, 1], n)
    stored = sp.csr_array((data, columns, np.arange(0, 2 * n + 1, 2)), shape=points.shape)  # zeros are stored
    turned_round = sp.csr_array(
        (data.reshape(n, 2)[:, ::-1].ravel(), 1 - columns, stored.indptr), points.shape
    )
    both = sp.vstack((stored, turned_round), format="csr")
    found = cluster(both)
    assert found.neighbourhoods.rows.size == len(np.unique(points, axis=0))
    np.testing.assert_array_equal(found.labels, cluster(plain).labels)
    np.testing.assert_array_equal(stored.toarray(), points)  # what came is left alone
    assert stored.nnz == 2 * n


def test_many_rows_in_one_direction():
    """Distances of 0 between different rows: parallel vectors in the cosine metric."""
    rng = np.random.default_rng(0)
    rows = np.repeat([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], 30, axis=0) * 2.0 ** rng.integers(-9, 9, (90, 1))
    found = cluster(np.vstack((rows, [[1.0, 3.0]])), metric="cosine")
    assert np.isfinite(found.probabilities).all()
    assert (found.assigned >= 0).all()


def test_points_all_equally_far_are_one_cluster():
    found = cluster(1.0 - np.eye(40), metric="precomputed")
    assert found.n_clusters == 1
    assert (found.labels == 0).all()


def test_a_very_far_point_in_many_dimensions_breaks_nothing():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(120, 60))
    points[60:, 0] += 30
    found = cluster(np.vstack((points, np.full((1, 60), 1e90))))
    assert found.labels[-1] == -1
    assert same_partition(found.assigned[:-1], np.repeat([0, 1], 60))


# -- few points ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, CLUSTER.fewest - 1])
def test_too_few_points_are_one_cluster(n):
    points = np.random.default_rng(0).normal(size=(n, 2))
    for rows in (points, np.tile(points, (10, 1)), sp.csr_array(points)):
        for options in ({}, {"threshold": 0.5}):
            found = cluster(rows, **options)
            assert found.labels.tolist() == found.assigned.tolist() == [0] * rows.shape[0]
            assert found.n_clusters == 1
            assert (found.probabilities == 1).all()
            assert (found.outlier_scores == 0).all()
            assert found.modes() == (None,)
            assert found.predict(points + 1).tolist() == [0] * n


@pytest.mark.parametrize("n", range(2, CLUSTER.fewest + 1))
def test_few_points_are_told_apart_if_asked(n):
    points = np.random.default_rng(0).normal(size=(n, 2))
    for rows in (points, np.tile(points, (10, 1))):
        assert cluster(rows, 2).n_clusters == 2
        assert cluster(rows, n).n_clusters == n
        assert cluster(rows, 1).n_clusters == 1


@pytest.mark.parametrize("n", range(CLUSTER.fewest, CLUSTER.fewest + 6))
def test_few_points_are_enough(n):
    points = np.random.default_rng(n).normal(size=(n, 2))
    for options in ({}, {"n_clusters": 2}, {"n_clusters": n}, {"threshold": 0.5}, {"n_neighbors": n + 5}):
        found = cluster(points, **options)
        assert found.labels.shape == (n,)
        assert found.n_clusters == options.get("n_clusters", found.n_clusters)
        found.predict(points + 0.1)


def test_points_at_one_place_are_one_cluster():
    for rows in (np.full((50, 3), 2.5), np.zeros((9, 1)), np.zeros((20, 20))):
        assert cluster(rows).labels.tolist() == [0] * len(rows)
    table = cluster(np.zeros((20, 20)), metric="precomputed")
    assert table.labels.tolist() == [0] * 20
    same = np.zeros((20, 2))
    assert cluster(same, index=NearestNeighbors().fit(same)).labels.tolist() == [0] * 20


# -- modes --------------------------------------------------------------------------------------------


@some_seeds
def test_modes_are_certified_and_lie_in_their_cluster(seed):
    points, _ = blobs(seed)
    points = np.vstack((points, points[:20]))
    found = cluster(points)
    around = found.neighbourhoods
    affinity = HyperedgeAffinity(around.hypergraph)
    assert len(found.modes()) == found.n_clusters
    for c, mode in enumerate(found.modes()):
        assert mode.status is Status.CERTIFIED
        assert mode.certificate.holds()
        assert (np.diff(mode.support) > 0).all()
        assert (found.assigned[mode.support] == c).all()
        assert mode.weights.sum() == pytest.approx(1.0)
        p = np.zeros(affinity.n)
        p[around.place[mode.support]] = mode.weights  # back to different points
        again = certify(affinity, Point(p, affinity.matvec(p)))
        assert again.holds(1e-9)
        assert again.density == pytest.approx(mode.density, rel=1e-12)
        if mode.certificate.worst_edge >= 0:
            payoff = affinity.matvec(p)
            payoff[p > 0] = -1
            assert payoff[around.place[mode.certificate.worst_edge]] == pytest.approx(payoff.max(), rel=1e-9)


def test_the_hypergraph_is_that_of_the_densities():
    around = clusters_of_points().neighbourhoods
    affinity = HyperedgeAffinity(around.hypergraph)
    np.testing.assert_allclose(affinity.rate, around.rate, rtol=1e-12)
    scale = 2 * (around.k + 1) ** 2
    np.testing.assert_allclose(affinity.matvec(np.ones(affinity.n)) / scale, around.density, rtol=1e-11)


# -- new points ---------------------------------------------------------------------------------------


@given(seeds)
@laws
def test_points_it_was_made_from_have_their_labels(seed):
    points = crescents(seed)
    rng = np.random.default_rng(seed)
    points = np.vstack((points, points[rng.integers(0, len(points), 30)]))
    found = cluster(points)
    mix = rng.permutation(len(points))
    np.testing.assert_array_equal(found.predict(points[mix]), found.labels[mix])
    np.testing.assert_array_equal(found.predict(points[mix], assign=True), found.assigned[mix])


@pytest.mark.parametrize("metric", ["manhattan", "canberra", "cosine", Minkowski(3)])
def test_points_it_was_made_from_have_their_labels_in_any_metric(metric):
    found = cluster(POINTS + 20, metric=metric)
    np.testing.assert_array_equal(found.predict(POINTS + 20), found.labels)


@some_seeds
def test_new_points_join_the_cluster_they_lie_in(seed):
    points, where = blobs(seed)
    found = cluster(points)
    new, new_where = blobs(seed + 1, sizes=(20, 20, 20), spread=0.5)
    label_of = np.array([found.assigned[where == c][0] for c in range(3)])
    np.testing.assert_array_equal(found.predict(new), label_of[new_where])
    np.testing.assert_array_equal(found.predict(new, assign=True), label_of[new_where])


@some_seeds
def test_new_points_far_away_are_outliers_unless_assigned(seed):
    points, where = blobs(seed)
    found = cluster(points)
    far = CORNERS[:3] + (CORNERS[:3] - [6.0, 6.0]) * [[30.0]]
    assert found.predict(far).tolist() == [-1, -1, -1]
    label_of = [found.assigned[where == c][0] for c in range(3)]
    assert found.predict(far, assign=True).tolist() == label_of


def test_one_new_point_is_predicted_as_among_many():
    new = np.random.default_rng(0).uniform(-5, 17, (60, 2))
    together = clusters_of_points().predict(new)
    assert [int(clusters_of_points().predict(row[None])[0]) for row in new] == together.tolist()


def test_predictions_do_not_know_how_often_the_data_came():
    points = crescents(1)
    new = points[:60] + 0.05
    one, other = cluster(points), cluster(np.tile(points, (3, 1)))
    np.testing.assert_array_equal(one.predict(new), other.predict(new))


def test_new_points_of_any_form():
    new = np.random.default_rng(1).uniform(-5, 17, (40, 2))
    expected = clusters_of_points().predict(new)
    np.testing.assert_array_equal(cluster(sp.csr_array(POINTS)).predict(sp.csr_array(new)), expected)
    by_index = cluster(POINTS, index=NearestNeighbors().fit(POINTS))
    np.testing.assert_array_equal(by_index.predict(new), expected)
    table = cluster(TABLE, metric="precomputed")
    np.testing.assert_array_equal(table.predict(cdist(new, POINTS)), expected)
    graph = NearestNeighbors(n_neighbors=30).fit(POINTS)
    sparse = cluster(graph.kneighbors_graph(mode="distance"), metric="precomputed", n_neighbors=7)
    near = sparse.predict(graph.kneighbors_graph(new, mode="distance"), assign=True)
    np.testing.assert_array_equal(near, clusters_of_points().predict(new, assign=True))


def test_distances_to_rows_that_came_twice():
    """New distances are to the rows that were given, not to the points that differ."""
    twice = np.vstack((POINTS, POINTS[:30]))
    found = cluster(cdist(twice, twice), metric="precomputed")
    assert found.neighbourhoods.rows.size == len(POINTS)
    np.testing.assert_array_equal(found.predict(cdist(twice, twice)), found.labels)
    with pytest.raises(ValueError, match=r"^points: expected rows of distances to the 135 points .*105"):
        found.predict(cdist(POINTS, POINTS))


# -- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "options", "message"),
    [
        (
            np.where(POINTS > 12, np.nan, POINTS),
            {},
            "^points: expected finite coordinates; found NaN or infinity",
        ),
        (
            np.where(POINTS > 12, np.inf, POINTS),
            {},
            "^points: expected finite coordinates; found NaN or infinity",
        ),
        (np.empty((0, 2)), {}, "^points: expected at least one point; got none"),
        (np.empty((0, 0)), {"metric": "precomputed"}, "^points: expected"),
        (np.empty((5, 0)), {}, r"^points: expected an \(n, d\) array of numbers; got shape \(5, 0\)"),
        (POINTS[:, 0], {}, r"^points: expected an \(n, d\) array of numbers; got shape \(105,\)"),
        (POINTS[None], {}, r"^points: expected an \(n, d\) array of numbers"),
        ([["a", "b"], ["c", "d"]], {}, r"^points: expected an \(n, d\) array of numbers"),
        ([[1.0, 2.0], [3.0]], {}, "^points: .* rows of different lengths"),
        (POINTS + 1j, {}, r"^points: expected an \(n, d\) array of numbers"),
        (None, {}, r"^points: expected an \(n, d\) array of numbers"),
        (POINTS, {"n_clusters": 0}, "^n_clusters: expected a positive whole number or None; got 0"),
        (POINTS, {"n_clusters": -3}, "^n_clusters: expected a positive whole number or None; got -3"),
        (POINTS, {"n_clusters": 2.0}, r"^n_clusters: expected a positive whole number or None; got 2\.0"),
        (POINTS, {"n_clusters": True}, "^n_clusters: expected a positive whole number or None; got True"),
        (POINTS, {"n_clusters": "two"}, "^n_clusters: expected a positive whole number or None; got 'two'"),
        (POINTS, {"n_neighbors": 0}, "^n_neighbors: expected a positive whole number or None; got 0"),
        (POINTS, {"n_neighbors": 3.5}, r"^n_neighbors: expected a positive whole number or None; got 3\.5"),
        (POINTS, {"threshold": -0.1}, r"^threshold: expected a share from 0 to 1, or None; got -0\.1"),
        (POINTS, {"threshold": 1.5}, r"^threshold: expected a share from 0 to 1, or None; got 1\.5"),
        (POINTS, {"threshold": np.nan}, "^threshold: expected a share from 0 to 1, or None; got nan"),
        (POINTS, {"threshold": True}, "^threshold: expected a share from 0 to 1, or None; got True"),
        (POINTS, {"threshold": "high"}, "^threshold: expected a share from 0 to 1, or None; got 'high'"),
        (
            POINTS,
            {"n_clusters": 2, "threshold": 0.5},
            "^threshold: expected n_clusters or threshold, not both",
        ),
        (POINTS, {"metric": "euclid"}, "^metric: expected"),
        (POINTS, {"metric": None}, "^metric: expected"),
        (POINTS, {"metric": "precomputed"}, "^points: expected a square matrix of distances"),
        (TABLE - 1, {"metric": "precomputed"}, "^points: expected distances, 0 or more"),
        (TABLE + 1, {"metric": "precomputed"}, "^points: expected distances, so 0 on the diagonal"),
        (np.triu(TABLE), {"metric": "precomputed"}, "^points: expected symmetric distances"),
        (
            kneighbors_graph(POINTS, 3, mode="distance"),
            {"metric": "precomputed"},
            "^points: expected at least k = 7 stored distances in each row",
        ),
        (POINTS, {"index": "faiss"}, "^index: expected a fitted index"),
        (
            TABLE,
            {"metric": "precomputed", "index": NearestNeighbors()},
            "^index: precomputed distances leave",
        ),
        (POINTS, {"n_jobs": 0}, "^n_jobs: expected a number of threads"),
        (POINTS, {"n_jobs": 1.5}, "^n_jobs: expected a number of threads"),
    ],
)
def test_bad_input_gets_one_clear_error(points, options, message):
    with pytest.raises(ValueError, match=message):
        cluster(points, **options)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (np.zeros((3, 3)), r"^new_points: expected rows of 2 numbers, as in points; got shape \(3, 3\)"),
        (np.zeros(2), r"^new_points: expected an \(n, d\) array of numbers; got shape \(2,\)"),
        (np.full((2, 2), np.nan), "^new_points: expected finite coordinates"),
        (np.empty((0, 2)), "^new_points: expected rows of 2 numbers"),
    ],
)
def test_bad_new_points_get_one_clear_error(new, message):
    with pytest.raises(ValueError, match=message):
        clusters_of_points().predict(new)


def test_input_is_left_alone():
    points = POINTS.copy()
    points.flags.writeable = False
    cluster(points).predict(points)
    table = TABLE.copy()
    table.flags.writeable = False
    cluster(table, metric="precomputed").predict(table)
    np.testing.assert_array_equal(points, POINTS)
    np.testing.assert_array_equal(table, TABLE)


# -- many points --------------------------------------------------------------------------------------


def test_many_points_are_the_same_in_any_order_and_number_of_threads():
    # From 2^16 on, points and levels are sorted in another way; a tenth of these came twice.
    points = five_crescents(60_000, outliers=0.1).points
    points = np.concatenate((points, points[::10]))
    order = np.random.default_rng(0).permutation(len(points))
    one, other = cluster(points, n_jobs=1), cluster(points[order], n_jobs=2)
    for name in ("labels", "assigned", "probabilities", "outlier_scores"):
        assert (getattr(one, name)[order] == getattr(other, name)).all()


@pytest.mark.parametrize("digits", [1, 3, 17])
def test_different_points_are_numbered_along_the_curve_and_by_coordinates_in_a_cell(digits):
    points = np.round(np.random.default_rng(0).normal(size=(3000, 2)), digits)
    points[::7] += 1e-9  # nearer than a cell is wide
    around = cluster(points).neighbourhoods
    assert (points[around.rows][around.place] == points).all()
    assert (around.frame.enter(points[around.rows]) == around.points).all()
    different = np.unique(around.points, axis=0)
    cells = ((different - different.min(axis=0)) / np.ptp(different, axis=0) * 65535).astype(int)
    along = [int("".join(f"{y:016b}"[i] + f"{x:016b}"[i] for i in range(16)), 2) for x, y in cells]
    expected = different[np.argsort(along, kind="stable")]
    assert (around.points == expected).all()
    first = {point: row for row, point in reversed(list(enumerate(map(tuple, around.frame.enter(points)))))}
    assert around.rows.tolist() == [first[tuple(point)] for point in expected]
