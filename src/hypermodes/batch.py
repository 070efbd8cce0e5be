"""Many starts at once: the fast layer behind `find_modes`, from arrays to kernels and back.

`Prepared` holds what the kernels read, `shift_all` runs blocks of starts in threads, `merging` turns where
they ended into distinct modes. Rows here are classes of twin hyperedges (see `_kernels.graph`).
"""

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np

from hypermodes.affinity import Affinity
from hypermodes.layout import lay_out
from hypermodes.threads import workers

FEW = 16  # starts not worth a thread
BLOCK = 2048  # starts a task: some tens of milliseconds, so that Ctrl-C and progress feel immediate


class Points(NamedTuple):
    """Many sparse points: point i has rows[ptr[i]:ptr[i+1]] with these shares."""

    ptr: np.ndarray
    rows: np.ndarray
    shares: np.ndarray

    def take(self, chosen: np.ndarray) -> "Points":
        """The chosen points, in this order."""
        sizes = np.diff(self.ptr)[chosen]
        ptr = np.concatenate(([0], np.cumsum(sizes)))
        where = np.repeat(self.ptr[chosen] - ptr[:-1], sizes) + np.arange(ptr[-1])
        return Points(ptr, self.rows[where], self.shares[where])


@dataclass(frozen=True)
class Budget:
    """How long to try, and how large faces may become."""

    tol: float = 1e-9
    max_rounds: int = 100
    max_steps: int = 100_000
    warm_up: int = 20
    admit: int = 256
    max_support: int = 512

    @property
    def limits(self) -> tuple[int, int, int, int, int]:
        """What the kernels want to know besides the tolerance."""
        return (self.max_rounds, self.max_steps, self.warm_up, self.admit, self.max_support)


@dataclass(frozen=True, eq=False)
class Prepared:
    """An affinity in the form the kernels read, and the class of twins each hyperedge belongs to."""

    graph: Any
    class_of: np.ndarray

    @classmethod
    def of(cls, affinity: Affinity) -> Self:
        """Lay an affinity out."""
        return cls(*lay_out(affinity))

    @property
    def rate(self) -> np.ndarray | None:
        """w(e)/δ(e) of each class; None for a matrix."""
        return self.graph.rate if self.graph.rate.size else None

    @property
    def n_rows(self) -> int:
        """Number of classes."""
        return int(self.graph.twins.size)

    @cached_property
    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """Hyperedges of each class, as (ptr, hyperedges)."""
        sizes = np.bincount(self.class_of, minlength=self.n_rows)
        return np.concatenate(([0], np.cumsum(sizes))), np.argsort(self.class_of, kind="stable")

    @cached_property
    def _scratch(self) -> threading.local:
        return threading.local()

    def workspace(self) -> Any:
        """Scratch arrays of this thread, made when it first asks."""
        from hypermodes._kernels.graph import workspace

        if not hasattr(self._scratch, "work"):
            self._scratch.work = workspace(self.graph)
        return self._scratch.work


class Found(NamedTuple):
    """Where each start ended."""

    points: Points
    notes: np.ndarray
    """Columns: status, rounds, steps, density, spread, excess, worst row, ties, tie curvature."""


STATUS, ROUNDS, STEPS, DENSITY, SPREAD, EXCESS, WORST, TIES, TIE_CURVATURE = range(9)


def single_starts(rows: np.ndarray) -> Points:
    """One start for each row."""
    return Points(np.arange(rows.size + 1), rows.astype(np.int64), np.ones(rows.size))


def _silent(amount: int) -> None:
    """Progress nobody asked for."""


def shift_all(
    prepared: Prepared,
    starts: Points,
    budget: Budget,
    n_jobs: int | None = -1,
    advance: Callable[[int], object] = _silent,
) -> Found:
    """Shift every start, in threads; the result does not depend on their number.

    Critical points with ties are examined to second order, and those that are no modes go on from where
    the examination leads.
    """
    from hypermodes._kernels import shifting

    found = _run(prepared, starts, budget, n_jobs, advance, partial(_shift_block, fresh=True))
    notes = np.column_stack((found.notes, np.full(len(found.notes), -np.inf)))
    points = found.points
    unsettled = np.flatnonzero(notes[:, STATUS] == shifting.OPEN)
    while unsettled.size:
        examined = _run(prepared, points.take(unsettled), budget, n_jobs, _silent, _examine_block)
        bend = examined.notes[:, 0]  # relative to the density
        onward = bend > budget.tol
        spent = notes[unsettled, ROUNDS] >= budget.max_rounds
        going = unsettled[onward & ~spent]  # the others stay the points their notes are about
        points = _replaced(points, going, examined.points.take(np.flatnonzero(onward & ~spent)))
        notes[unsettled, TIE_CURVATURE] = bend * notes[unsettled, DENSITY]
        critical = notes[unsettled][:, [SPREAD, EXCESS]].max(axis=1) <= budget.tol * notes[unsettled, DENSITY]
        notes[unsettled[~onward], STATUS] = np.where(critical, shifting.CERTIFIED, shifting.MAX_STEPS)[
            ~onward
        ]
        notes[unsettled[onward & spent], STATUS] = shifting.MAX_ROUNDS
        unsettled = going
        if unsettled.size:
            again = partial(_shift_block, fresh=False)
            moved = _run(prepared, points.take(unsettled), budget, n_jobs, _silent, again)
            moved.notes[:, [ROUNDS, STEPS]] += notes[unsettled][:, [ROUNDS, STEPS]]
            notes[unsettled] = np.column_stack((moved.notes, np.full(unsettled.size, -np.inf)))
            points = _replaced(points, unsettled, moved.points)
            unsettled = unsettled[moved.notes[:, STATUS] == shifting.OPEN]
    return Found(points, notes)


