"""How well saliency maps agree with what people marked: F over thresholds, mean absolute error, pieces."""

from typing import NamedTuple

import numpy as np

BETA2 = 0.3
"""β² of F: the usual weight, precision counts more than recall."""


class Score(NamedTuple):
    """How well a map agrees with the truth: curves over 256 thresholds, F at its own, mean absolute error."""

    precision: np.ndarray
    recall: np.ndarray
    adaptive: float
    error: float


def scored(found: np.ndarray, truth: np.ndarray) -> Score:
    """Compare a map with the truth, both (h, w)."""
    level = np.round(np.clip(found, 0, 1) * 255).astype(np.int64)
    right = _at_least(level[truth])
    called = _at_least(level.ravel())
    precision = np.divide(right, called, out=np.ones(256), where=called > 0)
    recall = right / max(1, int(truth.sum()))
    chosen = (found >= min(2 * float(found.mean()), float(found.max()))) & (found > 0)
    hit = int((chosen & truth).sum())
    adaptive = f_measure(hit / max(1, int(chosen.sum())), hit / max(1, int(truth.sum())))
    return Score(precision, recall, float(adaptive), float(np.abs(found - truth).mean()))


def f_measure(precision: np.ndarray | float, recall: np.ndarray | float) -> np.ndarray:
    """F = (1 + β²) P R / (β² P + R), 0 where both are."""
    precision, recall = np.asarray(precision, dtype=float), np.asarray(recall, dtype=float)
    below = BETA2 * precision + recall
    return np.divide((1 + BETA2) * precision * recall, below, out=np.zeros_like(below), where=below > 0)


def max_f(scores: list[Score]) -> float:
    """The best F over thresholds, of the precision and recall that are means over pictures."""
    precision = np.mean([score.precision for score in scores], axis=0)
    recall = np.mean([score.recall for score in scores], axis=0)
    return float(f_measure(precision, recall).max())


def max_f_error(scores: list[Score]) -> float:
    """Standard error of `max_f` over pictures, by leaving out one at a time (jackknife)."""
    n = len(scores)
    if n < 2:
        return float("nan")
    without = np.array([max_f(scores[:k] + scores[k + 1 :]) for k in range(n)])
    return float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))


def pieces(labels: np.ndarray, truth: np.ndarray) -> float:
    """In how many modes an object lies, exp of the entropy of their shares of it; (h, w) both.

    Pixels in no mode (-1) are each a piece of no mode, and do not count.
    """
    inside = labels[truth & (labels >= 0)]
    if inside.size == 0:
        return float("nan")
    share = np.bincount(inside) / inside.size
    share = share[share > 0]
    return float(np.exp(-(share * np.log(share)).sum()))


def _at_least(level: np.ndarray) -> np.ndarray:
    """How many are at each level or above."""
    return np.bincount(level, minlength=256)[::-1].cumsum()[::-1]
