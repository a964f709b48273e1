"""A rig with devices of the user's own: a class each, with its C beside it."""

import contextlib
import sys

import numpy as np
import pytest
from driven_rigs import driver, needs_compiler, on_a_line
from helpers.refusals import refused
from rig_processes import Bench, arm_and_run

import dockdyn
from dockdyn.realtime.controller import make_checklists
from dockdyn.realtime.device_library import DeviceLibrary
from dockdyn.realtime.devices.device import PacketError, Reading
from dockdyn.realtime.lockstep import run_in_lockstep
from dockdyn.realtime.rig_devices import devices_of
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.own_modules import own_modules

CELL = """
import struct
from dataclasses import dataclass

import dockdyn
from dockdyn.realtime.devices.emulated.streaming import StreamingSensor


@dataclass(frozen=True)
class CellSettings:
    newtons: float  # per count


class Cell(dockdyn.ForceSensor):
    '''A cell that tells three forces in counts of 32 bits.'''

    struct = "cell"
    controller_settings = (("zero it before a run", "the counts are of what it carries, too"),)
    port: int = 5005
    full_scale: float = dockdyn.parameter("N", "a force", above=0)
    gain: float = dockdyn.parameter(default=1.0, above=0)

    def settings(self, period):
        if self.gain > 100:
            raise ValueError(f"gain: {self.gain:g}: the cell has 100 at most")
        return CellSettings(self.full_scale / self.gain / (2**31 - 1))

    def stated(self):
        return ((f"gain {self.gain:g}", "gain"),)

    def emulate(self, settings, errors, period, stated):
        def encode(reading):
            return struct.pack(">I3i", reading.sequence, *(round(each / settings.newtons) for each in reading.force))

        return StreamingSensor(encode, errors, 1 / period)


class Bare(dockdyn.ForceSensor):
    def settings(self, period):
        return CellSettings(1.0)

    def emulate(self, settings, errors, period, stated):
        return None
"""
CELL_H = """
#include "calls.h"
struct cell {
    double newtons;
    dd_sequence sequence;
    dd_counts counts;
};
extern const dd_sensor_calls cell_sensor;
"""
CELL_C = """
#include "cell.h"
static int decode(void *device, const uint8_t *packet, size_t size, dd_reading *reading) {
    struct cell *const cell = device;
    int error = size == 16 ? DD_OK : DD_WRONG_LENGTH;
    if (!error) error = dd_advance(&cell->sequence, dd_read_unsigned(packet, 4, 1), 32, 1, &cell->counts);
    for (int i = 0; i < 3 && !error; i++)
        reading->force[i] = cell->newtons * (double)dd_signed(dd_read_unsigned(packet + 4 + 4 * i, 4, 1), 4);
    reading->sequence = cell->sequence.last;
    reading->status = 0;
    return dd_count(&cell->counts, error);
}
static const dd_counts *counts(const void *device) { return &((const struct cell *)device)->counts; }
const dd_sensor_calls cell_sensor = {dd_write_nothing, dd_write_nothing, decode, counts};
"""
SLED = """
import struct
from dataclasses import dataclass

import dockdyn
from dockdyn.realtime.devices.device import BadPacket, PacketError, ToolCommand
from dockdyn.realtime.devices.emulated.cycle import CycleSettings
from dockdyn.realtime.devices.emulated.robot import CommandedRobot


@dataclass(frozen=True)
class SledSettings:
    '''Nothing.'''


class Codec:
    def decode_command(self, packet):
        if len(packet) != 8:
            raise BadPacket(PacketError.WRONG_LENGTH)
        return ToolCommand(struct.unpack("<d", packet) + (0.0, 0.0)), 0

    def forget(self):
        pass


class Sled(dockdyn.Robot):
    '''A sled on a rail, which tells and takes its place.'''

    struct = "sled"
    port: int = 5006

    def settings(self, period):
        return SledSettings()

    def emulate(self, settings, start, period, stated, connected):
        def tell(time, pose):
            return struct.pack("<Qd", pose.sequence, pose.position[0])

        return CommandedRobot(Codec(), tell, CycleSettings(period, 5), start)
"""
SLED_H = """
#include "calls.h"
struct sled {
    dd_sequence sequence;
    dd_counts counts;
};
extern const dd_robot_calls sled_robot;
"""
SLED_C = """
#include "sled.h"
static int decode(void *device, const uint8_t *packet, size_t size, dd_pose *pose) {
    struct sled *const sled = device;
    int error = size == 16 ? DD_OK : DD_WRONG_LENGTH;
    if (!error) error = dd_advance(&sled->sequence, dd_read_unsigned(packet, 8, 0), 64, 1, &sled->counts);
    if (!error) pose->position[0] = dd_double(dd_read_unsigned(packet + 8, 8, 0));
    pose->sequence = sled->sequence.last;
    pose->status = 0;
    return dd_count(&sled->counts, error);
}
static size_t encode(void *device, const dd_command *command, uint64_t ms, int last, uint8_t *out, size_t room) {
    (void)device, (void)ms, (void)last;
    if (room < 8) return 0;
    dd_write_unsigned(out, 8, 0, dd_bits_of_double(command->position[0]));
    return 8;
}
static const dd_counts *counts(const void *device) { return &((const struct sled *)device)->counts; }
const dd_robot_calls sled_robot = {dd_write_nothing, dd_write_nothing, decode, encode, counts, NULL, NULL};
"""
FILES = {
    "own_cell.py": CELL,
    "cell.h": CELL_H,
    "cell.c": CELL_C,
    "own_sled.py": SLED,
    "sled.h": SLED_H,
    "sled.c": SLED_C,
}
SENSOR = {"kind": "own_cell:Cell", "full_scale": "20 kN", "gain": 2.0}
ROBOT = {"kind": "own_sled:Sled"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with both devices, in which one works; what was imported of it is forgotten."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for module in ("own_cell", "own_sled"):
        sys.modules.pop(module, None)


def rig(sensor=SENSOR, robot=ROBOT):
    """A rig along one direction with these devices, which goes through no compensator that reads the robot."""
    return on_a_line(
        loop__compensator__law="command-lead", duration="10 s", **{"rig.device": {"sensor": sensor, "robot": robot}}
    )


@pytest.mark.full
@needs_compiler
def test_a_rig_moves_through_devices_of_ones_own_as_without(folder):
    """The sled's doubles are exact; a half count of the force, F, moves the mass by at most F t²/(2 m)."""
    scenario = rig()
    made = driver(scenario)
    devices = devices_of("mine", scenario.content.rig.device, made.period)
    direct, found = (run_in_lockstep(made, 2000, *through)["position"] for through in ((), (devices,)))
    half = 0.5 * 20e3 / 2.0 / (2**31 - 1)  # N
    mass = float(scenario.content.named("target").mass)
    assert 0 < np.abs(found - direct).max() <= half * (2000 * made.period) ** 2 / (2 * mass)


@pytest.mark.full
@needs_compiler
def test_what_c_refuses_of_a_device_of_ones_own_is_counted_by_its_name(folder):
    library = DeviceLibrary(devices_of("mine", rig().content.rig.device, 4e-3))
    told = rig().content.rig.device.sensor.emulate(
        devices_of("mine", rig().content.rig.device, 4e-3).sensor_settings, None, 4e-3, None
    )
    packets = [told.encode(Reading((1.0, -2.0, 3.0), sequence=number)) for number in (7, 7, 9)]
    heard = [library.decode_reading(packet) for packet in (*packets, b"short")]
    np.testing.assert_allclose(heard[0].values[:3], [1.0, -2.0, 3.0], rtol=0, atol=3e-6)
    assert [heard[1], heard[3]] == [PacketError.STALE, PacketError.WRONG_LENGTH] and heard[2].sequence == 9


@needs_compiler
@pytest.mark.full
def test_an_operator_runs_a_rig_with_devices_of_ones_own(folder):
    """In processes, over sockets, with what stands for them."""
    with contextlib.ExitStack() as stack:
        bench = Bench(folder, stack, ("own_cell:Cell", ROBOT), rig__device__sensor__full_scale="20 kN")
        bench.emulate()
        server = bench.serve("today.mcap")
        arm_and_run(server)
        assert server.end() == 0 and "Ended: end." in server.printed, server.printed


@pytest.mark.full
def test_a_device_of_ones_own_is_told_of_as_any_other(folder, dock):
    """In the text of the scenario, which is read back; in the checklist; among what a result says is of the user's own."""
    scenario = rig()
    assert 'kind = "own_cell:Cell"' in scenario.text() and 'full_scale = "20000.0 N"' in scenario.text()
    assert dockdyn.load(scenario.text()).content == scenario.content
    cell, _ = make_checklists(scenario.content.rig.device)
    assert (cell.stated, cell.device.place) == ((("gain 2", "gain"),), "127.0.0.1:5005")
    assert set(own_modules(scenario.content)) == {"own_cell", "own_sled"}
    (folder / "mine.toml").write_text(scenario.text())
    told = dock("rig", "doctor", "mine.toml", "--seconds", "0.02 s").stdout
    assert "own_cell:Cell: to set on the sensor, and why:\n- zero it before a run: " in told
    assert "- gain 2 (rig.device.sensor.gain)" in told


@pytest.mark.parametrize(
    ("sensor", "words"),
    [
        ({"kind": "own_cell:Cell"}, "rig.device.sensor.full_scale: missing"),
        (SENSOR | {"full_scale": "-1 N"}, "rig.device.sensor.full_scale = '-1 N': must be a force greater than 0 N"),
        (SENSOR | {"full_scale": "1 m"}, "rig.device.sensor.full_scale = '1 m': must be a force"),
        (SENSOR | {"scale": 1.0}, "rig.device.sensor.scale: unknown key"),
        (SENSOR | {"host": "cell"}, "rig.device.sensor.host = 'cell': 'cell': must be an address such as 192.168.0.10"),
        ({"kind": "own_sled:Sled"}, "own_sled:Sled must be a subclass of dockdyn.ForceSensor"),
        ({"kind": "own_cell:CellSettings"}, "own_cell:CellSettings must be a subclass of dockdyn.ForceSensor"),
        ({"kind": "dockdyn:ForceSensor", "port": 1}, "dockdyn:ForceSensor must define settings and emulate"),
        ({"kind": "own_cell:Bare", "port": 1}, "own_cell:Bare must define struct, the name of its struct in C"),
        ({"kind": "own_cell:Other"}, "cannot import 'own_cell:Other'"),
        ({"kind": "cell"}, "must name one of 'ati-netft', 'raw-udp', \"module:Class\" for one of your own"),
    ],
)
def test_what_a_device_of_ones_own_cannot_be_is_refused_in_one_line(sensor, words, folder):
    with refused(words):
        rig(sensor)


@pytest.mark.full_cases("no C", "no file")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda at: (at / "cell.c").unlink(), "rig.device.sensor.kind = 'own_cell:Cell': {at}/cell.c: No such file"),
        (
            lambda at: [(at / f"cell.{each}").rename(at / f"netft.{each}") for each in "ch"],
            "but netft.c is dockdyn's; name it",
        ),
        (lambda at: (at / "cell.c").write_text("int cell = 1 +;"), "the C compiler"),
    ],
    ids=["no file", "a name of dockdyn's", "no C"],
)
def test_what_its_c_cannot_be_is_refused_in_one_line(change, words, folder, dock):
    change(folder)
    if (folder / "netft.c").exists():
        (folder / "own_cell.py").write_text(CELL.replace('"cell"', '"netft"'))
    (folder / "mine.toml").write_text(rig().text())
    ended = dock("rig", "serve", "mine.toml", "--best-effort", "--log", "log.mcap")
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert words.format(at=folder) in ended.stderr


def test_settings_that_it_refuses_itself_are_told_in_its_words(folder):
    with pytest.raises(ScenarioError, match="gain: 101: the cell has 100 at most"):
        devices_of("mine", rig(SENSOR | {"gain": 101.0}).content.rig.device, 4e-3)
