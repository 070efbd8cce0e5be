"""Dominant sets, one after the other: find one, take it away, look again [PP07].

References
----------
.. [PP07] Pavan & Pelillo, Dominant Sets and Pairwise Clustering, PAMI 29(1), 2007.
.. [RPB11] Rota Bulò, Pelillo & Bomze, Graph-based quadratic optimization: a fast evolutionary
   approach, CVIU 115(7), 2011.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.baselines.pairwise import matrix_of, nash_error
from hypermodes.baselines.readout import check_budget, without_small
from hypermodes.partition import OUTLIER, Group, Partition

_REFRESH = 1000  # steps between two fresh products


def dominant_sets(
    subject: Any, *, tol: float = 1e-7, max_steps: int = 100_000, min_members: int = 2
) -> Partition:
    """Peel off dominant sets until nothing with any affinity is left.

    S is dominant [PP07] exactly if its weighted characteristic vector x^S is a strict local maximiser of
    f(x) = xᵀAx on the simplex. From the barycentre of what is left, infection-immunization dynamics
    (`infect`) climbs to a point of Nash error ε(x) ≤ tol; if f bends upwards inside its support
    it is a saddle, and is left along the steepest direction (`escape`). The support is a cluster.

    Parameters
    ----------
    subject : Hypergraph, Affinity, dense or sparse symmetric matrix
        A hypergraph stands for the affinity of its hyperedges.
    tol : float
        Stop at ε(x) = (Σ_i min{x_i, 1 - r_i/λ}²)^½ ≤ tol; shares below their own 1 - r_i/λ are then 0.
    max_steps : int
        Steps for one dominant set.
    min_members : int
        Smaller clusters are outliers, and so is what has no affinity to anything left.

    Returns
    -------
    Partition
        Of the rows of A. The probability of a member is x_i / max x; the value of a group is f; starts
        are dominant sets found, iterations all steps.

    Notes
    -----
    O(n) and one row of A a step.

    Examples
    --------
    >>> dominant_sets(np.array([[0, 3, 1, 0], [3, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]])).labels
    array([ 0,  0, -1, -1])
    """
    check_budget(tol, max_steps)
    matrix = matrix_of(subject)
    n = matrix.shape[0]
    labels, probabilities = np.full(n, OUTLIER, dtype=np.int64), np.zeros(n)
    groups: list[Group] = []
    left, iterations = np.arange(n), 0
    while True:
        left = left[np.diff(matrix.indptr) > 0]
        matrix = submatrix(matrix, np.flatnonzero(np.diff(matrix.indptr)))
        if left.size == 0:
            break
        x, steps = dominant_set(matrix, tol, max_steps)
        iterations += steps
        inside = np.flatnonzero(x)
        labels[left[inside]] = len(groups)
        probabilities[left[inside]] = x[inside] / x.max()
        groups.append(Group(left[inside], x[inside], float(x @ (matrix @ x))))
        rest = np.flatnonzero(x == 0)
        left, matrix = left[rest], submatrix(matrix, rest)
    labels, probabilities = without_small(labels, probabilities, min_members)
    return Partition.ranked(labels, probabilities, groups, iterations, len(groups))


def dominant_set(matrix: sp.csr_array, tol: float, max_steps: int) -> tuple[np.ndarray, int]:
    """Climb from the barycentre to a local maximiser of f; the point, and the steps it took."""
    x = np.full(matrix.shape[0], 1 / matrix.shape[0])
    rewards = matrix @ x
    for step in range(max_steps):
        if nash_error(x, rewards) <= tol:
            x = without_dust(x, rewards)
            moved = escape(matrix, x, tol)
            if moved is x:
                return x, step
            x, rewards = moved, matrix @ moved
        else:
            x, rewards = infect(matrix, x, rewards)
            if step % _REFRESH == _REFRESH - 1:
                rewards = matrix @ x
    return x, max_steps


def without_dust(x: np.ndarray, rewards: np.ndarray) -> np.ndarray:
    """Drop the shares x_i < 1 - r_i/λ: within the Nash error, they are off the support."""
    kept = np.where(x < 1 - rewards / (x @ rewards), 0.0, x)
    return kept / kept.sum()


def infect(matrix: sp.csr_array, x: np.ndarray, rewards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One step of infection-immunization dynamics [RPB11]; the point and its rewards.

    With gains g_i = r_i - λ, let k be the best vertex or, if it is further from 0, the worst of the support.
    Move along e_k - x by the amount μ that raises f most,

        f(x + μ(e_k - x)) - f(x) = 2 μ g_k + μ² q,   q = (e_k - x)ᵀA(e_k - x) = λ - 2 r_k,

    with 0 < μ ≤ 1 towards the best, x_k/(x_k - 1) ≤ μ < 0 away from the worst.
    """
    value = x @ rewards
    gain = rewards - value
    best = int(gain.argmax())
    worst = int(np.where(x > 0, gain, np.inf).argmin())
    k, furthest = best, 1.0
    if gain[best] < -gain[worst] and x[worst] < 1:
        k, furthest = worst, x[worst] / (x[worst] - 1)
    q = value - 2 * rewards[k]
    reaches = q >= 0 or abs(gain[k]) >= abs(furthest * q)
    amount = furthest if reaches else -gain[k] / q
    x = (1 - amount) * x
    x[k] = 0.0 if reaches and furthest < 0 else x[k] + amount
    rewards = (1 - amount) * rewards
    row = slice(matrix.indptr[k], matrix.indptr[k + 1])
    rewards[matrix.indices[row]] += amount * matrix.data[row]
    return x, rewards


def escape(matrix: sp.csr_array, x: np.ndarray, tol: float) -> np.ndarray:
    """Leave a saddle along the direction of its support in which f bends upwards most; x itself if none.

    Among the moves d inside the support with Σd = 0, the top eigenvector of A is followed until the first
    share vanishes. At a dominant set every such move bends downwards.
    """
    inside = np.flatnonzero(x)
    if inside.size < 2:
        return x
    face = matrix[inside][:, inside].toarray()
    centred = face - face.mean(axis=0) - face.mean(axis=1)[:, None] + face.mean()
    curvature, axes = np.linalg.eigh(centred)
    if curvature[-1] <= max(tol, 1e-10) * face.max():
        return x
    direction = axes[:, -1] - axes[:, -1].mean()
    direction *= np.sign(direction[np.abs(direction).argmax()])
    # All rewards are equal, so f rises as fast either way: take the longer one.
    if (-x[inside] / direction)[direction < 0].min() < (x[inside] / direction)[direction > 0].min():
        direction = -direction
    falling = direction < 0
    limits = np.full(inside.size, np.inf)
    limits[falling] = x[inside][falling] / -direction[falling]
    moved = x.copy()
    moved[inside] = np.maximum(x[inside] + limits.min() * direction, 0.0)
    moved[inside[limits <= limits.min() * (1 + 1e-12)]] = 0.0
    return moved / moved.sum()


def submatrix(matrix: sp.csr_array, kept: np.ndarray) -> sp.csr_array:
    """The matrix of some of the rows and the same columns."""
    return matrix if kept.size == matrix.shape[0] else matrix[kept][:, kept]
