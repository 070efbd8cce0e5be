"""Expansion by voting: Eq. (9)-(13), the repaired step, and the step as printed."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
from hypermodes import FaceSolve, HyperedgeAffinity, Hypergraph, MatrixAffinity, Voting, find_modes
from hypermodes.dynamics import climb_support
from hypermodes.simplex import Point, density, support
from hypermodes.voting import (
    PrintedVoting,
    average_weighted_degree,
    closeness,
    direction,
    printed_direction,
    printed_step_length,
    proportional,
    relative_closeness,
    sparing_seeds,
    step_length,
    violators,
    votes,
)
from strategies import (
    affinities,
    generic_hypergraphs,
    hypergraphs,
    points,
    symmetric_matrices,
    tied_hypergraphs,
)

EPS = np.finfo(float).eps
both_retreats = pytest.mark.parametrize("retreat", [proportional, sparing_seeds])


def subsets(n, smallest=1, largest=None):
    chosen = st.sets(st.integers(0, n - 1), min_size=smallest, max_size=largest or n)
    return chosen.map(lambda members: np.array(sorted(members)))


@st.composite
def sub_modes(draw):
    """An affinity and the mode of one of its subhypergraphs, with a hyperedge outside that would help."""
    affinity = draw(st.one_of(affinities(), tied_hypergraphs().map(HyperedgeAffinity)))
    start = draw(subsets(affinity.n, 1, 3))
    p = np.zeros(affinity.n)
    p[start] = 1 / start.size
    point = climb_support(affinity, Point(p, affinity.matvec(p)), FaceSolve()).point
    assume(violators(point, 1e-9).size > 0)
    return affinity, point


# -- dominant seeds -----------------------------------------------------------------------------------


@given(symmetric_matrices(), st.data())
def test_degree_and_closeness_are_eq_9_and_10(matrix, data):
    affinity, n = MatrixAffinity(matrix), len(matrix)
    subset = data.draw(subsets(n))
    i, j = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    degrees = average_weighted_degree(affinity, subset, np.arange(n))
    expected = [oracles.average_weighted_degree(matrix, subset, k) for k in range(n)]
    # A mean of at most 8 non-negative numbers, in two orders.
    assert degrees == pytest.approx(expected, rel=16 * EPS, abs=0)
    slack = 16 * EPS * matrix.max()
    assert relative_closeness(affinity, subset, i, j) == pytest.approx(
        oracles.relative_closeness(matrix, subset, i, j), abs=slack
    )


def test_closeness_by_hand():
    # w_{0,1}(e_0) = M_01 and w_{0,1}(e_1) = M_01: two hyperedges share equally, whatever their affinity.
    pair = MatrixAffinity(np.array([[0.0, 3.0], [3.0, 0.0]]))
    assert closeness(pair, np.array([0, 1])) == pytest.approx([0.5, 0.5], rel=4 * EPS)
    assert closeness(pair, np.array([1])).tolist() == [1.0]
    # e_2 is closer to e_0 and e_1 than nothing, but less than they are used to.
    three = MatrixAffinity(np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 0.5], [1.0, 0.5, 0.0]]))
    assert closeness(three, np.array([0, 1, 2]))[2] < 0


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
def test_closeness_is_the_recursion(size):
    negative = 0
    for seed in range(40):
        rng = np.random.default_rng([size, seed])
        matrix = rng.uniform(0.0, 1.0, (8, 8))
        matrix = np.triu(matrix, 1) + np.triu(matrix, 1).T
        subset = np.sort(rng.choice(8, size, replace=False))
        expected = oracles.closeness(matrix, subset)
        # Both sides lose digits where W(S) is near 0, as the bordered system that defines the shares does.
        bordered = np.ones((size + 1, size + 1))
        bordered[0, 0] = 0.0
        bordered[1:, 1:] = matrix[np.ix_(subset, subset)]
        slack = 1000 * EPS * np.linalg.cond(bordered) * np.abs(expected).max()
        assert closeness(MatrixAffinity(matrix), subset) == pytest.approx(expected, abs=slack)
        negative += (expected < 0).any()
    assert negative > 0 or size == 2  # the signs of Eq. (11) were exercised


@given(generic_hypergraphs())
def test_at_a_strict_mode_closeness_is_the_mode(hypergraph):
    affinity = HyperedgeAffinity(hypergraph)
    for mode in find_modes(hypergraph):
        if mode.certificate.is_strict(1e-4):
            # The residual of the mode, 1e-9 F at most and a few eps in practice, over a curvature of 1e-4 F.
            assert closeness(affinity, mode.support) == pytest.approx(mode.weights, abs=1e-6)


def test_closeness_that_is_not_determined_is_an_error_that_says_so():
    flat = MatrixAffinity(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    with pytest.raises(np.linalg.LinAlgError, match=r"^subset: .* not determined"):
        closeness(flat, np.array([0, 1, 2]))


# -- votes and direction ------------------------------------------------------------------------------


def test_votes_are_the_mode_mass_a_hyperedge_touches():
    built = Hypergraph.from_edges([["a", "b"], ["b", "c"], ["a", "z"], ["c", "y"], ["a", "c"], ["q"]])
    affinity = HyperedgeAffinity(built)
    p = np.array([0.25, 0.75, 0.0, 0.0, 0.0, 0.0])
    assert votes(affinity, Point(p, affinity.matvec(p)), np.array([2, 3, 4, 5])).tolist() == [
        0.25,
        0.75,
        1.0,
        0.0,
    ]


@given(hypergraphs(), st.data())
def test_votes_are_summed_over_the_hyperedges_that_intersect(hypergraph, data):
    affinity = HyperedgeAffinity(hypergraph)
    sets = [set(edge) for edge in oracles.edges_of(hypergraph)]
    seeds = data.draw(subsets(affinity.n))
    p = np.zeros(affinity.n)
    p[seeds] = 1 / seeds.size
    candidates = np.flatnonzero(p == 0)
    expected = [sum(p[j] for j in seeds if sets[i] & sets[j]) for i in candidates]
    assert votes(affinity, Point(p, affinity.matvec(p)), candidates) == pytest.approx(expected, rel=20 * EPS)


def test_the_direction_is_votes_times_gain():
    # e_2 meets only e_0 (vote 1/2) and e_3 meets both (vote 1); both have payoff 3 where F = 1.
    matrix = np.array(
        [[0.0, 2.0, 6.0, 3.0], [2.0, 0.0, 0.0, 3.0], [6.0, 0.0, 0.0, 0.0], [3.0, 3.0, 0.0, 0.0]]
    )
    affinity, p = MatrixAffinity(matrix), np.array([0.5, 0.5, 0.0, 0.0])
    h = direction(affinity, Point(p, affinity.matvec(p)), np.array([2, 3]))
    assert h == pytest.approx([-1 / 2, -1 / 2, 1 / 3, 2 / 3], rel=4 * EPS)


@both_retreats
@given(case=sub_modes())
def test_the_direction_stays_on_the_simplex_and_goes_up(retreat, case):
    affinity, point = case
    candidates = violators(point, 1e-9)
    h = direction(affinity, point, candidates, retreat)
    assert abs(h.sum()) <= 4 * affinity.n * EPS  # two sums of n terms that make 1
    assert (h[candidates] > 0).all()
    assert (h[support(point.p)] <= 0).all()
    assert not np.delete(h, [*candidates, *support(point.p)]).any()
    assert h @ point.payoff > 0  # half the slope of F


def test_sparing_seeds_takes_least_from_the_strongest():
    p = np.array([0.5, 0.3, 0.2])
    taken = sparing_seeds(p)
    assert taken == pytest.approx([0.25, 0.35, 0.4], rel=4 * EPS)  # (1 - p) / 2
    assert proportional(p).tolist() == p.tolist()
    assert sparing_seeds(np.array([1.0])).tolist() == [1.0]  # there is only one to take from


@given(st.floats(1e-3, 10), st.floats(-10, 10), st.floats(0.01, 10))
def test_the_step_length_maximises_the_gain(slope, bend, furthest):
    def gain(c):  # Q(c) of Eq. (13)
        return c * c * bend + 2 * c * slope

    best = step_length(slope, bend, furthest)
    assert 0 <= best <= furthest
    grid = np.linspace(0.0, furthest, 1001)
    # Q is computed from two terms: a few eps of their sizes.
    assert gain(best) >= gain(grid).max() - 4 * EPS * (furthest**2 * abs(bend) + 2 * furthest * slope)


# -- the expansion ------------------------------------------------------------------------------------


@both_retreats
@given(case=sub_modes())
def test_an_expansion_raises_the_density_and_stays_on_the_simplex(retreat, case):
    affinity, point = case
    moved = Voting(retreat=retreat).expand(affinity, point, 1e-9)
    assert (moved.p >= 0).all()
    assert abs(moved.p.sum() - 1) <= affinity.n * EPS
    assert (moved.payoff == affinity.matvec(moved.p)).all()
    assert density(moved) > density(point)
    assert set(support(moved.p)) - set(support(point.p)) <= set(violators(point, 1e-9))


@given(points())
def test_there_is_an_expansion_exactly_if_someone_outside_would_help(case):
    affinity, point = case
    helpful = (point.p == 0) & (point.payoff > density(point) * (1 + 1e-9))
    assert violators(point, 1e-9).tolist() == np.flatnonzero(helpful).tolist()
    assert (Voting().expand(affinity, point, 1e-9) is None) == (not helpful.any())


@both_retreats
def test_a_start_keeps_half_its_mass(retreat):
    # F = 0 at a single hyperedge and F bends down along h, but without a bound it might leave all of it.
    affinity = MatrixAffinity(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 9.0], [1.0, 9.0, 0.0]]))
    moved = Voting(retreat=retreat).expand(affinity, Point(np.array([1.0, 0.0, 0.0]), affinity.row(0)), 1e-9)
    assert moved.p.tolist() == [0.5, 0.25, 0.25]


@pytest.mark.parametrize("admit", [1, 2, 3, 4, None])
def test_at_most_so_many_are_admitted_the_strongest_first(admit):
    # A start with four neighbours of different affinity, in no particular order.
    strengths = np.array([2.0, 4.0, 1.0, 3.0])
    matrix = np.zeros((5, 5))
    matrix[0, 1:] = matrix[1:, 0] = strengths
    affinity = MatrixAffinity(matrix)
    point = Point(np.array([1.0, 0.0, 0.0, 0.0, 0.0]), matrix[0])
    moved = Voting(admit=admit).expand(affinity, point, 1e-9)
    expected = 1 + np.argsort(-strengths)[: admit or 4]
    assert set(np.flatnonzero(moved.p[1:]) + 1) == set(expected)


@given(sub_modes())
def test_a_cap_still_raises_the_density(case):
    affinity, point = case
    moved = Voting(admit=1).expand(affinity, point, 1e-9)
    assert density(moved) > density(point)
    assert len(set(support(moved.p)) - set(support(point.p))) == 1


# -- the step as printed ------------------------------------------------------------------------------


@pytest.fixture
def printed_example():
    """Two hyperedges that share one vertex, and a third that shares one and two vertices with them.

    M_01 = 1, M_02 = 5/6, M_12 = 5/3. At p = (1/2, 1/2, 0): F = 1/2 and the payoff of e_2 is 5/4.
    """
    affinity = HyperedgeAffinity(Hypergraph.from_edges([["a", "d"], ["a", "c"], ["a", "b", "c"]]))
    p = np.array([0.5, 0.5, 0.0])
    return affinity, Point(p, affinity.matvec(p))


def test_the_printed_direction_leaves_the_simplex(printed_example):
    h = printed_direction(*printed_example)
    # p_i - 1 on the support, votes times gain = 1·(5/4 - 1/2) outside: the sum is -1/4.
    assert h == pytest.approx([-0.5, -0.5, 0.75], rel=10 * EPS)


def test_the_printed_step_lowers_the_density(printed_example):
    affinity, point = printed_example
    # pᵀMh = -1/2 + 15/16 = 7/16, over λ = 1/2: c = 7/8, below the bound p_i/(1 - p_i) = 1.
    assert printed_step_length(point, printed_direction(affinity, point)) == pytest.approx(
        7 / 8, rel=20 * EPS
    )
    moved = PrintedVoting().expand(affinity, point, 1e-9)
    assert moved.p == pytest.approx([2 / 25, 2 / 25, 21 / 25], rel=40 * EPS)
    assert density(moved) == pytest.approx(218 / 625, rel=80 * EPS)
    assert density(moved) < density(point)


def test_the_repaired_step_raises_it_from_there(printed_example):
    affinity, point = printed_example
    assert density(Voting().expand(affinity, point, 1e-9)) > density(point)


def test_the_printed_step_cannot_be_made_from_a_single_hyperedge(printed_example):
    affinity, _ = printed_example
    start = Point(np.array([1.0, 0.0, 0.0]), affinity.row(0))
    h = printed_direction(affinity, start)
    assert not np.isfinite(printed_step_length(start, h))
    assert PrintedVoting().expand(affinity, start, 1e-9) is None
