"""Results to report on: small, and each of another kind."""

from dataclasses import fields

import hypermodes as hm
from hypermodes.cluster import HypergraphClusters
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
    return hm.cluster(points), points


class LastWithoutMode(HypergraphClusters):
    """Clusters the last of which has no mode."""

    def modes(self, **how):
        return (*super().modes(**how)[:-1], None)


def communities(n_groups=3):
    """Clusters of people who meet in groups, the last without a mode."""
    if not n_groups:
        return hm.cluster(hm.Hypergraph.from_edges([[1, 2], [3, 4]]))
    found = hm.cluster(meetings(n_groups), n_groups)
    return LastWithoutMode(**{field.name: getattr(found, field.name) for field in fields(found)})
