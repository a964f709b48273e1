"""A spring latch in a scenario: its ramp, and where it sits in a cone."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import model_validator

from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import Number, quantity
from dockdyn.scenario.language.waiting import wait_for
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import NormalLawSection

if TYPE_CHECKING:
    from dockdyn.contact.feature import Feature
    from dockdyn.contact.latch import Ramp
    from dockdyn.contact.laws.normal_law import NormalLaw
    from dockdyn.contact.surfaces.cone import Cone
    from dockdyn.elements import Compliant, Latch
    from dockdyn.mechanics.rigid_body import Placed, RigidBody
    from dockdyn.mechanics.vector import Scalar


@functools.lru_cache(maxsize=1024)
def _travel_of(angle: float, axial_length: float | None, lateral_length: float | None) -> float:
    """The ramp's travel (m); kept, since a campaign asks for the same one again and again."""
    from dockdyn.scenario.made import travel

    return float(travel(angle, axial_length, lateral_length))


Length = quantity("m", "a length", above=0)


class RampSection(Section):
    """The ramp of a probe and the spring of the latch that rides on it; the ramp's length either way, not both."""

    stiffness: quantity("N/m", "a stiffness", above=0)
    angle: quantity("rad", "an angle", above=0, below=math.pi / 2)
    axial_length: Length | None = None
    lateral_length: Length | None = None
    preload: quantity("N", "a force", least=0) | None = None
    friction: Number | None = None
    regularisation: quantity("m/s", "a speed", above=0) = 1e-5

    @model_validator(mode="after")
    def sound(self) -> Self:
        if (self.axial_length is None) == (self.lateral_length is None):
            both = "not both" if self.axial_length is not None else "one of them"
            refuse(f"axial_length or lateral_length of the ramp: give {both}")
        if self.friction is None:
            return self
        wait_for("jax")
        from dockdyn.impact.formulas.latching import JAM

        if not 0 <= self.friction * math.tan(self.angle) < JAM:
            limit = f"{1 / math.tan(self.angle):g}"
            refuse(
                f"friction = {self.friction:g}: must be at least 0 and below 1/tan(angle) = {limit}, where the probe jams"
            )
        return self

    def travel(self) -> Scalar | float:
        """Return the travel (m) from where the ramp begins to its end, also from traced numbers."""
        stated = self.angle, self.axial_length, self.lateral_length
        if all(isinstance(number, float | None) for number in stated):
            return _travel_of(*stated)
        from dockdyn.impact.formulas.latching import latch_travel

        return latch_travel(*stated)

    def ramp(self) -> Ramp:
        """The ramp, also from traced numbers."""
        import jax.numpy as jnp

        from dockdyn.contact.latch import Ramp
        from dockdyn.impact.formulas.latching import latch_ramp

        travel = jnp.asarray(self.travel(), float)
        friction, preload = (0.0 if value is None else value for value in (self.friction, self.preload))
        made = latch_ramp(self.stiffness, self.angle, travel, friction, preload)
        return Ramp(
            stiffness=made.stiffness,
            slope=made.slope,
            length=made.length,
            preload=made.preload,
            friction=made.friction,
            regularisation=jnp.asarray(self.regularisation, float),
        )


