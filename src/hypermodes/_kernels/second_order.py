"""Second order: faces that are not strictly concave, and critical points with ties.

Twins of `dynamics.FaceSolve` and `certificate._toward_ties`. Kernels of their own, compiled only for those
who need them: with integer overlaps everyone, with real-valued weights hardly anyone.
"""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import EQUAL, INNER, OPTIONS, density_of, refresh, trim
from hypermodes._kernels.factoring import factor, solve_factored
from hypermodes._kernels.mixing import steepest_mix
from hypermodes._kernels.shifting import DUST, dense_face, members, payoffs
from hypermodes._kernels.tied import kinds_of_ties, spread_over_kinds

NEAR = 10.0  # times √tol, of the largest: shares that a climb, which stops at √tol, may leave on a flat face


@njit(**INNER)
def _uphill(form, order, rank, slopes, move, limit):
    """A move that does not bend down: along the Schur complement, with the answer of the leading part.

    Returns True if there is one: upward curvature, or a flat direction with a slope.
    """
    m = order.size
    i_best, j_best, worst = -1, -1, limit
    for i in range(rank, m):
        if -form[i, i] > worst:
            i_best, j_best, worst = i, i, -form[i, i]
    if i_best < 0:  # no diagonal bends up; an off-diagonal entry beside two zeros does
        for i in range(rank, m):
            for j in range(rank, i):
                if abs(form[i, j]) > worst:
                    i_best, j_best, worst = i, j, abs(form[i, j])
    for k in range(m):
        move[k] = 0.0
    if i_best >= 0:
        move[i_best] = 1.0
        if j_best != i_best:
            move[j_best] = -1.0 if form[i_best, j_best] > 0.0 else 1.0
    else:  # flat: the slope that is left after the leading part has answered
        steep = 0.0
        for i in range(rank, m):
            slope = slopes[i]
            for k in range(rank):
                slope -= form[i, k] * slopes[k]  # slopes[:rank] holds L⁻¹ of the leading slopes
            move[i] = slope
            steep = max(steep, abs(slope))
        if steep <= 0.1 * limit:
            for k in range(m):
                move[k] = 0.0
            return False
    for k in range(rank):  # minus A11⁻¹ A12 of the move: the leading part follows
        value = 0.0
        for i in range(rank, m):
            value -= form[i, k] * move[i]
        move[k] = value
    for k in range(rank - 1, -1, -1):
        value = move[k]
        for j in range(k + 1, rank):
            value -= form[j, k] * move[j]
        move[k] = value / form[k, k]
    return True


@njit(**INNER)
def _to_near_border(form, order, rank, inside, p, move, tol):
    """A flat move that takes the smallest share down, if it is so small that no climb has settled it."""
    m = order.size  # and one more member, who answers all moves
    low, largest = m, p[inside[m]]
    least = largest
    for k in range(m):
        share = p[inside[order[k]]]
        largest = max(largest, share)
        if share < least:
            low, least = k, share
    if least > NEAR * np.sqrt(tol) * largest:
        return False
    flat, most = np.empty(m), 1e-9
    for i in range(rank, m):
        drift = -1.0
        for k in range(m):
            flat[k] = 1.0 if k == i else 0.0
        for k in range(rank - 1, -1, -1):  # the leading part follows, as in `_uphill`
            value = -form[i, k]
            for j in range(k + 1, rank):
                value -= form[j, k] * flat[j]
            flat[k] = value / form[k, k]
            drift -= flat[k]
        change = drift if low == m else flat[low]
        if abs(change) > most:
            most = abs(change)
            for k in range(m):
                move[k] = -flat[k] if change > 0.0 else flat[k]
    return most > 1e-9


@njit(**INNER)
def tangent_form(face, inside, m, form):
    """-M on the moves e_k - e_last of a support: positive definite where F is strictly concave."""
    last = inside[m - 1]
    for a in range(m - 1):
        i = inside[a]
        for b in range(a + 1):
            j = inside[b]
            form[a, b] = face[i, last] + face[last, j] - face[i, j] - face[last, last]
            form[b, a] = form[a, b]


