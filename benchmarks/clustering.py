"""Clustering at scale: against fast_hdbscan on 10^5 points, growth to 10^6, memory, and the first fit of all.

    python benchmarks/clustering.py               # all sections; prints and saves a table
    python benchmarks/clustering.py rival growth

Every section runs in a process of its own. fast_hdbscan is used if it is installed.
"""

import importlib.util
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from sections import Rows, asked, in_process

RESULTS = Path(__file__).parent / "results"


def noisy(kind: str, n: int, outliers: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Two moons or twenty blobs of different sizes, with uniform outliers over a box 10 % larger."""
    from sklearn.datasets import make_blobs, make_moons

    inside = int(n / (1 + outliers))
    if kind == "moons":
        points, labels = make_moons(inside, noise=0.08, random_state=0)
    else:
        points, labels = make_blobs(inside, centers=20, cluster_std=0.35, random_state=0)
    low, high = points.min(axis=0), points.max(axis=0)
    pad = 0.1 * (high - low)
    box = np.random.default_rng(0).uniform(low - pad, high + pad, (n - inside, 2))
    return np.vstack((points, box)), np.concatenate((labels, np.full(n - inside, -1)))


def timed(function, *arguments) -> tuple[object, float]:
    begin = time.perf_counter()
    return function(*arguments), time.perf_counter() - begin


def ours(points: np.ndarray) -> np.ndarray:
    from hypermodes import HypergraphShift

    return HypergraphShift().fit_predict(points)


def fast_hdbscan(points: np.ndarray) -> np.ndarray:
    from fast_hdbscan import HDBSCAN

    return HDBSCAN(min_cluster_size=len(points) // 50, min_samples=5).fit_predict(points)


def rival(quick: bool) -> Rows:
    """100,000 points with 10 % outliers, warm, the two methods in turn, best of three."""
    from sklearn.metrics import adjusted_rand_score

    methods = [ours] + ([fast_hdbscan] if importlib.util.find_spec("fast_hdbscan") else [])
    n = 10_000 if quick else 100_000
    for method in methods:
        method(noisy("moons", 2000)[0])
    rows: Rows = []
    for kind in ("moons", "blobs"):
        points, labels = noisy(kind, n)
        real = labels >= 0
        best = dict.fromkeys(methods, np.inf)
        for _ in range(3):
            for method in methods:
                found, seconds = timed(method, points)
                best[method] = min(best[method], seconds)
                score = (adjusted_rand_score(labels[real], found[real]), adjusted_rand_score(labels, found))
                if best[method] == seconds:
                    last = f"{seconds:.2f} s, {score[0]:.3f}, {score[1]:.3f} ({found.max() + 1} clusters)"
                    rows = [row for row in rows if row[0] != _name(n, kind, method)]
                    rows.append((_name(n, kind, method), last))
        if fast_hdbscan in best:
            rows.append((f"{kind}: time of fast_hdbscan / ours", f"{best[fast_hdbscan] / best[ours]:.2f}"))
    return rows


def _name(n: int, kind: str, method) -> str:
    return f"{n:,} points, {kind}, {method.__name__}: time, ARI on inliers, ARI on all"


def growth(quick: bool) -> Rows:
    """From 10^5 to 10^6 points."""
    ours(noisy("moons", 2000)[0])
    sizes = [10_000, 30_000] if quick else [100_000, 300_000, 1_000_000]
    rows, taken = [], []
    for n in sizes:
        points, _ = noisy("moons", n)
        seconds = min(timed(ours, points)[1] for _ in range(2))
        taken.append(seconds)
        rows.append((f"{n:,} points, moons: seconds (microseconds a point)",
                     f"{seconds:.2f} ({seconds / n * 1e6:.1f})"))  # fmt: skip
    exponent = np.polyfit(np.log(sizes), np.log(taken), 1)[0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [*rows, ("growth exponent", f"{exponent:.3f}"), ("peak memory, MB", f"{peak:,.0f}")]


def first(quick: bool) -> Rows:
    """One fit in a new process: what `cold` times."""
    ours(noisy("moons", 2000)[0])
    return []


def cold(quick: bool) -> Rows:
    """First fit of a fresh environment, with imports and compilation; then of the next process."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("first process, nothing compiled", "second process"):
            _, seconds = timed(in_process, __file__, "first", quick, {"NUMBA_CACHE_DIR": folder})
            rows.append((f"fit of 2,000 points, {name}: seconds", f"{seconds:.2f}"))
    return rows


SECTIONS = {f.__name__: f for f in (cold, rival, growth)}


def main() -> None:
    arguments = asked(__doc__, SECTIONS, first)
    if arguments is None:
        return
    lines = ["| what | measured |", "|---|---|"]
    for name in arguments.sections:
        for what, value in in_process(__file__, name, arguments.quick):
            lines.append(f"| {name}: {what} | {value} |")
            print(lines[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "clustering.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
