"""MCAP files that are small and hold, or say that they hold, more than memory has: one line, in bounded memory."""

import struct

import pytest
from helpers.processes import refusal_and_memory
from mcap.opcode import Opcode
from mcap.writer import CompressionType, Writer
from mcap_files import json_file

import dockdyn
from dockdyn.results.exchange.log_file import table_of


def padded(path, compression: CompressionType, blanks: int, messages: int = 1):
    """Messages in JSON with so many blanks in each, in one chunk."""
    with path.open("wb") as file:
        writer = Writer(file, compression=compression, chunk_size=1 << 40)
        writer.start()
        channel = writer.register_channel("/t", "json", 0)
        for number in range(messages):
            writer.add_message(channel, number, b'{"a": 1' + b" " * blanks + b"}", number)
        writer.finish()
    return path


def claiming(path, size: int):
    """A file whose chunk says that it has so many bytes when unpacked."""
    content, place = bytearray(padded(path, CompressionType.ZSTD, 10).read_bytes()), 8
    while content[place] != Opcode.CHUNK:
        place += 9 + struct.unpack_from("<Q", content, place + 1)[0]
    struct.pack_into("<Q", content, place + 9 + 16, size)
    path.write_bytes(content)
    return path


def refusal(path) -> str:
    with pytest.raises(dockdyn.ScenarioError) as refused:
        table_of(path)
    said = str(refused.value)
    assert said.startswith(f"{path}: ") and said.isprintable()
    return said


@pytest.mark.parametrize("compression", list(CompressionType))
def test_a_chunk_that_grows_too_large(compression, tmp_path, monkeypatch):
    fits = padded(tmp_path / "fits.mcap", compression, 900_000)
    grows = padded(tmp_path / "grows.mcap", compression, 1_100_000)
    monkeypatch.setattr("dockdyn.results.exchange.mcap_records.MOST_CHUNK", 1_000_000)
    assert table_of(fits).headings == ["a"]
    assert "a chunk holds more than 1 MB unpacked; must be" in refusal(grows)


@pytest.mark.parametrize("size", [1 << 40, (1 << 64) - 1])
def test_a_chunk_that_claims_to_be_large(size, tmp_path):
    assert "a chunk holds more than 128 MB unpacked" in refusal(claiming(tmp_path / "claims.mcap", size))


def test_more_numbers_than_memory_has(tmp_path, monkeypatch):
    file = json_file(tmp_path / "many.mcap", {"/t": (range(100), [{"a": 1, "b": 2}] * 100)})
    monkeypatch.setattr("dockdyn.results.exchange.log_mcap.MOST_VALUES", 200)
    assert len(table_of(file).columns) == 2
    monkeypatch.setattr("dockdyn.results.exchange.log_mcap.MOST_VALUES", 199)
    assert "holds more than 199 numbers" in refusal(file)


@pytest.mark.full
@pytest.mark.parametrize("compression", [CompressionType.ZSTD, CompressionType.LZ4])
def test_a_bomb_takes_bounded_memory(compression, tmp_path):
    """A gigabyte of blanks in 33 kB (Zstandard): 2.4 GB of memory before."""
    small = padded(tmp_path / "small.mcap", compression, 10)
    bomb = padded(tmp_path / "bomb.mcap", compression, 1 << 30)
    said, grown = refusal_and_memory(small, bomb)
    assert "a chunk holds more than 128 MB unpacked" in said
    assert grown < 600_000  # kB
