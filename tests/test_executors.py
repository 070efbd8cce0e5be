"""Wherever blocks are shifted, in whatever order and how often, the modes are the same to the last bit."""

import asyncio
import errno
import logging
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import typeof
from sklearn.base import clone

import hypermodes as hm
from hypermodes import batch, executors, gathering
from hypermodes.construct import searching
from hypermodes.construct.neighbours import nearest_neighbours
from hypermodes.datasets import five_crescents
from hypermodes.shapes.distances import shape_distances
from strategies import hypergraphs


def assert_same(ours, theirs):
    assert ours.edge_mode.tobytes() == theirs.edge_mode.tobytes()
    for name, column in vars(theirs.table).items():
        assert getattr(ours.table, name).tobytes() == column.tobytes(), name


@pytest.fixture(scope="module")
def hypergraph():
    points = five_crescents(1500, outliers=0.2).points
    return hm.knn_hypergraph(points, 7)


@pytest.fixture(scope="module")
def expected(hypergraph):
    return hm.find_modes(hypergraph, n_jobs=1)


# -- gathering ----------------------------------------------------------------------------------------


@given(hypergraphs(), st.integers(1, 5), st.randoms(use_true_random=False), st.integers(0, 8))
def test_blocks_are_gathered_to_the_same_in_any_order(hypergraph, size, random, fewest):
    prepared, budget = batch.Prepared.of(hm.HyperedgeAffinity(hypergraph)), batch.Budget()
    rows = np.arange(prepared.n_rows)
    whole = gathering.shift_rows(prepared, rows, budget)
    lows = list(range(0, rows.size, size))
    random.shuffle(lows)
    gathered = gathering.Gathering(rows.size)
    gathered._limit = fewest
    for low in lows:
        gathered.add(low, gathering.shift_rows(prepared, rows[low : low + size], budget))
    ours = gathered.result()
    for one, other in zip(
        (*ours.found.points, ours.found.notes, ours.first, ours.which),
        (*whole.found.points, whole.found.notes, whole.first, whole.which),
        strict=True,
    ):
        assert one.tobytes() == other.tobytes()


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True)))
def test_equal_supports_are_one_in_the_order_in_which_they_appear(supports):
    supports = [sorted(support) for support in supports]
    points = batch.Points(
        np.concatenate(([0], np.cumsum([len(support) for support in supports]))).astype(np.int64),
        np.array([row for support in supports for row in support], np.int64),
        np.ones(sum(map(len, supports))),
    )
    first, label = gathering._equal_supports(points)
    places = {}
    expected = [places.setdefault(tuple(support), len(places)) for support in supports]
    assert label.tolist() == expected
    assert first.tolist() == [expected.index(k) for k in range(len(places))]


def test_kernels_are_compiled_once_wherever_arrays_lie(hypergraph, tmp_path):
    """Numba compiles a kernel again for arrays that say they are read-only: twenty seconds a worker."""
    here = batch.Prepared.of(hm.HyperedgeAffinity(hypergraph)).for_workers()
    sent: list[memoryview] = []
    frame = pickle.dumps(here, protocol=5, buffer_callback=lambda buffer: sent.append(buffer.raw()))
    there = pickle.loads(frame, buffers=[bytes(array) for array in sent])
    hm.write_folder(hypergraph, tmp_path / "folder")
    on_disk = batch.Prepared.of(hm.HyperedgeAffinity(hm.open(tmp_path / "folder")))
    kinds = [[typeof(array) for array in one.graph] for one in (here, there, on_disk)]
    assert kinds[0] == kinds[1] == kinds[2]


def test_what_is_kept_goes_with_the_ends_and_not_with_the_starts(hypergraph, expected):
    prepared = batch.Prepared.of(hm.HyperedgeAffinity(hypergraph))
    block = gathering.shift_rows(prepared, np.arange(prepared.n_rows), batch.Budget())
    ends = {mode.support.tobytes() for mode in expected}
    assert block.which.size == prepared.n_rows
    assert block.first.size < prepared.n_rows / 4
    assert block.first.size >= len(ends)


# -- executors ----------------------------------------------------------------------------------------


class Unruly:
    """Gives outcomes back last first, some of them after doing them twice."""

    block, dashboard = 100, None

    def shifted(self, prepared, blocks, budget):
        done = [(k, gathering.shift_rows(prepared, rows, budget)) for k, rows in blocks for _ in range(2)]
        yield from done[::-2]


class Mixed:
    """Every other block comes as from elsewhere, with its curvatures."""

    block, dashboard = 100, None

    def shifted(self, prepared, blocks, budget):
        for k, rows in blocks:
            yield (
                k,
                (
                    executors._shift(prepared, (rows, budget))
                    if k % 2
                    else gathering.shift_rows(prepared, rows, budget)
                ),
            )


def test_blocks_with_and_without_curvatures_are_gathered_to_the_same(hypergraph, expected, monkeypatch):
    monkeypatch.setattr("hypermodes.modes.executor_of", lambda client, n_jobs: nullcontext(Mixed()))
    assert_same(hm.find_modes(hypergraph), expected)


def test_order_and_repetition_change_nothing(hypergraph, expected, monkeypatch):
    monkeypatch.setattr("hypermodes.modes.executor_of", lambda client, n_jobs: nullcontext(Unruly()))
    assert_same(hm.find_modes(hypergraph), expected)


@pytest.mark.parametrize("backend", ["loky", "threading", "sequential"])
def test_joblib_gives_the_same(hypergraph, expected, backend):
    joblib = pytest.importorskip("joblib")
    seen = []
    with joblib.parallel_config(backend=backend, n_jobs=2):
        modes = hm.find_modes(hypergraph, client="joblib", progress=lambda *done: seen.append(done))
    assert_same(modes, expected)
    assert seen[-1] == (hypergraph.n_edges, hypergraph.n_edges)


