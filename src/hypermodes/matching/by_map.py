"""Search by one smooth map: where it explains matches better than chance does, they follow it exactly."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from scipy.special import expit

from hypermodes.assignment import greedily
from hypermodes.construct.correspondences import (
    Candidates,
    Features,
    mean_length,
    neighbourhood_hypergraph,
    ordinary,
)
from hypermodes.construct.poses import pose_hypergraph
from hypermodes.deformation import Deformation, Layout
from hypermodes.matching.found import Found, densest_mode
from hypermodes.matching.registration import FEWEST, Registrar, Registration
from hypermodes.modes import find_modes
from hypermodes.threads import single_threaded_algebra

MOST = 150  # points of the smaller side: maps of more take too long
_WIDEST = 2 * Deformation.stretch  # turn, and logarithm of the scale, of similarities to begin with
_TRIES = 5  # of their modes
_UNLIKE = 10.0  # times as large as the other, a side is no stretched image of it
_WORK = 10_000_000  # landings looked at for these: they are only where to begin
_EXACT = 1.0  # evidence a match: each is e times more probable by the map than by chance
_DECISIVE = 3.0  # difference of evidence: odds of 20 to 1


@dataclass(frozen=True)
class Mapped:
    """Matches that follow one map decisively better than chance would."""

    found: Found
    takes_over: bool  # exact, and decisively better explained than the matches that were found without


def found_by_map(
    left: Features, right: Features, candidates: Candidates, likeness: np.ndarray, found: Found
) -> Mapped | None:
    """Match again by one map, if there is one that chance would not bring about.

    Begins at everything that was tried before, and at similarities. None if the sides are too large.

    Parameters
    ----------
    left, right : Features
        The sides: centred, in units of their mean lengths.
    candidates : Candidates
        Pairs that might correspond.
    likeness : (m,) float
        How alike the points of each candidate look.
    found : Found
        What was found without.
    """
    if min(len(left), len(right)) > MOST:
        return None
    lengths = [cdist(side.points, side.points) for side in (left, right)]
    near = [ordinary(between) for between in lengths]
    sizes = sorted(mean_length(*both) for both in zip(lengths, near, strict=True))
    if sizes[0] * _UNLIKE < sizes[1]:
        return None
    registrar = Registrar(left.points, right.points, candidates, likeness)
    both = near[0][candidates.left] & near[1][candidates.right]  # a map says nothing of points far from all
    chosen, *tried = (start[both[start]] for start in (found.chosen, *found.tried))
    with single_threaded_algebra:
        exact = registrar.found([chosen, *tried, *_similar(left, right, candidates)])
        if exact is None or exact.evidence < _DECISIVE:
            return None
        takes_over = exact.evidence >= max(_EXACT * exact.chosen.size, registrar.evidence(chosen) + _DECISIVE)
    judged = _judged(left, right, candidates, exact)
    return None if judged is None else Mapped(judged, takes_over)


def _judged(left: Features, right: Features, candidates: Candidates, exact: Registration) -> Found | None:
    """Judge matches by their neighbourhoods, as others are; all go together, for they follow one map."""
    chosen, probability = exact.chosen, expit(exact.log_odds)
    layout = Layout(left.points, right.points, candidates.pairs)
    block = [indices.ravel() for indices in np.meshgrid(chosen, chosen, indexing="ij")]
    together = sp.csr_array((np.ones(chosen.size**2), block), shape=(len(candidates),) * 2)
    neighbours = neighbourhood_hypergraph(
        candidates, together, chosen, nearness=layout.nearness(chosen), agreement=probability[chosen]
    )
    if (densest := densest_mode(neighbours)) is None:
        return None
    modes, core, share = densest
    score = exact.evidence / (1 + exact.evidence)
    return Found(chosen, probability, exact.evidence, modes, core, share, probability, score)


def _similar(left: Features, right: Features, candidates: Candidates) -> list[np.ndarray]:
    """Candidates that a similarity explains which turns little: modes of their hypergraph, densest first."""
    similarities = pose_hypergraph(
        left, right, candidates, largest_scale=np.exp(_WIDEST), largest_turn=_WIDEST, work=_WORK
    )
    if similarities is None:
        return []
    hypergraph, _ = similarities
    starts = []
    for mode in find_modes(hypergraph, n_jobs=1).modes[:_TRIES]:
        mass = hypergraph.incidence @ mode.distribution(hypergraph.n_edges)
        starts.append(np.sort(greedily(candidates, np.where(mass > 0.5, mass, 0.0))))
    return [start for start in starts if start.size >= FEWEST]
