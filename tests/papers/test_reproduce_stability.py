"""Sazawal et al., Figures 7–9 and the linear theory in closed form, against an independent solution of the paper's model."""

import numpy as np
import pytest

import dockdyn
from dockdyn.papers.sazawal import reproduce as sazawal
from dockdyn.papers.sazawal.closed_form import (
    contact_matrix,
    normal_dynamics,
    printed_contact_matrix,
    simplified_effective_mass,
    wall_axes,
)
from dockdyn.stability import critical_delay
from dockdyn.studies.margins.answer import margins

pytestmark = pytest.mark.full  # the paper recomputed: in the run of `make verify`

INERTIA = [500, 500, 500]  # kg m²


def radial_dynamics(damping, stiffness, matrix, axes):
    """b_m (1/s) and k_m (1/s²) of δm̈ (eqs. 132–134 with m̂ᵀ M n̂; printed m̂ᵀ M m̂)."""
    per_force = axes[:, 0] @ matrix @ axes[:, 2]
    return damping * per_force, stiffness * per_force


def tangential_dynamics(damping, stiffness, matrix, axes, radius):
    """b_t (rad/(m s)) and k_t (rad/(m s²)) of δφ̈ (eqs. 101, 136–138 with t̂ᵀ M n̂; printed t̂ᵀ M t̂).

    `radius` ‖p*‖ sin θ (m) of the contact from the cone's axis. Zero for a probe and an apex on the axes of bodies whose
    inertia is the same about y and z.
    """
    per_force = -axes[:, 1] @ matrix @ axes[:, 2] / radius
    return damping * per_force, stiffness * per_force


def contact_point_system(damping, stiffness, matrix, axes):
    """A₀ and A₁ of ẋ(t) = A₀ x(t) + A₁ x(t − h), x the contact point's place and velocity (eqs. 117–119).

    Four roots are zero (eq. 144): the point drifts along the wall, so stability in depth is not stability of the place.
    """
    into = np.outer(matrix @ axes[:, 2], axes[:, 2])
    free, late = np.zeros((6, 6)), np.zeros((6, 6))
    free[:3, 3:] = np.eye(3)
    late[3:, :3], late[3:, 3:] = -stiffness * into, -damping * into
    return np.array([free, late])


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """Figures 7, 8 and 9: their tables by number, and their folder."""
    folder = tmp_path_factory.mktemp("charts")
    tables = {}
    for number in (7, 8, 9):
        (tables[number],) = sazawal.reproduce(number, folder / str(number))
    return tables, folder


def row(table, quantity: str):
    (found,) = [row for row in table.rows if row.quantity == quantity]
    return found


PAGE = {  # critical delays, s, by l₀ (m): damping (N s/m) at 1000 N/m, stiffness (N/m) at 200 N s/m
    1.0: (
        375.0,
        {50: 0.049889, 100: 0.099114, 200: 0.192968, 400: 0.345968, 800: 0.453905},
        {250: 0.691937, 500: 0.372220, 2000: 0.098232, 4000: 0.049557},
    ),
    1.5: (
        220.183486,
        {50: 0.049811, 100: 0.098493, 200: 0.188127, 400: 0.312062, 800: 0.328243},
        {250: 0.624124, 500: 0.353586, 2000: 0.097001, 4000: 0.049247},
    ),
}


@pytest.mark.parametrize("length", [1.0, 1.5])
def test_critical_delays_of_figure_7(reproduced, length):
    table, (mass, dampings, stiffnesses) = reproduced[0][7], PAGE[length]
    assert row(table, f"effective mass m†, l₀ = {length:g} m").computed == pytest.approx(mass, abs=1e-6)
    closed = simplified_effective_mass(1500, INERTIA, INERTIA, length, np.radians(30), 0.5)
    assert closed == pytest.approx(mass, abs=1e-6)
    cases = [(1000, damping, delay) for damping, delay in dampings.items()]
    cases += [(stiffness, 200, delay) for stiffness, delay in stiffnesses.items()]
    for stiffness, damping, delay in cases:
        name = f"critical delay, l₀ = {length:g} m, k = {stiffness} N/m, b = {damping} N s/m"
        found = row(table, name)
        assert found.computed == pytest.approx(delay, abs=1e-6), name
        assert f"{delay:.6f}" in found.note
        assert found.computed == pytest.approx(float(critical_delay(damping, stiffness, closed)), rel=1e-8)


