"""Matches between pictures: what was done to a picture is found again; bad pictures are named."""

import csv

import numpy as np
import pytest

import hypermodes as hm

skimage = pytest.importorskip("skimage")


@pytest.fixture(scope="module")
def turned():
    """A photograph, and the same turned by 20 degrees around its middle."""
    from skimage.data import camera
    from skimage.transform import rotate

    picture = camera()[::2, ::2]
    return picture, rotate(picture, 20, mode="edge")


@pytest.fixture(scope="module")
def found(turned):
    return hm.match_images(*turned)


def test_a_rotation_is_found_again(turned, found):
    c, s = np.cos(np.radians(20)), np.sin(np.radians(20))
    middle = (np.array(turned[0].shape)[::-1] - 1) / 2
    there = (found.left.points[found.pairs[:, 0]] - middle) @ np.array([[c, -s], [s, c]]) + middle
    errors = np.linalg.norm(there - found.right.points[found.pairs[:, 1]], axis=1)
    assert len(found) > 50
    assert (errors < 3).mean() > 0.95
    assert len(found.groups[0]) > 0.7 * len(found)
    assert found.groups[0].certificate.holds()


def test_a_table_and_a_picture_of_the_matches(found, tmp_path):
    found.save_csv(tmp_path / "matches.csv")
    with open(tmp_path / "matches.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(found)
    assert {row["core"] for row in rows} <= {"0", "1"}
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from hypermodes.plotting import match_picture

    figure = match_picture(found)
    figure.savefig(tmp_path / "matches.png")
    pyplot.close(figure)
    assert (tmp_path / "matches.png").stat().st_size > 10_000
    with pytest.raises(OSError, match="no folder"):
        found.save_csv(tmp_path / "absent" / "matches.csv")


def test_pictures_with_nothing_in_common():
    rng = np.random.default_rng(0)
    found = hm.match_images(rng.random((120, 120)), rng.random((120, 120)))
    assert len(found) == 0


def test_colour_alpha_and_files_are_read(turned, tmp_path):
    from skimage.io import imsave

    picture = turned[0]
    coloured = np.dstack((picture, picture, picture, np.full_like(picture, 255)))
    imsave(tmp_path / "picture.png", coloured, check_contrast=False)
    found = hm.match_images(tmp_path / "picture.png", picture, max_features=200)
    assert np.allclose(found.left.points[found.pairs[:, 0]], found.right.points[found.pairs[:, 1]], atol=1)


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        (np.zeros((1, 1)), "right: expected at least 16 pixels a side"),
        (np.zeros((50, 50)), "right: expected a picture with something in it"),
        (np.zeros((50, 50, 7)), "right: expected the path of a file, or numbers of shape"),
        (np.full((50, 50), np.nan), "right: "),
        (np.zeros(9), "right: expected the path"),
    ],
)
def test_bad_pictures_are_named(turned, picture, message):
    with pytest.raises(ValueError, match=message):
        hm.match_images(turned[0], picture)


def test_a_long_and_narrow_picture_keeps_its_width(turned):
    rng = np.random.default_rng(0)
    assert len(hm.match_images(rng.random((16, 2000)), turned[0])) == 0


def test_the_command_leaves_no_folder_if_a_picture_cannot_be_read(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    from hypermodes.cli import main

    (tmp_path / "text.png").write_text("no picture")
    for name, message in (("absent.png", "left: there is no file"), ("text.png", "left: cannot read")):
        picture, out = str(tmp_path / name), tmp_path / "out"
        assert main(["match", picture, picture, "--out", str(out)]) == 1
        assert message in capsys.readouterr().err
        assert not out.exists()


def test_the_command_writes_both_files_or_neither(turned, tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    import skimage.io

    from hypermodes import image_matching, plotting
    from hypermodes.cli import main

    paths = [tmp_path / name for name in ("a.png", "b.png")]
    for path, picture in zip(paths, turned, strict=True):
        skimage.io.imsave(path, skimage.util.img_as_ubyte(picture))
    command = ["match", *map(str, paths), "--out", str(tmp_path / "out"), "--max-features", "50"]

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    for module, name in ((image_matching, "match_images"), (plotting, "match_picture")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, interrupted)
            assert main(command) == 130
        assert not (tmp_path / "out").exists()
    assert main(command) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["matches.csv", "matches.png"]


def test_bad_files_are_named(turned, tmp_path):
    with pytest.raises(OSError, match="left: there is no file"):
        hm.match_images(tmp_path / "absent.png", turned[0])
    (tmp_path / "text.png").write_text("no picture")
    with pytest.raises(ValueError, match="left: cannot read"):
        hm.match_images(tmp_path / "text.png", turned[0])
    with pytest.raises(ValueError, match="max_features: expected a whole number, 2 or more"):
        hm.match_images(turned[0], turned[1], max_features=1)
