"""Runs kept in a folder: no finished block is lost, no other run is taken up, nobody writes to another's."""

import errno
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import hypermodes as hm
from hypermodes import executors, gathering
from hypermodes._kernels.shifting import OPEN
from hypermodes.batch import DENSITY, STATUS, WORST
from hypermodes.datasets import five_crescents

SIZE = 32  # starts a block of these runs


@pytest.fixture(scope="module")
def hypergraph():
    return hm.knn_hypergraph(five_crescents(800, outliers=0.2).points, 7)


@pytest.fixture(scope="module")
def expected(hypergraph):
    return hm.find_modes(hypergraph, n_jobs=1)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "run"


@pytest.fixture
def counted(monkeypatch):
    """How many starts are shifted."""
    starts, shift_rows = [], gathering.shift_rows

    def count(prepared, rows, budget, stop=None):
        starts.append(len(rows))
        return shift_rows(prepared, rows, budget, stop)

    monkeypatch.setattr(executors, "shift_rows", count)
    return starts


def assert_same(ours, theirs):
    assert ours.edge_mode.tobytes() == theirs.edge_mode.tobytes()
    for name, column in vars(theirs.table).items():
        assert getattr(ours.table, name).tobytes() == column.tobytes(), name


def stop_after(n_blocks):
    def stop(done, total):
        if done >= n_blocks * SIZE:
            raise KeyboardInterrupt

    return stop


def test_a_run_that_ended_early_is_finished_and_nothing_is_done_twice(hypergraph, expected, folder, counted):
    with pytest.raises(KeyboardInterrupt):
        hm.find_modes(hypergraph, results=folder, n_jobs=1, progress=stop_after(4))
    kept = len(list((folder / "blocks").iterdir()))
    assert kept >= 4
    counted.clear()
    seen = []
    modes = hm.find_modes(hypergraph, results=folder, resume=True, progress=lambda *done: seen.append(done))
    assert_same(modes, expected)
    assert sum(counted) == hypergraph.n_edges - kept * SIZE
    assert seen[-1] == (hypergraph.n_edges, hypergraph.n_edges)
    counted.clear()
    assert_same(hm.find_modes(hypergraph, results=folder, resume=True), expected)
    assert counted == []


def test_a_killed_run_is_finished(hypergraph, expected, folder, tmp_path, counted):
    """The process is killed outright, by a signal that cannot be caught, right after its fourth block."""
    hypergraph.save(tmp_path / "h.npz")
    code = (
        "import os, signal, hypermodes as hm\n"
        f"kill = lambda done, total: done >= {4 * SIZE} and os.kill(os.getpid(), signal.SIGKILL)\n"
        f"H = hm.Hypergraph.load({str(tmp_path / 'h.npz')!r})\n"
        f"hm.find_modes(H, results={str(folder)!r}, n_jobs=1, progress=kill)\n"
    )
    path = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path})
    assert done.returncode == -signal.SIGKILL
    kept = len(list((folder / "blocks").iterdir()))
    assert kept >= 4
    assert_same(hm.find_modes(hypergraph, results=folder, resume=True), expected)
    assert sum(counted) == hypergraph.n_edges - kept * SIZE


@pytest.mark.parametrize("fails_at", [1, 3])
def test_a_full_disk_loses_nothing_that_was_written(hypergraph, expected, folder, monkeypatch, fails_at):
    calls, save = [], np.savez

    def full(file, **arrays):
        calls.append(file)
        if len(calls) == fails_at:
            file.write(b"PK half of it")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        save(file, **arrays)

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match=r"^results: cannot write to '.*run': No space left .* resume=True"):
        hm.find_modes(hypergraph, results=folder)
    assert len(list((folder / "blocks").iterdir())) == fails_at - 1
    monkeypatch.setattr(np, "savez", save)
    assert_same(hm.find_modes(hypergraph, results=folder, resume=True), expected)


def test_a_folder_of_something_else_is_left_alone(hypergraph, tmp_path):
    """Such as that of the hypergraph itself."""
    hm.write_folder(hypergraph, tmp_path / "points")
    before = sorted(path.name for path in (tmp_path / "points").iterdir())
    for resume in (False, True):
        with pytest.raises(FileExistsError, match=r"is no folder of a run, it holds 'degrees\.npy'"):
            hm.find_modes(hypergraph, results=tmp_path / "points", resume=resume)
    assert sorted(path.name for path in (tmp_path / "points").iterdir()) == before
    (tmp_path / "begun" / "blocks").mkdir(parents=True)  # interrupted before it had a description
    (tmp_path / "begun" / "lock").touch()
    (tmp_path / "begun" / ".run.json.half").touch()
    assert len(hm.find_modes(hypergraph, results=tmp_path / "begun"))


def test_a_folder_that_cannot_be_written_to_is_named(hypergraph, tmp_path):
    (tmp_path / "run" / "lock").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"results: '.*lock' is no file of a run; expected a folder"):
        hm.find_modes(hypergraph, results=tmp_path / "run")