def _shift_block(
    prepared: Prepared, block: Points, budget: Budget, stop: np.ndarray, *, fresh: bool
) -> Found:
    from hypermodes._kernels.shifting import shift_block

    n = block.ptr.size - 1
    # Memory that is not written to is never used. A start may be larger than what it could grow to.
    room = int(np.maximum(np.diff(block.ptr), budget.max_support).sum())
    found = Points(np.zeros(n + 1, np.int64), np.empty(room, np.int64), np.empty(room))
    notes = np.zeros((n, TIE_CURVATURE))
    shift_block(
        prepared.graph, prepared.rate, prepared.workspace(), block, fresh, budget.tol, budget.limits, stop,
        found, notes,
    )  # fmt: skip
    notes[:, EXCESS] = np.maximum(notes[:, EXCESS], 0.0)
    return Found(_cut(*found), notes)


def _examine_block(prepared: Prepared, block: Points, budget: Budget, stop: np.ndarray) -> Found:
    from hypermodes._kernels.second_order import examine

    bends, *points = examine(prepared.graph, prepared.rate, prepared.workspace(), *block, budget.tol, stop)
    return Found(_cut(*points), bends[:, None])


def _cut(ptr: np.ndarray, rows: np.ndarray, shares: np.ndarray) -> Points:
    """Keep what was written of the room a kernel asked for."""
    return Points(ptr, rows[: ptr[-1]].copy(), shares[: ptr[-1]].copy())


def _run(
    prepared: Prepared,
    starts: Points,
    budget: Budget,
    n_jobs: int | None,
    advance: Callable[[int], object],
    task: Callable[[Prepared, Points, Budget, np.ndarray], Found],
) -> Found:
    """Run a task over blocks of starts in threads, and put the results together in order."""
    n = starts.ptr.size - 1
    stop = np.zeros(1, dtype=np.int64)
    if n <= FEW:
        found = task(prepared, starts, budget, stop)
        advance(n)
        return found
    blocks = [np.arange(low, min(low + BLOCK, n)) for low in range(0, n, BLOCK)]
    results: list[Found | None] = [None] * len(blocks)
    with ThreadPoolExecutor(max_workers=workers(n_jobs)) as pool:
        running: dict[Future[Found], int] = {}
        waiting = list(enumerate(blocks))[::-1]
        try:
            while waiting or running:
                while waiting and len(running) < 2 * workers(n_jobs):
                    k, block = waiting.pop()
                    running[pool.submit(task, prepared, starts.take(block), budget, stop)] = k
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    k = running.pop(future)
                    results[k] = future.result()
                    advance(len(blocks[k]))
        except BaseException:
            stop[0] = 1  # the kernels look at this after every start
            for future in running:
                future.cancel()
            raise
    return _joined([found for found in results if found is not None])


def _joined(parts: list[Found]) -> Found:
    sizes = np.concatenate([np.diff(part.points.ptr) for part in parts])
    points = Points(
        np.concatenate(([0], np.cumsum(sizes))),
        np.concatenate([part.points.rows for part in parts]),
        np.concatenate([part.points.shares for part in parts]),
    )
    return Found(points, np.concatenate([part.notes for part in parts]))


def _replaced(points: Points, where: np.ndarray, new: Points) -> Points:
    """Put new points in the place of some."""
    n = points.ptr.size - 1
    both = Points(
        np.concatenate((points.ptr, points.ptr[-1] + new.ptr[1:])),
        np.concatenate((points.rows, new.rows)),
        np.concatenate((points.shares, new.shares)),
    )
    source = np.arange(n)
    source[where] = n + np.arange(where.size)
    return both.take(source)
