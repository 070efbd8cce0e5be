"""Figure 6: counts of every start, and time by iteration."""

import csv

import pytest

from hypermodes import find_modes, knn_hypergraph
from hypermodes.cli import main
from hypermodes.datasets import five_crescents
from hypermodes.experiments import fig6
from hypermodes.experiments.iterations import ITERATIVE

COLUMNS = ["method", "counted", "n", "seed", "starts", "iterations", "iterations_per_start", "seconds",
           "seconds_per_iteration", "note"]  # fmt: skip


def test_quick_writes_every_run_a_summary_and_a_picture(tmp_path, capsys):
    assert main(["reproduce", "fig6", "--quick", "--progress", "--seeds", "1", "--out", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"fig6.png", "runs.csv", "summary.csv", "summary.md"}
    assert (tmp_path / "fig6.png").read_bytes().startswith(b"\x89PNG")
    with open(tmp_path / "runs.csv", newline="") as file:
        runs = list(csv.DictReader(file))
    assert list(runs[0]) == COLUMNS
    counted = {"hypergraph_shift": 2, "replicator": 2}  # rounds and steps; the others know steps only
    assert len(runs) == len(fig6.QUICK) * sum(counted.get(name, 1) for name in ITERATIVE)
    for run in runs:
        starts, iterations, seconds = (float(run[key]) for key in ("starts", "iterations", "seconds"))
        assert float(run["iterations_per_start"]) == pytest.approx(iterations / starts)
        assert float(run["seconds_per_iteration"]) == pytest.approx(seconds / iterations)
    captured = capsys.readouterr()
    assert "running: 100%" in captured.err
    assert captured.out.startswith("mean over 1 seed")
    _orderings(runs)


def _orderings(runs):
    """Rounds are few; Eq. (8) needs more steps than infection-immunization, to a looser tolerance."""
    for n in map(str, fig6.QUICK):
        per_start = {(run["method"], run["counted"]): float(run["iterations_per_start"])
                     for run in runs if run["n"] == n}  # fmt: skip
        assert per_start["hypergraph_shift", "rounds"] < 10
        assert per_start["hypergraph_shift", "rounds"] < per_start["hypergraph_shift", "steps"]
        assert per_start["hypergraph_shift", "steps"] < per_start["replicator", "steps"]


def test_every_hyperedge_is_a_start_and_its_counts_are_those_of_find_modes():
    points = five_crescents(60).points
    count = ITERATIVE["hypergraph_shift"].run(points)
    each = [find_modes(knn_hypergraph(points), starts=[i]).table for i in range(60)]
    assert count.starts == 60
    assert count.iterations == {
        "rounds": sum(int(table.rounds[0]) for table in each),
        "steps": sum(int(table.steps[0]) for table in each),
    }
