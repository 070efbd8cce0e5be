"""Several surfaces among outliers: each is a mode, and no correspondence belongs to two."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import hypermodes as hm


def two_planes(seed, n=40, outliers=40):
    """Correspondences of two planes that move differently, and wrong ones; their labels, 0 for wrong."""
    rng = np.random.default_rng(seed)
    left = rng.uniform(0, 100, size=(2 * n + outliers, 2))
    left[n : 2 * n, 0] += 120
    right = left.copy()
    right[:n] = left[:n] @ [[0.9, 0.2], [-0.2, 1.0]] + np.array([10, 30])
    right[n : 2 * n] = left[n : 2 * n] @ [[1.2, -0.1], [0.1, 0.8]] + np.array([-30, -20])
    right += rng.normal(scale=0.3, size=right.shape)
    right[2 * n :] = rng.uniform(0, 220, size=(outliers, 2))
    return left, right, np.repeat([1, 2, 0], (n, n, outliers))


def given(n):
    return hm.Candidates(np.column_stack((np.arange(n), np.arange(n))), np.ones(n), n, n)


def labels_of(groups, n):
    labels = np.zeros(n, dtype=int)
    for k, group in enumerate(groups):
        assert not labels[group.pairs[:, 0]].any(), "a correspondence in two groups"
        labels[group.pairs[:, 0]] = k + 1
    return labels


def test_two_planes_among_wrong_correspondences():
    left, right, truth = two_planes(0)
    groups = hm.match_groups(left, right, candidates=given(truth.size))
    assert len(groups) == 2
    assert adjusted_rand_score(truth, labels_of(groups, truth.size)) > 0.9
    assert all(group.certificate.holds() for group in groups)


def test_order_and_frame_do_not_matter():
    left, right, truth = two_planes(1)
    order = np.random.default_rng(0).permutation(truth.size)
    c, s = np.cos(0.7), np.sin(0.7)
    moved = 3 * right @ np.array([[c, s], [-s, c]]) + np.array([5, -900])
    before = labels_of(hm.match_groups(left, right, candidates=given(truth.size)), truth.size)
    after = labels_of(hm.match_groups(left[order], moved[order], candidates=given(truth.size)), truth.size)
    assert adjusted_rand_score(before[order], after) > 0.97


def test_wrong_correspondences_alone_make_no_group():
    rng = np.random.default_rng(0)
    left, right = rng.uniform(size=(100, 2)), rng.uniform(size=(100, 2))
    assert hm.match_groups(left, right, candidates=given(100)) == ()


def test_correspondences_on_a_line_make_no_group():
    line, anywhere = np.arange(20.0)[:, None] ** 1.5, np.random.default_rng(0).normal(size=(20, 2))
    for direction in ([1, 0], [0, 1], [1, 2]):
        for other in (line * direction, anywhere):
            assert hm.match_groups(line * direction, other, candidates=given(20)) == ()
    heap = np.vstack((np.zeros((19, 2)), [[1, 1]]))
    pairs = np.column_stack((np.arange(19), np.arange(19)))
    assert hm.match_groups(heap, anywhere, candidates=hm.Candidates(pairs, np.ones(19), 20, 20)) == ()


def test_tiny_coordinates_do_not_matter():
    left, right, truth = two_planes(0)
    before = hm.match_groups(left, right, candidates=given(truth.size), tolerance=0.1)
    after = hm.match_groups(1e-300 * left, right, candidates=given(truth.size), tolerance=0.1)
    assert adjusted_rand_score(labels_of(before, truth.size), labels_of(after, truth.size)) > 0.97


def test_two_objects_without_correspondences():
    rng = np.random.default_rng(3)
    one, two = rng.uniform(size=(2, 16, 2))
    left = np.vstack((one, two + np.array([3.0, 0.0])))
    right = np.vstack((one + np.array([4.0, 0.0]), two + np.array([0.0, 0.5])))
    groups = hm.match_groups(left, right)
    assert len(groups) == 2
    assert all((group.pairs[:, 0] == group.pairs[:, 1]).mean() > 0.9 for group in groups)
    for group in groups:
        assert len(np.unique(group.pairs[:, 0])) == len(np.unique(group.pairs[:, 1])) == len(group)
    taken = np.concatenate([group.pairs[:, 0] for group in groups])
    assert len(np.unique(taken)) == taken.size


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": -1}, "tolerance: expected a positive number"),
        ({"tolerance": 1e200}, "tolerance: expected a positive number"),
        ({"max_groups": 0}, "max_groups: expected a whole number, 1 or more"),
        ({"candidates": given(3)}, "candidates: expected pairs of 4 and 4 points"),
        (
            {"candidates": hm.Candidates(np.array([[0, 1], [0, 2]]), np.ones(2), 4, 4)},
            "candidates: expected correspondences; some left point is in two",
        ),
    ],
)
def test_bad_input_is_named(options, message):
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    with pytest.raises(ValueError, match=message):
        hm.match_groups(square, square, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_matches": 3}, "n_matches: expected by match alone"),
        ({"candidates": given(4), "length": 0.1}, "length: expected only where no candidates"),
        ({"lenght": 0.1}, "lenght: expected one of the options length, direction"),
    ],
)
def test_options_without_effect_are_refused(options, message):
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    with pytest.raises(TypeError, match=message):
        hm.match_groups(square, square, **options)


@pytest.mark.data
def test_adelaide_structures(data_folder):
    """A plane among 70 % outliers, and two moving objects."""
    file = np.load(data_folder / "adelaide_rmf" / "correspondences.npz")
    for name, least in (("barrsmith", 0.8), ("cubechips", 0.7)):
        ends, truth = file[f"{name}__data"], file[f"{name}__label"].ravel()
        groups = hm.match_groups(ends[:, :2], ends[:, 2:4], candidates=given(truth.size))
        assert adjusted_rand_score(truth, labels_of(groups, truth.size)) > least
