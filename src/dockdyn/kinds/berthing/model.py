"""Berthing: a chaser with an arm meets a payload, both trees of rigid and flexible links (Cyril et al.).

They touch at t = 0: an impact law gives the velocities after. What the law joins stays joined, as a pin or a weld, by a rigid
latch; what rebounds may meet again, by a contact with that impact law. Or no law is asked and a compliant contact acts from
then on. All that acts between the two is that of `dockdyn.mechanism`.

Units: SI throughout.
Source: as named above, with the corrections in the page of errata.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.linalg import block_diag
from jaxtyping import Array, Bool, Float, PyTree

from dockdyn.contact.gate import APART
from dockdyn.contact.group import ContactGroup
from dockdyn.control.actuators import Actuation, Actuators, Effort
from dockdyn.control.plant import Law
from dockdyn.control.tree_plant import TreePlant
from dockdyn.impact.laws.by_name import StatedLaw
from dockdyn.impact.laws.result import Impact, impact
from dockdyn.integrate.model import Model, Outputs, Rate, Scalar, State
from dockdyn.kinds.berthing.mechanism import grips
from dockdyn.kinds.berthing.model_approach import Approach, locked
from dockdyn.kinds.berthing.model_conserve import projected
from dockdyn.mechanics.constrained import constrained
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.composite_bodies import Configuration, Motion, Tree, normalised
from dockdyn.mechanics.trees.moving_bodies import Coordinates, MovingBodies, Placement, Velocities
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.connections import point_rows, turning_rows
from dockdyn.mechanism.grips import lines_of
from dockdyn.mechanism.impact_contact import TOUCHED, ImpactContact
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.state import Acting
from dockdyn.mechanism.state import Memory as Remembered

Row = Float[Array, "n"]
HOLDS = {"pin": False, "weld": True}  # laws that join: whether they end turning, too
ROUNDING = 1e-12  # of an impulse: what is less of it sideways is none
COMPLIANT = "compliant"  # no law: forces of a contact that gives way


class Side(eqx.Module):
    """A tree, how it starts and which of its link frames is where it touches.

    The grip moves as what it is mounted on, which on a beam is the section there. Feature or surface are rigid, fixed to it.
    """

    tree: Tree
    configuration: Configuration
    velocities: Row
    origin: Float[
        Array, "3"
    ]  # m, from the grip to where the axes begin in which feature or surface are given, grip axes
    grip: int = eqx.field(static=True)


class Hit(NamedTuple):
    """The impact that came last; zeros before there is one."""

    speed: Scalar  # m/s, of approach
    normal: Scalar  # N s
    tangential: Scalar
    loss: Scalar  # J

    @staticmethod
    def nothing() -> Hit:
        return Hit(*[jnp.zeros(())] * 4)

    @staticmethod
    def of(velocity: Float[Array, "rows"], found: Impact, tangents: int) -> Hit:
        sideways = jnp.linalg.norm(found.impulse[1 : 1 + tangents])
        return Hit(-velocity[0], found.impulse[0], sideways, found.energy_loss)


class Memory(NamedTuple):
    """What control (the fields of `Effort`, the pole at the inertial origin) and what is between the two have done."""

    work: Scalar
    wheel: Float[Array, "3"]
    impulse: Float[Array, "3"]
    turning_impulse: Float[Array, "3"]
    used: Float[Array, "2"]
    mechanism: Remembered
    hit: Hit  # the last impact

    @staticmethod
    def begun(remembered: Remembered, hit: Hit) -> Memory:
        return Memory(*Effort.nothing(), mechanism=remembered, hit=hit)


class Control(eqx.Module):
    """A law and what it acts through."""

    law: Law
    actuators: Actuators


class Struck(NamedTuple):
    """What the impact at t = 0 did."""

    velocities: tuple[Row, Row]  # after
    state: State  # of the mechanism, after
    mass: Float[Array, "n n"]  # of both trees
    rows: Float[Array, "rows n"]  # contact velocities by all velocities
    matrix: Float[Array, "rows rows"]  # W
    before: Row  # of the contact, in the impact's rows
    impact: Impact  # rows: normal, tangents, moments
    lock_loss: Scalar  # J, taken when joints were locked just before
    fewer: Row | None  # impulse with one mode fewer in every flexible link


class Known(eqx.Module):
    """Forces on the chaser that are known."""

    of_chaser: Row

    def forces(self, model: Mechanism, x: State, here: Placement) -> tuple[Row, ...]:
        """Return them, and none on the target."""
        return self.of_chaser, jnp.zeros_like(x.v.trees[1])


class Commanded(eqx.Module):
    """Control of the chaser, which answers the motion, by what it remembers."""

    berthing: Berthing
    memory: Memory

    def forces(self, model: Mechanism, x: State, here: Placement) -> tuple[Row, ...]:
        """Return what it puts on the chaser now."""
        plant = self.berthing.plant(State(x.q.trees, x.v.trees, x.mode, self.memory), here)
        return Known(plant.forces(self.berthing.actuation(plant))).forces(model, x, here)


class Berthing(Model):
    """Chaser and target from the instant they touch. State: `q` configurations, `v` velocities of both trees."""

    sides: tuple[Side, Side]
    mechanism: Mechanism  # from just before the impact on, locks closed
    law: StatedLaw  # its name may be `COMPLIANT`
    normal: Float[Array, "3"]  # from the target to the chaser, inertial
    locks: Float[Array, "locks n"]  # rows of chaser velocities that are held at zero
    control: Control | None
    conserved: Float[Array, "kept"] | None  # momentum (N s, N m s) that velocities are brought back to
    delay: None
    planar: bool = eqx.field(static=True)

    @property
    def contact(self) -> ContactGroup | ImpactContact | None:
        """What may touch after t = 0."""
        for group in self.mechanism.groups:
            assert isinstance(group, ContactGroup | ImpactContact)
            return group
        return None

    @property
    def moving(self) -> MovingBodies:
        """The links of both as they may move."""
        found = self.mechanism.moving
        assert isinstance(found, MovingBodies)
        return found

    def initial(self) -> State:
        return self.begun(self.struck())

    def begun(self, struck: Struck) -> State:
        """The state just after what happened at t = 0."""
        hit = Hit.of(struck.before, struck.impact, 1 if self.planar else 2)
        return State(
            self._configurations(), struck.velocities, struck.state.mode, Memory.begun(struck.state.memory, hit)
        )

    def unstruck(self) -> State:
        """The state just before they touch."""
        before = (self.sides[0].velocities, self.sides[1].velocities)
        return State(
            self._configurations(), before, (), Memory.begun(self.mechanism.uncommanded().memory, Hit.nothing())
        )

    def _configurations(self) -> tuple[Configuration, Configuration]:
        return self.sides[0].configuration, self.sides[1].configuration

    def of_mechanism(self, x: State) -> State:
        """Return a state as the mechanism has it."""
        return State(Coordinates((), (), x.q), Velocities((), (), x.v), x.mode, x.memory.mechanism)

    def commanded(self, x: State) -> Mechanism:
        """Return the mechanism as control drives it."""
        return self.mechanism if self.control is None else replace(self.mechanism, driving=Commanded(self, x.memory))

    def names(self) -> list[str]:
        found = []
        for word in ("position", "velocity"):
            for side, name in zip(self.sides, ("chaser", "target"), strict=True):
                if word == "velocity":
                    found += [f"rate of {name} {coordinate}" for coordinate in side.tree.names()]
                else:
                    count = sum(leaf.size for leaf in jax.tree.leaves(side.configuration))
                    found += [f"configuration of {name}"] * count
        remembered = jax.tree.leaves(jax.eval_shape(lambda: self.mechanism.uncommanded().memory))
        found += ["work of control", *["momentum of the wheel"] * 3, *["impulse of thrusters"] * 6]
        found += [*["use of thrusters"] * 2, "work of the contact", *["memory of the contact"] * (len(remembered) - 1)]
        return found + ["last impact"] * len(Hit._fields)

    def approach(self) -> Approach:
        """What the impact law is given: the contact once the locked joints have stopped, momentum kept."""
        q, v = self._configurations(), (self.sides[0].velocities, self.sides[1].velocities)
        mass, _, _ = self.dynamics(q, v)
        here = self.moving.placed(Coordinates((), (), q), Velocities((), (), v))
        rows = self.moving.by_velocity(here, self._contact_rows(here))
        return locked(mass, rows, jnp.concatenate(v), self.lock_rows())

    def _contact_rows(self, here: Placement) -> Float[Array, "rows bodies 6"]:
        """Return the rows of the impact: of motion along normal and tangents, and of a weld of turning about them."""
        both, places = grips(self.moving), here.bodies
        axes = [Vector.of(axis) for axis in self.contact_axes(self.normal)]
        point = places[both[0]].point(Vector.of(-self.sides[0].origin))
        rows = point_rows(places, *both, point, axes)
        if not HOLDS.get(self.law.name, False):
            return rows
        about = [Vector.of(jnp.array([0.0, 0.0, 1.0]))] if self.planar else axes
        return jnp.concatenate([rows, turning_rows(places, *both, about)])

    def struck(self) -> Struck:
        """The impact."""
        found, model = self.approach(), self.mechanism
        before = found.rows @ found.velocities
        by_law, fewer = impact(found.matrix, before, jnp.zeros_like(before)), None
        after = model.uncommanded()  # what joins has fallen in by then
        if self.law.name != COMPLIANT:
            resolve = self.contact.resolve if isinstance(self.contact, ImpactContact) else self.law.resolve
            by_law, fewer = resolve(found.matrix, before), self.impulse_of_fewer(found)
            if self.law.name not in HOLDS:
                after = self._parting(after, by_law)
        elif isinstance(self.contact, ContactGroup):
            touches = (jnp.asarray(True), jnp.asarray(False))
            pressing = self.contact.next_mode(jnp.asarray(APART), touches)
            after = replace(after, mode=(jnp.where(before[0] < 0, pressing, APART).astype(int),))
        v = after.v.trees
        return Struck((v[0], v[1]), after, found.mass, found.rows, found.matrix, before, by_law, found.lock_loss, fewer)

    def _parting(self, x: State, by_law: Impact) -> State:
        """Return the mechanism's state after an impact that does not join."""
        if isinstance(self.contact, ImpactContact):
            touched = replace(x, mode=(jnp.asarray(TOUCHED, int),))
            start = State(self._configurations(), x.v.trees, touched.mode, Memory.begun(x.memory, Hit.nothing()))
            after = self.commanded(start).jump(jnp.zeros(()), touched, (jnp.asarray(True), jnp.asarray(False)))
            return replace(
                after, memory=after.memory._replace(work=jnp.zeros(()))
            )  # what counts is work after the impact
        here = self.mechanism.placement(x)
        load = jnp.einsum("k,kbi->bi", by_law.impulse, self._contact_rows(here))
        return replace(x, v=jax.tree.map(jnp.add, x.v, self.moving.change(here, load)))

    def impulse_of_fewer(self, found: Approach) -> Float[Array, "rows"] | None:
        """The impulse with one mode fewer of each kind in every flexible link; None where there are none.

        Bases are nested and beams straight: what is left are rows and columns of the same mass matrix.
        """
        kept = [name not in _last_modes(side.tree) for side in self.sides for name in side.tree.names()]
        if all(kept):
            return None
        at = jnp.array([column for column, keep in enumerate(kept) if keep], int)
        v = jnp.concatenate([side.velocities for side in self.sides])[at]
        fewer = locked(found.mass[jnp.ix_(at, at)], found.rows[:, at], v, self.lock_rows()[:, at])
        return self.law.resolve(fewer.matrix, fewer.rows @ fewer.velocities).impulse

    def split(self, v: Row) -> tuple[Row, Row]:
        """Velocities of chaser and target from those of both."""
        count = self.sides[0].velocities.shape[0]
        return v[:count], v[count:]

    def lock_rows(self) -> Float[Array, "locks n"]:
        """The locks as rows of all velocities."""
        return jnp.pad(self.locks, ((0, 0), (0, self.sides[1].velocities.shape[0])))

    def dynamics(self, q: Sequence[Configuration], v: Sequence[Row]) -> tuple[Float[Array, "n n"], Row, list[Motion]]:
        """Mass matrix and bias of both trees, and their motions."""
        found = [side.tree.dynamics(a, b) for side, a, b in zip(self.sides, q, v, strict=True)]
        return (
            block_diag(*(part[0] for part in found)),
            jnp.concatenate([part[1] for part in found]),
            [f[2] for f in found],
        )

    def contact_axes(self, normal: Float[Array, "3"]) -> Float[Array, "axes 3"]:
        """Normal and tangents in inertial axes; in the plane one."""
        n = normal / jnp.linalg.norm(normal)
        if self.planar:
            return jnp.stack([n, jnp.stack([-n[1], n[0], jnp.zeros(())])])
        spare = jnp.eye(3)[jnp.argmin(jnp.abs(n))]
        along = jnp.cross(n, spare)
        along = along / jnp.linalg.norm(along)
        return jnp.stack([n, along, jnp.cross(n, along)])

    def plant(self, x: State, here: Placement | None = None) -> TreePlant:
        """What control acts on; `here` are the bodies where their places are known, from wherever these count."""
        moving = self.moving
        here = here or moving.placed(Coordinates((), (), x.q), Velocities((), (), x.v))
        mass = block_diag(*(place.mass for place in here.trees))
        bias = jnp.concatenate([place.bias for place in here.trees])
        trees, memory = (self.sides[0].tree, self.sides[1].tree), x.memory
        rows, drift = self.lock_rows(), jnp.zeros(self.locks.shape[0])
        if held := lines_of(self.mechanism.grips, memory.mechanism.elements, here.bodies):
            rows = jnp.concatenate([moving.by_velocity(here, held.rows), rows])
            drift = jnp.concatenate([moving.drift_by_velocity(here, held), drift])
        motions = [place.motion for place in here.trees]
        return TreePlant(trees, x.q, jnp.concatenate(x.v), mass, bias, rows, drift, memory.wheel, memory.used, motions)

    def actuation(self, plant: TreePlant) -> Actuation:
        """What control gives."""
        if self.control is None:
            return Actuation(jnp.zeros_like(plant.joints()[0]), jnp.zeros(3), jnp.zeros(3), jnp.zeros(3))
        return self.control.law.act(plant, self.control.actuators)

    def respond(self, plant: TreePlant, forces: Row) -> tuple[Row, Float[Array, "rows"]]:
        """Rates of all velocities under forces on the chaser, and the forces along the constraints' rows."""
        load = (-plant.bias).at[: forces.shape[0]].add(forces)
        v, force = constrained(plant.mass, plant.rows, plant.drift[:, None], load[:, None])
        return v[:, 0], force[:, 0]

    def acting(self, x: State, forces: Row, delayed: PyTree) -> Acting:
        """Return what acts on the links under forces on the chaser."""
        model, state = replace(self.mechanism, driving=Known(forces)), self.of_mechanism(x)
        return model.acting(state, model.placement(state), delayed)

    def flow(self, t: Scalar, x: State, delayed: PyTree) -> Rate:
        model, still, state = self.mechanism, jax.tree.map(jnp.zeros_like, x.memory), self.of_mechanism(x)
        here = model.placement(state)
        if self.control is not None:
            plant = self.plant(x, here)
            given = self.actuation(plant)
            forces = plant.forces(given)
            model, still = replace(model, driving=Known(forces)), self.booked(x, plant, given, forces)
        rate = model.rate_at(state, here, delayed)
        return Rate(rate.q.trees, rate.v.trees, still._replace(mechanism=rate.memory))

    def booked(self, x: State, plant: TreePlant, given: Actuation, forces: Row) -> Memory:
        """Rates of what control has done."""
        turn = Quaternion.of(plant.q[0].attitude).matrix().array()
        power = forces @ plant.v[: plant.own]
        effort = given.effort(power, turn, plant.q[0].position, plant.turning(), plant.wheel)
        still = jax.tree.map(jnp.zeros_like, (x.memory.mechanism, x.memory.hit))
        return Memory(*effort, *still)

    def signal(self, t: Scalar, x: State) -> PyTree:
        return self.mechanism.signal(t, self.of_mechanism(x))

    def outputs(self, t: Scalar, x: State) -> Outputs:
        return self.commanded(x).outputs(t, self.of_mechanism(x))

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        model, contact, hit, before = self.commanded(x), self.contact, x.memory.hit, self.of_mechanism(x)
        if isinstance(contact, ImpactContact):
            # it is struck in the event in which it has touched, as there is nothing else that could touch meanwhile
            struck = fired[0] & (x.mode[0] == APART) & (before.memory.impacts[0].parting == 0)
            before = replace(before, mode=(jnp.where(struck, TOUCHED, x.mode[0]).astype(x.mode[0].dtype),))
        after = model.jump(t, before, fired)
        if isinstance(contact, ImpactContact):
            own = self._hit(contact, before, after)
            hit = jax.tree.map(lambda new, old: jnp.where(struck, new, old), own, hit)
        return State(x.q, after.v.trees, after.mode, x.memory._replace(mechanism=after.memory, hit=hit))

    def _hit(self, contact: ImpactContact, before: State, after: State) -> Hit:
        """Return the impact between two states of the mechanism, from the momentum that the target has got."""
        moving, first = self.moving, self.mechanism.placement(before)
        meeting = contact.meeting(first.bodies[contact.first], first.bodies[contact.second])
        there = moving.placed(before.q, jax.tree.map(jnp.subtract, after.v, before.v))
        _, target = moving.in_place(there)
        given = sum((one.linear for one in target.bending()), Vector.zero())
        for number in target.members:
            given = given + moving.bodies[number].linear_momentum(there.bodies[number].twist)
        (then,), (now,) = before.memory.impacts, after.memory.impacts
        across = given - meeting.normal * given.dot(meeting.normal)
        normal, square = now.impulse - then.impulse, across.dot(across)
        some = square > (ROUNDING * normal) ** 2
        tangential = jnp.where(some, jnp.sqrt(jnp.where(some, square, 1.0)), 0.0)
        return Hit(meeting.rate, normal, tangential, before.memory.work - after.memory.work)

    def emitting(self, x: State) -> Bool[Array, ""]:
        return self.mechanism.emitting(self.of_mechanism(x))

    def relative_size(self, x: State, change: Rate) -> Scalar:
        """Root of the change's own kinetic energy over that of the motion now and at t = 0."""
        mass = self.dynamics(x.q, x.v)[0]
        start = jnp.concatenate([side.velocities for side in self.sides])
        now, moved = jnp.concatenate(x.v), jnp.concatenate(change.v)
        motion = now @ mass @ now + start @ mass @ start
        return jnp.sqrt(moved @ mass @ moved / jnp.maximum(motion, 1e-300))

    def retract(self, x: State) -> State:
        x = State(tuple(normalised(q) for q in x.q), x.v, x.mode, x.memory)
        return x if self.conserved is None else projected(self, x)


def _last_modes(tree: Tree) -> list[str]:
    """Names of the velocities of each flexible link's last mode of every kind."""
    found = {}
    for link, names in zip(tree.layout.names, tree.layout.mode_names, strict=True):
        for name in names:
            found[link, name.rstrip("0123456789")] = f"{link}.{name}"
    return list(found.values())
