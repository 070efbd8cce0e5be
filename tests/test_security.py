"""SECURITY.md: every test that it names is there, and what no other test holds."""

import re
from pathlib import Path

import hypermodes as hm
from hypermodes.cli import main

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
ESCAPES = (
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "over\rwritten",
    "up\x1b[A",
    "\x9b2J",
    "\u202eturned",
    "bell\x07",
)


def test_every_test_that_the_page_names_is_there():
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)
    assert len(named) >= 20
    for file, test in named:
        text = (ROOT / file).read_text("utf-8")
        assert not test or re.search(rf"^def {test}\(", text, flags=re.MULTILINE), (file, test)


def test_every_statement_about_what_is_not_trusted_names_its_tests():
    table = PAGE.split("## What is not trusted")[1].split("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 8
    for row in rows:
        assert "`tests/" in row.split("|")[-2], row


def test_names_do_not_command_the_terminal(tmp_path, capsys):
    """Neither tables nor errors pass control characters on, nor marks that turn the direction of writing."""
    path = tmp_path / "hostile.hif.json"
    hm.write(hm.Hypergraph.from_edges({name: [name, "b", "c"] for name in ESCAPES}), path)
    commands = [
        ["info", path],
        ["modes", path],
        ["cluster", path],
        ["query", path, "--edge", ESCAPES[0]],
        ["query", path, "--vertex", "\x1b[31mnobody"],
        ["convert", path, tmp_path / "\x1b[31mname.hgr"],
        ["info", tmp_path / "\x1b[31mnobody.csv"],
    ]
    for command in commands:
        main([str(word) for word in command])
        for text in capsys.readouterr():
            assert text == "".join(c for c in text if c.isprintable() or c == "\n"), command
