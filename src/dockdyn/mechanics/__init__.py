"""Rigid bodies, rotations, orbits and small linear algebra.

Units: SI units; rotations are unit quaternions, angles rad.
Source: standard mechanics; each file names what it follows.
"""

from dockdyn.mechanics.orbit import Orbit
from dockdyn.mechanics.reflected import Reflected, coupled_acceleration
from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist
from dockdyn.mechanics.rotation import Quaternion, from_x_axis, roll_pitch_yaw
from dockdyn.mechanics.vector import Matrix, Scalar, Vector

__all__ = [
    "Matrix",
    "Orbit",
    "Placed",
    "Pose",
    "Quaternion",
    "Reflected",
    "RigidBody",
    "Scalar",
    "Twist",
    "Vector",
    "coupled_acceleration",
    "from_x_axis",
    "roll_pitch_yaw",
]
