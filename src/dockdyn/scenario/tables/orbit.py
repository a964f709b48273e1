"""The orbit that a system flies along: `[orbit]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from dockdyn.deferred import jnp
from dockdyn.scenario.language.section import Section, absent
from dockdyn.scenario.language.units import quantity

if TYPE_CHECKING:
    from dockdyn.mechanics.orbit import Orbit

EARTH = 3.986004418e14  # m³/s², WGS 84


class OrbitSection(Section):
    """A Kepler orbit in the x–y plane, pericentre on +x; the frame moves along it and does not turn."""

    semi_major_axis: quantity("m", "a length", above=0)
    eccentricity: Annotated[float, Field(ge=0, lt=1)] = 0.0
    gravitational_parameter: quantity("m**3/s**2", "a gravitational parameter", above=0) = EARTH
    true_anomaly: quantity("rad", "an angle") = 0.0
    gravity_gradient: bool = False
    absent_at_zero: ClassVar = ("eccentricity",)

    @property
    def circular(self) -> bool:
        return absent(self.eccentricity)

    def make(self) -> Orbit:
        """Return the orbit, also from traced numbers."""

        from dockdyn.mechanics.orbit import Orbit

        return Orbit(
            parameter=jnp.asarray(self.gravitational_parameter, float),
            semi_major_axis=jnp.asarray(self.semi_major_axis, float),
            eccentricity=jnp.asarray(self.eccentricity, float),
            true_anomaly=jnp.asarray(self.true_anomaly, float),
            gradient=self.gravity_gradient,
            circular=self.circular,
        )
