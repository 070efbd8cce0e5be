"""Algorithm 1 for a block of starts: expand, climb, test, repeat, each on a small dense face.

Twin of `shift.shift` with `Voting` and `InfectionImmunization`. A round costs the incidences of the support
for the climb, and for the mode test those of the hyperedges around it; nothing depends on |E|.

`rate` is w/δ of a hypergraph and None for a matrix: numba then leaves the other case out of what it compiles.
"""

import numpy as np
from numba import njit

from hypermodes._kernels.faces import OPTIONS, infect, refresh, settle, trim

CERTIFIED, ISOLATED, MAX_ROUNDS, MAX_STEPS, MAX_SUPPORT, OPEN, STOPPED = range(7)
DUST = 1e-12  # shares this far below the largest are rounding of an exact solve


@njit(**OPTIONS)
def payoffs(graph, rate, work, support, p):
    """(Mp)_j for every row that meets the support, left in work.reward; how many, listed in work.row_list."""
    work.stamp[0] += 1
    stamp = work.stamp[0]
    touched = 0
    if rate is None:
        for a in range(support.size):
            for t in range(graph.row_ptr[support[a]], graph.row_ptr[support[a] + 1]):
                j = graph.row_idx[t]
                if work.row_stamp[j] != stamp:
                    work.row_stamp[j] = stamp
                    work.reward[j] = 0.0
                    work.row_list[touched] = j
                    touched += 1
                work.reward[j] += p[a] * graph.row_val[t]
    else:
        n_vertices = 0
        for a in range(support.size):
            k = support[a]
            for t in range(graph.row_ptr[k], graph.row_ptr[k + 1]):
                v = graph.row_idx[t]
                if work.vertex_stamp[v] != stamp:
                    work.vertex_stamp[v] = stamp
                    work.mass[v] = 0.0
                    work.rated_mass[v] = 0.0
                    work.vertex_list[n_vertices] = v
                    n_vertices += 1
                work.mass[v] += p[a]
                work.rated_mass[v] += rate[k] * p[a]
        for c in range(n_vertices):
            v = work.vertex_list[c]
            mass, rated = work.mass[v], work.rated_mass[v]
            for t in range(graph.vertex_ptr[v], graph.vertex_ptr[v + 1]):
                j = graph.vertex_idx[t]
                if work.row_stamp[j] != stamp:
                    work.row_stamp[j] = stamp
                    work.reward[j] = 0.0
                    work.row_list[touched] = j
                    touched += 1
                work.reward[j] += rate[j] * mass + rated
    for a in range(support.size):  # members: listed even if they meet nothing, and without their own term
        k = support[a]
        if work.row_stamp[k] != stamp:
            work.row_stamp[k] = stamp
            work.reward[k] = 0.0
            work.row_list[touched] = k
            touched += 1
        work.place_stamp[k] = stamp
        work.place[k] = a
        if rate is not None:
            own = 2.0 * rate[k] * (graph.row_ptr[k + 1] - graph.row_ptr[k]) * p[a] / graph.twins[k]
            rest = work.reward[k] - own
            work.reward[k] = rest if rest > 1e-14 * own else 0.0
    return touched


@njit(**OPTIONS)
def dense_face(graph, rate, work, rows):
    """M on a few rows, dense, by listing which of them each vertex has seen before."""
    w = rows.size
    face = np.zeros((w, w))
    work.stamp[0] += 1
    stamp = work.stamp[0]
    if rate is None:
        for a in range(w):
            work.place_stamp[rows[a]] = stamp
            work.place[rows[a]] = a
        for a in range(w):
            for t in range(graph.row_ptr[rows[a]], graph.row_ptr[rows[a] + 1]):
                j = graph.row_idx[t]
                if work.place_stamp[j] == stamp:
                    face[a, work.place[j]] = graph.row_val[t]
        return face
    total = 0
    for a in range(w):
        total += graph.row_ptr[rows[a] + 1] - graph.row_ptr[rows[a]]
    # Number the vertices met, and count how many members have each; a mark is a stamp and a number in one,
    # so that a vertex costs one look at memory. Then list the members of each, side by side, as they come.
    slot, owner = np.empty(total, np.int32), np.empty(total, np.int32)
    begin, last = np.zeros(total + 1, np.int32), np.empty(total, np.int32)
    n, n_vertices = 0, 0
    for a in range(w):
        for t in range(graph.row_ptr[rows[a]], graph.row_ptr[rows[a] + 1]):
            v = graph.row_idx[t]
            mark = work.mark[v]
            if mark >> 32 != stamp:
                mark = stamp << 32 | n_vertices
                work.mark[v] = mark
                n_vertices += 1
            slot[n] = mark & 0xFFFFFFFF
            begin[slot[n] + 1] += 1
            n += 1
    for h in range(n_vertices):
        begin[h + 1] += begin[h]
        last[h] = begin[h]
    n = 0
    for a in range(w):
        for _ in range(graph.row_ptr[rows[a] + 1] - graph.row_ptr[rows[a]]):
            h = slot[n]
            for q in range(begin[h], last[h]):
                face[a, owner[q]] += 1.0
            owner[last[h]] = a
            last[h] += 1
            n += 1
    for a in range(w):
        k = rows[a]
        for b in range(a):
            face[a, b] *= rate[k] + rate[rows[b]]
            face[b, a] = face[a, b]
        size = graph.row_ptr[k + 1] - graph.row_ptr[k]
        face[a, a] = 2.0 * rate[k] * size * (1.0 - 1.0 / graph.twins[k])
    return face


