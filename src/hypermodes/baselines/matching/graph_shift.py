"""Graph shift on the graph of correspondences: its densest mode is the matching [LY10].

References
----------
.. [LY10] Liu & Yan, Robust Graph Mode Seeking by Graph Shift, ICML 2010.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.baselines.graph_shift import shift_from
from hypermodes.baselines.matching.assignment import Assignment, greedy_assignment
from hypermodes.baselines.matching.checks import affinity_of, check_steps
from hypermodes.baselines.matching.ipfp import ipfp
from hypermodes.construct.correspondences import Candidates


def graph_shift_matching(
    candidates: Candidates, affinity: Any, *, n_starts: int = 10, tol: float = 1e-3, max_steps: int = 200
) -> Assignment:
    """Shift the most promising candidates to modes of f(x) = xᵀMx on the simplex; the densest is the answer.

    Parameters
    ----------
    candidates, affinity
        As for `spectral_matching`.
    n_starts : int
        Candidates to start from: of each left point the one with the largest row sum, the best of these.
        (The paper starts from all; with thousands of candidates that takes minutes.)
    tol, max_steps
        As for `baselines.graph_shift.graph_shift`.

    Returns
    -------
    Assignment
        The matches are the support of the densest mode, made one-to-one; the scores are its shares, the value
        is its density. Points outside the mode stay unmatched: `graph_shift_ipfp` matches the rest too.
    """
    matrix = affinity_of(candidates, affinity)
    check_steps(max_steps)
    starts = promising(candidates, matrix, n_starts)
    if starts.size == 0:
        return Assignment.of(candidates, np.zeros(len(candidates)), np.empty(0), 0.0, 0)
    x, iterations = shift_from(matrix, starts, tol, max_steps, max_rounds=20)
    values = np.asarray(x.multiply(x @ matrix).sum(axis=1)).ravel()
    mode = x[[int(np.argmax(values))]].toarray()[0]
    return Assignment.of(candidates, mode, greedy_assignment(candidates, mode), values.max(), iterations)


def graph_shift_ipfp(candidates: Candidates, affinity: Any, **options: Any) -> Assignment:
    """`ipfp` from the densest mode of `graph_shift_matching`, so that every point is matched that can be."""
    matrix = affinity_of(candidates, affinity)
    mode = graph_shift_matching(candidates, matrix, **options)
    return ipfp(candidates, matrix, start=mode.scores)


def promising(candidates: Candidates, matrix: sp.csr_array, n_starts: int) -> np.ndarray:
    """The candidate of largest row sum of each left point, the best ``n_starts`` of these, ascending."""
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    order = np.lexsort((np.arange(degree.size), -degree, candidates.left))
    first = order[np.unique(candidates.left[order], return_index=True)[1]]
    first = first[degree[first] > 0]
    best: np.ndarray = np.sort(first[np.argsort(-degree[first], kind="stable")[:n_starts]])
    return best
