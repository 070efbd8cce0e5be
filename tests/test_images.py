"""Pictures from arrays and files: the same picture whatever it is stored as."""

import io
import os
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import EpsImagePlugin, Image

import hypermodes as hm
from hypermodes import images
from hypermodes.images import as_picture, enlarge, read_image, shrink, write_png

RGB = np.random.default_rng(0).integers(0, 256, (6, 9, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    "same",
    [RGB / 255.0, RGB.astype(np.uint16) * 257, RGB.astype(int), RGB.tolist()],
    ids=["float", "uint16", "int64", "list"],
)
def test_the_type_of_the_numbers_plays_no_part(same):
    assert as_picture(same).rgb == pytest.approx(as_picture(RGB).rgb, abs=1e-12)


def test_grey_is_a_colour():
    grey = RGB[:, :, 0]
    for form in (grey, grey[:, :, None], np.dstack((grey, np.full_like(grey, 255)))):
        picture = as_picture(form)
        assert picture.alpha is None
        assert (picture.rgb == as_picture(np.repeat(grey[:, :, None], 3, axis=2)).rgb).all()
    assert as_picture(grey > 128).rgb.max() == 1


def test_what_is_opaque_is_not_changed_by_alpha():
    opaque = as_picture(np.dstack((RGB, np.full(RGB.shape[:2], 255, np.uint8))))
    assert opaque.alpha is None
    assert opaque.rgb == pytest.approx(RGB / 255)


@pytest.mark.parametrize(("colour", "behind"), [(230, 0.0), (20, 1.0)])
def test_what_is_hidden_by_transparency_is_not_seen(colour, behind):
    pixels = np.zeros((4, 4, 4), np.uint8)
    pixels[:2] = (colour, colour, colour, 255)
    one = as_picture(pixels)
    pixels[2:, :, :3] = 77  # other colours under full transparency
    other = as_picture(pixels)
    assert (one.rgb == other.rgb).all()
    assert one.rgb[3, 0].tolist() == [behind] * 3
    assert one.alpha.tolist() == [[1.0] * 4] * 2 + [[0.0] * 4] * 2


def test_shrinking_keeps_the_mean_and_says_where_it_came_from():
    big = np.random.default_rng(1).random((90, 120, 3))
    picture = as_picture(big, longest=40)
    assert picture.size == (30, 40)
    assert picture.full_size == (90, 120)
    assert picture.rgb.mean(axis=(0, 1)) == pytest.approx(big.mean(axis=(0, 1)))
    assert picture.rgb[0, 0] == pytest.approx(big[:3, :3].mean(axis=(0, 1)))
    assert repr(picture) == "Picture(40 x 30 of 120 x 90)"


@pytest.mark.parametrize("shape", [(401, 397, 1), (1, 5000, 3), (5000, 1, 3), (399, 12, 4)])
def test_any_shape_can_be_shrunk(shape):
    pixels = np.random.default_rng(2).random(shape)
    small = shrink(pixels, 20)
    assert max(small.shape[:2]) == 20
    assert min(small.shape[:2]) >= 1
    assert pixels.min() <= small.min() <= small.max() <= pixels.max()


def test_enlarging_is_linear_between_the_middles_of_pixels():
    assert enlarge(np.array([[0.0, 1.0]]), (1, 4)).tolist() == [[0.0, 0.25, 0.75, 1.0]]
    values = np.random.default_rng(3).random((5, 7)).astype(np.float32)
    assert (enlarge(values, (5, 7)) == values).all()
    big = enlarge(values, (50, 35))
    assert big.shape == (50, 35)
    assert values.min() <= big.min() <= big.max() <= values.max()
    assert enlarge(np.ones((1, 1)), (3, 2)).tolist() == [[1.0, 1.0]] * 3


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "LA", "P", "1", "CMYK", "I;16", "F"])
def test_every_kind_of_file_is_read(tmp_path, mode):
    path = tmp_path / ("x.tif" if mode in ("CMYK", "I;16", "F") else "x.png")
    if mode == "I;16":
        Image.fromarray(RGB[:, :, 0].astype(np.uint16) * 257).save(path)
    elif mode == "F":
        Image.fromarray((RGB[:, :, 0] / 255).astype(np.float32)).save(path)
    else:
        Image.fromarray(RGB).convert(mode).save(path)
    picture = as_picture(path)
    assert picture.size == (6, 9)
    with Image.open(path) as opened:
        assert as_picture(opened).rgb.tolist() == picture.rgb.tolist()
    if mode in ("RGB", "RGBA"):
        assert picture.rgb == pytest.approx(RGB / 255)
    if mode in ("I;16", "F"):
        assert picture.rgb[:, :, 0] == pytest.approx(RGB[:, :, 0] / 255, abs=1e-6)


def test_files_are_turned_upright(tmp_path):
    path = tmp_path / "turned.png"
    turned = Image.fromarray(RGB)
    exif = turned.getexif()
    exif[0x0112] = 6  # the camera was held on its side
    turned.save(path, exif=exif)
    assert (read_image(path) == np.rot90(RGB, -1)).all()


def test_a_palette_with_transparency_is_transparent(tmp_path):
    path = tmp_path / "palette.gif"
    image = Image.fromarray(np.array([[0, 1], [1, 0]], np.uint8), mode=None).convert("P")
    image.save(path, transparency=0)
    assert as_picture(path).alpha is not None


