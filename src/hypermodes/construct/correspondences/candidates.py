"""Pairs of points that might correspond."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hypermodes.construct.correspondences.arguments import check_count, numbers
from hypermodes.construct.correspondences.features import Features
from hypermodes.matrices import given_array
from hypermodes.memory import room_for
from hypermodes.scalars import whole_number

ENOUGH = 10_000
"""Candidates that `match` looks at, about, where descriptors say which and nobody says how many."""
_BYTES = {"all": 112, "described": 128, "chosen": 20}  # of memory for each pair of points, by what is wanted
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs of points that might correspond.

    Parameters
    ----------
    pairs : (m, 2) int
        Left point, right point; each pair once.
    similarity : (m,) float
        How alike the two points look, in (0, 1].
    n_left, n_right : int
        How many points there are on each side.
    """

    pairs: np.ndarray
    similarity: np.ndarray
    n_left: int
    n_right: int

    def __post_init__(self) -> None:
        pairs = given_array("pairs", self.pairs, "(m, 2) integers")
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or len(pairs) == 0:
            raise ValueError(
                f"pairs: expected (m, 2) integers, left point and right point; got shape {pairs.shape} "
                f"and type {pairs.dtype}"
            )
        sizes = []
        for name in ("n_left", "n_right"):
            expected = "a positive number of points below 2**31"
            sizes.append(whole_number(name, getattr(self, name), expected, most=2**31 - 1))
        outside = ((pairs < 0) | (pairs >= sizes)).any(axis=1)
        if outside.any():
            raise ValueError(
                f"pairs: expected points 0 … {sizes[0] - 1} on the left and 0 … {sizes[1] - 1} on the right; "
                f"one pair is {pairs[outside][0].tolist()}"
            )
        pairs = pairs.astype(np.int64)
        if len(np.unique(pairs[:, 0] * sizes[1] + pairs[:, 1])) < len(pairs):
            raise ValueError("pairs: expected each pair once; some pair comes twice")
        similarity = numbers("similarity", self.similarity)
        if similarity.shape != (len(pairs),):
            raise ValueError(
                f"similarity: expected {len(pairs)} numbers, one a pair; got shape {similarity.shape}"
            )
        if not ((similarity > 0) & (similarity <= 1)).all():
            bad = similarity[~((similarity > 0) & (similarity <= 1))][0]
            raise ValueError(f"similarity: expected numbers in (0, 1]; one is {float(bad)!r}")
        pairs.flags.writeable = similarity.flags.writeable = False
        for name, value in zip(
            ("pairs", "similarity", "n_left", "n_right"), (pairs, similarity, *sizes), strict=True
        ):
            object.__setattr__(self, name, value)

    @property
    def left(self) -> np.ndarray:
        """Left point of each candidate."""
        return self.pairs[:, 0]

    @property
    def right(self) -> np.ndarray:
        """Right point of each candidate."""
        return self.pairs[:, 1]

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return f"Candidates({len(self)} pairs of {self.n_left} and {self.n_right} points)"


def candidate_pairs(left: Any, right: Any, per_point: int | None = None) -> Candidates:
    """Pairs of points that might correspond: all, or those that look most alike.

    Parameters
    ----------
    left, right : Features or (n, 2) array
        The two sides. Descriptors, if both have them, give the similarity exp(-(d/σ)²/2), where σ is the
        median distance, over the points of both sides, to the nearest descriptor of the other side.
    per_point : int, optional
        For each point of either side, that many of the most alike of the other; all if None. Needs
        descriptors.

    Returns
    -------
    Candidates
        Sorted by left, then right point. Which pairs they are does not depend on what is called left.
    """
    left, right = Features.of("left", left), Features.of("right", right)
    n_left, n_right = len(left), len(right)
    check_candidates(left, right, per_point)
    described = left.descriptors is not None and right.descriptors is not None
    wanted = "all" if not described else "described" if per_point is None else "chosen"
    room_for(
        "left, right",
        f"{n_left * n_right:,} pairs of {n_left:,} and {n_right:,} points",
        _BYTES[wanted] * n_left * n_right,
        "give fewer points" + ", or per_point=" * (wanted == "described"),
    )
    if left.descriptors is None or right.descriptors is None:
        pairs = np.indices((n_left, n_right)).reshape(2, -1).T
        return Candidates(pairs, np.ones(len(pairs)), n_left, n_right)
    from scipy.spatial.distance import cdist

    distances = cdist(left.descriptors, right.descriptors)
    unit = float(np.median(np.concatenate((distances.min(axis=0), distances.min(axis=1)))))
    if unit == 0:  # most have an exact twin: then what differs at all is measured by the rest
        unit = float(distances.mean()) or 1.0
    is_wanted = np.ones(distances.shape, dtype=bool)
    if per_point is not None:
        farthest = [
            np.partition(distances, min(per_point, distances.shape[axis]) - 1, axis=axis).take(
                [min(per_point, distances.shape[axis]) - 1], axis=axis
            )
            for axis in (0, 1)
        ]
        is_wanted = (distances <= farthest[0]) | (distances <= farthest[1])
    pairs = np.argwhere(is_wanted)
    similarity = np.exp(-0.5 * (distances[is_wanted] / unit) ** 2)
    return Candidates(pairs, np.maximum(similarity, _TINY), n_left, n_right)


def usual_per_point(left: Features, right: Features) -> int | None:
    """How many candidates a point `match` looks at: all where there are no descriptors, or few points.

    Time and memory go with the square of the candidates. So of more than 10,000 pairs of points, each point
    brings that many which make 10,000 together; at least one.
    """
    n_left, n_right = len(left), len(right)
    if left.descriptors is None or right.descriptors is None or n_left * n_right <= ENOUGH:
        return None
    return max(1, ENOUGH // (n_left + n_right))


def check_candidates(left: Features, right: Features, per_point: Any) -> None:
    """Check what `candidate_pairs` is given."""
    if per_point is not None:
        check_count("per_point", per_point, 1)
    if left.descriptors is None or right.descriptors is None:
        if per_point is not None and per_point < max(len(left), len(right)):
            raise ValueError(
                "per_point: to choose candidates, both sides need descriptors; give them or use None"
            )
    elif left.descriptors.shape[1] != right.descriptors.shape[1]:
        raise ValueError(
            f"right: expected descriptors of {left.descriptors.shape[1]} numbers as on the left; "
            f"got {right.descriptors.shape[1]}"
        )