@njit(**OPTIONS)
def _strongest(graph, rate, work, support, p, candidates, value, limit):
    """The `limit` candidates of largest vote times gain, to nine digits; among equals, the first rows.

    The vote is the mode mass a candidate meets, found by walking around every member in turn.
    """
    gain, votes, largest = np.empty(candidates.size), np.zeros(candidates.size), 0.0
    seen_from = np.zeros(candidates.size, np.int64)
    work.stamp[0] += 1
    stamp = work.stamp[0]
    for c in range(candidates.size):
        work.place_stamp[candidates[c]] = stamp
        work.place[candidates[c]] = c
        gain[c] = work.reward[candidates[c]] - value
        largest = max(largest, gain[c])
    for a in range(support.size):
        for t in range(graph.row_ptr[support[a]], graph.row_ptr[support[a] + 1]):
            v = graph.row_idx[t]
            if rate is None:
                if work.place_stamp[v] == stamp:
                    votes[work.place[v]] += p[a]
                continue
            for u in range(graph.vertex_ptr[v], graph.vertex_ptr[v + 1]):
                j = graph.vertex_idx[u]
                if work.place_stamp[j] == stamp and seen_from[work.place[j]] != a + 1:
                    seen_from[work.place[j]] = a + 1
                    votes[work.place[j]] += p[a]
    chosen, held = np.empty(limit, np.int64), np.empty(limit)
    n = 0
    for c in range(candidates.size):  # insertion into a short sorted list: most candidates stop at its end
        strength = np.floor(votes[c] * gain[c] / largest * 1e9 + 0.5)
        if n == limit:
            if strength < held[n - 1] or (strength == held[n - 1] and candidates[c] > chosen[n - 1]):
                continue
            n -= 1
        k = n
        while k > 0 and (
            held[k - 1] < strength or (held[k - 1] == strength and chosen[k - 1] > candidates[c])
        ):
            held[k], chosen[k] = held[k - 1], chosen[k - 1]
            k -= 1
        held[k], chosen[k] = strength, candidates[c]
        n += 1
    return chosen


@njit(**OPTIONS)
def _expand(face, twins, p, reward, rows, m, value, first):
    """p + c*h by voting, for the m members and the candidates behind them; Eq. (13). Each twin has a vote."""
    w = p.size
    h = np.zeros(w)
    total = 0.0
    for a in range(m, w):
        vote = 0.0
        for b in range(m):
            if face[a, b] > 0.0:
                vote += p[b]
        h[a] = twins[rows[a]] * vote * (reward[rows[a]] - value)
        total += h[a]
    twin = twins[rows[0]] * face[0, 0] if first else 0.0  # a start with twins: they are candidates as well
    total += twin
    slope = 0.0
    for a in range(m, w):
        h[a] /= total
        slope += h[a] * (reward[rows[a]] - value)
    for b in range(m):
        h[b] = -p[b]
    h[0] += twin / total
    slope += twin / total * face[0, 0]
    bend = 0.0
    for a in range(w):
        for b in range(w):
            bend += h[a] * face[a, b] * h[b]
    furthest = 0.5 if first else 1.0
    c = furthest if bend >= 0.0 else min(furthest, -slope / bend)
    for a in range(w):
        p[a] = max(0.0, p[a] + c * h[a])


@njit(**OPTIONS)
def members(rows, p):
    """Rows with p > 0, sorted, and their shares."""
    n = 0
    total = 0.0
    for a in range(rows.size):
        if p[a] > 0.0:
            n += 1
            total += p[a]
    kept, shares = np.empty(n, np.int64), np.empty(n)
    n = 0
    for a in range(rows.size):  # by insertion: the old members come first and in order
        if p[a] > 0.0:
            k = n
            while k > 0 and kept[k - 1] > rows[a]:
                kept[k], shares[k] = kept[k - 1], shares[k - 1]
                k -= 1
            kept[k], shares[k] = rows[a], p[a] / total
            n += 1
    return kept, shares


