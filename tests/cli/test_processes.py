"""Pipes, signals, terminals that lack letters, full disks, packages that are missing, bad usage."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from io import BufferedWriter, BytesIO, TextIOWrapper
from pathlib import Path

import numpy as np
import pytest

import hypermodes as hm
from hypermodes.cli import BROKEN_PIPE, main


@pytest.fixture
def printing(monkeypatch):
    """Put something else in place of standard output."""

    def to(stream):
        monkeypatch.setattr(sys, "stdout", stream)

    return to


def test_a_pipe_that_nobody_reads_ends_quietly(meetings, printing, capsys):
    ours, theirs = os.pipe()
    os.close(ours)  # as after | head
    with open(theirs, "w") as stream:
        printing(stream)
        assert main(["modes", meetings, "--json"]) == BROKEN_PIPE
    assert capsys.readouterr().err == ""


def test_points_through_pipes_and_named_pipes(shell, blobs):
    shown = shell(
        f"set -o pipefail; cat {blobs} | hypermodes cluster - --out - | cut -d, -f2 | sort | uniq -c | wc -l"
    )
    assert (shown.returncode, shown.stdout.strip(), shown.stderr) == (
        0,
        b"4",
        b"",
    )  # a header and three clusters


def test_standard_input_that_does_not_tell_its_format(run, fails, monkeypatch, meetings):
    def given(content):
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(content)))

    given(Path(meetings).read_bytes())
    assert json.loads(run("info", "-", "--json")[1])["vertices"] == 9  # JSON tells itself
    given(b"")
    assert "nothing came from standard input" in fails("modes", "-")
    given(b"hello\n")
    assert "say --format hif|csv" in fails("modes", "-")
    given(b"hello\n")
    assert "standard input" in fails("modes", "-", "--format", "hif")
    given(b"1,2\n" * 100)
    assert "raise --max-bytes" in fails("cluster", "-", "--points", "--max-bytes", "99")
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in fails("modes", "-")


def test_an_interruption_at_work_leaves_nothing(tmp_path):
    rng = np.random.default_rng(0)
    dense = np.sort(rng.random((20_000, 400)).argpartition(20, axis=1)[:, :20], axis=1)
    hm.write(hm.Hypergraph.from_edges(dense), tmp_path / "dense.npz")
    work = subprocess.Popen(
        [sys.executable, "-m", "hypermodes", "modes", "dense.npz", "--progress", "--out", "modes.csv",
         "--save", "modes.npz", "--report", "modes.html"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(hm.__file__))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What a shell runs in the background ignores interruptions, and so would all it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert work.stderr is not None
    seen = b""
    while b"shifting" not in seen:
        piece = os.read(work.stderr.fileno(), 4096)
        assert piece, seen
        seen += piece
    work.send_signal(signal.SIGINT)
    out, err = work.communicate(timeout=60)
    assert (work.returncode, out) == (130, b"")
    assert err.endswith(b"hypermodes: interrupted\n")
    assert os.listdir(tmp_path) == ["dense.npz"]


def test_an_interruption_while_writing_leaves_what_was_there(meetings, tmp_path, monkeypatch, capsys):
    def interrupted(document, *, ascii_only):
        yield "{"
        raise KeyboardInterrupt

    (tmp_path / "modes.json").write_text("old")
    before = sorted(os.listdir(tmp_path))
    monkeypatch.setattr("hypermodes.cli.documents.json_lines", interrupted)
    assert main(["modes", meetings, "--out", str(tmp_path / "modes.json")]) == 130
    assert capsys.readouterr().err == "hypermodes: interrupted\n"
    assert (tmp_path / "modes.json").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, a disk that is always full")
def test_a_full_disk_is_one_line(meetings, printing, capsys):
    with suppress(OSError), open("/dev/full", "w") as stream:  # it cannot be closed either
        printing(stream)
        assert main(["modes", meetings]) == 1
    assert capsys.readouterr().err == "hypermodes: [Errno 28] No space left on device\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, a disk that is always full")
@pytest.mark.parametrize("buffered", [False, True])
@pytest.mark.parametrize("words", [["--version"], ["--help"], ["modes", "--help"]])
def test_help_that_finds_no_room_is_one_line(words, buffered, printing, capsys):
    with suppress(OSError), open("/dev/full", "wb", buffering=0) as stream:
        printing(TextIOWrapper(BufferedWriter(stream) if buffered else stream, write_through=not buffered))
        assert main(words) == 1
    assert capsys.readouterr().err == "hypermodes: [Errno 28] No space left on device\n"


def test_a_closed_standard_output_is_nobodys_fault(meetings, printing, capsys):
    printing(None)
    for options in ([], ["--json"], ["--out", "-"]):
        assert main(["modes", meetings, *options]) == 0
    assert capsys.readouterr().err == ""


def test_terminals_that_lack_letters(tmp_path, printing):
    hm.write(hm.Hypergraph.from_edges([["日本", "żółw"], ["żółw", "é"]]), tmp_path / "far.json")
    shown = {}
    for options in ((), ("--json",), ("--out", "-")):
        bytes_out = BytesIO()
        printing(TextIOWrapper(bytes_out, encoding="latin-1"))
        assert main(["modes", str(tmp_path / "far.json"), *options]) == 0
        shown[options] = bytes_out.getvalue().decode("latin-1")
    assert "\\u65e5\\u672c" in shown[()]
    assert "é" in shown[()]
    assert set(json.loads(shown["--json",])["modes"][0]["vertices"]) == {"日本", "żółw", "é"}
    main(["modes", str(tmp_path / "far.json"), "--out", str(tmp_path / "far.csv")])
    assert "日本" in (tmp_path / "far.csv").read_text(encoding="utf-8")


def test_half_letters_do_not_stop_anything(run, tmp_path):
    (tmp_path / "half.json").write_text(
        '{"incidences": [{"edge": 1, "node": "\\ud800"}, {"edge": 1, "node": "b"}, {"edge": 2, "node": "b"}]}'
    )
    for options in (
        (),
        ("--json",),
        ("--out", "-"),
        ("--out", tmp_path / "m.json"),
        ("--out", tmp_path / "m.csv"),
    ):
        assert run("modes", tmp_path / "half.json", *options)[0] == 0
    json.loads((tmp_path / "m.json").read_text())


def _without(monkeypatch, name):
    """Let every import of a package fail, as if it were not installed."""
    for module in [known for known in sys.modules if known.split(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)


def test_without_tqdm_there_is_no_bar_unless_one_is_asked_for(run, fails, meetings, monkeypatch):
    _without(monkeypatch, "tqdm")
    monkeypatch.setattr("hypermodes.cli.terminal.find_spec", lambda name: None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert run("modes", meetings)[0] == 0
    assert "install hypermodes[progress]" in fails("modes", meetings, "--progress")


def test_without_matplotlib_only_pictures_are_missing(run, fails, blobs, monkeypatch, tmp_path):
    _without(monkeypatch, "matplotlib")
    assert run("cluster", blobs)[0] == 0
    assert "install hypermodes[plot]" in fails("demo", "--out", tmp_path / "demo")


def test_without_pyarrow_parquet_says_what_to_install(fails, monkeypatch, tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    _without(monkeypatch, "pyarrow")
    for options in ((), ("--points",)):
        assert "install hypermodes[parquet]" in fails("cluster", tmp_path / "t.parquet", *options)


def test_memory_that_runs_out_is_one_line(fails, meetings, monkeypatch):
    def greedy(*_, **__):
        raise MemoryError("Unable to allocate 7.3 PiB")

    monkeypatch.setattr("hypermodes.cli.modes.read_hypergraph", greedy)
    assert "not enough memory for this (Unable to allocate 7.3 PiB)" in fails("modes", meetings)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["modes"], "required: FILE"),
        (["modes", "x.json", "--top", "0"], "expected a whole number, 1 or more; got '0'"),
        (["modes", "x.json", "--out", "modes.xlsx"], "ends in .csv or .json"),
        (["modes", "x.json", "--report", "page.pdf"], "ends in .html"),
        (["modes", "x.json", "--format", "xml"], "invalid choice"),
        (["cluster", "x.csv", "-k", "2", "--threshold", "0.5"], "not allowed with"),
        (["cluster", "x.csv", "--threshold", "2"], "expected a share from 0 to 1"),
        (["cluster", "x.csv", "--points", "--hypergraph"], "not allowed with"),
        (["modes", "x.json", "--quiet", "--progress"], "not allowed with"),
        (["completion", "tcsh"], "invalid choice"),
        (["query", "x.json"], "expected --edge ID or --vertex ID; got neither"),
        (["convert", "x.json", "-"], "say --to"),
        (["modes", "x.json", "--json", "--out", "-"], "both want standard output"),
        ([], "required: COMMAND"),
    ],
)
def test_bad_usage_exits_with_2(capsys, arguments, message):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert said.endswith(" --help\n")


@pytest.mark.parametrize(
    "command", ["info", "modes", "cluster", "query", "convert", "demo", "reproduce", "completion"]
)
def test_help_has_examples_that_parse(capsys, command):
    from hypermodes.cli.parser import make_parser

    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    said = capsys.readouterr().out
    examples = [line for line in said.split("examples:\n")[1].splitlines() if f"hypermodes {command}" in line]
    assert examples
    for example in examples:
        words = example.split(f"hypermodes {command}", 1)[1].split("  ")[0]
        words = words.split(" | ")[0].split(" > ")[0].split(")")[0]
        assert make_parser().parse_args([command, *words.split()]).command == command


def test_help_loads_nothing_heavy(shell):
    code = (
        "import sys; from hypermodes.cli.parser import make_parser; make_parser().format_help(); "
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib', 'tqdm', 'pyarrow'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    shown = shell(f'PYTHONPATH={Path(hm.__file__).parent.parent} {sys.executable} -c "{code}"')
    assert (shown.stdout, shown.stderr) == (b"[]\n", b"")


def test_formats_of_the_command_line_are_those_of_the_library():
    from hypermodes.cli.options import HYPERGRAPH_FORMATS, POINT_FORMATS
    from hypermodes.point_tables import FORMATS

    assert sorted(HYPERGRAPH_FORMATS) == sorted(known.name for known in hm.formats())
    assert POINT_FORMATS == FORMATS


def test_a_hypergraph_for_a_standard_output_that_is_closed_is_one_line(shell, meetings):
    shown = shell(f"hypermodes convert {meetings} - --to hif >&-")
    assert (shown.returncode, shown.stderr) == (1, b"hypermodes: OUT: standard output is closed\n")
