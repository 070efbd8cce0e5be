"""The order along a curve is one of places: near ones are near each other in it, however they come."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypermodes.construct import orders
from hypermodes.construct.orders import curve_order, row_order
from strategies import seeds


def square(n, columns=2, seed=0):
    return np.random.default_rng(seed).random((n, columns))


def far(points):
    """The same, and a point so far away that all others are in one cell of a grid over all of them."""
    return np.concatenate((points, np.full((1, points.shape[1]), 1e9)))


def crowds(seed):
    """Groups of groups of groups, each a millionth as large as the one it is in; and equal points."""
    rng, places = np.random.default_rng(seed), np.zeros((1, 2))
    for size in (1.0, 1e-6, 1e-12):
        places = (places[:, None] + size * rng.normal(size=(1, 7, 2))).reshape(-1, 2)
    return np.concatenate((places, places[:40], np.repeat(places[:1], 50, axis=0)))


def steps(points):
    """How far it is from each to the next."""
    return np.linalg.norm(np.diff(points[curve_order(points)], axis=0), axis=1)


@given(seeds, st.sampled_from([1, 2, 3, 5]), st.booleans(), st.sampled_from([1, 32, 10**6]))
def test_the_order_is_that_of_the_places_however_they_come(seed, columns, few_places, crowd):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (90, columns)).astype(float) if few_places else crowds(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(orders, "CROWD", crowd)
        order = curve_order(points)
        assert sorted(order.tolist()) == list(range(len(points)))
        same = (np.diff(points[order], axis=0) == 0).all(axis=1)
        assert (np.diff(order)[same] > 0).all()  # equal ones stay in their order
        assert same.sum() == len(points) - len(np.unique(points, axis=0))  # and are beside each other
        moved = rng.permutation(len(points))
        np.testing.assert_array_equal(points[moved][curve_order(points[moved])], points[order])
        np.testing.assert_array_equal(curve_order(points, n_jobs=3), order)
        np.testing.assert_array_equal(curve_order(points[order]), np.arange(len(points)))


@pytest.mark.parametrize("columns", [1, 2])
def test_who_is_far_away_does_not_change_how_near_the_others_are(columns):
    points = square(20_000, columns)
    assert steps(far(points))[:-1].sum() <= 1.1 * steps(points).sum()


def test_near_ones_are_near_each_other_in_groups_of_any_size():
    points = crowds(3)
    found = np.sort(steps(points))[::-1]
    assert (found > 1e-3).sum() < 7 * 2  # from group to group; a walk in any other order has hundreds
    assert (found > 1e-9).sum() < 7 * 7 * 2


@given(seeds, st.sampled_from([1, 2, 5]), st.sampled_from([1, 3, 50]))
def test_rows_are_in_the_order_of_their_coordinates(seed, columns, values):
    points = np.random.default_rng(seed).integers(0, values, (90, columns)).astype(float)
    rows = sorted(range(len(points)), key=lambda i: (*points[i].tolist(), i))
    assert row_order(points).tolist() == rows
