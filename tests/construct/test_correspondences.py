"""Candidates and their affinity against a literal reading of the formulas; hyperedges without conflict."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hypermodes as hm
from hypermodes.construct.correspondences import affinity as affinities
from hypermodes.construct.correspondences import scrambled


def features(rng, n, **known):
    made = {
        "orientations": rng.uniform(-4, 4, n),
        "scales": rng.uniform(0.5, 2, n),
        "descriptors": rng.normal(size=(n, 3)),
    }
    return hm.Features(rng.normal(size=(n, 2)), **{name: made[name] for name in made if known.get(name)})


def turn(angle, period):
    return (angle + period / 2) % period - period / 2


def literal(left, right, candidates, rotation_invariant=False, displacement=None):
    """The formula of `pairwise_affinity`, one pair at a time."""

    def mean_length(points):
        return np.mean([np.linalg.norm(p - q) for i, p in enumerate(points) for q in points[i + 1 :]])

    units = mean_length(left.points), mean_length(right.points)
    affinity = np.zeros((len(candidates),) * 2)
    for c, (i, a) in enumerate(candidates.pairs):
        for d, (j, b) in enumerate(candidates.pairs):
            if i == j or a == b:
                continue
            lines = left.points[j] - left.points[i], right.points[b] - right.points[a]
            lengths = [np.linalg.norm(line) / unit for line, unit in zip(lines, units, strict=True)]
            angles = [np.arctan2(line[1], line[0]) for line in lines]
            exponent = ((lengths[0] - lengths[1]) / 0.3) ** 2
            if displacement is not None:
                gap = lines[0] / units[0] - lines[1] / units[1]
                exponent = gap @ gap / displacement**2
            elif not rotation_invariant:
                exponent += (turn(angles[0] - angles[1], 2 * np.pi) / 0.4) ** 2
            if not rotation_invariant:
                for k, m in ((i, a), (j, b)):
                    if left.orientations is not None:
                        exponent += (
                            0.5 * (turn(left.orientations[k] - right.orientations[m], np.pi) / 0.6) ** 2
                        )
            elif left.orientations is not None:
                for k, m in ((i, a), (j, b)):
                    relative = angles[0] - left.orientations[k] - angles[1] + right.orientations[m]
                    exponent += 0.5 * (turn(relative, np.pi) / 0.4) ** 2
            if left.scales is not None:
                ratio = left.scales[i] * right.scales[b] / left.scales[j] / right.scales[a]
                exponent += (np.log(ratio) / 0.5) ** 2
            affinity[c, d] = np.sqrt(candidates.similarity[c] * candidates.similarity[d]) * np.exp(-exponent)
    return np.where(affinity >= 0.01, affinity, 0.0)


@settings(max_examples=25)
@given(
    st.integers(2, 5),
    st.integers(2, 5),
    st.integers(0, 2**32 - 1),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_affinity_is_the_formula(n_left, n_right, seed, oriented, scaled, rotation_invariant):
    rng = np.random.default_rng(seed)
    known = {"orientations": oriented, "scales": scaled, "descriptors": True}
    left, right = features(rng, n_left, **known), features(rng, n_right, **known)
    candidates = hm.candidate_pairs(left, right)
    found = hm.pairwise_affinity(left, right, candidates, rotation_invariant=rotation_invariant).toarray()
    wanted = literal(left, right, candidates, rotation_invariant)
    clear = np.abs(wanted - 0.01) > 1e-9
    assert found[clear] == pytest.approx(wanted[clear], abs=1e-10)
    assert np.array_equal(found, found.T)
    assert not found.diagonal().any()


@settings(max_examples=25)
@given(
    st.integers(2, 5), st.integers(2, 5), st.integers(0, 2**32 - 1), st.booleans(), st.booleans(),
    st.sampled_from([0.1, 0.5, 2.0]),
)  # fmt: skip
def test_affinity_of_displacements_is_the_formula(n_left, n_right, seed, oriented, scaled, displacement):
    rng = np.random.default_rng(seed)
    known = {"orientations": oriented, "scales": scaled, "descriptors": True}
    left, right = features(rng, n_left, **known), features(rng, n_right, **known)
    candidates = hm.candidate_pairs(left, right)
    found = hm.pairwise_affinity(left, right, candidates, displacement=displacement).toarray()
    wanted = literal(left, right, candidates, displacement=displacement)
    clear = np.abs(wanted - 0.01) > 1e-9
    assert found[clear] == pytest.approx(wanted[clear], abs=1e-10)
    assert np.array_equal(found, found.T)
    assert not found.diagonal().any()


def test_candidates_that_move_their_points_alike_go_together_however_near_they_are():
    """Off by a tenth of the whole: directions over short distances are lost, displacements are not."""
    left = np.array([[0.0, 0.0], [0.0, 0.1], [2.0, 0.0], [0.0, 2.0]])
    right = left[[1, 0, 2, 3]]  # the first two have changed places
    candidates = hm.Candidates(np.column_stack((np.arange(4),) * 2), np.ones(4), 4, 4)
    by_direction = hm.pairwise_affinity(left, right, candidates).toarray()
    by_displacement = hm.pairwise_affinity(left, right, candidates, displacement=0.5).toarray()
    assert by_direction[0, 1] == 0.0
    assert by_displacement[0, 1] > 0.9


@given(st.integers(2, 12), st.integers(2, 12), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_candidates_are_the_most_alike_whatever_is_called_left(n_left, n_right, per_point, seed):
    rng = np.random.default_rng(seed)
    left, right = features(rng, n_left, descriptors=True), features(rng, n_right, descriptors=True)
    there, back = hm.candidate_pairs(left, right, per_point), hm.candidate_pairs(right, left, per_point)
    assert {tuple(p) for p in there.pairs.tolist()} == {tuple(p[::-1]) for p in back.pairs.tolist()}
    assert np.bincount(there.left, minlength=n_left).min() >= min(per_point, n_right)
    assert np.bincount(there.right, minlength=n_right).min() >= min(per_point, n_left)
    assert ((there.similarity > 0) & (there.similarity <= 1)).all()


@given(st.integers(3, 8), st.integers(3, 8), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_hyperedges_have_no_conflict(n_left, n_right, size, seed):
    rng = np.random.default_rng(seed)
    left, right = features(rng, n_left), features(rng, n_right)
    candidates = hm.candidate_pairs(left, right)
    affinity = hm.pairwise_affinity(left, right, candidates)
    assume(affinity.nnz > 0)
    groups = hm.correspondence_hypergraph(candidates, affinity, size=size)
    dense = affinity.toarray()
    for k, seed_candidate in enumerate(groups.labels):
        members = groups.incidence[:, [k]].indices
        pairs = candidates.pairs[members]
        assert seed_candidate in members
        assert len(set(pairs[:, 0])) == len(set(pairs[:, 1])) == members.size <= size
        if members.size > 1:
            assert (dense[np.ix_(members, members)].sum(axis=1) > 0).all()


@settings(max_examples=20)
@given(st.integers(2, 5), st.integers(2, 5), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_groups_take_the_candidate_with_most_affinity_to_their_members(n_left, n_right, size, seed):
    rng = np.random.default_rng(seed)
    candidates = hm.candidate_pairs(rng.normal(size=(n_left, 2)), rng.normal(size=(n_right, 2)))
    free = (candidates.pairs[:, None] != candidates.pairs[None]).all(axis=2)
    affinity = rng.uniform(size=free.shape) * (rng.uniform(size=free.shape) < 0.7)
    affinity = np.where(free, np.maximum(affinity, affinity.T), 0.0)
    assume(affinity.any())
    made = hm.correspondence_hypergraph(candidates, affinity, size=size)
    for k, first in enumerate(made.labels):
        group = [first]
        while len(group) < min(size, n_left, n_right):
            total = np.where(free[group].all(axis=0), affinity[group].sum(axis=0), 0.0)
            if not total.any():
                break
            group.append(int(np.argmax(total)))
        within = affinity[np.ix_(group, group)].sum(axis=0)
        wanted = np.zeros(len(candidates))
        wanted[group] = within / within.max()
        np.testing.assert_allclose(made.incidence[:, [k]].toarray()[:, 0], wanted)


@pytest.mark.parametrize("displacement", [None, 0.5])
def test_the_room_made_at_first_makes_no_difference(displacement, monkeypatch):
    rng = np.random.default_rng(0)
    left, right = features(rng, 20, scales=True), features(rng, 21, scales=True)
    candidates = hm.candidate_pairs(left, right)
    options = {"displacement": displacement, "length": 1.0, "direction": 2.0, "scale": 2.0}
    roomy = hm.pairwise_affinity(left, right, candidates, **options)
    monkeypatch.setattr(affinities, "_MOST_AT_ONCE", 1)
    tight = hm.pairwise_affinity(left, right, candidates, **options)
    assert roomy.nnz > 2 * 32 * len(candidates)  # so much that room had to be made again
    assert (roomy != tight).nnz == 0


def test_scrambling_keeps_what_there_is_and_loses_how_it_lies():
    rng = np.random.default_rng(0)
    before = features(rng, 30, orientations=True)
    after = scrambled(before)
    assert np.allclose(np.sort(before.orientations), np.sort(after.orientations))
    assert before.points.std(axis=0).sum() == pytest.approx(after.points.std(axis=0).sum(), rel=0.2)
    order = rng.permutation(30)
    shuffled = scrambled(before.take(order))
    assert np.allclose(shuffled.points, after.points[order])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hm.Features([[0, 0], [1, 1]], orientations=[0]), r"orientations: expected shape \(2,\)"),
        (
            lambda: hm.Features([[0, 0], [1, 1]], scales=[1, 0]),
            "scales: expected positive sizes; number 1 is 0",
        ),
        (lambda: hm.Features([[0, 0], [1, 1]], descriptors=[1, 2]), r"descriptors: expected shape \(2, d\)"),
        (lambda: hm.Candidates(np.zeros((0, 2), int), [], 1, 1), r"pairs: expected \(m, 2\) integers"),
        (lambda: hm.Candidates(np.array([[0, 3]]), [1], 2, 2), "pairs: expected points 0 … 1"),
        (lambda: hm.Candidates(np.array([[0, 1], [0, 1]]), [1, 1], 2, 2), "pairs: expected each pair once"),
        (lambda: hm.Candidates(np.array([[0, 1]]), [0], 2, 2), r"similarity: expected numbers in \(0, 1\]"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
