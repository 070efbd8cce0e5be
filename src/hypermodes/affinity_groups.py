"""Groups of anything that has affinities: from similarities or distances to labels, outliers left out."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, log2
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.groups import Groups, cluster
from hypermodes.hypergraph import Hypergraph
from hypermodes.modes import find_modes
from hypermodes.progress import Progress
from hypermodes.result import Mode, counted
from hypermodes.tree import ModeTree, check_count

KINDS = ("similarity", "distance")
SCALE = 7  # the neighbour whose distance is the scale of an item (Zelnik-Manor & Perona, 2004)


@dataclass(frozen=True, eq=False)
class AffinityGroups:
    """Groups of items, the largest first, and who stands for each.

    Attributes
    ----------
    labels : (n,) int64
        Group of each item, the largest being 0; -1 for outliers.
    assigned : (n,) int64
        The same with every item in a group; -1 only if there are no groups.
    probabilities : (n,) float
        How strongly each item belongs to its group, in [0, 1]; 0 for outliers.
    representatives : (n_groups,) int64
        An item of each group: the heaviest of its mode.
    tree : ModeTree or None
        How small groups join into these, and these into one; None if there are none.
    hypergraph : Hypergraph
        The neighbourhoods behind it; hyperedge i is that of item i.
    """

    labels: np.ndarray
    assigned: np.ndarray
    probabilities: np.ndarray
    representatives: np.ndarray
    tree: ModeTree | None
    hypergraph: Hypergraph
    _summits: np.ndarray

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.representatives.size)

    @cached_property
    def modes(self) -> tuple[Mode | None, ...]:
        """The certified mode at the core of each group; supports are items."""
        return _modes(self.hypergraph, self._summits)

    def __len__(self) -> int:
        return self.n_groups

    def __repr__(self) -> str:
        outliers = int((self.labels < 0).sum())
        return (
            f"AffinityGroups({counted(self.n_groups, 'group')} of {counted(self.labels.size, 'item')}, "
            f"{counted(outliers, 'outlier')})"
        )


def group_affinity(
    affinity: Any,
    n_groups: int | None = None,
    *,
    kind: str = "similarity",
    n_neighbors: int | None = None,
    n_jobs: int | None = -1,
    progress: Progress = None,
) -> AffinityGroups:
    """Find the groups of items from how similar, or how far apart, each two of them are.

    Parameters
    ----------
    affinity : (n, n) array or sparse matrix
        Symmetric up to rounding, finite, 0 or more. What a sparse matrix does not hold is not similar.
    n_groups : int, optional
        How many are wanted; found if not given.
    kind : {"similarity", "distance"}
        Whether larger numbers mean more alike, or farther apart. Distances d become
        exp(-d² / (s_i s_j)), with s_i the distance to the 7th neighbour.
    n_neighbors : int, optional
        Others in a neighbourhood; ⌈log₂ n⌉ if not given.
    n_jobs, progress
        As in `find_modes`.

    Examples
    --------
    >>> apart = np.abs(np.subtract.outer(*2 * [np.r_[0:9, 100:109]]))
    >>> group_affinity(apart, kind="distance")
    AffinityGroups(2 groups of 18 items, 0 outliers)
    """
    similar = _similarities(affinity, kind)
    check_count("n_neighbors", n_neighbors)
    n = similar.shape[0]
    hypergraph = _neighbourhoods(similar, n_neighbors or max(2, ceil(log2(n))))
    return _read_out(cluster(hypergraph, n_groups, n_jobs=n_jobs, progress=progress))


def self_tuning(distances: np.ndarray) -> np.ndarray:
    """exp(-d² / (s_i s_j)), s_i the distance to the 7th neighbour; 0 on the diagonal.

    Where so many coincide that s_i = 0, the smallest positive one counts, and 1 if there is none.
    """
    n = len(distances)
    scale = np.partition(distances, min(SCALE, n - 1), axis=1)[:, min(SCALE, n - 1)].astype(np.float64)
    positive = scale[scale > 0]
    scale = np.where(scale > 0, scale, positive.min() if positive.size else 1.0)
    similar = np.exp(-((distances / np.sqrt(scale)[:, None] / np.sqrt(scale)[None, :]) ** 2))
    np.fill_diagonal(similar, 0.0)
    return similar


def _similarities(given: Any, kind: str) -> sp.csr_array:
    """Checked, symmetric, without a diagonal."""
    if kind not in KINDS:
        raise ValueError(f"kind: expected 'similarity' or 'distance'; got {kind!r}")
    try:
        array = given if sp.issparse(given) else np.asarray(given)
    except ValueError:
        raise ValueError("affinity: expected an (n, n) matrix; got rows of different lengths") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.dtype.kind not in "biuf":
        raise ValueError(
            f"affinity: expected an (n, n) matrix of numbers; got shape {array.shape}, type {array.dtype}"
        )
    if array.shape[0] < 2:
        raise ValueError(f"affinity: expected two items or more; got {array.shape[0]}")
    if sp.issparse(array):
        if kind == "distance":
            raise ValueError("affinity: expected distances as an array; a sparse matrix holds similarities")
        matrix = sp.csr_array(array, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        values = matrix.data
    else:
        matrix = array.astype(np.float64)
        values = matrix
    if not np.isfinite(values).all():
        raise ValueError("affinity: expected finite numbers; found NaN or infinity")
    if values.size and values.min() < 0:
        raise ValueError(f"affinity: expected numbers, 0 or more; the smallest is {float(values.min())!r}")
    gap = float(np.abs(matrix - matrix.T).max())
    if gap > 1e-6 * float(values.max(initial=0.0)):
        raise ValueError(
            f"affinity: expected a symmetric matrix; some pair differs by {gap!r}. If that is meant, use "
            "(A + A.T) / 2"
        )
    matrix = (matrix + matrix.T) / 2
    if kind == "distance":
        if np.diag(matrix).any():
            i = int(np.flatnonzero(np.diag(matrix))[0])
            raise ValueError(
                f"affinity: expected distances, so 0 on the diagonal; entry ({i}, {i}) is {matrix[i, i]!r}"
            )
        matrix = self_tuning(matrix)
    elif not sp.issparse(matrix):
        np.fill_diagonal(matrix, 0.0)
    similar = sp.csr_array(matrix)
    if sp.issparse(matrix):
        similar.setdiag(0.0)
    similar.eliminate_zeros()
    return similar


def _neighbourhoods(similar: sp.csr_array, k: int) -> Hypergraph:
    """Hyperedge i is item i and the k most similar to it, by how similar they are; equal ones are all in."""
    rows, columns, shares = [], [], []
    for i in range(similar.shape[0]):
        part = slice(similar.indptr[i], similar.indptr[i + 1])
        others, values = similar.indices[part], similar.data[part]
        if others.size > k:
            kept = values >= np.partition(values, values.size - k)[values.size - k] * (1 - 1e-12)
            others, values = others[kept], values[kept]
        rows.append(np.concatenate(([i], others)))
        shares.append(np.concatenate(([1.0], values / values.max(initial=1e-300))))
        columns.append(np.full(others.size + 1, i))
    shape = similar.shape
    incidence = sp.csc_array(
        (np.concatenate(shares), (np.concatenate(rows), np.concatenate(columns))), shape=shape
    )
    return Hypergraph(incidence, np.asarray(incidence.sum(axis=0)).ravel())


def _read_out(found: Groups) -> AffinityGroups:
    """Items by their vertices; outliers are those whose own neighbourhood belongs to no group."""
    k = found.n_clusters
    assigned = found.vertex_labels
    labels = np.where(found.edge_labels < 0, -1, assigned)
    empty = np.bincount(labels[labels >= 0], minlength=k) == 0
    labels = np.where(np.append(empty, False)[assigned], assigned, labels)  # a group keeps someone
    inside = np.flatnonzero(labels >= 0)
    strength = np.zeros(labels.size)
    if inside.size:
        strength[inside] = np.clip(np.asarray(found.memberships[inside, labels[inside]]).ravel(), 0.0, 1.0)
    size, first = np.bincount(labels[inside], minlength=k), np.full(k, labels.size)
    np.minimum.at(first, labels[inside], inside)
    rank = np.full(k + 1, -1, np.int64)
    rank[np.lexsort((first, -size))] = np.arange(k)
    labels, assigned = rank[labels], rank[assigned]
    order = inside[np.lexsort((-strength[inside], labels[inside]))]
    summits = order[np.searchsorted(labels[order], np.arange(k))]
    modes = _modes(found.hypergraph, summits)
    heaviest = [
        int(summit) if mode is None else int(mode.support[np.argmax(np.round(mode.weights, 9))])
        for summit, mode in zip(summits, modes, strict=True)
    ]
    representatives = np.array(
        [one if labels[one] == g else int(summits[g]) for g, one in enumerate(heaviest)], dtype=np.int64
    )
    for array in (labels, assigned, strength, representatives):
        array.flags.writeable = False
    return AffinityGroups(labels, assigned, strength, representatives, found.tree, found.hypergraph, summits)


def _modes(hypergraph: Hypergraph, summits: np.ndarray) -> tuple[Mode | None, ...]:
    if not summits.size:
        return ()
    found = find_modes(hypergraph, starts=summits.tolist())
    return tuple(None if k < 0 else found[k] for k in found.edge_mode[summits].tolist())
