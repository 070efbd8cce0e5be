"""Graph shift: its line function, its monotony, its modes against the enumeration of supports."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
from hypermodes import Hypergraph, MatrixAffinity
from hypermodes.baselines.graph_shift import climb, expand, graph_shift, pack, replicate, replicator_step
from hypermodes.baselines.graph_shift import step_length as best_length
from hypermodes.baselines.pairwise import nash_error
from strategies import generic_matrices, points, simplex_points, symmetric_matrices

EPS = np.finfo(float).eps


def line(matrix, x, tol=0.0):
    """γ, s, ζ, ω and λ of the expansion from x, by their definitions."""
    rewards, value = matrix @ x, x @ matrix @ x
    gamma = np.where((x == 0) & (rewards - value > tol * value), rewards - value, 0.0)
    return gamma, gamma.sum(), gamma @ gamma, gamma @ matrix @ gamma, value


@given(case=points(symmetric_matrices().map(MatrixAffinity)), t=st.floats(0, 1))
def test_the_density_along_the_expansion_is_the_parabola(case, t):
    affinity, point = case
    matrix = affinity.values
    gamma, s, zeta, omega, value = line(matrix, point.p)
    assume(s > 0)
    t = t / s
    moved = point.p + t * (gamma - s * point.p)
    c = value * s**2 + 2 * s * zeta - omega
    # Sums of at most 64 terms, none larger than the largest affinity (t γ and t s are at most 1), cancel.
    slack = 1000 * EPS * matrix.max()
    assert moved @ matrix @ moved - value == pytest.approx(2 * zeta * t - c * t**2, abs=slack)


@given(case=points(symmetric_matrices().map(MatrixAffinity)))
def test_an_expansion_goes_the_best_way_along_its_line(case):
    affinity, point = case
    matrix = affinity.values
    moved, expanded = expand(affinity.matrix(), sp.csr_array(point.p[None, :]), 0.0)
    moved = moved.toarray()[0]
    gamma, s, zeta, omega, value = line(matrix, point.p)
    assert expanded.tolist() == [bool(s > 0)]
    slack = 1000 * EPS * max(1.0, matrix.max())
    if s == 0:
        assert moved == pytest.approx(point.p, abs=EPS)
        return
    t = best_length(*(np.array([number]) for number in (value, s, zeta, omega)))[0]
    assert 0 < t <= 1 / s
    assert moved == pytest.approx(point.p + t * (gamma - s * point.p), abs=slack)
    ways = [point.p + (u / s) * (gamma - s * point.p) for u in np.linspace(0, 1, 21)]
    assert moved @ matrix @ moved >= max(way @ matrix @ way for way in ways) - slack


@given(case=points(symmetric_matrices().map(MatrixAffinity)))
def test_a_replicator_step_never_lowers_the_density(case):
    affinity, point = case
    x, matrix = point.p[None, :], affinity.values
    for _ in range(30):
        rewards = x @ matrix
        value = (x * rewards).sum(axis=1)
        assume(value[0] > 0)
        moved = replicator_step(x, rewards, value)
        assert moved.sum() == pytest.approx(1)
        assert ((moved > 0) <= (x > 0)).all()
        # p is divided by its sum: n eps in p, 2n eps in f, and as much in computing f.
        assert moved[0] @ matrix @ moved[0] >= value[0] - 8 * 8 * EPS * matrix.max()
        x = moved


@given(matrix=generic_matrices(), data=st.data())
def test_many_faces_at_once_are_each_on_its_own(matrix, data):
    n = len(matrix)
    rows = [data.draw(simplex_points(n)) for _ in range(3)]
    rows = [x for x in rows if x @ matrix @ x > 0]
    assume(rows)
    x = sp.csr_array(np.array(rows))
    together, steps = climb(sp.csr_array(matrix), x, 1e-4, 300)
    alone = [climb(sp.csr_array(matrix), x[[i]], 1e-4, 300) for i in range(len(rows))]
    # Up to 300 steps, each with sums in another order.
    assert together.toarray() == pytest.approx(np.vstack([one.toarray() for one, _ in alone]), abs=1e-8)
    assert abs(steps - sum(taken for _, taken in alone)) <= len(rows)


def test_packing_keeps_the_living_in_order():
    faces = np.arange(16.0).reshape(1, 4, 4)
    x = np.array([[0.0, 0.25, 0.0, 0.75]])
    packed, shares, place = pack(faces, x, np.array([[0, 1, 2, 3]]))
    assert shares.tolist() == [[0.25, 0.75]]
    assert place.tolist() == [[1, 3]]
    assert packed.tolist() == [[[5.0, 7.0], [13.0, 15.0]]]


@given(matrix=generic_matrices())
def test_every_mode_meets_the_first_order_conditions(matrix):
    tol = 1e-4
    partition = graph_shift(matrix, tol=tol, max_steps=20_000)
    assert ((partition.labels == -1) >= ~matrix.any(axis=1)).all()
    for group in partition.groups:
        x = group.distribution(len(matrix))
        rewards = matrix @ x
        assert group.value == pytest.approx(x @ rewards, rel=1e-12)
        # At rest within tol; what left at the end had a mass of at most 7e-3, which spoils it once more.
        assert rewards[group.support] == pytest.approx(group.value, rel=2 * tol)
        assert rewards.max() <= (1 + 2 * tol) * group.value
        assert nash_error(x, rewards) <= 2 * tol * np.sqrt(len(x))


@given(matrix=generic_matrices(max_n=6))
def test_modes_are_stationary_points_and_none_beats_the_best(matrix):
    assume(matrix.any())
    partition = graph_shift(matrix, tol=1e-6, max_steps=50_000, min_members=1)
    stationary = list(oracles.stationary_points(matrix))
    for group in partition.groups:
        x = group.distribution(len(matrix))
        # Where f is nearly flat, rewards that agree within 1e-6 leave x uncertain by much more.
        assert min(np.abs(x - other).max() for other in stationary) < 0.02
        assert group.value <= oracles.standard_quadratic_maximum(matrix) * (1 + 1e-9)


def test_two_cliques_and_a_loner():
    matrix = np.zeros((8, 8))
    matrix[:4, :4], matrix[4:7, 4:7] = 1.0, 2.0
    partition = graph_shift(matrix)
    assert partition.labels.tolist() == [1, 1, 1, 1, 0, 0, 0, -1]
    # f = a (1 - 1/m) for a clique of m at affinity a.
    assert [group.value for group in partition.groups] == pytest.approx([2 * 2 / 3, 3 / 4])
    assert partition.probabilities.tolist() == pytest.approx([1] * 7 + [0])
    assert partition.starts == 7
    assert partition.iterations > 0


def test_who_leaves_its_own_mode_belongs_less_to_it():
    # 3 hangs on the triangle by a thread: it shifts there, with little reward.
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = 1.0
    matrix[2, 3] = matrix[3, 2] = 0.3
    partition = graph_shift(matrix)
    assert partition.labels.tolist() == [0, 0, 0, 0]
    assert partition.probabilities == pytest.approx([1, 1, 1, 0.3 / 3 / (2 / 3)], rel=1e-3)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, MatrixAffinity, np.ndarray.tolist])
def test_any_kind_of_matrix_will_do(kind):
    matrix = np.kron(np.eye(2), np.ones((3, 3)))
    assert graph_shift(kind(matrix)).labels.tolist() == [0, 0, 0, 1, 1, 1]


def test_a_hypergraph_stands_for_its_hyperedges():
    hypergraph = Hypergraph.from_edges([[0, 1], [1, 2], [0, 2], [5, 6], [6, 7], [9]])
    assert graph_shift(hypergraph).labels.tolist() == [0, 0, 0, 1, 1, -1]


def test_a_budget_is_kept():
    matrix = np.random.default_rng(0).uniform(size=(20, 20))
    partition = graph_shift(matrix + matrix.T, max_steps=2, max_rounds=1)
    assert partition.iterations <= 20 * (2 + 1)
    x = np.full((1, 20), 0.05)
    assert replicate((matrix + matrix.T)[None], x, 1e-12, 3)[1] == 3


@pytest.mark.parametrize("option", ["tol", "max_steps", "max_rounds", "min_members"])
def test_bad_options_are_refused_by_name(option):
    with pytest.raises(ValueError, match=f"^{option}: .*-1"):
        graph_shift(np.ones((2, 2)), **{option: -1})


def test_what_is_no_affinity_is_refused():
    with pytest.raises(TypeError, match=r"^subject: "):
        graph_shift("matrix")
    with pytest.raises(ValueError, match="symmetric"):
        graph_shift(np.triu(np.ones((3, 3))))
