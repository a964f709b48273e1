"""Where the six struts of a hexapod are fixed.

Units: lengths m, angles rad.
Source: the platform of Gough and Stewart; angles of pairs of joints, definition.
"""

from __future__ import annotations

from dockdyn.deferred import Array, ArrayLike, Float, jnp
from dockdyn.mechanics.rigid_body import Pose
from dockdyn.mechanics.vector import Vector

type Places = Float[Array, "6 3"]


def hexapod_anchors(
    ring_radius: ArrayLike,
    base_radius: ArrayLike,
    ring_spread: ArrayLike,
    base_spread: ArrayLike,
    ring: Pose,
    base: Pose,
) -> tuple[Places, Places]:
    """Return anchors on the ring's body and on the base's (m, body axes), strut by strut.

    Joints lie on circles about the x axes of two frames. On the ring they are in pairs at 0°, 120° and 240° from the y axis
    towards z, on the base at 60°, 180° and 300°; struts 2 i and 2 i + 1 begin at the ring's pair i and go to the base's pairs
    on either side.

    Args:
        ring_radius: of the ring's circle, m.
        base_radius: of the base's circle, m.
        ring_spread: angle between the joints of a pair on the ring, rad.
        base_spread: angle between the joints of a pair on the base, rad.
        ring: the ring's frame on its body.
        base: the base's frame on its body.
    """
    side = jnp.tile(jnp.array([-1.0, 1.0]), 3)
    pair = jnp.repeat(jnp.arange(3), 2) * (2 * jnp.pi / 3)
    on_ring = pair + side * jnp.asarray(ring_spread) / 2
    on_base = pair + side * (jnp.pi / 3 - jnp.asarray(base_spread) / 2)
    return _anchor_places(ring, ring_radius, on_ring), _anchor_places(base, base_radius, on_base)


def _anchor_places(frame: Pose, radius: ArrayLike, angles: Float[Array, "6"]) -> Places:
    radii = jnp.asarray(radius, float)
    across = Vector(jnp.zeros(6), radii * jnp.cos(angles), radii * jnp.sin(angles))
    place = frame.attitude.matrix() @ across
    return jnp.stack([place.x + frame.position.x, place.y + frame.position.y, place.z + frame.position.z], axis=1)
