"""Check what the methods are given: an affinity of candidates."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from hypermodes.baselines.pairwise import matrix_of
from hypermodes.construct.correspondences import Candidates
from hypermodes.scalars import whole_number


def affinity_of(candidates: Candidates, affinity: Any) -> sp.csr_array:
    """The affinity as a sparse matrix, one row a candidate; symmetric, non-negative, zero diagonal."""
    matrix = matrix_of(affinity)
    m = len(candidates.pairs)
    if matrix.shape != (m, m):
        raise ValueError(f"affinity: expected {m} x {m} numbers, a row a candidate; got shape {matrix.shape}")
    return matrix


def check_steps(max_steps: int) -> None:
    """Refuse budgets that are not counts."""
    whole_number("max_steps", max_steps, "a number of steps, 1 or more")


def start_of(candidates: Candidates, start: np.ndarray | None) -> np.ndarray:
    """A start with one non-negative number a candidate; all alike if None."""
    m = len(candidates.pairs)
    if start is None:
        return np.full(m, 1 / max(m, 1))
    x = np.array(start, dtype=np.float64)
    if x.shape != (m,) or not np.isfinite(x).all() or (x < 0).any():
        raise ValueError(f"start: expected {m} finite numbers, none negative; got shape {x.shape}")
    return x