def test_there_is_no_second_run_in_a_folder_unless_it_is_the_same(hypergraph, folder):
    hm.find_modes(hypergraph, results=folder)
    before = {path.name: path.read_bytes() for path in folder.rglob("*.npz")}
    with pytest.raises(FileExistsError, match="holds a run already; pass resume=True"):
        hm.find_modes(hypergraph, results=folder)
    other = hm.Hypergraph.from_incidence(hypergraph.incidence, 2 * hypergraph.weights)
    with pytest.raises(ValueError, match="another one: not the same hypergraph; expected the same call"):
        hm.find_modes(other, results=folder, resume=True)
    with pytest.raises(ValueError, match="not the same starts, n_starts; expected"):
        hm.find_modes(hypergraph, results=folder, resume=True, starts="peaks")
    with pytest.raises(ValueError, match="not the same budget"):
        hm.find_modes(hypergraph, results=folder, resume=True, max_rounds=7)
    assert before == {path.name: path.read_bytes() for path in folder.rglob("*.npz")}


def test_a_run_from_disk_knows_its_hypergraph(hypergraph, tmp_path, folder):
    hm.write_folder(hypergraph, tmp_path / "h")
    hm.write_folder(hm.Hypergraph.from_incidence(hypergraph.incidence), tmp_path / "other")
    modes = hm.find_modes(hm.open(tmp_path / "h"), results=folder)
    assert_same(hm.find_modes(hm.open(tmp_path / "h"), results=folder, resume=True), modes)
    with pytest.raises(ValueError, match="not the same hypergraph"):
        hm.find_modes(hm.open(tmp_path / "other"), results=folder, resume=True)


def test_the_second_is_told_who_holds_the_folder(hypergraph, expected, folder):
    refused = []

    def again(done, total):
        if not refused:
            with pytest.raises(
                BlockingIOError, match=f"in use by process {os.getpid()} on .* since 20"
            ) as error:
                hm.find_modes(hypergraph, results=folder, resume=True)
            refused.append(str(error.value))

    assert_same(hm.find_modes(hypergraph, results=folder, progress=again), expected)
    assert len(refused) == 1
    assert "\n" not in refused[0]
    assert_same(hm.find_modes(hypergraph, results=folder, resume=True), expected)  # it is free again


def test_a_lock_of_the_dead_holds_nobody_up(hypergraph, expected, folder):
    folder.mkdir()
    (folder / "lock").write_text("process 1 on elsewhere since 1970-01-01T00:00:00+00:00\n")
    assert_same(hm.find_modes(hypergraph, results=folder), expected)


# -- damaged and hostile folders ----------------------------------------------------------------------


def noted(path, column, value):
    notes = np.load(path)["notes"]
    notes[0, column] = value
    return notes


def rewritten(path, **changes):
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    np.savez(path, **arrays | changes)


DAMAGE = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:200]),
    "empty": lambda path: path.write_bytes(b""),
    "of another block": lambda path: path.write_bytes(path.with_name("0.npz").read_bytes()),
    "rows out of range": lambda path: rewritten(path, rows=np.load(path)["rows"] + 10**6),
    "which out of range": lambda path: rewritten(path, which=np.load(path)["which"] + 10**6),
    "too few starts": lambda path: rewritten(path, which=np.load(path)["which"][:-1]),
    "another type": lambda path: rewritten(path, shares=np.load(path)["shares"].astype(np.float32)),
    "objects": lambda path: rewritten(path, notes=np.array([{}], dtype=object)),
    "no status": lambda path: rewritten(path, notes=noted(path, STATUS, 99)),
    "not finished": lambda path: rewritten(path, notes=noted(path, STATUS, OPEN)),
    "no density": lambda path: rewritten(path, notes=noted(path, DENSITY, np.nan)),
    "half a row": lambda path: rewritten(path, notes=noted(path, WORST, 1.5)),
    "no shares": lambda path: rewritten(path, shares=np.load(path)["shares"] * np.nan),
    "shares of more": lambda path: rewritten(path, shares=np.load(path)["shares"] * 1.1),
    "falling rows": lambda path: rewritten(path, rows=np.load(path)["rows"][::-1].copy()),
    "one row": lambda path: rewritten(path, rows=np.load(path)["rows"] * 0),
    "others came first": lambda path: rewritten(path, first=np.load(path)["first"][::-1].copy()),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_block_is_done_again(hypergraph, expected, folder, counted, damage):
    hm.find_modes(hypergraph, results=folder)
    good = (folder / "blocks" / "2.npz").read_bytes()
    DAMAGE[damage](folder / "blocks" / "2.npz")
    counted.clear()
    assert_same(hm.find_modes(hypergraph, results=folder, resume=True), expected)
    assert counted == [SIZE]
    assert len(good) == (folder / "blocks" / "2.npz").stat().st_size


