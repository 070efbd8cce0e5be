"""Saving and loading: what is written comes back, what is broken is refused, nothing is half-written."""

import dataclasses
import errno
import gc
import io
import json
import os
import pickle
import tracemalloc
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypermodes import Hypergraph, ModeSet, find_modes
from hypermodes.annotations import Annotations, Records
from hypermodes.files import replacing
from strategies import hypergraphs


# A file that `load` leaves open is blamed on the test that left it open, not on a later one.
@pytest.fixture(autouse=True)
def nothing_left_open():
    yield
    gc.collect()


LABELS = ["text", 7, 2.5, True, None, ("a", 1), ("deep", (None, ("er", 0.5)))]


@pytest.fixture
def hypergraph():
    return Hypergraph.from_edges(
        [[0, 1], [1, "v"], [("v", 2), None, 0]], weights=[1.0, 0.1, 3.0], labels=["x", 5, ("z",)]
    )


@pytest.fixture
def saved(hypergraph, tmp_path):
    path = tmp_path / "saved.npz"
    hypergraph.save(path)
    return path


@given(hypergraphs())
def test_what_was_saved_comes_back(tmp_path_factory, hypergraph):
    path = tmp_path_factory.mktemp("round") / "trip.npz"
    hypergraph.save(path)
    loaded = Hypergraph.load(path)
    assert loaded == hypergraph
    assert loaded.labels == hypergraph.labels
    assert type(loaded.labels) is type(hypergraph.labels)


def test_labels_come_back_with_their_type(tmp_path):
    built = Hypergraph.from_edges([[label] for label in LABELS], labels=LABELS)
    built.save(tmp_path / "labels.npz")
    loaded = Hypergraph.load(str(tmp_path / "labels.npz"))  # a path may be text as well
    assert loaded == built
    for names in (loaded.labels, loaded.vertices):
        assert [type(label) for label in names] == [type(label) for label in LABELS]


def test_a_loaded_hypergraph_cannot_be_written_to(saved):
    with pytest.raises(ValueError, match="read-only"):
        Hypergraph.load(saved).weights[0] = 2.0


def test_any_file_name_is_kept_as_it_is(hypergraph, tmp_path):
    hypergraph.save(tmp_path / "no extension")
    assert [path.name for path in tmp_path.iterdir()] == ["no extension"]
    assert Hypergraph.load(tmp_path / "no extension") == hypergraph


def test_saving_again_replaces_the_file(hypergraph, saved):
    other = Hypergraph.from_edges([["other"]])
    other.save(saved)
    assert Hypergraph.load(saved) == other
    assert list(saved.parent.iterdir()) == [saved]


# -- when saving fails --------------------------------------------------------------------------------


@pytest.mark.parametrize("label", [frozenset({1}), b"bytes", 1 + 2j, ("a", frozenset())])
def test_a_label_that_cannot_be_saved_is_named_and_nothing_is_written(label, tmp_path):
    built = Hypergraph.from_edges([["a"], ["b"]], labels=["fine", label])
    with pytest.raises(ValueError, match=r"^labels: can only save labels that are text, numbers.* is a "):
        built.save(tmp_path / "file.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_old_file_and_nothing_else(hypergraph, saved, monkeypatch):
    before = saved.read_bytes()

    def full(file, **arrays):
        file.write(b"half of it")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="no space left"):
        Hypergraph.from_edges([["other"]]).save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


@pytest.mark.parametrize("points_at", ["file", "nobody", "folder"])
def test_a_link_that_is_not_followed_is_replaced(tmp_path, points_at):
    (tmp_path / "file").write_text("precious")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / points_at)
    with replacing(tmp_path / "link", follow=False) as temporary:
        temporary.write_text("new")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "link").read_text() == "new"
    assert (tmp_path / "file").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder", "link"]


