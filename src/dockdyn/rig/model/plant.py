"""What moves in a rig's computer and meets in its laboratory: the virtual bodies and the contact of their mock-ups.

Units: SI: m, m/s, N, kg.
Source: SITS, eqs. 1 and 19; Sazawal et al. for two bodies in space.
"""

from __future__ import annotations

import abc

from dockdyn.contact.contact_memory import Memories
from dockdyn.contact.group import ContactGroup, GroupState
from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.deferred import Array, Float, Int, PyTree, jnp
from dockdyn.hil.mounting import Known, SensorFrame, Tool
from dockdyn.integrate.model import Flag, Model, Rate, Scalar, State
from dockdyn.parameters import Dynamics
from dockdyn.trees import AbstractVar, Module

type Axes = Float[Array, "axes"]  # of the robot: one, or three translations and three rotations
type Port = Float[Array, "port"]  # of the contact: one, or three
type Modes = tuple[Int[Array, ""], ...]  # of contacts, one each


# of the change of velocity in a step with which bodies move through it
SHARES = {"explicit-euler": 0.0, "zero-order-hold": 0.5, "semi-implicit-euler": 1.0}


Touching = tuple[tuple[ContactGroup, GroupState], ...]  # contacts, and how they touch


class Plant(Module):
    """Virtual bodies, and mock-ups that the axes of a robot carry.

    A motion has configuration and velocity and, where something of the virtual bodies has events, modes and a memory.
    """

    mass: AbstractVar[Float[Array, ""]]  # kg, effective mass at the contact

    @property
    @abc.abstractmethod
    def axes(self) -> int:
        """How many axes the robot has."""

    @property
    @abc.abstractmethod
    def port_axes(self) -> int:
        """How many axes the contact force has."""

    @property
    def ever_touching(self) -> bool:
        """Whether there is contact at all times, whatever the force."""
        return False

    @property
    def bare(self) -> bool:
        """Whether nothing but inertia is behind the contact."""
        return True

    @property
    def of_one_normal(self) -> bool:
        """Whether small motions in contact are of a mass, and of stiffness and damping along a normal, alone."""
        return self.bare

    @abc.abstractmethod
    def without_rig(self) -> Model:
        """Return the same contacts without loop: those of the mock-ups together with those computed in software."""

    @abc.abstractmethod
    def initial(self) -> State:
        """Return the motion of the virtual bodies at t = 0."""

    @abc.abstractmethod
    def pose(self, motion: State) -> Axes:
        """Return where the robot should be (m, rad)."""

    @abc.abstractmethod
    def rate(self, motion: State) -> Axes:
        """Return how fast (m/s, rad/s)."""

    @abc.abstractmethod
    def acceleration(self, motion: State, load: Axes) -> Axes:
        """Return second derivative of the pose under a load (N, N m)."""

    @property
    def remembers(self) -> bool:
        """Whether what mock-ups do to each other depends on what was."""
        return False

    def first_memories(self) -> Memories:
        """Return what the contacts of the mock-ups remember at first."""
        return ()

    @abc.abstractmethod
    def load(self, pose: Axes, rate: Axes, modes: Modes | None = None, memories: Memories = ()) -> Axes:
        """Return what mock-ups at a pose do to each other: force on the chaser, torque about its centre of mass.

        Contacts are in the stored `modes`, or, without, open or closed as the pose says; of those that remember, `memories`
        are what.
        """

    @abc.abstractmethod
    def virtual_load(self, pose: Axes, rate: Axes, modes: Modes | None = None) -> Axes:
        """Return the same of the contact that is computed in software; zeros where there is none."""

    @abc.abstractmethod
    def touching(self, pose: Axes, rate: Axes, modes: Modes | None = None, memories: Memories = ()) -> Touching:
        """Return the contacts of the mock-ups at a pose, likewise."""

    def memory_rates(self, pose: Axes, rate: Axes, modes: Modes, memories: Memories) -> Memories:
        """Return the rates of what they remember."""
        return ()

    def renewed(self, pose: Axes, rate: Axes, modes: Modes, memories: Memories) -> Memories:
        """Return what they remember once a step has ended."""
        return ()

    def memories_within(self, start: Memories, now: Memories) -> Memories:
        """Return what they remember within a step that began with `start`, where `now` follows the rates."""
        return ()

    @abc.abstractmethod
    def virtual_touching(self, pose: Axes, rate: Axes) -> Touching:
        """Return the same of those that are computed in software."""

    @abc.abstractmethod
    def port(self, pose: Axes, rate: Axes) -> tuple[Port, Port]:
        """Return the position (m) and velocity (m/s) of what touches."""

    def contact_power(self, load: Axes, pose: Axes, rate: Axes) -> Scalar:
        """Return the power (W) of the contact's load on the mock-up that is carried so: along a line that of the port."""
        return jnp.sum(load * self.port(pose, rate)[1])

    @abc.abstractmethod
    def stored_energy(self, pose: Axes, rate: Axes, memories: Memories = ()) -> Scalar:
        """Return the energy (J) that the contacts of the mock-ups store at a pose, by their laws at rest."""

    def first_energy(self) -> Scalar:
        """Return the part of the kinetic energy (J) at t = 0 that no choice of frame takes away."""
        return self.internal_energy(self.initial())

    @abc.abstractmethod
    def tool_load(self, tool: Tool, gravity: Axes, moves: Known) -> Axes:
        """Return what a tool that is carried so does to the sensor (N, N m), as a `load` on what is carried: weight and
        inertia."""

    def in_sensor(self, frame: SensorFrame, load: Axes, pose: Axes) -> Axes:
        """Return a load (N, N m) as a sensor has it in its own axes, at its own place."""
        raise NotImplementedError("along one direction there is no frame")

    def from_sensor(self, frame: SensorFrame, reading: Axes, pose: Axes) -> Axes:
        """Return the load (N, N m) of which a sensor has such a reading."""
        raise NotImplementedError("along one direction there is no frame")

    @abc.abstractmethod
    def push(self, motion: State, force: Port) -> Axes:
        """Return the load that a force (N) at the port is."""

    def signal(self, motion: State) -> PyTree:
        """Return what contacts that are computed and remember do, by which steps are judged; None where there are none."""
        return None

    def emitting(self, motion: State) -> Flag:
        """Return whether that may differ from zero."""
        return jnp.asarray(False)

    @abc.abstractmethod
    def flow(self, motion: State, load: Axes, signal: PyTree = None) -> Rate:
        """Return the rate of the motion under a load, and where a `signal` of its contacts is given under that."""

    @abc.abstractmethod
    def kinetic_energy(self, motion: State) -> Scalar:
        """Return the kinetic energy (J) of the virtual bodies."""

    @abc.abstractmethod
    def internal_energy(self, motion: State) -> Scalar:
        """Return the part of the kinetic energy (J) that no choice of frame takes away."""

    @abc.abstractmethod
    def stepped(self, time: Scalar, motion: State, load: Axes, period: Scalar, method: Dynamics) -> State:
        """Return the motion at `time` (s) a `period` (s) later by a digital integrator, the load held."""

    def retract(self, motion: State) -> State:
        """Return `motion` brought back onto its manifold."""
        return motion

    def settled(self, motion: State) -> State:
        """Return `motion`, where a step ends, with what is decided anew there, such as which slices of a contact slip."""
        return motion

    def within_step(self, start: State, motion: State) -> State:
        """Return a motion between the ends of a step that began with `start`, with what stays within a step."""
        return motion

    def turning(self, motion: State) -> tuple[Scalar, ...]:
        """Return the quantities of the virtual bodies beside whose peaks a step must end."""
        return ()

    def corners(self, time: Scalar, motion: State) -> tuple[Scalar, ...]:
        """Return where what acts on the virtual bodies has corners, as `Outputs` has them."""
        return ()

    def guards(self, time: Scalar, motion: State) -> tuple[Scalar, ...]:
        """Return the event functions of the virtual bodies that rise through zero."""
        return ()

    def jump(self, time: Scalar, motion: State, fired: tuple[Flag, ...]) -> State:
        """Return the motion after the guards in `fired` have fired."""
        return motion

    def next_tick(self, motion: State) -> Scalar | None:
        """Return the next instant (s) at which a clock of the virtual bodies acts, as of sampled control; None: there is
        none."""
        return None

    def tick(self, time: Scalar, motion: State) -> State:
        """Return the motion after the clock has acted at `time` (s)."""
        return motion

    def told(self, time: Scalar, motion: State, touching: Flag) -> State:
        """Return the motion once the model is told whether the mock-ups are `touching`."""
        return motion

    def scale(self, motion: State) -> Scalar:
        """Return the energy (J) beside which errors are judged: of the motion, now and at t = 0."""
        return self.internal_energy(motion) + self.first_energy()

    def work(self, memory: PyTree) -> Scalar:
        """Return the work (J) on the virtual bodies in a memory or its rate."""
        return jnp.zeros(())

    def observe(self, motion: State) -> dict[str, Array]:
        """Return named quantities of the virtual bodies besides those that every rig has."""
        return {}


