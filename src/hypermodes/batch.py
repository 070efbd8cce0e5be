"""A block of starts at once: the fast layer behind `find_modes`, from arrays to kernels and back.

`Prepared` holds what the kernels read, `shift_all` shifts a block of starts. `executors` has blocks shifted
in threads or on other machines, `gathering` takes starts that ended alike together, `curvature` looks at how
F bends inside their supports, and `merging` turns what is left into distinct modes. Rows here are classes of
twin hyperedges (see `_kernels.graph`).
"""

import hashlib
import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self
from weakref import WeakValueDictionary

import numpy as np

from hypermodes.affinity import Affinity, HyperedgeAffinity
from hypermodes.certificate import MAX_TIES
from hypermodes.columns import Held, digest_of, unlocked
from hypermodes.folder import folder_of, reopen
from hypermodes.prepare import lay_out

BLOCK = 2048  # starts a task: some tens of milliseconds, so that Ctrl-C and progress feel immediate
_READ = 1 << 26  # bytes of a folder to read before they are let go


class Points(NamedTuple):
    """Many sparse points: point i has rows[ptr[i]:ptr[i+1]] with these shares."""

    ptr: np.ndarray
    rows: np.ndarray
    shares: np.ndarray

    def take(self, chosen: np.ndarray) -> "Points":
        """The chosen points, in this order."""
        from hypermodes._kernels.copying import chosen_points

        return Points(*chosen_points(*self, chosen))


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
    """An affinity in the form the kernels read, and the class of twins each hyperedge belongs to.

    What lies in a folder is pickled by its place, ``source``: every process reads the same pages.
    """

    graph: Any
    class_of: np.ndarray
    source: tuple[str, str] | None = None
    _scratch: threading.local = field(default_factory=threading.local, init=False, repr=False)

    @classmethod
    def of(cls, affinity: Affinity) -> Self:
        """Lay an affinity out."""
        source = folder_of(affinity.hypergraph) if isinstance(affinity, HyperedgeAffinity) else None
        return cls(*lay_out(affinity), source)

    def for_workers(self) -> "Prepared":
        """What shifting needs: the rows, and nothing about hyperedges."""
        return self if self.source else Prepared(self.graph, np.empty(0, np.int64))

    def __reduce__(self) -> Any:
        return (_in_folder, self.source) if self.source else (_unpacked, (*self.graph, self.class_of))

    @cached_property
    def fingerprint(self) -> str:
        """Tells this from any other: two with the same have the same modes to the last bit."""
        if self.source:
            return self.source[1]
        parts = (digest_of(array) for array in (*self.graph, self.class_of))
        return hashlib.blake2b("".join(parts).encode(), digest_size=16).hexdigest()

    @property
    def arrays(self) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
        """What every kernel reads: the graph; w(e)/δ(e) of a hypergraph, or the affinities of a matrix."""
        graph = self.graph
        return (graph, graph.rate, None) if graph.rate.size else (graph, None, graph.row_val)

    @property
    def n_rows(self) -> int:
        """Number of classes."""
        return int(self.graph.twins.size)

    @cached_property
    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """Hyperedges of each class, as (ptr, hyperedges)."""
        sizes = np.bincount(self.class_of, minlength=self.n_rows)
        return np.concatenate(([0], np.cumsum(sizes))), np.argsort(self.class_of, kind="stable")

    def workspace(self) -> Any:
        """Scratch arrays of this thread, made when it first asks."""
        from hypermodes._kernels.graph import workspace

        if not hasattr(self._scratch, "work"):
            self._scratch.work = workspace(self.graph)
        return self._scratch.work

    def room(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Room for rows and shares, of this thread as well: what is found is copied out of it at once.

        Memory that is not written to is never used, and what is asked for anew must be cleared anew.
        """
        if not hasattr(self._scratch, "room") or self._scratch.room[0].size < size:
            self._scratch.room = np.empty(size, np.int64), np.empty(size)
        room: tuple[np.ndarray, np.ndarray] = self._scratch.room
        return room

    @cached_property
    def at_once(self) -> int:
        """Starts to shift at once; of a folder no more than read some 64 MB, if rows that meet lie together.

        A start goes through the rows of its vertices, and looks at the vertices of as many more.
        """
        if not self.source:
            return BLOCK
        n_entries, n_vertices = self.graph.row_idx.size, self.graph.vertex_ptr.size - 1
        read = 16 * n_entries**2 / (self.n_rows * max(1, n_vertices))
        return int(max(1, min(BLOCK, _READ // max(1, read))))

    @cached_property
    def held(self) -> Held:
        """What was read of a folder: however large it is, a process that looks now and then stays small."""
        return Held(self.graph if self.source else (), _READ)


class Found(NamedTuple):
    """Where each start ended."""

    points: Points
    notes: np.ndarray
    """Columns: status, rounds, steps, density, spread, excess, worst row, ties, tie curvature, and curvature.

    The last is NaN as long as nobody has looked at it: see `curvature`.
    """


STATUS, ROUNDS, STEPS, DENSITY, SPREAD, EXCESS, WORST, TIES, TIE_CURVATURE, CURVATURE = range(10)
N_NOTES = CURVATURE + 1


def single_starts(rows: np.ndarray) -> Points:
    """One start for each row."""
    return Points(np.arange(rows.size + 1), rows.astype(np.int64), np.ones(rows.size))


def shift_all(prepared: Prepared, starts: Points, budget: Budget, stop: np.ndarray | None = None) -> Found:
    """Shift every start, each on its own: it does not matter which others are with it.

    Critical points with ties are examined to second order, and those that are no modes go on from where
    the examination leads. The kernels end early when ``stop[0]`` is set.
    """
    from hypermodes._kernels import shifting

    stop = np.zeros(1, dtype=np.int64) if stop is None else stop
    found = _shift_block(prepared, starts, budget, stop, fresh=True)
    notes = _without_curvatures(found.notes)
    points = found.points
    unsettled = np.flatnonzero(notes[:, STATUS] == shifting.OPEN)
    while unsettled.size and not stop[0]:
        examined = _examine_block(prepared, points.take(unsettled), budget, stop)
        bend = examined.notes[:, 0]  # relative to the density
        onward = bend > budget.tol
        spent = notes[unsettled, ROUNDS] >= budget.max_rounds
        going = unsettled[onward & ~spent]  # the others stay the points their notes are about
        points = _replaced(points, going, examined.points.take(np.flatnonzero(onward & ~spent)))
        notes[unsettled, TIE_CURVATURE] = bend * notes[unsettled, DENSITY]
        critical = notes[unsettled][:, [SPREAD, EXCESS]].max(axis=1) <= budget.tol * notes[unsettled, DENSITY]
        decided = np.where(np.isnan(bend), shifting.NO_ASCENT, shifting.CERTIFIED)
        notes[unsettled[~onward], STATUS] = np.where(critical, decided, shifting.MAX_STEPS)[~onward]
        if (onward & spent).any():
            left = unsettled[onward & spent]
            as_they_are = _examine_block(prepared, points.take(left), budget, stop, settles=False)
            notes[left, TIE_CURVATURE] = as_they_are.notes[:, 0] * notes[left, DENSITY]
            notes[left, STATUS] = shifting.MAX_ROUNDS
        unsettled = going
        if unsettled.size:
            moved = _shift_block(prepared, points.take(unsettled), budget, stop, fresh=False)
            moved.notes[:, [ROUNDS, STEPS]] += notes[unsettled][:, [ROUNDS, STEPS]]
            notes[unsettled] = _without_curvatures(moved.notes)
            points = _replaced(points, unsettled, moved.points)
            unsettled = unsettled[moved.notes[:, STATUS] == shifting.OPEN]
    return Found(points, notes)


def _without_curvatures(notes: np.ndarray) -> np.ndarray:
    """Notes of the kernels, with room for what second order says: no ties, and nobody has looked inside."""
    return np.column_stack((notes, np.full(len(notes), -np.inf), np.full(len(notes), np.nan)))


def _shift_block(
    prepared: Prepared, block: Points, budget: Budget, stop: np.ndarray, *, fresh: bool
) -> Found:
    from hypermodes._kernels.shifting import shift_block

    n = block.ptr.size - 1
    # A start may be larger than what it could grow to, and there are not more than all rows.
    most = int(np.maximum(np.diff(block.ptr), min(budget.max_support, prepared.n_rows)).sum())
    found = Points(np.zeros(n + 1, np.int64), *prepared.room(most))
    notes = np.zeros((n, TIE_CURVATURE))
    shift_block(
        *prepared.arrays, prepared.workspace(), block, fresh, budget.tol, budget.limits, stop,
        found, notes,
    )  # fmt: skip
    notes[:, EXCESS] = np.maximum(notes[:, EXCESS], 0.0)
    return Found(_cut(*found), notes)


def surveyed(prepared: Prepared, points: Points, tol: float) -> np.ndarray:
    """What notes say of points besides how a shift came to them, computed anew: density to tie curvature."""
    from hypermodes._kernels.shifting import survey_points

    notes = np.full((points.ptr.size - 1, TIE_CURVATURE + 1 - DENSITY), -np.inf)
    survey_points(*prepared.arrays, prepared.workspace(), points, tol, notes)
    notes[:, EXCESS - DENSITY] = np.maximum(notes[:, EXCESS - DENSITY], 0.0)
    tied = np.flatnonzero(notes[:, TIES - DENSITY] > 0)
    if tied.size:
        stop, budget = np.zeros(1, dtype=np.int64), Budget(tol=tol)
        examined = _examine_block(prepared, points.take(tied), budget, stop, settles=False)
        notes[tied, -1] = examined.notes[:, 0] * notes[tied, 0]
    return notes


def _examine_block(
    prepared: Prepared, block: Points, budget: Budget, stop: np.ndarray, *, settles: bool = True
) -> Found:
    from hypermodes._kernels.second_order import examine

    bends, *points = examine(
        *prepared.arrays, prepared.workspace(), *block, budget.tol, MAX_TIES, settles, stop
    )
    return Found(_cut(*points), bends[:, None])


def _cut(ptr: np.ndarray, rows: np.ndarray, shares: np.ndarray) -> Points:
    """Keep what was written of the room a kernel asked for."""
    return Points(ptr, rows[: ptr[-1]].copy(), shares[: ptr[-1]].copy())


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


_opened: WeakValueDictionary[tuple[str, str], Prepared] = WeakValueDictionary()


def _in_folder(path: str, fingerprint: str) -> Prepared:
    """What lies in a folder, once a process, as long as somebody there works on it."""
    prepared = _opened.get((path, fingerprint))
    if prepared is None:
        prepared = _opened[path, fingerprint] = Prepared.of(HyperedgeAffinity(reopen(path, fingerprint)))
    return prepared


def _unpacked(*arrays: np.ndarray) -> Prepared:
    """What came from another process, which may be read-only memory."""
    from hypermodes._kernels.graph import Graph

    *graph, class_of = map(unlocked, arrays)
    return Prepared(Graph(*graph), class_of)