def test_what_the_disk_does_not_take_replaces_nothing(tmp_path, monkeypatch):
    def failing(handle):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(os, "fsync", failing)
    with (
        pytest.raises(OSError, match="Input/output error"),
        replacing(tmp_path / "file", lasting=True) as new,
    ):
        new.write_text("new")
    assert (tmp_path / "file").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_file_lasts_as_well_where_folders_cannot_be_waited_for(tmp_path, monkeypatch):
    fsync = os.fsync

    def of_files_only(handle):
        if os.path.samestat(os.fstat(handle), tmp_path.stat()):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", of_files_only)
    with replacing(tmp_path / "file", lasting=True) as new:
        new.write_text("new")
    assert (tmp_path / "file").read_text() == "new"


def test_a_target_that_is_a_folder_leaves_nothing_behind(hypergraph, tmp_path):
    target = tmp_path / "folder"
    target.mkdir()
    with pytest.raises(OSError, match="folder"):
        hypergraph.save(target)
    assert list(tmp_path.iterdir()) == [target]
    assert list(target.iterdir()) == []


def test_a_folder_that_does_not_exist_is_named(hypergraph, tmp_path):
    with pytest.raises(OSError, match=r"missing"):
        hypergraph.save(tmp_path / "missing" / "file.npz")
    assert list(tmp_path.iterdir()) == []


# -- when the file is broken --------------------------------------------------------------------------

refused = pytest.raises(ValueError, match=r"path: .* is not a hypergraph saved by hypermodes")


class Trap:
    """Unpickling it is the one thing that must never happen."""

    sprung = False

    def __reduce__(self):
        return (setattr, (Trap, "sprung", True))


def npy(array, allow_pickle=False):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


@pytest.mark.parametrize(
    "content", [b"", b"not a hypergraph", b"PK\x03\x04", b"\x93NUMPY", b"{}", npy(np.ones(3))]
)
def test_another_kind_of_file_is_refused(content, tmp_path):
    path = tmp_path / "file.npz"
    path.write_bytes(content)
    with refused:
        Hypergraph.load(path)


def test_nothing_is_ever_unpickled(saved):
    trap = np.array([Trap()], dtype=object)
    for content in (pickle.dumps(Trap()), npy(trap, allow_pickle=True)):
        saved.write_bytes(content)
        with refused:
            Hypergraph.load(saved)
    assert not Trap.sprung


@pytest.mark.parametrize(
    "member", ["format", "data", "indices", "indptr", "shape", "weights", "vertices", "labels"]
)
def test_no_part_of_the_file_is_ever_unpickled(member, saved):
    rewrite(saved, **{member: np.array([Trap()], dtype=object)})
    with refused:
        Hypergraph.load(saved)
    assert not Trap.sprung


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file_is_refused(share, saved):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(share * len(content))])
    with refused:
        Hypergraph.load(saved)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("format", None),
        ("format", np.array("hypermodes-hypergraph-999")),
        ("data", None),
        ("data", np.full(7, np.nan)),
        ("data", np.full(7, 2.0)),
        ("data", np.ones(3)),
        ("data", np.full(7, 1j)),
        ("indices", np.full(7, 99)),
        ("indices", np.full(7, -1)),
        ("indices", np.full(7, 0.5)),
        ("indptr", np.array([0, 5, 2, 7])),
        ("indptr", np.array([0, 2, 4, 99])),
        ("indptr", np.array([0, 5_000_000, 10_000_000, 0])),
        ("indptr", np.array([0, 5_000_000, 10_000_000, 7])),
        ("indptr", np.array([0, 2**63 - 1, -2, 7])),
        ("indptr", np.array([[0, 2, 4, 7]])),
        ("indptr", np.array([0.0, 2, 4, 7])),
        ("indptr", np.array([], np.int64)),
        ("shape", np.array([-1, 3])),
        ("shape", np.array([5, 3, 1])),
        ("shape", np.array([2**62, 3])),
        ("shape", np.array([2**31 - 1, 3])),
        ("shape", np.array([5.0, 3.0])),
        ("weights", np.array([1.0, np.nan, 1.0])),
        ("weights", np.zeros(3)),
        ("weights", np.ones((3, 3))),
        ("weights", np.array(["a", "b", "c"])),
        ("vertices", np.array([1e300])),
        ("labels", np.array(["x"])),
    ],
)
def test_a_file_with_a_wrong_part_is_refused(member, value, saved):
    rewrite(saved, **{member: value})
    with refused:
        Hypergraph.load(saved)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "null",
        "5",
        '"abc"',  # three letters for three hyperedges are not three labels
        "[1, 1, 2]",
        "[1, [2], 3]",
        '[{"tuple": 1}, 2, 3]',
        '[{"other": [1]}, 2, 3]',
        '{"range": -3}',
        '{"range": 1e999}',
        '{"range": 4}',
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
    ],
    ids=lambda text: text[:24],
)
def test_labels_that_are_not_ours_are_refused(text, saved):
    rewrite(saved, labels=np.frombuffer(text.encode(), dtype=np.uint8))
    with refused:
        Hypergraph.load(saved)


