"""Read and write hypergraph files by the ending of their name; gzip transparently, within a limit."""

import errno
import gzip
import io
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import BinaryIO, Literal

from hypermodes.files import LARGEST, as_path, replacing
from hypermodes.hypergraph import Hypergraph
from hypermodes.interop.building import Reading


@dataclass(frozen=True)
class Format:
    """A file format: its name, the endings of its files, and what it is."""

    name: str
    suffixes: tuple[str, ...]
    description: str
    module: str
    _read: str = "read"
    _write: str = "write"

    def _function(self, name: str) -> Callable[..., object] | None:
        return getattr(import_module(f"hypermodes.interop.{self.module}"), name, None)

    def read(self, content: bytes, reading: Reading) -> Hypergraph:
        """Make a hypergraph of the content of a file."""
        return self._function(self._read)(content, reading)  # type: ignore[misc, return-value]

    def write(self, hypergraph: Hypergraph, file: BinaryIO) -> None:
        """Write a hypergraph into an open file."""
        self._function(self._write)(hypergraph, file)  # type: ignore[misc]

    def losses(self, hypergraph: Hypergraph) -> list[str]:
        """What of the numbers that modes depend on would be lost in a file of this format."""
        find = self._function("losses")
        return [] if find is None else find(hypergraph)  # type: ignore[return-value]


_FORMATS = (
    Format("hif", (".hif.json", ".json"), "Hypergraph Interchange Format, JSON; keeps everything", "hif"),
    Format("csv", (".csv",), "rows of edge, node[, weight[, edge weight]]", "tables",
           "read_csv", "write_csv"),
    Format("tsv", (".tsv",), "the same with tabs", "tables", "read_tsv", "write_tsv"),
    Format("parquet", (".parquet",), "the same as Parquet (needs pyarrow)", "tables",
           "read_parquet", "write_parquet"),
    Format("list", (".txt", ".edges"), "one hyperedge a line: vertices separated by commas, tabs or spaces",
           "lists"),
    Format("hmetis", (".hgr",), "hMETIS: circuits and partitioning instances", "hmetis"),
    Format("npz", (".npz",), "the library's own file, exact and fast; keeps everything", "npz"),
)  # fmt: skip


def formats() -> tuple[Format, ...]:
    """The formats `read` and `write` know, for help texts: name, suffixes, description."""
    return _FORMATS


def format_of(name: str, format: str | None = None) -> Format:  # noqa: A002  (the word users know)
    """The format called ``format``, or the one whose ending this file name has; ``.gz`` is passed over."""
    if format is not None:
        for known in _FORMATS:
            if format == known.name:
                return known
        words = ", ".join(known.name for known in _FORMATS)
        raise ValueError(f"format: expected one of {words}; got {format!r}")
    plain = name.lower().removesuffix(".gz")
    for known in _FORMATS:
        if plain.endswith(known.suffixes):
            return known
    endings = ", ".join(suffix for known in _FORMATS for suffix in known.suffixes)
    raise ValueError(
        f"path: the ending of {name!r} says no format; expected {endings} (and .gz), or pass format="
    )


