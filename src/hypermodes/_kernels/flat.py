"""Which distinct modes are joined by a flat segment."""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import OPTIONS
from hypermodes._kernels.shifting import payoffs


@njit(**OPTIONS)
def flat_pairs(graph, rate, entries, work, ptr, rows, shares, density, tied, anchor_ptr, anchored, slack):
    """Pairs (A, B) of modes with F_A = F_B = m(p_A, p_B), looked for from the modes listed in `tied`.

    `anchor_ptr`, `anchored`: the modes whose heaviest row is a given one.
    """
    pairs = np.empty((64, 2), np.int64)
    n = 0
    for t in range(tied.size):
        k = tied[t]
        value = density[k]
        low = value * (1.0 - slack)
        touched = payoffs(graph, rate, entries, work, rows[ptr[k] : ptr[k + 1]], shares[ptr[k] : ptr[k + 1]])
        stamp = work.stamp[0]
        for c in range(touched):
            j = work.row_list[c]
            if work.reward[j] < low:
                continue
            for f in range(anchor_ptr[j], anchor_ptr[j + 1]):
                other = anchored[f]
                if other == k or abs(density[other] - value) > slack * value:
                    continue
                joint = 0.0
                for b in range(ptr[other], ptr[other + 1]):
                    if work.row_stamp[rows[b]] == stamp:
                        joint += shares[b] * work.reward[rows[b]]
                if joint >= low:
                    if n == pairs.shape[0]:
                        longer = np.empty((2 * n, 2), np.int64)
                        for i in range(n):
                            longer[i, 0], longer[i, 1] = pairs[i, 0], pairs[i, 1]
                        pairs = longer
                    pairs[n, 0], pairs[n, 1] = k, other
                    n += 1
    return pairs[:n]
