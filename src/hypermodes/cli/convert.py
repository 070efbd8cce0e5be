"""``hypermodes convert``: a hypergraph from one format to another; nothing is lost in silence."""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hypermodes.cli.documents import check_targets
from hypermodes.cli.info import said_beyond
from hypermodes.cli.inputs import on_disk, read_hypergraph
from hypermodes.cli.options import HYPERGRAPH_FORMATS, STANDARD, Commands, add_reading, command
from hypermodes.cli.terminal import amount, say

if TYPE_CHECKING:
    import numpy as np

    from hypermodes.hypergraph import Hypergraph

_EXAMPLES = """\
  hypermodes convert circuit.hgr circuit.hif.json
  hypermodes convert contacts.hif.json contacts.csv
  hypermodes convert contacts.hif.json contacts.hgr --lossy      ids become numbers
  cat baskets.txt | hypermodes convert - - --from list --to hif > baskets.hif.json
"""


def add_to(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = command(
        commands,
        "convert",
        _run,
        help="write a hypergraph in another format",
        description="Write a hypergraph in another format. What is written is read back; if anything is "
        "lost, such as ids, soft incidence or attributes, nothing is written unless you say --lossy.",
        examples=_EXAMPLES,
    )
    parser.add_argument("file", metavar="IN", help="a hypergraph; - for standard input")
    parser.add_argument("target", metavar="OUT", help="the file to write; - for standard output")
    for flag, name, which in (("--from", "format", "IN"), ("--to", "to", "OUT")):
        parser.add_argument(
            flag,
            dest=name,
            choices=HYPERGRAPH_FORMATS,
            metavar="FORMAT",
            help=f"format of {which}, where its name does not tell: {', '.join(HYPERGRAPH_FORMATS)}",
        )
    parser.set_defaults(format_option="--from")
    parser.add_argument("--lossy", action="store_true", help="write even if something is lost")
    add_reading(parser)


def _run(arguments: argparse.Namespace) -> None:
    if arguments.target == STANDARD and arguments.to is None:
        arguments.misused(
            f"OUT: standard output has no name that tells the format; say --to {'|'.join(HYPERGRAPH_FORMATS)}"
        )
    check_targets(arguments, "target")
    import hypermodes
    from hypermodes.files import replacing

    with on_disk(arguments) as path:
        hypergraph = read_hypergraph(arguments, path)
    with tempfile.TemporaryDirectory(prefix="hypermodes-") as folder:
        written = str(Path(folder) / (Path(arguments.target).name if arguments.target != STANDARD else "out"))
        hypermodes.write(hypergraph, written, format=arguments.to, lossy=True)  # what is lost, we tell
        again = hypermodes.read(written, format=arguments.to, directed="ignore", nonpositive="aside")
        lost = losses(hypergraph, again)
        if lost and not arguments.lossy:
            raise ValueError(
                f"OUT: {arguments.target!r} would lose {', '.join(lost)}; say --lossy to write it anyway"
            )
        if lost:
            say(f"hypermodes: lost: {', '.join(lost)}")
        if arguments.target == STANDARD:
            if sys.stdout is None:
                raise OSError("OUT: standard output is closed")
            with open(written, "rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
        else:
            with replacing(arguments.target) as temporary:
                shutil.copyfile(written, temporary)


def losses(before: "Hypergraph", after: "Hypergraph") -> list[str]:
    """What of a hypergraph is not in what was read back; their order is not looked at."""
    import numpy as np
    import scipy.sparse as sp

    lost = []
    gone = before.n_vertices - after.n_vertices
    if gone > 0:
        lost.append(f"{amount(gone, 'vertex', 'vertices')} in no hyperedge")
    vertices = _places(before.vertices, after.vertices)
    edges = _places(before.labels, after.labels)
    for what, places, ours, theirs in (
        ("vertices", vertices, before.vertices, after.vertices),
        ("hyperedges", edges, before.labels, after.labels),
    ):
        if places is None:
            same_text = set(map(str, theirs)) <= set(map(str, ours))
            lost.append(f"ids of {what}" + (" (which are text, which are numbers)" if same_text else ""))
    rows = np.arange(after.n_vertices) if vertices is None else vertices
    columns = np.arange(after.n_edges) if edges is None else edges
    there = after.incidence.tocoo()
    moved = sp.csc_array((there.data, (rows[there.row], columns[there.col])), shape=before.incidence.shape)
    moved.sort_indices()
    if (before.incidence.data != 1).any() and not np.array_equal(before.incidence.data, moved.data):
        lost.append("soft incidence p(v|e)")
    weights = np.empty(before.n_edges)
    weights[columns] = after.weights
    if not np.array_equal(before.weights, weights):
        lost.append("weights of hyperedges")
    said, kept = said_beyond(before.annotations), said_beyond(after.annotations)
    if said.get("network_type") == "undirected":
        del said["network_type"]
    lost += [name.replace("_", " ") for name, value in said.items() if kept.get(name) != value]
    return lost


def _places(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> "np.ndarray | None":
    """Where each of theirs is among ours; None if one is not."""
    import numpy as np

    index = {label: position for position, label in enumerate(ours)}
    places = [index.get(label) for label in theirs]
    return None if None in places else np.array(places, dtype=np.int64)
