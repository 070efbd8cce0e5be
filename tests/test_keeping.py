"""Modes of clusters: looked for when asked, with the threads or cluster that are said, once."""

import numpy as np
import pytest

import hypermodes as hm
from hypermodes import estimator
from hypermodes.cluster import cores
from hypermodes.keeping import kept
from planted import planted

POINTS = np.random.default_rng(0).normal(size=(60, 2))
DISTANCES = np.abs(POINTS[:, :1] - POINTS[:, 0])


def test_what_is_kept_is_found_once():
    class Value:
        calls = 0

        @kept
        def answer(self, *, how=1):
            """What it is."""
            self.calls += 1
            return [how]

    one, other = Value(), Value()
    first = one.answer(how=2)
    assert one.answer() is first
    assert (one.calls, other.calls, other.answer()) == (1, 0, [1])
    assert Value.answer.__doc__ == "What it is."


@pytest.mark.parametrize(
    "make",
    [
        lambda: hm.cluster(planted()[0]),
        lambda: hm.cluster(POINTS),
        lambda: hm.cluster(POINTS, layout=True),
        lambda: hm.cluster(DISTANCES, metric="precomputed"),
        lambda: hm.cluster(hm.MatrixAffinity(np.exp(-DISTANCES) * (1 - np.eye(60)))),
    ],
)
def test_modes_are_looked_for_once_as_it_was_said(monkeypatch, make):
    found, asked = make(), []
    real = cores.find_modes

    def find_modes(*args, n_jobs, client, **options):
        asked.append((n_jobs, client))
        return real(*args, n_jobs=1, **options)

    monkeypatch.setattr(cores, "find_modes", find_modes)
    modes = found.modes(n_jobs=3, client="somewhere")
    assert asked
    assert set(asked) == {(3, "somewhere")}
    n_asked = len(asked)
    assert found.modes() is modes
    assert len(asked) == n_asked


@pytest.mark.parametrize(("given", "expected"), [(1, 1), (None, -1)])
def test_an_estimator_uses_its_own_threads(monkeypatch, given, expected):
    model = estimator.HypergraphShift(n_jobs=given).fit(POINTS)
    asked = []
    real = cores.find_modes

    def find_modes(*args, n_jobs, client, **options):
        asked.append((n_jobs, client))
        return real(*args, n_jobs=1, **options)

    monkeypatch.setattr(cores, "find_modes", find_modes)
    assert len(model.modes_) == model.n_clusters_
    assert set(asked) == {(expected, None)}
