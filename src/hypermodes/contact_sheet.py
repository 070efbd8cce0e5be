"""Groups of shapes to look at: one row a group, on as many pages as it takes. Needs Pillow."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hypermodes.files import as_path, replacing
from hypermodes.images import pillow_image
from hypermodes.result import counted
from hypermodes.shape_groups import ShapeGroups

COLUMNS = 16  # shapes of a row; the rest of a group is a number
ROWS = 24  # rows of a page
PAGES = 20  # at most; what is left out is said
_CELL, _GAP, _MARGIN = 64, 8, 16  # pixels
_LEFT, _RIGHT, _TOP = 104, 56, 34  # of what a row is called, of how many more there are, of the title
_LONGEST_TITLE = 400  # letters, of which there is never room for more
_INK, _GREY, _ACCENT, _LINE, _PAPER = (
    (31, 36, 48), (120, 127, 143), (214, 51, 108), (232, 234, 239), (255, 255, 255)
)  # fmt: skip


class _Row(NamedTuple):
    """What a row shows: its name, how many shapes it has, and those there is room for."""

    title: str
    size: int
    shown: np.ndarray
    first: tuple[int, int, int]
    others: tuple[int, int, int]


def contact_sheet(found: ShapeGroups, title: str = "") -> list[np.ndarray]:
    """Draw the pages: (height, width, 3) bytes each.

    A row has the representative of a group in colour, then those that belong to it most strongly; what has no
    room is counted at its end. Outliers are the last row. There are 24 rows on a page and 20 pages at most;
    of more groups than that the smallest are left out, and the last page says so.
    """
    rows = list(_rows(found))
    outliers = rows.pop() if rows and rows[-1].title == "outliers" else None
    room = ROWS * PAGES - (outliers is not None)
    left_out = rows[room:]
    rows = rows[:room] + ([] if outliers is None else [outliers])
    pages = [rows[k : k + ROWS] for k in range(0, len(rows), ROWS)]
    heading = title + ": " * bool(title) + repr(found)[len("ShapeGroups(") : -1]
    note = ""
    if left_out:
        shapes = counted(sum(row.size for row in left_out), "shape")
        note = f"not shown: {counted(len(left_out), 'smaller group')} with {shapes}"
    drawn = []
    for k, page in enumerate(pages):
        of = f"{heading}; page {k + 1} of {len(pages)}" if len(pages) > 1 else heading
        drawn.append(_page(found, page, of, note if k == len(pages) - 1 else ""))
    return drawn


def write_contact_sheet(path: str | os.PathLike[str], found: ShapeGroups, title: str = "") -> list[Path]:
    """Write the pages as PNG: to ``path``, ``NAME-2.png`` and so on; pages of an earlier, longer sheet go.

    Each file is written all at once or not at all.
    """
    target = as_path("path", path)
    pages = contact_sheet(found, title)
    written = []
    for k, pixels in enumerate(pages):
        name = _numbered(target, k + 1)
        with replacing(name) as temporary:
            pillow_image().fromarray(pixels).save(temporary, format="PNG", optimize=True)
        written.append(name)
    k = len(pages) + 1
    while (stale := _numbered(target, k)).is_file():
        stale.unlink()
        k += 1
    return written


def _numbered(target: Path, page: int) -> Path:
    return target if page == 1 else target.with_name(f"{target.stem}-{page}{target.suffix}")


def _rows(found: ShapeGroups) -> Iterator[_Row]:
    for k in range(found.n_groups):
        members = found.members(k)
        yield _Row(f"group {k}", members.size, members[:COLUMNS], _ACCENT, _INK)
    outliers = found.members(-1)
    if outliers.size:
        yield _Row("outliers", outliers.size, outliers[:COLUMNS], _GREY, _GREY)


def _page(found: ShapeGroups, rows: list[_Row], heading: str, note: str) -> np.ndarray:
    from PIL import ImageDraw, ImageFont

    pillow = pillow_image()
    font, small = ImageFont.load_default(14), ImageFont.load_default(12)
    columns = max(row.shown.size for row in rows)
    width = max(2 * _MARGIN + _LEFT + columns * (_CELL + _GAP) + _RIGHT, 560)
    height = 2 * _MARGIN + _TOP + len(rows) * (_CELL + _GAP) + 24 * bool(note)
    sheet = pillow.new("RGB", (width, height), _PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((_MARGIN, _MARGIN), _fitted(heading, width - 2 * _MARGIN, font), _INK, font)
    for r, row in enumerate(rows):
        top = _MARGIN + _TOP + r * (_CELL + _GAP)
        draw.line((_MARGIN, top - _GAP // 2, width - _MARGIN, top - _GAP // 2), _LINE)
        draw.text((_MARGIN, top + 14), row.title, _INK, font)
        draw.text((_MARGIN, top + 34), counted(row.size, "shape"), _GREY, small)
        for c, shape in enumerate(row.shown):
            at = (_MARGIN + _LEFT + c * (_CELL + _GAP), top)
            _paste(sheet, found.thumbnails[int(shape)], at, row.others if c else row.first)
        if row.size > row.shown.size:
            more = f"+{row.size - row.shown.size:,}"
            draw.text((width - _MARGIN - _RIGHT + 4, top + 24), more, _GREY, font)
    if note:
        draw.text((_MARGIN, height - _MARGIN - 16), note, _GREY, font)
    return np.asarray(sheet)


def _paste(sheet: Any, mask: np.ndarray, at: tuple[int, int], colour: tuple[int, int, int]) -> None:
    """Draw a silhouette as large as its cell allows, in the middle of it."""
    pillow = pillow_image()
    height, width = mask.shape
    scale = _CELL / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    stencil = pillow.fromarray(mask.astype(np.uint8) * 255).resize(size, pillow.Resampling.BOX)
    corner = (at[0] + (_CELL - size[0]) // 2, at[1] + (_CELL - size[1]) // 2)
    sheet.paste(colour, (*corner, corner[0] + size[0], corner[1] + size[1]), stencil)


def _fitted(text: str, room: int, font: Any) -> str:
    """The end of a text that has room: what was found is there, and as much of the file's name as fits."""
    text = "".join(c if c.isprintable() else "?" for c in text[-_LONGEST_TITLE:])
    if font.getlength(text) <= room:
        return text
    while text and font.getlength(f"... {text}") > room:
        text = text[1:]
    return f"... {text}"
