"""What comes out: a mode, many modes, and how each of them ended. Frozen and printable."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Self

import numpy as np

from hypermodes.certificate import Certificate
from hypermodes.simplex import Point, support


class Status(Enum):
    """How a shift ended; the value is the sentence to show to people."""

    CERTIFIED = "A local maximiser of the density: no small move, inside the support or outward, raises it."
    ISOLATED = "The start shares no vertex with any other hyperedge: it belongs to no mode."
    MAX_ROUNDS = "Stopped after max_rounds expansions; the certificate shows how far off it is."
    MAX_STEPS = "A climb ran out of max_steps; the certificate shows how far off it is."
    NO_ASCENT = "The expansion found no step to make although the certificate does not hold."


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

    def __len__(self) -> int:
        return int(self.support.size)

    def __repr__(self) -> str:
        return (
            f"Mode({counted(len(self), 'hyperedge')}, density {self.density:.6g}, {self.status.name}, "
            f"{counted(self.rounds, 'round')}, {counted(self.steps, 'step')})"
        )


@dataclass(frozen=True, eq=False)
class ModeSet:
    """Modes ranked by density, and which of them each hyperedge shifts to.

    Attributes
    ----------
    modes : tuple of Mode
        Densest first.
    edge_mode : (n_edges,) int64
        Position in ``modes`` of the mode each hyperedge shifted to; -1 if it belongs to none, or was
        not a start.
    """

    modes: tuple[Mode, ...]
    edge_mode: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """How many hyperedges shift to each mode."""
        return np.bincount(self.edge_mode[self.edge_mode >= 0], minlength=len(self.modes))

    @property
    def densities(self) -> np.ndarray:
        """Density of each mode, falling."""
        return np.array([mode.density for mode in self.modes])

    def members(self, k: int) -> np.ndarray:
        """Hyperedges that shift to mode ``k``, sorted; its support is where they meet."""
        return np.flatnonzero(self.edge_mode == range(len(self.modes))[k])

    def __len__(self) -> int:
        return len(self.modes)

    def __iter__(self) -> Iterator[Mode]:
        return iter(self.modes)

    def __getitem__(self, k: int) -> Mode:
        return self.modes[k]

    def __repr__(self) -> str:
        with_mode = int((self.edge_mode >= 0).sum())
        open_ones = sum(mode.status is not Status.CERTIFIED for mode in self.modes)
        span = f", densities {self[0].density:.4g} to {self[-1].density:.4g}" if self.modes else ""
        note = f", {open_ones} not certified" if open_ones else ""
        return (
            f"ModeSet({counted(len(self), 'mode')} of {with_mode} of "
            f"{counted(self.edge_mode.size, 'hyperedge')}{span}{note})"
        )


def counted(n: int, noun: str) -> str:
    """Write a count with its noun: 1 mode, 2 modes."""
    return f"{n} {noun}{'' if n == 1 else 's'}"
