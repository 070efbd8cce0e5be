"""What every affinity promises, whichever way the matrix is kept: all must agree with the same dense one."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import oracles
from hypermodes import HyperedgeAffinity, Hypergraph, MatrixAffinity, find_modes
from strategies import hypergraphs

EPS = np.finfo(float).eps


def by_hyperedges(hypergraph):
    return HyperedgeAffinity(hypergraph)


def by_dense_matrix(hypergraph):
    # A diagonal is given and must be dropped.
    return MatrixAffinity(oracles.affinity_of(hypergraph) + np.eye(hypergraph.n_edges))


def by_sparse_matrix(hypergraph):
    return MatrixAffinity(sp.csr_array(oracles.affinity_of(hypergraph) + np.eye(hypergraph.n_edges)))


every_affinity = pytest.mark.parametrize("build", [by_hyperedges, by_dense_matrix, by_sparse_matrix])


def subsets(n):
    return st.sets(st.integers(0, n - 1), min_size=1).map(lambda chosen: np.array(sorted(chosen)))


@every_affinity
@given(hypergraph=hypergraphs())
def test_the_matrix_is_symmetric_non_negative_and_has_no_diagonal(build, hypergraph):
    affinity = build(hypergraph)
    matrix = affinity.matrix()
    assert sp.issparse(matrix)
    assert matrix.shape == (affinity.n, affinity.n) == (hypergraph.n_edges, hypergraph.n_edges)
    dense = matrix.toarray()
    assert (dense == dense.T).all()
    assert (dense >= 0).all()
    assert (dense.diagonal() == 0).all()
    # Eq. (2) in a handful of operations on sums of at most 10 terms, here and in the oracle: 2·13 eps.
    assert dense == pytest.approx(oracles.affinity_of(hypergraph), rel=26 * EPS, abs=0)


@every_affinity
@given(hypergraph=hypergraphs(), data=st.data())
def test_a_product_is_that_of_the_matrix(build, hypergraph, data):
    affinity = build(hypergraph)
    n = affinity.n
    x = np.array(data.draw(st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=n, max_size=n)))
    matrix = affinity.matrix().toarray()
    # The matrix-free product adds and takes away 2 r_i |e_i| x_i on the diagonal, twice each. A sum of k
    # products has error at most k eps times the sum of their sizes; here k ≤ n + |V| + 6 through both sparse
    # passes, and what is within 1e-14 (45 eps) of the diagonal counts as 0.
    diagonal = 4 * hypergraph.weights / hypergraph.edge_degrees * hypergraph.edge_sizes
    sizes = matrix @ np.abs(x) + diagonal * np.abs(x)
    slack = EPS * (2 * n + hypergraph.n_vertices + 6 + 45) * sizes
    assert (np.abs(affinity.matvec(x) - matrix @ x) <= slack).all()


@every_affinity
@given(hypergraph=hypergraphs(), data=st.data())
def test_a_distribution_has_non_negative_payoffs(build, hypergraph, data):
    affinity = build(hypergraph)
    support = data.draw(subsets(affinity.n))
    p = np.zeros(affinity.n)
    p[support] = 1 / support.size
    assert (affinity.matvec(p) >= 0).all()


@every_affinity
@given(hypergraph=hypergraphs(), data=st.data())
def test_rows_blocks_and_faces_are_parts_of_the_matrix(build, hypergraph, data):
    affinity = build(hypergraph)
    matrix = affinity.matrix().toarray()
    rows, columns = data.draw(subsets(affinity.n)), data.draw(subsets(affinity.n))
    assert (affinity.block(rows, columns) == matrix[np.ix_(rows, columns)]).all()
    assert (affinity.restrict(rows) == matrix[np.ix_(rows, rows)]).all()
    assert (affinity.row(int(rows[0])) == matrix[rows[0]]).all()
    assert isinstance(affinity.block(rows, columns), np.ndarray)


@every_affinity
@given(hypergraph=hypergraphs(), data=st.data())
def test_neighbours_are_those_outside_with_something_in_common(build, hypergraph, data):
    affinity = build(hypergraph)
    support = data.draw(subsets(affinity.n))
    touched = affinity.matrix().toarray()[:, support].any(axis=1)
    touched[support] = False
    assert affinity.neighbours(support).tolist() == np.flatnonzero(touched).tolist()


@every_affinity
def test_an_affinity_of_one_has_no_neighbour_and_no_mode(build):
    affinity = build(Hypergraph.from_edges([["alone"]]))
    assert affinity.matvec(np.ones(1)).tolist() == [0.0]
    assert affinity.neighbours(np.array([0])).tolist() == []
    assert find_modes(affinity).edge_mode.tolist() == [-1]
