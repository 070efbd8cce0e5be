"""What programs read: JSON documents and CSV tables, on standard output or in files."""

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import IO, Any

from hypermodes import __version__
from hypermodes.cli.options import STANDARD
from hypermodes.cli.terminal import safe
from hypermodes.json_text import json_text

Table = tuple[Sequence[str], Iterable[Sequence[object]]]


@dataclass(frozen=True)
class Answer:
    """What a command found, in each of the forms somebody may want it in; made when it is wanted."""

    text: Callable[[], str]
    document: Callable[[], Mapping[str, object]]
    table: Callable[[], Table]
    report: Callable[[str], None] | None = None


def check_targets(arguments: argparse.Namespace, *names: str) -> None:
    """See that every file to be written can be, and is not the one to be read: before the work."""
    from hypermodes.files import check_target

    if getattr(arguments, "json", False) and getattr(arguments, "out", None) == STANDARD:
        arguments.misused("--json and --out - both want standard output; choose one")
    seen: dict[Path, str] = {}
    for name in names:
        target = getattr(arguments, name, None)
        if target is None or target == STANDARD:
            continue
        option = f"--{name}" if name != "target" else "OUT"
        if arguments.file != STANDARD and _same_file(arguments.file, target):
            raise ValueError(f"{option}: {target!r} is the input; expected another file to write")
        first = seen.setdefault(Path(target).resolve(), option)
        if first != option:
            raise ValueError(f"{option}: {target!r} is written by {first} as well; expected different files")
        check_target(target)


def deliver(answer: Answer, arguments: argparse.Namespace, also_written: Sequence[str] = ()) -> None:
    """Write the files that are asked for, then print."""
    written = list(also_written)
    if arguments.out not in (None, STANDARD):
        write_results(answer, arguments)
        written.append(arguments.out)
    if getattr(arguments, "report", None) is not None and answer.report is not None:
        answer.report(arguments.report)
        written.append(arguments.report)
    if arguments.json:
        print_json({**opening(arguments), **answer.document()})
    elif arguments.out == STANDARD:
        print_csv(answer.table())
    else:
        print(answer.text())
        if written:
            print(f"written: {', '.join(map(safe, written))}")


def write_results(answer: Answer, arguments: argparse.Namespace) -> None:
    """Write to the file of ``--out`` what its suffix says, all at once or not at all."""
    from hypermodes.files import replacing, text_file

    with replacing(arguments.out) as temporary, text_file(temporary) as file:
        if Path(arguments.out).suffix.lower() == ".json":
            file.writelines(json_lines({**opening(arguments), **answer.document()}, ascii_only=False))
        else:
            _write_csv(answer.table(), file)


def opening(arguments: argparse.Namespace) -> dict[str, object]:
    """The keys every document begins with."""
    return {"command": arguments.command, "version": __version__, "file": arguments.file}


def print_json(document: Mapping[str, object]) -> None:
    """Print a document; letters that standard output has not are escaped as JSON escapes them."""
    ascii_only = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "") != "utf8"
    for line in json_lines(document, ascii_only=ascii_only):
        print(line, end="")


def json_lines(document: Mapping[str, object], *, ascii_only: bool) -> Iterable[str]:
    """A JSON document with one line a key, and a line an entry of lists of objects: to read and to stream."""

    def dump(value: object) -> str:
        return json.dumps(plain(value), allow_nan=False) if ascii_only else json_text(plain(value))

    yield "{"
    for position, (key, value) in enumerate(document.items()):
        yield f"{',' if position else ''}\n{dump(key)}: "
        if isinstance(value, Sequence) and value and isinstance(value[0], Mapping):
            yield "["
            for number, entry in enumerate(value):
                yield f"{',' if number else ''}\n  {dump(entry)}"
            yield "\n]"
        else:
            yield dump(value)
    yield "\n}\n"


def plain(value: Any) -> Any:
    """As JSON has it: infinities and what is not a number are null, other labels are text."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return str(value)


def print_csv(table: Table) -> None:
    """Print a table as CSV; lines end as they do in a pipe."""
    _write_csv(table, sys.stdout)


def _write_csv(table: Table, file: IO[str] | None) -> None:
    if file is None:
        return
    from hypermodes.files import csv_rows

    head, rows = table
    writer = csv_rows(file)
    writer.writerow(head)
    writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: object) -> object:
    """What is not there, or not finite, is empty, as it is null in JSON."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return value


def together(labels: Iterable[Hashable]) -> str:
    """Labels in one cell, with semicolons between them; one that holds a semicolon is quoted, as in CSV."""
    from hypermodes.files import csv_rows

    cell = StringIO()
    csv_rows(cell, delimiter=";").writerow(labels)
    return cell.getvalue().removesuffix("\n")


def _same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
