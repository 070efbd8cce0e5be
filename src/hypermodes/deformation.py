"""Whether matches follow one smooth map: what three and more of them say about each other.

Two matches are consistent for many reasons; that all of them lie where the others put them is rare. The map
from one side to the other is an affine one plus a smooth deviation, a Gaussian process, so every match has a
place where the *others* expect it, and an uncertainty of that place, in closed form.
"""

from dataclasses import dataclass, replace

import numpy as np

_FIRST_NOISE = 0.15  # where the estimate of the noise begins
_LEAST = 1e-12  # weight of a match; if nothing follows the map, all count alike
_LARGEST = 150  # matches a map is fitted to at most


def squared_lengths(ways: np.ndarray) -> np.ndarray:
    """x² + y²; a sum along so short an axis would take ten times as long."""
    squared = ways**2
    return squared[..., 0] + squared[..., 1]


@dataclass(frozen=True)
class Deformation:
    """A smooth map: an affine one near the identity plus a deviation that varies slowly.

    Lengths are in units of the mean length of a side.

    Parameters
    ----------
    stretch : float
        Standard deviation of the linear part's coefficients around those of the identity.
    reach : float
        How far apart points may be whose deviations from the affine part resemble each other.
    bend : float
        Standard deviation of the deviations.
    noise : float
        Standard deviation of a match around the map, at least; how much there is comes from the matches.
    shift : float
        Standard deviation of the translation: as good as unknown, unless told otherwise.
    """

    stretch: float = 0.3
    reach: float = 0.5
    bend: float = 0.15
    noise: float = 0.05
    shift: float = 10.0

    def expect(
        self, sources: np.ndarray, targets: np.ndarray, weights: np.ndarray, queries: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Where the map puts each source according to the *other* matches, and where it puts queries.

        Returns
        -------
        places (n, 2), variances (n,), places of the queries (k, 2), variances (k,)
            A match of weight w counts as one with the noise divided by √w.
        """
        centre, precision, pull = self._fitted(sources, targets, weights)
        cross = self.covariance(queries - centre, sources - centre)
        prior = self.variance(queries - centre)
        spread = prior - np.einsum("ij,ij->i", cross @ precision, cross)
        return (
            *self._by_others(targets, weights, precision, pull),
            queries + cross @ pull,
            self.noise**2 + np.maximum(spread, 0.0),
        )

    def _fitted(
        self, sources: np.ndarray, targets: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Middle of the sources, inverse K⁻¹ of the covariance of their displacements, and K⁻¹(y - x).

        Several maps of the same matches at once, if sources and targets have a further axis in front.
        """
        centre = (weights @ sources / weights.sum())[..., None, :]
        kernel = self.covariance(sources - centre, sources - centre)
        np.einsum("...ii->...i", kernel)[...] += self._noise(weights)
        precision = np.linalg.inv(kernel)
        return centre, precision, precision @ (targets - sources)

    def _by_others(
        self, targets: np.ndarray, weights: np.ndarray, precision: np.ndarray, pull: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where each match is expected by the others, and the variance of that."""
        own = np.einsum("...ii->...i", precision)
        variance = self.noise**2 + np.maximum(1 / own - self._noise(weights), 0.0)
        return targets - pull / own[..., None], variance

    def _noise(self, weights: np.ndarray) -> np.ndarray:
        """Variance of each match around the map."""
        return self.noise**2 / np.maximum(weights, 1e-4)

    def covariance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Covariance of the displacements of points a and b in each coordinate."""
        inner = a @ np.swapaxes(b, -1, -2)
        squared = squared_lengths(a)[..., :, None] + squared_lengths(b)[..., None, :] - 2 * inner
        smooth = self.bend**2 * np.exp(np.maximum(squared, 0.0) / (-2 * self.reach**2))
        return self.shift**2 + self.stretch**2 * inner + smooth

    def variance(self, a: np.ndarray) -> np.ndarray:
        """Variance of the displacement of each point, in each coordinate: the diagonal of its covariance."""
        return self.shift**2 + self.stretch**2 * squared_lengths(a) + self.bend**2

    def followers(
        self, left: np.ndarray, right: np.ndarray, trust: np.ndarray, rounds: int = 10
    ) -> tuple[np.ndarray, "Deformation"]:
        """Probability that each match follows the map rather than lying anywhere, and the map's noise.

        Expectation maximisation in both directions at once, so that it does not matter which side is left;
        `trust` in (0, 1] is what is known before.
        """
        area = float(np.sqrt(np.prod(np.ptp(left, axis=0)) * np.prod(np.ptp(right, axis=0)))) or 1.0
        share, weights, fitted = 0.5, trust, replace(self, noise=_FIRST_NOISE)
        sources, targets = np.stack((left, right)), np.stack((right, left))
        for _ in range(rounds):
            _, precision, pull = fitted._fitted(sources, targets, weights)
            places, variance = fitted._by_others(targets, weights, precision, pull)
            squared = squared_lengths(places - targets)
            likelihood = np.sqrt(np.exp(-squared / (2 * variance)) / (2 * np.pi * variance)).prod(axis=0)
            excess = (squared / 4 - variance / 2 + fitted.noise**2 / 2).sum(axis=0)
            follows = share * trust * likelihood
            weights = np.maximum(follows / (follows + (1 - share * trust) / area), _LEAST)
            share = float(np.clip(weights.sum() / trust.sum(), 0.1, 0.95))
            noise = float(np.sqrt(max(weights @ excess / weights.sum(), 0.0)))
            fitted = replace(self, noise=float(np.clip(noise, self.noise, 2 * _FIRST_NOISE)))
        return weights, fitted


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
        weights, fitted = self.deformation.followers(*ends, trust)
        squared = np.zeros(len(self.pairs))
        for side, (sources, targets) in enumerate((ends, ends[::-1])):
            from_points, to_points = (self.left, self.right)[:: 1 - 2 * side]
            places, variance, all_places, all_variance = fitted.expect(sources, targets, weights, from_points)
            ours = self.pairs[chosen, side]
            all_places[ours], all_variance[ours] = places, variance
            of, to = self.pairs[:, side], self.pairs[:, 1 - side]
            ways = all_places.take(of, axis=0) - to_points.take(to, axis=0)
            squared += 0.5 * squared_lengths(ways) / all_variance[of]
        return squared

    def nearness(self, chosen: np.ndarray) -> np.ndarray:
        """How near matches are to each other, on both sides together; larger is nearer."""
        total = np.zeros((chosen.size, chosen.size))
        for side, points in enumerate((self.left, self.right)):
            ends = points[self.pairs[chosen, side]]
            total -= ((ends[:, None, :] - ends[None, :, :]) ** 2).sum(axis=2)
        return total
