"""Two sides and how they are compared: search, search again more exactly, and what chance would find."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hypermodes.construct.correspondences import (
    Candidates,
    Features,
    mean_length,
    ordinary,
    pairwise_affinity,
    scrambled,
)
from hypermodes.deformation import Deformation, Layout
from hypermodes.matching.by_affinity import TRIES, found_by_affinity
from hypermodes.matching.by_pose import found_by_pose
from hypermodes.matching.found import Found

_INEXACT = 0.7  # of the tolerances; what needs more than that is not matched again more exactly
_ANY_TURN = 10.0  # prior of the linear part where a side may be rotated


@dataclass(frozen=True, eq=False)
class Problem:
    """Two sides and how they are compared."""

    left: Features
    right: Features
    candidates: Candidates
    options: dict[str, Any]
    exactness: float = 1.0  # factor of the least noise of the map
    tries: int = TRIES  # modes completed, to keep the best

    def of(self, left: Features, right: Features, **options: Any) -> "Problem":
        """The same problem with other sides."""
        return Problem(left, right, self.candidates, {**self.options, **options})

    def found(self, starts: Sequence[np.ndarray] | None = None) -> "Found | None":
        """Match the two sides."""
        oriented = self.left.orientations is not None and self.right.orientations is not None
        if self.options.get("rotation_invariant") and not oriented:
            return found_by_pose(self.left, self.right, self.candidates)
        affinity = pairwise_affinity(self.left, self.right, self.candidates, **self.options)
        stretch = _ANY_TURN if self.options.get("rotation_invariant") else Deformation.stretch
        left, right = (_in_mean_lengths(side.points) for side in (self.left, self.right))
        layout = Layout(
            left, right, self.candidates.pairs, Deformation(stretch, noise=self.exactness * Deformation.noise)
        )
        return found_by_affinity(self.candidates, affinity, layout, starts, self.tries)

    def refined(self, found: "Found") -> "Found":
        """Match again with scales and directions taken from the core, and as exactly as the core is exact."""
        better, problem = found, self
        if self.options.get("scale_invariant", True):
            aligned = _aligned(self.left, self.candidates.pairs[found.core], self.right)
            problem = self.of(aligned, self.right, scale_invariant=False)
            other = problem.found(starts=[found.share])
            if other is None or other.value <= found.value:
                return found
            better = other
        ends = self.candidates.pairs[better.core]
        off = _inexactness(problem.left.points[ends[:, 0]], problem.right.points[ends[:, 1]])
        length = float(self.options.get("length", 0.3))
        exactness = max(3 * off / length, 0.2)
        if exactness > _INEXACT:
            return better
        sharper = {"length": exactness * length, "direction": exactness * self.options.get("direction", 0.4)}
        other = replace(problem.of(problem.left, problem.right, **sharper), exactness=exactness).found(
            starts=[better.share]
        )
        if other is None or len(other.core) < len(better.core):
            return better
        return replace(better, chosen=other.chosen, core=np.intersect1d(better.core, other.chosen))

    def chance(self) -> float:
        """Consistency of the best mode when the larger side is scrambled: what takes no structure at all."""
        sides = [self.left, self.right]
        compactness = [float(np.std(_in_mean_lengths(side.points), axis=0).sum()) for side in sides]
        larger = int((len(sides[1]), compactness[1]) > (len(sides[0]), compactness[0]))
        sides[larger] = scrambled(sides[larger])
        found = replace(self.of(*sides), tries=2).found()
        return 0.0 if found is None else found.consistency


def _aligned(left: Features, pairs: np.ndarray, right: Features) -> Features:
    """The left side, scaled and turned so that the matches have the same lengths and directions on both."""
    here, there = left.points[pairs[:, 0]], right.points[pairs[:, 1]]
    across = [
        (side[:, 0, None] - side[None, :, 0]) + 1j * (side[:, 1, None] - side[None, :, 1])
        for side in (here, there)
    ]
    apart = (across[0] != 0) & (across[1] != 0)
    ratio = across[1][apart] / across[0][apart]
    if ratio.size == 0:
        return left
    turn = np.angle((ratio / np.abs(ratio)).sum())
    size = np.exp(np.median(np.log(np.abs(ratio))))
    rotation = size * np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    points = (left.points - left.points.mean(axis=0)) @ rotation
    orientations = None if left.orientations is None else left.orientations + turn
    return Features(points, orientations, left.scales, left.descriptors)


def _inexactness(here: np.ndarray, there: np.ndarray) -> float:
    """Root mean square difference of the lengths between matches, in units of their mean."""
    from scipy.spatial.distance import pdist

    lengths = pdist(here), pdist(there)
    return float(
        np.sqrt(((lengths[0] - lengths[1]) ** 2).mean()) * 2 / (lengths[0].mean() + lengths[1].mean())
    )


def _in_mean_lengths(points: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    points = (points - np.median(points, axis=0)) / np.ptp(points, axis=0).max()
    lengths = cdist(points, points)
    near = ordinary(lengths)
    return (points - points[near].mean(axis=0)) / mean_length(lengths, near)