def test_what_is_written_can_be_read(tmp_path):
    path = tmp_path / "written.png"
    write_png(path, RGB / 255)
    assert (read_image(path) == RGB).all()
    write_png(path, RGB[:, :, 0] > 100)
    assert (read_image(path) == np.where(RGB[:, :, 0] > 100, 255, 0)).all()
    assert [one.name for one in tmp_path.iterdir()] == ["written.png"]


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (None, r"^image: expected the path of a file, or numbers .*; got None"),
        (5, r"^image: expected .*; got 5"),
        (np.zeros(4), r"^image: expected .*; got shape \(4,\)"),
        (np.zeros((4, 4, 5)), r"^image: expected .*; got shape \(4, 4, 5\)"),
        (np.zeros((2, 4, 4, 3)), r"^image: expected .*; got shape \(2, 4, 4, 3\)"),
        (np.zeros((0, 4)), r"^image: expected one pixel or more; got shape \(0, 4\)"),
        (np.zeros((4, 0, 3)), r"^image: expected one pixel or more"),
        ([[1, 2], [3]], r"^image: expected shape .*; got rows of different lengths"),
        ([["a"]], r"^image: expected .* type <U1"),
        (np.zeros((4, 4), dtype=complex), r"^image: expected .* type complex128"),
        (np.array([[np.nan, 0.0]]), r"^image: expected floats from 0 to 1; got nan"),
        (np.array([[np.inf, 0.0]]), r"^image: expected floats from 0 to 1; got 0 to inf"),
        (np.array([[0.0, 255.0]]), r"^image: expected floats from 0 to 1; got 0 to 255"),
        (np.array([[-0.1, 0.5]]), r"^image: expected floats from 0 to 1; got -0\.1"),
        (
            np.array([[0, 256]]),
            r"^image: expected whole numbers from 0 to 255, .*uint16; got 0 to 256",
        ),
        (np.array([[-1, 3]]), r"^image: expected whole numbers"),
    ],
)
def test_arrays_that_are_no_picture_are_refused(image, message):
    with pytest.raises(ValueError, match=message):
        as_picture(image)


def png_bytes():
    buffer = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)).save(
        buffer, "PNG"
    )
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "its format is none of PNG, JPEG, WEBP, TIFF, GIF, BMP, PPM"),
        (b"no picture at all", "its format is none of PNG, JPEG, WEBP, TIFF, GIF, BMP, PPM"),
        (png_bytes()[: len(png_bytes()) // 2], "it is damaged"),
        (png_bytes()[:200] + b"\0" * 400 + png_bytes()[600:], "it is damaged"),
    ],
    ids=["empty", "text", "cut short", "overwritten"],
)
def test_files_that_are_no_picture_are_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "bad.png"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"^image: cannot read .*bad\.png' as a picture: {message}$"):
        as_picture(path)


def test_a_picture_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(images, "MOST_PIXELS", 50)
    for size in ((9, 9), (30, 30)):
        path = tmp_path / "huge.png"
        write_png(path, np.zeros(size))
        with pytest.raises(
            ValueError, match=r"^image: .*huge\.png' is too large a picture; expected at most 50 pixels"
        ):
            as_picture(path)


def test_a_file_that_is_not_there_and_a_folder_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^image: there is no file .*none\.png"):
        as_picture(tmp_path / "none.png")
    with pytest.raises(IsADirectoryError, match=r"^image: .* is a folder"):
        as_picture(str(tmp_path))


EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n"


@pytest.mark.parametrize(
    "use", [as_picture, read_image, hm.saliency, lambda path: hm.match_images(path, RGB)]
)
def test_a_file_that_would_start_another_program_is_refused_whatever_its_name(tmp_path, monkeypatch, use):
    started = []
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *_, **__: started.append("Ghostscript"))
    path = tmp_path / "photo.jpg"
    path.write_bytes(EPS)
    with pytest.raises(
        ValueError, match=r"^(image|left): cannot read .*photo\.jpg' as a picture: its format is none"
    ):
        use(path)
    assert started == []


def test_no_decoder_but_the_listed_ones_sees_a_file(tmp_path, monkeypatch):
    Image.init()
    asked = []

    def spied(name):
        factory, accept = Image.OPEN[name]

        def looks(start):
            asked.append(name)
            return accept(start) if accept else True

        return factory, looks

    monkeypatch.setattr(Image, "OPEN", {name: spied(name) for name in Image.OPEN})
    path = tmp_path / "photo.jpg"
    path.write_bytes(EPS)
    with pytest.raises(ValueError, match="its format is none of"):
        read_image(path)
    assert asked
    assert set(asked) <= set(images.FORMATS)


def test_pictures_are_opened_in_one_place():
    """Wherever else Pillow (or what calls it) opens a file, no list of formats and no limit would hold."""
    source = Path(images.__file__).parent
    opening = re.compile(r"\b(pillow|Image|PIL\.Image)\.open\(|\bimread\(|ImageFile\.Parser|ImageReader")
    found = [path.name for path in sorted(source.rglob("*.py")) if opening.search(path.read_text("utf-8"))]
    assert found == ["images.py"]


def test_a_pipe_is_no_picture(tmp_path):
    path = tmp_path / "photo.png"
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"^image: .*photo\.png' is a device or a pipe"):
        read_image(path)
