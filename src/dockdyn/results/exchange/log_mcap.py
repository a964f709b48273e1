"""A log in an MCAP file: the fields of its channels' messages as columns, `wrench.force.x`."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dockdyn.files import in_words, regular_file
from dockdyn.results.exchange.log_cdr import MessageBudget, cdr_reader
from dockdyn.results.exchange.log_messages import ONLY, numbers_in
from dockdyn.results.exchange.log_rig import COUNT, CYCLE, SCENARIO, rig_table
from dockdyn.results.exchange.log_table import CommonRows, LogColumn, LogTable
from dockdyn.results.exchange.mcap_names import ABOUT, COLUMNS, NEEDED, RUN
from dockdyn.results.exchange.mcap_records import MOST_VALUES, records_of
from dockdyn.scenario.language.errors import ScenarioError, shorten_name_list
from dockdyn.scenario.language.given_file import LOG
from dockdyn.scenario.language.printable import one_line

MAGIC = b"\x89MCAP0\r\n"  # what a file begins with and, unless it was cut off, ends with
STAMP = "header.stamp"
MOST_CELLS = 4 * MOST_VALUES  # of columns, empty ones too: messages of one channel need not have the same fields
MOST_MESSAGE = 4_000_000  # bytes of one in JSON or Protobuf


@dataclass
class _Channel:
    """Messages of one topic, as far as they can be read."""

    topic: str
    decode: Callable[[bytes], Any] | None
    problem: str = ""  # why they cannot be
    logged: list[int] = field(default_factory=list)  # ns
    messages: list[dict[str, int | float]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # of each message in the file, from 1

    def sort_by_time(self) -> None:
        """Put the messages in the order in which they were recorded, which a file need not have; equal times stay as they are.

        Source: MCAP specification, Message: `log_time` says when, records stand in any order.
        """
        order = sorted(range(len(self.messages)), key=self.logged.__getitem__)
        self.numbers = [each + 1 for each in order]
        self.logged = [self.logged[each] for each in order]
        self.messages = [self.messages[each] for each in order]


def mcap_table(path: Path) -> LogTable:
    """Return the numbers in the messages of an MCAP file, a column each: CDR with ROS 2 definitions, JSON and Protobuf.

    A column is called by its field, `wrench.force.x`, and by its topic besides where several channels have that,
    `/left.wrench.force.x`. Of a file that dockdyn wrote the columns are those of its run, or of a rig's cycles. A file that
    was cut off is read as far as its last whole chunk, which is told. Messages are in the order in which they were recorded,
    however the file has them. ScenarioError for a damaged file, and one without a
    message that can be read.
    """
    notes: list[str] = []
    with regular_file(path, LOG.most) as file:
        whole = _is_whole(file)
        channels, headings, scenario, ended = _read_channels(file, whole)
    count = sum(len(channel.logged) for channel in channels)
    if ended and (whole or not count):
        words = (
            "not an MCAP file, or a damaged one" if whole else "was cut off before its first whole chunk of messages"
        )
        raise ScenarioError(f"{path}: {words} ({ended})")
    if not whole:
        notes.append(f"was cut off, as by a writer that was stopped; read as far as it goes: {count} messages")
    if not channels:
        raise ScenarioError(f"{path}: has no messages")
    unread = [f"{channel.topic} ({channel.problem})" for channel in channels if channel.problem]
    channels = [channel for channel in channels if channel.messages and not channel.problem]
    if not channels:
        raise ScenarioError(f"{path}: no channel can be read: {shorten_name_list('', unread) or 'none has a number'}")
    for channel in channels:
        channel.sort_by_time()
    driven = next((each for each in channels if each.topic == CYCLE and COUNT in each.messages[0]), None)
    if driven is not None and scenario:
        table = rig_table(path, driven.messages, driven.logged, scenario)
        return replace(table, notes=notes)
    notes += [f"channels that cannot be read are left out: {shorten_name_list('', unread)}"] if unread else []
    names = [dict.fromkeys(name for message in channel.messages for name in message) for channel in channels]
    if sum(len(own) * len(channel.messages) for own, channel in zip(names, channels, strict=True)) > MOST_CELLS:
        raise ScenarioError(f"{path}: its columns would have more than {MOST_CELLS} cells; must be at most that")
    stretches = [_stretch_of(channel, place) for place, channel in enumerate(channels)]
    columns = [column for place, channel in enumerate(channels) for column in _columns_of(channel, names[place], place)]
    if headings:
        columns = [replace(each, heading=headings[each.heading]) for each in columns if each.heading in headings]
    else:
        columns = _with_shortest_names(columns)
    return LogTable(str(path), columns, stretches, counted="message", notes=notes)


def _is_whole(file: BinaryIO) -> bool:
    """Return whether a file ends as its writer ends it."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - len(MAGIC), 0))
    end = file.read()
    file.seek(0)
    return end == MAGIC and size > len(MAGIC)


