"""Clusters and outliers of points: neighbours, their hypergraph, its mode tree, and what is read off it."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.construct.metrics import LARGEST, Metric, new_rows, row_order
from hypermodes.construct.neighbours import Neighbours, NeighbourSearch
from hypermodes.construct.points import hypergraph_of_neighbours
from hypermodes.hypergraph import Hypergraph
from hypermodes.linking import bridges, hyperedge_density, link_level, neighbour_links, vertex_sums
from hypermodes.modes import find_modes
from hypermodes.progress import Progress, tracker
from hypermodes.result import Mode, counted
from hypermodes.tree import Level, ModeTree

FEWEST = 8  # different points below which there is nothing to tell apart
TOO_FAR = 1e90  # coordinates in this relation are infinitely far apart
SMALLEST_GROUP = 4  # points, and at least half a neighbourhood
INNER, OUTER = 1.5, 3.0  # Tukey's fences: what is outside, and what is far out


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """Different points, how often each came, and the hyperedges they make with their neighbours.

    Attributes
    ----------
    points, metric
        The different points, in an order of their own, and how to measure between them.
    search : NeighbourSearch
        Among them.
    rows : (n,) int
        The row of the input each of them is.
    place : (n_rows,) int
        Which of them each row of the input is.
    weights : (n,) float
        How often each came, 1 on average.
    neighbours : Neighbours
        The k nearest of each.
    dimension : float
        The dimension the points have locally, whatever the number of their coordinates.
    reach : (n,) float
        d_k, the distance to the k-th neighbour.
    rate : (n,) float
        1/d_k, in units of ``unit``; more where points came more often.
    density : (n,) float
        Of each hyperedge.
    spacing : (n,) float
        Log distance to the middle neighbour, less where points came more often: how sparse it is around.
    """

    points: Any
    metric: Metric
    search: NeighbourSearch
    rows: np.ndarray
    place: np.ndarray
    weights: np.ndarray
    neighbours: Neighbours
    dimension: float
    reach: np.ndarray
    unit: float
    rate: np.ndarray
    density: np.ndarray
    spacing: np.ndarray

    @classmethod
    def around(
        cls, points: Any, n_neighbors: int | None, metric: Metric, index: Any, n_jobs: int | None, fewest: int
    ) -> "Neighbourhoods | None":
        """Find the neighbours of different points; None if there are fewer than ``fewest``, or none apart."""
        search = NeighbourSearch(points, metric=metric, index=index, n_jobs=n_jobs)  # also checks the points
        given = isinstance(metric, str) and metric == "precomputed"
        points = _in_one_form(points, given) if sp.issparse(points) else np.asarray(points, float)
        if points.shape[0] == 0:
            raise ValueError("points: expected at least one point; got none")
        rows = place = np.arange(points.shape[0])
        if index is None and not (given and sp.issparse(points)):  # else rows are tied to what came with them
            rows, place = _different(points)
            points = points[rows][:, rows] if given else points[rows]
            search = NeighbourSearch(points, metric=metric, n_jobs=n_jobs)
        else:
            points = points.copy()  # what happens to the caller's does not matter later
        n = rows.size
        if n < fewest:
            return None
        weights = np.bincount(place, minlength=n) * (n / place.size)
        neighbours = search.neighbours(min(n_neighbors or int(np.ceil(np.log2(n))), n - 1))
        reach = neighbours.distances[:, -1]
        if not reach.any():
            return None
        reach = np.where(reach > 0, reach, reach[reach > 0].min())
        dimension = max(1.0, min(_dimension(neighbours), np.inf if given else points.shape[1]))
        crowd = _crowd(weights, weights, neighbours.indices)
        unit = float(np.median(reach))
        rate = crowd ** (1 / dimension) * (unit / reach)
        density = hyperedge_density(neighbours, rate)
        spacing = _spacing(neighbours.distances, neighbours) - np.log(crowd) / dimension
        return cls(
            points, metric, search, rows, place, weights, neighbours, dimension, reach, unit, rate, density,
            spacing,
        )  # fmt: skip

    def tree(self, n_jobs: int | None) -> ModeTree:
        """The mode tree of their hyperedges."""
        links = neighbour_links(self.neighbours, self.density, n_jobs).forest(self.rows.size)
        nearest = partial(self._nearest, n_jobs=n_jobs)
        links = bridges(links, self.density, self.reach, self.neighbours.k, nearest)
        return ModeTree.grow(links, self.weights)

    def to_new(self, points: Any, k: int) -> Neighbours:
        """The k nearest of the different points to each new one; what is precomputed is to every row."""
        if self._given:
            points = sp.csr_array(points) if sp.issparse(points) else np.asarray(points)
            if points.ndim != 2 or points.shape[1] != self.place.size:
                raise ValueError(
                    f"points: expected rows of distances to the {self.place.size} points of before; "
                    f"got shape {points.shape}"
                )
            points = points[:, self.rows]
        return self.search.neighbours_of(points, k)

    @property
    def _given(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _nearest(
        self, among: np.ndarray, of: np.ndarray, n_jobs: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Distance to, and position in ``among`` of, the nearest to each point in ``of``."""
        if not self._given:
            old, new = self.points[among], self.points[of]
            if abs(new).max() / TOO_FAR < abs(old).max():
                found = NeighbourSearch(old, metric=self.metric, n_jobs=n_jobs).neighbours_of(new, 1)
                return found.distances[:, 0], found.indices[:, 0]
        if not self._given or sp.issparse(self.points):  # what is not stored is far away
            return np.full(of.size, np.inf), np.zeros(of.size, np.int64)
        which = np.array([self.points[i, among].argmin() for i in of])
        return self.points[of, among[which]], which

    @cached_property
    def vertex_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """How many hyperedges each point is in, and the sum of their rates."""
        return vertex_sums(self.neighbours, self.rate)

    @cached_property
    def hypergraph(self) -> Hypergraph:
        """Hyperedge i is the i-th different point and its neighbours."""
        rate = self.rate
        return hypergraph_of_neighbours(self.neighbours, weight=lambda degree, reach: degree * rate)


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
        crowd = _crowd(1.0, around.weights, found.indices) ** (1 / around.dimension)
        level = np.empty(found.indices.shape)
        for part in np.array_split(np.arange(found.n), max(1, found.n * found.k**2 // LARGEST)):
            level[part] = _new_levels(around, found.indices[part], found.distances[part], crowd[part])
        level = np.minimum(level, self.level.height[found.indices])
        nearest = np.take_along_axis(found.indices, level.argmax(axis=1)[:, None], axis=1)[:, 0]
        labels = self.assigned[around.rows[nearest]]
        if not assign:
            fence = self.fences[labels, np.where(self.level.core[nearest] < 0, 0, 1)]
            spacing = _spacing(found.distances, around.neighbours) - np.log(crowd)
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
    progress : bool or function
        As in `find_modes`.

    Notes
    -----
    Rows that are equal are one point that came more often: to double the data changes nothing. (With an
    index, or a sparse graph of distances, every row is a point of its own.) Fewer than eight different
    points are one cluster, unless more are asked for. Time is that of finding neighbours, then O(n k²) for
    links and O(n log n) for each of about 2 log₂ n readings of the tree.

    Examples
    --------
    >>> from hypermodes.datasets import five_crescents
    >>> cluster_points(five_crescents(600, outliers=0.1).points)
    Clustering(5 clusters of 660 points, 21 outliers)
    """
    _check_wanted(n_clusters, threshold, n_neighbors)
    with tracker(progress, 3, "clustering") as advance:
        fewest = FEWEST if n_clusters is None else 2
        around = Neighbourhoods.around(points, n_neighbors, metric, index, n_jobs, fewest)
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
            if level.n_clusters > 1 and _evidence(around, tree, level) < 0:
                level = tree.into(1, level.smallest, n_jobs)
        advance(1)
    return _read_out(around, tree, level)


# -- steps ----------------------------------------------------------------------------------------------


def _in_one_form(points: Any, given: bool) -> sp.csr_array:
    """Rows that are equal are stored alike; of what is given, zeros are kept."""
    points = sp.csr_array(points, copy=True)
    points.sum_duplicates()
    if not given:
        points.eliminate_zeros()
    return points


def _crowd(own: np.ndarray | float, weights: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """How often the points of a hyperedge came, on average."""
    return (own + weights[indices].sum(axis=1)) / (indices.shape[1] + 1)


def _different(points: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows that differ, near ones near each other, and which of them each row is.

    Their order depends on the points only, not on the order they came in.
    """
    order = row_order(points)
    new = new_rows(points[order])
    rows, place = order[new], np.empty_like(order)
    place[order] = np.cumsum(new) - 1
    if sp.issparse(points):
        return rows, place
    near = np.argsort(_along_curve(points[rows, :2]), kind="stable")
    rank = np.empty_like(near)
    rank[near] = np.arange(near.size)
    return rows[near], rank[place]


def _along_curve(points: np.ndarray) -> np.ndarray:
    """Place of points along a curve through a grid of 2^16 cells a side (Morton's), by two coordinates."""
    extent = np.ptp(points, axis=0)
    cells = ((points - points.min(axis=0)) / np.where(extent > 0, extent, 1.0) * 65535).astype(np.uint64)
    for shift, kept in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        cells = (cells | (cells << np.uint64(shift))) & np.uint64(kept)
    return cells[:, 0] | (cells[:, -1] << np.uint64(1))


def _spacing(distances: np.ndarray, neighbours: Neighbours) -> np.ndarray:
    """Log distance to the middle neighbour, or the least positive one of all if it is 0.

    One that is very near, or very far, plays no part.
    """
    least = neighbours.distances.min(where=neighbours.distances > 0, initial=np.inf)
    return np.log(np.maximum(distances[:, distances.shape[1] // 2], least))


def _dimension(neighbours: Neighbours) -> float:
    """Local dimension of the points, by Levina and Bickel, averaged as MacKay and Ghahramani advise.

    From every m-th point, where there are many: 30,000 of them give it to a thousandth.
    """
    distances = neighbours.distances[:: max(1, neighbours.n // 30_000)]
    distances = distances[distances[:, 0] > 0]
    if distances.size == 0 or neighbours.k < 2:
        return 1.0
    return 1 / max(float(np.log(distances[:, -1:] / distances[:, :-1]).mean()), 1e-9)


def _evidence(around: Neighbourhoods, tree: ModeTree, level: Level) -> float:
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
    order = np.lexsort((-height, level.labels))
    ends = np.searchsorted(level.labels[order], np.arange(level.n_clusters + 1))
    parts = [order[a:b] for a, b in pairwise(ends)]
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


def _read_out(around: Neighbourhoods, tree: ModeTree, level: Level) -> Clustering:
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
    lower, upper = _quartiles(around.spacing, level.core, weights, level.n_clusters)
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
    values: np.ndarray, core: np.ndarray, weights: np.ndarray, n_clusters: int
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper quartile in each core."""
    order = np.lexsort((values, core))
    ends = np.searchsorted(core[order], np.arange(n_clusters + 1))
    quartiles = np.empty((n_clusters, 2))
    for c in range(n_clusters):
        part = order[ends[c] : ends[c + 1]]
        middle = np.cumsum(weights[part]) - weights[part] / 2
        quartiles[c] = np.interp(weights[part].sum() * np.array([0.25, 0.75]), middle, values[part])
    return quartiles[:, 0], quartiles[:, 1]


def _new_levels(
    around: Neighbourhoods, indices: np.ndarray, distances: np.ndarray, crowd: np.ndarray
) -> np.ndarray:
    """Level at which hyperedges of new points hold together with those of their neighbours."""
    k, members = around.neighbours.k, around.neighbours.indices
    rate = crowd * around.unit / np.maximum(distances[:, -1], around.reach.min())
    popularity, rated = around.vertex_sums
    total = rate * popularity[indices].sum(axis=1) + rated[indices].sum(axis=1)
    density = total / (2 * (k + 1) ** 2)
    theirs = np.concatenate((indices[:, :, None], members[indices]), axis=2)
    shared = np.zeros(indices.shape)
    for t in range(k):
        shared += (theirs == indices[:, t, None, None]).any(axis=2)
    return link_level(density[:, None], around.density[indices], shared, k)


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


def _check_wanted(n_clusters: Any, threshold: Any, n_neighbors: Any) -> None:
    for name, value in (("n_clusters", n_clusters), ("n_neighbors", n_neighbors)):
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1
        ):
            raise ValueError(f"{name}: expected a positive whole number or None; got {value!r}")
    if threshold is not None:
        number = isinstance(threshold, int | float | np.number) and not isinstance(threshold, bool)
        if not number or not 0 <= threshold <= 1:
            raise ValueError(f"threshold: expected a share from 0 to 1, or None; got {threshold!r}")
        if n_clusters is not None:
            raise ValueError("threshold: expected n_clusters or threshold, not both")
