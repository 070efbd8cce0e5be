"""Write a file all at once or not at all, tables among them; arrays in one ``.npz`` never unpickled."""

import csv
import errno
import io
import os
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeVar
from uuid import uuid4

import numpy as np

from hypermodes.npy import read_array
from hypermodes.scalars import shown

T = TypeVar("T")

LARGEST = 2**30
"""Bytes that a compressed file may unpack to, if nothing else is said."""


def as_path(name: str, given: Any) -> Path:
    """The path that is meant. Truth values and numbers, which `open` takes for open files, are refused."""
    text = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise ValueError(f"{name}: expected a path, as text or a Path; got {shown(given)}")
    return Path(text)


@contextmanager
def replacing(path: str | os.PathLike[str], *, follow: bool = True, lasting: bool = False) -> Iterator[Path]:
    """Give a temporary path beside ``path``; it takes the place of ``path`` when the block ends well.

    If the block raises, or is interrupted, ``path`` is as it was and nothing is left beside it. A link stays
    a link to what is written; without ``follow`` it is replaced, and what it points at is left alone. A file
    keeps its owner and who may read and write it; one that nobody may write to is refused. With ``lasting``
    the disk has all of it before it goes on, so that it outlives a loss of power.
    """
    shown = os.fspath(as_path("path", path))
    with _explained(shown):
        target = _target(shown, follow)
        before = _to_replace(target)
        temporary = beside(target)
        # Not by mkstemp, which makes files private; what is to replace one that is private, always is.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if before else 0o666))
    try:
        try:
            yield temporary
        except OSError as error:
            if error.errno in _NO_ROOM and error.filename is None:
                error.filename = shown  # else nobody would know where
            raise
        with _explained(shown):
            if before is not None:
                _belongs_like(temporary, before)
            if lasting:
                settle(temporary)
            temporary.replace(target)
            if lasting:
                settle(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def _explained(shown: str) -> Iterator[None]:
    """Say in one line which file cannot be written, where the system only says why."""
    try:
        yield
    except OSError as error:
        if error.strerror is None:  # it is one of ours
            raise
        raise type(error)(f"path: cannot write {shown!r}: {error.strerror}") from None


def beside(target: Path) -> Path:
    """A hidden name of its own beside a file or folder, never too long where its own name is not."""
    suffix = target.suffix if len(target.suffix) <= _LONG_SUFFIX else ""
    return target.parent / f".{target.name[:_SHOWN]}.{uuid4().hex[:12]}{suffix}"


_SHOWN, _LONG_SUFFIX = 24, 16  # characters, which may take four bytes each; names may have 255


def _to_replace(target: Path) -> os.stat_result | None:
    """The file that is there, if there is one; that it cannot be written to holds although its folder can."""
    if target.is_symlink() or not target.exists():
        return None
    before = target.stat()
    if not before.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "it is read-only")
    return before


def _belongs_like(temporary: Path, before: os.stat_result) -> None:
    """Give a file the owner, the group and the permissions of the one that it replaces."""
    mode = stat.S_IMODE(before.st_mode) & 0o777
    now = temporary.stat()
    if hasattr(os, "chown") and (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.chown(temporary, before.st_uid, before.st_gid)
        except OSError:  # it is somebody else's; the group may be one of ours
            try:
                os.chown(temporary, -1, before.st_gid)
            except OSError:
                mode &= ~0o070  # what its group may do, is not for ours
    temporary.chmod(mode)


def settle(path: Path) -> None:
    """Wait until the disk has what was written to a file, or which files a folder holds."""
    is_folder = path.is_dir()
    if is_folder and os.name == "nt":
        return  # folders cannot be opened there
    try:
        handle = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        # Some file systems have no such thing for folders, and one may write to some that one may not read:
        # then the name is as lasting as they make it.
        if not is_folder or error.errno not in _NOT_FOR_FOLDERS:
            raise


_NOT_FOR_FOLDERS = (
    errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.EISDIR, errno.EACCES, errno.EPERM,
)  # fmt: skip


@contextmanager
def writing_to(name: str, folder: Path, hint: str = "") -> Iterator[None]:
    """Say of which argument, and in whose folder, there was no room, or whatever went wrong with writing."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error).removeprefix("path: ")
        raise type(error)(f"{name}: cannot write to {str(folder)!r}: {reason}{hint}") from None


def check_own(name: str, path: Path, owner: str, *, is_folder: bool = False) -> None:
    """Refuse what we have not made, such as a link: what is written there would go somewhere else."""
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not (stat.S_ISDIR(mode) if is_folder else stat.S_ISREG(mode)):
        raise ValueError(
            f"{name}: {str(path)!r} is no {'folder' if is_folder else 'file'} of a {owner}; "
            "expected a folder that only hypermodes has written to"
        )


def open_plain(path: Path) -> BinaryIO:
    """Open a plain file to read. Links, pipes and devices are an OSError at once: nobody waits for them."""
    try:
        handle = os.open(path, os.O_RDONLY | _PLAIN)
    except OSError as error:
        raise OSError(error.errno, "it is a link") if path.is_symlink() else error from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is no plain file")
    return open(handle, "rb")


# A link in the last place is not followed; a pipe that nobody writes to is not waited for.
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def save_arrays(path: str | os.PathLike[str] | BinaryIO, kind: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays, what they are, and which there are, to exactly this path or into an open file."""
    said = {"format": np.array(kind), _MEMBERS: np.array(sorted(arrays), dtype=np.str_)}
    if isinstance(path, io.TextIOBase):
        raise ValueError("path: expected a path or a file opened in binary mode; got one opened as text")
    if hasattr(path, "write"):
        np.savez(path, allow_pickle=False, **said, **arrays)
        return
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, allow_pickle=False, **said, **arrays)


