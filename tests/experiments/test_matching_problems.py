"""Matching problems: what is true in them is true, and nothing can be read off their order."""

import csv
import importlib
import inspect
from types import SimpleNamespace

import numpy as np
import pytest

from hypermodes import plotting
from hypermodes.construct.correspondences import Features
from hypermodes.experiments import EXPERIMENTS, RESUMABLE
from hypermodes.experiments.matching import adelaide, comparison, house, pascal, synthetic, voc
from hypermodes.experiments.matching.methods import MATCHERS, Answer, Given, Matcher, chosen
from hypermodes.experiments.matching.problems import ALL, Problem, data_folder, even_draws, shuffled
from hypermodes.experiments.pictures import STYLES
from matching_cases import one_to_one


def test_shuffling_keeps_the_truth():
    left, right = Features(np.arange(10.0).reshape(5, 2)), Features(np.arange(14.0).reshape(7, 2) + 100)
    problem = shuffled(np.random.default_rng(0), "g", "n", 1, 0, left, right, 3)
    for i, j in problem.truth:
        assert (problem.right.points[j] - problem.left.points[i] == 100).all()
    assert sorted(map(tuple, problem.left.points)) == sorted(map(tuple, left.points))
    assert not (problem.left.points == left.points).all()


@pytest.mark.parametrize(
    ("pairs", "rate", "precision"),
    [
        ([[0, 1], [1, 0]], 1.0, 1.0),
        ([[0, 1], [1, 2]], 0.5, 0.5),
        ([[0, 1], [1, 0], [2, 2], [3, 3]], 1.0, 0.5),
        ([[1, 1]], 0.0, 0.0),
        (np.empty((0, 2), dtype=int), 0.0, None),
    ],
)
def test_rates_by_hand(pairs, rate, precision):
    points = Features(np.arange(8.0).reshape(4, 2))
    problem = Problem("g", "n", 0, 0, points, points, np.array([[0, 1], [1, 0]]))
    assert problem.rate(pairs) == rate
    assert problem.precision(pairs) == precision or np.isnan(problem.precision(pairs))


def test_draws_are_shared_out_evenly():
    assert list(even_draws(2, 3)) == [(0, 0), (1, 0), (0, 1), (1, 1)]


