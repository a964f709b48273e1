"""Scenario kind `berthing`: two trees of links that touch at t = 0."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, Self

import jax.numpy as jnp
from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from dockdyn.control.joint_control import JointControl
from dockdyn.impact.laws import LAWS
from dockdyn.mechanics.assembly import Link
from dockdyn.mechanics.tree import Configuration, Tree
from dockdyn.models.berthing import Berthing, ImpactLaw, Side
from dockdyn.scenario.errors import nearest
from dockdyn.scenario.parts import Direction, refuse
from dockdyn.scenario.parts import Point as PointField
from dockdyn.scenario.run import Duration, OutputSection
from dockdyn.scenario.section import Section
from dockdyn.scenario.tree import GRIP, SCALAR, FlexibleSection, TreeSection, turned_back
from dockdyn.scenario.units import Bounds, Number, number_of, quantity

Gain = quantity("N*m/rad", "a gain", least=0, component=True)
RateGain = quantity("N*m*s/rad", "a gain", least=0, component=True)
Torque = quantity("N*m", "a torque", above=0, component=True)
# of the control of a prismatic joint: unit, what it is
GAINS = {"stiffness": ("N/m", "a gain"), "damping": ("N*s/m", "a gain"), "limit": ("N", "a force")}

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


class ControlSection(Section):
    """Torques on joints and, by a wheel, on the base; one gain, damping and limit a joint, in the order of the links."""

    law: Literal["none", "joint-pd", "rate-damping"] = "rate-damping"
    stiffness: list[Gain] | None = None
    damping: list[RateGain] | None = None
    limit: list[Torque] | None = None
    base_stiffness: quantity("N*m/rad", "a gain", least=0) = 0.0
    base_damping: quantity("N*m*s/rad", "a gain", least=0) = 0.0
    base_limit: quantity("N*m", "a torque", above=0) | None = None

    @model_validator(mode="after")
    def complete(self) -> Self:
        if self.law == "joint-pd" and self.stiffness is None:
            refuse("law joint-pd needs a stiffness for every joint")
        if self.law == "rate-damping" and self.stiffness is not None:
            refuse("law rate-damping has no stiffness; take joint-pd")
        if self.law != "none" and self.damping is None:
            refuse(f"law {self.law} needs a damping for every joint")
        return self

    def make(self, tree: Tree, q: Configuration) -> JointControl | None:
        """The controller, also from traced numbers; references are what holds at t = 0."""
        if self.law == "none":
            return None
        _, _, count = tree.layout.columns()
        joints, base = jnp.array(tree.joint_columns(), int), {"free": [3, 4, 5], "planar": [2]}[tree.layout.base]

        def filled(values: Any, of_base: Any, default: float) -> Any:
            found = jnp.zeros(count).at[jnp.array(base)].set(default if of_base is None else of_base)
            return found.at[joints].set(
                default if values is None else jnp.stack([jnp.asarray(v, float) for v in values])
            )

        return JointControl(
            stiffness=filled(self.stiffness, self.base_stiffness, 0.0),
            damping=filled(self.damping, self.base_damping, 0.0),
            limit=filled(self.limit, self.base_limit, jnp.inf),
            attitude=q.attitude,
            joints=q.joints,
        )


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

    @field_validator("control", mode="before")
    @classmethod
    def of_slides(cls, value: Any, info: Any) -> Any:
        """Texts for prismatic joints as numbers; of other joints the section itself knows the units."""
        if not isinstance(value, dict) or "chaser" not in info.data:
            return value
        found, joints = dict(value), info.data["chaser"].joints(SCALAR)
        for key, (unit, what) in GAINS.items():
            given = value.get(key)
            if isinstance(given, list) and len(given) == len(joints):
                found[key] = list(given)
                for place, link in enumerate(joints):
                    if link.joint == "prismatic" and isinstance(given[place], str):
                        try:
                            found[key][place] = number_of(given[place], unit, what, Bounds())
                        except PydanticCustomError as error:
                            name = link.coordinate or link.name
                            refuse(f"{key}.{place} = {given[place]!r}: {error} ({name} is prismatic)")
        return found

    @model_validator(mode="after")
    def consistent(self) -> Self:
        for name, side in (("chaser", self.chaser), ("target", self.target)):
            links = [link.name for link in side.link]
            if (link := getattr(self.contact, name)) not in links:
                refuse(f"contact.{name} = {link!r}: no link of the {name}; {nearest(link, links)}")
        if self.target.position is not None:
            refuse("target.position: the target is where it touches; leave it out")
        if self.planar:
            for name, side in (("chaser", self.chaser), ("target", self.target)):
                try:
                    side.flat()
                except PydanticCustomError as error:
                    refuse(f"{name}.{error}")
        joints = [link.coordinate or link.name for link in self.chaser.joints()]
        for name in self.impact.lock:
            if name not in joints:
                refuse(f"impact.lock: {name!r} is no joint of the chaser; {nearest(name, joints)}")
        joints = [link.coordinate or link.name for link in self.chaser.joints(SCALAR)]
        for key in GAINS:
            values = getattr(self.control, key)
            if values is not None and len(values) != len(joints):
                refuse(f"control.{key}: has {len(values)} entries for {len(joints)} joints ({', '.join(joints)})")
        return self

    @property
    def planar(self) -> bool:
        return self.motion == "planar"

    def model(self) -> Berthing:
        """The model, also from traced numbers."""
        grip = Link(GRIP, self.contact.chaser, joint="locked", mount=jnp.asarray(self.contact.chaser_position, float))
        tree = self.chaser.tree(self.flexible, self.planar, grip)
        q, v = self.chaser.start(tree, self.planar)
        at = tree.layout.names.index(GRIP)
        motion = tree.motion(q, v)
        normal = self.normal(motion.rotation[at])
        target = self.make_target(normal, motion.position[at])
        of_link = dict(zip(tree.layout.names, tree.layout.columns()[0], strict=True))
        names = {link.coordinate or link.name: link.name for link in self.chaser.joints()}
        locked = names if self.impact.law == "weld-brake" else self.impact.lock
        columns = [column for name in locked for column in of_link[names[name]]]
        locks = jnp.zeros((len(columns), v.shape[0])).at[jnp.arange(len(columns)), jnp.array(columns, int)].set(1.0)
        return Berthing(
            sides=(Side(tree, q, v, at), target),
            law=self.impact.make(),
            normal=normal,
            locks=locks,
            control=self.control.make(tree, q),
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
            self.flexible, self.planar, Link(GRIP, self.contact.target, joint="locked", mount=mount)
        )
        q, v = self.target.start(tree, self.planar)
        at = tree.layout.names.index(GRIP)
        off = place - tree.motion(q, v).position[at]
        return Side(tree, replace(q, position=q.position + off), v, at)
