"""Scenario kind `berthing`: two trees of links that touch at t = 0."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, Self

import jax.numpy as jnp
from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from dockdyn.control.joint_control import JointControl
from dockdyn.mechanics.assembly import Link
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.tree import Configuration, Tree
from dockdyn.mechanics.vector import Vector
from dockdyn.models.berthing import COMPLIANT, Berthing, Side
from dockdyn.scenario.errors import nearest
from dockdyn.scenario.parts import refuse
from dockdyn.scenario.run import Duration, OutputSection
from dockdyn.scenario.section import Section
from dockdyn.scenario.touch import ImpactSection, TouchSection
from dockdyn.scenario.tree import GRIP, SCALAR, FlexibleSection, TreeSection, turned_back
from dockdyn.scenario.units import Bounds, number_of, quantity

Gain = quantity("N*m/rad", "a gain", least=0, component=True)
RateGain = quantity("N*m*s/rad", "a gain", least=0, component=True)
Torque = quantity("N*m", "a torque", above=0, component=True)
# of the control of a prismatic joint: unit, what it is
GAINS = {"stiffness": ("N/m", "a gain"), "damping": ("N*s/m", "a gain"), "limit": ("N", "a force")}


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
    """How time advances: explicit of eighth order, implicit for stiff systems, or located where contact comes and goes."""

    method: Literal["dopri8", "kvaerno5", "located"] | None = None
    tolerance: Annotated[float, Field(gt=0, le=1e-3)] = 1e-10
    max_events: Annotated[int, Field(ge=1, le=100000)] = 1000


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
    def touching(self) -> Self:
        """Refuses a contact that its law cannot use, or lacks."""
        compliant, touch = self.impact.law == COMPLIANT, self.contact
        for key in ("normal", "friction"):
            if not compliant and getattr(touch, key) is not None:
                refuse(f"contact.{key}: is of a compliant contact; impact.law must be compliant, or leave it out")
        if compliant and touch.normal is None:
            refuse("contact.normal: impact.law = 'compliant' needs the law of the normal force")
        again = compliant or self.impact.again
        if again and touch.surface is None and touch.target_radius is None:
            refuse("contact: must have a surface or a target_radius that can be touched again")
        if touch.surface is not None and self.impact.normal is not None:
            refuse("impact.normal: contact.surface has a normal of its own; leave it out")
        if again and self.integrator.method not in (None, "located"):
            refuse(f"integrator.method = {self.integrator.method!r}: must be located where contact comes and goes")
        if not again and self.integrator.method == "located":
            refuse("integrator.method = 'located': is for contact that comes and goes; must be dopri8 or kvaerno5")
        return self

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
            sides=(Side(tree, q, v, at, tree.layout.names.index(self.contact.chaser)), target),
            law=self.impact.make(),
            normal=normal,
            locks=locks,
            control=self.control.make(tree, q),
            contact=self.impact.contact(self.contact),
            delay=None,
            planar=self.planar,
        )

    def normal(self, hand: Any) -> Any:
        """Contact normal from the target to the chaser, inertial: the surface's, −y, against the hand, or as stated."""
        if self.contact.surface is not None:
            place = Vector.of(jnp.asarray(self.contact.target_position, float))
            _, own = self.contact.surface.make().distance_and_normal(place)
            return (Quaternion.of(self.target_attitude()).matrix() @ own).array()
        if self.impact.normal in ("y", None):
            return jnp.array([0.0, -1.0, 0.0])
        found = -hand[:, 0] if self.impact.normal == "hand" else jnp.asarray(self.impact.normal, float)
        return found / jnp.linalg.norm(found)

    def make_target(self, normal: Any, place: Any) -> Side:
        """The target, its contact at `place` (m, inertial)."""
        if self.contact.target_radius is not None:
            # on the side of the payload that faces the chaser, as far from its frame as stated
            mount = turned_back(self.target_attitude(), normal * jnp.asarray(self.contact.target_radius, float))
        else:
            mount = jnp.asarray(self.contact.target_position, float)
        tree = self.target.tree(
            self.flexible, self.planar, Link(GRIP, self.contact.target, joint="locked", mount=mount)
        )
        q, v = self.target.start(tree, self.planar)
        at = tree.layout.names.index(GRIP)
        off = place - tree.motion(q, v).position[at]
        return Side(tree, replace(q, position=q.position + off), v, at, tree.layout.names.index(self.contact.target))

    def target_attitude(self) -> Any:
        return jnp.asarray([1.0, 0.0, 0.0, 0.0] if self.target.attitude is None else self.target.attitude, float)
