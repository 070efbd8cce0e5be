"""Certificates: the verdict on points whose nature is known, and the numbers behind it."""

import dataclasses
import itertools
from unittest import mock

import numba
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
from hypermodes import (
    HyperedgeAffinity,
    Hypergraph,
    MatrixAffinity,
    Seeker,
    Status,
    batch,
    certify,
    find_modes,
    shift,
)
from hypermodes import certificate as certificate_module
from hypermodes._kernels.mixing import NONE, SOME, is_split, look_above, steepest_mix
from hypermodes.certificate import bending, escape_direction
from hypermodes.simplex import Point
from strategies import hypergraphs, symmetric_matrices, tied_hypergraphs

EPS = np.finfo(float).eps


def certified(matrix, *p):
    affinity, p = MatrixAffinity(np.array(matrix)), np.array(p)
    return certify(affinity, Point(p, affinity.matvec(p)))


def escape(matrix, *p):
    affinity, p = MatrixAffinity(np.array(matrix)), np.array(p)
    return escape_direction(affinity, Point(p, affinity.matvec(p)), tol=1e-9)


PAIR = [[0.0, 1.0, 0.25], [1.0, 0.0, 0.25], [0.25, 0.25, 0.0]]
# e_0 overlaps e_1 and e_2 equally, which are disjoint: F depends on p_1 + p_2 only.
FLAT = [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
# Two equal pairs that share nothing.
PAIRS = [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]
# e_2 and e_3 tie with the pair e_0, e_1; each alone would lower F, both together raise it.
CONSPIRACY = [[0.0, 1.0, 0.5, 0.5], [1.0, 0.0, 0.5, 0.5], [0.5, 0.5, 0.0, 2.0], [0.5, 0.5, 2.0, 0.0]]


def test_a_strict_mode_is_certified_strict():
    found = certified(PAIR, 0.5, 0.5, 0.0)
    assert found.density == 0.5
    assert found.spread == found.excess == 0.0
    assert found.worst_edge == 2
    assert found.curvature == pytest.approx(-1.0, abs=4 * EPS)  # the only move is (1, -1)/√2
    assert found.ties == 0
    assert found.tie_curvature == -np.inf
    assert found.is_critical()
    assert found.holds()
    assert found.is_strict()


def test_a_flat_mode_holds_and_is_not_strict():
    on_the_face = certified(FLAT, 0.5, 0.25, 0.25)
    assert on_the_face.curvature == pytest.approx(0.0, abs=4 * EPS)
    at_its_corner = certified(FLAT, 0.5, 0.5, 0.0)
    assert at_its_corner.curvature < -0.5
    assert at_its_corner.ties == 1
    assert at_its_corner.tie_curvature == pytest.approx(0.0, abs=4 * EPS)
    for found in (on_the_face, at_its_corner):
        assert found.density == 0.5
        assert found.holds()
        assert not found.is_strict()


def test_a_saddle_inside_the_face_is_critical_and_no_mode():
    found = certified(PAIRS, 0.25, 0.25, 0.25, 0.25)
    assert found.is_critical()
    assert found.worst_edge == -1
    # From one pair to the other: (1, 1, -1, -1)/2.
    assert found.curvature == pytest.approx(1.0, abs=8 * EPS)
    assert not found.holds()
    assert not found.is_strict()


def test_a_saddle_through_ties_is_critical_and_no_mode():
    found = certified(CONSPIRACY, 0.5, 0.5, 0.0, 0.0)
    assert found.is_critical()
    assert found.curvature < 0
    assert found.ties == 2
    # Moving to the mix t = (1/2, 1/2) of both: tᵀ(M_ties - F)t = (2·2 - 4·0.5)/4 = 1/2.
    assert found.tie_curvature == pytest.approx(0.5, abs=1e-12)
    assert not found.holds()


def test_one_of_the_conspirators_alone_is_no_threat():
    without = np.array(CONSPIRACY)[:3, :3]
    assert certified(without, 0.5, 0.5, 0.0).is_strict()


def test_a_point_that_breaks_eq_7_is_not_critical():
    unbalanced = certified(PAIR, 0.25, 0.75, 0.0)
    assert unbalanced.spread == pytest.approx(0.375)
    assert not unbalanced.is_critical()
    left_out = certified(PAIR, 0.5, 0.0, 0.5)
    assert left_out.spread == 0.0
    assert left_out.excess == 0.625 - 0.125
    assert left_out.worst_edge == 1
    assert not left_out.is_critical()
    assert np.isnan(left_out.tie_curvature)
    assert not left_out.holds()


def test_a_single_hyperedge_is_no_mode():
    found = certified(PAIR, 1.0, 0.0, 0.0)
    assert found.density == 0.0
    assert not found.is_critical()
    assert not found.holds()


def test_the_verdict_does_not_depend_on_the_unit_of_affinity():
    for unit in (1e-90, 1.0, 1e90):
        assert certified(unit * np.array(PAIR), 0.5, 0.5, 0.0).is_strict()
        assert certified(unit * np.array(FLAT), 0.5, 0.5, 0.0).holds()
        assert not certified(unit * np.array(CONSPIRACY), 0.5, 0.5, 0.0, 0.0).holds()


def test_a_face_too_large_to_be_dense_has_the_curvature_of_the_dense_one(monkeypatch):
    # A symmetric circulant: all rows have the same sum, so equal shares are critical.
    row = np.random.default_rng(0).uniform(size=21)
    matrix = row[[[min((i - j) % 40, (j - i) % 40) for j in range(40)] for i in range(40)]]
    dense = certified(matrix, *np.full(40, 1 / 40))
    assert dense.is_critical()
    monkeypatch.setattr(certificate_module, "DENSE_FACE", 10)
    through_products = certified(matrix, *np.full(40, 1 / 40))
    # Lanczos iteration to machine precision: some hundred eps of the norm, which is about 20.
    assert through_products.curvature == pytest.approx(dense.curvature, abs=1e-10)
    assert dataclasses.replace(through_products, curvature=dense.curvature) == dense


def test_ties_of_a_face_too_large_to_be_dense_are_not_called_harmless(monkeypatch):
    matrix = np.ones((20, 20)) - np.eye(20)
    matrix[19, :] = matrix[:, 19] = 18 / 19  # F of the other nineteen: a tie
    matrix[19, 19] = 0.0
    p = np.append(np.full(19, 1 / 19), 0.0)
    assert certified(matrix, *p).holds()
    monkeypatch.setattr(certificate_module, "DENSE_FACE", 10)
    unexamined = certified(matrix, *p)
    assert unexamined.ties == 1
    assert np.isnan(unexamined.tie_curvature)
    assert not unexamined.holds()


# -- the way out --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "p"),
    [(PAIRS, (0.25, 0.25, 0.25, 0.25)), (CONSPIRACY, (0.5, 0.5, 0.0, 0.0))],
    ids=["face", "ties"],
)
def test_from_a_saddle_there_is_a_way_up(matrix, p):
    matrix, p = np.array(matrix), np.array(p)
    h = escape(matrix, *p)
    assert abs(h.sum()) <= 8 * EPS  # it stays on the simplex
    assert (h[p == 0] >= 0).all()
    for c in (1e-3, 1e-2, 1e-1):
        assert (p + c * h) @ matrix @ (p + c * h) > p @ matrix @ p


