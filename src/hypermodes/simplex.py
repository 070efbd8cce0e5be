"""Points of the simplex and what the paper measures on them: density, affinity, support. Eq. (3)-(7)."""

from typing import NamedTuple

import numpy as np

from hypermodes.affinity import Affinity


class Point(NamedTuple):
    """A distribution over hyperedges together with its payoff, so that one product serves every question."""

    p: np.ndarray
    """Probabilities, on the simplex."""
    payoff: np.ndarray
    """M p: the affinity m(p, I_i) of each hyperedge to the point, always in step with ``p``."""


def density(point: Point) -> float:
    """F(p) = pᵀ M p, Eq. (3): how strongly the hyperedges of a point hold together, on average."""
    return float(point.p @ point.payoff)


def mutual_affinity(affinity: Affinity, x: np.ndarray, y: np.ndarray) -> float:
    """m(x, y) = xᵀ M y, the affinity of two distributions over hyperedges."""
    return float(x @ affinity.matvec(y))


def support(p: np.ndarray) -> np.ndarray:
    """θ(p), the indices of the non-zero entries, sorted. Meaningful once `trim` has made zeros exact."""
    return np.flatnonzero(p)


def spread(point: Point) -> float:
    """Largest |(Mp)_i - F| on the support: zero where the first line of Eq. (7) holds."""
    inside = point.p > 0
    return float(np.abs(point.payoff[inside] - density(point)).max(initial=0.0))


def excess(point: Point) -> float:
    """Largest (Mp)_j - F off the support, at least 0: zero where the second line of Eq. (7) holds."""
    outside = point.p == 0
    return float((point.payoff[outside] - density(point)).max(initial=0.0))


def negligible(point: Point, tol: float) -> np.ndarray:
    """Entries at most ``tol`` times the largest, with a payoff at most (1 + tol) F.

    To drop mass ε with payoff r changes F by about 2ε(F - r): dropping these cannot lower F by more
    than 2 tol² F each.
    """
    return (point.p <= tol * point.p.max()) & (point.payoff <= density(point) * (1 + tol))


def trim(point: Point, affinity: Affinity, tol: float) -> Point:
    """Decide the support θ(p): drop what is negligible and not gaining, keep the payoff true.

    Replicator dynamics never reaches zero, so the support is a decision; it is made here and nowhere
    else (departures.md#support).
    """
    p = trimmed(point, tol)
    return Point(p, affinity.matvec(p))


def trimmed(point: Point, tol: float) -> np.ndarray:
    """The probabilities of a point without what is `negligible`, scaled to sum 1."""
    p = np.where(negligible(point, tol), 0.0, point.p)
    return p / p.sum()


def room(p: np.ndarray, direction: np.ndarray) -> tuple[float, np.ndarray]:
    """How far p can move along a direction before an entry turns negative, and which entries vanish there."""
    falling = direction < 0
    limits = np.full(p.shape, np.inf)
    limits[falling] = p[falling] / -direction[falling]
    furthest = float(limits.min(initial=np.inf))
    return furthest, np.flatnonzero(limits <= furthest * (1 + 1e-12))
