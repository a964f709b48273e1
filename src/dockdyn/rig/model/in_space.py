"""A mechanism two of whose bodies meet in hardware: the plant of a rig with six degrees of freedom.

Units: SI: m, rad, m/s, rad/s, N, N m.
Source: kinematics of two bodies; own construction of the port; the measured wrench acts on present points, as the delayed
ones of a mechanism do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dockdyn.contact.contact_modes import APART, PRESSING
from dockdyn.contact.group import ContactGroup, Wrench
from dockdyn.deferred import Array, Float, PyTree, jax, jnp, xp
from dockdyn.hil.mounting import Known, SensorFrame, Tool
from dockdyn.integrate.hybrid.runge_kutta import rk4_step
from dockdyn.integrate.model import Flag, Rate, Scalar, State, advance_state
from dockdyn.mechanics.rigid_body import Placed, Pose, Twist, internal_energy
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Matrix, Vector, once
from dockdyn.mechanism.loads import observed_elements
from dockdyn.mechanism.measured_contact import MeasuredContact
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.parameters import Dynamics
from dockdyn.rig.model.hardware import load_of, touching_of
from dockdyn.rig.model.plant import Axes, Modes, Plant, Port, Touching
from dockdyn.rig.model.stretch import solve_stretch

Q = tuple[Pose, Pose]
V = tuple[Twist, Twist]


class PlantInSpace(Plant):
    """A mechanism in the computer; of two of its bodies mock-ups are mounted, whose contacts are the hardware.

    The mock-up of the second stands, a robot carries that of the first. The laboratory's axes are those of the mock-up that
    stands. The robot's axes are the place of the other one's centre of mass (m) and the rotation vector (rad) by which it has
    turned since t = 0, both in the laboratory. The measured load is the force on the mock-up that is carried and the torque
    about its centre of mass. Both bodies get it where they stand, so momenta are kept whatever the robot does. All else is
    computed where the virtual bodies are: other bodies and contacts, joints, elements, phases. The port is a point of what is
    carried.
    """

    model: Mechanism  # without delay; the first of its groups is what is measured, on the body that is carried
    hardware: tuple[ContactGroup, ...]
    virtual: tuple[ContactGroup, ...]  # of the same two bodies, computed whenever the load is measured
    place: Float[Array, "3"]  # m, of the port, axes of what is carried
    mass: Float[Array, ""]

    axes = 6
    port_axes = 3

    @staticmethod
    def of(
        whole: Mechanism,
        hardware: Sequence[int],
        mock_ups: tuple[int, int],
        place: Array,
        mass: Array,
        virtual: tuple[ContactGroup, ...] = (),
    ) -> PlantInSpace:
        """Return the plant of a mechanism in which what is measured takes the place of some contacts; all are by number."""
        carried, standing = mock_ups
        computed = [group for number, group in enumerate(whole.groups) if number not in hardware]
        nothing = Vector.of(xp.zeros(3))
        measured = MeasuredContact(Wrench(nothing, nothing), carried, standing)
        return PlantInSpace(
            model=replace(whole, delay=None, points=(), groups=(measured, *computed)),
            hardware=tuple(whole.groups[number] for number in hardware),  # type: ignore[misc]
            virtual=virtual,
            place=place,
            mass=mass,
        )

    @property
    def measured(self) -> MeasuredContact:
        """Return the contact that is measured, as the mechanism has it."""
        first = self.model.groups[0]
        assert isinstance(first, MeasuredContact)
        return first

    @property
    def numbers(self) -> tuple[int, int]:
        """Which of the bodies is carried, and which stands."""
        return self.measured.first, self.measured.second

    @property
    def bare(self) -> bool:
        return not self.model.elements and self.model.steered is None

    @property
    def smooth(self) -> bool:
        """Whether the virtual bodies fly freely but for what is measured: the motion has no instants, and nothing is stiff."""
        model = self.model
        return self.bare and not (model.groups[1:] or model.trees or model.phases)

    def without_rig(self) -> Mechanism:
        return replace(self.model, groups=(*self.hardware, *self.virtual, *self.model.groups[1:]))

    def initial(self) -> State:
        return self.model.initial()

    def starts(self) -> Q:
        """Return poses of the two at t = 0."""
        carried, standing = (self.model.poses[number] for number in self.numbers)
        return carried, standing

    def mounted(self, motion: State) -> tuple[Placed, Placed]:
        """Return the virtual bodies of the mock-ups."""
        carried, standing = self.numbers
        places = self.model.placement(motion).bodies
        return places[carried], places[standing]

    def pair(self, motion: State) -> tuple[Q, V]:
        """Return poses and twists of the two."""
        carried, standing = self.mounted(motion)
        return (carried.pose, standing.pose), (carried.twist, standing.twist)

    def accelerations(self, motion: State, load: Axes) -> V:
        """Return rates of the twists of the two under a load (N, N m)."""
        model, (carried, standing) = self.under(motion, load), self.numbers
        rates = model.acting(motion, model.placement(motion), model.signal(jnp.zeros(()), motion)).bodies
        return rates[carried], rates[standing]

    def load(self, pose: Axes, rate: Axes, modes: Modes | None = None) -> Axes:
        return load_of(self.hardware, self.numbers[0], self.placed(pose, rate), modes)

    def virtual_load(self, pose: Axes, rate: Axes, modes: Modes | None = None) -> Axes:
        return load_of(self.virtual, self.numbers[0], self.placed(pose, rate), modes)

    def touching(self, pose: Axes, rate: Axes, at_onset: bool = False) -> Touching:
        return touching_of(self.hardware, self.numbers[0], self.placed(pose, rate))

    def virtual_touching(self, pose: Axes, rate: Axes, at_onset: bool = False) -> Touching:
        return touching_of(self.virtual, self.numbers[0], self.placed(pose, rate))

    def unit_load(self, contact: int, motion: State) -> Axes:
        """Return the load (N, N m) on what is carried of a unit normal force in a contact of the hardware by number."""
        places, group = self.placed(self.pose(motion), jnp.zeros(6)), self.hardware[contact]
        is_carried = group.first == self.numbers[0]
        touch = group.member().touch(*(places if is_carried else places[::-1]))
        force = touch.normal if is_carried else -touch.normal
        torque = (touch.point - places[0].pose.position).cross(force)
        return jnp.concatenate([force.array(), torque.array()])

    def under(self, motion: State, load: Axes) -> Mechanism:
        """Return the mechanism under a load of its mock-ups (N, N m; axes of the one that stands), kept in inertial axes."""
        frame = self.mounted(motion)[1].rotation
        wrench = once(Wrench(frame @ Vector.of(load[:3]), frame @ Vector.of(load[3:])))
        return replace(self.model, groups=(replace(self.measured, load=wrench), *self.model.groups[1:]))

    def flow(self, motion: State, load: Axes) -> Rate:
        return _motion_rate(self.under(motion, load), motion)

    def stepped(self, time: Scalar, motion: State, load: Axes, period: Scalar, method: Dynamics) -> State:
        """Return the load is held in inertial axes, on the bodies where they are.

        "zero-order-hold" is the motion under it, with the events of the virtual bodies located; of free ones a Runge–Kutta
        step, exact to its order where a body turns.
        """
        held = self.under(motion, load)
        if method == "zero-order-hold" and not self.smooth:
            return solve_stretch(held, motion, time, period)
        start = _motion_rate(held, motion)
        if method == "zero-order-hold":
            return self.retract(rk4_step(lambda share, there: _motion_rate(held, there), motion, period, start))
        if method == "semi-implicit-euler":
            start = start._replace(q=_motion_rate(held, replace(motion, v=advance_state(motion, period, start).v)).q)
        return self.retract(advance_state(motion, period, start))

    def retract(self, motion: State) -> State:
        return self.model.retract(motion)

    def guards(self, time: Scalar, motion: State) -> tuple[Scalar, ...]:
        return self.model.outputs(time, motion).guards

    def jump(self, time: Scalar, motion: State, fired: tuple[Flag, ...]) -> State:
        return self.model.jump(time, motion, fired)

    def next_tick(self, motion: State) -> Scalar | None:
        return self.model.next_tick(motion)

    def tick(self, time: Scalar, motion: State) -> State:
        return self.model.tick(time, motion)

    def told(self, time: Scalar, motion: State, touching: Flag) -> State:
        if self.model.phases is None:
            return motion
        mode = jnp.where(touching, PRESSING, APART).astype(motion.mode[0].dtype)
        known = replace(motion, mode=(mode, *motion.mode[1:]))
        return self.jump(time, known, tuple(jnp.asarray(False) for _ in self.guards(time, known)))

    def kinetic_energy(self, motion: State) -> Scalar:
        return self.model.kinetic_energy(motion)

    def internal_energy(self, motion: State) -> Scalar:
        return internal_energy(self.model.bodies, self.model.twists_of(motion.q, motion.v))

    def scale(self, motion: State) -> Scalar:
        return self.model.motion_energy(motion)

    def work(self, memory: PyTree) -> Scalar:
        return self.model.work(memory)

    def observe(self, motion: State) -> dict[str, Array]:
        """Return what is kept of elements, and the present phase."""
        model, here = self.model, self.model.placement(motion)
        found = {}
        if model.elements:
            modes, memories = model.element_modes(motion), motion.memory.elements
            found = observed_elements(model.elements_at(motion), modes, memories, here, {})
        return found | ({} if model.phases is None else {"phase_number": motion.mode[-1] * 1.0})

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


def _motion_rate(model: Mechanism, motion: State) -> Rate:
    """Return the rate of a motion under what is measured, as the mechanism has it; nothing in it asks for the time."""
    now = jnp.zeros(())
    return model.flow(now, motion, model.signal(now, motion))


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
