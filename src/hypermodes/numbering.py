"""Numbers of points, as short as will do (many take the time of finding them in memory), or scattered."""

from typing import Any

import numpy as np


def number_type(n: int) -> Any:
    """The shortest integers that number n things, and count them."""
    return np.int32 if n < np.iinfo(np.int32).max else np.int64


def counting(n: int) -> np.ndarray:
    """0, 1, 2, …, n - 1."""
    return np.arange(n, dtype=number_type(n))


def mixed(values: np.ndarray) -> np.ndarray:
    """Scatter integers over all 64 bits (splitmix64)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
