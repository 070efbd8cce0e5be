"""Affinity ensembles: the change of f between two vertices, the conditions at the end, small cases."""

from itertools import combinations, product
from math import perm

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hypermodes import Hypergraph
from hypermodes.baselines.affinity_ensembles import (
    affinity_ensembles,
    amount,
    ascend,
    gain,
    mixed_reward,
    move,
    pair,
)
from hypermodes.baselines.capped import kkt_gap, least_size, neighbourhood_start, objective, rewards
from hypermodes.baselines.uniform import UniformHypergraph
from strategies import simplex_points, uniform_hypergraphs

EPS = np.finfo(float).eps
caps = st.sampled_from([1.0, 0.5, 0.4, 0.3])


@st.composite
def moves(draw):
    """A hypergraph, a point, two vertices, and an amount that the second can give."""
    hypergraph = UniformHypergraph.of(draw(uniform_hypergraphs()))
    x = draw(simplex_points(hypergraph.n))
    j = draw(st.sampled_from(np.flatnonzero(x).tolist()))
    i = draw(st.sampled_from([v for v in range(hypergraph.n) if v != j]))
    return hypergraph, x, i, j, draw(st.floats(0, 1)) * x[j]


def exchanged(x, i, j, alpha):
    y = x.copy()
    y[i], y[j] = y[i] + alpha, y[j] - alpha
    return y


@given(case=moves())
def test_the_change_of_f_is_the_formula(case):
    hypergraph, x, i, j, alpha = case
    r = rewards(hypergraph, x)
    change = gain(hypergraph.k, r[i], r[j], mixed_reward(hypergraph, x, i, j), alpha)
    exact = objective(hypergraph, exchanged(x, i, j, alpha)) - objective(hypergraph, x)
    # f sums at most 12 · 4! terms of size at most 1, in a handful of operations each, and they cancel.
    assert exact == pytest.approx(change, abs=12 * 24 * 20 * EPS)


@given(case=moves())
def test_the_mixed_reward_is_how_one_reward_changes_with_the_other_share(case):
    hypergraph, x, i, j, alpha = case
    less = x.copy()
    less[j] -= alpha
    # r_i is linear in x_j: r_i(x) - r_i(x - α e_j) = (k-1) r_ij α.
    change = rewards(hypergraph, x)[i] - rewards(hypergraph, less)[i]
    slope = (hypergraph.k - 1) * mixed_reward(hypergraph, x, i, j)
    assert change == pytest.approx(slope * alpha, abs=12 * 24 * 20 * EPS)


@given(case=moves())
def test_the_amount_is_the_best_there_is_room_for(case):
    hypergraph, x, i, j, _ = case
    r, r_ij, k = rewards(hypergraph, x), mixed_reward(hypergraph, x, i, j), hypergraph.k
    assume(r[i] > r[j])
    alpha = amount(k, r[i], r[j], r_ij, x[j])
    assert 0 <= alpha <= x[j]
    best = gain(k, r[i], r[j], r_ij, alpha)
    assert all(gain(k, r[i], r[j], r_ij, a) <= best + 1e-14 for a in np.linspace(0, x[j], 50))


@given(case=moves(), cap=caps)
def test_a_move_keeps_the_domain_and_the_rewards(case, cap):
    hypergraph, x, *_ = case
    assume((x <= cap).all())
    r = rewards(hypergraph, x)
    i, j = pair(x, r, cap)
    assume(r[i] > r[j])
    before = objective(hypergraph, x)
    move(hypergraph, x, r, i, j, cap)
    assert (x >= 0).all()
    assert (x <= cap).all()
    assert x.sum() == pytest.approx(1, abs=20 * EPS)
    assert r == pytest.approx(rewards(hypergraph, x), abs=12 * 24 * 20 * EPS)
    assert objective(hypergraph, x) >= before - 12 * 24 * 20 * EPS


