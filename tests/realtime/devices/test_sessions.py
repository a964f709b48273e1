"""Recorded sessions that encoders of their own have written are read as they are meant, in Python and in C."""

import random
from dataclasses import replace

import numpy as np
import pytest
from c_codecs import GCC, CCodecs
from codec_cases import CASES
from independent import read_egm_sensor, read_rsi_answer
from record_sessions import SESSIONS, lines, read
from scipy.spatial.transform import Rotation

from dockdyn.realtime.devices.device import BadPacket, PacketError, ToolCommand
from dockdyn.realtime.devices.egm import EGM
from dockdyn.realtime.devices.netft import NetFT, NetFTSettings
from dockdyn.realtime.devices.rsi import RSI, RSISettings

FT = NetFTSettings(1e6, 2e6)
PYTHON = {
    "abb-egm": lambda: EGM().decode_robot,
    "kuka-rsi": lambda: RSI(RSISettings()).decode_robot,
    "ati-netft": lambda: NetFT(FT).decode_record,
}
IN_C = {
    "abb-egm": CASES["egm"].c,
    "kuka-rsi": CASES["rsi_absolute"].c,
    "ati-netft": replace(CASES["netft"].c, settings=FT),
}


def agrees(told, meaning, name):
    """Whether numbers are those that were meant, to the last digits of a double; of turns, to 1e-12 rad."""
    if name == "ati-netft":
        numbers = [*meaning["force"], *meaning["torque"]]
    else:
        numbers = [*meaning["position"], *meaning["rotation"], *meaning["joints"]]
    np.testing.assert_allclose(told[: len(numbers)], numbers, rtol=1e-13, atol=1e-12)
    assert list(told[-2:]) == [meaning["sequence"], meaning["status"]]


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_read_as_it_is_meant(name):
    decode = PYTHON[name]()
    for packet, meaning in read(name):
        if "error" in meaning:
            with pytest.raises(BadPacket, match=meaning["error"]):
                decode(packet)
            continue
        found = decode(packet)
        if name == "ati-netft":
            told = [*found.force, *found.torque]
        else:
            told = [*found.position, *found.rotation_vector, *found.joints[: len(meaning["joints"])]]
        agrees([*told, found.sequence, found.status], meaning, name)


@pytest.mark.full
@pytest.mark.skipif(GCC is None, reason="no C compiler here")
def test_c_reads_sessions_as_they_are_meant(tmp_path):
    program = CCodecs(tmp_path, tuple(IN_C.values()))
    for name, case in IN_C.items():
        session = read(name)
        found, _ = program.run(case.name, [(0, packet) for packet, _ in session])
        for (error, values), (_, meaning) in zip(found, session, strict=True):
            assert (PacketError(error).words if error else None) == meaning.get("error")
            if error:
                continue
            reading, pose = values[:8], values[8:24]
            if name == "ati-netft":
                agrees(reading, meaning, name)
            else:
                agrees([*pose[: 6 + len(meaning["joints"])], *pose[14:]], meaning, name)


@pytest.mark.parametrize("name", SESSIONS)
def test_the_files_are_what_their_encoders_write(name):
    """But for the last digits of turns, which other versions of SciPy may round otherwise."""
    for written, (packet, meaning) in zip(lines(name), read(name), strict=True):
        assert len(written) > 2 * len(packet) and (meaning.get("error") or "none") in written + "none"
        if name != "abb-egm":
            assert packet.hex() in written


@pytest.mark.parametrize("seed", range(5))
def test_others_read_the_commands_as_they_are_meant(seed):
    """By readers of their own: the planned pose of EGM, and of RSI the correction from the programmed pose."""
    chance = random.Random(seed)
    egm, rsi = EGM(), RSI(RSISettings())
    for (robot, meaning), number in zip(read("kuka-rsi"), range(60), strict=False):
        position = tuple(chance.uniform(-2, 2) for _ in range(3))
        turn = Rotation.from_rotvec([chance.uniform(-1.5, 1.5) for _ in range(3)])
        command = ToolCommand(position, tuple(turn.as_rotvec()))
        header, length, quaternion = read_egm_sensor(egm.encode_command(command, 4 * number))
        assert header == (number + 1, 4 * number, 3)
        np.testing.assert_allclose(np.divide(length, 1000), position, rtol=1e-14)
        w, x, y, z = quaternion
        assert (Rotation.from_quat([x, y, z, w]) * turn.inv()).magnitude() < 1e-14 * 100
        if "error" in meaning:
            continue
        rsi.decode_robot(robot)
        kind, correction, ipoc = read_rsi_answer(rsi.encode_answer(command))
        assert (kind, ipoc) == ("ImFree", meaning["sequence"] % 2**32)
        np.testing.assert_allclose(
            np.add(correction[:3], [500, -240, 1500]), np.multiply(position, 1000), rtol=0, atol=0.51e-6
        )
        programmed = Rotation.from_euler("ZYX", [12.5, -7.25, 170], degrees=True)
        reached = Rotation.from_euler("ZYX", correction[3:], degrees=True) * programmed
        assert (reached * turn.inv()).magnitude() < np.deg2rad(1.5e-6 + 1e-9)
