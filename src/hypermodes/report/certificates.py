"""Certificates in words: the same few sentences for every kind of result, and their numbers as columns."""

from collections.abc import Sequence

import numpy as np

from hypermodes.report.content import Column, Verdict
from hypermodes.result import Mode, ModeTable, Status

CERTIFIED = Verdict(
    "certified",
    "Checked: a true local maximum of the density. Its hyperedges agree with each other (spread 0), no "
    "hyperedge outside would raise the density (excess 0), and every small change lowers it (curvature below "
    "0).",
    True,
)
FLAT = Verdict(
    "certified, flat",
    "Checked: a local maximum of the density, on a plateau. No small change raises the density, but some "
    "leave it as it is (curvature 0): its shares are one choice among equals.",
    True,
)
NONE = Verdict("no mode", "Nothing to certify: no hyperedge here shifts to a mode.", False)
_OTHERS = {
    status: Verdict(status.name.lower().replace("_", " "), status.value, False)
    for status in Status
    if status is not Status.CERTIFIED
}
VERDICTS = (CERTIFIED, FLAT, NONE, *_OTHERS.values())

PROOF = ("Spread", "Excess", "Curvature")  # columns that say why a verdict holds
MEANING = (
    "A mode is certified when four numbers, which anyone can compute again from the mode and the input, say "
    "that it is a local maximum of the density. Spread: how far its hyperedges are from agreeing, 0 if they "
    "agree. Excess: how much the best hyperedge left out would add, 0 if none would. Curvature: how the "
    "density bends inside the mode, below 0 if every change lowers it, 0 on a plateau, above 0 if it is no "
    "maximum; the fourth looks the same way at hyperedges outside that tie. A dash: not there to measure."
)


def table_of(modes: Sequence[Mode | None]) -> tuple[np.ndarray, ModeTable]:
    """The modes there are as columns, and the rows they belong to."""
    rows = np.array([k for k, mode in enumerate(modes) if mode is not None], dtype=np.int64)
    return rows, ModeTable.of(mode for mode in modes if mode is not None)


def verdict_of(table: ModeTable, rows: np.ndarray, n_rows: int) -> list[int]:
    """Position of the verdict of each row; rows without a mode have none."""
    limit = -table.tol * table.density
    strict = (table.curvature < limit) & (table.tie_curvature < limit)
    place = {verdict.word: k for k, verdict in enumerate(VERDICTS)}
    words = {status.name: verdict.word for status, verdict in _OTHERS.items()}
    found = np.full(n_rows, place[NONE.word])
    for k, row in enumerate(rows.tolist()):
        certified = str(table.status[k]) == Status.CERTIFIED.name
        word = (CERTIFIED if strict[k] else FLAT).word if certified else words[str(table.status[k])]
        found[row] = place[word]
    return found.tolist()


def columns_of(table: ModeTable, rows: np.ndarray, n_rows: int, density: str) -> tuple[Column, ...]:
    """Density, spread, excess and curvature of each row; what has no mode has no numbers."""

    def spread_out(values: np.ndarray) -> np.ndarray:
        column = np.full(n_rows, np.nan)
        column[rows] = values
        return column

    return (
        Column.of(density, spread_out(table.density), "number",
                  help="F(p): how tightly its hyperedges hold together"),
        Column.of("Spread", spread_out(table.spread), "number", help="0 if its hyperedges agree"),
        Column.of("Excess", spread_out(table.excess), "number", help="0 if no hyperedge outside would help"),
        Column.of("Curvature", spread_out(table.curvature), "number", help="below 0 at a strict maximum"),
    )  # fmt: skip
