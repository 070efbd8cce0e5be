"""What the pairwise methods share: the matrix, and how far a point of the simplex is from a Nash point.

The problem is to maximise f(x) = xᵀAx on the simplex, A symmetric, non-negative, with zero diagonal. With the
rewards r_i = (Ax)_i and λ = f(x), x satisfies the first-order conditions exactly if r_i = λ on its support
and r_i ≤ λ off it.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.affinity import MatrixAffinity, as_affinity


def matrix_of(subject: Any) -> sp.csr_array:
    """The sparse matrix A of a hypergraph (its hyperedges), an affinity, or a dense or sparse matrix."""
    is_matrix = isinstance(subject, np.ndarray | list) or sp.issparse(subject)
    return (MatrixAffinity(subject) if is_matrix else as_affinity(subject)).matrix()


def nash_error(x: np.ndarray, rewards: np.ndarray) -> float:
    """ε(x) = (Σ_i min{x_i, 1 - r_i/λ}²)^½, for λ > 0: zero exactly where the first-order conditions hold."""
    return float(np.linalg.norm(np.minimum(x, 1 - rewards / (x @ rewards))))
