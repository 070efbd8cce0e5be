"""Hyperedges of correspondences that one homography explains: several surfaces or objects among outliers.

Here correspondences are given, most of them perhaps wrong, and the question is which belong together. A
homography is fitted to the neighbourhood of each correspondence, and to what it explains in turn; how many it
explains how well is weighed against chance, which also says where to draw the line: no threshold is set.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.spatial import ConvexHull, QhullError
from scipy.special import gammaln

from hypermodes.hypergraph import Hypergraph

_NEIGHBOURS = (8, 16)  # correspondences a homography is first fitted to
_MOST = 250  # neighbourhoods looked at; of more, every second, third, … in the order of their density
_REFITS = 4  # times it is fitted to what it explains
_UNKNOWNS = 4  # correspondences that a homography is made of
_EXACT = 0.002  # errors below this, in units of the spread, are as good as none


@dataclass(frozen=True)
class Structures:
    """Homographies of correspondences, what they explain, and how significant that is."""

    explained: np.ndarray  # (h, n) bool
    probability: np.ndarray  # (h, n): that a correspondence belongs
    significance: np.ndarray  # (h,): minus the logarithm of the number of false alarms

    def hypergraph(self) -> Hypergraph | None:
        """Significant structures as hyperedges, weighted by their significance."""
        good = np.flatnonzero(self.significance > 0)
        if good.size < 2:
            return None
        probability = np.where(self.explained[good], np.clip(self.probability[good], 1e-3, 1.0), 0.0)
        incidence = sp.csc_array(probability.T)
        rate = (self.significance[good] / self.significance[good].max()) ** 2
        return Hypergraph.from_incidence(incidence, rate * incidence.sum(axis=0), labels=good.tolist())


def homographies(
    left: np.ndarray,
    right: np.ndarray,
    free: np.ndarray,
    begin: np.ndarray | None = None,
    tolerance: float = 0.1,
) -> Structures:
    """Fit a homography around every free correspondence and see what it explains.

    Parameters
    ----------
    left, right : (n, 2) float
        Both ends of each correspondence.
    free : (n,) bool
        Correspondences that may be explained; the others are left out.
    begin : (h, n) float, optional
        Weights of correspondences to fit to first, instead of neighbourhoods.
    tolerance : float
        No correspondence that errs by more than this, in units of the spread of a side, is explained.
    """
    sides = [_normalised(side) for side in (left, right)]
    n = int(free.sum())
    rows = _equations(*sides)
    squares = np.einsum("nij,nik->njk", rows, rows).reshape(len(left), 81)
    weights = _neighbourhoods(sides, free) if begin is None else begin * free
    area = _areas(sides)
    for _ in range(_REFITS):
        _, vectors = np.linalg.eigh((weights @ squares).reshape(-1, 9, 9))
        errors = _errors(vectors[:, :, 0].reshape(-1, 3, 3), *sides)
        errors[:, ~free] = np.inf
        explained, reach, significance = _explained(errors, n, area, tolerance**2)
        probability = np.exp(-errors / np.maximum(reach, _EXACT**2)[:, None])
        weights = np.where(explained, probability, 0.0)
        weights[weights.sum(axis=1) == 0] = 1.0 * free
    return Structures(explained, probability, significance)


def on_a_line(points: np.ndarray) -> bool:
    """Whether points lie on one line, or in one place: then they fix no homography."""
    centred = points - points.mean(axis=0)
    largest = float(np.abs(centred).max())
    if largest == 0:
        return True
    spread = np.linalg.svd(centred / largest, compute_uv=False)
    return bool(spread[1] <= 1e-9 * spread[0])


def _normalised(points: np.ndarray) -> np.ndarray:
    centred = points - points.mean(axis=0)
    centred /= np.abs(centred).max()  # squares of tiny numbers vanish
    return centred / np.sqrt((centred**2).sum(axis=1).mean() / 2)


def _areas(sides: list[np.ndarray]) -> float:
    """Area that an end may lie in, the mean of both sides."""
    return float(np.mean([_smallest_rectangle(side) for side in sides]))


def _smallest_rectangle(points: np.ndarray) -> float:
    """Area of the smallest rectangle around points, however it is turned.

    One of its sides is along an edge of the convex hull (Freeman and Shapira, 1975).
    """
    try:
        corners = points[ConvexHull(points).vertices]
    except QhullError:  # as good as on a line
        return float(np.prod(np.ptp(points, axis=0)))
    edges = np.roll(corners, -1, axis=0) - corners
    edges /= np.linalg.norm(edges, axis=1, keepdims=True)
    along, across = corners @ edges.T, corners @ np.column_stack((-edges[:, 1], edges[:, 0])).T
    return float((np.ptp(along, axis=0) * np.ptp(across, axis=0)).min())


def _neighbourhoods(sides: list[np.ndarray], free: np.ndarray) -> np.ndarray:
    ends = np.hstack(sides)
    inside = np.flatnonzero(free)
    squared = ((ends[inside, None, :] - ends[None, inside, :]) ** 2).sum(axis=2)
    order = np.argsort(squared, axis=1, kind="stable")[:, : _NEIGHBOURS[-1] + 1]
    reach = np.take_along_axis(squared, order, axis=1)[:, -1]
    begin = np.sort(np.argsort(reach, kind="stable")[:: -(-inside.size // _MOST)])  # dense places and others
    weights = np.zeros((len(_NEIGHBOURS) * begin.size, len(free)))
    for part, size in enumerate(_NEIGHBOURS):
        near = inside[order[begin, : size + 1]]
        np.put_along_axis(weights[part * begin.size : (part + 1) * begin.size], near, 1.0, axis=1)
    return weights


def _equations(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The two rows that a correspondence adds to the linear system of a homography (n, 2, 9)."""
    ones, zeros = np.ones((len(left), 1)), np.zeros((len(left), 3))
    here = np.hstack((left, ones))
    first = np.hstack((here, zeros, -right[:, :1] * here))
    second = np.hstack((zeros, here, -right[:, 1:] * here))
    return np.stack((first, second), axis=1)


