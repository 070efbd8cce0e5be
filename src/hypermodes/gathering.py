"""Starts that ended alike are taken together as they come: memory goes with distinct ends, not starts."""

from typing import NamedTuple

import numpy as np

from hypermodes import batch
from hypermodes.batch import N_NOTES, STATUS, Budget, Found, Points, Prepared, single_starts

_FEWEST = 1 << 16  # ends that are kept before equal ones of different blocks are looked for


class Gathered(NamedTuple):
    """Where starts ended, equal supports once, in the order in which starts first came to them."""

    found: Found
    first: np.ndarray
    """The start that came to each first; what was found is what it found."""
    which: np.ndarray
    """Which of them each start ended in; -1 if it touches no other."""


def shift_rows(
    prepared: Prepared, rows: np.ndarray | range, budget: Budget, stop: np.ndarray | None = None
) -> Gathered:
    """Shift a block of rows: what is done in threads, or elsewhere. Doing it again changes nothing."""
    rows = np.asarray(rows)
    gathering = Gathering(rows.size)
    size = prepared.at_once  # the kernels ask for room for the largest supports there are
    for low in range(0, rows.size, size):
        starts = single_starts(rows[low : low + size])
        gathering.add(low, _collapsed(batch.shift_all(prepared, starts, budget, stop)))
        prepared.held.look()
    return gathering.result()


def _collapsed(found: Found) -> Gathered:
    from hypermodes._kernels import shifting

    has_mode = np.flatnonzero(found.notes[:, STATUS] != shifting.ISOLATED)
    first, equal = _equal_supports(found.points.take(has_mode))
    which = np.full(found.notes.shape[0], -1, dtype=np.int64)
    which[has_mode] = equal
    first = has_mode[first]
    return Gathered(Found(found.points.take(first), found.notes[first]), first, which)


class Gathering:
    """Takes in blocks in any order, each once; the result is that of all starts in one block.

    Equal supports of different blocks are looked for whenever what is kept has doubled.
    """

    def __init__(self, n_starts: int) -> None:
        self._which = np.full(n_starts, -1, dtype=np.int64)
        none = np.empty(0, np.int64)
        nowhere = Found(Points(np.zeros(1, np.int64), none, np.empty(0)), np.empty((0, N_NOTES)))
        self._parts = [(nowhere, none)]
        self._kept, self._limit = 0, _FEWEST

    def add(self, low: int, block: Gathered) -> None:
        """Take in the block whose first start is ``low``."""
        which = np.where(block.which < 0, -1, block.which + self._kept)
        self._which[low : low + which.size] = which
        self._parts.append((block.found, block.first + low))
        self._kept += block.first.size
        if self._kept > self._limit:
            self._compact()
            self._limit = max(_FEWEST, 2 * self._kept)

    def result(self) -> Gathered:
        """All that was taken in."""
        self._compact()
        found, first = self._parts[0]
        return Gathered(found, first, self._which)

    def _compact(self) -> None:
        found = _joined([part for part, _ in self._parts])
        first = np.concatenate([first for _, first in self._parts])
        order = np.argsort(first)
        points = found.points.take(order)
        kept, equal = _equal_supports(points)
        place = np.full(first.size + 1, -1, dtype=np.int64)  # the last is for starts without a mode
        place[order] = equal
        self._which = place[self._which]
        self._parts = [(Found(points.take(kept), found.notes[order[kept]]), first[order[kept]])]
        self._kept = kept.size


def _joined(parts: list[Found]) -> Found:
    sizes = np.concatenate([np.diff(part.points.ptr) for part in parts])
    points = Points(
        np.concatenate(([0], np.cumsum(sizes))),
        np.concatenate([part.points.rows for part in parts]),
        np.concatenate([part.points.shares for part in parts]),
    )
    return Found(points, np.concatenate([part.notes for part in parts]))


def _equal_supports(points: Points) -> tuple[np.ndarray, np.ndarray]:
    """First of each distinct support, and which of those each point has."""
    from hypermodes._kernels.alike import NOTHING, first_alike

    n = points.ptr.size - 1
    first = first_alike(points.ptr, points.rows.astype(np.int32), np.zeros(n, np.int64), NOTHING)
    is_first = first == np.arange(n)
    return np.flatnonzero(is_first), (np.cumsum(is_first) - 1)[first]
