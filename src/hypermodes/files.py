"""Write a file all at once or not at all, tables among them; arrays in one ``.npz`` never unpickled."""

import csv
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from uuid import uuid4

import numpy as np

T = TypeVar("T")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside ``path``; it takes the place of ``path`` when the block ends well.

    If the block raises, or is interrupted, ``path`` is as it was and nothing is left beside it.
    """
    target = _behind_links(path)
    if target.is_dir():
        raise IsADirectoryError(
            f"path: {os.fspath(path)!r} is a folder; expected the name of a file to write"
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"path: cannot write {os.fspath(path)!r}, there is no folder {str(target.parent)!r}"
        )
    temporary = target.parent / f".{target.name}.{uuid4().hex[:12]}{target.suffix}"
    try:
        temporary.open("xb").close()  # not by mkstemp, which makes files private
    except OSError as error:
        raise type(error)(f"path: cannot write {os.fspath(path)!r}: {error.strerror}") from None
    try:
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def save_arrays(path: str | os.PathLike[str] | BinaryIO, kind: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays and what they are to exactly this path, or into an open file."""
    if hasattr(path, "write"):
        np.savez(path, allow_pickle=False, format=np.array(kind), **arrays)
        return
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, allow_pickle=False, format=np.array(kind), **arrays)


def load_arrays(
    path: str | os.PathLike[str] | BinaryIO,
    kind: str,
    what: str,
    build: Callable[[dict[str, np.ndarray]], T],
) -> T:
    """Read what `save_arrays` wrote and build from it; anything that does not fit is one ValueError."""
    with _opened(path) as file:
        try:
            if not zipfile.is_zipfile(file):
                raise ValueError("it is no archive of arrays")
            file.seek(0)
            with np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            if str(arrays.pop("format")) != kind:
                raise ValueError("it holds something else")
            return build(arrays)
        except _MALFORMED as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(f"path: {_named(path)} is not {what} saved by hypermodes: {reason}") from error


def _opened(path: str | os.PathLike[str] | BinaryIO) -> AbstractContextManager[Any]:
    return nullcontext(path) if hasattr(path, "read") else open(path, "rb")


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


def _behind_links(path: str | os.PathLike[str]) -> Path:
    """The file itself: a link to it stays a link. What is no file, such as /dev/null, is not replaced."""
    target = Path(path)
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise OSError(
            f"path: {os.fspath(path)!r} is a device or a pipe; expected the name of a file to write"
        )
    return target.resolve() if target.is_symlink() else target


def check_target(path: str | os.PathLike[str]) -> None:
    """See that a file can be written: before the work, not after it."""
    try:
        with replacing(path):
            raise _Checked
    except _Checked:
        pass


class _Checked(Exception):
    """Leaves `replacing` before anything is replaced."""


def write_csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table, all at once or not at all; numbers that are not there are empty."""
    with replacing(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(["" if value != value else value for value in row] for row in rows)
