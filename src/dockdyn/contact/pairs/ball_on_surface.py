"""A ball, or a point, on a surface.

Units: lengths m.
Source: as of the spherical tip.
"""

from __future__ import annotations

from typing import ClassVar

from jaxtyping import Array, Float

from dockdyn.contact.feature import SphereTip
from dockdyn.contact.pairs.pair_geometry import PairGeometry, Touch
from dockdyn.contact.surfaces.surface import Surface
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar


class BallOnSurface(PairGeometry):
    """A ball of the first body and a surface of the second; a ball without radius is a point."""

    shared: ClassVar = ("surface",)

    centre: Float[Array, "3"]  # m, axes of the first body
    radius: Scalar  # m
    surface: Surface  # in axes of the second body

    def touch(self, own: Placed, other: Placed) -> Touch:
        return Touch(*SphereTip(self.centre, self.radius).touch(own, other, self.surface))

    def place(self) -> Float[Array, "3"]:
        return self.centre
