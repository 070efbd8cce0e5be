"""The same point sets by two ways: the density tree of `cluster_points`, and `cluster` on their hyperedges.

    python benchmarks/groups_of_points.py             # sets of at most 1,100 points
    python benchmarks/groups_of_points.py 12000       # all 43

Sets and scores are those of quality.py; every point is assigned. What is measured is whether the groups of a
hypergraph (docs/groups.md) could take the place of the density tree on neighbourhoods of points.
"""

import os
import sys
from pathlib import Path

import numpy as np

import hypermodes as hm
from quality import read_sets, scores


def main() -> None:
    folder = Path(os.environ.get("HYPERMODES_DATA", "")) / "clustering_gagolewski"
    if not folder.is_dir():
        sys.exit(f"HYPERMODES_DATA: expected a folder with clustering_gagolewski in it; {folder} is none")
    rows = []
    for name, points, references in read_sets(folder, int(sys.argv[1]) if len(sys.argv) > 1 else 1100):
        density = hm.cluster_points(points)
        groups = hm.cluster(hm.knn_hypergraph(points, int(np.ceil(np.log2(len(points))))))
        rows.append(
            [
                scores(density.assigned, references)[0],
                density.n_clusters,
                scores(groups.vertex_labels, references)[0],
                groups.n_clusters,
                max(int(reference.max()) for reference in references),
            ]
        )
        print(f"{name:28s} tree {rows[-1][0]:.2f} ({rows[-1][1]})  groups {rows[-1][2]:.2f} ({rows[-1][3]})")
    table = np.array(rows)
    print(f"mean ARI over {len(rows)} sets: tree {table[:, 0].mean():.3f}, groups {table[:, 2].mean():.3f}")
    print(f"exactly as many as labels: tree {(table[:, 1] == table[:, 4]).sum()}, "
          f"groups {(table[:, 3] == table[:, 4]).sum()}; "
          f"median of groups over labels {np.median(table[:, 3] / table[:, 4]):.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
