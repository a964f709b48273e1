"""Surfaces, normal-force laws and friction laws a scenario can name: one line each.

A part of your own is named "module:Class"; its keys are the class's fields.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from dockdyn.deferred import jnp
from dockdyn.parameters import DeviceModel
from dockdyn.scenario.language.units import Coordinate, quantity
from dockdyn.scenario.tables.force_table import LAW, never_falling
from dockdyn.scenario.tables.geometry import Direction, Length, Point
from dockdyn.scenario.tables.mesh import MeshSection
from dockdyn.scenario.tables.own_part import OwnFriction, OwnNormalLaw, OwnShape
from dockdyn.scenario.tables.part import Part, array, choice, part, refuse
from dockdyn.scenario.tables.profile import Corner, refuse_bad_outline

if TYPE_CHECKING:
    from dockdyn.contact.laws.compliance_device import ComplianceDevice
    from dockdyn.contact.laws.coulomb import Coulomb
    from dockdyn.contact.laws.force_stroke import ForceStroke
    from dockdyn.contact.laws.hunt_crossley import HuntCrossley
    from dockdyn.contact.laws.lugre import LuGre
    from dockdyn.contact.laws.measured_force import MeasuredForce
    from dockdyn.contact.laws.normal_law import NormalLaw
    from dockdyn.contact.laws.relative_damping import DampedByRestitution
    from dockdyn.contact.laws.stick_slip import StickSlip
    from dockdyn.contact.surfaces.cone import Cone


def cone(apex, axis, half_angle, rim_radius, depth) -> Cone:
    """Return a cone whose wall ends at the rim radius or at the depth, whichever comes first."""

    from dockdyn.contact.surfaces.cone import Cone

    ends = [] if rim_radius is None else [rim_radius]
    if depth is not None:
        ends.append(depth * jnp.tan(half_angle))
    return Cone.of(apex, axis, half_angle, jnp.min(jnp.stack(ends)) if ends else None)


def cone_depth(section: Any) -> float:  # noqa: ANN401, the table of a cone
    """Return how far (m) from its apex the wall of a cone ends, along its axis; infinite of one that ends nowhere."""
    rim = math.inf if section.rim_radius is None else section.rim_radius / math.tan(section.half_angle)
    return min(rim, math.inf if section.depth is None else section.depth)


def stated_damping(table: Any, *, needed: bool = False) -> list[str]:  # noqa: ANN401, a table of whatever kind
    """Return the key by which a table states its damping, if it does.

    Refuses damping that is stated in two ways, or in none where it is `needed`.
    """
    ways = [key for key in ("damping", "damping_ratio", "restitution") if hasattr(table, key)]
    stated = [key for key in ways if getattr(table, key) is not None]
    if len(stated) > 1 or (needed and not stated):
        found, all_ways = " and ".join(stated) if stated else "none", f"{', '.join(ways[:-1])} and {ways[-1]}"
        refuse(f"has {found} of {all_ways}; must state one of them")
    return stated


def keys_without(table: Any, needs: Mapping[str, Sequence[str]]) -> set[str]:  # noqa: ANN401, a table of whatever kind
    """Return the keys of a table that do nothing, for what they are of is not stated; `needs` has them by that."""
    return {key for needed, keys in needs.items() if getattr(table, needed) is None for key in keys}


def refuse_keys_without(table: Any, needs: Mapping[str, Sequence[str]]) -> None:  # noqa: ANN401, a table of whatever kind
    """Refuse keys that a table states while it does not state what they are of, for nothing would be done.

    Stated is what is neither zero nor as it is without: a table that was checked before has all its keys.
    """
    idle, fields = keys_without(table, needs), type(table).model_fields
    for needed, keys in needs.items():
        for key in keys:
            value = getattr(table, key)
            if key in idle and value and value != fields[key].default:
                refuse(f"{key}: is of {needed}, which is not stated; state both, or leave {key} out")


def ratio_of(damping_ratio: Any, restitution: Any, adhesion: bool = False) -> Any:  # noqa: ANN401, numbers or traced ones
    """Return the damping ratio that is stated, or that of a spring and dashpot with the restitution; None without either."""
    from dockdyn.impact.formulas.contact_duration import kelvin_voigt_damping_ratio

    if restitution is None:
        return damping_ratio
    return kelvin_voigt_damping_ratio(restitution, "zero-depth" if adhesion else "zero-force")


def _one_damping(law: Any, *, needed: bool = False) -> Any:  # noqa: ANN401, a table that `part` makes
    """Return the law, its damping zero where none is stated.

    Refuses what `stated_damping` does, and a speed that is missing or says nothing.
    """
    stated = stated_damping(law, needed=needed)
    if hasattr(law, "speed"):
        relative = bool(stated) and stated != ["damping"]
        if relative and law.speed is None:
            refuse(f"{stated[0]}: depends on the speed of the impact; must have speed beside it, at which it holds")
        if law.speed is not None and not relative:
            refuse("speed: is that of a damping_ratio or a restitution; must be left out")
    return law if stated else law.model_copy(update={"damping": 0.0})


def _needed_damping(law: Any) -> None:  # noqa: ANN401, a table that `part` makes
    _one_damping(law, needed=True)


def relative_key(law: Any) -> str:  # noqa: ANN401, a section of a law
    """Return the key by which a law states its damping relative to the bodies that meet; empty where it does not, and of
    Hunt and Crossley's, which is the same between all bodies, and one's own, whose keys are its own."""
    if law is None or law.law == "hunt-crossley" or isinstance(law, OwnNormalLaw):
        return ""
    return next((key for key in ("damping_ratio", "restitution") if getattr(law, key, None) is not None), "")


def spring_dashpot(stiffness, damping, damping_ratio, restitution, adhesion) -> NormalLaw:
    """Return the law; one that waits for an effective mass where the damping is not stated itself."""

    from dockdyn.contact.laws.relative_damping import DampedByRatio
    from dockdyn.contact.laws.spring_dashpot import SpringDashpot

    law = SpringDashpot(stiffness, jnp.zeros(()) if damping is None else damping, adhesion)
    ratio = ratio_of(damping_ratio, restitution, adhesion)
    return law if ratio is None else DampedByRatio(law, ratio)


def _restitution_of(damping_ratio, restitution) -> Any:  # noqa: ANN401, a number as an array
    """Return the restitution that is stated, or that a spring and dashpot of the damping ratio would have."""
    from dockdyn.impact.formulas.contact_duration import kelvin_voigt_restitution

    return kelvin_voigt_restitution(damping_ratio) if restitution is None else restitution


def hunt_crossley(exponent, stiffness, damping, damping_ratio, restitution, speed) -> HuntCrossley:
    from dockdyn.contact.laws.hunt_crossley import HuntCrossley, damping_for

    if damping is None:
        damping = damping_for(_restitution_of(damping_ratio, restitution), speed)
    return HuntCrossley(exponent=exponent, stiffness=stiffness, damping=damping)


def table(law: Any) -> Any:  # noqa: ANN401, a table that `part` makes
    for name in ("force", "unloading_force"):
        column = getattr(law, name)
        if column is not None and len(column) != len(law.stroke):
            refuse(f"{name} has {len(column)} values; must have one for each of the {len(law.stroke)} strokes")
    if law.stroke[0] != 0 or any(b <= a for a, b in zip(law.stroke, law.stroke[1:], strict=False)):
        refuse("stroke must start at 0 and increase")
    return _one_damping(law)


def force_stroke(
    stroke, force, unloading_force, damping, damping_ratio, restitution, speed, **others
) -> ForceStroke | DampedByRestitution:
    """Return the law; one that waits for an effective mass where the damping is not stated itself."""

    from dockdyn.contact.laws.force_stroke import ForceStroke
    from dockdyn.contact.laws.relative_damping import DampedByRestitution

    law = ForceStroke(
        stroke=stroke,
        loading=force,
        unloading=force if unloading_force is None else unloading_force,
        damping=jnp.zeros(()) if damping is None else damping,
        **others,
    )
    return law if speed is None else DampedByRestitution(law, _restitution_of(damping_ratio, restitution), speed)


def flatter_when_plastic(law: Any) -> None:  # noqa: ANN401, a table that `part` makes
    if not law.plastic_stiffness < law.stiffness:
        refuse(f"plastic_stiffness = {law.plastic_stiffness:g} N/m: must be below the stiffness, {law.stiffness:g} N/m")
    if law.yield_force == 0 and law.plastic_stiffness == 0:
        refuse("yield_force and plastic_stiffness are both 0: nothing would press; one must be above 0")


def measured_force(depth, rate, force) -> MeasuredForce:
    from dockdyn.contact.laws.measured_force import MeasuredForce

    return MeasuredForce(depth, rate, force)


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
HertzStiffness = quantity("N/m**1.5", "a stiffness", above=0)
Force = quantity("N", "a force", above=0)
Damping = quantity("N*s/m", "a damping", least=0)
Stiffness = quantity("N/m", "a stiffness", above=0)
StatedRatio = quantity("", "a damping ratio", least=0) | None
StatedRestitution = quantity("", "a restitution", above=0, most=1) | None
DampingRatio = (StatedRatio, None)
Restitution = (StatedRestitution, None)
Speed = (quantity("m/s", "a speed", above=0) | None, None)
Forces = Annotated[list[quantity("N", "a force", component=True, least=0)], Field(fail_fast=True)]

NormalLawSection: Any = choice(
    "law",
    [
        part(
            "law",
            "spring-dashpot",
            spring_dashpot,
            _one_damping,
            stiffness=Stiffness,
            damping=(Damping | None, None),
            damping_ratio=DampingRatio,
            restitution=Restitution,
            adhesion=(bool, False),
        ),
        part("law", "hertz", "dockdyn.contact.laws.hertz:Hertz", exponent=Exponent, stiffness=Power),
        part(
            "law",
            "hunt-crossley",
            hunt_crossley,
            _needed_damping,
            exponent=Exponent,
            stiffness=Power,
            damping=(quantity("s/m", "a damping", least=0) | None, None),
            damping_ratio=DampingRatio,
            restitution=Restitution,
            speed=Speed,
        ),
        part(
            "law",
            "elastic-plastic",
            "dockdyn.contact.laws.elastic_plastic:ElasticPlastic",
            flatter_when_plastic,
            stiffness=Stiffness,
            yield_force=quantity("N", "a force", least=0),
            plastic_stiffness=(quantity("N/m", "a stiffness", least=0), 0.0),
            damping=(Damping, 0.0),
        ),
        part(
            "law",
            "thornton",
            "dockdyn.contact.laws.thornton:Thornton",
            stiffness=HertzStiffness,
            yield_force=Force,
        ),
        part(
            "law",
            "zener",
            "dockdyn.contact.laws.zener:Zener",
            stiffness=Stiffness,
            series_stiffness=Stiffness,
            relaxation_time=quantity("s", "a time", above=0),
        ),
        part(
            "law",
            "dmt",
            "dockdyn.contact.laws.dmt:Dmt",
            exponent=Exponent,
            stiffness=Power,
            pull_off_force=quantity("N", "a force", least=0),
            damping=(Damping, 0.0),
        ),
        part(
            "law",
            "jkr",
            "dockdyn.contact.laws.jkr:Jkr",
            stiffness=HertzStiffness,
            pull_off_force=Force,
            damping=(Damping, 0.0),
        ),
        part(
            "law",
            LAW,
            measured_force,
            never_falling,
            depth=Annotated[list[Coordinate], Field(min_length=2, fail_fast=True)],
            rate=(
                Annotated[list[quantity("m/s", "a speed", component=True)], Field(min_length=1, fail_fast=True)],
                [0.0],
            ),
            force=Annotated[list[Forces], Field(min_length=2, fail_fast=True)],
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
            damping=(Damping | None, None),
            damping_ratio=DampingRatio,
            restitution=Restitution,
            speed=Speed,
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

REMEMBERING = ("elastic-plastic", "thornton", "zener", "jkr", "stick-slip", "lugre")


def remembers(law: Any) -> bool:  # noqa: ANN401, a section of a law
    """Return whether what a law does depends on what was; one's own says so itself."""
    return law.law in REMEMBERING or (isinstance(law, OwnNormalLaw | OwnFriction) and law.make().remembers())


