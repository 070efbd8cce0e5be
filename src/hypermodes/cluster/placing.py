"""The cluster of points that were not there when the clusters were found."""

from typing import TYPE_CHECKING, Any

import numpy as np

from hypermodes.construct.metrics import LARGEST
from hypermodes.neighbourhoods import crowding, new_levels, new_spacing

if TYPE_CHECKING:
    from hypermodes.cluster.result import Clusters


def predicted(clusters: "Clusters", points: Any, assign: bool) -> np.ndarray:
    """Cluster of each new point; -1 for outliers, unless all are to be assigned."""
    around = clusters.neighbourhoods
    assert around is not None
    found = around.to_new(points, around.k)
    if clusters.n_clusters == 0:
        return np.full(found.n, -1)
    crowd = crowding(1.0, around.weights, found.indices) ** (1 / around.dimension)
    spacing = new_spacing(around, found.distances, crowd)
    if clusters.layout is not None:
        labels = _by_vote(clusters, found.indices, found.distances)
    else:
        assert clusters.level is not None
        level = np.empty(found.indices.shape)
        for part in np.array_split(np.arange(found.n), max(1, found.n * found.k**2 // LARGEST)):
            level[part] = new_levels(around, found.indices[part], found.distances[part], crowd[part])
        level = np.minimum(level, clusters.level.height[found.indices])
        nearest = np.take_along_axis(found.indices, level.argmax(axis=1)[:, None], axis=1)[:, 0]
        labels = clusters.assigned[around.rows[nearest]]
    if not assign:
        labels = np.where(spacing > clusters.fences[labels], -1, labels)
    known = (clusters.assigned if assign else clusters.labels)[around.rows[found.indices[:, 0]]]
    return np.where(found.distances[:, 0] == 0, known, labels)


def _by_vote(clusters: "Clusters", indices: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """The cluster with the strongest ties to each new point."""
    from hypermodes._kernels.layout import local_strengths

    assert clusters.neighbourhoods is not None
    share = np.empty(distances.shape)
    local_strengths(np.ascontiguousarray(distances), np.log2(max(distances.shape[1], 2)), share)
    theirs = clusters.assigned[clusters.neighbourhoods.rows[indices]]
    votes = np.zeros(distances.shape)
    for t in range(distances.shape[1]):  # of a cluster, at the first neighbour that is in it
        votes[:, t] = np.where(theirs == theirs[:, t : t + 1], share, 0.0).sum(axis=1)
    best = np.argmax(np.round(votes, 9), axis=1)
    return np.take_along_axis(theirs, best[:, None], axis=1)[:, 0]
