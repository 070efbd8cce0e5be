"""Distance between points: Minkowski spaces, where searching is fast, and every other metric."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.scalars import finite_number

LARGEST = 1 << 22  # entries of the largest array made along the way (32 MB)
_CACHED = 1 << 15  # numbers that stay in the cache
ORDINARY = 64  # power of two up to which the largest coordinate may be left as it is: squares are safe

_MINKOWSKI = {
    "euclidean": 2.0,
    "l2": 2.0,
    "minkowski": 2.0,
    "manhattan": 1.0,
    "cityblock": 1.0,
    "l1": 1.0,
    "chebyshev": np.inf,
}
_NEED_PARAMETERS = {"mahalanobis", "seuclidean"}
_NOT_OURS = {"precomputed", "nan_euclidean"}
_SPARSE = ("cityblock", "cosine", "euclidean", "l1", "l2", "manhattan")


@dataclass(frozen=True)
class Minkowski:
    """The metric (Σ_i |x_i - y_i|^p)^(1/p): 1 is Manhattan, 2 Euclidean, infinity Chebyshev.

    Parameters
    ----------
    p : float
        From 1 to 32, or infinity: higher powers of small differences leave the range of floating point.
    """

    p: float = 2.0

    def __post_init__(self) -> None:
        expected = "a number from 1 to 32, or infinity"
        finite_number("p", self.p, expected, least=1, most=32, or_infinity=True)


Metric = str | Minkowski | Callable[[Any, Any], float]


@dataclass(frozen=True)
class Straight:
    """A Minkowski space; or that of directions, whose squared distances are twice the cosine distances.

    Coordinates are divided by a power of two, which is exact, so that the largest is about 1 and neither
    squares nor sums of them leave the range of floating point. Where it is larger, but not by much, they do
    not anyway: coordinates stay as they are, and nothing is copied.
    """

    p: float
    exponent: int = 0
    directions: bool = False

    @classmethod
    def around(cls, points: Any, p: float) -> "Straight":
        """The space with the unit of length that suits these points."""
        largest = _largest(points)
        if largest > 1e300:
            raise ValueError(
                f"points: expected coordinates of size 1e300 at most; the largest is {largest!r}"
            )
        return cls(float(p), int(np.frexp(largest)[1]))

    @property
    def unit(self) -> int:
        """The power of two that coordinates are divided by."""
        harmless = 0 <= self.exponent <= ORDINARY and self.p in (1.0, 2.0, np.inf)
        return 0 if harmless else self.exponent

    @property
    def keeps_order(self) -> bool:
        """Whether points are in the same order along a curve as before; else some may be one now."""
        return not self.directions and self.unit <= 0

    def enter(self, name: str, points: Any) -> Any:
        """Coordinates of points in this space."""
        if self.directions:
            return _directions(name, points)
        if self.unit == 0:
            places: Any = points
        elif not sp.issparse(points):
            places = np.ldexp(points, -self.unit)
        else:
            parts = (np.ldexp(points.data, -self.unit), points.indices, points.indptr)
            places = sp.csr_array(parts, shape=points.shape)
        if not np.ldexp(_largest(points), -self.exponent) < 1e100:
            raise ValueError(
                f"{name}: expected coordinates at most 1e100 times those of the fitted points; "
                f"the largest is {_largest(points)!r}"
            )
        return places

    def leave(self, distances: np.ndarray) -> np.ndarray:
        """Distances of this space as those that were asked for."""
        if self.directions:
            return distances * distances / 2
        return distances if self.unit == 0 else distances * 2.0**self.unit

    def between(self, queries: Any, places: Any, threads: int) -> np.ndarray:
        """All distances; where p is 2 by inner products, so that small ones are uncertain."""
        from sklearn.metrics import pairwise_distances

        name, parameters = self.as_sklearn
        return pairwise_distances(queries, places, metric=name, n_jobs=threads, **parameters)

    def paired(self, queries: Any, i: np.ndarray, places: Any, j: np.ndarray) -> np.ndarray:
        """Distance from queries[i] to places[j] for each pair, from the differences of their coordinates."""
        distances = np.empty(i.size)
        step = max(1, min(LARGEST, _CACHED) // max(1, queries.shape[1]))
        for low in range(0, i.size, step):
            here = slice(low, low + step)
            distances[here] = _lengths(queries[i[here]] - places[j[here]], self.p)
        return distances

    @property
    def as_sklearn(self) -> tuple[str, dict[str, float]]:
        """The name scikit-learn has for this metric, and its parameters."""
        names = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}
        return (names[self.p], {}) if self.p in names else ("minkowski", {"p": self.p})


@dataclass(frozen=True)
class General:
    """Any other metric, by the name scikit-learn has for it or as a function of two points."""

    metric: str | Callable[[Any, Any], float]

    def enter(self, name: str, points: Any) -> Any:
        """Points as the metric wants them: as they are, or true and false."""
        return points != 0 if self.metric in _boolean_metrics() else points

    def leave(self, distances: np.ndarray) -> np.ndarray:
        """Distances, as they are."""
        return distances

    def between(self, queries: Any, places: Any, threads: int) -> np.ndarray:
        """All distances."""
        from sklearn.metrics import pairwise_distances

        threads = 1 if callable(self.metric) else threads
        distances = pairwise_distances(queries, places, metric=self.metric, n_jobs=threads)
        distances = np.asarray(distances, dtype=np.float64)
        bad = ~(np.isfinite(distances) & (distances > -1e-9))
        if bad.any():
            worst = float(distances[bad][0])
            raise ValueError(
                f"metric: expected finite distances, 0 or more; {self.metric!r} gives {worst!r} for some pair"
            )
        return np.maximum(distances, 0.0)


Geometry = Straight | General


def geometry_of(metric: Any, points: Any) -> Geometry:
    """The geometry that a metric makes of points; everything about the metric is checked here."""
    p = metric.p if isinstance(metric, Minkowski) else None
    if isinstance(metric, str):
        p = _MINKOWSKI.get(metric)
    if not (callable(metric) or p is not None):
        _check_name(metric)
    if sp.issparse(points) and not (callable(metric) or p in (1, 2) or metric == "cosine"):
        raise ValueError(
            f"metric: for sparse points expected one of {', '.join(_SPARSE)}, or a function of two rows; "
            f"got {metric!r}"
        )
    if p is not None:
        return Straight.around(points, p)
    if isinstance(metric, str) and metric == "cosine":
        _directions("points", points)  # refused now, not when they are first searched
        return Straight(2.0, directions=True)
    general = General(metric)
    first = general.enter("points", points[:2])
    if first.shape[0]:
        try:
            general.between(first, first, 1)
        except Exception as error:
            raise ValueError(f"metric: {metric!r} does not work on these points: {error}") from error
    return general


def _check_name(metric: Any) -> None:
    from sklearn.neighbors import VALID_METRICS

    known = set(VALID_METRICS["brute"]) - _NEED_PARAMETERS - _NOT_OURS
    if isinstance(metric, str) and metric in known:
        return
    scaled = isinstance(metric, str) and metric in _NEED_PARAMETERS
    hint = "; transform the points first and use 'euclidean'" if scaled else ""
    raise ValueError(
        f"metric: expected 'precomputed', Minkowski(p), a function of two points, or one of "
        f"{', '.join(sorted(known))}; got {metric!r}{hint}"
    )


def _boolean_metrics() -> list[str]:
    from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

    return list(PAIRWISE_BOOLEAN_FUNCTIONS)


def _directions(name: str, points: Any) -> Any:
    sizes = abs(points).max(axis=1)
    sizes = sizes.toarray().ravel() if sp.issparse(sizes) else sizes
    if not sizes.all():
        raise ValueError(
            f"{name}: row {int(np.flatnonzero(sizes == 0)[0])} is zero and has no direction, which 'cosine' "
            "compares; leave such rows out"
        )
    scaled = _divided(points, sizes)  # first to size 1, so that squares neither overflow nor vanish
    return _divided(scaled, _lengths(scaled, 2.0))


def _divided(points: Any, sizes: np.ndarray) -> Any:
    if not sp.issparse(points):
        return points / sizes[:, None]
    parts = (points.data / np.repeat(sizes, np.diff(points.indptr)), points.indices, points.indptr)
    return sp.csr_array(parts, shape=points.shape)


def _lengths(differences: Any, p: float) -> np.ndarray:
    if sp.issparse(differences):
        return differences.power(2).sum(axis=1) ** 0.5 if p == 2 else abs(differences).sum(axis=1)
    if p == 2:
        return np.sqrt(np.einsum("ij,ij->i", differences, differences))
    return np.linalg.norm(differences, ord=p, axis=1)


def _largest(points: Any) -> float:
    values = points.data if sp.issparse(points) else points
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))
