"""Large files, read by the kernels of `_kernels.tokens` block by block; the results of the plain readers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hypermodes._kernels import tokens

LARGE = 1 << 21
"""From this many bytes on it pays: the kernels take a second to load."""

_BLOCK = 1 << 17
_FIRST_NAMES = 1 << 12


@dataclass
class Column:
    """Names of one column: a number for each row, -1 for none, and where each name first stands."""

    codes: np.ndarray
    spans: np.ndarray
    rows: np.ndarray
    """The row in which each name first appears."""

    def texts(self, content: bytes) -> list[bytes]:
        """The names as they are in the file."""
        return [content[a:b] for a, b in self.spans.tolist()]


class _Names:
    """A table of names that grows."""

    def __init__(self) -> None:
        self.table = tokens.empty_names(_FIRST_NAMES)

    def make_room(self) -> None:
        if 2 * (int(self.table.count[0]) + 1) > self.table.slots.size:
            self.table = tokens.grown_names(self.table)

    def column(self, codes: list[np.ndarray]) -> Column:
        n = int(self.table.count[0])
        found = self.table.entries[:n].astype(np.int64)
        return Column(np.concatenate(codes), found[:, 1:3], found[:, 3])


def rows(
    content: bytes, start: int, mark: str, columns: Sequence[int | None], width: int
) -> tuple[Column, Column, list[np.ndarray | None]] | None:
    """Hyperedges, vertices and the two kinds of weights of a table; None if it is not a plain one."""
    text = np.frombuffer(content, dtype=np.uint8)
    wanted = np.array([-1 if i is None else i for i in columns] + [width], dtype=np.int64)
    edges, nodes = _Names(), _Names()
    edge_codes, node_codes = np.empty(_BLOCK, np.int32), np.empty(_BLOCK, np.int32)
    numbers, odd = np.empty((2, _BLOCK)), np.empty((2, _BLOCK, 2), np.int64)
    blocks: list[list[np.ndarray]] = [[], [], [], []]
    position, total, why = start, 0, tokens.FULL
    while why != tokens.DONE:
        why, position, n = tokens.scan_rows(
            text, position, ord(mark), wanted, edges.table, nodes.table, edge_codes, node_codes, numbers, odd,
            total,
        )  # fmt: skip
        if why == tokens.STRANGE:
            return None
        for k in range(2):
            if wanted[2 + k] >= 0 and not _read_odd(content, numbers[k, :n], odd[k, :n]):
                return None
        for block, array in zip(blocks, (edge_codes, node_codes, *numbers), strict=True):
            block.append(array[:n].copy())
        total += n
        edges.make_room()
        nodes.make_room()
    weights = [np.concatenate(blocks[2 + k]) if wanted[2 + k] >= 0 else None for k in range(2)]
    return edges.column(blocks[0]), nodes.column(blocks[1]), weights


def _read_odd(content: bytes, values: np.ndarray, spans: np.ndarray) -> bool:
    """Fill in numbers with more digits than the kernel reads; False if one is not finite."""
    which = np.flatnonzero(spans[:, 0] >= 0)
    if which.size:
        values[which] = [float(content[a:b]) for a, b in spans[which].tolist()]
    return bool(np.isfinite(values[which]).all())


@dataclass
class Incidences:
    """Incidence records of a HIF file, as columns; spans of what Python has to read itself."""

    edges: Column
    nodes: Column
    weights: np.ndarray | None
    directions: np.ndarray | None
    attributes: np.ndarray
    """(…, 3) record, start and stop of attributes."""
    strange: np.ndarray
    """(…, 3) record, start and stop of records that are not plain."""


def incidences(content: bytes, start: int) -> tuple[Incidences, int]:
    """The list of incidence records that begins behind position ``start``, and where it ends."""
    text = np.frombuffer(content, dtype=np.uint8)
    edges, nodes = _Names(), _Names()
    edge_codes, node_codes = np.empty(_BLOCK, np.int32), np.empty(_BLOCK, np.int32)
    weights, directions = np.empty(_BLOCK), np.empty(_BLOCK, np.int8)
    odd, attrs, strange = (np.empty((_BLOCK, 2), np.int64) for _ in range(3))
    blocks: list[list[np.ndarray]] = [[] for _ in range(6)]
    weighted = directed = False
    position, total, why = start, 0, tokens.FULL
    while why != tokens.DONE:
        why, position, n = tokens.scan_incidences(
            text, position, edges.table, nodes.table, edge_codes, node_codes, weights, odd, directions, attrs,
            strange, total,
        )  # fmt: skip
        if why == tokens.STRANGE:
            raise ValueError(f"incidences[{total + n}]: not JSON at byte {position}")
        if not _read_odd(content, weights[:n], odd[:n]):
            raise ValueError(f"incidences: a weight after incidences[{total}] is too large")
        # Columns of weights and directions exist only from the first block that has any.
        weighted = weighted or not np.isnan(weights[:n]).all()
        directed = directed or bool(directions[:n].any())
        blocks[0].append(edge_codes[:n].copy())
        blocks[1].append(node_codes[:n].copy())
        blocks[2].append(weights[:n].copy() if weighted else np.broadcast_to(np.nan, n))
        blocks[3].append(directions[:n].copy() if directed else np.broadcast_to(np.int8(0), n))
        blocks[4].append(_found(attrs[:n], total))
        blocks[5].append(_found(strange[:n], total))
        total += n
        edges.make_room()
        nodes.make_room()
    found = Incidences(
        edges.column(blocks[0]),
        nodes.column(blocks[1]),
        np.concatenate(blocks[2]) if weighted else None,
        np.concatenate(blocks[3]) if directed else None,
        np.concatenate(blocks[4]),
        np.concatenate(blocks[5]),
    )
    return found, position


def _found(spans: np.ndarray, first: int) -> np.ndarray:
    which = np.flatnonzero(spans[:, 0] >= 0)
    return np.column_stack((which + first, spans[which]))


def records(content: bytes, start: int, level: str) -> tuple[list[tuple[int, int]], int]:
    """Blocks (start, stop) of the records of the list that begins behind ``start``, and where it ends."""
    text = np.frombuffer(content, dtype=np.uint8)
    spans = np.empty((_RECORDS, 2), np.int64)
    blocks = []
    position, why, total = start, tokens.FULL, 0
    while why != tokens.DONE:
        why, position, n = tokens.record_spans(text, position, spans)
        total += n
        if why == tokens.STRANGE:
            raise ValueError(f"{level}[{total}]: not JSON at byte {position}")
        blocks.append((int(spans[0, 0]), int(spans[n - 1, 1])))
    return blocks, int(position)


_RECORDS = 1 << 12


def value_end(content: bytes, start: int) -> int:
    """Position behind the JSON value that begins at ``start``; -1 if it does not end."""
    return int(tokens.value_end(np.frombuffer(content, dtype=np.uint8), start))
