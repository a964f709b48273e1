"""What a controller that is set otherwise would do to a rig, before it moves: the doctor's checklist and refusals."""

import itertools
import json
import math

import numpy as np
import pytest
from driven_rigs import KUKA_SET
from rsi_robots import emulated_rsi

import dockdyn
from dockdyn.realtime.controller import find_foreign_ports, find_hindrances, make_checklists
from dockdyn.realtime.devices.device import ToolCommand, ToolPose
from dockdyn.realtime.devices.rsi import RSI, RSISettings
from dockdyn.scenario.tables.rig.devices import ROBOTS, SENSORS, DevicesSection
from dockdyn.scenario.tables.rig.driven import RigTableSection

FREE = {"speed": 1.0, "acceleration": 1.0, "tracking": 0.1, "force": 1.0, "torque": 1.0}
FREE |= {"turning_speed": 1.0, "turning_acceleration": 1.0, "tracking_turn": 0.5}
LIMIT_KEYS = ("correction_limit", "correction_turn_limit", "monitor_limit", "monitor_turn_limit")


def section(low, high, turn, **robot):
    limits = FREE | {"lowest": list(low), "highest": list(high), "turn": turn}
    device = {"robot": {"kind": "kuka-rsi"} | robot}
    whose = {"carries": "chaser", "against": "target"}
    return RigTableSection.model_validate(whose | {"limits": limits, "device": device}).driven()


@pytest.mark.parametrize("seed", range(20))
def test_a_controller_that_is_not_refused_lets_every_command_within_the_limits_pass(seed):
    """Emulated: from any programmed pose to any command in the box and its turns nothing is cut off and nothing stops."""
    chance = np.random.default_rng(seed)
    low, turn = chance.uniform(-1, 1, 3), chance.uniform(0.02, 0.6)
    high = low + chance.uniform(0.005, 1.0, 3)
    robot = dict(zip(LIMIT_KEYS, chance.uniform(0.3, 2.0, 4), strict=True))
    precision = int(chance.integers(1, 7))
    found = find_hindrances(section(low, high, turn, precision=precision, **robot), 10.0)
    length, angle = math.sqrt(3) * 0.5e-3 * 0.1**precision, 3 * math.radians(0.5) * 0.1**precision  # of rounded poses
    widest, turned = max(high - low) + length, 2 * math.sqrt(3) * turn + angle
    needed = (widest, turned, math.hypot(*(high - low)) + length, turned)
    short = {key for key, least in zip(LIMIT_KEYS, needed, strict=True) if robot[key] < least}
    assert {line.split(":")[0].rpartition(".")[2] for line in found} == short
    assert all("\n" not in line and "state it" in line for line in found)
    enough = dict(zip(LIMIT_KEYS, (each * (1 + 1e-6) for each in needed), strict=True)) | {"precision": precision}
    for _ in range(20):
        start, goal = (chance.choice([low, high, chance.uniform(low, high)]) for _ in range(2))
        from_, to = (tuple(chance.choice([-turn, turn], 3)) for _ in range(2))
        emulated = emulated_rsi(RSISettings(), ToolPose(tuple(start), from_), **enough)
        codec = RSI(RSISettings())
        (packet,) = emulated.tick(0.0, ToolPose(tuple(start), from_))
        codec.decode_robot(packet)
        emulated.receive(0.001, codec.encode_answer(ToolCommand(tuple(goal), to)))
        assert emulated.cut_off == 0 and not emulated.cycle.stopped and not emulated.ignored


def test_what_kuka_has_by_default_is_refused_for_a_docking():
    found = find_hindrances(section([-0.1] * 3, [0.1] * 3, 0.3), 10.0)
    assert [line.split(":")[0].rpartition(".")[2] for line in found] == list(LIMIT_KEYS)
    assert "0.005 m: rig.limits let corrections be as far as 0.2001 m; KUKA's POSCORR cuts" in found[0]
    assert find_hindrances(section([-0.1] * 3, [0.1] * 3, 0.3, **KUKA_SET), 10.0) == []
    coarse = section([-0.1] * 3, [0.1] * 3, 0.3, **KUKA_SET | {"precision": 1})
    fine = {name: getattr(coarse.limits, name) for name in ("tracking", "tracking_turn")}
    for key, limit in (("tracking", 8e-5), ("tracking_turn", 2.5e-3)):  # √3 ∙ 0.05 mm; 3 ∙ 0.05°
        limits = coarse.limits.model_copy(update=fine | {key: limit})
        (line,) = find_hindrances(coarse._replace(limits=limits), 10.0)
        assert line.startswith("rig.device.robot.precision: 1:") and f"rig.limits.{key} is {limit:g}" in line


@pytest.mark.parametrize(("stated", "refused"), [(1.0, True), (10.0, True), (10.1, False)])
def test_a_motion_that_ends_by_itself_within_the_run_is_refused(stated, refused):
    egm = section([-0.1] * 3, [0.1] * 3, 0.3, kind="abb-egm", condition_time=stated)
    assert bool(find_hindrances(egm, 10.0)) == refused