@pytest.mark.parametrize(
    ("number", "label", "mass", "delays"),
    [(8, "θ = 60°", 600, {200: 0.195586, 800: 0.556377}), (9, "m* = 1 m", 240, {200: 0.189088, 800: 0.348168})],
)
def test_critical_delays_of_figures_8_and_9(reproduced, number, label, mass, delays):
    table = reproduced[0][number]
    assert row(table, f"effective mass m†, {label}").computed == pytest.approx(mass, abs=1e-6)
    for damping, delay in delays.items():
        name = f"critical delay, {label}, k = 1000 N/m, b = {damping} N s/m"
        assert row(table, name).computed == pytest.approx(delay, abs=1e-6)


def test_roots_on_either_side_of_the_boundary(reproduced):
    table = reproduced[0][7]
    for delay, real, imaginary in ((0.016, -0.247277, 1.620998), (0.2, 0.010409, 1.676883)):
        name = f"rightmost root, l₀ = 1 m, h = {delay:g} s"
        assert row(table, f"{name}, real part").computed == pytest.approx(real, abs=1e-6)
        assert row(table, f"{name}, imaginary part").computed == pytest.approx(imaginary, abs=1e-6)


def test_only_the_corrected_matrix_has_the_root_of_a_simulation(reproduced):
    table, name = reproduced[0][7], "Table 1, m* = 0.5 m, h = 0.1 s: root"
    for way in ("", " by M of eq. 120, corrected"):
        assert row(table, f"{name}{way}, real part").computed == pytest.approx(-0.55448, abs=1e-5)
        assert row(table, f"{name}{way}, imaginary part").computed == pytest.approx(3.47875, abs=1e-5)
    assert "96.1657 kg" in row(table, f"{name}, real part").note
    assert "0.173623 s" in row(table, f"{name}, real part").note
    printed = row(table, f"{name} by M of eq. 120 as printed, imaginary part").computed
    assert abs(printed - 3.47875) > 0.1


def test_what_the_text_says_of_the_figures(reproduced):
    """Right of the geometry, wrong of the tip of the nozzle and of all compliances."""
    seven, eight, nine = (reproduced[0][number] for number in (7, 8, 9))
    assert row(seven, "change of the critical delay from l₀ = 1 m to l₀ = 1.5 m").computed < 0
    assert row(eight, "change of the critical delay from θ = 30° to θ = 60°").computed > 0
    assert row(nine, "change of the critical delay from m* = 0.5 m to m* = 1 m").computed < 0
    for name in ("b_d", "k_d"):
        assert row(eight, f"change of {name} from θ = 60° to 30°").computed > 0
        closer = row(nine, f"change of {name} from m* = 1 to 0.5 m")
        assert closer.computed < 0
        assert "opposite" in closer.note
    scaled = row(seven, "critical delay with b / 2 and k / 4 over that with b and k, l₀ = 1 m")
    assert scaled.computed == pytest.approx(2, rel=1e-9)
    assert "Not so" in scaled.note


def test_longest_delay_bounds_all_dampings(reproduced):
    for label, mass in (("l₀ = 1 m", 375.0), ("l₀ = 1.5 m", 220.183486)):
        longest = row(reproduced[0][7], f"longest delay that any damping makes stable, {label}").computed
        others = critical_delay(np.geomspace(1, 1e5, 5000), 1000, mass)
        assert longest == pytest.approx(float(others.max()), rel=1e-5)


@pytest.mark.parametrize("number", [7, 8, 9])
def test_traced_boundary_is_that_of_the_closed_form(reproduced, number):
    """Located to 1e-7 of axes of 0.7 s, 2.5 s and 2000 N s/m, along which the critical delay changes by 1 ms/(N s/m)."""
    distance = row(reproduced[0][number], "traced boundaries, largest distance from eq. 151")
    assert 0 < distance.computed < 2e-6


@pytest.mark.parametrize("number", [7, 8, 9])
def test_pictures_and_table_are_written(reproduced, number):
    tables, folder = reproduced
    text = (folder / str(number) / "tables.md").read_text(encoding="utf-8")
    assert tables[number].title in text
    assert "not in the text" in text
    for ending in ("png", "svg"):
        assert (folder / str(number) / f"figure-{number}.{ending}").stat().st_size > 10_000
    assert all(np.isfinite(row.computed) for row in tables[number].rows)


