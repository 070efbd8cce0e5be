"""How good the clusters are: labelled point sets, one default configuration of each method for all of them.

    python benchmarks/quality.py                   # every method; prints and saves tables
    python benchmarks/quality.py ours hdbscan      # some of them
    python benchmarks/quality.py --quick           # sets of at most 1,100 points

The sets are those of `clustering_gagolewski` in the folder HYPERMODES_DATA points at. ARI and NMI are taken
on the points whose reference label is not noise, against the best of a set's reference labelings: as labelled
(an outlier label counts as one more cluster), and with every outlier given to a cluster (ours by its own
rule, the peers' to the cluster of the nearest clustered point). fast_hdbscan and genieclust (whose licence is
AGPL) are used if they are installed.
"""

import argparse
import csv
import gzip
import importlib.util
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"
Labels = tuple[np.ndarray, np.ndarray]  # as labelled, and with every point assigned


def read_sets(folder: Path, most: int):
    """(name, points, reference labelings) of every set with at most so many points."""
    with open(folder / "index.csv", newline="") as file:
        for row in csv.DictReader(file):
            if int(row["n"]) <= most:
                path = folder / row["dataset"]
                references = [
                    _numbers(Path(f"{path}.labels{i}.gz")).astype(int) for i in range(int(row["n_labelings"]))
                ]
                yield row["dataset"], _numbers(Path(f"{path}.data.gz"), 2), references


def _numbers(path: Path, ndmin: int = 1) -> np.ndarray:
    with gzip.open(path, "rt") as file:
        return np.loadtxt(file, ndmin=ndmin)


def nearest(points: np.ndarray, labels: np.ndarray) -> Labels:
    """Give every outlier to the cluster of the nearest clustered point."""
    from sklearn.neighbors import NearestNeighbors

    inside = np.flatnonzero(labels >= 0)
    if inside.size in (0, labels.size):
        return labels, np.maximum(labels, 0)
    closest = NearestNeighbors(n_neighbors=1).fit(points[inside]).kneighbors(points, return_distance=False)
    return labels, np.where(labels < 0, labels[inside[closest[:, 0]]], labels)


def ours(points: np.ndarray, k: int) -> Labels:
    from hypermodes import HypergraphShift

    model = HypergraphShift().fit(points)
    return model.labels_, model.clusters_.assigned


def hdbscan(points: np.ndarray, k: int, **options: int) -> Labels:
    from sklearn.cluster import HDBSCAN

    return nearest(points, HDBSCAN(copy=True, **options).fit_predict(points))


def hdbscan_2_percent(points: np.ndarray, k: int) -> Labels:
    return hdbscan(points, k, min_cluster_size=max(5, round(0.02 * len(points))), min_samples=5)


def fast_hdbscan(points: np.ndarray, k: int) -> Labels:
    from fast_hdbscan import HDBSCAN

    size = max(5, round(0.02 * len(points)))
    return nearest(points, HDBSCAN(min_cluster_size=size, min_samples=5).fit_predict(points))


def dbscan(points: np.ndarray, k: int) -> Labels:
    """With min_samples 5, and eps the distance that 95 % of the points have five neighbours within."""
    from scipy.spatial import cKDTree
    from sklearn.cluster import DBSCAN

    reach = np.quantile(cKDTree(points).query(points, 6)[0][:, -1], 0.95)
    return nearest(points, DBSCAN(eps=reach, min_samples=5).fit_predict(points))


def mean_shift(points: np.ndarray, k: int) -> Labels:
    from sklearn.cluster import MeanShift, estimate_bandwidth

    width = estimate_bandwidth(points, quantile=0.1, n_samples=1000, random_state=0)
    return nearest(points, MeanShift(bandwidth=width, bin_seeding=True).fit_predict(points))


def spectral_told_k(points: np.ndarray, k: int) -> Labels:
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=10, random_state=0)
    return nearest(points, model.fit_predict(points))


def genie_told_k(points: np.ndarray, k: int) -> Labels:
    from genieclust import Genie

    return nearest(points, Genie(n_clusters=k).fit_predict(points))


METHODS: dict[str, Callable[[np.ndarray, int], Labels]] = {
    f.__name__: f
    for f in (
        ours, hdbscan, hdbscan_2_percent, fast_hdbscan, dbscan, mean_shift, spectral_told_k, genie_told_k
    )
}  # fmt: skip
NEEDS = {"fast_hdbscan": "fast_hdbscan", "genie_told_k": "genieclust"}


