"""Matches between two sets of features: modes of the hypergraph of candidate correspondences."""

from hypermodes.matching.result import Matching as Matching
from hypermodes.matching.several import match_groups as match_groups
from hypermodes.matching.single import match as match
from hypermodes.matching.single import match_affinity as match_affinity
