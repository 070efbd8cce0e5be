"""``hypermodes cluster``: clusters of a hypergraph, or of points; nobody says how many there are."""

import argparse
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hypermodes.cli.documents import Answer, Table, check_targets, deliver
from hypermodes.cli.inputs import (
    Names,
    kind_of,
    names_of_hyperedges,
    names_of_vertices,
    on_disk,
    read_hypergraph,
    read_points,
)
from hypermodes.cli.options import (
    HYPERGRAPH_FORMATS,
    POINT_FORMATS,
    Commands,
    add_input,
    add_jobs,
    add_names,
    add_progress,
    add_reading,
    add_results,
    add_scheduler,
    command,
    refuse_useless,
    share,
    whole,
)
from hypermodes.cli.terminal import amount, fitted, listed, number, safe, wants_bar

if TYPE_CHECKING:
    from hypermodes.cluster import Clusters, HypergraphClusters
    from hypermodes.hypergraph import Hypergraph
    from hypermodes.point_tables import PointTable
    from hypermodes.result import Mode

_SHOWN = 20  # clusters in the table

_EXAMPLES = """\
  hypermodes cluster contacts.hif.json                      clusters of a hypergraph
  hypermodes cluster contacts.hif.json -k 9 --out clusters.csv
  hypermodes cluster points.csv                             clusters of the rows of a table
  hypermodes cluster cells.parquet --columns x,y --id-column cell --scale --report cells.html
  cat points.tsv | hypermodes cluster - --format tsv --points --out -

A table of points has one row a point; a hypergraph may come as a table too. Columns called edge and vertex
(or hyperedge, node) make a hypergraph, fractions or other names above numbers make points; where that does
not tell, say --hypergraph or --points.
"""


