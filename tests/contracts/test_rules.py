"""What every dynamics rule promises: it stays on the simplex, never loses density, and ends at Eq. (7)."""

import numpy as np
import pytest
from hypothesis import assume, given

from hypermodes import FaceSolve, InfectionImmunization, Replicator
from hypermodes.dynamics import climb, climb_support
from hypermodes.simplex import Point, density
from strategies import affinities, points

EPS = np.finfo(float).eps

# Replicator dynamics converges slowly, so it is asked for less here; FaceSolve has no budget to spare.
RULES = [Replicator(tol=1e-6), InfectionImmunization(), FaceSolve()]
every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)


def on_the_face(case):
    """The dense face of an affinity, and a point of positive density with every hyperedge in play."""
    affinity, point = case
    face = affinity.restrict(np.arange(affinity.n))
    assume(face.any())
    return face, Point(point.p, face @ point.p)


@every_rule
@given(case=points(affinities(), positive=True))
def test_every_step_keeps_the_simplex_and_never_lowers_the_density(rule, case):
    face, point = on_the_face(case)
    n = len(face)
    # After a step p is divided by its sum, which leaves a relative error of n eps in p and of 2n eps in F;
    # computing F = pᵀ(Mp) twice adds 2n eps each. F is at most the largest affinity.
    slack = 8 * n * EPS * face.max()
    for _ in range(60):
        if rule.at_rest(point):
            break
        moved = rule.step(point, face)
        if moved is point:
            break
        assert (moved.p >= 0).all()
        assert abs(moved.p.sum() - 1) <= n * EPS
        assert moved.p @ face @ moved.p >= point.p @ face @ point.p - slack
        # A rule may update the payoff instead of computing it afresh: a few eps a step.
        assert np.abs(moved.payoff - face @ moved.p).max() <= 60 * slack
        point = moved


@every_rule
@given(case=points(affinities(), positive=True))
def test_the_climb_reports_what_it_did(rule, case):
    face, point = on_the_face(case)
    climbed = climb(face, point, rule)
    assert climbed.steps == len(climbed.densities) <= rule.max_steps
    if climbed.steps:
        # The last density is that of the point, but for the payoff that is computed afresh now and then.
        assert climbed.densities[-1] == pytest.approx(density(climbed.point), rel=1e-10)
    else:
        assert climbed.point is point


@every_rule
@given(case=points(affinities(), positive=True))
def test_a_climb_that_converged_ends_where_all_payoffs_on_the_support_agree(rule, case):
    affinity, point = case
    face, _ = on_the_face(case)
    climbed = climb_support(affinity, point, rule)
    assume(climbed.converged)
    p = climbed.point.p
    payoff, value = face @ p, p @ face @ p
    # The rule stops at tol F; to trim entries below tol moves every payoff by at most n tol max M; and F, Mp
    # and the residual of a linear solve carry rounding of some n eps max M.
    slack = rule.tol * value + len(face) * (rule.tol + 20 * EPS) * face.max()
    assert np.abs(payoff[p > 0] - value).max() <= slack


@pytest.mark.parametrize("rule", RULES[:2], ids=lambda rule: type(rule).__name__)
@given(case=points(affinities(), positive=True))
def test_a_rule_that_may_admit_anyone_leaves_no_one_outside_who_would_help(rule, case):
    affinity, point = case
    face, _ = on_the_face(case)
    climbed = climb_support(affinity, point, rule)
    assume(climbed.converged)
    p = climbed.point.p
    payoff, value = face @ p, p @ face @ p
    # Second line of Eq. (7), with the slack of the first.
    slack = rule.tol * value + len(face) * (rule.tol + 20 * EPS) * face.max()
    assert (payoff[p == 0] <= value + slack).all()


@every_rule
def test_a_point_of_density_0_stays_where_it_is(rule):
    face = np.zeros((3, 3))
    point = Point(np.array([0.5, 0.25, 0.25]), np.zeros(3))
    climbed = climb(face, point, rule)
    assert climbed.point.p.tolist() == [0.5, 0.25, 0.25]
    assert climbed.converged


@every_rule
def test_rules_are_values(rule):
    assert rule == type(rule)(tol=rule.tol, max_steps=rule.max_steps)
    assert hash(rule) == hash(type(rule)(tol=rule.tol, max_steps=rule.max_steps))
    with pytest.raises(AttributeError):
        rule.tol = 1.0
