"""Laws of the modes: rename, scale, add something irrelevant, put two things side by side.

They hold for hypergraphs without ties. At a tie the shift may go either way, and rounding decides.
"""

import numpy as np
import pytest
from hypothesis import given

from hypermodes import HyperedgeAffinity, Hypergraph, Status, certify, find_modes
from hypermodes.simplex import Point
from strategies import generic_hypergraphs, hypergraphs, magnitudes, seeds, tied_hypergraphs

small_hypergraphs = generic_hypergraphs(max_edges=7)

# A mode is critical within 1e-9 of its density; two on one support differ by no more than twice that.
SAME_DENSITY = 2e-9


def described(modes, names=None):
    """Modes as a value that does not depend on order: support by name -> (density, who shifts there)."""
    names = np.arange(modes.edge_mode.size) if names is None else np.asarray(names)
    return {
        frozenset(names[mode.support].tolist()): (mode.density, frozenset(names[modes.members(k)].tolist()))
        for k, mode in enumerate(modes)
    }


def assert_same(one, other, scale=1.0):
    assert one.keys() == other.keys()
    for support, (density, members) in one.items():
        assert members == other[support][1]
        assert scale * density == pytest.approx(other[support][0], rel=SAME_DENSITY)


def rebuilt(hypergraph, rows=None, columns=None, weights=None):
    """The same hypergraph with vertices and hyperedges in another order, or other weights."""
    rows = np.arange(hypergraph.n_vertices) if rows is None else rows
    columns = np.arange(hypergraph.n_edges) if columns is None else columns
    incidence = hypergraph.incidence.toarray()[np.ix_(rows, columns)]
    weights = hypergraph.weights if weights is None else weights
    return Hypergraph.from_incidence(incidence, weights=weights[columns])


@given(small_hypergraphs, seeds)
def test_the_order_of_vertices_plays_no_part(hypergraph, seed):
    order = np.random.default_rng(seed).permutation(hypergraph.n_vertices)
    assert_same(described(find_modes(hypergraph)), described(find_modes(rebuilt(hypergraph, rows=order))))


@given(small_hypergraphs, seeds)
def test_permuting_hyperedges_permutes_the_modes(hypergraph, seed):
    order = np.random.default_rng(seed).permutation(hypergraph.n_edges)
    shuffled = find_modes(rebuilt(hypergraph, columns=order))
    assert_same(described(find_modes(hypergraph)), described(shuffled, order))


@given(small_hypergraphs, magnitudes)
def test_scaling_the_weights_scales_the_density_and_nothing_else(hypergraph, factor):
    scaled = find_modes(rebuilt(hypergraph, weights=factor * hypergraph.weights))
    assert_same(described(find_modes(hypergraph)), described(scaled), scale=factor)


@given(small_hypergraphs, magnitudes)
def test_an_isolated_hyperedge_changes_nothing(hypergraph, weight):
    incidence = np.pad(hypergraph.incidence.toarray(), ((0, 1), (0, 1)))
    incidence[-1, -1] = 1.0
    larger = find_modes(Hypergraph.from_incidence(incidence, weights=[*hypergraph.weights, weight]))
    assert larger.edge_mode[-1] == -1
    assert_same(described(find_modes(hypergraph)), described(larger))


@given(small_hypergraphs)
def test_an_isolated_vertex_changes_nothing(hypergraph):
    incidence = np.pad(hypergraph.incidence.toarray(), ((1, 0), (0, 0)))
    larger = find_modes(Hypergraph.from_incidence(incidence, weights=hypergraph.weights))
    assert_same(described(find_modes(hypergraph)), described(larger))


@given(small_hypergraphs, small_hypergraphs)
def test_side_by_side_two_hypergraphs_keep_their_modes(left, right):
    incidence = np.zeros((left.n_vertices + right.n_vertices, left.n_edges + right.n_edges))
    incidence[: left.n_vertices, : left.n_edges] = left.incidence.toarray()
    incidence[left.n_vertices :, left.n_edges :] = right.incidence.toarray()
    union = find_modes(Hypergraph.from_incidence(incidence, weights=[*left.weights, *right.weights]))
    apart = described(find_modes(left))
    apart.update(described(find_modes(right), left.n_edges + np.arange(right.n_edges)))
    assert_same(apart, described(union))


@given(small_hypergraphs)
def test_labels_are_only_names(hypergraph):
    names = [("e", i) for i in range(hypergraph.n_edges)]
    named = Hypergraph.from_incidence(hypergraph.incidence, weights=hypergraph.weights, labels=names)
    assert find_modes(named).edge_mode.tolist() == find_modes(hypergraph).edge_mode.tolist()


@given(hypergraphs() | tied_hypergraphs())
def test_every_mode_holds_when_checked_from_its_support_and_weights_alone(hypergraph):
    # Nothing of the run is used: the affinity is built again, the payoff computed again.
    affinity = HyperedgeAffinity(rebuilt(hypergraph))
    for mode in find_modes(hypergraph):
        p = np.zeros(affinity.n)
        p[mode.support] = mode.weights
        assert mode.status is Status.CERTIFIED
        assert certify(affinity, Point(p, affinity.matvec(p)), tol=1e-9).holds(1e-9)