def creeps(law: Any) -> bool:  # noqa: ANN401, a section of a normal law
    """Return whether a law remembers small motions about rest, so that stiffness and damping do not tell them."""
    return remembers(law) and law.make().at_rest(np.zeros(())).remembers()


SLOW_TURN = 1e-3  # rad/s
EQUAL_METALS = 2 * (1 - 0.3) / (2 - 0.3)  # 2 (1 − ν) / (2 − ν) of Mindlin, for Poisson's number 0.3 on both sides


def _turning_lengths(rolling, spinning) -> tuple[Any, Any] | None:
    """Return both lengths (m), one that is not stated zero; None where neither is."""
    if rolling is None and spinning is None:
        return None
    return jnp.zeros(()) if rolling is None else rolling, jnp.zeros(()) if spinning is None else spinning


def regularised(friction: Any) -> None:  # noqa: ANN401, a table that `part` makes
    if friction.turning_regularisation is not None and friction.rolling is None and friction.spinning is None:
        refuse("turning_regularisation: nothing resists turning; must have rolling or spinning beside it")


def coulomb(coefficient, regularisation, rolling, spinning, turning_regularisation) -> Coulomb:
    from dockdyn.contact.laws.coulomb import Coulomb
    from dockdyn.contact.laws.turning_resistance import TurningResistance

    lengths = _turning_lengths(rolling, spinning)
    slowest = jnp.asarray(SLOW_TURN) if turning_regularisation is None else turning_regularisation
    turning = None if lengths is None else TurningResistance(*lengths, slowest)
    return Coulomb(coefficient, regularisation, turning)


