"""One hyperedge a line, its vertices separated by commas, tabs or spaces: ``.txt`` and ``.edges``."""

from typing import BinaryIO

import numpy as np

from hypermodes.annotations import Records
from hypermodes.edge_lists import factorised
from hypermodes.hypergraph import Hypergraph
from hypermodes.interop.building import Listing, Reading, build, short
from hypermodes.interop.tables import SPACES, cell_texts, decoded, identified


def read(content: bytes, reading: Reading) -> Hypergraph:
    """Read a list: hyperedges are called 0, 1, 2, … in the order of the lines; blank lines are passed over.

    If there is a comma anywhere, vertices are separated by commas; otherwise by tabs if there is one;
    otherwise by spaces. A line that begins with ``# `` or ``% `` is a comment, and does not count.
    """
    lines = _lines(decoded(content))
    mark = reading.delimiter
    if mark is None:
        mark = next((mark for mark in (",", "\t") if any(mark in line for _, line in lines)), None)
    members: list[str] = []
    sizes: list[int] = []
    for number, line in lines:
        fields = [field.strip(SPACES) for field in line.split(mark or " ")]
        if mark is None:
            fields = list(filter(None, fields))
        elif fields[-1] == "" and len(fields) > 1:
            fields.pop()  # a mark at the end of the line
        if "" in fields:
            raise ValueError(f"line {number}: expected vertices separated by {mark!r}; found {short(line)}")
        members += fields
        sizes.append(len(fields))
    if not sizes:
        raise ValueError("expected one hyperedge a line; the file is empty")
    codes, names = factorised("vertices", identified(members, reading.ids))
    edges = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    listing = Listing(edges, codes, Records(len(codes)))
    return build(range(len(sizes)), names, listing, Records(len(sizes)), Records(len(names)), reading)


def _lines(text: str) -> list[tuple[int, str]]:
    """Lines that are neither blank nor comments, with their numbers; they end in LF, CR LF or CR."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    said = ((number, line.lstrip(" ")) for number, line in enumerate(lines, 1))
    return [
        (number, line.rstrip(" "))
        for number, line in said
        if line.strip(SPACES) and line[:2] not in ("# ", "% ")
    ]


def losses(hypergraph: Hypergraph) -> list[str]:
    """What of the numbers that modes depend on this format cannot hold."""
    lost = []
    if (hypergraph.incidence.data != 1).any():
        lost.append("p(v|e)")
    if (hypergraph.weights != 1).any():
        lost.append("weights w(e)")
    if (np.diff(hypergraph.incidence_by_vertex.indptr) == 0).any():
        lost.append("isolated vertices")
    return lost


def write(hypergraph: Hypergraph, file: BinaryIO) -> None:
    """Write one hyperedge a line, vertices separated by commas."""
    names = cell_texts("vertices", hypergraph.vertices, ",")
    for name in names:
        if name[0] in '"\ufeff' or name[:2] in ("# ", "% "):
            raise ValueError(f"vertices: a list cannot hold the name {short(name)}")
    indptr, members = hypergraph.incidence.indptr.tolist(), hypergraph.incidence.indices
    if hypergraph.incidence.nnz == hypergraph.n_edges and any(" " in name or "\t" in name for name in names):
        raise ValueError(
            "vertices: in a list where every hyperedge has one vertex, names cannot have spaces: no comma "
            "would say what separates them"
        )
    for i in range(hypergraph.n_edges):
        file.write((",".join(names[v] for v in members[indptr[i] : indptr[i + 1]].tolist()) + "\n").encode())
