"""Expansion by probabilistic voting: which hyperedges to let in next, and how far to go. Eq. (9)-(13).

When the mode of a subhypergraph is not the mode of the whole, some hyperedges outside would raise the
density. Those that meet its dominant seeds get the most votes, and the point moves towards them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hypermodes.affinity import Affinity
from hypermodes.scalars import whole_number
from hypermodes.simplex import Point, density, room, support


class Expansion(Protocol):
    """What `shift` asks of an expansion."""

    @property
    def max_support(self) -> int:
        """Size of a support that is not to be expanded any further."""

    def expand(self, affinity: Affinity, point: Point, tol: float) -> Point | None:
        """Let hyperedges outside the support in; None if no step can be made."""


# -- dominant seeds -----------------------------------------------------------------------------------


def average_weighted_degree(affinity: Affinity, subset: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """g_S(e_k), Eq. (9): the mean affinity of each of ``edges`` to the members of S."""
    return affinity.block(np.asarray(edges), np.asarray(subset)).mean(axis=1)


def relative_closeness(affinity: Affinity, subset: np.ndarray, i: int, j: int) -> float:
    """ψ_S(e_i, e_j), Eq. (10): affinity of e_j to e_i, compared with what e_i is used to inside S."""
    own = average_weighted_degree(affinity, subset, np.array([i]))[0]
    return float(affinity.block(np.array([i]), np.array([j]))[0, 0] - own)


def closeness(affinity: Affinity, subset: np.ndarray) -> np.ndarray:
    """p(e_i|S), Eq. (11)-(12): the share of each hyperedge in the cohesion of S.

    The recursion for w_S visits every subset of S. Its result does not need it: the shares solve

        [ 0  1ᵀ ] [-λ]   [1]
        [ 1 M_S ] [ x] = [0],

    so that x is M_S⁻¹1 scaled to sum 1 [PP07]. Entries may be negative when S is not a dominant set,
    and the system is singular when S is flat; see departures.md#closeness.

    Notes
    -----
    One dense solve, O(|S|³). ``tests/oracles.py`` has the recursion.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the shares are not determined: W(S) = 0.
    """
    subset = np.asarray(subset)
    m = subset.size
    face = affinity.restrict(subset)
    scale = face.max() or 1.0
    bordered = np.zeros((m + 1, m + 1))
    bordered[0, 1:] = bordered[1:, 0] = 1.0
    bordered[1:, 1:] = face / scale
    if np.linalg.cond(bordered) > 1e14:
        raise np.linalg.LinAlgError(
            f"subset: the closeness of these {m} hyperedges is not determined, W(S) = 0"
        )
    return np.linalg.solve(bordered, np.eye(m + 1)[0])[1:]


def votes(affinity: Affinity, point: Point, candidates: np.ndarray) -> np.ndarray:
    """Σ p(e_j|S) over the members e_j of the mode that meet a candidate: the mode mass it touches.

    At a converged mode the closeness p(e_j|S) of Eq. (12) *is* p_j, so no solve is needed
    (departures.md#closeness).
    """
    seeds = support(point.p)
    parts = np.array_split(candidates, 1 + candidates.size * seeds.size // 10**7)  # blocks of some 80 MB
    return np.concatenate([(affinity.block(part, seeds) > 0) @ point.p[seeds] for part in parts])


# -- the repaired step, which is the default ----------------------------------------------------------


def proportional(p: np.ndarray) -> np.ndarray:
    """Take mass from the members of a mode in proportion to what they have."""
    return p


def sparing_seeds(p: np.ndarray) -> np.ndarray:
    """Take mass in proportion to 1 - p, as the paper wishes: the strongest members give least."""
    return (1 - p) / (1 - p).sum() if p.size > 1 else p


def direction(
    affinity: Affinity,
    point: Point,
    candidates: np.ndarray,
    retreat: Callable[[np.ndarray], np.ndarray] = proportional,
) -> np.ndarray:
    """h: towards the candidates by vote and by gain, away from the present members; Σh = 0.

        γ_i = votes_i · ((Mp)_i - F) outside,   -Σγ · q on the support,   Σq = 1.

    With q from ``retreat``. The paper prints p_i - 1 on the support, which leaves the simplex
    (departures.md#direction).
    """
    seeds = support(point.p)
    gain = votes(affinity, point, candidates) * (point.payoff[candidates] - density(point))
    h = np.zeros(affinity.n)
    h[candidates] = gain / gain.sum()  # the length of h does not matter, its size does: Σγ = 1
    h[seeds] = -retreat(point.p[seeds])
    return h


def step_length(slope: float, bend: float, furthest: float) -> float:
    """c*: where Q(c) = F(p + ch) - F(p) = c²η + 2c pᵀMh is largest on [0, furthest], Eq. (13).

    ``slope`` is pᵀMh and ``bend`` is η = hᵀMh. The paper prints pᵀMh/λ (departures.md#step).
    """
    return furthest if bend >= 0 else min(furthest, -slope / bend)


@dataclass(frozen=True)
class Voting:
    """Expansion by probabilistic voting, repaired: the step stays on the simplex and raises F.

    Parameters
    ----------
    admit : int or None
        At most this many hyperedges are let in at once, those with the strongest vote times gain
        first; the next mode test catches the others. Keeps faces small where thousands would do, at
        a price: on a contact network with 250 neighbours a hyperedge, letting in 64 found modes 4 %
        less dense on average than letting in all.
    max_support : int
        A support of this many hyperedges is not expanded any further: the shift ends with MAX_SUPPORT.
    retreat : function
        Who gives up mass: `proportional` (default) or `sparing_seeds`.
    """

    admit: int | None = 256
    max_support: int = 512
    retreat: Callable[[np.ndarray], np.ndarray] = proportional

    def __post_init__(self) -> None:
        if self.admit is not None:
            whole_number("admit", self.admit, "a positive number of hyperedges or None")
        whole_number("max_support", self.max_support, "a positive number of hyperedges")
        if not callable(self.retreat):
            raise ValueError(f"retreat: expected proportional or sparing_seeds; got {self.retreat!r}")

    def expand(self, affinity: Affinity, point: Point, tol: float) -> Point | None:
        """Move to p + c*h; None if no hyperedge outside has a payoff above (1 + tol) F."""
        candidates = violators(point, tol)
        if candidates.size == 0:
            return None
        if self.admit is not None and candidates.size > self.admit:
            gain = point.payoff[candidates] - density(point)
            # To nine digits: what is equal but for rounding goes by index, in this layer and the fast one.
            strength = np.floor(votes(affinity, point, candidates) * gain / gain.max() * 1e9 + 0.5)
            candidates = np.sort(candidates[np.argsort(-strength, kind="stable")[: self.admit]])
        h = direction(affinity, point, candidates, self.retreat)
        payoff_h = affinity.matvec(h)
        furthest, _ = room(point.p, h)
        if density(point) == 0:
            furthest /= 2  # a start keeps half its mass, or it could drop out at once (departures.md#start)
        slope = float(h @ point.payoff)
        if slope <= 0:  # possible with sparing_seeds where the climb left the members unequal
            return None
        c = step_length(slope, float(h @ payoff_h), furthest)
        p = np.maximum(point.p + c * h, 0.0)
        p /= p.sum()
        return Point(p, affinity.matvec(p))


def violators(point: Point, tol: float) -> np.ndarray:
    """Hyperedges that break Eq. (7): outside the support with a payoff above the density."""
    value = density(point)
    return np.flatnonzero((point.p == 0) & (point.payoff > value * (1 + tol)))


# -- the step as printed, for study -------------------------------------------------------------------


def printed_direction(affinity: Affinity, point: Point) -> np.ndarray:
    """h as printed: p_i - 1 on the support, votes times gain outside. Its sum is not 0."""
    h = np.where(point.p > 0, point.p - 1, 0.0)
    candidates = violators(point, 0.0)
    if candidates.size:
        gain = point.payoff[candidates] - density(point)
        h[candidates] = votes(affinity, point, candidates) * gain
    return h


def printed_step_length(point: Point, h: np.ndarray) -> float:
    """c* as printed: min(pᵀMh/λ, min_i p_i/(1-p_i)), with λ = F(p). Without a finite value at F = 0."""
    inside = point.p[point.p > 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        printed = np.float64(h @ point.payoff) / np.float64(density(point))
        return float(np.minimum(printed, (inside / (1 - inside)).min()))


@dataclass(frozen=True)
class PrintedVoting:
    """The expansion exactly as printed, then scaled back onto the simplex; for study, not for use.

    The direction is not tangent to the simplex and the step may be negative; F may fall. Where the
    printed step cannot be made at all, `expand` gives None and the shift ends with NO_ASCENT.
    """

    max_support: int = 2**31

    def expand(self, affinity: Affinity, point: Point, tol: float) -> Point | None:
        """Move to p + c*h as printed and divide by the sum; None if c* ≤ 0 or is undefined."""
        h = printed_direction(affinity, point)
        c = printed_step_length(point, h)
        if not c > 0 or not np.isfinite(c):
            return None
        p = np.maximum(point.p + c * h, 0.0)
        if not p.sum() > 0:
            return None
        p /= p.sum()
        return Point(p, affinity.matvec(p))
