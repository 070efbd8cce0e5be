"""The mode tree: which hyperedges hold together at which level, and the clusters to read off it.

Links between hyperedges have levels. From the highest level down, links join hyperedges into groups, until
one is left: the maximum spanning tree. Groups that are too small do not count; of those that part from each
other clusters are chosen by excess of mass, and everyone else floods down to the cluster reached by the
highest path.

How small is too small is not asked. The tree is read at every smallest size, a ladder of them, and of all
these partitions the answer is the medoid: the one that agrees best with all the others. Only the first
reading looks at points, the others at the groups it found.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hypermodes.numbering import counting, number_type
from hypermodes.scalars import finite_number, whole_number
from hypermodes.threads import argsorted, in_threads, stretches, taken

RUNG = 2**0.5  # ratio of two smallest sizes of the ladder: its resolution, nothing else
WIDEST = 1 / 3  # the largest smallest size, as a share of all: three groups of it are the whole
SLACK = 1 - 1e-9  # sums are rounded: what is large enough but for that is large enough


class Links(NamedTuple):
    """Pairs of points and the level at which each holds together."""

    left: np.ndarray
    right: np.ndarray
    level: np.ndarray

    def thinned(self, begin: int, end: int) -> "Links":
        """Without those between points begin … end - 1 that a maximum spanning forest of these can spare."""
        needed = (self.right < begin) | (self.right >= end) | (self.left < begin) | (self.left >= end)
        inside = np.flatnonzero(~needed)
        left, right = self.left[inside] - begin, self.right[inside] - begin
        needed[inside[_spanning(left, right, self.level[inside], end - begin)]] = True
        return Links(self.left[needed], self.right[needed], self.level[needed])


def _spanning(left: np.ndarray, right: np.ndarray, level: np.ndarray, n: int) -> np.ndarray:
    """Which links a maximum spanning forest of n points is made of, in no order."""
    from hypermodes._kernels.trees import spanning_tree

    alive = counting(level.size)
    return spanning_tree(left, right, level, counting(n), np.empty(n, alive.dtype), alive)


@dataclass(frozen=True, eq=False)
class Level:
    """The clusters of a tree, read in one way.

    Attributes
    ----------
    smallest : float
        The mass a group needs to count as one.
    core : (n,) int64
        Cluster of each point in the groups themselves; -1 outside.
    labels : (n,) int64
        Cluster each point reaches by the highest path: nobody is left out.
    height : (n,) float
        Level at which each point joins a group of at least that mass.
    n_clusters : int
        How many there are.
    agreement : float
        Mean adjusted Rand index with the partitions at other smallest sizes; NaN if there are none.
    """

    smallest: float
    core: np.ndarray
    labels: np.ndarray
    height: np.ndarray
    n_clusters: int
    agreement: float = np.nan

    def __repr__(self) -> str:
        return (
            f"Level({self.n_clusters} clusters of at least {self.smallest:.4g}, "
            f"agreement {self.agreement:.3f})"
        )


@dataclass(frozen=True, eq=False)
class ModeTree:
    """The maximum spanning tree of links, as merges from the highest level down.

    Attributes
    ----------
    children : (n - 1, 2) int
        What merge m joins: points 0 … n - 1, or earlier merges, n + their number.
    ends : (n - 1, 2) int
        The two points whose link made the merge.
    heights : (n - 1,) float
        Its level; never rising.
    mass : (2n - 1,) float
        Of points, then of what each merge makes.
    """

    children: np.ndarray
    ends: np.ndarray
    heights: np.ndarray
    mass: np.ndarray

    @classmethod
    def grow(
        cls,
        links: Links,
        mass: np.ndarray,
        n_jobs: int | None = 1,
        more: Callable[[Links], Links] | None = None,
    ) -> Self:
        """Join points by their links, highest first; of equal ones the first is higher.

        They must join all. If not, ``more`` is told the links of a maximum spanning forest, and gives links
        that do, these among them.
        """
        n = mass.size
        links = _checked(links, n)
        if links.level.size >= 2 * n:  # to find out which are needed takes less than to sort all
            links = links.thinned(0, n)
        children, ends, heights = _merged(links, n, n_jobs)
        if len(children) < n - 1 and more is not None:
            children, ends, heights = _merged(more(Links(ends[:, 0], ends[:, 1], heights)), n, n_jobs)
        if len(children) < n - 1:
            raise ValueError("links: expected links that join all points; some groups have none between them")
        mass = _summed(children, mass)
        for array in (children, ends, heights, mass):
            array.flags.writeable = False
        return cls(children, ends, heights, mass)

    def __repr__(self) -> str:
        span = f", levels {self.heights[0]:.4g} to {self.heights[-1]:.4g}" if self.n > 1 else ""
        return f"ModeTree({self.n} points{span})"

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.children.shape[0] + 1)

    @property
    def weights(self) -> np.ndarray:
        """Mass of each point."""
        return self.mass[: self.n]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums of the values of points over every node: the points themselves, then the merges."""
        return _summed(self.children, values)

    def between(self, labels: np.ndarray, n_jobs: int | None = 1) -> np.ndarray:
        """The merges whose link is between points of different labels, which are 0 or more."""
        short = labels.astype(np.min_scalar_type(int(labels.max())))  # looked for in no order

        def parting(part: slice) -> np.ndarray:
            sides = short[self.ends[part]]
            return part.start + np.flatnonzero(sides[:, 0] != sides[:, 1])

        return np.concatenate([np.empty(0, np.int64), *in_threads(n_jobs, parting, stretches(self.n - 1))])

    # -- ways to read it --------------------------------------------------------------------------------

    def at(self, smallest: float) -> Level:
        """Clusters where groups need some mass, by excess of mass."""
        from hypermodes._kernels.trees import excess_of_mass

        groups = Condensed.of(self, smallest)
        return groups.written_out(groups.read(smallest, excess_of_mass))

    def into(self, n_clusters: int, lowest: float, n_jobs: int | None = -1) -> Level:
        """The medoid of the readings with so many clusters, those of the largest total excess of mass.

        Where the tree has too few groups of mass ``lowest``, smaller ones serve; there are never more than
        points.
        """
        from hypermodes._kernels.trees import best_antichain

        n_clusters = whole_number("n_clusters", n_clusters, "a positive whole number")

        def choose(up: np.ndarray, excess: np.ndarray) -> tuple[np.ndarray, int]:
            return best_antichain(up, excess, n_clusters)

        while True:
            ladder = self.ladder(lowest)
            groups = Condensed.of(self, lowest, n_jobs)
            readings = groups.read_all(ladder, choose, n_jobs)
            exact = [reading for reading in readings if reading.n_clusters == n_clusters]
            if exact or lowest <= self.weights.min():
                return groups.medoid(exact or readings[:1], n_jobs)
            lowest /= 2

    def above(self, threshold: float, smallest: float) -> Level:
        """Clusters are all groups of some mass that hold together at a level, a share of the highest."""
        finite_number("threshold", threshold, "a share from 0 to 1", least=0, most=1)
        kept = self.ends[self.heights >= threshold * self.heights.max(initial=0.0)]
        joined = sp.coo_array((np.ones(len(kept), bool), kept.T), shape=(self.n, self.n))
        count, group = connected_components(joined, directed=False)
        large = np.bincount(group, weights=self.weights, minlength=count) >= smallest * SLACK
        core = np.where(large, np.cumsum(large) - 1, -1)[group].astype(np.int64)
        labels = self.flood(core) if large.any() else core
        return Level(smallest, core, labels, Condensed.of(self, smallest).level, int(large.sum()))

    def flood(self, core: np.ndarray) -> np.ndarray:
        """Cluster of each point, given that of some; the others, -1, go where their highest path leads."""
        core = np.asarray(core)
        if core.shape != (self.n,) or core.dtype.kind not in "iu":
            raise ValueError(
                f"core: expected {self.n} labels, one a point; got shape {core.shape}, type {core.dtype}"
            )
        return _flooded(self.ends, core).astype(np.int64)

    def ladder(self, lowest: float) -> list[float]:
        """Smallest sizes to read the tree at: from ``lowest`` to a third of everything."""
        _check_mass("lowest", lowest)
        total = float(self.mass[-1])
        rungs = max(1, 1 + int(np.floor(np.log(max(1.0, WIDEST * total / lowest)) / np.log(RUNG) + 1e-9)))
        return (lowest * RUNG ** np.arange(rungs)).tolist()


