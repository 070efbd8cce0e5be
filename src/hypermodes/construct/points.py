"""Points to a probabilistic hypergraph: one hyperedge for each point and its nearest neighbours."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.construct.metrics import Metric
from hypermodes.construct.neighbours import Neighbours, nearest_neighbours
from hypermodes.hypergraph import Hypergraph
from hypermodes.numbering import number_type

Rule = Callable[[np.ndarray, np.ndarray], np.ndarray]


def knn_hypergraph(
    points: Any,
    k: int = 10,
    *,
    metric: Metric = "euclidean",
    index: Any = None,
    incidence: str | Rule = "gaussian",
    weight: str | Rule = "density",
    n_jobs: int | None = -1,
) -> Hypergraph:
    """Make hyperedge i of point i and its k nearest neighbours, weighted by density.

    A neighbour at distance d belongs to the hyperedge with probability exp(-(d/d_k)²), where d_k is the
    distance to the k-th neighbour; the point itself belongs with probability 1. The weight is
    w(e) = δ(e)/d_k, so that one shared vertex is worth 1/d_k, the local density: the usual w(e) = δ(e)
    would make every hyperedge equal (departures.md#weights).

    Parameters
    ----------
    points : (n, d) array of numbers, sparse matrix, or distances
        At least k + 1 points, not all equal.
    k : int
        Neighbours of each point, itself not counted.
    metric, index, n_jobs
        What is near and how it is searched: see `NeighbourSearch`. ``metric="precomputed"`` takes distances,
        dense or as a sparse neighbour graph; ``index`` takes an approximate index.
    incidence, weight
        Other rules than those above: see `hypergraph_of_neighbours`.

    Notes
    -----
    Where points coincide and d_k would be 0, the smallest positive d_k of the set is used. d_k is divided by
    its median, so that the unit of the points plays no part.

    Examples
    --------
    >>> knn_hypergraph([[0.0], [1.0], [2.0], [7.0]], k=2, incidence="binary", weight="uniform")
    Hypergraph(4 vertices, 4 hyperedges of 3 vertices, 12 incidences)
    """
    neighbours = nearest_neighbours(points, k, metric=metric, index=index, n_jobs=n_jobs)
    if not neighbours.distances[:, -1].any():
        raise ValueError(
            f"points: expected points at different places; each of the {neighbours.n} coincides "
            f"with {k} others"
        )
    return hypergraph_of_neighbours(neighbours, incidence=incidence, weight=weight)


def hypergraph_of_neighbours(
    neighbours: Neighbours, *, incidence: str | Rule = "gaussian", weight: str | Rule = "density"
) -> Hypergraph:
    """Make hyperedge i of point i and its neighbours.

    Parameters
    ----------
    neighbours : Neighbours
        Of all points among themselves.
    incidence : str or function
        p(v|e) of a neighbour v at distance d; the point itself has 1.

        - "gaussian": exp(-(d/d_k)²), with d_k the distance to the k-th neighbour of this point;
        - "laplacian": exp(-d/m), with m the mean distance to a neighbour over all points, one for the whole
          set (Huang et al., 2010);
        - "binary": 1.

        Or a function of the distances (n, k) and the d_k (n, 1) that gives (n, k) probabilities.
    weight : str or function
        w(e), from δ(e), the sum of the probabilities.

        - "density": δ(e)/d_k with d_k in units of its median: a shared vertex is worth 1/d_k;
        - "similarity": δ(e), as in Huang et al.: every shared vertex is worth 1;
        - "uniform": 1.

        Or a function of δ (n,) and d_k (n,) that gives n weights.

    Notes
    -----
    Where d_k is 0, the smallest positive d_k of the set takes its place. A probability that would vanish is
    kept at the smallest normal number, so that the neighbour stays in the hyperedge.
    """
    if not isinstance(neighbours, Neighbours):
        raise TypeError(f"neighbours: expected Neighbours; got a {type(neighbours).__name__}")
    probability_of = _rule("incidence", incidence, _INCIDENCE)
    weight_of = _rule("weight", weight, _WEIGHT)
    _check_range(neighbours)
    reach = _positive_reach(neighbours)
    n, k = neighbours.n, neighbours.k
    number = number_type(n * (k + 1))
    members, probability = np.empty((n, k + 1), dtype=number), np.ones((n, k + 1))
    members[:, 0] = np.arange(n)
    members[:, 1:] = neighbours.indices
    probability[:, 1:] = _answer("incidence", probability_of(neighbours.distances, reach[:, None]), (n, k))
    np.maximum(probability, np.finfo(np.float64).tiny, out=probability, where=probability == 0)
    columns = np.arange(0, n * (k + 1) + 1, k + 1, dtype=number)
    matrix = sp.csc_array((probability.ravel(), members.ravel(), columns), shape=(n, n), copy=False)
    weights = _answer("weight", weight_of(probability.sum(axis=1), reach), (n,))
    matrix.sort_indices()
    _check_distinct(neighbours, matrix)
    return Hypergraph.from_incidence(matrix, weights=weights)


def _gaussian(distances: np.ndarray, reach: np.ndarray) -> np.ndarray:
    ratio = distances / reach
    ratio *= ratio
    return np.exp(np.negative(ratio, out=ratio), out=ratio)


def _laplacian(distances: np.ndarray, reach: np.ndarray) -> np.ndarray:
    return np.exp(distances / -distances.mean())


def _binary(distances: np.ndarray, reach: np.ndarray) -> np.ndarray:
    return np.ones_like(distances)


def _density(degree: np.ndarray, reach: np.ndarray) -> np.ndarray:
    return degree / (reach / np.median(reach))


def _similarity(degree: np.ndarray, reach: np.ndarray) -> np.ndarray:
    return degree


def _uniform(degree: np.ndarray, reach: np.ndarray) -> np.ndarray:
    return np.ones_like(degree)


_INCIDENCE: Mapping[str, Rule] = {"gaussian": _gaussian, "laplacian": _laplacian, "binary": _binary}
_WEIGHT: Mapping[str, Rule] = {"density": _density, "similarity": _similarity, "uniform": _uniform}


def _rule(name: str, given: Any, known: Mapping[str, Rule]) -> Rule:
    if callable(given):
        return given
    if isinstance(given, str) and given in known:
        return known[given]
    raise ValueError(
        f"{name}: expected {', '.join(repr(choice) for choice in known)} or a function; got {given!r}"
    )


def _answer(name: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    values = np.asarray(given)
    if values.shape != shape:
        raise ValueError(f"{name}: expected the function to give shape {shape}; it gave {values.shape}")
    return values


def _positive_reach(neighbours: Neighbours) -> np.ndarray:
    """d_k of each point; the smallest positive one where it is 0."""
    reach = neighbours.distances[:, -1]
    positive = reach > 0
    if positive.all():
        return reach
    if not positive.any():
        raise ValueError(
            f"neighbours: expected a positive distance; each of the {neighbours.n} points coincides with "
            f"{neighbours.k} others"
        )
    return np.where(positive, reach, reach[positive].min())


def _check_range(neighbours: Neighbours) -> None:
    largest = int(neighbours.indices.max())
    if largest >= neighbours.n:
        raise ValueError(
            f"neighbours: expected neighbours of {neighbours.n} points among themselves; "
            f"one of them is row {largest}"
        )


def _check_distinct(neighbours: Neighbours, matrix: sp.csc_array) -> None:
    """No point is its own neighbour, or somebody's neighbour twice."""
    members = matrix.indices.reshape(neighbours.n, -1)
    repeated = np.flatnonzero((members[:, 1:] == members[:, :-1]).any(axis=1))
    if repeated.size:
        raise ValueError(
            f"neighbours: expected {neighbours.k} different neighbours of each point, itself not counted; "
            f"point {int(repeated[0])} has {neighbours.indices[repeated[0]].tolist()}"
        )
