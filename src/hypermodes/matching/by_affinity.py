"""Search by a pairwise affinity: modes say where to begin, climbing completes, neighbours judge."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from hypermodes.assignment import climb, payoffs
from hypermodes.construct.correspondences import Candidates, hypergraph_of_groups, neighbourhood_hypergraph
from hypermodes.deformation import Layout
from hypermodes.hypergraph import Hypergraph
from hypermodes.matching.found import Found, densest_mode
from hypermodes.modes import find_modes
from hypermodes.threads import single_threaded_algebra

TRIES = 5  # modes that are completed, to keep the best
FEW = 15  # matches below which a map, with its six unknowns and its bends, says little
_SHIFTED = 300  # hyperedges shifted to find where to begin
_ROUNDS = 3  # of fitting a map and matching again
_TOLERANCE = 1.5  # standard deviations from its place at which a candidate has lost 1 - 1/√e of its weight
_SIZE = 20  # members of a hyperedge


def found_by_affinity(
    candidates: Candidates,
    affinity: sp.csr_array,
    layout: Layout | None,
    starts: Sequence[np.ndarray] | None = None,
    tries: int = TRIES,
) -> Found | None:
    """Complete the starts, keep the best, and judge it by its neighbourhoods; None if nothing goes together.

    Without ``layout`` nothing is known of places, and no map is fitted; without ``starts``, modes say where
    to begin.
    """
    if affinity.nnz == 0:
        return None
    if starts is None:
        starts = _starts(candidates, hypergraph_of_groups(candidates, affinity, _SIZE), tries)
    climbed = {x.tobytes(): x for x in (climb(candidates, affinity, start) for start in starts)}
    completed = [_completed(candidates, affinity, layout, x) for x in climbed.values()]
    values = [_value(affinity, x, agreement) for x, agreement in completed]
    found = judged(candidates, affinity, layout, *completed[int(np.argmax(values))])
    if found is None:
        return None
    return replace(found, tried=tuple(np.flatnonzero(x) for x, _ in completed))


def judged(
    candidates: Candidates,
    affinity: sp.csr_array,
    layout: Layout | None,
    x: np.ndarray,
    agreement: np.ndarray,
) -> Found | None:
    """Judge a one-to-one choice by its neighbourhoods; None if nothing in it goes together."""
    chosen = np.flatnonzero(x)
    neighbours = neighbourhood_hypergraph(
        candidates,
        affinity,
        chosen,
        nearness=None if layout is None else layout.nearness(chosen),
        agreement=agreement[chosen],
        size=_SIZE,
    )
    if (densest := densest_mode(neighbours)) is None:
        return None
    modes, core, share = densest
    scores = agreement * payoffs(affinity, agreement * share)
    value = _value(affinity, x, agreement)
    return Found(chosen, agreement, value, modes, core, share, scores, float(share @ scores))


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
    candidates: Candidates, affinity: sp.csr_array, layout: Layout | None, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Improve a one-to-one choice by the map it makes; and its agreement with that."""
    agreement = np.ones(len(candidates))
    for _ in range(_ROUNDS if layout is not None else 0):
        chosen = np.flatnonzero(x)
        if chosen.size < FEW:
            break
        support = (agreement * payoffs(affinity, agreement * x))[chosen]
        with single_threaded_algebra:
            deviations = layout.deviations(chosen, support)  # type: ignore[union-attr]
        agreement = np.exp(deviations / (-2 * _TOLERANCE**2))
        x = climb(candidates, affinity, x, agreement)
    return x, agreement


def _value(affinity: sp.csr_array, x: np.ndarray, agreement: np.ndarray) -> float:
    """Total affinity of a choice."""
    weighted = agreement * x
    return float(weighted @ payoffs(affinity, weighted))
