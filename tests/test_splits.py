"""How clearly clusters are apart, held against its definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypermodes.cluster import cluster
from hypermodes.datasets import five_crescents
from hypermodes.splits import clearly_apart, clearness, typical_size

few = settings(max_examples=15, deadline=None)


def a_level(seed, smallest=5.0):
    points = five_crescents(150, outliers=0.2, noise=4.0, rng=seed).points
    found = cluster(np.vstack((points, points[::3])))
    return found.tree, found.tree.at(smallest), found.neighbourhoods


@given(st.integers(0, 999))
@few
def test_clearness_is_what_it_is_said_to_be(seed):
    tree, level, around = a_level(seed)
    clear, merges = clearness(tree, level, around.dimension, around.k)
    assert len(merges) == level.n_clusters - 1
    groups = {c: {c} for c in range(level.n_clusters)}
    for value, m in zip(clear, merges, strict=True):
        a, b = level.labels[tree.ends[m]]
        sides = []
        for group in (groups[a], groups[b]):
            above = np.isin(level.labels, list(group)) & (level.height >= tree.heights[m])
            count = around.weights[above].sum()
            volume = (
                around.weights[above] * (tree.heights[m] / level.height[above]) ** around.dimension
            ).sum()
            sides.append(np.sqrt(around.k) * np.log(count / volume))
        assert value == pytest.approx(min(sides), rel=1e-9, abs=1e-9)
        union = groups[a] | groups[b]
        groups.update(dict.fromkeys(union, union))


@given(st.integers(0, 999), st.floats(-1, 6))
@few
def test_faint_splits_are_undone_and_no_others(seed, errors):
    tree, level, around = a_level(seed)
    shape = around.dimension, around.k
    clear, merges = clearness(tree, level, *shape)
    found = clearly_apart(tree, level, *shape, errors)
    assert found.n_clusters == 1 + (clear > errors).sum()
    one = found.labels[tree.ends[merges]]
    np.testing.assert_array_equal(one[:, 0] == one[:, 1], clear <= errors)
    for c in range(level.n_clusters):
        assert len(set(found.labels[level.labels == c].tolist())) == 1
    inside = found.core >= 0
    np.testing.assert_array_equal(inside, level.core >= 0)
    np.testing.assert_array_equal(found.core[inside], found.labels[inside])


def test_half_of_the_points_are_in_clusters_of_the_typical_size():
    _, level, around = a_level(1)
    size = typical_size(level, around.weights)
    sizes = np.bincount(level.labels, around.weights)
    assert size in sizes
    assert sizes[sizes >= size].sum() >= sizes.sum() / 2 > sizes[sizes > size].sum()
