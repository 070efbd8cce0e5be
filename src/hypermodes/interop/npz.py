"""``.npz``: the library's own file, exact and fast; what `Hypergraph.save` writes."""

import io
from typing import BinaryIO

from hypermodes.hypergraph import Hypergraph
from hypermodes.interop.building import Reading


def read(content: bytes, reading: Reading) -> Hypergraph:
    """Read what `write` or `Hypergraph.save` wrote; nothing is unpickled."""
    try:
        return Hypergraph.load(io.BytesIO(content), max_bytes=reading.max_bytes)
    except ValueError as error:
        raise ValueError(str(error).removeprefix("path: 'the file' is ")) from None


def write(hypergraph: Hypergraph, file: BinaryIO) -> None:
    """Write everything, annotations too."""
    stream = io.BytesIO()  # a zip archive goes back to what it has written, which gzip cannot
    hypergraph.save(stream)
    file.write(stream.getbuffer())
