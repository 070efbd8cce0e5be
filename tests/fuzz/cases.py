"""Cases by number: a valid file of some format, changed here and there, and what must hold of it."""

import gzip
import json
import random
import shutil
from io import BytesIO, StringIO
from pathlib import Path

import hypermodes as hm
from fuzz import plain
from hypermodes.interop.formats import format_of

MAX_BYTES = 1 << 24  # what files may unpack to; the process may take some times as much
TABLES = {"csv": (plain.table, ","), "tsv": (plain.table, "\t"), "parquet": (plain.parquet, None)}
PLAIN = {"hif": plain.hif, "list": plain.lines, "hmetis": plain.hmetis, "npz": plain.npz}
READERS = (*PLAIN, *TABLES)
POINTS = ("points.csv", "points.tsv", "points.txt", "points.npy", "points.parquet")
KINDS = (*READERS, *(f"{kind}.gz" for kind in READERS), *POINTS, "points.csv.gz", "folder")

_NAMES = ("a", "b", "Zoë", "x y", "7", "-0", "é\u00a0", "}],", '"', "# ", "null", "1e5")
_TOKENS = {
    "hif": [
        "{", "}", "[", "]", ",", ":", '"', "null", "NaN", "1e999", "-1", "0", "true", '"attrs":{}',
        '"weight":', '"edge":', '"direction":"tail"', "\\ud800", '"nodes":[],', "9" * 400, "{]", '"a"',
        "[[[[[[", "\ufeff",
    ],
    "table": [
        ",", "\n", "\r", "\r\n", '"', '""', "\t", " ", ";", "1e999", "nan", "inf", "-1", "0", "1_0", "\ufeff",
        "\u00a0", "\x00", "0x1p3", "9" * 400, "edge,node\n", ",,", "٣", "\n\n", "1,2",
    ],
    "hmetis": ["%", "\n", " ", "0", "-1", "99999999", "9" * 30, "11", "1e3", "nan", "+1", "1_0", "\r"],
}  # fmt: skip
_ODD_BYTES = (
    b"\0", b"\xff", b"\x80", b"\x7f", b"PK\3\4", b"\x93NUMPY", b"\1\0\0\0", b"\xff\xff\xff\x7f", b"(", b"8",
)  # fmt: skip


class Failure(AssertionError):
    """The project and the plain parser do not say the same, or an error is of the wrong kind."""


def run(kind, number, folder):
    """Do one case; whatever is wrong raises. ``folder`` is there to write to, and is empty again after it."""
    rng = random.Random(f"{kind} {number}")
    if kind == "folder":
        return _folder_case(rng, folder)
    if kind.startswith("points"):
        return _points_case(rng, kind, folder)
    return _file_case(rng, kind)


# -- files of hypergraphs -------------------------------------------------------------------------------


def content_of(kind, number):
    """The file of a case, to keep where it fails; empty where a case is a folder."""
    rng = random.Random(f"{kind} {number}")
    if kind == "folder":
        return b""
    return (_points_file if kind.startswith("points") else _file)(rng, kind)[0]


def _file(rng, kind):
    base, _, packed = kind.partition(".")
    header = rng.random() < 0.5
    content, width = _valid(rng, base, header)
    if packed and rng.random() < 0.5:
        content = _mutated(rng, gzip.compress(content, mtime=0), [])
    else:
        tokens = _TOKENS.get(base, _TOKENS["table"] if base in ("csv", "tsv", "list") else [])
        content = _mutated(rng, content, [token.encode() for token in tokens])
        content = gzip.compress(content, mtime=0) if packed else content
    return content, base, header, width


def _file_case(rng, kind):
    content, base, header, width = _file(rng, kind)
    options = {"directed": "ignore", "nonpositive": "aside", "max_bytes": MAX_BYTES}
    if base in TABLES:
        options |= {"duplicates": "last", "columns": list(range(width))}
    if base in ("csv", "tsv"):
        options |= {"header": header, "ids": "text", "delimiter": TABLES[base][1]}
    if base == "list":
        options |= {"ids": "text"}
    hypergraph = allowed(lambda: hm.read(BytesIO(content), format=base, **options), "path: ")
    if hypergraph is None:
        return "refused"
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    parse, delimiter = TABLES.get(base) or (PLAIN[base], None)
    same(hypergraph, lambda: parse(content, header=header, delimiter=delimiter, width=width))
    return "read"


def allowed(call, start):
    """What it gives, or None for an error of the one kind that is allowed."""
    try:
        return call()
    except (ValueError, OSError) as error:
        message = str(error)
        if (
            "\n" in message
            or len(message) > 1000
            or not message.startswith(start)
            or "MemoryError" in message
        ):
            raise Failure(f"the error is {message!r}") from error
        return None


