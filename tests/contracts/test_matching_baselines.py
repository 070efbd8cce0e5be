"""What every matching baseline promises: one-to-one pairs, and nothing read off the order of things."""

import numpy as np
import pytest
import scipy.sparse as sp

from hypermodes.baselines.matching.clipper import clipper, clipper_ipfp
from hypermodes.baselines.matching.graph_shift import graph_shift_ipfp, graph_shift_matching
from hypermodes.baselines.matching.ipfp import ipfp, spectral_ipfp
from hypermodes.baselines.matching.probabilistic import probabilistic_matching
from hypermodes.baselines.matching.rrwm import rrwm
from hypermodes.baselines.matching.spectral import spectral_matching
from hypermodes.baselines.matching.tensor import tensor_matching
from hypermodes.baselines.matching.triples import triangle_triples
from hypermodes.construct.correspondences import Candidates
from matching_cases import moved_points, one_to_one, problem_of

PAIRWISE = [
    spectral_matching, ipfp, spectral_ipfp, rrwm, graph_shift_matching, graph_shift_ipfp, clipper,
    clipper_ipfp, probabilistic_matching,
]  # fmt: skip
PARTIAL = [graph_shift_matching, clipper]  # they answer with what they stand behind, and no more
pairwise = pytest.mark.parametrize("method", PAIRWISE, ids=lambda method: method.__name__)


def pair_set(pairs):
    return set(map(tuple, np.asarray(pairs).tolist()))


@pairwise
def test_points_that_moved_are_found_again(method):
    left, right, truth = moved_points(8)
    answer = method(*problem_of(left, right))
    assert one_to_one(answer.pairs)
    assert pair_set(answer.pairs) <= pair_set(truth)
    assert len(answer.pairs) >= (4 if method in PARTIAL else 8)
    assert (answer.scores >= 0).all()


@pairwise
def test_the_order_of_candidates_plays_no_part(method):
    left, right, _ = moved_points(7, extra=5, noise=0.03, seed=1)
    candidates, matrix = problem_of(left, right)
    order = np.random.default_rng(0).permutation(len(candidates))
    shuffled = Candidates(
        candidates.pairs[order], candidates.similarity[order], candidates.n_left, candidates.n_right
    )
    one, other = method(candidates, matrix), method(shuffled, matrix[order][:, order])
    assert pair_set(one.pairs) == pair_set(other.pairs)
    assert other.scores == pytest.approx(one.scores[order], abs=1e-4)


@pairwise
def test_the_order_of_points_plays_no_part(method):
    left, right, _ = moved_points(7, extra=5, noise=0.03, seed=2)
    candidates, matrix = problem_of(left, right)
    rng = np.random.default_rng(1)
    here, there = rng.permutation(7), rng.permutation(12)
    renamed = np.column_stack((here[candidates.left], there[candidates.right]))
    one = method(candidates, matrix)
    other = method(Candidates(renamed, candidates.similarity, 7, 12), matrix)
    assert {(here[i], there[j]) for i, j in one.pairs} == pair_set(other.pairs)


# Graph shift starts from a candidate of each left point.
@pytest.mark.parametrize(
    "method", [m for m in PAIRWISE if "graph" not in m.__name__], ids=lambda m: m.__name__
)
def test_swapping_the_sides_swaps_the_pairs(method):
    left, right, _ = moved_points(7, extra=5, noise=0.03, seed=3)
    candidates, matrix = problem_of(left, right)
    swapped = Candidates(candidates.pairs[:, ::-1], candidates.similarity, 12, 7)
    assert pair_set(method(candidates, matrix).pairs) == pair_set(method(swapped, matrix).pairs[:, ::-1])


# CLIPPER measures affinities against 1, the affinity of a candidate to itself.
@pytest.mark.parametrize(
    "method", [m for m in PAIRWISE if "clipper" not in m.__name__], ids=lambda m: m.__name__
)
def test_the_unit_of_the_affinity_plays_no_part(method):
    left, right, _ = moved_points(7, extra=5, noise=0.03, seed=4)
    candidates, matrix = problem_of(left, right)
    assert pair_set(method(candidates, matrix).pairs) == pair_set(method(candidates, 1000 * matrix).pairs)


@pairwise
def test_dense_and_sparse_matrices_are_the_same_to_it(method):
    left, right, _ = moved_points(6, extra=2, seed=5)
    candidates, matrix = problem_of(left, right)
    assert method(candidates, matrix).pairs.tolist() == method(candidates, matrix.toarray()).pairs.tolist()


@pairwise
def test_without_any_affinity_nothing_is_sure(method):
    candidates = problem_of(*moved_points(4)[:2])[0]
    answer = method(candidates, sp.csr_array((16, 16)))
    assert one_to_one(answer.pairs)
    if method not in (spectral_matching, clipper):  # whose vectors have some length, whatever the matrix
        assert len(answer.pairs) == 0


@pairwise
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((3, 3)), "affinity: expected 16 x 16 numbers"),
        (np.full((16, 16), -1.0), "negative"),
        (np.full((16, 16), np.nan), "finite"),
        (np.triu(np.ones((16, 16)), 1), "symmetric"),
    ],
)
def test_a_wrong_affinity_is_refused(method, matrix, message):
    candidates = problem_of(*moved_points(4)[:2])[0]
    with pytest.raises(ValueError, match=message):
        method(candidates, matrix)


@pytest.mark.parametrize(
    "method", [spectral_matching, ipfp, rrwm, graph_shift_matching, clipper, probabilistic_matching],
    ids=lambda method: method.__name__,
)  # fmt: skip
@pytest.mark.parametrize("steps", [0, -1, True, 2.5])
def test_a_wrong_budget_is_refused(method, steps):
    with pytest.raises(ValueError, match="max_steps: expected a number of steps"):
        method(*problem_of(*moved_points(4)[:2]), max_steps=steps)


def test_a_wrong_start_is_refused():
    problem = problem_of(*moved_points(4)[:2])
    for start in (np.ones(3), np.full(16, np.nan), -np.ones(16)):
        with pytest.raises(ValueError, match="start: expected 16 finite numbers"):
            ipfp(*problem, start=start)


@pytest.mark.parametrize("method", [tensor_matching, probabilistic_matching], ids=lambda m: m.__name__)
@pytest.mark.parametrize("turn", [0.0, 2.0])
def test_triangles_find_points_that_were_moved_turned_and_scaled(method, turn):
    left, right, truth = moved_points(8, noise=0.002)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    turned = type(right)(right.points @ rotation.T)
    candidates, _ = problem_of(left, turned)
    answer = method(candidates, triangle_triples(left, turned, candidates))
    assert one_to_one(answer.pairs)
    assert len(pair_set(answer.pairs) & pair_set(truth)) >= 7
