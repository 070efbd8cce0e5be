"""Write a hypergraph of any size to a folder, block by block; how it lies there, `folder` says."""

import hashlib
import itertools
import json
import operator
import os
import shutil
from collections.abc import Hashable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self
from uuid import uuid4

import numpy as np
import scipy.sparse as sp

from hypermodes import labels as names
from hypermodes.annotations import TEXTS, Annotations
from hypermodes.columns import PIECE, Column, Entry, mapped, unlocked
from hypermodes.files import settle, writing_to
from hypermodes.folder import FORMAT, META, MOST, VERSION, check_text
from hypermodes.hypergraph import Hypergraph
from hypermodes.transposing import row_ranges, transpose

_GROWING: Final = (
    ("edge_pointers", "<i4"), ("edge_vertices", "<i4"), ("edge_values", "<f8"), ("weights", "<f8"),
    ("degrees", "<f8"),
)  # fmt: skip


def write_folder(
    hypergraph: Hypergraph | Iterable[Any],
    path: str | os.PathLike[str],
    *,
    n_vertices: int | None = None,
    vertices: Iterable[Hashable] | None = None,
    memory: int = 1 << 28,
) -> None:
    """Write a hypergraph, or blocks of one as they come, to a folder that `open` reads in place.

    Parameters
    ----------
    hypergraph : Hypergraph, or iterable of blocks
        Blocks are as in `FolderWriter.append`; never more than one of them is held.
    path : path
        The folder to make; it must not exist. It is there when all of it is written, or not at all.
    n_vertices : int, optional
        Number of vertices: for blocks, which need it.
    vertices : iterable of hashables, optional
        Names of the vertices: for blocks.
    memory : int
        Bytes to use, about, besides 56 for each vertex and hyperedge, and their names.

    Notes
    -----
    Annotations of a hypergraph are kept; those of blocks are not (see `FolderWriter`).

    Examples
    --------
    >>> import tempfile, hypermodes as hm
    >>> H = Hypergraph.from_edges([[1, 2, 3], [2, 3, 4]])
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_folder(H, f"{place}/small")
    ...     hm.open(f"{place}/small") == H
    True
    """
    annotations = None
    if isinstance(hypergraph, Hypergraph):
        for name, given in (("n_vertices", n_vertices), ("vertices", vertices)):
            if given is not None:
                raise ValueError(f"{name}: a Hypergraph has its own; expected None, got {given!r}")
        n_vertices, vertices, annotations = hypergraph.n_vertices, hypergraph.vertices, hypergraph.annotations
        hypergraph = (hypergraph,)
    if n_vertices is None:
        raise ValueError("n_vertices: blocks do not say how many vertices there are in all; got None")
    with FolderWriter(path, n_vertices, vertices=vertices, annotations=annotations, memory=memory) as writer:
        for block in hypergraph:
            writer.append(block)


