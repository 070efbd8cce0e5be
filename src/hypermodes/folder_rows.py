"""The columns of a folder while it is written, and the rows that the kernels read, made from the others."""

from pathlib import Path
from typing import Any

import numpy as np

from hypermodes.columns import PIECE, Column, Entry, mapped, unlocked
from hypermodes.transposing import row_ranges, transpose


class FolderColumns:
    """Columns in a folder: some grow, the others are written, and can be read in place.

    Parameters
    ----------
    folder : path
        Where they are.
    memory : int
        Bytes to use, about, while one is made from others.
    """

    def __init__(self, folder: Path, memory: int) -> None:
        self.folder, self.memory = folder, memory
        self.growing: dict[str, Column] = {}
        self.written: dict[str, Entry] = {}

    def begin(self, name: str, kind: Any) -> Column:
        """Begin a column."""
        self.growing[name] = Column(self._path(name), kind)
        return self.growing[name]

    def finish(self, name: str) -> None:
        """Finish one."""
        self.written[name] = self.growing.pop(name).close()

    def finish_all(self) -> None:
        """Finish those that grow."""
        for name in tuple(self.growing):
            self.finish(name)

    def write(self, name: str, kind: Any, *parts: np.ndarray) -> None:
        """Write a column at once."""
        column = self.begin(name, kind)
        for part in parts:
            column.append(part)
        self.finish(name)

    def write_pointers(self, name: str, kind: str, sizes: np.ndarray) -> None:
        """Write where rows of these sizes begin, and where the last one ends."""
        self.write(name, kind, np.zeros(1), np.cumsum(sizes))

    def read(self, name: str) -> np.ndarray:
        """One that is written, in place."""
        entry = self.written[name]
        return mapped(self._path(name), entry.dtype, entry.length)

    def rename(self, name: str, other: str) -> None:
        """Give one that is written another name."""
        self._path(name).rename(self._path(other))
        self.written[other] = self.written.pop(name)

    def drop(self, name: str) -> None:
        """Remove one, if it was written."""
        if self.written.pop(name, None) is not None:
            self._path(name).unlink()

    def transpose(
        self,
        name: str,
        pointers: np.ndarray,
        indices: np.ndarray,
        values: np.ndarray | None,
        counts: np.ndarray,
    ) -> None:
        """Write the other orientation of rows, as ``transposing.transpose`` says."""
        edges = self.begin(f"{name}_edges", "<i4")
        others = None if values is None else self.begin(f"{name}_values", "<f8")
        between = self.folder / "sorting"
        between.mkdir()
        transpose(pointers, indices, values, counts, between, (edges, others), self.memory)
        between.rmdir()
        self.finish(f"{name}_edges")
        if others is not None:
            self.finish(f"{name}_values")

    def abandon(self) -> None:
        """Let go of all files as they are."""
        for column in self.growing.values():
            column.abandon()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npy"


def write_rows(columns: FolderColumns, pointers: np.ndarray, vertices: np.ndarray, counts: np.ndarray) -> int:
    """Write the rows of the kernels: no vertices of one hyperedge alone, and one row for twins.

    Parameters
    ----------
    columns : FolderColumns
        With weights and degrees; the rows come beside them.
    pointers, vertices
        The vertices of each hyperedge.
    counts : (n_vertices,) int
        In how many hyperedges each vertex is.

    Returns
    -------
    int
        How many rows there are.
    """
    from hypermodes._kernels.alike import NOTHING, first_alike

    room, n_edges = max(columns.memory // 64, 1), pointers.size - 1
    rate = columns.read("weights") / columns.read("degrees")
    shared = counts > 1
    own, is_stripped = pointers.astype(np.int64), not shared[counts > 0].all()
    if is_stripped:
        own, vertices = _strip(columns, own, vertices, shared, room)
    sizes = np.diff(own)
    first = first_alike(own, unlocked(vertices), rate.view(np.int64), NOTHING)
    is_row = first == np.arange(n_edges)
    rows = np.flatnonzero(is_row)
    row_of = (np.cumsum(is_row) - 1)[first]
    if rows.size < n_edges:
        column = columns.begin("row_vertices", "<i4")
        for low, high in row_ranges(own, room):
            column.append(vertices[own[low] : own[high]][np.repeat(is_row[low:high], sizes[low:high])])
        columns.finish("row_vertices")
        columns.drop("stripped")
    elif is_stripped:
        columns.rename("stripped", "row_vertices")
    if "row_vertices" in columns.written:
        chosen = columns.read("row_vertices")
        counts = np.zeros(counts.size, np.int64)
        for low in range(0, chosen.size, PIECE):
            counts += np.bincount(chosen[low : low + PIECE], minlength=counts.size)
        ptr = np.concatenate(([0], np.cumsum(sizes[is_row])))
        columns.transpose("row_vertex", ptr, chosen, None, counts)
    columns.write_pointers("row_pointers", "<i8", sizes[is_row])
    columns.write_pointers("row_vertex_pointers", "<i8", counts)
    columns.write("row_rates", "<f8", rate[is_row])
    columns.write("row_twins", "<f8", np.bincount(row_of, minlength=rows.size))
    columns.write("row_first_edges", "<i8", rows)
    columns.write("row_of_edges", "<i8", row_of)
    return int(rows.size)


def _strip(
    columns: FolderColumns, pointers: np.ndarray, vertices: np.ndarray, shared: np.ndarray, room: int
) -> tuple[np.ndarray, np.ndarray]:
    """Write hyperedges without the vertices that nobody shares with them."""
    column, sizes = columns.begin("stripped", "<i4"), np.empty(pointers.size - 1, np.int64)
    for low, high in row_ranges(pointers, room):
        part = vertices[pointers[low] : pointers[high]]
        kept = shared[part]
        column.append(part[kept])
        counted = np.concatenate(([0], np.cumsum(kept)))
        sizes[low:high] = np.diff(counted[pointers[low : high + 1] - pointers[low]])
    columns.finish("stripped")
    return np.concatenate(([0], np.cumsum(sizes))), columns.read("stripped")
