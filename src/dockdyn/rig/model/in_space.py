"""A mechanism two of whose bodies meet in hardware: the plant of a rig with six degrees of freedom.

Units: SI: m, rad, m/s, rad/s, N, N m.
Source: kinematics of two bodies; own construction of the port.
"""

from __future__ import annotations

from dockdyn.contact.group import ContactGroup, Wrench
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.hil.mounting import Known, SensorFrame, Tool
from dockdyn.integrate.model import Scalar, State
from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Matrix, Vector, once
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.rig.model.mounted_plant import MountedPlant
from dockdyn.rig.model.plant import Axes, Port

Q = tuple[Pose, Pose]
V = tuple[Twist, Twist]


class PlantInSpace(MountedPlant):
    """Mock-ups in space.

    The robot's axes are the place of the centre of mass of what is carried (m) and the rotation vector (rad) by which it has
    turned since t = 0, both in the laboratory. The measured load is the force on the mock-up that is carried and the torque
    about its centre of mass. It is held in inertial axes. The port is a point of what is carried.
    """

    model: Mechanism  # without delay; the first of its groups is what is measured, on the body that is carried
    hardware: tuple[ContactGroup, ...]
    virtual: tuple[ContactGroup, ...]  # of the same two bodies, computed whenever the load is measured
    place: Float[Array, "3"]  # m, of the port, axes of what is carried
    mass: Float[Array, ""]

    axes = 6
    port_axes = 3

    def starts(self) -> Q:
        """Return poses of the two at t = 0."""
        carried, standing = (self.model.poses[number] for number in self.numbers)
        return carried, standing

    def pair(self, motion: State) -> tuple[Q, V]:
        """Return poses and twists of the two."""
        carried, standing = self.mounted(motion)
        return (carried.pose, standing.pose), (carried.twist, standing.twist)

    def in_axes(self, wrench: Wrench) -> Axes:
        return jnp.concatenate([wrench.force.array(), wrench.moment.array()])

    def inertial(self, motion: State, load: Axes) -> Wrench:
        frame = self.mounted(motion)[1].rotation
        return once(Wrench(frame @ Vector.of(load[:3]), frame @ Vector.of(load[3:])))

    def relative(self, q: Q) -> Axes:
        """Return the pose of the robot's axes."""
        carried, standing = q
        back = standing.attitude.conjugate()
        place = standing.attitude.matrix().transposed_times(carried.position - standing.position)
        turned = back * carried.attitude * reference_of(self.starts()).conjugate()
        return jnp.concatenate([place.array(), turned.logarithm().array()])

    def relative_rate(self, q: Q, v: V) -> Axes:
        """Return the rate of the robot's axes."""
        return jax.jvp(self.relative, (q,), (configuration_rate(v, q),))[1]

    def pose(self, motion: State) -> Axes:
        return self.relative(self.pair(motion)[0])

    def rate(self, motion: State) -> Axes:
        return self.relative_rate(*self.pair(motion))

    def acceleration(self, motion: State, load: Axes) -> Axes:
        q, v = self.pair(motion)
        return jax.jvp(self.relative_rate, (q, v), (configuration_rate(v, q), self.accelerations(motion, load)))[1]

    def placed(self, pose: Axes, rate: Axes) -> tuple[Placed, Placed]:
        """Return the two mock-ups in the laboratory."""
        level = Quaternion.of(jnp.array([1.0, 0.0, 0.0, 0.0]))
        standing = Placed.of(Pose(Vector.zero(), level), Twist(Vector.zero(), Vector.zero()))
        return carried_at(reference_of(self.starts()), pose, rate), standing

    def port(self, pose: Axes, rate: Axes) -> tuple[Port, Port]:
        carried, _ = self.placed(pose, rate)
        point = carried.point(Vector.of(self.place))
        return point.array(), carried.velocity(point).array()

    def contact_power(self, load: Axes, pose: Axes, rate: Axes) -> Scalar:
        carried, _ = self.placed(pose, rate)
        return Vector.of(load[:3]).dot(carried.twist.velocity) + Vector.of(load[3:]).dot(carried.rate)

    def tool_load(self, tool: Tool, gravity: Axes, moves: Known) -> Axes:
        pose, rate = moves.pose, moves.rate
        reference = reference_of(self.starts())
        centre = jnp.zeros(3) if tool.centre is None else tool.centre

        def lever(pose: Axes) -> Array:
            """Return the way from the centre of mass of what is carried to that of the tool (m)."""
            return (turned_by(reference, pose).matrix() @ Vector.of(centre)).array()

        def velocity(pose: Axes, rate: Axes) -> Array:
            return rate[:3] + jax.jvp(lever, (pose,), (rate,))[1]

        def spin(pose: Axes, rate: Axes) -> Array:
            if tool.inertia is None:
                return jnp.zeros(3)
            carried = carried_at(reference, pose, rate)
            return (carried.rotation @ (Matrix.of(tool.inertia) @ carried.twist.rate)).array()

        change = (rate, moves.acceleration)
        force = tool.mass * (gravity - jax.jvp(velocity, (pose, rate), change)[1])
        torque = jnp.cross(lever(pose), force) - jax.jvp(spin, (pose, rate), change)[1]
        return jnp.concatenate([force, torque])

    def in_sensor(self, frame: SensorFrame, load: Axes, pose: Axes) -> Axes:
        turn, lever = self._sensor_at(frame, pose)
        force = Vector.of(load[:3])
        torque = Vector.of(load[3:]) - lever.cross(force)
        return jnp.concatenate([turn.transposed_times(force).array(), turn.transposed_times(torque).array()])

    def from_sensor(self, frame: SensorFrame, reading: Axes, pose: Axes) -> Axes:
        turn, lever = self._sensor_at(frame, pose)
        force = turn @ Vector.of(reading[:3])
        torque = turn @ Vector.of(reading[3:]) + lever.cross(force)
        return jnp.concatenate([force.array(), torque.array()])

    def _sensor_at(self, frame: SensorFrame, pose: Axes) -> tuple[Matrix, Vector]:
        """Return the rotation from the sensor's axes to the laboratory's, and from the centre of mass to the sensor (m)."""
        carried = turned_by(reference_of(self.starts()), pose)
        return (carried * Quaternion.of(frame.attitude)).matrix(), carried.matrix() @ Vector.of(frame.position)

    def push(self, motion: State, force: Port) -> Axes:
        pose, rate = self.pose(motion), self.rate(motion)
        lever = self.port(pose, rate)[0] - pose[:3]
        return jnp.concatenate([force, jnp.cross(lever, force)])


