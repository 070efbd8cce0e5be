"""Algorithm 1 from one start: what may be a start, what the rounds do, and how it ends."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hypermodes as hm
from hypermodes.affinity import DENSE_FACE
from hypermodes.shift import escape, start_point
from hypermodes.simplex import Point, density
from strategies import affinities, hypergraphs, simplex_points, tied_hypergraphs

EPS = np.finfo(float).eps

# Three hyperedges that overlap pairwise in two vertices, a chain of two, and one on its own.
EDGES = [[1, 2, 3], [2, 3, 4], [1, 3, 4], [5, 6], [6, 7], [8]]


@pytest.fixture
def named():
    return hm.Hypergraph.from_edges(EDGES, labels=["a", "b", "c", "d", "e", "alone"])


# -- what may be a start ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "p"),
    [
        ("b", [0, 1, 0, 0, 0, 0]),
        (["b"], [0, 1, 0, 0, 0, 0]),
        ({"a", "d"}, [0.5, 0, 0, 0.5, 0, 0]),
        (("a", "d"), [0.5, 0, 0, 0.5, 0, 0]),
        ((label for label in "ad"), [0.5, 0, 0, 0.5, 0, 0]),
        (["a", "d", "a"], [0.5, 0, 0, 0.5, 0, 0]),
        ({"a": 0.25, "d": 0.75}, [0.25, 0, 0, 0.75, 0, 0]),
        ({"a": 1, "d": 0}, [1, 0, 0, 0, 0, 0]),
        (np.array(["a", "d"]), [0.5, 0, 0, 0.5, 0, 0]),
        (np.array([0.5, 0.25, 0.25, 0, 0, 0]), [0.5, 0.25, 0.25, 0, 0, 0]),
        (np.array([0.5, 0.25, 0.25, 0, 0, 0], dtype=np.float32), [0.5, 0.25, 0.25, 0, 0, 0]),
    ],
)
def test_a_start_is_a_label_some_labels_or_a_distribution(named, start, p):
    point = start_point(named, start)
    assert point.p.tolist() == p
    assert (point.payoff == hm.HyperedgeAffinity(named).matvec(point.p)).all()


def test_labels_of_an_affinity_are_positions():
    affinity = hm.HyperedgeAffinity(hm.Hypergraph.from_edges(EDGES))
    for start in (3, np.int64(3), [3], np.array([3])):
        assert start_point(affinity, start).p.tolist() == [0, 0, 0, 1, 0, 0]


def test_a_label_may_look_like_several():
    tuples = hm.Hypergraph.from_edges(EDGES[:3], labels=[("a", "b"), "a", "b"])
    assert start_point(tuples, ("a", "b")).p.tolist() == [1, 0, 0]
    assert start_point(tuples, ["a", "b"]).p.tolist() == [0, 0.5, 0.5]


def test_a_distribution_is_scaled_to_sum_1_exactly_enough(named):
    point = start_point(named, np.full(6, (1 + 1e-7) / 6))
    assert abs(point.p.sum() - 1) <= 6 * EPS


def test_the_start_is_not_written_to(named):
    start = np.array([0.5, 0.5, 0.0, 0.0, 0.0, 0.0])
    before = start.copy()
    hm.shift(named, start)
    assert (start == before).all()


# -- how it ends --------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["a", "b", "c"])
def test_three_hyperedges_that_hold_together_are_found_from_each(named, start):
    # r = 1/3 and overlaps of 2: every affinity is 4/3, and F = (2/3)·4/3 at equal weights.
    mode = hm.shift(named, start)
    assert mode.status is hm.Status.CERTIFIED
    assert mode.support.tolist() == [0, 1, 2]
    assert mode.weights == pytest.approx([1 / 3, 1 / 3, 1 / 3], rel=10 * EPS)
    assert mode.density == pytest.approx(8 / 9, rel=10 * EPS)
    assert mode.certificate.is_strict()


def test_a_hyperedge_that_meets_no_other_is_isolated(named):
    mode = hm.shift(named, "alone")
    assert mode.status is hm.Status.ISOLATED
    assert mode.support.tolist() == [5]
    assert mode.density == 0.0
    assert not mode.certificate.holds()


@pytest.mark.parametrize("size", [2, 100_000])
def test_several_hyperedges_that_meet_no_other_are_isolated(size):
    apart = hm.Hypergraph.from_edges([range(size), range(size, 2 * size)])
    mode = hm.shift(apart, {0: 1 / 3, 1: 2 / 3})
    assert mode.status is hm.Status.ISOLATED
    assert mode.density == 0.0


def test_a_start_beside_an_isolated_one_still_climbs(named):
    assert hm.shift(named, ["a", "alone"]).support.tolist() == [0, 1, 2]


def test_a_distribution_stays_in_its_component(named):
    mode = hm.shift(named, {"d": 1.0})
    assert mode.support.tolist() == [3, 4]


@pytest.mark.parametrize("budget", [1, 2])
def test_a_budget_of_rounds_is_kept_and_reported(budget):
    # A long chain with growing weights: every round finds a stronger neighbour.
    chain = hm.Hypergraph.from_edges([[i, i + 1] for i in range(8)], weights=2.0 ** np.arange(8))
    assert hm.shift(chain, 0).rounds > 2
    mode = hm.shift(chain, 0, max_rounds=budget)
    assert mode.status is hm.Status.MAX_ROUNDS
    assert mode.rounds == budget
    assert not mode.certificate.holds()
    face = hm.HyperedgeAffinity(chain).restrict(mode.support)
    assert mode.density == pytest.approx(mode.weights @ face @ mode.weights, rel=20 * EPS)


def test_a_budget_of_steps_is_kept_and_reported():
    rng = np.random.default_rng(0)
    matrix = rng.uniform(size=(9, 9))
    mode = hm.shift(
        hm.MatrixAffinity(matrix + matrix.T),
        list(range(9)),
        dynamics=hm.Replicator(max_steps=5),
        settle=False,
    )
    assert mode.status is hm.Status.MAX_STEPS
    assert mode.steps == 5
    assert not mode.certificate.is_critical()


def test_the_printed_expansion_ends_without_ascent_and_says_so(named):
    mode = hm.shift(named, "a", expansion=hm.PrintedVoting())  # its step is undefined where F = 0
    assert mode.status is hm.Status.NO_ASCENT
    assert mode.density == 0.0


@pytest.mark.parametrize("dynamics", [hm.Replicator(), hm.InfectionImmunization(), hm.FaceSolve()])
@pytest.mark.parametrize("settle", [True, False])
def test_every_rule_finds_the_mode(named, dynamics, settle):
    mode = hm.shift(named, "a", dynamics=dynamics, settle=settle)
    assert mode.status is hm.Status.CERTIFIED
    assert mode.support.tolist() == [0, 1, 2]
    # The spread of payoffs is at most 1e-9 F and the curvature -4/3: p is off by less than 1e-9.
    assert mode.weights == pytest.approx([1 / 3, 1 / 3, 1 / 3], abs=1e-9)


def test_a_support_too_large_for_a_dense_face_is_certified_through_products():
    n = DENSE_FACE + 2
    copies = hm.Hypergraph.from_edges(np.zeros((n, 1), dtype=int))
    mode = hm.shift(copies, np.full(n, 1 / n))
    assert len(mode) == n
    assert mode.status is hm.Status.CERTIFIED
    # M = 2(J - I): every move that sums to 0 has curvature -2.
    assert mode.certificate.curvature == pytest.approx(-2.0, abs=1e-9)
    assert mode.density == pytest.approx(2 * (1 - 1 / n), rel=1e-12)


# -- what happens on the way --------------------------------------------------------------------------


@given(st.one_of(hypergraphs(), tied_hypergraphs()), st.data())
def test_the_density_never_falls_within_a_climb_or_between_them(hypergraph, data):
    start = data.draw(simplex_points(hypergraph.n_edges))
    rounds = []
    mode = hm.shift(hypergraph, start, callback=rounds.append)
    assert [r.rounds for r in rounds] == list(range(1, mode.rounds + 1))  # it saw every round
    assert sum(len(r.densities) for r in rounds) == mode.steps
    assert rounds[-1].certificate == mode.certificate or mode.status is hm.Status.MAX_ROUNDS
    assert rounds[0].start.p == pytest.approx(start, rel=4 * EPS)
    path = [value for r in rounds for value in (density(r.start), *r.densities, density(r.point))]
    # F is at most the largest affinity. Each F carries rounding of 2n + |V| ≤ 30 terms, to trim costs 1e-18,
    # and the diagonal that the product adds and takes away is at most 4 max(r|e|).
    scale = hm.HyperedgeAffinity(hypergraph).matrix().max()
    scale += 4 * (hypergraph.weights / hypergraph.edge_degrees * hypergraph.edge_sizes).max()
    assert (np.diff(path) >= -200 * EPS * scale).all()


@given(st.one_of(affinities(), tied_hypergraphs().map(hm.HyperedgeAffinity)), st.data())
def test_every_round_stays_on_the_simplex(affinity, data):
    rounds = []
    hm.shift(affinity, data.draw(st.integers(0, affinity.n - 1)), callback=rounds.append)
    for r in rounds:
        for point in (r.start, r.point):
            assert (point.p >= 0).all()
            assert abs(point.p.sum() - 1) <= affinity.n * EPS


def test_a_saddle_is_left_behind():
    # Two equal disjoint pairs with half of the mass each: Eq. (7) holds, and it is no mode.
    pairs = hm.Hypergraph.from_edges([[1, 2], [2, 3], [4, 5], [5, 6]])
    saddle = np.full(4, 0.25)
    affinity = hm.HyperedgeAffinity(pairs)
    assert hm.certify(affinity, Point(saddle, affinity.matvec(saddle))).is_critical()
    mode = hm.shift(pairs, saddle)
    assert mode.status is hm.Status.CERTIFIED
    assert mode.support.tolist() in ([0, 1], [2, 3])
    assert mode.density == pytest.approx(0.5, rel=10 * EPS)


def test_a_saddle_through_ties_is_left_behind():
    # Two hyperedges tie with a pair; each alone would lower F, both together raise it.
    affinity = hm.MatrixAffinity(np.array([[0, 2, 1, 1], [2, 0, 1, 1], [1, 1, 0, 4], [1, 1, 4, 0]]))
    saddle, mode = np.array([0.5, 0.5, 0.0, 0.0]), np.array([0.0, 0.0, 0.5, 0.5])
    moved = escape(affinity, Point(saddle, affinity.matvec(saddle)), 1e-9)
    assert density(moved) > 1.0
    assert escape(affinity, Point(mode, affinity.matvec(mode)), 1e-9) is None
    found = hm.shift(affinity, saddle)
    assert found.status is hm.Status.CERTIFIED
    assert found.support.tolist() == [2, 3]


def test_it_may_leave_its_start():
    # The start barely touches a strong group: the mode is the group, as in mean shift.
    built = hm.Hypergraph.from_edges([["s", "a"], ["a", "b", "c"], ["a", "b", "c"], ["a", "b", "c"]])
    assert hm.shift(built, 0).support.tolist() == [1, 2, 3]


# -- the mode that comes out --------------------------------------------------------------------------


def test_a_mode_says_what_it_is_and_cannot_be_changed(named):
    mode = hm.shift(named, "a")
    assert repr(mode).startswith("Mode(3 hyperedges, density 0.888889, CERTIFIED, ")
    assert len(mode) == 3
    assert mode.support.dtype == np.int64
    assert mode.distribution(6) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0, 0], rel=10 * EPS)
    for array in (mode.support, mode.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        mode.status = None


@given(st.one_of(affinities(), tied_hypergraphs().map(hm.HyperedgeAffinity)), st.data())
def test_a_mode_is_a_sorted_support_with_weights_that_sum_to_1(affinity, data):
    mode = hm.shift(affinity, data.draw(st.integers(0, affinity.n - 1)))
    assert (np.diff(mode.support) > 0).all()
    assert (mode.weights > 0).all()
    assert abs(mode.weights.sum() - 1) <= affinity.n * EPS
    assert mode.density == mode.certificate.density


@given(tied_hypergraphs(), st.data())
def test_two_runs_are_the_same_bit_for_bit(hypergraph, data):
    start = data.draw(simplex_points(hypergraph.n_edges))
    one, other = hm.shift(hypergraph, start), hm.shift(hypergraph, start)
    assert one.support.tobytes() == other.support.tobytes()
    assert one.weights.tobytes() == other.weights.tobytes()
    assert (one.status, one.rounds, one.steps) == (other.status, other.rounds, other.steps)


def test_every_status_is_a_sentence():
    for status in hm.Status:
        assert status.value.endswith(".")


# -- the name -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first",
    [
        "import hypermodes.shift",
        "from hypermodes.shift import Round",
        "hypermodes.find_modes",
        "hypermodes.shift",
        "import importlib; importlib.import_module('hypermodes.shift')",
        "from hypermodes import shift",
    ],
)
def test_shift_is_the_function_whatever_was_imported_first(first):
    # In a process of its own: here everything is imported already.
    code = f"import hypermodes; {first}; assert callable(hypermodes.shift), hypermodes.shift"
    code += "; from hypermodes import shift as s; assert s is hypermodes.shift and callable(s)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_names_are_there_and_others_are_not():
    for name in hm.__all__:
        assert getattr(hm, name) is not None
        assert name in dir(hm)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        hm.nonsense  # noqa: B018