class FolderWriter:
    """Writes a hypergraph of any size to a folder, hyperedges block by block.

    Parameters
    ----------
    path : path
        The folder to make; it must not exist.
    n_vertices : int
        Number of vertices in all.
    vertices : iterable of hashables, optional
        Their names; 0, 1, 2, … if not given.
    annotations : Annotations, optional
        What is said of the whole. Those of single blocks are not kept.
    memory : int
        Bytes to use, about, besides 56 for each vertex and hyperedge, and their names.

    Notes
    -----
    Everything goes to a hidden folder beside ``path``, which takes its place when the ``with`` block ends
    well. Hyperedges that share vertices should come near each other: the kernels find what they touch in
    pages that are in memory already.

    Examples
    --------
    >>> import tempfile, hypermodes as hm
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with FolderWriter(f"{place}/rings", n_vertices=6) as writer:
    ...         writer.append(np.array([[0, 1, 2], [1, 2, 3]]))
    ...         writer.append(np.array([[3, 4], [4, 5]]), weights=[1.0, 2.0])
    ...     hm.open(f"{place}/rings")
    Hypergraph(6 vertices, 4 hyperedges of 2 to 3 vertices, 10 incidences, weighted)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        n_vertices: int,
        *,
        vertices: Iterable[Hashable] | None = None,
        annotations: Annotations | None = None,
        memory: int = 1 << 28,
    ) -> None:
        if not isinstance(annotations, Annotations | None):
            raise ValueError(f"annotations: expected Annotations or None; got {annotations!r}")
        self._annotations = annotations
        self._said = {} if annotations is None else annotations.to_arrays()
        self.path = Path(path)
        if isinstance(n_vertices, bool) or not isinstance(n_vertices, int | np.integer):
            raise ValueError(f"n_vertices: expected a whole number; got {n_vertices!r}")
        if not 0 < n_vertices <= MOST:
            raise ValueError(f"n_vertices: expected 1 to {MOST}; got {n_vertices}")
        if isinstance(memory, bool) or not isinstance(memory, int | np.integer) or memory < 1:
            raise ValueError(f"memory: expected a number of bytes, 1 or more; got {memory!r}")
        if self.path.exists() or self.path.is_symlink():
            raise FileExistsError(f"path: {os.fspath(path)!r} is there already; expected a folder to make")
        if not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"path: cannot write {os.fspath(path)!r}, there is no folder {str(self.path.parent)!r}"
            )
        self.n_vertices, self.n_edges, self.n_incidences = int(n_vertices), 0, 0
        named = names.as_labels("vertices", vertices, self.n_vertices, "vertex")
        listed = None if isinstance(named, range) else _encoded("vertices", named, self.n_vertices)
        self._memory, self._soft, self._closed, self._torn = int(memory), False, False, False
        self._counts = np.zeros(self.n_vertices, np.int64)
        self._named: bool | None = None  # whether hyperedges have names; None as long as it cannot be told
        self._numbered = True  # whether names so far, if there are any, are 0, 1, 2, …
        self._columns: dict[str, Column] = {}
        self._written: dict[str, Entry] = {}
        self._labels: BinaryIO | None = None
        self._folder = self.path.parent / f".{self.path.name}.{uuid4().hex[:12]}"
        try:
            self._folder.mkdir()  # not by mkdtemp, which makes folders private
        except OSError as error:
            raise type(error)(f"path: cannot write {os.fspath(path)!r}: {error.strerror}") from None
        if listed is not None:
            try:
                with writing_to("path", self.path):
                    (self._folder / "vertices.json").write_bytes(listed)
            except BaseException:
                self.abandon()
                raise

    def append(
        self, block: Any, weights: Iterable[float] | None = None, labels: Iterable[Hashable] | None = None
    ) -> None:
        """Add hyperedges behind those that are there.

        Parameters
        ----------
        block : Hypergraph, (n, k) array of int, or (n_vertices, n) sparse matrix
            A hypergraph over the same vertices; or numbers of vertices, a row a hyperedge; or p(v|e).
        weights : iterable of float, optional
            w(e) > 0; all 1 if not given.
        labels : iterable of hashables, optional
            Names of the hyperedges: for all blocks, or for none, and no name twice in all. Those of a
            Hypergraph come with it. If they are 0, 1, 2, …, as they are where nobody gave any, they are
            names beside blocks that have names, and none beside blocks that have none.
        """
        self._check_whole()
        named = self._with_names(block, labels)
        block = self._checked(block, weights, labels)
        if max(self.n_incidences + block.incidence.nnz, self.n_edges + block.n_edges) > MOST:
            raise ValueError(
                f"block: a folder holds at most {MOST} incidences; see docs/scale.md on how to cut"
            )
        numbered = self._numbered and (not named or _are_numbers(block.labels, self.n_edges))
        listed = None if numbered else self._listed(block.labels)
        self._torn = True  # until all of it is written
        with writing_to("path", self.path):
            self._write_block(block)
            if listed is not None:
                self._write_labels(listed)
        self._named, self._numbered, self._soft = named, numbered, self._soft or block.is_soft
        self.n_edges += block.n_edges
        self.n_incidences += int(block.incidence.nnz)
        self._torn = False

    def close(self) -> None:
        """Finish: the hyperedges of each vertex, what the kernels read, and the name of the folder.

        Leaving the ``with`` block does it; a second time does nothing. When it is done, the disk has all of
        it.
        """
        if self._closed:
            return
        self._check_whole()
        if self.n_edges == 0:
            raise ValueError("block: expected at least one hyperedge in all; got none")
        self._torn = True  # if anything goes wrong from here on
        with writing_to("path", self.path):
            self._complete()
        try:
            self._folder.rename(self.path)
        except OSError as error:
            raise type(error)(f"path: cannot make {str(self.path)!r}: {error.strerror}") from None
        self._closed = True
        with writing_to("path", self.path):
            settle(self.path.parent)

    def abandon(self) -> None:
        """Leave nothing behind."""
        for column in self._columns.values():
            column.abandon()
        if self._labels is not None:
            with suppress(OSError):
                self._labels.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.close()
        finally:
            self.abandon()

    # -- steps ------------------------------------------------------------------------------------

    def _complete(self) -> None:
        """Write all that the folder holds beside the hyperedges, its description last."""
        self._finish_labels()
        self._write_annotations()
        for name in tuple(self._columns):
            self._finish(name)
        pointers, vertices = self._stored("edge_pointers"), self._stored("edge_vertices")
        values = self._stored("edge_values") if self._soft else None
        self._write_pointers("vertex_pointers", "<i4", self._counts)
        self._transpose(pointers, vertices, values, self._counts, "vertex")
        if values is None:
            (self._folder / "edge_values.npy").rename(self._folder / "ones.npy")
            self._written["ones"] = self._written.pop("edge_values")
        n_rows = self._lay_out(pointers, vertices)
        del pointers, vertices, values
        meta = {
            "format": FORMAT,
            "version": VERSION,
            "n_vertices": self.n_vertices,
            "n_edges": self.n_edges,
            "n_incidences": self.n_incidences,
            "n_rows": n_rows,
            "n_row_incidences": self._written.get("row_vertices", self._written["edge_vertices"]).length,
            "soft": self._soft,
            "names": {
                name: hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
                for name in ("vertices", "labels")
                if (path := self._folder / f"{name}.json").exists()
            },
            "columns": {name: list(entry) for name, entry in sorted(self._written.items())},
        }
        (self._folder / META).write_text(json.dumps(meta, indent=1), encoding="utf-8")
        for path in (*self._folder.iterdir(), self._folder):
            settle(path)

    def _check_whole(self) -> None:
        if self._closed:
            raise ValueError(f"block: {str(self.path)!r} is finished; expected another folder to write to")
        if self._torn:
            raise ValueError(
                "block: what was written last was written in part, and failed; expected to begin anew"
            )

    def _checked(self, block: Any, weights: Any, labels: Any) -> Hypergraph:
        if isinstance(block, Hypergraph):
            if weights is not None or labels is not None:
                raise ValueError("block: a Hypergraph has its own weights and labels; got others as well")
            if block.n_vertices != self.n_vertices:
                raise ValueError(
                    f"block: expected a hypergraph over {self.n_vertices} vertices; got {block.n_vertices}"
                )
            return block
        try:
            incidence = block if sp.issparse(block) else self._incidence(_as_array(block))
            if incidence.shape[0] != self.n_vertices:
                raise ValueError(
                    f"incidence: expected {self.n_vertices} rows, one a vertex; got {incidence.shape}"
                )
            return Hypergraph.from_incidence(incidence, weights, labels=labels)
        except ValueError as error:
            raise ValueError(f"block: (from hyperedge {self.n_edges} on) {error}") from None

    def _with_names(self, block: Any, labels: Any) -> bool | None:
        """Whether hyperedges have names, with this block; None if the first ones are 0, 1, 2, … either way.

        Whether a Hypergraph was given the labels 0, 1, 2, … or none cannot be told from it.
        """
        if not isinstance(block, Hypergraph):
            said = labels is not None
        elif not isinstance(block.labels, range):
            said = True
        elif self.n_edges == 0:
            return None
        else:
            said = bool(self._named)
        if self._named not in (None, said):
            raise ValueError("labels: expected names for the hyperedges of all blocks, or of none")
        return said

    def _listed(self, labels: names.Labels) -> bytes:
        before = 0 if self._labels is None else self._labels.tell()
        return _encoded("labels", tuple(labels), self.n_edges + len(labels), before)

    def _write_block(self, block: Hypergraph) -> None:
        if self.n_edges == 0:
            for name, kind in _GROWING:
                self._column(name, kind)
            self._columns["edge_pointers"].append(np.zeros(1))
        incidence = block.incidence
        self._columns["edge_pointers"].append(incidence.indptr[1:].astype(np.int64) + self.n_incidences)
        self._columns["edge_vertices"].append(incidence.indices)
        self._columns["edge_values"].append(incidence.data)
        self._columns["weights"].append(block.weights)
        self._columns["degrees"].append(block.edge_degrees)
        self._counts += np.bincount(incidence.indices, minlength=self.n_vertices)

    def _write_labels(self, listed: bytes) -> None:
        """Write a list of names behind those that are there."""
        if self._labels is None:
            self._labels = (self._folder / "labels.json").open("xb")
            self._labels.write(b"[")
            for low in range(0, self.n_edges, PIECE):  # as long as they were 0, 1, 2, … none were written
                numbers = range(low, min(low + PIECE, self.n_edges))
                self._labels.write("".join(f"{number}, " for number in numbers).encode())
        else:
            self._labels.write(b", ")
        self._labels.write(listed[1:-1])

    def _incidence(self, rows: np.ndarray) -> sp.csc_array:
        if rows.ndim != 2 or rows.dtype.kind not in "iu":
            raise ValueError(
                "expected a Hypergraph, a sparse matrix, or a two-dimensional array of vertex numbers; "
                f"got shape {rows.shape} and type {rows.dtype}"
            )
        if rows.size and not (rows.min() >= 0 and rows.max() < self.n_vertices):
            raise ValueError(f"expected vertex numbers from 0 to {self.n_vertices - 1}")
        n, k = rows.shape
        ones = (np.ones(rows.size), rows.ravel(), np.arange(n + 1) * k)
        matrix = sp.csc_array(ones, shape=(self.n_vertices, n))
        matrix.sum_duplicates()
        matrix.data[:] = 1.0  # a vertex named twice counts once
        return matrix

    def _lay_out(self, pointers: np.ndarray, vertices: np.ndarray) -> int:
        """Write the rows of the kernels: no vertices of one hyperedge alone, and one row for twins."""
        from hypermodes._kernels.alike import NOTHING, first_alike

        room = max(self._memory // 64, 1)
        rate = self._stored("weights") / self._stored("degrees")
        shared = self._counts > 1
        own, is_stripped = pointers.astype(np.int64), not shared[self._counts > 0].all()
        if is_stripped:
            own, vertices = self._strip(own, vertices, shared, room)
        sizes = np.diff(own)
        first = first_alike(own, unlocked(vertices), rate.view(np.int64), NOTHING)
        is_row = first == np.arange(self.n_edges)
        rows = np.flatnonzero(is_row)
        row_of = (np.cumsum(is_row) - 1)[first]
        if rows.size < self.n_edges:
            column = self._column("row_vertices", "<i4")
            for low, high in row_ranges(own, room):
                column.append(vertices[own[low] : own[high]][np.repeat(is_row[low:high], sizes[low:high])])
            self._finish("row_vertices")
            self._drop("stripped")
        elif is_stripped:
            (self._folder / "stripped.npy").rename(self._folder / "row_vertices.npy")
            self._written["row_vertices"] = self._written.pop("stripped")
        counts = self._counts
        if "row_vertices" in self._written:
            chosen = self._stored("row_vertices")
            counts = np.zeros(self.n_vertices, np.int64)
            for low in range(0, chosen.size, PIECE):
                counts += np.bincount(chosen[low : low + PIECE], minlength=self.n_vertices)
            ptr = np.concatenate(([0], np.cumsum(sizes[is_row])))
            self._transpose(ptr, chosen, None, counts, "row_vertex")
        self._write_pointers("row_pointers", "<i8", sizes[is_row])
        self._write_pointers("row_vertex_pointers", "<i8", counts)
        for name, kind, content in (
            ("row_rates", "<f8", rate[is_row]),
            ("row_twins", "<f8", np.bincount(row_of, minlength=rows.size)),
            ("row_first_edges", "<i8", rows),
            ("row_of_edges", "<i8", row_of),
        ):
            self._column(name, kind).append(content)
            self._finish(name)
        return int(rows.size)

    def _strip(
        self, pointers: np.ndarray, vertices: np.ndarray, shared: np.ndarray, room: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Write hyperedges without the vertices that nobody shares with them."""
        column, sizes = self._column("stripped", "<i4"), np.empty(self.n_edges, np.int64)
        for low, high in row_ranges(pointers, room):
            part = vertices[pointers[low] : pointers[high]]
            kept = shared[part]
            column.append(part[kept])
            counted = np.concatenate(([0], np.cumsum(kept)))
            sizes[low:high] = np.diff(counted[pointers[low : high + 1] - pointers[low]])
        self._finish("stripped")
        return np.concatenate(([0], np.cumsum(sizes))), self._stored("stripped")

    def _transpose(
        self,
        pointers: np.ndarray,
        indices: np.ndarray,
        values: np.ndarray | None,
        counts: np.ndarray,
        name: str,
    ) -> None:
        edges = self._column(f"{name}_edges", "<i4")
        others = None if values is None else self._column(f"{name}_values", "<f8")
        between = self._folder / "sorting"
        between.mkdir()
        transpose(pointers, indices, values, counts, between, (edges, others), self._memory)
        between.rmdir()
        self._finish(f"{name}_edges")
        if others is not None:
            self._finish(f"{name}_values")

    def _write_pointers(self, name: str, kind: str, sizes: np.ndarray) -> None:
        column = self._column(name, kind)
        column.append(np.zeros(1))
        column.append(np.cumsum(sizes))
        self._finish(name)

    def _finish_labels(self) -> None:
        if self._labels is not None:
            self._labels.write(b"]")
            self._labels.close()
            stored = (self._folder / "labels.json").read_bytes()
            names.index_of("labels", names.decode(np.frombuffer(stored, np.uint8)))  # once in all blocks

    def _write_annotations(self) -> None:
        if self._annotations is not None:
            self._annotations.check(self.n_vertices, self.n_edges, self.n_incidences)
            for name, array in self._said.items():
                if name in TEXTS:
                    check_text("annotations", array.size, self.n_vertices + self.n_edges + self.n_incidences)
                self._column(name, array.dtype.newbyteorder("<")).append(array)

    def _column(self, name: str, kind: Any) -> Column:
        self._columns[name] = Column(self._folder / f"{name}.npy", kind)
        return self._columns[name]

    def _finish(self, name: str) -> None:
        self._written[name] = self._columns.pop(name).close()

    def _drop(self, name: str) -> None:
        if self._written.pop(name, None) is not None:
            (self._folder / f"{name}.npy").unlink()

    def _stored(self, name: str) -> np.ndarray:
        entry = self._written[name]
        return mapped(self._folder / f"{name}.npy", entry.dtype, entry.length)


def _as_array(block: Any) -> np.ndarray:
    try:
        return np.asarray(block)
    except ValueError:
        raise ValueError(
            "expected a Hypergraph, a sparse matrix, or hyperedges of one size in an array; got rows of "
            "different lengths (use Hypergraph.from_edges)"
        ) from None


def _encoded(name: str, labels: names.Labels, n: int, before: int = 0) -> bytes:
    """Names of some of n things as they are stored, behind this many bytes of names."""
    listed = names.encode(name, labels).tobytes()
    check_text(name, before + len(listed), n)
    return listed


def _are_numbers(labels: names.Labels, begin: int) -> bool:
    """Whether labels are whole numbers that go on from ``begin``, one by one."""
    if isinstance(labels, range):  # 0, 1, 2, …
        return begin == 0
    return set(map(type, labels)) == {int} and all(map(operator.eq, labels, itertools.count(begin)))
