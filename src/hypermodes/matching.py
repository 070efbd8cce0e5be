"""Matches between two sets of features: modes of the hypergraph of candidate correspondences."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.assignment import assign, climb
from hypermodes.certificate import Certificate
from hypermodes.construct.correspondences import (
    Candidates,
    Features,
    candidate_pairs,
    checked_affinity,
    hypergraph_of_groups,
    neighbourhood_hypergraph,
    pairwise_affinity,
)
from hypermodes.deformation import Layout
from hypermodes.modes import find_modes
from hypermodes.result import Mode, ModeSet, counted

_STARTS = 300  # hyperedges shifted to find where to begin
_TRIES = 6  # modes that are completed, to keep the best
_ROUNDS = 3  # of fitting a map and matching again
_TOLERANCE = 1.5  # a candidate this many standard deviations from its place loses 1 - 1/√e of its affinity
_SIZE = 20  # members of a hyperedge
_CORE = 0.2  # of the mass of a mode's best pair: what has less is not part of the mode


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
        How consistent the core is with itself, in [0, 1]; 0 if there is none.
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
    left, right = Features.of("left", left), Features.of("right", right)
    candidates = candidate_pairs(left, right, per_point)
    affinity = pairwise_affinity(left, right, candidates, **options)
    layout = Layout(_in_mean_lengths(left.points), _in_mean_lengths(right.points), candidates.pairs)
    return _matched(candidates, affinity, layout, n_matches)


def match_affinity(candidates: Candidates, affinity: Any, *, n_matches: int | None = None) -> Matching:
    return _matched(candidates, checked_affinity(candidates, affinity), None, n_matches)


@dataclass(frozen=True)
class _Completed:
    """A one-to-one choice grown from a mode."""

    chosen: np.ndarray
    agreement: np.ndarray  # of every candidate with the map that the chosen ones make
    value: float


def _matched(
    candidates: Candidates, affinity: sp.csr_array, layout: Layout | None, n_matches: int | None
) -> Matching:
    if affinity.nnz == 0:
        return _matching(candidates, np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64), None, 0.0)
    groups = hypergraph_of_groups(candidates, affinity, _SIZE)
    best = max(
        (_completed(candidates, affinity, layout, start) for start in _starts(groups)),
        key=lambda done: done.value,
    )
    chosen, agreement = best.chosen, best.agreement
    neighbours = neighbourhood_hypergraph(
        candidates,
        affinity,
        chosen,
        nearness=None if layout is None else layout.nearness(chosen),
        agreement=agreement[chosen],
        size=_SIZE,
    )
    modes = find_modes(neighbours)
    mass = neighbours.incidence @ modes[0].distribution(neighbours.n_edges)
    core = np.flatnonzero(mass > _CORE * mass.max())
    share = mass / mass.sum()
    scores = agreement * (affinity @ (agreement * share))
    score = float(share @ scores)
    return _matching(candidates, chosen, scores, core, modes, score)


def _starts(groups) -> list[np.ndarray]:
    rate = groups.weights / groups.edge_degrees
    strongest = np.sort(np.argsort(-rate, kind="stable")[:_STARTS])
    modes = find_modes(groups, starts=[groups.labels[k] for k in strongest])
    starts = []
    for mode in modes.modes[:_TRIES]:
        mass = groups.incidence @ (mode.distribution(groups.n_edges) / groups.edge_degrees)
        starts.append(mass / mass.max())
    return starts


def _completed(candidates, affinity, layout, start) -> _Completed:
    x = climb(candidates, affinity, start)
    agreement = np.ones(len(candidates))
    for _ in range(_ROUNDS if layout is not None else 0):
        chosen = np.flatnonzero(x)
        if chosen.size < 5:
            break
        support = (agreement * (affinity @ (agreement * x)))[chosen]
        agreement = np.exp(-layout.deviations(chosen, support) / (2 * _TOLERANCE**2))
        x = climb(candidates, affinity, x, agreement)
    value = float((agreement * x) @ (affinity @ (agreement * x)))
    return _Completed(np.flatnonzero(x), agreement, value)


def _matching(candidates, chosen, scores, core, modes, score) -> Matching:
    order = np.argsort(candidates.left[chosen], kind="stable")
    chosen = chosen[order]
    pairs = candidates.pairs[chosen]
    core = core[np.argsort(candidates.left[core])]
    return Matching(
        pairs,
        scores[chosen],
        candidates.pairs[core],
        np.setdiff1d(np.arange(candidates.n_left), pairs[:, 0]),
        np.setdiff1d(np.arange(candidates.n_right), pairs[:, 1]),
        modes,
        score,
        candidates,
    )


def _in_mean_lengths(points: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import pdist

    points = (points - points.mean(axis=0)) / np.ptp(points, axis=0).max()
    return points / pdist(points).mean()
