"""Small matching problems for the tests, and slow truths about them."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from hypermodes.construct.correspondences import Candidates, Features, candidate_pairs, pairwise_affinity
from strategies import seeds


def matchings(candidates):
    """All sets of candidates that are one-to-one, by going through all of them."""
    pairs = candidates.pairs.tolist()
    for size in range(min(candidates.n_left, candidates.n_right) + 1):
        for chosen in combinations(range(len(pairs)), size):
            lefts, rights = {pairs[c][0] for c in chosen}, {pairs[c][1] for c in chosen}
            if len(lefts) == len(rights) == size:
                yield np.array(chosen, dtype=int)


def one_to_one(pairs):
    return len(set(pairs[:, 0].tolist())) == len(set(pairs[:, 1].tolist())) == len(pairs)


@st.composite
def association_graphs(draw, max_side=4, full=False):
    """Candidates between two small sides; a generic affinity with 0 for conflicts and a quarter more."""
    n_left, n_right = draw(st.integers(2, max_side)), draw(st.integers(2, max_side))
    rng = np.random.default_rng(draw(seeds))
    pairs = np.argwhere(rng.uniform(size=(n_left, n_right)) < (1.1 if full else 0.8))
    if len(pairs) == 0:
        pairs = np.array([[0, 0]])
    candidates = Candidates(pairs, np.ones(len(pairs)), n_left, n_right)
    return candidates, generic_affinity(candidates, rng)


def generic_affinity(candidates, rng):
    m = len(candidates.pairs)
    values = np.triu(rng.uniform(0.1, 1.0, (m, m)) * (rng.uniform(size=(m, m)) < 0.75), 1)
    values += values.T
    values[candidates.left[:, None] == candidates.left] = 0
    values[candidates.right[:, None] == candidates.right] = 0
    return values


def moved_points(n=8, extra=0, noise=0.01, seed=0):
    """Points, the same points shifted, disturbed and shuffled among some others; the true pairs."""
    rng = np.random.default_rng(seed)
    left = rng.uniform(size=(n, 2))
    right = np.vstack((left + noise * rng.normal(size=(n, 2)), rng.uniform(size=(extra, 2)))) * 3 + 5
    order = rng.permutation(n + extra)
    truth = np.column_stack((np.arange(n), np.argsort(order)[:n]))
    return Features(left), Features(right[order]), truth


def problem_of(left, right):
    candidates = candidate_pairs(left, right)
    return candidates, pairwise_affinity(left, right, candidates)
