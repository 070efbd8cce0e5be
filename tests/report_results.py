"""Results to report on: small, and each of another kind."""

from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

import hypermodes as hm
from hypermodes.datasets import five_crescents

HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    '"><svg onload=window.hacked=1>',
    "javascript:window.hacked=1",
    "\u202eturned\u2066 round\u2069",
    "lines\u2028and\u2029paragraphs\nand\x00nothing",
    "<!--<script>",
    "-->",
    "]]>",
    "{{data}}",
    "$& \\1 ${1} `x`",
    "\ud800 alone",
    "&lt;b&gt;",
)


def meetings(n_groups=6, size=5):
    """People who meet in groups, neighbouring groups sharing one of them."""
    edges = {}
    for k in range(n_groups):
        people = [f"person {k * (size - 1) + i}" for i in range(size)]
        for i in range(size):
            edges[f"meeting {k}.{i}"] = [p for j, p in enumerate(people) if j != i]
    return hm.Hypergraph.from_edges(edges)


def hostile_modes():
    names = HOSTILE
    return hm.find_modes(
        hm.Hypergraph.from_edges({f"{a}|{b}": [a, b, "plain"] for a in names for b in names if a < b})
    )


def crescents(n=200):
    points = five_crescents(n, outliers=0.2, noise=1.0, rng=1).points
    return hm.cluster_points(points), points


class StubGroups(SimpleNamespace):
    """What `report` asks of groups, made by hand."""


def groups(n_groups=3, tree=False):
    hypergraph = meetings(n_groups or 1)
    if not n_groups:
        none = {"edge_labels": np.full(5, -1), "vertex_labels": np.full(5, -1), "leaves": np.full(5, -1)}
        return StubGroups(
            hypergraph=hypergraph,
            n_clusters=0,
            memberships=sp.csr_array((5, 0)),
            modes=lambda **_: (),
            tree=None,
            **none,
        )
    edge_labels = np.repeat(np.arange(n_groups), 5)
    touch = sp.csr_array(hypergraph.incidence @ sp.csc_array(np.eye(n_groups)[edge_labels]))
    total = np.asarray(touch.sum(axis=1))
    memberships = sp.csr_array(touch.multiply(1 / total[:, None]))
    modes = hm.find_modes(hypergraph)
    cores = tuple(modes.mode_of(hypergraph.labels[5 * k]) for k in range(n_groups))
    grown = None
    if tree:
        from hypermodes.tree import Links

        chain = np.arange(n_groups - 1)
        grown = hm.ModeTree.grow(Links(chain, chain + 1, 1.0 / (chain + 1)), np.ones(n_groups))
    labels = memberships.toarray().argmax(axis=1)
    return StubGroups(
        hypergraph=hypergraph, n_clusters=n_groups, edge_labels=edge_labels, vertex_labels=labels,
        memberships=memberships, modes=lambda **_: (*cores[:-1], None), tree=grown, leaves=labels,
    )  # fmt: skip