def _preferred(stated: tuple[Any, Any], spare: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
    """Two numbers as stated, and those of `spare` where they are not."""
    import jax.numpy as jnp

    first, second = (
        other if own is None else jnp.asarray(own, float) for own, other in zip(stated, spare, strict=True)
    )
    return first, second


class CatchSection(Section):
    """How a latch that has fallen in yields; what is not stated is that of the contact of tip and cone."""

    stiffness: quantity("N/m", "a stiffness", above=0) | None = None
    damping: quantity("N*s/m", "a damping", least=0) | None = None
    stroke: Length | None = None
    turning_stiffness: quantity("N*m/rad", "a stiffness", above=0) | None = None
    turning_damping: quantity("N*m*s/rad", "a damping", least=0) | None = None

    def make(self, ramp: Ramp, entry: Scalar, lever: Scalar | None, law: NormalLaw | None) -> Compliant:
        """The grip, also from traced numbers: `lever` (m) is that of a weld, `law` that of the tip's contact, if any."""
        import jax.numpy as jnp

        from dockdyn.contact.laws.linearised import linearised
        from dockdyn.elements import Compliant

        stated = self.stiffness, self.damping
        if law is not None and None in stated:
            stated = _preferred(stated, linearised(law, ramp.greatest_force(), entry))
        stiffness, damping = (jnp.asarray(0.0 if value is None else value, float) for value in stated)
        turning = None
        if lever is not None:
            turning = _preferred(
                (self.turning_stiffness, self.turning_damping), (lever**2 * stiffness, lever**2 * damping)
            )
        stroke = jnp.asarray(entry if self.stroke is None else self.stroke, float)
        return Compliant(stiffness, damping, turning, stroke=stroke)


class ConeLatchSection(RampSection):
    """A spring latch in the throat of a cone; `entry` is the tip's distance from the apex where the ramp begins."""

    feature: str
    surface: str
    entry: Length
    hold: Literal["pin", "weld"] = "pin"
    hold_law: Literal["compliant", "rigid"] = "compliant"
    catch: CatchSection = CatchSection()
    ends_run: bool = False

    @model_validator(mode="after")
    def holding(self) -> Self:
        stated = [name for name, value in self.catch if value is not None]
        if self.hold_law == "rigid" and stated:
            refuse(f'catch.{stated[0]}: hold_law = "rigid" has no catch that yields; leave one of the two out')
        if self.hold == "pin" and (turning := [name for name in stated if name.startswith("turning")]):
            refuse(f'catch.{turning[0]}: a tip held by hold = "pin" turns freely; leave it out, or hold = "weld"')
        return self

    def make(
        self, feature: Feature, cone: Cone, sides: tuple[tuple[RigidBody, Placed], ...], law: NormalLaw | None
    ) -> Latch:
        """The latch, also from traced numbers.

        Args:
            feature: the tip that it catches.
            cone: what it sits in.
            sides: the body with the tip and the body with the cone, as they are at the start.
            law: that of the contact of tip and cone, if there is one.
        """
        import jax.numpy as jnp

        from dockdyn.elements import Latch, Rigid, first_swing
        from dockdyn.mechanics.vector import Vector

        ramp, entry = self.ramp(), jnp.asarray(self.entry, float)
        seat = Vector.of(cone.apex) + Vector.of(cone.axis) * (entry - ramp.length)
        lateral = entry * cone.sine / cone.cosine
        grip: Compliant | Rigid = Rigid(self.hold)
        if self.hold_law == "compliant":
            lever = None
            if self.hold == "weld":
                lever = jnp.maximum(jnp.linalg.norm(feature.position), lateral)
            (_, own), (_, other) = sides
            if law is not None:  # head on
                law = law.along(own.rotation.transposed_times(other.rotation @ Vector.of(cone.axis)))
            grip = self.catch.make(ramp, entry, lever, law)
            first, second = (
                jnp.linalg.norm(body.inertia) + body.mass * place.dot(place)
                for (body, _), place in zip(sides, (Vector.of(feature.position), seat), strict=True)
            )
            swing = first_swing(grip, (sides[0][0].mass, sides[1][0].mass), (first, second))
            grip = replace(grip, swing=swing)
        return Latch(feature.position, seat.array(), cone.axis, lateral, ramp, grip, ends_run=self.ends_run)

    def fits(self, half_angle: float, radius: float, law: NormalLawSection | None) -> None:
        """Refuses what cannot be of a tip of `radius` (m) in a cone of `half_angle` (rad) with the contact `law`.

        That is a latch that falls in deeper than the tip can come, and a catch of which nothing tells the stiffness.
        """
        deepest = radius / math.sin(half_angle)
        end = self.entry - float(self.travel())
        if end < deepest:
            refuse(
                f"latch.entry = {self.entry:g} m: the ramp ends {end:g} m from the apex, where the tip cannot come; "
                f"must be at least {self.entry - end + deepest:g} m"
            )
        if self.hold_law == "rigid":
            return
        if self.catch.stiffness is None and law is None:
            refuse(
                f"latch.catch.stiffness: no [[contact]] of {self.feature!r} with {self.surface!r} tells it; must be "
                'stated, or latch.hold_law be "rigid"'
            )
        if self.catch.damping is None and getattr(law, "unloading_force", None) is not None:
            refuse("latch.catch.damping: must be stated, since the contact's law has an unloading_force of its own")
