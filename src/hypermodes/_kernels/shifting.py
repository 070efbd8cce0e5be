"""Algorithm 1 for a block of starts: expand, climb, test, repeat, each on a small dense face.

Twin of `shift.shift` with `Voting` and `InfectionImmunization`. A round costs the incidences of the support
for the climb, and for the mode test those of the hyperedges around it; nothing depends on |E|.

`rate` is w/δ of a hypergraph and None for a matrix, `entries` the affinities of a matrix and None for a
hypergraph. What is done only if an argument is not None, numba does not compile where it is None; that an
array is never None it does not see. Hence both: each kind of graph is compiled without the other.
"""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import INNER, OPTIONS, density_of, infect, multiply, refresh, settle, trim

CERTIFIED, ISOLATED, MAX_ROUNDS, MAX_STEPS, MAX_SUPPORT, NO_ASCENT, OPEN, STOPPED = range(8)
ONE = np.uint64(1)
DUST = 1e-12  # shares this far below the largest are rounding of an exact solve


@njit(**INNER)
def payoffs(graph, rate, entries, work, support, p):
    """(Mp)_j for every row that meets the support, left in work.reward; how many, listed in work.row_list."""
    work.stamp[0] += 1
    stamp = work.stamp[0]
    touched = 0
    if entries is not None:
        for a in range(support.size):
            for t in range(graph.row_ptr[support[a]], graph.row_ptr[support[a] + 1]):
                j = graph.row_idx[t]
                if work.row_stamp[j] != stamp:
                    work.row_stamp[j] = stamp
                    work.reward[j] = 0.0
                    work.row_list[touched] = j
                    touched += 1
                work.reward[j] += p[a] * entries[t]
    if rate is not None:
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


