"""Medoid shift: against three nested loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypermodes.baselines.medoid_shift import arrows, follow, medoid_shift, without_cycles
from strategies import seeds


def literal_step(points, i, h, power):
    """The data point that minimises the kernel-weighted sum of distances, by its definition."""
    best, smallest = None, np.inf
    for j in range(len(points)):
        total = 0.0
        for k in range(len(points)):
            weight = np.exp(-((np.linalg.norm(points[k] - points[i]) / h) ** 2) / 2)
            total += np.linalg.norm(points[j] - points[k]) ** power * weight
        if total < smallest:
            best, smallest = j, total
    return best


def literal_modes(points, h, power):
    modes = []
    for i in range(len(points)):
        while (following := literal_step(points, i, h, power)) != i:
            i = following
        modes.append(i)
    return modes


@pytest.mark.parametrize("power", [1.0, 2.0])
@pytest.mark.parametrize("h", [0.2, 0.5, 1.5])
def test_the_modes_are_those_of_the_literal_loops(power, h):
    points = np.random.default_rng(3).normal(size=(18, 2))
    modes = literal_modes(points, h, power)
    partition = medoid_shift(points, bandwidth=h, power=power, min_members=1)
    found = [int(partition.groups[label].support[0]) for label in partition.labels]
    assert found == modes
    assert partition.n_clusters == len(set(modes))


@given(seed=seeds, n=st.integers(2, 12))
def test_a_step_is_the_smallest_entry_of_a_column_of_the_product(seed, n):
    rng = np.random.default_rng(seed)
    points, h = rng.normal(size=(n, 2)), 0.7
    counts = rng.integers(1, 4, n)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    found = arrows(distances**2, np.exp(-((distances / h) ** 2) / 2), counts)
    copies = np.repeat(points, counts, axis=0)
    first = np.concatenate(([0], np.cumsum(counts)[:-1]))
    for i in range(n):
        assert first[found[i]] == literal_step(copies, first[i], h, 2.0)


@given(seed=seeds, n=st.integers(1, 30))
def test_density_never_falls_along_the_arrows(seed, n):
    points, h = np.random.default_rng(seed).normal(size=(n, 2)), 0.5
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    kernel = np.exp(-squares / (2 * h**2))
    found = arrows(squares, kernel, np.ones(n))
    # With squared distances the step minimises a majorant of -Σφ, as mean shift does.
    density = kernel.sum(axis=1)
    assert (density[found] >= density - 1e-12).all()


def test_arrows_are_followed_to_the_end():
    mode, steps = follow(np.array([1, 2, 2, 3, 0]), np.arange(5.0))
    assert mode.tolist() == [2, 2, 2, 3, 2]
    assert steps == 3
    assert follow(np.array([0, 1]), np.ones(2))[1] == 0


def test_a_cycle_ends_at_its_densest_place():
    following = np.array([1, 2, 0, 0, 4])
    assert without_cycles(following, np.array([1.0, 3.0, 2.0, 9.0, 1.0])).tolist() == [1, 1, 0, 0, 4]
    assert follow(following, np.array([1.0, 3.0, 2.0, 9.0, 1.0]))[0].tolist() == [1, 1, 1, 1, 4]


def test_groups_are_medoids_and_their_density():
    points = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [5.1]])
    partition = medoid_shift(points, bandwidth=0.5)
    assert partition.labels.tolist() == [1, 1, 1, 0, 0, 0, 0]
    for group in partition.groups:
        assert group.weights.tolist() == [1.0]
        kernel = np.exp(-(((points - points[group.support[0]]) / 0.5) ** 2).sum(axis=1) / 2)
        assert group.value == pytest.approx(kernel.mean())
    assert partition.iterations >= 1


def test_points_at_one_place_count_as_many():
    # Ten points on the left draw the one between; one there does not.
    crowded = np.array([[0.0]] * 10 + [[1.0], [2.1]])
    partition = medoid_shift(crowded, bandwidth=1.0, min_members=1)
    assert partition.labels.tolist() == [0] * 12
    assert partition.groups[0].support.tolist() == [0]
    assert partition.groups[0].value == pytest.approx((10 + np.exp(-0.5) + np.exp(-(2.1**2) / 2)) / 12)
    alone = medoid_shift(crowded[9:], bandwidth=1.0, min_members=1)
    assert alone.labels[0] != alone.labels[1]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("bandwidth", 0),
        ("bandwidth", np.inf),
        ("quantile", 0),
        ("quantile", 2),
        ("power", 0),
        ("min_members", 0),
    ],
)
def test_bad_options_are_refused_by_name(option, value):
    with pytest.raises(ValueError, match=f"^{option}: "):
        medoid_shift(np.zeros((3, 2)), **{option: value})
