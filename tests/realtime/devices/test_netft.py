"""ATI Net F/T: bytes by hand, counts and units, sequences that wrap, the sensor's page."""

import random
import struct

import pytest

from dockdyn.realtime.devices.device import BadPacket, PacketError, Reading
from dockdyn.realtime.devices.netft import FT_STALLED, FT_WENT_BACK, NetFT, NetFTSettings, RequestCommand

PAGE = """<?xml version="1.0"?>
<netft><prodname>Net F/T</prodname><cfgcpf>{cpf}</cfgcpf><cfgcpt>1000000</cfgcpt>
<scfgfu>{force}</scfgfu><scfgtu>{torque}</scfgtu></netft>"""


def record(rdt, counts=(0,) * 6, status=0, ft=0):
    return struct.pack(">III6i", rdt, ft, status, *counts)


@pytest.mark.parametrize(
    ("command", "samples", "bytes_"),
    [
        (RequestCommand.REAL_TIME, 0, "1234 0002 00000000"),
        (RequestCommand.BUFFERED, 7, "1234 0003 00000007"),
        (RequestCommand.BIAS, 0, "1234 0042 00000000"),
        (RequestCommand.STOP, 0, "1234 0000 00000000"),
    ],
)
def test_requests_by_hand(command, samples, bytes_):
    codec = NetFT(NetFTSettings())
    assert codec.encode_request(command, samples) == bytes.fromhex(bytes_)
    assert codec.decode_request(bytes.fromhex(bytes_)) == (command, samples)


def test_a_record_by_hand():
    told = bytes.fromhex("00000005 00000190 80010000 000f4240 fff0bdc0 00000001 0007a120 00000000 ffffffff")
    reading = NetFT(NetFTSettings()).decode_record(told)
    assert reading == Reading((1.0, -1.0, 1e-6), (0.5, 0.0, -1e-6), 5, 0x80010000)
    assert NetFT(NetFTSettings()).encode_record(reading, 400) == told


def test_counts_are_in_the_units_of_the_sensor():
    """1 lbf is 4.448 N, and 1 lbf in 0.11298 N m; the newest record of several counts."""
    settings = NetFTSettings.read_page(PAGE.format(cpf="1000", force="lbf", torque="lbf-in"))
    reading = NetFT(settings).decode_record(record(1) + record(2, (1000, 0, -2000, 1000000, 0, 0)))
    assert reading.force == pytest.approx((4.4482216152605, 0, -8.896443230521), rel=1e-12)
    assert reading.torque == pytest.approx((0.1129848290276167, 0, 0), rel=1e-12)
    assert reading.sequence == 2


@pytest.mark.parametrize("unit", ["lbf", "N", "klbf", "kN", "kgf"])
@pytest.mark.parametrize("torque", ["lbf-in", "lbf-ft", "Nm", "N-m", "Nmm", "N-mm", "kg-cm", "kgf-cm", "kN-m"])
def test_all_units_of_a_page_are_known(unit, torque):
    settings = NetFTSettings.read_page(PAGE.format(cpf="2.5", force=unit, torque=torque))
    assert settings.counts_per_force == 2.5 and 0.05 < settings.newtons < 5000 and 1e-4 < settings.newton_metres < 1001


@pytest.mark.parametrize(
    "page",
    [
        "no xml <",
        "<netft/>",
        PAGE.format(cpf="many", force="N", torque="Nm"),
        PAGE.format(cpf="1", force="kg", torque="Nm"),
        PAGE.format(cpf="1", force="N", torque="Nm/rad"),
        PAGE.format(cpf="0", force="N", torque="Nm"),
        PAGE.format(cpf="nan", force="N", torque="Nm"),
    ],
)
def test_a_page_without_a_calibration_is_refused_in_a_line(page):
    with pytest.raises(ValueError, match="the sensor's page") as refused:
        NetFTSettings.read_page(page)
    assert "\n" not in str(refused.value)


