"""Spectral matching: the leading eigenvector of the affinity of candidates, made one-to-one [LH05].

References
----------
.. [LH05] Leordeanu & Hebert, A Spectral Technique for Correspondence Problems, ICCV 2005.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.baselines.matching.assignment import Assignment, greedy_assignment
from hypermodes.baselines.matching.checks import affinity_of, check_steps
from hypermodes.construct.correspondences import Candidates


def spectral_matching(
    candidates: Candidates, affinity: Any, *, tol: float = 1e-9, max_steps: int = 2000
) -> Assignment:
    """Maximise xᵀMx / xᵀx, then take the candidates of largest x that are compatible.

    Parameters
    ----------
    candidates : Candidates
        The pairs to choose from.
    affinity : (m, m) symmetric, dense or sparse
        M ≥ 0; the diagonal does not count.
    tol : float
        The power iteration ends when ||Mx - λx|| ≤ tol λ.
    max_steps : int
        Most of its steps.

    Returns
    -------
    Assignment
        The scores are the eigenvector, of unit length and non-negative; the value is its eigenvalue.
    """
    matrix = affinity_of(candidates, affinity)
    check_steps(max_steps)
    x, value, steps = leading_eigenvector(matrix, tol, max_steps)
    return Assignment.of(candidates, x, greedy_assignment(candidates, x), value, steps)


def leading_eigenvector(
    matrix: sp.csr_array, tol: float = 1e-9, max_steps: int = 2000
) -> tuple[np.ndarray, float, int]:
    """The Perron vector by power iteration on M + sI from the uniform vector; its eigenvalue; the steps.

    The shift s = λ/10 keeps the iteration from swinging where the graph is bipartite, as M with eigenvalues
    λ and -λ would make it. Where M = 0 every vector will do, and the uniform one is given.
    """
    m = matrix.shape[0]
    x = np.full(m, 1 / np.sqrt(max(m, 1)))
    value = 0.0
    for step in range(max_steps):
        image = matrix @ x
        value = float(x @ image)
        if value == 0 or np.linalg.norm(image - value * x) <= tol * value:
            return x, value, step
        image += 0.1 * value * x
        x = image / np.linalg.norm(image)
    return x, value, max_steps
