"""Pictures to test with, whole and as superpixels."""

import numpy as np
from skimage.data import chelsea

from hypermodes.construct.superpixels import Superpixels, slic_superpixels

SQUARE = np.zeros((90, 120), dtype=bool)
SQUARE[30:60, 45:80] = True
"""Where the thing is in `square`."""


def square(shape=(90, 120), dtype=np.uint8):
    """A red square on grey."""
    image = np.full((*shape, 3), 90, np.uint8)
    image[30:60, 45:80] = (200, 40, 30)
    return image.astype(dtype)


def checkered(seed=0, size=(12, 16), cell=4):
    """Square superpixels with random colours."""
    rng = np.random.default_rng(seed)
    row, column = np.mgrid[: size[0], : size[1]] // cell
    labels = row * (size[1] // cell) + column
    lab = rng.random((labels.max() + 1, 3))[labels] * [100, 60, 60] + rng.normal(size=(*size, 3))
    return Superpixels.of(labels, lab), lab


def with_object(noise=0.0):
    """A red square on grey, 12 x 12 square superpixels."""
    row, column = np.mgrid[:48, :48]
    lab = np.full((48, 48, 3), (50.0, 0.0, 0.0))
    lab[16:32, 20:36] = [50, 60, 40]
    lab += np.random.default_rng(0).normal(scale=noise, size=lab.shape) if noise else 0
    return Superpixels.of((row // 4) * 12 + column // 4, lab)


def cat():
    """A photograph in about 120 superpixels."""
    return slic_superpixels(chelsea()[::2, ::2] / 255, 120)
