"""One frame for a set of points, whichever way its axes run and in whatever order they come.

Which of equally far points is a neighbour, which of equal levels is higher, how a sum is rounded: in the end
this follows from the order of points and of coordinates. So points are put into a frame of their own first.
Points that were mirrored along axes, or had their axes exchanged, have the same numbers there, to the last
bit, and all that follows is the same. (To multiply them by a power of two changes no digit of anything.)
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from hypermodes.numbering import mixed
from hypermodes.threads import in_threads, stretches

CELLS = (1 << 16) - 1  # along an axis, on which it is summed up exactly how points lie
BLOCK = 1 << 16  # numbers that are looked at together: they stay in the cache
ROUNDS = 16  # of telling axes apart by all the others


@dataclass(frozen=True, eq=False)
class Frame:
    """Columns in an order of their own, some of them turned round.

    Attributes
    ----------
    axes : (d,) int
        The column that comes first, second, ….
    signs : (d,) float
        -1 where that column is turned round, else 1.
    """

    axes: np.ndarray
    signs: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray, n_jobs: int | None = 1) -> Self:
        """The frame of some points. The axis of the largest extent comes first; each begins where most lie.

        Axes that this does not tell apart, or which way they run, are told apart by where points lie along
        all the others. Where that does not help either, points are nearly always symmetric, and one way is as
        good as the other: that in which the middle is not below 0.
        """
        least = np.array([column.min() for column in points.T])  # over the axis takes ten times as long
        most = np.array([column.max() for column in points.T])
        extent = most - least
        up, down = _squares(points, least, most, n_jobs)
        constant = extent == 0
        middle = least / 2 + most / 2
        signs = np.where((up > down) | ((up == down) & (middle < 0)), -1.0, 1.0)
        known = constant | (up != down)
        size = np.where(constant, abs(middle), 0.0)
        rank = _ranks(-extent, np.minimum(up, down), np.maximum(up, down), -size)
        if not (known.all() and _all_differ(rank[~constant])):
            rank, signs = _told_apart(points, least, most, rank, signs, known)
        axes = np.argsort(rank, kind="stable")
        return cls(axes, signs[axes])

    def enter(self, points: np.ndarray) -> np.ndarray:
        """Points as they are in this frame."""
        entered = points
        if (self.axes != np.arange(self.axes.size)).any():
            entered = np.take(points, self.axes, axis=1)  # `points[:, axes]` would lie column by column
        if (self.signs < 0).any():
            entered = np.multiply(entered, self.signs, out=None if entered is points else entered)
        return entered


def _squares(
    points: np.ndarray, least: np.ndarray, most: np.ndarray, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of squares of how far points are from the lower and the upper end of each axis, in whole cells."""
    unit = np.where(most > least, most - least, 1.0)

    def add_up(part: slice) -> np.ndarray:
        block = points[part]
        cells = np.stack((block - least, most - block)) / unit * CELLS
        whole = cells.astype(np.int64)
        return np.einsum("sij,sij->sj", whole, whole)

    rows = max(1, BLOCK // points.shape[1])
    up, down = np.sum(in_threads(n_jobs, add_up, stretches(len(points), rows)), axis=0)
    return up, down


def _told_apart(
    points: np.ndarray,
    least: np.ndarray,
    most: np.ndarray,
    rank: np.ndarray,
    signs: np.ndarray,
    known: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Ranks and signs of axes, given those that are known so far.

    Points are coloured by where they lie along all axes, in a way that does not ask which one of level axes
    it is, nor which way those run that may run either way. Then axes are told apart by the colours that
    points have along them; and again. Where nothing more is found, one of level axes is singled out.
    """
    known = known.copy()
    axes = np.flatnonzero(most > least)
    far_off = np.argsort(-abs(least / 2 + most / 2), kind="stable")
    unit = int(np.frexp((most - least).max())[1])

    def places(a: int) -> tuple[np.ndarray, np.ndarray]:
        """A number for each distance to the lower end of an axis, and to the upper one."""
        ends = (points[:, a] - least[a], most[a] - points[:, a])
        lower, upper = (mixed(np.ldexp(end, -unit).view(np.uint64)) for end in ends)
        return lower, upper

    colour = np.zeros(len(points), np.uint64)
    before = (0, 0)
    for _ in range(ROUNDS):
        if known.all() and _all_differ(rank[axes]):
            break
        told = np.unique(rank).size, int(known.sum())
        if told == before:
            rank, known = _singled_out(rank, known, far_off[most[far_off] > least[far_off]])
        before = told
        fresh, kind = np.zeros(len(points), np.uint64), mixed((2 * rank + known).astype(np.uint64))
        for a in axes.tolist():
            lower, upper = places(a)
            ahead = (lower if signs[a] > 0 else upper) if known[a] else lower + upper
            fresh += mixed(ahead + kind[a])
        colour = mixed(colour + fresh)
        sums = np.zeros((2, rank.size), np.uint64)
        for a in axes.tolist():
            for side, place in enumerate(places(a)):
                sums[side, a] = (mixed(colour + place) >> np.uint64(32)).sum()
        up, down = sums
        signs = np.where(known | (up == down), signs, np.where(up > down, -1.0, 1.0))
        known |= up != down
        ahead, behind = np.where(signs > 0, up, down), np.where(signs > 0, down, up)
        rank = _ranks(rank, ahead, behind)
    return rank, signs


def _singled_out(rank: np.ndarray, known: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranks and what is known if the first of level axes is first; or if one of them runs as it does."""
    rank, known = 2 * rank + 1, known.copy()
    level = axes[np.bincount(rank)[rank[axes]] > 1]
    if level.size:
        rank[level[np.argmin(rank[level])]] -= 1
    else:
        either = axes[~known[axes]]
        known[either[np.argmin(rank[either])]] = True
    return rank, known


def _ranks(*keys: np.ndarray) -> np.ndarray:
    """The place of each, by the first key, then the second, …; those that are level have the same."""
    order = np.lexsort(keys[::-1])
    rises = np.zeros(order.size, np.int64)
    for key in keys:
        rises[1:] |= key[order[1:]] != key[order[:-1]]
    rank = np.empty(order.size, np.int64)
    rank[order] = np.cumsum(rises)
    return rank


def _all_differ(values: np.ndarray) -> bool:
    return bool(np.unique(values).size == values.size)
