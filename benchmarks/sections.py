"""Benchmarks in sections, each in a process of its own, so that memory and compilation are its own too."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping

Rows = list[tuple[str, str]]
Section = Callable[[bool], Rows]


def in_process(script: str, section: str, quick: bool, environment: Mapping[str, str] | None = None) -> Rows:
    """Run one section of a script in a new process."""
    command = [sys.executable, script, "--one", section, *(["--quick"] if quick else [])]
    variables = {**os.environ, **(environment or {})}
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=variables).stdout
    return json.loads(out.splitlines()[-1])


def asked(
    description: str | None, sections: Mapping[str, Section], hidden: Section
) -> argparse.Namespace | None:
    """Which sections are wanted; None in the process of one section, whose rows are printed."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", default=list(sections), help=f"some of {', '.join(sections)}")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.one:
        return arguments
    print(json.dumps({**sections, hidden.__name__: hidden}[arguments.one](arguments.quick)))
    return None
