"""Where clusters end: the density of the ground they stand on, or the fences of their own spacings.

Uniform outliers have one density b, wherever they are. Among all points they are a bump at the low end of
the log densities, with a valley between it and the clusters. Where there is one, a point at which the density
is less than 2b is an outlier: there, the ground has made more points than the cluster. The tails of clusters
make no such bump: the number of points of a Gaussian grows with the log density all the way up.
"""

from typing import NamedTuple

import numpy as np

from hypermodes.threads import stretches
from hypermodes.tree import SLACK, Level

MOST = 0.5  # a group of which more than half would be outliers stands on no ground: it is what is there
CLEAR = 2.0  # standard errors by which a bump exceeds the valley behind it
FINE = 0.5  # bandwidth of a histogram of log densities, in standard errors of one
STEPS = 8  # bins a bandwidth
WIDTHS = 1000  # bandwidths beyond which everything is equally far
ROUNDING = 1e-9  # of logarithms: what moving and turning the points may change
DIGITS = 9  # of counts that are told apart
FAR_OUT = 3.0  # quartile distances: Tukey's outer fence
NORMAL = 1.349  # quartile distance of a normal distribution, in standard deviations


class Quartiles(NamedTuple):
    """Of the spacings in each core."""

    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, spacing: np.ndarray, level: Level, weights: np.ndarray) -> "Quartiles":
        """Find them; a point counts as often as it came."""
        group = level.core + 1
        short = group.astype(np.uint16) if level.n_clusters < np.iinfo(np.uint16).max else group
        order = np.argsort(short, kind="stable")  # short ones are sorted by counting
        ends = np.cumsum(np.bincount(group, minlength=level.n_clusters + 1))
        once = each_once(weights)
        found = np.empty((level.n_clusters, 2))
        for c in range(level.n_clusters):
            part = order[ends[c] : ends[c + 1]]
            found[c] = _quartiles(spacing[part], None if once else weights[part])
        return cls(found[:, 0], found[:, 1])

    @property
    def outer_fences(self) -> np.ndarray:
        """Beyond these a spacing is far out."""
        return self.upper + FAR_OUT * (self.upper - self.lower) + ROUNDING

    def fences_beyond(self, error: float) -> np.ndarray:
        """The same where spacings have a standard error: they differ by as much in the tightest cluster."""
        least = self.upper + FAR_OUT * NORMAL * error
        return np.maximum(self.outer_fences, least)


