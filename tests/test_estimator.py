"""`HypergraphShift` as scikit-learn wants an estimator, and what it adds to `cluster`."""

import builtins
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_clustering,
    estimator_checks_generator,
    parametrize_with_checks,
)

from hypermodes import HypergraphShift, Seeker, Status, cluster
from hypermodes.datasets import five_crescents

DATA = five_crescents(200, outliers=0.1, noise=2.0, rng=1)
POINTS = DATA.points


@parametrize_with_checks(
    [
        HypergraphShift(),
        HypergraphShift(n_clusters=2),
        HypergraphShift(outliers="assign"),
        HypergraphShift(selection="modes"),
    ]
)
def test_scikit_learn_has_nothing_to_object(estimator, check):
    check(estimator)


# -- distances ----------------------------------------------------------------------------------------
#
# scikit-learn asks of an estimator that takes distances to refuse what is not square (check_nonsquare_error),
# and of every clusterer to take 50 points of the plane (check_clustering). No estimator can do both: its own
# with metric="precomputed" do not. So the latter is asked of the same estimator with a door for points.


class OfPoints(HypergraphShift):
    """Makes distances of points, then does what `HypergraphShift` does with distances."""

    def fit(self, X, y=None):
        return super().fit(pairwise_distances(np.asarray(X)))


def _name(check):
    return getattr(check, "func", check).__name__


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{i}-{_name(check)}")
        for i, (_, check) in enumerate(
            estimator_checks_generator(HypergraphShift(metric="precomputed"), mark=None)
        )
        if _name(check) != "check_clustering"
    ],
)
def test_scikit_learn_has_nothing_to_object_to_distances(check):
    check(HypergraphShift(metric="precomputed"))


@pytest.mark.parametrize("readonly_memmap", [False, True])
def test_distances_of_points_are_clustered_as_scikit_learn_wants(readonly_memmap):
    check_clustering("OfPoints", OfPoints(metric="precomputed"), readonly_memmap=readonly_memmap)


def test_distances_are_said_to_be_what_they_are():
    tags = HypergraphShift(metric="precomputed").__sklearn_tags__().input_tags
    assert tags.pairwise
    assert tags.positive_only
    tags = HypergraphShift().__sklearn_tags__().input_tags
    assert not tags.pairwise
    assert not tags.positive_only
    assert tags.sparse


def test_negative_distances_are_refused():
    with pytest.raises(ValueError, match="Negative values in data"):
        HypergraphShift(metric="precomputed").fit(-cdist(POINTS, POINTS))


# -- it is cluster -------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"n_clusters": 4}, {"threshold": 0.3}, {"n_neighbors": 5}])
def test_it_says_what_cluster_says(options):
    model, found = HypergraphShift(**options).fit(POINTS), cluster(POINTS, **options)
    np.testing.assert_array_equal(model.labels_, found.labels)
    np.testing.assert_array_equal(model.probabilities_, found.probabilities)
    np.testing.assert_array_equal(model.outlier_scores_, found.outlier_scores)
    assert model.n_clusters_ == found.n_clusters
    assert model.n_features_in_ == 2
    assert model.tree_ is model.clusters_.tree
    assert len(model.modes_) == model.n_clusters_
    new = POINTS[:50] + 0.01
    np.testing.assert_array_equal(model.predict(new), found.predict(new))


def test_outliers_can_be_assigned():
    labelled = HypergraphShift().fit(POINTS)
    assigned = HypergraphShift(outliers="assign").fit(POINTS)
    assert (labelled.labels_ == -1).any()
    assert (assigned.labels_ >= 0).all()
    inside = labelled.labels_ >= 0
    np.testing.assert_array_equal(labelled.labels_[inside], assigned.labels_[inside])
    far = np.array([[100.0, 100.0]])
    assert labelled.predict(far).tolist() == [-1]
    assert assigned.predict(far)[0] >= 0


