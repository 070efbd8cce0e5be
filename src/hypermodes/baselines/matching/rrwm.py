"""Reweighted random walks: a walk among candidates that jumps to where it would be one-to-one [CLL10].

References
----------
.. [CLL10] Cho, Lee & Lee, Reweighted Random Walks for Graph Matching, ECCV 2010.
"""

from typing import Any

import numpy as np

from hypermodes.baselines.matching.assignment import Assignment, best_assignment, sums_by
from hypermodes.baselines.matching.checks import affinity_of, check_steps
from hypermodes.construct.correspondences import Candidates


def rrwm(
    candidates: Candidates,
    affinity: Any,
    *,
    walking: float = 0.2,
    inflation: float = 30.0,
    tol: float = 1e-6,
    max_steps: int = 100,
) -> Assignment:
    """Walk to the quasi-stationary distribution of the association graph, then the best assignment.

    With W = M / max_i Σ_j M(i,j), so that the walk is absorbed where it has nowhere to go, a step is

        x̄ = W x,   y = S(exp(β x̄ / max x̄)),   x ← (α x̄ + (1 - α) y) / Σ(…),

    S being the Sinkhorn projection to sums of 1 for rows and columns, of at most 1 for the longer side.

    Parameters
    ----------
    candidates, affinity
        As for `spectral_matching`.
    walking : float
        α above, the share of steps along the affinity, 0.2 in the paper; the others are jumps.
    inflation : float
        β above, 30 in the paper.
    tol : float
        Ends when ||x - x'||₁ is below this.
    max_steps : int
        Most steps.

    Returns
    -------
    Assignment
        The scores are x, a distribution; the value is ||x - x'||₁ of the last step.
    """
    matrix = affinity_of(candidates, affinity)
    check_steps(max_steps)
    if not 0 < walking < 1 or not inflation > 0:
        raise ValueError(
            f"walking, inflation: expected a share and a positive number; got {walking!r}, {inflation!r}"
        )
    m = matrix.shape[0]
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    x = np.full(m, 1 / max(m, 1))
    if m == 0 or degree.max() == 0:
        return Assignment.of(candidates, x, np.empty(0), 0.0, 0)
    walk = matrix / degree.max()
    moved, steps = np.inf, 0
    while moved > tol and steps < max_steps:
        steps += 1
        before, x = x, reweighted_step(candidates, walk @ x, walking, inflation)
        moved = float(np.abs(x - before).sum())
    return Assignment.of(candidates, x, best_assignment(candidates, x), moved, steps)


def reweighted_step(
    candidates: Candidates, walked: np.ndarray, walking: float, inflation: float
) -> np.ndarray:
    """α x̄ + (1 - α) y, scaled to sum to 1; the jumps go where a matching would be."""
    if walked.max() <= 0:
        return np.full(len(walked), 1 / len(walked))
    y = bistochastic(candidates, np.exp(inflation * (walked / walked.max() - 1)))
    mixed = walking * walked / walked.sum() + (1 - walking) * y / y.sum()
    scaled: np.ndarray = mixed / mixed.sum()
    return scaled


def bistochastic(
    candidates: Candidates, x: np.ndarray, tol: float = 1e-3, max_rounds: int = 50
) -> np.ndarray:
    """Sinkhorn's projection: the sums of the shorter side are 1, those of the longer side at most 1.

    The longer side is balanced by slack points that take what is left, as many as the sides differ by.
    """
    left, right = candidates.left, candidates.right
    n_left, n_right = candidates.n_left, candidates.n_right
    if n_left > n_right:
        left, right, n_left, n_right = right, left, n_right, n_left
    slack = np.full(n_right, x.mean() * (n_right > n_left))  # one row that stands for all slack points alike
    spare = n_right - n_left
    for _ in range(max_rounds):
        x = x / _positive(sums_by(left, x, n_left))[left]
        if spare:
            slack = slack * spare / slack.sum()
        columns = _positive(sums_by(right, x, n_right) + slack)
        x, slack = x / columns[right], slack / columns
        rows = sums_by(left, x, n_left)
        if np.abs(rows[rows > 0] - 1).max(initial=0.0) <= tol:
            break
    return x


def _positive(sums: np.ndarray) -> np.ndarray:
    return np.where(sums > 0, sums, 1.0)
