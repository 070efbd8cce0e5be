"""From where the starts of the fast layer ended to distinct modes with their certificates.

Twin of `modes.collect`, on arrays: near-linear in the number of starts.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hypermodes.batch import (
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
from hypermodes.gathering import Gathered
from hypermodes.result import ModeTable, Status
from hypermodes.threads import in_threads


def distinct(
    prepared: Prepared, gathered: Gathered, budget: Budget, n_jobs: int | None = 1
) -> tuple[ModeTable, np.ndarray]:
    """Take flat results for one as well; the modes by falling density, and the mode of each start."""
    from hypermodes._kernels import shifting

    points, notes = gathered.found
    group = _flat_groups(prepared, points, notes, budget.tol)
    open_ended = notes[:, STATUS] != shifting.CERTIFIED
    widest = np.lexsort((-notes[:, DENSITY], -_sizes(prepared, points), open_ended, group))
    leader = (
        widest[np.concatenate(([True], group[widest][1:] != group[widest][:-1]))] if group.size else widest
    )
    leader = leader[np.lexsort((_first_edges(prepared, points)[leader], -notes[leader, DENSITY]))]
    rank = np.empty(group.max(initial=-1) + 1, dtype=np.int64)
    rank[group[leader]] = np.arange(leader.size)
    start_mode = np.append(rank[group], -1)[gathered.which]
    return as_table(prepared, Found(points.take(leader), notes[leader]), budget, n_jobs), start_mode


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
    points, notes = found
    critical = notes[:, [SPREAD, EXCESS]].max(axis=1, initial=0.0) <= budget.tol * notes[:, DENSITY]
    members_ptr, members = prepared.members
    counts = members_ptr[points.rows + 1] - members_ptr[points.rows]
    edges_ptr = np.concatenate(([0], np.cumsum(counts)))
    edges = members[np.repeat(members_ptr[points.rows] - edges_ptr[:-1], counts) + np.arange(edges_ptr[-1])]
    weights = np.repeat(points.shares / counts, counts)
    ptr = edges_ptr[points.ptr]
    owner = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    order = np.argsort(owner * prepared.class_of.size + edges, kind="stable")  # most are in order already
    worst = notes[:, WORST].astype(np.int64)
    return ModeTable(
        ptr=ptr,
        support=edges[order].astype(np.int64),
        weights=weights[order],
        density=notes[:, DENSITY],
        spread=notes[:, SPREAD],
        excess=notes[:, EXCESS],
        worst_edge=np.where(worst >= 0, members[members_ptr[np.maximum(worst, 0)]], -1)
        if worst.size
        else worst,
        curvature=np.where(critical, _curvatures(prepared, points, n_jobs), np.nan),
        ties=notes[:, TIES].astype(np.int64),
        tie_curvature=np.where(critical, notes[:, TIE_CURVATURE], np.nan),
        tol=np.full(len(notes), budget.tol),
        status=_STATUS[notes[:, STATUS].astype(np.int64)],
        rounds=notes[:, ROUNDS].astype(np.int64),
        steps=notes[:, STEPS].astype(np.int64),
    )


_FACE_ENTRIES = 1 << 18  # of the faces that are looked at together: 2 MB

_CODES = (Status.CERTIFIED, Status.ISOLATED, Status.MAX_ROUNDS, Status.MAX_STEPS, Status.MAX_SUPPORT)
_STATUS = np.array([status.name for status in _CODES], dtype="U12")


def _curvatures(prepared: Prepared, points: Points, n_jobs: int | None) -> np.ndarray:
    """Largest curvature of F inside each support, faces of one size at a time.

    With μ twins as one row, the unit move that spreads over them equally has length 1/√μ: the matrix of
    F is √μ M √μ on the moves orthogonal to √μ, and -c on the moves between twins, c their affinity.
    """
    sizes = np.diff(points.ptr)
    curvature = np.full(sizes.size, -np.inf)
    parts = []
    for size in np.unique(sizes).tolist():
        chosen = np.flatnonzero(sizes == size)
        step = max(1, _FACE_ENTRIES // size**2)
        parts += [chosen[low : low + step] for low in range(0, chosen.size, step)]

    def look(part: np.ndarray) -> None:
        curvature[part] = _curvatures_of_one_size(prepared, points, part, int(sizes[part[0]]))

    in_threads(n_jobs, look, parts)
    return curvature


def _curvatures_of_one_size(prepared: Prepared, points: Points, chosen: np.ndarray, size: int) -> np.ndarray:
    faces = _faces(prepared, points.take(chosen), size)
    rows = points.rows[points.ptr[chosen][:, None] + np.arange(size)]
    count = prepared.graph.twins[rows]
    root = np.sqrt(count)
    own = np.einsum("kaa->ka", faces)
    apart: np.ndarray = np.where(count > 1, -own * count / np.maximum(count - 1, 1), -np.inf).max(
        axis=1, initial=-np.inf
    )
    if size > 1:
        faces = faces * root[:, :, None] * root[:, None, :]
        unit = root / np.linalg.norm(root, axis=1, keepdims=True)
        across = np.einsum("kab,kb->ka", faces, unit)
        along = np.einsum("ka,ka->k", across, unit)
        faces -= unit[:, :, None] * across[:, None, :] + across[:, :, None] * unit[:, None, :]
        deep = 2 * np.abs(faces).sum(axis=2).max(axis=1)  # puts the move √μ itself below all others
        faces += (along - deep)[:, None, None] * unit[:, :, None] * unit[:, None, :]
        apart = np.maximum(apart, np.linalg.eigvalsh(faces)[:, -1])
    return apart


def _faces(prepared: Prepared, points: Points, size: int) -> np.ndarray:
    """Dense faces M_S of supports of one size, stacked."""
    graph, rows = prepared.graph, points.rows
    entries = graph.row_ptr[rows + 1] - graph.row_ptr[rows]
    begin = np.concatenate(([0], np.cumsum(entries)))
    where = np.repeat(graph.row_ptr[rows] - begin[:-1], entries) + np.arange(begin[-1])
    owner, columns = np.repeat(np.arange(rows.size), entries), graph.row_idx[where]
    if graph.rate.size == 0:  # a matrix: keep the entries whose column is in the same support
        own = np.arange(rows.size) // size * graph.twins.size + rows
        keys = owner // size * graph.twins.size + columns
        order = np.argsort(own)
        found = np.minimum(np.searchsorted(own, keys, sorter=order), rows.size - 1)
        match = np.flatnonzero(own[order[found]] == keys)
        faces = np.zeros(rows.size * size)
        faces[owner[match] * size + order[found[match]] % size] = graph.row_val[where[match]]
        return faces.reshape(-1, size, size)
    faces = _overlaps(owner, columns, rows.size, size)
    rate = graph.rate[rows].reshape(-1, size)
    faces *= rate[:, :, None] + rate[:, None, :]
    twins = graph.twins[rows].reshape(-1, size)
    np.einsum("kaa->ka", faces)[:] = 2 * rate * entries.reshape(-1, size) * (1 - 1 / twins)
    return faces


def _overlaps(owner: np.ndarray, vertices: np.ndarray, n_rows: int, size: int) -> np.ndarray:
    """How many vertices any two rows of one support share; every ``size`` rows are a support.

    Incidences are sorted by support, vertex and row, as one number each: the rows of a support that share a
    vertex then follow one another.
    """
    row_bits, vertex_bits = (size - 1).bit_length(), int(vertices.max(initial=0)).bit_length()
    support, row = np.divmod(np.arange(n_rows), size)
    packed = (support << (vertex_bits + row_bits) | row)[owner] | vertices.astype(np.int64) << row_bits
    packed.sort(kind="stable")  # merges: rows are in order, and so are supports
    vertex, row = packed >> row_bits, packed & ((1 << row_bits) - 1)
    line = ((vertex >> vertex_bits) * size + row) * size
    shared = np.zeros(n_rows * size)
    for lag in range(1, size):
        first = np.flatnonzero(vertex[lag:] == vertex[:-lag])
        if first.size == 0:
            break
        np.add.at(shared, line[first] + row[first + lag], 1.0)
    above = shared.reshape(-1, size, size)
    return above + above.transpose(0, 2, 1)
