"""What the paper measures on points of the simplex, by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hypermodes import MatrixAffinity
from hypermodes.simplex import (
    Point,
    density,
    excess,
    mutual_affinity,
    negligible,
    room,
    spread,
    support,
    trim,
)
from strategies import points, simplex_points

EPS = np.finfo(float).eps

# A chain 1 - 0 - 2: the two ends have nothing in common.
CHAIN = MatrixAffinity(np.array([[0.0, 2.0, 4.0], [2.0, 0.0, 0.0], [4.0, 0.0, 0.0]]))


def at(*p):
    p = np.array(p)
    return Point(p, CHAIN.matvec(p))


def test_density_is_the_quadratic_form():
    assert density(at(0.5, 0.25, 0.25)) == 2 * (0.5 * 0.25 * 2 + 0.5 * 0.25 * 4)
    assert density(at(1.0, 0.0, 0.0)) == 0.0  # a hyperedge has no affinity to itself


def test_mutual_affinity_is_the_bilinear_form():
    x, y = np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.25, 0.75])
    assert mutual_affinity(CHAIN, x, y) == mutual_affinity(CHAIN, y, x) == 0.5 * 0.25 * 2 + 0.5 * 0.75 * 4


@given(points())
def test_density_is_the_affinity_of_a_point_to_itself(case):
    affinity, point = case
    # The payoff is the same product in both; the two sums over i may differ by the order of n terms.
    slack = 2 * affinity.n * EPS * density(point)
    assert abs(mutual_affinity(affinity, point.p, point.p) - density(point)) <= slack


def test_the_support_is_sorted_and_exact():
    assert support(np.array([0.5, 0.0, 0.5, 1e-300])).tolist() == [0, 2, 3]


def test_spread_looks_inside_and_excess_outside():
    point = at(0.5, 0.5, 0.0)  # payoffs 1, 1, 2 and F = 1
    assert spread(point) == 0.0
    assert excess(point) == 1.0
    point = at(0.25, 0.75, 0.0)  # payoffs 1.5, 0.5, 1 and F = 0.75
    assert spread(point) == 0.75
    assert excess(point) == 0.25


def test_excess_is_never_negative_and_0_where_nothing_is_outside():
    assert excess(at(0.5, 0.0, 0.5)) == 0.0  # payoffs 2, 1, 2: the one outside is below F = 2
    assert excess(at(0.5, 0.25, 0.25)) == 0.0


def test_trim_drops_what_is_small_and_not_gaining():
    tiny = 1e-12
    point = at(0.5, tiny, 0.5 - tiny)  # the payoff of hyperedge 1 is half of F
    trimmed = trim(point, CHAIN, tol=1e-9)
    assert support(trimmed.p).tolist() == [0, 2]
    assert trimmed.p.sum() == 1.0
    assert (trimmed.payoff == CHAIN.matvec(trimmed.p)).all()


def test_trim_keeps_what_is_small_but_gaining():
    tiny = 1e-12
    point = at(0.5, 0.5 - tiny, tiny)  # the payoff of hyperedge 2 is twice F: it is on its way in
    assert support(trim(point, CHAIN, tol=1e-9).p).tolist() == [0, 1, 2]


def test_trim_measures_smallness_against_the_largest_entry():
    # Seven ties: no entry is small beside the others, so nothing may go whatever the number of hyperedges.
    everyone = np.full(7, 1 / 7)
    affinity = MatrixAffinity(np.ones((7, 7)))
    point = Point(everyone, affinity.matvec(everyone))
    assert not negligible(point, tol=0.9).any()


@given(points())
def test_trimming_costs_nothing_but_rounding(case):
    affinity, point = case
    tol, matrix = 1e-9, affinity.matrix().toarray()
    trimmed = trim(point, affinity, tol)
    assert (trimmed.p >= 0).all()
    assert abs(trimmed.p.sum() - 1) <= affinity.n * EPS
    # To drop mass ε of payoff r and to rescale gives F' ≥ (F - 2εr)/(1 - ε)² ≥ F - 2ε(r - F)/(1 - ε)².
    # Here ε ≤ n tol and r - F ≤ tol F, so the loss is below 4 n tol² F; two F computed with the dense matrix
    # add 4 n eps F each.
    value = point.p @ matrix @ point.p
    slack = (4 * affinity.n * tol**2 + 8 * affinity.n * EPS) * value
    assert trimmed.p @ matrix @ trimmed.p >= value - slack


def test_room_ends_where_the_first_entry_vanishes():
    p = np.array([0.5, 0.25, 0.25, 0.0])
    furthest, vanishing = room(p, np.array([-0.5, -0.5, 0.0, 1.0]))
    assert furthest == 0.5
    assert vanishing.tolist() == [1]
    furthest, vanishing = room(p, np.array([-1.0, -0.5, -0.5, 2.0]))
    assert furthest == 0.5
    assert vanishing.tolist() == [0, 1, 2]


def test_there_is_no_room_to_leave_the_simplex_and_no_end_without_a_falling_entry():
    p = np.array([0.5, 0.5, 0.0])
    assert room(p, np.array([1.0, 0.0, -1.0]))[0] == 0.0
    assert room(p, np.array([0.0, 0.0, 1.0]))[0] == np.inf


@given(st.integers(2, 8).flatmap(lambda n: simplex_points(n, positive=True)))
def test_room_towards_a_hyperedge_ends_on_it(p):
    toward = np.zeros(p.size)
    toward[-1] = 1.0
    furthest, vanishing = room(p, toward - p)
    # Along e_n - p every other entry reaches 0 at the same time, c = 1.
    assert furthest == 1.0
    assert vanishing.tolist() == list(range(p.size - 1))
