"""A rig's continuous dynamics between two commands, every onset and release located.

No robot receives a command in such a stretch, so the ways of the robot and of the delayed robot are known functions of
time; what is integrated is the motion of the virtual bodies and the work of the contact at the robot.

Units: SI: times s from the start of the stretch, N, J.
Source: own construction on the located integration.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from dockdyn.contact.contact_modes import PRESSING
from dockdyn.deferred import Array, Bool, Float, PyTree, jax, jnp
from dockdyn.hil.robot import AxisReading
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.hybrid.mesh_point import evaluate_mesh_point
from dockdyn.integrate.model import Model, Outputs, Rate, Scalar, State
from dockdyn.integrate.solution import Status
from dockdyn.rig.model.plant import Axes, Modes, Touching
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
    """Modes of the contacts that a stretch knows."""

    late: Modes  # of the mock-ups that the delayed robot carries
    own: Modes  # of those that the robot carries
    virtual: Modes  # of the virtual bodies


class AllModes(NamedTuple):
    """All modes of a stretch."""

    contacts: Kinds
    motion: PyTree  # of what else has events in the virtual bodies


class Account(NamedTuple):
    """What a stretch remembers."""

    work: Scalar  # J, of the contact's force on the port at the robot
    contact: Scalar | None  # J, of its whole load there; None along a line
    motion: PyTree  # what the virtual bodies remember


def any_contact_presses(modes: Modes) -> Bool[Array, ""]:
    """Return whether any contact presses."""
    return jnp.any(jnp.stack(modes) == PRESSING)


class Stretch(Model):
    """The motion of the virtual bodies, and the work of the contact at the robot."""

    rig: Rig
    moving: RigState  # as it was at the tick's start, its command given
    motion: State
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
        plant, motion = self.rig.plant, self.motion_in(x)
        late = plant.touching(*self.late.at(t)) if self.rig.schedule.continuous_force else ()
        computed = plant.virtual_touching(plant.pose(motion), plant.rate(motion))
        return late, plant.touching(*self.own.at(t)), computed

    def initial(self) -> State:
        """Return the motion at the start, every contact as its state there says."""
        motion = self.motion
        whole = jnp.zeros(()) if self.rig.plant.axes > self.rig.plant.port_axes else None
        account = Account(jnp.zeros(()), whole, motion.memory)
        meetings = self.meetings(
            jnp.zeros(()), State(motion.q, motion.v, AllModes(Kinds((), (), ()), motion.mode), account)
        )
        modes = (tuple(one.mode_of(touch) for one, touch in group) for group in meetings)
        return State(motion.q, motion.v, AllModes(Kinds(*modes), motion.mode), account)

    def flow(self, t: Scalar, x: State, delayed: tuple[Axes, tuple[Scalar, Scalar | None], PyTree]) -> Rate:
        load, powers, computed = delayed
        motion = self.motion_in(x)
        plant = self.rig.plant
        speed = plant.port(*self.own.at(t))[1]
        total, *_ = self.rig.total(self.moving, speed, load, motion, x.mode.contacts.virtual)
        rate = plant.flow(motion, total, computed)
        return Rate(rate.q, rate.v, Account(*powers, rate.memory))

    def outputs(self, t: Scalar, x: State) -> Outputs:
        plant, nothing = self.rig.plant, jnp.zeros(self.rig.plant.axes)

        def late() -> Axes:
            return plant.load(*self.late.at(t), x.mode.contacts.late)

        def powers() -> tuple[Scalar, Scalar | None]:
            pose, rate = self.own.at(t)
            return self.rig.powers(plant.load(pose, rate, x.mode.contacts.own), pose, rate)

        load = self.moving.load
        if self.rig.schedule.continuous_force:
            load = jax.lax.cond(self.begun & any_contact_presses(x.mode.contacts.late), late, lambda: nothing)
        idle = map_leaves(jnp.zeros_like, (x.memory.work, x.memory.contact))
        work = jax.lax.cond(any_contact_presses(x.mode.contacts.own), powers, lambda: idle)
        guards: list[Scalar] = []
        for group, modes in zip(self.meetings(t, x), x.mode.contacts, strict=True):
            for (one, touch), mode in zip(group, modes, strict=True):
                guards += one.guards(mode, touch)
        guards += plant.guards(self.start + t, self.motion_in(x))
        motion = self.motion_in(x)
        return Outputs((load, work, plant.signal(motion)), tuple(guards), plant.turning(motion))

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        left, kinds = iter(fired), []
        for group, modes in zip(self.meetings(t, x), x.mode.contacts, strict=True):
            both = zip(group, modes, strict=True)
            kinds.append(tuple(one.next_mode(mode, tuple(islice(left, one.events))) for (one, _), mode in both))
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
        work = jnp.maximum(jnp.abs(change.memory.work), jnp.abs(plant.work(change.memory.motion)))
        return jnp.maximum(jnp.sqrt(error / moves), work / moves)

    def retract(self, x: State) -> State:
        motion = self.rig.plant.retract(self.motion_in(x))
        return State(motion.q, motion.v, x.mode, x.memory)

    def settled(self, x: State) -> State:
        motion = self.rig.plant.settled(self.motion_in(x))
        return State(motion.q, motion.v, x.mode, x.memory._replace(motion=motion.memory))

    def within_step(self, start: State, x: State) -> State:
        motion = self.rig.plant.within_step(self.motion_in(start), self.motion_in(x))
        return State(motion.q, motion.v, x.mode, x.memory._replace(motion=motion.memory))


def advance_tick(rig: Rig, ages: Ages, moving: RigState, time: Scalar) -> tuple[State, Scalar, Scalar | None]:
    """Return the motion of the virtual bodies after a tick that begins at `time` (s), and the works (J) of the contact in it,
    as a `RigState` has them.

    Where a stretch cannot be solved the motion is not a number.
    """
    assert ages.paths is not None
    rows = jnp.maximum(ages.whole - jnp.arange(2), 0)
    starts = time + jnp.stack([jnp.zeros(()), ages.parts[0]])
    begun = starts - rig.sensor.delay > -1e-9 * ages.tick

    def through(carry: PyTree, part: PyTree) -> tuple[PyTree, None]:
        motion, *works = carry
        row, start, length, has_begun, (late, own) = part
        model = Stretch(
            rig=rig,
            moving=moving,
            motion=motion,
            start=start,
            late=RobotPath.of(late, moving.past[row], length, ages.tick),
            own=RobotPath.of(own, moving.past[0], length, ages.tick),
            begun=has_begun,
            delay=None,
        )
        end = solve_stretch(model, model.initial(), jnp.zeros(()), length)
        done = end.memory.work, end.memory.contact
        return (model.motion_in(end), *map_leaves(lambda old, new: old + new, tuple(works), done)), None

    nothing = map_leaves(jnp.zeros_like, (moving.port_work, moving.contact_work))
    return jax.lax.scan(through, (moving.motion, *nothing), (rows, starts, ages.parts, begun, ages.paths))[0]


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
