"""From small groups to everything in one: the tree of groups of a hypergraph.

Leaves are small groups of vertices; two groups join at their lift, the ties between them over what their
degrees would make by chance,

    lift(r, s) = E_rs D / (D_r D_s),

the largest first. Groups that were found to be one are complete before any of them joins another.
"""

import heapq

import numpy as np
import scipy.sparse as sp

from hypermodes.homes import grouped
from hypermodes.tree import ModeTree

Join = tuple[int, int, float]


def joined(matrix: sp.csr_array, leaves: np.ndarray, groups: np.ndarray) -> list[Join]:
    """Joins of leaves, by pairs of leaves and falling lift: first inside the given groups, then of groups.

    `groups` has the group of each leaf. What has no ties joins last, at 0.
    """
    between = grouped(matrix, leaves)
    degrees = np.bincount(leaves, weights=np.asarray(matrix.sum(axis=1)).ravel())
    inside = _agglomerated(between, degrees, groups)
    outside = _agglomerated(between, degrees, np.zeros_like(groups), inside)
    lifts = np.array([lift for _, _, lift in (*inside, *outside)])
    return [
        (a, b, float(lift))
        for (a, b, _), lift in zip((*inside, *outside), np.minimum.accumulate(lifts), strict=True)
    ]


def grown(joins: list[Join], mass: np.ndarray) -> ModeTree:
    """The tree of joins, which are sorted by falling lift; what they leave apart joins at 0."""
    n = mass.size
    top = list(range(n))  # union-find over leaves, and the node each set is
    node = list(range(n))
    mass = np.concatenate((mass, np.zeros(n - 1)))
    children: list[tuple[int, int]] = []
    ends: list[tuple[int, int]] = []
    heights: list[float] = []

    def root(a: int) -> int:
        while top[a] != a:
            top[a] = top[top[a]]
            a = top[a]
        return a

    for a, b, lift in (*joins, *((a, a + 1, 0.0) for a in range(n - 1))):
        one, other = root(a), root(b)
        if one == other:
            continue
        new = n + len(children)
        mass[new] = mass[node[one]] + mass[node[other]]
        children.append((node[one], node[other]))
        ends.append((a, b))
        heights.append(lift)
        top[other], node[one] = one, new
    arrays = (
        np.array(children, np.int64).reshape(-1, 2), np.array(ends, np.int64).reshape(-1, 2),
        np.array(heights, float), mass,
    )  # fmt: skip
    for array in arrays:
        array.flags.writeable = False
    return ModeTree(*arrays)


def cut(tree: ModeTree, n_joins: int) -> np.ndarray:
    """Group of each leaf once the first joins are made, numbered by their first leaf."""
    n = tree.n
    part = sp.coo_array((np.ones(n_joins, bool), tree.ends[:n_joins].T), shape=(n, n))
    return sp.csgraph.connected_components(part, directed=False)[1].astype(np.int64)


def _agglomerated(
    between: sp.csr_array,
    degrees: np.ndarray,
    groups: np.ndarray,
    done: list[Join] | None = None,
) -> list[Join]:
    """Join leaves of the same group by the largest lift, after those that are joined already."""
    n, total = degrees.size, degrees.sum()
    degree = degrees.tolist()
    near: list[dict[int, float]] = [
        dict(
            zip(
                between.indices[between.indptr[i] : between.indptr[i + 1]].tolist(),
                between.data[between.indptr[i] : between.indptr[i + 1]].tolist(),
                strict=True,
            )
        )
        for i in range(n)
    ]
    current = list(range(n))

    def merge(a: int, b: int) -> int:
        if len(near[a]) < len(near[b]):
            a, b = b, a
        near[a].pop(b, None)
        for c, tie in near[b].items():
            if c != a:
                near[a][c] = near[a].get(c, 0.0) + tie
                del near[c][b]
                near[c][a] = near[a][c]
        near[b] = {}
        degree[a] += degree[b]
        current[b] = a
        return a

    def root(a: int) -> int:
        while current[a] != a:
            current[a] = current[current[a]]
            a = current[a]
        return a

    for a, b, _ in done or ():
        one, other = root(a), root(b)
        if one != other:
            merge(one, other)
    version = [0] * n

    def entry(a: int, b: int) -> tuple[float, int, int, int, int]:
        a, b = min(a, b), max(a, b)
        return (-near[a][b] * total / (degree[a] * degree[b]), a, b, version[a], version[b])

    heap = [entry(a, b) for a in range(n) for b in near[a] if a < b and groups[a] == groups[b]]
    heapq.heapify(heap)
    joins = []
    while heap:
        lift, a, b, at_a, at_b = heapq.heappop(heap)
        if current[a] != a or current[b] != b or (version[a], version[b]) != (at_a, at_b):
            continue
        joins.append((a, b, -lift))
        a = merge(a, b)
        version[a] += 1
        for c in near[a]:
            if groups[c] == groups[a]:
                heapq.heappush(heap, entry(a, c))
    return joins
