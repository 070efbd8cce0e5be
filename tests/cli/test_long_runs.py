"""`hypermodes modes` on a folder, on a cluster, and taken up again: the same answer, or one line why not."""

import json

import pytest

import hypermodes as hm
from hypermodes.folder import digest_of_meta


@pytest.fixture
def folder(meetings, tmp_path):
    hm.write_folder(hm.read(meetings), tmp_path / "meetings")
    return str(tmp_path / "meetings")


def test_a_folder_is_read_as_a_file_is(run, meetings, folder):
    code, out, err = run("modes", folder)
    assert (code, err) == (0, "")
    assert out.splitlines()[1:] == run("modes", meetings)[1].splitlines()[1:]
    for command in (("info",), ("cluster", "-k", 2), ("query", "--vertex", "dan")):
        name, *options = command
        code, out, err = run(name, folder, *options)
        assert (code, err) == (0, "")
        assert out.splitlines()[2:4] == run(name, meetings, *options)[1].splitlines()[2:4]


def test_a_folder_that_was_tampered_with_is_refused(run, folder):
    with open(f"{folder}/edge_vertices.npy", "r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x7f")
    code, out, err = run("modes", folder)
    assert code != 0
    assert out == ""
    assert "edge_vertices.npy is not as it was written" in err
    assert err.count("\n") == 1


def test_a_folder_of_your_own_is_not_checked(run, meetings, folder, fails):
    """Here nothing but the digest of a column is wrong, which does not change what is found."""
    expected = run("modes", folder)
    with open(f"{folder}/meta.json", "r+b") as file:
        meta = json.load(file)
        meta["columns"]["degrees"][2] = "0" * 32
        file.seek(0)
        file.write(json.dumps(meta | {"digest": digest_of_meta(meta)}, indent=1).encode())
    for command in (("info",), ("modes",), ("cluster", "-k", 2), ("query", "--vertex", "dan")):
        name, *options = command
        assert "degrees.npy is not as it was written" in fails(name, folder, *options)
        assert run(name, folder, *options, "--trust")[0] == 0
    assert run("modes", folder, "--trust") == expected
    assert "degrees.npy is not as it was written" in fails("convert", folder, f"{folder}.csv", "--lossy")
    assert run("convert", folder, f"{folder}.csv", "--lossy", "--trust")[0] == 0
    assert "--trust: " in fails("modes", meetings, "--trust")


READING = [
    ("--columns", "a,b"), ("--header",), ("--no-header",), ("--directed", "ignore"),
    ("--above-one", "binary"), ("--nonpositive", "aside"), ("--duplicates", "sum"), ("--ids", "text"),
    ("--max-bytes", "9"),
]  # fmt: skip


@pytest.mark.parametrize("option", [("--format", "hif"), *READING], ids=" ".join)
@pytest.mark.parametrize("command", [("info",), ("modes",), ("cluster",), ("query", "--vertex", "dan")])
def test_options_that_say_nothing_of_a_folder_are_refused(folder, fails, command, option):
    name, *options = command
    line = fails(name, folder, *options, *option)
    assert line.startswith(f"{option[0]}: {folder!r} is read as the folder of a hypergraph, where this says")


@pytest.mark.parametrize("option", [("--from", "hif"), *READING], ids=" ".join)
def test_nor_are_they_passed_over_where_a_folder_is_converted(folder, fails, tmp_path, option):
    assert fails("convert", folder, tmp_path / "x.csv", *option).startswith(f"{option[0]}: ")
    assert not (tmp_path / "x.csv").exists()


def test_points_are_in_no_folder(blobs, fails):
    assert fails("cluster", blobs, "--trust").startswith(f"--trust: {blobs!r} is read as a table of points")


def test_a_run_is_kept_and_taken_up_again(run, meetings, folder, tmp_path):
    kept = tmp_path / "kept"
    code, out, _ = run("modes", meetings, "--results", kept)
    assert code == 0
    assert run("modes", meetings, "--results", kept, "--resume") == (0, out, "")
    code, out, err = run("modes", meetings, "--results", kept)
    assert code != 0
    assert "holds a run already; say --resume" in err
    code, out, err = run("modes", meetings, "--results", kept, "--resume", "--starts", "peaks")
    assert code != 0
    assert "is another one: not the same starts" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--resume",), "say --results FOLDER"),
        *(
            (("--scheduler", address), f"expected tcp://HOST:PORT; got {address!r}")
            for address in (
                "here",
                "http://127.0.0.1:8786",
                "tcp://127.0.0.1",
                "tcp://:8786",
                "tcp://it:port",
                "",
            )
        ),
    ],
)
def test_misuse_is_told(run, meetings, options, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        run("modes", meetings, *options)
    assert message in capsys.readouterr().err


def test_a_cluster_is_asked_and_gives_the_same(run, meetings, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install hypermodes[dask]")
    monkeypatch.setattr("hypermodes.clusters.ANSWER", 1)
    code, _, err = run("modes", meetings, "--scheduler", "tcp://127.0.0.1:9")
    assert code != 0
    assert err.startswith(
        "hypermodes: --scheduler: no Dask scheduler answers at 'tcp://127.0.0.1:9'; start one"
    )
    assert err.count("\n") == 1
    monkeypatch.undo()
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        protocol="tcp://",
        processes=False,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        answers = [
            run(name, meetings, "--scheduler", cluster.scheduler_address) for name in ("modes", "cluster")
        ]
    assert answers == [run("modes", meetings), run("cluster", meetings)]
