"""Slow literal transcriptions of the paper, and exact answers for small problems by enumeration.

Nothing here is shared with the library: sets instead of sparse arrays, the recursion instead of the
linear solve, every support instead of a climb.
"""

from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np


def affinity_by_sets(edges, weights):
    """M of Eq. (2). ``edges``: a list of dicts vertex -> p(v|e)."""
    n = len(edges)
    matrix = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                shared = len(set(edges[i]) & set(edges[j]))
                delta_i, delta_j = sum(edges[i].values()), sum(edges[j].values())
                matrix[i, j] = weights[i] * shared / delta_i + weights[j] * shared / delta_j
    return matrix


def average_weighted_degree(matrix, subset, k):
    """Eq. (9)."""
    return sum(matrix[k, j] for j in subset) / len(subset)


def relative_closeness(matrix, subset, i, j):
    """Eq. (10)."""
    return matrix[i, j] - average_weighted_degree(matrix, subset, i)


def seed_weights(matrix, subset):
    """w_S(e_i) for all i in S by the recursion of Eq. (11); exponential."""

    @cache
    def weight(members, i):
        if len(members) == 1:
            return 1.0
        rest = members - {i}
        return sum(relative_closeness(matrix, sorted(rest), j, i) * weight(rest, j) for j in sorted(rest))

    everyone = frozenset(int(i) for i in subset)
    return np.array([weight(everyone, int(i)) for i in subset])


def closeness(matrix, subset):
    """p(e_i|S), Eq. (12)."""
    weights = seed_weights(matrix, subset)
    return weights / weights.sum()


def stationary_points(matrix):
    """Every isolated solution of Eq. (7) on the support it lives on, by enumerating supports."""
    n = len(matrix)
    for size in range(1, n + 1):
        for chosen in combinations(range(n), size):
            chosen = np.array(chosen)
            bordered = np.zeros((size + 1, size + 1))
            bordered[0, 1:] = bordered[1:, 0] = 1
            bordered[1:, 1:] = matrix[np.ix_(chosen, chosen)]
            if np.linalg.matrix_rank(bordered, tol=1e-11 * max(1, abs(matrix).max())) <= size:
                continue
            x = np.linalg.solve(bordered, np.eye(size + 1)[0])[1:]
            if (x > 1e-12).all():
                p = np.zeros(n)
                p[chosen] = x
                yield p


def standard_quadratic_maximum(matrix):
    """Largest xᵀAx on the simplex, exactly: some maximiser is isolated on its own support."""
    return max(p @ matrix @ p for p in stationary_points(matrix))


def is_local_maximiser(matrix, p, tol=1e-7):
    """Whether p is a local maximiser of xᵀMx on the simplex, strict or flat; exact but for the tolerance.

    For a quadratic on a polyhedron this is the same as: Eq. (7), and xᵀMx ≤ 0 for every move x of the
    critical cone: Σx = 0, free on the support, x ≥ 0 on the ties, 0 elsewhere. The part of x on the
    support is eliminated, what is left is copositivity, decided by enumeration.
    """
    value = p @ matrix @ p
    payoff = matrix @ p
    inside = np.flatnonzero(p > 0)
    limit = tol * value
    if value <= 0 or abs(payoff[inside] - value).max() > limit or (payoff > value + limit).any():
        return False
    tied = np.flatnonzero((p == 0) & (payoff >= value - limit))
    moves = np.zeros((len(p), len(inside) - 1))
    moves[inside[0], :] = -1
    moves[inside[1:], np.arange(len(inside) - 1)] = 1
    moves = np.linalg.qr(moves)[0]
    curvature, axes = np.linalg.eigh(moves.T @ matrix @ moves)
    axes = moves @ axes
    if (curvature > limit).any():
        return False
    if tied.size == 0:
        return True
    admissions = np.eye(len(p))[:, tied] - p[:, None]
    cross = axes.T @ matrix @ admissions
    flat = curvature > -limit
    if abs(cross[flat]).max(initial=0) > 10 * limit:
        return False
    form = admissions.T @ matrix @ admissions - cross[~flat].T @ (cross[~flat] / curvature[~flat][:, None])
    return bool(standard_quadratic_maximum(form) <= 10 * limit)


def edges_of(hypergraph):
    """Hyperedges of a library hypergraph as dicts vertex position -> p(v|e), read off the dense matrix."""
    dense = hypergraph.incidence.toarray()
    return [{v: h for v, h in enumerate(column) if h > 0} for column in dense.T.tolist()]


def affinity_of(hypergraph):
    """M of Eq. (2) of a library hypergraph, by sets."""
    return affinity_by_sets(edges_of(hypergraph), hypergraph.weights.tolist())


