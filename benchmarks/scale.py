"""Beyond one machine, measured: a hypergraph larger than memory, Dask, killed workers, ten million points.

    python benchmarks/scale.py                        # all sections, some minutes each
    python benchmarks/scale.py disk cluster --quick   # some of them, small: shows that they run, no more

Every section runs in a process of its own. `cluster` and `faults` need hypermodes[dask] and two idle cores,
and take about twenty and five minutes. What is under way is told on standard error.
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
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import numpy as np

from sections import asked, in_process

RESULTS = Path(__file__).parent / "results"
ONE_THREAD = {"OMP_NUM_THREADS": "1"}  # for linear algebra: faces are small


def say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


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


def by_a_worker(path: Path, limit: int, n_starts: int) -> str:
    """The same starts by a worker that Dask ends when it has more than 0.95 of the limit in memory."""
    from distributed import LocalCluster

    import hypermodes as hm

    hypergraph = hm.open(path)
    starts = np.linspace(0, hypergraph.n_edges - 1, n_starts).astype(int).tolist()
    one = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "memory_limit": limit}
    with LocalCluster(**one) as there, there.get_client() as client:
        before = client.run(os.getpid)
        modes, seconds = timed(hm.find_modes, hypergraph, starts=starts, client=client)
        ended = before != client.run(os.getpid)
    right = same(modes, hm.find_modes(hypergraph, starts=starts))
    return f"{seconds:.1f}; {'yes' if right else 'NO'}; {'some' if ended else 'never'}"


def disk(quick: bool) -> list[tuple[str, str]]:
    """Three times as many bytes on disk as the process may have in memory (RLIMIT_DATA)."""
    import hypermodes as hm

    n, width = (650_000, 80) if quick else (1_500_000, 80)
    n_starts = 2_000 if quick else 30_000  # a start takes 2 ms where a hyperedge has thousands of neighbours
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
        allowed = max(limit, 1 << 29)  # a worker with the kernels and nothing else has 200 MB
        by_dask = by_a_worker(path, allowed, n_starts)
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
        (f"the same by a Dask worker of {allowed / 2**20:,.0f} MB: seconds; same answer; ended by Dask",
         by_dask),
        ("the same held in memory", "fits" if held.returncode == 0 else "does not fit"),
    ]  # fmt: skip


# -- Dask ---------------------------------------------------------------------------------------------


WAYS = ("threads", "Dask", "Dask as it comes")


@contextmanager
def workers(way: str, n: int) -> Iterator[object]:
    """A client with so many workers; None for threads."""
    from distributed import LocalCluster

    import hypermodes as hm

    if way == "threads":
        yield None
    elif way == "Dask":
        with hm.local_cluster(n) as client:
            yield client
    else:
        given = {"n_workers": n, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        with LocalCluster(**given) as there, there.get_client() as client:
            yield client


def near_ones_together(n: int) -> np.ndarray:
    """Random points of the unit square, strip by strip: so written, few pages of a folder are read."""
    points = np.random.default_rng(0).random((n, 2))
    return points[np.lexsort((points[:, 1], np.floor(points[:, 0] * np.sqrt(n / 8))))]


_STRANGER = """
import sys, time
import hypermodes as hm
H, starts = hm.open(sys.argv[1]), range(int(sys.argv[2]))
hm.find_modes(H, starts=[0], n_jobs=1)
print("ready", flush=True)
sys.stdin.readline()
begin = time.perf_counter()
hm.find_modes(H, starts=starts, n_jobs=1)
print(time.perf_counter() - begin)
"""


def strangers(path: Path, n_starts: int) -> float:
    """What the machine itself allows: two processes at once that share nothing, against one by one."""

    def at_once(count: int) -> float:
        command = [sys.executable, "-c", _STRANGER, str(path), str(n_starts)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        processes = [subprocess.Popen(command, **pipes) for _ in range(count)]
        for process in processes:
            process.stdout.readline()
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()
        return max(float(process.communicate()[0]) for process in processes)

    return 2 * at_once(1) / at_once(2)


def cluster(quick: bool) -> list[tuple[str, str]]:
    """2-D neighbourhoods, k = 8: one and two single-threaded workers against as many threads, five turns.

    What the client does itself, it does in as many threads: one core against one core, two against two.
    Dask is what `hypermodes.local_cluster` starts; as it comes, with its profiler and all its ticks.
    """
    import hypermodes as hm

    n, turns = (20_000, 1) if quick else (10**6, 5)
    hypergraph = hm.knn_hypergraph(near_ones_together(n), 8)
    warm = hm.knn_hypergraph(np.argwhere(np.ones((150, 150))), 8)  # a grid has ties: no kernel is left out
    rows, machine = [], []
    with tempfile.TemporaryDirectory(dir=os.environ.get("SCALE_FOLDER")) as folder:
        path = Path(folder) / "points"
        hm.write_folder(hypergraph, path)
        say(f"{n:,} hyperedges are made and written")
        for place, subject in (("disk", hm.open(path)), ("memory", hypergraph)):
            taken: dict[tuple[str, int], list[float]] = defaultdict(list)
            expected, right = None, True
            for _ in range(turns):  # a machine is not always as fast
                machine.append(strangers(path, n // 5))
                say(f"two processes that share nothing, against one: {machine[-1]:.2f}x")
                for who, cores in product(WAYS, (1, 2)):
                    with workers(who, cores) as client:
                        hm.find_modes(warm, client=client, n_jobs=cores)  # kernels are loaded
                        modes, seconds = timed(hm.find_modes, subject, client=client, n_jobs=cores)
                    taken[who, cores].append(seconds)
                    say(f"from {place}, {who}, {cores} cores: {seconds:.2f} s")
                    expected = modes if expected is None else expected
                    right = right and same(modes, expected)
            label = f"{n:,} hyperedges from {place}"
            for who in WAYS:
                one, two = taken[who, 1], taken[who, 2]
                rows += [
                    (f"{label}, {who}: seconds, 1 and 2 cores, the best of {turns}",
                     f"{min(one):.2f}, {min(two):.2f}"),
                    (f"{label}, {who}: 2 cores against 1, by the best and by the medians",
                     f"{min(one) / min(two):.2f}x, {np.median(one) / np.median(two):.2f}x"),
                ]  # fmt: skip
            for who in WAYS[1:]:
                over = [
                    f"{middle(taken[who, k]) / middle(taken['threads', k]) - 1:+.0%}"
                    for middle, k in product((min, np.median), (1, 2))
                ]
                rows.append(
                    (f"{label}: {who} against threads, 1 and 2 cores, by the best; by the medians",
                     f"{over[0]}, {over[1]}; {over[2]}, {over[3]}")
                )  # fmt: skip
            rows.append((f"{label}: the same to the last bit", "yes" if right else "NO"))
    rows.append(
        ("what the machine allows: two processes that share nothing, against one, at each turn",
         ", ".join(f"{ratio:.2f}x" for ratio in machine))
    )  # fmt: skip
    return rows


def faults(quick: bool) -> list[tuple[str, str]]:
    """A random worker is killed with signal 9 every few seconds, in every run."""
    import hypermodes as hm
    from hypermodes.executors import REMOTE_BLOCK, block_size

    n, n_runs, pause = (100_000, 2, 1.0) if quick else (10**6, 20, 3.0)
    n_blocks = -(-n // block_size(n, REMOTE_BLOCK))
    hypergraph = hm.knn_hypergraph(near_ones_together(n), 8)
    expected = hm.find_modes(hypergraph)
    say(f"{n:,} hyperedges, on one machine: {expected!r}")
    right = kept = 0
    killed, seconds = [], []
    with hm.local_cluster(2) as client:
        for run in range(n_runs):
            client.wait_for_workers(2, timeout=60)
            with tempfile.TemporaryDirectory(dir=os.environ.get("SCALE_FOLDER")) as folder:
                written = Written(Path(folder) / "run" / "blocks")
                with killing(client, pause, random.Random(run), written) as victims:
                    modes, taken = timed(
                        hm.find_modes,
                        hypergraph,
                        client=client,
                        results=f"{folder}/run",
                        progress=written.look,
                    )
                once = written.each_once(n_blocks)
                again = hm.find_modes(hypergraph, results=f"{folder}/run", resume=True)
                once = once and written.each_once(n_blocks)  # nothing was left to do
            right += same(modes, expected) and same(again, expected)
            kept += once
            killed.append(len(victims))
            seconds.append(taken)
            say(
                f"run {run + 1} of {n_runs}: {taken:.1f} s, {len(victims)} killed, {right} right, {kept} kept"
            )
    return [
        (f"{n:,} hyperedges, 2 workers, one killed every {pause:.0f} s while both are up: right answers",
         f"{right} of {n_runs}"),
        ("runs in which every block that was finished was written once and stayed", f"{kept} of {n_runs}"),
        ("workers killed, in all and at least in a run", f"{sum(killed)}, {min(killed)}"),
        ("seconds a run, median", f"{np.median(seconds):.1f}"),
    ]  # fmt: skip


class Written:
    """What lies in the folder of a run, seen after every block: nothing may go away or be written again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.seen, self.stayed = folder, {}, True

    def look(self, *progress: int) -> None:
        """See what is there now."""
        found = {
            path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in self.folder.glob("*.npz")
        }
        self.stayed = self.stayed and all(found.get(name) == stamp for name, stamp in self.seen.items())
        self.seen = found

    def each_once(self, n_blocks: int) -> bool:
        """Whether all blocks are there, and none went away or was written again."""
        self.look()
        return self.stayed and len(self.seen) == n_blocks


