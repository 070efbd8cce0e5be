"""What a call would take in memory, against what there is: it is refused before it starts, not killed later.

One rule: where memory grows faster than the input, the bytes to come are estimated, and `room_for` raises a
MemoryError in one line if they are more than nine tenths of what can be had: of the machine, of the control
group the process is in, and of its own limit (``ulimit -v``). ``HYPERMODES_MAX_BYTES``, if set, is what may
be taken instead: more, where there is swap; less, where others need some. docs/scale.md has the estimates.
"""

import os
from contextlib import suppress
from pathlib import Path

VARIABLE = "HYPERMODES_MAX_BYTES"
_PART = 0.9  # of what there is: estimates are not exact, and others take some
_ANYWAY = 1 << 26  # bytes not worth a look
_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def room_for(argument: str, what: str, n_bytes: float, way_out: str) -> None:
    """Refuse what would take more bytes than can be had; the error says what is too large, and a way out."""
    if n_bytes <= _ANYWAY and VARIABLE not in os.environ:
        return
    most = allowed()
    if n_bytes > most:
        raise MemoryError(
            f"{argument}: {what} would take about {_size(n_bytes)}, and {_size(most)} may be taken; "
            f"{way_out}, or set {VARIABLE} to allow more"
        )


def allowed() -> float:
    """Bytes that a call may take."""
    given = os.environ.get(VARIABLE)
    if given is None:
        return _PART * available()
    if not (given.isascii() and given.isdigit()):
        raise ValueError(f"{VARIABLE}: expected a number of bytes; got {given!r}")
    return float(given)


def available() -> float:
    """Bytes that this process can still have; infinity where nothing is known."""
    return max(0.0, min(_of_the_machine(), _of_the_group(), _of_the_process()))


def _of_the_machine() -> float:
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        return 1024.0 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1])
    with suppress(AttributeError, ValueError, OSError):  # all of it: how much is free is not told
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return float("inf")


def _of_the_group() -> float:
    """What the control group may still have, as containers are limited; caches of files do not count."""
    least = float("inf")
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            old = "memory" in controllers.split(",")
            if old or not controllers:
                root = Path("/sys/fs/cgroup/memory" if old else "/sys/fs/cgroup")
                names = (
                    ("memory.limit_in_bytes", "memory.usage_in_bytes")
                    if old
                    else ("memory.max", "memory.current")
                )
                for folder in (root / path.lstrip("/"), root):  # in a container the group is the root
                    with suppress(OSError, ValueError):
                        limit, used = (int((folder / name).read_text()) for name in names)
                        least = min(least, limit - used + _cached(folder))
    return least


def _cached(folder: Path) -> int:
    stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    return int(stat.get("inactive_file", 0))


def _of_the_process() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return float("inf")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return float("inf")
    with suppress(OSError, ValueError):
        return float(limit - int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize())
    return float(limit)


def _size(n_bytes: float) -> str:
    unit = 0
    while n_bytes >= 1000 and unit < len(_UNITS) - 1:
        n_bytes, unit = n_bytes / 1000, unit + 1
    return f"{n_bytes:.3g} {_UNITS[unit]}" if n_bytes < 1000 else f"{n_bytes:,.0f} {_UNITS[unit]}"
