"""Mean shift [CM02], by scikit-learn, with the types of the other methods.

References
----------
.. [CM02] Comaniciu & Meer, Mean Shift: A Robust Approach Toward Feature Space Analysis, PAMI 24(5), 2002.
"""

import numpy as np
from scipy.spatial import cKDTree
from sklearn.cluster import MeanShift

from hypermodes.baselines.construct import bandwidth_of, checked_points, in_unit_box
from hypermodes.baselines.readout import check_budget, without_small
from hypermodes.partition import Group, Partition


def mean_shift(
    points: np.ndarray,
    *,
    bandwidth: float | None = None,
    quantile: float = 0.05,
    max_steps: int = 300,
    min_members: int = 2,
) -> Partition:
    """Move every point to the mean of the points around it, again and again; where they meet is a cluster.

    With the flat kernel of radius h, a step from y leads to the mean of {x_k : |x_k - y| ≤ h}. It stops when
    a step is no longer than h/1000. Of ends within h of each other the one with more points around it
    stays, and every point goes to the nearest that stayed.

    Parameters
    ----------
    points : (n, d) array of numbers
        They may coincide.
    bandwidth : float, optional
        h > 0. If not given, the median over all points of the distance within which a point has
        ``quantile`` of the others (`construct.bandwidth_of`).
    quantile : float
        Sets the bandwidth, between 0 and 1; not used if that is given.
    max_steps : int
        Steps from one point.
    min_members : int
        Smaller clusters are outliers.

    Returns
    -------
    Partition
        A group is the points within h of where its members meet, all with the same weight, its value their
        part of all points. The probability of a point is the number of points within h of it by that at
        its mode, at most 1. Iterations are those of the point that took most: scikit-learn keeps no others.

    Examples
    --------
    >>> mean_shift(np.array([[0.0], [0.1], [0.2], [5.0], [5.1]]), bandwidth=1.0).labels
    array([0, 0, 0, 1, 1])
    """
    check_budget(1e-3, max_steps)
    places, unit = in_unit_box(checked_points(points))
    h = bandwidth_of(places, unit, bandwidth, quantile)
    fitted = MeanShift(bandwidth=h, max_iter=max_steps, n_jobs=1).fit(places)
    tree = cKDTree(places)
    around = [np.array(near) for near in tree.query_ball_point(fitted.cluster_centers_, h * (1 + 1e-9))]
    groups = [Group(near, np.full(near.size, 1 / near.size), near.size / len(places)) for near in around]
    crowd = tree.query_ball_point(places, h * (1 + 1e-9), return_length=True)
    label = fitted.labels_.astype(np.int64)
    at_mode = np.array([near.size for near in around])[label]
    labels, probabilities = without_small(label, np.minimum(crowd / at_mode, 1.0), min_members)
    return Partition.ranked(labels, probabilities, groups, fitted.n_iter_, 1)
