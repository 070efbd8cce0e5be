"""Clusters of similarities and distances: what must not matter does not, and what is none is refused."""

import numpy as np
import pytest
import scipy.sparse as sp

import hypermodes as hm
from lobes import same_groups

TRUTH = np.repeat([0, 1, 2], [20, 16, 12])


@pytest.fixture(scope="module")
def distances():
    """Three clouds far apart."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(48, 3)) + 12 * np.eye(3)[TRUTH]
    return np.linalg.norm(points[:, None] - points[None], axis=2)


@pytest.fixture(scope="module")
def similarities(distances):
    values = np.exp(-(distances**2) / 4)
    values[values < 1e-6] = 0
    return values


def of(given, n_clusters=None, *, kind="similarity", **options):
    if kind == "distance":
        return hm.cluster(given, n_clusters, metric="precomputed", layout=True, **options)
    return hm.cluster(hm.MatrixAffinity(given), n_clusters, **options)


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_clouds_are_clusters_the_largest_first(distances, similarities, kind):
    found = of(distances if kind == "distance" else similarities, 3, kind=kind)
    assert found.n_clusters == len(found) == 3
    assert (found.assigned == TRUTH).all()
    inside = found.labels >= 0
    assert (found.labels[inside] == TRUTH[inside]).all()
    assert found.labels[found.representatives()].tolist() == [0, 1, 2]
    assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all()
    assert not found.probabilities[~inside].any()
    assert len(found.modes()) == 3
    for k, mode in enumerate(found.modes()):
        assert mode.certificate.holds()
        assert (found.assigned[mode.support] == k).all()
        assert found.representatives()[k] in mode.support
    assert repr(found).startswith("Clusters(3 clusters of 48 items, ")


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_order_and_unit_play_no_part(distances, similarities, kind):
    given = distances if kind == "distance" else similarities
    found = of(given, kind=kind)
    order = np.random.default_rng(1).permutation(48)
    again = of(given[np.ix_(order, order)], kind=kind)
    assert same_groups(again.labels, found.labels[order])
    np.testing.assert_array_equal(again.layout, found.layout[order])
    for unit in (1024.0, 0.3):
        scaled = of(unit * given, kind=kind)
        np.testing.assert_array_equal(scaled.labels, found.labels)


def test_a_sparse_matrix_is_the_dense_one_and_the_diagonal_says_nothing(similarities):
    found = of(similarities)
    for given in (sp.csr_array(similarities), sp.coo_matrix(similarities), similarities + np.eye(48)):
        again = of(given)
        np.testing.assert_array_equal(again.layout, found.layout)
        np.testing.assert_array_equal(again.labels, found.labels)
        np.testing.assert_array_equal(again.representatives(), found.representatives())


def test_as_many_clusters_as_are_wanted(distances, similarities):
    for wanted in (1, 2, 3, 5):
        assert of(distances, wanted, kind="distance").n_clusters == wanted
        assert of(similarities, wanted).n_clusters == wanted


@pytest.mark.parametrize("n", [1, 2, 9])
def test_where_nobody_is_like_anybody_there_are_no_clusters(n):
    for given in (np.zeros((n, n)), np.eye(n), sp.csr_array((n, n))):
        found = of(given)
        assert found.n_clusters == len(found.modes()) == found.representatives().size == 0
        assert (found.labels == -1).all()
        assert (found.assigned == -1).all()
        assert np.isnan(hm.layout(hm.MatrixAffinity(given))).all()


def test_where_everybody_is_like_everybody_there_is_one():
    found = of(np.ones((40, 40)))
    assert found.n_clusters == 1
    assert (found.assigned == 0).all()


@pytest.mark.parametrize(
    ("bad", "options", "message"),
    [
        (np.ones((9, 9)), {"n_clusters": 0}, "n_clusters: expected"),
        (np.ones((9, 9)), {"n_neighbors": 0}, "n_neighbors: expected"),
        (np.ones((9, 9)), {"metric": "cosine"}, "metric: expected none for a MatrixAffinity; got 'cosine'"),
        (np.ones((9, 9)), {"index": 7}, "index: expected none for a MatrixAffinity; got 7"),
        (np.ones((9, 9)), {"layout": False}, "layout: expected True or None for a MatrixAffinity; got False"),
        (np.ones((9, 9)), {"n_jobs": 0}, "n_jobs: expected"),
        (np.zeros((3, 4)), {}, "[a-z]+: expected"),
        (np.full((3, 3), np.nan), {}, "[a-z]+: expected"),
        (-np.ones((3, 3)), {}, "[a-z]+: expected"),
        (np.arange(9.0).reshape(3, 3), {}, "[a-z]+: expected"),
    ],
)
def test_what_is_no_affinity_is_refused(bad, options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        of(bad, **options)


def test_new_items_have_no_place_among_similarities(similarities):
    with pytest.raises(
        ValueError, match=r"^points: expected clusters of points; these are of a hypergraph or"
    ):
        of(similarities).predict(np.ones((2, 48)))


@pytest.mark.parametrize("seed", range(12))
def test_items_like_no_other_change_nothing_for_the_others(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 34))
    numbers = np.triu(rng.integers(0, 7 if seed % 2 else 3, (n, n)), 1)
    wider = np.zeros((n + 40, n + 40), int)
    wider[:n, :n] = numbers + numbers.T
    few, many = of(wider[:n, :n]), of(wider)
    np.testing.assert_array_equal(many.layout[:n], few.layout)
    np.testing.assert_array_equal(many.labels[:n], few.labels)
    assert (many.labels[n:] == -1).all()


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_items_like_no_other_are_none_of_the_clusters_that_are_wanted(order):
    truth = np.repeat([0, 1, 2, -1], [10, 8, 6, 5])[order]
    affinity = ((truth[:, None] == truth) & (truth >= 0)).astype(float)
    for wanted in (3, None):
        np.testing.assert_array_equal(of(affinity, wanted).labels, truth)
    two = of(affinity, 2)
    assert two.n_clusters == 2
    assert (two.labels[truth < 0] == -1).all()
    assert of(affinity, 1).n_clusters == 1


@pytest.mark.parametrize("seed", range(6))
def test_links_of_a_graph_are_all_counted(seed):
    """Where all similarities are level, the order of items does not say which are neighbours."""
    rng = np.random.default_rng(seed)
    where = np.repeat([0, 1], 60)
    upper = np.triu(rng.uniform(size=(120, 120)) < np.where(where[:, None] == where, 0.5, 0.05), 1)
    links = (upper | upper.T).astype(float)
    found, order = of(links), rng.permutation(120)
    assert found.ties.matrix.nnz == links.sum()
    assert same_groups(found.assigned, where)
    np.testing.assert_array_equal(of(links[np.ix_(order, order)]).layout, found.layout[order])


def lattice(side):
    places = np.array([(a, b) for a in range(side) for b in range(side)], float)
    return np.linalg.norm(places[:, None] - places, axis=2)


def line(n, ring=False):
    apart = np.abs(np.arange(n)[:, None] - np.arange(n))
    return np.minimum(apart, n - apart) if ring else apart


@pytest.mark.parametrize(
    "distances", [line(9), line(64), line(6, ring=True), line(30, ring=True), lattice(3), lattice(6)]
)
def test_clusters_of_what_is_even_are_the_same_in_any_order_but_for_symmetry(distances):
    similar = np.exp(-distances / 3.0)
    found = of(similar)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(distances))
        again = of(similar[np.ix_(order, order)])
        np.testing.assert_array_equal(np.bincount(again.assigned + 1), np.bincount(found.assigned + 1))
        np.testing.assert_allclose(np.sort(again.layout, axis=0), np.sort(found.layout, axis=0))
