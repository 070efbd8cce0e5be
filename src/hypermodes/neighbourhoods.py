"""Different points and the hyperedges they make with their neighbours: what the mode tree is grown from."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.construct.frames import Frame
from hypermodes.construct.metrics import Metric
from hypermodes.construct.neighbours import Neighbours, NeighbourSearch, Outline
from hypermodes.construct.orders import curve_order, new_rows, row_order
from hypermodes.construct.points import hypergraph_of_neighbours
from hypermodes.hypergraph import Hypergraph
from hypermodes.linking import BLOCK, bridges, hyperedge_density, link_level, neighbour_links, vertex_sums
from hypermodes.numbering import number_type
from hypermodes.threads import in_threads, stretches, taken
from hypermodes.tree import Links, ModeTree

LAST = 1e-12  # of their level: links between parts that are not connected
TOO_FAR = 1e90  # coordinates in this relation are infinitely far apart


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """Different points, how often each came, and the hyperedges they make with their neighbours.

    Attributes
    ----------
    points, metric
        The different points, in an order and a frame of their own, and how to measure between them.
    frame : Frame or None
        Where the coordinates of the input are in it; None if they are as they came.
    search : NeighbourSearch
        Among them.
    rows : (n,) int
        The row of the input each of them is.
    place : (n_rows,) int
        Which of them each row of the input is.
    weights : (n,) float
        How often each came, 1 on average.
    members : (n, k) int
        The k nearest of each, which make its hyperedge with it.
    distances : (n, k) float or None
        How far they are; not kept in few dimensions, where they are soon found again.
    dimension : float
        The dimension the points have locally, whatever the number of their coordinates.
    reach : (n,) float
        d_k, the distance to the k-th neighbour.
    rate : (n,) float
        1/d_k, in units of ``unit``; more where points came more often.
    density : (n,) float
        Of each hyperedge.
    spacing : (n,) float
        log d_k in that unit, less where points came more often: how sparse it is around.
    found : Neighbours or None
        All neighbours that were found, k or more; not kept where ``distances`` are not.
    """

    points: Any
    metric: Metric
    frame: Frame | None
    search: NeighbourSearch
    rows: np.ndarray
    place: np.ndarray
    weights: np.ndarray
    members: np.ndarray
    distances: np.ndarray | None
    dimension: float
    reach: np.ndarray
    unit: float
    rate: np.ndarray
    density: np.ndarray
    spacing: np.ndarray
    found: Neighbours | None = None

    @classmethod
    def around(
        cls,
        points: Any,
        n_neighbors: int | None,
        metric: Metric,
        index: Any,
        n_jobs: int | None,
        fewest: int,
        client: Any = None,
        weights: np.ndarray | None = None,
        at_least: int = 1,
    ) -> "Neighbourhoods | None":
        """Find the neighbours of different points; None if there are fewer than ``fewest``, or none apart.

        Rows may count more than once: ``weights`` says how often. Where a search takes long, ``at_least`` so
        many neighbours are found, for `nearest`.
        """
        search = NeighbourSearch(points, metric=metric, index=index, n_jobs=n_jobs)  # also checks the points
        given = isinstance(metric, str) and metric == "precomputed"
        points = _in_one_form(points, given) if sp.issparse(points) else search.points
        if points.shape[0] == 0:
            raise ValueError("points: expected at least one point; got none")
        rows = place = np.arange(points.shape[0])
        frame = None
        if index is None and not (given and sp.issparse(points)):  # else rows are tied to what came with them
            if search.has_axes:
                frame = Frame.of(points, n_jobs)
                points = frame.enter(points)
            points, rows, place = _different(points, n_jobs)
            points = points[:, rows] if given else points
            if not sp.issparse(points):
                points.flags.writeable = False  # so that the search need not copy them
            search = NeighbourSearch(points, metric=metric, n_jobs=n_jobs, in_order=True)
        else:
            points = points.copy()  # what happens to the caller's does not matter later
        n = rows.size
        if n < fewest:
            return None
        if weights is None:
            weights = np.ones(n) if n == place.size else np.bincount(place, minlength=n) * n / place.size
        else:
            weights = np.bincount(place, weights=weights, minlength=n) * n / weights.sum()
        k = min(n_neighbors or int(np.ceil(np.log2(n))), n - 1)
        distances, found = None, None
        if search.quick:
            members, reach, growth = search.outline(k, client=client)
        else:
            # What is stored is soon looked up again, and need not be more than is asked for.
            asked = k if given and sp.issparse(points) else max(k, at_least)
            found = search.neighbours(min(asked, n - 1), client=client)
            nearest = found.first(k)
            distances = nearest.distances
            members, reach, growth = Outline.of(nearest)
            reach = reach.copy()  # next to each other
        if not reach.any():
            return None
        if (at_one_place := reach == 0).any():
            reach = np.where(at_one_place, reach[~at_one_place].min(), reach)
        dimension = max(1.0, min(local_dimension(growth, k), np.inf if given else points.shape[1]))
        crowd = crowding(weights, weights, members, n_jobs)
        unit = float(np.median(reach))
        rate, spacing = np.empty(n), np.empty(n)

        def fill(part: slice) -> None:
            rate[part] = crowd[part] ** (1 / dimension) * (unit / reach[part])
            spacing[part] = np.log(reach[part] / unit) - np.log(crowd[part]) / dimension

        in_threads(n_jobs, fill, stretches(n))
        density = hyperedge_density(members, rate, n_jobs)
        for array in (rows, place, weights, members, reach, rate, density, spacing):
            array.flags.writeable = False
        return cls(
            points, metric, frame, search, rows, place, weights, members, distances, dimension, reach, unit,
            rate, density, spacing, found,
        )  # fmt: skip

    @property
    def k(self) -> int:
        """Number of neighbours of each."""
        return int(self.members.shape[1])

    @cached_property
    def neighbours(self) -> Neighbours:
        """The k nearest of each, with their distances; looked for again where these were not kept."""
        if self.distances is None:
            return self.search.neighbours(self.k)
        return Neighbours(self.members, self.distances)

    def nearest(self, k: int, client: Any = None) -> Neighbours:
        """The k nearest of each, from what was found if that is enough."""
        if self.found is not None and k <= self.found.k:
            return self.found.first(k)
        return self.search.neighbours(k, client=client)

    def tree(self, n_jobs: int | None, parts: np.ndarray | None = None) -> ModeTree:
        """The mode tree of their hyperedges.

        ``parts`` says which points are connected at all: what is not is joined last.
        """
        nearest = partial(self._nearest, n_jobs=n_jobs)
        across = partial(bridges, density=self.density, reach=self.reach, k=self.k, nearest=nearest)
        if parts is None or not parts.any():
            links = neighbour_links(self.members, self.density, n_jobs, thin=True)
            return ModeTree.grow(links, self.weights, n_jobs, more=across)

        def last(links: Links) -> Links:
            apart = parts[links.left] != parts[links.right]
            return Links(links.left, links.right, np.where(apart, links.level * LAST, links.level))

        links = last(neighbour_links(self.members, self.density, n_jobs))
        return ModeTree.grow(links, self.weights, n_jobs, more=lambda some: last(across(some)))

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
        elif self.frame is not None:
            points = self.frame.enter(self.search.checked(points))
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
    def vertex_sums(self) -> np.ndarray:
        """How many hyperedges each point is in, and the sum of their rates: (n, 2)."""
        return vertex_sums(self.members, self.rate)

    @cached_property
    def hypergraph(self) -> Hypergraph:
        """Hyperedge i is the i-th different point and its neighbours."""
        rate = self.rate
        return hypergraph_of_neighbours(self.neighbours, weight=lambda degree, reach: degree * rate)


def _in_one_form(points: Any, given: bool) -> sp.csr_array:
    """Rows that are equal are stored alike; of what is given, zeros are kept."""
    points = sp.csr_array(points, copy=True)
    points.sum_duplicates()
    if not given:
        points.eliminate_zeros()
    return points


def crowding(
    own: np.ndarray | float, weights: np.ndarray, indices: np.ndarray, n_jobs: int | None = 1
) -> np.ndarray:
    """How often the points of a hyperedge came, on average."""
    n, k = indices.shape
    around = np.full(n, float(k))

    def fill(part: slice) -> None:
        around[part] = weights[indices[part]].sum(axis=1)

    if (weights != 1).any():
        in_threads(n_jobs, fill, stretches(n, BLOCK))
    around += own
    around /= k + 1
    return around


def _different(points: Any, n_jobs: int | None) -> tuple[Any, np.ndarray, np.ndarray]:
    """Points that differ, near ones near each other, the row each is, and which of them each row is.

    Their order depends on the points only, not on the order they came in.
    """
    if sp.issparse(points):
        order = row_order(points)
        ordered = points[order]
    else:
        order = curve_order(points, n_jobs)
        ordered = taken(points, order, n_jobs)
    order = order.astype(number_type(order.size))
    new = new_rows(ordered)
    alone = bool(new.all())
    number, place = None if alone else np.cumsum(new) - 1, np.empty_like(order)

    def put(part: slice) -> None:
        place[order[part]] = np.arange(part.start, part.stop) if number is None else number[part]

    in_threads(n_jobs, put, stretches(order.size))
    return (ordered, order, place) if alone else (ordered[new], order[new], place)


def number_of_rows(points: Any) -> int:
    """Rows of an array, of a sparse matrix, or of lists."""
    return int(points.shape[0]) if hasattr(points, "shape") else len(points)


def local_dimension(growth: np.ndarray, k: int) -> float:
    """Local dimension of points, by Levina and Bickel, averaged as MacKay and Ghahramani advise."""
    growth = growth[~np.isnan(growth)]
    if growth.size == 0 or k < 2:
        return 1.0
    return 1 / max(float(growth.mean()) / (k - 1), 1e-9)


def new_spacing(around: Neighbourhoods, distances: np.ndarray, crowd: np.ndarray) -> np.ndarray:
    """Spacing of new points, where d_k is no less than that of any old one."""
    return np.log(np.maximum(distances[:, -1], around.reach.min()) / around.unit / crowd)


def new_levels(
    around: Neighbourhoods, indices: np.ndarray, distances: np.ndarray, crowd: np.ndarray
) -> np.ndarray:
    """Level at which hyperedges of new points hold together with those of their neighbours."""
    k, members = around.k, around.members
    rate = np.exp(-new_spacing(around, distances, crowd))
    popularity, rated = around.vertex_sums.T
    total = rate * popularity[indices].sum(axis=1) + rated[indices].sum(axis=1)
    density = total / (2 * (k + 1) ** 2)
    theirs = np.concatenate((indices[:, :, None], members[indices]), axis=2)
    shared = np.zeros(indices.shape)
    for t in range(k):
        shared += (theirs == indices[:, t, None, None]).any(axis=2)
    return link_level(density[:, None], around.density[indices], shared, k)
