"""KUKA RSI: messages as published, angles, corrections from the start or added up, and what is refused by which name."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dockdyn.realtime.devices.device import BadPacket, PacketError, ToolCommand, ToolPose
from dockdyn.realtime.devices.emulated.rsi import correct_pose
from dockdyn.realtime.devices.rsi import RSI, RSISettings

# as KUKA's own client library has it in its tests (docs/devices.md)
PUBLISHED = (
    b'<Rob Type="KUKA"><RIst X="5.32000" Y="6.4" Z="111.30000" A="12.20000" B="0.00000" C="12.50000"/>'
    b'<AIPos A1="8.2" A2="3.3" A3="111.67" A4="12.22220" A5="-35.20000" A6="-12.50000"/>'
    b'<EIPos E1="1000.00000" E2="2000.00000" E3="3000.00000" E4="4000.00000" E5="5000.00000" E6="6000.00000"/>'
    b'<Delay D="11"/><IPOC>357</IPOC></Rob>'
)
START = b'<Rob Type="KUKA"><RIst X="540.4" Y="0.0" Z="915.0" A="180.0" B="0.0" C="180.0"/><IPOC>%d</IPOC></Rob>'
chance = np.random.default_rng(3)


def rotation(command):
    return Rotation.from_rotvec(command.rotation_vector)


def test_a_published_message():
    codec = RSI(RSISettings())
    pose = codec.decode_robot(PUBLISHED)
    assert pose.position == pytest.approx((0.00532, 0.0064, 0.1113), rel=1e-15)
    expected = Rotation.from_euler("ZYX", (12.2, 0, 12.5), degrees=True).as_rotvec()
    assert pose.rotation_vector == pytest.approx(tuple(expected), abs=1e-15)
    joints = (0.14311699, 0.0575958, 1.9490091, 0.213317, -0.614355, -0.218166)  # rad, as the library's tests have them
    assert pose.joints[:6] == pytest.approx(joints, abs=2e-6)
    assert (pose.sequence, pose.status, codec.late) == (357, 0, 11)
    for late, status in ((11, 0), (14, 3), (14, 0), (2, 0)):  # more than before
        later = PUBLISHED.replace(b"357", b"%d" % (codec.ipoc.last + 4)).replace(b'"11"', b'"%d"' % late)
        assert codec.decode_robot(later).status == status


def test_the_answer_by_hand():
    """A shift of 1 mm, −2 mm, 0 and a turn of 90° about the base's z, echoing the IPOC as it was written."""
    codec = RSI(RSISettings(decimals=4))
    codec.decode_robot(START.replace(b"%d", b"0004894312"))
    start = Rotation.from_euler("ZYX", (180, 0, 180), degrees=True)
    wanted = Rotation.from_euler("Z", 90, degrees=True) * start
    told = codec.encode_answer(ToolCommand((0.5414, -0.002, 0.915), tuple(wanted.as_rotvec())))
    correction = b'<RKorr X="1.0000" Y="-2.0000" Z="0.0000" A="90.0000" B="0.0000" C="0.0000"/>'
    assert told == b'<Sen Type="ImFree">' + correction + b"<IPOC>0004894312</IPOC></Sen>"


def test_what_is_written_is_xml_to_others_too():
    codec = RSI(RSISettings())
    codec.decode_robot(codec.encode_robot(ToolPose((1, 2, 3), sequence=12), ToolCommand((1, 2, 3))))
    for packet in (codec.encode_robot(ToolPose(), ToolCommand()), codec.encode_answer(ToolCommand((1, 2, 3)))):
        root = ET.fromstring(packet)
        assert root.tag in ("Rob", "Sen") and root.findtext("IPOC").isdigit()


@pytest.mark.parametrize("relative", [False, True])
def test_corrections_lead_to_the_pose_within_their_rounding(relative):
    """From the start, or added up over a hundred cycles without a drift: half of the last decimal, in mm and degrees.

    A turn of Euler angles, each wrong by half a decimal, is wrong by at most the sum of the three.
    """
    settings = RSISettings(relative=relative, decimals=3)
    codec, robot = RSI(settings), RSI(settings)
    start = ToolPose((0.5, -0.2, 0.9), (0.3, 2.0, -1.0), sequence=4)
    reached = ToolCommand(start.position, start.rotation_vector)
    codec.decode_robot(RSI(RSISettings()).encode_robot(start, reached))
    first = ToolCommand(*reached.__dict__.values())
    allowed = 0.5e-6 + 1e-9  # the start itself is told to 1e-9 m
    for cycle in range(100):
        wanted = ToolCommand(tuple(0.5 * chance.standard_normal(3)), tuple(chance.standard_normal(3)))
        correction, ipoc = robot.decode_answer(codec.encode_answer(wanted))
        reached = correct_pose(reached if relative else first, correction)
        assert ipoc == 4 + 4 * cycle
        np.testing.assert_allclose(reached.position, wanted.position, atol=allowed, rtol=0)
        assert (rotation(reached) * rotation(wanted).inv()).magnitude() < np.deg2rad(1.5e-3 + 1e-6)
        codec.decode_robot(START % (8 + 4 * cycle))


