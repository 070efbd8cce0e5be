"""Names of vertices and hyperedges: any hashable, looked up in both directions, saved without pickle."""

import json
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from hypermodes.json_text import json_text
from hypermodes.matrices import unmasked

Labels = Sequence[Hashable]

_TUPLE: Final = "tuple"
_RANGE: Final = "range"


def as_labels(name: str, labels: Iterable[Hashable] | None, n: int, what: str) -> Labels:
    """Check that there are ``n`` distinct hashable labels; ``None`` means 0 … n-1.

    NumPy scalars become Python ones, so that they print and save well; 0 … n-1 is kept as a
    ``range``, which costs no memory.
    """
    if labels is None or (isinstance(labels, range) and labels == range(n)):
        return range(n)
    if isinstance(labels, str | bytes):
        raise ValueError(f"{name}: expected {n} labels, one a {what}; got the text {labels!r}")
    if not isinstance(labels, Iterable):
        raise ValueError(f"{name}: expected {n} labels, one a {what}; got {labels!r}")
    if isinstance(labels, range) and len(labels) != n:
        raise ValueError(f"{name}: expected {n} labels, one a {what}; got {len(labels)}")
    unmasked(name, labels)
    plain = tuple(labels.tolist() if isinstance(labels, np.ndarray) else labels)
    kinds = set(map(type, plain))
    if any(issubclass(kind, np.generic) for kind in kinds):
        plain = tuple(map(_plain, plain))
    if len(plain) != n:
        raise ValueError(f"{name}: expected {n} labels, one a {what}; got {len(plain)}")
    index_of(name, plain)
    return range(n) if kinds == {int} and plain == tuple(range(n)) else plain


def index_of(name: str, labels: Labels) -> dict[Hashable, int]:
    """Return the position of each label; repeated and unhashable labels are errors."""
    index: dict[Hashable, int] = {}
    try:
        index = dict(zip(labels, range(len(labels)), strict=True))
        if len(index) == len(labels):
            return index
    except TypeError:
        pass
    index = {}  # something is wrong: look for it one by one
    for position, label in enumerate(labels):
        try:
            first = index.setdefault(label, position)
        except TypeError:
            raise ValueError(
                f"{name}: labels must be hashable; entry {position} is {label!r}, a {type(label).__name__}"
            ) from None
        if first != position:
            raise ValueError(f"{name}: labels must be distinct; {label!r} is entry {first} and {position}")
    return index


def position(labels: Labels, index: dict[Hashable, int] | None, label: Hashable, what: str) -> int:
    """Look one label up, or say which one is unknown."""
    if index is None:  # labels is a range: its own index
        known = isinstance(label, int | np.integer) and not isinstance(label, bool) and int(label) in labels
        found = int(label) if known else None  # type: ignore[call-overload]
    else:
        try:
            found = index.get(label)
        except TypeError:
            found = None
    if found is None:
        few = ", ".join(repr(x) for x in labels[:3])
        hint = " (labels, not positions)" if index is not None and isinstance(label, int | np.integer) else ""
        raise ValueError(f"unknown {what} {label!r}; the {len(labels)} known ones{hint} start with {few}")
    return int(found)


def encode(name: str, labels: Labels) -> np.ndarray:
    """Write labels as JSON in an array of bytes: text, numbers, truth values, None, and tuples of them."""
    if isinstance(labels, range):
        plain: Any = {_RANGE: len(labels)}
    else:
        plain = [_to_json(name, label) for label in labels]
    return np.frombuffer(json_text(plain, allow_nan=True).encode(), dtype=np.uint8)


def decode(stored: np.ndarray) -> Labels:
    """Read what `encode` wrote."""
    plain = json.loads(text_of(stored))
    if isinstance(plain, dict):
        return range(int(plain[_RANGE]))
    if not isinstance(plain, list):
        raise ValueError(f"expected a list of labels; found {type(plain).__name__}")
    return tuple(_from_json(item) for item in plain)


def text_of(stored: np.ndarray) -> str:
    """The text in an array of bytes."""
    if stored.dtype != np.uint8:
        raise ValueError(f"expected text in an array of bytes; got the type {stored.dtype}")
    return stored.tobytes().decode()


def _plain(label: Hashable) -> Hashable:
    return label.item() if isinstance(label, np.generic) else label


def _to_json(name: str, label: Hashable) -> object:
    if isinstance(label, tuple):
        return {_TUPLE: [_to_json(name, part) for part in label]}
    if label is None or type(label) in (str, int, float, bool):
        return label
    raise ValueError(
        f"{name}: can only save labels that are text, numbers, truth values, None or tuples of these; "
        f"{label!r} is a {type(label).__name__}"
    )


def _from_json(item: Any) -> Hashable:
    if isinstance(item, dict):
        return tuple(_from_json(part) for part in item[_TUPLE])
    return item
