"""Where work is done that comes in blocks: in threads here, on the workers of a Dask cluster, or by joblib.

Starts are shifted, rows are searched for neighbours, shapes are compared in blocks. These are independent,
and doing one twice changes nothing, so it does not matter where, when, in which order or how often a block is
done: the result is the same to the last bit.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ContextDecorator, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pickle import PicklingError
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np

from hypermodes import batch
from hypermodes.batch import Budget, Prepared
from hypermodes.curvature import with_curvatures
from hypermodes.gathering import Gathered, shift_rows
from hypermodes.threads import workers

FEW = 16  # starts not worth a thread
_LARGEST_FACE = 32  # rows of a support whose curvature is looked at by workers
_A_LIST = 4  # jobs a process of those backends of joblib that give what is done in lists
REMOTE_BLOCK = 8192  # starts a block that travels, or is kept in a file, at most
_BLOCKS = 64  # at least, so that all have some to do, and nobody waits long for the last
_SMALLEST_BLOCK = 32  # starts: smaller ones would cost more to hand out than to shift

Shared = TypeVar("Shared")
In = TypeVar("In")
Out = TypeVar("Out")
Block = tuple[int, np.ndarray]
"""The number of a block, and its rows."""
Outcomes = Generator[tuple[int, Gathered], None, None]


class Executor(Protocol):
    """Does blocks of work somewhere."""

    @property
    def client(self) -> Any:
        """What to give as ``client`` to others that are to work in the same place."""

    @property
    def dashboard(self) -> str | None:
        """Where a browser can watch it work, if anywhere."""

    @property
    def block(self) -> int:
        """Starts a block should have at most."""

    def shifted(self, prepared: Prepared, blocks: Iterable[Block], budget: Budget) -> Outcomes:
        """Give the number and the outcome of each block of starts as it is done, in any order.

        What is still to do is called off when the generator is closed.
        """

    def each(
        self, function: Callable[[Shared, In], Out], shared: Shared, jobs: Iterable[tuple[int, In]]
    ) -> Generator[tuple[int, Out], None, None]:
        """The same for any work: give the number k and ``function(shared, job)`` of each (k, job).

        The function is found by its name elsewhere; what is shared travels to a worker of Dask once, and of
        joblib as joblib sees fit.
        """


@dataclass(frozen=True)
class Threads:
    """Threads of this process: the kernels leave the interpreter free."""

    n_jobs: int | None = -1
    client: Any = field(default=None, init=False)
    dashboard: str | None = field(default=None, init=False)

    @property
    def block(self) -> int:
        """Starts a block should have at most."""
        return batch.BLOCK

    def shifted(self, prepared: Prepared, blocks: Iterable[Block], budget: Budget) -> Outcomes:
        """Shift them here."""
        stop = np.zeros(1, dtype=np.int64)  # the kernels look at this after every start

        def shift(rows: np.ndarray) -> Gathered:
            return shift_rows(prepared, rows, budget, stop)

        return self._pooled(shift, blocks, lambda rows: rows.size <= FEW, lambda: stop.fill(1))

    def each(
        self, function: Callable[[Shared, In], Out], shared: Shared, jobs: Iterable[tuple[int, In]]
    ) -> Generator[tuple[int, Out], None, None]:
        """Do them here."""
        return self._pooled(partial(function, shared), jobs, lambda job: False, lambda: None)

    def _pooled(
        self,
        do: Callable[[In], Out],
        jobs: Iterable[tuple[int, In]],
        at_once: Callable[[In], bool],
        call_off: Callable[[], None],
    ) -> Generator[tuple[int, Out], None, None]:
        width, waiting = workers(self.n_jobs), iter(jobs)
        with ThreadPoolExecutor(max_workers=width) as pool:
            running: dict[Future[Out], int] = {}
            is_first = True
            try:
                while True:
                    while len(running) < 2 * width and (given := next(waiting, None)):
                        k, job = given
                        if is_first and at_once(job):  # the last of many would need scratch of its own
                            yield k, do(job)
                        else:
                            running[pool.submit(do, job)] = k
                        is_first = False
                    if not running:
                        return
                    done = wait(running, return_when=FIRST_COMPLETED).done
                    # What failed comes last: it ends the work, and what is finished must not be lost with it.
                    for future in sorted(done, key=lambda one: one.exception() is not None):
                        yield running.pop(future), future.result()
            finally:
                call_off()
                for future in running:
                    future.cancel()


def block_size(n_starts: int, most: int) -> int:
    """Starts a block, of so many in all. Who works on them plays no part: a run may be taken up by others."""
    return min(most, max(_SMALLEST_BLOCK, -(-n_starts // _BLOCKS)))


class _Elsewhere:
    """What executors that send their work away have in common."""

    block = REMOTE_BLOCK

    def shifted(self, prepared: Prepared, blocks: Iterable[Block], budget: Budget) -> Outcomes:
        """Shift them there."""
        sent = ((k, (_sent(rows), budget)) for k, rows in blocks)
        return self.each(_shift, prepared.for_workers(), sent)

    def each(
        self, function: Callable[[Shared, In], Out], shared: Shared, jobs: Iterable[tuple[int, In]]
    ) -> Generator[tuple[int, Out], None, None]:
        """Do them there."""
        raise NotImplementedError


@contextmanager
def _sendable() -> Iterator[None]:
    """Say in one line that what blocks share cannot be had by other processes."""
    try:
        yield
    except (PicklingError, AttributeError, TypeError) as error:
        if "pickle" not in str(error):  # only so do objects that cannot be pickled say it
            raise
        reason = " ".join(str(error.__cause__ or error).split())
        raise ValueError(
            f"client: what the workers need cannot be sent to them ({reason}); expected a metric, if it is a "
            "function, that holds no locks, open files or connections"
        ) from None


def _shift(prepared: Prepared, job: tuple[np.ndarray | range, Budget]) -> Gathered:
    """Shift a block, and look at the curvatures of what it came to: else the client would have all of them.

    A mode that several blocks come to is looked at in each: a quarter more of them, on points of the plane.
    Large supports are left to the client: they cost most, and most blocks may come to the same.
    """
    gathered = shift_rows(prepared, *job)
    return gathered._replace(found=with_curvatures(prepared, gathered.found, largest=_LARGEST_FACE))


@dataclass(frozen=True)
class Joblib(_Elsewhere):
    """Whatever ``joblib.parallel_config`` says: processes, or another backend."""

    client: Any = field(default="joblib", init=False)
    dashboard: str | None = field(default=None, init=False)

    def each(
        self, function: Callable[[Shared, In], Out], shared: Shared, jobs: Iterable[tuple[int, In]]
    ) -> Generator[tuple[int, Out], None, None]:
        """Do them where joblib does its work."""
        from joblib import Parallel, delayed, effective_n_jobs

        run = uuid4().hex
        tasks = (delayed(_remembered)(run, function, shared, k, job) for k, job in jobs)
        try:
            with _sendable():
                try:
                    parallel = Parallel(return_as="generator_unordered")
                except ValueError:  # a backend that gives lists only, such as multiprocessing
                    with Parallel() as parallel:
                        while several := parallel(islice(tasks, _A_LIST * effective_n_jobs())):
                            yield from several
                else:
                    yield from parallel(tasks)
        finally:
            _KEPT.pop(run, None)  # the work may have been done in this process


_KEPT: dict[str, Any] = {}


def _remembered(
    run: str, function: Callable[[Shared, In], Out], shared: Shared, k: int, job: In
) -> tuple[int, Out]:
    """Do a block with what the first one of this run brought here: what is made from it is made once."""
    held = _KEPT.get(run)
    if held is None:
        _KEPT.clear()
        held = _KEPT[run] = shared
    return k, function(held, job)


@dataclass(frozen=True)
class Dask(_Elsewhere):
    """Workers of a Dask cluster, through its client, or the address of its scheduler.

    What is shared is sent to every worker once; a hypergraph that lies in a folder is opened by each of them
    in place. A worker that dies takes with it what it was doing, which others do again. See `clusters`.
    """

    client: Any

    def each(
        self, function: Callable[[Shared, In], Out], shared: Shared, jobs: Iterable[tuple[int, In]]
    ) -> Generator[tuple[int, Out], None, None]:
        """Do them on the workers."""
        with self.connected() as executor, _sendable():
            yield from _clusters().each(executor.client, function, shared, jobs)

    @contextmanager
    def connected(self) -> "Iterator[Dask]":
        """The same with a client that is connected, while it is needed."""
        with _clusters().connected(self.client) as client:
            yield Dask(client)

    @property
    def dashboard(self) -> str | None:
        """The address of the page that Dask's scheduler serves."""
        return getattr(self.client, "dashboard_link", None)


