"""The report on clusters of points."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.clustering import Clustering
from hypermodes.report.branches import icicle
from hypermodes.report.certificates import VERDICTS, columns_of, table_of, verdict_of
from hypermodes.report.content import MOST_ROWS, MOST_TOP, Column, Listing, Noun, Report
from hypermodes.report.of_modes import missing_names
from hypermodes.report.scatter import scatter
from hypermodes.report.wording import quantity, share, span
from hypermodes.result import Mode

NOUN = Noun("cluster", "clusters")


def report_of_points(
    clustering: Clustering,
    modes: Sequence[Mode | None],
    title: str | None,
    points: np.ndarray | None,
    name: Callable[[int], Any] | None,
) -> Report:
    """Say what was found by `cluster_points`, largest clusters first."""
    labels = clustering.labels
    n_rows, n = min(clustering.n_clusters, MOST_ROWS), labels.size
    found, table = table_of(modes[:n_rows])
    inside = np.flatnonzero((labels >= 0) & (labels < n_rows))
    strength = sp.csr_array((clustering.probabilities[inside], (labels[inside], inside)), shape=(n_rows, n))
    sizes = np.bincount(labels[inside], minlength=n_rows)
    total = np.bincount(labels[inside], weights=clustering.probabilities[inside], minlength=n_rows)
    listing = Listing.of("Points", strength, name or (lambda row: row))
    density, *certificate = columns_of(table, found, n_rows, "Density")
    columns = (
        Column.of("Points", sizes, "count", main=True, help="without outliers"),
        Column.of("Share", sizes / max(n, 1), "share", main=True, help="of all points"),
        Column.of("Strength", total / np.maximum(sizes, 1), "number",
                  help="mean of how strongly points belong, 0 to 1"),
        density,
        *certificate,
    )  # fmt: skip
    picture = None if points is None else scatter(points, labels, clustering.probabilities, n_rows, name)
    return Report(
        title=title or "Clusters of points",
        headline=_headline(clustering),
        story=_story(clustering),
        facts=_facts(clustering, points),
        noun=NOUN,
        columns=columns,
        listings=(listing,),
        verdicts=VERDICTS,
        verdict_of=verdict_of(table, found, n_rows),
        top=list(range(min(n_rows, MOST_TOP))),
        picture=picture,
        tree=_tree(clustering, n_rows),
        notes=_notes(clustering, picture, n_rows, listing, name is not None),
    )


def _headline(clustering: Clustering) -> str:
    n, n_out = clustering.labels.size, int((clustering.labels < 0).sum())
    where = f"{NOUN.counted(clustering.n_clusters)} in {Noun('point', 'points').counted(n)}."
    out = f"{Noun('point', 'points').counted(n_out)} ({share(n_out, n)})"
    return where + (
        f" {out} belong{'s' if n_out == 1 else ''} to none." if n_out else " Every point is in one."
    )


def _story(clustering: Clustering) -> tuple[str, ...]:
    about = (
        "A cluster is a region where points lie closer together than in the gaps around it. Each point makes "
        "a hyperedge with its nearest neighbours; hyperedges that overlap hold together, and the clusters "
        "are the groups that stand out in the tree this gives. Points much sparser than their cluster are "
        "outliers."
    )
    level = clustering.level
    if level is None:
        return (about, "There are too few different points, or none apart, to tell anything apart.")
    if not np.isfinite(level.agreement):
        return (about,)
    return (
        about,
        f"Read at many smallest sizes, the tree gives partitions that agree with this one to "
        f"{level.agreement:.2f} on average (adjusted Rand index: 1 is the same, 0 is chance).",
    )


def _facts(clustering: Clustering, points: np.ndarray | None) -> tuple[tuple[str, str], ...]:
    facts = [("Points", quantity(clustering.labels.size))]
    if points is not None:
        facts.append(("Coordinates", quantity(points.shape[1])))
    around = clustering.neighbourhoods
    if around is not None:
        facts += [
            ("Different points", quantity(around.rows.size)),
            ("Neighbours in a hyperedge", quantity(around.k)),
            ("Local dimension", f"{around.dimension:.2g}"),
            ("Distance to the last neighbour", span(around.reach)),
        ]
    return tuple(facts)


def _tree(clustering: Clustering, n_rows: int) -> dict[str, Any] | None:
    tree, level, around = clustering.tree, clustering.level, clustering.neighbourhoods
    if tree is None or level is None or around is None or tree.n < 2:
        return None
    groups = clustering.assigned[around.rows]
    picture = icicle(tree, np.where(groups < n_rows, groups, -1), level.smallest)
    return picture | {
        "leaf": ["point", "points"],
        "unit": "points",
        "said": "Groups of points that hold together, from all of them down to the densest; a group counts "
        f"from {level.smallest:.3g} points up.",
        "leaves": tree.n,
    }


def _notes(
    clustering: Clustering, picture: dict[str, Any] | None, n_rows: int, listing: Listing, named: bool
) -> tuple[str, ...]:
    notes = []
    if n_rows < clustering.n_clusters:
        notes.append(
            f"The table has the {quantity(n_rows)} largest of {quantity(clustering.n_clusters)} clusters."
        )
    if picture is None:
        notes.append("There is no picture of the points, because they were not given.")
    elif picture["n"] < picture["total"]:
        notes.append(
            f"The picture has {quantity(picture['n'])} of {quantity(picture['total'])} points: the same "
            "share of every cluster, chosen at random, and at least a few of each."
        )
    if named and picture is not None and picture["names"] is None:
        notes.append("In the picture points go by their row numbers: there is no room for all their names.")
    return (*notes, *missing_names((listing,)))
