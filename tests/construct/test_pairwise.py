"""Hyperedges from affinities, against their formula; the groups that ties make, against a literal joining."""

from itertools import combinations
from math import exp, log, sqrt

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hypermodes as hm
from hypermodes.affinity_groups import lift_tree, polished, ties_of
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
    groups = hm.group_affinity(copies, kind="distance")
    assert np.unique(groups.assigned.reshape(6, 9), axis=1).shape[1] == 1, "copies are in one group"
    for unit in (1e-150, 1e150):
        again = hm.group_affinity(copies * unit, kind="distance")
        np.testing.assert_array_equal(again.labels, groups.labels)
    assert hm.group_affinity(np.full((20, 20), 1.7e308)).n_groups == 1
    assert hm.group_affinity(np.zeros((20, 20)), kind="distance").n_groups == 1
    assert hm.group_affinity([[0, 1], [1, 0]]).labels.tolist() == [0, 0]


def literal_joins(matrix):
    """Lifts at which groups join, the largest first, from the definition."""
    groups = [[i] for i in range(len(matrix))]
    degree, lifts = matrix.sum(axis=1), []
    while len(groups) > 1:
        lift, a, b = max(
            (
                matrix[np.ix_(groups[a], groups[b])].sum() * degree.sum()
                / (degree[groups[a]].sum() * degree[groups[b]].sum()),
                a,
                b,
            )
            for a, b in combinations(range(len(groups)), 2)
        )  # fmt: skip
        lifts.append(lift)
        groups[a] += groups.pop(b)
    return lifts


@pytest.mark.parametrize("seed", range(4))
def test_the_tree_joins_by_lift(seed):
    hypergraph = hm.pairwise_hypergraph(cloud(seed, 16), 3, kind="distance")
    ties = ties_of(hypergraph)
    belongs = hypergraph.incidence.toarray()
    np.testing.assert_allclose(ties.toarray(), belongs + belongs.T - 2 * np.eye(16), atol=1e-12)
    tree = lift_tree(hypergraph, ties)
    np.testing.assert_allclose(tree.heights, literal_joins(ties.toarray()), rtol=1e-9, atol=1e-12)


def gained(matrix, labels, lift):
    degree = matrix.sum(axis=1)
    same = labels[:, None] == labels[None]
    return (matrix * same).sum() - lift * (np.outer(degree, degree) * same).sum() / degree.sum()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 4.0))
def test_polishing_gains_and_keeps_all_groups(seed, lift):
    rng = np.random.default_rng(seed)
    matrix = ties_of(hm.pairwise_hypergraph(cloud(seed, 24), 4, kind="distance"))
    labels = np.concatenate((np.arange(4), rng.integers(0, 4, 20)))
    after = polished(matrix, labels, lift)
    assert set(after) == set(range(4))
    assert gained(matrix.toarray(), after, lift) >= gained(matrix.toarray(), labels, lift) - 1e-9


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_ties_in_whole_numbers_do_not_depend_on_the_order(seed):
    rng = np.random.default_rng(seed)
    similar = rng.integers(0, 4, (18, 18))
    similar = np.triu(similar, 1) + np.triu(similar, 1).T
    order = rng.permutation(18)
    lifts = [
        lift_tree(made, ties_of(made)).heights
        for made in (hm.pairwise_hypergraph(similar), hm.pairwise_hypergraph(similar[np.ix_(order, order)]))
    ]
    np.testing.assert_allclose(*lifts, rtol=1e-9, atol=1e-12)


def test_the_tree_is_cut_elsewhere():
    groups = hm.group_affinity(cloud(3), kind="distance")
    assert len(set(groups.at(0))) == 1
    assert len(set(groups.at(1e9))) == 30
    with pytest.raises(ValueError, match=r"^lift: expected a number"):
        groups.at(-1)
