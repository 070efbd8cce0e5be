"""Coordinates of few dimensions in which items that are tied are near and others are not.

Items attract each other along their ties, and each is repelled by some others drawn at random, which stand
for all (McInnes, Healy & Melville, 2018). All move at once. They begin where a random walk along the ties,
the slowest directions of it, puts them. Connected parts are laid out on their own and put side by side: what
a part looks like does not depend on the others.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.layout.settings import LAYOUT, LayoutSettings
from hypermodes.layout.ties import Ties, canonical_order
from hypermodes.threads import stretches, workers

BLOCK = 8192  # items whose sums are added up together, whatever the number of threads
FIRST_SPREAD = 10.0  # half the width of a part in the beginning
JITTER = 1e-3  # that keeps items which look the same apart
GAP = 2.0  # between parts that are kept apart, in widths of the widest
MARGIN = 1.0  # between parts in a picture, in units of the layout


@dataclass(frozen=True, eq=False)
class _Graph:
    """Tied items in canonical order, part after part."""

    matrix: sp.csr_array
    degree: np.ndarray
    first: np.ndarray
    last: np.ndarray
    begins: np.ndarray


def embedded(
    ties: Ties,
    n_dimensions: int,
    *,
    settings: LayoutSettings = LAYOUT,
    n_jobs: int | None = -1,
    advance: Callable[[int], object] = lambda amount: None,
    compact: bool = False,
) -> np.ndarray:
    """Coordinates of the items; NaN for those without a tie. ``advance`` is told each epoch.

    Connected parts are side by side: ``compact`` as in a picture, or so far apart that none is near another.
    """
    coordinates = np.full((ties.n, n_dimensions), np.nan)
    tied = np.flatnonzero(ties.tied)
    if tied.size == 0:
        advance(settings.epochs)
        return coordinates
    items, graph = _in_order(ties, tied)
    threads = workers(n_jobs)
    with ThreadPoolExecutor(max_workers=threads) as pool:
        places = _first_places(graph, n_dimensions, settings.steps, pool).astype(np.float32)
        places = _moved(graph, places, settings, pool, threads, advance)
    arranged = _packed if compact else _far_apart
    coordinates[items] = arranged(places.astype(np.float64), graph.begins)
    return coordinates


def _in_order(ties: Ties, tied: np.ndarray) -> tuple[np.ndarray, _Graph]:
    """The tied items in canonical order, largest part first, and their graph."""
    order = canonical_order(ties.matrix)
    order = order[ties.tied[order]]
    part = ties.parts()[order]
    names, seen, number, size = np.unique(part, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(names.size, np.int64)
    rank[np.lexsort((seen, -size))] = np.arange(names.size)
    by_part = np.argsort(rank[number], kind="stable")
    items = order[by_part]
    begins = np.concatenate(([0], np.cumsum(np.sort(size)[::-1])))
    matrix = sp.csr_array(ties.matrix[items][:, items])
    matrix.sort_indices()
    row = np.repeat(np.arange(items.size), np.diff(matrix.indptr))
    degree = np.bincount(row, weights=matrix.data, minlength=items.size)
    sizes = np.diff(begins)
    return items, _Graph(matrix, degree, np.repeat(begins[:-1], sizes), np.repeat(begins[1:], sizes), begins)


def _first_places(graph: _Graph, n_dimensions: int, steps: int, pool: Any) -> np.ndarray:
    """Each part by the slowest directions of its random walk, found by subspace iteration."""
    from hypermodes._kernels.layout import random_positions, walk

    matrix, extra = graph.matrix, n_dimensions + 3
    places = np.empty((graph.degree.size, extra))
    for begin, end in zip(graph.begins[:-1], graph.begins[1:], strict=True):
        random_positions(begin, begin, places[begin:end])
    jitter = places[:, :n_dimensions] * JITTER
    large = [(b, e) for b, e in zip(graph.begins[:-1], graph.begins[1:], strict=True) if e - b > 2 * extra]
    end_of_large = large[-1][1] if large else 0
    blocks = [slice(part.start, part.stop) for part in stretches(end_of_large, BLOCK)]
    other = np.empty_like(places)

    def smooth(part: slice) -> None:
        walk(matrix.indptr, matrix.indices, matrix.data, graph.degree, places, part.start, other[part])

    for step in range(steps):
        list(pool.map(smooth, blocks))
        places, other = other, places
        if step % 5 == 4 or step == steps - 1:
            for begin, end in large:
                places[begin:end] = _independent(places[begin:end], graph.degree[begin:end])
    list(pool.map(smooth, blocks))
    for begin, end in large:
        own, moved = places[begin:end], other[begin:end]
        products = _sums(graph.degree[begin:end], own, moved)
        _, turn = np.linalg.eigh((products + products.T) / 2)
        chosen = _einsum(own, turn[:, ::-1][:, :n_dimensions])
        widest = np.abs(chosen).max(axis=0)
        places[begin:end, :n_dimensions] = chosen * (FIRST_SPREAD / np.where(widest > 0, widest, 1.0))
    return places[:, :n_dimensions] + jitter


def _independent(places: np.ndarray, degree: np.ndarray) -> np.ndarray:
    """The same directions, without their mean, at right angles and of length 1 where degrees are weights."""
    ones = np.ones((degree.size, 1))
    places = places - _sums(degree, ones, places) / _sums(degree, ones, ones)
    products = _sums(degree, places, places)
    products += 1e-12 * np.trace(products) * np.eye(len(products)) + np.finfo(float).tiny * np.eye(
        len(products)
    )
    root = np.linalg.cholesky(products)
    return _einsum(places, np.linalg.inv(root).T)


def _sums(degree: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Σ_i degree_i left_i right_iᵀ, block by block: linear algebra with threads has other last bits."""
    from hypermodes._kernels.layout import weighted_products

    total, one = np.zeros((left.shape[1], right.shape[1])), np.empty((left.shape[1], right.shape[1]))
    for part in stretches(degree.size, BLOCK):
        weighted_products(degree[part], left[part], right[part], one)
        total += one
    return total


