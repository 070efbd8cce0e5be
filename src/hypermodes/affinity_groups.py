"""Groups of anything from affinities: nobody says how many, and what belongs to none is left out.

Each item is a hyperedge of those most like it. Two items are tied as far as each is in the hyperedge of the
other, t_ij = p(j|e_i) + p(i|e_j), and groups join at their *lift*, the ties between them over what their
degrees would make by chance, the largest first (`pyramid`). To cut that tree at a lift r is to ask that what
is one group be tied r times as closely as chance would.

Which r is not asked. Of n items that are like another, k + 1 in a hyperedge that are tied to no others have
a lift of q = n/(k + 1). So the tree is cut at every r of a ladder from 1/q to q, and of all these partitions
the answer is the medoid: the one that agrees best with all the others.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.construct.pairwise import pairwise_hypergraph
from hypermodes.hypergraph import Hypergraph
from hypermodes.keeping import kept
from hypermodes.modes import find_modes
from hypermodes.progress import Progress, tracker
from hypermodes.pyramid import cut, grown, joined, largest_first
from hypermodes.result import Mode, counted
from hypermodes.scalars import finite_number
from hypermodes.threads import workers
from hypermodes.ties import order_by_surroundings
from hypermodes.tree import RUNG, ModeTree, agreements, check_count

ROUNDS = 16  # of moving items to the group they are tied to most, all at once


@dataclass(frozen=True, eq=False)
class AffinityGroups:
    """Groups of items, the largest first, and who stands for each.

    Attributes
    ----------
    labels : (n,) int64
        Group of each item, the largest being 0; -1 for outliers: nobody in their group has them among those
        most like it.
    assigned : (n,) int64
        The same with every outlier in the group it is tied to most; -1 for those who are tied to none.
    probabilities : (n,) float
        Share of the ties of an item that are to its own group; 0 for outliers.
    tree : ModeTree
        How items join into groups, these into larger ones, and all into one; heights are lifts.
    lift : float
        Where the tree was cut.
    hypergraph : Hypergraph
        The hyperedges behind it; that of item i is number i.
    """

    labels: np.ndarray
    assigned: np.ndarray
    probabilities: np.ndarray
    tree: ModeTree
    lift: float
    hypergraph: Hypergraph

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.labels.max()) + 1

    @kept
    def modes(self, *, n_jobs: int | None = -1, client: Any = None) -> tuple[Mode | None, ...]:
        """The certified mode that the densest hyperedge of each group shifts to; supports are items.

        Parameters
        ----------
        n_jobs, client
            As in `find_modes`. What is found is kept, and does not depend on them.
        """
        if self.n_groups == 0:
            return ()
        summits = self._summits
        found = find_modes(self.hypergraph, starts=summits.tolist(), n_jobs=n_jobs, client=client)
        return tuple(None if k < 0 else found[k] for k in found.edge_mode[summits].tolist())

    @kept
    def representatives(self, *, n_jobs: int | None = -1, client: Any = None) -> np.ndarray:
        """An item of each group: the heaviest of its mode among the group's own, or the densest of these.

        Arguments as in `modes`, which are looked for first.
        """
        chosen = self._summits.copy()
        for k, mode in enumerate(self.modes(n_jobs=n_jobs, client=client)):
            own = np.flatnonzero(self.labels[mode.support] == k) if mode is not None else np.empty(0, int)
            if mode is not None and own.size:
                chosen[k] = mode.support[own[np.argmax(np.round(mode.weights[own], 12))]]
        chosen.flags.writeable = False
        return chosen

    @cached_property
    def _summits(self) -> np.ndarray:
        """The densest hyperedge of each group: the one whose members are in most hyperedges of the group."""
        incidence, labels = sp.csr_array(self.hypergraph.incidence), self.labels
        if self.n_groups == 0:
            return np.empty(0, np.int64)
        inside = np.flatnonzero(labels >= 0)
        of_group = sp.coo_array(
            (np.ones(inside.size), (inside, labels[inside])), shape=(labels.size, self.n_groups)
        )
        popularity = incidence @ of_group.tocsr()  # of each item among the hyperedges of each group
        density = (incidence.T @ popularity)[inside, labels[inside]] * self.hypergraph.weights[inside]
        order = np.lexsort((inside, -np.round(density, 9), labels[inside]))
        return inside[order[np.flatnonzero(np.diff(labels[inside[order]], prepend=-1))]]

    def at(self, lift: float) -> np.ndarray:
        """Group of each item where the tree is cut at another lift; nobody is left out."""
        lift = finite_number("lift", lift, "a number, 0 or more", least=0, or_infinity=True)
        return largest_first(_cut_at(self.tree, lift))

    def __len__(self) -> int:
        return self.n_groups

    def __repr__(self) -> str:
        return (
            f"AffinityGroups({counted(self.n_groups, 'group')} of {counted(self.labels.size, 'item')}, "
            f"{counted(int((self.labels < 0).sum()), 'outlier')})"
        )


def group_affinity(
    affinity: Any,
    n_groups: int | None = None,
    *,
    kind: str = "similarity",
    n_neighbors: int | None = None,
    n_jobs: int | None = -1,
    progress: Progress = None,
) -> AffinityGroups:
    """Find the groups of items from how similar, or how far apart, each two of them are.

    Parameters
    ----------
    affinity : (n, n) array or sparse matrix
        Symmetric up to rounding, finite, no number below 0; the diagonal plays no part. What a sparse matrix
        does not hold is not similar at all, or infinitely far.
    n_groups : int, optional
        How many are wanted, half as many as items at most; found if not given. There are fewer where one of
        them would be a single item: that is an outlier.
    kind : {"similarity", "distance"}
        What the numbers are: see `pairwise_hypergraph`.
    n_neighbors : int, optional
        Others in a hyperedge; ⌈log₂ n⌉ for n items that are like another if not given.
    n_jobs, progress
        As in `find_modes`.

    Notes
    -----
    O(n²) to find who is most like whom, O(nk log² nk) from there.

    Examples
    --------
    >>> places = np.r_[0:9, 100:109]
    >>> groups = group_affinity(np.abs(places[:, None] - places), kind="distance")
    >>> groups
    AffinityGroups(2 groups of 18 items, 0 outliers)
    >>> groups.labels
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    """
    check_count("n_groups", n_groups)
    check_count("n_neighbors", n_neighbors)
    workers(n_jobs)
    with tracker(progress, 3, "grouping") as advance:
        hypergraph = pairwise_hypergraph(affinity, n_neighbors, kind=kind)
        if n_groups is not None and n_groups > hypergraph.n_vertices // 2:
            raise ValueError(
                f"n_groups: expected at most {hypergraph.n_vertices // 2}, half of the "
                f"{hypergraph.n_vertices} items, as a group has two or more; got {n_groups}"
            )
        advance(1)
        matrix = ties_of(hypergraph)
        tree = lift_tree(hypergraph, matrix)
        advance(1)
        lift, labels = _chosen(tree, n_groups, np.diff(hypergraph.incidence.indptr), n_jobs)
        assigned = polished(matrix, labels, lift)
        advance(1)
    return _read_out(hypergraph, matrix, tree, lift, assigned)


def ties_of(hypergraph: Hypergraph) -> sp.csr_array:
    """t_ij = p(j|e_i) + p(i|e_j), nothing on the diagonal."""
    belongs = sp.csr_array(hypergraph.incidence)
    matrix = sp.csr_array(belongs + belongs.T - 2 * sp.eye_array(belongs.shape[0]))
    matrix.eliminate_zeros()
    return matrix


def lift_tree(hypergraph: Hypergraph, matrix: sp.csr_array) -> ModeTree:
    """Items join by the largest lift; of equal ones, by what is around them, not by how they are numbered."""
    n = matrix.shape[0]
    tied = np.diff(hypergraph.incidence.indptr) > 1
    among = sp.csc_array(hypergraph.incidence[:, tied][tied, :])
    first = np.flatnonzero(tied)[order_by_surroundings(among, hypergraph.weights[tied])]
    order = np.concatenate((first, np.flatnonzero(~tied)))
    in_order = sp.csr_array(matrix[order][:, order])
    in_order.sort_indices()
    joins = joined(in_order, np.arange(n), np.zeros(n, np.int64))
    apart = [(a, a + 1, 0.0) for a in range(n - 1)]  # what is not tied joins last, in the same order
    named = [(int(order[a]), int(order[b]), lift) for a, b, lift in joins + apart]
    return grown(named, np.ones(n))


def polished(matrix: sp.csr_array, labels: np.ndarray, lift: float) -> np.ndarray:
    """Items move, all at once, to the group they gain most in, while all together gain and no group is lost.

    The gain of a partition at lift r is Σ_g (ties inside g - r D_g²/D), with D_g the degree of a group.
    """
    n, k = labels.size, int(labels.max()) + 1
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    total = float(degree.sum())
    if k == 1 or total == 0:
        return labels
    best, kept = -np.inf, labels
    for _ in range(ROUNDS):
        member = sp.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, k))
        to = sp.csr_array(matrix @ member)
        of_group = np.bincount(labels, weights=degree, minlength=k)
        own = np.asarray(to[np.arange(n), labels]).ravel()
        now = float(own.sum() - lift * (of_group**2).sum() / total)
        if np.bincount(labels, minlength=k).min() == 0 or now <= best + 1e-9 * total:
            break
        best, kept = now, labels
        row = np.repeat(np.arange(n), np.diff(to.indptr))
        others = of_group[to.indices] - np.where(labels[row] == to.indices, degree[row], 0.0)
        gain = np.round(to.data - lift * degree[row] * others / total, 9)
        stays = own - lift * degree * (of_group[labels] - degree) / total
        top = np.lexsort((to.indices, -gain, row))
        first = top[np.flatnonzero(np.diff(row[top], prepend=-1))]
        better = first[gain[first] > stays[row[first]] + 1e-9]
        labels = labels.copy()
        labels[row[better]] = to.indices[better]
    return kept


def _chosen(
    tree: ModeTree, n_groups: int | None, sizes: np.ndarray, n_jobs: int | None
) -> tuple[float, np.ndarray]:
    """The lift to cut at and the groups there: as many as wanted, or the medoid of a ladder.

    `sizes` are those of the hyperedges. Who is alone in one is like nobody, and has no say.
    """
    if n_groups is not None:
        made = _joins_into(n_groups, tree, sizes > 1)
        ends = np.concatenate(([tree.heights.max(initial=1.0)], tree.heights, [0.0]))
        return float((ends[made] + ends[made + 1]) / 2), cut(tree, made)
    tied = np.flatnonzero(sizes > 1)
    if tied.size == 0:
        return 1.0, _cut_at(tree, 1.0)
    rungs = int(np.log(max(1.0, tied.size / np.median(sizes[tied]))) / np.log(RUNG) + 1e-9)
    ladder = RUNG ** np.arange(-rungs, rungs + 1.0)
    cuts = [_cut_at(tree, lift) for lift in ladder.tolist()]
    best = medoid([labels[tied] for labels in cuts], n_jobs)
    return float(ladder[best]), cuts[best]


def _joins_into(n_groups: int, tree: ModeTree, tied: np.ndarray) -> int:
    """The joins to make until there are no more groups than wanted; items tied to none are no groups."""
    fewer = int(tied.sum()) - n_groups
    if fewer <= 0:
        return 0
    of_groups = (tree.sums(tied.astype(float))[tree.children] > 0).all(axis=1)
    return int(np.searchsorted(np.cumsum(of_groups), fewer)) + 1


def medoid(partitions: list[np.ndarray], n_jobs: int | None = -1) -> int:
    """The one that agrees best with all the others, by the squares of adjusted Rand indices; else the first.

    Squares, so that a few which say nearly the same weigh more than many which say it half.
    """
    alike = agreements(partitions, np.ones(partitions[0].size), n_jobs)
    return int(np.argmax(np.round((np.maximum(0.0, alike) ** 2).sum(axis=0), 9)))


def _cut_at(tree: ModeTree, lift: float) -> np.ndarray:
    return cut(tree, int((tree.heights > lift).sum()))


def _read_out(
    hypergraph: Hypergraph, matrix: sp.csr_array, tree: ModeTree, lift: float, groups: np.ndarray
) -> AffinityGroups:
    """Who is left out, how strongly the others belong, and the largest group first."""
    n, k = groups.size, int(groups.max()) + 1
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    incidence = hypergraph.incidence
    centre = np.repeat(np.arange(n), np.diff(incidence.indptr))
    same = (groups[incidence.indices] == groups[centre]) & (incidence.indices != centre)
    wanted = np.bincount(incidence.indices[same], minlength=n) > 0
    size = np.bincount(groups[wanted], minlength=k)
    kept = np.where(size[groups] > 0, groups, -1)
    assigned = largest_first(kept, size)
    labels = np.where(wanted, assigned, -1)
    row = np.repeat(np.arange(n), np.diff(matrix.indptr))
    inside = groups[row] == groups[matrix.indices]
    share = np.bincount(row[inside], weights=matrix.data[inside], minlength=n) / np.where(
        degree > 0, degree, 1.0
    )
    probabilities = np.where(labels >= 0, np.minimum(share, 1.0), 0.0)
    for array in (labels, assigned, probabilities):
        array.flags.writeable = False
    return AffinityGroups(labels, assigned, probabilities, tree, lift, hypergraph)
