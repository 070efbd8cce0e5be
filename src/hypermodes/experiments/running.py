"""Run methods on five crescents, over settings and seeds, with a limit on what one run may take."""

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from hypermodes.datasets import five_crescents
from hypermodes.experiments.methods import Method
from hypermodes.progress import Progress, tracker

T = TypeVar("T")
LIMIT = 20.0  # seconds of one run after which a method is left out where there are more points

GRID = np.array([(x, y) for x in range(6) for y in range(6)], dtype=float)
WARM_UP = (five_crescents(50).points, GRID)  # without and with ties


class Setting(NamedTuple):
    """Five crescents, as `five_crescents` is told to make them."""

    n: int
    outliers: float = 0.0
    noise: float = 0.0

    @property
    def n_points(self) -> int:
        """Points and outliers."""
        return self.n + round(self.outliers * self.n)


class Outcome(NamedTuple, Generic[T]):
    """One method on one set of points."""

    method: str
    setting: Setting
    seed: int
    truth: np.ndarray
    result: T | None
    """What the method gave; None if it was left out."""
    seconds: float
    note: str
    """Why it was left out."""


def outcomes(
    methods: Mapping[str, Method[T]],
    settings: Iterable[Setting],
    seeds: int,
    *,
    progress: Progress = None,
    limit: float = LIMIT,
) -> Iterator[Outcome[T]]:
    """Run every method on every setting, from few points to many, seed after seed.

    A method that needs more than ``limit`` seconds is left out from then on where there are more points; its
    outcomes are there, without a result.
    """
    ordered = sorted(set(settings), key=lambda setting: (setting.n_points, setting))
    total = len(ordered) * sum(seeds_of(method, seeds) for method in methods.values())
    too_slow: dict[str, int] = {}
    with tracker(progress, total, "running") as advance:
        for method in methods.values():
            for points in WARM_UP:
                method.run(points)  # compile and import, so that no run is timed with that
        for seed in range(seeds):
            running = {name: method for name, method in methods.items() if seed < seeds_of(method, seeds)}
            for setting in ordered:
                data = five_crescents(setting.n, outliers=setting.outliers, noise=setting.noise, rng=seed)
                for name, method in running.items():
                    most = too_slow.get(name, setting.n_points)
                    if most < setting.n_points:
                        note = f"left out: over {limit:g} s at {most} points"
                        yield Outcome(name, setting, seed, data.labels, None, np.nan, note)
                    else:
                        begin = time.perf_counter()
                        result = method.run(data.points)
                        seconds = time.perf_counter() - begin
                        if seconds > limit:
                            too_slow[name] = setting.n_points
                        yield Outcome(name, setting, seed, data.labels, result, seconds, "")
                    advance(1)


def seeds_of(method: Method[T], seeds: int) -> int:
    """How many seeds a method gets of those asked for."""
    return min(seeds, method.most_seeds or seeds)