STRANGE = {
    "link": lambda path, victim: path.symlink_to(victim),
    "dangling link": lambda path, victim: path.symlink_to(victim.with_name("nobody")),
    "folder": lambda path, victim: path.mkdir(),
    "pipe": lambda path, victim: os.mkfifo(path),
}


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("name", ["blocks/0.npz", "lock", "run.json"])
def test_nothing_is_written_through_what_no_run_has_made(hypergraph, folder, tmp_path, name, kind):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    hm.find_modes(hypergraph, results=folder)
    (folder / name).unlink()
    STRANGE[kind](folder / name, victim)
    with pytest.raises(ValueError, match=r"results: .* is no file of a run") as told:
        hm.find_modes(hypergraph, results=folder, resume=True)
    assert "\n" not in str(told.value)
    assert victim.read_text() == "precious"
    assert not victim.with_name("nobody").exists()


def test_blocks_are_not_written_to_another_folder(hypergraph, folder, tmp_path):
    folder.mkdir()
    (tmp_path / "other").mkdir()
    (folder / "blocks").symlink_to(tmp_path / "other")
    with pytest.raises(ValueError, match=r"results: .* is no folder of a run"):
        hm.find_modes(hypergraph, results=folder, resume=True)
    assert not list((tmp_path / "other").iterdir())


def test_what_was_not_finished_when_somebody_was_killed_is_cleared_away(hypergraph, expected, folder):
    hm.find_modes(hypergraph, results=folder)
    (folder / "blocks" / ".3.npz.0123456789ab.npz").write_bytes(b"PK half of it")
    assert_same(hm.find_modes(hypergraph, results=folder, resume=True), expected)
    assert all(path.name[0] != "." for path in (folder / "blocks").iterdir())


def test_a_child_that_was_forked_meanwhile_holds_nothing(hypergraph, expected, folder):
    """It has the same open file, and a lock is the file's."""
    code = (
        "import os, sys, numpy as np, hypermodes as hm\n"
        "H, forked = hm.Hypergraph.from_edges([[1, 2], [2, 3]]), []\n"
        "def fork(done, total):\n"
        "    if not forked:\n"
        "        ends = os.pipe()\n"
        "        forked.append((os.fork(), *ends))\n"
        "        if forked[0][0] == 0:\n"
        "            os.close(ends[1]); os.read(ends[0], 1); os._exit(0)\n"
        f"hm.find_modes(H, results={str(folder)!r}, progress=fork)\n"
        f"hm.find_modes(H, results={str(folder)!r}, resume=True)\n"
        "os.close(forked[0][2]); os.waitpid(forked[0][0], 0)\n"
    )
    path = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=os.environ | {"PYTHONPATH": path})
    assert done.returncode == 0


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, json.dumps({"format": 1}).encode()]
)
def test_a_description_that_makes_no_sense_is_refused(hypergraph, folder, content):
    folder.mkdir()
    (folder / "run.json").write_bytes(content)
    with pytest.raises(ValueError, match="does not describe a run") as error:
        hm.find_modes(hypergraph, results=folder, resume=True)
    assert "\n" not in str(error.value)


def test_blocks_without_a_description_are_not_overwritten(hypergraph, folder):
    hm.find_modes(hypergraph, results=folder)
    (folder / "run.json").unlink()
    with pytest.raises(ValueError, match="has lost its run"):
        hm.find_modes(hypergraph, results=folder, resume=True)


def test_a_file_is_no_folder(hypergraph, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="results: cannot make the folder"):
        hm.find_modes(hypergraph, results=tmp_path / "file")


@pytest.mark.parametrize("results", [5, True, b"run", "", ["run"]])
def test_what_is_no_path_is_refused(hypergraph, results):
    with pytest.raises(ValueError, match="results: expected the path of a folder, as text or a Path; got"):
        hm.find_modes(hypergraph, results=results)


def test_a_call_that_fails_at_once_begins_no_run(hypergraph, expected, folder):
    with pytest.raises(TypeError, match="progress"):
        hm.find_modes(hypergraph, results=folder, progress=5)
    assert not folder.exists()


def test_a_run_that_has_no_block_yet_is_no_run(hypergraph, expected, folder):
    """It may have been ended, or found no room, before its first. Another may take its place."""
    hm.find_modes(hypergraph, results=folder, max_rounds=7)
    for path in (folder / "blocks").iterdir():
        path.unlink()
    assert_same(hm.find_modes(hypergraph, results=folder), expected)


def test_numbers_of_numpy_are_numbers(hypergraph, expected, folder):
    rules = {"max_rounds": np.int64(100), "expansion": hm.Voting(max_support=np.int64(512))}
    assert_same(hm.find_modes(hypergraph, results=folder, **rules), expected)
    assert_same(hm.find_modes(hypergraph, results=folder, resume=True), expected)


def test_a_folder_stays_the_same_wherever_the_process_goes(hypergraph, expected, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    modes = hm.find_modes(hypergraph, results="run", progress=lambda *_: os.chdir(tmp_path / "elsewhere"))
    assert_same(modes, expected)
    assert not list((tmp_path / "elsewhere").iterdir())
    assert_same(hm.find_modes(hypergraph, results=tmp_path / "run", resume=True), expected)


def test_resume_needs_results(hypergraph):
    with pytest.raises(ValueError, match="resume: expected results="):
        hm.find_modes(hypergraph, resume=True)
