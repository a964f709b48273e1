"""Checklists of what is set on the controllers of a rig's devices, and what as set they would not let the rig do.

Units: s.
Source: docs/devices.md, whose table says where each behaviour is from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dockdyn.realtime.devices.roles import Device
from dockdyn.scenario.tables.rig.devices import ROBOTS, SENSORS, DevicesSection
from dockdyn.scenario.tables.rig.driven import DrivenRig


class Checklist(NamedTuple):
    """A list to go through before a device is driven: what to set and why, with the scenario's own numbers, and what nobody
    has seen on hardware."""

    device: Device
    settings: tuple[tuple[str, str], ...]
    stated: tuple[tuple[str, str], ...]  # of the scenario: what its device must have, and the key that says so
    unconfirmed: tuple[str, ...]


def make_checklists(section: DevicesSection) -> tuple[Checklist, Checklist]:
    """Return the checklists of a rig's sensor and of its robot."""
    sensor, robot = (
        Checklist(each, each.controller_settings, each.stated(), each.unconfirmed)
        for each in (section.sensor, section.robot)
    )
    return sensor, robot


def find_hindrances(section: DrivenRig, duration: float) -> list[str]:
    """Return what a controller, set as the scenario says, would not let the robot do in a run of so many seconds.

    Each is one line: key, value, why, and what to do.
    """
    return section.device.robot.hindrances(section.limits, duration)


def find_foreign_ports(section: DevicesSection) -> list[str]:
    """Return which devices are at the port that another kind of device has by default, as left over from it."""
    found = []
    both: tuple[tuple[Device, Mapping[str, type[Device]]], ...] = ((section.sensor, SENSORS), (section.robot, ROBOTS))
    for device, kinds in both:
        own = type(device).model_fields["port"].default
        others = [kind for kind, made in kinds.items() if made.model_fields["port"].default == device.port != own]
        if others:
            found.append(
                f"rig.device.{device.role}.port: {device.port}: that of {others[0]}; {device.kind} has {own} if nothing is "
                "set: leave port out, or see that it is set so on the device"
            )
    return found
