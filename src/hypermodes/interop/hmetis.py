"""hMETIS ``.hgr``: circuits and partitioning instances; vertices are 1 … n, weights whole numbers."""

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from hypermodes.annotations import Records
from hypermodes.hypergraph import Hypergraph
from hypermodes.interop.building import Listing, Reading, build, short

# Third number of the first line: whether hyperedges, and whether vertices, have weights.
_KINDS = {
    "": (False, False), "0": (False, False), "00": (False, False), "1": (True, False), "01": (True, False),
    "10": (False, True), "11": (True, True),
}  # fmt: skip


def read(content: bytes, reading: Reading) -> Hypergraph:
    """Read an hMETIS file: weights of hyperedges become w(e), weights of vertices are kept as annotations.

    Vertices are called 1 … n, as in the file. A comment is a line that begins with ``%``.
    """
    lines = _lines(content)
    number, first = next(lines, (1, b""))
    n_edges, n_vertices, edge_weights, vertex_weights = _header(number, first)
    if max(n_edges, n_vertices) > len(content):  # every hyperedge takes a line, so would a billion vertices
        if n_edges > len(content):
            raise ValueError(
                f"line {number}: {n_edges} hyperedges announced, more than the file has room for"
            )
        if n_vertices > _MOST_VERTICES + len(content):
            raise ValueError(
                f"line {number}: {n_vertices} vertices announced; a file of this size may have "
                f"{_MOST_VERTICES + len(content)}"
            )
    weights = np.ones(n_edges) if edge_weights else None
    rows, sizes = [], np.zeros(n_edges, dtype=np.int64)
    for i in range(n_edges):
        number, line = next(lines, (number + 1, None))
        if line is None:
            raise ValueError(f"line {number}: the file ends after {i} of {n_edges} hyperedges")
        fields = line.split()
        if weights is not None:
            if not fields:
                raise ValueError(f"line {number}: the weight of a hyperedge is missing")
            weights[i] = _number(fields.pop(0), number, "the weight of a hyperedge")
        rows.append(_vertices(fields, number, n_vertices))
        sizes[i] = len(fields)
    of_vertices = np.full(n_vertices, np.nan) if vertex_weights else None
    if of_vertices is not None:
        for i in range(n_vertices):
            number, line = next(lines, (number + 1, None))
            if line is None:
                raise ValueError(
                    f"line {number}: the file ends after {i} of {n_vertices} weights of vertices"
                )
            of_vertices[i] = _number(line.strip(), number, "the weight of a vertex")
    number, line = next(lines, (0, None))
    if line is not None:
        raise ValueError(
            f"line {number}: expected the end of the file; found {short(line.decode(errors='replace'))}"
        )
    listing = Listing(
        np.repeat(np.arange(n_edges, dtype=np.int32), sizes),
        np.concatenate([*rows, np.empty(0, np.int64)]) - 1,
        Records(int(sizes.sum())),
    )
    return build(
        range(n_edges), range(1, n_vertices + 1), listing,
        Records(n_edges, weights=weights), Records(n_vertices, weights=of_vertices), reading,
    )  # fmt: skip


_MOST_VERTICES = 1_000_000  # isolated ones take no room in the file, but they do in memory


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines that say something, with their numbers. A hyperedge without vertices is an empty line: kept."""
    lines = content.split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    begun = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith(b"%") or not (begun or line.strip()):
            continue
        begun = True
        yield number, line


def _header(number: int, line: bytes) -> tuple[int, int, bool, bool]:
    fields = [field.decode("ascii", errors="replace") for field in line.split()]
    kind = fields[2] if len(fields) == 3 else ""
    if len(fields) not in (2, 3) or not all(_is_count(f) for f in fields[:2]) or kind not in _KINDS:
        raise ValueError(
            f"line {number}: expected 'hyperedges vertices [0|1|10|11]'; found {short(' '.join(fields))}"
        )
    return int(fields[0]), int(fields[1]), *_KINDS[kind]


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19


def _vertices(fields: list[bytes], number: int, n_vertices: int) -> np.ndarray:
    for field in fields:
        if not (field.isdigit() and len(field) < 19 and 1 <= int(field) <= n_vertices):
            raise ValueError(
                f"line {number}: expected vertices from 1 to {n_vertices}; found "
                f"{short(field.decode(errors='replace'))}"
            )
    return np.array(fields, dtype=np.int64) if fields else np.empty(0, np.int64)


def _number(field: bytes, number: int, what: str) -> float:
    try:
        value = float(field)
        if not np.isfinite(value) or b"_" in field:
            raise ValueError
    except ValueError:
        raise ValueError(
            f"line {number}: expected {what}, a number; found {short(field.decode(errors='replace'))}"
        ) from None
    return value


def losses(hypergraph: Hypergraph) -> list[str]:
    """What of the numbers that modes depend on this format cannot hold."""
    lost = []
    if (hypergraph.incidence.data != 1).any():
        lost.append("p(v|e)")
    if (hypergraph.weights != np.floor(hypergraph.weights)).any():
        lost.append("weights w(e) that are not whole numbers")
    return lost


def write(hypergraph: Hypergraph, file: BinaryIO) -> None:
    """Write an hMETIS file: vertices by position, from 1; weights if any differs from 1, rounded up."""
    weights = np.ceil(hypergraph.weights)
    said = hypergraph.annotations
    of_vertices = None if said is None else said.vertices.weights
    if of_vertices is not None:
        of_vertices = np.where(np.isnan(of_vertices), 1.0, of_vertices)
        if (of_vertices != np.floor(of_vertices)).any():
            of_vertices = None  # annotations that a format has no place for are left out
    kind = {(False, False): "", (True, False): " 1", (False, True): " 10", (True, True): " 11"}[
        bool((weights != 1).any()), of_vertices is not None
    ]
    file.write(f"{hypergraph.n_edges} {hypergraph.n_vertices}{kind}\n".encode())
    indptr, members = hypergraph.incidence.indptr.tolist(), hypergraph.incidence.indices
    for i in range(hypergraph.n_edges):
        row = " ".join(map(str, (members[indptr[i] : indptr[i + 1]] + 1).tolist()))
        file.write(f"{int(weights[i])} {row}\n".encode() if kind in (" 1", " 11") else f"{row}\n".encode())
    if of_vertices is not None:
        file.write("".join(f"{int(weight)}\n" for weight in of_vertices).encode())
