"""The C codecs in one program, made with what checks memory and arithmetic, and what it says of packets."""

import random
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dockdyn.realtime.devices.device import (
    HERE,
    BadPacket,
    Counts,
    PacketError,
    Reading,
    ToolCommand,
    ToolPose,
    c_initialiser,
)

GCC = shutil.which("gcc")
FLAGS = "-std=c99 -pedantic -Wall -Wextra -Werror -ffp-contract=off -O1 -g".split()
SANITISERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
RESULT = struct.Struct("<6dQI4x14dQI4x6dQ")
COUNTS = struct.Struct("<10Q")
ROOM = 1024


@dataclass(frozen=True)
class CCase:
    """A codec with its settings, and its calls in C: the first decodes, then encodes; more of either by their number."""

    name: str
    struct: str
    settings: object
    decode: tuple[str, ...] = ()
    encode: tuple[str, ...] = ()
    forget: str = ";"


MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
{includes}

struct result {{ dd_reading reading; dd_pose pose; dd_command command; uint64_t number; }};
static struct result r, given;
static uint16_t command;
static uint32_t samples;

{cases}

int main(int argc, char **argv) {{
    {choices}
    return argc > 5;
}}
"""

CASE = """
static struct {struct} {name} = {settings};
static int run_{name}(void) {{
    struct {struct} *const device = &{name};
    uint32_t size, room;
    int op;
    while ((op = getchar()) != EOF) {{
        uint8_t *packet, *out;
        int32_t error = 0;
        uint32_t written = 0;
        if (fread(&size, 4, 1, stdin) != 1 || fread(&room, 4, 1, stdin) != 1)
            return 1;
        packet = malloc(size ? size : 1);
        out = malloc(room ? room : 1);
        if (!packet || !out || fread(packet, 1, size, stdin) != size)
            return 1;
        memset(&r, 0, sizeof r);
        switch (op) {{
        {switch}
        case 99: {forget} break;
        default: return 1;
        }}
        if (op < 10) {{
            fwrite(&error, 4, 1, stdout);
            fwrite(&r, sizeof r, 1, stdout);
        }} else if (op < 99) {{
            fwrite(&written, 4, 1, stdout);
            fwrite(out, 1, written, stdout);
        }}
        free(packet);
        free(out);
    }}
    fwrite(&device->counts, sizeof device->counts, 1, stdout);
    return 0;
}}
"""


def _case_text(case: CCase) -> str:
    calls = [f"case {i}: error = {call}; break;" for i, call in enumerate(case.decode)]
    calls += [
        f"case {10 + i}: memcpy(&given, packet, sizeof given); written = (uint32_t){call}; break;"
        for i, call in enumerate(case.encode)
    ]
    return CASE.format(
        struct=case.struct,
        name=case.name,
        settings=c_initialiser(case.settings),
        switch="\n        ".join(calls),
        forget=case.forget,
    )


def _sanitisers(folder: Path) -> list[str]:
    """The flags of the sanitisers where the compiler has them and what it makes runs here."""
    (folder / "empty.c").write_text("int main(void) { return 0; }")
    made = subprocess.run([GCC, *SANITISERS, "empty.c", "-o", "empty"], cwd=folder, capture_output=True)
    runs = made.returncode == 0 and subprocess.run([folder / "empty"], capture_output=True).returncode == 0
    return SANITISERS if runs else []


class CCodecs:
    """A program of several codecs."""

    def __init__(self, folder: Path, cases: tuple[CCase, ...]) -> None:
        headers = sorted({f'#include "{case.struct}.h"' for case in cases})
        text = MAIN.format(
            includes="\n".join(headers),
            cases="\n".join(map(_case_text, cases)),
            choices="\n    ".join(f'if (!strcmp(argv[1], "{c.name}")) return run_{c.name}();' for c in cases),
        )
        (folder / "main.c").write_text(text)
        sources = [str(path) for path in sorted(HERE.glob("*.c"))]
        command = [GCC, *FLAGS, f"-I{HERE}", "main.c", *sources, "-lm", "-o", "codecs"]
        subprocess.run([*command, *_sanitisers(folder)], cwd=folder, check=True)
        self.program = folder / "codecs"

    def run(self, case: str, steps: list[tuple[int, bytes]], room: int = ROOM) -> tuple[list[object], Counts]:
        """What the codec answers to steps: to one that decodes `(error, values)`, to one that encodes the bytes; its counts."""
        given = b"".join(struct.pack("<BII", op, len(payload), room) + payload for op, payload in steps)
        done = subprocess.run([self.program, case], input=given, capture_output=True, timeout=300)
        assert done.returncode == 0, done.stderr.decode()[-3000:]
        told, at = [], 0
        for op, _ in steps:
            if op < 10:
                (error,) = struct.unpack_from("<i", done.stdout, at)
                told.append((error, RESULT.unpack_from(done.stdout, at + 4)))
                at += 4 + RESULT.size
            elif op < 99:
                (size,) = struct.unpack_from("<I", done.stdout, at)
                told.append(done.stdout[at + 4 : at + 4 + size])
                at += 4 + size
        good, *rest = COUNTS.unpack_from(done.stdout, at)
        return told, Counts(good, rest[-1], dict(zip(PacketError, rest, strict=False)))


def values_of(*things: object, number: int = 0) -> tuple[float, ...]:
    """A reading, pose or command as the numbers of a result in C."""
    reading, pose, command = Reading(), ToolPose(), ToolCommand()
    for each in things:
        reading = each if isinstance(each, Reading) else reading
        pose = each if isinstance(each, ToolPose) else pose
        command = each if isinstance(each, ToolCommand) else command
    values = (*reading.force, *reading.torque, reading.sequence, reading.status)
    values += (*pose.position, *pose.rotation_vector, *pose.joints, pose.sequence, pose.status)
    return (*values, *command.position, *command.rotation_vector, number)


def nothing() -> tuple[float, ...]:
    """A result in C into which nothing was written."""
    return values_of(ToolPose((0.0,) * 3, (0.0,) * 3, (0.0,) * 8))


def packed(*things: object, number: int = 0) -> bytes:
    """A reading, pose or command as what an encoder in C is given."""
    return RESULT.pack(*values_of(*things, number=number))


def attempt(function, *given) -> tuple[int, object]:
    """What a codec in Python answers: its error as C numbers it, and the result."""
    try:
        return 0, function(*given)
    except BadPacket as bad:
        return int(bad.error), None


def mutated(packets: tuple[bytes, ...], seed: int):
    """Packets with faults of all sorts, among them whole ones."""
    chance = random.Random(seed)
    while True:
        packet = bytearray(chance.choice(packets))
        for _ in range(chance.choice((0, 1, 1, 1, 2, 3, 8))):
            _mutate(packet, packets, chance)
        yield bytes(packet)


def _mutate(packet: bytearray, packets: tuple[bytes, ...], chance: random.Random) -> None:
    at = chance.randrange(len(packet) + 1)
    kind = chance.randrange(9)
    if kind == 0 and at < len(packet):
        packet[at] ^= 1 << chance.randrange(8)
    elif kind == 1 and at < len(packet):
        packet[at] = chance.randrange(256)
    elif kind == 2:
        del packet[at:]
    elif kind == 3:
        del packet[at : at + chance.randrange(1, 9)]
    elif kind == 4:
        packet[at:at] = chance.randbytes(chance.randrange(1, 9))
    elif kind == 5:
        packet[at:at] = chance.choice(
            (b"<", b">", b'"', b"/", b" ", b"e9", b"-", b".", b"nan", b"\0", b"9" * 20, b"1e999")
        )
    elif kind == 6:
        other = chance.choice(packets)
        packet[at:] = other[chance.randrange(len(other) + 1) :]
    elif kind == 7:
        packet[at:at] = packet[at : at + chance.randrange(1, 40)]
    elif at + 8 <= len(packet):
        packet[at : at + 8] = chance.choice(
            (b"\xff" * 8, b"\x00" * 8, b"\x7f\xf0" + b"\0" * 6, b"\0" * 6 + b"\xf0\x7f")
        )
