"""Runs kept in a folder: no finished block is lost, no other run is taken up, nobody writes to another's."""

import errno
import gc
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import hypermodes as hm
from hypermodes import executors, gathering, runs
from hypermodes._kernels.shifting import OPEN
from hypermodes.batch import (
    CURVATURE,
    DENSITY,
    EXCESS,
    N_NOTES,
    STATUS,
    TIE_CURVATURE,
    TIES,
    WORST,
    Budget,
    Points,
    Prepared,
    surveyed,
)
from hypermodes.datasets import five_crescents
from strange_files import STRANGE

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


@pytest.fixture
def elsewhere(hypergraph, folder, tmp_path):
    """The beginning of code for another process, and where it finds this package: call it with the rest."""
    hypergraph.save(tmp_path / "h.npz")
    begin = (
        "import io, os, resource, signal, sys, numpy as np, hypermodes as hm\n"
        f"H, folder = hm.Hypergraph.load({str(tmp_path / 'h.npz')!r}), {str(folder)!r}\n"
    )
    path = os.pathsep.join(path for path in sys.path if path)

    def process(code, **options):
        command = [sys.executable, "-c", begin + code]
        return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": path}, text=True, **options)

    return process


def test_a_killed_run_is_finished(hypergraph, expected, folder, elsewhere, counted):
    """The process is killed outright, by a signal that cannot be caught, right after its fourth block."""
    process = elsewhere(
        f"kill = lambda done, total: done >= {4 * SIZE} and os.kill(os.getpid(), signal.SIGKILL)\n"
        "hm.find_modes(H, results=folder, n_jobs=1, progress=kill)\n"
    )
    assert process.wait() == -signal.SIGKILL
    kept = len(list((folder / "blocks").iterdir()))
    assert kept >= 4
    assert_same(hm.find_modes(hypergraph, results=folder, resume=True), expected)
    assert sum(counted) == hypergraph.n_edges - kept * SIZE


def written(folder):
    """What finished blocks hold, and when and as which file they were written."""
    blocks = sorted((folder / "blocks").glob("[0-9]*.npz"))
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) for path in blocks}


def assert_goes_on(hypergraph, expected, folder, counted):
    """Resuming gives the same modes; what was finished stays as it is, and what was not leaves nothing."""
    before = written(folder)
    counted.clear()
    assert_same(hm.find_modes(hypergraph, results=folder, resume=True), expected)
    assert sum(counted) == hypergraph.n_edges - len(before) * SIZE  # the last one, smaller, is not there yet
    assert {name: block for name, block in written(folder).items() if name in before} == before
    assert all(path.name[0] != "." for path in folder.rglob("*"))


def test_a_run_that_is_killed_inside_a_block_is_finished(hypergraph, expected, folder, elsewhere, counted):
    """Half of the fourth block is on the disk when the process is killed outright."""
    process = elsewhere(
        "save, calls = np.savez, []\n"
        "def killed(file, **arrays):\n"
        "    calls.append(1)\n"
        "    if len(calls) < 4:\n"
        "        return save(file, **arrays)\n"
        "    whole = io.BytesIO()\n"
        "    save(whole, **arrays)\n"
        "    file.write(whole.getvalue()[: whole.tell() // 2])\n"
        "    file.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "np.savez = killed\n"
        "hm.find_modes(H, results=folder, n_jobs=1)\n"
    )
    assert process.wait() == -signal.SIGKILL
    assert len([path for path in (folder / "blocks").iterdir() if path.name[0] == "."]) == 1
    assert len(written(folder)) == 3
    assert_goes_on(hypergraph, expected, folder, counted)


def test_a_write_that_the_system_cuts_off_loses_nothing_else(
    hypergraph, expected, folder, elsewhere, counted, tmp_path
):
    """No file may be larger than the first blocks: one that is fails in the middle, as on a full disk."""
    hm.find_modes(hypergraph, results=tmp_path / "whole", n_jobs=1)
    n = -(-hypergraph.n_edges // SIZE)
    sizes = [(tmp_path / "whole" / "blocks" / f"{k}.npz").stat().st_size for k in range(n)]
    kept = next(k for k in range(3, n) if sizes[k] > max(sizes[:k]))
    process = elsewhere(
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({sizes[kept] - 1}, {sizes[kept] - 1}))\n"
        "try:\n"
        "    hm.find_modes(H, results=folder, n_jobs=1)\n"
        "except OSError as error:\n"
        "    print(error)\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert out == (
        f"results: cannot write to {str(folder)!r}: File too large; what is there is kept, and the same call "
        "with resume=True goes on from it\n"
    )
    assert all(path.name[0] != "." for path in folder.rglob("*"))
    there = {int(name.removesuffix(".npz")) for name in written(folder)}  # two may be done at once
    assert len(there) >= 2
    assert all(sizes[k] < sizes[kept] for k in there)
    assert_goes_on(hypergraph, expected, folder, counted)


