"""Probabilistic (hyper)graph matching: marginals of the affinity, and the nearest soft matching [ZS08].

References
----------
.. [ZS08] Zass & Shashua, Probabilistic Graph and Hypergraph Matching, CVPR 2008.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_bipartite_matching

from hypermodes.baselines.matching.assignment import Assignment, greedy_assignment, sums_by
from hypermodes.baselines.matching.checks import affinity_of, check_steps
from hypermodes.baselines.matching.triples import Triples
from hypermodes.construct.correspondences import Candidates
from hypermodes.scalars import whole_number


def probabilistic_matching(
    candidates: Candidates,
    affinity: Any,
    *,
    n_matches: int | None = None,
    tol: float = 1e-4,
    max_steps: int = 300,
) -> Assignment:
    """Marginalise the affinity to single candidates, and find the soft matching nearest to the marginals.

    With Y_c the sum of the affinities of candidate c,

        minimise  Σ_c Y_c log(Y_c / X_c) - Y_c + X_c   subject to  X ≥ 0, sums of X at each point ≤ 1, ΣX = K,

    a convex problem with the solution X_c = Y_c / (α_i + β_j + γ) at c = (i, j), α, β ≥ 0 (`soft_matching`).

    Parameters
    ----------
    candidates : Candidates
        The pairs to choose from.
    affinity : Triples, or (m, m) symmetric, dense or sparse
        Of hyperedges, or of edges.
    n_matches : int, optional
        K; as many as candidates of positive Y allow if not given.
    tol : float
        Largest error of a constraint.
    max_steps : int
        Most rounds over the three kinds of constraint.

    Returns
    -------
    Assignment
        The K candidates of largest X that are compatible; the scores are X; the value is -Σ Y log(Y/X).
    """
    check_steps(max_steps)
    y = marginals(candidates, affinity)
    most = matching_number(candidates, y > 0)
    if n_matches is not None:
        most = min(most, whole_number("n_matches", n_matches, "a positive number of matches, or None"))
    if most == 0:
        return Assignment.of(candidates, np.zeros(len(y)), np.empty(0), 0.0, 0)
    x, steps = soft_matching(candidates, y, most, tol, max_steps)
    some = y > 0
    value = -float(y[some] @ np.log(y[some] / x[some])) if (x[some] > 0).all() else -np.inf
    return Assignment.of(candidates, x, greedy_assignment(candidates, x, most), value, steps)


def marginals(candidates: Candidates, affinity: Any) -> np.ndarray:
    """Y_c, scaled to a largest of 1: every edge or hyperedge of candidates counts for each of them."""
    if isinstance(affinity, Triples):
        y = np.bincount(affinity.members.ravel(), np.repeat(affinity.values, 3), affinity.n)
    else:
        y = np.asarray(affinity_of(candidates, affinity).sum(axis=1)).ravel()
    return y / y.max() if y.max(initial=0.0) > 0 else y


def matching_number(candidates: Candidates, there: np.ndarray) -> int:
    """The most candidates of these that can be chosen one-to-one."""
    ones = np.ones(int(there.sum()))
    shape = (candidates.n_left, candidates.n_right)
    graph = sp.csr_array((ones, (candidates.left[there], candidates.right[there])), shape=shape)
    return int((maximum_bipartite_matching(graph) >= 0).sum())


def soft_matching(
    candidates: Candidates, y: np.ndarray, total: float, tol: float, max_steps: int
) -> tuple[np.ndarray, int]:
    """X = Y / (α_i + β_j + γ): the multipliers by turns, each exactly, until all constraints hold.

    Each turn maximises the concave dual over one kind of multiplier, so this is coordinate ascent.
    """
    some = y > 0
    left, right, weights = candidates.left[some], candidates.right[some], y[some]
    alpha, beta = np.zeros(candidates.n_left), np.zeros(candidates.n_right)
    gamma, steps = float(weights.sum() / total), 0
    one = np.zeros(len(weights), dtype=np.int64)
    while steps < max_steps:
        steps += 1
        alpha = caps(weights, beta[right] + gamma, left, candidates.n_left)
        beta = caps(weights, alpha[left] + gamma, right, candidates.n_right)
        others = alpha[left] + beta[right]
        least = others.min()
        gamma = float(_roots(weights, others - least, one, np.array([total]), np.array([0.0]))[0] - least)
        found = weights / (others + gamma)
        over = max(sums_by(left, found, alpha.size).max(), sums_by(right, found, beta.size).max()) - 1
        if over <= tol:
            break
    x = np.zeros(len(y))
    x[some] = found
    return x, steps


def caps(weights: np.ndarray, others: np.ndarray, points: np.ndarray, n: int) -> np.ndarray:
    """The least multiplier α ≥ 0 at each point for which Σ weights / (α + others) ≤ 1 there."""
    floor = np.full(n, np.inf)
    np.minimum.at(floor, points, others)
    floor = np.where(np.isfinite(floor), floor, 0.0)
    root = _roots(weights, others - floor[points], points, np.ones(n), floor)
    return np.maximum(root - floor, 0.0)


def _roots(
    weights: np.ndarray, offsets: np.ndarray, points: np.ndarray, sums: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """t ≥ start with Σ_c weights_c / (t + offsets_c) = sums at each point; start where that is less.

    Newton's method on 1/Σ, which is concave and increasing: from the left it rises to the root and stays
    below. Offsets are not negative, so the root is at least weight / sum - offset for each term.
    """
    n = sums.size
    low = np.zeros(n)
    np.maximum.at(low, points, weights / sums[points] - offsets)
    t = np.maximum(low, start)
    for _ in range(60):
        inverse = 1 / (t[points] + offsets)  # never 1/0: t is as large as that term needs, or larger
        value = np.bincount(points, weights * inverse, n)
        slope = np.bincount(points, weights * inverse**2, n)
        step = np.where(value > sums, value * (value - sums) / (sums * np.where(slope > 0, slope, 1.0)), 0.0)
        t = t + step
        if (step <= 1e-12 * t).all():
            break
    return t
