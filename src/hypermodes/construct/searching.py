"""Ways to search for neighbours: exactly, in a table of distances, or by an index brought along.

Each gives the neighbours of some rows block by block, so that memory stays bounded whatever the number of
points. Those it searches among are in an order of their own, so that the order of the rows plays no part in
the answer, not even where distances tie.
"""

from collections.abc import Generator, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from hypermodes.construct.metrics import LARGEST, Geometry, Straight
from hypermodes.construct.orders import curve_order, new_rows, row_order
from hypermodes.construct.products import SIDE, Products, Seen
from hypermodes.numbering import number_type
from hypermodes.threads import as_done, in_threads, stretches, taken, workers

# Up to here a k-d tree is about level with brute force on uniform points, the worst for it.
_TREE_DIMENSIONS = 12
_SPARE = 8  # candidates beyond k that brute force looks at, so that rounding rarely calls for a second look
_TOGETHER = 256  # rows whose candidates are looked at together
_WORTH = 64  # times as many distances as memory should hold at once, in a block that is sent away

Rows = np.ndarray | slice
Block = tuple[Rows, np.ndarray, np.ndarray]  # rows asked for, their neighbours, the distances
Blocks = Generator[Block, None, None]


class Search(Protocol):
    """A way to search."""

    def blocks(self, points: Any, own: np.ndarray | None, k: int) -> Blocks:
        """Neighbours of ``points``, block by block; ``own`` are their rows if they are fitted ones."""


