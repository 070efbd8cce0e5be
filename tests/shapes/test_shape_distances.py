"""Distances of shapes: against a slow search, under what must not matter, and from a cache."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("skimage", reason="scikit-image is not installed: no outlines")

from hypermodes.experiments.solids import SOLIDS, silhouettes
from hypermodes.shapes import distances as module
from hypermodes.shapes.contexts import mirrored, shape_contexts
from hypermodes.shapes.contours import contour
from hypermodes.shapes.distances import shape_distances
from hypermodes.shapes.silhouettes import read_silhouettes
from strange_files import STRANGE


def literal_distance(one, other, band, turns):
    """The cheapest walk along both outlines, from it and from its mirror image, at given rotations."""
    n = len(one)
    best = np.inf
    for image, rotations in ((one, turns[0]), (mirrored(one), turns[1])):
        cost = 1 - image.reshape(n, -1) @ other.reshape(n, -1).T
        for turn in rotations:
            total = np.full((n, 2 * band + 1), np.inf)
            for i in range(n):
                for e in range(2 * band + 1):
                    here = cost[i, (i - turn + e - band) % n]
                    ways = [here * (1 + abs(e - band))] if i == 0 else [total[i - 1, e] + 2 * here]
                    if i and e < 2 * band:
                        ways.append(total[i - 1, e + 1] + here)
                    if i and e:
                        ways.append(total[i, e - 1] + here)
                    total[i, e] = min(ways)
            best = min(best, total[-1].min() / 2 / n)
    return best


def literal_turns(one, other):
    n = len(one)
    similarity = one.reshape(n, -1) @ other.reshape(n, -1).T
    agreement = [sum(similarity[i, (i - turn) % n] for i in range(n)) for turn in range(n)]
    return [int(np.argmax(agreement))]


@pytest.fixture(scope="module")
def views():
    """Four views of each of five solids."""
    chosen = [
        (name, view, mask)
        for name, view, mask in silhouettes(64, n_views=4)
        if name in ("hammer", "fish", "star", "cup", "chair")
    ]
    return np.array([name for name, _, _ in chosen]), [mask for _, _, mask in chosen]


@pytest.fixture(scope="module")
def contexts(views):
    return np.stack([shape_contexts(contour(mask, 40)) for mask in views[1]])


def test_distances_are_the_cheapest_walks(contexts):
    few = contexts[:6]
    table = shape_distances(few)
    order = np.lexsort(few.reshape(6, -1)[:, :: max(1, few[0].size // 64)].T[::-1])
    for a, i in enumerate(order):
        for j in order[a + 1 :]:
            one, other = few[i].astype(float), few[j].astype(float)
            turns = literal_turns(one, other), literal_turns(mirrored(one), other)
            assert table[i, j] == pytest.approx(literal_distance(one, other, module.BAND, turns), abs=1e-5)


def test_a_table_of_distances(contexts):
    table = shape_distances(contexts)
    assert table.shape == (20, 20)
    assert table.dtype == np.float32
    np.testing.assert_array_equal(table, table.T)
    np.testing.assert_array_equal(np.diag(table), 0)
    assert 0 < table[~np.eye(20, dtype=bool)].min() <= table.max() < 1


def test_order_threads_and_blocks_play_no_part(contexts, monkeypatch):
    table = shape_distances(contexts)
    shuffled = np.random.default_rng(1).permutation(20)
    np.testing.assert_array_equal(shape_distances(contexts[shuffled]), table[np.ix_(shuffled, shuffled)])
    np.testing.assert_array_equal(shape_distances(contexts, n_jobs=1), table)
    monkeypatch.setattr(module, "_BLOCK", 7)
    np.testing.assert_allclose(shape_distances(contexts), table, atol=1e-6)


@pytest.mark.parametrize(
    "change",
    [np.rot90, np.fliplr, np.flipud, lambda m: np.kron(m, np.ones((2, 2), bool)), lambda m: np.pad(m, 9)],
)
def test_turned_mirrored_larger_or_elsewhere_a_shape_is_close_to_itself(views, change):
    masks = views[1][::4]
    both = [*masks, *(change(mask) for mask in masks)]
    table = shape_distances(np.stack([shape_contexts(contour(mask)) for mask in both]))
    n = len(masks)
    again = np.diag(table[:n, n:])
    others = table[:n, :n][~np.eye(n, dtype=bool)]
    assert again.max() < 0.5 * others.min()


def test_equal_shapes_are_at_distance_0_and_nothing_is_below(contexts):
    table = shape_distances(np.concatenate((contexts, contexts[:, ::-1][::-1], contexts)), n_jobs=1)
    n = len(contexts)
    assert (table >= 0).all()
    assert not table[np.arange(n), np.arange(n) + 2 * n].any()


def test_an_interrupted_table_goes_on_where_it_was(contexts, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 4)
    table = shape_distances(contexts)
    done = []

    def stop(count, total):
        done.append(count)
        if len(done) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shape_distances(contexts, cache=tmp_path, n_jobs=1, progress=stop)
    kept = sorted(tmp_path.rglob("*.block"))
    assert 0 < len(kept) < 5
    kept[0].write_bytes(kept[0].read_bytes()[:50])  # damaged: made again
    calls = []
    compute = module._compared
    monkeypatch.setattr(module, "_compared", lambda *a: calls.append(a[-1]) or compute(*a))
    np.testing.assert_array_equal(shape_distances(contexts, cache=tmp_path), table)
    assert len(calls) == 5 - len(kept) + 1
    calls.clear()
    np.testing.assert_array_equal(shape_distances(contexts, cache=tmp_path), table)
    assert not calls
    with open(kept[0], "wb") as file:  # something else under its name
        np.savez(file, table=table)
    np.testing.assert_array_equal(shape_distances(contexts, cache=tmp_path), table)
    assert len(calls) == 1
    calls.clear()
    shape_distances(contexts[:8], cache=tmp_path)  # other shapes are another table
    assert calls


def test_a_cache_without_room_is_named(contexts, tmp_path, monkeypatch):
    def full(path, content):
        with open(path, "wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match=r"^cache: cannot write to '.*': No space left on device; ") as told:
            shape_distances(contexts, cache=tmp_path, n_jobs=1)
    assert str(tmp_path) in str(told.value)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.fixture(scope="module")
def kept_block(contexts, tmp_path_factory):
    """A table, the folder it is kept in, and the only block there."""
    folder = tmp_path_factory.mktemp("kept")
    table = shape_distances(contexts[:3], cache=folder, n_jobs=1)
    (block,) = folder.rglob("*.block")
    return table, folder, block, block.read_bytes()


@given(st.data())
def test_a_block_with_any_bit_turned_over_is_made_again(contexts, kept_block, data):
    table, folder, block, content = kept_block
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    block.write_bytes(damaged)
    np.testing.assert_array_equal(shape_distances(contexts[:3], cache=folder, n_jobs=1), table)
    assert block.read_bytes() == content


@given(st.data())
def test_a_block_of_any_other_length_is_made_again(contexts, kept_block, data):
    table, folder, block, content = kept_block
    block.write_bytes((content + content)[: data.draw(st.integers(0, 2 * len(content)))])
    np.testing.assert_array_equal(shape_distances(contexts[:3], cache=folder, n_jobs=1), table)
    assert block.read_bytes() == content


def test_a_block_of_other_rows_is_not_taken(tmp_path):
    """Two blocks of the same size in each other's place: whole, and wrong."""
    kept = module._Kept(tmp_path, lambda begin: (2, 3))
    kept.write(0, np.ones((2, 3), np.float32))
    kept._path(0).rename(kept._path(2))
    assert kept.read(2) is None