def _read_channels(file: BinaryIO, whole: bool) -> tuple[list[_Channel], dict[str, str], str, str]:
    """Return the channels; headings by field and a scenario, of a file that dockdyn wrote; and why reading ended early."""
    try:
        from mcap.records import Attachment, Channel, Message, Metadata, Schema
        from mcap_protobuf.decoder import DecoderFactory as Protobuf
    except ImportError:
        raise ScenarioError(f"{file.name}: {NEEDED}") from None
    protobuf, parts = Protobuf(), MessageBudget(MOST_VALUES)
    schemas: dict[int, Schema] = {}
    channels: dict[int, _Channel] = {}
    headings: dict[str, str] = {}
    scenario, held = "", 0
    try:
        for record in records_of(file):
            if isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, Channel) and record.id not in channels:
                channels[record.id] = _channel_of(record, schemas.get(record.schema_id), protobuf, parts)
            elif isinstance(record, Metadata) and record.name == ABOUT and COLUMNS in record.metadata:
                headings = {name: str(given) for name, given in json.loads(record.metadata[COLUMNS]).items()}
            elif isinstance(record, Attachment) and record.name == SCENARIO:
                scenario = record.data.decode(errors="replace")
            elif isinstance(record, Message) and (not headings or channels[record.channel_id].topic == RUN):
                held += _add_message(channels[record.channel_id], record.data, record.log_time, whole)
                if held > MOST_VALUES:
                    words = f"holds more than {MOST_VALUES} numbers; must be at most that: leave topics or time out"
                    raise ScenarioError(f"{file.name}: {words}")
    except ScenarioError:
        raise
    except Exception as error:  # a file that is damaged or cut off can fail anywhere inside the reader
        return list(channels.values()), headings, scenario, str(error) or type(error).__name__
    return list(channels.values()), headings, scenario, ""


def _channel_of(
    record: Any,  # noqa: ANN401, records of a library that is an extra
    schema: Any,  # noqa: ANN401
    protobuf: Any,  # noqa: ANN401
    parts: MessageBudget,
) -> _Channel:
    """Return a channel and what decodes its messages."""
    stated = schema.encoding if schema is not None else "none"
    try:
        if record.message_encoding == "json":
            return _Channel(record.topic, _bounded_decoder(json.loads))
        if (record.message_encoding, stated) == ("cdr", "ros2msg"):
            return _Channel(record.topic, cdr_reader(schema.name, schema.data.decode(), parts))
        if decode := protobuf.decoder_for(record.message_encoding, schema):
            return _Channel(record.topic, _bounded_decoder(decode))
    except Exception as error:  # a definition of messages can be wrong in any way
        return _Channel(record.topic, None, one_line(f"its definition is wrong: {error}"))
    return _Channel(record.topic, None, f"encoding {record.message_encoding}, schema {stated or 'none'}")


def _bounded_decoder(decode: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """Return a decoder that refuses a message which would take a hundred times its length in memory as a whole."""

    def read(data: bytes) -> Any:  # noqa: ANN401, of any decoder
        if len(data) > MOST_MESSAGE:
            raise ValueError(f"has {in_words(len(data))}; must be at most {in_words(MOST_MESSAGE)}")
        return decode(data)

    return read


def _add_message(channel: _Channel, data: bytes, time: int, whole: bool) -> int:
    """Add a message to its channel; return how many numbers it has.

    Raises what the decoder does where the file is cut off: there it ends.
    """
    if channel.decode is None or channel.problem:
        channel.logged.append(time)
        return 0
    try:
        found = dict(numbers_in(channel.decode(data)))
    except Exception as error:
        if not whole:
            raise
        words = f"message {len(channel.logged) + 1} cannot be decoded: {str(error) or type(error).__name__}"
        channel.problem = one_line(words)
        return 0
    channel.logged.append(time)
    channel.messages.append(found)
    return len(found)


def _columns_of(channel: _Channel, names: Iterable[str], place: int) -> Iterator[LogColumn]:
    """Yield the fields of a channel's messages by these names; nan where a message lacks it."""
    for name in names:
        cells = [message.get(name, math.nan) for message in channel.messages]
        yield LogColumn(name, cells, place, path=f"{channel.topic}.{name}")


def _stretch_of(channel: _Channel, place: int) -> CommonRows:
    """Return a channel's samples; their time is that of the messages' headers, where it is set, else when they were
    recorded."""
    heading = f"{STAMP} [ns]"
    stamps = [message.get(heading, 0) for message in channel.messages]
    own = min(stamps) != max(stamps)
    cells = stamps if own else channel.logged
    clock = LogColumn(f"{channel.topic}.{STAMP if own else 'log_time'} [ns]", cells, place)
    return CommonRows(np.array(channel.numbers), channel.logged, clock, channel.topic)


def _with_shortest_names(columns: list[LogColumn]) -> list[LogColumn]:
    """Return columns by their fields, or by their topics alone where the only field is `data`; in full where that is not
    enough."""
    short = [
        column.path.removesuffix(f".{ONLY}").strip("/") if column.heading == ONLY else column.heading
        for column in columns
    ]
    count = Counter(short)
    return [
        replace(column, heading=name if count[name] == 1 else column.path)
        for name, column in zip(short, columns, strict=True)
    ]
