"""The hypergraph: every way in gives the same value, and nothing changes it afterwards."""

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hypermodes import Hypergraph
from hypermodes.annotations import Annotations, Records
from strategies import hypergraphs, seeds

EDGES = [["ann", "bob"], ["bob", "cid"], ["cid", "dan", "ann"]]


@pytest.fixture
def friends():
    return Hypergraph.from_edges(EDGES, weights=[1.0, 2.0, 4.0], labels=["x", "y", "z"])


# -- building from hyperedges -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "edges",
    [
        EDGES,
        tuple(tuple(edge) for edge in EDGES),
        [dict.fromkeys(edge, 1.0) for edge in EDGES],
        [dict.fromkeys(edge, 1) for edge in EDGES],
        [edge + edge for edge in EDGES],  # a vertex named twice counts once
        [np.array(edge) for edge in EDGES],
    ],
    ids=["lists", "tuples", "mappings", "integer probabilities", "vertices twice", "arrays"],
)
def test_the_kind_of_container_does_not_matter(edges):
    assert Hypergraph.from_edges(edges) == Hypergraph.from_edges(EDGES)


def test_generators_are_read_once():
    edges = ((vertex for vertex in edge) for edge in EDGES)
    weights = (float(w) for w in (1, 2, 4))
    labels = (name for name in "xyz")
    built = Hypergraph.from_edges(edges, weights=weights, labels=labels)
    assert built == Hypergraph.from_edges(EDGES, weights=[1, 2, 4], labels=["x", "y", "z"])


def test_sets_give_the_same_hyperedges():
    # The order of a set is not ours to know, so the vertices are fixed.
    names = ["ann", "bob", "cid", "dan"]
    built = Hypergraph.from_edges([set(edge) for edge in EDGES], vertices=names)
    assert built == Hypergraph.from_edges(EDGES, vertices=names)


def test_a_mapping_of_hyperedges_gives_the_labels():
    built = Hypergraph.from_edges(dict(zip("xyz", EDGES, strict=True)))
    assert built == Hypergraph.from_edges(EDGES, labels=["x", "y", "z"])


def test_probabilities_go_where_their_vertex_is():
    built = Hypergraph.from_edges([{"a": 0.25, "b": 1.0}, {"b": 0.5}])
    assert built.vertices == ("a", "b")
    assert built.incidence.toarray().tolist() == [[0.25, 0.0], [1.0, 0.5]]


def test_vertices_come_in_order_of_appearance():
    assert Hypergraph.from_edges([["q", "b"], ["a", "b"]]).vertices == ("q", "b", "a")


def test_given_vertices_fix_the_order_and_admit_isolated_ones():
    built = Hypergraph.from_edges([["b", "a"]], vertices=["z", "a", "b"])
    assert built.vertices == ("z", "a", "b")
    assert built.incidence.toarray().tolist() == [[0.0], [1.0], [1.0]]
    assert built.vertex_degrees.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, np.uint64])
@pytest.mark.parametrize("ids", [[0, 1, 2, 3], [7, 100, 3, 50]], ids=["compact", "scattered"])
def test_an_integer_array_is_read_like_its_rows(dtype, ids):
    rows = np.array(ids, dtype=dtype)[[[2, 0, 2], [1, 1, 1], [3, 0, 1]]]
    assert Hypergraph.from_edges(rows) == Hypergraph.from_edges(rows.tolist())
    order = [*sorted(ids), 200]
    assert Hypergraph.from_edges(rows, vertices=order) == Hypergraph.from_edges(rows.tolist(), vertices=order)


@pytest.mark.parametrize(
    "rows",
    [
        np.array([[-5, 10**12], [10**12, -(10**15)]]),
        np.array([[2**63 + 1, 2**63 + 2]], dtype=np.uint64),
        np.array([[0, 2**64 - 1]], dtype=np.uint64),
    ],
    ids=["far apart", "above int64", "whole range of uint64"],
)
def test_an_integer_array_may_hold_any_integers(rows):
    assert Hypergraph.from_edges(rows) == Hypergraph.from_edges(rows.tolist())


@given(seeds)
def test_random_integer_arrays_are_read_like_their_rows(seed):
    rng = np.random.default_rng(seed)
    reach = int(rng.choice([3, 10, 10**6]))  # small: duplicates in a row; large: ids with gaps
    rows = rng.integers(-reach, reach, size=rng.integers(1, 8, size=2))
    assert Hypergraph.from_edges(rows) == Hypergraph.from_edges(rows.tolist())


