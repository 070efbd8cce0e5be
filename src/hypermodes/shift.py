"""Hypergraph shift, Algorithm 1: climb, test, expand, until nothing outside would raise the density."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hypermodes import labels as names
from hypermodes.affinity import Affinity, as_affinity
from hypermodes.certificate import Certificate, certify, escape_direction
from hypermodes.dynamics import Climb, Dynamics, FaceSolve, InfectionImmunization, climb_support
from hypermodes.hypergraph import Hypergraph
from hypermodes.result import Mode, Status
from hypermodes.scalars import shown, whole_number
from hypermodes.simplex import Point, density, room, support
from hypermodes.voting import Expansion, Voting


class Round(NamedTuple):
    """What a callback sees after each climb."""

    rounds: int
    """Rounds so far, this one included."""
    start: Point
    """Where the climb began: the start, or the result of the last expansion."""
    point: Point
    """Where it ended: the mode of the subhypergraph."""
    densities: tuple[float, ...]
    """F after each step of the climb."""
    certificate: Certificate
    """The certificate of ``point`` on the whole hypergraph."""


def shift(
    subject: Hypergraph | Affinity,
    start: Any,
    *,
    dynamics: Dynamics = InfectionImmunization(),  # noqa: B008  (rules are immutable values)
    expansion: Expansion = Voting(),  # noqa: B008
    settle: bool = True,
    max_rounds: int = 100,
    callback: Callable[[Round], object] | None = None,
) -> Mode:
    """Shift a hyperedge, a set of them or a distribution to its mode, Algorithm 1.

    Parameters
    ----------
    subject : Hypergraph or Affinity
        Where to shift.
    start : label, iterable of labels, mapping label → probability, or (n_edges,) float array
        Labels are those of the hypergraph; for an affinity they are positions.
    dynamics : Replicator, InfectionImmunization or FaceSolve
        The climbing rule. Its ``tol``, relative to the density, is also that of trim and certificate.
    expansion : Voting or PrintedVoting
        How hyperedges outside are let in.
    settle : bool
        Finish every climb with an exact solve of the face, so that certificates hold to rounding and
        saddles of the face are left behind. False leaves the dynamics alone, as in the paper.
    max_rounds : int
        Budget of climbs.
    callback : function of a Round, optional
        Called after every climb.

    Returns
    -------
    Mode
        Its ``status`` says how the shift ended; it never fails to return.

    Examples
    --------
    >>> H = Hypergraph.from_edges([[1, 2, 3], [2, 3, 4], [1, 3, 4], [5, 6], [6, 7]])
    >>> shift(H, 0)
    Mode(3 hyperedges, density 0.888889, CERTIFIED, 2 rounds, 15 steps)
    """
    affinity = as_affinity(subject)
    check_rules(dynamics, expansion, max_rounds, callback)
    tol = dynamics.tol
    rules = (dynamics, FaceSolve(tol=tol)) if settle else (dynamics,)
    point, rounds, steps = start_point(subject, start), 0, 0
    while True:
        begin, rounds = point, rounds + 1
        climbed = climb_support(affinity, begin, *rules)  # towards the mode of G_θ(p)
        point, steps = climbed.point, steps + climbed.steps
        certificate = certify(affinity, point, tol)
        if callback is not None:
            callback(Round(rounds, begin, point, climbed.densities, certificate))
        status = _ending(certificate, climbed, expansion, last=rounds == max_rounds)
        if status is None:
            if certificate.is_critical():  # a saddle: Eq. (7) holds there too (departures.md#certificate)
                moved = escape(affinity, point, tol)
            else:
                moved = expansion.expand(affinity, point, tol)
            if moved is not None:
                point = moved
                continue
            status = Status.NO_ASCENT
        return Mode.from_point(point, certificate, status, rounds, steps)


def _ending(certificate: Certificate, climbed: Climb, expansion: Expansion, *, last: bool) -> Status | None:
    """Whether to stop after a climb, and why; None to go on."""
    if certificate.holds():
        return Status.CERTIFIED
    if not climbed.point.payoff.any():
        return Status.ISOLATED
    if not climbed.converged:
        return Status.MAX_STEPS
    if last:
        return Status.MAX_ROUNDS
    if not certificate.is_critical() and support(climbed.point.p).size >= expansion.max_support:
        return Status.MAX_SUPPORT
    return None


def check_rules(dynamics: Any, expansion: Any, max_rounds: Any, callback: Any = None) -> None:
    """Refuse rules that are none, such as their names."""
    if isinstance(dynamics, type) or not (hasattr(dynamics, "step") and is_dataclass(dynamics)):
        raise ValueError(
            f"dynamics: expected Replicator(), InfectionImmunization() or FaceSolve(); got {dynamics!r}"
        )
    if isinstance(expansion, type) or not hasattr(expansion, "expand"):
        raise ValueError(f"expansion: expected Voting() or PrintedVoting(); got {expansion!r}")
    whole_number("max_rounds", max_rounds, "a positive number of rounds")
    if callback is not None and not callable(callback):
        raise ValueError(f"callback: expected a function of a Round, or None; got {callback!r}")


def escape(affinity: Affinity, point: Point, tol: float) -> Point | None:
    """Leave a critical point that is not a maximiser, to the border of the simplex; None if F would fall."""
    direction = escape_direction(affinity, point, tol)
    if direction is None:
        return None
    furthest, vanishing = room(point.p, direction)
    p = np.maximum(point.p + furthest * direction, 0.0)
    p[vanishing] = 0.0
    p /= p.sum()
    moved = Point(p, affinity.matvec(p))
    return moved if density(moved) >= density(point) * (1 - 1e-14) else None


def start_point(subject: Hypergraph | Affinity, start: Any) -> Point:
    """Turn a start into a point: equal probabilities on the hyperedges named, or the distribution given."""
    affinity = as_affinity(subject)
    if isinstance(start, np.ndarray) and start.dtype.kind == "f":
        p = start.astype(np.float64)
        if p.shape != (affinity.n,):
            raise ValueError(
                f"start: expected {affinity.n} probabilities, one a hyperedge; got shape {p.shape}"
            )
    else:
        p = np.zeros(affinity.n)
        named = start if isinstance(start, Mapping) else _named(subject, start)
        positions = edge_positions(subject, named, "start")
        if positions.size == 0:
            raise ValueError("start: expected at least one hyperedge; got none")
        try:
            p[positions] = (
                list(start.values()) if isinstance(start, Mapping) else 1 / np.unique(positions).size
            )
            if isinstance(start, Mapping) and any(mass is None for mass in start.values()):
                raise TypeError
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"start: expected probabilities; got {shown(start)}") from None
    bad = np.flatnonzero(~((p >= 0) & np.isfinite(p)))
    if bad.size:
        raise ValueError(f"start: expected probabilities; entry {int(bad[0])} is {float(p[bad[0]])!r}")
    if not np.isclose(p.sum(), 1.0, rtol=0, atol=1e-6):
        raise ValueError(f"start: expected probabilities that sum to 1; their sum is {float(p.sum())!r}")
    p /= p.sum()
    return Point(p, affinity.matvec(p))


def _named(subject: Hypergraph | Affinity, start: Any) -> Iterable[Hashable]:
    """Labels of a start: itself if it is one, else what it contains."""
    if isinstance(start, str | bytes) or not isinstance(start, Iterable):
        return (start,)
    if isinstance(start, Hashable) and isinstance(subject, Hypergraph):
        try:
            subject.edge_index(start)
        except ValueError:
            pass
        else:
            return (start,)  # a label that happens to be iterable, such as a tuple
    return start.tolist() if isinstance(start, np.ndarray) else start


def edge_positions(subject: Hypergraph | Affinity, labels: Iterable[Hashable], name: str) -> np.ndarray:
    """Positions of hyperedges by label; an affinity has none, its labels are the positions themselves."""
    if isinstance(subject, Hypergraph):
        known, index = subject.labels, subject.edge_index
    else:
        known = range(as_affinity(subject).n)
        index = partial(names.position, known, None, what="hyperedge")
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise ValueError(f"{name}: expected labels of hyperedges; got {labels!r}")
    try:
        return np.array([index(label) for label in labels], dtype=np.int64)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
