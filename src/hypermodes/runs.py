"""A run kept in a folder: each block of starts in a file of its own as soon as it is done.

``run.json`` says what the run is of; ``blocks/K.npz`` is what came of block K; ``lock`` says who is at it.
Every file is written all at once or not at all, so whatever happens to the run, what is there is right, and
the same call goes on from it. Blocks are not waited for until the disk has them: if the machine itself loses
power, those of the last seconds may be empty or gone, which is seen when they are read, and they are done
again. Nothing is unpickled.
"""

import hashlib
import json
import os
import socket
import stat
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np

from hypermodes.batch import (
    CURVATURE,
    DENSITY,
    EXCESS,
    N_NOTES,
    ROUNDS,
    SPREAD,
    STATUS,
    STEPS,
    TIE_CURVATURE,
    TIES,
    WORST,
    Budget,
    Found,
    Points,
    Prepared,
    surveyed,
)
from hypermodes.curvature import curvatures
from hypermodes.files import as_path, check_own, load_arrays, open_plain, replacing, save_arrays, writing_to
from hypermodes.gathering import Gathered

KEPT: Final = "; what is there is kept, and the same call with resume=True goes on from it"
_FORMAT: Final = "hypermodes-run-2"
_BLOCK_FORMAT: Final = "hypermodes-block-2"
_BLOCK_PARTS: Final = ("run", "ptr", "rows", "shares", "notes", "first", "which")
_FINISHED: Final = range(6)  # statuses that a start may end with, as `_kernels.shifting` numbers them
_ROUNDING: Final = 1e-9  # by which shares may miss 1
_TRIES: Final = 10  # to lock a file that is removed meanwhile
_LONGEST_HOLDER: Final = 200  # bytes that a lock may say of its holder