@njit(**INNER)
def settle_any(face, p, payoff, tol):
    """Exact solve of a face of any shape: to its stationary point, or to the border; the number of steps."""
    w = p.size
    inside = np.empty(w, np.int64)
    for step in range(2 * w + 8):
        m = 0
        for a in range(w):
            if p[a] > 0.0:
                inside[m] = a
                m += 1
        value = density_of(p, payoff)
        if m < 2 or value <= 0.0:
            return step
        limit = tol * value
        form = np.empty((m - 1, m - 1))
        tangent_form(face, inside, m, form)
        order = np.empty(m - 1, np.int64)
        rank = factor(form, order, 1e-12 * value)
        slopes, move = np.empty(m - 1), np.zeros(m - 1)
        spread = 0.0
        last = inside[m - 1]
        for a in range(m - 1):
            slopes[a] = payoff[inside[order[a]]] - payoff[last]
        for a in range(m):
            spread = max(spread, abs(payoff[inside[a]] - value))
        to_border = is_flat = False
        if rank < m - 1:
            leading = np.empty(m - 1)
            for k in range(m - 1):
                leading[k] = slopes[k]
            for k in range(rank):
                amount = leading[k]
                for j in range(k):
                    amount -= form[k, j] * leading[j]
                leading[k] = amount / form[k, k]
            to_border = _uphill(form, order, rank, leading, move, limit)
            is_flat = not to_border and spread <= limit
            if is_flat:
                to_border = _to_near_border(form, order, rank, inside, p, move, tol)
        if to_border and not is_flat:
            slope = 0.0
            for a in range(m - 1):
                slope += slopes[a] * move[a]
            if slope < 0.0:
                for a in range(m - 1):
                    move[a] = -move[a]
        elif not to_border:
            for a in range(rank):
                move[a] = slopes[a]
            solve_factored(form, rank, move)
        drift = 0.0
        room = np.inf
        for a in range(m - 1):
            drift -= move[a]
            if move[a] < 0.0:
                room = min(room, -p[inside[order[a]]] / move[a])
        if drift < 0.0:
            room = min(room, -p[last] / drift)
        if room == np.inf:
            return step
        if not to_border and room > 1.0:
            if spread <= 1e-14 * value:
                return step
            for a in range(m - 1):
                p[inside[order[a]]] += move[a]
            p[last] += drift
            refresh(face, p, payoff)
            value = density_of(p, payoff)
            left = 0.0
            for a in range(m):
                left = max(left, abs(payoff[inside[a]] - value))
            if left > 0.5 * spread or left <= 1e-14 * value:
                return step + 1
        else:
            cut = room * (1.0 + 1e-12)
            for a in range(m - 1):
                i = inside[order[a]]
                gone = move[a] < 0.0 and p[i] <= -cut * move[a]
                p[i] = 0.0 if gone else max(0.0, p[i] + room * move[a])
            p[last] = 0.0 if drift < 0.0 and p[last] <= -cut * drift else max(0.0, p[last] + room * drift)
            refresh(face, p, payoff)
    return 2 * w + 8


@njit(**INNER)
def _escape(face, p, m, above, value, tol):
    """Largest curvature towards the ties (rows m … w-1 of the face); p moves if it is positive.

    `above` is by how much the payoff of each tie exceeds F, within the tolerance. nan if `steepest_mix` does
    not decide.
    """
    w = p.size
    limit = tol * value
    inside = np.empty(m, np.int64)
    for b in range(m):
        inside[b] = b
    form = np.empty((m - 1, m - 1))
    order = np.empty(m - 1, np.int64)
    rank = 0
    if m > 1:
        tangent_form(face, inside, m, form)
        rank = factor(form, order, 1e-12 * value)
    pull = np.empty((w - m, m - 1))  # L⁻¹ of what each unit move brings each tie
    steepest, steep_tie, steep_move = np.sqrt(tol) * value, -1, -1  # a slope: its square counts
    for j in range(w - m):
        for k in range(m - 1):
            amount = face[m + j, order[k]] - face[m + j, m - 1]
            for i in range(min(k, rank)):
                amount -= form[k, i] * pull[j, i]
            pull[j, k] = amount / form[k, k] if k < rank else amount
            if k >= rank and abs(pull[j, k]) > steepest:
                steepest, steep_tie, steep_move = abs(pull[j, k]), j, k
    move = np.zeros(w)
    tangent = np.zeros(m - 1)
    if steep_tie >= 0:  # a flat move of the support that raises the payoff of a tie
        found = steepest
        tangent[steep_move] = 1.0 if pull[steep_tie, steep_move] > 0.0 else -1.0
        for k in range(rank):
            tangent[k] = -form[steep_move, k] * tangent[steep_move]
    else:
        mix = np.empty(w - m)
        bent = np.empty((w - m, w - m))
        for j in range(w - m):
            for i in range(w - m):
                bent[j, i] = face[m + j, m + i] - value - (above[j] + above[i])
                for k in range(rank):
                    bent[j, i] += pull[j, k] * pull[i, k]
        found = steepest_mix(bent, mix, limit)
        if not found > limit:  # none, or not decided
            return found
        for j in range(w - m):
            move[m + j] = mix[j]
            for k in range(rank):
                tangent[k] += mix[j] * pull[j, k]
        for b in range(m):
            move[b] = -p[b]
    for k in range(rank - 1, -1, -1):  # L⁻ᵀ: from the factored move to the move itself
        amount = tangent[k]
        for j in range(k + 1, rank):
            amount -= form[j, k] * tangent[j]
        tangent[k] = amount / form[k, k]
    for k in range(m - 1):
        move[order[k]] += tangent[k]
        move[m - 1] -= tangent[k]
    room = np.inf
    for a in range(w):
        if move[a] < 0.0:
            room = min(room, -p[a] / move[a])
    for a in range(w):
        gone = move[a] < 0.0 and p[a] <= -room * (1.0 + 1e-12) * move[a]
        p[a] = 0.0 if gone else max(0.0, p[a] + room * move[a])
    return found


