"""The cases of Table 1 as the presets have them: masses, stiffnesses, the velocity before, and how a run is changed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

from dockdyn import simulate
from dockdyn.impact.formulas.effective_mass import effective_masses
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.scenario.load import load

CHASER, CHASER_FRONT, TARGET_FRONT, TARGET = "chaser", "chaser-front", "target-front", "target"  # along the line
STIFFNESSES = {  # keys, by what they are of
    "contact": "contact.fronts.normal.stiffness",
    "chaser": f"body.{CHASER}.joint.stiffness",
    "target": f"body.{TARGET}.joint.stiffness",
}
POSITION, VELOCITY = f"body.{CHASER_FRONT}.position", f"body.{CHASER_FRONT}.velocity"


class Case(NamedTuple):
    """What is given of a case."""

    chaser: list[float]  # kg, along the line
    target: list[float]  # kg
    inside: tuple[float, float]  # N/m, of chaser and target
    contact: float  # N/m
    speed: float  # m/s
    gap: float  # m
    model: Mechanism

    @staticmethod
    def of(name: str) -> Case:
        """Return the case of this letter."""
        content = load(preset_name(name)).content
        bodies = {body.name: body for body in content.body}
        masses = [bodies[body].mass for body in (CHASER, CHASER_FRONT, TARGET_FRONT, TARGET)]
        return Case(
            chaser=masses[:2],
            target=masses[2:],
            inside=(bodies[CHASER].joint.stiffness, bodies[TARGET].joint.stiffness),
            contact=content.contacts[0].normal.stiffness,
            speed=bodies[CHASER_FRONT].velocity,
            gap=-bodies[CHASER_FRONT].position,
            model=content.model(),
        )

    @property
    def mass_ratio(self) -> float:
        """The ratio of effective masses, e_l."""
        masses = effective_masses(self.chaser, self.target)
        return float(masses.contact / masses.system)


def preset_name(case: str) -> str:
    """Return the name of the preset of a case."""
    return f"paraskevas-{case.lower()}"


def run_case(case: str, **changes: object) -> xr.Dataset:
    """Return the run of a case of Table 1 with changes to its keys."""
    return simulate(load(preset_name(case), changes))


def relative_velocity(run: xr.Dataset, case: Case) -> np.ndarray:
    """Return by how much (m/s) the chaser's centre of mass is faster than the target's, over time."""
    speed = run.velocity.values[:, :, 0]
    chaser, target = (
        speed[:, part] @ np.array(masses) / sum(masses)
        for part, masses in ((slice(2), case.chaser), (slice(2, 4), case.target))
    )
    return chaser - target
