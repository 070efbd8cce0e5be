"""What commands read: a hypergraph or a table of points, from a file or from standard input."""

import argparse
import gzip
import os
import re
import stat
import sys
import tempfile
import warnings
import zlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from hypermodes.cli.options import (
    HYPERGRAPH_FORMATS,
    POINT_FORMATS,
    STANDARD,
    reading_of,
    reading_options,
    refuse_useless,
)
from hypermodes.cli.terminal import safe, say

if TYPE_CHECKING:
    from hypermodes.hypergraph import Hypergraph
    from hypermodes.point_tables import PointTable

Kind = Literal["hypergraph", "points"]

_LARGEST_STREAM = 1 << 32  # bytes taken from a pipe, unless told
_OPENING = 1 << 14  # bytes looked at to tell what a file is
_ROWS = 100  # rows of it
_MARKS = {b"{": "hif", b"\x93NUMPY": "npy", b"PK\x03\x04": "npz", b"PAR1": "parquet"}
_EDGE_NAMES = {"edge", "edges", "hyperedge", "hyperedges", "edge_id", "hyperedge_id", "e"}
_VERTEX_NAMES = {"node", "nodes", "vertex", "vertices", "node_id", "vertex_id", "v"}


@contextmanager
def on_disk(arguments: argparse.Namespace) -> Iterator[str]:
    """The path of the file to read; what comes from a pipe is put in a file, which errors do not name."""
    file = arguments.file
    if file != STANDARD and not _is_stream(file):
        yield file
        return
    if file == STANDARD and sys.stdin is None:
        raise OSError("FILE: standard input is closed")
    shown = "standard input" if file == STANDARD else repr(file)
    handle, path = tempfile.mkstemp(prefix="hypermodes-")
    try:
        with open(handle, "wb") as copy:
            if file == STANDARD:
                _copy(sys.stdin.buffer, copy, shown, arguments.max_bytes)
            else:
                with open(file, "rb") as stream:
                    _copy(stream, copy, shown, arguments.max_bytes)
        yield path
    except (ValueError, OSError) as error:
        if path not in str(error):
            raise
        raise ValueError(str(error).replace(repr(path), shown).replace(path, shown)) from None
    finally:
        os.unlink(path)


def _copy(stream: BinaryIO, copy: BinaryIO, shown: str, max_bytes: int | None) -> None:
    """Copy all of a stream, which may have no end."""
    left = max_bytes or _LARGEST_STREAM
    while piece := stream.read(min(1 << 20, left + 1)):
        left -= len(piece)
        if left < 0:
            raise ValueError(
                f"FILE: more than {max_bytes or _LARGEST_STREAM} bytes came from {shown}; raise --max-bytes"
            )
        copy.write(piece)
    if copy.tell() == 0:
        raise ValueError(f"FILE: nothing came from {shown}")


def _is_stream(file: str) -> bool:
    try:
        mode = os.stat(file).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def read_hypergraph(arguments: argparse.Namespace, path: str) -> "Hypergraph":
    """Read the hypergraph of the arguments."""
    import hypermodes

    if _is_folder(path):
        given = {arguments.format_option: arguments.format is not None} | reading_options(arguments)
        refuse_useless(given, arguments.file, "the folder of a hypergraph", "leave it out")
        return hypermodes.open(path, verify=not arguments.trust)  # kernels trust what they read
    if os.path.isdir(path):
        raise ValueError(
            f"FILE: {arguments.file!r} is a folder, but none that hypermodes.write_folder made; "
            "expected one, or a file"
        )
    refuse_useless(
        {"--trust": arguments.trust and os.path.exists(path)},
        arguments.file,
        "a file",
        "leave it out: a file is always checked",
    )
    format = arguments.format  # noqa: A001
    if format is None and path != arguments.file:  # from a pipe: there is no name that tells
        format = told_by_content(path)  # noqa: A001
        if format not in HYPERGRAPH_FORMATS:
            raise ValueError(
                f"FILE: what comes from a pipe has no name that tells its format; say --format "
                f"{'|'.join(HYPERGRAPH_FORMATS)}"
            )
    try:
        with warnings.catch_warnings(record=True, action="always", category=UserWarning) as guesses:
            hypergraph = hypermodes.read(path, format=format, **reading_of(arguments))
    except ValueError as error:
        raise ValueError(_with_options(str(error))) from None
    for guess in guesses:
        say(f"hypermodes: {safe(arguments.file)}: {_with_options(str(guess.message))}")
    return hypergraph


def _is_folder(path: str) -> bool:
    """Whether it looks like a folder that `hypermodes.write_folder` made."""
    return os.path.isfile(os.path.join(path, "meta.json"))


def _with_options(message: str) -> str:
    """Turn advice for Python into advice for the command line: say --duplicates sum."""
    message = message.replace("pass header=False", "say --no-header")
    message = re.sub(r"\bpass (\w+)=(?:'(\w+)')?", r"say --\1 \2", message)
    return message.replace("raise max_bytes", "raise --max-bytes").rstrip()


Names = Mapping[Hashable, object] | None


def names_of_vertices(hypergraph: "Hypergraph", attribute: str | None) -> Names:
    """What an attribute of vertices says of each that has it."""
    if attribute is None:
        return None
    said = None if hypergraph.annotations is None else hypergraph.annotations.vertices.attributes
    known = {key for one in said or () if one for key in one}
    if said is None or attribute not in known:
        few = f"has {', '.join(sorted(map(repr, known))[:5])}" if known else "has none"
        raise ValueError(f"names: vertices have no attribute {attribute!r} in this file; it {few}")
    return _told_names(hypergraph.vertices, said, attribute)


