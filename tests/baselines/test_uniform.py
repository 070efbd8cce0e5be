"""The polynomial of a k-uniform hypergraph: against sums over ordered tuples."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypermodes import Hypergraph, MatrixAffinity
from hypermodes.baselines.capped import least_size, neighbourhood_start, objective, rewards
from hypermodes.baselines.uniform import UniformHypergraph, others
from strategies import simplex_points, uniform_hypergraphs


def tuples(hypergraph):
    """Every ordered tuple of every hyperedge, and its affinity."""
    for edge, weight in zip(hypergraph.edges.tolist(), hypergraph.weights.tolist(), strict=True):
        for order in permutations(edge):
            yield order, weight


def components(hypergraph):
    """The smallest vertex that each vertex is joined to."""
    label = np.arange(hypergraph.n)
    for _ in range(hypergraph.n):
        for edge in hypergraph.edges:
            label[edge] = label[edge].min()
    return label


@st.composite
def cases(draw):
    hypergraph = UniformHypergraph.of(draw(uniform_hypergraphs()))
    return hypergraph, draw(simplex_points(hypergraph.n))


@given(case=cases())
def test_objective_and_rewards_are_sums_over_tuples(case):
    hypergraph, x = case
    value, reward = 0.0, np.zeros(hypergraph.n)
    for order, weight in tuples(hypergraph):
        value += weight * np.prod(x[list(order)])
        reward[order[-1]] += weight * np.prod(x[list(order[:-1])])
    # Sums of at most 12 · 4! products of 5 numbers, all non-negative: 300 eps, relatively.
    assert objective(hypergraph, x) == pytest.approx(value, rel=1e-13)
    assert rewards(hypergraph, x) == pytest.approx(reward, rel=1e-13)
    assert x @ rewards(hypergraph, x) == pytest.approx(value, rel=1e-13)


@given(case=cases())
def test_the_gradient_near_the_support_is_the_gradient(case):
    hypergraph, x = case
    assert hypergraph.local_gradient(x) == pytest.approx(hypergraph.gradient(x), rel=1e-13)
    # P is homogeneous of degree k.
    assert x @ hypergraph.gradient(x) == pytest.approx(hypergraph.k * hypergraph.value(x), rel=1e-13)


@given(case=cases())
def test_hyperedges_near_a_support_are_those_that_touch_it(case):
    hypergraph, x = case
    support = np.flatnonzero(x)
    near = hypergraph.edges_near(support)
    assert sorted(near.tolist()) == np.flatnonzero(np.isin(hypergraph.edges, support).any(axis=1)).tolist()


@given(case=cases())
def test_hyperedges_of_a_vertex_come_heaviest_first(case):
    hypergraph, _ = case
    for vertex in range(hypergraph.n):
        found = hypergraph.edges_at(vertex)
        assert set(found.tolist()) == set(np.flatnonzero((hypergraph.edges == vertex).any(axis=1)).tolist())
        assert (np.diff(hypergraph.weights[found]) <= 0).all()
        assert hypergraph.degrees[vertex] == found.size
    rest = hypergraph.without(np.array([0]))
    assert not (rest.edges == 0).any()
    assert len(rest.edges) == len(hypergraph.edges) - hypergraph.degrees[0]


@given(case=cases(), size=st.integers(1, 8))
def test_a_start_is_a_neighbourhood_of_enough_vertices(case, size):
    hypergraph, _ = case
    component = components(hypergraph)
    for vertex in np.flatnonzero(hypergraph.degrees):
        x = neighbourhood_start(hypergraph, int(vertex), size)
        if x is None:
            assert (component == component[vertex]).sum() < size
        else:
            assert x[vertex] > 0
            assert (x > 0).sum() >= size
            assert (component[x > 0] == component[vertex]).all()
            assert objective(hypergraph, x) > 0
            assert x.sum() == pytest.approx(1)


def test_products_of_the_others_survive_zeros():
    assert others(np.array([[2.0, 3.0, 5.0], [0.0, 3.0, 5.0], [0.0, 0.0, 5.0]])).tolist() == [
        [15.0, 10.0, 6.0],
        [15.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
    ]


def test_the_least_size_is_not_fooled_by_rounding():
    assert [least_size(1 / m) for m in range(1, 200)] == list(range(1, 200))
    assert least_size(0.3) == 4


def test_probabilities_of_incidence_play_no_part():
    soft = Hypergraph.from_edges([{0: 0.5, 1: 1.0}, {1: 0.2, 2: 0.1}], weights=[2.0, 3.0])
    hard = UniformHypergraph.of(Hypergraph.from_edges([[0, 1], [1, 2]], weights=[2.0, 3.0]))
    x = np.array([0.2, 0.3, 0.5])
    assert UniformHypergraph.of(soft).value(x) == hard.value(x)


def test_a_hypergraph_of_several_sizes_is_refused():
    with pytest.raises(ValueError, match=r"^subject: .*sizes 2 to 3"):
        UniformHypergraph.of(Hypergraph.from_edges([[0, 1], [0, 1, 2]]))
    with pytest.raises(ValueError, match=r"^subject: .*sizes 1 to 1"):
        UniformHypergraph.of(Hypergraph.from_edges([[0], [1]]))
    with pytest.raises(TypeError, match=r"^subject: .*MatrixAffinity"):
        UniformHypergraph.of(MatrixAffinity(np.ones((2, 2))))
