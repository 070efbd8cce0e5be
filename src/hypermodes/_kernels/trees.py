"""The tree of a clustering: who shares neighbours, who joins whom, what is a cluster at one smallest size.

A merge tree of n points has nodes 0 … n-1 for the points and n + m for merge m; merges are listed from the
highest level down, so children come before their parents.
"""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import INNER, OPTIONS

SLACK = 1 - 1e-9  # of equal sums, rounding makes none the larger


@njit(**OPTIONS)
def shared(members, begin, end, mark, out):
    """How many vertices hyperedge i has in common with that of each of its members; i from begin to end.

    `members` has a row for each point: its neighbours, itself not listed. `mark` is scratch, -1 at first;
    what is left in it from other points does no harm.
    A pair that is listed from both sides is counted from the lower one; from the other it has 0.
    """
    k = members.shape[1]
    for i in range(begin, end):
        mark[i] = i
        for t in range(k):
            mark[members[i, t]] = i
        for t in range(k):
            j = members[i, t]
            before = 0
            if j < i:
                for u in range(k):
                    before += members[j, u] == i
            count = 0
            if before == 0:
                count = 1  # j itself is in both
                for u in range(k):
                    count += mark[members[j, u]] == i
            out[i - begin, t] = count


@njit(**OPTIONS)
def count_in(members, rate, sums):
    """Add to each vertex, for every hyperedge of another point that it is in, one and the rate of that.

    Both are next to each other, since the time goes into finding them in memory.
    """
    for i in range(members.shape[0]):
        for t in range(members.shape[1]):
            v = members[i, t]
            sums[v, 0] += 1.0
            sums[v, 1] += rate[i]


@njit(**OPTIONS)
def sum_over(members, begin, sums, out):
    """Sums of both over the vertices of the hyperedges from begin on, as many as there is room for."""
    for c in range(out.shape[0]):
        i = begin + c
        one, other = sums[i, 0], sums[i, 1]
        for t in range(members.shape[1]):
            v = members[i, t]
            one += sums[v, 0]
            other += sums[v, 1]
        out[c, 0], out[c, 1] = one, other


