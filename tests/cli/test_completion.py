"""Completion scripts do in real shells what they say."""

import os
import shutil
import subprocess

import pytest

from hypermodes.cli.completion import bash, fish, zsh
from hypermodes.cli.parser import make_parser

_ASK_BASH = """
source "$1"; shift
compopt() { [[ $1 == +o ]] && nothing=1; return 0; }  # outside a real completion it would complain
COMP_WORDS=(hypermodes "$@"); COMP_CWORD=$#
_hypermodes
printf '%s\\n' "${COMPREPLY[@]}"
[[ -n $nothing ]] || echo FILES
"""


COMMANDS = {
    "info",
    "modes",
    "cluster",
    "query",
    "convert",
    "match",
    "saliency",
    "shapes",
    "demo",
    "reproduce",
    "completion",
}


@pytest.fixture(scope="module")
def complete_bash(tmp_path_factory):
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    script = tmp_path_factory.mktemp("completion") / "hypermodes.bash"
    script.write_text(bash(make_parser()))

    def ask(*words):
        shown = subprocess.run(
            ["bash", "-c", _ASK_BASH, "ask", str(script), *words], capture_output=True, text=True, check=True
        )
        assert shown.stderr == ""
        return set(shown.stdout.split())

    return ask


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([""], COMMANDS),
        (["mo"], {"modes"}),
        (["--v"], {"--version"}),
        (["modes", "--st"], {"--starts"}),
        (["info", "--tr"], {"--trust"}),
        (["modes", "--starts", ""], {"all", "peaks"}),
        (["modes", "--starts", "p"], {"peaks"}),
        (["modes", "--starts", "=", "p"], {"peaks"}),
        (["modes", "--starts", "="], {"all", "peaks"}),
        (["modes", "f.json", "--top", ""], set()),
        (["modes", ""], {"FILES"}),
        (["modes", "f.json", "--out", ""], {"FILES"}),
        (["cluster", "--po"], {"--points"}),
        (["completion", ""], {"bash", "zsh", "fish"}),
        (["reproduce", "f"], {"fig1", "fig5", "fig6"}),
        (["convert", "a.json", "b.hgr", "--to", "h"], {"hif", "hmetis"}),
    ],
)
def test_bash_completes(complete_bash, words, expected):
    assert complete_bash(*words) == expected


def test_every_option_is_offered(complete_bash):
    from hypermodes.cli.completion import _commands

    for command in _commands(make_parser()):
        flags = {flag for option in command.options for flag in option.flags}
        assert complete_bash(command.name, "-") == flags


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_reads_its_script(tmp_path):
    (tmp_path / "_hypermodes").write_text(zsh(make_parser()))
    code = "autoload -U compinit && compinit -u -D && source ./_hypermodes && print -r $_comps[hypermodes]"
    shown = subprocess.run(["zsh", "-fc", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (shown.stdout, shown.stderr) == ("_hypermodes\n", "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(tmp_path):
    (tmp_path / "hypermodes.fish").write_text(fish(make_parser()))
    for line, expected in (("hypermodes mo", {"modes"}), ("hypermodes modes --starts ", {"all", "peaks"})):
        shown = subprocess.run(
            ["fish", "--no-config", "-c", f"source {tmp_path}/hypermodes.fish; complete -C '{line}'"],
            capture_output=True, text=True, check=True, env={**os.environ, "HOME": str(tmp_path)},
        )  # fmt: skip
        assert {entry.split("\t")[0] for entry in shown.stdout.splitlines()} == expected
        assert shown.stderr == ""


def test_the_command_prints_the_script(run):
    assert run("completion", "zsh") == (0, zsh(make_parser()), "")
