"""Every matching method under one name, on the same candidates; affinities are told apart."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from hypermodes.baselines.matching.assignment import Assignment
from hypermodes.baselines.matching.clipper import clipper
from hypermodes.baselines.matching.graph_shift import graph_shift_matching
from hypermodes.baselines.matching.ipfp import ipfp, spectral_ipfp
from hypermodes.baselines.matching.probabilistic import probabilistic_matching
from hypermodes.baselines.matching.rrwm import rrwm
from hypermodes.baselines.matching.spectral import spectral_matching
from hypermodes.baselines.matching.tensor import tensor_matching
from hypermodes.baselines.matching.triples import Triples, triangle_triples, weighted_by
from hypermodes.construct.correspondences import Candidates, Features, candidate_pairs, pairwise_affinity
from hypermodes.experiments.methods import named
from hypermodes.matching import match
from hypermodes.matching.problem import usual_displacement


@dataclass(frozen=True)
class Given:
    """What all methods are given: features, candidates, their affinity; triples for those of third order."""

    left: Features
    right: Features
    candidates: Candidates
    affinity: sp.csr_array

    @classmethod
    def of(cls, left: Features, right: Features) -> "Given":
        """All pairs as candidates, and the affinity of `pairwise_affinity` with its defaults."""
        candidates = candidate_pairs(left, right)
        return cls(left, right, candidates, pairwise_affinity(left, right, candidates))

    @cached_property
    def displaced(self) -> sp.csr_array:
        """The affinity of displacements that `match` makes for itself."""
        width = usual_displacement(self.left, self.right)
        return pairwise_affinity(self.left, self.right, self.candidates, displacement=width)

    @cached_property
    def triples(self) -> Triples:
        """Pairs of similar triangles."""
        return triangle_triples(self.left, self.right, self.candidates)

    @cached_property
    def weighted_triples(self) -> Triples:
        """The same, weighted by the affinity: what methods of third order can know of it."""
        return weighted_by(self.triples, self.affinity)


class Answer(NamedTuple):
    """Pairs for every point that could be matched, and those that the method stands behind."""

    pairs: np.ndarray
    core: np.ndarray | None = None


@dataclass(frozen=True)
class Matcher:
    """What is run, and how it is shown.

    Attributes
    ----------
    label : str
        For tables and legends.
    family : str
        Heading it is shown under.
    run : function of Given
        What is timed; candidates, affinity and triples are there already, unless it makes its own.
    needs : str
        What it needs of `Given` besides, so that it is made before the clock starts; empty if nothing.
    """

    label: str
    family: str
    run: Callable[[Given], Answer]
    needs: str = ""


OURS, PAPER, PEERS = "hypergraph shift", "the paper's competitors", "other methods"


def _ours(given: Given) -> Answer:
    """As many pairs as the other methods give."""
    found = match(given.left, given.right, n_matches=min(given.candidates.n_left, given.candidates.n_right))
    return Answer(found.pairs, found.core)


def _on_the_same(given: Given) -> Answer:
    """The same on the affinity of the others."""
    wanted = min(given.candidates.n_left, given.candidates.n_right)
    found = match(given.left, given.right, n_matches=wanted, displacement=None)
    return Answer(found.pairs, found.core)


def _invariant(given: Given) -> Answer:
    """The same for sides that may be turned and scaled: it then makes an affinity of its own."""
    wanted = min(given.candidates.n_left, given.candidates.n_right)
    found = match(given.left, given.right, n_matches=wanted, rotation_invariant=True)
    return Answer(found.pairs, found.core)


def _as_it_comes(given: Given) -> Answer:
    """Pairs that go together with the mode, and no others."""
    found = match(given.left, given.right)
    return Answer(found.pairs, found.core)


def filled(candidates: Candidates, answer: Assignment) -> np.ndarray:
    """The pairs of an answer, and for points left over the best by its scores, be they 0.

    The rate of the literature makes every method match every point that it can.
    """
    left = np.setdiff1d(np.arange(candidates.n_left), answer.pairs[:, 0])
    right = np.setdiff1d(np.arange(candidates.n_right), answer.pairs[:, 1])
    table = np.full((candidates.n_left, candidates.n_right), -1.0)
    table[candidates.left, candidates.right] = answer.scores
    rest = table[np.ix_(left, right)]
    rows, columns = linear_sum_assignment(rest, maximize=True)
    there = rest[rows, columns] >= 0
    more = np.column_stack((left[rows[there]], right[columns[there]]))
    return np.vstack((answer.pairs, more))


def _pairwise(method: Callable[..., Assignment]) -> Callable[[Given], Answer]:
    return lambda given: Answer(filled(given.candidates, method(given.candidates, given.affinity)))


def _displaced(label: str, method: Callable[..., Assignment]) -> Matcher:
    """A method of others on the affinity that `match` makes for itself."""

    def run(given: Given) -> Answer:
        return Answer(filled(given.candidates, method(given.candidates, given.displaced)))

    return Matcher(f"{label}, displacements", PEERS, run, needs="displaced")


def _completed(method: Callable[..., Assignment]) -> Callable[[Given], Answer]:
    """A method that answers with a dense set: that set is its core, and IPFP from there matches the rest."""

    def run(given: Given) -> Answer:
        core = method(given.candidates, given.affinity)
        answer = ipfp(given.candidates, given.affinity, start=core.scores)
        return Answer(filled(given.candidates, answer), core.pairs)

    return run


def _rrwm_ipfp(given: Given) -> Answer:
    soft = rrwm(given.candidates, given.affinity)
    return Answer(filled(given.candidates, ipfp(given.candidates, given.affinity, start=soft.scores)))


def _third_order(label: str, method: Callable[..., Assignment], kind: str) -> Matcher:
    def run(given: Given) -> Answer:
        return Answer(filled(given.candidates, method(given.candidates, getattr(given, kind))))

    return Matcher(label, PAPER, run, needs=kind)


MATCHERS: dict[str, Matcher] = {
    "hypergraph_shift": Matcher("hypermodes.match, all points", OURS, _ours),
    "on_the_same": Matcher("hypermodes.match, all points, the others' affinity", OURS, _on_the_same),
    "invariant": Matcher("hypermodes.match, all points, any rotation", OURS, _invariant),
    "as_it_comes": Matcher("hypermodes.match", OURS, _as_it_comes),
    "spectral_ipfp": Matcher("SM + IPFP", PAPER, _pairwise(spectral_ipfp)),
    "graph_shift": Matcher("graph shift + IPFP", PAPER, _completed(graph_shift_matching)),
    "tensor": _third_order("TM, triangles", tensor_matching, "triples"),
    "tensor_weighted": _third_order("TM, triangles and affinity", tensor_matching, "weighted_triples"),
    "probabilistic": _third_order("PM, triangles", probabilistic_matching, "triples"),
    "probabilistic_pairs": Matcher("PM, affinity", PAPER, _pairwise(probabilistic_matching)),
    "spectral_matching": Matcher("SM", PEERS, _pairwise(spectral_matching)),
    "ipfp": Matcher("IPFP", PEERS, _pairwise(ipfp)),
    "spectral_ipfp_displaced": _displaced("SM + IPFP", spectral_ipfp),
    "ipfp_displaced": _displaced("IPFP", ipfp),
    "rrwm": Matcher("RRWM", PEERS, _pairwise(rrwm)),
    "rrwm_ipfp": Matcher("RRWM + IPFP", PEERS, _rrwm_ipfp),
    "clipper": Matcher("CLIPPER + IPFP", PEERS, _completed(clipper)),
}
"""From what is given to pairs, by name."""


def chosen(names: list[str] | None) -> dict[str, Matcher]:
    """Those with these names, all if None."""
    return named(MATCHERS, names)
