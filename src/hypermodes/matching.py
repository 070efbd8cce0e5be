"""Matches between two sets of features: modes of the hypergraph of candidate correspondences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.assignment import assign, climb, greedily
from hypermodes.certificate import Certificate
from hypermodes.construct.correspondences import (
    Candidates,
    Features,
    candidate_pairs,
    check_affinity_options,
    check_candidates,
    check_count,
    check_positive,
    checked_affinity,
    hypergraph_of_groups,
    mean_length,
    neighbourhood_hypergraph,
    ordinary,
    pairwise_affinity,
    scrambled,
)
from hypermodes.construct.poses import Pose, chances, pose_hypergraph
from hypermodes.construct.standard_form import StandardForm
from hypermodes.construct.structures import homographies, on_a_line
from hypermodes.deformation import Deformation, Layout
from hypermodes.hypergraph import Hypergraph
from hypermodes.modes import find_modes
from hypermodes.result import Mode, ModeSet, counted

_SHIFTED = 300  # hyperedges shifted to find where to begin
_TRIES = 5  # modes that are completed, to keep the best
_ROUNDS = 3  # of fitting a map and matching again
_FEW = 15  # matches below which a map, with its six unknowns and its bends, says little
_TOLERANCE = 1.5  # standard deviations from its place at which a candidate has lost 1 - 1/√e of its weight
_SIZE = 20  # members of a hyperedge
_CORE = 0.2  # of the mass of the mode's best pair; what has less is not part of the mode
_KEPT = 0.25  # of the core's own consistency; what has less does not go together with it
_INEXACT = 0.7  # of the tolerances; what needs more than that is not matched again more exactly
_TOLERANCES = (0.1, 0.05, 0.025)  # of groups, in units of the spread; tried from the largest
_OCCAM = 1.05  # times more significant must more groups be
_BY_CHANCE = 0.2  # a score below this is as good as none
_ANY_TURN = 10.0  # prior of the linear part where a side may be rotated


@dataclass(frozen=True, eq=False)
class Matching:
    """Pairs of points that correspond, one-to-one, and why.

    Attributes
    ----------
    pairs : (k, 2) int64
        Left point, right point; sorted.
    scores : (k,) float
        How well each pair goes together with the mode, in [0, 1].
    core : (c, 2) int64
        The pairs the mode itself stands behind: neighbours that agree with each other and lie where all
        others put them. Sorted; each of them is among `pairs`.
    unmatched_left, unmatched_right : int64 arrays
        Points in no pair, sorted.
    modes : ModeSet or None
        Modes of the hypergraph of neighbouring matches; the densest is the one behind `core`. None if no two
        candidates were consistent.
    score : float
        How consistent the core is with itself beyond chance, in [0, 1]: (F - F₀)/(1 - F₀), where F is the
        mean affinity within the mode and F₀ that of the best mode when one side is scrambled. About 0 if
        there is no structure in common; below 0.2 no pairs are returned unless a number was asked for.
        For an affinity of one's own, F is in units of its largest entry, and F₀ is 0.
    candidates : Candidates
        What was chosen from; vertices of the hypergraph are positions among them.
    """

    pairs: np.ndarray
    scores: np.ndarray
    core: np.ndarray
    unmatched_left: np.ndarray
    unmatched_right: np.ndarray
    modes: ModeSet | None
    score: float
    candidates: Candidates

    @property
    def mode(self) -> Mode | None:
        """The mode behind the core."""
        return self.modes[0] if self.modes else None

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of that mode."""
        mode = self.mode
        return None if mode is None else mode.certificate

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return (
            f"Matching({counted(len(self), 'pair')} of {self.candidates.n_left} and "
            f"{self.candidates.n_right} points, {len(self.core)} in the core, score {self.score:.3g})"
        )


