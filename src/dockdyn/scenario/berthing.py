"""Scenario kind `berthing`: two trees of links that touch at t = 0."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, Self

import jax
import jax.numpy as jnp
from pydantic import Field, model_validator

from dockdyn.control.lqr import regulated
from dockdyn.control.plant import turning_columns
from dockdyn.impact.laws import LAWS
from dockdyn.mechanics.assembly import Link
from dockdyn.models.berthing import Berthing, ImpactLaw, Side
from dockdyn.scenario.control import ControlSection
from dockdyn.scenario.errors import nearest
from dockdyn.scenario.parts import Direction, refuse
from dockdyn.scenario.parts import Point as PointField
from dockdyn.scenario.run import Duration, OutputSection
from dockdyn.scenario.section import Section
from dockdyn.scenario.tree import FlexibleSection, TreeSection, turned_back
from dockdyn.scenario.units import Number, quantity

# name in a scenario: law of `dockdyn.impact.LAWS`
NAMES = {
    "pin": "pin",
    "weld": "weld",
    "weld-brake": "weld",
    "energetic": "energetic",
    "newton": "newton",
    "poisson": "poisson",
    "frictionless": "frictionless",
    "energy-friction": "energy-pair",
}
PARAMETERS = {"energy_ratio": "r_e", "friction_ratio": "r_f"}  # of a law: key in a scenario


class TouchSection(Section):
    """Where the two touch: links by name, the place on the chaser's, and on the target's a place or a distance."""

    chaser: str
    chaser_position: PointField = [0.0, 0.0, 0.0]  # noqa: RUF012
    target: str
    target_position: PointField | None = None
    target_radius: quantity("m", "a radius", above=0) | None = None

    @model_validator(mode="after")
    def placed(self) -> Self:
        if (self.target_position is None) == (self.target_radius is None):
            both = "not both" if self.target_radius is not None else "one of them"
            refuse(f"target_position or target_radius: give {both}")
        return self


class ImpactSection(Section):
    """The impact law and its parameters."""

    law: Literal["pin", "weld", "weld-brake", "energetic", "newton", "poisson", "frictionless", "energy-friction"]
    normal: Literal["y", "hand"] | Direction = "y"
    lock: list[str] = []  # noqa: RUF012
    restitution: Annotated[float, Field(ge=0, le=1)] | None = None
    friction: Annotated[float, Field(ge=0)] | None = None
    r_e: Number | None = None
    r_f: Number | None = None

    @model_validator(mode="after")
    def complete(self) -> Self:
        needed = [PARAMETERS.get(name, name) for name in LAWS[NAMES[self.law]].parameters]
        for key in ("restitution", "friction", "r_e", "r_f"):
            if (getattr(self, key) is None) == (key in needed):
                refuse(f"law {self.law} {'needs' if key in needed else 'has no'} {key}")
        return self

    def make(self) -> ImpactLaw:
        found = LAWS[NAMES[self.law]].parameters
        values = {name: jnp.asarray(getattr(self, PARAMETERS.get(name, name)), float) for name in found}
        return ImpactLaw(values, NAMES[self.law])


class AdaptiveSection(Section):
    """How time advances: explicit of eighth order, or implicit for stiff systems."""

    method: Literal["dopri8", "kvaerno5"] = "dopri8"
    tolerance: Annotated[float, Field(gt=0, le=1e-3)] = 1e-10


class BerthingSection(Section):
    """A chaser with an arm and its target, from the instant they touch."""

    schema_: Literal[1] = Field(1, alias="schema")
    kind: Literal["berthing"] = "berthing"
    title: str = "Berthing"
    duration: Duration
    motion: Literal["planar", "free"] = "free"
    chaser: TreeSection
    target: TreeSection
    contact: TouchSection
    impact: ImpactSection
    flexible: FlexibleSection = FlexibleSection()
    control: ControlSection = ControlSection(law="none")
    integrator: AdaptiveSection = AdaptiveSection()
    output: OutputSection = OutputSection()

    @model_validator(mode="after")
    def consistent(self) -> Self:
        for name, side in (("chaser", self.chaser), ("target", self.target)):
            links = [link.name for link in side.link]
            if (link := getattr(self.contact, name)) not in links:
                refuse(f"contact.{name} = {link!r}: no link of the {name}; {nearest(link, links)}")
        if self.target.position is not None:
            refuse("target.position: the target is where it touches; leave it out")
        joints, locked = self.joints()
        for name in self.impact.lock:
            if name not in joints:
                refuse(f"impact.lock: {name!r} is no joint of the chaser; {nearest(name, joints)}")
        self.control.check(joints, locked, self.planar, self.impact.law)
        return self

    @property
    def planar(self) -> bool:
        return self.motion == "planar"

    def model(self) -> Berthing:
        """The model, also from traced numbers."""
        model = self.uncontrolled()
        return replace(model, control=self.control.make(model, *self.joints()))

    def joints(self) -> tuple[list[str], list[str]]:
        """Names of the chaser's joints, and of those that are locked just before the impact, and after."""
        names = [link.coordinate or link.name for link in self.chaser.joints()]
        return names, names if self.impact.law == "weld-brake" else self.impact.lock

    def gain_size(self) -> tuple[int, int]:
        """Rows and columns of a regulator's gain."""
        model = jax.eval_shape(lambda content: content.uncontrolled(), self)
        trees = (model.sides[0].tree, model.sides[1].tree)
        columns = self.control.columns(model, *self.joints())
        wheel = turning_columns(trees[0]) if self.control.base_limit is not None else []
        return len(wheel) + len(columns), 2 * len(regulated(trees, columns, bool(wheel)))

    def uncontrolled(self) -> Berthing:
        """The model without control."""
        grip = Link("grip", self.contact.chaser, joint="locked", mount=jnp.asarray(self.contact.chaser_position, float))
        tree = self.chaser.tree(self.flexible, self.planar, grip)
        q, v = self.chaser.start(tree, self.planar)
        at = tree.layout.names.index("grip")
        motion = tree.motion(q, v)
        normal = self.normal(motion.rotation[at])
        target = self.make_target(normal, motion.position[at])
        names, locked = self.joints()
        columns = [tree.joint_columns()[names.index(name)] for name in locked]
        locks = jnp.zeros((len(columns), v.shape[0])).at[jnp.arange(len(columns)), jnp.array(columns, int)].set(1.0)
        return Berthing(
            sides=(Side(tree, q, v, at), target),
            law=self.impact.make(),
            normal=normal,
            locks=locks,
            control=None,
            delay=None,
            planar=self.planar,
        )

    def normal(self, hand: Any) -> Any:
        """Contact normal from the target to the chaser, inertial: −y, against the gripping link, or as stated."""
        if self.impact.normal == "y":
            return jnp.array([0.0, -1.0, 0.0])
        found = -hand[:, 0] if self.impact.normal == "hand" else jnp.asarray(self.impact.normal, float)
        return found / jnp.linalg.norm(found)

    def make_target(self, normal: Any, place: Any) -> Side:
        """The target, its contact at `place` (m, inertial)."""
        if self.contact.target_radius is not None:
            # on the side of the payload that faces the chaser, as far from its frame as stated
            attitude = jnp.asarray(self.target.attitude or [1.0, 0.0, 0.0, 0.0], float)
            mount = turned_back(attitude, normal * jnp.asarray(self.contact.target_radius, float))
        else:
            mount = jnp.asarray(self.contact.target_position, float)
        tree = self.target.tree(
            self.flexible, self.planar, Link("grip", self.contact.target, joint="locked", mount=mount)
        )
        q, v = self.target.start(tree, self.planar)
        at = tree.layout.names.index("grip")
        off = place - tree.motion(q, v).position[at]
        return Side(tree, replace(q, position=q.position + off), v, at)
