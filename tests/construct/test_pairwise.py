"""Hyperedges from affinities, against their formula, and clusters of numbers of any size."""

from math import exp, log, sqrt

import numpy as np
import pytest
import scipy.sparse as sp

import hypermodes as hm
from hypermodes.construct.pairwise import similarities


def cloud(seed, n=30):
    points = np.random.default_rng(seed).normal(size=(n, 3))
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def literal_similarities(square):
    """s_ij = exp(-x_ij/√(x_i x_j)), x_i the 7th smallest of row i."""
    n = len(square)
    scale = [sorted(square[i][j] for j in range(n) if j != i)[min(7, n - 1) - 1] for i in range(n)]
    return np.array(
        [
            [0.0 if i == j else exp(-square[i][j] / sqrt(scale[i] * scale[j])) for j in range(n)]
            for i in range(n)
        ]
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [1, 4, 29])
def test_incidence_and_weights_are_those_of_the_formula(seed, k):
    distances = cloud(seed)
    similar = literal_similarities(distances**2)
    made = hm.pairwise_hypergraph(distances, k, kind="distance")
    n = len(distances)
    expected, weights = np.zeros((n, n)), np.zeros(n)
    for i in range(n):
        nearest = sorted((j for j in range(n) if j != i), key=lambda j: -similar[i, j])[:k]
        expected[i, i] = 1.0
        for j in nearest:
            expected[j, i] = similar[i, j] / max(similar[i])
        weights[i] = expected[:, i].sum() * similar[i, nearest].mean()
    np.testing.assert_allclose(made.incidence.toarray(), expected, rtol=1e-9)
    np.testing.assert_allclose(made.weights, weights, rtol=1e-9)


def test_similarities_are_distances_told_by_a_kernel():
    distances = cloud(5)
    by_distance = similarities(distances, "distance").toarray()
    shortest = (distances**2)[~np.eye(30, dtype=bool)].min()
    by_kernel = similarities(np.exp(-(distances**2) / 3)).toarray()
    # The most similar pair is taken for coincident: its squared distance is gone from all.
    squares = np.where(np.eye(30, dtype=bool), 0.0, distances**2 - shortest)
    np.testing.assert_allclose(by_kernel, literal_similarities(squares), atol=1e-9)
    assert by_distance.shape == by_kernel.shape
    five = [[0, 4, 2], [4, 0, 1], [2, 1, 0]]
    x = log(4 / 2), log(4 / 1)
    np.testing.assert_allclose(similarities(five).toarray()[0, 2], exp(-x[0] / sqrt(x[0] * x[1])))


def test_all_that_are_level_with_the_last_belong():
    similar = np.ones((6, 6))
    assert (np.diff(hm.pairwise_hypergraph(similar, 2).incidence.indptr) == 6).all()
    similar[0, 1:] = similar[1:, 0] = 0
    sizes = np.diff(hm.pairwise_hypergraph(similar, 2).incidence.indptr)
    assert sizes.tolist() == [1, 5, 5, 5, 5, 5]


def test_a_sparse_matrix_of_distances_holds_who_is_near():
    distances = cloud(1)
    near = np.where(distances <= np.sort(distances, axis=1)[:, [9]], distances, 0)
    near = np.maximum(near, near.T)
    made = hm.pairwise_hypergraph(sp.csr_array(near), 5, kind="distance")
    whole = hm.pairwise_hypergraph(distances, 5, kind="distance")
    np.testing.assert_allclose(made.incidence.toarray(), whole.incidence.toarray(), rtol=1e-9)


def test_a_sparse_matrix_of_distances_may_hold_zeros():
    distances = cloud(3, 12)
    distances = np.repeat(np.repeat(distances, 2, axis=0), 2, axis=1)  # each item twice, at distance 0
    row, column = np.nonzero(~np.eye(24, dtype=bool))
    held = sp.csr_array((distances[row, column], (row, column)), shape=(24, 24))
    assert (held.data == 0).sum() == 24
    np.testing.assert_array_equal(
        similarities(held, "distance").toarray(), similarities(distances, "distance").toarray()
    )


@pytest.mark.parametrize("kind", ["similarity", "distance"])
@pytest.mark.parametrize("exponent", [150, 300])
def test_numbers_of_all_sizes_there_are(kind, exponent):
    rng = np.random.default_rng(0)
    numbers = np.triu(10.0 ** rng.uniform(-exponent, exponent, (20, 20)), 1)
    similar = similarities(numbers + numbers.T, kind).data
    assert similar.size
    assert ((similar > 0) & (similar <= 1)).all()


def test_similarities_are_symmetric_to_the_last_bit():
    similar = similarities(cloud(4, 40), "distance").toarray()
    np.testing.assert_array_equal(similar, similar.T)


def test_coincident_items_and_extreme_numbers():
    copies = np.repeat(np.repeat(cloud(2, 6), 9, axis=0), 9, axis=1)
    found = hm.cluster(copies, metric="precomputed")
    assert np.unique(found.assigned.reshape(6, 9), axis=1).shape[1] == 1, "copies are in one cluster"
    for unit in (1e-150, 1e150):
        again = hm.cluster(copies * unit, metric="precomputed")
        np.testing.assert_array_equal(again.labels, found.labels)
    assert hm.cluster(hm.MatrixAffinity(np.full((20, 20), 1e99))).n_clusters == 1
    assert hm.cluster(np.zeros((20, 20)), metric="precomputed").n_clusters == 1
    assert hm.cluster(hm.MatrixAffinity([[0, 1], [1, 0]])).labels.tolist() == [0, 0]
