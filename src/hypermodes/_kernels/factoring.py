"""Pivoted Cholesky factors of small symmetric forms, as far as they are positive definite."""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import INNER


@njit(**INNER)
def factor(form, order, limit):
    """Pivoted Cholesky of the leading part of a symmetric form, in place; its rank.

    On return the first `rank` rows and columns (in `order`) hold the lower factor, the rest the Schur
    complement: what is left of the form once the strictly positive part is accounted for.
    """
    m = order.size
    for k in range(m):
        order[k] = k
    for k in range(m):
        pivot = k
        for j in range(k + 1, m):
            if form[j, j] > form[pivot, pivot]:
                pivot = j
        if form[pivot, pivot] <= limit:
            return k
        if pivot != k:
            order[k], order[pivot] = order[pivot], order[k]
            for j in range(m):
                form[k, j], form[pivot, j] = form[pivot, j], form[k, j]
            for j in range(m):
                form[j, k], form[j, pivot] = form[j, pivot], form[j, k]
        root = np.sqrt(form[k, k])
        form[k, k] = root
        for j in range(k + 1, m):
            form[j, k] /= root
        for j in range(k + 1, m):
            for i in range(k + 1, m):
                form[j, i] -= form[j, k] * form[i, k]
    return m


@njit(**INNER)
def solve_factored(form, rank, b):
    """Solve L Lᵀ x = b for the first `rank` entries of b, in place."""
    for k in range(rank):
        value = b[k]
        for j in range(k):
            value -= form[k, j] * b[j]
        b[k] = value / form[k, k]
    for k in range(rank - 1, -1, -1):
        value = b[k]
        for j in range(k + 1, rank):
            value -= form[j, k] * b[j]
        b[k] = value / form[k, k]
