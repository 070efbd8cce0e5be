"""How good the groups of hypergraphs are: labelled vertices, real and planted.

    python benchmarks/hypergraphs.py                    # every method on everything; prints and saves tables
    python benchmarks/hypergraphs.py ours leiden        # some methods
    python benchmarks/hypergraphs.py --planted          # no real data

Real hypergraphs are all those in `hypergraphs_labelled` in the folder HYPERMODES_DATA points at. NMI and ARI
compare the groups of vertices that are in some hyperedge with their labels. Leiden (leidenalg, GPL, used if
it is installed) and Louvain (networkx) maximise modularity on the clique expansion, as it is and with every
pair divided by |e| - 1; spectral clustering of the latter is told the number of labels. Seeds are fixed to 0.
"""

import argparse
import csv
import gzip
import importlib.util
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import hypermodes as hm

RESULTS = Path(__file__).parent / "results"


def read_labelled(folder: Path) -> tuple[hm.Hypergraph, np.ndarray]:
    with gzip.open(folder / "hyperedges.txt.gz", "rt") as file:
        edges = [[int(v) for v in line.replace("\t", ",").split(",")] for line in file if line.strip()]
    with gzip.open(folder / "node-labels.txt.gz", "rt") as file:
        truth = np.array([int(line) for line in file if line.strip()])
    return hm.Hypergraph.from_edges(edges, vertices=range(1, truth.size + 1)), truth


def planted(
    n: int = 500,
    groups: int = 8,
    edges: int = 3000,
    sizes: tuple[int, ...] = (2, 3, 4, 5),
    strangers: float = 0.2,
    whole: bool = False,
    uneven: float = 0.0,
    skew: float = 0.0,
    seed: int = 0,
) -> tuple[hm.Hypergraph, np.ndarray]:
    """Hyperedges with a home group: each member is a stranger, or (``whole``) each hyperedge all strangers.

    ``uneven`` is the exponent of group sizes by rank, ``skew`` the tail of vertex degrees. With strangers=1
    there are no groups.
    """
    rng = np.random.default_rng(seed)
    share = np.arange(1.0, groups + 1) ** -uneven
    truth = np.repeat(np.arange(groups), np.maximum(3, np.round(n * share / share.sum()).astype(int)))
    pull = (1 + rng.pareto(1 / skew, truth.size)).clip(max=50) if skew else np.ones(truth.size)
    pull /= pull.sum()
    home_pull = np.bincount(truth, weights=pull)
    at_home = [np.flatnonzero(truth == g) for g in range(groups)]
    lists = []
    for _ in range(edges):
        size, home = int(rng.choice(sizes)), int(rng.choice(groups, p=home_pull))
        own = size * (rng.random() > strangers) if whole else rng.binomial(size, 1 - strangers)
        own = min(own, at_home[home].size)
        members = rng.choice(at_home[home], own, replace=False, p=pull[at_home[home]] / home_pull[home])
        lists.append(np.union1d(members, rng.choice(truth.size, size - own, p=pull)).astype(int).tolist())
    return hm.Hypergraph.from_edges(lists, vertices=range(truth.size)), truth


PLANTED = {
    "8 groups": {},
    "40 % strangers": {"strangers": 0.4},
    "60 % strangers": {"strangers": 0.6},
    "70 % of hyperedges by chance": {"strangers": 0.7, "whole": True},
    "uneven groups": {"strangers": 0.3, "uneven": 1.0},
    "skewed degrees": {"strangers": 0.3, "skew": 0.6},
    "uneven, skewed, sparse": {"strangers": 0.3, "uneven": 1.0, "skew": 0.6, "edges": 1200},
    "pairs": {"sizes": (2,), "strangers": 0.3},
    "pairs, sparse": {"sizes": (2,), "edges": 1000},
    "large hyperedges": {"sizes": (10, 20, 30), "edges": 600, "strangers": 0.5},
    "sizes 2 to 40": {"sizes": (2, 2, 2, 3, 5, 40), "strangers": 0.4},
    "60 groups": {"n": 2000, "groups": 60, "edges": 8000, "strangers": 0.3},
    "20 groups, sparse, skewed": {"n": 4000, "groups": 20, "edges": 4000, "skew": 0.6},
    "chance": {"strangers": 1.0},
    "chance, skewed": {"strangers": 1.0, "skew": 0.6},
    "chance, sparse": {"strangers": 1.0, "edges": 700},
    "chance, large hyperedges": {"strangers": 1.0, "sizes": (20,), "edges": 300},
}


def cliques(hypergraph: hm.Hypergraph, normalised: bool) -> sp.csr_array:
    """Ties of all pairs: one a hyperedge they share, or 1/(|e| - 1)."""
    size = hypergraph.edge_sizes
    weight = 1 / np.maximum(size - 1, 1) if normalised else np.ones(size.size)
    ties = sp.csr_array((hypergraph.incidence * weight[None, :]) @ hypergraph.incidence.T)
    ties = sp.csr_array(ties - sp.diags_array(ties.diagonal()))
    ties.eliminate_zeros()
    return ties


def ours(hypergraph: hm.Hypergraph, k: int) -> np.ndarray:
    return hm.cluster(hypergraph).vertex_labels


