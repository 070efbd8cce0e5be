"""Is this point a mode, and how do we know? Theorem 1, carried to second order.

Eq. (7) is necessary for a local maximiser of F and not sufficient: saddle points satisfy it too. A
certificate therefore reports four numbers. `spread` and `excess` say how well Eq. (7) holds;
`curvature` and `tie_curvature` say whether F bends down in the directions Eq. (7) leaves open, which
are those inside the support and those towards hyperedges outside it whose payoff equals F. For a
quadratic function on the simplex these two orders decide the question (departures.md#certificate).
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from hypermodes.affinity import DENSE_FACE, Affinity, HyperedgeAffinity, as_affinity, face_of
from hypermodes.hypergraph import Hypergraph
from hypermodes.matrices import unmasked
from hypermodes.scalars import finite_number
from hypermodes.simplex import Point, density, excess, spread, support

MAX_TIES = 512  # kinds of ties that are examined together, in the compiled layer as well
_EQUAL = 1e-10  # payoffs this close, relative to the density, are the same payoff rounded differently


@dataclass(frozen=True)
class Certificate:
    """Numbers anyone can recompute from a mode and the affinity; `holds` turns them into a verdict."""

    density: float
    """F(p)."""
    spread: float
    """Largest |(Mp)_i - F| on the support; 0 at a critical point."""
    excess: float
    """Largest (Mp)_j - F off the support, at least 0; positive if a hyperedge left out would raise F."""
    worst_edge: int
    """The hyperedge off the support with the largest payoff, -1 if none meets the support."""
    curvature: float
    """Largest curvature of F inside the support: negative at a strict mode, 0 on a flat one, positive at
    a saddle. -inf on a single hyperedge; nan where Eq. (7) fails already."""
    ties: int
    """Hyperedges off the support whose payoff equals F."""
    tie_curvature: float
    """Largest curvature found towards the ties: positive at a saddle. Where it is not, it is proved that no
    mix of ties bends F up, and where it is negative that each bends F down, within the tolerance.

    -inf without ties; nan where Eq. (7) fails already, or where it was not decided: there are too many sets
    of ties to go through, more than 512 different hyperedges tie (those that nothing in the support and no
    other tie tells apart count as one), or the support has more than 2048 hyperedges, where `certify` does
    not look at ties. What was not decided does not hold."""

    tol: float = 1e-9
    """The tolerance, relative to the density, that ties were told by and that the verdicts below use."""

    def is_critical(self, tol: float | None = None) -> bool:
        """Eq. (7) to first order: nothing on the support disagrees, nothing off it would help."""
        limit = (self.tol if tol is None else tol) * self.density
        return self.density > 0 and max(self.spread, self.excess) <= limit

    def holds(self, tol: float | None = None) -> bool:
        """Whether the point is a local maximiser of F, as far as the four numbers say."""
        limit = (self.tol if tol is None else tol) * self.density
        return self.is_critical(tol) and self.curvature <= limit and self.tie_curvature <= limit

    def is_strict(self, tol: float | None = None) -> bool:
        """Whether every small move from the point lowers F; a mode that is not strict is flat."""
        limit = -(self.tol if tol is None else tol) * self.density
        return self.is_critical(tol) and self.curvature < limit and self.tie_curvature < limit


def certify(subject: Hypergraph | Affinity, point: Any, tol: float = 1e-9) -> Certificate:
    """Compute the certificate of a point on the whole hypergraph, Eq. (6)-(7) and Theorem 1.

    Parameters
    ----------
    subject : Hypergraph or Affinity
        Where the point lives.
    point : Mode, (n_edges,) array of probabilities, or Point
        What to certify. Its zeros are taken for exact.
    tol : float
        Tolerance relative to the density.

    Notes
    -----
    First order: one product. Second order, where the first holds: one symmetric eigenproblem of the size
    of the support, and if hyperedges tie, one dense block of them, or of their kinds
    (departures.md#certificate).
    """
    affinity = as_affinity(subject)
    check_tolerance(tol)
    if not isinstance(point, Point):
        point = _as_point(affinity, point)
    value = density(point)
    outside = np.flatnonzero(point.p == 0)
    certificate = Certificate(
        density=value,
        spread=spread(point),
        excess=excess(point),
        worst_edge=int(outside[np.argmax(point.payoff[outside])]) if point.payoff[outside].any() else -1,
        curvature=np.nan,
        ties=int(ties(point, tol).size),
        tie_curvature=np.nan,
        tol=tol,
    )
    inside = support(point.p)
    if not certificate.is_critical(tol):
        return certificate
    if inside.size > DENSE_FACE:
        curvature = _largest_curvature(affinity, inside)
        return replace(
            certificate, curvature=curvature, tie_curvature=np.nan if certificate.ties else -np.inf
        )
    bend = bending(affinity.restrict(inside))
    toward = _toward_ties(affinity, point, bend, tol).curvature
    return replace(certificate, curvature=bend.largest, tie_curvature=toward)


def check_tolerance(tol: Any) -> None:
    """Refuse tolerances below rounding or without meaning."""
    finite_number("tol", tol, "a relative tolerance between 1e-14 and 0.1", least=1e-14, most=0.1)


def _as_point(affinity: Affinity, given: Any) -> Point:
    """Take a mode, or an array of probabilities, for a point."""
    unmasked("point", given)
    try:
        p = (
            given.distribution(affinity.n)
            if hasattr(given, "distribution")
            else np.asarray(given, dtype=float)
        )
    except (TypeError, ValueError, IndexError, OverflowError):
        p = np.empty(0)
    if p.shape != (affinity.n,) or not (p >= 0).all() or abs(p.sum() - 1) > 1e-6:
        what = f"an array of shape {p.shape}" if p.size else f"a {type(given).__name__}"
        raise ValueError(
            f"point: expected a mode of this hypergraph, or {affinity.n} probabilities that sum to 1; "
            f"got {what}"
        )
    return Point(p, affinity.matvec(p))


def ties(point: Point, tol: float) -> np.ndarray:
    """Hyperedges off the support whose payoff equals the density, within the tolerance."""
    value = density(point)
    return np.flatnonzero((point.p == 0) & (np.abs(point.payoff - value) <= tol * value) & (value > 0))


class Bending(NamedTuple):
    """How F bends on a face: eigenvalues (ascending) and eigenvectors of M_S on the moves that sum to 0."""

    values: np.ndarray
    vectors: np.ndarray

    @property
    def flat(self) -> np.ndarray:
        """Which directions do not bend down, beyond the rounding of the eigenproblem."""
        return self.values > -1e-12 * np.abs(self.values).max(initial=0.0)

    @property
    def largest(self) -> float:
        """The largest curvature, -inf on a single hyperedge, where no move is possible."""
        return float(self.values[-1]) if self.values.size else -np.inf


def bending(face: np.ndarray) -> Bending:
    """Curvature of F on a face: the spectrum of M_S on the tangent space of the simplex.

    The basis of the tangent space is the one of Helmert, which is orthonormal and needs no solve.
    """
    m = face.shape[0]
    if m == 1:
        return Bending(np.empty(0), np.empty((1, 0)))
    k = np.arange(1, m)
    basis = np.triu(np.ones((m, m - 1))) / np.sqrt(k * (k + 1))
    basis[k, k - 1] = -np.sqrt(k / (k + 1))
    values, vectors = np.linalg.eigh(basis.T @ face @ basis)
    return Bending(values, basis @ vectors)


def _largest_curvature(affinity: Affinity, inside: np.ndarray) -> float:
    """`bending` of a support too large for a dense face: its largest value only, by Lanczos iteration."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    face = face_of(affinity, inside)
    depth = 2 * float((face @ np.ones(inside.size)).max())  # no eigenvalue of M_S is larger in size

    def curve(x: np.ndarray) -> np.ndarray:
        mean = x.mean()
        moved = face @ (x.ravel() - mean)
        return moved - moved.mean() - depth * mean  # the move that does not sum to 0 goes below all others

    operator = LinearOperator((inside.size, inside.size), matvec=curve, dtype=np.float64)
    start = np.cos(np.arange(inside.size))  # fixed: the same certificate every time
    return float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False)[0])