def test_without_data_the_variable_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("HYPERMODES_DATA", raising=False)
    with pytest.raises(ValueError, match="HYPERMODES_DATA: expected the folder that holds 'x'; the variable"):
        data_folder("x")
    monkeypatch.setenv("HYPERMODES_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="HYPERMODES_DATA: expected a folder with 'x' in it"):
        data_folder("x")


def test_synthetic_sets_are_scaled_disturbed_and_hidden():
    for problem in synthetic.among_outliers((0, 20), draws=2, turned=True):
        assert len(problem.left) == len(problem.truth) == 10
        assert len(problem.right) == 10 + problem.setting
        left, right = problem.left.points[problem.truth[:, 0]], problem.right.points[problem.truth[:, 1]]
        lengths = [np.linalg.norm(side[:, None] - side, axis=2) for side in (left, right)]
        assert np.abs(lengths[1] - 1.5 * lengths[0]).max() < 0.03 * 8
    one, again = (next(synthetic.among_outliers((20,), draws=1)) for _ in range(2))
    assert (one.right.points == again.right.points).all()


def test_a_noise_of_nothing_moves_nothing():
    problem = next(synthetic.under_noise((0.0,), draws=1))
    moved = problem.right.points[problem.truth[:, 1]] - problem.left.points[problem.truth[:, 0]]
    assert np.abs(moved).max() == 0


@pytest.mark.data
def test_cars_have_the_outliers_asked_for_and_the_same_ones_again(data_folder):
    pairs = pascal.image_pairs()
    by_draw = {}
    for problem in pascal.problems((0, 5, ALL), draws=1):
        n = len(problem.truth)
        assert one_to_one(problem.truth)
        assert len(problem.left) <= n + min(problem.setting, pascal.MOST)
        by_draw.setdefault(problem.name, []).append({tuple(point) for point in problem.left.points})
        if problem.setting == 0:
            assert len(problem.left) == len(problem.right) == n
    assert len(by_draw) == len(pairs)
    for none, five, everyone in by_draw.values():
        assert none <= five <= everyone  # nested, so that settings differ in the outliers alone


@pytest.mark.data
def test_true_matches_of_cars_have_alike_orientations_modulo_pi(data_folder):
    differences = np.concatenate([
        p.left.orientations[: p.n_true] - p.right.orientations[: p.n_true] for p in pascal.image_pairs()
    ])  # fmt: skip
    modulo_pi = np.abs((differences + np.pi / 2) % np.pi - np.pi / 2)
    modulo_two_pi = np.abs((differences + np.pi) % (2 * np.pi) - np.pi)
    assert np.mean(modulo_pi < 0.6) > 0.75
    assert np.mean(modulo_two_pi < 0.6) < 0.65


@pytest.mark.data
def test_house_frames_hold_the_same_landmarks(data_folder):
    found = list(house.problems((10, 90), draws=3))
    assert {(p.group, len(p.left), len(p.right)) for p in found} == {
        ("30 against 30 landmarks", 30, 30),
        ("20 against 30 landmarks", 20, 30),
    }
    near = next(p for p in found if p.setting == 10)
    moved = near.right.points[near.truth[:, 1]] - near.left.points[near.truth[:, 0]]
    assert np.linalg.norm(moved - moved.mean(axis=0), axis=1).max() < 30  # pixels, of 576


@pytest.mark.data
def test_voc_objects_share_their_keypoints_and_have_outliers_in_their_boxes(data_folder):
    problems = list(voc.geometry_only((0, 5), draws=4))
    assert {p.group for p in problems} == set(voc.GROUPS)
    for problem in problems:
        assert len(problem.left) == len(problem.truth) + problem.setting
        assert len(problem.truth) >= voc.FEWEST
    again = list(voc.geometry_only((0, 5), draws=4))
    assert all((a.left.points == b.left.points).all() for a, b in zip(problems, again, strict=True))


@pytest.mark.data
def test_corners_keep_away_from_keypoints(data_folder):
    pytest.importorskip("skimage")
    instance = voc.imaged_instances("car")[0]
    corners = voc.corners(instance)
    keypoints = np.array(list(instance.keypoints.values()))
    x, y, width, height = instance.box
    assert len(corners) >= 20
    assert np.linalg.norm(corners[:, None] - keypoints, axis=2).min() > 0.02 * np.hypot(width, height)
    assert ((corners >= (x - 1, y - 1)) & (corners <= (x + width, y + height))).all()


def test_every_matcher_has_a_style_of_its_own():
    styles = [STYLES[name] for name in MATCHERS]
    assert len(set(styles)) == len(styles)
    assert all(name in STYLES for name in adelaide.LABELLERS)


@pytest.mark.parametrize("names", [["nonsense"], []])
def test_wrong_methods_are_named(names, tmp_path):
    for choose in (chosen, lambda names: adelaide.run(tmp_path / "new", methods=names)):
        with pytest.raises(ValueError, match=r"methods: expected some of .*graph_shift.*; got n"):
            choose(names)
    assert not (tmp_path / "new").exists()


def test_errors_are_those_of_pairs_and_not_of_draws():
    def run(group, name, rate):
        return comparison.Run("ipfp", group, name, 0, 0, 1, 1, 1, 1, rate, 1, np.nan, np.nan, 0, "")

    runs = [run("a", "x", rate) for rate in (0.0, 0.2, 0.1)] + [
        run("a", "y", rate) for rate in (0.9, 0.5, 0.7)
    ]
    mean, error = comparison.mean_and_error(runs, lambda r: r.rate)
    assert mean == pytest.approx(0.4)
    assert error == pytest.approx(np.std([0.1, 0.7], ddof=1) / np.sqrt(2))
    mean, error = comparison.mean_and_error([*runs, run("b", "z", 0.8)], lambda r: r.rate)
    assert mean == pytest.approx(0.6)
    assert error == pytest.approx(np.std([0.1, 0.7], ddof=1) / 2)


def test_a_method_that_is_too_slow_is_left_out_where_there_is_more(monkeypatch):
    clock = iter(range(1000))
    slow_clock = SimpleNamespace(perf_counter=lambda: next(clock))  # every run takes 1 s
    monkeypatch.setattr(comparison, "time", slow_clock)
    problems = [*synthetic.among_outliers((0, 5), draws=1)]
    slow = {"slow": Matcher("slow", "", lambda given: Answer(np.empty((0, 2), dtype=int)))}
    runs = list(comparison.outcomes(slow, problems, limit=0.5))
    assert [run.note for run in runs] == ["", "left out: over 0.5 s at 100 candidates"]
    assert runs[0].rate == 0
    assert runs[1].rate != runs[1].rate
    assert comparison.rate_of(runs, "slow", setting=0)[0] == 0
    assert np.isnan(comparison.rate_of(runs, "slow")[0])  # not the mean of the easier ones


def test_a_method_that_was_too_slow_is_left_out_when_resumed(monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(comparison, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    problems = [*synthetic.among_outliers((0, 5, 9), draws=1)]
    slow = {"slow": Matcher("slow", "", lambda given: Answer(np.empty((0, 2), dtype=int)))}
    runs = list(comparison.outcomes(slow, problems, limit=0.5))
    earlier = {run.subject: run for run in runs[:1]}
    again = list(comparison.outcomes(slow, problems, limit=0.5, earlier=earlier))
    assert [run.note for run in again] == [run.note for run in runs]
    assert sum("left out" in run.note for run in again) == 2


def test_all_methods_are_given_the_same():
    seen = []
    spy = Matcher("spy", "", lambda given: seen.append(given) or Answer(np.empty((0, 2), dtype=int)))
    problem = next(synthetic.among_outliers((5,), draws=1))
    list(comparison.outcomes({"a": spy, "b": spy}, [problem]))
    tiny, again, one, other = seen  # a warm-up comes first
    assert tiny is again
    assert one is other
    assert isinstance(one, Given)
    assert one.triples is other.triples


def test_every_method_but_ours_by_itself_matches_every_point():
    problem = next(synthetic.among_outliers((5,), draws=1, turned=True))
    given = Given.of(problem.left, problem.right)
    for name in set(MATCHERS) - {"as_it_comes"}:
        pairs = MATCHERS[name].run(given).pairs
        assert len(pairs) == 10, name
        assert one_to_one(pairs)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_quick_writes_every_run_tables_and_pictures(tmp_path):
    names = ["hypergraph_shift", "spectral_ipfp", "graph_shift", "tensor", "probabilistic_pairs", "rrwm"]
    said = synthetic.run(tmp_path / "new", quick=True, methods=names)
    assert "hypermodes.match" in said
    assert "difference, same problems" in said
    for part in ("outliers", "noise"):
        folder = tmp_path / "new" / part
        assert {path.name for path in folder.iterdir()} == {
            f"{part}.png", "runs.csv", "summary.csv", "summary.md"
        }  # fmt: skip
        assert (folder / f"{part}.png").read_bytes().startswith(b"\x89PNG")
        runs = rows_of(folder / "runs.csv")
        assert tuple(runs[0]) == comparison.Run._fields
        assert {run["method"] for run in runs} == set(names)
        assert all(0 <= float(run["rate"]) <= 1 for run in runs)
        assert len(rows_of(folder / "summary.csv")) == len(names)
    undisturbed = [run for run in runs if run["setting"] == "0.0" and run["method"] != "graph_shift"]
    assert all(float(run["rate"]) == 1 for run in undisturbed)


class Stopped(Exception):
    pass


def spies(monkeypatch, stop_after=1000):
    """Two methods that count their problems, the warm-up not among them; the second stops at one of them."""
    seen = {"a": 0, "b": 0}

    def run(name):
        def method(given):
            if len(given.left) == 10:
                if name == "b" and seen["b"] == stop_after:
                    raise Stopped
                seen[name] += 1
            return Answer(np.column_stack((np.arange(5), np.arange(5))))

        return method

    both = {name: Matcher(name, "", run(name)) for name in seen}
    monkeypatch.setattr(comparison, "chosen", lambda names: {name: both[name] for name in names or both})
    monkeypatch.setattr(comparison, "picture", lambda *_: plotting.pyplot().figure())
    return seen


def compared(folder, draws, resume, methods=None):
    study = comparison.Study("spied", "Spied", "outliers", "")
    return comparison.compare(
        folder, study, synthetic.among_outliers((3, 6), draws), methods, None, None, resume
    )


def test_what_was_run_before_an_interruption_is_not_run_again(tmp_path, monkeypatch):
    seen = spies(monkeypatch)
    whole = compared(tmp_path / "whole", 3, False)
    everything = rows_of(tmp_path / "whole" / "runs.csv")
    assert (seen["a"], seen["b"], len(everything)) == (6, 6, 12)

    spies(monkeypatch, stop_after=2)
    with pytest.raises(Stopped):
        compared(tmp_path / "cut", 3, False)
    assert not (tmp_path / "cut" / "runs.csv").exists()
    part = tmp_path / "cut" / "runs.part.csv"
    assert len(rows_of(part)) == 5
    part.write_text(part.read_text() + "a,10 points among outl")  # killed while it wrote
    with pytest.raises(ValueError, match="holds runs that were interrupted; resume them, or remove"):
        compared(tmp_path / "cut", 3, False)

    seen = spies(monkeypatch)
    again = compared(tmp_path / "cut", 3, True)
    assert (seen["a"], seen["b"]) == (3, 4)
    assert not part.exists()
    same = [{**run, "seconds": ""} for run in rows_of(tmp_path / "cut" / "runs.csv")]
    assert same == [{**run, "seconds": ""} for run in everything]
    assert again.partition("written")[0].count("\n") == whole.partition("written")[0].count("\n")


def test_resuming_adds_methods_and_draws_and_loses_none(tmp_path, monkeypatch):
    seen = spies(monkeypatch)
    compared(tmp_path, 1, False, ["a"])
    compared(tmp_path, 2, True, ["b"])
    assert seen == {"a": 2, "b": 4}
    assert len(rows_of(tmp_path / "runs.csv")) == 6
    assert "| a |" not in (tmp_path / "summary.md").read_text()  # of which there is one draw alone
    compared(tmp_path, 1, True, ["b"])
    assert all(f"| {name} |" in (tmp_path / "summary.md").read_text() for name in "ab")
    compared(tmp_path, 2, True)
    assert seen == {"a": 4, "b": 4}
    compared(tmp_path, 1, False, ["a"])
    assert len(rows_of(tmp_path / "runs.csv")) == 2  # not resumed: all anew


@pytest.mark.parametrize("text", ["method,points\n", "", ",".join(comparison.Run._fields) + "\na" + "," * 14])
def test_a_folder_of_something_else_is_not_resumed(tmp_path, monkeypatch, text):
    spies(monkeypatch)
    (tmp_path / "runs.csv").write_text(text)
    with pytest.raises(ValueError, match=r"out: .*; expected"):
        compared(tmp_path, 1, True)
    assert (tmp_path / "runs.csv").read_text() == text


@pytest.mark.data
@pytest.mark.parametrize(("module", "picture"), [(pascal, "cars.png"), (house, "house.png")])
def test_quick_runs_on_real_data(data_folder, tmp_path, module, picture):
    said = module.run(tmp_path, quick=True, methods=["spectral_ipfp", "ipfp"])
    assert (tmp_path / picture).exists()
    assert "| SM + IPFP |" in said
    runs = rows_of(tmp_path / "runs.csv")
    assert np.mean([float(run["rate"]) for run in runs]) > 0.3


@pytest.mark.data
def test_table_1_stands_beside_the_papers(data_folder, tmp_path):
    pytest.importorskip("skimage")
    said = voc.run(tmp_path, quick=True, methods=["spectral_ipfp"])
    assert "Its protocol is not stated" in said
    assert "(62.5)" in said
    assert (tmp_path / "corners" / "table1.png").exists()
    assert (tmp_path / "geometry" / "geometry.png").exists()


@pytest.mark.data
def test_structures_quick(data_folder, tmp_path):
    said = adelaide.run(tmp_path, quick=True, methods=["graph_shift"])
    assert "| graph shift | homography |" in said
    assert (tmp_path / "structures.png").exists()
    assert all(-1 <= float(run["ari"]) <= 1 for run in rows_of(tmp_path / "runs.csv"))


@pytest.mark.parametrize(
    ("labels", "ari", "precision", "recall", "misclassified"),
    [
        ([0, 0, 1, 1, 1, -1], 1.0, 1.0, 1.0, 0.0),
        ([1, 1, 0, 0, 0, -1], 1.0, 1.0, 1.0, 0.0),
        ([0, 0, -1, -1, -1, -1], None, 1.0, 0.5, 0.5),
        ([-1] * 6, 0.0, None, 0.0, 5 / 6),
        ([0, 0, 0, 0, 0, -1], None, 1.0, 0.5, 2 / 6),  # of the larger one it is three fifths
    ],
)
def test_structures_by_hand(labels, ari, precision, recall, misclassified):
    truth = np.array([0, 0, 1, 1, 1, -1])
    scene = adelaide.Scene("x", "homography", np.zeros((6, 2)), np.zeros((6, 2)), truth)
    run = adelaide.scored("m", scene, 0, np.array(labels), 0.1)
    assert ari is None or run.ari == pytest.approx(ari)
    assert run.precision == precision or np.isnan(run.precision)
    assert run.recall == recall
    assert run.misclassified == pytest.approx(misclassified)


def test_strongest_affinities_are_kept_both_ways():
    import scipy.sparse as sp

    matrix = np.array([[0, 3, 2, 1], [3, 0, 0, 0], [2, 0, 0, 5], [1, 0, 5, 0.0]])
    kept = adelaide.strongest(sp.csr_array(matrix), 1).toarray()
    assert kept.tolist() == [[0, 3, 0, 0], [3, 0, 0, 0], [0, 0, 0, 5], [0, 0, 5, 0]]


def test_sequential_fitting_takes_structures_away_one_by_one():
    scene = adelaide.Scene("x", "homography", np.zeros((40, 2)), np.zeros((40, 2)), np.zeros(40, dtype=int))
    labels = adelaide.sequential(scene, 0, fit=lambda scene, rest, seed: rest < rest.min() + 15)
    assert labels.tolist() == [0] * 15 + [1] * 15 + [2] * 10
    assert adelaide.sequential(scene, 0, fit=lambda scene, rest, seed: rest < 9).max() == -1


def test_every_experiment_runs_in_the_same_way():
    wanted = ["folder", "seeds", "quick", "methods", "progress"]
    for figure, name in EXPERIMENTS.items():
        taken = list(inspect.signature(importlib.import_module(name).run).parameters)
        assert taken == [*wanted, *["cache"] * (figure == "table2"), *["resume"] * (figure in RESUMABLE)]