@pytest.mark.parametrize(
    ("matrix", "p"), [(PAIR, (0.5, 0.5, 0.0)), (FLAT, (0.5, 0.25, 0.25))], ids=["strict", "flat"]
)
def test_from_a_mode_there_is_none(matrix, p):
    assert escape(matrix, *p) is None


# -- curvature ----------------------------------------------------------------------------------------


@given(symmetric_matrices())
def test_bending_is_the_spectrum_of_the_projected_matrix(matrix):
    m = len(matrix)
    found = bending(matrix)
    onto = np.eye(m) - 1 / m  # moves that sum to 0
    projected = np.linalg.eigvalsh(
        onto @ matrix @ onto
    )  # one eigenvalue more than bending: 0, for the vector of ones
    # Symmetric eigenvalues are computed with error at most a small multiple of m eps ‖M‖, on both sides.
    slack = 16 * m * EPS * np.linalg.norm(matrix)
    assert np.abs(np.sort([*found.values, 0.0]) - projected).max() <= slack
    assert np.abs(found.vectors.sum(axis=0)).max(initial=0.0) <= 16 * m * EPS
    assert np.abs(found.vectors.T @ found.vectors - np.eye(m - 1)).max(initial=0.0) <= 16 * m * EPS
    diagonal = found.vectors.T @ matrix @ found.vectors
    assert np.abs(diagonal - np.diag(found.values)).max(initial=0.0) <= slack


