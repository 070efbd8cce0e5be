"""What all blocks of a run share, with every worker of a Dask cluster: in a file they map, or sent."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np
from distributed import WorkerPlugin, get_worker
from distributed.protocol import pickle

from hypermodes.columns import Held

MOMENT = 5  # seconds to wait until all workers have let go of something: one may hang
A_WHILE = 20  # seconds to wait until all workers have something; the others do not wait for one that hangs
SLOWEST = 1e7  # bytes a second that get to a worker, at least
ON_ITS_WAY = 300  # seconds until all workers that do anything must have it
GLANCE = 2  # seconds that a block waits for it on a worker; the run may be over
TRIES = 5  # times that Dask may give up a block, or a call, because several workers died of it
RELEASE = str(sys.modules["hypermodes"].__version__)
_ALIGNED = 64  # bytes: where arrays begin in a file
_READ = 1 << 26  # bytes of a file that all workers map, to read before they are let go

GONE = "client: the scheduler is gone, or the client was closed"

T = TypeVar("T")


class ClusterGone(ConnectionError):
    """There is nobody left to ask for anything."""


class WrongRelease(ConnectionError):
    """Somebody has something else installed."""

    @classmethod
    def of(cls, who: str, found: str, wanted: str) -> Self:
        """In words."""
        return cls(f"client: {who} has {found}; expected hypermodes {wanted}, as here")


class Unseen(Exception):
    """A worker cannot get at what is shared. Arguments: under which name it looked, its address, and why."""


class NotYet(Exception):
    """A worker has not got what is shared: it is on its way. Argument: the worker's address."""


def _sent(shared: Any) -> WorkerPlugin:
    """What is shared, with every worker there is and every one that comes.

    The scheduler keeps it and hands it to workers as they start: it is not lost with them, as data that were
    only scattered would be. It is unpacked by the first block, and the plugin is of a class of Dask's own: of
    one that cannot be unpacked, or is not known there, Dask says nothing, and the worker hangs.
    """
    plugin = WorkerPlugin()
    plugin.release, plugin.arrays, plugin.path = RELEASE, [], None
    plugin.frame = pickle.dumps(shared, buffer_callback=plugin.arrays.append)
    plugin.n_bytes = len(plugin.frame) + sum(array.raw().nbytes for array in plugin.arrays)
    return plugin


def _mapped(shared: Any, path: Path) -> WorkerPlugin:
    """The same for workers of this host: arrays lie in a file that all of them map, and none has a copy."""
    plugin, end = _sent(shared), 0
    plugin.path, plugin.places = str(path), []
    with path.open("xb") as file:
        for array in plugin.arrays:
            begin = end + -end % _ALIGNED
            file.write(bytes(begin - end))
            end = begin + file.write(array.raw())
            plugin.places.append((begin, end))
    plugin.arrays, plugin.n_bytes = [], len(plugin.frame)
    return plugin


class Here(NamedTuple):
    """What was shared, on a worker."""

    shared: Any
    held: Held
    """What this process has of it in memory. Dask counts it for each worker, though it is there once."""


def _unpacked(plugin: WorkerPlugin) -> Here:
    """What was shared."""
    if not hasattr(plugin, "here"):
        arrays, memory = plugin.arrays, np.empty(0, np.uint8)
        if plugin.path is not None:
            memory = np.memmap(plugin.path, np.uint8, "r") if plugin.places else memory
            arrays = [memory[begin:end] for begin, end in plugin.places]
        plugin.here = Here(pickle.loads(plugin.frame, buffers=arrays), Held([memory], _READ))
    return plugin.here


def shared_here(name: str) -> Here:
    """What was handed out under this name, on a worker."""
    worker = get_worker()
    end = monotonic() + GLANCE
    while name not in worker.plugins and monotonic() < end:
        sleep(0.05)
    if name not in worker.plugins:
        raise NotYet(worker.address)
    try:
        plugin = worker.plugins[name]
        if plugin.release == RELEASE:
            return _unpacked(plugin)
    except Exception as error:  # no such file or folder, most of all: the worker may see other disks
        reason = " ".join(str(error).split())
        raise Unseen(name, worker.address, reason or type(error).__name__) from None
    raise WrongRelease.of(f"worker {worker.address}", f"hypermodes {RELEASE}", plugin.release)


# Sent as it is, not by its name, which a worker without hypermodes would not know.
_release_there = lambda: str(__import__("hypermodes").__version__)  # noqa: E731


