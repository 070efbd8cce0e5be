"""Hypergraphs with groups that are known: each hyperedge has a home, and a share of strangers."""

import numpy as np

import hypermodes as hm


def planted(n=120, groups=4, edges=600, sizes=(2, 3, 4), strangers=0.2, skew=0.0, seed=0):
    """A hypergraph, and the group of each vertex. ``strangers=1`` is chance alone."""
    rng = np.random.default_rng(seed)
    truth = np.sort(np.arange(n) % groups)
    pull = (1 + rng.pareto(1 / skew, n)).clip(max=50) if skew else np.ones(n)
    pull /= pull.sum()
    home_pull = np.bincount(truth, weights=pull)
    lists = []
    for _ in range(edges):
        size, home = rng.choice(sizes), rng.choice(groups, p=home_pull)
        at_home = np.flatnonzero(truth == home)
        own = rng.binomial(size, 1 - strangers)
        members = rng.choice(at_home, min(own, at_home.size), False, pull[at_home] / home_pull[home])
        lists.append(np.union1d(members, rng.choice(n, size - own, p=pull)).astype(int).tolist())
    return hm.Hypergraph.from_edges(lists, vertices=range(n)), truth