def _einsum(places: np.ndarray, turn: np.ndarray) -> np.ndarray:
    return np.einsum("ia,ab->ib", places, np.ascontiguousarray(turn))


def _moved(
    graph: _Graph,
    places: np.ndarray,
    settings: LayoutSettings,
    pool: Any,
    threads: int,
    advance: Callable[[int], object],
) -> np.ndarray:
    from hypermodes._kernels.layout import move

    matrix, n = graph.matrix, graph.degree.size
    tie, degree = matrix.data.astype(np.float32), graph.degree.astype(np.float32)
    other = np.empty_like(places)
    shares = stretches(n, max(1, -(-n // (4 * threads)))) if n > 1000 else [slice(0, n)]
    shares = list(shares)
    for epoch in range(settings.epochs):
        step = np.float32(1 - epoch / settings.epochs)
        run = partial(
            _move_part, move, (matrix.indptr, matrix.indices, tie, degree, graph.first, graph.last),
            places, other,
            (epoch, step, np.float32(settings.repulsion), settings.samples, settings.most_ties),
        )  # fmt: skip
        if len(shares) == 1:
            run(shares[0])
        else:
            list(pool.map(run, shares))
        places, other = other, places
        advance(1)
    return places


def _move_part(
    move: Any, graph: tuple[Any, ...], now: np.ndarray, new: np.ndarray, how: tuple[Any, ...], part: slice
) -> None:
    move(*graph, now, part.start, *how, new[part])


def _far_apart(places: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Parts in a row, as far apart that none is near another."""
    low, high = _boxes(places, begins)
    middle = (low + high) / 2
    width = float((high - low).max())
    where = np.zeros_like(low)
    where[:, 0] = np.arange(len(low)) * width * (1 + GAP)
    return places + np.repeat(where - middle, np.diff(begins), axis=0)


def _packed(places: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Parts on shelves, the largest first, each as wide as it is: a picture of about equal sides."""
    low, high = _boxes(places, begins)
    width = high - low + MARGIN
    across = width[:, 0]
    down = width[:, 1] if width.shape[1] > 1 else np.zeros(len(width))
    full = max(float(across.max()), float(np.sqrt((across * down).sum()))) if down.any() else np.inf
    where = np.zeros_like(low)
    x = y = shelf = 0.0
    for part, (wide, high_) in enumerate(zip(across.tolist(), down.tolist(), strict=True)):
        if x > 0 and x + wide > full:
            x, y, shelf = 0.0, y + shelf, 0.0
        where[part, 0] = x
        if width.shape[1] > 1:
            where[part, 1] = y
        x, shelf = x + wide, max(shelf, high_)
    return places + np.repeat(where - low, np.diff(begins), axis=0)


def _boxes(places: np.ndarray, begins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest coordinates of each part."""
    low = np.minimum.reduceat(places, begins[:-1], axis=0)
    return low, np.maximum.reduceat(places, begins[:-1], axis=0)
