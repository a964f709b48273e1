"""Sazawal et al., the probe at rest in the cone as the paper's stability charts have it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from dockdyn.papers.sazawal.closed_form import simplified_effective_mass
from dockdyn.records import record
from dockdyn.scenario.load import Scenario, load
from dockdyn.studies.margins.answer import margins

REDUCED_MASS = 1500.0  # kg
INERTIA = np.diag([500.0, 500.0, 500.0])  # kg m², of both bodies; J_z is not printed
STIFFNESS, DAMPING = 1000.0, 200.0  # N/m and N s/m: what panels (a) and (b) keep


@record
class Geometry:
    """Where the probe rests in the cone, its apex at the target's centre of mass (eq. 145)."""

    probe: float = 1.0  # l₀, m
    half_angle: float = 30.0  # θ, deg
    distance: float = 0.5  # m*, m, from the apex along the wall

    def scenario(self, stiffness: float = STIFFNESS, damping: float = DAMPING, delay: float = 0.016) -> Scenario:
        """Return contact with `stiffness` (N/m) and `damping` (N s/m), its force `delay` (s) late."""
        changed = {
            "body.chaser.feature.probe.position": [self.probe, 0, 0],
            "body.target.surface.cone.apex": [0, 0, 0],
            "body.target.surface.cone.half_angle": f"{self.half_angle} deg",
            "stability.distance": self.distance,
            "contact.probe.normal.stiffness": stiffness,
            "contact.probe.normal.damping": damping,
            "loop.delay": delay,
        }
        return load("sazawal-spring-dashpot", changed)

    def effective_mass(self) -> float:
        """Return m† (kg) by eq. 149."""
        inertia, half_angle = np.diag(INERTIA), np.radians(self.half_angle)
        return float(simplified_effective_mass(REDUCED_MASS, inertia, inertia, self.probe, half_angle, self.distance))


@lru_cache(maxsize=64)
def margins_of(
    geometry: Geometry, stiffness: float = STIFFNESS, damping: float = DAMPING, delay: float = 0.016
) -> dict[str, Any]:
    """Return margins from the simulated model; several rows ask for the same."""
    return margins(geometry.scenario(stiffness, damping, delay))
