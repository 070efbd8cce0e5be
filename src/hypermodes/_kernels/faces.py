"""Climbing on a small dense face M: infection-immunization, the exact solve, and moves towards ties.

Twins of `dynamics.InfectionImmunization`, `dynamics.FaceSolve` and `certificate._steepest_mix`. A face is a
w x w array (its diagonal need not be 0: a class of twin hyperedges has an affinity to itself), p and
payoff = M p are arrays of length w, changed in place.
"""

import numpy as np
from numba import njit

# Compiled when first called and kept on disk; no GIL, so that threads share the starts; divisions are
# NumPy's, which spares code for exceptions.
OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy"}
EQUAL = 1e-10  # payoffs this close, relative to the density, are the same payoff rounded differently


@njit(**OPTIONS)
def density_of(p, payoff):
    """F = pᵀ(Mp)."""
    total = 0.0
    for a in range(p.size):
        total += p[a] * payoff[a]
    return total


@njit(**OPTIONS)
def refresh(face, p, payoff):
    """Scale p to sum 1 and recompute payoff = M p."""
    w = p.size
    total = 0.0
    for a in range(w):
        total += p[a]
    for a in range(w):
        p[a] /= total
    for a in range(w):
        value = 0.0
        for b in range(w):
            value += face[a, b] * p[b]
        payoff[a] = value


@njit(**OPTIONS)
def infect(face, p, payoff, tol, max_steps):
    """Infection-immunization until Eq. (7) holds on the face; the number of steps, -1 if they ran out.

    One pass over the face a step: it moves p and payoff by the last decision and finds the best and the
    worst for the next. Only where several are equally good or bad does `_mixed` take over.
    """
    w = p.size
    value = density_of(p, payoff)
    chosen, amount, removed = 0, 0.0, False
    for step in range(max_steps + 1):
        best, second_best, worst, second_worst = -np.inf, -np.inf, np.inf, np.inf
        top, bottom = 0, 0
        keep = 1.0 - amount
        for a in range(w):
            p[a] *= keep
            gain = keep * payoff[a] + amount * face[chosen, a]
            payoff[a] = gain
            if gain > best:
                second_best, best, top = best, gain, a
            elif gain > second_best:
                second_best = gain
            if p[a] > 0.0 if a != chosen else not removed and p[a] + amount > 0.0:
                if gain < worst:
                    second_worst, worst, bottom = worst, gain, a
                elif gain < second_worst:
                    second_worst = gain
        p[chosen] = 0.0 if removed else p[chosen] + amount
        if step % 100 == 99:
            refresh(face, p, payoff)
            value = density_of(p, payoff)
            amount, removed = 0.0, False
            continue
        rise, fall = best - value, value - worst
        if rise <= tol * value and fall <= tol * value:
            return step
        equal = EQUAL * (value + rise)
        infection = rise >= fall
        if second_best >= best - equal if infection else second_worst <= worst + equal:
            _mixed(face, p, payoff, value, best if infection else worst, infection, equal)
            value = density_of(p, payoff)
            amount, removed = 0.0, False
            continue
        chosen = top if infection else bottom
        slope = payoff[chosen] - value
        bend = face[chosen, chosen] - 2.0 * payoff[chosen] + value
        furthest = 1.0 if infection else p[chosen] / (p[chosen] - 1.0)
        amount = furthest if bend >= 0.0 or abs(slope) >= abs(furthest * bend) else -slope / bend
        removed = amount == furthest and not infection
        value += amount * (2.0 * slope + amount * bend)
    return -1


@njit(**OPTIONS)
def _mixed(face, p, payoff, value, extreme, infection, equal):
    """One step with all that are equally good, in equal parts, or equally bad, in proportion to p."""
    w = p.size
    mix, toward = np.zeros(w), np.zeros(w)
    mass = 0.0
    for a in range(w):
        if infection and payoff[a] >= extreme - equal:
            mix[a] = 1.0
        elif not infection and p[a] > 0.0 and payoff[a] <= extreme + equal:
            mix[a] = p[a]
        mass += mix[a]
    slope, bend = -value, value
    for a in range(w):
        if mix[a] > 0.0:
            mix[a] /= mass
            slope += mix[a] * payoff[a]
            for b in range(w):
                toward[b] += mix[a] * face[a, b]
    for a in range(w):
        bend += mix[a] * (toward[a] - 2.0 * payoff[a])
    furthest = 1.0 if infection else mass / (mass - 1.0)
    amount = furthest if bend >= 0.0 or abs(slope) >= abs(furthest * bend) else -slope / bend
    removed = amount == furthest and not infection
    for a in range(w):
        share = p[a] * (1.0 - amount) + amount * mix[a]
        p[a] = 0.0 if share < 0.0 or (removed and mix[a] > 0.0) else share
        payoff[a] += amount * (toward[a] - payoff[a])


@njit(**OPTIONS)
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


@njit(**OPTIONS)
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


@njit(**OPTIONS)
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
        if steep <= limit:
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


@njit(**OPTIONS)
def tangent_form(face, inside, m, form):
    """-M on the moves e_k - e_last of a support: positive definite where F is strictly concave."""
    last = inside[m - 1]
    for a in range(m - 1):
        i = inside[a]
        for b in range(a + 1):
            j = inside[b]
            form[a, b] = face[i, last] + face[last, j] - face[i, j] - face[last, last]
            form[b, a] = form[a, b]


@njit(**OPTIONS)
def settle(face, p, payoff, tol):
    """Exact solve of a face: go to its stationary point or to the border on the way; the number of steps."""
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
        rank = factor(form, order, limit)
        slopes, move = np.empty(m - 1), np.zeros(m - 1)
        spread = 0.0
        last = inside[m - 1]
        for a in range(m - 1):
            slopes[a] = payoff[inside[order[a]]] - payoff[last]
        for a in range(m):
            spread = max(spread, abs(payoff[inside[a]] - value))
        to_border = False
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
        if to_border:
            slope = 0.0
            for a in range(m - 1):
                slope += slopes[a] * move[a]
            if slope < 0.0:
                for a in range(m - 1):
                    move[a] = -move[a]
        else:
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


@njit(**OPTIONS)
def trim(p, payoff, tol):
    """Make exactly zero what is negligible and not gaining; twin of `simplex.trim`."""
    value = density_of(p, payoff)
    largest = 0.0
    for a in range(p.size):
        largest = max(largest, p[a])
    for a in range(p.size):
        if p[a] <= tol * largest and payoff[a] <= value * (1.0 + tol):
            p[a] = 0.0
