"""Gravity seen from an orbit, in exact arithmetic; motion along it."""

from decimal import Decimal, localcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled import by_rows
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from dockdyn.mechanics.orbit import Orbit, eccentric_anomaly
from dockdyn.programs import Program

MU, RADIUS = 3.986004418e14, 6.731290e6  # m³/s², m
RATE_SQUARED = MU / RADIUS**3


def orbit(gradient=False, eccentricity=0.0, anomaly=0.0):
    return Orbit(*map(jnp.asarray, (MU, RADIUS, eccentricity, anomaly)), gradient, eccentricity == 0.0)


# --- gravity -----------------------------------------------------------------------------------------------------------


def exactly(values):
    return [Decimal(float(value)) for value in values]


def tidal_decimal(offset, radius=RADIUS):
    """−μ/|r + ρ| − μ r·ρ/R³ + μ/R and its gradient for r along x, in 60 digits."""
    mu, big = Decimal(MU), Decimal(radius)
    x, y, z = exactly(offset)
    distance = ((big + x) ** 2 + y**2 + z**2).sqrt()
    value = -mu / distance - mu * x / big**2 + mu / big
    pull = mu / distance**3
    return value, (pull * (big + x) - mu / big**2, pull * y, pull * z)


@pytest.mark.parametrize("size", [1e-3, 1.0, 50.0, 1e4, 1e6])
def test_tidal_potential_and_force_lose_no_digits(size):
    random = np.random.default_rng(3)
    field = orbit()

    @Program
    def value_and_gradient(offset):
        return jax.value_and_grad(lambda o: field.tidal(jnp.asarray(RADIUS), o[0], o @ o))(offset)

    for direction in [*np.eye(3), *random.normal(size=(5, 3))]:
        offset = direction * size
        with localcontext(prec=60):
            value, gradient = tidal_decimal(offset)
        found = value_and_gradient(offset)
        scale = RATE_SQUARED * (offset @ offset)
        assert abs(float(found[0]) - float(value)) < 1e-15 * scale + 1e-10 * abs(float(value))
        assert np.asarray(found[1]) == pytest.approx(
            np.array(gradient, float), rel=1e-10, abs=1e-15 * RATE_SQUARED * size
        )


def test_tidal_potential_of_a_millimetre_in_relative_digits():
    for offset in ([1e-3, 0.0, 0.0], [0.0, 2e-3, 0.0], [3e-4, 5e-4, 1e-3]):
        with localcontext(prec=60):
            value, _ = tidal_decimal(offset)
        found = orbit().tidal(jnp.asarray(RADIUS), jnp.asarray(offset[0]), jnp.asarray(np.dot(offset, offset)))
        assert float(found) == pytest.approx(float(value), rel=1e-10)


@pytest.mark.parametrize("radius", [500.0, RADIUS])
def test_gradient_over_an_extended_body(radius):
    """Six lumps on the axes of a turned body: their potential less that of all in the middle, in 60 digits."""
    arms, mass = np.array([3.0, 1.5, 0.7]), 20.0  # m, kg a lump
    turn = Rotation.from_rotvec([0.4, -0.7, 0.5]).as_matrix()
    centre = np.array([4.0, -7.0, 2.0])
    inertia = (
        2 * mass * np.diag([arms[1] ** 2 + arms[2] ** 2, arms[0] ** 2 + arms[2] ** 2, arms[0] ** 2 + arms[1] ** 2])
    )
    lumps = np.concatenate([turn @ np.diag(arms), -turn @ np.diag(arms)], axis=1).T
    with localcontext(prec=60):
        total = sum(tidal_decimal(centre + lump, radius)[0] for lump in lumps) - 6 * tidal_decimal(centre, radius)[0]
        expected = float(total) * mass
    # what the frame's fall adds is linear in the places, and so nothing over symmetric lumps
    there = (np.array([1.0, 0.0, 0.0]) + centre / radius) @ turn
    field = Orbit(*map(jnp.asarray, (MU, radius, 0.0, 0.0)), True, True)
    along, squared, trace = jnp.asarray(centre[0]), jnp.asarray(centre @ centre), jnp.asarray(np.trace(inertia))
    found = field.spread_out(jnp.asarray(radius), along, squared, trace, jnp.asarray(there @ inertia @ there))
    assert float(found) == pytest.approx(expected, rel=max(1e-9, 20 * (arms[0] / radius) ** 2))


@pytest.mark.full_cases("0.0-0.01")
@pytest.mark.parametrize("eccentricity", [0.0, 0.01, 0.3, 0.8, 0.97])
@pytest.mark.parametrize("anomaly", [0.0, 2.0, -3.1])
def test_reference_orbit_is_a_two_body_motion(eccentricity, anomaly):
    """Integrated from where the orbit begins, in units of the semi-major axis, for two and a half periods."""
    e = eccentricity
    semi_latus = 1 - e**2
    start = semi_latus / (1 + e * np.cos(anomaly)) * np.array([np.cos(anomaly), np.sin(anomaly)])
    moving = np.array([-np.sin(anomaly), e + np.cos(anomaly)]) / np.sqrt(semi_latus)
    times = np.linspace(0, 5 * np.pi, 40)
    motion = solve_ivp(
        lambda _, y: np.concatenate([y[2:], -y[:2] / np.hypot(*y[:2]) ** 3]),
        (0, times[-1]),
        np.concatenate([start, moving]),
        method="DOP853",
        rtol=3e-14,
        atol=1e-14,
        t_eval=times,
    )
    found = orbit(eccentricity=e, anomaly=anomaly)
    seen = by_rows(found.reference)(jnp.asarray(times / np.sqrt(RATE_SQUARED)))
    places = np.asarray(seen.radius)[None] * np.array([seen.x, seen.y]) / RADIUS
    assert places == pytest.approx(motion.y[:2], abs=1e-9)


@pytest.mark.parametrize("eccentricity", [0.0, 0.3, 0.9, 0.995, 0.9999])
def test_kepler_at_any_eccentricity(eccentricity):
    mean = np.concatenate([np.linspace(-np.pi, np.pi, 4001), np.geomspace(1e-12, 1.0, 400)])
    found = by_rows(lambda m: eccentric_anomaly(m, jnp.asarray(eccentricity)))(jnp.asarray(mean))
    residual = np.asarray(found) - eccentricity * np.sin(found) - mean
    assert np.abs(residual).max() < 2e-15
