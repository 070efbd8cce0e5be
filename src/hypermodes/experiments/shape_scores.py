"""How good groups of labelled items are: the paper's two measures, and what keeps them honest."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix


class Score(NamedTuple):
    """Groups against classes; -1 marks items in no group.

    ``recognised`` and ``precision`` are the paper's, and reward many small groups and leaving items out;
    ``matched``, ``ari`` and ``nmi`` do not, or less; ``coverage`` and ``groups`` tell.
    """

    recognised: int
    """Classes that are the majority of one group or more."""
    precision: float
    """Share of the items in groups that are of the majority of their group; NaN if there are none."""
    matched: float
    """Share of all items that are in the one group that stands for their class: each class has one group at
    most, each group one class, chosen so that this share is largest."""
    coverage: float
    """Share of the items that are in groups."""
    groups: int
    ari: float
    """The lower of the two that follow."""
    ari_one: float
    """Adjusted Rand index over all items, outliers being one more group."""
    ari_alone: float
    """Over all items, every outlier being a group of its own."""
    nmi: float
    """Normalised mutual information over all items, outliers being one more group."""


def scored(labels: np.ndarray, truth: np.ndarray) -> Score:
    """Compare groups with classes."""
    labels, truth = np.asarray(labels), np.asarray(truth)
    inside = labels >= 0
    alone = np.where(inside, labels, labels.max(initial=0) + 1 + np.arange(labels.size))
    one, each = (float(adjusted_rand_score(truth, found)) for found in (labels, alone))
    nmi = float(normalized_mutual_info_score(truth, labels))
    groups = int(np.unique(labels[inside]).size)
    if not groups:
        return Score(0, float("nan"), 0.0, 0.0, 0, min(one, each), one, each, nmi)
    table = contingency_matrix(truth[inside], labels[inside])
    return Score(
        recognised=int(np.unique(table.argmax(axis=0)).size),
        precision=float(table.max(axis=0).sum() / table.sum()),
        matched=float(table[linear_sum_assignment(-table)].sum() / labels.size),
        coverage=float(inside.mean()),
        groups=groups,
        ari=min(one, each),
        ari_one=one,
        ari_alone=each,
        nmi=nmi,
    )
