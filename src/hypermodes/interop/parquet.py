"""What reading and writing Parquet have in common: whether pyarrow is there, its errors, and sizes first."""

from collections.abc import Iterator
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


def check_size(metadata: Any, n_columns: int, max_bytes: int) -> None:
    """See what a file takes in memory before it is read: a column of one value takes no room in the file."""
    unpacked = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
    size = unpacked + 8 * metadata.num_rows * n_columns
    if not 0 <= size <= max_bytes:
        raise ValueError(
            f"its {metadata.num_rows} rows unpack to {size} bytes, more than max_bytes={max_bytes}; "
            "raise max_bytes to read it"
        )
