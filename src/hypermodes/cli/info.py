"""``hypermodes info``: what is in a hypergraph file."""

import argparse
from collections.abc import Hashable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from hypermodes.cli.documents import opening, print_json
from hypermodes.cli.inputs import on_disk, read_hypergraph
from hypermodes.cli.options import Commands, add_input, add_reading, command
from hypermodes.cli.terminal import amount, listed, number, safe

if TYPE_CHECKING:
    from hypermodes.annotations import Annotations
    from hypermodes.description import Description
    from hypermodes.hypergraph import Hypergraph

_EXAMPLES = """\
  hypermodes info contacts.hif.json
  hypermodes info circuit.hgr.gz --json
  zcat contacts.hif.json.gz | hypermodes info - --format hif
"""


def add_to(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = command(
        commands,
        "info",
        _run,
        help="tell what is in a hypergraph file, and what its modes will cost",
        description="Tell what is in a hypergraph file: how many of what, what stands alone or comes twice, "
        "what else the file says; and about how long its modes will take.",
        examples=_EXAMPLES,
    )
    add_input(parser)
    add_reading(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")


def _run(arguments: argparse.Namespace) -> None:
    from hypermodes.description import describe, seconds_for_modes

    with on_disk(arguments) as path:
        hypergraph = read_hypergraph(arguments, path)
    found, seconds = describe(hypergraph), seconds_for_modes(hypergraph)
    if arguments.json:
        print_json({**opening(arguments), **_document(hypergraph, found, seconds)})
    else:
        print(_text(arguments.file, hypergraph, found, seconds))


def _document(hypergraph: "Hypergraph", found: "Description", seconds: float) -> dict[str, object]:
    low_middle_high = ("smallest", "median", "largest")
    numbers = {
        name: dict(zip(low_middle_high, value, strict=True)) if isinstance(value, tuple) else value
        for name, value in asdict(found).items()
    }
    said = said_beyond(hypergraph.annotations)
    return {**numbers, "annotations": said, "seconds_for_modes": seconds}


def said_beyond(annotations: "Annotations | None") -> dict[str, object]:
    """What the file says beyond incidence, weights of hyperedges and names."""
    if annotations is None:
        return {}
    said: dict[str, object] = {
        "network_type": annotations.network_type,
        "metadata": sorted(map(str, annotations.metadata or ())),
        "empty_hyperedges": len(annotations.empty_edges),
        "incidences_aside": len(annotations.aside),
    }
    for name in ("vertices", "edges", "incidences"):
        records = getattr(annotations, name)
        plural = "hyperedges" if name == "edges" else name
        said[f"attributes_of_{plural}"] = sorted(
            {str(key) for one in records.attributes or () if one for key in one}
        )
        if name != "edges":  # whose weights are those of the hypergraph
            said[f"weights_of_{plural}"] = records.weights is not None
    said["directions_of_incidences"] = annotations.incidences.directions is not None
    return {name: value for name, value in said.items() if value}


def _text(file: str, hypergraph: "Hypergraph", found: "Description", seconds: float) -> str:
    kinds = ["soft (some p(v|e) below 1)"] * found.soft + ["weighted"] * found.weighted
    lines = [
        ("file", safe(file)),
        ("vertices", f"{found.vertices:,}, in {_range(found.degrees, 'hyperedge', 'hyperedges')}"),
        ("hyperedges", f"{found.hyperedges:,}, of {_range(found.sizes, 'vertex', 'vertices')}"),
        ("incidences", f"{found.incidences:,}, {' and '.join(kinds) or 'neither soft nor weighted'}"),
        ("ids", f"{_first(hypergraph.vertices)} of vertices; {_first(hypergraph.labels)} of hyperedges"),
        ("components", f"{found.components:,}; the largest has "
                       f"{amount(found.largest_component, 'vertex', 'vertices')}"),
        ("alone", f"{amount(found.isolated_vertices, 'vertex', 'vertices')} in no hyperedge, "
                  f"{amount(found.isolated_hyperedges, 'hyperedge')} touching no other"),
        ("repeated", f"{amount(found.duplicates, 'hyperedge')} with the vertices of an earlier one"),
        ("also there", "; ".join(_told(said_beyond(hypergraph.annotations))) or "nothing"),
        ("memory", _size(found.bytes)),
        ("modes", f"about {_time(seconds)} on one core; a hyperedge meets others "
                  f"{found.neighbours:,.0f} times on average"),
    ]  # fmt: skip
    return "\n".join(f"{name + ':':<13}{said}" for name, said in lines)


def _told(said: dict[str, object]) -> list[str]:
    return [
        name.replace("_", " ")
        + ("" if value is True else f" {listed(value, 60) if isinstance(value, list) else safe(str(value))}")
        for name, value in said.items()
    ]


def _first(labels: Sequence[Hashable]) -> str:
    return listed(labels[:3], 40) + ", ..." * (len(labels) > 3)


def _range(spread: tuple[int, float, int], one: str, many: str) -> str:
    low, middle, high = spread
    return amount(low, one, many) if low == high else f"{low:,} to {high:,} (median {number(middle)}) {many}"


def _size(n: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if n < 1000:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} GB"


def _time(seconds: float) -> str:
    if seconds < 1:
        return "a second or less"
    if seconds < 90:
        return f"{seconds:.1g} s" if seconds < 10 else f"{round(seconds, -1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
