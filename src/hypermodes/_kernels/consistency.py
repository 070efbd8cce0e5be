"""How well two candidate correspondences go together, for all pairs of them; and groups that grow from that.

A candidate c pairs point left[c] of one set with point right[c] of another. Twins of the formulas in
`construct.correspondences`.
"""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import INNER, OPTIONS


@njit(**INNER)
def _squared_turn(difference, period):
    """Square of an angle's distance from 0, angles that differ by a period being equal."""
    turn = difference - period * np.floor(difference / period + 0.5)
    return turn * turn


@njit(**INNER)
def _with_room(columns, values, at, more):
    """These arrays, of which the first `at` are written, or larger ones if `more` would not fit."""
    if at + more <= values.size:
        return columns, values
    wider, further = np.empty(2 * values.size + more, np.int32), np.empty(2 * values.size + more)
    wider[:at], further[:at] = columns[:at], values[:at]
    return wider, further


@njit(**OPTIONS)
def consistent_pairs(sides, left, right, own, log_ratio, precisions, period, one_way, limit, columns, values):
    """Exponents of the affinity of candidates c < d where they are at most `limit`, row by row.

    `sides` are the lengths and directions between points, left then right; precisions are 1/σ² of lengths,
    directions and logarithms of scale ratios; own[c] is the share of the exponent that c has alone. With
    `one_way`, directions back differ as those there do and need not be looked at. `columns` and `values` are
    written to, or larger arrays where they are too small.
    """
    left_lengths, left_turns, right_lengths, right_turns = sides
    by_length, by_turn, by_scale = precisions
    n = left.size
    row_ends = np.zeros(n + 1, dtype=np.int64)
    near, so_far = np.empty(n, dtype=np.uint32), np.empty(n)
    lefts, rights = left.astype(np.uint32), right.astype(np.uint32)  # no index from the end to allow for
    at = 0
    for c in range(n):
        columns, values = _with_room(columns, values, at, n)
        i, a = lefts[c], rights[c]
        from_i, from_a, turns_i, turns_a = left_lengths[i], right_lengths[a], left_turns[i], right_turns[a]
        # Most pairs fail by their lengths. Writing every one and keeping the place leaves nothing to predict.
        n_near = 0
        for d in range(c + 1, n):
            gap = from_i[lefts[d]] - from_a[rights[d]]
            exponent = own[c] + own[d] + by_length * gap * gap
            near[n_near], so_far[n_near] = d, exponent
            n_near += exponent <= limit
        for k in range(n_near):
            d, exponent = near[k], so_far[k]
            j, b = lefts[d], rights[d]
            if i == j or a == b:
                continue
            if by_turn > 0.0:
                there = _squared_turn(turns_i[j] - turns_a[b], period)
                if not one_way:
                    back = _squared_turn(left_turns[j, i] - right_turns[b, a], period)
                    there = 0.5 * (there + back)
                exponent += by_turn * there
            if by_scale > 0.0:
                gap = log_ratio[c] - log_ratio[d]
                exponent += by_scale * gap * gap
            columns[at], values[at] = d, exponent
            at += exponent <= limit
        row_ends[c + 1] = at
    return row_ends, columns[:at], values[:at]


@njit(**OPTIONS)
def alike_displacements(x, y, left, right, own, log_ratio, precisions, limit, columns, values):
    """Exponents as of `consistent_pairs` where candidates are compared by where they move their points.

    x[c], y[c] is the way from the left point of c to its right one; precisions are 1/σ² of the difference of
    two such ways, and of logarithms of scale ratios.
    """
    by_way, by_scale = precisions
    n = left.size
    row_ends = np.zeros(n + 1, dtype=np.int64)
    near, exponents = np.empty(n, dtype=np.uint32), np.empty(n)
    at = 0
    for c in range(n):
        columns, values = _with_room(columns, values, at, n)
        later = range(np.uint64(c + 1), np.uint64(n))  # no index from the end: only so this is vectorised
        for d in later:
            across, up, ratio = x[c] - x[d], y[c] - y[d], log_ratio[c] - log_ratio[d]
            way = by_way * (across * across + up * up)
            exponents[d] = own[c] + own[d] + way + by_scale * ratio * ratio
        n_near = 0
        for d in later:
            near[n_near] = d
            n_near += exponents[d] <= limit
        for k in range(n_near):
            d = near[k]
            columns[at], values[at] = d, exponents[d]
            at += (left[c] != left[d]) & (right[c] != right[d])
        row_ends[c + 1] = at
    return row_ends, columns[:at], values[:at]


