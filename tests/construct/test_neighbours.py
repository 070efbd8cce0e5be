"""Nearest neighbours against distances written out one by one, and the laws of what plays no part."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from hypermodes.construct import metrics, searching
from hypermodes.construct.metrics import Minkowski
from hypermodes.construct.neighbours import Neighbours, NeighbourSearch, Outline, nearest_neighbours
from hypermodes.construct.orders import curve_order

POINTS = np.random.default_rng(0).normal(size=(80, 3))
WIDE = np.random.default_rng(1).normal(size=(80, 30))  # above the dimensions of the tree
BITS = np.random.default_rng(2).random((80, 40)) < 0.4
SPARSE = sp.random_array((80, 60), density=0.3, rng=1, format="csr")
GRID = np.stack(np.meshgrid(np.arange(7.0), np.arange(7.0)), axis=-1).reshape(-1, 2)
DIGITS = 1e-12  # d terms of size 1 and a root, far below


def literal(points, k, distance):
    """Each point against each other one, sorted by distance: the definition."""
    n = len(points)
    rows = [sorted((distance(points[i], points[j]), j) for j in range(n) if j != i)[:k] for i in range(n)]
    return np.array([[d for d, _ in row] for row in rows]), np.array([[j for _, j in row] for row in rows])


def euclidean(x, y):
    return float(np.sqrt(((x - y) ** 2).sum()))


def assert_same(found, distances, indices):
    np.testing.assert_allclose(found.distances, distances, rtol=DIGITS, atol=DIGITS)
    np.testing.assert_array_equal(found.indices, indices)


def assert_consistent(found, points, metric="euclidean"):
    """The distances are those of the indices, and nobody who was left out is nearer."""
    exact = metric == "euclidean"  # scikit-learn takes inner products: 0 may be the root of rounding
    table = cdist(points, points) if exact else pairwise_distances(points, metric=metric)
    np.fill_diagonal(table, np.inf)
    slack = DIGITS if exact else 1e-7
    np.testing.assert_allclose(
        np.take_along_axis(table, found.indices, axis=1), found.distances, rtol=1e-9, atol=slack
    )
    np.testing.assert_allclose(np.sort(table, axis=1)[:, : found.k], found.distances, rtol=1e-9, atol=slack)
    for row in found.indices:
        assert len(set(row.tolist())) == found.k


# -- against the definition ---------------------------------------------------------------------------


@pytest.mark.parametrize("points", [POINTS, WIDE, POINTS[:, :1]], ids=["tree", "brute", "one column"])
@pytest.mark.parametrize("k", [1, 5, 79])
def test_neighbours_are_the_nearest_others(points, k):
    assert_same(nearest_neighbours(points, k), *literal(points, k, euclidean))


@pytest.mark.parametrize("points", [POINTS, WIDE], ids=["tree", "brute"])
@pytest.mark.parametrize(
    ("metric", "distance"),
    [
        ("l2", euclidean),
        ("minkowski", euclidean),
        ("manhattan", lambda x, y: abs(x - y).sum()),
        ("cityblock", lambda x, y: abs(x - y).sum()),
        ("chebyshev", lambda x, y: abs(x - y).max()),
        (Minkowski(3), lambda x, y: (abs(x - y) ** 3).sum() ** (1 / 3)),
        (Minkowski(np.inf), lambda x, y: abs(x - y).max()),
        ("cosine", lambda x, y: 1 - x @ y / np.sqrt((x @ x) * (y @ y))),
        ("sqeuclidean", lambda x, y: ((x - y) ** 2).sum()),
        ("canberra", lambda x, y: (abs(x - y) / (abs(x) + abs(y))).sum()),
        ("correlation", lambda x, y: 1 - np.corrcoef(x, y)[0, 1]),
        (lambda x, y: abs(x - y).sum() ** 0.5, lambda x, y: abs(x - y).sum() ** 0.5),
    ],
)
def test_every_kind_of_metric(points, metric, distance):
    assert_same(nearest_neighbours(points, 6, metric=metric), *literal(points, 6, distance))


@pytest.mark.parametrize("metric", ["jaccard", "dice", "hamming", "russellrao", "yule", "rogerstanimoto"])
@pytest.mark.parametrize("bits", [BITS, BITS.astype(float)], ids=["bool", "float"])
def test_metrics_of_bits(metric, bits):
    found = nearest_neighbours(bits, 5, metric=metric)
    assert_consistent(found, BITS, metric)


def test_haversine():
    degrees = np.random.default_rng(3).uniform((-60, -170), (60, 170), (40, 2))
    assert_consistent(
        nearest_neighbours(np.radians(degrees), 4, metric="haversine"), np.radians(degrees), "haversine"
    )


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.coo_array, sp.csc_array])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", Minkowski(1)])
def test_sparse_points_are_dense_points(kind, metric):
    sparse = nearest_neighbours(kind(SPARSE), 6, metric=metric)
    dense = nearest_neighbours(SPARSE.toarray(), 6, metric=metric)
    assert_same(sparse, dense.distances, dense.indices)


def test_a_function_of_sparse_rows():
    found = nearest_neighbours(SPARSE[:12], 3, metric=lambda x, y: abs(x - y).sum())
    expected = nearest_neighbours(SPARSE[:12].toarray(), 3, metric="manhattan")
    assert_same(found, expected.distances, expected.indices)


@pytest.mark.parametrize("points", [POINTS, WIDE, SPARSE], ids=["tree", "brute", "sparse"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", lambda x, y: abs(x - y).max()])
def test_blocks_that_do_not_fit_at_once_change_nothing(points, metric, monkeypatch):
    whole = nearest_neighbours(points, 5, metric=metric)
    monkeypatch.setattr(searching, "LARGEST", 200)  # a few rows at a time
    monkeypatch.setattr(metrics, "LARGEST", 200)
    parts = nearest_neighbours(points, 5, metric=metric)
    np.testing.assert_array_equal(parts.indices, whole.indices)
    np.testing.assert_array_equal(parts.distances, whole.distances)


@pytest.mark.parametrize("points", [POINTS, WIDE, GRID], ids=["tree", "brute", "grid"])
def test_the_number_of_threads_plays_no_part(points):
    one, two = nearest_neighbours(points, 5, n_jobs=1), nearest_neighbours(points, 5, n_jobs=2)
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.distances, two.distances)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "canberra", "jaccard"])
@pytest.mark.parametrize("columns", [1, 2, 3, 30], ids="{} columns".format)
def test_rows_that_are_in_order_need_not_be_put_into_it(metric, columns):
    """The grid has ties; and behind each point there is another, as the cosine sees it."""
    points = np.concatenate((np.tile(GRID + 1, 15), WIDE, 2 * WIDE))[:, :columns]
    points = points[curve_order(points)]
    some, ours = NeighbourSearch(points, metric=metric), NeighbourSearch(points, metric=metric, in_order=True)
    np.testing.assert_array_equal(ours.neighbours(4).indices, some.neighbours(4).indices)
    np.testing.assert_array_equal(ours.neighbours(4).distances, some.neighbours(4).distances)


def test_distances_may_grow_beyond_any_bound():
    """The product of what each is of the longest is too small a number."""
    distances = np.concatenate(([1e-160, 1e-155, 1e-150], 1.0 + np.arange(5)))[None, :]
    outline = Outline.of(Neighbours(np.arange(8)[None, :], distances))
    assert outline.growth == pytest.approx(np.log(5 / distances[0]).sum())


@pytest.mark.parametrize("client", [None, "joblib"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "canberra"])
@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("columns", [2, 3, 30], ids="{} columns".format)
def test_an_outline_is_what_it_says_of_the_neighbours(client, metric, in_order, columns, monkeypatch):
    """Also where there are many blocks, and points at one place of which some are nobody's neighbours."""
    points = np.concatenate((np.tile(GRID + 1, 15), WIDE, np.ones((9, 30))))[:, :columns]
    points = points[curve_order(points)] if in_order else points
    search = NeighbourSearch(points, metric=metric, in_order=in_order)
    found = search.neighbours(4)
    monkeypatch.setattr(searching, "LARGEST", 200)
    outline = search.outline(4, client=client)
    np.testing.assert_array_equal(outline.indices, found.indices)
    np.testing.assert_array_equal(outline.reach, found.distances[:, -1])
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = np.log(found.distances[:, -1:] / found.distances[:, :-1]).sum(axis=1)
    growth[found.distances[:, 0] == 0] = np.nan
    np.testing.assert_allclose(outline.growth, growth, rtol=1e-12, atol=1e-12)
    assert not any(array.flags.writeable for array in outline)


