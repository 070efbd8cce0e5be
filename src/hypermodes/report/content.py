"""What a report says, before anybody asks how it looks: text, one table, one picture, one tree.

Every kind of result is turned into a `Report` (`of_modes`, `of_points`, `of_groups`), and `page` turns a
`Report` into HTML without knowing where it came from. All sizes are bounded here: a page that a phone can
open holds some thousand rows, whatever the size of the hypergraph, and says what it left out.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from hypermodes.report.wording import quantity, shown

MOST_ROWS = 5_000  # rows of the table
MOST_NAMES = 40  # members named in a row
MOST_TEXT = 1_200_000  # characters of all the names in a list, which bounds the page at a few megabytes
_POSITION = 6  # characters that a position takes
MOST_TOP = 8  # groups told in full before any interaction


@dataclass(frozen=True)
class Noun:
    """What a row of the table is called: one mode, two modes."""

    one: str
    many: str

    def counted(self, n: int) -> str:
        """The number with the noun."""
        return f"{quantity(n)} {self.one if n == 1 else self.many}"


@dataclass(frozen=True)
class Verdict:
    """What a certificate says in words; ``good`` if it holds."""

    word: str
    sentence: str
    good: bool


@dataclass(frozen=True)
class Column:
    """Numbers, one a row; None where there is none. Columns that are not ``main`` give way on a phone."""

    title: str
    values: list[float | int | None]
    kind: Literal["count", "share", "number"] = "number"
    help: str = ""
    main: bool = False

    @classmethod
    def of(cls, title: str, values: Any, kind: Literal["count", "share", "number"], **more: Any) -> "Column":
        """Take an array; what is not finite is not there, and six digits are enough to read."""
        numbers = np.asarray(values)
        if kind == "count":
            return cls(title, [int(x) for x in numbers.tolist()], kind, **more)
        return cls(
            title, [float(f"{x:.6g}") if np.isfinite(x) else None for x in numbers.tolist()], kind, **more
        )


@dataclass(frozen=True)
class Listing:
    """Who is in each row, strongest first: names kept once, rows as positions among them.

    ``totals`` are the true numbers, of which a row may name fewer. ``rest`` are members that are not shown,
    but found by the filter.
    """

    title: str
    names: list[str]
    rows: list[list[int]]
    totals: list[int]
    rest: list[list[int]]

    @classmethod
    def of(
        cls, title: str, strength: sp.csr_array, name: Callable[[int], Hashable], *, find_all: bool = False
    ) -> "Listing":
        """Name the strongest entries of each row of a matrix, and to be found the rest, as there is room."""
        names: list[str] = []
        place: dict[int, int] = {}
        room = MOST_TEXT

        def told(items: np.ndarray, each: int) -> list[int]:
            nonlocal room
            row: list[int] = []
            for item in items.tolist():
                text = shown(name(item)) if item not in place else ""
                if room < len(text) + each:
                    break
                room -= len(text) + each
                if item not in place:
                    place[item] = len(names)
                    names.append(text)
                row.append(place[item])
            return row

        members = [strongest(strength, k) for k in range(strength.shape[0])]
        rows = [told(items[:MOST_NAMES], 0) for items in members]
        rest = [told(items[MOST_NAMES:], _POSITION) if find_all else [] for items in members]
        return cls(title, names, rows, np.diff(strength.indptr).tolist(), rest)


def strongest(strength: sp.csr_array, k: int) -> np.ndarray:
    """Columns of row k from the largest entry to the smallest; of equal ones, the first."""
    part = slice(strength.indptr[k], strength.indptr[k + 1])
    items, values = strength.indices[part], strength.data[part]
    top = values.max(initial=1e-300)
    return items[np.lexsort((items, -np.round(values / top, 9)))]  # equal but for rounding is equal


@dataclass(frozen=True)
class Report:
    """All that a page shows.

    Attributes
    ----------
    title, headline : str
        Its name, and what was found, in one sentence.
    story : sentences
        What that means, for somebody who has never heard of it.
    facts : pairs
        The input, as name and value.
    noun : Noun
        What a row is.
    columns, listings, verdicts, verdict_of
        The table: numbers, members, and the verdict of each row as a position among the verdicts.
    top : rows
        Those to tell first.
    picture, tree : plain values or None
        What the scripts draw; ``picture["kind"]`` says how.
    notes : sentences
        What the page leaves out.
    """

    title: str
    headline: str
    story: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    noun: Noun
    columns: tuple[Column, ...]
    listings: tuple[Listing, ...]
    verdicts: tuple[Verdict, ...]
    verdict_of: list[int]
    top: list[int]
    picture: dict[str, Any] | None
    tree: dict[str, Any] | None
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """What the scripts need, as JSON has it."""
        return {
            "noun": vars(self.noun),
            "columns": [vars(column) for column in self.columns],
            "listings": [vars(listing) for listing in self.listings],
            "verdicts": [vars(verdict) for verdict in self.verdicts],
            "verdict": self.verdict_of,
            "picture": self.picture,
            "tree": self.tree,
        }
