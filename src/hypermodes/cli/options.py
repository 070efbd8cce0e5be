"""What commands have in common: how they are added, options they share, types of arguments."""

import argparse
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Commands = argparse._SubParsersAction  # argparse has no public name for it
Run = Callable[[argparse.Namespace], int | None]

STANDARD = "-"  # standard input or output
HYPERGRAPH_FORMATS = ("hif", "csv", "tsv", "parquet", "list", "hmetis", "npz")
POINT_FORMATS = ("csv", "tsv", "txt", "parquet", "npy")


def command(
    commands: "Commands[argparse.ArgumentParser]",
    name: str,
    run: Run,
    *,
    help: str,  # noqa: A002  (argparse's word)
    description: str,
    examples: str,
) -> argparse.ArgumentParser:
    """Add a command; its examples end its help."""
    parser = commands.add_parser(
        name,
        help=help,
        description=textwrap.fill(description, 78),
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run, misused=parser.error)  # misused ends the program with exit code 2
    return parser


def add_input(
    parser: argparse.ArgumentParser,
    what: str = "a hypergraph, or the folder of one",
    formats: Sequence[str] = HYPERGRAPH_FORMATS,
) -> None:
    """Add the file to read and what it is."""
    parser.add_argument("file", metavar="FILE", help=f"{what}; - for standard input")
    parser.add_argument(
        "--format",
        choices=formats,
        metavar="FORMAT",
        help=f"format of FILE, where its name does not tell: {', '.join(formats)}",
    )
    parser.set_defaults(format_option="--format")


READING = ("directed", "above_one", "nonpositive", "duplicates", "ids", "header", "columns", "max_bytes")


def add_reading(parser: argparse.ArgumentParser, *, points: bool = False) -> None:
    """Add how to read a file where it may be read in several ways: the options of `hypermodes.read`."""
    group = parser.add_argument_group("tables")
    roles = "edge,node[,weight[,edge weight]] of a hypergraph"
    group.add_argument(
        "--columns",
        type=name_list,
        metavar="A,B",
        help=f"columns to use: {roles}{'; coordinates of points' if points else ''}; found if not given",
    )
    header = group.add_mutually_exclusive_group()
    header.add_argument(
        "--header",
        action="store_const",
        const=True,
        help="the first line has names, even if they are numbers",
    )
    header.add_argument(
        "--no-header", dest="header", action="store_const", const=False, help="the first line has no names"
    )
    group = parser.add_argument_group("reading hypergraphs")
    group.add_argument(
        "--directed",
        choices=("refuse", "ignore"),
        help="directed files: refuse them, or ignore directions (default: refuse)",
    )
    group.add_argument(
        "--above-one",
        choices=("rescale", "refuse", "binary"),
        help="incidence weights above 1: divide by the largest of the hyperedge, refuse, or take all for 1 "
        "(default: rescale)",
    )
    group.add_argument(
        "--nonpositive",
        choices=("refuse", "aside"),
        help="incidences of weight 0 or less: refuse, or leave them out (default: refuse)",
    )
    group.add_argument(
        "--duplicates",
        choices=("last", "sum", "refuse"),
        help="an incidence listed twice with different weights: the last counts, their sum, or refuse",
    )
    group.add_argument(
        "--ids", choices=("auto", "text"), help="whole numbers as numbers, or as text (default: auto)"
    )
    group.add_argument(
        "--max-bytes", type=whole(1), metavar="N", help="refuse files larger than this, decompressed"
    )
    group.add_argument(
        "--trust",
        action="store_true",
        help="the folder is your own: it is not checked, and read only where it is needed",
    )


def reading_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What was said of reading."""
    given = {name: getattr(arguments, name, None) for name in READING}
    return {name: value for name, value in given.items() if value is not None}


def refuse_useless(given: Mapping[str, bool], file: str, read_as: str, remedy: str) -> None:
    """Refuse the first option that was given and says nothing of what is read: none is ignored in silence."""
    useless = next((option for option, is_given in given.items() if is_given), None)
    if useless is not None:
        raise ValueError(f"{useless}: {file!r} is read as {read_as}, where this says nothing; {remedy}")


def reading_options(arguments: argparse.Namespace) -> dict[str, bool]:
    """Which options of reading were given, by how they are written on the command line."""
    given = reading_of(arguments)
    header = given.pop("header", None)
    options = {f"--{name.replace('_', '-')}": name in given for name in READING if name != "header"}
    return options | {"--header": header is True, "--no-header": header is False}


def add_results(parser: argparse.ArgumentParser, rows: str, *, report: bool = True) -> None:
    """Add where results go."""
    group = parser.add_argument_group("results")
    group.add_argument(
        "--json", action="store_true", help="one JSON document on standard output, and nothing else there"
    )
    group.add_argument(
        "--out",
        type=results_path,
        metavar="FILE",
        help=f"write {rows}, as .csv or .json; - for CSV on standard output",
    )
    if not report:
        return
    group.add_argument(
        "--report", type=report_path, metavar="FILE.html", help="write one page to look at, readable offline"
    )


def add_names(parser: argparse.ArgumentParser) -> None:
    """Add what vertices are called."""
    parser.add_argument(
        "--names",
        metavar="ATTRIBUTE",
        help="call vertices, and hyperedges that have it, by this attribute, such as name or label",
    )


def add_progress(parser: argparse.ArgumentParser) -> None:
    """Add how much is said along the way."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--quiet", action="store_true", help="no progress bar")
    group.add_argument(
        "--progress", action="store_true", help="a progress bar even where standard error is no terminal"
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the number of threads."""
    parser.add_argument(
        "--jobs", type=whole(1), default=-1, metavar="N", help="threads; all cores if not given"
    )


def add_scheduler(parser: Any, what: str) -> None:
    """Add the address of a Dask cluster; ``parser`` may be a group of one."""
    parser.add_argument(
        "--scheduler",
        type=scheduler_address,
        metavar="ADDRESS",
        help=f"{what} on a Dask cluster: tcp://HOST:PORT of its scheduler",
    )


# -- types ----------------------------------------------------------------------------------------------


def whole(least: int) -> Callable[[str], int]:
    """A whole number, this or more."""

    def number(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or len(text) > 18 or int(text) < least:
            raise argparse.ArgumentTypeError(f"expected a whole number, {least} or more; got {text!r}")
        return int(text)

    return number


def scheduler_address(text: str) -> str:
    """The address of a Dask scheduler."""
    from hypermodes.executors import checked_address

    try:
        return checked_address(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected tcp://HOST:PORT; got {text!r}") from None


def share(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0 to 1; got {text!r}")
    return value


def name_list(text: str) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def results_path(text: str) -> str:
    """A file whose suffix says how results are written."""
    if text != STANDARD and Path(text).suffix.lower() not in (".csv", ".json"):
        raise argparse.ArgumentTypeError(
            f"expected a file name that ends in .csv or .json, or -; got {text!r}"
        )
    return text


def report_path(text: str) -> str:
    """A file for a page."""
    return _with_suffix(text, ".html", ".htm")


def arrays_path(text: str) -> str:
    """A file for arrays."""
    return _with_suffix(text, ".npz")


def _with_suffix(text: str, *suffixes: str) -> str:
    if Path(text).suffix.lower() not in suffixes:
        raise argparse.ArgumentTypeError(f"expected a file name that ends in {suffixes[0]}; got {text!r}")
    return text
