"""Encoders and a reader of three protocols of their own, for recorded sessions: nothing of dockdyn's is used here.

They follow the public descriptions, not the codecs: the fields of `egm.proto` V1.1 and the wire format of protocol buffers;
KUKA's published messages; the records of ATI's manuals (docs/devices.md). Values are those of the wire: mm, degrees, counts.
"""

import struct
import xml.etree.ElementTree as ET

VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5


def varint(number):
    """Seven bits a byte, the lowest first."""
    out = bytearray()
    while number > 127:
        out.append(number % 128 + 128)
        number //= 128
    return bytes([*out, number])


def whole(field, number):
    return varint(8 * field + VARINT) + varint(number)


def double(field, value):
    return varint(8 * field + FIXED64) + struct.pack("<d", value)


def message(field, *parts):
    content = b"".join(parts)
    return varint(8 * field + DELIMITED) + varint(len(content)) + content


def numbers(field, values):
    """A message of the doubles 1, 2, …"""
    return message(field, *(double(place, value) for place, value in enumerate(values, 1)))


def repeated(field, values):
    """A message whose field 1 is repeated."""
    return message(field, *(double(1, value) for value in values))


def clock(field, seconds):
    return message(field, whole(1, int(seconds)), whole(2, round(seconds % 1 * 1e6)))


def egm_robot(seqno, milliseconds, position, quaternion, euler, joints, external=(), converged=False):
    """EgmRobot as RobotWare 6.10 fills it: feedback and plan with their times, states, test signals, forces, utilisation."""

    def motion(field):
        pose = message(2, numbers(1, position), numbers(2, quaternion), numbers(3, euler))
        return message(field, repeated(1, joints), pose, repeated(3, external), clock(4, 1.6e9 + 1e-3 * milliseconds))

    return b"".join(
        (
            message(1, whole(1, seqno), whole(2, milliseconds), whole(3, 2)),
            motion(2),
            motion(3),
            message(4, whole(1, 1)),
            message(5, whole(1, 3)),
            whole(6, int(converged)),
            repeated(7, [0.0] * 5),
            message(8, whole(1, 2)),
            repeated(9, [1.5, -2.5, 3.5, 0.1, 0.2, 0.3]),
            double(10, 12.5),
        )
    )


def read_fields(content):
    """The fields of a message, in their order: number and value."""
    at, found = 0, []

    def take():
        nonlocal at
        number = shift = 0
        while True:
            byte = content[at]
            at += 1
            number += byte % 128 << shift
            shift += 7
            if byte < 128:
                return number

    while at < len(content):
        field, wire = divmod(take(), 8)
        if wire == VARINT:
            found.append((field, take()))
        else:
            size = {FIXED64: 8, FIXED32: 4}.get(wire) or take()
            found.append((field, content[at : at + size]))
            at += size
    return found


def read_egm_sensor(packet):
    """Header (seqno, ms, type), position (mm) and quaternion of an EgmSensor's planned pose; nothing else may be in it."""
    (one, header), (two, planned) = read_fields(packet)
    ((cartesian, pose),) = read_fields(planned)
    (first, position), (second, turn) = read_fields(pose)
    assert (one, two, cartesian, first, second) == (1, 2, 2, 1, 2)
    told = [[struct.unpack("<d", value)[0] for _, value in read_fields(each)] for each in (position, turn)]
    return tuple(value for _, value in read_fields(header)), *told


def rsi_robot(ipoc, actual, programmed, joints, late, decimals):
    """A message of RSI 4 by the elements that the maker's examples declare, in their order."""
    root = ET.Element("Rob", Type="KUKA")
    for name, axes, values in (("RIst", "XYZABC", actual), ("RSol", "XYZABC", programmed)):
        ET.SubElement(root, name, {axis: f"{value:.{decimals}f}" for axis, value in zip(axes, values, strict=True)})
    for name, values in (("AIPos", joints), ("ASPos", joints), ("EIPos", [0.0] * 6)):
        ET.SubElement(
            root, name, {f"{name[0]}{place}": f"{value:.{decimals}f}" for place, value in enumerate(values, 1)}
        )
    ET.SubElement(root, "Delay", D=str(late))
    ET.SubElement(root, "Tech", {f"C1{place}": "0.0" for place in range(1, 3)})
    ET.SubElement(root, "IPOC").text = str(ipoc)
    return ET.tostring(root)


def read_rsi_answer(packet):
    """Type, correction (mm, degrees) and IPOC of an answer, by a parser of XML."""
    root = ET.fromstring(packet)
    correction = [float(root.find("RKorr").attrib[axis]) for axis in "XYZABC"]
    return root.attrib["Type"], correction, int(root.findtext("IPOC"))


def rdt_record(rdt, ft, status, counts):
    """A record of ATI's RDT: three unsigned and six signed words, the highest byte first."""
    return b"".join(each.to_bytes(4, "big", signed=place > 2) for place, each in enumerate((rdt, ft, status, *counts)))
