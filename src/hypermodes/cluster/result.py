"""The answer of `cluster`: labels, how firmly, how clear, at which levels, and the modes behind it."""

import os
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.cluster.cores import affinity_within, cores, summits_by
from hypermodes.cluster.evidence import borders_of
from hypermodes.cluster.hyperedges import edge_labels, edge_memberships, memberships
from hypermodes.cluster.levels import Reading, levels_of
from hypermodes.cluster.placing import predicted
from hypermodes.files import replacing, write_csv
from hypermodes.hypergraph import Hypergraph
from hypermodes.json_text import json_text
from hypermodes.keeping import kept
from hypermodes.layout.ties import Ties
from hypermodes.neighbourhoods import Neighbourhoods
from hypermodes.result import Mode, counted, plain
from hypermodes.tree import Level, ModeTree


@dataclass(frozen=True, eq=False, repr=False)
class Clusters:
    """Clusters of items, the largest first, with outliers left out.

    Items are points (rows), vertices of a hypergraph, or whatever a matrix of affinities or distances is
    about.

    Attributes
    ----------
    labels : (n,) int64
        Cluster of each item, the largest being 0 (outliers counted); -1 for outliers.
    assigned : (n,) int64
        The same with every outlier in the cluster it reaches by the highest path of the tree; -1 only for
        items that have no tie to any other, or where a threshold leaves no cluster.
    probabilities : (n,) float
        How firmly each belongs, in [0, 1]: the spacing of the closer quarter of its cluster in relation to
        its own; 0 for outliers.
    outlier_scores : (n,) float
        One minus that, for outliers as well.
    fences : (n_clusters,) float
        The spacing beyond which an item of each cluster is an outlier.
    layout : (n, 5) float or None
        The coordinates that clusters were read from; None if points were clustered where they are. NaN for
        items without a tie.
    tree : ModeTree or None
        The tree the clusters were read off; None if there are fewer than eight different items.
    leaves : (n,) int
        The leaf of the tree each item is at; -1 for items without a tie. Equal items share one.
    level : Level or None
        Where the tree was read.
    neighbourhoods : Neighbourhoods or None
        The hyperedges that points make with their neighbours; None for hypergraphs and similarities.
    given : Hypergraph or None
        What was given; of similarities, the hyperedges that items make with those most similar to them.
    ties : Ties or None
        How strongly items hold together, two by two; None if points were clustered where they are.
    ground : Neighbourhoods or None
        What the tree is of: of points where they are, or of the layout.
    """

    labels: np.ndarray
    assigned: np.ndarray
    probabilities: np.ndarray
    outlier_scores: np.ndarray
    fences: np.ndarray
    layout: np.ndarray | None
    tree: ModeTree | None
    leaves: np.ndarray
    level: Level | None
    neighbourhoods: Neighbourhoods | None
    given: Hypergraph | None
    ties: Ties | None
    ground: Neighbourhoods | None = field(default=None)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.fences.shape[0])

    @cached_property
    def sizes(self) -> np.ndarray:
        """Items of each cluster, without outliers."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    @cached_property
    def borders(self) -> np.ndarray:
        """How clear each cluster is: ties that leave it, as a share of what flat ground would have.

        0: none leave. 1: as many as if there were no clusters. Hypergraphs are compared with chance.
        """
        ties = self._ties
        if ties is None:
            return np.zeros(self.n_clusters)
        place = self.assigned if self.neighbourhoods is None else self.assigned[self.neighbourhoods.rows]
        return borders_of(ties, place) if self.n_clusters else np.empty(0)

    @cached_property
    def _ties(self) -> Ties | None:
        around = self.neighbourhoods
        if self.ties is not None or around is None:
            return self.ties
        found = around.neighbours
        return Ties.of_neighbours(found.indices, found.distances, around.dimension)

    @cached_property
    def levels(self) -> tuple[Reading, ...]:
        """The readings of the tree that stand out, from coarse to fine, each with labels of its own.

        One of them is the answer, `labels` with all items assigned.
        """
        return levels_of(self)

    def members(self, k: int) -> np.ndarray:
        """Items of cluster k, those that belong most firmly first; -1: the outliers."""
        inside = np.flatnonzero(self.labels == self._number(k, lowest=-1))
        return inside[np.lexsort((inside, -np.round(self.probabilities[inside], 9)))]

    @kept
    def modes(self, *, n_jobs: int | None = -1, client: Any = None) -> tuple[Mode | None, ...]:
        """The certified mode at the core of each cluster, made of hyperedges of that cluster; None if none.

        It is the mode that the densest hyperedge of the cluster shifts to, of the whole hypergraph if that
        has hyperedges of the cluster only, else of the hyperedges of the cluster.

        Parameters
        ----------
        n_jobs, client
            As in `find_modes`. What is found is kept, and does not depend on them.
        """
        around = self.neighbourhoods
        if around is not None:
            labels = self.assigned[around.rows]
            summits = summits_by(around.density, labels, self.n_clusters)
            found = cores(around.hypergraph, labels, summits, n_jobs, client)
            return tuple(None if mode is None else mode.among(around.rows) for mode in found)
        if self.given is None:
            return (None,) * self.n_clusters
        labels = self._edge_labels
        summits = summits_by(np.round(affinity_within(self.given, labels), 9), labels, self.n_clusters)
        return cores(self.given, labels, summits, n_jobs, client)

    @property
    def _edge_labels(self) -> np.ndarray:
        """Cluster of each hyperedge: that of the item it is made around."""
        return self.assigned

    def representatives(self, *, n_jobs: int | None = -1, client: Any = None) -> np.ndarray:
        """An item of each cluster: the heaviest of its mode, or the one that belongs most firmly.

        Parameters
        ----------
        n_jobs, client
            As in `modes`.
        """
        chosen = np.full(self.n_clusters, -1)
        for k, mode in enumerate(self.modes(n_jobs=n_jobs, client=client)):
            own = np.empty(0, int) if mode is None else np.flatnonzero(self.labels[mode.support] == k)
            if mode is not None and own.size:
                chosen[k] = mode.support[own[np.argmax(np.round(mode.weights[own], 12))]]
            elif (members := self.members(k)).size:
                chosen[k] = members[0]
        return chosen

    def predict(self, points: Any, *, assign: bool = False) -> np.ndarray:
        """Cluster of new points.

        A new point where an old one lies has its label. Where points were clustered as they are, a new one
        has the cluster of the neighbour it holds together with at the highest level; where they were laid
        out, the cluster that most of its neighbours are in, nearer ones counting more. It is an outlier,
        unless ``assign``, where its spacing is beyond the fence of the cluster.

        Parameters
        ----------
        points : (m, d) array or sparse matrix
            New points; with ``metric="precomputed"`` their distances to the old ones.
        """
        if self.neighbourhoods is None:
            if self.given is None:
                return np.zeros(np.shape(points)[0], dtype=np.int64)
            raise ValueError("points: expected clusters of points; these are of a hypergraph or similarities")
        return predicted(self, points, assign)

    def _number(self, k: Any, lowest: int = 0) -> int:
        if isinstance(k, int | np.integer) and not isinstance(k, bool) and lowest <= k < self.n_clusters:
            return int(k)
        raise IndexError(f"k: expected the number of a cluster, {lowest} … {self.n_clusters - 1}; got {k!r}")

    def __len__(self) -> int:
        return self.n_clusters

    def __repr__(self) -> str:
        n_out = int((self.labels < 0).sum())
        return (
            f"Clusters({counted(self.n_clusters, 'cluster')} of {counted(self.labels.size, 'item')}, "
            f"{counted(n_out, 'outlier')})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class HypergraphClusters(Clusters):
    """Clusters of the vertices of a hypergraph, and what they say of its hyperedges.

    Attributes are those of `Clusters`, items being vertices, and those below.
    """

    @property
    def hypergraph(self) -> Hypergraph:
        """What was given."""
        assert self.given is not None
        return self.given

    @property
    def vertex_labels(self) -> np.ndarray:
        """Cluster of each vertex; -1 if it is in no hyperedge, or only in hyperedges that meet no other."""
        return self.assigned

    @cached_property
    def memberships(self) -> sp.csr_array:
        """Share of the ties of each vertex that are with each cluster, others cut down to that of its own."""
        assert self.ties is not None
        return memberships(self.ties, self.assigned, self.n_clusters)

    @cached_property
    def edge_memberships(self) -> sp.csr_array:
        """Share of each hyperedge that each cluster holds."""
        return edge_memberships(self.hypergraph, self.assigned, self.n_clusters)

    @cached_property
    def edge_labels(self) -> np.ndarray:
        """The cluster that holds more than half of each hyperedge; -1 for outliers, where there is none."""
        return edge_labels(self.edge_memberships)

    @property
    def _edge_labels(self) -> np.ndarray:
        return self.edge_labels

    def representatives(self, *, n_jobs: int | None = -1, client: Any = None) -> np.ndarray:
        """A vertex of each cluster: the heaviest in its mode, or the one that belongs most firmly.

        Parameters
        ----------
        n_jobs, client
            As in `modes`.
        """
        incidence = self.hypergraph.incidence
        chosen = np.full(self.n_clusters, -1)
        for k, mode in enumerate(self.modes(n_jobs=n_jobs, client=client)):
            weight = np.zeros(self.labels.size)
            if mode is not None:
                weight = incidence[:, mode.support] @ mode.weights
            own = np.flatnonzero((self.assigned == k) & (weight > 0))
            if own.size:
                chosen[k] = own[np.argmax(np.round(weight[own], 12))]
            elif (members := self.members(k)).size:
                chosen[k] = members[0]
        return chosen

    @cached_property
    def outliers(self) -> np.ndarray:
        """Hyperedges that belong to no cluster."""
        return np.flatnonzero(self.edge_labels < 0)

    def vertex_names(self, k: int) -> tuple[Hashable, ...]:
        """Names of the vertices of cluster k."""
        vertices = self.hypergraph.vertices
        return tuple(vertices[int(v)] for v in np.flatnonzero(self.assigned == self._number(k)))

    def hyperedges(self, k: int) -> tuple[Hashable, ...]:
        """Names of the hyperedges of cluster k."""
        labels = self.hypergraph.labels
        return tuple(labels[int(e)] for e in np.flatnonzero(self.edge_labels == self._number(k)))

    def __repr__(self) -> str:
        alone = int((self.vertex_labels < 0).sum())
        outside = f", {_vertices(alone)} in none" if alone else ""
        return (
            f"Clusters({counted(self.n_clusters, 'cluster')} of {_vertices(self.hypergraph.n_vertices)}, "
            f"{counted(self.outliers.size, 'outlier')} of {counted(self.hypergraph.n_edges, 'hyperedge')}"
            f"{outside})"
        )

    # -- passing on -----------------------------------------------------------------------------------

    def to_columns(self, *, n_jobs: int | None = -1) -> dict[str, list[Any]]:
        """One entry a cluster and column, ready for a data frame."""
        inside = self.edge_labels[self.edge_labels >= 0]
        modes = self.modes(n_jobs=n_jobs)
        return {
            "cluster": list(range(self.n_clusters)),
            "vertices": np.bincount(self.assigned[self.assigned >= 0], minlength=self.n_clusters).tolist(),
            "hyperedges": np.bincount(inside, minlength=self.n_clusters).tolist(),
            "border": self.borders.tolist(),
            "density": [None if mode is None else mode.density for mode in modes],
            "core": [0 if mode is None else len(mode) for mode in modes],
            "status": ["" if mode is None else mode.status.name for mode in modes],
        }

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line a vertex: its name, its cluster (-1 for none), how strongly it belongs to it."""
        strength = strengths(self.memberships, self.vertex_labels)
        write_csv(
            path,
            ("vertex", "cluster", "membership"),
            zip(self.hypergraph.vertices, self.vertex_labels.tolist(), strength.tolist(), strict=True),
        )

    def edges_to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line a hyperedge: its name, its cluster (-1 for outliers), how strongly it belongs."""
        strength = strengths(self.edge_memberships, self.edge_labels)
        write_csv(
            path,
            ("hyperedge", "cluster", "membership"),
            zip(self.hypergraph.labels, self.edge_labels.tolist(), strength.tolist(), strict=True),
        )

    def to_json(self, path: str | os.PathLike[str], *, n_jobs: int | None = -1) -> None:
        """Write the clusters with their vertices, hyperedges and core modes, and the outliers."""
        labels, columns = self.hypergraph.labels, self.to_columns(n_jobs=n_jobs)
        clusters = []
        for k, mode in enumerate(self.modes(n_jobs=n_jobs)):
            record: dict[str, Any] = {name: values[k] for name, values in columns.items()}
            record["members"] = [plain(name) for name in self.vertex_names(k)]
            record["edges"] = [plain(name) for name in self.hyperedges(k)]
            support = () if mode is None else mode.support
            record["core_edges"] = [plain(labels[int(i)]) for i in support]
            record["core_weights"] = [] if mode is None else mode.weights.tolist()
            clusters.append(record)
        content = {
            "clusters": clusters,
            "outliers": [plain(labels[int(e)]) for e in self.outliers],
            "vertices": [plain(name) for name in self.hypergraph.vertices],
            "vertex_labels": self.vertex_labels.tolist(),
            "edges": [plain(name) for name in labels],
            "edge_labels": self.edge_labels.tolist(),
        }
        with replacing(path) as temporary:
            temporary.write_text(json_text(content), encoding="utf-8")


def _vertices(n: int) -> str:
    return f"{n} {'vertex' if n == 1 else 'vertices'}"


def strengths(shares: sp.csr_array, labels: np.ndarray) -> np.ndarray:
    """How strongly each item belongs to its own cluster; 0 for those in none."""
    inside = np.flatnonzero(labels >= 0)
    strength = np.zeros(labels.size)
    if inside.size:
        strength[inside] = np.asarray(shares[inside, labels[inside]]).ravel()
    return strength
