"""How clearly the clusters of a tree are apart: what rises above a saddle, against what chance makes of it.

Two groups part at a saddle of level s. If the ground were flat there, a group of c points would be expected
to have E = Σ (s/height)^D of them, D being the dimension: its volume times the density of the saddle. The
saddle is known to a relative error of 1/√k, so the split is clear by

    √k · log(c/E)

standard errors, for the lesser of its two sides. Points that are uniform, which are one cluster, reach 3.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hypermodes.threads import in_threads, stretches, taken
from hypermodes.tree import SLACK, Level, ModeTree

DEEPEST = 600  # in logarithms: what density ratios, and sums of them, can be computed with


def clearness(
    tree: ModeTree, level: Level, dimension: float, k: int, n_jobs: int | None = 1
) -> tuple[np.ndarray, np.ndarray]:
    """How clear each split between clusters of a level is, in standard errors, and the merge that ends it."""
    from hypermodes._kernels.trees import add_up

    merges = tree.between(level.labels, n_jobs)
    tiny = np.finfo(float).tiny
    top = np.log(max(level.height.max(), tiny))
    volume = np.empty(2 * tree.n - 1)

    def fill(part: slice) -> None:
        log_height = np.log(np.maximum(level.height[part], tiny))
        log_height = np.maximum(log_height, top - DEEPEST / dimension)
        volume[part] = tree.weights[part] * np.exp(dimension * (top - log_height))

    in_threads(n_jobs, fill, stretches(tree.n))
    add_up(tree.children, volume)
    log_saddle = np.log(np.maximum(tree.heights[merges], tiny))
    log_saddle = np.maximum(log_saddle, top - DEEPEST / dimension)
    parts = tree.children[merges]
    log_expected = np.log(volume[parts]) + (dimension * (log_saddle - top))[:, None]
    return np.sqrt(k) * (np.log(tree.mass[parts]) - log_expected).min(axis=1, initial=np.inf), merges


def clearly_apart(
    tree: ModeTree, level: Level, dimension: float, k: int, errors: float, n_jobs: int | None = 1
) -> Level:
    """The level with clusters united that are not apart by more than so many standard errors."""
    if level.n_clusters < 2:
        return level
    clear, merges = clearness(tree, level, dimension, k, n_jobs)
    faint = level.labels[tree.ends[merges[clear <= errors]]]
    if len(faint) == 0:
        return level
    joined = sp.coo_array((np.ones(len(faint), bool), faint.T), shape=(level.n_clusters,) * 2)
    count, union = connected_components(joined, directed=False)
    union = union.astype(np.int64)
    labels = taken(union, level.labels, n_jobs)
    core = taken(np.append(union, -1), level.core, n_jobs)
    return replace(level, labels=labels, core=core, n_clusters=int(count))


def typical_size(level: Level, weights: np.ndarray) -> float:
    """Half of all points are in clusters at least that large."""
    sizes = np.sort(np.bincount(level.labels, weights))[::-1]
    return float(sizes[np.searchsorted(np.cumsum(sizes), sizes.sum() / 2 * SLACK)])
