"""How F bends inside a support: what a certificate says of a mode besides its payoffs."""

import numpy as np

from hypermodes.batch import CURVATURE, Found, Points, Prepared
from hypermodes.threads import in_threads, single_threaded_algebra

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
        prepared.held.look()

    with single_threaded_algebra:  # else last bits of large faces would hang on the number of threads
        in_threads(n_jobs, look, parts)
    return curvature


def _of_one_size(prepared: Prepared, points: Points, chosen: np.ndarray, size: int) -> np.ndarray:
    rows = points.rows[points.ptr[chosen][:, None] + np.arange(size)]
    faces = _faces(prepared, rows)
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


def _faces(prepared: Prepared, supports: np.ndarray) -> np.ndarray:
    """Dense faces M_S of supports of one size, a row each, stacked."""
    from hypermodes._kernels.shifting import dense_faces

    faces: np.ndarray = dense_faces(*prepared.arrays, prepared.workspace(), supports)
    return faces
