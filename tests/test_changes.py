"""Questions to modes: which repeat each other, who belongs to one, and what a removal changes."""

import numpy as np
import pytest

import hypermodes as hm
from planted import planted

EDGES = {"a": [1, 2, 3], "b": [2, 3, 4], "c": [1, 3, 4], "d": [5, 6], "e": [6, 7], "f": [9]}
HYPERGRAPH = hm.Hypergraph.from_edges(EDGES)
MODES = hm.find_modes(HYPERGRAPH)
MANY = hm.find_modes(planted(n=60, edges=250, seed=1)[0])


def test_strength_is_one_on_the_support_and_never_more():
    for k in range(len(MANY)):
        strength = MANY.edge_strengths(k)
        assert strength[MANY[k].support] == pytest.approx(1)
        assert strength.max() <= 1 + 1e-6
        assert strength.min() >= 0
    assert MODES.edge_strengths(0)[3:].tolist() == [0, 0, 0]


def test_strengths_of_vertices_are_the_mass_of_the_mode():
    for k in range(len(MANY)):
        strength = MANY.vertex_strengths(k)
        assert strength.sum() == pytest.approx(1)
        named = [MANY.hypergraph.vertices[int(v)] for v in np.flatnonzero(strength)]
        assert tuple(named) == MANY.vertices(k)
    assert MODES.vertex_strengths(1)[4:7].tolist() == pytest.approx([0.25, 0.5, 0.25])


def test_outliers_are_those_without_a_mode():
    assert MODES.outliers.tolist() == [5]


def test_distinct_modes_do_not_repeat_each_other_and_leave_out_only_what_does():
    mass = np.array([MANY.vertex_strengths(k) for k in range(len(MANY))])
    common = np.minimum(mass[:, None], mass[None]).sum(axis=2)
    everything = MANY.distinct(len(MANY))
    for k in range(len(MANY)):
        denser = [j for j in everything if j < k]
        assert (k in everything) == (common[k, denser] <= 0.5 + 1e-9).all()
    assert 1 < len(everything) < len(MANY)
    assert MANY.distinct(2) == everything[:2]
    assert everything[0] == 0


def test_distinct_modes_of_a_matrix():
    blocks = np.kron(np.eye(3), np.ones((4, 4))) - np.eye(12)
    modes = hm.find_modes(hm.MatrixAffinity(blocks))
    assert len(modes.distinct(10)) == 3
    with pytest.raises(ValueError, match="edge_strengths: these modes were found in a matrix"):
        modes.edge_strengths(0)
    with pytest.raises(ValueError, match="k: expected how many modes, 1 or more; got 0"):
        modes.distinct(0)


def test_nothing_changes_when_nothing_is_removed():
    changes = hm.removal(MANY, [])
    assert changes.stayed == tuple((k, k) for k in range(len(MANY)))
    assert changes.changed == changes.vanished == changes.appeared == changes.moved == ()


def test_what_is_far_from_the_removed_stays():
    two = hm.Hypergraph.from_edges({**EDGES, "g": [2, 3]})
    changes = hm.removal(hm.find_modes(two), ["g"])
    rank = next(k for k, mode in enumerate(changes.before) if mode.support.tolist() == [3, 4])
    assert rank in dict(changes.stayed)
    assert len(changes.changed) + len(changes.vanished) == len(changes.before) - 1


def test_every_mode_is_accounted_for_once():
    changes = hm.removal(MANY, [0, 5, 17, 30])
    pairs = changes.stayed + changes.changed
    before, after = [i for i, _ in pairs], [j for _, j in pairs]
    assert sorted([*before, *changes.vanished]) == list(range(len(changes.before)))
    assert sorted({*after, *changes.appeared}) == list(range(len(changes.after)))
    assert "stayed" in repr(changes)
    assert len(changes.after.edge_mode) == MANY.edge_mode.size - 4


def test_order_and_names_do_not_fool_the_comparison():
    order = np.random.default_rng(0).permutation(MANY.hypergraph.n_edges).tolist()
    again = hm.find_modes(MANY.hypergraph.subset(order))
    changes = hm.compare(MANY, again)
    assert len(changes.stayed) == len(MANY)
    assert not changes.moved


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("ab", "edges: expected labels of hyperedges to remove; got 'ab'"),
        (list(EDGES), "edges: expected some hyperedges to stay"),
        (["zzz"], "unknown hyperedge 'zzz'"),
    ],
)
def test_bad_removals(edges, message):
    with pytest.raises(ValueError, match=message):
        hm.removal(MODES, edges)