def _clusters() -> Any:
    try:
        from hypermodes import clusters
    except ImportError:
        raise ImportError("client: a Dask cluster needs Dask: install hypermodes[dask]") from None
    return clusters


def _sent(rows: np.ndarray) -> np.ndarray | range:
    """Rows as they travel: most blocks are a range."""
    low, high = int(rows[0]), int(rows[-1])
    return range(low, high + 1) if (np.diff(rows) == 1).all() else rows


@contextmanager
def executor_of(client: Any, n_jobs: int | None) -> Iterator[Executor]:
    """The executor for what the user gave as ``client``, connected as long as it is needed.

    What is no client, or an address where no scheduler answers, is refused before anything else is done.
    """
    workers(n_jobs)  # what is left to do here, is done in these
    if client is None:
        yield Threads(n_jobs)
    elif isinstance(client, str) and client == "joblib":
        yield Joblib()
    else:
        given = client if _is_dask_client(client) else checked_address(client)
        with Dask(given).connected() as executor:
            yield executor


def _is_dask_client(client: Any) -> bool:
    """Whether it can do what is asked of a client of Dask; Dask itself need not be installed to say no."""
    can = all(hasattr(client, name) for name in ("scatter", "submit", "ncores"))
    return can and not isinstance(client, type)


def checked_address(client: Any) -> str:
    """The address of a scheduler, or a word about what would be one."""
    try:
        if isinstance(client, str):
            parts = urlsplit(client)
            inside = parts.scheme == "inproc" and parts.path.count("/") == 2  # inproc://host/process/number
            if inside or (parts.scheme in _SCHEMES and parts.hostname and parts.port):
                return client
    except ValueError:  # the port is no number
        pass
    hint = ""
    if hasattr(client, "get_client"):
        hint = "; a cluster gives one: cluster.get_client()"
    elif isinstance(client, ContextDecorator):  # what `contextmanager` makes, and few others
        hint = "; give what it gives: with hm.local_cluster(2) as client: ..."
    raise ValueError(
        "client: expected a dask.distributed.Client, the address of a scheduler (tcp://127.0.0.1:8786), "
        f'"joblib" or None; got {client!r}{hint}'
    )


_SCHEMES = ("tcp", "tls", "ucx", "ws", "wss")  # of addresses that Dask knows
