"""From points to what the competitors take: a Gaussian affinity of pairs, a hypergraph of triples.

Both measure a distance d(i,j) against the scales of its two ends, σ_i being the distance from point i to its
7th neighbour [ZP04]: the unit and the place of the points play no part, and neither does a change of density.

References
----------
.. [ZP04] Zelnik-Manor & Perona, Self-Tuning Spectral Clustering, NIPS 2004.
"""

from itertools import combinations
from math import ceil
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from hypermodes.affinity import MatrixAffinity
from hypermodes.hypergraph import Hypergraph
from hypermodes.scalars import finite_number, whole_number

NEGLIGIBLE = 1e-12
"""An affinity below this counts as none: so far away, a point is isolated."""


def checked_points(points: Any) -> np.ndarray:
    """Points as a fresh (n, d) array of finite floats, n ≥ 1 and d ≥ 1."""
    try:
        array = np.asarray(points)
    except ValueError:
        raise ValueError("points: expected an (n, d) array; got rows of different lengths") from None
    if array.ndim != 2 or array.dtype.kind not in "fiub" or 0 in array.shape:
        raise ValueError(
            f"points: expected an (n, d) array of numbers; got shape {array.shape}, type {array.dtype}"
        )
    if not np.isfinite(array).all():
        raise ValueError("points: expected finite coordinates; found NaN or infinity")
    return array.astype(np.float64)


def gaussian_affinity(
    points: np.ndarray, *, neighbours: int | None = None, scale_neighbour: int = 7
) -> MatrixAffinity:
    """Make the self-tuning Gaussian affinity of every pair of points.

        a(i,j) = exp(-d(i,j)² / (σ_i σ_j)),   a(i,i) = 0,

    where σ_i is the distance from point i to its ``scale_neighbour``-th neighbour [ZP04].

    Parameters
    ----------
    points : (n, d) array of numbers
        One point is enough; they may coincide.
    neighbours : int, optional
        Keep only pairs of which one is among this many nearest neighbours of the other, all of equal
        distance to the last included; the matrix is then sparse. All pairs if not given: dense, n² numbers.
    scale_neighbour : int
        Which neighbour sets the scale; the farthest if there are not that many.

    Notes
    -----
    Affinities below 1e-12 are 0. Where so many points coincide that σ_i = 0, the smallest positive σ is
    used, and a(i,j) = 1 throughout if all points coincide.

    Examples
    --------
    >>> gaussian_affinity(np.array([[0.0], [1.0], [2.0]])).values.round(3)
    array([[0.   , 0.607, 0.368],
           [0.607, 0.   , 0.607],
           [0.368, 0.607, 0.   ]])
    """
    places = in_unit_box(checked_points(points))[0]
    _check_count("scale_neighbour", scale_neighbour)
    scale = local_scale(places, scale_neighbour)
    if neighbours is None:
        return MatrixAffinity(_gaussian(cdist(places, places), scale[:, None] * scale[None, :]))
    _check_count("neighbours", neighbours)
    i, j = pairs_within_reach(places, neighbours)
    values = _gaussian(np.linalg.norm(places[i] - places[j], axis=1), scale[i] * scale[j])
    one_way = sp.csr_array((values, (i, j)), shape=(len(places), len(places)))
    return MatrixAffinity(one_way.maximum(one_way.T))  # both ways give the same number where both are there


