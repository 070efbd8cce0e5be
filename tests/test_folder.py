"""Hypergraphs on disk: what is written is what is opened, in whatever blocks; what is broken is refused."""

import copy
import dataclasses
import errno
import gc
import json
import os
import pickle
import subprocess
import sys
import tracemalloc
from contextlib import nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import hypermodes as hm
from hypermodes import FolderWriter, Hypergraph, batch, columns, find_modes, transposing, write_folder
from hypermodes import folder as on_disk
from hypermodes import labels as names
from hypermodes.annotations import NUMBERS, TEXTS, Annotations, Records
from hypermodes.batch import Budget, Prepared
from hypermodes.folder import digest_of_meta
from hypermodes.gathering import shift_rows
from hypermodes.prepare import lay_out
from hypermodes.transposing import row_ranges
from strategies import hypergraphs

LABELS = ["text", 7, 2.5, True, None, ("a", 1), ("deep", (None, ("er", 0.5)))]


def ring(n, width, shift=0):
    """Hyperedge i is i, …, i + width - 1 on a ring of n vertices."""
    return (np.arange(n)[:, None] + np.arange(width) + shift) % n


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "ring"
    write_folder(Hypergraph.from_edges(np.vstack((ring(30, 3), ring(30, 3)[:9]))), path)
    return path


@given(hypergraphs(), st.sampled_from([1, 1 << 10, 1 << 28]))
def test_what_is_written_is_opened(tmp_path_factory, hypergraph, memory):
    path = tmp_path_factory.mktemp("round") / "trip"
    write_folder(hypergraph, path, memory=memory)
    opened = hm.open(path, verify=True)
    assert opened == hypergraph
    assert type(opened.labels) is type(hypergraph.labels)
    assert repr(opened) == repr(hypergraph)
    assert np.array_equal(opened.edge_degrees, hypergraph.edge_degrees)
    ours, theirs = opened.incidence_by_vertex, hypergraph.incidence_by_vertex
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    assert [path.name for path in path.parent.iterdir()] == ["trip"]


def annotated():
    said = Annotations(
        Records(3, weights=[1.0, np.nan, 2.0]),
        Records(2, listed=[True, False], attributes=({"kind": "x"}, None)),
        Records(4, directions=[1, 2, 0, 1]),
        network_type="directed",
        metadata={"name": "zwölf"},
        empty_edges=("none", 7),
        empty=Records(2, weights=[5.0, np.nan]),
        aside=({"edge": "e", "node": "c", "weight": 0},),
    )
    return Hypergraph.from_edges([["a", "b"], ["b", "c"]], labels=["e", "f"], annotations=said)


def test_what_is_said_beyond_is_kept(tmp_path):
    hypergraph = annotated()
    write_folder(hypergraph, tmp_path / "said")
    opened = hm.open(tmp_path / "said", verify=True)
    assert opened == hypergraph
    assert pickle.loads(pickle.dumps(opened)) == hypergraph
    assert opened.subset(["f"]) == hypergraph.subset(["f"])
    with pytest.raises(ValueError, match="read-only"):
        opened.annotations.vertices.weights[0] = 7
    with (
        pytest.raises(ValueError, match="annotations: expected records of 4 incidences; got 2"),
        FolderWriter(tmp_path / "other", 3, annotations=replaced(hypergraph.annotations)) as writer,
    ):
        writer.append(hypergraph)
    assert [path.name for path in tmp_path.iterdir()] == ["said"]
    with pytest.raises(ValueError, match="annotations: expected Annotations or None; got 'text'"):
        FolderWriter(tmp_path / "other", 3, annotations="text")


def replaced(annotations):
    return dataclasses.replace(annotations, incidences=Records(2))


@pytest.mark.parametrize("name", ["json", "empty_edges"])
def test_what_is_said_is_not_read_when_it_was_changed(tmp_path, name):
    write_folder(annotated(), tmp_path / "said")
    path = tmp_path / "said" / f"annotations_{name}.npy"
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"annotations_{name}.npy is not as it was written"):
        hm.open(tmp_path / "said")
    path.unlink()
    with pytest.raises(ValueError, match=f"annotations_{name}.npy is missing"):
        hm.open(tmp_path / "said")


NAMED = {
    "not": lambda n: None,
    "by text": lambda n: [f"e{i}" for i in range(n)],
    "by their numbers": lambda n: list(range(n)),
    "by numbers, backwards": lambda n: list(range(n))[::-1],
    "by other numbers": lambda n: [3 * i + 1 for i in range(n)],
    "by numbers in the beginning": lambda n: [i if i < 3 else str(i) for i in range(n)],
}


