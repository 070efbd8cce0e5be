"""Graph shift: from every vertex to the mode of graph density it belongs to [LY10].

References
----------
.. [LY10] Liu & Yan, Robust Graph Mode Seeking by Graph Shift, ICML 2010.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.baselines.pairwise import matrix_of
from hypermodes.baselines.readout import check_budget, distinct, without_small
from hypermodes.partition import OUTLIER, Group, Partition
from hypermodes.scalars import whole_number

_DYING = 1e-3  # a share this far below the largest leaves, if its reward is below the density
_BATCH = 4_000_000  # numbers in one batch of faces (32 MB)


def graph_shift(
    subject: Any,
    *,
    tol: float = 1e-4,
    max_steps: int = 2_000,
    max_rounds: int = 50,
    closer: float = 0.05,
    min_members: int = 2,
) -> Partition:
    """Shift every vertex to a mode; vertices that end at the same mode are a cluster.

    A mode is a local maximiser of f(x) = xᵀAx on the simplex. With r = Ax, λ = f(x) and σ the support of
    x, a start e_i goes round and round

    - neighbourhood expansion: γ_j = max(r_j - λ, 0) off σ. If γ = 0, x is a mode: stop. Otherwise go
      along b = γ - s x, s = Σγ_j, by the best feasible amount t (`step_length`);
    - replicator dynamics on σ: x_i ← x_i r_i / λ, until max_σ |r_i - λ| ≤ tol λ.

    Parameters
    ----------
    subject : Hypergraph, Affinity, dense or sparse symmetric matrix
        A hypergraph stands for the affinity of its hyperedges.
    tol : float
        Tolerance relative to λ, of both phases: γ_j counts if r_j > (1 + tol) λ.
    max_steps : int
        Replicator steps of one start in one round.
    max_rounds : int
        Rounds of one start.
    closer : float
        Modes x, y with ||x - y||₁ below this are one.
    min_members : int
        Smaller clusters are outliers. Vertices without a neighbour always are.

    Returns
    -------
    Partition
        Of the vertices. The probability of a vertex is r_i / λ at its mode, at most 1; the value of a
        group is f; iterations are replicator steps and expansions, all starts together.

    Notes
    -----
    Every positive entry of a row of A joins in the first expansion: meant for sparse matrices. Each share
    x_i ≤ 1e-3 max x leaves as soon as r_i ≤ (1 - ε/2) λ, ε being the mass of all that leave with it;
    this never lowers f, and replicator dynamics alone would never end.

    Examples
    --------
    >>> pairs = np.kron(np.eye(2), np.ones((3, 3)))
    >>> graph_shift(pairs).labels
    array([0, 0, 0, 1, 1, 1])
    """
    check_budget(tol, max_steps)
    whole_number("max_rounds", max_rounds, "a number of rounds, 1 or more")
    matrix = matrix_of(subject)
    n = matrix.shape[0]
    starts = np.flatnonzero(np.diff(matrix.indptr))
    x, iterations = shift_from(matrix, starts, tol, max_steps, max_rounds)
    value = _row_sums(x.multiply(x @ matrix))
    modes = [
        Group(x.indices[low:high], x.data[low:high], value[i])
        for i, (low, high) in enumerate(zip(x.indptr[:-1], x.indptr[1:], strict=True))
    ]
    groups, owner = distinct(modes, n, closer)
    labels, probabilities = np.full(n, OUTLIER, dtype=np.int64), np.zeros(n)
    labels[starts] = owner
    for k, group in enumerate(groups):
        members = np.flatnonzero(labels == k)
        rewards = matrix[members] @ group.distribution(n)
        probabilities[members] = np.clip(rewards / group.value, 0.0, 1.0)
    labels, probabilities = without_small(labels, probabilities, min_members)
    return Partition.ranked(labels, probabilities, groups, iterations, starts.size)


def shift_from(
    matrix: sp.csr_array, starts: np.ndarray, tol: float, max_steps: int, max_rounds: int
) -> tuple[sp.csr_array, int]:
    """All starts at once, one row each: expand and climb until every row is a mode; and the iterations."""
    shape = (starts.size, matrix.shape[0])
    x = sp.csr_array((np.ones(starts.size), starts, np.arange(starts.size + 1)), shape=shape)
    moving = np.arange(starts.size)
    done: list[tuple[np.ndarray, sp.csr_array]] = []
    iterations = 0
    for _ in range(max_rounds):
        x, expanded = expand(matrix, x, tol)
        done.append((moving[~expanded], x[~expanded]))
        x, moving = x[expanded], moving[expanded]
        if moving.size == 0:
            break
        x, steps = climb(matrix, x, tol, max_steps)
        iterations += moving.size + steps
    done.append((moving, x))
    order = np.argsort(np.concatenate([rows for rows, _ in done]))
    return sp.csr_array(sp.vstack([part for _, part in done]))[order], iterations


def expand(matrix: sp.csr_array, x: sp.csr_array, tol: float) -> tuple[sp.csr_array, np.ndarray]:
    """One neighbourhood expansion of each row of x, and which rows had somewhere to go.

    x ← x + t (γ - s x) with γ_j = r_j - λ where that exceeds tol λ off the support, s = Σγ_j and t as in
    `step_length`. Rows with γ = 0 stay as they are: they are modes of the whole graph.
    """
    rewards = sp.coo_array(x @ matrix)
    value = _row_sums(x.multiply(rewards))
    row, column = rewards.coords
    gain = rewards.data - value[row]
    n = matrix.shape[0]
    inside = np.isin(row.astype(np.int64) * n + column, _rows_of(x) * n + x.indices)
    kept = ~inside & (gain > tol * value[row])
    gamma = sp.csr_array((gain[kept], (row[kept], column[kept])), shape=x.shape)
    s, zeta = _row_sums(gamma), _row_sums(gamma.multiply(gamma))
    omega = _row_sums(gamma.multiply(gamma @ matrix))
    expanded = s > 0
    t = np.zeros(x.shape[0])
    t[expanded] = step_length(value[expanded], s[expanded], zeta[expanded], omega[expanded])
    left = np.where(expanded & (t * s >= 1), 0.0, 1 - t * s)
    moved = sp.csr_array(x.multiply(left[:, None]) + gamma.multiply(t[:, None]))
    moved.eliminate_zeros()
    moved.sort_indices()
    return moved, expanded


def step_length(value: np.ndarray, s: np.ndarray, zeta: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """The t in (0, 1/s] that raises f most along b = γ - s x.

    With ζ = Σγ_j² and ω = γᵀAγ the density along the line is

        f(x + t b) - f(x) = 2ζ t - c t²,   c = λ s² + 2 s ζ - ω,

    so t = 1/s if c ≤ 0, and min{1/s, ζ/c} otherwise.
    """
    c = value * s**2 + 2 * s * zeta - omega
    t = 1 / s
    bends = c > 0
    t[bends] = np.minimum(t[bends], zeta[bends] / c[bends])
    return t


def climb(matrix: sp.csr_array, x: sp.csr_array, tol: float, max_steps: int) -> tuple[sp.csr_array, int]:
    """Replicator dynamics of each row of x on its support; the rows, and the steps of all together."""
    indptr, data, steps = x.indptr, np.zeros(x.nnz), 0
    for rows in _batches(np.diff(indptr)):
        supports = [x.indices[indptr[i] : indptr[i + 1]] for i in rows]
        size = max(map(len, supports))
        faces, shares = np.zeros((len(rows), size, size)), np.zeros((len(rows), size))
        for b, (i, support) in enumerate(zip(rows, supports, strict=True)):
            faces[b, : len(support), : len(support)] = matrix[support][:, support].toarray()
            shares[b, : len(support)] = x.data[indptr[i] : indptr[i + 1]]
        shares, taken = replicate(faces, shares, tol, max_steps)
        steps += taken
        for b, i in enumerate(rows):
            data[indptr[i] : indptr[i + 1]] = shares[b, : len(supports[b])]
    climbed = sp.csr_array((data, x.indices.copy(), indptr.copy()), shape=x.shape)
    climbed.eliminate_zeros()
    return climbed, steps


def replicate(faces: np.ndarray, x: np.ndarray, tol: float, max_steps: int) -> tuple[np.ndarray, int]:
    """Run replicator dynamics on many small matrices at once until each is at rest.

    Parameters
    ----------
    faces : (b, m, m) float
        The matrices, padded with zeros.
    x : (b, m) float
        A point of positive density for each of them, zero where padded.

    Returns
    -------
    x : (b, m) float
        Where each came to rest: max |r_i - λ| ≤ tol λ on the support, or ``max_steps``.
    steps : int
        Steps of all together.
    """
    result, busy, steps = np.zeros_like(x), np.arange(len(x)), 0
    place = np.tile(np.arange(x.shape[1]), (len(x), 1))
    for _ in range(max_steps):
        rewards = np.matmul(faces, x[:, :, None])[:, :, 0]
        value = np.einsum("bi,bi->b", x, rewards)
        resting = at_rest(x, rewards, value, tol)
        if resting.any():
            result[busy[resting]] = 0.0
            result[busy[resting, None], place[resting]] = x[resting]
        if resting.all():
            return result, steps
        steps += int((~resting).sum())
        x = replicator_step(x, rewards, value)
        if resting.mean() > 0.25:  # carry on with the others alone; until then the rested go along
            faces, x, place, busy = faces[~resting], x[~resting], place[~resting], busy[~resting]
        if (x > 0).sum(axis=1).max() <= 0.7 * x.shape[1]:
            faces, x, place = pack(faces, x, place)
    result[busy] = 0.0
    result[busy[:, None], place] = x
    return result, steps


def pack(faces: np.ndarray, x: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make the padding narrower once shares have died: the living first, in their order."""
    width = int((x > 0).sum(axis=1).max())
    kept = np.argsort(x == 0, axis=1, kind="stable")[:, :width]
    rows = np.take_along_axis(faces, kept[:, :, None], axis=1)
    faces = np.take_along_axis(rows, kept[:, None, :], axis=2)
    return faces, np.take_along_axis(x, kept, axis=1), np.take_along_axis(place, kept, axis=1)


