"""The certified mode at the core of each cluster: made of hyperedges of that cluster."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.hypergraph import Hypergraph
from hypermodes.modes import find_modes
from hypermodes.result import Mode


def cores(
    hypergraph: Hypergraph,
    labels: np.ndarray,
    summits: np.ndarray,
    n_jobs: int | None,
    client: Any,
) -> tuple[Mode | None, ...]:
    """The mode that the summit of each cluster shifts to.

    It is one of the whole hypergraph where all its hyperedges are of the cluster. Where they are not, it is
    the mode among the hyperedges of the cluster.

    Parameters
    ----------
    labels : (n_edges,) int
        Cluster of each hyperedge; -1 for none.
    summits : (n_clusters,) int
        The hyperedge each cluster is started from; -1 for a cluster without hyperedges.
    """
    found: list[Mode | None] = [None] * summits.size
    asked = np.flatnonzero(summits >= 0)
    if asked.size == 0:
        return tuple(found)
    names = hypergraph.labels
    starts = [names[int(summit)] for summit in summits[asked]]
    whole = find_modes(hypergraph, starts=starts, n_jobs=n_jobs, client=client)
    mixed = []
    for k in asked.tolist():
        number = int(whole.edge_mode[summits[k]])
        if number < 0:
            continue
        if (labels[whole[number].support] == k).all():
            found[k] = whole[number]
        else:
            mixed.append(k)
    if mixed:
        own = np.flatnonzero(np.isin(labels, mixed))
        alone = _apart(hypergraph, own, labels[own])
        places = np.searchsorted(own, summits[mixed]).tolist()
        inside = find_modes(alone, starts=places, n_jobs=n_jobs, client=client)
        for k, start in zip(mixed, places, strict=True):
            if (number := int(inside.edge_mode[start])) >= 0:
                found[k] = inside[number].among(own)
    return tuple(found)


def _apart(hypergraph: Hypergraph, edges: np.ndarray, group: np.ndarray) -> Hypergraph:
    """Some hyperedges, where a vertex is another one in each group: no two groups meet."""
    incidence = hypergraph.incidence[:, edges]
    edge = np.repeat(np.arange(edges.size), np.diff(incidence.indptr))
    key = incidence.indices.astype(np.int64) * (int(group.max()) + 1) + group[edge]
    names, vertex = np.unique(key, return_inverse=True)
    return Hypergraph.from_incidence(
        sp.csc_array((incidence.data, vertex, incidence.indptr), shape=(names.size, edges.size)),
        weights=hypergraph.weights[edges],
    )


def summits_by(values: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """The hyperedge of the largest value in each cluster, the first of equal ones; -1 where there is none."""
    order = np.lexsort((np.arange(labels.size), -values, labels))
    first = np.searchsorted(labels[order], np.arange(n_clusters))
    inside = first < labels.size
    summits = np.full(n_clusters, -1)
    summits[inside] = order[first[inside]]
    summits[inside] = np.where(labels[summits[inside]] == np.flatnonzero(inside), summits[inside], -1)
    return summits


def affinity_within(hypergraph: Hypergraph, labels: np.ndarray) -> np.ndarray:
    """Affinity of each hyperedge to the others of its group: Eq. (2) summed, from sums on vertices."""
    rate = hypergraph.weights / hypergraph.edge_degrees
    incidence = hypergraph.incidence
    edge = np.repeat(np.arange(labels.size), np.diff(incidence.indptr))
    held = labels[edge] >= 0
    edge, vertex = edge[held], incidence.indices[held]
    n_groups = int(labels.max(initial=-1)) + 1
    _, place = np.unique(vertex.astype(np.int64) * max(n_groups, 1) + labels[edge], return_inverse=True)
    popularity, rated = np.bincount(place), np.bincount(place, weights=rate[edge])
    return np.bincount(
        edge, weights=rate[edge] * (popularity[place] - 1) + rated[place] - rate[edge], minlength=labels.size
    )
