"""A rigid latch: it catches a striker near its seat and holds it by a connection, as a pin or a weld, until it lets go.

Units: lengths m, speeds m/s.
Source: plastic impact of the connection's rows; definition.
"""

from __future__ import annotations

from typing import Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dockdyn.elements.capture_latch import nearness
from dockdyn.elements.force_element import Action, ElementMemory, ForceElement
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector


class RigidLatch(ForceElement):
    """The striker of the first body is caught where a capture latch would catch it, and held there, on the other body.

    What holds is no force of the element's own but a connection, which closes with it: whoever moves the bodies reads from the
    memory whether it is closed, ends their motion against each other at once and books the loss as `dissipated`.
    """

    striker: Float[Array, "3"]  # m, axes of the first body
    seat: Float[Array, "3"]  # m, axes of the other body
    axis: Float[Array, "3"]  # unit vector out of the seat, axes of the other body
    reach: Float[Array, ""]  # m, out of the seat along the axis
    lateral: Float[Array, ""]  # m, from the axis
    closed: Float[Array, ""]  # 0: it lets go, and catches nothing
    hold: Literal["pin", "weld"] = eqx.field(static=True)

    def init(self, own: Placed, other: Placed) -> ElementMemory:
        return ElementMemory(held=jnp.zeros(()), dissipated=jnp.zeros(()))

    def settle(self, memory: ElementMemory, own: Placed, other: Placed) -> tuple[tuple[()], ElementMemory]:
        """It goes on holding while it is closed, and catches a striker that is there already."""
        assert memory.held is not None
        near = nearness(self, own, other) > 0
        return (), memory._replace(held=jnp.where(self.closed > 0, jnp.where(near, 1.0, memory.held), 0.0))

    def act(self, mode: tuple[()], memory: ElementMemory, own: Placed, other: Placed) -> tuple[Action, ElementMemory]:
        nothing = Action(Vector.zero(), Vector.zero(), own.pose.position)
        return nothing, ElementMemory(held=jnp.zeros(()), dissipated=jnp.zeros(()))

    def guards(self, mode: tuple[()], memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, ...]:
        assert memory.held is not None
        return (jnp.where((self.closed > 0) & (memory.held == 0), nearness(self, own, other), -1.0),)

    def jump(
        self,
        mode: tuple[()],
        fired: tuple[Bool[Array, ""], ...],
        memory: ElementMemory,
        own: Placed,
        other: Placed,
    ) -> tuple[tuple[()], ElementMemory]:
        assert memory.held is not None
        return (), memory._replace(held=jnp.where(fired[0], 1.0, memory.held))

    def stored_energy(self, mode: tuple[()], memory: ElementMemory, own: Placed, other: Placed) -> Scalar:
        return jnp.zeros(())

    def observe(self, mode: tuple[()], memory: ElementMemory, own: Placed, other: Placed) -> dict[str, Array]:
        """Whether it `held` (1 or 0); of an open one the `gap` (m) and the speed `closing` it (m/s), as a capture latch has."""
        assert memory.held is not None
        striker, out = own.point(Vector.of(self.striker)), other.rotation @ Vector.of(self.axis)
        is_open = memory.held == 0
        gap = (other.local(striker) - Vector.of(self.seat)).dot(Vector.of(self.axis)) - self.reach
        closing = -out.dot(own.velocity(striker) - other.velocity(striker))
        return {
            "held": memory.held,
            "at_end": jnp.zeros(()),
            "length": jnp.zeros(()),
            "gap": is_open * gap,
            "closing": is_open * closing,
        }
