"""How strongly two hyperedges of neighbours hold together: density times shared vertices.

Hyperedge i is point i and its k nearest neighbours, the i-th row of `members`, with the rate a_i = 1/d_k. Its
density is its total affinity f_i = (M·1)_i. It holds together with a neighbour's hyperedge j at the level

    min(f_i, f_j) · √(|e_i ∩ e_j| / (k + 1)):

how dense the path between them runs, times how wide it is. A bridge of noise may be as dense as what is
around it, but those on it share few neighbours, whatever the density.
"""

import threading
from collections.abc import Iterable
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hypermodes.threads import in_threads, stretches
from hypermodes.tree import Links

BLOCK = 8192  # points that are looked at together with their neighbours: what is needed stays in the cache
BLOCKS = 16  # of these, at most, whose links are made one after the other, and thinned again
SHARES = 16  # of all points, at least, so that there is something to do for all threads
ASKED = 1 << 12  # points that are asked how far groups are apart: up to here it is exact
SPOKEN_FOR = 256  # of each group at least, where there are more
HAIR = 1e-9  # far above rounding, far below anything that is measured


class Nearest(Protocol):
    """Finds the nearest of some points to each of some others: (distances, which of them)."""

    def __call__(self, among: np.ndarray, of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distances to, and positions in ``among`` of, the nearest to each point in ``of``."""


def hyperedge_density(members: np.ndarray, rate: np.ndarray, n_jobs: int | None = 1) -> np.ndarray:
    """f = M·1 of Eq. (2), from sums on vertices, divided by 2(k+1)²: near the rate where neighbours agree.

    Notes
    -----
    O(n k). f_i = Σ_{v ∈ e_i} (a_i deg_v + z_v) - 2 a_i |e_i| with deg = B'1 and z = B'a.
    """
    from hypermodes._kernels.trees import sum_over

    n, size = members.shape[0], members.shape[1] + 1
    sums, density = vertex_sums(members, rate), np.empty(n)

    def fill(part: slice) -> None:
        own, both = rate[part], np.empty((part.stop - part.start, 2))
        sum_over(members, part.start, sums, both)
        density[part] = (own * both[:, 0] + both[:, 1] - 2 * own * size) / (2 * size**2)

    in_threads(n_jobs, fill, stretches(n, BLOCK))
    return density


def vertex_sums(members: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """How many hyperedges each vertex is in, and the sum of their rates: (n, 2)."""
    from hypermodes._kernels.trees import count_in

    sums = np.zeros((len(members), 2))
    count_in(members, rate, sums)
    sums[:, 0] += 1  # its own
    sums[:, 1] += rate
    return sums


def link_level(one: np.ndarray, other: np.ndarray, shared: np.ndarray | int, k: int) -> np.ndarray:
    """Level of a link from the densities of its ends and the number of shared vertices.

    Many links of a point are level with each other, by its own density. Of these the one with the denser
    other end is higher by a hair, so that the order of links is a matter of the points, not of how they lie.
    """
    lower, higher = np.minimum(one, other), np.maximum(one, other)
    return lower * np.sqrt(shared / (k + 1)) * (1 + HAIR * (1 - lower / higher))


def neighbour_links(
    members: np.ndarray, density: np.ndarray, n_jobs: int | None = -1, *, thin: bool = False
) -> Links:
    """Every point with each of its neighbours, every pair once; or only those that their tree may need.

    Those are the links of maximum spanning forests inside blocks of points, and all between blocks: few,
    where neighbours are near each other in the order of the points.
    """
    from hypermodes._kernels.trees import shared

    n, k = members.shape
    scratch = threading.local()

    def links(part: slice) -> Links:
        begin, end = part.start, part.stop
        counts = np.empty((end - begin, k), np.int32)
        shared(members, begin, end, scratch.mark, counts)
        once = np.flatnonzero(counts)
        left = (begin + once // k).astype(members.dtype)
        right = members[part].ravel()[once]
        level = link_level(density[left], density[right], counts.ravel()[once], k)
        made = Links(left, right, level)
        return made.thinned(begin, end) if thin else made

    def links_of_blocks(part: slice) -> Links:
        if not hasattr(scratch, "mark"):
            scratch.mark = np.full(n, -1, members.dtype)
        made = _together(map(links, stretches(part.stop, BLOCK, first=part.start)))
        return made.thinned(part.start, part.stop) if thin else made

    several = min(BLOCKS, -(-n // (SHARES * BLOCK))) * BLOCK
    return _together(in_threads(n_jobs, links_of_blocks, stretches(n, several)))


def _together(parts: Iterable[Links]) -> Links:
    return Links(*map(np.concatenate, zip(*parts, strict=True)))


def bridges(links: Links, density: np.ndarray, reach: np.ndarray, k: int, nearest: Nearest) -> Links:
    """Links between the nearest pairs of groups that have none, so that all points are joined.

    They share no vertices: they count as sharing one, and lose level in the ratio of d_k to their length.
    Where there are more than 4096 points, large groups speak through some of theirs, 256 or more, evenly
    spread in the order of density: how far they are apart need not be known to the point, but must not
    depend on how the points lie.

    Notes
    -----
    Borůvka's way. Two groups differ in some bit of their numbers, so the nearest point of another group is
    the best of two searches a bit.
    """
    n = density.size
    added = [np.empty((0, 2), np.int64)]
    lengths = [np.empty(0)]
    count, group = _components(n, links.left, links.right)
    while count > 1:
        sizes = np.bincount(group)
        asking = group != sizes.argmax()  # the largest need not ask
        speaks = _speakers(group, sizes, density)
        best, partner = np.full(n, np.inf), np.full(n, -1)
        for bit in range(int(count - 1).bit_length()):
            for side in (0, 1):
                here = (group >> bit & 1) == side
                among, of = np.flatnonzero(here & speaks), np.flatnonzero(~here & speaks & asking)
                if among.size and of.size:
                    length, which = nearest(among, of)
                    closer = length < best[of]
                    best[of[closer]], partner[of[closer]] = length[closer], among[which[closer]]
        order = np.lexsort((best, group))
        first = order[np.concatenate(([True], np.diff(group[order]) > 0))]
        first = first[partner[first] >= 0]
        if first.size == 0:  # infinitely far apart: anywhere will do, at level 0
            _, one_each = np.unique(group, return_index=True)
            first = one_each[1:]
            partner[first] = one_each[0]
        added.append(np.column_stack((first, partner[first])))
        lengths.append(best[first])
        count, merged = _components(count, group[first], group[partner[first]])
        group = merged[group]
    pairs, length = np.concatenate(added), np.concatenate(lengths)
    level = link_level(density[pairs[:, 0]], density[pairs[:, 1]], 1, k)
    longest = np.maximum(reach[pairs[:, 0]], reach[pairs[:, 1]])
    longer = longest / np.maximum(length, np.maximum(longest, np.finfo(float).tiny))  # 1 at most
    return Links(
        np.concatenate((links.left, pairs[:, 0])),
        np.concatenate((links.right, pairs[:, 1])),
        np.concatenate((links.level, level * longer)),
    )


def _speakers(group: np.ndarray, sizes: np.ndarray, density: np.ndarray) -> np.ndarray:
    """Whether each point speaks for its group: all of a small one, some of every density of a large one."""
    most = max(SPOKEN_FOR, _cap(sizes, ASKED))
    if sizes.max() <= most:
        return np.ones(group.size, bool)
    order = np.lexsort((density, group))
    begin = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    place = np.empty(group.size, np.int64)
    place[order] = np.arange(group.size) - np.repeat(begin, sizes)
    share = np.minimum(sizes, most)[group]
    return place * share // sizes[group] != (place - 1) * share // sizes[group]


def _cap(sizes: np.ndarray, total: int) -> int:
    """The largest size of which groups, each cut down to it, have so many in all; or that of the largest."""
    sizes = np.sort(sizes)
    before = np.cumsum(sizes) - sizes
    left = sizes.size - np.arange(sizes.size)
    too_many = np.flatnonzero(before + sizes * left > total)
    return int((total - before[too_many[0]]) // left[too_many[0]] if too_many.size else sizes[-1])


def _components(n: int, left: np.ndarray, right: np.ndarray) -> tuple[int, np.ndarray]:
    """Number of groups that links make of n points, and the group of each; ``left`` may be sorted."""
    if (np.diff(left) >= 0).all():  # rows of a matrix as they are: no sorting of what is sorted
        ptr = np.concatenate(([0], np.cumsum(np.bincount(left, minlength=n))))
        joined = sp.csr_array((np.ones(left.size, np.int8), right, ptr), shape=(n, n))
    else:
        joined = sp.coo_array((np.ones(left.size, np.int8), (left, right)), shape=(n, n)).tocsr()
    return connected_components(joined, directed=False)
