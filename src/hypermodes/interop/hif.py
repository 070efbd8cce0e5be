"""The Hypergraph Interchange Format, HIF v0.1 (JSON): nothing lost on the way in or out, nothing fetched."""

import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NoReturn

import numpy as np

from hypermodes.annotations import DIRECTIONS, Annotations, Records
from hypermodes.hypergraph import Hypergraph
from hypermodes.interop import scanning
from hypermodes.interop.building import (
    Listing,
    Reading,
    all_edges_listed,
    all_vertices_listed,
    build,
    merged_attributes,
    short,
)
from hypermodes.json_text import json_text

MAX_DEPTH = 100
"""How deeply attributes and metadata may be nested."""

_KEYS = {
    "incidences": ("edge", "node", "weight", "direction", "attrs"),
    "nodes": ("node", "weight", "attrs"),
    "edges": ("edge", "weight", "attrs"),
}
_TOP = ("network-type", "metadata", "incidences", "nodes", "edges")
_NETWORK_TYPES = ("undirected", "directed", "asc")
_BLOCK = 1 << 14


def read(content: bytes, reading: Reading) -> Hypergraph:
    """Read a HIF file.

    `content` is the whole file. Every rule of the schema is checked; the first violation is a ValueError.
    """
    if len(content) < scanning.LARGE:
        document = _document(_parsed(content))
        nodes, edges = (
            _things(document.get("nodes", []), "nodes"),
            _things(document.get("edges", []), "edges"),
        )
        listing = _incidences(document["incidences"], edges, nodes)
    else:
        document, nodes, edges, listing = _scanned(content)
    listing = _settled(listing, nodes)
    network_type = document.get("network-type")
    _check_directed(network_type, listing.records, reading)
    return build(
        edges.labels, nodes.labels, listing, edges.records(), nodes.records(), reading,
        network_type=network_type, metadata=document.get("metadata"), repeated="last",
    )  # fmt: skip


def _settled(listing: Listing, nodes: "Things") -> Listing:
    """Vertices that are not listed come as their hyperedges do: the order they are written in again."""
    if (np.diff(listing.edges) >= 0).all():
        return listing
    n, known = len(nodes.index), nodes.n_listed
    first = np.arange(n) - n  # the listed ones before all others
    members = listing.vertices[np.argsort(listing.edges, kind="stable")][::-1]
    members, positions = members[members >= known], np.flatnonzero(members >= known)
    first[members] = len(listing.edges) - positions  # the last write wins: the first appearance
    order = np.argsort(first)
    labels = list(nodes.index)
    nodes.index = {labels[i]: place for place, i in enumerate(order.tolist())}
    place = np.empty(n, dtype=np.int32)
    place[order] = np.arange(n)
    return Listing(listing.edges, place[listing.vertices], listing.records)


def _check_directed(network_type: str | None, incidences: Records, reading: Reading) -> None:
    directed = network_type == "directed" or (network_type is None and incidences.directions is not None)
    if directed and reading.directed == "refuse":
        raise ValueError(
            "the hypergraph is directed, and modes have no direction; pass directed='ignore' to read heads "
            "and tails alike (directions are kept for writing)"
        )


# -- JSON, with what it leaves open closed ----------------------------------------------------------------


def _parsed(content: bytes) -> Any:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"expected UTF-8 text; byte {error.start} is not") from None
    return parsed_text(text)


_MAYBE_TOO_LARGE = re.compile(r"[eE]\+?[0-9]{3}|[0-9]{300}")


def parsed_text(text: str) -> Any:
    """A JSON value; NaN, infinities and numbers beyond double precision are errors, so is deep nesting."""
    try:
        # The hook costs a Python call a number: only where a number can be too large.
        hook = _finite if _MAYBE_TOO_LARGE.search(text) else None
        return json.loads(text, parse_constant=_no_constant, parse_float=hook, object_pairs_hook=None)
    except RecursionError:
        raise ValueError(f"the JSON is nested deeper than {MAX_DEPTH} levels") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    except ValueError as error:
        if "digits" in str(error):  # Python's bound on the work that reading a whole number may take
            raise ValueError("a whole number has more than 4300 digits") from None
        raise


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number that JSON allows")


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {digits[:20]} is too large")
    return value


