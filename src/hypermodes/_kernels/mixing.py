"""Does a mix of ties raise F: is tᵀ C t positive somewhere on the simplex? A question of copositivity.

No mix exceeds a level exactly if D = level - C (the level taken from every entry) is copositive: tᵀ D t ≥ 0
for all t ≥ 0. That is so if D is a positive semidefinite form and entries that are not negative. Otherwise
it is decided by going through sets of ties. In a smallest set S on which D is not copositive the mix of
least tᵀ D t has all of S, so that D is positive definite on every smaller set of S, bends up between any two
of S, and every one of S is linked to the rest by negative entries, which lead from each to all others.
"""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import INNER, OPTIONS, density_of
from hypermodes._kernels.factoring import factor

NONE, SOME, NOT_DECIDED = range(3)
MOST_SETS = 1 << 17  # sets of ties that are gone through: some tenths of a second at most


@njit(**INNER)
def is_split(form, level, eps, negative_only):
    """Whether D = level - C is a positive semidefinite form and entries ≥ 0: then no mix exceeds the level.

    With `negative_only` its positive entries off the diagonal are among the latter from the outset.
    """
    m = form.shape[0]
    rest, order = np.empty((m, m)), np.empty(m, np.int64)
    for a in range(m):
        for b in range(m):
            rest[a, b] = level - form[a, b]
            if negative_only and a != b:
                rest[a, b] = min(0.0, rest[a, b])
    rank = factor(rest, order, eps)
    for a in range(rank, m):
        for b in range(rank, m):
            if rest[a, b] < -eps:
                return False
    return True


@njit(**INNER)
def look_above(form, level, eps, t):
    """Whether some mix exceeds the level, by going through the sets of ties; if so, t is such a mix.

    Sets grow by one tie at a time, which is not admitted again to later sets of the same beginning: each is
    seen once, and where there is no such mix their number does not depend on the order of the ties.
    """
    m = t.size
    chosen, pointer = np.empty(m + 1, np.int64), np.zeros(m + 1, np.int64)
    factors, y = np.zeros((m, m)), np.empty(m)
    linked, fits = np.ones((m + 1, m), np.bool_), np.ones((m + 1, m), np.bool_)
    passed = np.full(m, m + 1, np.int64)  # the size of the beginning that has been through with a tie
    size, n_sets = 0, 0
    while size >= 0:
        c = pointer[size]
        if c == m:
            for a in range(m):
                if passed[a] == size:
                    passed[a] = m + 1
            size -= 1
            continue
        pointer[size] += 1
        if passed[c] <= size or not linked[size, c] or not fits[size, c]:
            continue
        passed[c] = size
        n_sets += 1
        if n_sets > MOST_SETS:
            return NOT_DECIDED
        pivot = level - form[c, c]
        for a in range(size):
            entry = level - form[c, chosen[a]]
            for b in range(a):
                entry -= factors[size, b] * factors[a, b]
            factors[size, a] = entry / factors[a, a]
            pivot -= factors[size, a] ** 2
        chosen[size] = c
        if pivot > eps:  # positive definite: no mix of these exceeds the level, but one of more may
            factors[size, size] = np.sqrt(pivot)
            for a in range(m):
                entry = level - form[c, a]
                linked[size + 1, a] = entry < 0.0 or (size > 0 and linked[size, a])
                bend = 2.0 * form[c, a] - form[c, c] - form[a, a]
                fits[size + 1, a] = a != c and bend > eps and fits[size, a]
            size += 1
            pointer[size] = 0
        elif pivot < -eps and _least(factors, size, pivot, y):
            value = 0.0
            for a in range(size + 1):
                for b in range(size + 1):
                    value += y[a] * form[chosen[a], chosen[b]] * y[b]
            if value > level:
                for a in range(m):
                    t[a] = 0.0
                for a in range(size + 1):
                    t[chosen[a]] = y[a]
                return SOME
    return NONE


@njit(**INNER)
def _least(factors, size, pivot, y):
    """The mix in y of all of a set where D is stationary, if there is one; `pivot` is the last of D."""
    for a in range(size + 1):
        y[a] = -1.0
        for b in range(a):
            y[a] -= factors[a, b] * y[b]
        y[a] /= factors[a, a] if a < size else pivot
    total = y[size]
    for a in range(size - 1, -1, -1):
        for b in range(a + 1, size + 1):
            y[a] -= factors[b, a] * y[b]
        y[a] /= factors[a, a]
        total += y[a]
    for a in range(size + 1):
        y[a] /= total
        if y[a] < -1e-9 or not total > 0.0:
            return False
        y[a] = max(0.0, y[a])
    return True


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


@njit(**OPTIONS)
def steepest_mix(form, best, limit):
    """Largest tᵀ C t found on the simplex; nan if it is not decided whether it could exceed ±`limit`.

    Ascents from the middle, and from the best partner of each row, look for more than `limit`; none can be
    more if no entry is. If they fail, that is proved, or disproved: on which side of -limit and of limit the
    maximum lies never depends on what a search found. The mix goes into `best`.
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
    eps = 0.0
    for a in range(m):
        for b in range(m):
            eps = max(eps, 1e-13 * abs(form[a, b]))  # rounding
    for level in (-limit, limit):
        if reached > level or is_split(form, level, eps, False) or is_split(form, level, eps, True):
            if reached > level:
                continue
            return reached
        side = look_above(form, level, eps, t)
        if side == NONE:
            return reached
        if side == NOT_DECIDED:
            return np.nan
        reached = _ascend_mix(form, t, payoff)
        for a in range(m):
            best[a] = t[a]
    return reached
