"""What the functions of matching are given, checked: numbers, counts, sizes."""

from typing import Any

import numpy as np

from hypermodes.matrices import given_array
from hypermodes.scalars import finite_number, whole_number


def check_count(name: str, value: Any, smallest: int) -> None:
    """Check a whole number."""
    whole_number(name, value, f"a whole number, {smallest} or more", least=smallest)


def check_positive(name: str, value: Any) -> None:
    """Check a positive number whose square is one, too."""
    finite_number(name, value, "a positive number, from 1e-100 to 1e100", least=1e-100, most=1e100)


def check_size(name: str, values: np.ndarray) -> None:
    """Check that numbers can be squared."""
    largest = float(np.abs(values).max())
    if largest > 1e100:
        raise ValueError(f"{name}: expected numbers below 1e100; the largest is {largest!r}")


def numbers(name: str, given: Any) -> np.ndarray:
    """Take a copy of an array of finite numbers; errors name the argument."""
    values = given_array(name, given, "numbers")
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{name}: expected numbers; got type {values.dtype}")
    values = np.array(values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"{name}: expected finite numbers; found NaN or infinity")
    return values
