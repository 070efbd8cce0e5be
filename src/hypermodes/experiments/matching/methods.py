"""Every matching method under one name, on the same candidates and the same affinity."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import scipy.sparse as sp

from hypermodes.baselines.matching.clipper import clipper, clipper_ipfp
from hypermodes.baselines.matching.graph_shift import graph_shift_ipfp, graph_shift_matching
from hypermodes.baselines.matching.ipfp import ipfp, spectral_ipfp
from hypermodes.baselines.matching.probabilistic import probabilistic_matching
from hypermodes.baselines.matching.rrwm import rrwm
from hypermodes.baselines.matching.spectral import spectral_matching
from hypermodes.baselines.matching.tensor import tensor_matching
from hypermodes.baselines.matching.triples import Triples, triangle_triples, weighted_by
from hypermodes.construct.correspondences import Candidates, Features, candidate_pairs, pairwise_affinity


@dataclass(frozen=True)
class Prepared:
    """What all methods are given: candidates, their affinity, and triples of them for those of third order."""

    left: Features
    right: Features
    candidates: Candidates
    affinity: sp.csr_array

    @cached_property
    def triples(self) -> Triples:
        """Pairs of similar triangles."""
        return triangle_triples(self.left, self.right, self.candidates)

    @cached_property
    def weighted_triples(self) -> Triples:
        """The same, weighted by the affinity, so that third order methods know what the others know."""
        return weighted_by(self.triples, self.affinity)


def prepared(left: Features, right: Features) -> Prepared:
    """All pairs as candidates, and our affinity of them."""
    candidates = candidate_pairs(left, right)
    return Prepared(left, right, candidates, pairwise_affinity(left, right, candidates))


@dataclass(frozen=True)
class Matcher:
    """What is run, and how it is shown."""

    label: str
    family: str
    run: Callable[[Prepared], Any]


PAPER, PEERS = "the paper's competitors", "other methods"


def _pairwise(method: Callable[..., Any]) -> Callable[[Prepared], Any]:
    return lambda given: method(given.candidates, given.affinity)


BASELINES: dict[str, Matcher] = {
    "graph_shift_mode": Matcher("graph shift, the mode alone", PAPER, _pairwise(graph_shift_matching)),
    "graph_shift_ipfp": Matcher("graph shift + IPFP", PAPER, _pairwise(graph_shift_ipfp)),
    "spectral_ipfp": Matcher("SM + IPFP (the paper's SC + IPFP)", PAPER, _pairwise(spectral_ipfp)),
    "tensor": Matcher("TM", PAPER, lambda given: tensor_matching(given.candidates, given.triples)),
    "tensor_weighted": Matcher(
        "TM, weighted", PAPER, lambda given: tensor_matching(given.candidates, given.weighted_triples)
    ),
    "probabilistic": Matcher(
        "PM", PAPER, lambda given: probabilistic_matching(given.candidates, given.triples)
    ),
    "probabilistic_pairs": Matcher("PM, pairs", PAPER, _pairwise(probabilistic_matching)),
    "spectral": Matcher("SM", PEERS, _pairwise(spectral_matching)),
    "ipfp": Matcher("IPFP", PEERS, _pairwise(ipfp)),
    "rrwm": Matcher("RRWM", PEERS, _pairwise(rrwm)),
    "clipper_clique": Matcher("CLIPPER, the clique alone", PEERS, _pairwise(clipper)),
    "clipper_ipfp": Matcher("CLIPPER + IPFP", PEERS, _pairwise(clipper_ipfp)),
}