def match(
    left: Any,
    right: Any,
    *,
    n_matches: int | None = None,
    per_point: int | None = None,
    **options: Any,
) -> Matching:
    """Match the features of two images or shapes, one-to-one, leaving outliers unmatched.

    Candidates that go together are grown into hyperedges, whose modes say where to begin. Each of the densest
    is completed: a one-to-one choice climbs to the largest total affinity, a smooth map is fitted to it,
    candidates far from where the map puts them lose affinity, and again. The best is then judged by its own
    hypergraph, in which a hyperedge is a match and its neighbours: its densest mode is the `core`.

    Parameters
    ----------
    left, right : Features or (n, 2) array
        The two sides.
    n_matches : int, optional
        How many pairs are wanted: the best ones, filled up where fewer can be told to belong together. If
        None, as many as go together with the core.
    per_point : int, optional
        Consider only so many candidates a point, the most alike by descriptors; see `candidate_pairs`.
    **options
        Of `pairwise_affinity`: what is compared, and how exactly.

    Notes
    -----
    With ``rotation_invariant=True`` and no orientations, pairs of points have too little to compare:
    hyperedges are then made of candidates that one similarity explains (`construct.poses`), and scale and
    rotation are found with the matches, among many outliers if the shape itself does not change. The other
    options have no effect then: what chance would bring about decides how exact is exact enough.

    Returns
    -------
    Matching
        Swapping the sides swaps the pairs. Translating a side changes nothing; nor does scaling it, unless
        ``scale_invariant=False``; nor rotating it, if ``rotation_invariant=True``; nor the order of points.

    Examples
    --------
    >>> import numpy as np
    >>> shape = np.random.default_rng(0).normal(size=(12, 2))
    >>> match(shape, 2 * shape[::-1] + 5).pairs[:3].tolist()
    [[0, 11], [1, 10], [2, 9]]
    """
    left, right = Features.of("left", left), Features.of("right", right)
    _check_number(n_matches)
    check_affinity_options(**options)
    any_turn = bool(options.get("rotation_invariant"))
    any_scale = bool(options.get("scale_invariant", True))
    check_candidates(left, right, per_point)
    form = StandardForm.of(left, right, any_scale=any_scale, any_turn=any_turn)
    problem = _Problem(form.first, form.second, candidate_pairs(form.first, form.second, per_point), options)
    candidates = form.translated_back(problem.candidates)
    found = problem.found()
    if found is None:
        return _matching(candidates, None, n_matches)
    if len(found.core) >= _FEW and not any_turn:
        found = problem.refined(found)
    return _matching(candidates, found, n_matches, problem.chance())


def match_affinity(candidates: Candidates, affinity: Any, *, n_matches: int | None = None) -> Matching:
    """Match by an affinity of your own.

    Parameters
    ----------
    candidates : Candidates
        Pairs of points that might correspond.
    affinity : (m, m) sparse or dense, symmetric, not negative
        How well every two candidates go together, in any unit: a multiple of it gives the same. Entries of
        candidates that share a point, and the diagonal, are taken for 0.
    n_matches : int, optional
        As in `match`.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = np.indices((2, 2)).reshape(2, -1).T
    >>> candidates = Candidates(pairs, np.ones(4), 2, 2)
    >>> match_affinity(candidates, [[0, 0, 0, 0.9], [0, 0, 0.2, 0], [0, 0.2, 0, 0], [0.9, 0, 0, 0]])
    Matching(2 pairs of 2 and 2 points, 2 in the core, score 0.5)
    """
    matrix = checked_affinity(candidates, affinity)
    _check_number(n_matches)
    if matrix.nnz:
        matrix = sp.csr_array((matrix.data / matrix.data.max(), matrix.indices, matrix.indptr), matrix.shape)
    return _matching(candidates, _found(candidates, matrix, None), n_matches)


