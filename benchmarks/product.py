"""Time and memory of one product Mp from 10^4 to 10^7 incidences, with the growth exponent.

Each size runs in a process of its own, so that its peak memory is its own. What is charged to an
incidence is the peak of building the hypergraph from arrays and multiplying, less the interpreter
with its imports.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

SIZE = 10  # vertices a hyperedge


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(incidences: int) -> dict[str, float]:
    from hypermodes import HyperedgeAffinity, Hypergraph

    n_edges = incidences // SIZE
    HyperedgeAffinity(Hypergraph.from_edges([[0, 1], [1, 2]])).matvec(np.ones(2))
    base = peak()
    edges = np.random.default_rng(0).integers(0, n_edges, size=(n_edges, SIZE), dtype=np.int32)
    begin = time.perf_counter()
    affinity = HyperedgeAffinity(Hypergraph.from_edges(edges))
    build = time.perf_counter() - begin
    p = np.full(affinity.n, 1 / affinity.n)
    affinity.matvec(p)  # lays out the second orientation
    times = []
    for _ in range(max(3, min(1000, 10**7 // incidences))):
        begin = time.perf_counter()
        affinity.matvec(p)
        times.append(time.perf_counter() - begin)
    return {
        "incidences": incidences,
        "build_s": build,
        "product_s": float(np.median(times)),
        "bytes_an_incidence": (peak() - base) / incidences,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--largest", type=float, default=1e7, help="largest number of incidences")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "product.json")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one)))
        return
    rows = []
    print(f"{'incidences':>12} {'build s':>9} {'Mp ms':>9} {'ns/incidence':>13} {'bytes/incidence':>16}")
    for size in (n for n in (10**4, 10**5, 10**6, 10**7) if n <= arguments.largest):
        command = [sys.executable, __file__, "--one", str(size)]
        row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        rows.append(row)
        print(
            f"{size:>12,} {row['build_s']:>9.3f} {row['product_s'] * 1e3:>9.3f} "
            f"{row['product_s'] / size * 1e9:>13.1f} {row['bytes_an_incidence']:>16.0f}"
        )
    sizes, seconds = (np.log([row[name] for row in rows]) for name in ("incidences", "product_s"))
    exponent = float(np.polyfit(sizes, seconds, 1)[0])
    print(f"growth exponent of the product: {exponent:.2f}")
    arguments.out.parent.mkdir(exist_ok=True)
    arguments.out.write_text(json.dumps({"rows": rows, "exponent": exponent}, indent=1))


if __name__ == "__main__":
    main()