class Reading(NamedTuple):
    """Clusters as groups, not written out point by point."""

    smallest: float
    core: np.ndarray
    """Cluster of each group; -1 above all clusters."""
    labels: np.ndarray
    """Cluster each summit reaches by the highest path."""
    enough: np.ndarray
    """Level at which each group has the smallest mass."""
    n_clusters: int


Choice = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, int]]


@dataclass(frozen=True, eq=False)
class Condensed:
    """The groups of at least some mass in a tree that part from another: what larger ones are made of.

    A *summit* is a group that does not part any further. Clusters are groups, so they contain whole summits;
    and whoever reaches the same summit by the highest path reaches the same cluster, whatever the clusters
    are. So one look at the points is enough for every reading.

    Attributes
    ----------
    node, level : (n,)
        Group of each point, and the height at which it joins anything that large.
    stages : tuple of arrays
        How groups part and grow, as `_kernels.trees.condense` says.
    is_summit : (n_groups,) bool
        Whether a group does not part.
    home : (n,) int
        The summit each point reaches by the highest path.
    ends : (n_summits - 1, 2) int
        The links of the spanning tree between points of different summits, as summits.
    mass : (n_summits,) float
        Mass of the points that reach each summit.
    """

    node: np.ndarray
    level: np.ndarray
    stages: tuple[np.ndarray, ...]
    is_summit: np.ndarray
    home: np.ndarray
    ends: np.ndarray
    mass: np.ndarray

    @classmethod
    def of(cls, tree: ModeTree, smallest: float, n_jobs: int | None = 1) -> Self:
        """Find them, in time proportional to the number of points."""
        _check_mass("smallest", smallest)
        node, level, *stages = condense_tree(tree, smallest * SLACK)
        is_summit = stages[0][:, 0] < 0
        summit = np.where(is_summit, np.cumsum(is_summit, dtype=tree.ends.dtype) - 1, -1)
        home = _flooded(tree.ends, taken(summit, node, n_jobs))
        ends = home[tree.ends[tree.between(home, n_jobs)]]
        return cls(node, level, tuple(stages), is_summit, home, ends, np.bincount(home, tree.weights))

    @property
    def parents(self) -> np.ndarray:
        """The group each group parts from; -1 for the root, the last."""
        parts = self.stages[0]
        up = np.full(len(parts), -1, np.int64)
        inner = np.flatnonzero(~self.is_summit)
        up[parts[inner]] = inner[:, None]
        return up

    @property
    def births(self) -> np.ndarray:
        """The height at which each group parts from its sibling; 0 for the root."""
        _, ptr, _, height, _ = self.stages
        up = self.parents
        return np.where(up < 0, 0.0, height[ptr[np.maximum(up, 0)]])  # where a parent begins, its parts end

    def read(self, smallest: float, choose: Choice) -> Reading:
        """Clusters among the groups of some mass, no less than that of these."""
        from hypermodes._kernels.trees import groups_at

        group, enough, up, excess = groups_at(*self.stages, smallest * SLACK)
        label, count = choose(up, excess)
        core = label[group]
        summits = core[self.is_summit]
        return Reading(smallest, core, _flooded(self.ends, summits), enough, count)

    def read_all(self, ladder: list[float], choose: Choice, n_jobs: int | None) -> list[Reading]:
        """A reading at each smallest size."""
        return in_threads(n_jobs, lambda smallest: self.read(smallest, choose), ladder)

    def written_out(self, reading: Reading, agreement: float = np.nan, n_jobs: int | None = 1) -> Level:
        """The same point by point."""
        core = taken(reading.core, self.node, n_jobs, np.int64)
        labels = taken(reading.labels, self.home, n_jobs, np.int64)
        height = taken(reading.enough, self.node, n_jobs)
        np.minimum(self.level, height, out=height)
        return Level(reading.smallest, core, labels, height, reading.n_clusters, agreement)

    def medoid(self, readings: list[Reading], n_jobs: int | None) -> Level:
        """The reading that agrees best with all others; of equals, the one of the smallest groups."""
        if len(readings) == 1:
            return self.written_out(readings[0], n_jobs=n_jobs)
        agreement = agreements([r.labels for r in readings], self.mass, n_jobs).sum(axis=0)
        best = int(np.argmax(np.round(agreement, 9)))
        return self.written_out(readings[best], float(agreement[best] / (len(readings) - 1)), n_jobs)


