"""Hypothesis strategies: hypergraphs, affinities and points of the simplex, all of harmless magnitude.

Magnitudes lie in 1e-3 … 1e3 and there are no subnormals, so that a test may derive its tolerance from
rounding alone.
"""

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from hypermodes import HyperedgeAffinity, Hypergraph, MatrixAffinity
from hypermodes.simplex import Point

MAX_EDGES = 10
MAX_VERTICES = 10

magnitudes = st.floats(1e-3, 1e3, allow_subnormal=False)
probabilities = st.floats(1e-3, 1.0, allow_subnormal=False)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def vertex_sets(draw, max_edges=MAX_EDGES):
    """A list of hyperedges as lists of vertices; each hyperedge has one vertex or more."""
    n_vertices = draw(st.integers(1, MAX_VERTICES))
    edge = st.lists(st.integers(0, n_vertices - 1), min_size=1, max_size=n_vertices, unique=True)
    return draw(st.lists(edge, min_size=1, max_size=max_edges))


@st.composite
def hypergraphs(draw):
    """Soft or hard incidence, weighted or not; duplicates and isolated hyperedges happen."""
    edges = draw(vertex_sets())
    if draw(st.booleans()):
        edges = [{v: draw(probabilities) for v in edge} for edge in edges]
    weights = draw(st.none() | st.lists(magnitudes, min_size=len(edges), max_size=len(edges)))
    return Hypergraph.from_edges(edges, weights=weights)


@st.composite
def generic_hypergraphs(draw, max_edges=MAX_EDGES):
    """Hypergraphs without coincidences: their modes are strict and no two payoffs are equal.

    Hypothesis likes round numbers, and round numbers tie. So the numbers come from a generator whose
    seed Hypothesis chooses: log-uniform weights, uniform probabilities. With r = w/δ in general position,
    (Mp)_j = r_j Σ_k |e_j ∩ e_k| p_k + … depends on r_j for every j off the support while F does not.
    """
    edges = draw(vertex_sets(max_edges))
    rng = np.random.default_rng(draw(seeds))
    soft = [{v: rng.uniform(0.05, 1.0) for v in edge} for edge in edges]
    return Hypergraph.from_edges(soft, weights=10 ** rng.uniform(-1.5, 1.5, len(edges)))


@st.composite
def tied_hypergraphs(draw):
    """Unit weights, hard incidence, hyperedges of one size over few vertices: integer overlaps tie."""
    size, n_vertices = draw(st.sampled_from([(1, 2), (2, 4), (2, 5), (3, 5), (3, 6)]))
    edge = st.lists(st.integers(0, n_vertices - 1), min_size=size, max_size=size, unique=True)
    return Hypergraph.from_edges(draw(st.lists(edge, min_size=2, max_size=8)))


@st.composite
def symmetric_matrices(draw, max_n=8):
    """Symmetric, non-negative, zero diagonal; about a third of the pairs have nothing in common."""
    n = draw(st.integers(1, max_n))
    entries = st.one_of(st.just(0.0), magnitudes, magnitudes)
    upper = draw(st.lists(entries, min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n, 1)] = upper
    return matrix + matrix.T


@st.composite
def affinities(draw):
    """An affinity of each kind: of hyperedges, of a dense matrix, of a sparse one."""
    kind = draw(st.sampled_from(["hyperedges", "dense", "sparse"]))
    if kind == "hyperedges":
        return HyperedgeAffinity(draw(hypergraphs()))
    matrix = draw(symmetric_matrices())
    return MatrixAffinity(matrix if kind == "dense" else sp.csr_array(matrix))


@st.composite
def simplex_points(draw, n, positive=False):
    """A distribution over n hyperedges; exact zeros happen unless it must be positive."""
    share = magnitudes if positive else st.one_of(st.just(0.0), magnitudes)
    shares = np.array(draw(st.lists(share, min_size=n, max_size=n)))
    if not shares.any():
        shares[draw(st.integers(0, n - 1))] = 1.0
    return shares / shares.sum()


@st.composite
def points(draw, kind=None, positive=False):
    """An affinity and a point of its simplex with the payoff that belongs to it."""
    affinity = draw(affinities() if kind is None else kind)
    p = draw(simplex_points(affinity.n, positive))
    return affinity, Point(p, affinity.matvec(p))


