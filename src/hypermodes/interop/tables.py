"""Incidence lists, one (hyperedge, vertex) pair a row: CSV, TSV and Parquet."""

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import Any, BinaryIO, cast

import numpy as np

from hypermodes.annotations import Records
from hypermodes.edge_lists import Numbered
from hypermodes.hypergraph import Hypergraph
from hypermodes.interop import parquet
from hypermodes.interop.building import Listing, Reading, build, short
from hypermodes.interop.hif import given_weights, number_text
from hypermodes.json_text import is_unicode

ROLES = ("edge", "node", "weight", "edge_weight")
_KNOWN = (
    {"edge", "edges", "hyperedge", "hyperedges", "edge_id", "hyperedge_id", "e"},
    {"node", "nodes", "vertex", "vertices", "node_id", "vertex_id", "v"},
    {"weight", "incidence_weight", "p", "probability"},
    {"edge_weight", "hyperedge_weight", "w"},
)
_DELIMITERS = (",", ";", "\t", "|")
SPACES = " \t"  # around cells; Unicode has more, and they may be part of a name
_BLOCK = 1 << 14
_ROWS = 1 << 9  # fewer lists than Python makes before it looks for cycles among them
_TELLING = 100  # rows that say how a table is to be read


# -- reading text --------------------------------------------------------------------------------------


def read_csv(content: bytes, reading: Reading) -> Hypergraph:
    """Read rows ``edge, node[, weight[, edge weight]]``; see docs/formats.md for headers and column names."""
    return _read(content, reading, reading.delimiter or _sniffed(content))


def read_tsv(content: bytes, reading: Reading) -> Hypergraph:
    """Read the same with tabs."""
    return _read(content, reading, reading.delimiter or "\t")


def _read(content: bytes, reading: Reading, delimiter: str) -> Hypergraph:
    blocks = _blocks(content, delimiter)
    start: list[list[str]] = []
    while len(start) < _TELLING and (block := next(blocks, None)):
        start += block
    if not start:
        raise ValueError("expected rows 'edge, node'; the file is empty")
    header, width, where = _layout(start[:_TELLING], reading)
    first = int(header)

    def line(row: int) -> str:
        return f"line {_line(content, delimiter, first + row)}"

    edges, nodes = Numbered(), Numbered()
    weights, edge_weights = (
        None if i is None else _Numbers(what, line)
        for what, i in zip(("weight", "edge weight"), where[2:], strict=True)
    )
    n = 0
    for block in chain([start[first:]], blocks):
        if not {width}.issuperset(map(len, block)):
            row = next(i for i, cells in enumerate(block) if len(cells) != width)
            raise ValueError(f"{line(n + row)}: expected {width} columns, as before; found {len(block[row])}")
        cells = list(chain.from_iterable(block))
        for column, i in zip((edges, nodes, weights, edge_weights), where, strict=True):
            if column is not None and i is not None:
                column.add(cells[i::width])
        n += len(block)
    if n == 0:
        raise ValueError("expected rows 'edge, node' after the header; found none")
    if not header and reading.header is None and width == 2 and _stand_above(edges, nodes):
        words = ", ".join(short(column.labels[0]) for column in (edges, nodes))
        warnings.warn(
            f"the first row ({words}) is taken for a header: its words come nowhere else, others come again; "
            "pass header=False if it is an incidence",
            stacklevel=2,
        )
        edges, nodes, first = edges.behind_first(), nodes.behind_first(), 1
    elif (
        header
        and reading.header is None
        and reading.columns is None
        and _is_doubtful(start[0], where, edges, nodes)
    ):
        words = ", ".join(short(cell.strip(SPACES)) for cell in start[0])
        warnings.warn(
            f"the first row ({words}) is taken for a header: it heads numbers, although not in all rows, or "
            "its words come again; pass header=True if it is one, header=False if it is an incidence",
            stacklevel=2,
        )
    (edge_codes, labels), (node_codes, names) = (_named(column, reading.ids) for column in (edges, nodes))
    neither = np.flatnonzero((edge_codes < 0) & (node_codes < 0))
    if neither.size:
        raise ValueError(f"{line(int(neither[0]))}: there is neither a hyperedge nor a vertex")
    return from_codes(
        edge_codes, labels, node_codes, names,
        None if weights is None else weights.values, None if edge_weights is None else edge_weights.values,
        reading, line,
    )  # fmt: skip


