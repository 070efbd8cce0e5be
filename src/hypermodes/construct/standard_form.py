"""Two sides in a form that order, place, size and names of the sides do not change.

Searches end in one of many nearly equal optima, and which one may hang on the last bit of a coordinate or on
the order of a sum. So that the same problem has the same answer however it is written down, it is solved in
one standard form and the answer is translated back.
"""

from dataclasses import dataclass, replace

import numpy as np

from hypermodes.construct.correspondences import Candidates, Features, frame

_DIGITS = 9  # of coordinates in units of the mean length; what comes after is rounding


@dataclass(frozen=True, eq=False)
class StandardForm:
    """Both sides in standard form, and the way back.

    Attributes
    ----------
    first, second : Features
        The sides: centred, in units of the mean length, sorted.
    orders : two int64 arrays
        Which point each of theirs was.
    swapped : bool
        Whether the first side is the right one.
    """

    first: Features
    second: Features
    orders: tuple[np.ndarray, np.ndarray]
    swapped: bool

    @classmethod
    def of(cls, left: Features, right: Features, *, any_scale: bool, any_turn: bool) -> "StandardForm":
        """Bring two sides into standard form.

        Parameters
        ----------
        left, right : Features
            The two sides.
        any_scale : bool
            Whether each side has its own unit of length; if not, they share one.
        any_turn : bool
            Whether each side is turned to its own axes.
        """
        frames = [frame(side.points) for side in (left, right)]
        units = [unit for _, unit in frames]
        if not any_scale:
            units = [float(np.mean(units))] * 2
        sides, orders = [], []
        for side, (centre, _), unit in zip((left, right), frames, units, strict=True):
            form = replace(side, points=(side.points - centre) / unit)
            form = _rounded(_turned_to_axes(form) if any_turn else form)
            order = np.lexsort(_columns(form).T[::-1])
            sides.append(form.take(order))
            orders.append(order)
        keys = [(len(side), _columns(side).ravel().tolist()) for side in sides]
        swapped = keys[1] < keys[0]
        way = slice(None, None, -1 if swapped else 1)
        first, second = sides[way]
        return cls(first, second, (orders[way][0], orders[way][1]), swapped)

    def translated_back(self, candidates: Candidates) -> Candidates:
        """Candidates between the standard sides as candidates between the given ones, in the same order."""
        pairs = np.column_stack([order[candidates.pairs[:, k]] for k, order in enumerate(self.orders)])
        sizes = candidates.n_left, candidates.n_right
        if self.swapped:
            pairs, sizes = pairs[:, ::-1], sizes[::-1]
        return Candidates(pairs, candidates.similarity, *sizes)


def _rounded(side: Features) -> Features:
    """Without the digits that a change of the frame of reference may change."""
    points = np.round(side.points, _DIGITS) + 0.0  # no -0.0
    if (points == points[0]).all():
        return side
    angles = None if side.orientations is None else np.round(side.orientations, _DIGITS) + 0.0
    return replace(side, points=points, orientations=angles)


def _turned_to_axes(side: Features) -> Features:
    """Turned so that x is the direction of largest spread, the longer tail of it to the right."""
    axis = np.linalg.svd(side.points, full_matrices=False)[2][0]
    along = side.points @ axis
    if ((along / np.abs(along).max()) ** 3).sum() < 0:
        axis = -axis
    points = np.column_stack((side.points @ axis, side.points @ np.array([-axis[1], axis[0]])))
    angles = side.orientations
    if angles is not None:
        angles = np.mod(angles - np.arctan2(axis[1], axis[0]), 2 * np.pi)
    return replace(side, points=points, orientations=angles)


def _columns(side: Features) -> np.ndarray:
    """All that is known about each point, one a row."""
    rest = [values for values in (side.orientations, side.scales, side.descriptors) if values is not None]
    return np.column_stack((side.points, *rest))
