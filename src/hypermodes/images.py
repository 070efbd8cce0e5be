"""Pictures in and out: any usual array or file as RGB, and arrays as PNG files."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, Any

import numpy as np

from hypermodes.files import as_path, replacing
from hypermodes.matrices import unmasked
from hypermodes.memory import room_for

FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "GIF", "BMP", "PPM")
"""What a picture file may be inside, whatever its name says. Other decoders of Pillow start other programs
(EPS: Ghostscript), or are hardly ever used and seldom looked after."""
MOST_PIXELS = 100 * 10**6
"""Pixels of a picture that is read from a file: a small file can claim to be a picture that fills memory."""

_BYTES = {"whole": 80, "small": 20}  # of memory a pixel, if it is made smaller at once, and if not
_SHAPES = "(h, w), or (h, w, channels) with 1 to 4 channels: grey, grey + alpha, RGB, RGBA"


@dataclass(frozen=True, eq=False, repr=False)
class Picture:
    """A picture as numbers: what is shown, and how much of it can be seen.

    Attributes
    ----------
    rgb : (h, w, 3) float
        sRGB from 0 to 1. Where the picture is transparent, what lies behind it shows: black or white,
        whichever is further from what can be seen, so that a cut-out stands out from it.
    alpha : (h, w) float, or None
        Opacity from 0 to 1; None if there is nothing transparent.
    full_size : (int, int)
        Height and width of what was given, which may have been made smaller.
    """

    rgb: np.ndarray
    alpha: np.ndarray | None
    full_size: tuple[int, int]

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return int(self.rgb.shape[0]), int(self.rgb.shape[1])

    def __repr__(self) -> str:
        (height, width), (full_height, full_width) = self.size, self.full_size
        of = "" if self.size == self.full_size else f" of {full_width} x {full_height}"
        return f"Picture({width} x {height}{of}{'' if self.alpha is None else ', partly transparent'})"


def as_picture(image: Any, *, longest: int | None = None) -> Picture:
    """Take an array, a Pillow image, or the path of a file.

    Parameters
    ----------
    image : array, path, or Pillow image
        Arrays are (h, w) or (h, w, channels) with one to four channels: grey, grey + alpha, RGB, RGBA; truth
        values, bytes, 16-bit numbers, whole numbers from 0 to 255, or floats from 0 to 1. Files are PNG,
        JPEG, WebP, TIFF, GIF, BMP or PPM of at most 100 million pixels, turned upright as their camera says;
        of several frames, the first.
    longest : int, optional
        Pictures with a longer side than this are made smaller, before anything else is done to them.

    Examples
    --------
    >>> as_picture([[0, 128], [255, 64]])
    Picture(2 x 2)
    >>> as_picture(np.zeros((3000, 4000), dtype=np.uint8), longest=400)
    Picture(400 x 300 of 4000 x 3000)
    """
    if isinstance(image, str | os.PathLike):
        image = read_image(image)
    elif type(image).__module__.startswith("PIL."):
        image = _pixels(image)
    return _from_array(image, longest)


def read_image(path: str | os.PathLike[str]) -> np.ndarray:
    """Read the pixels of a picture file: bytes or 16-bit numbers, with alpha if it has some."""
    path = as_path("image", path)
    name = str(path)
    if not path.exists():
        raise FileNotFoundError(f"image: there is no file {name!r}")
    if path.is_dir():
        raise IsADirectoryError(f"image: {name!r} is a folder; expected a picture file")
    if not path.is_file():
        raise OSError(f"image: {name!r} is a device or a pipe; expected a picture file")
    with open_picture("image", name, path) as opened:
        return _pixels(opened)


@contextmanager
def open_picture(argument: str, name: str, file: str | os.PathLike[str] | IO[bytes]) -> Iterator[Any]:
    """Open a picture with Pillow: the only place where that is done, so that the limits hold everywhere.

    Whatever goes wrong in the block, where the pixels are decoded, is one line about ``argument``.
    """
    pillow = pillow_image()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd metadata is no concern of ours, and size is checked here
            with pillow.open(file, formats=FORMATS) as opened:
                width, height = opened.size
                if width * height > MOST_PIXELS:
                    raise pillow.DecompressionBombError
                yield opened
    except pillow.DecompressionBombError:
        raise ValueError(
            f"{argument}: {name!r} is too large a picture; expected at most {MOST_PIXELS:,} pixels"
        ) from None
    except PermissionError as error:
        raise PermissionError(f"{argument}: cannot read {name!r}: {error.strerror}") from None
    except MemoryError:
        raise
    except Exception as error:  # a damaged file makes decoders raise almost anything
        unknown = type(error).__name__ == "UnidentifiedImageError"
        known = f"its format is none of {', '.join(FORMATS)}"
        reason = known if unknown else "it is damaged"
        raise ValueError(f"{argument}: cannot read {name!r} as a picture: {reason}") from None


def write_png(path: str | os.PathLike[str], pixels: np.ndarray) -> None:
    """Write (h, w) or (h, w, 3) numbers from 0 to 1, or truth values, all at once or not at all."""
    data = np.round(np.clip(np.asarray(pixels, dtype=np.float64), 0, 1) * 255).astype(np.uint8)
    with replacing(path) as temporary:
        pillow_image().fromarray(data).save(temporary, format="PNG", optimize=True)


def pillow_image() -> Any:
    """Import Pillow, or say which extra brings it."""
    try:
        import PIL.Image
    except ImportError:
        raise ImportError("image files need Pillow; install hypermodes[images], or pass an array") from None
    return PIL.Image


def _pixels(opened: Any) -> np.ndarray:
    """The pixels of a Pillow image, upright, without a palette."""
    from PIL import ImageOps

    upright = ImageOps.exif_transpose(opened)
    if upright.mode.startswith("I;16"):
        return np.asarray(upright).astype(np.uint16)
    if upright.mode == "I":  # 16-bit grey in some formats and versions
        return np.clip(np.asarray(upright), 0, 65535).astype(np.uint16)
    if upright.mode == "F":
        return np.asarray(upright)
    transparent = "A" in upright.getbands() or "transparency" in upright.info
    if upright.mode in ("L", "1") and not transparent:
        return np.asarray(upright.convert("L"))
    return np.asarray(upright.convert("RGBA" if transparent else "RGB"))


def shrink(array: np.ndarray, longest: int | None) -> np.ndarray:
    """Make (h, w, channels) smaller, to this longest side, each pixel the mean of those it stands for."""
    height, width = array.shape[:2]
    if longest is None or max(height, width) <= longest:
        return array
    rows, columns = (
        np.arange(size + 1) * full // size
        for full in (height, width)
        for size in (max(1, round(full * longest / max(height, width))),)
    )
    small = np.empty((rows.size - 1, columns.size - 1, array.shape[2]))
    for i, (low, high) in enumerate(pairwise(rows)):  # a strip at a time, for memory
        strip = array[low:high].sum(axis=0, dtype=np.float64)
        small[i] = np.add.reduceat(strip, columns[:-1], axis=0) / (high - low)
    return small / np.diff(columns)[None, :, None]


def enlarge(values: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Bring (h, w) to another size by linear interpolation between the middles of pixels, as float32."""
    values = np.asarray(values, dtype=np.float32)
    for axis, (small, full) in enumerate(zip(values.shape, size, strict=True)):
        if small == full:
            continue
        place = np.clip((np.arange(full) + 0.5) * small / full - 0.5, 0, small - 1)
        low = np.minimum(place.astype(np.int64), max(small - 2, 0))
        share = (place - low).astype(np.float32)
        share = share[:, None] if axis == 0 else share[None, :]
        one, other = (values.take(np.minimum(low + step, small - 1), axis=axis) for step in (0, 1))
        values = (1 - share) * one + share * other
    return values


