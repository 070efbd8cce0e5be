"""Triangles, tensor matching and probabilistic matching: against literal sums and the conditions of each."""

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from hypermodes.baselines.matching.assignment import sums_by
from hypermodes.baselines.matching.probabilistic import (
    caps,
    marginals,
    matching_number,
    probabilistic_matching,
    soft_matching,
)
from hypermodes.baselines.matching.tensor import power_step, tensor_matching
from hypermodes.baselines.matching.triples import Triples, triangle_sines, triangle_triples, weighted_by
from hypermodes.construct.correspondences import Candidates, Features, candidate_pairs
from matching_cases import association_graphs, matchings, moved_points, problem_of
from strategies import seeds


@st.composite
def tensors(draw, max_side=4):
    """Candidates of two full sides, and a generic tensor over triples without conflicts."""
    candidates, _ = draw(association_graphs(max_side, full=True))
    rng = np.random.default_rng(draw(seeds))
    members = [c for c in matchings(candidates) if len(c) == 3 and rng.uniform() < 0.7]
    members = np.array(members, dtype=np.int64).reshape(-1, 3)
    return candidates, Triples(members, rng.uniform(0.1, 1, len(members)), len(candidates))


def dense(triples):
    tensor = np.zeros((triples.n,) * 3)
    for members, value in zip(triples.members, triples.values, strict=True):
        for order in permutations(members):
            tensor[order] = value
    return tensor


@given(case=tensors(), seed=seeds)
def test_contractions_are_those_of_the_whole_tensor(case, seed):
    _, triples = case
    x = np.random.default_rng(seed).uniform(size=triples.n)
    tensor = dense(triples)
    assert triples.contract(x) == pytest.approx(np.einsum("abc,b,c->a", tensor, x, x))
    assert triples.value(x) == pytest.approx(np.einsum("abc,a,b,c->", tensor, x, x, x))


@given(case=tensors(), seed=seeds)
def test_triples_of_the_dead_add_nothing(case, seed):
    _, triples = case
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=triples.n) * (rng.uniform(size=triples.n) < 0.5)
    alive = triples.among(x, 0.0)
    assert len(alive.values) <= len(triples.values)
    assert alive.contract(x) == pytest.approx(triples.contract(x))


@given(seed=seeds)
def test_sines_know_angles_and_orientation_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    corners = rng.normal(size=(5, 3, 2))
    turn, scale = rng.uniform(0, 2 * np.pi), rng.uniform(0.1, 10)
    rotation = scale * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    sines = triangle_sines(corners)
    assert triangle_sines(corners @ rotation.T + rng.normal(size=2)) == pytest.approx(sines, abs=1e-9)
    assert triangle_sines(corners * [-1, 1]) == pytest.approx(-sines, abs=1e-9)
    assert triangle_sines(np.roll(corners, 1, axis=1)) == pytest.approx(np.roll(sines, 1, axis=1), abs=1e-9)


def test_sines_of_a_right_triangle_and_of_a_point():
    assert triangle_sines(np.array([[[0, 0], [1, 0], [1, 1]]])) == pytest.approx(
        np.array([[1, np.sqrt(0.5), np.sqrt(0.5)]])
    )
    assert triangle_sines(np.zeros((1, 3, 2))).tolist() == [[0, 0, 0]]


def test_triangles_found_are_the_nearest_of_all_ordered_ones():
    rng = np.random.default_rng(3)
    left, right = Features(rng.normal(size=(4, 2))), Features(rng.normal(size=(5, 2)))
    candidates = candidate_pairs(left, right)
    each = 7
    found = triangle_triples(left, right, candidates, neighbours=each)
    wanted = {}
    for mine in [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]:
        here = triangle_sines(left.points[None, list(mine)])[0]
        options = []
        for theirs in permutations(range(5), 3):
            there = triangle_sines(right.points[None, list(theirs)])[0]
            members = tuple(sorted(i * 5 + a for i, a in zip(mine, theirs, strict=True)))
            options.append((float(np.linalg.norm(here - there)), members))
        # A triangle with the corners of both sides renumbered alike is the same: each comes once.
        best = sorted({members: d for d, members in options}.items(), key=lambda item: item[1])[:each]
        wanted.update(best)
    assert {tuple(members) for members in found.members.tolist()} == set(wanted)
    distances = np.array([wanted[tuple(members)] for members in found.members.tolist()])
    assert found.values == pytest.approx(np.exp(-distances / distances.mean()))


def test_triples_leave_out_pairs_that_are_no_candidates():
    left, right, truth = moved_points(6)
    some = Candidates(truth, np.ones(6), 6, 6)
    found = triangle_triples(left, right, some)
    assert 0 < len(found.values) <= 20
    assert found.n == 6
    assert found.members.max() < 6
    assert (
        len(
            triangle_triples(Features(left.points[:2]), right, candidate_pairs(left.points[:2], right)).values
        )
        == 0
    )


