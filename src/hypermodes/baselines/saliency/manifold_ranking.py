"""Manifold ranking: how near each superpixel is to the four borders, then to what is not [YZLRY13].

References
----------
.. [YZLRY13] Yang, Zhang, Lu, Ruan & Yang, Saliency Detection via Graph-Based Manifold Ranking, CVPR 2013.
"""

import numpy as np

from hypermodes.construct.superpixels import Superpixels
from hypermodes.scene import stretched


def manifold_ranking(superpixels: Superpixels, *, alpha: float = 0.99, sharpness: float = 10.0) -> np.ndarray:
    """Rank by the borders, then by what stood out in that: from 0 to 1, (n,).

    1. For each side of the picture, y marks its superpixels, f = (D - αW)⁻¹ y, and S = 1 - f stretched to
       0 … 1. The product of the four is the first map, Eq. (4) to (6).
    2. Where that is at least its mean, y marks again; f for these queries is the answer, Eq. (7).

    Parameters
    ----------
    superpixels : Superpixels
        Colour is used, texture is not.
    alpha : float
        How much of a rank comes from neighbours.
    sharpness : float
        1/σ² of the weights exp(-d/σ²), d being distances of colours stretched to 0 … 1.
    """
    ranking = ranks(affinity(superpixels, sharpness), alpha)
    sides = np.stack([1 - stretched(ranking @ (side > 0)) for side in superpixels.border.T])
    first = sides.prod(axis=0)
    if np.ptp(first) <= 1e-9:  # no difference but rounding
        return np.zeros(superpixels.n)
    return stretched(ranking @ (first >= first.mean()))


def affinity(superpixels: Superpixels, sharpness: float) -> np.ndarray:
    """W: exp(-d/σ²) between neighbours, neighbours of neighbours, and all superpixels on the border."""
    beside = superpixels.adjacency.toarray()
    border = superpixels.on_border
    close = beside | ((beside.astype(float) @ beside) > 0) | (border[:, None] & border)
    np.fill_diagonal(close, False)
    colour = np.linalg.norm(superpixels.colour[:, None] - superpixels.colour[None], axis=2)
    weights = np.zeros_like(colour)
    if close.any():
        weights[close] = np.exp(-sharpness * stretched(colour[close]))
    return weights


def ranks(weights: np.ndarray, alpha: float) -> np.ndarray:
    """(D - αW)⁻¹ with zeros on its diagonal, so that a query does not count for itself, Eq. (3)."""
    degree = weights.sum(axis=1)
    degree[degree == 0] = 1.0  # a superpixel alone in the picture
    matrix = np.linalg.inv(np.diag(degree) - alpha * weights)
    np.fill_diagonal(matrix, 0.0)
    return matrix
