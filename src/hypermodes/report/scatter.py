"""Points for a picture: two coordinates a point, and no more points than a phone can draw."""

import base64
from collections.abc import Callable
from typing import Any

import numpy as np

from hypermodes.report.content import MOST_TEXT
from hypermodes.report.wording import shown

MOST_POINTS = 100_000
_AT_LEAST = 10  # points of every cluster that are drawn, however small it is
_STEPS = 65_535  # coordinates are whole numbers of two bytes: finer than any screen


def plane(points: np.ndarray) -> tuple[np.ndarray, str]:
    """Two coordinates of each point, and a sentence on which they are."""
    n, d = points.shape
    if d == 0:
        return np.zeros((n, 2)), "The points have no coordinates."
    if d == 1:
        return np.column_stack((points[:, 0], np.zeros(n))), "The points lie on a line."
    if d == 2:
        return points, "Both coordinates as they are."
    scale = np.abs(points).max(initial=0.0) or 1.0
    centred = points / scale - (points / scale).mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    axes = vectors[:, ::-1][:, :2]
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)  # a sign that stays
    kept = values[::-1][:2].sum() / max(values.sum(), 1e-300)
    return (
        centred @ axes * scale,
        f"The {d} coordinates are shown by their two principal components, which hold {100 * kept:.0f} % of "
        "the variance: what overlaps here may be apart in the data.",
    )


def sample(labels: np.ndarray, most: int = MOST_POINTS) -> np.ndarray:
    """Rows to draw: all, or the same share of every cluster and at least a few of each; sorted."""
    n = labels.size
    if n <= most:
        return np.arange(n)
    order = np.random.default_rng(0).permutation(n)
    order = order[np.argsort(labels[order], kind="stable")]
    _, begin, size = np.unique(labels[order], return_index=True, return_counts=True)
    rank = np.arange(n) - np.repeat(begin, size)
    turn = np.where(rank < _AT_LEAST, 0.0, rank / np.repeat(size, size))
    return np.sort(order[np.argsort(turn, kind="stable")[:most]])


def scatter(
    place: np.ndarray,
    said: str,
    labels: np.ndarray,
    strength: np.ndarray,
    n_rows: int,
    name: Callable[[int], Any] | None,
) -> dict[str, Any]:
    """The points as the scripts take them: bytes in base64, two a coordinate and label, one a strength.

    ``said`` says what is drawn. Points without a place are not; ``total`` are those that have one. Names are
    those of all points that are drawn, or None: if there are none, or no room for them.
    """
    placed = np.flatnonzero(np.isfinite(place).all(axis=1))
    rows = placed[sample(labels[placed])]
    low, high = (place[placed].min(axis=0), place[placed].max(axis=0)) if placed.size else np.zeros((2, 2))
    low, extent = np.where(high > low, low, low - 0.5), np.where(high > low, high - low, 1.0)
    steps = np.round((place[rows] - low) / extent * _STEPS)
    label = np.where((labels[rows] < 0) | (labels[rows] >= n_rows), -1, labels[rows])
    return {
        "kind": "points",
        "said": said,
        "n": int(rows.size),
        "total": int(placed.size),
        "low": low.tolist(),
        "extent": extent.tolist(),
        "x": _bytes(steps[:, 0], "<u2"),
        "y": _bytes(steps[:, 1], "<u2"),
        "label": _bytes(label, "<i2"),
        "strength": _bytes(np.round(np.nan_to_num(strength[rows]) * 255), "<u1"),
        "names": None if name is None else _named(rows, name),
        "rows": None if rows.size == labels.size else _bytes(rows, "<u4"),
    }


def _named(rows: np.ndarray, name: Callable[[int], Any]) -> list[str] | None:
    names, room = [], MOST_TEXT
    for row in rows.tolist():
        names.append(shown(name(row)))
        room -= len(names[-1])
        if room < 0:
            return None
    return names


def _bytes(values: np.ndarray, kind: str) -> str:
    return base64.b64encode(values.astype(kind).tobytes()).decode("ascii")
