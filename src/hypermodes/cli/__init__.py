"""The command line: one file a command. Everything heavy is imported when a command runs."""

import logging
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from hypermodes.cli.parser import make_parser
from hypermodes.cli.terminal import one_line, say

FINE, BAD_INPUT, USAGE, INTERRUPTED = 0, 1, 2, 130
BROKEN_PIPE = 141  # as the shell reports a tool that nobody listens to any more: 128 + SIGPIPE


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code; whatever users do wrong ends in one line on standard error."""
    try:
        try:
            _never_fail_to_print()
            arguments = make_parser().parse_args(argv)
            if getattr(arguments, "scheduler", None):
                for part in ("client", "batched", "core"):
                    # Dask logs a page about a scheduler that is gone, and we say it in a line.
                    logging.getLogger(f"distributed.{part}").addFilter(_nothing_of)
            with _terminated_like_interrupted():
                return int(arguments.run(arguments) or FINE)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here, where a full disk or a closed pipe is still ours to tell
    except KeyboardInterrupt:
        say("hypermodes: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        with suppress(OSError, ValueError):  # what is still buffered goes nowhere, without a complaint
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except MemoryError as error:
        detail = f" ({one_line(error)})" if str(error) else ""
        say(f"hypermodes: not enough memory for this{detail}; use a smaller file or a larger machine")
        return BAD_INPUT
    except (ValueError, ImportError, OSError) as error:
        say(f"hypermodes: {_as_on_the_line(one_line(error))}")
        return BAD_INPUT


def _as_on_the_line(message: str) -> str:
    """With the words of the command line in place of the library's."""
    message = (
        message.removeprefix("path: ")
        .replace("pass resume=", "say resume=")
        .replace("resume=True", "--resume")
    )
    return re.sub(r"^(client|results|resume): ", lambda word: f"{_OPTIONS[word[1]]}: ", message)


_OPTIONS = {"client": "--scheduler", "results": "--results", "resume": "--resume"}


def _nothing_of(record: logging.LogRecord) -> bool:
    return False


def _never_fail_to_print() -> None:
    """Write characters that the terminal has not as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM unwind as Ctrl-C does, so that temporary files are removed."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not in the main thread: signals are somebody else's
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
