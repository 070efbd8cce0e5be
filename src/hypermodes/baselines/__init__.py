"""The methods that hypergraph shifting is compared with, each from its own paper, one a module.

`METHODS` runs any of them on points, by a construction that is the same for all that need it; to give a
method another matrix or hypergraph, or other options, call it itself. Nothing else in the library depends on
this package, and nothing here is loaded before it is used. Methods that match points are in `matching`.

=====================  ===========================================  =====================================
name                   given                                           paper
=====================  ===========================================  =====================================
graph_shift            Gaussian affinity of 10 nearest neighbours      Liu & Yan 2010
dominant_sets          Gaussian affinity of all pairs                  Pavan & Pelillo 2007
affinity_ensembles     triples of each point and 8 nearest neighbours  Liu, Latecki & Yan 2010
clustering_game        the same triples                                Rota Bulò & Pelillo 2009, 2013
ehc                    the same triples                                Leordeanu & Sminchisescu 2012
medoid_shift           the points                                      Sheikh, Khan & Kanade 2007
mean_shift             the points                                      Comaniciu & Meer 2002 (scikit-learn)
=====================  ===========================================  =====================================
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from hypermodes.hypergraph import Hypergraph
    from hypermodes.partition import Partition


def _graph_shift(points: "np.ndarray") -> "Partition":
    from hypermodes.baselines.construct import gaussian_affinity
    from hypermodes.baselines.graph_shift import graph_shift

    return graph_shift(gaussian_affinity(points, neighbours=10))


def _dominant_sets(points: "np.ndarray") -> "Partition":
    from hypermodes.baselines.construct import gaussian_affinity
    from hypermodes.baselines.dominant_sets import dominant_sets

    return dominant_sets(gaussian_affinity(points))


def _affinity_ensembles(points: "np.ndarray") -> "Partition":
    from hypermodes.baselines.affinity_ensembles import affinity_ensembles

    return _by_triples(points, affinity_ensembles)


def _clustering_game(points: "np.ndarray") -> "Partition":
    from hypermodes.baselines.clustering_game import clustering_game

    return _by_triples(points, clustering_game)


def _ehc(points: "np.ndarray") -> "Partition":
    from hypermodes.baselines.ehc import ehc

    return _by_triples(points, ehc)


def _medoid_shift(points: "np.ndarray") -> "Partition":
    from hypermodes.baselines.medoid_shift import medoid_shift

    return medoid_shift(points)


def _mean_shift(points: "np.ndarray") -> "Partition":
    from hypermodes.baselines.mean_shift import mean_shift

    return mean_shift(points)


def _by_triples(points: "np.ndarray", method: "Callable[[Hypergraph], Partition]") -> "Partition":
    """Run a method on the triples of nearby points; where there is no triple, nobody belongs anywhere."""
    from hypermodes.baselines.construct import triple_hypergraph
    from hypermodes.partition import Partition

    triples = triple_hypergraph(points)
    return Partition.all_outliers(len(points)) if triples is None else method(triples)


METHODS: dict[str, "Callable[[np.ndarray], Partition]"] = {
    "graph_shift": _graph_shift,
    "dominant_sets": _dominant_sets,
    "affinity_ensembles": _affinity_ensembles,
    "clustering_game": _clustering_game,
    "ehc": _ehc,
    "medoid_shift": _medoid_shift,
    "mean_shift": _mean_shift,
}
"""From points to a partition, by name."""