@pytest.mark.parametrize("options", [{}, {"outliers": "assign"}, {"selection": "modes"}, {"n_clusters": 3}])
def test_fit_predict_and_predict_and_fitting_again_agree(options):
    model = HypergraphShift(**options)
    labels = model.fit_predict(POINTS)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_array_equal(model.predict(POINTS), labels)
    np.testing.assert_array_equal(model.fit(POINTS).labels_, labels)
    model.fit(POINTS[:50])  # nothing is left of what was
    assert model.labels_.shape == (50,)
    np.testing.assert_array_equal(model.fit(POINTS).labels_, labels)


def test_labels_may_be_written_to():
    model = HypergraphShift().fit(POINTS)
    model.labels_[0] = 7
    assert model.clusters_.labels[0] != 7


@pytest.mark.parametrize("n_jobs", [1, 2, 4, -1])
@pytest.mark.parametrize("selection", ["tree", "modes"])
def test_threads_change_nothing(n_jobs, selection):
    expected = HypergraphShift(selection=selection).fit(POINTS).labels_
    found = HypergraphShift(selection=selection, n_jobs=n_jobs).fit(POINTS).labels_
    np.testing.assert_array_equal(found, expected)


def test_any_metric_and_form_of_the_points():
    expected = HypergraphShift().fit(POINTS).labels_
    for model, given in (
        (HypergraphShift(metric="precomputed"), cdist(POINTS, POINTS)),
        (HypergraphShift(), sp.csr_matrix(POINTS)),
        (HypergraphShift(), POINTS.tolist()),
        (HypergraphShift(index=NearestNeighbors().fit(POINTS)), POINTS),
    ):
        np.testing.assert_array_equal(model.fit(given).labels_, expected)
        np.testing.assert_array_equal(model.predict(given), expected)


def test_it_takes_part_in_a_pipeline():
    model = make_pipeline(StandardScaler(), HypergraphShift())
    labels = model.fit_predict(POINTS)
    np.testing.assert_array_equal(model.predict(POINTS), labels)


# -- the paper's own reading --------------------------------------------------------------------------


def test_points_of_one_mode_are_one_cluster():
    model = HypergraphShift(selection="modes").fit(np.vstack((POINTS, POINTS[:20])))
    assert model.n_clusters_ == len(model.modes_) == len(set(model.labels_.tolist()))
    assert (model.probabilities_ == 1).all()
    np.testing.assert_array_equal(model.labels_[:20], model.labels_[len(POINTS) :])
    densities = [mode.density for mode in model.modes_]
    assert densities == sorted(densities, reverse=True)
    for c, mode in enumerate(model.modes_):
        assert mode.status is Status.CERTIFIED
        start = int(np.flatnonzero(model.labels_ == c)[0])
        around = model.clusters_.neighbourhoods
        alone = Seeker(around.hypergraph).around(int(around.place[start]))
        np.testing.assert_allclose(alone.density, mode.density, rtol=1e-9)


@pytest.mark.parametrize("wanted", [1, 3, 5, 10_000])
def test_of_modes_the_largest_can_be_kept(wanted):
    every = HypergraphShift(selection="modes").fit(POINTS)
    some = HypergraphShift(wanted, selection="modes").fit(POINTS)
    n_kept = min(wanted, every.n_clusters_)
    assert some.n_clusters_ == len(some.modes_) == n_kept
    sizes = np.bincount(every.labels_)
    number = {mode.support.tobytes(): c for c, mode in enumerate(every.modes_)}
    kept = [number[mode.support.tobytes()] for mode in some.modes_]
    assert kept == sorted(kept)  # the densest first, as before
    assert np.sort(sizes[kept]).tolist() == np.sort(sizes)[-n_kept:].tolist()
    for c, old in enumerate(kept):
        assert (some.labels_[every.labels_ == old] == c).all()  # who shifts to it, stays
    np.testing.assert_array_equal(some.predict(POINTS), some.labels_)


# -- as any estimator ---------------------------------------------------------------------------------


