"""From scores of candidates to a one-to-one matching, in the two ways that the methods use.

Both give positions in the list of candidates. A candidate whose score is not positive is never taken.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from hypermodes.construct.correspondences import Candidates


@dataclass(frozen=True, eq=False)
class Assignment:
    """What a matching method answers.

    Attributes
    ----------
    scores : (m,) float
        The soft answer: how strongly each candidate is believed, in the method's own unit.
    chosen : (k,) int64
        The hard answer: candidates, ascending, no two of which share a point.
    pairs : (k, 2) int64
        The same, as [left, right].
    value : float
        The method's own objective, at the soft answer.
    iterations : int
        Steps to get there.
    """

    scores: np.ndarray
    chosen: np.ndarray
    pairs: np.ndarray
    value: float
    iterations: int

    @classmethod
    def of(
        cls, candidates: Candidates, scores: np.ndarray, chosen: np.ndarray, value: float, iterations: int
    ) -> "Assignment":
        """Look the pairs up."""
        chosen = np.sort(np.asarray(chosen, dtype=np.int64))
        return cls(scores, chosen, candidates.pairs[chosen], float(value), iterations)

    def __repr__(self) -> str:
        return f"Assignment({len(self.chosen)} pairs, value {self.value:.4g}, {self.iterations} iterations)"


def best_assignment(candidates: Candidates, scores: np.ndarray) -> np.ndarray:
    """The one-to-one set of candidates of largest total score (the Hungarian algorithm).

    A pair of points that is no candidate counts as a candidate of score 0, and is dropped afterwards: the
    rest is the best matching of any size.
    """
    left, right = candidates.left, candidates.right
    table = np.zeros((candidates.n_left, candidates.n_right))
    place = np.full(table.shape, -1, dtype=np.int64)
    table[left, right] = np.maximum(scores, 0.0)
    place[left, right] = np.arange(len(left))
    rows, columns = linear_sum_assignment(table, maximize=True)
    chosen: np.ndarray = place[rows, columns][table[rows, columns] > 0]
    return np.sort(chosen)


def greedy_assignment(candidates: Candidates, scores: np.ndarray, n_matches: int | None = None) -> np.ndarray:
    """Take the best candidate, drop all that share a point with it, and so on; of equal ones the first."""
    used_left, used_right = np.zeros(candidates.n_left, bool), np.zeros(candidates.n_right, bool)
    chosen: list[int] = []
    for c in np.argsort(-scores, kind="stable"):
        if scores[c] <= 0 or (n_matches is not None and len(chosen) >= n_matches):
            break
        i, j = candidates.pairs[c]
        if not used_left[i] and not used_right[j]:
            used_left[i] = used_right[j] = True
            chosen.append(int(c))
    return np.sort(np.array(chosen, dtype=np.int64))


def indicator(size: int, chosen: np.ndarray) -> np.ndarray:
    """One where chosen, zero elsewhere."""
    x = np.zeros(size)
    x[chosen] = 1.0
    return x


def sums_by(points: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    """Σ of the values at each point: row sums with the left points, column sums with the right ones."""
    return np.bincount(points, weights=values, minlength=n)
