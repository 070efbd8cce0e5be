"""Data of all kinds with known groups, and data without any, for groups.py.

*plane*: the point sets of `clustering_gagolewski` with at most 12,000 points. *tables*: iris, wine and breast
cancer of scikit-learn, columns scaled to variance 1. *embeddings*: `high_dimensions`, and scikit-learn's
digits.
*affinities*: distances of Kimia's 99 silhouettes, of ETH-80 and of the 21 solids, as shapes.py makes them.
*hypergraphs*: those of `hypergraphs_labelled`, and planted ones. *nothing*: one cloud of points, and random
hypergraphs, by chance alone or with the vertices of real ones shuffled.
"""

import gzip
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

import hypermodes as hm

ROWS = 5000  # of an embedding
POINTS = 1000  # of a cloud without clusters


class Data(NamedTuple):
    """One set: what is clustered, and labelings of its items to compare with; 0 is no label."""

    name: str
    kind: str  # points, distances or hypergraph
    given: Any
    references: list[np.ndarray]

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self.given.n_vertices if self.kind == "hypergraph" else len(self.given))


def folder_of(name: str) -> Path:
    folder = Path(os.environ.get("HYPERMODES_DATA", "")) / name
    if not os.environ.get("HYPERMODES_DATA") or not folder.is_dir():
        sys.exit(f"HYPERMODES_DATA: expected a folder with {name} in it; {folder} is none")
    return folder


def numbered(labels: np.ndarray) -> np.ndarray:
    """Classes by the numbers 1, 2, … and so on."""
    return np.unique(labels, return_inverse=True)[1] + 1


# -- points ---------------------------------------------------------------------------------------------


def plane(most: int, **_: Any) -> Iterator[Data]:
    from quality import read_sets

    for name, points, references in read_sets(folder_of("clustering_gagolewski"), min(most, 12_000)):
        yield Data(name, "points", points, references)


def tables(most: int, **_: Any) -> Iterator[Data]:
    from sklearn.datasets import load_breast_cancer, load_iris, load_wine
    from sklearn.preprocessing import StandardScaler

    for name, load in (("iris", load_iris), ("wine", load_wine), ("breast cancer", load_breast_cancer)):
        points, classes = load(return_X_y=True)
        yield Data(name, "points", StandardScaler().fit_transform(points), [numbered(classes)])


def embeddings(most: int, **_: Any) -> Iterator[Data]:
    from sklearn.datasets import load_digits

    for path in sorted(folder_of("high_dimensions").glob("*.npz")):
        with np.load(path, allow_pickle=False) as file:
            yield _some(path.stem, file["X"], file["y"], min(most, ROWS))
    yield _some("digits", *load_digits(return_X_y=True), min(most, ROWS))


def _some(name: str, points: np.ndarray, classes: np.ndarray, most: int) -> Data:
    rows = np.arange(len(points))
    if len(rows) > most:
        rows = np.sort(np.random.default_rng(0).choice(len(rows), most, replace=False))
    return Data(name, "points", points[rows].astype(np.float32), [numbered(classes[rows])])


# -- affinities -----------------------------------------------------------------------------------------


def affinities(most: int, cache: Path, **_: Any) -> Iterator[Data]:
    from hypermodes.shapes.distances import shape_distances
    from shapes import SETS, contexts_of

    for name, level in (("kimia", "class"), ("eth", "category"), ("solids", "solid")):
        if name != "kimia" and most < 99:
            continue
        shapes = SETS[name]()
        distances = shape_distances(contexts_of(shapes.masks), cache=cache / name, progress=True)
        classes = numbered(shapes.levels[level])
        rows = np.arange(len(classes))
        if len(rows) > most:
            rows = np.sort(np.random.default_rng(0).choice(len(rows), most, replace=False))
        yield Data(name, "distances", distances[np.ix_(rows, rows)].astype(np.float64), [classes[rows]])


# -- hypergraphs ----------------------------------------------------------------------------------------


def read_labelled(folder: Path) -> Data:
    with gzip.open(folder / "hyperedges.txt.gz", "rt") as file:
        edges = [[int(v) for v in line.replace("\t", ",").split(",")] for line in file if line.strip()]
    with gzip.open(folder / "node-labels.txt.gz", "rt") as file:
        classes = np.array([int(line) for line in file if line.strip()])
    return Data(
        folder.name,
        "hypergraph",
        hm.Hypergraph.from_edges(edges, vertices=range(1, classes.size + 1)),
        [classes],
    )