def _is_doubtful(first: list[str], where: list[int | None], edges: Numbered, nodes: Numbered) -> bool:
    """Whether a header of words that we do not know may be an incidence after all.

    It is none above a column of numbers, of weights or of names; but it may be if what was such a column in
    the first rows is none in all, or if one of its words comes again.
    """
    cells = [None if i is None else first[i].strip(SPACES) for i in where]
    if _is_known(first) or any(cells[2:]):
        return False
    columns = [{str(label).strip(SPACES) for label in column.labels} for column in (edges, nodes)]
    again = any(cell in names for cell, names in zip(cells, columns, strict=False))
    return again or not any(all(map(_NUMBER.fullmatch, names)) for names in columns)


def _stand_above(edges: Numbered, nodes: Numbered) -> bool:
    """Whether the words of the first row are nowhere else in two columns of text whose words come again."""
    first = [str(column.labels[0]).strip(SPACES) for column in (edges, nodes)]
    if not all(first) or any(map(_NUMBER.fullmatch, first)):
        return False
    if any((column.codes[1:] == 0).any() for column in (edges, nodes)):
        return False
    if not any(len(column.labels) < column.codes.size for column in (edges, nodes)):
        return False  # all words come once: that those of the first row do says nothing
    others = {str(label).strip(SPACES) for column in (edges, nodes) for label in column.labels[1:]}
    return first[0] != first[1] and others.isdisjoint(first)


def _blocks(content: bytes, delimiter: str) -> Iterator[list[list[str]]]:
    """Rows that are not blank, some at a time: as few as Python frees without looking for cycles."""
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        while rows := list(islice(reader, _ROWS)):
            if min(map(len, rows)) < 2:
                rows = [row for row in rows if not _is_blank(row)]
            if rows:
                yield rows
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None
    except UnicodeDecodeError:
        decoded(content)  # says where
        raise


def _is_blank(row: list[str]) -> bool:
    return not row or (len(row) == 1 and not row[0].strip(SPACES))


def _line(content: bytes, delimiter: str, row: int) -> int:
    """The line on which a row ends, blank ones not counted as rows: counted again, where one is wrong."""
    reader = csv.reader(io.StringIO(decoded(content), newline=""), delimiter=delimiter, strict=True)
    for _ in islice((one for one in reader if not _is_blank(one)), row + 1):
        pass
    return reader.line_num


