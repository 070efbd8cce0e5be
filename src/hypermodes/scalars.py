"""Whole and finite numbers that functions are given, checked in one way: type, bounds, and one line if wrong.

A truth value is no number, and text that looks like one is none; NumPy's numbers are. Whole numbers end at
2**53: what is counted fits into 64 bits then, and floating point still tells it from the next.
"""

from typing import Any, TypeGuard

import numpy as np

MOST = 2**53
_LONGEST = 80  # letters of a wrong value that an error shows


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether this is a whole number, of Python or NumPy."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_real(value: Any) -> TypeGuard[float]:
    """Whether this is a number on the real line, whole or not; nan and infinity are not."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:
        return False


def whole_number(
    name: str,
    value: Any,
    expected: str,
    *,
    least: int | None = 1,
    most: int = MOST,
    error: type[Exception] = ValueError,
) -> int:
    """The value as an int, from ``least`` to ``most``; else an error with the argument and what is expected.

    Without a ``least`` it may be as far below 0 as above.
    """
    if is_whole(value):
        if (-most if least is None else least) <= value <= most:
            return int(value)
        if value > MOST >= most:
            expected += f" (at most {most})"
    raise error(f"{name}: expected {expected}; got {shown(value)}")


def finite_number(
    name: str,
    value: Any,
    expected: str,
    *,
    least: float = -np.inf,
    most: float = np.inf,
    above: float = -np.inf,
    below: float = np.inf,
    or_infinity: bool = False,
) -> float:
    """The value as a float within bounds (``above`` and ``below`` are not reached); else an error."""
    if or_infinity and isinstance(value, float | np.floating) and value == np.inf:
        return np.inf
    if is_real(value) and least <= value <= most and above < value < below:
        return float(value)
    raise ValueError(f"{name}: expected {expected}; got {shown(value)}")


def shown(value: Any) -> str:
    """A wrong value as an error shows it: one line, and not a long one."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # a number of thousands of digits
        text = f"a number of {value.bit_length()} bits" if is_whole(value) else f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
