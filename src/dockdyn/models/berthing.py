"""Berthing: a chaser with an arm meets a payload, both trees of rigid and flexible links (Cyril et al.).

They touch at t = 0: an impact law gives the velocities after. What the law joins stays joined, as a pin or a weld.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.linalg import block_diag, cho_factor, cho_solve
from jaxtyping import Array, Bool, Float

from dockdyn.control.joint_control import JointControl
from dockdyn.impact.contact_matrix import constrained_contact_matrix, contact_matrix, lock, velocity_jump
from dockdyn.impact.laws import resolve
from dockdyn.impact.result import Impact
from dockdyn.integrate.model import Model, Rate, Scalar, Sensed, State
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
    control: JointControl | None
    delay: None
    planar: bool = eqx.field(static=True)

    def initial(self) -> State:
        q = (self.sides[0].configuration, self.sides[1].configuration)
        return State(q, self.struck().velocities, (), Memory(jnp.zeros(()), jnp.zeros(3)))

    def names(self) -> list[str]:
        found = []
        for word in ("position", "velocity"):
            for side, name in zip(self.sides, ("chaser", "target"), strict=True):
                if word == "velocity":
                    found += [f"rate of {name} {coordinate}" for coordinate in side.tree.names()]
                else:
                    count = sum(leaf.size for leaf in jax.tree.leaves(side.configuration))
                    found += [f"configuration of {name}"] * count
        return [*found, "work of control", "momentum of the wheel"]

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

    def torques(self, x: State) -> Row:
        """Generalised forces of control on the chaser."""
        chaser = self.sides[0].tree
        if self.control is None:
            return jnp.zeros_like(x.v[0])
        return self.control.torques(chaser, x.q[0], x.v[0])

    def accelerations(self, x: State) -> tuple[tuple[Row, Row], Float[Array, "rows"], Row]:
        """Rates of both velocities, the forces along the constraints' rows, and those of control."""
        mass, bias, motions = self.dynamics(x.q, x.v)
        torques = self.torques(x)
        load = -bias.at[: torques.shape[0]].add(-torques)
        rows, drift = self.constraints(motions)
        factor = cho_factor(mass)
        solved = cho_solve(factor, jnp.concatenate([rows, load[None]]).T)
        free, held = solved[:, -1], solved[:, :-1]
        force = jnp.zeros(0)
        if rows.shape[0]:
            force = -jnp.linalg.solve(rows @ held, rows @ free + drift)
        v = free + held @ force
        count = x.v[0].shape[0]
        return (v[:count], v[count:]), force, torques

    def flow(self, t: Scalar, x: State, delayed: Any) -> Rate:
        v, _, torques = self.accelerations(x)
        q = tuple(side.tree.rate(a, b) for side, a, b in zip(self.sides, x.q, x.v, strict=True))
        wheel = jnp.zeros(3)
        if self.control is not None:
            # the wheel turns with the base, and the torque on the base is all that its momentum does to it
            turning = base_rate(self.sides[0].tree, x.v[0])
            wheel = -self.control.wheel(self.sides[0].tree, torques) - jnp.cross(turning, x.memory.wheel)
        return Rate(q, v, Memory(torques @ x.v[0], wheel))

    def sense(self, t: Scalar, x: State) -> Sensed:
        return Sensed((), (), ())

    def jump(self, t: Scalar, x: State, fired: tuple[Bool[Array, ""], ...]) -> State:
        return x

    def emitting(self, x: State) -> Bool[Array, ""]:
        return jnp.asarray(False)

    def retract(self, x: State) -> State:
        return State(tuple(normalised(q) for q in x.q), x.v, x.mode, x.memory)


def base_rate(tree: Tree, v: Row) -> Float[Array, "3"]:
    """Angular velocity of the base (rad/s, base axes)."""
    if tree.layout.base == "free":
        return v[3:6]
    return jnp.zeros(3).at[2].set(v[2]) if tree.layout.base == "planar" else jnp.zeros(3)


def normalised(q: Configuration) -> Configuration:
    """Quaternions of unit length."""
    attitude = q.attitude / jnp.linalg.norm(q.attitude)
    balls = q.balls / jnp.linalg.norm(q.balls, axis=-1, keepdims=True) if q.balls.shape[0] else q.balls
    return Configuration(q.position, attitude, q.joints, balls, q.modes)


def observe(model: Berthing, x: State) -> dict[str, Array]:
    """Named quantities at an instant; chaser and target along the first axis of momenta."""
    _, force, torques = model.accelerations(x)
    chaser = model.sides[0].tree
    momenta = [momentum(side.tree, q, v) for side, q, v in zip(model.sides, x.q, x.v, strict=True)]
    linear, angular = (jnp.stack(parts) for parts in zip(*momenta, strict=True))
    wheel = Quaternion.of(x.q[0].attitude).matrix().array() @ x.memory.wheel
    tips = jnp.einsum("lim,lm->li", chaser.links.tip_shift, chaser.modal_coordinates(x.q[0]))
    energies = [
        (side.tree.kinetic_energy(q, v), side.tree.potential_energy(q))
        for side, q, v in zip(model.sides, x.q, x.v, strict=True)
    ]
    return {
        "joint_angle": x.q[0].joints,
        "ball_attitude": x.q[0].balls,
        "coordinate_rate": x.v[0],
        "target_coordinate_rate": x.v[1],
        "base_position": jnp.stack([q.position for q in x.q]),
        "base_attitude": jnp.stack([q.attitude for q in x.q]),
        "modal_coordinate": x.q[0].modes,
        "tip_deflection": jnp.linalg.norm(tips, axis=-1),
        "hold_force": holding_force(model, force),
        "torque": torques,
        "outline": outlines(model, x),
        "kinetic_energy": energies[0][0] + energies[1][0],
        "potential_energy": energies[0][1] + energies[1][1],
        "work": x.memory.work,
        "wheel_momentum": x.memory.wheel,
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


def momentum(tree: Tree, q: Configuration, v: Row) -> tuple[Float[Array, "3"], Float[Array, "3"]]:
    """Linear momentum (N s) and angular momentum about the inertial origin (N m s) of a tree on a free or planar base."""
    found = tree.dynamics(q, v)[0] @ v
    turn = Quaternion.of(q.attitude).matrix().array()
    zero = jnp.zeros(())
    if tree.layout.base == "planar":
        linear, angular = jnp.stack([found[0], found[1], zero]), jnp.stack([zero, zero, found[2]])
    else:
        linear, angular = found[:3], found[3:6]
    linear = turn @ linear
    return linear, turn @ angular + jnp.cross(q.position, linear)
