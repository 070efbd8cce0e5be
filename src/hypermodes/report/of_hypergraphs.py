"""The report on the clusters of a hypergraph."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
import scipy.sparse as sp

from hypermodes.cluster.result import HypergraphClusters
from hypermodes.report.branches import tree_of_clusters
from hypermodes.report.bubbles import MOST_BUBBLES, bubbles
from hypermodes.report.certificates import VERDICTS, columns_of, table_of, verdict_of
from hypermodes.report.content import MOST_ROWS, MOST_TOP, Column, Listing, Report
from hypermodes.report.of_modes import EDGE, VERTEX, input_facts, missing_names
from hypermodes.report.of_points import BORDER, NOUN
from hypermodes.report.wording import levels_line, quantity, share
from hypermodes.result import Mode


def report_of_hypergraph(
    clusters: HypergraphClusters,
    modes: Sequence[Mode | None],
    title: str | None,
    name: Callable[[Hashable], Hashable],
    edge_name: Callable[[Hashable], Hashable],
) -> Report:
    """Say what was found by `cluster`, largest clusters first.

    Members come in the order of how much of a cluster they carry, membership times d(v). By membership alone
    those would come first that have one hyperedge and are nowhere else, and not those a cluster is about.
    """
    hypergraph = clusters.hypergraph
    n_rows = min(clusters.n_clusters, MOST_ROWS)
    strength = _members(clusters.memberships, n_rows)
    vertices, labels = hypergraph.vertices, hypergraph.labels
    carried = sp.csr_array(strength.multiply(hypergraph.vertex_degrees[None, :]))
    listing = Listing.of("Members", carried, lambda v: name(vertices[v]), find_all=True)
    modes = modes[:n_rows]
    cores = _cores(modes, clusters.edge_labels.size)
    core_listing = Listing.of("Hyperedges of its core", cores, lambda e: edge_name(labels[e]))
    found, table = table_of(modes)
    density, *certificate = columns_of(table, found, n_rows, "Core density")
    columns = (
        Column.of("Vertices", _sizes(clusters.vertex_labels, n_rows), "count", main=True,
                  help="that belong to it more than to any other"),
        Column.of("Hyperedges", _sizes(clusters.edge_labels, n_rows), "count"),
        Column.of("Members", np.diff(strength.indptr), "count",
                  help="vertices that belong to it at least half as strongly as to any cluster"),
        Column.of("Border", clusters.borders[:n_rows], "number", help=BORDER),
        density,
        *certificate,
    )  # fmt: skip
    return Report(
        title=title or "Clusters of a hypergraph",
        headline=_headline(clusters),
        story=_story(clusters),
        facts=input_facts(hypergraph),
        noun=NOUN,
        columns=columns,
        listings=(listing, core_listing),
        verdicts=VERDICTS,
        verdict_of=verdict_of(table, found, n_rows),
        top=list(range(min(n_rows, MOST_TOP))),
        picture=bubbles(strength, [k for k in range(n_rows) if strength.indptr[k + 1] > strength.indptr[k]]),
        tree=tree_of_clusters(clusters, n_rows, VERTEX),
        notes=_notes(clusters, n_rows, listing),
    )


def _members(memberships: sp.csr_array, n_rows: int) -> sp.csr_array:
    """Clusters by vertices: how strongly each belongs, where that is at least half of its strongest."""
    shares = sp.csr_array(memberships)
    if not n_rows:
        return sp.csr_array((0, shares.shape[0]))
    best = shares.max(axis=1).toarray().ravel()
    kept = (shares.data > 0) & (
        shares.data >= best[np.repeat(np.arange(best.size), np.diff(shares.indptr))] / 2
    )
    shares = sp.csr_array((shares.data * kept, shares.indices, shares.indptr), shares.shape)
    shares.eliminate_zeros()
    return sp.csr_array(sp.csc_array(shares)[:, :n_rows].T)


def _cores(modes: Sequence[Mode | None], n_edges: int) -> sp.csr_array:
    """Clusters by hyperedges: the shares of the modes at their cores."""
    ends = np.cumsum([0, *(0 if mode is None else len(mode) for mode in modes)])
    told = [mode for mode in modes if mode is not None]
    weights = np.concatenate([np.empty(0), *(mode.weights for mode in told)])
    support = np.concatenate([np.empty(0, np.int64), *(mode.support for mode in told)])
    return sp.csr_array((weights, support, ends), shape=(len(modes), n_edges))


def _sizes(labels: np.ndarray, n_rows: int) -> np.ndarray:
    return np.bincount(labels[(labels >= 0) & (labels < n_rows)], minlength=n_rows)


def _headline(clusters: HypergraphClusters) -> str:
    n_vertices, n_edges = clusters.vertex_labels.size, clusters.edge_labels.size
    if not clusters.n_clusters:
        return (
            f"No clusters in {VERTEX.counted(n_vertices)} and {EDGE.counted(n_edges)}: "
            "no two different hyperedges share a vertex."
        )
    alone, out = int((clusters.vertex_labels < 0).sum()), int((clusters.edge_labels < 0).sum())
    said = [
        f"{NOUN.counted(clusters.n_clusters)} in {VERTEX.counted(n_vertices)} and {EDGE.counted(n_edges)}."
    ]
    if alone:
        said.append(f"In no cluster: {VERTEX.counted(alone)} ({share(alone, n_vertices)}).")
    if out:
        said.append(f"Outliers: {EDGE.counted(out)} ({share(out, n_edges)}).")
    return " ".join(said)


def _story(clusters: HypergraphClusters) -> tuple[str, ...]:
    about = (
        "A cluster is a part of the hypergraph whose vertices share more hyperedges with each other than "
        "with the rest. Vertices are tied by the hyperedges they share and laid out near those they are tied "
        "to; clusters are the groups that stand out in the tree of this layout, if few ties leave them. At "
        "the core of each is a mode, a small set of its hyperedges whose density is certified as a local "
        "maximum. Belonging is a share: a vertex can be in several clusters."
    )
    others = levels_line(clusters.levels)
    return (about, others) if others else (about,)


def _notes(clusters: HypergraphClusters, n_rows: int, listing: Listing) -> tuple[str, ...]:
    notes = []
    if n_rows < clusters.n_clusters:
        notes.append(
            f"The table has the {quantity(n_rows)} largest of {quantity(clusters.n_clusters)} clusters."
        )
    if n_rows > MOST_BUBBLES:
        notes.append(f"The drawing has the {MOST_BUBBLES} largest clusters.")
    return (*notes, *missing_names((listing,)))
