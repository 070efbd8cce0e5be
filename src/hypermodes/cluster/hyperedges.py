"""What groups of vertices say of memberships and of hyperedges."""

import numpy as np
import scipy.sparse as sp

from hypermodes.hypergraph import Hypergraph
from hypermodes.layout.ties import Ties

MAJORITY = 0.5  # of a hyperedge that a group holds more of than this, the hyperedge is one of its own


def memberships(ties: Ties, labels: np.ndarray, n_clusters: int) -> sp.csr_array:
    """Share of the ties of each vertex that are with each group; none is larger than that of its own.

    Rows sum to 1 at most. A vertex in no group has no memberships.
    """
    inside = np.flatnonzero(labels >= 0)
    member = sp.csr_array((np.ones(inside.size), (inside, labels[inside])), shape=(labels.size, n_clusters))
    shares = sp.csr_array(ties.matrix @ member + 1e-12 * member)
    total = np.asarray(ties.matrix.sum(axis=1)).ravel()
    row = np.repeat(np.arange(labels.size), np.diff(shares.indptr))
    value = np.minimum(shares.data / np.maximum(total, 1e-12)[row], 1.0)
    own = np.zeros(labels.size)
    at_home = shares.indices == labels[row]
    own[row[at_home]] = value[at_home]
    value = np.where(labels[row] >= 0, np.minimum(value, own[row]), 0.0)
    result = sp.csr_array((value, shares.indices, shares.indptr), shape=shares.shape)
    result.eliminate_zeros()
    result.sort_indices()
    return result


def edge_memberships(hypergraph: Hypergraph, labels: np.ndarray, n_clusters: int) -> sp.csr_array:
    """Share of each hyperedge that each group holds: p(v|e) summed over its members of the group."""
    inside = np.flatnonzero(labels >= 0)
    member = sp.csr_array((np.ones(inside.size), (inside, labels[inside])), shape=(labels.size, n_clusters))
    held = sp.csr_array(hypergraph.incidence.T @ member)
    held.sort_indices()
    degree = np.repeat(hypergraph.edge_degrees, np.diff(held.indptr))
    return sp.csr_array((np.minimum(held.data / degree, 1.0), held.indices, held.indptr), shape=held.shape)


def edge_labels(held: sp.csr_array) -> np.ndarray:
    """The group that holds more than half of each hyperedge; -1, an outlier, where there is none."""
    edge = np.repeat(np.arange(held.shape[0]), np.diff(held.indptr))
    most = held.data > MAJORITY + 1e-9
    labels = np.full(held.shape[0], -1, np.int64)
    labels[edge[most]] = held.indices[most]
    return labels
