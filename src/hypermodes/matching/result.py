"""The answer: one-to-one pairs, and why."""

from dataclasses import dataclass

import numpy as np

from hypermodes.certificate import Certificate
from hypermodes.construct.correspondences import Candidates
from hypermodes.result import Mode, ModeSet, counted


@dataclass(frozen=True, eq=False)
class Matching:
    """Pairs of points that correspond, one-to-one, and why.

    Attributes
    ----------
    pairs : (k, 2) int64
        Left point, right point; sorted.
    scores : (k,) float
        How well each pair goes together with the mode, in [0, 1].
    core : (c, 2) int64
        The pairs the mode itself stands behind: neighbours that agree with each other and lie where all
        others put them. Sorted; each of them is among `pairs`.
    unmatched_left, unmatched_right : int64 arrays
        Points in no pair, sorted.
    modes : ModeSet or None
        Modes of the hypergraph of neighbouring matches; the densest is the one behind `core`. None if no two
        candidates were consistent.
    score : float
        How consistent the core is with itself beyond chance, in [0, 1]: (F - F₀)/(1 - F₀), where F is the
        mean affinity within the mode and F₀ that of the best mode when one side is scrambled. About 0 if
        there is no structure in common; below 0.2 no pairs are returned unless a number was asked for.
        For matches of one exact map, E/(1 + E), with E the logarithm of how much more probable they are by
        the map than by chance. For an affinity of one's own, F is in units of its largest entry, and F₀ is 0.
    candidates : Candidates
        What was chosen from; vertices of the hypergraph are positions among them.
    """

    pairs: np.ndarray
    scores: np.ndarray
    core: np.ndarray
    unmatched_left: np.ndarray
    unmatched_right: np.ndarray
    modes: ModeSet | None
    score: float
    candidates: Candidates

    @property
    def mode(self) -> Mode | None:
        """The mode behind the core."""
        return self.modes[0] if self.modes else None

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of that mode."""
        mode = self.mode
        return None if mode is None else mode.certificate

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return (
            f"Matching({counted(len(self), 'pair')} of {self.candidates.n_left} and "
            f"{self.candidates.n_right} points, {len(self.core)} in the core, score {self.score:.3g})"
        )
