"""EHC: its line function, its direction against a linear programme, its ends against affinity ensembles."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.metrics import adjusted_rand_score

from hypermodes import Hypergraph
from hypermodes.baselines.affinity_ensembles import affinity_ensembles
from hypermodes.baselines.capped import kkt_gap, least_size, neighbourhood_start, objective, rewards
from hypermodes.baselines.ehc import ascend, best_amount, ehc, line_function, vertex_of_domain
from hypermodes.baselines.uniform import UniformHypergraph
from strategies import simplex_points, uniform_hypergraphs

EPS = np.finfo(float).eps
caps = st.sampled_from([1.0, 0.5, 0.4, 0.3])


@given(hypergraph=uniform_hypergraphs(sizes=(2, 3, 4, 5)), data=st.data())
def test_the_line_function_is_f_along_the_line(hypergraph, data):
    hypergraph = UniformHypergraph.of(hypergraph)
    x, y = data.draw(simplex_points(hypergraph.n)), data.draw(simplex_points(hypergraph.n))
    coefficients = line_function(hypergraph, x, y)
    assert coefficients.size == hypergraph.k + 1
    for alpha in np.linspace(0, 1, 7):
        exact = objective(hypergraph, x + alpha * (y - x))
        # At most 12 products, times 5!, with coefficients of size at most 2^5 that cancel.
        slack = 12 * 120 * 32 * 20 * EPS
        assert np.polynomial.polynomial.polyval(alpha, coefficients) == pytest.approx(exact, abs=slack)
    best = objective(hypergraph, x + best_amount(coefficients) * (y - x))
    grid = [objective(hypergraph, x + alpha * (y - x)) for alpha in np.linspace(0, 1, 101)]
    assert best >= max(grid) - 1e-9


@given(coefficients=st.lists(st.floats(-10, 10, allow_subnormal=False), min_size=3, max_size=6))
def test_the_amount_is_where_the_polynomial_is_largest(coefficients):
    coefficients = np.array(coefficients)
    value = np.polynomial.polynomial.polyval
    found = best_amount(coefficients)
    assert 0 <= found <= 1
    # A root of multiplicity m is found to eps^(1/m) only, but there the polynomial is as flat.
    assert value(found, coefficients) >= value(np.linspace(0, 1, 201), coefficients).max() - 1e-6


def test_a_line_that_falls_or_is_constant_has_an_amount_too():
    assert best_amount(np.array([1.0, -1.0, 0.0])) == 0.0
    assert best_amount(np.array([1.0, 1.0, 0.0])) == 1.0
    assert best_amount(np.array([1.0, 0.0, 0.0])) in (0.0, 1.0)
    assert best_amount(np.array([0.0, 1.0, -1.0])) == pytest.approx(0.5)


@pytest.mark.parametrize("dust", [0.0, 1e-20, -1e-17, 1e-13, -1e-9])
def test_rounding_in_the_leading_coefficient_does_not_hide_the_maximum(dust):
    # Where only two vertices change places, the cube is rounding.
    assert best_amount(np.array([0.5, 0.17, -0.18, dust])) == pytest.approx(0.17 / 0.36, rel=1e-8)


@settings(max_examples=15)
@given(hypergraph=uniform_hypergraphs(), cap=caps, data=st.data())
def test_the_direction_solves_the_linear_programme(hypergraph, cap, data):
    hypergraph = UniformHypergraph.of(hypergraph)
    n = hypergraph.n
    assume(cap * n >= 1)
    mixed = data.draw(simplex_points(n))
    x = np.minimum(mixed, cap)
    room = cap - x
    x = x + (1 - x.sum()) * room / room.sum() if room.any() else x
    r = rewards(hypergraph, x)
    y = vertex_of_domain(x, r, cap)
    assert y.sum() == pytest.approx(1)
    assert ((y >= -EPS) & (y <= cap + EPS)).all()
    assume(r.any())
    best = linprog(-r / r.max(), A_eq=np.ones((1, n)), b_eq=[1.0], bounds=(0, cap))
    assert r @ y == pytest.approx(-best.fun * r.max(), rel=1e-6)  # the solver's own tolerance is 1e-7


@given(hypergraph=uniform_hypergraphs(), cap=caps)
def test_f_never_falls_and_nothing_is_in_sight_at_the_end(hypergraph, cap):
    hypergraph, tol = UniformHypergraph.of(hypergraph), 1e-3
    for vertex in np.flatnonzero(hypergraph.degrees):
        start = neighbourhood_start(hypergraph, int(vertex), least_size(cap))
        if start is None:
            continue
        x, values = start, []
        for _ in range(20):
            values.append(objective(hypergraph, x))
            x, steps = ascend(hypergraph, x, cap=cap, tol=tol, max_steps=1)
            assert ((x >= 0) & (x <= cap + EPS)).all()
        assert (np.diff(values) >= -1e-13).all()
        x, steps = ascend(hypergraph, start, cap=cap, tol=tol, max_steps=500)
        r = rewards(hypergraph, x)
        if steps < 500:
            assert r @ (vertex_of_domain(x, r, cap) - x) <= tol * (r @ x)
            # Mass m_j that earns less than someone with room for it could move: m_j (r_i - r_j) is in sight.
            for j in np.flatnonzero(x):
                earns = np.where(x < cap, r, -np.inf)
                i = int(earns.argmax())
                assert min(x[j], cap - x[i]) * (r[i] - r[j]) <= tol * (r @ x) * (1 + 1e-9)


@given(hypergraph=uniform_hypergraphs(max_vertices=6))
def test_where_it_ends_at_a_corner_the_conditions_hold_exactly(hypergraph):
    hypergraph, cap = UniformHypergraph.of(hypergraph), 0.5
    for vertex in np.flatnonzero(hypergraph.degrees):
        start = neighbourhood_start(hypergraph, int(vertex), 2)
        x, steps = ascend(hypergraph, start, cap=cap, tol=1e-9, max_steps=200)
        if steps < 200 and ((x == 0) | (x == cap)).all():
            assert kkt_gap(x, rewards(hypergraph, x), cap) <= 1e-8 * max(1.0, objective(hypergraph, x))


def test_it_ends_where_affinity_ensembles_end():
    rng = np.random.default_rng(0)
    edges = [e for e in combinations(range(12), 3) if len({v // 6 for v in e}) == 1]
    hypergraph = Hypergraph.from_edges(edges, weights=rng.uniform(0.9, 1.0, len(edges)))
    ours, theirs = ehc(hypergraph, cap=0.2, tol=1e-4), affinity_ensembles(hypergraph, cap=0.2)
    assert adjusted_rand_score(ours.labels, theirs.labels) == 1
    assert ours.n_clusters == 2
    assert len(set(ours.labels[:6])) == len(set(ours.labels[6:])) == 1
    for one, other in zip(ours.groups, theirs.groups, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-3)


def test_a_component_that_is_too_small_is_no_start():
    hypergraph = Hypergraph.from_edges([[0, 1, 2], [3, 4, 5]], vertices=range(7))
    assert ehc(hypergraph, cap=0.25).labels.tolist() == [-1] * 7
    assert ehc(hypergraph, cap=1.0).labels.tolist() == [0, 0, 0, 1, 1, 1, -1]


@pytest.mark.parametrize(
    ("option", "value"), [("cap", 0), ("cap", 1.5), ("tol", -1), ("max_steps", 0), ("min_members", 0)]
)
def test_bad_options_are_refused_by_name(option, value):
    with pytest.raises(ValueError, match=f"^{option}: "):
        ehc(Hypergraph.from_edges([[0, 1, 2]]), **{option: value})
