"""JSON that UTF-8 can hold: a name may have half of a surrogate pair, which only JSON can spell."""

import json
from typing import Any


def json_text(value: Any, *, allow_nan: bool = False, separators: tuple[str, str] | None = None) -> str:
    """JSON with letters as they are; all in ASCII where some could not be written: it reads back the same."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=allow_nan, separators=separators)
    return text if is_unicode(text) else json.dumps(value, allow_nan=allow_nan, separators=separators)


def is_unicode(text: str) -> bool:
    """Whether it has a UTF-8 form."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
