"""Arrays and matrices as they are given: what conversion would lose, or harm compiled code, is refused."""

from typing import Any

import numpy as np
import scipy.sparse as sp


def unmasked(name: str, given: Any) -> Any:
    """What was given, as it is; a masked entry would come back as an ordinary number."""
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        hidden = int(np.ma.getmaskarray(given).sum())
        raise ValueError(
            f"{name}: expected an array without masked entries; got {hidden} masked of {given.size} "
            "(fill them or leave them out)"
        )
    return given


def given_array(name: str, given: Any, expected: str) -> np.ndarray:
    """An array of what was given, not copied without need."""
    try:
        return np.asarray(unmasked(name, given))
    except ValueError as error:
        if isinstance(given, np.ma.MaskedArray):
            raise
        raise ValueError(f"{name}: expected {expected}; got rows of different lengths") from error


def given_matrix(name: str, given: Any, expected: str) -> Any:
    """A sparse matrix that is sound, as it is, or an array of what was given."""
    check_sound(name, given)
    return given if sp.issparse(given) else given_array(name, given, expected)


def check_sound(name: str, given: Any) -> None:
    """Refuse masked entries, and sparse matrices that point outside themselves."""
    if not sp.issparse(given):
        unmasked(name, given)
    elif given.format in ("csr", "csc", "bsr"):
        shape = given.shape[::-1] if given.format == "csc" else given.shape
        if given.format == "bsr":
            shape = tuple(n // size for n, size in zip(shape, given.blocksize, strict=True))
        n = int(given.indptr[-1]) if given.indptr.size else 0
        if n > len(given.data):
            raise ValueError(f"{name}: expected {n} values, as indptr says; got {len(given.data)}")
        try:
            check_compressed(given.indptr, given.indices[: max(n, 0)], shape)  # SciPy allows more behind them
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    elif given.format == "coo":
        for axis, (places, n) in enumerate(zip(given.coords, given.shape, strict=True)):
            if places.size and not (places.min() >= 0 and places.max() < n):
                raise ValueError(f"{name}: expected indices from 0 to {n - 1} along axis {axis}; got others")


def check_compressed(indptr: np.ndarray, indices: np.ndarray, shape: tuple[int, int]) -> None:
    """See that these are the rows of a compressed matrix: compiled code follows them wherever they point.

    Parameters
    ----------
    indptr, indices
        Row i has ``indices[indptr[i] : indptr[i + 1]]``.
    shape : (int, int)
        How many rows there are, and how many numbers they may hold.
    """
    for name, array in (("indptr", indptr), ("indices", indices)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(
                f"{name}: expected whole numbers in one row; got shape {array.shape}, type {array.dtype}"
            )
    n_rows, n = shape
    check_pointers(indptr, n_rows, indices.size)
    if indices.size and not (indices.min() >= 0 and indices.max() < n):
        raise ValueError(f"indices: expected numbers from 0 to {n - 1}; got others")


def check_pointers(indptr: np.ndarray, n_rows: int, n: int) -> None:
    """See that n entries are divided among rows; by comparison, since differences may overflow."""
    if indptr.size != n_rows + 1:
        raise ValueError(f"indptr: expected {n_rows + 1} numbers, one more than rows; got {indptr.size}")
    if indptr[0] != 0 or indptr[-1] != n or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"indptr: expected numbers from 0 to {n}, the number of indices, that never fall")