class HandedOut:
    """What is shared, as long as it is with the workers; ``name`` is what they find it by."""

    def __init__(self, client: Any, shared: Any) -> None:
        self._client, self._shared = client, shared
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._names: list[str] = []
        self._late: dict[str, float] = {}
        self._is_sent = False

    @property
    def name(self) -> str:
        """Under which `shared_here` finds it."""
        return self._names[-1]

    def hand_out(self) -> None:
        """In a file if all workers there are now are on this host, else as it is."""
        self._tried(self._check_releases)
        in_file = self._in_file() if self._tried(lambda: _on_this_host(self._client)) else None
        if in_file:
            self._register(in_file)
        else:
            self._send()

    def _check_releases(self) -> None:
        """Workers that have not the same as we may find other modes, or end when they are given work."""
        try:
            ask = partial(self._client.run, _release_there, on_error="return")
            answers = within(A_WHILE, self._client, ask)
        except TimeoutError:  # one hangs; blocks look again
            return
        for address, release in answers.items():
            who = f"worker {address}"
            if isinstance(release, ImportError):
                raise WrongRelease.of(who, f"no hypermodes ({' '.join(str(release).split())})", RELEASE)
            if isinstance(release, str) and release != RELEASE:
                raise WrongRelease.of(who, f"hypermodes {release}", RELEASE)

    def send_instead(self, unseen: Unseen) -> None:
        """Send what a worker could not see. It may be of another user, or in a container."""
        name, address, reason = unseen.args
        if name != self.name:
            return  # it is sent already: this one looked before
        if self._is_sent:
            raise ConnectionError(
                f"client: worker {address} cannot open what it is to work on: {reason} "
                "(all workers must see the folder of a hypergraph)"
            )
        self._send()

    def wait_for(self, not_yet: NotYet) -> None:
        """Have patience with a worker that has not got it, but not for ever."""
        (address,) = not_yet.args
        if monotonic() > self._late.setdefault(address, monotonic()) + ON_ITS_WAY:
            raise ConnectionError(
                f"client: worker {address} has not got what it is to work on in {ON_ITS_WAY} seconds"
            )

    def take_back(self) -> None:
        """Have workers let go of it. Whatever goes wrong with that is no matter, there may be worse."""
        for name in self._names:
            if self._client.status == "running":
                with suppress(Exception):
                    within(MOMENT, self._client, partial(self._client.unregister_worker_plugin, name))
        self._discard()  # workers keep a file that they map

    def _in_file(self) -> WorkerPlugin | None:
        try:
            self._folder = tempfile.TemporaryDirectory(prefix="hypermodes-")
            return _mapped(self._shared, Path(self._folder.name) / "shared")
        except OSError:  # no place, or no room for the file
            self._discard()
            return None

    def _discard(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def _send(self) -> None:
        self._is_sent = True
        self._register(_sent(self._shared))

    def _register(self, plugin: WorkerPlugin) -> None:
        self._names.append(f"hypermodes-{uuid4().hex}")
        self._late.clear()
        self._tried(lambda: self._hand_over(plugin))

    def _hand_over(self, plugin: WorkerPlugin) -> None:
        n_workers = len(self._client.ncores())
        seconds = A_WHILE + plugin.n_bytes * (1 + n_workers) / SLOWEST
        with suppress(TimeoutError):  # who has not answered has it on its way, or hangs
            within(seconds, self._client, lambda: self._client.register_plugin(plugin, name=self.name))

    def _tried(self, call: Callable[[], T]) -> T:
        """Try again if a worker dies meanwhile."""
        for left in range(TRIES, 0, -1):
            try:
                return call()
            except WrongRelease:
                raise
            except (OSError, CancelledError) as error:
                if self._client.status != "running":
                    raise ClusterGone(GONE) from None
                if left == 1:
                    raise ConnectionError(
                        f"client: the workers cannot be handed their work: {error}"
                    ) from None
        raise AssertionError


@contextmanager
def handed_out(client: Any, shared: Any) -> Iterator[HandedOut]:
    """Hand out what is shared, as long as it is needed."""
    handed = HandedOut(client, shared)
    try:
        handed.hand_out()
        yield handed
    finally:
        handed.take_back()


def within(seconds: float | None, client: Any, call: Callable[[], Any]) -> Any:
    """What a client gives, if it does in this time; then a TimeoutError."""

    async def wait() -> Any:
        return await call()  # where its loop runs, a client gives what is to be awaited

    return client.sync(wait, callback_timeout=seconds)


def _on_this_host(client: Any) -> bool:
    """Whether scheduler and workers speak through loopback."""
    addresses = (client.scheduler.address, *client.ncores())
    return all(urlsplit(address).hostname in ("127.0.0.1", "::1", "localhost") for address in addresses)
