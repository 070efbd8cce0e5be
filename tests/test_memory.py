"""Nobody takes more memory than is stated without asking; what would is refused before it starts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hypermodes as hm
from hypermodes import memory
from hypermodes.construct.correspondences import Candidates, usual_per_point

resource = pytest.importorskip("resource", reason="needs limits of a process (ulimit -v)")

# Each call, how many bytes it states to take (docs/scale.md), and the argument that is too large.
DESCRIBED, MATRIX = "hm.candidate_pairs(seen(n), seen(n)%s)", "hm.MatrixAffinity(dense(n))"
CALLS = {
    "candidate_pairs": ("hm.candidate_pairs(dots(n), dots(n))", "112 * n**2", "left, right"),
    "candidate_pairs, described": (DESCRIBED % "", "128 * n**2", "left, right"),
    "candidate_pairs, chosen": (DESCRIBED % ", 3", "20 * n**2", "left, right"),
    "pairwise_affinity": ("hm.pairwise_affinity(dots(n), dots(n), few(n))", "80 * n**2", "left, right"),
    "match": ("hm.match(seen(n), seen(n))", "80 * n**2", "left, right"),
    "match_affinity": ("hm.match_affinity(few(n, n), dense(n))", "88 * n**2", "affinity"),
    "hypergraph": ("hm.correspondence_hypergraph(few(n, n), dense(n))", "88 * n**2", "affinity"),
    "MatrixAffinity": (f"hm.find_modes({MATRIX}, starts=[0], n_jobs=1)", "56 * n**2", "values"),
    "cluster": ("hm.cluster(affinity(n), n_jobs=1)", "100 * n**2", "data"),
    "layout": ("hm.layout(affinity(n), n_jobs=1)", "100 * n**2", "data"),
    "cluster, hypergraph": ("hm.cluster(crowds(n), n_jobs=1)", "130 * n**2", "data"),
    "pairwise_hypergraph": ("hm.pairwise_hypergraph(dense(n))", "100 * n**2", "affinity"),
    "saliency": ("hm.saliency(picture(n), cuts=1, n_jobs=1)", "20 * n**2", "image"),
    "saliency, with alpha": ("hm.saliency(picture(n, 4), cuts=1, n_jobs=1)", "80 * n**2", "image"),
}
RUN = """
import re, resource, sys
import numpy as np
import hypermodes as hm

ROOM = 150e6  # bytes: for what a call takes however small its input is
rng = np.random.default_rng(0)
dots = lambda n: hm.Features(rng.random((n, 2)))
seen = lambda n: hm.Features(rng.random((n, 2)), descriptors=rng.random((n, 8)))
def few(n, m=8):
    pairs = np.column_stack((np.arange(m), np.arange(m)[::-1]))
    return hm.Candidates(pairs, np.ones(m), n, n)
def dense(n):
    values = rng.random((n, n))
    values += values.T.copy()
    return values
affinity = lambda n: hm.MatrixAffinity(dense(n))

def crowds(n):  # n²/1,600 hyperedges of 50 members have n² ties
    members = [rng.choice(n, min(n, 50), replace=False).tolist() for _ in range(2 + n * n // 1600)]
    return hm.Hypergraph.from_edges(members, vertices=range(n))

picture = lambda n, channels=3: rng.integers(0, 256, (n, n, channels), dtype=np.uint8)

small, n, stated, call = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
run = eval("lambda n: " + call)
run(small)  # code is compiled, libraries are loaded
given = {}

def once(make):
    def kept(*sizes):
        if (make, sizes) not in given:
            given[make, sizes] = make(*sizes)
        return given[make, sizes]
    return kept

dots, seen, few, dense, affinity = map(once, (dots, seen, few, dense, affinity))
picture, crowds = once(picture), once(crowds)
for part in re.findall(r"(?:dots|seen|few|dense|affinity|picture|crowds)\\([^()]*\\)", call):
    eval(part)  # the input is there before what it takes is counted

def with_at_most(n_bytes):
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + int(n_bytes), -1))
    run(n)

try:
    with_at_most(stated / 2)
except MemoryError as error:
    print(error)
with_at_most((stated + ROOM) / 0.9)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
@pytest.mark.parametrize("name", CALLS)
def test_a_call_takes_no_more_than_it_states_and_is_refused_where_there_is_less(name):
    """In a process that may not have more: it works with what is stated, and not with half of that."""
    call, formula, argument = CALLS[name]
    n = int((400e6 / eval(formula, {"n": 1})) ** 0.5)
    environment = {
        **os.environ, "PYTHONPATH": str(Path(hm.__file__).parent.parent), "MALLOC_ARENA_MAX": "1",
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    environment.pop(memory.VARIABLE, None)
    shown = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN, "40", str(n), str(eval(formula, {"n": n})), call],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    refusal = rf"{argument}: .* would take about (400|399) MB, and \d+(\.\d+)? MB may be taken; .*, "
    assert re.fullmatch(refusal + f"or set {memory.VARIABLE} to allow more\n", shown.stdout)


