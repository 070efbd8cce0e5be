"""``hypermodes query``: the mode around a hyperedge or a vertex."""

import argparse
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypermodes.cli.documents import Answer, Table, check_targets, deliver, together
from hypermodes.cli.identifiers import find_label
from hypermodes.cli.inputs import Names, names_of_hyperedges, names_of_vertices, on_disk, read_hypergraph
from hypermodes.cli.options import Commands, add_input, add_names, add_reading, add_results, command
from hypermodes.cli.terminal import listed, number, safe, width

if TYPE_CHECKING:
    from hypermodes.hypergraph import Hypergraph
    from hypermodes.result import Mode

_EXAMPLES = """\
  hypermodes query contacts.hif.json --vertex ann
  hypermodes query contacts.hif.json --vertex ann bob --edge e17 e18
  hypermodes query contacts.hif.json --edge 17 --json | jq '.answers[0].mode.vertices'
"""


def add_to(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = command(
        commands,
        "query",
        _run,
        help="find the mode around a hyperedge or a vertex, without looking at the rest",
        description="Find the mode that hyperedges, or the hyperedges of vertices, shift to, how strongly "
        "they belong to it, and its certificate. Only the neighbourhood is looked at. Where an id that is "
        "text and one that is a number are written alike, '\"7\"' is the text.",
        examples=_EXAMPLES,
    )
    add_input(parser)
    add_names(parser)
    add_reading(parser)
    parser.add_argument(
        "--edge", nargs="+", action="extend", default=[], metavar="ID", help="hyperedges to ask about"
    )
    parser.add_argument(
        "--vertex", nargs="+", action="extend", default=[], metavar="ID", help="vertices to ask about"
    )
    add_results(parser, "one row a question", report=False)


@dataclass(frozen=True)
class _Found:
    """What is known of one hyperedge or vertex."""

    kind: str
    label: Hashable
    mode: "Mode | None"
    strength: float


def _run(arguments: argparse.Namespace) -> None:
    if not arguments.edge and not arguments.vertex:
        arguments.misused("expected --edge ID or --vertex ID; got neither")
    check_targets(arguments, "out")
    from hypermodes import Seeker

    with on_disk(arguments) as path:
        hypergraph = read_hypergraph(arguments, path)
    names = names_of_vertices(hypergraph, arguments.names)
    edge_names = names_of_hyperedges(hypergraph, arguments.names)
    asked = [
        ("hyperedge", find_label(text, hypergraph.labels, "edge", edge_names)) for text in arguments.edge
    ]
    asked += [("vertex", find_label(text, hypergraph.vertices, "vertex", names)) for text in arguments.vertex]
    seeker = Seeker(hypergraph)
    found = []
    for kind, label in asked:
        mode = seeker.around(label) if kind == "hyperedge" else seeker.around_vertex(label)
        found.append(_Found(kind, label, mode, _strength(hypergraph, mode, kind, label)))
    deliver(
        Answer(
            text=lambda: "\n\n".join(_text(hypergraph, one, names, edge_names) for one in found),
            document=lambda: _document(hypergraph, found, names),
            table=lambda: _table(hypergraph, found, names),
        ),
        arguments,
    )


def _strength(hypergraph: "Hypergraph", mode: "Mode | None", kind: str, label: Hashable) -> float:
    """How strongly it belongs to a mode: as `ModeSet` tells it of all hyperedges and vertices."""
    import numpy as np

    from hypermodes.result import ModeSet, ModeTable

    if mode is None:
        return 0.0
    modes = ModeSet(ModeTable.of([mode]), np.full(hypergraph.n_edges, -1), hypergraph)
    if kind == "vertex":
        return float(modes.vertex_strengths(0)[hypergraph.vertex_index(label)])
    return float(modes.edge_strengths(0)[hypergraph.edge_index(label)])


def _document(hypergraph: "Hypergraph", found: Sequence[_Found], names: Names) -> dict[str, object]:
    from hypermodes.cli.records import hypergraph_record, mode_record

    answers = [
        {
            "kind": one.kind,
            "id": one.label,
            "strength": one.strength,
            "mode": None if one.mode is None else mode_record(hypergraph, one.mode, names),
        }
        for one in found
    ]
    return {"hypergraph": hypergraph_record(hypergraph), "answers": answers}


def _table(hypergraph: "Hypergraph", found: Sequence[_Found], names: Names) -> Table:
    from hypermodes.cli.records import called, central_vertices, heaviest

    head = ["kind", "id", "strength", "density", "status", "holds", "hyperedges", "vertices"]
    head += ["names"] * (names is not None)

    def rows() -> Iterator[Sequence[object]]:
        for one in found:
            mode = one.mode
            if mode is None:
                yield (one.kind, one.label, 0.0, *[None] * (len(head) - 3))
                continue
            edges, vertices = heaviest(mode, hypergraph.labels)[0], central_vertices(hypergraph, mode)
            yield (
                one.kind, one.label, one.strength, mode.density, mode.status.name, mode.certificate.holds(),
                together(edges), together(vertices),
                *([] if names is None else [together(called(vertices, names))]),
            )  # fmt: skip

    return head, rows()


def _text(hypergraph: "Hypergraph", one: _Found, names: Names, edge_names: Names) -> str:
    from hypermodes.cli.records import called, central_vertices, certificate_line, heaviest

    name = f"{one.kind} {safe(str(one.label))}"
    own = (names if one.kind == "vertex" else edge_names) or {}
    if one.label in own:
        name += f" ({safe(str(own[one.label]))})"
    if one.mode is None:
        why = (
            "is in no hyperedge that touches another"
            if one.kind == "vertex"
            else "touches no other hyperedge"
        )
        return f"{name}: in no mode, it {why}"
    edges = heaviest(one.mode, hypergraph.labels)[0]
    vertices = called(central_vertices(hypergraph, one.mode), names)
    room = max(24, width() - 13)
    lines = [
        ("belongs", _belonging(one, edges)),
        ("density", number(one.mode.density)),
        ("vertices", f"{len(vertices):,}: {listed(vertices, room - 5)}"),
        ("hyperedges", f"{len(edges):,}: {listed(called(edges, edge_names), room - 5)}"),
        ("certificate", certificate_line(one.mode)),
    ]
    return "\n".join([name, *(f"  {key + ':':<13}{said}" for key, said in lines)])


def _belonging(one: _Found, edges: Sequence[object]) -> str:
    """How strongly it belongs, in words."""
    if one.kind == "vertex":
        where = "" if one.strength else ": its hyperedges shift there, it is not in it"
        return f"{one.strength:.1%} of the mass of the mode is its{where}"
    where = "in it" if one.label in edges else "not in it, it shifts there"
    return f"{number(one.strength)} of 1 ({where})"
