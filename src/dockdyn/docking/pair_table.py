"""Which geometry of a pair two features, or a feature and a surface, have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dockdyn.contact.pairs import (
    BallOnSurface,
    CapsuleOnCapsule,
    CapsuleOnRing,
    CapsuleOnSurface,
    PairGeometry,
    RingOnPlane,
)
from dockdyn.deferred import jnp
from dockdyn.docking.schema.features import Ball, Capsule, CircleRing
from dockdyn.scenario.tables.part import Shape, refuse

Maker = Callable[[Any, Any], PairGeometry]


def _as_edge(ball: Ball) -> Capsule:
    """Return a ball as an edge without length."""
    return Capsule(jnp.stack([ball.centre, ball.centre]), ball.radius)


def _edge_on_edge(edge: Capsule, other: Capsule) -> PairGeometry:
    return CapsuleOnCapsule(edge.ends, edge.radius, other.ends, other.radius)


def _edge_on_circle(edge: Capsule, ring: CircleRing) -> PairGeometry:
    return CapsuleOnRing(edge.ends, edge.radius, ring.centre, ring.axis, ring.major_radius, ring.radius)


ON_SURFACES: dict[str, Maker] = {
    "ball": lambda ball, surface: BallOnSurface(ball.centre, ball.radius, surface),
    "edge": lambda edge, surface: CapsuleOnSurface(edge.ends, edge.radius, surface),
    "circle": lambda ring, plane: RingOnPlane(
        ring.centre, ring.axis, ring.major_radius, ring.radius, plane.point, plane.normal
    ),
}
ON_FEATURES: dict[tuple[str, str], Maker] = {
    ("edge", "edge"): _edge_on_edge,
    ("edge", "circle"): _edge_on_circle,
    ("ball", "ball"): lambda ball, other: _edge_on_edge(_as_edge(ball), _as_edge(other)),
    ("ball", "edge"): lambda ball, other: _edge_on_edge(_as_edge(ball), other),
    ("edge", "ball"): lambda edge, ball: _edge_on_edge(edge, _as_edge(ball)),
    ("ball", "circle"): lambda ball, ring: _edge_on_circle(_as_edge(ball), ring),
}


def pair_geometries(feature: Any, partner: Any) -> list[PairGeometry]:  # noqa: ANN401, sections
    """Return the pairs that the members of a feature make with a surface, or with the members of another feature."""
    members = feature.members()
    if isinstance(partner, Shape):
        surface = partner.make()
        return [ON_SURFACES[member_shape(feature)](one, surface) for one in members]
    maker = ON_FEATURES[member_shape(feature), member_shape(partner)]
    return [maker(one, other) for one in members for other in partner.members()]


def member_shape(feature: Any) -> str:  # noqa: ANN401, a section
    """Return which shape the members of a feature have: points are balls, and those of a cloud, too."""
    return "ball" if feature.shape in ("point", "cloud") else str(feature.shape)


def check_pair(feature: Any, partner: Any) -> int:  # noqa: ANN401, sections
    """Return how many pairs a feature makes with a surface or another feature; refuses what has no geometry."""
    own = member_shape(feature)
    if isinstance(partner, Shape):
        if own == "circle" and getattr(partner, "shape", "") != "plane":
            refuse(f"{feature.name!r} is a circle: of surfaces it touches planes only; {partner.name!r} is none")
        partner.check_tip(feature.radius)
        return int(feature.member_count())
    other = member_shape(partner)
    if (own, other) not in ON_FEATURES:
        if (other, own) in ON_FEATURES:
            refuse(f"{feature.name!r} is a {own} and {partner.name!r} a {other}: state them the other way round")
        refuse(f"{feature.name!r} is a {own} and {partner.name!r} a {other}: these two cannot touch each other")
    return int(feature.member_count() * partner.member_count())
