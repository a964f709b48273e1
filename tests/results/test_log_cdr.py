"""Messages of ROS 2 in logs: they are read as another reader and writer have them, and what is a bomb is one line."""

import random
import struct
import time

import numpy as np
import pytest
from helpers.processes import refusal_and_memory
from mcap.writer import CompressionType, Writer
from mcap_files import json_file, protobuf_file
from mcap_ros2.decoder import DecoderFactory
from mcap_ros2.writer import Writer as Ros2Writer

import dockdyn
from dockdyn.results.exchange.log_cdr import MessageBudget, cdr_reader
from dockdyn.results.exchange.log_file import table_of
from dockdyn.results.exchange.log_messages import numbers_in

SECONDS = 4.0  # of a processor
WHOLE = {"int8": 7, "uint8": 8, "int16": 15, "uint16": 16, "int32": 31, "uint32": 32, "int64": 63, "uint64": 64}
SORTS = (*WHOLE, "float32", "float64", "bool", "string")
LITTLE = b"\0\1\0\0"  # plain CDR, the least significant byte first
RULE = "\n" + "=" * 80 + "\n"


def drawn(sort: str, draw: random.Random):
    """A value of a sort."""
    if sort in WHOLE:
        return draw.randint(-(2 ** WHOLE[sort]) if sort.startswith("int") else 0, 2 ** WHOLE[sort] - 1)
    if sort == "bool":
        return draw.random() < 0.5
    if sort == "string":
        return "".join(draw.choices("aß𝄞 _", k=draw.randrange(6)))
    return float(np.float32(draw.gauss(0.0, 1e3))) if sort == "float32" else draw.gauss(0.0, 1e3)


def messages(draw: random.Random) -> tuple[dict[str, list[tuple[str, str, str]]], str]:
    """Random messages that are made of each other: type, array and name of each field; and their definitions."""
    made: dict[str, list[tuple[str, str, str]]] = {}
    for number in range(draw.randint(1, 4)):
        fields = []
        for place in range(draw.choice((0, 1, 2, 5)) if number else draw.randint(0, 3)):
            sort = draw.choice((*SORTS, *made))
            array = draw.choice(("", "", "", "[]", f"[{draw.randint(1, 4)}]", f"[<={draw.randint(4, 9)}]", "[]"))
            fields.append((sort, array, "name" if place == 3 and sort == "string" else f"f{place}"))
        made[f"own/M{number}"] = fields
    last = f"own/M{draw.randrange(10, 20)}"
    made[last] = [("float64", "", "first"), *((name, "", f"of{k}") for k, name in enumerate(list(made)))]

    def text(name: str) -> str:
        lines = ["# a comment", "int32 LIMIT=5", "", 'string WORD="a=#b"', ""]
        for sort, array, label in made[name]:
            bound = "<=20" if sort == "string" and draw.random() < 0.3 else ""
            known = sort.removeprefix("own/") if draw.random() < 0.5 else sort  # of the same package
            default = " 1" if sort in WHOLE and not array and draw.random() < 0.3 else ""
            lines.append(f"{known}{bound}{array} {label}{default}{draw.choice(('', '  # [m] why'))}")
        return "\n".join(lines)

    parts = [f"MSG: {name}\n{text(name)}" for name in made if name != last]
    return made, RULE.join([text(last), *parts])


def content(name: str, made, draw: random.Random) -> dict:
    """A message of random numbers."""

    def one(sort: str):
        return content(sort, made, draw) if sort in made else drawn(sort, draw)

    found = {}
    for sort, array, label in made[name]:
        size = array.strip("[]")
        count = int(size) if size.isdigit() else draw.choice((0, 1, 3, 4, 70 if sort not in made and not size else 2))
        values = [one(sort) for _ in range(count)]
        found[label] = one(sort) if not array else bytes(values) if sort == "uint8" else values
    return found