def _from_array(given: Any, longest: int | None) -> Picture:
    unmasked("image", given)
    try:
        array = np.asarray(given)
    except ValueError:
        raise ValueError(f"image: expected shape {_SHAPES}; got rows of different lengths") from None
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or not 1 <= array.shape[2] <= 4 or array.dtype.kind not in "biuf":
        got = f"shape {np.shape(given)} and type {array.dtype}" if array.ndim else repr(given)
        raise ValueError(f"image: expected the path of a file, or numbers of shape {_SHAPES}; got {got}")
    if array.size == 0:
        raise ValueError(f"image: expected one pixel or more; got shape {np.shape(given)}")
    n_pixels = array.shape[0] * array.shape[1]
    each = _BYTES["small" if longest is not None and array.shape[2] in (1, 3) else "whole"]
    room_for("image", f"a picture of {n_pixels:,} pixels", each * n_pixels, "make it smaller")
    white = _white(array)
    full_size = (int(array.shape[0]), int(array.shape[1]))
    if array.shape[2] in (1, 3):
        return Picture(_rgb(np.clip(shrink(array, longest) / white, 0, 1)), None, full_size)
    alpha = np.clip(array[:, :, -1:] / white, 0, 1)
    # Colours count by their opacity, so that what is hidden does not blur into what is seen.
    shown = shrink(np.clip(array[:, :, :-1] / white, 0, 1) * alpha, longest)
    alpha = shrink(alpha, longest)
    if alpha.min() == 1:
        return Picture(_rgb(shown), None, full_size)
    seen = float(shown.mean() / max(alpha.mean(), 1e-12))
    behind = 0.0 if seen > 0.5 else 1.0
    return Picture(_rgb(shown + behind * (1 - alpha)), alpha[:, :, 0], full_size)


def _rgb(colour: np.ndarray) -> np.ndarray:
    return np.repeat(colour, 3, axis=2) if colour.shape[2] == 1 else colour


def _white(array: np.ndarray) -> float:
    """The number that stands for white, by the type of the array; numbers beyond it are refused."""
    if array.dtype.kind == "b":
        return 1.0
    if array.dtype in (np.uint8, np.uint16):
        return float(np.iinfo(array.dtype).max)
    low, high = float(array.min()), float(array.max())
    if array.dtype.kind == "f":
        if not (low >= -1e-6 and high <= 1 + 1e-6):  # NaN is bad too
            raise ValueError(f"image: expected floats from 0 to 1; got {low:g} to {high:g}")
        return 1.0
    if low < 0 or high > 255:
        raise ValueError(
            f"image: expected whole numbers from 0 to 255, or the type uint16; got {low:g} to {high:g} "
            f"of type {array.dtype}"
        )
    return 255.0
