"""A mechanism two of whose bodies meet in hardware: what plants of rigs share, along however many axes.

Units: SI: m, rad, m/s, rad/s, N, N m.
Source: kinematics of two bodies; the measured wrench acts on present points, as the delayed ones of a mechanism do.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

from dockdyn.contact.contact_memory import ContactMemory, Memories, first_memories, match_memories
from dockdyn.contact.contact_modes import APART, GATED, PRESSING
from dockdyn.contact.group import ContactGroup, Sticking, Wrench
from dockdyn.deferred import Array, Int, PyTree, jnp, xp
from dockdyn.integrate.hybrid.runge_kutta import rk4_step
from dockdyn.integrate.model import Flag, Rate, Scalar, State, advance_state
from dockdyn.mechanics.rigid_body import Placed, Twist, internal_energy
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.bilateral_group import BilateralGroup
from dockdyn.mechanism.loads import observed_elements, tie_loads
from dockdyn.mechanism.measured_contact import MeasuredContact
from dockdyn.mechanism.mechanism import Mechanism, Signal
from dockdyn.parameters import Dynamics
from dockdyn.rig.model.plant import SHARES, Axes, Modes, Plant, Touching
from dockdyn.rig.model.stretch import solve_stretch
from dockdyn.trees import AbstractVar

# a contact, its mode, its first body, its second, and what it remembers
type Met = tuple[ContactGroup, Int[Array, ""], Placed, Placed, ContactMemory | None]


class MountedPlant(Plant):
    """A mechanism in the computer; of two of its bodies mock-ups are mounted, whose contacts are the hardware.

    The mock-up of the second stands, a robot carries that of the first. The laboratory's axes are those of the mock-up that
    stands. Both bodies get the measured load where they stand, so momenta are kept whatever the robot does. All else is
    computed where the virtual bodies are: other bodies and contacts, joints, elements, phases.
    """

    model: AbstractVar[
        Mechanism
    ]  # without delay; the first of its groups is what is measured, on the body that is carried
    hardware: AbstractVar[tuple[ContactGroup, ...]]
    virtual: AbstractVar[tuple[ContactGroup, ...]]  # of the same two bodies, computed whenever the load is measured
    place: AbstractVar[Array]  # m, of the port

    @classmethod
    def of(
        cls,
        whole: Mechanism,
        hardware: Sequence[int],
        mock_ups: tuple[int, int],
        place: Array,
        mass: Array,
        virtual: tuple[ContactGroup, ...] = (),
    ) -> Self:
        """Return the plant of a mechanism in which what is measured takes the place of some contacts; all are by number."""
        carried, standing = mock_ups
        computed = [group for number, group in enumerate(whole.groups) if number not in hardware]
        nothing = Vector.of(xp.zeros(3))
        measured = MeasuredContact(Wrench(nothing, nothing), carried, standing)
        return cls(
            model=replace(whole, delay=None, points=(), groups=(measured, *computed)),
            hardware=tuple(whole.groups[number] for number in hardware),  # type: ignore[misc]
            virtual=virtual,
            place=place,
            mass=mass,
        )

    @property
    def measured(self) -> MeasuredContact:
        """Return the contact that is measured, as the mechanism has it."""
        first = self.model.groups[0]
        assert isinstance(first, MeasuredContact)
        return first

    @property
    def numbers(self) -> tuple[int, int]:
        """Which of the bodies is carried, and which stands."""
        return self.measured.first, self.measured.second

    @property
    def bare(self) -> bool:
        return not self.model.elements and self.model.steered is None

    @property
    def of_one_normal(self) -> bool:
        sticks = any(isinstance(group.friction, Sticking) for group in self.hardware)
        creeps = any(group.law.at_rest(xp.zeros(())).remembers() for group in self.hardware)
        return self.bare and not sticks and not creeps

    @property
    def smooth(self) -> bool:
        """Whether the virtual bodies fly freely but for what is measured: the motion has no instants, and nothing is stiff."""
        model = self.model
        return self.bare and not (model.groups[1:] or model.trees or model.phases)

    @property
    def alone(self) -> bool:
        """Whether nothing acts on the virtual bodies but what is measured, so that their motion has no modes and no memory."""
        return self.smooth and self.model.gravity is None

    def without_rig(self) -> Mechanism:
        return replace(self.model, groups=(*self.hardware, *self.virtual, *self.model.groups[1:]))

    @property
    def ever_touching(self) -> bool:
        return all(isinstance(group, BilateralGroup) for group in (*self.hardware, *self.virtual))

    @abc.abstractmethod
    def placed(self, pose: Axes, rate: Axes) -> tuple[Placed, Placed]:
        """Return the two mock-ups in the laboratory."""

    @abc.abstractmethod
    def in_axes(self, wrench: Wrench) -> Axes:
        """Return a wrench about the centre of mass of what is carried, laboratory's axes, as a load on the robot's axes."""

    @abc.abstractmethod
    def inertial(self, motion: State, load: Axes) -> Wrench:
        """Return the wrench (inertial) that a load is, the virtual bodies moving so."""

    def initial(self) -> State:
        start = self.model.initial()
        return State(start.q, start.v, (), ()) if self.alone else start

    def whole(self, motion: State) -> State:
        """Return a motion as a state of the mechanism."""
        return replace(self.model.initial(), q=motion.q, v=motion.v) if self.alone else motion

    def motion_rate(self, model: Mechanism, motion: State, signal: Signal | None = None) -> Rate:
        """Return the rate of a motion under what is measured, as the mechanism has it, and under the `signal` of its contacts,
        by default that of now; nothing in it asks for the time."""
        now, x = jnp.zeros(()), self.whole(motion)
        rate = model.flow(now, x, model.signal(now, x) if signal is None else signal)
        return rate._replace(memory=()) if self.alone else rate

    def mounted(self, motion: State) -> tuple[Placed, Placed]:
        """Return the virtual bodies of the mock-ups."""
        carried, standing = self.numbers
        places = self.model.placement(motion).bodies
        return places[carried], places[standing]

    def accelerations(self, motion: State, load: Axes) -> tuple[Twist, Twist]:
        """Return rates of the twists of the two under a load (N, N m)."""
        model, x, (carried, standing) = self.under(motion, load), self.whole(motion), self.numbers
        rates = model.acting(x, model.placement(x), model.signal(jnp.zeros(()), x)).bodies
        return rates[carried], rates[standing]

    @property
    def remembers(self) -> bool:
        return any(group.remembers for group in self.hardware)

    def first_memories(self) -> Memories:
        return first_memories(self.hardware)

    def load(self, pose: Axes, rate: Axes, modes: Modes | None = None, memories: Memories = ()) -> Axes:
        return self._load_of(self.hardware, pose, rate, modes, memories)

    def virtual_load(self, pose: Axes, rate: Axes, modes: Modes | None = None) -> Axes:
        return self._load_of(self.virtual, pose, rate, modes, ())

    def _load_of(
        self, groups: Sequence[ContactGroup], pose: Axes, rate: Axes, modes: Modes | None, memories: Memories
    ) -> Axes:
        """Return what contacts do to the mock-up that is carried, each in its mode or, without, as the places say."""
        places, whole = self.placed(pose, rate), Wrench.zero()
        for group, mode, own, other, past in self._met(groups, places, modes, memories):
            wrench = group.state(mode, own, other, past=past).wrench
            lever = group.reference(own) - places[0].pose.position
            about = Wrench(wrench.force, wrench.moment + lever.cross(wrench.force))
            whole = whole.plus(about if own is places[0] else Wrench(-about.force, -about.moment))
        return self.in_axes(whole)

    def _met(
        self, groups: Sequence[ContactGroup], places: tuple[Placed, Placed], modes: Modes | None, memories: Memories
    ) -> list[Met]:
        """Return contacts of mock-ups at these `places`, each in its mode or, without, as the places say."""
        every = (jnp.asarray(GATED),) * len(groups) if modes is None else modes
        known = zip(groups, every, match_memories(groups, memories), strict=True)
        return [(group, mode, *self._sides_of(group, places), past) for group, mode, past in known]

    def _sides_of(self, group: ContactGroup, places: tuple[Placed, Placed]) -> tuple[Placed, Placed]:
        """Return the first body of a group and its second, from the mock-up that is carried and the one that stands."""
        return places if group.first == self.numbers[0] else places[::-1]

    def touching(self, pose: Axes, rate: Axes, modes: Modes | None = None, memories: Memories = ()) -> Touching:
        return _states_of(self._met(self.hardware, self.placed(pose, rate), modes, memories))

    def virtual_touching(self, pose: Axes, rate: Axes) -> Touching:
        return _states_of(self._met(self.virtual, self.placed(pose, rate), None, ()))

    def memory_rates(self, pose: Axes, rate: Axes, modes: Modes, memories: Memories) -> Memories:
        met = self._met(self.hardware, self.placed(pose, rate), modes, memories)
        return tuple(
            group.memory_rate(mode, own, other, past) for group, mode, own, other, past in met if past is not None
        )

    def renewed(self, pose: Axes, rate: Axes, modes: Modes, memories: Memories) -> Memories:
        met = self._met(self.hardware, self.placed(pose, rate), modes, memories)
        return tuple(group.renewed(mode, own, other, past) for group, mode, own, other, past in met if past is not None)

    def memories_within(self, start: Memories, now: Memories) -> Memories:
        remembering = [group for group in self.hardware if group.remembers]
        return tuple(group.memory_within(*both) for group, *both in zip(remembering, start, now, strict=True))

    def stored_energy(self, pose: Axes, rate: Axes, memories: Memories = ()) -> Scalar:
        met = self._met(self.hardware, self.placed(pose, rate), None, memories)
        each = [group.state(mode, own, other, exact=True, past=past).stored for group, mode, own, other, past in met]
        return sum(each, jnp.zeros(()))

    def first_energy(self) -> Scalar:
        return internal_energy(self.model.bodies, self.model.twists)

    def unit_load(self, contact: int, motion: State) -> Axes:
        """Return the load (N, N m) on what is carried of a unit normal force in a contact of the hardware by number."""
        places, group = self.placed(self.pose(motion), jnp.zeros(self.axes)), self.hardware[contact]
        own, other = self._sides_of(group, places)
        touch = group.member().touch(own, other)
        force = touch.normal if own is places[0] else -touch.normal
        return self.in_axes(Wrench(force, (touch.point - places[0].pose.position).cross(force)))

    def under(self, motion: State, load: Axes) -> Mechanism:
        """Return the mechanism under a load of its mock-ups (N, N m; axes of the one that stands), kept in inertial axes."""
        wrench = self.inertial(motion, load)
        return replace(self.model, groups=(replace(self.measured, load=wrench), *self.model.groups[1:]))

    def signal(self, motion: State) -> Signal | None:
        return self.model.signal(jnp.zeros(()), motion) if self.model.settles else None

    def emitting(self, motion: State) -> Flag:
        return self.model.emitting(motion) if self.model.settles else jnp.asarray(False)

    def flow(self, motion: State, load: Axes, signal: Signal | None = None) -> Rate:
        acting = None if signal is None else (self.inertial(motion, load), *signal[1:])
        return self.motion_rate(self.under(motion, load), motion, acting)

    def stepped(self, time: Scalar, motion: State, load: Axes, period: Scalar, method: Dynamics) -> State:
        """Return the motion a period later; the load is held in inertial axes, on the bodies where they are.

        "zero-order-hold" is the motion under it, with the events of the virtual bodies located; of free ones exact on a line,
        else a Runge–Kutta step, exact to its order where a body turns.
        """
        held = self.under(motion, load)
        if method == "zero-order-hold" and not self.smooth:
            return solve_stretch(held, motion, time, period)
        start = self.motion_rate(held, motion)
        if method == "zero-order-hold" and self.axes > 1:
            return self.retract(rk4_step(lambda share, there: self.motion_rate(held, there), motion, period, start))
        if share := SHARES[method]:
            later = advance_state(motion, share * period, start)
            start = start._replace(q=self.model.moving.rate(motion.q, later.v))
        return self.retract(advance_state(motion, period, start))

    def retract(self, motion: State) -> State:
        return self.model.retract(motion)

    def settled(self, motion: State) -> State:
        return motion if self.alone else self.model.settled(motion)

    def within_step(self, start: State, motion: State) -> State:
        return motion if self.alone else self.model.within_step(start, motion)

    def turning(self, motion: State) -> tuple[Scalar, ...]:
        return () if self.alone else self.model.turning(motion)

    def corners(self, time: Scalar, motion: State) -> tuple[Scalar, ...]:
        return () if self.alone else self.model.outputs(time, motion).corners

    def guards(self, time: Scalar, motion: State) -> tuple[Scalar, ...]:
        return () if self.alone else self.model.outputs(time, motion).guards

    def jump(self, time: Scalar, motion: State, fired: tuple[Flag, ...]) -> State:
        return motion if self.alone else self.model.jump(time, motion, fired)

    def next_tick(self, motion: State) -> Scalar | None:
        return self.model.next_tick(motion)

    def tick(self, time: Scalar, motion: State) -> State:
        return self.model.tick(time, motion)

    def told(self, time: Scalar, motion: State, touching: Flag) -> State:
        if self.model.phases is None:
            return motion
        mode = jnp.where(touching, PRESSING, APART).astype(motion.mode[0].dtype)
        known = replace(motion, mode=(mode, *motion.mode[1:]))
        return self.jump(time, known, tuple(jnp.asarray(False) for _ in self.guards(time, known)))

    def kinetic_energy(self, motion: State) -> Scalar:
        return self.model.kinetic_energy(motion)

    def internal_energy(self, motion: State) -> Scalar:
        return internal_energy(self.model.bodies, self.model.twists_of(motion.q, motion.v))

    def scale(self, motion: State) -> Scalar:
        return self.model.motion_energy(self.whole(motion))

    def work(self, memory: PyTree) -> Scalar:
        return super().work(memory) if self.alone else self.model.work(memory)

    def observe(self, motion: State) -> dict[str, Array]:
        """Return what is kept of elements, without what depends on accelerations, and the present phase."""
        model, here = self.model, self.model.placement(motion)
        found = {}
        if model.elements:
            acting = model.elements_at(motion), model.element_modes(motion), motion.memory.elements, here
            found = observed_elements(*acting, tie_loads(*acting, model.late_forces(motion, here), None, {}))
        return found | ({} if model.phases is None else {"phase_number": motion.mode[-1] * 1.0})


def _states_of(met: list[Met]) -> Touching:
    """Return contacts, and how they touch."""
    return tuple((group, group.state(mode, own, other, past=past)) for group, mode, own, other, past in met)
