"""Groups of shapes: from silhouettes to labels, by outlines, their distances, and groups of those."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hypermodes.cluster.api import cluster
from hypermodes.cluster.result import Clusters
from hypermodes.executors import executor_of
from hypermodes.files import as_path, make_folder, write_csv
from hypermodes.images import shrink
from hypermodes.matrices import unmasked
from hypermodes.memory import room_for
from hypermodes.progress import Progress, tracker
from hypermodes.result import counted
from hypermodes.scalars import whole_number
from hypermodes.shapes.contexts import shape_contexts
from hypermodes.shapes.contours import contour
from hypermodes.shapes.distances import shape_distances
from hypermodes.shapes.silhouettes import Silhouette, read_silhouettes
from hypermodes.tree import check_count

MOST = 20_000  # shapes: their table of distances has 1.6 GB
_BYTES_A_PAIR = 112  # of memory, until groups are found in the table
THUMBNAIL = 96  # pixels of the longer side of the small masks that are kept to be shown


@dataclass(frozen=True, eq=False)
class ShapeGroups:
    """Groups of silhouettes, the largest first.

    Attributes
    ----------
    names : tuple of str
        Of the shapes: files, or their numbers.
    clusters : Clusters
        Labels, representatives, tree and modes; items are shapes, in the order of their names.
    distances : (n, n) float32
        How far each two shapes are apart, from 0 to 1.
    thumbnails : tuple of (h, w) arrays of truth values
        The silhouettes without what is around them, 96 pixels or less on the longer side.
    """

    names: tuple[str, ...]
    clusters: Clusters
    distances: np.ndarray
    thumbnails: tuple[np.ndarray, ...]

    @property
    def labels(self) -> np.ndarray:
        """Group of each shape, the largest being 0; -1 for outliers."""
        return self.clusters.labels

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return self.clusters.n_clusters

    def representatives(self, *, n_jobs: int | None = -1, client: Any = None) -> tuple[str, ...]:
        """Name of the shape that stands for each group; arguments as in `Clusters.modes`."""
        return tuple(self.names[int(i)] for i in self.clusters.representatives(n_jobs=n_jobs, client=client))

    def members(self, k: int) -> np.ndarray:
        """Shapes of group k (-1: the outliers): its representative, then those that belong most strongly."""
        last = self.n_groups - 1
        k = whole_number("k", k, f"the number of a group, -1 … {last}", least=-1, most=last, error=IndexError)
        inside = np.flatnonzero(self.labels == k)
        first = inside == (self.clusters.representatives()[k] if k >= 0 else -1)
        order = np.lexsort((inside, -np.round(self.clusters.probabilities[inside], 9), ~first))
        return inside[order]

    def rows(self) -> Iterator[tuple[str, int, float, bool]]:
        """Name, group, probability, and whether it stands for its group, of each shape."""
        stands = np.zeros(len(self.names), dtype=bool)
        stands[self.clusters.representatives()] = True
        columns = (self.labels, self.clusters.probabilities, stands)
        return zip(self.names, *(column.tolist() for column in columns), strict=True)

    def save_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line a shape: file, group (-1 for outliers), probability, representative (1 or 0)."""
        rows = ((name, *rest, int(stands)) for name, *rest, stands in self.rows())
        write_csv(path, ("file", "group", "probability", "representative"), rows)

    def __len__(self) -> int:
        return self.n_groups

    def __repr__(self) -> str:
        n_out = int((self.labels < 0).sum())
        return (
            f"ShapeGroups({counted(self.n_groups, 'group')} of {counted(len(self.names), 'shape')}, "
            f"{counted(n_out, 'outlier')})"
        )


