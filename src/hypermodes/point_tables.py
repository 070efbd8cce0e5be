"""Points from tables: CSV and its kin, Parquet, and ``.npy``; strict about what is missing or ragged."""

import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from hypermodes.files import as_path
from hypermodes.interop import parquet
from hypermodes.npy import read_array
from hypermodes.scalars import MOST, shown, whole_number

FORMATS = ("csv", "tsv", "txt", "parquet", "npy")
_MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}
_WITH_COMMA = re.compile(r"[-+]?\d+(,\d+)+(\.\d*)?")
_AT_ONCE = 1 << 16  # rows of text held at a time
_ID_NAMES = {"", "id"}  # an unnamed first column is what pandas makes of an index
LARGEST_TABLE = 1 << 34  # bytes after decompression


@dataclass(frozen=True, eq=False)
class PointTable:
    """The numbers of a table, one point a row.

    Attributes
    ----------
    points : (n, d) float
        The points.
    columns : tuple of str
        Names of their coordinates; "1", "2", … where the table has no header.
    ids : sequence of hashables
        What the id column says of each row; row numbers from 0 if there is none.
    left_out : tuple of str
        Columns that are neither: text, mostly.
    """

    points: np.ndarray
    columns: tuple[str, ...]
    ids: Sequence[Hashable]
    left_out: tuple[str, ...] = ()

    def __repr__(self) -> str:
        n, d = self.points.shape
        return (
            f"PointTable({n} points, {d} columns{f', {len(self.left_out)} left out' * bool(self.left_out)})"
        )

    def standardised(self) -> "PointTable":
        """Every column moved to mean 0 and scaled to variance 1; constant ones are left as zeros."""
        centred = self.points - self.points.mean(axis=0)
        size = np.abs(centred).max(axis=0, initial=0.0)
        centred /= np.where(size > 0, size, 1.0)  # so that squares stay in range
        deviation = centred.std(axis=0)
        points = centred / np.where(deviation > 0, deviation, 1.0)
        return PointTable(points, self.columns, self.ids, self.left_out)


def read_points(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002  (as in `read`)
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    header: bool | None = None,
    max_bytes: int = LARGEST_TABLE,
) -> PointTable:
    """Read a table of points.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv`` or ``.txt`` (blanks between numbers), gzip or not; ``.parquet`` (needs pyarrow) or
        ``.npy``.
    format : {"csv", "tsv", "txt", "parquet", "npy"}, optional
        What it is, if its name does not say so.
    columns : sequence of str, optional
        The columns to use, in this order; all that hold numbers if not given.
    id_column : str, optional
        The column that names the rows. If not given, the first one if it is called "id" or nothing at all.
    header : bool, optional
        Whether the first line of a text has names; if not given, it has when none of its cells is a number;
        but cells that nearly are one, or that say a number is missing, are an error. Lines before it that
        begin with # and have numbers are comments.
    max_bytes : int
        Refuse a text that is larger than this, decompressed, or columns of Parquet that are.

    Returns
    -------
    PointTable
        Its `points` are what `cluster` takes.

    Raises
    ------
    ValueError
        Where a number is missing or none, a row is ragged, or nothing is left to use; it names the line (the
        row, from 0, where there are no lines) and the column.
    """
    path = as_path("path", path)
    max_bytes = whole_number("max_bytes", max_bytes, "a positive whole number")
    if columns is not None:
        columns = _names_of("columns", columns)
    if id_column is not None and not isinstance(id_column, str):
        raise ValueError(f"id_column: expected the name of a column or None; got {shown(id_column)}")
    if not (header is None or isinstance(header, bool)):
        raise ValueError(f"header: expected True, False or None; got {shown(header)}")
    if not (format is None or isinstance(format, str)):
        raise ValueError(f"format: expected one of {', '.join(FORMATS)} or None; got {shown(format)}")
    format = format or format_of(path)  # noqa: A001
    if format not in FORMATS:
        raise ValueError(
            f"format: expected one of {', '.join(FORMATS)} for {os.fspath(path)!r}; got {format!r}"
        )
    if header is not None and format in ("parquet", "npy"):
        raise ValueError(f"header: expected None for {format}, which has no header line; got {header!r}")
    source = _Source(os.fspath(path), format, max_bytes, header)
    read = {"npy": _read_array, "parquet": _read_parquet}.get(format, _read_text)
    return read(source, _Choice(source.path, columns, id_column))