def test_parameters_are_kept_and_can_be_changed():
    given = {
        "n_clusters": 3, "selection": "modes", "threshold": None, "outliers": "assign", "n_neighbors": 7,
        "metric": "manhattan", "index": None, "layout": False, "n_jobs": 2,
        "client": "tcp://127.0.0.1:8786", "verbose": False,
    }  # fmt: skip
    model = HypergraphShift(**given)
    assert model.get_params() == given
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == given
    model.set_params(n_clusters=None, selection="tree")
    assert model.get_params() == {**given, "n_clusters": None, "selection": "tree"}
    with pytest.raises(ValueError, match="Invalid parameter 'colour'"):
        model.set_params(colour="red")


@pytest.mark.parametrize(
    "options",
    [{}, {"selection": "modes"}, {"metric": "manhattan"}, {"index": NearestNeighbors().fit(POINTS)}],
)
def test_it_can_be_kept_and_brought_back(options):
    model = HypergraphShift(**options).fit(POINTS)
    again = pickle.loads(pickle.dumps(model))
    new = POINTS + 0.03
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    assert [m.support.tolist() for m in again.modes_] == [m.support.tolist() for m in model.modes_]


def test_nothing_is_known_before_fit():
    model = HypergraphShift()
    with pytest.raises(NotFittedError):
        _ = model.modes_
    with pytest.raises(NotFittedError):
        model.predict(POINTS)
    assert not hasattr(model, "labels_")


def test_names_of_columns_are_kept():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(POINTS, columns=["x", "y"])
    model = HypergraphShift().fit(frame)
    assert model.feature_names_in_.tolist() == ["x", "y"]
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"x": "z"}))


def test_a_bar_is_drawn_if_asked_for(capfd):
    pytest.importorskip("tqdm")
    HypergraphShift(verbose=True).fit(POINTS)
    assert "clustering: 100%" in capfd.readouterr().err
    HypergraphShift().fit(POINTS)
    assert capfd.readouterr().err == ""


def test_a_bar_needs_tqdm(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == "tqdm":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"install hypermodes\[progress\]"):
        HypergraphShift(verbose=True).fit(POINTS)


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("selection", ["tree", "modes"])
def test_few_points_are_one_cluster(n, selection):
    model = HypergraphShift(selection=selection).fit(POINTS[:n])
    assert model.labels_.tolist() == [0] * n
    assert model.n_clusters_ == 1
    assert model.modes_ == (None,)
    assert model.tree_ is None
    assert model.predict(POINTS).tolist() == [0] * len(POINTS)


def test_no_clusters_are_counted_as_none():
    model = HypergraphShift(threshold=1.0).fit(POINTS)
    assert model.n_clusters_ == 0
    assert model.modes_ == ()
    assert (model.predict(POINTS) == -1).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selection": "mode"}, r"^selection: expected one of \('tree', 'modes'\); got 'mode'"),
        ({"outliers": "drop"}, r"^outliers: expected one of \('label', 'assign'\); got 'drop'"),
        ({"outliers": None}, r"^outliers: expected one of \('label', 'assign'\); got None"),
        ({"n_clusters": 0}, "^n_clusters: expected a positive whole number or None; got 0"),
        (
            {"n_clusters": 0, "selection": "modes"},
            "^n_clusters: expected a positive whole number or None; got 0",
        ),
        ({"threshold": 2.0}, r"^threshold: expected a share from 0 to 1, or None; got 2\.0"),
        ({"n_clusters": 2, "threshold": 0.5}, "^threshold: expected n_clusters or threshold, not both"),
        ({"selection": "modes", "threshold": 0.5}, "^threshold: expected None with selection='modes'"),
        ({"n_neighbors": -1}, "^n_neighbors: expected a positive whole number or None; got -1"),
        ({"metric": "euclid"}, "^metric: expected"),
        ({"n_jobs": 0}, "^n_jobs: expected a number of threads"),
        ({"index": 3}, "^index: expected a fitted index"),
    ],
)
def test_bad_choices_get_one_clear_error(options, message):
    with pytest.raises(ValueError, match=message):
        HypergraphShift(**options).fit(POINTS)


def test_clusters_are_found():
    inside = DATA.labels >= 0
    labels = HypergraphShift(n_clusters=5, outliers="assign").fit(POINTS).labels_
    assert adjusted_rand_score(DATA.labels[inside], labels[inside]) > 0.5
