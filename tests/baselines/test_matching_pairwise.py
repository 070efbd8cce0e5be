"""Spectral matching, IPFP, RRWM, graph shift, CLIPPER: each against its own objective and conditions."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
from hypermodes.baselines.matching import clipper as clipping
from hypermodes.baselines.matching.assignment import indicator, sums_by
from hypermodes.baselines.matching.clipper import Penalised, clipper, kkt_gap
from hypermodes.baselines.matching.graph_shift import graph_shift_matching, promising
from hypermodes.baselines.matching.ipfp import climb, ipfp, spectral_ipfp, substochastic
from hypermodes.baselines.matching.rrwm import bistochastic, reweighted_step, rrwm
from hypermodes.baselines.matching.spectral import leading_eigenvector, spectral_matching
from hypermodes.baselines.pairwise import nash_error
from hypermodes.construct.correspondences import Candidates
from matching_cases import association_graphs, matchings, moved_points, problem_of
from strategies import seeds, symmetric_matrices


@given(case=association_graphs())
def test_spectral_scores_are_the_leading_eigenvector(case):
    candidates, matrix = case
    answer = spectral_matching(candidates, matrix, max_steps=20_000)
    values, vectors = np.linalg.eigh(matrix)
    assert answer.value == pytest.approx(values[-1], rel=1e-6, abs=1e-12)
    assert (answer.scores >= 0).all()
    assert np.linalg.norm(answer.scores) == pytest.approx(1)
    if len(values) > 1 and values[-1] - values[-2] > 1e-3:
        assert abs(vectors[:, -1] @ answer.scores) == pytest.approx(1, abs=1e-6)


@given(matrix=symmetric_matrices())
def test_the_power_iteration_never_lowers_the_rayleigh_quotient(matrix):
    values = [leading_eigenvector(sp.csr_array(matrix), 0.0, steps)[1] for steps in range(1, 12)]
    assert (np.diff(values) >= -1e-12 * matrix.max(initial=1.0) * len(matrix)).all()


def test_a_bipartite_graph_does_not_make_it_swing():
    star = np.zeros((5, 5))
    star[0, 1:] = star[1:, 0] = 1.0  # eigenvalues 2 and -2
    x, value, steps = leading_eigenvector(sp.csr_array(star))
    assert value == pytest.approx(2)
    assert x == pytest.approx([np.sqrt(0.5), *(4 * [np.sqrt(1 / 8)])], abs=1e-8)
    assert steps < 2000


@given(case=association_graphs(), seed=seeds)
def test_ipfp_never_lowers_its_objective_and_stays_a_soft_matching(case, seed):
    candidates, values = case
    matrix = sp.csr_array(values)
    x = substochastic(candidates, np.random.default_rng(seed).uniform(size=len(candidates)))
    before = -1.0
    for _ in range(8):
        assert sums_by(candidates.left, x, candidates.n_left).max() <= 1 + 1e-12
        assert sums_by(candidates.right, x, candidates.n_right).max() <= 1 + 1e-12
        value = float(x @ values @ x)
        assert value >= before - 1e-12 * len(x)
        before = value
        x = climb(candidates, matrix, x, 1)[0]


@given(case=association_graphs(max_side=3))
def test_ipfp_ends_where_no_matching_earns_more(case):
    candidates, matrix = case
    answer = ipfp(candidates, matrix, max_steps=500)
    x = answer.scores
    rewards = matrix @ x
    assert max(rewards[chosen].sum() for chosen in matchings(candidates)) <= x @ rewards + 1e-6
    b = indicator(len(x), answer.chosen)
    assert answer.value == pytest.approx(b @ matrix @ b)
    best = max(indicator(len(x), c) @ matrix @ indicator(len(x), c) for c in matchings(candidates))
    assert answer.value <= best + 1e-12


@given(case=association_graphs(max_side=3))
def test_ipfp_stays_at_the_best_matching_of_all(case):
    candidates, matrix = case
    every = list(matchings(candidates))
    values = [indicator(len(matrix), c) @ matrix @ indicator(len(matrix), c) for c in every]
    start = indicator(len(matrix), every[int(np.argmax(values))])
    assume(start.any())
    assert ipfp(candidates, matrix, start=start).value == pytest.approx(max(values))


@given(case=association_graphs(full=True), seed=seeds)
def test_sinkhorn_gives_rows_and_columns_that_sum_to_one(case, seed):
    candidates, _ = case
    x = bistochastic(candidates, np.random.default_rng(seed).uniform(0.1, 1, len(candidates)), 1e-9, 5000)
    rows = sums_by(candidates.left, x, candidates.n_left)
    columns = sums_by(candidates.right, x, candidates.n_right)
    short, long = (rows, columns) if len(rows) <= len(columns) else (columns, rows)
    assert short == pytest.approx(np.ones(len(short)), abs=1e-6)
    assert (long <= 1 + 1e-6).all()


@given(case=association_graphs(full=True))
def test_rrwm_ends_at_a_fixed_point_of_its_walk(case):
    candidates, matrix = case
    assume(matrix.any())
    answer = rrwm(candidates, matrix, max_steps=1000)
    x = answer.scores
    assert x.sum() == pytest.approx(1)
    assert (x >= 0).all()
    walk = matrix / matrix.sum(axis=1).max()
    if answer.value <= 1e-6:
        again = reweighted_step(candidates, walk @ x, 0.2, 30.0)
        assert np.abs(again - x).sum() <= 1e-5


def test_rrwm_converges_on_a_plain_problem():
    left, right, truth = moved_points()
    answer = rrwm(*problem_of(left, right))
    assert answer.value <= 1e-6
    assert sorted(answer.pairs.tolist()) == truth.tolist()


@given(case=association_graphs())
def test_the_mode_of_graph_shift_satisfies_the_first_order_conditions(case):
    candidates, matrix = case
    assume(matrix.any())
    answer = graph_shift_matching(candidates, matrix, tol=1e-7, max_steps=20_000)
    x = answer.scores
    assert x.sum() == pytest.approx(1)
    assert answer.value == pytest.approx(x @ matrix @ x)
    assert nash_error(x, matrix @ x) <= 1e-3
    assert answer.value <= oracles.standard_quadratic_maximum(matrix) + 1e-9


def test_starts_are_the_best_candidates_of_the_best_left_points():
    candidates = Candidates(np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]]), np.ones(5), 3, 3)
    matrix = np.zeros((5, 5))
    for i, j, value in ((0, 3, 1.0), (1, 2, 0.5), (0, 4, 0.2)):
        matrix[i, j] = matrix[j, i] = value
    assert promising(candidates, sp.csr_array(matrix), 10).tolist() == [0, 3, 4]
    assert promising(candidates, sp.csr_array(matrix), 2).tolist() == [0, 3]


@given(matrix=symmetric_matrices(), seed=seeds, d=st.floats(0, 10))
def test_the_penalty_is_what_it_says(matrix, seed, d):
    u = np.random.default_rng(seed).uniform(size=len(matrix))
    inconsistent = (matrix == 0) & ~np.eye(len(matrix), dtype=bool)
    wanted = u @ (np.eye(len(matrix)) + matrix - d * inconsistent) @ u
    scale = (1 + d + matrix.max(initial=0.0)) * len(u) ** 2
    assert Penalised.of(sp.csr_array(matrix)).value(u, d) == pytest.approx(wanted, abs=1e-12 * scale)


@given(case=association_graphs(), d=st.floats(0, 5), seed=seeds)
def test_the_ascent_ends_at_a_first_order_point_and_never_falls(case, d, seed):
    candidates, matrix = case
    problem = Penalised.of(sp.csr_array(matrix))
    u = np.random.default_rng(seed).uniform(0.1, 1, len(candidates))
    u /= np.linalg.norm(u)
    before = problem.value(u, d)
    for _ in range(5):
        u, _ = clipping.ascend(problem, u, d, 1e-9, 1)
        assert np.linalg.norm(u) == pytest.approx(1)
        value = problem.value(u, d)
        assert value >= before - 1e-9
        before = value
    u, _ = clipping.ascend(problem, u, d, 1e-7, 20_000)
    assert kkt_gap(u, problem.gradient(u, d)) <= 1e-5 * (1 + d) * len(u)


@given(case=association_graphs(max_side=3))
def test_clipper_gives_a_clique_no_denser_than_the_densest(case):
    candidates, matrix = case
    answer = clipper(candidates, matrix)
    u = answer.scores
    support = np.flatnonzero(u)
    assert all(matrix[i, j] > 0 for i in support for j in support if i != j)
    assert answer.value == pytest.approx(u @ (np.eye(len(u)) + matrix) @ u)
    cliques = [
        c for c in matchings(candidates) if len(c) and all(matrix[i, j] > 0 for i in c for j in c if i != j)
    ]
    best = max(np.linalg.eigvalsh(np.eye(len(c)) + matrix[np.ix_(c, c)])[-1] for c in cliques)
    assert answer.value <= best + 1e-6
    assert len(answer.chosen) <= round(answer.value)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_clipper_finds_a_planted_clique_among_weaker_ones(seed):
    left, right, truth = moved_points(8, extra=3, seed=seed)
    candidates, matrix = problem_of(left, right)
    answer = clipper(candidates, matrix)
    assert answer.pairs.tolist() == truth.tolist()
    true = [int(np.flatnonzero((candidates.pairs == pair).all(axis=1))[0]) for pair in truth]
    best = np.linalg.eigvalsh(np.eye(8) + matrix[true][:, true].toarray())[-1]
    assert answer.value == pytest.approx(best, rel=1e-6)


def test_equals_that_clash_do_not_stand_on_the_ridge_between_them():
    candidates = Candidates(np.array([[0, 0], [1, 0]]), np.ones(2), 2, 2)
    answer = clipper(candidates, np.zeros((2, 2)))
    assert answer.chosen.tolist() == [0]
    assert answer.value == pytest.approx(1)


def test_spectral_ipfp_is_at_least_as_good_as_spectral_matching_by_the_objective():
    left, right, _ = moved_points(8, extra=6, noise=0.05)
    candidates, matrix = problem_of(left, right)
    x = indicator(len(candidates), spectral_matching(candidates, matrix).chosen)
    assert spectral_ipfp(candidates, matrix).value >= x @ (matrix @ x)