def test_joblib_gives_the_same_by_a_backend_that_gives_lists(hypergraph, expected, tmp_path):
    """In a process of its own: this one has threads, and had better not fork."""
    pytest.importorskip("joblib")
    hypergraph.save(tmp_path / "points.npz")
    code = (
        "import sys, joblib, hypermodes as hm\n"
        "with joblib.parallel_config(backend='multiprocessing', n_jobs=2):\n"
        "    modes = hm.find_modes(hm.Hypergraph.load(sys.argv[1]), client='joblib')\n"
        "modes.save(sys.argv[2])\n"
    )
    places = [str(tmp_path / "points.npz"), str(tmp_path / "modes.npz")]
    subprocess.run([sys.executable, "-c", code, *places], check=True, env=os.environ | _path())
    assert_same(hm.ModeSet.load(tmp_path / "modes.npz", hypergraph), expected)


def test_clusters_and_estimators_take_a_client():
    joblib = pytest.importorskip("joblib")
    points = five_crescents(150).points
    hypergraph = hm.knn_hypergraph(points, 5)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        ours = hm.cluster(hypergraph, client="joblib")
        model = hm.HypergraphShift(selection="modes", client="joblib").fit(points)
        clusters = hm.cluster(points, client="joblib")
    np.testing.assert_array_equal(ours.edge_labels, hm.cluster(hypergraph).edge_labels)
    assert clusters.probabilities.tobytes() == hm.cluster(points).probabilities.tobytes()
    np.testing.assert_array_equal(model.labels_, hm.HypergraphShift(selection="modes").fit(points).labels_)


@pytest.mark.parametrize(
    "client", ["dask", 7, "127.0.0.1:8786", "http://127.0.0.1:8787", "tcp://127.0.0.1", object()]
)
def test_what_is_no_client_is_refused(hypergraph, client):
    with pytest.raises(ValueError, match=r"client: expected a dask\.distributed\.Client"):
        hm.find_modes(hypergraph, client=client)
    with pytest.raises(ValueError, match=r"client: expected a dask\.distributed\.Client"):
        hm.cluster(np.eye(9), client=client)


def test_a_client_needs_the_compiled_rules(hypergraph):
    with pytest.raises(ValueError, match="dynamics, expansion: with client or results"):
        hm.find_modes(hypergraph, client="joblib", dynamics=hm.Replicator())


def test_nothing_imports_dask_unless_asked():
    code = (
        "import sys, numpy as np, hypermodes as hm\n"
        "H = hm.Hypergraph.from_edges([[1, 2], [2, 3]])\n"
        "hm.find_modes(H), hm.cluster(H), hm.HypergraphShift().fit(np.eye(9))\n"
        "hm.find_modes(H, client='joblib')\n"
        "sys.exit(any(name in sys.modules for name in ('dask', 'distributed')))"
    )
    assert subprocess.run([sys.executable, "-c", code], env=os.environ | _path()).returncode == 0


