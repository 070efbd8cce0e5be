"""A Dask cluster of this machine, for as long as it is needed."""

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib.util import find_spec
from multiprocessing import current_process, resource_tracker
from typing import Any

from hypermodes.threads import workers

HOST = "127.0.0.1"  # workers run whatever a client sends: no other machine may reach them
SETTINGS = {
    # The profiler looks at Python's stack a hundred times a second, and kernels have none; event loops are
    # looked at fifty times, memory ten times, the system twice for each of five servers. All of that together
    # is a tenth of a core, all the time, which the workers of a small machine can use.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.admin.system-monitor.interval": "2s",
    # Else a worker that is away 15 s after it was lost is given up, even if it was back in between.
    "distributed.deploy.lost-worker-timeout": "1h",
}


def local_cluster(n_workers: int | None = -1) -> AbstractContextManager[Any]:
    """Start a scheduler and worker processes of one thread each, which only this machine can reach.

    Threads do the same work on one machine with less effort; this is for trying out what is to run on many,
    and for work that should survive the death of a process.

    Parameters
    ----------
    n_workers : int
        Processes; -1 for as many as there are cores.

    Returns
    -------
    context manager
        Of a ``dask.distributed.Client``, which is what to give as ``client``; needs ``hypermodes[dask]``.
        Dask's pages, which need bokeh as well, are at ``client.dashboard_link``.

    Notes
    -----
    Workers that die are started again. Dask's profiler is off, event loops and memory are watched twice a
    second: `SETTINGS` are in Dask's configuration as long as the cluster is there, for all of this process.

    Workers import the script that starts them. It must do so where a worker does not come by, under
    ``if __name__ == "__main__":``; a program that is read from standard input cannot be imported.

    Examples
    --------
    >>> import hypermodes as hm
    >>> H = hm.Hypergraph.from_edges([[1, 2, 3], [2, 3, 4], [1, 3, 4], [5, 6], [6, 7]])
    >>> with hm.local_cluster(2) as client:  # doctest: +SKIP
    ...     modes = hm.find_modes(H, client=client)
    """
    if getattr(current_process(), "_inheriting", False):
        sys.exit(1)  # a worker that imports the script: the process that started it says what is wrong
    try:
        count = workers(n_workers)
        if n_workers is not None and n_workers < -1:
            raise ValueError
    except ValueError:
        raise ValueError(
            "n_workers: expected a whole number of processes, 1 or more, or -1 for all cores; "
            f"got {n_workers!r}"
        ) from None
    if find_spec("distributed") is None:
        raise ImportError("local_cluster: needs Dask: install hypermodes[dask]")
    return _started(count)


@contextmanager
def _started(n_workers: int) -> Iterator[Any]:
    import dask
    from distributed import Client, LocalCluster

    with dask.config.set(SETTINGS), ExitStack() as stack:
        with _ctrl_c_later():
            try:
                cluster = LocalCluster(
                    n_workers=n_workers,
                    threads_per_worker=1,
                    processes=True,
                    host=HOST,
                    dashboard_address=f"{HOST}:0",
                    worker_dashboard_address=f"{HOST}:0",
                    silence_logs=logging.CRITICAL,  # of what goes wrong, the call tells whose work it is
                )
            except RuntimeError:
                raise RuntimeError(
                    "local_cluster: the workers did not start; they import the script, which must be a file "
                    'and call it under if __name__ == "__main__":'
                ) from None
            stack.enter_context(cluster)
        yield stack.enter_context(Client(cluster, set_as_default=False))


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """Have Ctrl-C wait, and not reach processes and threads that are started here, nor those they start.

    A terminal sends it to all processes. The one with the client has to see it, and ends the others.
    """
    if not hasattr(signal, "pthread_sigmask"):  # not on Windows
        yield
        return
    resource_tracker.ensure_running()  # when multiprocessing starts it, it lets Ctrl-C in again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
