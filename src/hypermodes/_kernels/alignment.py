"""Two closed outlines laid along each other: dynamic time warping within a band around a given rotation."""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import INNER, OPTIONS

FAR = np.float32(1e30)


@njit(fastmath=True, **INNER)
def cost(one, other, i, j):
    """1 minus the inner product of two contexts, added up in any order: only so it is vectorised."""
    total = np.float32(0)
    for t in range(one.shape[1]):
        total += one[i, t] * other[j, t]
    return np.float32(1) - total


@njit(**INNER)
def warped(one, other, turn, band, give_up, above, row):
    """Cost of walking along both outlines at once, a step on both counting double; half the least total.

    Point i of one meets points i - turn ± band of the other. Ends early, with something no smaller, when
    every way costs more than ``give_up`` already. `above` and `row` are scratch, 2 band + 1 long.
    """
    n, width = one.shape[0], 2 * band + 1
    for i in range(n):
        least = FAR
        for e in range(width):
            here = cost(one, other, i, (i - turn + e - band) % n)
            if i == 0:
                best = here * (1 + abs(e - band))
            else:
                best = above[e] + 2 * here
                if e + 1 < width:
                    best = min(best, above[e + 1] + here)
                if e > 0:
                    best = min(best, row[e - 1] + here)
            row[e] = best
            least = min(least, best)
        if least > 2 * give_up:
            return least / 2
        for e in range(width):
            above[e] = row[e]
    return above.min() / 2


@njit(**OPTIONS)
def closest_alignments(contexts, images, others, turns, image_turns, band, out):
    """How far each shape is from the others after it: a block of rows of a table, from the diagonal on.

    The first of `others` are the shapes themselves. `images` are the contexts of their mirror images; `turns`
    and `image_turns` have the rotation of each pair.
    """
    n_shapes, n_points = contexts.shape[:2]
    above, row = np.empty(2 * band + 1, np.float32), np.empty(2 * band + 1, np.float32)
    for a in range(n_shapes):
        for b in range(a + 1, others.shape[0]):
            best = warped(contexts[a], others[b], turns[a, b], band, FAR, above, row)
            best = min(best, warped(images[a], others[b], image_turns[a, b], band, best, above, row))
            out[a, b] = best / n_points


@njit(**OPTIONS)
def best_of_turns(contexts, others, ones, partners, are_as_good, turns):
    """Of the rotations of each pair that are as good, take that of the least cost; of equals, the first."""
    n_points = contexts.shape[1]
    for k in range(ones.size):
        a, b = ones[k], partners[k]
        least = np.inf
        for turn in range(n_points):
            if are_as_good[turn, k]:
                total = 0.0
                for i in range(n_points):
                    total += cost(contexts[a], others[b], i, (i - turn) % n_points)
                if total < least:
                    least = total
                    turns[a, b] = turn
