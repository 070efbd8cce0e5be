"""Building, reading and writing, measured: every section in a process of its own.

    python benchmarks/interop.py                      # all sections; prints and saves a table
    python benchmarks/interop.py build csv --quick    # some of them, small

Times are processor seconds of one thread, which other work on the machine disturbs little. The section
`losses` reads the folder HYPERMODES_DATA points at, and goes through those of XGI, HyperNetX and NetworkX
that are installed.
"""

import json
import os
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from sections import asked, in_process

RESULTS = Path(__file__).parent / "results"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def timed(function, *arguments, **options):
    begin = time.process_time()
    result = function(*arguments, **options)
    return result, time.process_time() - begin


def pairs(quick: bool) -> tuple[np.ndarray, np.ndarray]:
    """Hyperedges of ten vertices: 10^7 incidences."""
    n = 100_000 if quick else 1_000_000
    vertices = np.random.default_rng(0).integers(0, n // 5, 10 * n)
    return np.repeat(np.arange(n), 10), vertices


def build(quick: bool) -> list[tuple[str, str]]:
    """A million hyperedges of ten vertices from arrays."""
    from hypermodes import Hypergraph

    edges, vertices = pairs(quick)
    Hypergraph.from_incidences(edges[:100], vertices[:100])
    rows = []
    text = np.char.add("v", vertices.astype(str))
    for name, function, arguments in (
        ("an array of rows", Hypergraph.from_edges, (vertices.reshape(-1, 10),)),
        ("two columns of numbers", Hypergraph.from_incidences, (edges, vertices)),
        ("a column of numbers and one of text", Hypergraph.from_incidences, (edges, text)),
    ):
        _, seconds = timed(function, *arguments)
        rows.append((f"build {len(vertices):,} incidences from {name}: seconds", f"{seconds:.1f}"))
    return rows


def memory(quick: bool) -> list[tuple[str, str]]:
    """The same, the most memory it takes beyond its input."""
    from hypermodes import Hypergraph

    edges, vertices = pairs(quick)
    Hypergraph.from_incidences(edges[:100], vertices[:100])
    before = peak_bytes()
    hypergraph = Hypergraph.from_incidences(edges, vertices)
    extra = peak_bytes() - before
    return [(f"build {hypergraph.incidence.nnz:,} incidences: bytes an incidence, peak",
             f"{extra / hypergraph.incidence.nnz:.0f}")]  # fmt: skip


def _file(quick: bool, ending: str, soft: bool, folder: Path) -> Path:
    """A file of ten million incidences; names of vertices are text."""
    import scipy.sparse as sp

    from hypermodes import Hypergraph, write

    plain = Hypergraph.from_incidences(*pairs(quick))
    matrix = plain.incidence
    if soft:
        shares = np.random.default_rng(1).uniform(0.05, 1.0, matrix.nnz)
        matrix = sp.csc_array((shares, matrix.indices, matrix.indptr), shape=matrix.shape)
    named = Hypergraph(matrix, None, [f"user{name}" for name in plain.vertices])
    path = folder / f"file{ending}"
    _, seconds = timed(write, named, path)
    print(f"wrote {path.stat().st_size / 1e6:.0f} MB in {seconds:.1f} s", file=sys.stderr)
    return path


def _reading(quick: bool, ending: str, soft: bool) -> list[tuple[str, str]]:
    """Write the file in a process of its own, so that the peak is the reader's."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        writer = os.fork()
        if writer == 0:
            _file(quick, ending, soft, folder)
            os._exit(0)
        if os.waitpid(writer, 0)[1] != 0:
            raise RuntimeError("the file was not written")
        path = folder / f"file{ending}"
        from hypermodes import read

        small = folder / f"small{ending}"  # imports what will be timed
        small.write_bytes(b'{"incidences":[{"edge":1,"node":2}]}' if "json" in ending else b"1,2\n1,3\n")
        read(small)
        size, start = path.stat().st_size, peak_bytes()
        hypergraph, seconds = timed(read, path)
        extra = peak_bytes() - start - size
        n = hypergraph.incidence.nnz
        what = f"read {n:,} {'soft ' if soft else ''}incidences from {ending}"
        return [
            (f"{what}, {size / 1e6:.0f} MB: seconds", f"{seconds:.1f}"),
            (f"{what}: bytes an incidence beyond the file, peak", f"{extra / n:.0f}"),
        ]


def csv(quick: bool) -> list[tuple[str, str]]:
    """Ten million incidences from CSV."""
    return _reading(quick, ".csv", soft=False)


def hif(quick: bool) -> list[tuple[str, str]]:
    """Ten million incidences from HIF."""
    return _reading(quick, ".hif.json", soft=False)


def soft_csv(quick: bool) -> list[tuple[str, str]]:
    """The same with p(v|e) of 17 digits."""
    return _reading(quick, ".csv", soft=True)


def soft_hif(quick: bool) -> list[tuple[str, str]]:
    """The same with p(v|e) of 17 digits."""
    return _reading(quick, ".hif.json", soft=True)


def npz(quick: bool) -> list[tuple[str, str]]:
    """The library's own file."""
    from hypermodes import Hypergraph, read, write

    hypergraph = Hypergraph.from_incidences(*pairs(quick))
    with tempfile.TemporaryDirectory() as folder:
        _, writing = timed(write, hypergraph, Path(folder) / "file.npz")
        back, reading = timed(read, Path(folder) / "file.npz")
    assert back == hypergraph
    return [(f"write and read {hypergraph.incidence.nnz:,} incidences as .npz: seconds",
             f"{writing:.1f} + {reading:.1f}")]  # fmt: skip


def losses(quick: bool) -> list[tuple[str, str]]:
    """What of the HIF files of the data folder is lost: written again, and through other libraries."""
    import gzip

    import hypermodes as hm

    folder = os.environ.get("HYPERMODES_DATA")
    if not folder:
        return []
    rows = []
    warnings.simplefilter("ignore")
    for path in sorted((Path(folder) / "hypergraphs_hif").glob("*.json.gz")):
        hypergraph = hm.read(path, directed="ignore")
        with tempfile.TemporaryDirectory() as name:
            hm.write(hypergraph, Path(name) / "copy.json")
            copy = json.loads((Path(name) / "copy.json").read_text())
        original = json.loads(gzip.decompress(path.read_bytes()))
        lost = _differing(original, copy)
        rows.append((f"{path.name}: records lost or changed when written again", str(lost)))
        for library in ("xgi", "networkx", "hypernetx"):
            try:
                back = getattr(hm, f"from_{library}")(getattr(hm, f"to_{library}")(hypergraph))
            except ImportError:
                continue
            rows.append((f"{path.name}: the same after a way through {library}", str(back == hypergraph)))
    return rows


def _differing(original: dict, copy: dict) -> int:
    """Records, or parts of the top level, that are in one document only."""
    lost = 0
    for key in original.keys() | copy.keys():
        ours, theirs = copy.get(key, []), original.get(key, [])
        if key in ("incidences", "nodes", "edges"):
            sets = [
                {json.dumps(_plain(one), sort_keys=True) for one in records} for records in (ours, theirs)
            ]
            lost += len(sets[0] ^ sets[1])
        else:
            lost += ours != theirs
    return lost


def _plain(value):
    """1 and 1.0 are one number."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


SECTIONS = {f.__name__: f for f in (build, memory, csv, hif, soft_csv, soft_hif, npz, losses)}


def main() -> None:
    arguments = asked(__doc__, SECTIONS, build)
    if arguments is None:
        return
    rows = []
    for section in arguments.sections:
        for row in in_process(__file__, section, arguments.quick, ONE_THREAD):
            rows.append(row)
            print(f"{row[0]:<80} {row[1]}", flush=True)
    if not arguments.quick and set(arguments.sections) == set(SECTIONS):
        RESULTS.mkdir(exist_ok=True)
        table = ["| what | measured |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)]
        (RESULTS / "interop.md").write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
