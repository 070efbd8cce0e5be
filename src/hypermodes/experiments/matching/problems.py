"""A matching problem whose answer is known, and what an answer is worth."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hypermodes.construct.correspondences import Features

ALL = float("inf")
"""As many outliers as there are (each set says at most how many)."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Two sets of features and the pairs that belong together.

    Attributes
    ----------
    group : str
        Problems of a group are averaged.
    name : str
        Which pair of images, frames or sets.
    setting : float
        What is varied: outliers a side, frames apart, ...
    draw : int
        Which random outliers.
    left, right : Features
        In random order, so that nothing can be read off the order.
    truth : (k, 2) int64
        The true pairs, [left, right].
    """

    group: str
    name: str
    setting: float
    draw: int
    left: Features
    right: Features
    truth: np.ndarray

    def correct(self, pairs: np.ndarray) -> int:
        """How many of the pairs are true."""
        true = {(int(i), int(j)) for i, j in self.truth}
        return sum((int(i), int(j)) in true for i, j in np.asarray(pairs).reshape(-1, 2))

    def rate(self, pairs: np.ndarray) -> float:
        """True pairs found / true pairs: the matching rate of the literature, a recall."""
        return self.correct(pairs) / len(self.truth)

    def precision(self, pairs: np.ndarray) -> float:
        """True pairs found / pairs given; NaN if none are given."""
        return self.correct(pairs) / len(pairs) if len(pairs) else float("nan")


def shuffled(
    rng: np.random.Generator,
    group: str,
    name: str,
    setting: float,
    draw: int,
    left: Features,
    right: Features,
    n_true: int,
) -> Problem:
    """Make a problem of sets whose first ``n_true`` features belong together, in a random order."""
    here, there = rng.permutation(len(left.points)), rng.permutation(len(right.points))
    truth = np.column_stack((np.argsort(here)[:n_true], np.argsort(there)[:n_true]))
    return Problem(group, name, setting, draw, taken(left, here), taken(right, there), truth)


def taken(features: Features, rows: np.ndarray) -> Features:
    """These features alone, in this order."""
    others = (
        None if part is None else part[rows]
        for part in (features.orientations, features.scales, features.descriptors)
    )
    return Features(features.points[rows], *others)


def data_folder(name: str) -> Path:
    """A folder of real data; the error says how to give one."""
    root = os.environ.get("HYPERMODES_DATA")
    if not root:
        raise ValueError(f"HYPERMODES_DATA: expected the folder that holds {name!r}; the variable is not set")
    folder = Path(root) / name
    if not folder.is_dir():
        raise ValueError(f"HYPERMODES_DATA: expected a folder with {name!r} in it; {str(folder)!r} is none")
    return folder


def even_draws(n_pairs: int, draws: int) -> Iterator[tuple[int, int]]:
    """At least ``draws`` of (pair, draw of that pair), the same number for each pair."""
    for draw in range(-(-draws // n_pairs)):
        for pair in range(n_pairs):
            yield pair, draw