def test_an_affinity_of_too_many_candidates_is_refused_before_it_is_made(monkeypatch):
    """Some of them are looked at, to see how many go together."""
    rng = np.random.default_rng(0)
    left, right = rng.random((2, 60, 2))
    candidates = hm.candidate_pairs(left, right)
    n_entries = hm.pairwise_affinity(left, right, candidates).nnz
    monkeypatch.setenv(memory.VARIABLE, str(30 * n_entries))
    with pytest.raises(MemoryError, match=r"^candidates: the affinity of 3,600 of them would"):
        hm.pairwise_affinity(left, right, candidates)
    monkeypatch.setenv(memory.VARIABLE, str(60 * n_entries))
    assert hm.pairwise_affinity(left, right, candidates).nnz == n_entries


def test_shapes_are_refused_before_they_are_compared(monkeypatch):
    monkeypatch.setenv(memory.VARIABLE, "100000")
    masks = [np.ones((8, 8))] * 40
    with pytest.raises(MemoryError, match=r"^shapes: distances of 40 silhouettes would take about 179 kB"):
        hm.group_shapes(masks)


@pytest.mark.parametrize(
    ("n_left", "n_right", "expected"), [(100, 100, None), (101, 100, 49), (4000, 4000, 1), (9, 5000, 1)]
)
def test_how_many_candidates_a_point_match_looks_at(n_left, n_right, expected):
    rng = np.random.default_rng(0)
    sides = [hm.Features(rng.random((n, 2)), descriptors=rng.random((n, 4))) for n in (n_left, n_right)]
    assert usual_per_point(*sides) == expected
    assert usual_per_point(*(hm.Features(side.points) for side in sides)) is None


def test_match_takes_the_usual_candidates_and_as_many_as_are_asked_for():
    rng = np.random.default_rng(1)
    points, looks = rng.random((120, 2)), rng.random((120, 6))
    sides = hm.Features(points, descriptors=looks), hm.Features(2 * points + 1, descriptors=looks)
    usual = hm.match(*sides)
    assert (usual.pairs[:, 0] == usual.pairs[:, 1]).all()
    assert len(usual.candidates) == len(hm.candidate_pairs(*sides, 10_000 // 240))
    assert len(hm.match(*sides, per_point=1).candidates) == 120


def test_some_thousand_features_a_side_are_matched():
    """With all pairs of 2,000 features, the affinity would have some 10¹² entries."""
    rng = np.random.default_rng(2)
    points, looks = rng.random((2000, 2)), rng.random((2000, 16))
    order = rng.permutation(2000)
    left = hm.Features(points, descriptors=looks)
    right = hm.Features(points[order], descriptors=looks[order])
    matching = hm.match(left, right)
    assert (order[matching.pairs[:, 1]] == matching.pairs[:, 0]).all()
    assert len(matching) > 1000
    assert isinstance(matching.candidates, Candidates)


def test_what_may_be_taken_can_be_said(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1000.0)
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    memory.room_for("x", "something small", 2**26, "take less")  # not worth a look
    with pytest.raises(MemoryError) as told:
        memory.room_for("x", "something", 2e8, "take less")
    assert str(told.value) == (
        "x: something would take about 200 MB, and 900 bytes may be taken; take less, "
        "or set HYPERMODES_MAX_BYTES to allow more"
    )
    monkeypatch.setenv(memory.VARIABLE, "300000000")
    memory.room_for("x", "something", 2e8, "take less")
    monkeypatch.setenv(memory.VARIABLE, "1GB")
    with pytest.raises(ValueError, match=r"^HYPERMODES_MAX_BYTES: expected a number of bytes; got '1GB'$"):
        memory.room_for("x", "something", 1, "take less")


def test_limits_of_the_process_and_of_the_machine_are_seen():
    assert 0 < memory.available() < 1e15
    assert memory._of_the_machine() < float("inf")


def test_the_limit_of_a_control_group_is_seen(monkeypatch, tmp_path):
    files = {
        "/proc/self/cgroup": "0::/job\n",
        "/sys/fs/cgroup/job/memory.max": "1000\n",
        "/sys/fs/cgroup/job/memory.current": "900\n",
        "/sys/fs/cgroup/job/memory.stat": "anon 400\ninactive_file 300\n",
    }

    def content(self, *_):
        if str(self) in files:
            return files[str(self)]
        raise FileNotFoundError(str(self))

    monkeypatch.setattr(Path, "read_text", content)
    assert memory._of_the_group() == 400
    files["/sys/fs/cgroup/job/memory.max"] = "max\n"
    assert memory._of_the_group() == float("inf")
