"""Two virtual bodies whose relative motion a robot carries out: the plant of a rig with six degrees of freedom.

Units: SI: m, rad, m/s, rad/s, N, N m.
Source: Sazawal et al., eqs. 1–16, in the virtual bodies; own construction of the port.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.contact.group import ContactGroup
from dockdyn.integrate.hybrid.runge_kutta import rk4
from dockdyn.integrate.model import Rate, Scalar, State
from dockdyn.kinds.rig.model.hardware import load_of, touching_of
from dockdyn.kinds.rig.model.in_space import PlantInSpace, Q, V, moved
from dockdyn.kinds.rig.model.plant import Axes, Modes, Touching
from dockdyn.mechanics.rigid_body import Pose, RigidBody, internal_energy
from dockdyn.mechanics.vector import Vector
from dockdyn.parameters import Dynamics


class Bodies(PlantInSpace):
    """Chaser and target in the computer; in the laboratory the target's mock-up stands and a robot carries the chaser's.

    The laboratory's axes are the target's. The robot's axes are the place of the chaser's centre of mass (m) and the
    rotation vector (rad) by which the chaser has turned since t = 0, both in the laboratory. The measured load is the
    force on the chaser and the torque about its centre of mass; the target receives its reaction where the virtual bodies
    stand, so momentum is kept whatever the robot does. The port is the feature of the first contact.
    """

    bodies: tuple[RigidBody, ...]  # chaser and target
    contacts: tuple[ContactGroup, ...]  # of which 0 is the chaser
    virtual: tuple[ContactGroup, ...]  # computed in software
    poses: Q  # at t = 0
    twists: V  # at t = 0
    mass: Float[Array, ""]

    def initial(self) -> State:
        return State(self.poses, self.twists, (), ())

    def starts(self) -> Q:
        return self.poses

    def pair(self, motion: State) -> tuple[Q, V]:
        return motion.q, motion.v

    def accelerations(self, motion: State, load: Axes) -> V:
        return self.flow(motion, load).v

    def load(self, pose: Axes, rate: Axes, modes: Modes | None = None) -> Axes:
        return load_of(self.contacts, 0, self.placed(pose, rate), modes)

    def virtual_load(self, pose: Axes, rate: Axes, modes: Modes | None = None) -> Axes:
        return load_of(self.virtual, 0, self.placed(pose, rate), modes) if self.virtual else jnp.zeros(6)

    def touching(self, pose: Axes, rate: Axes, at_onset: bool = False) -> Touching:
        return touching_of(self.contacts, 0, self.placed(pose, rate))

    def virtual_touching(self, pose: Axes, rate: Axes, at_onset: bool = False) -> Touching:
        return touching_of(self.virtual, 0, self.placed(pose, rate)) if self.virtual else ()

    def unit_load(self, contact: int) -> Axes:
        """The load (N, N m) on the chaser of a unit normal force in a contact of bodies at rest, as they are at t = 0."""
        places, group = self.placed(self.pose(self.initial()), jnp.zeros(6)), self.contacts[contact]
        own, other = places if group.first == 0 else places[::-1]
        touch = group.member().touch(own, other)
        force = touch.normal if group.first == 0 else -touch.normal
        torque = (touch.point - places[0].pose.position).cross(force)
        return jnp.concatenate([force.array(), torque.array()])

    def touching_point(self) -> Vector:
        """What touches (m, chaser's axes): the feature, or the surface's reference point."""
        group = self.contacts[0]
        if group.first == 0:
            return Vector.of(group.place)
        assert group.surface is not None
        return group.surface.reference()

    def flow(self, motion: State, load: Axes) -> Rate:
        chaser, target = motion.q
        force, torque = Vector.of(load[:3]), Vector.of(load[3:])
        frame = target.attitude.matrix()
        place = frame.transposed_times(chaser.position - target.position)
        inertial = frame @ force
        on_chaser = chaser.attitude.matrix().transposed_times(frame @ torque)
        on_target = -(torque + place.cross(force))
        first, second = self.bodies
        v = (
            first.acceleration(motion.v[0], inertial, on_chaser),
            second.acceleration(motion.v[1], -inertial, on_target),
        )
        return Rate(moved(motion.v, motion.q), v, ())

    def stepped(self, time: Scalar, motion: State, load: Axes, period: Scalar, method: Dynamics) -> State:
        """The load is held in inertial axes and on the bodies where they stand at the step's start.

        "zero-order-hold" is a Runge–Kutta step, exact to its order where a body turns.
        """
        start = self.flow(motion, load)
        if method == "zero-order-hold":
            return self.retract(rk4(lambda share, there: self.held(motion, there, load), motion, period, start))
        speed = jax.tree.map(lambda v, a: v + period * a, motion.v, start.v)
        moves = moved(speed if method == "semi-implicit-euler" else motion.v, motion.q)
        place = jax.tree.map(lambda q, r: q + period * r, motion.q, moves)
        return self.retract(State(place, speed, (), ()))

    def held(self, begun: State, there: State, load: Axes) -> Rate:
        """Rate under the load of a step that has `begun` earlier, its force kept in inertial axes."""
        frame, now = (state.q[1].attitude.matrix() for state in (begun, there))
        turned = [now.transposed_times(frame @ Vector.of(part)).array() for part in (load[:3], load[3:])]
        return self.flow(there, jnp.concatenate(turned))

    def retract(self, motion: State) -> State:
        poses = tuple(Pose(pose.position, pose.attitude.normalised()) for pose in motion.q)
        return State(poses, motion.v, (), ())

    def kinetic_energy(self, motion: State) -> Scalar:
        return sum((body.kinetic_energy(v) for body, v in zip(self.bodies, motion.v, strict=True)), jnp.zeros(()))

    def internal_energy(self, motion: State) -> Scalar:
        return internal_energy(self.bodies, motion.v)