def random_edges(rng, weights):
    """A random small hypergraph: 2 to 8 hyperedges as dicts, and their weights.

    ``weights`` is "unit", "integer" (1, 2 or 3) or "continuous", which makes the incidence soft too.
    """
    n_edges, n_vertices = int(rng.integers(2, 9)), int(rng.integers(2, 11))
    largest = int(rng.integers(1, min(n_vertices, 5) + 1))
    edges = []
    for _ in range(n_edges):
        size = int(rng.integers(1, largest + 1))
        members = rng.choice(n_vertices, size=size, replace=False).tolist()
        edges.append({v: float(rng.uniform(0.05, 1.0)) if weights == "continuous" else 1.0 for v in members})
    values = {
        "unit": np.ones(n_edges),
        "integer": rng.integers(1, 4, n_edges).astype(float),
        "continuous": rng.uniform(0.1, 3.0, n_edges),
    }
    return edges, values[weights].tolist()


# -- the mode tree ------------------------------------------------------------------------------------


def spanning_merges(n, links):
    """Kruskal with sets: (one side, other side, the link) of every merge; of equal levels the first link."""
    groups = [frozenset([i]) for i in range(n)]
    merges = []
    for t in sorted(range(len(links)), key=lambda t: (-links[t][2], t)):
        a, b, _ = links[t]
        one = next(group for group in groups if a in group)
        other = next(group for group in groups if b in group)
        if one != other:
            groups = [group for group in groups if group not in (one, other)] + [one | other]
            merges.append((one, other, links[t]))
    return merges


def condensed(merges, weights, smallest):
    """The tree of large groups, from the top: ({branch: (birth, branch of the parent)}, level of each point).

    A group parts into two if both are large; else it goes on as the large one, and those who leave it have
    that level. Where it falls into small pieces, or is a point, everyone left has the level of that merge.
    """
    parts = {one | other: (one, other, link[2]) for one, other, link in merges}
    everyone = frozenset(range(len(weights)))
    nodes, level = {}, {}

    def large(group):
        return sum(weights[i] for i in group) >= smallest

    def follow(group, birth, parent):
        nodes[group] = (birth, parent)
        branch, height = group, birth
        while len(group) > 1:
            one, other, height = parts[group]
            if large(one) and large(other):
                follow(one, height, branch)
                follow(other, height, branch)
                return
            if not large(one) and not large(other):
                break
            group, leaving = (one, other) if large(one) else (other, one)
            level.update(dict.fromkeys(leaving, height))
        level.update(dict.fromkeys(group, height))

    follow(everyone, 0.0, None)
    if not large(everyone):
        level.update(dict.fromkeys(everyone, min((link[2] for _, _, link in merges), default=0.0)))
    return nodes, [level[i] for i in range(len(weights))]


def excess_of(nodes, level, weights):
    """Excess of mass of each node: what lies in it, from its birth up to where it leaves or parts."""
    excess = {}
    for branch, (birth, _) in nodes.items():
        children = [(b, child) for child, (b, parent) in nodes.items() if parent == branch]
        top = {i: next((b for b, child in children if i in child), level[i]) for i in branch}
        excess[branch] = sum(weights[i] * (top[i] - birth) for i in branch)
    return excess


def antichains(nodes):
    """Every set of nodes none of which is inside another; the empty one too."""

    def below(branch):
        children = [child for child, (_, parent) in nodes.items() if parent == branch]
        choices = [()]
        for child in children:
            choices = [one + other for one in choices for other in below(child)]
        return [*choices, (branch,)]

    return below(next(branch for branch, (_, parent) in nodes.items() if parent is None))


def flooded(n, ends, core):
    """Cluster of each point: that of the core at the end of its highest path on the spanning tree.

    Links come highest first. The highest path is the one whose lowest link is highest, then the next lowest.
    """
    near = [[] for _ in range(n)]
    for m, (a, b) in enumerate(ends):
        near[a].append((b, m))
        near[b].append((a, m))

    def paths(at, came, so_far):
        if core[at] >= 0:
            yield sorted(so_far, reverse=True), core[at]
        for other, m in near[at]:
            if other != came:
                yield from paths(other, at, [*so_far, m])

    return [min(paths(i, None, []))[1] for i in range(n)]


def adjusted_rand(first, second, weights):
    """Adjusted Rand index of two partitions of mass, in fractions; 1 where neither says anything."""
    weights = [Fraction(w) for w in weights]

    def squares(*labels):
        cells = defaultdict(Fraction)
        for *cell, w in zip(*labels, weights, strict=True):
            cells[tuple(cell)] += w
        return sum(mass**2 for mass in cells.values())

    both, one, other = squares(first, second), squares(first), squares(second)
    chance = one * other / sum(weights) ** 2
    best = (one + other) / 2
    return float((both - chance) / (best - chance)) if best != chance else 1.0


def joined_at(n, links, level):
    """Groups of points joined by links of at least some level, as a set of frozensets."""
    groups = {frozenset([i]) for i in range(n)}
    for a, b, height in links:
        if height >= level:
            both = {group for group in groups if a in group or b in group}
            groups = (groups - both) | {frozenset().union(*both)}
    return groups
