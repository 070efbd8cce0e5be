"""Columns on disk: plain ``.npy`` files, written piece by piece and read in place, never unpickled."""

import hashlib
import mmap
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from hypermodes.files import open_plain
from hypermodes.npy import read_header

PIECE = 1 << 20  # entries read at a time where all of a column is read


class Entry(NamedTuple):
    """What a column is said to hold: its type, its length, and a digest of its bytes."""

    dtype: str
    length: int
    digest: str


class Column:
    """A ``.npy`` file that grows: its length is put into the header when it is closed.

    NumPy leaves room in the header for the longest array there can be, so that it is rewritten in place.
    """

    def __init__(self, path: Path, dtype: Any) -> None:
        self.path, self.dtype, self.length = path, np.dtype(dtype), 0
        self._digest = hashlib.blake2b(digest_size=16)
        self._file: BinaryIO = path.open("xb")
        self._write_header()

    def append(self, values: np.ndarray) -> None:
        """Write values behind those that are there."""
        content = np.ascontiguousarray(values, dtype=self.dtype)
        if content.size:
            self._digest.update(content.data)
            self._file.write(content.data)
            self.length += content.size

    def close(self) -> Entry:
        """Finish the file, and say what it holds."""
        self._file.seek(0)
        self._write_header()
        self._file.close()
        return Entry(self.dtype.str, self.length, self._digest.hexdigest())

    def abandon(self) -> None:
        """Let go of the file as it is."""
        with suppress(OSError):  # what is still to be written may find no room
            self._file.close()

    def _write_header(self) -> None:
        head = {
            "descr": np.lib.format.dtype_to_descr(self.dtype),
            "fortran_order": False,
            "shape": (self.length,),
        }
        np.lib.format.write_array_header_1_0(self._file, head)


def mapped(path: Path, dtype: Any, length: int) -> np.ndarray:
    """A column read in place. Header and size must be what they should be; no entry is looked at.

    Links, devices and pipes are refused: what is outside the folder is not part of it.
    """
    try:
        opened = open_plain(path)
    except FileNotFoundError:
        raise ValueError(f"{path.name} is missing") from None
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror}") from None
    with opened as file:
        try:
            shape, fortran, stored = read_header(file)
        except ValueError as error:
            raise ValueError(f"{path.name} is no .npy file: {error}") from None
        if stored != np.dtype(dtype) or fortran or shape != (length,):
            raise ValueError(f"{path.name} holds {stored} of shape {shape}; expected {dtype}, {(length,)}")
        begin = file.tell()
        wanted = begin + length * np.dtype(dtype).itemsize
        size = os.fstat(file.fileno()).st_size
        if size != wanted:
            raise ValueError(f"{path.name} has {size} bytes; expected {wanted}")
        if length == 0:
            return np.empty(0, dtype)
        return np.asarray(np.memmap(file, dtype=dtype, mode="r", offset=begin, shape=(length,)))


def digest_of(values: np.ndarray) -> str:
    """The digest a column of these values has."""
    digest = hashlib.blake2b(digest_size=16)
    for low in range(0, values.size, PIECE):
        digest.update(np.ascontiguousarray(values[low : low + PIECE]).data)
    return digest.hexdigest()


class _Window:
    """Shows the memory of an array without saying that it is read-only, and keeps it alive."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def unlocked(array: np.ndarray) -> np.ndarray:
    """The same memory as an array that numba does not take for read-only.

    Else kernels, which write to no array of a graph, would be compiled a second time for read-only ones.
    """
    if array.flags.writeable:
        return array
    return np.asarray(_Window(array)) if array.size else array.copy()


class Held:
    """What a process has in memory of columns that it reads in place; let go when it is much.

    The system keeps pages for as long as it has room, and they come again when they are needed. But who looks
    at the memory of a process, as Dask does to end those that have too much, counts all that it has read.
    """

    def __init__(self, columns: Iterable[np.ndarray], most: int) -> None:
        self.memory = [found for found in map(_mapping_of, columns) if found is not None]
        self.most, self.rest = most, -np.inf

    def look(self) -> None:
        """Give back what was read, if it came to ``most`` bytes or nobody can tell."""
        if self.memory and not _resident() <= self.rest + self.most:
            for memory in self.memory:
                memory.madvise(mmap.MADV_DONTNEED)
            self.rest = _resident()  # libraries, and what others read


def _resident() -> float:
    """Bytes of files that this process has in memory; NaN where the system does not say."""
    try:
        return float(Path("/proc/self/statm").read_bytes().split()[2]) * mmap.PAGESIZE
    except OSError:
        return np.nan


def _mapping_of(array: np.ndarray) -> mmap.mmap | None:
    """The mapped file that an array shows (see `mapped`: it is never written to), if it is one."""
    memory: Any = array
    while isinstance(memory, np.ndarray | _Window):
        memory = memory.array if isinstance(memory, _Window) else memory.base
    return memory if isinstance(memory, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None
