"""What stands out, as pictures: the map, the mask and an overlay on the picture itself, as PNG files."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hypermodes.files import as_path, make_folder
from hypermodes.images import as_picture, enlarge, read_image, write_png
from hypermodes.saliency import LIKELY, Saliency, saliency

_OUTLINE = (0.84, 0.20, 0.42)  # the accent of the other pictures
_DIM = 0.3  # how bright what does not stand out is


class Written(NamedTuple):
    """What was found, and the files that show it."""

    found: Saliency
    map: Path
    mask: Path
    overlay: Path

    def summary(self) -> str:
        """One paragraph for people."""
        scene = "nothing stands out" if self.found.modes is None else repr(self.found.modes)
        names = f"{self.mask.name}, {self.overlay.name}"
        return f"{self.found!r}\nscene:   {scene}\nwritten: {self.map}, {names}"


def write_saliency(
    image: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    superpixels: int = 250,
    cuts: int = 3,
    centred: bool = True,
    n_jobs: int | None = -1,
) -> Written:
    """Find what stands out in a picture file; write ``NAME-map.png``, ``-mask.png`` and ``-overlay.png``.

    Parameters
    ----------
    image : path
        Of a picture.
    out : path, optional
        Folder to write to, made if need be; that of the picture if not given.
    superpixels, cuts, centred, n_jobs
        As in `hypermodes.saliency`.
    """
    path = as_path("image", image)
    pixels = read_image(path)
    folder = path.parent if out is None else as_path("out", out)
    make_folder(folder)
    found = saliency(pixels, superpixels=superpixels, cuts=cuts, centred=centred, n_jobs=n_jobs)
    written = Written(found, *(folder / f"{path.stem}-{what}.png" for what in ("map", "mask", "overlay")))
    write_png(written.map, found.map)
    write_png(written.mask, found.mask)
    write_png(written.overlay, overlay(pixels, found))
    return written


def overlay(image: object, found: Saliency, *, longest: int = 1600) -> np.ndarray:
    """The picture, darker where it does not stand out, and a line around the mask: (h, w, 3) from 0 to 1."""
    picture = as_picture(image, longest=longest)
    light = enlarge(found.map, picture.size) if picture.size != found.map.shape else found.map
    shown = picture.rgb * (_DIM + (1 - _DIM) * light[:, :, None])
    shown[_outline(light >= LIKELY, max(1, max(picture.size) // 300))] = _OUTLINE
    return shown


def _outline(mask: np.ndarray, width: int) -> np.ndarray:
    """Pixels of the mask within so many steps of its outside."""
    inner = mask
    for _ in range(width):
        padded = np.pad(inner, 1, mode="edge")
        inner = inner & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    return mask & ~inner