@pytest.mark.parametrize("scale", [2.0**-540, 2.0**-550, 2.0**-480, 1.0, 2.0**60, 2.0**70])
def test_what_is_near_in_relation_to_the_largest_is_not_lost(scale):
    points = np.array([[0.0], [1.0], [3.0], [7.0], [2.0**480]]) * scale
    assert (nearest_neighbours(points, 1).distances[:4, 0] / scale).tolist() == [1, 1, 2, 4]


# -- new points ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "canberra"])
@pytest.mark.parametrize("points", [POINTS, WIDE], ids=["tree", "brute"])
def test_new_points_find_the_nearest_of_the_old(points, metric):
    old, new = points[:60], points[60:]
    table = pairwise_distances(new, old, metric=metric)
    found = NeighbourSearch(old, metric=metric).neighbours_of(new, 4)
    np.testing.assert_array_equal(found.indices, np.argsort(table, axis=1)[:, :4])
    np.testing.assert_allclose(found.distances, np.sort(table, axis=1)[:, :4], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("points", [POINTS, WIDE, SPARSE], ids=["tree", "brute", "sparse"])
def test_a_new_point_may_be_where_an_old_one_is(points):
    found = NeighbourSearch(points).neighbours_of(points[:7], points.shape[0])
    np.testing.assert_array_equal(found.indices[:, 0], np.arange(7))
    np.testing.assert_array_equal(found.distances[:, 0], 0.0)


def test_new_rows_of_precomputed_distances():
    old, new = POINTS[:60], POINTS[60:]
    expected = NeighbourSearch(old).neighbours_of(new, 3)
    search = NeighbourSearch(pairwise_distances(old), metric="precomputed")
    table = np.sqrt(((new[:, None] - old[None]) ** 2).sum(axis=2))
    assert_same(search.neighbours_of(table, 3), expected.distances, expected.indices)
    assert_same(search.neighbours_of(sp.csr_array(table), 3), expected.distances, expected.indices)


@pytest.mark.parametrize("in_order", [False, True])
def test_a_search_keeps_no_hold_on_the_points_it_was_given(in_order):
    points = POINTS[curve_order(POINTS)] * 10
    search = NeighbourSearch(points, in_order=in_order)
    before = search.neighbours(4)
    points[:] = 0.0
    np.testing.assert_array_equal(search.neighbours(4).indices, before.indices)


# -- precomputed --------------------------------------------------------------------------------------


def test_precomputed_distances_are_searched_as_they_are():
    expected = nearest_neighbours(POINTS, 5)
    table = np.sqrt(((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2))
    before = table.copy()
    assert_same(nearest_neighbours(table, 5, metric="precomputed"), expected.distances, expected.indices)
    np.testing.assert_array_equal(table, before)
    table.flags.writeable = False
    nearest_neighbours(table, 5, metric="precomputed")


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("more", [0, 3])
def test_a_sparse_neighbour_graph_is_taken_at_its_word(include_self, more):
    expected = nearest_neighbours(POINTS, 5)
    graph = kneighbors_graph(POINTS, 5 + more + include_self, mode="distance", include_self=include_self)
    assert_same(nearest_neighbours(graph, 5, metric="precomputed"), expected.distances, expected.indices)


def test_a_ragged_graph_and_distances_of_zero():
    rows = [0, 0, 0, 1, 1, 2, 2, 2, 3, 3]
    columns = [1, 2, 3, 0, 2, 0, 1, 2, 0, 1]
    data = [0.0, 3.0, 1.0, 0.0, 2.0, 3.0, 2.0, 0.0, 1.0, 1.0]
    graph = sp.csr_array((data, (rows, columns)), shape=(4, 4))
    found = nearest_neighbours(graph, 2, metric="precomputed")
    assert found.indices.tolist() == [[1, 3], [0, 2], [1, 0], [0, 1]]
    assert found.distances.tolist() == [[0, 1], [0, 2], [2, 3], [1, 1]]


def test_precomputed_ties_go_to_lower_rows():
    found = nearest_neighbours(np.ones((6, 6)) - np.eye(6), 2, metric="precomputed")
    assert found.indices.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1]]


