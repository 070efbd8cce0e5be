"""The report on the modes of a hypergraph."""

from collections.abc import Callable, Hashable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.hypergraph import Hypergraph
from hypermodes.report import branches
from hypermodes.report.bubbles import MOST_BUBBLES, bubbles, telling
from hypermodes.report.certificates import VERDICTS, columns_of, verdict_of
from hypermodes.report.content import MOST_NAMES, MOST_ROWS, MOST_TOP, Column, Listing, Noun, Report
from hypermodes.report.wording import quantity, share, span
from hypermodes.result import ModeSet, ModeTable, Status

NOUN = Noun("mode", "modes")
EDGE, VERTEX = Noun("hyperedge", "hyperedges"), Noun("vertex", "vertices")


def report_of_modes(
    modes: ModeSet,
    title: str | None,
    name: Callable[[Hashable], Hashable],
    edge_name: Callable[[Hashable], Hashable],
) -> Report:
    """Say what was found by `find_modes`, densest modes first."""
    n_rows, hypergraph = min(len(modes), MOST_ROWS), modes.hypergraph
    table, rows = modes.table, np.arange(n_rows)
    shares = _shares(modes, n_rows)
    if hypergraph is None:
        strength = sp.csr_array(shares.T)
        listings: tuple[Listing, ...] = (Listing.of("Hyperedges", strength, lambda e: e),)
    else:
        vertices, labels = hypergraph.vertices, hypergraph.labels
        strength = vertex_strength(hypergraph, shares)
        listings = (
            Listing.of("Vertices", strength, lambda v: name(vertices[v])),
            Listing.of("Hyperedges", sp.csr_array(shares.T), lambda e: edge_name(labels[e])),
        )
    first = _first(table, n_rows)
    density, *certificate = columns_of(first, rows, n_rows, "Density")
    columns = [replace(density, main=True)]
    if hypergraph is not None:
        columns.append(
            Column.of("Vertices", np.diff(strength.indptr), "count", main=True, help="in its hyperedges")
        )
    columns += [
        Column.of("Hyperedges", np.diff(shares.indptr), "count", help="its support, where starts meet"),
        Column.of("Starts", modes.sizes[:n_rows], "count", help="hyperedges that shift to it"),
        *certificate,
    ]
    drawn = telling(strength, MOST_BUBBLES)
    return Report(
        title=title or "Modes of a hypergraph",
        headline=_headline(modes),
        story=_story(modes),
        facts=input_facts(hypergraph) if hypergraph is not None else _matrix_facts(modes),
        noun=NOUN,
        columns=tuple(columns),
        listings=listings,
        verdicts=VERDICTS,
        verdict_of=verdict_of(first, rows, n_rows),
        top=drawn[:MOST_TOP],
        picture=bubbles(strength, drawn),
        tree=_tree(modes, hypergraph, shares, n_rows),
        notes=_notes(modes, n_rows, len(drawn), listings),
    )


def vertex_strength(hypergraph: Hypergraph, shares: sp.csc_array) -> sp.csr_array:
    """Each mode spread onto its vertices, Σ_e p_e h(v,e)/δ(e): modes by vertices."""
    used = np.unique(shares.indices)
    spread = sp.csc_array(hypergraph.incidence[:, used].multiply(1 / hypergraph.edge_degrees[None, used]))
    mass = sp.csr_array((spread @ sp.csr_array(shares)[used]).T)
    mass.sort_indices()
    return mass


def input_facts(hypergraph: Hypergraph) -> tuple[tuple[str, str], ...]:
    """The hypergraph in a few lines."""
    soft = hypergraph.incidence.data
    held = np.bincount(hypergraph.incidence.indices, minlength=hypergraph.n_vertices)
    alone = int((held == 0).sum())
    facts = [
        ("Vertices", quantity(hypergraph.n_vertices)),
        ("Hyperedges", quantity(hypergraph.n_edges)),
        ("Vertices a hyperedge", span(hypergraph.edge_sizes)),
        ("Incidences", quantity(hypergraph.incidence.nnz)),
        ("Weights of hyperedges", "all 1" if (hypergraph.weights == 1).all() else span(hypergraph.weights)),
        ("Probabilities of vertices", "all 1" if (soft == 1).all() else span(soft)),
    ]
    if alone:
        facts.append(("Vertices in no hyperedge", quantity(alone)))
    return tuple(facts)


# -- steps ----------------------------------------------------------------------------------------------


