"""Threads over work that leaves the interpreter free: how many, and a map over them."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

In = TypeVar("In")
Out = TypeVar("Out")


def workers(n_jobs: int | None) -> int:
    """Number of threads: as given, or counted back from the number of cores (-1 or None: all of them)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise ValueError(f"n_jobs: expected a number of threads, or -1 for all cores; got {n_jobs!r}")
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def in_threads(n_jobs: int | None, function: Callable[[In], Out], inputs: Iterable[In]) -> list[Out]:
    """Apply a function to each input, in threads; the results in the order of the inputs."""
    if workers(n_jobs) == 1:
        return [function(one) for one in inputs]
    with ThreadPoolExecutor(max_workers=workers(n_jobs)) as pool:
        return list(pool.map(function, inputs))
