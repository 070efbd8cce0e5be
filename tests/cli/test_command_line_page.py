"""docs/command-line.md is true: its commands run, in order, and print what it shows."""

import doctest
import re
import shlex
from pathlib import Path

from hypermodes.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
FILES = re.compile(r"<!-- file: (\S+) -->\n```\n(.*?)```", re.DOTALL)
CONSOLES = re.compile(r"```console\n(.*?)```", re.DOTALL)
OPTIONS = doctest.ELLIPSIS


def played(page, folder, capsys, monkeypatch):
    """Every command of a page with what it shows and what it really prints."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    for name, content in FILES.findall(page):
        Path(name).write_text(content)
    Path("pairs.txt").write_text("1 2\n2 3\n")
    for block in CONSOLES.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            words = shlex.split(command)
            assert words[0] == "hypermodes"
            main(words[1:])
            captured = capsys.readouterr()
            yield command, shown.rstrip("\n"), (captured.out + captured.err).rstrip("\n")


def test_the_page_shows_what_commands_print(tmp_path, capsys, monkeypatch):
    commands = list(played(PAGE.read_text(), tmp_path, capsys, monkeypatch))
    assert len(commands) >= 10
    for command, shown, printed in commands:
        same = doctest.OutputChecker().check_output(shown + "\n", printed + "\n", OPTIONS)
        assert same, f"{command}\n{printed}"
