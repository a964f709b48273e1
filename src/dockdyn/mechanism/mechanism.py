"""Mechanism: any number of bodies, rigid or flexible, groups of contacts between any two, whose wrenches a loop delays.

Units: SI throughout; quaternions dimensionless.
Source: Newton and Euler; the delayed force on present points as in Sazawal et al., eqs. 43 and 51, carried over to wrenches.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from dockdyn.contact.gate import APART, GATED
from dockdyn.contact.group import ContactGroup, GroupState, Wrench
from dockdyn.control.controller import Controller
from dockdyn.elements.force_element import ElementMemory
from dockdyn.integrate.model import ContactModel, Outputs, Rate, Scalar, State, rows
from dockdyn.mechanics.lines import Lines
from dockdyn.mechanics.rigid_body import Pose, RigidBody, Twist, internal_energy, pair_momentum
from dockdyn.mechanics.trees.jointed_bodies import JointedBodies
from dockdyn.mechanics.trees.moving_bodies import Coordinates, MovingBodies, Placement, Velocities
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.coasting import time_apart
from dockdyn.mechanism.gravity import Gravity, InOrbit
from dockdyn.mechanism.grips import Grip, add_held, fall_in, grips_of, lines_of
from dockdyn.mechanism.impact_contact import ImpactContact
from dockdyn.mechanism.impacts import (
    add_rests,
    first_hits,
    from_level,
    impacts_of,
    meet,
    observed_impacts,
    pressed,
    rest_forces,
    rest_lines,
    rest_power,
    rest_wrenches,
)
from dockdyn.mechanism.loads import (
    BendingLink,
    Connection,
    Held,
    MountedThruster,
    add_reflected,
    all_held,
    bushing_turns,
    contact_loads,
    element_loads,
    given_by,
    jumped,
    observed_elements,
    reflected,
    settled,
    stored_energy,
)
from dockdyn.mechanism.measured_contact import MeasuredContact
from dockdyn.mechanism.named_points import NamedPoint, load_at, port_load
from dockdyn.mechanism.observed import observed_contacts, observed_joints, observed_modes, observed_motion
from dockdyn.mechanism.outside import Given, Pushes, applied_pushes, giving, pushed_energy, with_pushes
from dockdyn.mechanism.phases import Phases
from dockdyn.mechanism.state import Acting, Memory, Outside
from dockdyn.mechanism.steered_body import Seen, SteeredBody
from dockdyn.programs import trace_once


class Mechanism(ContactModel):
    """Bodies, free to move or joined to trees, with contacts between them; behind them frames of flexible links.

    The wrench of a group of contacts is decided at t − delay, in inertial axes, and acts now, on both bodies at the group's
    present reference point, so linear and angular momentum are kept whatever the delay. Elements act at once, with numbers
    that may change from phase to phase, and so does control, on one body. State: `q` and `v` are poses and twists of what
    moves by itself, positions counted from `origin`, and coordinates and rates of joints; `mode` one integer a group, then
    the modes of the elements, then the phase where there are several.
    """

    bodies: tuple[RigidBody, ...]
    groups: tuple[ContactGroup | MeasuredContact | ImpactContact, ...]
    poses: tuple[Pose, ...]  # at t = 0
    twists: tuple[Twist, ...]  # at t = 0
    delay: Float[Array, ""] | None
    elements: tuple[Connection, ...] = ()
    phases: Phases | None = None
    points: tuple[NamedPoint, ...] = ()
    trees: tuple[JointedBodies, ...] = ()
    joints: tuple[tuple[Scalar, Scalar], ...] = ()  # coordinates (rad or m) and their rates at t = 0, of all that move
    body_names: tuple[str, ...] = eqx.field(static=True, default=())
    joint_names: tuple[str, ...] = eqx.field(static=True, default=())  # then those of modes
    frames: tuple[int, ...] = eqx.field(static=True, default=())  # the link of each frame, by number
    held: tuple[Held, ...] | None = None  # of elements, taken off what they do: for small motions around rest
    base: int = eqx.field(static=True, default=0)  # the body from whose centre of mass places are counted
    ending: tuple[int, ...] = eqx.field(static=True, default=())  # groups with whose first onset a run ends
    capturing: tuple[int, ...] = eqx.field(
        static=True, default=()
    )  # latches, by element, all of which hold as a run ends
    steered: SteeredBody | None = None
    gravity: Gravity | None = None
    # by others: N, inertial, and N m, body axes
    applied: tuple[Float[Array, "bodies 3"], Float[Array, "bodies 3"]] | None = None

    @property
    def moving(self) -> MovingBodies:
        """The bodies as they may move."""
        return MovingBodies(self.bodies, self.trees, self.frames)

    @property
    def impacts(self) -> list[tuple[int, ImpactContact]]:
        """The contacts with an impact law, with their numbers among the groups."""
        return impacts_of(self.groups)

    @property
    def computed(self) -> tuple[ContactGroup, ...]:
        """The groups of contacts, none of which is measured elsewhere or has an impact law."""
        found = tuple(group for group in self.groups if isinstance(group, ContactGroup))
        assert len(found) == len(self.groups)
        return found

    def origin(self) -> Vector:
        """Where positions of a state count from (m, inertial): the base's centre of mass at t = 0."""
        return self.poses[self.base].position

    def initial(self) -> State:
        x = self.uncommanded()
        return x if self.next_tick(x) is None else self.tick(jnp.zeros(()), x)

    def uncommanded(self) -> State:
        """The state at t = 0 before the first sample of control."""
        q, v = self.moving.begun([pose.shifted(-self.origin()) for pose in self.poses], self.twists, self.joints)
        here = self.placement(State(q, v, None, None))
        touching = tuple(group.first_mode(here.bodies[group.first], here.bodies[group.second]) for group in self.groups)
        first = tuple(one.element.init(*one.sides(here)) for one in self.elements)
        modes, memories = settled(self.elements, first, here)
        outside = self._outside(self.seen(State(q, v, None, None), here))
        v, memories = self._fall_in(State(q, v, None, None), self.elements, first, memories)
        hits = first_hits(self.groups, here.bodies)
        if self.phases is None:
            return State(q, v, (*touching, *modes), Memory(jnp.zeros(()), memories, None, outside, hits))
        phase, clock = self.phases.begin(here.bodies)
        start = State(q, v, (*touching, *modes, phase), Memory(jnp.zeros(()), memories, clock, outside, hits))
        never = jnp.asarray(False)
        begun = self._enter_due(jnp.zeros(()), start, (never, never))
        return replace(begun, memory=begun.memory._replace(work=jnp.zeros(())))

    def _outside(self, seen: Seen) -> Outside:
        """What is remembered at t = 0 of what acts from outside."""
        return Outside(
            Given.nothing() if any(isinstance(one, MountedThruster) for one in self.elements) else None,
            None if self.steered is None else self.steered.begin(seen),
            None if self.gravity is None else InOrbit.begun(),
        )

    def names(self) -> list[str]:
        def named(word: str) -> str:
            part, *rest = word.split(".")
            if rest[0] == "roots":
                return " ".join([self.body_names[self.moving.roots()[int(rest[1])]], *rest[2:]])
            if rest[0] == "joints":
                return " ".join([self.joint_names[int(rest[1])], "coordinate" if part == "0" else "rate"])
            if rest[0] == "elements":
                return " ".join([self.elements[int(rest[1])].name, *rest[2:]])
            return " ".join(rest)

        return [named(word) for word in super().names()]

    def connections(self, x: State) -> tuple[Connection, ...]:
        """The elements with the numbers that they have in the present phase."""
        return self.elements if self.phases is None else self.connections_in(x.mode[-1])

    def connections_in(self, phase: Int[Array, ""]) -> tuple[Connection, ...]:
        """The elements with the numbers that they have in a phase."""
        assert self.phases is not None
        return tuple(
            replace(one, element=element)
            for one, element in zip(self.elements, self.phases.current(phase), strict=True)
        )

    @property
    def grips(self) -> list[Grip]:
        """The rigid latches among the elements."""
        return grips_of(self.elements)

    def element_modes(self, x: State) -> tuple[PyTree, ...]:
        """The modes of the elements."""
        return x.mode[len(self.groups) : len(self.groups) + len(self.elements)]

    @trace_once
    def placement(self, x: State) -> Placement:
        """Bodies and joints for what acts between them: places relative to where the base is now."""
        return self.moving.placed(x.q.shifted(-self.base_position(x)), x.v)

    def base_position(self, x: State) -> Vector:
        """Where the base is (m, from the origin); in a tree, the tree's common centre of mass."""
        return x.q.roots[self.moving.roots().index(self.base)].position

    def seen(self, x: State, here: Placement) -> Seen:
        """What control sees of the bodies."""
        return Seen(here.bodies, self.base_position(x))

    @partial(trace_once, static=("exact",))
    def states(self, x: State, exact: bool = False) -> tuple[GroupState, ...]:
        """What each group of contacts does now by its force law; unless `exact`, depths of what is far apart are bounds."""
        places = self.placement(x).bodies
        found = tuple(
            group.state(mode, places[group.first], places[group.second], exact)
            for group, mode in zip(self.groups, x.mode, strict=False)
        )
        return from_level(self.groups, found, x.memory.impacts)

    @trace_once
    def flow(self, t: Scalar, x: State, delayed: tuple[Wrench, ...]) -> Rate:
        now = self.acting(x, self.placement(x), delayed)
        roots = zip(x.q.roots, x.v.roots, strict=True)
        q = Coordinates(
            tuple(Pose(twist.velocity, pose.attitude.rate(twist.rate)) for pose, twist in roots), x.v.joints
        )
        clock, hits = jax.tree.map(jnp.zeros_like, (x.memory.clock, x.memory.impacts))
        return Rate(q, now.rates, Memory(now.power, now.memories, clock, now.outside, hits))

    def acting(self, x: State, here: Placement, wrenches: tuple[Wrench, ...]) -> Acting:
        """What acts on the bodies under these wrenches of the contacts, and how they move."""
        places, connections = here.bodies, self.connections(x)
        loads, power = contact_loads(self.groups, places, wrenches)
        modes, remembered = self.element_modes(x), x.memory.elements
        own, efforts, thrusters, memories = element_loads(connections, modes, remembered, here, self.held)
        loads = [load.plus(more) for load, more in zip(loads, own, strict=True)]
        pushes, outside = self.pushes(x, here, thrusters)
        pushed = with_pushes(loads, pushes)
        torques = [place.rotation.transposed_times(load.moment) for load, place in zip(pushed, places, strict=True)]
        inertia, grips = reflected(connections, here), lines_of(self.grips, remembered, places)
        rests = rest_lines(self, x, places) if self.impacts else None
        lines = [part for part in (grips, rests) if part is not None]
        found = self.moving.respond(
            here, [load.force for load in pushed], torques, efforts, inertia, Lines.joined(lines) if lines else None
        )
        add_reflected(loads, inertia, found.along, places)
        along, resting = found.along, jnp.zeros(0)
        held: tuple[Scalar, ...] = ()
        if rests is not None:
            along, resting = along[: -len(self.impacts)], along[-len(self.impacts) :]
            add_rests(loads, self.impacts, resting, here)
            power += rest_power(rests, resting, places)
        if grips is not None:
            held = add_held(loads, self.grips, grips, along[-grips.drift.size :], places)
        return Acting(loads, pushes, found.rates, found.bodies, power, memories, outside, held, resting)

    def pushes(self, x: State, here: Placement, thrusters: Pushes) -> tuple[Pushes, Outside]:
        """All that pushes bodies from outside: these `thrusters`, control and gravity; and the rate of what is remembered."""
        seen, before, found = self.seen(x, here), x.memory.outside, list(thrusters)
        rates = Outside(None if before.thrusters is None else giving(thrusters, self.bodies, here.bodies))
        if self.steered is not None:
            push, steering = self.steered.act(before.steering, seen, self.bodies)
            found, rates = [*found, push], rates._replace(steering=steering)
        if self.gravity is not None:
            tide, orbit = self.gravity.act(before.orbit, seen, self.bodies)
            found, rates = [*found, *tide], rates._replace(orbit=orbit)
        if self.applied is not None:
            found = [*found, *applied_pushes(*self.applied, here.bodies)]
        return found, rates

    def next_tick(self, x: State) -> Scalar | None:
        return None if self.steered is None else self.steered.next_tick(x.memory.outside.steering)

    def tick(self, t: Scalar, x: State) -> State:
        if self.steered is None:
            return x
        outside = x.memory.outside
        steering = self.steered.tick(t, outside.steering, self.seen(x, self.placement(x)))
        return State(x.q, x.v, x.mode, x.memory._replace(outside=outside._replace(steering=steering)))

    def following(self, law: Controller) -> Mechanism:
        """The same bodies, whose sampled control asks this law at its samples, of the memory that its own has."""
        assert self.steered is not None
        return replace(self, steered=self.steered.following(law))

    def all_loads(self, here: Placement, now: Acting) -> list[Wrench]:
        """What others put on each body, about its centre of mass (inertial), with the reactions of joints: what its motion
        needs less what pushes from outside."""
        loads, joined = list(now.loads), {member for tree in self.trees for member in tree.members}
        for number in joined:
            place = here.bodies[number]
            force, torque = self.bodies[number].needed(place.twist, now.bodies[number])
            loads[number] = Wrench(force, place.rotation @ torque)
        outside = [(number, Wrench(-force, -moment)) for number, (force, moment) in now.pushes if number in joined]
        return with_pushes(loads, outside)

    def outputs(self, t: Scalar, x: State) -> Outputs:
        here, states = self.placement(x), self.states(x)
        if self.impacts:
            states = pressed(self, x, states, rest_forces(self, t, x))
        guards = [one for group, m, s in zip(self.groups, x.mode, states, strict=False) for one in group.guards(m, s)]
        for one, mode, memory in zip(self.connections(x), self.element_modes(x), x.memory.elements, strict=True):
            guards += one.element.guards(mode, memory, *one.sides(here))
        if self.phases is not None:
            guards += self.phases.guards(t, x.mode[-1], x.memory.clock, here.bodies)
        signal = tuple(state.wrench for state in states)
        turns = bushing_turns(self.connections(x), here)
        return Outputs(signal, tuple(guards), (*(s.normal_force for s in states), *self.port_loads(x, signal), *turns))

    def signal(self, t: Scalar, x: State) -> tuple[Wrench, ...]:
        places, both = self.placement(x).bodies, zip(self.groups, x.mode, strict=False)
        return tuple(group.wrench(mode, places[group.first], places[group.second]) for group, mode in both)

    @property
    def timed(self) -> int:
        return len(self.groups)  # of the loads at ports the peaks alone are told

    def grip_forces(self, now: Acting) -> dict[int, Scalar]:
        """The forces (N) of the rigid latches, by the numbers of their elements."""
        return {grip.element: force for grip, force in zip(self.grips, now.grips, strict=True)}

    def port_loads(self, x: State, wrenches: tuple[Wrench, ...]) -> tuple[Scalar, ...]:
        """What is watched of the loads at ports, port by port, as the fields of `PortLoad`."""
        ports = [(point, point.axis) for point in self.points if point.axis is not None]
        if not ports:
            return ()
        here = self.placement(x)
        loads, places = self.all_loads(here, self.acting(x, here, wrenches)), here.bodies
        found = [port_load(load_at(port, self.moving, loads, places), axis) for port, axis in ports]
        return tuple(number for load in found for number in load)

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        after = self._jump(t, x, fired)
        return meet(self, t, x, after) if self.impacts else after

    def _jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        """The state after events, but for the impacts that follow."""
        here, connections, left = self.placement(x), self.connections(x), iter(fired)
        touching = tuple(
            g.next_mode(m, tuple(islice(left, g.events))) for g, m in zip(self.groups, x.mode, strict=False)
        )
        modes, memories, fired = jumped(connections, self.element_modes(x), x.memory.elements, tuple(left), here)
        v, memories = self._fall_in(x, connections, x.memory.elements, memories)
        now = State(x.q, v, (*touching, *modes), x.memory._replace(elements=memories))
        if self.phases is None:
            return now
        turns, over = fired
        return self._enter_due(t, replace(now, mode=(*now.mode, x.mode[-1])), (turns, over))

    def _fall_in(
        self,
        x: State,
        connections: tuple[Connection, ...],
        before: tuple[ElementMemory, ...],
        after: tuple[ElementMemory, ...],
    ) -> tuple[Velocities, tuple[ElementMemory, ...]]:
        """The velocities and memories once rigid latches that hold `after`, and did not `before`, have ended their slip."""
        if not self.grips:
            return x.v, after
        return fall_in(
            self.moving, lambda v: self.placement(State(x.q, v, x.mode, x.memory)), x.v, connections, before, after
        )

    def _enter_due(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], Bool[Array, ""]]) -> State:
        """The state in the phase that is due after the phases' guards in `fired`, at `t` (s).

        One begins after another: what latches hold once one has begun is what the next one finds.
        """
        phases = self.phases
        assert phases is not None

        def due(x: State, fired: tuple[Bool[Array, ""], Bool[Array, ""]]) -> tuple[Int[Array, ""], State]:
            touches, held = _any_touches(x.mode[: len(self.groups)]), all_held(x.memory.elements)
            places = self.placement(x).bodies
            phase, clock = phases.advance(t, x.mode[-1], x.memory.clock, fired, places, touches, held)
            return phase, replace(x, memory=x.memory._replace(clock=clock))

        def enter(now: tuple[Int[Array, ""], State]) -> tuple[Int[Array, ""], State]:
            never = jnp.asarray(False)
            return due(self._enter(*now), (never, never))

        return jax.lax.while_loop(lambda now: now[0] != now[1].mode[-1], enter, due(x, fired))[1]

    def _enter(self, phase: Int[Array, ""], x: State) -> State:
        """The state where a phase begins: what elements hold more or less than before, with its numbers, is work."""
        here, connections = self.placement(x), self.connections_in(phase)
        modes, memories = settled(connections, x.memory.elements, here)
        after = State(x.q, x.v, (*x.mode[: len(self.groups)], *modes, phase), x.memory._replace(elements=memories))
        gained = self.internal_energy(after) - self.internal_energy(x)
        gained += self.work(x.memory) - self.work(after.memory)
        v, memories = self._fall_in(x, connections, x.memory.elements, memories)
        memory = after.memory._replace(work=x.memory.work + gained, elements=memories)
        return State(after.q, v, after.mode, memory)

    def emitting(self, x: State) -> Bool[Array, ""]:
        return _any_touches(x.mode[: len(self.groups)])

    def ended(self, x: State) -> Bool[Array, ""] | None:
        ways = [_any_touches(tuple(x.mode[number] for number in self.ending))] if self.ending else []
        if self.capturing:
            ways.append(all_held([x.memory.elements[number] for number in self.capturing]))
        return jnp.any(jnp.stack(ways)) if ways else None

    def coasting(self, x: State, now: Outputs) -> Scalar | None:
        known = all(group.is_exact_distance() for group in self.groups)
        return time_apart(self, x, now) if self.steered is None and self.applied is None and known else None

    def ungated(self, x: State) -> State:
        touching = tuple(jnp.asarray(GATED) for _ in self.groups)
        return State(x.q, x.v, (*touching, *x.mode[len(self.groups) :]), x.memory)

    def retract(self, x: State) -> State:
        poses = tuple(Pose(pose.position, pose.attitude.normalised()) for pose in x.q.roots)
        return State(x.q._replace(roots=poses), x.v, x.mode, x.memory)

    def kinetic_energy(self, x: State) -> Scalar:
        """Kinetic energy of all bodies (J)."""
        return self._kinetic(x.q, x.v)

    def twists_of(self, q: Coordinates, v: Velocities) -> tuple[Twist, ...]:
        """Twists of all bodies."""
        return tuple(place.twist for place in self.moving.placed(q, v).bodies)

    def kinetic_energies(self, q: Coordinates, v: Velocities) -> Float[Array, "bodies"]:
        """Kinetic energies (J) of the bodies, of flexible links with what they have in their mean axes."""
        found = [body.kinetic_energy(twist) for body, twist in zip(self.bodies, self.twists_of(q, v), strict=True)]
        links = {one.modes: self.body_names.index(one.name) for one in self.elements if isinstance(one, BendingLink)}
        for vibration in (one for tree in self.trees for one in tree.vibrations):
            found[links[vibration.numbers]] += vibration.kinetic_energy(v.joints)
        return jnp.stack(found[: len(self.body_names)])

    def _kinetic(self, q: Coordinates, v: Velocities) -> Scalar:
        parts = zip(self.bodies, self.twists_of(q, v), strict=True)
        vibrating = self.moving.vibration_energy(v)
        return sum((body.kinetic_energy(twist) for body, twist in parts), jnp.zeros(())) + vibrating

    def internal_energy(self, x: State) -> Scalar:
        """Energy (J) that elements store, and that of the inertia that they reflect."""
        here, connections = self.placement(x), self.connections(x)
        stored = stored_energy(connections, self.element_modes(x), x.memory.elements, here)
        turning = self.moving.reflected_energy(here)
        return stored + sum((one.kinetic_energy() for _, _, one in reflected(connections, here)), turning)

    def work(self, memory: Memory) -> Scalar:
        """Work (J) of contacts, motors and phases, less what elements have dissipated, in a memory or its rate: all but that of
        what acts from outside."""
        return memory.work + sum((given_by(one) for one in memory.elements), jnp.zeros(()))

    def relative_size(self, x: State, change: Rate) -> Scalar:
        """Root of the change's own kinetic energy over that of the motion, or the change of work over it if that is larger.

        No unit and no frame enters.
        """
        motion = jnp.maximum(self.motion_energy(x), 1e-300)
        energy = self._kinetic(x.q, change.v)
        return jnp.maximum(jnp.sqrt(energy / motion), jnp.abs(self.work(change.memory)) / motion)

    def motion_energy(self, x: State) -> Scalar:
        """Energy (J) of the motion about the common centre of mass, now and at t = 0, and what was given to it from outside."""
        moving = internal_energy(self.bodies, self.twists_of(x.q, x.v)) + internal_energy(self.bodies, self.twists)
        return moving + pushed_energy(x.memory.outside.impulses(), self.bodies)

    def observe(self, x: State, delayed: tuple[Wrench, ...]) -> dict[str, Array]:
        """Named quantities at an instant, `delayed` being the wrenches that act (on the groups' first bodies, inertial).

        Shapes: components last; `position` (bodies, 3), `depth` (groups,), `load_force` (points, 3) in the body's own axes.
        """
        here, states = self.placement(x), self.states(x, exact=True)
        places, connections = here.bodies, self.connections(x)
        now = self.acting(x, here, delayed)
        if self.impacts:
            states, delayed = pressed(self, x, states, now.rests), rest_wrenches(self, here, delayed, now.rests)
        loads, outside = self.all_loads(here, now), x.memory.outside
        placed = self.moving.placed(x.q, x.v).bodies
        poses, twists = tuple(place.pose for place in placed), tuple(place.twist for place in placed)
        linear, angular, linear_scale, angular_scale = pair_momentum(self.bodies, poses, twists)
        control: dict[str, Array] = {}
        if self.steered is not None:
            wheel = self.steered.wheel(outside.steering, places)
            angular, angular_scale = angular + wheel, angular_scale + wheel.norm()
            control = self.steered.observe(outside.steering, self.seen(x, here))
        named_bodies = len(self.bodies) - len(self.frames)
        seconds = [places[group.second] for group in self.groups]
        named = [load_at(point, self.moving, loads, places) for point in self.points]
        return {
            **observed_motion(poses[:named_bodies], twists[:named_bodies], self.poses[:named_bodies], self.origin()),
            **observed_contacts(states, seconds, delayed),
            "load_force": rows([load.force.array() for load in named], 3),
            "load_moment": rows([load.moment.array() for load in named], 3),
            **observed_joints(self.moving, here, loads, now.loads),
            **observed_modes(self.elements, here, twists),
            "kinetic_energy": self.kinetic_energy(x),
            "internal_energy": self.internal_energy(x),
            "work": self.work(x.memory) + (0.0 if outside.thrusters is None else outside.thrusters.work),
            **control,
            **outside.observe(),
            **observed_elements(connections, self.element_modes(x), x.memory.elements, here, self.grip_forces(now)),
            **({} if self.phases is None else {"phase_number": x.mode[-1] * 1.0}),
            **observed_impacts(self.groups, x.memory.impacts),
            "linear_momentum": linear.array(),
            "angular_momentum": angular.array(),
            "linear_momentum_scale": linear_scale,
            "angular_momentum_scale": angular_scale,
        }


def _any_touches(modes: tuple[Int[Array, ""], ...]) -> Bool[Array, ""]:
    """Whether any group of contacts touches."""
    return jnp.any(jnp.stack([mode != APART for mode in modes])) if modes else jnp.asarray(False)
