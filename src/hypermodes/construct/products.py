"""Euclidean search by inner products: candidates in many dimensions, and a bound on what rounding may hide.

With h = |x|²/2 the nearest points to q have the largest q·x - h. Blocks of q·x are products of matrices, fast
in single precision, and of each block every point keeps the best it was offered. `Products.limit` says how
far off a distance may be, whatever the order in which a product is summed up.
"""

from dataclasses import dataclass
from threading import Lock

import numpy as np

from hypermodes.numbering import number_type
from hypermodes.threads import in_threads, single_threaded_algebra, stretches

SIDE = 512  # of a block of products, which stays in the cache
_FAR: dict[type, float] = {np.float32: 1e9, np.float64: 1e140}  # coordinates whose squares are safe
_LOST = 1e-150  # differences whose squares are not


@dataclass(frozen=True, eq=False)
class Seen:
    """Points as seen from the middle, in units of the largest coordinate there.

    Attributes
    ----------
    points : (n, d) array
        Rounded to the precision of the search.
    half : (n,) array
        Half of their squared lengths, rounded likewise.
    length : (n,) float
        Infinite for a point that is out of sight: too far away for this precision.
    """

    points: np.ndarray
    half: np.ndarray
    length: np.ndarray

    def __getitem__(self, rows: np.ndarray | slice) -> "Seen":
        return Seen(self.points[rows], self.half[rows], self.length[rows])


class Products:
    """Search among points in single or double precision."""

    def __init__(self, places: np.ndarray, precision: type, threads: int):
        self.precision, self.threads = precision, threads
        self.middle = places.mean(axis=0)
        reach = max((places.max(axis=0) - self.middle).max(), (self.middle - places.min(axis=0)).max())
        self.exponent = int(np.frexp(reach)[1])
        self.places = self.seen(places)

    def seen(self, points: np.ndarray) -> Seen:
        """Points as this search sees them."""
        n, d = points.shape
        far = _FAR[self.precision]
        seen = Seen(np.empty((n, d), self.precision), np.empty(n, self.precision), np.empty(n))

        def see(part: slice) -> None:
            exact = np.ldexp(points[part] - self.middle, -self.exponent)
            out_of_sight = (abs(exact) > far).any(axis=1)
            exact[out_of_sight] = 0.0
            seen.points[part] = exact
            exact[:] = seen.points[part]
            squares = np.einsum("ij,ij->i", exact, exact)
            seen.half[part] = squares / 2
            seen.length[part] = np.where(out_of_sight, np.inf, np.sqrt(squares))

        in_threads(self.threads, see, stretches(n, max(1, SIDE * SIDE // d)))
        return seen

    def candidates(self, asked: Seen, ask: int, first: int | None) -> tuple[np.ndarray, np.ndarray]:
        """``ask`` candidates for each point, in no order, and the square of what no other is nearer than.

        Distances are those of rounded coordinates, and rounded: see `limit`. If the points are consecutive
        places, ``first`` is the place of the first, a multiple of `SIDE`: then a block of products among them
        serves both its rows and its columns.
        """
        from hypermodes._kernels.nearest import keep_by_column, keep_by_row

        m, places = asked.half.size, self.places
        score: np.ndarray = np.full((m, ask), -np.inf, self.precision)
        found = np.zeros((m, ask), number_type(places.half.size))
        strips = list(stretches(m, SIDE))
        locks = [Lock() for _ in strips]

        def search(i: int) -> None:
            rows = strips[i]
            room: np.ndarray = np.empty(SIDE * SIDE, self.precision)
            for there in stretches(places.half.size, SIDE):
                among = first is not None and first <= there.start < first + m
                j = (there.start - (first or 0)) // SIDE
                if among and j < i:
                    continue
                shape = rows.stop - rows.start, there.stop - there.start
                products = room[: shape[0] * shape[1]].reshape(shape)
                np.matmul(asked.points[rows], places.points[there].T, out=products)
                with locks[i]:
                    keep_by_row(products, places.half[there], there.start, score[rows], found[rows])
                if among and j > i:
                    own, columns = rows.start + (first or 0), strips[j]
                    with locks[j]:
                        keep_by_column(products, asked.half[rows], own, score[columns], found[columns])

        with single_threaded_algebra:
            in_threads(self.threads, search, range(len(strips)))
        return found, asked.length**2 - 2 * score[:, 0].astype(np.float64)

    def limit(self, asked: Seen, distances: np.ndarray) -> np.ndarray:
        """Up to where the square of a distance may seem to lie here that is none longer than ``distances``.

        Let N and N' be the lengths of both points, W the distance, and R = 2N + W, which N + N' does not
        exceed. With rounding u a coordinate is off by a share of 2u at most, so the square by 5uR²; the
        product by NN' du/(1 - du), in whatever order it is summed up, and NN' <= R²/4; h and the difference
        by some uR². Lengths, and W itself, are summed up in double precision. What is too small for the range
        of numbers is added.
        """
        d, numbers = asked.points.shape[1], np.finfo(self.precision)
        rounding, finest = float(numbers.eps) / 2, float(np.finfo(np.float64).eps) / 2
        share = (d / 2 + 32) * rounding / (1 - d * rounding) if d * rounding < 0.5 else np.inf
        with np.errstate(over="ignore", invalid="ignore"):  # infinite or NaN: nothing is settled
            apart = np.ldexp(np.hypot(distances, d * _LOST), -self.exponent)
            square = apart**2 + (share + 4 * d * finest) * (2 * asked.length + apart) ** 2
        return square + 32 * (d + 8) * float(numbers.tiny)

    def squares(self, asked: Seen) -> np.ndarray:
        """Squares of all distances, as they seem to be."""
        with single_threaded_algebra:
            products = asked.points @ self.places.points.T
        return asked.length[:, None] ** 2 - 2 * (products - self.places.half).astype(np.float64)