def format_of(path: str | os.PathLike[str]) -> str | None:
    """The format that the name of a file says, if it says one."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    names = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".txt": "txt", ".dat": "txt"}
    names |= {".data": "txt", ".parquet": "parquet", ".pq": "parquet", ".npy": "npy"}
    return names.get(suffixes[-1]) if suffixes else None


def _names_of(argument: str, given: Any) -> tuple[str, ...]:
    try:
        names = () if isinstance(given, str) else tuple(given)
    except TypeError:
        names = ()
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{argument}: expected names of columns, at least one; got {shown(given)}")
    return names


# -- what is wanted -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Source:
    """A file, what it is, and what is said of it."""

    path: str
    format: str
    max_bytes: int
    header: bool | None

    def error(self, said: str) -> ValueError:
        return ValueError(f"points: {self.path!r}: {said}")


class _Chosen(NamedTuple):
    names: list[str]
    identity: int | None
    candidates: list[int]  # those that are wanted if they hold numbers
    are_asked_for: bool  # they must hold numbers


@dataclass(frozen=True)
class _Choice:
    """Columns by name, as they were asked for."""

    path: str
    columns: Sequence[str] | None
    id_column: str | None

    def among(self, names: list[str]) -> _Chosen:
        identity = None if self.id_column is None else self._position(names, self.id_column, "id_column")
        if self.columns is None:
            if identity is None and len(names) > 1 and names[0].casefold() in _ID_NAMES:
                identity = 0
            return _Chosen(names, identity, [k for k in range(len(names)) if k != identity], False)
        used = [self._position(names, name, "columns") for name in self.columns]
        if not used or len(set(used)) < len(used):
            raise ValueError(f"columns: expected different columns, at least one; got {list(self.columns)!r}")
        if identity is None and len(names) > 1 and names[0].casefold() in _ID_NAMES and 0 not in used:
            identity = 0
        return _Chosen(names, identity, used, True)

    def _position(self, names: list[str], name: str, argument: str) -> int:
        if names.count(name) == 1:
            return names.index(name)
        if name in names:
            raise ValueError(f"{argument}: {self.path!r} has {names.count(name)} columns called {name!r}")
        raise ValueError(f"{argument}: {self.path!r} has no column {name!r}; it has {_few(names)}")


def _table(source: _Source, chosen: _Chosen, numbers: dict[int, np.ndarray], ids: Any) -> PointTable:
    """Put the columns together that turned out to hold numbers."""
    used = [k for k in chosen.candidates if k in numbers]
    if not used:
        raise source.error(f"expected columns of numbers; found none among {_few(chosen.names)}")
    points = np.column_stack([numbers[k] for k in used])
    if points.shape[0] == 0:
        raise source.error("expected at least one row; found none")
    left_out = tuple(name for k, name in enumerate(chosen.names) if k not in used and k != chosen.identity)
    return PointTable(
        points,
        tuple(chosen.names[k] for k in used),
        range(points.shape[0]) if chosen.identity is None else tuple(ids),
        left_out,
    )


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")


# -- arrays and Parquet ---------------------------------------------------------------------------------


def _read_array(source: _Source, choice: _Choice) -> PointTable:
    try:
        with open(source.path, "rb") as file:
            if file.read(4) == b"PK\x03\x04":
                raise ValueError("it is an archive of arrays; expected one array, saved with numpy.save")
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            array = read_array(file, size)
    except (ValueError, MemoryError) as error:
        raise source.error(f"it is no array saved by NumPy: {error}") from None
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise source.error(
            f"expected rows of numbers, an array n x d; found shape {array.shape} of type {array.dtype}"
        )
    chosen = choice.among([str(k + 1) for k in range(array.shape[1])])
    numbers = {k: _finite(source, chosen.names[k], array[:, k]) for k in chosen.candidates}
    return _table(
        source, chosen, numbers, () if chosen.identity is None else array[:, chosen.identity].tolist()
    )


def _read_parquet(source: _Source, choice: _Choice) -> PointTable:
    pyarrow = parquet.pyarrow("points")
    chosen, table = _parquet_columns(source, choice)
    numbers = {}
    for k in chosen.candidates:
        name = chosen.names[k]
        if name not in table.column_names:  # it holds no numbers
            continue
        column = table.column(name)
        values = column.cast(pyarrow.float64(), safe=False).to_numpy()  # what is missing is NaN
        if not pyarrow.types.is_floating(column.type) and (np.abs(values) >= MOST).any():
            raise source.error(
                f"column {name!r} holds {column.type}, among them numbers beyond 2**53, which doubles "
                "cannot tell apart; choose other columns, or convert it to double"
            )
        numbers[k] = _finite(source, name, values)
    ids = () if chosen.identity is None else parquet.values(table.column(chosen.names[chosen.identity]))
    return _table(source, chosen, numbers, ids)


def _parquet_columns(source: _Source, choice: _Choice) -> tuple[_Chosen, Any]:
    """Which columns are wanted, and those of them that hold numbers, with the names of rows."""
    import pyarrow.parquet

    with _one_line(source):
        schema = pyarrow.parquet.read_schema(source.path)
    chosen = choice.among(list(schema.names))
    used = [k for k in chosen.candidates if parquet.is_number(schema.types[k])]
    other = next((k for k in chosen.candidates if k not in used), None)
    if chosen.are_asked_for and other is not None:
        raise source.error(
            f"column {chosen.names[other]!r} holds {parquet.said(schema.types[other])}; expected numbers"
        )
    if chosen.identity is not None:
        used.append(chosen.identity)
    names = list(dict.fromkeys(chosen.names[k] for k in used))
    with _one_line(source):
        return chosen, parquet.read(lambda: source.path, names, source.max_bytes)


@contextmanager
def _one_line(source: _Source) -> Iterator[None]:
    try:
        with parquet.errors():
            yield
    except ValueError as error:
        raise source.error(str(error)) from None


def _finite(source: _Source, name: str, values: np.ndarray) -> np.ndarray:
    values = values.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        worst = float(values[bad[0]])
        said = "is missing" if worst != worst else f"is {worst!r}"
        raise source.error(f"row {int(bad[0])} (from 0), column {name!r} {said}; expected a finite number")
    return values


# -- text -----------------------------------------------------------------------------------------------


@dataclass
class _Rows:
    """Rows of a text without blank ones, header included; and the line on which the last one ended."""

    before: int  # lines before the first one

    cells: Iterator[list[str]]
    line: Callable[[], int]
    mark: str | None  # between cells; None for blanks


def _rows(source: _Source, file: IO[str]) -> _Rows:
    head, number = file.readline(), 1
    while head and (not head.strip() or _is_comment(source, head)):
        head, number = file.readline(), number + 1
    if not head:
        raise source.error("expected rows of numbers; the file is empty")
    if head.startswith("#"):  # as NumPy writes headers
        head = head.lstrip("# ")
        if not head.strip():
            raise source.error(f"line {number} is a comment without names; expected names behind the #")
    marks = {"csv": "\t;,|", "tsv": "\t", "txt": "\t;,"}[source.format]
    mark = next((mark for mark in marks if mark in head), None if source.format == "txt" else marks[-1])
    reader: Any = _BlankSeparated(chain((head,), file))
    if mark is not None:
        reader = csv.reader(chain((head,), file), delimiter=mark, strict=True)
    return _Rows(
        number - 1, _without_blank(source, reader, number), lambda: reader.line_num + number - 1, mark
    )


def _is_comment(source: _Source, line: str) -> bool:
    """Whether a line before the first row is a comment: behind its # are no names, as NumPy writes them."""
    if not line.startswith("#") or source.header:
        return False
    return source.header is False or any(map(_is_number, re.split(r"[\s;,|]+", line.lstrip("# "))))