def planted(
    name: str,
    n: int = 500,
    groups: int = 8,
    edges: int = 3000,
    sizes: tuple[int, ...] = (2, 3, 4, 5),
    strangers: float = 0.2,
    whole: bool = False,
    uneven: float = 0.0,
    skew: float = 0.0,
    seed: int = 0,
) -> Data:
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
    made = hm.Hypergraph.from_edges(lists, vertices=range(truth.size))
    return Data(name, "hypergraph", made, [truth + 1])


PLANTED: dict[str, dict[str, Any]] = {
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
}

CHANCE: dict[str, dict[str, Any]] = {
    "chance": {},
    "chance, skewed": {"skew": 0.6},
    "chance, sparse": {"edges": 700},
    "chance, large hyperedges": {"sizes": (20,), "edges": 300},
}


def real_hypergraphs(most: int) -> Iterator[Data]:
    for path in sorted(folder_of("hypergraphs_labelled").glob("*/hyperedges.txt.gz")):
        data = read_labelled(path.parent)
        if data.n <= most:
            yield data


def hypergraphs(most: int, **_: Any) -> Iterator[Data]:
    for data in real_hypergraphs(most):
        used = np.diff(data.given.incidence_by_vertex.indptr) > 0
        yield data._replace(references=[np.where(used, data.references[0], 0)])
    for name, options in PLANTED.items():
        if options.get("n", 500) <= most:
            data = planted(name, **options)
            used = np.diff(data.given.incidence_by_vertex.indptr) > 0
            yield data._replace(references=[np.where(used, data.references[0], 0)])


# -- nothing to be found --------------------------------------------------------------------------------


def gaussian(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(n, d))


def cube(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.random((n, d))


def sphere(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    points = rng.normal(size=(n, d))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def student(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """A multivariate t with three degrees of freedom: one cloud with far tails."""
    return rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)


CLOUDS: dict[str, tuple[Callable[[np.random.Generator, int, int], np.ndarray], tuple[int, ...]]] = {
    "Gaussian": (gaussian, (1, 2, 3, 5, 10, 20, 50)),
    "cube": (cube, (1, 2, 3, 5, 10, 20, 50)),
    "sphere": (sphere, (2, 3, 5, 10, 20, 50)),
    "Student t": (student, (1, 2, 3, 5, 10, 20, 50)),
}


def nothing(most: int, samples: int, **_: Any) -> Iterator[Data]:
    """Samples without clusters; those of one kind have the same name."""
    for name, (made, dimensions) in CLOUDS.items():
        for d in dimensions:
            for seed in range(samples):
                points = made(np.random.default_rng([seed, d]), min(most, POINTS), d)
                yield Data(f"{name}, {d} dimension{'s' * (d > 1)}", "points", points, [])
    for name, options in CHANCE.items():
        for seed in range(samples):
            yield planted(name, strangers=1.0, seed=seed, **options)._replace(references=[])
    for data in real_hypergraphs(most):
        for seed in range(samples):
            yield Data(f"{data.name}, shuffled", "hypergraph", shuffled(data.given, seed), [])


def shuffled(hypergraph: hm.Hypergraph, seed: int) -> hm.Hypergraph:
    """Sizes of hyperedges and degrees of vertices stay, who is in which does not (configuration model).

    Members that came twice to a hyperedge change places with others drawn at random; the few that still do
    after a hundred rounds are there once.
    """
    rng, incidence = np.random.default_rng(seed), hypergraph.incidence
    edge = np.repeat(np.arange(incidence.shape[1]), np.diff(incidence.indptr))
    member = rng.permutation(incidence.indices)
    for _ in range(100):
        order = np.lexsort((member, edge))
        twice = order[1:][(np.diff(edge[order]) == 0) & (np.diff(member[order]) == 0)]
        if twice.size == 0:
            break
        both = np.unique(np.concatenate((twice, rng.integers(0, member.size, twice.size))))
        member[both] = member[rng.permutation(both)]
    pairs = np.unique(np.column_stack((edge, member)), axis=0)
    lists = np.split(pairs[:, 1], np.flatnonzero(np.diff(pairs[:, 0])) + 1)
    return hm.Hypergraph.from_edges([one.tolist() for one in lists], vertices=range(incidence.shape[0]))


def main_part(data: Data) -> np.ndarray:
    """Items that hang together: all points, or the largest connected part of a hypergraph.

    That separate parts are separate clusters is nothing to be found fault with.
    """
    if data.kind != "hypergraph":
        return np.arange(data.n)
    incidence = data.given.incidence
    both = sp.block_array([[None, incidence], [incidence.T, None]], format="csr")
    part = connected_components(both, directed=False)[1][: data.n]
    return np.flatnonzero(part == np.bincount(part).argmax())


FAMILIES: dict[str, Callable[..., Iterator[Data]]] = {
    f.__name__: f for f in (plane, tables, embeddings, affinities, hypergraphs, nothing)
}