def match_groups(
    left: Any,
    right: Any,
    *,
    candidates: Candidates | None = None,
    tolerance: float | None = None,
    max_groups: int = 20,
    **options: Any,
) -> tuple[Matching, ...]:
    """Match several objects or surfaces: each group of matches goes together, and none shares a point.

    With ``candidates`` that are correspondences already (no point in two of them), most of them perhaps
    wrong, hyperedges are correspondences that one homography explains better than chance
    (`construct.structures`); the densest mode is taken, completed and set aside, until nothing is better than
    chance. Otherwise `match` is called again and again on the points that are left, with
    ``rotation_invariant=True`` unless told otherwise: objects move in different ways.

    Parameters
    ----------
    left, right : Features or (n, 2) array
        The two sides.
    candidates : Candidates, optional
        Correspondences to group.
    tolerance : float, optional
        How far from its place a correspondence of a group may be, in units of the spread of the points.
        If None, that of 0.1, 0.05 and 0.025 whose groups are together most significant; a smaller one, which
        makes more groups, must be better by 5 %.
    max_groups : int
        Groups at most.
    **options
        Of `match` other than ``n_matches``, if no candidates are given.

    Returns
    -------
    tuple of Matching
        The most consistent first; empty if nothing goes together.
    """
    left, right = Features.of("left", left), Features.of("right", right)
    check_count("max_groups", max_groups, 1)
    if tolerance is not None:
        check_positive("tolerance", tolerance)
    if "n_matches" in options:
        raise TypeError("n_matches: expected by match alone; groups are as large as they are found to be")
    if candidates is not None and options:
        raise TypeError(f"{min(options)}: expected only where no candidates are given")
    if candidates is None:
        return _repeated(left, right, max_groups, {"rotation_invariant": True, **options})
    if not isinstance(candidates, Candidates):
        raise TypeError(f"candidates: expected Candidates; got a {type(candidates).__name__}")
    if (len(left), len(right)) != (candidates.n_left, candidates.n_right):
        raise ValueError(
            f"candidates: expected pairs of {len(left)} and {len(right)} points; got {candidates!r}"
        )
    for side, name in enumerate(("left", "right")):
        if len(np.unique(candidates.pairs[:, side])) < len(candidates):
            raise ValueError(f"candidates: expected correspondences; some {name} point is in two of them")
    best: tuple[Matching, ...] = ()
    most = 0.0
    for limit in _TOLERANCES if tolerance is None else (float(tolerance),):
        groups = _grouped(left, right, candidates, limit, int(max_groups))
        significance = sum(group.score / (1 - group.score) for group in groups)
        if significance > _OCCAM * most:
            best, most = groups, significance
    return best


def _repeated(
    left: Features, right: Features, max_groups: int, options: dict[str, Any]
) -> tuple[Matching, ...]:
    """Match, set the matched points aside, and match again."""
    whole = candidate_pairs(left, right, options.get("per_point"))
    rest = [np.arange(len(left)), np.arange(len(right))]
    groups: list[Matching] = []
    while len(groups) < max_groups and min(map(len, rest)) >= 3:
        try:
            sides = [side.take(keep) for side, keep in zip((left, right), rest, strict=True)]
        except ValueError:  # what is left lies in one place
            break
        found = match(*sides, **options)
        if not len(found):
            break
        pairs, core = (
            np.column_stack([rest[k][part[:, k]] for k in (0, 1)]) for part in (found.pairs, found.core)
        )
        groups.append(
            replace(
                found,
                pairs=pairs,
                core=core,
                unmatched_left=np.setdiff1d(np.arange(len(left)), pairs[:, 0]),
                unmatched_right=np.setdiff1d(np.arange(len(right)), pairs[:, 1]),
                candidates=replace(found.candidates, pairs=np.column_stack(
                    [rest[k][found.candidates.pairs[:, k]] for k in (0, 1)]
                ), n_left=whole.n_left, n_right=whole.n_right),
            )
        )  # fmt: skip
        rest = [np.setdiff1d(keep, pairs[:, k]) for k, keep in enumerate(rest)]
    return tuple(groups)