@contextmanager
def killing(client, pause: float, chance: random.Random, written: Written) -> Iterator[list[int]]:
    """Kill a random worker process every ``pause`` seconds; the list of those that were.

    Only while two are up and a block came since the last time: a worker takes some seconds to start and load
    the kernels, on a busy machine longer than ``pause``, and none would ever get anything done.
    """
    over, victims = threading.Event(), []

    def kill() -> None:
        n_before = 0
        while not over.wait(pause):
            up = [pid for pid in client.run(os.getpid, on_error="ignore").values() if pid not in victims]
            if len(up) == 2 and len(written.seen) > n_before:
                n_before = len(written.seen)
                victims.append(chance.choice(up))
                os.kill(victims[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        yield victims
    finally:
        over.set()
        killer.join()


# -- ten million points -------------------------------------------------------------------------------


def points_once(quick: bool) -> list[tuple[str, str]]:
    """One clustering; SCALE_POINTS says how many points."""
    import hypermodes
    from hypermodes.datasets import five_crescents

    hypermodes.cluster(five_crescents(2000).points)
    n = int(os.environ["SCALE_POINTS"])
    given = five_crescents(n, outliers=0.2).points
    clusters, seconds = timed(hypermodes.cluster, given)
    return [
        ("seconds", f"{seconds}"),
        ("peak", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}"),
        ("found", repr(clusters)),
    ]


def points(quick: bool) -> list[tuple[str, str]]:
    """2-D points clustered, neighbours included, from 10^6 to 10^7, in three turns.

    A virtual machine may get its memory from its host as it is asked for, slowly (2 s a GB where this was
    written), and give it back seconds after a process has ended. A small run right after a large one would
    have all it needs at once, which a large one never has. So each run waits until that is over.
    """
    sizes, turns, pause = ([10_000, 30_000], 1, 0) if quick else ([10**6, 10**7], 3, 20)
    taken, peaks = defaultdict(list), defaultdict(list)
    rows = []
    for turn in range(turns):
        for n in sizes:
            time.sleep(pause)
            found = dict(in_process(__file__, "points_once", quick, {**ONE_THREAD, "SCALE_POINTS": str(n)}))
            taken[n].append(float(found["seconds"]))
            peaks[n].append(float(found["peak"]))
            say(f"{n:,} points: {taken[n][-1]:.1f} s, {peaks[n][-1]:.2f} GB")
            if turn == 0:
                rows.append((f"{n:,} points and a fifth as many outliers", found["found"]))
    for n in sizes:
        seconds = ", ".join(f"{one:.1f}" for one in taken[n])
        rows.append((f"{n:,}: seconds of each turn; peak GB", f"{seconds}; {max(peaks[n]):.2f}"))
    few, many = taken.values()
    exponents = [
        f"{np.log(middle(many) / middle(few)) / np.log(sizes[-1] / sizes[0]):.3f}"
        for middle in (min, np.median)
    ]
    return [*rows, ("growth exponent, by the best and by the medians", ", ".join(exponents))]


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