class Run:
    """The blocks of one run in a folder; nobody else writes to it while it is open.

    Parameters
    ----------
    path : path
        The folder; made if it is not there.
    prepared, rows, budget
        What is shifted, from which rows, and how.
    block : int
        Rows a block.
    resume : bool
        Go on with what is there. Without, there must not be a run in the folder.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        prepared: Prepared,
        rows: np.ndarray,
        budget: Budget,
        block: int,
        resume: bool,
    ) -> None:
        self.path, self.block, self._n_rows = _folder(path), block, prepared.n_rows
        self._prepared, self._budget = prepared, budget
        self._sizes = [min(block, rows.size - low) for low in range(0, rows.size, block)]
        _check_folder(self.path)
        try:
            self.path.mkdir(exist_ok=True)  # only the last: a path that was mistyped is no new place
            (self.path / "blocks").mkdir(exist_ok=True)
        except OSError as error:
            nowhere = isinstance(error, FileNotFoundError)
            reason = f"there is no folder {str(self.path.parent)!r}" if nowhere else error.strerror
            raise type(error)(f"results: cannot make the folder {str(self.path)!r}: {reason}") from None
        self._lock = _Lock(self.path / "lock")
        try:
            self._begin(_description(prepared, rows, budget, block), resume)
            self._clear_away()
        except BaseException:
            self._lock.release()
            raise

    def _begin(self, wanted: dict[str, Any], resume: bool) -> None:
        stored = _read_description(self.path)
        if stored is None or not (resume or self._has_blocks()):
            with _writing(self.path), _in_place(self.path / "run.json", lasting=True) as temporary:
                temporary.write_text(json.dumps(wanted, indent=1), encoding="utf-8")
        elif not resume:
            raise FileExistsError(
                f"results: {str(self.path)!r} holds a run already; pass resume=True to go on with it"
            )
        elif stored != wanted:
            apart = [name for name in wanted if stored.get(name) != wanted[name]]
            hint = " (in memory it is another one than opened from a folder)" if "hypergraph" in apart else ""
            raise ValueError(
                f"results: the run in {str(self.path)!r} is another one: not the same {', '.join(apart)}"
                f"{hint}; expected the same call again, or another folder"
            )
        self._id = hashlib.blake2b(json.dumps(wanted).encode(), digest_size=16).hexdigest()

    def load(self, k: int) -> Gathered | None:
        """What came of block ``k``; None if it is not there, or was damaged since."""
        self._check_place(k)
        try:
            with open_plain(self._file(k)) as file:
                return load_arrays(file, _BLOCK_FORMAT, "a block of results", _BLOCK_PARTS, self._checked(k))
        except (OSError, ValueError):
            return None

    def save(self, k: int, block: Gathered) -> None:
        """Keep what came of block ``k``."""
        (ptr, rows, shares), notes = block.found
        arrays = {
            "run": np.array(f"{self._id}-{k}"),
            "ptr": ptr,
            "rows": rows,
            "shares": shares,
            "notes": notes,
            "first": block.first,
            "which": block.which,
        }
        self._check_place(k)
        with _writing(self.path):
            self._lock.check()
            with _in_place(self._file(k)) as temporary, open(temporary, "wb") as file:
                save_arrays(file, _BLOCK_FORMAT, arrays)

    def _clear_away(self) -> None:
        """Remove what somebody was ended while writing: nobody else is at it while the lock is held."""
        with _writing(self.path):
            for folder, unfinished in ((self.path, ".run.json.*"), (self.path / "blocks", ".*.npz")):
                for path in folder.glob(unfinished):
                    if path.is_symlink() or not path.is_dir():  # no run makes folders
                        path.unlink()

    def _check_place(self, k: int) -> None:
        """See that nobody has put a link, or whatever, where a block belongs."""
        check_own("results", self.path / "blocks", "run", is_folder=True)
        check_own("results", self._file(k), "run")

    def _has_blocks(self) -> bool:
        return any((self.path / "blocks").glob("[0-9]*.npz"))

    def _file(self, k: int) -> Path:
        return self.path / "blocks" / f"{k}.npz"

    def _checked(self, k: int) -> Any:
        def build(stored: Mapping[str, np.ndarray]) -> Gathered:
            if str(stored["run"]) != f"{self._id}-{k}":
                raise ValueError("it is of another run")
            points = Points(stored["ptr"], stored["rows"], stored["shares"])
            notes, first, which = stored["notes"], stored["first"], stored["which"]
            kinds = [array.dtype.str for array in (*points, notes, first, which)]
            n, size = first.size, self._sizes[k]
            sound = (
                kinds == ["<i8", "<i8", "<f8", "<f8", "<i8", "<i8"]
                and notes.shape == (n, N_NOTES)
                and (points.ptr.shape, first.shape, which.shape) == ((n + 1,), (n,), (size,))
                and points.rows.shape == points.shares.shape == (points.ptr[-1],)
                and points.ptr[0] == 0
                and (np.diff(points.ptr) > 0).all()
                and _within(points.rows, 0, self._n_rows)
                and _are_distributions(points)
                and _within(first, 0, size)
                and (np.diff(first) > 0).all()
                and (which[first] == np.arange(n)).all()
                and _within(which, -1, n)
                and _are_notes(notes, self._n_rows)
            )
            if not sound:
                raise ValueError("its parts do not fit together")
            if not self._are_of(notes, points):
                raise ValueError("its numbers are not those of its points")
            seen = np.flatnonzero(~np.isnan(notes[:, CURVATURE]))
            notes[seen, CURVATURE] = curvatures(self._prepared, points.take(seen))
            if (_are_certified(notes) & (notes[:, CURVATURE] > self._budget.tol * notes[:, DENSITY])).any():
                raise ValueError("it calls saddles certified")
            return Gathered(Found(points, notes), first, which)

        return build

    def _are_of(self, notes: np.ndarray, points: Points) -> bool:
        """Whether notes are those of the points to the last bit, and what they call certified holds.

        Rounds, steps, and which start came to which point cannot be checked without shifting it again.
        """
        from hypermodes._kernels import shifting

        tol, status, told = self._budget.tol, notes[:, STATUS], notes[:, DENSITY:CURVATURE]
        anew = surveyed(self._prepared, points, tol)
        unmoved = (status == shifting.MAX_ROUNDS) & (np.diff(points.ptr) == 1)  # a start of density 0
        anew[unmoved] = told[unmoved]
        density, spread, excess, tie_curvature = anew[:, [0, SPREAD - DENSITY, EXCESS - DENSITY, -1]].T
        critical = np.maximum(spread, excess) <= tol * density
        certified = _are_certified(notes)
        unasked = ~critical | ~(certified | (status == shifting.NO_ASCENT))
        same = np.array_equal(anew[:, :-1], told[:, :-1])
        same &= np.array_equal(tie_curvature[~unasked], told[~unasked, -1], equal_nan=True)
        return same and bool((critical & (tie_curvature <= tol * density))[certified].all())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


def _folder(path: Any) -> Path:
    """The folder that is meant, wherever the process goes meanwhile."""
    return as_path("results", path).absolute()


def _writing(folder: Path) -> AbstractContextManager[None]:
    """Say in whose folder there was no room, or whatever went wrong with writing there."""
    return writing_to("results", folder, KEPT)


def _in_place(path: Path, *, lasting: bool = False) -> AbstractContextManager[Path]:
    """Write a file of the run; never what a link in its place points at."""
    return replacing(path, follow=False, lasting=lasting)


def _check_folder(path: Path) -> None:
    """Refuse a folder that holds something else, such as the hypergraph itself."""
    for name in ("run.json", "blocks", "lock"):
        check_own("results", path / name, "run", is_folder=name == "blocks")
    if path.is_dir() and not (path / "run.json").exists():
        # What a run has that was interrupted before it had a description, or is just beginning.
        own = ("blocks", "lock")
        others = sorted(name for name in os.listdir(path) if name not in own and not name.startswith("."))
        if others:
            raise FileExistsError(
                f"results: {str(path)!r} is no folder of a run, it holds {others[0]!r}; "
                "expected one that is new, empty, or has a run"
            )


def _are_distributions(points: Points) -> bool:
    """Whether rows rise in each point, and shares are positive and come to 1."""
    rising, last = np.diff(points.rows) > 0, points.ptr[1:-1] - 1
    rising[last] = True  # between points they may fall
    begins = points.ptr[:-1]
    totals = np.add.reduceat(points.shares, begins) if begins.size else begins
    return bool(rising.all() and (points.shares > 0).all() and (abs(totals - 1) <= _ROUNDING).all())


def _are_notes(notes: np.ndarray, n_rows: int) -> bool:
    """Whether notes are such as the kernels take: numbers, and of what there is."""
    status, worst = notes[:, STATUS], notes[:, WORST]
    return bool(
        np.isin(status, _FINISHED).all()
        and _within(worst, -1, n_rows)
        and (worst == np.floor(worst)).all()
        and np.isfinite(notes[:, :TIE_CURVATURE]).all()
        and (notes[:, (ROUNDS, STEPS, DENSITY, SPREAD, EXCESS, TIES)] >= 0).all()
    )


def _are_certified(notes: np.ndarray) -> np.ndarray:
    from hypermodes._kernels.shifting import CERTIFIED

    return notes[:, STATUS] == CERTIFIED


def _within(values: np.ndarray, low: int, high: int) -> bool:
    return values.size == 0 or bool(values.min() >= low and values.max() < high)


def _description(prepared: Prepared, rows: np.ndarray, budget: Budget, block: int) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "release": sys.modules["hypermodes"].__version__,
        "hypergraph": prepared.fingerprint,
        "starts": hashlib.blake2b(np.ascontiguousarray(rows, "<i8").data, digest_size=16).hexdigest(),
        "n_starts": int(rows.size),
        "budget": asdict(budget),
        "block": block,
    }


def _read_description(folder: Path) -> dict[str, Any] | None:
    path = folder / "run.json"
    if not path.exists():
        if any((folder / "blocks").iterdir()):
            raise ValueError(f"results: {str(folder)!r} holds blocks of a run that has lost its run.json")
        return None
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        stored = None
    except OSError as error:
        raise type(error)(f"results: cannot read {str(path)!r}: {error.strerror}") from None
    if not isinstance(stored, dict) or stored.get("format") != _FORMAT:
        raise ValueError(
            f"results: {str(path)!r} does not describe a run of hypermodes, or not any more; "
            "expected another folder, or none of it"
        )
    return stored


class _Lock:
    """One holder at a time, known by name. The system lets go of it when the holder ends, however it ends."""

    def __init__(self, path: Path) -> None:
        if find_spec("fcntl") is None:
            raise OSError("results: needs a system with file locks (fcntl)")
        self.path, self._holds = path, os.getpid()
        for _ in range(_TRIES):
            self._handle = _opened_lock(path)
            try:
                self._take()
                if self._is_there():
                    self._sign()
                    return
            except BaseException:
                os.close(self._handle)
                raise
            os.close(self._handle)  # somebody removed the file meanwhile, and others may lock a new one
        raise OSError(f"results: cannot lock {str(path)!r}: it is removed again and again")

    def _take(self) -> None:
        import fcntl

        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(
                f"results: {str(self.path.parent)!r} is in use by {self._holder()}; "
                "wait for it, or choose another folder"
            ) from None
        except OSError as error:
            raise OSError(f"results: cannot lock {str(self.path)!r}: {error.strerror}") from None

    def _is_there(self) -> bool:
        """Whether the file that is locked is the one that others would find."""
        try:
            return os.path.samestat(self.path.lstat(), os.fstat(self._handle))
        except OSError:
            return False

    def _sign(self) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        told = f"process {os.getpid()} on {socket.gethostname()} since {now}\n"
        try:
            os.ftruncate(self._handle, 0)
            os.write(self._handle, told.encode())
        except OSError as error:
            raise OSError(f"results: cannot write to {str(self.path)!r}: {error.strerror}") from None

    def _holder(self) -> str:
        """Who is at it, by their own account, in one line whatever the file holds."""
        told = os.pread(self._handle, _LONGEST_HOLDER, 0).decode("utf-8", "replace")
        line = "".join(letter if letter.isprintable() else " " for letter in told)
        return " ".join(line.split()) or "somebody"

    def check(self) -> None:
        """See that it still keeps others out: somebody may have removed the file."""
        if not self._is_there():
            raise OSError("its lock was removed, and others may be at it")

    def release(self) -> None:
        import fcntl

        if (
            os.getpid() == self._holds
        ):  # and not a child that was forked meanwhile, and has the same open file
            with suppress(OSError):
                os.ftruncate(self._handle, 0)  # nobody is at it any more
                fcntl.flock(self._handle, fcntl.LOCK_UN)  # a child may keep the file open
        os.close(self._handle)


def _opened_lock(path: Path) -> int:
    """The file of a lock, made if it is not there; no link is followed, no pipe waited for."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        handle = os.open(path, flags, 0o666)
    except OSError as error:
        raise type(error)(f"results: cannot write to {str(path.parent)!r}: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(f"results: cannot lock {str(path)!r}: it is no plain file")
    return handle
