"""How F bends inside a support: what a certificate says of a mode besides its payoffs."""

import numpy as np

from hypermodes.batch import CURVATURE, Found, Points, Prepared
from hypermodes.threads import in_threads

_FACE_ENTRIES = 1 << 18  # of the faces that are looked at together: 2 MB


def with_curvatures(
    prepared: Prepared, found: Found, n_jobs: int | None = 1, largest: int | None = None
) -> Found:
    """The same, with curvatures that have not been looked at yet, of supports of at most ``largest`` rows.

    A curvature depends on the support alone: it does not matter with which others it is computed.
    """
    points, notes = found
    missing = np.isnan(notes[:, CURVATURE])
    if largest is not None:
        missing &= np.diff(points.ptr) <= largest
    missing = np.flatnonzero(missing)
    if missing.size == 0:
        return found
    notes = notes.copy()
    chosen = points if missing.size == len(notes) else points.take(missing)
    notes[missing, CURVATURE] = curvatures(prepared, chosen, n_jobs)
    return Found(points, notes)


def curvatures(prepared: Prepared, points: Points, n_jobs: int | None = 1) -> np.ndarray:
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
        curvature[part] = _of_one_size(prepared, points, part, int(sizes[part[0]]))

    in_threads(n_jobs, look, parts)
    return curvature


def _of_one_size(prepared: Prepared, points: Points, chosen: np.ndarray, size: int) -> np.ndarray:
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
