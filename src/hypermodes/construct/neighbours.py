"""Nearest neighbours of points: by tree, by brute force, from given distances, or by an index brought along.

Points are put into the order of their coordinates before anything else happens, so that the order of the
rows plays no part in the answer, not even where distances tie.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from hypermodes.construct.metrics import LARGEST, Geometry, Metric, Straight, geometry_of, new_rows, row_order
from hypermodes.threads import workers

# Up to here a k-d tree is about level with brute force on uniform points, the worst for it.
_TREE_DIMENSIONS = 12
_SPARE = 8  # candidates beyond k that brute force looks at, so that rounding rarely calls for a second look

Block = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows asked for, their neighbours, the distances


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
        indices, distances = np.asarray(self.indices), np.asarray(self.distances)
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
        rising = bool((distances[:, 1:] >= distances[:, :-1]).all())  # NaN is not
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

    def __repr__(self) -> str:
        return f"Neighbours({self.k} of each of {self.n} points)"


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
        self, points: Any, *, metric: Metric = "euclidean", index: Any = None, n_jobs: int | None = -1
    ):
        threads = workers(n_jobs)
        self._given = isinstance(metric, str) and metric == "precomputed"
        if self._given and index is not None:
            raise ValueError("index: precomputed distances leave nothing to search; give one or the other")
        if self._given:
            self._points = _checked_distances(points)
            self._search: _Search = _Table()
        else:
            self._points = _checked_points("points", points)
            self._search = _Exact.among(self._points, geometry_of(metric, self._points), threads)
        if index is not None:
            self._search = _Brought(index, self._search)

    def neighbours(self, k: int) -> Neighbours:
        """The k nearest neighbours of each of the points, itself not counted."""
        n = self._points.shape[0]
        _check_number(k)
        if n <= k:
            raise ValueError(f"points: expected more than k = {k} points; got {n}")
        return self._collected(self._points, np.arange(n), int(k))

    def neighbours_of(self, new_points: Any, k: int) -> Neighbours:
        """The k nearest among the points to each of some new points.

        For precomputed distances the new points are rows of distances to the fitted ones.
        """
        n, columns = self._points.shape
        _check_number(k)
        if n < k:
            raise ValueError(f"points: expected at least k = {k} points; got {n}")
        new = _checked_points("new_points", new_points, stored_zeros=self._given)
        if new.shape[0] == 0 or new.shape[1] != columns:
            raise ValueError(
                f"new_points: expected rows of {columns} numbers, as in points; got shape {new.shape}"
            )
        if self._given:
            _check_not_negative("new_points", new)
        return self._collected(new, None, int(k))

    def _collected(self, points: Any, own: np.ndarray | None, k: int) -> Neighbours:
        shape = (points.shape[0], k)
        indices, distances = np.empty(shape, _row_type(self._points.shape[0])), np.empty(shape)
        for rows, found, apart in self._search.blocks(points, own, k):
            indices[rows], distances[rows] = found, apart
        return Neighbours(indices, distances)


def nearest_neighbours(
    points: Any, k: int, *, metric: Metric = "euclidean", index: Any = None, n_jobs: int | None = -1
) -> Neighbours:
    """The k nearest neighbours of each point, itself not counted; arguments as in `NeighbourSearch`.

    Examples
    --------
    >>> nearest_neighbours([[0.0], [1.0], [3.0], [7.0]], 1).distances.ravel()
    array([1., 1., 2., 4.])
    """
    return NeighbourSearch(points, metric=metric, index=index, n_jobs=n_jobs).neighbours(k)


# -- ways to search -----------------------------------------------------------------------------------


class _Search(Protocol):
    def blocks(self, points: Any, own: np.ndarray | None, k: int) -> Iterator[Block]:
        """Neighbours of ``points``, block by block; ``own`` are their rows if they are fitted ones."""


@dataclass(frozen=True, eq=False)
class _Exact:
    """Exact search among ``places``, points in canonical order; ``order`` has their rows, of ``n`` in all."""

    places: Any
    order: np.ndarray
    n: int
    geometry: Geometry
    threads: int

    @classmethod
    def among(cls, points: Any, geometry: Geometry, threads: int) -> "_Exact":
        places = geometry.enter("points", points)
        n = places.shape[0]
        order = row_order(places).astype(_row_type(n))
        return cls(places[order], order, n, geometry, threads)

    def blocks(self, points: Any, own: np.ndarray | None, k: int) -> Iterator[Block]:
        fitted = own is not None
        queries = self.places[self.rank[own]] if fitted else self.geometry.enter("new_points", points)
        yield from self._thinned(k)._nearest(queries, own, k)

    @cached_property
    def rank(self) -> np.ndarray:
        """Where each row is among the places; -1 if it is not."""
        rank = np.full(self.n, -1, dtype=self.order.dtype)
        rank[self.order] = np.arange(self.order.size)
        return rank

    @cached_property
    def _turn(self) -> np.ndarray:
        """How many of the points at the very same place come before each."""
        at = np.arange(self.order.size)
        return at - np.maximum.accumulate(np.where(new_rows(self.places), at, 0))

    def _thinned(self, k: int) -> "_Exact":
        """Without those behind the first k + 1 at one place: n points at one place would take n² steps."""
        near = self._turn <= k
        if near.all():
            return self
        return _Exact(self.places[near], self.order[near], self.n, self.geometry, self.threads)

    def _nearest(self, queries: Any, own: np.ndarray | None, k: int) -> Iterator[Block]:
        own = None if own is None else self.rank[own]
        if not isinstance(self.geometry, Straight):
            found_blocks = self._by_all_distances(queries, own, k)
        elif sp.issparse(queries) or queries.shape[1] > _TREE_DIMENSIONS:
            found_blocks = self._by_brute_force(queries, own, k, self.geometry)
        else:
            found_blocks = self._by_tree(queries, own, k, self.geometry)
        for rows, found, apart in found_blocks:
            yield rows, self.order[found], self.geometry.leave(apart)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.places, balanced_tree=False)

    def _by_tree(self, queries: Any, own: np.ndarray | None, k: int, space: Straight) -> Iterator[Block]:
        # Leaf by leaf, so that what a query touches is still in the cache; it pays from 10^5 points on.
        everyone = own is not None and own.size == self.order.size
        leaves = self._tree if everyone else cKDTree(queries, balanced_tree=False)
        visit = self.order[leaves.indices] if everyone else leaves.indices
        ask = k if own is None else k + 1
        for rows in _pieces(visit, ask):
            apart, found = self._tree.query(queries[rows], ask, p=space.p, workers=self.threads)
            apart, found = apart.reshape(-1, ask), found.reshape(-1, ask)
            if own is not None:
                found, apart = _without(own[rows], found, apart)
            yield rows, found, apart

    def _by_all_distances(self, queries: Any, own: np.ndarray | None, k: int) -> Iterator[Block]:
        for rows in _pieces(np.arange(queries.shape[0]), self.order.size):
            distances = self.geometry.between(queries[rows], self.places, self.threads)
            if own is not None:
                _strike(own[rows], distances)
            yield rows, *_closest(distances, k)

    def _by_brute_force(
        self, queries: Any, own: np.ndarray | None, k: int, space: Straight
    ) -> Iterator[Block]:
        """Candidates by scikit-learn, their distances from differences, a second look at close calls.

        For p = 2 scikit-learn works with inner products: fast, but a squared distance is uncertain by some
        `doubt`. A row is settled when every point that was no candidate is farther than its k-th
        neighbour beyond doubt.
        """
        n = self.order.size
        ask = min(n, k + _SPARE + (own is not None))
        finder = _Finder(self.places, space, self.threads)
        for rows in _pieces(np.arange(queries.shape[0]), ask):
            asked = queries[rows]
            apart, found = finder.candidates(asked, ask)
            beyond, doubt = apart[:, -1].copy(), finder.doubt(asked)
            if space.p == 2:
                every = np.repeat(np.arange(rows.size), ask)
                apart = space.paired(asked, every, self.places, found.ravel()).reshape(-1, ask)
            if own is not None:
                apart[found == own[rows][:, None]] = np.inf
            found, apart = (array[:, :k] for array in _in_order(found, apart))
            within = apart[:, -1] ** 2 + doubt
            close = np.flatnonzero(~(within < beyond**2)) if ask < n else rows[:0]
            for part in _pieces(close, n):
                distances = finder.all_distances(asked[part])
                if space.p == 2:
                    i, j = np.nonzero(distances**2 <= within[part][:, None])
                    distances[:] = np.inf
                    distances[i, j] = space.paired(asked, part[i], self.places, j)
                if own is not None:
                    _strike(own[rows[part]], distances)
                found[part], apart[part] = _closest(distances, k)
            yield rows, found, apart


class _Finder:
    """Brute force by scikit-learn, seen from the middle of the points: inner products lose fewest digits."""

    def __init__(self, places: Any, space: Straight, threads: int):
        from sklearn.neighbors import NearestNeighbors

        self.space, self.threads = space, threads
        central = space.p == 2 and not sp.issparse(places)
        self.middle = (places.min(axis=0) + places.max(axis=0)) / 2 if central else None
        self.places = self._moved(places)
        self.size = _norms(self.places).max()
        name, parameters = space.as_sklearn
        self.nearest = NearestNeighbors(algorithm="brute", metric=name, **parameters).fit(self.places)

    def _moved(self, points: Any) -> Any:
        return points if self.middle is None else points - self.middle

    def candidates(self, queries: Any, ask: int) -> tuple[np.ndarray, np.ndarray]:
        with _limited(self.threads):
            distances, indices = self.nearest.kneighbors(self._moved(queries), ask)
        return distances, indices

    def all_distances(self, queries: Any) -> np.ndarray:
        with _limited(self.threads):
            return self.space.between(self._moved(queries), self.places, self.threads)

    def doubt(self, queries: Any) -> np.ndarray:
        """How far a squared distance may be off: d rounding errors of terms of this size, with a margin."""
        if self.space.p != 2:
            return np.zeros(queries.shape[0])
        errors = 8 * (queries.shape[1] + 8) * np.finfo(np.float64).eps
        return errors * (_norms(self._moved(queries)) + self.size) ** 2


class _Table:
    """Distances that were given, dense or sparse: points are rows of them."""

    def blocks(self, points: Any, own: np.ndarray | None, k: int) -> Iterator[Block]:
        if sp.issparse(points):
            yield self._sparse(points, own, k)
            return
        for rows in _pieces(np.arange(points.shape[0]), points.shape[1]):
            distances = points[rows].astype(np.float64, copy=False)
            if own is not None:
                _strike(own[rows], distances)
            yield rows, *_closest(distances, k)

    def _sparse(self, graph: sp.csr_array, own: np.ndarray | None, k: int) -> Block:
        from sklearn.neighbors import sort_graph_by_row_values

        n = graph.shape[0]
        if own is not None:
            graph = _without_diagonal(graph)
        counts = np.diff(graph.indptr)
        short = np.flatnonzero(counts < k)
        if short.size:
            name, but = ("new_points", "") if own is None else ("points", " other than itself")
            raise ValueError(
                f"{name}: expected at least k = {k} stored distances in each row{but}; row "
                f"{int(short[0])} has {int(counts[short[0]])}, and {short.size} of {n} rows have too few"
            )
        graph = sort_graph_by_row_values(sp.csr_matrix(graph), copy=True, warn_when_not_sorted=False)
        first = graph.indptr[:-1, None] + np.arange(k)
        return np.arange(n), graph.indices[first], graph.data[first]


class _Brought:
    """An index that somebody else fitted over the same points; where it falls short, ours."""

    def __init__(self, index: Any, exact: Any):
        if not any(callable(getattr(index, name, None)) for name in ("kneighbors", "search")):
            raise ValueError(
                "index: expected a fitted index with kneighbors(X, n_neighbors, return_distance) or "
                f"search(X, k); got a {type(index).__name__}"
            )
        self.index, self.exact = index, exact

    def blocks(self, points: Any, own: np.ndarray | None, k: int) -> Iterator[Block]:
        exact, geometry = self.exact, self.exact.geometry
        queries = geometry.enter("new_points", points)
        ask = k if own is None else k + 1
        for rows in _pieces(np.arange(points.shape[0]), ask):
            found, apart = self._asked(points[rows], ask)
            missing = found < 0
            if isinstance(geometry, Straight):
                places = exact.rank[found.ravel()]  # of -1 as well, which is dropped below
                apart = geometry.paired(queries, np.repeat(rows, ask), exact.places, places)
                apart = geometry.leave(apart).reshape(-1, ask)
            missing |= ~(np.isfinite(apart) & (apart >= 0))
            if own is not None:
                missing |= found == own[rows][:, None]
            apart[missing] = np.inf
            by_number = np.sort(np.where(missing, -1, found), axis=1)
            twice = ((by_number[:, 1:] == by_number[:, :-1]) & (by_number[:, 1:] >= 0)).any(axis=1)
            found, apart = _in_order(found, apart)
            found, apart = found[:, :k].copy(), apart[:, :k].copy()
            short = np.flatnonzero(twice | np.isinf(apart[:, -1]))
            if short.size:
                some = rows[short]
                for part, better, nearer in exact.blocks(points[some], None if own is None else own[some], k):
                    found[short[part]], apart[short[part]] = better, nearer
            yield rows, found, apart

    def _asked(self, points: Any, ask: int) -> tuple[np.ndarray, np.ndarray]:
        if callable(getattr(self.index, "kneighbors", None)):
            apart, found = self.index.kneighbors(points, n_neighbors=ask, return_distance=True)
        else:
            dense = points.toarray() if sp.issparse(points) else points
            apart, found = self.index.search(np.ascontiguousarray(dense, dtype=np.float32), ask)
        apart, found = np.array(apart, dtype=np.float64), np.array(found)
        n = self.exact.n
        expected = (points.shape[0], ask)
        if found.shape != expected or apart.shape != expected or found.dtype.kind not in "iu":
            raise ValueError(
                f"index: expected {ask} distances and row numbers for each of {expected[0]} points; got "
                f"shapes {apart.shape} and {found.shape}, types {apart.dtype} and {found.dtype}"
            )
        found = found.astype(np.int64)
        if found.max() >= n:
            raise ValueError(
                f"index: expected an index over the {n} points themselves; it knows a row {int(found.max())}"
            )
        return np.maximum(found, -1), apart


# -- rows of candidates -------------------------------------------------------------------------------


def _pieces(rows: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """Cut rows into pieces that make blocks of this width no larger than memory should hold at once."""
    step = max(1, LARGEST // max(1, width))
    return (rows[low : low + step] for low in range(0, rows.size, step))


def _row_type(n: int) -> Any:
    return np.int32 if n < np.iinfo(np.int32).max else np.int64


def _closest(distances: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k smallest of each row, nearest first; of equal ones the first in the row."""
    reach = np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    chosen = distances <= reach
    tied = np.flatnonzero(chosen.sum(axis=1) > k)
    if tied.size:
        less = distances[tied] < reach[tied]
        level = distances[tied] == reach[tied]
        room = k - less.sum(axis=1, keepdims=True)
        chosen[tied] = less | (level & (np.cumsum(level, axis=1) <= room))
    found = np.nonzero(chosen)[1].reshape(-1, k)
    return _in_order(found, np.take_along_axis(distances, found, axis=1))