def _quartiles(values: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Lower and upper quartile, between the two values next to it; without weights each counts once."""
    shares = np.array([0.25, 0.75])
    if weights is None:  # who is who does not matter, nor the order of those that are not next to a quartile
        at = values.size * shares
        below = np.floor(at - 0.5).astype(np.int64)
        near = np.unique(np.clip((below, below + 1), 0, values.size - 1))
        return np.interp(at, near + 0.5, np.partition(values, near)[near])
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    return np.interp(weights.sum() * shares, np.cumsum(weights) - weights / 2, values)


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    """The value up to which there is half of all."""
    if each_once(weights):
        middle = (values.size + 1) // 2 - 1
        return float(np.partition(values, middle)[middle])
    order = np.argsort(values)
    mass = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(mass, mass[-1] / 2 * SLACK)]])


def each_once(weights: np.ndarray) -> bool:
    """Whether no point came more often than others."""
    return bool((weights == 1).all())


def fences(
    spacing: np.ndarray, quartiles: Quartiles, level: Level, weights: np.ndarray, dimension: float, k: int
) -> np.ndarray:
    """The spacing beyond which a point of each cluster is an outlier.

    It is that of the ground the clusters stand on, if there is one. A cluster of which most would be outliers
    is asked no more, and the ground is looked for among the others. Without a ground, it is Tukey's outer
    fence.
    """
    log_density, size = -dimension * spacing, np.bincount(level.labels, weights, level.n_clusters)
    asked = np.ones(level.n_clusters, bool)
    limit, searching = -np.inf, True
    while searching and asked.any():
        here = slice(None) if asked.all() else asked[level.labels]
        limit = ground_limit(log_density[here], weights[here], 1 / np.sqrt(k))
        below = np.bincount(level.labels, weights * (log_density < limit), level.n_clusters)
        searching = bool((covered := asked & (below * SLACK > MOST * size)).any())
        asked &= ~covered
    return np.where(asked & (limit > -np.inf), -limit / dimension, quartiles.outer_fences)


def ground_limit(log_density: np.ndarray, weights: np.ndarray, error: float) -> float:
    """Log density below which points belong to the ground; -inf if there is none.

    The density of the ground, b, is the median of what is below the valley, and the limit 2b, which is just
    included. The ground may be uneven: if it has at least half as many points below b/2 as there are from 2b
    up to the valley, it goes on to the valley. What is below an empty place is no tail of a cluster in any
    case.
    """
    histogram = Histogram.of(log_density, weights, FINE * error)
    end = histogram.valley()
    if end == -np.inf:
        return end
    below = log_density < end - ROUNDING  # the median is on a border of bins
    low, mass = log_density[below], weights[below]
    middle = _median(low, mass)
    double = np.log(2) + ROUNDING  # on a lattice many densities are twice others, but for rounding
    limit = middle + double
    beyond, uneven = mass[low >= limit].sum(), mass[low < middle - double].sum()
    return max(limit, histogram.gap(), end if 2 * uneven >= beyond * SLACK else -np.inf)


class Histogram(NamedTuple):
    """How many values are where, smoothed by a Gaussian of four standard deviations either side."""

    places: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, weights: np.ndarray, width: float) -> "Histogram":
        """Share each value out between two bins, and smooth; the median is on the border of a bin."""
        middle, step = _median(values, weights), width / STEPS

        def bins(values: np.ndarray) -> np.ndarray:
            return np.clip((values - middle) / step, -STEPS * WIDTHS, STEPS * WIDTHS)

        first = np.floor(bins(values.min())) - 4 * STEPS - 1  # where nothing reaches
        n_bins = int(bins(values.max()) - first) + 4 * STEPS + 3
        left, right = np.zeros(n_bins), np.zeros(n_bins)
        for part in stretches(values.size):
            where = bins(values[part]) - first
            bin_ = np.floor(where).astype(np.int64)
            share = where - bin_
            np.add.at(left, bin_, weights[part] * (1 - share))
            np.add.at(right, bin_ + 1, weights[part] * share)
        kernel = np.exp(-0.5 * (np.arange(-4 * STEPS, 4 * STEPS + 1) / STEPS) ** 2)
        smooth = np.convolve(left + right, kernel / kernel.sum(), mode="same")
        return cls(middle + (first + np.arange(n_bins)) * step, np.round(smooth, DIGITS))

    @property
    def lesser(self) -> np.ndarray:
        """Whether at most half of all is below each place."""
        below = np.cumsum(self.counts)
        return np.asarray(below * SLACK <= MOST * below[-1])

    def valley(self) -> float:
        """The last lowest place with a clear bump before it, and at most half; -inf if there is none.

        A bump reaches down to the level of the valley. It is clear if it has more than that level would give
        it by two standard errors.
        """
        counts = self.counts
        lowest = np.flatnonzero((counts[1:-1] < counts[:-2]) & (counts[1:-1] <= counts[2:])) + 1
        for place in lowest[self.lesser[lowest]][::-1]:
            bump = counts[np.flatnonzero(counts[:place] <= counts[place])[-1] + 1 : place]
            if (bump - counts[place]).sum() * SLACK > CLEAR * np.sqrt(bump.sum()):  # 4 points alone are level
                return float(self.places[place])
        return -np.inf

    def gap(self) -> float:
        """The last empty place with at most half before it."""
        return float(self.places[np.flatnonzero(self.lesser & (self.counts == 0))[-1]])
