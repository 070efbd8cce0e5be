"""Would clusters be as good if they were unions of modes? What it costs to keep modes together.

    python benchmarks/leaf_modes.py

Algorithm 1 is run from every hyperedge. Then every item goes to the cluster that most items of its mode are
in. Mean difference of the adjusted Rand index, all assigned, over the point sets of `clustering_gagolewski`
with at most 3,200 points, and over `high_dimensions` (5,000 rows each), digits, iris, wine, breast cancer.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import hypermodes as hm
from quality import read_sets, scores

MOST = 3200
ROWS = 5000
Score = Callable[[np.ndarray], float]


def plane(folder: Path) -> Iterator[tuple[str, np.ndarray, Score]]:
    for name, points, references in read_sets(folder / "clustering_gagolewski", MOST):
        yield name, points, lambda labels, references=references: scores(labels, references)[0]


def many_dimensions(folder: Path) -> Iterator[tuple[str, np.ndarray, Score]]:
    sets = {}
    for path in sorted((folder / "high_dimensions").glob("*.npz")):
        with np.load(path) as file:
            points, truth = file["X"], file["y"]
        rows = np.sort(np.random.default_rng(0).permutation(len(points))[:ROWS])
        sets[path.stem] = points[rows].astype(float), truth[rows]
    sets["digits"] = load_digits(return_X_y=True)
    for name, load in (("iris", load_iris), ("wine", load_wine), ("breast cancer", load_breast_cancer)):
        points, truth = load(return_X_y=True)
        sets[name] = StandardScaler().fit_transform(points), truth
    for name, (points, truth) in sets.items():
        yield name, points, lambda labels, truth=truth: adjusted_rand_score(truth, labels)


def with_whole_modes(clusters: hm.Clusters) -> np.ndarray:
    """The labels, every item going where most of its mode are."""
    around = clusters.neighbourhoods
    labels = clusters.assigned[around.rows]
    mode = hm.find_modes(around.hypergraph).edge_mode
    counts = np.zeros((mode.max(initial=-1) + 1, clusters.n_clusters))
    inside = mode >= 0
    np.add.at(counts, (mode[inside], labels[inside]), 1)
    return np.where(inside, counts.argmax(axis=1)[mode], labels)[around.place]


def main() -> None:
    if not (given := os.environ.get("HYPERMODES_DATA")):
        sys.exit("HYPERMODES_DATA: expected the folder of the data sets; it is not set")
    for family, sets in (("plane", plane(Path(given))), ("many dimensions", many_dimensions(Path(given)))):
        pairs = []
        for name, points, score in sets:
            clusters = hm.cluster(points)
            pairs.append((score(clusters.assigned), score(with_whole_modes(clusters))))
            print(f"{name:28} {pairs[-1][0]:.3f} {pairs[-1][1]:.3f}", file=sys.stderr, flush=True)
        before, after = np.array(pairs).T
        error = (after - before).std(ddof=1) / np.sqrt(before.size)
        print(
            f"{family}: {before.size} sets, ARI {before.mean():.3f}; with whole modes {after.mean():.3f}; "
            f"difference {(after - before).mean():+.4f} ± {error:.4f}"
        )


if __name__ == "__main__":
    main()