def test_bad_records_are_counted_by_their_names():
    codec = NetFT(NetFTSettings())
    for packet, error in (
        (b"", "WRONG_LENGTH"),
        (record(1)[:-1], "WRONG_LENGTH"),
        (record(1) * 41, "WRONG_LENGTH"),
        (record(1), None),
        (record(1), "STALE"),
        (record(0), "STALE"),
        (record(9), None),
        (record(8), "STALE"),
    ):
        if error:
            with pytest.raises(BadPacket, match=PacketError[error].words):
                codec.decode_record(packet)
        else:
            codec.decode_record(packet)
    assert (codec.counts.good, codec.counts.lost) == (2, 7)
    assert codec.counts.bad[PacketError.WRONG_LENGTH] == codec.counts.bad[PacketError.STALE] == 3


def test_a_sequence_wraps_and_a_start_begins_it_anew():
    codec = NetFT(NetFTSettings())
    told = [codec.decode_record(record(each)).sequence for each in (2**32 - 2, 2**32 - 1, 0, 5)]
    assert told == [2**32 - 2, 2**32 - 1, 2**32, 2**32 + 5] and codec.counts.lost == 4
    codec.encode_request(RequestCommand.REAL_TIME)
    assert codec.decode_record(record(1)).sequence == 1


@pytest.mark.parametrize("seed", range(20))
def test_measurements_that_do_not_go_on_while_records_do_are_a_fault(seed):
    """Streams with packets of one to eight records: sound until one record stands still or goes back, and not sound again
    before a measurement is newer than all before it. The sequence wraps within the stream."""
    chance = random.Random(seed)
    codec, together = NetFT(NetFTSettings()), chance.randrange(1, 9)
    rdt, ft, newest = 0, 2**32 - chance.randrange(1, 200), 0
    for packet in range(60):
        records, expected = [], 0
        for _ in range(together):
            step = chance.choice((0, -1, -7, -(2**31))) if chance.random() < 0.05 else chance.randrange(1, 9)
            rdt, newest_before, ft = rdt + 1, newest, ft + step
            if packet == 0 and not records:
                newest = ft
            elif ft > newest_before:
                newest = ft
            else:
                expected |= FT_STALLED if ft == newest_before else FT_WENT_BACK
            records.append(record(rdt, status=0, ft=ft % 2**32))
            ft = max(ft, newest)  # what follows goes on from where the sensor was
        assert codec.decode_record(b"".join(records)).status == expected
    assert codec.counts.good == 60


def test_five_records_of_one_measurement_are_five_faults():
    codec = NetFT(NetFTSettings())
    told = [codec.decode_record(record(number, (number,) * 6, ft=100)).status for number in range(1, 7)]
    assert told == [0] + 5 * [FT_STALLED]
    assert codec.decode_record(record(7, ft=101)).status == 0
    assert codec.decode_record(record(8, ft=3)).status == FT_WENT_BACK  # as after its power was off
    codec.encode_request(RequestCommand.REAL_TIME)
    assert codec.decode_record(record(1, ft=10)).status == 0


@pytest.mark.parametrize("which", range(5))
def test_no_record_of_a_packet_is_unwell_without_being_told(which):
    """Whichever of the five says so; what the sensor says goes before what the codec finds."""
    codec = NetFT(NetFTSettings())
    told = [record(number, status=0x80000004 if number == which else 0, ft=7 * number) for number in range(5)]
    assert codec.decode_record(b"".join(told)).status == 0x80000004
    told = [record(5 + number, status=0x80020000 if number == which else 0, ft=30) for number in range(5)]
    assert codec.decode_record(b"".join(told)).status == 0x80020000


def test_what_does_not_fit_into_32_bits_is_not_written():
    with pytest.raises(BadPacket, match="out-of-range"):
        NetFT(NetFTSettings()).encode_record(Reading((3000.0, 0, 0)))
    with pytest.raises(BadPacket, match="out-of-range"):
        NetFT(NetFTSettings()).encode_record(Reading((float("nan"), 0, 0)))
