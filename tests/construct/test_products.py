"""Neighbours by inner products, in single precision first, to the last bit those of distances written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypermodes.construct import products, searching
from hypermodes.construct.neighbours import NeighbourSearch, nearest_neighbours
from hypermodes.construct.orders import row_order
from hypermodes.construct.products import Products
from strategies import seeds

N = 150


def literal(points, k, new=None):
    """All distances from differences; equal ones in canonical order, and k + 1 points at most at a place."""
    unit = 2.0 ** np.frexp(np.abs(points).max())[1]  # exact; so that squares stay numbers
    points, new = points / unit, None if new is None else new / unit
    order = row_order(points)
    before: dict[bytes, int] = {}
    chosen = []
    for i in order.tolist():
        place = (points[i] + 0.0).tobytes()
        before[place] = before.get(place, 0) + 1
        if before[place] <= k + 1:
            chosen.append(i)
    places = points[chosen]
    asked = list(enumerate(points)) if new is None else [(-1, x) for x in new]
    rows = [of_one(places, np.array(chosen), x, k, i) for i, x in asked]
    return np.array([row for row, _ in rows]), unit * np.array([distances for _, distances in rows])


def of_one(places, chosen, x, k, own):
    differences = places - x
    distances = np.sqrt(np.einsum("ij,ij->i", differences, differences))
    distances[chosen == own] = np.inf
    first = np.argsort(distances, kind="stable")[:k]
    return chosen[first], distances[first]


def groups(spread, columns=60, seed=0):
    """Groups on a sphere, each as large as ``spread``."""
    rng = np.random.default_rng(seed)
    middles = rng.normal(size=(5, columns))
    middles /= np.linalg.norm(middles, axis=1)[:, None]
    return middles[rng.integers(5, size=N)] + spread * rng.normal(size=(N, columns))


def one_far_off(factor):
    points = groups(0.1)
    points[7] *= factor
    return points


RNG = np.random.default_rng(4)
CASES = {
    "random": RNG.normal(size=(N, 50)),
    "many columns": RNG.normal(size=(N, 1500)),
    "single precision tells these apart": groups(0.1),
    "double precision does": groups(1e-5),
    "and hardly": groups(1e-9),
    "nor that": groups(1e-14),
    "doubled": np.repeat(groups(0.1), 3, axis=0)[:N],
    "some often": groups(0.1)[RNG.integers(0, 12, size=N)],
    "lattice": RNG.integers(0, 2, size=(N, 16)).astype(float),
    "corners": np.eye(N, 160),
    "far from the origin": groups(1.0) + 1e9,
    "a far outlier": one_far_off(1e12),
    "one beyond single precision": one_far_off(1e60),
    "huge": groups(0.1) * 2.0**900,
    "tiny": groups(0.1) * 2.0**-900,
    "along one column": np.concatenate((RNG.normal(size=(N, 1)), np.zeros((N, 19))), axis=1),
}


@pytest.fixture(params=[512, 32], ids="blocks of {}".format)
def side(request, monkeypatch):
    monkeypatch.setattr(products, "SIDE", request.param)
    monkeypatch.setattr(searching, "SIDE", request.param)


@pytest.mark.parametrize("k", [1, 7, 40])
@pytest.mark.parametrize("name", CASES)
def test_neighbours_are_those_of_distances_written_out(name, k, side):
    points = CASES[name]
    indices, distances = literal(points, k)
    found = nearest_neighbours(points, k)
    np.testing.assert_array_equal(found.distances, distances)
    np.testing.assert_array_equal(found.indices, indices)


@pytest.mark.parametrize("name", CASES)
def test_neighbours_of_new_points_are_those_of_distances_written_out(name, side):
    points = CASES[name]
    rng = np.random.default_rng(5)
    new = np.concatenate((points[:9], points[:9] + rng.normal(size=points[:9].shape) * np.abs(points).max()))
    indices, distances = literal(points, 6, new)
    found = NeighbourSearch(points).neighbours_of(new, 6)
    np.testing.assert_array_equal(found.distances, distances)
    np.testing.assert_array_equal(found.indices, indices)


@pytest.mark.parametrize("far", [1e12, 1e90])
def test_new_points_may_be_far_away(far):
    points = groups(0.1)
    indices, distances = literal(points, 3, points[:5] * far)
    found = NeighbourSearch(points).neighbours_of(points[:5] * far, 3)
    np.testing.assert_array_equal(found.distances, distances)
    np.testing.assert_array_equal(found.indices, indices)


@given(seeds, st.integers(1, 9), st.sampled_from([1, 2, 4]), st.sampled_from([1e-9, 1e-3, 1.0]))
def test_neighbours_of_a_noisy_lattice(seed, k, values, noise):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, values + 1, size=(60, 14)).astype(float)
    points[::2] += noise * rng.normal(size=points[::2].shape)
    indices, distances = literal(points, k)
    found = nearest_neighbours(points, k, n_jobs=1)
    np.testing.assert_array_equal(found.distances, distances)
    np.testing.assert_array_equal(found.indices, indices)


@pytest.mark.parametrize("name", CASES)
def test_neither_threads_nor_blocks_nor_the_order_of_rows_play_a_part(name, monkeypatch):
    points = CASES[name]
    once = nearest_neighbours(points, 9, n_jobs=1)
    monkeypatch.setattr(products, "SIDE", 16)
    monkeypatch.setattr(searching, "SIDE", 16)
    monkeypatch.setattr(searching, "LARGEST", 600)  # some rows at a time
    for threads in (1, 2, 4):
        again = nearest_neighbours(points, 9, n_jobs=threads)
        np.testing.assert_array_equal(again.indices, once.indices)
        np.testing.assert_array_equal(again.distances, once.distances)
    shuffled = np.random.default_rng(6).permutation(N)
    moved = nearest_neighbours(points[shuffled], 9)
    np.testing.assert_array_equal(moved.distances, once.distances[shuffled])
    np.testing.assert_array_equal(points[shuffled[moved.indices]], points[once.indices[shuffled]])


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_the_precision_of_the_input_is_that_of_its_numbers(kind):
    points = groups(0.1).astype(kind)
    once, again = nearest_neighbours(points, 9), nearest_neighbours(points.astype(float), 9)
    np.testing.assert_array_equal(again.indices, once.indices)
    np.testing.assert_array_equal(again.distances, once.distances)


def test_the_cosine_of_directions_is_as_their_distance():
    points = groups(0.1)
    points /= np.linalg.norm(points, axis=1)[:, None]
    straight, angles = nearest_neighbours(points, 9), nearest_neighbours(points, 9, metric="cosine")
    np.testing.assert_array_equal(angles.indices, straight.indices)
    np.testing.assert_allclose(angles.distances, straight.distances**2 / 2, rtol=1e-12)


@pytest.mark.parametrize("spread", [1.0, 0.1, 1e-2, 1e-3])
@pytest.mark.parametrize("seed", range(5))
def test_the_rounding_of_products_plays_no_part(spread, seed, monkeypatch):
    """Products as far off as rounding may ever put them, at random: other candidates, the same neighbours."""
    points = groups(spread, seed=seed)
    once = nearest_neighbours(points, 5)
    rng, true = np.random.default_rng(seed), np.matmul

    def worst(a, b, out):
        true(a, b, out=out)
        d = a.shape[1] * np.finfo(a.dtype).eps / 2
        size = np.outer(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=0))
        out += (0.99 * d * size * rng.choice([-1, 1], size=out.shape)).astype(out.dtype)

    monkeypatch.setattr(products.np, "matmul", worst)
    again = nearest_neighbours(points, 5, n_jobs=1)
    np.testing.assert_array_equal(again.indices, once.indices)
    np.testing.assert_array_equal(again.distances, once.distances)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("name", CASES)
def test_no_square_seems_larger_than_its_limit(name, precision):
    points = CASES[name]
    if np.abs(points).max() > 1e200:
        points = points * 2.0**-900  # as the search does
    search = Products(points, precision, 1)
    for i in range(0, N, 10):
        asked = search.places[np.full(N, i)]
        differences = points - points[i]
        limits = search.limit(asked, np.sqrt(np.einsum("ij,ij->i", differences, differences)))
        assert not (search.squares(asked[:1])[0] > limits).any()
