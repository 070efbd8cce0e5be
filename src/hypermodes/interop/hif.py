"""The Hypergraph Interchange Format, HIF v0.1 (JSON): nothing lost on the way in or out, nothing fetched."""

import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from operator import itemgetter
from typing import Any, BinaryIO, NoReturn

import numpy as np

from hypermodes.annotations import DIRECTIONS, Annotations, Records
from hypermodes.edge_lists import Numbered
from hypermodes.hypergraph import Hypergraph
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
_PIECE = 1 << 16  # characters of records read at a time


def read(content: bytes, reading: Reading) -> Hypergraph:
    """Read a HIF file.

    `content` is the whole file. Every rule of the schema is checked; the first violation is a ValueError.
    """
    document = _document(content)
    nodes, edges = document.get("nodes", Things()), document.get("edges", Things())
    listing = document["incidences"].listing(edges, nodes)
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


# The document is walked, and its lists are read record by record: of a large file, only columns are kept.


def _document(content: bytes) -> dict[str, Any]:
    """What the file says at its top level. JSON leaves open what a key means that comes twice: refused."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"expected UTF-8 text; byte {error.start} is not") from None
    with _errors_of_json():
        document = _walked(text)
    if "incidences" not in document:
        raise ValueError("the key 'incidences' is missing; HIF requires it")
    check_top(document)
    return document


@contextmanager
def _errors_of_json() -> Iterator[None]:
    try:
        yield
    except RecursionError:
        raise ValueError(f"the JSON is nested deeper than {MAX_DEPTH} levels") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    except ValueError as error:
        if str(error).startswith("Exceeds the limit"):  # of Python, for the work that a number may take
            raise ValueError("a whole number has more than 4300 digits") from None
        raise


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number that JSON allows")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise ValueError(f"the key {short(counts.most_common(1)[0][0])} comes twice in one JSON object")
    return found


_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_distinct)
_QUICK = json.JSONDecoder(parse_constant=_no_constant)  # half the time; does not see keys that come twice
_SPACE = re.compile(r"[ \t\r\n]*")
_NEXT = re.compile(r"[ \t\r\n]*(?:([,\]])[ \t\r\n]*)?")  # behind an element of a list


def _walked(text: str) -> dict[str, Any]:
    i = _behind(text, 0)
    if text[i : i + 1] != "{":
        value, i = _DECODER.raw_decode(text, i)
        raise ValueError(f"expected a JSON object with the key 'incidences'; found a {_kind(value)}")
    document: dict[str, Any] = {}
    i = _behind(text, i + 1)
    while text[i : i + 1] != "}" or document:
        if text[i : i + 1] != '"':
            raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, i)
        key, i = _DECODER.raw_decode(text, i)
        if key not in _TOP:
            raise ValueError(f"unknown key {short(key)}; HIF has {', '.join(_TOP)}")
        if key in document:
            raise ValueError(f"the key {short(key)} comes twice in one JSON object")
        i = _behind(text, i)
        if text[i : i + 1] != ":":
            raise json.JSONDecodeError("Expecting ':' delimiter", text, i)
        i = _behind(text, i + 1)
        if key not in _KEYS:
            document[key], i = _DECODER.raw_decode(text, i)
        else:
            if text[i : i + 1] != "[":
                value, i = _DECODER.raw_decode(text, i)
                raise ValueError(f"{key}: expected a list; found a {_kind(value)}")
            blocks = _Blocks(text, i + 1)
            document[key] = _incidences(blocks) if key == "incidences" else _things(blocks, key)
            i = blocks.position
        i = _behind(text, i)
        if text[i : i + 1] == "}":
            break
        if text[i : i + 1] != ",":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, i)
        i = _behind(text, i + 1)
    i = _behind(text, i + 1)
    if i < len(text):
        raise json.JSONDecodeError("Extra data", text, i)
    return document


def _behind(text: str, i: int) -> int:
    """The first position from i on that is not blank."""
    return _SPACE.match(text, i).end()  # type: ignore[union-attr]


class _Blocks:
    """The elements of the list that begins behind a position, some at a time; then, where it has ended."""

    def __init__(self, text: str, position: int) -> None:
        self.text, self.position = text, _behind(text, position)

    def __iter__(self) -> Iterator[list[Any]]:
        if self.text.startswith("]", self.position):
            self.position += 1
            return
        mark: str | None = ","
        while mark == ",":
            block = self._piece()
            if not block:
                block, mark = self._one_by_one()
            yield block
        if mark is None:
            raise json.JSONDecodeError("Expecting ',' delimiter", self.text, self.position)

    def _piece(self) -> list[Any]:
        """The elements up to a comma further on, if there they end; nothing if they do not.

        If that text between brackets is a list, so is what is read here: no other comma can be the one that
        follows its last element.
        """
        end = self.text.rfind("},", self.position, self.position + _PIECE)
        if end < 0:
            return []
        try:
            piece = f"[{self.text[self.position : end + 1]}]"
            block, read = _list_of_records(piece)
        except (ValueError, RecursionError):
            return []  # what is wrong, or that it is right, is found one by one
        if read < len(piece):
            return []  # the list ends before
        self.position = _behind(self.text, end + 2)
        return block

    def _one_by_one(self) -> tuple[list[Any], str | None]:
        """About as many elements, and what is behind them."""
        text, i = self.text, self.position
        block, end, mark = [], i + _PIECE, ","
        while mark == "," and i < end:
            value, i = _DECODER.raw_decode(text, i)
            block.append(value)
            found = _NEXT.match(text, i)
            mark, i = found[1], found.end()  # type: ignore[index, union-attr]
        self.position = i
        return block, mark


def check_top(document: Mapping[str, Any]) -> None:
    """Check the network type and the metadata."""
    if "network-type" in document and document["network-type"] not in _NETWORK_TYPES:
        words = ", ".join(_NETWORK_TYPES)
        raise ValueError(f"network-type: expected one of {words}; found {short(document['network-type'])}")
    if "metadata" in document:
        if not isinstance(document["metadata"], dict):
            raise ValueError(f"metadata: expected an object; found a {_kind(document['metadata'])}")
        _check_inside(document["metadata"], "metadata")


def _list_of_records(piece: str) -> tuple[list[Any], int]:
    """Read a list, and say where it ends. No key of a record comes twice, or it is a ValueError.

    A key has a colon: where there are no more colons than keys that were read, none came twice.
    """
    if '"attrs"' not in piece:
        block, end = _QUICK.raw_decode(piece)
        if {dict}.issuperset(map(type, block)) and piece.count(":") == sum(map(len, block)):
            return block, end
    block, end = _DECODER.raw_decode(piece)
    return block, end


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


def _things(blocks: Iterable[list[Any]], level: str) -> Things:
    things = Things()
    key = level[:-1]
    for number, record in enumerate(chain.from_iterable(blocks)):
        where = _Where(level, number)
        check_record(record, level, where)
        things.add(record[key], record, where)
    things.n_listed = len(things.index)
    return things


def _incidences(blocks: Iterable[list[Any]]) -> "_Incidences":
    found = _Incidences()
    for block in blocks:
        found.add(block)
    return found


class _Incidences:
    """Incidence records as columns; names are numbered as they appear."""

    def __init__(self) -> None:
        self.n = 0
        self.edges, self.nodes = Numbered(), Numbered()
        self.said: list[Records] = []

    def add(self, block: list[Any]) -> None:
        """Take in some records."""
        try:
            keys = set(chain.from_iterable(block))
            edges, nodes = (list(map(itemgetter(key), block)) for key in ("edge", "node"))
            good = {dict}.issuperset(map(type, block)) and keys.issubset(_KEYS["incidences"])
            good = good and {str, int}.issuperset(map(type, chain(edges, nodes)))
        except (TypeError, KeyError):
            good = False
        if not good or not keys.isdisjoint(("attrs", "direction")):
            for number, record in enumerate(block, self.n):
                check_record(record, "incidences", _Where("incidences", number))
        self.edges.add(edges)
        self.nodes.add(nodes)
        weights = self._weights(block) if "weight" in keys else None
        directions = attributes = None
        if "direction" in keys:
            directions = np.array([DIRECTIONS.index(one.get("direction")) for one in block], np.int8)
        if "attrs" in keys:
            attributes = tuple(one["attrs"] or _NO_ATTRIBUTES if "attrs" in one else None for one in block)
        self.said.append(Records(len(block), None, weights, attributes, directions))
        self.n += len(block)

    def _weights(self, block: list[dict[str, Any]]) -> np.ndarray:
        given = [record.get("weight", np.nan) for record in block]
        if {int, float}.issuperset(map(type, given)):
            with suppress(OverflowError):
                weights = np.array(given, dtype=np.float64)
                if not np.isinf(weights).any():
                    return weights
        for number, record in enumerate(block, self.n):
            if "weight" in record:
                weight_of(record["weight"], _Where("incidences", number))
        raise AssertionError("a weight that is no number was let through")

    def listing(self, edges: Things, nodes: Things) -> Listing:
        """By position among all names: those listed, then the others as they appear."""
        return Listing(
            _placed(self.edges, edges.index), _placed(self.nodes, nodes.index), Records.joined(self.said)
        )


def _placed(column: Numbered, known: dict[Hashable, int]) -> np.ndarray:
    for label in column.labels:
        known.setdefault(label, len(known))
    places = np.fromiter(map(known.__getitem__, column.labels), np.int32, len(column.labels))
    return places[column.codes]


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
            _check_inside(record["attrs"], where())


def weight_of(value: Any, where: Callable[[], str]) -> float:
    """A weight as a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{where()}: weight must be a number; found {short(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if np.isinf(number):
        raise ValueError(f"{where()}: the weight {str(value)[:20]}... is too large")
    return number


def _check_inside(value: Any, where: str) -> None:
    """Check how deep it is nested, and that its numbers are within double precision."""
    level = [value]
    for _ in range(MAX_DEPTH):
        parts = [part for one in level for part in (one.values() if isinstance(one, dict) else one)]
        if any(isinstance(part, float) and np.isinf(part) for part in parts):
            raise ValueError(f"{where}: a number is too large")
        level = [part for part in parts if isinstance(part, dict | list)]
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
