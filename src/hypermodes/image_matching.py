"""Matches between two pictures: features, candidates, modes, and a picture of the result."""

import csv
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hypermodes.construct.correspondences import Candidates, Features, candidate_pairs
from hypermodes.files import replacing
from hypermodes.matching import Matching, match_groups
from hypermodes.plotting import COLOURS, pyplot
from hypermodes.result import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SMALLEST = 16  # pixels a side
_LARGEST = 800  # pixels of the longer side that features are looked for in


@dataclass(frozen=True, eq=False)
class ImageMatching:
    """Matches between two pictures, group by group.

    Attributes
    ----------
    groups : tuple of Matching
        One for each surface or object, the most consistent first.
    left, right : Features
        What was found in the pictures, in pixels: x to the right, y down.
    images : two (h, w) float arrays
        The pictures in grey.
    """

    groups: tuple[Matching, ...]
    left: Features
    right: Features
    images: tuple[np.ndarray, np.ndarray]

    @property
    def pairs(self) -> np.ndarray:
        """Pairs of all groups (k, 2)."""
        return np.concatenate([np.empty((0, 2), np.int64), *(group.pairs for group in self.groups)])

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return (
            f"ImageMatching({len(self)} matches in {counted(len(self.groups), 'group')} of "
            f"{len(self.left)} and {len(self.right)} features)"
        )

    def save_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one row a match: group, both places in pixels, score, and whether it is in the core."""
        with replacing(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(("group", "x_left", "y_left", "x_right", "y_right", "score", "core"))
            for number, group in enumerate(self.groups):
                core = {tuple(pair) for pair in group.core.tolist()}
                for (i, a), score in zip(group.pairs.tolist(), group.scores.tolist(), strict=True):
                    ends = (*self.left.points[i], *self.right.points[a])
                    values = (f"{value:.2f}" for value in ends)
                    rows.writerow((number, *values, f"{score:.4f}", int((i, a) in core)))

    def picture(self) -> "Figure":
        """Both pictures side by side, a line for each match, a colour for each group."""
        plt = pyplot()
        heights, widths = zip(*(image.shape for image in self.images), strict=True)
        canvas = np.ones((max(heights), sum(widths)))
        canvas[: heights[0], : widths[0]] = self.images[0]
        canvas[: heights[1], widths[0] :] = self.images[1]
        size = (12, max(2.0, 12 * canvas.shape[0] / canvas.shape[1]) + 0.4)
        figure, axes = plt.subplots(figsize=size, layout="constrained", dpi=150)
        axes.imshow(canvas, cmap="gray", vmin=0, vmax=1)
        for number, group in enumerate(self.groups):
            colour = COLOURS[number % len(COLOURS)]
            ends = self.left.points[group.pairs[:, 0]], self.right.points[group.pairs[:, 1]]
            shifted = ends[1] + np.array([widths[0], 0])
            for here, there in zip(ends[0], shifted, strict=True):
                axes.plot(*np.column_stack((here, there)), color=colour, linewidth=0.6, alpha=0.6)
            for places in (ends[0], shifted):
                axes.scatter(*places.T, s=8, color=colour, linewidths=0, zorder=3)
        features = f"{len(self.left)} and {len(self.right)} features"
        title = f"{len(self)} matches in {counted(len(self.groups), 'group')}, of {features}"
        axes.set_title(title, loc="left", fontsize=10)
        axes.axis("off")
        return figure


def match_images(
    left: Any, right: Any, *, max_features: int = 1500, tolerance: float | None = None, max_groups: int = 20
) -> ImageMatching:
    """Match two pictures: SIFT features, the most alike of them, and modes of what goes together.

    Parameters
    ----------
    left, right : path, or array (h, w) or (h, w, 3 or 4)
        The pictures.
    max_features : int
        Features of a picture at most, the largest first.
    tolerance, max_groups
        As in `match_groups`.

    Notes
    -----
    Needs scikit-image (``hypermodes[images]``). Candidates are features that are each other's most alike.
    """
    _check_features(max_features)
    images = _grey("left", left), _grey("right", right)
    sides = _features("left", images[0], max_features), _features("right", images[1], max_features)
    nearest = candidate_pairs(*sides, per_point=1)
    best = [np.full(len(side), -1.0) for side in sides]
    for side, ends in enumerate((nearest.left, nearest.right)):
        np.maximum.at(best[side], ends, nearest.similarity)
    mutual = (nearest.similarity == best[0][nearest.left]) & (nearest.similarity == best[1][nearest.right])
    pairs = _first_of_equals(nearest.pairs[mutual])
    if len(pairs) < 2:
        return ImageMatching((), *sides, images)
    candidates = Candidates(pairs, np.ones(len(pairs)), len(sides[0]), len(sides[1]))
    groups = match_groups(*sides, candidates=candidates, tolerance=tolerance, max_groups=max_groups)
    return ImageMatching(groups, *sides, images)


def _first_of_equals(pairs: np.ndarray) -> np.ndarray:
    """Pairs without a point twice."""
    for side in (0, 1):
        pairs = pairs[np.sort(np.unique(pairs[:, side], return_index=True)[1])]
    return pairs


def _features(name: str, image: np.ndarray, most: int) -> Features:
    from skimage.feature import SIFT
    from skimage.transform import resize

    shrink = min(1.0, _LARGEST / max(image.shape))
    shape = [round(shrink * size) for size in image.shape]
    small = image if shrink == 1 else resize(image, shape, anti_aliasing=True)
    detector = SIFT(upsampling=1)
    try:
        detector.detect_and_extract(small)
    except RuntimeError:
        raise ValueError(f"{name}: expected a picture with something in it; found no features") from None
    places = detector.positions[:, ::-1] / shrink
    sizes = np.asarray(detector.sigmas, dtype=np.float64) / shrink
    once = np.unique(places, axis=0, return_index=True)[1]  # one orientation a place
    largest = once[np.lexsort((once, -sizes[once]))][:most]
    if len(largest) < 2:
        raise ValueError(f"{name}: expected a picture with something in it; found {len(largest)} features")
    descriptors = detector.descriptors[largest].astype(np.float64)
    return Features(places[largest], detector.orientations[largest], sizes[largest], descriptors)


def _grey(name: str, given: Any) -> np.ndarray:
    """A picture as grey values in [0, 1]."""
    try:
        from PIL import Image  # scikit-image brings it
        from skimage.color import rgb2gray, rgba2rgb
        from skimage.util import img_as_float
    except ImportError:
        raise ImportError("pictures are read with scikit-image; install hypermodes[images]") from None
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        if not path.is_file():
            raise OSError(f"{name}: there is no file {str(path)!r}")
        try:
            with Image.open(path) as image:
                plain = image.mode in ("L", "I;16", "F", "RGB", "RGBA")
                given = np.asarray(image if plain else image.convert("RGBA"))
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise ValueError(f"{name}: {str(path)!r} is not a picture that can be read: {error}") from None
    picture = np.asarray(given)
    if picture.dtype.kind not in "fiub" or picture.ndim not in (2, 3):
        raise ValueError(f"{name}: expected a picture, (h, w) or (h, w, 3 or 4); got shape {picture.shape}")
    if picture.ndim == 3 and picture.shape[2] not in (1, 2, 3, 4):
        raise ValueError(f"{name}: expected 1 to 4 channels; got shape {picture.shape}")
    if min(picture.shape[:2]) < _SMALLEST:
        raise ValueError(f"{name}: expected at least {_SMALLEST} pixels a side; got {picture.shape[:2]}")
    if picture.dtype.kind == "f":
        if not np.isfinite(picture).all():
            raise ValueError(f"{name}: expected finite numbers; found NaN or infinity")
        picture = (picture - picture.min()) / (np.ptp(picture) or 1.0)
    else:
        picture = img_as_float(picture)
    if picture.ndim == 3:
        channels = picture.shape[2]
        if channels == 4:
            picture = rgba2rgb(picture)
        picture = rgb2gray(picture) if channels >= 3 else picture[:, :, 0]
    grey: np.ndarray = np.asarray(picture, dtype=np.float64)
    return grey


def _check_features(max_features: Any) -> None:
    whole = isinstance(max_features, int | np.integer) and not isinstance(max_features, bool)
    if not whole or max_features < 2:
        raise ValueError(f"max_features: expected 2 or more; got {max_features!r}")