def test_a_large_array_builds():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 50_000, size=(100_000, 10))
    built = Hypergraph.from_edges(rows)
    assert built.n_edges == 100_000
    for i in (0, 31_415, 99_999):
        assert set(built.members(i)) == set(rows[i].tolist())
    assert built.edge_sizes.sum() == sum(len(set(row)) for row in rows.tolist())


# -- building from a matrix ---------------------------------------------------------------------------

DENSE = np.array([[1.0, 0.0, 0.5], [0.25, 1.0, 0.0], [0.0, 0.0, 0.125]])


@pytest.mark.parametrize(
    "convert",
    [np.asarray, np.ndarray.tolist, sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.lil_array],
)
def test_the_kind_of_matrix_does_not_matter(convert):
    built = Hypergraph.from_incidence(convert(DENSE))
    assert built == Hypergraph.from_edges([{0: 1.0, 1: 0.25}, {1: 1.0}, {0: 0.5, 2: 0.125}])


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.float32])
def test_ones_of_any_type_are_ones(dtype):
    ones = (DENSE > 0).astype(dtype)
    for matrix in (ones, sp.csr_array(ones)):
        assert Hypergraph.from_incidence(matrix) == Hypergraph.from_edges(
            [[0, 1], [1], [0, 2]], vertices=[0, 1, 2]
        )


def test_stored_zeros_are_not_incidences():
    stored = sp.csc_array((np.array([1.0, 0.0]), np.array([0, 1]), np.array([0, 2])), shape=(2, 1))
    assert Hypergraph.from_incidence(stored).incidence.nnz == 1


def test_the_caller_may_go_on_using_what_it_passed():
    dense, weights = DENSE.copy(), np.ones(3)
    sparse = sp.csc_array(dense)
    from_dense = Hypergraph.from_incidence(dense, weights=weights)
    from_sparse = Hypergraph.from_incidence(sparse, weights=weights)
    dense[:], sparse.data[:], weights[:] = 0.75, 0.75, 9.0
    assert from_dense == from_sparse == Hypergraph.from_incidence(DENSE)


def test_the_names_of_a_matrix_are_its_positions_unless_given():
    plain = Hypergraph.from_incidence(DENSE)
    assert plain.labels == plain.vertices == range(3)
    named = Hypergraph.from_incidence(DENSE, vertices=["v", "w", "x"], labels=np.array([5, 7, 9]))
    assert named.vertices == ("v", "w", "x")
    assert named.labels == (5, 7, 9)
    assert all(type(label) is int for label in named.labels)  # NumPy scalars become Python ones


# -- degrees, by hand ---------------------------------------------------------------------------------


def test_degrees_are_the_sums_of_the_paper():
    built = Hypergraph.from_incidence(DENSE, weights=[2.0, 3.0, 4.0])
    assert built.edge_degrees.tolist() == [1.25, 1.0, 0.625]  # δ(e) = Σ_v h(v,e)
    assert built.vertex_degrees.tolist() == [1 * 2 + 0.5 * 4, 0.25 * 2 + 1 * 3, 0.125 * 4]  # Σ_e h(v,e) w(e)
    assert built.edge_sizes.tolist() == [2, 1, 2]  # |e| counts vertices, whatever their probability


@given(hypergraphs())
def test_degrees_agree_with_the_dense_matrix(hypergraph):
    dense = hypergraph.incidence.toarray()
    # Sums of at most 10 products of non-negative numbers: relative error below 11 eps on either side.
    near = pytest.approx
    assert hypergraph.edge_degrees == near(dense.sum(axis=0), rel=22 * np.finfo(float).eps)
    assert hypergraph.vertex_degrees == near(dense @ hypergraph.weights, rel=22 * np.finfo(float).eps)
    assert hypergraph.edge_sizes.tolist() == (dense > 0).sum(axis=0).tolist()
    assert (hypergraph.incidence_by_vertex.toarray() == dense).all()


# -- looking up ---------------------------------------------------------------------------------------


def test_labels_may_be_any_hashable():
    labels = ["text", 7, 2.5, ("a", 1), None, frozenset({1, 2})]
    built = Hypergraph.from_edges([[label] for label in labels], labels=labels)
    for i, label in enumerate(labels):
        assert built.edge_index(label) == built.vertex_index(label) == i
        assert built.members(label) == (label,)


