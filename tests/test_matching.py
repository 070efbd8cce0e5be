"""Laws of matching: what may not matter does not, pairs are one-to-one, nothing in common gives nothing."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hypermodes as hm
from hypermodes.assignment import assign, climb, greedily


def two_views(seed, n=18, outliers=6, noise=0.03, oriented=False):
    """A shape, the same bent a little and shuffled, outliers on both sides; truth[i] is the match of i."""
    rng = np.random.default_rng(seed)
    shape = rng.uniform(-1, 1, size=(n, 2))
    bent = shape + 0.05 * np.sin(3 * shape[:, ::-1]) + rng.normal(scale=noise, size=shape.shape)
    left = np.vstack((shape, rng.uniform(-1, 1, size=(outliers, 2))))
    right = np.vstack((bent, rng.uniform(-1, 1, size=(outliers, 2))))
    angles = rng.uniform(-np.pi, np.pi, size=n + outliers)
    order = rng.permutation(n + outliers)
    truth = np.argsort(order)[:n]
    turn = angles + rng.normal(scale=0.1, size=angles.size)
    turn[n:] = rng.uniform(-np.pi, np.pi, size=outliers)
    if not oriented:
        return hm.Features(left), hm.Features(right[order]), truth
    return hm.Features(left, angles), hm.Features(right[order], turn[order]), truth


def as_set(pairs):
    return {tuple(pair) for pair in pairs.tolist()}


def changed(features, points=None, order=None, turn=0.0):
    points = features.points if points is None else points
    order = np.arange(len(points)) if order is None else order
    angles = None if features.orientations is None else features.orientations[order] + turn
    return hm.Features(points[order], angles)


@pytest.mark.parametrize("oriented", [False, True])
def test_true_matches_are_found_among_outliers(oriented):
    left, right, truth = two_views(0, oriented=oriented)
    found = hm.match(left, right)
    right_ones = as_set(np.column_stack((np.arange(truth.size), truth)))
    assert len(as_set(found.core) & right_ones) >= 0.9 * len(found.core)
    assert len(as_set(found.pairs) & right_ones) >= 0.9 * truth.size
    assert found.score > 0.3
    assert found.certificate.holds()


def test_swapping_the_sides_swaps_the_pairs():
    for seed in range(2):
        left, right, _ = two_views(seed)
        there, back = hm.match(left, right), hm.match(right, left)
        assert as_set(there.pairs) == as_set(back.pairs[:, ::-1])
        assert as_set(there.core) == as_set(back.core[:, ::-1])
        assert there.score == back.score
        assert np.array_equal(there.unmatched_left, back.unmatched_right)


@pytest.mark.parametrize("side", [0, 1])
def test_translating_and_scaling_a_side_changes_nothing(side):
    sides = list(two_views(1, oriented=True)[:2])
    before = hm.match(*sides)
    sides[side] = changed(sides[side], 7.5 * sides[side].points + np.array([300.0, -40.0]))
    after = hm.match(*sides)
    assert np.array_equal(before.pairs, after.pairs)
    assert before.scores == pytest.approx(after.scores, rel=1e-6)


@pytest.mark.parametrize("away", [30.0, 1e6, 1e60])
def test_a_point_far_from_all_others_changes_nothing(away):
    left, right, _ = two_views(0, outliers=0)
    before = hm.match(left, right)
    after = hm.match(np.vstack((left.points, [[away, 0.0]])), right)
    assert len(before) >= 17
    assert np.array_equal(before.pairs, after.pairs)
    assert after.unmatched_left[-1] == len(left)


def test_rotating_a_side_changes_nothing_where_that_is_promised():
    left, right, _ = two_views(2, oriented=True)
    c, s = np.cos(1.1), np.sin(1.1)
    rotated = changed(right, right.points @ np.array([[c, s], [-s, c]]), turn=1.1)
    before = hm.match(left, right, rotation_invariant=True)
    after = hm.match(left, rotated, rotation_invariant=True)
    assert len(before) > 10
    assert np.array_equal(before.pairs, after.pairs)


def test_the_order_of_points_does_not_matter():
    left, right, _ = two_views(3)
    order = np.random.default_rng(0).permutation(len(left))
    before, after = hm.match(left, right), hm.match(changed(left, order=order), right)
    assert as_set(before.pairs) == {(int(order[i]), a) for i, a in as_set(after.pairs)}


@pytest.mark.parametrize(("oriented", "rotation_invariant"), [(False, False), (True, True), (False, True)])
def test_however_a_problem_is_written_down_its_answer_is_the_same(oriented, rotation_invariant):
    for seed in (102, 109):
        sides, n = two_views(seed, oriented=oriented)[:2], 24
        orders = [np.random.default_rng(seed + k).permutation(n) for k in (0, 1)]
        angle = 1.1 if rotation_invariant else 0.0
        c, s = np.cos(angle), np.sin(angle)
        points = 3.3 * sides[1].points @ np.array([[c, s], [-s, c]]) + np.array([1000.0, -77.0])
        written = changed(sides[0], order=orders[0]), changed(sides[1], points, orders[1], turn=angle)
        before = hm.match(*sides, rotation_invariant=rotation_invariant)
        after = hm.match(*written[::-1], rotation_invariant=rotation_invariant)
        assert as_set(before.pairs) == {
            (int(orders[0][i]), int(orders[1][a])) for a, i in as_set(after.pairs)
        }
        assert before.score == pytest.approx(after.score, rel=1e-6)


@pytest.mark.parametrize("rotation_invariant", [False, True])
@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e90])
def test_neither_tiny_nor_huge_coordinates_matter(size, rotation_invariant):
    left, right, _ = two_views(0, outliers=0)
    before = hm.match(left, right, rotation_invariant=rotation_invariant)
    after = hm.match(size * left.points, right, rotation_invariant=rotation_invariant)
    assert len(before) > 10
    assert np.array_equal(before.pairs, after.pairs)


def test_orientations_count_modulo_half_a_turn():
    left, right, _ = two_views(4, oriented=True)
    flipped = hm.Features(right.points, right.orientations + np.pi * (np.arange(len(right)) % 2))
    assert np.array_equal(hm.match(left, right).pairs, hm.match(left, flipped).pairs)


def test_nothing_in_common_gives_a_low_score_and_few_pairs():
    scores, sizes = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        found = hm.match(rng.uniform(size=(25, 2)), rng.uniform(size=(25, 2)))
        scores.append(found.score)
        sizes.append(len(found))
    left, right, _ = two_views(0)
    assert np.median(scores) < 0.1
    assert np.median(sizes) <= 3
    assert max(scores) < hm.match(left, right).score


@settings(max_examples=15)
@given(st.integers(2, 9), st.integers(2, 9), st.integers(0, 2**32 - 1), st.sampled_from([None, 1, 3, 50]))
def test_pairs_are_one_to_one_always(n_left, n_right, seed, n_matches):
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, 4, size=(n_left, 2)), rng.integers(0, 4, size=(n_right, 2))
    left[0], left[1], right[0], right[1] = (0, 0), (3, 1), (0, 0), (1, 3)
    found = hm.match(left, right, n_matches=n_matches)
    for side, n, rest in ((0, n_left, found.unmatched_left), (1, n_right, found.unmatched_right)):
        assert np.array_equal(np.sort(np.concatenate((found.pairs[:, side], rest))), np.arange(n))
    if n_matches is not None:
        assert len(found) == min(n_matches, n_left, n_right)
    assert as_set(found.core) <= as_set(found.pairs)
    assert found.scores.shape == (len(found),)
    assert ((found.scores >= 0) & (found.scores <= 1)).all()
    assert 0 <= found.score <= 1
    assert str(len(found)) in repr(found)


def test_an_affinity_of_ones_own():
    left, right, truth = two_views(5, outliers=0)
    candidates = hm.candidate_pairs(left, right)
    affinity = hm.pairwise_affinity(left, right, candidates)
    found = hm.match_affinity(candidates, affinity)
    assert len(as_set(found.pairs) & as_set(np.column_stack((np.arange(18), truth)))) >= 16
    dense = hm.match_affinity(candidates, affinity.toarray())
    assert np.array_equal(found.pairs, dense.pairs)
    assert len(hm.match_affinity(candidates, sp.csr_array(affinity.shape))) == 0


def test_entries_of_candidates_in_conflict_are_ignored():
    candidates = hm.Candidates(np.array([[0, 0], [0, 1], [1, 1]]), np.ones(3), 2, 2)
    affinity = np.array([[0, 5.0, 0.5], [5.0, 0, 5.0], [0.5, 5.0, 0]])
    for kind in (np.asarray, sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array):
        assert hm.match_affinity(candidates, kind(affinity)).pairs.tolist() == [[0, 0], [1, 1]]


@pytest.mark.parametrize("factor", [1e-320, 1e-3, 1000.0, 1e90])
def test_the_unit_of_an_affinity_does_not_matter(factor):
    candidates = hm.Candidates(np.indices((2, 2)).reshape(2, -1).T, np.ones(4), 2, 2)
    affinity = np.array([[0, 0, 0, 1.0], [0, 0, 0.25, 0], [0, 0.25, 0, 0], [1.0, 0, 0, 0]])
    one, other = hm.match_affinity(candidates, affinity), hm.match_affinity(candidates, factor * affinity)
    assert one.pairs.tolist() == other.pairs.tolist() == [[0, 0], [1, 1]]
    assert one.scores == pytest.approx(other.scores)
    assert one.score == pytest.approx(other.score)


def test_affinities_that_vanish_beside_the_largest_are_none():
    left, right, _ = two_views(5, outliers=0)
    candidates = hm.candidate_pairs(left, right)
    affinity = 1e90 * hm.pairwise_affinity(left, right, candidates).toarray()
    one, other = (hm.match_affinity(candidates, np.maximum(affinity, least)) for least in (0.0, 1e-300))
    assert len(one) > 0
    assert np.array_equal(one.pairs, other.pairs)
    assert np.array_equal(one.scores, other.scores)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_assignments_against_all_of_them(n_left, n_right, seed):
    from itertools import permutations

    rng = np.random.default_rng(seed)
    keep = np.flatnonzero(rng.random(n_left * n_right) < 0.7)
    assume(keep.size > 0)
    pairs = np.indices((n_left, n_right)).reshape(2, -1).T[keep]
    candidates, scores = hm.Candidates(pairs, np.ones(keep.size), n_left, n_right), rng.random(keep.size)
    chosen = assign(candidates, scores)
    table = np.zeros((max(n_left, n_right),) * 2)
    table[pairs[:, 0], pairs[:, 1]] = scores
    best = max(sum(table[i, a] for i, a in enumerate(way)) for way in permutations(range(len(table))))
    assert chosen @ scores == pytest.approx(best)
    greedy = greedily(candidates, scores)
    assert scores[greedy].sum() >= best / 2 - 1e-12
    for taken in (np.flatnonzero(chosen), greedy):
        assert len(set(pairs[taken, 0].tolist())) == len(set(pairs[taken, 1].tolist())) == taken.size


def test_climbing_never_loses_against_its_start():
    rng = np.random.default_rng(0)
    for _ in range(20):
        candidates = hm.Candidates(np.indices((5, 6)).reshape(2, -1).T, np.ones(30), 5, 6)
        dense = rng.random((30, 30)) * (rng.random((30, 30)) < 0.4)
        matrix = sp.csr_array(np.triu(dense, 1) + np.triu(dense, 1).T)
        start = assign(candidates, rng.random(30))
        end = climb(candidates, matrix, start)
        assert end @ (matrix @ end) >= start @ (matrix @ start) - 1e-9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 0]], [[0, 0], [1, 1]]), "left: points: expected at least 2 points; got 1"),
        (([[0, 0], [1, 1]], []), r"right: points: expected an \(n, 2\) array"),
        (([[0, np.nan], [1, 1]], [[0, 0], [1, 1]]), "left: points: expected finite numbers"),
        (([[2, 2], [2, 2]], [[0, 0], [1, 1]]), "left: points: expected points at different places; all 2"),
        (([[1, 2, 3], [2, 2, 2]], [[0, 0], [1, 1]]), r"left: points: expected an \(n, 2\) array"),
        ((["ab", "cd"], [[0, 0], [1, 1]]), "left: points: expected numbers"),
        (([[1, 2], [2]], [[0, 0], [1, 1]]), "left: points: expected numbers; got rows of different lengths"),
    ],
)
def test_bad_points_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        hm.match(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_matches": 0}, "n_matches: expected a whole number, 1 or more"),
        ({"n_matches": 2.5}, "n_matches: expected a whole number, 1 or more"),
        ({"per_point": 1}, "per_point: to choose candidates, both sides need descriptors"),
        ({"per_point": 0}, "per_point: expected a whole number, 1 or more"),
        ({"length": -1}, "length: expected a positive number"),
        ({"length": 1e-200}, "length: expected a positive number, from 1e-100"),
        ({"smallest": 2}, "smallest: expected an affinity below 1"),
        ({"displacement": 0.0}, "displacement: expected a positive number"),
        ({"scale_invariant": "no"}, "scale_invariant: expected True or False"),
    ],
)
@pytest.mark.parametrize("rotation_invariant", [False, True])
def test_bad_options_are_named(options, message, rotation_invariant):
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    with pytest.raises(ValueError, match=message):
        hm.match(square, square, rotation_invariant=rotation_invariant, **options)
    with pytest.raises(TypeError, match="lenght: expected one of the options length, direction"):
        hm.match(square, square, rotation_invariant=rotation_invariant, lenght=0.1)


def test_displacements_are_not_compared_where_a_side_may_be_turned():
    left, right, _ = two_views(0)
    with pytest.raises(ValueError, match="displacement: expected None with rotation_invariant=True"):
        hm.match(left, right, rotation_invariant=True, displacement=0.5)


def test_lengths_and_directions_are_compared_if_asked_for():
    left, right, _ = two_views(1)
    by_length = hm.match(left, right, length=0.3)
    assert as_set(by_length.pairs) == as_set(hm.match(left, right, displacement=None).pairs)


def test_bad_affinities_are_named():
    candidates = hm.Candidates(np.array([[0, 0], [1, 1]]), np.ones(2), 2, 2)
    for affinity, message in (
        (np.ones((3, 3)), "affinity: expected 2 rows and columns"),
        (np.array([[0, -1], [-1, 0]]), "affinity: expected non-negative"),
        (np.array([[0, 1], [2, 0]]), "affinity: expected a symmetric"),
        (np.array([[0, np.nan], [np.nan, 0]]), "affinity: expected finite"),
    ):
        with pytest.raises(ValueError, match=message):
            hm.match_affinity(candidates, affinity)
    with pytest.raises(TypeError, match="candidates: expected Candidates"):
        hm.match_affinity(np.zeros((2, 2)), np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("pairs", "sizes", "message"),
    [
        ([[0, 1], [0]], (2, 2), "pairs: expected .* got rows of different lengths"),
        (np.array([[2**64 - 1, 0]], dtype=np.uint64), (2, 2), r"one pair is \[18446744073709551615, 0\]"),
        ([[0, -1]], (2, 2), r"one pair is \[0, -1\]"),
        ([[0, 2]], (2, 2), r"one pair is \[0, 2\]"),
        ([[0, 0]], (2, 2**70), "n_right: expected a positive number of points below"),
        ([[0, 0], [0, 0]], (2, 2), "pairs: expected each pair once"),
    ],
)
def test_bad_candidates_are_named(pairs, sizes, message):
    with pytest.raises(ValueError, match=message):
        hm.Candidates(pairs, np.ones(len(pairs)), *sizes)


def test_huge_numbers_are_named():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    huge = 1e200 * square
    for fields in (
        {"points": huge},
        {"points": square, "descriptors": huge},
        {"points": square, "orientations": huge[:, 0]},
    ):
        with pytest.raises(ValueError, match=f"{list(fields)[-1]}: expected numbers below 1e100"):
            hm.Features(**fields)


@pytest.mark.data
def test_cars_and_motorbikes_with_outliers(data_folder):
    """Leordeanu's pairs, 20 outliers a side: the first pairs of both kinds, far above what chance gives."""
    file = np.load(data_folder / "pascal_cars_motorbikes" / "pairs.npz")
    rates, cores = [], []
    for name in ("car_07", "car_13", "motorbike_19"):
        n = file[f"{name}__gTruth"].size
        sides = [file[f"{name}__features{side}"][: n + 20] for side in (1, 2)]
        found = hm.match(*(hm.Features(side[:, [1, 0]], side[:, 8]) for side in sides))
        correct = (found.pairs[:, 0] == found.pairs[:, 1]) & (found.pairs[:, 0] < n)
        rates.append(correct.sum() / n)
        cores.append(((found.core[:, 0] == found.core[:, 1]) & (found.core[:, 0] < n)).mean())
    assert np.mean(rates) > 0.8
    assert np.mean(cores) > 0.85


def similar(seed, n=10, outliers=40):
    """Points, and the same scaled, rotated and a little noisy, among many others."""
    rng = np.random.default_rng(seed)
    points, angle = rng.normal(size=(n, 2)), rng.uniform(0, 2 * np.pi)
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    there = 1.5 * points @ rotation + rng.normal(scale=0.03, size=points.shape)
    return points, np.vstack((there, rng.normal(size=(outliers, 2))))


def test_scale_and_rotation_are_found_with_the_matches():
    rates = []
    for seed in range(4):
        left, right = similar(seed)
        found = hm.match(left, right, rotation_invariant=True, n_matches=10)
        rates.append((found.pairs[:, 0] == found.pairs[:, 1]).mean())
        swapped = hm.match(right, left, rotation_invariant=True, n_matches=10)
        assert as_set(found.pairs) == as_set(swapped.pairs[:, ::-1])
    assert np.mean(rates) > 0.9


def test_no_similarity_gives_no_pairs():
    sizes = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        found = hm.match(rng.normal(size=(12, 2)), rng.normal(size=(15, 2)), rotation_invariant=True)
        sizes.append(len(found))
    assert np.median(sizes) == 0
