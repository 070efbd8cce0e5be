"""The command `reproduce`: how it fails, and how it runs methods over settings."""

import os
import sys
import tempfile
from dataclasses import replace

import numpy as np
import pytest

from hypermodes import baselines
from hypermodes.cli import main
from hypermodes.experiments import fig5, fig6, running
from hypermodes.experiments.methods import FEW, LABELLERS, Method, chosen
from hypermodes.experiments.pictures import STYLES
from hypermodes.experiments.running import Setting, outcomes


def one_line(capsys):
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("hypermodes: ")
    return captured.err


@pytest.mark.parametrize("figure", ["fig5", "fig6"])
@pytest.mark.parametrize("names", ["nonsense", "ehc,nonsense", ","])
def test_a_wrong_method_ends_in_one_line_that_lists_them(tmp_path, capsys, figure, names):
    assert main(["reproduce", figure, "--quick", "--methods", names, "--out", str(tmp_path / "new")]) == 1
    said = one_line(capsys)
    assert "methods: expected some of hypergraph_shift, " in said
    assert "got n" in said
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fig7"], "invalid choice"),
        ([], "the following arguments are required"),
        (["fig5", "--seeds", "0"], "--seeds: expected a whole number, 1 or more"),
        (["fig5", "--seeds", "-1"], "--seeds: expected a whole number, 1 or more"),
        (["fig5", "--resume"], "--resume: fig5 keeps no runs; only table1, cars, house, points do"),
        (["fig5", "--seeds", "many"], "--seeds: expected a whole number, 1 or more"),
    ],
)
def test_wrong_usage_exits_with_2(capsys, arguments, message):
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", *arguments])
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_help_shows_an_example(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "--help"])
    assert stop.value.code == 0
    assert "  hypermodes reproduce fig5 --quick" in capsys.readouterr().out


def test_a_file_in_the_way_ends_in_one_line_before_the_work(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(fig5, "outcomes", _never)
    (tmp_path / "file").write_text("in the way")
    for out in ("file", "file/folder"):
        assert main(["reproduce", "fig5", "--quick", "--quiet", "--out", str(tmp_path / out)]) == 1
        assert "out: " in one_line(capsys)


def test_a_folder_that_cannot_be_written_to_ends_in_one_line_before_the_work(tmp_path, capsys, monkeypatch):
    def denied(**_):
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr(fig6, "outcomes", _never)
    monkeypatch.setattr(tempfile, "TemporaryFile", denied)
    assert main(["reproduce", "fig6", "--quick", "--quiet", "--out", str(tmp_path)]) == 1
    assert f"out: cannot write to {str(tmp_path)!r}: {os.strerror(13)}" in one_line(capsys)


def test_without_matplotlib_it_says_so_before_the_work(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    assert main(["reproduce", "fig5", "--quick", "--out", str(tmp_path / "new")]) == 1
    assert "pictures need matplotlib; install hypermodes[plot]" in one_line(capsys)
    assert not (tmp_path / "new").exists()


def test_an_interruption_leaves_nothing(tmp_path, capsys, monkeypatch):
    def interrupted(points):
        if len(points) > 100:
            raise KeyboardInterrupt
        return np.zeros(len(points), dtype=int)

    monkeypatch.setitem(LABELLERS, "ehc", replace(LABELLERS["ehc"], run=interrupted))
    arguments = ["--quick", "--quiet", "--methods", "hdbscan,ehc", "--out", str(tmp_path)]
    assert main(["reproduce", "fig5", *arguments]) == 130
    assert one_line(capsys) == "hypermodes: interrupted\n"
    assert list(tmp_path.iterdir()) == []


def _never(*_, **__):
    raise AssertionError("the work began")


def test_every_baseline_is_compared_and_every_method_has_a_style_of_its_own():
    assert set(baselines.METHODS) <= set(LABELLERS) & set(fig6.ITERATIVE)
    styles = [STYLES[name] for name in LABELLERS]
    assert len(set(styles)) == len(styles)
    assert set(fig6.ITERATIVE) <= set(STYLES)


def test_few_points_come_first_and_too_slow_methods_are_left_out_where_there_are_more(monkeypatch):
    monkeypatch.setattr(running.time, "perf_counter", iter(range(1000)).__next__)  # every run takes 1 s
    methods = {name: Method(name, "", lambda points: len(points), seeds) for name, seeds in
               (("fast", None), ("few", 1))}  # fmt: skip
    settings = [Setting(50), Setting(20), Setting(20, 0.5), Setting(50)]
    done = []
    found = list(outcomes(methods, settings, 2, progress=lambda *amounts: done.append(amounts), limit=0.5))
    assert [(one.method, one.seed, one.setting.n_points, one.result) for one in found] == [
        ("fast", 0, 20, 20), ("few", 0, 20, 20), ("fast", 0, 30, None), ("few", 0, 30, None),
        ("fast", 0, 50, None), ("few", 0, 50, None),
        ("fast", 1, 20, 20), ("fast", 1, 30, None), ("fast", 1, 50, None),
    ]  # fmt: skip
    assert {one.note for one in found} == {"", "left out: over 0.5 s at 20 points"}
    assert done[-1] == (9, 9)


def test_slow_methods_say_how_many_seeds_they_get():
    assert chosen(LABELLERS, ["mean_shift"], 10)["mean_shift"].label == f"mean shift, {FEW} seeds"
    assert chosen(LABELLERS, ["mean_shift"], FEW)["mean_shift"].label == "mean shift"