def test_a_draw_of_triangles_is_repeatable_and_of_the_size_asked_for():
    left, right, _ = moved_points(12)
    candidates = candidate_pairs(left, right)
    one, same = (triangle_triples(left, right, candidates, n_triples=30, neighbours=5) for _ in range(2))
    assert one.members.tolist() == same.members.tolist()
    assert len(one.values) <= 150
    assert len({tuple(sorted(set(c // 12))) for c in one.members}) == 30


@given(case=tensors())
def test_weights_are_the_geometric_mean_of_three_affinities(case):
    candidates, triples = case
    rng = np.random.default_rng(len(triples.values))
    affinity = rng.uniform(size=(len(candidates),) * 2) * (rng.uniform(size=(len(candidates),) * 2) < 0.8)
    affinity = affinity + affinity.T
    found = weighted_by(triples, sp.csr_array(affinity))
    wanted = [
        value * (affinity[a, b] * affinity[b, c] * affinity[a, c]) ** (1 / 3)
        for (a, b, c), value in zip(triples.members, triples.values, strict=True)
    ]
    assert found.values == pytest.approx([value for value in wanted if value > 0])


@given(case=tensors())
def test_tensor_matching_comes_to_rest_where_no_candidate_of_a_point_earns_more(case):
    candidates, triples = case
    x = tensor_matching(candidates, triples, tol=1e-12, max_steps=5000).scores
    assert sums_by(candidates.left, x, candidates.n_left) == pytest.approx(np.ones(candidates.n_left))
    assert power_step(candidates, triples, x) == pytest.approx(x, abs=1e-4)
    rewards = triples.contract(x)
    for i in range(candidates.n_left):
        row = candidates.left == i
        held = row & (x > 1e-3)
        assert rewards[held] == pytest.approx(rewards[row].max(), abs=1e-2 * (rewards.max() + 1))


@given(case=association_graphs(), hyper=st.booleans(), data=st.data())
def test_marginals_are_literal_sums(case, hyper, data):
    candidates, matrix = case
    if hyper:
        candidates, triples = data.draw(tensors())
        wanted, given_ = np.zeros(triples.n), triples
        for members, value in zip(triples.members, triples.values, strict=True):
            wanted[members] += value
    else:
        wanted, given_ = matrix.sum(axis=1), matrix
    assert marginals(candidates, given_) == pytest.approx(wanted / (wanted.max() or 1.0))


@given(case=association_graphs(), seed=seeds)
def test_caps_are_the_least_multipliers(case, seed):
    candidates, _ = case
    rng = np.random.default_rng(seed)
    weights, others = rng.uniform(0.1, 1, len(candidates)), rng.uniform(0.05, 2, len(candidates))
    alpha = caps(weights, others, candidates.left, candidates.n_left)
    sums = sums_by(candidates.left, weights / (alpha[candidates.left] + others), candidates.n_left)
    assert (alpha >= 0).all()
    assert (sums <= 1 + 1e-9).all()
    assert sums[alpha > 0] == pytest.approx(np.ones((alpha > 0).sum()))


@given(seed=seeds, n_left=st.integers(2, 3), n_right=st.integers(3, 4), total=st.floats(0.5, 1.9))
def test_the_soft_matching_is_the_nearest_by_a_general_solver(seed, n_left, n_right, total):
    candidates = candidate_pairs(np.eye(n_left, 2) * 3, np.arange(2 * n_right).reshape(-1, 2) ** 2)
    y = np.random.default_rng(seed).uniform(0.05, 1, len(candidates))
    x, _ = soft_matching(candidates, y, total, 1e-9, 20_000)
    rows, columns = (
        sums_by(side, x, n) for side, n in ((candidates.left, n_left), (candidates.right, n_right))
    )
    assert max(rows.max(), columns.max()) <= 1 + 1e-6
    assert x.sum() == pytest.approx(total)
    incidence = np.vstack(
        [candidates.left == i for i in range(n_left)] + [candidates.right == j for j in range(n_right)]
    ).astype(float)
    best = minimize(
        lambda z: -y @ np.log(z),
        np.full(len(y), total / len(y)),
        jac=lambda z: -y / z,
        bounds=[(1e-9, 1)] * len(y),
        constraints=[
            {"type": "eq", "fun": lambda z: z.sum() - total, "jac": lambda z: np.ones_like(z)},
            {"type": "ineq", "fun": lambda z: 1 - incidence @ z, "jac": lambda z: -incidence},
        ],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert -y @ np.log(x) <= best.fun + 1e-4
    assert x == pytest.approx(best.x, abs=0.02)


@given(case=association_graphs())
def test_the_matching_number_is_the_size_of_the_largest_matching(case):
    candidates, matrix = case
    there = matrix.sum(axis=1) > 0
    largest = max(len(c) for c in matchings(candidates) if there[c].all())
    assert matching_number(candidates, there) == largest


def test_probabilistic_matching_gives_as_many_as_asked():
    left, right, truth = moved_points(7)
    candidates, matrix = problem_of(left, right)
    for wanted in (1, 4, 7, 20):
        answer = probabilistic_matching(candidates, matrix, n_matches=wanted)
        assert len(answer.pairs) == min(wanted, 7)
        assert answer.scores.sum() == pytest.approx(min(wanted, 7), rel=1e-2)
    assert answer.pairs.tolist() == truth.tolist()


@pytest.mark.parametrize("wanted", [0, -1, 1.5, True])
def test_a_wrong_number_of_matches_is_refused(wanted):
    left, right, _ = moved_points(4)
    with pytest.raises(ValueError, match="n_matches: expected a positive number"):
        probabilistic_matching(*problem_of(left, right), n_matches=wanted)
