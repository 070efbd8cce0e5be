"""Nearest neighbours of points: what is given is checked here and searched in one of several ways."""

from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from hypermodes.construct.metrics import Metric, Straight, geometry_of
from hypermodes.construct.searching import Block, Blocks, Brought, Exact, Search, Table, check_index, pieces
from hypermodes.executors import executor_of
from hypermodes.matrices import given_matrix, unmasked
from hypermodes.numbering import number_type
from hypermodes.scalars import whole_number
from hypermodes.threads import stretches, workers

_FEW = 3  # dimensions in which a k-d tree finds neighbours in microseconds


@dataclass(frozen=True, eq=False, repr=False)
class Neighbours:
    """The k nearest neighbours of each of n points, nearest first. Both arrays are read-only.

    Parameters
    ----------
    indices : (n, k) int
        Rows of the points they were looked for among. A point is not its own neighbour; another point at
        the very same place is one, at distance 0.
    distances : (n, k) float
        Never falling along a row.
    """

    indices: np.ndarray
    distances: np.ndarray

    def __post_init__(self) -> None:
        indices = np.asarray(unmasked("indices", self.indices))
        distances = np.asarray(unmasked("distances", self.distances))
        if indices.ndim != 2 or indices.dtype.kind not in "iu" or 0 in indices.shape:
            raise ValueError(
                f"indices: expected an (n, k) array of row numbers; got shape {indices.shape}, "
                f"type {indices.dtype}"
            )
        if distances.shape != indices.shape or distances.dtype.kind not in "fiu":
            raise ValueError(
                f"distances: expected {indices.shape[0]} x {indices.shape[1]} numbers, as many as indices; "
                f"got shape {distances.shape}, type {distances.dtype}"
            )
        if indices.min() < 0:
            raise ValueError(f"indices: expected row numbers, 0 or more; the smallest is {indices.min()}")
        distances = distances.astype(np.float64, copy=False)
        parts = [distances[part] for part in stretches(distances.shape[0])]
        rising = all((part[:, 1:] >= part[:, :-1]).all() for part in parts)  # NaN is not
        if not (rising and (distances[:, 0] >= 0).all() and (distances[:, -1] < np.inf).all()):
            raise ValueError(
                "distances: expected finite numbers, 0 or more, that never fall along a row (nearest first)"
            )
        for name, array in (("indices", indices), ("distances", distances)):
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    @property
    def n(self) -> int:
        """Number of points whose neighbours these are."""
        return int(self.indices.shape[0])

    @property
    def k(self) -> int:
        """Number of neighbours of each."""
        return int(self.indices.shape[1])

    def first(self, k: int) -> "Neighbours":
        """The k nearest of these."""
        return Neighbours(self.indices[:, :k], self.distances[:, :k])

    def __repr__(self) -> str:
        return f"Neighbours({self.k} of each of {self.n} points)"


class Outline(NamedTuple):
    """What is known of the k nearest neighbours of n points without all of the distances, two thirds of it.

    The arrays are read-only.

    Attributes
    ----------
    indices : (n, k) int
        As in `Neighbours`.
    reach : (n,) float
        Distance to the k-th.
    growth : (n,) float
        Sum of the logarithms of d_k over each other distance; NaN where the nearest is at distance 0.
    """

    indices: np.ndarray
    reach: np.ndarray
    growth: np.ndarray

    @classmethod
    def of(cls, neighbours: Neighbours) -> Self:
        """That of neighbours whose distances are known."""
        growth = np.empty(neighbours.n)
        for part in stretches(neighbours.n):
            growth[part] = _growth(neighbours.distances[part])
        growth.flags.writeable = False
        return cls(neighbours.indices, neighbours.distances[:, -1], growth)