def leiden(hypergraph: hm.Hypergraph, k: int, normalised: bool = False) -> np.ndarray:
    import igraph
    import leidenalg

    pairs = sp.triu(cliques(hypergraph, normalised)).tocoo()
    graph = igraph.Graph(hypergraph.n_vertices, np.column_stack((pairs.row, pairs.col)))
    found = leidenalg.find_partition(
        graph, leidenalg.ModularityVertexPartition, weights=pairs.data.tolist(), seed=0, n_iterations=-1
    )
    return np.array(found.membership)


def leiden_normalised(hypergraph: hm.Hypergraph, k: int) -> np.ndarray:
    return leiden(hypergraph, k, normalised=True)


def louvain(hypergraph: hm.Hypergraph, k: int, normalised: bool = False) -> np.ndarray:
    import networkx as nx

    graph = nx.from_scipy_sparse_array(cliques(hypergraph, normalised))
    labels = np.full(hypergraph.n_vertices, -1)
    for g, members in enumerate(nx.community.louvain_communities(graph, seed=0)):
        labels[list(members)] = g
    return labels


def louvain_normalised(hypergraph: hm.Hypergraph, k: int) -> np.ndarray:
    return louvain(hypergraph, k, normalised=True)


def spectral_told_k(hypergraph: hm.Hypergraph, k: int) -> np.ndarray:
    from sklearn.cluster import SpectralClustering

    used = np.flatnonzero(np.diff(hypergraph.incidence_by_vertex.indptr))
    ties = sp.csr_matrix(cliques(hypergraph, True)[used][:, used])  # scikit-learn wants 32-bit indices
    ties.indices, ties.indptr = ties.indices.astype(np.int32), ties.indptr.astype(np.int32)
    labels = np.full(hypergraph.n_vertices, -1)
    labels[used] = SpectralClustering(k, affinity="precomputed", random_state=0).fit_predict(ties)
    return labels


METHODS: dict[str, Callable[[hm.Hypergraph, int], np.ndarray]] = {
    f.__name__: f
    for f in (ours, leiden, leiden_normalised, louvain, louvain_normalised, spectral_told_k)
}  # fmt: skip
NEEDS = {name: "leidenalg" if "leiden" in name else "networkx" for name in METHODS if "l" in name[:2]}


def hypergraphs(real: bool) -> Iterator[tuple[str, hm.Hypergraph, np.ndarray]]:
    if real:
        folder = Path(os.environ.get("HYPERMODES_DATA", "")) / "hypergraphs_labelled"
        if not folder.is_dir():
            sys.exit(f"HYPERMODES_DATA: expected a folder with hypergraphs_labelled in it; {folder} is none")
        for path in sorted(folder.glob("*/hyperedges.txt.gz")):
            yield path.parent.name, *read_labelled(path.parent)
    for name, options in PLANTED.items():
        yield name, *planted(**options)


def main() -> None:
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("methods", nargs="*", default=[], help=f"some of {', '.join(METHODS)}")
    parser.add_argument("--planted", action="store_true", help="planted hypergraphs only")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.methods if name not in METHODS]
    if unknown:
        sys.exit(f"methods: expected some of {', '.join(METHODS)}; got {', '.join(unknown)}")
    wanted = arguments.methods or list(METHODS)
    names = [name for name in wanted if name not in NEEDS or importlib.util.find_spec(NEEDS[name])]
    for name in sorted(set(wanted) - set(names)):
        print(f"{name}: left out, {NEEDS[name]} is not installed", file=sys.stderr)
    warnings.simplefilter("ignore")  # peers warn of graphs that are not connected
    ours(planted(n=60, edges=200)[0], 0)  # compile
    rows = []
    lines = [
        "NMI / ARI (groups; seconds).",
        "",
        f"| hypergraph | labels | {' | '.join(name.replace('_', ' ') for name in names)} |",
        f"|---|---|{'---|' * len(names)}",
    ]
    for name, hypergraph, truth in hypergraphs(not arguments.planted):
        used = np.diff(hypergraph.incidence_by_vertex.indptr) > 0
        k, cells = len(set(truth.tolist())), []
        for method in names:
            begin = time.perf_counter()
            if method == "spectral_told_k" and hypergraph.n_vertices > 20_000:
                cells.append("too large")
                continue
            labels = METHODS[method](hypergraph, k)[used]
            seconds = time.perf_counter() - begin
            nmi = normalized_mutual_info_score(truth[used], labels)
            ari = adjusted_rand_score(truth[used], labels)
            rows.append([name, method, nmi, ari, len(set(labels.tolist())), seconds])
            cells.append(f"{nmi:.3f} / {ari:.3f} ({rows[-1][4]}; {seconds:.1f})")
        chance = PLANTED.get(name, {}).get("strangers") == 1.0
        lines.append(f"| {name} | {'none' if chance else k} | {' | '.join(cells)} |")
        print(lines[-1], file=sys.stderr, flush=True)
    RESULTS.mkdir(exist_ok=True)
    with open(RESULTS / "hypergraphs.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["hypergraph", "method", "nmi", "ari", "groups", "seconds"])
        writer.writerows(rows)
    (RESULTS / "hypergraphs.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
