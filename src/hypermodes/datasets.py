"""Made data: points whose clusters are known, with noise and outliers in stated amounts."""

from typing import NamedTuple

import numpy as np


class LabelledPoints(NamedTuple):
    """Points and the cluster each was drawn from."""

    points: np.ndarray
    """(n, 2) coordinates."""
    labels: np.ndarray
    """(n,) cluster 0, 1, …; -1 for outliers."""


def five_crescents(
    n_samples: int = 600,
    *,
    outliers: float = 0.0,
    noise: float = 0.0,
    rng: np.random.Generator | int | None = 0,
) -> LabelledPoints:
    """Five interlocking crescents in a row, pointing up and down in turn.

    A crescent is the region between two half circles that meet at its horns: radius 1 at the middle
    line, 0.3 wide at its waist, points drawn uniformly by angle. Neighbours are 1.2 apart, so that no two
    touch: the gap is about 0.3.

    Parameters
    ----------
    n_samples : int
        Points on the crescents, shared out as evenly as possible.
    outliers : float
        Outliers added, as a fraction of ``n_samples``, uniform over the surrounding box.
    noise : float
        Standard deviation of Gaussian noise added to every point, in hundredths of a crescent's radius.
    rng : Generator or seed
        Where randomness comes from.
    """
    if n_samples < 5:
        raise ValueError(f"n_samples: expected at least 5, one a crescent; got {n_samples!r}")
    if not 0 <= outliers < np.inf:
        raise ValueError(f"outliers: expected a fraction of n_samples, 0 or more; got {outliers!r}")
    if not 0 <= noise < np.inf:
        raise ValueError(f"noise: expected a standard deviation, 0 or more; got {noise!r}")
    rng = np.random.default_rng(rng)
    labels = np.arange(n_samples) % 5
    angle = rng.uniform(0.0, np.pi, n_samples)
    radius = 1.0 + 0.15 * np.sin(angle) * rng.uniform(-1.0, 1.0, n_samples)
    up = np.where(labels % 2 == 0, 1.0, -1.0)
    points = np.column_stack((1.2 * labels + radius * np.cos(angle), up * (radius * np.sin(angle) - 0.25)))
    n_out = round(outliers * n_samples)
    box = rng.uniform((-1.75, -1.65), (6.55, 1.65), size=(n_out, 2))
    points = np.vstack((points, box)) + rng.normal(scale=noise / 100, size=(n_samples + n_out, 2))
    return LabelledPoints(points, np.concatenate((labels, np.full(n_out, -1))))
