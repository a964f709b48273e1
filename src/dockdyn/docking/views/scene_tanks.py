"""Tanks as a scene shows them: their walls up to the free surface, and in them a ball for each mass that sloshes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dockdyn.mechanics.slosh import liquid_volume
from dockdyn.programs import Program
from dockdyn.report.sampled_surface import plain_components
from dockdyn.report.scene.scene import ShownMotion, ShownPart
from dockdyn.report.scene.solids import BallSolid, TurnedSolid

if TYPE_CHECKING:
    from dockdyn.docking.schema.multibody import SeveralBodiesSection
    from dockdyn.docking.schema.tanks import TankSection
    from dockdyn.mechanics.slosh import Liquid
    from dockdyn.mechanics.vector import Vector

AROUND = 25  # places along the wall of a sphere
WIDEST = 0.5  # of the tank's radius: that of a ball, which else has the volume of what sloshes


@Program
def _filled(tank: TankSection) -> tuple[Liquid, Vector]:
    """Return what stands for the liquid of a tank, and its axis."""
    return tank.contents(), tank.directions()[0]


def tank_parts(content: SeveralBodiesSection, motions: Mapping[str, ShownMotion]) -> list[ShownPart]:
    """Return the walls of all tanks, which are looked through, and the masses in them."""
    parts = []
    for tank in content.tank:
        liquid, axis = _filled(tank)
        wall = _outline(tank)
        solid = TurnedSolid(np.asarray(tank.position, float), plain_components(axis), wall, hollow=True)
        parts.append(ShownPart(f"{tank.on}/{tank.name}", [solid], motions[tank.on], "look", tank.on))
        volume = liquid_volume(tank.shape, tank.radius, tank.fill)
        for number, one in enumerate(liquid.sloshing, start=1):
            size = np.cbrt(3 * volume * float(one.mass / liquid.mass) / (4 * np.pi))
            ball = BallSolid(np.zeros(3), min(float(size), WIDEST * tank.radius))
            name = f"{tank.name}.slosh{number}"
            parts.append(ShownPart(f"{name}/mass", [ball], motions[name], "gear", name))
    return parts


def _outline(tank: TankSection) -> np.ndarray:
    """Return the wall up to the free surface: heights above the bottom and distances from the axis (n, 2), m."""
    if tank.shape == "cylinder":
        return np.array([[0.0, 0.0], [0.0, tank.radius], [tank.fill, tank.radius]])
    angles = np.linspace(0, np.arccos(1 - float(tank.fill) / float(tank.radius)), AROUND)
    return np.column_stack([tank.radius * (1 - np.cos(angles)), tank.radius * np.sin(angles)])
