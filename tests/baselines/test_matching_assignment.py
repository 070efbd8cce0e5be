"""From scores to one-to-one pairs: against all matchings there are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypermodes.baselines.matching.assignment import Assignment, best_assignment, greedy_assignment
from hypermodes.construct.correspondences import Candidates
from matching_cases import association_graphs, matchings, one_to_one
from strategies import seeds


@given(case=association_graphs(), seed=seeds)
def test_no_matching_has_a_larger_total(case, seed):
    candidates, _ = case
    scores = np.random.default_rng(seed).normal(size=len(candidates))
    chosen = best_assignment(candidates, scores)
    assert one_to_one(candidates.pairs[chosen])
    assert (scores[chosen] > 0).all()
    best = max(scores[other].sum() for other in matchings(candidates))
    assert scores[chosen].sum() == pytest.approx(best)


@given(case=association_graphs(), seed=seeds)
def test_greedy_leaves_no_positive_candidate_that_a_stronger_one_does_not_exclude(case, seed):
    candidates, _ = case
    scores = np.random.default_rng(seed).normal(size=len(candidates))
    chosen = greedy_assignment(candidates, scores)
    assert one_to_one(candidates.pairs[chosen])
    for c in set(np.flatnonzero(scores > 0)) - set(chosen.tolist()):
        rivals = [d for d in chosen if (candidates.pairs[c] == candidates.pairs[d]).any()]
        assert max(scores[rivals]) > scores[c]


@given(case=association_graphs(), n=st.integers(0, 5))
def test_greedy_ends_after_the_matches_wanted(case, n):
    candidates, _ = case
    scores = np.arange(1.0, len(candidates) + 1)
    all_of_them = greedy_assignment(candidates, scores)
    some = greedy_assignment(candidates, scores, n)
    assert len(some) == min(n, len(all_of_them))
    assert set(some) <= set(all_of_them)


def test_an_assignment_prints_itself():
    candidates = Candidates(np.array([[0, 1], [1, 0]]), np.ones(2), 2, 2)
    answer = Assignment.of(candidates, np.ones(2), np.array([1, 0]), 0.5, 3)
    assert repr(answer) == "Assignment(2 pairs, value 0.5, 3 iterations)"
    assert answer.pairs.tolist() == [[0, 1], [1, 0]]
