"""What control leaves in the dataset of a run in space: what it gave its body, what it took up, the pulses of thrusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dockdyn.results.control.budget import control_attributes
from dockdyn.results.control.thruster_table import describe_missed_directions
from dockdyn.results.run import Layout, Run, sampled_variables
from dockdyn.scenario.tables.arm_control import ArmControlSection
from dockdyn.scenario.tables.rig.sampling import SampledSection

PULSE_VARIABLES: Layout = {
    "thruster_firing": (("thruster",), "1", "whether each thruster fires: 1 yes, 0 no"),
    "thruster_on_time": (("thruster",), "s", "how long each thruster has fired since the start"),
    "thruster_pulses": (("thruster",), "1", "how many pulses of each thruster have begun"),
}


MOTOR_VARIABLES: Layout = {
    "motor_effort": (("motor",), "SI", "torque or force of the motors of control in joints: N m, N"),
}
SET_POINTS: Layout = {
    "set_point": (("motor",), "SI", "where joint-pd with a set point would have the joints: rad, m"),
}


class ControlData(NamedTuple):
    """The part of a dataset that is of control; empty where none acts."""

    variables: dict[str, Any]
    coordinates: dict[str, Any]
    attributes: dict[str, Any]


def steering_layout(body: str) -> Layout:
    """Return the variables of control on a body, as words name it."""
    return {
        "attitude_error": (("axis",), "rad", f"rotation vector of {body} from the attitude it is held at, its axes"),
        "wheel_torque": (
            ("axis",),
            "N m",
            f"torque of the wheel on {body}, its axes: the motor's, and −ω × h of the wheel that is carried along",
        ),
        "thruster_force": (("axis",), "N", f"force of thrusters on {body}, its axes"),
        "thruster_torque": (("axis",), "N m", f"torque of thrusters on {body}, its axes"),
        "wheel_momentum": (("axis",), "N m s", f"angular momentum of {body}'s wheel, its axes"),
        "thruster_impulse": (("axis",), "N s", "impulse of thrusters since the start, inertial"),
        "thruster_turning_impulse": (
            ("axis",),
            "N m s",
            "angular impulse of thrusters since the start about the common centre of mass, inertial",
        ),
        "thruster_use": (("use",), "SI", f"what thrusters have given, by size over {body}'s axes: N s, N m s"),
        "control_work": ((), "J", f"work of control on {body} since the start"),
    }


def control_data(
    control: SampledSection | ArmControlSection | None, run: Run, body: str = "the chaser", joints: Sequence[str] = ()
) -> ControlData:
    """Return what control leaves, what it may take up, and what a table of thrusters cannot give.

    `body` is what it steers, `joints` are those that it moves.
    """
    if control is None or control.law == "none":
        return ControlData({}, {}, {})
    layout, coordinates = control_layout(control, body, joints)
    lacks = [] if isinstance(control, ArmControlSection) else describe_missed_directions(control)
    attributes = control_attributes(control) | {"thrusters_lack": ", ".join(lacks)}
    return ControlData(sampled_variables(layout, run), coordinates, attributes)


def control_layout(
    control: SampledSection | ArmControlSection | None, body: str = "the chaser", joints: Sequence[str] = ()
) -> tuple[Layout, dict[str, list[str]]]:
    """Return the variables of control, and the names along their dimensions besides axes; nothing where none acts."""
    if control is None or control.law == "none":
        return {}, {}
    names = {"use": ["impulse", "angular impulse"]}
    if isinstance(control, ArmControlSection):
        aims = SET_POINTS if control.aims else {}
        return steering_layout(body) | MOTOR_VARIABLES | aims, names | {"motor": list(joints)}
    if thrusters := control.thruster_names():
        return steering_layout(body) | PULSE_VARIABLES, names | {"thruster": thrusters}
    return steering_layout(body), names