def escape_direction(affinity: Affinity, point: Point, tol: float) -> np.ndarray | None:
    """Find a move off a critical point that is not a maximiser; None if none was found.

    Inside the support that is the direction of largest curvature; otherwise a move that admits tied
    hyperedges.
    """
    inside = support(point.p)
    if inside.size > DENSE_FACE:
        return None
    limit = tol * density(point)
    bend = bending(affinity.restrict(inside))
    if bend.largest > limit:
        steepest = bend.vectors[:, -1]
        return _embedded(affinity.n, inside, steepest if steepest @ point.payoff[inside] >= 0 else -steepest)
    found = _toward_ties(affinity, point, bend, tol)
    return found.direction if found.curvature > limit else None


class _Escape(NamedTuple):
    curvature: float
    direction: np.ndarray | None


def _toward_ties(affinity: Affinity, point: Point, bend: Bending, tol: float) -> _Escape:
    """Look for a move that admits tied hyperedges and bends F upwards; nan if that is not decided.

    To admit the mix t of ties is to move along t - p, answered by the best response inside the
    support, which turns the question into a small quadratic form in t ≥ 0 (a Schur complement). A
    flat direction of the support that changes the payoff of a tie is an answer by itself. Ties of one kind
    take part equally: no other mix of them is better.
    """
    from hypermodes._kernels.mixing import steepest_mix

    tied = ties(point, tol)
    if tied.size == 0:
        return _Escape(-np.inf, None)
    inside = support(point.p)
    kind, first, own = _kinds(affinity, tied, inside)
    if first.size > MAX_TIES:
        return _Escape(np.nan, None)
    chosen = tied[first]
    limit = tol * density(point)
    coupling = (affinity.block(chosen, inside)) @ bend.vectors  # payoff a unit of each face move brings a tie
    flat = bend.flat
    pull = np.abs(coupling[:, flat])
    if pull.max(initial=0.0) > np.sqrt(limit * density(point)):  # a slope, not a curvature: its square counts
        j, k = np.unravel_index(np.argmax(pull), pull.shape)
        move = bend.vectors[:, flat][:, k] * np.sign(coupling[:, flat][j, k])
        return _Escape(float(pull[j, k]), _embedded(affinity.n, inside, move))
    bent, curved = coupling[:, ~flat], bend.values[~flat]
    value = density(point)
    among = affinity.restrict(chosen)
    np.fill_diagonal(among, own)
    # (e_j - p)ᵀ M (e_k - p) = M_jk - F, because every tie has payoff F; or more, within the tolerance.
    above = np.where(point.payoff[chosen] > value * (1 + _EQUAL), point.payoff[chosen] - value, 0.0)
    form = among - value - (above[:, None] + above) - (bent / curved) @ bent.T
    t = np.empty(first.size)
    curvature = steepest_mix(np.ascontiguousarray(form), t, limit)
    if np.isnan(curvature):
        return _Escape(curvature, None)
    answer = -bend.vectors[:, ~flat] @ ((t @ bent) / curved)
    direction = _embedded(affinity.n, inside, answer - point.p[inside])
    direction[tied] = (t / np.bincount(kind))[kind]
    return _Escape(curvature, direction)


