"""Plain parsers of every format: literal, slow, of the standard library (but Parquet), to compare with.

Each gives (vertices, hyperedges): a set of names, and by name of each hyperedge its weight and the p(v|e) of
its vertices. Whatever is wrong with a file may raise anything.
"""

import ast
import csv
import io
import json
import math
import re
import struct
import zipfile

NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)


class Refused(Exception):
    """The file is no such file."""


def need(truth):
    """Raise unless this is so."""
    if not truth:
        raise Refused


# -- from what is listed to hyperedges ------------------------------------------------------------------


def built(vertices, incidences, edge_weights):
    """By the policies that the fuzzer asks for; incidences are (edge, vertex, weight or None)."""
    said = {}
    for edge, vertex, weight in incidences:
        vertices = vertices | {vertex}
        before = said.setdefault((edge, vertex), None)
        said[edge, vertex] = before if weight is None else weight
    kept = {
        pair: 1.0 if weight is None else weight
        for pair, weight in said.items()
        if (weight is None or weight > 0) and edge_weights.get(pair[0], 1) > 0
    }
    need(kept)
    edges = {}
    for (edge, vertex), weight in kept.items():
        edges.setdefault(edge, (float(edge_weights.get(edge, 1)), {}))[1][vertex] = weight
    if max(kept.values()) > 1:
        for _, members in edges.values():
            largest = max(members.values())
            for vertex in members:
                members[vertex] /= largest
    return vertices, edges


# -- text -----------------------------------------------------------------------------------------------


def _once(pairs):
    """A JSON object in which no key comes twice."""
    need(len({key for key, _ in pairs}) == len(pairs))
    return dict(pairs)


def hif(content, **_):
    """JSON, and every rule of HIF."""
    document = json.loads(content.decode("utf-8-sig"), parse_constant=need, object_pairs_hook=_once)
    top = {"network-type", "metadata", "incidences", "nodes", "edges"}
    need(type(document) is dict and set(document) <= top and "incidences" in document)
    need(document.get("network-type", "asc") in ("undirected", "directed", "asc"))
    need(type(document.get("metadata", {})) is dict)
    _no_infinity(document.get("metadata", {}))
    vertices, weights, incidences = set(), {}, {}
    for level in ("nodes", "edges", "incidences"):
        keys = {"nodes": {"node"}, "edges": {"edge"}, "incidences": {"edge", "node"}}[level]
        may = {"weight", "attrs"} | ({"direction"} if level == "incidences" else set())
        need(type(document.get(level, [])) is list)
        for record in document.get(level, []):
            need(type(record) is dict and keys <= set(record) <= keys | may)
            need(all(type(record[key]) in (str, int) for key in keys))
            need(
                type(record.get("attrs", {})) is dict and record.get("direction", "head") in ("head", "tail")
            )
            _no_infinity(record.get("attrs", {}))
            weight = record.get("weight")
            need("weight" not in record or (type(weight) in (int, float) and math.isfinite(weight)))
            if level == "nodes":
                vertices.add(record["node"])
            elif level == "edges" and weight is not None:
                weights[record["edge"]] = weight
            elif level == "incidences":
                direction = (None, "head", "tail").index(record.get("direction"))
                pair = incidences.setdefault((record["edge"], record["node"]), {})
                pair[direction] = weight if weight is not None else pair.get(direction)
    listed = [(edge, vertex, pair[min(pair)]) for (edge, vertex), pair in incidences.items()]
    return built(vertices, listed, weights)


def _no_infinity(value):
    for part in value.values() if type(value) is dict else value:
        need(type(part) is not float or math.isfinite(part))
        if type(part) in (dict, list):
            _no_infinity(part)


def table(content, header, delimiter, width, **_):
    """Rows of edge, node, weight, edge weight."""
    rows = list(
        csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=delimiter, strict=True)
    )
    rows = [[cell.strip(" \t") for cell in row] for row in rows]
    rows = [row for row in rows if len(row) > 1 or (row and row[0])][header:]
    need(rows)
    return of_rows([[cell or None for cell in row] for row in rows], width)


