"""Points to a probabilistic hypergraph: one hyperedge for each point and its nearest neighbours."""

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from hypermodes.hypergraph import Hypergraph


def knn_hypergraph(points: np.ndarray, k: int = 10) -> Hypergraph:
    """Make hyperedge i of point i and its k nearest neighbours, weighted by density.

    A neighbour at distance d belongs to the hyperedge with probability exp(-(d/d_k)²), where d_k is the
    distance to the k-th neighbour; the point itself belongs with probability 1. The weight is
    w(e) = δ(e)/d_k, so that one shared vertex is worth 1/d_k, the local density: the usual w(e) = δ(e)
    would make every hyperedge equal (departures.md#weights).

    Parameters
    ----------
    points : (n, d) array of numbers
        At least k + 1 points, not all equal.
    k : int
        Neighbours of each point, itself not counted.

    Notes
    -----
    Exact neighbours by k-d tree: for few dimensions. Where points coincide and d_k would be 0, the
    smallest positive d_k of the set is used. Distances are divided by the median d_k, so that the
    unit of the points plays no part.
    """
    array = np.asarray(points)
    if array.ndim != 2 or array.dtype.kind not in "fiub" or array.shape[1] == 0:
        raise ValueError(
            f"points: expected an (n, d) array of numbers; got shape {array.shape}, type {array.dtype}"
        )
    if not np.isfinite(array).all():
        raise ValueError("points: expected finite coordinates; found NaN or infinity")
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k: expected a positive number of neighbours; got {k!r}")
    n = array.shape[0]
    if n <= k:
        raise ValueError(f"points: expected more than k = {k} points; got {n}")
    places = array.astype(np.float64)
    extent = float((places.max(axis=0) / 2 - places.min(axis=0) / 2).max()) * 2
    if extent > 0:  # the unit plays no part, and squares of distances neither overflow nor vanish
        places = (places - places.min(axis=0)) / extent
    distances, neighbours = cKDTree(places).query(places, k + 1, workers=-1)
    reach = distances[:, -1].copy()
    own = np.arange(n)
    crowded = ~(neighbours == own[:, None]).any(axis=1)  # k others at the very same place came first
    neighbours[crowded, -1], distances[crowded, -1] = own[crowded], 0.0
    if not reach.any():
        raise ValueError(
            f"points: expected points at different places; each of the {n} coincides with {k} others"
        )
    reach = np.where(reach > 0, reach, reach[reach > 0].min())
    reach, distances = reach / np.median(reach), distances / np.median(reach)
    probability = np.exp(-((distances / reach[:, None]) ** 2))
    columns = np.repeat(np.arange(n), k + 1)
    incidence = sp.csc_array((probability.ravel(), (neighbours.ravel(), columns)), shape=(n, n))
    return Hypergraph.from_incidence(incidence, weights=probability.sum(axis=1) / reach)
