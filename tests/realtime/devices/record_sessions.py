"""Recorded sessions of ABB EGM, KUKA RSI and ATI Net F/T, written by the encoders of `independent.py`, as files.

A line of a file is a packet, in hexadecimal, and what it means in SI, from the numbers that went into it; or the name by which
it must be refused. `python record_sessions.py` in this folder writes the files again.
"""

import json
import math
from pathlib import Path

from independent import egm_robot, rdt_record, rsi_robot
from scipy.spatial.transform import Rotation

FOLDER = Path(__file__).parent / "sessions"
STALLED, WENT_BACK, NEW_SESSION = 0x100, 0x200, 8


def path(cycle):
    """A tool that swings: mm, degrees about z, y', x'', joints in degrees."""
    phase = 0.05 * cycle
    position = [500 + 20 * math.sin(phase), -250 + 10 * math.cos(phase), 1500 - 0.25 * cycle]
    angles = [12.5 + 5 * math.sin(phase), -7.25, 170 + 0.5 * cycle]
    return position, angles, [10.0, -90.0 + 0.1 * cycle, 45.5, -30.25, 60.0, -179.5]


def pose(position, rotation, joints, **more):
    """A pose in SI."""
    vector = rotation.as_rotvec().tolist()
    told = [math.radians(each) for each in joints]
    return {"position": [each / 1000 for each in position], "rotation": vector, "joints": told} | more


def egm_session():
    """A robot of seven axes: 30 cycles, one message lost, one twice, one of the past; then it counts from zero again."""
    numbers = [*range(30), 31, 31, 29, 32, *range(20)]
    newest, sessions = -1, 0
    for cycle, number in enumerate(numbers):
        position, angles, joints = path(cycle)
        rotation = Rotation.from_euler("ZYX", angles, degrees=True)
        x, y, z, w = rotation.as_quat().tolist()
        packet = egm_robot(
            number, 4 * cycle, position, [w, x, y, z], angles[::-1], joints, [33.25, 0.0], cycle % 7 == 0
        )
        begins = number == 0 and cycle > 0
        if number <= newest and not begins:
            yield packet, {"error": "stale"}
            continue
        sessions, newest = sessions + begins, number
        status = NEW_SESSION if begins else 0
        yield packet, pose(position, rotation, [*joints, 33.25, 0.0], sequence=sessions * 2**32 + number, status=status)


def rsi_session():
    """A robot of 4 ms with four decimals whose clock wraps; two answers were late; one message comes twice, one is lost."""
    cycles = [*range(25), 24, *range(26, 50)]
    before = None
    for cycle in cycles:
        position, angles, joints = path(cycle)
        actual = [round(each, 4) for each in (*position, *angles)]
        clock, late = 2**32 - 40 + 4 * cycle, 3 + 2 * (cycle >= 40)
        packet = rsi_robot(clock % 2**32, actual, [500, -240, 1500, 12.5, -7.25, 170], joints, late, 4)
        if cycle == before:
            yield packet, {"error": "stale"}
            continue
        status = 2 if cycle == 40 else 0
        rotation = Rotation.from_euler("ZYX", actual[3:], degrees=True)
        told = [round(each, 4) for each in joints]
        yield packet, pose(actual[:3], rotation, told, sequence=clock, status=status)
        before = cycle


def netft_session():
    """A sensor of 1 kHz that measures at 7 kHz; then packets of five records, one of which is unwell; then it stands still."""

    def counts(step):
        return [round(1e6 * math.sin(0.1 * step)), -step, 2**31 - 1 - step, -(2**31) + step, 7, 0]

    def record(rdt, ft, status=0):
        return rdt_record(rdt, ft % 2**32, status, counts(rdt))

    def reading(rdt, status=0):
        told = counts(rdt)
        return {
            "force": [each / 1e6 for each in told[:3]],
            "torque": [each / 2e6 for each in told[3:]],
            "sequence": rdt,
        } | {"status": status}

    ft = 2**32 - 100  # it wraps
    for rdt in range(1, 41):
        yield record(rdt, ft + 7 * rdt), reading(rdt)
    yield record(40, ft + 280), {"error": "stale"}
    for first in range(41, 71, 5):
        status = 0x80000008 if first == 51 else 0
        parts = [record(rdt, ft + 7 * rdt, status if rdt == first + 2 else 0) for rdt in range(first, first + 5)]
        yield b"".join(parts), reading(first + 4, status)
    for rdt in range(71, 76):
        yield record(rdt, ft + 490), reading(rdt, STALLED)
    yield record(76, ft + 532), reading(76)
    yield record(77, 12), reading(77, WENT_BACK)
    yield record(78, ft + 546)[:-1], {"error": "wrong-length"}


SESSIONS = {"abb-egm": egm_session, "kuka-rsi": rsi_session, "ati-netft": netft_session}


def lines(name):
    """The lines of a session's file."""
    return [json.dumps({"packet": packet.hex()} | meaning) for packet, meaning in SESSIONS[name]()]


def read(name):
    """The packets of a session and what they mean, from its file."""
    told = [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text().splitlines()]
    return [(bytes.fromhex(each.pop("packet")), each) for each in told]


if __name__ == "__main__":
    for each in SESSIONS:
        (FOLDER / f"{each}.jsonl").write_text("\n".join([*lines(each), ""]))