@pytest.mark.parametrize("kind", STRANGE)
def test_what_is_no_plain_file_of_a_cache_is_refused(contexts, tmp_path, kind):
    """A pipe is not waited for, and nothing is written through a link."""
    victim, cache = tmp_path / "victim", tmp_path / "cache"
    victim.write_text("precious")
    shape_distances(contexts[:3], cache=cache)
    (kept,) = cache.rglob("*.block")
    kept.unlink()
    STRANGE[kind](kept, victim)
    with pytest.raises(ValueError, match=r"^cache: '.*\.block' is no file of a cache; expected a folder"):
        shape_distances(contexts[:3], cache=cache)
    assert victim.read_text() == "precious"
    assert not victim.with_name("nobody").exists()


def test_nothing_is_written_through_a_link_that_came_later(contexts, tmp_path, monkeypatch):
    """The block is there as a link when it is to be written, long after it was looked for."""
    victim, cache = tmp_path / "victim", tmp_path / "cache"
    victim.write_text("precious")
    compute = module._compared

    def put(given, block):
        (folder,) = cache.iterdir()
        (folder / "rows-0000000.block").symlink_to(victim)
        return compute(given, block)

    monkeypatch.setattr(module, "_compared", put)
    table = shape_distances(contexts[:3], cache=cache, n_jobs=1)
    assert victim.read_text() == "precious"
    monkeypatch.undo()
    np.testing.assert_array_equal(shape_distances(contexts[:3], cache=cache), table)


