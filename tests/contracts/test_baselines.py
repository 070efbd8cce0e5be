"""What every competitor promises, whichever way it works: points in, a Partition out, and the usual laws.

All of them find cores, so a round cloud may come apart in several clusters. What they may not do is join what
lies far apart, or care for the order, the place or the unit of the points.
"""

import doctest
import importlib
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, homogeneity_score

from hypermodes.baselines import METHODS
from hypermodes.partition import Group, Partition

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


def blobs(n=25, centres=((0, 0), (20, 0), (0, 20)), seed=0):
    rng = np.random.default_rng(seed)
    points = np.vstack([rng.normal(size=(n, 2)) + centre for centre in centres])
    return points, np.repeat(np.arange(len(centres)), n)


def same(one, other):
    """Whether two label vectors name the same clusters and the same outliers."""
    return bool(adjusted_rand_score(one, other) == 1 and ((one == -1) == (other == -1)).all())


@every_method
def test_a_partition_of_all_points_comes_out(method):
    points, _ = blobs()
    partition = method(points)
    assert isinstance(partition, Partition)
    assert partition.labels.shape == partition.probabilities.shape == (len(points),)
    assert partition.labels.dtype == np.int64
    assert all(isinstance(group, Group) for group in partition.groups)
    assert (partition.sizes >= 2).all()
    assert partition.iterations > 0
    assert partition.starts > 0


@every_method
def test_blobs_far_apart_are_told_apart_and_none_is_missed(method):
    points, blob = blobs()
    partition = method(points)
    inside = partition.labels >= 0
    assert homogeneity_score(blob[inside], partition.labels[inside]) == pytest.approx(1)
    for group in partition.groups:
        assert len(set(blob[group.support])) == 1
    # At most one in three is left out, and every blob has a cluster.
    assert inside.mean() > 2 / 3
    assert set(blob[inside]) == {0, 1, 2}


# Medoid shift stays where it is when all others are equally far: the mean is no closer to any of them.
@pytest.mark.parametrize("name", [name for name in METHODS if name != "medoid_shift"])
def test_tight_groups_of_ten_are_found_exactly(name):
    # Ten points each, all about equally far from each other: one core, nothing to come apart.
    rng = np.random.default_rng(1)
    corners = np.linalg.qr(rng.normal(size=(10, 10)))[0]
    points = np.vstack([corners + centre + rng.normal(scale=0.01, size=(10, 10)) for centre in (0, 50, 100)])
    partition = METHODS[name](points)
    blob = np.repeat(np.arange(3), 10)
    inside = partition.labels >= 0
    assert partition.n_clusters == 3
    assert adjusted_rand_score(blob[inside], partition.labels[inside]) == 1
    assert inside.sum() >= 27


@every_method
def test_the_same_points_give_the_same_answer(method):
    points, _ = blobs()
    one, other = method(points), method(points.copy())
    assert one.labels.tolist() == other.labels.tolist()
    assert one.probabilities.tolist() == other.probabilities.tolist()
    assert one.iterations == other.iterations
    assert [group.value for group in one.groups] == [group.value for group in other.groups]


@every_method
def test_the_points_given_are_left_alone(method):
    points, _ = blobs()
    points.flags.writeable = False
    before = points.copy()
    method(points)
    assert (points == before).all()


@every_method
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_points_plays_no_part(method, seed):
    points, _ = blobs(seed=seed)
    order = np.random.default_rng(seed).permutation(len(points))
    straight, shuffled = method(points), method(points[order])
    assert same(straight.labels[order], shuffled.labels)
    # Values agree as far as the methods converge.
    assert [group.value for group in shuffled.groups] == pytest.approx(
        [group.value for group in straight.groups], rel=1e-3
    )


@every_method
def test_place_and_unit_play_no_part(method):
    points, _ = blobs()
    for moved in (points * 2.0**20, points * 2.0**-20, points + 64.0, points * 1e-150, points * 1e150):
        assert same(method(points).labels, method(moved).labels)


@every_method
def test_a_point_far_away_belongs_nowhere_and_changes_nothing(method):
    points, _ = blobs()
    alone, joined = method(points), method(np.vstack((points, [[1e5, 1e5]])))
    assert joined.labels[-1] == -1
    assert same(alone.labels, joined.labels[:-1])


@every_method
def test_two_copies_of_every_point_stay_together(method):
    points, blob = blobs(n=15)
    partition = method(np.repeat(points, 2, axis=0))
    first, second = partition.labels[::2], partition.labels[1::2]
    assert (first == second).mean() >= 0.9
    inside = partition.labels >= 0
    assert homogeneity_score(np.repeat(blob, 2)[inside], partition.labels[inside]) == pytest.approx(1)


@every_method
def test_points_that_all_coincide_are_one_cluster_or_none(method):
    partition = method(np.full((40, 3), 7.0))
    assert partition.n_clusters == 1
    assert partition.sizes[0] >= 10


@every_method
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_points_are_no_trouble(method, n):
    partition = method(np.arange(2.0 * n).reshape(n, 2))
    assert len(partition) == n
    if n == 1:
        assert partition.labels.tolist() == [-1]


@every_method
@pytest.mark.parametrize("d", [1, 5])
def test_any_number_of_dimensions_will_do(method, d):
    points = np.random.default_rng(0).normal(size=(40, d))
    points[20:] += 100.0
    labels = method(points).labels
    assert not set(labels[:20][labels[:20] >= 0]) & set(labels[20:][labels[20:] >= 0])


@every_method
def test_integers_will_do(method):
    points = np.array([(x, y) for x in range(5) for y in range(5)])
    assert same(method(points).labels, method(points.astype(float)).labels)


@every_method
@pytest.mark.parametrize(
    "points", [np.zeros(3), np.zeros((0, 2)), np.zeros((2, 0)), [["a", "b"]], [[np.nan, 0.0]], "points"]
)
def test_bad_points_are_refused_by_name(method, points):
    with pytest.raises(ValueError, match=r"^points: expected"):
        method(points)


@pytest.mark.parametrize("module", ["construct", *METHODS])
def test_examples_of_docstrings_do_what_they_show(module):
    found = doctest.testmod(importlib.import_module(f"hypermodes.baselines.{module}"))
    assert found.attempted > 0
    assert found.failed == 0


def test_nothing_is_loaded_before_it_is_used():
    code = "import sys, hypermodes.baselines; assert not {'numpy', 'scipy', 'sklearn'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
