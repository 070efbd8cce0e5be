"""Made data: what was asked for comes, as often and where it should, and the same from the same seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypermodes.datasets import five_crescents, noisy_shapes
from strategies import seeds


@pytest.mark.parametrize("n", [10, 11, 13, 17, 23, 24, 25, 240, 1001])
def test_shapes_are_shared_out_as_described(n):
    data = noisy_shapes(n, outliers=0.0)
    counts = np.bincount(data.labels)
    assert data.points.shape == (n, 2)
    assert counts.sum() == n
    assert counts.size == 10
    assert counts.min() >= 1  # one a shape at least
    if n >= 24:
        assert np.abs(counts - n * np.array([4, 2, 3, 3, 4, 2, 1, 2, 2, 1]) / 24).max() <= 1


def test_the_largest_shape_has_four_times_the_points_of_the_smallest():
    counts = np.bincount(noisy_shapes(2400, outliers=0.0).labels)
    assert counts.max() == 4 * counts.min() == 400


@given(st.integers(10, 300), st.floats(0, 2), seeds)
def test_outliers_are_added_and_lie_in_the_box(n, outliers, seed):
    data = noisy_shapes(n, outliers=outliers, rng=seed)
    outside = data.labels < 0
    assert outside.sum() == round(outliers * n)
    assert data.points.shape == (n + outside.sum(), 2)
    assert data.labels.shape == (n + outside.sum(),)
    assert np.isfinite(data.points).all()
    assert (data.points[outside] >= [-2.0, -6.0]).all()
    assert (data.points[outside] <= [8.0, 2.0]).all()


def test_shapes_without_noise_are_where_they_are_said_to_be():
    points, labels = noisy_shapes(2400, outliers=0.0, noise=0.0)
    shapes = [points[labels == c] for c in range(10)]
    np.testing.assert_allclose(np.linalg.norm(shapes[0], axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(shapes[1], axis=1), 0.5, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(shapes[2] - [3.0, -0.25], axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(shapes[3] - [4.0, 0.25], axis=1), 1.0, rtol=1e-12)
    assert (shapes[2][:, 1] >= -0.25).all()
    assert (shapes[3][:, 1] <= 0.25).all()
    assert np.ptp(shapes[5][:, 1]) == 0  # one bar lies, one stands
    assert np.ptp(shapes[6][:, 0]) == 0
    spreads = [shape.std(axis=0).mean() for shape in shapes[7:]]
    np.testing.assert_allclose(spreads, [0.25, 0.25, 0.5], rtol=0.15)  # of 200, 200 and 100 points
    assert (points >= [-2.0, -6.0]).all()
    assert (points <= [8.0, 2.0]).all()


def test_noise_is_in_hundredths_of_the_unit():
    points, labels = noisy_shapes(24000, outliers=0.0, noise=7.0)
    across = np.linalg.norm(points[labels == 0], axis=1) - 1.0
    assert across.std() == pytest.approx(0.07, rel=0.05)  # 4000 points: 1/√8000 is 1.1 %


def test_shapes_are_in_no_order():
    labels = noisy_shapes(2400).labels
    assert 0.05 < (labels[:240] == labels[0]).mean() < 0.5


@pytest.mark.parametrize("make", [noisy_shapes, five_crescents])
def test_the_same_seed_makes_the_same_points(make):
    one, again, other = make(100, rng=5), make(100, rng=5), make(100, rng=6)
    np.testing.assert_array_equal(one.points, again.points)
    np.testing.assert_array_equal(one.labels, again.labels)
    assert (one.points != other.points).any()
    from_generator = make(100, rng=np.random.default_rng(5))
    np.testing.assert_array_equal(one.points, from_generator.points)
    np.testing.assert_array_equal(make(100).points, make(100, rng=0).points)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 9}, "^n_samples: expected at least 10, one a shape; got 9"),
        ({"n_samples": 50.0}, r"^n_samples: expected at least 10, one a shape; got 50\.0"),
        ({"n_samples": True}, "^n_samples: expected at least 10, one a shape; got True"),
        ({"n_samples": "many"}, "^n_samples: expected at least 10, one a shape; got 'many'"),
        ({"outliers": -0.1}, r"^outliers: expected a fraction of n_samples, 0 or more; got -0\.1"),
        ({"outliers": np.inf}, "^outliers: expected a fraction of n_samples, 0 or more; got inf"),
        ({"outliers": np.nan}, "^outliers: expected a fraction of n_samples, 0 or more; got nan"),
        ({"noise": -1.0}, r"^noise: expected a standard deviation, 0 or more; got -1\.0"),
        ({"noise": np.nan}, "^noise: expected a standard deviation, 0 or more; got nan"),
    ],
)
def test_bad_choices_get_one_clear_error(options, message):
    with pytest.raises(ValueError, match=message):
        noisy_shapes(**options)