def group_shapes(
    shapes: str | os.PathLike[str] | Sequence[Any],
    n_groups: int | None = None,
    *,
    n_neighbors: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    n_jobs: int | None = -1,
    client: Any = None,
    progress: Progress = None,
) -> ShapeGroups:
    """Find groups of shapes that look alike, wherever they lie, however large, turned or mirrored.

    Parameters
    ----------
    shapes : path, or masks
        A folder of pictures, a zip file of them (`read_silhouettes`), or (height, width) arrays that are
        nonzero inside the shape, of any sizes. Two shapes or more, 20,000 at most.
    n_groups : int, optional
        How many are wanted; found if not given.
    n_neighbors : int, optional
        Neighbours of a shape, as in `cluster`; ⌈log₂ n⌉ if not given.
    cache : path of a folder, optional
        Where distances are kept: an interrupted run goes on from there, and the next is quick.
    n_jobs, client, progress
        As in `find_modes`; a client's workers compare the shapes.

    Notes
    -----
    The outline of the largest piece of each silhouette is all that counts: holes and inner lines do not. Time
    is that of n²/2 comparisons, some 50 µs each on one core.

    Examples
    --------
    >>> y, x = np.mgrid[:32, :32] - 16
    >>> bars = [np.abs(x * np.cos(t) + y * np.sin(t)) < 3 for t in np.arange(9)]
    >>> discs = [x**2 + y**2 < radius**2 for radius in range(6, 14)]
    >>> group_shapes([*bars, *discs], 2).labels
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1])
    """
    check_count("n_groups", n_groups)
    check_count("n_neighbors", n_neighbors)
    with executor_of(client, n_jobs) as executor:
        given = read_silhouettes(shapes) if isinstance(shapes, str | os.PathLike) else _masks(shapes)
        if not 2 <= len(given) <= MOST:
            raise ValueError(f"shapes: expected 2 silhouettes or more, {MOST:,} at most; got {len(given):,}")
        room_for(
            "shapes",
            f"distances of {len(given):,} silhouettes",
            _BYTES_A_PAIR * float(len(given)) ** 2,
            "give fewer",
        )
        if cache is not None:
            make_folder(as_path("cache", cache), "cache")
        names, contexts, thumbnails = _described(given, len(given), progress)
        distances = shape_distances(
            contexts, cache=cache, n_jobs=n_jobs, client=executor.client, progress=progress
        )
    clusters = cluster(
        distances,
        n_groups,
        metric="precomputed",
        n_neighbors=n_neighbors or int(np.ceil(np.log2(len(names)))),
        layout=True,  # views of a thing are a chain, each like the next: how dense they are says little
        n_jobs=n_jobs,
        progress=progress,
    )
    clusters.representatives(n_jobs=n_jobs)  # kept: whatever is written or drawn needs them
    return ShapeGroups(names, clusters, distances, thumbnails)


def _masks(given: Sequence[Any]) -> list[Silhouette]:
    unmasked("shapes", given)
    for i, mask in enumerate(given if isinstance(given, list | tuple) else ()):
        unmasked(f"shapes: mask {i}", mask)
    try:
        return [Silhouette(str(i), np.asarray(mask)) for i, mask in enumerate(given)]
    except (TypeError, ValueError):
        raise ValueError(
            f"shapes: expected a folder, a zip file, or a list of masks; got a {type(given).__name__}"
        ) from None


def _described(
    given: Iterable[Silhouette], n: int, progress: Progress
) -> tuple[tuple[str, ...], np.ndarray, tuple[np.ndarray, ...]]:
    """Names, shape contexts and thumbnails; the silhouettes themselves are let go one by one."""
    names, contexts, thumbnails = [], [], []
    with tracker(progress, n, "reading silhouettes") as advance:
        for name, mask in given:
            try:
                contexts.append(shape_contexts(contour(mask)))
            except ValueError as error:
                raise ValueError(f"shapes: {name!r} is no silhouette: {error}") from None
            thumbnails.append(thumbnail(mask))
            names.append(name)
            advance(1)
    return tuple(names), np.stack(contexts), tuple(thumbnails)


def thumbnail(mask: np.ndarray, longest: int = THUMBNAIL) -> np.ndarray:
    """The silhouette cut out, and made smaller if it is large: a pixel is of it if half of what it covers is.

    Of what would vanish, every pixel that covers some of it is kept.
    """
    inside = np.asarray(mask) != 0
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    inside = inside[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    share = shrink(inside[:, :, None], longest)[:, :, 0]
    small = share >= 0.5
    return small if small.any() else share > 0
