"""How a rig's force sensor is mounted: the tool behind it, where it is, and what the computer believes of both.

A sensor between a robot's flange and a mock-up also feels the mock-up: its weight and, where the robot accelerates, its
inertia. It measures in its own axes, at its own place. The computer takes all that away again, as far as it knows it.

Units: kg, m, kg m², N, N m, s.
Source: Newton and Euler's equations of the tool; differences of encoders' positions in `stability.encoder_history`.
"""

from __future__ import annotations

from dockdyn.deferred import Array, Float, jnp
from dockdyn.integrate.model import Scalar
from dockdyn.stability.encoder_history import acceleration_weights, place_weights, velocity_weights
from dockdyn.trees import Module, field

type Axes = Float[Array, "axes"]


class Tool(Module):
    """What moves behind the sensor; of a rig along one direction the mass alone."""

    mass: Scalar  # kg
    centre: Float[Array, "3"] | None = None  # m, of mass, axes of what is carried, from its virtual centre of mass
    inertia: Float[Array, "3 3"] | None = None  # kg m², about the centre


class SensorFrame(Module):
    """Where the sensor is and how it is turned, in the axes of what is carried, from its virtual centre of mass."""

    position: Float[Array, "3"]  # m
    attitude: Float[Array, "4"]  # quaternion, scalar first, from the sensor's axes


class Known(Module):
    """What a computer knows of its robot's motion when a force was measured."""

    pose: Axes  # m, rad
    rate: Axes  # m/s, rad/s
    acceleration: Axes  # m/s², rad/s²


class Mounting(Module):
    """Tool and sensor, and the computer's belief in them."""

    tool: Tool | None
    believed: Tool | None  # whose weight is taken away; None: nothing is
    gravity: Axes  # m/s², in the laboratory; one number along one direction
    frame: SensorFrame | None
    believed_frame: SensorFrame | None
    inertia: bool = field(static=True)  # whether the inertia of the believed tool is taken away, too
    rows: int = field(static=True)  # positions of the encoders that are kept

    def known(self, encoded: Float[Array, "rows axes"], delay: Scalar, period: Scalar) -> Known:
        """Return what the encoders' positions (m, rad) at steps a `period` (s) apart tell of what is `delay` (s) old."""
        laws = (place_weights, velocity_weights, acceleration_weights)
        return Known(*(law(delay, period, self.rows) @ encoded for law in laws))

    def still(self, known: Known) -> Known:
        """Return the same for a computer that takes weight away alone."""
        return known if self.inertia else Known(known.pose, jnp.zeros_like(known.rate), jnp.zeros_like(known.rate))
