"""Compliance device: a probe carried by springs (Sazawal et al., eqs. 17–27 and 59–67).

Units: lengths m, stiffness N/m, force N.
Source: as named above; `work-conjugate` is the derivative of the springs' energy, own derivation.
"""

from __future__ import annotations

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.parameters import DeviceModel
from dockdyn.trees import field


class ComplianceDevice(NormalLaw):
    """Normal force of a probe RQ of length l₀ held at P (PQ = a l₀) by springs anchored at points Sᵢ.

    `as-published` projects the spring force at P on the normal at Q (eq. 26 → 59) and so ignores the lever from P to Q.
    `work-conjugate` is the force that does the springs' work: the derivative of their elastic energy, elongations
    exact, with respect to depth at a fixed normal. For the device of Table 2 they start at 475 and 295 N/m.
    """

    axis: Float[Array, "3"]  # from R to Q, axes of the body with the probe
    length: Float[Array, ""]  # l₀, m
    ratio: Float[Array, ""]  # a
    stiffness: Float[Array, "n"]  # kᵢ, N/m
    anchors: Float[Array, "n 3"]  # Sᵢ from R, m
    model: DeviceModel = field(static=True)

    def along(self, normal: Vector) -> NormalLaw:
        return DirectedDevice(self, normal)

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        """Return head on: along the device's axis."""
        return self.along(-Vector.of(self.axis)).force(depth, rate)

    def point(self, depth: Scalar, normal: Vector) -> tuple[Vector, Scalar]:
        """Return the position of P from R (m, eq. 67) and the probe's length l (m, eqs. 62, 66) with Q moved by `depth`."""
        tip = Vector.of(self.axis) * self.length + normal * depth
        length = tip.norm()
        return tip * (1 - self.ratio * self.length / length), length

    def energy(self, depth: Scalar, normal: Vector) -> Scalar:
        """Return the elastic energy of the springs (J)."""
        here, _ = self.point(depth, normal)
        rest, _ = self.point(jnp.zeros(()), normal)
        total = jnp.zeros(())
        for stiffness, anchor in self.springs():
            stretch = (here - anchor).norm() - (rest - anchor).norm()
            total += 0.5 * stiffness * stretch**2
        return total

    def springs(self) -> list[tuple[Scalar, Vector]]:
        return [(self.stiffness[i], Vector.of(self.anchors[i])) for i in range(self.stiffness.shape[0])]


class DirectedDevice(NormalLaw):
    """A compliance device loaded along one normal."""

    device: ComplianceDevice
    normal: Vector

    def force(self, depth: Scalar, rate: Scalar) -> Scalar:
        if self.device.model == "work-conjugate":
            return jax.grad(self.device.energy)(depth, self.normal)
        return self.published(depth)

    def published(self, depth: Scalar) -> Scalar:
        """Return eq. 59; the paper's n̂ points into the wall and its force is negative in compression."""
        device, inward, axis = self.device, -self.normal, Vector.of(self.device.axis)
        here, length = device.point(depth, self.normal)
        across = along = jnp.zeros(())
        for stiffness, anchor in device.springs():
            arm = here - anchor
            spring = arm / arm.norm()
            across += stiffness * inward.dot(spring) ** 2
            along += stiffness * inward.dot(spring) * axis.dot(spring)
        stretch = device.length / length
        return (1 - device.ratio * stretch) * across * depth + device.ratio * device.length * (stretch - 1) * along
