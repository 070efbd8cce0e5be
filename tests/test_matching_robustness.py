"""Laws of matching where it is tempting to fail: regular points, points far away, images turned together."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from threadpoolctl import threadpool_info

import hypermodes as hm
from hypermodes.assignment import payoffs
from hypermodes.construct.correspondences import scrambled
from hypermodes.construct.structures import homographies
from hypermodes.threads import single_threaded_algebra


def grid(rows, columns):
    return np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2).astype(float)


def turned(points, angle):
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, s], [-s, c]])


regular = pytest.mark.parametrize(
    "points", [grid(5, 5), grid(3, 8), turned(grid(4, 6), 0.3), grid(1, 10), turned(grid(1, 7), 1.0)]
)


@regular
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_a_grid_or_a_line_is_matched_with_its_own_copy(points, noise):
    rng = np.random.default_rng(0)
    order = rng.permutation(len(points))
    copy = 3 * (points + noise * rng.normal(size=points.shape))[order] + [100.0, -7.0]
    found = hm.match(points, copy)
    assert found.pairs[:, 0].tolist() == list(range(len(points)))
    assert order[found.pairs[:, 1]].tolist() == list(range(len(points)))
    # Seven points on a line leave much to chance; more of them, or any in the plane, do not.
    assert found.score > (0.5 if len(points) > 7 else 0.25)
    assert found.score > hm.match(points, rng.normal(size=points.shape)).score


@regular
def test_a_turned_grid_is_matched_by_one_of_its_symmetries(points):
    found = hm.match(points, 2 * turned(points, 0.8), rotation_invariant=True)
    assert len(found) == len(points)
    assert pdist(points[found.pairs[:, 1]]) == pytest.approx(pdist(points[found.pairs[:, 0]]), abs=1e-6)


@regular
def test_what_is_regular_is_not_regular_when_scrambled(points):
    places = scrambled(hm.Features(points)).points + points.mean(axis=0)
    nearest = np.linalg.norm(places[:, None] - points[None], axis=2).min(axis=1)
    assert np.median(nearest) > 0.1  # of the distance between neighbours
    # As wide as before, or a little wider: smoothing with n^(-1/6) of the spread adds to it.
    assert 0.6 < pdist(places).mean() / pdist(points).mean() < 1.8


@pytest.mark.parametrize("away", [30.0, 1e3, 1e6, 1e60])
@pytest.mark.parametrize("sides", [(0,), (1,), (0, 1)])
def test_a_few_points_far_away_change_nothing_where_rotation_is_unknown(away, sides):
    rng = np.random.default_rng(1)
    left = rng.normal(size=(15, 2))
    right = np.vstack((1.5 * turned(left + 0.01 * rng.normal(size=left.shape), 2.0), rng.normal(size=(4, 2))))
    before = hm.match(left, right, rotation_invariant=True)
    assert before.pairs.tolist() == [[i, i] for i in range(15)]
    both = [left, right]
    for side in sides:
        # In different directions, all of them far: no two of them are near each other either.
        far = away * np.array([[1.0, 0.2], [-0.9, 1.1], [0.1, -1.3]]) * (1 + side)
        both[side] = np.vstack((both[side], far))
    after = hm.match(*both, rotation_invariant=True)
    assert np.array_equal(before.pairs, after.pairs)


def test_a_true_match_far_away_is_still_a_match():
    rng = np.random.default_rng(2)
    left = np.vstack((rng.normal(size=(15, 2)), [[50.0, 20.0]]))
    found = hm.match(left, turned(left, 1.0), rotation_invariant=True)
    assert found.pairs.tolist() == [[i, i] for i in range(16)]


def plane_among_outliers():
    rng = np.random.default_rng(0)
    left = rng.uniform(0, [640, 200], size=(60, 2))
    there = np.column_stack((left, np.ones(60))) @ np.array(
        [[0.9, 0.1, 1e-4], [-0.2, 1.1, 2e-4], [9, 4, 1.0]]
    )
    right = there[:, :2] / there[:, 2:]
    right[40:] = rng.uniform(0, [640, 200], size=(20, 2))
    return left, right


@pytest.mark.parametrize("angles", [(0.4, 0.4), (np.pi / 2, np.pi / 2), (1.0, -0.3)])
def test_turning_images_changes_no_structure(angles):
    left, right = plane_among_outliers()
    free = np.ones(60, dtype=bool)
    before = homographies(left, right, free)
    after = homographies(turned(left, angles[0]), turned(right, angles[1]), free)
    assert before.significance.max() > 50
    # Those that explain nothing are fitted to everything, and rounding decides what they are.
    good = before.significance > 0
    assert np.array_equal(before.explained[good], after.explained[good])
    assert after.significance[good] == pytest.approx(before.significance[good], rel=1e-6)


def test_affinities_are_symmetric_to_the_last_bit():
    rng = np.random.default_rng(0)
    sides = [
        hm.Features(rng.normal(size=(n, 2)), rng.uniform(0, 6, n), rng.uniform(1, 2, n)) for n in (14, 11)
    ]
    candidates = hm.candidate_pairs(*sides)
    for options in ({}, {"rotation_invariant": True}, {"scale_invariant": False}):
        affinity = hm.pairwise_affinity(*sides, candidates, **options)
        assert (affinity != affinity.T).nnz == 0
        assert all((np.diff(affinity[[k]].indices) > 0).all() for k in range(len(candidates)))
        assert affinity.nnz > 100


def test_payoffs_are_the_product_to_the_last_bit():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20, 2))
    candidates = hm.candidate_pairs(points, points)
    affinity = hm.pairwise_affinity(points, points, candidates)
    for share in (0.0, 0.02, 0.2, 1.0):
        x = rng.uniform(size=len(candidates)) * (rng.uniform(size=len(candidates)) < share)
        assert np.array_equal(payoffs(affinity, x), affinity @ x)


def test_whoever_leaves_last_gives_linear_algebra_its_threads_back():
    def threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = threads()
    with single_threaded_algebra:
        with single_threaded_algebra:
            assert set(threads()) <= {1}
        assert set(threads()) <= {1}
    assert threads() == before
