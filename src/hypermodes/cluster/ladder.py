"""The readings of a tree at every smallest size, and the one that agrees best with all others.

How small a group may be is not asked: the tree is read at a ladder of smallest sizes. It ends where half of
all points are in smaller groups that are apart beyond chance, which larger smallest sizes would only hide.
Clusters of each reading that are not clearly apart are joined before the readings are compared: by their
saddles where points are clustered as they are, by their ties in a layout.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from hypermodes.cluster.evidence import Yardstick, shown
from hypermodes.cluster.settings import ClusterSettings
from hypermodes.layout.ties import Ties
from hypermodes.neighbourhoods import Neighbourhoods
from hypermodes.splits import clearly_apart, typical_size
from hypermodes.threads import in_threads
from hypermodes.tree import Condensed, Level, ModeTree, Reading, agreements


@dataclass(frozen=True, eq=False)
class Ladder:
    """Readings of one tree.

    Attributes
    ----------
    units : (n_leaves,) int64
        The part of all readings each leaf of the tree is in: what no reading cuts.
    mass : (n_units,) float
        Of each.
    partitions : list of (n_units,) int64
        The cluster of each unit, at each smallest size.
    """

    groups: Condensed
    readings: list[Reading]
    units: np.ndarray
    mass: np.ndarray
    partitions: list[np.ndarray]

    @classmethod
    def shown(
        cls,
        tree: ModeTree,
        ground: Neighbourhoods,
        ties: Ties,
        tied: np.ndarray,
        settings: ClusterSettings,
        n_jobs: int | None,
        whole: bool = False,
    ) -> "Ladder":
        """Readings of the tree of a layout: a cluster is in one connected part, and shown by the ties.

        ``tied`` are the items that were laid out, which `ground` has the places of. ``whole`` asks for
        smallest sizes beyond the end of the ladder, too.
        """
        groups, readings = _read(tree, ground, settings, n_jobs, whole)
        part = ties.parts()[tied][ground.rows]
        n_parts = int(part.max()) + 1
        names, units = np.unique(groups.home.astype(np.int64) * n_parts + part, return_inverse=True)
        summit, of_part = names // n_parts, names % n_parts
        of_items = np.full(ties.n, -1, np.int64)
        of_items[tied] = units[ground.place]
        between = ties.between(of_items, names.size)
        size = np.bincount(of_items[of_items >= 0], minlength=names.size)
        yardstick = Yardstick.of(ties)

        def partition(reading: Reading) -> np.ndarray:
            _, own = np.unique(
                reading.labels[summit].astype(np.int64) * n_parts + of_part, return_inverse=True
            )
            member = sp.csr_array((np.ones(own.size), own, np.arange(own.size + 1)))
            whole = sp.csr_array(member.T @ between @ member)
            whole.sort_indices()
            sizes = np.bincount(own, weights=size).astype(np.int64)
            return np.asarray(shown(whole, sizes, yardstick, settings=settings).union[own])

        partitions = in_threads(n_jobs, partition, readings)
        return cls(groups, readings, units, np.bincount(units, tree.weights), partitions)

    @classmethod
    def direct(
        cls,
        tree: ModeTree,
        ground: Neighbourhoods,
        settings: ClusterSettings,
        n_jobs: int | None,
        whole: bool = False,
    ) -> "Ladder":
        """Readings of the tree of points where they are: clusters are parted by clear saddles."""
        groups, readings = _read(tree, ground, settings, n_jobs, whole)
        leaf = np.empty(groups.mass.size, np.int64)  # of each summit
        leaf[groups.home] = np.arange(groups.home.size)

        def partition(reading: Reading) -> np.ndarray:
            level = groups.written_out(reading)
            level = clearly_apart(tree, level, ground.dimension, ground.k, settings.faint)
            return level.labels[leaf]

        partitions = in_threads(n_jobs, partition, readings)
        return cls(groups, readings, groups.home, groups.mass, partitions)

    def agreements(self) -> np.ndarray:
        """Adjusted Rand index of each two readings; 0 on the diagonal."""
        if len(self.partitions) < 2:
            return np.zeros((1, 1))
        return agreements(self.partitions, self.mass)

    def medoid(self) -> Level:
        """The reading that agrees best with all others; of equals, the one of the smallest groups."""
        total = self.agreements().sum(axis=0)
        best = int(np.argmax(np.round(total, 9)))
        others = max(1, len(self.partitions) - 1)
        level = self.groups.written_out(self.readings[best], float(total[best] / others))
        labels = self.partitions[best][self.units]
        n_clusters = int(self.partitions[best].max()) + 1
        core = np.where(level.core >= 0, labels, -1)
        hollow = np.bincount(core[core >= 0], minlength=n_clusters) == 0  # too small to have a core
        return replace(
            level, labels=labels, core=np.where(hollow[labels], labels, core), n_clusters=n_clusters
        )


def _read(
    tree: ModeTree, ground: Neighbourhoods, settings: ClusterSettings, n_jobs: int | None, whole: bool
) -> tuple[Condensed, list[Reading]]:
    from hypermodes._kernels.trees import excess_of_mass

    lowest = smallest_size(ground, settings)
    groups, ladder = Condensed.of(tree, lowest, n_jobs), tree.ladder(lowest)
    if whole:
        return groups, groups.read_all(ladder, excess_of_mass, n_jobs)
    finest = groups.written_out(groups.read(lowest, excess_of_mass), n_jobs=n_jobs)
    apart = clearly_apart(tree, finest, ground.dimension, ground.k, settings.beyond_chance, n_jobs)
    most = typical_size(apart, ground.weights)
    asked = [smallest for smallest in ladder if smallest <= most * (1 + 1e-9)] or ladder[:1]
    return groups, groups.read_all(asked, excess_of_mass, n_jobs)


def smallest_size(ground: Neighbourhoods, settings: ClusterSettings) -> float:
    """Mass below which no group counts."""
    return max(settings.smallest, ground.k / 2)