@njit(**OPTIONS)
def _survey(graph, work, support, p, others, first, tol):
    """What the last payoffs say: density, spread, best payoff outside and whose, ties, number of violators.

    The violators go into `others`, which is as long as the list of rows with a payoff.
    """
    value, spread, top, worst, n_ties, n_others = 0.0, 0.0, 0.0, -1, 0.0, 0
    if not first:
        for a in range(support.size):
            value += p[a] * work.reward[support[a]]
    for c in range(others.size):
        j = work.row_list[c]
        reward = work.reward[j]
        if work.place_stamp[j] == work.stamp[0]:
            spread = max(spread, abs(reward - value))
            continue
        if reward > value * (1.0 + tol):
            others[n_others] = j
            n_others += 1
        elif reward >= value * (1.0 - tol):
            n_ties += graph.twins[j]
        if reward > top or (reward == top and j < worst):
            top, worst = reward, j
    return value, spread, top, worst, n_ties, n_others


@njit(**OPTIONS)
def shift_block(graph, rate, work, start_ptr, start_rows, start_shares, fresh, tol, limits, stop):
    """Shift a block of starts to their modes.

    Start i has the rows start_rows[start_ptr[i]:start_ptr[i+1]] with these shares; the supports come back
    in the same form. `fresh` tells starts from points to go on from. `limits` are max_rounds, max_steps,
    warm_up, admit and max_support. The notes of each start are status, rounds, steps, density, spread,
    excess, worst row, number of ties. OPEN is the status of a start that needs second order to go on or to
    be certified: `second_order` decides. `stop[0]` ends the block early.
    """
    max_rounds, max_steps, warm_up, admit, max_support = limits
    n = start_ptr.size - 1
    notes = np.zeros((n, 8))
    ptr = np.zeros(n + 1, np.int64)
    # Room for the largest supports; memory that is not written to is never used.
    all_rows, all_shares = np.empty(n * max_support, np.int64), np.empty(n * max_support)
    for i in range(n):
        rows, q = members(
            start_rows[start_ptr[i] : start_ptr[i + 1]], start_shares[start_ptr[i] : start_ptr[i + 1]]
        )
        support, p = rows, q
        face = dense_face(graph, rate, work, rows)
        first = fresh and rows.size == 1  # a single hyperedge has density 0: nothing to climb
        status, rounds, steps, flat = STOPPED, 0, 0, False
        value, spread, top, worst, n_ties = 0.0, 0.0, 0.0, -1, 0.0
        while not stop[0]:
            rounds += 1
            if not first:
                payoff = np.empty(q.size)
                refresh(face, q, payoff)
                steps += infect(face, q, payoff, np.sqrt(tol), warm_up, max_steps)  # finds the support
                trim(q, payoff, tol)
                refresh(face, q, payoff)
                taken = settle(face, q, payoff)  # finds the point
                flat = taken < 0
                steps += max(taken, 0)
                trim(q, payoff, DUST)
                support, p = members(rows, q)
            touched = payoffs(graph, rate, work, support, p)
            others = np.empty(touched, np.int64)
            value, spread, top, worst, n_ties, n_others = _survey(graph, work, support, p, others, first, tol)
            if first and top == 0.0 and graph.twins[support[0]] == 1.0:
                status = ISOLATED
            elif not first and n_others == 0:  # a flat face that can expand does so first
                certified = spread <= tol * value and n_ties == 0 and not flat
                status = CERTIFIED if certified else OPEN
            elif rounds == max_rounds:
                status = MAX_ROUNDS
            elif support.size >= max_support:
                status = MAX_SUPPORT
            if status != STOPPED:
                break
            most = min(admit, max_support - support.size)
            others = others[:n_others]
            if n_others > most:
                others = _strongest(graph, rate, work, support, p, others, value, most)
            m = support.size
            rows, q = np.empty(m + others.size, np.int64), np.zeros(m + others.size)
            for a in range(rows.size):
                rows[a] = support[a] if a < m else others[a - m]
                q[a] = p[a] if a < m else 0.0
            face = dense_face(graph, rate, work, rows)
            _expand(face, graph.twins, q, work.reward, rows, m, value, first)
            first = False
        notes[i, 0], notes[i, 1], notes[i, 2], notes[i, 3] = status, rounds, steps, value
        notes[i, 4], notes[i, 5], notes[i, 6], notes[i, 7] = spread, max(0.0, top - value), worst, n_ties
        ptr[i + 1] = ptr[i] + support.size
        for a in range(support.size):
            all_rows[ptr[i] + a] = support[a]
            all_shares[ptr[i] + a] = p[a]
    return notes, ptr, all_rows, all_shares
