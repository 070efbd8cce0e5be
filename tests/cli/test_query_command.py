"""`hypermodes query` and `hypermodes convert`: one id, one file; near misses and losses are told."""

import csv
import gzip
import json
from pathlib import Path

import pytest

import hypermodes as hm
from hypermodes.cli.identifiers import find_label, suggestions


def test_the_mode_around_vertices_and_hyperedges(run, meetings):
    code, out, err = run("query", meetings, "--vertex", "ann", "--edge", "chess", "gardening")
    assert (code, err) == (0, "")
    chess, gardening, ann = out.split("\n\n")
    assert chess.startswith("hyperedge chess\n")
    assert "2: chess, lunch" in chess or "2: lunch, chess" in chess
    assert gardening == "hyperedge gardening: in no mode, it touches no other hyperedge"
    assert ann.startswith("vertex ann\n")
    assert "certificate: holds: every small move lowers the density" in ann


def test_answers_as_json_and_csv(run, meetings, tmp_path):
    asked = ("query", meetings, "--vertex", "ann", "zoe", "--edge", "chess", "--names", "name")
    document = json.loads(run(*asked, "--json")[1])
    assert list(document) == ["command", "version", "file", "hypergraph", "answers"]
    kinds = [(answer["kind"], answer["id"]) for answer in document["answers"]]
    assert kinds == [("hyperedge", "chess"), ("vertex", "ann"), ("vertex", "zoe")]
    assert all(0 <= answer["strength"] <= 1 for answer in document["answers"])
    chess, ann, zoe = document["answers"]
    seeker = hm.Seeker(hm.read(meetings))
    assert chess["mode"]["density"] == seeker.around("chess").density
    assert ann["mode"]["density"] == seeker.around_vertex("ann").density
    assert zoe["mode"] is None
    rows = list(csv.DictReader(run(*asked, "--out", "-")[1].splitlines()))
    assert [row["density"] for row in rows] == [
        str(chess["mode"]["density"]),
        str(ann["mode"]["density"]),
        "",
    ]
    assert rows[1]["names"].split(";") == ann["mode"]["names"]


def test_a_vertex_may_be_asked_for_by_name(run, meetings):
    assert run("query", meetings, "--vertex", "Ann", "--names", "name")[1].startswith("vertex ann (Ann)\n")


def test_unknown_ids_are_met_with_suggestions(fails, meetings):
    assert fails("query", meetings, "--vertex", "anne") == "vertex: there is no 'anne'; did you mean 'ann'?"
    assert "did you mean 'ann'?" in fails("query", meetings, "--vertex", "ANN")
    assert "did you mean 'planning'?" in fails("query", meetings, "--edge", "planing")
    assert "known ones are" in fails("query", meetings, "--vertex", "zzzzzzz")


@pytest.mark.parametrize(
    ("text", "labels", "found"),
    [
        ("7", range(10), 7),
        ("7", (5, 6, 7), 7),
        ("7", ("5", "6", "7"), "7"),
        ("007", ("7", "007"), "007"),
        ("1.5", (1.5, 2.5), 1.5),
        ("None", (None, "x"), None),
        ("(1, 'a')", ((1, "a"), 2), (1, "a")),
        ('"7"', (7, "7"), "7"),
        ("-3", (-3, 3), -3),
        ("", ("", "a"), ""),
    ],
)
def test_ids_are_found_whatever_they_are(text, labels, found):
    assert find_label(text, labels, "vertex") == found


def test_ids_that_may_be_two_things_are_not_guessed():
    with pytest.raises(ValueError, match=r"'7' is both a text and a number here; write '\"7\"' for the text"):
        find_label("7", (7, "7"), "vertex")
    with pytest.raises(ValueError, match="whole numbers, 0 to 9"):
        find_label("10", range(10), "vertex")


def test_suggestions_are_quick_among_many():
    labels = [f"vertex-{k}" for k in range(200_000)]
    assert "vertex-17" in suggestions("Vertex-17", labels)
    assert len(suggestions("vertx-17", labels)) <= 3


def test_ids_that_look_like_options_can_be_asked_for(run, tmp_path):
    hm.write(hm.Hypergraph.from_edges({"-x": ["-1", "--json"], "b": ["--json", "c"]}), tmp_path / "odd.json")
    assert run("query", tmp_path / "odd.json", "--vertex=--json", "--edge=-x")[0] == 0
    assert run("query", tmp_path / "odd.json", "--vertex", "-1")[0] == 0


# -- convert --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.hif.json", "out.json.gz", "out.npz"])
def test_what_keeps_everything_is_written(run, meetings, tmp_path, name):
    assert run("convert", meetings, tmp_path / name) == (0, "", "")
    again = hm.read(tmp_path / name)
    assert again == hm.read(meetings)
    assert again.annotations == hm.read(meetings).annotations


