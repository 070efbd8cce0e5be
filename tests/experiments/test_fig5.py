"""Figure 5: what is written, what the numbers mean, who comes before whom."""

import csv

import numpy as np
import pytest

from hypermodes.cli import main
from hypermodes.experiments import crescents, fig5
from hypermodes.experiments.methods import LABELLERS
from hypermodes.experiments.running import Outcome, Setting

COLUMNS = [
    "method",
    "n",
    "outliers",
    "noise",
    "seed",
    "nmi_inliers",
    "nmi_all",
    "clusters",
    "seconds",
    "note",
]


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_quick_writes_every_run_of_every_method_a_summary_and_a_picture(tmp_path, capsys):
    folder = tmp_path / "new" / "folder"
    assert main(["reproduce", "fig5", "--quick", "--quiet", "--seeds", "1", "--out", str(folder)]) == 0
    assert {path.name for path in folder.iterdir()} == {"fig5.png", "runs.csv", "summary.csv", "summary.md"}
    assert (folder / "fig5.png").read_bytes().startswith(b"\x89PNG")
    runs = rows_of(folder / "runs.csv")
    assert list(runs[0]) == COLUMNS
    settings = {setting for panel in crescents.QUICK.values() for setting in panel}
    expected = {(name, *map(str, setting)) for name in LABELLERS for setting in settings}
    assert {(run["method"], run["n"], run["outliers"], run["noise"]) for run in runs} == expected
    assert len(runs) == len(expected)
    assert all(0 <= float(run[score]) <= 1 for run in runs for score in ("nmi_inliers", "nmi_all"))
    assert all(run["nmi_inliers"] == run["nmi_all"] for run in runs if run["outliers"] == "0.0")
    said, err = capsys.readouterr()
    assert (folder / "summary.md").read_text().startswith(said[: said.index("written: ")])
    assert err == ""
    assert len(rows_of(folder / "summary.csv")) == len(LABELLERS)


def test_clusters_of_the_tree_agree_better_with_the_crescents_than_raw_modes(tmp_path):
    arguments = ["--quiet", "--seeds", "2", "--methods", "hypergraph_shift,modes", "--out", str(tmp_path)]
    assert main(["reproduce", "fig5", *arguments]) == 0
    runs = [run for run in rows_of(tmp_path / "runs.csv") if int(run["n"]) >= 300]
    ours, modes = (
        {tuple(run[key] for key in COLUMNS[1:5]): run for run in runs if run["method"] == name}
        for name in ("hypergraph_shift", "modes")
    )
    assert np.mean([float(ours[key]["nmi_inliers"]) > float(modes[key]["nmi_inliers"]) for key in ours]) > 0.9
    assert all(int(ours[key]["clusters"]) < int(modes[key]["clusters"]) for key in ours)


def test_the_same_seeds_give_the_same_scores(tmp_path):
    scores = []
    for name in ("a", "b"):
        chosen = ["--methods", "hypergraph_shift, spectral,ehc", "--out", str(tmp_path / name)]
        main(["reproduce", "fig5", "--quick", "--quiet", *chosen])
        runs = rows_of(tmp_path / name / "runs.csv")
        scores.append([[run[column] for column in COLUMNS if column != "seconds"] for run in runs])
    assert scores[0] == scores[1]
    assert {run[0] for run in scores[0]} == {"hypergraph_shift", "spectral", "ehc"}


@pytest.mark.parametrize(
    ("found", "inliers", "everyone"),
    [
        ([3, 3, 1, 1, -1], 1.0, 1.0),
        ([3, 3, 1, 1, 1], 1.0, None),  # an outlier in a cluster costs something where outliers count
        ([0, 0, 0, 0, -1], 0.0, None),
        ([-1, -1, 0, 0, -1], 1.0, None),  # outliers of the answer are a cluster of it
    ],
)
def test_scores_by_hand(found, inliers, everyone):
    outcome = Outcome("x", Setting(4, 0.25), 0, np.array([0, 0, 1, 1, -1]), np.array(found), 0.5, "")
    run = crescents.scored(outcome)
    assert run.nmi_inliers == pytest.approx(inliers)
    assert run.nmi_all == pytest.approx(1.0) if everyone else run.nmi_all < 1
    assert run.clusters == max(found) + 1


def test_what_was_left_out_has_a_line_without_numbers_and_a_footnote(tmp_path, monkeypatch):
    monkeypatch.setattr(fig5, "outcomes", _without_large)
    said = fig5.run(tmp_path, quick=True, seeds=1, methods=["hdbscan", "ehc"])
    assert "\\* EHC: left out: over 20 s at 60 points" in said
    assert "| EHC* |" in (tmp_path / "summary.md").read_text()
    runs = {(run["method"], run["n"]): run for run in rows_of(tmp_path / "runs.csv")}
    assert runs["ehc", "120"]["note"].startswith("left out")
    assert runs["ehc", "120"]["nmi_inliers"] == runs["ehc", "120"]["seconds"] == ""
    assert runs["ehc", "60"]["note"] == ""


def _without_large(methods, settings, seeds, *, progress):
    """As if EHC had been too slow."""
    for name in methods:
        for setting in sorted(set(settings)):
            truth = np.arange(setting.n) % 5
            if name == "ehc" and setting.n > 60:
                note = "left out: over 20 s at 60 points"
                yield Outcome(name, setting, 0, truth, None, np.nan, note)
            else:
                yield Outcome(name, setting, 0, truth, truth, 1.0, "")
