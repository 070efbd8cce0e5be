"""HIF documents, written, read and compared as sets of records."""

import json
from contextlib import contextmanager
from importlib.util import find_spec
from io import BytesIO

import hypermodes as hm
from hypermodes.interop import hif, tables
from hypermodes.interop.building import Reading
from hypermodes.interop.formats import format_of

TABLES = ["csv", "tsv", *(["parquet"] if find_spec("pyarrow") else [])]
KINDS = ["hif", *TABLES, "list", "hmetis", "npz"]


def read_text(text, kind="hif", **options):
    content = text if isinstance(text, bytes) else text.encode()
    return hm.read(BytesIO(content), format=kind, **options)


def read_document(document, **options):
    return read_text(json.dumps(document), **options)


def written(hypergraph, kind="hif"):
    stream = BytesIO()
    format_of("", kind).write(hypergraph, stream)
    return stream.getvalue()


def again(hypergraph, kind="hif", **options):
    return format_of("", kind).read(written(hypergraph, kind), Reading(**options))


def as_sets(document):
    """The same for documents that say the same: records in any order, 1 and 1.0 alike."""
    return {
        key: sorted(json.dumps(_plain(one), sort_keys=True) for one in value)
        if key in ("incidences", "nodes", "edges")
        else _plain(value)
        for key, value in document.items()
        if not (key in ("nodes", "edges") and not value)
    }


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


WAYS = {"in pieces": (30, 2), "at once": (1 << 16, 1 << 9)}
"""Characters of JSON and rows of tables that are taken in at a time."""


@contextmanager
def reading_by(way):
    """For Hypothesis, whose examples share fixtures."""
    before = hif._PIECE, tables._ROWS
    hif._PIECE, tables._ROWS = WAYS[way]
    try:
        yield
    finally:
        hif._PIECE, tables._ROWS = before
