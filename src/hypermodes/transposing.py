"""From the vertices of each hyperedge to the hyperedges of each vertex, in bounded memory.

An external counting sort: one pass deals the incidences out to files, each for a range of vertices and small
enough to be sorted in memory; a second sorts one file after the other and writes what it holds.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hypermodes.columns import Column

MOST_FILES = 200  # open at once
_BYTES = 64  # that an incidence takes while it is sorted


def transpose(
    pointers: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray | None,
    counts: np.ndarray,
    folder: Path,
    out: tuple[Column, Column | None],
    memory: int,
) -> None:
    """Append to ``out`` the row of each entry, and its value, by falling into columns, rows ascending.

    Parameters
    ----------
    pointers, indices, values
        Rows: row i has the columns indices[pointers[i]:pointers[i+1]] and, if there are any, these values.
    counts : (n_columns,) int
        How often each column comes.
    folder : Path
        An empty folder for files in between; it is empty again afterwards.
    out : pair of Column
        Where rows and values go; None without values.
    memory : int
        Bytes to use, about.
    """
    room = max(memory // _BYTES, indices.size // MOST_FILES, 1)
    ends = np.cumsum(counts, dtype=np.int64)
    bounds = _ranges(ends, room)
    record = np.dtype([("column", "<i4"), ("row", "<i4")] + [("value", "<f8")] * (values is not None))
    if bounds.size == 2:
        for chunk in _records(pointers, indices, values, record, max(indices.size, 1)):
            _write_sorted(chunk, out)
        return
    paths = [folder / f"{k}.part" for k in range(bounds.size - 1)]
    try:
        files = [path.open("wb") for path in paths]
        try:
            for chunk in _records(pointers, indices, values, record, room):
                part = np.searchsorted(bounds, chunk["column"], side="right") - 1
                chunk = chunk[np.argsort(part, kind="stable")]
                cuts = np.concatenate(([0], np.cumsum(np.bincount(part, minlength=len(files)))))
                for k in np.flatnonzero(np.diff(cuts)).tolist():
                    files[k].write(chunk[cuts[k] : cuts[k + 1]].data)
        finally:
            for file in files:
                file.close()
        for k, path in enumerate(paths):
            if path.stat().st_size == 0:
                continue
            chunk = np.memmap(path, dtype=record, mode="r")
            if bounds[k + 1] - bounds[k] == 1:  # one vertex that is in very many: there is nothing to sort
                for low in range(0, chunk.size, room):
                    _write(chunk[low : low + room], out)
            else:
                _write_sorted(np.array(chunk), out)
            del chunk
            path.unlink()
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


def row_ranges(pointers: np.ndarray, room: int) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of rows of at most ``room`` entries, or of one row."""
    low, n, last = 0, pointers.size - 1, int(pointers[-1])
    while low < n:
        # Of the type of the pointers: for any other, NumPy would make a copy of all of them, each time.
        reach = pointers.dtype.type(min(int(pointers[low]) + room, last))
        high = int(np.searchsorted(pointers, reach, side="right")) - 1
        high = min(max(high, low + 1), n)
        yield low, high
        low = high


def _ranges(ends: np.ndarray, room: int) -> np.ndarray:
    """Where to cut the columns so that each range has at most ``room`` entries, or is one column."""
    cuts = [0]
    while cuts[-1] < ends.size:
        begun = int(ends[cuts[-1] - 1]) if cuts[-1] else 0
        cuts.append(max(int(np.searchsorted(ends, begun + room, side="right")), cuts[-1] + 1))
    return np.array(cuts)


def _records(
    pointers: np.ndarray, indices: np.ndarray, values: np.ndarray | None, record: np.dtype, room: int
) -> Iterator[np.ndarray]:
    for low, high in row_ranges(pointers, room):
        begin, end = int(pointers[low]), int(pointers[high])
        chunk = np.empty(end - begin, record)
        chunk["column"] = indices[begin:end]
        chunk["row"] = np.repeat(np.arange(low, high), np.diff(pointers[low : high + 1]))
        if values is not None:
            chunk["value"] = values[begin:end]
        yield chunk


def _write_sorted(chunk: np.ndarray, out: tuple[Column, Column | None]) -> None:
    _write(chunk[np.argsort(chunk["column"], kind="stable")], out)


def _write(chunk: np.ndarray, out: tuple[Column, Column | None]) -> None:
    rows, values = out
    rows.append(chunk["row"])
    if values is not None:
        values.append(chunk["value"])
