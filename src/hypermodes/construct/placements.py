"""Hyperedges of candidates that one placement explains: few points, whose places are only roughly the same.

A placement is an affine map, perhaps mirrored, that lays one side on the other. A hyperedge is a placement,
and its members are the candidates that it makes probable; its weight is how probable it is itself. With a
dozen points and errors as large as the gaps between them no placement is right for sure, and none is chosen:
each candidate is worth the votes of all of them.
"""

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from scipy.special import ndtri

from hypermodes.construct.correspondences import Candidates, Features, ordinary
from hypermodes.hypergraph import Hypergraph

_MIRRORED = 0.25  # prior probability that one side is the mirror image of the other
_DRAWN = 32  # placements, of which 512 are made: three signs and the hand are changed, each both ways
_ROOT = 1.1127756842787055  # of x⁷ = x + 1: multiples of its powers fill six dimensions evenly
_INVERSE = -1, -1, -1, -1, -1, -1  # of the logarithm, row by row, and of the shift
_MIRROR_IMAGES = 1, -1, -1, 1, -1, 1
_TURNED_BY_HALF = 1, 1, 1, 1, -1, -1
_ROUNDS = 500
_SETTLED = 1e-6  # relative change of a round
_NEGLIGIBLE = 1e-6


def placement_hypergraph(
    left: Features, right: Features, candidates: Candidates, error: float, *, any_scale: bool = True
) -> tuple[Hypergraph, np.ndarray]:
    """Make hyperedges of placements of one side on the other, drawn evenly from what is probable.

    Both sides are expected centred and in units of their mean length, so that placements near the identity
    are the most probable: the shift and the logarithm of the linear part of the map are normal with as much
    spread as a point's own error. Under a placement, true matches are apart by a normal error of ``error`` a
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
        Labels of hyperedges are the logarithm of the linear part (four numbers, row by row; it is applied
        to rows of points from the right), the shift (two) and -1 if mirrored, else 1; and which of them are
        mirrored.
    """
    logarithm, shift, hand = _placements(error, any_scale)
    half = _exponential(logarithm / 2)  # half of a placement is done to each side: it has no direction
    near = (side.points[ordinary(cdist(side.points, side.points))] for side in (left, right))
    extents = [np.maximum(np.ptp(points, axis=0), error) for points in near]
    area = np.sqrt(np.prod(extents))
    handed = left.points * np.column_stack((hand, np.ones_like(hand)))[:, None]
    here = handed @ half + shift[:, None] / 2
    there = right.points @ _exponential(logarithm / -2) - shift[:, None] / 2
    apart = ((here[:, candidates.left] - there[:, candidates.right]) ** 2).sum(axis=2)
    density = np.exp(apart / (-2 * error**2)) / (2 * np.pi * error**2)
    table = np.zeros((len(hand), candidates.n_left, candidates.n_right))
    table[:, candidates.left, candidates.right] = candidates.similarity * area * density
    probability, evidence = one_to_one(table)
    prior = np.where(hand < 0, _MIRRORED, 1 - _MIRRORED)
    posterior = prior * np.exp(evidence - evidence.max())
    kept = posterior > _NEGLIGIBLE * posterior.max()
    incidence = probability[:, candidates.left, candidates.right][kept].T
    incidence = sp.csc_array(np.clip(incidence, _NEGLIGIBLE, 1.0))
    rate = posterior[kept] / posterior[kept].sum()
    labels = list(map(tuple, np.column_stack((logarithm.reshape(-1, 4), shift, hand))[kept].tolist()))
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


def _placements(spread: float, any_scale: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logarithms of linear parts, shifts and hands, spread evenly over a normal prior.

    With a placement there are its inverse, what it is between the mirror images of both sides, and what it is
    between both sides turned by half: so it matters to no answer which side is the left one, and which way
    x and y go.
    """
    even = np.outer(np.arange(1, _DRAWN + 1), _ROOT ** -np.arange(1.0, 7.0)) % 1.0
    normal = spread * ndtri(even)
    for signs in (_INVERSE, _MIRROR_IMAGES, _TURNED_BY_HALF):
        normal = np.concatenate([normal, normal * signs])
    logarithm, shift = normal[:, :4].reshape(-1, 2, 2), normal[:, 4:]
    if not any_scale:
        logarithm = logarithm - np.trace(logarithm, axis1=1, axis2=2)[:, None, None] / 2 * np.eye(2)
    hand = np.repeat([1.0, -1.0], len(normal))
    return np.concatenate([logarithm, logarithm]), np.concatenate([shift, shift]), hand


def _exponential(matrices: np.ndarray) -> np.ndarray:
    """exp of 2 x 2 matrices: with A = tI + B and tr B = 0, B² = q I, so e^t (cosh √q I + sinh √q / √q B)."""
    middle = np.trace(matrices, axis1=1, axis2=2)[:, None, None] / 2
    rest = matrices - middle * np.eye(2)
    square = rest[:, 0, 0] ** 2 + rest[:, 0, 1] * rest[:, 1, 0]
    root = np.sqrt(square.astype(complex))[:, None, None]
    ratio = np.sinc(1j * root / np.pi)  # sinh x / x, and 1 at 0
    return np.exp(middle) * (np.cosh(root) * np.eye(2) + ratio * rest).real
