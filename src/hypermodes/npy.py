"""Arrays in the ``.npy`` form: the header is read and compared with the size before an array is made."""

from math import prod
from typing import IO

import numpy as np

_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_LONGEST = np.iinfo(np.int64).max


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether columns come first, and type; anything else than such a header is a ValueError."""
    try:
        version = np.lib.format.read_magic(file)
        if version not in _READERS:
            raise ValueError(f"expected version 1.0 or 2.0 of the format; got {version}")
        shape, fortran, dtype = _READERS[version](file)
    except Exception as error:  # NumPy reads a header as a Python literal: nearly anything may be raised
        raise ValueError(f"it has no header of NumPy: {' '.join(str(error).split())}") from None
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are never unpickled")
    if min(shape, default=0) < 0 or max(shape, default=0) > _LONGEST:
        raise ValueError(f"it says that its shape is {shape}")
    if dtype.itemsize == 0 and 0 not in shape:  # however many there are, the file has as many bytes
        raise ValueError(f"it says that it has items of no size, {dtype}, and that its shape is {shape}")
    return shape, fortran, dtype


def read_array(file: IO[bytes], size: int) -> np.ndarray:
    """Read an array from a file of this many bytes, which must be just as many as the header announces."""
    shape, _, dtype = read_header(file)
    announced = file.tell() + prod(shape) * dtype.itemsize
    if announced != size:
        raise ValueError(f"the header announces {announced} bytes; it has {size}")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)
