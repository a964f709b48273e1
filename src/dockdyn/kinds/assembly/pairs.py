"""Which geometry of a pair two features, or a feature and a surface, have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dockdyn.contact.pairs.ball_on_surface import BallOnSurface
from dockdyn.contact.pairs.pair_geometry import PairGeometry
from dockdyn.kinds.assembly.schema_features import Ball, Capsule, Ring
from dockdyn.scenario.tables.part import Shape, refuse

SHAPES = {"ball": Ball, "point": Ball, "edge": Capsule, "circle": Ring}
Maker = Callable[[Any, Any], PairGeometry]

ON_SURFACES: dict[str, Maker] = {
    "ball": lambda ball, surface: BallOnSurface(ball.centre, ball.radius, surface),
}
ON_FEATURES: dict[tuple[str, str], Maker] = {}


def geometries(feature: Any, partner: Any) -> list[PairGeometry]:  # noqa: ANN401, sections
    """The pairs that the members of a feature make with a surface, or with the members of another feature."""
    members = feature.members()
    if isinstance(partner, Shape):
        surface = partner.make()
        return [ON_SURFACES[kind(feature)](one, surface) for one in members]
    maker = ON_FEATURES[kind(feature), kind(partner)]
    return [maker(one, other) for one in members for other in partner.members()]


def kind(feature: Any) -> str:  # noqa: ANN401, a section
    """Which shape a feature has; a point is a ball."""
    return "ball" if feature.shape == "point" else str(feature.shape)


def check_pair(feature: Any, partner: Any) -> int:  # noqa: ANN401, sections
    """How many pairs a feature makes with a surface or another feature; refuses what has no geometry."""
    own, count = kind(feature), len(feature.members())
    if isinstance(partner, Shape):
        if own not in ON_SURFACES:
            refuse(f"{feature.name!r} is a {own}; what touches a surface must be one of {', '.join(ON_SURFACES)}")
        for one in feature.members():
            if own == "ball":
                partner.check_tip([float(part) for part in one.centre], float(one.radius))
        return count
    other = kind(partner)
    if (own, other) not in ON_FEATURES:
        known = [b for a, b in ON_FEATURES if a == own]
        allowed = f"must be one of {', '.join(known)}" if known else f"a {own} touches surfaces only"
        refuse(f"{feature.name!r} is a {own} and {partner.name!r} a {other}: what it touches {allowed}")
    return count * len(partner.members())
