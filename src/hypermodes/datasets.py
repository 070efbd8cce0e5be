"""Made data: points whose clusters are known, with noise and outliers in stated amounts."""

from typing import NamedTuple

import numpy as np

from hypermodes.scalars import finite_number, whole_number


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
    whole_number("n_samples", n_samples, "at least 5, one a crescent", least=5)
    finite_number("outliers", outliers, "a fraction of n_samples, 0 or more", least=0)
    finite_number("noise", noise, "a standard deviation, 0 or more", least=0)
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


def noisy_shapes(
    n_samples: int = 10_000,
    *,
    outliers: float = 0.1,
    noise: float = 4.0,
    rng: np.random.Generator | int | None = 0,
) -> LabelledPoints:
    """Ten shapes of many kinds, sizes and densities on one sheet, for large n: rings, moons, bars, blobs.

    Two rings one inside the other, two moons that reach into each other, a spiral arm, two bars, and three
    blobs, two of them eight times as dense as the third. The largest shape has four times the points of the
    smallest.

    Parameters
    ----------
    n_samples : int
        Points on the shapes.
    outliers : float
        Outliers added, as a fraction of ``n_samples``, uniform over the surrounding box.
    noise : float
        Standard deviation of Gaussian noise across the curves, in hundredths of the unit: rings have
        radius 1 and 0.5, moons 1.
    rng : Generator or seed
        Where randomness comes from.
    """
    n_shapes = 10
    whole_number("n_samples", n_samples, f"at least {n_shapes}, one a shape", least=n_shapes)
    finite_number("outliers", outliers, "a fraction of n_samples, 0 or more", least=0)
    finite_number("noise", noise, "a standard deviation, 0 or more", least=0)
    rng = np.random.default_rng(rng)
    shares = np.array([4, 2, 3, 3, 4, 2, 1, 2, 2, 1.0])
    counts = np.maximum(1, np.floor(n_samples * shares / shares.sum())).astype(int)
    counts[: n_samples - counts.sum()] += 1
    turn = [2 * np.pi * rng.random(count) for count in counts]
    along = [rng.random(count) for count in counts]
    arm = 1.5 * np.pi * (1 + np.sqrt(along[4]))
    shapes = [  # where its middle is, and how it lies around it
        ((0.0, 0.0), _circle(turn[0])),
        ((0.0, 0.0), 0.5 * _circle(turn[1])),
        ((3.0, -0.25), _circle(turn[2] / 2)),
        ((4.0, 0.25), _circle(-turn[3] / 2)),
        ((0.5, -4.0), arm[:, None] / 9 * _circle(arm)),
        ((3.7, -2.6), np.column_stack((2.6 * along[5] - 1.3, np.zeros(counts[5])))),
        ((3.7, -4.0), np.column_stack((np.zeros(counts[6]), 1.6 * along[6] - 0.8))),
        ((6.2, 0.8), rng.normal(scale=0.25, size=(counts[7], 2))),
        ((6.2, -1.0), rng.normal(scale=0.25, size=(counts[8], 2))),
        ((6.0, -3.6), rng.normal(scale=0.5, size=(counts[9], 2))),
    ]
    points = np.vstack([shape + middle for middle, shape in shapes])
    points += rng.normal(scale=noise / 100, size=points.shape)
    box = rng.uniform((-2.0, -6.0), (8.0, 2.0), size=(round(outliers * n_samples), 2))
    labels = np.concatenate((np.repeat(np.arange(n_shapes), counts), np.full(len(box), -1)))
    order = rng.permutation(labels.size)
    return LabelledPoints(np.vstack((points, box))[order], labels[order])


def _circle(angle: np.ndarray) -> np.ndarray:
    return np.column_stack((np.cos(angle), np.sin(angle)))
