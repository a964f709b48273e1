"""A mechanism as the variational integrator takes it: coordinates, kinetic energy, forces, depths, grips and jumps.

Coordinates are those of the mechanism: of each root its centre of mass and attitude, then trees with large beams, then joints
and modes of the others. The Lagrangian is the kinetic energy; what has a potential acts as a force, which halfway along a step
comes to the same discrete equations, and `stored` tells its energy. Events are the mechanism's own; between them what it
remembers is summed halfway along the steps.

Units: SI throughout.
Source: Marsden and West 2001, Acta Numerica 10:357 (forces in discrete mechanics); adapter, own construction.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.contact.contact_modes import APART
from dockdyn.deferred import Array, Bool, Float, Int, PyTree, jax, jnp
from dockdyn.elements.actor import ElementMemory
from dockdyn.integrate.model import Flag, Scalar, State, choose_tree, pack_tree, stack_rows
from dockdyn.integrate.variational.mechanical import Jump, Mechanical, Numbers, Row
from dockdyn.mechanics.frames_apart import frame_difference
from dockdyn.mechanics.rigid_body import Pose, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.moving_bodies import Coordinates, Placement, Velocities
from dockdyn.mechanics.trees.tree_bodies import TreeBodies, shift_configuration
from dockdyn.mechanics.trees.tree_row import TreeRow
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.impact_contact import RESTING, ImpactContact
from dockdyn.mechanism.impacts import apply_impacts
from dockdyn.mechanism.loads import reflected_inertia, stored_energy
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.mounts import MountedLatch, latches_of
from dockdyn.mechanism.outside import with_pushes
from dockdyn.mechanism.state import Memory
from dockdyn.programs import trace_once
from dockdyn.trees import leaves_of, map_leaves

AWAY = -1.0  # m: depth of what cannot touch
NUMBERS = 7  # of a root's pose; its twist has one less
ELASTIC = "variational"  # law of impact, besides those of `impact`: energies of the steps before and after it balance


class Grasp(NamedTuple):
    """Where a rigid latch caught its striker, in axes of the body with the latch."""

    place: Vector  # m
    turned: Quaternion  # the striker's body


class MonitoredQuantities(NamedTuple):
    """What is watched between events: largest values, when they were (s), and integrals over time."""

    peaks: Float[Array, "monitored"]
    times: Float[Array, "monitored"]
    integrals: Float[Array, "monitored"]

    @staticmethod
    def nothing(count: int) -> MonitoredQuantities:
        blank = jnp.zeros(count)
        return MonitoredQuantities(blank - jnp.inf, blank, blank)

    def seen(self, t: Scalar, values: Float[Array, "monitored"], length: Scalar) -> MonitoredQuantities:
        """Return it after these `values` for so long (s)."""
        larger = values > self.peaks
        return MonitoredQuantities(
            jnp.where(larger, values, self.peaks), jnp.where(larger, t, self.times), self.integrals + length * values
        )


class Mode(NamedTuple):
    """What is neither configuration nor momentum."""

    modes: tuple[PyTree, ...]  # of the mechanism
    memory: Memory
    since: Scalar  # s, at which that is what is remembered
    grasps: tuple[Grasp, ...]  # of rigid latches
    watched: MonitoredQuantities  # since the last event
    before: MonitoredQuantities  # between the two last events


class Moment(NamedTuple):
    """What the log keeps of an event."""

    state: State  # just after
    watched: MonitoredQuantities  # since the event before


class VariationalMechanism(Mechanical):
    """A mechanism without delay, brakes and sampled control, whose contacts have impact laws or forces that do not jump."""

    mechanism: Mechanism

    @property
    def attitudes(self) -> tuple[int, ...]:
        at, size = self.mechanism.moving.attitudes, NUMBERS - 1
        found = [size * root + 3 for root in range(at)]
        at *= size
        for one in self.trees:
            found += [at + place for place in one.attitudes]
            at += one.width
        return tuple(found)

    @property
    def trees(self) -> list[TreeRow]:
        """The trees with large beams, each with where it begins."""
        model = self.mechanism
        if not model.linked:
            return []
        trees, origin = [one for one in model.trees if isinstance(one, TreeBodies)], model.origin()
        both = zip(trees, model.linked, strict=True)
        return [TreeRow(one, shift_configuration(q, -origin)) for one, (q, _) in both]

    @property
    def lags(self) -> bool:
        return True

    @property
    def rests(self) -> bool:
        return any(contact.law.name != ELASTIC for _, contact in self.mechanism.impacts)

    @property
    def rigid(self) -> list[MountedLatch]:
        """The latches that hold rigidly."""
        return [one for one in latches_of(self.mechanism.elements) if one.latch.rigid]

    @property
    def tied(self) -> bool:
        """Whether grips may hold, or phases may change inertia."""
        elements = self.mechanism.elements
        shapes = jax.eval_shape(lambda: reflected_inertia(elements, self.mechanism.placement(self._begun())))
        return bool(self.rigid) or (self.mechanism.phases is not None and bool(shapes))

    @property
    def discrete(self) -> bool:
        return any(contact.law.name == ELASTIC for _, contact in self.mechanism.impacts)

    def _begun(self) -> State:
        return self.mechanism.uncommanded()

    def initial(self) -> tuple[Numbers, Row, Mode]:
        x = self.mechanism.initial()
        here = self.mechanism.placement(x)
        count = len(self.mechanism.outputs(jnp.zeros(()), x).monitored)
        grasps = tuple(self._striker_place(one, here) for one in self.rigid)
        blank = MonitoredQuantities.nothing(count)
        mode = Mode(x.mode, x.memory, jnp.zeros(()), grasps, blank, blank)
        return self.numbers(x.q), self.row(x.q, x.v), mode

    def numbers(self, q: Coordinates) -> Numbers:
        """Return coordinates in a row."""
        parts = [part for pose in q.roots for part in (pose.position.array(), pose.attitude.normalised().array())]
        parts += [one.numbers(own) for one, own in zip(self.trees, q.trees, strict=True)]
        return jnp.concatenate([*parts, jnp.stack(q.joints) if q.joints else jnp.zeros(0)])

    def row(self, q: Coordinates, v: Velocities) -> Row:
        """Return velocities in a row, angular ones in the axes of what turns."""
        parts = [part for twist in v.roots for part in (twist.velocity.array(), twist.rate.array())]
        parts += [one.row(place, own) for one, place, own in zip(self.trees, q.trees, v.trees, strict=True)]
        return jnp.concatenate([*parts, jnp.stack(v.joints) if v.joints else jnp.zeros(0)])

    def coordinates(self, q: Numbers) -> Coordinates:
        """Return the coordinates of a row."""
        roots, trees, joints = self._parts(q, NUMBERS, [one.size for one in self.trees])
        return Coordinates(
            tuple(Pose(Vector.of(part[:3]), Quaternion.of(part[3:])) for part in roots),
            tuple(joints),
            tuple(one.configuration(part) for one, part in zip(self.trees, trees, strict=True)),
        )

    def velocities(self, q: Coordinates, v: Row) -> Velocities:
        """Return the velocities of a row."""
        roots, trees, joints = self._parts(v, NUMBERS - 1, [one.width for one in self.trees])
        rows = zip(self.trees, q.trees, trees, strict=True)
        return Velocities(
            tuple(Twist(Vector.of(part[:3]), Vector.of(part[3:])) for part in roots),
            tuple(joints),
            tuple(one.velocities(place, part) for one, place, part in rows),
        )

    def _parts(self, row: Row, of_root: int, of_trees: list[int]) -> tuple[list[Row], list[Row], Row]:
        """Return what in a row is of each root, that has so many numbers, of each tree with large beams, and of joints."""
        sizes, at, found = [of_root] * self.mechanism.moving.attitudes, 0, list[Row]()
        for size in (*sizes, *of_trees):
            found.append(row[at : at + size])
            at += size
        return found[: len(sizes)], found[len(sizes) :], row[at:]

    def _state_at_rest(self, q: Numbers) -> tuple[Coordinates, Velocities]:
        """Return the coordinates of a row, and velocities that are zero."""
        places = self.coordinates(q)
        return places, self.velocities(places, jnp.zeros(q.shape[0] - len(self.attitudes)))

    def state(self, t: Scalar, q: Numbers, v: Row, mode: Mode) -> State:
        """Return the state of the mechanism at `t` (s), with what it remembers by then."""
        places = self.coordinates(q)
        found = State(places, self.velocities(places, v), mode.modes, mode.memory)
        return State(found.q, found.v, mode.modes, self._remembered(t, found, mode))

    def _remembered(self, t: Scalar, x: State, mode: Mode) -> Memory:
        """Return of the memory what forces depend on, at `t` (s), by its present rate."""
        model, ahead = self.mechanism, t - mode.since
        memory = self._set_clock(t, mode.memory)
        x = State(x.q, x.v, x.mode, memory)
        outside, elements = memory.outside, memory.elements
        if any(one.travel is not None for one in elements):
            here, now = model.placement(x), model.elements_at(x)
            every = zip(now, model.element_modes(x), elements, strict=True)
            elements = tuple(
                _advance_motor(one.element.act(m, own, *one.sides(here))[1], own, ahead) for one, m, own in every
            )
        if outside.orbit is not None:
            outside = outside._replace(orbit=outside.orbit._replace(time=t))
        if model.steered is not None and outside.steering is not None:
            rate = model.steered.act(outside.steering, model.seen(x, model.placement(x))).rate
            steering = map_leaves(lambda own, rate: own + ahead * rate, outside.steering, rate)
            outside = outside._replace(steering=steering)
        return memory._replace(outside=outside, elements=elements)

    def _set_clock(self, t: Scalar, memory: Memory) -> Memory:
        """Return the memory with its clock at `t` (s)."""
        return memory if memory.clock is None else memory._replace(clock=memory.clock.at(t))

    @trace_once
    def lagrangian(self, t: Scalar, q: Numbers, v: Row, mode: Mode) -> Scalar:
        model, places = self.mechanism, self.coordinates(q)
        x = State(places, self.velocities(places, v), mode.modes, mode.memory)
        here = model.placement(x)
        energies = model.moving.kinetic_energies(here)
        energies += [one.kinetic_energy() for _, _, one in reflected_inertia(model.elements_at(x), here)]
        return sum(energies, model.moving.reflected_energy(here))

    def mass_matrix(self, t: Scalar, q: Numbers, mode: Mode, size: int) -> Float[Array, "n n"]:
        """Return the mass matrix, column by column, as momenta are linear in velocities."""
        return jax.lax.map(lambda column: self._momentum(t, q, column, mode), jnp.eye(size)).T

    @trace_once
    def _momentum(self, t: Scalar, q: Numbers, v: Row, mode: Mode) -> Row:
        return jax.grad(self.lagrangian, 2)(t, q, v, mode)

    @trace_once
    def force(self, t: Scalar, q: Numbers, v: Row, mode: Mode) -> Row:
        model, x = self.mechanism, self.state(t, q, v, mode)
        here = model.placement(x)
        found = model.loaded(x, here, model.signal(t, x))
        loads = with_pushes(found.loads, found.pushes)
        moving = x.q.shifted(-model.base_position(x))
        inner = [one.bodies.tree.inner_loads(at.q, at.v) for one, at in zip(self.trees, here.trees, strict=True)]

        def power(v: Row) -> Scalar:
            """Return that of the loads (W), at any velocities."""
            now = model.moving.placed(moving, self.velocities(moving, v))
            terms = [load.force.dot(body.twist.velocity) for load, body in zip(loads, now.bodies, strict=True)]
            terms += [load.moment.dot(body.rate) for load, body in zip(loads, now.bodies, strict=True)]
            terms += [effort * rate for effort, (_, rate) in zip(found.efforts, now.joints, strict=True)]
            terms += [-(one @ place.v) for one, place in zip(inner, now.trees, strict=True)]
            return sum(terms, jnp.zeros(()))

        return jax.grad(power)(v)

    def stored(self, t: Scalar, q: Numbers, mode: Mode) -> Scalar:
        model = self.mechanism
        x = self.state(t, q, jnp.zeros(q.shape[0] - len(self.attitudes)), mode)
        here = model.placement(x)
        found = stored_energy(model.elements_at(x), model.element_modes(x), x.memory.elements, here)
        if model.gravity is not None:
            found += model.gravity.potential(x.memory.outside.orbit, model.seen(x, here), model.bodies)
        return found

    @trace_once
    def guards(self, t: Scalar, q: Numbers, mode: Mode) -> Float[Array, "guards"]:
        """Return depths of contacts, of strikers in their latches (m), and how long the phase is over its time (s)."""
        model = self.mechanism
        x = State(*self._state_at_rest(q), mode.modes, self._set_clock(t, mode.memory))
        here = model.placement(x)
        found, hits = [], iter(mode.memory.impacts)
        for group, own in zip(model.groups, mode.modes, strict=False):
            depth = group.state(own, here.bodies[group.first], here.bodies[group.second], True).depth
            if isinstance(group, ImpactContact):
                found.append(depth - next(hits).level)
            else:
                found.append(jnp.where(own == APART, depth, -depth))
        if (carried := model.carried(x.memory.elements)) is not None:
            found = [jnp.where(still, AWAY, depth) for still, depth in zip(carried, found, strict=True)]
        elements, modes = model.elements_at(x), model.element_modes(x)
        for number in self._number_latches():
            one = elements[number]
            found.append(one.element.guards(modes[number], mode.memory.elements[number], *one.sides(here))[0])
        if model.phases is not None:
            found.append(model.phases.guards(t, x.mode[-1], x.memory.clock, here.bodies)[1])
        return jnp.stack(found) if found else jnp.zeros(0)

    def _number_latches(self) -> list[int]:
        """Return the numbers of the elements that have events: latches."""
        return [one.number for one in latches_of(self.mechanism.elements)]

    def _places(self) -> tuple[list[int], int]:
        """Return which of the mechanism's guards each of these is, and how many it has."""
        model, places, at = self.mechanism, list[int](), 0
        for group in model.groups:
            places.append(at)
            at += group.events
        x = self._begun()
        here = model.placement(x)
        every = zip(model.elements, model.element_modes(x), x.memory.elements, strict=True)
        for number, (one, mode, memory) in enumerate(every):
            if number in self._number_latches():
                places.append(at)
            at += len(one.element.guards(mode, memory, *one.sides(here)))
        if model.phases is not None:
            places.append(at + 1)
            at += 2
        return places, at

    def acting(self, mode: Mode) -> tuple[Bool[Array, "guards"], Bool[Array, "ties"]]:
        model = self.mechanism
        numbers = {number for number, _ in model.impacts}
        rests = [mode.modes[k] == RESTING if k in numbers else jnp.asarray(False) for k in range(len(model.groups))]
        rests += [jnp.asarray(False)] * (len(self._number_latches()) + (model.phases is not None))
        counts = [grip.connection.count for grip in self.mechanism.grips]
        ties = [jnp.full(count, _latch_holds(mode.memory, one)) for count, one in zip(counts, self.rigid, strict=True)]
        return jnp.stack(rests) if rests else jnp.zeros(0, bool), jnp.concatenate([jnp.zeros(0, bool), *ties])

    def restable(self, guards: int) -> list[int]:
        return [number for number, _ in self.mechanism.impacts]

    @trace_once
    def ties(self, q: Numbers, mode: Mode) -> Float[Array, "ties"]:
        """Return how far strikers are from where latches caught them (m, rad)."""
        here = self.mechanism.placement(State(*self._state_at_rest(q), mode.modes, mode.memory))
        found = [jnp.zeros(0)]
        for one, caught in zip(self.rigid, mode.grasps, strict=True):
            (own, other), then = one.sides(here), (caught.place.array(), caught.turned.matrix().array())
            since = other.local(one.latch.tip(own)).array(), other.rotation.array().T @ own.rotation.array()
            found.append(frame_difference(then, since, one.latch.hold == "weld", self.mechanism.moving.directions))
        return jnp.concatenate(found)

    def _striker_place(self, one: MountedLatch, here: Placement) -> Grasp:
        """Return where the striker of a latch is now."""
        own, other = one.sides(here)
        return Grasp(other.local(one.latch.tip(own)), other.pose.attitude.conjugate() * own.pose.attitude)

    def parted(self, mode: Mode, pulled: Bool[Array, "guards"]) -> Mode:
        modes = list(mode.modes)
        for number, _ in self.mechanism.impacts:
            modes[number] = jnp.where(pulled[number], APART, modes[number]).astype(modes[number].dtype)
        return self._restart_watch(mode._replace(modes=tuple(modes)))

    def _restart_watch(self, mode: Mode) -> Mode:
        """Return the mode after an event, from which on things are watched anew."""
        return mode._replace(watched=MonitoredQuantities.nothing(mode.watched.peaks.size), before=mode.watched)

    def jump(self, t: Scalar, q: Numbers, v: Row, mass: Float[Array, "n n"], mode: Mode, fired: Int[Array, ""]) -> Jump:
        x = self.state(t, q, v, mode)
        places, count = self._places()
        flags = [jnp.asarray(False)] * count
        for number, place in enumerate(places):
            flags[place] = fired == number
        touching = self.mechanism.switched(t, x, tuple(flags))
        after = self._strike_touching(t, touching)
        here = self.mechanism.placement(after)
        grasps = []
        for one, caught in zip(self.rigid, mode.grasps, strict=True):
            falls = _latch_holds(after.memory, one) & ~_latch_holds(mode.memory, one)
            grasps.append(choose_tree(falls, self._striker_place(one, here), caught))
        struck = [number for number, contact in self.mechanism.impacts if contact.law.name == ELASTIC]
        elastic = jnp.any(jnp.stack([fired == number for number in struck])) if struck else jnp.zeros((), bool)
        impulse = mass @ (self.row(x.q, after.v) - v)
        found = self._restart_watch(mode._replace(modes=after.mode, memory=after.memory, since=t, grasps=tuple(grasps)))
        return Jump(impulse, found, elastic, pack_tree(touching))

    def records(self) -> int:
        return sum(leaf.size for leaf in leaves_of(jax.eval_shape(self._begun)))

    def _strike_touching(self, t: Scalar, x: State) -> State:
        """Return the state once what touches is struck."""
        model = self.mechanism
        if not model.impacts:
            return x
        x = apply_impacts(model, t, x, x)
        hits = tuple(hit._replace(parting=jnp.zeros(())) for hit in x.memory.impacts)  # depths tell, not velocities
        return State(x.q, x.v, x.mode, x.memory._replace(impacts=hits))

    def passed(self, t: Scalar, q: Numbers, v: Row, mode: Mode, length: Scalar) -> Mode:
        model, x = self.mechanism, self.state(t, q, v, mode)
        here, signal = model.placement(x), model.signal(t, x)
        now = model.loaded(x, here, signal)
        clock = None if x.memory.clock is None else map_leaves(jnp.zeros_like, x.memory.clock)  # `_remembered` tells it
        hits = map_leaves(jnp.zeros_like, x.memory.impacts)
        rate = Memory(now.power, now.memories, clock, now.outside, stack_rows(now.taking), hits)
        memory = map_leaves(lambda own, rate: own + length * rate, mode.memory, rate)
        monitored = model.outputs(t, x).monitored
        watched = mode.watched
        if monitored:
            watched = watched.seen(t, jnp.stack(monitored), length)
        return mode._replace(memory=memory, since=t + 0.5 * length, watched=watched)

    def told(self, t: Scalar, q: Numbers, v: Row, mode: Mode) -> Row:
        return pack_tree(self.moment(t, q, v, mode))

    def moment(self, t: Scalar, q: Numbers, v: Row, mode: Mode) -> Moment:
        """Return what the log keeps of an event."""
        return Moment(self.state(t, q, v, mode), mode.before)

    def ended(self, mode: Mode) -> Flag | None:
        x = State(None, None, mode.modes, mode.memory)
        return self.mechanism.ended(x)


def _latch_holds(memory: Memory, one: MountedLatch) -> Flag:
    """Return whether a latch holds."""
    return memory.elements[one.number].holds()


def _advance_motor(rate: ElementMemory, memory: ElementMemory, ahead: Scalar) -> ElementMemory:
    """Return the memory of an element after so long (s), of which a motor moves its free length."""
    if memory.travel is None or rate.travel is None:
        return memory
    return memory._replace(travel=memory.travel + ahead * rate.travel)
