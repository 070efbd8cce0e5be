"""The mode tree against its definitions by sets, and every way to read it against enumeration."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from hypermodes import ModeTree
from hypermodes._kernels import trees
from hypermodes.tree import RUNG, WIDEST, Condensed, Links, condense_tree
from oracles import (
    adjusted_rand,
    antichains,
    condensed,
    excess_of,
    flooded,
    joined_at,
    spanning_merges,
)
from strategies import linked_points, seeds

# Levels are multiples of 1/8 and masses of 1/4 (see `linked_points`): unless said otherwise everything here
# is exact, and compared with ==.
sizes = st.sampled_from([0.25, 1.0, 2.0, 3.0, 5.0, 50.0])


def grown(n, links, mass):
    left, right, level = zip(*links, strict=True) if links else ((), (), ())
    return ModeTree.grow(
        Links(np.array(left, dtype=np.int32), np.array(right, dtype=np.int32), np.array(level, dtype=float)),
        np.array(mass, dtype=float),
    )


def branches(tree):
    """Points of every node of the tree, as sets."""
    found = [frozenset([i]) for i in range(tree.n)]
    for a, b in tree.children.tolist():
        found.append(found[a] | found[b])
    return found


def nodes_of(tree, smallest):
    """What `condense` says, as sets: ({branch: (birth, branch of parent)}, levels, branch of each number)."""
    node, level, parts, ptr, _, height, _ = condense_tree(tree, smallest)
    up, birth = np.full(len(parts), -1), np.zeros(len(parts))
    for c in np.flatnonzero(parts[:, 0] >= 0):
        up[parts[c]], birth[parts[c]] = c, height[ptr[c]]  # its first stage is where the two meet
    inside = [set(np.flatnonzero(node == c).tolist()) for c in range(up.size)]
    for c in range(up.size - 1):
        assert up[c] > c  # children come before their parents
        inside[up[c]] |= inside[c]
    assert up[-1] == -1
    named = [frozenset(branch) for branch in inside]
    parent = [named[u] if u >= 0 else None for u in up.tolist()]
    return dict(zip(named, zip(birth.tolist(), parent, strict=True), strict=True)), level.tolist(), named


def groups_of(labels):
    return {frozenset(np.flatnonzero(labels == c).tolist()) for c in set(labels.tolist()) - {-1}}


def random_tree(n=200, seed=0):
    """Each point linked to an earlier one, levels in general position."""
    rng = np.random.default_rng(seed)
    links = [(int(rng.integers(0, i)), i, float(rng.uniform(0.1, 1.0))) for i in range(1, n)]
    return grown(n, links, np.ones(n))


# -- the tree itself ----------------------------------------------------------------------------------


@given(linked_points())
def test_merges_are_those_of_kruskal(case):
    n, links, mass = case
    tree = grown(n, links, mass)
    expected = spanning_merges(n, links)
    inside = branches(tree)
    assert tree.n == n
    assert tree.heights.tolist() == [link[2] for _, _, link in expected]
    for m, (one, other, (a, b, _)) in enumerate(expected):
        assert {inside[c] for c in tree.children[m]} == {one, other}
        assert tree.ends[m].tolist() == [a, b]
    np.testing.assert_array_equal(tree.mass, [sum(mass[i] for i in branch) for branch in inside])
    np.testing.assert_array_equal(tree.weights, mass)


@given(seeds, st.integers(2, 60))
def test_the_spanning_tree_is_one_of_largest_total(seed, n):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    rng = np.random.default_rng(seed)
    ends = np.array(
        [(int(rng.integers(0, i)), i) for i in range(1, n)] + rng.integers(0, n, (3 * n, 2)).tolist()
    )
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    level = rng.uniform(0.1, 1.0, len(ends))
    tree = ModeTree.grow(Links(ends[:, 0], ends[:, 1], level), np.ones(n))
    total = minimum_spanning_tree(coo_array((-level, ends.T), shape=(n, n))).sum()
    np.testing.assert_allclose(tree.heights.sum(), -total, rtol=1e-12)  # the same terms in another order
    assert (np.diff(tree.heights) <= 0).all()


def test_a_tree_cannot_be_changed():
    tree = random_tree(10)
    for array in (tree.children, tree.ends, tree.heights, tree.mass):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_links_that_leave_someone_out_are_refused():
    with pytest.raises(ValueError, match=r"^links: expected links that join all points"):
        grown(3, [(0, 1, 1.0)], [1, 1, 1])
    with pytest.raises(ValueError, match=r"^links: expected links that join all points"):
        grown(2, [], [1, 1])


# -- groups that are large enough ---------------------------------------------------------------------


@given(linked_points(), sizes)
def test_condense_keeps_the_groups_that_part(case, smallest):
    n, links, mass = case
    tree = grown(n, links, mass)
    nodes, level, _ = nodes_of(tree, smallest)
    expected_nodes, expected_level = condensed(spanning_merges(n, links), mass, smallest)
    assert nodes == expected_nodes
    assert level == expected_level


def test_a_point_that_is_large_enough_by_itself_is_a_group():
    # 0 and 1 weigh 4 each and meet at 1/2; 2 weighs 1 and hangs on 1 at 3/4.
    tree = grown(3, [(0, 1, 0.5), (1, 2, 0.75)], [4, 4, 1])
    nodes, level, _ = nodes_of(tree, 4.0)
    assert set(nodes) == {frozenset([0, 1, 2]), frozenset([0]), frozenset([1, 2])}
    assert level == [0.5, 0.75, 0.75]
    assert tree.at(4.0).labels.tolist() in ([0, 1, 1], [1, 0, 0])
    assert tree.at(4.0).n_clusters == 2


@given(linked_points(), sizes)
def test_nothing_large_enough_is_one_group(case, smallest):
    n, links, mass = case
    level = grown(n, links, mass).at(sum(mass) + smallest)
    assert level.n_clusters == 1
    assert level.labels.tolist() == level.core.tolist() == [0] * n


# -- which of them are clusters -----------------------------------------------------------------------


def chosen(tree, smallest, choose):
    """Nodes that are clusters, as sets; the cluster of each point in them is checked on the way."""
    node, _, *stages = condense_tree(tree, smallest)
    group, _, up, excess = trees.groups_at(*stages, smallest)
    np.testing.assert_array_equal(group, np.arange(up.size))  # at the same size they are the same
    label, count = choose(up, excess)
    _, _, named = nodes_of(tree, smallest)
    assert set(label.tolist()) - {-1} == set(range(count))
    tops = [c for c in range(up.size) if label[c] >= 0 and (up[c] < 0 or label[up[c]] != label[c])]
    assert len(tops) == count
    for c in tops:
        assert all(label[node[i]] == label[c] for i in named[c])
    return frozenset(named[c] for c in tops)


@given(linked_points(), sizes)
def test_excess_of_mass_is_the_best_antichain_without_the_root(case, smallest):
    n, links, mass = case
    found = chosen(grown(n, links, mass), smallest, trees.excess_of_mass)
    nodes, level = condensed(spanning_merges(n, links), mass, smallest)
    excess = excess_of(nodes, level, mass)
    everyone = frozenset(range(n))
    if len(nodes) == 1:
        assert found == {everyone}
        return
    allowed = [set(a) for a in antichains(nodes) if everyone not in a]
    best = max(sum(excess[b] for b in a) for a in allowed)
    ties = [a for a in allowed if sum(excess[b] for b in a) == best]
    assert set(found) in ties
    leaves = [b for b in nodes if all(parent != b for _, parent in nodes.values())]
    assert all(any(leaf <= branch for branch in found) for leaf in leaves)  # nobody large is left out
    covering = [a for a in ties if all(any(leaf <= b for b in a) for leaf in leaves)]
    assert len(found) == min(len(a) for a in covering)  # of equals, the one that splits least


@given(linked_points(), sizes, st.integers(1, 12))
def test_best_antichain_is_the_best_of_that_many(case, smallest, wanted):
    n, links, mass = case
    found = chosen(
        grown(n, links, mass), smallest, lambda *tree: trees.best_antichain(*tree, np.int64(wanted))
    )
    nodes, level = condensed(spanning_merges(n, links), mass, smallest)
    excess = excess_of(nodes, level, mass)
    n_leaves = (len(nodes) + 1) // 2
    assert len(found) == min(wanted, n_leaves)
    totals = [sum(excess[b] for b in a) for a in antichains(nodes) if len(a) == len(found)]
    assert sum(excess[b] for b in found) == max(totals)


@given(linked_points(), st.data())
def test_flooding_follows_the_highest_path(case, data):
    n, links, mass = case
    tree = grown(n, links, mass)
    core = data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n).filter(lambda c: max(c) >= 0))
    expected = flooded(n, tree.ends.tolist(), core)
    assert tree.flood(np.array(core)).tolist() == expected


@given(linked_points(), sizes)
def test_a_level_is_made_of_these(case, smallest):
    n, links, mass = case
    tree = grown(n, links, mass)
    level = tree.at(smallest)
    assert groups_of(level.core) == set(chosen(tree, smallest, trees.excess_of_mass))
    assert level.labels.tolist() == flooded(n, tree.ends.tolist(), level.core.tolist())
    assert level.height.tolist() == condensed(spanning_merges(n, links), mass, smallest)[1]
    assert level.smallest == smallest
    assert level.n_clusters == len(groups_of(level.core)) == len(groups_of(level.labels))
    assert np.isnan(level.agreement)


def test_a_group_that_is_large_enough_but_for_rounding_is_large_enough():
    tree = grown(6, [(0, 1, 1.0), (1, 2, 1.0), (3, 4, 1.0), (4, 5, 1.0), (2, 3, 0.5)], [0.1] * 6)
    rounded_up = 0.3 * (1 + 1e-12)
    assert tree.at(rounded_up).n_clusters == 2
    assert tree.above(0.75, rounded_up).n_clusters == 2
    assert tree.at(0.3 * (1 + 1e-6)).n_clusters == 1


# -- a threshold --------------------------------------------------------------------------------------


@given(linked_points(), sizes, st.sampled_from([0.0, 0.125, 0.5, 0.75, 1.0]))
def test_above_a_threshold_groups_are_what_links_of_that_level_join(case, smallest, threshold):
    n, links, mass = case
    tree = grown(n, links, mass)
    level = tree.above(threshold, smallest)
    highest = max((link[2] for link in links), default=0.0)
    groups = joined_at(n, links, threshold * highest)
    large = {group for group in groups if sum(mass[i] for i in group) >= smallest}
    assert groups_of(level.core) == large
    assert level.n_clusters == len(large)
    if large:
        assert level.labels.tolist() == flooded(n, tree.ends.tolist(), level.core.tolist())
    else:
        assert (level.labels == -1).all()


# -- agreement ----------------------------------------------------------------------------------------

partitions = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        *(st.lists(st.integers(0, 3), min_size=n, max_size=n) for _ in range(2)),
        st.lists(st.integers(1, 8).map(lambda x: x / 4), min_size=n, max_size=n),
    )
)


def agreement(first, second, weights):
    return trees.agreement(np.array(first), 4, np.array(second), 4, np.array(weights, dtype=float))


@given(partitions)
def test_agreement_is_the_adjusted_rand_index_of_masses(case):
    first, second, weights = case
    # Sums of squares are exact, being multiples of 1/16; `chance`, at most 24², is not, and its rounding
    # counts in relation to best - chance, which is at least 1/16 if it is not 0.
    assert agreement(first, second, weights) == pytest.approx(
        adjusted_rand(first, second, weights), abs=1e-16 * 16 * 24**2 * 10
    )
    assert agreement(first, second, weights) == pytest.approx(agreement(second, first, weights), abs=1e-10)


@given(partitions)
def test_agreement_is_what_scikit_learn_says_of_points_that_came_often(case):
    first, second, weights = case
    often = 4000
    repeats = [int(often * w) for w in weights]
    many = adjusted_rand_score(np.repeat(first, repeats), np.repeat(second, repeats))
    # With W the mass and N = often·W points, pairs of a point with itself are a share 1/N of all: three sums
    # of squares are off by that at most, and the index by 4/N over its denominator ½(s(1 - t) + t(1 - s)),
    # s and t being the shares of pairs in one cluster. Of at most four clusters s >= 1/4; one that is not
    # everything has 1 - s >= 1/(4 W), the smallest share. So the denominator is at least 1/(32 W).
    if len(set(first)) > 1 or len(set(second)) > 1:
        assert agreement(first, second, weights) == pytest.approx(many, abs=128 / often)


@given(partitions, st.integers(2, 5))
def test_agreement_counts_a_weight_as_repeated_points(case, times):
    first, second, weights = case
    plain = agreement(first, second, weights)
    assert agreement(first * times, second * times, weights * times) == pytest.approx(plain, abs=1e-10)
    assert agreement(first, second, [w * times for w in weights]) == pytest.approx(plain, abs=1e-10)


def test_agreement_of_partitions_that_say_nothing_is_1():
    assert agreement([0, 0, 0], [0, 0, 0], [1, 2, 3]) == 1.0
    assert agreement([0, 1, 2], [0, 1, 2], [1, 2, 3]) == 1.0
    assert agreement([0], [0], [1]) == 1.0
    assert agreement([0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1]) == 1.0  # names play no part


# -- every smallest size ------------------------------------------------------------------------------


@given(linked_points(), st.sampled_from([0.25, 0.5, 1.0, 4.0]))
def test_the_ladder_goes_to_a_third_of_everything(case, lowest):
    tree = grown(*case)
    ladder = tree.ladder(lowest)
    assert ladder[0] == lowest
    np.testing.assert_allclose(np.array(ladder[1:]) / ladder[:-1], RUNG, rtol=1e-12)
    top = WIDEST * float(tree.mass[-1])
    assert len(ladder) == 1 or ladder[-1] <= top * (1 + 1e-9)
    assert ladder[-1] * RUNG > top * (1 - 1e-9)


def of_all_sizes(tree, lowest, n_jobs=1):
    """The medoid of the readings at every smallest size."""
    groups = Condensed.of(tree, lowest, n_jobs)
    return groups.medoid(groups.read_all(tree.ladder(lowest), trees.excess_of_mass, n_jobs), n_jobs)


@given(linked_points(), st.sampled_from([0.25, 0.5, 1.0]))
def test_the_medoid_agrees_best_with_all_readings(case, lowest):
    tree = grown(*case)
    levels = [tree.at(smallest) for smallest in tree.ladder(lowest)]
    found = of_all_sizes(tree, lowest)
    if len(levels) == 1:
        assert np.isnan(found.agreement)
        np.testing.assert_array_equal(found.labels, levels[0].labels)
        return
    weights = tree.weights.tolist()
    means = [
        np.mean([adjusted_rand(a.labels, b.labels, weights) for b in levels if b is not a]) for a in levels
    ]
    first = next(i for i, mean in enumerate(means) if mean >= max(means) - 1e-9)
    assert found.smallest == levels[first].smallest
    np.testing.assert_array_equal(found.labels, levels[first].labels)
    np.testing.assert_array_equal(found.core, levels[first].core)
    assert found.agreement == pytest.approx(means[first], abs=1e-9)


@given(linked_points(), st.integers(1, 12))
def test_into_gives_that_many_as_long_as_there_are_points(case, wanted):
    n, links, mass = case
    tree = grown(n, links, mass)
    level = tree.into(wanted, 4.0)
    assert level.n_clusters == min(wanted, n)
    assert set(level.labels.tolist()) == set(range(min(wanted, n)))
    inside = level.core >= 0
    np.testing.assert_array_equal(level.core[inside], level.labels[inside])
    assert level.smallest <= 4.0 * max(1.0, sum(mass))


@pytest.mark.parametrize("wanted", [1, 2, 3, 7, 50, 200, 10**9])
def test_into_many(wanted):
    tree = random_tree(200)
    level = tree.into(wanted, 4.0)
    assert Counter(level.labels.tolist()).keys() == set(range(min(wanted, 200)))


def test_into_takes_smaller_groups_only_where_it_must():
    tree = random_tree(200)
    most = len([0 for _, parent in nodes_of(tree, 4.0)[0].values() if parent is not None]) // 2 + 1
    assert tree.into(most, 4.0).smallest >= 4.0
    assert tree.into(most + 1, 4.0).smallest < 4.0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_smallest_trees_can_be_read_in_every_way(n):
    tree = grown(n, [(i, i + 1, 0.5) for i in range(n - 1)], np.ones(n))
    for level in (
        tree.at(1.0),
        tree.at(4.0),
        of_all_sizes(tree, 4.0),
        tree.into(1, 4.0),
        tree.into(5, 4.0),
        tree.above(0.5, 1.0),
    ):
        assert level.labels.shape == level.core.shape == level.height.shape == (n,)
        assert (level.height >= 0).all()
        assert level.n_clusters >= 1
    assert tree.into(5, 4.0).n_clusters == n
    assert tree.above(0.5, n + 1.0).n_clusters == 0


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_threads_change_nothing(n_jobs):
    tree = random_tree(300, seed=2)
    for one, other in (
        (of_all_sizes(tree, 4.0), of_all_sizes(tree, 4.0, n_jobs)),
        (tree.into(5, 4.0, n_jobs=1), tree.into(5, 4.0, n_jobs=n_jobs)),
    ):
        np.testing.assert_array_equal(one.labels, other.labels)
        assert one.agreement == other.agreement


def test_a_level_prints_what_it_is():
    text = repr(of_all_sizes(random_tree(50), 4.0))
    assert text.startswith("Level(")
    assert "clusters of at least" in text


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda tree: tree.at(0.0), r"^smallest: expected a positive mass; got 0\.0"),
        (lambda tree: tree.at(float("nan")), "^smallest: expected a positive mass; got nan"),
        (lambda tree: tree.above(0.5, -1.0), r"^smallest: expected a positive mass; got -1\.0"),
        (lambda tree: tree.ladder(0.0), r"^lowest: expected a positive mass; got 0\.0"),
        (lambda tree: tree.into(2, float("inf")), "^lowest: expected a positive mass; got inf"),
        (lambda tree: tree.into(0, 4.0), "^n_clusters: expected a positive whole number; got 0"),
        (lambda tree: tree.into(2, 4.0, n_jobs=0), "^n_jobs: expected a number of threads"),
    ],
)
def test_bad_questions_get_one_clear_error(read, message):
    with pytest.raises(ValueError, match=message):
        read(random_tree(20))


@pytest.mark.parametrize(
    ("left", "right", "level"),
    [([0], [10**9], [1.0]), ([0], [-1], [1.0]), ([0.0], [1.0], [1.0]), ([0, 1], [1], [1.0, 2.0])],
)
def test_links_to_nowhere_are_refused(left, right, level):
    with pytest.raises(ValueError, match="links: expected"):
        ModeTree.grow(Links(np.array(left), np.array(right), np.array(level)), np.ones(2))


@pytest.mark.parametrize("core", [np.zeros(5, int), np.zeros(3), np.zeros((3, 1), int)])
def test_flood_wants_one_label_a_point(core):
    tree = ModeTree.grow(Links(np.array([0, 1]), np.array([1, 2]), np.array([1.0, 2.0])), np.ones(3))
    with pytest.raises(ValueError, match="core: expected 3 labels"):
        tree.flood(core)
