"""Random points, scaled, disturbed and hidden among outliers: the protocol of hypergraph matching [NTGH17].

The left set is P ~ N(0, I); the right one is s P + σ E, E ~ N(0, I), and outliers s N(0, I) beside it: they
look like the points themselves. Optionally the right set is turned by a random angle.

References
----------
.. [NTGH17] Nguyen, Tudisco, Gautier & Hein, An Efficient Multilinear Optimization Framework for Hypergraph
   Matching, PAMI 2017.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from hypermodes.construct.correspondences import Features
from hypermodes.experiments.matching.comparison import Study
from hypermodes.experiments.matching.experiment import Experiment, Part
from hypermodes.experiments.matching.problems import Problem, shuffled

OUTLIERS = tuple(range(0, 201, 20))
NOISE = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)


def among_outliers(
    outliers: Sequence[int] = OUTLIERS,
    draws: int = 50,
    *,
    noise: float = 0.03,
    scale: float = 1.5,
    turned: bool = False,
) -> Iterator[Problem]:
    """10 points against themselves and so many outliers."""
    group = "10 points among outliers" + ", turned" * turned
    for setting in outliers:
        for draw in range(draws):
            yield problem(group, setting, draw, 10, setting, noise, scale, turned)


def under_noise(noise: Sequence[float] = NOISE, draws: int = 50) -> Iterator[Problem]:
    """20 points against themselves, disturbed."""
    for setting in noise:
        for draw in range(draws):
            yield problem("20 points under noise", setting, draw, 20, 0, setting, 1.0, False)


def problem(
    group: str, setting: float, draw: int, n: int, outliers: int, noise: float, scale: float, turned: bool
) -> Problem:
    """One pair of point sets."""
    rng = np.random.default_rng([draw, n, outliers])
    left, error, others = rng.normal(size=(n, 2)), rng.normal(size=(n, 2)), rng.normal(size=(outliers, 2))
    turn = rng.uniform(0, 2 * np.pi) if turned else 0.0
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    right = np.vstack((scale * left + noise * error, scale * others)) @ rotation.T
    return shuffled(rng, group, f"set {draw}", setting, draw, Features(left), Features(right), n)


def _among(outliers: Sequence[int], draws: int) -> Iterator[Problem]:
    """Not turned, then turned."""
    return chain(among_outliers(outliers, draws), among_outliers(outliers, draws, turned=True))


run = Experiment(
    Part(
        Study(
            "outliers",
            "10 random points among outliers",
            "outliers on the right",
            "Normal points, scaled by 1.5 and disturbed with σ = 0.03; outliers of the same distribution on "
            "the right side only; once turned by a random angle, once not.",
        ),
        lambda quick, draws: _among((0, 20) if quick else OUTLIERS, draws),
        "outliers",
    ),
    Part(
        Study(
            "noise",
            "20 random points under noise",
            "σ of the noise",
            "Normal points against themselves, disturbed.",
        ),
        lambda quick, draws: under_noise((0.0, 0.2) if quick else NOISE, draws),
        "noise",
    ),
)
"""Random points against outliers and noise."""
