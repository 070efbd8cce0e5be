"""Kernels of a search by inner products: of a block of them, each row (or column) keeps the best so far.

What is kept is a heap whose worst entry comes first. Most products are worse than that: a stretch of them is
compared at once, and looked through only if one is better.
"""

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import INNER, OPTIONS

STRETCH = 64


@njit(**OPTIONS)
def keep_by_row(products, half, first, score, found):
    """Offer column j of a block to every row, with score products[i, j] - half[j], as number first + j."""
    n = products.shape[1]
    for i in range(products.shape[0]):
        row = products[i]
        for low in range(0, n, STRETCH):
            high = min(low + STRETCH, n)
            worst, better = score[i, 0], 0
            some, theirs = row[low:high], half[low:high]
            for t in range(some.size):
                better += some[t] - theirs[t] > worst
            if better:
                for j in range(low, high):
                    value = row[j] - half[j]
                    if value > score[i, 0]:
                        _put(score[i], found[i], value, first + j)


@njit(**OPTIONS)
def keep_by_column(products, half, first, score, found):
    """Offer row i of a block to every column, with score products[i, j] - half[i], as number first + i."""
    n = products.shape[1]
    worst = score[:, 0].copy()
    for i in range(products.shape[0]):
        row, own = products[i], half[i]
        for low in range(0, n, STRETCH):
            high = min(low + STRETCH, n)
            better = 0
            some, least = row[low:high], worst[low:high]
            for t in range(some.size):
                better += some[t] - own > least[t]
            if better:
                for j in range(low, high):
                    value = row[j] - own
                    if value > worst[j]:
                        _put(score[j], found[j], value, first + i)
                        worst[j] = score[j, 0]


@njit(**INNER)
def _put(score, found, value, number):
    """Replace the worst entry of a heap."""
    at, n = 0, score.size
    while True:
        below = 2 * at + 1
        if below >= n:
            break
        if below + 1 < n and score[below + 1] < score[below]:
            below += 1
        if score[below] >= value:
            break
        score[at], found[at] = score[below], found[below]
        at = below
    score[at], found[at] = value, number