def _grouped(
    left: Features, right: Features, candidates: Candidates, tolerance: float, max_groups: int
) -> tuple[Matching, ...]:
    """Modes of the hypergraph of homographies, one after the other."""
    here, there = left.points[candidates.left], right.points[candidates.right]
    if on_a_line(here) or on_a_line(there):
        return ()
    free = np.ones(len(candidates), dtype=bool)
    groups: list[Matching] = []
    while len(groups) < max_groups and free.sum() >= 8:
        structures = homographies(here, there, free, tolerance=tolerance)
        hypergraph = structures.hypergraph()
        if hypergraph is None:
            break
        modes = find_modes(hypergraph, starts="peaks", n_jobs=1)
        if not len(modes):
            break
        mass = hypergraph.incidence @ modes[0].distribution(hypergraph.n_edges)
        fitted = homographies(here, there, free, np.where(mass > 0.3, mass, 0.0)[None], tolerance)
        best = 0
        if not fitted.significance[0] > 0:
            fitted, best = structures, int(np.argmax(structures.significance))
        chosen = np.flatnonzero(fitted.explained[best])
        probability, significance = fitted.probability[best], float(fitted.significance[best])
        core = np.intersect1d(chosen, np.flatnonzero(mass > 0.5))
        found = _Found(
            chosen, probability, significance, modes, core, mass / mass.sum(), probability,
            significance / (1 + significance),
        )  # fmt: skip
        groups.append(_matching(candidates, found, len(chosen)))
        free[chosen] = False
    return tuple(groups)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Two sides and how they are compared."""

    left: Features
    right: Features
    candidates: Candidates
    options: dict[str, Any]
    exactness: float = 1.0  # factor of the least noise of the map
    tries: int = _TRIES  # modes completed, to keep the best

    def of(self, left: Features, right: Features, **options: Any) -> "_Problem":
        """The same problem with other sides."""
        return _Problem(left, right, self.candidates, {**self.options, **options})

    def found(self, starts: Sequence[np.ndarray] | None = None) -> "_Found | None":
        """Match the two sides."""
        oriented = self.left.orientations is not None and self.right.orientations is not None
        if self.options.get("rotation_invariant") and not oriented:
            return _found_by_pose(self.left, self.right, self.candidates)
        affinity = pairwise_affinity(self.left, self.right, self.candidates, **self.options)
        stretch = _ANY_TURN if self.options.get("rotation_invariant") else Deformation.stretch
        left, right = (_in_mean_lengths(side.points) for side in (self.left, self.right))
        layout = Layout(
            left, right, self.candidates.pairs, Deformation(stretch, noise=self.exactness * Deformation.noise)
        )
        return _found(self.candidates, affinity, layout, starts, self.tries)

    def refined(self, found: "_Found") -> "_Found":
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


@dataclass(frozen=True, eq=False)
class _Found:
    """A one-to-one choice of candidates, the modes of its hypergraph, and what they say."""

    chosen: np.ndarray
    agreement: np.ndarray  # of every candidate with the map that the chosen ones make
    value: float  # total affinity of the chosen ones
    modes: ModeSet
    core: np.ndarray
    share: np.ndarray  # of every candidate in the densest mode
    scores: np.ndarray  # of every candidate: its affinity to that mode
    consistency: float  # of the densest mode with itself


def _found(
    candidates: Candidates,
    affinity: sp.csr_array,
    layout: Layout | None,
    starts: Sequence[np.ndarray] | None = None,
    tries: int = _TRIES,
) -> _Found | None:
    if affinity.nnz == 0:
        return None
    if starts is None:
        starts = _starts(candidates, hypergraph_of_groups(candidates, affinity, _SIZE), tries)
    completed = [_completed(candidates, affinity, layout, start) for start in starts]
    values = np.array([value for *_, value in completed])
    x, agreement, value = completed[int(np.argmax(values))]
    chosen = np.flatnonzero(x)
    neighbours = neighbourhood_hypergraph(
        candidates,
        affinity,
        chosen,
        nearness=None if layout is None else layout.nearness(chosen),
        agreement=agreement[chosen],
        size=_SIZE,
    )
    modes = find_modes(neighbours, n_jobs=1)
    if not len(modes):
        return None
    mass = neighbours.incidence @ modes[0].distribution(neighbours.n_edges)
    share = mass / mass.sum()
    scores = agreement * (affinity @ (agreement * share))
    core = np.flatnonzero(mass > _CORE * mass.max())
    return _Found(chosen, agreement, value, modes, core, share, scores, float(share @ scores))


def _found_by_pose(left: Features, right: Features, candidates: Candidates) -> _Found | None:
    """Match two sides that differ by a similarity nobody knows: modes of the hypergraph of similarities."""
    try:
        hypergraph, _ = pose_hypergraph(left, right, candidates)
    except ValueError:
        return None
    modes = find_modes(hypergraph, n_jobs=1)
    if not len(modes):
        return None
    mass = hypergraph.incidence @ modes[0].distribution(hypergraph.n_edges)
    core = np.sort(greedily(candidates, np.where(mass > 0.5, mass, 0.0)))
    if core.size < 3:
        return None
    here, there = (
        side.points[candidates.pairs[core, k]] @ np.array([1, 1j]) for k, side in enumerate((left, right))
    )
    chance = chances(left, right, candidates, Pose.fitted(here, there, mass[core]))
    chosen = np.flatnonzero(assign(candidates, np.maximum(-np.log(chance) - np.log(2), 0.0)))
    significance = float(-np.log(chance[chosen]).sum())
    core = np.intersect1d(core, chosen)
    return _Found(
        chosen, 1 - chance, significance, modes, core, mass / mass.sum(), 1 - chance,
        significance / (1 + significance),
    )  # fmt: skip


def _starts(candidates: Candidates, groups: Hypergraph, tries: int) -> list[np.ndarray]:
    """Where to begin: the densest modes of the hypergraph of groups, and everywhere."""
    rate = groups.weights / groups.edge_degrees
    strongest = np.sort(np.argsort(-rate, kind="stable")[:_SHIFTED])
    modes = find_modes(groups, starts=[groups.labels[k] for k in strongest], n_jobs=1)
    starts = []
    for mode in modes.modes[:tries]:
        mass = groups.incidence @ (mode.distribution(groups.n_edges) / groups.edge_degrees)
        starts.append(mass / mass.max())
    starts.append(np.full(len(candidates), 1 / max(candidates.n_left, candidates.n_right)))
    return starts


def _completed(
    candidates: Candidates, affinity: sp.csr_array, layout: Layout | None, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Complete a start to a one-to-one choice; its agreement with its map; and its total affinity."""
    agreement = np.ones(len(candidates))
    x = climb(candidates, affinity, start)
    for _ in range(_ROUNDS if layout is not None else 0):
        chosen = np.flatnonzero(x)
        if chosen.size < _FEW:
            break
        support = (agreement * (affinity @ (agreement * x)))[chosen]
        agreement = np.exp(layout.deviations(chosen, support) / (-2 * _TOLERANCE**2))  # type: ignore[union-attr]
        x = climb(candidates, affinity, x, agreement)
    weighted = agreement * x
    return x, agreement, float(weighted @ (affinity @ weighted))


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


