"""All the modes: ranking, merging, and what a set of modes tells."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hypermodes as hm
import oracles
from layers import compiled, readable
from strategies import generic_hypergraphs, hypergraphs, tied_hypergraphs

EPS = np.finfo(float).eps
EDGES = [[5, 6], [1, 2, 3], [8], [2, 3, 4], [6, 7], [1, 3, 4]]


@pytest.fixture
def modes():
    return hm.find_modes(hm.Hypergraph.from_edges(EDGES))


def test_modes_are_ranked_by_density(modes):
    assert len(modes) == 2
    assert [mode.support.tolist() for mode in modes] == [[1, 3, 5], [0, 4]]
    assert modes.densities == pytest.approx([8 / 9, 1 / 2], rel=10 * EPS)
    assert modes[-1].support.tolist() == modes.modes[1].support.tolist() == [0, 4]
    with pytest.raises(IndexError):
        modes[2]


def test_every_hyperedge_knows_its_mode(modes):
    assert modes.edge_mode.tolist() == [1, 0, -1, 0, 1, 0]
    assert modes.edge_mode.dtype == np.int64
    assert modes.sizes.tolist() == [3, 2]
    assert modes.members(0).tolist() == [1, 3, 5]
    assert modes.members(-1).tolist() == modes.members(1).tolist() == [0, 4]
    with pytest.raises(IndexError):
        modes.members(2)


def test_a_set_of_modes_says_what_it_is_and_cannot_be_changed(modes):
    assert repr(modes) == "ModeSet(2 modes of 5 of 6 hyperedges, densities 0.8889 to 0.5)"
    with pytest.raises(ValueError, match="read-only"):
        modes.edge_mode[0] = 0
    with pytest.raises(AttributeError):
        modes.modes = ()


def test_what_is_not_certified_is_counted():
    found = hm.find_modes(hm.Hypergraph.from_edges(EDGES), max_rounds=1)
    assert all(mode.status is hm.Status.MAX_ROUNDS for mode in found)
    assert repr(found).endswith(f", {len(found)} MAX_ROUNDS)")
    assert found.status_counts == {hm.Status.MAX_ROUNDS: len(found)}


@given(st.one_of(hypergraphs(), tied_hypergraphs()))
def test_a_set_of_modes_is_consistent(hypergraph):
    modes = hm.find_modes(hypergraph)
    assert (np.diff(modes.densities) <= 0).all()
    assert modes.sizes.sum() == (modes.edge_mode >= 0).sum()
    assert (modes.sizes > 0).all()
    for k in range(len(modes)):
        assert len(modes.members(k)) == modes.sizes[k]
    isolated = ~(hm.HyperedgeAffinity(hypergraph).matrix().toarray().any(axis=1))
    assert ((modes.edge_mode == -1) == isolated).all()


# -- the smallest ones --------------------------------------------------------------------------------


def test_without_overlap_there_is_no_mode():
    none = hm.find_modes(hm.Hypergraph.from_edges([["a"], ["b"], ["c", "d"]]))
    assert len(none) == 0
    assert none.edge_mode.tolist() == [-1, -1, -1]
    assert none.sizes.tolist() == none.densities.tolist() == list(none) == []
    assert repr(none) == "ModeSet(0 modes of 0 of 3 hyperedges)"


def test_two_copies_of_a_hyperedge_are_a_mode():
    modes = hm.find_modes(hm.Hypergraph.from_edges([["a", "b"], ["a", "b"]]))
    assert modes.edge_mode.tolist() == [0, 0]
    assert modes[0].weights == pytest.approx([0.5, 0.5], rel=4 * EPS)
    assert modes[0].density == pytest.approx(1.0, rel=4 * EPS)  # M_01 = 2·(1/2 + 1/2)


@pytest.mark.parametrize("copies", [3, 30])
def test_copies_of_a_hyperedge_are_one_mode_with_equal_weights(copies):
    modes = hm.find_modes(hm.Hypergraph.from_edges([["a"]] * copies))
    assert len(modes) == 1
    # All affinities are 2: F = 2(1 - 1/n), and equal payoffs mean equal weights.
    assert modes[0].weights == pytest.approx(np.full(copies, 1 / copies), rel=1e-9)
    assert modes[0].density == pytest.approx(2 * (1 - 1 / copies), rel=1e-12)


# -- merging ------------------------------------------------------------------------------------------


def test_modes_joined_by_a_flat_segment_are_one():
    # e_0 overlaps e_1 and e_2 equally and they are disjoint, so {e_0, e_1}, {e_0, e_2} and all between have
    # the same density. Shifted alone, e_1 and e_2 end at different points of that segment.
    flat = hm.Hypergraph.from_edges([["a", "b"], ["a", "x"], ["b", "y"]])
    ends = [hm.shift(flat, i) for i in range(3)]
    assert ends[1].support.tolist() != ends[2].support.tolist()
    modes = hm.find_modes(flat)
    assert modes.edge_mode.tolist() == [0, 0, 0]
    # The widest member stands for the class: from e_0 both sides are admitted alike.
    assert modes[0].support.tolist() == [0, 1, 2]
    assert modes[0].density == pytest.approx(0.5, rel=10 * EPS)


def test_a_chain_of_flat_segments_is_one_mode():
    # A star: a centre and five leaves, each in one vertex of its own. Any spread of mass over leaves is flat.
    star = hm.Hypergraph.from_edges([[1, 2, 3, 4, 5], [1, 11], [2, 12], [3, 13], [4, 14], [5, 15]])
    modes = hm.find_modes(star)
    assert len(modes) == 1
    assert modes[0].support.tolist() == [0, 1, 2, 3, 4, 5]


def test_modes_of_equal_density_that_are_not_joined_stay_apart():
    pairs = hm.Hypergraph.from_edges([[1, 2], [2, 3], [4, 5], [5, 6]])
    modes = hm.find_modes(pairs)
    assert modes.edge_mode[0] == modes.edge_mode[1] != modes.edge_mode[2] == modes.edge_mode[3]
    assert modes.densities == pytest.approx([0.5, 0.5], rel=10 * EPS)


def test_a_tie_alone_does_not_join_two_modes():
    # {e_0, e_1} and {e_2, e_3} are equally dense and e_2 has payoff F at the first, but e_3 has not: between
    # the two F is lower.
    matrix = np.array([[0, 2, 1, 0], [2, 0, 1, 0], [1, 1, 0, 2], [0, 0, 2, 0]])
    modes = hm.find_modes(hm.MatrixAffinity(matrix))
    assert {tuple(mode.support.tolist()) for mode in modes} == {(0, 1), (2, 3)}
    assert modes.densities == pytest.approx([1.0, 1.0], rel=10 * EPS)


@given(tied_hypergraphs())
def test_two_modes_are_never_joined_by_a_flat_segment(hypergraph):
    modes = hm.find_modes(hypergraph)
    matrix = hm.HyperedgeAffinity(hypergraph).matrix().toarray()
    for i, one in enumerate(modes):
        for other in modes.modes[:i]:
            joint = one.distribution(len(matrix)) @ matrix @ other.distribution(len(matrix))
            level = abs(one.density - other.density) <= 1e-9 * one.density
            assert not (level and joint >= one.density * (1 - 1e-9))


# -- options ------------------------------------------------------------------------------------------


@given(generic_hypergraphs(max_edges=6))
def test_a_matrix_gives_the_modes_of_the_hypergraph_it_came_from(hypergraph):
    affinity = hm.HyperedgeAffinity(hypergraph)
    found = hm.find_modes(hypergraph)
    for same in (
        affinity,
        hm.MatrixAffinity(affinity.matrix()),
        hm.MatrixAffinity(affinity.matrix().toarray()),
    ):
        again = hm.find_modes(same)
        assert again.edge_mode.tolist() == found.edge_mode.tolist()
        for one, other in zip(found, again, strict=True):
            assert one.support.tolist() == other.support.tolist()
            assert one.density == pytest.approx(
                other.density, rel=1e-9
            )  # both within the tolerance of the climb


def test_only_the_starts_are_shifted():
    named = hm.Hypergraph.from_edges(EDGES, labels=["u", "v", "w", "x", "y", "z"])
    modes = hm.find_modes(named, starts=["z", "u", "w"])
    assert modes.edge_mode.tolist() == [1, -1, -1, -1, -1, 0]
    assert modes[0].support.tolist() == [1, 3, 5]  # where they lead is not limited to them
    assert len(hm.find_modes(named, starts=iter("w"))) == 0
    assert hm.find_modes(named, starts=[]).edge_mode.tolist() == [-1] * 6


def test_progress_is_told_as_starts_are_done():
    calls = []
    rows = np.random.default_rng(0).integers(0, 3000, size=(5000, 3))
    hm.find_modes(hm.Hypergraph.from_edges(rows), progress=lambda *call: calls.append(call))
    done, total = zip(*calls, strict=True)
    assert len(calls) > 1
    assert (np.diff(done) > 0).all()
    assert set(total) == {done[-1]}


def test_progress_of_the_readable_layer_is_told_after_every_start():
    calls = []
    hm.find_modes(
        hm.Hypergraph.from_edges(EDGES),
        starts=[0, 3, 5],
        dynamics=hm.Replicator(),
        progress=lambda *call: calls.append(call),
    )
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_an_error_in_progress_is_not_swallowed():
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hm.find_modes(hm.Hypergraph.from_edges(EDGES), progress=stop)


def test_progress_can_be_a_bar(capsys):
    pytest.importorskip("tqdm")
    with_bar = hm.find_modes(hm.Hypergraph.from_edges(EDGES), progress=True)
    assert "100%" in capsys.readouterr().err
    hm.find_modes(hm.Hypergraph.from_edges(EDGES), progress=False)
    streams = capsys.readouterr()
    assert streams.out == streams.err == ""  # the library never prints
    assert len(with_bar) == 2


@pytest.mark.parametrize("dynamics", [hm.Replicator(), hm.InfectionImmunization(), hm.FaceSolve()])
@pytest.mark.parametrize("expansion", [hm.Voting(), hm.Voting(admit=1)])
def test_every_rule_and_expansion_finds_the_same_modes(dynamics, expansion, modes):
    found = hm.find_modes(hm.Hypergraph.from_edges(EDGES), dynamics=dynamics, expansion=expansion)
    assert found.edge_mode.tolist() == modes.edge_mode.tolist()
    assert [mode.support.tolist() for mode in found] == [mode.support.tolist() for mode in modes]


@given(tied_hypergraphs())
def test_two_runs_are_the_same_bit_for_bit(hypergraph):
    one, other = hm.find_modes(hypergraph), hm.find_modes(hypergraph)
    assert one.edge_mode.tobytes() == other.edge_mode.tobytes()
    assert [mode.weights.tobytes() for mode in one] == [mode.weights.tobytes() for mode in other]
    assert [mode.support.tobytes() for mode in one] == [mode.support.tobytes() for mode in other]


# Here starts come to rest on a flat face with a share of 1e-5 that nothing has settled.
NEAR_A_BORDER = [
    [[1, 0], [5, 4], [1, 5], [2, 5], [1, 2]],
    [[2, 0], [0, 1], [2, 3], [0, 4], [2, 4]],
    [[1, 2], [0, 5], [1, 5], [5, 4], [4, 1], [2, 3]],
    [[0, 3, 1], [3], [2], [0], [1, 2, 0], [1, 2, 3]],
    [[1, 3], [5, 1], [3, 2], [1, 2], [4, 0], [0, 3], [2, 4]],
    [[2, 3], [3, 1], [2, 4], [3, 5], [2, 5], [5, 0], [4, 3]],
]
SMALL = [oracles.random_edges(np.random.default_rng(seed), "integer") for seed in range(60)]


@pytest.mark.parametrize("layer", [compiled, readable])
@pytest.mark.parametrize(("edges", "weights"), [(e, [1.0] * len(e)) for e in NEAR_A_BORDER] + SMALL)
def test_modes_that_a_flat_segment_joins_are_one(layer, edges, weights):
    hypergraph = hm.Hypergraph.from_edges(edges, weights=weights)
    matrix, modes = oracles.affinity_of(hypergraph), layer(hypergraph)
    points = [mode.distribution(len(edges)) for mode in modes]
    for p, q in itertools.combinations(points, 2):
        value = p @ matrix @ p
        # Weights of 1, 2 and 3: where F is not the same, it differs by much more.
        assert abs(q @ matrix @ q - value) > 1e-4 * value or p @ matrix @ q < value * (1 - 1e-4)
    for mode in modes:
        assert mode.status is hm.Status.CERTIFIED
        assert mode.weights.min() > 1e-4
