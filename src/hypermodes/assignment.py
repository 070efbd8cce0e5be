"""One-to-one choices among candidate correspondences, and climbing from one to a better one."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from hypermodes.construct.correspondences import Candidates

_LARGEST_EXACT = 1_000_000  # entries of the table of scores up to which assignments are exact


def assign(candidates: Candidates, scores: np.ndarray) -> np.ndarray:
    """Candidates without conflict and with the largest total score, as 0 and 1; none with a score of 0.

    Exact up to a million pairs of points; beyond that the best candidate first, which is at least half as
    good.
    """
    chosen = np.zeros(len(candidates))
    if candidates.n_left * candidates.n_right > _LARGEST_EXACT:
        chosen[greedily(candidates, scores)] = 1.0
        return chosen
    table = np.zeros((candidates.n_left, candidates.n_right))
    table[candidates.left, candidates.right] = scores
    rows, columns = linear_sum_assignment(table, maximize=True)
    table[:] = 0.0
    table[rows, columns] = 1.0
    chosen = table[candidates.left, candidates.right]
    chosen[scores <= 0] = 0.0
    return chosen


def greedily(candidates: Candidates, scores: np.ndarray, limit: int | None = None) -> np.ndarray:
    """Positions of candidates taken by falling score, those in conflict with a taken one passed over."""
    left_free, right_free = np.ones(candidates.n_left, bool), np.ones(candidates.n_right, bool)
    taken: list[int] = []
    order = np.argsort(-scores, kind="stable")
    for c in order[scores[order] > 0].tolist():
        i, a = candidates.pairs[c]
        if left_free[i] and right_free[a]:
            left_free[i] = right_free[a] = False
            taken.append(c)
            if len(taken) == limit:
                break
    return np.array(taken, dtype=np.int64)


def payoffs(affinity: sp.csr_array, x: np.ndarray) -> np.ndarray:
    """A x for a symmetric A, from the rows of those that x has: a choice has few of all candidates.

    The sums are the same to the last bit: terms that are 0 are left out, the others keep their order.
    """
    present = np.flatnonzero(x)
    if 4 * present.size > x.size:
        return affinity @ x
    from hypermodes._kernels.consistency import add_rows

    total = np.zeros(x.size)
    add_rows(affinity.indptr, affinity.indices, affinity.data, present, x[present], total)
    return total


def climb(
    candidates: Candidates,
    affinity: sp.csr_array,
    start: np.ndarray,
    agreement: np.ndarray | None = None,
    max_steps: int = 50,
) -> np.ndarray:
    """From a soft choice x to a one-to-one choice that is locally best for xᵀAx.

    Integer projected fixed point (Leordeanu, Hebert and Sukthankar, 2009): b is the assignment best for A x;
    x moves towards b as far as xᵀAx rises; the best b met is the answer. With ``agreement`` u, A is
    A(i,j) u_i u_j.
    """
    weight = np.ones(len(candidates)) if agreement is None else agreement
    x, best, best_value = start.astype(np.float64), np.zeros(len(candidates)), -1.0
    payoff = weight * payoffs(affinity, weight * x)
    for _ in range(max_steps):
        b = assign(candidates, payoff)
        payoff_b = weight * payoffs(affinity, weight * b)
        value = float(b @ payoff_b)
        if value > best_value * (1 + 1e-12):
            best, best_value = b, value
        step = b - x
        slope = float(step @ payoff)
        if slope <= 1e-12 * max(best_value, 1e-300):
            break
        bend = float(step @ (payoff_b - payoff))
        length = 1.0 if bend >= 0 else min(1.0, -slope / bend)
        x = b if length == 1.0 else x + length * step
        payoff = payoff_b if length == 1.0 else payoff + length * (payoff_b - payoff)
    return best