def read(
    path: str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,  # noqa: A002
    directed: Literal["refuse", "ignore"] = "refuse",
    above_one: Literal["rescale", "refuse", "binary"] = "rescale",
    nonpositive: Literal["refuse", "aside"] = "refuse",
    duplicates: Literal["last", "sum", "refuse"] | None = None,
    ids: Literal["auto", "text"] = "auto",
    header: bool | None = None,
    delimiter: str | None = None,
    columns: Sequence[str | int | None] | None = None,
    max_bytes: int = LARGEST,
) -> Hypergraph:
    """Read a hypergraph from a file; what the file says beyond it is in ``annotations``.

    Parameters
    ----------
    path : path or open binary file
        The ending says the format, see `formats`; gzip is recognised by its content.
    format : str, optional
        Name of the format, whatever the ending.
    directed : {"refuse", "ignore"}
        A directed hypergraph is an error, or is read as if heads and tails were alike.
    above_one : {"rescale", "refuse", "binary"}
        If any incidence weight exceeds 1: divide those of each hyperedge by its largest, raise an error, or
        take every p(v|e) as 1.
    nonpositive : {"refuse", "aside"}
        Weights of zero or less: an error, or the incidence (hyperedge) is left out and kept aside.
    duplicates : {"last", "sum", "refuse"}, optional
        If an incidence comes twice with different weights: the last holds (as in HIF if not given), their
        sum, or an error (as in tables if not given).
    ids : {"auto", "text"}
        Names in tables and lists are whole numbers if all of a column are, or always text.
    header, delimiter, columns
        For tables: whether there is a header, what separates cells, and which columns (names or positions)
        are edge, node[, weight[, edge weight]]. Found out if not given.
    max_bytes : int
        Most bytes a compressed file may unpack to, 1 GiB if not given.

    Raises
    ------
    ValueError
        In one line, whatever is wrong with the file.
    """
    reading = Reading(
        directed, above_one, nonpositive, duplicates, ids, header, delimiter, columns, max_bytes
    )  # fmt: skip
    is_file = hasattr(path, "read")
    name = str(getattr(path, "name", "")) if is_file else str(as_path("path", path))
    if is_file and not name and format is None:
        raise ValueError("format: an open file without a name says no format; pass format=")
    if not is_file and not os.path.exists(name):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    if not is_file and os.path.isdir(name):
        raise IsADirectoryError(
            f"path: {name!r} is a folder; expected a file, or hypermodes.open for a folder"
        )
    known = format_of(os.path.basename(name), format)
    try:
        if is_file:
            content = _content(path, max_bytes)  # type: ignore[arg-type]
        else:
            with open(path, "rb") as file:  # type: ignore[arg-type]
                content = _content(file, max_bytes)  # type: ignore[arg-type]
        return known.read(content, reading)
    except ValueError as error:
        raise ValueError(f"path: {name or 'the file'}: {' '.join(str(error).split())}") from error
    except (RecursionError, MemoryError) as error:
        raise ValueError(
            f"path: {name or 'the file'}: too large or too deep ({type(error).__name__})"
        ) from error


def write(
    hypergraph: Hypergraph,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    lossy: bool = False,
) -> None:
    """Write a hypergraph to a file, all at once or not at all; the ending says the format.

    Parameters
    ----------
    hypergraph : Hypergraph
        With its annotations; HIF and ``.npz`` keep all of them.
    path : path
        Ends as one of `formats` says, and may have ``.gz`` behind it.
    format : str, optional
        Name of the format, whatever the ending.
    lossy : bool
        Write even if the format cannot hold numbers that modes depend on: p(v|e), w(e), isolated vertices.
    """
    if not isinstance(hypergraph, Hypergraph):
        raise ValueError(f"hypergraph: expected a Hypergraph; got a {type(hypergraph).__name__}")
    name = as_path("path", path).name
    known = format_of(name, format)
    lost = [] if lossy else known.losses(hypergraph)
    if lost:
        raise ValueError(
            f"format: {known.name} cannot hold {' and '.join(lost)}; write hif or npz, or pass lossy=True"
        )
    with replacing(path) as temporary, open(temporary, "wb") as file:
        if name.lower().endswith(".gz"):
            # No name and no time inside: the same hypergraph makes the same file.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as packed:
                known.write(hypergraph, packed)  # type: ignore[arg-type]
        else:
            known.write(hypergraph, file)


_CHUNK = 1 << 20


def _content(file: BinaryIO, max_bytes: int) -> bytes:
    """All of a file; what is compressed is unpacked piece by piece, and never beyond the limit."""
    start = file.read(2)
    if not isinstance(start, bytes):
        raise ValueError("expected a file opened in binary mode; it gives text")
    if start != b"\x1f\x8b":
        if not file.seekable():
            return start + file.read()
        file.seek(-len(start), os.SEEK_CUR)  # joining would need the room twice
        return file.read()
    pieces, size = io.BytesIO(), 0
    try:
        with gzip.GzipFile(mode="rb", fileobj=_Rejoined(start, file)) as unpacked:  # type: ignore[call-overload]
            while piece := unpacked.read(_CHUNK):
                size += len(piece)
                if size > max_bytes:
                    raise ValueError(
                        f"it unpacks to more than max_bytes={max_bytes}; raise max_bytes to read it"
                    )
                pieces.write(piece)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"the gzip data are damaged: {error}") from None
    return pieces.getvalue()


class _Rejoined:
    """A file with the first bytes, which were read to see what it is, put back: pipes cannot seek."""

    def __init__(self, start: bytes, file: BinaryIO) -> None:
        self._start, self._file = start, file

    def read(self, size: int = -1) -> bytes:
        if not self._start:
            return self._file.read(size)
        taken, self._start = (self._start, b"") if size < 0 else (self._start[:size], self._start[size:])
        return taken + (self._file.read(-1 if size < 0 else size - len(taken)))
