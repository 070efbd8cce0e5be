"""Triples of candidates and how alike their triangles are: a sparse third-order affinity [DBKP11].

References
----------
.. [DBKP11] Duchenne, Bach, Kweon & Ponce, A Tensor-Based Algorithm for High-Order Graph Matching, PAMI 2011.
"""

from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from hypermodes.construct.correspondences import Candidates, Features

ALL_TRIPLES = 2_000_000
"""Triples of the right side that are looked through at most; a random part if there are more."""


@dataclass(frozen=True, eq=False)
class Triples:
    """A super-symmetric tensor H ≥ 0 without repeated indices, each entry once.

    Attributes
    ----------
    members : (t, 3) int64
        Three candidates, no two of which share a point; ascending.
    values : (t,) float
        H at them, positive.
    n : int
        Candidates in all.
    """

    members: np.ndarray
    values: np.ndarray
    n: int

    def contract(self, x: np.ndarray) -> np.ndarray:
        """(H x x)_a = 2 Σ_{b<c} H(a,b,c) x_b x_c: a third of the gradient of `value`."""
        a, b, c = self.members.T
        each = (x[b] * x[c], x[a] * x[c], x[a] * x[b])
        return 2 * sum(
            (
                np.bincount(at, self.values * weight, self.n)
                for at, weight in zip((a, b, c), each, strict=True)
            ),
            np.zeros(self.n),
        )

    def value(self, x: np.ndarray) -> float:
        """H x x x = Σ over ordered triples of H(a,b,c) x_a x_b x_c."""
        a, b, c = self.members.T
        return 6 * float(self.values @ (x[a] * x[b] * x[c]))

    def among(self, x: np.ndarray, least: float) -> "Triples":
        """Without triples of which two members have ``least`` or less: they add nothing to `contract`."""
        alive = (x[self.members] > least).sum(axis=1) >= 2
        return self if alive.all() else Triples(self.members[alive], self.values[alive], self.n)

    def __repr__(self) -> str:
        return f"Triples({len(self.values)} of {self.n} candidates)"


def triangle_triples(
    left: Features,
    right: Features,
    candidates: Candidates,
    *,
    n_triples: int = 2000,
    neighbours: int = 300,
    random_state: int = 0,
) -> Triples:
    """Pair triangles of the left with those of the right that have most nearly the same angles.

    A triangle is described by the sines of its three angles, with the sign of its orientation, so moving,
    turning and scaling either side changes nothing. H = exp(-d / d̄), d the distance of the descriptions and d̄
    its mean over what was found.

    Parameters
    ----------
    left, right : Features
        Only the points are used.
    candidates : Candidates
        Triples with a pair that is no candidate are left out.
    n_triples : int
        Triangles of the left side, drawn at random; all if there are no more.
    neighbours : int
        Triangles of the right side for each of them.
    random_state : int
        Of the draw.
    """
    rng = np.random.default_rng(random_state)
    mine = _some_triples(len(left.points), n_triples, rng)
    theirs = _some_triples(len(right.points), ALL_TRIPLES, rng)
    if not len(mine) or not len(theirs):
        return Triples(np.empty((0, 3), dtype=np.int64), np.empty(0), len(candidates.pairs))
    tree = cKDTree(triangle_sines(right.points[theirs]))
    each = min(neighbours, len(theirs))
    # Triangles of the right are there in one order only: the left ones are asked for in all six.
    orders = np.array(list(permutations(range(3))))
    asked = mine[:, orders].reshape(-1, 3)
    distance, found = tree.query(triangle_sines(left.points[asked]), each)
    distance, found = distance.reshape(len(mine), -1), found.reshape(len(mine), -1)
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :each]
    asked_at = np.arange(len(mine))[:, None] * 6 + nearest // each
    lefts = asked[asked_at].reshape(-1, 3)
    rights = theirs[np.take_along_axis(found, nearest, axis=1)].reshape(-1, 3)
    return _tensor(candidates, lefts, rights, np.take_along_axis(distance, nearest, axis=1).ravel())


def triangle_sines(corners: np.ndarray) -> np.ndarray:
    """Sines of the angles between successive sides, (t, 3, 2) corners to (t, 3); 0 where corners coincide."""
    sides = np.roll(corners, -1, axis=1) - corners
    length = np.linalg.norm(sides, axis=2, keepdims=True)
    sides = sides / np.where(length > 0, length, 1.0)
    following = np.roll(sides, -1, axis=1)
    sines: np.ndarray = sides[..., 0] * following[..., 1] - sides[..., 1] * following[..., 0]
    return sines


def weighted_by(triples: Triples, affinity: sp.csr_array) -> Triples:
    """The same triples, each times (A(a,b) A(b,c) A(a,c))^⅓; those with an affinity of 0 are left out."""
    if len(triples.values) == 0:
        return triples
    a, b, c = triples.members.T
    weight = np.cbrt(affinity[a, b] * affinity[b, c] * affinity[a, c])
    kept = weight > 0
    return Triples(triples.members[kept], triples.values[kept] * weight[kept], triples.n)


def _tensor(candidates: Candidates, lefts: np.ndarray, rights: np.ndarray, distance: np.ndarray) -> Triples:
    """Entries of pairs of triangles; one that comes in several orders is one entry, at its best."""
    place = np.full((candidates.n_left, candidates.n_right), -1, dtype=np.int64)
    place[candidates.left, candidates.right] = np.arange(len(candidates.pairs))
    members = np.sort(place[lefts, rights], axis=1)
    kept = members[:, 0] >= 0
    members, distance = members[kept], distance[kept]
    order = np.lexsort((distance, *members.T[::-1]))
    members, distance = members[order], distance[order]
    first = np.ones(len(members), dtype=bool)
    first[1:] = (members[1:] != members[:-1]).any(axis=1)
    members, distance = members[first], distance[first]
    mean = float(distance.mean()) if len(distance) else 0.0
    return Triples(
        members, np.exp(-distance / mean) if mean > 0 else np.ones(len(distance)), len(candidates.pairs)
    )


def _some_triples(n: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """All ascending triples of n, or ``most`` different ones at random, in lexicographic order."""
    if comb(n, 3) <= most:
        return np.array(list(combinations(range(n), 3)), dtype=np.int64).reshape(-1, 3)
    drawn = np.empty((0, 3), dtype=np.int64)
    while len(drawn) < most:
        more = np.sort(rng.integers(n, size=(2 * most, 3)), axis=1)
        more = more[(np.diff(more, axis=1) > 0).all(axis=1)]
        drawn = np.unique(np.vstack((drawn, more)), axis=0)
    return drawn[np.sort(rng.choice(len(drawn), most, replace=False))]
