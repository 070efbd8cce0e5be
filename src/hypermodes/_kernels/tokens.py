"""Tokens of text files: rows of tables and records of JSON, names numbered as they first appear.

A name is a span of the file's bytes; a `Names` table numbers distinct spans. Anything a kernel does not
understand it hands back as a span, for Python to read.
"""

from collections import namedtuple

import numpy as np

from hypermodes._kernels.compiling import njit
from hypermodes._kernels.faces import INNER, OPTIONS

Names = namedtuple("Names", "slots entries count")
"""Distinct names: hash slots; (hash, start, stop, row) of where each first stands; how many, and the last."""

DONE, FULL, CROWDED, STRANGE = 0, 1, 2, 3
"""Why a scan stopped: the end, no room for more rows, for more names, or something not understood."""

_QUOTE, _COMMA, _COLON, _BACKSLASH = 34, 44, 58, 92
_OPEN, _CLOSE, _BRACKET, _END = 123, 125, 91, 93


def empty_names(capacity):
    """Room for ``capacity`` names, a power of two."""
    return Names(
        np.full(2 * capacity, -1, np.int32),
        np.empty((capacity, 4), np.uint64),
        np.zeros(2, np.int64),
    )


def grown_names(names):
    """The same names with room for twice as many."""
    n = int(names.count[0])
    out = empty_names(names.slots.size)
    out.entries[:n] = names.entries[:n]
    out.count[0] = n
    _fill_slots(out.slots, out.entries, n)
    return out


@njit(**OPTIONS)
def _fill_slots(slots, entries, n):
    mask = np.uint64(slots.size - 1)
    for code in range(n):
        slot = entries[code, 0] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = code


@njit(**INNER)
def _is_name(text, start, stop, names, code):
    begin = np.int64(names.entries[code, 1])
    if np.int64(names.entries[code, 2]) - begin != stop - start:
        return False
    for i in range(stop - start):  # noqa: SIM110  (numba compiles no generators)
        if text[begin + i] != text[start + i]:
            return False
    return True


@njit(**INNER)
def _code(text, start, stop, names, row):
    """Number of the name text[start:stop], a new one if it is new; -1 if too many names have its hash.

    That happens only by design of the file, and Python's own hashing is made for it.
    """
    last = names.count[1]
    if names.count[0] > 0 and _is_name(text, start, stop, names, last):
        return last  # files mostly list a hyperedge in one go
    value = np.uint64(14695981039346656037)  # FNV-1a
    for i in range(start, stop):
        value = (value ^ np.uint64(text[i])) * np.uint64(1099511628211)
    value ^= value >> np.uint64(32)
    value *= np.uint64(0x9E3779B97F4A7C15)
    value ^= value >> np.uint64(29)
    mask = np.uint64(names.slots.size - 1)
    slot = value & mask
    for _ in range(256):
        code = names.slots[slot]
        if code < 0:
            code = names.count[0]
            names.count[0] += 1
            names.slots[slot] = code
            names.entries[code, 0] = value
            names.entries[code, 1] = start
            names.entries[code, 2] = stop
            names.entries[code, 3] = row
            names.count[1] = code
            return code
        if names.entries[code, 0] == value and _is_name(text, start, stop, names, code):
            names.count[1] = code
            return code
        slot = (slot + np.uint64(1)) & mask
    return -1


@njit(**INNER)
def _quotient(value, divisor):
    """The double nearest to value / divisor; both are positive and below 2^60."""
    quotient = value // divisor
    rest = value % divisor
    shift = 0
    while quotient < 1 << 55:  # 53 bits, one to round by, one that says whether anything follows
        quotient <<= 1
        rest <<= 1
        if rest >= divisor:
            rest -= divisor
            quotient |= 1
        shift += 1
    if rest:
        quotient |= 1
    return np.float64(quotient) * 0.5**shift