# -- the certificate of a mode can be checked by anyone ------------------------------------------------


@given(hypergraphs() | tied_hypergraphs())
def test_the_certificate_of_a_mode_is_what_support_and_weights_give(hypergraph):
    affinity = HyperedgeAffinity(hypergraph)
    for start in range(affinity.n):
        mode = shift(hypergraph, start)
        p = mode.distribution(affinity.n)
        again = certify(affinity, Point(p, affinity.matvec(p)))
        if mode.status is Status.CERTIFIED:
            assert again == mode.certificate  # to the last bit: nothing else went into it


@given(hypergraphs() | tied_hypergraphs())
def test_the_numbers_of_a_certificate_are_those_of_the_sets(hypergraph):
    matrix = oracles.affinity_of(hypergraph)
    n = len(matrix)
    for mode in find_modes(hypergraph):
        found = mode.certificate
        p = mode.distribution(n)
        payoff, inside = matrix @ p, p > 0
        value = p @ payoff
        # A payoff sums at most 2n + |V| ≤ 30 terms no larger than 4 max(r|e|) + max M, and F is their mean.
        scale = (
            matrix.max() + 4 * (hypergraph.weights / hypergraph.edge_degrees * hypergraph.edge_sizes).max()
        )
        slack = 100 * EPS * scale
        assert abs(found.density - value) <= slack
        assert abs(found.spread - np.abs(payoff[inside] - value).max()) <= 2 * slack
        assert abs(found.excess - max(0.0, (payoff[~inside] - value).max(initial=0.0))) <= 2 * slack
        if not inside.all():
            assert payoff[found.worst_edge] >= payoff[~inside].max() - 2 * slack


def test_the_certificate_agrees_with_enumeration_on_the_examples():
    for matrix, p in [
        (PAIR, (0.5, 0.5, 0.0)),
        (PAIR, (0.5, 0.0, 0.5)),
        (FLAT, (0.5, 0.5, 0.0)),
        (FLAT, (0.5, 0.25, 0.25)),
        (PAIRS, (0.25, 0.25, 0.25, 0.25)),
        (PAIRS, (0.5, 0.5, 0.0, 0.0)),
        (CONSPIRACY, (0.5, 0.5, 0.0, 0.0)),
        (CONSPIRACY, (0.0, 0.0, 0.5, 0.5)),
    ]:
        assert certified(matrix, *p).holds() == oracles.is_local_maximiser(np.array(matrix), np.array(p))


# -- many ties ----------------------------------------------------------------------------------------


def crowd(n):
    """Two {a, b} meet n ties that change nothing together, and three {a, y} that do: for t on those,

    F(0.9 p + 0.1 t) = 0.81 + 0.18 + 0.01 · 4/3 > 1 = F(p).
    """
    tails = [edge for i in range(n) for edge in (["a", f"x{i}"], [f"x{i}", f"z{i}"])]
    return [["a", "y"]] * 3 + [["a", "b"]] * 2 + tails


def shared_equally(edges, *members):
    p = np.array([edge in members for edge in edges], dtype=float)
    return p / p.sum()


@pytest.mark.parametrize("n", [300, 600])  # 600 and 3 ties are more than are examined one by one
@pytest.mark.parametrize("turn", [1, -1])
def test_a_saddle_among_many_ties_is_no_mode_in_whatever_order(n, turn):
    edges = crowd(n)[::turn]
    hypergraph = Hypergraph.from_edges(edges)
    p = shared_equally(edges, ["a", "b"])
    matrix = MatrixAffinity(HyperedgeAffinity(hypergraph).matrix())
    for subject in (hypergraph, matrix):
        found = certify(subject, p)
        assert found.is_critical()
        assert found.ties == n + 3
        assert found.tie_curvature > 0.01
        assert not found.holds()
    pair = [i for i, edge in enumerate(edges) if edge == ["a", "b"]]
    better = pytest.approx(4 / 3)
    assert shift(hypergraph, pair).density == better
    for subject in (hypergraph, matrix):
        assert Seeker(subject).around(pair[0]).density == better
        assert find_modes(subject, starts=pair).densities.tolist() == [better]


