"""Robust background detection: what the border of the picture does not hold, and an optimisation [ZLWS14].

References
----------
.. [ZLWS14] Zhu, Liang, Wei & Sun, Saliency Optimization from Robust Background Detection, CVPR 2014.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from hypermodes.construct.superpixels import Superpixels
from hypermodes.scene import clear, stretched


def robust_background(
    superpixels: Superpixels,
    *,
    colour_scale: float = 10.0,
    place_scale: float = 0.4,
    tie: float = 0.1,
    trust: float = 5.0,
    clean: bool = True,
) -> np.ndarray:
    """Minimise Σ trust w_bg s² + Σ w_fg (s - 1)² + Σ_ij w_ij (s_i - s_j)², (9): s from 0 to 1, (n,).

    Parameters
    ----------
    superpixels : Superpixels
        Colour and place are used, texture is not.
    colour_scale : float
        σ of colour, in CIELAB.
    place_scale : float
        σ of place, in heights and widths of the picture.
    tie : float
        μ: neighbours hold together by this much, however different they are.
    trust, clean
        A factor on the background term, and whether w_fg below its Otsu threshold is taken for 0. Neither
        is in the printed equations (``trust=1, clean=False``); both make its maps much better.
    """
    colour = colour_distance(superpixels)
    behind = background_weight(boundary_connectivity(superpixels, colour_scale))
    figure = stretched(weighted_contrast(superpixels, behind, place_scale))
    hold = smoothness(superpixels, colour, colour_scale, tie)
    return stretched(optimise(trust * behind, clear(figure) if clean else figure, hold))


def colour_distance(superpixels: Superpixels) -> np.ndarray:
    """d_app(p,q): Euclidean distance of mean colours in CIELAB."""
    return np.linalg.norm(superpixels.colour[:, None] - superpixels.colour[None], axis=2)


def geodesic_distance(superpixels: Superpixels) -> np.ndarray:
    """d_geo(p,q) = min Σ d_app over paths, (2); the superpixels on the border are all neighbours."""
    beside = superpixels.adjacency.toarray()
    border = superpixels.on_border
    one, other = np.nonzero((beside | (border[:, None] & border)) & ~np.eye(superpixels.n, dtype=bool))
    length = colour_distance(superpixels)[one, other] + 1e-9  # a length of 0 would be no link
    return dijkstra(sp.csr_array((length, (one, other)), shape=beside.shape), directed=False)


def boundary_connectivity(superpixels: Superpixels, colour_scale: float) -> np.ndarray:
    """Σ_i S(p,i) [i on the border] / (Σ_i S(p,i))^½ with S = exp(-d_geo²/2σ²), (3) to (5)."""
    span = np.exp(-((geodesic_distance(superpixels) / colour_scale) ** 2) / 2)
    held: np.ndarray = span @ superpixels.on_border / np.sqrt(span.sum(axis=1))
    return held


def background_weight(connectivity: np.ndarray) -> np.ndarray:
    """w_bg = 1 - exp(-b²/2), (7) with σ = 1."""
    return 1 - np.exp(-(connectivity**2) / 2)


def weighted_contrast(superpixels: Superpixels, behind: np.ndarray, place_scale: float) -> np.ndarray:
    """Σ_i d_app(p,i) exp(-d_spa(p,i)²/2σ²) w_bg(i), (6) and (8)."""
    near = np.exp(-((superpixels.distance / place_scale) ** 2) / 2)
    contrast: np.ndarray = (colour_distance(superpixels) * near) @ behind
    return contrast


def smoothness(superpixels: Superpixels, colour: np.ndarray, colour_scale: float, tie: float) -> np.ndarray:
    """w_ij = exp(-d_app²/2σ²) up to two steps apart and along the border, and μ more between neighbours."""
    beside = superpixels.adjacency.toarray()
    border = superpixels.on_border
    close = beside | ((beside.astype(float) @ beside) > 0) | (border[:, None] & border)
    np.fill_diagonal(close, False)
    return np.where(close, np.exp(-((colour / colour_scale) ** 2) / 2), 0.0) + tie * beside


def optimise(behind: np.ndarray, figure: np.ndarray, hold: np.ndarray) -> np.ndarray:
    """The minimiser of (9): (diag(w_bg) + diag(w_fg) + D - W) s = w_fg.

    Where nothing speaks for either side, as in a picture of one colour, there is no figure: 0.
    """
    system = np.diag(behind + figure + hold.sum(axis=1)) - hold
    return np.linalg.solve(system, figure) if (behind + figure).any() else np.zeros_like(figure)
