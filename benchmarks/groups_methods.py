"""Methods that find groups, one default configuration each, for groups.py.

A method gets the data, the number of groups (only if it is told), and a seed; it returns labels with -1 for
outliers, and the same with every item given to a group where one is in reach. Outliers of peers go to the
group of the nearest item that is in one; on hypergraphs, to that of most of their neighbours.
"""

import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import hypermodes as hm
import quality
from groups_data import Data

Labels = tuple[np.ndarray, np.ndarray]  # as labelled, and with every item assigned
NEIGHBOURS = 15
MOST_PAIRS = 200_000_000  # of hyperedges: beyond, there is no graph of pairs
MOST_SPECTRAL = 20_000  # items: beyond, spectral clustering takes hours
POINTS, DISTANCES, HYPERGRAPH = "points", "distances", "hypergraph"


class Method(NamedTuple):
    """How to run it, what for and what not, what it needs, whether it hangs on a seed and is told K."""

    run: Callable[[Data, int, int], Labels]
    kinds: tuple[str, ...]
    needs: tuple[str, ...]
    random: bool
    told: bool
    not_for: tuple[str, ...]

    @property
    def missing(self) -> list[str]:
        """Packages that are not installed."""
        return [name for name in self.needs if importlib.util.find_spec(name) is None]


METHODS: dict[str, Method] = {}


def method(
    *kinds: str,
    needs: tuple[str, ...] = (),
    random: bool = False,
    told: bool = False,
    not_for: tuple[str, ...] = (),
) -> Any:
    def entered(run: Callable[[Data, int, int], Labels]) -> Callable[[Data, int, int], Labels]:
        METHODS[run.__name__] = Method(run, kinds, needs, random, told, not_for)
        return run

    return entered


@method(POINTS, DISTANCES, HYPERGRAPH)
def ours(data: Data, k: int, seed: int) -> Labels:
    found = hm.cluster(data.given, metric="precomputed" if data.kind == DISTANCES else "euclidean")
    return found.labels, found.assigned


# -- by density -----------------------------------------------------------------------------------------


@method(POINTS, DISTANCES)
def hdbscan(data: Data, k: int, seed: int, **options: int) -> Labels:
    from sklearn.cluster import HDBSCAN

    metric = "precomputed" if data.kind == DISTANCES else "euclidean"
    return reached(data, HDBSCAN(metric=metric, copy=True, **options).fit_predict(data.given))


@method(POINTS, DISTANCES)
def hdbscan_2_percent(data: Data, k: int, seed: int) -> Labels:
    return hdbscan(data, k, seed, min_cluster_size=max(5, round(0.02 * data.n)), min_samples=5)


@method(POINTS, needs=("fast_hdbscan",))
def fast_hdbscan(data: Data, k: int, seed: int) -> Labels:
    from fast_hdbscan import HDBSCAN

    return reached(data, HDBSCAN().fit_predict(data.given))


@method(POINTS, DISTANCES, needs=("fast_plscan",))
def plscan(data: Data, k: int, seed: int) -> Labels:
    from fast_plscan import PLSCAN

    given = np.ascontiguousarray(data.given, np.float32)
    model = PLSCAN(metric="precomputed" if data.kind == DISTANCES else "euclidean").fit(given)
    return reached(data, np.asarray(model.labels_))


@method(POINTS, needs=("evoc",), random=True, not_for=("plane",))
def evoc(data: Data, k: int, seed: int) -> Labels:
    """For embeddings: it compares directions, which say nothing in the plane."""
    from evoc import EVoC

    given = np.ascontiguousarray(data.given, np.float32)
    return reached(data, np.asarray(EVoC(random_state=seed).fit_predict(given)))


@method(POINTS, DISTANCES, HYPERGRAPH, needs=("umap",), random=True)
def umap_hdbscan(data: Data, k: int, seed: int) -> Labels:
    """Five dimensions, then HDBSCAN with groups of ten and more, as is usual for topics.

    Vertices are compared by the cosine of their rows of the incidence; those in no hyperedge are left out.
    """
    from sklearn.cluster import HDBSCAN
    from umap import UMAP

    metric, given = {DISTANCES: "precomputed", HYPERGRAPH: "cosine"}.get(data.kind, "euclidean"), data.given
    rows = np.arange(data.n)
    if data.kind == HYPERGRAPH:
        given = sp.csr_matrix(data.given.incidence.tocsr())
        rows = np.flatnonzero(np.diff(given.indptr))
        given = given[rows]
    places = UMAP(
        n_neighbors=NEIGHBOURS, n_components=5, min_dist=0.0, metric=metric, random_state=seed
    ).fit_transform(given)
    kept = np.isfinite(places).all(axis=1)  # umap leaves out what has no neighbour
    labels = np.full(data.n, -1)
    labels[rows[kept]] = HDBSCAN(min_cluster_size=10, copy=True).fit_predict(places[kept])
    return reached(data, labels)


# -- by modularity and codes, on a graph ------------------------------------------------------------------


