"""Climbing on a small dense face M: infection-immunization, and the exact solve where it is strictly concave.

Twins of `dynamics.InfectionImmunization` and `dynamics.FaceSolve`. A face is a w x w array (its diagonal need
not be 0: a class of twin hyperedges has an affinity to itself), p and payoff = M p are arrays of length w,
changed in place. Every loop here is compile time that users wait for once: keep it short.
"""

import numpy as np

from hypermodes._kernels.compiling import njit

# For functions that only other kernels call: they are kept with those, and nothing else needs a way in. They
# leave the GIL alone, so that threads share the starts; divisions are NumPy's: no code for exceptions.
INNER = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# Compiled when first called from Python, and kept on disk.
OPTIONS = {**INNER, "no_cpython_wrapper": False, "cache": True}
EQUAL = 1e-10  # payoffs this close, relative to the density, are the same payoff rounded differently


@njit(**INNER)
def density_of(p, payoff):
    """F = pᵀ(Mp)."""
    total = 0.0
    for a in range(p.size):
        total += p[a] * payoff[a]
    return total


@njit(**INNER)
def multiply(face, x, out):
    """M x; row by row, because this loop vectorises and a scalar product would not."""
    for b in range(x.size):
        out[b] = 0.0
    for a in range(x.size):
        if x[a] != 0.0:
            for b in range(x.size):
                out[b] += x[a] * face[a, b]


@njit(**INNER)
def refresh(face, p, payoff):
    """Scale p to sum 1 and recompute payoff = M p."""
    total = 0.0
    for a in range(p.size):
        total += p[a]
    for a in range(p.size):
        p[a] /= total
    multiply(face, p, payoff)


@njit(**INNER)
def infect(face, p, payoff, tol, warm_up, max_steps):
    """Infection-immunization until Eq. (7) holds on the face to `tol`; the number of steps.

    It begins with a few steps of Eq. (8). Then one pass over the face a step: it moves p and payoff by the
    last decision and finds the best and the worst for the next. Only where several are equally good or bad
    does `_mixed` take over.
    """
    w = p.size
    value = density_of(p, payoff)
    for _ in range(warm_up):
        dropped = False
        for a in range(w):
            if p[a] > 0.0 and payoff[a] < value * (0.5 - EQUAL):  # to drop these together always raises F
                p[a], dropped = 0.0, True
        if dropped:
            refresh(face, p, payoff)
        for a in range(w):
            p[a] *= payoff[a]
        refresh(face, p, payoff)
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
        low = value * (0.5 - EQUAL)
        if step % 100 == 99 or worst < low:
            for a in range(w):
                if payoff[a] < low:
                    p[a] = 0.0
            refresh(face, p, payoff)
            value = density_of(p, payoff)
            amount, removed = 0.0, False
            continue
        rise, fall = best - value, value - worst
        if rise <= tol * value and fall <= tol * value:
            return warm_up + step
        equal = EQUAL * (value + rise)
        infection = rise >= fall - equal
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
    return warm_up + max_steps


@njit(**INNER)
def _mixed(face, p, payoff, value, extreme, infection, equal):
    """One step with all that are equally good, in equal parts, or equally bad, in proportion to p."""
    w = p.size
    mix, toward = np.empty(w), np.empty(w)
    mass = 0.0
    for a in range(w):
        mix[a] = 0.0
        if infection and payoff[a] >= extreme - equal:
            mix[a] = 1.0
        elif not infection and p[a] > 0.0 and payoff[a] <= extreme + equal:
            mix[a] = p[a]
        mass += mix[a]
    slope, bend = -value, value
    for a in range(w):
        mix[a] /= mass
        slope += mix[a] * payoff[a]
    multiply(face, mix, toward)
    for a in range(w):
        bend += mix[a] * (toward[a] - 2.0 * payoff[a])
    furthest = 1.0 if infection else mass / (mass - 1.0)
    amount = furthest if bend >= 0.0 or abs(slope) >= abs(furthest * bend) else -slope / bend
    removed = amount == furthest and not infection
    for a in range(w):
        share = p[a] * (1.0 - amount) + amount * mix[a]
        p[a] = 0.0 if share < 0.0 or (removed and mix[a] > 0.0) else share
        payoff[a] += amount * (toward[a] - payoff[a])


@njit(**INNER)
def settle(face, p, payoff):
    """Exact solve of a face by Cholesky: to its maximiser, or to the border on the way, until it is reached.

    Returns the number of steps, or -1 where F is not strictly concave: `second_order` takes over there.
    """
    w = p.size
    inside = np.empty(w, np.int64)
    form, move = np.empty((w, w)), np.empty(w)
    before, room, steps = np.inf, 0.0, 0
    while steps < 2 * w + 8:
        m = -1  # the last member is the reference: moves are e_k - e_last
        value = 0.0
        for a in range(w):
            if p[a] > 0.0:
                m += 1
                inside[m] = a
                value += p[a] * payoff[a]
        if m < 0:
            return -1
        last = inside[m]
        spread = abs(payoff[last] - value)
        for a in range(m):
            i = inside[a]
            move[a] = payoff[i] - payoff[last]
            spread = abs(payoff[i] - value) if abs(payoff[i] - value) > spread else spread
            for b in range(a + 1):
                j = inside[b]
                form[a, b] = face[i, last] + face[last, j] - face[i, j] - face[last, last]
        for k in range(m):  # form = L Lᵀ, and L⁻¹ of the slopes
            for i in range(k, m):
                left = form[i, k]
                for j in range(k):
                    left -= form[i, j] * form[k, j]
                if i > k:
                    form[i, k] = left / form[k, k]
                elif left <= 1e-12 * value:
                    return -1
                else:
                    form[k, k] = np.sqrt(left)
            for j in range(k):
                move[k] -= form[k, j] * move[j]
            move[k] /= form[k, k]
        if spread <= 1e-14 * value or (room == 1.0 and spread > 0.5 * before):
            break  # concave, and rounding is all that is left
        before = spread
        drift, room = 0.0, 1.0
        for k in range(m - 1, -1, -1):
            for j in range(k + 1, m):
                move[k] -= form[j, k] * move[j]
            move[k] /= form[k, k]
            drift -= move[k]
            if move[k] < -p[inside[k]] / room:
                room = -p[inside[k]] / move[k]
        if drift < -p[last] / room:
            room = -p[last] / drift
        move[m] = drift
        for k in range(m + 1):
            left = p[inside[k]] + room * move[k]
            p[inside[k]] = left if left > 1e-12 * p[inside[k]] else 0.0
        refresh(face, p, payoff)
        steps += 1
    return steps


@njit(**INNER)
def trim(p, payoff, tol):
    """Make exactly zero what is negligible and not gaining; twin of `simplex.trim`."""
    value, largest = 0.0, 0.0
    for a in range(p.size):
        value += p[a] * payoff[a]
        largest = p[a] if p[a] > largest else largest
    for a in range(p.size):
        if p[a] <= tol * largest and payoff[a] <= value * (1.0 + tol):
            p[a] = 0.0