def of_rows(rows, width):
    """The hypergraph of rows of cells; None is an empty cell."""
    vertices, incidences, weights = set(), [], {}
    for row in rows:
        need(len(row) == len(rows[0]) >= width)
        row = row[:width]
        edge, vertex, weight, edge_weight = (*row, None, None)[:4]
        weight, edge_weight = _number(weight), _number(edge_weight)
        need(edge is not None or vertex is not None)
        if edge is not None and edge_weight is not None:
            need(weights.setdefault(edge, edge_weight) == edge_weight)
        if vertex is not None:
            vertices.add(vertex)
        if edge is not None and vertex is not None:
            incidences.append((edge, vertex, weight))
    return built(vertices, incidences, weights)


def _number(cell):
    if type(cell) is str:
        need(NUMBER.fullmatch(cell))
    if cell is None:
        return None
    need(math.isfinite(float(cell)))
    return float(cell)


def lines(content, **_):
    """One hyperedge a line."""
    text = content.decode("utf-8-sig")
    lines = [line.lstrip(" ") for line in re.split("\r\n|\r|\n", text)]
    lines = [line for line in lines if line.strip(" \t") and not line.startswith(("# ", "% "))]
    text = "\n".join(lines)
    mark = "," if "," in text else "\t" if "\t" in text else " "
    incidences = []
    for n, line in enumerate(lines):
        line = line.rstrip(" ")
        names = [name.strip(" \t") for name in line.split(mark)]
        if mark == " ":
            names = [name for name in names if name]
        elif len(names) > 1 and not names[-1]:
            names = names[:-1]
        need(all(names))
        incidences += [(n, name, None) for name in names]
    return built(set(), incidences, {})


def hmetis(content, **_):
    """Numbers of vertices, one hyperedge a line."""
    rows = [row for row in content.split(b"\n") if not row.lstrip().startswith(b"%")]
    while rows and not rows[-1].strip():
        rows.pop()
    while rows and not rows[0].strip():
        rows.pop(0)
    head = rows.pop(0).split()
    need(2 <= len(head) <= 3 and all(word.isdigit() for word in head))
    n_edges, n_vertices = int(head[0]), int(head[1])
    kind = head[2] if len(head) == 3 else b"0"
    need(kind in (b"0", b"00", b"1", b"01", b"10", b"11"))
    weighted, of_vertices = kind in (b"1", b"01", b"11"), kind in (b"10", b"11")
    need(len(rows) == n_edges + of_vertices * n_vertices)
    incidences, weights = [], {}
    for i, row in enumerate(rows):
        words = row.split()
        if i >= n_edges or weighted:
            weight = float(words.pop(0))
            need(math.isfinite(weight))
        if i >= n_edges:
            need(not words)
            continue
        if weighted:
            weights[i] = weight
        need(all(word.isdigit() and 1 <= int(word) <= n_vertices for word in words))
        incidences += [(i, int(word), None) for word in words]
    return built(set(range(1, n_vertices + 1)), incidences, weights)


# -- arrays ---------------------------------------------------------------------------------------------

_CODES = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q", "u4": "I", "u2": "H",
          "u1": "B", "b1": "?"}  # fmt: skip


def npy(content):
    """Shape and numbers, in rows, of an array; text as text."""
    need(content[:6] == b"\x93NUMPY" and content[6:8] in (b"\1\0", b"\2\0"))
    form = "<H" if content[6] == 1 else "<I"
    (length,) = struct.unpack_from(form, content, 8)
    start = 8 + struct.calcsize(form)
    head = ast.literal_eval(content[start : start + length].decode("latin-1").strip())
    kind, shape, body = head["descr"], head["shape"], content[start + length :]
    size = math.prod(shape)
    if kind[1] == "U":
        width = 4 * int(kind[2:])
        need(width and len(body) == size * width)
        cells = [body[i * width : (i + 1) * width] for i in range(size)]
        return shape, [
            cell.decode("utf-32-le" if kind[0] == "<" else "utf-32-be").rstrip("\0") for cell in cells
        ]
    order = ">" if kind[0] == ">" else "<"
    numbers = struct.unpack(f"{order}{size}{_CODES[kind[1:]]}", body)
    if head["fortran_order"] and len(shape) == 2:
        numbers = [numbers[j * shape[0] + i] for i in range(shape[0]) for j in range(shape[1])]
    return shape, list(numbers)


