"""Two sets of features to candidate correspondences, how well these go together, and their hypergraph.

A *candidate* says that a point on the left is a point on the right. Two candidates are consistent when what
lies between their points (a length, a direction) is the same on both sides; they are in conflict when they
share a point.
"""

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.affinity import MatrixAffinity
from hypermodes.hypergraph import Hypergraph

_TINY = float(np.finfo(np.float64).tiny)
_FAR = 4.0  # times the median length
_MOST_GROUPS = 4000  # groups of candidates grown, from those with the largest total affinity


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
        points = _numbers("points", self.points)
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(f"points: expected an (n, 2) array of coordinates; got shape {points.shape}")
        n = len(points)
        if n < 2:
            raise ValueError(f"points: expected at least 2 points; got {n}")
        _check_size("points", points)
        if (points == points[0]).all():
            raise ValueError(f"points: expected points at different places; all {n} coincide")
        fields = {"points": points}
        for name in ("orientations", "scales", "descriptors"):
            given = getattr(self, name)
            if given is None:
                continue
            fields[name] = values = _numbers(name, given)
            dimensions = 2 if name == "descriptors" else 1
            if values.ndim != dimensions or len(values) != n or values.size == 0:
                wanted = f"({n}, d)" if dimensions == 2 else f"({n},)"
                raise ValueError(f"{name}: expected shape {wanted}, one a point; got {values.shape}")
            if name != "scales":
                _check_size(name, values)
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


