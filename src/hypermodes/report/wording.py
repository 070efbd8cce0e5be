"""Names and numbers as people read them, and the words for a certificate."""

from collections.abc import Hashable, Sequence

import numpy as np

from hypermodes.cluster.levels import Reading

LONGEST = 80  # characters of a name that are shown
_JOINERS = "\u200c\u200d"  # invisible, but part of how Persian, Indic scripts and emoji are written


def shown(label: Hashable, longest: int = LONGEST) -> str:
    r"""A label as text that cannot disturb what is around it.

    Line ends, control characters, lone surrogates and the marks that turn the direction of writing are shown
    as escapes (``\u202e``), and what is too long is cut, with its length.

    Examples
    --------
    >>> shown(("a", 1)), shown("two\nlines"), shown("x" * 10_000)[-21:]
    ("('a', 1)", 'two\\nlines', 'x… (10000 characters)')
    """
    try:
        text = label if isinstance(label, str) else str(label)
    except Exception:  # any object may be a label, and its __str__ is not ours
        text = f"<{type(label).__name__}>"
    visible = "".join(map(_visible, text[:longest]))
    return visible if len(text) <= longest else f"{visible}… ({len(text)} characters)"


def _visible(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    return character.encode("unicode_escape").decode("ascii")


def quantity(n: float) -> str:
    """A whole number with its thousands apart."""
    return f"{int(n):,}"


def number(x: float | None) -> str:
    """Four digits of a number, two where they do not matter; a dash for none."""
    if x is None or not np.isfinite(x):
        return "–"
    if float(x).is_integer() and abs(x) < 1e15:
        return quantity(x)
    return f"{x:.4g}" if 1e-3 <= abs(x) < 1e6 else f"{x:.1e}"


def span(values: np.ndarray) -> str:
    """Smallest and largest of some numbers."""
    low, high = number(float(values.min())), number(float(values.max()))
    return low if low == high else f"{low} to {high}"


def share(part: float, whole: float) -> str:
    """A part in percent; never 0 % of something or 100 % of less than all."""
    percent = 100 * part / whole if whole else 0.0
    if part in (0, whole):
        said = f"{percent:.0f}"
    else:
        said = "below 0.1" if percent < 0.1 else "above 99.9" if percent > 99.9 else f"{percent:.1f}"
    return f"{said}\u00a0%"  # on one line


def levels_line(levels: Sequence[Reading]) -> str:
    """Which other numbers of clusters stand out; empty if none does."""
    others = [f"{reading.n_clusters:,}" for reading in levels if not reading.is_answer]
    if not others:
        return ""
    numbers = others[0] if len(others) == 1 else f"{', '.join(others[:-1])} and {others[-1]}"
    return (
        f"The tree stands out at other levels, too: {numbers} {'cluster' if others == ['1'] else 'clusters'}."
    )
