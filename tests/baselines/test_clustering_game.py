"""The clustering game: Baum-Eagon never lowers f, and ends where everyone alive earns the same."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
from hypermodes import Hypergraph
from hypermodes.baselines.clustering_game import baum_eagon, clustering_game, dying, play
from hypermodes.baselines.uniform import UniformHypergraph
from strategies import simplex_points, uniform_hypergraphs

EPS = np.finfo(float).eps


@st.composite
def cases(draw):
    hypergraph = UniformHypergraph.of(draw(uniform_hypergraphs()))
    return hypergraph, draw(simplex_points(hypergraph.n))


@given(case=cases())
def test_a_step_keeps_the_simplex_and_never_lowers_f(case):
    hypergraph, x = case
    for _ in range(30):
        value = hypergraph.value(x)
        assume(value > 1e-12)
        moved = baum_eagon(x, hypergraph.gradient(x))
        assert moved.sum() == pytest.approx(1)
        assert (moved >= 0).all()
        # Relative errors of n eps in the shares, k n eps in f.
        assert hypergraph.value(moved) >= value * (1 - 100 * EPS)
        x = moved


@given(case=cases(), shrink=st.floats(1e-9, 1e-4))
def test_to_drop_the_dying_never_lowers_f(case, shrink):
    hypergraph, x = case
    # Make some shares small enough to die.
    x = np.where(np.arange(x.size) % 2 == 0, x, x * shrink)
    assume(x.any())
    x = x / x.sum()
    value = hypergraph.value(x)
    gone = dying(x, hypergraph.gradient(x), hypergraph.k)
    left = np.where(gone, 0.0, x)
    assert left.any()
    assert hypergraph.value(left / left.sum()) >= value * (1 - 100 * EPS)


@given(hypergraph=uniform_hypergraphs())
def test_everyone_alive_earns_the_same_at_the_end(hypergraph):
    hypergraph, tol = UniformHypergraph.of(hypergraph), 1e-8
    x, steps = play(hypergraph, tol, 100_000)
    assume(steps < 100_000)
    relative = hypergraph.gradient(x) / (hypergraph.k * hypergraph.value(x))
    # The last step was shorter than tol: |x_i (ρ_i - 1)| ≤ tol, before it and about as much after it.
    assert np.abs(x * (relative - 1)).max() <= 10 * tol
    assert x.sum() == pytest.approx(1)


@given(hypergraph=uniform_hypergraphs(max_vertices=6, sizes=(2,)))
def test_the_first_cluster_of_pairs_is_a_stationary_point(hypergraph):
    n = hypergraph.n_vertices
    matrix = np.zeros((n, n))
    for edge, weight in zip(hypergraph.labels, hypergraph.weights, strict=True):
        i, j = hypergraph.members(edge)
        matrix[i, j] = matrix[j, i] = weight
    x, steps = play(UniformHypergraph.of(hypergraph), 1e-10, 100_000)
    assume(steps < 100_000)
    value = x @ matrix @ x
    stationary = [y @ matrix @ y for y in oracles.stationary_points(matrix)]
    # Each pair counts once in f = Σ_e s(e) Π x_v and twice in xᵀAx; slow ends leave a little to gain.
    assert UniformHypergraph.of(hypergraph).value(x) == pytest.approx(value / 2)
    assert min(abs(value - other) for other in stationary) < 1e-3
    assert value <= max(stationary) * (1 + 1e-12)


def test_clusters_are_peeled_off_with_their_hyperedges():
    heavy, light = list(combinations(range(4), 3)), list(combinations(range(4, 9), 3))
    bridge = [(0, 1, 8)]
    weights = [1.0] * len(heavy) + [0.5] * len(light) + [0.01]
    hypergraph = Hypergraph.from_edges(heavy + light + bridge, weights=weights, vertices=range(10))
    partition = clustering_game(hypergraph)
    assert partition.labels.tolist() == [0] * 4 + [1] * 5 + [-1]
    # f of a clique of m at affinity s: s C(m, 3) / m³.
    assert [group.value for group in partition.groups] == pytest.approx([4 / 64, 0.5 * 10 / 125], rel=1e-6)
    assert partition.probabilities == pytest.approx([1] * 9 + [0], abs=1e-3)
    assert partition.starts == 2


def test_who_earns_less_than_the_readout_asks_for_is_left_out():
    # 3 is in two of the triples of {0, 1, 2, 3} only: it earns less than the others.
    edges, weights = [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)], [1.0, 0.3, 0.3, 0.3]
    hypergraph = Hypergraph.from_edges(edges, weights=weights)
    assert clustering_game(hypergraph).labels.tolist() == [0, 0, 0, -1]
    assert clustering_game(hypergraph, readout=0.5).labels.tolist() == [0, 0, 0, 0]


def test_a_budget_is_kept():
    hypergraph = Hypergraph.from_edges([[0, 1, 2], [1, 2, 3], [2, 3, 4]], weights=[1, 2, 3])
    assert play(UniformHypergraph.of(hypergraph), 1e-12, 4)[1] == 4


@pytest.mark.parametrize(
    ("option", "value"), [("tol", -1), ("max_steps", 0), ("readout", 1.0), ("min_members", 0)]
)
def test_bad_options_are_refused_by_name(option, value):
    with pytest.raises(ValueError, match=f"^{option}: "):
        clustering_game(Hypergraph.from_edges([[0, 1, 2]]), **{option: value})
