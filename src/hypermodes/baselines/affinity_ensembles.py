"""Clusters as ensembles of affinity relations: move mass between two vertices at a time [LLY10].

References
----------
.. [LLY10] Liu, Latecki & Yan, Robust Clustering as Ensembles of Affinity Relations, NIPS 2010.
"""

from functools import partial
from math import factorial

import numpy as np

from hypermodes.baselines.capped import check_cap, partition_by_starts, rewards
from hypermodes.baselines.readout import check_budget
from hypermodes.baselines.uniform import UniformHypergraph, others
from hypermodes.hypergraph import Hypergraph
from hypermodes.partition import Partition


def affinity_ensembles(
    subject: Hypergraph,
    *,
    cap: float = 0.1,
    tol: float = 1e-4,
    max_steps: int = 10_000,
    closer: float = 0.05,
    min_members: int = 2,
) -> Partition:
    """Find the maxima of the mean affinity of k vertices from the neighbourhood of every vertex.

    Maximises f(x) = Σ M(v_1,…,v_k) x_{v_1}…x_{v_k} on Σx_i = 1, 0 ≤ x_i ≤ ε: draw k vertices, f is their
    expected affinity. With the rewards r_i of `capped.rewards`, one step takes the vertex i with room
    (x_i < ε) that earns most and the vertex j with mass (x_j > 0) that earns least, and moves the best amount
    α from j to i (`amount`). It stops when r_i - r_j ≤ tol f(x), where the first-order conditions hold.

    Parameters
    ----------
    subject : Hypergraph
        k-uniform, k ≥ 2; its weights are the affinities.
    cap : float
        ε, the largest share of one vertex: clusters have at least 1/ε vertices.
    tol : float
        Tolerance of the rewards, relative to f.
    max_steps : int
        Steps of one start.
    closer : float
        Maxima x, y with ||x - y||₁ below this are one.
    min_members : int
        Smaller clusters are outliers.

    Returns
    -------
    Partition
        Of the vertices: each goes to the best maximum whose support holds it, with probability x_i / max x;
        outliers are in no support. The value of a group is f. Vertices without a hyperedge, or in a
        component of fewer than 1/ε vertices, are no starts.

    Notes
    -----
    A step costs the hyperedges of two vertices and one look at all rewards.

    Examples
    --------
    >>> two = Hypergraph.from_edges([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3], [3, 4, 5]])
    >>> affinity_ensembles(two, cap=0.25).labels
    array([ 0,  0,  0,  0, -1, -1])
    """
    check_cap(cap)
    check_budget(tol, max_steps)
    climb = partial(ascend, cap=cap, tol=tol, max_steps=max_steps)
    return partition_by_starts(
        UniformHypergraph.of(subject), cap, climb, closer=closer, least=0.0, min_members=min_members
    )


def ascend(
    hypergraph: UniformHypergraph, x: np.ndarray, *, cap: float, tol: float, max_steps: int
) -> tuple[np.ndarray, int]:
    """Move mass between pairs until the first-order conditions hold; the point, and the steps it took."""
    x = x.copy()
    r = rewards(hypergraph, x)
    fresh = True  # r was computed for this very x, not updated
    step = 0
    while step < max_steps:
        i, j = pair(x, r, cap)
        if r[i] - r[j] <= tol * (x @ r) or x[i] >= cap:
            if fresh:
                break
            r, fresh = rewards(hypergraph, x), True
            continue
        move(hypergraph, x, r, i, j, cap)
        fresh = False
        step += 1
    return x, step


def pair(x: np.ndarray, r: np.ndarray, cap: float) -> tuple[int, int]:
    """The vertex with room that earns most, and the vertex with mass that earns least."""
    return int(np.where(x < cap, r, -np.inf).argmax()), int(np.where(x > 0, r, np.inf).argmin())


def mixed_reward(hypergraph: UniformHypergraph, x: np.ndarray, i: int, j: int) -> float:
    """r_ij(x) = (k-2)! Σ_{e∋i,j} s(e) Π_{v∈e, v≠i,j} x_v."""
    edges = hypergraph.edges_at(i)
    members = hypergraph.edges[edges]
    both = (members == j).any(axis=1)
    members, weights = members[both], hypergraph.weights[edges[both]]
    factors = np.where((members == i) | (members == j), 1.0, x[members])
    return factorial(hypergraph.k - 2) * float(weights @ factors.prod(axis=1))


def gain(k: int, r_i: float, r_j: float, r_ij: float, alpha: float) -> float:
    """f(x + α(e_i - e_j)) - f(x) = k (r_i - r_j) α - k (k-1) r_ij α², exactly.

    It ends there for any k because no hyperedge holds a vertex twice.
    """
    return k * (r_i - r_j) * alpha - k * (k - 1) * r_ij * alpha**2


def amount(k: int, r_i: float, r_j: float, r_ij: float, room: float) -> float:
    """The α in [0, room] that maximises `gain`: room itself, or (r_i - r_j) / (2 (k-1) r_ij) before it."""
    slope, bend = r_i - r_j, 2 * (k - 1) * r_ij
    return room if bend * room <= slope else slope / bend


def move(hypergraph: UniformHypergraph, x: np.ndarray, r: np.ndarray, i: int, j: int, cap: float) -> None:
    """Move the best amount from j to i, in place, and bring the rewards of their hyperedges up to date."""
    room = min(x[j], cap - x[i])
    alpha = amount(hypergraph.k, r[i], r[j], mixed_reward(hypergraph, x, i, j), room)
    at_i, at_j = hypergraph.edges_at(i), hypergraph.edges_at(j)
    at_j = at_j[(hypergraph.edges[at_j] != i).all(axis=1)]
    edges = np.concatenate((at_i, at_j))
    members, weights = hypergraph.edges[edges], hypergraph.weights[edges, None]
    before = others(x[members])
    x[i] = cap if alpha == cap - x[i] else x[i] + alpha
    x[j] = 0.0 if alpha == x[j] else x[j] - alpha
    change = factorial(hypergraph.k - 1) * weights * (others(x[members]) - before)
    r += np.bincount(members.ravel(), weights=change.ravel(), minlength=hypergraph.n)