def same(hypergraph, parse):
    """See that the plain parser says the same."""
    try:
        vertices, edges = parse()
    except Exception as error:
        raise Failure(f"it was read, and the plain parser refuses it: {error!r}") from error
    found = {}
    for i, label in enumerate(hypergraph.labels):
        low, high = hypergraph.incidence.indptr[i : i + 2]
        members = [hypergraph.vertices[v] for v in hypergraph.incidence.indices[low:high].tolist()]
        values = hypergraph.incidence.data[low:high].tolist()
        found[label] = (float(hypergraph.weights[i]), dict(zip(members, values, strict=True)))
    if set(hypergraph.vertices) != vertices or found != edges:
        raise Failure(f"read {set(hypergraph.vertices)}, {found}; the plain parser has {vertices}, {edges}")


def _valid(rng, base, header):
    if base == "hif":
        return _document(rng), 0
    if base == "list":
        mark = rng.choice((",", "\t", " "))
        names = [name for name in _NAMES[:7] if mark not in name]
        edges = (rng.sample(names, rng.randint(1, 4)) for _ in range(rng.randint(1, 5)))
        return "".join(mark.join(edge) + "\n" for edge in edges).encode(), 0
    hypergraph = _hypergraph(rng, texts=base in TABLES, soft=base != "hmetis")
    stream = BytesIO()
    format_of("", base).write(hypergraph, stream)
    content = stream.getvalue()
    width = 2 + hypergraph.is_soft + bool((hypergraph.weights != 1).any())
    if base in ("csv", "tsv"):
        if (
            not hypergraph.is_soft and width == 3
        ):  # the third of columns by number is the weight of incidences
            width = 2
            content = b"".join(
                row.rpartition(b"," if base == "csv" else b"\t")[0] + b"\n" for row in content.splitlines()
            )
        content = content if header else content.partition(b"\n")[2]
    if base == "hmetis" and rng.random() < 0.3:
        content = b"% a comment\n" + content
    return content, width


def _hypergraph(rng, texts, soft):
    names = [rng.choice(_NAMES[:7] if texts else range(9)) for _ in range(6)]
    edges = [sorted(set(rng.sample(names, rng.randint(1, 4))), key=str) for _ in range(rng.randint(1, 5))]
    weights = [rng.choice((1, 2, 0.5)) for _ in edges] if soft and rng.random() < 0.5 else None
    if soft and rng.random() < 0.5:
        edges = [{v: rng.choice((1.0, 0.5, 0.1, 1 / 3)) for v in edge} for edge in edges]
    labels = [f"e{i}" for i in range(len(edges))] if texts else None
    return hm.Hypergraph.from_edges(edges, weights, labels=labels)


def _document(rng):
    def record(**keys):
        for key, values in (("weight", (1, 0.5, 3, 0, 1e-3)), ("attrs", ({}, {"x": [1, {"y": None}]}))):
            if rng.random() < 0.2:
                keys[key] = rng.choice(values)
        return keys

    names = [rng.choice((*_NAMES, 1, 2, 30)) for _ in range(5)]
    document = {
        "incidences": [
            record(edge=rng.choice(names), node=rng.choice(names)) for _ in range(rng.randint(1, 6))
        ]
    }
    for one in document["incidences"]:
        if rng.random() < 0.1:
            one["direction"] = rng.choice(("head", "tail"))
    for level in ("node", "edge"):
        if rng.random() < 0.3:
            document[f"{level}s"] = [record(**{level: name}) for name in rng.sample(names, 2)]
    if rng.random() < 0.2:
        document |= {"network-type": rng.choice(("undirected", "directed", "asc")), "metadata": {"a": [1.5]}}
    keys = list(document)
    rng.shuffle(keys)
    indent, plain_text = rng.choice((None, None, 1)), rng.random() < 0.5
    return json.dumps({key: document[key] for key in keys}, indent=indent, ensure_ascii=plain_text).encode()


# -- points ---------------------------------------------------------------------------------------------


