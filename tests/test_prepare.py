"""Rows as the kernels read them: twins as one, nothing that joins nothing, and what meets lies together."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

import hypermodes as hm
from hypermodes import prepare
from hypermodes._kernels.alike import NOTHING, first_alike
from hypermodes._kernels.ordering import NOWHERE, in_patches, rearranged, transposed

LISTS = st.lists(st.lists(st.integers(0, 4), max_size=4, unique=True).map(sorted), max_size=12)


def as_arrays(lists, dtype=np.int32):
    ptr = np.concatenate(([0], np.cumsum([len(one) for one in lists]))).astype(np.int64)
    return ptr, np.array([item for one in lists for item in one], dtype)


# -- equal lists --------------------------------------------------------------------------------------


@given(LISTS, st.lists(st.booleans(), min_size=5, max_size=5), st.booleans(), st.data())
def test_the_first_list_alike(lists, left_out, all_count, data):
    kind = data.draw(st.lists(st.integers(-1, 1), min_size=len(lists), max_size=len(lists)))
    mask = NOTHING if all_count else np.array(left_out)
    first = first_alike(*as_arrays(lists), np.array(kind, np.int64), mask)
    seen, expected = {}, []
    for i, one in enumerate(lists):
        counting = tuple(item for item in one if all_count or not left_out[item])
        expected.append(seen.setdefault((kind[i], counting), i) if counting else i)
    assert first.tolist() == expected


def test_lists_with_the_same_key_are_compared():
    """Whoever knows how items are stirred into a key can make two lists with one."""
    mix, ones = 0x9E3779B97F4A7C15, (1 << 64) - 1

    def stirred(key, item):
        return ((key ^ (key >> 29) ^ item) * mix) & ones

    one, other = stirred(0, 1), stirred(0, 2)
    last = (other ^ (other >> 29)) ^ (one ^ (one >> 29)) ^ 7
    assert stirred(one, 7) == stirred(other, last)
    lists = [[1, 7], [2, last - (last >> 63 << 64)], [1, 7], [2, last - (last >> 63 << 64)]]
    first = first_alike(*as_arrays(lists, np.int64), np.zeros(4, np.int64), NOTHING)
    assert first.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("shape", ["equal", "consecutive", "around one", "apart by powers of two"])
def test_lists_of_any_shape_are_looked_up_at_once(shape):
    """If they met in the same slots, this would take minutes."""
    i = np.arange(200_000, dtype=np.int32)
    pairs = {
        "equal": (0 * i + 1, 0 * i + 2),
        "consecutive": (i, i + 1),
        "around one": (0 * i, i + 1),
        "apart by powers of two": (i % 8 << 28, i // 8 << 13),
    }[shape]
    items = np.stack(pairs, axis=1).ravel()
    first = first_alike(np.arange(0, 2 * i.size + 1, 2), items, np.zeros(i.size, np.int64), NOTHING)
    assert first.tolist() == ([0] * i.size if shape == "equal" else i.tolist())


# -- sparse matrices ----------------------------------------------------------------------------------


@given(LISTS, st.randoms(use_true_random=False), st.sets(st.integers(0, 4)))
def test_rearranged_and_transposed_are_those_of_scipy(lists, random, left_out):
    ptr, items = as_arrays(lists)
    matrix = sp.csr_array((np.ones(items.size), items, ptr), shape=(len(lists), 5))
    order, columns = list(range(len(lists))), list(range(5))
    random.shuffle(order)
    random.shuffle(columns)
    place = np.array([NOWHERE if v in left_out else columns.index(v) for v in range(5)], np.int32)
    new_ptr, new_items = rearranged(
        ptr, items, np.array(order, np.int64), place, np.empty(items.size, np.int32)
    )
    ours = sp.csr_array((np.ones(new_items.size), new_items, new_ptr), shape=matrix.shape)
    expected = matrix.toarray()[order][:, columns]
    expected[:, [columns.index(v) for v in left_out]] = 0
    assert (ours.toarray() == expected).all()
    by_column, rows = transposed(new_ptr, new_items, 5, np.empty(items.size, np.int32))
    turned = sp.csc_array(ours)
    turned.sort_indices()
    assert by_column.tolist() == turned.indptr.tolist()
    assert rows.tolist() == turned.indices.tolist()


# -- order --------------------------------------------------------------------------------------------


def shuffled_grid(side, seed=0):
    """The graph of a square grid, nodes in no order."""
    numbers = np.random.default_rng(seed).permutation(side * side).reshape(side, side)
    ends = [(numbers[:, 1:], numbers[:, :-1]), (numbers[1:], numbers[:-1])]
    rows, columns = (np.concatenate([end[k].ravel() for end in ends]) for k in (0, 1))
    half = sp.coo_array((np.ones(rows.size), (rows, columns)), shape=(side * side,) * 2)
    return sp.csr_array(half + half.T)


@given(st.integers(0, 30), st.integers(0, 60), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_every_node_has_its_place_and_components_stay_together(n, n_ties, most, seed):
    ends = np.random.default_rng(seed).integers(0, max(n, 1), (2, n_ties if n else 0))
    graph = sp.csr_array(sp.coo_array((np.ones(ends.shape[1]), ends), shape=(n, n)))
    graph = sp.csr_array(graph + graph.T)
    order = in_patches(graph.indptr.astype(np.int64), graph.indices.astype(np.int32), most)
    assert sorted(order.tolist()) == list(range(n))
    if n:
        n_components, component = connected_components(graph, directed=False)
        assert np.count_nonzero(np.diff(component[order])) == n_components - 1


def median_apart(graph, place):
    rows, columns = graph.nonzero()
    return np.median(np.abs(place[rows] - place[columns]))


def test_what_meets_lies_together_and_in_patches_closer():
    graph = shuffled_grid(100)
    arrays = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    apart = {most: median_apart(graph, np.argsort(in_patches(*arrays, most))) for most in (16, 256, 10**6)}
    assert apart[16] <= 8
    assert apart[256] <= 25
    assert apart[10**6] <= 100  # a front through the grid; in no order it is 2,900


def test_a_patch_that_is_full_is_left_where_its_border_has_waited_longest():
    """A path, numbered from its middle to the left and right by turns: breadth first is 0, 1, 2, 3, ..."""
    path = sp.dok_array((11, 11))
    for node in range(1, 11):
        path[node, max(node - 2, 0)] = path[max(node - 2, 0), node] = 1
    path = sp.csr_array(path)
    arrays = path.indptr.astype(np.int64), path.indices.astype(np.int32)
    assert in_patches(*arrays, 100).tolist() == list(range(11))
    assert in_patches(*arrays, 3).tolist() == [0, 1, 2, 3, 5, 7, 4, 6, 8, 9, 10]


# -- all together -------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_matrix", [False, True])
def test_rows_that_meet_lie_together(as_matrix):
    points = np.random.default_rng(0).permutation(np.argwhere(np.ones((80, 80))))
    affinity = hm.HyperedgeAffinity(hm.knn_hypergraph(points, 4))
    meets = affinity.matrix()
    given = median_apart(meets, np.arange(affinity.n))
    if as_matrix:
        affinity = hm.MatrixAffinity(meets)
    _, row_of = prepare.lay_out(affinity)
    assert given > 1500
    assert median_apart(meets, row_of) <= 160  # two lines of the grid: rows that share a vertex meet


@pytest.mark.parametrize("n", [100, 1000])  # below and above what is put in order
def test_rows_share_what_their_hyperedges_share(n):
    rng = np.random.default_rng(n)
    edges = [sorted({int(v) for v in rng.integers(0, n, rng.integers(1, 6))}) for _ in range(n)]
    edges += edges[::3] + [[n + k, k] for k in range(20)] + [[n + 50 + k] for k in range(3)]
    hypergraph = hm.Hypergraph.from_edges(edges, weights=rng.integers(1, 3, len(edges)).astype(float))
    affinity = hm.HyperedgeAffinity(hypergraph)
    graph, row_of = prepare.lay_out(affinity)
    assert (graph.row_idx.size >= prepare._ORDERED) == (n == 1000)

    incidence = (hypergraph.incidence.toarray() > 0).astype(int)
    shared = incidence[incidence.sum(axis=1) > 1]
    rows = np.zeros((graph.twins.size, incidence.shape[0]), int)
    rows[np.repeat(np.arange(graph.twins.size), np.diff(graph.row_ptr)), graph.row_idx] = 1
    first = graph.first_edge
    assert (rows @ rows.T == shared[:, first].T @ shared[:, first]).all()
    by_vertex = np.zeros_like(rows.T)
    by_vertex[np.repeat(np.arange(incidence.shape[0]), np.diff(graph.vertex_ptr)), graph.vertex_idx] = 1
    assert (by_vertex == rows.T).all()

    seen = {}
    for e in range(len(edges)):
        twin_of = (shared[:, e].tobytes(), affinity.rate[e]) if shared[:, e].any() else e
        assert first[row_of[e]] == seen.setdefault(twin_of, e)
    assert graph.twins.tolist() == np.bincount(row_of).tolist()
    assert (graph.rate == affinity.rate[first]).all()