def _document(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise ValueError(f"expected a JSON object with the key 'incidences'; found a {_kind(document)}")
    for key in document:
        if key not in _TOP:
            raise ValueError(f"unknown key {short(key)}; HIF has {', '.join(_TOP)}")
    if "incidences" not in document:
        raise ValueError("the key 'incidences' is missing; HIF requires it")
    for key in _KEYS:
        if not isinstance(document.get(key, []), list):
            raise ValueError(f"{key}: expected a list; found a {_kind(document[key])}")
    check_top(document)
    return document


def check_top(document: Mapping[str, Any]) -> None:
    """Check the network type and the metadata."""
    if "network-type" in document and document["network-type"] not in _NETWORK_TYPES:
        words = ", ".join(_NETWORK_TYPES)
        raise ValueError(f"network-type: expected one of {words}; found {short(document['network-type'])}")
    if "metadata" in document:
        if not isinstance(document["metadata"], dict):
            raise ValueError(f"metadata: expected an object; found a {_kind(document['metadata'])}")
        _check_depth(document["metadata"], "metadata")


# -- large files: the top level is walked, lists are read block by block --------------------------------


def _scanned(content: bytes) -> tuple[dict[str, Any], "Things", "Things", Listing]:
    """The parts of a document, as `_document`, `_things` and `_incidences` give them, for less."""
    found = _top_level(content)
    document = {
        key: _parsed_part(content, start, scanning.value_end(content, start), key)
        for key, start in found.items()
        if key not in _KEYS
    }
    check_top(document)
    nodes, edges = (
        _things(_listed_records(content, found[key], key), key) if key in found else Things()
        for key in ("nodes", "edges")
    )
    return document, nodes, edges, _scanned_incidences(content, found["incidences"], edges, nodes)


_SPACE = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"(?:[^"\\]|\\.){0,1000}"')


def _top_level(content: bytes) -> dict[str, int]:
    """Where the value of each key begins."""
    found: dict[str, int] = {}
    position = 3 if content.startswith(b"\xef\xbb\xbf") else 0

    def expect(marks: bytes, what: str) -> bytes:
        nonlocal position
        position = _SPACE.match(content, position).end()  # type: ignore[union-attr]
        mark = content[position : position + 1]
        if not mark or mark not in marks:
            raise ValueError(f"not JSON: expected {what} at byte {position}")
        position += 1
        return mark

    expect(b"{", "an object")
    while True:
        if expect(b'"}', "a key") == b"}" and not found:
            break
        match = _STRING.match(content, position - 1)
        if match is None:
            raise ValueError(f"not JSON: expected a key at byte {position - 1}")
        key = _parsed(match[0])
        if key not in _TOP:
            raise ValueError(f"unknown key {short(key)}; HIF has {', '.join(_TOP)}")
        position = match.end()
        expect(b":", "a colon")
        position = _SPACE.match(content, position).end()  # type: ignore[union-attr]
        if key in _KEYS and content[position : position + 1] != b"[":
            raise ValueError(f"{key}: expected a list")
        found[key] = position
        position = scanning.value_end(content, position)
        if position <= found[key]:
            raise ValueError(f"not JSON: the value of {key!r} does not end")
        if expect(b",}", "a comma or the end of the object") == b"}":
            break
    position = _SPACE.match(content, position).end()  # type: ignore[union-attr]
    if position < len(content):
        raise ValueError(f"not JSON: more text after the end at byte {position}")
    if "incidences" not in found:
        raise ValueError("the key 'incidences' is missing; HIF requires it")
    return found


def _is_empty_list(content: bytes, start: int) -> bool:
    end = _SPACE.match(content, start + 1).end()  # type: ignore[union-attr]
    return content[end : end + 1] == b"]"


def _listed_records(content: bytes, start: int, level: str) -> Iterator[Any]:
    if _is_empty_list(content, start):
        return
    blocks, _ = scanning.records(content, start + 1, level)
    for first, last in blocks:
        yield from _parsed(b"[" + content[first:last] + b"]")


def _scanned_incidences(content: bytes, start: int, edges: "Things", nodes: "Things") -> Listing:
    if _is_empty_list(content, start):
        return Listing(np.empty(0, np.int32), np.empty(0, np.int32), Records(0))
    found, _ = scanning.incidences(content, start + 1)
    n = len(found.edges.codes)
    said = IncidenceColumns(n)
    said.weights, said.directions = found.weights, found.directions
    _read_attributes(content, found.attributes, said)
    strange = []
    for number, first, last in found.strange.tolist():
        record = _parsed_part(content, first, last, f"incidences[{number}]")
        where = _Where("incidences", number)
        check_record(record, "incidences", where)
        said.add(number, record, where)
        strange.append((number, record))
    return Listing(
        _numbered(content, found.edges, [(i, record["edge"]) for i, record in strange], edges),
        _numbered(content, found.nodes, [(i, record["node"]) for i, record in strange], nodes),
        said.records(),
    )


