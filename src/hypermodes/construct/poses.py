"""Hyperedges of candidates that one similarity explains: matching where scale and rotation are unknown.

Two candidates fix a similarity (translation, rotation, scale); a third is consistent with it, or not. A
hyperedge is a similarity, and its members are the candidates it explains.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from hypermodes.construct.correspondences import Candidates, Features, ordinary
from hypermodes.hypergraph import Hypergraph

_RANK = 4  # neighbour whose distance says how densely points lie
_NOISE = 0.02  # what points may be off, in units of the mean distance from their middle
_WORK = 30_000_000  # landings looked at, if nothing else is said
_LARGEST_SCALE = 4.0  # relative to that of the sizes
_LARGEST = 1e100  # ratio of sizes beyond which their squares are no numbers
_GRID = 300  # cells a side
_KEPT = 200  # similarities kept, the best first


@dataclass(frozen=True)
class Pose:
    """The similarity q = offset + turn · p of complex coordinates."""

    turn: complex
    offset: complex

    @classmethod
    def fitted(cls, sources: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> "Pose":
        """The pose with the smallest weighted sum of squares, the same from either side.

        Rotation and scale are estimated apart: least squares in one direction would shrink.
        """
        weights = weights / weights.sum()
        middle, goal = weights @ sources, weights @ targets
        here, there = sources - middle, targets - goal
        inner = (weights * np.conj(here)) @ there
        spread = weights @ np.abs(here) ** 2, weights @ np.abs(there) ** 2
        if abs(inner) == 0 or min(spread) == 0:
            return cls(0j, goal)
        turn = inner / abs(inner) * np.sqrt(spread[1] / spread[0])
        return cls(complex(turn), complex(goal - turn * middle))


def chances(left: Features, right: Features, candidates: Candidates, pose: Pose) -> np.ndarray:
    """Probability that chance alone brings the points of each candidate as near as they are under a pose."""
    swap = _swapped(left, right, candidates)
    source, target = (_complex(side) for side in ((right, left) if swap else (left, right)))
    if swap:
        pose = Pose(1 / pose.turn, -pose.offset / pose.turn)
    of, to = candidates.pairs[:, ::-1].T if swap else candidates.pairs.T
    squared = np.abs(pose.offset + pose.turn * source[of] - target[to]) ** 2
    squared += (_NOISE * _size(source[_ordinary(source)]) * abs(pose.turn)) ** 2
    return -np.expm1(-squared / spacing(target)[to])


def pose_hypergraph(
    left: Features,
    right: Features,
    candidates: Candidates,
    *,
    largest_scale: float = _LARGEST_SCALE,
    largest_turn: float = np.pi,
    work: int = _WORK,
) -> tuple[Hypergraph, list[Pose]] | None:
    """Make a hyperedge of every good similarity: the candidates it explains.

    None if no similarity explains three candidates, or if one side is too large beside the other to be its
    image.

    Parameters
    ----------
    left, right : Features
        The two sides; only points are used.
    candidates : Candidates
        Pairs that might correspond.
    largest_scale : float
        How much larger a side may be than the other, or smaller, beside what their sizes say.
    largest_turn : float
        By which angle a side may be turned.
    work : int
        Landings looked at; pairs of points to begin with are left out where there would be more.

    Returns
    -------
    Hypergraph
        Vertices are candidates. p(v|e) is the probability that chance would not bring the two points of v so
        near; a shared vertex is worth the hyperedge's share of the best significance, to the power of 4.
    list of Pose
        From left to right, one a hyperedge.

    Notes
    -----
    The side with fewer points is laid on the other. The work is bounded: pairs of points with lengths near
    the mean come first, and when there are too many the others do not come at all. Points far from all others
    (`ordinary`) take no part: no similarity is found by them.
    """
    swap = _swapped(left, right, candidates)
    sides = [_complex(side) for side in ((right, left) if swap else (left, right))]
    pairs = candidates.pairs[:, ::-1] if swap else candidates.pairs
    vertices, pairs, (source, target) = _without_far_points(pairs, sides)
    scale = _size(target) / _size(source) if _size(source) > 0 else np.inf
    if not 1 / _LARGEST < scale < _LARGEST:
        return None
    scale **= 2
    landings = _Landings.on(target)
    noise = float((_NOISE * _size(source)) ** 2)
    ptr, partners, index = _by_source(pairs, source.size)
    bases = _bases(source, ptr, work)
    best = np.zeros((len(bases), int(np.diff(ptr).max()), 2))
    from hypermodes._kernels.poses import vote_for_poses

    vote_for_poses(
        source, target, landings.spacing, landings.raster, landings.corner, landings.cell, ptr, partners,
        bases,
        np.array([scale / largest_scale**2, scale * largest_scale**2]),
        -np.inf if largest_turn >= np.pi else np.cos(largest_turn), noise, best,
    )  # fmt: skip
    significance = best[:, :, 0].ravel()
    order = np.lexsort((np.arange(significance.size), -significance))[:_KEPT]
    edges: list[tuple[np.ndarray, np.ndarray, float]] = []
    poses: list[Pose] = []
    for flat in order[significance[order] > 0]:
        p, x = divmod(int(flat), best.shape[1])
        i, j = bases[p]
        ends = np.array([partners[ptr[i] + x], int(best[p, x, 1])])
        pose = Pose.fitted(source[[i, j]], target[ends], np.ones(2))
        for _ in range(3):
            of, to, chance = landings.explained(pose, source, noise, index)
            if of.size < 3:
                break
            pose = Pose.fitted(source[of], target[to], 1 - chance)
        if of.size >= 3 and pose.turn != 0:
            edges.append((vertices[index[of, to]], 1 - chance, float(-np.log(chance).sum())))
            poses.append(Pose(1 / pose.turn, -pose.offset / pose.turn) if swap else pose)
    if not edges:
        return None
    owner = np.repeat(np.arange(len(edges)), [len(edge[0]) for edge in edges])
    entries = (
        np.concatenate([edge[1] for edge in edges]),
        (np.concatenate([edge[0] for edge in edges]), owner),
    )
    incidence = sp.csc_array(entries, shape=(len(candidates), len(edges)))
    quality = np.array([edge[2] for edge in edges])
    rate = (quality / quality.max()) ** 4
    return Hypergraph.from_incidence(incidence, rate * incidence.sum(axis=0)), poses


@dataclass(frozen=True)
class _Landings:
    """Where things land among the targets: the nearest target of every cell, and how densely they lie."""

    target: np.ndarray
    spacing: np.ndarray
    raster: np.ndarray
    corner: complex
    cell: float

    @classmethod
    def on(cls, target: np.ndarray) -> "_Landings":
        points = np.column_stack((target.real, target.imag))
        low, extent = points.min(axis=0), float(np.ptp(points, axis=0).max())
        cell = 1.2 * extent / _GRID
        corner = low - 0.1 * extent
        steps = (np.arange(_GRID) + 0.5) * cell
        grid = np.stack(np.meshgrid(corner[0] + steps, corner[1] + steps), axis=-1)
        return cls(target, spacing(target), cKDTree(points).query(grid)[1], complex(*corner), cell)

    def explained(
        self, pose: Pose, source: np.ndarray, noise: float, index: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sources that land near a target they may correspond to, these targets, and the odds of that."""
        places = pose.offset + pose.turn * source
        squared = np.abs(places[:, None] - self.target[None, :]) ** 2 + noise * abs(pose.turn) ** 2
        chance = np.where(index >= 0, -np.expm1(-squared / self.spacing), 1.0)
        of = np.arange(source.size)
        to = np.argmin(chance, axis=1)
        odds = chance[of, to]
        first = np.lexsort((of, odds))  # each target for the source that lands nearest
        first = first[np.sort(np.unique(to[first], return_index=True)[1])]
        first = np.sort(first[odds[first] < 0.5])
        return first, to[first], odds[first]


