"""Many files: ``make fuzz``, or ``python -m fuzz --files 100000 --seed 0`` in this folder's parent.

Cases run in a child process with a limit on memory and on seconds a file. Of one that dies, the case it
had begun is known.
"""

import argparse
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

from fuzz.cases import KINDS, kept, run

MEMORY = 1 << 29  # bytes beyond what the process has after it has begun
SECONDS = 20  # for one file
SHARED = "/dev/shm" if Path("/dev/shm").is_dir() else None  # folders are waited for, on a disk


def main():
    """Run cases, and say how it went."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Read mutated files of every format.")
    parser.add_argument("--files", type=int, default=100_000, help="how many (default: 100000)")
    parser.add_argument("--seed", type=int, default=0, help="number of the first case (default: 0)")
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, default=KINDS, metavar="KIND", help=", ".join(KINDS)
    )
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="folder for files that fail")
    parser.add_argument("--most", type=int, default=20, help="stop after so many failures (default: 20)")
    arguments = parser.parse_args()
    cases = [(arguments.kinds[k % len(arguments.kinds)], arguments.seed + k) for k in range(arguments.files)]
    results: Counter = Counter()
    done = 0
    while done < len(cases) and results["failed"] < arguments.most:
        done = _batch(cases, done, arguments.keep, results, arguments.most)
        _show(done, len(cases), results, end="\r" if sys.stdout.isatty() else "\n")
    _show(done, len(cases), results, end="\n")
    return 1 if results["failed"] else 0


def _show(done, total, results, end):
    said = ", ".join(f"{results[word]:,} {word}" for word in ("read", "refused", "failed"))
    print(f"fuzz: {done:,} of {total:,} files: {said}", end=end, flush=True)


def _batch(cases, start, keep, results, most, size=2000):
    """Run some cases in a child; how many are done after it."""
    stop = min(start + size, len(cases))
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        try:
            _in_child(cases[start:stop], keep, send)
        finally:
            os._exit(1)
    os.close(send)
    begun = 0
    with os.fdopen(receive, "r", encoding="utf-8") as lines:
        for line in lines:
            word, _, rest = line.strip().partition(" ")
            if word == "begin":
                begun += 1
                continue
            results[word] += 1
            if word == "failed":
                print(f"fuzz: failed: {rest}", flush=True)
    status = os.waitpid(child, 0)[1]
    if status == 0:
        return stop
    kind, number = cases[start + begun - 1]
    results["failed"] += 1
    died = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {status >> 8}"
    print(f"fuzz: failed: the process died ({died}): {kept(keep, kind, number, died)}", flush=True)
    return start + begun


def _in_child(cases, keep, send):
    resource.setrlimit(resource.RLIMIT_AS, (_memory() + MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("error")  # what is read makes no warnings
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process: whatever hangs may be native code
    with os.fdopen(send, "w", encoding="utf-8") as out, tempfile.TemporaryDirectory(dir=SHARED) as folder:
        for kind, number in cases:
            out.write("begin\n")
            out.flush()
            signal.alarm(SECONDS)
            try:
                out.write(f"{run(kind, number, Path(folder))}\n")
            except BaseException as error:
                said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
                name = kept(keep, kind, number, said)
                out.write(f"failed {name}: {said}\n".encode("utf-8", "backslashreplace").decode())
        signal.alarm(0)
    os._exit(0)


def _memory():
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


if __name__ == "__main__":
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # the others reserve more than they use
    # Imported before the limit on memory is set, and before anybody edits them.
    import pyarrow.parquet  # noqa: F401

    from hypermodes import folder_rows, folder_writer, point_tables  # noqa: F401
    from hypermodes.interop import hif, hmetis, lists, npz, parquet, tables  # noqa: F401

    sys.exit(main())
