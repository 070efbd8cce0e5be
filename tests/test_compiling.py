"""Compiled code is kept where it can be; where it cannot, everything works and one line says so."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import caching

import hypermodes as hm
from hypermodes._kernels import compiling
from hypermodes._kernels.faces import OPTIONS

SOURCE = """
from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import OPTIONS

@njit(**OPTIONS)
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result
"""


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Make a small kernel in a module of its own, as a new process would."""
    compiling._say.cache_clear()
    path = tmp_path / "small_kernel.py"
    path.write_text(SOURCE)

    def make():
        names = {}
        exec(compile(SOURCE, str(path), "exec"), names)
        return names["total"]

    yield make
    compiling._say.cache_clear()


def kept_in(folder):
    return sorted(path.name for path in folder.rglob("*.nb[ci]"))


def test_compiled_code_is_kept_and_used_again(kernel, tmp_path, caplog):
    assert kernel()(np.ones(3)) == 3
    assert len(kept_in(tmp_path)) == 2
    again = kernel()
    assert again(np.ones(4)) == 4
    assert sum(again.stats.cache_hits.values()) == 1
    assert caplog.messages == []


def test_code_of_other_sources_is_not_used(kernel, monkeypatch):
    """A kernel calls others: an update of theirs leaves its own file as it was."""
    kernel()(np.ones(3))
    monkeypatch.setattr(compiling, "_sources", lambda: b"other sources")
    again = kernel()
    assert again(np.ones(4)) == 4
    assert not again.stats.cache_hits


def test_without_a_folder_to_write_to_it_works_and_one_line_says_so(kernel, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    first, second = kernel(), kernel()
    assert caplog.messages == []  # nothing is compiled yet
    assert first(np.ones(3)) == second(np.ones(3)) == 3
    (line,) = caplog.messages
    assert line.startswith("hypermodes: compiled code cannot be kept (no folder for it can be written to): ")
    assert "\n" not in line
    assert kept_in(tmp_path) == []


def test_a_full_disk_is_named_and_nothing_is_lost_but_time(kernel, tmp_path, monkeypatch, caplog):
    def full(self, path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(caching.IndexDataCacheFile, "_open_for_write", full)
        assert kernel()(np.ones(3)) == 3
    (line,) = caplog.messages
    assert f"({str(tmp_path / '__pycache__')!r}: No space left on device)" in line
    assert kernel()(np.ones(3)) == 3
    assert len(kept_in(tmp_path)) == 2


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"damaged"])
def test_damaged_files_are_written_anew(kernel, tmp_path, ending, content, caplog):
    kernel()(np.ones(3))
    (path,) = tmp_path.rglob(f"*.{ending}")
    path.write_bytes(content)
    assert kernel()(np.ones(3)) == 3
    again = kernel()
    assert again(np.ones(3)) == 3
    assert again.stats.cache_hits
    assert caplog.messages == []


def test_every_kernel_goes_through_it():
    for path in Path(compiling.__file__).parent.glob("*.py"):
        if path.name != "compiling.py":
            assert "from numba import" not in path.read_text("utf-8"), path.name
    assert OPTIONS["cache"]


def test_the_command_line_works_where_nothing_can_be_written(tmp_path):
    """As in a read-only installation with a home that is read-only, too, and warnings made errors."""
    file = tmp_path / "pairs.csv"
    file.write_text("edge,node\na,x\na,y\nb,y\nb,z\n")
    code = (
        "import sys; from numba.core import caching; caching.CacheImpl._locator_classes = []; "
        "from hypermodes.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    shown = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, "info", "--json", str(file)],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(hm.__file__).parent.parent)},
    )
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["command"] == "info"
    lines = shown.stderr.decode().splitlines()
    assert len(lines) <= 1  # and none if there was nothing to compile
    assert all(line.startswith("hypermodes: compiled code cannot be kept") for line in lines)
