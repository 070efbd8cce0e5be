"""`HypergraphShift`: the clusters of `cluster` as a scikit-learn estimator."""

from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from hypermodes.cluster.api import cluster
from hypermodes.cluster.levels import Reading
from hypermodes.cluster.result import Clusters
from hypermodes.construct.metrics import Metric
from hypermodes.matrices import check_sound
from hypermodes.modes import find_modes
from hypermodes.result import Mode, ModeSet
from hypermodes.tree import ModeTree


class HypergraphShift(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters of noisy points, with outliers left out; nobody says how many there are.

    Points of few local dimensions are clustered where they are: each makes a hyperedge with its nearest
    neighbours, and the tree of what holds together at which level is read at every scale. All others are
    laid out in five dimensions first (`layout_`). At the core of each cluster is a mode of the hypergraph,
    with a certificate (`modes_`).

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters; found if None.
    selection : {"tree", "modes"}, default="tree"
        "modes" is the paper's own reading: points that shift to the same mode are one cluster, the densest
        being 0. Modes are small, so there are many; `n_clusters` keeps those that most points shift to, and
        all others join the one they reach by the highest path of the tree. `threshold` is of no use then.
    threshold : float, default=None
        Instead of `n_clusters`: what holds together at this share of the highest level is a cluster.
    outliers : {"label", "assign"}, default="label"
        "label": outliers have the label -1. "assign": every point has a cluster.
    n_neighbors : int, default=None
        Neighbours of a point; if None, ⌈log₂ n⌉ where points are clustered as they are, and 15 in a layout.
    metric : str, Minkowski or callable, default="euclidean"
        A name scikit-learn knows that needs no parameters, `Minkowski(p)`, a function of two points, or
        "precomputed" for distances: a square array, or a sparse graph of distances to neighbours.
    index : object, default=None
        A fitted index over the same points for approximate neighbours; see `NeighbourSearch`.
    layout : bool, default=None
        Whether to cluster in a layout, or points where they are; if None, in a layout if their local
        dimension is more than 3.5.
    n_jobs : int, default=None
        Threads; None and -1 are all cores. The result does not depend on it.
    client : dask.distributed.Client, str, default=None
        Search for neighbours, and with ``selection="modes"`` shift, on a Dask cluster: its client, or the
        address of its scheduler. Or "joblib": by the backend of ``joblib.parallel_config``. The result does
        not depend on it. Clones share the client; in a pickle or a copy it is the address of its scheduler,
        or None if it is closed.
    verbose : bool, default=False
        Draw a progress bar (needs tqdm).

    Attributes
    ----------
    labels_ : (n_samples,) int
        Cluster of each point, the largest being 0; -1 for outliers.
    probabilities_ : (n_samples,) float
        How firmly each belongs, in [0, 1]: the distance to neighbours in the closer quarter of its cluster
        in relation to its own; 0 for outliers.
    outlier_scores_ : (n_samples,) float
        One minus that, for outliers as well.
    n_clusters_ : int
        Number of clusters.
    modes_ : tuple of Mode or None
        The certified mode at the core of each cluster; found when first asked for, with ``n_jobs`` threads
        or by the ``client``.
    tree_ : ModeTree or None
        The tree the clusters were read off.
    layout_ : (n_samples, 5) float or None
        The coordinates clusters were read from; None if points were clustered where they are.
    levels_ : tuple of Reading
        The readings of the tree that stand out, from coarse to fine; found when first asked for.
    clusters_ : Clusters
        All of it, as `cluster` gives it; with ``selection="modes"`` what the tree would have said.
    n_features_in_ : int
        Number of columns seen during `fit`.

    Examples
    --------
    >>> from hypermodes import HypergraphShift
    >>> from hypermodes.datasets import five_crescents
    >>> model = HypergraphShift().fit(five_crescents(600, outliers=0.1).points)
    >>> model.n_clusters_
    5
    """

    labels_: np.ndarray
    n_features_in_: int

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        selection: str = "tree",
        threshold: float | None = None,
        outliers: str = "label",
        n_neighbors: int | None = None,
        metric: Metric = "euclidean",
        index: Any = None,
        layout: bool | None = None,
        n_jobs: int | None = None,
        client: Any = None,
        verbose: bool = False,
    ):
        self.n_clusters = n_clusters
        self.selection = selection
        self.threshold = threshold
        self.outliers = outliers
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.index = index
        self.layout = layout
        self.n_jobs = n_jobs
        self.client = client
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self._precomputed
        return tags

    def __sklearn_clone__(self) -> Self:
        bare = copy(self)
        bare.client = None  # a connection cannot be copied; it is shared
        made: Self = super(HypergraphShift, bare).__sklearn_clone__()
        made.client = self.client
        return made

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if hasattr(state.get("client"), "scheduler"):
            # A connection stays in its process; others connect to the same place. A closed one has none.
            state["client"] = getattr(state["client"].scheduler, "address", None)
        return state

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the clusters of X; y is ignored.

        Parameters
        ----------
        X : (n_samples, n_features) array or sparse matrix, or distances with ``metric="precomputed"``
            The points.
        y : None
            Ignored.
        """
        self._check_choices()
        check_sound("X", X)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, ensure_non_negative=self._precomputed
        )
        clusters = cluster(
            X,
            self.n_clusters,
            threshold=self.threshold,
            n_neighbors=self.n_neighbors,
            metric=self.metric,
            index=self.index,
            layout=self.layout,
            n_jobs=self._threads,
            client=self.client,
            progress=bool(self.verbose),
        )
        self.clusters_ = clusters
        self.tree_: ModeTree | None = clusters.tree
        self.layout_: np.ndarray | None = None if clusters.layout is None else clusters.layout.copy()
        self.probabilities_ = clusters.probabilities.copy()
        self.outlier_scores_ = clusters.outlier_scores.copy()
        self._found: tuple[ModeSet, list[int]] | None = None
        if self.selection == "modes":
            self._shift_all(clusters)
            self.probabilities_ = np.ones(self.labels_.size)
            self.outlier_scores_ = np.zeros(self.labels_.size)
        else:
            self.labels_ = (clusters.assigned if self.outliers == "assign" else clusters.labels).copy()
        self.n_clusters_ = int(self.labels_.max(initial=-1)) + 1
        return self

    def _check_choices(self) -> None:
        for name, choices in (("selection", ("tree", "modes")), ("outliers", ("label", "assign"))):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name}: expected one of {choices}; got {getattr(self, name)!r}")
        if self.selection == "modes" and self.threshold is not None:
            raise ValueError("threshold: expected None with selection='modes', which looks at no levels")

    @property
    def _threads(self) -> int:
        return -1 if self.n_jobs is None else self.n_jobs

    def _shift_all(self, clusters: Clusters) -> None:
        """Label points by the mode their hyperedges shift to, the densest first."""
        around = clusters.neighbourhoods
        if around is None:
            self.labels_ = clusters.labels.copy()
            return
        found = find_modes(around.hypergraph, n_jobs=self._threads, client=self.client)
        labels, kept = found.edge_mode, np.arange(len(found))
        if self.n_clusters is not None and self.n_clusters < len(found):
            size = np.bincount(labels, weights=around.weights)
            kept = np.sort(np.argsort(-size, kind="stable")[: self.n_clusters])
            place = np.full(len(found), -1)
            place[kept] = np.arange(kept.size)
            labels = around.tree(self._threads).flood(place[labels])
        self.labels_ = labels[around.place]
        self._found = found, kept.tolist()

    @property
    def modes_(self) -> tuple[Mode | None, ...]:
        """The certified mode at the core of each cluster."""
        check_is_fitted(self)
        around = self.clusters_.neighbourhoods
        if self._found is None or around is None:
            return self.clusters_.modes(n_jobs=self._threads, client=self.client)
        found, kept = self._found
        return tuple(found[k].among(around.rows) for k in kept)

    @property
    def levels_(self) -> tuple[Reading, ...]:
        """The readings of the tree that stand out, from coarse to fine."""
        check_is_fitted(self)
        return self.clusters_.levels

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of new points, as far as they have one.

        Parameters
        ----------
        X : (n_samples, n_features) array or sparse matrix
            New points; with ``metric="precomputed"`` their distances to the points of `fit`.
        """
        check_is_fitted(self)
        check_sound("X", X)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if self.selection == "modes":
            around = self.clusters_.neighbourhoods
            if around is None:
                return np.zeros(X.shape[0], dtype=np.int64)
            return self.labels_[around.rows[around.to_new(X, 1).indices[:, 0]]]
        return self.clusters_.predict(X, assign=self.outliers == "assign")