@given(hypergraph=uniform_hypergraphs(), cap=caps)
def test_f_never_falls_and_the_end_meets_the_conditions(hypergraph, cap):
    hypergraph, tol = UniformHypergraph.of(hypergraph), 1e-6
    for vertex in np.flatnonzero(hypergraph.degrees):
        start = neighbourhood_start(hypergraph, int(vertex), least_size(cap))
        if start is None:
            continue
        values = [objective(hypergraph, start)]
        for budget in range(1, 4):
            x, _ = ascend(hypergraph, start, cap=cap, tol=tol, max_steps=budget)
            values.append(objective(hypergraph, x))
        x, _ = ascend(hypergraph, start, cap=cap, tol=tol, max_steps=10_000)
        values.append(objective(hypergraph, x))
        assert (np.diff(values) >= -1e-13).all()
        assert ((x >= 0) & (x <= cap)).all()
        r = rewards(hypergraph, x)
        value = objective(hypergraph, x)
        assert kkt_gap(x, r, cap) <= tol * value * (1 + 1e-9)
        # The same, spelled out: one λ separates those with room from those with mass.
        level = r[x > 0].min()
        assert (r[x == 0] <= level + tol * value * (1 + 1e-9)).all()
        between = r[(x > 0) & (x < cap)]
        assert (between <= level + tol * value * (1 + 1e-9)).all()


def capped_stationary_values(matrix, cap):
    """f at every first-order point of xᵀAx on the capped simplex, by enumerating the faces."""
    n = len(matrix)
    for state in product((0, 1, 2), repeat=n):
        state = np.array(state)
        full, free = np.flatnonzero(state == 2), np.flatnonzero(state == 1)
        x = np.where(state == 2, cap, 0.0)
        if free.size:
            bordered = np.zeros((free.size + 1, free.size + 1))
            bordered[0, 1:] = bordered[1:, 0] = 1
            bordered[1:, 1:] = matrix[np.ix_(free, free)]
            if np.linalg.matrix_rank(bordered, tol=1e-9) <= free.size:
                continue
            right = np.concatenate(([1 - x.sum()], -matrix[np.ix_(free, full)] @ x[full]))
            x[free] = np.linalg.solve(bordered, right)[1:]
        if abs(x.sum() - 1) < 1e-9 and (x >= -1e-9).all() and (x <= cap + 1e-9).all():
            yield x @ matrix @ x


@given(hypergraph=uniform_hypergraphs(max_vertices=5, sizes=(2,)), cap=st.sampled_from([0.45, 0.3]))
def test_the_values_of_pairs_are_those_of_the_enumeration(hypergraph, cap):
    n = hypergraph.n_vertices
    matrix = np.zeros((n, n))
    for edge, weight in zip(hypergraph.labels, hypergraph.weights, strict=True):
        i, j = hypergraph.members(edge)
        matrix[i, j] = matrix[j, i] = weight
    values = list(capped_stationary_values(matrix, cap))
    for group in affinity_ensembles(hypergraph, cap=cap, tol=1e-9, min_members=1).groups:
        assert group.value <= max(values) + 1e-9
        assert min(abs(group.value - value) for value in values) < 1e-6


def test_a_cluster_has_at_least_as_many_vertices_as_the_cap_asks_for():
    hypergraph = Hypergraph.from_edges([*combinations(range(6), 3), (6, 7, 8)])
    partition = affinity_ensembles(hypergraph, cap=1 / 5)
    assert (partition.labels[:6] == 0).sum() >= 5
    assert partition.labels[6:].tolist() == [-1, -1, -1]  # a component of three cannot hold five
    for group in partition.groups:
        assert group.weights.max() <= 1 / 5 + 1e-12
    assert affinity_ensembles(hypergraph, cap=1.0).labels.tolist() == [0] * 6 + [1] * 3


def test_a_clique_has_the_value_of_drawing_distinct_vertices():
    for k, m in [(2, 4), (3, 5), (4, 6)]:
        clique = Hypergraph.from_edges(list(combinations(range(m), k)), vertices=range(m + 1))
        partition = affinity_ensembles(clique, cap=1.0)
        assert partition.labels.tolist() == [0] * m + [-1]
        assert partition.groups[0].value == pytest.approx(perm(m, k) / m**k)
        assert partition.starts == m


@pytest.mark.parametrize(
    ("option", "value"), [("cap", 0), ("cap", 1.5), ("tol", -1), ("max_steps", 0), ("min_members", 0)]
)
def test_bad_options_are_refused_by_name(option, value):
    with pytest.raises(ValueError, match=f"^{option}: "):
        affinity_ensembles(Hypergraph.from_edges([[0, 1, 2]]), **{option: value})
