"""From small groups to everything in one: the tree of groups of a hypergraph.

Leaves are small groups of vertices; two groups join at their lift, the ties between them over what their
degrees would make by chance,

    lift(r, s) = E_rs D / (D_r D_s),

the largest first. Groups that were found to be one are complete before any of them joins another.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hypermodes.homes import grouped
from hypermodes.tree import ModeTree

Join = tuple[int, int, float]


def joined(matrix: sp.csr_array, leaves: np.ndarray, groups: np.ndarray) -> list[Join]:
    """Joins of leaves, by pairs of leaves and falling lift: first inside the given groups, then of groups.

    `groups` has the group of each leaf. What has no ties joins last, at 0.
    """
    between, _ = grouped(matrix, leaves)
    degrees = np.bincount(leaves, weights=np.asarray(matrix.sum(axis=1)).ravel())
    joins, lifts = _agglomerated(between, degrees, groups)
    if lifts.size < degrees.size - 1:
        made = sp.coo_array((np.ones(lifts.size, bool), joins.T), shape=between.shape)
        part = connected_components(made, directed=False)[1].astype(np.int64)
        _, a_leaf = np.unique(part, return_index=True)
        above, _ = grouped(between, part)
        outside, lower = _agglomerated(above, np.bincount(part, weights=degrees), np.zeros_like(a_leaf))
        joins, lifts = np.concatenate((joins, a_leaf[outside])), np.concatenate((lifts, lower))
    return list(zip(*joins.T.tolist(), np.minimum.accumulate(lifts).tolist(), strict=True))


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
    return connected_components(part, directed=False)[1].astype(np.int64)


def largest_first(labels: np.ndarray, size: np.ndarray | None = None) -> np.ndarray:
    """Number groups by falling size, that of their members if not given; of equal ones, by the first member.

    -1 stays -1.
    """
    inside = np.flatnonzero(labels >= 0)
    names, first, own, count = np.unique(
        labels[inside], return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(names.size, np.int64)
    rank[np.lexsort((first, -(count if size is None else size[names])))] = np.arange(names.size)
    ranked = np.full(labels.size, -1, np.int64)
    ranked[inside] = rank[own]
    return ranked


def _agglomerated(
    between: sp.csr_array, degrees: np.ndarray, groups: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Join what is of the same group by the largest lift: who, and at which lift."""
    from hypermodes._kernels.joining import join

    row = np.repeat(np.arange(degrees.size), np.diff(between.indptr))
    once = np.flatnonzero((row < between.indices) & (groups[row] == groups[between.indices]))
    ends = np.column_stack((row[once], between.indices[once])).astype(np.int64).ravel()
    return join(ends, between.data[once], degrees.astype(float))