def _begins_with_names(source: _Source, first: list[str], line: int) -> bool:
    """Whether the first row has names; an error if it seems to be one of numbers that cannot be read."""
    cells = [cell.strip() for cell in first]
    if any(map(_is_number, cells)):
        return False
    odd = [_ALMOST.fullmatch(cell) is not None or cell.casefold() in _NEVER_NAMES for cell in cells]
    if any(odd) or all(cell.casefold() in _MISSING or _LIKE_A_NUMBER.match(cell) for cell in cells):
        worst = cells[odd.index(True)] if any(odd) else cells[0]
        said = f"has {worst[:40]!r}, which is no number" if worst else "has empty cells"
        raise source.error(
            f"line {line} {said}; mend it, or pass header=True if these are the names of columns"
        )
    return True


_NEVER_NAMES = _MISSING - {"", "na", "none"}  # there are columns of sodium, and without a name
_LIKE_A_NUMBER = re.compile(r"[-+]?\.?[0-9]")
_ALMOST = re.compile(
    r"[-+]?(0[xX][0-9a-fA-F.]+([pP][-+]?[0-9]+)?|[.]?[0-9][0-9._]*([eE][-+]?[0-9]+)?[fFlL%]?)", re.ASCII
)


def _without_blank(source: _Source, reader: Any, first: int) -> Iterator[list[str]]:
    """Rows without blank lines; in a table of one column those are missing numbers, unless they end it."""
    blank = width = 0
    for row in reader:
        if not row or (len(row) == 1 and not row[0].strip()):
            blank = blank or reader.line_num + first - 1
            continue
        if blank and width == 1:
            raise source.error(f"line {blank} is empty; expected a number, as in the other lines")
        width = width or len(row)
        yield row