def halves(n):
    """Two hyperedges of twelve vertices, and n of the 924 halves of these: no two halves tie alike.

    With rates 1/2 the affinity of two hyperedges is what they share. F on the two is 6, and so is the payoff
    of each half; two of them share 5 vertices at most, so each mix of them lowers F.
    """
    ties = [list(half) for half in itertools.islice(itertools.combinations(range(12), 6), n)]
    return Hypergraph.from_edges([list(range(12))] * 2 + ties, weights=[6, 6] + [3] * n)


@pytest.mark.parametrize("n", [300, 512, 513])
def test_more_different_ties_than_are_examined_are_not_called_harmless(n):
    hypergraph = halves(n)
    decided = n <= certificate_module.MAX_TIES
    found = certify(hypergraph, np.array([0.5, 0.5] + [0.0] * n))
    assert found.is_critical()
    assert found.ties == n
    assert np.isnan(found.tie_curvature) != decided
    assert found.holds() == found.is_strict() == decided
    modes = find_modes(hypergraph, starts=[0])
    for mode in (shift(hypergraph, [0, 1]), Seeker(hypergraph).around(0), modes[0]):
        assert mode.support.tolist() == [0, 1]
        assert mode.status is (Status.CERTIFIED if decided else Status.NO_ASCENT)
        assert mode.certificate.ties == n
        assert np.isnan(mode.certificate.tie_curvature) != decided


@given(tied_hypergraphs(), st.integers(0, 4))
def test_however_few_kinds_of_ties_are_examined_the_verdict_is_right_or_there_is_none(hypergraph, most):
    affinity = HyperedgeAffinity(hypergraph)
    matrix = oracles.affinity_of(hypergraph)
    assume(matrix.any())
    with mock.patch.object(certificate_module, "MAX_TIES", most), mock.patch.object(batch, "MAX_TIES", most):
        for p in oracles.stationary_points(matrix):
            for subject in (affinity, MatrixAffinity(matrix)):
                found = certify(subject, p)
                if found.is_critical() and not np.isnan(found.tie_curvature):
                    assert found.holds() == oracles.is_local_maximiser(matrix, p)
        for subject in (hypergraph, MatrixAffinity(matrix)):
            for mode in find_modes(subject):
                p = mode.distribution(affinity.n)
                is_decided = not np.isnan(mode.certificate.tie_curvature)
                assert mode.status is (Status.CERTIFIED if is_decided else Status.NO_ASCENT)
                assert mode.certificate.holds() == is_decided
                assert not is_decided or oracles.is_local_maximiser(matrix, p)
                assert is_decided != np.isnan(certify(subject, p).tie_curvature)


# -- mixes of many ties -------------------------------------------------------------------------------


def planted_clique(n, k, seed):
    """A random graph on n vertices, two linked with probability 1/2, and k of them that are all linked."""
    rng = np.random.default_rng(seed)
    links = np.triu(rng.random((n, n)) < 0.5, 1)
    clique = np.sort(rng.choice(n, k, replace=False))
    links |= links.T
    links[np.ix_(clique, clique)] = True
    np.fill_diagonal(links, False)
    return links, clique


def clique_of_ties(n, k, seed):
    """Two that have F = 1 and n ties, of which only k, all together, raise F.

    Equal parts of a clique of j ties have tᵀM t = a (1 - 1/j): more than F for j = k, less for j < k.
    """
    links, clique = planted_clique(n, k, seed)
    matrix = np.ones((n + 2, n + 2))
    matrix[:2, :2] = [[0, 2], [2, 0]]
    matrix[2:, 2:] = links * (k / (k - 1) + (k - 1) / (k - 2)) / 2
    p, better = np.zeros(n + 2), np.zeros(n + 2)
    p[:2], better[:2], better[2 + clique] = 0.5, 0.495, 0.01 / k
    assert better @ matrix @ better > p @ matrix @ p
    return matrix, p


