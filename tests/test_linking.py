"""Density of hyperedges, the level of links between them, and bridges where there are none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from hypermodes import HyperedgeAffinity, ModeTree, linking
from hypermodes.construct.neighbours import nearest_neighbours
from hypermodes.construct.points import hypergraph_of_neighbours
from hypermodes.linking import (
    HAIR,
    _cap,
    _speakers,
    bridges,
    hyperedge_density,
    link_level,
    neighbour_links,
    vertex_sums,
)
from hypermodes.tree import Links
from oracles import joined_at
from strategies import seeds

POINTS = np.random.default_rng(0).normal(size=(80, 2))


def some_neighbours(seed, n=30, k=4):
    rng = np.random.default_rng(seed)
    return nearest_neighbours(rng.normal(size=(n, 2)), k), 10 ** rng.uniform(-1, 1, n)


def edge(neighbours, i):
    return {i, *neighbours.indices[i].tolist()}


@given(seeds, st.integers(1, 8))
def test_density_is_the_total_affinity(seed, k):
    neighbours, rate = some_neighbours(seed, k=k)
    hypergraph = hypergraph_of_neighbours(neighbours, weight=lambda degree, reach: degree * rate)
    total = HyperedgeAffinity(hypergraph).matvec(np.ones(neighbours.n))
    # Sums of up to n(k + 1) positive terms, from which 2 a_i (k + 1) is taken away: at most what is left, as
    # every hyperedge shares a vertex with each of its k neighbours.
    np.testing.assert_allclose(
        hyperedge_density(neighbours.indices, rate) * 2 * (k + 1) ** 2, total, rtol=1e-11
    )


@given(seeds)
def test_density_by_sets(seed):
    neighbours, rate = some_neighbours(seed)
    edges = [edge(neighbours, i) for i in range(neighbours.n)]
    expected = [
        sum(len(e & f) * (rate[i] + rate[j]) for j, f in enumerate(edges) if i != j) / 50
        for i, e in enumerate(edges)
    ]
    np.testing.assert_allclose(hyperedge_density(neighbours.indices, rate), expected, rtol=1e-11)
    popularity, rated = vertex_sums(neighbours.indices, rate).T
    assert popularity.tolist() == [sum(v in e for e in edges) for v in range(neighbours.n)]
    np.testing.assert_allclose(
        rated,
        [sum(rate[i] for i, e in enumerate(edges) if v in e) for v in range(neighbours.n)],
        rtol=1e-12,
    )


def test_density_is_near_the_rate_where_all_have_the_same_neighbours():
    """k + 1 points that are each other's neighbours: f = k (k + 1) · 2a / 2(k + 1)² = a k/(k + 1)."""
    neighbours = nearest_neighbours(POINTS[:6], 5)
    np.testing.assert_allclose(
        hyperedge_density(neighbours.indices, np.full(6, 3.0)), 3.0 * 5 / 6, rtol=1e-12
    )


# -- links --------------------------------------------------------------------------------------------


@given(seeds, st.integers(1, 8))
def test_links_are_pairs_of_neighbours_by_density_and_shared_vertices(seed, k):
    neighbours, density = some_neighbours(seed, k=k)
    links = neighbour_links(neighbours.indices, density)
    pairs = [frozenset(pair) for pair in zip(links.left.tolist(), links.right.tolist(), strict=True)]
    expected = {frozenset((i, j)) for i in range(neighbours.n) for j in neighbours.indices[i].tolist()}
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == expected
    for i, j, level in zip(*links, strict=True):
        shared = len(edge(neighbours, i) & edge(neighbours, j))
        lower = min(density[i], density[j])
        assert level == pytest.approx(lower * (shared / (k + 1)) ** 0.5, rel=2 * HAIR)


