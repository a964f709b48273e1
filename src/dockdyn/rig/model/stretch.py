"""A rig's continuous dynamics between two commands, every onset and release located.

No robot receives a command in such a stretch, so the ways of the robot and of the delayed robot are known functions of
time; what is integrated is the motion of the virtual bodies and the work of the contact at the robot.

Units: SI: times s from the start of the stretch, N, J.
Source: own construction on the located integration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from dockdyn.contact.contact_memory import Memories
from dockdyn.contact.contact_modes import PRESSING
from dockdyn.deferred import Array, Bool, Float, PyTree, jax, jnp
from dockdyn.hil.robot import AxisReading
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.hybrid.mesh_point import evaluate_mesh_point
from dockdyn.integrate.model import Model, Outputs, Rate, Scalar, State, choose_tree
from dockdyn.integrate.solution import Status
from dockdyn.rig.model.plant import Axes, Modes, Plant, Touching
from dockdyn.trees import Module, map_leaves

if TYPE_CHECKING:
    from dockdyn.rig.model.delayed_reads import Ages
    from dockdyn.rig.model.rig import Rig, RigState

TOLERANCE = 1e-11  # relative error of a step
MOST_CHANGES = 64  # events between two instants; where there are more, the run stops
MOST_STEPS = 100_000.0  # likewise


class RobotPath(Module):
    """The way of a robot over a stretch: powers of the time from its middle, in ticks."""

    place: Float[Array, "terms axes"]
    speed: Float[Array, "terms axes"]
    middle: Scalar  # s
    unit: Scalar  # s

    @staticmethod
    def of(series: AxisReading, known: Float[Array, "axes width"], length: Scalar, unit: Scalar) -> RobotPath:
        """Return it from a series around the middle, and state and command of the axes."""
        return RobotPath(*jax.vmap(AxisReading.of, (0, None))(series, known), length / 2, unit)

    def at(self, t: Scalar) -> tuple[Axes, Axes]:
        """Return the pose and rate."""
        u = (t - self.middle) / self.unit

        def value(terms: Float[Array, "terms axes"]) -> Axes:
            total = terms[-1]
            for index in range(terms.shape[0] - 2, -1, -1):
                total = terms[index] + u * total
            return total

        return value(self.place), value(self.speed)


class Kinds(NamedTuple):
    """Modes of the contacts that a stretch knows; None before it begins."""

    late: Modes | None  # of the mock-ups that the delayed robot carries
    own: Modes | None  # of those that the robot carries
    virtual: Modes | None  # of the virtual bodies


class AllModes(NamedTuple):
    """All modes of a stretch."""

    contacts: Kinds
    motion: PyTree  # of what else has events in the virtual bodies


class PortAccount(NamedTuple):
    """What the contacts of the mock-ups at the robot have done, and remember."""

    work: Scalar  # J, of the contact's force on the port at the robot
    contact: Scalar | None  # J, of its whole load there; None along a line
    impulse: Axes | None  # N s, N m s, of that load, by which steps are judged; None of what remembers nothing
    memories: Memories

    @staticmethod
    def begun(plant: Plant, memories: Memories) -> PortAccount:
        """Return it where nothing has been done yet."""
        whole = jnp.zeros(()) if plant.axes > plant.port_axes else None
        return PortAccount(jnp.zeros(()), whole, jnp.zeros(plant.axes) if plant.remembers else None, memories)

    def size(self, plant: Plant, energy: Scalar) -> Scalar:
        """Return the size of a small change of it relative to a motion of this `energy` (J)."""
        work = jnp.abs(self.work) / energy
        if self.impulse is None:
            return work
        return jnp.maximum(work, jnp.sqrt(jnp.sum(self.impulse[: plant.port_axes] ** 2) / (2 * plant.mass * energy)))


class Account(NamedTuple):
    """What a stretch remembers."""

    port: PortAccount
    late: Memories  # of the contacts of the mock-ups that the delayed robot carries
    motion: PyTree  # what the virtual bodies remember
    clock: Scalar  # s, from the start of the stretch: by it is known where robots are as a step ends


def any_contact_presses(modes: Modes) -> Bool[Array, ""]:
    """Return whether any contact presses."""
    return jnp.any(jnp.stack(modes) == PRESSING)


def modes_of(touching: Touching) -> Modes:
    """Return the modes that fit how contacts touch."""
    return tuple(one.mode_of(touch) for one, touch in touching)


def guards_of(touching: Touching, modes: Modes) -> list[Scalar]:
    """Return the event functions of contacts."""
    each = zip(touching, modes, strict=True)
    return [guard for (one, touch), mode in each for guard in one.guards(mode, touch)]


def next_modes(touching: Touching, modes: Modes, fired: Iterator[Bool[Array, ""]]) -> Modes:
    """Return the modes of contacts after their guards in `fired`, which are taken from there, have fired."""
    each = zip(touching, modes, strict=True)
    return tuple(one.next_mode(mode, tuple(islice(fired, one.events))) for (one, _), mode in each)


def turning_of(touching: Touching) -> tuple[Scalar, ...]:
    """Return the quantities of contacts beside whose peaks a step must end."""
    return tuple(turn for one, touch in touching for turn in one.turning(touch))


def corners_of(touching: Touching, modes: Modes) -> tuple[Scalar, ...]:
    """Return where forces of contacts have corners, as `Outputs` has them."""
    each = zip(touching, modes, strict=True)
    return tuple(corner for (one, touch), mode in each for corner in one.corners(mode, touch))


class Stretch(Model):
    """The motion of the virtual bodies, and the work of the contact at the robot."""

    rig: Rig
    moving: RigState  # as it was at the tick's start, its command given, but for what changes
    start: Scalar  # s, when it begins
    late: RobotPath
    own: RobotPath
    begun: Bool[Array, ""]  # whether the delayed force has
    delay: None

    def motion_in(self, x: State) -> State:
        """Return the motion of the virtual bodies in a state."""
        return State(x.q, x.v, x.mode.motion, x.memory.motion)

    def meetings(self, t: Scalar, x: State) -> tuple[Touching, Touching, Touching]:
        """Return all contacts, in the order of `Kinds`."""
        plant, motion, (late, own, _) = self.rig.plant, self.motion_in(x), x.mode.contacts
        felt: Touching = ()
        if self.rig.schedule.continuous_force:
            felt = plant.touching(*self.late.at(t), late, x.memory.late)
        computed = plant.virtual_touching(plant.pose(motion), plant.rate(motion))
        return felt, plant.touching(*self.own.at(t), own, x.memory.port.memories), computed

    def initial(self) -> State:
        """Return the motion at the start, every contact as its state there says."""
        motion, now = self.moving.motion, jnp.zeros(())
        port = PortAccount.begun(self.rig.plant, self.moving.contacts)
        account = Account(port, self.moving.late_contacts, motion.memory, now)
        unknown = AllModes(Kinds(None, None, None), motion.mode)
        modes = map(modes_of, self.meetings(now, State(motion.q, motion.v, unknown, account)))
        begun = State(motion.q, motion.v, AllModes(Kinds(*modes), motion.mode), account)
        return replace(begun, memory=self._renewed(begun)) if self.rig.robot.jumps else begun

    def flow(self, t: Scalar, x: State, delayed: tuple[Axes, PortAccount, PyTree]) -> Rate:
        load, powers, computed = delayed
        motion = self.motion_in(x)
        plant = self.rig.plant
        speed = plant.port(*self.own.at(t))[1]
        total, *_ = self.rig.total(self.moving, speed, load, motion, x.mode.contacts.virtual)
        rate = plant.flow(motion, total, computed)
        (late, own, _), before = x.mode.contacts, x.memory
        port = powers._replace(memories=plant.memory_rates(*self.own.at(t), own, before.port.memories))
        felt = plant.memory_rates(*self.late.at(t), late, before.late) if before.late else ()
        return Rate(rate.q, rate.v, Account(port, felt, rate.memory, jnp.ones(())))

    def outputs(self, t: Scalar, x: State) -> Outputs:
        plant, nothing = self.rig.plant, jnp.zeros(self.rig.plant.axes)

        def late() -> Axes:
            return plant.load(*self.late.at(t), x.mode.contacts.late, x.memory.late)

        load = self.moving.load
        if self.rig.schedule.continuous_force:
            load = jax.lax.cond(self.begun & any_contact_presses(x.mode.contacts.late), late, lambda: nothing)
        work = port_powers(self.rig, self.own.at(t), x.mode.contacts.own, x.memory.port)
        motion = self.motion_in(x)
        guards: list[Scalar] = []
        turning: list[Scalar] = []
        corners = plant.corners(self.start + t, motion)
        for touching, modes in zip(self.meetings(t, x), x.mode.contacts, strict=True):
            guards += guards_of(touching, modes)
            turning += turning_of(touching)
            corners += corners_of(touching, modes)
        guards += plant.guards(self.start + t, motion)
        turning += plant.turning(motion)
        return Outputs((load, work, plant.signal(motion)), tuple(guards), tuple(turning), corners)

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        left = iter(fired)
        kinds = [next_modes(*both, left) for both in zip(self.meetings(t, x), x.mode.contacts, strict=True)]
        motion = self.rig.plant.jump(self.start + t, self.motion_in(x), tuple(left))
        return State(motion.q, motion.v, AllModes(Kinds(*kinds), motion.mode), x.memory._replace(motion=motion.memory))

    def next_tick(self, x: State) -> Scalar | None:
        tick = self.rig.plant.next_tick(self.motion_in(x))
        return None if tick is None else tick - self.start

    def tick(self, t: Scalar, x: State) -> State:
        motion = self.rig.plant.tick(self.start + t, self.motion_in(x))
        return State(motion.q, motion.v, x.mode._replace(motion=motion.mode), x.memory._replace(motion=motion.memory))

    @property
    def driven(self) -> bool:
        return True

    def emitting(self, x: State) -> Bool[Array, ""]:
        measured = any_contact_presses((*x.mode.contacts.late, *x.mode.contacts.own))
        return measured | self.rig.plant.emitting(self.motion_in(x))

    def relative_size(self, x: State, change: Rate) -> Scalar:
        """Return the root of the change's own kinetic energy over that of the motion, or the change of work over it if that is
        larger.

        The motion is that about the common centre of mass, now and at t = 0.
        """
        plant = self.rig.plant
        moves = jnp.maximum(plant.scale(self.motion_in(x)), 1e-300)
        error = plant.kinetic_energy(State(x.q, change.v, (), ()))
        work = jnp.abs(plant.work(change.memory.motion)) / moves
        return jnp.maximum(jnp.maximum(jnp.sqrt(error / moves), work), change.memory.port.size(plant, moves))

    def retract(self, x: State) -> State:
        motion = self.rig.plant.retract(self.motion_in(x))
        return State(motion.q, motion.v, x.mode, x.memory)

    def settled(self, x: State) -> State:
        motion = self.rig.plant.settled(self.motion_in(x))
        return State(motion.q, motion.v, x.mode, self._renewed(x)._replace(motion=motion.memory))

    def _renewed(self, x: State) -> Account:
        """Return what is remembered once a step has ended, but for the virtual bodies."""
        plant, account, t = self.rig.plant, x.memory, x.memory.clock
        if not plant.remembers:
            return account
        own = plant.renewed(*self.own.at(t), x.mode.contacts.own, account.port.memories)
        late = plant.renewed(*self.late.at(t), x.mode.contacts.late, account.late) if account.late else ()
        return account._replace(port=account.port._replace(memories=own), late=late)

    def within_step(self, start: State, x: State) -> State:
        plant, before, now = self.rig.plant, start.memory, x.memory
        motion = plant.within_step(self.motion_in(start), self.motion_in(x))
        own = plant.memories_within(before.port.memories, now.port.memories)
        late = plant.memories_within(before.late, now.late) if now.late else ()
        return State(
            motion.q, motion.v, x.mode, Account(now.port._replace(memories=own), late, motion.memory, now.clock)
        )


def port_powers(rig: Rig, moves: tuple[Axes, Axes], modes: Modes, port: PortAccount) -> PortAccount:
    """Return the powers (W) of the contacts of the mock-ups at a robot that `moves` so, and their load (N, N m), as rates of a
    `PortAccount` but for what they remember."""

    def acting() -> PortAccount:
        load = rig.plant.load(*moves, modes, port.memories)
        return PortAccount(*rig.powers(load, *moves), None if port.impulse is None else load, ())

    idle = map_leaves(jnp.zeros_like, port._replace(memories=()))
    return jax.lax.cond(any_contact_presses(modes), acting, lambda: idle)


class Changing(NamedTuple):
    """What of a `RigState` changes through a tick."""

    motion: State
    port_work: Scalar
    contact_work: Scalar | None
    contacts: Memories
    late_contacts: Memories

    def after(self, port: PortAccount) -> Changing:
        """Return it once so much has been done at the port."""
        before, done = (self.port_work, self.contact_work), (port.work, port.contact)
        work, whole = map_leaves(lambda old, new: old + new, before, done)
        return self._replace(port_work=work, contact_work=whole, contacts=port.memories)


def advance_tick(rig: Rig, ages: Ages, moving: RigState, time: Scalar) -> RigState:
    """Return the rig once its virtual bodies and the contacts of its mock-ups have gone on through a tick that begins at `time`
    (s).

    Where a stretch cannot be solved the motion is not a number.
    """
    assert ages.paths is not None
    rows = jnp.maximum(ages.whole - jnp.arange(2), 0)
    starts = time + jnp.stack([jnp.zeros(()), ages.parts[0]])
    begun = starts - rig.sensor.delay > -1e-9 * ages.tick

    def through(changing: Changing, part: PyTree) -> tuple[Changing, None]:
        row, start, length, has_begun, (late, own) = part
        model = Stretch(
            rig=rig,
            moving=moving._replace(**changing._asdict()),
            start=start,
            late=RobotPath.of(late, moving.past[row], length, ages.tick),
            own=RobotPath.of(own, moving.past[0], length, ages.tick),
            begun=has_begun,
            delay=None,
        )
        end = solve_stretch(model, model.initial(), jnp.zeros(()), length)
        felt = choose_tree(has_begun, end.memory.late, changing.late_contacts)
        done = changing.after(end.memory.port)._replace(motion=model.motion_in(end), late_contacts=felt)
        return done, None

    before = Changing(*(getattr(moving, name) for name in Changing._fields))
    after, _ = jax.lax.scan(through, before, (rows, starts, ages.parts, begun, ages.paths))
    return moving._replace(**after._asdict())


def solve_stretch(model: Model, start: State, begun: Scalar, length: Scalar) -> State:
    """Return the state a `length` (s) after `start`, which is that at the time `begun` (s).

    Where it cannot be solved, it is not a number.
    """
    settings = located.Settings(
        duration=begun + length,
        step=length,
        tolerance=jnp.asarray(TOLERANCE),
        sampling=jnp.ones(()),
        samples=0,
        max_moments=MOST_CHANGES,
        line_capacity=1,
        max_iterations=MOST_STEPS,
    )
    solver = located.initial_solver(model, settings, start, begun)
    rate = model.flow(begun, start, solver.point.outputs.signal)
    solver = solver._replace(
        point=evaluate_mesh_point(model, begun, start, rate),
        refresh=jnp.asarray(False),
        status=jnp.where(length > 0, Status.RUNNING, Status.FINISHED),
    )
    solver = located.advance_located(model, settings, solver, settings.max_iterations)
    good, x = solver.status == Status.FINISHED, solver.point.state
    q, v, memory = map_leaves(lambda a: jnp.where(good, a, jnp.nan), (x.q, x.v, x.memory))
    return State(q, v, x.mode, memory)
