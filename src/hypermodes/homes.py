"""The home model: which groups of vertices explain the ties between them, and how many groups there are.

A tie is made at home with probability x: a group is drawn in proportion to its degree D_g, and both ends from
that group; else both ends are drawn from everybody. Vertices are drawn in proportion to their degrees. Then

    log P(ties | groups) - log P(ties | no groups) = Σ_g E_g log(1 - x + x D/D_g) + E_between log(1 - x),

with E_g the ties inside g. Saying who is in which group costs log of the number of ways to say it,

    log N + log C(N-1, K-1) + log N!/Π n_g!.

The difference, the `evidence` for the groups in nats, is what is maximised: x is fitted, the number of groups
comes out, and where nothing is gained there is one group. Each word is paid a price that `chance` tells.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from hypermodes.threads import in_threads

STARTS = (0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95)  # shares of ties at home to begin with
SWEEPS = 32
ROUNDS = 32
GAIN = 1e-5  # relative, that makes another round worth it


@dataclass(frozen=True, eq=False)
class Homes:
    """Groups of vertices and how well they explain the ties.

    Attributes
    ----------
    labels : (n,) int64
        Group of each vertex, 0 … n_groups - 1.
    share : float
        x, the probability that a tie is made at home.
    evidence : float
        log-likelihood against no groups, less what it takes to say the groups, in nats; 0 for one group.
    """

    labels: np.ndarray
    share: float
    evidence: float

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return int(self.labels.max()) + 1


def find_homes(matrix: sp.csr_array, cost: float = 1.0, n_jobs: int | None = 1) -> Homes:
    """The groups of the largest evidence that climbing from several starts comes to, or simpler ones.

    Of all that are found the one with the fewest groups is taken whose evidence is within one standard error
    of the largest (Breiman's rule).
    """
    n = matrix.shape[0]
    found = [Homes(np.zeros(n, np.int64), 0.5, 0.0)]
    found += in_threads(n_jobs, lambda start: climb(matrix, np.arange(n), start, cost=cost), STARTS)
    best = max(found, key=lambda homes: round(homes.evidence, 6))
    near = [best] + [
        homes
        for homes in found
        if homes.n_groups < best.n_groups
        and best.evidence - homes.evidence <= standard_error(matrix, best, homes)
    ]
    return min(near, key=lambda homes: (homes.n_groups, -round(homes.evidence, 6)))


def standard_error(matrix: sp.csr_array, one: Homes, other: Homes | None = None) -> float:
    """Of the log-likelihood, or of the difference of two, ties being a sample; in nats."""
    of_tie = _log_ratios(matrix, one) - (0.0 if other is None else _log_ratios(matrix, other))
    weights = matrix.data / 2
    mean = (weights @ of_tie) / weights.sum()
    return float(np.sqrt(weights @ (of_tie - mean) ** 2))


def _log_ratios(matrix: sp.csr_array, homes: Homes) -> np.ndarray:
    """log P(tie | groups) - log P(tie | none), for each entry of the matrix."""
    if homes.n_groups == 1:
        return np.zeros(matrix.nnz)
    degrees = sums(matrix, homes.labels)[1]
    inner = np.log(1 - homes.share + homes.share * degrees.sum() / degrees)
    row = np.repeat(homes.labels, np.diff(matrix.indptr))
    return np.where(row == homes.labels[matrix.indices], inner[row], np.log(1 - homes.share))


def climb(
    matrix: sp.csr_array, labels: np.ndarray, share: float, *, cost: float = 1.0, fixed: bool = False
) -> Homes:
    """Improve groups by moves of vertices and of whole groups; only of vertices if their number is fixed.

    Vertices move one at a time, in their order, to the group where most is gained; then whole groups do, and
    so on upwards; x is fitted again, until nothing is gained any more.
    """
    from hypermodes._kernels.homes import ascend

    orders = gammaln(np.arange(labels.size + 1) + 1.0)
    found, share, evidence = ascend(
        matrix.indptr, matrix.indices, matrix.data, labels.astype(np.int32), orders, share, cost, not fixed,
        SWEEPS, ROUNDS, GAIN,
    )  # fmt: skip
    return Homes(found.astype(np.int64), share, evidence)


def judged(matrix: sp.csr_array, labels: np.ndarray, cost: float = 1.0) -> Homes:
    """Fit x to groups and say how well they explain the ties."""
    inside, degrees, members = sums(matrix, labels)
    if members.size == 1:
        return Homes(labels, 0.5, 0.0)
    total = degrees.sum()
    share = fitted_share(inside, degrees)
    between = total / 2 - inside.sum()
    gain = float((inside * np.log(1 - share + share * total / degrees)).sum() + between * np.log(1 - share))
    return Homes(labels, share, gain - cost * words(members))


def words(members: np.ndarray) -> float:
    """What it takes to say who is in which group, in nats."""
    n, k = members.sum(), members.size
    return float(
        gammaln(n + 1) - gammaln(members + 1).sum() + gammaln(n) - gammaln(k) - gammaln(n - k + 1) + np.log(n)
    )


def sums(matrix: sp.csr_array, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ties inside each group, its degree, its number of vertices."""
    k = int(labels.max()) + 1
    row = np.repeat(labels, np.diff(matrix.indptr))
    inner = row == labels[matrix.indices]
    inside = np.bincount(row[inner], weights=matrix.data[inner], minlength=k) / 2
    return inside, np.bincount(row, weights=matrix.data, minlength=k), np.bincount(labels, minlength=k)


def fitted_share(inside: np.ndarray, degrees: np.ndarray) -> float:
    """The most likely x: the share of ties that is made at home, given x (EM, a concave problem)."""
    from hypermodes._kernels.homes import fit

    return float(fit(inside, degrees))


def grouped(matrix: sp.csr_array, labels: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
    """Ties between groups, and those inside each."""
    from hypermodes._kernels.homes import gathered

    k = int(labels.max()) + 1
    ptr, index, tie, inside = gathered(
        matrix.indptr, matrix.indices, matrix.data, labels.astype(np.int32, copy=False), k
    )
    return sp.csr_array((tie, index, ptr), shape=(k, k)), inside
