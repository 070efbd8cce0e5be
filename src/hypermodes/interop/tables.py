"""Incidence lists, one (hyperedge, vertex) pair a row: CSV, TSV and Parquet."""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO

import numpy as np

from hypermodes.annotations import Records
from hypermodes.edge_lists import factorised
from hypermodes.hypergraph import Hypergraph
from hypermodes.interop import scanning
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
_SPACES = " \t"  # around cells; Unicode has more, and they may be part of a name
_BLOCK = 1 << 14


# -- reading text --------------------------------------------------------------------------------------


def read_csv(content: bytes, reading: Reading) -> Hypergraph:
    """Read rows ``edge, node[, weight[, edge weight]]``; see docs/formats.md for headers and column names."""
    return _read(content, reading, reading.delimiter or _sniffed(content))


def read_tsv(content: bytes, reading: Reading) -> Hypergraph:
    """Read the same with tabs."""
    return _read(content, reading, reading.delimiter or "\t")


def _read(content: bytes, reading: Reading, delimiter: str) -> Hypergraph:
    scanned = _scanned(content, reading, delimiter) if len(content) >= scanning.LARGE else None
    return scanned or _read_text(decoded(content), reading, delimiter)


def _scanned(content: bytes, reading: Reading, delimiter: str) -> Hypergraph | None:
    """Read a large plain table fast; None if it is not plain or wrong: the other way then says what is."""
    if delimiter not in _DELIMITERS:
        return None
    try:
        text = content[: content.rindex(b"\n", 0, 1 << 16) + 1].decode("utf-8-sig")
        start = list(islice(_rows(text, delimiter), 100))
    except ValueError:
        return None
    if not start:
        return None
    header, width, where = _layout(start, reading)
    position = 3 if content.startswith(b"\xef\xbb\xbf") else 0
    for _ in range(start[0][0] if header else 0):
        position = content.index(b"\n", position) + 1
    found = scanning.rows(content, position, delimiter, where, width)
    if found is None:
        return None
    edges, nodes, (weights, edge_weights) = found
    if not edges.codes.size:
        return None
    try:
        labels, names = ([text.decode() for text in column.texts(content)] for column in (edges, nodes))
    except UnicodeDecodeError:
        return None
    return from_codes(
        edges.codes, identified(labels, reading.ids), nodes.codes, identified(names, reading.ids),
        weights, edge_weights, reading, lambda i: f"row {i + 1}",
    )  # fmt: skip


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


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, with the number of their last line."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row and not (len(row) == 1 and not row[0].strip(_SPACES)):
                yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None


def _read_text(text: str, reading: Reading, delimiter: str) -> Hypergraph:
    rows = _rows(text, delimiter)
    start = list(islice(rows, 100))
    if not start:
        raise ValueError("expected rows 'edge, node'; the file is empty")
    header, width, where = _layout(start, reading)
    cells: list[list[str]] = [[] for _ in where]
    lines: list[int] = []
    for number, row in chain(start[header:], rows):
        if len(row) != width:
            raise ValueError(f"line {number}: expected {width} columns, as before; found {len(row)}")
        lines.append(number)
        for column, i in zip(cells, where, strict=True):
            column.append(row[i].strip(_SPACES) if i is not None else "")
    if not lines:
        raise ValueError("expected rows 'edge, node' after the header; found none")
    edges, nodes, weights, edge_weights = cells
    return from_columns(
        identified(edges, reading.ids),
        identified(nodes, reading.ids),
        _numbers(weights, lines, "weight") if where[2] is not None else None,
        _numbers(edge_weights, lines, "edge weight") if where[3] is not None else None,
        reading,
        lambda i: f"line {lines[i]}",
    )


def _layout(start: list[tuple[int, list[str]]], reading: Reading) -> tuple[bool, int, list[int | None]]:
    """Whether there is a header, how many columns, and which are which, from the first rows."""
    header = _has_header([row for _, row in start]) if reading.header is None else reading.header
    width = len(start[0][1])
    return header, width, columns_of(start[0][1] if header else None, width, reading.columns)


def _has_header(rows: list[list[str]]) -> bool:
    """Whether the first row names columns: by names we know, or a word heads a column of numbers."""
    first = [cell.strip().lower() for cell in rows[0]]
    if any(cell in _KNOWN[0] for cell in first) and any(cell in _KNOWN[1] for cell in first):
        return True
    below = [row for row in rows[1:] if len(row) == len(first)]
    if not below or any(_NUMBER.fullmatch(cell) for cell in first):
        return False
    return any(all(_NUMBER.fullmatch(row[i].strip()) for row in below) for i in range(len(first)))


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


