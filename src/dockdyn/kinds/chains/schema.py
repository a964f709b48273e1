"""Scenario kinds `four-mass` and `latch`: chaser and target on a line, each one or two masses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.latch import RampSection
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import NormalLawSection
from dockdyn.scenario.tables.run import Duration, IntegratorSection, OutputSection

if TYPE_CHECKING:
    from dockdyn.contact.latch import Ramp
    from dockdyn.kinds.chains.model import Chains, Numbers
    from dockdyn.kinds.chains.model_four_mass import FourMass
    from dockdyn.kinds.chains.model_latch import LatchingChains


class ChainSection(Section):
    """Chaser or target: one mass, or two with a spring and damper between, in the order on the line."""

    masses: Annotated[list[quantity("kg", "a mass", above=0)], Field(min_length=1, max_length=2)]
    stiffness: quantity("N/m", "a stiffness", above=0) | None = None
    damping: quantity("N*s/m", "a damping coefficient", least=0) | None = None

    @model_validator(mode="after")
    def joined(self) -> Self:
        if len(self.masses) == 2 and self.stiffness is None:
            refuse("two masses need a stiffness between them")
        for name in ("stiffness", "damping"):
            if len(self.masses) == 1 and getattr(self, name) is not None:
                refuse(f"a single mass has no {name}; give two masses or leave it out")
        return self

    def springs(self) -> tuple[Numbers, Numbers]:
        """Stiffness and damping of what joins the masses."""
        import jax.numpy as jnp

        if self.stiffness is None:
            return (), ()
        damping = 0.0 if self.damping is None else self.damping
        return (jnp.asarray(self.stiffness, float),), (jnp.asarray(damping, float),)


class LineSection(Section):
    """What the two kinds share: the chaser comes at `speed` to a target at rest, from a `gap` before it."""

    schema_: Literal[1] = Field(1, alias="schema")
    duration: Duration
    speed: quantity("m/s", "a speed", above=0)
    gap: quantity("m", "a gap", above=0) = 1e-3
    chaser: ChainSection
    target: ChainSection
    integrator: IntegratorSection = IntegratorSection()
    output: OutputSection = OutputSection()

    def chains(self) -> Chains:
        import jax.numpy as jnp

        from dockdyn.kinds.chains.model import Chains

        sides = (self.chaser, self.target)
        springs = [side.springs() for side in sides]
        masses = [tuple(jnp.asarray(mass, float) for mass in side.masses) for side in sides]
        return Chains(
            masses=(masses[0], masses[1]),
            stiffness=(springs[0][0], springs[1][0]),
            damping=(springs[0][1], springs[1][1]),
        )

    def start(self) -> dict[str, Any]:
        """Positions and velocities at t = 0, and no delay."""
        import jax.numpy as jnp

        counts = [len(self.chaser.masses), len(self.target.masses)]
        place, speed = -jnp.asarray(self.gap, float), jnp.asarray(self.speed, float)
        still = (jnp.zeros(()),) * counts[1]
        return {"positions": (place,) * counts[0] + still, "velocities": (speed,) * counts[0] + still, "delay": None}


class AxialContactSection(Section):
    """The contact between the masses that meet."""

    normal: NormalLawSection


class FourMassSection(LineSection):
    """Two chains of masses that collide."""

    kind: Literal["four-mass"] = "four-mass"
    title: str = "Impact of two chains of masses"
    contact: AxialContactSection

    def model(self) -> FourMass:
        """The model, also from traced numbers."""
        from dockdyn.contact.axial import AxialContact
        from dockdyn.kinds.chains.model_four_mass import FourMass

        return FourMass(chains=self.chains(), contact=AxialContact(law=self.contact.normal.make()), **self.start())


class LatchSection(LineSection):
    """A probe that meets a spring latch."""

    kind: Literal["latch"] = "latch"
    title: str = "Probe and spring latch"
    latch: RampSection

    @model_validator(mode="after")
    def located(self) -> Self:
        if self.integrator.method != "located":
            refuse("integrator.method must be located: a latch falls in at an instant")
        return self

    def ramp(self) -> Ramp:
        return self.latch.ramp()

    def model(self) -> LatchingChains:
        """The model, also from traced numbers."""
        from dockdyn.kinds.chains.model_latch import LatchingChains

        return LatchingChains(chains=self.chains(), ramp=self.ramp(), **self.start())
