"""``hypermodes demo``: five crescents, their modes and clusters."""

import argparse
from pathlib import Path

from hypermodes.cli.options import Commands, add_progress, command, whole
from hypermodes.cli.terminal import wants_bar

_EXAMPLES = """\
  hypermodes demo
  hypermodes demo --out my-demo --samples 300 --outliers 0.5
"""


def add_to(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = command(
        commands,
        "demo",
        _run,
        help="find modes and clusters of five crescents with outliers; write pictures and tables",
        description="Make five crescents with outliers, find modes and clusters, write pictures and tables.",
        examples=_EXAMPLES,
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("hypermodes-demo"),
        metavar="FOLDER",
        help="where to write (default: hypermodes-demo)",
    )
    parser.add_argument(
        "--samples", type=int, default=600, metavar="N", help="points on the crescents (default: 600)"
    )
    parser.add_argument(
        "--outliers", type=float, default=0.2, metavar="R", help="outliers, as a share of N (default: 0.2)"
    )
    parser.add_argument("--seed", type=whole(0), default=0, help="seed of the points (default: 0)")
    add_progress(parser)


def _run(arguments: argparse.Namespace) -> None:
    from hypermodes import plotting
    from hypermodes.demo import run_demo

    plotting.pyplot().switch_backend("agg")  # without matplotlib, fail before the work and not after it

    print(
        run_demo(
            arguments.out,
            n_samples=arguments.samples,
            outliers=arguments.outliers,
            seed=arguments.seed,
            progress=wants_bar(arguments),
        )
    )