def _read_attributes(content: bytes, spans: np.ndarray, said: "IncidenceColumns") -> None:
    if not len(spans):
        return
    column = np.full(said.n, None, dtype=object)
    nothing = spans[:, 2] - spans[:, 1] == 2
    column[spans[nothing, 0]] = _NO_ATTRIBUTES
    said.attributes = column.tolist()
    for number, first, last in spans[~nothing].tolist():
        attributes = _parsed_part(content, first, last, f"incidences[{number}]")
        _check_depth(attributes, f"incidences[{number}]")
        said.attributes[number] = attributes or _NO_ATTRIBUTES


def _parsed_part(content: bytes, first: int, last: int, where: str) -> Any:
    try:
        return _parsed(content[first:last])
    except ValueError as error:
        raise ValueError(f"{where}, byte {first}: {error}") from None


def _numbered(
    content: bytes, column: scanning.Column, others: list[tuple[int, Hashable]], things: "Things"
) -> np.ndarray:
    """Positions among all names: the known ones, then new ones in the order they first appear."""
    labels = _parsed_names(column.texts(content))
    if not things.index and not others:
        things.index.update(zip(labels, range(len(labels)), strict=True))
        if len(things.index) == len(labels):
            return column.codes
    appearances = [*zip(column.rows.tolist(), labels, strict=True), *others]
    if others:
        appearances.sort(key=lambda pair: pair[0])
    for _, label in appearances:
        things.index.setdefault(label, len(things.index))
    places = np.array([things.index[label] for label in labels], dtype=np.int32)
    codes = places[column.codes] if places.size else column.codes
    for number, label in others:
        codes[number] = things.index[label]
    return codes


def _parsed_names(texts: list[bytes]) -> list[Hashable]:
    """Names as values; the kernel has seen that each is a plain string or a whole number."""
    return _parsed(b"[" + b",".join(texts) + b"]")


# -- records ----------------------------------------------------------------------------------------------


class Things:
    """Vertices or hyperedges: their names in order, and what is said of each; filled while reading."""

    def __init__(self) -> None:
        self.index: dict[Hashable, int] = {}
        self.weights: dict[int, float] = {}
        self.attributes: dict[int, dict[str, Any]] = {}
        self.n_listed = 0

    def add(self, label: Hashable, record: Mapping[str, Any], where: Callable[[], str]) -> None:
        """Take in a checked record."""
        i = self.index.setdefault(label, len(self.index))
        if "weight" in record:
            self.weights[i] = weight_of(record["weight"], where)
        if "attrs" in record:
            known = self.attributes.get(i)
            merged = merged_attributes((known, record["attrs"]))
            self.attributes[i] = merged  # type: ignore[assignment]

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """Names, in order."""
        return tuple(self.index)

    def records(self) -> Records:
        """Columns; those listed came first."""
        n = len(self.index)
        weights = attributes = None
        if self.weights:
            weights = np.full(n, np.nan)
            weights[list(self.weights)] = list(self.weights.values())
        if self.attributes:
            attributes = tuple(map(self.attributes.get, range(n)))
        return Records(n, np.arange(n) < self.n_listed, weights, attributes)


def _things(records: Iterable[Any], level: str) -> Things:
    things = Things()
    key = level[:-1]
    for number, record in enumerate(records):
        where = _Where(level, number)
        check_record(record, level, where)
        things.add(record[key], record, where)
    things.n_listed = len(things.index)
    return things


def _incidences(records: Sequence[Any], edges: Things, nodes: Things) -> Listing:
    n = len(records)
    edge_codes, node_codes = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    said = IncidenceColumns(n)
    edge_index, node_index = edges.index, nodes.index
    for number, record in enumerate(records):
        where = _Where("incidences", number)
        check_record(record, "incidences", where)
        edge_codes[number] = edge_index.setdefault(record["edge"], len(edge_index))
        node_codes[number] = node_index.setdefault(record["node"], len(node_index))
        if len(record) > 2:
            said.add(number, record, where)
    return Listing(edge_codes, node_codes, said.records())