@pytest.mark.parametrize(
    "bad", [np.zeros((3, 4)), np.zeros((2, 5, 8, 12), int), np.full((2, 5, 8, 12), np.nan)]
)
def test_what_is_no_context_is_refused(bad):
    with pytest.raises(ValueError, match="contexts: expected"):
        shape_distances(bad)


def test_there_are_21_solids_and_views_of_one_are_closer_than_of_others(views, contexts):
    assert len(SOLIDS) == 21
    table = shape_distances(contexts) + np.eye(20, dtype=np.float32)
    names = views[0]
    assert (names[table.argmin(axis=1)] == names).mean() > 0.6


@pytest.mark.data
def test_nearest_shapes_of_kimias_silhouettes_are_of_their_class(data_folder):
    found = list(read_silhouettes(data_folder / "kimia99" / "images"))
    contexts = np.stack([shape_contexts(contour(one.mask)) for one in found])
    classes = np.array([one.name.split("_")[0] for one in found])
    table = shape_distances(contexts) + np.eye(len(found), dtype=np.float32)
    assert (classes[table.argmin(axis=1)] == classes).mean() >= 0.99
    ten_nearest = np.argsort(table, axis=1)[:, :10]  # all others of a class of eleven
    assert (classes[ten_nearest] == classes[:, None]).mean() >= 0.96


def test_shapes_with_a_symmetry_are_as_far_apart_with_any_number_of_threads():
    """Several rotations are as good, and linear algebra rounds as its threads share the work."""
    limits = pytest.importorskip("threadpoolctl").threadpool_limits
    y, x = np.mgrid[:120, :120] - 60.0
    rng, masks = np.random.default_rng(0), []
    for angle, size in zip(rng.uniform(0, 2 * np.pi, 60), rng.uniform(0.7, 1.1, 60), strict=True):
        u = (x * np.cos(angle) + y * np.sin(angle)) / size
        v = (y * np.cos(angle) - x * np.sin(angle)) / size
        arms = 2 + len(masks) % 4
        masks.append(np.hypot(u, v) < 25 * (1 + 0.4 * np.cos(arms * np.arctan2(v, u))))
    contexts = np.stack([shape_contexts(contour(mask)) for mask in masks])
    tables = []
    for n_threads in (1, 2, 4):
        with limits(n_threads):
            tables.append(shape_distances(contexts, n_jobs=1))
    assert all(table.tobytes() == tables[0].tobytes() for table in tables)
