"""The fast core, measured: every section in a process of its own, times as ratios within one run.

    python benchmarks/fast_core.py                    # all sections; prints and saves a table
    python benchmarks/fast_core.py paper growth       # some of them

SN-congress-bills is read from the folder HYPERMODES_DATA points at; without it that section is left out.
"""

import gzip
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from sections import asked, in_process

RESULTS = Path(__file__).parent / "results"
ONE_THREAD = {"OMP_NUM_THREADS": "1"}  # for linear algebra: faces are small


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(function, *arguments, **options):
    begin = time.perf_counter()
    result = function(*arguments, **options)
    return result, time.perf_counter() - begin


def points_hypergraph(n: int, k: int):
    from hypermodes import knn_hypergraph

    return knn_hypergraph(np.random.default_rng(0).random((n, 2)), k)


def mean_density(modes) -> str:
    return f"{modes.densities[modes.edge_mode[modes.edge_mode >= 0]].mean():.5f}"


def compile_kernels() -> None:
    """Compile, or load from the cache, everything that will be timed."""
    from hypermodes import MatrixAffinity, find_modes

    find_modes(points_hypergraph(200, 5))
    find_modes(MatrixAffinity(np.ones((3, 3)) - np.eye(3)))


def paper(quick: bool) -> list[tuple[str, str]]:
    """All starts on 5,000 points, k = 10, against the readable layer with replicator dynamics."""
    from hypermodes import Replicator, find_modes, shift

    n = 1000 if quick else 5000
    hypergraph = points_hypergraph(n, 10)
    compile_kernels()
    seconds = min(timed(find_modes, hypergraph)[1] for _ in range(5))
    modes = find_modes(hypergraph)
    sample = np.linspace(0, n - 1, 20 if quick else 250).astype(int).tolist()
    rows = [(f"kNN, {n:,} points, k=10, all starts: seconds", f"{seconds:.3f}")]
    fast = modes.densities[modes.edge_mode[sample]].mean()
    for name, settle in (("alone", False), ("then the exact solve", True)):
        slow, taken = timed(
            lambda s=settle: [shift(hypergraph, i, dynamics=Replicator(), settle=s) for i in sample]
        )
        density = np.mean([mode.density for mode in slow])
        rows += [
            (
                f"replicator {name}: times slower ({len(sample)} starts)",
                f"{taken / len(sample) * n / seconds:,.0f}",
            ),
            (f"replicator {name}: mean density, ours / theirs", f"{fast:.4f} / {density:.4f}"),
        ]
    return rows


def growth(quick: bool) -> list[tuple[str, str]]:
    """2-D neighbourhoods, k = 8, from 10^4 to 10^6 hyperedges, all starts."""
    from hypermodes import find_modes

    compile_kernels()
    sizes = [10**4, 3 * 10**4] if quick else [10**4, 10**5, 10**6]
    rows, taken = [], []
    for n in sizes:
        hypergraph = points_hypergraph(n, 8)
        modes, seconds = min(
            (timed(find_modes, hypergraph) for _ in range(3 if n < 10**6 else 1)), key=lambda r: r[1]
        )
        taken.append(seconds)
        label = f"kNN, {n:,} points, k=8, all starts"
        rows.append((f"{label}: seconds (microseconds a start)", f"{seconds:.2f} ({seconds / n * 1e6:.1f})"))
        rows.append(
            (f"{label}: modes, certified", f"{len(modes):,}, {(modes.table.status == 'CERTIFIED').sum():,}")
        )
        del hypergraph, modes
    exponent = np.polyfit(np.log(sizes), np.log(taken), 1)[0]
    return [
        *rows,
        ("growth exponent of total time", f"{exponent:.3f}"),
        ("peak memory, MB", f"{peak_mb():,.0f}"),
    ]


def query(quick: bool) -> list[tuple[str, str]]:
    """The mode around one hyperedge or vertex of a large hypergraph."""
    from hypermodes import Seeker

    n = 10**5 if quick else 10**6
    hypergraph = points_hypergraph(n, 8)
    seeker, seconds = timed(Seeker, hypergraph)
    rows = [(f"{n:,} hyperedges: seconds to lay out for questions", f"{seconds:.2f}")]
    for name, ask in (("hyperedge", seeker.around), ("vertex", seeker.around_vertex)):
        ask(0)
        times = [timed(ask, int(i))[1] for i in np.linspace(0, n - 1, 1000)]
        rows.append((f"mode around a {name}: microseconds, median (99 %)",
                     f"{np.median(times) * 1e6:.0f} ({np.quantile(times, 0.99) * 1e6:.0f})"))  # fmt: skip
    return rows


