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
    for low in range(
        0, rows.size, batch.BLOCK
    ):  # the kernels ask for room for the largest supports there are
        starts = single_starts(rows[low : low + batch.BLOCK])
        gathering.add(low, _collapsed(batch.shift_all(prepared, starts, budget, stop)))
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
    """First of each distinct support, and which of those each point has.

    Supports are told apart by two 64-bit sums of scrambled rows and their size.
    """
    n = points.ptr.size - 1
    keys = (_sums(points, 1), _sums(points, 0x9E3779B97F4A7C15), np.diff(points.ptr).astype(np.uint64))
    order = np.argsort(keys[0], kind="stable")
    new = _changes(keys[0][order])
    if any((_changes(key[order]) > new).any() for key in keys[1:]):  # once in 2⁶⁴ pairs
        order = np.lexsort(keys)
        new = np.logical_or.reduce([_changes(key[order]) for key in keys])
    first = order[new]
    by_appearance = np.argsort(first)
    place = np.empty(first.size, dtype=np.int64)
    place[by_appearance] = np.arange(first.size)
    label = np.empty(n, dtype=np.int64)
    label[order] = place[np.cumsum(new) - 1]
    return first[by_appearance], label


def _sums(points: Points, salt: int) -> np.ndarray:
    """Sum of the scrambled rows of each point."""
    from hypermodes._kernels.graph import scramble

    scrambled = scramble(points.rows.astype(np.uint64) + np.uint64(salt))
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(scrambled, dtype=np.uint64)))
    return sums[points.ptr[1:]] - sums[points.ptr[:-1]]


def _changes(values: np.ndarray) -> np.ndarray:
    """Where a value is not the one before it."""
    return np.concatenate(([True], values[1:] != values[:-1])) if values.size else np.empty(0, bool)
