"""A small hypergraph and small tables in files, and a way to run commands."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hypermodes
from hypermodes.cli import main

SOURCE = Path(hypermodes.__file__).parent.parent

EDGES = {
    "standup": ["ann", "bob", "cid"],
    "planning": ["ann", "bob", "cid", "dan"],
    "review": ["ann", "cid", "dan"],
    "lunch": ["eve", "fay"],
    "chess": ["fay", "gus"],
    "gardening": ["hal"],
}


@pytest.fixture
def meetings(tmp_path):
    """A HIF file with names, an isolated vertex and attributes."""
    people = [*sorted({who for members in EDGES.values() for who in members}), "zoe"]
    content = {
        "network-type": "undirected",
        "metadata": {"where": "office"},
        "nodes": [{"node": who, "attrs": {"name": who.title()}} for who in people],
        "edges": [{"edge": name, "attrs": {"name": name.upper()}} for name in EDGES],
        "incidences": [{"edge": name, "node": who} for name, members in EDGES.items() for who in members],
    }
    path = tmp_path / "meetings.hif.json"
    path.write_text(json.dumps(content))
    return str(path)


@pytest.fixture
def blobs(tmp_path):
    """A table of three blobs, with ids and a column of words."""
    import numpy as np

    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(centre, 0.1, size=(40, 2)) for centre in ((0, 0), (3, 0), (0, 3))])
    path = tmp_path / "blobs.csv"
    rows = "".join(f"p{k},{x!r},{y!r},red\n" for k, (x, y) in enumerate(points.tolist()))
    path.write_text("id,x,y,colour\n" + rows)
    return str(path)


@pytest.fixture
def run(capsys):
    """Run a command in this process; give its exit code, standard output and standard error."""

    def command(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command


@pytest.fixture
def fails(run):
    """Run a command that must end in one line on standard error and exit code 1, and give the line."""

    def command(*arguments):
        code, out, err = run(*arguments)
        assert (code, out, err.count("\n")) == (1, "", 1), (code, out, err)
        assert err.startswith("hypermodes: ")
        return err.removeprefix("hypermodes: ").rstrip("\n")

    return command


@pytest.fixture
def shell(tmp_path):
    """Run a line of bash in which ``hypermodes`` is this package; some things only show in real processes."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "hypermodes"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={SOURCE} exec {sys.executable} -m hypermodes "$@"\n')
    script.chmod(0o755)

    def line(text, **environment):
        return subprocess.run(
            ["bash", "-c", text],
            capture_output=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", **environment},
        )

    return line