# -- an index brought along ---------------------------------------------------------------------------


class Faiss:
    """Speaks as an L2 index of faiss does: float32 only, squared distances, -1 where it found nothing."""

    def __init__(self, points, forget=0.0, answer=None):
        self.points, self.rng = points.astype(np.float32), np.random.default_rng(5)
        self.forget, self.answer = forget, answer

    def search(self, x, k):
        assert x.dtype == np.float32
        assert x.flags.c_contiguous
        if self.answer is not None:
            return self.answer(x, k)
        squares = ((x[:, None] - self.points[None]) ** 2).sum(axis=2)
        order = np.argsort(squares, axis=1)[:, :k]
        gone = self.rng.random(order.shape) < self.forget
        return np.where(gone, np.float32(3e38), np.take_along_axis(squares, order, axis=1)), np.where(
            gone, -1, order
        )


@pytest.mark.parametrize("points", [POINTS, WIDE], ids=["tree", "brute"])
@pytest.mark.parametrize("forget", [0.0, 0.05, 1.0])
def test_an_index_as_in_faiss(points, forget):
    expected = nearest_neighbours(points, 5)
    found = nearest_neighbours(points, 5, index=Faiss(points, forget))
    complete = forget == 0 or found.distances[:, -1] <= expected.distances[:, -1] * (1 + DIGITS)
    assert np.all(found.distances[:, -1] >= expected.distances[:, -1] * (1 - DIGITS))
    assert np.mean(complete) >= 0.5
    if forget in (0.0, 1.0):
        assert_same(found, expected.distances, expected.indices)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "canberra"])
