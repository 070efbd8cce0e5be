"""Modes of modes: the other candidate for a hierarchy of points, against the density tree of `cluster_points`.

    python benchmarks/pyramid.py             # all 43 sets of at most 12,000 points
    python benchmarks/pyramid.py 1100        # those of at most 1,100

Every point makes a hyperedge with its ⌈log₂ n⌉ neighbours, and hyperedges that shift to the same mode are a
group (`find_modes`). A group is one soft hyperedge: the sum of its members' incidences, each vertex weighted
by one over the root of its degree. Two groups are as near as the cosine of theirs; with that as affinity,
groups are shifted in turn, and so on until nothing joins.

Of this pyramid a group is kept when its log-lifetime, log(density it was formed at / largest affinity to a
sibling), times its size beats the sum of what is kept below it. As labelled, groups too small to count in the
density tree are outliers; assigned, they go to the cluster of the nearest other point. Sets and scores are
those of quality.py. Two combinations are scored as well: the reading of the density tree that agrees best
with the pyramid, and the level of the pyramid that agrees best with the density tree.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

import hypermodes as hm
from quality import nearest, read_sets, scores

MOST_LEVELS = 20


@dataclass
class Group:
    """A node of the pyramid: points, what it was formed at, what it is made of, how long it lives."""

    points: np.ndarray
    formed: float
    parts: "list[Group]"
    nearest: float = 0.0  # largest affinity to a sibling; 0 if it never joins

    def worth(self, floor: float) -> float:
        """Log-lifetime times size."""
        return max(0.0, np.log(max(self.formed, floor) / max(self.nearest, floor))) * self.points.size


def same_mode(found: hm.ModeSet) -> np.ndarray:
    """Group of each start; whatever has no mode is a group of its own."""
    alone = found.edge_mode < 0
    labels = np.where(alone, len(found) + np.cumsum(alone), found.edge_mode)
    return np.unique(labels, return_inverse=True)[1]


def overlaps(profiles: sp.csr_array) -> sp.csr_array:
    """Cosine of any two soft hyperedges."""
    length = np.sqrt(np.asarray(profiles.multiply(profiles).sum(axis=1)).ravel())
    unit = sp.csr_array(sp.diags_array(1 / length) @ profiles)
    table = sp.csr_array(unit @ unit.T)
    table.setdiag(0.0)
    table.eliminate_zeros()
    return (table + table.T) / 2


def summed(profiles: sp.csr_array, labels: np.ndarray) -> sp.csr_array:
    """Profiles of groups."""
    n = profiles.shape[0]
    return sp.csr_array(
        sp.coo_array((np.ones(n), (labels, np.arange(n))), shape=(labels.max() + 1, n)) @ profiles
    )


def pyramid(points: np.ndarray) -> tuple[list[np.ndarray], list[Group]]:
    """Labels of points at every level, and the groups at its top."""
    n = len(points)
    hypergraph = hm.knn_hypergraph(points, int(np.ceil(np.log2(n))))
    soft = sp.csr_array(hypergraph.incidence.T)  # a row for each hyperedge
    degree = np.asarray(soft.sum(axis=0)).ravel()
    profiles = sp.csr_array(soft @ sp.diags_array(1 / np.sqrt(degree)))
    table = overlaps(profiles)
    nodes = [Group(np.array([i]), 0.0, []) for i in range(n)]
    labels, levels = np.arange(n), []
    joined = same_mode(hm.find_modes(hypergraph))
    for _ in range(MOST_LEVELS):
        made = []
        for g in range(joined.max() + 1):
            members = np.flatnonzero(joined == g)
            if members.size == 1:
                made.append(nodes[members[0]])
                continue
            inside = table[members][:, members].toarray()
            for row, member in zip(inside, members, strict=True):
                nodes[member].nearest = row.max()
            formed = inside.sum() / (members.size * (members.size - 1))
            everyone = np.concatenate([nodes[member].points for member in members])
            made.append(Group(everyone, formed, [nodes[member] for member in members]))
        if len(made) == len(nodes):
            break
        nodes, labels, profiles = made, joined[labels], summed(profiles, joined)
        levels.append(labels)
        if len(nodes) == 1:
            break
        table = overlaps(profiles)
        if table.nnz == 0:
            break
        joined = same_mode(hm.find_modes(hm.MatrixAffinity(table)))
    return levels, nodes


def kept(group: Group, floor: float, top: bool = False) -> tuple[float, list[Group]]:
    """What is kept in a branch and its worth; single points are never asked, nor is everything."""
    own = group.worth(floor)
    parts = [part for part in group.parts if part.parts]
    if not parts:
        return own, [group]
    below = [kept(part, floor) for part in group.parts]
    total = sum(worth for worth, _ in below)
    if not top and own >= total:
        return own, [group]
    return total, [chosen for _, part in below for chosen in part]


def selected(nodes: list[Group], n: int) -> np.ndarray:
    """Labels of all points."""
    floor = 1e-6
    labels = np.empty(n, np.int64)
    for c, group in enumerate(g for node in nodes for g in kept(node, floor, top=len(nodes) == 1)[1]):
        labels[group.points] = c
    return labels


def large_only(labels: np.ndarray, smallest: float) -> np.ndarray:
    """-1 in groups that are too small."""
    sizes = np.bincount(labels)
    renamed = np.where(sizes >= smallest, np.cumsum(sizes >= smallest) - 1, -1)
    return renamed[labels]


def main() -> None:
    folder = Path(os.environ.get("HYPERMODES_DATA", "")) / "clustering_gagolewski"
    if not folder.is_dir():
        sys.exit(f"HYPERMODES_DATA: expected a folder with clustering_gagolewski in it; {folder} is none")
    names = ["density tree", "pyramid", "tree, read by the pyramid", "pyramid, read by the tree",
             "pyramid, level by hindsight"]  # fmt: skip
    rows, counts = [], []
    for name, points, references in read_sets(folder, int(sys.argv[1]) if len(sys.argv) > 1 else 12_000):
        density = hm.cluster_points(points)
        around, tree = density.neighbourhoods, density.tree
        smallest = max(4, around.neighbours.k / 2)
        levels, nodes = pyramid(points)
        labels = selected(nodes, len(points))
        readings = [tree.at(size).labels[around.place] for size in tree.ladder(smallest)]
        by_pyramid = max(readings, key=lambda reading: adjusted_rand_score(labels, reading))
        by_tree = max(levels, key=lambda level: adjusted_rand_score(density.assigned, level))
        answers = [
            (density.labels, density.assigned),
            nearest(points, large_only(labels, smallest)),
            (np.where(density.labels < 0, -1, by_pyramid), by_pyramid),
            nearest(points, large_only(by_tree, smallest)),
        ]
        row = [[scores(found, references)[0] for found in answer] for answer in answers]
        hindsight = [nearest(points, large_only(level, smallest)) for level in levels]
        row.append(np.max([[scores(found, references)[0] for found in both] for both in hindsight], axis=0))
        rows.append(row)
        counts.append([len(levels), answers[1][0].max() + 1, density.n_clusters])
        print(
            f"{len(rows):2d} {name:28s}", " ".join(f"{a:.2f}/{b:.2f}" for a, b in row),
            f"({counts[-1][2]} by the tree, {counts[-1][1]} by the pyramid, levels "
            f"{' '.join(str(level.max() + 1) for level in levels)})",
            file=sys.stderr, flush=True,
        )  # fmt: skip
    table = np.array(rows)
    print("| what | ARI as labelled | ARI, all assigned |\n|---|---|---|")
    error = table.std(axis=0) / np.sqrt(len(rows))
    for name, mean, spread in zip(names, table.mean(axis=0), error, strict=True):
        print(f"| {name} | {mean[0]:.3f} ± {spread[0]:.3f} | {mean[1]:.3f} ± {spread[1]:.3f} |")
    better = (table[:, 1, 1] > table[:, 0, 1] + 0.01).sum()
    print(f"{len(rows)} sets; the pyramid is better by more than 0.01 (assigned) on {better}")


if __name__ == "__main__":
    main()