class _BlankSeparated:
    """Like `csv.reader`, for cells with any number of blanks between them."""

    def __init__(self, lines: Iterable[str]):
        self.lines, self.line_num = iter(lines), 0

    def __iter__(self) -> Iterator[list[str]]:
        for line in self.lines:
            self.line_num += 1
            yield line.split()


def _read_text(source: _Source, choice: _Choice) -> PointTable:
    with _opened(source) as file:
        rows = _rows(source, file)
        first = next(rows.cells, None)
        if first is None:
            raise source.error("expected rows of numbers; the file is empty")
        n = len(first)
        is_header = source.header
        if is_header is None:
            is_header = _begins_with_names(source, first, rows.line())
        chosen = choice.among(
            [name.strip() for name in first] if is_header else [str(k + 1) for k in range(n)]
        )
        if chosen.candidates == list(range(n)):
            points = _all_numbers(source, rows.mark, rows.line() if is_header else rows.before, is_header)
            if points is not None and points.shape[1] == n:  # else the careful way names the line
                return _table(source, chosen, dict(enumerate(points.T)), ())
        columns = {k: _TextColumn(chosen.names[k]) for k in chosen.candidates}
        ids: list[str] = []
        cells = rows.cells if is_header else chain((first,), rows.cells)
        done = 0
        while chunk := list(islice(cells, _AT_ONCE)):
            if set(map(len, chunk)) != {n}:
                row = next(k for k, one in enumerate(chunk) if len(one) != n)
                line = _line(source, done + row + is_header)
                raise source.error(
                    f"line {line} has {len(chunk[row])} cells; expected {n}, as in the first line"
                )
            by_column = list(zip(*chunk, strict=True))
            for k, column in columns.items():
                column.take(by_column[k], done)
            if chosen.identity is not None:
                ids.extend(by_column[chosen.identity])
            done += len(chunk)
    for column in columns.values():
        trouble = column.trouble(chosen.are_asked_for)
        if trouble is not None:
            line = _line(source, trouble.row + is_header)
            raise source.error(
                f"line {line}, column {column.name!r} {trouble.said}; mend it, or choose other columns"
            )
    numbers = {k: column.numbers() for k, column in columns.items() if column.is_numeric}
    return _table(source, chosen, numbers, ids)


def _all_numbers(source: _Source, mark: str | None, skipped: int, begun: bool) -> np.ndarray | None:
    """The quick way, for nothing but finite numbers in rows of one length; None for anything else."""
    with _opened(source) as file:
        for _ in islice(file, skipped):
            pass
        lines = _said_lines(file, mark, begun)
        try:
            first = next(lines, None)
            if first is None:
                return None
            points = np.loadtxt(chain((first,), lines), delimiter=mark, comments=None, ndmin=2)
        except ValueError:
            return None
        return points if (np.abs(points) < MOST).all() else None  # beyond, cells are looked at


def _said_lines(file: IO[str], mark: str | None, begun: bool) -> Iterator[str]:
    """Lines that are not blank; what may be read in two ways is for the careful one."""
    blank, width = False, 0
    for line in file:
        if not line.strip() and (mark is None or mark not in line):
            blank = begun or width > 0
            continue
        width = width or len(line.split(mark))
        if (blank and width == 1) or _UNUSUAL.search(line):
            raise ValueError("a number is missing, or has strange characters around it")
        yield line


_UNUSUAL = re.compile(r"[^\t\r\n -~]")  # NumPy and Python have different opinions on what is blank


class _Trouble(NamedTuple):
    row: int
    said: str


