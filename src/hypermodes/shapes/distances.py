"""How far any two shapes are apart: contexts compared at the best rotation, mirrored or not, with some give.

Two steps a pair. The similarity at every rotation is a circular correlation, for many pairs at once a product
of matrices at each frequency. Around the best rotation the outlines are then warped onto each other within a
band, which forgives what bends or stretches.
"""

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hypermodes.columns import unlocked
from hypermodes.executors import executor_of
from hypermodes.files import as_path, check_own, make_folder, open_plain, replacing, writing_to
from hypermodes.progress import Progress, tracker
from hypermodes.shapes.contexts import mirrored

BAND = 6  # points that an outline may run ahead of the other
_AS_GOOD = 2e-5  # of an agreement: rounding is a tenth of it, in whatever order things are added up
_ROUNDING = 1e-6  # distances below this, and below 0, are what rounding makes of 0
_BLOCK = 64  # rows of the table a task


def shape_distances(
    contexts: np.ndarray,
    *,
    cache: str | os.PathLike[str] | None = None,
    n_jobs: int | None = -1,
    client: Any = None,
    progress: Progress = None,
) -> np.ndarray:
    """Distance of each two shapes, from 0 (equal but for position, size, rotation, reflection) to 1.

    Parameters
    ----------
    contexts : (n, points, radial, angular) float32
        Of each shape, as `shape_contexts` gives them.
    cache : path of a folder, optional
        Where finished parts of the table are kept. Called again with the same shapes, also after an
        interruption, it goes on from there; other shapes are computed anew.
    n_jobs, client, progress
        As in `find_modes`; blocks of 64 rows of the table go to workers.

    Returns
    -------
    (n, n) float32
        Symmetric, with zeros on the diagonal.

    Notes
    -----
    O(n²) in time, some 60 µs a pair and core. Memory: the table, twice the contexts again (a copy in order
    and their Fourier transform), and a few blocks of 64 rows.
    """
    contexts = _checked(contexts)
    n = len(contexts)
    # In the order of what they are, not of how they came: that order plays no part in the answer.
    order = np.lexsort(contexts.reshape(n, -1)[:, :: max(1, contexts[0].size // 64)].T[::-1])
    shapes = _Shapes(np.ascontiguousarray(contexts[order]))
    kept = None if cache is None else _Kept.at(as_path("cache", cache), shapes.contexts)
    table = np.zeros((n, n), dtype=np.float32)
    with (
        executor_of(client, n_jobs) as executor,
        tracker(progress, n * (n - 1) // 2, "comparing shapes", executor.dashboard) as advance,
    ):

        def taken(begin: int, rows: np.ndarray) -> None:
            table[begin : begin + len(rows), begin:] = rows
            later = n - begin - np.arange(len(rows)) - 1
            advance(int(later.sum()))

        missing = []
        for begin in range(0, n, _BLOCK):
            rows = None if kept is None else kept.read(begin)
            if rows is None:
                missing.append((begin, range(begin, min(begin + _BLOCK, n))))
            else:
                taken(begin, rows)
        with closing(executor.each(_compared, shapes, missing)) as compared:
            for begin, rows in compared:
                if kept is not None:
                    kept.write(begin, rows)
                taken(begin, rows)
    table += table.T
    place = np.argsort(order)
    return table[np.ix_(place, place)]


@dataclass(frozen=True, eq=False)
class _Shapes:
    """Contexts of shapes, and what is made from them once wherever they are compared."""

    contexts: np.ndarray

    def __reduce__(self) -> Any:
        return _Shapes, (self.contexts,)

    @cached_property
    def made(self) -> tuple[np.ndarray, np.ndarray]:
        """The contexts, and their waves."""
        shapes = unlocked(self.contexts)  # from another process it may be read-only memory
        return shapes, _waves(shapes)


def _compared(given: _Shapes, block: range) -> np.ndarray:
    """These rows of the table, from the diagonal on; what is left of it is 0."""
    from hypermodes._kernels.alignment import closest_alignments

    shapes, waves = given.made
    begin, end = block.start, block.stop
    others = shapes[begin:].reshape(len(shapes) - begin, shapes.shape[1], -1)
    rows = others[: end - begin]
    images = np.ascontiguousarray(mirrored(shapes[begin:end])).reshape(rows.shape)
    turns = _best_turns(rows, waves[:, begin:end], others, waves[:, begin:])
    image_turns = _best_turns(images, _waves(images), others, waves[:, begin:])
    out = np.zeros((len(rows), len(others)), dtype=np.float32)
    closest_alignments(rows, images, others, turns, image_turns, BAND, out)
    out[out < _ROUNDING] = 0
    return out


def _waves(contexts: np.ndarray) -> np.ndarray:
    """Fourier transform along the outline: (frequencies, shapes, bins)."""
    n, points = contexts.shape[:2]
    transform = np.fft.rfft(contexts.reshape(n, points, -1), axis=1).astype(np.complex64)
    return np.ascontiguousarray(transform.transpose(1, 0, 2))


def _best_turns(
    rows: np.ndarray, waves: np.ndarray, others: np.ndarray, waves_of_others: np.ndarray
) -> np.ndarray:
    """The rotation at which each shape agrees best with each other: where Σ_i ⟨a_i, b_{i-turn}⟩ is largest.

    The second best is nearly always the one next to it, which the band reaches anyway. Not so for shapes with
    a symmetry: several are as good, and rounding, which hangs on the threads of the linear algebra, would
    decide. So those that differ by no more are looked at again, in an order of our own.
    """
    from hypermodes._kernels.alignment import best_of_turns

    spectrum = np.matmul(waves.conj(), waves_of_others.transpose(0, 2, 1))  # conjugate: of the smaller one
    agreement = np.fft.irfft(np.conjugate(spectrum, out=spectrum), rows.shape[1], axis=0)
    turns = agreement.argmax(axis=0).astype(np.int32)
    as_good = agreement >= (1 - _AS_GOOD) * agreement.max(axis=0)
    one, other = np.nonzero(np.count_nonzero(as_good, axis=0) > 1)
    best_of_turns(rows, others, one, other, as_good[:, one, other], turns)
    return turns


class _Kept:
    """Finished blocks in a folder, one file each, under what they were made from."""

    def __init__(self, folder: Path, shape: Callable[[int], tuple[int, int]]):
        self.folder, self.shape = folder, shape

    @classmethod
    def at(cls, folder: Path, shapes: np.ndarray) -> "_Kept":
        n = len(shapes)
        made_from = {
            "shapes": list(shapes.shape),
            "band": BAND,
            "block": _BLOCK,
            "version": 7,
        }
        key = hashlib.sha256(json.dumps(made_from).encode() + shapes.tobytes()).hexdigest()[:16]
        make_folder(folder, "cache")
        check_own("cache", folder / key, "cache", is_folder=True)
        make_folder(folder / key, "cache")
        return cls(folder / key, lambda begin: (min(_BLOCK, n - begin), n - begin))

    def read(self, begin: int) -> np.ndarray | None:
        """A block that is there and whole; None otherwise."""
        check_own("cache", self._path(begin), "cache")
        shape = self.shape(begin)
        size = shape[0] * shape[1] * 4
        try:
            with open_plain(self._path(begin)) as file:
                stored = file.read(_DIGEST + size + 1)
        except OSError:
            return None
        digest, content = stored[:_DIGEST], stored[_DIGEST:]
        if len(content) != size or digest != _digest(begin, content):
            return None
        block = np.frombuffer(content, dtype="<f4").reshape(shape)
        return block if np.isfinite(block).all() else None

    def write(self, begin: int, block: np.ndarray) -> None:
        path = self._path(begin)
        content = block.astype("<f4", copy=False).tobytes()
        with (
            writing_to("cache", self.folder, "; what is there is kept, and the same call goes on from it"),
            replacing(path, follow=False) as temporary,
        ):
            temporary.write_bytes(_digest(begin, content) + content)

    def _path(self, begin: int) -> Path:
        return self.folder / f"rows-{begin:07d}.block"


_DIGEST = 16  # bytes, before the numbers of a block


def _digest(begin: int, content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST, salt=begin.to_bytes(8, "little")).digest()


def _checked(contexts: np.ndarray) -> np.ndarray:
    contexts = np.asarray(contexts)
    if contexts.ndim != 4 or contexts.dtype.kind != "f" or 0 in contexts.shape:
        raise ValueError(
            "contexts: expected (n, points, radial, angular) numbers, a shape each; got shape "
            f"{contexts.shape}, type {contexts.dtype}"
        )
    if not np.isfinite(contexts).all():
        raise ValueError("contexts: expected finite numbers; found NaN or infinity")
    return contexts.astype(np.float32, copy=False)
