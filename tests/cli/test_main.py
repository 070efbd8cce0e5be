"""The command line: what it writes, what it says, how it fails."""

import csv
import os
import subprocess
import sys

import numpy as np
import pytest

from hypermodes import __version__
from hypermodes.cli import main


def test_demo_writes_two_pictures_and_two_tables_and_tells_what_it_found(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path / "new"), "--samples", "60", "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "60 points and 12 outliers" in said
    written = {path.name: path for path in (tmp_path / "new").iterdir()}
    assert set(written) == {"modes.png", "clusters.png", "modes.csv", "points.csv"}
    assert written["clusters.png"].read_bytes().startswith(b"\x89PNG")
    assert written["modes.png"].read_bytes().startswith(b"\x89PNG")
    with open(written["modes.csv"], newline="") as file:
        modes = list(csv.DictReader(file))
    with open(written["points.csv"], newline="") as file:
        points = list(csv.DictReader(file))
    densities = [float(row["density"]) for row in modes]
    assert densities == sorted(densities, reverse=True)
    assert len(points) == 72
    assert sum(int(row["starts"]) for row in modes) == sum(int(row["mode"]) >= 0 for row in points)


def test_demo_shows_one_progress_bar_and_nothing_on_standard_output_but_the_summary(tmp_path, capsys):
    main(["demo", "--out", str(tmp_path), "--samples", "40", "--progress"])
    captured = capsys.readouterr()
    assert "shifting: 100%" in captured.err
    assert captured.out.startswith("five crescents")


def test_nobody_watches_no_bar(tmp_path, capsys):
    main(["demo", "--out", str(tmp_path), "--samples", "40"])
    assert capsys.readouterr().err == ""


def test_the_same_seed_gives_the_same_tables(tmp_path):
    for name in ("a", "b"):
        main(["demo", "--out", str(tmp_path / name), "--samples", "40", "--quiet"])
    for table in ("modes.csv", "points.csv"):
        assert (tmp_path / "a" / table).read_bytes() == (tmp_path / "b" / table).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--samples", "3"], "n_samples: expected at least 5"),
        (["--samples", "6"], "points: expected more than k = 10 points; got 7"),
        (["--outliers", "-1"], "outliers: expected a fraction"),
        (["--outliers", "nan"], "outliers: expected a fraction"),
    ],
)
def test_bad_values_end_in_one_line_and_exit_code_1(tmp_path, capsys, arguments, message):
    assert main(["demo", "--out", str(tmp_path), "--quiet", *arguments]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_ends_in_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert main(["demo", "--out", str(tmp_path / "file" / "folder"), "--quiet"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_file_where_the_folder_should_be_ends_in_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert main(["demo", "--out", str(tmp_path / "file"), "--samples", "40", "--quiet"]) == 1
    assert "is a file; expected a folder" in capsys.readouterr().err


def test_a_seed_below_zero_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["demo", "--seed", "-1"])
    assert stop.value.code == 2
    assert "--seed: expected a whole number" in capsys.readouterr().err


def test_an_interruption_is_not_a_traceback(tmp_path, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("hypermodes.demo.find_modes", interrupted)
    assert main(["demo", "--out", str(tmp_path), "--quiet"]) == 130
    assert capsys.readouterr().err == "hypermodes: interrupted\n"
    assert list(tmp_path.iterdir()) == []


def test_unknown_commands_exit_with_2(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["nonsense"])
    assert stop.value.code == 2


def test_the_version_is_the_packages(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"hypermodes {__version__}\n"


def test_importing_the_package_loads_nothing_heavy():
    """Speed of import by what is loaded, not by a clock."""
    code = (
        "import sys, hypermodes, hypermodes.cli\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib', 'tqdm'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "hypermodes.Hypergraph.from_edges([[1, 2], [2, 3]])\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert run.stdout.splitlines() == ["[]", "['numpy', 'scipy']"]


def test_saliency_writes_three_pictures_and_refuses_what_is_none(run, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed: no pictures")
    pytest.importorskip("skimage", reason="scikit-image is not installed: no superpixels")
    pixels = np.full((60, 80, 3), 40, np.uint8)
    pixels[20:40, 30:50] = (250, 200, 10)
    image.fromarray(pixels).save(tmp_path / "square.png")
    code, out, err = run("saliency", tmp_path / "square.png", "--out", tmp_path / "found")
    assert (code, err) == (0, "")
    assert "in the mask" in out
    mask = np.asarray(image.open(tmp_path / "found" / "square-mask.png"))
    assert mask[30, 40] > 0
    assert mask[5, 5] == 0
    assert {p.name for p in (tmp_path / "found").iterdir()} == {
        "square-map.png",
        "square-mask.png",
        "square-overlay.png",
    }
    (tmp_path / "no.png").write_text("no picture")
    code, out, err = run("saliency", tmp_path / "no.png")
    assert (code, out, err.count("\n")) == (1, "", 1)


def test_match_writes_a_picture_and_a_table_and_refuses_what_is_no_picture(run, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed: no pictures")
    data = pytest.importorskip("skimage.data", reason="scikit-image is not installed: no features")
    photo = data.camera()[:, 100:400]
    image.fromarray(photo).save(tmp_path / "left.png")
    image.fromarray(photo[20:, 30:]).save(tmp_path / "right.png")
    code, out, err = run(
        "match",
        tmp_path / "left.png",
        tmp_path / "right.png",
        "--out",
        tmp_path / "found",
        "--max-features",
        150,
    )
    assert (code, err) == (0, "")
    with open(tmp_path / "found" / "matches.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert f"{len(rows)} matches" in out
    ends = np.array([[float(value) for value in list(row.values())[1:5]] for row in rows])
    moved = np.abs(ends[:, :2] - ends[:, 2:] - (30, 20)).max(axis=1)
    assert len(rows) > 20
    assert (moved < 2).mean() > 0.9
    assert (tmp_path / "found" / "matches.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "no.png").write_text("no picture")
    code, out, err = run("match", tmp_path / "left.png", tmp_path / "no.png", "--out", tmp_path / "found")
    assert (code, out, err.count("\n")) == (1, "", 1)
