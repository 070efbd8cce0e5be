"""Matches between two pictures: their features, candidates, and modes."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from hypermodes.construct.correspondences import Candidates, Features, candidate_pairs, check_count
from hypermodes.files import csv_rows, replacing
from hypermodes.images import as_picture
from hypermodes.matching import Matching, match_groups
from hypermodes.result import counted

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
            rows = csv_rows(file)
            rows.writerow(("group", "x_left", "y_left", "x_right", "y_right", "score", "core"))
            for number, group in enumerate(self.groups):
                core = {tuple(pair) for pair in group.core.tolist()}
                for (i, a), score in zip(group.pairs.tolist(), group.scores.tolist(), strict=True):
                    ends = (*self.left.points[i], *self.right.points[a])
                    values = (f"{value:.2f}" for value in ends)
                    rows.writerow((number, *values, f"{score:.4f}", int((i, a) in core)))


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
    check_count("max_features", max_features, 2)
    images = grey_picture("left", left), grey_picture("right", right)
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
    try:
        from skimage.feature import SIFT
        from skimage.transform import resize
    except ImportError:
        raise ImportError("features of pictures need scikit-image; install hypermodes[images]") from None

    shrink = min(1.0, max(_LARGEST / max(image.shape), _SMALLEST / min(image.shape)))
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


def grey_picture(name: str, given: Any) -> np.ndarray:
    """Read a picture as grey values in [0, 1]; errors name the argument."""
    try:
        rgb = as_picture(given).rgb
    except (ValueError, OSError) as error:
        raise type(error)(f"{name}: {str(error).removeprefix('image: ')}") from None
    if min(rgb.shape[:2]) < _SMALLEST:
        raise ValueError(f"{name}: expected at least {_SMALLEST} pixels a side; got {rgb.shape[:2]}")
    grey: np.ndarray = rgb @ np.array([0.2125, 0.7154, 0.0721])
    return grey
