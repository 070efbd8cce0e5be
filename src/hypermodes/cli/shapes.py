"""``hypermodes shapes``: groups of silhouettes; nobody says how many there are."""

import argparse
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from hypermodes.cli.documents import Table, opening, print_csv, print_json
from hypermodes.cli.options import STANDARD, Commands, add_jobs, add_progress, add_scheduler, command, whole
from hypermodes.cli.terminal import amount, fitted, listed, safe, wants_bar

if TYPE_CHECKING:
    from hypermodes.result import Mode
    from hypermodes.shape_groups import ShapeGroups

_SHOWN = 20  # groups in the table
_FOLDER = "hypermodes-shapes"
_OF_SHAPE = ("file", "group", "probability", "representative")

_EXAMPLES = f"""\
  hypermodes shapes silhouettes/                         writes {_FOLDER}/groups.csv, groups.png
  hypermodes shapes silhouettes.zip --groups 8 --out found
  hypermodes shapes silhouettes.zip --cache distances    goes on after an interruption; again, it is quick
  hypermodes shapes silhouettes/ --out -                 CSV on standard output
"""


def add_to(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = command(
        commands,
        "shapes",
        _run,
        help="find groups of silhouettes; write a table and a contact sheet",
        description="Find groups of silhouettes that have one shape, wherever they lie, however large, "
        "turned or mirrored. How many groups there are is found, unless you say it; what belongs to none has "
        "the label -1. Writes groups.csv, and groups.png with one row a group.",
        examples=_EXAMPLES,
    )
    parser.add_argument(
        "file", metavar="FOLDER", help="a folder of pictures, or a zip file of them: bright on dark, dark on "
        "bright, or transparent around the shape",
    )  # fmt: skip
    parser.add_argument(
        "-k", "--groups", type=whole(1), metavar="N", help="this many groups; found if not given"
    )
    parser.add_argument(
        "--neighbors", type=whole(1), metavar="N", help="neighbours a shape looks at; by n if not given"
    )
    parser.add_argument(
        "--cache", type=Path, metavar="FOLDER", help="keep distances here, to go on from or to use again"
    )
    add_jobs(parser)
    add_scheduler(parser, "compare shapes")
    add_progress(parser)
    group = parser.add_argument_group("results")
    group.add_argument(
        "--json", action="store_true", help="one JSON document on standard output, and nothing else there"
    )
    group.add_argument(
        "--out",
        metavar="FOLDER",
        help=f"where to write groups.csv and groups.png (default: {_FOLDER}; with --json, nowhere); "
        "- for CSV on standard output alone",
    )


def _run(arguments: argparse.Namespace) -> None:
    if arguments.json and arguments.out == STANDARD:
        arguments.misused("--json and --out - both want standard output; choose one")

    from hypermodes.files import folder_to_fill, make_folder
    from hypermodes.images import pillow_image
    from hypermodes.shape_groups import group_shapes
    from hypermodes.shapes.silhouettes import read_silhouettes

    pillow_image()  # without Pillow, fail before the work and not after it
    left_out = read_silhouettes(arguments.file).left_out  # no folder is made for what cannot be read
    target = arguments.out or (None if arguments.json else _FOLDER)
    folder = None if target in (None, STANDARD) else Path(target)
    if folder is not None and folder.resolve().is_relative_to(Path(arguments.file).resolve()):
        raise ValueError(
            f"--out: {str(folder)!r} is in {arguments.file!r}, and would be read as shapes the next time; "
            "expected a folder elsewhere"
        )
    with nullcontext() if folder is None else folder_to_fill(folder):
        if arguments.cache is not None:
            make_folder(arguments.cache)
        found = group_shapes(
            arguments.file,
            arguments.groups,
            n_neighbors=arguments.neighbors,
            cache=arguments.cache,
            n_jobs=arguments.jobs,
            client=arguments.scheduler,
            progress=wants_bar(arguments),
        )
        written = [] if folder is None else _write(found, folder, arguments.file)
    if arguments.json:
        print_json({**opening(arguments), **_document(found, left_out)})
    elif arguments.out == STANDARD:
        print_csv(_table(found))
    else:
        print(_text(arguments, found, left_out))
        print(f"written: {safe(str(written[0]))}, {', '.join(path.name for path in written[1:])}")


def _write(found: "ShapeGroups", folder: Path, title: str) -> list[Path]:
    from hypermodes.contact_sheet import write_contact_sheet

    table = folder / "groups.csv"
    found.save_csv(table)
    return [table, *write_contact_sheet(folder / "groups.png", found, title)]


def _table(found: "ShapeGroups") -> Table:
    return _OF_SHAPE, ((*row[:-1], int(row[-1])) for row in found.rows())


def _document(found: "ShapeGroups", left_out: Sequence[str]) -> dict[str, object]:
    n_out = int((found.labels < 0).sum())
    modes = found.clusters.modes()
    return {
        "kind": "shapes",
        "shapes": len(found.names),
        "left_out": list(left_out),
        "n_groups": found.n_groups,
        "n_outliers": n_out,
        "groups": [
            {
                "group": k,
                "size": int(found.members(k).size),
                "representative": name,
                "mode": None if mode is None else _mode_record(found, mode),
            }
            for k, (name, mode) in enumerate(zip(found.representatives(), modes, strict=True))
        ],
        "labels": [dict(zip(_OF_SHAPE, row, strict=True)) for row in found.rows()],
    }


def _mode_record(found: "ShapeGroups", mode: "Mode") -> dict[str, object]:
    from hypermodes.cli.records import certificate_record, heaviest

    names, shares = heaviest(mode, found.names)
    return {
        "density": mode.density,
        "status": mode.status.name,
        "shapes": names,
        "shares": shares,
        "certificate": certificate_record(mode),
    }


def _text(arguments: argparse.Namespace, found: "ShapeGroups", left_out: Sequence[str]) -> str:
    n, n_out = len(found.names), int((found.labels < 0).sum())
    unread = f"; not read: {listed(left_out, 40)}" if left_out else ""
    wanted = arguments.groups or 0
    fewer = f", not {wanted:,}: the others would be of one shape" if found.n_groups < wanted else ""
    lines = [
        f"{safe(arguments.file)}: {amount(n, 'silhouette')}{unread}",
        f"{amount(found.n_groups, 'group')}{fewer}, {amount(n_out, 'outlier')} ({n_out / n:.1%})",
    ]
    if found.n_groups == 0:
        return "\n".join(lines)
    head = ("group", "shapes", "share", "representative", "most like it")
    rows = []
    for k in range(min(found.n_groups, _SHOWN)):
        members = [found.names[int(i)] for i in found.members(k)]
        size = len(members)
        rows.append((str(k), f"{size:,}", f"{size / n:.1%}", safe(members[0]), members[1:]))
    lines += ["", *fitted(head, rows)]
    if found.n_groups > _SHOWN:
        where = "see --out, --json" if arguments.out == STANDARD else "see groups.csv, groups.png"
        lines.append(f"{amount(found.n_groups - _SHOWN, 'more group')}: {where}")
    return "\n".join(lines)
