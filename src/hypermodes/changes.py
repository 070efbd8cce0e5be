"""What changes from one set of modes to another: which stay, which change, which vanish, which appear."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hypermodes import labels as names
from hypermodes.modes import find_modes
from hypermodes.result import ModeSet, counted
from hypermodes.scalars import shown

GONE = -2  # the counterpart of what has none
SAME = 1e-6  # modes whose shares and densities differ by less are the same


@dataclass(frozen=True, eq=False)
class Changes:
    """Modes before and after, by rank.

    Attributes
    ----------
    before, after : ModeSet
        What is compared.
    stayed : tuple of (int, int)
        Ranks before and after of modes with the same hyperedges, shares and density.
    changed : tuple of (int, int)
        Of modes that keep more than half of their mass: Σ_e min(p(e), p'(e)) > 1/2.
    vanished, appeared : tuple of int
        Ranks, before and after, of modes that have no counterpart.
    moved : tuple of labels
        Hyperedges of both whose mode before is not the counterpart of their mode after.
    """

    before: ModeSet
    after: ModeSet
    stayed: tuple[tuple[int, int], ...]
    changed: tuple[tuple[int, int], ...]
    vanished: tuple[int, ...]
    appeared: tuple[int, ...]
    moved: tuple[Hashable, ...]

    def __repr__(self) -> str:
        return (
            f"Changes({counted(len(self.before), 'mode')} -> {len(self.after)}: {len(self.stayed)} stayed, "
            f"{len(self.changed)} changed, {len(self.vanished)} vanished, {len(self.appeared)} appeared; "
            f"{counted(len(self.moved), 'hyperedge')} moved)"
        )


def compare(before: ModeSet, after: ModeSet) -> Changes:
    """Compare two sets of modes of hypergraphs with labels in common.

    Counterparts share more than half of their mass, so no mode has two.

    Examples
    --------
    >>> from hypermodes import Hypergraph
    >>> H = Hypergraph.from_edges({"a": [1, 2, 3], "b": [2, 3, 4], "c": [1, 3, 4], "d": [5, 6], "e": [6, 7]})
    >>> removal(find_modes(H), ["e"])
    Changes(2 modes -> 1: 1 stayed, 0 changed, 1 vanished, 0 appeared; 1 hyperedge moved)
    """
    for name, modes in (("before", before), ("after", after)):
        if not isinstance(modes, ModeSet):
            raise ValueError(f"{name}: expected a ModeSet; got {shown(modes)}")
    old, new = _labels(before), _labels(after)
    place = {label: i for i, label in enumerate(new)}
    twin = np.array([place.get(label, -1) for label in old], dtype=np.int64)  # position after, of each before
    holders: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for j, mode in enumerate(after):
        for edge, share in zip(mode.support.tolist(), mode.weights.tolist(), strict=True):
            holders[edge].append((j, share))
    counterpart: dict[int, int] = {-1: -1}  # who had no mode and has none has not moved
    stayed: list[tuple[int, int]] = []
    changed: list[tuple[int, int]] = []
    for i, mode in enumerate(before):
        common: dict[int, float] = defaultdict(float)
        for edge, share in zip(twin[mode.support].tolist(), mode.weights.tolist(), strict=True):
            for j, theirs in holders.get(edge, ()):
                common[j] += min(share, theirs)
        j, most = max(common.items(), key=lambda pair: pair[1], default=(-1, 0.0))
        if most <= 0.5 + SAME:
            continue
        counterpart[i] = j
        equal = abs(after.densities[j] - mode.density) <= SAME * mode.density
        (stayed if equal and most >= 1 - SAME else changed).append((i, j))
    moved = [
        old[e]
        for e in np.flatnonzero(twin >= 0).tolist()
        if counterpart.get(int(before.edge_mode[e]), GONE) != after.edge_mode[twin[e]]
    ]
    appeared = set(range(len(after))).difference(counterpart.values())
    return Changes(
        before, after, tuple(stayed), tuple(changed),
        tuple(i for i in range(len(before)) if i not in counterpart), tuple(sorted(appeared)), tuple(moved),
    )  # fmt: skip


def removal(modes: ModeSet, edges: Iterable[Hashable], **options: Any) -> Changes:
    """What becomes of the modes when some hyperedges, by label, are taken out; all are found again.

    ``options`` are those of `find_modes`.
    """
    if not isinstance(modes, ModeSet):
        raise ValueError(f"modes: expected the ModeSet of a hypergraph; got {shown(modes)}")
    if modes.hypergraph is None:
        raise ValueError("modes: expected modes of a hypergraph; these were found in a matrix")
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise ValueError(f"edges: expected labels of hyperedges to remove; got {edges!r}")
    hypergraph = modes.hypergraph
    gone = {hypergraph.edge_index(label) for label in edges}
    kept = [label for i, label in enumerate(hypergraph.labels) if i not in gone]
    if not kept:
        raise ValueError("edges: expected some hyperedges to stay; all are to be removed")
    return compare(modes, find_modes(hypergraph.subset(kept), **options))


def _labels(modes: ModeSet) -> names.Labels:
    return range(modes.edge_mode.size) if modes.hypergraph is None else modes.hypergraph.labels