@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("out.hgr", ("ids of vertices", "ids of hyperedges", "attributes of vertices", "metadata")),
        ("out.txt", ("1 vertex in no hyperedge", "ids of hyperedges", "attributes of vertices")),
        ("out.csv", ("attributes of vertices", "metadata")),
    ],
)
def test_what_would_be_lost_is_told_and_nothing_written(run, fails, meetings, tmp_path, name, lost):
    message = fails("convert", meetings, tmp_path / name)
    assert all(what in message for what in lost)
    assert message.endswith("say --lossy to write it anyway")
    assert not (tmp_path / name).exists()
    code, out, err = run("convert", meetings, tmp_path / name, "--lossy")
    assert (code, out, err.count("\n")) == (0, "", 1)
    assert err.startswith("hypermodes: lost: ")
    assert hm.read(tmp_path / name).n_edges == 6


def test_soft_incidence_and_weights_are_losses(fails, run, tmp_path):
    soft = hm.Hypergraph.from_edges(
        [{0: 0.5, 1: 1.0}, {1: 1.0, 2: 0.25}], weights=[1.5, 2.0], vertices=range(3)
    )
    hm.write(soft, tmp_path / "soft.npz")
    message = fails("convert", tmp_path / "soft.npz", tmp_path / "soft.hgr")
    assert "soft incidence p(v|e)" in message
    assert "weights of hyperedges" in message
    assert run("convert", tmp_path / "soft.npz", tmp_path / "soft.csv")[0] == 0
    assert hm.read(tmp_path / "soft.csv") == soft


def test_directions_are_kept_where_they_can_be(run, fails, tmp_path):
    (tmp_path / "directed.json").write_text(
        '{"network-type": "directed", "incidences": [{"edge": 1, "node": "a", "direction": "head"}, '
        '{"edge": 1, "node": "b", "direction": "tail"}]}'
    )
    assert "say --directed ignore" in fails("convert", tmp_path / "directed.json", tmp_path / "out.json")
    ignore = ("--directed", "ignore")
    assert run("convert", tmp_path / "directed.json", tmp_path / "out.json", *ignore) == (0, "", "")
    assert '"head"' in (tmp_path / "out.json").read_text()
    message = fails("convert", tmp_path / "directed.json", tmp_path / "out.csv", *ignore)
    assert "directions of incidences" in message


def test_convert_there_and_back_through_pipes(shell, meetings, tmp_path):
    there, back = "convert - - --from hif --to npz", "convert - - --from npz --to hif"
    shown = shell(f"cat {meetings} | hypermodes {there} | hypermodes {back}")
    assert (shown.returncode, shown.stderr) == (0, b"")
    (tmp_path / "back.json").write_bytes(shown.stdout)
    assert hm.read(tmp_path / "back.json") == hm.read(meetings)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("out.xyz",), "the ending of"),
        (("missing/out.json",), "there is no folder"),
    ],
)
def test_what_cannot_be_converted_ends_in_one_line(fails, meetings, tmp_path, arguments, message):
    assert message in fails("convert", meetings, tmp_path / arguments[0])
    assert message not in fails("convert", tmp_path / "nowhere.json", tmp_path / "out.json")
    assert "is the input" in fails("convert", meetings, meetings)


def test_hostile_files_end_in_one_line(fails, meetings, tmp_path):
    whole = Path(meetings).read_bytes()
    files = {
        "cut.json": whole[:100],
        "deep.json": b"[" * 100_000,
        "empty.json": b"",
        "list.json": b"[]",
        "text.hgr": b"hello",
        "noise.npz": bytes(range(256)),
        "cut.json.gz": gzip.compress(whole)[:50],
        "noise.csv": bytes(range(256)),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        for command in (("info",), ("modes",), ("query", "--edge", "x"), ("cluster", "--hypergraph")):
            assert name in fails(command[0], tmp_path / name, *command[1:])
    assert "raise --max-bytes" in fails("info", _bomb(tmp_path), "--max-bytes", "1000")


def test_advice_is_for_the_command_line(run, fails, tmp_path):
    (tmp_path / "twice.csv").write_text("edge,vertex,weight\na,x,0.5\na,x,0.25\na,y,1\nb,y,1\n")
    assert "say --duplicates last" in fails("info", tmp_path / "twice.csv")
    assert run("info", tmp_path / "twice.csv", "--duplicates", "sum")[0] == 0
    (tmp_path / "file.unknown").touch()
    assert "say --format" in fails("info", tmp_path / "file.unknown")


def _bomb(folder):
    (folder / "bomb.json.gz").write_bytes(gzip.compress(b" " * 10_000_000))
    return folder / "bomb.json.gz"


def test_a_folder_or_nothing_at_all_in_place_of_a_file(fails, tmp_path):
    for command in ("info", "modes", "cluster"):
        assert "No such file" in fails(command, tmp_path / "nothing.json")
        (tmp_path / "folder.json").mkdir(exist_ok=True)
        told = fails(command, tmp_path / "folder.json")
        assert "is a folder, but none that" in told or "Is a directory" in told


def test_hyperedges_are_found_and_called_by_name_too(run, meetings):
    _, out, _ = run("query", meetings, "--edge", "CHESS", "--names", "name")
    assert out.startswith("hyperedge chess (CHESS)\n")
    assert "hyperedges:  2: LUNCH, CHESS" in out
