"""The parser of all commands. Each command's file adds its own arguments to it."""

import argparse
import sys
from typing import Any, NoReturn

from hypermodes import __version__
from hypermodes.cli import (
    cluster,
    completion,
    convert,
    demo,
    info,
    match,
    modes,
    query,
    reproduce,
    saliency,
    shapes,
)

_DESCRIPTION = "Find the modes of hypergraphs, each with a certificate anyone can check; cluster points."

_EPILOG = """\
examples:
  hypermodes info contacts.hif.json          what is in a file
  hypermodes modes contacts.hif.json         its densest groups of hyperedges
  hypermodes cluster contacts.hif.json       its groups, nobody says how many
  hypermodes cluster points.csv -k 5         clusters of the rows of a table
  hypermodes query contacts.hif.json --vertex ann
  hypermodes COMMAND --help                  examples of each command

exit codes: 0 fine; 1 bad input or file; 2 bad usage; 130 interrupted
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, not below a page of options."""

    def error(self, message: str) -> NoReturn:
        message = message.removeprefix("argument ")
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is not None and file is sys.stdout:
            file.write(message)  # argparse would say nothing of a full disk
        else:
            super()._print_message(message, file)


def make_parser() -> argparse.ArgumentParser:
    """Build the parser; it imports nothing heavy."""
    parser = _Parser(
        prog="hypermodes",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"hypermodes {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for command in (
        info, modes, cluster, query, convert, match, saliency, shapes, demo, reproduce, completion
    ):  # fmt: skip
        command.add_to(commands)
    return parser
