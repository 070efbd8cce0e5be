"""The constants of clusters: value, unit, reason. Those of ties and layouts are in `layout.settings`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ClusterSettings:
    """Constants of the one engine for clusters.

    Attributes
    ----------
    direct : float
        Local dimensions up to which points are clustered where they are, and above which in a layout. In the
        plane no layout is as good; from four dimensions on density says little.
    fewest : int
        Different items below which there is nothing to tell apart.
    smallest : int
        Items a group needs to count, and at least half as many as there are in a hyperedge of neighbours.
    faint : float
        Standard errors: clusters of points whose saddle is clear by no more are one.
    beyond_chance : float
        Standard errors: by more than points of one cluster are ever apart.
    flat : float
        Clusters of a layout are shown if fewer ties leave them than this share of what leaves a piece of flat
        ground. Torn samples without structure have 0.4 to 0.7 of it: half is what their outer walls leave.
    random : float
        The same for hypergraphs, as a share of what the best cut of a random graph leaves. Torn random
        hypergraphs have 1.07 and more, sparse ones most.
    alike : float
        Adjusted Rand index from which two readings of a tree are one level.
    """

    direct: float = 3.5
    fewest: int = 8
    smallest: int = 4
    faint: float = 1.0
    beyond_chance: float = 5.0
    flat: float = 0.4
    random: float = 1.0
    alike: float = 0.9


CLUSTER = ClusterSettings()
