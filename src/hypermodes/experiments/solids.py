"""Twenty-one solids seen from 128 directions: the paper's set-up of Table 2, made from formulas.

The paper has silhouettes of 21 objects from 128 views each, which are not public. These solids are unions
and differences of ellipsoids, boxes, cylinders, cones and rings, given by the sign of a function of space:
everyday things of different kinds, some of them alike from many sides (two cups, three chairs and tables,
two animals), as in the original.
"""

import os
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO

import numpy as np

from hypermodes.files import replacing
from hypermodes.images import pillow_image

Solid = Callable[[np.ndarray], np.ndarray]  # (n, 3) places -> (n,) truth values: inside or not
N_VIEWS = 128
_GRID = 96  # voxels along each side of the cube [-1, 1]³ that a solid is cut into


def silhouettes(size: int = 96, n_views: int = N_VIEWS) -> Iterator[tuple[str, int, np.ndarray]]:
    """Name of the solid, number of the view and (size, size) mask, solid by solid.

    Views are spread evenly over the half sphere (a silhouette from behind is the mirror image of that from
    the front) and turned in the picture by the golden angle, so that no position of the camera is special.
    """
    directions = _directions(n_views)
    for name, solid in SOLIDS.items():
        surface = _surface(solid)
        for view, direction in enumerate(directions):
            yield name, view, _seen(surface, _camera(direction, view), size)


def write_silhouettes(path: str | os.PathLike[str], size: int = 96, n_views: int = N_VIEWS) -> None:
    """Write all views as PNG files into a zip file, cup-017.png and so on: something to try things on."""
    image = pillow_image()
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, view, mask in silhouettes(size, n_views):
            content = BytesIO()
            image.fromarray(mask).save(content, format="PNG")
            archive.writestr(zipfile.ZipInfo(f"{name}-{view:03d}.png"), content.getvalue())


def _directions(n: int) -> np.ndarray:
    """A spiral over the upper half of the sphere, every point for an equal area."""
    height = 1 - (np.arange(n) + 0.5) / n
    turn = np.pi * (3 - 5**0.5) * np.arange(n)
    around = np.sqrt(1 - height**2)
    return np.column_stack((around * np.cos(turn), around * np.sin(turn), height))


