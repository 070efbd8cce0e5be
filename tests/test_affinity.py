"""The matrix M of Eq. (2), by hand and against sets."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import oracles
from hypermodes import HyperedgeAffinity, Hypergraph, MatrixAffinity
from hypermodes.affinity import DENSE_FACE, Restriction, as_affinity, face_of
from strategies import hypergraphs, symmetric_matrices

EPS = np.finfo(float).eps


@pytest.mark.parametrize(("w2", "w3"), [(1.0, 1.0), (2.0, 5.0), (0.125, 1000.0)])
def test_example_1_of_the_paper(w2, w3):
    # e_2 and e_3 have two vertices each and share only v_2: M(2,3) = w_2·1/2 + w_3·1/2.
    built = Hypergraph.from_edges([["v4", "v5"], ["v1", "v2"], ["v2", "v3"]], weights=[7.0, w2, w3])
    affinity = HyperedgeAffinity(built)
    assert affinity.matrix().toarray()[1, 2] == (w2 + w3) / 2
    assert affinity.matrix().toarray()[0].tolist() == [0.0, 0.0, 0.0]


def test_overlap_is_divided_by_the_soft_degree():
    # |e_0 ∩ e_1| = 2 counts vertices; δ(e_0) = 0.75 and δ(e_1) = 2 count probabilities.
    built = Hypergraph.from_edges([{"a": 0.5, "b": 0.25}, {"a": 1.0, "b": 0.5, "c": 0.5}], weights=[3.0, 5.0])
    assert HyperedgeAffinity(built).matrix().toarray()[0, 1] == 3.0 * 2 / 0.75 + 5.0 * 2 / 2.0


@given(hypergraphs())
def test_the_matrix_is_that_of_the_sets(hypergraph):
    # |e_i ∩ e_j| is exact; δ is a sum of at most 10 terms; then one division, one sum, one product, and
    # as much again in the oracle: relative error below 2·(10 + 3) eps.
    expected = oracles.affinity_of(hypergraph)
    assert HyperedgeAffinity(hypergraph).matrix().toarray() == pytest.approx(expected, rel=26 * EPS, abs=0)


@given(hypergraphs(), st.data())
def test_rows_and_blocks_are_parts_of_the_matrix(hypergraph, data):
    affinity = HyperedgeAffinity(hypergraph)
    whole = affinity.matrix().toarray()
    index = st.integers(0, affinity.n - 1)
    rows = np.array(data.draw(st.lists(index, min_size=1, max_size=6)))  # any order, repetitions too
    columns = np.array(data.draw(st.lists(index, min_size=1, max_size=6)))
    assert (affinity.row(int(rows[0])) == whole[rows[0]]).all()
    assert (affinity.block(rows, columns) == whole[np.ix_(rows, columns)]).all()
    assert (affinity.restrict(columns) == whole[np.ix_(columns, columns)]).all()


@pytest.mark.parametrize("size", [10, 1000, 100_000])
def test_hyperedges_that_share_nothing_have_payoff_0_exactly(size):
    # M x subtracts the diagonal that the two sparse products put in; what is left must not be its rounding.
    apart = Hypergraph.from_edges([range(size), range(size, 2 * size), range(2 * size, 3 * size)])
    assert HyperedgeAffinity(apart).matvec(np.array([1 / 3, 0.1, 1 - 1 / 3 - 0.1])).tolist() == [
        0.0,
        0.0,
        0.0,
    ]


def test_the_rate_is_weight_over_degree_and_cannot_be_written_to():
    affinity = HyperedgeAffinity(Hypergraph.from_edges([["a", "b"], {"b": 0.5}], weights=[3.0, 4.0]))
    assert affinity.rate.tolist() == [1.5, 8.0]
    with pytest.raises(ValueError, match="read-only"):
        affinity.rate[0] = 1.0


# -- any matrix ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("convert", [np.asarray, np.ndarray.tolist, sp.csr_array, sp.csc_array, sp.coo_array])
def test_the_diagonal_of_a_given_matrix_is_dropped(convert):
    given_matrix = np.array([[5.0, 1.0, 0.0], [1.0, 7.0, 2.0], [0.0, 2.0, 9.0]])
    expected = [[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]
    assert MatrixAffinity(convert(given_matrix)).matrix().toarray().tolist() == expected


def test_a_given_matrix_is_copied_and_cannot_be_written_to():
    values = np.array([[0.0, 1.0], [1.0, 0.0]])
    dense, sparse = MatrixAffinity(values), MatrixAffinity(sp.csr_array(values))
    values[:] = 9.0
    assert dense.matrix().toarray().tolist() == sparse.matrix().toarray().tolist() == [[0.0, 1.0], [1.0, 0.0]]
    with pytest.raises(ValueError, match="read-only"):
        dense.values[0, 1] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        sparse.values.data[0] = 2.0


def test_rounding_is_not_taken_for_asymmetry():
    nearly = np.array([[0.0, 1.0], [1.0 + 1e-12, 0.0]])
    matrix = MatrixAffinity(nearly).matrix().toarray()
    assert (matrix == matrix.T).all()


@pytest.mark.parametrize("dtype", [bool, np.int64, np.float32])
def test_numbers_of_any_type_will_do(dtype):
    ones = np.array([[0, 1], [1, 0]]).astype(dtype)
    assert MatrixAffinity(ones).matvec(np.array([0.25, 0.75])).tolist() == [0.75, 0.25]
    assert MatrixAffinity(sp.csr_array(ones)).matvec(np.array([0.25, 0.75])).tolist() == [0.75, 0.25]


# -- faces --------------------------------------------------------------------------------------------


@given(symmetric_matrices(), st.data())
def test_a_restriction_is_the_dense_face_without_the_matrix(matrix, data):
    affinity = MatrixAffinity(matrix)
    support = np.array(sorted(data.draw(st.sets(st.integers(0, affinity.n - 1), min_size=1))))
    rows = np.array(data.draw(st.lists(st.integers(0, support.size - 1), max_size=4)), dtype=np.int64)
    x = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=support.size, max_size=support.size)))
    face, dense = Restriction(affinity, support), affinity.restrict(support)
    # Two sums of at most 8 products each, in different order: error below 2·8·eps·Σ|a||x|.
    assert (np.abs(face @ x - dense @ x) <= 16 * EPS * (dense @ np.abs(x))).all()
    assert (face[rows] == dense[rows]).all()


def test_a_face_is_dense_while_it_is_small_and_a_restriction_beyond():
    copies = HyperedgeAffinity(Hypergraph.from_edges(np.zeros((DENSE_FACE + 1, 1), dtype=int)))
    assert isinstance(face_of(copies, np.arange(DENSE_FACE + 1)), Restriction)
    assert face_of(copies, np.arange(3)).tolist() == [[0, 2, 2], [2, 0, 2], [2, 2, 0]]


def test_an_affinity_stands_for_itself_and_a_hypergraph_for_its_own():
    built = Hypergraph.from_edges([["a", "b"], ["b", "c"]])
    affinity = as_affinity(built)
    assert isinstance(affinity, HyperedgeAffinity)
    assert affinity.hypergraph is built
    assert as_affinity(affinity) is affinity
