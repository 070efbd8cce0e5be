"""The mode tree: which hyperedges hold together at which level, and the clusters to read off it.

Links between hyperedges have levels. From the highest level down, links join hyperedges into groups, until
one is left: the maximum spanning tree. Groups that are too small do not count; of those that part from each
other clusters are chosen by excess of mass, and everyone else floods down to the cluster reached by the
highest path.

How small is too small is not asked. The tree is read at every smallest size, a ladder of them, and of all
these partitions the answer is the medoid: the one that agrees best with all the others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hypermodes.threads import in_threads

RUNG = 2**0.5  # ratio of two smallest sizes of the ladder: its resolution, nothing else
WIDEST = 1 / 3  # the largest smallest size, as a share of all: three groups of it are the whole
_SLACK = 1 - 1e-9  # masses are sums: one that is large enough but for rounding is large enough


class Links(NamedTuple):
    """Pairs of points and the level at which each holds together."""

    left: np.ndarray
    right: np.ndarray
    level: np.ndarray

    def forest(self, n: int) -> "Links":
        """Those that a maximum spanning forest of n points is made of: the others join nothing new."""
        from hypermodes._kernels.trees import spanning_tree

        chosen = np.sort(spanning_tree(*self, n))
        return Links(self.left[chosen], self.right[chosen], self.level[chosen])


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
    children : (n - 1, 2) int64
        What merge m joins: points 0 … n - 1, or earlier merges, n + their number.
    ends : (n - 1, 2) int64
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
    def grow(cls, links: Links, mass: np.ndarray) -> Self:
        """Join points by their links, highest first. They must join all."""
        from hypermodes._kernels.trees import merge_tree

        n = mass.size
        left, right, level = (np.asarray(part) for part in links)
        if not (left.shape == right.shape == level.shape and left.ndim == 1):
            raise ValueError(
                f"links: expected three vectors of one length; got {left.shape}, {right.shape}, {level.shape}"
            )
        for part in (left, right):
            if part.dtype.kind not in "iu" or (part.size and not 0 <= part.min() <= part.max() < n):
                raise ValueError(f"links: expected pairs of points 0 … {n - 1}")
        links = Links(left, right, level).forest(n)
        order = np.argsort(-links.level, kind="stable")
        mass = np.concatenate((mass, np.zeros(n - 1)))
        children, made_by = np.empty((n - 1, 2), np.int64), np.empty(n - 1, np.int64)
        if merge_tree(links.left, links.right, order, mass, children, made_by) < n - 1:
            raise ValueError("links: expected links that join all points; some groups have none between them")
        ends = np.column_stack((links.left[made_by], links.right[made_by])).astype(np.int64)
        for array in (children, ends, heights := links.level[made_by], mass):
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

    # -- ways to read it --------------------------------------------------------------------------------

    def at(self, smallest: float) -> Level:
        """Clusters where groups need some mass, by excess of mass."""
        from hypermodes._kernels.trees import excess_of_mass

        return self._read(smallest, excess_of_mass)

    def automatic(self, lowest: float, n_jobs: int | None = -1) -> Level:
        """The medoid of the clusters at every smallest size from ``lowest`` up."""
        return _medoid(in_threads(n_jobs, self.at, self.ladder(lowest)), self.weights, n_jobs)

    def into(self, n_clusters: int, lowest: float, n_jobs: int | None = -1) -> Level:
        """As `automatic`, with the given number of clusters, those of the largest total excess of mass.

        Where the tree has too few groups of mass ``lowest``, smaller ones serve; there are never more than
        points.
        """
        from hypermodes._kernels.trees import best_antichain

        if isinstance(n_clusters, bool) or not isinstance(n_clusters, int | np.integer) or n_clusters < 1:
            raise ValueError(f"n_clusters: expected a positive whole number; got {n_clusters!r}")

        def choose(*tree: np.ndarray) -> tuple[np.ndarray, int]:
            return best_antichain(*tree, n_clusters)

        def read(smallest: float) -> Level:
            return self._read(smallest, choose)

        while True:
            levels = in_threads(n_jobs, read, self.ladder(lowest))
            exact = [level for level in levels if level.n_clusters == n_clusters]
            if exact or lowest <= self.weights.min():
                return _medoid(exact or levels[:1], self.weights, n_jobs)
            lowest /= 2

    def above(self, threshold: float, smallest: float) -> Level:
        """Clusters are all groups of some mass that hold together at a level, a share of the highest."""
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold: expected a share from 0 to 1; got {threshold!r}")
        kept = self.ends[self.heights >= threshold * self.heights.max(initial=0.0)]
        joined = sp.coo_array((np.ones(len(kept), bool), kept.T), shape=(self.n, self.n))
        count, group = connected_components(joined, directed=False)
        large = np.bincount(group, weights=self.weights, minlength=count) >= smallest * _SLACK
        core = np.where(large, np.cumsum(large) - 1, -1)[group].astype(np.int64)
        return self._flooded(smallest, core, self._condensed(smallest)[1], int(large.sum()))

    def flood(self, core: np.ndarray) -> np.ndarray:
        """Cluster of each point, given that of some; the others, -1, go where their highest path leads."""
        from hypermodes._kernels.trees import flood

        core = np.asarray(core)
        if core.shape != (self.n,) or core.dtype.kind not in "iu":
            raise ValueError(
                f"core: expected {self.n} labels, one a point; got shape {core.shape}, type {core.dtype}"
            )
        return flood(self.ends, core.astype(np.int64, copy=False))

    def ladder(self, lowest: float) -> list[float]:
        """Smallest sizes to read the tree at: from ``lowest`` to a third of everything."""
        _check_mass("lowest", lowest)
        total = float(self.mass[-1])
        rungs = max(1, 1 + int(np.floor(np.log(max(1.0, WIDEST * total / lowest)) / np.log(RUNG) + 1e-9)))
        return (lowest * RUNG ** np.arange(rungs)).tolist()

    def _read(self, smallest: float, choose: Callable[..., tuple[np.ndarray, int]]) -> Level:
        node, height, up, birth = self._condensed(smallest)
        label, count = choose(node, height, up, birth, self.weights)
        return self._flooded(smallest, label[node], height, count)

    def _condensed(self, smallest: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        from hypermodes._kernels.trees import condense

        _check_mass("smallest", smallest)
        return condense(self.children, self.heights, self.mass, smallest * _SLACK)

    def _flooded(self, smallest: float, core: np.ndarray, height: np.ndarray, count: int) -> Level:
        labels = self.flood(core) if count else core
        return Level(smallest, core, labels, height, count)


def _medoid(levels: list[Level], weights: np.ndarray, n_jobs: int | None) -> Level:
    """The level whose partition agrees best with all others; of equals, the one of the smallest groups."""
    from hypermodes._kernels.trees import agreement

    if len(levels) == 1:
        return levels[0]

    # Points that have the same label on every level are one to every comparison.
    rng = np.random.default_rng(0)
    keys = np.zeros(weights.size, np.uint64)
    for level in levels:
        multiplier = rng.integers(2**63, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        keys += level.labels.astype(np.uint64) * multiplier
    _, one_each, which = np.unique(keys, return_index=True, return_inverse=True)
    weights = np.bincount(which, weights=weights)
    labels = [level.labels[one_each] for level in levels]

    def agree(pair: tuple[int, int]) -> float:
        a, b = pair
        return agreement(labels[a], levels[a].n_clusters, labels[b], levels[b].n_clusters, weights)

    pairs = list(combinations(range(len(levels)), 2))
    total = np.zeros(len(levels))
    for (a, b), value in zip(pairs, in_threads(n_jobs, agree, pairs), strict=True):
        total[a] += value
        total[b] += value
    best = int(np.argmax(np.round(total, 9)))
    level = levels[best]
    return Level(
        level.smallest, level.core, level.labels, level.height, level.n_clusters,
        float(total[best] / (len(levels) - 1)),
    )  # fmt: skip


def _check_mass(name: str, value: float) -> None:
    if not 0 < value < np.inf:
        raise ValueError(f"{name}: expected a positive mass; got {value!r}")
