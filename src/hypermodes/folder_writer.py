"""Write a hypergraph of any size to a folder, block by block; how it lies there, `folder` says."""

import hashlib
import itertools
import json
import operator
import os
import shutil
from collections.abc import Hashable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

import numpy as np
import scipy.sparse as sp

from hypermodes import labels as names
from hypermodes.annotations import TEXTS, Annotations
from hypermodes.columns import PIECE
from hypermodes.files import as_path, beside, settle, writing_to
from hypermodes.folder import FORMAT, META, MOST, VERSION, check_text, digest_of_meta
from hypermodes.folder_rows import FolderColumns, write_rows
from hypermodes.hypergraph import Hypergraph
from hypermodes.matrices import unmasked
from hypermodes.scalars import whole_number

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
        self.path = as_path("path", path)
        n_vertices = whole_number("n_vertices", n_vertices, f"a whole number, 1 to {MOST}", most=MOST)
        memory = whole_number("memory", memory, "a number of bytes, 1 or more")
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
        self._labels: BinaryIO | None = None
        self._folder = beside(self.path)
        try:
            self._folder.mkdir()  # not by mkdtemp, which makes folders private
        except OSError as error:
            raise type(error)(f"path: cannot write {os.fspath(path)!r}: {error.strerror}") from None
        self._columns = FolderColumns(self._folder, self._memory)
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
        self._columns.abandon()
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
        columns = self._columns
        columns.finish_all()
        pointers, vertices = columns.read("edge_pointers"), columns.read("edge_vertices")
        values = columns.read("edge_values") if self._soft else None
        columns.write_pointers("vertex_pointers", "<i4", self._counts)
        columns.transpose("vertex", pointers, vertices, values, self._counts)
        if values is None:
            columns.rename("edge_values", "ones")
        n_rows = write_rows(columns, pointers, vertices, self._counts)
        del pointers, vertices, values
        meta = {
            "format": FORMAT,
            "version": VERSION,
            "n_vertices": self.n_vertices,
            "n_edges": self.n_edges,
            "n_incidences": self.n_incidences,
            "n_rows": n_rows,
            "n_row_incidences": columns.written.get("row_vertices", columns.written["edge_vertices"]).length,
            "soft": self._soft,
            "names": {
                name: hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
                for name in ("vertices", "labels")
                if (path := self._folder / f"{name}.json").exists()
            },
            "columns": {name: list(entry) for name, entry in sorted(columns.written.items())},
        }
        meta["digest"] = digest_of_meta(meta)
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
                self._columns.begin(name, kind)
            self._columns.growing["edge_pointers"].append(np.zeros(1))
        incidence, columns = block.incidence, self._columns.growing
        columns["edge_pointers"].append(incidence.indptr[1:].astype(np.int64) + self.n_incidences)
        columns["edge_vertices"].append(incidence.indices)
        columns["edge_values"].append(incidence.data)
        columns["weights"].append(block.weights)
        columns["degrees"].append(block.edge_degrees)
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
                self._columns.begin(name, array.dtype.newbyteorder("<")).append(array)


def _as_array(block: Any) -> np.ndarray:
    unmasked("incidence", block)
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
