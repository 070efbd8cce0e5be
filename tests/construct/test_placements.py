"""Placements: probabilities against enumeration, and what cannot matter does not."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import expm

import hypermodes as hm
from hypermodes.construct.correspondences import Candidates, Features, candidate_pairs
from hypermodes.construct.placements import _exponential, one_to_one, placement_hypergraph
from matching_cases import one_to_one as one_to_one_pairs


def enumerated(table):
    """Probabilities of pairs, and the logarithm of the sum, over all partial one-to-one choices."""
    n, m = table.shape
    total, pairs = 0.0, np.zeros(table.shape)
    for k in range(min(n, m) + 1):
        for rows in combinations(range(n), k):
            for columns in permutations(range(m), k):
                weight = table[list(rows), list(columns)].prod()
                total += weight
                pairs[list(rows), list(columns)] += weight
    return pairs / total, np.log(total)


TREES = [
    np.array([[3.0]]),
    np.array([[0.5, 2.0, 7.0]]),
    np.array([[2.0, 0, 0], [3, 1, 0], [0, 5, 0.5]]),
    np.array([[0.0, 4, 0, 1], [9, 2, 0, 0], [0, 0, 3, 0]]),
]


@pytest.mark.parametrize("table", TREES)
def test_without_cycles_probabilities_are_exact(table):
    probability, normaliser = one_to_one(table)
    expected, total = enumerated(table)
    np.testing.assert_allclose(probability, expected, atol=1e-5)
    assert normaliser == pytest.approx(total, abs=1e-5)


@settings(max_examples=30, deadline=None)
@given(arrays(float, (3, 4), elements=st.floats(0, 8)))
def test_with_cycles_they_are_near(table):
    probability, normaliser = one_to_one(table)
    expected, total = enumerated(table)
    np.testing.assert_allclose(probability, expected, atol=0.1)
    assert normaliser <= total + 1e-4  # Bethe's sum over matchings is never too large
    assert normaliser >= total - 0.5


@settings(max_examples=30, deadline=None)
@given(arrays(float, (2, 5, 3), elements=st.floats(0, 100)))
def test_no_point_has_more_than_one_match(table):
    probability, _ = one_to_one(table)
    assert (probability >= 0).all()
    assert (probability.sum(axis=-1) <= 1 + 1e-3).all()
    assert (probability.sum(axis=-2) <= 1 + 1e-3).all()
    turned, _ = one_to_one(np.swapaxes(table, -1, -2))
    np.testing.assert_allclose(np.swapaxes(turned, -1, -2), probability, atol=1e-12)


def sides(seed, n=7, m=9):
    rng = np.random.default_rng(seed)
    return Features(rng.normal(size=(n, 2)) / 2), Features(rng.normal(size=(m, 2)) / 2)


def votes(left, right, **options):
    candidates = candidate_pairs(left, right)
    hypergraph, mirrored = placement_hypergraph(left, right, candidates, 0.3, **options)
    rate = hypergraph.weights / hypergraph.edge_degrees
    table = np.zeros((len(left), len(right)))
    table[candidates.left, candidates.right] = hypergraph.incidence @ rate
    return table, rate[mirrored].sum() / rate.sum()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("any_scale", [True, False])
def test_votes_do_not_hang_on_side_or_order(seed, any_scale):
    left, right = sides(seed)
    table, share = votes(left, right, any_scale=any_scale)
    swapped, other = votes(right, left, any_scale=any_scale)
    np.testing.assert_allclose(swapped.T, table, atol=1e-12)
    assert other == pytest.approx(share)
    order = np.random.default_rng(seed).permutation(len(left))
    shuffled, _ = votes(left.take(order), right, any_scale=any_scale)
    np.testing.assert_allclose(shuffled, table[order], atol=1e-12)
    assert (table >= 0).all()
    assert (table.sum(axis=1) <= 1 + 1e-6).all()


@pytest.mark.parametrize("signs", [[-1, 1], [1, -1], [-1, -1]])
def test_both_sides_mirrored_or_turned_by_half_are_as_before(signs):
    left, right = sides(5)
    table, share = votes(left, right)
    both, other = votes(*(Features(side.points * signs) for side in (left, right)))
    np.testing.assert_allclose(both, table, atol=1e-12)
    assert other == pytest.approx(share)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        here = rng.normal(size=(10, 2))
        there = here + 0.45 * rng.normal(size=(10, 2))
        pairs = [
            hm.match(one, other, n_matches=10).pairs.tolist()
            for one, other in ((here, there), (here * signs, there * signs))
        ]
        assert pairs[0] == pairs[1]


def test_exponentials_are_those_of_scipy():
    matrices = np.random.default_rng(0).normal(size=(40, 2, 2))
    matrices[:3] = np.zeros((2, 2)), np.eye(2), [[0, 1], [0, 0]]
    np.testing.assert_allclose(_exponential(matrices), expm(matrices), rtol=1e-12, atol=1e-14)


def test_what_the_hyperedges_say_is_a_probability_of_placements():
    left, right = sides(1)
    candidates = candidate_pairs(left, right)
    hypergraph, mirrored = placement_hypergraph(left, right, candidates, 0.3)
    assert (hypergraph.weights / hypergraph.edge_degrees).sum() == pytest.approx(1)
    assert [hand < 0 for *_, hand in hypergraph.labels] == mirrored.tolist()
    assert hypergraph.n_vertices == len(candidates)
    same_scale, _ = placement_hypergraph(left, right, candidates, 0.3, any_scale=False)
    assert all(xx + yy == pytest.approx(0) for xx, _, _, yy, *_ in same_scale.labels)  # areas stay


def test_a_candidate_that_is_not_given_has_no_part_in_it():
    left, right = sides(2, 3, 3)
    diagonal = Candidates(np.array([[0, 0], [1, 1], [2, 2]]), np.ones(3), 3, 3)
    hypergraph, _ = placement_hypergraph(left, right, diagonal, 0.3)
    assert hypergraph.n_vertices == 3
    less = Candidates(diagonal.pairs, np.array([1.0, 1.0, 1e-3]), 3, 3)
    fewer, _ = placement_hypergraph(left, right, less, 0.3)
    assert fewer.incidence[[2]].max() < 0.01


@pytest.mark.parametrize("n", [3, 8, 14])
def test_points_on_a_line_are_no_trouble(n):
    line = np.column_stack((np.arange(n, dtype=float) ** 1.3, np.zeros(n)))
    wobbly = line + 0.3 * np.random.default_rng(n).normal(size=(n, 2))
    for left, right in ((line, wobbly), (line, line + 1), (line[:, ::-1], wobbly[:, ::-1])):
        pairs = hm.match(left, right, n_matches=n).pairs
        assert len(pairs) == n
    assert (hm.match(line, line + 1, n_matches=n).pairs[:, 0] == np.arange(n)).all()


def test_few_points_may_be_mirrored():
    right = total = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        shape = rng.normal(size=(11, 2))
        image = shape * [-1, 1] + 0.08 * rng.normal(size=shape.shape)
        found = hm.match(shape, image, n_matches=11)
        right += (found.pairs[:, 0] == found.pairs[:, 1]).sum()
        total += 11
    assert right > 0.9 * total


SQUEEZED, SHEARED, TURNED = [-0.2, 0, 0, 0.2], [0, 0.3, 0, 0], [0, 0.2, -0.2, 0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("change", [SQUEEZED, SHEARED, TURNED])
def test_placements_lean_towards_the_map_that_was_made(change, seed):
    left, _ = sides(seed, n=12)
    right = Features(left.points @ expm(np.reshape(change, (2, 2))))
    hypergraph, _ = placement_hypergraph(left, right, candidate_pairs(left, right), 0.2)
    mean = (hypergraph.weights / hypergraph.edge_degrees) @ np.array(hypergraph.labels)
    assert 0.2 < mean[:4] @ change / np.dot(change, change) < 1.2  # the prior holds some of it back
    assert mean[-1] > 0.9


SHAPE = np.random.default_rng(1).normal(size=(10, 2))
ROUGH = SHAPE[::-1] + 0.1 * np.random.default_rng(2).normal(size=(10, 2))


@pytest.mark.parametrize("displacement", [1e-12, 1e-7, 0.05, 0.3, 2.0, 1e6, 1e99])
def test_any_tolerance_has_an_answer(displacement):
    found = hm.match(SHAPE, ROUGH, displacement=displacement)
    assert one_to_one_pairs(found.pairs)


@pytest.mark.parametrize("far", [1e3, 1e30, 1e99])
def test_a_point_far_away_changes_nothing(far):
    left, right = (np.vstack((side, [far, turn * far])) for side, turn in ((SHAPE, 1), (ROUGH, -0.1)))
    pairs = hm.match(left, right, n_matches=10).pairs.tolist()
    assert set(map(tuple, hm.match(SHAPE, ROUGH, n_matches=10).pairs.tolist())) <= {*map(tuple, pairs)}


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-3, 1e3, 1e99])
def test_sides_of_other_sizes_that_must_be_the_same_do_not_match(size):
    assert len(hm.match(SHAPE * size, ROUGH, scale_invariant=False).pairs) == 0
