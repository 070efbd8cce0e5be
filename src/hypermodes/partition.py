"""What a clustering comes to: a label for each item, and the group behind each label. Frozen, printable."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from hypermodes.matrices import unmasked
from hypermodes.result import counted
from hypermodes.scalars import whole_number

OUTLIER = -1
"""The label of an item that belongs to no cluster."""


@dataclass(frozen=True, eq=False)
class Group:
    """A distribution over a few items, and what the method that found it says it is worth.

    Attributes
    ----------
    support : (m,) int64
        Its items, sorted.
    weights : (m,) float
        Their shares, positive, in the same order; they sum to 1.
    value : float
        The method's own objective at these weights.

    Examples
    --------
    >>> Group([2, 0], [0.25, 0.75], 1.5)
    Group(2 items, value 1.5)
    """

    support: np.ndarray
    weights: np.ndarray
    value: float

    def __post_init__(self) -> None:
        support = _indices("support", self.support)
        weights = _numbers("weights", self.weights, support.size)
        order = np.argsort(support, kind="stable")
        support, weights = support[order], weights[order]
        if support.size == 0 or support[0] < 0 or (np.diff(support) == 0).any():
            raise ValueError(f"support: expected one or more distinct items, 0 or more; got {self.support!r}")
        if not (weights > 0).all() or abs(weights.sum() - 1) > 1e-6:
            raise ValueError(f"weights: expected positive shares that sum to 1; got {self.weights!r}")
        if not np.isfinite(self.value):
            raise ValueError(f"value: expected a finite number; got {self.value!r}")
        _keep(self, support=_frozen(support), weights=_frozen(weights), value=float(self.value))

    @classmethod
    def from_distribution(cls, x: np.ndarray, value: float) -> Self:
        """Keep the support of a distribution over all items."""
        support = np.flatnonzero(x)
        return cls(support, x[support] / x[support].sum(), value)

    def distribution(self, n: int) -> np.ndarray:
        """The group as a distribution over all n items."""
        x = np.zeros(n)
        x[self.support] = self.weights
        return x

    def __len__(self) -> int:
        return int(self.support.size)

    def __repr__(self) -> str:
        return f"Group({counted(len(self), 'item')}, value {self.value:.6g})"


@dataclass(frozen=True, eq=False)
class Partition:
    """A clustering of n items, some of which may belong nowhere.

    Clusters are numbered by the value of their groups, best first; where values agree to nine digits, by
    the smallest item that holds the label. `ranked` puts them in that order.

    Attributes
    ----------
    labels : (n,) int64
        Cluster of each item, 0 … n_clusters - 1; -1 for outliers. No cluster is empty.
    probabilities : (n,) float
        How strongly each item belongs to its cluster, in [0, 1]; 0 for outliers.
    groups : tuple of Group
        One a cluster: the distribution the method found. A group's support may differ from those who
        hold its label, as a summit differs from its slopes.
    iterations, starts : int
        Iterations of the method, all starts together, and how many starts there were.

    Examples
    --------
    >>> Partition.ranked([0, 0, 1, -1], [1, 1, 1, 0], [Group([0, 1], [0.5, 0.5], 1.0), Group([2], [1], 3.0)])
    Partition(2 clusters of 4 items, 1 outlier, largest 2, values 3 to 1)
    """

    labels: np.ndarray
    probabilities: np.ndarray
    groups: tuple[Group, ...]
    iterations: int = 0
    starts: int = 0

    def __post_init__(self) -> None:
        labels = _indices("labels", self.labels)
        probabilities = _numbers("probabilities", self.probabilities, labels.size)
        groups = tuple(self.groups)
        if not all(isinstance(group, Group) for group in groups):
            raise ValueError(f"groups: expected Group objects, one a cluster; got {self.groups!r}")
        if labels.size and (labels.min() < OUTLIER or labels.max() >= len(groups)):
            raise ValueError(
                f"labels: expected -1 … {len(groups) - 1} for {counted(len(groups), 'group')}; "
                f"got {labels.min()} … {labels.max()}"
            )
        sizes = np.bincount(labels[labels >= 0], minlength=len(groups))
        if (sizes == 0).any():
            raise ValueError(f"labels: expected no empty cluster; nobody holds {int(np.argmin(sizes))}")
        if not ((probabilities >= 0) & (probabilities <= 1)).all():
            raise ValueError("probabilities: expected numbers from 0 to 1; found others")
        if probabilities[labels == OUTLIER].any():
            raise ValueError("probabilities: expected 0 for outliers; found others")
        if any(int(group.support[-1]) >= labels.size for group in groups):
            raise ValueError(f"groups: expected supports within the {counted(labels.size, 'item')}")
        for name in ("iterations", "starts"):
            _keep(self, **{name: whole_number(name, getattr(self, name), "a count, 0 or more", least=0)})
        if _rank(labels, groups) != list(range(len(groups))):
            raise ValueError("groups: expected falling values; Partition.ranked puts them in order")
        _keep(self, labels=_frozen(labels), probabilities=_frozen(probabilities), groups=groups)

    @classmethod
    def ranked(
        cls,
        labels: Any,
        probabilities: Any,
        groups: Sequence[Group],
        iterations: int = 0,
        starts: int = 0,
    ) -> Self:
        """Number the clusters by falling value and leave out groups whose label nobody holds."""
        labels = _indices("labels", labels)
        held = np.unique(labels[labels >= 0])
        if held.size and held[-1] >= len(groups):
            raise ValueError(f"labels: expected -1 … {len(groups) - 1}; got {held[-1]}")
        place = np.full(len(groups) + 1, OUTLIER, dtype=np.int64)  # the last entry serves the label -1
        place[held] = np.arange(held.size)
        labels, kept = place[labels], [groups[k] for k in held]
        order = _rank(labels, kept)
        place = np.full(len(kept) + 1, OUTLIER, dtype=np.int64)
        place[order] = np.arange(len(kept))
        return cls(place[labels], probabilities, tuple(kept[k] for k in order), iterations, starts)

    @classmethod
    def all_outliers(cls, n: int) -> Self:
        """The partition of n items none of which belongs anywhere."""
        return cls(np.full(n, OUTLIER), np.zeros(n), ())

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.groups)

    @cached_property
    def outliers(self) -> np.ndarray:
        """Items that belong to no cluster, sorted."""
        return _frozen(np.flatnonzero(self.labels == OUTLIER))

    @cached_property
    def sizes(self) -> np.ndarray:
        """How many items hold each label."""
        return _frozen(np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters))

    def members(self, k: int) -> np.ndarray:
        """Items of cluster k, sorted."""
        last = self.n_clusters - 1
        k = whole_number("k", k, f"the number of a cluster, 0 … {last}", least=0, most=last, error=IndexError)
        return np.flatnonzero(self.labels == k)

    def __len__(self) -> int:
        return int(self.labels.size)

    def __repr__(self) -> str:
        parts = [f"{counted(self.n_clusters, 'cluster')} of {counted(len(self), 'item')}"]
        if self.outliers.size:
            parts.append(counted(self.outliers.size, "outlier"))
        if self.groups:
            parts.append(f"largest {self.sizes.max()}")
            parts.append(f"values {self.groups[0].value:.4g} to {self.groups[-1].value:.4g}")
        return f"Partition({', '.join(parts)})"


def _rank(labels: np.ndarray, groups: Sequence[Group]) -> list[int]:
    """Clusters by falling value; values that agree to nine digits by the first item that holds the label."""
    first = np.full(len(groups), labels.size)
    np.minimum.at(first, labels[labels >= 0], np.flatnonzero(labels >= 0))
    return sorted(range(len(groups)), key=lambda k: (-float(f"{groups[k].value:.9g}"), first[k]))


def _indices(name: str, given: Any) -> np.ndarray:
    """A fresh array of integers."""
    array = np.asarray(unmasked(name, given))
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise ValueError(
            f"{name}: expected a vector of integers; got shape {array.shape}, type {array.dtype}"
        )
    return array.astype(np.int64)


def _numbers(name: str, given: Any, n: int) -> np.ndarray:
    """A fresh array of n finite numbers."""
    array = np.asarray(unmasked(name, given))
    if array.shape != (n,) or array.dtype.kind not in "fiub" or not np.isfinite(array).all():
        raise ValueError(
            f"{name}: expected {n} finite numbers; got shape {array.shape}, type {array.dtype}"
            + ("" if array.shape != (n,) else ", or NaN or infinity among them")
        )
    return array.astype(np.float64)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _keep(target: object, **fields: object) -> None:
    """Set fields of a frozen dataclass while it is made."""
    for name, value in fields.items():
        object.__setattr__(target, name, value)