@njit(**INNER)
def count_bits(x):
    """Number of ones in a word, by adding neighbours: pairs, fours, bytes, all. One instruction to LLVM."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(**INNER)
def dense_face(graph, rate, entries, work, rows):
    """M on a few rows, dense. Rows are sets of bits, 64 vertices at a time; overlaps are counts of bits."""
    w = rows.size
    face = np.empty((w, w))
    for a in range(w):
        for b in range(w):
            face[a, b] = 0.0
    work.stamp[0] += 1
    stamp = work.stamp[0]
    if entries is not None:
        for a in range(w):
            work.place_stamp[rows[a]] = stamp
            work.place[rows[a]] = a
        for a in range(w):
            for t in range(graph.row_ptr[rows[a]], graph.row_ptr[rows[a] + 1]):
                j = graph.row_idx[t]
                if work.place_stamp[j] == stamp:
                    face[a, work.place[j]] = entries[t]
    if rate is not None:
        n_vertices = 0
        for a in range(w):
            for t in range(graph.row_ptr[rows[a]], graph.row_ptr[rows[a] + 1]):
                v = graph.row_idx[t]
                if work.vertex_stamp[v] != stamp:
                    work.vertex_stamp[v] = stamp
                    work.mark[v] = n_vertices
                    n_vertices += 1
        bits = np.empty((n_vertices // 64 + 1, w), np.uint64)
        for word in range(bits.shape[0]):
            for a in range(w):
                bits[word, a] = 0
        for a in range(w):
            for t in range(graph.row_ptr[rows[a]], graph.row_ptr[rows[a] + 1]):
                place = work.mark[graph.row_idx[t]]
                bits[place >> 6, a] |= ONE << np.uint64(place & 63)
        some = np.empty(w, np.int64)
        for word in range(bits.shape[0]):
            n_some = 0
            for a in range(w):  # a giant row shares few of its words with anyone
                if bits[word, a] != 0:
                    for c in range(n_some):
                        face[a, some[c]] += count_bits(bits[word, a] & bits[word, some[c]])
                    some[n_some] = a
                    n_some += 1
        for a in range(w):
            k = rows[a]
            for b in range(a):
                face[a, b] *= rate[k] + rate[rows[b]]
                face[b, a] = face[a, b]
            size = graph.row_ptr[k + 1] - graph.row_ptr[k]
            face[a, a] = 2.0 * rate[k] * size * (1.0 - 1.0 / graph.twins[k])
    return face


@njit(**OPTIONS)
def dense_faces(graph, rate, entries, work, supports):
    """The same for many supports of one size, stacked."""
    n, size = supports.shape
    faces = np.empty((n, size, size))
    for k in range(n):
        face = dense_face(graph, rate, entries, work, supports[k])
        for a in range(size):  # assigned as a whole, it would take numba three seconds more to compile
            for b in range(size):
                faces[k, a, b] = face[a, b]
    return faces


@njit(**INNER)
def _votes(graph, rate, entries, work, support, p, value, candidates, n):
    """The mode mass each candidate meets, found by walking around every member in turn, and its gain."""
    votes, gain, seen_from = np.empty(n), np.empty(n), np.empty(n, np.int64)
    work.stamp[0] += 1
    stamp = work.stamp[0]
    for c in range(n):
        work.place_stamp[candidates[c]] = stamp
        work.place[candidates[c]] = c
        votes[c], seen_from[c] = 0.0, -1
        gain[c] = work.reward[candidates[c]] - value
    for a in range(support.size):
        for t in range(graph.row_ptr[support[a]], graph.row_ptr[support[a] + 1]):
            v = graph.row_idx[t]
            if entries is not None and work.place_stamp[v] == stamp:
                votes[work.place[v]] += p[a]
            if rate is not None:
                for u in range(graph.vertex_ptr[v], graph.vertex_ptr[v + 1]):
                    j = graph.vertex_idx[u]
                    if work.place_stamp[j] == stamp and seen_from[work.place[j]] != a:
                        seen_from[work.place[j]] = a
                        votes[work.place[j]] += p[a]
    return votes, gain


@njit(**INNER)
def _admit_strongest(first_edge, candidates, votes, gain, limit):
    """Move the `limit` candidates of largest vote times gain, to nine digits, to the front.

    Of equals, the first. The least of them is found bit by bit: no two are the same number.
    """
    keys = np.empty(gain.size, np.int64)
    largest = 0.0
    for c in range(gain.size):
        largest = gain[c] if gain[c] > largest else largest
    for c in range(gain.size):
        strength = np.int64(np.floor(votes[c] * gain[c] / largest * 1e9 + 0.5))
        keys[c] = strength << 32 | (0xFFFFFFFF - first_edge[candidates[c]])
    least = 0
    for bit in range(62, -1, -1):
        higher, n = least | 1 << bit, 0
        for c in range(keys.size):
            n += keys[c] >= higher
        least = higher if n >= limit else least
    n = 0
    for c in range(keys.size):
        if keys[c] >= least:
            candidates[n], votes[n], gain[n] = candidates[c], votes[c], gain[c]
            n += 1


@njit(**INNER)
def _expand(face, twins, p, rows, m, votes, gain, payoff, first):
    """p + c*h by voting, for the m members and the candidates behind them; Eq. (13). Each twin has a vote."""
    w = p.size
    h = np.empty(w)
    itself = twins[rows[0]] * face[0, 0] if first else 0.0  # a start with twins: they are candidates as well
    total = itself
    for a in range(m, w):
        h[a] = twins[rows[a]] * votes[a - m] * gain[a - m]
        total += h[a]
    slope = itself / total * face[0, 0]
    for a in range(m, w):
        h[a] /= total
        slope += h[a] * gain[a - m]
    for a in range(m):
        h[a] = -p[a]
    h[0] += itself / total
    multiply(face, h, payoff)
    bend = density_of(h, payoff)
    furthest = 0.5 if first else 1.0
    # At most `furthest`, all of it if F bends up.
    c = furthest if -slope <= furthest * bend else -slope / bend
    for a in range(w):
        share = p[a] + c * h[a]
        p[a] = share if share > 0.0 else 0.0


@njit(**INNER)
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


@njit(**INNER)
def _survey(twins, work, support, p, others, first, tol):
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
            spread = abs(reward - value) if abs(reward - value) > spread else spread
            continue
        if reward > value * (1.0 + tol):
            others[n_others] = j
            n_others += 1
        elif reward >= value * (1.0 - tol):
            n_ties += twins[j]
        if reward > top or (reward == top and j < worst):
            top, worst = reward, j
    return value, spread, top, worst, n_ties, n_others


@njit(**OPTIONS)
def shift_block(graph, rate, entries, work, starts, fresh, tol, limits, stop, found, notes):
    """Shift a block of starts to their modes.

    Starts are (ptr, rows, shares), start i having rows[ptr[i]:ptr[i+1]] with these shares; what is found
    is written into arrays of the same form, with room for max_support rows a start. `fresh` tells starts
    from points to go on from. `limits` are max_rounds, max_steps, warm_up, admit and max_support. The notes
    of each start are status, rounds, steps, density, spread, excess, worst row, number of ties. OPEN is
    the status of a start that needs second order to go on or to be certified: `second_order` decides.
    `stop[0]` ends the block early.
    """
    start_ptr, start_rows, start_shares = starts
    ptr, all_rows, all_shares = found
    max_rounds, max_steps, warm_up, admit, max_support = limits
    for i in range(start_ptr.size - 1):
        begin, end = start_ptr[i], start_ptr[i + 1]
        support, p = members(start_rows[begin:end], start_shares[begin:end])
        rows, q = support, p
        first = fresh and rows.size == 1  # a single hyperedge has density 0: nothing to climb
        status, rounds, steps, flat = STOPPED, 0, 0, False
        value, spread, top, worst, n_ties, n_others = 0.0, 0.0, 0.0, -1, 0.0, 0
        votes, gain = q, q
        while not stop[0]:
            rounds += 1
            if rounds > 1 or not first:
                face = dense_face(graph, rate, entries, work, rows)
                payoff = np.empty(q.size)
                if n_others > 0:
                    _expand(face, graph.twins, q, rows, support.size, votes, gain, payoff, first)
                    first = False
                refresh(face, q, payoff)
                steps += infect(face, q, payoff, np.sqrt(tol), warm_up, max_steps)  # finds the support
                trim(q, payoff, tol)
                refresh(face, q, payoff)
                taken = settle(face, q, payoff)  # finds the point
                flat = taken < 0
                steps += 0 if flat else taken
                trim(q, payoff, DUST)
                support, p = members(rows, q)
            touched = payoffs(graph, rate, entries, work, support, p)
            others = np.empty(touched, np.int64)
            value, spread, top, worst, n_ties, n_others = _survey(
                graph.twins, work, support, p, others, first, tol
            )
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
            votes, gain = _votes(graph, rate, entries, work, support, p, value, others, n_others)
            m = support.size
            most = admit if admit < max_support - m else max_support - m
            if n_others > most:
                _admit_strongest(graph.first_edge, others, votes, gain, most)
                n_others = most
            rows, q = np.empty(m + n_others, np.int64), np.empty(m + n_others)
            for a in range(rows.size):
                rows[a] = support[a] if a < m else others[a - m]
                q[a] = p[a] if a < m else 0.0
            # Twins of the start alone: there is a step to make all the same.
            n_others += 1 if n_others == 0 else 0
        notes[i, 0], notes[i, 1], notes[i, 2], notes[i, 3] = status, rounds, steps, value
        notes[i, 4], notes[i, 5], notes[i, 6], notes[i, 7] = spread, top - value, worst, n_ties
        ptr[i + 1] = ptr[i] + support.size
        for a in range(support.size):
            all_rows[ptr[i] + a] = support[a]
            all_shares[ptr[i] + a] = p[a]


@njit(**OPTIONS)
def survey_points(graph, rate, entries, work, points, tol, notes):
    """What `shift_block` notes of points besides how it came to them: density to number of ties."""
    ptr, rows, shares = points
    for i in range(ptr.size - 1):
        support, p = rows[ptr[i] : ptr[i + 1]], shares[ptr[i] : ptr[i + 1]]
        touched = payoffs(graph, rate, entries, work, support, p)
        others = np.empty(touched, np.int64)
        value, spread, top, worst, n_ties, _ = _survey(graph.twins, work, support, p, others, False, tol)
        notes[i, 0], notes[i, 1], notes[i, 2], notes[i, 3], notes[i, 4] = (
            value,
            spread,
            top - value,
            worst,
            n_ties,
        )