def hyperedges_with_a_clique_of_ties(n, k, seed):
    """The same of hyperedges of rates 3/16 and 1: F of the first two is 3/16 (19 + 3n).

    Each tie has three vertices in common with each of the two, and two with each tie that it is linked to.
    """
    links, _ = planted_clique(n, k, seed)
    edges = [[("core", i) for i in range(19)] for _ in range(2)] + [[] for _ in range(n)]
    for tie, member, i in itertools.product(range(n), range(2), range(3)):
        for edge in (member, 2 + tie):
            edges[edge].append(("met", tie, member, i))
    for i, j in zip(*np.nonzero(np.triu(links)), strict=True):
        for edge, one in itertools.product((2 + i, 2 + j), range(2)):
            edges[edge].append(("shared", int(i), int(j), one))
    rates = [3 / 16] * 2 + [1] * n
    return Hypergraph.from_edges(edges, weights=[r * len(e) for r, e in zip(rates, edges, strict=True)])


@pytest.mark.parametrize("seed", range(3))
def test_a_clique_among_a_hundred_ties_is_no_strict_mode(seed):
    matrix, p = clique_of_ties(100, 10, seed)
    found = certify(MatrixAffinity(matrix), p)
    assert found.is_critical()
    assert found.ties == 100
    assert found.tie_curvature > 0
    assert not found.holds()


def test_what_takes_too_many_sets_of_ties_is_not_decided():
    matrix, p = clique_of_ties(300, 12, 0)
    affinity = MatrixAffinity(matrix)
    found = certify(affinity, p)
    assert found.is_critical()
    assert np.isnan(found.tie_curvature)
    assert not found.holds()
    assert not found.is_strict()
    assert shift(affinity, p).status is Status.NO_ASCENT


@pytest.mark.parametrize("seed", range(3))
def test_of_a_clique_of_tied_hyperedges_both_layers_say_the_same(seed):
    n, k = 70, 10
    hypergraph = hyperedges_with_a_clique_of_ties(n, k, seed)
    p = np.append([0.5, 0.5], np.zeros(n))
    saddle = certify(hypergraph, p)
    assert saddle.is_critical()
    assert saddle.ties == n
    assert saddle.tie_curvature > 0
    assert not saddle.holds()
    for mode in find_modes(hypergraph):
        again = certify(hypergraph, mode.distribution(n + 2))
        assert mode.support.tolist() != [0, 1]
        assert mode.status is Status.CERTIFIED
        assert again.holds()
        assert again.is_strict() == mode.certificate.is_strict()


def forms(kind, seed, largest=8):
    """A small form of each kind: of any shape, of integers, that nothing makes positive, of a graph."""
    rng = np.random.default_rng([kind, seed])
    m = int(rng.integers(1, largest + 1))
    if kind == 0:
        form = rng.normal(-0.5, 1, (m, m))
    elif kind == 1:
        form = rng.integers(-2, 2, (m, m)).astype(float)
    elif kind == 2:
        part = rng.integers(-1, 2, (m, max(1, m - 2))).astype(float)
        return -part @ part.T
    else:
        form = np.where(rng.random((m, m)) < 0.6, rng.uniform(0, 0.4), -1.0)
    form = (form + form.T) / 2
    np.fill_diagonal(form, -1.0)
    return form


@pytest.mark.parametrize("kind", range(4))
def test_whether_a_mix_of_ties_raises_f_is_what_enumeration_says(kind):
    limit = 1e-9
    for seed in range(400):
        form = forms(kind, seed)
        exact = oracles.standard_quadratic_maximum(form)
        mix = np.empty(len(form))
        found = steepest_mix(form, mix, limit)
        assert (found > limit, found < -limit) == (exact > limit, exact < -limit), seed
        if found > limit:
            assert mix.min() >= 0
            assert mix @ form @ mix == pytest.approx(found)


@numba.njit
def split_and_looked(form, level, eps, mix):
    split = is_split(form, level, eps, False) or is_split(form, level, eps, True)
    return split, look_above(form, level, eps, mix)


@pytest.mark.parametrize("kind", range(4))
def test_no_way_up_is_proved_and_a_way_up_is_found_without_the_search(kind):
    limit = 1e-9
    for seed in range(100):
        form = forms(kind, seed)
        eps = 1e-13 * np.abs(form).max()
        exact = oracles.standard_quadratic_maximum(form)
        for level in (-limit, limit):
            mix = np.zeros(len(form))
            is_above = exact > level
            split, found = split_and_looked(form, level, eps, mix)
            assert found == (SOME if is_above else NONE), seed
            if is_above:
                assert mix @ form @ mix > level
                assert mix.sum() == pytest.approx(1)
                assert not split
