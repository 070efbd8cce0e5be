"""Mean shift: scikit-learn's answer in our types."""

import numpy as np
import pytest
from sklearn.cluster import MeanShift
from sklearn.metrics import adjusted_rand_score

from hypermodes.baselines.mean_shift import mean_shift
from hypermodes.datasets import five_crescents


def test_the_labels_are_those_of_scikit_learn():
    points = five_crescents(150).points
    theirs = MeanShift(bandwidth=0.6).fit(points)
    ours = mean_shift(points, bandwidth=0.6, min_members=1)
    assert adjusted_rand_score(theirs.labels_, ours.labels) == 1.0
    assert ours.iterations == theirs.n_iter_


def test_a_group_lies_around_its_mode():
    points, h = five_crescents(150).points, 0.6
    partition = mean_shift(points, bandwidth=h)
    for group in partition.groups:
        centre = group.weights @ points[group.support]
        distance = np.linalg.norm(points - centre, axis=1)
        # A flat kernel: the mode is the mean of what lies within h, up to the last step of h/1000.
        assert np.flatnonzero(distance < h * 0.99).tolist() == [
            i for i in group.support if distance[i] < h * 0.99
        ]
        assert distance[group.support].max() <= h * 1.01
        assert group.value == len(group) / len(points)


def test_a_point_alone_is_an_outlier():
    points = np.array([[0.0], [0.1], [0.2], [9.0]])
    assert mean_shift(points, bandwidth=1.0).labels.tolist() == [0, 0, 0, -1]
    assert mean_shift(points, bandwidth=1.0, min_members=1).labels.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("option", "value"), [("bandwidth", -1), ("quantile", 0), ("max_steps", 0), ("min_members", 0)]
)
def test_bad_options_are_refused_by_name(option, value):
    with pytest.raises(ValueError, match=f"^{option}: "):
        mean_shift(np.zeros((3, 2)), **{option: value})