_MEMBERS = "members"


def load_arrays(
    path: str | os.PathLike[str] | BinaryIO,
    kind: str,
    what: str,
    known: Collection[str],
    build: Callable[[dict[str, np.ndarray]], T],
    max_bytes: int = LARGEST,
) -> T:
    """Read what `save_arrays` wrote and build from it; anything that does not fit is one ValueError.

    Arrays that are not ``known`` are refused, and so is a file without an array that it says it has: else one
    that may be left out could be lost by a damaged name. A file that is compressed may unpack to
    ``max_bytes``, and any to as much as it has itself.
    """
    with _opened(path) as file:
        try:
            if not zipfile.is_zipfile(file):
                raise ValueError("it is no archive of arrays")
            most = max(max_bytes, file.seek(0, os.SEEK_END))
            with zipfile.ZipFile(file) as archive:
                size = sum(member.file_size for member in archive.infolist())
                if size > most:
                    raise ValueError(
                        f"it unpacks to {size} bytes, more than max_bytes={max_bytes}; "
                        "raise max_bytes to read it"
                    )
                arrays = dict(map(partial(_array, archive), archive.infolist()))
            if "format" not in arrays:
                few = ", ".join(sorted(arrays)[:5])
                raise ValueError(
                    f"it is an archive of other arrays ({few}); save points with numpy.save, as .npy"
                )
            if str(arrays.pop("format")) != kind:
                raise ValueError("it holds something else")
            _check_members(arrays, known)
            return build(arrays)
        except _MALFORMED as error:
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            raise ValueError(f"path: {_named(path)} is not {what} saved by hypermodes: {reason}") from error


def _check_members(arrays: dict[str, np.ndarray], known: Collection[str]) -> None:
    if not arrays.keys() <= {*known, _MEMBERS}:
        raise ValueError(f"it has an array called {min(arrays.keys() - {*known, _MEMBERS})!r}")
    if _MEMBERS in arrays:  # files of before say nothing
        said = set(arrays.pop(_MEMBERS).tolist())
        if said != arrays.keys():
            raise ValueError(f"it should have {sorted(said)}; it has {sorted(arrays)}")


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[str, np.ndarray]:
    with archive.open(member) as file:
        return member.filename.removesuffix(".npy"), read_array(file, member.file_size)


def _opened(path: str | os.PathLike[str] | BinaryIO) -> AbstractContextManager[Any]:
    return nullcontext(path) if hasattr(path, "read") else open(as_path("path", path), "rb")


def _named(path: str | os.PathLike[str] | BinaryIO) -> str:
    return repr(getattr(path, "name", "the file") if hasattr(path, "read") else os.fspath(path))


# What a damaged or hostile file makes NumPy, zipfile, zlib and json raise.
_MALFORMED = (
    ValueError, KeyError, TypeError, IndexError, AttributeError, EOFError, OverflowError, RecursionError,
    MemoryError, RuntimeError, OSError, zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip


def make_folder(folder: Path, name: str = "out") -> None:
    """Make the folder and see that it can be written to: before the work, not after it."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{name}: {str(folder)!r} is a file; expected a folder to write to")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise type(error)(f"{name}: cannot write to {str(folder)!r}: {error.strerror}") from None


@contextmanager
def folder_to_fill(folder: Path, name: str = "out") -> Iterator[None]:
    """Make the folder; if the block fails, one that was made for it and is still empty is taken away."""
    is_new = not folder.exists()
    make_folder(folder, name)
    try:
        yield
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise


def _target(path: str, follow: bool) -> Path:
    """The file itself: a link to it stays a link. What is no file, such as /dev/null, is not replaced."""
    target = Path(path)
    if not (target.is_symlink() and not follow):
        if target.exists() and not (target.is_file() or target.is_dir()):
            raise OSError(f"path: {path!r} is a device or a pipe; expected the name of a file to write")
        target = target.resolve() if target.is_symlink() else target
    if target.is_dir() and not target.is_symlink():
        raise IsADirectoryError(f"path: {path!r} is a folder; expected the name of a file to write")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path: cannot write {path!r}, there is no folder {str(target.parent)!r}")
    return target


def check_target(path: str | os.PathLike[str]) -> None:
    """See that a file can be written: before the work, not after it."""
    try:
        with replacing(path):
            raise _Checked
    except _Checked:
        pass


class _Checked(Exception):
    """Leaves `replacing` before anything is replaced."""


def text_file(path: Path) -> IO[str]:
    """Open a file to write UTF-8 to; lines end as they are told. Halves of surrogate pairs are escaped."""
    return open(path, "w", newline="", encoding="utf-8", errors="backslashreplace")


class _LineFeeds:
    """Ends rows of CSV in a line feed alone; their cells are quoted as for rows that end in CR LF."""

    def __init__(self, file: IO[str]):
        self.file = file

    def write(self, row: str) -> int:
        """Write one row."""
        return self.file.write(row.removesuffix("\r\n") + "\n")


def csv_rows(file: IO[str], delimiter: str = ",") -> Any:
    """A writer of CSV whose lines end in a line feed, and which quotes every line end in a cell.

    The writer of the standard library quotes only those its own lines end in.
    """
    return csv.writer(_LineFeeds(file), delimiter=delimiter, lineterminator="\r\n")


def write_csv(path: str | os.PathLike[str], head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table, all at once or not at all; numbers that are not there are empty."""
    with replacing(path) as temporary, text_file(temporary) as file:
        writer = csv_rows(file)
        writer.writerow(head)
        writer.writerows(["" if value != value else value for value in row] for row in rows)