def scrambled(features: Features) -> Features:
    """Features of the same kind without their arrangement: what is found in them is found by chance.

    In the directions of largest and smallest spread, each point keeps one coordinate and takes the other of
    the point half of all ranks away; orientations, scales and descriptors come from a third of the ranks
    away. Nothing is drawn at random, and neither the order of points nor the frame of reference matters.
    """
    centred = features.points - features.points.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    places = centred @ axes.T
    places *= np.where((places**3).sum(axis=0) < 0, -1.0, 1.0)  # axes have no sign of their own
    order = np.lexsort((places[:, 1], places[:, 0]))
    n = len(order)
    half, third = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    half[order], third[order] = np.roll(order, n // 2), np.roll(order, max(1, n // 3))
    points = np.column_stack((places[:, 0], places[half, 1])) @ axes
    if (points == points[0]).all():
        points = centred
    rest = (features.orientations, features.scales, features.descriptors)
    return Features(points, *(None if values is None else values[third] for values in rest))


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
        try:
            pairs = np.asarray(self.pairs)
        except ValueError:
            raise ValueError("pairs: expected (m, 2) integers; got rows of different lengths") from None
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or len(pairs) == 0:
            raise ValueError(
                f"pairs: expected (m, 2) integers, left point and right point; got shape {pairs.shape} "
                f"and type {pairs.dtype}"
            )
        sizes = []
        for name in ("n_left", "n_right"):
            size = getattr(self, name)
            if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 1 <= size < 2**31:
                raise ValueError(f"{name}: expected a positive number of points below 2**31; got {size!r}")
            sizes.append(int(size))
        outside = ((pairs < 0) | (pairs >= sizes)).any(axis=1)
        if outside.any():
            raise ValueError(
                f"pairs: expected points 0 … {sizes[0] - 1} on the left and 0 … {sizes[1] - 1} on the right; "
                f"one pair is {pairs[outside][0].tolist()}"
            )
        pairs = pairs.astype(np.int64)
        if len(np.unique(pairs[:, 0] * sizes[1] + pairs[:, 1])) < len(pairs):
            raise ValueError("pairs: expected each pair once; some pair comes twice")
        similarity = _numbers("similarity", self.similarity)
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
    if left.descriptors is None or right.descriptors is None:
        pairs = np.indices((n_left, n_right)).reshape(2, -1).T
        return Candidates(pairs, np.ones(len(pairs)), n_left, n_right)
    from scipy.spatial.distance import cdist

    distances = cdist(left.descriptors, right.descriptors)
    unit = float(np.median(np.concatenate((distances.min(axis=0), distances.min(axis=1)))))
    if unit == 0:  # most have an exact twin: then what differs at all is measured by the rest
        unit = float(distances.mean()) or 1.0
    wanted = np.ones(distances.shape, dtype=bool)
    if per_point is not None:
        farthest = [
            np.partition(distances, min(per_point, distances.shape[axis]) - 1, axis=axis).take(
                [min(per_point, distances.shape[axis]) - 1], axis=axis
            )
            for axis in (0, 1)
        ]
        wanted = (distances <= farthest[0]) | (distances <= farthest[1])
    pairs = np.argwhere(wanted)
    similarity = np.exp(-0.5 * (distances[wanted] / unit) ** 2)
    return Candidates(pairs, np.maximum(similarity, _TINY), n_left, n_right)


def pairwise_affinity(
    left: Any,
    right: Any,
    candidates: Candidates,
    *,
    length: float = 0.3,
    direction: float = 0.4,
    orientation: float = 0.6,
    scale: float = 0.5,
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

    without the terms of which nothing is known.

    Parameters
    ----------
    left, right : Features or (n, 2) array
        The two sides.
    candidates : Candidates
        Rows and columns of the result.
    length, direction, orientation, scale : float
        How much each may differ: lengths in units of the mean length (`mean_length`), angles in radians,
        scales as logarithms.
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
    All pairs of candidates are looked at, some 5 ns each; only those that count are stored.
    """
    left, right = Features.of("left", left), Features.of("right", right)
    _check_sides(left, right, candidates)
    check_affinity_options(
        length=length, direction=direction, orientation=orientation, scale=scale,
        orientation_period=orientation_period, smallest=smallest,
        scale_invariant=scale_invariant, rotation_invariant=rotation_invariant,
    )  # fmt: skip
    from hypermodes._kernels.consistency import consistent_pairs

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
        difference = left.orientations[candidates.left] - right.orientations[candidates.right]
        own = own + 0.5 * (_turned(difference, orientation_period) / orientation) ** 2
    scaled = left.scales is not None and right.scales is not None
    log_ratio = np.zeros(len(candidates))
    if scaled:
        log_ratio = np.log(left.scales[candidates.left]) - np.log(right.scales[candidates.right])
    ends, columns, values = consistent_pairs(
        (lengths[0] / units[0], turns[0], lengths[1] / units[1], turns[1]),
        np.ascontiguousarray(candidates.left), np.ascontiguousarray(candidates.right), own, log_ratio,
        (float(length) ** -2, float(by_turn), float(scale) ** -2 if scaled else 0.0), float(period),
        not rotation_invariant, -float(np.log(smallest)),
    )  # fmt: skip
    np.exp(np.negative(values, out=values), out=values)
    return sp.csr_array((values, columns, ends), shape=(len(candidates),) * 2)


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


def check_affinity_options(**options: Any) -> None:
    """Check options of `pairwise_affinity`, also where it will not be called."""
    known = inspect.signature(pairwise_affinity).parameters.values()
    names = [parameter.name for parameter in known if parameter.kind is parameter.KEYWORD_ONLY]
    for name, value in options.items():
        if name not in names:
            raise TypeError(f"{name}: expected one of the options {', '.join(names)}")
        if not name.endswith("_invariant"):
            check_positive(name, value)
        elif not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name}: expected True or False; got {value!r}")
    if options.get("smallest", 0) >= 1:
        raise ValueError(f"smallest: expected an affinity below 1; got {options['smallest']!r}")


def correspondence_hypergraph(
    candidates: Candidates, affinity: Any, *, size: int = 20, power: float = 4.0
) -> Hypergraph:
    """Make a hyperedge for every candidate: a group of consistent ones, without conflict, grown from it.

    A group takes in, one after the other, the candidate with the largest total affinity to those it has,
    until it has ``size`` members or nobody is left: what joins must be consistent with all of the group,
    not with one. With A the affinity,

        p(v|e) = affinity of v to the other members, relative to the best member,
        w(e)/δ(e) = (q(e) / max q)^power,     q(e) = Σ_{u,v in e} A(u,v).

    Parameters
    ----------
    candidates : Candidates
        The vertices.
    affinity : (m, m) sparse or dense, symmetric, not negative
        How well they go together; 0 where they are in conflict.
    size : int
        Members of a group at most; no group has more members than a side has points.
    power : float
        How much more a consistent group counts than a less consistent one.

    Returns
    -------
    Hypergraph
        Vertices are candidates. A hyperedge has the candidate it grew from as its label; candidates with no
        affinity to any other have none, and of more than 4000 only those with the largest total affinity.
    """
    check_count("size", size, 2)
    check_positive("power", power)
    return hypergraph_of_groups(candidates, checked_affinity(candidates, affinity), size, power)


def hypergraph_of_groups(
    candidates: Candidates, matrix: sp.csr_array, size: int = 20, power: float = 4.0
) -> Hypergraph:
    """Do the work of `correspondence_hypergraph` on an affinity that has been checked."""
    from hypermodes._kernels.consistency import grow_groups

    size = min(int(size), candidates.n_left, candidates.n_right)
    if size < 2 or matrix.nnz == 0:
        raise ValueError(
            "affinity: expected at least one pair of consistent candidates; all affinities are 0"
        )
    strength = matrix.sum(axis=1)
    seeds = np.sort(np.argsort(-strength, kind="stable")[:_MOST_GROUPS])
    members = np.full((seeds.size, size), -1, dtype=np.int64)
    affinities = np.zeros(members.shape)
    grow_groups(
        matrix.indptr, matrix.indices, matrix.data, np.ascontiguousarray(candidates.left),
        np.ascontiguousarray(candidates.right), candidates.n_left, candidates.n_right, seeds, members,
        affinities,
    )  # fmt: skip
    grown = members[:, 1] >= 0
    members, affinities = members[grown], affinities[grown]
    quality = affinities.sum(axis=1)
    incidence = _incidence(members, affinities / affinities.max(axis=1, keepdims=True), len(candidates))
    rate = np.maximum((quality / quality.max()) ** power, 1e-12)
    return Hypergraph.from_incidence(incidence, rate * incidence.sum(axis=0), labels=seeds[grown].tolist())


def neighbourhood_hypergraph(
    candidates: Candidates,
    matrix: sp.csr_array,
    chosen: np.ndarray,
    *,
    nearness: np.ndarray | None = None,
    agreement: np.ndarray | None = None,
    size: int = 20,
    power: float = 2.0,
) -> Hypergraph:
    """Make a hyperedge for every chosen candidate: itself and the chosen ones nearest to it.

    What is near a match must be consistent with it: a neighbour v belongs with
    p(v|e) = agreement(v) · A(u,v) to the hyperedge of u, and u itself with agreement(u). A shared vertex is
    worth the mean of these to the power of 2, so that modes lie where neighbours agree.

    Parameters
    ----------
    candidates : Candidates
        The vertices.
    matrix : (m, m) csr_array
        Their affinity.
    chosen : (k,) int
        Candidates without conflict, such as the pairs of a matching.
    nearness : (k, k) float, optional
        How near the chosen ones are to each other; their affinity if not given.
    agreement : (k,) float in [0, 1], optional
        How well each agrees with all others taken together; 1 if not given.
    size : int
        Members of a hyperedge.
    power : float
        How much more a consistent neighbourhood counts than a less consistent one.
    """
    chosen = np.asarray(chosen)
    inside = matrix[chosen][:, chosen].toarray()
    agreement = np.ones(chosen.size) if agreement is None else np.asarray(agreement, dtype=np.float64)
    near = np.array(inside if nearness is None else nearness, dtype=np.float64)
    np.fill_diagonal(near, np.inf)
    order = np.argsort(-near, axis=1, kind="stable")[:, : min(size, chosen.size)]
    probability = agreement[order] * np.take_along_axis(inside, order, axis=1)
    probability[:, 0] = agreement
    incidence = _incidence(chosen[order], probability, len(candidates))
    rate = np.maximum(probability.mean(axis=1) ** power, 1e-12)
    return Hypergraph.from_incidence(incidence, rate * incidence.sum(axis=0), labels=chosen.tolist())


def _incidence(members: np.ndarray, probability: np.ndarray, n_vertices: int) -> sp.csc_array:
    """Incidence of groups, one a row; no probability vanishes, so that members stay members."""
    present = members >= 0
    owner = np.repeat(np.arange(len(members)), present.sum(axis=1))
    values = np.clip(probability[present], 1e-6, 1.0)
    return sp.csc_array((values, (members[present], owner)), shape=(n_vertices, len(members)))


def checked_affinity(candidates: Candidates, affinity: Any) -> sp.csr_array:
    """Check an affinity of candidates once: its size, symmetry and sign; what is in conflict becomes 0."""
    if not isinstance(candidates, Candidates):
        raise TypeError(f"candidates: expected Candidates; got a {type(candidates).__name__}")
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
        matrix = sp.csr_array(
            (np.where(clash, 0.0, matrix.data), matrix.indices, matrix.indptr), matrix.shape
        )
        matrix.eliminate_zeros()
    return matrix


def ordinary(lengths: np.ndarray) -> np.ndarray:
    """Which points do not lie far from all others, by the lengths between them (n, n).

    Far is a median length to the others of more than four times the median of all: a few points far away,
    which have no counterpart, must not decide where the middle is and how large everything else.
    """
    near: np.ndarray = np.median(lengths, axis=1) <= _FAR * np.median(lengths[lengths > 0])
    return near if lengths[near][:, near].any() else np.ones(len(lengths), dtype=bool)


def mean_length(lengths: np.ndarray) -> float:
    """Mean of the lengths between ordinary points."""
    near = ordinary(lengths)
    n = int(near.sum())
    return float(lengths[near][:, near].sum() / (n * (n - 1)))


def _lengths(points: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return cdist(points, points)


def _directions(points: np.ndarray) -> np.ndarray:
    """Direction from each point (row) to each other."""
    across = points[None, :, :] - points[:, None, :]
    return np.arctan2(across[..., 1], across[..., 0])


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


def check_count(name: str, value: Any, smallest: int) -> None:
    """Check a whole number."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < smallest:
        raise ValueError(f"{name}: expected a whole number, {smallest} or more; got {value!r}")


def check_positive(name: str, value: Any) -> None:
    """Check a positive number whose square is one, too."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not (1e-100 <= float(value) <= 1e100):
        raise ValueError(f"{name}: expected a positive number, from 1e-100 to 1e100; got {value!r}")


def _check_size(name: str, values: np.ndarray) -> None:
    largest = float(np.abs(values).max())
    if largest > 1e100:
        raise ValueError(f"{name}: expected numbers below 1e100; the largest is {largest!r}")


def _numbers(name: str, given: Any) -> np.ndarray:
    try:
        values = np.asarray(given)
    except ValueError:
        raise ValueError(f"{name}: expected numbers; got rows of different lengths") from None
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{name}: expected numbers; got type {values.dtype}")
    values = np.array(values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"{name}: expected finite numbers; found NaN or infinity")
    return values
