"""Outlines and shape contexts: what must not matter does not, and formulas hold against slow ones."""

import numpy as np
import pytest

pytest.importorskip("skimage", reason="scikit-image is not installed: no outlines")

from hypermodes.shapes.contexts import ANGULAR, RADIAL, mirrored, shape_contexts
from hypermodes.shapes.contours import contour


def disc(radius, size=64):
    y, x = np.mgrid[:size, :size] - size / 2
    return x**2 + y**2 <= radius**2


def letter():
    """An L with a notch: no symmetry at all."""
    mask = np.zeros((60, 50), bool)
    mask[5:55, 10:22] = True
    mask[43:55, 10:45] = True
    mask[10:14, 10:14] = False
    return mask


def test_points_lie_at_equal_steps_on_the_boundary_of_a_disc():
    points = contour(disc(20), 50)
    middle = points.mean(axis=0)
    radius = np.linalg.norm(points - middle, axis=1)
    assert radius.std() < 0.02 * radius.mean()
    steps = np.linalg.norm(np.roll(points, -1, axis=0) - points, axis=1)
    assert steps.std() < 0.06 * steps.mean()  # of the digital disc


def test_every_outline_runs_the_same_way():
    for mask in (disc(20), letter(), letter()[::-1], letter().T):
        x, y = contour(mask).T
        assert x @ np.roll(y, -1) - y @ np.roll(x, -1) > 0


def test_only_the_largest_piece_counts_and_holes_do_not():
    mask = np.pad(letter(), 20)
    dirty = mask.copy()
    dirty[2:5, 2:5] = True
    dirty[55:58, 32:35] &= False
    np.testing.assert_allclose(contour(dirty), contour(mask))


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (2, 2)])
def test_the_smallest_shapes_have_outlines(size):
    mask = np.zeros((12, 12), bool)
    mask[3 : 3 + size[0], 3 : 3 + size[1]] = True
    assert np.isfinite(shape_contexts(contour(mask))).all()


@pytest.mark.parametrize(
    ("mask", "said"),
    [(np.zeros((5, 5)), "every pixel is 0"), (np.zeros(5), "got shape"), (np.zeros((0, 4)), "got shape")],
)
def test_what_is_no_silhouette_is_refused(mask, said):
    with pytest.raises(ValueError, match=said):
        contour(mask)


def literal_contexts(points):
    """Histograms point by point, as they are defined."""
    n = len(points)
    distances = np.array([[np.linalg.norm(b - a) for b in points] for a in points])
    mean = distances.sum() / (n * (n - 1))
    out = np.zeros((n, RADIAL, ANGULAR))
    for i in range(n):
        ahead = points[(i + 2) % n] - points[(i - 2) % n]
        for j in range(n):
            if i == j:
                continue
            way = points[j] - points[i]
            angle = np.arctan2(way[1], way[0]) - np.arctan2(ahead[1], ahead[0])
            row = np.clip((np.log2(max(distances[i, j] / mean, 1e-9)) + 3) / 4 * RADIAL, 0, RADIAL) - 0.5
            column = angle / (2 * np.pi) * ANGULAR - 0.5
            for r in (0, 1):
                for c in (0, 1):
                    share = abs(1 - r - (row - np.floor(row))) * abs(1 - c - (column - np.floor(column)))
                    at = int(np.clip(np.floor(row) + r, 0, RADIAL - 1))
                    out[i, at, int(np.floor(column) + c) % ANGULAR] += share
    out = (out / (n - 1)) ** 0.125
    return out / np.sqrt((out**2).sum(axis=(1, 2)))[:, None, None]


def test_contexts_are_the_histograms_they_are_defined_as():
    points = contour(letter(), 30)
    np.testing.assert_allclose(shape_contexts(points), literal_contexts(points), atol=1e-5)


def test_contexts_know_neither_place_nor_size_nor_turn():
    points = contour(letter(), 40)
    for angle in (0.3, 2.0, 4.0):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        moved = 3.7 * points @ turn.T + (100, -20)
        np.testing.assert_allclose(shape_contexts(moved), shape_contexts(points), atol=1e-4)


def test_the_contexts_of_a_mirror_image_follow_from_those_of_the_shape():
    points = contour(letter(), 40)
    image = (points * (-1, 1))[(-np.arange(40)) % 40]  # the other way round, from the same point
    np.testing.assert_allclose(shape_contexts(image), mirrored(shape_contexts(points)), atol=1e-4)
    np.testing.assert_array_equal(mirrored(mirrored(shape_contexts(points))), shape_contexts(points))