@njit(**INNER)
def _number(text, start, stop, json):
    """Value of a decimal number, and 0; or 1 if Python has to read it; or 2 if it is none.

    At most 15 digits and a power of ten that double precision holds exactly: one rounding, so the value is
    the nearest there is (Clinger 1990). Up to 18 digits, as shares mostly have, by long division.
    """
    i = start
    negative = False
    if i < stop and (text[i] == 45 or (text[i] == 43 and not json)):
        negative = text[i] == 45
        i += 1
    whole = i
    digits = 0
    value = 0
    while i < stop and 48 <= text[i] <= 57:
        if digits < 18:
            value = 10 * value + (text[i] - 48)
        digits += 1
        i += 1
    n_whole = i - whole
    if json and (n_whole == 0 or (n_whole > 1 and text[whole] == 48)):
        return 0.0, 2
    power = 0
    if i < stop and text[i] == 46:
        i += 1
        begin = i
        while i < stop and 48 <= text[i] <= 57:
            if digits < 18:
                value = 10 * value + (text[i] - 48)
            digits += 1
            i += 1
        power = begin - i
        if json and power == 0:
            return 0.0, 2
    if digits == 0:
        return 0.0, 2
    if i < stop and (text[i] == 101 or text[i] == 69):
        i += 1
        sign = 1
        if i < stop and (text[i] == 45 or text[i] == 43):
            sign = -1 if text[i] == 45 else 1
            i += 1
        begin = i
        exponent = 0
        while i < stop and 48 <= text[i] <= 57:
            if i - begin < 6:
                exponent = 10 * exponent + (text[i] - 48)
            i += 1
        if i == begin:
            return 0.0, 2
        if i - begin > 5:
            return 0.0, 1 if i == stop else 2
        power += sign * exponent
    if i != stop:
        return 0.0, 2
    if digits > 15 and digits <= 18 and -18 <= power <= 0:
        result = _quotient(value, 10 ** (-power)) if value > 0 else 0.0
        return -result if negative else result, 0
    if digits > 15 or power > 22 or power < -22:
        return 0.0, 1
    scale = 1.0
    for _ in range(abs(power)):
        scale *= 10.0
    result = value * scale if power >= 0 else value / scale
    return -result if negative else result, 0


# -- tables ---------------------------------------------------------------------------------------------


@njit(**OPTIONS)
def scan_rows(text, position, mark, columns, edges, nodes, edge_codes, node_codes, numbers, odd, first_row):
    """Read rows of a table from `position` until the end or a block is full.

    `columns`: which columns are edge, node and the two kinds of weight, -1 if there is none, and at last how
    many there are. `numbers`: (2, block) weights, NaN where empty. `odd`: (2, block, 2) spans of numbers that
    Python has to read. Returns why it stopped, where, and how many rows were read.
    """
    stop = text.size
    width = columns[4]
    n = 0
    where = np.empty((width, 2), np.int64)
    while position < stop:
        if n == edge_codes.size:
            return FULL, position, n
        if 2 * (edges.count[0] + 1) > edges.slots.size or 2 * (nodes.count[0] + 1) > nodes.slots.size:
            return CROWDED, position, n
        begin = position
        found = 0
        blank = True
        i = begin
        ended = False
        while not ended:
            a = i
            while i < stop and text[i] == 32:
                i += 1
            if i < stop and text[i] == _QUOTE:
                if i != a:
                    return STRANGE, begin, n
                blank = False
                i += 1
                a = i
                while i < stop and text[i] != _QUOTE and text[i] != 10 and text[i] != 13:
                    i += 1
                if i == stop or text[i] != _QUOTE:
                    return STRANGE, begin, n
                b = i
                i += 1
                if i < stop and text[i] != mark and text[i] != 10 and text[i] != 13:
                    return STRANGE, begin, n
            else:
                while i < stop and text[i] != mark and text[i] != 10 and text[i] != 13:
                    if text[i] == _QUOTE:
                        return STRANGE, begin, n
                    i += 1
                b = i
            while a < b and (text[a] == 32 or text[a] == 9):
                a += 1
            while b > a and (text[b - 1] == 32 or text[b - 1] == 9):
                b -= 1
            if found < width:
                where[found, 0] = a
                where[found, 1] = b
            found += 1
            blank = blank and a == b
            if i == stop:
                ended = True
            elif text[i] == mark:
                i += 1
            else:
                if text[i] == 13:
                    i += 1
                    if i == stop or text[i] != 10:
                        return STRANGE, begin, n
                i += 1
                ended = True
        if found == 1 and blank:
            position = i
            continue
        if found != width:
            return STRANGE, begin, n
        for k in range(2):
            column = columns[2 + k]
            numbers[k, n] = np.nan
            odd[k, n, 0] = -1
            if column >= 0 and where[column, 0] < where[column, 1]:
                value, trouble = _number(text, where[column, 0], where[column, 1], False)
                if trouble == 2:
                    return STRANGE, begin, n
                if trouble == 1:
                    odd[k, n] = where[column]
                else:
                    numbers[k, n] = value
        row = first_row + n
        a, b = where[columns[0]]
        c, d = where[columns[1]]
        edge_codes[n] = _code(text, a, b, edges, row) if a < b else -1
        node_codes[n] = _code(text, c, d, nodes, row) if c < d else -1
        if (a < b and edge_codes[n] < 0) or (c < d and node_codes[n] < 0) or (a == b and c == d):
            return STRANGE, begin, n
        n += 1
        position = i
    return DONE, position, n


