"""A bounded run of the fuzzer, and that it can find something."""

import numpy as np
import pytest

import hypermodes as hm
from fuzz import cases
from fuzz.cases import KINDS, Failure, run


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files_are_read_as_a_plain_parser_reads_them_or_refused_in_one_line(kind, tmp_path):
    if "parquet" in kind:
        pytest.importorskip("pyarrow")
    results = {run(kind, number, tmp_path) for number in range(150)}
    assert results == {"read", "refused"}  # neither is rare


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("points.tsv", 708),
        ("points.txt", 331),
        ("points.tsv", 15223),
        ("points.tsv", 17449),
        ("parquet", 17839),
        ("points.tsv", 172689),
        ("hmetis", 176015),
        ("folder", 328580),
    ],
)
def test_what_was_once_read_wrongly(kind, number, tmp_path):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    assert run(kind, number, tmp_path) == "refused"


def _run_many(kind, folder):
    for number in range(100):
        run(kind, number, folder)


def _misread(hypergraph):
    data = hypergraph.incidence.data * 0.5
    return hm.Hypergraph(
        type(hypergraph.incidence)((data, *_ends(hypergraph)), shape=hypergraph.incidence.shape)
    )


def _ends(hypergraph):
    return hypergraph.incidence.indices, hypergraph.incidence.indptr


@pytest.mark.parametrize(
    "wrong",
    [
        lambda hypergraph: _misread(hypergraph),
        lambda hypergraph: hm.Hypergraph(hypergraph.incidence, hypergraph.weights * 2, hypergraph.vertices),
        lambda hypergraph: hm.Hypergraph(hypergraph.incidence, hypergraph.weights, labels=hypergraph.labels),
    ],
)
def test_what_is_read_wrongly_is_found(monkeypatch, tmp_path, wrong):
    read = hm.read
    monkeypatch.setattr(hm, "read", lambda *given, **options: wrong(read(*given, **options)))
    with pytest.raises(Failure, match="plain parser has"):
        _run_many("csv", tmp_path)


@pytest.mark.parametrize(
    "error", [KeyError("x"), ValueError("path: two\nlines"), ValueError("no path"), MemoryError()]
)
def test_errors_of_another_kind_are_found(monkeypatch, tmp_path, error):
    def fail(*given, **options):
        raise error

    monkeypatch.setattr(cases.hm, "read", fail)
    with pytest.raises((Failure, KeyError, MemoryError)):
        run("csv", 0, tmp_path)


def test_points_that_are_read_wrongly_are_found(monkeypatch, tmp_path):
    read = hm.read_points

    def wrong(*given, **options):
        table = read(*given, **options)
        return hm.PointTable(np.abs(table.points), table.columns, table.ids)

    monkeypatch.setattr(hm, "read_points", wrong)
    with pytest.raises(Failure, match="the plain parser has"):
        _run_many("points.csv", tmp_path)
