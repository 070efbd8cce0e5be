"""The report on the groups of a hypergraph: anything with the attributes of `Groups` will do."""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.report import branches
from hypermodes.report.bubbles import MOST_BUBBLES, bubbles
from hypermodes.report.certificates import VERDICTS, columns_of, table_of, verdict_of
from hypermodes.report.content import MOST_ROWS, MOST_TOP, Column, Listing, Noun, Report
from hypermodes.report.of_modes import input_facts, missing_names
from hypermodes.report.wording import quantity, share
from hypermodes.tree import ModeTree

NOUN = Noun("group", "groups")


def report_of_groups(groups: Any, title: str | None, name: Callable[[Hashable], Hashable]) -> Report:
    """Say what was found by `cluster`, largest groups first."""
    hypergraph = groups.hypergraph
    n_rows = min(int(groups.n_clusters), MOST_ROWS)
    strength = sp.csr_array(sp.csc_array(groups.memberships)[:, :n_rows].T)
    strength.eliminate_zeros()
    vertices = hypergraph.vertices
    listing = Listing.of("Vertices", strength, lambda v: name(vertices[v]))
    found, table = table_of(groups.modes[:n_rows])
    density, *certificate = columns_of(table, found, n_rows, "Density of its core")
    columns = (
        Column.of("Vertices", _sizes(groups.vertex_labels, n_rows), "count", main=True,
                  help="that belong to it more than to any other"),
        Column.of("Hyperedges", _sizes(groups.edge_labels, n_rows), "count", main=True),
        Column.of("Touched", np.diff(strength.indptr), "count", help="vertices that belong to it at all"),
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
        listings=(listing,),
        verdicts=VERDICTS,
        verdict_of=verdict_of(table, found, n_rows),
        top=list(range(min(n_rows, MOST_TOP))),
        picture=bubbles(strength, [k for k in range(n_rows) if strength.indptr[k + 1] > strength.indptr[k]]),
        tree=_tree(groups, strength, n_rows),
        notes=_notes(groups, n_rows, listing),
    )


def _sizes(labels: np.ndarray, n_rows: int) -> np.ndarray:
    return np.bincount(labels[(labels >= 0) & (labels < n_rows)], minlength=n_rows)


def _headline(groups: Any) -> str:
    n_vertices, n_edges = groups.vertex_labels.size, groups.edge_labels.size
    alone, out = int((groups.vertex_labels < 0).sum()), int((groups.edge_labels < 0).sum())
    said = [f"{NOUN.counted(int(groups.n_clusters))} in {quantity(n_vertices)} vertices."]
    if alone:
        said.append(f"{quantity(alone)} vertices ({share(alone, n_vertices)}) belong to none.")
    if out:
        said.append(f"{quantity(out)} of {quantity(n_edges)} hyperedges are outliers.")
    return " ".join(said)


def _story() -> tuple[str, ...]:
    return (
        "A group is a part of the hypergraph whose hyperedges hold together more tightly than with the rest. "
        "At its core is a mode, a small set of hyperedges whose density is certified as a local maximum; "
        "around it are the hyperedges and vertices that belong to it more than to any other group. Belonging "
        "is a share: a vertex can be in several groups.",
    )


def _tree(groups: Any, strength: sp.csr_array, n_rows: int) -> dict[str, Any] | None:
    """The hierarchy that came with the groups, if it is a tree over something known; else over the groups."""
    tree = groups.tree
    owners = {
        groups.edge_labels.size: groups.edge_labels,
        groups.vertex_labels.size: groups.vertex_labels,
        int(groups.n_clusters): np.arange(groups.n_clusters),
    }
    if isinstance(tree, ModeTree) and tree.n in owners and tree.n > 1:
        owner = owners[tree.n]
        own = None if tree.n > groups.n_clusters else np.full(tree.n, tree.heights.max(initial=1.0))
        picture = branches.icicle(tree, np.where(owner < n_rows, owner, -1), float(tree.weights.min()), own)
        said = "The groups and how they join, from all of them down to the tightest."
        return picture | {"unit": "members", "said": said, "leaves": tree.n}
    n = min(n_rows, branches.MOST_IN_TREE)
    if n < 2:
        return None
    length = np.sqrt(strength[:n].multiply(strength[:n]).sum(axis=1))
    unit = sp.csr_array(strength[:n].multiply(1 / np.maximum(length, 1e-300)[:, None]))
    grown = branches.tree_of(unit @ unit.T, np.asarray(strength[:n].sum(axis=1)))
    if grown is None:
        return None
    picture = branches.icicle(grown, np.arange(n), float(grown.weights.min()), np.ones(n))
    said = "Two groups join at the cosine of their memberships, 1 if they have the same vertices, 0 if none."
    return picture | {"unit": "vertices", "said": said, "leaves": n}


def _notes(groups: Any, n_rows: int, listing: Listing) -> tuple[str, ...]:
    notes = []
    if n_rows < groups.n_clusters:
        notes.append(f"The table has the {quantity(n_rows)} largest of {quantity(groups.n_clusters)} groups.")
    if n_rows > MOST_BUBBLES:
        notes.append(f"The drawing has the {MOST_BUBBLES} largest groups.")
    return (*notes, *missing_names((listing,)))