@pytest.mark.parametrize(
    ("packet", "error"),
    [
        (b"", "WRONG_LENGTH"),
        (PUBLISHED + b" " * 2048, "WRONG_LENGTH"),
        (b"hello", "MALFORMED"),
        (PUBLISHED[:-1], "MALFORMED"),
        (PUBLISHED + b"x", "MALFORMED"),
        (PUBLISHED.replace(b"</IPOC>", b""), "MALFORMED"),
        (PUBLISHED.replace(b'"5.32000"', b"5.32000"), "MALFORMED"),
        (PUBLISHED.replace(b"<IPOC>", b"<IPOC><A/>"), "MALFORMED"),
        (b'<?xml version="1.0"?>' + PUBLISHED, "MALFORMED"),
        (b"<!--x-->" + PUBLISHED, "MALFORMED"),
        (PUBLISHED.replace(b"Rob", b"Sen"), "WRONG_HEADER"),
        (PUBLISHED.replace(b"RIst", b"Rist"), "MISSING_FIELD"),
        (PUBLISHED.replace(b' B="0.00000"', b""), "MISSING_FIELD"),
        (PUBLISHED.replace(b"IPOC", b"IPO"), "MISSING_FIELD"),
        (PUBLISHED.replace(b"5.32000", b"5,32000"), "NOT_A_NUMBER"),
        (PUBLISHED.replace(b"5.32000", b"nan"), "NOT_A_NUMBER"),
        (PUBLISHED.replace(b"5.32000", b"0x10"), "NOT_A_NUMBER"),
        (PUBLISHED.replace(b"357", b"-357"), "NOT_A_NUMBER"),
        (PUBLISHED.replace(b"357", b"3" * 20), "NOT_A_NUMBER"),
        (PUBLISHED.replace(b"5.32000", b"1e300"), "OUT_OF_RANGE"),
        (PUBLISHED.replace(b"5.32000", b"1e13"), "OUT_OF_RANGE"),
    ],
)
def test_bad_messages_have_a_name(packet, error):
    codec = RSI(RSISettings())
    with pytest.raises(BadPacket, match=PacketError[error].words):
        codec.decode_robot(packet)
    assert codec.counts.bad[PacketError[error]] == 1 and codec.counts.good == 0


def test_a_message_twice_or_of_the_past_is_stale_and_missed_cycles_count():
    codec = RSI(RSISettings(period=4))
    codec.decode_robot(START % 400)
    codec.decode_robot(START % 412)
    for ipoc in (412, 408):
        with pytest.raises(BadPacket, match="stale"):
            codec.decode_robot(START % ipoc)
    assert codec.counts.lost == 2
    codec.forget()
    assert codec.decode_robot(START % 4).sequence == 4


@pytest.mark.parametrize("period", [4, 12])
def test_a_clock_of_32_bits_goes_on_when_it_wraps(period):
    """After 2³² ms, 49 days; and a clock with more bits, as in the maker's examples, does not wrap there."""
    codec = RSI(RSISettings(period=period))
    first = 2**32 - 3 * period + 1
    told = [codec.decode_robot(START % ((first + step * period) % 2**32)) for step in range(9)]
    assert [pose.sequence for pose in told] == [first + step * period for step in range(9)]
    assert codec.counts.lost == 0 and codec.encode_answer(ToolCommand()).endswith(
        b"<IPOC>%d</IPOC></Sen>" % codec.clock
    )
    with pytest.raises(BadPacket, match="stale"):
        codec.decode_robot(START % (2**32 - period + 1))
    wide = RSI(RSISettings(period=period))
    assert [wide.decode_robot(START % (first + step * period)).sequence for step in range(9)] == [
        first + step * period for step in range(9)
    ]
    assert wide.counts.lost == 0


RUNNING = (
    b'<Rob Type="KUKA"><RIst X="504.0" Y="0.0" Z="900.0" A="10.0" B="0.0" C="0.0"/>'
    b'<RSol X="500.0" Y="0.0" Z="900.0" A="0.0" B="0.0" C="0.0"/><IPOC>%d</IPOC></Rob>'
)


@pytest.mark.parametrize(("relative", "shift", "turn"), [(False, "4.000", "10.000"), (True, "0.000", "0.000")])
def test_a_robot_that_is_corrected_already_is_held_where_it_is(relative, shift, turn):
    """The setpoint it tells is the programmed pose, 4 mm and 10° behind it: from there absolute corrections count. Those
    that add up begin at zero."""
    codec = RSI(RSISettings(relative=relative, decimals=3))
    pose = codec.decode_robot(RUNNING % 400)
    told = codec.encode_answer(ToolCommand(pose.position, pose.rotation_vector))
    assert f'<RKorr X="{shift}" Y="0.000" Z="0.000" A="{turn}" B="0.000" C="0.000"/>'.encode() in told


def test_before_the_robot_has_told_its_pose_nothing_is_answered():
    with pytest.raises(BadPacket, match="missing-field"):
        RSI(RSISettings()).encode_answer(ToolCommand())


@pytest.mark.parametrize("text", [b"5", b"-5.", b".5", b"0.1", b"+1e-3", b"123456.789012", b"1E+5", b"-0.000000001234"])
def test_numbers_are_those_of_python(text):
    pose = RSI(RSISettings()).decode_robot((START % 4).replace(b'Y="0.0"', b'Y="%s"' % text))
    assert pose.position[1] == float(text) / 1000.0