def configuration_rate(v: V, q: Q) -> Q:
    """Return the rate of a configuration."""
    return tuple(Pose(b.velocity, a.attitude.rate(b.rate)) for a, b in zip(q, v, strict=True))  # type: ignore[return-value]


def reference_of(starts: Q) -> Quaternion:
    """Return the attitude in the laboratory, at t = 0, of the first of two mock-ups."""
    carried, standing = starts
    return standing.attitude.conjugate() * carried.attitude


def turned_by(reference: Quaternion, pose: Axes) -> Quaternion:
    """Return the attitude in the laboratory of the mock-up that is carried, where the robot's axes put it."""
    return Quaternion.exponential(Vector.of(pose[3:])) * reference


def carried_at(reference: Quaternion, pose: Axes, rate: Axes) -> Placed:
    """Return the mock-up that is carried, in the laboratory, where the robot's axes put it."""

    def attitude(turn: Array) -> Array:
        return (Quaternion.exponential(Vector.of(turn)) * reference).array()

    numbers, change = jax.jvp(attitude, (pose[3:],), (rate[3:],))
    turned = Quaternion.of(numbers)
    spin = (turned.conjugate() * Quaternion.of(change)).vector() * 2.0
    return Placed.of(Pose(Vector.of(pose[:3]), turned), Twist(Vector.of(rate[:3]), spin))
