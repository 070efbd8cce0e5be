"""Second order: faces that are not strictly concave, and critical points with ties.

Twins of `dynamics.FaceSolve` and `certificate._toward_ties`. Kernels of their own, compiled only for those
who need them: with integer overlaps everyone, with real-valued weights hardly anyone.
"""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import EQUAL, INNER, OPTIONS, density_of, refresh, trim
from hypermodes._kernels.shifting import DUST, dense_face, members, payoffs
from hypermodes._kernels.tied import kinds_of_ties, spread_over_kinds

NEAR = 10.0  # times √tol, of the largest: shares that a climb, which stops at √tol, may leave on a flat face


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
def _ascend_mix(form, t, payoff):
    """Pairwise ascent of tᵀ C t on the simplex, in place; the value reached."""
    m = t.size
    scale = 0.0
    for a in range(m):
        payoff[a] = 0.0
        for b in range(m):
            payoff[a] += form[a, b] * t[b]
            scale = max(scale, abs(form[a, b]))
    for _ in range(200):
        i, j = 0, -1
        for a in range(m):
            if payoff[a] > payoff[i]:
                i = a
            if t[a] > 0.0 and (j < 0 or payoff[a] < payoff[j]):
                j = a
        slope = payoff[i] - payoff[j]
        if slope <= 1e-12 * scale:
            break
        bend = form[i, i] + form[j, j] - 2.0 * form[i, j]
        amount = t[j] if bend >= 0.0 else min(t[j], -slope / bend)
        t[i] += amount
        t[j] -= amount
        for a in range(m):
            payoff[a] += amount * (form[a, i] - form[a, j])
    return density_of(t, payoff)


@njit(**INNER)
def steepest_mix(form, best, limit):
    """Largest tᵀ C t found on the simplex: ascent from the middle, and from the best partner of each row.

    The mix goes into `best`. Rows are tried until one exceeds `limit`; none can if no entry does.
    """
    m = best.size
    t, payoff = np.empty(m), np.empty(m)
    strength, partner, share = np.empty(m), np.zeros(m, np.int64), np.empty(m)
    for a in range(m):
        best[a] = 1.0 / m
        strength[a] = -np.inf
        for b in range(m):
            bend = form[a, a] + form[b, b] - 2.0 * form[a, b]
            if bend < 0.0:
                s = min(1.0, max(0.0, (form[b, b] - form[a, b]) / bend))
            else:
                s = 1.0 if form[a, a] >= form[b, b] else 0.0
            value = s * s * form[a, a] + (1.0 - s) ** 2 * form[b, b] + 2.0 * s * (1.0 - s) * form[a, b]
            if value > strength[a]:
                strength[a], partner[a], share[a] = value, b, s
    reached = _ascend_mix(form, best, payoff)
    positive = False
    for a in range(m):
        for b in range(m):
            positive = positive or form[a, b] > limit
    chosen = 0
    trials = 2 * m if positive else 2
    for trial in range(trials):
        if reached > limit:
            break
        if trial % 2 == 0:  # each row twice: from the pair alone, and from the pair over a little of all
            chosen = 0
            for a in range(m):
                if strength[a] > strength[chosen]:
                    chosen = a
            strength[chosen] = -np.inf
        blend = trial % 2
        for a in range(m):
            t[a] = 0.5 * blend / m
        t[chosen] += (1.0 - 0.5 * blend) * share[chosen]
        t[partner[chosen]] += (1.0 - 0.5 * blend) * (1.0 - share[chosen])
        value = _ascend_mix(form, t, payoff)
        if value > reached:
            reached = value
            for a in range(m):
                best[a] = t[a]
    return reached


@njit(**INNER)
def _escape(face, p, m, above, value, tol):
    """Largest curvature found towards the ties (rows m … w-1 of the face); p moves if it is positive.

    `above` is by how much the payoff of each tie exceeds F, within the tolerance.
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
        if found <= limit:
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
    shifted on, and otherwise the largest curvature towards its ties (-inf without; nan where more than
    `most_ties` of them differ: that is not decided).
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
            rows, above = np.empty(touched, np.int64), np.zeros(touched)  # members are among them
            for a in range(m):
                rows[a] = support[a]
            w = m
            for c in range(touched):
                j = work.row_list[c]
                if work.place_stamp[j] != work.stamp[0] and work.reward[j] >= value * (1.0 - tol):
                    rows[w] = j
                    if work.reward[j] > value * (1.0 + EQUAL):
                        above[w - m] = work.reward[j] - value
                    w += 1
            rows = rows[:w]
            found[i] = -np.inf if w == m else np.nan
            if m < w <= m + most_ties:
                q = np.zeros(w)
                for a in range(m):
                    q[a] = p[a]
                face = dense_face(graph, rate, entries, work, rows)
                found[i] = _escape(face, q, m, above, value, tol) / value
                support, p = members(rows, q)
            elif w > m:
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