def at_rest(x: np.ndarray, rewards: np.ndarray, value: np.ndarray, tol: float) -> np.ndarray:
    """Whether the rewards of each support agree with λ."""
    return np.where(x > 0, np.abs(rewards - value[:, None]), 0.0).max(axis=1) <= tol * value


def replicator_step(x: np.ndarray, rewards: np.ndarray, value: np.ndarray) -> np.ndarray:
    """x_i ← x_i r_i / λ, or, where shares are dying, x without them. Neither lowers f.

    To drop mass ε of mean reward r leaves a density of at least (λ - 2 ε r) / (1 - ε)², which is λ or
    more if r ≤ (1 - ε/2) λ.
    """
    small = (x > 0) & (x <= _DYING * x.max(axis=1, keepdims=True))
    mass = np.where(small, x, 0.0).sum(axis=1)
    dying = small & (rewards <= ((1 - mass / 2) * value)[:, None])
    grown = np.where(dying.any(axis=1)[:, None], np.where(dying, 0.0, x), x * rewards)
    moved: np.ndarray = grown / grown.sum(axis=1, keepdims=True)
    return moved


def _batches(sizes: np.ndarray) -> Iterator[np.ndarray]:
    """Rows of similar support size, as many at a time as memory allows."""
    order = np.argsort(-sizes, kind="stable")
    while order.size:
        count = max(1, _BATCH // int(sizes[order[0]]) ** 2)
        yield order[:count]
        order = order[count:]


def _rows_of(x: sp.csr_array) -> np.ndarray:
    return np.repeat(np.arange(x.shape[0], dtype=np.int64), np.diff(x.indptr))


def _row_sums(x: sp.csr_array) -> np.ndarray:
    return np.asarray(x.sum(axis=1)).ravel()