@method(POINTS, DISTANCES, HYPERGRAPH, needs=("igraph", "leidenalg"), random=True)
def leiden(data: Data, k: int, seed: int) -> Labels:
    import igraph
    import leidenalg

    pairs = sp.triu(graph_of(data)).tocoo()
    graph = igraph.Graph(data.n, np.column_stack((pairs.row, pairs.col)))
    found = leidenalg.find_partition(
        graph, leidenalg.ModularityVertexPartition, weights=pairs.data.tolist(), seed=seed, n_iterations=-1
    )
    labels = np.array(found.membership)
    return labels, labels


@method(POINTS, DISTANCES, HYPERGRAPH, needs=("igraph", "infomap"), random=True)
def infomap(data: Data, k: int, seed: int) -> Labels:
    from infomap import Infomap

    pairs = sp.triu(graph_of(data)).tocoo()
    model = Infomap(f"--two-level --silent --seed {seed + 1}")
    for one, other, weight in zip(pairs.row.tolist(), pairs.col.tolist(), pairs.data.tolist(), strict=True):
        model.add_link(one, other, weight)
    model.run()
    labels = np.full(data.n, -1)
    for node, module in model.get_modules().items():
        labels[node] = module
    return reached(data, labels)


# -- by centres, and told the number ----------------------------------------------------------------------


@method(POINTS, random=True)
def k_means_silhouette(data: Data, k: int, seed: int) -> Labels:
    """The number from 2 to 80 whose k-means has the best silhouette; more than 50 columns by components."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.metrics import silhouette_score

    points = data.given
    if points.shape[1] > 50:
        points = PCA(50, random_state=seed).fit_transform(points)
    best = (-np.inf, np.zeros(data.n, int))
    for number in (*range(2, 13), 15, 18, 21, 25, 30, 35, 40, 50, 60, 70, 80):
        if number < data.n / 2:
            labels = KMeans(number, n_init=1, random_state=seed).fit_predict(points)
            if len(set(labels.tolist())) < 2:
                continue
            score = silhouette_score(points, labels, sample_size=min(2000, data.n), random_state=seed)
            if score > best[0]:
                best = (score, labels)
    return best[1], best[1]


@method(POINTS, needs=("genieclust",), told=True)
def genie_told_k(data: Data, k: int, seed: int) -> Labels:
    return quality.genie_told_k(data.given, k)


@method(POINTS, DISTANCES, HYPERGRAPH, random=True, told=True)
def spectral_told_k(data: Data, k: int, seed: int) -> Labels:
    """On ten neighbours, or on the pairs of hyperedges."""
    from sklearn.cluster import SpectralClustering

    if data.n > MOST_SPECTRAL:
        raise ValueError(f"left out: {data.n:,} items")
    ties = graph_of(data, 10)
    rows = np.flatnonzero(np.diff(ties.indptr))
    part = sp.csr_matrix(ties[rows][:, rows])  # scikit-learn wants 32-bit indices
    part.indices, part.indptr = part.indices.astype(np.int32), part.indptr.astype(np.int32)
    labels = np.full(data.n, -1)
    labels[rows] = SpectralClustering(k, affinity="precomputed", random_state=seed).fit_predict(part)
    return labels, labels


# -- what they share --------------------------------------------------------------------------------------


def graph_of(data: Data, neighbours: int = NEIGHBOURS) -> sp.csr_array:
    """Items joined to their neighbours, either way; or all pairs of a hyperedge, each by 1/(|e| - 1)."""
    if data.kind == HYPERGRAPH:
        size = data.given.edge_sizes
        if (pairs := int((size.astype(float) ** 2).sum())) > MOST_PAIRS:
            raise ValueError(f"left out: {pairs:,} pairs")
        weight = np.where(size > 1, 1 / np.maximum(size - 1, 1), 0.0)
        ties = sp.csr_array((data.given.incidence * weight[None, :]) @ data.given.incidence.T)
        ties = sp.csr_array(ties - sp.diags_array(ties.diagonal()))
        ties.eliminate_zeros()
        return ties
    from sklearn.neighbors import NearestNeighbors

    metric = "precomputed" if data.kind == DISTANCES else "euclidean"
    search = NearestNeighbors(n_neighbors=min(neighbours, data.n - 1), metric=metric).fit(data.given)
    near = sp.csr_array(search.kneighbors_graph())
    return sp.csr_array(near.maximum(near.T))


def reached(data: Data, labels: np.ndarray) -> Labels:
    """Give outliers to the group of the nearest item in one, or that most of their ties lead to."""
    if data.kind == POINTS:
        return quality.nearest(data.given, labels)
    inside = np.flatnonzero(labels >= 0)
    if inside.size in (0, labels.size):
        return labels, np.maximum(labels, 0)
    if data.kind == DISTANCES:
        return labels, labels[inside[data.given[:, inside].argmin(axis=1)]]
    ties, assigned = graph_of(data), labels.copy()
    while True:  # outliers next to what is assigned, then those next to them
        left = np.flatnonzero(assigned < 0)
        known = np.flatnonzero(assigned >= 0)
        member = sp.csr_array(
            (np.ones(known.size), (known, assigned[known])), shape=(data.n, labels.max() + 1)
        )
        votes = (ties[left] @ member).toarray()
        won = votes.max(axis=1, initial=0.0) > 0
        if not won.any():
            return labels, assigned
        assigned[left[won]] = votes[won].argmax(axis=1)