def identified(cells: list[str], ids: str) -> Sequence[Hashable]:
    """Whole numbers if every name in the column is one, otherwise text; an empty cell is None."""
    if ids == "auto" and all(not cell or _INTEGER.fullmatch(cell) for cell in cells):
        return [int(cell) if cell else None for cell in cells]
    return [cell or None for cell in cells]


def _numbers(cells: list[str], lines: list[int], what: str) -> np.ndarray:
    out = np.full(len(cells), np.nan)
    for i, cell in enumerate(cells):
        if cell:
            value = float(cell) if _NUMBER.fullmatch(cell) else np.nan
            if not np.isfinite(value):
                raise ValueError(f"line {lines[i]}: expected a {what}, a finite number; found {short(cell)}")
            out[i] = value
    return out


# -- columns to hypergraph -----------------------------------------------------------------------------


def from_columns(
    edges: Any,
    nodes: Any,
    weights: np.ndarray | None,
    edge_weights: np.ndarray | None,
    reading: Reading,
    where: Callable[[int], str],
) -> Hypergraph:
    """Build from columns; a row without a hyperedge names a vertex, one without a vertex a hyperedge."""
    edge_codes, labels = factorised("edges", edges)
    node_codes, names = factorised("nodes", nodes)
    edge_codes, labels = without_none(edge_codes, labels)
    node_codes, names = without_none(node_codes, names)
    neither = np.flatnonzero((edge_codes < 0) & (node_codes < 0))
    if neither.size:
        raise ValueError(f"{where(int(neither[0]))}: there is neither a hyperedge nor a vertex")
    return from_codes(edge_codes, labels, node_codes, names, weights, edge_weights, reading, where)


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
    """The same from codes; -1 is nothing."""
    of_edges = None
    if edge_weights is not None:
        of_edges = _one_weight_each(edge_codes, edge_weights, labels, where)
    pairs = np.flatnonzero((edge_codes >= 0) & (node_codes >= 0))
    if len(pairs) < len(edge_codes):
        edge_codes, node_codes = edge_codes[pairs], node_codes[pairs]
        weights = None if weights is None else weights[pairs]
    listing = Listing(edge_codes, node_codes, Records(len(edge_codes), weights=weights))
    return build(labels, names, listing, Records(len(labels), weights=of_edges), Records(len(names)), reading)


def without_none(codes: np.ndarray, labels: Sequence[Hashable]) -> tuple[np.ndarray, Sequence[Hashable]]:
    """Give None, if it is among the labels, the code -1."""
    if isinstance(labels, range) or None not in labels:
        return codes, labels
    place = labels.index(None)
    shift = np.arange(len(labels), dtype=np.int32)
    shift[place:] -= 1
    shift[place] = -1
    return shift[codes], (*labels[:place], *labels[place + 1 :])


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
    if text != text.strip(_SPACES) or not text:
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


def _pyarrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise ImportError("format: Parquet needs pyarrow: install hypermodes[parquet]") from None
    return pyarrow


def read_parquet(content: bytes, reading: Reading) -> Hypergraph:
    """Read the same columns from a Parquet file."""
    arrow = _pyarrow()
    try:
        table = arrow.parquet.read_table(arrow.BufferReader(content))
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(f"not a Parquet file: {' '.join(str(error).split())[:200]}") from None
    where = columns_of(table.column_names, table.num_columns, reading.columns)
    if table.num_rows == 0:
        raise ValueError("expected rows 'edge, node'; the table is empty")
    edges, nodes = (_arrow_codes(arrow, table.column(i), ROLES[k]) for k, i in enumerate(where[:2]))
    weights, edge_weights = (
        None if i is None else _arrow_numbers(arrow, table.column(i), ROLES[k + 2])
        for k, i in enumerate(where[2:])
    )
    if ((edges[0] < 0) & (nodes[0] < 0)).any():
        raise ValueError("a row has neither a hyperedge nor a vertex")
    return from_codes(*edges, *nodes, weights, edge_weights, reading, lambda i: f"row {i + 1}")


def _arrow_codes(arrow: Any, column: Any, role: str) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    kind = column.type.value_type if arrow.types.is_dictionary(column.type) else column.type
    if not (arrow.types.is_integer(kind) or arrow.types.is_string(kind) or arrow.types.is_large_string(kind)):
        raise ValueError(f"column {role!r}: expected text or whole numbers; found {kind}")
    column = column.cast(kind).combine_chunks().dictionary_encode()
    if isinstance(column, arrow.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    return column.indices.fill_null(-1).to_numpy(), tuple(column.dictionary.to_pylist())


def _arrow_numbers(arrow: Any, column: Any, role: str) -> np.ndarray:
    if not (arrow.types.is_integer(column.type) or arrow.types.is_floating(column.type)):
        raise ValueError(f"column {role!r}: expected numbers; found {column.type}")
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
    arrow = _pyarrow()
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
    arrow.parquet.write_table(arrow.table(columns), file)


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