def _kinds(
    affinity: Affinity, tied: np.ndarray, inside: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kind of each tie, the first tie of each kind, and the affinity of each kind in equal parts to itself.

    Two ties are of one kind if no member and no other tie tells them apart. Of hyperedges: they have the same
    rate, the same affinity to each member, and the same vertices, those that no other tie has not counting.
    """
    kind = np.full(tied.size, -1)
    first: list[int] = []
    common: list[float] = []  # the affinity of two of a kind
    if isinstance(affinity, HyperedgeAffinity):
        known: dict[tuple[float, bytes, bytes], int] = {}
        incidence = affinity.hypergraph.incidence[:, tied]
        is_shared = np.bincount(incidence.indices, minlength=incidence.shape[0]) > 1
        for j, to_members in enumerate(affinity.block(tied, inside)):
            vertices = incidence.indices[incidence.indptr[j] : incidence.indptr[j + 1]]
            vertices, rate = np.sort(vertices[is_shared[vertices]]), float(affinity.rate[tied[j]])
            kind[j] = known.setdefault((rate, vertices.tobytes(), to_members.tobytes()), len(first))
            if kind[j] == len(first):
                first.append(j)
                common.append(2 * rate * vertices.size)
    else:
        near = np.hstack((affinity.restrict(tied), affinity.block(tied, inside)))
        for j, row in enumerate(near):
            if kind[j] >= 0 or len(first) > MAX_TIES:
                continue
            left = np.flatnonzero(kind < 0)
            same = near[left] == row
            same[:, j] = same[np.arange(left.size), left] = True  # what the two have in common
            alike = left[same.all(axis=1)]
            kind[alike] = len(first)
            first.append(j)
            common.append(row[alike].max())
    return kind, np.array(first), np.array(common) * (1 - 1 / np.bincount(kind[kind >= 0]))


def _embedded(n: int, where: np.ndarray, values: np.ndarray) -> np.ndarray:
    full = np.zeros(n)
    full[where] = values
    return full
