"""Integer projected fixed point: climb to a matching through matchings [LHS09].

References
----------
.. [LHS09] Leordeanu, Hebert & Sukthankar, An Integer Projected Fixed Point Method for Graph Matching and MAP
   Inference, NIPS 2009.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.baselines.matching.assignment import Assignment, best_assignment, indicator, sums_by
from hypermodes.baselines.matching.checks import affinity_of, check_steps, start_of
from hypermodes.baselines.matching.spectral import leading_eigenvector
from hypermodes.construct.correspondences import Candidates


def ipfp(
    candidates: Candidates, affinity: Any, *, start: np.ndarray | None = None, max_steps: int = 50
) -> Assignment:
    """Maximise xᵀMx over one-to-one matchings, by Frank-Wolfe steps over their convex hull.

    b maximises bᵀMx over matchings (the Hungarian algorithm), and x ← x + r (b - x) with the best r in
    [0, 1]: with C = xᵀM(b - x) and D = (b - x)ᵀM(b - x), r = min{-C/D, 1} if D < 0, else 1. Ends where C = 0.

    Parameters
    ----------
    candidates, affinity
        As for `spectral_matching`.
    start : (m,) float, optional
        Where to begin; it is made doubly substochastic first. All candidates alike if not given.
    max_steps : int
        Most steps; usually fewer than 10 are needed.

    Returns
    -------
    Assignment
        The best matching b on the way; the scores are the last x, and the value is bᵀMb.
    """
    matrix = affinity_of(candidates, affinity)
    check_steps(max_steps)
    x = substochastic(candidates, start_of(candidates, start))
    x, chosen, value, steps = climb(candidates, matrix, x, max_steps)
    return Assignment.of(candidates, x, chosen, value, steps)


def spectral_ipfp(candidates: Candidates, affinity: Any, *, max_steps: int = 50) -> Assignment:
    """`ipfp` from the leading eigenvector, balanced by twenty rounds of row and column normalisation."""
    matrix = affinity_of(candidates, affinity)
    return ipfp(candidates, matrix, start=leading_eigenvector(matrix, 1e-6, 200)[0], max_steps=max_steps)


def climb(
    candidates: Candidates, matrix: sp.csr_array, x: np.ndarray, max_steps: int
) -> tuple[np.ndarray, np.ndarray, float, int]:
    """From x to a fixed point; it, the best matching on the way, its value, and the steps."""
    best, value = np.empty(0, dtype=np.int64), -1.0
    rewards = matrix @ x
    for step in range(max_steps):
        chosen = best_assignment(candidates, rewards)
        b = indicator(len(x), chosen)
        image = matrix @ b
        if (score := float(b @ image)) > value:
            best, value = chosen, score
        slope = float(rewards @ (b - x))
        curvature = float((image - rewards) @ (b - x))
        if slope <= 1e-12 * max(float(x @ rewards), 1e-300):
            return x, best, value, step
        length = 1.0 if curvature >= 0 else min(-slope / curvature, 1.0)
        x = b if length == 1 else x + length * (b - x)
        rewards = image if length == 1 else rewards + length * (image - rewards)
    return x, best, value, max_steps


def substochastic(candidates: Candidates, x: np.ndarray, rounds: int = 20) -> np.ndarray:
    """Balance rows and columns by turns, and see that none sums to more than 1 in the end."""
    left, right = candidates.left, candidates.right
    for _ in range(rounds):
        x = x / _positive(sums_by(left, x, candidates.n_left))[left]
        x = x / _positive(sums_by(right, x, candidates.n_right))[right]
    x = x / np.maximum(sums_by(left, x, candidates.n_left), 1.0)[left]
    return x / np.maximum(sums_by(right, x, candidates.n_right), 1.0)[right]


def _positive(sums: np.ndarray) -> np.ndarray:
    return np.where(sums > 0, sums, 1.0)