@pytest.mark.parametrize("seed", range(40))
def test_what_another_writer_writes_is_read_as_another_reader_reads_it(seed, tmp_path):
    """Numbers to the last bit, and the same names."""
    draw = random.Random(seed)
    made, text = messages(draw)
    name = list(made)[-1]
    written = [content(name, made, draw) for _ in range(5)]
    file = tmp_path / "log.mcap"
    with file.open("wb") as opened, Ros2Writer(opened) as writer:
        schema = writer.register_msgdef(name.replace("/", "/msg/"), text)
        for number, message in enumerate(written):
            writer.write_message("/t", schema, message, number)
    rows = [dict(numbers_in(message)) for message in written]
    decode = DecoderFactory().decoder_for("cdr", schema)
    raw = raw_messages(file)
    assert [dict(numbers_in(decode(each))) for each in raw] == rows  # both libraries agree with what was drawn
    read = cdr_reader(schema.name, text, MessageBudget(10**6))
    found = [dict(numbers_in(read(each))) for each in raw]
    assert found == rows and [list(each) for each in found] == [list(each) for each in rows]


def raw_messages(file) -> list[bytes]:
    from mcap.reader import make_reader

    with file.open("rb") as opened:
        return [message.data for _, _, message in make_reader(opened).iter_messages()]


def test_the_most_significant_byte_first():
    read = cdr_reader("own/msg/A", "int16 a\nfloat64 b\nfloat32[] c\nuint8 d\nint64 e", MessageBudget(100))
    data = b"\0\0\0\0" + struct.pack(">h6xdIffB3xq", -2, 0.1, 2, 1.5, -0.0, 7, -(2**60))
    assert read(data) == {"a": -2, "b": 0.1, "c": [1.5, -0.0], "d": 7, "e": -(2**60)}


def bomb(path, text: str, data: bytes, messages: int = 1):
    """Messages of a definition, the same each, compressed."""
    with path.open("wb") as file:
        writer = Writer(file, compression=CompressionType.ZSTD, chunk_size=1 << 26)
        writer.start()
        known = writer.register_schema("own/msg/A", "ros2msg", text.encode())
        channel = writer.register_channel("/bomb", "cdr", known)
        for number in range(messages):
            writer.add_message(channel, number, data, number)
        writer.finish()
    return path


def parts(*definitions: str) -> str:
    """A definition, and those of B, C and so on behind it."""
    return RULE.join([definitions[0], *(f"MSG: own/{chr(66 + k)}\n{text}" for k, text in enumerate(definitions[1:]))])


MILLIONS = LITTLE + struct.pack("<I", 2**32 - 1)
FEW = bytes(8_000_000)  # of zeros, a kilobyte in the file
ENDS = "message 1 cannot be decoded: ends before what it says that it has"
BOMBS = {
    "empty messages": (parts("B[] x", ""), MILLIONS, ENDS),
    "a stated number of them": (parts("B[4294967295] x", ""), LITTLE, ENDS),
    "empty arrays of numbers": (parts("B[] x", "float64[0] y"), MILLIONS, "float64[0], which is not read"),
    "bytes beyond the end": (parts("B[] x", "uint8[4] y"), MILLIONS, ENDS),
    "texts beyond the end": (parts("string[] x"), MILLIONS, ENDS),
    "numbers beyond the end": (parts("float64[] x"), MILLIONS, ENDS),
    "bytes beyond the end, of which none are read": (parts("uint8[] x"), MILLIONS, ENDS),
    "a text beyond the end": (parts("string x"), MILLIONS, ENDS),
    "messages of a byte": (parts("B[] x", ""), MILLIONS + FEW, "has more than 200000 parts"),
    "texts of nothing": (parts("string[] x"), MILLIONS + FEW, "has more than 200000 parts"),
    "names of nothing": (parts("string[] name\nfloat64[] x"), MILLIONS + FEW, "has more than 200000 parts"),
    "arrays of arrays": (parts("B[1000] x", "C[1000] x", "D[1000] x", "bool y"), LITTLE + FEW, "has more than 200000 parts"),
    "doubled forty times": (
        RULE.join(["P0 x", *(f"MSG: own/P{k}\nP{k + 1} a\nP{k + 1} b" for k in range(40)), "MSG: own/P40\nbool x"]),
        LITTLE + FEW, "has more than 200000 parts",
    ),
    "a part of itself": (parts("B x", "C x", "B x"), LITTLE + FEW, "own/B is a part of itself"),
    "a list of itself": (parts("B[] x", "B[] x"), LITTLE + FEW, "own/B is a part of itself"),
    "a definition without end": ("bool x\n" * 200_000, LITTLE + FEW, "is longer than 1000000 characters"),
    "parts in parts": (
        RULE.join(["P0 x", *(f"MSG: own/P{k}\nP{k + 1} x" for k in range(5000))]), LITTLE + FEW, "its definition is wrong",
    ),
    "a size in words": (parts("bool[many] x"), LITTLE, "x in own/A is of the type bool[many], which is not read"),
    "a size of a thousand digits": (parts(f"bool[{'9' * 5000}] x"), LITTLE, "its definition is wrong"),
    "no name": (parts("bool"), LITTLE, "own/A has a field without a name"),
    "no definition": (parts("other/Sort x"), LITTLE, "other/Sort is not defined"),
    "no content": (parts("bool x"), b"\0\1", "ends before its content"),
    "parameters": (parts("bool x"), b"\0\3\0\0\1", "is in encapsulation 3; must be plain CDR, 0 or 1"),
}  # fmt: skip


