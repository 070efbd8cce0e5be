"""Blocks of work on the workers of a Dask cluster. Imported when a cluster is given, and Dask with it."""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any
from uuid import uuid4

from distributed import Client, KilledWorker, Security, rpc

from hypermodes.sharing import (
    GONE,
    MOMENT,
    RELEASE,
    TRIES,
    ClusterGone,
    HandedOut,
    NotYet,
    Unseen,
    WrongRelease,
    handed_out,
    shared_here,
    within,
)

ANSWER = 10  # seconds to wait for a scheduler
PATIENCE = 30  # seconds to wait for the first worker, if none is on its way
LONGER = 300  # seconds to wait for others when all are gone: those that replace them may have to boot
_MOST = 8  # jobs a message
_WHILE = 1.0  # seconds after which a worker begins no more of them: so much is lost with it, and one job
_LOST = object()

NOBODY = "client: the scheduler has no workers; start some"
PAUSED = "client: Dask has paused all workers, they have too much in memory; start some that may have more"
WAITING = "client: the scheduler has no workers that take work; waiting %g seconds for some"
logger = logging.getLogger(__name__)


def connected(client: Any) -> AbstractContextManager[Any]:
    """The client that is given, or one for the address that is given, while it is needed."""
    if not isinstance(client, str):
        if client.status != "running":
            raise ConnectionError("client: expected one that is connected; this one is closed")
        if client.asynchronous:
            raise ValueError("client: expected one that waits for answers; this one is asynchronous")
        return nullcontext(client)
    nobody = ConnectionError(f"client: no Dask scheduler answers at {client!r}")
    kind = "Scheduler" if client.startswith("inproc:") else _who_answers(client)
    if kind != "Scheduler":
        raise ConnectionError(f"{nobody}, but a {kind} of Dask; give the scheduler's") if kind else nobody
    try:
        return Client(client, timeout=PATIENCE, set_as_default=False)
    except OSError:
        raise nobody from None


def _who_answers(address: str) -> str | None:
    """What kind of server it is, or None if it does not speak as Dask does, in time.

    A client would wait for ever for the answer of a web page, such as the scheduler's own.
    """

    async def ask() -> str:
        settings = Security().get_connection_args("client")
        async with rpc(address, timeout=ANSWER, connection_args=settings) as there:
            return str((await there.identity())["type"])

    with ThreadPoolExecutor(1) as aside:  # this thread may have an event loop of its own
        try:
            return aside.submit(asyncio.run, asyncio.wait_for(ask(), ANSWER)).result()
        except Exception:  # whatever a stranger makes of the question
            return None