def test_a_long_range_of_labels_is_refused_before_it_is_spelled_out(saved):
    # Spelled out, a million labels take 32 MB or more; the file itself and its zip need a fraction of 1 MB.
    rewrite(saved, labels=np.frombuffer(b'{"range": 1000000}', dtype=np.uint8))
    tracemalloc.start()
    with refused:
        Hypergraph.load(saved)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4e6


@pytest.mark.parametrize("kind", ["|V0", "<U0", "|S0"])
@pytest.mark.parametrize("member", ["format", "data", "indptr", "labels", "more", "members"])
def test_a_part_of_very_many_items_of_no_size_is_refused(member, kind, saved):
    for shape in ((2**40,), (2**40, 2**20), (0, 2**70)):
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": kind, "fortran_order": False, "shape": shape})
        rewrite(saved, **{member: header.getvalue()})
        with refused:
            Hypergraph.load(saved)


@pytest.mark.parametrize("annotated", [False, True])
def test_one_turned_bit_is_found_or_harmless(annotated, hypergraph, tmp_path):
    if annotated:
        said = Annotations(Records(5, weights=range(5)), Records(3), Records(7), metadata={"a": 1})
        hypergraph = dataclasses.replace(hypergraph, annotations=said)
    hypergraph.save(tmp_path / "file.npz")
    content = (tmp_path / "file.npz").read_bytes()
    directory = content.index(b"PK\x01\x02")
    for place in range(directory, len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        with suppress(ValueError):
            assert Hypergraph.load(io.BytesIO(changed)) == hypergraph


@pytest.mark.parametrize("member", ["annotations_json", "annotations_vertices_weights"])
def test_a_part_that_is_not_there_is_missed(member, tmp_path):
    said = Annotations(Records(2, weights=[1.0, 2.0]), Records(1), Records(2))
    hypergraph = Hypergraph.from_edges([["a", "b"]], annotations=said)
    path = tmp_path / "file.npz"
    hypergraph.save(path)
    rewrite(path, **{member: None})
    with refused:
        Hypergraph.load(path)
    hypergraph.save(path)
    rewrite(path, more=np.ones(2))
    with refused:
        Hypergraph.load(path)
    hypergraph.save(path)
    rewrite(path, members=None)  # older releases did not say which there are
    assert Hypergraph.load(path) == hypergraph


def test_a_part_that_claims_to_be_enormous_is_refused(saved):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    rewrite(saved, data=header.getvalue())
    with refused:
        Hypergraph.load(saved)


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d,)}" % 2**64,
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}",
        b"(" * 500,
        b"",
    ],
    ids=lambda header: header[-14:].decode(),
)
@pytest.mark.parametrize("version", [b"\1\0", b"\2\0", b"\3\0", b"\7\7"])
def test_a_part_with_a_strange_header_is_refused(saved, header, version):
    length = len(header).to_bytes(2 if version == b"\1\0" else 4, "little")
    rewrite(saved, data=b"\x93NUMPY" + version + length + header + bytes(56))
    with refused:
        Hypergraph.load(saved)


