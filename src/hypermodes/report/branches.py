"""The tree as an icicle: a bar for each group that parts from another, as wide as its mass."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hypermodes.cluster.result import Clusters
from hypermodes.hypergraph import Hypergraph
from hypermodes.report.content import Noun
from hypermodes.tree import RUNG, Condensed, Links, ModeTree

MOST_LEAVES = 120  # ends of the tree that are drawn; smaller groups are part of what they hang on
MOST_IN_TREE = 1_000  # modes it is grown from
_ROOM = 0.06  # of the height, for the bar of everything


def icicle(
    tree: ModeTree, groups: np.ndarray, smallest: float, own: np.ndarray | None = None
) -> dict[str, Any]:
    """Bars of the tree, at most `MOST_LEAVES` ends; parents come before their children.

    Parameters
    ----------
    tree : ModeTree
        Over points, or modes.
    groups : (n,) int
        Row of the table each of them belongs to; -1 for none.
    smallest : float
        Mass a group needs to have a bar of its own; raised until there are few enough.
    own : (n,) float, optional
        The level each holds together at by itself.
    """
    condensed = _condensed(tree, smallest)
    node, level, up, birth = condensed.node, condensed.level, condensed.parents, condensed.births
    n = up.size
    children = [np.flatnonzero(up == k).tolist() for k in range(n)]
    top = np.zeros(n)
    np.maximum.at(top, node, np.maximum(level, 0.0) if own is None else own)
    for k in range(n):
        if children[k]:
            top[k] = birth[children[k]].max()  # it ends where they part
    mass, count = np.bincount(node, tree.weights, n), np.bincount(node, minlength=n)
    inside: list[set[int]] = [set() for _ in range(n)]
    for k, group in set(zip(node.tolist(), groups.tolist(), strict=True)):
        inside[k] |= {group} - {-1}
    for k in range(n):
        for child in children[k]:  # they come before their parents, and are complete
            mass[k] += mass[child]
            count[k] += count[child]
            inside[k] |= inside[child]
    left, (y0, y1) = _side_by_side(children, mass), _height(birth, top)
    order = range(n - 1, -1, -1)
    return {
        "up": [n - 1 - int(up[k]) if up[k] >= 0 else -1 for k in order],
        "x0": [round(left[k] / mass[-1], 5) for k in order],
        "x1": [round((left[k] + mass[k]) / mass[-1], 5) for k in order],
        "y0": [round(y0[k], 4) if k < n - 1 else 0.0 for k in order],
        "y1": [round(y1[k], 4) for k in order],
        "birth": [float(f"{birth[k]:.4g}") for k in order],
        "top": [float(f"{top[k]:.4g}") for k in order],
        "count": [int(count[k]) for k in order],
        "row": [min(inside[k]) if len(inside[k]) == 1 else -1 for k in order],
        "first": [min(inside[k], default=-1) for k in order],
        "inside": [len(inside[k]) for k in order],
        "ends": sum(not below for below in children),
    }


def tree_of_clusters(clusters: Clusters, n_rows: int, noun: Noun) -> dict[str, Any] | None:
    """The icicle of the tree that clusters were read off; ``noun`` is what its leaves are."""
    tree = clusters.tree
    if tree is None or tree.n < 2:
        return None
    inside = np.flatnonzero((clusters.leaves >= 0) & (clusters.assigned < n_rows))
    owner = np.full(tree.n, -1)
    owner[clusters.leaves[inside]] = clusters.assigned[inside]
    smallest = float(tree.weights.min()) if clusters.level is None else clusters.level.smallest
    return icicle(tree, owner, smallest) | {
        "leaf": [noun.one, noun.many],
        "unit": noun.many,
        "said": f"Groups of {noun.many} that hold together, from all of them down to the densest; a group "
        f"counts from {smallest:.3g} {noun.many} up.",
        "leaves": tree.n,
    }


def _condensed(tree: ModeTree, smallest: float) -> Condensed:
    """The groups of at least some mass, raised until there are few enough ends."""
    while True:
        groups = Condensed.of(tree, smallest)
        if groups.is_summit.sum() <= MOST_LEAVES:
            return groups
        smallest *= RUNG


def _side_by_side(children: list[list[int]], mass: np.ndarray) -> np.ndarray:
    """Where each bar begins: inside its parent, the heaviest first."""
    left = np.zeros(mass.size)
    for k in range(mass.size - 1, -1, -1):
        begin = left[k]
        for child in sorted(children[k], key=lambda c: (-round(float(mass[c]), 9), c)):
            left[child] = begin
            begin += mass[child]
    return left


def _height(birth: np.ndarray, top: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Levels as places from 0 to 1, on a scale of ratios; what has level 0 is where the room ends."""
    levels = np.concatenate((birth, top))
    levels = levels[np.isfinite(levels) & (levels > 0)]
    low, high = (levels.min(), levels.max()) if levels.size else (1.0, 1.0)
    width = np.log(high / low) or 1.0

    def place(level: np.ndarray) -> np.ndarray:
        ratio = np.log(np.clip(np.nan_to_num(level, nan=low), low, high) / low) / width
        return _ROOM + (1 - _ROOM) * (ratio if high > low else np.ones_like(ratio) * (level > 0))

    return place(birth), np.maximum(place(top), place(birth) + 0.012)


def tree_of(affinity: np.ndarray | sp.sparray, mass: np.ndarray) -> ModeTree | None:
    """Grow a tree over rows from how strongly two hold together; what has nothing in common joins at 0."""
    n = mass.size
    if n < 2:
        return None
    pairs = sp.coo_array(sp.triu(sp.coo_array(affinity), k=1))
    _, part = connected_components(pairs, directed=False)
    first = np.unique(part, return_index=True)[1]
    left = np.concatenate((pairs.row, np.full(first.size - 1, first[0]))).astype(np.int64)
    right = np.concatenate((pairs.col, first[1:])).astype(np.int64)
    level = np.concatenate((pairs.data, np.zeros(first.size - 1)))
    return ModeTree.grow(Links(left, right, level), np.maximum(mass, 1e-9))


def between_modes(hypergraph: Hypergraph, shares: sp.csc_array) -> sp.sparray:
    """m(p_A, p_B) = p_A' M p_B for every two modes, the columns of ``shares``, without forming M.

    With B the members of each hyperedge and r its rate w/δ, it is Y'Z + Z'Y - 2 P'(r∘|e|∘P) where Y = B P and
    Z = B (r∘P): sparse products of what the modes touch.
    """
    used = np.unique(shares.indices)
    shares = sp.csc_array(sp.csr_array(shares)[used])
    members = hypergraph.incidence[:, used].astype(bool).astype(float)
    rate = (hypergraph.weights / hypergraph.edge_degrees)[used, None]
    scaled = sp.csc_array(shares.multiply(rate))
    joint = (members @ shares).T @ (members @ scaled)
    own = shares.T @ sp.csc_array(scaled.multiply(hypergraph.edge_sizes[used, None]))
    return joint + joint.T - 2 * own
