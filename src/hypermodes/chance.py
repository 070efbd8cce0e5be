"""What groups cost: as much as a hypergraph shuffled by chance would pay for them.

A search finds groups in anything. In a copy whose members are shuffled, every vertex keeping its number of
hyperedges and every hyperedge its size, whatever it finds is chance. The price of saying who is in which
group is the least at which nothing pays there,

    price = max over groups of (log-likelihood gained) / (words),

plus one standard error. Where data are sparse and chance explains much, groups are dear; where ties count for
less than they are worth, they are cheap.
"""

import numpy as np
import scipy.sparse as sp

from hypermodes.homes import Homes, climb, judged, standard_error, words
from hypermodes.threads import in_threads
from hypermodes.ties import Ties, pair_ties

STARTS = (0.03, 0.1, 0.4)  # shares of ties at home to begin with: chance has few
REPAIRS = 64  # rounds of swapping members that are in a hyperedge twice


def price(part: Ties, n_jobs: int | None = 1) -> float:
    """The price of groups of a part: what its shuffled copy would pay, and one standard error."""
    copies = _copies(part.weights)
    every = np.repeat(np.arange(copies.size), copies)
    copy = shuffled(part.incidence[:, every], seed=0)
    matrix = pair_ties(copy, (part.weights / copies)[every])
    # Members that could not be made distinct may leave a vertex alone.
    kept = np.flatnonzero(np.asarray(matrix.sum(axis=1)).ravel() > 0)
    if kept.size < matrix.shape[0]:
        matrix = matrix[kept][:, kept]
    cost, dearest = 0.0, None

    def search(starts: list[tuple[np.ndarray, float]], cost: float) -> Homes:
        found = in_threads(n_jobs, lambda start: climb(matrix, *start, cost=cost), starts)
        return max(found, key=lambda homes: round(homes.evidence, 6))

    alone = np.arange(kept.size)
    found = search([(alone, share) for share in STARTS], 0.0)
    while found.n_groups > 1:  # Dinkelbach's way to the largest ratio: each one is the next price
        free = judged(matrix, found.labels, cost=0.0)
        paid = free.evidence / words(np.bincount(found.labels))
        if paid <= cost * (1 + 1e-3):
            break
        cost, dearest = paid, free
        found = search([(found.labels, free.share), (alone, free.share)], cost)
    if dearest is None:
        return 0.0
    return cost + standard_error(matrix, dearest) / words(np.bincount(dearest.labels))


def _copies(weights: np.ndarray) -> np.ndarray:
    """How many hyperedges of the least weight each stands for: they are shuffled on their own.

    There are not many more of them than five times the hyperedges, whatever the weights.
    """
    unit = max(weights.min(), weights.sum() / (4 * weights.size))
    return np.maximum(1, np.round(weights / unit)).astype(np.int64)


def shuffled(incidence: sp.csc_array, seed: int) -> sp.csc_array:
    """A copy with the same degrees and sizes, and nothing else; members are distinct where that can be."""
    rng = np.random.default_rng(seed)
    n, size = incidence.shape[0], np.diff(incidence.indptr)
    edge = np.repeat(np.arange(size.size, dtype=np.int64), size)
    vertex = rng.permutation(incidence.indices).astype(np.int64)
    for _ in range(REPAIRS):
        key = edge * n + vertex
        order = np.argsort(key, kind="stable")
        twice = order[1:][key[order[1:]] == key[order[:-1]]]
        if twice.size == 0:
            break
        for a, b in zip(twice.tolist(), rng.integers(0, vertex.size, twice.size).tolist(), strict=True):
            vertex[a], vertex[b] = vertex[b], vertex[a]
    copy = sp.csc_array((incidence.data, vertex, incidence.indptr), shape=incidence.shape)
    copy.sum_duplicates()
    copy.sort_indices()
    return copy