def test_members_and_positions_follow_the_labels(friends):
    assert friends.members("z") == ("ann", "cid", "dan")
    assert [friends.edge_index(label) for label in "zyx"] == [2, 1, 0]
    assert friends.vertex_index("dan") == 3
    unnamed = Hypergraph.from_edges([[0, 1], [1, 2]])
    assert unnamed.edge_index(1) == unnamed.edge_index(np.int64(1)) == 1


@pytest.mark.parametrize("label", [3, -1, True, 1.0, "1", [], None])
def test_a_position_is_not_taken_for_something_similar(label):
    unnamed = Hypergraph.from_edges([[0], [1], [2]])
    with pytest.raises(ValueError, match=r"unknown hyperedge .* start with 0, 1, 2"):
        unnamed.edge_index(label)


def test_subset_keeps_names_weights_and_vertices(friends):
    kept = friends.subset(["z", "x"])
    assert kept.labels == ("z", "x")
    assert kept.weights.tolist() == [4.0, 1.0]
    assert kept.vertices == friends.vertices
    assert kept.members("z") == friends.members("z")
    assert friends.subset(iter("xyz")) == friends


def test_equality_sees_every_part(friends):
    assert friends == Hypergraph.from_edges(EDGES, weights=[1.0, 2.0, 4.0], labels=["x", "y", "z"])
    others = [
        Hypergraph.from_edges(EDGES, weights=[1.0, 2.0, 5.0], labels=["x", "y", "z"]),
        Hypergraph.from_edges(EDGES, weights=[1.0, 2.0, 4.0], labels=["x", "y", "w"]),
        Hypergraph.from_edges([*EDGES[:2], ["cid", "dan"]], weights=[1.0, 2.0, 4.0], labels=["x", "y", "z"]),
        Hypergraph.from_incidence(friends.incidence, weights=friends.weights, labels=friends.labels),
        Hypergraph.from_incidence(friends.incidence / 2, friends.weights, friends.vertices, friends.labels),
        friends.subset(["x", "y"]),
        "friends",
    ]
    assert all(friends != other for other in others)
    with pytest.raises(TypeError, match="unhashable"):
        hash(friends)


@pytest.mark.parametrize(
    ("edges", "weights", "text"),
    [
        (EDGES, None, "Hypergraph(4 vertices, 3 hyperedges of 2 to 3 vertices, 7 incidences)"),
        ([["a"]], None, "Hypergraph(1 vertex, 1 hyperedge of 1 vertex, 1 incidences)"),
        (
            [{"a": 0.5, "b": 1.0}],
            [3.0],
            "Hypergraph(2 vertices, 1 hyperedge of 2 vertices, 2 incidences, soft, weighted)",
        ),
    ],
)
def test_repr_says_what_it_is(edges, weights, text):
    assert repr(Hypergraph.from_edges(edges, weights=weights)) == text


# -- nothing changes it -------------------------------------------------------------------------------


def arrays_of(hypergraph):
    yield from (hypergraph.weights, hypergraph.edge_degrees, hypergraph.vertex_degrees, hypergraph.edge_sizes)
    for matrix in (hypergraph.incidence, hypergraph.incidence_by_vertex):
        yield from (matrix.data, matrix.indices, matrix.indptr)


