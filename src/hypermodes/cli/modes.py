"""``hypermodes modes``: the modes of a hypergraph, densest first."""

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hypermodes.cli.documents import Answer, Table, check_targets, deliver, together
from hypermodes.cli.inputs import Names, names_of_vertices, on_disk, read_hypergraph
from hypermodes.cli.options import (
    Commands,
    add_input,
    add_jobs,
    add_names,
    add_progress,
    add_reading,
    add_results,
    add_scheduler,
    arrays_path,
    command,
    whole,
)
from hypermodes.cli.terminal import amount, fitted, number, wants_bar

if TYPE_CHECKING:
    from hypermodes.hypergraph import Hypergraph
    from hypermodes.result import ModeSet

_SHOWN = 10  # modes in the table, unless told

_EXAMPLES = """\
  hypermodes modes contacts.hif.json
  hypermodes modes contacts.hif.json --distinct --top 20 --report modes.html
  hypermodes modes circuit.hgr --starts peaks --out modes.csv --save modes.npz
  hypermodes modes big-folder --scheduler tcp://127.0.0.1:8786 --results big-run --resume
  zcat contacts.hif.json.gz | hypermodes modes - --format hif --json | jq '.modes[0].vertices'
"""


def add_to(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = command(
        commands,
        "modes",
        _run,
        help="find the densest groups of hyperedges, each with a certificate",
        description="Shift every hyperedge to its mode and rank the modes by density. The table shows "
        "the ten densest; --json, --out and --report have all of them, unless --top says how many.",
        examples=_EXAMPLES,
    )
    add_input(parser)
    parser.add_argument("--top", type=whole(1), metavar="N", help="this many modes only, the densest")
    parser.add_argument(
        "--distinct",
        action="store_true",
        help="only modes that do not repeat a denser one: at most half of their mass is also its",
    )
    parser.add_argument(
        "--starts",
        choices=("all", "peaks"),
        default="all",
        help="shift all hyperedges, or those of locally largest affinity only: faster (default: all)",
    )
    add_names(parser)
    add_reading(parser)
    add_jobs(parser)
    add_progress(parser)
    _add_scale(parser)
    add_results(parser, "one row a mode")
    parser.add_argument(
        "--save", type=arrays_path, metavar="FILE.npz", help="keep all modes for ModeSet.load in Python"
    )


def _add_scale(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("long runs and many machines")
    add_scheduler(group, "shift")
    group.add_argument(
        "--results", metavar="FOLDER", help="keep what is done as it is done, to go on from if it is ended"
    )
    group.add_argument(
        "--resume", action="store_true", help="go on with the run in --results; begin one if there is none"
    )


def _run(arguments: argparse.Namespace) -> None:
    check_targets(arguments, "out", "report", "save")
    if arguments.resume and arguments.results is None:
        arguments.misused("--resume: say --results FOLDER, the run to go on with")
    import hypermodes

    with on_disk(arguments) as path:
        hypergraph = read_hypergraph(arguments, path)
    names = names_of_vertices(hypergraph, arguments.names)
    modes = hypermodes.find_modes(
        hypergraph,
        starts="peaks" if arguments.starts == "peaks" else None,
        n_jobs=arguments.jobs,
        client=arguments.scheduler,
        results=arguments.results,
        resume=arguments.resume,
        progress=wants_bar(arguments),
    )
    ranks = _ranks(modes, arguments)
    if arguments.save is not None:
        modes.save(arguments.save)
    answer = Answer(
        text=lambda: _text(arguments, hypergraph, modes, ranks[: arguments.top or _SHOWN], names),
        document=lambda: _document(hypergraph, modes, ranks, names),
        table=lambda: _table(hypergraph, modes, ranks, names),
        report=lambda target: hypermodes.write_report(modes, target, title=arguments.file, names=names),
    )
    deliver(answer, arguments, also_written=[arguments.save] if arguments.save else [])


def _ranks(modes: "ModeSet", arguments: argparse.Namespace) -> Sequence[int]:
    """Ranks of the modes that are asked for."""
    if not arguments.distinct:
        return range(len(modes))[: arguments.top]
    return modes.distinct(arguments.top or max(1, len(modes)))


def _document(
    hypergraph: "Hypergraph", modes: "ModeSet", ranks: Sequence[int], names: Names
) -> dict[str, object]:
    from hypermodes.cli.records import hypergraph_record, mode_record
    from hypermodes.result import Status

    return {
        "hypergraph": hypergraph_record(hypergraph),
        "found": len(modes),
        "certified": modes.status_counts.get(Status.CERTIFIED, 0),
        "modes": [
            {"rank": k, "starts": int(modes.sizes[k]), **mode_record(hypergraph, modes[k], names)}
            for k in ranks
        ],
    }


def _table(hypergraph: "Hypergraph", modes: "ModeSet", ranks: Sequence[int], names: Names) -> Table:
    from hypermodes.cli.records import called, central_vertices, certificate_record, heaviest

    certificate = ("holds", "strict", "spread", "excess", "curvature", "ties", "tie_curvature")
    head = (
        "rank", "density", "n_hyperedges", "n_vertices", "starts", "status", *certificate,
        "hyperedges", "vertices", *["names"] * (names is not None),
    )  # fmt: skip

    def rows() -> Iterator[Sequence[object]]:
        for k in ranks:
            mode = modes[k]
            edges, vertices = heaviest(mode, hypergraph.labels)[0], central_vertices(hypergraph, mode)
            mark = certificate_record(mode)
            yield (
                k, mode.density, len(edges), len(vertices), int(modes.sizes[k]), mode.status.name,
                *(mark[name] for name in certificate), together(edges), together(vertices),
                *([] if names is None else [together(called(vertices, names))]),
            )  # fmt: skip

    return head, rows()


def _text(
    arguments: argparse.Namespace,
    hypergraph: "Hypergraph",
    modes: "ModeSet",
    ranks: Sequence[int],
    names: Names,
) -> str:
    from hypermodes.cli.records import called, central_vertices, hypergraph_line, verdict
    from hypermodes.result import Status

    certified = modes.status_counts.get(Status.CERTIFIED, 0)
    without = int((modes.edge_mode < 0).sum())
    shifted = "" if arguments.starts == "peaks" else f"; {amount(without, 'hyperedge')} in none"
    lines = [
        hypergraph_line(arguments.file, hypergraph),
        f"{amount(len(modes), 'mode')}, {certified:,} certified{shifted}",
    ]
    if not ranks:
        return "\n".join([*lines, "no two hyperedges share a vertex"])
    head = (
        "rank",
        "density",
        "hyperedges",
        "vertices",
        "starts",
        "certificate",
        "central members",
    )
    rows = []
    for k in ranks:
        mode, members = modes[k], called(central_vertices(hypergraph, modes[k]), names)
        rows.append(
            (str(k), number(mode.density), f"{len(mode):,}", f"{len(members):,}", f"{modes.sizes[k]:,}",
             verdict(mode), members)
        )  # fmt: skip
    lines += ["", *fitted(head, rows)]
    hidden = len(modes) - len(ranks)
    if hidden and not arguments.distinct:
        lines.append(f"{amount(hidden, 'more mode')}: see --top, --distinct, --out, --json")
    return "\n".join(lines)
