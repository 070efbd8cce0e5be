"""Kernels of ties and layouts: strengths on a local scale, the random walk that smooths, one epoch of moves.

All items move at once, from where they were in the epoch before, each by its own ties and its own counted
random numbers. So the order of the work, and the number of threads, cannot matter.
"""

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import INNER, OPTIONS

HALVINGS = 40  # of an interval of scales: far below the levels that ties are rounded to
A = np.float32(1.93)  # of the attraction 1/(1 + A d^(2B)): UMAP's curve for a minimum distance of 0
NEAR = np.float32(0.001)  # squared distance below which repulsion grows no more
CLIP = np.float32(4.0)  # longest move in an epoch, at full step


@njit(**OPTIONS)
def local_strengths(distances, wanted, out):
    """exp(-(d - d_0)/s) for each row of distances, nearest first, with s such that they sum to ``wanted``.

    Infinite distances have strength 0. Where no s is small enough, because that many distances are equal to
    the first, all of these have strength 1.
    """
    n, k = distances.shape
    for i in range(n):
        first = distances[i, 0]
        count, total = 0, 0.0
        for t in range(k):
            if distances[i, t] < np.inf:
                count += 1
                total += distances[i, t] - first
        if count == 0:
            for t in range(k):
                out[i, t] = 0.0
            continue
        mean = total / count
        low, high = 0.0, -1.0
        scale = mean
        goal = min(wanted, 0.99 * count)
        for _ in range(HALVINGS):
            mass = 0.0
            for t in range(count):
                gap = distances[i, t] - first
                mass += 1.0 if gap == 0.0 else np.exp(-gap / scale)
            if mass > goal:
                high = scale
                scale = (low + high) / 2
            else:
                low = scale
                scale = 2 * scale if high < 0.0 else (low + high) / 2
            if not (0.0 < scale < np.inf):
                scale = mean
        for t in range(k):
            gap = distances[i, t] - first
            out[i, t] = 0.0 if t >= count else (1.0 if gap == 0.0 else np.exp(-gap / scale))


@njit(**INNER)
def mixed(x):
    """Scatter an integer over all 64 bits (splitmix64)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(**OPTIONS)
def random_positions(begin, first, out):
    """Coordinates from -1 to 1 for items ``begin`` … of a part that begins at ``first``."""
    n, dimensions = out.shape
    for i in range(n):
        key = mixed(np.uint64(begin + i - first))
        for c in range(dimensions):
            key = mixed(key)
            out[i, c] = np.float64(key >> np.uint64(11)) * 2.0**-52 - 1.0


@njit(**OPTIONS)
def walk(ptr, index, tie, degree, places, begin, out):
    """Half a step of the random walk along ties: each item half way to the mean of those it is tied to."""
    dimensions = places.shape[1]
    for row in range(out.shape[0]):
        i = begin + row
        for c in range(dimensions):
            out[row, c] = 0.0
        for t in range(ptr[i], ptr[i + 1]):
            j = index[t]
            for c in range(dimensions):
                out[row, c] += tie[t] * places[j, c]
        for c in range(dimensions):
            out[row, c] = 0.5 * (places[i, c] + out[row, c] / degree[i])


@njit(**OPTIONS)
def weighted_products(degree, left, right, out):
    """Σ_i degree_i left_i right_iᵀ."""
    for a in range(left.shape[1]):
        for b in range(right.shape[1]):
            out[a, b] = 0.0
    for i in range(degree.size):
        for a in range(left.shape[1]):
            for b in range(right.shape[1]):
                out[a, b] += degree[i] * left[i, a] * right[i, b]


@njit(**OPTIONS)
def move(ptr, index, tie, degree, first, last, places, begin, epoch, step, repulsion, samples, most, out):
    """One epoch for the items from ``begin`` on, as many as there is room for.

    `first` and `last` bound the part each item is in: it is repelled by items of its own part only. Of more
    than ``most`` ties every m-th is looked at, others in the next epoch, and counts m times.
    """
    dimensions = places.shape[1]
    force = np.empty(dimensions, np.float32)
    one = np.float32(1.0)
    for row in range(out.shape[0]):
        i = begin + row
        for c in range(dimensions):
            force[c] = 0.0
        here = ptr[i + 1] - ptr[i]
        turns = (here + most - 1) // most
        times = np.float32(turns)
        for t in range(ptr[i] + epoch % max(turns, 1), ptr[i + 1], max(turns, 1)):
            j = index[t]
            square = np.float32(0.0)
            for c in range(dimensions):
                apart = places[j, c] - places[i, c]
                square += apart * apart
            if square > 0.0:
                distance = np.sqrt(square)
                power = distance * np.sqrt(distance)  # d^(2B) with B = 3/4
                pull = times * tie[t] * np.float32(1.5) * A * power / (square * (one + A * power))
                for c in range(dimensions):
                    force[c] += pull * (places[j, c] - places[i, c])
        weight = repulsion * degree[i] / np.float32(samples)
        key = mixed(np.uint64(i - first[i]) ^ (np.uint64(epoch + 1) << np.uint64(40)))
        size = np.uint64(last[i] - first[i])
        for _ in range(samples):
            key = mixed(key)
            j = first[i] + np.int64(key % size)
            square = np.float32(0.0)
            for c in range(dimensions):
                apart = places[j, c] - places[i, c]
                square += apart * apart
            if j == i or square == 0.0:
                continue
            distance = np.sqrt(square)
            power = distance * np.sqrt(distance)
            push = weight * np.float32(1.5) / ((NEAR + square) * (one + A * power))
            for c in range(dimensions):
                force[c] -= push * (places[j, c] - places[i, c])
        length = np.float32(0.0)
        for c in range(dimensions):
            force[c] *= step / degree[i]
            length += force[c] * force[c]
        length = np.sqrt(length)
        longest = CLIP * step
        cut = one if length <= longest else longest / length
        for c in range(dimensions):
            out[row, c] = places[i, c] + cut * force[c]
