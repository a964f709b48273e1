"""Scenario kind `berthing`: two trees of links that touch at t = 0."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from dockdyn.kinds.berthing.schema_control import ControlSection
from dockdyn.kinds.berthing.schema_touch import ImpactSection, OwnImpactSection, TouchSection
from dockdyn.scenario.language.errors import nearest
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.waiting import wait_for
from dockdyn.scenario.tables.by_joint import of_slides
from dockdyn.scenario.tables.own_impact import or_own
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.run import FINEST, Duration, MostSteps, OutputSection
from dockdyn.scenario.tables.tree import GRIP, SCALAR, FlexibleSection, TreeSection, turned_back

if TYPE_CHECKING:
    from jaxtyping import Array, Float

    from dockdyn.kinds.berthing.model import Berthing, Side


class AdaptiveSection(Section):
    """How time advances: explicit of eighth order, implicit for stiff systems, or located where contact comes and goes."""

    method: Literal["dopri8", "kvaerno5", "located"] | None = None
    tolerance: Annotated[float, Field(ge=FINEST, le=1e-3)] | None = None
    max_events: Annotated[int, Field(ge=1, le=100000)] = 1000
    max_steps: MostSteps = 300_000
    conserve: Literal["momentum"] | None = None

    def error(self, located: bool) -> float:
        """Of a step, relative. Located steps, of fourth order, would become very short at what suits those of eighth."""
        return self.tolerance or (1e-10 if located else 1e-12)


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
    impact: or_own(ImpactSection, OwnImpactSection)
    flexible: FlexibleSection = FlexibleSection()
    control: ControlSection = ControlSection(law="none")
    integrator: AdaptiveSection = AdaptiveSection()
    output: OutputSection = OutputSection()

    @field_validator("control", mode="before")
    @classmethod
    def in_units_of_joints(cls, value: object, info: ValidationInfo) -> object:
        if not isinstance(value, dict) or "chaser" not in info.data:
            return value
        return value | of_slides(value, info.data["chaser"].joints(SCALAR))

    @model_validator(mode="after")
    def touching(self) -> Self:
        """Refuses a contact that its law cannot use, or lacks."""
        wait_for("jax")
        from dockdyn.kinds.berthing.model import COMPLIANT

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
            if (place := getattr(self.contact, f"{name}_position")) is not None:
                side.named(link).check_place(place, f"contact.{name}_position")
        if self.target.position is not None:
            refuse("target.position: the target is where it touches; leave it out")
        if self.planar:
            for name, side in (("chaser", self.chaser), ("target", self.target)):
                try:
                    side.flat()
                except PydanticCustomError as error:
                    refuse(f"{name}.{error}")
        joints, locked = self.joints()
        for name in self.impact.lock:
            if name not in joints:
                refuse(f"impact.lock: {name!r} is no joint of the chaser; {nearest(name, joints)}")
        self.control.check(self.motors(), locked, self.planar, self.impact.law)
        return self

    @property
    def planar(self) -> bool:
        return self.motion == "planar"

    def model(self) -> Berthing:
        """The model, also from traced numbers."""
        from dockdyn.kinds.berthing.model_conserve import momenta

        model = self.uncontrolled()
        control = self.control.make(model, self.motors(), self.joints()[1])
        if self.integrator.conserve is None:
            return replace(model, control=control)
        plant = model.plant(model.unstruck())
        return replace(model, control=control, conserved=momenta(plant, plant.v))

    def joints(self) -> tuple[list[str], list[str]]:
        """Names of the chaser's joints, and of those that are locked just before the impact, and after."""
        names = [link.coordinate or link.name for link in self.chaser.joints()]
        return names, names if self.impact.law == "weld-brake" else self.impact.lock

    def motors(self) -> list[str]:
        """Names of the joints with motors, those with one coordinate."""
        return [link.coordinate or link.name for link in self.chaser.joints(SCALAR)]

    def gain_size(self) -> tuple[int, int]:
        """Rows and columns of a regulator's gain."""
        import jax

        from dockdyn.control.tree_plant import regulated, turning_columns

        model = jax.eval_shape(lambda content: content.uncontrolled(), self)
        trees = (model.sides[0].tree, model.sides[1].tree)
        joints = self.control.free(self.motors(), self.joints()[1])
        wheel = turning_columns(trees[0]) if self.control.base_limit is not None else []
        return len(wheel) + len(joints), 2 * len(regulated(trees, joints, bool(wheel)))

    def uncontrolled(self) -> Berthing:
        """The model without control."""
        import jax.numpy as jnp

        from dockdyn.impact.laws.contact_matrix import lock
        from dockdyn.kinds.berthing.mechanism import grips, mechanism_of, trees_of
        from dockdyn.kinds.berthing.model import Berthing, Side

        touching = jnp.asarray(self.contact.chaser_position, float)
        tree = self.chaser.tree(self.flexible, self.planar, self.chaser.grip(self.contact.chaser, touching))
        q, v = self.chaser.start(tree, self.planar)
        at = tree.layout.names.index(GRIP)
        motion = tree.motion(q, v)
        normal = self.normal(motion.rotation[at])
        target = self.make_target(normal, motion.position[at])
        of_link = dict(zip(tree.layout.names, tree.layout.columns()[0], strict=True))
        names = {link.coordinate or link.name: link.name for link in self.chaser.joints()}
        columns = [column for name in self.joints()[1] for column in of_link[names[name]]]
        locks = jnp.zeros((len(columns), v.shape[0])).at[jnp.arange(len(columns)), jnp.array(columns, int)].set(1.0)
        sides = (Side(tree, q, v, -touching, at), target)
        stopped = lock(tree.dynamics(q, v)[0], locks, v) if columns else v
        moving = trees_of(sides, columns)
        return Berthing(
            sides=sides,
            mechanism=mechanism_of(
                sides,
                moving,
                (stopped, target.velocities),
                self.impact.acting(self.contact, grips(moving), self.planar),
            ),
            law=self.impact.make(),
            normal=normal,
            locks=locks,
            control=None,
            conserved=None,
            delay=None,
            planar=self.planar,
        )

    def normal(self, hand: Float[Array, "3 3"]) -> Float[Array, "3"]:
        """Contact normal from the target to the chaser, inertial: the surface's, −y, against the hand, or as stated."""
        import jax.numpy as jnp

        from dockdyn.mechanics.rotation import Quaternion
        from dockdyn.mechanics.vector import Vector

        if self.contact.surface is not None:
            place = Vector.of(jnp.asarray(self.contact.target_position, float))
            _, own = self.contact.surface.make().distance_and_normal(place)
            return (Quaternion.of(self.target_attitude()).matrix() @ own).array()
        if self.impact.normal in ("y", None):
            return jnp.array([0.0, -1.0, 0.0])
        found = -hand[:, 0] if self.impact.normal == "hand" else jnp.asarray(self.impact.normal, float)
        return found / jnp.linalg.norm(found)

    def make_target(self, normal: Float[Array, "3"], place: Float[Array, "3"]) -> Side:
        """The target, its contact at `place` (m, inertial)."""
        import jax.numpy as jnp

        from dockdyn.kinds.berthing.model import Side
        from dockdyn.mechanics.trees.assembly import Link

        if self.contact.target_radius is not None:
            # on the side of the payload that faces the chaser, as far from its frame as stated: of a ball fixed to the frame
            mount = turned_back(self.target_attitude(), normal * jnp.asarray(self.contact.target_radius, float))
            grip = Link(GRIP, self.contact.target, joint="locked", mount=mount)
        else:
            mount = jnp.asarray(self.contact.target_position, float)
            grip = self.target.grip(self.contact.target, mount)
        tree = self.target.tree(self.flexible, self.planar, grip)
        q, v = self.target.start(tree, self.planar)
        at = tree.layout.names.index(GRIP)
        off = place - tree.motion(q, v).position[at]
        return Side(tree, replace(q, position=q.position + off), v, -mount, at)

    def target_attitude(self) -> Float[Array, "4"]:
        import jax.numpy as jnp

        return jnp.asarray([1.0, 0.0, 0.0, 0.0] if self.target.attitude is None else self.target.attitude, float)
