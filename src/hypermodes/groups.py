"""The groups of a hypergraph: vertices that belong together, hyperedges that are theirs, and outliers."""

import os
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.affinity import MatrixAffinity
from hypermodes.chance import price
from hypermodes.executors import executor_of
from hypermodes.files import replacing, write_csv
from hypermodes.homes import Homes, climb, find_homes, fitted_share, judged, sums
from hypermodes.hypergraph import Hypergraph
from hypermodes.json_text import json_text
from hypermodes.keeping import kept
from hypermodes.modes import find_modes
from hypermodes.progress import Progress, tracker
from hypermodes.pyramid import Join, cut, grown, joined, largest_first
from hypermodes.result import Mode, counted, plain
from hypermodes.scalars import whole_number
from hypermodes.ties import Ties, connected_ties
from hypermodes.tree import ModeTree, check_wanted

FEWEST = 8  # vertices of a connected part that is looked at: fewer do not tell groups apart
WORTH_THREADS = 10_000  # ties; with fewer a search is over before its thread has started


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of vertices and hyperedges, the largest first, each with the mode at its core.

    Attributes
    ----------
    hypergraph : Hypergraph
        What they are groups of.
    vertex_labels : (n_vertices,) int64
        Group of each vertex; -1 if it is in no hyperedge, or only in hyperedges that meet no other.
    edge_labels : (n_edges,) int64
        Group of each hyperedge; -1 for outliers, which chance explains better than any group.
    memberships : (n_vertices, n_clusters) csr_array
        Share of the ties of a vertex that is owed to a group, not to chance. A vertex may belong to several;
        rows sum to at most 1. None is larger than that of its own group (`vertex_labels`).
    edge_memberships : (n_edges, n_clusters) csr_array
        Probability that a hyperedge was made in a group; what is missing to 1 is chance.
    tree : ModeTree or None
        How small groups (`leaves`) join into these, and these into one; None if there are no groups.
    leaves : (n_vertices,) int64
        Leaf of the tree each vertex is in; -1 for those in none.
    height : float
        Where the tree was cut: every join up to this share of the highest was made.
    evidence : float
        How much better these groups explain the hypergraph than none, in nats, all costs paid; 0 if there
        is one group to each connected part. Less than 0 if groups that were asked for cost more than they
        explain.
    """

    hypergraph: Hypergraph
    vertex_labels: np.ndarray
    edge_labels: np.ndarray
    memberships: sp.csr_array
    edge_memberships: sp.csr_array
    tree: ModeTree | None
    leaves: np.ndarray
    height: float
    evidence: float

    @property
    def n_clusters(self) -> int:
        """Number of groups."""
        return int(self.memberships.shape[1])

    @cached_property
    def outliers(self) -> np.ndarray:
        """Hyperedges that belong to no group."""
        return np.flatnonzero(self.edge_labels < 0)

    @cached_property
    def sizes(self) -> np.ndarray:
        """Vertices of each group, falling."""
        return np.bincount(self.vertex_labels[self.vertex_labels >= 0], minlength=self.n_clusters)

    def members(self, k: int) -> tuple[Hashable, ...]:
        """Names of the vertices of group k."""
        vertices = self.hypergraph.vertices
        return tuple(vertices[int(v)] for v in np.flatnonzero(self.vertex_labels == self._number(k)))

    def hyperedges(self, k: int) -> tuple[Hashable, ...]:
        """Names of the hyperedges of group k."""
        labels = self.hypergraph.labels
        return tuple(labels[int(e)] for e in np.flatnonzero(self.edge_labels == self._number(k)))

    @kept
    def modes(self, *, n_jobs: int | None = -1, client: Any = None) -> tuple[Mode | None, ...]:
        """The certified mode at the core of each group; None where no two of its hyperedges meet.

        It is the one that the hyperedge with the largest affinity to all others of the group shifts to among
        the hyperedges of the group: of these it is a mode, and not always of the whole hypergraph.

        Parameters
        ----------
        n_jobs, client
            As in `find_modes`. What is found is kept, and does not depend on them.
        """
        return _cores(self.hypergraph, self.edge_labels, self.n_clusters, n_jobs, client)

    def _number(self, k: int) -> int:
        last = self.n_clusters - 1
        expected = f"the number of a group, 0 … {last}"
        return whole_number("k", k, expected, least=0, most=last, error=IndexError)

    def __len__(self) -> int:
        return self.n_clusters

    def __repr__(self) -> str:
        left = int((self.vertex_labels < 0).sum())
        outside = f", {counted(left, 'vertex').replace('vertexs', 'vertices')} in none" if left else ""
        return (
            f"Groups({counted(self.n_clusters, 'group')} of {self.hypergraph.n_vertices} vertices, "
            f"{counted(self.outliers.size, 'outlier')} of {counted(self.hypergraph.n_edges, 'hyperedge')}"
            f"{outside})"
        )

    # -- passing on -----------------------------------------------------------------------------------

    def to_columns(self, *, n_jobs: int | None = -1) -> dict[str, list[Any]]:
        """One entry a group and column, ready for a data frame."""
        inside = self.edge_labels[self.edge_labels >= 0]
        modes = self.modes(n_jobs=n_jobs)
        return {
            "group": list(range(self.n_clusters)),
            "vertices": self.sizes.tolist(),
            "hyperedges": np.bincount(inside, minlength=self.n_clusters).tolist(),
            "density": [None if mode is None else mode.density for mode in modes],
            "core": [0 if mode is None else len(mode) for mode in modes],
            "status": ["" if mode is None else mode.status.name for mode in modes],
        }

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line a vertex: its name, its group (-1 for none), how strongly it belongs to it."""
        strength = self._strengths(self.memberships, self.vertex_labels)
        write_csv(
            path,
            ("vertex", "group", "membership"),
            zip(self.hypergraph.vertices, self.vertex_labels.tolist(), strength.tolist(), strict=True),
        )

    def edges_to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line a hyperedge: its name, its group (-1 for outliers), how strongly it belongs."""
        strength = self._strengths(self.edge_memberships, self.edge_labels)
        write_csv(
            path,
            ("hyperedge", "group", "membership"),
            zip(self.hypergraph.labels, self.edge_labels.tolist(), strength.tolist(), strict=True),
        )

    def to_json(self, path: str | os.PathLike[str], *, n_jobs: int | None = -1) -> None:
        """Write the groups with their vertices, hyperedges and core modes, and the outliers."""
        labels, columns = self.hypergraph.labels, self.to_columns(n_jobs=n_jobs)
        groups = []
        for k, mode in enumerate(self.modes(n_jobs=n_jobs)):
            record: dict[str, Any] = {name: values[k] for name, values in columns.items()}
            record["members"] = [plain(name) for name in self.members(k)]
            record["edges"] = [plain(name) for name in self.hyperedges(k)]
            support = () if mode is None else mode.support
            record["core_edges"] = [plain(labels[int(i)]) for i in support]
            record["core_weights"] = [] if mode is None else mode.weights.tolist()
            groups.append(record)
        content = {
            "groups": groups,
            "outliers": [plain(labels[int(e)]) for e in self.outliers],
            "vertices": [plain(name) for name in self.hypergraph.vertices],
            "vertex_labels": self.vertex_labels.tolist(),
            "edges": [plain(name) for name in labels],
            "edge_labels": self.edge_labels.tolist(),
            "evidence": self.evidence,
        }
        with replacing(path) as temporary:
            temporary.write_text(json_text(content), encoding="utf-8")

    @staticmethod
    def _strengths(memberships: sp.csr_array, labels: np.ndarray) -> np.ndarray:
        inside = np.flatnonzero(labels >= 0)
        strength = np.zeros(labels.size)
        if inside.size:
            strength[inside] = np.asarray(memberships[inside, labels[inside]]).ravel()
        return strength


def cluster(
    hypergraph: Hypergraph,
    n_clusters: int | None = None,
    *,
    threshold: float | None = None,
    n_jobs: int | None = -1,
    client: Any = None,
    progress: Progress = None,
) -> Groups:
    """Find the groups of a hypergraph; nobody says how many there are.

    Parameters
    ----------
    hypergraph : Hypergraph
        Contacts, baskets, co-authors, …: who was in what together. For points use `cluster_points`.
    n_clusters : int, optional
        How many are wanted; found if not given. There are never more than leaves in the tree, nor fewer
        than connected parts unless those have to be put together.
    threshold : float, optional
        Instead of that, what holds together at this share of the highest lift is a group, from 0 to 1.
    n_jobs : int
        Threads; -1 for all cores. The result does not depend on it.
    client : dask.distributed.Client, address of a scheduler, or "joblib", optional
        Where the leaves of the tree are shifted to their modes, as in `find_modes`; all else is done here.
    progress : bool or function
        As in `find_modes`.

    Notes
    -----
    Equal hyperedges are one with the sum of their weights, and only ratios of weights matter: to double the
    data changes nothing. Connected parts are judged on their own.

    Examples
    --------
    >>> H = Hypergraph.from_edges([[1, 2, 3], [1, 2], [2, 3], [1, 3], [4, 5, 6], [4, 5], [5, 6], [3, 4], [9]])
    >>> groups = cluster(H, n_clusters=2)
    >>> groups
    Groups(2 groups of 7 vertices, 2 outliers of 9 hyperedges, 1 vertex in none)
    >>> groups.members(0), groups.members(1)
    ((1, 2, 3), (4, 5, 6))
    """
    _check(hypergraph, n_clusters, threshold)
    with executor_of(client, n_jobs) as executor:
        parts = connected_ties(hypergraph)
        n_members = sum(part.vertices.size for part in parts)
        with tracker(progress, n_members, "grouping", executor.dashboard) as advance:
            found, prices = [], []
            for part in parts:
                prices.append(None if part.vertices.size < FEWEST else _price(part, n_jobs))
                found.append(_found(part, prices[-1], n_jobs))
                advance(part.vertices.size)
        if not parts:
            return _nothing(hypergraph)
        leaves = _leaves(parts, found, n_jobs, executor.client)
    tree, leaf, joins_made = _tree(hypergraph, parts, found, leaves)
    labels = _spread(hypergraph.n_vertices, parts, [homes.labels for homes in found])
    if threshold is not None:
        joins_made = int((tree.heights >= threshold * tree.heights.max(initial=0.0)).sum())
        labels = np.append(cut(tree, joins_made), -1)[leaf]
    elif n_clusters is not None and n_clusters != tree.n - joins_made:
        joins_made = max(0, tree.n - n_clusters)
        labels = _refined(parts, np.append(cut(tree, joins_made), -1)[leaf])
    evidence = sum(
        _evidence(part, homes, cost, labels, n_jobs)
        for part, homes, cost in zip(parts, found, prices, strict=True)
    )
    top = tree.heights.max(initial=0.0)
    height = float(tree.heights[joins_made - 1] / top) if joins_made and top > 0 else 1.0
    return _read_out(hypergraph, parts, largest_first(labels), tree, leaf, height, evidence)


# -- steps ----------------------------------------------------------------------------------------------


def _found(part: Ties, cost: float | None, n_jobs: int | None) -> Homes:
    """The groups of one part at the price of a word; without one, all are one group."""
    if cost is None:
        return Homes(np.zeros(part.vertices.size, np.int64), 0.5, 0.0)
    return find_homes(part.matrix, cost, _worth(part, n_jobs))


def _price(part: Ties, n_jobs: int | None) -> float:
    return price(part, _worth(part, n_jobs))


def _worth(part: Ties, n_jobs: int | None) -> int | None:
    return 1 if part.matrix.nnz < WORTH_THREADS else n_jobs


def _leaves(parts: list[Ties], found: list[Homes], n_jobs: int | None, client: Any) -> list[np.ndarray]:
    """For each part: vertices of a group that shift to the same mode, by ties over the root of degrees."""
    data, index, count = [], [], []
    first = 0
    for part, homes in zip(parts, found, strict=True):
        matrix, n = part.matrix, part.vertices.size
        row, root = np.repeat(np.arange(n), np.diff(matrix.indptr)), np.sqrt(part.degrees)
        inner = homes.labels[row] == homes.labels[matrix.indices]
        row, column = row[inner], matrix.indices[inner]
        data.append(matrix.data[inner] / (root[row] * root[column]))
        index.append(column + first)
        count.append(np.bincount(row, minlength=n))
        first += n
    ptr = np.concatenate(([0], np.cumsum(np.concatenate(count))))
    affinity = sp.csr_array((np.concatenate(data), np.concatenate(index), ptr), shape=(first, first))
    modes = find_modes(MatrixAffinity(affinity), n_jobs=n_jobs, client=client).edge_mode.copy()
    alone = np.flatnonzero(modes < 0)
    modes[alone] = modes.max(initial=-1) + 1 + np.arange(alone.size)
    own = np.split(modes, np.cumsum([part.vertices.size for part in parts])[:-1])
    return [
        np.unique(homes.labels * (modes.max() + 1) + mode, return_inverse=True)[1].astype(np.int64)
        for homes, mode in zip(found, own, strict=True)
    ]


def _tree(
    hypergraph: Hypergraph, parts: list[Ties], found: list[Homes], leaves: list[np.ndarray]
) -> tuple[ModeTree, np.ndarray, int]:
    """One tree for all parts, the leaf of each vertex, and how many joins make the groups that were found."""
    leaf = _spread(hypergraph.n_vertices, parts, leaves)
    inside: list[Join] = []
    outside: list[Join] = []
    first = 0
    for part, homes, small in zip(parts, found, leaves, strict=True):
        count = int(small.max()) + 1
        group = np.empty(count, np.int64)
        group[small] = homes.labels
        joins = joined(part.matrix, small, group)
        for j, (a, b, lift) in enumerate(joins):
            (inside if j < count - homes.n_groups else outside).append((a + first, b + first, lift))
        first += count
    lowest = min((lift for _, _, lift in inside), default=np.inf)
    outside = [(a, b, min(lift, lowest)) for a, b, lift in outside]
    joins = [*sorted(inside, key=lambda j: -j[2]), *sorted(outside, key=lambda j: -j[2])]
    mass = np.bincount(leaf[leaf >= 0], minlength=first).astype(float)
    return grown(joins, mass), leaf, len(inside)


def _refined(parts: list[Ties], labels: np.ndarray) -> np.ndarray:
    """Let single vertices move between the groups of their part, whose number stays."""
    labels = labels.copy()
    for part in parts:
        names, own = np.unique(labels[part.vertices], return_inverse=True)
        if names.size > 1:
            share = fitted_share(*sums(part.matrix, own)[:2])
            labels[part.vertices] = names[climb(part.matrix, own, share, fixed=True).labels]
    return labels


def _evidence(part: Ties, homes: Homes, cost: float | None, labels: np.ndarray, n_jobs: int | None) -> float:
    """Of the groups that a part has in the end: those that were found, or others that were asked for."""
    names, own = np.unique(labels[part.vertices], return_inverse=True)
    _, pair = np.unique(own * homes.n_groups + homes.labels, return_inverse=True)
    if names.size == homes.n_groups == int(pair.max()) + 1:
        return homes.evidence
    if names.size == 1:
        return 0.0
    return judged(part.matrix, own, _price(part, n_jobs) if cost is None else cost).evidence


def _spread(n: int, parts: list[Ties], labels: list[np.ndarray]) -> np.ndarray:
    """Labels of vertices from those of parts, -1 outside."""
    spread, first = np.full(n, -1, np.int64), 0
    for part, own in zip(parts, labels, strict=True):
        spread[part.vertices] = own + first
        first += int(own.max()) + 1
    return spread


def _read_out(
    hypergraph: Hypergraph,
    parts: list[Ties],
    labels: np.ndarray,
    tree: ModeTree,
    leaf: np.ndarray,
    height: float,
    evidence: float,
) -> Groups:
    """Memberships of vertices and hyperedges, by the model the groups were found with."""
    k = int(labels.max()) + 1
    n = hypergraph.n_vertices
    log_in, log_out = np.zeros((2, k))  # of drawing a vertex at home that is, or is not, of the group
    log_prior = np.zeros(k)
    rows, columns, shares = [], [], []
    for part in parts:
        names, own = np.unique(labels[part.vertices], return_inverse=True)
        inside, degrees, _ = sums(part.matrix, own)
        total = degrees.sum()
        member = sp.csr_array((np.ones(own.size), own, np.arange(own.size + 1)), shape=(own.size, names.size))
        share = fitted_share(inside, degrees) if names.size > 1 else 1.0
        at_home = share * total / degrees / (1 - share + share * total / degrees)
        ties = sp.coo_array((part.matrix @ member) * at_home[None, :])
        rows.append(part.vertices[ties.row])
        columns.append(names[ties.col])
        shares.append(ties.data / part.degrees[ties.row])
        if names.size > 1:
            rho = np.sqrt(share)
            log_in[names] = np.log(1 - rho + rho * total / degrees)
            log_out[names] = np.log(1 - rho)
            log_prior[names] = np.log(degrees / total)
    memberships = _own_first(
        sp.csr_array((np.concatenate(shares), (np.concatenate(rows), np.concatenate(columns))), shape=(n, k)),
        labels,
    )
    edge_labels, edge_memberships = _edges(hypergraph, labels, k, log_prior, log_in, log_out)
    for array in (labels, edge_labels, leaf):
        array.flags.writeable = False
    return Groups(
        hypergraph, labels, edge_labels, memberships, edge_memberships, tree, leaf, height, evidence
    )


def _own_first(memberships: sp.csr_array, labels: np.ndarray) -> sp.csr_array:
    """No group has more of a vertex than its own: that was chosen by the sizes of groups as well."""
    own = Groups._strengths(memberships, labels)
    row = np.repeat(np.arange(labels.size), np.diff(memberships.indptr))
    shares = np.minimum(memberships.data, own[row])
    return sp.csr_array((shares, memberships.indices, memberships.indptr), shape=memberships.shape)


def _edges(
    hypergraph: Hypergraph,
    labels: np.ndarray,
    k: int,
    log_prior: np.ndarray,
    log_in: np.ndarray,
    log_out: np.ndarray,
) -> tuple[np.ndarray, sp.csr_array]:
    """Group of each hyperedge and its probabilities: drawn at home in a group, or all by chance.

    At home in g, each vertex is of g with odds 1 - ρ + ρ D/D_g against chance, and not with odds 1 - ρ, where
    ρ² = x: a pair is made at home when both ends are.
    """
    inside = np.flatnonzero(labels >= 0)
    member = sp.csr_array((np.ones(inside.size), (inside, labels[inside])), shape=(hypergraph.n_vertices, k))
    held = sp.csr_array(hypergraph.incidence.T @ member)  # how much of a hyperedge is in a group
    held.sort_indices()
    edge = np.repeat(np.arange(hypergraph.n_edges), np.diff(held.indptr))
    group = held.indices
    rest = np.maximum(hypergraph.edge_degrees[edge] - held.data, 0.0)
    term = log_prior[group] + held.data * log_in[group] + rest * log_out[group]
    best = np.full(hypergraph.n_edges, -np.inf)
    np.maximum.at(best, edge, term)
    size = np.maximum(best, 0.0)  # chance has odds 1
    alone = log_prior[group] == 0  # the only group of its part: nothing to tell it from
    weight = np.exp(term - size[edge])
    at_home = np.bincount(edge, weights=weight, minlength=hypergraph.n_edges)
    chance = np.exp(-size)
    chance[edge[alone]] = 0.0
    probability = weight / (at_home + chance)[edge]
    edge_memberships = sp.csr_array((probability, group, held.indptr), shape=held.shape)
    edge_labels = np.full(hypergraph.n_edges, -1, np.int64)
    order = np.lexsort((group, -np.round(term, 9), edge))
    first = np.flatnonzero(np.diff(edge[order], prepend=-1))
    chosen = order[first]
    # A vertex alone is as likely at home as by chance; so is whatever falls just short of it.
    fits = (at_home >= chance * (1 - 1e-9))[edge[chosen]] | (hypergraph.edge_sizes[edge[chosen]] == 1)
    edge_labels[edge[chosen[fits]]] = group[chosen[fits]]
    return edge_labels, edge_memberships


def _cores(
    hypergraph: Hypergraph, edge_labels: np.ndarray, k: int, n_jobs: int | None, client: Any
) -> tuple[Mode | None, ...]:
    """The mode of each group in the hypergraph of its own hyperedges.

    All groups are in one hypergraph: a vertex is another one in each, so that no two of them meet.
    """
    labelled = np.flatnonzero(edge_labels >= 0)
    if labelled.size == 0:
        return (None,) * k
    incidence, group = hypergraph.incidence[:, labelled], edge_labels[labelled]
    edge = np.repeat(np.arange(labelled.size), np.diff(incidence.indptr))
    names, vertex = np.unique(incidence.indices.astype(np.int64) * k + group[edge], return_inverse=True)
    alone = Hypergraph.from_incidence(
        sp.csc_array((incidence.data, vertex, incidence.indptr), shape=(names.size, labelled.size)),
        weights=hypergraph.weights[labelled],
    )
    summits = _summits(alone, vertex, edge, group)
    found = find_modes(alone, starts=summits.tolist(), n_jobs=n_jobs, client=client)
    cores: list[Mode | None] = [None] * k
    for summit in summits.tolist():
        if (mode := int(found.edge_mode[summit])) >= 0:
            cores[int(group[summit])] = found[mode].among(labelled)
    return tuple(cores)


def _summits(hypergraph: Hypergraph, vertex: np.ndarray, edge: np.ndarray, group: np.ndarray) -> np.ndarray:
    """In each group the hyperedge of the largest affinity to the others of the group."""
    rate = hypergraph.weights / hypergraph.edge_degrees
    popularity, rated = np.bincount(vertex), np.bincount(vertex, weights=rate[edge])
    affinity = np.bincount(
        edge, weights=rate[edge] * (popularity[vertex] - 1) + rated[vertex] - rate[edge], minlength=group.size
    )
    order = np.lexsort((np.arange(group.size), -np.round(affinity, 9), group))
    return order[np.flatnonzero(np.diff(group[order], prepend=-1))]


def _nothing(hypergraph: Hypergraph) -> Groups:
    """No two hyperedges meet: nothing is a group."""
    n, m = hypergraph.n_vertices, hypergraph.n_edges
    return Groups(
        hypergraph, np.full(n, -1), np.full(m, -1), sp.csr_array((n, 0)), sp.csr_array((m, 0)), None,
        np.full(n, -1), 1.0, 0.0,
    )  # fmt: skip


def _check(hypergraph: Any, n_clusters: Any, threshold: Any) -> None:
    if not isinstance(hypergraph, Hypergraph):
        raise TypeError(
            f"hypergraph: expected a Hypergraph; got a {type(hypergraph).__name__}: "
            "for points use cluster_points, for files hm.read"
        )
    check_wanted(n_clusters, threshold)
