"""Faces of many supports at once, against the affinity of each pair of hyperedges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hypermodes as hm
from hypermodes import merging
from hypermodes.batch import Points, Prepared
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
    ours = merging._faces(prepared, points, size)
    # Sums of ten vertices at most, each product rounded a few times.
    np.testing.assert_allclose(ours, expected_faces(affinity, prepared, points, size), rtol=1e-13, atol=0)


@pytest.mark.parametrize("size", [1, 3, 12])
def test_faces_of_a_matrix(size):
    rng = np.random.default_rng(size)
    matrix = np.triu(rng.random((12, 12)) * (rng.random((12, 12)) < 0.4), 1)
    affinity = hm.MatrixAffinity(matrix + matrix.T)
    prepared = Prepared.of(affinity)
    points = some_supports(12, size, size)
    ours = merging._faces(prepared, points, size)
    np.testing.assert_array_equal(ours, expected_faces(affinity, prepared, points, size))


def test_each_support_is_by_itself():
    """Adding supports of the same rows and vertices changes no face."""
    hypergraph = hm.knn_hypergraph(np.random.default_rng(1).random((40, 2)), 6)
    prepared = Prepared.of(hm.HyperedgeAffinity(hypergraph))
    points = some_supports(prepared.n_rows, 7, 2, count=9)
    together = merging._faces(prepared, points, 7)
    for k in range(9):
        alone = merging._faces(prepared, points.take(np.array([k])), 7)
        assert alone.tobytes() == together[k].tobytes()
