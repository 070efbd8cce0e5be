"""What stands out as files: map, mask, overlay; nothing half-written, errors in one line."""

import numpy as np
import pytest

import hypermodes as hm
from drawn import SQUARE, square
from hypermodes.images import read_image, write_png
from hypermodes.saliency_pictures import overlay, write_saliency


def test_three_pictures_are_written_beside_the_photograph_or_where_asked(tmp_path):
    path = tmp_path / "photo.png"
    write_png(path, square() / 255)
    found = hm.saliency(path)
    for folder in (None, tmp_path / "new" / "folder"):
        written = write_saliency(path, folder)
        assert written.map.parent == (folder or tmp_path)
        assert read_image(written.map) / 255 == pytest.approx(found.map, abs=0.5 / 255 + 1e-6)
        assert ((read_image(written.mask) == 255) == found.mask).all()
        assert read_image(written.overlay).shape == (90, 120, 3)
    assert {one.name for one in (tmp_path / "new" / "folder").iterdir()} == {
        "photo-map.png",
        "photo-mask.png",
        "photo-overlay.png",
    }
    assert "written:" in written.summary()


def test_the_overlay_keeps_what_stands_out_dims_the_rest_and_draws_the_line_between():
    shown = overlay(square(), hm.saliency(square()))
    assert shown[45, 60] == pytest.approx(square()[45, 60] / 255, abs=0.02)
    assert shown[5, 5] == pytest.approx(0.3 * square()[5, 5] / 255, abs=0.02)
    line = (shown == (0.84, 0.20, 0.42)).all(axis=2)
    assert line.any()
    assert not line[~SQUARE].any()
    assert not line[35:55, 50:75].any()


def test_the_overlay_of_a_large_picture_is_made_smaller():
    image = np.kron(square(), np.ones((20, 20, 1), np.uint8))
    assert overlay(image, hm.saliency(image)).shape == (1200, 1600, 3)


def test_a_blank_picture_has_no_line(tmp_path):
    path = tmp_path / "blank.png"
    write_png(path, np.full((20, 20), 0.5))
    written = write_saliency(path)
    assert "nothing stands out" in written.summary()
    assert not read_image(written.map).any()
    assert len(np.unique(read_image(written.overlay))) == 1


def test_what_cannot_be_read_or_written_is_one_line_and_leaves_nothing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^image: there is no file"):
        write_saliency(tmp_path / "none.jpg", tmp_path / "out")
    (tmp_path / "bad.jpg").write_bytes(b"\xff\xd8\xff\xe0 no more")
    with pytest.raises(ValueError, match=r"^image: cannot read .*bad\.jpg' as a picture"):
        write_saliency(tmp_path / "bad.jpg", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    good = tmp_path / "good.png"
    write_png(good, square() / 255)
    with pytest.raises(NotADirectoryError, match=r"^out: .* is a file; expected a folder"):
        write_saliency(good, tmp_path / "bad.jpg")