# -- JSON -----------------------------------------------------------------------------------------------


@njit(**INNER)
def _blank(text, i):
    while i < text.size and (text[i] == 32 or text[i] == 10 or text[i] == 13 or text[i] == 9):
        i += 1
    return i


@njit(**INNER)
def _string_end(text, i):
    """Position behind the string that begins at i, and whether it is as plain as it looks; -1 if unended."""
    plain = True
    i += 1
    while i < text.size:
        c = text[i]
        if c == _QUOTE:
            return i + 1, plain
        if c == _BACKSLASH:
            plain = False
            i += 1
        elif c < 32:
            plain = False
        i += 1
    return -1, False


@njit(**OPTIONS)
def value_end(text, i):
    """Position behind the JSON value that begins at i, -1 if it does not end; its inside is not checked."""
    depth = 0
    while i < text.size:
        c = text[i]
        if c == _QUOTE:
            i, _ = _string_end(text, i)
            if i < 0:
                return -1
            if depth == 0:
                return i
            continue
        if c in (_OPEN, _BRACKET):
            depth += 1
        elif c in (_CLOSE, _END):
            if depth == 0:
                return i
            depth -= 1
            if depth == 0:
                return i + 1
        elif depth == 0 and (c == _COMMA or c == 32 or c == 10 or c == 13 or c == 9):
            return i
        i += 1
    return i if depth == 0 else -1


@njit(**OPTIONS)
def record_spans(text, i, spans):
    """Spans of the elements of a list from i on, which is behind a bracket or a comma.

    Returns why it stopped, where, and how many there are.
    """
    n = 0
    i = _blank(text, i)
    while i < text.size:
        if n == spans.shape[0]:
            return FULL, i, n
        end = value_end(text, i)
        if end <= i:
            return STRANGE, i, n
        spans[n, 0], spans[n, 1] = i, end
        n += 1
        i = _blank(text, end)
        if i < text.size and text[i] == _COMMA:
            i = _blank(text, i + 1)
        elif i < text.size and text[i] == _END:
            return DONE, i + 1, n
        else:
            return STRANGE, i, n
    return STRANGE, i, n


@njit(**INNER)
def _key(text, a, b):
    """Which key text[a:b] is, quotes included: 1 edge, 2 node, 3 weight, 4 direction, 5 attrs, 0 another."""
    n = b - a
    if n == 6 and text[a + 2] == 100 and text[a + 1] == 101 and text[a + 3] == 103 and text[a + 4] == 101:
        return 1
    if n == 6 and text[a + 1] == 110 and text[a + 2] == 111 and text[a + 3] == 100 and text[a + 4] == 101:
        return 2
    word = b'"weight"'
    if n == 8:
        for k in range(8):
            if text[a + k] != word[k]:
                return 0
        return 3
    word = b'"direction"'
    if n == 11:
        for k in range(11):
            if text[a + k] != word[k]:
                return 0
        return 4
    word = b'"attrs"'
    if n == 7:
        for k in range(7):
            if text[a + k] != word[k]:
                return 0
        return 5
    return 0


