"""Hyperedges of candidates that go together: groups that grow from each, and neighbourhoods of matches."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.construct.correspondences.affinity import checked_affinity
from hypermodes.construct.correspondences.arguments import check_count, check_positive
from hypermodes.construct.correspondences.candidates import Candidates
from hypermodes.hypergraph import Hypergraph

_MOST_GROUPS = 4000  # groups of candidates grown, from those with the largest total affinity


def correspondence_hypergraph(
    candidates: Candidates, affinity: Any, *, size: int = 20, power: float = 4.0
) -> Hypergraph:
    """Make a hyperedge for every candidate: a group of consistent ones, without conflict, grown from it.

    A group takes in, one after the other, the candidate with the largest total affinity to those it has,
    until it has ``size`` members or nobody is left: what joins must be consistent with all of the group,
    not with one. With A the affinity,

        p(v|e) = affinity of v to the other members, relative to the best member,
        w(e)/δ(e) = (q(e) / max q)^power,     q(e) = Σ_{u,v in e} A(u,v).

    Parameters
    ----------
    candidates : Candidates
        The vertices.
    affinity : (m, m) sparse or dense, symmetric, not negative
        How well they go together; 0 where they are in conflict.
    size : int
        Members of a group at most; no group has more members than a side has points.
    power : float
        How much more a consistent group counts than a less consistent one.

    Returns
    -------
    Hypergraph
        Vertices are candidates. A hyperedge has the candidate it grew from as its label; candidates with no
        affinity to any other have none, and of more than 4000 only those with the largest total affinity.
    """
    check_count("size", size, 2)
    check_positive("power", power)
    return hypergraph_of_groups(candidates, checked_affinity(candidates, affinity), size, power)


def hypergraph_of_groups(
    candidates: Candidates, matrix: sp.csr_array, size: int = 20, power: float = 4.0
) -> Hypergraph:
    """Do the work of `correspondence_hypergraph` on an affinity that has been checked."""
    from hypermodes._kernels.consistency import grow_groups

    if not matrix.data.all():  # too small beside the largest to be a number; the kernel counts on entries
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    size = min(int(size), candidates.n_left, candidates.n_right)
    if size < 2 or matrix.nnz == 0:
        raise ValueError(
            "affinity: expected at least one pair of consistent candidates; all affinities are 0"
        )
    strength = matrix.sum(axis=1)
    seeds = np.sort(np.argsort(-strength, kind="stable")[:_MOST_GROUPS])
    members = np.full((seeds.size, size), -1, dtype=np.int64)
    affinities = np.zeros(members.shape)
    grow_groups(
        matrix.indptr, matrix.indices, matrix.data, np.ascontiguousarray(candidates.left),
        np.ascontiguousarray(candidates.right), candidates.n_left, candidates.n_right, seeds, members,
        affinities,
    )  # fmt: skip
    grown = members[:, 1] >= 0
    members, affinities = members[grown], affinities[grown]
    quality = affinities.sum(axis=1)
    incidence = _incidence(members, affinities / affinities.max(axis=1, keepdims=True), len(candidates))
    rate = np.maximum((quality / quality.max()) ** power, 1e-12)
    return Hypergraph.from_incidence(incidence, rate * incidence.sum(axis=0), labels=seeds[grown].tolist())


def neighbourhood_hypergraph(
    candidates: Candidates,
    matrix: sp.csr_array,
    chosen: np.ndarray,
    *,
    nearness: np.ndarray | None = None,
    agreement: np.ndarray | None = None,
    size: int = 20,
    power: float = 2.0,
) -> Hypergraph:
    """Make a hyperedge for every chosen candidate: itself and the chosen ones nearest to it.

    What is near a match must be consistent with it: a neighbour v belongs with
    p(v|e) = agreement(v) · A(u,v) to the hyperedge of u, and u itself with agreement(u). A shared vertex is
    worth the mean of these to the power of 2, so that modes lie where neighbours agree.

    Parameters
    ----------
    candidates : Candidates
        The vertices.
    matrix : (m, m) csr_array
        Their affinity.
    chosen : (k,) int
        Candidates without conflict, such as the pairs of a matching.
    nearness : (k, k) float, optional
        How near the chosen ones are to each other; their affinity if not given.
    agreement : (k,) float in [0, 1], optional
        How well each agrees with all others taken together; 1 if not given.
    size : int
        Members of a hyperedge.
    power : float
        How much more a consistent neighbourhood counts than a less consistent one.
    """
    chosen = np.asarray(chosen)
    inside = matrix[chosen][:, chosen].toarray()
    agreement = np.ones(chosen.size) if agreement is None else np.asarray(agreement, dtype=np.float64)
    near = np.array(inside if nearness is None else nearness, dtype=np.float64)
    np.fill_diagonal(near, np.inf)
    order = np.argsort(-near, axis=1, kind="stable")[:, : min(size, chosen.size)]
    probability = agreement[order] * np.take_along_axis(inside, order, axis=1)
    probability[:, 0] = agreement
    incidence = _incidence(chosen[order], probability, len(candidates))
    rate = np.maximum(probability.mean(axis=1) ** power, 1e-12)
    return Hypergraph.from_incidence(incidence, rate * incidence.sum(axis=0), labels=chosen.tolist())


def _incidence(members: np.ndarray, probability: np.ndarray, n_vertices: int) -> sp.csc_array:
    """Incidence of groups, one a row; no probability vanishes, so that members stay members."""
    present = members >= 0
    owner = np.repeat(np.arange(len(members)), present.sum(axis=1))
    values = np.clip(probability[present], 1e-6, 1.0)
    return sp.csc_array((values, (members[present], owner)), shape=(n_vertices, len(members)))
