"""Votes for similarities: two candidates say how one side lies on the other, the rest whether it is so."""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import OPTIONS


@njit(**OPTIONS)
def vote_for_poses(
    source, target, spacing, raster, corner, cell, ptr, partners, pairs, scales, cosine, noise, best
):
    """Judge the similarity that takes source i to target a and source j to target b, for all of them.

    Points are complex numbers. `raster` has, for every cell of a grid over the targets, the nearest target;
    spacing[t] is the squared distance from t to a neighbour, divided by its rank: what a hit is measured by.
    partners[ptr[i]:ptr[i+1]] are the targets that source i may correspond to. A source that lands at squared
    distance r² from target t adds -log(1 - exp(-(r² + noise)/spacing[t])), minus the logarithm of the
    probability of coming so near by chance; each target counts once. best[p, x] is the sum for pair p and
    partner x of its first source, and the partner of its second, the best of all. Squared scales outside of
    `scales`, and turns with a smaller cosine than `cosine`, are not looked at.
    """
    n_rows, n_columns = raster.shape
    used = np.full(target.size, -1)
    stamp = 0
    for p in range(pairs.shape[0]):
        i, j = pairs[p]
        base = source[j] - source[i]
        for x in range(ptr[i + 1] - ptr[i]):
            a = partners[ptr[i] + x]
            for y in range(ptr[j], ptr[j + 1]):
                b = partners[y]
                if a == b:
                    continue
                turn = (target[b] - target[a]) / base
                size = turn.real * turn.real + turn.imag * turn.imag
                if not scales[0] <= size <= scales[1] or turn.real < cosine * np.sqrt(size):
                    continue
                stamp += 1
                used[a] = used[b] = stamp
                total = 0.0
                for k in range(source.size):
                    if k in (i, j):
                        continue
                    place = target[a] + turn * (source[k] - source[i])
                    row = min(max(int((place.imag - corner.imag) / cell), 0), n_rows - 1)
                    column = min(max(int((place.real - corner.real) / cell), 0), n_columns - 1)
                    t = raster[row, column]
                    if used[t] == stamp:
                        continue
                    gap = place - target[t]
                    ratio = (gap.real * gap.real + gap.imag * gap.imag + noise * size) / spacing[t]
                    if ratio < 3.0:
                        used[t] = stamp
                        total -= np.log(1.0 - np.exp(-ratio))
                if total > best[p, x, 0]:
                    best[p, x, 0] = total
                    best[p, x, 1] = b