def each(
    client: Any, function: Callable[[Any, Any], Any], shared: Any, jobs: Iterable[tuple[int, Any]]
) -> Generator[tuple[int, Any], None, None]:
    """Give the outcome of each job as it is done; see to it that what is lost is done again.

    A message costs eight milliseconds of processor time, in client, scheduler and worker. So several jobs go
    in one, fewer as the end comes near: then all workers are done at about the same time.
    """
    left = deque(jobs)
    running: dict[Any, list[tuple[int, Any]]] = {}
    tries: Counter[int] = Counter()
    answers, n_done = _Answers(client), 0
    with handed_out(client, shared) as handed:
        try:
            cores = _cores(client)
            if not cores:  # a cluster that grows with its work needs some to begin
                logger.warning(WAITING, PATIENCE)
            anyone, width = bool(cores), _width(cores)
            while True:
                while len(running) < width and left:
                    several = _several(left, min(_MOST, -(-len(left) // width)), tries)
                    given = [job for _, job in several]
                    future = client.submit(_do, handed.name, function, given, key=f"hypermodes-{uuid4().hex}")
                    running[future] = several
                    answers.expect(future)
                if not running:
                    return
                try:
                    future, answer = answers.next(PATIENCE)
                except Empty:
                    cores = _cores_in_time(client, LONGER if anyone or _is_planned(client) else 0)
                    anyone, width = True, _width(cores)
                    continue
                several = running.pop(future)
                try:
                    outcomes = _outcomes(client, answer, handed)
                    if outcomes is _LOST:
                        _count(tries, several)
                        outcomes = []
                except ClusterGone:
                    raise
                except Exception:  # whatever the function raises; what is finished must not be lost with it
                    yield from _finished(running)
                    raise
                left.extendleft(reversed(several[len(outcomes) :]))  # those that are not done are the next
                for (k, _), outcome in zip(several, outcomes, strict=False):
                    yield k, outcome
                n_done += 1
                if n_done % width == 0 and (cores := _cores(client)):  # workers come and go
                    anyone, width = True, _width(cores)
        finally:
            if client.status == "running":
                with suppress(OSError, CancelledError):
                    within(MOMENT, client, partial(client.cancel, list(running), force=True))


class _HungUp(Exception):
    """The connection to the scheduler was closed while an answer came."""


class _Answers:
    """What comes back of messages, as it comes: nobody waits for a worker that hangs but its own messages."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._here: SimpleQueue[tuple[Any, Any]] = SimpleQueue()

    def expect(self, future: Any) -> None:
        """Have the answer fetched when it is there."""
        self._client.loop.add_callback(self._fetch, future)

    async def _fetch(self, future: Any) -> None:
        try:
            answer = await future.result()  # where its loop runs, a client gives what is to be awaited
        except BaseException as error:  # that is an answer, too, and the loop has no use for it
            hung_up = isinstance(error, OSError) and future.status != "error"  # else it is the function's own
            answer = _HungUp() if hung_up else error
        self._here.put((future, answer))

    def next(self, seconds: float) -> tuple[Any, Any]:
        """A message, and what it came to, which may be an error; `queue.Empty` if it takes longer."""
        return self._here.get(timeout=seconds)


def _several(left: deque[tuple[int, Any]], most: int, tries: Counter[int]) -> list[tuple[int, Any]]:
    """The next jobs, for one message. One that was lost goes alone: maybe workers die of it."""
    several = [left.popleft()]
    while left and len(several) < most and not tries[several[0][0]] and not tries[left[0][0]]:
        several.append(left.popleft())
    return several


def _count(tries: Counter[int], lost: list[tuple[int, Any]]) -> None:
    """Remember which jobs were lost, and give up if it is always the same."""
    for k, _ in lost:
        tries[k] += 1
        if tries[k] == TRIES:
            raise ConnectionError(
                f"client: block {k} was lost again and again with its workers; have they enough memory?"
            )


def _finished(running: dict[Any, list[tuple[int, Any]]]) -> Iterable[tuple[int, Any]]:
    """Outcomes of messages that are back already."""
    for future, several in running.items():
        if future.status == "finished":
            outcomes: list[Any] = []
            with suppress(KilledWorker, CancelledError, TimeoutError):  # it was lost after all
                outcomes = future.result(timeout=PATIENCE)
            for (k, _), outcome in zip(several, outcomes, strict=False):
                yield k, outcome


def _do(name: str, function: Callable[[Any, Any], Any], jobs: list[Any]) -> list[Any]:
    """Do jobs on a worker, one after the other, for a while; the outcomes of those that are done.

    If one fails, the outcomes of those before are given all the same: it fails again, as the first of the
    next message.
    """
    here, begun = shared_here(name), monotonic()
    outcomes: list[Any] = []
    for job in jobs:
        if outcomes and monotonic() - begun > _WHILE:
            break
        try:
            outcomes.append(function(here.shared, job))
        except Exception:
            if not outcomes:
                raise
            break
        here.held.look()
    return outcomes


def _width(cores: dict[str, int]) -> int:
    """Messages to have under way: one a thread, and two that wait for it. If nobody is there, as for one."""
    return 3 * max(1, sum(cores.values()))


def _cores(client: Any, seconds: float | None = None) -> dict[str, int]:
    """Threads of each worker that takes work. Dask pauses those that have too much in memory."""
    try:
        return dict(within(seconds, client, client.scheduler.ncores_running))
    except OSError:
        raise ClusterGone(GONE) from None


def _cores_in_time(client: Any, seconds: float) -> dict[str, int]:
    """The same, when there are some; an error if it takes longer."""
    cores = _cores(client)
    if not cores and seconds:
        logger.warning(WAITING, seconds)
        try:
            client.wait_for_workers(1, timeout=seconds)
        except TimeoutError:
            pass
        except OSError:
            raise ClusterGone(GONE) from None
        cores = _cores(client)
    if not cores:
        raise ClusterGone(PAUSED if client.ncores() else NOBODY)
    return cores


def _is_planned(client: Any) -> bool:
    """Whether the cluster is about to start workers, as far as it says so."""
    return bool(getattr(client.cluster, "plan", None))


def _outcomes(client: Any, answer: Any, handed: HandedOut) -> Any:
    """What a message came to, or that it was lost with its workers; nothing, if they saw not what is shared.

    It may be lost after it is back and before it is here, and is then done again, if there are workers.
    """
    if not isinstance(answer, BaseException):
        return answer
    if isinstance(answer, KilledWorker | CancelledError):
        if client.status != "running":
            raise ClusterGone(GONE) from None
        return _LOST
    if isinstance(answer, _HungUp):
        _cores(client, ANSWER)  # it may be gone
        return _LOST
    if isinstance(answer, Unseen):
        handed.send_instead(answer)
        return []
    if isinstance(answer, NotYet):
        handed.wait_for(answer)
        return []
    if isinstance(answer, RuntimeError) and "deserialization of the task graph" in str(answer):
        raise WrongRelease.of("the scheduler", "no hypermodes, or another", RELEASE)
    raise answer
