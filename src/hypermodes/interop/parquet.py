"""What reading and writing Parquet have in common: whether pyarrow is there, its errors, and sizes first.

Only columns that are used are read. Text is read as a dictionary: a column that repeats one long text takes
no room in the file, and takes none here. Binary, lists and records repeat as cheaply and are never read.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def pyarrow(argument: str) -> Any:
    """The library; an error that names the argument where it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            f"{argument}: Parquet needs pyarrow: install hypermodes[parquet], or convert to CSV"
        ) from None
    return pyarrow


@contextmanager
def errors() -> Iterator[None]:
    """What pyarrow says of a file that is none, as one ValueError in one line."""
    from pyarrow import ArrowException

    try:
        yield
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except (ArrowException, OSError, KeyError, UnicodeDecodeError) as error:
        raise ValueError(f"not a Parquet file: {' '.join(str(error).split())[:200]}") from None


def read(source: Callable[[], Any], names: Sequence[str], max_bytes: int) -> Any:
    """These columns, which hold text or single values; refused before they are read if they take too much.

    Text comes as dictionaries. Checksums of pages are verified, where there are some.
    """
    from pyarrow import parquet

    schema = parquet.read_schema(source())
    for name in names:
        _check_column(schema, name)
    texts = [name for name in names if is_text(schema.field(name).type)]
    with parquet.ParquetFile(source(), read_dictionary=texts, page_checksum_verification=True) as file:
        _check_size(file, names, max_bytes)
        table = file.read(columns=list(names))
    table.validate(full=True)  # what is damaged may point anywhere
    return table


def _check_column(schema: Any, name: str) -> None:
    along = [other for other in schema.names if other == name or other.startswith(f"{name}.")]
    if len(along) > 1:  # pyarrow reads them all
        raise ValueError(f"columns {along[0]!r} and {along[1]!r} cannot be told apart; rename one of them")
    kind = schema.field(name).type
    if not (is_text(kind) or is_plain(kind)):
        raise ValueError(f"column {name!r} holds {said(kind)}; expected numbers or text")


def said(kind: Any) -> str:
    """A type in one line: one of records says all that is in them."""
    text = " ".join(str(kind).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


_LONGEST = 80


def is_text(kind: Any) -> bool:
    """Whether this is a type of text, as a dictionary or not."""
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind))


def is_number(kind: Any) -> bool:
    """Whether this is a type of numbers, whole or not; truth values are among them."""
    from pyarrow import types

    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(is_one(kind) for is_one in kinds)


def is_plain(kind: Any) -> bool:
    """Whether a value of this type takes the same few bytes, whatever it is."""
    from pyarrow import types

    return is_number(kind) or bool(types.is_temporal(kind) or types.is_null(kind))


def values(column: Any) -> list[Any]:
    """The values of a column; a text that comes again is one object."""
    if not is_text(column.type):
        return list(column.to_pylist())
    found: list[Any] = []
    for chunk in column.chunks:
        texts = [*chunk.dictionary.to_pylist(), None]
        found.extend(texts[i] for i in chunk.indices.fill_null(len(texts) - 1).to_pylist())
    return found


def _check_size(file: Any, names: Sequence[str], max_bytes: int) -> None:
    """See what columns take in memory before they are read: one value repeated takes no room in the file."""
    metadata, schema = file.metadata, file.schema_arrow
    places = [i for i in range(len(file.schema)) if file.schema.column(i).path in set(names)]
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    unpacked = [group.column(i).total_uncompressed_size for group in groups for i in places]
    width = sum(_width(schema.field(name).type) for name in names)
    size = sum(unpacked) + width * metadata.num_rows
    if not 0 <= size <= max_bytes or min(unpacked, default=0) < 0:
        raise ValueError(
            f"its {metadata.num_rows} rows unpack to {size} bytes, more than max_bytes={max_bytes}; "
            "raise max_bytes to read it"
        )


def _width(kind: Any) -> int:
    """Bytes of one value here: as a double, as the place of a text, or as it is if that is more."""
    from pyarrow import types

    return max(8, kind.bit_width // 8) if types.is_decimal(kind) else 8
