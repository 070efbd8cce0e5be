"""Each dynamics rule by hand, and against the others."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
from hypermodes import (
    FaceSolve,
    HyperedgeAffinity,
    InfectionImmunization,
    MatrixAffinity,
    Replicator,
    find_modes,
)
from hypermodes import dynamics as dynamics_module
from hypermodes.affinity import Restriction
from hypermodes.dynamics import climb, climb_support
from hypermodes.simplex import Point, density, spread, support
from strategies import affinities, generic_hypergraphs, points, seeds, simplex_points, tied_hypergraphs

EPS = np.finfo(float).eps
STAR = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])


def at(face, *p):
    p = np.array(p)
    return Point(p, face @ p)


# -- one step, by hand --------------------------------------------------------------------------------


def test_a_replicator_step_is_eq_8():
    # Payoffs (3/4, 1/4, 1/4) and F = 3/8: the shares are multiplied by 2, 2/3, 2/3.
    moved = Replicator().step(at(STAR, 0.25, 0.5, 0.25), STAR)
    assert moved.p == pytest.approx([1 / 2, 1 / 3, 1 / 6], rel=4 * EPS)
    assert moved.payoff == pytest.approx([1 / 2, 1 / 2, 1 / 2], rel=4 * EPS)


def test_an_infection_moves_towards_the_best_by_the_best_amount():
    # Gains (3/8, -1/8, -1/8). Along e_0 - p the slope is 3/8 and the bend 0 - 2·3/4 + 3/8 = -9/8: a third.
    moved = InfectionImmunization().step(at(STAR, 0.25, 0.5, 0.25), STAR)
    assert moved.p == pytest.approx([1 / 2, 1 / 3, 1 / 6], rel=4 * EPS)


def test_an_immunization_moves_away_from_the_worst_until_it_is_gone():
    face = np.array([[0.0, 4.0, 1.5], [4.0, 0.0, 1.5], [1.5, 1.5, 0.0]])
    # Payoffs (1.9, 1.9, 1.2) and F = 1.76: the worst is 0.56 below, the best 0.14 above.
    moved = InfectionImmunization().step(at(face, 0.4, 0.4, 0.2), face)
    assert moved.p.tolist() == [0.5, 0.5, 0.0]


def test_ties_are_infected_together():
    face = 1.0 - np.eye(4)
    face[3] = face[:, 3] = 0.0
    # From hyperedge 0 alone F = 0, and 1 and 2 have the same payoff: half of the way to their mix.
    moved = InfectionImmunization().step(at(face, 1.0, 0.0, 0.0, 0.0), face)
    assert moved.p[1] == moved.p[2] > 0
    assert moved.p[3] == 0.0


def test_a_face_solve_reaches_the_stationary_point_at_once():
    # M x = λ1 with x_0 = x_1 = x and x_2 = z: 3x + 2z = 4x and 2x + z = 1, so x = 2/5 and z = 1/5.
    face = np.array([[0.0, 3.0, 2.0], [3.0, 0.0, 2.0], [2.0, 2.0, 0.0]])
    moved = FaceSolve().step(at(face, 0.2, 0.5, 0.3), face)
    assert moved.p == pytest.approx([2 / 5, 2 / 5, 1 / 5], rel=20 * EPS)


def test_a_face_solve_stops_at_the_border_on_the_way():
    # The ends of a chain have nothing in common: F is flat between them, the payoffs differ, one must go.
    face = np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    climbed = climb(face, at(face, 0.4, 0.3, 0.3), FaceSolve())
    assert climbed.point.p == pytest.approx([0.5, 0.5, 0.0], rel=20 * EPS)
    assert climbed.point.p[2] == 0.0


def test_a_face_solve_leaves_a_saddle():
    face = np.kron(np.eye(2), 1.0 - np.eye(2))  # two equal disjoint pairs
    climbed = climb(face, at(face, 0.25, 0.25, 0.25, 0.25), FaceSolve())
    assert density(climbed.point) == pytest.approx(0.5, rel=20 * EPS)
    assert support(climbed.point.p).size == 2


# -- the rules among themselves -----------------------------------------------------------------------


@given(points(affinities(), positive=True))
def test_where_two_rules_end_on_one_support_they_agree_on_the_density(case):
    affinity, point = case
    first = climb_support(affinity, point, Replicator(tol=1e-6))
    second = climb_support(affinity, point, InfectionImmunization())
    assume(first.converged and second.converged)
    assume(support(first.point.p).tolist() == support(second.point.p).tolist())
    # Mp = F_p + u and Mq = F_q + v on the support with |u| ≤ 1e-6 F_p, |v| ≤ 1e-9 F_q, so that
    # F_p - F_q = (qᵀMp - qᵀu) - (pᵀMq - pᵀv) is at most (1e-6 + 1e-9) of the larger.
    assert density(first.point) == pytest.approx(density(second.point), rel=2e-6, abs=1e-300)


@given(generic_hypergraphs(), st.data())
def test_closeness_of_a_dominant_set_is_where_a_face_solve_goes(hypergraph, data):
    matrix = oracles.affinity_of(hypergraph)
    for mode in find_modes(hypergraph):
        if not mode.certificate.is_strict(1e-4) or len(mode) > 6:  # the recursion of Eq. (11) is exponential
            continue
        face = matrix[np.ix_(mode.support, mode.support)]
        start = data.draw(simplex_points(len(mode), positive=True))
        climbed = climb(face, Point(start, face @ start), FaceSolve())
        # From a corner the solve may meet the border first and end on a smaller face.
        if (climbed.point.p > 0).all():
            expected = oracles.closeness(matrix, mode.support.tolist())
            # Strictness bounds the curvature below by 1e-4 F: residuals of eps M are magnified by M/(1e-4 F).
            slack = 1e4 * face.max() / mode.density * 100 * EPS
            assert climbed.point.p == pytest.approx(expected, abs=slack)


def permuted(face, point, order):
    swapped = face[np.ix_(order, order)]
    return swapped, Point(point.p[order], swapped @ point.p[order])


@given(tied_hypergraphs(), seeds)
def test_infection_immunization_does_not_depend_on_the_order_of_hyperedges(hypergraph, seed):
    face = oracles.affinity_of(hypergraph)
    rng = np.random.default_rng(seed)
    shares = rng.integers(1, 4, len(face))
    point, rule = at(face, *(shares / shares.sum())), InfectionImmunization()
    for _ in range(8):
        if rule.at_rest(point):
            break
        order = rng.permutation(len(face))
        swapped, same = permuted(face, point, order)
        moved = rule.step(point, face)
        # One step from the same point: only sums of n ≤ 8 terms are rounded differently.
        assert rule.step(same, swapped).p == pytest.approx(moved.p[order], abs=1e-12)
        point = moved


def test_the_order_plays_no_part_where_infection_and_immunization_gain_the_same():
    # Gains (0.09375, -0.09375, -0.375, 0): best and worst of the support are equal in size but for rounding.
    edges = [[5, 0, 1, 3], [5, 3, 1, 2], [2], [0, 3]]
    face = oracles.affinity_by_sets([dict.fromkeys(edge, 1.0) for edge in edges], [1.0] * 4)
    point = at(face, 0.375, 0.375, 0.0, 0.25)
    moved = InfectionImmunization().step(point, face)
    for order in ([1, 0, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1], [1, 2, 3, 0], [3, 0, 2, 1]):
        swapped, same = permuted(face, point, np.array(order))
        # The rounding of the payoffs is made visible: which of two equal gains is larger is an accident.
        for nudge in (-4 * EPS, 0.0, 4 * EPS):
            nudged = Point(same.p, same.payoff * (1 + nudge * (same.p == 0.375)))
            assert InfectionImmunization().step(nudged, swapped).p == pytest.approx(moved.p[order], abs=1e-12)


def test_rounding_does_not_decide_who_leaves():
    # e_2 has payoff 0.8 where F = 1.6, half of it but for rounding, and e_3 likewise on the other side.
    pair = np.array([[0.0, 4.0], [4.0, 0.0]])
    face = np.block([[pair, np.ones((2, 2))], [np.ones((2, 2)), np.zeros((2, 2))]])
    point = at(face, 0.4, 0.4, 0.1, 0.1)
    accidents = 4 * EPS * np.array([[0, 0, 0, 0], [0, 0, 1, -1], [0, 0, -1, 1], [0, 0, 1, 1], [0, 0, -1, -1]])
    nudged = [Point(point.p, point.payoff * (1 + accident)) for accident in accidents]
    first, *others = [InfectionImmunization().step(same, face).p for same in nudged]
    for other in others:
        assert other == pytest.approx(first, abs=1e-12)


# -- the loop -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 3])
@pytest.mark.parametrize("kind", [Replicator, InfectionImmunization])
def test_a_budget_is_kept_and_its_end_is_reported(kind, budget):
    rng = np.random.default_rng(0)
    face = rng.uniform(size=(8, 8)) * (1 - np.eye(8))
    face += face.T
    climbed = climb(face, at(face, *np.full(8, 1 / 8)), kind(max_steps=budget))
    assert climbed.steps == budget
    assert not climbed.converged


def test_a_climb_at_rest_takes_no_step():
    for rule in (Replicator(), InfectionImmunization()):
        climbed = climb(STAR, at(STAR, 0.5, 0.25, 0.25), rule)
        assert (climbed.steps, climbed.converged) == (0, True)


def test_the_payoff_is_refreshed_on_a_long_climb(monkeypatch):
    # With a refresh after every step the payoff is exact; without, it drifts by rounding only.
    rng = np.random.default_rng(1)
    face = rng.uniform(size=(30, 30)) * (1 - np.eye(30))
    face += face.T
    start = at(face, *np.full(30, 1 / 30))
    drifting = climb(face, start, InfectionImmunization())
    monkeypatch.setattr(dynamics_module, "_REFRESH", 1)
    fresh = climb(face, start, InfectionImmunization())
    assert (fresh.point.payoff == face @ fresh.point.p).all()
    assert density(drifting.point) == pytest.approx(density(fresh.point), rel=1e-9)


def test_a_climb_stays_on_its_support_and_ends_trimmed():
    affinity = MatrixAffinity(np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 9.0], [9.0, 9.0, 0.0]]))
    p = np.array([0.3, 0.7, 0.0])
    climbed = climb_support(affinity, Point(p, affinity.matvec(p)), Replicator(), FaceSolve())
    assert climbed.point.p == pytest.approx([0.5, 0.5, 0.0], rel=20 * EPS)
    assert climbed.point.p[2] == 0.0
    assert (climbed.point.payoff == affinity.matvec(climbed.point.p)).all()


@given(generic_hypergraphs())
def test_a_face_without_its_matrix_leads_to_the_same_place(hypergraph):
    affinity = HyperedgeAffinity(hypergraph)
    everyone = np.arange(affinity.n)
    p = np.full(affinity.n, 1 / affinity.n)
    dense, free = affinity.restrict(everyone), Restriction(affinity, everyone)
    assume(dense.any())
    one = climb(dense, Point(p, dense @ p), InfectionImmunization())
    other = climb(free, Point(p, free @ p), InfectionImmunization())
    # Both are at rest within 1e-9 of F on the face; the same path but for rounding.
    assert density(one.point) == pytest.approx(density(other.point), rel=1e-8)
    assert max(spread(one.point), spread(other.point)) <= 1e-9 * density(one.point)
