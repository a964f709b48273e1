"""Surfaces, normal-force laws and friction laws a scenario can name: one line each.

A part of your own is named "module:Class"; its keys are the class's fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from dockdyn.deferred import jnp
from dockdyn.parameters import DeviceModel
from dockdyn.scenario.language.units import Coordinate, quantity
from dockdyn.scenario.tables.geometry import Direction, Length, Point
from dockdyn.scenario.tables.mesh import MeshSection
from dockdyn.scenario.tables.own_part import OwnFriction, OwnNormalLaw, OwnShape
from dockdyn.scenario.tables.part import Part, array, choice, part, refuse
from dockdyn.scenario.tables.profile import Corner, outlined

if TYPE_CHECKING:
    from dockdyn.contact.laws.compliance_device import ComplianceDevice
    from dockdyn.contact.laws.force_stroke import ForceStroke
    from dockdyn.contact.laws.hunt_crossley import HuntCrossley
    from dockdyn.contact.surfaces.cone import Cone


def cone(apex, axis, half_angle, rim_radius, depth) -> Cone:
    """Return a cone whose wall ends at the rim radius or at the depth, whichever comes first."""

    from dockdyn.contact.surfaces.cone import Cone

    ends = [] if rim_radius is None else [rim_radius]
    if depth is not None:
        ends.append(depth * jnp.tan(half_angle))
    return Cone.of(apex, axis, half_angle, jnp.min(jnp.stack(ends)) if ends else None)


def _damping_one_way(law: Any) -> None:  # noqa: ANN401, a table that `part` makes
    stated = (law.damping is not None, law.restitution is not None, law.speed is not None)
    if stated not in ((True, False, False), (False, True, True)):
        refuse("must state either damping, or restitution with the speed at which it holds")


def hunt_crossley(exponent, stiffness, damping, restitution, speed) -> HuntCrossley:
    from dockdyn.contact.laws.hunt_crossley import HuntCrossley, damping_for

    if damping is None:
        damping = damping_for(restitution, speed)
    return HuntCrossley(exponent=exponent, stiffness=stiffness, damping=damping)


def table(law: Any) -> None:  # noqa: ANN401, a table that `part` makes
    for name in ("force", "unloading_force"):
        column = getattr(law, name)
        if column is not None and len(column) != len(law.stroke):
            refuse(f"{name} has {len(column)} values; must have one for each of the {len(law.stroke)} strokes")
    if law.stroke[0] != 0 or any(b <= a for a, b in zip(law.stroke, law.stroke[1:], strict=False)):
        refuse("stroke must start at 0 and increase")


def force_stroke(stroke, force, unloading_force, **others) -> ForceStroke:
    from dockdyn.contact.laws.force_stroke import ForceStroke

    return ForceStroke(
        stroke=stroke, loading=force, unloading=force if unloading_force is None else unloading_force, **others
    )


class Spring(Part):
    """One spring of a compliance device; without a stiffness of its own it has the device's."""

    anchor: Point
    stiffness: quantity("N/m", "a stiffness", least=0) | None = None

    def make(self) -> Spring:
        return self


def _stiffness_known(law: Any) -> None:  # noqa: ANN401, a table that `part` makes
    if law.stiffness is None and any(spring.stiffness is None for spring in law.springs):
        refuse("must give a stiffness for all springs, or one for each")


def compliance_device(axis, length, ratio, stiffness, springs, model) -> ComplianceDevice:

    from dockdyn.contact.laws.compliance_device import ComplianceDevice

    axis = axis / jnp.linalg.norm(axis)
    each = [stiffness if spring.stiffness is None else jnp.asarray(spring.stiffness, float) for spring in springs]
    anchors = jnp.stack([array(spring.anchor) for spring in springs])
    return ComplianceDevice(
        axis=axis, length=length, ratio=ratio, stiffness=jnp.stack(each), anchors=anchors, model=model
    )


Exponent = (quantity("", "an exponent", least=1), 1.5)
Power = quantity("N/m**{exponent}", "a stiffness", above=0)
Damping = quantity("N*s/m", "a damping", least=0)
Stiffness = quantity("N/m", "a stiffness", above=0)
Forces = Annotated[list[quantity("N", "a force", component=True, least=0)], Field(fail_fast=True)]

