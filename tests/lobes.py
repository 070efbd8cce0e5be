"""Silhouettes to test with: flowers of two to five petals, bent a little, each kind nine times."""

import numpy as np

KINDS = (2, 3, 4, 5)
EACH = 9
TRUTH = np.repeat(KINDS, EACH)


def flower(petals, rng, size=56):
    """r(θ) = 1 + 0.4 cos(petals θ), with slight waves, turned and off the middle."""
    y, x = np.mgrid[:size, :size] - size / 2 - rng.uniform(-3, 3, size=(2, 1, 1))
    angle = np.arctan2(y, x) + rng.uniform(0, 2 * np.pi)
    radius = 1 + 0.4 * np.cos(petals * angle)
    for wave in range(1, 4):
        radius += 0.03 * rng.normal() * np.cos(wave * angle + rng.uniform(0, 2 * np.pi))
    return np.hypot(x, y) < 0.27 * size * radius


def flowers():
    """All of them, kind after kind."""
    rng = np.random.default_rng(7)
    return [flower(petals, rng) for petals in TRUTH]


def same_groups(one, other):
    """Whether two lists of labels say the same, whatever the numbers of their groups; -1 is -1."""
    pairs = set(zip(np.asarray(one).tolist(), np.asarray(other).tolist(), strict=True))
    outliers_agree = all((a == -1) == (b == -1) for a, b in pairs)
    return outliers_agree and len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