def scores(found: np.ndarray, references: list[np.ndarray]) -> tuple[float, float]:
    """Best ARI and best NMI over the reference labelings, on the points they do not call noise."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    real = [(reference[reference > 0], found[reference > 0]) for reference in references]
    return (
        max(adjusted_rand_score(*pair) for pair in real),
        max(normalized_mutual_info_score(*pair) for pair in real),
    )


def measure(method: Callable[[np.ndarray, int], Labels], points: np.ndarray, references: list[np.ndarray]):
    """The scores of a method on one set; methods told K are given each labeling's K, and the best counts."""
    begin = time.perf_counter()
    told = "told" in method.__name__
    answers = [method(points, k) for k in ({int(r.max()) for r in references} if told else {0})]
    seconds = (time.perf_counter() - begin) / len(answers)
    rows = [
        [*scores(labelled, references), *scores(assigned, references), labelled.max() + 1]
        for labelled, assigned in answers
    ]
    return [*np.max(rows, axis=0), seconds]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("methods", nargs="*", default=[], help=f"some of {', '.join(METHODS)}")
    parser.add_argument("--quick", action="store_true", help="sets of at most 1,100 points")
    arguments = parser.parse_args()
    folder = Path(os.environ.get("HYPERMODES_DATA", "")) / "clustering_gagolewski"
    if not folder.is_dir():
        sys.exit(f"HYPERMODES_DATA: expected a folder with clustering_gagolewski in it; {folder} is none")
    unknown = [name for name in arguments.methods if name not in METHODS]
    if unknown:
        sys.exit(f"methods: expected some of {', '.join(METHODS)}; got {', '.join(unknown)}")
    names = [name for name in arguments.methods or METHODS
             if name not in NEEDS or importlib.util.find_spec(NEEDS[name])]  # fmt: skip
    for name in set(arguments.methods or METHODS) - set(names):
        print(f"{name}: left out, {NEEDS[name]} is not installed", file=sys.stderr)
    sets = list(read_sets(folder, 1100 if arguments.quick else 12_000))
    if "ours" in names:
        ours(sets[0][1], 0)  # compile
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers warn of deprecations and of graphs that are not connected
        for done, (name, points, references) in enumerate(sets):
            print(f"\r{done + 1}/{len(sets)} {name:30s}", end="", file=sys.stderr, flush=True)
            rows += [[name, len(points), m, *measure(METHODS[m], points, references)] for m in names]
    print(file=sys.stderr)
    report(rows, names)


def report(rows: list[list], names: list[str]) -> None:
    """Print the means, save every row and the tables."""
    columns = ["ari", "nmi", "ari_assigned", "nmi_assigned", "clusters", "seconds"]
    RESULTS.mkdir(exist_ok=True)
    with open(RESULTS / "quality.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["dataset", "n", "method", *columns])
        writer.writerows(rows)
    n_sets = len({row[0] for row in rows})
    lines = [f"Mean over {n_sets} sets (standard error of ARI).", "",
             "| method | ARI | ARI, all assigned | NMI | NMI, all assigned | seconds |",
             "|---|---|---|---|---|---|"]  # fmt: skip
    for method in names:
        table = np.array([row[3:] for row in rows if row[2] == method], dtype=float)
        mean, error = table.mean(axis=0), table.std(axis=0) / np.sqrt(n_sets)
        lines.append(f"| {method.replace('_', ' ')} | {mean[0]:.3f} ± {error[0]:.3f} "
                     f"| {mean[2]:.3f} ± {error[2]:.3f} | {mean[1]:.3f} | {mean[3]:.3f} "
                     f"| {table[:, 5].sum():.1f} |")  # fmt: skip
    print("\n".join(lines))
    lines += ["", "ARI of each set, as labelled / all assigned (clusters found).", "",
              f"| set | n | {' | '.join(name.replace('_', ' ') for name in names)} |",
              f"|---|---|{'---|' * len(names)}"]  # fmt: skip
    by_set: dict[tuple[str, int], list[str]] = {}
    for name, n, _, ari, _, assigned, _, clusters, _ in rows:
        by_set.setdefault((name, n), []).append(f"{ari:.2f} / {assigned:.2f} ({clusters:.0f})")
    lines += [f"| {name} | {n:,} | {' | '.join(cells)} |" for (name, n), cells in by_set.items()]
    (RESULTS / "quality.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
