"""Progress for anything that takes longer than a second or two: a bar, a callback, or nothing."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = bool | Callable[[int, int], object] | None


@contextmanager
def tracker(
    progress: Progress, total: int, what: str, dashboard: str | None = None
) -> Iterator[Callable[[int], object]]:
    """Give a function to call with the amount done since the last call.

    ``True`` draws a bar with tqdm, and above it says where else to look; a callable receives (done, total),
    ``None`` and ``False`` are silent.
    """
    if progress is True:
        try:
            from tqdm import tqdm
        except ImportError:
            raise ImportError(
                "progress: a bar needs tqdm: install hypermodes[progress], or pass a function (done, total)"
            ) from None
        if dashboard:
            tqdm.write(f"Dask dashboard: {dashboard}", file=sys.stderr)
        with tqdm(total=total, desc=what, dynamic_ncols=True) as bar:
            yield bar.update
        return
    if not progress:
        yield lambda amount: None
        return
    if not callable(progress):
        raise TypeError(f"progress: expected True, a function of (done, total) or None; got {progress!r}")
    done = 0

    def advance(amount: int) -> None:
        nonlocal done
        done += amount
        progress(done, total)

    yield advance
