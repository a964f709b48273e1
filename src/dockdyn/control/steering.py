"""What control of a body is in a model: what is remembered of it, what it puts on the body, what is observed of it.

Units: N, N m, W, and those of `Effort`.
Source: power of a force and a torque on a rigid body; the rest by definition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import Array, PyTree

from dockdyn.control.actuators import Effort
from dockdyn.control.body_control import BodyControl
from dockdyn.control.controller import Measured, Three
from dockdyn.control.plant import attitude_error
from dockdyn.control.sampled import SampledControl
from dockdyn.control.thrusters import Pulses
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector, once

AnyControl = BodyControl | SampledControl


class Steering(NamedTuple):
    """What a model remembers of control, or the rate of it."""

    law: PyTree  # what its law, or the computer that asks it, remembers
    effort: Effort  # what it has done


class Steered(NamedTuple):
    """What control does to its body at an instant."""

    force: Vector  # N, at the centre of mass, inertial
    torque: Vector  # N m, body axes
    rate: Steering  # of what is remembered


def begin_control(control: AnyControl, measured: Callable[[Effort], Measured]) -> Steering:
    """What is remembered as control begins; `measured` is what it sees, once it has done so much."""
    effort = Effort.nothing()
    return Steering(control.init(measured(effort)), effort)


def steer(control: AnyControl, now: Steering, seen: Measured, lever: Three) -> Steered:
    """What control does that sees so much; `lever` (m, inertial) is the body's from the pole of the angular impulse."""
    rate, given = control.act(now.law, seen)
    turn = Quaternion.of(seen.chaser.attitude).matrix().array()
    force, torque = Vector.of(turn @ given.thrust), Vector.of(given.wheel + given.jets)
    power = force.dot(Vector.of(seen.chaser.velocity)) + torque.dot(Vector.of(seen.chaser.rate))
    effort = given.effort(power, turn, lever, seen.chaser.rate, seen.wheel)
    return once(Steered(force, torque, Steering(rate, effort)))


def observe_control(control: AnyControl, now: Steering, seen: Measured) -> dict[str, Array]:
    """What control does at an instant and has done.

    Shapes (3,), `thruster_use` (2,); torques, `thruster_force` and `wheel_momentum` in the body's axes.
    """
    _, given = control.act(now.law, seen)
    wanted, effort = control.reference.of(seen.target), now.effort
    fired: dict[str, Array] = {}
    if isinstance(control, SampledControl) and isinstance(now.law.pulses, Pulses):
        pulses = now.law.pulses
        fired = {
            "thruster_firing": pulses.firing,
            "thruster_on_time": pulses.on_time,
            "thruster_pulses": pulses.begun,
        }
    return fired | {
        "attitude_error": attitude_error(wanted.attitude, seen.chaser.attitude),
        "wheel_torque": given.wheel,
        "thruster_force": given.thrust,
        "thruster_torque": given.jets,
        "wheel_momentum": effort.wheel,
        "thruster_impulse": effort.impulse,
        "thruster_turning_impulse": effort.turning_impulse,
        "thruster_use": effort.used,
        "control_work": effort.work,
    }