def triple_hypergraph(
    points: np.ndarray, *, neighbours: int = 8, scale_neighbour: int = 7
) -> Hypergraph | None:
    """Make a hyperedge of each point and two of its nearest neighbours, heavier the more compact it is.

        w(i,j,k) = (a(i,j) a(j,k) a(i,k))^(1/3),   a(i,j) = exp(-d(i,j)² / (σ_i σ_j)),

    so the weight is 1 for three coinciding points and falls with their mean squared distance, measured
    against the local scale. Vertex i is point i; a triple that several points name is one hyperedge.

    Parameters
    ----------
    points : (n, d) array of numbers
        They may coincide.
    neighbours : int
        Neighbours of each point whose pairs are taken: at most n K(K-1)/2 hyperedges.
    scale_neighbour : int
        Which neighbour sets the scale σ_i; the farthest if there are not that many.

    Returns
    -------
    Hypergraph or None
        All points are vertices, 3-uniform. None if there is no triple: fewer than three points, or
        all of them too far apart (weights below 1e-12 are left out).
    """
    places = in_unit_box(checked_points(points))[0]
    _check_count("neighbours", neighbours)
    _check_count("scale_neighbour", scale_neighbour)
    n = len(places)
    near = nearest(places, neighbours)[1]
    pairs = np.array(list(combinations(range(near.shape[1]), 2)), dtype=np.int64).reshape(-1, 2)
    triples = np.column_stack(
        (np.repeat(np.arange(n), len(pairs)), near[:, pairs[:, 0]].ravel(), near[:, pairs[:, 1]].ravel())
    )
    triples = np.unique(np.sort(triples, axis=1), axis=0)
    scale = local_scale(places, scale_neighbour)
    weights = np.ones(len(triples))
    for a, b in combinations(range(3), 2):
        i, j = triples[:, a], triples[:, b]
        distance = np.linalg.norm(places[i] - places[j], axis=1)
        weights *= np.cbrt(_gaussian(distance, scale[i] * scale[j]))
    kept = weights > NEGLIGIBLE
    if not kept.any():
        return None
    return Hypergraph.from_edges(triples[kept], weights[kept], range(n))


def nearest(places: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Distances to and indices of the k nearest others of each point (all others if they are fewer)."""
    n = len(places)
    k = min(k, n - 1)
    if k == 0:
        return np.empty((n, 0)), np.empty((n, 0), dtype=np.int64)
    distances, near = cKDTree(places).query(places, k + 1)
    own = near == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True  # k + 1 others at the very same place came first: one of them goes
    return distances[~own].reshape(n, k), near[~own].reshape(n, k).astype(np.int64)


def pairs_within_reach(places: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Ordered pairs (i, j) with j ≠ i no farther from i than its k-th neighbour: ties are all in."""
    distances = nearest(places, k)[0]
    reach = distances[:, -1] if distances.shape[1] else np.zeros(len(places))
    near = cKDTree(places).query_ball_point(places, reach * (1 + 1e-9), return_sorted=True)
    i = np.repeat(np.arange(len(places)), [len(found) for found in near])
    j = np.concatenate([np.array(found, dtype=np.int64) for found in near])
    return i[i != j], j[i != j]


def local_scale(places: np.ndarray, k: int) -> np.ndarray:
    """σ_i, the distance to the k-th neighbour; the smallest positive one where it is 0, else 1."""
    distances = nearest(places, k)[0]
    scale = distances[:, -1] if distances.shape[1] else np.zeros(len(places))
    positive = scale[scale > 0]
    return np.where(scale > 0, scale, positive.min() if positive.size else 1.0)


def _gaussian(distance: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """exp(-d²/s), and 0 where that is negligible."""
    values = np.exp(-((distance / np.sqrt(scale)) ** 2))
    values[values <= NEGLIGIBLE] = 0.0
    return values


def in_unit_box(places: np.ndarray) -> tuple[np.ndarray, float]:
    """Translate and scale into the unit box, so that squares of distances neither overflow nor vanish.

    The second number is what one unit of the box measures in the units of the points; 1 if they coincide.
    """
    exponent = int(np.frexp(np.abs(places).max())[1]) + 1
    places = np.ldexp(places, -exponent)  # exact, and from here on no difference overflows
    places -= places.min(axis=0)
    extent = float(places.max())
    return (places / extent, float(np.ldexp(extent, exponent))) if extent > 0 else (places, 1.0)


def bandwidth_of(places: np.ndarray, unit: float, bandwidth: float | None, quantile: float) -> float:
    """The bandwidth in units of the box: as given, or what most points need to see enough others.

    Not given, it is the median over all points of the distance to the neighbour of rank ⌈quantile (n - 1)⌉,
    7 at least: unlike a mean, a few points far away do not change it. Where that is 0 because points
    coincide, the smallest positive distance to such a neighbour; 1 if all points coincide.
    """
    finite_number("quantile", quantile, "a part of the points, above 0 and at most 1", above=0, most=1)
    if bandwidth is None:
        reach = nearest(places, max(7, ceil(quantile * (len(places) - 1))))[0]
        typical = float(np.median(reach[:, -1])) if reach.size else 0.0
        return typical or (float(reach[reach > 0].min()) if reach.any() else 1.0)
    return finite_number("bandwidth", bandwidth, "a positive distance", above=0) / unit


def _check_count(name: str, value: object) -> None:
    whole_number(name, value, "a positive number of neighbours")
