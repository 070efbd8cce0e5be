"""Files: what a path is, what is kept of a file that is replaced, and what errors say."""

import errno
import os
import stat
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hypermodes as hm
from hypermodes.contact_sheet import write_contact_sheet
from hypermodes.files import beside, check_target, replacing, write_csv
from hypermodes.images import write_png
from hypermodes.saliency_pictures import write_saliency
from hypermodes.shapes.silhouettes import read_silhouettes

H = hm.Hypergraph.from_edges([["a", "b"], ["b", "c"]])
modes, groups = cache(lambda: hm.find_modes(H)), cache(lambda: hm.cluster(H))  # made when they are needed
MASKS = [np.pad(np.ones((size, 8)), 3) for size in range(5, 12)]

TAKES_A_PATH = {
    "read": hm.read,
    "read, format": lambda path: hm.read(path, format="csv"),
    "write": lambda path: hm.write(H, path),
    "write, format": lambda path: hm.write(H, path, format="hif"),
    "open": hm.open,
    "write_folder": lambda path: hm.write_folder(H, path),
    "FolderWriter": lambda path: hm.FolderWriter(path, 3),
    "Hypergraph.save": H.save,
    "Hypergraph.load": hm.Hypergraph.load,
    "ModeSet.save": lambda path: modes().save(path),
    "ModeSet.load": hm.ModeSet.load,
    "ModeSet.to_csv": lambda path: modes().to_csv(path),
    "ModeSet.to_json": lambda path: modes().to_json(path),
    "Groups.to_csv": lambda path: groups().to_csv(path),
    "Groups.edges_to_csv": lambda path: groups().edges_to_csv(path),
    "Groups.to_json": lambda path: groups().to_json(path),
    "read_points": hm.read_points,
    "read_points, format": lambda path: hm.read_points(path, format="csv"),
    "write_report": lambda path: hm.write_report(modes(), path),
    "find_modes(results=)": lambda path: hm.find_modes(H, results=path),
    "group_shapes": hm.group_shapes,
    "group_shapes(cache=)": lambda path: hm.group_shapes(MASKS, cache=path),
    "read_silhouettes": read_silhouettes,
    "saliency": hm.saliency,
    "match_images": lambda path: hm.match_images(path, path),
    "write_saliency": write_saliency,
    "write_contact_sheet": lambda path: write_contact_sheet(path, None),
    "write_png": lambda path: write_png(path, np.zeros((2, 2))),
    "write_csv": lambda path: write_csv(path, ("a",), ()),
    "replacing": lambda path: replacing(path).__enter__(),
}


@pytest.mark.parametrize("bad", [True, False, 1, 2, b"x", "", "a\0b"], ids=repr)
@pytest.mark.parametrize("takes", TAKES_A_PATH)
def test_what_is_no_path_is_refused_in_one_line_and_no_open_file_is_touched(takes, bad):
    """`open` takes 0, 1, 2, False and True for open files, and would close them."""
    is_open = [os.fstat(handle) for handle in (0, 1, 2)]
    with pytest.raises(ValueError, match=r"^[a-z]+: ") as told:
        TAKES_A_PATH[takes](bad)
    assert "\n" not in str(told.value)
    assert [os.fstat(handle) for handle in (0, 1, 2)] == is_open


def test_text_is_not_written_to_for_bytes(tmp_path):
    with (
        open(tmp_path / "x.npz", "w") as file,
        pytest.raises(ValueError, match=r"^path: expected .* binary mode; got one opened as text$"),
    ):
        H.save(file)


@pytest.fixture
def wide_mask():
    """What new files may be is up to the user: here, all may read them."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755, 0o200])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, wide_mask, mode):
    path = tmp_path / "kept.npz"
    H.save(path)
    assert mode_of(path) == 0o644
    path.chmod(mode)
    H.save(path)
    assert mode_of(path) == mode
    assert [one.name for one in tmp_path.iterdir()] == ["kept.npz"]


def test_what_replaces_a_private_file_is_never_seen_by_others(tmp_path, wide_mask):
    path = tmp_path / "private.txt"
    path.touch(mode=0o600)
    with replacing(path) as temporary:
        assert mode_of(temporary) & 0o077 == 0


def test_an_executable_does_not_pass_its_special_bits_on(tmp_path, wide_mask):
    path = tmp_path / "tool"
    path.touch()
    path.chmod(0o4755)
    with replacing(path) as temporary:
        temporary.write_text("anything")
    assert mode_of(path) == 0o755


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_that_is_replaced_keeps_its_owner_and_group(tmp_path):
    path = tmp_path / "theirs.csv"
    path.touch(mode=0o640)
    os.chown(path, 4321, 1234)
    modes().to_csv(path)
    assert (path.stat().st_uid, path.stat().st_gid) == (4321, 1234)


def test_a_group_that_cannot_be_kept_gets_no_rights(tmp_path, monkeypatch, wide_mask):
    path = tmp_path / "team.csv"
    path.touch()
    path.chmod(0o664)
    stat_of = Path.stat

    def of_others(self, **options):
        found = list(stat_of(self, **options))
        if self.name == "team.csv":
            found[stat.ST_GID] += 1
        return os.stat_result(found)

    def refuse(*_):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    with monkeypatch.context() as patched:
        patched.setattr(os, "chown", refuse)
        patched.setattr(Path, "stat", of_others)
        modes().to_csv(path)
    assert mode_of(path) == 0o604


@pytest.mark.parametrize(
    "write", [lambda path: modes().to_csv(path), check_target, lambda path: hm.write(H, path)]
)
def test_a_read_only_file_is_not_replaced(tmp_path, write):
    path = tmp_path / "precious.csv"
    path.write_text("precious")
    path.chmod(0o444)
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    for place in (path, link):
        with pytest.raises(PermissionError, match=r"^path: cannot write '.*\.csv': it is read-only$"):
            write(place)
    assert path.read_text() == "precious"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link.csv", "precious.csv"]


@pytest.mark.parametrize("letter", ["a", "é", "漢", "🙂"])
def test_any_name_that_the_system_takes_can_be_written(tmp_path, letter):
    room = 255 - len(".csv")
    name = letter * (room // len(letter.encode())) + ".csv"
    (tmp_path / name).touch()  # the system takes it
    modes().to_csv(tmp_path / name)
    assert (tmp_path / name).read_text("utf-8").startswith("mode,density")
    folder = name.removesuffix(".csv")
    hm.write_folder(H, tmp_path / folder)
    assert hm.open(tmp_path / folder) == H


@given(st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=255))
def test_temporary_names_are_short_hidden_and_end_alike(name):
    target = Path("folder") / f"x{name}"
    temporary = beside(target)
    assert temporary.parent == target.parent
    assert temporary.name.startswith(".")
    assert len(os.fsencode(temporary.name)) <= 24 * 4 + 16 * 4 + 14
    assert temporary.suffix in (target.suffix, f".{temporary.name.split('.')[-1]}")
    assert beside(target) != temporary


def test_a_name_that_is_too_long_is_one_line(tmp_path):
    with pytest.raises(OSError, match=r"^path: cannot write '.*': File name too long$"):
        modes().to_csv(tmp_path / ("a" * 300))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_where_there_was_no_room_is_said(tmp_path, number):
    path = tmp_path / "full.csv"
    with pytest.raises(OSError, match="full") as told, replacing(path):
        raise OSError(number, os.strerror(number))
    assert told.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []
