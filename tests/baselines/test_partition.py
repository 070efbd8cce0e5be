"""Partitions and groups: checked, ordered, read-only."""

import numpy as np
import pytest

from hypermodes.partition import Group, Partition


def two_groups():
    return [Group([0, 1], [0.5, 0.5], 1.0), Group([2, 3], [0.25, 0.75], 2.0)]


def test_clusters_are_numbered_by_falling_value():
    partition = Partition.ranked([0, 0, 1, 1, -1], [1, 0.5, 0.2, 1, 0], two_groups(), 7, 5)
    assert partition.labels.tolist() == [1, 1, 0, 0, -1]
    assert [group.value for group in partition.groups] == [2.0, 1.0]
    assert partition.n_clusters == 2
    assert partition.outliers.tolist() == [4]
    assert partition.sizes.tolist() == [2, 2]
    assert partition.members(0).tolist() == [2, 3]
    assert (partition.iterations, partition.starts) == (7, 5)
    assert repr(partition) == "Partition(2 clusters of 5 items, 1 outlier, largest 2, values 2 to 1)"


def test_equal_values_are_ordered_by_the_smallest_member():
    groups = [Group([3], [1.0], 1.0), Group([0], [1.0], 1.0), Group([1], [1.0], 1.0)]
    assert Partition.ranked([1, 2, 2, 0], [1] * 4, groups).labels.tolist() == [0, 1, 1, 2]


def test_a_group_whose_label_nobody_holds_is_left_out():
    partition = Partition.ranked([-1, -1, 1, 1], [0, 0, 1, 1], two_groups())
    assert partition.labels.tolist() == [-1, -1, 0, 0]
    assert len(partition.groups) == 1


def test_nobody_belongs_anywhere():
    partition = Partition.all_outliers(3)
    assert partition.n_clusters == 0
    assert repr(partition) == "Partition(0 clusters of 3 items, 3 outliers)"


def test_everything_is_read_only_and_a_copy():
    labels = np.array([0, 0, 1, 1])
    partition = Partition.ranked(labels, np.ones(4), two_groups())
    labels[:] = 5
    assert partition.labels.tolist() == [1, 1, 0, 0]
    for array in (partition.labels, partition.probabilities, partition.outliers, partition.sizes):
        assert not array.flags.writeable
    group = partition.groups[0]
    assert not group.support.flags.writeable
    assert not group.weights.flags.writeable
    assert partition.labels.dtype == np.int64
    with pytest.raises(AttributeError):
        partition.iterations = 3


def test_a_group_is_sorted_and_a_distribution():
    group = Group([4, 1], [0.25, 0.75], 2)
    assert group.support.tolist() == [1, 4]
    assert group.weights.tolist() == [0.75, 0.25]
    assert group.distribution(6).tolist() == [0, 0.75, 0, 0, 0.25, 0]
    again = Group.from_distribution(group.distribution(6), 2)
    assert again.support.tolist() == [1, 4]
    assert repr(again) == "Group(2 items, value 2)"


@pytest.mark.parametrize(
    ("support", "weights", "value", "name"),
    [
        ([], [], 1.0, "support"),
        ([0, 0], [0.5, 0.5], 1.0, "support"),
        ([-1, 0], [0.5, 0.5], 1.0, "support"),
        ([0.5], [1.0], 1.0, "support"),
        ([0, 1], [0.5], 1.0, "weights"),
        ([0, 1], [0.5, 0.6], 1.0, "weights"),
        ([0, 1], [1.0, 0.0], 1.0, "weights"),
        ([0], [1.0], np.nan, "value"),
    ],
)
def test_a_bad_group_is_refused_by_name(support, weights, value, name):
    with pytest.raises(ValueError, match=f"^{name}: "):
        Group(support, weights, value)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"labels": [0, 0, 1, 2]}, "labels"),
        ({"labels": [0, 0, 0, 0]}, "labels"),
        ({"labels": [0, 0, 1, -2]}, "labels"),
        ({"labels": [[0, 0, 1, 1]]}, "labels"),
        ({"probabilities": [1, 1, 1]}, "probabilities"),
        ({"probabilities": [1, 1, 1, 1.1]}, "probabilities"),
        ({"labels": [1, 1, 0, -1]}, "probabilities"),
        ({"groups": ("a", "b")}, "groups"),
        ({"labels": [0, 0, 1], "probabilities": [1, 1, 1]}, "groups"),
        ({"labels": [0, 0, 1, 1]}, "groups"),
        ({"iterations": -1}, "iterations"),
        ({"starts": 0.5}, "starts"),
    ],
)
def test_a_bad_partition_is_refused_by_name(change, name):
    low, high = two_groups()
    groups = (low, high) if change.get("labels") == [0, 0, 1, 1] else (high, low)  # values must not rise
    good = {"labels": [1, 1, 0, 0], "probabilities": [1, 1, 1, 1], "groups": groups}
    with pytest.raises(ValueError, match=f"^{name}: "):
        Partition(**{**good, **change})


def test_a_cluster_that_is_not_there_is_refused():
    partition = Partition.ranked([0, 0, 1, 1], np.ones(4), two_groups())
    with pytest.raises(IndexError, match="0 … 1"):
        partition.members(2)