def sticking(friction: Any) -> None:  # noqa: ANN401, a table that `part` makes
    if friction.stiffness is not None and friction.stiffness_ratio is not None:
        refuse("has stiffness and stiffness_ratio; must state one of them")
    turning = [key for key in ("rolling", "spinning") if getattr(friction, key) is not None]
    if turning and friction.coefficient == 0:
        refuse(f"{turning[0]}: holds by the springs along the surface; coefficient must be above 0")


def stick_slip(
    coefficient, static_coefficient, stribeck_speed, stiffness, stiffness_ratio, retardation_time, rolling, spinning
) -> StickSlip:
    from dockdyn.contact.laws.stick_slip import StickSlip

    lengths = _turning_lengths(rolling, spinning)
    friction = StickSlip(
        coefficient,
        jnp.asarray(EQUAL_METALS) if stiffness_ratio is None else stiffness_ratio,
        coefficient if static_coefficient is None else static_coefficient,
        stribeck_speed,
        retardation_time,
        None if lengths is None else (lengths[0] / coefficient, lengths[1] / coefficient),
    )
    return friction if stiffness is None else friction.with_spring(stiffness)


def lugre(coefficient, static_coefficient, stribeck_speed, presliding, retardation_time, viscosity) -> LuGre:
    from dockdyn.contact.laws.lugre import LuGre

    static = coefficient if static_coefficient is None else static_coefficient
    return LuGre(coefficient, static, stribeck_speed, presliding, retardation_time, viscosity)


