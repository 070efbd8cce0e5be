"""Numbers that functions are given: what is none, or out of bounds, is one line that names the argument."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hypermodes as hm
from hypermodes.construct.metrics import Minkowski
from hypermodes.datasets import five_crescents
from hypermodes.scalars import MOST, finite_number, is_real, is_whole, shown, whole_number
from hypermodes.threads import workers

POINTS = np.random.default_rng(0).random((30, 2))
H = hm.Hypergraph.from_edges([[1, 2, 3], [2, 3, 4], [1, 3, 4], [5, 6], [6, 7]])
MODES = hm.find_modes(H)
MASKS = [np.ones((9, 9 + i), bool) for i in range(3)]
SQUARE = np.arange(16.0).reshape(4, 4) % 7

WHOLE = {
    "max_rounds": [lambda x: hm.find_modes(H, max_rounds=x), lambda x: hm.shift(H, 0, max_rounds=x)],
    "n_jobs": [lambda x: hm.find_modes(H, n_jobs=x)],
    "n_clusters": [lambda x: hm.cluster(H, n_clusters=x), lambda x: hm.cluster(POINTS, n_clusters=x)],
    "n_neighbors": [lambda x: hm.cluster(POINTS, n_neighbors=x)],
    "k": [
        MODES.distinct,
        lambda x: hm.knn_hypergraph(POINTS, x),
        lambda x: hm.pairwise_hypergraph(SQUARE + SQUARE.T, k=x),
    ],
    "admit": [lambda x: hm.Voting(admit=x)],
    "max_support": [lambda x: hm.Voting(max_support=x)],
    "max_steps": [lambda x: hm.Replicator(max_steps=x), lambda x: hm.InfectionImmunization(max_steps=x)],
    "warm_up": [lambda x: hm.InfectionImmunization(warm_up=x)],
    "n_groups": [lambda x: hm.group_shapes(MASKS, n_groups=x)],
    "n_samples": [five_crescents],
}
REAL = {
    "tol": [
        lambda x: hm.certify(H, MODES[0], tol=x),
        lambda x: hm.Replicator(tol=x),
        lambda x: hm.Seeker(H, tol=x),
    ],
    "threshold": [lambda x: hm.cluster(H, threshold=x), lambda x: hm.cluster(POINTS, threshold=x)],
    "outliers": [lambda x: five_crescents(10, outliers=x)],
    "noise": [lambda x: five_crescents(10, noise=x)],
}
NO_NUMBERS = [True, "3", "", [2], np.array([1, 2]), 1j, np.complex128(1), float("nan"), np.nan, {}]
NO_COUNTS = [*NO_NUMBERS, 2.0, 10**30, 10**5000, -(10**30), np.inf, -np.inf]
NO_REALS = [*NO_NUMBERS, -1.0, -np.inf, 10**400, -(10**5000)]


def refused(name, call, value):
    with pytest.raises(ValueError, match=f"^{name}: expected .*; got ") as error:
        call(value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("value", NO_COUNTS, ids=lambda value: shown(value)[:20])
def test_what_is_no_count_is_refused_in_one_line(name, value):
    for call in WHOLE[name]:
        refused(name, call, value)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("value", NO_REALS, ids=lambda value: shown(value)[:20])
def test_what_is_no_number_is_refused_in_one_line(name, value):
    for call in REAL[name]:
        refused(name, call, value)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, np.int32])
def test_whole_numbers_of_every_kind_are_taken(kind):
    for name in ("max_rounds", "n_clusters", "k", "admit", "max_support", "max_steps", "warm_up"):
        for call in WHOLE[name]:
            call(kind(2))


def test_as_large_as_numbers_may_be():
    """Larger than there are things to count: as many as there are."""
    few = hm.find_modes(H, max_rounds=MOST, expansion=hm.Voting(admit=MOST, max_support=MOST), n_jobs=MOST)
    assert few.edge_mode.tolist() == MODES.edge_mode.tolist()
    assert hm.cluster(POINTS, n_clusters=MOST).n_clusters <= len(POINTS)
    assert MODES.distinct(MOST) == MODES.distinct(len(MODES))
    assert workers(-MOST) == 1


@given(st.integers(-50, 50), st.integers(-40, 40), st.integers(0, 20))
def test_whole_numbers_lie_between_their_bounds(value, least, span):
    if least <= value <= least + span:
        assert whole_number("x", np.int16(value), "a whole number", least=least, most=least + span) == value
    else:
        with pytest.raises(IndexError, match=f"^x: expected a whole number; got {value}$"):
            whole_number("x", value, "a whole number", least=least, most=least + span, error=IndexError)


@given(st.floats(-5, 5), st.sampled_from([-1.0, 0.0, 2.5]))
def test_finite_numbers_lie_between_their_bounds(value, bound):
    for options, inside in (
        ({"least": bound}, value >= bound), ({"above": bound}, value > bound),
        ({"most": bound}, value <= bound), ({"below": bound}, value < bound),
    ):  # fmt: skip
        if inside:
            assert finite_number("x", np.float64(value), "a number", **options) == value
        else:
            with pytest.raises(ValueError, match=r"^x: expected a number; got "):
                finite_number("x", value, "a number", **options)


def test_infinity_only_where_it_is_allowed():
    assert finite_number("x", np.inf, "a number", or_infinity=True) == np.inf
    for value in (-np.inf, np.nan):
        with pytest.raises(ValueError, match="x: expected a number"):
            finite_number("x", value, "a number", or_infinity=True)
    assert Minkowski(np.inf).p == np.inf


def test_what_numbers_are():
    assert all(map(is_whole, (0, -3, 10**30, np.uint64(2**64 - 1))))
    assert not any(map(is_whole, (True, np.bool_(True), 1.0, "1", None)))
    assert all(map(is_real, (0, 1.5, np.float32(2), np.int8(3))))
    assert not any(map(is_real, (True, np.nan, np.inf, 10**400, 1j, "1", None, np.array(1.0))))


@pytest.mark.parametrize("modes", [None, H, 3])
def test_what_is_no_set_of_modes_has_no_changes(modes):
    refused("modes", lambda x: hm.removal(x, []), modes)
    refused("before", lambda x: hm.compare(x, MODES), modes)
    refused("after", lambda x: hm.compare(MODES, x), modes)