@njit(**INNER)
def _plain_integer(text, a, b):
    i = a
    if i < b and text[i] == 45:
        i += 1
    if i == b or b - i > 4000 or (text[i] == 48 and b - a > 1):
        return False
    while i < b:
        if not 48 <= text[i] <= 57:
            return False
        i += 1
    return True


@njit(**OPTIONS)
def scan_incidences(
    text, position, edges, nodes, edge_codes, node_codes, weights, odd, directions, attrs, strange, first_row
):
    """Read incidence records from `position`, behind a bracket or a comma, until the end or a block is full.

    `weights` is NaN where none is given; `odd` spans of weights that Python has to read; `attrs` spans of
    attributes; `strange` spans of whole records that Python has to read. Spans that are not there are -1.
    Returns why it stopped, where, and how many records were read.
    """
    n = 0
    i = _blank(text, position)
    while i < text.size:
        if n == edge_codes.size:
            return FULL, i, n
        if 2 * (edges.count[0] + 1) > edges.slots.size or 2 * (nodes.count[0] + 1) > nodes.slots.size:
            return CROWDED, i, n
        begin = i
        good = text[i] == _OPEN
        ea = eb = na = nb = -1
        weights[n] = np.nan
        odd[n, 0] = attrs[n, 0] = strange[n, 0] = -1
        directions[n] = 0
        i += 1
        while good:
            i = _blank(text, i)
            if i >= text.size or text[i] != _QUOTE:
                good = False
                break
            key_end, plain = _string_end(text, i)
            if key_end < 0 or not plain:
                good = False
                break
            key = _key(text, i, key_end)
            i = _blank(text, key_end)
            if key == 0 or i >= text.size or text[i] != _COLON:
                good = False
                break
            a = _blank(text, i + 1)
            if a >= text.size:
                good = False
                break
            quoted = text[a] == _QUOTE
            plain = True
            if quoted:
                b, plain = _string_end(text, a)
            else:
                b = value_end(text, a)
            if b <= a:
                good = False
                break
            if key == 5:
                if text[a] != _OPEN:
                    good = False
                attrs[n, 0], attrs[n, 1] = a, b
            elif key == 3:
                if quoted:
                    good = False
                else:
                    value, trouble = _number(text, a, b, True)
                    odd[n, 0] = -1
                    weights[n] = value
                    if trouble == 1:
                        odd[n, 0], odd[n, 1] = a, b
                    elif trouble == 2:
                        good = False
            elif key == 4:
                if b - a == 6 and plain and quoted and text[a + 1] == 104:  # h, t: whether head, tail
                    good = text[a + 2] == 101 and text[a + 3] == 97 and text[a + 4] == 100
                    directions[n] = 1
                elif b - a == 6 and plain and quoted and text[a + 1] == 116:
                    good = text[a + 2] == 97 and text[a + 3] == 105 and text[a + 4] == 108
                    directions[n] = 2
                else:
                    good = False
            else:
                good = plain if quoted else _plain_integer(text, a, b)
                if key == 1:
                    ea, eb = a, b
                else:
                    na, nb = a, b
            if not good:
                break
            i = _blank(text, b)
            if i < text.size and text[i] == _COMMA:
                i += 1
            elif i < text.size and text[i] == _CLOSE:
                i += 1
                break
            else:
                good = False
        edge_codes[n] = node_codes[n] = -1
        if good and ea >= 0 and na >= 0:
            row = first_row + n
            edge_codes[n] = _code(text, ea, eb, edges, row)
            node_codes[n] = _code(text, na, nb, nodes, row)
        if edge_codes[n] < 0 or node_codes[n] < 0:
            i = value_end(text, begin)
            if i <= begin:
                return STRANGE, begin, n
            strange[n, 0], strange[n, 1] = begin, i
            weights[n] = np.nan
            odd[n, 0] = attrs[n, 0] = -1
            directions[n] = 0
            edge_codes[n] = node_codes[n] = -1
        n += 1
        i = _blank(text, i)
        if i < text.size and text[i] == _COMMA:
            i = _blank(text, i + 1)
        elif i < text.size and text[i] == _END:
            return DONE, i + 1, n
        else:
            return STRANGE, i, n
    return STRANGE, i, n
