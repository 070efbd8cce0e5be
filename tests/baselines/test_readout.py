"""Which maxima are one, and who belongs to which."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from hypermodes.baselines.readout import by_support, distinct, without_small
from hypermodes.partition import Group
from strategies import simplex_points


@st.composite
def maxima(draw):
    rows = draw(st.lists(simplex_points(4), min_size=1, max_size=6))
    return [Group.from_distribution(x, draw(st.floats(0, 1))) for x in rows]


@given(groups=maxima(), closer=st.floats(0.01, 2.0))
def test_maxima_are_one_if_a_chain_of_close_ones_joins_them(groups, closer):
    assume(len({group.support.tobytes() for group in groups}) == len(groups))
    points = np.array([group.distribution(4) for group in groups])
    gaps = np.abs(points[:, None] - points[None]).sum(axis=2)
    assume(np.abs(gaps - closer).min() > 1e-12)  # on the border, rounding decides
    joined = gaps < closer
    for _ in groups:
        joined = joined @ joined
    kept, owner = distinct(groups, 4, closer)
    assert ((owner[:, None] == owner[None]) == joined).all()
    for i, row in enumerate(joined):
        assert kept[owner[i]].value == max(groups[j].value for j in np.flatnonzero(row))


def test_maxima_of_one_support_are_one():
    groups = [Group([0, 1], [0.9, 0.1], 1.0), Group([0, 1], [0.1, 0.9], 2.0), Group([1], [1.0], 0.5)]
    kept, owner = distinct(groups, 2, 0.05)
    assert owner[0] == owner[1] != owner[2]
    assert kept[owner[0]].value == 2.0


def test_no_maxima_are_no_groups():
    kept, owner = distinct([], 3)
    assert kept == []
    assert owner.size == 0
    assert by_support([], 3)[0].tolist() == [-1, -1, -1]


def test_an_item_goes_to_the_best_group_that_holds_it():
    low, high = Group([0, 1, 2], [0.6, 0.3, 0.1], 1.0), Group([2, 3], [0.5, 0.5], 2.0)
    labels, probabilities = by_support([low, high], 5)
    assert labels.tolist() == [0, 0, 1, 1, -1]
    assert probabilities.tolist() == [1.0, 0.5, 1.0, 1.0, 0.0]
    assert by_support([low], 5, least=0.4)[0].tolist() == [0, 0, -1, -1, -1]


def test_small_clusters_are_outliers():
    labels, probabilities = without_small(np.array([0, 0, 1, -1]), np.array([1.0, 0.5, 1.0, 0.0]), 2)
    assert labels.tolist() == [0, 0, -1, -1]
    assert probabilities.tolist() == [1.0, 0.5, 0.0, 0.0]
