"""From the maxima a method found to a partition: which maxima are one, and who belongs to which.

Each method states which of these it uses; none of them looks at the data again.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hypermodes.partition import OUTLIER, Group
from hypermodes.scalars import finite_number, whole_number


def distinct(groups: Sequence[Group], n: int, closer: float = 0.05) -> tuple[list[Group], np.ndarray]:
    """Take maxima for one that coincide.

    Those of the same support are one, and the best of them stands for them all. Of these, x and y with
    ||x - y||₁ < ``closer`` are one, chains included.

    Returns
    -------
    kept : list of Group
        The best of each lot.
    owner : (len(groups),) int64
        Position in ``kept`` for each of ``groups``.
    """
    if not groups:
        return [], np.empty(0, dtype=np.int64)
    places: dict[bytes, int] = {}
    first = np.array([places.setdefault(group.support.tobytes(), len(places)) for group in groups])
    faces = _best_of_each(groups, first)
    lot = connected_components(_coinciding(faces, n, closer), directed=False)[1]
    owner = lot[first].astype(np.int64)
    return _best_of_each(groups, owner), owner


def by_support(groups: Sequence[Group], n: int, least: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Give each item to the best group that holds it; those that no group holds are outliers.

    A group x holds item i if x_i > 0 and x_i / max x ≥ ``least``; that ratio is the probability of the item.
    """
    labels, probabilities = np.full(n, OUTLIER, dtype=np.int64), np.zeros(n)
    for k in sorted(range(len(groups)), key=lambda k: (-groups[k].value, groups[k].support.tolist())):
        ratio = groups[k].weights / groups[k].weights.max()
        free = (labels[groups[k].support] == OUTLIER) & (ratio >= least)
        items = groups[k].support[free]
        labels[items], probabilities[items] = k, ratio[free]
    return labels, probabilities


def without_small(
    labels: np.ndarray, probabilities: np.ndarray, min_members: int
) -> tuple[np.ndarray, np.ndarray]:
    """Make outliers of the items of clusters with fewer than ``min_members``."""
    whole_number("min_members", min_members, "a number of items, 1 or more")
    sizes = np.bincount(labels[labels >= 0], minlength=1)
    small = (labels >= 0) & (sizes[labels] < min_members)
    return np.where(small, OUTLIER, labels), np.where(small, 0.0, probabilities)


def check_budget(tol: float, max_steps: int) -> None:
    """Refuse tolerances without meaning and budgets that are not counts."""
    finite_number("tol", tol, "a relative tolerance between 1e-12 and 0.1", least=1e-12, most=0.1)
    whole_number("max_steps", max_steps, "a number of steps, 1 or more")


def _best_of_each(groups: Sequence[Group], lot: np.ndarray) -> list[Group]:
    """The group of largest value of each lot; the first of equals."""
    value = np.array([group.value for group in groups])
    order = np.lexsort((np.arange(lot.size), -value, lot))
    return [groups[order[i]] for i in np.searchsorted(lot[order], np.arange(lot.max() + 1))]


def _coinciding(groups: Sequence[Group], n: int, closer: float) -> sp.csr_array:
    """Pairs with ||x - y||₁ = 2 - 2 Σ_i min(x_i, y_i) < closer; only groups that share an item can be."""
    indptr = np.concatenate(([0], np.cumsum([len(group) for group in groups])))
    items = np.concatenate([group.support for group in groups])
    shares = np.concatenate([group.weights for group in groups])
    rows = sp.csr_array((shares, items, indptr), shape=(len(groups), n))
    columns = rows.tocsc()
    pairs: list[tuple[int, int]] = []
    for i, group in enumerate(groups):
        common = np.zeros(len(groups))
        holders = columns[:, group.support].tocoo()
        np.add.at(common, holders.row, np.minimum(holders.data, group.weights[holders.col]))
        pairs += [(i, int(j)) for j in np.flatnonzero(2 - 2 * common < closer)]
    i, j = np.array(pairs).T
    return sp.csr_array((np.ones(i.size), (i, j)), shape=(len(groups), len(groups)))
