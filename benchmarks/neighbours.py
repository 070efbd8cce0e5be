"""Neighbours in many dimensions, and clusters from them, against scikit-learn and EVoC where it is installed.

    python benchmarks/neighbours.py               # 20,000 points in 384 dimensions
    python benchmarks/neighbours.py 5000 64       # so many points and dimensions

Points are 100 Gaussian groups on a sphere, as sentence embeddings lie, and some that are hard to tell apart
by inner products: tight groups, and a lattice full of ties. Each time is the median of three calls after a
first one that does not count, all methods in turns: processor time of all threads, and by the clock.
"""

import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from statistics import median

import numpy as np
from sklearn.neighbors import NearestNeighbors

import hypermodes as hm
from hypermodes.construct.neighbours import nearest_neighbours

K = 16


def groups(n: int, d: int, spread: float) -> np.ndarray:
    """Groups on a sphere, in single precision as embeddings are kept."""
    rng = np.random.default_rng(0)
    middles = rng.normal(size=(100, d))
    middles /= np.linalg.norm(middles, axis=1)[:, None]
    points = middles[rng.integers(100, size=n)] + spread * rng.normal(size=(n, d)) / np.sqrt(d)
    return (points / np.linalg.norm(points, axis=1)[:, None]).astype(np.float32)


def lattice(n: int, d: int) -> np.ndarray:
    """Few coordinates that differ, of few values: most distances tie."""
    points = np.zeros((n, d), np.float32)
    points[:, :14] = np.random.default_rng(0).integers(0, 3, (n, 14))
    return points


def by_sklearn(points: np.ndarray) -> None:
    """Brute force, in the precision of the points."""
    NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=-1).fit(points).kneighbors()


def by_evoc(points: np.ndarray) -> None:
    """With its own settings."""
    import evoc

    evoc.EVoC().fit_predict(points)


def timed(runs: dict[str, Callable[[], object]]) -> dict[str, tuple[float, float]]:
    """Processor time and time by the clock of each, in turns; the first turn does not count."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    for turn in range(4):
        for name, run in runs.items():
            work, clock = time.process_time(), time.perf_counter()
            run()
            if turn:
                times[name].append((time.process_time() - work, time.perf_counter() - clock))
    return {name: (median(w for w, _ in all_), median(c for _, c in all_)) for name, all_ in times.items()}


def show(title: str, runs: dict[str, Callable[[], object]]) -> None:
    """One row for each, and how many times as long as the first it takes."""
    times = timed(runs)
    ours = next(iter(times.values()))
    print(
        f"\n| {title} | processor, s | clock, s | ratio (processor) | ratio (clock) |\n|---|---|---|---|---|"
    )
    for name, (work, clock) in times.items():
        ratios = f"{work / ours[0]:.2f} | {clock / ours[1]:.2f}"
        print(f"| {name} | {work:.2f} | {clock:.2f} | {ratios} |", flush=True)


def main() -> None:
    """All tables."""
    n, d = (int(given) for given in sys.argv[1:3]) if len(sys.argv) > 2 else (20_000, 384)
    embeddings = groups(n, d, 0.8)
    kinds = {"embeddings": embeddings, "tight groups": groups(n, d, 1e-4), "lattice": lattice(n, d)}
    for name, points in kinds.items():
        double = points.astype(np.float64)
        show(
            f"{K} neighbours of {n:,} x {d}, {name}",
            {
                "hypermodes": lambda points=points: nearest_neighbours(points, K),
                "scikit-learn, float64": lambda double=double: by_sklearn(double),
                "scikit-learn, float32": lambda points=points: by_sklearn(points),
            },
        )
    clusters: dict[str, Callable[[], object]] = {"hypermodes": lambda: hm.cluster(embeddings)}
    if find_spec("evoc"):
        clusters["EVoC"] = lambda: by_evoc(embeddings)
    show(f"clusters of {n:,} x {d}, embeddings", clusters)


if __name__ == "__main__":
    main()
