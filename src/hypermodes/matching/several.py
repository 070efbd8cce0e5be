"""Match several objects or surfaces: one group of matches after the other."""

from dataclasses import replace
from typing import Any

import numpy as np

from hypermodes.construct.correspondences import (
    Candidates,
    Features,
    check_candidates,
    check_count,
    check_positive,
)
from hypermodes.construct.structures import homographies, on_a_line
from hypermodes.matching.found import Found, read_off
from hypermodes.matching.result import Matching
from hypermodes.matching.single import match
from hypermodes.modes import find_modes

_TOLERANCES = (0.1, 0.05, 0.025)  # of groups, in units of the spread; tried from the largest
_OCCAM = 1.05  # times more significant must more groups be


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
    check_candidates(left, right, options.get("per_point"))
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
                ), n_left=len(left), n_right=len(right)),
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
        found = Found(
            chosen, probability, significance, modes, core, mass / mass.sum(), probability,
            significance / (1 + significance),
        )  # fmt: skip
        groups.append(read_off(candidates, found, len(chosen)))
        free[chosen] = False
    return tuple(groups)
