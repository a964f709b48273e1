"""What control of a body is in a model: what is remembered of it, what it puts on the body, what is observed of it.

Units: N, N m, W, and those of `Effort`.
Source: power of a force and a torque on a rigid body; the rest by definition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dockdyn.control.actuators import Actuation, Effort, idle_actuation
from dockdyn.control.body_control import BodyControl
from dockdyn.control.controller import Measured, Three
from dockdyn.control.plant import attitude_error
from dockdyn.control.sampled import SampledControl
from dockdyn.control.thrusters import Pulses
from dockdyn.deferred import Array, Bool, Float, PyTree, jnp
from dockdyn.integrate.model import choose_tree
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector, once
from dockdyn.trees import map_leaves

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
    """Return what is remembered as control begins; `measured` is what it sees, once it has done so much."""
    effort = Effort.nothing()
    return Steering(control.init(measured(effort)), effort)


def steer_body(
    control: AnyControl, now: Steering, seen: Measured, lever: Three, idles: Bool[Array, ""] | None = None
) -> Steered:
    """Return what control does that sees so much; `lever` (m, inertial) is the body's from the pole of the angular impulse.

    Where it `idles` its law remembers what it does, and the wheel keeps its spin.
    """
    rate, given = _rate_and_actuation(control, now, seen, idles)
    turn = Quaternion.of(seen.chaser.attitude).matrix().array()
    force, torque = Vector.of(turn @ given.thrust), Vector.of(given.wheel + given.jets)
    power = force.dot(Vector.of(seen.chaser.velocity)) + torque.dot(Vector.of(seen.chaser.rate))
    effort = given.effort(power, turn, lever, seen.chaser.rate, seen.wheel)
    return once(Steered(force, torque, Steering(rate, effort)))


def _rate_and_actuation(
    control: AnyControl, now: Steering, seen: Measured, idles: Bool[Array, ""] | None
) -> tuple[PyTree, Actuation]:
    """Return the rate of what a law remembers, and what actuators give."""
    found = control.act(now.law, seen)
    if idles is None:
        return found
    still = map_leaves(jnp.zeros_like, found[0]), idle_actuation(found[1], seen.chaser.rate, seen.wheel)
    return choose_tree(idles, still, found)


def corners_of_control(
    control: AnyControl, now: Steering, seen: Measured, idles: Bool[Array, ""] | None = None
) -> Float[Array, "n"] | None:
    """Return where what control does has corners, as `Outputs` has them; None where it has none."""
    return _rate_and_actuation(control, now, seen, idles)[1].corners


def observe_control(
    control: AnyControl, now: Steering, seen: Measured, idles: Bool[Array, ""] | None = None
) -> dict[str, Array]:
    """Return what control does at an instant and has done.

    Shapes (3,), `thruster_use` (2,); torques, `thruster_force` and `wheel_momentum` in the body's axes.
    """
    _, given = _rate_and_actuation(control, now, seen, idles)
    wanted, effort = control.reference.of(seen.target), now.effort
    fired: dict[str, Array] = {}
    if isinstance(control, SampledControl) and isinstance(now.law.pulses, Pulses):
        pulses = now.law.pulses
        fired = {
            "thruster_firing": pulses.firing,
            "thruster_on_time": pulses.on_time,
            "thruster_pulses": pulses.begun,
        }
    return fired | observe_given(given, effort, attitude_error(wanted.attitude, seen.chaser.attitude))


def observe_given(given: Actuation, effort: Effort, error: Three) -> dict[str, Array]:
    """Return what actuators give now and have done, with the `error` of the attitude (rad, body axes)."""
    return {
        "attitude_error": error,
        "wheel_torque": given.wheel,
        "thruster_force": given.thrust,
        "thruster_torque": given.jets,
        "wheel_momentum": effort.wheel,
        "thruster_impulse": effort.impulse,
        "thruster_turning_impulse": effort.turning_impulse,
        "thruster_use": effort.used,
        "control_work": effort.work,
    }
