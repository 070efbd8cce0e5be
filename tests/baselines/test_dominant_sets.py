"""Dominant sets: the definition by the recursion over subsets, and the steps of the dynamics."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given

import oracles
from hypermodes import MatrixAffinity
from hypermodes.baselines.dominant_sets import dominant_set, dominant_sets, escape, infect
from hypermodes.baselines.pairwise import nash_error
from strategies import generic_matrices, points, symmetric_matrices

EPS = np.finfo(float).eps


@given(matrix=generic_matrices(max_n=6))
def test_what_is_found_first_is_a_dominant_set_by_definition(matrix):
    assume(matrix.any())
    x, _ = dominant_set(sp.csr_array(matrix), 1e-9, 100_000)
    inside = np.flatnonzero(x)
    # W(T) > 0 for every non-empty subset, w_S(i) > 0 inside, w_{S∪i}(i) < 0 outside.
    for size in range(1, inside.size + 1):
        for subset in combinations(inside, size):
            assert oracles.seed_weights(matrix, subset).sum() > 0
    weights = oracles.seed_weights(matrix, inside)
    assert (weights > 0).all()
    assert x[inside] == pytest.approx(weights / weights.sum(), abs=1e-5)
    for i in np.flatnonzero(x == 0):
        assert oracles.seed_weights(matrix, [*inside, i])[-1] < 0


@given(matrix=generic_matrices(max_n=6))
def test_each_set_is_a_local_maximiser_of_what_was_left(matrix):
    partition = dominant_sets(matrix, tol=1e-10, min_members=1)
    assert partition.starts == partition.n_clusters
    left = np.ones(len(matrix), dtype=bool)
    while left.any():
        rest = np.flatnonzero(left)
        part = matrix[np.ix_(rest, rest)]
        if not part.any():
            assert (partition.labels[rest] == -1).all()
            return
        # Which one was peeled now: the one that is a local maximiser with all the others around.
        maxima = [
            group
            for group in partition.groups
            if left[group.support].all()
            and oracles.is_local_maximiser(part, group.distribution(len(matrix))[rest], tol=1e-6)
        ]
        assert maxima
        left[maxima[0].support] = False


@given(case=points(symmetric_matrices().map(MatrixAffinity)))
def test_a_step_raises_f_by_the_best_amount_along_its_direction(case):
    affinity, point = case
    matrix = affinity.values
    x, rewards = point.p, matrix @ point.p
    assume(x @ rewards > 0)
    moved, kept = infect(affinity.matrix(), x, rewards)
    # Sums of at most 8 terms, each of a few operations, none above the largest affinity.
    slack = 200 * EPS * matrix.max()
    assert (moved >= -EPS).all()
    assert moved.sum() == pytest.approx(1)
    assert kept == pytest.approx(matrix @ moved, abs=slack)
    value = moved @ matrix @ moved
    assert value >= x @ rewards - slack
    gain = rewards - x @ rewards
    best, worst = gain.argmax(), np.where(x > 0, gain, np.inf).argmin()
    k = worst if gain[best] < -gain[worst] and x[worst] < 1 else best
    low = x[k] / (x[k] - 1) if k == worst and k != best else 0.0
    for amount in np.linspace(low, 1.0 if low == 0 else 0.0, 21):
        other = x + amount * (np.eye(len(x))[k] - x)
        assert value >= other @ matrix @ other - slack


@given(case=points(symmetric_matrices().map(MatrixAffinity)))
def test_f_never_falls_on_the_way(case):
    affinity, point = case
    matrix = affinity.values
    x, rewards = point.p, matrix @ point.p
    assume(x @ rewards > 0)
    values = [x @ rewards]
    for _ in range(40):
        x, rewards = infect(affinity.matrix(), x, rewards)
        values.append(x @ matrix @ x)
    assert (np.diff(values) >= -200 * 40 * EPS * matrix.max()).all()


@given(matrix=generic_matrices(max_n=7))
def test_the_nash_error_is_zero_exactly_at_first_order_points(matrix):
    assume(matrix.any())
    for x in oracles.stationary_points(matrix):
        rewards, value = matrix @ x, x @ matrix @ x
        if value > 1e-6:
            holds = (rewards <= value * (1 + 1e-9)).all()
            assert (nash_error(x, rewards) < 1e-8) == holds


def test_a_saddle_is_left_uphill():
    # Two equal pairs, barely joined: at the barycentre all rewards agree, yet each pair alone is denser.
    matrix = np.array([[0, 2, 0.1, 0.1], [2, 0, 0.1, 0.1], [0.1, 0.1, 0, 2], [0.1, 0.1, 2, 0]])
    x = np.full(4, 0.25)
    assert nash_error(x, matrix @ x) < 1e-15
    moved = escape(sp.csr_array(matrix), x, 1e-7)
    assert moved @ matrix @ moved > x @ matrix @ x
    assert moved.sum() == pytest.approx(1)
    assert dominant_sets(matrix).labels.tolist() == [0, 0, 1, 1]
    clique = np.ones((3, 3)) - np.eye(3)
    even = np.full(3, 1 / 3)
    assert escape(sp.csr_array(clique), even, 1e-7) is even


def test_sets_are_peeled_off_and_loners_left():
    matrix = np.zeros((8, 8))
    matrix[:4, :4], matrix[4:7, 4:7] = 1.0, 2.0
    partition = dominant_sets(matrix)
    assert partition.labels.tolist() == [1, 1, 1, 1, 0, 0, 0, -1]
    assert [group.value for group in partition.groups] == pytest.approx([2 * 2 / 3, 3 / 4])
    assert partition.probabilities.tolist() == pytest.approx([1] * 7 + [0])


def test_large_sparse_and_small_dense_agree():
    rng = np.random.default_rng(1)
    block = rng.uniform(0.5, 1, (6, 6))
    small = block + block.T
    large = sp.block_array([[sp.csr_array(small), None], [None, sp.csr_array((500, 500))]]).tocsr()
    assert dominant_sets(sp.csr_array(large)).labels[:6].tolist() == dominant_sets(small).labels.tolist()


def test_a_budget_is_kept():
    matrix = np.random.default_rng(0).uniform(size=(20, 20))
    assert dominant_set(sp.csr_array(matrix + matrix.T), 1e-12, 3)[1] == 3


@pytest.mark.parametrize("option", ["tol", "max_steps", "min_members"])
def test_bad_options_are_refused_by_name(option):
    with pytest.raises(ValueError, match=f"^{option}: .*-1"):
        dominant_sets(np.ones((2, 2)), **{option: -1})
