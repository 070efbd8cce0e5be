"""Groups of hypergraphs: planted ones are found, chance is one group, and the laws one expects hold."""

import csv
import gzip
import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import hypermodes as hm
from hypermodes.chance import price, shuffled
from hypermodes.homes import climb, find_homes, grouped, judged, standard_error, sums, words
from hypermodes.pyramid import cut, joined
from hypermodes.ties import connected_ties, pair_ties
from planted import planted

HYPERGRAPH, TRUTH = planted()
GROUPS = hm.cluster(HYPERGRAPH)


def same_partition(a, b):
    return adjusted_rand_score(a, b) == 1


# -- what is found ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"strangers": 0.4, "edges": 1200},
        {"skew": 0.5, "strangers": 0.3, "edges": 1500},
        {"sizes": (12, 20, 40), "edges": 200, "strangers": 0.4},
        {"n": 400, "groups": 25, "edges": 2500},
    ],
)
def test_planted_groups_are_found_and_counted(case):
    hypergraph, truth = planted(**case, seed=3)
    groups = hm.cluster(hypergraph)
    assert groups.n_clusters == len(set(truth))
    inside = groups.vertex_labels >= 0
    assert adjusted_rand_score(truth[inside], groups.vertex_labels[inside]) > 0.9


@pytest.mark.parametrize(
    "case",
    [{}, {"edges": 150}, {"edges": 3000}, {"skew": 0.6}, {"sizes": (30,), "edges": 80}, {"sizes": (2,)}],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_chance_alone_is_one_group(case, seed):
    hypergraph, _ = planted(**case, strangers=1.0, seed=seed)
    groups = hm.cluster(hypergraph)
    assert groups.sizes[0] >= 0.95 * (groups.vertex_labels >= 0).sum()
    assert groups.evidence == 0


OVERLAPPING = [
    planted(strangers=0.4, edges=1200)[0],
    planted(n=200, groups=12, edges=700, strangers=0.3, skew=0.5, seed=3)[0],
]
ASKED = [
    (hypergraph, options)
    for hypergraph in (HYPERGRAPH, *OVERLAPPING)
    for options in ({}, {"n_clusters": 3}, {"n_clusters": 5}, {"threshold": 0.1})
]


@pytest.mark.parametrize(("hypergraph", "options"), ASKED)
def test_every_core_is_a_certified_mode_of_the_hyperedges_of_its_group(hypergraph, options):
    groups = hm.cluster(hypergraph, **options)
    for k, mode in enumerate(groups.modes()):
        own = groups.hyperedges(k)
        if mode is None:  # no two hyperedges of the group meet
            vertices = [vertex for label in own for vertex in hypergraph.members(label)]
            assert len(vertices) == len(set(vertices))
            continue
        assert mode.status is hm.Status.CERTIFIED
        assert (groups.edge_labels[mode.support] == k).all()
        alone = hypergraph.subset(own)
        p = mode.distribution(hypergraph.n_edges)[groups.edge_labels == k]
        certificate = hm.certify(alone, p)
        assert certificate.holds()
        assert certificate.density == pytest.approx(mode.density)


def test_threads_find_the_same_cores():
    one, other = (hm.cluster(OVERLAPPING[0]).modes(n_jobs=n_jobs) for n_jobs in (1, 2))
    assert [m.support.tolist() for m in one] == [m.support.tolist() for m in other]
    assert [m.weights.tolist() for m in one] == [m.weights.tolist() for m in other]


@pytest.mark.parametrize(("hypergraph", "options"), ASKED)
def test_the_group_of_each_is_the_one_it_belongs_to_most(hypergraph, options):
    groups = hm.cluster(hypergraph, **options)
    for shares, labels in (
        (groups.memberships, groups.vertex_labels),
        (groups.edge_memberships, groups.edge_labels),
    ):
        inside = np.flatnonzero(labels >= 0)
        shares = shares.toarray()[inside]
        assert (shares[np.arange(inside.size), labels[inside]] >= shares.max(axis=1) - 1e-8).all()


def test_evidence_is_that_of_the_groups_that_are_returned():
    for hypergraph in (HYPERGRAPH, *OVERLAPPING):
        found = hm.cluster(hypergraph)
        asked = {k: hm.cluster(hypergraph, n_clusters=k).evidence for k in range(1, found.n_clusters + 3)}
        assert asked[1] == 0
        assert asked[found.n_clusters] == found.evidence
        assert len(set(asked.values())) == len(asked)
        assert max(asked.values()) == found.evidence  # here nothing is better than what was found
        assert hm.cluster(hypergraph, threshold=0.0).evidence == 0
        assert hm.cluster(hypergraph, threshold=1.0).evidence < found.evidence


def test_edges_belong_where_their_members_do_and_strangers_nowhere():
    held = np.zeros((HYPERGRAPH.n_edges, GROUPS.n_clusters))
    for e in range(HYPERGRAPH.n_edges):
        members = HYPERGRAPH.incidence[:, [e]].indices
        np.add.at(held[e], GROUPS.vertex_labels[members], 1 / members.size)
    pure = held.max(axis=1) == 1
    assert (GROUPS.edge_labels[pure] == held[pure].argmax(axis=1)).all()
    apart = held.max(axis=1) <= 0.5
    assert (GROUPS.edge_labels[apart & (HYPERGRAPH.edge_sizes == 2)] == -1).all()
    assert GROUPS.outliers.tolist() == np.flatnonzero(GROUPS.edge_labels == -1).tolist()


def test_memberships_are_shares():
    for shares in (GROUPS.memberships, GROUPS.edge_memberships):
        assert shares.min() >= 0
        assert shares.sum(axis=1).max() <= 1 + 1e-12
    two_homes, _ = planted(groups=2, seed=5)
    edges = [two_homes.members(e) for e in two_homes.labels]
    guest = [(*list(edges[i])[:2], "guest") for i in range(200)]
    groups = hm.cluster(hm.Hypergraph.from_edges(edges + guest))
    both = groups.memberships[[groups.hypergraph.vertex_index("guest")]].toarray()[0]
    assert groups.n_clusters == 2
    assert (both > 0.2).all()  # of both, by what it does with either


# -- laws -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_order_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(HYPERGRAPH.n_vertices), rng.permutation(HYPERGRAPH.n_edges)
    groups = hm.cluster(hm.Hypergraph.from_incidence(HYPERGRAPH.incidence[rows][:, columns]))
    assert same_partition(groups.vertex_labels, GROUPS.vertex_labels[rows])
    assert groups.evidence == pytest.approx(GROUPS.evidence)
    assert same_partition(groups.edge_labels, GROUPS.edge_labels[columns])
    leaves = [len(set(g.leaves.tolist())) for g in (groups, GROUPS)]
    assert leaves[0] == leaves[1]


def test_order_does_not_matter_where_groups_are_faint():
    hypergraph, _ = planted(strangers=0.55, edges=900, seed=2)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(hypergraph.n_vertices), rng.permutation(hypergraph.n_edges)
    one = hm.cluster(hypergraph)
    other = hm.cluster(hm.Hypergraph.from_incidence(hypergraph.incidence[rows][:, columns]))
    assert same_partition(other.vertex_labels, one.vertex_labels[rows])


def test_everything_twice_is_the_same():
    doubled = sp.hstack([HYPERGRAPH.incidence, HYPERGRAPH.incidence])
    groups = hm.cluster(hm.Hypergraph.from_incidence(doubled))
    assert (groups.vertex_labels == GROUPS.vertex_labels).all()
    assert (groups.edge_labels == np.tile(GROUPS.edge_labels, 2)).all()
    assert abs(groups.memberships - GROUPS.memberships).max() < 1e-12


def test_the_unit_of_weights_does_not_matter():
    weights = np.random.default_rng(0).uniform(0.5, 2, HYPERGRAPH.n_edges)
    one, other = (hm.cluster(hm.Hypergraph(HYPERGRAPH.incidence, weights * unit)) for unit in (1, 1e-3))
    assert (one.vertex_labels == other.vertex_labels).all()
    assert one.evidence == pytest.approx(other.evidence)


def test_what_is_not_connected_plays_no_part():
    other, _ = planted(n=90, groups=3, seed=7)
    weights = np.concatenate((HYPERGRAPH.weights, 100 * other.weights))
    both = hm.cluster(
        hm.Hypergraph(sp.block_diag([HYPERGRAPH.incidence, other.incidence], format="csc"), weights)
    )
    alone = hm.cluster(other)
    assert same_partition(both.vertex_labels[: HYPERGRAPH.n_vertices], GROUPS.vertex_labels)
    assert same_partition(both.vertex_labels[HYPERGRAPH.n_vertices :], alone.vertex_labels)
    assert both.n_clusters == GROUPS.n_clusters + alone.n_clusters
    assert both.evidence == pytest.approx(GROUPS.evidence + alone.evidence)


def test_hundreds_of_parts_are_judged_as_each_alone():
    parts = [planted(n=24, groups=2, edges=60, strangers=0.1, seed=seed)[0] for seed in range(4)]
    together = hm.cluster(
        hm.Hypergraph.from_incidence(sp.block_diag([p.incidence for p in parts] * 60, format="csc"))
    )
    alone = [hm.cluster(part) for part in parts]
    assert together.n_clusters == 60 * sum(groups.n_clusters for groups in alone)
    assert together.tree.n == 60 * sum(groups.tree.n for groups in alone)
    first = 0
    for groups in alone * 60:
        own = slice(first, first + groups.vertex_labels.size)
        assert same_partition(together.vertex_labels[own], groups.vertex_labels)
        assert same_partition(together.leaves[own], groups.leaves)
        first = own.stop


def test_threads_do_not_matter():
    assert (hm.cluster(HYPERGRAPH, n_jobs=1).leaves == GROUPS.leaves).all()


# -- the tree ---------------------------------------------------------------------------------------------


def test_the_tree_holds_the_groups():
    tree, leaf = GROUPS.tree, GROUPS.leaves
    assert (np.diff(tree.heights) <= 1e-12).all()
    assert tree.n == leaf.max() + 1
    assert same_partition(cut(tree, tree.n - GROUPS.n_clusters)[leaf], GROUPS.vertex_labels)
    assert tree.mass[-1] == HYPERGRAPH.n_vertices


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6, 9])
def test_as_many_as_asked_for(k):
    groups = hm.cluster(HYPERGRAPH, n_clusters=k)
    assert groups.n_clusters == k
    assert (np.diff(groups.sizes) <= 0).all()
    assert groups.sizes.min() > 0


