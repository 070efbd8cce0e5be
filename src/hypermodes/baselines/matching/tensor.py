"""Tensor matching: power iteration on a third-order affinity of candidates [DBKP11].

References
----------
.. [DBKP11] Duchenne, Bach, Kweon & Ponce, A Tensor-Based Algorithm for High-Order Graph Matching, PAMI 2011.
"""

import numpy as np

from hypermodes.baselines.matching.assignment import Assignment, best_assignment, sums_by
from hypermodes.baselines.matching.checks import check_steps
from hypermodes.baselines.matching.triples import Triples
from hypermodes.construct.correspondences import Candidates

_DEAD = 1e-12  # of a row that sums to 1; shares are multiplied, so what is this small never comes back


def tensor_matching(
    candidates: Candidates, triples: Triples, *, tol: float = 1e-6, max_steps: int = 100
) -> Assignment:
    """Maximise Σ H(a,b,c) x_a x_b x_c, the rows of x of unit length one, sparse by x = y².

    The paper's second algorithm: with x = y∘y and the rows of y of unit Euclidean length (so the rows of x
    sum to 1, and answers are sparse),

        y ← N( y ∘ H(y∘y, y∘y, ·) ),

    N scaling each row, i.e. the candidates of one left point. y is the square root of a distribution a row.

    Parameters
    ----------
    candidates : Candidates
        The pairs to choose from.
    triples : Triples
        H, from `triples.triangle_triples` or anything else.
    tol : float
        Ends when no x changes by more.
    max_steps : int
        Most steps.

    Returns
    -------
    Assignment
        The scores are x; the value is H x x x.
    """
    check_steps(max_steps)
    left, n_left = candidates.left, candidates.n_left
    x = 1 / sums_by(left, np.ones(len(left)), n_left)[left]
    moved, steps, alive = np.inf, 0, triples
    while moved > tol and steps < max_steps:
        steps += 1
        before, x = x, power_step(candidates, alive, x)
        moved = np.abs(x - before).max(initial=0.0)
        alive = alive.among(x, _DEAD)
    return Assignment.of(candidates, x, best_assignment(candidates, x), triples.value(x), steps)


def power_step(candidates: Candidates, triples: Triples, x: np.ndarray) -> np.ndarray:
    """One step, in terms of x = y∘y; a left point without any triple keeps its row."""
    left, n_left = candidates.left, candidates.n_left
    grown = x * triples.contract(x) ** 2
    sums = sums_by(left, grown, n_left)
    moved: np.ndarray = np.where(sums[left] > 0, grown / np.where(sums > 0, sums, 1.0)[left], x)
    return moved