@given(
    hypergraphs(),
    st.integers(1, 4),
    st.sampled_from([1, 1 << 28]),
    st.sampled_from(sorted(NAMED)),
    st.booleans(),
)
def test_blocks_make_the_same_files_as_the_whole(
    tmp_path_factory, hypergraph, size, memory, named, as_hypergraphs
):
    place, n = tmp_path_factory.mktemp("blocks"), hypergraph.n_edges
    labels = NAMED[named](n)
    whole = Hypergraph.from_incidence(hypergraph.incidence, hypergraph.weights, hypergraph.vertices, labels)
    write_folder(whole, place / "whole")
    with FolderWriter(
        place / "blocks", hypergraph.n_vertices, vertices=hypergraph.vertices, memory=memory
    ) as writer:
        for low in range(0, n, size):
            block = whole.subset(whole.labels[low : low + size])
            if as_hypergraphs:
                writer.append(block)
            else:
                writer.append(
                    block.incidence, block.weights, None if labels is None else labels[low : low + size]
                )
    assert sorted(os.listdir(place / "whole")) == sorted(os.listdir(place / "blocks"))
    for path in (place / "whole").iterdir():
        assert path.read_bytes() == (place / "blocks" / path.name).read_bytes(), path.name


@given(hypergraphs())
def test_the_stored_rows_are_those_that_would_be_laid_out(tmp_path_factory, hypergraph):
    path = tmp_path_factory.mktemp("rows") / "trip"
    write_folder(hypergraph, path, memory=1)
    graph, class_of = lay_out(hm.HyperedgeAffinity(hm.open(path)))
    expected, expected_class = lay_out(hm.HyperedgeAffinity(hypergraph))
    assert np.array_equal(class_of, expected_class)
    for name, ours, theirs in zip(graph._fields, graph, expected, strict=True):
        assert ours.dtype == theirs.dtype, name
        assert np.array_equal(ours, theirs), name


@given(hypergraphs())
def test_modes_on_disk_are_modes_in_memory(tmp_path_factory, hypergraph):
    path = tmp_path_factory.mktemp("modes") / "trip"
    write_folder(hypergraph, path)
    ours, theirs = find_modes(hm.open(path)), find_modes(hypergraph)
    assert np.array_equal(ours.edge_mode, theirs.edge_mode)
    for name, column in vars(ours.table).items():
        assert np.array_equal(column, getattr(theirs.table, name), equal_nan=column.dtype.kind == "f"), name


# Each starts with the kernels, on a tiny hypergraph, in what a process may have; then with a large one.
_LIMITED = """
import hashlib, resource, sys
path, limit, place = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if limit:
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
import hypermodes as hm
H = hm.open(path)
if place == "memory":
    H = hm.Hypergraph.from_incidence(H.incidence)
modes = hm.find_modes(H, starts=range(0, H.n_edges, H.n_edges // 5), n_jobs=1)
digest = hashlib.blake2b(modes.edge_mode.tobytes())
for column in vars(modes.table).values():
    digest.update(column.tobytes())
print(digest.hexdigest())
"""
MEGABYTE = 1 << 20


