"""Climbing inside a subhypergraph: replicator dynamics Eq. (8), and two faster rules with the same goal.

A rule is a value with options and a `step` that maps a point to a better one; `climb` is the one loop
that runs them all. They work on the face M_S of a support S, where p is as long as S.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from hypermodes.affinity import DENSE_FACE, Affinity, Face, face_of
from hypermodes.certificate import bending, check_tolerance
from hypermodes.scalars import whole_number
from hypermodes.simplex import Point, density, excess, negligible, room, spread, support, trimmed

_DUST = 1e-12  # shares this far below the largest are rounding of an exact solve
_NEAR = 10  # times √tol, of the largest: shares that a climb, which stops at √tol, may leave on a flat face
_REFRESH = 1000  # steps between two fresh products: a rule may update the payoff incrementally


class Dynamics(Protocol):
    """What `climb` asks of a rule."""

    @property
    def tol(self) -> float:
        """Tolerance relative to the density, shared by climb, trim and certificate."""

    @property
    def max_steps(self) -> int:
        """Budget of steps of one climb."""

    def at_rest(self, point: Point) -> bool:
        """Whether the certificate's own residual is within tol·F, as far as this rule can bring it."""

    def step(self, point: Point, face: Face) -> Point:
        """Return a point of no lower density; the same object if there is nothing left to do."""


def _check_budget(rule: Dynamics) -> None:
    """Refuse tolerances below rounding or without meaning, and budgets that are not counts."""
    check_tolerance(rule.tol)
    whole_number("max_steps", rule.max_steps, "a number of steps, 0 or more", least=0)


@dataclass(frozen=True)
class Replicator:
    """Replicator dynamics, Eq. (8): each probability grows with its payoff.

        p_i(t+1) = p_i(t) (Mp)_i / F(p)

    The paper's rule. It keeps the simplex, never lowers F, and never makes an exact zero: an entry that
    dies out is ignored by the stop rule once `trim` would drop it.

    Notes
    -----
    One product a step. At rest when |(Mp)_i - F| ≤ tol·F on the support that `trim` would leave.
    Convergence is linear at best: thousands of steps are normal.
    """

    tol: float = 1e-9
    max_steps: int = 10_000
    purge: bool = False
    """Before each step, drop members whose payoff is below F/2, which always raises F. Not in the paper."""

    def __post_init__(self) -> None:
        _check_budget(self)

    def at_rest(self, point: Point) -> bool:
        """Whether the payoffs of all entries that `trim` would keep agree."""
        value = density(point)
        kept = ~negligible(point, self.tol)
        # Half the tolerance: to trim what is negligible may use up the other half.
        return bool(np.abs(point.payoff[kept] - value).max(initial=0.0) <= self.tol * value / 2)

    def step(self, point: Point, face: Face) -> Point:
        """Apply Eq. (8) once; a point of density 0 stays where it is (departures.md#start)."""
        value = density(point)
        if value == 0:
            return point
        if self.purge:
            point = purged(point, face)
            value = density(point)
        p = point.p * point.payoff / value
        p /= p.sum()  # the sum is 1 but for rounding, which would otherwise accumulate
        return Point(p, face @ p)


def purged(point: Point, face: Face) -> Point:
    """Drop the members whose payoff is below F/2, all at once; the same object if there is none.

    To drop mass ε of payoff r from p leaves a density of at least (F - 2εr)/(1 - ε)², which is above F
    for r ≤ F/2 whatever ε.
    """
    low = density(point) * (0.5 - 1e-10)  # at exactly half, rounding would decide
    if not (point.payoff[point.p > 0] < low).any():
        return point
    p = np.where(point.payoff < low, 0.0, point.p)
    p /= p.sum()
    return Point(p, face @ p)


@dataclass(frozen=True)
class InfectionImmunization:
    """Infection-immunization dynamics [RBB11]: move towards the best hyperedge or away from the worst.

    With r_i = (Mp)_i - F, take the hyperedges K with the largest r, or those of the support with the
    smallest, whichever is larger in size. Let y be their mix, and go along y - p, towards or away, by
    the best amount the simplex allows. Ties act together, so the order of hyperedges plays no part, and
    members whose payoff is below F/2 leave together, which always raises F. Rest points are those of
    Eq. (7); dead entries become exact zeros and may return.

    Steps this greedy can run into the nearest mode where Eq. (8), which moves all entries at once, would
    have reached a denser one. A climb therefore begins with ``warm_up`` steps of `Replicator`
    (departures.md#climbing).

    Notes
    -----
    O(|S|) a step, plus the rows of K. At rest when spread and excess on the face are ≤ tol·F.
    """

    tol: float = 1e-9
    max_steps: int = 100_000
    warm_up: int = 20

    def __post_init__(self) -> None:
        _check_budget(self)
        whole_number("warm_up", self.warm_up, "a number of steps, 0 or more", least=0)

    def at_rest(self, point: Point) -> bool:
        """Whether Eq. (7) holds on the face."""
        return max(spread(point), excess(point)) <= self.tol * density(point)

    def step(self, point: Point, face: Face) -> Point:
        """Infect or immunise once, by the exact best amount."""
        p, payoff = purged(point, face)
        if p is not point.p:
            return Point(p, payoff)
        value = density(point)
        gain = payoff - value
        best, worst = float(gain.max()), float(gain[p > 0].min())
        equal = 1e-10 * (value + best)  # payoffs this close are the same payoff, rounded differently
        if best >= -worst - equal:
            chosen = np.flatnonzero(gain >= best - equal)
            mix = np.full(chosen.size, 1 / chosen.size)
            furthest = 1.0
        else:
            chosen = np.flatnonzero((p > 0) & (gain <= worst + equal))
            mix = p[chosen] / p[chosen].sum()
            furthest = p[chosen].sum() / (p[chosen].sum() - 1)  # negative: away, until none of K is left
        toward = mix @ face[chosen]
        slope = float(mix @ gain[chosen])
        bend = float(mix @ toward[chosen]) - 2 * float(mix @ payoff[chosen]) + value
        amount = furthest if bend >= 0 or abs(slope) >= abs(furthest * bend) else -slope / bend
        if amount == 0:
            return point
        p = p * (1 - amount)
        p[chosen] += amount * mix
        if amount == furthest < 0:
            p[chosen] = 0.0
        total = p.sum()
        return Point(p / total, (payoff + amount * (toward - payoff)) / total)


