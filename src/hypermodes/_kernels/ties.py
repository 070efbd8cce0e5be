"""Second order at a critical point with ties: whether it is a mode, and if not, where to go.

Twin of `certificate._toward_ties`. A kernel of its own, compiled only for those who meet ties, which is
everyone with integer overlaps and nobody with real-valued weights.
"""

import numpy as np
from numba import njit

from hypermodes._kernels.faces import OPTIONS, density_of, factor, tangent_form
from hypermodes._kernels.shifting import dense_face, joined, members, off_support, payoffs

MAX_TIES = 256  # tied rows examined together


@njit(**OPTIONS)
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


@njit(**OPTIONS)
def steepest_mix(form, best):
    """Largest tᵀ C t found on the simplex: ascent from the middle, and from the best partner of each row.

    The mix goes into `best`. At most 32 rows are tried, those whose best pair is strongest.
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
    chosen = 0
    for trial in range(min(32, 2 * m)):
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


@njit(**OPTIONS)
def _escape(face, p, m, value, tol):
    """Largest curvature found towards the ties (rows m … w-1 of the face); p moves if it is positive."""
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
        rank = factor(form, order, limit)
    pull = np.empty((w - m, m - 1))  # L⁻¹ of what each unit move brings each tie
    steepest, steep_tie, steep_move = limit, -1, -1
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
                bent[j, i] = face[m + j, m + i] - value
                for k in range(rank):
                    bent[j, i] += pull[j, k] * pull[i, k]
        found = steepest_mix(bent, mix)
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
def examine_ties(graph, work, ptr, all_rows, all_shares, tol):
    """Largest curvature found towards the ties of each critical point; where it is positive, a better point.

    Points are (ptr, rows, shares) and come back in the same form, unchanged where there is none better.
    """
    n = ptr.size - 1
    found = np.empty(n)
    new_ptr = np.zeros(n + 1, np.int64)
    new_rows, new_shares = [], []
    for i in range(n):
        support, p = members(all_rows[ptr[i] : ptr[i + 1]], all_shares[ptr[i] : ptr[i + 1]])
        touched = payoffs(graph, work, support, p)
        value = 0.0
        for a in range(support.size):
            value += p[a] * work.reward[support[a]]
        tied = off_support(work, touched, value * (1.0 - tol), np.inf)[:MAX_TIES]
        rows, q = joined(support, p, tied)
        found[i] = _escape(dense_face(graph, work, rows), q, support.size, value, tol)
        kept, shares = members(rows, q)
        new_rows.append(kept)
        new_shares.append(shares)
        new_ptr[i + 1] = new_ptr[i] + kept.size
    flat_rows, flat_shares = np.empty(new_ptr[n], np.int32), np.empty(new_ptr[n])
    for i in range(n):
        for a in range(new_rows[i].size):
            flat_rows[new_ptr[i] + a] = new_rows[i][a]
            flat_shares[new_ptr[i] + a] = new_shares[i][a]
    return found, new_ptr, flat_rows, flat_shares