class LinearPlant(Plant):
    """A mass before a contact that is linear and never parts, along its normal: m Ẍ = F (SITS, eqs. 1, 19), as small motions in
    any contact are. X > 0 is overlap; the force on the mass is minus that of the contact."""

    mass: Float[Array, ""]
    law: NormalLaw
    virtual: NormalLaw  # computed in software

    axes = 1
    port_axes = 1

    @property
    def ever_touching(self) -> bool:
        return True

    def without_rig(self) -> Model:
        raise NotImplementedError("small motions are judged with their rig alone")

    def initial(self) -> State:
        return State(jnp.zeros(1), jnp.zeros(1), (), ())

    def pose(self, motion: State) -> Axes:
        return motion.q

    def rate(self, motion: State) -> Axes:
        return motion.v

    def acceleration(self, motion: State, load: Axes) -> Axes:
        return load / self.mass

    def load(self, pose: Axes, rate: Axes, modes: Modes | None = None, memories: Memories = ()) -> Axes:
        return -self.law.force(pose, rate)

    def virtual_load(self, pose: Axes, rate: Axes, modes: Modes | None = None) -> Axes:
        return -self.virtual.force(pose, rate)

    def touching(self, pose: Axes, rate: Axes, modes: Modes | None = None, memories: Memories = ()) -> Touching:
        return ()

    def virtual_touching(self, pose: Axes, rate: Axes) -> Touching:
        return ()

    def port(self, pose: Axes, rate: Axes) -> tuple[Port, Port]:
        return pose, rate

    def tool_load(self, tool: Tool, gravity: Axes, moves: Known) -> Axes:
        return tool.mass * (gravity - moves.acceleration)

    def stored_energy(self, pose: Axes, rate: Axes, memories: Memories = ()) -> Scalar:
        return self.law.stored_energy(jnp.abs(pose[0]))

    def push(self, motion: State, force: Port) -> Axes:
        return force

    def flow(self, motion: State, load: Axes, signal: PyTree = None) -> Rate:
        return Rate(motion.v, load / self.mass, ())

    def kinetic_energy(self, motion: State) -> Scalar:
        return 0.5 * self.mass * jnp.sum(motion.v**2)

    def internal_energy(self, motion: State) -> Scalar:
        return self.kinetic_energy(motion)

    def stepped(self, time: Scalar, motion: State, load: Axes, period: Scalar, method: Dynamics) -> State:
        change = load * (period / self.mass)
        return State(motion.q + period * (motion.v + SHARES[method] * change), motion.v + change, (), ())