def test_a_threshold_cuts_the_tree():
    counts = [hm.cluster(HYPERGRAPH, threshold=share).n_clusters for share in (0.0, 0.02, 0.2, 1.0)]
    assert counts[0] == 1
    assert counts == sorted(counts)


# -- bad and odd input ------------------------------------------------------------------------------------


def test_what_meets_nothing_is_an_outlier():
    H = hm.Hypergraph.from_edges([[1, 2], [2, 3], [8, 9], [7]], vertices=[1, 2, 3, 7, 8, 9, 10])
    groups = hm.cluster(H)
    assert groups.vertex_labels.tolist() == [0, 0, 0, -1, -1, -1, -1]
    assert groups.edge_labels.tolist() == [0, 0, -1, -1]
    assert "4 vertices in none" in repr(groups)
    nothing = hm.cluster(hm.Hypergraph.from_edges([[1, 2], [3]]))
    assert nothing.n_clusters == 0
    assert nothing.modes() == ()
    assert nothing.outliers.tolist() == [0, 1]
    assert "0 groups" in repr(nothing)


def test_parts_that_are_asked_to_be_one_are():
    H = hm.Hypergraph.from_edges([[1, 2], [2, 3], [4, 5], [5, 6]])
    assert hm.cluster(H).n_clusters == 2
    assert hm.cluster(H, n_clusters=1).vertex_labels.tolist() == [0] * 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "n_clusters: expected a positive whole number or None; got 0"),
        ({"n_clusters": True}, "n_clusters: expected"),
        ({"n_clusters": 2.5}, "n_clusters: expected"),
        ({"threshold": 1.5}, "threshold: expected a share from 0 to 1, or None; got 1.5"),
        ({"threshold": float("nan")}, "threshold: expected"),
        ({"threshold": 0.5, "n_clusters": 2}, "threshold: expected n_clusters or threshold, not both"),
        ({"n_jobs": 0}, "n_jobs: expected"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        hm.cluster(HYPERGRAPH, **options)


def test_points_are_sent_elsewhere():
    with pytest.raises(TypeError, match="for points use cluster_points"):
        hm.cluster(np.zeros((3, 2)))
    with pytest.raises(IndexError, match="k: expected the number of a group"):
        GROUPS.members(99)


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 14), min_size=1, max_size=6), min_size=1, max_size=25),
    st.lists(st.floats(0.01, 100), min_size=25, max_size=25),
)
def test_anything_has_groups_that_fit_together(edges, weights):
    hypergraph = hm.Hypergraph.from_edges(edges, weights=weights[: len(edges)])
    groups = hm.cluster(hypergraph)
    assert groups.memberships.shape == (hypergraph.n_vertices, groups.n_clusters)
    assert set(groups.vertex_labels.tolist()) - {-1} == set(range(groups.n_clusters))
    assert set(groups.edge_labels.tolist()) <= set(range(-1, groups.n_clusters))
    assert (np.isfinite(groups.memberships.data)).all()
    assert groups.memberships.sum(axis=1).max(initial=0) <= 1 + 1e-9
    assert groups.edge_memberships.sum(axis=1).max(initial=0) <= 1 + 1e-9
    assert len(groups.modes()) == groups.n_clusters
    for e in range(hypergraph.n_edges):  # a hyperedge is of a group of one of its vertices, or none
        members = hypergraph.incidence[:, [e]].indices
        assert groups.edge_labels[e] == -1 or groups.edge_labels[e] in groups.vertex_labels[members]


