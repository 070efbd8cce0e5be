"""EHC, efficient hypergraph clustering: all vertices move at once, by the best amount [LS12].

References
----------
.. [LS12] Leordeanu & Sminchisescu, Efficient Hypergraph Clustering, AISTATS 2012.
"""

from functools import partial

import numpy as np
from numpy.polynomial import polynomial

from hypermodes.baselines.capped import check_cap, least_size, partition_by_starts, rewards
from hypermodes.baselines.readout import check_budget
from hypermodes.baselines.uniform import UniformHypergraph
from hypermodes.hypergraph import Hypergraph
from hypermodes.partition import Partition

_HOLDS = 0.1  # a group holds a vertex whose share is at least this part of the largest


def ehc(
    subject: Hypergraph,
    *,
    cap: float = 0.1,
    tol: float = 1e-3,
    max_steps: int = 200,
    closer: float = 0.05,
    min_members: int = 2,
) -> Partition:
    """Find the maxima of the mean affinity of k vertices from the neighbourhood of every vertex.

    Maximises f(x) = Σ M(v_1,…,v_k) x_{v_1}…x_{v_k} on Σx_i = 1, 0 ≤ x_i ≤ ε, as affinity ensembles do.
    With d = ∇f(x), one step goes towards the point y of the domain that maximises dᵀy (`vertex_of_domain`),
    by the α in [0, 1] that maximises f(x + α(y - x)), a polynomial of degree k (`best_amount`). It stops
    when dᵀ(y - x) ≤ tol dᵀx; at 0 the first-order conditions hold. This is the Frank-Wolfe method, and
    f never falls.

    Parameters
    ----------
    subject : Hypergraph
        k-uniform, k ≥ 2; its weights are the affinities.
    cap : float
        ε, the largest share of one vertex: clusters have at least 1/ε vertices.
    tol : float
        Tolerance of the gain still in sight, relative to k f.
    max_steps : int
        Steps of one start.
    closer : float
        Maxima x, y with ||x - y||₁ below this are one.
    min_members : int
        Smaller clusters are outliers.

    Returns
    -------
    Partition
        Of the vertices: each goes to the best maximum that gives it a tenth of its largest share or more,
        with probability x_i / max x (a step short of y leaves shares that only fade out). The value of a
        group is f. Vertices without a hyperedge, or in a component of fewer than 1/ε vertices, are
        no starts.

    Notes
    -----
    A step costs the hyperedges near the support.

    Examples
    --------
    >>> two = Hypergraph.from_edges([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3], [3, 4, 5]])
    >>> ehc(two, cap=0.25).labels
    array([ 0,  0,  0,  0, -1, -1])
    """
    check_cap(cap)
    check_budget(tol, max_steps)
    climb = partial(ascend, cap=cap, tol=tol, max_steps=max_steps)
    return partition_by_starts(
        UniformHypergraph.of(subject), cap, climb, closer=closer, least=_HOLDS, min_members=min_members
    )


def ascend(
    hypergraph: UniformHypergraph, x: np.ndarray, *, cap: float, tol: float, max_steps: int
) -> tuple[np.ndarray, int]:
    """Step until no point of the domain promises more than tol; the point, and the steps it took."""
    for step in range(max_steps):
        r = rewards(hypergraph, x)
        y = vertex_of_domain(x, r, cap)
        if r @ (y - x) <= tol * (r @ x):
            return x, step
        alpha = best_amount(line_function(hypergraph, x, y))
        x = y if alpha == 1 else x + alpha * (y - x)
    return x, max_steps


def vertex_of_domain(x: np.ndarray, r: np.ndarray, cap: float) -> np.ndarray:
    """The y with Σy_i = 1, 0 ≤ y_i ≤ ε that maximises rᵀy: ε for those who earn most, the rest for the next.

    Among equals those with more mass come first, so that vertices far away are left alone.
    """
    near = np.flatnonzero((r > 0) | (x > 0))
    order = near[np.lexsort((near, -x[near], -r[near]))][: least_size(cap)]
    y = np.zeros(x.size)
    y[order] = cap
    y[order[-1]] = 1 - cap * (order.size - 1)
    return y


def line_function(hypergraph: UniformHypergraph, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Coefficients of f(x + α(y - x)) in α, the constant first: a factor x_v + α(y_v - x_v) a vertex."""
    touched = (x > 0) | (y > 0)
    edges = hypergraph.edges_near(np.flatnonzero(touched))
    edges = edges[touched[hypergraph.edges[edges]].all(axis=1)]
    members = hypergraph.edges[edges]
    constant, slope = x[members], (y - x)[members]
    coefficients = hypergraph.weights[edges, None]
    for t in range(hypergraph.k):
        longer = np.zeros((edges.size, t + 2))
        longer[:, :-1] = coefficients * constant[:, t, None]
        longer[:, 1:] += coefficients * slope[:, t, None]
        coefficients = longer
    summed: np.ndarray = hypergraph.orders * coefficients.sum(axis=0)
    return summed


def best_amount(coefficients: np.ndarray) -> float:
    """The α in [0, 1] where a polynomial is largest: a stationary point inside, or an end."""
    derivative = polynomial.polyder(coefficients)
    # Leading coefficients that are only rounding would spoil the roots; a Newton step makes up for them.
    main = polynomial.polytrim(derivative, 1e-10 * np.abs(derivative).max())
    roots = polynomial.polyroots(main).real  # a double root that rounding has split is still one to look at
    slope = polynomial.polyval(roots, derivative)
    bend = polynomial.polyval(roots, polynomial.polyder(derivative))
    newton = slope / np.where(np.abs(bend) <= np.abs(slope), np.inf, bend)  # none that would lead far away
    roots = np.concatenate((roots, roots - newton))
    candidates = np.concatenate(([1.0], np.sort(roots[(roots > 0) & (roots < 1)]), [0.0]))
    return float(candidates[polynomial.polyval(candidates, coefficients).argmax()])
