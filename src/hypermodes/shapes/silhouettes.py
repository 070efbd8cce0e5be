"""Silhouettes from pictures: a folder of them or a zip file, each turned into a mask."""

import os
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

import numpy as np

from hypermodes.images import pillow_image

SUFFIXES = (".png", ".bmp", ".gif", ".jpg", ".jpeg", ".tif", ".tiff", ".pgm", ".pbm")
_LARGEST_FILE = 64 * 2**20  # bytes of one picture, as it is inside a zip file
_LARGEST_PICTURE = 64 * 10**6  # pixels


class Silhouette(NamedTuple):
    """A mask, true inside the shape, and where it came from."""

    name: str
    mask: np.ndarray


def read_silhouettes(path: str | os.PathLike[str]) -> Iterator[Silhouette]:
    """Read every picture in a folder and the folders below it, or in a zip file, in the order of their names.

    A pixel counts as bright from half of the full scale on, or as opaque where there is transparency. Shapes
    may be bright on dark or dark on bright: what most of the margin of the picture is made of is background.
    """
    source = Path(path)
    if source.is_dir():
        files = sorted(p for p in source.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
        opened = ((str(p.relative_to(source).as_posix()), p) for p in files)
        count = len(files)
    elif zipfile.is_zipfile(source):
        return _from_zip(source)
    elif source.exists():
        raise ValueError(
            f"path: expected a folder of pictures or a zip file of them; {str(source)!r} is neither"
        )
    else:
        raise FileNotFoundError(f"path: there is no folder or zip file {str(source)!r}")
    if not count:
        raise ValueError(f"path: found no pictures in {str(source)!r}; expected files ending in {_listed()}")
    return (_read(name, file) for name, file in opened)


def _from_zip(source: Path) -> Iterator[Silhouette]:
    with zipfile.ZipFile(source) as archive:
        entries = sorted(
            (
                e
                for e in archive.infolist()
                if not e.is_dir() and PurePosixPath(e.filename).suffix.lower() in SUFFIXES
            ),
            key=lambda e: e.filename,
        )
        if not entries:
            raise ValueError(
                f"path: found no pictures in {str(source)!r}; expected files ending in {_listed()}"
            )
        for entry in entries:
            with archive.open(entry) as file:
                try:
                    content = file.read(_LARGEST_FILE + 1)
                except (zipfile.BadZipFile, RuntimeError, OSError, EOFError, ValueError) as error:
                    raise ValueError(
                        f"path: cannot read {entry.filename!r} in {str(source)!r}: {error}"
                    ) from None
            if len(content) > _LARGEST_FILE:
                raise ValueError(
                    f"path: {entry.filename!r} in {str(source)!r} is larger than {_LARGEST_FILE >> 20} MB"
                )
            yield _read(entry.filename, BytesIO(content))


def _read(name: str, file: Path | IO[bytes]) -> Silhouette:
    image = pillow_image()
    try:
        with image.open(file) as picture:
            width, height = picture.size
            if width * height > _LARGEST_PICTURE:
                raise ValueError(
                    f"it has {width} x {height} pixels; {_LARGEST_PICTURE // 10**6} million are the most"
                )
            if "A" in picture.getbands() or "transparency" in picture.info:
                values = np.asarray(picture.convert("RGBA"))[..., 3]
                if (values < 128).any():
                    return Silhouette(name, values >= 128)
            values = np.asarray(picture.convert("RGB").convert("L"))
    except (OSError, ValueError, SyntaxError, EOFError, image.DecompressionBombError) as error:
        raise ValueError(f"path: cannot read the picture {name!r}: {error}") from None
    bright = values >= 128
    margin = np.concatenate((bright[0], bright[-1], bright[:, 0], bright[:, -1]))
    mask = ~bright if margin.mean() > 0.5 else bright
    if not mask.any():
        raise ValueError(f"path: the picture {name!r} has no shape in it, all of it is of one kind")
    return Silhouette(name, mask)


def _listed() -> str:
    return ", ".join(SUFFIXES[:-1]) + " or " + SUFFIXES[-1]
