"""What affinity ensembles and EHC share: the problem, the starts, the test for its end and the read-out.

Both maximise f(x) = Σ_{(v_1,…,v_k)} M(v_1,…,v_k) x_{v_1}…x_{v_k} over ordered tuples, M(e) the weight of the
hyperedge e, on the capped simplex

    Σx_i = 1,   0 ≤ x_i ≤ ε.

A cluster then has at least 1/ε vertices. With r_i = (1/k) ∂f/∂x_i, x satisfies the first-order conditions
exactly if there is a λ with r_i ≤ λ where x_i = 0, r_i = λ where 0 < x_i < ε, r_i ≥ λ where x_i = ε; that
is, if no vertex with room earns more than a vertex with mass.
"""

from collections.abc import Callable, Iterator
from math import ceil, factorial

import numpy as np

from hypermodes.baselines.readout import by_support, distinct, without_small
from hypermodes.baselines.uniform import UniformHypergraph
from hypermodes.partition import Group, Partition
from hypermodes.scalars import finite_number

Climb = Callable[[UniformHypergraph, np.ndarray], tuple[np.ndarray, int]]
"""From a feasible point to a first-order point, and the steps it took."""


def check_cap(cap: float) -> None:
    """Refuse an ε that is no bound on a share."""
    finite_number("cap", cap, "the largest share of one vertex, above 0 and at most 1", above=0, most=1)


def least_size(cap: float) -> int:
    """⌈1/ε⌉, the fewest vertices that can share the mass."""
    return ceil(1 / cap - 1e-9)


def objective(hypergraph: UniformHypergraph, x: np.ndarray) -> float:
    """f(x) = k! Σ_e s(e) Π_{v∈e} x_v."""
    return hypergraph.orders * hypergraph.value(x)


def rewards(hypergraph: UniformHypergraph, x: np.ndarray) -> np.ndarray:
    """r_i(x) = (k-1)! Σ_{e∋i} s(e) Π_{v∈e, v≠i} x_v, from the hyperedges near the support; xᵀr = f(x)."""
    return factorial(hypergraph.k - 1) * hypergraph.local_gradient(x)


def kkt_gap(x: np.ndarray, r: np.ndarray, cap: float) -> float:
    """max_{x_i<ε} r_i - min_{x_j>0} r_j: at most 0 exactly where the first-order conditions hold."""
    return float(np.where(x < cap, r, -np.inf).max() - r[x > 0].min())


def neighbourhood_start(hypergraph: UniformHypergraph, vertex: int, size: int) -> np.ndarray | None:
    """Spread the mass evenly over a vertex and the heaviest hyperedges around it.

    The hyperedges of the vertex are added, heaviest first, until there are ``size`` vertices; if they are
    too few, those of the vertices added first follow. None if the component ends before.
    """
    chosen: dict[int, None] = {vertex: None}  # a set that keeps its order
    for member in _growing(chosen):
        for edge in hypergraph.edges_at(member):
            chosen.update(dict.fromkeys(hypergraph.edges[edge].tolist()))
            if len(chosen) >= size:
                x = np.zeros(hypergraph.n)
                x[list(chosen)] = 1 / len(chosen)
                return x
    return None


def partition_by_starts(
    hypergraph: UniformHypergraph, cap: float, climb: Climb, *, closer: float, least: float, min_members: int
) -> Partition:
    """Climb from the neighbourhood of every vertex and read the maxima out.

    Maxima that coincide are one (`readout.distinct`); each vertex goes to the best maximum that holds it
    (`readout.by_support`).
    """
    maxima: list[Group] = []
    iterations = 0
    for vertex in np.flatnonzero(hypergraph.degrees):
        start = neighbourhood_start(hypergraph, int(vertex), least_size(cap))
        if start is not None:
            x, steps = climb(hypergraph, start)
            iterations += steps
            maxima.append(Group.from_distribution(x, float(x @ rewards(hypergraph, x))))
    groups, _ = distinct(maxima, hypergraph.n, closer)
    labels, probabilities = by_support(groups, hypergraph.n, least)
    labels, probabilities = without_small(labels, probabilities, min_members)
    return Partition.ranked(labels, probabilities, groups, iterations, len(maxima))


def _growing(chosen: dict[int, None]) -> Iterator[int]:
    """The members of a dict that grows meanwhile, in order."""
    seen = 0
    while seen < len(chosen):
        members = list(chosen)[seen:]
        seen += len(members)
        yield from members