def agreements(partitions: list[np.ndarray], mass: np.ndarray, n_jobs: int | None = -1) -> np.ndarray:
    """Adjusted Rand index of each two partitions of things that have a mass; 0 on the diagonal."""
    from hypermodes._kernels.trees import agreement

    # Things that have the same label in every partition are one to every comparison.
    columns = np.array(partitions)
    order = np.lexsort(columns[::-1])
    columns = columns[:, order]
    first = np.concatenate(([True], (columns[:, 1:] != columns[:, :-1]).any(axis=0)))
    which = np.empty_like(order)
    which[order] = np.cumsum(first) - 1
    labels, together = np.ascontiguousarray(columns[:, first]), np.bincount(which, mass)
    counts = labels.max(axis=1) + 1
    pairs = list(combinations(range(len(partitions)), 2))

    def agree(pair: tuple[int, int]) -> float:
        a, b = pair
        return agreement(labels[a], counts[a], labels[b], counts[b], together)

    table = np.zeros((len(partitions), len(partitions)))
    for (a, b), value in zip(pairs, in_threads(n_jobs, agree, pairs), strict=True):
        table[a, b] = table[b, a] = value
    return table


def _checked(links: Links, n: int) -> Links:
    left, right, level = (np.asarray(part) for part in links)
    if not (left.shape == right.shape == level.shape and left.ndim == 1):
        raise ValueError(
            f"links: expected three vectors of one length; got {left.shape}, {right.shape}, {level.shape}"
        )
    for part in (left, right):
        if part.dtype.kind not in "iu" or (part.size and not 0 <= part.min() <= part.max() < n):
            raise ValueError(f"links: expected pairs of points 0 … {n - 1}")
    return Links(left, right, level)


