"""Every matching method under one name, on the same candidates and the same affinity."""

from dataclasses import dataclass
from functools import cached_property

import scipy.sparse as sp

from hypermodes.construct.correspondences import Candidates, Features, candidate_pairs, pairwise_affinity


@dataclass(frozen=True)
class Prepared:
    """What all methods are given."""

    left: Features
    right: Features
    candidates: Candidates
    affinity: sp.csr_array

def prepared(left: Features, right: Features) -> Prepared:
    """All pairs as candidates, and our affinity of them."""
    candidates = candidate_pairs(left, right)
    return Prepared(left, right, candidates, pairwise_affinity(left, right, candidates))

class _M:
    def __init__(self, run): self.run = run
def _b():
    from hypermodes.baselines.matching.ipfp import ipfp, spectral_ipfp
    from hypermodes.baselines.matching.rrwm import rrwm
    from hypermodes.baselines.matching.spectral import spectral_matching
    return {f.__name__: _M(lambda p, f=f: f(p.candidates, p.affinity)) for f in (ipfp, spectral_ipfp, rrwm, spectral_matching)}
BASELINES = _b()
