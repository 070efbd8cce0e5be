"""Beyond one machine, measured: a hypergraph larger than memory, Dask, killed workers, ten million points.

    python benchmarks/scale.py                        # all sections, some minutes each
    python benchmarks/scale.py disk cluster --quick   # some of them, small: shows that they run, no more

Every section runs in a process of its own. `cluster` and `faults` need hypermodes[dask] and two idle cores.
"""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sections import asked, in_process

RESULTS = Path(__file__).parent / "results"
ONE_THREAD = {"OMP_NUM_THREADS": "1"}  # for linear algebra: faces are small


def timed(function, *arguments, **options):
    begin = time.perf_counter()
    result = function(*arguments, **options)
    return result, time.perf_counter() - begin


def same(ours, theirs) -> bool:
    columns = [(getattr(ours.table, name), column) for name, column in vars(theirs.table).items()]
    columns.append((ours.edge_mode, theirs.edge_mode))
    return all(one.tobytes() == other.tobytes() for one, other in columns)


# -- a hypergraph larger than memory ------------------------------------------------------------------


def strands(n: int, width: int, size: int = 20_000) -> Iterator[np.ndarray]:
    """Hyperedge i: ``width`` vertices that follow i at random gaps of one or two, on a ring of n."""
    rng = np.random.default_rng(0)
    for low in range(0, n, size):
        edges = np.arange(low, min(low + size, n))
        yield (edges[:, None] + np.cumsum(rng.integers(1, 3, (edges.size, width)), axis=1)) % n


_LIMITED = """
import json, resource, sys, time
path, limit, n_starts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
import numpy as np, hypermodes as hm
begin = time.perf_counter()
H = hm.open(path)
opened = time.perf_counter() - begin
starts = None if n_starts == H.n_edges else np.linspace(0, H.n_edges - 1, n_starts).astype(int).tolist()
hm.find_modes(H, starts=[0], n_jobs=1)
begin = time.perf_counter()
modes = hm.find_modes(H, starts=starts, n_jobs=1)
taken = time.perf_counter() - begin
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
anonymous = int(status["VmData"].split()[0]) * 1024
print(json.dumps([opened, taken, anonymous, repr(modes)]))
"""
_HELD = """
import resource, sys
import hypermodes as hm
resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[2]), int(sys.argv[2])))
hm.find_modes(hm.Hypergraph.from_incidence(hm.open(sys.argv[1]).incidence), starts=[0])
"""


def disk(quick: bool) -> list[tuple[str, str]]:
    """Three times as many bytes on disk as the process may have in memory (RLIMIT_DATA)."""
    import hypermodes as hm

    n, width = (650_000, 80) if quick else (1_500_000, 80)
    n_starts = 2_000 if quick else n
    with tempfile.TemporaryDirectory(dir=os.environ.get("SCALE_FOLDER")) as folder:
        path = Path(folder) / "strands"
        _, written = timed(hm.write_folder, strands(n, width), path, n_vertices=n, memory=1 << 26)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = sum(file.stat().st_size for file in path.iterdir())
        limit = size // 3
        command = [sys.executable, "-c", _LIMITED, str(path), str(limit), str(n_starts)]
        environment = {**os.environ, **ONE_THREAD, "MALLOC_ARENA_MAX": "1"}
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
        opened, taken, anonymous, modes = json.loads(out.splitlines()[-1])
        held = subprocess.run(
            [sys.executable, "-c", _HELD, str(path), str(limit)], env=environment, stderr=subprocess.DEVNULL
        )
    return [
        (f"{n:,} hyperedges of {width}: MB on disk / allowed to the process",
         f"{size / 2**20:,.0f} / {limit / 2**20:,.0f}"),
        ("written block by block: seconds, peak MB", f"{written:.1f}, {peak:,.0f}"),
        ("opened: milliseconds", f"{opened * 1e3:.1f}"),
        (f"find_modes, {n_starts:,} starts, one thread: seconds (microseconds a start)",
         f"{taken:.1f} ({taken / n_starts * 1e6:.0f})"),
        ("MB of data at the end (VmData)", f"{anonymous / 2**20:,.0f}"),
        ("found", modes),
        ("the same held in memory", "fits" if held.returncode == 0 else "does not fit"),
    ]  # fmt: skip


# -- Dask ---------------------------------------------------------------------------------------------


def local_cluster(n_workers: int):
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    )


