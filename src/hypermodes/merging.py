"""From where the starts of the fast layer ended to distinct modes with their certificates.

Twin of `modes.collect`, on arrays: near-linear in the number of starts.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hypermodes.batch import (
    CURVATURE,
    DENSITY,
    EXCESS,
    ROUNDS,
    SPREAD,
    STATUS,
    STEPS,
    TIE_CURVATURE,
    TIES,
    WORST,
    Budget,
    Found,
    Points,
    Prepared,
)
from hypermodes.curvature import with_curvatures
from hypermodes.gathering import Gathered
from hypermodes.result import ModeTable, Status


def distinct(
    prepared: Prepared, gathered: Gathered, budget: Budget, n_jobs: int | None = 1
) -> tuple[ModeTable, np.ndarray]:
    """Take flat results for one as well; the modes by falling density, and the mode of each start."""
    from hypermodes._kernels import shifting

    points, notes = _judged(prepared, gathered.found, budget)
    group = _flat_groups(prepared, points, notes, budget.tol)
    leader = np.arange(group.size)
    if group.max(initial=-1) + 1 < group.size:
        open_ended = notes[:, STATUS] != shifting.CERTIFIED
        widest = np.lexsort((-notes[:, DENSITY], -_sizes(prepared, points), open_ended, group))
        leader = widest[np.concatenate(([True], group[widest][1:] != group[widest][:-1]))]
    leader = leader[np.lexsort((_first_edges(prepared, points)[leader], -notes[leader, DENSITY]))]
    rank = np.empty(group.max(initial=-1) + 1, dtype=np.int64)
    rank[group[leader]] = np.arange(leader.size)
    start_mode = np.append(rank[group], -1)[gathered.which]
    return as_table(prepared, Found(points.take(leader), notes[leader]), budget, n_jobs), start_mode


def _judged(prepared: Prepared, found: Found, budget: Budget) -> Found:
    """Certify what holds although its rounds were spent: rounding kept it going, and it was there already."""
    from hypermodes._kernels import shifting

    points, notes = found
    limit = budget.tol * notes[:, DENSITY]
    holds = (notes[:, STATUS] == shifting.MAX_ROUNDS) & (notes[:, TIE_CURVATURE] <= limit)
    holds &= _is_critical(notes, budget.tol)
    if not holds.any():
        return found
    left = np.flatnonzero(holds)
    seen = with_curvatures(prepared, Found(points.take(left), notes[left])).notes
    notes = notes.copy()
    notes[left] = seen
    notes[left[seen[:, CURVATURE] <= limit[left]], STATUS] = shifting.CERTIFIED
    return Found(points, notes)


def _is_critical(notes: np.ndarray, tol: float) -> np.ndarray:
    """Eq. (7), to first order."""
    return notes[:, [SPREAD, EXCESS]].max(axis=1, initial=0.0) <= tol * notes[:, DENSITY]


def _flat_groups(prepared: Prepared, points: Points, notes: np.ndarray, tol: float) -> np.ndarray:
    """Group of each distinct mode: those joined by flat segments are one (departures.md#flat)."""
    from hypermodes._kernels import shifting
    from hypermodes._kernels.flat import flat_pairs

    n = notes.shape[0]
    certified = notes[:, STATUS] == shifting.CERTIFIED
    tied = np.flatnonzero(certified & (notes[:, TIES] > 0))
    if tied.size == 0:
        return np.arange(n)
    candidates = np.flatnonzero(certified)
    owner = np.repeat(np.arange(n), np.diff(points.ptr))
    heaviest = points.rows[np.lexsort((-points.shares, owner))[points.ptr[:-1]]][candidates]
    anchor_ptr = np.concatenate(([0], np.cumsum(np.bincount(heaviest, minlength=prepared.n_rows))))
    by_anchor = candidates[np.argsort(heaviest, kind="stable")]
    pairs = flat_pairs(
        *prepared.arrays, prepared.workspace(), points.ptr, points.rows, points.shares,
        np.ascontiguousarray(notes[:, DENSITY]), tied, anchor_ptr, by_anchor, 10 * tol,
    )  # fmt: skip
    joined = sp.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return connected_components(joined, directed=False)[1].astype(np.int64)


def _first_edges(prepared: Prepared, points: Points) -> np.ndarray:
    """The first hyperedge of each point: equally dense modes are ranked by it, not by the layout."""
    ptr, members = prepared.members
    first = members[ptr[points.rows]]
    return np.minimum.reduceat(first, points.ptr[:-1]) if first.size else first


def _sizes(prepared: Prepared, points: Points) -> np.ndarray:
    """Number of hyperedges, twins counted, of each point."""
    counts = np.concatenate(([0.0], np.cumsum(prepared.graph.twins[points.rows])))
    return counts[points.ptr[1:]] - counts[points.ptr[:-1]]


def as_table(prepared: Prepared, found: Found, budget: Budget, n_jobs: int | None = 1) -> ModeTable:
    """Write modes of classes as modes of hyperedges, with their certificates."""
    from hypermodes._kernels import shifting
    from hypermodes._kernels.copying import over_members

    points, notes = with_curvatures(prepared, _judged(prepared, found, budget), n_jobs)
    critical = _is_critical(notes, budget.tol)
    status = notes[:, STATUS].astype(np.int64)
    bends_up = notes[:, CURVATURE] > budget.tol * notes[:, DENSITY]
    status[(status == shifting.CERTIFIED) & bends_up] = shifting.NO_ASCENT  # what is certified holds
    members_ptr, members = prepared.members
    ptr, edges, weights = over_members(*points, members_ptr, members)
    owner = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    order = np.argsort(owner * prepared.class_of.size + edges, kind="stable")  # most are in order already
    worst = notes[:, WORST].astype(np.int64)
    return ModeTable(
        ptr=ptr,
        support=edges[order],
        weights=weights[order],
        density=notes[:, DENSITY],
        spread=notes[:, SPREAD],
        excess=notes[:, EXCESS],
        worst_edge=np.where(worst >= 0, members[members_ptr[np.maximum(worst, 0)]], -1)
        if worst.size
        else worst,
        curvature=np.where(critical, notes[:, CURVATURE], np.nan),
        ties=notes[:, TIES].astype(np.int64),
        tie_curvature=np.where(critical, notes[:, TIE_CURVATURE], np.nan),
        tol=np.full(len(notes), budget.tol),
        status=_STATUS[status],
        rounds=notes[:, ROUNDS].astype(np.int64),
        steps=notes[:, STEPS].astype(np.int64),
    )


# In the order in which the kernels number them.
_CODES = ("CERTIFIED", "ISOLATED", "MAX_ROUNDS", "MAX_STEPS", "MAX_SUPPORT", "NO_ASCENT")
_STATUS = np.array([Status[name].name for name in _CODES], dtype="U12")
