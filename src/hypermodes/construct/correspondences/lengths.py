"""How large a set of points is, whatever lies far away from it."""

import numpy as np

_FAR = 4.0  # times the median length


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
