"""Silhouettes from pictures: a folder of them or a zip file, each turned into a mask."""

import os
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import numpy as np

from hypermodes.files import as_path
from hypermodes.images import open_picture

SUFFIXES = (".png", ".bmp", ".gif", ".jpg", ".jpeg", ".tif", ".tiff", ".pgm", ".pbm")
_LARGEST_FILE = 64 * 2**20  # bytes of one picture, as it is inside a zip file


class Silhouette(NamedTuple):
    """A mask, true inside the shape, and where it came from."""

    name: str
    mask: np.ndarray


@dataclass(frozen=True)
class Silhouettes:
    """The pictures of a folder or a zip file, read one after the other as they are asked for.

    Attributes
    ----------
    source : Path
        The folder or the zip file.
    names : tuple of str
        Of the pictures in it, sorted; folders in them are separated by slashes.
    left_out : tuple of str
        Of the other files, those that are hidden aside.
    """

    source: Path
    names: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Silhouette]:
        if self.source.is_dir():
            for name in self.names:
                yield _read(name, self.source / name)
            return
        with zipfile.ZipFile(self.source) as archive:
            for entry in _pictures_in(archive):
                yield _read(entry.filename, BytesIO(_content(self.source, archive, entry)))


def read_silhouettes(path: str | os.PathLike[str]) -> Silhouettes:
    """Find every picture in a folder and the folders below it, or in a zip file, in the order of their names.

    A pixel counts as bright from half of the full scale on, or as opaque where there is transparency. Shapes
    may be bright on dark or dark on bright: what most of the margin of the picture is made of is background.

    Files that do not end like pictures are left out, and so are hidden ones. Nothing of a zip file is written
    to disk; its pictures are read one at a time, up to 64 MB and 100 million pixels each.
    """
    source = as_path("path", path)
    if not source.exists():
        raise FileNotFoundError(f"path: there is no folder or zip file {str(source)!r}")
    if source.is_dir():
        there = [p.relative_to(source).as_posix() for p in source.rglob("*") if p.is_file()]
    elif source.is_file() and zipfile.is_zipfile(source):
        try:
            with zipfile.ZipFile(source) as archive:
                there = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
        except _UNREADABLE as error:
            raise ValueError(f"path: cannot read the zip file {str(source)!r}: {_reason(error)}") from None
    else:
        raise ValueError(
            f"path: expected a folder of pictures or a zip file of them; {str(source)!r} is neither"
        )
    names = sorted(filter(_is_picture, there))
    if not names:
        raise ValueError(f"path: found no pictures in {str(source)!r}; expected files ending in {_listed()}")
    others = sorted(name for name in there if not _is_hidden(name) and not _is_picture(name))
    return Silhouettes(source, tuple(names), tuple(others))


# What a damaged, hostile or locked zip file makes zipfile raise.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, RuntimeError, OSError, EOFError, ValueError)


def _is_picture(name: str) -> bool:
    return not _is_hidden(name) and PurePosixPath(name).suffix.lower() in SUFFIXES


def _is_hidden(name: str) -> bool:
    """Hidden, or added to zip files by macOS: named like the pictures they go with, and none themselves."""
    parts = PurePosixPath(name).parts
    return any(part.startswith(".") and part != ".." for part in parts) or "__MACOSX" in parts


def _pictures_in(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    entries = (e for e in archive.infolist() if not e.is_dir() and _is_picture(e.filename))
    return sorted(entries, key=lambda e: e.filename)


def _content(source: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of one picture, if they are not too many: what the zip file says of them is not believed."""
    try:
        with archive.open(entry) as file:
            content = file.read(_LARGEST_FILE + 1)
    except _UNREADABLE as error:
        raise ValueError(
            f"path: cannot read {entry.filename!r} in {str(source)!r}: {_reason(error)}"
        ) from None
    if len(content) > _LARGEST_FILE:
        raise ValueError(
            f"path: {entry.filename!r} in {str(source)!r} is larger than {_LARGEST_FILE >> 20} MB"
        )
    return content


def _read(name: str, file: Path | IO[bytes]) -> Silhouette:
    with open_picture("path", name, file) as picture:
        mask = _mask(picture)
    if not mask.any():
        raise ValueError(f"path: the picture {name!r} has no shape in it, all of it is of one kind")
    return Silhouette(name, mask)


def _mask(picture: Any) -> np.ndarray:
    """What is not of the kind that most of the margin is of."""
    if "A" in picture.getbands() or "transparency" in picture.info:
        opaque = np.asarray(picture.convert("RGBA"))[..., 3] >= 128
        if not opaque.all():
            return opaque
    if picture.mode.startswith(("I", "F")):  # 16 bits a pixel and more; floats are taken for 0 to 1
        grey, middle = np.asarray(picture), 0.5 if picture.mode == "F" else 2**15
    else:
        grey, middle = np.asarray(picture.convert("RGB").convert("L")), 128
    darkest, brightest = grey.min(), grey.max()
    two_valued = bool(((grey == darkest) | (grey == brightest)).all())  # a mask of 0 and 1, or of 0 and 255
    bright = grey == brightest if two_valued and darkest < brightest else grey >= middle
    margin = np.concatenate((bright[0], bright[-1], bright[:, 0], bright[:, -1]))
    return ~bright if margin.mean() > 0.5 else bright


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _listed() -> str:
    return ", ".join(SUFFIXES[:-1]) + " or " + SUFFIXES[-1]
