"""The command `shapes`: laws of what it finds, its files, its conventions, and how it fails."""

import csv
import json
import os
import zipfile

import numpy as np
import pytest

pytest.importorskip("skimage", reason="scikit-image is not installed: no outlines")

from PIL import Image

from hypermodes.cli import main
from hypermodes.shape_groups import group_shapes
from hypermodes.shapes import distances
from lobes import TRUTH, flowers, same_groups

NAMES = [f"flower{k:02d}.png" for k in range(len(TRUTH))]


def saved(folder, masks, names=NAMES):
    folder.mkdir(exist_ok=True)
    for name, mask in zip(names, masks, strict=True):
        Image.fromarray(np.ascontiguousarray(mask)).save(folder / name)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("shapes") / "flowers", flowers())


@pytest.fixture
def table(run):
    """Run the command and give what it says of each file."""

    def rows(path, *options):
        code, out, err = run("shapes", path, "--out", "-", *options)
        assert (code, err) == (0, "")
        found = list(csv.DictReader(out.splitlines()))
        return {
            row["file"]: (int(row["group"]), float(row["probability"]), row["representative"])
            for row in found
        }

    return rows


@pytest.fixture
def labels(table):
    """Groups of the flowers in a folder, in their order."""
    return lambda path, *options: [group for group, _, _ in table(path, *options).values()]


@pytest.fixture(scope="module")
def unchanged(folder):
    """Groups and probabilities of the flowers as they are."""
    found = group_shapes(folder)
    return found.labels, found.clusters.probabilities


def test_flowers_are_grouped_by_their_petals(table, folder):
    found = table(folder)
    assert list(found) == NAMES
    groups = np.array([group for group, _, _ in found.values()])
    inside = groups >= 0
    assert inside.mean() > 0.9
    assert same_groups(groups[inside], TRUTH[inside])
    for g in range(4):
        stands = [name for name, (group, _, mark) in found.items() if group == g and mark == "1"]
        assert len(stands) == 1


def enlarged(mask, times):
    return mask.repeat(times, axis=0).repeat(times, axis=1)


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("turned", lambda masks: [np.rot90(mask, k % 4) for k, mask in enumerate(masks)]),
        ("mirrored", lambda masks: [np.fliplr(mask) if k % 2 else mask for k, mask in enumerate(masks)]),
        ("larger", lambda masks: [enlarged(mask, 1 + k % 3) for k, mask in enumerate(masks)]),
        ("elsewhere", lambda masks: [np.pad(mask, ((k, 9), (3, 2 * k))) for k, mask in enumerate(masks)]),
        ("dark on bright", lambda masks: [~mask if k % 2 else mask for k, mask in enumerate(masks)]),
    ],
)  # fmt: skip
def test_what_does_not_change_a_shape_does_not_change_groups(labels, unchanged, tmp_path, what, change):
    changed = saved(tmp_path / what.replace(" ", "-"), change(flowers()))
    assert same_groups(labels(changed), unchanged[0])


def test_names_and_their_order_play_no_part(table, unchanged, tmp_path):
    order = np.random.default_rng(3).permutation(len(NAMES))
    renamed = saved(tmp_path / "renamed", flowers(), [f"{k:02d}-again.png" for k in order])
    found = table(renamed)
    rows = [found[f"{k:02d}-again.png"] for k in order]
    assert same_groups([group for group, _, _ in rows], unchanged[0])
    np.testing.assert_allclose([strength for _, strength, _ in rows], unchanged[1], atol=1e-6)