def add_to(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = command(
        commands,
        "cluster",
        _run,
        help="find the clusters of a hypergraph or of points, outliers left out",
        description="Find the clusters of a hypergraph, or of points in a table. How many there "
        "are is found, unless you say it; what belongs to none has the label -1.",
        examples=_EXAMPLES,
    )
    add_input(
        parser,
        "a hypergraph, or a table of points",
        tuple(dict.fromkeys((*HYPERGRAPH_FORMATS, *POINT_FORMATS))),
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--hypergraph", dest="kind", action="store_const", const="hypergraph", help="FILE holds a hypergraph"
    )
    kind.add_argument(
        "--points", dest="kind", action="store_const", const="points", help="FILE is a table of points"
    )
    how_many = parser.add_mutually_exclusive_group()
    how_many.add_argument("-k", type=whole(1), metavar="N", help="this many clusters; found if not given")
    how_many.add_argument(
        "--threshold", type=share, metavar="T", help="what holds together at this share of the highest level"
    )
    add_names(parser)
    add_reading(parser, points=True)
    points = parser.add_argument_group("points")
    points.add_argument(
        "--id-column", metavar="A", help="column that names the rows; a first one called id if not given"
    )
    points.add_argument("--scale", action="store_true", help="scale columns to mean 0 and variance 1 first")
    points.add_argument(
        "--outliers",
        choices=("label", "assign"),
        default="label",
        help="label them -1, or give each to the cluster it is nearest to (default: label)",
    )
    points.add_argument(
        "--metric", metavar="NAME", help="euclidean, manhattan, cosine, ...; a wrong name lists them"
    )
    points.add_argument(
        "--neighbors",
        type=whole(1),
        metavar="N",
        help="neighbours a point looks at; if not given, log2 n where points are, and 15 in a layout",
    )
    points.add_argument(
        "--layout",
        action=argparse.BooleanOptionalAction,
        help="cluster in a layout, or where points are; if not given, in a layout if they have more than 3.5 "
        "local dimensions",
    )
    add_jobs(parser)
    add_scheduler(parser, "search for neighbours, or shift,")
    add_progress(parser)
    add_results(parser, "the label of every vertex and hyperedge, or of every point")


def _run(arguments: argparse.Namespace) -> None:
    check_targets(arguments, "out", "report")
    with on_disk(arguments) as path:
        kind = kind_of(arguments, path)
        _check_options(arguments, kind)
        content: Any = read_points(arguments, path) if kind == "points" else read_hypergraph(arguments, path)
    deliver((_of_points if kind == "points" else _of_hypergraph)(arguments, content), arguments)


def _check_options(arguments: argparse.Namespace, kind: str) -> None:
    """Options that make no sense for what is read are not passed over in silence."""
    of_points = {
        "--id-column": arguments.id_column, "--scale": arguments.scale, "--metric": arguments.metric,
        "--outliers": arguments.outliers == "assign", "--neighbors": arguments.neighbors,
        "--layout": arguments.layout is True, "--no-layout": arguments.layout is False,
    }  # fmt: skip
    of_hypergraphs = {
        f"--{name.replace('_', '-')}": getattr(arguments, name)
        for name in ("names", "directed", "above_one", "nonpositive", "duplicates", "ids", "trust")
    }
    options, other = (of_hypergraphs, "hypergraph") if kind == "points" else (of_points, "points")
    read_as = "a table of points" if kind == "points" else "a hypergraph"
    given = {name: bool(value) for name, value in options.items()}
    refuse_useless(given, arguments.file, read_as, f"say --{other} if it is not")


def _modes(arguments: argparse.Namespace, found: "Clusters") -> "tuple[Mode | None, ...]":
    """The modes at the cores of what was found, with the threads or the cluster that were asked for."""
    return found.modes(n_jobs=arguments.jobs, client=arguments.scheduler)


def _levels(found: "Clusters") -> list[str]:
    """A line with the other levels that stand out, if there are any."""
    others = [reading.n_clusters for reading in found.levels if not reading.is_answer]
    if not others:
        return []
    return [f"other levels: {', '.join(f'{n:,}' for n in others)} cluster{'s' * (others != [1])}"]


def _level_records(found: "Clusters") -> list[dict[str, object]]:
    return [
        {"n_clusters": one.n_clusters, "stability": one.stability, "is_answer": one.is_answer}
        for one in found.levels
    ]


# -- points ---------------------------------------------------------------------------------------------


def _of_points(arguments: argparse.Namespace, given: "PointTable") -> Answer:
    import hypermodes

    points = given.standardised().points if arguments.scale else given.points
    found = hypermodes.cluster(
        points,
        arguments.k,
        threshold=arguments.threshold,
        n_neighbors=arguments.neighbors,
        metric=arguments.metric or "euclidean",
        layout=arguments.layout,
        n_jobs=arguments.jobs,
        client=arguments.scheduler,
        progress=wants_bar(arguments),
    )
    labels = found.assigned if arguments.outliers == "assign" else found.labels
    return Answer(
        text=lambda: _text_of_points(arguments, given, found, labels),
        document=lambda: _document_of_points(arguments, given, found, labels),
        table=lambda: _table_of_points(given, found, labels),
        report=lambda target: hypermodes.write_report(
            found,
            target,
            title=arguments.file,
            points=points,
            names=_names(given),
            n_jobs=arguments.jobs,
        ),
    )


def _names(given: "PointTable") -> Any:
    return None if isinstance(given.ids, range) else given.ids


def _point_rows(given: "PointTable", found: "Clusters", labels: Any) -> Iterator[tuple[object, ...]]:
    columns = (labels, found.probabilities, found.outlier_scores)
    return zip(given.ids, *(column.tolist() for column in columns), strict=True)


_OF_POINT = ("id", "cluster", "probability", "outlier_score")


def _table_of_points(given: "PointTable", found: "Clusters", labels: Any) -> Table:
    return _OF_POINT, _point_rows(given, found, labels)


def _document_of_points(
    arguments: argparse.Namespace, given: "PointTable", found: "Clusters", labels: Any
) -> dict[str, object]:
    import numpy as np

    from hypermodes.cli.records import certificate_record, heaviest

    sizes = np.bincount(labels[labels >= 0], minlength=found.n_clusters)
    clusters = []
    for k, mode in enumerate(_modes(arguments, found)):
        record: dict[str, object] = {
            "cluster": k,
            "size": int(sizes[k]),
            "border": float(found.borders[k]),
            "mode": None,
        }
        if mode is not None:
            ids, shares = heaviest(mode, given.ids)
            record["mode"] = {
                "density": mode.density, "status": mode.status.name, "points": ids, "shares": shares,
                "certificate": certificate_record(mode),
            }  # fmt: skip
        clusters.append(record)
    return {
        "kind": "points",
        "points": len(labels),
        "columns": list(given.columns),
        "left_out": list(given.left_out),
        "n_clusters": found.n_clusters,
        "n_outliers": int((labels < 0).sum()),
        "levels": _level_records(found),
        "clusters": clusters,
        "labels": [dict(zip(_OF_POINT, row, strict=True)) for row in _point_rows(given, found, labels)],
    }


def _text_of_points(
    arguments: argparse.Namespace, given: "PointTable", found: "Clusters", labels: Any
) -> str:
    import numpy as np

    from hypermodes.cli.records import heaviest, verdict

    n_out = int((labels < 0).sum())
    unused = f"; not used: {listed(given.left_out, 40)}" if given.left_out else ""
    lines = [
        f"{safe(arguments.file)}: {amount(len(labels), 'point')} in {amount(len(given.columns), 'column')} "
        f"({listed(given.columns, 40)}){unused}",
        f"{amount(found.n_clusters, 'cluster')}, {amount(n_out, 'outlier')} ({n_out / len(labels):.1%})",
        *_levels(found),
    ]
    if found.n_clusters == 0:
        return "\n".join(lines)
    sizes = np.bincount(labels[labels >= 0], minlength=found.n_clusters)
    head = ("cluster", "points", "share", "border", "density", "certificate", "points of its mode")
    rows = []
    for k, mode in enumerate(_modes(arguments, found)[:_SHOWN]):
        told = (
            ("", "", [])
            if mode is None
            else (number(mode.density), verdict(mode), heaviest(mode, given.ids)[0])
        )
        rows.append(
            (str(k), f"{sizes[k]:,}", f"{sizes[k] / len(labels):.1%}", number(found.borders[k]), *told)
        )
    lines += ["", *fitted(head, rows)]
    if found.n_clusters > _SHOWN:
        lines.append(f"{amount(found.n_clusters - _SHOWN, 'more cluster')}: see --out, --json")
    return "\n".join(lines)


# -- hypergraphs ----------------------------------------------------------------------------------------


def _of_hypergraph(arguments: argparse.Namespace, hypergraph: "Hypergraph") -> Answer:
    import hypermodes
    from hypermodes.cluster import HypergraphClusters

    names = names_of_vertices(hypergraph, arguments.names)
    edge_names = names_of_hyperedges(hypergraph, arguments.names) or {}
    found = hypermodes.cluster(
        hypergraph,
        arguments.k,
        threshold=arguments.threshold,
        n_jobs=arguments.jobs,
        client=arguments.scheduler,
        progress=wants_bar(arguments),
    )
    assert isinstance(found, HypergraphClusters)
    return Answer(
        text=lambda: _text_of_hypergraph(arguments, found, names),
        document=lambda: _document_of_hypergraph(arguments, found, names, edge_names),
        table=lambda: _table_of_hypergraph(found, names, edge_names),
        report=lambda target: hypermodes.write_report(
            found, target, title=arguments.file, names=names, n_jobs=arguments.jobs
        ),
    )


_OF_MEMBER = ("id", "cluster", "membership")


def _members(
    labels: Sequence[Hashable], numbers: Any, memberships: Any
) -> Iterator[tuple[Hashable, int, float]]:
    """Label, cluster, and membership in that cluster, of each vertex or hyperedge."""
    import numpy as np

    inside = np.flatnonzero(numbers >= 0)
    strength = np.zeros(numbers.size)
    if inside.size:
        strength[inside] = np.asarray(memberships[inside, numbers[inside]]).ravel()
    return zip(labels, numbers.tolist(), strength.tolist(), strict=True)


def _vertices(found: "HypergraphClusters") -> Iterator[tuple[Hashable, int, float]]:
    return _members(found.hypergraph.vertices, found.vertex_labels, found.memberships)


def _hyperedges(found: "HypergraphClusters") -> Iterator[tuple[Hashable, int, float]]:
    return _members(found.hypergraph.labels, found.edge_labels, found.edge_memberships)


def _table_of_hypergraph(
    found: "HypergraphClusters", names: Names, edge_names: Mapping[Hashable, object]
) -> Table:
    def rows() -> Iterator[tuple[object, ...]]:
        for row in _vertices(found):
            yield ("vertex", *row) if names is None else ("vertex", *row, names.get(row[0]))
        for row in _hyperedges(found):
            yield ("hyperedge", *row) if names is None else ("hyperedge", *row, edge_names.get(row[0]))

    return ("kind", *_OF_MEMBER, *["name"] * (names is not None)), rows()


def _document_of_hypergraph(
    arguments: argparse.Namespace,
    found: "HypergraphClusters",
    names: Names,
    edge_names: Mapping[Hashable, object],
) -> dict[str, object]:
    from hypermodes.cli.records import hypergraph_record, mode_record

    records = [
        {
            "cluster": k,
            "vertices": int((found.vertex_labels == k).sum()),
            "hyperedges": int((found.edge_labels == k).sum()),
            "border": float(found.borders[k]),
            "mode": None if mode is None else mode_record(found.hypergraph, mode, names),
        }
        for k, mode in enumerate(_modes(arguments, found))
    ]
    return {
        "kind": "hypergraph",
        "hypergraph": hypergraph_record(found.hypergraph),
        "n_clusters": found.n_clusters,
        "n_outliers": len(found.outliers),
        "levels": _level_records(found),
        "clusters": records,
        "vertices": [
            dict(zip(_OF_MEMBER, row, strict=True)) | ({} if names is None else {"name": names.get(row[0])})
            for row in _vertices(found)
        ],
        "hyperedges": [
            dict(zip(_OF_MEMBER, row, strict=True)) | ({"name": edge_names.get(row[0])} if edge_names else {})
            for row in _hyperedges(found)
        ],
    }


def _text_of_hypergraph(arguments: argparse.Namespace, found: "HypergraphClusters", names: Names) -> str:
    import numpy as np

    from hypermodes.cli.records import called, central_vertices, hypergraph_line, verdict

    n_alone = int((found.vertex_labels < 0).sum())
    fewer = f", not {arguments.k:,}: there are no more" if found.n_clusters < (arguments.k or 0) else ""
    lines = [
        hypergraph_line(arguments.file, found.hypergraph),
        f"{amount(found.n_clusters, 'cluster')}{fewer}; in none: {amount(n_alone, 'vertex', 'vertices')}, "
        f"{amount(len(found.outliers), 'hyperedge')}",
        *_levels(found),
    ]
    if found.n_clusters == 0:
        return "\n".join([*lines, "no two different hyperedges share a vertex"])
    vertices = np.bincount(found.vertex_labels[found.vertex_labels >= 0], minlength=found.n_clusters)
    edges = np.bincount(found.edge_labels[found.edge_labels >= 0], minlength=found.n_clusters)
    head = (
        "cluster",
        "vertices",
        "hyperedges",
        "border",
        "density",
        "certificate",
        "vertices of its mode",
    )
    rows = []
    for k, mode in enumerate(_modes(arguments, found)[:_SHOWN]):
        told: Any = ("", "", [])
        if mode is not None:
            members = called(central_vertices(found.hypergraph, mode), names)
            told = (number(mode.density), verdict(mode), members)
        rows.append((str(k), f"{vertices[k]:,}", f"{edges[k]:,}", number(found.borders[k]), *told))
    lines += ["", *fitted(head, rows)]
    if found.n_clusters > _SHOWN:
        lines.append(f"{amount(found.n_clusters - _SHOWN, 'more cluster')}: see --out, --json")
    return "\n".join(lines)
