"""Leordeanu's cars and motorbikes: contour points of image pairs, outliers on both sides [LSH12].

References
----------
.. [LSH12] Leordeanu, Sukthankar & Hebert, Unsupervised Learning for Graph Matching, IJCV 2012.
"""

import csv
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hypermodes.construct.correspondences import Features
from hypermodes.experiments.matching.comparison import Study
from hypermodes.experiments.matching.experiment import Experiment, Part
from hypermodes.experiments.matching.problems import ALL, Problem, data_folder, even_draws, shuffled, taken

FOLDER = "pascal_cars_motorbikes"
MOST = 60  # outliers a side, when all are taken
SETTINGS = (0, 5, 10, 15, 20, ALL)
_ROW, _COLUMN, _ORIENTATION = 0, 1, 8  # columns of the source's features


class Pair(NamedTuple):
    """Features of two images: the first ``n_true`` of each belong together, the others to nothing."""

    name: str
    category: str
    left: Features
    right: Features
    n_true: int
    images: tuple[str, str]


@lru_cache(maxsize=1)
def image_pairs() -> tuple[Pair, ...]:
    """All pairs that are there, cars first."""
    folder = data_folder(FOLDER)
    with open(folder / "pairs.csv", newline="", encoding="utf-8") as file:
        index = list(csv.DictReader(file))
    with np.load(folder / "pairs.npz", allow_pickle=False) as arrays:
        return tuple(
            Pair(
                row["pair"],
                row["category"],
                _features(arrays[row["pair"] + "__features1"]),
                _features(arrays[row["pair"] + "__features2"]),
                int(row["n_true"]),
                (row["image1"], row["image2"]),
            )
            for row in sorted(index, key=lambda row: (row["category"], int(row["index"])))
        )


def problems(settings: Sequence[float] = SETTINGS, draws: int = 50) -> Iterator[Problem]:
    """Every pair with so many outliers a side (fewer where there are not that many), drawn at random.

    The outliers of a draw are nested: those with 10 are among those with 20. Orientations are those of
    contours, reliable modulo π.
    """
    pairs = image_pairs()
    for category in dict.fromkeys(pair.category for pair in pairs):
        mine = [pair for pair in pairs if pair.category == category]
        for setting in settings:
            for at, draw in even_draws(len(mine), draws):
                yield with_outliers(mine[at], setting, draw)


def with_outliers(pair: Pair, outliers: float, draw: int) -> Problem:
    """One problem: the true matches and so many outliers a side; `ALL` means all, `MOST` at most."""
    rng = np.random.default_rng([draw, int(pair.name.rpartition("_")[2])])
    most = int(min(outliers, MOST))
    sides = []
    for features in (pair.left, pair.right):
        others = pair.n_true + rng.permutation(len(features.points) - pair.n_true)
        sides.append(taken(features, np.concatenate((np.arange(pair.n_true), others[:most]))))
    left, right = sides
    return shuffled(rng, pair.category, pair.name, outliers, draw, left, right, pair.n_true)


def _features(table: np.ndarray) -> Features:
    return Features(
        table[:, [_COLUMN, _ROW]].astype(float), orientations=table[:, _ORIENTATION].astype(float)
    )


def _few(draws: int) -> Iterator[Problem]:
    """Small ones, to see that it works."""
    return (problem for problem in problems((0, 10), draws) if len(problem.truth) <= 20)


run = Experiment(
    Part(
        Study(
            "cars",
            "Leordeanu's cars and motorbikes",
            "outliers a side",
            f"Contour points with orientations (modulo π), all pairs as candidates; the true matches and so "
            f"many outliers on both sides, at most {MOST} for 'all', drawn at random and shuffled.",
        ),
        lambda quick, draws: _few(draws) if quick else problems(SETTINGS, draws),
    )
)
"""Cars and motorbikes against outliers."""