def shifted(path, limit, place="disk"):
    """What a process finds from some starts that may have ``limit`` bytes, or what became of it."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-c", _LIMITED, str(path), str(limit), place]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA counts all memory on Linux only")
def test_what_is_three_times_larger_than_memory_is_shifted_and_cannot_be_held(tmp_path):
    width = 1200  # few hyperedges, so that what is kept of each is little beside what they hold
    with TemporaryDirectory(dir=tmp_path) as place:
        tiny, large = Path(place) / "tiny", Path(place) / "large"
        write_folder(Hypergraph.from_edges(ring(30, 3)), tiny)
        assert shifted(tiny, 0).returncode == 0  # kernels are compiled, or loaded
        limits = [megabytes * MEGABYTE for megabytes in (192, 208, 256, 320)]
        limit = next(limit for limit in limits if shifted(tiny, limit - 4 * MEGABYTE, "memory").stdout)
        n = 3 * limit // (16 * width)
        write_folder(
            (low + ring(4000, width)[: min(1000, n - low)] for low in range(0, n, 1000)),
            large,
            n_vertices=n + 4000,
            memory=1 << 24,
        )
        assert sum(path.stat().st_size for path in large.iterdir()) >= 3 * limit
        limited = shifted(large, limit)
        assert limited.returncode == 0, limited.stderr
        assert limited.stdout == shifted(large, 0).stdout
        held = shifted(large, limit, "memory")
        assert held.returncode == 1
        assert "MemoryError" in held.stderr


def test_larger_ones_have_the_same_modes_in_an_order_of_their_own(tmp_path):
    rng = np.random.default_rng(0)
    points = np.sort(rng.normal(size=1500))
    nearest = np.argsort(np.abs(points[:, None] - points), axis=1, kind="stable")[:, :7]
    hypergraph = Hypergraph.from_edges(nearest, vertices=range(1500))
    write_folder(hypergraph, tmp_path / "points")
    ours, theirs = find_modes(hm.open(tmp_path / "points")), find_modes(hypergraph)
    supports = [[tuple(mode.support) for mode in modes] for modes in (ours, theirs)]
    assert sorted(supports[0]) == sorted(supports[1])
    for i, j in zip(ours.edge_mode, theirs.edge_mode, strict=True):
        assert supports[0][i] == supports[1][j]
    assert np.allclose(ours.densities, theirs.densities, rtol=1e-12)


def test_memory_does_not_grow_with_the_incidences(tmp_path):
    n, width = 8000, 120
    with FolderWriter(tmp_path / "wide", n, memory=1 << 20) as writer:
        tracemalloc.start()
        for low in range(0, n, 100):
            writer.append((np.arange(low, low + 100)[:, None] + np.arange(width)) % n)
        writer.close()
        written = tracemalloc.get_traced_memory()[1]
    on_disk = sum(path.stat().st_size for path in (tmp_path / "wide").iterdir())
    tracemalloc.stop()
    starts = [0, n // 2]
    modes = find_modes(hm.open(tmp_path / "wide"), starts=starts, n_jobs=1)  # kernels are compiled, or loaded
    tracemalloc.start()
    again = find_modes(hm.open(tmp_path / "wide"), starts=starts, n_jobs=1)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(modes.edge_mode, again.edge_mode)
    assert on_disk > 16 * n * width
    assert max(written, used) < on_disk / 3


def pages_of(path):
    """Kilobytes of each file below that this process has in memory."""
    held, name = {}, ""
    for line in Path("/proc/self/smaps").read_text().splitlines():
        words = line.split()
        if words[0] == "Rss:":
            held[name] = held.get(name, 0) + int(words[1])
        elif not words[0].endswith(":"):
            name = words[-1]
    return sum(kilobytes for name, kilobytes in held.items() if name.startswith(str(path)))


@pytest.mark.skipif(
    not Path("/proc/self/smaps").exists(), reason="looks at the memory of a process as Linux has it"
)
def test_what_was_read_is_let_go_when_it_is_much(tmp_path, monkeypatch):
    """Dask ends workers that have too much memory, and counts what they have read in place."""
    rng = np.random.default_rng(0)
    write_folder(hm.knn_hypergraph(rng.random((30_000, 2)), 8), tmp_path / "near")
    prepared = Prepared.of(hm.HyperedgeAffinity(hm.open(tmp_path / "near")))
    some = range(0, 30_000, 10)
    before = shift_rows(prepared, some, Budget())
    shift_rows(prepared, some, Budget())
    assert pages_of(tmp_path) > 1000  # it is not much
    prepared.held.most = -(10**12)  # whatever there is is much
    after = shift_rows(prepared, some, Budget())
    assert pages_of(tmp_path) < 100
    for one, other in zip(
        (*before.found.points, *before[1:]), (*after.found.points, *after[1:]), strict=True
    ):
        assert one.tobytes() == other.tobytes()
    monkeypatch.setattr(batch, "_READ", 1 << 12)
    few = Prepared.of(hm.HyperedgeAffinity(hm.open(tmp_path / "near"))).at_once
    assert 1 <= few < 10  # a start here reads some hundred entries


def test_what_others_hold_does_not_count(monkeypatch):
    """What is left after all was let go are libraries. Where the system does not say, all always is."""
    held, let_go = columns.Held([np.arange(3)], 100), []
    held.look()  # nothing that it could give back
    held.memory = [SimpleNamespace(madvise=let_go.append)]
    says = iter([5000, 4000, 4100, 4101, 4050, 4150, np.nan, np.nan, np.nan, np.nan])
    monkeypatch.setattr(columns, "_resident", lambda: next(says))
    for times in (1, 1, 2, 2, 3, 4):  # asked once, and again after all was let go
        held.look()
        assert len(let_go) == times
    assert not list(says)


def test_names_keep_their_types(tmp_path):
    built = Hypergraph.from_edges([[label] for label in LABELS], labels=LABELS)
    write_folder(built, tmp_path / "names")
    opened = hm.open(tmp_path / "names", verify=True)
    assert opened == built
    for labels in (opened.labels, opened.vertices):
        assert [type(label) for label in labels] == [type(label) for label in LABELS]


def test_nothing_can_be_written_to(folder):
    opened = hm.open(folder)
    for array in (opened.weights, opened.edge_degrees, *vars(opened.incidence).values()):
        if isinstance(array, np.ndarray):
            assert not array.flags.writeable


def test_copies_and_pickles_go_by_the_place(folder):
    opened = hm.open(folder)
    for other in (copy.deepcopy(opened), pickle.loads(pickle.dumps(opened))):
        assert other == opened
        assert other.stored_rows is not None
    assert len(pickle.dumps(opened)) < 1000


def test_a_pickle_does_not_open_another_hypergraph(folder):
    kept = pickle.dumps(hm.open(folder))
    folder.rename(folder.with_name("moved"))
    write_folder(Hypergraph.from_edges(ring(30, 4)), folder)
    with pytest.raises(ValueError, match="is another one than before"):
        pickle.loads(kept)


# -- nothing half-written -----------------------------------------------------------------------------


def test_an_error_in_between_leaves_nothing(tmp_path):
    def blocks():
        yield ring(30, 3)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_folder(blocks(), tmp_path / "half", n_vertices=30)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fails_at", [1, 7, 14])
def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch, fails_at):
    calls, append = [], columns.Column.append

    def full(self, values):
        calls.append(1)
        if len(calls) == fails_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        append(self, values)

    monkeypatch.setattr(columns.Column, "append", full)
    with pytest.raises(OSError, match=r"^path: cannot write to '.*full': No space left on device$"):
        write_folder(Hypergraph.from_edges(ring(30, 3)), tmp_path / "full")
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_touched(folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(FileExistsError, match="is there already"):
        write_folder(Hypergraph.from_edges(ring(30, 4)), folder)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("block", "weights", "message"),
    [
        (np.array([[0, 1], [2, 30]]), None, "vertex numbers from 0 to 29"),
        (np.array([[0, -1]]), None, "vertex numbers from 0 to 29"),
        (np.array([0.5]), None, "two-dimensional array of vertex numbers"),
        (np.zeros((2, 0), int), None, "has no vertices"),
        (sp.csc_array((29, 2)), None, "expected 30 rows"),
        (sp.csc_array(np.full((30, 1), 1.5)), None, "must lie in"),
        (ring(30, 3), [1.0], "expected 30 positive numbers"),
        (ring(30, 3), [float("nan")] * 30, "positive finite"),
        (Hypergraph.from_edges([[0, 1]]), None, "over 30 vertices; got 2"),
    ],
)
def test_bad_blocks_are_refused_in_one_line(tmp_path, block, weights, message):
    writer = FolderWriter(tmp_path / "bad", 30)
    writer.append(ring(30, 3))
    with pytest.raises(ValueError, match=message) as error:
        writer.append(block, weights)
    writer.abandon()
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_bad_calls_are_refused(tmp_path):
    with pytest.raises(ValueError, match="n_vertices: blocks do not say"):
        write_folder([ring(30, 3)], tmp_path / "x")
    with pytest.raises(ValueError, match="n_vertices: expected"):
        FolderWriter(tmp_path / "x", 2**31)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        FolderWriter(tmp_path / "no" / "x", 3)
    with pytest.raises(ValueError, match="at least one hyperedge"):
        write_folder([], tmp_path / "x", n_vertices=3)
    writer = FolderWriter(tmp_path / "x", 30)
    writer.append(ring(30, 3), labels=[f"e{i}" for i in range(30)])
    with pytest.raises(ValueError, match="of all blocks, or of none"):
        writer.append(ring(30, 3))
    writer.abandon()
    assert list(tmp_path.iterdir()) == []


def test_a_block_that_is_refused_leaves_what_was_written_whole(tmp_path):
    named = [f"e{i}" for i in range(30)]
    with FolderWriter(tmp_path / "x", 30) as writer:
        writer.append(ring(30, 3), labels=named)
        with pytest.raises(ValueError, match="labels: can only save labels that are text"):
            writer.append(ring(30, 3), labels=[frozenset([i]) for i in range(30)])
        writer.append(ring(30, 4), labels=[f"f{i}" for i in range(30)])
    whole = Hypergraph.from_edges([*ring(30, 3), *ring(30, 4)], labels=named + [f"f{i}" for i in range(30)])
    assert hm.open(tmp_path / "x", verify=True) == whole
    with pytest.raises(ValueError, match=r"'.*x' is finished"):
        writer.append(ring(30, 3), labels=named)


def test_a_block_that_was_written_in_part_is_the_last(tmp_path, monkeypatch):
    writer = FolderWriter(tmp_path / "x", 30)
    writer.append(ring(30, 3))

    def full(column, values):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(columns.Column, "append", full)
        with pytest.raises(OSError, match="No space"):
            writer.append(ring(30, 3))
    for go_on in (lambda: writer.append(ring(30, 3)), writer.close):
        with pytest.raises(ValueError, match="written in part"):
            go_on()
    writer.abandon()
    assert list(tmp_path.iterdir()) == []


def test_names_are_distinct_over_all_blocks(tmp_path):
    writer = FolderWriter(tmp_path / "x", 30)
    writer.append(ring(30, 3), labels=[f"e{i}" for i in range(30)])
    writer.append(ring(1, 3), labels=["e0"])
    with pytest.raises(ValueError, match="labels: labels must be distinct; 'e0' is entry 0 and 30"):
        writer.close()
    writer.abandon()
    assert list(tmp_path.iterdir()) == []


def test_names_may_be_the_numbers_that_hyperedges_have_anyway(tmp_path):
    with FolderWriter(tmp_path / "x", 30) as writer:
        writer.append(ring(30, 3)[:2], labels=[0, 1])
        writer.append(ring(30, 3)[2:], labels=np.arange(2, 30))
    assert hm.open(tmp_path / "x", verify=True).labels == range(30)
    assert not (tmp_path / "x" / "labels.json").exists()


def test_numbers_that_come_twice_are_refused(tmp_path):
    writer = FolderWriter(tmp_path / "x", 30)
    writer.append(ring(2, 2), labels=[0, 1])
    writer.append(ring(2, 2), labels=[0, 1])
    with pytest.raises(ValueError, match="labels: labels must be distinct; 0 is entry 0 and 2"):
        writer.close()
    writer.abandon()
    assert list(tmp_path.iterdir()) == []


def numbered(n):
    """A hypergraph of which nobody can tell whether its hyperedges were named 0, 1, 2, … or not at all."""
    return Hypergraph.from_edges(ring(30, 3)[:n], vertices=range(30))


def named(*labels):
    return Hypergraph.from_edges(ring(30, 3)[: len(labels)], vertices=range(30), labels=labels)


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ([numbered(2), numbered(3)], range(5)),
        ([ring(30, 3), numbered(3)], range(33)),
        ([numbered(3), ring(30, 3)], range(33)),
        ([numbered(2), named(2, 3)], range(4)),
        ([numbered(2), named("a", "b")], (0, 1, "a", "b")),
        ([named("a"), numbered(2), named(7)], ("a", 0, 1, 7)),
    ],
)
def test_numbers_of_a_hypergraph_are_names_beside_names_and_none_beside_none(tmp_path, blocks, expected):
    write_folder(blocks, tmp_path / "x", n_vertices=30)
    assert hm.open(tmp_path / "x", verify=True).labels == expected


@pytest.mark.parametrize(
    "blocks", [[ring(30, 3), named(30)], [numbered(2), numbered(2), named("a")], [named("a"), ring(30, 3)]]
)
def test_names_beside_none_are_refused(tmp_path, blocks):
    with pytest.raises(
        ValueError, match="labels: expected names for the hyperedges of all blocks, or of none"
    ):
        write_folder(blocks, tmp_path / "x", n_vertices=30)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_stored_is_refused_before_the_first_block(tmp_path):
    with pytest.raises(ValueError, match="vertices: can only save labels that are text"):
        FolderWriter(tmp_path / "x", 1, vertices=[frozenset("a")])
    said = Annotations(Records(1, attributes=({"kind": frozenset()},)), Records(1), Records(1))
    with pytest.raises(ValueError, match="annotations: can only save attributes that are JSON values"):
        FolderWriter(tmp_path / "x", 1, annotations=said)
    assert list(tmp_path.iterdir()) == []


def test_names_that_find_no_room_leave_nothing(tmp_path, monkeypatch):
    def full(path, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=r"^path: cannot write to '.*x': No space left on device$"):
        FolderWriter(tmp_path / "x", 2, vertices=["a", "b"])
    assert list(tmp_path.iterdir()) == []


def test_names_are_not_larger_than_what_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(on_disk, "_LARGEST_TEXT", (10, 20))
    with pytest.raises(ValueError, match="vertices: expected at most 30 bytes of text; got 104"):
        FolderWriter(tmp_path / "x", 1, vertices=["a" * 100])
    writer = FolderWriter(tmp_path / "x", 30)
    writer.append(ring(1, 1), labels=["a" * 20])
    with pytest.raises(ValueError, match="labels: expected at most 50 bytes of text; got 67"):
        writer.append(ring(1, 1), labels=["b" * 40])
    writer.abandon()
    monkeypatch.setattr(on_disk, "_LARGEST_TEXT", (10, 2))
    with pytest.raises(ValueError, match="annotations: expected at most 28 bytes of text; got"):
        write_folder(annotated(), tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("given", [{"n_vertices": 30}, {"vertices": range(30)}])
def test_a_whole_hypergraph_has_its_own_vertices(tmp_path, given):
    with pytest.raises(ValueError, match=f"^{next(iter(given))}: a Hypergraph has its own; expected None"):
        write_folder(Hypergraph.from_edges(ring(30, 3)), tmp_path / "x", **given)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def settled(monkeypatch):
    """Numbers (inodes) of the files and folders that the disk was waited for."""
    waited, fsync = [], os.fsync

    def note(handle):
        waited.append(os.fstat(handle).st_ino)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", note)
    return waited


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EACCES, errno.EBADF, errno.EIO])
def test_a_folder_that_cannot_be_waited_for_is_no_failure(tmp_path, monkeypatch, number):
    """Some file systems have no such thing. That the disk is broken is another matter."""
    fsync = os.fsync

    def refuse(handle):
        if os.path.samestat(os.fstat(handle), tmp_path.stat()):
            raise OSError(number, os.strerror(number))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", refuse)
    hypergraph = hm.Hypergraph.from_edges([[0, 1], [1, 2]])
    with pytest.raises(OSError, match="path: cannot write") if number == errno.EIO else nullcontext():
        hm.write_folder(hypergraph, tmp_path / "h")
    assert hm.open(tmp_path / "h") == hypergraph


def test_the_disk_has_all_of_a_folder_before_it_has_its_name(tmp_path, settled, monkeypatch):
    rename, before = Path.rename, []

    def renamed(path, target):
        if target == tmp_path / "x":
            before.extend(settled)
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", renamed)
    with FolderWriter(tmp_path / "x", 30, vertices=[f"v{i}" for i in range(30)]) as writer:
        writer.append(ring(30, 3), labels=[f"e{i}" for i in range(30)])
    assert {path.stat().st_ino for path in (tmp_path / "x", *(tmp_path / "x").iterdir())} == set(before)
    assert settled == [*before, tmp_path.stat().st_ino]


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 20))
def test_ranges_of_rows_are_as_long_as_there_is_room(sizes, room):
    pointers = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    ranges = list(row_ranges(pointers, room))
    assert [row for low, high in ranges for row in range(low, high)] == list(range(len(sizes)))
    for low, high in ranges:
        assert high == low + 1 or pointers[high] - pointers[low] <= room
        assert high == len(sizes) or pointers[high + 1] - pointers[low] > room


@pytest.mark.parametrize("room", [1, 10, 100, 2**30, 2**31, 2**40])
def test_pointers_are_looked_up_without_a_copy_of_all(monkeypatch, room):
    """NumPy copies all of an array in which it looks for a number of another type, each time."""
    pointers = np.array([0, 5, 2**30, 2**31 - 20, 2**31 - 10, 2**31 - 2, 2**31 - 1], np.int32)
    searchsorted, types = np.searchsorted, []

    def noted(array, value, side):
        types.append((array.dtype, np.asarray(value).dtype))
        return searchsorted(array, value, side)

    monkeypatch.setattr(transposing.np, "searchsorted", noted)
    ranges = list(row_ranges(pointers, room))
    assert set(types) == {(np.dtype(np.int32), np.dtype(np.int32))}
    assert ranges == list(row_ranges(pointers.astype(np.int64), room))


@pytest.mark.parametrize("memory", [0, -1, 1.5, "big", True])
def test_memory_is_a_number_of_bytes(tmp_path, memory):
    with pytest.raises(ValueError, match="memory: expected a number of bytes, 1 or more; got"):
        write_folder(Hypergraph.from_edges([[0, 1], [1, 2]]), tmp_path / "x", memory=memory)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_came_to_be_there_meanwhile_is_left_alone(tmp_path):
    writer = FolderWriter(tmp_path / "x", 30)
    writer.append(ring(30, 3))
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "precious").touch()
    with pytest.raises(OSError, match=r"path: cannot make '.*x': "):
        writer.close()
    writer.abandon()
    assert [path.name for path in tmp_path.rglob("*")] == ["x", "precious"]


# -- hostile folders ----------------------------------------------------------------------------------


def describe(folder, meta):
    """Change a description, as if it had been written so."""
    (folder / "meta.json").write_text(json.dumps(meta | {"digest": digest_of_meta(meta)}))


def refused(folder, verify=False):
    with pytest.raises(ValueError, match="is not a hypergraph written by hypermodes") as error:
        hm.open(folder, verify=verify)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_is_no_folder_is_said_to_be_none(tmp_path):
    (tmp_path / "file").write_text("{}")
    for name in ("file", "nothing"):
        with pytest.raises(FileNotFoundError, match="expected a folder"):
            hm.open(tmp_path / name)
    (tmp_path / "empty").mkdir()
    assert "meta.json is missing" in refused(tmp_path / "empty")


COLUMNS = (
    "edge_pointers", "edge_vertices", "ones", "vertex_pointers", "vertex_edges", "weights", "degrees",
    "row_pointers", "row_vertex_pointers", "row_rates", "row_twins", "row_first_edges", "row_of_edges",
)  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_damaged_columns_are_refused(folder, name):
    path = folder / f"{name}.npy"
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    assert "bytes" in refused(folder)
    path.write_bytes(content + b"\0")
    assert "bytes" in refused(folder)
    path.write_bytes(content[:40])
    refused(folder)
    path.write_bytes(b"")
    refused(folder)
    np.save(path, np.array([{"an": "object"}], dtype=object), allow_pickle=True)
    refused(folder)
    path.unlink()
    assert "is missing" in refused(folder)
    path.symlink_to("/dev/zero")
    assert "it is a link" in refused(folder)
    path.unlink()
    os.mkfifo(path)
    assert "no plain file" in refused(folder)
    path.unlink()
    path.write_bytes(content)
    assert hm.open(folder, verify=True).n_edges == 39


@pytest.mark.parametrize("name", COLUMNS)
def test_a_changed_byte_is_found_by_looking_at_all(folder, name):
    path = folder / f"{name}.npy"
    content = bytearray(path.read_bytes())
    content[len(content) // 2 + 64] ^= 1
    path.write_bytes(bytes(content))
    assert "is not as it was written" in refused(folder, verify=True)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"version": 2},
        {"n_edges": 10**9},
        {"n_edges": 2**40},
        {"n_vertices": -1},
        {"n_vertices": True},
        {"n_incidences": 1.5},
        {"n_rows": 0},
        {"n_rows": 10**6},
        {"soft": True},
        {"soft": "no"},
        {"columns": []},
        {"names": {"labels": "abc"}},
        {"names": None},
    ],
)
def test_a_description_that_lies_is_refused(folder, change):
    meta = json.loads((folder / "meta.json").read_text())
    describe(folder, meta | change)
    refused(folder)


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"[", b"[]", b"null", b"[" * 100_000, b" " * (1 << 21)]
)
def test_a_description_that_is_none_is_refused(folder, content):
    (folder / "meta.json").write_bytes(content)
    refused(folder)


HUGE = 1 << 40  # bytes; files as large, but with next to nothing on the disk


def stretched(path, dtype, length):
    """Make a column of this type and length that is all holes."""
    with open(path, "wb") as file:
        head = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (length,)}
        np.lib.format.write_array_header_1_0(file, head)
        file.truncate(file.tell() + length * np.dtype(dtype).itemsize)


@pytest.mark.parametrize("name", ["vertices", "labels"])
def test_names_that_nobody_could_mean_are_not_read(tmp_path, name):
    write_folder(annotated(), tmp_path / "said")
    os.truncate(tmp_path / "said" / f"{name}.json", HUGE)
    assert f"{name}.json has more than" in refused(tmp_path / "said")


@pytest.fixture
def said(tmp_path):
    """A folder with a column of annotations of every kind."""
    full = {"listed": [True, False], "weights": [1.0, 2.0], "directions": [0, 1]}
    annotations = Annotations(
        *(Records(2, **full) for _ in range(3)), empty_edges=("none", 7), empty=Records(2, **full)
    )
    hypergraph = Hypergraph.from_edges([["a"], ["b"]], annotations=annotations)
    write_folder(hypergraph, tmp_path / "said")
    assert hm.open(tmp_path / "said", verify=True) == hypergraph
    return tmp_path / "said"


@pytest.mark.parametrize("dtype", ["<f4", "|S1", "|b1", "<f8", "|i1", "|u1"])
@pytest.mark.parametrize("name", [*TEXTS, *NUMBERS])
def test_columns_of_annotations_are_of_their_own_type_and_length(said, name, dtype):
    """Whatever the description says of them; nothing is made of them before."""
    own = NUMBERS[name][0] if name in NUMBERS else "|u1"
    length = HUGE // 8 if dtype == own else 2
    stretched(said / f"{name}.npy", dtype, length)
    meta = json.loads((said / "meta.json").read_text())
    meta["columns"][name][:2] = [dtype, length]
    describe(said, meta)
    tracemalloc.start()
    reason = refused(said)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert f"{name}.npy" in reason or "expected 2 entries" in reason
    assert used < MEGABYTE


@pytest.fixture
def named_and_said(tmp_path):
    write_folder(annotated(), tmp_path / "named")
    return tmp_path / "named"


def test_one_turned_bit_of_the_description_is_found(named_and_said):
    path = named_and_said / "meta.json"
    content = path.read_bytes()
    for place in range(0, len(content), 5):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 3
        path.write_bytes(changed)
        with suppress(ValueError):
            assert hm.open(named_and_said) == annotated()  # a blank between words


@pytest.mark.parametrize("digest", [False, True])
@pytest.mark.parametrize(
    ("place", "name"),
    [("names", "labels"), ("names", "vertices"), ("columns", "annotations_json"), ("columns", "row_rates")],
)
def test_what_the_description_lost_is_not_left_out(named_and_said, place, name, digest):
    meta = json.loads((named_and_said / "meta.json").read_text())
    said = meta[place].pop(name)
    for change in ({}, {f"x{name}": said}):
        lost = meta | {place: meta[place] | change}
        describe(named_and_said, lost)
        if not digest:
            del lost["digest"]
            (named_and_said / "meta.json").write_text(json.dumps(lost))
        assert "meta.json " in refused(named_and_said)


def test_folders_of_older_releases_are_read(named_and_said):
    meta = json.loads((named_and_said / "meta.json").read_text())
    del meta["digest"]
    (named_and_said / "meta.json").write_text(json.dumps(meta, indent=1))
    (named_and_said / "notes.json").write_text("{}")  # what is no part of it is nobody's business
    assert hm.open(named_and_said, verify=True) == annotated()


def test_names_that_find_no_memory_are_told_in_one_line(tmp_path, monkeypatch):
    def full(stored):
        raise MemoryError

    write_folder(annotated(), tmp_path / "said")
    monkeypatch.setattr(names, "decode", full)
    with pytest.raises(ValueError, match=r"^path: what '.*said' says .* needs more memory than there is$"):
        hm.open(tmp_path / "said")


def test_a_consistent_lie_is_found_by_looking_at_all(folder):
    """Digests can be made to fit; numbers that point elsewhere are found nevertheless."""
    path = folder / "row_of_edges.npy"
    values = np.load(path)
    values[3] = 10**9
    np.save(path, values)
    meta = json.loads((folder / "meta.json").read_text())
    meta["columns"]["row_of_edges"][2] = columns.digest_of(values)
    describe(folder, meta)
    assert "other than rows" in refused(folder, verify=True)


def forged(folder, name, change):
    """Change a column, and the digest that is written of it."""
    path = folder / f"{name}.npy"
    values = np.load(path)
    change(values)
    np.save(path, values)
    meta = json.loads((folder / "meta.json").read_text())
    meta["columns"][name][2] = columns.digest_of(values)
    describe(folder, meta)


def more(factor):
    def change(values):
        values[3] *= factor

    return change


def other(i, value):
    def change(values):
        values[i] = value

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("edge_vertices", other(2, 9), "vertex_edges are not the same incidences in the other order"),
        ("vertex_edges", other(0, 5), "vertex_edges are not the same incidences in the other order"),
        ("vertex_values", more(0.5), "vertex_edges are not the same incidences in the other order"),
        ("edge_values", more(0.5), "vertex_edges are not the same incidences in the other order"),
        ("weights", more(2), "row_rates holds other than weights by degrees"),
        ("degrees", more(2), "degrees holds other than the sums of edge_values"),
        ("row_rates", more(7), "row_rates holds other than weights by degrees"),
        ("row_twins", more(2), "row_twins holds other than the numbers"),
        ("row_first_edges", other(0, 20), "row_first_edges holds other than the first"),
        ("row_of_edges", other(-1, 1), "row_twins holds other than the numbers"),
        ("row_vertices", other(2, 9), "row_vertex_edges are not the same incidences"),
        ("row_vertex_edges", other(0, 9), "row_vertex_edges are not the same incidences"),
    ],
)
def test_columns_that_contradict_each_other_are_found(tmp_path, name, change, message):
    """Twenty triples on a ring, one with a vertex of its own, each second one again; p(v|e) is 0.5 or 1."""
    edges = [{v: 1.0 if v % 2 else 0.5 for v in edge} for edge in ring(20, 3).tolist()]
    edges[19] |= {20: 0.25}
    write_folder(Hypergraph.from_edges([*edges, *edges[:19:2]], vertices=range(21)), tmp_path / "soft")
    assert hm.open(tmp_path / "soft", verify=True).n_edges == 30
    forged(tmp_path / "soft", name, change)
    assert message in refused(tmp_path / "soft", verify=True)


def test_a_folder_that_finds_no_room_leaves_nothing(tmp_path, monkeypatch):
    """Not even to finish what was begun: then closing a file fails as well."""

    def full():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    writer = FolderWriter(tmp_path / "x", 30)
    writer.append(ring(30, 3), labels=[f"e{i}" for i in range(30)])
    files = [column._file for column in writer._columns.growing.values()] + [writer._labels]
    for column in writer._columns.growing.values():
        column._file = SimpleNamespace(close=full, seek=lambda place: full())
    writer._labels = SimpleNamespace(close=full, write=lambda content: full())
    with pytest.raises(OSError, match=r"^path: cannot write to '.*x': No space left on device$"), writer:
        pass
    assert list(tmp_path.iterdir()) == []
    for file in files:
        file.close()


def test_a_description_that_cannot_be_read_is_refused(folder, monkeypatch):
    def denied(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "read_bytes", denied)
    assert "meta.json cannot be read: Permission denied" in refused(folder)


def test_a_folder_that_nobody_works_on_is_let_go(folder):
    """Its pages, and its room on the disk if it is deleted, are kept by a process as long as it shifts."""
    prepared = pickle.loads(pickle.dumps(Prepared.of(hm.HyperedgeAffinity(hm.open(folder)))))
    again = pickle.loads(pickle.dumps(prepared))
    assert again is prepared  # once a process
    assert len(batch._opened) == 1
    del prepared, again
    gc.collect()
    assert not batch._opened


def test_the_description_is_no_link(folder, tmp_path):
    (folder / "meta.json").rename(tmp_path / "elsewhere.json")
    (folder / "meta.json").symlink_to(tmp_path / "elsewhere.json")
    assert "no plain file" in refused(folder)
    assert Path(tmp_path / "elsewhere.json").exists()