def _merged(links: Links, n: int, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Children, ends and heights of the merges that links make of n points."""
    from hypermodes._kernels.trees import merge_tree

    sets = np.stack((np.broadcast_to(-1, n), counting(n)), axis=1, dtype=number_type(2 * n))
    order = argsorted(links.level, n_jobs, falling=True)
    ends = taken(np.stack((links.left, links.right), axis=1), order, n_jobs, sets.dtype)
    heights = taken(links.level, order, n_jobs, np.float64)
    children = np.empty((n - 1, 2), sets.dtype)
    count = merge_tree(ends, heights, sets, children)
    if count < len(ends):  # the others would be kept for as long as these
        ends, heights = ends[:count].copy(), heights[:count].copy()
    return children[:count], ends, heights


def condense_tree(tree: ModeTree, smallest: float) -> tuple[np.ndarray, ...]:
    """What `_kernels.trees.condense` says of groups of at least some mass."""
    from hypermodes._kernels.trees import condense

    n_nodes, everything = tree.mass.size, float(tree.mass[-1])
    smallest = min(smallest, everything)  # all together are always enough
    # Groups that do not part are no more than there is mass for, rounding included; and all others fewer.
    most = int(min(n_nodes, 2.1 * everything / smallest + 1))
    node, joined = np.full(n_nodes, -1, np.int32), np.empty(n_nodes)
    return condense(tree.children, tree.heights, tree.mass, tree.mass >= smallest, node, joined, most)


def _summed(children: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The values of points, and behind them their sums over every merge."""
    from hypermodes._kernels.trees import add_up

    out = np.empty(2 * len(children) + 1)
    out[: len(children) + 1] = values
    add_up(children, out)
    return out


def _flooded(ends: np.ndarray, core: np.ndarray) -> np.ndarray:
    """The core each point reaches, or -1; short integers if that will do."""
    from hypermodes._kernels.trees import flood

    number = np.result_type(ends.dtype, number_type(int(core.max(initial=0)) + 2))
    out = np.empty(core.size, number)
    flood(ends, -2 - np.maximum(core.astype(number), -1), out)
    return out


def check_wanted(n_clusters: Any, threshold: Any) -> None:
    """See that what is wanted is a number of clusters, a threshold, or neither."""
    check_count("n_clusters", n_clusters)
    if threshold is not None:
        finite_number("threshold", threshold, "a share from 0 to 1, or None", least=0, most=1)
        if n_clusters is not None:
            raise ValueError("threshold: expected n_clusters or threshold, not both")


def check_count(name: str, value: Any) -> None:
    """See that a number of things is one, or not given."""
    if value is not None:
        whole_number(name, value, "a positive whole number or None")


def _check_mass(name: str, value: float) -> None:
    finite_number(name, value, "a positive mass", above=0)
