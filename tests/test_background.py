"""The ground clusters stand on: found where there is one, at its density, and nowhere else."""

from itertools import takewhile

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hypermodes.background import Histogram, Quartiles, ground_limit
from hypermodes.tree import Level

ERROR = 0.25


def normal(seed, size, where=0.0, spread=ERROR):
    return np.random.default_rng(seed).normal(where, spread, size)


def literal_valley(values, weights, width):
    """The same histogram as a sum of Gaussians, looked at from above down."""
    order = np.argsort(values)
    middle = values[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)]
    places = middle + width / 8 * np.arange(
        np.floor((values.min() - middle) * 8 / width), np.ceil((values.max() - middle) * 8 / width) + 1
    )
    smooth = np.exp(-0.5 * ((places[:, None] - values) / width) ** 2) @ weights
    smooth /= 8 * (2 * np.pi) ** 0.5  # points a bin
    for place in range(len(places) - 2, 0, -1):
        if smooth[place] < smooth[place - 1] and smooth[place] <= smooth[place + 1]:
            level = smooth[place]
            bump = list(takewhile(level.__lt__, smooth[:place][::-1]))
            half = weights[values < places[place]].sum() <= weights.sum() / 2
            if half and sum(bump) - len(bump) * level > 2 * np.sqrt(sum(bump)):
                return places[place]
    return -np.inf


@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize("n_ground", [0, 20, 100, 400])
def test_a_valley_is_where_a_sum_of_gaussians_has_it(n_ground, once):
    values = np.concatenate((normal(0, n_ground), normal(1, 1000, 3.0)))
    weights = np.ones(values.size) if once else np.random.default_rng(2).uniform(0.5, 1.5, values.size)
    expected = literal_valley(values, weights, 0.125)
    found = Histogram.of(values, weights, 0.125).valley()
    np.testing.assert_array_equal(values < found, values < expected)
    assert (values < found).sum() == n_ground


def test_the_limit_is_twice_the_density_of_the_ground():
    values = np.concatenate((normal(0, 2000), normal(1, 8000, 2.5, 0.8)))
    assert ground_limit(values, np.ones(values.size), ERROR) == pytest.approx(np.log(2), abs=0.05)


def test_what_is_below_a_gap_is_out():
    values = np.concatenate((normal(0, 20), [3.0], normal(1, 1000, 8.0)))
    assert 3 < ground_limit(values, np.ones(values.size), ERROR) < 7


@pytest.mark.parametrize("seed", range(8))
def test_rounding_does_not_decide_what_is_clear(seed):
    """Four points far from all others are a bump of exactly two standard errors: it is not clear."""
    for far in np.linspace(-12, -6, 50):
        four, five = (np.concatenate((np.full(n, far), normal(seed, 200))) for n in (4, 5))
        assert ground_limit(four, np.ones(four.size), ERROR) == -np.inf
        assert ground_limit(five, np.ones(five.size), ERROR) > far


def test_an_uneven_ground_goes_on_to_the_valley():
    values = np.concatenate((np.random.default_rng(0).uniform(-8, 0, 40), normal(1, 1000, 4.0)))
    limit = ground_limit(values, np.ones(values.size), ERROR)
    assert 0 < limit < 4


@pytest.mark.parametrize("dimension", [1, 2, 3, 10])
def test_gaussians_make_no_ground(dimension):
    """Their log density is minus half a chi square, known to some error."""
    rng = np.random.default_rng(dimension)
    for _ in range(10):
        values = -0.5 * rng.chisquare(dimension, 2000) + rng.normal(0, ERROR, 2000)
        limit = ground_limit(values, np.ones(2000), ERROR)
        assert (values < limit).mean() < 0.05


def test_what_is_uniform_is_no_ground():
    values = normal(3, 2000)
    assert (values < ground_limit(values, np.ones(2000), ERROR)).mean() < 0.01


@given(st.integers(0, 99), st.floats(-1000, 1000))
def test_a_limit_moves_with_the_unit_of_density(seed, shift):
    values = np.concatenate((normal(seed, 60), normal(seed + 1, 200, 3.0)))
    weights = np.ones(values.size)
    limit = ground_limit(values, weights, ERROR)
    np.testing.assert_array_equal(
        values < limit, values + shift < ground_limit(values + shift, weights, ERROR)
    )


def test_a_few_very_far_points_change_no_limit():
    values = np.concatenate((normal(0, 200), normal(1, 1000, 3.0)))
    far = np.concatenate(([-1e6, -300.0, -np.inf], values))
    one = ground_limit(values, np.ones(values.size), ERROR)
    assert ground_limit(far, np.ones(far.size), ERROR) == pytest.approx(one, abs=0.02)


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-20, 20)), min_size=1, max_size=60), st.booleans())
def test_quartiles_are_those_of_each_core_by_itself(drawn, once):
    core, spacing = (np.array(column) for column in zip(*drawn, strict=True))
    present = np.unique(core[core >= 0])
    assume(present.size > 0)
    core = np.where(core < 0, -1, np.searchsorted(present, core))
    weights = np.ones(core.size) if once else 1 + np.arange(core.size) % 3 / 4
    level = Level(1.0, core, np.maximum(core, 0), np.ones(core.size), present.size)
    found = Quartiles.of(spacing / 8, level, weights)
    for c in range(present.size):
        order = np.flatnonzero(core == c)[np.argsort(spacing[core == c], kind="stable")]
        middle = np.cumsum(weights[order]) - weights[order] / 2
        expected = np.interp(weights[order].sum() * np.array([0.25, 0.75]), middle, spacing[order] / 8)
        assert [found.lower[c], found.upper[c]] == expected.tolist()
