"""The command line. Each command is a function; everything heavy is imported inside it."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from hypermodes import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; bad input and missing extras end in one line on standard error and exit code 1."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except KeyboardInterrupt:
        print("hypermodes: interrupted", file=sys.stderr)
        return 130
    except (ValueError, ImportError, OSError) as error:
        print(f"hypermodes: {' '.join(str(error).split())}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hypermodes",
        description="Find the modes of hypergraphs, each with a certificate anyone can check.",
    )
    parser.add_argument("--version", action="version", version=f"hypermodes {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="find modes and clusters of five crescents with outliers; write pictures and tables",
        description="Make five crescents with outliers, find modes and clusters, write pictures and tables.",
        epilog="example: hypermodes demo --out my-demo --samples 300 --outliers 0.5",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    demo.add_argument(
        "--out", type=Path, default=Path("hypermodes-demo"), metavar="FOLDER", help="where to write"
    )
    demo.add_argument("--samples", type=int, default=600, metavar="N", help="points on the crescents")
    demo.add_argument("--outliers", type=float, default=0.2, metavar="R", help="outliers, as a fraction of N")
    demo.add_argument("--seed", type=_seed, default=0, help="seed of the points, 0 or more")
    demo.add_argument("--quiet", action="store_true", help="no progress bar")
    demo.set_defaults(run=_demo)
    reproduce = commands.add_parser(
        "reproduce",
        help="run an experiment of the paper; write a picture and tables",
        description="Run an experiment of the paper with every method; write a picture, every run as CSV and "
        "a summary. fig5: clustering accuracy; fig6: time and iterations. Both take minutes.",
        epilog="example: hypermodes reproduce fig5 --seeds 3 --methods hypergraph_shift,ehc,hdbscan",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    reproduce.add_argument("figure", choices=("fig5", "fig6"), help="figure of the paper")
    reproduce.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where to write; hypermodes-FIGURE if not given",
        default=argparse.SUPPRESS,
    )  # fmt: skip
    reproduce.add_argument("--seeds", type=_count, default=10, metavar="N", help="sets of points a setting")
    reproduce.add_argument(
        "--methods", type=_names, metavar="A,B", help="some methods only; a wrong name lists them",
        default=argparse.SUPPRESS,
    )  # fmt: skip
    reproduce.add_argument("--quick", action="store_true", help="few small sets, to see that it works")
    reproduce.add_argument("--quiet", action="store_true", help="no progress bar")
    reproduce.set_defaults(run=_reproduce)
    return parser


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number, 0 or more; got {text!r}")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a whole number, 1 or more; got {text!r}")
    return int(text)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _demo(arguments: argparse.Namespace) -> int:
    from hypermodes import plotting
    from hypermodes.demo import run_demo

    plotting.pyplot().switch_backend("agg")  # without matplotlib, fail before the work and not after it

    print(
        run_demo(
            arguments.out,
            n_samples=arguments.samples,
            outliers=arguments.outliers,
            seed=arguments.seed,
            progress=not arguments.quiet,
        )
    )
    return 0


def _reproduce(arguments: argparse.Namespace) -> int:
    from hypermodes import plotting

    plotting.pyplot().switch_backend("agg")  # as above

    from hypermodes.experiments import fig5, fig6

    run = {"fig5": fig5.run, "fig6": fig6.run}[arguments.figure]
    print(
        run(
            getattr(arguments, "out", Path(f"hypermodes-{arguments.figure}")),
            seeds=arguments.seeds,
            quick=arguments.quick,
            methods=getattr(arguments, "methods", None),
            progress=not arguments.quiet,
        )
    )
    if arguments.quick and not arguments.quiet:
        print("--quick: sets too small to judge by; it shows that everything runs", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