@njit(**OPTIONS)
def examine(graph, rate, entries, work, ptr, all_rows, all_shares, tol, most_ties, settles, stop):
    """Settle each point exactly, and look for a way on: upward curvature of the face, or towards ties.

    A point that is not to be settled is taken as it is: only the ties are looked at. Points are (ptr, rows,
    shares) and come back in the same form. What is found is positive where the point has moved and is to be
    shifted on, and otherwise the largest curvature towards its ties (-inf without; nan where that is not
    decided, as where more than `most_ties` of them differ).
    """
    n = ptr.size - 1
    found = np.empty(n)
    new_ptr = np.zeros(n + 1, np.int64)
    room = ptr[n] + n * most_ties  # a point keeps what it has, at most, and takes in its ties
    new_rows, new_shares = np.empty(room, np.int64), np.empty(room)
    for i in range(n):
        if stop[0]:
            break
        support, p = members(all_rows[ptr[i] : ptr[i + 1]], all_shares[ptr[i] : ptr[i + 1]])
        payoff = np.empty(p.size)
        face = dense_face(graph, rate, entries, work, support)
        refresh(face, p, payoff)
        found[i] = -0.5
        if settles:
            found[i] += settle_any(face, p, payoff, tol)
            trim(p, payoff, DUST)
        support, p = members(support, p)
        if found[i] < 0.0:  # nothing to settle: what is left are the ties
            touched = payoffs(graph, rate, entries, work, support, p)
            value = 0.0
            for a in range(support.size):
                value += p[a] * work.reward[support[a]]
            m = support.size
            rows = np.empty(touched, np.int64)  # members are among them
            for a in range(m):
                rows[a] = support[a]
            w = m
            for c in range(touched):
                j = work.row_list[c]
                if work.place_stamp[j] != work.stamp[0] and work.reward[j] >= value * (1.0 - tol):
                    rows[w] = j
                    w += 1
            rows = rows[:w]
            found[i] = -np.inf
            if w > m:
                rows[m:] = rows[m:][np.argsort(graph.first_edge[rows[m:]])]  # whatever the layout
                above = np.zeros(w - m)
                for k in range(w - m):
                    reward = work.reward[rows[m + k]]
                    above[k] = reward - value if reward > value * (1.0 + EQUAL) else 0.0
                found[i] = np.nan
                kind, first, own = kinds_of_ties(graph, rate, entries, work, rows, m, most_ties)
                if first.size <= most_ties:
                    chosen, q = np.empty(m + first.size, np.int64), np.zeros(m + first.size)
                    for a in range(m):
                        chosen[a], q[a] = support[a], p[a]
                    for k in range(first.size):
                        chosen[m + k], above[k] = rows[m + first[k]], above[first[k]]  # first[k] >= k
                    face = dense_face(graph, rate, entries, work, chosen)
                    for k in range(first.size):
                        face[m + k, m + k] = own[k]
                    found[i] = _escape(face, q, m, above, value, tol) / value
                    rows, q = spread_over_kinds(graph.twins, rows, m, kind, q, most_ties)
                    support, p = members(rows, q)
        new_ptr[i + 1] = new_ptr[i] + support.size
        for a in range(support.size):
            new_rows[new_ptr[i] + a] = support[a]
            new_shares[new_ptr[i] + a] = p[a]
    return found, new_ptr, new_rows, new_shares
