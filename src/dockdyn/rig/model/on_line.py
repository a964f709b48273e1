"""Mock-ups that meet along one line: the plant of a rig whose robot has one axis.

Units: SI: m, m/s, N, kg.
Source: SITS, eqs. 1 and 19; kinematics of two bodies.
"""

from __future__ import annotations

from dockdyn.contact.group import ContactGroup, Wrench
from dockdyn.deferred import Array, Float, jnp
from dockdyn.hil.mounting import Known, Tool
from dockdyn.integrate.model import State
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.trees.bodies_on_line import placed_on_line
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.rig.model.mounted_plant import MountedPlant
from dockdyn.rig.model.plant import Axes, Port


class PlantOnLine(MountedPlant):
    """Mock-ups on a line.

    The robot's axis is the place of the centre of mass of what is carried (m), the measured load the force on it (N). The port
    is where it touches, counted from there.
    """

    model: Mechanism
    hardware: tuple[ContactGroup, ...]
    virtual: tuple[ContactGroup, ...]
    place: Float[Array, ""]  # m, of the port, where the robot's axis is at zero
    mass: Float[Array, ""]

    axes = 1
    port_axes = 1

    def in_axes(self, wrench: Wrench) -> Axes:
        return wrench.force.x[None]

    def inertial(self, motion: State, load: Axes) -> Wrench:
        nothing = jnp.zeros(())
        return Wrench(Vector(load[0], nothing, nothing), Vector.zero())

    def placed(self, pose: Axes, rate: Axes) -> tuple[Placed, Placed]:
        return placed_on_line(pose[0], rate[0]), placed_on_line(jnp.zeros(()), jnp.zeros(()))

    def pose(self, motion: State) -> Axes:
        carried, standing = self.mounted(motion)
        return (carried.pose.position.x - standing.pose.position.x)[None]

    def rate(self, motion: State) -> Axes:
        carried, standing = self.mounted(motion)
        return (carried.twist.velocity.x - standing.twist.velocity.x)[None]

    def acceleration(self, motion: State, load: Axes) -> Axes:
        carried, standing = self.accelerations(motion, load)
        return (carried.velocity.x - standing.velocity.x)[None]

    def port(self, pose: Axes, rate: Axes) -> tuple[Port, Port]:
        return pose + self.place, rate

    def tool_load(self, tool: Tool, gravity: Axes, moves: Known) -> Axes:
        return tool.mass * (gravity - moves.acceleration)

    def push(self, motion: State, force: Port) -> Axes:
        return force
