"""From a silhouette to its outline: points at equal steps around the largest piece."""

from typing import Any

import numpy as np
import scipy.ndimage as ndi

from hypermodes.matrices import unmasked

N_POINTS = 100
_SIDE = 128  # pixels of the longer side that a silhouette is brought to, whatever its own size


def contour(mask: Any, n_points: int = N_POINTS) -> np.ndarray:
    """Points at equal steps along the outer boundary of the largest piece of a silhouette.

    Parameters
    ----------
    mask : (height, width) array
        Nonzero is the shape. Holes are filled, and all pieces but the largest are left out.
    n_points : int
        How many points.

    Returns
    -------
    (n_points, 2) float
        x and y in pixels of a picture whose longer side is brought to 128, the shape to the left of the way.
    """
    from skimage.measure import find_contours

    piece = _largest_piece(_checked(mask)).astype(float)
    # A margin, so that outlines are closed; a slight blur, so that they are not made of pixels.
    grey = ndi.zoom(np.pad(piece, 1), _SIDE / max(piece.shape), order=1, grid_mode=True, mode="grid-constant")
    grey = ndi.gaussian_filter(np.pad(grey, 3), 0.7)
    level = min(0.5, 0.5 * float(grey.max()))  # what is one pixel thin is not lost in the blur
    outline = max(find_contours(grey, level), key=len)[:-1, ::-1]
    x, y = outline.T
    if x @ np.roll(y, -1) < y @ np.roll(x, -1):
        outline = outline[::-1]
    closed = np.vstack((outline, outline[:1]))
    along = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))))
    steps = np.arange(n_points) * along[-1] / n_points
    return np.column_stack([np.interp(steps, along, column) for column in closed.T])


def _largest_piece(mask: np.ndarray) -> np.ndarray:
    """The largest connected piece, holes filled, cut out."""
    pieces, _ = ndi.label(mask, np.ones((3, 3)))
    largest = pieces == 1 + np.argmax(np.bincount(pieces.ravel())[1:])
    rows, columns = ndi.find_objects(largest.astype(np.int8))[0]
    return np.asarray(ndi.binary_fill_holes(largest[rows, columns]))


def _checked(mask: Any) -> np.ndarray:
    array = np.asarray(unmasked("mask", mask))
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"mask: expected a (height, width) array, nonzero inside the shape; got shape {array.shape}, "
            f"type {array.dtype}"
        )
    inside = array != 0
    if not inside.any():
        raise ValueError("mask: expected a silhouette; every pixel is 0")
    return inside
