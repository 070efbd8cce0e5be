"""Runs on disk as they are done: hours of them survive an interruption, and a later call goes on."""

import csv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hypermodes.files import write_csv

FINISHED, UNFINISHED = "runs.csv", "runs.part.csv"


class Run(NamedTuple):
    """One method on one problem: a line of ``runs.csv``."""

    method: str
    group: str
    name: str
    setting: float
    draw: int
    n_left: int
    n_right: int
    n_true: int
    pairs: float
    rate: float
    precision: float
    core: float
    core_precision: float
    seconds: float
    note: str

    @property
    def subject(self) -> "Subject":
        """Which method and which problem."""
        return self[:8]


Subject = tuple[str, str, str, float, int, int, int, int]
"""The first eight of `Run`: what is known before it is run."""


def earlier_runs(folder: Path) -> dict[Subject, Run]:
    """Read the runs that earlier calls left in the folder, finished or interrupted."""
    return {run.subject: run for name in (FINISHED, UNFINISHED) for run in _read(folder / name)}


@contextmanager
def journal(folder: Path, earlier: Mapping[Subject, Run]) -> Iterator[Callable[[Run], None]]:
    """Give a function that keeps a run; with the earlier ones they are ``runs.csv`` when the block ends well.

    Until then they are in ``runs.part.csv``, a line each as soon as it is there.
    """
    part, runs = folder / UNFINISHED, dict(earlier)
    if part.exists() and not earlier and next(_read(part), None):
        raise ValueError(
            f"out: {str(folder)!r} holds runs that were interrupted; resume them, or remove {part.name!r}"
        )
    write_csv(part, Run._fields, runs.values())
    with open(part, "a", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)

        def keep(run: Run) -> None:
            runs[run.subject] = run
            lines.writerow(["" if value != value else value for value in run])
            file.flush()

        yield keep
    write_csv(folder / FINISHED, Run._fields, runs.values())
    part.unlink()


def _read(path: Path) -> Iterator[Run]:
    if not path.exists():
        return
    with open(path, newline="", encoding="utf-8") as file:
        lines = csv.reader(file)
        if next(lines, []) != list(Run._fields):
            raise ValueError(f"out: {str(path)!r} does not hold runs of matching; expected another folder")
        for line in lines:
            if len(line) == len(Run._fields):  # a process that was killed may leave half a line, the last
                yield _parsed(path, line)


def _parsed(path: Path, line: list[str]) -> Run:
    try:
        return Run(*(kind(cell) for kind, cell in zip(_KINDS, line, strict=True)))
    except ValueError:
        raise ValueError(f"out: {str(path)!r} holds {','.join(line)!r}; expected a run") from None


def _number(cell: str) -> float:
    return float(cell or "nan")


_KINDS: tuple[Callable[[str], Any], ...] = (*[str] * 3, float, *[int] * 4, *[_number] * 6, str)