def a_tensor(random) -> np.ndarray:
    """An inertia, kg m², of some body."""
    points = random.normal(size=(8, 3))
    return 100 * sum(np.dot(p, p) * np.eye(3) - np.outer(p, p) for p in points)


@pytest.mark.parametrize("seed", range(3))
def test_closed_forms_agree_with_the_general_path(seed):
    """Full inertia tensors, the probe off the axis, r_TS ≠ 0, any azimuth."""
    random = np.random.default_rng(seed)
    masses = random.uniform(500, 5000, 2)
    inertias = [a_tensor(random) for _ in range(2)]
    probe, apex = np.array([2, 0, 0]) + random.uniform(-1, 1, 3), random.uniform(-1, 1, 3)
    half_angle, azimuth, distance = np.radians(random.uniform(15, 75)), random.uniform(-3, 3), random.uniform(0.2, 1)
    damping, stiffness, delay = random.uniform(50, 500), random.uniform(300, 3000), random.uniform(0.01, 0.1)
    found = margins(
        dockdyn.load(
            "sazawal-spring-dashpot",
            {
                "body.chaser.mass": masses[0],
                "body.target.mass": masses[1],
                "body.chaser.inertia": inertias[0].tolist(),
                "body.target.inertia": inertias[1].tolist(),
                "body.chaser.feature.probe.position": probe.tolist(),
                "body.target.surface.cone.apex": apex.tolist(),
                "body.target.surface.cone.half_angle": half_angle,
                "stability.azimuth": azimuth,
                "stability.distance": distance,
                "contact.probe.normal.stiffness": stiffness,
                "contact.probe.normal.damping": damping,
                "loop.delay": delay,
            },
        )
    )
    axes = wall_axes(half_angle, azimuth)
    contact = apex + distance * axes[:, 0]
    matrix = contact_matrix(masses.prod() / masses.sum(), *inertias, probe, contact)
    np.testing.assert_allclose(axes.T @ matrix @ axes, found["contact_matrix"], rtol=1e-8, atol=1e-12)
    compliance = (damping, stiffness, matrix, axes)
    assert found["normal_dynamics"] == pytest.approx(normal_dynamics(*compliance), rel=1e-8)
    assert found["radial_dynamics"] == pytest.approx(radial_dynamics(*compliance), rel=1e-8)
    radius = distance * np.sin(half_angle)
    assert found["tangential_dynamics"] == pytest.approx(tangential_dynamics(*compliance, radius), rel=1e-8)
    mass = 1 / (axes[:, 2] @ matrix @ axes[:, 2])
    assert found["critical_delay_s"] == pytest.approx(float(critical_delay(damping, stiffness, mass)), rel=1e-8)
    s = complex(*found["rightmost_roots"][0])
    free, late = contact_point_system(damping, stiffness, matrix, axes)
    values = np.linalg.eigvals(free + late * np.exp(-s * delay))
    assert np.abs(values - s).min() < 1e-8 * abs(s)  # a root of the contact point, too
    assert np.sum(np.abs(values) < 1e-6) == 4  # which has four that only drift


def test_simplified_effective_mass_is_that_of_the_matrix():
    """Eq. 149 at an azimuth, inertias different about y and z."""
    inertias = ([400, 500, 700], [300, 800, 600])
    for azimuth in (0.0, 0.8, 2.0):
        axes = wall_axes(0.5, azimuth)
        diagonal = (np.diag(inertia) for inertia in inertias)
        matrix = contact_matrix(1500, *diagonal, [1.2, 0, 0], 0.4 * axes[:, 0])
        mass = simplified_effective_mass(1500, *inertias, 1.2, 0.5, 0.4, azimuth)
        assert axes[:, 2] @ matrix @ axes[:, 2] == pytest.approx(1 / mass, rel=1e-12)


def test_printed_matrix_is_right_only_with_the_apex_at_the_centre_of_mass():
    axes = wall_axes(np.radians(30), 0.0)
    inertia, place = np.diag(INERTIA), 0.5 * axes[:, 0]
    for apex in (np.zeros(3), np.array([1.0, 0, 0])):
        bodies = (1500, inertia, inertia, [2, 0, 0], apex + place)
        same = np.allclose(printed_contact_matrix(*bodies, apex), contact_matrix(*bodies), rtol=0, atol=1e-15)
        assert same == (not apex.any())
