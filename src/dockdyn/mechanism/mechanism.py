"""Mechanism: any number of bodies, rigid or flexible, groups of contacts between any two, whose wrenches a loop delays.

Units: SI throughout; quaternions dimensionless.
Source: Newton and Euler; the delayed force on present points as in Sazawal et al., eqs. 43 and 51, carried over to wrenches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice

from dockdyn import backend
from dockdyn.contact.clearances import Clearances
from dockdyn.contact.contact_memory import ContactMemory, first_memories, match_memories
from dockdyn.contact.contact_modes import APART, CARRIED, GATED
from dockdyn.contact.group import ContactGroup, GroupSignal, GroupState, Growth, Wrench
from dockdyn.contact.latch import HELD
from dockdyn.contact.laws.flowing_slip import FlowingSlip
from dockdyn.control.controller import Controller
from dockdyn.deferred import Array, Bool, Float, Int, PyTree, jax, jnp
from dockdyn.elements.actor import ElementMemory
from dockdyn.elements.latch import vector_length
from dockdyn.integrate.model import ContactModel, Flag, Outputs, Rate, Scalar, State, stack_rows
from dockdyn.mechanics.lines import Lines, mobility_between
from dockdyn.mechanics.rigid_body import Pose, RigidBody, Twist, internal_energy, pair_momentum
from dockdyn.mechanics.trees.bodies_in_plane import BodiesInPlane
from dockdyn.mechanics.trees.bodies_on_line import BodiesOnLine, Moving
from dockdyn.mechanics.trees.composite_bodies import Configuration, Row
from dockdyn.mechanics.trees.jointed_bodies import JointedBodies
from dockdyn.mechanics.trees.moving_bodies import Coordinates, MovingBodies, Placement, Velocities
from dockdyn.mechanics.trees.tree_bodies import TreeBodies, shift_configuration
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.coasting import time_ahead
from dockdyn.mechanism.connections import point_rows
from dockdyn.mechanism.gravity import Gravity, InOrbit
from dockdyn.mechanism.grips import Grip, add_held, capturing_grips, fall_in, grips_of, kept_lines, lines_of
from dockdyn.mechanism.impact_contact import ImpactContact
from dockdyn.mechanism.impacts import (
    add_rests,
    apply_impacts,
    first_hits,
    from_level,
    impacts_of,
    observed_impacts,
    rest_forces,
    rest_lines,
    rest_powers,
    rest_wrenches,
    with_resting_forces,
)
from dockdyn.mechanism.loads import (
    Group,
    TieLoad,
    add_late,
    add_reflected,
    all_held,
    all_latches_hold,
    apply_element_events,
    bushing_turns,
    contact_loads,
    element_loads,
    given_by,
    observed_elements,
    observed_loads,
    reflected_inertia,
    settle_elements,
    stored_energy,
    tie_loads,
)
from dockdyn.mechanism.measured_contact import MeasuredContact
from dockdyn.mechanism.momentum_projection import Conserved, project_momentum
from dockdyn.mechanism.mounts import (
    Held,
    Mount,
    MountedLatch,
    MountedThruster,
    Tie,
    caught_from,
    latches_of,
    ramps_of,
    ties_among,
)
from dockdyn.mechanism.named_points import NamedPoint, load_at, port_load
from dockdyn.mechanism.observed import (
    observed_contacts,
    observed_energies,
    observed_friction,
    observed_joints,
    observed_modes,
    observed_motion,
)
from dockdyn.mechanism.outside import Given, Pushes, applied_pushes, pushed_energy, rate_given, with_pushes
from dockdyn.mechanism.phases import Clock, Phases
from dockdyn.mechanism.state import Acting, Loaded, Memory, Outside
from dockdyn.mechanism.steered_arm import SteeredArm, held_together
from dockdyn.mechanism.steered_body import ControlAction, Efforts, Seen, SteeredBody
from dockdyn.mechanism.vibrations import later_state, time_if_alone, without_vibrations
from dockdyn.programs import trace_once
from dockdyn.trees import field, map_leaves

STILL = 1e-8  # of the energy that contacts have taken: motion with less of it is hardly one

# what the loop delays, on first bodies: of each group its wrench, of a single member its force; then forces of elements
Signal = tuple[GroupSignal, ...]


class Mechanism(ContactModel):
    """Bodies, free to move or joined to trees, with contacts between them; behind them frames of flexible links.

    The wrench of a group of contacts is decided at t − delay, in inertial axes, and acts now, on both bodies at the group's
    present reference point; of a group of one member the force alone is late and acts at the present contact point. So linear
    and angular momentum are kept whatever the delay. Elements act at once but for the ramp of a latch in a cone, with numbers
    that may change from phase to phase; and so does control, on one body. State: `q` and `v` are poses and twists of what
    moves by itself, positions counted from `origin`, and coordinates and rates of joints; `mode` one integer a group, then
    the modes of the elements, then the phase where there are several.
    """

    bodies: tuple[RigidBody, ...]
    groups: tuple[Group, ...]
    poses: tuple[Pose, ...]  # at t = 0
    twists: tuple[Twist, ...]  # at t = 0
    delay: Float[Array, ""] | None
    elements: tuple[Mount, ...] = ()
    phases: Phases | None = None
    points: tuple[NamedPoint, ...] = ()
    trees: tuple[JointedBodies | TreeBodies, ...] = ()
    joints: tuple[tuple[Scalar, Scalar], ...] = ()  # coordinates (rad or m) and their rates at t = 0, of all that move
    body_names: tuple[str, ...] = field(static=True, default=())
    joint_names: tuple[str, ...] = field(static=True, default=())  # then those of modes
    frames: tuple[int, ...] = field(static=True, default=())  # the link of each frame, by number
    held: tuple[Held, ...] | None = None  # of elements, taken off what they do: for small motions around rest
    control_at_rest: ControlAction | None = None  # the same of control
    base: int = field(static=True, default=0)  # the body from whose centre of mass places are counted
    ending: tuple[int, ...] = field(static=True, default=())  # groups with whose first onset a run ends
    capturing: tuple[int, ...] = field(static=True, default=())  # latches, by element, that all hold as a run ends
    on_line: bool = field(static=True, default=False)  # all move along the x axis alone
    in_plane: bool = field(static=True, default=False)  # rigid bodies, which stay in the x–y plane
    steered: SteeredBody | SteeredArm | None = None
    gravity: Gravity | None = None
    # by others: N, inertial, and N m, body axes
    applied: tuple[Float[Array, "bodies 3"], Float[Array, "bodies 3"]] | None = None
    linked: tuple[tuple[Configuration, Row], ...] = ()  # states at t = 0 of trees with large beams
    conserved: Conserved | None = None  # momentum at t = 0 that velocities are brought back to

    @property
    def moving(self) -> Moving:
        """The bodies as they may move."""
        jointed = tuple(tree for tree in self.trees if isinstance(tree, JointedBodies))
        if self.on_line:
            return BodiesOnLine(self.bodies, jointed)
        if self.in_plane:
            level = self.origin().z
            return BodiesInPlane(self.bodies, jointed, tuple(pose.position.z - level for pose in self.poses))
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
        """Return where positions of a state count from (m, inertial): the base's centre of mass at t = 0."""
        return self.poses[self.base].position

    def initial(self) -> State:
        x = self.uncommanded()
        return x if self.next_tick(x) is None else self.tick(jnp.zeros(()), x)

    @trace_once
    def uncommanded(self) -> State:
        """Return the state at t = 0 before the first sample of control."""
        q, v, here = self._begun()
        touching = tuple(group.first_mode(here.bodies[group.first], here.bodies[group.second]) for group in self.groups)
        elements = self._first_elements(here)
        first = tuple(one.element.init(*one.sides(here)) for one in elements)
        modes, memories = settle_elements(elements, first, here)
        outside = self._outside(self.seen(State(q, v, None, None), here))
        v, memories = self._fall_in(State(q, v, None, None), elements, first, memories)
        touching = self._part_carried_groups(touching, self.carried(memories))
        hits = first_hits(self.groups, here.bodies)
        taken = stack_rows([g.stored_energy(here.bodies[g.first], here.bodies[g.second]) for g in self.groups])
        remembered = first_memories(self.groups)
        if self.phases is None:
            memory = Memory(jnp.zeros(()), memories, None, outside, taken, hits, remembered)
            return State(q, v, (*touching, *modes), memory)
        phase, clock = self.phases.begin(here.bodies)
        memory = Memory(jnp.zeros(()), memories, clock, outside, taken, hits, remembered)
        start = State(q, v, (*touching, *modes, phase), memory)
        never = jnp.asarray(False)
        begun = self._enter_due(jnp.zeros(()), start, (never, never))
        return replace(begun, memory=begun.memory._replace(work=jnp.zeros(())))

    def _begun(self) -> tuple[Coordinates, Velocities, Placement]:
        """Return the motion at t = 0 before anything acts, and where that places the bodies."""
        linked = [(shift_configuration(q, -self.origin()), v) for q, v in self.linked]
        poses = [pose.shifted(-self.origin()) for pose in self.poses]
        q, v = self.moving.begun(poses, self.twists, self.joints, linked)
        return q, v, self.placement(State(q, v, None, None))

    def first_depths(self) -> Float[Array, "groups"]:
        """Return how deep (m) each group of contacts is at t = 0; positive is overlap."""
        places = self._begun()[2].bodies
        apart = jnp.asarray(APART, int)
        found = tuple(
            group.state(apart, places[group.first], places[group.second], past=group.first_memory())
            for group in self.groups
        )
        return jnp.stack([one.depth for one in from_level(self.groups, found, first_hits(self.groups, places))])

    def first_catches(self) -> dict[str, Scalar]:
        """Return how far (m) from its seat each latch, by its name, has caught what it holds at t = 0; zero of what is free."""
        here = self._begun()[2]
        return caught_from(self._first_elements(here), here)

    def _first_elements(self, here: Placement) -> tuple[Mount, ...]:
        """Return the elements with the numbers that they have at t = 0, as the first phase begins."""
        if self.phases is None or self.phases.ramps is None:
            return self.elements
        return self.elements_in(*self.phases.begin(here.bodies))

    def _outside(self, seen: Seen) -> Outside:
        """Return what is remembered at t = 0 of what acts from outside."""
        return Outside(
            Given.nothing() if any(isinstance(one, MountedThruster) for one in self.elements) else None,
            None if self.steered is None else self.steered.begin(seen),
            None if self.gravity is None else InOrbit.begun(),
        )

    def names(self) -> list[str]:
        coordinates = [*self.joint_names, *(self.body_names[number] for number in self.moving.roots())]

        def named(word: str) -> str:
            part, *rest = word.split(".")
            if rest[0] == "roots":
                return " ".join([self.body_names[self.moving.roots()[int(rest[1])]], *rest[2:]])
            if rest[0] == "joints":
                return " ".join([coordinates[int(rest[1])], "coordinate" if part == "0" else "rate"])
            if rest[:2] == ["outside", "steering"]:
                return " ".join([{"law": "controller", "effort": "control"}[rest[2]], *rest[3:]])
            if rest[0] == "elements":
                return " ".join([self.elements[int(rest[1])].name, *rest[2:]])
            if rest[0] == "taken":
                return "energy that contacts have taken"
            return " ".join(rest)

        return [named(word) for word in super().names()]

    def elements_at(self, x: State) -> tuple[Mount, ...]:
        """Return the elements with the numbers that they have in the present phase."""
        return self.elements if self.phases is None else self.elements_in(x.mode[-1], x.memory.clock)

    def elements_in(self, phase: Int[Array, ""], clock: Clock) -> tuple[Mount, ...]:
        """Return the elements with the numbers that they have in a phase, `clock` telling how long it has lasted."""
        assert self.phases is not None
        return tuple(
            replace(one, element=element)
            for one, element in zip(self.elements, self.phases.current(phase, clock), strict=True)
        )

    def _ramped_power(self, x: State, here: Placement) -> Scalar:
        """Return the power (W) by which numbers that change within a phase change what elements store."""
        phases = self.phases
        if phases is None or phases.ramps is None:
            return jnp.zeros(())

        def stored(elapsed: Scalar) -> Scalar:
            elements = self.elements_in(x.mode[-1], x.memory.clock._replace(elapsed=elapsed))
            return stored_energy(elements, self.element_modes(x), x.memory.elements, here)

        return jax.grad(stored)(x.memory.clock.elapsed)

    @property
    def grips(self) -> list[Grip]:
        """The rigid latches among the elements."""
        return grips_of(self.elements, self.moving)

    @property
    def late(self) -> list[Tie]:
        """The elements part of whose force is late."""
        return [one for one in ties_among(self.elements) if one.element.delays]

    @property
    def ramps(self) -> list[MountedLatch]:
        """The latches that a probe's tip pushes aside on a ramp."""
        return ramps_of(self.elements)

    @property
    def latched(self) -> bool:
        """Whether there is a latch among the elements, connections and groups of one structure aside."""
        return any(not one.latch.joins for one in latches_of(self.elements))

    def seated(self, one: MountedLatch) -> tuple[Bool[Array, ""], ...]:
        """Return which groups cannot move any more once a latch holds: of a pin those of the tip, else all between its
        bodies."""

        def still(group: Group) -> Bool[Array, ""]:
            if isinstance(group, MeasuredContact) or {one.first, one.second} != {group.first, group.second}:
                return jnp.asarray(False)
            if one.latch.hold != "pin":
                return jnp.asarray(True)
            of_tip = (isinstance(group, ImpactContact) or group.single) and group.first == one.first
            return jnp.all(group.place == one.latch.striker) if of_tip else jnp.asarray(False)

        return tuple(map(still, self.groups))

    def carried(self, memories: tuple[ElementMemory, ...]) -> tuple[Bool[Array, ""], ...] | None:
        """Return which groups a rigid grip carries now; None where there is none."""
        rigid = [one for one in latches_of(self.elements) if one.latch.rigid]
        if not rigid or not self.groups:
            return None
        holds = [all_held([memories[one.number]]) for one in rigid]
        kept = [[held & still for still in self.seated(one)] for held, one in zip(holds, rigid, strict=True)]
        return tuple(jnp.any(jnp.stack(each)) for each in zip(*kept, strict=True))

    def _part_carried_groups(
        self, touching: tuple[Int[Array, ""], ...], carried: tuple[Bool[Array, ""], ...] | None
    ) -> tuple[Int[Array, ""], ...]:
        """Return the modes of the groups, those apart that a rigid grip carries."""
        if carried is None:
            return touching
        both = zip(carried, touching, strict=True)
        return tuple(jnp.where(ends, APART, mode).astype(mode.dtype) for ends, mode in both)

    def _touching_groups(
        self, x: State, touching: tuple[Int[Array, ""], ...], memories: tuple[ElementMemory, ...]
    ) -> tuple[Int[Array, ""], ...]:
        """Return the modes of the groups once elements have these `memories`: what a rigid grip carries is apart, and what it
        lets go touches as it is then, with what it remembers."""
        if (carried := self.carried(memories)) is None:
            return touching
        before, places, found = self.carried(x.memory.elements), self.placement(x).bodies, list(touching)
        assert before is not None
        for number, (group, _, past) in enumerate(self._groups_with_memory(x)):
            if isinstance(group, ContactGroup):
                present = partial(group.present_mode, places[group.first], places[group.second], past)
                let_go, mode = before[number] & ~carried[number], touching[number]
                found[number] = jax.lax.cond(
                    let_go, lambda at=present, mode=mode: at().astype(mode.dtype), lambda mode=mode: mode
                )
        return self._part_carried_groups(tuple(found), carried)

    def element_modes(self, x: State) -> tuple[PyTree, ...]:
        """Return the modes of the elements."""
        return x.mode[len(self.groups) : len(self.groups) + len(self.elements)]

    @trace_once
    def placement(self, x: State) -> Placement:
        """Return bodies and joints for what acts between them: places relative to where the base is now."""
        return self.moving.placed(x.q.shifted(-self.base_position(x)), x.v)

    def base_position(self, x: State) -> Vector:
        """Return where the base is (m, from the origin); in a tree, the tree's common centre of mass."""
        return self.moving.base_position(x.q, self.base)

    def seen(self, x: State, here: Placement) -> Seen:
        """Return what control sees of the bodies."""
        steered, active = self.steered, None
        if steered is not None and steered.phases is not None and x.mode is not None:
            active = jnp.any(x.mode[-1] == jnp.array(steered.phases, int))
        held = None
        moving = self.moving
        if isinstance(steered, SteeredArm) and not isinstance(moving, BodiesOnLine) and x.mode is not None:
            acting = zip(self.elements_at(x), self.element_modes(x), x.memory.elements, strict=True)
            held = held_together(moving, here, steered.body, list(acting))
        phase = None
        if isinstance(steered, SteeredArm) and steered.set_points is not None and x.mode is not None:
            number = jnp.zeros((), int) if self.phases is None else x.mode[-1]
            phase = number, None if self.phases is None else self.phases.ramp(number, x.memory.clock)
        return Seen(here, self.moving.centre(here), self.base_position(x), active, held, phase)

    @partial(trace_once, static=("exact",))
    def states(self, x: State, exact: bool = False) -> tuple[GroupState, ...]:
        """Return what each group of contacts does now by its force law; unless `exact`, depths of what is far apart are
        bounds."""
        places = self.placement(x).bodies
        found = tuple(
            group.state(mode, places[group.first], places[group.second], exact, past=past)
            for group, mode, past in self._groups_with_memory(x)
        )
        return from_level(self.groups, found, x.memory.impacts)

    @trace_once
    def flow(self, t: Scalar, x: State, delayed: Signal) -> Rate:
        return self.rate_at(x, self.placement(x), delayed)

    def rate_at(self, x: State, here: Placement, delayed: Signal) -> Rate:
        """Return the time derivative where the bodies have been placed already."""
        now = self.acting(x, here, delayed)
        clock = None if x.memory.clock is None else x.memory.clock.rate()
        hits = map_leaves(jnp.zeros_like, x.memory.impacts)
        contacts = self._of_contacts(x, here, lambda group, *known: group.memory_rate(*known))
        memory = Memory(now.power, now.memories, clock, now.outside, stack_rows(now.taking), hits, contacts)
        return Rate(self.moving.rate(x.q, x.v), now.rates, memory)

    def _groups_with_memory(self, x: State) -> list[tuple[Group, Int[Array, ""], ContactMemory | None]]:
        """Return the groups, their modes, of those that a rigid grip carries that, and what they remember."""
        modes = x.mode[: len(self.groups)]
        if (carried := self.carried(x.memory.elements)) is not None:
            held = zip(carried, modes, strict=True)
            modes = tuple(jnp.where(ends, CARRIED, mode).astype(mode.dtype) for ends, mode in held)
        return list(zip(self.groups, modes, match_memories(self.groups, x.memory.contacts), strict=True))

    def _of_contacts[T](
        self,
        x: State,
        here: Placement,
        change: Callable[..., T],
        growth: tuple[Growth, ...] | None = None,
    ) -> tuple[T, ...]:
        """Return what follows for each contact that remembers, by a `change` of it, its mode, its bodies and what it remembers,
        and, where that is given, of the `growth` of its limits."""
        known = [
            (group, mode, here.bodies[group.first], here.bodies[group.second], past)
            for group, mode, past in self._groups_with_memory(x)
            if past is not None and isinstance(group, ContactGroup)
        ]
        if growth is None:
            return tuple(change(*one) for one in known)
        return tuple(change(*one, grows) for one, grows in zip(known, growth, strict=True))

    def acting(self, x: State, here: Placement, delayed: Signal) -> Acting:
        """Return what acts on the bodies under these signals of the contacts, and how they move."""
        places, elements, remembered = here.bodies, self.elements_at(x), x.memory.elements
        loads, efforts, pushes, power, taking, memories, outside = self.loaded(x, here, delayed)
        pushed = with_pushes(loads, pushes)
        torques = [place.rotation.transposed_times(load.moment) for load, place in zip(pushed, places, strict=True)]
        inertia, grips = reflected_inertia(elements, here), lines_of(self.grips, remembered, places)
        rests = rest_lines(self, x, places) if self.impacts else None
        lines = [part for part in (grips, rests) if part is not None]
        found = self.moving.respond(
            here,
            [load.force for load in pushed],
            torques,
            efforts,
            inertia,
            Lines.joined(lines) if lines else None,
        )
        add_reflected(loads, inertia, found.along, places)
        along, resting = found.along, jnp.zeros(0)
        held: tuple[Wrench, ...] = ()
        if rests is not None:
            along, resting = along[: -len(self.impacts)], along[-len(self.impacts) :]
            add_rests(loads, self.impacts, resting, here)
            of_rest = rest_powers(rests, resting, places)
            power += jnp.sum(of_rest)
            for (number, _), one in zip(self.impacts, of_rest, strict=True):
                taking[number] -= one
        if grips is not None:
            held = add_held(loads, self.grips, grips, along[-grips.drift.size :], places)
        moved = found.rates, found.bodies
        return Acting(loads, pushes, *moved, power, taking, memories, outside, found.along, held, resting)

    def loaded(self, x: State, here: Placement, delayed: Signal) -> Loaded:
        """Return what acts on the bodies under these signals of the contacts, but for what depends on how they move then."""
        places = here.bodies
        loads, powers = contact_loads(self.groups, places, delayed[: len(self.groups)])
        power = sum(powers, jnp.zeros(()))
        power += self._ramped_power(x, here)
        power += add_late(loads, self.late, delayed[len(self.groups) :], places)
        elements = self.elements_at(x)
        own, efforts, thrusters, memories = element_loads(
            elements, self.element_modes(x), x.memory.elements, here, self.held
        )
        if elements:
            loads = [load.plus(more) for load, more in zip(loads, own, strict=True)]
        pushes, motors, outside = self.pushes(x, here, thrusters)
        for number, effort in motors:
            efforts[number] += effort
        return Loaded(loads, efforts, pushes, power, [-one for one in powers], memories, outside)

    def pushes(self, x: State, here: Placement, thrusters: Pushes) -> tuple[Pushes, Efforts, Outside]:
        """Return all that pushes bodies from outside: these `thrusters`, control and gravity; what control does in joints; and
        the rate of what is remembered."""
        seen, before, found = self.seen(x, here), x.memory.outside, list(thrusters)
        motors: Efforts = ()
        rates = Outside(None if before.thrusters is None else rate_given(thrusters, here.bodies, seen.centre))
        if (given := self.control(x, seen)) is not None:
            given = given if self.control_at_rest is None else given.less(self.control_at_rest)
            found, motors, rates = [*found, given.push], given.efforts, rates._replace(steering=given.rate)
        if self.gravity is not None:
            tide, orbit = self.gravity.act(before.orbit, seen, self.bodies)
            found, rates = [*found, *tide], rates._replace(orbit=orbit)
        if self.applied is not None:
            found = [*found, *applied_pushes(*self.applied, here.bodies)]
        return found, motors, rates

    def control(self, x: State, seen: Seen) -> ControlAction | None:
        """Return what control does that sees so much; None without."""
        return None if self.steered is None else self.steered.act(x.memory.outside.steering, seen)

    def first_hints(self) -> tuple[Clearances | None, ...] | None:
        """Return what is known at first of how far members of groups are.

        Where XLA compiles, cases go side by side, each with all of it: there groups look at all that is near anew. So do rigs.
        """
        if not backend.is_native():
            return None
        found = tuple(group.first_clearances() if isinstance(group, ContactGroup) else None for group in self.groups)
        return None if all(one is None for one in found) else found

    def renew_hints(
        self, x: State, hints: tuple[Clearances | None, ...] | None, exact: bool = False
    ) -> tuple[Clearances | None, ...] | None:
        if hints is None:
            return None
        places, found = self.placement(x).bodies, []
        for group, known in zip(self.groups, hints, strict=True):
            if known is not None:
                assert isinstance(group, ContactGroup)
                known = group.renew_clearances(places[group.first], places[group.second], known, exact)
            found.append(known)
        return tuple(found)

    def with_hints(self, hints: tuple[Clearances | None, ...] | None) -> Mechanism:
        if hints is None:
            return self
        pairs = zip(self.groups, hints, strict=True)
        groups = (
            replace(g, clearances=one) if isinstance(g, ContactGroup) and one is not None else g for g, one in pairs
        )
        return replace(self, groups=tuple(groups))

    def next_tick(self, x: State) -> Scalar | None:
        return None if self.steered is None else self.steered.next_tick(x.memory.outside.steering)

    def tick(self, t: Scalar, x: State) -> State:
        if self.steered is None:
            return x
        outside = x.memory.outside
        steering = self.steered.tick(t, outside.steering, self.seen(x, self.placement(x)))
        return State(x.q, x.v, x.mode, x.memory._replace(outside=outside._replace(steering=steering)))

    def following(self, law: Controller) -> Mechanism:
        """Return the same bodies, whose sampled control asks this law at its samples, of the memory that its own has."""
        assert isinstance(self.steered, SteeredBody)
        return replace(self, steered=self.steered.following(law))

    def all_loads(self, here: Placement, now: Acting) -> list[Wrench]:
        """Return what others put on each body, about its centre of mass (inertial), with the reactions of joints: what its
        motion needs less what pushes from outside."""
        loads, joined = list(now.loads), {member for tree in self.trees for member in tree.members}
        needed = self.moving.needed(here, now.rates, now.bodies) if joined else []
        for number in joined:
            force, torque = needed[number]
            loads[number] = Wrench(force, here.bodies[number].rotation @ torque)
        outside = [(number, Wrench(-force, -moment)) for number, (force, moment) in now.pushes if number in joined]
        return with_pushes(loads, outside)

    def _resting_states(self, t: Scalar, x: State) -> tuple[GroupState, ...]:
        """Return what each group of contacts does now, with the forces of what rests under impacts."""
        states = self.states(x)
        return with_resting_forces(self, x, states, rest_forces(self, t, x)) if self.impacts else states

    def integrands(self, t: Scalar, x: State) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
        states = self._resting_states(t, x)
        return tuple(state.normal_force for state in states), tuple(self.rubbing_powers(states))

    def outputs(self, t: Scalar, x: State) -> Outputs:
        here, states = self.placement(x), self._resting_states(t, x)
        guards = [one for group, m, s in zip(self.groups, x.mode, states, strict=False) for one in group.guards(m, s)]
        if (carried := self.carried(x.memory.elements)) is not None:
            # what the hold carries does not begin again
            which = [still for group, still in zip(self.groups, carried, strict=True) for _ in range(group.events)]
            guards = [jnp.where(still, -1.0, guard) for still, guard in zip(which, guards, strict=True)]
        sizes: list[Scalar] = []
        for one, mode, memory in zip(self.elements_at(x), self.element_modes(x), x.memory.elements, strict=True):
            guards += one.element.guards(mode, memory, *one.sides(here))
            if isinstance(one, Tie):
                sizes += one.element.sizes(mode, memory, *one.sides(here))
        if self.phases is not None:
            guards += self.phases.guards(t, x.mode[-1], x.memory.clock, here.bodies)
        signal = tuple(group.signal_of(state) for group, state in zip(self.groups, states, strict=True))
        signal += self.late_forces(x, here)
        turns = bushing_turns(self.elements_at(x), here)
        needed = any(point.axis is not None for point in self.points) or self.grips
        now = self.acting(x, here, signal) if needed or reflected_inertia(self.elements_at(x), here) else None
        normal = [state.normal_force for state in states]
        watched = (
            *normal,
            *sizes,
            *self._turning(states),
            *self.ramp_travels(here),
            *self.element_sizes(x, here, signal, now),
            *(self.port_loads(here, now) if now is not None else ()),
            *turns,
            *self.rubbing_powers(states),
        )
        corners = [
            one
            for group, mode, s in zip(self.groups, x.mode, states, strict=False)
            if isinstance(group, ContactGroup)
            for one in group.corners(mode, s)
        ]
        for one, mode, memory in zip(self.elements_at(x), self.element_modes(x), x.memory.elements, strict=True):
            corners += one.element.corners(mode, memory, *one.sides(here))
        if self.steered is not None:
            corners += self.steered.corners(x.memory.outside.steering, self.seen(x, here))
        return Outputs(signal, tuple(guards), watched, tuple(corners))

    def turning(self, x: State) -> tuple[Scalar, ...]:
        """Return the quantities beside whose peaks a step must end, where what contacts remember turns."""
        return self._turning(self.states(x)) if any(group.turns for group in self.groups) else ()

    def flowing(self) -> Mechanism:
        return replace(
            self, groups=tuple(one.flowing() if isinstance(one, ContactGroup) else one for one in self.groups)
        )

    def decisions(self, x: State) -> Float[Array, "decisions"]:
        carried = self.carried(x.memory.elements) is not None
        found = self._of_contacts(
            x, self.placement(x), lambda group, *known: group.decisions(*known, carried), self._limit_growth(x)
        )
        return jnp.concatenate([jnp.zeros(0), *map(jnp.ravel, found)])

    def _limit_growth(self, x: State) -> tuple[Growth, ...]:
        """Return how fast (m/s) limits of slices grow, of each contact that remembers; of what is not flowing nothing."""
        remembering = [group for group in self.groups if group.remembers and isinstance(group, ContactGroup)]
        if not any(isinstance(group.friction, FlowingSlip) for group in remembering):
            return ((),) * len(remembering)

        def limits(q: Coordinates, v: Velocities, memory: Memory) -> tuple[Growth, ...]:
            now = State(q, v, x.mode, memory)
            return self._of_contacts(now, self.placement(now), lambda group, *known: group.limits(*known))

        now = jnp.zeros(())
        return jax.jvp(limits, (x.q, x.v, x.memory), tuple(self.flow(now, x, self.signal(now, x))))[1]

    def _turning(self, states: tuple[GroupState, ...]) -> tuple[Scalar, ...]:
        return tuple(one for group, state in zip(self.groups, states, strict=True) for one in group.turning(state))

    def rubbing_powers(self, states: tuple[GroupState, ...]) -> list[Scalar]:
        """Return the power (W) that friction of each group takes where it is generated; of none where none has friction."""
        some = any(group.rubs for group in self.groups)
        return [jnp.zeros(()) if one.rubbing is None else one.rubbing for one in states] if some else []

    def signal(self, t: Scalar, x: State) -> Signal:
        here = self.placement(x)
        places = here.bodies
        found = tuple(
            group.signal(mode, places[group.first], places[group.second], past)
            for group, mode, past in self._groups_with_memory(x)
        )
        return found + self.late_forces(x, here)

    def late_forces(self, x: State, here: Placement) -> tuple[Vector, ...]:
        """Return what the loop delays of the elements' forces (N, inertial, on their first bodies)."""
        both = zip(self.elements, self.element_modes(x), strict=True) if self.late else ()
        return tuple(
            one.element.late(mode, *one.sides(here))
            for one, mode in both
            if isinstance(one, Tie) and one.element.delays
        )

    def wrenches(self, here: Placement, delayed: Signal) -> tuple[Wrench, ...]:
        """Return the wrenches that act, each about its group's reference point."""
        found = []
        for group, signal in zip(self.groups, delayed, strict=False):
            own, other = here.bodies[group.first], here.bodies[group.second]
            wrench, point = group.acts_at(signal, own, other)
            lever = point - group.reference(own)
            found.append(Wrench(wrench.force, wrench.moment + lever.cross(wrench.force)))
        return tuple(found)

    @property
    def timed(self) -> int:
        # of the loads at ports the peaks alone are told
        return len(self.groups) + self.latch_sizes + sum(group.turns for group in self.groups)

    @property
    def latch_sizes(self) -> int:
        """How many quantities of latches are watched, behind the forces of the groups."""
        grips, counts = [one.latch.grip for one in latches_of(self.elements)], {"pin": 2, "weld": 3}
        return sum(counts[one.hold] for one in grips if getattr(one, "swing", None) is not None)

    def ramp_travels(self, here: Placement) -> tuple[Scalar, ...]:
        """Return the travel (m) of each probe along its ramp: watched behind what is `timed`."""
        return tuple(one.latch.travel(*one.sides(here))[0] for one in self.ramps)

    def kept_lines(self, x: State, here: Placement) -> Lines | None:
        """Return the lines of what holds or resists during an impact: grips, and inertia that elements reflect."""
        return kept_lines(self.elements_at(x), self.grips, x.memory.elements, here)

    def grip_loads(self, now: Acting) -> dict[int, Wrench]:
        """Return what the rigid latches put on their first bodies, at their strikers (inertial), by the numbers of their
        elements."""
        return {grip.element: load for grip, load in zip(self.grips, now.grips, strict=True)}

    def tied(self, x: State, here: Placement, signal: Signal, now: Acting | None) -> list[TieLoad]:
        """Return what elements between bodies put on them under these signals, without what depends on how bodies move then
        where that is not known."""
        acting = self.elements_at(x), self.element_modes(x), x.memory.elements, here, signal[len(self.groups) :]
        return tie_loads(*acting, None, {}) if now is None else tie_loads(*acting, now.along, self.grip_loads(now))

    def element_sizes(self, x: State, here: Placement, signal: Signal, now: Acting | None) -> tuple[Scalar, ...]:
        """Return the sizes (N) of the forces of elements between bodies, one by one."""
        return tuple(size for load in self.tied(x, here, signal, now) for size in vector_length(load.force))

    def port_loads(self, here: Placement, now: Acting) -> tuple[Scalar, ...]:
        """Return what is watched of the loads at ports, port by port, as the fields of `PortLoad`."""
        ports = [(point, point.axis) for point in self.points if point.axis is not None]
        loads, places = self.all_loads(here, now) if ports else [], here.bodies
        found = [port_load(load_at(port, self.moving, loads, places), axis) for port, axis in ports]
        return tuple(number for load in found for number in load)

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        after = self.switched(t, x, fired)
        return apply_impacts(self, t, x, after) if self.impacts else after

    def switched(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        """Return the state after events, but for the impacts that follow."""
        here, elements, left = self.placement(x), self.elements_at(x), iter(fired)
        touching = tuple(
            g.next_mode(m, tuple(islice(left, g.events))) for g, m in zip(self.groups, x.mode, strict=False)
        )
        modes, memories, fired = apply_element_events(
            elements, self.element_modes(x), x.memory.elements, tuple(left), here
        )
        v, memories = self._fall_in(x, elements, x.memory.elements, memories)
        touching = self._touching_groups(x, touching, memories)
        now = State(x.q, v, (*touching, *modes), x.memory._replace(elements=memories))
        if self.phases is None:
            return now
        turns, over = fired
        return self._enter_due(t, replace(now, mode=(*now.mode, x.mode[-1])), (turns, over))

    @trace_once
    def _fall_in(
        self,
        x: State,
        elements: tuple[Mount, ...],
        before: tuple[ElementMemory, ...],
        after: tuple[ElementMemory, ...],
    ) -> tuple[Velocities, tuple[ElementMemory, ...]]:
        """Return the velocities and memories once latches that hold `after`, and did not `before`, have fallen in."""
        if not capturing_grips(self.elements, self.moving):
            return x.v, after
        return fall_in(
            self.moving, lambda v: self.placement(State(x.q, v, x.mode, x.memory)), x.v, elements, before, after
        )

    def _enter_due(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], Bool[Array, ""]]) -> State:
        """Return the state in the phase that is due after the phases' guards in `fired`, at `t` (s).

        One begins after another: what latches hold once one has begun is what the next one finds.
        """
        phases = self.phases
        assert phases is not None

        def due(x: State, fired: tuple[Bool[Array, ""], Bool[Array, ""]]) -> tuple[Int[Array, ""], State]:
            touches, held = _any_touches(x.mode[: len(self.groups)]), all_latches_hold(self.elements, x.memory.elements)
            places = self.placement(x).bodies
            phase, clock = phases.advance(t, x.mode[-1], x.memory.clock, fired, places, touches, held)
            return phase, replace(x, memory=x.memory._replace(clock=clock))

        def enter(now: tuple[Int[Array, ""], State]) -> tuple[Int[Array, ""], State]:
            never = jnp.asarray(False)
            return due(self._enter_phase(*now), (never, never))

        return jax.lax.while_loop(lambda now: now[0] != now[1].mode[-1], enter, due(x, fired))[1]

    def _enter_phase(self, phase: Int[Array, ""], x: State) -> State:
        """Return the state where a phase begins: what elements hold more or less than before, with its numbers, is work."""
        assert self.phases is not None
        clock = x.memory.clock if self.phases.ramps is None else x.memory.clock._replace(elapsed=jnp.zeros(()))
        here, elements = self.placement(x), self.elements_in(phase, clock)
        modes, memories = settle_elements(elements, x.memory.elements, here)
        touching = self._touching_groups(x, x.mode[: len(self.groups)], memories)
        after = State(x.q, x.v, (*touching, *modes, phase), x.memory._replace(elements=memories, clock=clock))
        gained = self.internal_energy(after) - self.internal_energy(x)
        gained += self.work(x.memory) - self.work(after.memory)
        v, memories = self._fall_in(x, elements, x.memory.elements, memories)
        memory = after.memory._replace(work=x.memory.work + gained, elements=memories)
        return State(after.q, v, after.mode, memory)

    def emitting(self, x: State) -> Bool[Array, ""]:
        found, modes = _any_touches(x.mode[: len(self.groups)]), self.element_modes(x) if self.late else ()
        for one, mode in zip(self.elements if self.late else (), modes, strict=True):
            if isinstance(one, Tie) and one.element.delays:
                found |= one.element.emits(mode)
        return found

    def ended(self, x: State) -> Bool[Array, ""] | None:
        ways = [_any_touches(tuple(x.mode[number] for number in self.ending))] if self.ending else []
        if self.capturing:
            modes, memories = self.element_modes(x), x.memory.elements
            latches = [(self.elements[i], modes[i], memories[i]) for i in self.capturing]
            done = [one.element.ended(mode, memory) for one, mode, memory in latches if isinstance(one, Tie)]
            ways.append(jnp.all(jnp.stack(done)))
        return jnp.any(jnp.stack(ways)) if ways else None

    def coasting(self, x: State, now: Outputs) -> Scalar | None:
        if self.steered is not None or not all(group.is_exact_distance() for group in self.groups):
            return None
        time = time_ahead(self, x, now)
        if self.applied is None:
            return time
        pushed = jnp.any(jnp.stack(self.applied) != 0)
        return jnp.where(pushed, 0.0, time)

    def time_foreseen(self, x: State, now: Outputs, wanted: Flag) -> Scalar | None:
        return time_if_alone(self, x, now, wanted)

    def foresee(self, start: State, x: State, time: Scalar) -> State:
        return later_state(self, start, x, time)

    def without_foreseen(self, change: Rate) -> Rate:
        return without_vibrations(self, change)

    def ungated(self, x: State) -> State:
        touching = tuple(jnp.asarray(GATED) for _ in self.groups)
        return State(x.q, x.v, (*touching, *x.mode[len(self.groups) :]), x.memory)

    def gated(self, x: State) -> State:
        places, modes = self.placement(x).bodies, list(x.mode)
        for number, (group, _, past) in enumerate(self._groups_with_memory(x)):
            if isinstance(group, ContactGroup):
                modes[number] = group.present_mode(places[group.first], places[group.second], past)
        touching = self._part_carried_groups(tuple(modes[: len(self.groups)]), self.carried(x.memory.elements))
        return State(x.q, x.v, (*touching, *modes[len(self.groups) :]), x.memory)

    @property
    def settles(self) -> bool:
        return any(group.remembers for group in self.groups)

    @property
    def asks_for_steps(self) -> bool:
        return any(isinstance(group, ContactGroup) and group.asks_for_steps() for group in self.groups)

    @property
    def parts_steeply(self) -> bool:
        return any(isinstance(group, ContactGroup) and group.law.parts_steeply() for group in self.groups)

    def settled(self, x: State) -> State:
        if not x.memory.contacts:
            return x
        contacts = self._of_contacts(
            x, self.placement(x), lambda group, *known: group.renewed(*known), self._limit_growth(x)
        )
        return State(x.q, x.v, x.mode, x.memory._replace(contacts=contacts))

    def within_step(self, start: State, x: State) -> State:
        if not x.memory.contacts:
            return x
        remembering = [group for group in self.groups if group.remembers and isinstance(group, ContactGroup)]
        each = zip(remembering, start.memory.contacts, x.memory.contacts, strict=True)
        contacts = tuple(group.memory_within(before, now) for group, before, now in each)
        return State(x.q, x.v, x.mode, x.memory._replace(contacts=contacts))

    def retract(self, x: State) -> State:
        x = State(x.q.retracted(), x.v, x.mode, x.memory)
        return x if self.conserved is None else project_momentum(self, x)

    def kinetic_energy(self, x: State) -> Scalar:
        """Return the kinetic energy of all bodies (J)."""
        return self._kinetic(x.q, x.v)

    def twists_of(self, q: Coordinates, v: Velocities) -> tuple[Twist, ...]:
        """Return twists of all bodies."""
        if not self.trees and self.moving.attitudes:
            return v.roots
        return tuple(place.twist for place in self.moving.placed(q, v).bodies)

    def kinetic_energies(self, q: Coordinates, v: Velocities) -> Float[Array, "bodies"]:
        """Return kinetic energies (J) of the bodies, of flexible links with what they have in their mean axes."""
        return jnp.stack(self.moving.kinetic_energies(self.moving.placed(q, v))[: len(self.body_names)])

    def _kinetic(self, q: Coordinates, v: Velocities) -> Scalar:
        return sum(self.moving.kinetic_energies(self.moving.placed(q, v)), jnp.zeros(()))

    def internal_energy(self, x: State) -> Scalar:
        """Return the energy (J) that elements store, and that of the inertia that they reflect."""
        here, elements = self.placement(x), self.elements_at(x)
        stored = stored_energy(elements, self.element_modes(x), x.memory.elements, here)
        turning = self.moving.reflected_energy(here)
        return stored + sum((one.kinetic_energy() for _, _, one in reflected_inertia(elements, here)), turning)

    def work(self, memory: Memory) -> Scalar:
        """Return the work (J) of contacts, motors and phases, less what elements have dissipated, in a memory or its rate: all
        but that of what acts from outside."""
        return memory.work + sum((given_by(one) for one in memory.elements), jnp.zeros(()))

    def relative_size(self, x: State, change: Rate) -> Scalar:
        """Return the root of the change's own kinetic energy over that of the motion, or the change of work over it if that is
        larger.

        No unit and no frame enters. Of what contacts hold nearly still the motion is never taken as less than a share of what
        they have taken: it would be rounding of their forces that its error is of.
        """
        held = STILL * jnp.sum(jnp.abs(x.memory.taken))
        motion = jnp.maximum(jnp.maximum(self.motion_energy(x), held), 1e-300)
        energy = self._kinetic(x.q, change.v)
        return jnp.maximum(jnp.sqrt(energy / motion), jnp.abs(self.work(change.memory)) / motion)

    def motion_energy(self, x: State) -> Scalar:
        """Return the energy (J) of the motion about the common centre of mass, now and at t = 0, and what was given to it from
        outside."""
        moving = internal_energy(self.bodies, self.twists_of(x.q, x.v)) + internal_energy(self.bodies, self.twists)
        return moving + pushed_energy(x.memory.outside.impulses(), self.bodies)

    def observe(self, x: State, delayed: Signal) -> dict[str, Array]:
        """Return named quantities at an instant, `delayed` being the signals that act (on the groups' first bodies, inertial).

        Shapes: components last; `position` (bodies, 3), `depth` (groups,), `load_force` (points, 3) in the body's own axes.
        """
        here, states = self.placement(x), self.states(x, exact=True)
        places, elements = here.bodies, self.elements_at(x)
        now = self.acting(x, here, delayed)
        tied = self.tied(x, here, delayed, now)
        if self.impacts:
            states, delayed = (
                with_resting_forces(self, x, states, now.rests),
                rest_wrenches(self, here, delayed, now.rests),
            )
        loads, outside = self.all_loads(here, now), x.memory.outside
        placed = self.moving.placed(x.q, x.v).bodies
        poses, twists = tuple(place.pose for place in placed), tuple(place.twist for place in placed)
        linear, angular, linear_scale, angular_scale = pair_momentum(self.bodies, poses, twists)
        bent = self.moving.momentum_of_bending(here)
        linear, angular = linear + bent[0], angular + bent[1]
        control: dict[str, Array] = {}
        if self.steered is not None:
            wheel = self.steered.wheel(outside.steering, places)
            angular, angular_scale = angular + wheel, angular_scale + wheel.norm()
            control = self.steered.observe(outside.steering, self.seen(x, here))
        named_bodies = len(self.bodies) - len(self.frames)
        contacts = [(group, places[group.first], places[group.second]) for group in self.groups]
        named = [load_at(point, self.moving, loads, places) for point in self.points]
        return {
            **observed_motion(poses[:named_bodies], twists[:named_bodies], self.poses[:named_bodies], self.origin()),
            **observed_contacts(states, contacts, self.wrenches(here, delayed)),
            **self._observed_captures(x, here, now),
            "load_force": stack_rows([load.force.array() for load in named], 3),
            "load_moment": stack_rows([load.moment.array() for load in named], 3),
            **observed_joints(self.moving, here, loads, now.loads),
            **observed_modes(self.elements, here, twists),
            "kinetic_energy": self.kinetic_energy(x),
            "internal_energy": self.internal_energy(x),
            **observed_energies(states, x.memory.taken),
            **observed_friction(self.groups, states, x.memory.impacts),
            "work": self.work(x.memory) + (0.0 if outside.thrusters is None else outside.thrusters.work),
            **control,
            **outside.observe(),
            **observed_elements(elements, self.element_modes(x), x.memory.elements, here, tied),
            **observed_loads(tied),
            **({} if self.phases is None else {"phase_number": x.mode[-1] * 1.0}),
            **observed_impacts(self.groups, x.memory.impacts),
            "linear_momentum": linear.array(),
            "angular_momentum": angular.array(),
            "linear_momentum_scale": linear_scale,
            "angular_momentum_scale": angular_scale,
        }

    def _observed_captures(self, x: State, here: Placement, now: Acting) -> dict[str, Array]:
        """Return what a latch behind a ramp shows, the last of several, and the force by which it holds (N, inertial, on the
        tip's body)."""
        found: dict[str, Array] = {}
        for one in self.ramps:
            own, other = one.sides(here)
            mode, memory = self.element_modes(x)[one.number], x.memory.elements[one.number]
            mass = self.mass_behind(one, here)
            found |= one.latch.observe_capture(mode, memory, own, other, mass)
            grip = self.grip_loads(now).get(one.number)
            held = one.latch.act(mode, memory, own, other)[0].force if grip is None else grip.force
            tells = one.latch.rigid or one.latch.swing is not None  # else the contact goes on as any other
            seated = stack_rows([(mode.stage >= HELD) & still & tells for still in self.seated(one)])
            found |= {"hold_force": held.array(), "seated": seated}
        return found

    def mass_behind(self, one: MountedLatch, here: Placement) -> Scalar:
        """Return the mass (kg) of both bodies of a latch, were they rigid: what they oppose to a force along its axis at the
        striker, or that of trees as wholes, head on."""
        if self.on_line or any(len(side) > 1 for side in self.wholes(one)):
            return self.mass_head_on(one)
        own, other = one.sides(here)
        row = point_rows(here.bodies, one.first, one.second, one.latch.tip(own), (one.latch.out(other),))
        return 1 / mobility_between(row, self.moving.answer(here, row))[0, 0]

    def mass_head_on(self, one: MountedLatch) -> Scalar:
        """Return the reduced mass (kg) of both bodies or trees of a latch."""
        first, second = (sum((self.bodies[number].mass for number in side), jnp.zeros(())) for side in self.wholes(one))
        return first * second / (first + second)

    def wholes(self, one: MountedLatch) -> list[tuple[int, ...]]:
        """Return the bodies that are one with each body of a latch by joints, by number."""
        return [tuple(self.moving.held_with(self.moving.link(number))) for number in (one.first, one.second)]


def _any_touches(modes: tuple[Int[Array, ""], ...]) -> Bool[Array, ""]:
    """Return whether any group of contacts touches."""
    return jnp.any(jnp.stack([mode != APART for mode in modes])) if modes else jnp.asarray(False)
