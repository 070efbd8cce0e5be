"""What shapes are compared on: our own solids, and two sets of silhouettes that HYPERMODES_DATA may have."""

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hypermodes.experiments.solids import N_VIEWS, silhouettes
from hypermodes.progress import Progress, tracker
from hypermodes.shapes.contexts import shape_contexts
from hypermodes.shapes.contours import contour
from hypermodes.shapes.distances import shape_distances
from hypermodes.shapes.silhouettes import read_silhouettes


class Level(NamedTuple):
    """A question that a set can be asked: which classes its shapes are of."""

    name: str
    label: str
    truth: np.ndarray
    """Class of each shape."""

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(np.unique(self.truth).size)


class ShapeSet(NamedTuple):
    """Distances of shapes, and what is known of them."""

    name: str
    distances: np.ndarray
    levels: tuple[Level, ...]


def shape_sets(cache: Path, *, quick: bool = False, progress: Progress = None) -> Iterator[ShapeSet]:
    """The sets that are there, one after the other; distances are kept in ``cache``.

    Solids are rendered. ETH-80 and Kimia-99 are read from where HYPERMODES_DATA says, and passed over if they
    are not there. ``quick`` takes 12 views of each of six solids, and leaves ETH-80 out.
    """
    solids, views = (6, 12) if quick else (21, N_VIEWS)
    rendered = islice(silhouettes(n_views=views), solids * views)
    names, distances = _compared(
        ((name, mask) for name, _, mask in rendered), solids * views, "rendering solids", cache, progress
    )
    label = f"{solids} solids x {views} views"
    yield ShapeSet("solids", distances, (Level("solids", label, np.array(names)),))
    folder = data_folder()
    if folder is None:
        return
    pictures = folder / "eth80_silhouettes" / "silhouettes.zip"
    if pictures.is_file() and not quick:
        names, distances = _read(pictures, "reading ETH-80", cache, progress)
        objects = np.array([name.split("-")[0] for name in names])  # apple1-022-000.png
        categories = np.array([one.rstrip("0123456789") for one in objects])
        yield ShapeSet(
            "eth80",
            distances,
            (
                Level("eth80_objects", "ETH-80: 80 objects x 41 views", objects),
                Level("eth80_categories", "ETH-80: 8 categories of 410", categories),
            ),
        )
    pictures = folder / "kimia99" / "images"
    if pictures.is_dir():
        names, distances = _read(pictures, "reading Kimia-99", cache, progress)
        classes = np.array([name.split("_")[0] for name in names])  # trainimage4_11.png
        yield ShapeSet("kimia99", distances, (Level("kimia99", "Kimia-99: 9 classes of 11", classes),))


def data_folder() -> Path | None:
    """Where real data are, by the environment variable HYPERMODES_DATA; None if they are not."""
    folder = os.environ.get("HYPERMODES_DATA")
    return Path(folder) if folder and Path(folder).is_dir() else None


def _read(path: Path, what: str, cache: Path, progress: Progress) -> tuple[list[str], np.ndarray]:
    found = read_silhouettes(path)
    return _compared(((one.name, one.mask) for one in found), len(found), what, cache, progress)


def _compared(
    shapes: Iterable[tuple[str, np.ndarray]], n: int, what: str, cache: Path, progress: Progress
) -> tuple[list[str], np.ndarray]:
    """Names, and the distance of each two."""
    names, contexts = [], []
    with tracker(progress, n, what) as advance:
        for name, mask in shapes:
            names.append(name)
            contexts.append(shape_contexts(contour(mask)))
            advance(1)
    return names, shape_distances(np.stack(contexts), cache=cache, progress=progress)