def _points_file(rng, kind):
    import numpy as np

    _, base, *packed = kind.split(".")
    n, d, header = rng.randint(1, 5), rng.randint(1, 3), rng.random() < 0.5
    rows = [[rng.choice((1.5, -2.0, 1e9, 0.1, 3.0)) for _ in range(d)] for _ in range(n)]
    delimiter = {"csv": rng.choice(",;\t"), "tsv": "\t", "txt": None}.get(base, ",")
    if base == "npy":
        stream = BytesIO()
        np.save(stream, np.asfortranarray(rows) if rng.random() < 0.3 else np.array(rows))
        content = stream.getvalue()
    elif base == "parquet":
        import pyarrow.parquet

        stream = BytesIO()
        columns = dict(zip("xyz", zip(*rows, strict=True), strict=False))
        pyarrow.parquet.write_table(pyarrow.table({name: list(one) for name, one in columns.items()}), stream)
        content = stream.getvalue()
    else:
        lines = [["x", "y", "z"][:d]] * header + [list(map(repr, row)) for row in rows]
        content = "".join((delimiter or " ").join(line) + "\n" for line in lines).encode()
    tokens = [token.encode() for token in _TOKENS["table"]] if base in ("csv", "tsv", "txt") else []
    content = _mutated(rng, content, tokens)
    return (gzip.compress(content, mtime=0) if packed else content), base, header


def _points_case(rng, kind, folder):
    content, base, header = _points_file(rng, kind)
    path = folder / f"file.{kind}"
    path.write_bytes(content)
    said = {"header": header} if base in ("csv", "tsv", "txt") else {}
    table = allowed(lambda: hm.read_points(path, max_bytes=MAX_BYTES, **said), "points: ")
    path.unlink()
    if table is None:
        return "refused"
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    try:
        _same_points(table, content, base, header)
    except Failure:
        raise
    except Exception as error:
        raise Failure(f"it was read, and the plain parser refuses it: {error!r}") from error
    return "read"


def _same_points(table, content, base, header):
    if base == "npy":
        shape, numbers = plain.npy(content)
        if table.points.shape != shape or table.points.ravel().tolist() != [float(x) for x in numbers]:
            raise Failure(f"read {table.points.tolist()}; the plain parser has {shape}, {numbers}")
        return
    if base == "parquet":
        import pyarrow.parquet

        rows = pyarrow.parquet.read_table(pyarrow.BufferReader(content)).to_pylist()
        names, rows = list(rows[0]), [list(row.values()) for row in rows]
    else:
        lines = list(StringIO(content.decode("utf-8-sig"), newline=""))
        while not lines[0].strip():
            lines.pop(0)
        head = lines[0].lstrip("# ") if lines[0][0] == "#" else lines[0]
        content = "".join([head, *lines[1:]]).encode()
        marks = {"csv": "\t;,|", "tsv": "\t", "txt": "\t;,"}[base]
        mark = next((mark for mark in marks if mark in head), None if base == "txt" else marks[-1])
        names, rows = plain.points(content, header, mark)
    if len(set(names)) < len(names):
        return  # which of them was read, no name tells
    for name, found in zip(table.columns, table.points.T.tolist(), strict=True):
        expected = [float(row[names.index(name)]) for row in rows]
        if found != expected:
            raise Failure(f"column {name!r} was read as {found}; the plain parser has {expected}")


# -- folders --------------------------------------------------------------------------------------------


def _folder_case(rng, folder):
    path = folder / "hypergraph"
    hm.write_folder(_hypergraph(rng, texts=rng.random() < 0.5, soft=rng.random() < 0.5), path)
    try:
        victim = rng.choice(sorted(path.iterdir()))
        content = _mutated(rng, victim.read_bytes(), [token.encode() for token in _TOKENS["hif"]])
        victim.write_bytes(content)
        hypergraph = allowed(lambda: hm.open(path, verify=True), "path: ")
        if hypergraph is None:
            return "refused"
        same(hypergraph, lambda: plain.folder(path))
        return "read"
    finally:
        shutil.rmtree(path)


# -- changes --------------------------------------------------------------------------------------------


def _mutated(rng, content, tokens):
    """Content with some changes; sometimes none."""
    content = bytearray(content)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 6))):
        i, j = sorted(rng.randint(0, len(content)) for _ in range(2))
        j = min(j, i + rng.choice((1, 2, 8, 64)))
        way = rng.randrange(7)
        if way == 0 and content:
            content[min(i, len(content) - 1)] = rng.randrange(256)
        elif way == 1:
            del content[i:j]
        elif way == 2:
            content[i:i] = content[i:j]
        elif way == 3 and tokens:
            content[i:i] = rng.choice(tokens)
        elif way == 4:
            content[i : i + 1] = rng.choice((*tokens, *_ODD_BYTES))
        elif way == 5 and rng.random() < 0.3:
            del content[i:]
        elif way == 6:
            content[j:j] = content[i:j][::-1]
    return bytes(content)


def kept(folder: Path, kind, number, error):
    """Keep the file of a case that failed, and what was wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    name = folder / f"{number}.{kind}"
    name.write_bytes(content_of(kind, number))
    Path(f"{name}.error.txt").write_text(f"{error}\n", encoding="utf-8", errors="backslashreplace")
    return name