def popular(quick: bool) -> list[tuple[str, str]]:
    """SN-congress-bills, where a hyperedge has thousands of neighbours: from the incidence."""
    from hypermodes import Hypergraph, find_modes

    compile_kernels()
    base = peak_mb()
    hypergraph = Hypergraph.from_edges(_bills(quick))
    modes, seconds = timed(find_modes, hypergraph)
    return [("seconds", f"{seconds:.2f}"), ("MB", f"{peak_mb() - base:.0f}"), ("modes", repr(modes)),
            ("mean density", mean_density(modes))]  # fmt: skip


def popular_rows(quick: bool) -> list[tuple[str, str]]:
    """The same, from the rows of M."""
    from hypermodes import HyperedgeAffinity, Hypergraph, MatrixAffinity, find_modes

    compile_kernels()
    base = peak_mb()
    hypergraph = Hypergraph.from_edges(_bills(quick))
    begin = time.perf_counter()
    matrix = HyperedgeAffinity(hypergraph).matrix()
    entries = matrix.nnz
    affinity = MatrixAffinity.__new__(
        MatrixAffinity
    )  # what the checks would copy is not charged to the rival
    object.__setattr__(affinity, "values", matrix)
    modes = find_modes(affinity)
    seconds = time.perf_counter() - begin
    return [("seconds", f"{seconds:.2f}"), ("MB", f"{peak_mb() - base:.0f}"), ("modes", repr(modes)),
            ("neighbours a hyperedge", f"{entries / hypergraph.n_edges:.0f}"),
            ("mean density", mean_density(modes))]  # fmt: skip


def _bills(quick: bool) -> list[list[int]]:
    path = (
        Path(os.environ["HYPERMODES_DATA"])
        / "hypergraphs_labelled"
        / "SN-congress-bills"
        / "hyperedges.txt.gz"
    )
    with gzip.open(path, "rt") as file:
        edges = [[int(v) for v in line.split(",")] for line in file if line.strip()]
    return edges[::20] if quick else edges


def first(quick: bool) -> list[tuple[str, str]]:
    """One call in a new process: what `cold` times."""
    from hypermodes import find_modes

    find_modes(points_hypergraph(2000, 10))
    return []


def cold(quick: bool) -> list[tuple[str, str]]:
    """First `find_modes` of a fresh environment, with imports and compilation; then of the next process."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("first process, nothing compiled", "second process"):
            _, seconds = timed(
                in_process, __file__, "first", quick, {**ONE_THREAD, "NUMBA_CACHE_DIR": folder}
            )
            rows.append((f"find_modes on 2,000 points, {name}: seconds", f"{seconds:.2f}"))
    return rows


SECTIONS = {f.__name__: f for f in (cold, paper, growth, query, popular, popular_rows)}


def main() -> None:
    arguments = asked(__doc__, SECTIONS, first)
    if arguments is None:
        return
    lines = ["| what | measured |", "|---|---|"]
    results = {}
    for name in arguments.sections:
        if name.startswith("popular") and "HYPERMODES_DATA" not in os.environ:
            print(f"{name}: left out, HYPERMODES_DATA is not set", file=sys.stderr)
            continue
        results[name] = in_process(__file__, name, arguments.quick, ONE_THREAD)
        for what, value in results[name]:
            lines.append(f"| {name.replace('_', ' ')}: {what} | {value} |")
            print(lines[-1], flush=True)
    if {"popular", "popular_rows"} <= set(results):
        ours, rival = dict(results["popular"]), dict(results["popular_rows"])
        for what in ("seconds", "MB"):
            ratio = float(rival[what].replace(",", "")) / float(ours[what].replace(",", ""))
            lines.append(f"| SN-congress-bills: {what}, rows of M / incidence | {ratio:.1f} |")
            print(lines[-1])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "fast_core.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
