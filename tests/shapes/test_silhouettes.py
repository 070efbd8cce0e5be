"""Silhouettes from files: every usual kind of picture, folders and zip files, and files that lie."""

import struct
import zipfile
import zlib

import numpy as np
import pytest

pytest.importorskip("PIL", reason="Pillow is not installed: no picture files")

from PIL import Image

from hypermodes.shapes import silhouettes as module
from hypermodes.shapes.silhouettes import read_silhouettes

MASK = np.zeros((12, 20), dtype=bool)
MASK[3:9, 4:15] = True
MASK[3:5, 4:8] = False
BRIGHT = MASK.astype(np.uint8) * 255


def with_alpha(colour):
    alpha = Image.fromarray(BRIGHT)
    picture = Image.new(colour, alpha.size)
    picture.putalpha(alpha)
    return picture


PICTURES = {
    "bright on dark": Image.fromarray(BRIGHT),
    "dark on bright": Image.fromarray(255 - BRIGHT),
    "one bit": Image.fromarray(MASK),
    "colour": Image.fromarray(np.dstack((BRIGHT, BRIGHT, BRIGHT // 2))),
    "palette": Image.fromarray(BRIGHT).convert("RGB").convert("P"),
    "a mask of 0 and 1": Image.fromarray(MASK.astype(np.uint8)),
    "16 bits": Image.fromarray(MASK.astype(np.uint16) * 65535),
    "transparent around black": with_alpha("RGB"),
    "transparent around grey": with_alpha("L"),
    "an alpha channel that says nothing": Image.fromarray(BRIGHT).convert("RGBA"),
}


@pytest.mark.parametrize("kind", PICTURES)
def test_any_usual_picture_gives_the_mask(tmp_path, kind):
    PICTURES[kind].save(tmp_path / "one.png")
    (one,) = read_silhouettes(tmp_path)
    assert one.name == "one.png"
    np.testing.assert_array_equal(one.mask, MASK)


@pytest.mark.parametrize("suffix", ["bmp", "gif", "tif", "pgm", "jpg", "PNG"])
def test_other_formats(tmp_path, suffix):
    Image.fromarray(BRIGHT).save(tmp_path / f"one.{suffix}", quality=95)
    (one,) = read_silhouettes(tmp_path)
    np.testing.assert_array_equal(one.mask, MASK)


def test_a_mask_in_32_bits(tmp_path):
    Image.fromarray(MASK.astype(np.int32) * 255).save(tmp_path / "one.tif")
    (one,) = read_silhouettes(tmp_path)
    np.testing.assert_array_equal(one.mask, MASK)


def some(folder):
    """Pictures in folders, and files that are none."""
    for name in (
        "b.png",
        "a/2.png",
        "a/10.png",
        ".hidden.png",
        "__MACOSX/._b.png",
        "notes.txt",
        ".git/x.png",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.name in ("b.png", "2.png", "10.png"):
            Image.fromarray(BRIGHT).save(path)
        else:
            path.write_bytes(b"no picture")
    return folder


def zipped(folder, target, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(target, "w", method) as archive:
        for path in sorted(folder.rglob("*"), reverse=True):
            if path != target:
                archive.write(path, path.relative_to(folder).as_posix())
    return target


def test_a_zip_file_is_read_as_the_folder_it_was_made_from(tmp_path):
    folder = some(tmp_path / "some")
    found = read_silhouettes(folder)
    assert found.names == ("a/10.png", "a/2.png", "b.png")
    assert len(found) == 3
    assert found.left_out == ("notes.txt",)
    again = read_silhouettes(zipped(folder, tmp_path / "some.zip"))
    assert (again.names, again.left_out) == (found.names, found.left_out)
    for one, other in zip(found, again, strict=True):
        assert one.name == other.name
        np.testing.assert_array_equal(one.mask, other.mask)


def test_names_that_lead_out_of_a_zip_file_lead_nowhere(tmp_path):
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    Image.fromarray(BRIGHT).save(tmp_path / "one.png")
    with zipfile.ZipFile(inside / "evil.zip", "w") as archive:
        for name in ("../../out.png", "/tmp/out.png", "C:\\out.png"):
            archive.writestr(name, (tmp_path / "one.png").read_bytes())
    before = sorted(tmp_path.rglob("*"))
    assert len(list(read_silhouettes(inside / "evil.zip"))) == 3
    assert sorted(tmp_path.rglob("*")) == before


def png_of_size(width, height):
    """The beginning of a PNG that says it is this large."""
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunks = (
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(9))))
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def said(path):
    with pytest.raises((ValueError, OSError)) as caught:
        list(read_silhouettes(path))
    text = str(caught.value)
    assert text.startswith("path: ")
    assert "\n" not in text
    assert "0x" not in text  # where an object lies in memory is no news
    return text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "its format is none of PNG, JPEG"),
        (b"hello", "its format is none of PNG, JPEG"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "its format is none of PNG, JPEG"),
        (png_of_size(10**5, 10**5), "is too large a picture; "),
        (png_of_size(11_000, 11_000), "is too large a picture; expected at most 100,000,000 pixels"),
        (png_of_size(50, 50), "it is damaged"),
    ],
)
def test_what_is_no_picture_is_named(tmp_path, content, message):
    (tmp_path / "bad.png").write_bytes(content)
    for path in (tmp_path, zipped(tmp_path, tmp_path / "bad.zip")):
        assert "'bad.png'" in said(path)
        assert message in said(path)


def test_a_picture_without_a_shape_is_named(tmp_path):
    Image.new("L", (9, 9), 255).save(tmp_path / "blank.png")
    assert said(tmp_path) == "path: the picture 'blank.png' has no shape in it, all of it is of one kind"


def test_a_picture_that_is_cut_off_is_named(tmp_path):
    noise = np.random.default_rng(0).integers(0, 2, (90, 90), dtype=np.uint8) * 255
    Image.fromarray(noise).save(tmp_path / "cut.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "cut.png").read_bytes()[:-500])
    assert said(tmp_path) == "path: cannot read 'cut.png' as a picture: it is damaged"


def test_too_many_bytes_in_a_zip_file_are_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_LARGEST_FILE", 2**20)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.png", bytes(2**20 + 1))
    assert "'bomb.png' in " in said(tmp_path / "bomb.zip")
    assert said(tmp_path / "bomb.zip").endswith("is larger than 1 MB")


def test_zip_files_that_are_damaged_or_locked_say_so(tmp_path):
    Image.fromarray(BRIGHT).save(tmp_path / "one.png")
    whole = zipped(tmp_path, tmp_path / "whole.zip", zipfile.ZIP_STORED).read_bytes()
    content = whole.index(b"IDAT")
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(whole[:content] + b"XXXX" + whole[content + 4 :])
    assert "cannot read 'one.png' in " in said(damaged)
    locked = bytearray(whole)
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[whole.index(signature) + at] |= 1
    (tmp_path / "locked.zip").write_bytes(bytes(locked))
    assert "encrypted" in said(tmp_path / "locked.zip")


def test_what_is_neither_folder_nor_zip_file(tmp_path):
    assert "there is no folder or zip file" in said(tmp_path / "none")
    assert "found no pictures in" in said(tmp_path)
    (tmp_path / "text.zip").write_text("hello")
    assert "expected a folder of pictures or a zip file of them" in said(tmp_path / "text.zip")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    assert "found no pictures in" in said(tmp_path / "empty.zip")