def _first(table: ModeTable, n_rows: int) -> ModeTable:
    """The first modes of a table; the columns that have one entry a mode are all that is looked at."""
    end = table.ptr[n_rows]
    sizes = {"ptr": n_rows + 1, "support": end, "weights": end}
    return replace(
        table, **{f.name: getattr(table, f.name)[: sizes.get(f.name, n_rows)] for f in fields(table)}
    )


def _shares(modes: ModeSet, n_rows: int) -> sp.csc_array:
    """The modes as columns of probabilities: hyperedges by modes."""
    end = modes.table.ptr[n_rows]
    return sp.csc_array(
        (modes.table.weights[:end], modes.table.support[:end], modes.table.ptr[: n_rows + 1]),
        shape=(modes.edge_mode.size, n_rows),
    )


def _headline(modes: ModeSet) -> str:
    n_edges, with_mode = modes.edge_mode.size, int((modes.edge_mode >= 0).sum())
    if not len(modes):
        return f"No modes in {EDGE.counted(n_edges)}: none that was looked at shares a vertex with another."
    found = f"{NOUN.counted(len(modes))} in {EDGE.counted(n_edges)}."
    rest = n_edges - with_mode
    if not rest:
        return found
    return f"{found} Without a mode, or not looked at: {quantity(rest)} ({share(rest, n_edges)})."


def _story(modes: ModeSet) -> tuple[str, ...]:
    about = (
        "A mode is a small group of hyperedges that share vertices with each other more than with anything "
        "around them. Every hyperedge climbs to the mode it belongs to; the density says how tightly a mode "
        "holds together. Modes overlap: a vertex can be in several."
    )
    if not len(modes):
        return (about,)
    counts = modes.status_counts
    good = counts.get(Status.CERTIFIED, 0)
    densities = modes.densities[np.isfinite(modes.densities)]
    said = f" Their densities: {span(densities)}." if densities.size else ""
    return (
        about,
        f"Certified as local maxima of the density, by numbers that can be checked: {quantity(good)} of "
        f"{quantity(len(modes))}.{said}",
    )


def _matrix_facts(modes: ModeSet) -> tuple[tuple[str, str], ...]:
    return (("Hyperedges", quantity(modes.edge_mode.size)), ("Vertices", "not known: found in a matrix"))


def _tree(
    modes: ModeSet, hypergraph: Hypergraph | None, shares: sp.csc_array, n_rows: int
) -> dict[str, Any] | None:
    n = min(n_rows, branches.MOST_IN_TREE)
    if hypergraph is None or n < 2:
        return None
    level = branches.between_modes(hypergraph, shares[:, :n])
    mass = np.maximum(modes.sizes[:n], 1).astype(float)
    tree = branches.tree_of(level, mass)
    if tree is None:
        return None
    own = np.where(np.isfinite(modes.densities[:n]), modes.densities[:n], 0.0)
    picture = branches.icicle(tree, np.arange(n), float(mass.min()), own)
    return picture | {
        "leaf": ["mode", "modes"],
        "unit": "hyperedges",
        "said": "Two modes join at the level m(p, q) at which they hold together, highest first; "
        "modes without anything in common join at level 0.",
        "leaves": n,
    }


def _notes(modes: ModeSet, n_rows: int, n_drawn: int, listings: tuple[Listing, ...]) -> tuple[str, ...]:
    notes = []
    if n_rows < len(modes):
        notes.append(f"The table has the {quantity(n_rows)} densest of {quantity(len(modes))} modes.")
    if n_drawn < len(modes):
        notes.append(
            f"The drawing has {NOUN.counted(n_drawn)}: the densest that do not repeat a denser "
            "one, by having more than half of their vertices in it."
        )
    if min(n_rows, branches.MOST_IN_TREE) < len(modes):
        notes.append(f"The tree is grown from the {quantity(branches.MOST_IN_TREE)} densest modes.")
    notes += missing_names(listings)
    return tuple(notes)


def missing_names(listings: tuple[Listing, ...]) -> list[str]:
    """Say where rows name fewer members than they have."""
    told = [sum(map(len, listing.rows)) for listing in listings]
    totals = [sum(listing.totals) for listing in listings]
    if told == totals:
        return []
    found = [n + sum(map(len, listing.rest)) for n, listing in zip(told, listings, strict=True)]
    knows = "the filter knows all of them" if found == totals else "the filter does not know the others"
    named = f"Rows name their strongest members, {MOST_NAMES} at most"
    return [f"{named}; the numbers count all of them, and {knows}."]
