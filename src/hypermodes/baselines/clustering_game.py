"""The hypergraph clustering game: vertices as strategies, clusters as evolutionarily stable ones [RP13].

References
----------
.. [RP13] Rota Bulò & Pelillo, A Game-Theoretic Approach to Hypergraph Clustering, NIPS 2009;
   PAMI 35(6), 2013.
.. [BE67] Baum & Eagon, An inequality with applications to statistical estimation, Bull. AMS 73, 1967.
"""

import numpy as np

from hypermodes.baselines.readout import check_budget, without_small
from hypermodes.baselines.uniform import UniformHypergraph
from hypermodes.hypergraph import Hypergraph
from hypermodes.partition import OUTLIER, Group, Partition
from hypermodes.scalars import finite_number

_DYING = 1e-4  # a share this far below the largest leaves, if it earns less than the average


def clustering_game(
    subject: Hypergraph,
    *,
    tol: float = 1e-6,
    max_steps: int = 1_000,
    readout: float = 0.98,
    min_members: int = 2,
) -> Partition:
    """Play the game until the population is stable, take the cluster away, and play again.

    Maximises f(x) = Σ_e s(e) Π_{v∈e} x_v on the simplex from its barycentre, by the Baum-Eagon update

        x_i ← x_i ∂_i f(x) / Σ_j x_j ∂_j f(x),

    which raises f unless it stays [BE67], until ||x(t+1) - x(t)||₂ ≤ tol. The cluster is everyone who then
    earns about as much as the average, ∂_i f / Σ_j x_j ∂_j f > ``readout``; its vertices and all their
    hyperedges leave, until no hyperedge is left.

    Parameters
    ----------
    subject : Hypergraph
        k-uniform, k ≥ 2; its weights are the affinities s(e).
    tol : float
        Stop when a step is this short.
    max_steps : int
        Steps for one cluster.
    readout : float
        Which part of the average a member must earn.
    min_members : int
        Smaller clusters are outliers, and so is everyone left in no hyperedge.

    Returns
    -------
    Partition
        Of the vertices. The probability of a member is ∂_i f / Σ_j x_j ∂_j f, at most 1; the value of a group
        is f; starts are clusters found.

    Notes
    -----
    A step costs the hyperedges among those still alive: shares x_i ≤ 1e-4 max x leave for good as soon
    as that does not lower f (`dying`). The update alone never makes a zero.

    Examples
    --------
    >>> two = Hypergraph.from_edges([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3], [3, 4, 5], [4, 5, 6]])
    >>> clustering_game(two).labels
    array([0, 0, 0, 0, 1, 1, 1])
    """
    check_budget(tol, max_steps)
    finite_number("readout", readout, "a part of the average, between 0 and 1", above=0, below=1)
    left = UniformHypergraph.of(subject)
    labels, probabilities = np.full(left.n, OUTLIER, dtype=np.int64), np.zeros(left.n)
    groups: list[Group] = []
    iterations = 0
    while len(left.edges):
        x, steps = play(left, tol, max_steps)
        iterations += steps
        relative = left.gradient(x) / (left.k * left.value(x))
        members = np.flatnonzero(relative > readout)
        labels[members] = len(groups)
        probabilities[members] = np.minimum(relative[members], 1.0)
        groups.append(Group.from_distribution(x, left.value(x)))
        left = left.without(members)
    labels, probabilities = without_small(labels, probabilities, min_members)
    return Partition.ranked(labels, probabilities, groups, iterations, len(groups))


def play(hypergraph: UniformHypergraph, tol: float, max_steps: int) -> tuple[np.ndarray, int]:
    """Baum-Eagon steps from the barycentre of all vertices that are in a hyperedge."""
    alive = hypergraph.degrees > 0
    x = alive / alive.sum()
    for step in range(max_steps):
        gradient = hypergraph.gradient(x)
        gone = dying(x, gradient, hypergraph.k)
        if gone.any():
            moved = np.where(gone, 0.0, x)
            moved /= moved.sum()
            hypergraph = hypergraph.without(np.flatnonzero(gone))
        else:
            moved = baum_eagon(x, gradient)
        if not gone.any() and np.linalg.norm(moved - x) <= tol:
            return moved, step + 1
        x = moved
    return x, max_steps


def baum_eagon(x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """x_i ∂_i f / Σ_j x_j ∂_j f."""
    grown = x * gradient
    moved: np.ndarray = grown / grown.sum()
    return moved


def dying(x: np.ndarray, gradient: np.ndarray, k: int) -> np.ndarray:
    """Small shares whose loss does not lower f.

    Without mass ε that earns ρ times the average, Σ_j x_j ∂_j f = k f, at least (1 - k ε ρ) f / (1 - ε)^k is
    left, which is f or more if k ε ρ ≤ 1 - (1 - ε)^k.
    """
    small = (x > 0) & (x <= _DYING * x.max())
    mass = float(x[small].sum())
    if mass == 0:
        return small
    allowed = (1 - (1 - mass) ** k) / (k * mass)
    return small & (gradient <= allowed * float(x @ gradient))
