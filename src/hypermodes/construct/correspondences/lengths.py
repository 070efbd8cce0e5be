"""How large a set of points is, and where its middle, whatever lies far away from it."""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

_FAR = 4.0  # times the median length
_TINY = float(np.finfo(np.float64).tiny)


def ordinary(lengths: np.ndarray) -> np.ndarray:
    """Which points do not lie far from all others, by the lengths between them (n, n).

    Far is a median length to the others of more than four times the median of all: a few points far away,
    which have no counterpart, must not decide where the middle is and how large everything else.
    """
    apart = lengths[lengths > 0]
    if apart.size == 0:  # so near each other that squares of their distances are 0
        return np.ones(len(lengths), dtype=bool)
    near: np.ndarray = np.median(lengths, axis=1) <= _FAR * np.median(apart)
    return near if lengths[near][:, near].any() else np.ones(len(lengths), dtype=bool)


def mean_length(lengths: np.ndarray, near: np.ndarray | None = None) -> float:
    """Mean of the lengths between ordinary points; ``near`` says which these are, if that is known."""
    near = ordinary(lengths) if near is None else near
    n = int(near.sum())
    return float(lengths[near][:, near].sum() / (n * (n - 1)))


class _Scaled(NamedTuple):
    """Points without their place and extent, so that squares of any of their distances are numbers."""

    median: np.ndarray  # a mean with points far away would swallow the digits of the others
    extent: float
    points: np.ndarray  # from the median, in units of the extent
    middle: np.ndarray  # of the ordinary ones among them
    unit: float  # mean length between these

    @classmethod
    def of(cls, points: np.ndarray) -> "_Scaled":
        median, extent = np.median(points, axis=0), float(np.ptp(points, axis=0).max())
        points = (points - median) / extent
        lengths = cdist(points, points)
        near = ordinary(lengths)
        return cls(median, extent, points, points[near].mean(axis=0), mean_length(lengths, near))


def frame(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Middle of the ordinary points, and the mean length between them."""
    scaled = _Scaled.of(points)
    return scaled.median + scaled.extent * scaled.middle, max(scaled.extent * scaled.unit, _TINY)


def in_mean_lengths(points: np.ndarray) -> np.ndarray:
    """Points from the middle of the ordinary ones, in units of the mean length between these."""
    scaled = _Scaled.of(points)
    return (scaled.points - scaled.middle) / scaled.unit
