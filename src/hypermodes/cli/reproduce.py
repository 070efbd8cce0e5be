"""``hypermodes reproduce``: an experiment of the paper."""

import argparse
from pathlib import Path

from hypermodes.cli.options import Commands, add_progress, command, name_list, whole
from hypermodes.cli.terminal import say, wants_bar
from hypermodes.experiments import EXPERIMENTS, RESUMABLE

_EXAMPLES = """\
  hypermodes reproduce fig5 --quick
  hypermodes reproduce fig5 --seeds 3 --methods hypergraph_shift,ehc,hdbscan
  hypermodes reproduce cars --resume
"""


def add_to(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = command(
        commands,
        "reproduce",
        _run,
        help="run an experiment of the paper; write pictures and tables",
        description="Run an experiment of the paper with every method; write pictures, every run as CSV and "
        "a summary. fig1: what stands out in pictures; fig5: clustering accuracy; fig6: time and iterations; "
        "table1: matching in five groups of pictures; and beside it cars, house, points, structures: other "
        "matching problems; table2: objects recognised from silhouettes. Each takes minutes or hours; all "
        "but fig5, fig6 and points need HYPERMODES_DATA, fig1 and table2 for a part of it.",
        examples=_EXAMPLES,
    )
    parser.add_argument("figure", choices=tuple(EXPERIMENTS), help="what to reproduce")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where to write; hypermodes-FIGURE if not given"
    )
    parser.add_argument(
        "--seeds",
        type=whole(1),
        metavar="N",
        help="draws a setting (default: 10 sets of points, 50 matching problems)",
    )
    parser.add_argument(
        "--methods", type=name_list, metavar="A,B", help="some methods only; a wrong name lists them"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="FOLDER",
        help="table2: where distances of shapes are kept; in the folder of results if not given",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="table1, cars, house, points: do not run again what an earlier call left in the folder",
    )
    parser.add_argument("--quick", action="store_true", help="few small sets, to see that it works")
    add_progress(parser)


def _run(arguments: argparse.Namespace) -> None:
    if arguments.cache is not None and arguments.figure != "table2":
        arguments.misused(f"--cache: {arguments.figure} keeps no distances; only table2 does")

    if arguments.resume and arguments.figure not in RESUMABLE:
        arguments.misused(f"--resume: {arguments.figure} keeps no runs; only {', '.join(RESUMABLE)} do")

    from importlib import import_module

    from hypermodes import plotting

    plotting.pyplot().switch_backend("agg")  # without matplotlib, fail before the work and not after it

    run = import_module(EXPERIMENTS[arguments.figure]).run
    told = {name: getattr(arguments, name) for name in ("seeds", "cache")}
    told["resume"] = arguments.resume or None
    print(
        run(
            arguments.out or Path(f"hypermodes-{arguments.figure}"),
            quick=arguments.quick,
            methods=arguments.methods,
            progress=wants_bar(arguments),
            **{name: value for name, value in told.items() if value is not None},
        )
    )
    if arguments.quick and not arguments.quiet:
        say("--quick: sets too small to judge by; it shows that everything runs")
