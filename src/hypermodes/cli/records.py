"""Modes and hypergraphs as records: for JSON, for tables, and for people."""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from hypermodes.cli.terminal import amount, number, safe
from hypermodes.hypergraph import Hypergraph
from hypermodes.result import Mode, Status


def hypergraph_record(hypergraph: Hypergraph) -> dict[str, object]:
    """How large a hypergraph is."""
    return {
        "vertices": hypergraph.n_vertices,
        "hyperedges": hypergraph.n_edges,
        "incidences": int(hypergraph.incidence.nnz),
    }


def hypergraph_line(name: str, hypergraph: Hypergraph) -> str:
    """How large a hypergraph is, in one line."""
    return (
        f"{safe(name)}: {amount(hypergraph.n_vertices, 'vertex', 'vertices')}, "
        f"{amount(hypergraph.n_edges, 'hyperedge')}, {amount(hypergraph.incidence.nnz, 'incidence')}"
    )


def central_vertices(hypergraph: Hypergraph, mode: Mode) -> list[Hashable]:
    """Vertices of a mode, those with most of its mass Σ_e p_e h(v,e)/δ(e) first."""
    incidence = hypergraph.incidence
    parts = [slice(incidence.indptr[e], incidence.indptr[e + 1]) for e in mode.support]
    shares = mode.weights / hypergraph.edge_degrees[mode.support]
    members = np.concatenate([incidence.indices[part] for part in parts])
    mass = np.concatenate([incidence.data[part] * share for part, share in zip(parts, shares, strict=True)])
    vertices, place = np.unique(members, return_inverse=True)
    total = np.bincount(place, weights=mass)
    order = np.argsort(-np.round(total / total.max(), 9), kind="stable")
    return [hypergraph.vertices[int(v)] for v in vertices[order]]


def heaviest(mode: Mode, labels: Sequence[Hashable]) -> tuple[list[Hashable], list[float]]:
    """Labels of the support, those of the largest share first, and their shares."""
    order = np.argsort(-np.round(mode.weights, 9), kind="stable")
    return [labels[int(i)] for i in mode.support[order]], mode.weights[order].tolist()


def certificate_record(mode: Mode) -> dict[str, object]:
    """The numbers of a certificate and its verdicts."""
    mark = mode.certificate
    return {
        "holds": mark.holds(),
        "strict": mark.is_strict(),
        "spread": mark.spread,
        "excess": mark.excess,
        "curvature": mark.curvature,
        "ties": mark.ties,
        "tie_curvature": mark.tie_curvature,
    }


def called(labels: Sequence[Hashable], names: Mapping[Hashable, object] | None) -> Sequence[object]:
    """What vertices or hyperedges are called: their names, or their labels where they have none."""
    return labels if names is None else [names.get(label, label) for label in labels]


def mode_record(
    hypergraph: Hypergraph, mode: Mode, names: Mapping[Hashable, object] | None
) -> dict[str, object]:
    """A mode with its members and its certificate."""
    labels, shares = heaviest(mode, hypergraph.labels)
    vertices = central_vertices(hypergraph, mode)
    return {
        "density": mode.density,
        "status": mode.status.name,
        "hyperedges": labels,
        "shares": shares,
        "vertices": vertices,
        **({} if names is None else {"names": list(called(vertices, names))}),
        "certificate": certificate_record(mode),
    }


def verdict(mode: Mode) -> str:
    """What a certificate says, in few words."""
    if mode.status is not Status.CERTIFIED:
        return mode.status.name.lower().replace("_", " ")
    return "strict" if mode.certificate.is_strict() else "flat"


def certificate_line(mode: Mode) -> str:
    """What a certificate says, in a line of numbers."""
    mark = mode.certificate
    said = {
        "strict": "holds: every small move lowers the density",
        "flat": "holds: no move raises the density, some keep it",
    }.get(verdict(mode), mode.status.value)
    return (
        f"{said} (spread {mark.spread:.1e}, excess {mark.excess:.1e}, curvature {number(mark.curvature)}, "
        f"{amount(mark.ties, 'tie')})"
    )
