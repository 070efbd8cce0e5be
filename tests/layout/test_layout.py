"""Layouts: what is near belongs together, parts have nothing to do with each other, and the usual laws."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hypermodes as hm
from hypermodes.layout.embedding import embedded
from hypermodes.layout.ties import LEVELS, Ties, canonical_order
from planted import planted

laws = settings(max_examples=settings().max_examples // 2)


@st.composite
def tie_matrices(draw):
    """Symmetric ties in few levels, so that much looks the same."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, levels = int(rng.integers(2, 40)), int(rng.choice([1, 2, 4096]))
    upper = np.triu(rng.integers(1, levels + 1, (n, n)) * (rng.random((n, n)) < rng.choice([0.05, 0.2])), 1)
    return sp.csr_array((upper + upper.T) / levels)


@given(tie_matrices(), st.integers(0, 99))
@settings(max_examples=3 * settings().max_examples)
def test_the_order_of_items_is_that_of_their_ties(matrix, seed):
    """The matrix in canonical order is the same whatever order it came in."""
    mix = np.random.default_rng(seed).permutation(matrix.shape[0])
    other = sp.csr_array(matrix[mix][:, mix])
    one, two = (m[canonical_order(m)][:, canonical_order(m)] for m in (matrix, other))
    part = sp.csgraph.connected_components(matrix, directed=False)[1]
    if np.bincount(part).max() == matrix.shape[0]:  # else items of equal parts may stand between each other
        assert one.toarray().tolist() == two.toarray().tolist()
    assert sorted(canonical_order(matrix).tolist()) == list(range(matrix.shape[0]))


@given(tie_matrices(), st.integers(0, 99))
@laws
def test_coordinates_do_not_depend_on_order_or_threads(matrix, seed):
    mix = np.random.default_rng(seed).permutation(matrix.shape[0])
    one = embedded(Ties(matrix, 2.0, 15), 2, n_jobs=1)
    again = embedded(Ties(matrix, 2.0, 15), 2, n_jobs=4)
    np.testing.assert_array_equal(one, again)
    two = embedded(Ties(sp.csr_array(matrix[mix][:, mix]), 2.0, 15), 2)
    np.testing.assert_allclose(np.sort(one, axis=0), np.sort(two, axis=0), atol=1e-12)


@given(tie_matrices(), tie_matrices())
@laws
def test_a_part_looks_the_same_whatever_else_there_is(one, other):
    """Up to where it is put."""
    both = embedded(Ties(sp.csr_array(sp.block_diag((one, other))), 2.0, 15), 3)
    n = one.shape[0]
    for matrix, places in ((one, both[:n]), (other, both[n:])):
        alone, part = embedded(Ties(matrix, 2.0, 15), 3), Ties(matrix, 2.0, 15).parts()
        np.testing.assert_array_equal(np.isnan(alone), np.isnan(places))
        for k in range(part.max() + 1):
            moved = places[part == k] - alone[part == k]
            if not np.isnan(moved).any():
                np.testing.assert_allclose(moved, np.tile(moved[:1], (len(moved), 1)), atol=1e-9)


@given(tie_matrices())
@laws
def test_parts_are_apart_and_items_without_ties_nowhere(matrix):
    ties = Ties(matrix, 2.0, 15)
    places, part = embedded(ties, 2), ties.parts()
    np.testing.assert_array_equal(np.isnan(places).any(axis=1), ~ties.tied)
    named = np.unique(part[ties.tied])
    boxes = [(places[part == k].min(axis=0), places[part == k].max(axis=0)) for k in named]
    for i, (low, high) in enumerate(boxes):
        for low_of_other, high_of_other in boxes[:i]:
            gap = np.maximum(low - high_of_other, low_of_other - high).max()
            assert gap >= max((top - bottom).max() for bottom, top in boxes) * 0.99


def test_ties_are_levels_of_either_direction():
    """p + q - pq of the strengths p and q of two items for each other, which sum to log₂ k each."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(80, 4))
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    k = 15
    near = np.argsort(apart, axis=1, kind="stable")[:, 1 : k + 1]
    distance = np.take_along_axis(apart, near, axis=1)
    share = np.zeros((80, 80))
    for i in range(80):
        low, high = 1e-9, 1e3
        for _ in range(200):
            scale = (low + high) / 2
            total = np.exp(-(distance[i] - distance[i, 0]) / scale).sum()
            low, high = (scale, high) if total < np.log2(k) else (low, scale)
        share[i, near[i]] = np.exp(-(distance[i] - distance[i, 0]) / scale)
    expected = share + share.T - share * share.T
    found = Ties.of_neighbours(near, distance, 4.0).matrix.toarray()
    np.testing.assert_allclose(found, expected, atol=1.01 / LEVELS)
    assert (found * LEVELS == np.rint(found * LEVELS)).all()


def test_what_holds_together_is_near():
    hypergraph, truth = planted()
    places = hm.layout(hypergraph)
    apart = np.linalg.norm(places[:, None] - places, axis=2) + np.diag(np.full(120, np.inf))
    assert (truth[apart.argmin(axis=1)] == truth).mean() > 0.95


@pytest.mark.parametrize("dimensions", [1, 2, 3, 7])
def test_layouts_of_every_kind_of_data(dimensions):
    points = np.random.default_rng(0).normal(size=(60, 9))
    near = np.exp(-np.linalg.norm(points[:, None] - points, axis=2))
    for data in (points, points.tolist(), sp.csr_array(points), hm.MatrixAffinity(near), planted()[0]):
        places = hm.layout(data, dimensions)
        assert places.shape == (120 if isinstance(data, hm.Hypergraph) else 60, dimensions)
        assert np.isfinite(places).all()
    twice = hm.layout(np.vstack((points, points)), dimensions)
    np.testing.assert_array_equal(twice[:60], twice[60:])
    np.testing.assert_array_equal(twice[:60], hm.layout(points, dimensions))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points_have_places(n):
    assert np.isfinite(hm.layout(np.random.default_rng(0).normal(size=(n, 4)))).all()
    assert hm.layout(np.ones((n, 4))).tolist() == [[0.0, 0.0]] * n


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_dimensions": 0}, "n_dimensions: expected a number of coordinates, 1 or more; got 0"),
        ({"n_dimensions": 2.5}, "n_dimensions: expected a number of coordinates, 1 or more; got 2.5"),
        ({"n_dimensions": True}, "n_dimensions: expected a number of coordinates, 1 or more; got True"),
        ({"n_neighbors": 0}, "n_neighbors: expected"),
        ({"n_jobs": 0}, "n_jobs: expected"),
        ({"metric": "cosine"}, "metric: expected none for a Hypergraph; got 'cosine'"),
        ({"index": 3}, "index: expected none for a Hypergraph; got 3"),
        ({"n_neighbors": 3}, "n_neighbors: expected none for a Hypergraph; got 3"),
    ],
)
def test_bad_options_get_one_clear_error(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        hm.layout(hm.Hypergraph.from_edges([[1, 2], [2, 3]]), **options)


def test_progress_of_a_layout_is_told():
    seen = []
    hm.layout(
        np.random.default_rng(0).normal(size=(40, 3)), progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1][0] == seen[-1][1]
