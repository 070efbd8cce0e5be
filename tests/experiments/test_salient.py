"""The measures of saliency against a literal reading, and Figure 1 from end to end."""

import csv

import numpy as np
import pytest

from hypermodes.experiments import fig1
from hypermodes.experiments.salient import Example, cut, methods, own_pictures
from hypermodes.experiments.salient_scores import f_measure, max_f, max_f_error, pieces, scored


def drawn(seed=0, shape=(20, 30)):
    rng = np.random.default_rng(seed)
    truth = np.zeros(shape, dtype=bool)
    truth[5:12, 8:20] = True
    return np.clip(0.6 * truth + 0.5 * rng.random(shape), 0, 1), truth


def test_curves_and_errors_are_counted_pixel_by_pixel():
    found, truth = drawn()
    score = scored(found, truth)
    for t in (0, 1, 60, 128, 200, 255):
        called = np.round(found * 255) >= t
        right = (called & truth).sum()
        assert score.precision[t] == pytest.approx(right / called.sum() if called.any() else 1)
        assert score.recall[t] == pytest.approx(right / truth.sum())
    assert score.error == pytest.approx(np.abs(found - truth).mean())
    chosen = found >= 2 * found.mean()
    precision, recall = (chosen & truth).sum() / chosen.sum(), (chosen & truth).sum() / truth.sum()
    assert score.adaptive == pytest.approx(1.3 * precision * recall / (0.3 * precision + recall))


def test_the_truth_itself_is_perfect_and_nothing_is_worthless():
    _, truth = drawn()
    perfect = scored(truth.astype(float), truth)
    assert (max_f([perfect]), perfect.adaptive, perfect.error) == (1, 1, 0)
    nothing = scored(np.zeros(truth.shape), truth)
    assert nothing.adaptive == 0
    assert nothing.error == pytest.approx(truth.mean())
    assert max_f([nothing]) == pytest.approx(f_measure(truth.mean(), 1.0))  # all of it called salient


def test_the_maximum_is_of_mean_curves_and_its_error_by_leaving_one_out():
    scores = [scored(*drawn(seed)) for seed in range(6)]
    precision = np.mean([score.precision for score in scores], axis=0)
    recall = np.mean([score.recall for score in scores], axis=0)
    assert max_f(scores) == pytest.approx(max(f_measure(precision, recall)))
    assert 0 <= max_f_error(scores) < 0.1
    assert np.isnan(max_f_error(scores[:1]))


def test_pieces_count_modes_by_their_share_of_the_object():
    truth = np.ones((4, 4), dtype=bool)
    labels = np.repeat([[0, 0, 1, 1]], 4, axis=0)
    assert pieces(labels, truth) == pytest.approx(2)
    assert pieces(np.zeros((4, 4), int), truth) == pytest.approx(1)
    assert 1 < pieces(np.repeat([[0, 0, 0, 1]], 4, axis=0), truth) < 2
    assert np.isnan(pieces(np.full((4, 4), -1), truth))


def test_every_method_gives_a_map_of_the_size_of_the_picture():
    found, truth = drawn(shape=(40, 60))
    image = np.round(found * 255).astype(np.uint8)
    example = Example("drawn", image, truth, cut(image))
    for method in methods().values():
        result = method.run(example)
        assert result.shape == image.shape
        assert 0 <= result.min() <= result.max() <= 1


def test_pictures_of_scikit_image_are_there():
    assert {one.name for one in own_pictures()} >= {"astronaut", "coffee", "rocket"}


def test_without_marked_pictures_only_the_figure_is_made(tmp_path, monkeypatch):
    monkeypatch.delenv("HYPERMODES_DATA", raising=False)
    text = fig1.run(tmp_path, quick=True)
    assert "nothing to score by" in text
    assert (tmp_path / "fig1.png").stat().st_size > 10_000


@pytest.mark.data
def test_figure_1_from_end_to_end(data_folder, tmp_path):
    if not (data_folder / "ecssd").is_dir():
        pytest.skip("HYPERMODES_DATA has no ecssd")
    calls = []
    text = fig1.run(
        tmp_path, quick=True, methods=["one_cut", "robust_background"], progress=lambda *a: calls.append(a)
    )
    assert calls[-1] == (6, 6)
    assert "hypergraph shift, these superpixels" in text
    with open(tmp_path / "runs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert {one.name for one in tmp_path.iterdir()} == {"fig1.png", "runs.csv", "summary.csv", "summary.md"}


def test_methods_that_are_not_known_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"^methods: expected some of hypergraph_shift, .*; got magic"):
        fig1.run(tmp_path / "out", methods=["magic"])
    assert not (tmp_path / "out").exists()
