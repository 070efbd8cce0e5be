"""Ids as people type them, looked up among labels of any kind; near misses are suggested."""

import difflib
import json
from collections.abc import Hashable, Mapping, Sequence

from hypermodes.cli.terminal import listed

_LOOKED_AT = 20_000  # labels compared letter by letter for a suggestion


def find_label(
    text: str, labels: Sequence[Hashable], what: str, names: Mapping[Hashable, object] | None = None
) -> Hashable:
    """The label that is written like this, whether it is text, a number or anything else; or named like this.

    Where a text and a number are written alike, quotes tell: ``'"7"'`` is the text, ``7`` is both.
    """
    named = [label for label, name in (names or {}).items() if str(name) == text]
    if len(named) == 1:
        return named[0]
    if isinstance(labels, range) and not names:
        if text.isascii() and text.isdecimal() and len(text) < 19 and int(text) in labels:
            return int(text)
        raise ValueError(
            f"{what}: there is no {text!r}; ids in this file are whole numbers, 0 to {len(labels) - 1}"
        )
    alike = [label for label in labels if label == text or str(label) == text]
    if not alike:
        quoted = _quoted(text)
        alike = [quoted] if quoted is not None and quoted in set(labels) else []
    if len(alike) > 1:
        numbers = [label for label in alike if not isinstance(label, str)]
        raise ValueError(
            f"{what}: {text!r} is both a text and a number here; write '\"{text}\"' for the text"
            if len(numbers) == 1
            else f"{what}: {text!r} may be any of {', '.join(map(repr, alike))}"
        )
    if alike:
        return alike[0]
    near = suggestions(text, [*labels, *(names or {}).values()])
    hint = (
        f"did you mean {' or '.join(map(repr, near))}?"
        if near
        else f"known ones are {listed(list((names or {}).values())[:5] or labels[:5], 60)}"
    )
    raise ValueError(f"{what}: there is no {text!r}; {hint}")


def _quoted(text: str) -> str | None:
    try:
        value = json.loads(text) if text.startswith('"') else None
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def suggestions(text: str, labels: Sequence[object]) -> list[str]:
    """Up to three labels that are written much like this."""
    written = [str(label) for label in labels]
    wanted = text.casefold().strip()
    same = [one for one in written if one.casefold().strip() == wanted]
    if same:
        return same[:3]
    if len(written) > _LOOKED_AT:  # those of about this length, which start alike if they are still too many
        written = [one for one in written if abs(len(one) - len(text)) <= 2]
        if len(written) > _LOOKED_AT:
            written = [one for one in written if one[:1].casefold() == wanted[:1]][:_LOOKED_AT]
    near = difflib.get_close_matches(wanted, [one.casefold() for one in written], n=3, cutoff=0.7)
    by_fold = {one.casefold(): one for one in reversed(written)}
    found = [by_fold[one] for one in dict.fromkeys(near)]
    return found or [one for one in written if wanted and wanted in one.casefold()][:3]