def _path():
    return {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


@pytest.mark.parametrize("most", [100, 8192])
def test_few_starts_are_enough_blocks_for_everybody(most):
    """A start may take a second. Blocks are the same whoever works on them: others may take a run up."""
    sizes = [executors.block_size(n, most) for n in range(1, 10**6, 777)]
    assert max(sizes) == most
    assert sizes == sorted(sizes)
    assert executors.block_size(0, most) > 0
    for n in (640, 3000, 6000):
        assert n / executors.block_size(n, most) >= 20


@pytest.mark.parametrize("n_starts", [1, executors.FEW, 32 * 3 + executors.FEW])
def test_one_thread_has_one_scratch(hypergraph, n_starts, monkeypatch):
    """It is as large as the hypergraph; and few starts are worth no thread."""
    made = []
    monkeypatch.setattr(
        executors,
        "shift_rows",
        lambda *given: made.append(threading.get_ident()) or gathering.shift_rows(*given),
    )
    hm.find_modes(hypergraph, starts=range(n_starts), n_jobs=1)
    assert len(set(made)) == 1
    assert (made[0] == threading.get_ident()) == (n_starts <= executors.FEW)


def test_the_package_is_sent_by_its_name():
    assert pickle.loads(pickle.dumps(hm)) is hm


# -- a real cluster -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    """Of a scheduler and two workers, processes of their own, on loopback."""
    pytest.importorskip("distributed", reason="needs Dask: pip install hypermodes[dask]")
    with hm.local_cluster(2) as client:
        yield client


@pytest.fixture(scope="module")
def cluster(client):
    return client.cluster


def pids(client):
    return list(client.run(os.getpid).values())


def unpicklable_metric():
    """As users write them in a notebook: a function that counts, and guards its count."""
    lock = threading.Lock()

    def metric(a, b):
        with lock:
            return float(np.abs(a - b).sum())

    return metric


UNSENT = (
    r"^client: what the workers need cannot be sent to them \(.*\); expected a metric, if it is a "
    "function, that holds no locks, open files or connections$"
)


def test_a_metric_that_cannot_be_sent_is_one_line(client):
    points = np.random.default_rng(0).random((60, 2))
    with pytest.raises(ValueError, match=UNSENT) as told:
        hm.cluster(points, metric=unpicklable_metric(), client=client)
    assert "'_thread.lock' object" in str(told.value)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_a_metric_that_joblib_cannot_send_is_one_line(backend):
    joblib = pytest.importorskip("joblib")
    points = np.random.default_rng(0).random((60, 2))
    with joblib.parallel_config(backend, n_jobs=2), pytest.raises(ValueError, match=UNSENT):
        hm.cluster(points, metric=unpicklable_metric(), client="joblib")


def test_a_local_cluster_is_reached_from_this_machine_alone(client):
    psutil = pytest.importorskip("psutil")  # Dask needs it as well
    assert set(client.ncores().values()) == {1}
    listening = [
        socket.laddr.ip
        for process in [psutil.Process(), *map(psutil.Process, pids(client))]
        for socket in process.net_connections("tcp")
        if socket.status == psutil.CONN_LISTEN
    ]
    assert len(listening) >= 4  # the scheduler and its pages, two workers
    assert set(listening) == {"127.0.0.1"}


def test_ctrl_c_is_not_for_workers(client):
    """A terminal sends it to all processes. That which has the client ends the others."""
    before = pids(client)
    for pid in before:
        os.kill(pid, signal.SIGINT)
    assert client.submit(sum, [1, 2], pure=False).result(timeout=60) == 3
    assert pids(client) == before
    blocked = client.run(lambda: signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
    assert set(blocked.values()) == {True}  # since they were started: none was too late
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_the_first_workers_of_a_process_do_not_see_ctrl_c_either(tmp_path):
    """With them, multiprocessing starts a process of its own, and takes no care of what was blocked."""
    pytest.importorskip("distributed", reason="needs Dask: pip install hypermodes[dask]")
    script = tmp_path / "script.py"
    script.write_text(
        "import signal, hypermodes as hm\n"
        "def is_blocked():\n"
        "    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())\n"
        "if __name__ == '__main__':\n"
        "    with hm.local_cluster(1) as client:\n"
        "        print(is_blocked(), *client.run(is_blocked).values())\n"
    )
    told = subprocess.run([sys.executable, script], capture_output=True, text=True, env=os.environ | _path())
    assert told.stdout == "False True\n"


def test_a_local_cluster_is_quiet(client):
    from dask import config

    settings = import_module("hypermodes.local_cluster").SETTINGS
    assert len(settings) == 5
    for there in client.run(lambda: {name: config.get(name) for name in settings}).values():
        assert there == settings


def test_what_has_a_client_is_none(client, cluster):
    H = hm.Hypergraph.from_edges([[1, 2], [2, 3]])
    with pytest.raises(ValueError, match=r"client: expected .*; a cluster gives one: cluster\.get_client"):
        hm.find_modes(H, client=cluster)
    with pytest.raises(ValueError, match=r"client: expected .*; give what it gives: with hm\.local_cluster"):
        hm.find_modes(H, client=hm.local_cluster(1))


def test_a_local_cluster_leaves_nothing_behind(monkeypatch):
    """Settings are there as long as it is. It is one of threads, which is started at once."""
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install hypermodes[dask]")
    from dask import config

    given = {}

    def started(**settings):
        given.update(settings)
        return there(**{**settings, "processes": False, "protocol": "tcp://"})

    there = distributed.LocalCluster
    monkeypatch.setattr(distributed, "LocalCluster", started)
    with config.set({"distributed.admin.tick.interval": "20ms", "distributed.worker.profile.enabled": True}):
        with hm.local_cluster(1) as client:
            assert config.get("distributed.admin.tick.interval") == "500ms"
            assert hm.find_modes(hm.Hypergraph.from_edges([[1, 2], [2, 3]]), client=client, progress=True)
        assert config.get("distributed.admin.tick.interval") == "20ms"
        assert config.get("distributed.worker.profile.enabled") is True
    assert client.status == "closed"
    kept = pickle.loads(pickle.dumps(hm.HypergraphShift(client=client)))
    assert kept.client is None  # there is nothing to connect to
    assert given["processes"]
    assert given["host"] == "127.0.0.1"


def test_a_script_that_workers_cannot_import_is_told_so(tmp_path):
    pytest.importorskip("distributed", reason="needs Dask: pip install hypermodes[dask]")
    script = tmp_path / "script.py"
    script.write_text("import hypermodes as hm\nwith hm.local_cluster(1) as client:\n    print(client)\n")
    told = subprocess.run([sys.executable, script], capture_output=True, text=True, env=os.environ | _path())
    assert told.returncode == 1
    assert told.stderr.splitlines()[-1].startswith("RuntimeError: local_cluster: the workers did not start; ")
    assert told.stderr.count("Traceback") == 1  # nothing of Dask, nothing of the workers


def test_without_dask_a_local_cluster_is_refused_at_once(monkeypatch):
    module = import_module("hypermodes.local_cluster")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"local_cluster: needs Dask: install hypermodes\[dask\]"):
        hm.local_cluster(2)


@pytest.mark.parametrize("n_workers", [0, -2, 1.5, True, "two"])
def test_a_number_of_workers_that_is_none_is_refused(n_workers):
    with pytest.raises(ValueError, match="n_workers: expected a whole number of processes, 1 or more, or -1"):
        hm.local_cluster(n_workers)


def test_a_cluster_gives_the_same_from_memory_and_from_disk(client, cluster, hypergraph, expected, tmp_path):
    seen = []
    modes = hm.find_modes(hypergraph, client=client, progress=lambda *done: seen.append(done))
    assert_same(modes, expected)
    assert seen[-1] == (hypergraph.n_edges, hypergraph.n_edges)
    assert len(seen) > 5
    assert_same(hm.find_modes(hypergraph, client=cluster.scheduler_address), expected)
    hm.write_folder(hypergraph, tmp_path / "folder")
    opened = hm.open(tmp_path / "folder")
    assert_same(hm.find_modes(opened, client=client), hm.find_modes(opened))
    assert not client.futures  # nothing is left with the workers
    assert client.run(lambda dask_worker: [name for name in dask_worker.plugins if "hypermodes" in name]) == {
        worker: [] for worker in client.ncores()
    }


@pytest.mark.parametrize("places", ["plane", "coincident", "many dimensions"])
def test_neighbours_are_the_same_from_a_cluster(client, places, monkeypatch):
    rng = np.random.default_rng(0)
    points = {
        "plane": rng.random((900, 2)),
        "coincident": rng.integers(0, 9, (900, 2)).astype(float),  # ties, and more at one place than count
        "many dimensions": rng.integers(0, 3, (300, 20)).astype(float),  # brute force, full of ties
    }[places]
    expected = nearest_neighbours(points, 8)
    monkeypatch.setattr(searching, "LARGEST", 1 << 12)  # 100 rows a block
    ours = nearest_neighbours(points, 8, client=client)
    assert ours.indices.tobytes() == expected.indices.tobytes()
    assert ours.distances.tobytes() == expected.distances.tobytes()


@pytest.mark.parametrize("selection", ["tree", "modes"])
def test_an_estimator_fits_on_a_cluster_and_is_cloned_and_kept_without_it(client, cluster, selection):
    points = five_crescents(400, outliers=0.1).points
    expected = hm.HypergraphShift(selection=selection).fit(points)
    model = hm.HypergraphShift(selection=selection, client=client)
    twin = clone(model)
    assert twin.client is client
    assert twin.get_params() == model.get_params()
    kept = pickle.loads(pickle.dumps(twin.fit(points)))
    assert kept.client == cluster.scheduler_address
    for one in (twin, kept, kept.fit(points)):
        for name in ("labels_", "probabilities_", "outlier_scores_"):
            assert getattr(one, name).tobytes() == getattr(expected, name).tobytes()
    assert model.client is client
    assert clone(twin).client is client


def test_a_metric_may_speak_of_the_package(client):
    points = np.random.default_rng(0).random((60, 2))

    def metric(one, other):
        return float(np.abs(one - other).sum()) if hm.__version__ else np.nan

    ours = hm.cluster(points, metric=metric, client=client)
    assert ours.labels.tobytes() == hm.cluster(points, metric=metric).labels.tobytes()


def test_a_worker_that_hangs_at_the_end_holds_nobody_up(client, hypergraph, expected, monkeypatch):
    sharing = pytest.importorskip("hypermodes.sharing")
    monkeypatch.setattr(sharing, "MOMENT", 0.2)
    victim = pids(client)[0]

    def stop(done, total):
        if done == total:
            os.kill(victim, signal.SIGSTOP)

    try:
        assert_same(hm.find_modes(hypergraph, client=client, progress=stop), expected)
    finally:
        os.kill(victim, signal.SIGCONT)
    assert victim in pids(client)  # it is waited for here


def test_a_worker_that_hangs_before_it_gives_what_it_has_holds_nobody_up(client, monkeypatch):
    """It has said that it is done, and stops when it is asked for the outcome."""
    clusters = pytest.importorskip("hypermodes.clusters")
    monkeypatch.setattr(clusters, "_MOST", 1)

    class Stops:
        def __reduce__(self):
            os.kill(os.getpid(), signal.SIGSTOP)
            return int, (0,)

    def go_on():
        for pid in everyone:
            os.kill(pid, signal.SIGCONT)

    everyone, late, given = pids(client), [], []
    alarm = threading.Timer(120, lambda: (late.append(True), go_on()))
    alarm.start()
    try:
        for k, outcome in clusters.each(
            client, lambda stops, job: job or stops(), Stops, [(k, k) for k in range(20)]
        ):
            given.append((k, outcome))
            if len(given) == 12:
                go_on()
    finally:
        alarm.cancel()
        go_on()
    assert not late
    assert sorted(given) == [(k, k) for k in range(20)]
    assert (0, 0) not in given[:12]


def test_workers_let_go_of_the_file_that_all_of_them_map(client):
    """Dask counts it for each of them, and pauses those that have too much."""
    clusters = pytest.importorskip("hypermodes.clusters")

    def read(shared, job):
        from hypermodes.columns import _resident

        before = _resident()
        return before if shared.sum() == shared.size else None

    shared = np.ones(1 << 24)  # 128 MB
    found = dict(clusters.each(client, read, shared, [(k, k) for k in range(12)]))
    assert max(found.values()) - min(found.values()) < shared.nbytes * 0.75


@pytest.mark.parametrize("shown", ["no hypermodes (No module named 'hypermodes')", "hypermodes 0.0.1"])
def test_a_worker_that_has_something_else_is_named_before_the_work(client, hypergraph, monkeypatch, shown):
    sharing = pytest.importorskip("hypermodes.sharing")

    def none():
        raise ModuleNotFoundError("No module named 'hypermodes'")

    monkeypatch.setattr(sharing, "_release_there", none if "named" in shown else lambda: "0.0.1")
    monkeypatch.setattr(sharing, "_sent", None)
    told = rf"client: worker tcp://\S+ has {re.escape(shown)}; expected hypermodes {hm.__version__}, as here"
    with pytest.raises(ConnectionError, match=told):
        hm.find_modes(hypergraph, client=client)


def test_a_worker_that_cannot_be_asked_what_it_has_is_found_by_its_first_block(
    client, hypergraph, monkeypatch
):
    sharing = pytest.importorskip("hypermodes.sharing")
    monkeypatch.setattr(sharing.HandedOut, "_check_releases", lambda handed: None)
    monkeypatch.setattr(sharing, "RELEASE", "0.0.1")  # here: workers have their own
    told = rf"client: worker tcp://\S+ has hypermodes {hm.__version__}; expected hypermodes 0\.0\.1, as here"
    with pytest.raises(ConnectionError, match=told):
        hm.find_modes(hypergraph, client=client)
    assert not any(name.startswith("hypermodes-") for name in plugins(client))


class Unknown:
    """Of a module that is not there, when it is unpickled."""

    __name__ = "unknown"

    def __call__(self):
        raise AssertionError

    def __reduce__(self):
        return import_module, ("hypermodes.nowhere",)


def test_a_scheduler_that_does_not_know_what_is_to_be_done_is_named(client):
    """It unpacks what it hands on, and may have no hypermodes."""
    clusters = pytest.importorskip("hypermodes.clusters")
    with pytest.raises(
        ConnectionError, match="client: the scheduler has no hypermodes, or another; expected"
    ):
        list(clusters.each(client, Unknown(), None, [(0, None)]))


def test_what_is_on_its_way_is_waited_for_but_not_for_ever(client, hypergraph, expected, monkeypatch):
    """Nobody waits until the last worker has it: one may hang."""
    sharing = pytest.importorskip("hypermodes.sharing")
    hand_over, waited = sharing.HandedOut._hand_over, []

    def late(handed, not_yet):
        if not waited:
            hand_over(handed, sharing._sent(handed._shared))
        waited.append(not_yet)

    monkeypatch.setattr(sharing.HandedOut, "_hand_over", lambda handed, plugin: None)
    with monkeypatch.context() as patched:
        patched.setattr(sharing.HandedOut, "wait_for", late)
        assert_same(hm.find_modes(hypergraph, client=client), expected)
    assert waited
    monkeypatch.setattr(sharing, "ON_ITS_WAY", -1)
    with pytest.raises(ConnectionError, match=r"client: worker tcp://\S+ has not got what it is to"):
        hm.find_modes(hypergraph, client=client)


def test_a_worker_that_hangs_while_work_is_handed_out_holds_nobody_up(
    client, hypergraph, expected, monkeypatch
):
    """It takes some of the blocks with it, which are done again when Dask has given it up."""
    sharing = pytest.importorskip("hypermodes.sharing")
    monkeypatch.setattr(sharing, "A_WHILE", 0.5)
    victim, going_on = pids(client)[0], []
    os.kill(victim, signal.SIGSTOP)
    try:

        def go_on(done, total):
            going_on.append(os.kill(victim, signal.SIGCONT))

        assert_same(hm.find_modes(hypergraph, client=client, progress=go_on), expected)
    finally:
        os.kill(victim, signal.SIGCONT)
    assert going_on  # blocks of the other came while it hung


def no_room(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("_on_this_host", lambda client: False),
        ("_mapped", no_room),
        ("tempfile.TemporaryDirectory", no_room),
    ],
)
def test_workers_that_cannot_see_our_files_are_sent_what_they_need(
    client, hypergraph, expected, name, answer, monkeypatch
):
    sharing = pytest.importorskip("hypermodes.sharing")
    sent, send = [], sharing.HandedOut._send
    monkeypatch.setattr(sharing.HandedOut, "_send", lambda handed: sent.append(handed) or send(handed))
    assert_same(hm.find_modes(hypergraph, client=client), expected)
    assert not sent  # they are on this host
    monkeypatch.setattr(f"hypermodes.sharing.{name}", answer)
    left = []

    def look(done, total):
        folder = sent[0]._folder
        left.extend([folder.name] if folder and Path(folder.name).exists() else [])

    assert_same(hm.find_modes(hypergraph, client=client, progress=look), expected)
    assert len(sent) == 1
    assert not left  # a file that found no room is not kept