@dataclass(frozen=True)
class FaceSolve:
    """Exact solve of a face: go to its stationary point, or to the border on the way there.

    On a support, F is a quadratic. Where it bends upwards, follow the direction of largest curvature to
    the border. Where it is concave, go to its maximiser, which solves the bordered system M_S x = λ1,
    1ᵀx = 1, or as far towards it as the simplex allows. Each step arrives or drops a hyperedge, so
    there are not many, and what remains is exact to rounding.

    Notes
    -----
    One symmetric eigenproblem a step, O(|S|³): meant for supports another rule has already thinned.
    It leaves faces of more than 2048 hyperedges alone.
    """

    tol: float = 1e-9
    max_steps: int = 2 * DENSE_FACE

    def __post_init__(self) -> None:
        _check_budget(self)

    def at_rest(self, point: Point) -> bool:
        """Never by the residual alone, which says nothing about curvature: the step decides."""
        return False

    def step(self, point: Point, face: Face) -> Point:
        """Reach the stationary point of the face, or its border; the same object when already there."""
        inside = support(point.p)
        if not 2 <= inside.size <= DENSE_FACE or density(point) == 0:
            return point
        m_s, value = face[inside][:, inside], density(point)
        direction, length = self._move(point.p[inside], point.payoff[inside], m_s, value)
        furthest, vanishing = room(point.p[inside], direction)
        p = point.p.copy()
        p[inside] += min(length, furthest) * direction
        if furthest <= length:
            p[inside[vanishing]] = 0.0
        p /= p.sum()
        moved = Point(p, face @ p)
        rounded = spread(point) <= 1e-14 * density(point) or spread(moved) > 0.5 * spread(point)
        return point if length < furthest and rounded else moved

    def _move(
        self, p: np.ndarray, payoff: np.ndarray, face: np.ndarray, value: float
    ) -> tuple[np.ndarray, float]:
        """Direction and length of the best move inside the face; infinite length means to the border."""
        bend = bending(face)
        slopes = bend.vectors.T @ payoff
        limit = self.tol * value
        if bend.largest > limit:
            steepest = bend.vectors[:, -1]
            return steepest if slopes[-1] >= 0 else -steepest, np.inf
        flat = bend.flat
        if np.linalg.norm(slopes[flat]) > 0.1 * limit:
            return bend.vectors[:, flat] @ slopes[flat], np.inf
        small = int(np.argmin(p))
        if p[small] <= _NEAR * np.sqrt(self.tol) * p.max() and np.abs(payoff - value).max() <= limit:
            away = -bend.vectors[:, flat] @ bend.vectors[small, flat]  # departures.md#flat
            if away[small] < -1e-9:
                return away, np.inf
        return bend.vectors[:, ~flat] @ (slopes[~flat] / -bend.values[~flat]), 1.0


class Climb(NamedTuple):
    """What one climb did."""

    point: Point
    densities: tuple[float, ...]
    """F after each step."""
    converged: bool

    @property
    def steps(self) -> int:
        """Number of steps taken."""
        return len(self.densities)


def climb(face: Face, point: Point, rule: Dynamics) -> Climb:
    """Apply a rule until it is at rest, has nothing left to do, or has spent its budget."""
    densities: list[float] = []
    while not rule.at_rest(point):
        if len(densities) == rule.max_steps:
            return Climb(point, tuple(densities), False)
        moved = rule.step(point, face)
        if moved is point:
            break
        densities.append(density(moved))
        point = Point(moved.p, face @ moved.p) if len(densities) % _REFRESH == 0 else moved
    return Climb(point, tuple(densities), True)


def climb_support(affinity: Affinity, point: Point, *rules: Dynamics) -> Climb:
    """Evolve p towards the mode of its subhypergraph G_θ(p), rule after rule; the result is trimmed.

    A rule that another one follows stops at the square root of its tolerance: it has to find the support,
    the next one finds the point.
    """
    inside = support(point.p)
    face = face_of(affinity, inside)
    result = Climb(Point(point.p[inside], face @ point.p[inside]), (), True)
    densities: tuple[float, ...] = ()
    coarse = [replace(rule, tol=rule.tol**0.5) for rule in rules[:-1]]  # type: ignore[type-var]
    for rule in _with_warm_up(*coarse, rules[-1]):
        result = climb(face, result.point, rule)
        # What the exact solve leaves is exact: only dust is trimmed there, which moves no payoff.
        p = trimmed(
            Point(result.point.p, face @ result.point.p),
            _DUST if isinstance(rule, FaceSolve) else rules[-1].tol,
        )
        result = result._replace(point=Point(p, face @ p))
        densities += result.densities
    p = np.zeros(affinity.n)
    p[inside] = result.point.p
    return Climb(Point(p, affinity.matvec(p)), densities, result.converged)


def _with_warm_up(*rules: Dynamics) -> Iterator[Dynamics]:
    """Put the replicator steps a rule wants to begin with before it."""
    for rule in rules:
        if isinstance(rule, InfectionImmunization) and rule.warm_up:
            yield Replicator(tol=rule.tol, max_steps=rule.warm_up, purge=True)
        yield rule