@st.composite
def uniform_hypergraphs(draw, max_vertices=7, sizes=(2, 3, 4)):
    """k-uniform hypergraphs in general position: a few vertices, some of them in no hyperedge."""
    k = draw(st.sampled_from(sizes))
    n_vertices = draw(st.integers(k, max(k, max_vertices)))
    members = st.lists(st.integers(0, n_vertices - 1), min_size=k, max_size=k, unique=True)
    edges = draw(st.lists(members.map(sorted).map(tuple), min_size=1, max_size=12, unique=True))
    rng = np.random.default_rng(draw(seeds))
    return Hypergraph.from_edges(edges, weights=rng.uniform(0.1, 1.0, len(edges)), vertices=range(n_vertices))


@st.composite
def generic_matrices(draw, max_n=7):
    """Symmetric matrices in general position, entries 0 (about a quarter) or from 0.1 to 1."""
    n = draw(st.integers(2, max_n))
    rng = np.random.default_rng(draw(seeds))
    upper = np.triu(rng.uniform(0.1, 1.0, (n, n)) * (rng.uniform(size=(n, n)) < 0.75), 1)
    return upper + upper.T


@st.composite
def linked_points(draw, max_n=9):
    """Points joined by links of levels, all of them: (n, list of links, masses); ties abound.

    Levels and masses are small multiples of 1/8 and 1/4, so that sums and products of them are exact.
    """
    n = draw(st.integers(1, max_n))
    level = st.integers(1, draw(st.sampled_from([2, 8, 64]))).map(lambda x: x / 8)
    links = [(draw(st.integers(0, i - 1)), i, draw(level)) for i in range(1, n)]
    if n > 1:
        pair = st.lists(st.integers(0, n - 1), min_size=2, max_size=2, unique=True)
        links += [(*ends, draw(level)) for ends in draw(st.lists(pair, max_size=2 * n))]
    links = draw(st.permutations(links))
    mass = st.sampled_from([1.0, 1.0, 0.25, 2.0, 5.0]) if draw(st.booleans()) else st.just(1.0)
    return n, links, draw(st.lists(mass, min_size=n, max_size=n))


# -- files --------------------------------------------------------------------------------------------

strange_names = st.sampled_from(["0", "1", "<b>&", "a,b", 'q"t', "é", "10", " pad ", ""])
names = st.text(max_size=4) | st.integers(-3, 12) | strange_names
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-1e9, 1e9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
keys = st.text(max_size=3) | st.sampled_from(["weight", "hif", "label"])
attributes = st.dictionaries(keys, json_values, max_size=3)


def _records(draw, key, labels, weights):
    optional = {"weight": weights, "attrs": attributes}
    return [
        {key: label, **{k: draw(v) for k, v in optional.items() if draw(st.booleans())}} for label in labels
    ]


@st.composite
def hif_documents(draw, largest=5.0):
    """HIF documents without repeated records, whose incidence weights go up to `largest`."""
    edges = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    nodes = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    pairs = st.tuples(st.sampled_from(edges), st.sampled_from(nodes))
    positive = st.floats(1e-3, largest, allow_subnormal=False) | st.just(1)
    incidences = [
        {"edge": edge, "node": node, **record}
        for edge, node in draw(st.lists(pairs, min_size=1, max_size=12, unique=True))
        for record in [
            {k: draw(v) for k, v in (("weight", positive), ("attrs", attributes)) if draw(st.booleans())}
        ]
    ]
    document = {"incidences": incidences}
    if draw(st.booleans()):
        document["nodes"] = _records(draw, "node", draw(st.permutations(nodes)), st.floats(-5, 5))
    if draw(st.booleans()):
        document["edges"] = _records(draw, "edge", draw(st.permutations(edges)), magnitudes | st.just(1))
    if draw(st.booleans()):
        document["metadata"] = draw(attributes)
    if draw(st.booleans()):
        document["network-type"] = draw(st.sampled_from(["undirected", "asc", "directed"]))
    if document.get("network-type") == "directed":
        for record in incidences:
            record["direction"] = draw(st.sampled_from(["head", "tail"]))
    return document