def test_a_worker_that_cannot_see_the_file_is_sent_what_it_needs(client, hypergraph, expected, monkeypatch):
    """It may be of another user, or in a container."""
    sharing = pytest.importorskip("hypermodes.sharing")
    register = sharing.HandedOut._register

    def away(handed, plugin):
        (Path(handed._folder.name) / "shared").unlink(missing_ok=True)
        register(handed, plugin)

    monkeypatch.setattr(sharing.HandedOut, "_register", away)
    assert_same(hm.find_modes(hypergraph, client=client), expected)
    assert not any(name.startswith("hypermodes-") for name in plugins(client))


def plugins(client):
    return {
        name for names in client.run(lambda dask_worker: [*dask_worker.plugins]).values() for name in names
    }


@pytest.mark.parametrize("is_near", [True, False])
def test_a_folder_that_workers_do_not_see_is_named(client, hypergraph, tmp_path, monkeypatch, is_near):
    sharing = pytest.importorskip("hypermodes.sharing")
    monkeypatch.setattr(sharing, "_on_this_host", lambda client: is_near)
    hm.write_folder(hypergraph, tmp_path / "points")
    opened = hm.open(tmp_path / "points")
    (tmp_path / "points").rename(tmp_path / "elsewhere")  # what is mapped stays mapped
    with pytest.raises(
        ConnectionError, match=r"client: worker tcp://\S+ cannot open .*points' is not there; .*all workers"
    ) as told:
        hm.find_modes(opened, client=client)
    assert "\n" not in str(told.value)
    assert not any(name.startswith("hypermodes-") for name in plugins(client))


