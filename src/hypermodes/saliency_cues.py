"""What speaks for and against a superpixel before anything is grouped: border, contrast, middle.

The boundary connectivity and the contrast weighted by it are those of Zhu, Liang, Wei & Sun, Saliency
Optimization from Robust Background Detection, CVPR 2014, with lengths and areas in pixels.
"""

import numpy as np

from hypermodes.construct.superpixels import Superpixels

NEAR = 0.4  # contrast counts within this many widths and heights of the picture
MIDDLE = 1 / 3  # what people take pictures of is mostly in the middle third
NOTICEABLE = 2.3  # the change in CIELAB that an eye can just see


def boundary_connectivity(region: np.ndarray, superpixels: Superpixels) -> np.ndarray:
    """How much a region is held by the border: Σ_v h(v,e) border(v) / (Σ_v h(v,e) area(v))^½.

    About 0 for what lies inside the picture, 1 and more for what the border cuts; a region with a full side
    of a square picture and all of its area has 1.

    Parameters
    ----------
    region : (n, n) float
        Soft incidence h, symmetric: the region around each superpixel.
    """
    held: np.ndarray = region @ superpixels.border.sum(axis=1)
    return held / np.sqrt(region @ superpixels.area)


def background(regions: np.ndarray, superpixels: Superpixels) -> np.ndarray:
    """Probability to be background, 1 - exp(-b²/2) with b² the mean over scales of squared connectivity."""
    squares = [boundary_connectivity(region, superpixels) ** 2 for region in regions]
    return 1 - np.exp(-np.mean(squares, axis=0) / 2)


def contrast(superpixels: Superpixels, behind: np.ndarray) -> np.ndarray:
    """Mean difference from the background around: Σ_j d(i,j) k(i,j) behind_j / Σ_j k(i,j) behind_j.

    k falls off with distance, exp(-distance²/2 NEAR²). In units of CIELAB; 0 where there is no background.
    """
    near = np.exp(-((superpixels.distance / NEAR) ** 2) / 2) * behind
    total = near.sum(axis=1)
    seen: np.ndarray = (superpixels.difference * near).sum(axis=1)
    return np.divide(seen, total, out=np.zeros_like(seen), where=total > 0)


def middle(superpixels: Superpixels) -> np.ndarray:
    """Weight of a place, exp(-r²/2 MIDDLE²) with r the distance from the middle of the picture."""
    away = ((superpixels.centre - 0.5) ** 2).sum(axis=1)
    return np.exp(-away / (2 * MIDDLE**2))
