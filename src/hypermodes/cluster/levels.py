"""The few readings of a tree that stand out: what is a cluster from coarse to fine."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hypermodes.cluster.evidence import borders_of
from hypermodes.cluster.ladder import Ladder
from hypermodes.cluster.settings import CLUSTER
from hypermodes.tree import agreements

if TYPE_CHECKING:
    from hypermodes.cluster.result import Clusters


@dataclass(frozen=True, eq=False)
class Reading:
    """The clusters at one level of a tree; every item is in one.

    Attributes
    ----------
    labels : (n,) int64
        Cluster of each item, the largest being 0; -1 only for items without a tie.
    n_clusters : int
        How many there are.
    stability : float
        Share of all smallest sizes, in steps of √2, at which the tree reads like this.
    borders : (n_clusters,) float
        As in `Clusters`.
    is_answer : bool
        Whether these are the clusters that were answered.
    """

    labels: np.ndarray
    n_clusters: int
    stability: float
    borders: np.ndarray
    is_answer: bool

    def __repr__(self) -> str:
        answer = ", the answer" if self.is_answer else ""
        return f"Reading({self.n_clusters} clusters, stability {self.stability:.2f}{answer})"


def levels_of(clusters: "Clusters") -> tuple[Reading, ...]:
    """The readings of the ladder of smallest sizes, those that are alike being one; the answer among them."""
    answer = clusters.assigned
    tree, ground = clusters.tree, clusters.ground
    if tree is None or ground is None or clusters.n_clusters == 0:
        return (Reading(answer, clusters.n_clusters, 1.0, clusters.borders, True),)
    around, ties = clusters.neighbourhoods, clusters.ties
    if ties is None:
        ladder = Ladder.direct(tree, ground, CLUSTER, 1, whole=True)
    else:
        ladder = Ladder.shown(tree, ground, ties, np.flatnonzero(ties.tied), CLUSTER, 1, whole=True)
    everyone = np.flatnonzero(answer >= 0)
    unit = ladder.units[clusters.leaves[everyone]]
    pairs, first, which = np.unique(
        unit * clusters.n_clusters + answer[everyone], return_index=True, return_inverse=True
    )
    every = [answer[everyone][first], *(own[unit[first]] for own in ladder.partitions)]
    alike = agreements(every, np.bincount(which, minlength=pairs.size).astype(float), 1)
    level_of = _runs(alike)
    kept = []
    for number in range(max(level_of) + 1):
        own = [i for i, of in enumerate(level_of) if of == number]
        best = 0 if 0 in own else own[int(np.argmax(alike[np.ix_(own, own)].sum(axis=1)))]
        rungs = len([i for i in own if i > 0])
        if best == 0:
            kept.append(
                Reading(answer, clusters.n_clusters, rungs / len(ladder.readings), clusters.borders, True)
            )
        elif rungs > 1 and int(every[best].max()) > 0:
            labels = np.full(answer.size, -1, np.int64)
            labels[everyone] = every[best][which]
            labels = largest_first(labels)
            tied = clusters._ties
            own_labels = labels if around is None else labels[around.rows]
            borders = np.zeros(int(labels.max()) + 1) if tied is None else borders_of(tied, own_labels)
            kept.append(Reading(labels, borders.size, rungs / len(ladder.readings), borders, False))
    return tuple(sorted(kept, key=lambda reading: (reading.n_clusters, -reading.stability)))


def _runs(alike: np.ndarray) -> list[int]:
    """Readings in groups: the answer, and what is like it; then each next one with all that are like it."""
    level_of = [-1] * len(alike)
    number = 0
    for i in range(len(alike)):
        if level_of[i] < 0:
            for j in range(i, len(alike)):
                if level_of[j] < 0 and (j == i or alike[i, j] >= CLUSTER.alike):
                    level_of[j] = number
            number += 1
    return level_of


def largest_first(labels: np.ndarray) -> np.ndarray:
    """The same clusters numbered by size, of equal ones the one with the first item; -1 stays."""
    inside = labels[labels >= 0]
    names, first, number, size = np.unique(inside, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(names.size, np.int64)
    rank[np.lexsort((first, -size))] = np.arange(names.size)
    result = labels.copy()
    result[labels >= 0] = rank[number]
    return result
