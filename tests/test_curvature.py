"""Curvatures inside supports: their faces against the affinity of each pair of hyperedges; who looks when."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import hypermodes as hm
from hypermodes import curvature, executors
from hypermodes.batch import CURVATURE, Budget, Found, Points, Prepared
from hypermodes.gathering import shift_rows
from strategies import hypergraphs, seeds


def some_supports(n_rows, size, seed, count=5):
    rng = np.random.default_rng(seed)
    rows = np.concatenate([np.sort(rng.choice(n_rows, size, replace=False)) for _ in range(count)])
    return Points(size * np.arange(count + 1), rows, np.full(rows.size, 1 / size))


def expected_faces(affinity, prepared, points, size):
    """M between the first hyperedges of classes; of twins, the mean of theirs."""
    ptr, members = prepared.members
    faces = []
    for rows in points.rows.reshape(-1, size):
        classes = [members[ptr[row] : ptr[row + 1]] for row in rows]
        face = affinity.block(first := np.array([one[0] for one in classes]), first)
        for a, twins in enumerate(classes):
            face[a, a] = affinity.block(twins, twins).sum() / twins.size**2
        faces.append(face)
    return np.array(faces)


@given(hypergraphs(), st.integers(1, 10), seeds)
def test_faces_of_hyperedges(hypergraph, size, seed):
    affinity = hm.HyperedgeAffinity(hypergraph)
    prepared = Prepared.of(affinity)
    size = min(size, prepared.n_rows)
    points = some_supports(prepared.n_rows, size, seed)
    ours = curvature._faces(prepared, points.rows.reshape(-1, size))
    # Sums of ten vertices at most, each product rounded a few times.
    np.testing.assert_allclose(ours, expected_faces(affinity, prepared, points, size), rtol=1e-13, atol=0)


@pytest.mark.parametrize("size", [1, 3, 12])
def test_faces_of_a_matrix(size):
    rng = np.random.default_rng(size)
    matrix = np.triu(rng.random((12, 12)) * (rng.random((12, 12)) < 0.4), 1)
    affinity = hm.MatrixAffinity(matrix + matrix.T)
    prepared = Prepared.of(affinity)
    points = some_supports(12, size, size)
    ours = curvature._faces(prepared, points.rows.reshape(-1, size))
    np.testing.assert_array_equal(ours, expected_faces(affinity, prepared, points, size))


def test_each_support_is_by_itself():
    """Adding supports of the same rows and vertices changes no face."""
    hypergraph = hm.knn_hypergraph(np.random.default_rng(1).random((40, 2)), 6)
    prepared = Prepared.of(hm.HyperedgeAffinity(hypergraph))
    points = some_supports(prepared.n_rows, 7, 2, count=9)
    together = curvature._faces(prepared, points.rows.reshape(-1, 7))
    for k in range(9):
        alone = curvature._faces(prepared, points.rows[None, 7 * k : 7 * (k + 1)])
        assert alone.tobytes() == together[k].tobytes()


@given(hypergraphs(), seeds)
def test_curvatures_do_not_depend_on_who_is_looked_at_with_whom(hypergraph, seed):
    """Some before, some later, each by itself or all at once: the same bits."""
    prepared = Prepared.of(hm.HyperedgeAffinity(hypergraph))
    found = shift_rows(prepared, range(prepared.n_rows), Budget()).found
    at_once = curvature.with_curvatures(prepared, found).notes[:, CURVATURE]
    assert not np.isnan(at_once).any()
    alone = [curvature.curvatures(prepared, found.points.take(np.array([k]))) for k in range(at_once.size)]
    assert np.concatenate(alone or [np.empty(0)]).tobytes() == at_once.tobytes()
    known = np.random.default_rng(seed).random(at_once.size) < 0.5
    notes = found.notes.copy()
    notes[known, CURVATURE] = at_once[known]
    later = curvature.with_curvatures(prepared, Found(found.points, notes), n_jobs=2)
    assert later.notes[:, CURVATURE].tobytes() == at_once.tobytes()


@pytest.mark.parametrize("most", [1, 2, 4])
def test_curvatures_do_not_depend_on_the_threads_of_linear_algebra(most):
    matrix = 1 + 1e-3 * np.random.default_rng(0).random((300, 300))
    prepared = Prepared.of(hm.MatrixAffinity(np.triu(matrix, 1) + np.triu(matrix, 1).T))
    points = some_supports(300, 300, 1, count=1)
    with threadpool_limits(1, "blas"):
        alone = curvature.curvatures(prepared, points)
    with threadpool_limits(most, "blas"):
        assert curvature.curvatures(prepared, points).tobytes() == alone.tobytes()


def test_large_supports_are_left_to_others():
    """They cost most, and many blocks may come to the same: the client looks at each once."""
    matrix = hm.MatrixAffinity(np.kron(np.eye(2), 1 - np.eye(50)) + np.pad(1 - np.eye(10), (0, 90)))
    prepared = Prepared.of(matrix)
    gathered = executors._shift(prepared, (range(100), Budget()))
    sizes = np.diff(gathered.found.points.ptr)
    unseen = np.isnan(gathered.found.notes[:, CURVATURE])
    assert (unseen == (sizes > executors._LARGEST_FACE)).all()
    assert unseen.any()
    assert not unseen.all()


def test_nobody_looks_twice(monkeypatch):
    prepared = Prepared.of(
        hm.HyperedgeAffinity(hm.knn_hypergraph(np.random.default_rng(1).random((40, 2)), 6))
    )
    found = curvature.with_curvatures(prepared, shift_rows(prepared, range(40), Budget()).found)
    monkeypatch.setattr(curvature, "curvatures", None)
    assert curvature.with_curvatures(prepared, found) is found
