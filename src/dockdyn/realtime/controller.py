"""Checklists of what is set on the controllers of a rig's devices, and what as set they would not let the rig do.

Units: m, rad, s; angles in words in degrees.
Source: docs/devices.md, whose table says where each behaviour is from.
"""

from __future__ import annotations

import math
from typing import NamedTuple, get_args

from dockdyn.realtime.devices.catalogue import ROBOTS, SENSORS, Device
from dockdyn.scenario.tables.rig.devices import (
    DevicesSection,
    EGMSection,
    FanucSection,
    NetFTSection,
    RawSensorSection,
    RobotDevice,
    RSISection,
    SensorDevice,
    URSection,
)
from dockdyn.scenario.tables.rig.driven import DrivenSection, LimitsSection

HALF_TURN = math.pi


class Checklist(NamedTuple):
    """A list to go through before a device is driven: what to set and why, with the scenario's own numbers, and what nobody
    has seen on hardware."""

    device: Device
    settings: tuple[tuple[str, str], ...]
    stated: tuple[tuple[str, str], ...]  # of the scenario: what its device must have, and the key that says so
    unconfirmed: tuple[str, ...]


def checklists(section: DevicesSection) -> tuple[Checklist, Checklist]:
    """Return the checklists of a rig's sensor and of its robot."""
    sensor, robot = SENSORS[section.sensor.kind], ROBOTS[section.robot.kind]
    return (
        Checklist(sensor, sensor.codec.CONTROLLER_SETTINGS, _stated(section.sensor), sensor.codec.UNCONFIRMED),
        Checklist(robot, robot.codec.CONTROLLER_SETTINGS, _stated(section.robot), robot.codec.UNCONFIRMED),
    )


def _stated(device: SensorDevice | RobotDevice) -> tuple[tuple[str, str], ...]:
    """Return the numbers that a scenario says are set on a device, each with its key."""
    if isinstance(device, NetFTSection):
        return (
            (f"netftapi2.xml: cfgcpf {device.counts_per_force:g} for N", "counts_per_force"),
            (f"netftapi2.xml: cfgcpt {device.counts_per_torque:g} for N m", "counts_per_torque"),
        )
    if isinstance(device, FanucSection):
        room, begins = device.lead + 2, device.lead + 1
        return (
            (f"$STMO.$PKT_STACK {room} or more, $STMO.$START_MOVE {begins} or less", "lead"),
            (f"$STMO.$USABLE_VER {device.version} or more", "version"),
        )
    if isinstance(device, URSection):
        return (
            (f"the program's reverse port {device.reverse_port}", "reverse_port"),
            (f"the program's trajectory port {device.trajectory_port}", "trajectory_port"),
            (f"the program's script command port {device.script_command_port}", "script_command_port"),
        )
    return _stated_motion_limits(device)


def _stated_motion_limits(robot: RobotDevice | RawSensorSection) -> tuple[tuple[str, str], ...]:
    """Return the numbers that say when a controller of KUKA or ABB stops or cuts off, each with its key."""
    if isinstance(robot, RSISection):
        limit, monitor = 1e3 * robot.correction_limit, 1e3 * robot.monitor_limit
        turns = [math.degrees(each) for each in (robot.correction_turn_limit, robot.monitor_turn_limit)]
        return (
            (f"ETHERNET: Precision {robot.precision}", "precision"),
            (f"ETHERNET: Timeout {robot.timeout}", "timeout"),
            (f"POSCORR: LowerLimX, Y, Z {-limit:g} and UpperLimX, Y, Z {limit:g} mm", "correction_limit"),
            (f"POSCORR: MaxRotAngle {turns[0]:g}°", "correction_turn_limit"),
            (f"POSCORRMON: MaxTrans {monitor:g} mm", "monitor_limit"),
            (f"POSCORRMON: MaxRotAngle {turns[1]:g}°", "monitor_turn_limit"),
        )
    if isinstance(robot, EGMSection):
        near, turn = 1e3 * robot.convergence, math.degrees(robot.convergence_turn)
        return (
            (f"EGMSetupUC: \\CommTimeout:={robot.comm_timeout:g}", "comm_timeout"),
            (f"EGMRunPose: \\CondTime:={robot.condition_time:g}", "condition_time"),
            (f"EGMActPose: \\x, \\y, \\z:=[{-near:g},{near:g}]", "convergence"),
            (f"EGMActPose: \\rx, \\ry, \\rz:=[{-turn:g},{turn:g}]", "convergence_turn"),
        )
    return ()


