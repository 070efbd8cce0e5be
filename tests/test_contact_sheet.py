"""The contact sheet: what is where, how long rows and many groups are shown, the same bytes every time."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("PIL", reason="Pillow is not installed: no pictures")

from hypermodes import contact_sheet as module
from hypermodes.contact_sheet import COLUMNS, ROWS, contact_sheet, write_contact_sheet
from hypermodes.images import read_image
from hypermodes.shape_groups import ShapeGroups, thumbnail

ACCENT, INK, GREY, WHITE = (214, 51, 108), (31, 36, 48), (120, 127, 143), (255, 255, 255)
LEFT, TOP, CELL, STEP = 16 + 104, 16 + 34, 64, 72


def shown(sizes, outliers=0, masks=None):
    """Groups of these sizes, each with its last member for representative; full squares if not told."""
    labels = np.concatenate((np.repeat(np.arange(len(sizes)), sizes), np.full(outliers, -1))).astype(np.int64)
    ends = np.cumsum(sizes, dtype=np.int64) - 1
    strength = np.where(labels < 0, 0.0, np.linspace(0.2, 0.9, labels.size))
    clusters = SimpleNamespace(
        labels=labels, probabilities=strength, representatives=lambda **_: ends, n_clusters=len(sizes)
    )
    masks = [np.ones((10, 10), dtype=bool)] * labels.size if masks is None else masks
    names = tuple(f"{k}.png" for k in range(labels.size))
    return ShapeGroups(names, clusters, np.zeros((labels.size, labels.size)), tuple(masks))


def middle(page, row, column):
    return tuple(page[TOP + row * STEP + CELL // 2, LEFT + column * STEP + CELL // 2].tolist())


def test_a_row_a_group_and_the_outliers_last():
    (page,) = contact_sheet(shown([5, 3, 1], outliers=2))
    assert page.dtype == np.uint8
    assert page.shape == (2 * 16 + 34 + 4 * STEP, max(2 * 16 + 104 + 5 * STEP + 56, 560), 3)
    colours = [[middle(page, row, column) for column in range(5)] for row in range(4)]
    assert colours == [
        [ACCENT, INK, INK, INK, INK],
        [ACCENT, INK, INK, WHITE, WHITE],
        [ACCENT, WHITE, WHITE, WHITE, WHITE],
        [GREY, GREY, WHITE, WHITE, WHITE],
    ]


def test_members_come_by_strength_after_their_representative():
    found = shown([4, 2], outliers=1)
    assert found.members(0).tolist() == [3, 2, 1, 0]
    assert found.members(1).tolist() == [5, 4]
    assert found.members(-1).tolist() == [6]
    assert found.representatives() == ("3.png", "5.png")
    for bad in (-2, 2, True, 0.5):
        with pytest.raises(IndexError, match="k: expected the number of a group"):
            found.members(bad)


def test_a_shape_fills_its_cell_and_keeps_its_proportions():
    for shape in ((10, 40), (40, 10), (1, 200), (3, 3)):
        (page,) = contact_sheet(shown([1], masks=[thumbnail(np.ones(shape, dtype=bool))]))
        cell = page[TOP : TOP + CELL, LEFT : LEFT + CELL]
        inside = (cell == ACCENT).all(axis=2)
        height, width = inside.any(axis=1).sum(), inside.any(axis=0).sum()
        assert max(height, width) == CELL
        assert height / width == pytest.approx(shape[0] / shape[1], rel=0.05, abs=1.01 / CELL)


def test_long_rows_are_cut_and_say_so():
    (page,) = contact_sheet(shown([COLUMNS + 30, COLUMNS]))
    assert page.shape[1] == 2 * 16 + 104 + COLUMNS * STEP + 56
    end = slice(LEFT + COLUMNS * STEP, None)
    inks = [(page[TOP + r * STEP : TOP + r * STEP + CELL, end] < 200).any() for r in (0, 1)]
    assert inks == [True, False]  # +30, and nothing


def test_many_groups_take_pages_and_too_many_are_counted(monkeypatch):
    pages = contact_sheet(shown([2] * (2 * ROWS), outliers=1))
    assert [(page.shape[0] - 66) // STEP for page in pages] == [ROWS, ROWS, 1]
    assert middle(pages[2], 0, 0) == GREY
    monkeypatch.setattr(module, "PAGES", 2)
    pages = contact_sheet(shown([2] * (2 * ROWS), outliers=1))
    assert len(pages) == 2
    assert middle(pages[1], ROWS - 1, 0) == GREY  # the outliers are still there
    assert pages[1].shape[0] == pages[0].shape[0] + 24
    assert (pages[1][-40:] < 200).any()  # a line that says how many are not shown
    assert not (pages[0][-8:] < 200).any()


def test_nothing_but_outliers_is_a_sheet_too():
    (page,) = contact_sheet(shown([], outliers=3))
    assert [middle(page, 0, column) for column in range(4)] == [GREY, GREY, GREY, WHITE]


def test_files_are_the_same_every_time_and_pages_of_an_older_sheet_go(tmp_path):
    many, few = shown([2] * (ROWS + 1)), shown([2, 2])
    names = [tmp_path / "groups.png", tmp_path / "groups-2.png"]
    assert write_contact_sheet(tmp_path / "groups.png", many, "some.zip") == names
    first = [name.read_bytes() for name in names]
    write_contact_sheet(tmp_path / "groups.png", many, "some.zip")
    assert [name.read_bytes() for name in names] == first
    np.testing.assert_array_equal(read_image(names[1]), contact_sheet(many, "some.zip")[1])
    (tmp_path / "other-3.png").write_text("not ours")
    assert write_contact_sheet(tmp_path / "groups.png", few) == names[:1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["groups.png", "other-3.png"]


def test_a_title_that_is_long_or_odd_is_made_to_fit():
    for title in ("x" * 5000, "line\nend \x1b[31m", "日本"):
        (page,) = contact_sheet(shown([2]), title)
        assert page.shape[1] == 560
        assert not (page[:, -12:] < 200).any()


def test_thumbnails_are_cut_out_small_and_never_empty():
    mask = np.zeros((300, 400), dtype=bool)
    mask[100:140, 50:370] = True
    small = thumbnail(mask)
    assert small.shape == (12, 96)
    assert small.all()
    thin = np.eye(500, dtype=bool)
    assert thumbnail(thin).any()
    assert thumbnail(np.ones((1, 1))).tolist() == [[True]]
