"""Ties between vertices: how much two of them have to do with each other, from the hyperedges they share.

A hyperedge e gives each pair of its members

    t_e(u, v) = w(e) h(u,e) h(v,e) / (δ(e) (1 - 1/|e|)),

which is w(e)/(|e| - 1) where incidence is 0/1: a vertex has as many ties as hyperedges, whatever their size.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hypermodes.hypergraph import Hypergraph
from hypermodes.numbering import mixed

ROUNDS = 6  # of refining the colours that put vertices in order
PARTNERS = 32  # members of a large hyperedge are tied to so many others each, as if at random


@dataclass(frozen=True, eq=False)
class Ties:
    """The ties inside one connected part of a hypergraph.

    Attributes
    ----------
    vertices : (n,) int64
        Its vertices, in an order that does not depend on how they were listed, but for those that look alike.
    matrix : (n, n) csr_array
        Ties between them, symmetric, nothing on the diagonal. All weights are as if those of different
        hyperedges were 1 on average.
    incidence : (n, m) csc_array
        Its different hyperedges of two and more.
    weights : (m,) float
        Their weights, 1 on average.
    """

    vertices: np.ndarray
    matrix: sp.csr_array
    incidence: sp.csc_array
    weights: np.ndarray


def connected_ties(hypergraph: Hypergraph) -> list[Ties]:
    """The ties in each connected part that has two or more different hyperedges, largest part first.

    Hyperedges that are equal are one with the sum of their weights. What is left out are vertices that are
    in no hyperedge and hyperedges that meet no other.

    Notes
    -----
    O(Σ|e|·min(|e|, 33)): a member of a hyperedge of more than 33 is tied to 32 others, more strongly.
    """
    incidence, weights = _different(hypergraph)
    part, edge_part = _parts(incidence)
    count = int(part.max(initial=-1)) + 1
    paired = np.diff(incidence.indptr) >= 2
    different = np.bincount(edge_part, minlength=count)
    total = np.bincount(edge_part[paired], weights=weights[paired], minlength=count)
    mean = total / np.maximum(1, np.bincount(edge_part[paired], minlength=count))
    weights = weights / np.where(mean > 0, mean, 1.0)[edge_part]
    vertex_colour, edge_colour = colours(incidence, weights)
    members = _by_part(part, vertex_colour, count)
    edges = _by_part(np.where(paired, edge_part, count), edge_colour, count)
    place = np.empty(part.size, np.int64)  # of each vertex among those of its part
    place[np.concatenate(members)] = np.concatenate([np.arange(one.size) for one in members])
    parts = []
    for k in np.flatnonzero((different >= 2) & (mean > 0)).tolist():
        own = incidence[:, edges[k]]
        own = sp.csc_array((own.data, place[own.indices], own.indptr), shape=(members[k].size, edges[k].size))
        own.sort_indices()
        parts.append(Ties(members[k], pair_ties(own, weights[edges[k]]), own, weights[edges[k]]))
    return sorted(parts, key=lambda one: (-one.vertices.size, one.vertices.min()))


def _by_part(part: np.ndarray, colour: np.ndarray, count: int) -> list[np.ndarray]:
    """What is in each part, in the order of colours."""
    order = np.lexsort((colour, part))
    return np.split(order, np.searchsorted(part[order], np.arange(1, count + 1)))[:count]


def _different(hypergraph: Hypergraph) -> tuple[sp.csc_array, np.ndarray]:
    """One column for each set of equal hyperedges, and the sum of their weights."""
    incidence = hypergraph.incidence
    edge = np.repeat(np.arange(incidence.shape[1]), np.diff(incidence.indptr))
    entry = mixed(incidence.indices.astype(np.uint64) * np.uint64(3) + _bits(incidence.data))
    sums = np.zeros((2, incidence.shape[1]), np.uint64)
    np.add.at(sums[0], edge, entry)
    np.add.at(sums[1], edge, mixed(entry + np.uint64(1)))
    _, first, which = np.unique(sums, axis=1, return_index=True, return_inverse=True)
    return incidence[:, first], np.bincount(which.ravel(), weights=hypergraph.weights)


def colours(incidence: sp.csc_array, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers for vertices and hyperedges that say what is around them, whatever they are called."""
    edge = np.repeat(np.arange(incidence.shape[1]), np.diff(incidence.indptr))
    share = _bits(incidence.data)
    weight = _bits(weights)
    vertex_colour = np.zeros(incidence.shape[0], np.uint64)
    for _ in range(ROUNDS):
        edge_colour = weight.copy()
        np.add.at(edge_colour, edge, mixed(vertex_colour[incidence.indices] + share))
        colour = np.zeros_like(vertex_colour)
        np.add.at(colour, incidence.indices, mixed(edge_colour[edge] + share))
        vertex_colour = mixed(colour)
    return vertex_colour, edge_colour


def _bits(values: np.ndarray) -> np.ndarray:
    """Numbers that are equal but for rounding, as equal integers."""
    return np.round(np.log(values) * 1e6).astype(np.int64).astype(np.uint64)


def _parts(incidence: sp.csc_array) -> tuple[np.ndarray, np.ndarray]:
    """Connected part of each vertex and of each hyperedge; a vertex in none is a part of its own."""
    n, m = incidence.shape
    edge = np.repeat(np.arange(m), np.diff(incidence.indptr))
    joined = sp.coo_array((np.ones(edge.size, bool), (incidence.indices, n + edge)), shape=(n + m, n + m))
    part = connected_components(joined, directed=False)[1]
    return part[:n], part[n:]


def pair_ties(incidence: sp.csc_array, weights: np.ndarray) -> sp.csr_array:
    """The ties of all pairs, hyperedges of one size at a time."""
    n, size = incidence.shape[0], np.diff(incidence.indptr)
    rows, columns, ties = [], [], []
    for s in np.unique(size[size >= 2]).tolist():
        edges = np.flatnonzero(size == s)
        entry = incidence.indptr[edges][:, None] + np.arange(s)
        if s <= PARTNERS + 1:
            rings: Iterable[np.ndarray] = [np.broadcast_to(np.arange(s), entry.shape)]
            steps, more = list(range(1, s)), 1.0
        else:
            rings, steps, more = _rings(entry.shape), [1, s - 1], (s - 1) / PARTNERS
        share = incidence.data[entry]
        strength = (more * weights[edges] / (share.sum(axis=1) * (1 - 1 / s)))[:, None]
        for ring in rings:
            own = np.take_along_axis(entry, ring, axis=1)
            vertex, share = incidence.indices[own], incidence.data[own]
            for step in steps:
                other = np.roll(np.arange(s), -step)
                rows.append(vertex.ravel())
                columns.append(vertex[:, other].ravel())
                ties.append((strength * share * share[:, other]).ravel())
    if not rows:
        return sp.csr_array((n, n))
    matrix = sp.coo_array(
        (np.concatenate(ties), (np.concatenate(rows), np.concatenate(columns))), shape=(n, n)
    ).tocsr()
    matrix.sum_duplicates()
    return matrix


def _rings(shape: tuple[int, ...]) -> Iterator[np.ndarray]:
    """Orders of the members of some hyperedges in which each is tied to the next and the one before.

    As if drawn at random: no part of a hyperedge holds together more than another.
    """
    place = np.arange(shape[0] * shape[1], dtype=np.uint64).reshape(shape)
    for _ in range(PARTNERS // 2):
        place = mixed(place)
        yield np.argsort(place, axis=1)
