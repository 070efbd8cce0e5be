"""Blocks of work on the workers of a Dask cluster. Imported when a cluster is given, and Dask with it."""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from time import monotonic
from typing import Any
from uuid import uuid4

from distributed import Client, KilledWorker, Security, as_completed, rpc

from hypermodes.sharing import (
    GONE,
    RELEASE,
    TRIES,
    ClusterGone,
    HandedOut,
    NotYet,
    Unseen,
    WrongRelease,
    handed_out,
    shared_here,
)

ANSWER = 10  # seconds to wait for a scheduler
PATIENCE = 30  # seconds to wait for the first worker, if none is on its way
LONGER = 300  # seconds to wait for others when all are gone: those that replace them may have to boot
_MOST = 8  # jobs a message
_WHILE = 1.0  # seconds after which a worker begins no more of them: so much is lost with it, and one job
_LOST = object()

NOBODY = "client: the scheduler has no workers; start some"
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
    n_done, width = 0, _width(client, wait=False)  # a cluster that grows with its work needs some to begin
    done = _coming_back(client, running)
    with handed_out(client, shared) as handed:
        try:
            while True:
                while len(running) < width and left:
                    several = _several(left, min(_MOST, -(-len(left) // width)), tries)
                    given = [job for _, job in several]
                    future = client.submit(_do, handed.name, function, given, key=f"hypermodes-{uuid4().hex}")
                    running[future] = several
                    done.add(future)
                if not running:
                    return
                try:
                    future = next(done)
                except TimeoutError:  # it may only be time to look who is there
                    if not (n_done or getattr(client.cluster, "plan", None) or _cores(client)):
                        raise ClusterGone(NOBODY) from None
                    width, done = _width(client), _coming_back(client, running)
                    continue
                several = running.pop(future)
                try:
                    outcomes = _outcome(client, future, handed)
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
                if n_done % width == 0:
                    width = _width(client)  # workers come and go
        finally:
            if client.status == "running":
                with suppress(OSError, CancelledError):
                    client.cancel(list(running), force=True)


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
    shared, begun = shared_here(name), monotonic()
    outcomes = [function(shared, jobs[0])]
    for job in jobs[1:]:
        if monotonic() - begun > _WHILE:
            break
        try:
            outcomes.append(function(shared, job))
        except Exception:
            break
    return outcomes


def _width(client: Any, *, wait: bool = True) -> int:
    """Messages to have under way: one a thread, and two that wait for it.

    If nobody is there: when somebody is again, or, if that is not to be waited for, as for one thread.
    """
    cores = _cores(client)
    if not cores:
        patience = LONGER if wait else PATIENCE
        logger.warning("client: the scheduler has no workers; waiting %g seconds for some", patience)
        if wait:
            try:
                client.wait_for_workers(1, timeout=patience)
            except TimeoutError:
                raise ClusterGone(NOBODY) from None
            cores = _cores(client)
    return 3 * max(1, sum(cores.values()))


def _cores(client: Any) -> dict[str, int]:
    """Threads of each worker."""
    try:
        return dict(client.ncores())
    except OSError:
        raise ClusterGone(GONE) from None


def _coming_back(client: Any, running: Iterable[Any]) -> as_completed:
    """Messages as they come back, added ones too; after a while, a TimeoutError if none is there."""
    return as_completed(list(running), loop=client.loop, raise_errors=False, timeout=PATIENCE)


def _outcome(client: Any, future: Any, handed: HandedOut) -> Any:
    """What a message came to, or that it was lost with its workers; nothing, if they saw not what is shared.

    It may be lost after it is back and before it is here, and is then done again, if there are workers.
    """
    patience = PATIENCE
    while True:
        try:
            return future.result(timeout=patience)
        except (KilledWorker, CancelledError):
            if client.status != "running":
                raise ClusterGone(GONE) from None
            return _LOST
        except Unseen as unseen:
            handed.send_instead(unseen)
            return []
        except NotYet as not_yet:
            handed.wait_for(not_yet)
            return []
        except RuntimeError as error:
            if "deserialization of the task graph" not in str(error):
                raise
            raise WrongRelease.of("the scheduler", "no hypermodes, or another", RELEASE) from None
        except TimeoutError:
            if future.status == "error":  # it is the function's own
                raise
            _width(client)
            patience *= 2  # or it is only large
