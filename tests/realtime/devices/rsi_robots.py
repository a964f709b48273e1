"""Robots of KUKA that are not there, for tests."""

from dockdyn.realtime.devices.emulated.rsi import EmulatedRSI
from dockdyn.realtime.devices.rsi import RSIBehaviour, RSIRobot


def emulated_rsi(settings, start, **stated):
    """A robot with what is `stated` in the tables of its controller and of its emulator."""
    behaviour = {key: value for key, value in stated.items() if key in RSIBehaviour.model_fields}
    controller = {key: value for key, value in stated.items() if key not in behaviour}
    return EmulatedRSI(settings, RSIRobot(kind="kuka-rsi", **controller), start, RSIBehaviour(**behaviour))
