"""The readable layer and the compiled one are the same algorithm: what holds for one holds for both."""

from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from hypermodes import HyperedgeAffinity, Hypergraph, MatrixAffinity, Status, certify, find_modes
from hypermodes.simplex import Point
from layers import compiled, readable
from strategies import generic_hypergraphs, hypergraphs, symmetric_matrices, tied_hypergraphs

both_layers = pytest.mark.parametrize("layer", [readable, compiled])
subjects = st.one_of(hypergraphs(), tied_hypergraphs(), symmetric_matrices().map(MatrixAffinity))


def matrix_of(subject):
    return oracles.affinity_of(subject) if isinstance(subject, Hypergraph) else subject.matrix().toarray()


@both_layers
@given(subject=subjects)
def test_every_mode_is_certified_and_a_local_maximiser(layer, subject):
    matrix = matrix_of(subject)
    modes = layer(subject)
    assert ((modes.edge_mode == -1) == ~matrix.any(axis=1)).all()
    for mode in modes:
        assert mode.status is Status.CERTIFIED
        assert oracles.is_local_maximiser(matrix, mode.distribution(len(matrix)))


@both_layers
@pytest.mark.parametrize("n_edges", [2, 3, 4, 5])
def test_every_hypergraph_of_a_few_pairs_of_four_vertices_is_solved(layer, n_edges):
    # All of them, copies included: the smallest place where twins, ties, flats and saddles meet.
    for edges in combinations_with_replacement(combinations(range(4), 2), n_edges):
        hypergraph = Hypergraph.from_edges(edges)
        matrix = oracles.affinity_of(hypergraph)
        for mode in layer(hypergraph):
            assert mode.status is Status.CERTIFIED, edges
            assert mode.certificate.holds(1e-9), edges
            assert oracles.is_local_maximiser(matrix, mode.distribution(n_edges)), edges


@both_layers
def test_a_nearly_flat_chain_is_climbed_in_few_steps(layer):
    # 2 - 0 - 1 - 3 with affinities 2, 2.00001 and 3: on the way to {1, 3} payoffs differ in the sixth digit.
    matrix = np.zeros((4, 4))
    matrix[0, 1], matrix[0, 2], matrix[1, 3] = 2.00001, 2.0, 3.0
    for mode in layer(MatrixAffinity(matrix + matrix.T)):
        assert mode.status is Status.CERTIFIED
        assert mode.support.tolist() == [1, 3]
        assert mode.steps < 1000


@both_layers
@given(subject=subjects)
def test_a_certificate_says_what_anyone_can_compute(layer, subject):
    affinity = HyperedgeAffinity(subject) if isinstance(subject, Hypergraph) else subject
    scale = matrix_of(subject).max()
    for mode in layer(subject):
        found, p = mode.certificate, mode.distribution(affinity.n)
        again = certify(affinity, Point(p, affinity.matvec(p)))
        # Payoffs are sums of at most 30 terms, eigenvalues those of faces of at most 10: some hundred eps of
        # the largest affinity, and of the diagonal that a product adds and takes away, at most 40 times that.
        near = pytest.approx
        slack = 1e-11 * scale
        assert found.density == near(again.density, abs=slack)
        assert found.spread == near(again.spread, abs=slack)
        assert found.excess == near(again.excess, abs=slack)
        assert found.curvature == near(again.curvature, abs=slack)
        assert found.ties == again.ties
        # The search towards ties is a search: both must find the same verdict, not the same number.
        assert (found.tie_curvature == -np.inf) == (again.tie_curvature == -np.inf)
        assert found.holds(1e-9)
        assert again.holds(1e-9)


@given(generic_hypergraphs(max_edges=7))
def test_without_ties_both_layers_find_the_same(hypergraph):
    one, other = readable(hypergraph), compiled(hypergraph)
    assert one.edge_mode.tolist() == other.edge_mode.tolist()
    for mine, theirs in zip(one, other, strict=True):
        assert mine.support.tolist() == theirs.support.tolist()
        # Both are solved exactly on one face; its condition is what separates them.
        assert mine.density == pytest.approx(theirs.density, rel=1e-9)
        assert mine.weights == pytest.approx(theirs.weights, abs=1e-6)


@pytest.mark.parametrize("copies", [2, 3, 20])  # fewer than a round admits
def test_copies_of_a_hyperedge_share_alike_in_both_layers(copies):
    # The compiled layer takes twins for one row; what comes out must not show it.
    edges = [["a", "b"]] * copies + [["b", "c"]] * copies + [["q", "r"]]
    twins = Hypergraph.from_edges(edges, weights=[2.0] * copies + [1.0] * copies + [1.0])
    one, other = readable(twins), compiled(twins)
    assert one.edge_mode.tolist() == other.edge_mode.tolist()
    for mine, theirs in zip(one, other, strict=True):
        assert mine.support.tolist() == theirs.support.tolist()
        assert mine.weights == pytest.approx(theirs.weights, rel=1e-9)


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_the_number_of_threads_does_not_show(n_jobs, seed):
    rng = np.random.default_rng(seed)
    hypergraph = Hypergraph.from_edges(rng.integers(0, 30, size=(60, 3)))
    one, other = find_modes(hypergraph, n_jobs=1), find_modes(hypergraph, n_jobs=n_jobs)
    assert one.edge_mode.tobytes() == other.edge_mode.tobytes()
    assert one.table.weights.tobytes() == other.table.weights.tobytes()
