"""Superpixels to a hypergraph: a hyperedge is all that can be reached from a superpixel without a change.

The region around superpixel i at scale σ has the soft incidence h(v,e) = exp(-d(i,v)²/2σ²), where d is the
length of the shortest path between them, summing the changes of appearance on the way: every superpixel of a
smooth patch belongs to it, however far away. Several scales see several sizes of things.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from hypermodes.construct.superpixels import Superpixels
from hypermodes.hypergraph import Hypergraph

SCALES = (5.0, 10.0, 20.0)
"""Units of CIELAB: about where colours begin to differ, an octave on either side of 10."""

MEMBER = 0.5
"""Who is in a hyperedge: those that are more likely in than out."""


def links(superpixels: Superpixels, rings: int = 1) -> np.ndarray:
    """Who is linked to whom, (n, n): neighbours, those of one more ring each, and the border with itself.

    What lies behind an object is often one thing that it cuts in two. All superpixels on the border of the
    picture are therefore linked with each other.
    """
    beside = superpixels.adjacency.toarray()
    linked = beside.copy()
    for _ in range(rings - 1):
        linked |= (linked.astype(np.float32) @ beside) > 0
    border = superpixels.on_border
    linked |= border[:, None] & border[None, :]
    np.fill_diagonal(linked, False)
    return linked


def appearance_paths(superpixels: Superpixels) -> np.ndarray:
    """d(i,j): the least total change of appearance on a way from i to j over links, (n, n)."""
    one, other = np.nonzero(links(superpixels))
    change = superpixels.difference[one, other] + 1e-9  # a change of 0 would be no link
    graph = sp.csr_array((change, (one, other)), shape=(superpixels.n, superpixels.n))
    return dijkstra(graph, directed=False)


def soft_regions(paths: np.ndarray, scales: Sequence[float] = SCALES) -> np.ndarray:
    """p(v|e) = exp(-d²/2σ²) of the region around each superpixel, (scales, n, n), symmetric in its n."""
    return np.stack([np.exp(-((paths / scale) ** 2) / 2) for scale in scales])


def region_hypergraph(
    regions: np.ndarray, worth: np.ndarray, kept: np.ndarray, scales: Sequence[float] = SCALES
) -> Hypergraph:
    """Make regions hyperedges, each vertex of one worth what the region is worth.

    The weight is w(e) = worth(e) δ(e), so that M(i,j) = |e_i ∩ e_j| (worth_i + worth_j): what many regions of
    high worth share is dense.

    Parameters
    ----------
    regions : (scales, n, n) float
        See `soft_regions`.
    worth : (scales, n) float
        Of the region around each superpixel at each scale, positive where it is kept.
    kept : (scales, n) bool
        Which regions become hyperedges, scale by scale. Their labels are "superpixel@scale".
    """
    scale_of, centre_of = np.nonzero(kept)
    incidence = regions[scale_of, centre_of].T
    incidence = sp.csc_array(np.where(incidence >= MEMBER, incidence, 0.0))
    degree = np.asarray(incidence.sum(axis=0)).ravel()
    labels = [f"{i}@{scales[s]:g}" for s, i in zip(scale_of.tolist(), centre_of.tolist(), strict=True)]
    return Hypergraph.from_incidence(incidence, weights=worth[kept] * degree, labels=labels)