class IncidenceColumns:
    """What is said of ``n`` incidences; a column is made when something is said in it."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.weights: np.ndarray | None = None
        self.directions: np.ndarray | None = None
        self.attributes: list[dict[str, Any] | None] | None = None

    def add(self, number: int, record: Mapping[str, Any], where: Callable[[], str]) -> None:
        """Take in what a checked record says."""
        if "weight" in record:
            if self.weights is None:
                self.weights = np.full(self.n, np.nan)
            self.weights[number] = weight_of(record["weight"], where)
        if "direction" in record:
            if self.directions is None:
                self.directions = np.zeros(self.n, dtype=np.int8)
            self.directions[number] = DIRECTIONS.index(record["direction"])
        if "attrs" in record:
            if self.attributes is None:
                self.attributes = [None] * self.n
            self.attributes[number] = record["attrs"] or _NO_ATTRIBUTES

    def records(self) -> Records:
        """The columns that were made."""
        attributes = None if self.attributes is None else tuple(self.attributes)
        return Records(self.n, None, self.weights, attributes, self.directions)


_NO_ATTRIBUTES: dict[str, Any] = {}  # one for all: a file of ten million incidences may say it of each


class _Where:
    """Says where a record is, if somebody asks."""

    __slots__ = ("level", "number")

    def __init__(self, level: str, number: int) -> None:
        self.level, self.number = level, number

    def __call__(self) -> str:
        return f"{self.level}[{self.number}]"


def check_record(record: Any, level: str, where: Callable[[], str]) -> None:
    """Check one record against the schema."""
    if not isinstance(record, dict):
        raise ValueError(f"{where()}: expected an object; found a {_kind(record)}")
    for key in ("edge", "node"):
        if key in _KEYS[level]:
            if key not in record:
                raise ValueError(f"{where()}: the key {key!r} is missing")
            if not isinstance(record[key], str | int) or isinstance(record[key], bool):
                raise ValueError(
                    f"{where()}: {key} must be text or a whole number; found {short(record[key])}"
                )
    for key in record:
        if key not in _KEYS[level]:
            raise ValueError(f"{where()}: unknown key {short(key)}; expected {', '.join(_KEYS[level])}")
    if "direction" in record and record["direction"] not in ("head", "tail"):
        raise ValueError(f"{where()}: direction must be 'head' or 'tail'; found {short(record['direction'])}")
    if "attrs" in record:
        if not isinstance(record["attrs"], dict):
            raise ValueError(f"{where()}: attrs must be an object; found a {_kind(record['attrs'])}")
        if record["attrs"]:
            _check_depth(record["attrs"], where())


def weight_of(value: Any, where: Callable[[], str]) -> float:
    """A weight as a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{where()}: weight must be a number; found {short(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{where()}: the weight {str(value)[:20]}... is too large") from None


def _check_depth(value: Any, where: str) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            part
            for outer in level
            for part in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(part, dict | list)
        ]
        if not level:
            return
    raise ValueError(f"{where}: nested deeper than {MAX_DEPTH} levels")


def _kind(value: Any) -> str:
    names = {dict: "object", list: "list", str: "text", bool: "truth value", type(None): "null"}
    return names.get(type(value), "number")


# -- writing ----------------------------------------------------------------------------------------------


def write(hypergraph: Hypergraph, file: BinaryIO) -> None:
    """Write a HIF file: one record a line, in the order of the hypergraph."""
    said = hypergraph.annotations or Annotations(
        Records(hypergraph.n_vertices),
        Records(hypergraph.n_edges),
        Records(int(hypergraph.incidence.nnz)),
        "undirected",
    )
    nodes = [_identifier("vertices", label) for label in hypergraph.vertices]
    edges = [_identifier("labels", label) for label in hypergraph.labels]
    file.write(b"{")
    if said.network_type is not None:
        file.write(b'"network-type":' + _json(said.network_type).encode() + b",\n")
    if said.metadata is not None:
        file.write(b'"metadata":' + _json(said.metadata).encode() + b",\n")
    _write_list(file, "nodes", _node_records(hypergraph, said, nodes))
    _write_list(file, "edges", _edge_records(hypergraph, said, edges))
    _write_list(file, "incidences", _incidence_records(hypergraph, said, edges, nodes), required=True)
    file.write(b"}\n")


def _write_list(file: BinaryIO, key: str, blocks: Iterator[list[str]], required: bool = False) -> None:
    begun = False
    for block in blocks:
        if block:
            file.write(b",\n" if begun else f'"{key}":[\n'.encode())
            file.write(",\n".join(block).encode())
            begun = True
    if begun or required:
        file.write((b"" if begun else f'"{key}":['.encode()) + (b"\n]" if required else b"\n],\n"))


def _node_records(hypergraph: Hypergraph, said: Annotations, names: list[str]) -> Iterator[list[str]]:
    records = said.vertices
    if records.listed is None:
        listed = np.full(records.n, all_vertices_listed(hypergraph.incidence, records))
    else:
        isolated = np.diff(hypergraph.incidence_by_vertex.indptr) == 0
        listed = records.listed | isolated | _speaks(records)  # a hypergraph made by hand may leave some out
    yield from _blocks("node", names, records, np.flatnonzero(listed), records.weights)


def _edge_records(hypergraph: Hypergraph, said: Annotations, names: list[str]) -> Iterator[list[str]]:
    records, weights = said.edges, hypergraph.weights
    unequal = weights != 1
    if records.listed is None:
        listed = np.full(records.n, all_edges_listed(records, bool(unequal.any())))
    else:
        listed = records.listed | unequal | _speaks(records)
    given = unequal if records.weights is None else unequal | ~np.isnan(records.weights)
    yield from _blocks("edge", names, records, np.flatnonzero(listed), np.where(given, weights, np.nan))
    empty = [_identifier("empty_edges", label) for label in said.empty_edges]
    own = np.arange(said.empty.n)
    if said.empty.listed is not None:
        beside = {record.get("edge") for record in said.aside}
        needed = [label not in beside for label in said.empty_edges]
        own = np.flatnonzero(said.empty.listed | needed | _speaks(said.empty))
    yield from _blocks("edge", empty, said.empty, own, said.empty.weights)


def _speaks(records: Records) -> np.ndarray:
    out = np.zeros(records.n, dtype=bool)
    if records.weights is not None:
        out |= ~np.isnan(records.weights)
    if records.attributes is not None:
        out |= [one is not None for one in records.attributes]
    return out


def _blocks(
    key: str, names: list[str], records: Records, which: np.ndarray, weights: np.ndarray | None
) -> Iterator[list[str]]:
    for start in range(0, len(which), _BLOCK):
        block = []
        for i in which[start : start + _BLOCK].tolist():
            weight = None if weights is None else float(weights[i])
            attributes = None if records.attributes is None else records.attributes[i]
            block.append(f'{{"{key}":{names[i]}{_weight(weight)}{_attrs(attributes)}}}')
        yield block


def _incidence_records(
    hypergraph: Hypergraph, said: Annotations, edges: list[str], nodes: list[str]
) -> Iterator[list[str]]:
    incidence, records = hypergraph.incidence, said.incidences
    weights = given_weights(hypergraph)
    owners = np.repeat(np.arange(hypergraph.n_edges, dtype=np.int32), hypergraph.edge_sizes)
    for start in range(0, incidence.nnz, _BLOCK):
        part = slice(start, start + _BLOCK)
        columns = [
            [f'{{"edge":{edges[e]},"node":{nodes[v]}' for e, v in
             zip(owners[part].tolist(), incidence.indices[part].tolist(), strict=True)]
        ]  # fmt: skip
        if weights is not None:
            columns.append([_weight(weight) for weight in weights[part].tolist()])
        if records.directions is not None:
            columns.append([_DIRECTION[d] for d in records.directions[part].tolist()])
        if records.attributes is not None:
            columns.append([_attrs(one) for one in records.attributes[part]])
        yield ["".join(parts) + "}" for parts in zip(*columns, strict=True)]
    yield [_json(record) for record in said.aside]


_DIRECTION = ("", ',"direction":"head"', ',"direction":"tail"')


def given_weights(hypergraph: Hypergraph) -> np.ndarray | None:
    """Incidence weights to write, as they were given; NaN for those that need none."""
    said = hypergraph.annotations
    if said is not None and said.incidences.weights is not None:
        return said.incidences.weights
    data = hypergraph.incidence.data
    return None if (data == 1).all() else np.where(data == 1, np.nan, data)


def _weight(weight: float | None) -> str:
    return "" if weight is None or weight != weight else f',"weight":{number_text(weight)}'


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return str(int(value)) if abs(value) < 2**53 and value.is_integer() else repr(value)


def _attrs(attributes: Mapping[str, Any] | None) -> str:
    return "" if attributes is None else f',"attrs":{_json(attributes)}'


def _json(value: Any) -> str:
    try:
        return json_text(value, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"annotations: HIF holds JSON values only: {error}") from None


def _identifier(name: str, label: Hashable) -> str:
    if isinstance(label, bool) or not isinstance(label, str | int):
        raise ValueError(
            f"{name}: HIF names are text or whole numbers; {short(label)} is a {type(label).__name__}"
        )
    return json_text(label)
