"""Rigid bodies with force elements between them and nothing else, as a model of the product's integrator."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dockdyn.elements import Anchors, ForceElement
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.model import Model, Outputs, Rate, State
from dockdyn.integrate.solution import Status
from dockdyn.mechanics.reflected import coupled_acceleration
from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist, pair_momentum
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program


class Joint(eqx.Module):
    """An element and the two bodies that it is between."""

    element: ForceElement
    own: int = eqx.field(static=True)
    other: int = eqx.field(static=True)


class ElementSystem(Model):
    bodies: tuple[RigidBody, ...]
    poses: tuple[Pose, ...]
    twists: tuple[Twist, ...]
    joints: tuple[Joint, ...]
    delay: None

    def initial(self) -> State:
        places = tuple(map(Placed.of, self.poses, self.twists))
        sides = [(joint.element, places[joint.own], places[joint.other]) for joint in self.joints]
        settled = [element.settle(element.init(*pair), *pair) for element, *pair in sides]
        return State(self.poses, self.twists, tuple(m for m, _ in settled), tuple(m for _, m in settled))

    def sides(self, x: State) -> list[tuple[Any, ...]]:
        """Element, modes, memory and the two bodies, of each joint."""
        places = tuple(map(Placed.of, x.q, x.v))
        rows = zip(self.joints, x.mode, x.memory, strict=True)
        return [(j.element, mode, memory, places[j.own], places[j.other]) for j, mode, memory in rows]

    def flow(self, t, x: State, delayed) -> Rate:
        forces, torques = [Vector.zero()] * len(x.q), [Vector.zero()] * len(x.q)
        rates, reflected = [], []
        for joint, (element, mode, memory, own, other) in zip(self.joints, self.sides(x), strict=True):
            action, rate = element.act(mode, memory, own, other)
            rates.append(rate)
            for at, body, sign in ((joint.own, own, 1.0), (joint.other, other, -1.0)):
                force, torque = action.on(body)
                forces[at], torques[at] = forces[at] + force * sign, torques[at] + torque * sign
            inertia = element.reflected(own, other)
            if inertia is not None:
                reflected.append((joint.own, joint.other, inertia))
        v, _ = coupled_acceleration(self.bodies, x.v, forces, torques, reflected)
        q = tuple(Pose(twist.velocity, pose.attitude.rate(twist.rate)) for pose, twist in zip(x.q, x.v, strict=True))
        return Rate(q, v, tuple(rates))

    def outputs(self, t, x: State) -> Outputs:
        return Outputs((), tuple(g for element, *rest in self.sides(x) for g in element.guards(*rest)), ())

    def jump(self, t, x: State, fired) -> State:
        after = []
        for element, mode, memory, *pair in self.sides(x):
            count = len(element.guards(mode, memory, *pair))
            after.append(element.jump(mode, fired[:count], memory, *pair))
            fired = fired[count:]
        return State(x.q, x.v, tuple(m for m, _ in after), tuple(m for _, m in after))

    def retract(self, x: State) -> State:
        return State(tuple(Pose(pose.position, pose.attitude.normalised()) for pose in x.q), x.v, x.mode, x.memory)

    def balance(self, x: State) -> dict[str, Any]:
        """Energies (J) and momenta of a state."""
        moving = sum(body.kinetic_energy(twist) for body, twist in zip(self.bodies, x.v, strict=True))
        stored = lost = work = jnp.zeros(())
        for element, mode, memory, *pair in self.sides(x):
            inertia = element.reflected(*pair)
            moving = moving + (0.0 if inertia is None else inertia.kinetic_energy())
            stored += element.stored_energy(mode, memory, *pair)
            lost += 0.0 if memory.dissipated is None else jnp.sum(memory.dissipated)
            work += 0.0 if memory.work is None else jnp.sum(memory.work)
        linear, angular, *scales = pair_momentum(self.bodies, x.q, x.v)
        return {
            "moving": moving,
            "stored": stored,
            "lost": lost,
            "work": work,
            "linear": linear.array(),
            "angular": angular.array(),
            "scales": jnp.stack(scales),
        }


def _solved(system: ElementSystem, settings: located.Settings) -> Any:
    found = located.solve_located(system, settings)
    return found, jax.lax.map(system.balance, found.samples.state)


def _observations(system: ElementSystem, states: State) -> Any:
    def one(x: State) -> Any:
        return [element.observe(*rest) for element, *rest in system.sides(x)]

    return jax.lax.map(one, states)


solved, observations = Program(_solved), Program(_observations)


class Run:
    """A run as NumPy arrays: samples, balances there, and the log of events."""

    def __init__(
        self,
        system: ElementSystem,
        duration: float,
        step=5e-3,
        tolerance=1e-11,
        samples=101,
        moments=256,
        finished=True,
    ):
        settings = located.Settings(
            jnp.asarray(duration), jnp.asarray(step), jnp.asarray(tolerance), jnp.asarray(duration / (samples - 1)),
            samples=samples, max_moments=moments, line_capacity=0,
        )  # fmt: skip
        self.model = system
        self.solution, self.balance = jax.tree.map(np.asarray, solved(system, settings))
        assert not finished or self.solution.status == Status.FINISHED, self.solution.status
        self.events = int(self.solution.moments) - 1  # the last is the end
        self.times = np.linspace(0.0, duration, samples)

    def after_events(self) -> State:
        """States just after each event, with a leading axis."""
        return jax.tree.map(lambda a: a[: self.events], self.solution.log.state)

    def energy_error(self) -> float:
        """Largest error of the balance of energy, of the largest of its parts."""
        b = self.balance
        total = b["moving"] + b["stored"] + b["lost"] - b["work"]
        size = max(np.abs(b[part]).max() for part in ("moving", "stored", "lost", "work"))
        return np.abs(total - total[0]).max() / size

    def momentum_errors(self) -> tuple[float, float]:
        """Largest errors of linear and of angular momentum, of their scales."""
        scales = self.balance["scales"].max(axis=0)
        linear, angular = (
            float(np.abs(self.balance[name] - self.balance[name][0]).max() / scale)
            for name, scale in zip(("linear", "angular"), scales, strict=True)
        )
        return linear, angular

    def observed(self, joint: int, states: State | None = None) -> dict[str, np.ndarray]:
        """What is observed of a joint's element, at the samples unless `states` are given."""
        states = self.solution.samples.state if states is None else states
        return jax.tree.map(np.asarray, observations(self.model, states)[joint])


def system(bodies, poses, twists, *joints: tuple[ForceElement, int, int]) -> ElementSystem:
    """Bodies, their motion at t = 0, and elements between two of them each."""
    joined = tuple(Joint(*joint) for joint in joints)
    return ElementSystem(bodies=tuple(bodies), poses=tuple(poses), twists=tuple(twists), joints=joined, delay=None)


def body(mass: float, diagonal, off=(0.0, 0.0, 0.0)) -> RigidBody:
    """A body of a mass (kg) and moments and products of inertia (kg m²)."""
    (a, b, c), (d, e, f) = diagonal, off
    return RigidBody.of(mass, [[a, d, e], [d, b, f], [e, f, c]])


def pose(position, rotation=(0.0, 0.0, 0.0)) -> Pose:
    """A pose at a position (m), turned by a rotation vector (rad)."""
    return Pose.at(position, Quaternion.exponential(Vector.of(jnp.asarray(rotation, float))))


def numbers(**fields: float) -> dict[str, Any]:
    """Fields as arrays."""
    return {name: jnp.asarray(value, float) for name, value in fields.items()}


def anchors(own, other):
    """Anchors of two places (m, body axes)."""
    return Anchors(jnp.asarray(own, float), jnp.asarray(other, float))
