"""Ties of vertices, against slow and literal ones."""

import numpy as np
import pytest
import scipy.sparse as sp

from hypermodes.pair_ties import PARTNERS, pair_ties


def test_ties_are_those_of_all_pairs():
    incidence = sp.random_array((9, 12), density=0.4, rng=np.random.default_rng(1), format="csc")
    weights = np.random.default_rng(2).uniform(1, 3, 12)
    slow = np.zeros((9, 9))
    dense = incidence.toarray()
    for e in range(12):
        members = np.flatnonzero(dense[:, e])
        for u in members:
            for v in members:
                if u != v:
                    h = dense[:, e]
                    slow[u, v] += weights[e] * h[u] * h[v] / (h.sum() * (1 - 1 / members.size))
    assert np.allclose(pair_ties(incidence, weights).toarray(), slow)


@pytest.mark.parametrize("size", [PARTNERS + 1, PARTNERS + 2, 35, 300])
def test_large_hyperedges_keep_the_degrees_of_their_members(size):
    ties = pair_ties(sp.csc_array(np.ones((size, 1))), np.array([2.0]))
    assert np.allclose(ties.sum(axis=1), 2.0)
    assert np.diff(ties.indptr).max() <= PARTNERS
    assert abs(ties - ties.T).max() < 1e-12
    assert not ties.diagonal().any()


def test_partners_in_a_large_hyperedge_are_as_if_drawn_at_random():
    """The second eigenvalue of a random graph of degree c is 2√(c - 1) (Friedman, 2008)."""
    ties = pair_ties(sp.csc_array(np.ones((1500, 1))), np.array([1.0])).toarray()
    values = np.linalg.eigvalsh(ties)
    assert values[-1] == pytest.approx(1)
    assert max(values[-2], -values[0]) < 1.1 * 2 * (PARTNERS - 1) ** 0.5 / PARTNERS
