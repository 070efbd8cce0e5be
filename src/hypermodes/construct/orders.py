"""Orders of points that depend on where they are, never on the order they come in."""

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.threads import argsorted, in_threads, stretches, taken

BLOCK = 8192  # points whose places along the curve are found together: what is needed stays in the cache
CROWD = 32  # points in a cell of the grid that are many


def row_order(places: Any, n_jobs: int | None = 1) -> np.ndarray:
    """The rows in an order that depends on what they hold only; equal rows stay in theirs.

    Dense rows are ordered by their coordinates, the first counting most; sparse ones by what is stored.
    """
    if sp.issparse(places):
        data = places.data.astype(">f8")  # the exponent first: the unit plays no part in their order
        keys = [
            (places.indices[low:high].tobytes(), data[low:high].tobytes())
            for low, high in pairwise(places.indptr)
        ]
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    first = places[:, 0]
    order = argsorted(first, n_jobs)
    first = taken(first, order, n_jobs)
    level = np.zeros(first.size, bool)
    level[1:] = first[1:] == first[:-1]
    level[:-1] |= level[1:]
    if (at := np.flatnonzero(level)).size:
        order[at] = order[at[np.lexsort(places[order[at]].T[::-1])]]
    return order


def curve_order(points: np.ndarray, n_jobs: int | None = 1) -> np.ndarray:
    """The rows along a curve, so that near ones are near each other; equal rows stay in their order.

    The curve runs through a grid of cells. A cell that holds many points, as one does that holds all others
    where a single point is far away, has a grid of its own; few are ordered by their coordinates, which are
    of size 1e300 at most.
    """
    plane = points[:, :2]
    cell = _along_curve(plane, n_jobs)
    if (cell[1:] >= cell[:-1]).all():  # nearly done
        order = np.arange(cell.size)
    else:
        order = argsorted(cell, n_jobs)
        cell = taken(cell, order, n_jobs)
    at, begin = _shared(np.arange(cell.size), cell)
    while at.size:
        inside, size = plane[order[at]], np.diff(begin, append=at.size)
        least = np.minimum.reduceat(inside, begin)
        extent = np.maximum.reduceat(inside, begin) - least
        of = np.repeat(np.arange(begin.size), size)
        many = ((size > CROWD) & extent.any(axis=1))[of]
        few = at[~many]
        order[few] = order[few[np.lexsort((*points[order[few]].T[::-1], of[~many]))]]
        at, of = at[many], of[many]
        finer = _places(inside[many], least[of], extent[of])
        along = np.lexsort((finer, of))
        order[at] = order[at[along]]
        at, begin = _shared(at, of.astype(np.uint64) << np.uint64(32) | finer[along])
    return order


def _shared(at: np.ndarray, cell: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of places ``at`` in an order, by cell: those that share it, and where among them each cell begins."""
    new = np.ones(cell.size + 1, bool)
    new[1:-1] = cell[1:] != cell[:-1]
    shared = np.flatnonzero(~(new[1:] & new[:-1]))
    return at[shared], np.flatnonzero(new[shared])


def _along_curve(points: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Place of points along a curve through a grid over all of them."""
    least = np.array([column.min() for column in points.T])  # over the axis takes ten times as long
    extent = np.array([column.max() for column in points.T]) - least
    places = np.empty(len(points), np.uint32)

    def place(part: slice) -> None:
        places[part] = _places(points[part], least, extent)

    in_threads(n_jobs, place, stretches(len(points), BLOCK))
    return places


def _places(points: np.ndarray, least: np.ndarray, extent: np.ndarray) -> np.ndarray:
    """Place along a curve (Morton's) through a grid of 2^16 cells a side, by one or two coordinates."""
    cells = ((points - least) / np.where(extent > 0, extent, 1.0) * 65535).astype(np.uint64)
    for shift, kept in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        cells = (cells | (cells << np.uint64(shift))) & np.uint64(kept)
    return cells[:, 0] | (cells[:, -1] << np.uint64(1))


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