def interrupted(*_):
    raise KeyboardInterrupt


def test_what_goes_wrong_while_it_is_handed_out_is_said_and_nothing_else(client, hypergraph, monkeypatch):
    sharing = pytest.importorskip("hypermodes.sharing")
    clusters = pytest.importorskip("hypermodes.clusters")
    with pytest.raises(TypeError, match="pickle"):
        list(clusters.each(client, lambda one, job: job, threading.Lock(), [(0, None)]))
    monkeypatch.setattr(sharing, "_mapped", interrupted)
    with pytest.raises(KeyboardInterrupt):
        hm.find_modes(hypergraph, client=client)


def test_a_scheduler_that_is_gone_when_it_is_asked_is_missed():
    clusters = pytest.importorskip("hypermodes.clusters")
    sharing = pytest.importorskip("hypermodes.sharing")

    def reset(*_, **__):
        raise ConnectionResetError(errno.ECONNRESET, "connection reset")

    gone = SimpleNamespace(
        status="closed",
        ncores=reset,
        sync=reset,
        run=reset,
        scheduler=SimpleNamespace(address="tcp://127.0.0.1:1", ncores_running=reset),
    )
    with pytest.raises(ConnectionError, match=r"^client: the scheduler is gone, or the client was closed$"):
        clusters._cores(gone)
    with (
        pytest.raises(ConnectionError, match=r"^client: the scheduler is gone, or the client was closed$"),
        sharing.handed_out(gone, 1),
    ):
        pass
    gone.status = "running"
    with pytest.raises(ConnectionError, match=r"^client: the workers cannot be handed their work: "):
        sharing.HandedOut(gone, 1).hand_out()


def test_a_client_that_does_not_wait_is_refused():
    clusters = pytest.importorskip("hypermodes.clusters")
    with pytest.raises(ValueError, match="client: expected one that waits for answers"):
        clusters.connected(SimpleNamespace(status="running", asynchronous=True))


def test_shapes_are_compared_on_a_cluster_and_what_is_kept_is_not_compared_again(client, tmp_path):
    contexts = np.random.default_rng(0).random((150, 12, 2, 3)).astype(np.float32)
    contexts /= np.linalg.norm(contexts.reshape(150, 12, -1), axis=2)[:, :, None, None]
    expected = shape_distances(contexts, cache=tmp_path / "threads")

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shape_distances(contexts, client=client, cache=tmp_path / "there", progress=stop)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "there").rglob("*.block")}
    assert len(kept) == 1
    ours = shape_distances(contexts, client=client, cache=tmp_path / "there")
    assert ours.tobytes() == expected.tobytes()
    for path in (tmp_path / "threads").rglob("*.block"):  # the same files, whoever made them
        there = tmp_path / "there" / path.relative_to(tmp_path / "threads")
        assert there.read_bytes() == path.read_bytes()
        assert there.stat().st_mtime_ns == kept.get(there, there.stat().st_mtime_ns)


