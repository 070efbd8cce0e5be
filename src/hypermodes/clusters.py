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

import numpy as np
from distributed import Client, KilledWorker, Security, rpc
from distributed.comm import CommClosedError

from hypermodes.sharing import (
    GLANCE,
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
_HUNG_UP = object()  # the scheduler, while an answer came

START = "; start one with `dask scheduler`, or give the address that it says"
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
    nobody = ConnectionError(f"client: no Dask scheduler answers at {client!r}{START}")
    kind = "Scheduler" if client.startswith("inproc:") else _who_answers(client)
    if kind != "Scheduler":
        other = ConnectionError(
            f"client: at {client!r} is a {kind} of Dask; give the address of the scheduler"
        )
        raise other if kind else nobody
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
    answers, n_done, until = _Answers(client), 0, np.inf
    with handed_out(client, shared) as handed:
        try:
            cores = _cores(client)
            if not cores:  # a cluster that grows with its work needs some to begin
                logger.warning(WAITING, PATIENCE)
            anyone, width = bool(cores), _width(cores)
            while True:
                while len(running) < width and left:
                    several = _several(left, min(_MOST, -(-len(left) // width)), tries)
                    running[_sent(client, handed.name, function, several, answers)] = several
                if not running:
                    return
                try:
                    future, answer = answers.next(PATIENCE if until == np.inf else GLANCE)
                except Empty:
                    cores = _cores(client)
                    anyone, width = anyone or bool(cores), _width(cores)
                    if cores:
                        until = np.inf
                    elif until == np.inf:
                        until = _patience(client, anyone)
                    if monotonic() >= until:
                        raise ClusterGone(PAUSED if client.ncores() else NOBODY) from None
                    continue
                several, until = running.pop(future), np.inf
                outcomes = _outcomes(client, answer, handed)
                if outcomes is _LOST:
                    _count(tries, several)
                    outcomes = []
                left.extendleft(reversed(several[len(outcomes) :]))  # those that are not done are the next
                for (k, _), outcome in zip(several, outcomes, strict=False):
                    yield k, outcome
                n_done, anyone = n_done + 1, True
                if n_done % width == 0 and (cores := _cores(client)):  # workers come and go
                    width = _width(cores)
        except Exception:  # whatever the function raises; what is finished must not be lost with it
            yield from _finished(answers, running)
            raise
        finally:
            if client.status == "running":
                with suppress(OSError, CancelledError):
                    within(MOMENT, client, partial(client.cancel, list(running), force=True))


def _sent(
    client: Any,
    name: str,
    function: Callable[[Any, Any], Any],
    several: list[tuple[int, Any]],
    answers: "_Answers",
) -> Any:
    """A message on its way, and its answer expected."""
    if client.status != "running":
        raise ClusterGone(GONE)
    given = [job for _, job in several]
    future = client.submit(_do, name, function, given, key=f"hypermodes-{uuid4().hex}")
    answers.expect(future)
    return future


def _patience(client: Any, anyone: bool) -> float:
    """Until when to wait for workers, now that there are none."""
    if not anyone and not getattr(client.cluster, "plan", None):  # those that a cluster says it will start
        return monotonic()  # for as long as it took to find out
    logger.warning(WAITING, LONGER)
    return monotonic() + LONGER


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
            answer = await self._answer(future)
        except BaseException as error:  # that is an answer, too, and the loop has no use for it
            is_own = future.status == "error" and not isinstance(error, KilledWorker)
            answer = error if is_own else _LOST
        self._here.put((future, answer))

    async def _answer(self, future: Any) -> Any:
        """Outcomes, or that they were lost, or the function's own error raised.

        A client fetches five answers at once, so that five of one worker that hangs would hold up all others.
        So they are asked for one by one.
        """
        await future.exception()  # where its loop runs, a client gives what is to be awaited
        if future.status != "finished":
            return await future.result()
        try:
            found = await self._client.scheduler.gather(keys=[future.key])
        except (CommClosedError, ConnectionError, TimeoutError):
            return _HUNG_UP
        return found["data"][future.key] if found["status"] == "OK" else _LOST

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


def _finished(
    answers: _Answers, running: dict[Any, list[tuple[int, Any]]]
) -> Generator[tuple[int, Any], None, None]:
    """Outcomes of messages that are back already, or will be in a moment."""
    until = monotonic() + MOMENT
    while True:
        on_its_way = any(future.status == "finished" for future in running)
        try:
            future, answer = answers.next(max(0.0, until - monotonic()) if on_its_way else 0)
        except Empty:
            return
        several = running.pop(future)
        if isinstance(answer, list):
            for (k, _), outcome in zip(several, answer, strict=False):
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


def _outcomes(client: Any, answer: Any, handed: HandedOut) -> Any:
    """What a message came to, or that it was lost with its workers; nothing, if they saw not what is shared.

    It may be lost after it is back and before it is here, and is then done again, if there are workers.
    """
    if answer is _HUNG_UP:
        _cores(client, ANSWER)  # it may be gone
        return _LOST
    if answer is _LOST and client.status != "running":
        raise ClusterGone(GONE)
    if isinstance(answer, Unseen):
        handed.send_instead(answer)
        return []
    if isinstance(answer, NotYet):
        handed.wait_for(answer)
        return []
    if isinstance(answer, RuntimeError) and "deserialization of the task graph" in str(answer):
        raise WrongRelease.of("the scheduler", "no hypermodes, or another", RELEASE)
    if isinstance(answer, BaseException):
        raise answer
    return answer