def _matching(
    candidates: Candidates, found: _Found | None, n_matches: int | None, chance: float = 0.0
) -> Matching:
    """Read pairs, core and score off what was found; `chance` is the consistency that needs no structure."""
    chosen = core = np.empty(0, dtype=np.int64)
    scores, modes, score = np.zeros(len(candidates)), None, 0.0
    if found is not None:
        scores, modes = found.scores, found.modes
        score = max(0.0, (found.consistency - chance) / max(1 - chance, 1e-9))
        if score >= _BY_CHANCE or n_matches is not None:
            core = found.core
            chosen = np.union1d(found.chosen[scores[found.chosen] >= _KEPT * found.consistency], core)
    if n_matches is not None:
        chosen = _filled(candidates, found, n_matches)
        core = np.intersect1d(core, chosen)
    chosen = chosen[np.argsort(candidates.left[chosen], kind="stable")]
    core = core[np.argsort(candidates.left[core], kind="stable")]
    pairs = candidates.pairs[chosen]
    return Matching(
        pairs=pairs,
        scores=scores[chosen],
        core=candidates.pairs[core],
        unmatched_left=np.setdiff1d(np.arange(candidates.n_left), pairs[:, 0]),
        unmatched_right=np.setdiff1d(np.arange(candidates.n_right), pairs[:, 1]),
        modes=modes,
        score=score,
        candidates=candidates,
    )


def _filled(candidates: Candidates, found: _Found | None, n_matches: int) -> np.ndarray:
    """As many candidates as wanted: the chosen ones by score, then what fits beside them."""
    if found is None:
        return greedily(candidates, candidates.similarity, n_matches)
    ranked = found.chosen[np.lexsort((found.chosen, -found.scores[found.chosen]))]
    if ranked.size >= n_matches:
        return ranked[:n_matches]
    rank = np.zeros(len(candidates))
    rank[ranked] = 2.0  # before all others
    rest = found.scores + 1e-6 * found.agreement * candidates.similarity + 1e-12
    return greedily(candidates, np.maximum(rank, rest / rest.max()), n_matches)


def _check_number(n_matches: Any) -> None:
    if n_matches is not None:
        check_count("n_matches", n_matches, 1)


def _in_mean_lengths(points: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    points = (points - np.median(points, axis=0)) / np.ptp(points, axis=0).max()
    lengths = cdist(points, points)
    return (points - points[ordinary(lengths)].mean(axis=0)) / mean_length(lengths)
