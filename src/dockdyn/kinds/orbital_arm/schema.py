"""Scenario kind `orbital-arm`: an arm on a station in orbit lowers a payload into a bay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from dockdyn.kinds.orbital_arm.schema_bay import (
    BayLatchSection,
    BaySection,
    BounceSection,
    ClosureSection,
    OwnBounceSection,
)
from dockdyn.kinds.orbital_arm.schema_phases import LATCHED, ScheduleSection
from dockdyn.scenario.language.errors import nearest
from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.by_joint import of_slides
from dockdyn.scenario.tables.orbit import OrbitSection
from dockdyn.scenario.tables.own_impact import or_own
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.run import FINEST, Duration, MostSteps, OutputSection
from dockdyn.scenario.tables.tree import GRIP, SCALAR, FlexibleSection, LinkSection, TreeSection, turned_back

if TYPE_CHECKING:
    from dockdyn.kinds.orbital_arm.model import OrbitalArm
    from dockdyn.mechanics.orbit import Orbit
    from dockdyn.mechanics.trees.composite_bodies import Tree

ATTITUDE = ("theta", "attitude_error_orbit")
WHOLE = 1e-9  # relative; by this much an interval may miss a multiple of the step


class VariationalSection(Section):
    """How the variational integrator advances; with an `error` its step varies and `step` is the longest."""

    step: quantity("s", "a step", above=0) = 0.01
    tolerance: Annotated[float, Field(ge=FINEST, le=1e-6)] = 1e-12
    max_iterations: Annotated[int, Field(ge=1, le=1000)] = 20
    error: Annotated[float, Field(gt=0, le=1e-2)] | None = None
    max_events: Annotated[int, Field(ge=1, le=100000)] = 1000
    max_steps: MostSteps = 1_000_000


class OrbitalArmSection(Section):
    """A station with an arm and a payload in a bay, on an orbit or without one."""

    schema_: Literal[1] = Field(1, alias="schema")
    kind: Literal["orbital-arm"] = "orbital-arm"
    title: str = "Orbital arm"
    duration: Duration
    motion: Literal["planar", "free"] = "free"
    orbit: OrNone[OrbitSection] = None
    arm: TreeSection
    contact: OrNone[BaySection] = None
    impact: or_own(BounceSection, OwnBounceSection) = BounceSection.model_construct(restitution=1.0)  # JAX checks
    latch: OrNone[BayLatchSection] = None
    closure: list[ClosureSection] = []  # noqa: RUF012
    control: ScheduleSection = ScheduleSection(law="none")
    integrator: VariationalSection = VariationalSection()
    output: OutputSection = OutputSection()

    @field_validator("control", mode="before")
    @classmethod
    def in_units_of_joints(cls, value: object, info: ValidationInfo) -> object:
        if not isinstance(value, dict) or "arm" not in info.data:
            return value
        joints = info.data["arm"].joints(SCALAR)
        found = value | of_slides(value, joints)
        if isinstance(phases := value.get("phase"), list):
            found["phase"] = [p | of_slides(p, joints) if isinstance(p, dict) else p for p in phases]
        return found

    @model_validator(mode="after")
    def consistent(self) -> Self:
        for link in self.arm.link:
            if link.beam is not None:
                refuse(f"arm.link.{link.name}.beam: links of this kind are rigid; leave it out")
            if link.moves and link.joint == "spherical":
                refuse(f"arm.link.{link.name}.joint = 'spherical': must be revolute, prismatic or locked in this kind")
        if self.planar:
            try:
                self.arm.flat()
            except PydanticCustomError as error:
                refuse(f"arm.{error}")
        for link in self.arm.joints(SCALAR):
            if (name := link.coordinate or link.name) in ATTITUDE:
                refuse(f"arm.link.{link.name}: {name!r} is what the station's attitude is called; must be another name")
        for closure in self.closure:
            closure.check([link.name for link in self.arm.link])
        if self.contact is not None:
            self.placed(self.contact)
        if self.latch is not None:
            self.latch.check(self.contact)
        self.control.check([link.coordinate or link.name for link in self.arm.joints(SCALAR)], self.latch is not None)
        if self.control.releases:
            self.released()
        step, interval = self.integrator.step, self.output.interval
        if interval is not None and self.integrator.error is None:
            steps = interval / step
            if round(steps) < 1 or abs(steps - round(steps)) > WHOLE * steps:
                refuse(f"output.interval = {interval:g} s: must be a multiple of integrator.step = {step:g} s")
        return self

    def placed(self, bay: BaySection) -> None:
        """Refuses a link that there is not, or that carries the surfaces."""
        names, base = [link.name for link in self.arm.link], self.arm.ordered()[0].name
        if bay.link not in names:
            refuse(f"contact.link = {bay.link!r}: no link of the arm; {nearest(bay.link, names)}")
        if bay.link == base:
            refuse(f"contact.link = {bay.link!r}: the station carries the surfaces; must be a link of the arm")

    def released(self) -> None:
        """Refuses a payload that cannot be handed over."""
        assert self.contact is not None  # a release needs a latch, a latch a contact
        payload, name = self.payload(), self.contact.link
        holds = [link.name for link in self.arm.link if link.parent == name]
        if payload.parent is None or payload.joint != "locked" or holds or payload.mass is None:
            refuse(
                f"control.phase: releases {name}, which must be a link with a mass that is locked to the arm and holds no other"
            )
        if self.latch is not None and self.latch.hold == "pin" and any(map(any, payload.inertia or [])):
            refuse(
                f"latch.hold = 'pin': {name} could still turn when it is released, and has an inertia; "
                "must be 'weld', or its inertia [0, 0, 0]"
            )

    def payload(self) -> LinkSection:
        """The link that touches."""
        assert self.contact is not None
        return next(link for link in self.arm.link if link.name == self.contact.link)

    def model(self, dissipative: bool = True) -> OrbitalArm:
        """The model, also from traced numbers; unless contacts may rest (`dissipative`) it takes less time."""
        import jax.numpy as jnp

        from dockdyn.kinds.orbital_arm.model import OrbitalArm
        from dockdyn.kinds.orbital_arm.model_parts import Latch
        from dockdyn.mechanics.trees.assembly import Link
        from dockdyn.mechanics.trees.planar import PlanarTree
        from dockdyn.mechanics.trees.spatial import SpatialTree

        frames = [] if self.latch is None else [Link(GRIP, self.arm.ordered()[0].name, joint="locked")]
        tree = self.arm.tree(FlexibleSection(), self.planar, *frames)
        orbit = None if self.orbit is None else self.orbit.make()
        q, v = self.start(tree, orbit)
        names, rotation = tree.layout.names, tree.motion(*self.arm.start(tree, self.planar)).rotation
        touch = None if self.contact is None else self.contact.make(names.index(self.contact.link))
        latch = None
        if self.latch is not None and self.contact is not None:
            surface = self.contact.names().index(self.latch.surface)
            latch = Latch(surface=surface, weld=self.latch.hold == "weld", guest=names.index(GRIP))
        at = jnp.array(tree.joint_columns(), int)
        return OrbitalArm(
            bodies=PlanarTree.of(tree) if self.planar else SpatialTree(tree),
            start=q,
            velocity=v,
            stiffness=tree.joint_stiffness[at],
            damping=tree.joint_damping[at],
            rest=tree.joint_rest,
            orbit=orbit,
            touch=touch,
            law=self.impact.make(),
            latch=latch,
            control=self.control.make(q[len(q) - len(at) :]),
            loops=tuple(section.make(names, rotation) for section in self.closure),
            release=tuple(phase.release for phase in self.control.phase),
            waits=tuple(phase.until == LATCHED for phase in self.control.phase),
            dissipative=dissipative,
            passive=all(link.stiffness is None and link.damping is None for link in self.arm.link),
        )

    def start(self, tree: Tree, orbit: Orbit | None) -> tuple[Any, Any]:
        """Centre of mass, attitude and joints at t = 0, and their rates: of the attitude in station axes."""
        import jax.numpy as jnp

        from dockdyn.mechanics.trees.momentum import momentum

        q, v = self.arm.start(tree, self.planar)
        if self.arm.rate is None and orbit is not None:
            spin = turned_back(q.attitude, orbit.mean_motion() * jnp.array([0.0, 0.0, 1.0]))
            v = v.at[2:3].set(spin[2:]) if self.planar else v.at[3:6].set(spin)
        found = momentum(tree.layout.base, q, tree.dynamics(q, v)[0], v)
        # without a velocity of its own the centre of mass moves with the reference
        moving = jnp.zeros(3) if self.arm.velocity is None else found.linear / found.mass
        if self.planar:
            attitude = 2 * jnp.arctan2(q.attitude[3], q.attitude[0])[None]
            return jnp.concatenate([found.centre[:2], attitude, q.joints]), jnp.concatenate([moving[:2], v[2:]])
        return jnp.concatenate([found.centre, q.attitude, q.joints]), jnp.concatenate([moving, v[3:]])

    def dissipative(self) -> bool:
        """Whether impacts take energy, so that contacts may come to rest."""
        return self.contact is not None and not self.impact.lossless()

    @property
    def planar(self) -> bool:
        return self.motion == "planar"
