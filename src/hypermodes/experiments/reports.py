"""Results as text: tables as Markdown, and what was left out of them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from hypermodes.experiments.methods import Shown
from hypermodes.files import replacing

Rows = Sequence[Sequence[object]]


def markdown(head: Sequence[str], rows: Rows) -> str:
    """A table as Markdown; numbers to three places."""
    lines = [head, ["---"] * len(head), *([_cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def write_text(path: Path, text: str) -> None:
    """Write a text, all at once or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


class Noted(Protocol):
    """A run of a method, and why it was left out if it was."""

    @property
    def method(self) -> str:
        """Name of the method."""

    @property
    def note(self) -> str:
        """Empty if it was not left out."""


def notes(runs: Iterable[Noted]) -> dict[str, str]:
    """Why each method was left out that was, by name."""
    found: dict[str, str] = {}
    for run in runs:
        if run.note:
            found.setdefault(run.method, run.note)
    return found


def left_out(methods: Mapping[str, Shown], runs: Iterable[Noted]) -> str:
    """Footnotes to a table: what is missing, and why."""
    return "".join(f"\n\n\\* {methods[name].label}: {note}" for name, note in notes(runs).items())


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "–" if value != value else f"{value:.3g}" if value >= 10 else f"{value:.3f}"
    return str(value)
