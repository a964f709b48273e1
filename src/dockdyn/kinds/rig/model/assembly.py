"""An assembly two of whose bodies meet in hardware: the plant of a rig whose virtual vehicles are of many bodies.

Units: SI: m, rad, m/s, rad/s, N, N m.
Source: own construction; the measured wrench acts on present points, as the delayed ones of an assembly do.
"""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from dockdyn.contact.gate import APART, PRESSING
from dockdyn.contact.group import ContactGroup, Wrench
from dockdyn.integrate.model import Flag, Rate, Scalar, State
from dockdyn.kinds.rig.model.hardware import load_of, touching_of
from dockdyn.kinds.rig.model.in_space import PlantInSpace, Q, V
from dockdyn.kinds.rig.model.plant import Axes, Modes, Touching
from dockdyn.kinds.rig.model.stretch import solved
from dockdyn.mechanics.rigid_body import Placed, internal_energy
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.loads import observed_elements
from dockdyn.mechanism.measured_contact import MeasuredContact
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.parameters import Dynamics


class PartlyMounted(PlantInSpace):
    """An assembly in the computer; of two of its bodies mock-ups are mounted, whose contacts are the hardware.

    All else is computed where the virtual bodies are: other bodies and contacts, joints, elements, phases. Both bodies get
    the measured load where they stand, so momenta are kept whatever the robot does. The port is the reference point of
    the first contact whose feature is carried.
    """

    model: Mechanism  # without delay; the first of its groups is what is measured, on the body that is carried
    hardware: tuple[ContactGroup, ...]
    place: Float[Array, "3"]  # m, of the port, axes of what is carried
    mass: Float[Array, ""]

    @property
    def numbers(self) -> tuple[int, int]:
        """Which of the bodies is carried, and which stands."""
        return self.measured.first, self.measured.second

    @property
    def measured(self) -> MeasuredContact:
        """What is measured, as the assembly has it."""
        first = self.model.groups[0]
        assert isinstance(first, MeasuredContact)
        return first

    @property
    def bare(self) -> bool:
        return not self.model.elements

    def initial(self) -> State:
        return self.model.initial()

    def starts(self) -> Q:
        carried, standing = (self.model.poses[number] for number in self.numbers)
        return carried, standing

    def mounted(self, motion: State) -> tuple[Placed, Placed]:
        """The virtual bodies of the mock-ups."""
        carried, standing = self.numbers
        places = self.model.placement(motion).bodies
        return places[carried], places[standing]

    def pair(self, motion: State) -> tuple[Q, V]:
        carried, standing = self.mounted(motion)
        return (carried.pose, standing.pose), (carried.twist, standing.twist)

    def accelerations(self, motion: State, load: Axes) -> V:
        model, (carried, standing) = self.under(motion, load), self.numbers
        rates = model.acting(motion, model.placement(motion), _wrenches(model, motion)).bodies
        return rates[carried], rates[standing]

    def touching_point(self) -> Vector:
        return Vector.of(self.place)

    def load(self, pose: Axes, rate: Axes, modes: Modes | None = None) -> Axes:
        return load_of(self.hardware, self.numbers[0], self.placed(pose, rate), modes)

    def virtual_load(self, pose: Axes, rate: Axes, modes: Modes | None = None) -> Axes:
        return jnp.zeros(self.axes)

    def touching(self, pose: Axes, rate: Axes, at_onset: bool = False) -> Touching:
        return touching_of(self.hardware, self.numbers[0], self.placed(pose, rate))

    def virtual_touching(self, pose: Axes, rate: Axes, at_onset: bool = False) -> Touching:
        return ()

    def under(self, motion: State, load: Axes) -> Mechanism:
        """The assembly under a load of its mock-ups (N, N m; axes of the one that stands), kept in inertial axes."""
        frame = self.mounted(motion)[1].rotation
        wrench = Wrench(frame @ Vector.of(load[:3]), frame @ Vector.of(load[3:]))
        return replace(self.model, groups=(replace(self.measured, load=wrench), *self.model.groups[1:]))

    def flow(self, motion: State, load: Axes) -> Rate:
        model = self.under(motion, load)
        return model.flow(jnp.zeros(()), motion, _wrenches(model, motion))

    def stepped(self, time: Scalar, motion: State, load: Axes, period: Scalar, method: Dynamics) -> State:
        """The load is held in inertial axes, on the bodies where they are; events of the virtual bodies are located.

        Of the methods there is but "zero-order-hold".
        """
        return solved(self.under(motion, load), motion, time, period)

    def retract(self, motion: State) -> State:
        return self.model.retract(motion)

    def guards(self, time: Scalar, motion: State) -> tuple[Scalar, ...]:
        return self.model.outputs(time, motion).guards

    def jump(self, time: Scalar, motion: State, fired: tuple[Flag, ...]) -> State:
        return self.model.jump(time, motion, fired)

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
        """What is kept of elements, and the present phase."""
        model, here = self.model, self.model.placement(motion)
        found = {}
        if model.elements:
            modes, memories = model.element_modes(motion), motion.memory.elements
            found = observed_elements(model.connections(motion), modes, memories, here, {})
        return found | ({} if model.phases is None else {"phase_number": motion.mode[-1] * 1.0})


def _wrenches(model: Mechanism, motion: State) -> tuple[Wrench, ...]:
    """What the groups of an assembly do now, the measured one among them."""
    return tuple(state.wrench for state in model.states(motion))
