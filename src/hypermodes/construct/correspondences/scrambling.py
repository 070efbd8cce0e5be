"""Features without their arrangement: what chance would match."""

import numpy as np
from scipy.spatial import cKDTree

from hypermodes.construct.correspondences.features import Features

_ALIKE = 0.25  # of the distance to the nearest point; nearer to one, a place is as good as the point's own
_NEARLY_ALL = 0.9  # most alone would often be so by chance where there are five or six points


def scrambled(features: Features) -> Features:
    """Features of the same kind without their arrangement: what is found in them is found by chance.

    In the directions of largest and smallest spread, each point keeps one coordinate and takes the other of
    the point half of all ranks away; orientations, scales and descriptors come from a third of the ranks
    away. Neither the order of points nor the frame of reference matters.

    A grid, or points on a line, would be the same again. There each coordinate is drawn by itself, from a
    smoothed sample of its values; the draws are always the same.
    """
    centred = features.points - features.points.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    places = centred @ axes.T
    places *= np.where((places**3).sum(axis=0) < 0, -1.0, 1.0)  # axes have no sign of their own
    order = np.lexsort((places[:, 1], places[:, 0]))
    n = len(order)
    half, third = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    half[order], third[order] = np.roll(order, n // 2), np.roll(order, max(1, n // 3))
    swapped = np.column_stack((places[:, 0], places[half, 1]))
    if _alike(places, swapped):
        swapped[order] = _drawn(places)
    points = swapped @ axes
    if (points == points[0]).all():
        points = centred
    rest = (features.orientations, features.scales, features.descriptors)
    return Features(points, *(None if values is None else values[third] for values in rest))


def _alike(places: np.ndarray, others: np.ndarray) -> bool:
    """Whether nearly all of the others lie where points lie, as far as these can be told apart."""
    extent = float(np.abs(places).max())
    tree = cKDTree(places / extent)
    apart = np.median(tree.query(places / extent, k=2)[0][:, 1])
    return bool(np.quantile(tree.query(others / extent)[0], _NEARLY_ALL) <= _ALIKE * apart)


def _drawn(places: np.ndarray) -> np.ndarray:
    """As many places, their coordinates independent and distributed as those given: a smoothed bootstrap."""
    n = len(places)
    rng = np.random.default_rng(0)
    values = np.sort(places, axis=0)[rng.integers(n, size=places.shape), [0, 1]]
    return values + n ** (-1 / 6) * places.std(axis=0) * rng.normal(size=places.shape)