def _camera(direction: np.ndarray, view: int) -> np.ndarray:
    """Two orthogonal directions of the picture, as rows."""
    pole = np.array([0.0, 0.0, 1.0]) if abs(direction[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
    right = np.cross(pole, direction)
    right /= np.linalg.norm(right)
    up = np.cross(direction, right)
    roll = np.pi * (3 - 5**0.5) * view * 0.5
    return np.array([np.cos(roll) * right + np.sin(roll) * up, -np.sin(roll) * right + np.cos(roll) * up])


def _surface(solid: Solid) -> np.ndarray:
    """Voxels of the solid that touch its outside: their shadow is the shadow of all."""
    axis = (np.arange(_GRID) + 0.5) / _GRID * 2 - 1
    places = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    inside = solid(places.reshape(-1, 3)).reshape(_GRID, _GRID, _GRID)
    padded = np.pad(inside, 1)
    buried = np.ones_like(inside)
    for along in range(3):
        for step in (0, 2):
            window = [slice(1, -1)] * 3
            window[along] = slice(step, step + _GRID)
            buried &= padded[tuple(window)]
    return places[inside & ~buried]


def _seen(surface: np.ndarray, camera: np.ndarray, size: int) -> np.ndarray:
    """Shadow of the voxels, each as wide as its diagonal, so that there are no gaps between them."""
    from scipy.ndimage import binary_closing, binary_fill_holes, label

    flat = surface @ camera.T
    scale = size * 0.45 / np.linalg.norm(surface, axis=1).max()
    pixel = np.round(flat * scale + size / 2).astype(np.int64).clip(1, size - 2)
    mask = np.zeros((size, size), dtype=bool)
    mask[pixel[:, 1], pixel[:, 0]] = True
    closed: np.ndarray = binary_closing(np.pad(mask, 3), np.ones((3, 3), bool))[3:-3, 3:-3]
    # Small holes are gaps between voxels; real ones, as of a ring, stay.
    filled = binary_fill_holes(closed)
    holes, n = label(filled & ~closed)
    small = np.flatnonzero(np.bincount(holes.ravel(), minlength=n + 1) <= 12)
    return closed | np.isin(holes, small[small > 0])


# -- what they are made of --------------------------------------------------------------------------------


def _ball(x: float, y: float, z: float, a: float, b: float | None = None, c: float | None = None) -> Solid:
    centre, radii = np.array([x, y, z]), np.array([a, a if b is None else b, a if c is None else c])
    return lambda p: (((p - centre) / radii) ** 2).sum(axis=1) <= 1


def _box(x: float, y: float, z: float, a: float, b: float, c: float) -> Solid:
    centre, half = np.array([x, y, z]), np.array([a, b, c])
    return lambda p: (np.abs(p - centre) <= half).all(axis=1)


def _cone(
    begin: tuple[float, float, float], end: tuple[float, float, float], at_begin: float, at_end: float
) -> Solid:
    """A cylinder or a cone: radius at either end."""
    a, b = np.array(begin), np.array(end)
    axis = b - a

    def inside(p: np.ndarray) -> np.ndarray:
        along = (p - a) @ axis / (axis @ axis)
        across = np.linalg.norm(p - a - along[:, None] * axis, axis=1)
        radius = at_begin + (at_end - at_begin) * along
        return (along >= 0) & (along <= 1) & (across <= radius)

    return inside


def _ring(x: float, y: float, z: float, radius: float, thick: float, axis: int = 2) -> Solid:
    centre = np.array([x, y, z])

    def inside(p: np.ndarray) -> np.ndarray:
        q = p - centre
        flat = np.delete(q, axis, axis=1)
        return (np.linalg.norm(flat, axis=1) - radius) ** 2 + q[:, axis] ** 2 <= thick**2

    return inside


def _all(*parts: Solid) -> Solid:
    return lambda p: np.logical_or.reduce([part(p) for part in parts])


def _less(whole: Solid, *gone: Solid) -> Solid:
    return lambda p: whole(p) & ~_all(*gone)(p)


def _legs(spread: float, bottom: float, top: float, thick: float) -> list[Solid]:
    return [
        _box(x, y, (bottom + top) / 2, thick, thick, (top - bottom) / 2)
        for x in (-spread, spread)
        for y in (-spread, spread)
    ]


def _spokes(n: int, inner: float, outer: float, width: float, thick: float) -> list[Solid]:
    angles = 2 * np.pi * np.arange(n) / n
    return [
        _cone(
            (inner * np.cos(t), inner * np.sin(t), 0), (outer * np.cos(t), outer * np.sin(t), 0), width, thick
        )
        for t in angles
    ]


SOLIDS: dict[str, Solid] = {
    "aeroplane": _all(
        _ball(0, 0, 0, 0.9, 0.13, 0.13),
        _box(0.05, 0, 0, 0.16, 0.8, 0.035),
        _box(-0.75, 0, 0.02, 0.1, 0.3, 0.03),
        _box(-0.76, 0, 0.18, 0.1, 0.03, 0.18),
    ),
    "bottle": _all(
        _cone((0, 0, -0.9), (0, 0, 0.25), 0.3, 0.3),
        _cone((0, 0, 0.25), (0, 0, 0.5), 0.3, 0.1),
        _cone((0, 0, 0.5), (0, 0, 0.9), 0.1, 0.1),
    ),
    "car": _all(
        _box(0, 0, -0.1, 0.85, 0.36, 0.16),
        _box(-0.08, 0, 0.16, 0.42, 0.31, 0.14),
        *[
            _cone((x, y - 0.06, -0.27), (x, y + 0.06, -0.27), 0.17, 0.17)
            for x in (-0.5, 0.5)
            for y in (-0.33, 0.33)
        ],
    ),
    "chair": _all(
        _box(0, 0, 0, 0.42, 0.42, 0.05), _box(-0.38, 0, 0.45, 0.05, 0.42, 0.42), *_legs(0.36, -0.8, 0, 0.06)
    ),
    "cup": _less(
        _all(_cone((0, 0, -0.5), (0, 0, 0.5), 0.42, 0.5), _ring(0.5, 0, 0, 0.28, 0.07, axis=1)),
        _cone((0, 0, -0.4), (0, 0, 0.6), 0.35, 0.44),
    ),
    "dog": _all(
        _ball(0, 0, 0.05, 0.55, 0.2, 0.22),
        _ball(0.62, 0, 0.35, 0.2, 0.15, 0.15),
        _cone((0.7, 0, 0.32), (0.95, 0, 0.27), 0.1, 0.07),
        _cone((0.45, 0, 0.1), (0.6, 0, 0.35), 0.14, 0.1),
        _cone((-0.5, 0, 0.15), (-0.85, 0, 0.45), 0.06, 0.03),
        *[_cone((x, y, 0), (x, y, -0.65), 0.09, 0.07) for x in (-0.38, 0.38) for y in (-0.12, 0.12)],
    ),
    "fish": _all(
        _ball(0.1, 0, 0, 0.6, 0.14, 0.3),
        _cone((-0.4, 0, 0), (-0.9, 0, 0.02), 0.05, 0.12),
        _box(-0.82, 0, 0, 0.09, 0.03, 0.32),
        _box(0.1, 0, 0.3, 0.2, 0.02, 0.12),
    ),
    "giraffe": _all(
        _ball(-0.15, 0, -0.05, 0.38, 0.17, 0.2),
        _cone((0.1, 0, 0), (0.4, 0, 0.8), 0.13, 0.07),
        _ball(0.5, 0, 0.83, 0.18, 0.08, 0.09),
        *[_cone((x, y, -0.1), (x, y, -0.95), 0.07, 0.05) for x in (-0.4, 0.12) for y in (-0.1, 0.1)],
    ),
    "hammer": _all(_cone((0, 0, -0.9), (0, 0, 0.6), 0.09, 0.09), _box(0.03, 0, 0.65, 0.42, 0.14, 0.14)),
    "hand": _all(
        _box(0, 0, -0.35, 0.36, 0.1, 0.4),
        *[
            _cone((x, 0, 0), (1.25 * x, 0, 0.62 + 0.2 * (abs(x) < 0.2)), 0.09, 0.07)
            for x in (-0.28, -0.1, 0.1, 0.28)
        ],
        _cone((0.3, 0, -0.45), (0.75, 0, 0.05), 0.1, 0.08),
    ),
    "helicopter": _all(
        _ball(0.25, 0, -0.1, 0.45, 0.25, 0.28),
        _cone((0, 0, -0.05), (-0.9, 0, 0.05), 0.1, 0.05),
        _box(0.2, 0, 0.3, 0.75, 0.05, 0.025),
        _box(0.2, 0, 0.3, 0.05, 0.75, 0.025),
        _box(0.2, 0, 0.2, 0.04, 0.04, 0.12),
        _box(-0.88, 0.05, 0.1, 0.04, 0.03, 0.22),
        *[_box(0.25, y, -0.45, 0.4, 0.03, 0.03) for y in (-0.2, 0.2)],
    ),
    "lamp": _all(
        _cone((0, 0, -0.9), (0, 0, -0.82), 0.4, 0.4),
        _cone((0, 0, -0.9), (0, 0, 0.3), 0.05, 0.05),
        _cone((0, 0, 0.2), (0, 0, 0.85), 0.5, 0.25),
    ),
    "mushroom": _all(
        _cone((0, 0, -0.8), (0, 0, 0.1), 0.2, 0.15),
        _less(_ball(0, 0, 0, 0.7, 0.7, 0.6), _box(0, 0, -1, 1, 1, 1)),
    ),
    "person": _all(
        _ball(0, 0, 0.8, 0.13, 0.13, 0.16),
        _ball(0, 0, 0.3, 0.24, 0.14, 0.38),
        _cone((0.2, 0, 0.5), (0.6, 0, 0.05), 0.08, 0.05),
        _cone((-0.2, 0, 0.5), (-0.6, 0, 0.05), 0.08, 0.05),
        _cone((0.1, 0, 0.05), (0.25, 0, -0.95), 0.12, 0.07),
        _cone((-0.1, 0, 0.05), (-0.25, 0, -0.95), 0.12, 0.07),
    ),
    "ring": _ring(0, 0, 0, 0.66, 0.2),
    "spoon": _all(_ball(0.6, 0, 0, 0.32, 0.22, 0.08), _cone((0.35, 0, 0), (-0.9, 0, 0.06), 0.05, 0.06)),
    "star": _all(_ball(0, 0, 0, 0.36, 0.36, 0.16), *_spokes(5, 0.15, 0.92, 0.26, 0.03)),
    "table": _all(
        _box(0, 0, 0.3, 0.75, 0.5, 0.05),
        *[_box(x, y, -0.22, 0.05, 0.05, 0.5) for x in (-0.66, 0.66) for y in (-0.42, 0.42)],
    ),
    "teapot": _all(
        _ball(0, 0, 0, 0.5, 0.5, 0.42),
        _cone((0.35, 0, -0.05), (0.88, 0, 0.35), 0.14, 0.06),
        _ring(-0.55, 0, 0.02, 0.25, 0.06, axis=1),
        _ball(0, 0, 0.48, 0.1),
    ),
    "tree": _all(
        _cone((0, 0, -0.9), (0, 0, -0.4), 0.12, 0.12),
        _cone((0, 0, -0.45), (0, 0, 0.2), 0.55, 0.15),
        _cone((0, 0, -0.05), (0, 0, 0.55), 0.42, 0.1),
        _cone((0, 0, 0.3), (0, 0, 0.92), 0.3, 0.02),
    ),
    "wrench": _less(
        _all(
            _box(0, 0, 0, 0.62, 0.1, 0.06),
            _ball(0.68, 0, 0, 0.24, 0.24, 0.07),
            _ball(-0.68, 0, 0, 0.22, 0.22, 0.07),
        ),
        _box(0.85, 0, 0, 0.2, 0.09, 0.2),
        _cone((-0.68, 0, -0.2), (-0.68, 0, 0.2), 0.1, 0.1),
    ),
}
