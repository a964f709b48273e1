"""The cycle of a rig that drives devices: its state, its computer's half, and the supervisor.

A cycle takes what the devices say and answers with a command. Its states are those that an operator goes through; each goes
to the next by a request, none by itself but at the end of a run and of braking.

Time is that of the commands: in a cycle in which none is due the robot stays where it was told to be, and so do the command
and the virtual spacecraft; only what is watched goes on. A stop in such a cycle finds the robot at rest already.

Units: SI: m, rad, m/s, rad/s, N, N m, J, s; counts are cycles.
Source: own construction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Int, jnp
from dockdyn.hil.energy_observer import Port, PortEnergy
from dockdyn.hil.operation import OperationState, Request
from dockdyn.hil.supervisor import (
    GENTLY,
    Cause,
    Count,
    Limits,
    Told,
    Watch,
    approach_rate,
    begin_watch,
    braking_rate,
    check_command,
    check_energy,
    first_cause,
    watch_devices,
)
from dockdyn.integrate.model import Scalar
from dockdyn.rig.model.halves import Computer, begin_computer, compute_cycle, with_pose
from dockdyn.rig.model.plant import Axes
from dockdyn.rig.model.rig import Rig
from dockdyn.trees import Module, map_leaves

ENERGY = PortEnergy(held=True)
NEAR = 1e-9  # m and rad, from where a run begins


class Inputs(NamedTuple):
    """What goes into a cycle: as `Told`, and from the operator."""

    load: Axes
    load_count: Count
    load_status: Count
    pose: Axes
    pose_count: Count
    pose_status: Count
    late: Count
    request: Count
    held: Count  # 0: hold-to-run is released
    due: Count  # 0: the robot asks for nothing, and nothing can be sent


def silent_inputs(axes: int) -> Inputs:
    """Return what goes into a cycle while nothing has been heard."""
    still, none, never = jnp.zeros(axes), jnp.zeros((), int), jnp.asarray(-1)
    return Inputs(still, never, none, still, never, none, none, none, none, none)


class CycleOutputs(NamedTuple):
    """What comes out of a cycle."""

    command: Axes  # m, rad
    send: Count  # whether it goes to the robot
    state: Count
    cause: Count  # why it was stopped, the first one
    tick: Count  # cycles of the virtual spacecraft
    load: Axes  # N, N m, that acts on them
    model_pose: Axes  # m, rad
    model_rate: Axes  # m/s, rad/s
    position: Axes  # m, of the port, of the model
    injected_energy: Scalar  # J
    given_energy: Scalar  # J
    wanted: Axes  # m, rad, the command that would have been sent, also where a limit is against it


class Driven(Module):
    """A rig that drives devices: what does not change during its operation."""

    rig: Rig
    limits: Limits
    start: Axes  # m, rad, where a run begins, at rest
    rate: Axes  # m/s, rad/s, of the approach at t = 0
    ramp: Count  # cycles in which it comes up to that rate
    settle: Count  # cycles at that rate before t = 0
    last: Count  # cycle of the virtual spacecraft in which the run ends


class Driving(NamedTuple):
    """What a cycle passes on to the next one."""

    state: Count
    cause: Count
    ran: Count  # cycles of running
    sent: Axes  # m, rad, the last command
    rate: Axes  # m/s, rad/s, of it
    computer: Computer
    watch: Watch
    energy: Port
    given: Scalar  # J


def driven_of(rig: Rig, limits: Limits, settle: Scalar, duration: Scalar) -> Driven:
    """Return the rig made ready to be driven: where it begins follows from its first command, and from the limits."""
    begun = begin_computer(rig)
    first = compute_cycle(rig, begun, jnp.zeros(rig.plant.axes))[1].command
    rate = rig.following * rig.plant.rate(begun.moving.motion)
    needed = [
        jnp.sqrt(jnp.sum(part**2)) / (GENTLY * envelope.acceleration * rig.hold)
        for envelope, part in limits.parts(rate)
    ]
    ramp = jnp.maximum(jnp.ceil(jnp.max(jnp.stack(needed))), 1.0)
    calm = jnp.ceil(settle / rig.hold)
    start = first - rate * rig.hold * ((ramp + 1) / 2 + calm + 1)
    last = jnp.ceil(duration / rig.hold * (1 - 1e-12)) + 1
    return Driven(rig, limits, start, rate, ramp.astype(int), calm.astype(int), last.astype(int))


def begin_driving(driven: Driven) -> Driving:
    """Return the state before the first cycle."""
    rig, none = driven.rig, jnp.zeros((), int)
    computer, still = begin_computer(rig), jnp.zeros(rig.plant.axes)
    port = rig.plant.port(rig.plant.pose(computer.moving.motion), still)[0]
    energy = ENERGY.init(port, jnp.zeros_like(port))
    return Driving(none, none, none, still, still, computer, begin_watch(rig.plant.axes), energy, jnp.zeros(()))


def drive_cycle(driven: Driven, before: Driving, given: Inputs) -> tuple[Driving, CycleOutputs]:
    """Return one cycle."""
    rig, limits, period = driven.rig, driven.limits, driven.rig.hold
    watch, fault = watch_devices(limits, before.watch, Told(*given[: len(Told._fields)]), before.sent)
    due = given.due != 0
    heard = with_pose(rig, before.computer, watch.pose)
    computer = map_leaves(lambda one, other: jnp.where(due, one, other), heard, before.computer)
    moves = due & (before.state == OperationState.RUNNING) & (before.ran >= driven.ramp + driven.settle)
    after, answer, seen = compute_cycle(rig, computer, watch.load)
    energy, way = ENERGY.step(before.energy, seen)
    given_energy = before.given + jnp.sum(before.energy.force * way)
    wanted = jnp.where(due, _requested_command(driven, before, watch.pose, answer.command), before.sent)
    unsound = first_cause(
        [
            fault,
            jnp.where(moves, check_energy(limits, energy.excess, given_energy), int(Cause.NONE)),
            jnp.where(due, check_command(limits, before.sent, before.rate, wanted, period), int(Cause.NONE)),
            _asked_to_stop(driven, before, given, moves & (computer.moving.tick >= driven.last * rig.schedule.ticks)),
        ]
    )
    tripped = _is_any_of(before.state, OperationState.HOMED, OperationState.ARMED, OperationState.RUNNING) & (
        unsound != Cause.NONE
    )
    braking = tripped | _is_any_of(before.state, OperationState.STOPPING, OperationState.FAULT)
    slower = jnp.where(due, braking_rate(limits, before.rate, period), 0.0)
    faster = jnp.where(due, (wanted - before.sent) / period, before.rate)
    rate = jnp.where(braking, slower, faster)
    sent = jnp.where(braking, before.sent + rate * period, wanted)
    idle = before.state == OperationState.IDLE
    rate = jnp.where(idle, 0.0, rate)
    counted = moves  # also energies that are beyond a limit
    moves = moves & ~tripped
    cause = jnp.where((before.cause == Cause.NONE) & tripped, unsound, before.cause)
    quiet = watch.heard & watch.measured & (fault == Cause.NONE)
    near = (jnp.abs(sent - driven.start) <= NEAR).all() & (jnp.abs(rate) * period <= NEAR).all()
    state = jnp.where(
        tripped, int(OperationState.STOPPING), _next_state(before, given.request, quiet, near, (rate == 0).all(), cause)
    )
    kept = map_leaves(lambda one, other: jnp.where(moves, one, other), after, computer)
    ran = jnp.where(due & (before.state == OperationState.RUNNING), before.ran + 1, before.ran)
    driving = Driving(
        state,
        cause,
        ran,
        sent,
        rate,
        kept,
        watch,
        map_leaves(lambda one, other: jnp.where(moves, one, other), energy, before.energy),
        jnp.where(moves, given_energy, before.given),
    )
    motion = computer.moving.motion
    outputs = CycleOutputs(
        sent,
        watch.heard.astype(int),
        state,
        cause,
        kept.moving.tick // rig.schedule.ticks,
        after.moving.load,
        rig.plant.pose(motion),
        rig.plant.rate(motion),
        seen.position,
        jnp.where(counted, energy.excess, before.energy.excess),
        jnp.where(counted, given_energy, before.given),
        wanted,
    )
    return driving, outputs


def _is_any_of(state: Int[Array, ""], *states: OperationState) -> Array:
    """Return whether a state is one of these."""
    return jnp.any(state == np.array(states))


def _requested_command(driven: Driven, before: Driving, pose: Axes, answer: Axes) -> Axes:
    """Return the command (m, rad) that the state asks for, if nothing is against it."""
    period = driven.rig.hold
    there = before.sent + period * approach_rate(driven.limits, before.sent, before.rate, driven.start, period)
    coming = before.sent + period * driven.rate * jnp.minimum((before.ran + 1) / driven.ramp, 1.0)
    running = jnp.where(before.ran < driven.ramp + driven.settle, coming, answer)
    wanted = jnp.where(before.watch.heard, before.sent, pose)  # held from the first
    wanted = jnp.where(before.state == OperationState.ARMED, there, wanted)
    return jnp.where(before.state == OperationState.RUNNING, running, wanted)


def _asked_to_stop(driven: Driven, before: Driving, given: Inputs, over: Array) -> Count:
    """Return the cause to stop that no device has given."""
    held = _is_any_of(before.state, OperationState.ARMED, OperationState.RUNNING) & (given.held == 0)
    causes = [
        jnp.where(held, int(Cause.RELEASED), int(Cause.NONE)),
        jnp.where(given.request == Request.STOP, int(Cause.OPERATOR), int(Cause.NONE)),
        jnp.where(over, int(Cause.END), int(Cause.NONE)),
    ]
    return first_cause(causes)


def _next_state(before: Driving, request: Count, quiet: Array, near: Array, resting: Array, cause: Count) -> Count:
    """Return the state after a cycle in which nothing was against it."""
    state = before.state
    clean = before.cause == Cause.NONE
    after = jnp.where(
        (state == OperationState.IDLE) & (request == Request.HOME) & quiet & clean, int(OperationState.HOMED), state
    )
    after = jnp.where((state == OperationState.HOMED) & (request == Request.ARM), int(OperationState.ARMED), after)
    after = jnp.where(
        (state == OperationState.ARMED) & (request == Request.RUN) & near, int(OperationState.RUNNING), after
    )
    intended = (cause == Cause.OPERATOR) | (cause == Cause.END)
    ended = jnp.where(intended, int(OperationState.IDLE), int(OperationState.FAULT))
    return jnp.where((state == OperationState.STOPPING) & resting, ended, after)
