"""Clusters and outliers of points: neighbours, their hypergraph, its mode tree, and what is read off it."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from hypermodes.construct.metrics import LARGEST, Metric
from hypermodes.executors import executor_of
from hypermodes.modes import find_modes
from hypermodes.neighbourhoods import Neighbourhoods, crowding, log_spacing, new_levels
from hypermodes.progress import Progress, tracker
from hypermodes.result import Mode, counted
from hypermodes.threads import in_threads
from hypermodes.tree import Level, ModeTree, check_count, check_wanted

FEWEST = 8  # different points below which there is nothing to tell apart
SMALLEST_GROUP = 4  # points, and at least half a neighbourhood
INNER, OUTER = 1.5, 3.0  # Tukey's fences: what is outside, and what is far out


@dataclass(frozen=True, eq=False)
class Clustering:
    """Clusters of points with outliers left out.

    Attributes
    ----------
    labels : (n,) int64
        Cluster of each point, the largest being 0; -1 for outliers.
    assigned : (n,) int64
        The same with every outlier in the cluster it reaches by the highest path.
    probabilities : (n,) float
        How strongly each belongs, in [0, 1]: the spacing of the closer quarter of its cluster in relation to
        its own; 0 for outliers.
    outlier_scores : (n,) float
        One minus that, for outliers as well.
    neighbourhoods : Neighbourhoods or None
        The hyperedges behind it; None if there are fewer than eight different points.
    tree : ModeTree or None
        The tree the clusters were read off, over different points.
    level : Level or None
        Where it was read.
    fences : (n_clusters, 2) float
        The spacing beyond which a point of each cluster is an outlier: if it is outside the group that makes
        the cluster, and in any case.
    """

    labels: np.ndarray
    assigned: np.ndarray
    probabilities: np.ndarray
    outlier_scores: np.ndarray
    neighbourhoods: Neighbourhoods | None
    tree: ModeTree | None
    level: Level | None
    fences: np.ndarray

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.fences.shape[0])

    @cached_property
    def modes(self) -> tuple[Mode | None, ...]:
        """The certified mode that the densest hyperedge of each cluster shifts to; supports are rows."""
        around = self.neighbourhoods
        if around is None:
            return (None,) * self.n_clusters
        labels = self.assigned[around.rows]
        order = np.lexsort((-around.density, labels))
        summits = order[np.searchsorted(labels[order], np.arange(self.n_clusters))]
        found = find_modes(around.hypergraph, starts=summits.tolist())
        which = found.edge_mode[summits].tolist()
        return tuple(None if k < 0 else in_rows(found[k], around.rows) for k in which)

    def predict(self, points: Any, *, assign: bool = False) -> np.ndarray:
        """Cluster of new points: that of the neighbour each holds together with at the highest level.

        A new point where an old one lies has its label. Others are outliers, unless ``assign``, where their
        spacing is beyond the fence of the cluster, as for the points it was made from.
        """
        around = self.neighbourhoods
        if around is None or self.level is None:
            return np.zeros(np.shape(points)[0], dtype=np.int64)
        found = around.to_new(points, around.neighbours.k)
        if self.n_clusters == 0:
            return np.full(found.n, -1)
        crowd = crowding(1.0, around.weights, found.indices) ** (1 / around.dimension)
        level = np.empty(found.indices.shape)
        for part in np.array_split(np.arange(found.n), max(1, found.n * found.k**2 // LARGEST)):
            level[part] = new_levels(around, found.indices[part], found.distances[part], crowd[part])
        level = np.minimum(level, self.level.height[found.indices])
        nearest = np.take_along_axis(found.indices, level.argmax(axis=1)[:, None], axis=1)[:, 0]
        labels = self.assigned[around.rows[nearest]]
        if not assign:
            fence = self.fences[labels, np.where(self.level.core[nearest] < 0, 0, 1)]
            spacing = log_spacing(found.distances, around.neighbours) - np.log(crowd)
            labels = np.where(spacing > fence, -1, labels)
        known = (self.assigned if assign else self.labels)[around.rows[found.indices[:, 0]]]
        return np.where(found.distances[:, 0] == 0, known, labels)

    def __repr__(self) -> str:
        n_out = int((self.labels < 0).sum())
        return (
            f"Clustering({counted(self.n_clusters, 'cluster')} of {counted(self.labels.size, 'point')}, "
            f"{counted(n_out, 'outlier')})"
        )


def cluster_points(
    points: Any,
    n_clusters: int | None = None,
    *,
    threshold: float | None = None,
    n_neighbors: int | None = None,
    metric: Metric = "euclidean",
    index: Any = None,
    n_jobs: int | None = -1,
    client: Any = None,
    progress: Progress = None,
) -> Clustering:
    """Find the clusters of points and leave out what belongs to none; nobody says how many there are.

    Parameters
    ----------
    points : (n, d) array, sparse matrix, or distances with ``metric="precomputed"``
        As in `NeighbourSearch`.
    n_clusters : int, optional
        How many are wanted; found if not given. There are never more than different points.
    threshold : float, optional
        Instead of that, what holds together at this share of the highest level is a cluster, from 0 to 1.
        There may be none.
    n_neighbors : int, optional
        Neighbours in a hyperedge; ⌈log₂ n⌉ for n different points if not given, n - 1 at most.
    metric, index, n_jobs
        As in `NeighbourSearch`.
    client : dask.distributed.Client, address of a scheduler, or "joblib", optional
        Search for neighbours, most of the work, on the workers of a Dask cluster, or by the backend of
        ``joblib.parallel_config``; unless distances are given, or found by an index. The result is the same
        to the last bit.
    progress : bool or function
        As in `find_modes`.

    Notes
    -----
    Rows that are equal are one point that came more often: to double the data changes nothing. (With an
    index, or a sparse graph of distances, every row is a point of its own.) Fewer than eight different
    points are one cluster, unless more are asked for. Time is that of finding neighbours, then O(n k²) for
    links, O(n log n) for the tree, and O(n) to read it once; further readings see groups only.

    Examples
    --------
    >>> from hypermodes.datasets import five_crescents
    >>> cluster_points(five_crescents(600, outliers=0.1).points)
    Clustering(5 clusters of 660 points, 21 outliers)
    """
    check_wanted(n_clusters, threshold)
    check_count("n_neighbors", n_neighbors)
    executor_of(client, n_jobs)  # what is no client is refused before the work
    with tracker(progress, 3, "clustering") as advance:
        fewest = FEWEST if n_clusters is None else 2
        around = Neighbourhoods.around(points, n_neighbors, metric, index, n_jobs, fewest, client)
        advance(1)
        if around is None:
            advance(2)
            return _all_one(np.shape(points)[0])
        tree = around.tree(n_jobs)
        advance(1)
        lowest = max(SMALLEST_GROUP, around.neighbours.k / 2)
        if threshold is not None:
            level = tree.above(threshold, lowest)
        elif n_clusters is not None:
            level = tree.into(n_clusters, lowest, n_jobs)
        else:
            level = tree.automatic(lowest, n_jobs)
            if level.n_clusters > 1 and _evidence(around, tree, level, n_jobs) < 0:
                level = tree.into(1, level.smallest, n_jobs)
        advance(1)
    return _read_out(around, tree, level, n_jobs)


# -- steps ----------------------------------------------------------------------------------------------


def _evidence(around: Neighbourhoods, tree: ModeTree, level: Level, n_jobs: int | None) -> float:
    """How clearly any cluster rises above its surroundings, in standard deviations.

    If the ground were flat at the saddle s between two groups, a group of c points would be expected to have
    E = Σ (s/height)^D of them, D being the dimension: its volume times that density. A saddle is known to a
    relative error of 1/√k, by which it is raised. The value is that of the clearest split, (c - E)/√E of its
    lesser side.
    """
    raised = np.exp(1 / np.sqrt(around.neighbours.k))
    top = level.height.max()
    ground = top * np.exp(-600 / around.dimension)  # (top/ground)^D and what is lost to it can be computed
    height = np.maximum(level.height, ground)
    parts = _by_group(-height, level.labels, level.n_clusters, n_jobs)
    falling = [-height[part] for part in parts]
    mass = [np.concatenate(([0.0], np.cumsum(around.weights[part]))) for part in parts]
    volume = [
        np.concatenate(([0.0], np.cumsum(around.weights[part] * (top / height[part]) ** around.dimension)))
        for part in parts
    ]

    def clearness(group: list[int], saddle: float) -> float:
        above = [int(np.searchsorted(falling[c], -saddle)) for c in group]
        count = sum(mass[c][t] for c, t in zip(group, above, strict=True))
        expected = sum(volume[c][t] for c, t in zip(group, above, strict=True))
        expected *= (saddle / top) ** around.dimension * raised
        return (count - expected) / np.sqrt(expected) if expected > 0 else 0.0

    groups = [[c] for c in range(level.n_clusters)]
    clearest = -np.inf
    sides = level.labels[tree.ends]
    for m in np.flatnonzero(sides[:, 0] != sides[:, 1]).tolist():
        one, other = groups[sides[m, 0]], groups[sides[m, 1]]
        saddle = max(float(tree.heights[m]), ground)
        clearest = max(clearest, min(clearness(one, saddle), clearness(other, saddle)))
        one += other
        for c in other:
            groups[c] = one
    return clearest


def _read_out(around: Neighbourhoods, tree: ModeTree, level: Level, n_jobs: int | None) -> Clustering:
    """From clusters of different points to labels, strengths and outliers of all rows; largest first.

    Outliers are where neighbours are much farther away than in the group that makes the cluster. Log spacing
    is held against Tukey's fences, from the quartiles of the group: the inner one for points outside the
    group, which joined the cluster below the level at which it is one; the outer one for all.
    """
    weights, height = around.weights, np.maximum(level.height, np.finfo(float).tiny)
    if level.n_clusters == 0:
        nobody, nothing = np.full(around.place.size, -1), np.zeros(around.place.size)
        everything, none = np.ones(around.place.size), np.empty((0, 2))
        for array in (nobody, nothing, everything):
            array.flags.writeable = False
        return Clustering(nobody, nobody, nothing, everything, around, tree, level, none)
    size = np.round(np.bincount(level.labels, weights=weights), 9)
    summit = np.zeros(level.n_clusters)
    np.maximum.at(summit, level.labels, height)
    rank = np.empty(level.n_clusters, np.int64)
    rank[np.lexsort((-summit, -size))] = np.arange(level.n_clusters)
    level = replace(level, labels=rank[level.labels], core=np.append(rank, -1)[level.core])
    lower, upper = _quartiles(around.spacing, level.core, weights, level.n_clusters, n_jobs)
    fences = upper[:, None] + (upper - lower)[:, None] * (INNER, OUTER) + 1e-9
    beyond = around.spacing > fences[level.labels, np.where(level.core < 0, 0, 1)]
    labels = np.where(beyond, -1, level.labels)
    strength = np.exp(np.minimum(0.0, lower[level.labels] - around.spacing))
    arrays = (labels, level.labels, np.where(labels < 0, 0.0, strength), 1 - strength)
    labels, assigned, probabilities, scores = (array[around.place] for array in arrays)
    for array in (labels, assigned, probabilities, scores, fences):
        array.flags.writeable = False
    return Clustering(labels, assigned, probabilities, scores, around, tree, level, fences)


def _quartiles(
    values: np.ndarray, core: np.ndarray, weights: np.ndarray, n_clusters: int, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper quartile in each core."""
    quartiles = np.empty((n_clusters, 2))
    for c, part in enumerate(_by_group(values, core, n_clusters, n_jobs)):
        middle = np.cumsum(weights[part]) - weights[part] / 2
        quartiles[c] = np.interp(weights[part].sum() * np.array([0.25, 0.75]), middle, values[part])
    return quartiles[:, 0], quartiles[:, 1]