def test_an_index_as_in_scikit_learn(metric):
    index = NearestNeighbors(metric=metric).fit(POINTS)
    expected = nearest_neighbours(POINTS, 5, metric=metric)
    assert_same(
        nearest_neighbours(POINTS, 5, metric=metric, index=index), expected.distances, expected.indices
    )
    search = NeighbourSearch(POINTS, metric=metric, index=index)
    new, old = search.neighbours_of(WIDE[:, :3], 4), NeighbourSearch(POINTS, metric=metric)
    assert_same(new, old.neighbours_of(WIDE[:, :3], 4).distances, old.neighbours_of(WIDE[:, :3], 4).indices)


def test_an_index_over_sparse_points():
    index = NearestNeighbors(algorithm="brute").fit(SPARSE)
    expected = nearest_neighbours(SPARSE, 5)
    assert_same(nearest_neighbours(SPARSE, 5, index=index), expected.distances, expected.indices)


def test_an_index_that_leaves_the_point_itself_out_or_names_one_twice():
    expected = nearest_neighbours(POINTS, 4)
    others = np.column_stack((expected.indices, nearest_neighbours(POINTS, 5).indices[:, 4]))
    index = Faiss(POINTS, answer=lambda x, k: (np.zeros((len(x), k)), others[:, ::-1]))
    assert_same(nearest_neighbours(POINTS, 4, index=index), expected.distances, expected.indices)
    twice = np.repeat(others[:, :1], 5, axis=1)
    index = Faiss(POINTS, answer=lambda x, k: (np.zeros((len(x), k)), twice))
    assert_same(nearest_neighbours(POINTS, 4, index=index), expected.distances, expected.indices)


