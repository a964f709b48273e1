"""ATI Net F/T: raw data transfer (RDT) over UDP, the codec of both sides. In C it is `netft.c`.

Source: ATI 9620-05 Net F/T manual, chapter RDT; see docs/devices.md.
"""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from enum import IntEnum
from typing import Self

from dockdyn.realtime.devices.device import BadPacket, Counts, PacketError, Reading, Sequence
from dockdyn.scenario.language.units import convert

PORT = 49152
HEADER = 0x1234
RECORDS = 40  # at most in a packet of buffered streaming
_REQUEST = struct.Struct(">HHI")
_RECORD = struct.Struct(">3I6i")


class RequestCommand(IntEnum):
    """What a client asks the sensor for."""

    STOP = 0
    REAL_TIME = 2
    BUFFERED = 3
    BIAS = 0x42


STARTS = (RequestCommand.REAL_TIME, RequestCommand.BUFFERED)

# bits of a record's status
ERROR_SUMMARY = 0x80000000
SATURATED = 0x00020000
CONDITION_LATCHED = 0x00010000

# as the sensor's page names its units, and as a unit's own name is
_UNITS = {
    "lbf-in": "lbf*inch",
    "lbf-ft": "lbf*foot",
    "Nm": "N*m",
    "N-m": "N*m",
    "Nmm": "N*mm",
    "N-mm": "N*mm",
    "kg-cm": "kgf*cm",
    "kgf-cm": "kgf*cm",
    "kNm": "kN*m",
    "kN-m": "kN*m",
    "klbf": "1000*lbf",
}


@dataclass(frozen=True)
class NetFTSettings:
    """The calibration of a sensor: counts per its own unit, and what these units are in N and N m; ValueError for none."""

    counts_per_force: float = 1e6
    counts_per_torque: float = 1e6
    newtons: float = 1.0
    newton_metres: float = 1.0

    def __post_init__(self) -> None:
        if not all(0 < each < 1e12 for each in (self.counts_per_force, self.counts_per_torque)):
            raise ValueError(f"counts per unit must be positive and below 1e12: {self}")
        if not all(0 < each < 1e6 for each in (self.newtons, self.newton_metres)):
            raise ValueError(f"units must be positive and below 1e6 N or N m: {self}")

    @classmethod
    def read_page(cls, page: str | bytes) -> Self:
        """Take the calibration from the sensor's page `netftapi2.xml`; ValueError where it has none that can be used."""
        try:
            root = ET.fromstring(page)
        except ET.ParseError as error:
            raise ValueError(f"the sensor's page is no XML: {error}") from None
        words = {tag: (root.findtext(f".//{tag}") or "").strip() for tag in ("cfgcpf", "cfgcpt", "scfgfu", "scfgtu")}
        try:
            counts = [float(words[tag]) for tag in ("cfgcpf", "cfgcpt")]
            force, torque = (_UNITS.get(words[tag], words[tag]) for tag in ("scfgfu", "scfgtu"))
            return cls(counts[0], counts[1], convert(f"1 {force}", "N"), convert(f"1 {torque}", "N*m"))
        except ValueError as error:
            raise ValueError(f"the sensor's page has no calibration that can be used ({words}): {error}") from None


class NetFT:
    """Codec of the sensor's requests and records. Counts per unit are the resolution of the numbers on the wire."""

    def __init__(self, settings: NetFTSettings) -> None:
        self.settings = settings
        self.counts = Counts()
        self.rdt = Sequence(32)

    def encode_request(self, command: int, samples: int = 0) -> bytes:
        """Ask for so many records, 0 without end; with a start the sensor counts from one again."""
        if command in STARTS:
            self.rdt.last = None
        return _REQUEST.pack(HEADER, command, samples)

    def decode_record(self, packet: bytes) -> Reading:
        """Take the newest of the records in a packet; those before it count as received. BadPacket where it is none."""
        records, rest = divmod(len(packet), _RECORD.size)
        if rest or not 1 <= records <= RECORDS:
            raise self.counts.refuse(PacketError.WRONG_LENGTH)
        number, _, status, *counts = _RECORD.unpack(packet[-_RECORD.size :])
        self.rdt.stride = records
        try:
            self.rdt.advance(number, self.counts)
        except BadPacket as bad:
            raise self.counts.refuse(bad.error) from None
        self.counts.good += 1
        mine = self.settings
        force = tuple(each / mine.counts_per_force * mine.newtons for each in counts[:3])
        torque = tuple(each / mine.counts_per_torque * mine.newton_metres for each in counts[3:])
        return Reading(force, torque, self.rdt.last or 0, status)

    def decode_request(self, packet: bytes) -> tuple[int, int]:
        """The sensor's side: the command and the number of samples; BadPacket where it is none."""
        if len(packet) != _REQUEST.size:
            raise self.counts.refuse(PacketError.WRONG_LENGTH)
        header, command, samples = _REQUEST.unpack(packet)
        if header != HEADER:
            raise self.counts.refuse(PacketError.WRONG_HEADER)
        self.counts.good += 1
        return command, samples

    def encode_record(self, reading: Reading, ft_sequence: int = 0) -> bytes:
        """The sensor's side: a record, to the nearest count; BadPacket for what does not fit into 32 bits."""
        mine = self.settings
        scaled = [each / mine.newtons * mine.counts_per_force for each in reading.force]
        scaled += [each / mine.newton_metres * mine.counts_per_torque for each in reading.torque]
        try:
            counts = [round(each) for each in scaled]
            return _RECORD.pack(reading.sequence % 2**32, ft_sequence % 2**32, reading.status, *counts)
        except (ValueError, OverflowError, struct.error):
            raise BadPacket(PacketError.OUT_OF_RANGE) from None
