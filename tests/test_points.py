"""Points to a hypergraph: what a hyperedge holds, and what plays no part."""

import numpy as np
import pytest

from hypermodes import HyperedgeAffinity, knn_hypergraph
from hypermodes.datasets import five_crescents

POINTS = np.random.default_rng(0).normal(size=(60, 2))


def test_a_hyperedge_is_a_point_and_its_nearest_neighbours():
    hypergraph = knn_hypergraph(POINTS, 4)
    distances = np.linalg.norm(POINTS[:, None] - POINTS[None, :], axis=2)
    for i in range(60):
        assert set(hypergraph.members(i)) == set(np.argsort(distances[i])[:5].tolist())


def test_a_shared_vertex_is_worth_one_over_the_distance_to_the_last_neighbour():
    rate = HyperedgeAffinity(knn_hypergraph(POINTS, 4)).rate
    distances = np.sort(np.linalg.norm(POINTS[:, None] - POINTS[None, :], axis=2), axis=1)[:, 4]
    np.testing.assert_allclose(rate, np.median(distances) / distances, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1e5, 1e200])
def test_neither_unit_nor_origin_play_a_part(unit):
    here, there = knn_hypergraph(POINTS, 5), knn_hypergraph(POINTS * unit, 5)
    np.testing.assert_array_equal(here.incidence.indices, there.incidence.indices)
    np.testing.assert_allclose(here.weights, there.weights, rtol=1e-9)
    moved = knn_hypergraph(POINTS + np.array([3.0, -7.0]), 5)
    np.testing.assert_allclose(here.weights, moved.weights, rtol=1e-9)


def test_points_at_one_place_are_in_their_own_hyperedges():
    points = np.vstack((np.zeros((30, 2)), POINTS))
    hypergraph = knn_hypergraph(points, 5)
    for i in range(len(points)):
        assert i in hypergraph.members(i)
        assert len(hypergraph.members(i)) == 6


@pytest.mark.parametrize(
    ("points", "k", "message"),
    [
        (POINTS[:4], 4, r"points: expected more than k = 4 points; got 4"),
        (np.zeros((9, 2)), 3, "points: expected points at different places; each of the 9 coincides"),
        (np.full((9, 2), np.nan), 3, "points: expected finite coordinates"),
        (np.full((9, 2), np.inf), 3, "points: expected finite coordinates"),
        (POINTS[:, 0], 3, r"points: expected an \(n, d\) array of numbers; got shape \(60,\)"),
        (np.empty((0, 2)), 3, r"points: expected more than k = 3 points; got 0"),
        (np.array([["a", "b"]]), 3, r"points: expected an \(n, d\) array of numbers"),
        (POINTS, 0, "k: expected a positive number of neighbours; got 0"),
        (POINTS, 2.5, r"k: expected a positive number of neighbours; got 2\.5"),
    ],
)
def test_points_that_make_no_hypergraph_are_refused(points, k, message):
    with pytest.raises(ValueError, match=message):
        knn_hypergraph(points, k)


def test_constant_columns_change_nothing():
    flat = np.column_stack((POINTS, np.full(60, 3.0)))
    np.testing.assert_array_equal(
        knn_hypergraph(flat, 5).incidence.indices, knn_hypergraph(POINTS, 5).incidence.indices
    )


def test_five_crescents_are_what_was_asked_for():
    data = five_crescents(101, outliers=0.5, noise=1.0, rng=3)
    assert data.points.shape == (151, 2)  # half of 101 is 50 after rounding
    assert np.bincount(data.labels[data.labels >= 0]).tolist() == [21, 20, 20, 20, 20]
    assert (data.labels < 0).sum() == 50
    again = five_crescents(101, outliers=0.5, noise=1.0, rng=3)
    np.testing.assert_array_equal(data.points, again.points)
    with pytest.raises(ValueError, match="n_samples: expected at least 5"):
        five_crescents(4)
