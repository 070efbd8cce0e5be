"""Every method of Table 2 under one name, from distances of items to labels, with -1 for outliers.

All see the same distances d, or the same affinity exp(-d²/(s_i s_j)) made of them, s_i being the distance to
the 7th neighbour.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import HDBSCAN, AffinityPropagation, SpectralClustering

from hypermodes.baselines.construct import NEGLIGIBLE
from hypermodes.baselines.ehc import ehc
from hypermodes.baselines.graph_shift import graph_shift
from hypermodes.cluster import Clusters, cluster
from hypermodes.construct.pairwise import pairwise_hypergraph, similarities
from hypermodes.experiments.methods import LIBRARY, OURS, PAPER
from hypermodes.hypergraph import Hypergraph
from hypermodes.modes import find_modes

PAIRS, TRIPLES = 10, 8  # neighbours of each item that graph shift and EHC see, as elsewhere in the comparison


@dataclass(frozen=True, eq=False)
class Items:
    """Distances of items, and what methods make of them, made once.

    Attributes
    ----------
    distances : (n, n) float
        Symmetric, 0 on the diagonal.
    """

    distances: np.ndarray

    @cached_property
    def near(self) -> np.ndarray:
        """The others of each item, nearest first: as many as any method here needs."""
        apart = self.distances.astype(np.float64)
        np.fill_diagonal(apart, np.inf)
        most = min(max(PAIRS, TRIPLES), len(apart) - 1)
        return np.argsort(apart, axis=1, kind="stable")[:, :most]

    @cached_property
    def affinity(self) -> np.ndarray:
        """exp(-d² / (s_i s_j)), 0 on the diagonal and where it is negligible."""
        similar = similarities(self.distances, "distance").toarray()
        similar[similar <= NEGLIGIBLE] = 0.0
        return similar

    @cached_property
    def nearest_pairs(self) -> sp.csr_array:
        """The affinity of pairs of which one is among the 10 nearest of the other."""
        n = len(self.distances)
        near = self.near[:, :PAIRS]
        row = np.repeat(np.arange(n), near.shape[1])
        listed = sp.csr_array((np.ones(row.size), (row, near.ravel())), shape=(n, n))
        i, j = (listed + listed.T).nonzero()
        pairs = sp.csr_array((self.affinity[i, j], (i, j)), shape=(n, n))
        pairs.eliminate_zeros()
        return pairs

    @cached_property
    def triples(self) -> Hypergraph | None:
        """Each item and any two of its 8 nearest: weighed by the geometric mean of their three affinities."""
        n, near = len(self.distances), self.near[:, :TRIPLES]
        pairs = np.array(list(combinations(range(near.shape[1]), 2)), dtype=np.int64).reshape(-1, 2)
        own = np.repeat(np.arange(n), len(pairs))
        found = np.column_stack((own, near[:, pairs[:, 0]].ravel(), near[:, pairs[:, 1]].ravel()))
        found = np.unique(np.sort(found, axis=1), axis=0)
        weights = np.ones(len(found))
        for a, b in combinations(range(3), 2):
            weights *= np.cbrt(self.affinity[found[:, a], found[:, b]])
        kept = weights > NEGLIGIBLE
        return Hypergraph.from_edges(found[kept], weights[kept], range(n)) if kept.any() else None


@dataclass(frozen=True)
class Method:
    """What is run, and how it is shown.

    Attributes
    ----------
    label, family : str
        For tables and legends.
    run : function of items and the number of classes
        What is timed.
    told : bool
        Whether it makes use of the number of classes.
    """

    label: str
    family: str
    run: Callable[[Items, int], np.ndarray]
    told: bool = False


def _grouped(items: Items, n_groups: int | None = None) -> Clusters:
    """As `group_shapes` does it."""
    k = int(np.ceil(np.log2(len(items.distances))))
    return cluster(items.distances, n_groups, metric="precomputed", layout=True, n_neighbors=k)


def _modes(items: Items, n_classes: int) -> np.ndarray:
    """Items whose neighbourhoods shift to one mode, two or more; the paper's own read-out."""
    modes = find_modes(pairwise_hypergraph(items.distances, kind="distance")).edge_mode
    sizes = np.bincount(modes[modes >= 0], minlength=1)
    return np.where((modes >= 0) & (sizes[modes] >= 2), modes, -1)


def _ehc(items: Items, n_classes: int) -> np.ndarray:
    triples = items.triples
    return np.full(len(items.distances), -1) if triples is None else ehc(triples).labels


def _graph_shift(items: Items, n_classes: int) -> np.ndarray:
    return graph_shift(items.nearest_pairs).labels


def _spectral(affinity: np.ndarray | sp.csr_array, n_classes: int) -> np.ndarray:
    model = SpectralClustering(n_classes, affinity="precomputed", random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Graph is not fully connected", category=UserWarning)
        return model.fit_predict(affinity)


def _spectral_nearest(items: Items, n_classes: int) -> np.ndarray:
    pairs = items.nearest_pairs
    parts = (pairs.data, pairs.indices.astype(np.int32), pairs.indptr.astype(np.int32))
    return _spectral(sp.csr_array(parts, shape=pairs.shape), n_classes)  # longer numbers are refused


def _affinity_propagation(items: Items, n_classes: int) -> np.ndarray:
    from sklearn.exceptions import ConvergenceWarning

    model = AffinityPropagation(affinity="precomputed", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # all labels are then -1, and it shows
        return model.fit_predict(-(items.distances.astype(np.float64) ** 2))


def _hdbscan(items: Items, n_classes: int) -> np.ndarray:
    return HDBSCAN(metric="precomputed", copy=True).fit_predict(items.distances.astype(np.float64))


METHODS: dict[str, Method] = {
    "hypergraph_shift": Method("hypergraph shift", OURS, lambda items, _: _grouped(items).labels),
    "hypergraph_shift_told": Method(
        "hypergraph shift (told K)", OURS, lambda items, k: _grouped(items, k).labels, told=True
    ),
    "modes": Method("hypergraph shift, raw modes", OURS, _modes),
    "graph_shift": Method("graph shift (GS)", PAPER, _graph_shift),
    "ehc": Method("EHC", PAPER, _ehc),
    "affinity_propagation": Method("affinity propagation", LIBRARY, _affinity_propagation),
    "hdbscan": Method("HDBSCAN", LIBRARY, _hdbscan),
    "spectral": Method(
        "spectral clustering (told K)", LIBRARY, lambda items, k: _spectral(items.affinity, k), told=True
    ),
    "spectral_nearest": Method(
        "spectral clustering, 10 nearest (told K)", LIBRARY, _spectral_nearest, told=True
    ),
}
"""From distances to labels, by name."""
