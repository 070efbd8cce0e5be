"""Numbers of points, as short as will do: where there are many, time is that of finding them in memory."""

from typing import Any

import numpy as np


def number_type(n: int) -> Any:
    """The shortest integers that number n things, and count them."""
    return np.int32 if n < np.iinfo(np.int32).max else np.int64


def counting(n: int) -> np.ndarray:
    """0, 1, 2, …, n - 1."""
    return np.arange(n, dtype=number_type(n))
