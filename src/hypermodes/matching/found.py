"""What a search found, and the pairs, core and score that are read off it."""

from dataclasses import dataclass

import numpy as np

from hypermodes.assignment import greedily
from hypermodes.construct.correspondences import Candidates
from hypermodes.hypergraph import Hypergraph
from hypermodes.matching.result import Matching
from hypermodes.modes import find_modes
from hypermodes.result import ModeSet

_CORE = 0.2  # of the mass of the mode's best pair; what has less is not part of the mode
_KEPT = 0.25  # of the core's own consistency; what has less does not go together with it
_BY_CHANCE = 0.2  # a score below this is as good as none


@dataclass(frozen=True, eq=False)
class Found:
    """A one-to-one choice of candidates, the modes of its hypergraph, and what they say."""

    chosen: np.ndarray
    agreement: np.ndarray  # of every candidate with the map that the chosen ones make
    value: float  # total affinity of the chosen ones
    modes: ModeSet
    core: np.ndarray
    share: np.ndarray  # of every candidate in the densest mode
    scores: np.ndarray  # of every candidate: its affinity to that mode
    consistency: float  # of the densest mode with itself
    tried: tuple[np.ndarray, ...] = ()  # choices that were completed beside it


def densest_mode(groups: Hypergraph) -> tuple[ModeSet, np.ndarray, np.ndarray] | None:
    """Modes of a hypergraph of candidates, the core of the densest and the share of every candidate in it."""
    modes = find_modes(groups, n_jobs=1)
    if not len(modes):
        return None
    mass = groups.incidence @ modes[0].distribution(groups.n_edges)
    return modes, np.flatnonzero(mass > _CORE * mass.max()), mass / mass.sum()


def read_off(
    candidates: Candidates, found: Found | None, n_matches: int | None, chance: float = 0.0
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


def _filled(candidates: Candidates, found: Found | None, n_matches: int) -> np.ndarray:
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