@pytest.mark.parametrize("seconds", [1.0, -1.0])
def test_every_job_is_done_once_however_many_a_message_gets_done(client, seconds):
    """With -1 s a worker begins no second job of a message: all the others come again."""
    clusters = pytest.importorskip("hypermodes.clusters")

    def allow(seconds):
        import hypermodes.clusters

        hypermodes.clusters._WHILE = seconds

    client.run(allow, seconds)
    try:
        outcomes = list(clusters.each(client, lambda add, job: add + job, 100, ((k, k) for k in range(75))))
    finally:
        client.run(allow, clusters._WHILE)
    assert sorted(outcomes) == [(k, 100 + k) for k in range(75)]
    assert list(clusters.each(client, lambda add, job: add + job, 100, ())) == []


def test_what_is_finished_is_given_before_the_job_that_fails(client, monkeypatch):
    clusters = pytest.importorskip("hypermodes.clusters")
    monkeypatch.setattr(clusters, "_width", lambda *_, **__: 1)  # all go in one message
    outcomes = clusters.each(client, lambda one, job: one / job, 1, [(5, 1), (6, 2), (7, 0), (8, 1)])
    assert [next(outcomes), next(outcomes)] == [(5, 1.0), (6, 0.5)]
    with pytest.raises(ZeroDivisionError):
        next(outcomes)


def test_an_error_of_a_job_is_no_sign_that_the_cluster_is_gone(client, monkeypatch):
    """What is back already is given before it, whatever the error is called."""
    clusters = pytest.importorskip("hypermodes.clusters")

    def broken(shared, job):
        raise ConnectionError("of the job")

    monkeypatch.setattr(clusters, "_finished", lambda answers, running: iter([(9, "back")]))
    outcomes = clusters.each(client, broken, None, [(0, None)])
    assert next(outcomes) == (9, "back")
    with pytest.raises(ConnectionError, match="of the job"):
        next(outcomes)


def test_an_answer_that_was_interrupted_is_not_an_error_of_the_job(client, monkeypatch):
    clusters = pytest.importorskip("hypermodes.clusters")

    async def reset(**_):
        raise ConnectionResetError(errno.ECONNRESET, "connection reset")

    async def nothing(**_):
        return {"status": "error", "keys": ["key"]}

    def answer(status, gather):
        there = clusters._Answers(SimpleNamespace(scheduler=SimpleNamespace(gather=gather)))

        async def own():
            return None

        future = SimpleNamespace(status=status, key="key", exception=own, result=reset)
        asyncio.run(there._fetch(future))
        return there.next(1)[1]

    assert answer("finished", reset) is clusters._HUNG_UP
    assert answer("finished", nothing) is clusters._LOST  # with the worker that had it
    assert answer("cancelled", nothing) is clusters._LOST
    assert isinstance(answer("error", nothing), ConnectionResetError)  # the function's own

    get, interrupted = clusters._Answers._answer, []

    async def hang_up(answers, future):
        if not interrupted:
            interrupted.append(future)
            return clusters._HUNG_UP
        return await get(answers, future)

    monkeypatch.setattr(clusters._Answers, "_answer", hang_up)
    outcomes = clusters.each(client, lambda one, job: one + job, 1, [(k, k) for k in range(9)])
    assert sorted(outcomes) == [(k, k + 1) for k in range(9)]  # there is a scheduler: it is asked again
    assert interrupted


def test_workers_that_hang_hold_up_their_own_answers_only(client):
    """However many they have: Dask itself fetches five at once."""
    clusters = pytest.importorskip("hypermodes.clusters")
    client.wait_for_workers(2, timeout=60)
    (one, pid), (other, _) = client.run(os.getpid).items()
    submitted = [
        [client.submit(lambda k: [k], k, workers=[there], pure=False) for k in range(8)]
        for there in (one, other)
    ]
    for future in [*submitted[0], *submitted[1]]:
        assert future.exception(timeout=60) is None
    answers = clusters._Answers(client)
    os.kill(pid, signal.SIGSTOP)
    try:
        for future in [*submitted[0], *submitted[1]]:
            answers.expect(future)
        given = [answers.next(60) for _ in submitted[1]]
    finally:
        os.kill(pid, signal.SIGCONT)
    assert {future.key for future, _ in given} == {future.key for future in submitted[1]}
    assert sorted(answers.next(60)[1] for _ in submitted[0]) == [[k] for k in range(8)]


def test_a_run_may_begin_in_a_callback_of_dask(client, hypergraph, expected):
    """Callbacks have one thread, which then waits for the run: nothing of the run may need it."""
    given = SimpleQueue()

    def begin(future):
        try:
            given.put(hm.find_modes(hypergraph, client=client))
        except Exception as error:  # Dask would only log it
            given.put(error)

    client.submit(int, pure=False).add_done_callback(begin)
    assert_same(given.get(timeout=300), expected)


def test_workers_that_are_gone_for_good_are_missed(monkeypatch):
    clusters = pytest.importorskip("hypermodes.clusters")
    for name in ("PATIENCE", "LONGER", "_MOST"):
        monkeypatch.setattr(clusters, name, 1)
    with few(1) as there, there.get_client() as client:
        outcomes = clusters.each(client, lambda one, job: one + job, 1, [(k, k) for k in range(20)])
        given = [next(outcomes)]
        there.scale(0)
        there.sync(there._correct_state)
        with pytest.raises(ConnectionError, match="the scheduler has no workers"):
            given.extend(outcomes)
        assert 1 <= len(given) < 20
        assert all(outcome == k + 1 for k, outcome in given)