def _in_order(found: np.ndarray, apart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort((found, apart), axis=1)
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(apart, order, axis=1)


def _strike(own: np.ndarray, distances: np.ndarray) -> None:
    """Put each point out of its own reach, in place."""
    there = np.flatnonzero(own >= 0)
    distances[there, own[there]] = np.inf


def _without(own: np.ndarray, found: np.ndarray, apart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave each point out of its neighbours; or the last, where k others at the same place came first."""
    if (found[:, 0] == own).all():
        return found[:, 1:], apart[:, 1:]
    others = found != own[:, None]
    others[:, -1] &= ~others.all(axis=1)
    return found[others].reshape(own.size, -1), apart[others].reshape(own.size, -1)


def _without_diagonal(graph: sp.csr_array) -> sp.csr_array:
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    others = graph.indices != rows
    ends = np.concatenate(([0], np.cumsum(others)))[graph.indptr]
    return sp.csr_array((graph.data[others], graph.indices[others], ends), shape=graph.shape)


def _norms(points: Any) -> np.ndarray:
    return (points.power(2) if sp.issparse(points) else points**2).sum(axis=1) ** 0.5


def _limited(threads: int) -> Any:
    """Keep scikit-learn's own threads to this number; it uses all cores unless told."""
    if threads >= workers(-1):
        return nullcontext()
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    return threadpool_limits(threads)


# -- checks, made once at the border ------------------------------------------------------------------


def _check_number(k: Any) -> None:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k: expected a positive number of neighbours; got {k!r}")


def _checked_points(name: str, given: Any, stored_zeros: bool = False) -> Any:
    """An (n, d) array of float64, or the same in CSR; stored zeros mean nothing unless they are distances."""
    try:
        array = given if sp.issparse(given) else np.asarray(given)
    except ValueError:
        raise ValueError(
            f"{name}: expected an (n, d) array of numbers; got rows of different lengths"
        ) from None
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
    for rows in _pieces(np.arange(table.shape[0]), table.shape[0]):
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
