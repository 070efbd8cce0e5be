"""Whether matches follow one smooth map: what three and more of them say about each other.

Two matches are consistent for many reasons; that all of them lie where the others put them is rare. The map
from one side to the other is an affine one plus a smooth deviation, a Gaussian process, so every match has a
place where the *others* expect it, and an uncertainty of that place, in closed form.
"""

from dataclasses import dataclass

import numpy as np

_AFFINE = 100.0  # prior variance of the coefficients of the affine part: as good as unknown
_LARGEST = 500  # matches a map is fitted to at most


@dataclass(frozen=True)
class Deformation:
    """A smooth map with an unknown affine part. Lengths are in units of the mean length of a side.

    Parameters
    ----------
    reach : float
        How far apart points may be whose deviations from the affine part resemble each other.
    bend : float
        Standard deviation of the deviations.
    noise : float
        Standard deviation of a match around the map.
    """

    reach: float = 0.5
    bend: float = 0.15
    noise: float = 0.06

    def expect(
        self, sources: np.ndarray, targets: np.ndarray, weights: np.ndarray, queries: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Where the map puts each source according to the *other* matches, and where it puts queries.

        Returns
        -------
        places (n, 2), variances (n,), places of the queries (k, 2), variances (k,)
            A match of weight w counts as one with the noise divided by √w.
        """
        centre = weights @ sources / weights.sum()
        noise = self.noise**2 / np.maximum(weights, 1e-4)
        kernel = self._kernel(sources - centre, sources - centre)
        kernel[np.diag_indices_from(kernel)] += noise
        precision = np.linalg.inv(kernel)
        pull, own = precision @ targets, np.diagonal(precision)
        cross = self._kernel(queries - centre, sources - centre)
        prior = _AFFINE * (1 + ((queries - centre) ** 2).sum(axis=1)) + self.bend**2
        spread = prior - np.einsum("ij,ij->i", cross @ precision, cross)
        return (
            targets - pull / own[:, None],
            self.noise**2 + np.maximum(1 / own - noise, 0.0),
            cross @ pull,
            self.noise**2 + np.maximum(spread, 0.0),
        )

    def _kernel(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        inner = a @ b.T
        squared = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2 * inner
        return _AFFINE * (1 + inner) + self.bend**2 * np.exp(-np.maximum(squared, 0) / (2 * self.reach**2))

    def followers(
        self, left: np.ndarray, right: np.ndarray, trust: np.ndarray, rounds: int = 10
    ) -> np.ndarray:
        """Probability that each match follows the map rather than lying anywhere.

        Expectation maximisation in both directions at once, so that it does not matter which side is left;
        `trust` in (0, 1] is what is known before.
        """
        area = float(np.sqrt(np.prod(np.ptp(left, axis=0)) * np.prod(np.ptp(right, axis=0)))) or 1.0
        share, weights = 0.5, trust
        for _ in range(rounds):
            likelihood = np.ones(len(left))
            for sources, targets in ((left, right), (right, left)):
                places, variance, *_ = self.expect(sources, targets, weights, sources[:0])
                squared = ((places - targets) ** 2).sum(axis=1)
                likelihood *= np.sqrt(np.exp(-squared / (2 * variance)) / (2 * np.pi * variance))
            follows = share * trust * likelihood
            weights = follows / (follows + (1 - share * trust) / area)
            share = float(np.clip(weights.sum() / trust.sum(), 0.1, 0.95))
        return weights


@dataclass(frozen=True)
class Layout:
    """Points of both sides in units of their mean lengths, and the candidate pairs between them."""

    left: np.ndarray
    right: np.ndarray
    pairs: np.ndarray
    deformation: Deformation = Deformation()

    def deviations(self, chosen: np.ndarray, support: np.ndarray) -> np.ndarray:
        """How far each candidate is from where the chosen ones put it: squared, in standard deviations.

        Chosen candidates are judged by the others; the mean of both directions is taken.

        Parameters
        ----------
        chosen : (k,) int
            Candidates without conflict.
        support : (k,) float
            How well each is supported otherwise.
        """
        trust = np.maximum(support / support.max(), 1e-3)
        basis = np.sort(np.argsort(-trust, kind="stable")[:_LARGEST])
        chosen, trust = chosen[basis], trust[basis]
        ends = self.left[self.pairs[chosen, 0]], self.right[self.pairs[chosen, 1]]
        weights = self.deformation.followers(*ends, trust)
        squared = np.zeros(len(self.pairs))
        for side, (sources, targets) in enumerate((ends, ends[::-1])):
            from_points, to_points = (self.left, self.right)[:: 1 - 2 * side]
            places, variance, all_places, all_variance = self.deformation.expect(
                sources, targets, weights, from_points
            )
            ours = self.pairs[chosen, side]
            all_places[ours], all_variance[ours] = places, variance
            of, to = self.pairs[:, side], self.pairs[:, 1 - side]
            squared += 0.5 * ((all_places[of] - to_points[to]) ** 2).sum(axis=1) / all_variance[of]
        return squared

    def nearness(self, chosen: np.ndarray) -> np.ndarray:
        """How near matches are to each other, on both sides together; larger is nearer."""
        total = np.zeros((chosen.size, chosen.size))
        for side, points in enumerate((self.left, self.right)):
            ends = points[self.pairs[chosen, side]]
            total -= ((ends[:, None, :] - ends[None, :, :]) ** 2).sum(axis=2)
        return total
