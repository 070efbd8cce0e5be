"""Hypergraphs on disk: a folder of plain ``.npy`` files, written block by block, read in place.

The layout, version 1 (see also docs/scale.md). All numbers are little-endian; n_edges, n_vertices and
n_incidences are in ``meta.json``, with the type, length and BLAKE2b digest of every column, and of itself.

======================================  =====================================================================
``edge_pointers``, ``edge_vertices``    int32; hyperedge i has edge_vertices[edge_pointers[i]:…[i+1]]; sorted
``vertex_pointers``, ``vertex_edges``   the same by vertex
``edge_values``, ``vertex_values``      float64; p(v|e) in these two orders, if any is below 1
``ones``                                float64; else: as many ones, for both
``weights``, ``degrees``                float64; w(e) and δ(e)
``row_…``                               what the kernels read: hyperedges without the vertices nobody shares,
                                        twins as one (see `layout`)
``vertices.json``, ``labels.json``      names, if they are not 0, 1, 2, …
``annotations_…``                       what is said beyond that, if anything; JSON in bytes where no numbers
======================================  =====================================================================
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import scipy.sparse as sp

from hypermodes import labels as names
from hypermodes.annotations import NUMBERS, TEXTS, Annotations
from hypermodes.columns import digest_of, mapped
from hypermodes.files import as_path
from hypermodes.hypergraph import Hypergraph
from hypermodes.verification import verify_columns

FORMAT: Final = "hypermodes-folder"
VERSION: Final = 1
MOST: Final = np.iinfo(np.int32).max - 1  # incidences, hyperedges or vertices
META: Final = "meta.json"
_COLUMNS: Final = frozenset((
    "edge_pointers", "edge_vertices", "edge_values", "vertex_pointers", "vertex_edges", "vertex_values",
    "ones", "weights", "degrees", "row_pointers", "row_vertices", "row_vertex_pointers", "row_vertex_edges",
    "row_rates", "row_twins", "row_first_edges", "row_of_edges", *TEXTS, *NUMBERS,
))  # fmt: skip
_NAMES: Final = frozenset(("vertices", "labels"))
_SAID: Final = frozenset((
    "format", "version", "n_vertices", "n_edges", "n_incidences", "n_rows", "n_row_incidences", "soft",
    "names", "columns", "digest",
))  # fmt: skip
_LARGEST_META: Final = 1 << 20
_LARGEST_TEXT: Final = (1 << 28, 1 << 12)  # bytes of names or annotations: in all, and for each that has some


def open(path: str | os.PathLike[str], *, verify: bool = False) -> Hypergraph:  # noqa: A001  (hm.open)
    """Open a hypergraph that was written to a folder, in place: nothing of it is loaded.

    Parameters
    ----------
    path : path
        A folder that `write_folder` or `FolderWriter` made.
    verify : bool
        Read all of it and check that it is as it was written, a hypergraph, and that the parts say the same:
        for folders of others. Without, files must be there with the right types and sizes, and their content
        is trusted.

    Returns
    -------
    Hypergraph
        Read-only, as any. It is pickled by its place: others open the same folder.

    Notes
    -----
    Names and attributes are read, if there are any: leave vertices and hyperedges 0, 1, 2, … where there are
    very many.
    """
    folder = as_path("path", path)
    if not folder.is_dir():
        kind = "is a file" if folder.exists() else "is not there"
        raise FileNotFoundError(f"path: {os.fspath(path)!r} {kind}; expected a folder that write_folder made")
    try:
        return _opened(folder.resolve(), verify)
    except MemoryError:
        raise ValueError(
            f"path: what {os.fspath(path)!r} says of its hypergraph needs more memory than there is"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(
            f"path: {os.fspath(path)!r} is not a hypergraph written by hypermodes, or damaged since: {reason}"
        ) from error


def reopen(path: str, fingerprint: str) -> Hypergraph:
    """Open a folder again, in another process; it must be the same."""
    hypergraph = open(path)
    if folder_of(hypergraph) != (path, fingerprint):
        raise ValueError(f"path: the hypergraph in {path!r} is another one than before")
    return hypergraph


def folder_of(hypergraph: Hypergraph) -> tuple[str, str] | None:
    """Where a hypergraph lies on disk, and the fingerprint of what is there; None if it does not."""
    reopened = hypergraph.__dict__.get("_reopened_by")
    return None if reopened is None else reopened[1]


# -- reading ------------------------------------------------------------------------------------------


def _opened(folder: Path, verify: bool) -> Hypergraph:
    content = _small_file(folder / META, _LARGEST_META)
    meta = json.loads(content.decode())
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise ValueError(f"{META} does not say {FORMAT!r}")
    if meta.get("version") != VERSION:
        raise ValueError(f"it is of version {meta.get('version')!r}; this release reads {VERSION}")
    _check_said(folder, meta)
    n_vertices, n_edges, n_incidences, n_rows, n_near = (
        _count(meta, name) for name in ("n_vertices", "n_edges", "n_incidences", "n_rows", "n_row_incidences")
    )
    soft, columns = meta["soft"], meta["columns"]
    if not isinstance(soft, bool) or not isinstance(columns, dict) or not 0 < n_rows <= n_edges:
        raise ValueError(f"{META} makes no sense")
    for name, said in columns.items():  # type, length, digest
        if not isinstance(said, list) or list(map(type, said)) != [str, int, str]:
            raise ValueError(f"{META} says of the column {name!r}: {said!r}"[:200])
    if n_edges > n_incidences or n_near > n_incidences:
        raise ValueError(f"{META} says {n_incidences} incidences in {n_edges} hyperedges")
    read: dict[str, np.ndarray] = {}

    def column(name: str, dtype: str, length: int) -> np.ndarray:
        read[name] = mapped(folder / f"{name}.npy", dtype, length)
        return read[name]

    def pointers(name: str, dtype: str, length: int, last: int) -> np.ndarray:
        array = column(name, dtype, length)
        if array[0] != 0 or array[-1] != last:
            raise ValueError(f"{name} runs from {array[0]} to {array[-1]}; expected 0 to {last}")
        return array

    by_edge = (
        column("edge_vertices", "<i4", n_incidences),
        pointers("edge_pointers", "<i4", n_edges + 1, n_incidences),
    )
    by_vertex = (
        column("vertex_edges", "<i4", n_incidences),
        pointers("vertex_pointers", "<i4", n_vertices + 1, n_incidences),
    )
    values = [
        column(name, "<f8", n_incidences)
        for name in (("edge_values", "vertex_values") if soft else ("ones", "ones"))
    ]
    own = "row_vertices" in columns
    rows = {
        "row_ptr": pointers("row_pointers", "<i8", n_rows + 1, n_near),
        "row_idx": column("row_vertices", "<i4", n_near) if own else by_edge[0],
        "vertex_ptr": pointers("row_vertex_pointers", "<i8", n_vertices + 1, n_near),
        "vertex_idx": column("row_vertex_edges", "<i4", n_near) if own else by_vertex[0],
        "rate": column("row_rates", "<f8", n_rows),
        "twins": column("row_twins", "<f8", n_rows),
        "first_edge": column("row_first_edges", "<i8", n_rows),
        "class_of": column("row_of_edges", "<i8", n_edges),
    }
    weights, degrees = column("weights", "<f8", n_edges), column("degrees", "<f8", n_edges)
    listed = {
        name: _names(folder, meta["names"], name, n)
        for name, n in (("vertices", n_vertices), ("labels", n_edges))
    }
    said = _annotations(
        columns, column, {"vertices": n_vertices, "edges": n_edges, "incidences": n_incidences}
    )
    fingerprint = hashlib.blake2b(content, digest_size=16).hexdigest()
    hypergraph = Hypergraph._trusted(
        incidence=_canonical(sp.csc_array((values[0], *by_edge), shape=(n_vertices, n_edges), copy=False)),
        incidence_by_vertex=_canonical(
            sp.csr_array((values[1], *by_vertex), shape=(n_vertices, n_edges), copy=False)
        ),
        weights=weights,
        edge_degrees=degrees,
        is_soft=soft,
        annotations=Annotations.from_arrays(said, n_vertices, n_edges, n_incidences),
        **listed,
        _stored_rows=rows,
        _reopened_by=(reopen, (str(folder), fingerprint)),
    )
    if verify:
        verify_columns(hypergraph, read, columns)
    return hypergraph


def _check_said(folder: Path, meta: dict[str, Any]) -> None:
    """See that the description is as it was written, and says of all that is there: no more, no less.

    Else what may be left out, as names may, could be lost by one damaged letter.
    """
    if "digest" in meta and meta["digest"] != digest_of_meta(meta):
        raise ValueError(f"{META} is not as it was written")
    for said, known in ((meta, _SAID), (meta["columns"], _COLUMNS), (meta["names"], _NAMES)):
        if not isinstance(said, dict) or not said.keys() <= known:
            raise ValueError(f"{META} says {sorted(said)!r}; expected some of {sorted(known)!r}"[:200])
    expected = {f"{name}.npy" for name in meta["columns"]} | {f"{name}.json" for name in meta["names"]}
    possible = {f"{name}.npy" for name in _COLUMNS} | {f"{name}.json" for name in _NAMES}
    more = (possible - expected).intersection(os.listdir(folder))
    if more:
        raise ValueError(f"{META} does not say that there is a file {min(more)}")


def digest_of_meta(meta: Mapping[str, Any]) -> str:
    """The digest of a description, without the one that it has; folders of older releases have none."""
    said = {name: value for name, value in meta.items() if name != "digest"}
    return hashlib.blake2b(json.dumps(said, sort_keys=True).encode(), digest_size=16).hexdigest()


def _annotations(
    columns: Mapping[str, Any], column: Callable[[str, str, int], np.ndarray], sizes: Mapping[str, int]
) -> dict[str, np.ndarray]:
    """Columns of annotations, of the types and lengths they must have: nothing is made of them before."""
    said = {}
    for name in TEXTS:
        if name in columns:
            check_text(f"{name}.npy", columns[name][1], sum(sizes.values()))
            said[name] = column(name, "|u1", columns[name][1])
            if digest_of(said[name]) != columns[name][2]:
                raise ValueError(f"{name}.npy is not as it was written")  # before it is taken for JSON
    for name, (kind, level) in NUMBERS.items():
        if name in columns:  # how many empty hyperedges there are, one of the texts says
            said[name] = column(name, kind, sizes.get(level, columns[name][1]))
    return said


def check_text(name: str, size: int, n: int) -> None:
    """See that names of n things, or what is said of them, are not so large that nobody could mean it."""
    most = _most_text(n)
    if size > most:
        raise ValueError(f"{name}: expected at most {most} bytes of text; got {size}")


def _most_text(n: int) -> int:
    return _LARGEST_TEXT[0] + n * _LARGEST_TEXT[1]


def _canonical(matrix: Any) -> Any:
    matrix.has_canonical_format = True  # as it was written; SciPy would look at all of it to find out
    return matrix


def _count(meta: dict[str, Any], name: str) -> int:
    value = meta[name]
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
        raise ValueError(f"{META} says {name} is {value!r}")
    return value


def _small_file(path: Path, most: int) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise ValueError(f"{path.name} is missing, or no plain file")
    if path.stat().st_size > most:
        raise ValueError(f"{path.name} has more than {most} bytes")
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror}") from None


def _names(folder: Path, digests: dict[str, str], name: str, n: int) -> names.Labels:
    if name not in digests:
        return range(n)
    content = _small_file(folder / f"{name}.json", _most_text(n))
    if hashlib.blake2b(content, digest_size=16).hexdigest() != digests[name]:
        raise ValueError(f"{name}.json is not as it was written")
    listed = names.decode(np.frombuffer(content, np.uint8))
    if len(listed) != n:
        raise ValueError(f"{name}.json has {len(listed)} names; expected {n}")
    return listed