@dataclass(frozen=True, eq=False)
class Exact:
    """Exact search among ``places``, points in canonical order; ``order`` has their rows, of ``n`` in all."""

    places: Any
    order: np.ndarray
    n: int
    geometry: Geometry
    threads: int

    @classmethod
    def among(cls, places: Any, geometry: Geometry, threads: int, in_order: bool = False) -> "Exact":
        """Put points, as the metric sees them, into an order of their own, if they are in none."""
        n = places.shape[0]
        given = cls(places, np.arange(n, dtype=number_type(n)), n, geometry, threads)
        if in_order and given.by_leaves and isinstance(geometry, Straight) and geometry.keeps_order:
            return given
        order = (curve_order if given.by_leaves else row_order)(places, threads).astype(number_type(n))
        ordered = places[order] if sp.issparse(places) else taken(places, order, threads)
        return replace(given, places=ordered, order=order)

    def blocks(self, points: Any, own: np.ndarray | None, k: int) -> Blocks:
        """By tree where that is fast, else by brute force."""
        thin = self._thinned(k)
        if own is None:
            yield from thin._nearest(self.geometry.enter("new_points", points), None, k)
        else:
            yield from thin._nearest(self.places[self.rank[own]], thin.rank[own], k)

    def of_all(self, k: int) -> Blocks:
        """The neighbours of all rows: of the places as they are, if each counts."""
        everyone = np.arange(self.n, dtype=self.order.dtype)
        if self._thinned(k) is not self:
            yield from self.blocks(None, everyone, k)
            return
        for rows, found, apart in self._nearest(self.places, everyone, k):
            yield rows if self._as_they_came else self.order[rows], found, apart

    def __reduce__(self) -> Any:
        """Trees and ranks are made where they are needed: faster than to have them sent."""
        return Exact, (self.places, self.order, self.n, self.geometry, self.threads)

    def shares(self, k: int) -> Iterator[np.ndarray]:
        """All rows, cut into blocks that are worth a way to other machines: some tenths of a second each."""
        each = 4 * (k + 1) if self.by_leaves else max(4 * (k + 1), self.order.size // _WORTH)
        return pieces(self.order, each)

    @property
    def by_leaves(self) -> bool:
        """Whether a k-d tree is searched, leaf by leaf."""
        straight = isinstance(self.geometry, Straight) and not sp.issparse(self.places)
        return straight and self.places.shape[1] <= _TREE_DIMENSIONS

    @cached_property
    def _as_they_came(self) -> bool:
        """Whether rows and places are the same."""
        return self.order.size == self.n and bool((self.order == np.arange(self.n)).all())

    @cached_property
    def rank(self) -> np.ndarray:
        """Where each row is among the places; -1 if it is not."""
        rank = np.full(self.n, -1, dtype=self.order.dtype)
        rank[self.order] = np.arange(self.order.size)
        return rank

    @cached_property
    def _turn(self) -> np.ndarray:
        """How many of the points at the very same place come before each."""
        new = new_rows(self.places)
        if new.all():
            return np.zeros(new.size, np.int8)
        at = np.arange(new.size)
        return at - np.maximum.accumulate(np.where(new, at, 0))

    def _thinned(self, k: int) -> "Exact":
        """Without those behind the first k + 1 at one place: n points at one place would take n² steps."""
        thin = self._thin.get(k)
        if thin is None:
            near, thin = self._turn <= k, self
            if not near.all():
                thin = Exact(self.places[near], self.order[near], self.n, self.geometry, self.threads)
            self._thin.clear()
            self._thin[k] = thin
        return thin

    @cached_property
    def _thin(self) -> "dict[int, Exact]":
        """What was asked for last: blocks of one search share it, and its tree."""
        return {}

    def _nearest(self, queries: Any, own: np.ndarray | None, k: int) -> Blocks:
        """Rows near some queries, block by block; ``own`` are the places of these, if they have any."""
        if not isinstance(self.geometry, Straight):
            found_blocks = self._by_all_distances(queries, own, k)
        elif self.by_leaves:
            found_blocks = self._by_tree(queries, own, k, self.geometry)
        elif self.geometry.p == 2 and not sp.issparse(self.places):
            found_blocks = _ByProducts(self, queries, own, k, self.geometry).blocks()
        else:
            found_blocks = self._by_brute_force(queries, own, k, self.geometry)
        for rows, found, apart in found_blocks:
            yield rows, found if self._as_they_came else self.order[found], self.geometry.leave(apart)

    @cached_property
    def rough(self) -> Products:
        """The places as a search in single precision sees them."""
        return Products(self.places, np.float32, self.threads)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.places, balanced_tree=False)

    def _by_tree(self, queries: Any, own: np.ndarray | None, k: int, space: Straight) -> Blocks:
        everyone, ask = queries is self.places, k if own is None else k + 1
        tree, width = self._tree, 4 * ask  # blocks of 8 MB: more would go back to the system, and be cleared

        def nearest(rows: Rows) -> Block:
            apart, found = tree.query(queries[rows], ask, p=space.p)
            apart, found = apart.reshape(-1, ask), found.reshape(-1, ask)
            if own is not None:
                found, apart = _without(own[rows], found, apart)
            return rows, found, apart

        # Near ones together, so that what a query touches is still in the cache; it pays from 10^5 points on.
        along = everyone and queries.shape[1] <= 2  # the curve, as they are
        leaves = tree if everyone else cKDTree(queries, balanced_tree=False)
        visit: Iterator[Rows] = (
            stretches(queries.shape[0], _rows_of(width)) if along else pieces(leaves.indices, width)
        )
        yield from as_done(self.threads, nearest, visit)

    def _by_all_distances(self, queries: Any, own: np.ndarray | None, k: int) -> Blocks:
        for rows in pieces(np.arange(queries.shape[0]), self.order.size):
            distances = self.geometry.between(queries[rows], self.places, self.threads)
            if own is not None:
                _strike(own[rows], distances)
            yield rows, *_closest(distances, k)

    def _by_brute_force(self, queries: Any, own: np.ndarray | None, k: int, space: Straight) -> Blocks:
        """Candidates by scikit-learn, their distances from differences, a second look at close calls.

        For p = 2 scikit-learn works with inner products: fast, but a squared distance is uncertain by some
        `doubt`. A row is settled when every point that was no candidate is farther than its k-th
        neighbour beyond doubt.
        """
        n = self.order.size
        ask = min(n, k + _SPARE + (own is not None))
        finder = _Finder(self.places, space, self.threads)
        for rows in pieces(np.arange(queries.shape[0]), ask):
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
            for part in pieces(close, n):
                distances = finder.all_distances(asked[part])
                if space.p == 2:
                    i, j = np.nonzero(distances**2 <= within[part][:, None])
                    distances[:] = np.inf
                    distances[i, j] = space.paired(asked, part[i], self.places, j)
                if own is not None:
                    _strike(own[rows[part]], distances)
                found[part], apart[part] = _closest(distances, k)
            yield rows, found, apart


