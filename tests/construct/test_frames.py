"""Frames: points that were mirrored, or had their axes exchanged, are the same in it to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypermodes.construct.frames import Frame
from strategies import seeds


def entered(points):
    return Frame.of(points).enter(points)


def lain(points, rng):
    """The points with axes in another order, some of them turned round."""
    axes, signs = rng.permutation(points.shape[1]), rng.choice([-1.0, 1.0], points.shape[1])
    return points[:, axes] * signs


def as_set(points):
    """Points seen from their corner: what is symmetric is so about its own middle."""
    return sorted(map(tuple, (points - points.min(axis=0)).tolist()))


@given(seeds, st.integers(1, 6), st.sampled_from(["normal", "few digits", "lattice", "truth", "one extent"]))
def test_points_are_the_same_however_they_lay(seed, d, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    points = {
        "normal": lambda: rng.normal(size=(n, d)),
        "few digits": lambda: np.round(rng.normal(size=(n, d)), 1),
        "lattice": lambda: rng.integers(0, 4, (n, d)).astype(float),
        "truth": lambda: rng.integers(0, 2, (n, d)).astype(float),
        "one extent": lambda: np.concatenate((rng.uniform(size=(n, d)), np.zeros((1, d)), np.ones((1, d)))),
    }[kind]()
    one = entered(points)
    other = lain(points, rng)
    assert as_set(entered(other)) == as_set(one)  # rows may be exchanged where the set is symmetric
    assert as_set(entered(other * 2.0**-30)) == as_set(one * 2.0**-30)
    rows = rng.permutation(len(points))
    assert as_set(entered(other[rows])) == as_set(one)
    assert as_set(entered(np.tile(other, (3, 1)))) == as_set(np.tile(one, (3, 1)))


@given(seeds, st.integers(1, 4))
def test_rows_stay_where_they_are_if_nothing_is_symmetric(seed, d):
    rng = np.random.default_rng(seed)
    points = rng.integers(-50, 50, (80, d)).astype(float)
    assert (entered(lain(points, rng)) == entered(points)).all()
    moved = entered(points + rng.integers(-9, 9, d))
    assert np.ptp(moved - entered(points), axis=0).tolist() == [0.0] * d


def test_axes_that_look_alike_are_told_apart_by_the_others():
    """Each axis by itself is 0 as often as 1, and as often as any other: only together do they tell."""
    corners = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1], [1, 1, 1]], float)
    balanced = np.array([[0, 1], [1, 1], [2, 3], [3, 0], [0, 2], [3, 3], [1, 0], [2, 2]], float)
    for points in (corners, np.unique(corners, axis=0), balanced):
        for seed in range(40):
            other = lain(points, np.random.default_rng(seed))
            assert as_set(entered(other)) == as_set(entered(points))


def test_the_longest_axis_comes_first_and_begins_where_most_points_lie():
    points = np.array([[0.0, 0.0], [1.0, 9.0], [0.5, 8.0], [0.2, 7.0]])
    frame = Frame.of(points)
    assert frame.axes.tolist() == [1, 0]
    assert frame.signs.tolist() == [-1.0, 1.0]
    np.testing.assert_array_equal(frame.enter(points), points[:, ::-1] * [-1.0, 1.0])
    np.testing.assert_array_equal(frame.enter(np.array([[3.0, 4.0]])), [[-4.0, 3.0]])


def test_what_lies_in_its_frame_is_not_copied():
    points = np.array([[0.0, 0.0], [9.0, 1.0], [1.0, 0.5], [2.0, 0.2]])
    assert Frame.of(points).enter(points) is points


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_points_are_summed_up_in_threads(n_jobs):
    points = np.random.default_rng(0).normal(size=(200_000, 2))
    one, other = Frame.of(points, n_jobs), Frame.of(-points[:, ::-1], n_jobs)
    assert (one.enter(points) == other.enter(-points[:, ::-1])).all()
