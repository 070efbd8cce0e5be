"""From a tree to clusters: where it is read, and who belongs, how strongly, and who is an outlier."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hypermodes.background import Quartiles, fences
from hypermodes.cluster.ladder import Ladder, smallest_size
from hypermodes.cluster.settings import ClusterSettings
from hypermodes.neighbourhoods import Neighbourhoods
from hypermodes.threads import in_threads, stretches, taken
from hypermodes.tree import Level, ModeTree


class Found(NamedTuple):
    """Clusters of items, the largest first."""

    labels: np.ndarray
    assigned: np.ndarray
    probabilities: np.ndarray
    outlier_scores: np.ndarray
    fences: np.ndarray
    level: Level | None

    def locked(self) -> "Found":
        """The same, read-only."""
        for array in self[:5]:
            array.flags.writeable = False
        return self


def chosen_level(
    tree: ModeTree,
    ground: Neighbourhoods,
    n_clusters: int | None,
    threshold: float | None,
    settings: ClusterSettings,
    n_jobs: int | None,
) -> Level:
    """The reading of the tree that was asked for: a number, a threshold, or the one that stands out."""
    lowest = smallest_size(ground, settings)
    if threshold is not None:
        return tree.above(threshold, lowest)
    if n_clusters is not None:
        return tree.into(n_clusters, lowest, n_jobs)
    return Ladder.direct(tree, ground, settings, n_jobs).medoid()


def read_out(ground: Neighbourhoods, level: Level, n_jobs: int | None) -> Found:
    """From clusters of different points to labels, strengths and outliers of all rows; largest first."""
    weights, height = ground.weights, np.maximum(level.height, np.finfo(float).tiny)
    if level.n_clusters == 0:
        nobody, nothing = np.full(ground.place.size, -1), np.zeros(ground.place.size)
        everything = np.ones(ground.place.size)
        return Found(nobody, nobody, nothing, everything, np.empty(0), level).locked()
    size = np.round(np.bincount(level.labels, weights=weights), 9)
    summit = np.zeros(level.n_clusters)
    np.maximum.at(summit, level.labels, height)
    rank = np.empty(level.n_clusters, np.int64)
    rank[np.lexsort((-summit, -size))] = np.arange(level.n_clusters)
    labels, core = taken(rank, level.labels, n_jobs), taken(np.append(rank, -1), level.core, n_jobs)
    level = replace(level, labels=labels, core=core)
    quartiles = Quartiles.of(ground.spacing, level, weights)
    limits = fences(ground.spacing, quartiles, level, weights, ground.dimension, ground.k)
    short = level.labels.astype(np.min_scalar_type(level.n_clusters))  # rows look for points in no order
    outside, strength = np.empty(ground.rows.size, bool), np.empty(ground.rows.size)

    def judge(part: slice) -> None:
        spacing, cluster = ground.spacing[part], level.labels[part]
        outside[part] = spacing > limits[cluster]
        strength[part] = np.exp(np.minimum(0.0, quartiles.lower[cluster] - spacing))

    labels, assigned = np.empty(ground.place.size, np.int64), np.empty(ground.place.size, np.int64)
    probabilities, scores = np.empty(ground.place.size), np.empty(ground.place.size)

    def put(part: slice) -> None:
        point = ground.place[part]
        out, strong = outside[point], strength[point]
        assigned[part] = short[point]
        labels[part] = np.where(out, -1, assigned[part])
        probabilities[part], scores[part] = np.where(out, 0.0, strong), 1 - strong

    in_threads(n_jobs, judge, stretches(ground.rows.size))
    in_threads(n_jobs, put, stretches(ground.place.size))
    return Found(labels, assigned, probabilities, scores, limits, level).locked()


def all_one(n: int) -> Found:
    """Too few different items to tell anything apart: one cluster."""
    label, one, zero = np.zeros(n, np.int64), np.ones(n), np.zeros(n)
    return Found(label, label, one, zero, np.full(1, np.inf), None).locked()