def cluster(quick: bool) -> list[tuple[str, str]]:
    """2-D neighbourhoods, k = 8: one and two single-threaded workers against threads."""
    import hypermodes as hm

    n, repeats = (20_000, 1) if quick else (10**6, 3)
    points = np.random.default_rng(0).random((n, 2))
    points = points[np.lexsort((points[:, 1], np.floor(points[:, 0] * np.sqrt(n / 8))))]  # near ones together
    hypergraph = hm.knn_hypergraph(points, 8)
    rows = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("SCALE_FOLDER")) as folder:
        hm.write_folder(hypergraph, Path(folder) / "points")
        for place, subject in (("memory", hypergraph), ("disk", hm.open(Path(folder) / "points"))):
            hm.find_modes(subject, starts=[0])
            expected, taken = None, {}
            for jobs in (1, 2):
                taken["threads", jobs] = min(
                    timed(hm.find_modes, subject, n_jobs=jobs)[1] for _ in range(repeats)
                )
                expected = hm.find_modes(subject, n_jobs=jobs) if expected is None else expected
            right = True
            for workers in (1, 2):
                with local_cluster(workers) as there, there.get_client() as client:
                    hm.find_modes(hm.knn_hypergraph(points[:20_000], 8), client=client)  # kernels are loaded
                    runs = [timed(hm.find_modes, subject, client=client) for _ in range(repeats)]
                    taken["dask", workers] = min(seconds for _, seconds in runs)
                    right = right and all(same(modes, expected) for modes, _ in runs)
            label = f"{n:,} hyperedges from {place}"
            rows += [
                *(
                    (f"{label}: seconds, {who}, 1 and 2 cores", f"{taken[who, 1]:.2f}, {taken[who, 2]:.2f}")
                    for who in ("threads", "dask")
                ),
                (f"{label}: 2 workers against 1", f"{taken['dask', 1] / taken['dask', 2]:.2f}x"),
                (f"{label}: Dask against threads, 1 and 2 cores",
                 ", ".join(f"{taken['dask', k] / taken['threads', k] - 1:+.0%}" for k in (1, 2))),
                (f"{label}: the same to the last bit", "yes" if right else "NO"),
            ]  # fmt: skip
    return rows


def faults(quick: bool) -> list[tuple[str, str]]:
    """A random worker is killed with signal 9 every few seconds, in every run."""
    import hypermodes as hm

    n, n_runs, pause = (200_000, 1, 3.0) if quick else (10**6, 20, 3.0)
    hypergraph = hm.knn_hypergraph(np.random.default_rng(0).random((n, 2)), 8)
    expected = hm.find_modes(hypergraph)
    right = kills = done_again = 0
    chance = random.Random(0)
    for _ in range(n_runs):
        over = threading.Event()
        with (
            local_cluster(2) as there,
            there.get_client() as client,
            tempfile.TemporaryDirectory(dir=os.environ.get("SCALE_FOLDER")) as folder,
        ):
            killed = []

            def kill(killed=killed, over=over, client=client):
                while not over.wait(pause):
                    there_now = list(client.run(os.getpid).values())
                    if (
                        len(there_now) == 2
                    ):  # else the last one is still starting again: Dask would give it up
                        killed.append(chance.choice(there_now))
                        os.kill(killed[-1], signal.SIGKILL)

            killer = threading.Thread(target=kill, daemon=True)
            killer.start()
            seen = []
            modes = hm.find_modes(
                hypergraph, client=client, results=f"{folder}/run", progress=lambda d, t, s=seen: s.append(d)
            )
            over.set()
            killer.join()
            kills += len(killed)
            right += same(modes, expected)
            done_again += seen != sorted(set(seen))
            again = hm.find_modes(hypergraph, results=f"{folder}/run", resume=True)
            right -= not same(again, expected)
    return [
        (
            f"{n:,} hyperedges, 2 workers, one killed every {pause:.0f} s: right answers",
            f"{right} of {n_runs}",
        ),
        ("workers killed", str(kills)),
        ("runs in which a block that was done counted twice", str(done_again)),
    ]


# -- ten million points -------------------------------------------------------------------------------


def points_once(quick: bool) -> list[tuple[str, str]]:
    """One clustering; SCALE_POINTS says how many points."""
    from hypermodes import cluster_points
    from hypermodes.datasets import five_crescents

    cluster_points(five_crescents(2000).points)
    n = int(os.environ["SCALE_POINTS"])
    given = five_crescents(n, outliers=0.2).points
    clustering, seconds = timed(cluster_points, given)
    return [
        ("seconds", f"{seconds}"),
        ("peak", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}"),
        ("found", repr(clustering)),
    ]


def points(quick: bool) -> list[tuple[str, str]]:
    """2-D points clustered, neighbours included, from 10^6 to 10^7."""
    sizes = [10_000, 30_000] if quick else [10**6, 10**7]
    rows, taken = [], []
    for n in sizes:
        found = dict(in_process(__file__, "points_once", quick, {**ONE_THREAD, "SCALE_POINTS": str(n)}))
        taken.append(float(found["seconds"]))
        rows.append(
            (
                f"{n:,} points and a fifth as many outliers: seconds, peak GB",
                f"{taken[-1]:.1f}, {float(found['peak']):.2f}",
            )
        )
        rows.append(("found", found["found"]))
    exponent = np.log(taken[-1] / taken[0]) / np.log(sizes[-1] / sizes[0])
    return [*rows, ("growth exponent", f"{exponent:.3f}")]


SECTIONS = {f.__name__: f for f in (disk, cluster, faults, points)}


def main() -> None:
    arguments = asked(__doc__, SECTIONS, points_once)
    if arguments is None:
        return
    lines = ["| what | measured |", "|---|---|"]
    for name in arguments.sections:
        for what, value in in_process(__file__, name, arguments.quick, ONE_THREAD):
            lines.append(f"| {what} | {value} |")
            print(lines[-1], flush=True)
    if not arguments.quick:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "scale.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
