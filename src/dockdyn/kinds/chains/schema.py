"""Scenario kinds `four-mass` and `latch`: chaser and target on a line, each one or two masses.

Each is an assembly in short: what its tables do not say themselves, such as bodies, elements and phases, its assembly says.
"""

from __future__ import annotations

import abc
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from dockdyn.kinds.assembly.schema.assembly import AssemblySection
from dockdyn.kinds.assembly.schema.bodies import BodySection, PortSection
from dockdyn.kinds.assembly.schema.contacts import ContactSection
from dockdyn.kinds.assembly.schema.elements import LatchSection as AnyLatchSection
from dockdyn.kinds.assembly.schema.features import BallSection
from dockdyn.kinds.assembly.schema.joints import PrismaticSection
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.latch import RampSection
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import NormalLawSection, PlaneShape
from dockdyn.scenario.tables.rig.loop import LoopSection
from dockdyn.scenario.tables.run import Duration, IntegratorSection, OutputSection

if TYPE_CHECKING:
    from dockdyn.contact.latch import Ramp
    from dockdyn.mechanism.mechanism import Mechanism

UPRIGHT = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]  # kg m²: on a line nothing turns
HERE = [0.0, 0.0, 0.0]
AHEAD, BACK = [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]


class OnLineSection(AssemblySection):
    """An assembly whose bodies move along the x axis alone; its rigid grips hold along it."""

    on_line: ClassVar[bool] = True

    def points(self) -> list[tuple[str, PortSection, int]]:
        """Return none: what passes through a slide is told, and a mass has no places of its own."""
        return []

    def acting_in_pairs(self) -> Mechanism:
        import jax.numpy as jnp

        from dockdyn.elements import Latch, Rigid
        from dockdyn.mechanics.rigid_body import RigidBody
        from dockdyn.mechanism.mounts import Tie

        found, nothing = super().acting_in_pairs(), jnp.zeros((3, 3))
        elements = tuple(
            replace(one, element=replace(one.element, grip=Rigid("line")))
            if isinstance(one, Tie) and isinstance(one.element, Latch)
            else one
            for one in found.elements
        )
        bodies = tuple(RigidBody(body.mass, nothing, nothing) for body in found.bodies)
        return replace(found, on_line=True, bodies=bodies, elements=elements)


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

    def slide(self, axis: list[float]) -> PrismaticSection:
        """What holds the mass that meets nothing on the one that does; its coordinate, along `axis`, compresses the spring."""
        return PrismaticSection.model_construct(axis=axis, stiffness=self.stiffness, damping=self.damping)


class LineSection(Section, abc.ABC):
    """What the two kinds share: the chaser comes at `speed` to a target at rest, from a `gap` before it."""

    schema_: Literal[1] = Field(1, alias="schema")
    duration: Duration
    speed: quantity("m/s", "a speed", above=0)
    gap: quantity("m", "a gap", above=0) = 1e-3
    chaser: ChainSection
    target: ChainSection
    integrator: IntegratorSection = IntegratorSection()
    output: OutputSection = OutputSection()
    loop: ClassVar[LoopSection] = LoopSection()  # without delay

    @abc.abstractmethod
    def between(self) -> dict[str, Any]:
        """What acts between the two masses that meet, as an assembly states it."""

    def front(self) -> tuple[str, str]:
        """The names of the two masses that meet."""
        count = len(self.chaser.masses)
        return f"mass {count}", f"mass {count + 1}"

    def bodies(self) -> list[BodySection]:
        """The masses, in the order on the line; places are counted from where the two that meet just touch, springs relaxed."""
        chaser, target = self.front()
        coming = {"position": [-self.gap, 0.0, 0.0], "velocity": [self.speed, 0.0, 0.0]}
        found = [
            _mass(chaser, self.chaser.masses[-1], **coming, feature=[_point(chaser)]),
            _mass(target, self.target.masses[0], surface=[_face(target)]),
        ]
        if len(self.chaser.masses) == 2:
            found.insert(0, _mass("mass 1", self.chaser.masses[0], on=chaser, joint=self.chaser.slide(AHEAD)))
        if len(self.target.masses) == 2:
            last = f"mass {len(found) + 1}"
            found.append(_mass(last, self.target.masses[1], on=target, joint=self.target.slide(BACK)))
        return found

    def assembly(self) -> OnLineSection:
        """The assembly that this is, also of traced numbers."""
        shared = {name: getattr(self, name) for name in ("title", "duration", "integrator", "output")}
        return OnLineSection.model_construct(**shared, body=self.bodies(), **self.between())

    def coupling(self) -> None:
        """Return None: no FMU decides of it."""

    def meetings(self) -> list[tuple[str, float]]:
        """Return nothing: what meets begins a gap apart."""
        return []

    def model(self) -> Mechanism:
        """The model, also from traced numbers."""
        return self.assembly().model()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401, of the assembly
        """What the assembly has of this name, where this has not."""
        if name.startswith("_") or not (name in OnLineSection.model_fields or hasattr(OnLineSection, name)):
            raise AttributeError(name)
        return getattr(self.assembly(), name)


def _mass(name: str, mass: float, **stated: Any) -> BodySection:  # noqa: ANN401, keys of a body
    return BodySection.model_construct(name=name, mass=mass, inertia=UPRIGHT, **stated)


def _point(name: str) -> BallSection:
    return BallSection.model_construct(name=name, position=HERE)


def _face(name: str) -> Section:
    return PlaneShape.model_construct(name=name, point=HERE, normal=BACK)


class AxialContactSection(Section):
    """The contact between the masses that meet."""

    normal: NormalLawSection


class FourMassSection(LineSection):
    """Two chains of masses that collide."""

    kind: Literal["four-mass"] = "four-mass"
    title: str = "Impact of two chains of masses"
    contact: AxialContactSection

    def between(self) -> dict[str, Any]:
        chaser, target = self.front()
        name, normal = f"{chaser} on {target}", self.contact.normal
        return {"contact": [ContactSection.model_construct(name=name, feature=chaser, surface=target, normal=normal)]}


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
        """The ramp, also from traced numbers."""
        return self.latch.ramp()

    def between(self) -> dict[str, Any]:
        latch = AnyLatchSection.model_construct(
            name="latch",
            between=list(self.front()),
            anchor=[HERE, [self.latch.travel(), 0.0, 0.0]],
            axis=BACK,
            lateral=1.0,
            ramp=self.latch,
            grip="weld",
        )
        return {"element": [latch]}
