"""Threads over work that leaves the interpreter free: how many, maps over them, sorting; work without any."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from hypermodes.scalars import whole_number

In = TypeVar("In")
Out = TypeVar("Out")


def workers(n_jobs: int | None) -> int:
    """Number of threads: as given, or counted back from the number of cores (-1 or None: all of them)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    expected = "a number of threads, or -1 for all cores"
    n_jobs = whole_number("n_jobs", n_jobs, expected, least=None)
    if n_jobs == 0:
        raise ValueError(f"n_jobs: expected {expected}; got 0")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def in_threads(n_jobs: int | None, function: Callable[[In], Out], inputs: Iterable[In]) -> list[Out]:
    """Apply a function to each input, in threads; the results in the order of the inputs."""
    if workers(n_jobs) == 1:
        return [function(one) for one in inputs]
    with ThreadPoolExecutor(max_workers=workers(n_jobs)) as pool:
        return list(pool.map(function, inputs))


def as_done(n_jobs: int | None, function: Callable[[In], Out], inputs: Iterable[In]) -> Iterator[Out]:
    """Apply a function to each input, in threads; the results as they come, in the order of the inputs.

    No more than two a thread are under way, or wait to be taken.
    """
    width = workers(n_jobs)
    if width == 1:
        yield from map(function, inputs)
        return
    with ThreadPoolExecutor(max_workers=width) as pool:
        running: deque[Future[Out]] = deque()
        try:
            for one in inputs:
                running.append(pool.submit(function, one))
                if len(running) == 2 * width:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()


def argsorted(values: np.ndarray, n_jobs: int | None = 1, *, falling: bool = False) -> np.ndarray:
    """The same as a stable ``np.argsort`` of finite numbers, or of minus them; faster where there are many.

    From the lowest to the highest there are 2³² steps. The step of each number and its place make one
    integer, and these are sorted by themselves: a stretch for each thread, and the stretches merged. What is
    left are numbers on one and the same step.
    """
    n = values.size
    if not _WORTH_PACKING <= n < _STEPS:
        return _sorted_at_once(values, falling)
    low, high = values.min(), values.max()
    span = float(high) - float(low)
    if not (0 < span < np.inf and (_STEPS - 1) / span < np.inf):
        return _sorted_at_once(values, falling)
    packed = np.empty(n, np.uint64)
    ties = np.zeros(n, bool)

    def pack(part: slice) -> None:
        ends = (high, values[part]) if falling else (values[part], low)
        above = np.subtract(*ends, dtype=np.float64)  # in float32, 2³² - 1 steps would be 2³²
        steps = (above * ((_STEPS - 1) / span)).astype(np.uint64)
        packed[part] = steps * np.uint64(_STEPS) + np.arange(part.start, part.stop, dtype=np.uint64)

    def compare(part: slice) -> None:
        here, behind = packed[part.start : part.stop - 1], packed[part.start + 1 : part.stop]
        ties[part.start : part.stop - 1] = (here ^ behind) < _STEPS

    in_threads(n_jobs, pack, stretches(n))
    in_threads(n_jobs, lambda part: packed[part].sort(), stretches(n, -(-n // workers(n_jobs))))
    packed.sort(kind="stable")  # Timsort finds stretches that are in order
    in_threads(n_jobs, compare, stretches(n, overlap=1))
    packed &= np.uint64(_STEPS - 1)
    order = packed.view(np.int64)
    ties[1:] |= ties[:-1]
    if (tied := np.flatnonzero(ties)).size:
        order[tied] = order[tied[_sorted_at_once(values[order[tied]], falling)]]
    return order


def _sorted_at_once(values: np.ndarray, falling: bool) -> np.ndarray:
    if falling:
        values = values.max(initial=0) - values if values.dtype.kind == "u" else -values
    return np.argsort(values, kind="stable")


def taken(values: np.ndarray, order: np.ndarray, n_jobs: int | None = 1, dtype: Any = None) -> np.ndarray:
    """``values[order]``, in threads: where it is much, the time is that of finding values in memory."""
    out = np.empty((order.size, *values.shape[1:]), dtype or values.dtype)

    def take(part: slice) -> None:
        out[part] = values[order[part]]

    in_threads(n_jobs, take, stretches(order.size, max(1, (1 << 16) // max(1, values[:1].size))))
    return out


def stretches(n: int, size: int = 1 << 16, *, overlap: int = 0, first: int = 0) -> Iterator[slice]:
    """Parts of what is from the first to the n-th, which stay in the cache; each may reach into the next."""
    return (slice(begin, min(begin + size + overlap, n)) for begin in range(first, n, size))


_STEPS = 1 << 32
_WORTH_PACKING = 1 << 16  # numbers


class _SingleThreadedAlgebra:
    """Keeps linear algebra in the thread that calls it, as long as anybody is inside.

    Threads that wait for each other take 30 times as long over a matrix of 150 rows when cores are busy, and
    save nothing when they are not. The limit holds for the whole process; whoever leaves last lifts it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._controller: Any = None
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                if self._controller is None:
                    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

                    self._controller = ThreadpoolController()  # looks through all libraries: some 10 ms
                self._limits = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limits.restore_original_limits()


single_threaded_algebra = _SingleThreadedAlgebra()
