"""What stands out in a picture: a map from 0 to 1, a mask, and the scene as modes of its regions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hypermodes.construct.superpixels import Superpixels, slic_superpixels
from hypermodes.images import as_picture, enlarge
from hypermodes.result import ModeSet, counted
from hypermodes.scalars import finite_number, whole_number
from hypermodes.scene import Scene, see
from hypermodes.threads import workers

LIKELY = 0.5
"""From here on a pixel is in the mask: the map is a mean of probabilities."""


@dataclass(frozen=True, eq=False, repr=False)
class Saliency:
    """What stands out in a picture.

    Attributes
    ----------
    map : (h, w) float32
        How much each pixel stands out, from 0 to 1; height and width are those of the picture.
    mask : (h, w) bool
        Where the map is at least 1/2: what stands out more likely than not.
    scenes : tuple of Scene
        The picture at its working size, cut into superpixels of a few sizes, coarse to fine: what each cut
        saw. The map is their mean.
    """

    map: np.ndarray
    mask: np.ndarray
    scenes: tuple[Scene, ...]

    @property
    def scene(self) -> Scene:
        """The scene in the middle, with as many superpixels as were asked for."""
        return self.scenes[len(self.scenes) // 2]

    @property
    def superpixels(self) -> Superpixels:
        """The superpixels of `scene`, at the working size."""
        return self.scene.superpixels

    @property
    def modes(self) -> ModeSet | None:
        """The modes of `scene`, densest first, each with its certificate; None if nothing stands out."""
        return self.scene.modes

    def __repr__(self) -> str:
        height, width = self.map.shape
        modes = 0 if self.modes is None else len(self.modes)
        return (
            f"Saliency({width} x {height} pixels, {self.mask.mean():.0%} in the mask, "
            f"{counted(modes, 'mode')} of {counted(self.superpixels.n, 'superpixel')})"
        )


def saliency(
    image: Any,
    *,
    superpixels: int = 250,
    compactness: float = 30.0,
    cuts: int = 3,
    centred: bool = True,
    working_size: int = 400,
    n_jobs: int | None = -1,
) -> Saliency:
    """Find what stands out in a picture.

    Parameters
    ----------
    image : array, path or Pillow image
        Grey, grey + alpha, RGB or RGBA; see `hypermodes.images.as_picture`. What is transparent does not
        stand out.
    superpixels : int
        How many superpixels, about.
    compactness : float
        Of the superpixels: large for squares, small for patches that follow every edge.
    cuts : int
        The mean of this many cuts into superpixels is taken, √2 more of them from one to the next, around
        ``superpixels``; 1 for a single cut.
    centred : bool
        Whether to expect things in the middle, as in pictures that people take; False for pictures with
        no such habit, of a microscope for example.
    working_size : int
        Pictures with a longer side than this are made smaller for the work, so that time is bounded; the
        map is enlarged again.
    n_jobs : int
        Threads; -1 for all cores. The result does not depend on it.

    Returns
    -------
    Saliency

    Notes
    -----
    How it works, step by step, is in `hypermodes.scene.see` and docs/saliency.md. A picture of one colour has
    a map of zeros; where no difference can be seen (2.3 units of CIELAB), the map stays below 1 in
    proportion.

    Examples
    --------
    >>> import numpy as np
    >>> picture = np.full((60, 80, 3), 0.3)
    >>> picture[20:45, 30:55] = (0.8, 0.2, 0.1)
    >>> found = saliency(picture)
    >>> found.map.shape, bool(found.mask[30, 40]), bool(found.mask[5, 5])
    ((60, 80), True, False)
    """
    for name, given, least in (
        ("superpixels", superpixels, 2), ("cuts", cuts, 1), ("working_size", working_size, 16),
    ):  # fmt: skip
        whole_number(name, given, f"a whole number, {least} or more", least=least)
    finite_number("compactness", compactness, "a positive number", above=0)
    if not isinstance(centred, bool | np.bool_):
        raise ValueError(f"centred: expected True or False; got {centred!r}")
    workers(n_jobs)
    picture = as_picture(image, longest=working_size)
    counts = [round(superpixels * 2 ** (step / 2)) for step in np.arange(cuts) - (cuts - 1) / 2]
    scenes = tuple(
        see(
            slic_superpixels(picture.rgb, count, compactness=compactness),
            centred=bool(centred),
            n_jobs=n_jobs,
        )
        for count in counts
    )
    small = np.mean([scene.superpixels.paint(scene.values) for scene in scenes], axis=0)
    if picture.alpha is not None:
        small = small * picture.alpha
    found = np.clip(enlarge(small, picture.full_size), 0, 1)
    mask = found >= LIKELY
    found.flags.writeable = mask.flags.writeable = False
    return Saliency(found, mask, scenes)
