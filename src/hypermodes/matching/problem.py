"""Two sides and how they are compared: search, search again more exactly, and what chance would find."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist

from hypermodes.assignment import assign
from hypermodes.construct.correspondences import (
    Candidates,
    Features,
    in_mean_lengths,
    likeness,
    ordinary,
    pairwise_affinity,
    scrambled,
)
from hypermodes.construct.placements import placement_hypergraph
from hypermodes.deformation import Deformation, Layout
from hypermodes.matching.by_affinity import FEW, TRIES, found_by_affinity, judged
from hypermodes.matching.by_map import Mapped, found_by_map
from hypermodes.matching.by_pose import found_by_pose
from hypermodes.matching.found import Found

_INEXACT = 0.7  # of the tolerances; what needs more than that is not matched again more exactly
_ROUGHLY = 0.1, 1.0  # mean lengths by which displacements differ where placements vote
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
        """The same problem with other sides, and perhaps other options; searched as exactly and as long."""
        return replace(self, left=left, right=right, options={**self.options, **options})

    def found(self, starts: Sequence[np.ndarray] | None = None) -> "Found | None":
        """Match the two sides."""
        oriented = self.left.orientations is not None and self.right.orientations is not None
        if self.options.get("rotation_invariant") and not oriented:
            return found_by_pose(self.left, self.right, self.candidates)
        found = self._found_by_pairs(starts)
        if found is None or not self._undecided_by_pairs:
            return found
        voted = self._found_by_votes()
        return found if voted is None else replace(voted, tried=(found.chosen, *found.tried))

    def _found_by_pairs(self, starts: Sequence[np.ndarray] | None) -> "Found | None":
        stretch = _ANY_TURN if self.options.get("rotation_invariant") else Deformation.stretch
        left, right = (in_mean_lengths(side.points) for side in (self.left, self.right))
        layout = Layout(
            left, right, self.candidates.pairs, Deformation(stretch, noise=self.exactness * Deformation.noise)
        )
        return found_by_affinity(self.candidates, self._affinity(), layout, starts, self.tries)

    def _found_by_votes(self) -> "Found | None":
        """Choose the candidates with the most votes of all placements.

        If most are for the mirror image, it is the mirror image that is judged.
        """
        error = self.options["displacement"] / 2  # two points, each off by that in two coordinates
        any_scale = bool(self.options.get("scale_invariant", True))
        placements, mirrored = placement_hypergraph(
            self.left, self.right, self.candidates, error, any_scale=any_scale
        )
        rate = placements.weights / placements.edge_degrees
        votes = placements.incidence @ rate
        problem = self
        if rate[mirrored].sum() > rate.sum() / 2:
            problem = self.of(replace(self.left, points=self.left.points * [-1.0, 1.0]), self.right)
        chosen = assign(self.candidates, votes)
        return judged(self.candidates, problem._affinity(), None, chosen, np.ones_like(votes))

    def _affinity(self) -> sp.csr_array:
        return pairwise_affinity(self.left, self.right, self.candidates, **self.options)

    @property
    def _undecided_by_pairs(self) -> bool:
        """Whether there are too few points to tell the best choice from others by pairs, unless it is exact.

        Not where one side has far more points: what is not exact cannot be told from chance there. Nor where
        displacements are to be compared so exactly, or so loosely, that places are not just roughly the same.
        """
        few, many = sorted((len(self.left), len(self.right)))
        more_is_known = any(
            known is not None
            for side in (self.left, self.right)
            for known in (side.orientations, side.scales)
        )
        return (
            few < FEW
            and many <= 2 * few
            and not more_is_known
            and _ROUGHLY[0] <= (self.options.get("displacement") or 0.0) <= _ROUGHLY[1]
        )

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
        exactness = problem._exactness(better.core)
        if exactness > _INEXACT:
            return better
        sharper = {name: exactness * value for name, value in self._tolerances().items()}
        other = replace(problem.of(problem.left, problem.right, **sharper), exactness=exactness).found(
            starts=[better.share]
        )
        if other is None or len(other.core) < len(better.core):
            return better
        return replace(better, chosen=other.chosen, core=np.intersect1d(better.core, other.chosen))

    def mapped(self, found: "Found") -> Mapped | None:
        """Matches of one smooth map, where that explains them decisively better than chance does."""
        of_points = {
            name: value
            for name, value in self.options.items()
            if name in ("orientation", "orientation_period")
        }
        alike = likeness(self.left, self.right, self.candidates, **of_points)
        return found_by_map(self.left, self.right, self.candidates, alike, found)

    def _exactness(self, core: np.ndarray) -> float:
        """How exact a core is: three times what its lengths differ, as a part of the tolerances."""
        here, there = (
            side.points[self.candidates.pairs[core, k]] for k, side in enumerate((self.left, self.right))
        )
        return max(3 * _inexactness(here, there) / next(iter(self._tolerances().values())), 0.2)

    def _tolerances(self) -> dict[str, float]:
        """How much displacements may differ, or lengths and directions where these are compared."""
        displacement = self.options.get("displacement")
        if displacement is not None:
            return {"displacement": float(displacement)}
        return {
            "length": float(self.options.get("length", 0.3)),
            "direction": float(self.options.get("direction", 0.4)),
        }

    def chance(self) -> float:
        """Consistency of the best mode when the larger side is scrambled: what takes no structure at all."""
        sides = [self.left, self.right]
        compactness = [float(np.std(in_mean_lengths(side.points), axis=0).sum()) for side in sides]
        larger = int((len(sides[1]), compactness[1]) > (len(sides[0]), compactness[0]))
        sides[larger] = scrambled(sides[larger])
        found = replace(self.of(*sides), tries=2).found()
        return 0.0 if found is None else found.consistency


def usual_displacement(left: Features, right: Features) -> float:
    """How much displacements of true matches may differ, in mean lengths, if nothing is known: n^(-1/4).

    The geometric mean of the mean length, in proportion to which shapes bend, and of how far apart n points
    lie, √(1/n), beyond which each may be taken for its neighbour. Points far from all others do not count.
    """
    counts = [int(ordinary(cdist(side.points, side.points)).sum()) for side in (left, right)]
    return float(np.prod(counts)) ** -0.125


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
    if len(here) < 3:
        return np.inf  # two always fit
    lengths = pdist(here), pdist(there)
    return float(
        np.sqrt(((lengths[0] - lengths[1]) ** 2).mean()) * 2 / (lengths[0].mean() + lengths[1].mean())
    )
