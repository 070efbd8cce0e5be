"""How much better than chance matches follow one smooth map, and search for those that do, coarse to fine.

Something that nearly fits is found among many candidates always; matches that lie *exactly* where one smooth
map puts them are not. With S the chosen candidates, x and y their points on the two sides, n the points of
the smaller side, λ how many points lie in a unit of area, and ℓ how alike the points of a candidate look,

    E(S) = log p(y_S | x_S) - Σ_S log λ(y) + Σ_S log(ℓ / mean ℓ) - log C(n, |S|)

is the logarithm of how much more probable S is with a map than without one, where every point may be matched
with whatever lies there; the last term pays for saying which points have a match. The density p is that of
the Gaussian process of `deformation`: the map is not fitted but integrated out, so that stiff maps are
preferred to bent ones and exact ones to inexact ones just as far as the points say so. Both directions are
taken and averaged.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from hypermodes.assignment import assign
from hypermodes.construct.correspondences import Candidates
from hypermodes.construct.poses import spacing
from hypermodes.deformation import Deformation, squared_lengths

FEWEST = 4  # matches that say anything: an affine map takes any three points anywhere
_NOISES = tuple(0.15 * 2.0**-k for k in range(5))  # in mean lengths, from coarse to fine
_DEFORMATIONS = tuple(  # stiff, and bending; sides are centred, so that they are a mean length apart at most
    Deformation(bend=bend, shift=1.0) for bend in (0.0, Deformation.bend)
)
_ROUNDS = 2  # of fitting a map and choosing again, for each noise


class Registration(NamedTuple):
    """Matches that follow one map."""

    evidence: float  # E(S)
    chosen: np.ndarray
    log_odds: np.ndarray  # of every candidate: to be where it is by the map rather than by chance


class _Maps(NamedTuple):
    """The maps in both directions, given matches: y - x, their covariance K, K⁻¹, and K⁻¹(y - x)."""

    way: np.ndarray  # (2, k, 2)
    covariance: np.ndarray  # (2, k, k)
    precision: np.ndarray
    pull: np.ndarray

    @classmethod
    def of(cls, way: np.ndarray, covariance: np.ndarray) -> "_Maps":
        precision = np.linalg.inv(covariance)
        return cls(way, covariance, precision, precision @ way)

    def own(self) -> np.ndarray:
        """Inverse of the variance of each match given the others; (2, k)."""
        return np.diagonal(self.precision, axis1=1, axis2=2)

    def gains(self) -> np.ndarray:
        """What each match adds to the log density, given the others."""
        gains = np.log(self.own() / (2 * np.pi)) - squared_lengths(self.pull) / (2 * self.own())
        return (gains[0] + gains[1]) / 2

    def log_density(self) -> float:
        """log p(y | x), the mean of both directions."""
        volumes = np.linalg.slogdet(2 * np.pi * self.covariance)[1]
        one, other = (
            -float((way * pull).sum()) / 2 - float(volume)
            for way, pull, volume in zip(self.way, self.pull, volumes, strict=True)
        )
        return (one + other) / 2

    def of_these(self, kept: np.ndarray) -> "_Maps":
        """The maps that some of the matches make."""
        return _Maps.of(self.way.take(kept, axis=1), self.covariance.take(kept, axis=1).take(kept, axis=2))


@dataclass(frozen=True, eq=False)
class Registrar:
    """Two sides in units of their mean lengths, and the candidates between them.

    Parameters
    ----------
    left, right : (n, 2) float
        Points.
    candidates : Candidates
        Pairs that might correspond.
    likeness : (m,) float
        How alike the points of each candidate look, in any unit; positive.
    """

    left: np.ndarray
    right: np.ndarray
    candidates: Candidates
    likeness: np.ndarray

    @cached_property
    def _against_chance(self) -> np.ndarray:
        """What each candidate adds to the evidence beside its density: log(ℓ / mean ℓ) - log λ."""
        total: np.ndarray = np.log(self.likeness / self.likeness.mean())
        for side, points in enumerate((self.left, self.right)):
            area = np.pi * spacing(points @ np.array([1, 1j]))  # within which one point lies
            total = total + np.log(area)[self.candidates.pairs[:, side]] / 2
        return total

    def evidence(self, chosen: np.ndarray) -> float:
        """E(S) of a one-to-one choice without what does not follow its map; 0 if it is too small for one."""
        if chosen.size < FEWEST:
            return 0.0
        return max(
            self._kept(chosen, deformation, noise)[0] for deformation in _DEFORMATIONS for noise in _NOISES
        )

    def found(self, starts: Iterable[np.ndarray]) -> Registration | None:
        """The matches with the largest evidence that are met on the ways from the starts.

        Each start is a one-to-one choice of candidates. Again and again a map is made of what follows it, and
        the choice that is best for that map is taken, while the noise becomes finer. It does so from several
        noises on: a start that is good already must not be blurred, one that is not must be. None if no start
        has enough matches.
        """
        best: Registration | None = None
        for deformation in _DEFORMATIONS:
            seen: dict[tuple[bytes, float], np.ndarray] = {}
            for start, first in product(starts, range(0, len(_NOISES), 2)):
                chosen = start
                for noise in np.repeat(_NOISES[first:], _ROUNDS).tolist():
                    if chosen.size < FEWEST:
                        break
                    if (key := (chosen.tobytes(), noise)) in seen:
                        chosen = seen[key]
                        continue
                    evidence, kept, maps = self._kept(chosen, deformation, noise)
                    odds = self._log_odds(kept, maps, deformation, noise)
                    if best is None or evidence > best.evidence:
                        best = Registration(evidence, kept, odds)
                    chosen = np.flatnonzero(assign(self.candidates, np.maximum(odds, 0.0)))
                    seen[key] = chosen
        return best

    @property
    def _size(self) -> int:
        return min(self.candidates.n_left, self.candidates.n_right)

    def _kept(
        self, chosen: np.ndarray, deformation: Deformation, noise: float
    ) -> tuple[float, np.ndarray, _Maps]:
        """Leave out the worst matches, half at a time, as long as some make the evidence smaller."""
        here, there = self.left[self.candidates.left[chosen]], self.right[self.candidates.right[chosen]]
        sources, targets = np.stack((here, there)), np.stack((there, here))
        covariance = deformation.covariance(sources, sources) + noise**2 * np.eye(chosen.size)
        maps = _Maps.of(targets - sources, covariance)
        while True:
            gains = maps.gains() + self._against_chance[chosen]
            harmful = int((gains < -self._prior(chosen.size)).sum())
            leaving = min(-(-harmful // 2), chosen.size - FEWEST)
            if leaving <= 0:
                break
            kept = np.sort(np.argsort(gains, kind="stable")[leaving:])
            chosen, maps = chosen[kept], maps.of_these(kept)
        evidence = maps.log_density() + self._against_chance[chosen].sum()
        return float(evidence) - _log_choices(self._size, chosen.size), chosen, maps

    def _prior(self, k: int) -> float:
        """Log odds that a point has a match, if k have: what E(S) pays less for saying which."""
        return _log_choices(self._size, k - 1) - _log_choices(self._size, k)

    def _log_odds(
        self, chosen: np.ndarray, maps: _Maps, deformation: Deformation, noise: float
    ) -> np.ndarray:
        """Log odds of every candidate given the map of the chosen ones, which are judged by the others."""
        pairs = self.candidates.pairs
        odds = self._against_chance + self._prior(chosen.size)
        own_of_both = maps.own()
        for side in (0, 1):
            precision, pull, own = maps.precision[side], maps.pull[side], own_of_both[side]
            sources, targets = (self.left, self.right)[:: 1 - 2 * side]
            ours = pairs[chosen, side]
            cross = deformation.covariance(sources, sources[ours])
            places = sources + cross @ pull
            spread = deformation.variance(sources) - np.einsum("ij,ij->i", cross @ precision, cross)
            variance = noise**2 + np.maximum(spread, 0.0)
            places[ours], variance[ours] = targets[pairs[chosen, 1 - side]] - pull / own[:, None], 1 / own
            of, to = pairs[:, side], pairs[:, 1 - side]
            squared = squared_lengths(places.take(of, axis=0) - targets.take(to, axis=0))
            odds = odds - (squared / variance[of]) / 4 - (np.log(2 * np.pi * variance) / 2)[of]
        return odds


def _log_choices(n: int, k: int) -> float:
    """Logarithm of the number of ways to choose k of n."""
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
