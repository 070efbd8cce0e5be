"""Many sparse points (see `batch.Points`), copied: some of them, or over hyperedges instead of rows."""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import OPTIONS


def chosen_points(ptr, rows, shares, chosen):
    """The chosen points, in this order, as (ptr, rows, shares)."""
    new_ptr = np.zeros(chosen.size + 1, np.int64)
    np.cumsum(np.diff(ptr)[chosen], out=new_ptr[1:])
    new_rows, new_shares = np.empty(new_ptr[-1], rows.dtype), np.empty(new_ptr[-1])
    _copy(ptr, rows, shares, chosen, new_ptr, new_rows, new_shares)
    return new_ptr, new_rows, new_shares


def over_members(ptr, rows, shares, members_ptr, members):
    """Points over classes as points over their members, (ptr, members, shares); members share equally."""
    counts = np.diff(members_ptr)[rows]
    ends = np.zeros(rows.size + 1, np.int64)
    np.cumsum(counts, out=ends[1:])
    each, each_share = np.empty(ends[-1], np.int64), np.empty(ends[-1])
    _spread(rows, shares, members_ptr, members, ends, each, each_share)
    return ends[ptr], each, each_share


@njit(**OPTIONS)
def _copy(ptr, rows, shares, chosen, new_ptr, new_rows, new_shares):
    for i in range(chosen.size):
        there = ptr[chosen[i]] - new_ptr[i]
        for here in range(new_ptr[i], new_ptr[i + 1]):
            new_rows[here] = rows[here + there]
            new_shares[here] = shares[here + there]


@njit(**OPTIONS)
def _spread(rows, shares, members_ptr, members, ends, each, each_share):
    for k in range(rows.size):
        there = members_ptr[rows[k]] - ends[k]
        share = shares[k] / (ends[k + 1] - ends[k])
        for here in range(ends[k], ends[k + 1]):
            each[here] = members[here + there]
            each_share[here] = share
