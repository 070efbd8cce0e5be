"""What the ties say of clusters that a layout proposes: a layout tears what is whole.

Of a cluster in flat ground, where nothing is to be found, a share of the ties leaves it, because it has a
border. Of s points in D dimensions, as round as can be, with R the radius of the ball they fill, the
neighbour of rank j is at R (j/s)^(1/D), and outside of the ball with probability

    1 - I(1 - (j/s)^(2/D)/4; (D+1)/2, 1/2),

I being the regularised incomplete beta function: two balls overlap that much. Two halves of such a ball
share a border in the same way. A hypergraph has no dimension. There the yardstick is a random graph: the best
cut in two of one with c ties a vertex leaves a share of 1 - 1.526/√c of what chance would give (Dembo,
Montanari and Sen, 2017).

Clusters whose border is not clearly smaller are not shown by the ties. They are joined to the one they are
tied to most, until all that are left are shown.
"""

import heapq
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import betainc, betaincinv

from hypermodes.cluster.settings import CLUSTER, ClusterSettings
from hypermodes.layout.ties import Ties

RANDOM_CUT = 1.526  # twice Parisi's constant: what the best cut of a random graph gains, times √c
LEAST_CUT = 0.05  # of a random graph with some 2.6 ties a vertex; those with fewer fall apart anyhow
NODES = 32  # of the integral over half a ball
FINE = 10  # steps of a factor e in which sizes are known


@dataclass(frozen=True, eq=False)
class Shown:
    """Which clusters the ties show.

    Attributes
    ----------
    union : (n_before,) int64
        The cluster that each of the proposed ones is in, 0 … .
    borders : (n_clusters,) float
        Ties that leave each, as a share of what flat ground, or chance, would have: 0 none, 1 as many.
    """

    union: np.ndarray
    borders: np.ndarray


class Yardstick(NamedTuple):
    """What borders are compared with.

    Attributes
    ----------
    dimension : float
        Of flat ground; infinite where there is none, and chance is the yardstick.
    n_neighbors : int
        Of each item.
    chance : float
        Share of the ties expected by chance that the best cut of a random graph leaves.
    """

    dimension: float
    n_neighbors: int
    chance: float

    @classmethod
    def of(cls, ties: Ties) -> "Yardstick":
        """That of some ties."""
        chance = max(LEAST_CUT, 1 - RANDOM_CUT / np.sqrt(max(ties.effective_degree(), 1.0)))
        return cls(ties.dimension, ties.n_neighbors, float(chance))

    @property
    def flat(self) -> bool:
        """Whether there is a ground to compare with, or chance only."""
        return bool(np.isfinite(self.dimension))


def shown(
    between: sp.csr_array,
    size: np.ndarray,
    yardstick: Yardstick,
    *,
    settings: ClusterSettings = CLUSTER,
    join: bool = True,
) -> Shown:
    """Join clusters that the ties do not show, and say how clear the others are.

    Parameters
    ----------
    between : (n_clusters, n_clusters) csr_array
        Sums of ties between and inside clusters, as `Ties.between` gives.
    size : (n_clusters,) int
        Items of each.
    join : bool
        Whether to join; if not, borders are measured only.
    """
    borders = _Borders.of(between, size, yardstick, settings)
    if join:
        borders.join_all()
    alive = np.flatnonzero(borders.alive)
    number = np.full(size.size, -1)
    number[alive] = np.arange(alive.size)
    return Shown(number[borders.roots()], np.array([borders.openness(int(a)) for a in alive]))


def borders_of(ties: Ties, labels: np.ndarray) -> np.ndarray:
    """Ties that leave each cluster of items, as a share of what there would be without clusters."""
    n_clusters = int(labels.max(initial=-1)) + 1
    size = np.bincount(labels[labels >= 0], minlength=n_clusters)
    return shown(ties.between(labels, n_clusters), size, Yardstick.of(ties), join=False).borders