# -- points at one place, ties ------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [2, 30], ids=["tree", "brute"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "canberra"])
def test_points_at_one_place_are_neighbours_at_distance_zero(columns, metric):
    some = np.random.default_rng(columns).normal(size=(40, columns))
    points = np.vstack((some, some[:3], np.repeat(some[5:6], 9, axis=0)))
    found = nearest_neighbours(points, 4, metric=metric)
    assert_consistent(found, points, metric)
    assert found.indices[0, 0] == 40
    assert not (found.indices == np.arange(len(points))[:, None]).any()
    crowd = [5, *range(43, 52)]
    assert set(found.indices[crowd].ravel().tolist()) <= set(crowd)
    if metric != "cosine":  # equal coordinates, equal distances
        assert not found.distances[crowd].any()


@pytest.mark.parametrize("columns", [2, 30], ids=["tree", "brute"])
def test_all_points_at_one_place(columns):
    found = nearest_neighbours(np.full((30, columns), 0.3), 4)
    assert not found.distances.any()
    assert not (found.indices == np.arange(30)[:, None]).any()


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("columns", [2, 30])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", lambda x, y: abs(x - y).sum()])
def test_behind_the_first_few_at_one_place_nobody_is_a_neighbour(kind, columns, metric):
    some = np.random.default_rng(columns).integers(-9, 9, (20, columns)).astype(float)  # sums are exact
    some[:, 0] = np.arange(1, 21)  # and no two of them equal
    points = np.repeat(some, 6, axis=0)
    found = nearest_neighbours(kind(points), 3, metric=metric)
    assert not found.distances.any()
    np.testing.assert_array_equal(found.indices // 6, np.arange(120)[:, None].repeat(3, axis=1) // 6)
    assert (found.indices % 6 <= 3).all()
    new = NeighbourSearch(kind(points), metric=metric).neighbours_of(kind(some), 3)
    np.testing.assert_array_equal(new.indices // 6, np.arange(20)[:, None].repeat(3, axis=1))


def lattice(columns, rng):
    """Points on few integer places of ``columns`` dimensions: ties everywhere, no two at one place."""
    return np.unique(rng.integers(0, 3, size=(60, columns)), axis=0).astype(float)


@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", "chebyshev", Minkowski(3), "hamming", "sqeuclidean"]
)
@pytest.mark.parametrize("columns", [2, 4, 13, 30])
def test_the_order_of_rows_plays_no_part_even_in_ties(columns, metric):
    points = lattice(columns, np.random.default_rng(columns))
    k = min(7, len(points) - 1)
    mix = np.random.default_rng(1).permutation(len(points))
    here, there = (
        nearest_neighbours(points, k, metric=metric),
        nearest_neighbours(points[mix], k, metric=metric),
    )
    np.testing.assert_array_equal(mix[there.indices], here.indices[mix])
    np.testing.assert_array_equal(there.distances, here.distances[mix])


def test_the_order_of_sparse_rows_plays_no_part_even_in_ties():
    points = sp.csr_array(lattice(14, np.random.default_rng(2)))
    mix = np.random.default_rng(1).permutation(points.shape[0])
    here, there = nearest_neighbours(points, 5), nearest_neighbours(points[mix], 5)
    np.testing.assert_array_equal(mix[there.indices], here.indices[mix])


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from([1, 2, 3, 14]))
def test_the_places_of_neighbours_do_not_depend_on_the_order_of_rows(seed, k, columns):
    """With points at one place as well: which of them it is may differ, where it is may not."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, size=(25, columns)).astype(float)
    mix = rng.permutation(25)
    here, there = nearest_neighbours(points, k), nearest_neighbours(points[mix], k)
    np.testing.assert_array_equal(points[mix][there.indices], points[here.indices][mix])
    assert_consistent(here, points)


# -- units, origins, rotations ------------------------------------------------------------------------


@pytest.mark.parametrize("points", [POINTS, WIDE, SPARSE], ids=["tree", "brute", "sparse"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", Minkowski(1), "cosine"])
@pytest.mark.parametrize("unit", [1e-250, 1e-3, 7.0, 1e250])
def test_the_unit_plays_no_part(points, metric, unit):
    here, there = (
        nearest_neighbours(points, 5, metric=metric),
        nearest_neighbours(points * unit, 5, metric=metric),
    )
    np.testing.assert_array_equal(there.indices, here.indices)
    scale = 1.0 if metric == "cosine" else unit
    np.testing.assert_allclose(there.distances, here.distances * scale, rtol=1e-11)


@pytest.mark.parametrize("points", [GRID, np.pad(GRID, ((0, 0), (0, 14)))], ids=["tree", "brute"])
@pytest.mark.parametrize("unit", [2.0**-700, 0.5, 2.0**60])
def test_a_power_of_two_plays_no_part_in_ties_either(points, unit):
    np.testing.assert_array_equal(
        nearest_neighbours(points * unit, 5).indices, nearest_neighbours(points, 5).indices
    )


@pytest.mark.parametrize("offset", [1e-3, 1e3, 1e8])
@pytest.mark.parametrize("points", [POINTS, WIDE], ids=["tree", "brute"])
def test_the_origin_plays_no_part(points, offset):
    moved = points + offset
    rounding = 4 * np.spacing(offset) * points.shape[1] ** 0.5  # of the coordinates that were moved
    here, there = nearest_neighbours(points, 5), nearest_neighbours(moved, 5)
    np.testing.assert_allclose(there.distances, here.distances, atol=rounding, rtol=DIGITS)
    np.testing.assert_array_equal(there.indices, here.indices)


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 20]))
def test_rigid_motions_play_no_part(seed, columns):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(30, columns))
    turn, _ = np.linalg.qr(rng.normal(size=(columns, columns)))
    here, there = (
        nearest_neighbours(points, 4),
        nearest_neighbours(points @ turn + rng.normal(size=columns), 4),
    )
    np.testing.assert_allclose(there.distances, here.distances, rtol=1e-9)
    np.testing.assert_array_equal(there.indices, here.indices)


@pytest.mark.parametrize("columns", [2, 30], ids=["tree", "brute"])
def test_a_far_outlier_costs_the_others_no_digits(columns):
    """Inner products would: squares of 1e9 hide differences of 1e-2 entirely."""
    some = np.random.default_rng(columns).normal(size=(40, columns))
    points = np.vstack((some * 1e-2, np.full((1, columns), 1e9)))
    found = nearest_neighbours(points, 4)
    expected = nearest_neighbours(points[:-1], 4)
    assert_same(Neighbours(found.indices[:-1], found.distances[:-1]), expected.distances, expected.indices)


# -- what is refused ----------------------------------------------------------------------------------

NAN, INF = float("nan"), float("inf")
TABLE = pairwise_distances(POINTS)


def changed(i, j, value):
    table = TABLE.copy()
    table[i, j] = value
    return table


@pytest.mark.parametrize(
    ("points", "k", "options", "message"),
    [
        (POINTS[:, 0], 3, {}, r"^points: expected an \(n, d\) array .* got shape \(80,\).*\[:, None\]"),
        (POINTS[None], 3, {}, r"^points: expected an \(n, d\) array of numbers; got shape \(1, 80, 3\)"),
        (5, 3, {}, r"^points: expected an \(n, d\) array of numbers; got shape \(\)"),
        (None, 3, {}, r"^points: expected an \(n, d\) array of numbers; got shape \(\), type object"),
        (POINTS.astype(complex), 3, {}, r"^points: .* type complex128"),
        (POINTS.astype(object), 3, {}, r"^points: .* type object"),
        (np.empty((5, 0)), 3, {}, r"^points: expected an \(n, d\) array of numbers; got shape \(5, 0\)"),
        ([[1.0, 2.0], [3.0]], 1, {}, r"^points: .* rows of different lengths"),
        (np.where(POINTS > 2, NAN, POINTS), 3, {}, r"^points: expected finite coordinates"),
        (np.where(POINTS > 2, INF, POINTS), 3, {}, r"^points: expected finite coordinates"),
        (SPARSE * INF, 3, {}, r"^points: expected finite coordinates"),
        (np.empty((0, 3)), 3, {}, r"^points: expected more than k = 3 points; got 0"),
        (sp.csr_array((0, 3)), 3, {}, r"^points: expected more than k = 3 points; got 0"),
        (np.empty((0, 3)), 3, {"metric": "canberra"}, r"^points: expected more than k = 3 points; got 0"),
        (POINTS[:1], 1, {}, r"^points: expected more than k = 1 points; got 1"),
        (POINTS, 80, {}, r"^points: expected more than k = 80 points; got 80"),
        (POINTS * 1e301, 3, {}, r"^points: expected coordinates of size 1e300 at most; the largest is"),
        (POINTS, 0, {}, r"^k: expected a positive number of neighbours; got 0"),
        (POINTS, True, {}, r"^k: expected a positive number of neighbours; got True"),
        (POINTS, 2.0, {}, r"^k: expected a positive number of neighbours; got 2\.0"),
        (POINTS, None, {}, r"^k: expected a positive number of neighbours; got None"),
        (POINTS, "x", {}, r"^k: expected a positive number of neighbours; got 'x'"),
        (POINTS, INF, {}, r"^k: expected a positive number of neighbours; got inf"),
        (POINTS, 3, {"n_jobs": 0}, r"^n_jobs: expected a number of threads"),
        (POINTS, 3, {"metric": "euclid"}, r"^metric: expected 'precomputed', .*canberra, .*; got 'euclid'"),
        (POINTS, 3, {"metric": "mahalanobis"}, r"^metric: .* got 'mahalanobis'; transform the points"),
        (POINTS, 3, {"metric": None}, r"^metric: expected 'precomputed', .*; got None"),
        (POINTS, 3, {"metric": ["euclidean"]}, r"^metric: expected 'precomputed', .*; got \['euclidean'\]"),
        (POINTS, 3, {"metric": POINTS}, r"^metric: expected 'precomputed'"),
        (
            SPARSE,
            3,
            {"metric": "jaccard"},
            r"^metric: for sparse points expected one of cityblock, .*'jaccard'",
        ),
        (
            SPARSE,
            3,
            {"metric": Minkowski(3)},
            r"^metric: for sparse points expected one of .*Minkowski\(p=3\)",
        ),
        (POINTS, 3, {"metric": "haversine"}, r"^metric: 'haversine' does not work on these points: "),
        (POINTS, 3, {"metric": lambda x, y: NAN}, r"^metric: .* does not work .* gives nan for some pair"),
        (POINTS, 3, {"metric": lambda x, y: -1.0}, r"^metric: .* does not work .* gives -1\.0 for some pair"),
        (POINTS, 3, {"metric": lambda x: 1.0}, r"^metric: .* does not work on these points"),
        (
            np.vstack((POINTS, [[0, 0, 0]])),
            3,
            {"metric": "cosine"},
            r"^points: row 80 is zero and has no dir",
        ),
        (sp.csr_array((9, 4)), 3, {"metric": "cosine"}, r"^points: row 0 is zero and has no direction"),
        (TABLE[:9], 3, {"metric": "precomputed"}, r"^points: expected a square matrix .* \(9, 80\)"),
        (
            changed(0, 1, -1.0),
            3,
            {"metric": "precomputed"},
            r"^points: expected distances, 0 or more; .* -1\.0",
        ),
        (changed(0, 1, NAN), 3, {"metric": "precomputed"}, r"^points: expected finite distances"),
        (changed(4, 4, 0.5), 3, {"metric": "precomputed"}, r"^points: .* entry \(4, 4\) is 0\.5"),
        (changed(0, 1, 50.0), 3, {"metric": "precomputed"}, r"^points: expected symmetric distances; some"),
        (
            kneighbors_graph(POINTS, 3, mode="distance"),
            4,
            {"metric": "precomputed"},
            r"^points: expected at least k = 4 stored distances in each row .* row 0 has 3, and 80 of 80",
        ),
        (
            sp.csr_array((np.ones(4), np.array([1, 1, 0, 0]), np.array([0, 2, 4])), shape=(2, 2)),
            1,
            {"metric": "precomputed"},
            r"^points: expected each distance once",
        ),
        (TABLE, 3, {"metric": "precomputed", "index": Faiss(POINTS)}, r"^index: precomputed distances leave"),
        (POINTS, 3, {"index": object()}, r"^index: expected a fitted index with kneighbors.* got a object"),
        (POINTS[:9], 3, {"index": Faiss(POINTS)}, r"^index: expected an index over the 9 points themselves"),
        (
            POINTS,
            3,
            {"index": Faiss(POINTS, answer=lambda x, k: (np.ones((80, 2)), np.ones((80, 2), dtype=int)))},
            r"^index: expected 4 distances and row numbers for each of 80 points; got shapes \(80, 2\)",
        ),
    ],
)
def test_bad_input_gets_one_clear_error(points, k, options, message):
    with pytest.raises(ValueError, match=message):
        nearest_neighbours(points, k, **options)


@pytest.mark.parametrize(
    ("new", "k", "message"),
    [
        (POINTS[:, :2], 3, r"^new_points: expected rows of 3 numbers, as in points; got shape \(80, 2\)"),
        (np.empty((0, 3)), 3, r"^new_points: expected rows of 3 numbers"),
        (POINTS[0], 3, r"^new_points: expected an \(n, d\) array of numbers; got shape \(3,\)"),
        (np.full((1, 3), NAN), 3, r"^new_points: expected finite coordinates"),
        (np.full((1, 3), 1e200), 3, r"^new_points: expected coordinates at most 1e100 times"),
        (POINTS, 81, r"^points: expected at least k = 81 points; got 80"),
        (POINTS, -1, r"^k: expected a positive number"),
    ],
)
def test_bad_new_points_get_one_clear_error(new, k, message):
    with pytest.raises(ValueError, match=message):
        NeighbourSearch(POINTS).neighbours_of(new, k)


def test_negative_new_distances_are_refused():
    with pytest.raises(ValueError, match=r"^new_points: expected distances, 0 or more"):
        NeighbourSearch(TABLE, metric="precomputed").neighbours_of(-TABLE[:2], 3)


@pytest.mark.parametrize("p", [0.5, 33, NAN, "2", None, True])
def test_minkowski_needs_a_power(p):
    with pytest.raises(ValueError, match=r"^p: expected a number from 1 to 32, or infinity"):
        Minkowski(p)


@pytest.mark.parametrize(
    ("indices", "distances", "message"),
    [
        ([1, 2], [1.0, 2.0], r"^indices: expected an \(n, k\) array of row numbers"),
        ([[1.0]], [[1.0]], r"^indices: .* type float64"),
        (np.empty((3, 0), dtype=int), np.empty((3, 0)), r"^indices: .* shape \(3, 0\)"),
        ([[1, 2]], [[1.0]], r"^distances: expected 1 x 2 numbers, .* got shape \(1, 1\)"),
        ([[1, -1]], [[1.0, 2.0]], r"^indices: expected row numbers, 0 or more; the smallest is -1"),
        ([[1, 2]], [[2.0, 1.0]], r"^distances: expected finite numbers, .* never fall along a row"),
        ([[1, 2]], [[1.0, INF]], r"^distances: expected finite"),
        ([[1, 2]], [[NAN, 1.0]], r"^distances: expected finite"),
        ([[1]], [[NAN]], r"^distances: expected finite"),
        ([[1, 2]], [[-1.0, 1.0]], r"^distances: expected finite"),
    ],
)
def test_neighbours_that_are_none_are_refused(indices, distances, message):
    with pytest.raises(ValueError, match=message):
        Neighbours(np.array(indices), np.array(distances))


def test_neighbours_are_read_only_and_say_what_they_are():
    found = nearest_neighbours(POINTS, 3)
    assert repr(found) == "Neighbours(3 of each of 80 points)"
    assert (found.n, found.k, found.indices.dtype, found.distances.dtype) == (80, 3, np.int32, np.float64)
    for array in (found.indices, found.distances):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 0


@pytest.mark.parametrize(
    "points", [POINTS.tolist(), POINTS.astype(np.float32), (10 * POINTS).astype(int), BITS]
)
def test_any_array_of_numbers_will_do(points):
    assert_consistent(nearest_neighbours(points, 3), np.asarray(points, dtype=float))


def test_arrays_that_may_not_be_written_to():
    points = POINTS.copy()
    points.flags.writeable = False
    nearest_neighbours(points, 3)
    nearest_neighbours(points, 3, metric="canberra")
