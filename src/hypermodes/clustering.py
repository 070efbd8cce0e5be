"""Clusters and outliers of points: neighbours, their hypergraph, its mode tree, and what is read off it."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from hypermodes.background import Quartiles, fences
from hypermodes.construct.metrics import LARGEST, Metric
from hypermodes.executors import executor_of
from hypermodes.keeping import kept
from hypermodes.modes import find_modes
from hypermodes.neighbourhoods import Neighbourhoods, crowding, new_levels, new_spacing
from hypermodes.progress import Progress, tracker
from hypermodes.result import Mode, counted
from hypermodes.splits import clearly_apart, typical_size
from hypermodes.threads import in_threads, stretches, taken
from hypermodes.tree import Level, ModeTree, check_count, check_wanted

FEWEST = 8  # different points below which there is nothing to tell apart
SMALLEST_GROUP = 4  # points, and at least half a neighbourhood
FAINT = 1.0  # standard errors: clusters that are apart by no more are one
BEYOND_CHANCE = 5.0  # standard errors: by more than points that are one cluster are ever apart


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
    fences : (n_clusters,) float
        The spacing beyond which a point of each cluster is an outlier.
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

    @kept
    def modes(self, *, n_jobs: int | None = -1, client: Any = None) -> tuple[Mode | None, ...]:
        """The certified mode that the densest hyperedge of each cluster shifts to; supports are rows.

        Parameters
        ----------
        n_jobs, client
            As in `find_modes`. What is found is kept, and does not depend on them.
        """
        around = self.neighbourhoods
        if around is None:
            return (None,) * self.n_clusters
        labels = self.assigned[around.rows]
        order = np.lexsort((-around.density, labels))
        summits = order[np.searchsorted(labels[order], np.arange(self.n_clusters))]
        found = find_modes(around.hypergraph, starts=summits.tolist(), n_jobs=n_jobs, client=client)
        which = found.edge_mode[summits].tolist()
        return tuple(None if k < 0 else found[k].among(around.rows) for k in which)

    def predict(self, points: Any, *, assign: bool = False) -> np.ndarray:
        """Cluster of new points: that of the neighbour each holds together with at the highest level.

        A new point where an old one lies has its label. Others are outliers, unless ``assign``, where their
        spacing is beyond the fence of the cluster, as for the points it was made from.
        """
        around = self.neighbourhoods
        if around is None or self.level is None:
            return np.zeros(np.shape(points)[0], dtype=np.int64)
        found = around.to_new(points, around.k)
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
            beyond = new_spacing(around, found.distances, crowd) > self.fences[labels]
            labels = np.where(beyond, -1, labels)
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
    index, or a sparse graph of distances, every row is a point of its own.) Nor does the order of rows, nor a
    power of two as unit; nor, for arrays in a Minkowski or the cosine metric, the order and direction of
    columns. To move or turn points changes nothing but by rounding, where distances tie.

    Fewer than eight different points are one cluster, unless more are asked for. Time is that of finding
    neighbours, then O(n k²) for links, O(n log n) for the tree, and O(n) to read it once; further readings
    see groups only.

    Examples
    --------
    >>> from hypermodes.datasets import five_crescents
    >>> cluster_points(five_crescents(600, outliers=0.1).points)
    Clustering(5 clusters of 660 points, 25 outliers)
    """
    check_wanted(n_clusters, threshold)
    check_count("n_neighbors", n_neighbors)
    with (
        executor_of(client, n_jobs) as executor,
        tracker(progress, 3, "clustering", executor.dashboard) as advance,
    ):
        fewest = FEWEST if n_clusters is None else 2
        around = Neighbourhoods.around(points, n_neighbors, metric, index, n_jobs, fewest, executor.client)
        advance(1)
        if around is None:
            advance(2)
            return _all_one(np.shape(points)[0])
        tree = around.tree(n_jobs)
        advance(1)
        lowest = max(SMALLEST_GROUP, around.k / 2)
        if threshold is not None:
            level = tree.above(threshold, lowest)
        elif n_clusters is not None:
            level = tree.into(n_clusters, lowest, n_jobs)
        else:
            apart = partial(clearly_apart, tree, dimension=around.dimension, k=around.k, n_jobs=n_jobs)
            level = tree.automatic(
                lowest, n_jobs,
                lambda finest: typical_size(apart(level=finest, errors=BEYOND_CHANCE), around.weights),
            )  # fmt: skip
            level = apart(level=level, errors=FAINT)
        advance(1)
    return _read_out(around, tree, level, n_jobs)


# -- steps ----------------------------------------------------------------------------------------------


def _read_out(around: Neighbourhoods, tree: ModeTree, level: Level, n_jobs: int | None) -> Clustering:
    """From clusters of different points to labels, strengths and outliers of all rows; largest first."""
    weights, height = around.weights, np.maximum(level.height, np.finfo(float).tiny)
    if level.n_clusters == 0:
        nobody, nothing = np.full(around.place.size, -1), np.zeros(around.place.size)
        everything, none = np.ones(around.place.size), np.empty(0)
        for array in (nobody, nothing, everything):
            array.flags.writeable = False
        return Clustering(nobody, nobody, nothing, everything, around, tree, level, none)
    size = np.round(np.bincount(level.labels, weights=weights), 9)
    summit = np.zeros(level.n_clusters)
    np.maximum.at(summit, level.labels, height)
    rank = np.empty(level.n_clusters, np.int64)
    rank[np.lexsort((-summit, -size))] = np.arange(level.n_clusters)
    labels, core = taken(rank, level.labels, n_jobs), taken(np.append(rank, -1), level.core, n_jobs)
    level = replace(level, labels=labels, core=core)
    quartiles = Quartiles.of(around.spacing, level, weights)
    limits = fences(around.spacing, quartiles, level, weights, around.dimension, around.k)
    short = level.labels.astype(np.min_scalar_type(level.n_clusters))  # rows look for points in no order
    outside, strength = np.empty(around.rows.size, bool), np.empty(around.rows.size)

    def judge(part: slice) -> None:
        spacing, cluster = around.spacing[part], level.labels[part]
        outside[part] = spacing > limits[cluster]
        strength[part] = np.exp(np.minimum(0.0, quartiles.lower[cluster] - spacing))

    labels, assigned = np.empty(around.place.size, np.int64), np.empty(around.place.size, np.int64)
    probabilities, scores = np.empty(around.place.size), np.empty(around.place.size)

    def put(part: slice) -> None:
        point = around.place[part]
        out, strong = outside[point], strength[point]
        assigned[part] = short[point]
        labels[part] = np.where(out, -1, assigned[part])
        probabilities[part], scores[part] = np.where(out, 0.0, strong), 1 - strong

    in_threads(n_jobs, judge, stretches(around.rows.size))
    in_threads(n_jobs, put, stretches(around.place.size))
    for array in (labels, assigned, probabilities, scores, limits):
        array.flags.writeable = False
    return Clustering(labels, assigned, probabilities, scores, around, tree, level, limits)


def _all_one(n: int) -> Clustering:
    """Too few different points to tell anything apart: one cluster."""
    label, one, zero = np.zeros(n, np.int64), np.ones(n), np.zeros(n)
    for array in (label, one, zero):
        array.flags.writeable = False
    return Clustering(label, label, one, zero, None, None, None, np.full(1, np.inf))
