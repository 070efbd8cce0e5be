"""``njit`` whose cache may fail: compiled code that cannot be kept is compiled anew, and one line says so.

numba refuses to define a function that is to be cached where no folder can be written to (a read-only
installation and home), and fails in the middle of a call where the disk is full. It also looks only at the
file of the function that is called, not at those of the functions it calls: after an update, old code would
go on.
"""

import hashlib
import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba


def njit(**options: Any) -> Callable[[Any], Any]:
    """As numba's, but kept code counts only for exactly these sources, and nothing depends on keeping it."""
    keeps = options.pop("cache", False)

    def decorate(function: Any) -> Any:
        compiled = numba.njit(**options)(function)
        if keeps and hasattr(compiled, "enable_caching"):  # not so where NUMBA_DISABLE_JIT is set
            reason = None
            try:
                compiled.enable_caching()
                compiled._cache._cache_file._source_stamp = _sources()
            except RuntimeError:  # "no locator available"
                reason = "no folder for it can be written to"
            compiled._cache = _MayFail(compiled._cache, reason)
        return compiled

    return decorate


class _MayFail:
    """A cache of numba that is as good as empty, or has no room, where it cannot be read or written."""

    def __init__(self, kept: Any, reason: str | None) -> None:
        self._kept, self._reason = kept, reason

    def load_overload(self, signature: Any, target: Any) -> Any:
        try:
            return self._kept.load_overload(signature, target)
        except Exception:  # damaged files make unpickling raise almost anything
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        reason = self._reason
        try:
            try:
                self._kept.save_overload(signature, result)
            except OSError:
                raise
            except Exception:  # it looks at what is there first, which may be damaged: begin anew
                self._kept.flush()
                self._kept.save_overload(signature, result)
        except OSError as error:
            reason = f"{self._kept.cache_path!r}: {error.strerror or error}"
        if reason is not None:
            _say(reason)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kept, name)


@cache
def _say(reason: str) -> None:
    """Once a process. A log, which by default goes to standard error: a warning could be made an error."""
    logging.getLogger("hypermodes").warning(
        "hypermodes: compiled code cannot be kept (%s): every process compiles anew, which takes seconds; "
        "set NUMBA_CACHE_DIR to a folder of yours that can be written to",
        reason,
    )


@cache
def _sources() -> bytes:
    """A digest of all kernels, names and contents."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.name}:{len(content)}:".encode() + content)
    return digest.digest()