def npz(content, **_):
    """The archive of `Hypergraph.save`."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name.removesuffix(".npy"): npy(archive.read(name)) for name in archive.namelist()}
    need(parts.pop("format")[1] == ["hypermodes-hypergraph-1"])
    if "members" in parts:
        need(set(parts.pop("members")[1]) == set(parts))
    numbers = {name: values for name, (_, values) in parts.items()}
    return of_columns(
        numbers["shape"], numbers["indptr"], numbers["indices"], numbers["data"], numbers["weights"],
        *(json.loads(bytes(numbers[name])) for name in ("vertices", "labels")),
    )  # fmt: skip


def of_columns(shape, indptr, indices, data, weights, vertices, labels):
    """The hypergraph of compressed columns."""
    n_vertices, n_edges = shape
    vertices, labels = (list(range(one["range"])) if type(one) is dict else one for one in (vertices, labels))
    vertices, labels = ([_label(one) for one in names] for names in (vertices, labels))
    need((len(vertices), len(labels)) == (n_vertices, n_edges) == (len(vertices), len(weights)))
    need(indptr[0] == 0 and indptr[-1] == len(indices) == len(data) and len(indptr) == n_edges + 1)
    need(sorted(indptr) == indptr)
    edges = {}
    for i, label in enumerate(labels):
        members = {}
        for k in range(indptr[i], indptr[i + 1]):
            need(0 <= indices[k] < n_vertices)
            vertex = vertices[indices[k]]
            members[vertex] = members.get(vertex, 0.0) + float(data[k])
        members = {vertex: p for vertex, p in members.items() if p != 0}
        need(members and all(0 < p <= 1 for p in members.values()) and weights[i] > 0)
        edges[label] = (float(weights[i]), members)
    need(len(edges) == n_edges and len(set(vertices)) == n_vertices)
    return set(vertices), edges


def _label(one):
    need(one == one)
    return tuple(map(_label, one["tuple"])) if type(one) is dict else one


def folder(path):
    """A folder of columns, as `hm.open` takes it."""
    meta = json.loads((path / "meta.json").read_bytes())
    column = {name: npy((path / f"{name}.npy").read_bytes())[1] for name in meta["columns"]}
    names = {
        name: json.loads((path / f"{name}.json").read_bytes())
        if name in meta["names"]
        else {"range": meta[size]}
        for name, size in (("vertices", "n_vertices"), ("labels", "n_edges"))
    }
    return of_columns(
        (meta["n_vertices"], meta["n_edges"]), column["edge_pointers"], column["edge_vertices"],
        column["edge_values" if meta["soft"] else "ones"], column["weights"],
        names["vertices"], names["labels"],
    )  # fmt: skip


def parquet(content, width, **_):
    """Rows as pyarrow gives them one by one; there is no parser of Parquet in the standard library."""
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(pyarrow.BufferReader(content)).to_pylist()
    return of_rows([list(row.values()) for row in rows], width)


# -- points ---------------------------------------------------------------------------------------------


def points(content, header, delimiter, **_):
    """Names of columns, and cells as text, of a table of points."""
    text = content.decode("utf-8-sig")
    if delimiter is None:
        rows = [line.split() for line in io.StringIO(text, newline="")]
    else:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    rows = [row for row in rows if len(row) > 1 or (row and row[0].strip())]
    names = [name.strip() for name in rows[0]] if header else [str(k + 1) for k in range(len(rows[0]))]
    need(all(len(row) == len(names) for row in rows))
    return names, rows[header:]
