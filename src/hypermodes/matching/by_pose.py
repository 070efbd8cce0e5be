"""Search by similarities: matching where scale and rotation are unknown."""

import numpy as np

from hypermodes.assignment import assign, greedily
from hypermodes.construct.correspondences import Candidates, Features
from hypermodes.construct.poses import Pose, chances, pose_hypergraph
from hypermodes.matching.found import Found
from hypermodes.modes import find_modes


def found_by_pose(left: Features, right: Features, candidates: Candidates) -> Found | None:
    """Match two sides that differ by a similarity nobody knows: modes of the hypergraph of similarities."""
    if (similarities := pose_hypergraph(left, right, candidates)) is None:
        return None
    hypergraph, _ = similarities
    modes = find_modes(hypergraph, n_jobs=1)
    if not len(modes):
        return None
    mass = hypergraph.incidence @ modes[0].distribution(hypergraph.n_edges)
    core = np.sort(greedily(candidates, np.where(mass > 0.5, mass, 0.0)))
    if core.size < 3:
        return None
    here, there = (
        side.points[candidates.pairs[core, k]] @ np.array([1, 1j]) for k, side in enumerate((left, right))
    )
    chance = chances(left, right, candidates, Pose.fitted(here, there, mass[core]))
    chosen = np.flatnonzero(assign(candidates, np.maximum(-np.log(chance) - np.log(2), 0.0)))
    significance = float(-np.log(chance[chosen]).sum())
    core = np.intersect1d(core, chosen)
    return Found(
        chosen, 1 - chance, significance, modes, core, mass / mass.sum(), 1 - chance,
        significance / (1 + significance),
    )  # fmt: skip
