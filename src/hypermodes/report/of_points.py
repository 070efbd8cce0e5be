"""The report on clusters of points, and of whatever else has affinities or distances."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.cluster.result import Clusters
from hypermodes.layout.embedding import embedded
from hypermodes.report.branches import tree_of_clusters
from hypermodes.report.certificates import VERDICTS, columns_of, table_of, verdict_of
from hypermodes.report.content import MOST_ROWS, MOST_TOP, Column, Listing, Noun, Report
from hypermodes.report.of_modes import missing_names
from hypermodes.report.scatter import plane, scatter
from hypermodes.report.wording import levels_line, quantity, share, span
from hypermodes.result import Mode

NOUN = Noun("cluster", "clusters")
POINT = Noun("point", "points")
BORDER = "ties that leave it, as a share of what there would be without clusters"


def report_of_points(
    clusters: Clusters,
    modes: Sequence[Mode | None],
    title: str | None,
    points: np.ndarray | None,
    name: Callable[[int], Any] | None,
    n_jobs: int | None = -1,
) -> Report:
    """Say what was found by `cluster`, largest clusters first."""
    labels = clusters.labels
    n_rows, n = min(clusters.n_clusters, MOST_ROWS), labels.size
    found, table = table_of(modes[:n_rows])
    inside = np.flatnonzero((labels >= 0) & (labels < n_rows))
    strength = sp.csr_array((clusters.probabilities[inside], (labels[inside], inside)), shape=(n_rows, n))
    sizes = np.bincount(labels[inside], minlength=n_rows)
    total = np.bincount(labels[inside], weights=clusters.probabilities[inside], minlength=n_rows)
    listing = Listing.of("Points", strength, name or (lambda row: row))
    density, *certificate = columns_of(table, found, n_rows, "Density")
    columns = (
        Column.of("Points", sizes, "count", main=True, help="without outliers"),
        Column.of("Share", sizes / max(n, 1), "share", main=True, help="of all points"),
        Column.of("Strength", total / np.maximum(sizes, 1), "number",
                  help="mean of how strongly points belong, 0 to 1"),
        Column.of("Border", clusters.borders[:n_rows], "number", help=BORDER),
        density,
        *certificate,
    )  # fmt: skip
    place, said = _places(clusters, points, n_jobs)
    picture = None if place is None else scatter(place, said, labels, clusters.probabilities, n_rows, name)
    return Report(
        title=title or "Clusters of points",
        headline=_headline(clusters),
        story=_story(clusters),
        facts=_facts(clusters, points),
        noun=NOUN,
        columns=columns,
        listings=(listing,),
        verdicts=VERDICTS,
        verdict_of=verdict_of(table, found, n_rows),
        top=list(range(min(n_rows, MOST_TOP))),
        picture=picture,
        tree=tree_of_clusters(clusters, n_rows, POINT),
        notes=_notes(clusters, picture, n_rows, listing, name is not None),
    )


def _places(
    clusters: Clusters, points: np.ndarray | None, n_jobs: int | None
) -> tuple[np.ndarray | None, str]:
    """Where points are drawn, and a sentence on what is drawn: the points themselves, or a layout of them."""
    if clusters.layout is None or clusters.ties is None or (points is not None and points.shape[1] <= 3):
        return (None, "") if points is None else plane(points)
    around = clusters.neighbourhoods
    place = embedded(clusters.ties, 2, n_jobs=n_jobs, compact=True)
    return (place if around is None else place[around.place]), (
        "A layout in two dimensions: points that hold together are near each other. Distances between "
        "clusters say little. The clusters were read from a layout in more dimensions."
    )


def _headline(clusters: Clusters) -> str:
    n, n_out = clusters.labels.size, int((clusters.labels < 0).sum())
    where = f"{NOUN.counted(clusters.n_clusters)} in {POINT.counted(n)}."
    out = f"{POINT.counted(n_out)} ({share(n_out, n)})"
    return where + (
        f" {out} belong{'s' if n_out == 1 else ''} to none." if n_out else " Every point is in one."
    )


def _story(clusters: Clusters) -> tuple[str, ...]:
    if clusters.layout is None:
        about = (
            "A cluster is a region where points lie closer together than in the gaps around it. Each point "
            "makes a hyperedge with its nearest neighbours; hyperedges that overlap hold together, and the "
            "clusters are the groups that stand out in the tree this gives. Points much sparser than their "
            "cluster are outliers."
        )
    else:
        about = (
            "A cluster is a set of points that hold together more than with the rest. Each point is tied to "
            "its nearest neighbours; points that are tied are laid out near each other, in "
            f"{clusters.layout.shape[1]} dimensions. The clusters are the groups that stand out in the tree "
            "of this layout, if few ties leave them. Points much sparser than their cluster are outliers."
        )
    if clusters.tree is None:
        return (about, "There are too few different points, or none apart, to tell anything apart.")
    level, others = clusters.level, levels_line(clusters.levels)
    if level is None or not np.isfinite(level.agreement):
        return (about, others) if others else (about,)
    agreement = (
        f"Read at many smallest sizes, the tree gives partitions that agree with this one to "
        f"{level.agreement:.2f} on average (adjusted Rand index: 1 is the same, 0 is chance)."
    )
    return (about, f"{agreement} {others}".rstrip())


def _facts(clusters: Clusters, points: np.ndarray | None) -> tuple[tuple[str, str], ...]:
    facts = [("Points", quantity(clusters.labels.size))]
    if points is not None:
        facts.append(("Coordinates", quantity(points.shape[1])))
    around = clusters.neighbourhoods
    if around is not None:
        facts += [
            ("Different points", quantity(around.rows.size)),
            ("Neighbours in a hyperedge", quantity(around.k)),
            ("Local dimension", f"{around.dimension:.2g}"),
            ("Distance to the last neighbour", span(around.reach)),
        ]
    if clusters.layout is not None:
        facts.append(("Clustered", f"in a layout of {clusters.layout.shape[1]} dimensions"))
    elif around is not None:
        facts.append(("Clustered", "where they are"))
    return tuple(facts)


def _notes(
    clusters: Clusters, picture: dict[str, Any] | None, n_rows: int, listing: Listing, named: bool
) -> tuple[str, ...]:
    notes = []
    if n_rows < clusters.n_clusters:
        notes.append(
            f"The table has the {quantity(n_rows)} largest of {quantity(clusters.n_clusters)} clusters."
        )
    if picture is None:
        notes.append("There is no picture of the points, because they were not given.")
    else:
        if picture["n"] < picture["total"]:
            notes.append(
                f"The picture has {quantity(picture['n'])} of {quantity(picture['total'])} points: the same "
                "share of every cluster, chosen at random, and at least a few of each."
            )
        if (left := clusters.labels.size - picture["total"]) > 0:
            notes.append(f"Not in the picture: {POINT.counted(left)} without a neighbour to be tied to.")
    if named and picture is not None and picture["names"] is None:
        notes.append("In the picture points go by their row numbers: there is no room for all their names.")
    return (*notes, *missing_names((listing,)))
