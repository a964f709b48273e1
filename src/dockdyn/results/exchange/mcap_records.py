"""The records of an MCAP file, its chunks unpacked within bounds: a few kilobytes can say that they are a terabyte."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, BinaryIO

from dockdyn.scenario.language.errors import ScenarioError

MOST_CHUNK = 128_000_000  # bytes of a chunk, unpacked
MOST_VALUES = 50_000_000  # numbers in the messages of a file: some 5 GB as they are read


def records_of(file: BinaryIO) -> Iterator[Any]:
    """Yield the records of a file in order, those inside chunks in place of these.

    Raises ScenarioError for a chunk that is too large when unpacked, and whatever the reader comes to where a file is damaged.
    """
    from mcap.records import Chunk
    from mcap.stream_reader import StreamReader, breakup_chunk

    for record in StreamReader(file, emit_chunks=True, validate_crcs=True).records:
        if isinstance(record, Chunk):
            data = _unpack_chunk(record.compression, record.data)
            if max(len(data), record.uncompressed_size) > MOST_CHUNK:
                words = f"a chunk holds more than {MOST_CHUNK // 10**6} MB unpacked"
                raise ScenarioError(f"{file.name}: {words}; must be at most that: write it with smaller chunks")
            yield from breakup_chunk(dataclasses.replace(record, compression="", data=data), validate_crc=True)
        else:
            yield record


def _unpack_chunk(compression: str, data: bytes) -> bytes:
    """Return the content of a chunk, or of one that is too large a little more than it may be."""
    if compression == "zstd":
        import zstandard

        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as stream:
            return bytes(stream.read(MOST_CHUNK + 1))
    if compression == "lz4":
        import lz4.frame

        return bytes(lz4.frame.LZ4FrameDecompressor().decompress(data, max_length=MOST_CHUNK + 1))
    if compression:
        raise ValueError(f"unsupported compression {compression}")
    return data
