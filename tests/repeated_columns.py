"""Parquet files of a few kilobytes that hold one value many times: 40 MB when it is written out."""

from contextlib import contextmanager

REPEATED = {
    "text": "x" * 2_000,
    "binary": b"x" * 2_000,
    "list": [1] * 250,
    "record": {"a": "x" * 2_000},
}


def write_repeated(file, kind, name, others):
    """20,000 rows with a column of this name, in groups of 200 rows; ``others`` are those of one group."""
    import pyarrow
    import pyarrow.parquet

    group = pyarrow.table({**others, name: [REPEATED[kind]] * 200})
    with pyarrow.parquet.ParquetWriter(file, group.schema, store_schema=False) as writer:
        for _ in range(100):
            writer.write_table(group)


_POOLS = []  # what was taken from one may be given back at any time


@contextmanager
def memory_of_arrow(pyarrow):
    """A pool that counts what is taken from here on."""
    pool, before = pyarrow.proxy_memory_pool(pyarrow.system_memory_pool()), pyarrow.default_memory_pool()
    _POOLS.append(pool)
    pyarrow.set_memory_pool(pool)
    try:
        yield pool
    finally:
        pyarrow.set_memory_pool(before)
