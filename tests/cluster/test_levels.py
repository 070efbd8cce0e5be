"""The readings of a tree that stand out: full labellings, one of them the answer."""

import numpy as np
import pytest

import hypermodes as hm
from hypermodes.cluster.levels import largest_first
from hypermodes.datasets import five_crescents
from lobes import same_groups
from planted import planted


def nested(dimension, seed=0):
    """Three clouds of three clouds each, and which of both a point is of."""
    rng = np.random.default_rng(seed)
    coarse, fine = np.repeat(range(3), 180), np.repeat(range(9), 60)
    corners = np.eye(dimension)[[0, 1, 2]] if dimension > 2 else np.array([[0, 0], [1, 0], [0, 1]])
    points = 60 * corners[coarse] + 8 * corners[fine % 3] + rng.normal(size=(540, dimension)) * 0.8
    return points, coarse, fine


CASES = {
    "plane": lambda: (five_crescents(300, outliers=0.1).points, {}),
    "asked": lambda: (five_crescents(300, outliers=0.1).points, {"n_clusters": 4}),
    "at a threshold": lambda: (five_crescents(300, outliers=0.1).points, {"threshold": 0.2}),
    "nested": lambda: (nested(2)[0], {}),
    "nested, many dimensions": lambda: (nested(12)[0], {}),
    "shapeless": lambda: (np.random.default_rng(0).normal(size=(300, 10)), {}),
    "hypergraph": lambda: (planted(strangers=0.3)[0], {}),
    "hypergraph, asked": lambda: (planted(strangers=0.3)[0], {"n_clusters": 7}),
    "few": lambda: (np.eye(3), {}),
    "lonely vertices": lambda: (hm.Hypergraph.from_edges([[1, 2], [2, 3], [4, 5], [5, 6], [9]]), {}),
}


@pytest.mark.parametrize("case", CASES)
def test_levels_are_full_labellings_and_one_is_the_answer(case):
    data, options = CASES[case]()
    found = hm.cluster(data, **options)
    (answer,) = [level for level in found.levels if level.is_answer]
    np.testing.assert_array_equal(answer.labels, found.assigned)
    assert answer.n_clusters == found.n_clusters
    numbers = [level.n_clusters for level in found.levels]
    assert numbers == sorted(numbers)
    for level in found.levels:
        assert 0 <= level.stability <= 1
        assert set(level.labels.tolist()) - {-1} == set(range(level.n_clusters))
        np.testing.assert_array_equal(level.labels == -1, found.assigned == -1)
        assert (np.diff(np.bincount(level.labels[level.labels >= 0])) <= 0).all()
        assert level.borders.shape == (level.n_clusters,)
        assert (level.borders >= 0).all()
        assert str(level.n_clusters) in repr(level)
    assert sum(level.stability for level in found.levels) <= 1 + 1e-9
    for i, level in enumerate(found.levels):
        assert not any(same_groups(level.labels, other.labels) for other in found.levels[:i])


def test_nested_clouds_are_two_levels():
    points, coarse, fine = nested(2)
    levels = hm.cluster(points).levels
    for truth in (coarse, fine):
        assert any(same_groups(level.labels, truth) for level in levels)


def test_a_level_of_a_layout_joins_no_parts_that_are_not_tied():
    points, _, fine = nested(12)
    found = hm.cluster(points)
    assert same_groups(found.assigned, fine)
    part = found.ties.parts()
    for level in found.levels:
        for k in range(level.n_clusters):
            assert np.unique(part[found.neighbourhoods.place[level.labels == k]]).size == 1


def test_levels_do_not_know_the_order_of_rows():
    points, _, _ = nested(12)
    order = np.random.default_rng(0).permutation(len(points))
    one, other = hm.cluster(points).levels, hm.cluster(points[order]).levels
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert same_groups(a.labels[order], b.labels)
        assert a.stability == b.stability


def test_the_largest_is_first():
    assert largest_first(np.array([7, -1, 3, 3, 7, 3, 5])).tolist() == [1, -1, 0, 0, 1, 0, 2]
    assert largest_first(np.array([2, 1, 2, 1])).tolist() == [0, 1, 0, 1]