def names_of_hyperedges(hypergraph: "Hypergraph", attribute: str | None) -> Names:
    """What the attribute that names vertices says of hyperedges; None if none has it."""
    annotations = hypergraph.annotations
    if attribute is None or annotations is None or annotations.edges.attributes is None:
        return None
    return _told_names(hypergraph.labels, annotations.edges.attributes, attribute) or None


def _told_names(
    labels: Sequence[Hashable], said: Sequence[Mapping[str, object] | None], attribute: str
) -> dict[Hashable, object]:
    return {
        label: one[attribute]
        for label, one in zip(labels, said, strict=True)
        if one and one.get(attribute) is not None
    }


def read_points(arguments: argparse.Namespace, path: str) -> "PointTable":
    """Read the table of points of the arguments."""
    from hypermodes.point_tables import format_of, read_points

    told = arguments.format or told_by_content(path) or format_of(path)
    try:
        return read_points(
            path,
            format=told or "csv",
            columns=arguments.columns,
            id_column=arguments.id_column,
            header=arguments.header,
            **({} if arguments.max_bytes is None else {"max_bytes": arguments.max_bytes}),
        )
    except ValueError as error:
        raise ValueError(_with_options(str(error))) from None


def told_by_content(path: str) -> str | None:
    """The format that the first bytes of a file tell, if they do."""
    opening = _opening(path).lstrip()
    return next((name for mark, name in _MARKS.items() if opening.startswith(mark)), None)


def kind_of(arguments: argparse.Namespace, path: str) -> Kind:
    """Tell a hypergraph from a table of points: by what was said, by format, by name, then by content."""
    if arguments.kind is not None:
        return arguments.kind
    if _is_folder(path):
        return "hypergraph"
    for told in (arguments.format, _suffix_format(arguments.file), told_by_content(path)):
        if told in POINT_FORMATS and told not in HYPERGRAPH_FORMATS:
            return "points"
        if told in HYPERGRAPH_FORMATS and told not in POINT_FORMATS:
            return "hypergraph"
    kind = _kind_of_table(path)
    if kind is None:
        raise ValueError(
            f"FILE: {arguments.file!r} may be a hypergraph or a table of points; say --hypergraph or --points"
        )
    return kind


def _suffix_format(file: str) -> str | None:
    """The format a name tells, where it tells hypergraphs from points."""
    suffixes = [suffix.lower() for suffix in Path(file).suffixes if suffix.lower() != ".gz"]
    told = {".json": "hif", ".hgr": "hmetis", ".npz": "npz", ".edges": "list", ".npy": "npy"}
    return told.get(suffixes[-1]) if suffixes else None


def _kind_of_table(path: str) -> Kind | None:
    """What a table must be, by its first lines; None if it may be either.

    Columns named like hyperedges and vertices make a hypergraph. Numbers under other names are points, and
    so are, without names, fractions; but not after the first two columns of three or four, where they may be
    weights of incidences. A number and a word, as of baskets and what is in them, may be either.
    """
    if told_by_content(path) == "parquet":
        try:
            import pyarrow.parquet
        except ImportError:
            raise ImportError("FILE: Parquet needs pyarrow: install hypermodes[parquet]") from None
        try:
            schema = pyarrow.parquet.read_schema(path)
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"FILE: {path!r} is no Parquet file: {error}") from None
        if _names_incidences(schema.names):
            return "hypergraph"
        return (
            "points" if any(str(kind) in ("float", "double", "halffloat") for kind in schema.types) else None
        )
    lines = [line for line in _opening(path).decode("utf-8-sig", "replace").splitlines() if line.strip()]
    if not lines:
        return None
    mark = next((mark for mark in "\t;,|" if mark in lines[0]), None)
    rows = [line.split() if mark is None else line.split(mark) for line in lines[:_ROWS]]
    if _names_incidences(rows[0]):
        return "hypergraph"
    if all(len(row) == 2 for row in rows) and not any(_is_number(cell) for row in rows for cell in row):
        return "hypergraph"  # points have numbers
    if not any(map(_is_number, rows[0])):
        if all(len(row) == 2 and row[0].strip().isdecimal() and not _is_number(row[1]) for row in rows[1:]):
            return None  # basket,item: 1,milk
        return "points" if len(rows) > 1 and any(map(_is_number, rows[1])) else None
    telling = slice(None, 2) if len(rows[0]) in (3, 4) else slice(None)
    return "points" if any(_is_fraction(cell) for row in rows for cell in row[telling]) else None


def _names_incidences(names: list[str]) -> bool:
    folded = {name.strip().strip('"').casefold() for name in names}
    return bool(folded & _EDGE_NAMES and folded & _VERTEX_NAMES)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_fraction(cell: str) -> bool:
    return _is_number(cell) and not cell.strip().lstrip("+-").isdecimal()


def _opening(path: str) -> bytes:
    """The first bytes of a file, decompressed where it is gzip."""
    with open(path, "rb") as file:
        opening = file.read(_OPENING)
    if opening[:2] != b"\x1f\x8b":
        return opening
    try:
        with gzip.open(path) as file:
            return file.read(_OPENING)
    except (OSError, EOFError, zlib.error):
        return b""  # whoever reads it says what is wrong