def test_a_zip_file_is_its_folder(run, folder, tmp_path):
    with zipfile.ZipFile(tmp_path / "flowers.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, path.name)
    one, other = (run("shapes", path, "--out", "-") for path in (folder, tmp_path / "flowers.zip"))
    assert one == other


def test_table_document_and_files_say_the_same(run, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, said, err = run("shapes", folder)
    assert (code, err) == (0, "")
    assert "4 groups" in said.splitlines()[1]
    assert said.splitlines()[-1] == "written: hypermodes-shapes/groups.csv, groups.png"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hypermodes-shapes"]
    _, printed, _ = run("shapes", folder, "--out", "-")
    with open(tmp_path / "hypermodes-shapes" / "groups.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == list(csv.reader(printed.splitlines()))
    code, out, _ = run("shapes", folder, "--json")
    document = json.loads(out)
    assert list(document)[:3] == ["command", "version", "file"]
    assert document["shapes"] == len(NAMES)
    assert document["n_groups"] == 4
    labels = [[row["file"], str(row["group"]), str(row["probability"]), str(int(row["representative"]))]
              for row in document["labels"]]  # fmt: skip
    assert labels == rows[1:]
    for group in document["groups"]:
        members = [row for row in document["labels"] if row["group"] == group["group"]]
        assert group["size"] == len(members)
        assert [row["file"] for row in members if row["representative"]] == [group["representative"]]
        assert group["mode"]["certificate"]["holds"]
    with Image.open(tmp_path / "hypermodes-shapes" / "groups.png") as sheet:
        assert sheet.format == "PNG"
    before = (tmp_path / "hypermodes-shapes" / "groups.png").read_bytes()
    run("shapes", folder)
    assert (tmp_path / "hypermodes-shapes" / "groups.png").read_bytes() == before


def test_files_that_are_not_read_are_told(run, tmp_path):
    few = saved(tmp_path / "few", flowers()[:2], NAMES[:2])
    (few / "notes.txt").write_text("hello")
    _, said, _ = run("shapes", few, "--out", tmp_path / "out")
    assert said.splitlines()[0].endswith("2 silhouettes; not read: notes.txt")
    _, said, _ = run("shapes", few, "--json")
    assert json.loads(said)["left_out"] == ["notes.txt"]


def test_as_many_groups_as_are_wanted(labels, folder):
    assert set(labels(folder, "--groups", "2")) - {-1} == {0, 1}
    assert set(labels(folder, "-k", "4")) - {-1} == {0, 1, 2, 3}


def test_distances_are_kept_and_used_again(run, folder, tmp_path, monkeypatch):
    first = run("shapes", folder, "--out", "-", "--cache", tmp_path / "kept")
    assert list((tmp_path / "kept").rglob("*.block"))

    def never(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(distances, "_compared", never)
    assert run("shapes", folder, "--out", "-", "--cache", tmp_path / "kept") == first


def test_an_interrupted_command_leaves_what_is_done_and_goes_on_from_there(
    run, folder, tmp_path, monkeypatch
):
    monkeypatch.setattr(distances, "_BLOCK", 8)
    compute, calls = distances._compared, []

    def block(*given):
        calls.append(given[-1])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return compute(*given)

    monkeypatch.setattr(distances, "_compared", block)
    options = ("--cache", tmp_path / "kept", "--jobs", "1", "--out", tmp_path / "out")
    code, out, err = run("shapes", folder, *options)
    assert (code, out, err) == (130, "", "hypermodes: interrupted\n")
    assert not (tmp_path / "out").exists()
    kept = len(list((tmp_path / "kept").rglob("*.block")))
    assert kept == 2
    assert run("shapes", folder, *options)[0] == 0
    assert len(calls) == 3 + 5 - kept


def test_a_bar_where_it_is_asked_for(run, folder):
    pytest.importorskip("tqdm")
    code, _, err = run("shapes", folder, "--out", "-", "--progress")
    assert code == 0
    assert "reading silhouettes" in err
    assert "comparing shapes" in err


# -- failing ----------------------------------------------------------------------------------------------


def test_what_cannot_be_read_is_one_line_and_nothing_is_written(fails, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "there is no folder or zip file 'none'" in fails("shapes", "none")
    (tmp_path / "empty").mkdir()
    assert "found no pictures in 'empty'" in fails("shapes", "empty")
    (tmp_path / "file.txt").write_text("hello")
    assert "expected a folder of pictures or a zip file" in fails("shapes", "file.txt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file.txt"]


def test_pictures_that_are_none_are_named_and_older_files_stay(fails, folder, tmp_path):
    bad = saved(tmp_path / "bad", flowers()[:3], NAMES[:3])
    out = saved(tmp_path / "out", [], [])
    (out / "groups.csv").write_text("older")
    (bad / "x.png").write_text("no picture")
    assert "'x.png' as a picture: its format is none of PNG" in fails("shapes", bad, "--out", out)
    Image.new("L", (8, 8)).save(bad / "x.png")
    assert "'x.png' has no shape in it" in fails("shapes", bad, "--out", out)
    assert [path.name for path in out.iterdir()] == ["groups.csv"]
    assert (out / "groups.csv").read_text() == "older"


def test_one_picture_is_too_few(fails, tmp_path):
    saved(tmp_path / "one", flowers()[:1], NAMES[:1])
    assert fails("shapes", tmp_path / "one", "--out", "-").startswith(
        "shapes: expected 2 silhouettes or more"
    )


def test_results_do_not_go_among_the_shapes(fails, folder, monkeypatch):
    before = sorted(folder.iterdir())
    assert "would be read as shapes the next time" in fails("shapes", folder, "--out", folder)
    monkeypatch.chdir(folder)
    assert "expected a folder elsewhere" in fails("shapes", ".")
    assert sorted(folder.iterdir()) == before


def test_names_that_are_not_text_are_escaped(run, tmp_path):
    odd = saved(tmp_path / "odd", flowers()[:2], NAMES[:2])
    try:
        (odd / NAMES[0]).rename(odd / os.fsdecode(b"caf\xe9.png"))
    except OSError:
        pytest.skip("file names are text here")
    code, _, err = run("shapes", odd, "--out", tmp_path / "out")
    assert (code, err) == (0, "")
    assert "caf\\udce9.png" in (tmp_path / "out" / "groups.csv").read_text()
    assert run("shapes", odd, "--json")[0] == 0


@pytest.mark.parametrize("option", ["--out", "--cache"])
def test_a_file_in_the_way_of_a_folder(fails, folder, tmp_path, option):
    (tmp_path / "file").write_text("in the way")
    assert "is a file; expected a folder to write to" in fails(
        "shapes", folder, option, tmp_path / "file", *(["--json"] if option == "--cache" else [])
    )


@pytest.mark.parametrize(
    "options",
    [["--json", "--out", "-"], ["--groups", "0"], ["-k", "x"], ["--neighbors", "0"], ["--jobs", "0"]],
)
def test_wrong_usage_exits_with_2(folder, capsys, options):
    with pytest.raises(SystemExit) as stop:
        main(["shapes", str(folder), *options])
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_few_shapes_are_fine(table, tmp_path):
    for n in (2, 3, 5):
        found = table(saved(tmp_path / str(n), flowers()[:n], NAMES[:n]))
        assert len(found) == n


def test_equal_shapes_are_fine(table, tmp_path):
    found = table(saved(tmp_path / "equal", [flowers()[0]] * 12, NAMES[:12]))
    assert len({group for group, _, _ in found.values()}) == 1
