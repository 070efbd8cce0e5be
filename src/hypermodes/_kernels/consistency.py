"""How well two candidate correspondences go together, for all pairs of them; and groups that grow from that.

A candidate c pairs point left[c] of one set with point right[c] of another. Twins of the formulas in
`construct.correspondences`.
"""

import numpy as np
from numba import njit

from hypermodes._kernels.faces import INNER, OPTIONS


@njit(**INNER)
def _squared_turn(difference, period):
    """Square of an angle's distance from 0, angles that differ by a period being equal."""
    turn = difference - period * np.floor(difference / period + 0.5)
    return turn * turn


@njit(**OPTIONS)
def consistent_pairs(
    sides, left, right, own, log_ratio, precisions, period, limit, row_ends, columns, values
):
    """Exponent of the affinity of every pair of candidates, where it is at most `limit`.

    Called twice: with no room in `columns` it counts, row_ends[c + 1] of row c; with room it fills. `sides`
    are the lengths and directions between points, left then right; precisions are 1/σ² of lengths,
    directions and logarithms of scale ratios; own[c] is the share of the exponent that c has alone.
    """
    left_lengths, left_turns, right_lengths, right_turns = sides
    by_length, by_turn, by_scale = precisions
    fill = columns.size > 0
    at = 0
    for c in range(left.size):
        i, a = left[c], right[c]
        for d in range(left.size):
            j, b = left[d], right[d]
            if i == j or a == b:
                continue
            gap = left_lengths[i, j] - right_lengths[a, b]
            exponent = own[c] + own[d] + by_length * gap * gap
            if exponent > limit:
                continue
            if by_turn > 0.0:
                there = _squared_turn(left_turns[i, j] - right_turns[a, b], period)
                back = _squared_turn(left_turns[j, i] - right_turns[b, a], period)
                exponent += 0.5 * by_turn * (there + back)
            if by_scale > 0.0:
                gap = log_ratio[c] - log_ratio[d]
                exponent += by_scale * gap * gap
            if exponent <= limit:
                if fill:
                    columns[at] = d
                    values[at] = exponent
                at += 1
        row_ends[c + 1] = at


@njit(**OPTIONS)
def grow_groups(ptr, columns, values, left, right, n_left, n_right, seeds, members, affinities):
    """Grow a group from each seed: again and again the candidate with most affinity to the members so far.

    Candidates in conflict with a member are passed over. Row g of `members` is the group of seeds[g], filled
    up with -1; `affinities` is the total affinity of each to the others.
    """
    n_groups, size = members.shape
    total = np.zeros(left.size)
    touched = np.empty(left.size, dtype=np.int64)
    left_by, right_by = np.full(n_left, -1), np.full(n_right, -1)  # the group that took a point last
    for g in range(n_groups):
        n_touched = 0
        newest = seeds[g]
        for k in range(size):
            members[g, k] = newest
            left_by[left[newest]] = right_by[right[newest]] = g
            for e in range(ptr[newest], ptr[newest + 1]):
                c = columns[e]
                if total[c] == 0.0:
                    touched[n_touched] = c
                    n_touched += 1
                total[c] += values[e]
            newest, gain = -1, 0.0
            for t in range(n_touched):
                c = touched[t]
                if total[c] > gain and left_by[left[c]] != g and right_by[right[c]] != g:
                    newest, gain = c, total[c]
            if newest < 0:
                break
        for k in range(size):
            if members[g, k] >= 0:
                affinities[g, k] = total[members[g, k]]
        for t in range(n_touched):
            total[touched[t]] = 0.0
