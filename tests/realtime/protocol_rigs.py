"""Rigs in lockstep through the bytes of every protocol, for tests."""

import pytest
from driven_rigs import ABB_SET, KUKA_SET, driver

from dockdyn.realtime.device_library import DeviceLibrary
from dockdyn.realtime.laboratory import LaboratoryInSteps
from dockdyn.realtime.lockstep import ComputerInSteps, Wire
from dockdyn.realtime.rig_devices import devices_of
from dockdyn.scenario.tables.emulator import EmulatorSection
from dockdyn.scenario.tables.rig.devices import DevicesSection

AHEAD = 3  # commands
PROTOCOLS = {
    "plain": ("raw-udp", {"kind": "raw-udp"}),
    "KUKA": ("ati-netft", {"kind": "kuka-rsi"} | KUKA_SET),
    "ABB": ("ati-netft", {"kind": "abb-egm"} | ABB_SET),
    "FANUC": ("ati-netft", {"kind": "fanuc-stream-motion"}),
    "FANUC ahead": ("ati-netft", {"kind": "fanuc-stream-motion", "version": 3, "lead": AHEAD}),
    "UR": ("ati-netft", {"kind": "ur-rtde", "patience": "20 ms"}),
    "plain by the clock": ("raw-udp", {"kind": "raw-udp", "pace": "clock"}),
}
AS_THEY_COME = {  # with what their makers' controllers have when nothing is set
    "KUKA as it comes": ("ati-netft", {"kind": "kuka-rsi"}),
    "ABB as it comes": ("ati-netft", {"kind": "abb-egm"}),
}
SAMPLED = ["plain", *(pytest.param(name, marks=pytest.mark.full) for name in PROTOCOLS if name != "plain")]


def devices(protocol, period):
    sensor, robot = (PROTOCOLS | AS_THEY_COME)[protocol]
    return devices_of("bench", DevicesSection.model_validate({"sensor": {"kind": sensor}, "robot": robot}), period)


class Rigs:
    """Rigs of one scenario that run, through any protocol; what is made once."""

    def __init__(self, scenario):
        made = driver(scenario)
        self.period = made.period
        self.computer = ComputerInSteps(made.cycle(running=True), made.axes)
        self.built = made.laboratory(following=True)
        self.laboratory = LaboratoryInSteps(self.built, made.axes)
        self.images = [part.stepper.memory.copy() for part in (self.computer, self.laboratory)]
        self.libraries = {}

    def begun(self, protocol, **trouble):
        """Computer and wires at t = 0."""
        for part, image in zip((self.computer, self.laboratory), self.images, strict=True):
            part.stepper.memory[:] = image
        self.laboratory.told, self.laboratory.cycle = self.built.first, 0
        self.computer.stepper.inputs["load_count"] = self.computer.stepper.inputs["pose_count"] = -1
        made = devices(protocol, self.period)
        if protocol not in self.libraries:
            self.libraries[protocol] = DeviceLibrary(made)
        wire = Wire(made, self.libraries[protocol], self.laboratory, EmulatorSection.model_validate(trouble))
        return self.computer, wire
