"""Groups as bubbles of their members: those that share members lie close, none lies on another."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.report.content import MOST_NAMES

MOST_BUBBLES = 40  # drawn: more are a crowd, not a picture
MOST_LINKS = 3  # from each bubble to those it shares most with
REPEATS = 0.5  # share of members in one denser group at which a group repeats it
_ROUNDS = 300
_WIDE = 1.5  # the picture is wider than high


def telling(strength: sp.csr_array, most: int) -> list[int]:
    """The first rows that do not repeat an earlier one: no more than half of their members are in it."""
    chosen: dict[int, set[int]] = {}
    for k in range(strength.shape[0]):
        members = set(strength.indices[strength.indptr[k] : strength.indptr[k + 1]].tolist())
        if members and all(len(members & earlier) <= REPEATS * len(members) for earlier in chosen.values()):
            chosen[k] = members
        if len(chosen) == most:
            break
    return list(chosen)


def bubbles(strength: sp.csr_array, rows: list[int]) -> dict[str, Any] | None:
    """Where to draw which rows, how large, and which to join by a line: shared members as a number."""
    rows = rows[:MOST_BUBBLES]
    if not rows:
        return None
    few = strength[rows]
    held = sp.csr_array((np.ones(few.nnz), few.indices, few.indptr), few.shape)
    common = (held @ held.T).toarray()
    sizes = np.diag(common).copy()
    alike = common / np.sqrt(np.outer(sizes, sizes))
    np.fill_diagonal(alike, 0.0)
    radius = 0.88 * np.sqrt(np.minimum(sizes, MOST_NAMES) - 0.65) + 0.6  # its dots lie on a spiral
    place = spread(alike, radius)
    links = []
    for i in range(len(rows)):
        for j in np.argsort(-np.round(alike[i], 9), kind="stable")[:MOST_LINKS].tolist():
            if alike[i, j] > 0:
                links.append((min(i, j), max(i, j), int(common[i, j])))
    return {
        "kind": "bubbles",
        "rows": rows,
        "x": np.round(place[:, 0], 3).tolist(),
        "y": np.round(place[:, 1], 3).tolist(),
        "r": np.round(radius, 3).tolist(),
        "links": [list(link) for link in sorted(set(links))],
    }


def spread(alike: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Places for bubbles: as points, they find their like; as discs, they are packed; then parted.

    No randomness: the same groups have the same picture.
    """
    turn = np.arange(radius.size) * np.pi * (3 - np.sqrt(5))  # a spiral, the first in the middle
    far = np.sqrt(np.cumsum(radius**2) - radius**2)
    place = np.column_stack((np.cos(turn), np.sin(turn))) * far[:, None]
    apart = radius[:, None] + radius[None, :] + 1.2
    np.fill_diagonal(apart, 0.0)
    for step in range(_ROUNDS):
        place = _sorted_out(place, alike, apart, 1 - step / _ROUNDS)
    for step in range(_ROUNDS):
        place = _packed(place, alike, apart, 1 - step / _ROUNDS)
    return _parted(place, apart)


def _sorted_out(place: np.ndarray, alike: np.ndarray, apart: np.ndarray, heat: float) -> np.ndarray:
    """One move of points: towards their like, off everybody, and a little to the middle."""
    toward, distance = _directions(place)
    force = ((alike * distance - 0.075 * apart**2 / distance)[:, :, None] * toward).sum(axis=1)
    force -= 0.06 * place * (1 / _WIDE, _WIDE)
    size = np.sqrt((force**2).sum(axis=1, keepdims=True)) + 1e-9
    return place + force / size * np.minimum(0.3 * size, heat * apart.mean() / 2)


def _packed(place: np.ndarray, alike: np.ndarray, apart: np.ndarray, heat: float) -> np.ndarray:
    """One move of discs: towards their like and the middle, and out of each other."""
    toward, distance = _directions(place)
    pull = (alike * np.maximum(distance - apart, 0.0))[:, :, None] * toward
    push = np.maximum(apart - distance, 0.0)[:, :, None] * toward
    touching = np.maximum(1, (push != 0).any(axis=2).sum(axis=1))
    return (
        place * (1 - 0.02 * heat * np.array((1 / _WIDE, _WIDE)))
        + 0.12 * heat * pull.sum(axis=1) / (1 + alike.sum(axis=1))[:, None]
        - 0.5 * push.sum(axis=1) / touching[:, None]
    )


def _directions(place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From each place to each other: the direction and how far."""
    gap = place[None, :, :] - place[:, None, :]
    distance = np.sqrt((gap**2).sum(axis=2)) + 1e-9
    return gap / distance[:, :, None], distance


def _parted(place: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """Scale the places until no two bubbles touch, should some still do."""
    if len(place) < 2:
        return place
    _, distance = _directions(place)
    np.fill_diagonal(distance, np.inf)
    return place * max(1.0, float((apart / distance).max()))
