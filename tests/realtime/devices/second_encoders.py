"""Sessions with robots as bytes, by rules of their own: NumPy's numbers and SciPy's rotations after the public sources.

Nothing of dockdyn is in it. `python second_encoders.py` writes the recorded sessions anew.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

RECORDED = Path(__file__).parent / "recorded"
NAMES = "timestamp,actual_TCP_pose,actual_q,actual_TCP_force,robot_status_bits,safety_status_bits"
TYPES = "DOUBLE,VECTOR6D,VECTOR6D,VECTOR6D,UINT32,UINT32"


class Message(NamedTuple):
    """What went over the wire: to the robot or from it, on which connection, when (s)."""

    to_robot: bool
    way: str
    time: float
    content: bytes

    def line(self) -> str:
        return f"{'>' if self.to_robot else '<'} {self.way} {self.time:.4f} {self.content.hex()}"


def read_session(name: str) -> list[Message]:
    """A session of a file, a message a line."""
    words = [line.split() for line in (RECORDED / name).read_text().splitlines() if not line.startswith("#")]
    return [Message(way == ">", where, float(time), bytes.fromhex(content)) for way, where, time, content in words]


def big(kind: str, *values: float) -> bytes:
    """Numbers, the first byte the highest."""
    return np.array(values, dtype=f">{kind}").tobytes()


def package(letter: str, content: bytes) -> bytes:
    """Universal Robots: length of all, letter, content."""
    return big("u2", 3 + len(content)) + letter.encode() + content


def place(step: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the tool is in a step: m, and a rotation vector about a skew axis."""
    turn = Rotation.from_rotvec([0.1, -0.2, 0.3]) * Rotation.from_rotvec([0.0, 0.0, 0.002 * step])
    return np.array([0.4 + 1e-4 * step, -0.1, 0.5 - 5e-5 * step]), turn.as_rotvec()


def target(step: int) -> tuple[np.ndarray, np.ndarray]:
    """The command of a step: where the tool is one step later."""
    return place(step + 1)


def universal_robots() -> list[Message]:
    """Version 2 at 250 Hz: agreement, start, a text, 24 packages of which one was left out, commands of 20 ms, pause."""
    recipe = big("f8", 250.0) + NAMES.encode()
    session = [
        Message(True, "rtde", 0.0, package("V", big("u2", 2))),
        Message(False, "rtde", 0.001, package("V", b"\x01")),
        Message(True, "rtde", 0.002, package("O", recipe)),
        Message(False, "rtde", 0.003, package("O", b"\x07" + TYPES.encode())),
        Message(True, "rtde", 0.004, package("S", b"")),
        Message(False, "rtde", 0.005, package("S", b"\x01")),
    ]
    for step in (step for step in range(25) if step != 11):
        time = 0.01 + 0.004 * step
        if step == 5:
            words = (b"program started", b"RTDE")
            text = b"".join(bytes([len(each)]) + each for each in words) + b"\x03"
            session.append(Message(False, "rtde", time, package("M", text)))
        position, turn = place(step)
        joints, wrench = 0.1 * np.arange(6) - 0.01 * step, np.array([1, -2, 3, 0.1, 0.2, -0.3]) * (1 + step)
        safety = 1 if step < 23 else 1 << 2
        numbers = big("f8", 1234.002 + 0.004 * step, *position, *turn, *joints, *wrench)
        session.append(Message(False, "rtde", time, package("U", b"\x07" + numbers + big("u4", 3, safety))))
        if step < 23:
            wanted = np.concatenate(target(step))
            session.append(Message(True, "reverse", time + 0.001, big("i4", 20, *np.rint(1e6 * wanted).astype(int), 5)))
    session.append(Message(True, "rtde", 0.12, package("P", b"")))
    session.append(Message(False, "rtde", 0.121, package("P", b"\x01")))
    return session


def nine(position: np.ndarray, turn: np.ndarray) -> bytes:
    """FANUC: X Y Z in mm, W P R in degrees about fixed axes, and extended axes that stand."""
    angles = Rotation.from_rotvec(turn).as_euler("xyz", degrees=True)
    return big("f4", *(1e3 * position), *angles, 750.5, -30.25, 0.0)


def stream_motion() -> list[Message]:
    """Version 3 at 8 ms with two commands in advance: version, capability, start, 15 messages of which one is lost on the way,
    a rest in which the robot does not wait, the last command, stop."""
    session = [
        Message(True, "udp", 0.0, big("u4", 6, 3)),
        Message(False, "udp", 0.001, big("u4", 6, 3)),
        Message(True, "udp", 0.002, big("u4", 7, 3, 1, 0, 0, 0, 0)),
        Message(False, "udp", 0.003, big("u4", 7, 3, 1, 8, 1, 3, 1)),
        Message(True, "udp", 0.004, big("u4", 0, 3)),
    ]
    last, number = b"", 4294967290  # which wraps
    sent = number
    for step in (step for step in range(16) if step != 6):
        time, moving = 0.008 * step + 0.01, 0 < step < 11
        position, turn = place(min(step, 10))
        state = 0b1111 if moving else 0b0101 if step == 0 else 0b0110
        head = big("u4", 0, 3, (number + step) % 2**32) + bytes([state, 0]) + big("u2", 0, 0, 0)
        head += big("u4", 5000 + 8 * step)
        joints = big("f4", *(10.0 * np.arange(9) - step)) + big("f4", *np.full(9, 0.5))
        session.append(Message(False, "udp", time, head + nine(position, turn) + joints))
        wanted = nine(*target(min(step, 9)))
        while sent <= number + step + 2:
            is_wanted = sent == number + step + 2
            ends = is_wanted and step == 15
            body = big("u4", 1, 3, sent % 2**32) + bytes([ends, 0]) + bytes(14)
            session.append(Message(True, "udp", time + 0.001, body + (wanted if is_wanted or not last else last)))
            sent += 1
        last = wanted
    session.append(Message(True, "udp", 0.2, big("u4", 2, 3)))
    return session


SESSIONS = {"universal_robots.txt": universal_robots, "stream_motion.txt": stream_motion}

if __name__ == "__main__":
    for name, session in SESSIONS.items():
        lines = [f"# {' '.join(session.__doc__.split('.')[0].split())}. Direction, way, time (s), bytes."]
        (RECORDED / name).write_text("\n".join([*lines, *(each.line() for each in session())]) + "\n")
