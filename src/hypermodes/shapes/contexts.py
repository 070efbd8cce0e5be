"""Shape contexts: where the rest of an outline lies, as seen from each of its points.

After Belongie, Malik & Puzicha (2002), with angles measured from the direction of the outline and distances
from their mean: turning or scaling the shape changes nothing.
"""

import numpy as np

RADIAL, ANGULAR = 8, 36  # bins of the logarithm of the distance, from 1/8 to 2 of the mean, and of the angle
_NEAREST, _FARTHEST = -3.0, 1.0  # in powers of two of the mean distance
_CHORD = 2  # points before and after that give the direction of the outline
_DAMPING = 1 / 8  # power of the shares: where few points lie tells shapes apart as well as where most do


def shape_contexts(contour: np.ndarray) -> np.ndarray:
    """Histogram of the other points, by distance and angle, around each point of an outline.

    Returns
    -------
    (n, 8, 36) float32
        Eighth roots of the shares of the points, each histogram brought to length 1: the inner product of two
        of them is 1 where they are equal and 0 where they have nothing in common.
    """
    n = len(contour)
    ahead = np.roll(contour, -_CHORD, axis=0) - np.roll(contour, _CHORD, axis=0)
    to_others = contour[None, :] - contour[:, None]
    seen_from, others = np.nonzero(~np.eye(n, dtype=bool))
    x, y = to_others[seen_from, others].T
    distance = np.hypot(x, y)
    angle = np.arctan2(y, x) - np.arctan2(ahead[:, 1], ahead[:, 0])[seen_from]
    reach = np.log2(np.maximum(distance / max(distance.mean(), 1e-300), 1e-9))
    radial = (reach - _NEAREST) / (_FARTHEST - _NEAREST) * RADIAL
    angular = angle / (2 * np.pi) * ANGULAR
    # Each point is shared between the bins whose middles are next to it: no jumps where shapes change a bit.
    low_radial, part_radial = _between_middles(np.clip(radial, 0, RADIAL))
    low_angular, part_angular = _between_middles(angular)
    histogram = np.zeros(n * RADIAL * ANGULAR)
    for outer in (0, 1):
        row = np.clip(low_radial + outer, 0, RADIAL - 1)
        for next_one in (0, 1):
            column = (low_angular + next_one) % ANGULAR
            share = np.abs(1 - outer - part_radial) * np.abs(1 - next_one - part_angular)
            cell = (seen_from * RADIAL + row) * ANGULAR + column
            histogram += np.bincount(cell, weights=share, minlength=histogram.size)
    damped = histogram.reshape(n, -1) ** _DAMPING
    damped /= np.linalg.norm(damped, axis=1, keepdims=True)
    return damped.astype(np.float32).reshape(n, RADIAL, ANGULAR)


def mirrored(contexts: np.ndarray) -> np.ndarray:
    """Contexts of the mirror image: the outline runs the other way, and angles θ become π - θ."""
    n, _, angular = contexts.shape[-3:]
    other_way = (-np.arange(n)) % n
    flipped = (angular // 2 - 1 - np.arange(angular)) % angular
    return contexts[..., other_way, :, :][..., flipped]


def _between_middles(position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bin whose middle lies below each position, and how far it is on the way to the next."""
    below = np.floor(position - 0.5)
    return below.astype(np.int64), position - 0.5 - below
