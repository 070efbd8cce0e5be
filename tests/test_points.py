"""Points to a hypergraph: what a hyperedge holds, and what plays no part."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from hypermodes import HyperedgeAffinity, knn_hypergraph
from hypermodes.construct.neighbours import Neighbours, nearest_neighbours
from hypermodes.construct.points import hypergraph_of_neighbours
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


# -- rules --------------------------------------------------------------------------------------------

WEIGHTS = {
    "density": lambda degree, reach, median: degree * median / reach,
    "similarity": lambda degree, reach, median: degree,
    "uniform": lambda degree, reach, median: 1.0,
}
PROBABILITIES = {
    "gaussian": lambda d, reach, mean: np.exp(-((d / reach) ** 2)),
    "laplacian": lambda d, reach, mean: np.exp(-d / mean),
    "binary": lambda d, reach, mean: 1.0,
}


@pytest.mark.parametrize("incidence", PROBABILITIES)
@pytest.mark.parametrize("weight", WEIGHTS)
def test_rules_are_what_they_say(incidence, weight):
    hypergraph = knn_hypergraph(POINTS, 4, incidence=incidence, weight=weight)
    distances = np.linalg.norm(POINTS[:, None] - POINTS[None, :], axis=2)
    near = np.sort(distances, axis=1)[:, 1:5]
    median, mean = np.median(near[:, -1]), near.mean()
    expected = np.zeros((60, 60))
    for e in range(60):
        for v in np.argsort(distances[e])[:5]:
            expected[v, e] = 1.0 if v == e else PROBABILITIES[incidence](distances[v, e], near[e, -1], mean)
    np.testing.assert_allclose(hypergraph.incidence.toarray(), expected, rtol=1e-12)
    weights = [WEIGHTS[weight](expected[:, e].sum(), near[e, -1], median) for e in range(60)]
    np.testing.assert_allclose(hypergraph.weights, weights, rtol=1e-12)


def test_similarity_makes_every_shared_vertex_worth_one():
    affinity = HyperedgeAffinity(knn_hypergraph(POINTS, 4, weight="similarity"))
    np.testing.assert_allclose(affinity.rate, 1.0, rtol=1e-12)


def test_functions_are_rules_too():
    named = knn_hypergraph(POINTS, 4)
    given_ = knn_hypergraph(
        POINTS,
        4,
        incidence=lambda distances, reach: np.exp(-((distances / reach) ** 2)),
        weight=lambda degree, reach: degree / (reach / np.median(reach)),
    )
    assert named == given_


def test_a_neighbour_far_beyond_the_mean_stays_in_the_hyperedge():
    points = np.append(POINTS, [[1e6, 0.0]], axis=0)
    hypergraph = knn_hypergraph(points, 4, incidence="laplacian", weight="uniform")
    np.testing.assert_array_equal(hypergraph.edge_sizes, 5)
    assert hypergraph.incidence.data.min() > 0


def test_every_way_to_the_same_neighbours_makes_the_same_hypergraph():
    table = np.linalg.norm(POINTS[:, None] - POINTS[None, :], axis=2)
    expected = knn_hypergraph(POINTS, 5)
    for other in (
        knn_hypergraph(table, 5, metric="precomputed"),
        knn_hypergraph(kneighbors_graph(POINTS, 5, mode="distance"), 5, metric="precomputed"),
        knn_hypergraph(POINTS, 5, index=NearestNeighbors().fit(POINTS)),
        knn_hypergraph(sp.csr_array(POINTS), 5),
        knn_hypergraph(POINTS, 5, metric=lambda x, y: np.linalg.norm(x - y)),
        hypergraph_of_neighbours(nearest_neighbours(POINTS, 5)),
    ):
        np.testing.assert_array_equal(other.incidence.indices, expected.incidence.indices)
        np.testing.assert_allclose(other.incidence.data, expected.incidence.data, rtol=1e-9)
        np.testing.assert_allclose(other.weights, expected.weights, rtol=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from(["lattice", "random"]))
def test_the_order_of_points_plays_no_part(seed, k, kind):
    rng = np.random.default_rng(seed)
    points = (
        np.unique(rng.integers(0, 5, size=(40, 2)), axis=0) if kind == "lattice" else rng.normal(size=(30, 2))
    )
    mix = rng.permutation(len(points))
    here, there = knn_hypergraph(points, k), knn_hypergraph(points[mix], k)
    np.testing.assert_array_equal(here.incidence.toarray()[np.ix_(mix, mix)], there.incidence.toarray())
    np.testing.assert_allclose(here.weights[mix], there.weights, rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"incidence": "soft"},
            "^incidence: expected 'gaussian', 'laplacian', 'binary' or a function; got 'soft'",
        ),
        ({"incidence": None}, "^incidence: expected 'gaussian'.*; got None"),
        ({"incidence": lambda d, r: d[:, 0]}, r"^incidence: expected the function to give shape \(60, 3\)"),
        ({"incidence": lambda d, r: d + 2}, r"^incidence: p\(v\|e\) must lie in \(0, 1\]"),
        (
            {"weight": "dense"},
            "^weight: expected 'density', 'similarity', 'uniform' or a function; got 'dense'",
        ),
        (
            {"weight": lambda degree, r: 1.0},
            r"^weight: expected the function to give shape \(60,\); it gave \(\)",
        ),
        ({"weight": lambda degree, r: -degree}, "^weights: expected positive finite numbers"),
        ({"metric": "euclid"}, "^metric: expected"),
        ({"index": 3}, "^index: expected a fitted index"),
        ({"n_jobs": "all"}, "^n_jobs: expected a number of threads"),
    ],
)
def test_bad_choices_get_one_clear_error(options, message):
    with pytest.raises(ValueError, match=message):
        knn_hypergraph(POINTS, 3, **options)


def test_neighbours_that_make_no_hypergraph_are_refused():
    def of(indices, distances=None):
        distances = np.ones(np.shape(indices)) if distances is None else np.array(distances)
        return hypergraph_of_neighbours(Neighbours(np.array(indices), distances))

    with pytest.raises(
        ValueError, match=r"^neighbours: .* of 2 points among themselves; one of them is row 2"
    ):
        of([[1], [2]])
    with pytest.raises(ValueError, match=r"^neighbours: .* different neighbours .* point 1 has \[1, 0\]"):
        of([[1, 2], [1, 0], [0, 1]])
    with pytest.raises(ValueError, match=r"^neighbours: .* different neighbours .* point 0 has \[1, 1\]"):
        of([[1, 1], [2, 0], [0, 1]])
    with pytest.raises(ValueError, match=r"^neighbours: expected a positive distance; each of the 2 points"):
        of([[1], [0]], [[0.0], [0.0]])
    with pytest.raises(TypeError, match=r"^neighbours: expected Neighbours; got a list"):
        hypergraph_of_neighbours([[1], [0]])


def test_five_crescents_are_what_was_asked_for():
    data = five_crescents(101, outliers=0.5, noise=1.0, rng=3)
    assert data.points.shape == (151, 2)  # half of 101 is 50 after rounding
    assert np.bincount(data.labels[data.labels >= 0]).tolist() == [21, 20, 20, 20, 20]
    assert (data.labels < 0).sum() == 50
    again = five_crescents(101, outliers=0.5, noise=1.0, rng=3)
    np.testing.assert_array_equal(data.points, again.points)
    with pytest.raises(ValueError, match="n_samples: expected at least 5"):
        five_crescents(4)
