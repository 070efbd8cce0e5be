"""Groups from a matrix of affinities: what must not matter does not, and what is no affinity is refused."""

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


def test_clouds_are_groups_the_largest_first(distances):
    found = hm.group_affinity(distances, 3, kind="distance")
    assert found.n_groups == len(found) == 3
    assert (found.assigned == TRUTH).all()
    inside = found.labels >= 0
    assert (found.labels[inside] == TRUTH[inside]).all()
    assert found.labels[found.representatives()].tolist() == [0, 1, 2]
    assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all()
    assert not found.probabilities[~inside].any()
    assert len(found.modes()) == 3
    for k, mode in enumerate(found.modes()):
        assert mode.certificate.holds()
        assert found.representatives()[k] in mode.support
    assert repr(found).startswith("AffinityGroups(3 groups of 48 items, ")


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_order_and_unit_play_no_part(distances, similarities, kind):
    given = distances if kind == "distance" else similarities
    found = hm.group_affinity(given, kind=kind)
    order = np.random.default_rng(1).permutation(48)
    again = hm.group_affinity(given[np.ix_(order, order)], kind=kind)
    assert same_groups(again.labels, found.labels[order])
    np.testing.assert_allclose(again.probabilities, found.probabilities[order], atol=1e-9)
    scaled = hm.group_affinity(1024.0 * given, kind=kind)
    np.testing.assert_array_equal(scaled.labels, found.labels)


def test_a_sparse_matrix_is_the_dense_one_and_the_diagonal_says_nothing(similarities):
    found = hm.group_affinity(similarities)
    for given in (sp.csr_array(similarities), sp.coo_matrix(similarities), similarities + np.eye(48)):
        again = hm.group_affinity(given)
        np.testing.assert_array_equal(again.labels, found.labels)
        np.testing.assert_array_equal(again.representatives(), found.representatives())


def test_as_many_groups_as_are_wanted(distances):
    for wanted in (1, 2, 3, 5):
        assert hm.group_affinity(distances, wanted, kind="distance").n_groups == wanted


def test_items_like_no_other_are_outliers(similarities):
    lonely = np.zeros((50, 50))
    lonely[:48, :48] = similarities
    found = hm.group_affinity(lonely)
    assert found.labels[48:].tolist() == [-1, -1]
    nothing = hm.group_affinity(np.zeros((9, 9)))
    assert nothing.n_groups == 0
    assert (nothing.labels == -1).all()


@pytest.mark.parametrize(
    ("bad", "options", "message"),
    [
        (np.zeros((3, 4)), {}, r"affinity: expected an \(n, n\) matrix of numbers; got shape"),
        (np.zeros(4), {}, r"affinity: expected an \(n, n\) matrix of numbers; got shape"),
        ([[0, 1], [1]], {}, "affinity: expected"),
        (np.full((3, 3), "x"), {}, "affinity: expected"),
        (np.zeros((1, 1)), {}, "affinity: expected two items or more"),
        (np.full((3, 3), np.nan), {}, "affinity: expected finite numbers"),
        (-np.ones((3, 3)), {}, "affinity: expected numbers, 0 or more"),
        (np.arange(9.0).reshape(3, 3), {}, "affinity: expected a symmetric matrix"),
        (np.ones((3, 3)), {"kind": "distance"}, "affinity: expected distances, so 0 on the diagonal"),
        (np.ones((3, 3)), {"kind": "closeness"}, "kind: expected 'similarity' or 'distance'"),
        (np.ones((3, 3)), {"n_groups": 0}, "n_"),
        (np.ones((6, 6)), {"n_groups": 4}, "n_groups: expected at most 3, half of the 6 items"),
        (np.ones((3, 3)), {"n_neighbors": 0}, "n_neighbors: expected"),
        (np.ones((3, 3)), {"n_jobs": 0}, "n_jobs: expected"),
    ],
)
def test_what_is_no_affinity_is_refused(bad, options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        hm.group_affinity(bad, **options)


def test_where_nobody_is_like_anybody_there_are_no_groups_and_no_representatives():
    found = hm.group_affinity(np.eye(6))
    assert found.n_groups == len(found.modes()) == found.representatives().size == 0
    assert (found.labels == -1).all()
    assert (found.assigned == -1).all()


@pytest.mark.parametrize("seed", range(12))
def test_items_like_no_other_change_nothing_for_the_others(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 34))
    numbers = np.triu(rng.integers(0, 7 if seed % 2 else 3, (n, n)), 1)
    wider = np.zeros((n + 40, n + 40), int)
    wider[:n, :n] = numbers + numbers.T
    few, many = hm.group_affinity(wider[:n, :n]), hm.group_affinity(wider)
    assert few.lift == many.lift
    np.testing.assert_array_equal(many.labels[:n], few.labels)
    assert (many.labels[n:] == -1).all()


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_items_like_no_other_are_none_of_the_groups_that_are_wanted(order):
    truth = np.repeat([0, 1, 2, -1], [10, 8, 6, 5])[order]
    affinity = (truth[:, None] == truth) & (truth >= 0)
    for wanted in (3, None):
        np.testing.assert_array_equal(hm.group_affinity(affinity, wanted).labels, truth)
    two = hm.group_affinity(affinity, 2)
    assert two.n_groups == 2
    assert (two.labels[truth < 0] == -1).all()
    assert hm.group_affinity(affinity, 1).n_groups == 1


def test_parts_that_are_not_tied_join_in_the_same_way_in_any_order():
    sizes = [9, 8, 7, 6, 5]
    truth = np.repeat(range(5), sizes)
    affinity = np.where(truth[:, None] == truth, 1.0, 0.0)
    found = hm.group_affinity(affinity, 3).labels
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(truth.size)
        again = hm.group_affinity(affinity[np.ix_(order, order)], 3).labels
        assert same_groups(again, found[order])


def lattice(side):
    places = np.array([(a, b) for a in range(side) for b in range(side)], float)
    return np.linalg.norm(places[:, None] - places, axis=2)


def line(n, ring=False):
    apart = np.abs(np.arange(n)[:, None] - np.arange(n))
    return np.minimum(apart, n - apart) if ring else apart


@pytest.mark.parametrize(
    "distances", [line(9), line(64), line(6, ring=True), line(30, ring=True), lattice(3), lattice(6)]
)
def test_groups_of_what_is_even_are_the_same_in_any_order_but_for_symmetry(distances):
    found = hm.group_affinity(distances, kind="distance")
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(distances))
        again = hm.group_affinity(distances[np.ix_(order, order)], kind="distance")
        assert again.lift == found.lift
        np.testing.assert_array_equal(np.bincount(again.labels + 1), np.bincount(found.labels + 1))
        np.testing.assert_array_equal(again.tree.heights, found.tree.heights)
        np.testing.assert_allclose(np.sort(again.probabilities), np.sort(found.probabilities), atol=1e-12)
