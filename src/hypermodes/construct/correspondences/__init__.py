"""Two sets of features to candidate correspondences, how well these go together, and their hypergraph.

A *candidate* says that a point on the left is a point on the right. Two candidates are consistent when what
lies between their points (a length, a direction) is the same on both sides; they are in conflict when they
share a point.
"""

from hypermodes.construct.correspondences.affinity import check_affinity_options as check_affinity_options
from hypermodes.construct.correspondences.affinity import checked_affinity as checked_affinity
from hypermodes.construct.correspondences.affinity import likeness as likeness
from hypermodes.construct.correspondences.affinity import pairwise_affinity as pairwise_affinity
from hypermodes.construct.correspondences.affinity import room_for_points as room_for_points
from hypermodes.construct.correspondences.arguments import check_count as check_count
from hypermodes.construct.correspondences.arguments import check_positive as check_positive
from hypermodes.construct.correspondences.candidates import Candidates as Candidates
from hypermodes.construct.correspondences.candidates import candidate_pairs as candidate_pairs
from hypermodes.construct.correspondences.candidates import check_candidates as check_candidates
from hypermodes.construct.correspondences.candidates import usual_per_point as usual_per_point
from hypermodes.construct.correspondences.features import Features as Features
from hypermodes.construct.correspondences.hypergraphs import (
    correspondence_hypergraph as correspondence_hypergraph,
)
from hypermodes.construct.correspondences.hypergraphs import hypergraph_of_groups as hypergraph_of_groups
from hypermodes.construct.correspondences.hypergraphs import (
    neighbourhood_hypergraph as neighbourhood_hypergraph,
)
from hypermodes.construct.correspondences.lengths import frame as frame
from hypermodes.construct.correspondences.lengths import in_mean_lengths as in_mean_lengths
from hypermodes.construct.correspondences.lengths import mean_length as mean_length
from hypermodes.construct.correspondences.lengths import ordinary as ordinary
from hypermodes.construct.correspondences.scrambling import scrambled as scrambled
