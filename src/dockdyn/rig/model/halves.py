"""A rig in its two halves: the computer that answers measurements with commands, and the laboratory that it drives.

Both are made of what `Rig.advance` is made of; between them go a measured load, an encoder's pose and a command, once a
cycle. So the computer's half can drive devices, and the laboratory's can stand for them.

Units: SI: m, rad, m/s, rad/s, N, N m, s; ticks are whole numbers.
Source: as the rig's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.hil.compensators.compensator import CompensatorInput
from dockdyn.hil.sensor import Draws
from dockdyn.rig.model.delayed_reads import Ages, shift_rows
from dockdyn.rig.model.mock_ups import shift_past
from dockdyn.rig.model.mounting import with_sensor_load
from dockdyn.rig.model.plant import Axes
from dockdyn.rig.model.rig import Answer, IdealContact, Rig, RigState


class Sensed(NamedTuple):
    """What a laboratory tells once a cycle."""

    load: Axes  # N, N m
    pose: Axes  # m, rad, of the robot by its encoders, before the command of this cycle


class Computer(NamedTuple):
    """All that the computer of a rig carries from cycle to cycle."""

    moving: RigState  # its part: virtual bodies, measurement, compensator
    command: Axes  # m, rad, the last one
    pose: Axes  # m, rad, by the encoders at this cycle
    places: Float[Array, "rows port"]  # m, of the port by the encoders at the cycles before, the newest first


def begin_computer(rig: Rig) -> Computer:
    """Return the computer at t = 0, its robot following or standing still as the rig's."""
    whole, plant = rig.begin(), rig.plant
    applies = rig.robot.command(whole.past[0])
    moves = rig.following * plant.rate(whole.motion)
    pose, _ = rig.robot.reading(jnp.zeros(())).of(rig.robot.known(whole.state, applies, moves))
    earlier = pose - moves * (rig.hold * (1 + jnp.arange(rig.schedule.rows)))[:, None]
    places = jax.vmap(lambda pose: plant.port(pose, moves)[0])(earlier)
    last = whole.pending[0][0] if rig.applies_after else applies
    elsewhere: dict[str, Any] = {"state": None, "past": None, "pending": (), "contacts": (), "past_contacts": ()}
    elsewhere["reached"] = None  # told of a simulation alone
    return Computer(whole._replace(**elsewhere), last, earlier[0], places)


def begin_laboratory(rig: Rig) -> RigState:
    """Return the laboratory at t = 0, likewise."""
    elsewhere: dict[str, Any] = {"motion": None, "recorded": (), "memory": None, "action": None, "encoded": None}
    elsewhere["reached"] = None
    return rig.begin()._replace(**elsewhere)


def laboratory_at_rest(rig: Rig, pose: Axes) -> RigState:
    """Return the laboratory whose robot has long stood at a pose (m, rad)."""
    still = jnp.zeros_like(pose)
    state, command = rig.robot.follow_long(pose, still, jnp.zeros(()))
    begun = begin_laboratory(rig)
    known = rig.robot.known(state, command, still)
    pending = tuple(jnp.broadcast_to(pose, rows.shape) for rows in begun.pending)
    return begun._replace(state=state, past=jnp.broadcast_to(known, begun.past.shape), pending=pending)


def with_pose(rig: Rig, computer: Computer, pose: Axes) -> Computer:
    """Return the computer once it knows the encoders' `pose` (m, rad) of this cycle."""
    place = rig.plant.port(pose, jnp.zeros_like(pose))[0]
    return computer._replace(pose=pose, places=shift_rows(place, computer.places))


def compute_cycle(rig: Rig, computer: Computer, load: Axes) -> tuple[Computer, Answer, CompensatorInput]:
    """Return a cycle of the computer under a measured load (N, N m), the pose of the cycle known to it: the answer, and what
    was seen.

    Where the robot was when the load was measured is read from the encoders of the cycles before, straight lines between
    them.
    """
    plant, places = rig.plant, computer.places
    late = rig.sensor.delay / rig.hold
    whole = jnp.floor(late + 1e-9)
    row, share = whole.astype(int), jnp.maximum(late - whole, 0.0)
    touched = places[row] + share * (places[row + 1] - places[row])
    moving = computer.moving._replace(load=load, touched=touched)
    if rig.mounting is not None:
        moving = with_sensor_load(rig, moving._replace(reading=load), computer.pose)
    time, nothing = moving.tick * rig.tick, jnp.zeros(plant.port_axes)
    oracle, robot = IdealContact(nothing, nothing), (places[0], nothing)
    moving, answer = rig.answered(moving, True, time, robot, oracle, computer.command, moving.load)
    seen = rig.seen(moving, time, robot, oracle)
    moving = moving._replace(motion=plant.told(time, moving.motion, rig.sensor.detects_contact(load)))
    moving = rig.stepped(moving, answer.total, time)
    moving = moving._replace(tick=moving.tick + rig.schedule.ticks)
    return computer._replace(moving=moving, command=answer.command), answer, seen


def measure_load(rig: Rig, ages: Ages, laboratory: RigState, drawn: Draws | None) -> RigState:
    """Return the laboratory once its sensor has measured."""
    return rig.measured(ages, laboratory, laboratory.tick * ages.tick, drawn)


def laboratory_measurement(rig: Rig, ages: Ages, laboratory: RigState, encoder: Float[Array, "port"] | None) -> Sensed:
    """Return what the laboratory tells at the start of a cycle; `encoder` is standard normal, of the encoders' noise."""
    last = laboratory.past[0]
    pose, _ = ages.now.of(rig.robot.known(laboratory.state, rig.robot.command(last), last[:, -1]))
    load = laboratory.load if laboratory.reading is None else laboratory.reading
    return Sensed(load, rig.encoders(pose, encoder))


def carry_tick(rig: Rig, ages: Ages, laboratory: RigState, command: Axes) -> RigState:
    """Return the laboratory a tick later, its robot told a command (m, rad) at the start."""
    known = rig.robot.known(laboratory.state, command, jnp.zeros_like(command))
    state = rig.carried(ages, laboratory, known)
    laboratory = shift_past(laboratory, known)
    if rig.plant.remembers:
        laboratory = rig.worked(ages, laboratory)
    return laboratory._replace(tick=laboratory.tick + 1, state=state)
