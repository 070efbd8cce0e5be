"""Work in threads: the same results, in the same order, as without."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypermodes import threads
from hypermodes.threads import argsorted, as_done, taken


@given(
    st.lists(st.integers(-3, 3) | st.floats(allow_nan=False), max_size=60), st.integers(1, 5), st.booleans()
)
def test_sorting_is_stable(values, n_jobs, falling):
    values = np.array(values, dtype=float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "_WORTH_PACKING", 1)
        order = argsorted(values, n_jobs, falling=falling)
    assert order.tolist() == np.argsort(-values if falling else values, kind="stable").tolist()


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.random(n),
        lambda rng, n: np.round(rng.normal(size=n), 3),  # many equal
        lambda rng, n: np.exp(9 * rng.normal(size=n)),  # most on the lowest step
        lambda rng, n: 1e300 * rng.normal(size=n),
        lambda rng, n: 5e-324 * rng.integers(0, 9, n),  # no room for steps between
        lambda rng, n: rng.integers(0, 2**63, n, dtype=np.uint64),
        lambda rng, n: rng.random((n, 2))[:, 1],
    ],
)
def test_many_numbers_are_sorted_as_numpy_does(draw, n_jobs):
    values = draw(np.random.default_rng(0), 200_001)
    assert (argsorted(values, n_jobs) == np.argsort(values, kind="stable")).all()


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_taking_in_threads_is_indexing(n_jobs):
    rng = np.random.default_rng(0)
    values, order = rng.integers(0, 99, (70_000, 2), dtype=np.int32), rng.integers(0, 70_000, 150_001)
    found = taken(values, order, n_jobs, np.int64)
    assert found.dtype == np.int64
    assert (found == values[order]).all()


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_come_in_the_order_of_the_inputs_and_few_are_under_way(n_jobs):
    asked = []

    def inputs():
        for i in range(50):
            asked.append(i)
            yield i

    for i, square in enumerate(as_done(n_jobs, lambda x: x * x, inputs())):
        assert square == i * i
        assert len(asked) <= i + 1 + 2 * n_jobs
    assert len(asked) == 50


def test_an_error_is_raised_and_what_waits_is_called_off():
    done = []

    def fail(i):
        done.append(i)
        raise RuntimeError(f"at {i}")

    with pytest.raises(RuntimeError, match="at 0"):
        list(as_done(2, fail, range(1000)))
    assert len(done) <= 4


@pytest.mark.parametrize("dtype", [np.float32, np.uint32, np.uint64, np.int64, np.float64])
@pytest.mark.parametrize("falling", [False, True])
def test_every_kind_of_number_is_sorted(dtype, falling):
    values = np.random.default_rng(0).integers(0, 2**24, 70_000).astype(dtype)
    expected = np.argsort((-1 if falling else 1) * values.astype(np.float64), kind="stable")
    assert (argsorted(values, 2, falling=falling) == expected).all()
    assert (
        argsorted(values[:50], falling=falling)
        == np.argsort((-1 if falling else 1) * values[:50].astype(np.float64), kind="stable")
    ).all()
