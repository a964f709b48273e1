"""Berthing: a chaser with an arm meets a payload, both trees of rigid and flexible links (Cyril et al.).

They touch at t = 0: an impact law gives the velocities after. What the law joins stays joined, as a pin or a weld.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.linalg import block_diag
from jaxtyping import Array, Bool, Float

from dockdyn.control.actuators import Actuation, Actuators
from dockdyn.control.plant import Law, Plant, moving_columns, turning_axes, turning_columns
from dockdyn.impact.contact_matrix import constrained_contact_matrix, contact_matrix, lock, velocity_jump
from dockdyn.impact.laws import resolve
from dockdyn.impact.result import Impact
from dockdyn.integrate.model import Model, Rate, Scalar, Sensed, State
from dockdyn.mechanics.constrained import constrained
from dockdyn.mechanics.momentum import together
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.tree import Configuration, Motion, Tree

Row = Float[Array, "n"]
HOLDS = {"pin": False, "weld": True}  # laws that join: whether they end turning, too


class Side(eqx.Module):
    """A tree, how it starts and which of its link frames touches."""

    tree: Tree
    configuration: Configuration
    velocities: Row
    grip: int = eqx.field(static=True)


class ImpactLaw(eqx.Module):
    """A law of `dockdyn.impact.LAWS` with its parameters."""

    parameters: dict[str, Float[Array, ""]]
    name: str = eqx.field(static=True)


class Memory(NamedTuple):
    """What control has done."""

    work: Scalar  # J, on the chaser
    wheel: Float[Array, "3"]  # N m s, angular momentum of the base's wheel, base axes
    impulse: Float[Array, "3"]  # N s, of thrusters, inertial
    turning_impulse: Float[Array, "3"]  # N m s, of thrusters about the inertial origin
    used: Float[Array, "2"]  # N s, N m s: sums over the base's axes of what thrusters have given, by size

    @staticmethod
    def nothing() -> Memory:
        return Memory(jnp.zeros(()), jnp.zeros(3), jnp.zeros(3), jnp.zeros(3), jnp.zeros(2))


class Control(eqx.Module):
    """A law and what it acts through."""

    law: Law
    actuators: Actuators


class Approach(NamedTuple):
    """The contact just before the impact, joints locked."""

    mass: Float[Array, "n n"]  # of both trees
    rows: Float[Array, "rows n"]  # contact velocities by all velocities: normal, tangents, moments
    matrix: Float[Array, "rows rows"]  # W
    velocities: Row
    lock_loss: Scalar  # J


class Struck(NamedTuple):
    """What the impact at t = 0 did."""

    velocities: tuple[Row, Row]  # after
    impact: Impact  # rows: normal, tangents, moments
    lock_loss: Scalar  # J, taken when joints were locked just before


class Berthing(Model):
    """Chaser and target from the instant they touch. State: `q` configurations, `v` velocities of both trees."""

    sides: tuple[Side, Side]
    law: ImpactLaw
    normal: Float[Array, "3"]  # from the target to the chaser, inertial
    locks: Float[Array, "locks n"]  # rows of chaser velocities that are held at zero
    control: Control | None
    delay: None
    planar: bool = eqx.field(static=True)

    def initial(self) -> State:
        q = (self.sides[0].configuration, self.sides[1].configuration)
        return State(q, self.struck().velocities, (), Memory.nothing())

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
        return [*found, *["use of thrusters"] * 2]

    def approach(self) -> Approach:
        """What the impact law is given: the contact once the locked joints have stopped, momentum kept."""
        q = [side.configuration for side in self.sides]
        mass, _, motions = self.dynamics(q, [side.velocities for side in self.sides])
        v = jnp.concatenate([side.velocities for side in self.sides])
        rows = self.contact_axes(self.law.name) @ self.slip_jacobian(motions, HOLDS.get(self.law.name, False))
        if not self.locks.shape[0]:
            return Approach(mass, rows, contact_matrix(rows, mass), v, jnp.zeros(()))
        locked = lock(mass, self.lock_rows(), v)
        loss = 0.5 * (v @ mass @ v - locked @ mass @ locked)
        return Approach(mass, rows, constrained_contact_matrix(rows, mass, self.lock_rows()), locked, loss)

    def struck(self) -> Struck:
        """The impact."""
        found = self.approach()
        impact = resolve(self.law.name, found.matrix, found.rows @ found.velocities, **self.law.parameters)
        held = self.lock_rows() if self.locks.shape[0] else None
        after = found.velocities + velocity_jump(found.rows, found.mass, impact.impulse, held)
        count = self.sides[0].velocities.shape[0]
        return Struck((after[:count], after[count:]), impact, found.lock_loss)

    def lock_rows(self) -> Float[Array, "locks n"]:
        """The locks as rows of all velocities."""
        return jnp.pad(self.locks, ((0, 0), (0, self.sides[1].velocities.shape[0])))

    def dynamics(self, q: Any, v: Any) -> tuple[Float[Array, "n n"], Row, list[Motion]]:
        """Mass matrix and bias of both trees, and their motions."""
        found = [side.tree.dynamics(a, b) for side, a, b in zip(self.sides, q, v, strict=True)]
        return (
            block_diag(*(part[0] for part in found)),
            jnp.concatenate([part[1] for part in found]),
            [f[2] for f in found],
        )

    def slip_jacobian(self, motions: list[Motion], turning: bool) -> Float[Array, "rows n"]:
        """Velocity of the chaser's grip less the target's by all velocities, inertial axes; turning (rad/s) after."""
        parts = []
        for side, motion, sign in zip(self.sides, motions, (1.0, -1.0), strict=True):
            turn, own = motion.rotation[side.grip], motion.jacobian[side.grip]
            parts.append(sign * jnp.concatenate([turn @ own[:3], turn @ own[3:]]))
        return jnp.concatenate(parts, axis=1)[self.kept(turning)]

    def slip_bias(self, motions: list[Motion], turning: bool) -> Float[Array, "rows"]:
        """Rate of the same velocity at constant velocities of the trees."""
        found = jnp.zeros(6)
        for side, motion, sign in zip(self.sides, motions, (1.0, -1.0), strict=True):
            turn, bias, twist = (part[side.grip] for part in (motion.rotation, motion.bias, motion.twist))
            found += sign * jnp.concatenate([turn @ (bias[:3] + jnp.cross(twist[3:], twist[:3])), turn @ bias[3:]])
        return found[self.kept(turning)]

    def kept(self, turning: bool) -> Array:
        """Rows of a relative twist that count: in the plane x, y and yaw."""
        moving, spinning = ([0, 1], [5]) if self.planar else ([0, 1, 2], [3, 4, 5])
        return jnp.array(moving + (spinning if turning else []))

    def contact_axes(self, law: str) -> Float[Array, "rows rows"]:
        """Rows of normal and tangents (and moments) in inertial axes."""
        n = self.normal / jnp.linalg.norm(self.normal)
        turning = HOLDS.get(law, False)
        if self.planar:
            axes = jnp.array([[n[0], n[1]], [-n[1], n[0]]])
            return block_diag(axes, jnp.eye(1)) if turning else axes
        spare = jnp.eye(3)[jnp.argmin(jnp.abs(n))]
        along = jnp.cross(n, spare)
        along = along / jnp.linalg.norm(along)
        axes = jnp.stack([n, along, jnp.cross(n, along)])
        return block_diag(axes, axes) if turning else axes

    def constraints(self, motions: list[Motion]) -> tuple[Float[Array, "rows n"], Float[Array, "rows"]]:
        """Rows A and bias of all that is held: A v̇ + bias = 0."""
        rows, bias = self.lock_rows(), jnp.zeros(self.locks.shape[0])
        if self.law.name in HOLDS:
            turning = HOLDS[self.law.name]
            rows = jnp.concatenate([self.slip_jacobian(motions, turning), rows])
            bias = jnp.concatenate([self.slip_bias(motions, turning), bias])
        return rows, bias

    def plant(self, x: State) -> Plant:
        """What control acts on."""
        mass, bias, motions = self.dynamics(x.q, x.v)
        rows, drift = self.constraints(motions)
        trees = (self.sides[0].tree, self.sides[1].tree)
        return Plant(trees, x.q, jnp.concatenate(x.v), mass, bias, rows, drift, x.memory.wheel, x.memory.used)

    def actuation(self, plant: Plant) -> Actuation:
        """What control gives."""
        if self.control is None:
            return Actuation(jnp.zeros(plant.own), jnp.zeros(3), jnp.zeros(3), jnp.zeros(3))
        return self.control.law.act(plant, self.control.actuators)

    def forces(self, given: Actuation) -> Row:
        """Generalised forces on the chaser of what control gives."""
        tree = self.sides[0].tree
        return given.forces(moving_columns(tree), turning_columns(tree), turning_axes(tree))

    def respond(self, plant: Plant, forces: Row) -> tuple[Row, Float[Array, "rows"]]:
        """Rates of all velocities under forces on the chaser, and the forces along the constraints' rows."""
        load = (-plant.bias).at[: forces.shape[0]].add(forces)
        v, force = constrained(plant.mass, plant.rows, plant.drift[:, None], load[:, None])
        return v[:, 0], force[:, 0]

    def flow(self, t: Scalar, x: State, delayed: Any) -> Rate:
        plant = self.plant(x)
        given = self.actuation(plant)
        forces = self.forces(given)
        v, _ = self.respond(plant, forces)
        q = tuple(side.tree.rate(a, b) for side, a, b in zip(self.sides, x.q, x.v, strict=True))
        return Rate(q, (v[: plant.own], v[plant.own :]), self.booked(plant, given, forces))

    def booked(self, plant: Plant, given: Actuation, forces: Row) -> Memory:
        """Rates of what control has done."""
        turn = Quaternion.of(plant.q[0].attitude).matrix().array()
        thrust = turn @ given.thrust
        return Memory(
            work=forces @ plant.v[: plant.own],
            # the wheel turns with the base, and the torque on the base is all that its momentum does to it
            wheel=-given.wheel - jnp.cross(plant.turning(), plant.wheel),
            impulse=thrust,
            turning_impulse=turn @ given.jets + jnp.cross(plant.q[0].position, thrust),
            used=jnp.stack([jnp.sum(jnp.abs(given.thrust)), jnp.sum(jnp.abs(given.jets))]),
        )

    def sense(self, t: Scalar, x: State) -> Sensed:
        return Sensed((), (), ())

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        return x

    def emitting(self, x: State) -> Bool[Array, ""]:
        return jnp.asarray(False)

    def retract(self, x: State) -> State:
        return State(tuple(normalised(q) for q in x.q), x.v, x.mode, x.memory)


