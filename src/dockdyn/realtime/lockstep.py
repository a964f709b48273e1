"""A rig's computer and its laboratory in lockstep: cycle by cycle, without a clock, if wished through its devices' bytes."""

from __future__ import annotations

import numpy as np

from dockdyn.hil.operation import Request
from dockdyn.realtime.bench import EmulatedBench
from dockdyn.realtime.device_library import DeviceLibrary
from dockdyn.realtime.devices.device import PacketError
from dockdyn.realtime.exchange import AXES, Heard, pad_to_six_axes
from dockdyn.realtime.laboratory import LaboratoryInSteps
from dockdyn.realtime.rig_devices import Devices
from dockdyn.results.driver import Driver
from dockdyn.scenario.tables.emulator import EmulatorSection
from dockdyn.translate.c_library import LibraryStepper
from dockdyn.translate.c_step import CStep

NO_NUMBERS = (PacketError.NOT_A_NUMBER, PacketError.OUT_OF_RANGE)


class ComputerInSteps:
    """A computer that goes on when it is told something."""

    def __init__(self, step: CStep, axes: int):
        """Raises NoCompiler without a C compiler."""
        self.stepper, self.axes = LibraryStepper(step), axes
        for name in ("load_count", "pose_count"):
            self.stepper.inputs[name] = -1

    def answer(
        self,
        load: Heard | None,
        pose: Heard | None,
        request: Request = Request.NONE,
        held: bool = True,
        late: int = 0,
        due: bool | None = None,
    ) -> np.ndarray:
        """Return all that a cycle puts out; a device that says nothing is None.

        A command is `due` where a pose asks for it, unless it is said.
        """
        given = self.stepper.inputs
        for name, heard in (("load", load), ("pose", pose)):
            if heard is not None:
                given[name], given[f"{name}_count"], given[f"{name}_status"] = (
                    heard.values[: self.axes],
                    heard.sequence,
                    heard.status,
                )
        given["request"], given["held"], given["late"] = int(request), held, late
        given["due"] = pose is not None if due is None else due
        self.stepper.advance()
        return self.stepper.outputs.copy()


def run_in_lockstep(
    driver: Driver, cycles: int, devices: Devices | None = None, trouble: EmulatorSection | None = None
) -> np.ndarray:
    """Return what the computer puts out in so many cycles of a run that goes on from t = 0, a row each.

    With `devices` all goes through the bytes of their protocols: codecs in C on the one side, emulated devices on the other,
    with what goes wrong with them in a table. Raises ScenarioError for a rig that cannot be driven, NoCompiler without a C
    compiler.
    """
    computer = ComputerInSteps(driver.cycle(running=True), driver.axes)
    laboratory = LaboratoryInSteps(driver.laboratory(following=True), driver.axes)
    if devices is not None:
        wire = Wire(devices, DeviceLibrary(devices), laboratory, trouble or EmulatorSection())
        return np.array([wire.cycle(computer) for _ in range(cycles)])
    rows = []
    for _ in range(cycles):
        found = computer.answer(*laboratory.tell())
        rows.append(found)
        laboratory.take(pad_to_six_axes(found["command"]))
    return np.array(rows)


class Wire:
    """The bytes between a computer and the emulated devices of a laboratory."""

    def __init__(
        self, devices: Devices, library: DeviceLibrary, laboratory: LaboratoryInSteps, trouble: EmulatorSection
    ):
        """With a library of the devices, which forgets what it did before. ScenarioError as of EmulatedBench."""
        self.library, self.tells_late, self.by_clock = library, devices.robot.tells_late, devices.robot.by_clock
        library.forget()
        self.bench = EmulatedBench(laboratory, devices, trouble)
        if asked := self.library.start_sensor():
            self.bench.sensor.receive(0.0, asked)
        sent: list[bytes] = []
        while (asked := self.library.start_robot()) and asked not in sent:
            sent.append(asked)
            for answer in self.bench.robot.receive(0.0, asked):
                self.library.decode_pose(answer)

    def cycle(self, computer: ComputerInSteps, request: Request = Request.NONE) -> np.ndarray:
        """Return a cycle of all: what has arrived by its end is answered where it is due, as the loop does."""
        bench = self.bench
        time = bench.laboratory.cycle * bench.period
        end = time + bench.period * (1 - 1e-9)
        bench.begin(time)
        readings, poses = bench.deliver(end)
        given = computer.stepper.inputs
        load = _sort_heard([self.library.decode_reading(packet) for packet in readings], given["load_count"])
        told = _sort_heard([self.library.decode_pose(packet) for packet in poses], given["pose_count"])
        invalid = told[-1] if told and np.isnan(told[-1].values).all() else None
        told = [each for each in told if not np.isnan(each.values).all()]
        late = 0 if self.by_clock else max(len(told) - 1, 0)
        if self.tells_late:
            late += sum(each.status for each in told)
            told = [each._replace(status=0) for each in told]
        found = computer.answer(
            load[-1] if load else None,
            invalid or (told[-1] if told else None),
            request,
            late=late,
            due=bool(told) or self.by_clock,
        )
        if (told or self.by_clock) and found["send"]:
            at = time if self.by_clock else bench.from_robot.arrived
            for packet in self.library.encode_commands(pad_to_six_axes(found["command"]), round(1000 * time)):
                bench.to_robot.send(at, packet)
        bench.deliver_to_devices(end)
        bench.end(end)
        return found


def _sort_heard(heard: list[Heard | PacketError], last: np.ndarray) -> list[Heard]:
    """Return what was heard, in its order; of refused packets those with a number that no measurement has, as NaN.

    These count as nothing new after the `last` message.
    """
    invalid = Heard(np.full(AXES, np.nan), int(last))
    counting = [invalid if one in NO_NUMBERS else one for one in heard]
    return [one for one in counting if isinstance(one, Heard)]