def test_the_port_of_another_kind_of_device_is_told():
    """Of every two kinds of robots; each at its own port, and at one that no kind has, is told nothing."""
    kinds = ("kuka-rsi", "abb-egm", "fanuc-stream-motion", "ur-rtde", "raw-udp")
    ports = {kind: DevicesSection(robot={"kind": kind}).robot.port for kind in kinds}
    for one, other in itertools.product(kinds, kinds):
        found = find_foreign_ports(DevicesSection(robot={"kind": one, "port": ports[other]}))
        if ports[one] == ports[other]:
            assert found == []
        else:
            (line,) = found
            assert (
                line.startswith(f"rig.device.robot.port: {ports[other]}: that of ")
                and f"{one} has {ports[one]}" in line
            )
    assert find_foreign_ports(DevicesSection(robot={"kind": "ur-rtde", "port": 1234})) == []


def test_every_device_says_what_to_set_with_the_reason():
    """One sentence each, also where Markdown or a terminal would break it."""
    for name, device in (*SENSORS.items(), *ROBOTS.items()):
        for words in (*device.unconfirmed, *(part for each in device.controller_settings for part in each)):
            assert words == " ".join(words.split()) and words
        assert name == "raw-udp" or (device.controller_settings and device.unconfirmed)


@pytest.mark.parametrize("seed", range(5))
def test_the_numbers_of_a_scenario_are_told_for_every_device(seed):
    """As drawn, each beside its key; of FANUC what follows from them."""
    chance = np.random.default_rng(seed)
    ports = [int(port) for port in chance.choice(np.arange(50001, 60000), 3, replace=False)]
    names = ("reverse_port", "trajectory_port", "script_command_port")
    lead, version = int(chance.integers(0, 9)), int(chance.integers(1, 4))
    counts = [float(chance.integers(1, 10**6)) for _ in range(2)]
    drawn = {
        "ur-rtde": dict(zip(names, ports, strict=True)),
        "fanuc-stream-motion": {"lead": lead, "version": version},
        "kuka-rsi": {"precision": int(chance.integers(0, 9)), "timeout": int(chance.integers(1, 99))},
        "raw-udp": {"timeout": int(chance.integers(1, 99))},
        "abb-egm": {"comm_timeout": float(chance.integers(1, 99)), "condition_time": float(chance.integers(1, 99))},
    }
    for kind, stated in drawn.items():
        sensor = {"kind": "ati-netft", "counts_per_force": counts[0], "counts_per_torque": counts[1]}
        told = make_checklists(DevicesSection.model_validate({"sensor": sensor, "robot": {"kind": kind} | stated}))
        by_key = {key: words for each in told for words, key in each.stated}
        expected = {key: f"{value:g}" for key, value in stated.items()}
        expected |= {"lead": f"$PKT_STACK {lead + 2} or more"} if "lead" in stated else {}
        expected |= {"counts_per_force": f"{counts[0]:g}", "counts_per_torque": f"{counts[1]:g}"}
        assert {key for key, words in expected.items() if words in by_key[key]} == set(expected)


@pytest.mark.full
def test_the_doctor_prints_the_checklist_of_a_scenario(dock):
    words = ("rig", "doctor", "epos-like-driven", "--seconds", "0.02 s")
    ended = dock(*words)
    section = dockdyn.load("epos-like-driven").content.rig
    for each in make_checklists(section.device):
        for setting, reason in each.settings:
            assert f"- {setting}: {reason}" in ended.stdout
        assert all(f"- {line}" in ended.stdout for line in each.unconfirmed)
    assert (
        "- POSCORR: LowerLimX, Y, Z -1250 and UpperLimX, Y, Z 1250 mm (rig.device.robot.correction_limit)"
        in ended.stdout
    )
    assert "refuses to drive" not in ended.stdout
    told = json.loads(dock(*words, "--json").stdout)
    assert [each["device"] for each in told["devices"]] == ["ati-netft", "kuka-rsi"] and told["hindrances"] == []


def test_the_doctor_and_the_server_refuse_a_controller_that_would_cut_commands_off(dock, tmp_path):
    """All that is in the way at once; of the doctor it is the last word."""
    low = {f"rig.device.robot.{key}": "5 mm" for key in ("correction_limit", "monitor_limit")}
    text = dockdyn.load("epos-like-driven", low).text()
    (tmp_path / "mine.toml").write_text(text)
    doctor = dock("rig", "doctor", str(tmp_path / "mine.toml"), "--seconds", "0.02 s")
    assert doctor.returncode == 1
    assert (
        "- rig.device.robot.correction_limit: 0.005 m: rig.limits let corrections be as far as 1.2 m" in doctor.stdout
    )
    serve = dock("rig", "serve", str(tmp_path / "mine.toml"), "--best-effort", "--log", str(tmp_path / "log.mcap"))
    serve.check_refused("rig.device.robot.correction_limit: 0.005 m", "; and rig.device.robot.monitor_limit: 0.005 m")
    assert "refuses to drive:\n- rig" in doctor.stdout and doctor.stdout.splitlines()[-1].startswith(
        "- rig.device.robot."
    )