@given(seeds, st.sampled_from([1, 2, 7, 29, 30, 100]), st.booleans())
def test_the_forest_made_in_blocks_is_the_forest_of_all_links(seed, block, level):
    neighbours, density = some_neighbours(seed)
    density = np.ones_like(density) if level else density  # then only the order of the links decides
    with pytest.MonkeyPatch.context() as patch:
        every = neighbour_links(neighbours.indices, density).thinned(0, neighbours.n)
        patch.setattr("hypermodes.linking.BLOCK", block)
        patch.setattr("hypermodes.linking.BLOCKS", 3)
        thin = neighbour_links(neighbours.indices, density, 2, thin=True)
    for first in range(0, neighbours.n, block):  # nothing is left inside a block that makes a ring
        inside = [(side >= first) & (side < first + block) for side in (thin.left, thin.right)]
        joined = inside[0] & inside[1]
        assert joined.sum() <= max(0, min(block, neighbours.n - first) - 1)
    found = thin.thinned(0, neighbours.n)
    for one, other in zip(found, every, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_jobs", [2, 4, 7])
@pytest.mark.parametrize("thin", [False, True])
def test_threads_change_nothing(n_jobs, thin, monkeypatch):
    monkeypatch.setattr("hypermodes.linking.BLOCK", 4)
    neighbours, density = some_neighbours(1, n=500)
    for one, other in zip(
        neighbour_links(neighbours.indices, density, 1, thin=thin),
        neighbour_links(neighbours.indices, density, n_jobs, thin=thin),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_of_links_level_with_each_other_that_to_the_denser_end_is_higher():
    levels = link_level(np.full(3, 2.0), np.array([2.0, 2.5, 4.0]), 3, 5)
    assert (np.diff(levels) > 0).all()
    np.testing.assert_allclose(levels, 2.0 * (3 / 6) ** 0.5, rtol=2 * HAIR)


def test_a_link_has_no_direction():
    one, other = 10 ** np.random.default_rng(0).uniform(-2, 2, (2, 20))
    np.testing.assert_array_equal(link_level(one, other, 3, 5), link_level(other, one, 3, 5))


@given(seeds)
def test_links_are_level_only_if_their_ends_are_as_dense(seed):
    """Nothing is left to the order of the rows, so that it does not matter how the points lie.

    Two points that are each other's last neighbours, and have the same others, are equally dense.
    """
    points = np.random.default_rng(seed).normal(size=(40, 2))
    neighbours = nearest_neighbours(points, 6)
    density = hyperedge_density(neighbours.indices, 1 / neighbours.distances[:, -1])
    links = neighbour_links(neighbours.indices, density)
    ends = np.sort(density[np.column_stack((links.left, links.right))], axis=1)
    order = np.argsort(links.level)
    level_with_next = np.diff(links.level[order]) == 0
    assert (np.diff(ends[order], axis=0)[level_with_next] == 0).all()


# -- bridges ------------------------------------------------------------------------------------------


def apart(seed, n_groups, size=6, k=2):
    """Groups of points without links between them: (points, neighbours, links, density)."""
    rng = np.random.default_rng(seed)
    middles = rng.permutation(n_groups)[:, None] * [40.0, 0.0] + rng.uniform(-9, 9, (n_groups, 2))
    points = (middles[:, None, :] + rng.normal(size=(n_groups, size, 2))).reshape(-1, 2)
    neighbours = nearest_neighbours(points, k)
    density = 10 ** rng.uniform(-1, 1, len(points))
    return points, neighbours, neighbour_links(neighbours.indices, density), density


def brute(points, asked=None):
    table = cdist(points, points)

    def nearest(among, of):
        if asked is not None:
            asked.append((among, of))
        some = table[np.ix_(of, among)]
        return some.min(axis=1), some.argmin(axis=1)

    return nearest


def groups_of(links, n):
    pairs = zip(links.left.tolist(), links.right.tolist(), np.ones(links.left.size), strict=True)
    return joined_at(n, list(pairs), 0.0)


def nearest_between(groups, points):
    """The pairs that join groups at the least total length: Kruskal over all pairs of points."""
    table = cdist(points, points)
    pairs = sorted((table[i, j], i, j) for i in range(len(points)) for j in range(i))
    found = set()
    for _, i, j in pairs:
        one, other = (next(group for group in groups if v in group) for v in (i, j))
        if one != other:
            groups = (groups - {one, other}) | {one | other}
            found.add(frozenset((i, j)))
    return found


@given(seeds, st.integers(1, 7))
def test_bridges_are_the_nearest_pairs_and_join_everyone(seed, n_groups):
    points, neighbours, links, density = apart(seed, n_groups)
    reach = neighbours.distances[:, -1]
    joined = bridges(links, density, reach, 2, brute(points))
    n, old = len(points), links.left.size
    for one, other in zip(joined, links, strict=True):
        np.testing.assert_array_equal(one[:old], other)  # what was there stays
    new = set(map(frozenset, zip(joined.left[old:].tolist(), joined.right[old:].tolist(), strict=True)))
    assert new == nearest_between(groups_of(links, n), points)
    assert len(groups_of(joined, n)) == 1
    for i, j, level in zip(*(array[old:] for array in joined), strict=True):
        length = np.linalg.norm(points[i] - points[j])
        lower = min(density[i], density[j]) * min(1.0, max(reach[i], reach[j]) / length)
        assert level == pytest.approx(lower * (1 / 3) ** 0.5, rel=2 * HAIR)
    ModeTree.grow(joined, np.ones(n))  # which would object


def test_the_largest_group_is_not_asked_for():
    points = np.concatenate((np.arange(50.0), 1000 + np.arange(5.0)))[:, None]
    neighbours = nearest_neighbours(points, 2)
    asked = []
    links = neighbour_links(neighbours.indices, np.ones(55))
    bridges(links, np.ones(55), neighbours.distances[:, -1], 2, brute(points, asked))
    assert {int(i) for _, of in asked for i in of} == set(range(50, 55))


@pytest.mark.parametrize(("total", "least"), [(20, 2), (31, 2), (20, 4), (10**6, 2)])
def test_who_speaks_for_a_group_does_not_hang_on_the_order_of_points(monkeypatch, total, least):
    monkeypatch.setattr(linking, "ASKED", total)
    monkeypatch.setattr(linking, "SPOKEN_FOR", least)
    rng = np.random.default_rng(0)
    group, density = np.repeat([0, 1, 2], [3, 12, 40]), rng.permutation(55) + 1.0
    speaks = _speakers(group, np.bincount(group), density)
    assert speaks[:3].all()  # a small one through all of its points
    assert 3 * least <= speaks.sum() <= max(total, 3 * least)
    assert speaks.sum() >= min(55, total - 2)
    for c in range(3):
        assert speaks[(group == c) & (density == density[group == c].min())].all()
    order = rng.permutation(55)
    assert (_speakers(group[order], np.bincount(group), density[order]) == speaks[order]).all()


@given(st.lists(st.integers(1, 30), min_size=1, max_size=12), st.integers(1, 200))
def test_groups_are_cut_down_to_a_size_that_leaves_so_many(sizes, total):
    cap = _cap(np.array(sizes), total)
    kept = [sum(min(size, most) for size in sizes) for most in (cap, cap + 1)]
    assert kept[0] <= total
    assert kept[1] > total or cap == max(sizes)


def test_joined_already_means_nothing_to_do():
    neighbours = nearest_neighbours(POINTS[:10], 9)
    links = neighbour_links(neighbours.indices, np.ones(10))

    def never(among, of):
        raise AssertionError("nobody should ask")

    joined = bridges(links, np.ones(10), np.ones(10), 9, never)
    for one, other in zip(joined, links, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_groups", [2, 3, 5, 8])
def test_what_is_infinitely_far_is_joined_at_level_0(n_groups):
    points, neighbours, links, density = apart(3, n_groups)
    n_apart = len(groups_of(links, len(points)))

    def nearest(among, of):
        return np.full(of.size, np.inf), np.zeros(of.size, dtype=int)

    joined = bridges(links, density, neighbours.distances[:, -1], 2, nearest)
    old = links.left.size
    assert joined.level[old:].tolist() == [0.0] * (n_apart - 1)
    assert len(groups_of(joined, len(points))) == 1
    ModeTree.grow(joined, np.ones(len(points)))


def test_some_far_and_some_infinitely_far():
    # 0-1, 2-3 and 4-5 are groups; 2-3 is 10 from 0-1, and 4-5 out of reach.
    points = np.array([0.0, 1.0, 11.0, 12.0, 0.0, 1.0])
    table = np.abs(points[:, None] - points)
    table[4:, :4] = table[:4, 4:] = np.inf
    links = Links(np.array([0, 2, 4]), np.array([1, 3, 5]), np.ones(3))

    def nearest(among, of):
        some = table[np.ix_(of, among)]
        return some.min(axis=1), some.argmin(axis=1)

    joined = bridges(links, np.ones(6), np.ones(6), 1, nearest)
    bridged = {
        frozenset((int(i), int(j))): level
        for i, j, level in zip(*(array[3:] for array in joined), strict=True)
    }
    assert bridged.pop(frozenset((1, 2))) == pytest.approx(0.1 * 0.5**0.5, rel=2 * HAIR)
    assert list(bridged.values()) == [0.0]
    assert len(groups_of(joined, 6)) == 1
