"""`cluster`: the one way from data of any kind to clusters.

Points of few local dimensions are clustered where they are: the tree of their neighbourhoods is read, and
clusters that no clear saddle parts are one. All else is tied (`layout.ties`), laid out in five dimensions
(`layout.embedding`), and the tree of the layout is read in the same way; what the ties do not show is joined
(`evidence`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from hypermodes.affinity import MatrixAffinity
from hypermodes.background import Quartiles
from hypermodes.cluster.ladder import Ladder
from hypermodes.cluster.levels import largest_first
from hypermodes.cluster.reading import Found, all_one, chosen_level, read_out
from hypermodes.cluster.result import Clusters, HypergraphClusters
from hypermodes.cluster.settings import CLUSTER, ClusterSettings
from hypermodes.construct.metrics import Metric
from hypermodes.construct.pairwise import pairwise_hypergraph
from hypermodes.executors import executor_of
from hypermodes.hypergraph import Hypergraph
from hypermodes.layout.api import check_options
from hypermodes.layout.embedding import embedded
from hypermodes.layout.settings import LAYOUT
from hypermodes.layout.ties import Ties
from hypermodes.neighbourhoods import Neighbourhoods, number_of_rows
from hypermodes.progress import Progress, tracker
from hypermodes.tree import Level, ModeTree, check_count, check_wanted

Advance = Callable[[int], object]
OTHER_STEPS = 3  # of the progress, beside the epochs of the layout


def cluster(
    data: Any,
    n_clusters: int | None = None,
    *,
    threshold: float | None = None,
    n_neighbors: int | None = None,
    metric: Metric = "euclidean",
    index: Any = None,
    layout: bool | None = None,
    n_jobs: int | None = -1,
    client: Any = None,
    progress: Progress = None,
) -> Clusters:
    """Find the clusters of points, of a hypergraph, or of anything with affinities; outliers are left out.

    The number of clusters is found, and may be one.

    Parameters
    ----------
    data : (n, d) array, DataFrame, sparse matrix, Hypergraph, MatrixAffinity, or distances
        Rows are points. A `Hypergraph` has clusters of its vertices. Similarities come as a `MatrixAffinity`,
        distances as an (n, n) array, or a sparse matrix, with ``metric="precomputed"``.
    n_clusters : int, optional
        How many are wanted; found if not given. There are never more than different items.
    threshold : float, optional
        Instead of that, what holds together at this share of the highest level of the tree is a cluster, from
        0 to 1. There may be none.
    n_neighbors : int, optional
        Neighbours of a point. If not given, ⌈log₂ n⌉ where points are clustered as they are, and 15 in a
        layout. Of no use for hypergraphs.
    metric, index
        How far points are apart, and how neighbours are found: as in `NeighbourSearch`. For points only.
    layout : bool, optional
        Whether to cluster points in a layout, or where they are; if not given, in a layout if their local
        dimension is more than 3.5.
    n_jobs : int
        Threads; -1 for all cores. The result does not depend on it.
    client : dask.distributed.Client, address of a scheduler, or "joblib", optional
        Where neighbours are searched, as in `find_modes`; all else is done here.
    progress : bool or function
        As in `find_modes`.

    Notes
    -----
    Rows that are equal are one point that came more often, and equal hyperedges are one with the sum of their
    weights: to double the data changes nothing. (With an index, or a sparse graph of distances, every row is
    a point of its own.)

    Examples
    --------
    >>> from hypermodes.datasets import five_crescents
    >>> cluster(five_crescents(600, outliers=0.1).points)
    Clusters(5 clusters of 660 items, 25 outliers)
    >>> H = Hypergraph.from_edges([[1, 2, 3], [1, 2], [2, 3], [1, 3], [4, 5, 6], [4, 5], [5, 6], [3, 4], [9]])
    >>> found = cluster(H, n_clusters=2)
    >>> found.vertex_names(0), found.vertex_names(1)
    ((4, 5, 6), (1, 2, 3))
    """
    check_wanted(n_clusters, threshold)
    check_count("n_neighbors", n_neighbors)
    if layout is not None and not isinstance(layout, bool):
        raise ValueError(f"layout: expected True, False or None; got {layout!r}")
    check_options(data, n_neighbors, metric, index)
    if layout is False and isinstance(data, Hypergraph | MatrixAffinity):
        raise ValueError(f"layout: expected True or None for a {type(data).__name__}; got False")
    with (
        executor_of(client, n_jobs) as executor,
        tracker(progress, LAYOUT.epochs + OTHER_STEPS, "clustering", executor.dashboard) as advance,
    ):
        wanted = _Wanted(n_clusters, threshold, n_jobs, CLUSTER)
        if isinstance(data, Hypergraph):
            return _of_hypergraph(data, wanted, advance)
        if isinstance(data, MatrixAffinity):
            return _of_affinity(data, n_neighbors, wanted, advance)
        fewest = CLUSTER.fewest if n_clusters is None else 2
        around = Neighbourhoods.around(
            data, n_neighbors, metric, index, n_jobs, fewest, executor.client, at_least=LAYOUT.n_neighbors
        )
        advance(1)
        return _of_points(number_of_rows(data), around, layout, n_neighbors, wanted, executor.client, advance)


class _Wanted:
    """What is asked of the tree, and with how many threads."""

    def __init__(
        self, n_clusters: int | None, threshold: float | None, n_jobs: int | None, settings: ClusterSettings
    ):
        self.n_clusters, self.threshold = n_clusters, threshold
        self.n_jobs, self.settings = n_jobs, settings

    @property
    def automatic(self) -> bool:
        """Whether the number is to be found."""
        return self.n_clusters is None and self.threshold is None

    def level(self, tree: ModeTree, ground: Neighbourhoods) -> Level:
        """The reading of the tree that is asked for."""
        return chosen_level(tree, ground, self.n_clusters, self.threshold, self.settings, self.n_jobs)


# -- kinds of data --------------------------------------------------------------------------------------


def _of_points(
    n: int,
    around: Neighbourhoods | None,
    layout: bool | None,
    n_neighbors: int | None,
    wanted: _Wanted,
    client: Any,
    advance: Advance,
) -> Clusters:
    if around is None:
        advance(LAYOUT.epochs + OTHER_STEPS - 1)
        return _made(all_one(n), None, np.full(n, -1))
    if layout if layout is not None else around.dimension > wanted.settings.direct:
        k = min(n_neighbors or LAYOUT.n_neighbors, around.rows.size - 1)
        found = around.nearest(k, client)
        ties = Ties.of_neighbours(found.indices, found.distances, around.dimension, wanted.n_jobs)
        return _laid_out(ties, around.weights, wanted, advance, around=around)
    advance(LAYOUT.epochs)
    tree = around.tree(wanted.n_jobs)
    advance(1)
    found_level = read_out(around, wanted.level(tree, around), wanted.n_jobs)
    advance(1)
    return _made(found_level, tree, around.place, neighbourhoods=around, ground=around)


def _of_affinity(
    affinity: MatrixAffinity, n_neighbors: int | None, wanted: _Wanted, advance: Advance
) -> Clusters:
    n = affinity.n
    ties = Ties.of_similarities(affinity.matrix(), n_neighbors or LAYOUT.n_neighbors, wanted.n_jobs)
    given = pairwise_hypergraph(affinity.values) if n > 1 else None
    advance(1)
    return _laid_out(ties, np.ones(n), wanted, advance, given=given)


def _of_hypergraph(hypergraph: Hypergraph, wanted: _Wanted, advance: Advance) -> Clusters:
    ties = Ties.of_hypergraph(hypergraph)
    advance(1)
    return _laid_out(ties, np.ones(hypergraph.n_vertices), wanted, advance, given=hypergraph)


# -- by a layout ----------------------------------------------------------------------------------------


def _laid_out(
    ties: Ties,
    weights: np.ndarray,
    wanted: _Wanted,
    advance: Advance,
    *,
    around: Neighbourhoods | None = None,
    given: Hypergraph | None = None,
) -> Clusters:
    """Lay items out, read the tree of the layout, and join what the ties do not show."""
    places = embedded(ties, LAYOUT.n_dimensions, n_jobs=wanted.n_jobs, advance=advance)
    tied = np.flatnonzero(ties.tied)
    fewest = wanted.settings.fewest if wanted.automatic else 2
    ground = None
    if tied.size:
        ground = Neighbourhoods.around(
            places[tied], None, "euclidean", None, wanted.n_jobs, fewest, weights=weights[tied]
        )
    advance(1)
    tree = None
    if ground is None:
        found = _by_parts(ties, tied)
    else:
        tree = ground.tree(wanted.n_jobs, ties.parts()[tied][ground.rows])
        if wanted.automatic:
            level = Ladder.shown(tree, ground, ties, tied, wanted.settings, wanted.n_jobs).medoid()
        else:
            level = wanted.level(tree, ground)
        found = read_out(ground, level, wanted.n_jobs)
    advance(1)
    leaves = np.full(ties.n, -1)
    if ground is not None:
        leaves[tied] = ground.place
    whole = _among(found, tied, ties.n)
    if around is not None:
        whole, places, leaves = _of_rows(whole, around), places[around.place], leaves[around.place]
    return _made(
        whole, tree, leaves, neighbourhoods=around, given=given, ties=ties, layout=places, ground=ground
    )


def _by_parts(ties: Ties, tied: np.ndarray) -> Found:
    """Fewer than eight items with ties: each connected part is a cluster."""
    if tied.size == 0:
        nothing, number = np.empty(0), np.empty(0, np.int64)
        return Found(number, number, nothing, nothing, nothing, None)
    found = all_one(tied.size)
    labels = largest_first(ties.parts()[tied])
    return found._replace(labels=labels, assigned=labels, fences=np.full(int(labels.max()) + 1, np.inf))


def _among(found: Found, tied: np.ndarray, n: int) -> Found:
    """What was found of the items with ties, for all items: the others are outliers."""
    if tied.size == n:
        return found
    columns = []
    for values, other in zip(found[:4], (-1, -1, 0.0, 1.0), strict=True):
        column = np.full(n, other, values.dtype)
        column[tied] = values
        column.flags.writeable = False
        columns.append(column)
    return found._replace(
        labels=columns[0], assigned=columns[1], probabilities=columns[2], outlier_scores=columns[3]
    )


def _of_rows(found: Found, around: Neighbourhoods) -> Found:
    """What was found of different points, for all rows; points far from their cluster are outliers, too."""
    level = _level_of(found)
    limits = np.full(found.fences.size, np.inf)
    labels, strength = found.labels, 1 - found.outlier_scores
    if found.fences.size and level is not None:
        quartiles = Quartiles.of(around.spacing, level, around.weights)
        limits = quartiles.fences_beyond(1 / (around.dimension * np.sqrt(around.k)))
        labels = np.where((labels >= 0) & (around.spacing > limits[labels]), -1, labels)
        near = np.exp(np.minimum(0.0, quartiles.lower[found.assigned] - around.spacing))
        strength = np.minimum(strength, np.where(found.assigned >= 0, near, 0.0))
    columns = [labels, found.assigned, np.where(labels < 0, 0.0, strength), 1 - strength]
    rows = [column[around.place] for column in columns]
    return found._replace(
        labels=rows[0], assigned=rows[1], probabilities=rows[2], outlier_scores=rows[3], fences=limits
    ).locked()


def _level_of(found: Found) -> Level | None:
    """Clusters of different points as a level, for the quartiles of their spacings."""
    n = int(found.fences.size)
    if n == 0 or found.assigned.size == 0:
        return None
    return Level(0.0, found.labels, found.assigned, np.ones(found.labels.size), n)


def _made(
    found: Found,
    tree: ModeTree | None,
    leaves: np.ndarray,
    *,
    neighbourhoods: Neighbourhoods | None = None,
    given: Hypergraph | None = None,
    ties: Ties | None = None,
    layout: np.ndarray | None = None,
    ground: Neighbourhoods | None = None,
) -> Clusters:
    for array in (leaves, layout):
        if array is not None:
            array.flags.writeable = False
    kind = HypergraphClusters if ties is not None and ties.n_neighbors == 0 else Clusters
    return kind(
        found.labels, found.assigned, found.probabilities, found.outlier_scores, found.fences, layout, tree,
        leaves, found.level, neighbourhoods, given, ties, ground,
    )  # fmt: skip
