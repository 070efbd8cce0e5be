"""What people read: lines that are safe to print, tables that fit the terminal, progress bars."""

import argparse
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

ELLIPSIS = "..."
_WIDTH = 100  # where there is no terminal to ask


def say(line: str) -> None:
    """Print a line on standard error, if there is one."""
    if sys.stderr is not None:
        print(line, file=sys.stderr)


def one_line(error: object) -> str:
    """What an error says, in one line that cannot move the cursor."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return safe(f"{error.filename!r}: {error.strerror}")
    return safe(" ".join(str(error).split())) or type(error).__name__


def safe(text: str) -> str:
    """The text with line ends and control characters, which a terminal would obey, as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def width() -> int:
    """Columns of the terminal."""
    return max(40, shutil.get_terminal_size((_WIDTH, 24)).columns)


def columns_of(text: str) -> int:
    """Columns of the terminal that a text takes: some letters take two, marks on letters none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def clipped(text: str, room: int) -> str:
    """The text, or as much of it as there is room for."""
    if columns_of(text) <= room:
        return text
    while text and columns_of(text) > room - len(ELLIPSIS):
        text = text[:-1]
    return text + ELLIPSIS


def listed(items: Sequence[object], room: int) -> str:
    """Items with commas between them, or semicolons where some have commas; what has no room is counted."""
    texts: list[str] = []
    used = 0
    for number, item in enumerate(items):
        text = clipped(safe(str(item)), 40)
        left = len(items) - number - 1
        tail = len(f", +{left} more") if left else 0
        if texts and used + 2 + columns_of(text) + tail > room:
            texts.append(f"+{left + 1} more")
            break
        used += columns_of(text) + 2 * bool(texts)
        texts.append(text)
    return ("; " if any("," in text for text in texts) else ", ").join(texts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: Iterable[int] = ()) -> list[str]:
    """Lines of a table; columns are set to the right, but for those in ``left``; the last one is free."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(columns_of(line[c]) for line in lines) for c in range(len(head))]
    to_left = {*left, len(head) - 1}
    return [
        "  ".join(
            text + _pad(text, widths[c]) if c in to_left else _pad(text, widths[c]) + text
            for c, text in enumerate(line)
        ).rstrip()
        for line in lines
    ]


def fitted(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Lines of a table whose last column, a list of members, takes the room that is left."""
    last = len(head) - 1
    taken = sum(2 + max(len(head[c]), *(columns_of(row[c]) for row in rows)) for c in range(last))
    room = max(24, width() - taken)
    return table(head, [(*row[:last], listed(row[last], room)) for row in rows], left=(last - 1,))


def _pad(text: str, to: int) -> str:
    return " " * (to - columns_of(text))


def number(value: float) -> str:
    """A number in four digits."""
    return f"{value:.4g}"


def amount(n: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun: 1 vertex, 10,885 hyperedges."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def wants_bar(arguments: argparse.Namespace) -> bool:
    """Whether to draw a progress bar: where somebody watches and tqdm is there, or somebody asked."""
    if arguments.quiet or arguments.progress:
        return bool(arguments.progress)
    return sys.stderr is not None and sys.stderr.isatty() and find_spec("tqdm") is not None