class NeighbourSearch:
    """Looks for neighbours among a set of points: those of the points themselves, and those of new ones.

    Parameters
    ----------
    points : (n, d) array of numbers, or sparse matrix with a row for each point
        With ``metric="precomputed"`` the distances themselves: an (n, n) array, symmetric with a zero
        diagonal, or a sparse matrix with a row of distances for each point, as
        ``sklearn.neighbors.kneighbors_graph(mode="distance")`` gives. What is stored in the latter is a
        distance, 0 as well; what is not stored is far away. It need not be symmetric.
    metric : str, Minkowski or function
        A name scikit-learn knows that needs no parameters ("euclidean", "manhattan", "cosine", "jaccard", …),
        ``Minkowski(p)``, a function of two points, or "precomputed".
    index : object, optional
        A fitted index over the same points in the same order, for approximate search: anything with
        ``kneighbors(X, n_neighbors, return_distance)`` as in scikit-learn, or with ``search(X, k)`` as in
        faiss, which gives (distances, indices) and is asked in float32.
    n_jobs : int
        Threads; -1 for all cores. The result does not depend on it.
    in_order : bool
        Whether the rows come in the order of `orders.curve_order`: a k-d tree need not put them into it, nor
        copy them, if they are read-only.

    Notes
    -----
    *Exact.* Minkowski (Euclidean, Manhattan, Chebyshev, …) and cosine distances are searched by k-d tree up
    to 12 dimensions, and by brute force above or if sparse; every other metric by brute force, which takes
    n² distances and keeps a block of them at a time (32 MB). Euclidean distances are computed from
    differences: points at one place are at distance 0, and neither unit nor origin cost digits.

    *Ties.* Where several points are equally far and not all can be among the k, the choice follows from the
    places of all points, never from the order of the rows; that order decides only which of several points
    at one and the same place is meant. Of more than k + 1 at one place, those behind the first k + 1 rows
    are nobody's neighbours. Precomputed distances have no places: of equal ones, lower rows come first.

    *Index.* It chooses the neighbours. In a Minkowski or the cosine metric their distances are computed anew,
    so it does not matter that L2 indexes of faiss give squares; in any other metric they are taken as
    given. Where it finds fewer than k (-1 is missing), or one twice, the search is exact.

    Examples
    --------
    >>> search = NeighbourSearch([[0.0], [1.0], [3.0], [7.0]])
    >>> search.neighbours(2).indices.tolist()
    [[1, 2], [0, 2], [1, 0], [2, 1]]
    >>> search.neighbours_of([[6.0]], 2).distances
    array([[1., 3.]])
    """

    def __init__(
        self,
        points: Any,
        *,
        metric: Metric = "euclidean",
        index: Any = None,
        n_jobs: int | None = -1,
        in_order: bool = False,
    ):
        self._threads = workers(n_jobs)
        self._given = isinstance(metric, str) and metric == "precomputed"
        if self._given and index is not None:
            raise ValueError("index: precomputed distances leave nothing to search; give one or the other")
        if self._given:
            self._points = _checked_distances(points)
            return
        self._points = _checked_points("points", points)
        self._geometry = geometry_of(metric, self._points)
        self._index, self._in_order = index, in_order
        if index is not None:
            check_index(index)

    @cached_property
    def _search(self) -> Search:
        """What is searched with, made when it is first asked: to have points checked costs little."""
        if self._given:
            return Table()
        places = self._geometry.enter("points", self._points)
        if self._in_order and places is self._points and isinstance(places, np.ndarray):
            places = places.copy() if places.flags.writeable else places  # the caller's may change
        exact = Exact.among(places, self._geometry, self._threads, self._in_order)
        return exact if self._index is None else Brought(self._index, exact)

    def neighbours(self, k: int, *, client: Any = None) -> Neighbours:
        """The k nearest neighbours of each of the points, itself not counted.

        With a ``client``, as in `find_modes`, exact search is done on its workers, in blocks of rows.
        """
        return self._gathered(self._points.shape[0], self._all_blocks(k, client), k)

    @property
    def points(self) -> Any:
        """The points, checked, in double precision; distances if they were given."""
        return self._points

    @property
    def has_axes(self) -> bool:
        """Whether distances stay what they are when axes are turned round, or come in another order."""
        return not self._given and isinstance(self._geometry, Straight) and not sp.issparse(self._points)

    @property
    def quick(self) -> bool:
        """Whether distances are found in microseconds, by a k-d tree in few dimensions."""
        few = self._points.shape[1] <= _FEW
        return few and isinstance(self._search, Exact) and self._search.by_leaves

    def outline(self, k: int, *, client: Any = None) -> Outline:
        """As `neighbours`, but of distances the longest are kept, and how they grow."""
        n = self._points.shape[0]
        with closing(self._all_blocks(k, client)) as blocks:
            indices, reach = np.empty((n, k), number_type(n)), np.empty(n)
            growth = np.empty(n)
            for rows, found, apart in blocks:
                indices[rows], reach[rows], growth[rows] = found, apart[:, -1], _growth(apart)
        for array in (indices, reach, growth):
            array.flags.writeable = False
        return Outline(indices, reach, growth)

    def neighbours_of(self, new_points: Any, k: int) -> Neighbours:
        """The k nearest among the points to each of some new points.

        For precomputed distances the new points are rows of distances to the fitted ones.
        """
        n = self._points.shape[0]
        _check_number(k)
        if n < k:
            raise ValueError(f"points: expected at least k = {k} points; got {n}")
        new = self.checked(new_points)
        return self._gathered(new.shape[0], self._search.blocks(new, None, int(k)), k)

    def checked(self, new_points: Any) -> Any:
        """New points as (n, d) numbers; an error if they are none, or of another number of columns."""
        columns = self._points.shape[1]
        new = _checked_points("new_points", new_points, stored_zeros=self._given)
        if new.shape[0] == 0 or new.shape[1] != columns:
            raise ValueError(
                f"new_points: expected rows of {columns} numbers, as in points; got shape {new.shape}"
            )
        if self._given:
            _check_not_negative("new_points", new)
        return new

    def _all_blocks(self, k: int, client: Any) -> Blocks:
        """The neighbours of all points among themselves."""
        n = self._points.shape[0]
        _check_number(k)
        if n <= k:
            raise ValueError(f"points: expected more than k = {k} points; got {n}")
        if isinstance(self._search, Exact):
            return self._search.of_all(int(k)) if client is None else self._sent(self._search, int(k), client)
        return self._search.blocks(self._points, np.arange(n), int(k))

    def _gathered(self, n: int, found_blocks: Blocks, k: int) -> Neighbours:
        with closing(found_blocks) as blocks:
            indices, distances = np.empty((n, k), number_type(self._points.shape[0])), np.empty((n, k))
            for rows, found, apart in blocks:
                indices[rows], distances[rows] = found, apart
        return Neighbours(indices, distances)

    def _sent(self, search: Exact, k: int, client: Any) -> Blocks:
        """The neighbours of all points, found elsewhere."""
        jobs = ((i, (own, k)) for i, own in enumerate(search.shares(k)))
        with (
            executor_of(client, 1) as executor,
            closing(executor.each(_found, replace(search, threads=1), jobs)) as done,
        ):
            for _, block in done:
                yield block


