"""The `[control]` of a berthing: that of the chaser's arm, which a regulator holds as the impact has captured it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dockdyn.scenario.tables.arm_control import ArmControlSection
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.kinds.berthing.model import Berthing, Control
    from dockdyn.kinds.berthing.model_captured import Design


class ControlSection(ArmControlSection):
    """Torques on joints and base; lists have an entry for every joint, in the order of the tree."""

    def check(self, joints: list[str], locked: list[str], planar: bool, impact: str) -> None:
        """Refuse what does not fit the chaser, its locked joints or the law of impact."""
        if self.law in ("lqr", "detumble") and not impact.startswith("weld"):
            refuse(f"control.law: {self.law} is for what a weld holds together; impact.law is {impact}")
        self.check_joints(joints, locked, 1 if planar else 3)

    def make(self, model: Berthing, names: list[str], locked: list[str]) -> Control | None:
        """Return the controller, also from traced numbers; references are what holds at t = 0."""
        import jax.numpy as jnp

        from dockdyn.control.tree_plant import moving_columns, turning_axes
        from dockdyn.kinds.berthing.model import Control

        if self.law == "none":
            return None
        tree, q = model.sides[0].tree, model.sides[0].configuration
        free, gain = self.free(names, locked), jnp.zeros((0, 0))
        if self.law == "lqr":
            gain = self.design(model, free).gain if self.gain is None else jnp.asarray(self.gain, float)
        law = self.make_law(q.attitude, q.joints, free, gain)
        return Control(law, self.limits(len(names), moving_columns(tree), turning_axes(tree)))

    def design(self, model: Berthing, free: tuple[int, ...]) -> Design:
        """Return the regulator that the weights ask for."""
        from dockdyn.control.tree_plant import turning_axes
        from dockdyn.kinds.berthing.model_captured import design

        side = model.sides[0]
        weights = self.weights(free, side.configuration.joints.shape[0], len(turning_axes(side.tree)))
        return design(model, free, self.base_limit is not None, weights)
