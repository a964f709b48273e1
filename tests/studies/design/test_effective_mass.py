"""Where a ballast makes an impact softest: the contact's effective mass in closed form, and as `dockdyn design` finds it."""

import math

import numpy as np
import pytest

import dockdyn
from dockdyn.scenario.load import parse

HUB, BALLAST, TARGET = 60.0, 20.0, 400.0  # kg
TURNS, OWN = 6.0, 0.5  # kg m², about z: of the hub and the ballast, each about its own centre of mass
OFFSET = 0.3  # m, of the probe's tip from the hub's centre of mass, across the docking axis
SPEED, STIFFNESS = 1e-3, 1e7  # m/s, N/m: over before anything has turned by more than a few µrad
BESIDE = f"""
schema = 2
duration = "40 ms"
[output]
interval = "1 ms"
[integrator]
step = "100 us"
[body.hub]
mass = {HUB}
inertia = [{TURNS}, {TURNS}, {TURNS}]
position = [-0.50001, 0, 0]
velocity = [{SPEED}, 0, 0]
feature.tip = {{ position = [0.5, {OFFSET}, 0] }}
[body.ballast]
on = "hub"
mass = {BALLAST}
inertia = [{OWN}, {OWN}, {OWN}]
position = [0, 0, 0]
joint = {{ kind = "locked" }}
[body.target]
mass = {TARGET}
inertia = [50, 50, 50]
position = [0.4, {OFFSET}, 0]
surface.plate = {{ shape = "plane", point = [-0.4, 0, 0], normal = [-1, 0, 0] }}
[contact.tip-plate]
between = ["tip", "plate"]
normal = {{ law = "spring-dashpot", stiffness = {STIFFNESS}, damping = 0 }}
[design]
minimise = "peak_force"
evaluations = 60
[design.variable.position-1]
key = "body.ballast.position.1"
low = "-2 m"
high = "1 m"
"""


def effective_mass(place):
    """1 / (nᵀ M⁻¹ n) at the tip, of hub and ballast as the one body that they are, and of the target, hit in its middle."""
    mass = HUB + BALLAST
    lever = OFFSET - place * BALLAST / mass
    inertia = TURNS + OWN + HUB * BALLAST / mass * place**2
    return 1 / (1 / mass + lever**2 / inertia + 1 / TARGET)


@pytest.mark.full
def test_where_a_ballast_makes_the_impact_softest(tmp_path):
    """(a − s m₂/m)² / (I₀ + s² m₁ m₂/m) is largest, and the effective mass least, at s = −I₀ / (a m₁); F = v √(k mₑ)."""
    best = -(TURNS + OWN) / (OFFSET * HUB)
    near = np.linspace(-2, 1, 30001)
    assert near[np.argmin(effective_mass(near))] == pytest.approx(best, abs=1e-4)
    answer = dockdyn.design(parse(BESIDE, "ballast"), tmp_path / "ballast")
    (place,) = answer["variables"]
    assert place["value"] == pytest.approx(best, rel=1e-3)
    force = SPEED * math.sqrt(STIFFNESS * effective_mass(best))
    assert answer["goal"]["value"] == pytest.approx(force, rel=1e-5)
    assert answer["goal"]["first"] == pytest.approx(SPEED * math.sqrt(STIFFNESS * effective_mass(0.0)), rel=1e-5)
