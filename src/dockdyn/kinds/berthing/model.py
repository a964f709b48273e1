"""Berthing: a chaser with an arm meets a payload, both trees of rigid and flexible links (Cyril et al.).

They touch at t = 0: an impact law gives the velocities after. What the law joins stays joined, as a pin or a weld; what
rebounds may meet again (`rebound`). Or no law is asked and a compliant contact acts from then on.

Units: SI throughout.
Source: as named above, with the corrections in the page of errata.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.linalg import block_diag
from jaxtyping import Array, Bool, Float, Int, PyTree

from dockdyn.contact.gate import APART
from dockdyn.contact.pair import Contact, contact_kinematics
from dockdyn.control.actuators import Actuation, Actuators, Effort
from dockdyn.control.plant import Law
from dockdyn.control.tree_plant import TreePlant
from dockdyn.impact.laws.by_name import StatedLaw
from dockdyn.impact.laws.contact_matrix import velocity_jump
from dockdyn.impact.laws.result import Impact, impact
from dockdyn.integrate.model import Model, Outputs, Rate, Scalar, State
from dockdyn.kinds.berthing.model_approach import Approach, locked
from dockdyn.kinds.berthing.model_conserve import projected
from dockdyn.kinds.berthing.model_rebound import (
    RESTING,
    Accelerated,
    Hit,
    Rebound,
    by_law_or_stopped,
    mode_after,
    next_state,
    placed,
    point_rows,
    resting,
)
from dockdyn.mechanics.constrained import constrained
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.composite_bodies import Configuration, Motion, Tree

Row = Float[Array, "n"]
HOLDS = {"pin": False, "weld": True}  # laws that join: whether they end turning, too
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


class Memory(NamedTuple):
    """What control (the fields of `Effort`, the pole at the inertial origin) and contact have done."""

    work: Scalar
    wheel: Float[Array, "3"]
    impulse: Float[Array, "3"]
    turning_impulse: Float[Array, "3"]
    used: Float[Array, "2"]
    contact_work: Scalar  # J, of contact forces and further impacts, on both
    hit: Hit  # the last impact

    @staticmethod
    def begun(hit: Hit) -> Memory:
        return Memory(*Effort.nothing(), contact_work=jnp.zeros(()), hit=hit)


class Control(eqx.Module):
    """A law and what it acts through."""

    law: Law
    actuators: Actuators


class Struck(NamedTuple):
    """What the impact at t = 0 did."""

    velocities: tuple[Row, Row]  # after
    mass: Float[Array, "n n"]  # of both trees
    rows: Float[Array, "rows n"]  # contact velocities by all velocities
    matrix: Float[Array, "rows rows"]  # W
    before: Row  # of the contact, in the impact's rows
    impact: Impact  # rows: normal, tangents, moments
    lock_loss: Scalar  # J, taken when joints were locked just before
    fewer: Row | None  # impulse with one mode fewer in every flexible link


class Berthing(Model):
    """Chaser and target from the instant they touch. State: `q` configurations, `v` velocities of both trees."""

    sides: tuple[Side, Side]
    law: StatedLaw  # its name may be `COMPLIANT`
    normal: Float[Array, "3"]  # from the target to the chaser, inertial
    locks: Float[Array, "locks n"]  # rows of chaser velocities that are held at zero
    control: Control | None
    contact: Contact | Rebound | None  # acts after t = 0; the feature is the chaser's
    conserved: Float[Array, "kept"] | None  # momentum (N s, N m s) that velocities are brought back to
    delay: None
    planar: bool = eqx.field(static=True)

    def initial(self) -> State:
        return self.begun(self.struck())

    def begun(self, struck: Struck) -> State:
        """The state just after what happened at t = 0."""
        hit = Hit.of(struck.before, struck.impact, 1 if self.planar else 2)
        x = State(self.unstruck().q, struck.velocities, (), Memory.begun(hit))
        if self.contact is None:
            return x
        if isinstance(self.contact, Rebound):
            mode = mode_after(self, self.contact, x, struck.impact.velocity[0])
        else:
            touch = self.contact.touch(*self.places(x), at_onset=True)
            pressing = self.contact.next_mode(jnp.asarray(APART), (jnp.asarray(True), jnp.asarray(False)), touch)
            mode = jnp.where(touch.rate > 0, pressing, APART)
        return State(x.q, x.v, (mode.astype(int),), x.memory)

    def unstruck(self) -> State:
        """The state just before they touch."""
        q = (self.sides[0].configuration, self.sides[1].configuration)
        return State(q, (self.sides[0].velocities, self.sides[1].velocities), (), Memory.begun(Hit.nothing()))

    def names(self) -> list[str]:
        found = []
        for word in ("position", "velocity"):
            for side, name in zip(self.sides, ("chaser", "target"), strict=True):
                if word == "velocity":
                    found += [f"rate of {name} {coordinate}" for coordinate in side.tree.names()]
                else:
                    count = sum(leaf.size for leaf in jax.tree.leaves(side.configuration))
                    found += [f"configuration of {name}"] * count
        found += ["work of control", *["momentum of the wheel"] * 3, *["impulse of thrusters"] * 6]
        found += [*["use of thrusters"] * 2, "work of the contact", *["last impact"] * len(Hit._fields)]
        return found

    def approach(self) -> Approach:
        """What the impact law is given: the contact once the locked joints have stopped, momentum kept."""
        q = [side.configuration for side in self.sides]
        mass, _, motions = self.dynamics(q, [side.velocities for side in self.sides])
        v = jnp.concatenate([side.velocities for side in self.sides])
        turning = HOLDS.get(self.law.name, False)
        rows = self.contact_axes(self.normal, turning) @ self.slip_jacobian(motions, turning)
        return locked(mass, rows, v, self.lock_rows())

    def struck(self) -> Struck:
        """The impact."""
        found = self.approach()
        before = found.rows @ found.velocities
        if self.law.name == COMPLIANT:
            nothing = impact(found.matrix, before, jnp.zeros_like(before))
            return Struck(
                self.split(found.velocities),
                found.mass,
                found.rows,
                found.matrix,
                before,
                nothing,
                found.lock_loss,
                None,
            )
        by_law = by_law_or_stopped(self, found.matrix, before)
        held = self.lock_rows() if self.locks.shape[0] else None
        after = found.velocities + velocity_jump(found.rows, found.mass, by_law.impulse, held)
        return Struck(
            self.split(after),
            found.mass,
            found.rows,
            found.matrix,
            before,
            by_law,
            found.lock_loss,
            self.impulse_of_fewer(found),
        )

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

    def slip_jacobian(self, motions: Sequence[Motion], turning: bool) -> Float[Array, "rows n"]:
        """Velocity of the chaser's grip less the target's by all velocities, inertial axes; turning (rad/s) after."""
        parts = []
        for side, motion, sign in zip(self.sides, motions, (1.0, -1.0), strict=True):
            turn, own = motion.rotation[side.grip], side.tree.jacobian(motion, side.grip)
            parts.append(sign * jnp.concatenate([turn @ own[:3], turn @ own[3:]]))
        return jnp.concatenate(parts, axis=1)[self.kept(turning)]

    def slip_bias(self, motions: Sequence[Motion], turning: bool) -> Float[Array, "rows"]:
        """Rate of the same velocity at constant velocities of the trees."""
        found = jnp.zeros(6)
        for side, motion, sign in zip(self.sides, motions, (1.0, -1.0), strict=True):
            turn, bias, twist = (part[side.grip] for part in (motion.rotation, motion.bias, motion.twist))
            found += sign * jnp.concatenate([turn @ (bias[:3] + jnp.cross(twist[3:], twist[:3])), turn @ bias[3:]])
        return found[self.kept(turning)]

    def in_plane(self, rows: Float[Array, "3 n"]) -> Float[Array, "rows n"]:
        """Rows of a velocity that count: in the plane x and y."""
        return rows[self.kept(turning=False)]

    def kept(self, turning: bool) -> Int[Array, "rows"]:
        """Rows of a relative twist that count: in the plane x, y and yaw."""
        moving, spinning = ([0, 1], [5]) if self.planar else ([0, 1, 2], [3, 4, 5])
        return jnp.array(moving + (spinning if turning else []))

    def contact_axes(self, normal: Float[Array, "3"], turning: bool) -> Float[Array, "rows rows"]:
        """Rows of normal and tangents (and moments) in inertial axes."""
        n = normal / jnp.linalg.norm(normal)
        if self.planar:
            axes = jnp.array([[n[0], n[1]], [-n[1], n[0]]])
            return block_diag(axes, jnp.eye(1)) if turning else axes
        spare = jnp.eye(3)[jnp.argmin(jnp.abs(n))]
        along = jnp.cross(n, spare)
        along = along / jnp.linalg.norm(along)
        axes = jnp.stack([n, along, jnp.cross(n, along)])
        return block_diag(axes, axes) if turning else axes

    def constraints(self, motions: Sequence[Motion]) -> tuple[Float[Array, "rows n"], Float[Array, "rows"]]:
        """Rows A and bias of all that is held: A v̇ + bias = 0."""
        rows, bias = self.lock_rows(), jnp.zeros(self.locks.shape[0])
        if self.law.name in HOLDS:
            turning = HOLDS[self.law.name]
            rows = jnp.concatenate([self.slip_jacobian(motions, turning), rows])
            bias = jnp.concatenate([self.slip_bias(motions, turning), bias])
        return rows, bias

    def plant(self, x: State) -> TreePlant:
        """What control acts on."""
        mass, bias, motions = self.dynamics(x.q, x.v)
        rows, drift = self.constraints(motions)
        trees = (self.sides[0].tree, self.sides[1].tree)
        memory = x.memory
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

    def accelerations(self, x: State, plant: TreePlant, forces: Row, delayed: PyTree) -> Accelerated:
        """Rates under forces on the chaser and those of the contact; of `delayed` the first is a compliant contact's."""
        if self.contact is None:
            return Accelerated(*self.respond(plant, forces), jnp.zeros(()), jnp.zeros(()))
        load = (-plant.bias).at[: forces.shape[0]].add(forces)
        if isinstance(self.contact, Rebound):
            return resting(self, self.contact, x, plant, load)
        point = self.contact.feature.contact_point(*self.places(x, plant.motions), self.contact.surface)
        push = delayed[0].array() @ point_rows(self, plant.motions, point)
        v, force = constrained(plant.mass, plant.rows, plant.drift[:, None], (load + push)[:, None])
        return Accelerated(v[:, 0], force[:, 0], push @ plant.v, jnp.zeros(()))

    def flow(self, t: Scalar, x: State, delayed: PyTree) -> Rate:
        plant = self.plant(x)
        given = self.actuation(plant)
        forces = plant.forces(given)
        found = self.accelerations(x, plant, forces, delayed)
        q = tuple(side.tree.rate(a, b) for side, a, b in zip(self.sides, x.q, x.v, strict=True))
        return Rate(q, self.split(found.v), self.booked(x, plant, given, forces)._replace(contact_work=found.power))

    def needed(self, x: State) -> Scalar:
        """Normal force (N) that would keep at rest what touches."""
        plant = self.plant(x)
        return self.accelerations(x, plant, plant.forces(self.actuation(plant)), ()).normal

    def booked(self, x: State, plant: TreePlant, given: Actuation, forces: Row) -> Memory:
        """Rates of what control has done."""
        turn = Quaternion.of(plant.q[0].attitude).matrix().array()
        power = forces @ plant.v[: plant.own]
        effort = given.effort(power, turn, plant.q[0].position, plant.turning(), plant.wheel)
        return Memory(*effort, contact_work=jnp.zeros(()), hit=jax.tree.map(jnp.zeros_like, x.memory.hit))

    def places(self, x: State, motions: Sequence[Motion] | None = None) -> tuple[Placed, Placed]:
        """What carries the feature and the surface."""
        found = motions or [side.tree.motion(q, v) for side, q, v in zip(self.sides, x.q, x.v, strict=True)]
        first, second = (placed(motion, side) for motion, side in zip(found, self.sides, strict=True))
        return first, second

    def outputs(self, t: Scalar, x: State) -> Outputs:
        contact = self.contact
        if contact is None:
            return Outputs((), (), ())
        where = self.places(x)
        if isinstance(contact, Rebound):
            depth = contact_kinematics(contact.feature, contact.surface, *where).depth
            rests, needed = x.mode[0] == RESTING, self.needed(x)
            guards = jnp.where(rests, -1.0, depth), jnp.where(rests, -needed, -1.0)
            return Outputs((), guards, (jnp.where(rests, needed, 0.0),))
        touch = contact.touch(*where)
        force = contact.normal_force(x.mode[0], touch)
        return Outputs((contact.force(force, touch),), contact.guards(x.mode[0], touch), (force,))

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        contact = self.contact
        if contact is None:
            return x
        if not isinstance(contact, Rebound):
            onset = contact.touch(*self.places(x), at_onset=True)
            mode = contact.next_mode(x.mode[0], (fired[0], fired[1]), onset)
            return State(x.q, x.v, (mode,), x.memory)
        v, mode, hit = next_state(self, contact, x, fired)
        work = x.memory.contact_work - jnp.where(fired[0], hit.loss, 0.0)
        return State(x.q, v, (mode,), x.memory._replace(contact_work=work, hit=hit))

    def emitting(self, x: State) -> Bool[Array, ""]:
        return jnp.asarray(False) if self.contact is None else x.mode[0] != APART

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


def normalised(q: Configuration) -> Configuration:
    """Quaternions of unit length."""
    attitude = q.attitude / jnp.linalg.norm(q.attitude)
    balls = q.balls / jnp.linalg.norm(q.balls, axis=-1, keepdims=True) if q.balls.shape[0] else q.balls
    return Configuration(q.position, attitude, q.joints, balls, q.modes)