def refused(file) -> str:
    """What is said of a file, soon."""
    begun = time.process_time()
    with pytest.raises(dockdyn.ScenarioError) as told:
        table_of(file)
    assert time.process_time() - begun < SECONDS
    said = str(told.value)
    assert said.startswith(f"{file}: ") and said.isprintable() and len(said) < 400
    return said


@pytest.mark.full_cases("messages of a byte", "names of nothing", "texts of nothing")
@pytest.mark.parametrize(("text", "data", "words"), BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_one_line_and_soon(text, data, words, tmp_path, capfd):
    assert words in refused(bomb(tmp_path / "bomb.mcap", text, data))
    assert capfd.readouterr() == ("", "")


def test_many_messages_have_so_many_parts_together(tmp_path, monkeypatch):
    file = bomb(
        tmp_path / "bomb.mcap", parts("bool y\nB[] x", ""), LITTLE + struct.pack("<II", 1, 1000) + bytes(1000), 50
    )
    assert table_of(file).headings == ["y"]
    monkeypatch.setattr("dockdyn.results.exchange.log_mcap.MOST_VALUES", 30_000)
    assert "message 30 cannot be decoded: has, with all before it, more than 30000 parts" in refused(file)


def test_messages_that_others_decode_are_short(tmp_path, monkeypatch):
    """Empty lists in JSON take 30 times their length, fields of Protobuf more."""
    long = json_file(tmp_path / "long.mcap", {"/t": ([0], [{"a": [[]] * 1_500_000}])})
    assert "message 1 cannot be decoded: has 6 MB; must be at most 4 MB" in refused(long)
    file = protobuf_file(tmp_path / "protobuf.mcap", "/t", [0], [[1.0]], ["a"])
    assert table_of(file).headings == ["a"]
    monkeypatch.setattr("dockdyn.results.exchange.log_mcap.MOST_MESSAGE", 8)
    assert "message 1 cannot be decoded: has 9 bytes; must be at most 8 bytes" in refused(file)


def test_names_are_short_and_columns_few(tmp_path, monkeypatch):
    """A name stands in each of its 4,096 columns; each message can have names of its own."""
    nested = json_file(tmp_path / "nested.mcap", {"/t": ([0], [{"a" * 1_000_000: [[1] * 64] * 64}])})
    assert "has a name of more than 1000 characters" in refused(nested)
    own = json_file(tmp_path / "own.mcap", {"/t": (range(200), [{f"a{k}": k} for k in range(200)])})
    assert len(table_of(own).columns) == 200
    monkeypatch.setattr("dockdyn.results.exchange.log_mcap.MOST_CELLS", 39_999)
    assert "its columns would have more than 39999 cells" in refused(own)


@pytest.mark.full
@pytest.mark.parametrize("name", ["names of nothing", "doubled forty times"])
def test_a_bomb_takes_bounded_memory(name, tmp_path):
    text, data, words = BOMBS[name]
    small = bomb(tmp_path / "small.mcap", "bool x", LITTLE + b"\1")
    file = bomb(tmp_path / "bomb.mcap", text, data)
    said, grown = refusal_and_memory(small, file)
    assert words in said and grown < 700_000  # kB
