"""The report on the groups of a hypergraph: anything with the attributes of `Groups` will do."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.report import branches
from hypermodes.report.bubbles import MOST_BUBBLES, bubbles
from hypermodes.report.certificates import VERDICTS, columns_of, table_of, verdict_of
from hypermodes.report.content import MOST_ROWS, MOST_TOP, Column, Listing, Noun, Report
from hypermodes.report.of_modes import EDGE, VERTEX, input_facts, missing_names
from hypermodes.report.wording import quantity, share
from hypermodes.result import Mode

NOUN = Noun("group", "groups")


def report_of_groups(
    groups: Any,
    modes: Sequence[Mode | None],
    title: str | None,
    name: Callable[[Hashable], Hashable],
    edge_name: Callable[[Hashable], Hashable],
) -> Report:
    """Say what was found by `cluster`, largest groups first.

    Members come in the order of how much of a group they carry, membership times d(v). By membership alone
    those would come first that have one hyperedge and are nowhere else, and not those a group is about.
    """
    hypergraph = groups.hypergraph
    n_rows = min(int(groups.n_clusters), MOST_ROWS)
    strength = _members(groups.memberships, n_rows)
    vertices, labels = hypergraph.vertices, hypergraph.labels
    carried = sp.csr_array(strength.multiply(hypergraph.vertex_degrees[None, :]))
    listing = Listing.of("Members", carried, lambda v: name(vertices[v]), find_all=True)
    modes = modes[:n_rows]
    cores = _cores(modes, groups.edge_labels.size)
    core_listing = Listing.of("Hyperedges of its core", cores, lambda e: edge_name(labels[e]))
    found, table = table_of(modes)
    density, *certificate = columns_of(table, found, n_rows, "Core density")
    columns = (
        Column.of("Vertices", _sizes(groups.vertex_labels, n_rows), "count", main=True,
                  help="that belong to it more than to any other"),
        Column.of("Hyperedges", _sizes(groups.edge_labels, n_rows), "count"),
        Column.of("Members", np.diff(strength.indptr), "count",
                  help="vertices that belong to it at least half as strongly as to any group"),
        density,
        *certificate,
    )  # fmt: skip
    return Report(
        title=title or "Groups of a hypergraph",
        headline=_headline(groups),
        story=_story(),
        facts=input_facts(hypergraph),
        noun=NOUN,
        columns=columns,
        listings=(listing, core_listing),
        verdicts=VERDICTS,
        verdict_of=verdict_of(table, found, n_rows),
        top=list(range(min(n_rows, MOST_TOP))),
        picture=bubbles(strength, [k for k in range(n_rows) if strength.indptr[k + 1] > strength.indptr[k]]),
        tree=_tree(groups, strength, n_rows),
        notes=_notes(groups, n_rows, listing),
    )


def _members(memberships: sp.csr_array, n_rows: int) -> sp.csr_array:
    """Groups by vertices: how strongly each belongs, where that is at least half of its strongest."""
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
    """Groups by hyperedges: the shares of the modes at their cores."""
    ends = np.cumsum([0, *(0 if mode is None else len(mode) for mode in modes)])
    told = [mode for mode in modes if mode is not None]
    weights = np.concatenate([np.empty(0), *(mode.weights for mode in told)])
    support = np.concatenate([np.empty(0, np.int64), *(mode.support for mode in told)])
    return sp.csr_array((weights, support, ends), shape=(len(modes), n_edges))


def _sizes(labels: np.ndarray, n_rows: int) -> np.ndarray:
    return np.bincount(labels[(labels >= 0) & (labels < n_rows)], minlength=n_rows)


def _headline(groups: Any) -> str:
    n_vertices, n_edges = groups.vertex_labels.size, groups.edge_labels.size
    if not groups.n_clusters:
        return (
            f"No groups in {VERTEX.counted(n_vertices)} and {EDGE.counted(n_edges)}: "
            "no two different hyperedges share a vertex."
        )
    alone, out = int((groups.vertex_labels < 0).sum()), int((groups.edge_labels < 0).sum())
    said = [
        f"{NOUN.counted(int(groups.n_clusters))} in {VERTEX.counted(n_vertices)} and {EDGE.counted(n_edges)}."
    ]
    if alone:
        said.append(f"In no group: {VERTEX.counted(alone)} ({share(alone, n_vertices)}).")
    if out:
        said.append(f"Outliers: {EDGE.counted(out)} ({share(out, n_edges)}).")
    return " ".join(said)


def _story() -> tuple[str, ...]:
    return (
        "A group is a part of the hypergraph whose hyperedges hold together more tightly than with the rest. "
        "At its core is a mode, a small set of hyperedges whose density is certified as a local maximum "
        "among those of the group; "
        "around it are the hyperedges and vertices that belong to it more than to any other group. Belonging "
        "is a share: a vertex can be in several groups.",
    )


def _tree(groups: Any, strength: sp.csr_array, n_rows: int) -> dict[str, Any] | None:
    """How small groups join into these and these into one; without a tree, what these have in common."""
    if n_rows < 2 and groups.tree is None:
        return None
    if groups.tree is not None:
        tree, inside = groups.tree, groups.leaves >= 0
        owner = np.full(tree.n, -1)
        owner[groups.leaves[inside]] = groups.vertex_labels[inside]
        own = np.zeros(tree.n)  # a leaf holds together at least as tightly as it does with any other
        np.maximum.at(own, tree.ends.ravel(), np.repeat(tree.heights, 2))
        said = "Small groups and how they join, from all of them down to the tightest."
        leaf = ("small group", "small groups")
    else:
        n = min(n_rows, branches.MOST_IN_TREE)
        length = np.sqrt(strength[:n].multiply(strength[:n]).sum(axis=1))
        even = sp.csr_array(strength[:n].multiply(1 / np.maximum(length, 1e-300)[:, None]))
        tree = branches.tree_of(even @ even.T, np.asarray(strength[:n].sum(axis=1)))
        owner, own = np.arange(n), np.ones(n)
        said = "Two groups join at the cosine of their memberships, 1 for the same vertices, 0 for none."
        leaf = (NOUN.one, NOUN.many)
    if tree is None or tree.n < 2:
        return None
    picture = branches.icicle(tree, np.where(owner < n_rows, owner, -1), float(tree.weights.min()), own)
    return picture | {"leaf": list(leaf), "unit": "vertices", "said": said, "leaves": tree.n}


def _notes(groups: Any, n_rows: int, listing: Listing) -> tuple[str, ...]:
    notes = []
    if n_rows < groups.n_clusters:
        notes.append(f"The table has the {quantity(n_rows)} largest of {quantity(groups.n_clusters)} groups.")
    if n_rows > MOST_BUBBLES:
        notes.append(f"The drawing has the {MOST_BUBBLES} largest groups.")
    return (*notes, *missing_names((listing,)))