def test_vertices_in_no_hyperedge_are_bounded_before_anything_is_made_of_them(tmp_path):
    # 3 kB say that there are 2 ** 31 - 1 vertices, and that each has a record.
    built = Hypergraph.from_incidence(
        np.ones((2, 1)),
        annotations=Annotations(Records(2, attributes=({"a": 1}, None)), Records(1), Records(2)),
    )
    path = tmp_path / "file.npz"
    built.save(path)
    text = json.dumps({"range": 2**31 - 1}).encode()
    rewrite(path, shape=np.array([2**31 - 1, 1]), vertices=np.frombuffer(text, np.uint8))
    tracemalloc.start()
    try:
        with pytest.raises(
            ValueError, match=r"of its 2147483647 vertices 2 at most .* max_bytes=1073741824; raise"
        ):
            Hypergraph.load(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4e6


def test_the_bound_on_vertices_in_no_hyperedge_can_be_raised(tmp_path):
    built = Hypergraph.from_incidence(np.eye(1000)[:, :2])
    built.save(tmp_path / "file.npz")
    with refused:
        Hypergraph.load(tmp_path / "file.npz", max_bytes=23_000)
    assert Hypergraph.load(tmp_path / "file.npz", max_bytes=24_000) == built


def test_what_is_compressed_is_measured_before_it_is_unpacked(saved):
    np.savez_compressed(saved, format=np.array("hypermodes-hypergraph-1"), data=np.zeros(10**6))
    with pytest.raises(
        ValueError, match=r"it unpacks to 80.* bytes, more than max_bytes=100000; raise max_bytes"
    ):
        Hypergraph.load(saved, max_bytes=100_000)


def test_other_arrays_are_told_by_name_and_where_points_go(saved):
    np.savez(saved, X=np.ones((3, 2)), y=np.ones(3))
    with pytest.raises(ValueError, match=r"other arrays \(X, y\); save points with numpy.save"):
        Hypergraph.load(saved)


@given(st.data())
def test_whatever_is_overwritten_the_file_loads_as_it_was_or_is_refused(tmp_path_factory, data):
    built = Hypergraph.from_edges([[0, 1], [1, 2]], weights=[1.0, 0.1], labels=["x", "y"])
    path = tmp_path_factory.mktemp("overwritten") / "file.npz"
    built.save(path)
    content = bytearray(path.read_bytes())
    # Zip keeps its directory at the end and a header before every part: aim there as well as anywhere.
    headers = [i for i in range(len(content)) if content[i : i + 2] == b"PK"]
    where = data.draw(st.integers(0, len(content) - 1) | st.sampled_from(headers).map(lambda i: i + 6))
    content[where] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        loaded = Hypergraph.load(path)
    except ValueError as error:
        assert "is not a hypergraph saved by hypermodes" in str(error)  # noqa: PT017  (both ends are right)
    else:
        assert loaded == built


def test_a_missing_file_is_an_os_error_that_names_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        Hypergraph.load(tmp_path / "absent.npz")


def rewrite(path, **changes):
    """Replace parts of a saved file: an array, raw bytes, or None to leave the part out."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name, value in changes.items():
        if value is None:
            del parts[f"{name}.npy"]
        else:
            parts[f"{name}.npy"] = value if isinstance(value, bytes) else npy(value, allow_pickle=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_labels_are_stored_as_readable_json(saved):
    with np.load(saved) as stored:
        assert json.loads(stored["labels"].tobytes()) == ["x", 5, {"tuple": ["z"]}]


# -- modes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("support", np.array([0, 99])),
        ("support", np.array([0, -1])),
        ("edge_mode", np.array([0, 0, 7])),
        ("edge_mode", np.array([0.5, 0.5, 0.5])),
        ("ptr", np.array([0, 1])),
        ("ptr", None),
        ("weights", np.ones(9)),
        ("weights", np.array([np.nan, 1.0])),
        ("density", np.ones((1, 2))),
        ("status", np.array(["FINE"])),
        ("rounds", np.ones(5)),
    ],
)
def test_modes_with_a_wrong_part_are_refused(member, value, tmp_path):
    modes = find_modes(Hypergraph.from_edges([["a", "b"], ["b", "c"], ["alone"]]))
    modes.save(tmp_path / "modes.npz")
    rewrite(tmp_path / "modes.npz", **{member: value})
    with pytest.raises(ValueError, match="is not a set of modes saved by hypermodes"):
        ModeSet.load(tmp_path / "modes.npz")
