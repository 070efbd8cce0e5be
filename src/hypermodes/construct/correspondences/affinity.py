"""How well every two candidates go together: sparse, 0 where they are in conflict."""

import inspect
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.affinity import MatrixAffinity
from hypermodes.construct.correspondences.arguments import check_positive
from hypermodes.construct.correspondences.candidates import Candidates
from hypermodes.construct.correspondences.features import Features
from hypermodes.construct.correspondences.lengths import mean_length
from hypermodes.memory import room_for

_A_PAIR_OF_POINTS = 40  # bytes: of one side, for its lengths and directions
_AN_ENTRY = 40  # bytes, while they are found and mirrored
_A_DENSE_ENTRY = 88  # bytes, until an affinity that is given is checked and sparse
_SAMPLE = 512  # candidates looked at to see how many go together
_MOST_AT_ONCE = 1 << 22  # entries to make room for before any is known; what is not written to costs nothing


def pairwise_affinity(
    left: Any,
    right: Any,
    candidates: Candidates,
    *,
    length: float = 0.3,
    direction: float = 0.4,
    orientation: float = 0.6,
    scale: float = 0.5,
    displacement: float | None = None,
    orientation_period: float = np.pi,
    scale_invariant: bool = True,
    rotation_invariant: bool = False,
    smallest: float = 0.01,
) -> sp.csr_array:
    """How well every two candidates go together, in [0, 1]: sparse, symmetric, 0 where they are in conflict.

    For candidates (i, a) and (j, b), with r the length and φ the direction of the line between two points,
    and θ the orientation and s the scale of a point,

        A = √(similarity · similarity') · exp(-[ ((r_ij - r_ab)/length)²  +  ((φ_ij - φ_ab)/direction)²
                + ½ Σ over both candidates ((θ_i - θ_a)/orientation)²  +  (log(s_i s_b / s_j s_a)/scale)² ]),

    without the terms of which nothing is known. With ``displacement``, the terms of length and direction give
    way to one, (||(y_a - x_i) - (y_b - x_j)|| / displacement)², where x and y are the points of the left and
    of the right: two candidates go together as far as they move their points alike.

    Parameters
    ----------
    left, right : Features or (n, 2) array
        The two sides.
    candidates : Candidates
        Rows and columns of the result.
    length, direction, orientation, scale : float
        How much each may differ: lengths in units of the mean length (`mean_length`), angles in radians,
        scales as logarithms.
    displacement : float, optional
        How much displacements may differ, in units of the mean length. Where points are off by some part of
        the whole, as the same parts of two animals are, directions over short distances say nothing, and
        displacements still do. Not with ``rotation_invariant``: turning a side changes displacements.
    orientation_period : float
        Orientations that differ by this are equal: π for contours, whose normals may point to either side,
        2π for gradients.
    scale_invariant : bool
        Measure lengths by the mean length of their own side, so that scaling a side changes nothing. If
        False, by the mean of both sides' means.
    rotation_invariant : bool
        Measure directions from the orientations of the points at both ends, instead of φ and θ by
        themselves, so that rotating a side changes nothing. Without orientations, only lengths are left:
        rotations *and* reflections then change nothing.
    smallest : float
        Affinities below it are 0.

    Returns
    -------
    csr_array (m, m)

    Notes
    -----
    All pairs of candidates are looked at, some 2 ns each; only those that count are stored.
    """
    left, right = Features.of("left", left), Features.of("right", right)
    _check_sides(left, right, candidates)
    check_affinity_options(
        length=length, direction=direction, orientation=orientation, scale=scale,
        orientation_period=orientation_period, smallest=smallest,
        scale_invariant=scale_invariant, rotation_invariant=rotation_invariant, displacement=displacement,
    )  # fmt: skip
    from hypermodes._kernels.consistency import alike_displacements, consistent_pairs, mirror

    room_for_points(left, right)
    extents = [float(np.ptp(side.points, axis=0).max()) for side in (left, right)]
    if not scale_invariant:
        extents = [max(extents)] * 2
    lengths = [_lengths(side.points / extent) for side, extent in zip((left, right), extents, strict=True)]
    means = [mean_length(matrix) for matrix in lengths]
    units = means if scale_invariant else [sum(means) / 2] * 2
    turns = [_directions(side.points) for side in (left, right)]
    own = -0.5 * np.log(candidates.similarity)
    oriented = left.orientations is not None and right.orientations is not None
    by_turn, period = direction**-2.0, 2 * np.pi
    if rotation_invariant:
        period = float(orientation_period)
        if oriented:
            turns = [
                turn - side.orientations[:, None] for turn, side in zip(turns, (left, right), strict=True)
            ]
        else:
            by_turn = 0.0
    elif oriented:
        own = _own(left, right, candidates, orientation, orientation_period)
    scaled = left.scales is not None and right.scales is not None
    log_ratio = np.zeros(len(candidates))
    if scaled:
        log_ratio = np.log(left.scales[candidates.left]) - np.log(right.scales[candidates.right])
    by_scale, limit = float(scale) ** -2 if scaled else 0.0, -float(np.log(smallest))
    ends_of = np.ascontiguousarray(candidates.left), np.ascontiguousarray(candidates.right)
    n = len(candidates)
    if displacement is None:
        sides = lengths[0] / units[0], turns[0], lengths[1] / units[1], turns[1]
        precisions = float(length) ** -2, float(by_turn), by_scale

        def entries(of: np.ndarray | slice, room: tuple[np.ndarray, np.ndarray]) -> Any:
            return consistent_pairs(
                sides, ends_of[0][of], ends_of[1][of], own[of], log_ratio[of], precisions, float(period),
                not rotation_invariant, limit, *room,
            )  # fmt: skip

    else:
        x, y = _displacements(left, right, candidates, [e * u for e, u in zip(extents, units, strict=True)])

        def entries(of: np.ndarray | slice, room: tuple[np.ndarray, np.ndarray]) -> Any:
            return alike_displacements(
                x[of], y[of], ends_of[0][of], ends_of[1][of], own[of], log_ratio[of],
                (float(displacement) ** -2, by_scale), limit, *room,
            )  # fmt: skip

    if n > _SAMPLE:
        some = np.arange(_SAMPLE) * n // _SAMPLE
        found = entries(some, _room(_SAMPLE**2))[1].size
        room_for(
            "candidates",
            f"the affinity of {n:,} of them",
            _AN_ENTRY * 2 * (found + 1) * (n / _SAMPLE) ** 2,
            "give fewer, such as those of per_point= with descriptors",
        )
    ends, columns, values = entries(slice(None), _room(max(32 * n, min(n * (n + 1) // 2, _MOST_AT_ONCE))))
    np.exp(np.negative(values, out=values), out=values)
    all_columns, all_values = _room(2 * columns.size)
    ends = mirror(ends, columns, values, all_columns, all_values)
    if ends[-1] < 2**31:
        ends = ends.astype(np.int32)  # as the columns are: scipy would widen those
    return sp.csr_array((all_values, all_columns, ends), shape=(n, n))


def room_for_points(left: Features, right: Features) -> None:
    """Refuse sides with more points than there is memory for their lengths and directions."""
    n_left, n_right = len(left), len(right)
    room_for(
        "left, right",
        f"lengths between {n_left:,} and {n_right:,} points",
        _A_PAIR_OF_POINTS * (float(n_left) ** 2 + float(n_right) ** 2),
        "give fewer points",
    )


def likeness(
    left: Features,
    right: Features,
    candidates: Candidates,
    *,
    orientation: float = 0.6,
    orientation_period: float = np.pi,
) -> np.ndarray:
    """How alike the points of each candidate are: similarity · exp(-((θ_i - θ_a)/orientation)²)."""
    log_likeness = -2 * _own(left, right, candidates, orientation, orientation_period)
    return np.maximum(np.exp(log_likeness), np.finfo(np.float64).tiny)


def _own(
    left: Features, right: Features, candidates: Candidates, orientation: float, period: float
) -> np.ndarray:
    """Half of the negative logarithm of the likeness."""
    own = -0.5 * np.log(candidates.similarity)
    if left.orientations is None or right.orientations is None:
        return own
    difference = left.orientations[candidates.left] - right.orientations[candidates.right]
    return own + 0.5 * (_turned(difference, period) / orientation) ** 2


def check_affinity_options(**options: Any) -> None:
    """Check options of `pairwise_affinity`, also where it will not be called."""
    known = inspect.signature(pairwise_affinity).parameters.values()
    names = [parameter.name for parameter in known if parameter.kind is parameter.KEYWORD_ONLY]
    for name, value in options.items():
        if name not in names:
            raise TypeError(f"{name}: expected one of the options {', '.join(names)}")
        if name == "displacement" and value is None:
            continue
        if not name.endswith("_invariant"):
            check_positive(name, value)
        elif not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name}: expected True or False; got {value!r}")
    if options.get("smallest", 0) >= 1:
        raise ValueError(f"smallest: expected an affinity below 1; got {options['smallest']!r}")
    if options.get("displacement") is not None and options.get("rotation_invariant"):
        raise ValueError("displacement: expected None with rotation_invariant=True; turning changes it")


def checked_affinity(candidates: Candidates, affinity: Any) -> sp.csr_array:
    """Check an affinity of candidates once: its size, symmetry and sign; what is in conflict becomes 0."""
    if not isinstance(candidates, Candidates):
        raise TypeError(f"candidates: expected Candidates; got a {type(candidates).__name__}")
    if not sp.issparse(affinity):
        n = len(candidates)
        room_for("affinity", f"{n:,} x {n:,} numbers", _A_DENSE_ENTRY * float(n) ** 2, "give it sparse")
    try:
        matrix = sp.csr_array(MatrixAffinity(affinity).values)
    except ValueError as error:
        raise ValueError(f"affinity: {str(error).removeprefix('values: ')}") from None
    if matrix.shape[0] != len(candidates):
        raise ValueError(
            f"affinity: expected {len(candidates)} rows and columns, one a candidate; "
            f"got shape {matrix.shape}"
        )
    owner = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    clash = (candidates.left[owner] == candidates.left[matrix.indices]) | (
        candidates.right[owner] == candidates.right[matrix.indices]
    )
    if clash.any():
        kept = sp.csr_array((~clash, matrix.indices, matrix.indptr), matrix.shape)
        matrix = sp.csr_array(matrix * kept)
    return matrix


def _room(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns and values to be written; made here, for NumPy asks for large pages and kernels do not."""
    return np.empty(size, dtype=np.int32), np.empty(size)


def _lengths(points: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return cdist(points, points)


def _directions(points: np.ndarray) -> np.ndarray:
    """Direction from each point (row) to each other."""
    across = points[None, :, :] - points[:, None, :]
    return np.arctan2(across[..., 1], across[..., 0])


def _displacements(
    left: Features, right: Features, candidates: Candidates, units: list[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Way from the left point of each candidate to its right one, x and y, each side in its unit."""
    middles = [np.median(side.points, axis=0) for side in (left, right)]
    here, there = (
        (side.points - middle) / unit
        for side, middle, unit in zip((left, right), middles, units, strict=True)
    )
    way = there[candidates.right] - here[candidates.left]
    return np.ascontiguousarray(way[:, 0]), np.ascontiguousarray(way[:, 1])


def _turned(difference: np.ndarray, period: float) -> np.ndarray:
    """The smallest angle equal to a difference of angles, in [-period/2, period/2)."""
    return difference - period * np.floor(difference / period + 0.5)


def _check_sides(left: Features, right: Features, candidates: Any) -> None:
    if not isinstance(candidates, Candidates):
        raise TypeError(f"candidates: expected Candidates; got a {type(candidates).__name__}")
    if (len(left), len(right)) != (candidates.n_left, candidates.n_right):
        raise ValueError(
            f"candidates: expected candidates between {len(left)} and {len(right)} points; got {candidates!r}"
        )
