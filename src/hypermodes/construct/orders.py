"""Orders of points that depend on where they are, never on the order they come in."""

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.threads import argsorted, in_threads, stretches, taken

BLOCK = 8192  # points whose places along the curve are found together: what is needed stays in the cache


def row_order(places: Any, n_jobs: int | None = 1) -> np.ndarray:
    """The rows in an order that depends on what they hold only; equal rows stay in theirs.

    Dense rows are ordered by their coordinates, the first counting most; sparse ones by what is stored.
    """
    if sp.issparse(places):
        keys = [
            (places.indices[low:high].tobytes(), places.data[low:high].tobytes())
            for low, high in pairwise(places.indptr)
        ]
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    first = places[:, 0]
    order = argsorted(first, n_jobs)
    first = taken(first, order, n_jobs)
    if (first[1:] == first[:-1]).any():
        order = np.lexsort(places.T[::-1])
    return order


def curve_order(points: np.ndarray, n_jobs: int | None = 1) -> np.ndarray:
    """The rows along a curve, so that near ones are near each other; equal rows stay in their order.

    Those in one cell of it are ordered by their coordinates.
    """
    cell = _along_curve(points[:, :2], n_jobs)
    if (cell[1:] >= cell[:-1]).all():  # nearly done
        order = np.arange(cell.size)
    else:
        order = argsorted(cell, n_jobs)
        cell = taken(cell, order, n_jobs)
    ties = np.zeros(cell.size, bool)
    ties[1:] = cell[1:] == cell[:-1]
    ties[:-1] |= ties[1:]
    tied = np.flatnonzero(ties)
    keys = (*points[order[tied]].T[::-1], cell[tied])
    order[tied] = order[tied[np.lexsort(keys)]]
    return order


def _along_curve(points: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Place of points along a curve through a grid of 2^16 cells a side (Morton's), by two coordinates."""
    least = np.array([column.min() for column in points.T])  # over the axis takes ten times as long
    extent = np.array([column.max() for column in points.T]) - least
    extent[extent == 0] = 1.0
    places = np.empty(len(points), np.uint32)

    def place(part: slice) -> None:
        cells = ((points[part] - least) / extent * 65535).astype(np.uint64)
        for shift, kept in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
            cells = (cells | (cells << np.uint64(shift))) & np.uint64(kept)
        places[part] = cells[:, 0] | (cells[:, -1] << np.uint64(1))

    in_threads(n_jobs, place, stretches(len(points), BLOCK))
    return places


def new_rows(places: Any) -> np.ndarray:
    """Whether each row differs from the one before it."""
    new = np.ones(places.shape[0], dtype=bool)
    if sp.issparse(places):
        if places.shape[0] > 1:
            new[1:] = (places[1:] != places[:-1]).sum(axis=1) > 0
        return new
    alike = np.flatnonzero(places[1:, 0] == places[:-1, 0])  # in the first coordinate: often that is all
    new[alike + 1] = (places[alike + 1] != places[alike]).any(axis=1)
    return new