NormalLawSection: Any = choice(
    "law",
    [
        part(
            "law",
            "spring-dashpot",
            "dockdyn.contact.laws.spring_dashpot:SpringDashpot",
            stiffness=Stiffness,
            damping=(Damping, 0.0),
            adhesion=(bool, False),
        ),
        part("law", "hertz", "dockdyn.contact.laws.hertz:Hertz", exponent=Exponent, stiffness=Power),
        part(
            "law",
            "hunt-crossley",
            hunt_crossley,
            _damping_one_way,
            exponent=Exponent,
            stiffness=Power,
            damping=(quantity("s/m", "a damping", least=0) | None, None),
            restitution=(quantity("", "a restitution", above=0, most=1) | None, None),
            speed=(quantity("m/s", "a speed", above=0) | None, None),
        ),
        part(
            "law",
            "force-stroke",
            force_stroke,
            table,
            stroke=Annotated[list[Coordinate], Field(min_length=2, fail_fast=True)],
            force=Forces,
            unloading_force=(Forces | None, None),
            bottoming_stiffness=quantity("N/m", "a stiffness", least=0),
            preload=(quantity("N", "a force", least=0), 0.0),
            damping=(Damping, 0.0),
            transition_rate=(quantity("m/s", "a speed", above=0), 1e-3),  # m/s
        ),
        part(
            "law",
            "compliance-device",
            compliance_device,
            _stiffness_known,
            axis=(Direction, [1.0, 0.0, 0.0]),
            length=Length,
            ratio=quantity("", "a ratio of lengths", least=0, below=1),
            stiffness=(quantity("N/m", "a stiffness", least=0) | None, None),
            springs=Annotated[list[Spring], Field(min_length=1)],
            model=(DeviceModel, "as-published"),
        ),
    ],
    OwnNormalLaw,
)

FrictionSection: Any = choice(
    "law",
    [
        part(
            "law",
            "coulomb",
            "dockdyn.contact.laws.friction:Coulomb",
            coefficient=quantity("", "a friction coefficient", least=0),
            regularisation=(quantity("m/s", "a speed", above=0), 1e-4),  # m/s
        )
    ],
    OwnFriction,
)

Parts = Annotated[list["SurfaceSection"], Field(min_length=2)]
PlaneShape = part("shape", "plane", "dockdyn.contact.surfaces.plane:Plane.of", point=Point, normal=Direction)
UnionShape = part("shape", "union", "dockdyn.contact.surfaces.combined:Union", parts=Parts)
IntersectionShape = part("shape", "intersection", "dockdyn.contact.surfaces.combined:Intersection", parts=Parts)

SurfaceSection: Any = choice(
    "shape",
    [
        part(
            "shape",
            "cone",
            cone,
            apex=Point,
            axis=Direction,
            half_angle=quantity("rad", "an angle", above=0, below=1.5707963267948966),
            rim_radius=(Length | None, None),
            depth=(Length | None, None),
        ),
        PlaneShape,
        part(
            "shape",
            "sphere",
            "dockdyn.contact.surfaces.sphere:Sphere",
            centre=Point,
            radius=Length,
            inside=(bool, False),
        ),
        part(
            "shape",
            "cylinder",
            "dockdyn.contact.surfaces.cylinder:Cylinder.of",
            point=Point,
            axis=Direction,
            radius=Length,
            inside=(bool, False),
        ),
        part(
            "shape",
            "torus",
            "dockdyn.contact.surfaces.torus:Torus.of",
            centre=Point,
            axis=Direction,
            major_radius=Length,
            minor_radius=Length,
        ),
        part(
            "shape",
            "revolved",
            "dockdyn.contact.surfaces.revolved:Revolved.of",
            outlined,
            point=(Point, [0.0, 0.0, 0.0]),
            axis=Direction,
            profile=Annotated[list[Corner], Field(min_length=3, fail_fast=True)],
            rounding=(quantity("m", "a radius", least=0), 0.0),
        ),
        MeshSection,
        UnionShape,
        IntersectionShape,
    ],
    OwnShape,
)
for combined in (UnionShape, IntersectionShape):
    combined.model_rebuild(_types_namespace={"SurfaceSection": SurfaceSection})
