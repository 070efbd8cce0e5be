"""Where results go: a folder that can be written to, tables as CSV and as Markdown."""

import csv
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from hypermodes.files import replacing

Rows = Sequence[Sequence[object]]


def make_folder(folder: Path) -> None:
    """Make the folder and see that it can be written to: before the work, not after it."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"out: {str(folder)!r} is a file; expected a folder to write to")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise type(error)(f"out: cannot write to {str(folder)!r}: {error.strerror}") from None


def write_csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table, all at once or not at all; numbers that are not there are empty."""
    with replacing(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(["" if value != value else value for value in row] for row in rows)


def markdown(head: Sequence[str], rows: Rows) -> str:
    """A table as Markdown; numbers to three places."""
    lines = [head, ["---"] * len(head), *([_cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def write_text(path: Path, text: str) -> None:
    """Write a text, all at once or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "–" if value != value else f"{value:.3g}" if value >= 10 or 0 < value < 0.1 else f"{value:.3f}"
    return str(value)
