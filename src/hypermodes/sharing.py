"""What all blocks of a run share, with every worker of a Dask cluster: in a file they map, or sent."""

import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from pickle import PickleBuffer
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np
from distributed import WorkerPlugin, get_worker
from distributed.protocol import pickle

TRIES = 5  # times that Dask may give up a block, or a call, because several workers died of it
_ALIGNED = 64  # bytes: where arrays begin in a file

T = TypeVar("T")


class ClusterGone(ConnectionError):
    """There is nobody left to ask for anything."""


class Unseen(Exception):
    """A worker cannot get at what is shared. Arguments: under which name it looked, its address, and why."""


class _Sent(WorkerPlugin):  # type: ignore[misc]
    """What is shared, with every worker there is and every one that comes.

    The scheduler keeps it and hands it to workers as they start: it is not lost with them, as data that were
    only scattered would be. It is unpacked by the first block: of a plugin that cannot be, Dask says nothing.
    """

    def __init__(self, shared: Any) -> None:
        self.arrays: list[PickleBuffer] = []
        self.frame = pickle.dumps(shared, buffer_callback=self.arrays.append)

    @cached_property
    def shared(self) -> Any:
        """What it was."""
        return pickle.loads(self.frame, buffers=self.arrays)


class _Mapped(_Sent):
    """The same for workers of this host: arrays lie in a file that all of them map, and none has a copy."""

    def __init__(self, shared: Any, path: Path) -> None:
        super().__init__(shared)
        self.path, self.places, end = str(path), [], 0
        with path.open("xb") as file:
            for array in self.arrays:
                begin = end + -end % _ALIGNED
                file.write(bytes(begin - end))
                end = begin + file.write(array.raw())
                self.places.append((begin, end))
        self.arrays = []

    @cached_property
    def shared(self) -> Any:
        """What it was."""
        memory = np.memmap(self.path, np.uint8, "r") if self.places else np.empty(0, np.uint8)
        return pickle.loads(self.frame, buffers=[memory[begin:end] for begin, end in self.places])


def shared_here(name: str) -> Any:
    """What was handed out under this name, on a worker."""
    worker = get_worker()
    try:
        return worker.plugins[name].shared
    except Exception as error:  # no such file or folder, most of all: the worker may see other disks
        reason = "it was not handed out" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise Unseen(name, worker.address, reason or type(error).__name__) from None


class HandedOut:
    """What is shared, as long as it is with the workers; ``name`` is what they find it by."""

    def __init__(self, client: Any, shared: Any, path: Path) -> None:
        self._client, self._shared, self._path = client, shared, path
        self._names: list[str] = []
        self._is_sent = False

    @property
    def name(self) -> str:
        """Under which `shared_here` finds it."""
        return self._names[-1]

    def hand_out(self) -> None:
        """In a file if all workers there are now can see it, else as it is."""
        mapped = self._mapped() if self._tried(lambda: _on_this_host(self._client)) else None
        if mapped and self._tried(self._everybody_sees):
            self._register(mapped)
        else:
            self._send()

    def send_instead(self, unseen: Unseen) -> None:
        """Send what a worker could not see. It may have come later, and be in a container."""
        name, address, reason = unseen.args
        if name != self.name:
            return  # it is sent already: this one looked before
        if self._is_sent:
            raise ConnectionError(
                f"client: worker {address} cannot open what it is to work on: {reason} "
                "(all workers must see the folder of a hypergraph)"
            )
        self._send()

    def take_back(self) -> None:
        """Have workers let go of it. Whatever goes wrong with that is no matter, there may be worse."""
        for name in self._names:
            if self._client.status == "running":
                with suppress(OSError, CancelledError, ValueError):  # it never came there
                    self._client.unregister_worker_plugin(name)

    def _mapped(self) -> _Mapped | None:
        try:
            return _Mapped(self._shared, self._path)
        except OSError:  # no room for the file
            self._path.unlink(missing_ok=True)
            return None

    def _everybody_sees(self) -> bool:
        """Else workers are of another user, or in containers."""
        seen = self._client.run(os.access, str(self._path), os.R_OK, on_error="ignore")
        return bool(seen) and all(seen.values())

    def _send(self) -> None:
        self._is_sent = True
        self._register(_Sent(self._shared))

    def _register(self, plugin: _Sent) -> None:
        self._names.append(f"hypermodes-{uuid4().hex}")
        self._tried(lambda: self._client.register_plugin(plugin, name=self.name))

    def _tried(self, call: Callable[[], T]) -> T:
        """Try again if a worker dies meanwhile."""
        for left in range(TRIES, 0, -1):
            try:
                return call()
            except (OSError, CancelledError) as error:
                if self._client.status != "running":
                    raise ClusterGone("client: the scheduler is gone") from None
                if left == 1:
                    raise ConnectionError(
                        f"client: the workers cannot be handed their work: {error}"
                    ) from None
        raise AssertionError


@contextmanager
def handed_out(client: Any, shared: Any) -> Iterator[HandedOut]:
    """Hand out what is shared, as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="hypermodes-") as folder:  # workers keep a file that they map
        handed = HandedOut(client, shared, Path(folder) / "shared")
        try:
            handed.hand_out()
            yield handed
        finally:
            handed.take_back()


def _on_this_host(client: Any) -> bool:
    """Whether scheduler and workers speak through loopback."""
    addresses = (client.scheduler.address, *client.ncores())
    return all(urlsplit(address).hostname in ("127.0.0.1", "::1", "localhost") for address in addresses)