def normalised(q: Configuration) -> Configuration:
    """Quaternions of unit length."""
    attitude = q.attitude / jnp.linalg.norm(q.attitude)
    balls = q.balls / jnp.linalg.norm(q.balls, axis=-1, keepdims=True) if q.balls.shape[0] else q.balls
    return Configuration(q.position, attitude, q.joints, balls, q.modes)


def observe(model: Berthing, x: State) -> dict[str, Array]:
    """Named quantities at an instant; chaser and target along the first axis of momenta."""
    plant = model.plant(x)
    given = model.actuation(plant)
    torques = model.forces(given)
    _, force = model.respond(plant, torques)
    chaser = model.sides[0].tree
    momenta = plant.momenta()
    linear, angular = (jnp.stack([getattr(part, name) for part in momenta]) for name in ("linear", "angular"))
    wheel = Quaternion.of(x.q[0].attitude).matrix().array() @ x.memory.wheel
    tips = jnp.einsum("lim,lm->li", chaser.links.tip_shift, chaser.modal_coordinates(x.q[0]))
    energies = [
        (side.tree.kinetic_energy(q, v), side.tree.potential_energy(q))
        for side, q, v in zip(model.sides, x.q, x.v, strict=True)
    ]
    return {
        "joint_angle": x.q[0].joints,
        "coordinate_rate": x.v[0],
        "target_coordinate_rate": x.v[1],
        "base_position": jnp.stack([q.position for q in x.q]),
        "base_attitude": jnp.stack([q.attitude for q in x.q]),
        "modal_coordinate": x.q[0].modes,
        "tip_deflection": jnp.linalg.norm(tips, axis=-1),
        "hold_force": holding_force(model, force),
        "torque": torques,
        "wheel_torque": given.wheel,
        "thruster_force": given.thrust,
        "thruster_torque": given.jets,
        "outline": outlines(model, x),
        "kinetic_energy": energies[0][0] + energies[1][0],
        "potential_energy": energies[0][1] + energies[1][1],
        "work": x.memory.work,
        "wheel_momentum": x.memory.wheel,
        "thruster_impulse": x.memory.impulse,
        "thruster_turning_impulse": x.memory.turning_impulse,
        "thruster_use": x.memory.used,
        "spin_momentum": together(momenta).spin(),
        "linear_momentum": linear.sum(0),
        "angular_momentum": angular.sum(0) + wheel,
        "linear_momentum_scale": jnp.linalg.norm(linear, axis=-1).sum(),
        "angular_momentum_scale": jnp.linalg.norm(angular, axis=-1).sum() + jnp.linalg.norm(wheel),
    }


def outlines(model: Berthing, x: State) -> Float[Array, "2 links 3"]:
    """Origins of all link frames (m, inertial) of chaser and target, in the order of the tree; NaN pads the shorter."""
    found = [side.tree.motion(q, v).position for side, q, v in zip(model.sides, x.q, x.v, strict=True)]
    longest = max(len(part) for part in found)
    padded = [jnp.pad(part, ((0, longest - len(part)), (0, 0)), constant_values=jnp.nan) for part in found]
    return jnp.stack(padded)


def holding_force(model: Berthing, force: Float[Array, "rows"]) -> Float[Array, "3"]:
    """Force (N, inertial) by which what the law joined is held on the chaser's side; zero where nothing is."""
    if model.law.name not in HOLDS:
        return jnp.zeros(3)
    return jnp.zeros(3).at[:2].set(force[:2]) if model.planar else force[:3]