@contextmanager
def started(lines):
    """Commands in the background, until they are not needed any more."""
    begun = []
    try:
        for line in lines:
            command = [sys.executable, "-m", *line.split()]
            begun.append(subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True))
        yield begun
    finally:
        for process in begun:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_the_cluster_of_the_page_is_reached_from_this_machine_alone_and_missed_when_it_is_gone(
    hypergraph, expected, tmp_path
):
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install hypermodes[dask]")
    psutil = pytest.importorskip("psutil")  # Dask needs it as well
    page = (Path(__file__).parents[1] / "docs" / "scale.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\$ (dask (?:scheduler|worker) .*) &$", page, re.MULTILINE)
    assert len(lines) == 2
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        ports = {"8786": one.getsockname()[1], "8787": other.getsockname()[1]}
    for port, free in ports.items():
        lines = [line.replace(port, str(free)) for line in lines]
    with (
        started(lines) as processes,
        distributed.Client(f"tcp://127.0.0.1:{ports['8786']}", timeout=60, set_as_default=False) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        everyone = [psutil.Process(process.pid) for process in processes]
        everyone += [child for process in everyone for child in process.children(recursive=True)]
        listening = [
            socket.laddr.ip
            for process in everyone
            for socket in process.net_connections("tcp")
            if socket.status == psutil.CONN_LISTEN
        ]
        assert len(listening) >= 3
        assert set(listening) == {"127.0.0.1"}
        with pytest.raises(
            ConnectionError,
            match=r"^client: the scheduler is gone, .*; what is there is kept, .* resume=True",
        ):
            hm.find_modes(
                hypergraph,
                client=client,
                results=tmp_path / "run",
                progress=lambda *_: processes[0].kill(),
            )
    assert_same(hm.find_modes(hypergraph, results=tmp_path / "run", resume=True), expected)


def paused(dask_worker):
    dask_worker.status = type(dask_worker.status).paused


def running(dask_worker):
    dask_worker.status = type(dask_worker.status).running


def test_workers_that_are_all_paused_are_missed(monkeypatch):
    """As Dask does with those that have too much in memory. They may have less, later."""
    clusters = pytest.importorskip("hypermodes.clusters")
    monkeypatch.setattr(clusters, "_MOST", 1)
    with few(1, memory_limit=None) as there, there.get_client() as client:

        class TakesUp(logging.Handler):
            def emit(self, record):
                client.run(running)

        def outcomes():
            return clusters.each(client, lambda one, job: one + job, 1, [(k, k) for k in range(20)])

        monkeypatch.setattr(clusters, "PATIENCE", 1)
        warned = TakesUp()
        clusters.logger.addHandler(warned)
        client.run(paused)
        try:
            assert sorted(outcomes()) == [(k, k + 1) for k in range(20)]
        finally:
            clusters.logger.removeHandler(warned)
        monkeypatch.setattr(clusters, "LONGER", 1)
        some = outcomes()
        next(some)
        client.run(paused)
        with pytest.raises(
            ConnectionError, match=r"^client: Dask has paused all workers, they have too much"
        ):
            list(some)


def test_workers_that_die_before_anything_is_done_are_waited_for(monkeypatch):
    """They may compile for as long as it takes others to come."""
    clusters = pytest.importorskip("hypermodes.clusters")
    monkeypatch.setattr(clusters, "PATIENCE", 1)
    with few(1) as there, there.get_client() as client:

        class Replaces(logging.Handler):
            def emit(self, record):
                there.scale(1)

        warned, handed_out = Replaces(), clusters.handed_out

        @contextmanager
        def handed_out_and_gone(client, shared):
            with handed_out(client, shared) as handed:
                cores = clusters._cores
                monkeypatch.setattr(clusters, "_cores", lambda client: gone(client, cores))
                yield handed

        def gone(client, cores):
            monkeypatch.setattr(clusters, "_cores", cores)
            found = cores(client)
            there.scale(0)
            there.sync(there._correct_state)
            return found

        monkeypatch.setattr(clusters, "handed_out", handed_out_and_gone)
        clusters.logger.addHandler(warned)
        try:
            outcomes = list(clusters.each(client, lambda one, job: one + job, 1, [(k, k) for k in range(20)]))
        finally:
            clusters.logger.removeHandler(warned)
        assert sorted(outcomes) == [(k, k + 1) for k in range(20)]


def few(n_workers, **options):
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install hypermodes[dask]")
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        **options,
    )


def test_a_cluster_that_grows_with_its_work_may_begin_with_nobody(hypergraph, expected):
    with few(0) as there, there.get_client() as client:
        there.adapt(minimum=0, maximum=1)
        assert not client.ncores()
        assert_same(hm.find_modes(hypergraph, client=client), expected)


def test_a_scheduler_without_workers_is_said_to_have_none(hypergraph, monkeypatch):
    monkeypatch.setattr("hypermodes.clusters.PATIENCE", 1)
    with (
        few(0) as there,
        there.get_client() as client,
        pytest.raises(ConnectionError, match="client: the scheduler has no workers; start some"),
    ):
        hm.find_modes(hypergraph, client=client)


def test_messages_that_are_back_are_not_lost_with_one_that_fails(monkeypatch):
    """Nor those that are nearly; but nobody waits for one whose worker hangs."""
    clusters = pytest.importorskip("hypermodes.clusters")
    monkeypatch.setattr(clusters, "MOMENT", 0.2)
    states = ("finished", "error", "lost", "pending", "finished", "finished")
    answers, running = clusters._Answers(None), {}
    for k, status in enumerate(states):
        running[Message(status)] = [(10 * k, None), (10 * k + 1, None)]
    messages = list(running)
    for k, answer in ((0, ["a", "b"]), (1, ValueError("of the job")), (2, clusters._LOST), (5, ["f"])):
        answers._here.put((messages[k], answer))
    assert list(clusters._finished(answers, running)) == [(0, "a"), (1, "b"), (50, "f")]
    assert list(running) == messages[3:5]


class Message:
    """Has a status."""

    def __init__(self, status):
        self.status = status


def test_what_is_done_while_workers_are_paused_is_not_lost(monkeypatch):
    """They finish what they are at."""
    clusters = pytest.importorskip("hypermodes.clusters")
    monkeypatch.setattr(clusters, "_MOST", 1)
    monkeypatch.setattr(clusters, "PATIENCE", 0.5)
    monkeypatch.setattr(clusters, "GLANCE", 0.2)
    monkeypatch.setattr(clusters, "LONGER", 2)
    with few(1, memory_limit=None) as there, there.get_client() as client:
        distributed = pytest.importorskip("distributed")
        gate = distributed.Event("gate", client=client)

        class Opens(logging.Handler):
            def emit(self, record):
                gate.set()

        def wait(shared, job):
            from distributed import get_worker

            worker = get_worker()
            worker.loop.add_callback(setattr, worker, "status", type(worker.status).paused)
            distributed.Event("gate").wait()
            return job

        warned = Opens()
        clusters.logger.addHandler(warned)
        given = []
        try:
            with pytest.raises(ConnectionError, match=r"^client: Dask has paused all workers"):
                given.extend(clusters.each(client, wait, None, [(k, k) for k in range(9)]))
        finally:
            clusters.logger.removeHandler(warned)
        assert given == [(0, 0)]


