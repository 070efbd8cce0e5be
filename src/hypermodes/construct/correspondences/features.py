"""Points of an image or shape and what is known about each."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hypermodes.construct.correspondences.arguments import check_size, numbers


@dataclass(frozen=True, eq=False)
class Features:
    """Points of one image or shape, and what is known about each.

    Parameters
    ----------
    points : (n, 2) float
        Coordinates x, y.
    orientations : (n,) float, optional
        A direction at each point, in radians.
    scales : (n,) float, optional
        A size at each point, positive.
    descriptors : (n, d) float, optional
        What each point looks like; near descriptors are alike.

    Examples
    --------
    >>> Features([[0, 0], [1, 0], [0, 2]], orientations=[0.0, 0.1, 1.5])
    Features(3 points with orientations)
    """

    points: np.ndarray
    orientations: np.ndarray | None = None
    scales: np.ndarray | None = None
    descriptors: np.ndarray | None = None

    def __post_init__(self) -> None:
        points = numbers("points", self.points)
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(f"points: expected an (n, 2) array of coordinates; got shape {points.shape}")
        n = len(points)
        if n < 2:
            raise ValueError(f"points: expected at least 2 points; got {n}")
        check_size("points", points)
        if (points == points[0]).all():
            raise ValueError(f"points: expected points at different places; all {n} coincide")
        fields = {"points": points}
        for name in ("orientations", "scales", "descriptors"):
            given = getattr(self, name)
            if given is None:
                continue
            fields[name] = values = numbers(name, given)
            dimensions = 2 if name == "descriptors" else 1
            if values.ndim != dimensions or len(values) != n or values.size == 0:
                wanted = f"({n}, d)" if dimensions == 2 else f"({n},)"
                raise ValueError(f"{name}: expected shape {wanted}, one a point; got {values.shape}")
            if name != "scales":
                check_size(name, values)
        if "scales" in fields and not (fields["scales"] > 0).all():
            bad = int(np.flatnonzero(~(fields["scales"] > 0))[0])
            raise ValueError(f"scales: expected positive sizes; number {bad} is {float(self.scales[bad])!r}")  # type: ignore[index]
        for name, values in fields.items():
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @classmethod
    def of(cls, name: str, given: Any) -> "Features":
        """Take features as they are, and an array for points; errors name the argument."""
        if isinstance(given, Features):
            return given
        try:
            return cls(given)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None

    def take(self, which: np.ndarray) -> "Features":
        """Some of the features, in this order."""
        rest = (self.orientations, self.scales, self.descriptors)
        return Features(self.points[which], *(None if values is None else values[which] for values in rest))

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        known = [
            name for name in ("orientations", "scales", "descriptors") if getattr(self, name) is not None
        ]
        return f"Features({len(self)} points{' with ' + ', '.join(known) if known else ''})"