@njit(**OPTIONS)
def mirror(ends, columns, values, all_columns, all_values):
    """Write the symmetric matrix with this upper triangle, its rows sorted as those are; their ends."""
    n = ends.size - 1
    all_ends = np.zeros(n + 1, dtype=np.int64)
    below = np.zeros(n, dtype=np.int64)
    for d in columns:
        below[np.uint32(d)] += 1  # no index from the end to allow for
    for r in range(n):
        all_ends[r + 1] = all_ends[r] + below[r] + ends[r + 1] - ends[r]
    place = all_ends[:-1].astype(np.uint64)  # of the next entry below the diagonal
    for c in range(n):
        here = all_ends[c] + below[c]
        for e in range(ends[c], ends[c + 1]):
            d = np.uint32(columns[e])
            all_columns[here], all_values[here] = d, values[e]
            all_columns[place[d]], all_values[place[d]] = c, values[e]
            here += 1
            place[d] += np.uint64(1)
    return all_ends


@njit(**OPTIONS)
def grow_groups(ptr, columns, values, left, right, n_left, n_right, seeds, members, affinities):
    """Grow a group from each seed: again and again the candidate with most affinity to the members so far.

    Candidates in conflict with a member are passed over. Row g of `members` is the group of seeds[g], filled
    up with -1; `affinities` is the total affinity of each to the others.
    """
    n_groups, size = members.shape
    nobody = np.uint32(left.size)  # whose total is always 0
    total = np.zeros(left.size + 1)
    touched, passed_over = np.empty(left.size + 1, dtype=np.uint32), np.empty(left.size, dtype=np.uint32)
    lefts, rights = left.astype(np.uint32), right.astype(np.uint32)  # no index from the end to allow for
    left_by, right_by = np.full(n_left, -1), np.full(n_right, -1)  # the group that took a point last
    for g in range(n_groups):
        n_touched = n_passed_over = 0
        newest = seeds[g]
        for k in range(size):
            members[g, k] = newest
            left_by[lefts[newest]] = right_by[rights[newest]] = g
            for e in range(np.uint64(ptr[newest]), np.uint64(ptr[newest + 1])):
                c = np.uint32(columns[e])
                touched[n_touched] = c  # counted only if it is new
                n_touched += total[c] == 0.0
                total[c] += values[e]
            newest, gain = -1, 0.0
            for t in range(n_touched):
                c = touched[t]
                if total[c] > gain:
                    if left_by[lefts[c]] != g and right_by[rights[c]] != g:
                        newest, gain = np.int64(c), total[c]
                    else:  # in conflict with a member for good: it need not be looked at again
                        touched[t], passed_over[n_passed_over] = nobody, c
                        n_passed_over += 1
            if newest < 0:
                break
        for k in range(size):
            if members[g, k] >= 0:
                affinities[g, k] = total[members[g, k]]
        for t in range(n_touched):
            total[touched[t]] = 0.0
        for t in range(n_passed_over):
            total[passed_over[t]] = 0.0


@njit(**OPTIONS)
def add_rows(ptr, columns, values, rows, weights, out):
    """Add some rows of a sparse matrix to `out`, one after the other, each times its weight."""
    for r in range(rows.size):
        for e in range(np.uint64(ptr[rows[r]]), np.uint64(ptr[rows[r] + 1])):
            out[np.uint32(columns[e])] += values[e] * weights[r]
