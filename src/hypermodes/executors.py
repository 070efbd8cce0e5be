"""Where blocks of starts are shifted: in threads here, on the workers of a Dask cluster, or by joblib.

Blocks are independent and doing one twice changes nothing, so it does not matter where, when, in which order
or how often a block is shifted: the result is the same to the last bit.
"""

from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import uuid4

import numpy as np

from hypermodes import batch
from hypermodes.batch import Budget, Prepared
from hypermodes.gathering import Gathered, shift_rows
from hypermodes.threads import workers

FEW = 16  # starts not worth a thread
REMOTE_BLOCK = 8192  # starts a block that travels, or is kept in a file: a tenth of a second, or more

Block = tuple[int, np.ndarray]
"""The number of a block, and its rows."""
Outcomes = Generator[tuple[int, Gathered], None, None]


class Executor(Protocol):
    """Shifts blocks of starts somewhere."""

    @property
    def block(self) -> int:
        """Starts a block should have."""

    def shifted(self, prepared: Prepared, blocks: Iterable[Block], budget: Budget) -> Outcomes:
        """Give the number and the outcome of each block as it is done, in any order.

        What is still to do is called off when the generator is closed.
        """


@dataclass(frozen=True)
class Threads:
    """Threads of this process: the kernels leave the interpreter free."""

    n_jobs: int | None = -1

    @property
    def block(self) -> int:
        """Starts a block should have."""
        return batch.BLOCK

    def shifted(self, prepared: Prepared, blocks: Iterable[Block], budget: Budget) -> Outcomes:
        """Shift them here."""
        stop = np.zeros(1, dtype=np.int64)
        width, waiting = workers(self.n_jobs), iter(blocks)
        with ThreadPoolExecutor(max_workers=width) as pool:
            running: dict[Future[Gathered], int] = {}
            try:
                while True:
                    while len(running) < 2 * width and (given := next(waiting, None)):
                        k, rows = given
                        if rows.size <= FEW:
                            yield k, shift_rows(prepared, rows, budget, stop)
                        else:
                            running[pool.submit(shift_rows, prepared, rows, budget, stop)] = k
                    if not running:
                        return
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        yield running.pop(future), future.result()
            finally:
                stop[0] = 1  # the kernels look at this after every start
                for future in running:
                    future.cancel()


@dataclass(frozen=True)
class Joblib:
    """Whatever ``joblib.parallel_config`` says: processes, or another backend."""

    block = REMOTE_BLOCK

    def shifted(self, prepared: Prepared, blocks: Iterable[Block], budget: Budget) -> Outcomes:
        """Shift them where joblib does its work."""
        from joblib import Parallel, delayed

        run, shared = uuid4().hex, prepared.for_workers()
        tasks = (delayed(_remembered)(run, shared, k, _sent(rows), budget) for k, rows in blocks)
        yield from Parallel(return_as="generator_unordered")(tasks)


_KEPT: dict[str, Prepared] = {}


def _remembered(
    run: str, prepared: Prepared, k: int, rows: np.ndarray | range, budget: Budget
) -> tuple[int, Gathered]:
    """Shift a block with what the first one of this run brought here: scratch arrays are made once."""
    if run not in _KEPT:
        _KEPT.clear()
        _KEPT[run] = prepared
    return k, shift_rows(_KEPT[run], rows, budget)


@dataclass(frozen=True)
class Dask:
    """Workers of a Dask cluster, through its client, or the address of its scheduler.

    What the kernels read is sent to every worker once; or, if it lies in a folder, opened by each of them in
    place. A worker that dies takes with it what it was doing, which others do again. See `clusters`.
    """

    client: Any
    block = REMOTE_BLOCK

    def shifted(self, prepared: Prepared, blocks: Iterable[Block], budget: Budget) -> Outcomes:
        """Shift them on the workers."""
        try:
            from hypermodes.clusters import connected, shifted
        except ImportError:
            raise ImportError("client: a Dask cluster needs Dask: install hypermodes[dask]") from None
        sent = ((k, _sent(rows)) for k, rows in blocks)
        with connected(self.client) as client:
            yield from shifted(client, prepared, sent, budget)


def _sent(rows: np.ndarray) -> np.ndarray | range:
    """Rows as they travel: most blocks are a range."""
    span = range(int(rows[0]), int(rows[0]) + rows.size)
    return span if np.array_equal(rows, span) else rows


def executor_of(client: Any, n_jobs: int | None) -> Executor:
    """The executor for what the user gave as ``client``."""
    if client is None:
        workers(n_jobs)
        return Threads(n_jobs)
    if isinstance(client, str) and client == "joblib":
        return Joblib()
    if isinstance(client, str) and "://" in client:
        return Dask(client)
    if hasattr(client, "scatter") and hasattr(client, "submit") and hasattr(client, "ncores"):
        return Dask(client)
    raise ValueError(
        "client: expected a dask.distributed.Client, the address of a scheduler (tcp://127.0.0.1:8786), "
        f'"joblib" or None; got {client!r}'
    )
