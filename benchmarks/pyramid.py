"""Modes of modes: the other candidate for a hierarchy of points, against the density tree.

    python benchmarks/pyramid.py             # all 43 sets of at most 12,000 points: two minutes
    python benchmarks/pyramid.py 1100        # those of at most 1,100

Every point makes a hyperedge with its ⌈log₂ n⌉ neighbours. A group of hyperedges is one soft hyperedge: the
sum of its members' incidences, each vertex weighted by one over the root of its degree; two groups are as
near as the cosine of theirs. With that as affinity groups are shifted, those of one mode are a group of the
next level, and so on until nothing joins. The first level is either that of all others, or the modes of the
hypergraph itself (`find_modes`, where density counts).

Of this pyramid a group is kept when its log-lifetime, log(density of its mode / largest affinity to a
sibling), times its size beats the sum of what is kept below it. As labelled, groups too small to count in the
density tree are outliers; assigned, they go to the cluster of the nearest other point. Sets and scores are
those of quality.py. Combinations are scored as well: the reading of the density tree (of those at every
smallest size) that agrees best with the pyramid, and the level of the pyramid that agrees best with the
density tree; and, told the answer, the best level of the pyramid and the best reading of the tree.
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

FLOOR = 1e-6  # affinity of what never joins


@dataclass
class Group:
    """A node of the pyramid: points, what it was formed at, what it is made of, how long it lives."""

    points: np.ndarray
    formed: float
    parts: "list[Group]"
    nearest: float = 0.0  # largest affinity to a sibling; 0 if it never joins

    def worth(self) -> float:
        """Log-lifetime times size."""
        return max(0.0, np.log(max(self.formed, FLOOR) / max(self.nearest, FLOOR))) * self.points.size


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


def pyramid(points: np.ndarray, from_modes: bool) -> tuple[list[np.ndarray], list[Group]]:
    """Labels of points at every level, and the groups at its top."""
    n = len(points)
    hypergraph = hm.knn_hypergraph(points, int(np.ceil(np.log2(n))))
    soft = sp.csr_array(hypergraph.incidence.T)  # a row for each hyperedge
    degree = np.asarray(soft.sum(axis=0)).ravel()
    profiles = sp.csr_array(soft @ sp.diags_array(1 / np.sqrt(degree)))
    nodes = [Group(np.array([i]), 0.0, []) for i in range(n)]
    labels, levels = np.arange(n), []
    while len(nodes) > 1 and (table := overlaps(profiles)).nnz:
        by_density = from_modes and not levels
        found = hm.find_modes(hypergraph if by_density else hm.MatrixAffinity(table))
        joined = same_mode(found)
        made = []
        for members in np.split(np.argsort(joined, kind="stable"), np.cumsum(np.bincount(joined))[:-1]):
            if members.size == 1:
                made.append(nodes[members[0]])
                continue
            inside = table[members][:, members].toarray()
            for row, member in zip(inside, members, strict=True):
                nodes[member].nearest = row.max()
            if by_density:  # another unit: the mean affinity instead
                formed = inside.sum() / (members.size * (members.size - 1))
            else:
                formed = float(found.densities[found.edge_mode[members[0]]])
            everyone = np.concatenate([nodes[member].points for member in members])
            made.append(Group(everyone, formed, [nodes[member] for member in members]))
        if len(made) == len(nodes):
            break
        nodes, labels, profiles = made, joined[labels], summed(profiles, joined)
        levels.append(labels)
    return levels, nodes


def kept(group: Group, top: bool = False) -> tuple[float, list[Group]]:
    """What is kept in a branch and its worth; single points are not asked alone, nor is everything."""
    if not any(part.parts for part in group.parts):
        return group.worth(), [group]
    below = [kept(part) for part in group.parts]
    total = sum(worth for worth, _ in below)
    if not top and group.worth() >= total:
        return group.worth(), [group]
    return total, [chosen for _, part in below for chosen in part]


def selected(nodes: list[Group], n: int) -> np.ndarray:
    """Labels of all points."""
    labels = np.empty(n, np.int64)
    for c, group in enumerate(g for node in nodes for g in kept(node, top=len(nodes) == 1)[1]):
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
    rows: list[dict[str, list[float]]] = []
    for name, points, references in read_sets(folder, int(sys.argv[1]) if len(sys.argv) > 1 else 12_000):
        density = hm.cluster_points(points)
        around, tree = density.neighbourhoods, density.tree
        smallest = max(4, around.k / 2)
        readings = [tree.at(size).labels[around.place] for size in tree.ladder(smallest)]
        answers = {"density tree": (density.labels, density.assigned)}
        row = {}
        for start, from_modes in (("overlaps", False), ("modes of the hypergraph", True)):
            levels, nodes = pyramid(points, from_modes)
            labels = selected(nodes, len(points))
            by_pyramid = max(readings, key=lambda reading: adjusted_rand_score(labels, reading))
            by_tree = max(levels, key=lambda level: adjusted_rand_score(density.assigned, level))
            answers |= {
                f"pyramid from {start}": nearest(points, large_only(labels, smallest)),
                f"tree, read by the pyramid from {start}": (
                    np.where(density.labels < 0, -1, by_pyramid), by_pyramid
                ),
                f"pyramid from {start}, read by the tree": nearest(points, large_only(by_tree, smallest)),
            }  # fmt: skip
            best = [nearest(points, large_only(level, smallest)) for level in levels]
            row[f"pyramid from {start}, level told"] = np.max([both(b, references) for b in best], axis=0)
        row["tree, reading told"] = np.max([both((r, r), references) for r in readings], axis=0)
        rows.append({what: both(answer, references) for what, answer in answers.items()} | row)
        print(f"{len(rows):2d} {name:28s}", " ".join(f"{b:.2f}" for _, b in rows[-1].values()),
              file=sys.stderr, flush=True)  # fmt: skip
    print("| what | ARI as labelled | ARI, all assigned |\n|---|---|---|")
    for what in rows[0]:
        scored = np.array([row[what] for row in rows])
        mean, error = scored.mean(axis=0), scored.std(axis=0) / np.sqrt(len(rows))
        print(f"| {what} | {mean[0]:.3f} ± {error[0]:.3f} | {mean[1]:.3f} ± {error[1]:.3f} |")


def both(answer: tuple[np.ndarray, np.ndarray], references: list[np.ndarray]) -> list[float]:
    """ARI as labelled and assigned."""
    return [scores(found, references)[0] for found in answer]


if __name__ == "__main__":
    main()