@dataclass(eq=False)
class _Borders:
    """Clusters that are being joined: their sizes, and ties to themselves and to each other."""

    yardstick: Yardstick
    settings: ClusterSettings
    size: np.ndarray
    total: np.ndarray
    near: list[dict[int, float]]
    alive: np.ndarray
    parent: np.ndarray

    @classmethod
    def of(
        cls, between: sp.csr_array, size: np.ndarray, yardstick: Yardstick, settings: ClusterSettings
    ) -> "_Borders":
        near: list[dict[int, float]] = []
        for a in range(size.size):
            row = slice(between.indptr[a], between.indptr[a + 1])
            pairs = zip(between.indices[row].tolist(), between.data[row].tolist(), strict=True)
            near.append({b: tie for b, tie in pairs if b != a})
        total = np.asarray(between.sum(axis=1)).ravel()
        return cls(
            yardstick, settings, size.copy(), total, near, np.ones(size.size, bool), np.arange(size.size)
        )

    def openness(self, a: int) -> float:
        """Ties that leave a cluster, as a share of what they would be if there were nothing to find."""
        if self.total[a] == 0:
            return 0.0
        leaving = sum(self.near[a].values()) / self.total[a]
        if self.yardstick.flat:
            others = 1 - self.size[a] / self.size.sum()
            expected = min(
                ball(_step(self.size[a]), self.yardstick.dimension, self.yardstick.n_neighbors), others
            )
        else:
            expected = (1 - self.total[a] / self.total.sum()) * self.yardstick.chance
        return leaving / expected if expected > 0 else 0.0

    def closeness(self, a: int, b: int) -> float:
        """Ties of two clusters, as a share of what two parts of one ball of flat ground would have."""
        small = a if self.size[a] <= self.size[b] else b
        if not self.yardstick.flat or self.total[small] == 0:
            return 0.0
        both = self.size[a] + self.size[b]
        face = half(
            _step(both / self.size[small]), _step(both), self.yardstick.dimension, self.yardstick.n_neighbors
        )
        expected = float(self.total[small]) * face
        return self.near[a][b] / expected if expected > 0 else np.inf

    def join_all(self) -> None:
        """Join what is not shown, the least shown first."""
        limit = self.settings.flat if self.yardstick.flat else self.settings.random
        queue: list[tuple[float, int, int, int, int]] = []
        version = np.zeros(self.size.size, np.int64)

        def ask(a: int, b: int) -> None:
            """A pair, or one cluster if both are the same."""
            value = self.openness(a) if a == b else self.closeness(a, b)
            if value >= limit:
                heapq.heappush(queue, (-round(value, 9), a, b, int(version[a]), int(version[b])))

        for a in range(self.size.size):
            ask(a, a)
            for b in self.near[a]:
                if a < b:
                    ask(a, b)
        while queue:
            _, a, b, *asked = heapq.heappop(queue)
            if not (self.alive[a] and self.alive[b] and asked == [version[a], version[b]]):
                continue  # what was so before one of them was joined
            if a == b:
                if not self.near[a]:
                    continue
                b = min(self.near[a], key=lambda other: (-round(self._pull(a, other), 9), other))
            a, b = min(a, b), max(a, b)
            self._join(a, b)
            version[a] += 1
            ask(a, a)
            for other in self.near[a]:
                ask(min(a, other), max(a, other))

    def _pull(self, a: int, other: int) -> float:
        """What decides to whom a cluster is joined: the border they share, or the ties over chance."""
        return (
            self.closeness(a, other)
            if self.yardstick.flat
            else self.near[a][other] / float(self.total[other])
        )

    def _join(self, a: int, b: int) -> None:
        for other, tie in self.near[b].items():
            del self.near[other][b]
            if other != a:
                self.near[a][other] = self.near[a].get(other, 0.0) + tie
                self.near[other][a] = self.near[a][other]
        self.near[a].pop(b, None)
        self.near[b] = {}
        self.size[a] += self.size[b]
        self.total[a] += self.total[b]
        self.size[b], self.total[b] = 0, 0.0  # or the sums of all would count it twice
        self.alive[b] = False
        self.parent[b] = a

    def roots(self) -> np.ndarray:
        """The cluster that each is in now."""
        root = self.parent.copy()
        while (root != root[root]).any():
            root = root[root]
        return root


def _step(size: float) -> int:
    """A size, or a ratio of sizes, to the nearest of ten steps of a factor e."""
    return round(FINE * float(np.log(size)))


@lru_cache(maxsize=100_000)
def ball(size: int, dimension: float, k: int) -> float:
    """Share of the ties to k neighbours that leave a ball of flat ground; its size as `_step` says."""
    relative = np.minimum((np.arange(1, k + 1) / np.exp(size / FINE)) ** (1 / dimension), 2.0)
    return float((1 - betainc((dimension + 1) / 2, 0.5, 1 - relative**2 / 4)).mean())


@lru_cache(maxsize=100_000)
def half(ratio: int, size: int, dimension: float, k: int) -> float:
    """Share of the ties of the smaller part of a ball of flat ground, cut by a plane, that cross the plane.

    ``ratio`` is the size of the ball over that of the part, both as `_step` says. A neighbour is in any
    direction; walls are not looked at.
    """
    share = min(np.exp(-ratio / FINE), 0.5)
    a, b = (dimension + 1) / 2, max((dimension - 1) / 2, 1e-3)
    cut = 2 * betaincinv(a, a, share) - 1
    inside = 2 * betaincinv(a, a, share * (np.arange(NODES) + 0.5) / NODES) - 1  # along the axis of the cut
    relative = (np.arange(1, k + 1) / np.exp(size / FINE)) ** (1 / dimension)
    needed = (cut - inside)[:, None] / relative[None, :]
    return float((1 - betainc(b, b, np.clip((needed + 1) / 2, 0.0, 1.0))).mean())
