"""``hypermodes reproduce``: an experiment of the paper."""

import argparse
from pathlib import Path

from hypermodes.cli.options import Commands, add_progress, command, name_list, whole
from hypermodes.cli.terminal import say, wants_bar

_EXAMPLES = """\
  hypermodes reproduce fig5 --quick
  hypermodes reproduce fig5 --seeds 3 --methods hypergraph_shift,ehc,hdbscan
"""


def add_to(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = command(
        commands,
        "reproduce",
        _run,
        help="run an experiment of the paper; write a picture and tables",
        description="Run an experiment of the paper with every method; write a picture, every run as CSV and "
        "a summary. fig1: what stands out in pictures; fig5: clustering accuracy; fig6: time and iterations. "
        "Each takes minutes.",
        examples=_EXAMPLES,
    )
    parser.add_argument("figure", choices=("fig1", "fig5", "fig6"), help="figure of the paper")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where to write; hypermodes-FIGURE if not given"
    )
    parser.add_argument(
        "--seeds", type=whole(1), default=10, metavar="N", help="sets of points a setting (default: 10)"
    )
    parser.add_argument(
        "--methods", type=name_list, metavar="A,B", help="some methods only; a wrong name lists them"
    )
    parser.add_argument("--quick", action="store_true", help="few small sets, to see that it works")
    add_progress(parser)


def _run(arguments: argparse.Namespace) -> None:
    from hypermodes import plotting

    plotting.pyplot().switch_backend("agg")  # without matplotlib, fail before the work and not after it

    from hypermodes.experiments import fig1, fig5, fig6

    run = {"fig1": fig1.run, "fig5": fig5.run, "fig6": fig6.run}[arguments.figure]
    print(
        run(
            arguments.out or Path(f"hypermodes-{arguments.figure}"),
            seeds=arguments.seeds,
            quick=arguments.quick,
            methods=arguments.methods,
            progress=wants_bar(arguments),
        )
    )
    if arguments.quick and not arguments.quiet:
        say("--quick: sets too small to judge by; it shows that everything runs")