# -- the pieces, against slow and literal ones ---------------------------------------------------------------


def test_ties_are_those_of_all_pairs():
    incidence = sp.random_array((9, 12), density=0.4, rng=np.random.default_rng(1), format="csc")
    weights = np.random.default_rng(2).uniform(1, 3, 12)
    slow = np.zeros((9, 9))
    dense = incidence.toarray()
    for e in range(12):
        members = np.flatnonzero(dense[:, e])
        for u in members:
            for v in members:
                if u != v:
                    h = dense[:, e]
                    slow[u, v] += weights[e] * h[u] * h[v] / (h.sum() * (1 - 1 / members.size))
    assert np.allclose(pair_ties(incidence, weights).toarray(), slow)


def test_large_hyperedges_keep_the_degrees_of_their_members():
    incidence = sp.csc_array(np.ones((300, 1)))
    ties = pair_ties(incidence, np.array([2.0]))
    assert np.allclose(ties.sum(axis=1), 2.0)
    assert np.diff(ties.indptr).max() == 32
    assert abs(ties - ties.T).max() < 1e-12


def test_evidence_is_the_likelihood_less_the_words():
    part = connected_ties(HYPERGRAPH)[0]
    labels = TRUTH[part.vertices]
    homes = judged(part.matrix, labels)
    dense, degrees = part.matrix.toarray(), part.degrees
    total = degrees.sum()
    mass = np.bincount(labels, weights=degrees)

    def log_likelihood(x):
        ratio = np.where(labels[:, None] == labels[None, :], 1 - x + x * total / mass[labels], 1 - x)
        return float((dense * np.log(ratio)).sum() / 2)

    assert homes.evidence == pytest.approx(log_likelihood(homes.share) - words(np.bincount(labels)))
    around = [log_likelihood(homes.share + step) for step in (-0.01, 0.01)]
    assert max(around) < log_likelihood(homes.share)


