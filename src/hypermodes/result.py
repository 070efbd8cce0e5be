"""What comes out: a mode, many modes, and how each of them ended. Frozen, printable, saveable."""

import csv
import math
import os
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cached_property
from typing import Any, Self, overload

import numpy as np
import scipy.sparse as sp

from hypermodes import labels as names
from hypermodes.affinity import HyperedgeAffinity
from hypermodes.certificate import Certificate
from hypermodes.files import load_arrays, replacing, save_arrays
from hypermodes.hypergraph import Hypergraph
from hypermodes.json_text import json_text
from hypermodes.scalars import whole_number
from hypermodes.simplex import Point, support

_FORMAT = "hypermodes-modes-1"


class Status(Enum):
    """How a shift ended; the value is the sentence to show to people."""

    CERTIFIED = "A local maximiser of the density: Eq. (7) holds, and no direction looked at bends upwards."
    ISOLATED = "The start shares no vertex with any other hyperedge: it belongs to no mode."
    MAX_ROUNDS = "Stopped after max_rounds climbs; the certificate shows how far off it is."
    MAX_STEPS = "A climb did not settle within max_steps; the certificate shows how far off it is."
    MAX_SUPPORT = "The support reached max_support hyperedges; the certificate shows how far off it is."
    NO_ASCENT = "No step that raises the density was found, although the certificate does not hold."


@dataclass(frozen=True, eq=False)
class Mode:
    """A group of hyperedges that hold together more tightly than anything around them.

    Attributes
    ----------
    support : (m,) int64
        Its hyperedges, sorted.
    weights : (m,) float
        Their probabilities p > 0, in the same order; they sum to 1.
    certificate : Certificate
        Numbers that show why it is a mode, or how far it is from one.
    status : Status
        How the shift ended.
    rounds, steps : int
        Climbs, and steps inside them, that it took.
    """

    support: np.ndarray
    weights: np.ndarray
    certificate: Certificate
    status: Status
    rounds: int
    steps: int

    @classmethod
    def from_point(
        cls, point: Point, certificate: Certificate, status: Status, rounds: int, steps: int
    ) -> Self:
        """Keep the support of a point."""
        inside = support(point.p).astype(np.int64)
        weights = point.p[inside]
        inside.flags.writeable = weights.flags.writeable = False
        return cls(inside, weights, certificate, status, rounds, steps)

    @property
    def density(self) -> float:
        """F(p) of the mode."""
        return self.certificate.density

    def distribution(self, n: int) -> np.ndarray:
        """The mode as a distribution p over all n hyperedges."""
        p = np.zeros(n)
        p[self.support] = self.weights
        return p

    def among(self, numbers: np.ndarray) -> "Mode":
        """The same mode where hyperedge i goes by the i-th of some numbers."""
        support = numbers[self.support].astype(np.int64)
        order = np.argsort(support)
        support, weights = support[order], self.weights[order]
        support.flags.writeable = weights.flags.writeable = False
        worst = self.certificate.worst_edge
        certificate = replace(self.certificate, worst_edge=int(numbers[worst]) if worst >= 0 else -1)
        return replace(self, support=support, weights=weights, certificate=certificate)

    def __len__(self) -> int:
        return int(self.support.size)

    def __repr__(self) -> str:
        return (
            f"Mode({counted(len(self), 'hyperedge')}, density {self.density:.6g}, {self.status.name}, "
            f"{counted(self.rounds, 'round')}, {counted(self.steps, 'step')})"
        )