TurningLength = (quantity("m", "a length", least=0) | None, None)
FrictionSection: Any = choice(
    "law",
    [
        part(
            "law",
            "coulomb",
            coulomb,
            regularised,
            coefficient=quantity("", "a friction coefficient", least=0),
            regularisation=(quantity("m/s", "a speed", above=0), 1e-4),  # m/s
            rolling=TurningLength,
            spinning=TurningLength,
            turning_regularisation=(quantity("rad/s", "a rate", above=0) | None, None),
        ),
        part(
            "law",
            "stick-slip",
            stick_slip,
            sticking,
            coefficient=quantity("", "a friction coefficient", least=0),
            static_coefficient=(quantity("", "a friction coefficient", least=0) | None, None),
            stribeck_speed=(quantity("m/s", "a speed", above=0), 1e-3),  # m/s
            stiffness=(Stiffness | None, None),
            stiffness_ratio=(quantity("", "a ratio of stiffnesses", above=0) | None, None),
            retardation_time=(quantity("s", "a time", least=0), 0.0),  # s
            rolling=TurningLength,
            spinning=TurningLength,
        ),
        part(
            "law",
            "lugre",
            lugre,
            coefficient=quantity("", "a friction coefficient", above=0),
            static_coefficient=(quantity("", "a friction coefficient", above=0) | None, None),
            stribeck_speed=(quantity("m/s", "a speed", above=0), 1e-3),  # m/s
            presliding=quantity("m", "a length", above=0),
            retardation_time=(quantity("s", "a time", least=0), 0.0),  # s
            viscosity=(quantity("s/m", "a viscosity over the normal force", least=0), 0.0),  # s/m
        ),
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
            refuse_bad_outline,
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
    combined.__module__ = __name__  # where their parts are looked for, once a scenario states them
    combined.model_fields["parts"].annotation = list[SurfaceSection]  # for who reads what there may be