def spacing(target: np.ndarray) -> np.ndarray:
    """Square of the distance within which there is one target on average, around each.

    Around a point far from all others nothing lies; it counts as the loneliest of the ordinary ones.
    """
    points = np.column_stack((target.real, target.imag))
    rank = min(_RANK, target.size - 1)
    reach = cKDTree(points).query(points, k=rank + 1)[0][:, -1]
    typical = float(np.median(reach)) or float(np.ptp(points, axis=0).max())
    loneliest = max(float(reach[_ordinary(target)].max()), 0.1 * typical)
    return np.clip(reach, 0.1 * typical, loneliest) ** 2 / rank


def _without_far_points(
    pairs: np.ndarray, sides: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Candidates of ordinary points: which these are, as pairs of those points, and the points."""
    near = [_ordinary(side) for side in sides]
    vertices = np.flatnonzero(near[0][pairs[:, 0]] & near[1][pairs[:, 1]])
    if vertices.size == 0:
        return np.arange(len(pairs)), pairs, sides
    number = [np.cumsum(mask) - 1 for mask in near]
    renamed = np.column_stack([number[k][pairs[vertices, k]] for k in (0, 1)])
    return vertices, renamed, [side[mask] for side, mask in zip(sides, near, strict=True)]


def _ordinary(points: np.ndarray) -> np.ndarray:
    """Which points do not lie far from all others."""
    places = np.column_stack((points.real, points.imag))
    places = (places - np.median(places, axis=0)) / np.ptp(places, axis=0).max()
    return ordinary(cdist(places, places))


def _by_source(pairs: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    ptr = np.concatenate(([0], np.cumsum(np.bincount(pairs[:, 0], minlength=n))))
    index = np.full((n, int(pairs[:, 1].max()) + 1), -1, dtype=np.int64)
    index[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
    return ptr, np.ascontiguousarray(pairs[order, 1]), index


def _bases(source: np.ndarray, ptr: np.ndarray, most: int) -> np.ndarray:
    """Pairs of sources to begin with: lengths nearest to the mean first, as many as there is time for."""
    i, j = np.triu_indices(source.size, 1)
    lengths = np.abs(source[i] - source[j])
    i, j, lengths = i[lengths > 0], j[lengths > 0], lengths[lengths > 0]
    order = np.lexsort((lengths, np.abs(np.log(lengths / lengths.mean()))))
    counts = np.diff(ptr)
    work = np.cumsum((counts[i] * counts[j] * source.size)[order])
    order = order[: max(1, int(np.searchsorted(work, most)))]
    return np.column_stack((i[order], j[order]))


def _complex(features: Features) -> np.ndarray:
    return features.points[:, 0] + 1j * features.points[:, 1]


def _size(points: np.ndarray) -> float:
    """Mean distance from the middle."""
    return float(np.abs(points - points.mean()).mean())


def _swapped(left: Features, right: Features, candidates: Candidates) -> bool:
    """Whether the right side is laid on the left: the side with fewer points is laid on the other."""
    return (candidates.n_left, _spread(left)) > (candidates.n_right, _spread(right))


def _spread(features: Features) -> float:
    """How far from the middle points are on average, relative to the farthest."""
    points = _complex(features)
    points = points[_ordinary(points)]
    away = np.abs(points - points.mean())
    return float(away.mean() / away.max())
