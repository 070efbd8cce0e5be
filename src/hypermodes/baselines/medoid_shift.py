"""Medoid shift: like mean shift, but every step ends at a data point [SKK07].

References
----------
.. [SKK07] Sheikh, Khan & Kanade, Mode-seeking by Medoidshifts, ICCV 2007.
"""

import numpy as np
from scipy.spatial.distance import cdist

from hypermodes.baselines.construct import bandwidth_of, checked_points, in_unit_box
from hypermodes.baselines.readout import without_small
from hypermodes.partition import Group, Partition
from hypermodes.scalars import finite_number


def medoid_shift(
    points: np.ndarray,
    *,
    bandwidth: float | None = None,
    quantile: float = 0.05,
    power: float = 2.0,
    min_members: int = 2,
) -> Partition:
    """Move every point to the medoid of its surroundings, again and again; where they meet is a cluster.

    From point i one goes to the data point that minimises the sum of distances weighted by a kernel at i,

        next(i) = argmin_j Σ_k d(j,k)^power φ(d(k,i)),   φ(d) = exp(-d² / (2 h²)).

    With D = (d(j,k)^power) and Φ = (φ(d(i,k))) that is the row of the smallest entry in column i of D Φᵀ, so
    all points take their step at once, and the way from there on is known: a point is a mode if
    next(i) = i, and the others follow the arrows.

    Parameters
    ----------
    points : (n, d) array of numbers
        They may coincide: points at one place move as one, and count as many.
    bandwidth : float, optional
        h > 0. If not given, the median over all points of the distance within which a point has
        ``quantile`` of the others (`construct.bandwidth_of`).
    quantile : float
        Sets the bandwidth, between 0 and 1; not used if that is given.
    power : float
        2 makes next(i) the data point closest to where mean shift would go; 1 is the classical medoid.
    min_members : int
        Smaller clusters are outliers.

    Returns
    -------
    Partition
        A group is its medoid with weight 1, its value the kernel density there, Σ_k φ(d(i,k)) / n. The
        probability of a point is the density at the point by that at its mode, at most 1. Iterations are
        the steps of the longest way to a mode; all points move at once.

    Notes
    -----
    O(n³) for the product and n² memory. Arrows could form a cycle only where sums tie: its points are one
    mode, the one of largest density.

    Examples
    --------
    >>> medoid_shift(np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]), bandwidth=1.0).labels
    array([0, 0, 0, 1, 1, 1])
    """
    finite_number("power", power, "a positive exponent of distances", above=0)
    box, unit = in_unit_box(checked_points(points))
    h = bandwidth_of(box, unit, bandwidth, quantile)
    places, place, counts = np.unique(box, axis=0, return_inverse=True, return_counts=True)
    distances = cdist(places, places)
    kernel = np.exp(-((distances / h) ** 2) / 2)
    density = kernel @ counts / len(box)
    mode, steps = follow(arrows(distances**power, kernel, counts), density)
    modes, label = np.unique(mode, return_inverse=True)
    first = np.unique(place, return_index=True)[1]  # of the points at a place
    groups = [Group(first[[m]], np.ones(1), density[m]) for m in modes]
    probabilities = np.minimum(density / density[mode], 1.0)
    labels, probabilities = without_small(label[place], probabilities[place], min_members)
    return Partition.ranked(labels, probabilities, groups, steps, 1)


def arrows(distances: np.ndarray, kernel: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """next(i) of each place: the row of the smallest entry in column i of D C Φᵀ, C the counts of places."""
    following: np.ndarray = ((distances * counts) @ kernel.T).argmin(axis=0)
    return following


def follow(following: np.ndarray, density: np.ndarray) -> tuple[np.ndarray, int]:
    """Where the arrows lead from each place, and the length of the longest way."""
    following = without_cycles(following, density)
    mode, steps = following, 0
    while (following[mode] != mode).any():
        mode, steps = following[mode], steps + 1
    return mode, steps + int((following != np.arange(following.size)).any())


def without_cycles(following: np.ndarray, density: np.ndarray) -> np.ndarray:
    """Let the densest place of each cycle of arrows point to itself. Only ties make cycles."""
    far = following
    for _ in range(following.size.bit_length()):  # 2^b ≥ n steps: whoever is reached is on a cycle
        far = far[far]
    following = following.copy()
    for place in np.unique(far):
        cycle = [int(place)]
        while following[cycle[-1]] != place and following[cycle[-1]] != cycle[-1]:
            cycle.append(int(following[cycle[-1]]))
        if len(cycle) > 1:
            densest = min(cycle, key=lambda i: (-density[i], i))
            following[densest] = densest
    return following