@njit(**INNER)
def find(parent, x):
    """Root of the set x is in; paths are halved on the way."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@njit(**OPTIONS)
def spanning_tree(left, right, level, parent, best, alive):
    """Links of a maximum spanning tree, in no order, by Borůvka; of equal levels the first link is higher.

    `parent`, which counts up, and `best` are scratch, one a point, and so is `alive`, which counts up, one a
    link: from NumPy, which asks for large pages.

    Each round every group takes its highest link to another group. Links inside groups are forgotten on the
    way, so that a round looks at about half of what the last one did, one after the other.
    """
    n = parent.size
    chosen = np.empty(n - 1, best.dtype)
    n_chosen, n_alive, joining = 0, left.size, True
    while joining:
        joining = False
        for i in range(n):
            best[i] = -1
        kept = 0
        for c in range(n_alive):
            t = alive[c]
            a, b = find(parent, left[t]), find(parent, right[t])
            if a == b:
                continue
            alive[kept] = t
            kept += 1
            if best[a] < 0 or level[t] > level[best[a]]:
                best[a] = t
            if best[b] < 0 or level[t] > level[best[b]]:
                best[b] = t
        n_alive = kept
        for i in range(n):
            t = best[i]
            if t >= 0:
                a, b = find(parent, left[t]), find(parent, right[t])
                if a != b:
                    parent[max(a, b)] = min(a, b)
                    chosen[n_chosen] = t
                    n_chosen += 1
                    joining = True
    return chosen[:n_chosen]


@njit(**INNER)
def root_of(up, x):
    """Root of the set x is in; a root has something negative in its place. Paths are halved on the way."""
    while up[x] >= 0:
        above = up[x]
        if up[above] >= 0:
            above = up[x] = up[above]
        x = above
    return x


@njit(**OPTIONS)
def merge_tree(ends, heights, sets, children):
    """Kruskal: join the ends of links, which come from the highest down; the number of merges.

    Links that join nothing are dropped from `ends` and `heights`. `sets` is scratch, for each point what is
    above it, or minus the size of its set if it is the root of that, -1 at first; and then the node of the
    set, which counts up. They are next to each other and short integers if that will do, since the time goes
    into finding them in memory. For the same reason the smaller group goes below the larger.
    """
    n, up, node = sets.shape[0], sets[:, 0], sets[:, 1]
    m = 0
    for t in range(ends.shape[0]):
        a, b = root_of(up, ends[t, 0]), root_of(up, ends[t, 1])
        if a == b:
            continue
        ends[m, 0], ends[m, 1], heights[m] = ends[t, 0], ends[t, 1], heights[t]
        children[m, 0], children[m, 1] = node[a], node[b]
        if up[a] > up[b]:
            a, b = b, a
        up[a] += up[b]
        up[b] = a
        node[a] = n + m
        m += 1
    return m


@njit(**OPTIONS)
def add_up(children, values):
    """Sums over every node, behind the values of the points, which there is room for."""
    n = children.shape[0] + 1
    for m in range(n - 1):
        values[n + m] = values[children[m, 0]] + values[children[m, 1]]


@njit(**OPTIONS)
def condense(children, heights, mass, large, node, joined, most):
    """Groups that are large and part from another such group, at most so many, and how each grows.

    `large` says whether a node is. `node`, which is -1 everywhere, and `joined` are scratch, one a node of
    the tree; from NumPy, which asks for large pages, and of short integers, since the time goes into finding
    them in memory.

    Returns (group of each point, level of each point, parts, ptr, mass, height, excess). The level of a point
    is the height of the first merge above it that is large enough. `parts` are the two groups a group comes
    from, -1 if there are none; children come before their parents, the root is last. Group g grows in the
    stages ptr[g] … ptr[g+1]-1, a merge each (or a point that is large enough by itself): its mass from there
    on, the height, and the excess of mass it would have above its birth, had it begun there.
    """
    n = children.shape[0] + 1
    root = 2 * n - 2
    parts = np.full((most, 2), -1, np.int32)
    birth = np.empty(most)
    count = 0
    for m in range(n - 1):
        a, b, c = children[m, 0], children[m, 1], n + m
        if large[a] and large[b]:
            for x in (a, b):
                if node[x] < 0:
                    node[x] = count
                    count += 1
                birth[node[x]] = heights[m]
            parts[count, 0], parts[count, 1] = node[a], node[b]
            node[c] = count
            count += 1
        elif large[a]:
            node[c] = node[a]
        elif large[b]:
            node[c] = node[b]
    if node[root] < 0:
        node[root] = count
        count += 1
    birth[node[root]], joined[root] = 0.0, 0.0
    for m in range(n - 2, -1, -1):
        for x in children[m]:
            joined[x] = heights[m] if large[n + m] else joined[n + m]
            if node[x] < 0:
                node[x] = node[n + m]
    ptr = np.zeros(count + 1, np.int64)
    for x in range(2 * n - 1):
        if large[x]:
            ptr[node[x] + 1] += 1
    for g in range(count):
        ptr[g + 1] += ptr[g]
    fill = ptr[:count].copy()
    stage_mass, stage_height, excess = np.empty(ptr[count]), np.empty(ptr[count]), np.empty(ptr[count])
    for x in range(2 * n - 1):  # the heights of merges fall
        if large[x]:
            e = fill[node[x]]
            fill[node[x]] += 1
            stage_mass[e], stage_height[e] = mass[x], heights[x - n] if x >= n else joined[x]
    for g in range(count):
        later = 0.0
        for e in range(ptr[g + 1] - 1, ptr[g] - 1, -1):
            above = stage_height[e] - birth[g]
            excess[e] = stage_mass[e] * above + later
            if e > ptr[g]:
                later += (stage_mass[e] - stage_mass[e - 1]) * above
    return node[:n], joined[:n], parts[:count], ptr, stage_mass, stage_height, excess


@njit(**OPTIONS)
def groups_at(parts, ptr, stage_mass, stage_height, stage_excess, smallest):
    """The tree of `condense` at a larger `smallest`, from the one at a smaller.

    Returns (which of the larger groups each group is in, the height at which it is large enough, and of the
    larger groups the parent and the excess of mass).
    """
    n = parts.shape[0]
    smallest = min(smallest, stage_mass[-1])
    group, enough, above = np.full(n, -1, np.int32), np.full(n, -1.0), np.empty(n)
    up, excess = np.full(n, -1, np.int32), np.empty(n)
    count = 0
    for g in range(n):
        low, high = ptr[g], ptr[g + 1]
        while low < high:  # the first stage that is large enough
            middle = (low + high) // 2
            if stage_mass[middle] >= smallest:
                high = middle
            else:
                low = middle + 1
        if low == ptr[g + 1]:
            continue
        enough[g], above[g] = stage_height[low], stage_excess[low]
        a, b = parts[g]
        if a >= 0 and enough[a] >= 0.0 and enough[b] >= 0.0:
            for x in (a, b):
                if group[x] < 0:
                    group[x] = count
                    count += 1
                excess[group[x]] = above[x]
            up[group[a]] = up[group[b]] = group[g] = count
            count += 1
        elif a >= 0:
            for x in (a, b):
                if enough[x] >= 0.0:
                    group[g] = group[x]
                    above[g] += above[x]
    if group[n - 1] < 0:
        group[n - 1] = count
        count += 1
    excess[group[n - 1]] = above[n - 1]
    for g in range(n - 1, -1, -1):
        for x in parts[g]:
            if x >= 0:
                group[x] = group[g] if group[x] < 0 else group[x]
                enough[x] = enough[g] if enough[x] < 0.0 else enough[x]
    return group, enough, up[:count], excess[:count]


@njit(**OPTIONS)
def excess_of_mass(up, excess):
    """Keep a group when its own excess of mass beats the best of its descendants; the root only if alone.

    The excess of a group is the mass in it times how far above its birth it lies. Returns the cluster each
    group belongs to (-1: above all clusters) and their number.
    """
    m = up.size
    below = np.zeros(m)
    inner, kept = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    for c in range(m):
        kept[c] = not inner[c] or (c < m - 1 and below[c] * SLACK <= excess[c])
        q = up[c]
        if q >= 0:
            inner[q] = True
            below[q] += excess[c] if kept[c] else below[c]
    label = np.empty(m, np.int64)
    count = 0
    for c in range(m - 1, -1, -1):
        label[c] = label[up[c]] if up[c] >= 0 else -1
        if label[c] < 0 and kept[c]:
            label[c] = count
            count += 1
    return label, count


@njit(**OPTIONS)
def flood(ends, up, out):
    """Every point outside the cores joins the core it reaches by the highest path of the spanning tree.

    `up`, which is overwritten, has for each point in core c the number -2 - c, and -1 for the others.
    """
    for m in range(ends.shape[0]):
        a, b = root_of(up, ends[m, 0]), root_of(up, ends[m, 1])
        if up[a] == -1:
            up[a] = b
        elif up[b] == -1:
            up[b] = a
    for i in range(up.size):
        out[i] = -2 - up[root_of(up, i)]


@njit(**OPTIONS)
def agreement(first, n_first, second, n_second, weight):
    """Adjusted Rand index of two partitions, points weighted; 1 where both say nothing.

    A weight says how often a point came, in any unit: the value is the limit for points that came often,
    where it no longer matters that the two of a pair are different ones.

    Points are put in the order of their first label by counting, so that only one row of the table of both
    is needed at a time, however many clusters there are.
    """
    begin = np.zeros(n_first + 1, np.int64)
    for i in range(first.size):
        begin[first[i] + 1] += 1
    for c in range(n_first):
        begin[c + 1] += begin[c]
    order, fill = np.empty(first.size, np.int64), begin.copy()
    for i in range(first.size):
        order[fill[first[i]]] = i
        fill[first[i]] += 1
    both, sizes = np.zeros(n_second), np.zeros(n_second)
    squares, squares_first, squares_second, total = 0.0, 0.0, 0.0, 0.0
    for c in range(n_first):
        size = 0.0
        for t in range(begin[c], begin[c + 1]):
            i = order[t]
            both[second[i]] += weight[i]
            sizes[second[i]] += weight[i]
            size += weight[i]
        for t in range(begin[c], begin[c + 1]):
            j = second[order[t]]
            squares += both[j] ** 2
            both[j] = 0.0
        squares_first += size**2
        total += size
    for j in range(n_second):
        squares_second += sizes[j] ** 2
    chance = squares_first * squares_second / total**2
    best = (squares_first + squares_second) / 2
    return (squares - chance) / (best - chance) if best > chance * (1 + 1e-12) else 1.0


@njit(**OPTIONS)
def best_antichain(up, excess, wanted):
    """The cluster of each group: the `wanted` ones, none above another, of the largest total excess of mass.

    best[row[c] + j] is the largest total of j groups in the branch of c, and taken how many of them are in
    the later of its two parts. A branch has no more groups than leaves, and no longer row. Where the tree has
    too few leaves, as many as there are.
    """
    m = up.size
    wanted = min(wanted, (m + 1) // 2)  # so many leaves there are
    second = np.full(m, -1, np.int64)
    other = np.full(m, -1, np.int64)
    leaves = np.zeros(m, np.int64)
    row = np.zeros(m + 1, np.int64)
    for c in range(m):
        leaves[c] = 1 if second[c] < 0 else leaves[other[c]] + leaves[second[c]]
        row[c + 1] = row[c] + min(wanted, leaves[c]) + 1
        q = up[c]
        if q >= 0:
            if other[q] < 0:
                other[q] = c
            else:
                second[q] = c
    best = np.full(row[m], -np.inf)
    taken = np.zeros(row[m], np.int32)
    for c in range(m):
        own = row[c]
        best[own] = 0.0
        if second[c] >= 0:
            a, b = other[c], second[c]
            for j in range(1, min(wanted, leaves[c]) + 1):
                for i in range(max(0, j - leaves[a]), min(j, leaves[b]) + 1):
                    value = best[row[a] + j - i] + best[row[b] + i]
                    if value * SLACK > best[own + j]:
                        best[own + j], taken[own + j] = value, i
        if excess[c] >= best[own + 1] * SLACK:
            best[own + 1], taken[own + 1] = excess[c], -1
    quota = np.zeros(m, np.int64)
    label = np.empty(m, np.int64)
    quota[m - 1] = wanted
    count = 0
    for c in range(m - 1, -1, -1):
        label[c] = label[up[c]] if up[c] >= 0 else -1
        if label[c] >= 0 or quota[c] == 0:
            continue
        j = quota[c]
        if j == 1 and taken[row[c] + 1] == -1:
            label[c] = count
            count += 1
        else:
            quota[second[c]] = taken[row[c] + j]
            quota[other[c]] = j - taken[row[c] + j]
    return label, count