@dataclass(frozen=True, eq=False)
class ModeTable:
    """Modes as columns: mode k has support[ptr[k]:ptr[k+1]], and one entry in every other column."""

    ptr: np.ndarray
    support: np.ndarray
    weights: np.ndarray
    density: np.ndarray
    spread: np.ndarray
    excess: np.ndarray
    worst_edge: np.ndarray
    curvature: np.ndarray
    ties: np.ndarray
    tie_curvature: np.ndarray
    tol: np.ndarray
    status: np.ndarray
    rounds: np.ndarray
    steps: np.ndarray

    def __post_init__(self) -> None:
        for field in fields(self):
            getattr(self, field.name).flags.writeable = False

    @classmethod
    def of(cls, modes: Iterable[Mode]) -> Self:
        """Lay modes out as columns."""
        modes = list(modes)
        sizes = [len(mode) for mode in modes]
        certificates = [mode.certificate for mode in modes]
        columns: dict[str, Any] = {
            field.name: np.array([getattr(one, field.name) for one in certificates], dtype=kind)
            for field in fields(Certificate)
            for kind in (int if field.name in ("worst_edge", "ties") else float,)
        }
        return cls(
            ptr=np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
            support=np.concatenate([np.empty(0, np.int64), *(mode.support for mode in modes)]),
            weights=np.concatenate([np.empty(0), *(mode.weights for mode in modes)]),
            status=np.array([mode.status.name for mode in modes], dtype="U12"),
            rounds=np.array([mode.rounds for mode in modes], dtype=np.int64),
            steps=np.array([mode.steps for mode in modes], dtype=np.int64),
            **columns,
        )

    @property
    def holds(self) -> np.ndarray:
        """Which certificates hold, as `Certificate.holds` says."""
        worst = np.maximum.reduce([self.spread, self.excess, self.curvature, self.tie_curvature])
        return (self.density > 0) & (worst <= self.tol * self.density)

    def mode(self, k: int) -> Mode:
        """Mode k as an object."""
        part = slice(self.ptr[k], self.ptr[k + 1])
        certificate = Certificate(*(getattr(self, field.name)[k].item() for field in fields(Certificate)))
        status = Status[str(self.status[k])]
        return Mode(
            self.support[part],
            self.weights[part],
            certificate,
            status,
            int(self.rounds[k]),
            int(self.steps[k]),
        )