def find_hindrances(section: DrivenSection, duration: float) -> list[str]:
    """Return what a controller, set as the scenario says, would not let the robot do in a run of so many seconds.

    Each is one line: key, value, why, and what to do.
    """
    robot = section.device.robot
    if isinstance(robot, RSISection):
        return _hindrances_of_rsi(robot, section.limits)
    if isinstance(robot, EGMSection) and robot.condition_time <= duration:
        return [
            f"rig.device.robot.condition_time: {robot.condition_time:g} s: the motion of EGM ends by itself once the robot has "
            f"been near its reference for so long; set \\CondTime of EGMRunPose beyond the run's {duration:g} s, and state it"
        ]
    return []


def find_foreign_ports(section: DevicesSection) -> list[str]:
    """Return which devices are at the port that another kind of device has by default, as left over from it."""
    found = []
    for role, field in DevicesSection.model_fields.items():
        device, kinds = getattr(section, role), [kind.model_fields for kind in get_args(field.annotation)]
        ports = {get_args(fields["kind"].annotation)[0]: fields["port"].default for fields in kinds}
        own = ports[device.kind]
        others = [kind for kind, port in ports.items() if port == device.port != own]
        if others:
            found.append(
                f"rig.device.{role}.port: {device.port}: that of {others[0]}; {device.kind} has {own} if nothing is set: leave "
                "port out, or see that it is set so on the device"
            )
    return found


def _hindrances_of_rsi(robot: RSISection, limits: LimitsSection) -> list[str]:
    """Return which corrections within the box and the turns of the limits the context's objects would cut off or stop at.

    The programmed pose may be anywhere in the box, so that corrections may be as long as the box is wide, and by what its
    decimals leave out longer.
    """
    step = 10.0**-robot.precision
    rounded, rounded_turn = math.sqrt(3) / 2 * step * 1e-3, 1.5 * math.radians(step)
    widths = [high - low for low, high in zip(limits.lowest, limits.highest, strict=True)]
    turn = 0.0 if limits.turn is None else min(2 * math.sqrt(3) * limits.turn + rounded_turn, HALF_TURN)
    silently = "KUKA's POSCORR cuts longer corrections off without a word; set LowerLim and UpperLim"
    turned = "KUKA's POSCORR cuts larger turns off without a word; set MaxRotAngle"
    far = math.hypot(*widths) + rounded
    needs = (
        ("correction_limit", robot.correction_limit, max(widths) + rounded, "m", silently),
        ("correction_turn_limit", robot.correction_turn_limit, turn, "rad", turned),
        ("monitor_limit", robot.monitor_limit, far, "m", "KUKA's POSCORRMON stops there; set MaxTrans"),
        ("monitor_turn_limit", robot.monitor_turn_limit, turn, "rad", "KUKA's POSCORRMON stops there; set MaxRotAngle"),
    )
    found = [
        f"rig.device.robot.{key}: {value:g} {unit}: rig.limits let corrections be as far as {needed:.4g} {unit}; {words} "
        "beyond that, and state it"
        for key, value, needed, unit, words in needs
        if value < needed * (1 - 1e-12)
    ]
    seen = (
        ("tracking", limits.tracking, rounded, "m"),
        ("tracking_turn", limits.tracking_turn, rounded_turn, "rad"),
    )
    found += [
        f"rig.device.robot.precision: {robot.precision}: poses are rounded by up to {error:.3g} {unit}, and rig.limits.{key} "
        f"is {limit:g} {unit}; set Precision of KUKA's ETHERNET object to more decimals, and state it"
        for key, limit, error, unit in seen
        if limit is not None and error >= limit
    ]
    return found
