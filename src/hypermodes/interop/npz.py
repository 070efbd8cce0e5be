"""``.npz``: the library's own file, exact and fast; what `Hypergraph.save` writes."""

import io
import zipfile
from typing import BinaryIO

from hypermodes.hypergraph import Hypergraph
from hypermodes.interop.building import Reading


def read(content: bytes, reading: Reading) -> Hypergraph:
    """Read what `write` or `Hypergraph.save` wrote; nothing is unpickled."""
    stream = io.BytesIO(content)
    try:
        with zipfile.ZipFile(stream) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError) as error:
        raise ValueError(f"not a hypergraph saved by hypermodes: {error}") from None
    if size > max(reading.max_bytes, len(content)):
        raise ValueError(
            f"it unpacks to {size} bytes, more than max_bytes={reading.max_bytes}; raise max_bytes to read it"
        )
    stream.seek(0)
    try:
        return Hypergraph.load(stream)
    except ValueError as error:
        raise ValueError(str(error).removeprefix("path: 'the file' is ")) from None


def write(hypergraph: Hypergraph, file: BinaryIO) -> None:
    """Write everything, annotations too."""
    stream = io.BytesIO()  # a zip archive goes back to what it has written, which gzip cannot
    hypergraph.save(stream)
    file.write(stream.getbuffer())
