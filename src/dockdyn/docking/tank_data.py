"""What runs tell of tanks: how their liquid sloshes, by how much it rises, and the force that it puts on its vehicle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.deferred import xp

if TYPE_CHECKING:
    from dockdyn.docking.schema.multibody import SeveralBodiesSection
    from dockdyn.docking.schema.tanks import TankSection
    from dockdyn.results.run import Run

LARGE = 0.25  # of the radius: a wave that is no small one, on which the model rests (SP-106, section 3)
TANKS = {  # name: unit, words, figure
    "tank_radius": ("m", "radius of the tank", ""),
    "tank_frequency": (
        "Hz",
        "lowest frequency of the liquid in the tank; 0 of a pendulum without an acceleration",
        "frequency_Hz",
    ),
    "tank_slosh_mass": ("kg", "mass that sloshes in the first mode", "slosh_mass_kg"),
    "tank_peak_force": ("N", "largest force between the liquid and the vehicle, as sampled", "peak_force_N"),
    "tank_peak_wave": ("m", "largest rise of the free surface at the wall, as sampled", "peak_wave_m"),
}


def tank_data(content: SeveralBodiesSection, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of `TANKS` that a run has, an entry a tank, also from traced numbers; `data` has its samples of joints."""
    if not content.tank:
        return {}
    held = [body.name for body in content.bodies if body.joint is not None]
    rows = [_tank_row(tank, held, data) for tank in content.tank]
    columns = zip(TANKS, zip(*rows, strict=True), strict=False)
    return {name: xp.stack(column) for name, column in columns}


def _tank_row(tank: TankSection, held: Sequence[str], data: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the numbers of one tank; without samples the first three."""
    liquid = tank.contents()
    found = (xp.asarray(tank.radius, float), tank.frequencies()[0], liquid.sloshing[0].mass)
    if "joint_force" not in data:
        return found
    force, travel = data["joint_force"], data["joint_angle"]
    waves = []
    for number, sloshing in enumerate(liquid.sloshing, start=1):
        ways = [f"{tank.name}.{part}{number}" for part in ("guide", "slosh") if f"{tank.name}.{part}{number}" in held]
        moved = travel[:, np.array([held.index(way) for way in ways])]
        slid = moved if tank.model == "spring" else xp.sin(moved) / sloshing.wave_number
        waves.append(sloshing.wave * slid)
    wave = xp.sqrt((sum(waves) ** 2).sum(axis=1))
    size = xp.sqrt((force[:, held.index(tank.name)] ** 2).sum(axis=1))
    return *found, xp.max(size), xp.max(wave)


def tank_variables(content: SeveralBodiesSection, run: Run) -> dict[str, Any]:
    """Return the variables of the tanks of a run; nothing where there is none."""
    found = tank_data(content, run.sampled)
    return {
        name: (("tank",), np.asarray(found[name], float), {"units": unit, "long_name": words})
        for name, (unit, words, _) in TANKS.items()
        if name in found
    }


def tank_figures(names: Sequence[str], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of each tank, as in "tank.fuel.peak_wave_m"."""
    return {
        f"tank.{name}.{figure}": data[variable][index]
        for index, name in enumerate(names)
        for variable, (_, _, figure) in TANKS.items()
        if figure and variable in data
    }
