"""ATI Net F/T: raw data transfer (RDT) over UDP, the codec of both sides. In C it is `netft.c`.

Source: ATI 9620-05 Net F/T manual, chapter RDT; see docs/devices.md.
"""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ET
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, Self

from dockdyn.parameters import parameter
from dockdyn.realtime.devices.device import BadPacket, Counts, PacketError, Reading, Sequence
from dockdyn.realtime.devices.roles import ForceSensor, Port
from dockdyn.records import record
from dockdyn.scenario.language.units import scale_of

if TYPE_CHECKING:
    from dockdyn.realtime.devices.emulated.netft import EmulatedNetFT
    from dockdyn.realtime.devices.emulated.sensor import SensorErrors
    from dockdyn.scenario.tables.emulator import EmulatedSensorSection

PORT = 49152
HEADER = 0x1234
RECORDS = 40  # at most in a packet of buffered streaming
_REQUEST = struct.Struct(">HHI")
_RECORD = struct.Struct(">3I6i")
_WORD = 2**32


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
# bits that the codec sets where the sensor tells none: its own errors come with ERROR_SUMMARY, these without
FT_STALLED = 0x00000100
FT_WENT_BACK = 0x00000200

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


@record
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
            return cls(counts[0], counts[1], scale_of(force, "N"), scale_of(torque, "N*m"))
        except ValueError as error:
            raise ValueError(f"the sensor's page has no calibration that can be used ({words}): {error}") from None


class NetFT:
    """Codec of the sensor's requests and records. Counts per unit are the resolution of the numbers on the wire."""

    def __init__(self, settings: NetFTSettings) -> None:
        self.settings = settings
        self.counts = Counts()
        self.rdt = Sequence(32)
        self.measured: int | None = None  # F/T sequence of the newest measurement

    def forget(self) -> None:
        """Forget a stream: the next record is the first."""
        self.rdt.last = self.measured = None

    def encode_request(self, command: int, samples: int = 0) -> bytes:
        """Ask for so many records, 0 without end; with a start the sensor counts from one again."""
        if command in STARTS:
            self.forget()
        return _REQUEST.pack(HEADER, command, samples)

    def decode_record(self, packet: bytes) -> Reading:
        """Take the newest of the records in a packet, with what all of them say of the sensor's health.

        Measurements that do not go on while records do are told as FT_STALLED or FT_WENT_BACK. BadPacket where it is none.
        """
        if len(packet) % _RECORD.size or not 1 <= len(packet) // _RECORD.size <= RECORDS:
            raise self.counts.refuse(PacketError.WRONG_LENGTH)
        records = list(_RECORD.iter_unpack(packet))
        number, _, _, *counts = records[-1]
        self.rdt.stride = len(records)
        try:
            self.rdt.advance(number, self.counts)
        except BadPacket as bad:
            raise self.counts.refuse(bad.error) from None
        self.counts.good += 1
        told = progress = 0
        for _, measured, status, *_ in records:
            told |= status
            progress |= self._follow(measured)
        mine = self.settings
        force = tuple(each / mine.counts_per_force * mine.newtons for each in counts[:3])
        torque = tuple(each / mine.counts_per_torque * mine.newton_metres for each in counts[3:])
        return Reading(force, torque, self.rdt.last or 0, told or progress)

    def _follow(self, measured: int) -> int:
        """Follow the F/T sequence: zero where it goes on, else the bit for that it does not."""
        step = 1 if self.measured is None else (measured - self.measured) % _WORD
        if step == 0:
            return FT_STALLED
        if step >= _WORD // 2:
            return FT_WENT_BACK
        self.measured = measured
        return 0

    def decode_request(self, packet: bytes) -> tuple[int, int]:
        """Return the sensor's side: the command and the number of samples; BadPacket where it is none."""
        if len(packet) != _REQUEST.size:
            raise self.counts.refuse(PacketError.WRONG_LENGTH)
        header, command, samples = _REQUEST.unpack(packet)
        if header != HEADER:
            raise self.counts.refuse(PacketError.WRONG_HEADER)
        self.counts.good += 1
        return command, samples

    def encode_record(self, reading: Reading, ft_sequence: int = 0) -> bytes:
        """Return the sensor's side: a record, to the nearest count; BadPacket for what does not fit into 32 bits."""
        mine = self.settings
        scaled = [each / mine.newtons * mine.counts_per_force for each in reading.force]
        scaled += [each / mine.newton_metres * mine.counts_per_torque for each in reading.torque]
        try:
            counts = [round(each) for each in scaled]
            return _RECORD.pack(reading.sequence % 2**32, ft_sequence % 2**32, reading.status, *counts)
        except (ValueError, OverflowError, struct.error):
            raise BadPacket(PacketError.OUT_OF_RANGE) from None


class NetFTSensor(ForceSensor):
    """A force sensor of ATI, Net F/T: where it is asked, and its calibration."""

    struct = "netft"
    asked = counts_measurements = True
    controller_settings = (
        (
            "Communications page: RDT Interface enabled; RDT Output Rate at least that of loop.sensor, and below that at "
            "which the sensor measures, by the ADC settings page of an Axia: its 1 kHz are 976 Hz, its 2 kHz 1953 Hz",
            "a sensor that measures more seldom than it tells repeats measurements, which is taken for a fault",
        ),
        (
            "counts_per_force, counts_per_torque: from the sensor's page netftapi2.xml (cfgcpf, cfgcpt), for N and N m",
            "the bytes hold counts alone",
        ),
        (
            "Configurations page: units N and Nm, Tool Transform of zero",
            "what the sensor carries and where it is, [loop.tool] and [loop.sensor_frame] say",
        ),
        (
            "Thresholding page: off",
            "a condition that has been latched stays in the status (0x00010000), and stops the rig",
        ),
        ("Settings page: Low-Pass Filter as loop.sensor says", "a filter delays the force"),
        ("one client alone", "the sensor answers who has asked last"),
    )
    unconfirmed = (
        "how many records a packet of buffered streaming has at most: 40 are assumed",
        "that a Net F/T tells no measurement twice at rates below that at which it measures; ATI says so of Ethernet Axia",
        "the name of the Communications page and of what is set on it, which are from memory; ATI's manuals that were seen"
        " name Configurations, Thresholding and ADC settings of an Axia, and setting.cgi with the filter of a Net F/T",
    )

    kind: Literal["ati-netft"]
    port: Port = PORT
    counts_per_force: float = parameter("", "a number of counts", default=1e6, above=0)
    counts_per_torque: float = parameter("", "a number of counts", default=1e6, above=0)

    def settings(self, period: float) -> NetFTSettings:
        return NetFTSettings(self.counts_per_force, self.counts_per_torque)

    def stated(self) -> tuple[tuple[str, str], ...]:
        return (
            (f"netftapi2.xml: cfgcpf {self.counts_per_force:g} for N", "counts_per_force"),
            (f"netftapi2.xml: cfgcpt {self.counts_per_torque:g} for N m", "counts_per_torque"),
        )

    def emulate(
        self, settings: NetFTSettings, errors: SensorErrors, period: float, stated: EmulatedSensorSection
    ) -> EmulatedNetFT:
        from dockdyn.realtime.devices.emulated.netft import EmulatedNetFT

        return EmulatedNetFT(settings, errors, internal_rate=stated.measuring_rate)