@dataclass(frozen=True, eq=False)
class ModeSet:
    """Modes ranked by density, and which of them each hyperedge shifts to.

    A sequence of `Mode`: ``modes[0]`` is the densest. They are kept as columns (`table`), so that a million
    starts cost no million objects.

    Attributes
    ----------
    table : ModeTable
        The modes, densest first.
    edge_mode : (n_edges,) int64
        Position of the mode each hyperedge shifted to; -1 if it belongs to none, or was not a start.
    hypergraph : Hypergraph or None
        Where they were found, for vertices and labels; None for a matrix.
    """

    table: ModeTable
    edge_mode: np.ndarray
    hypergraph: Hypergraph | None = None

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """All modes as objects."""
        return tuple(self.table.mode(k) for k in range(len(self)))

    @cached_property
    def sizes(self) -> np.ndarray:
        """How many hyperedges shift to each mode."""
        return np.bincount(self.edge_mode[self.edge_mode >= 0], minlength=len(self))

    @property
    def densities(self) -> np.ndarray:
        """Density of each mode, falling."""
        return self.table.density

    @property
    def status_counts(self) -> dict[Status, int]:
        """How many modes ended in which way."""
        counts = Counter(self.table.status.tolist())
        return {status: counts[status.name] for status in Status if counts[status.name]}

    def members(self, k: int) -> np.ndarray:
        """Hyperedges that shift to mode ``k``, sorted; its support is where they meet."""
        order, ends = self._by_mode
        k = self._rank(k)
        return order[ends[k] : ends[k + 1]]

    @cached_property
    def _by_mode(self) -> tuple[np.ndarray, np.ndarray]:
        """Hyperedges sorted by mode, and where each mode begins among them."""
        order = np.argsort(self.edge_mode, kind="stable")
        return order, np.searchsorted(self.edge_mode[order], np.arange(len(self) + 1))

    def vertices(self, k: int) -> tuple[Hashable, ...]:
        """Vertices of the hyperedges in the support of mode ``k``."""
        hypergraph = self._needs_hypergraph("vertices")
        mode = self[k]
        return tuple(
            hypergraph.vertices[int(v)] for v in np.unique(hypergraph.incidence[:, mode.support].indices)
        )

    def labels(self, k: int) -> tuple[Hashable, ...]:
        """Labels of the hyperedges in the support of mode ``k``."""
        labels = self._needs_hypergraph("labels").labels
        return tuple(labels[int(i)] for i in self[k].support)

    @property
    def outliers(self) -> np.ndarray:
        """Hyperedges that shifted to no mode (they meet no other), or were no starts."""
        return np.flatnonzero(self.edge_mode < 0)

    def edge_strengths(self, k: int) -> np.ndarray:
        """How strongly each hyperedge belongs to mode ``k``: m(p, I_j) / F.

        1 for those in the support, 0 for those that share no vertex with it; never more than 1 where the mode
        is certified, Eq. (7).
        """
        affinity = HyperedgeAffinity(self._needs_hypergraph("edge_strengths"))
        mode = self[k]
        payoff: np.ndarray = affinity.matvec(mode.distribution(affinity.n))
        return np.maximum(payoff, 0.0) / mode.density

    def vertex_strengths(self, k: int) -> np.ndarray:
        """How strongly each vertex belongs to mode ``k``: its share of the mass, Σ_e p(e) h(v,e)/δ(e).

        They sum to 1.
        """
        hypergraph = self._needs_hypergraph("vertex_strengths")
        mode = self[k]
        shares = np.zeros(hypergraph.n_edges)
        shares[mode.support] = mode.weights / hypergraph.edge_degrees[mode.support]
        return np.asarray(hypergraph.incidence @ shares)

    def distinct(self, k: int) -> tuple[int, ...]:
        """Ranks of the k densest modes that do not repeat each other; fewer if there are not so many.

        A mode repeats a denser one if more than half of its vertex mass (`vertex_strengths`) is also that
        one's: Σ_v min(μ, μ') > 1/2. In a matrix, where there are no vertices, the same of its items.
        """
        k = whole_number("k", k, "how many modes, 1 or more")
        kept: list[int] = []
        holders: dict[int, list[tuple[int, float]]] = {}  # of a vertex: the kept modes and their mass there
        for rank, mode in enumerate(self):
            places, mass = self._masses(mode)
            common: dict[int, float] = defaultdict(float)
            for place, share in zip(places.tolist(), mass.tolist(), strict=True):
                for holder, theirs in holders.get(place, ()):
                    common[holder] += min(share, theirs)
            if all(shared <= 0.5 + 1e-9 for shared in common.values()):
                kept.append(rank)
                if len(kept) == k:
                    break
                for place, share in zip(places.tolist(), mass.tolist(), strict=True):
                    holders.setdefault(place, []).append((rank, share))
        return tuple(kept)

    def _masses(self, mode: Mode) -> tuple[np.ndarray, np.ndarray]:
        """Where a mode has mass, and how much: on vertices, or on items of a matrix."""
        if self.hypergraph is None:
            return mode.support, mode.weights
        part = self.hypergraph.incidence[:, mode.support]
        shares = np.repeat(mode.weights / self.hypergraph.edge_degrees[mode.support], np.diff(part.indptr))
        places, which = np.unique(part.indices, return_inverse=True)
        return places, np.bincount(which, weights=shares * part.data)

    def mode_of(self, label: Hashable) -> Mode | None:
        """The mode a hyperedge shifted to, by label (by position for a matrix); None if it has none."""
        if self.hypergraph is None:
            position = names.position(range(self.edge_mode.size), None, label, "hyperedge")
        else:
            position = self.hypergraph.edge_index(label)
        k = int(self.edge_mode[position])
        return self[k] if k >= 0 else None

    def _needs_hypergraph(self, what: str) -> Hypergraph:
        if self.hypergraph is None:
            raise ValueError(
                f"{what}: these modes were found in a matrix, or loaded without their hypergraph; "
                "in that case use ModeSet.load(path, hypergraph)"
            )
        return self.hypergraph

    def __len__(self) -> int:
        return int(self.table.density.size)

    def __iter__(self) -> Iterator[Mode]:
        return (self.table.mode(k) for k in range(len(self)))

    @overload
    def __getitem__(self, k: int) -> Mode: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Mode, ...]: ...
    def __getitem__(self, k: int | slice) -> Mode | tuple[Mode, ...]:
        if isinstance(k, slice):
            return tuple(self.table.mode(i) for i in range(len(self))[k])
        return self.table.mode(self._rank(k))

    def _rank(self, k: int) -> int:
        """Position of a mode counted from either end."""
        last, what = len(self) - 1, f"the rank of a mode, 0 … {len(self) - 1}"
        k = whole_number("k", k, what, least=-len(self), most=last, error=IndexError)
        return k % len(self)

    def __repr__(self) -> str:
        with_mode = int((self.edge_mode >= 0).sum())
        span = f", densities {self.densities[0]:.4g} to {self.densities[-1]:.4g}" if len(self) else ""
        others = ", ".join(
            f"{n} {status.name}" for status, n in self.status_counts.items() if status is not Status.CERTIFIED
        )
        return (
            f"ModeSet({counted(len(self), 'mode')} of {with_mode} of "
            f"{counted(self.edge_mode.size, 'hyperedge')}{span}{f', {others}' if others else ''})"
        )

    # -- keeping and passing on -------------------------------------------------------------------

    def to_columns(self) -> dict[str, list[Any]]:
        """One entry a mode and column, ready for a data frame: ``pandas.DataFrame(modes.to_columns())``."""
        columns: dict[str, list[Any]] = {
            "mode": list(range(len(self))),
            "density": self.densities.tolist(),
            "hyperedges": np.diff(self.table.ptr).tolist(),
            "starts": self.sizes.tolist(),
        }
        for name in ("status", "spread", "excess", "curvature", "ties", "tie_curvature", "rounds", "steps"):
            columns[name] = getattr(self.table, name).tolist()
        if self.hypergraph is not None:
            incidence = self.hypergraph.incidence
            columns["vertices"] = [np.unique(incidence[:, mode.support].indices).size for mode in self]
        return columns

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line a mode."""
        columns = self.to_columns()
        with replacing(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the modes with their hyperedges and shares, and the mode of each hyperedge."""
        labels = range(self.edge_mode.size) if self.hypergraph is None else self.hypergraph.labels
        columns = self.to_columns()
        modes = [{name: _finite(values[k]) for name, values in columns.items()} for k in range(len(self))]
        for record, mode in zip(modes, self, strict=True):
            record["support"] = [plain(labels[int(i)]) for i in mode.support]
            record["weights"] = mode.weights.tolist()
        content = {"modes": modes, "edge_mode": self.edge_mode.tolist(), "edges": [plain(x) for x in labels]}
        with replacing(path) as temporary:
            temporary.write_text(json_text(content), encoding="utf-8")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one ``.npz`` file, all at once or not at all; the hypergraph is saved on its own."""
        columns = {field.name: getattr(self.table, field.name) for field in fields(ModeTable)}
        save_arrays(path, _FORMAT, {**columns, "edge_mode": self.edge_mode})

    @classmethod
    def load(cls, path: str | os.PathLike[str], hypergraph: Hypergraph | None = None) -> Self:
        """Read what `save` wrote; give the hypergraph to have vertices and labels. Nothing is unpickled."""
        return load_arrays(
            path, _FORMAT, "a set of modes", (*(field.name for field in fields(ModeTable)), "edge_mode"),
            lambda stored: cls._from_arrays(stored, hypergraph),
        )  # fmt: skip

    @classmethod
    def _from_arrays(cls, stored: dict[str, np.ndarray], hypergraph: Hypergraph | None) -> Self:
        table = ModeTable(**{field.name: stored[field.name] for field in fields(ModeTable)})
        edge_mode = stored["edge_mode"]
        n, total = table.density.size, edge_mode.size
        for name, column in vars(table).items():
            entries = {"ptr": n + 1, "support": table.support.size, "weights": table.support.size}.get(
                name, n
            )
            if column.shape != (entries,):
                raise ValueError(f"{name} has shape {column.shape}, expected {(entries,)}")
        for name, column in [*vars(table).items(), ("edge_mode", edge_mode)]:
            kind, kinds = ("U", "text") if name == "status" else ("i", "integers")
            if name in _REAL:
                kind, kinds = "f", "numbers"
            if column.dtype.kind != kind:
                raise ValueError(f"{name} does not hold {kinds}")
        if edge_mode.ndim != 1:
            raise ValueError("edge_mode is no list")
        if (
            table.ptr[0] != 0
            or table.ptr[-1] != table.support.size
            or (table.ptr[1:] <= table.ptr[:-1]).any()
        ):
            raise ValueError("the supports do not fit together")
        for values, low, high in ((table.support, 0, total), (edge_mode, -1, n)):
            if values.size and not (values.min() >= low and values.max() < high):
                raise ValueError(f"found an index outside {low} … {high - 1}")
        _check_numbers(table, total)
        if hypergraph is not None and hypergraph.n_edges != total:
            raise ValueError(
                f"they belong to {total} hyperedges, the hypergraph given has {hypergraph.n_edges}"
            )
        if hypergraph is not None and not _are_densities(table, hypergraph):
            raise ValueError("the densities are not those of the shares in the hypergraph given")
        edge_mode.flags.writeable = False
        return cls(table, edge_mode, hypergraph)


_REAL = ("weights", "density", "spread", "excess", "curvature", "tie_curvature", "tol")
_ROUNDING = 1e-9  # by which shares may miss 1, and densities what is computed from them


def _check_numbers(table: ModeTable, n_edges: int) -> None:
    """See that columns of the right types and lengths hold what modes can have."""
    rising, begins = np.diff(table.support) > 0, table.ptr[:-1]
    rising[begins[1:] - 1] = True  # between modes they may fall
    totals = np.add.reduceat(table.weights, begins) if begins.size else begins
    if not rising.all() or not (table.weights > 0).all() or not (abs(totals - 1) <= _ROUNDING).all():
        raise ValueError("found shares that are no probabilities of different hyperedges")
    for name in ("density", "spread", "excess", "ties", "tol", "rounds", "steps"):
        column = getattr(table, name)
        if not (np.isfinite(column) & (column >= 0)).all():
            raise ValueError(f"{name}: found others than numbers, 0 or more")
    if ((table.worst_edge < -1) | (table.worst_edge >= n_edges)).any():
        raise ValueError("worst_edge: found others than hyperedges, or -1")
    if not set(table.status.tolist()) <= {status.name for status in Status}:
        raise ValueError("found an unknown status")
    if not table.holds[table.status == Status.CERTIFIED.name].all():
        raise ValueError("found a certified mode whose certificate does not hold")


def _are_densities(table: ModeTable, hypergraph: Hypergraph) -> bool:
    """Whether densities are pᵀMp = 2 (Bp)ᵀ(B(r∘p)) - 2 Σ r|e|p², Eq. (2) and (3); B is the 0/1 incidence."""
    rate = HyperedgeAffinity(hypergraph).rate[table.support]
    rows = hypergraph.incidence[:, table.support]
    sizes = np.diff(rows.indptr)
    mode = np.repeat(np.arange(table.density.size), np.diff(table.ptr))
    shape = (hypergraph.n_vertices, table.density.size)

    def at_vertices(shares: np.ndarray) -> sp.csr_array:
        return sp.coo_array(
            (np.repeat(shares, sizes), (rows.indices, np.repeat(mode, sizes))), shape=shape
        ).tocsr()

    both = 2 * at_vertices(table.weights).multiply(at_vertices(rate * table.weights)).sum(axis=0)
    own = 2 * np.bincount(mode, rate * sizes * table.weights**2, minlength=table.density.size)
    return bool((abs(both - own - table.density) <= _ROUNDING * table.density + 1e-12 * both).all())


def counted(n: int, noun: str) -> str:
    """Write a count with its noun: 1 mode, 2 modes."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def plain(label: Hashable) -> object:
    """A label as JSON has it: text, numbers, truth values and None as they are, anything else as text.

    Infinities and what is no number are text as well.
    """
    is_plain = isinstance(label, str | int) or (isinstance(label, float) and math.isfinite(label))
    return label if label is None or is_plain else str(label)


def _finite(value: object) -> object:
    """JSON has no infinities: what was not there or not examined is null."""
    return None if isinstance(value, float) and not np.isfinite(value) else value
