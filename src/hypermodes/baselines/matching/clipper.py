"""The densest set of mutually consistent candidates, in the way of CLIPPER [LFH21].

References
----------
.. [LFH21] Lusk, Fathian & How, CLIPPER: A Graph-Theoretic Framework for Robust Data Association, ICRA 2021.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.baselines.matching.assignment import Assignment
from hypermodes.baselines.matching.checks import affinity_of, check_steps
from hypermodes.baselines.matching.ipfp import ipfp
from hypermodes.baselines.matching.spectral import leading_eigenvector
from hypermodes.construct.correspondences import Candidates

_ON_THE_WAY = 50  # steps for a penalty that is not the last


def clipper(candidates: Candidates, affinity: Any, *, tol: float = 1e-6, max_steps: int = 2000) -> Assignment:
    """Find a dense clique of the consistency graph: no two of its candidates have affinity 0.

    With M the affinity and 1 on its diagonal,

        maximise  uᵀMu / uᵀu   subject to  u ≥ 0,  u_i u_j = 0 wherever M(i,j) = 0.

    The constraint is a penalty d: F(u) = uᵀMu - d Σ_{M(i,j)=0} u_i u_j is maximised over unit vectors u ≥ 0
    by projected gradient ascent, from the leading eigenvector, and d grows until the support is a clique.

    Parameters
    ----------
    candidates, affinity
        As for `spectral_matching`; candidates in conflict must have affinity 0.
    tol : float
        Relative tolerance of the first-order conditions (`kkt_gap`).
    max_steps : int
        Most gradient steps for one d.

    Returns
    -------
    Assignment
        The ⌊uᵀMu + ½⌋ candidates of largest u, as in the paper (fewer if u has fewer); the scores are u, the
        value is uᵀMu. `clipper_ipfp` matches the rest too.
    """
    problem = Penalised.of(affinity_of(candidates, affinity))
    check_steps(max_steps)
    u, _, _ = leading_eigenvector(problem.matrix, 1e-4, 200)
    u, steps = densest_clique(problem, u, tol, max_steps)
    density = problem.value(u, 0.0)
    size = min(int(density + 0.5), int(np.count_nonzero(u)))
    chosen = np.argsort(-u, kind="stable")[:size]
    return Assignment.of(candidates, u, _compatible(candidates, chosen), density, steps)


def clipper_ipfp(candidates: Candidates, affinity: Any, **options: Any) -> Assignment:
    """`ipfp` from the clique of `clipper`, so that every point is matched that can be."""
    matrix = affinity_of(candidates, affinity)
    return ipfp(candidates, matrix, start=clipper(candidates, matrix, **options).scores)


@dataclass(frozen=True)
class Penalised:
    """F(u) = uᵀ(I + A)u - d uᵀC̄u; C̄ is 1 where A is 0 off the diagonal, and never formed."""

    matrix: sp.csr_array
    pattern: sp.csr_array

    @classmethod
    def of(cls, matrix: sp.csr_array) -> "Penalised":
        """From an affinity with zero diagonal."""
        pattern = matrix.copy()
        pattern.data = (pattern.data > 0).astype(float)
        return cls(matrix, pattern)

    def clash(self, u: np.ndarray) -> np.ndarray:
        """C̄u: for each candidate, the sum of u over those it is not consistent with."""
        return np.maximum(u.sum() - self.pattern @ u - u, 0.0)

    def gradient(self, u: np.ndarray, d: float) -> np.ndarray:
        """½∇F = u + Au - d C̄u."""
        return u + self.matrix @ u - (d * self.clash(u) if d else 0.0)

    def value(self, u: np.ndarray, d: float) -> float:
        """F(u)."""
        return float(u @ self.gradient(u, d))


def densest_clique(problem: Penalised, u: np.ndarray, tol: float, max_steps: int) -> tuple[np.ndarray, int]:
    """Ascend for growing d, until no two candidates of the support clash; the unit vector, and the steps."""
    d, total = 0.0, 0
    for _ in range(60):
        u, steps = ascend(problem, u, d, tol, min(max_steps, _ON_THE_WAY))
        total += steps
        clash = problem.clash(u)
        clashing = (u > 0) & (clash > 1e-9)
        if not clashing.any():
            break
        # Beyond the mean ratio, half of those that clash lose: the field thins out gently.
        reward = u + problem.matrix @ u
        d = max(2 * d, float(np.mean(reward[clashing] / clash[clashing])))
    else:
        u = without_clashes(problem, u)  # equals that stand on a ridge between two cliques
    u, steps = ascend(problem, u, d, tol, max_steps)
    return u, total + steps


def without_clashes(problem: Penalised, u: np.ndarray) -> np.ndarray:
    """The largest u, the next largest that is consistent with it, and so on; of unit length."""
    open_to = u > 0
    kept: list[int] = []
    for c in np.argsort(-u, kind="stable"):
        if open_to[c]:
            kept.append(int(c))
            consistent = np.zeros(len(u), dtype=bool)
            row = slice(problem.pattern.indptr[c], problem.pattern.indptr[c + 1])
            consistent[problem.pattern.indices[row]] = problem.pattern.data[row] > 0
            open_to &= consistent
    v = np.zeros(len(u))
    v[kept] = u[kept]
    return v / np.linalg.norm(v)


def ascend(problem: Penalised, u: np.ndarray, d: float, tol: float, max_steps: int) -> tuple[np.ndarray, int]:
    """Projected gradient ascent on unit vectors u ≥ 0: u ← (u + α∇F)₊ / ||·||, α by backtracking."""
    alpha = 1.0
    gradient = problem.gradient(u, d)
    value = float(u @ gradient)
    for step in range(max_steps):
        if kkt_gap(u, gradient) <= tol * max(abs(value), 1.0):
            return u, step
        while True:
            moved = np.maximum(u + alpha * gradient, 0.0)
            norm = float(np.linalg.norm(moved))
            if norm > 0:
                moved /= norm
                moved[moved < 1e-9] = 0.0
                moved /= np.linalg.norm(moved)
                following = problem.gradient(moved, d)
                reached = float(moved @ following)
                if reached >= value:
                    break
            alpha /= 2
            if alpha < 1e-12:
                return u, step
        u, gradient, value = moved, following, reached
        alpha = min(2 * alpha, 1e6)
    return u, max_steps


def kkt_gap(u: np.ndarray, gradient: np.ndarray) -> float:
    """How far u is from a first-order point on the unit sphere with u ≥ 0, g = ½∇F(u), λ = uᵀg.

    max( max_{u_i>0} |g_i - λ u_i|, max_{u_i=0} g_i ): zero or less exactly at such points.
    """
    residual = gradient - float(u @ gradient) * u
    return float(np.where(u > 0, np.abs(residual), residual).max(initial=0.0))


def _compatible(candidates: Candidates, chosen: np.ndarray) -> np.ndarray:
    """Without those that share a point with a stronger one, should the ascent have ended early."""
    used: tuple[set[int], set[int]] = (set(), set())
    kept = []
    for c in chosen:
        i, j = candidates.pairs[c]
        if i not in used[0] and j not in used[1]:
            used[0].add(i)
            used[1].add(j)
            kept.append(c)
    return np.array(kept, dtype=np.int64)