def _errors(maps: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Squared transfer errors of all correspondences, the larger of both directions (h, n)."""
    worst = np.zeros((len(maps), len(left)))
    with np.errstate(all="ignore"):
        determinants = np.linalg.det(maps)
        usable = np.abs(determinants) > 1e-12
        inverse = np.zeros_like(maps)
        inverse[usable] = np.linalg.inv(maps[usable])
        for matrix, source, target in ((maps, left, right), (inverse, right, left)):
            there = np.einsum("hij,nj->hni", matrix, np.hstack((source, np.ones((len(source), 1)))))
            places = there[:, :, :2] / there[:, :, 2:]
            worst = np.maximum(worst, ((places - target) ** 2).sum(axis=2))
    worst[~usable] = np.inf
    return np.where(np.isfinite(worst), worst, np.inf)


def _explained(
    errors: np.ndarray, n: int, area: float, largest: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What each homography explains: the k best, k where the number of false alarms is smallest.

    log NFA(k) = log n + log C(n,k) + log C(k,4) + (k - 4) log α_k, where α_k = π e_k/area is the probability
    that a wrong correspondence errs by no more than the k-th best (Moisan and Stival, 2004).
    At least 8 are needed, twice as many as fix it.
    """
    ordered = np.sort(errors, axis=1)[:, :n]
    k = np.arange(1, n + 1)
    combinations = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    samples = gammaln(k + 1) - gammaln(_UNKNOWNS + 1) - gammaln(np.maximum(k - _UNKNOWNS, 0) + 1)
    chance = np.minimum(np.pi * np.maximum(ordered, _EXACT**2) / area, 1.0)
    alarms = np.log(n) + combinations + samples + (k - _UNKNOWNS) * np.log(chance)
    alarms[ordered > largest] = np.inf
    alarms[:, : 2 * _UNKNOWNS - 1] = np.inf
    best = np.argmin(alarms, axis=1)
    row = np.arange(len(errors))
    reach = ordered[row, best]
    significance = -alarms[row, best]
    return (
        (errors <= reach[:, None]) & np.isfinite(significance)[:, None],
        np.minimum(reach, 1.0),
        significance,
    )
