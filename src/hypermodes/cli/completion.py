"""``hypermodes completion``: scripts that complete commands and options, made from the parser itself."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from hypermodes.cli.options import Commands, command

_EXAMPLES = """\
  source <(hypermodes completion bash)                                        in ~/.bashrc
  hypermodes completion zsh > "${fpath[1]}/_hypermodes"                       then start zsh anew
  hypermodes completion fish > ~/.config/fish/completions/hypermodes.fish
"""


def add_to(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = command(
        commands,
        "completion",
        _run,
        help="print a script that completes commands and options in a shell",
        description="Print a script that completes commands, options and their values in a shell.",
        examples=_EXAMPLES,
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


def _run(arguments: argparse.Namespace) -> None:
    from hypermodes.cli.parser import make_parser

    write = {"bash": bash, "zsh": zsh, "fish": fish}[arguments.shell]
    print(write(make_parser()), end="")


@dataclass(frozen=True)
class _Option:
    """An option, or an argument without a name (then ``flags`` is empty), and what may come after it."""

    flags: tuple[str, ...]
    help: str
    values: tuple[str, ...] = ()
    is_file: bool = False
    takes_value: bool = True
    repeats: bool = False


@dataclass(frozen=True)
class _Command:
    name: str
    help: str
    options: tuple[_Option, ...]
    arguments: tuple[_Option, ...]


def _commands(parser: argparse.ArgumentParser) -> list[_Command]:
    """What the parser knows, without argparse."""
    subparsers = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    helps = {action.dest: action.help or "" for action in subparsers._choices_actions}
    found = []
    for name, one in subparsers.choices.items():
        known = [_option(action) for action in one._actions]
        found.append(
            _Command(
                name,
                helps[name],
                tuple(option for option in known if option.flags),
                tuple(option for option in known if not option.flags),
            )
        )
    return found


def _option(action: argparse.Action) -> _Option:
    meta = str(action.metavar or action.dest)
    return _Option(
        flags=tuple(action.option_strings),
        help=(action.help or "").replace("%%", "%"),
        values=tuple(map(str, action.choices or ())),
        is_file=meta.startswith(("FILE", "FOLDER")) or meta in ("IN", "OUT"),
        takes_value=action.nargs != 0,
        repeats=action.nargs == "+",
    )


# -- bash -----------------------------------------------------------------------------------------------


def bash(parser: argparse.ArgumentParser) -> str:
    """A script for bash 4.4 or newer; file names are left to readline."""
    commands = _commands(parser)
    names = " ".join(one.name for one in commands)
    return _BASH.format(
        names=names, patterns=names.replace(" ", "|"), cases="\n".join(map(_bash_case, commands))
    )


_BASH = """\
# bash completion of hypermodes; made by: hypermodes completion bash
_hypermodes() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
    local command='' options='' values='' word
    if [[ $current == '=' ]]; then
        current=''
    elif [[ $previous == '=' ]]; then
        previous=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    COMPREPLY=()
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case $word in
            {patterns}) command=$word; break ;;
        esac
    done
    case $command in
        '') options='--help --version' values='{names}' ;;
{cases}
    esac
    if [[ $current == -* ]]; then
        compopt +o default
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    elif [[ -n $values ]]; then
        compopt +o default
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
    fi
}}
complete -o default -F _hypermodes hypermodes
"""


def _bash_case(one: _Command) -> str:
    lines = [f"        {one.name})"]
    lines.append(f"            options='{' '.join(flag for option in one.options for flag in option.flags)}'")
    values = [value for argument in one.arguments for value in argument.values]
    if values:
        lines.append(f"            values='{' '.join(values)}'")
    branches = []
    for option in one.options:
        if option.takes_value:
            pattern = "|".join(option.flags)
            if option.values:
                branches.append(f"                {pattern}) values='{' '.join(option.values)}' ;;")
            elif option.is_file:
                branches.append(f"                {pattern}) return ;;")
            else:  # a value that nobody but the user knows
                branches.append(f"                {pattern}) compopt +o default; return ;;")
    if branches:
        lines += ["            case $previous in", *branches, "            esac"]
    return "\n".join([*lines, "            ;;"])


# -- zsh ------------------------------------------------------------------------------------------------


def zsh(parser: argparse.ArgumentParser) -> str:
    """A script for zsh's own completion system."""
    commands = _commands(parser)
    described = "\n".join(f"        {_quoted(f'{one.name}:{one.help}')}" for one in commands)
    cases = "\n".join(
        f"                {one.name})\n                    _arguments \\\n"
        + " \\\n".join(f"                        {spec}" for spec in _zsh_specs(one))
        + "\n                    ;;"
        for one in commands
    )
    return _ZSH.format(described=described, cases=cases)


_ZSH = """\
#compdef hypermodes
# zsh completion of hypermodes; made by: hypermodes completion zsh
_hypermodes() {{
    local context state state_descr line
    typeset -A opt_args
    local -a commands=(
{described}
    )
    _arguments -C \\
        '(- *)'{{-h,--help}}'[show help]' \\
        '(- *)--version[show the version]' \\
        '1:command:->command' \\
        '*::argument:->argument'
    case $state in
        command) _describe command commands ;;
        argument)
            case $line[1] in
{cases}
            esac
            ;;
    esac
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _hypermodes "$@"
else
    compdef _hypermodes hypermodes
fi
"""


def _zsh_specs(one: _Command) -> Iterator[str]:
    for option in one.options:
        said = _zsh_text(option.help)
        for flag in option.flags:
            star = "*" if option.repeats else ""
            yield _quoted(f"{star}{flag}[{said}]{_zsh_value(option)}")
    for number, argument in enumerate(one.arguments, 1):
        yield _quoted(f"{number}{_zsh_value(argument)}")


def _zsh_value(option: _Option) -> str:
    if not option.takes_value:
        return ""
    if option.values:
        return f":value:({' '.join(option.values)})"
    return ":file:_files" if option.is_file else ":value: "


def _zsh_text(text: str) -> str:
    for mark in "\\[]:":
        text = text.replace(mark, "\\" + mark)
    return text


# -- fish -----------------------------------------------------------------------------------------------


def fish(parser: argparse.ArgumentParser) -> str:
    """A script for fish 3 or newer."""
    commands = _commands(parser)
    lines = [
        "# fish completion of hypermodes; made by: hypermodes completion fish",
        "complete -c hypermodes -f",
        "complete -c hypermodes -n __fish_use_subcommand -s h -l help -d 'show help'",
        "complete -c hypermodes -n __fish_use_subcommand -l version -d 'show the version'",
    ]
    for one in commands:
        lines.append(
            f"complete -c hypermodes -n __fish_use_subcommand -a {one.name} -d {_fish_quoted(one.help)}"
        )
        when = f"complete -c hypermodes -n '__fish_seen_subcommand_from {one.name}'"
        for option in one.options:
            names = " ".join(
                f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags
            )
            lines.append(f"{when} {names}{_fish_value(option)} -d {_fish_quoted(option.help)}")
        for argument in one.arguments:
            lines.append(
                f"{when} -F" if argument.is_file else f"{when}{_fish_value(argument).replace(' -x', '')}"
            )
    return "\n".join(lines) + "\n"


def _fish_value(option: _Option) -> str:
    if not option.takes_value:
        return ""
    if option.values:
        return f" -x -a {_fish_quoted(' '.join(option.values))}"
    return " -r -F" if option.is_file else " -x"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