def _by_group(values: np.ndarray, group: np.ndarray, n_groups: int, n_jobs: int | None) -> list[np.ndarray]:
    """The members of groups 0, 1, 2, …, each by rising value; equal ones in their order."""
    short = group.astype(np.int16) if n_groups < 1 << 15 else group  # NumPy counts short ones, in O(n)
    order = np.argsort(short, kind="stable")
    ends = np.searchsorted(short[order], np.arange(n_groups + 1))
    parts = [order[a:b] for a, b in pairwise(ends)]
    return in_threads(n_jobs, lambda part: part[np.argsort(values[part], kind="stable")], parts)


def _all_one(n: int) -> Clustering:
    """Too few different points to tell anything apart: one cluster."""
    label, one, zero = np.zeros(n, np.int64), np.ones(n), np.zeros(n)
    for array in (label, one, zero):
        array.flags.writeable = False
    return Clustering(label, label, one, zero, None, None, None, np.full((1, 2), np.inf))


def in_rows(mode: Mode, rows: np.ndarray) -> Mode:
    """The mode with the rows of the input in place of the points that differ."""
    support = rows[mode.support].astype(np.int64)
    order = np.argsort(support)
    support, weights = support[order], mode.weights[order]
    support.flags.writeable = weights.flags.writeable = False
    worst = mode.certificate.worst_edge
    certificate = replace(mode.certificate, worst_edge=int(rows[worst]) if worst >= 0 else -1)
    return replace(mode, support=support, weights=weights, certificate=certificate)