def decoded(content: bytes) -> str:
    """Text of a file, which is UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line}: expected UTF-8 text; byte {error.start} is not") from None


def _sniffed(content: bytes) -> str:
    first = content[:10_000].lstrip().partition(b"\n")[0].decode(errors="replace")
    return max(_DELIMITERS, key=lambda mark: (first.count(mark), -_DELIMITERS.index(mark)))


def _layout(start: list[list[str]], reading: Reading) -> tuple[bool, int, list[int | None]]:
    """Whether there is a header, how many columns, and which are which, from the first rows."""
    header = reading.header
    if header is None:  # columns by name are those of a header
        header = any(isinstance(one, str) for one in reading.columns or ()) or _has_header(start)
    width = len(start[0])
    return header, width, columns_of(start[0] if header else None, width, reading.columns)


def _has_header(rows: list[list[str]]) -> bool:
    """Whether the first row names columns: by names we know, or a word heads a column of numbers."""
    first = [cell.strip().lower() for cell in rows[0]]
    if _is_known(first):
        return True
    below = [row for row in rows[1:] if len(row) == len(first)]
    if not below or any(_NUMBER.fullmatch(cell) for cell in first):
        return False
    return any(all(_NUMBER.fullmatch(row[i].strip()) for row in below) for i in range(len(first)))


def _is_known(first: list[str]) -> bool:
    """Whether these are names of columns that we know."""
    words = {cell.strip().lower() for cell in first}
    return not words.isdisjoint(_KNOWN[0]) and not words.isdisjoint(_KNOWN[1])


_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,99}", re.ASCII)
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)


def columns_of(
    header: Sequence[str] | None, width: int, wanted: Sequence[str | int | None] | None
) -> list[int | None]:
    """Which column is the hyperedge, the vertex, the weight, the weight of the hyperedge."""
    if wanted is not None:
        return _wanted_columns(header, width, wanted)
    if header is not None:
        words = [cell.strip().lower() for cell in header]
        found = [next((i for i, word in enumerate(words) if word in known), None) for known in _KNOWN]
        if found[0] is not None and found[1] is not None:
            return found
    if not 2 <= width <= 4:
        raise ValueError(
            f"expected 2 to 4 columns: edge, node, weight, edge weight; found {width}; "
            f"pass columns= to choose"
        )
    return [i if i < width else None for i in range(4)]


def _wanted_columns(
    header: Sequence[str] | None, width: int, wanted: Sequence[str | int | None]
) -> list[int | None]:
    if isinstance(wanted, str) or not 2 <= len(wanted) <= 4 or wanted[0] is None or wanted[1] is None:
        raise ValueError(
            f"columns: expected names or positions of the columns of edge, node[, weight[, edge weight]]; "
            f"got {wanted!r}"
        )
    words = [cell.strip() for cell in header] if header is not None else []
    out: list[int | None] = []
    for column in (*wanted, None, None):
        if isinstance(column, str):
            if column not in words:
                known = ", ".join(map(repr, words)) or "none: there is no header"
                raise ValueError(f"columns: there is no column {column!r}; the names are {known}")
            column = words.index(column)
        elif column is not None and not 0 <= column < width:
            raise ValueError(f"columns: expected positions from 0 to {width - 1}; got {column!r}")
        out.append(column)
    return out[:4]


def identified(names: Sequence[str], ids: str) -> Sequence[Hashable]:
    """Whole numbers if every name is one, otherwise text."""
    if ids == "auto" and all(map(_INTEGER.fullmatch, names)):
        return tuple(map(int, names))
    return names


def _named(column: Numbered, ids: str) -> tuple[np.ndarray, Sequence[Hashable]]:
    """Codes and names of a column of cells; what is empty has the code -1."""
    codes, cells = column.codes, cast("tuple[str, ...]", column.labels)
    if "" not in cells and not any(map("".join(cells).__contains__, SPACES)):
        return codes, identified(cells, ids)
    cells = tuple(cell.strip(SPACES) for cell in cells)
    known = {cell: i for i, cell in enumerate(dict.fromkeys(filter(None, cells)))}
    places = np.array([known.get(cell, -1) for cell in cells], dtype=np.int32)
    return places[codes], identified(tuple(known), ids)


class _Numbers:
    """A column of numbers, taken in some cells at a time; NaN where a cell is empty."""

    def __init__(self, what: str, line: Callable[[int], str]) -> None:
        self.what, self.line, self.n = what, line, 0
        self._parts: list[np.ndarray] = []

    def add(self, cells: list[str]) -> None:
        """Take in some more."""
        values = None
        if _PLAIN.fullmatch("".join(cells)):  # then Python reads just what `_NUMBER` says
            with suppress(ValueError):
                values = np.array(list(map(float, cells)))
        if values is None or not np.isfinite(values).all():
            values = np.array([self._value(i, cell.strip(SPACES)) for i, cell in enumerate(cells, self.n)])
        self._parts.append(values)
        self.n += len(cells)

    def _value(self, row: int, cell: str) -> float:
        value = float(cell) if _NUMBER.fullmatch(cell) else np.nan
        if cell and not np.isfinite(value):
            raise ValueError(
                f"{self.line(row)}: expected a {self.what}, a finite number; found {short(cell)}"
            )
        return value

    @property
    def values(self) -> np.ndarray:
        """All of them."""
        return np.concatenate(self._parts)


_PLAIN = re.compile(r"[-+0-9.eE \t]*")


# -- columns to hypergraph -----------------------------------------------------------------------------


def from_codes(
    edge_codes: np.ndarray,
    labels: Sequence[Hashable],
    node_codes: np.ndarray,
    names: Sequence[Hashable],
    weights: np.ndarray | None,
    edge_weights: np.ndarray | None,
    reading: Reading,
    where: Callable[[int], str],
) -> Hypergraph:
    """Build from codes, -1 is nothing: a row without a hyperedge names a vertex, and the other way round."""
    of_edges = None
    if edge_weights is not None:
        of_edges = _one_weight_each(edge_codes, edge_weights, labels, where)
    pairs = np.flatnonzero((edge_codes >= 0) & (node_codes >= 0))
    if len(pairs) < len(edge_codes):
        edge_codes, node_codes = edge_codes[pairs], node_codes[pairs]
        weights = None if weights is None else weights[pairs]
    listing = Listing(edge_codes, node_codes, Records(len(edge_codes), weights=weights))
    return build(labels, names, listing, Records(len(labels), weights=of_edges), Records(len(names)), reading)


def _one_weight_each(
    codes: np.ndarray, weights: np.ndarray, labels: Sequence[Hashable], where: Callable[[int], str]
) -> np.ndarray:
    """The weight of each hyperedge, from rows that may repeat it."""
    said = np.flatnonzero(~np.isnan(weights) & (codes >= 0))
    out = np.full(len(labels), np.nan)
    out[codes[said]] = weights[said]
    differ = said[out[codes[said]] != weights[said]]
    if differ.size:
        i = int(differ[0])
        raise ValueError(
            f"{where(i)}: hyperedge {short(labels[codes[i]])} has the weight {weights[i]:g} here and "
            f"{out[codes[i]]:g} elsewhere"
        )
    return out


# -- writing -------------------------------------------------------------------------------------------


def write_csv(hypergraph: Hypergraph, file: BinaryIO) -> None:
    """Write rows with a header; columns of weights only if there is something to say in them."""
    _write_text(hypergraph, file, ",")


def write_tsv(hypergraph: Hypergraph, file: BinaryIO) -> None:
    """Write the same with tabs."""
    _write_text(hypergraph, file, "\t")


def _write_text(hypergraph: Hypergraph, file: BinaryIO, delimiter: str) -> None:
    said = hypergraph.annotations
    names = cell_texts("vertices", hypergraph.vertices, delimiter)
    empty_edges = () if said is None else said.empty_edges
    labels = cell_texts("labels", (*hypergraph.labels, *empty_edges), delimiter)
    weights = given_weights(hypergraph)
    weighted = bool((hypergraph.weights != 1).any())
    head = ["edge", "node", *(["weight"] * (weights is not None)), *(["edge_weight"] * weighted)]
    file.write((delimiter.join(head) + "\n").encode())
    owners = np.repeat(np.arange(hypergraph.n_edges, dtype=np.int32), hypergraph.edge_sizes)
    members = hypergraph.incidence.indices
    of_edges = [number_text(weight) for weight in hypergraph.weights.tolist()] if weighted else []
    blank = delimiter * (len(head) - 2) + "\n"
    isolated = np.flatnonzero(np.diff(hypergraph.incidence_by_vertex.indptr) == 0).tolist()
    file.write("".join(f"{delimiter}{names[v]}{blank}" for v in isolated).encode())
    for start in range(0, len(members), _BLOCK):
        part = slice(start, start + _BLOCK)
        columns = [
            [labels[e] for e in owners[part].tolist()],
            [names[v] for v in members[part].tolist()],
        ]
        if weights is not None:
            columns.append(["" if w != w else number_text(w) for w in weights[part].tolist()])
        if weighted:
            columns.append([of_edges[e] for e in owners[part].tolist()])
        file.write(("\n".join(map(delimiter.join, zip(*columns, strict=True))) + "\n").encode())
    file.write("".join(f"{label}{delimiter}{blank}" for label in labels[hypergraph.n_edges :]).encode())


def cell_texts(name: str, labels: Sequence[Hashable], delimiter: str) -> list[str]:
    """Names as cells; two that would look the same are an error."""
    cells = [cell_text(name, label, delimiter) for label in labels]
    if len(set(cells)) < len(cells):
        twice = next(cell for cell, count in Counter(cells).items() if count > 1)
        raise ValueError(
            f"{name}: in a table the number {twice} and the text {twice!r} look the same; write hif or npz"
        )
    return cells


def cell_text(name: str, label: Hashable, delimiter: str) -> str:
    """A name as a cell, quoted if it has to be."""
    if isinstance(label, bool) or not isinstance(label, str | int):
        raise ValueError(
            f"{name}: a table holds text and whole numbers; {short(label)} is a {type(label).__name__}"
        )
    text = str(label)
    _check_unicode(name, text)
    if text != text.strip(SPACES) or not text:
        raise ValueError(
            f"{name}: a table cannot hold the name {short(label)}: cells are read without spaces"
        )
    if any(mark in text for mark in (delimiter, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _check_unicode(name: str, text: str) -> None:
    if not is_unicode(text):
        raise ValueError(
            f"{name}: a table is UTF-8, which cannot hold {short(text)} with half of a surrogate pair; "
            "write hif or npz"
        )


# -- Parquet -------------------------------------------------------------------------------------------


def read_parquet(content: bytes, reading: Reading) -> Hypergraph:
    """Read the same columns from a Parquet file."""
    arrow = parquet.pyarrow("format")
    with parquet.errors():
        schema = arrow.parquet.read_schema(arrow.BufferReader(content))
        where = columns_of(schema.names, len(schema), reading.columns)
        names = {role: schema.names[i] for role, i in zip(ROLES, where, strict=False) if i is not None}
        for role, i in zip(ROLES, where, strict=False):
            if i is not None:
                _check_kind(arrow, schema.types[i], role)
        wanted = list(dict.fromkeys(names.values()))
        table = parquet.read(lambda: arrow.BufferReader(content), wanted, reading.max_bytes)
        if table.num_rows == 0:
            raise ValueError("expected rows 'edge, node'; the table is empty")
        edges, nodes = (_arrow_codes(arrow, table.column(names[role])) for role in ROLES[:2])
        weights, edge_weights = (
            _arrow_numbers(arrow, table.column(names[role]), role) if role in names else None
            for role in ROLES[2:]
        )
    if ((edges[0] < 0) & (nodes[0] < 0)).any():
        raise ValueError("a row has neither a hyperedge nor a vertex")
    return from_codes(*edges, *nodes, weights, edge_weights, reading, lambda i: f"row {i + 1}")


def _check_kind(arrow: Any, kind: Any, role: str) -> None:
    """See what a column holds before it is read."""
    is_integer, is_floating = arrow.types.is_integer(kind), arrow.types.is_floating(kind)
    if role in ROLES[:2] and not (is_integer or parquet.is_text(kind)):
        raise ValueError(f"column {role!r}: expected text or whole numbers; found {parquet.said(kind)}")
    if role in ROLES[2:] and not (is_integer or is_floating):
        raise ValueError(f"column {role!r}: expected numbers; found {parquet.said(kind)}")


def _arrow_codes(arrow: Any, column: Any) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    if not arrow.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries().combine_chunks()
    if isinstance(column, arrow.ChunkedArray):
        column = column.chunk(0)
    codes, values = column.indices.fill_null(-1).to_numpy(zero_copy_only=False), column.dictionary.to_pylist()
    used, first = np.unique(codes[codes >= 0], return_index=True)
    known: dict[Hashable, int] = {}  # a dictionary may have a value twice, or unused, or in another order
    places = np.full(len(values) + 1, -1, dtype=np.int32)
    for i in used[np.argsort(first)].tolist():
        if values[i] is not None:
            places[i] = known.setdefault(values[i], len(known))
    return places[codes], tuple(known)


def _arrow_numbers(arrow: Any, column: Any, role: str) -> np.ndarray:
    if not column.null_count:
        values = column.cast(arrow.float64(), safe=False).to_numpy()
        if not np.isfinite(values).all():
            raise ValueError(f"column {role!r}: expected finite numbers; found NaN or infinity")
        return values
    present = column.is_valid().to_numpy()
    values = column.cast(arrow.float64(), safe=False).fill_null(0.0).to_numpy()
    if not np.isfinite(values).all():
        raise ValueError(f"column {role!r}: expected finite numbers; found NaN or infinity")
    return np.where(present, values, np.nan)


def write_parquet(hypergraph: Hypergraph, file: BinaryIO) -> None:
    """Write the columns of a CSV file as Parquet."""
    arrow = parquet.pyarrow("format")
    said = hypergraph.annotations
    isolated = np.flatnonzero(np.diff(hypergraph.incidence_by_vertex.indptr) == 0)
    empty = () if said is None else said.empty_edges
    n, before, after = int(hypergraph.incidence.nnz), len(isolated), len(empty)
    labels = arrow_labels(arrow, "labels", (*hypergraph.labels, *empty))
    names = arrow_labels(arrow, "vertices", hypergraph.vertices)
    owners = np.repeat(np.arange(hypergraph.n_edges), hypergraph.edge_sizes)
    last = np.arange(hypergraph.n_edges, hypergraph.n_edges + after)
    edge = arrow.array(np.concatenate((np.zeros(before, np.int64), owners, last)),
                       mask=np.arange(before + n + after) < before)  # fmt: skip
    node = arrow.array(np.concatenate((isolated, hypergraph.incidence.indices, np.zeros(after, np.int64))),
                       mask=np.arange(before + n + after) >= before + n)  # fmt: skip
    columns = {"edge": labels.take(edge), "node": names.take(node)}
    weights = given_weights(hypergraph)
    if weights is not None:
        padded = np.concatenate((np.full(before, np.nan), weights, np.full(after, np.nan)))
        columns["weight"] = arrow.array(padded, mask=np.isnan(padded))
    if (hypergraph.weights != 1).any():
        padded = np.concatenate((np.full(before, np.nan), hypergraph.weights[owners], np.full(after, np.nan)))
        columns["edge_weight"] = arrow.array(padded, mask=np.isnan(padded))
    arrow.parquet.write_table(arrow.table(columns), file, write_page_checksum=True)


def arrow_labels(arrow: Any, name: str, labels: Sequence[Hashable]) -> Any:
    """Names as one column of text or of whole numbers."""
    kinds = {type(label) for label in labels}
    if kinds not in ({int}, {str}):
        words = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"{name}: a Parquet column holds either text or whole numbers; these are {words}")
    if kinds == {str}:
        for label in labels:
            _check_unicode(name, str(label))
    try:
        return arrow.array(labels, arrow.int64() if kinds == {int} else arrow.large_string())
    except (arrow.ArrowException, OverflowError) as error:
        raise ValueError(f"{name}: {error}") from None