class _TextColumn:
    """Makes numbers of cells, and remembers the first cells that are none."""

    def __init__(self, name: str):
        self.name = name
        self.n_numbers = self.n_texts = 0
        self._parts: list[np.ndarray] = []
        self._gap: _Trouble | None = None
        self._text: _Trouble | None = None
        self._vast: _Trouble | None = None
        self._has_commas = False

    def take(self, cells: Sequence[str], done: int) -> None:
        if self.n_texts and not self.n_numbers:
            self.n_texts += len(cells)  # words so far: nobody looks for numbers any more
            return
        values = _numbers(cells)
        if values is None:
            values = np.array([float(cell) if _is_number(cell) else np.nan for cell in cells])
        for row in np.flatnonzero(~np.isfinite(values)).tolist():
            cell = cells[row].strip()
            if cell.casefold() in _MISSING:
                self._gap = self._gap or _Trouble(
                    done + row, f"is missing (it says {cell!r})" if cell else "is empty"
                )
            else:
                self.n_texts += 1
                self._text = self._text or _Trouble(done + row, f"is {cell[:40]!r}, not a finite number")
                self._has_commas = self._has_commas or _WITH_COMMA.fullmatch(cell) is not None
        for row in np.flatnonzero(np.abs(values) >= MOST).tolist():
            cell = cells[row].strip()
            if self._vast is None and _WHOLE.fullmatch(cell) and _is_rounded(cell, float(values[row])):
                self._vast = _Trouble(
                    done + row, f"is {cell[:40]}, beyond 2**53: doubles cannot tell it apart"
                )
        self.n_numbers += int(np.isfinite(values).sum())
        self._parts.append(values)

    @property
    def is_numeric(self) -> bool:
        """Mostly numbers; where they are few among words, they are words too."""
        return self.n_numbers > 0 and self.n_numbers >= self.n_texts

    def trouble(self, asked_for: bool) -> _Trouble | None:
        """What is wrong with a column that is to be used, or was meant to be."""
        if self._text is not None and self._has_commas:
            return self._text._replace(said=f"{self._text.said} (commas in numbers are not read: write 1.5)")
        if not (asked_for or self.is_numeric):
            return None
        found = [trouble for trouble in (self._gap, self._text, self._vast) if trouble is not None]
        return min(found, default=None)

    def numbers(self) -> np.ndarray:
        """All of them."""
        return np.concatenate(self._parts)


_WHOLE = re.compile(r"[-+]?[0-9]+", re.ASCII)


def _is_rounded(cell: str, value: float) -> bool:
    """Whether a whole number, of any length, is another one as a double."""
    return not np.isfinite(value) or str(abs(int(value))) != cell.lstrip("+-0")


def _numbers(cells: Sequence[str]) -> np.ndarray | None:
    """All cells as numbers, or None if one is not: Python reads 1_2 as 12, tables do not mean that."""
    try:
        values = np.array(list(map(float, cells)))
    except ValueError:
        return None
    return None if "_" in "".join(cells) else values


def _is_number(cell: str) -> bool:
    if "_" in cell or cell.strip().casefold() == "nan":
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _line(source: _Source, row: int) -> int:
    """The line of a row, counted with the header, as editors count lines."""
    with _opened(source) as file:
        rows = _rows(source, file)
        for _ in islice(rows.cells, row + 1):
            pass
        return rows.line()


@contextmanager
def _opened(source: _Source) -> Iterator[IO[str]]:
    """The text of a file, decompressed where it is gzip; what is wrong with it is one ValueError."""
    with open(source.path, "rb") as raw:
        packed = raw.peek(2)[:2] == b"\x1f\x8b"
        data: Any = gzip.GzipFile(fileobj=raw) if packed else raw
        limited = io.BufferedReader(_Limited(data, source))
        try:
            yield io.TextIOWrapper(limited, encoding="utf-8-sig", newline="")
        except UnicodeDecodeError as error:
            raise source.error(
                f"it is not text in UTF-8 ({error.reason}); convert it first, as with iconv"
            ) from None
        except csv.Error as error:
            raise source.error(f"it is no proper table: {error}") from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise source.error(f"the gzip file is damaged: {error}") from None


class _Limited(io.RawIOBase):
    """Bytes of a file, up to a limit: a small gzip file may hold terabytes."""

    def __init__(self, data: Any, source: _Source):
        self.data, self.source, self.left = data, source, source.max_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self.data.readinto(buffer)
        self.left -= n
        if self.left < 0:
            raise self.source.error(
                f"it holds more than {self.source.max_bytes} bytes; raise max_bytes to read it"
            )
        return int(n)