def _found(search: Exact, job: tuple[np.ndarray, int]) -> Block:
    """Neighbours of some of the points that are searched among."""
    own, k = job
    indices, distances = np.empty((own.size, k), number_type(search.n)), np.empty((own.size, k))
    for rows, found, apart in search.blocks(None, own, k):
        indices[rows], distances[rows] = found, apart
    return own, indices, distances


def nearest_neighbours(
    points: Any,
    k: int,
    *,
    metric: Metric = "euclidean",
    index: Any = None,
    n_jobs: int | None = -1,
    client: Any = None,
) -> Neighbours:
    """The k nearest neighbours of each point, itself not counted; arguments as in `NeighbourSearch`.

    With a ``client``, as in `find_modes`, exact search is done on the workers of a Dask cluster, or by
    joblib. The result is the same to the last bit.

    Examples
    --------
    >>> nearest_neighbours([[0.0], [1.0], [3.0], [7.0]], 1).distances.ravel()
    array([1., 1., 2., 4.])
    """
    return NeighbourSearch(points, metric=metric, index=index, n_jobs=n_jobs).neighbours(k, client=client)


def _growth(distances: np.ndarray) -> np.ndarray:
    """Σ_j log(d_k/d_j) of each row; NaN where d_1 is 0."""
    longest = np.where(distances[:, 0] > 0, distances[:, -1], np.nan)
    shares = distances[:, :-1] / longest[:, None]
    product = shares.prod(axis=1)  # one logarithm for all of them
    tiny = np.flatnonzero(product < 1e-290)
    product[tiny] = 1.0
    growth = -np.log(product)
    growth[tiny] = -np.log(shares[tiny]).sum(axis=1)
    return np.asarray(growth)


# -- checks, made once at the border ------------------------------------------------------------------


def _check_number(k: Any) -> None:
    whole_number("k", k, "a positive number of neighbours")


def _checked_points(name: str, given: Any, stored_zeros: bool = False) -> Any:
    """An (n, d) array of float64, or the same in CSR; stored zeros mean nothing unless they are distances."""
    array = given_matrix(name, given, "an (n, d) array of numbers")
    if array.ndim != 2 or array.dtype.kind not in "fiub" or array.shape[1] == 0:
        hint = "; for one feature a point, use points[:, None]" if array.ndim == 1 else ""
        raise ValueError(
            f"{name}: expected an (n, d) array of numbers; got shape {array.shape}, type {array.dtype}{hint}"
        )
    if sp.issparse(array):
        array = sp.csr_array(array, dtype=np.float64, copy=True)
        array.sort_indices()
        if not stored_zeros:
            array.sum_duplicates()
            array.eliminate_zeros()
    else:
        array = array.astype(np.float64, copy=False)
    if not np.isfinite(array.data if sp.issparse(array) else array).all():
        what = "distances" if stored_zeros else "coordinates"
        raise ValueError(f"{name}: expected finite {what}; found NaN or infinity")
    return array


def _checked_distances(given: Any) -> Any:
    table = _checked_points("points", given, stored_zeros=True)
    if table.shape[0] != table.shape[1]:
        raise ValueError(f"points: expected a square matrix of distances; got shape {table.shape}")
    _check_not_negative("points", table)
    diagonal = table.diagonal()
    if diagonal.any():
        i = int(np.flatnonzero(diagonal)[0])
        raise ValueError(
            f"points: expected distances, so 0 on the diagonal; entry ({i}, {i}) is {float(diagonal[i])!r}"
        )
    if sp.issparse(table):
        if not table.has_canonical_format:
            raise ValueError("points: expected each distance once; some entry is stored twice")
        return table
    largest = float(table.max())
    for rows in pieces(np.arange(table.shape[0]), table.shape[0]):
        gap = np.abs(table[rows] - table[:, rows].T).max()
        if gap > 1e-8 * largest:
            raise ValueError(
                f"points: expected symmetric distances; some pair differs by {float(gap)!r}. "
                "If that is meant, use (D + D.T) / 2"
            )
    return table


def _check_not_negative(name: str, table: Any) -> None:
    values = table.data if sp.issparse(table) else table
    if values.min(initial=0.0) < 0:
        raise ValueError(f"{name}: expected distances, 0 or more; the smallest is {float(values.min())!r}")
