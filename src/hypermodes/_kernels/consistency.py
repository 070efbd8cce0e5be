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
def consistent_pairs(sides, left, right, own, log_ratio, precisions, period, one_way, limit):
    """Exponents of the affinity of all pairs of candidates where they are at most `limit`, row by row.

    `sides` are the lengths and directions between points, left then right; precisions are 1/σ² of lengths,
    directions and logarithms of scale ratios; own[c] is the share of the exponent that c has alone. With
    `one_way`, directions back differ as those there do and need not be looked at.
    """
    left_lengths, left_turns, right_lengths, right_turns = sides
    by_length, by_turn, by_scale = precisions
    n = left.size
    row_ends = np.zeros(n + 1, dtype=np.int64)
    columns, values = np.empty(64 * n, dtype=np.int32), np.empty(64 * n)
    at = 0
    for c in range(n):
        if at + n > values.size:
            more = np.empty(2 * values.size + n, dtype=np.int32)
            more[:at] = columns[:at]
            columns = more
            further = np.empty(2 * values.size + n)
            further[:at] = values[:at]
            values = further
        i, a = left[c], right[c]
        for d in range(n):
            j, b = left[d], right[d]
            gap = left_lengths[i, j] - right_lengths[a, b]
            exponent = own[c] + own[d] + by_length * gap * gap
            if exponent > limit or i == j or a == b:
                continue
            if by_turn > 0.0:
                if not one_way:
                    there = _squared_turn(left_turns[i, j] - right_turns[a, b], period)
                    back = _squared_turn(left_turns[j, i] - right_turns[b, a], period)
                    exponent += by_turn * (0.5 * (there + back))
                elif c < d:  # the same way for (c, d) and (d, c), so that they are equal to the last bit
                    exponent += by_turn * _squared_turn(left_turns[i, j] - right_turns[a, b], period)
                else:
                    exponent += by_turn * _squared_turn(left_turns[j, i] - right_turns[b, a], period)
            if by_scale > 0.0:
                gap = log_ratio[c] - log_ratio[d]
                exponent += by_scale * gap * gap
            if exponent <= limit:
                columns[at] = d
                values[at] = exponent
                at += 1
        row_ends[c + 1] = at
    return row_ends, columns[:at].copy(), values[:at].copy()


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
