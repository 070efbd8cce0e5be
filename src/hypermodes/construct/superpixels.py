"""A picture as superpixels: small patches of one colour, what they look like and where they are."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True, eq=False, repr=False)
class Superpixels:
    """The patches of a picture. Colours are in CIELAB, where 1 is about what an eye can tell apart.

    Attributes
    ----------
    labels : (h, w) int64
        The superpixel of each pixel, 0 … n - 1.
    colour, spread : (n, 3) float
        Mean of the colours in a superpixel, and their standard deviation: its texture, in the same unit.
    centre : (n, 2) float
        Row and column of its centre, in heights and widths of the picture: (0.5, 0.5) is the middle.
    area : (n,) float
        Number of pixels.
    border : (n, 4) float
        Pixels on the top, bottom, left and right border of the picture.
    adjacency : (n, n) csr_array of bool
        Which superpixels have pixels side by side; symmetric, nobody is beside itself.
    """

    labels: np.ndarray
    colour: np.ndarray
    spread: np.ndarray
    centre: np.ndarray
    area: np.ndarray
    border: np.ndarray
    adjacency: sp.csr_array

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    @classmethod
    def of(cls, labels: np.ndarray, lab: np.ndarray) -> Self:
        """Measure given patches: ``labels`` (h, w) from 0 without gaps, colours ``lab`` (h, w, 3)."""
        labels = np.asarray(labels, dtype=np.int64)
        height, width = labels.shape
        flat = labels.ravel()
        n = int(flat.max()) + 1
        area = np.bincount(flat, minlength=n).astype(np.float64)

        def mean(values: np.ndarray) -> np.ndarray:
            return np.bincount(flat, values.ravel(), minlength=n) / area

        colour = np.stack([mean(lab[:, :, c]) for c in range(3)], axis=1)
        away = lab - colour[labels]
        spread = np.sqrt(np.stack([mean(away[:, :, c] ** 2) for c in range(3)], axis=1))
        row, column = np.mgrid[:height, :width]
        centre = np.stack([mean((row + 0.5) / height), mean((column + 0.5) / width)], axis=1)
        edges = (labels[0], labels[-1], labels[:, 0], labels[:, -1])
        border = np.stack([np.bincount(edge, minlength=n) for edge in edges], axis=1).astype(np.float64)
        return cls(labels, colour, spread, centre, area, border, _adjacency(labels, n))

    @property
    def n(self) -> int:
        """Number of superpixels."""
        return int(self.area.size)

    @property
    def on_border(self) -> np.ndarray:
        """Which of them have a pixel on the border of the picture."""
        return self.border.sum(axis=1) > 0

    @cached_property
    def difference(self) -> np.ndarray:
        """How different two superpixels look, (n, n), in units of CIELAB.

        d(i,j)² = ||mean_i - mean_j||² + ||spread_i - spread_j||², the Wasserstein distance between normal
        distributions with these means and deviations: colour and texture in one unit, no weight between them.
        """
        return _distances(np.hstack((self.colour, self.spread)))

    @cached_property
    def distance(self) -> np.ndarray:
        """Distance between centres, (n, n), in heights and widths of the picture."""
        return _distances(self.centre)

    def paint(self, values: np.ndarray) -> np.ndarray:
        """Give each pixel the value of its superpixel."""
        return np.asarray(values)[self.labels]

    def __repr__(self) -> str:
        height, width = self.labels.shape
        return f"Superpixels({self.n} of {width} x {height} pixels)"


def slic_superpixels(rgb: np.ndarray, n: int = 250, *, compactness: float = 30.0) -> Superpixels:
    """Cut a picture into about n superpixels with scikit-image's SLIC.

    Parameters
    ----------
    rgb : (h, w, 3) float
        sRGB from 0 to 1.
    n : int
        How many, about; never more than a quarter of the pixels, so that each has some.
    compactness : float
        Large for squares, small for patches that follow every edge.
    """
    color, segmentation = _skimage()
    height, width = rgb.shape[:2]
    wanted = max(1, min(n, height * width // 4))
    if wanted == 1 or np.ptp(rgb) == 0:
        labels = np.zeros((height, width), dtype=np.int64)
    else:
        labels = segmentation.slic(
            rgb, n_segments=wanted, compactness=compactness, start_label=0, channel_axis=2
        )
        labels = np.unique(labels, return_inverse=True)[1].reshape(height, width)
    return Superpixels.of(labels, color.rgb2lab(rgb))


def _skimage() -> tuple[Any, Any]:
    """Import scikit-image, or say which extra brings it."""
    try:
        from skimage import color, segmentation
    except ImportError:
        raise ImportError("superpixels need scikit-image; install hypermodes[images]") from None
    return color, segmentation


def _adjacency(labels: np.ndarray, n: int) -> sp.csr_array:
    sides = ((labels[:, :-1], labels[:, 1:]), (labels[:-1], labels[1:]))
    one, other = (np.concatenate([pair[k].ravel() for pair in sides]) for k in (0, 1))
    apart = one != other
    one, other = one[apart], other[apart]
    ends = (np.concatenate((one, other)), np.concatenate((other, one)))
    return sp.csr_array((np.ones(2 * one.size, dtype=bool), ends), shape=(n, n))


def _distances(points: np.ndarray) -> np.ndarray:
    squared = np.zeros((len(points), len(points)))
    for column in points.T:
        squared += (column[:, None] - column[None, :]) ** 2
    return np.sqrt(squared)