def test_a_client_that_is_closed_in_between_is_missed(cluster):
    clusters = pytest.importorskip("hypermodes.clusters")
    with cluster.get_client() as client:
        outcomes = clusters.each(client, lambda one, job: one + job, 1, [(k, k) for k in range(99)])
        next(outcomes)
        client.close()
        with pytest.raises(
            ConnectionError, match=r"^client: the scheduler is gone, or the client was closed$"
        ):
            list(outcomes)


def test_a_job_that_was_lost_goes_alone():
    clusters = pytest.importorskip("hypermodes.clusters")
    left, tries, sent = deque((k, None) for k in range(7)), Counter({2: 1}), []
    while left:
        sent.append([k for k, _ in clusters._several(left, 3, tries)])
    assert sent == [[0, 1], [2], [3, 4, 5], [6]]
    for _ in range(clusters.TRIES - 2):
        clusters._count(tries, [(2, None)])
    with pytest.raises(ConnectionError, match="block 2 was lost again and again"):
        clusters._count(tries, [(5, None), (2, None)])


def test_workers_that_are_killed_change_nothing(client, hypergraph, expected, tmp_path):
    """One is killed in the middle, later all that are there: nobody is left who had the hypergraph."""
    victims = []

    def kill(done, total):
        if len(victims) == 0:
            victims.extend(pids(client)[:1])
            os.kill(victims[0], signal.SIGKILL)
        elif len(victims) == 1 and done > total / 2:
            up = client.run(os.getpid, on_error="ignore").values()  # one may be just going
            everyone = [pid for pid in up if pid not in victims]
            victims.extend(everyone)
            for pid in everyone:
                os.kill(pid, signal.SIGKILL)

    modes = hm.find_modes(hypergraph, client=client, results=tmp_path / "run", progress=kill)
    assert len(victims) >= 2
    assert_same(modes, expected)
    size = executors.block_size(hypergraph.n_edges, executors.REMOTE_BLOCK)
    assert len(list((tmp_path / "run" / "blocks").iterdir())) == -(-hypergraph.n_edges // size)


def test_an_error_of_ours_ends_the_run_and_calls_the_rest_off(client, hypergraph):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hm.find_modes(hypergraph, client=client, progress=interrupt)
    blocks = [state for key, state in client.futures.items() if str(key).startswith("hypermodes-")]
    assert all(state.status != "pending" for state in blocks)
    client.wait_for_workers(2, timeout=60)  # nobody else was harmed


def everything_that_takes_a_client(hypergraph, client):
    discs = [np.hypot(*np.indices((9, 9)) - 4) < radius for radius in (2, 3, 4)]
    yield lambda: hm.find_modes(hypergraph, client=client)
    yield lambda: hm.cluster(hypergraph, client=client)
    yield lambda: hm.cluster(np.random.default_rng(0).random((50, 2)), client=client)
    yield lambda: hm.group_shapes(discs, 2, client=client)


def test_a_client_that_is_closed_is_named_before_any_work_is_done(cluster, hypergraph, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install hypermodes[dask]")
    closed = distributed.Client(cluster.scheduler_address, set_as_default=False)
    closed.close()
    for module, name in (
        ("modes", "Prepared"),
        ("layout.ties", "connected_ties"),
        ("cluster.api", "Neighbourhoods"),
        ("shape_groups", "_masks"),
    ):
        monkeypatch.setattr(import_module(f"hypermodes.{module}"), name, None)
    for begin in everything_that_takes_a_client(hypergraph, closed):
        with pytest.raises(
            ConnectionError, match="client: expected one that is connected; this one is closed"
        ):
            begin()


def test_an_address_where_no_scheduler_answers_is_named_before_any_work_is_done(
    client, cluster, hypergraph, monkeypatch
):
    """Nobody, a server that never says a word (as web pages do), or a worker."""
    monkeypatch.setattr("hypermodes.clusters.ANSWER", 1)
    worker = next(iter(client.ncores()))
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        socket.socket() as nobody,
    ):
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        unheard, unseen = (f"tcp://127.0.0.1:{there.getsockname()[1]}" for there in (silent, nobody))
        for address, told in (
            (unheard, f"no Dask scheduler answers at '{unheard}'; start one"),
            (unseen, f"no Dask scheduler answers at '{unseen}'; start one"),
            (worker, f"at '{worker}' is a Worker of Dask; give the address of the scheduler"),
        ):
            for begin in everything_that_takes_a_client(hypergraph, address):
                with pytest.raises(ConnectionError, match=f"^client: {told}"):
                    begin()


def test_the_bar_says_where_the_dashboard_is(client, cluster, hypergraph, capsys):
    pytest.importorskip("tqdm", reason="needs tqdm: pip install hypermodes[progress]")
    for way in (client, cluster.scheduler_address):
        hm.find_modes(hypergraph, client=way, progress=True)
        told = capsys.readouterr().err
        assert told.startswith(f"Dask dashboard: {client.dashboard_link}\n")
        assert "shifting: 100%" in told
    hm.find_modes(hypergraph, progress=True)
    assert "dashboard" not in capsys.readouterr().err


def test_nothing_is_kept_when_joblib_worked_in_this_process(hypergraph, expected):
    assert_same(hm.find_modes(hypergraph, client="joblib"), expected)
    assert not executors._KEPT


@pytest.mark.parametrize("client", [None, "joblib"])
def test_a_number_of_threads_that_is_none_is_refused_before_the_work(hypergraph, client):
    with pytest.raises(ValueError, match="n_jobs"):
        hm.find_modes(hypergraph, client=client, n_jobs=0)


class Class:
    scatter = submit = ncores = None


@pytest.mark.parametrize("client", ["inproc://nowhere", "inproc:", ThreadPoolExecutor(1), Class])
def test_what_is_no_client_gets_no_wrong_advice(hypergraph, client):
    with pytest.raises(ValueError, match=r"client: expected a dask\.distributed\.Client") as told:
        hm.find_modes(hypergraph, client=client)
    assert "local_cluster" not in str(told.value)