@pytest.mark.parametrize(
    "reach",
    [
        lambda h: h,
        lambda h: h.subset(["x", "y"]),
        copy.copy,
        copy.deepcopy,
        lambda h: pickle.loads(pickle.dumps(h)),
    ],
    ids=["itself", "subset", "copy", "deepcopy", "pickle"],
)
def test_no_array_can_be_written_to(friends, reach):
    for array in arrays_of(reach(friends)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_no_field_can_be_set(friends):
    for field in ("incidence", "weights", "vertices", "labels"):
        with pytest.raises(FrozenInstanceError):
            setattr(friends, field, None)


@given(hypergraphs())
def test_copies_are_equal(hypergraph):
    assert copy.deepcopy(hypergraph) == pickle.loads(pickle.dumps(hypergraph)) == hypergraph


# -- the smallest ones --------------------------------------------------------------------------------


def test_duplicate_and_single_vertex_hyperedges_are_kept():
    built = Hypergraph.from_edges([["a", "b"], ["b", "a"], ["a"]])
    assert built.edge_sizes.tolist() == [2, 2, 1]
    assert built.members(0) == built.members(1)


@given(st.integers(1, 5))
def test_one_hyperedge_is_a_hypergraph(size):
    built = Hypergraph.from_edges([range(size)])
    assert (built.n_vertices, built.n_edges) == (size, 1)


# -- from a list of incidences --------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 5)), min_size=1, max_size=20), st.booleans())
def test_incidences_in_a_list_make_the_same_hypergraph_as_hyperedges_one_by_one(pairs, as_text):
    if as_text:
        pairs = [(str(edge), f"v{vertex}") for edge, vertex in pairs]
    edges, vertices = zip(*pairs, strict=True)
    members = {}
    for edge, vertex in pairs:
        members.setdefault(edge, []).append(vertex)
    order = list(dict.fromkeys(vertices))
    expected = Hypergraph.from_edges(members, vertices=order)
    assert Hypergraph.from_incidences(list(edges), list(vertices)) == expected
    assert Hypergraph.from_incidences(np.array(edges), np.array(vertices)) == expected


def test_incidences_in_a_list_carry_probabilities_and_weights():
    built = Hypergraph.from_incidences(
        ["e", "f", "e", "e"], ["x", "y", "z", "x"], [0.5, 1.0, 0.25, 0.5], {"f": 3.0, "e": 2.0, "other": 1.0}
    )
    assert built == Hypergraph.from_edges(
        {"e": {"x": 0.5, "z": 0.25}, "f": {"y": 1.0}}, weights=[2.0, 3.0], vertices=["x", "y", "z"]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1], [1, 2]), "vertices: expected 1, one for each entry of edges; got 2"),
        (([], []), "edges: expected at least one incidence"),
        (("ab", [1, 2]), "edges: expected a list of labels"),
        (([1, 2], 5), "vertices: expected a list of labels"),
        (([[1], [2]], [1, 2]), "edges: labels must be hashable"),
        (([1, 1], [1, 1], [0.5, 0.25]), "vertex 1 is in hyperedge 1 twice, with 0.5 and 0.25"),
        (([1], [1], [0.0]), r"p\(v\|e\) must lie in \(0, 1\]; entry 0 is 0.0"),
        (([1], [1], [float("nan")]), r"p\(v\|e\) must lie in"),
        (([1], [1], [0.5, 0.5]), "probabilities: expected 1 numbers"),
        (([1], [1], ["x"]), "probabilities: expected 1 numbers"),
        (([1], [1], None, {2: 1.0}), "weights: hyperedge 1 has none"),
    ],
)
def test_incidences_that_are_wrong_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        Hypergraph.from_incidences(*arguments)


# -- annotations ----------------------------------------------------------------------------------------


def annotated():
    said = Annotations(
        Records(3, weights=[1.0, np.nan, 2.0]),
        Records(2, attributes=({"kind": "x"}, None)),
        Records(4, directions=[1, 2, 0, 1]),
        metadata={"name": "test"},
        empty_edges=("none",),
        empty=Records(1, weights=[5.0]),
    )
    return Hypergraph.from_edges([["a", "b"], ["b", "c"]], labels=["e", "f"], annotations=said)


def test_annotations_are_compared_copied_and_kept_apart():
    hypergraph = annotated()
    assert hypergraph == annotated()
    assert hypergraph != Hypergraph.from_edges([["a", "b"], ["b", "c"]], labels=["e", "f"])
    for twin in (copy.deepcopy(hypergraph), pickle.loads(pickle.dumps(hypergraph))):
        assert twin == hypergraph
        assert not twin.annotations.vertices.weights.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        hypergraph.annotations.vertices.weights[0] = 7


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (lambda: Annotations(Records(2), Records(2), Records(4)), "expected records of 3 vertices; got 2"),
        (lambda: Annotations(Records(3), Records(1), Records(4)), "expected records of 2 hyperedges; got 1"),
        (lambda: Annotations(Records(3), Records(2), Records(5)), "expected records of 4 incidences; got 5"),
        (
            lambda: Annotations(Records(3), Records(2), Records(4), empty_edges=("e",), empty=Records(1)),
            "hyperedge 'e' is said to be empty but has vertices",
        ),
        (lambda: Annotations(Records(3), Records(2), Records(4), "odd"), "network_type: expected"),
        (lambda: Records(2, weights=[1.0]), "weights: expected 2 entries"),
        (lambda: Records(1, attributes=([],)), "attributes: expected mappings"),
        (lambda: Records(1, directions=[3]), "directions: expected"),
        (lambda: "text", "annotations: expected Annotations"),
    ],
)
def test_annotations_that_do_not_fit_are_refused(said, message):
    with pytest.raises(ValueError, match=message):
        Hypergraph.from_edges([["a", "b"], ["b", "c"]], labels=["e", "f"], annotations=said())