@dataclass(frozen=True, eq=False)
class _ByProducts:
    """Candidates by inner products, their distances from differences, a second look at close calls.

    A row is settled when every point that was no candidate is farther than its k-th neighbour, whatever
    rounding did: most are in single precision, others in double; for the rest all are seen that may be near.
    So what is found does not depend on how products are rounded.
    """

    exact: Exact
    queries: np.ndarray
    own: np.ndarray | None
    k: int
    space: Straight

    def blocks(self) -> Blocks:
        """Rows near the queries, block by block."""
        n, d = self.exact.places.shape
        fine: Products | None = None
        each = _rows_of(self._ask if self._everyone else max(self._ask, d))
        for block in stretches(self.queries.shape[0], max(1, each // SIDE) * SIDE):
            rows = np.arange(block.start, block.stop)
            found, apart, unsettled = self._candidates(self.exact.rough, block, rows)
            for part in pieces(unsettled, max(self._ask, d)):
                fine = fine or Products(self.exact.places, np.float64, self.exact.threads)
                found[part], apart[part], still = self._candidates(fine, rows[part], rows[part])
                for few in pieces(part[still], n):
                    found[few], apart[few] = self._all(fine, rows[few], apart[few])
            yield rows, found, apart

    @property
    def _everyone(self) -> bool:
        return self.queries is self.exact.places

    @property
    def _ask(self) -> int:
        return min(self.exact.order.size, self.k + _SPARE + (self.own is not None))

    def _seen(self, products: Products, rows: Rows) -> Seen:
        return products.places[rows] if self._everyone else products.seen(self.queries[rows])

    def _candidates(
        self, products: Products, block: Rows, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The nearest of the candidates for some rows, their distances, and which rows are not settled."""
        ask, k, places = self._ask, self.k, self.exact.places
        first = block.start if self._everyone and isinstance(block, slice) else None
        asked = self._seen(products, block)
        chosen, beyond = products.candidates(asked, ask, first)
        found, apart = np.empty((rows.size, k), chosen.dtype), np.empty((rows.size, k))
        settled = np.full(rows.size, ask == places.shape[0])

        def look(part: slice) -> None:
            there, i = chosen[part], np.repeat(rows[part], ask)
            distances = self.space.paired(self.queries, i, places, there.ravel()).reshape(-1, ask)
            if self.own is not None:
                distances[there == self.own[rows[part]][:, None]] = np.inf
            there, distances = _in_order(there, distances)
            found[part], apart[part] = there[:, :k], distances[:, :k]
            settled[part] |= products.limit(asked[part], distances[:, k - 1]) < beyond[part]

        in_threads(self.exact.threads, look, stretches(rows.size, _TOGETHER))
        return found, apart, np.flatnonzero(~settled)

    def _all(self, products: Products, rows: np.ndarray, apart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nearest of all that may be no farther than those known."""
        asked = self._seen(products, rows)
        distances = products.squares(asked)
        i, j = np.nonzero(~(distances > products.limit(asked, apart[:, -1])[:, None]))
        distances[:] = np.inf
        distances[i, j] = self.space.paired(self.queries, rows[i], self.exact.places, j)
        if self.own is not None:
            _strike(self.own[rows], distances)
        return _closest(distances, self.k)


class _Finder:
    """Brute force by scikit-learn: sparse points, or powers other than 2."""

    def __init__(self, places: Any, space: Straight, threads: int):
        from sklearn.neighbors import NearestNeighbors

        self.space, self.threads = space, threads
        self.places = places
        self.size = _norms(self.places).max()
        name, parameters = space.as_sklearn
        self.nearest = NearestNeighbors(algorithm="brute", metric=name, **parameters).fit(self.places)

    def candidates(self, queries: Any, ask: int) -> tuple[np.ndarray, np.ndarray]:
        with _limited(self.threads):
            distances, indices = self.nearest.kneighbors(queries, ask)
        return distances, indices

    def all_distances(self, queries: Any) -> np.ndarray:
        with _limited(self.threads):
            return self.space.between(queries, self.places, self.threads)

    def doubt(self, queries: Any) -> np.ndarray:
        """How far a squared distance may be off: d rounding errors of terms of this size, with a margin."""
        if self.space.p != 2:
            return np.zeros(queries.shape[0])
        errors = 8 * (queries.shape[1] + 8) * np.finfo(np.float64).eps
        return errors * (_norms(queries) + self.size) ** 2


class Table:
    """Distances that were given, dense or sparse: points are rows of them."""

    def blocks(self, points: Any, own: np.ndarray | None, k: int) -> Blocks:
        """The smallest entries of each row."""
        if sp.issparse(points):
            yield self._sparse(points, own, k)
            return
        for rows in pieces(np.arange(points.shape[0]), points.shape[1]):
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


def check_index(index: Any) -> None:
    """See that something can be asked for neighbours."""
    if not any(callable(getattr(index, name, None)) for name in ("kneighbors", "search")):
        raise ValueError(
            "index: expected a fitted index with kneighbors(X, n_neighbors, return_distance) or "
            f"search(X, k); got a {type(index).__name__}"
        )


class Brought:
    """An index that somebody else fitted over the same points; where it falls short, ours."""

    def __init__(self, index: Any, exact: Any):
        self.index, self.exact = index, exact

    def blocks(self, points: Any, own: np.ndarray | None, k: int) -> Blocks:
        """What the index finds, its distances computed anew where the metric allows."""
        exact, geometry = self.exact, self.exact.geometry
        queries = geometry.enter("new_points", points)
        ask = k if own is None else k + 1
        for rows in pieces(np.arange(points.shape[0]), ask):
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


def pieces(rows: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """Cut rows into pieces that make blocks of this width no larger than memory should hold at once."""
    return (rows[part] for part in stretches(rows.size, _rows_of(width)))


def _rows_of(width: int) -> int:
    """How many of them make such a block."""
    return max(1, LARGEST // max(1, width))


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
