"""Bad input gets one clear error: the argument, what came, and what would be right."""

import numpy as np
import pytest
import scipy.sparse as sp  # noqa: F401  (the calls below use it)

from hypermodes import (  # noqa: F401
    Hypergraph,
    InfectionImmunization,
    MatrixAffinity,
    Replicator,
    Voting,
    certify,
    find_modes,
    shift,
)

NAN, INF = float("nan"), float("inf")
EDGES = [["a", "b"], ["b", "c"], ["c", "d", "a"]]
H = Hypergraph.from_edges(EDGES, labels=["x", "y", "z"])
UNNAMED = Hypergraph.from_edges(EDGES)
A = np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 0.7], [0.5, 0.7, 0.0]])

from_edges, from_incidence = Hypergraph.from_edges, Hypergraph.from_incidence


def with_entry(value):
    """A with one pair of entries replaced."""
    changed = A.copy()
    changed[0, 1] = changed[1, 0] = value
    return changed


# The calls are text, so that each is the name of its test.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("from_edges(None)", r"^edges: expected an iterable of hyperedges; got None"),
        ("from_edges(5)", r"^edges: expected an iterable of hyperedges; got 5"),
        ('from_edges("abc")', r"^edges: expected an iterable of hyperedges; got 'abc'"),
        ("from_edges(np.array(5))", r"^edges: expected an iterable of hyperedges"),
        ("from_edges([])", r"^edges: expected at least one hyperedge; got none"),
        ("from_edges({})", r"^edges: expected at least one hyperedge; got none"),
        ("from_edges(np.empty((0, 3), dtype=int))", r"^edges: expected at least one hyperedge"),
        ("from_edges(np.empty((3, 0), dtype=int))", r"^edges: hyperedge 0 has no vertices"),
        ('from_edges([["a"], []])', r"^edges: hyperedge 1 has no vertices; leave"),
        ('from_edges([["a"], {}])', r"^edges: hyperedge 1 has no vertices; leave"),
        ('from_edges([["a"], "bc"])', r"^edges: hyperedge 1 is 'bc'; expected an iterable"),
        ("from_edges([3])", r"^edges: hyperedge 0 is 3; expected an iterable"),
        ('from_edges([["a", ["b"]]])', r"^edges: hyperedge 0 has a vertex .*not hashable"),
        ('from_edges([["a"], ["a", NAN]])', r"^edges: hyperedge 1 .*nan"),
        ("from_edges(np.array([[1.0, 2.0], [3.0, NAN]]))", r"^edges: hyperedge 1 .*nan"),
        ('from_edges([{"a": 0.0}])', r"^edges: p\(v\|e\) must lie in \(0, 1\]; vertex 'a' .* 0\.0"),
        ('from_edges([{"a": 1.5}])', r"^edges: .*\(0, 1\]; vertex 'a' of hyperedge 0 has 1\.5"),
        ('from_edges([{"a": -0.5}])', r"^edges: .*\(0, 1\]; vertex 'a' .* has -0\.5"),
        ('from_edges([{"a": NAN}])', r"^edges: .*\(0, 1\]; vertex 'a' .* has nan"),
        ('from_edges([{"a": INF}])', r"^edges: .*\(0, 1\]; vertex 'a' .* has inf"),
        ('from_edges([{"a": "1"}])', r"^edges: .*\(0, 1\]; vertex 'a' .* has '1'"),
        (
            'from_edges([["a"], ["q"]], vertices=["a"])',
            r"^edges: hyperedge 1 has vertex 'q', .* not in vertices",
        ),
        ("from_edges(np.array([[1], [9]]), vertices=[1])", r"^edges: .*vertex 9.* is not in vertices"),
        ('from_edges([["a"]], vertices="a")', r"^vertices: expected an iterable .* text 'a'"),
        ('from_edges([["a"]], vertices=5)', r"^vertices: expected .*got 5"),
        ('from_edges([["a"]], vertices=["a", "a"])', r"^vertices: labels must be distinct; 'a'"),
        ('from_edges([["a"]], vertices=[["a"]])', r"^vertices: .*hashable; entry 0 is \['a'\]"),
        ('from_edges({"x": ["a"]}, labels=["x"])', r"^labels: edges is a mapping"),
        ('from_edges(EDGES, labels=["x", "y", "x"])', r"^labels: .*distinct; 'x' is entry 0 and 2"),
        ('from_edges(EDGES, labels=["x"])', r"^labels: expected 3 labels, .*; got 1"),
        ('from_edges(EDGES, labels="xyz")', r"^labels: expected 3 labels, .* text 'xyz'"),
        ("from_edges(EDGES, labels=5)", r"^labels: expected 3 labels.*got 5"),
        ('from_edges([["a"]], labels=[{}])', r"^labels: .*hashable; entry 0 is \{\}, a dict"),
    ],
)
def test_hyperedges_that_make_no_sense_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        eval(call)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("from_edges(EDGES, weights=[1, 0, 1])", r"^weights: .*positive.*; entry 1 is 0\.0"),
        ("from_edges(EDGES, weights=[1, 1, -2])", r"^weights: .*positive.*; entry 2 is -2\.0"),
        ("from_edges(EDGES, weights=[NAN, 1, 1])", r"^weights: .*finite.*; entry 0 is nan"),
        ("from_edges(EDGES, weights=[1, INF, 1])", r"^weights: .*finite.*; entry 1 is inf"),
        ("from_edges(EDGES, weights=[1, 1])", r"^weights: expected 3 positive numbers.*shape \(2,\)"),
        ("from_edges(EDGES, weights=np.ones(4))", r"^weights: expected 3 .*shape \(4,\)"),
        ("from_edges(EDGES, weights=np.ones((3, 1)))", r"^weights: expected 3 .*shape \(3, 1\)"),
        ("from_edges(EDGES, weights=2.0)", r"^weights: expected one number a hyperedge.*got 2\.0"),
        ('from_edges(EDGES, weights="123")', r"^weights: expected one number a hyperedge.*got '123'"),
        ('from_edges(EDGES, weights=["a", "b", "c"])', r"^weights: expected 3 positive numbers.*'a'"),
        ('from_edges(EDGES, weights=["1", "2", "3"])', r"^weights: expected 3 .*'1'"),
        ("from_edges(EDGES, weights=np.array([1j, 1, 1]))", r"^weights: expected 3 positive numbers"),
        ("from_edges(EDGES, weights={0: 1.0})", r"^weights: expected one number a hyperedge"),
        ("from_edges(EDGES, weights=[1e-200, 1, 1])", r"^weights: .*between 1e-100 and 1e100.* 1e-200"),
        ("from_edges(EDGES, weights=[1, 1e+200, 1])", r"^weights: .*hyperedge 1 it is 1e\+200"),
    ],
)
def test_weights_that_make_no_sense_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        eval(call)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("from_incidence([[1.0, 1.5]])", r"^incidence: .*\(0, 1\]; vertex 0 of hyperedge 1 has 1\.5"),
        ("from_incidence([[1.0], [-0.5]])", r"^incidence: .*vertex 1 of hyperedge 0 has -0\.5"),
        ("from_incidence([[NAN]])", r"^incidence: .*\(0, 1\]; vertex 0 of hyperedge 0 has nan"),
        ("from_incidence(sp.csr_array([[INF]]))", r"^incidence: .*\(0, 1\].* has inf"),
        (
            "from_incidence(sp.coo_array(([0.6, 0.6], ([0, 0], [0, 0]))))",
            r"^incidence: .*\(0, 1\].* has 1\.2",
        ),
        ("from_incidence([[1, 0, 0]])", r"^incidence: hyperedge 1 has no vertices.*2 of 3"),
        ("from_incidence(np.zeros((3, 0)))", r"^incidence: expected at least one hyperedge"),
        ("from_incidence(np.zeros((0, 2)))", r"^incidence: hyperedge 0 has no vertices"),
        ("from_incidence([1.0, 0.5])", r"^incidence: expected a .*matrix.*shape \(2,\)"),
        ("from_incidence(sp.coo_array([1.0, 0.5]))", r"^incidence: .*shape \(2,\)"),
        ("from_incidence(np.ones((2, 2, 2)))", r"^incidence: .*shape \(2, 2, 2\)"),
        ('from_incidence([["a"]])', r"^incidence: expected a .*matrix of probabilities.*type <U1"),
        ("from_incidence([[1j]])", r"^incidence: .*type complex128"),
        ("from_incidence(sp.csr_array([[1j]]))", r"^incidence: .*type complex128"),
        ("from_incidence([[1, 0], [1]])", r"^incidence: expected a .*matrix"),
        ('from_incidence([[1], [1]], vertices=["a"])', r"^vertices: expected 2 labels.*got 1"),
    ],
)
def test_matrices_that_are_no_incidence_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        eval(call)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('H.edge_index("q")', r"unknown hyperedge 'q'; the 3 known ones start with 'x', 'y', 'z'"),
        ('H.vertex_index("q")', r"unknown vertex 'q'; the 4 known ones start with 'a', 'b', 'c'"),
        ('H.edge_index(["x"])', r"unknown hyperedge \['x'\]; the 3 known ones"),
        ("H.members(0)", r"unknown hyperedge 0; the 3 known ones"),
        ("UNNAMED.members(3)", r"unknown hyperedge 3; the 3 known ones start with 0, 1, 2"),
        ("H.subset([])", r"^edges: expected at least one hyperedge to keep; got none"),
        ('H.subset(["x", "q"])', r"^edges: unknown hyperedge 'q'"),
        ('H.subset(["x", "x"])', r"^edges: .*distinct.*'x'"),
        ('H.subset("xy")', r"^edges: expected .*'xy'"),
        ("UNNAMED.subset(1)", r"^edges: expected .*1"),
    ],
)
def test_unknown_names_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        eval(call)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("MatrixAffinity(np.ones((2, 3)))", r"^values: expected a square.*shape \(2, 3\)"),
        ("MatrixAffinity([1.0, 2.0])", r"^values: expected a square.*shape \(2,\)"),
        ("MatrixAffinity(np.ones((0, 0)))", r"^values: expected a square.*shape \(0, 0\)"),
        ("MatrixAffinity(None)", r"^values: expected a square"),
        ("MatrixAffinity([[0, 1], [1]])", r"^values: expected a square"),
        ('MatrixAffinity([["a"]])', r"^values: expected an affinity matrix of numbers.*<U1"),
        ("MatrixAffinity(A * 1j)", r"^values: expected .*numbers.*complex128"),
        ("MatrixAffinity(with_entry(NAN))", r"^values: expected finite.*NaN"),
        ("MatrixAffinity(sp.csr_array(with_entry(NAN)))", r"^values: expected finite.*NaN"),
        ("MatrixAffinity(with_entry(INF))", r"^values: expected finite.*infinity"),
        ("MatrixAffinity(with_entry(-0.1))", r"^values: expected non-negative.*smallest is -0\.1"),
        ("MatrixAffinity(sp.csr_array(with_entry(-0.1)))", r"^values: expected non-negative"),
        ("MatrixAffinity(with_entry(1e+200))", r"^values: .*below 1e100.*1e\+200"),
        ("MatrixAffinity(np.triu(A))", r"^values: expected a symmetric.*differs by 1\.0.*A \+ A\.T"),
        ("MatrixAffinity(sp.csr_array(np.triu(A)))", r"^values: expected a symmetric"),
        # The diagonal is dropped, so its size must not excuse the rest.
        ("MatrixAffinity(np.array([[1e9, 1], [5, 1e9]]))", r"^values: expected a symmetric.*differs by 4\.0"),
    ],
)
def test_matrices_that_are_no_affinity_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        eval(call)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('shift(H, "q")', r"^start: unknown hyperedge 'q'; the 3 known ones start with 'x'"),
        ("shift(H, 0)", r"^start: unknown hyperedge 0"),
        ("shift(UNNAMED, 3)", r"^start: unknown hyperedge 3; the 3 known ones"),
        ("shift(MatrixAffinity(A), -1)", r"^start: unknown hyperedge -1"),
        ("shift(H, None)", r"^start: unknown hyperedge None"),
        ('shift(H, {"x", "q"})', r"^start: unknown hyperedge 'q'"),
        ('shift(H, {"x": 0.5, "q": 0.5})', r"^start: unknown hyperedge 'q'"),
        ('shift(H, [["x"]])', r"^start: .*\['x'\]"),
        ("shift(H, [])", r"^start: expected at least one hyperedge; got none"),
        ("shift(H, {})", r"^start: expected at least one hyperedge; got none"),
        ('shift(H, {"x": 0.5, "y": 0.6})', r"^start: .*sum to 1; their sum is 1\.1"),
        ("shift(H, np.array([0.5, 0.0, 0.0]))", r"^start: .*sum to 1; their sum is 0\.5"),
        ("shift(H, np.zeros(3))", r"^start: .*sum to 1; their sum is 0\.0"),
        ('shift(H, {"x": 10**400})', r"^start: expected probabilities; got [^\n]{,99}$"),
        ("certify(H, 10**400)", r"^point: expected a mode .*; got a int$"),
        ("certify(H, [10**400, 0, 0])", r"^point: expected a mode .*; got a list$"),
        ("Hypergraph.from_incidences([1], [2], probabilities=[10**400])", r"^probabilities: [^\n]{,150}$"),
        ("Hypergraph.from_edges([[1]], weights=[10**5000])", r"^weights: expected 1 positive [^\n]{,150}$"),
        ('shift(H, {"x": 1.5, "y": -0.5})', r"^start: expected probabilities; .*-0\.5"),
        ("shift(H, np.array([NAN, 0.5, 0.5]))", r"^start: expected probabilities; entry 0 is nan"),
        ("shift(H, np.array([0.5, INF, 0.5]))", r"^start: expected probabilities; entry 1 is inf"),
        ('shift(H, {"x": "all"})', r"^start: expected probabilities; .*'all'"),
        ('shift(H, {"x": None})', r"^start: expected probabilities; .*None"),
        ("shift(H, np.ones(2) / 2)", r"^start: expected 3 probabilities.*shape \(2,\)"),
        ("shift(H, np.ones((3, 1)) / 3)", r"^start: expected 3 probabilities.*shape \(3, 1\)"),
        ('shift(H, "x", max_rounds=0)', r"^max_rounds: expected .*; got 0"),
        ('shift(H, "x", max_rounds=-1)', r"^max_rounds: expected .*; got -1"),
        ('shift(H, "x", max_rounds=0.5)', r"^max_rounds: expected .*; got 0\.5"),
        ("find_modes(H, max_rounds=0)", r"^max_rounds: expected .*; got 0"),
        ('find_modes(H, starts=["x", "q"])', r"^starts: unknown hyperedge 'q'; the 3"),
        ('find_modes(H, starts="xy")', r"^starts: expected .*'xy'"),
        ("find_modes(UNNAMED, starts=1)", r"^starts: expected .*1"),
        ("Voting(admit=0)", r"^admit: expected a positive number of hyperedges or None; got 0"),
        ("Voting(admit=-3)", r"^admit: expected a positive number .*; got -3"),
        ("Voting(admit=1.5)", r"^admit: expected a positive number .*; got 1\.5"),
        ("Replicator(tol=-1.0)", r"^tol: expected .*; got -1\.0"),
        ("InfectionImmunization(tol=NAN)", r"^tol: expected .*; got nan"),
        ("InfectionImmunization(max_steps=-1)", r"^max_steps: expected .*; got -1"),
    ],
)
def test_shifts_that_cannot_begin_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        eval(call)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("shift(A, 0)", r"^subject: expected a Hypergraph.*; got a ndarray: wrap .*MatrixAffinity"),
        ("find_modes(sp.csr_array(A))", r"^subject: expected .*; got a csr_array: wrap"),
        ("find_modes(EDGES)", r"^subject: expected a Hypergraph.*; got a list"),
        ("shift(None, 0)", r"^subject: expected a Hypergraph.*; got a NoneType"),
        ('shift(H, "x", dynamics="replicator")', r"^dynamics: expected .*'replicator'"),
        ('shift(H, "x", dynamics=Replicator)', r"^dynamics: expected .*Replicator"),
        ('shift(H, "x", expansion="voting")', r"^expansion: expected .*'voting'"),
        ('Voting(retreat="proportional")', r"^retreat: expected .*'proportional'"),
        ('shift(H, "x", callback=3)', r"^callback: expected .*3"),
        ("find_modes(H, progress=1)", r"^progress: expected True, a function.*; got 1"),
        ('find_modes(H, progress="yes")', r"^progress: expected True, a function.*'yes'"),
    ],
)
def test_things_of_the_wrong_type_are_refused(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        eval(call)


def test_a_single_vertex_hyperedge_is_not_an_error():
    modes = find_modes(Hypergraph.from_edges([["a", "b"], ["b", "c"], ["alone"]]))
    assert modes.edge_mode.tolist() == [0, 0, -1]
