"""Hyperedges of candidates that one placement explains: few points, whose places are only roughly the same.

A placement moves, scales and perhaps mirrors one side to lie on the other. A hyperedge is a placement, and
its members are the candidates that it makes probable; its weight is how probable it is itself. With a dozen
points and errors as large as the gaps between them no placement is right for sure, and none is chosen: each
candidate is worth the votes of all of them.
"""

from itertools import product

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from hypermodes.construct.correspondences import Candidates, Features, ordinary
from hypermodes.hypergraph import Hypergraph

_MIRRORED = 0.25  # prior probability that one side is the mirror image of the other
_STEPS = np.linspace(-2.0, 2.0, 7)  # in standard deviations of the prior
_SPREAD = 1.5  # of shifts and logarithms of scales a priori, in standard deviations of a point's error
_ROUNDS = 500
_SETTLED = 1e-6  # relative change of a round
_NEGLIGIBLE = 1e-6


def placement_hypergraph(
    left: Features, right: Features, candidates: Candidates, error: float, *, any_scale: bool = True
) -> tuple[Hypergraph, np.ndarray]:
    """Make a hyperedge for every placement of one side on the other.

    Both sides are expected centred and in units of their mean length, so that placements near the identity
    are the most probable. Under a placement, true matches are apart by a normal error of ``error`` a
    coordinate, all else is uniform: one candidate is K(v) times as probable as that its points have no
    match,

        K(v) = s(v) A N(right point - placed left point; 0, error²),

    with A the area of a side and s(v) the similarity. p(v|e) is the probability of v in all one-to-one
    choices together, and w(e)/δ(e) that of the placement, given the points: its prior times what all choices
    sum to (`one_to_one`).

    Parameters
    ----------
    left, right : Features
        Centred, in mean lengths; only their points count.
    candidates : Candidates
        The vertices.
    error : float
        What a true match is off, in mean lengths; about as much as neighbours are apart.
    any_scale : bool
        Whether scales are uncertain; if not, both sides have the same unit.

    Returns
    -------
    Hypergraph, (number of hyperedges,) bool
        Labels of hyperedges are (shift in x, shift in y, logarithm of the scale, -1 if mirrored else 1); and
        which of them are mirrored.
    """
    places = _placements(any_scale)
    middle = (
        error * _SPREAD / 2 * places[:, :3]
    )  # half of a placement is done to each side: it has no direction
    shift, scale, hand = middle[:, None, :2], np.exp(middle[:, 2])[:, None, None], places[:, 3]
    near = (side.points[ordinary(cdist(side.points, side.points))] for side in (left, right))
    extents = [np.maximum(np.ptp(points, axis=0), error) for points in near]
    area = np.sqrt(np.prod(extents))
    here = left.points * np.column_stack((hand, np.ones_like(hand)))[:, None] * scale + shift
    there = right.points / scale - shift
    apart = ((here[:, candidates.left] - there[:, candidates.right]) ** 2).sum(axis=2)
    density = np.exp(apart / (-2 * error**2)) / (2 * np.pi * error**2)
    table = np.zeros((len(places), candidates.n_left, candidates.n_right))
    table[:, candidates.left, candidates.right] = candidates.similarity * area * density
    probability, evidence = one_to_one(table)
    prior = np.where(hand < 0, _MIRRORED, 1 - _MIRRORED) * np.exp(-0.5 * (places[:, :3] ** 2).sum(axis=1))
    posterior = prior * np.exp(evidence - evidence.max())
    kept = posterior > _NEGLIGIBLE * posterior.max()
    incidence = probability[:, candidates.left, candidates.right][kept].T
    incidence = sp.csc_array(np.clip(incidence, _NEGLIGIBLE, 1.0))
    rate = posterior[kept] / posterior[kept].sum()
    labels = list(map(tuple, np.column_stack((2 * middle, hand))[kept].tolist()))
    hypergraph = Hypergraph.from_incidence(incidence, rate * incidence.sum(axis=0), labels=labels)
    return hypergraph, hand[kept] < 0


def one_to_one(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of pairs in a random partial one-to-one choice, and the logarithm of its normaliser.

    A choice is as probable as the product of its entries K of the ``table`` (..., n, m). By belief
    propagation, which has one fixed point for partial matchings and is exact where pairs make no cycle: that
    row i is left by all columns but j, and column j by all rows but i, has probability

        a_ij = 1 / (1 + Σ_{j'≠j} K_ij' b_ij'),   b_ij = 1 / (1 + Σ_{i'≠i} K_i'j a_i'j),

    from which p_ij = K a b / (1 + K a b), and the normaliser of Bethe's free energy.
    """
    a = b = np.ones(table.shape)
    for _ in range(_ROUNDS):  # both at once and half the way: neither side comes first
        by_row, by_column = table * b, table * a
        change_a = 1 / (a * (1 + by_row.sum(axis=-1, keepdims=True) - by_row))
        change_b = 1 / (b * (1 + by_column.sum(axis=-2, keepdims=True) - by_column))
        a, b = a * np.sqrt(change_a), b * np.sqrt(change_b)
        if max(abs(change - 1).max() for change in (change_a, change_b)) < _SETTLED:
            break
    odds = table * a * b
    rows, columns = 1 + (table * b).sum(axis=-1), 1 + (table * a).sum(axis=-2)
    normaliser = np.log(rows).sum(axis=-1) + np.log(columns).sum(axis=-1) - np.log1p(odds).sum(axis=(-1, -2))
    return odds / (1 + odds), normaliser


def _placements(any_scale: bool) -> np.ndarray:
    """Shift, scale and hand: a grid, in standard deviations of the prior."""
    scales = _STEPS[1::2] if any_scale else np.zeros(1)
    return np.array(list(product(_STEPS, _STEPS, scales, (1.0, -1.0))))