def test_the_likelihood_is_one_of_probabilities():
    """Σ over all pairs of degree-proportional draws of the ratio is 1, whatever the groups."""
    part = connected_ties(HYPERGRAPH)[0]
    labels, degrees, x = TRUTH[part.vertices] % 3, part.degrees, 0.37
    total, mass = degrees.sum(), np.bincount(labels, weights=degrees)
    ratio = np.where(labels[:, None] == labels[None, :], 1 - x + x * total / mass[labels], 1 - x)
    assert (ratio * np.outer(degrees, degrees)).sum() / total**2 == pytest.approx(1)


def test_nobody_gains_by_moving_alone():
    part = connected_ties(HYPERGRAPH)[0]
    homes = climb(part.matrix, np.arange(part.vertices.size), 0.5)
    for v in range(0, part.vertices.size, 7):
        for g in range(homes.n_groups):
            labels = homes.labels.copy()
            labels[v] = g
            inside, degrees, members = sums(part.matrix, labels)
            x, total = homes.share, degrees.sum()
            value = (inside * np.log(1 - x + x * total / degrees)).sum()
            value += (total / 2 - inside.sum()) * np.log(1 - x) - words(members)
            assert value <= homes.evidence + 1e-6


@pytest.mark.parametrize("cost", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_a_climb_says_what_its_groups_are_worth(cost, share):
    matrix = connected_ties(HYPERGRAPH)[0].matrix
    homes = climb(matrix, np.arange(matrix.shape[0]), share, cost=cost)
    again = judged(matrix, homes.labels, cost)
    assert homes.evidence == pytest.approx(again.evidence)
    assert homes.share == pytest.approx(again.share, abs=1e-6)
    assert climb(matrix, homes.labels, homes.share, cost=cost).evidence >= homes.evidence - 1e-6


def test_ties_of_groups_are_sums_of_those_of_members():
    matrix = connected_ties(HYPERGRAPH)[0].matrix
    labels = np.random.default_rng(0).integers(0, 7, matrix.shape[0])
    member = np.eye(7)[labels]
    slow = member.T @ matrix.toarray() @ member
    between, inside = grouped(matrix, labels)
    assert np.allclose(inside, np.diag(slow) / 2)
    assert np.allclose(between.toarray(), slow - np.diag(np.diag(slow)))
    assert between.has_sorted_indices


@settings(max_examples=60)
@given(st.integers(2, 40), st.floats(0.02, 0.6), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_leaves_join_by_the_largest_lift(n, density, k, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(sp.random_array((n, n), density=density, rng=rng).toarray(), 1)
    upper += np.diag(rng.uniform(0.1, 0.2, n - 1), 1)  # no vertex is without ties
    ties, groups = upper + upper.T, np.arange(n) % k
    joins = joined(sp.csr_array(ties), np.arange(n), groups)
    assert len(joins) == n - 1
    degrees, total = ties.sum(axis=1), ties.sum()
    where, lowest, inside = np.arange(n), np.inf, True
    for a, b, lift in joins:
        a, b = where[a], where[b]
        lifts = np.triu(ties * total / np.outer(degrees, degrees), 1)
        inner = lifts * (groups[:, None] == groups[None, :])
        inside = inside and inner.any()  # first inside groups; once these are complete, all
        allowed = inner if inside else lifts
        assert allowed[min(a, b), max(a, b)] == pytest.approx(allowed.max())
        lowest = min(lowest, allowed.max())
        assert lift == pytest.approx(lowest)
        for axis in (ties, ties.T):
            axis[a] += axis[b]
            axis[b] = 0
        ties[a, a] = 0
        degrees[a] += degrees[b]
        where[where == b] = a


def test_words_count_the_ways():
    # 4 vertices: K of 1..4, then sizes (compositions), then who
    assert words(np.array([2, 2])) == pytest.approx(np.log(4) + np.log(3) + np.log(6))
    assert words(np.array([4])) == pytest.approx(np.log(4))


def test_a_shuffled_copy_keeps_degrees_and_sizes_only():
    incidence = connected_ties(HYPERGRAPH)[0].incidence
    copy = shuffled(incidence, seed=1)
    assert (np.diff(copy.indptr) == np.diff(incidence.indptr)).all()
    assert (copy.sum(axis=1) == incidence.sum(axis=1)).all()
    assert set(copy.data.tolist()) == {1.0}
    assert (copy - incidence).nnz > 0


def test_at_its_price_chance_has_no_groups():
    hypergraph, _ = planted(strangers=1.0, seed=4)
    part = connected_ties(hypergraph)[0]
    assert 0.1 < price(part) < 1
    assert find_homes(part.matrix, price(part)).n_groups == 1
    free = find_homes(part.matrix, 0.0)
    assert free.n_groups > 1  # and would have if they were free
    assert standard_error(part.matrix, free, free) == 0


# -- passing on -------------------------------------------------------------------------------------------


def test_what_is_written_is_what_was_found(tmp_path):
    GROUPS.to_csv(tmp_path / "v.csv")
    GROUPS.edges_to_csv(tmp_path / "e.csv")
    GROUPS.to_json(tmp_path / "g.json")
    with open(tmp_path / "v.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["group"]) for row in rows] == GROUPS.vertex_labels.tolist()
    with open(tmp_path / "e.csv", newline="") as file:
        assert [int(row["group"]) for row in csv.DictReader(file)] == GROUPS.edge_labels.tolist()
    content = json.loads((tmp_path / "g.json").read_text())
    assert [tuple(group["members"]) for group in content["groups"]] == [
        GROUPS.members(k) for k in range(GROUPS.n_clusters)
    ]
    assert [len(group["edges"]) for group in content["groups"]] == [
        len(GROUPS.hyperedges(k)) for k in range(GROUPS.n_clusters)
    ]
    assert len(GROUPS) == GROUPS.n_clusters == len(GROUPS.to_columns()["core"])


# -- real data --------------------------------------------------------------------------------------------


def _labelled(folder, name):
    folder = folder / "hypergraphs_labelled" / name
    with gzip.open(folder / "hyperedges.txt.gz", "rt") as file:
        edges = [[int(v) for v in line.replace("\t", ",").split(",")] for line in file if line.strip()]
    with gzip.open(folder / "node-labels.txt.gz", "rt") as file:
        truth = np.array([int(line) for line in file if line.strip()])
    return hm.Hypergraph.from_edges(edges, vertices=range(1, truth.size + 1)), truth


@pytest.mark.data
def test_classes_of_a_school_are_found(data_folder):
    hypergraph, truth = _labelled(data_folder, "contact-high-school-classes")
    groups = hm.cluster(hypergraph)
    assert groups.n_clusters == 9
    assert normalized_mutual_info_score(truth, groups.vertex_labels) >= 0.97
    assert adjusted_rand_score(truth, groups.vertex_labels) >= 0.95
    assert all(mode.status is hm.Status.CERTIFIED for mode in groups.modes())


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "nmi", "ari"), [("walmart-trips-restricted", 0.063, 0.030), ("SN-congress-bills", 0.095, 0.065)]
)
def test_more_is_found_than_by_modularity_of_cliques(data_folder, name, nmi, ari):
    hypergraph, truth = _labelled(data_folder, name)
    labels = hm.cluster(hypergraph).vertex_labels
    assert normalized_mutual_info_score(truth, labels) > nmi
    assert adjusted_rand_score(truth, labels) > ari