def test_the_disk_has_what_the_run_is_of_and_nobody_waits_for_blocks(hypergraph, folder, monkeypatch):
    waited, fsync = [], os.fsync

    def note(handle):
        waited.append(os.fstat(handle).st_ino)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", note)
    hm.find_modes(hypergraph, results=folder)
    assert waited == [(folder / "run.json").stat().st_ino, folder.stat().st_ino]


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
    with pytest.raises(ValueError, match=r"not the same hypergraph \(in memory .*; expected the same call"):
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


def test_the_second_is_told_in_one_line_whatever_the_lock_says(hypergraph, folder):
    refused = []

    def again(done, total):
        if not refused:
            (folder / "lock").write_bytes(b"\xff\xfenobody\x1b[2J\n" + b"we know\n" * 1000)
            with pytest.raises(BlockingIOError, match=r"in use by \S\Snobody") as error:
                hm.find_modes(hypergraph, results=folder, resume=True)
            refused.append(str(error.value))

    hm.find_modes(hypergraph, results=folder, progress=again)
    gc.collect()  # a file that was left open is blamed on this test
    assert len(refused[0]) < 400
    assert refused[0].isprintable()


def test_a_lock_ends_with_its_holder_and_not_before(hypergraph, expected, folder, elsewhere):
    process = elsewhere(
        "def hold(done, total):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
        "hm.find_modes(H, results=folder, n_jobs=1, progress=hold)\n",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(BlockingIOError, match=f"in use by process {process.pid} on "):
            hm.find_modes(hypergraph, results=folder, resume=True)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert_same(hm.find_modes(hypergraph, results=folder, resume=True), expected)


def test_of_two_that_start_while_the_lock_is_removed_one_holds_it(tmp_path, monkeypatch):
    """The first has the file open when it is removed, and locks what nobody else will ever find."""
    import fcntl

    flock, held = fcntl.flock, []

    def overtaken(handle, how):
        if not held:
            (tmp_path / "lock").unlink()
            held.append(None)
            held.append(runs._Lock(tmp_path / "lock"))
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", overtaken)
    with pytest.raises(BlockingIOError, match=f"in use by process {os.getpid()} on "):
        runs._Lock(tmp_path / "lock")
    held[1].release()
    runs._Lock(tmp_path / "lock").release()


def test_a_lock_that_is_always_removed_is_given_up(tmp_path, monkeypatch):
    import fcntl

    monkeypatch.setattr(fcntl, "flock", lambda handle, how: (tmp_path / "lock").unlink())
    with pytest.raises(OSError, match=r"^results: cannot lock '.*lock': it is removed again and again$"):
        runs._Lock(tmp_path / "lock")


def test_who_has_lost_the_lock_writes_nothing_more(hypergraph, expected, folder):
    def remove(done, total):
        (folder / "lock").unlink(missing_ok=True)

    message = (
        r"^results: cannot write to '.*run': its lock was removed, and others may be at it; .*resume=True"
    )
    with pytest.raises(OSError, match=message):
        hm.find_modes(hypergraph, results=folder, n_jobs=1, progress=remove)
    kept = written(folder)
    assert 0 < len(kept) < hypergraph.n_edges // SIZE
    assert_same(hm.find_modes(hypergraph, results=folder, resume=True), expected)
    assert written(folder).items() >= kept.items()


def test_a_lock_of_the_dead_holds_nobody_up(hypergraph, expected, folder):
    folder.mkdir()
    (folder / "lock").write_text("process 1 on elsewhere since 1970-01-01T00:00:00+00:00\n")
    assert_same(hm.find_modes(hypergraph, results=folder), expected)


# -- damaged and hostile folders ----------------------------------------------------------------------


def noted(path, column, value):
    notes = np.load(path)["notes"]
    notes[0, column] = value
    return notes


def times(path, column, factor):
    return np.load(path)["notes"] * (1 + (factor - 1) * (at(column, 1) > 0))


def at(column, value):
    return value * (np.arange(N_NOTES) == column)


def exchanged(path):
    """The shares of each point in another order: they are still probabilities."""
    with np.load(path) as stored:
        cuts = stored["ptr"][1:-1]
        return np.concatenate([part[::-1] for part in np.split(stored["shares"], cuts)])


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
    "twice the density": lambda path: rewritten(path, notes=times(path, DENSITY, 2.0)),
    "a little more density": lambda path: rewritten(path, notes=times(path, DENSITY, 1 + 1e-12)),
    "no excess": lambda path: rewritten(path, notes=times(path, EXCESS, 0.0) + at(EXCESS, 1e-20)),
    "more ties": lambda path: rewritten(path, notes=np.load(path)["notes"] + at(TIES, 1)),
    "other ties": lambda path: rewritten(path, notes=noted(path, TIE_CURVATURE, -5.0)),
    "other shares": lambda path: rewritten(path, shares=exchanged(path)),
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


def test_curvatures_are_not_taken_from_a_folder(hypergraph, expected, folder, counted):
    hm.find_modes(hypergraph, results=folder)
    for path in (folder / "blocks").iterdir():
        rewritten(path, notes=np.load(path)["notes"] - at(CURVATURE, 1))
    counted.clear()
    assert_same(hm.find_modes(hypergraph, results=folder, resume=True), expected)
    assert counted == []


@pytest.mark.parametrize(
    "rules", [{}, {"max_rounds": 1}, {"max_rounds": 2, "expansion": hm.Voting(max_support=3)}]
)
def test_blocks_with_ties_and_of_starts_that_were_given_up_are_not_done_again(folder, counted, rules):
    rng = np.random.default_rng(3)
    edges = [rng.choice(25, size=rng.integers(2, 5), replace=False).tolist() for _ in range(90)]
    tied = hm.Hypergraph.from_edges(edges)
    whole = hm.find_modes(tied, results=folder, **rules)
    assert whole.table.ties.any() or rules
    counted.clear()
    assert_same(hm.find_modes(tied, results=folder, resume=True, **rules), whole)
    assert counted == []


def test_a_saddle_that_is_said_to_be_certified_is_done_again(folder, counted):
    """Every number of the saddle of two separate pairs is right, but for the word that it is certified."""
    pairs = hm.MatrixAffinity(np.kron(np.eye(2), 1 - np.eye(2)))
    whole = hm.find_modes(pairs, results=folder)
    path = folder / "blocks" / "0.npz"
    points = Points(np.array([0, 4]), np.arange(4), np.full(4, 0.25))
    found = surveyed(Prepared.of(pairs), points, Budget().tol)
    notes = np.concatenate(([[0, 1, 1]], found, [[-1.0]]), axis=1)
    rewritten(
        path, ptr=points.ptr, rows=points.rows, shares=points.shares, notes=notes, first=np.array([0]),
        which=np.zeros(4, np.int64),
    )  # fmt: skip
    counted.clear()
    assert_same(hm.find_modes(pairs, results=folder, resume=True), whole)
    assert counted == [4]


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


@pytest.mark.parametrize("kind", ["link", "dangling link"])
def test_nothing_is_written_through_a_link_that_came_later(hypergraph, folder, tmp_path, kind):
    """The last block is there as a link when it is to be written, long after all were looked for."""
    victim, last = tmp_path / "victim", folder / "blocks" / f"{(hypergraph.n_edges - 1) // SIZE}.npz"
    victim.write_text("precious")

    def put(done, total):
        if not last.is_symlink():
            STRANGE[kind](last, victim)

    with pytest.raises(ValueError, match=r"results: .* is no file of a run"):
        hm.find_modes(hypergraph, results=folder, n_jobs=1, progress=put)
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
    (folder / ".run.json.0123456789ab.json").write_text("{")
    assert_same(hm.find_modes(hypergraph, results=folder, resume=True), expected)
    assert all(path.name[0] != "." for path in folder.rglob("*"))


def test_a_child_that_was_forked_meanwhile_lets_nobody_in(hypergraph, folder, elsewhere):
    """Whatever it does with what it has of its parent."""
    process = elsewhere(
        "def fork(done, total):\n"
        "    if fork.first:\n"
        "        fork.first = False\n"
        "        if os.fork() == 0:\n"
        "            raise SystemExit\n"
        "        os.wait()\n"
        "        try:\n"
        "            hm.find_modes(H, results=folder, resume=True)\n"
        "        except BlockingIOError as error:\n"
        "            print(error)\n"
        "fork.first = True\n"
        "hm.find_modes(H, results=folder, n_jobs=1, progress=fork)\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    out, _ = process.communicate()
    assert process.returncode == 0
    assert f"in use by process {process.pid} on " in out


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


def test_a_path_that_was_mistyped_is_no_new_place(hypergraph, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^results: cannot make the folder .*: there is no folder '"):
        hm.find_modes(hypergraph, results=tmp_path / "nowhere" / "run", resume=True)
    assert not (tmp_path / "nowhere").exists()


def test_a_file_is_no_folder(hypergraph, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="results: cannot make the folder"):
        hm.find_modes(hypergraph, results=tmp_path / "file")


@pytest.mark.parametrize("results", [5, True, b"run", "", ["run"]])
def test_what_is_no_path_is_refused(hypergraph, results):
    with pytest.raises(ValueError, match="results: expected a path, as text or a Path; got"):
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
