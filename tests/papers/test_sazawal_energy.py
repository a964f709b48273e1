"""Sazawal et al., Figures 13 and 14, beside SciPy's DOP853 on a model of its own and closed forms, on both geometries."""

from functools import cache

import numpy as np
import pytest
from dop853_reference import reference_of

from dockdyn import simulate, summarise
from dockdyn.papers.sazawal.energy import STATED, TABLE, contact
from dockdyn.papers.sazawal.reproduce import reproduce

LENGTH = {STATED: (1.0, 0.0), TABLE: (2.0, 1.0)}  # m: of the probe, and of r_TS
LOOPS = {  # damping (N s/m), delay (s)
    "b = 0, h = 0": (0.0, 0.0),
    "b = 200 N s/m, h = 0": (200.0, 0.0),
    "b = 200 N s/m, h = 0.016 s": (200.0, 0.016),
    "b = 200 N s/m, h = 0.2 s": (200.0, 0.2),
}
KINDS = ("lossless", "passive", "passive", "active")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Figures 13 and 14, each made when it is first asked for."""
    folder = tmp_path_factory.mktemp("energy")
    return cache(lambda number: reproduce(number, folder / str(number))[0])


def row(table, quantity: str):
    (found,) = [row for row in table.rows if row.quantity == quantity]
    return found


@cache
def energy_by_scipy(geometry: str, loop: str) -> float:
    """Kinetic energy (J) at release + h over that at t = 0: Newton and Euler, Table 3, the tip at (0.533, 0, 0.25) m."""
    (probe, apex), (damping, delay) = LENGTH[geometry], LOOPS[loop]
    body = {"mass": 3000.0, "inertia": np.diag([500.0, 500.0, 500.0]), "rate": [0, 0, 0]}
    cone = {"shape": "cone", "apex": [apex, 0, 0], "axis": [1, 0, 0], "half_angle_degrees": 30.0}
    motion = {"position": [0.533 + probe + apex, 0, 0.25], "velocity": [-0.02, 0.005, 0], "attitude": [0, 0, 0, 1]}
    still = {"position": [0, 0, 0], "velocity": [0, 0, 0], "attitude": [1, 0, 0, 0]}
    case = {
        "chaser": {**body, **motion, "feature": {"probe": {"position": [probe, 0, 0]}}},
        "target": {**body, **still, "surface": {"cone": cone}},
        "contact": {
            "probe": {
                "between": ["probe", "cone"],
                "normal": {"stiffness": 1000.0, "damping": damping},
                "friction": {"coefficient": 0.0},
            }
        },
        "loop": {"delay": delay},
        "duration": 7.2,
    }
    return float(reference_of(case).touches()[0]["energy"])


@pytest.mark.full
@pytest.mark.parametrize(("loop", "kind"), list(zip(LOOPS, KINDS, strict=True)))
@pytest.mark.parametrize("geometry", LENGTH)
def test_energy_after_the_first_contact(table, geometry, loop, kind):
    found = row(table(13), f"energy after the first contact, {geometry}, {loop}")
    assert found.computed == pytest.approx(energy_by_scipy(geometry, loop), abs=1e-9)
    assert kind in found.note


def test_energy_without_delay():
    """The geometry stated beside SciPy; that of Table 1 to four digits of another implementation of the paper's model."""
    loop = "b = 200 N s/m, h = 0"
    stated, table = (
        summarise(simulate(contact(geometry, *LOOPS[loop])))["contact.energy_change_J"][0] for geometry in LENGTH
    )
    assert stated == pytest.approx(energy_by_scipy(STATED, loop), abs=1e-9)
    assert table == pytest.approx(-4.2710e-3, abs=1e-7)


@pytest.mark.parametrize("geometry", LENGTH)
def test_the_start_is_that_of_tables_1_and_3_in_the_cone(geometry):
    """The tip flies on a straight line to the wall: ρ = x tan θ at t = 4.8958 s, 0.5024 m from the apex."""
    first = summarise(simulate(contact(geometry, 200.0, 0.0)))["contacts"][0]
    x, y, z = np.array([0.533, 0.0, 0.25]) + first["onset_s"] * np.array([-0.02, 0.005, 0.0])
    _, apex = LENGTH[geometry]
    assert np.subtract(first["position_m"], [apex, 0, 0]) == pytest.approx([x, y, z], abs=1e-9)
    assert np.hypot(y, z) == pytest.approx(x * np.tan(np.radians(30)), abs=1e-9)
    assert np.linalg.norm([x, y, z]) == pytest.approx(0.5024, abs=5e-5)


@pytest.mark.full
@pytest.mark.parametrize("geometry", LENGTH)
def test_the_linearised_contact_of_each_geometry(table, geometry):
    """m† by eq. 149, or with the target's lever from its own centre; the critical delay by eqs. 150 and 151."""
    probe, apex = LENGTH[geometry]
    half = np.radians(30)
    along, out = np.array([np.cos(half), np.sin(half)]), np.array([-np.sin(half), np.cos(half)])  # x and z
    place = np.array([apex, 0.0]) + 0.5 * along
    lever = place[1] * out[0] - place[0] * out[1]  # of the force about the target's centre of mass
    mass = 1 / (1 / 1500 + (probe * np.cos(half)) ** 2 / 500 + lever**2 / 500)
    b, k = 200 / mass, 1000 / mass
    frequency = np.sqrt(b**2 / 2 + np.sqrt(b**4 / 4 + k**2))
    delay = np.arctan(frequency * b / k) / frequency
    if geometry == STATED:
        assert mass == pytest.approx(375) and delay == pytest.approx(0.193, abs=5e-5)
    assert row(table(13), f"effective mass m† of the same contact, {geometry}").computed == pytest.approx(
        mass, rel=1e-8
    )
    critical = row(table(13), f"critical delay of the same contact, {geometry}")
    assert critical.computed == pytest.approx(delay, rel=1e-7)
    assert 0.016 < critical.computed < 0.2  # stable and unstable, as the paper has its two cases


@pytest.mark.full
@pytest.mark.parametrize("geometry", LENGTH)
def test_energy_turns_before_the_linearised_contact_is_unstable(table, geometry):
    kept = row(table(13), f"delay at which the energy is kept, {geometry}, b = 200 N s/m").computed
    assert kept < row(table(13), f"critical delay of the same contact, {geometry}").computed
    if geometry == TABLE:
        assert kept == pytest.approx(0.1438, abs=5e-5)
    sides = [summarise(simulate(contact(geometry, 200.0, kept + side)))["energy_class"][0] for side in (-1e-4, 1e-4)]
    assert sides == ["passive", "active"]


@pytest.mark.full
def test_dip_of_the_elastic_contact(table):
    lowest = row(table(13), f"lowest energy during the contact, {TABLE}, b = 0, h = 0").computed
    assert lowest == pytest.approx(-5.2613e-3, abs=1e-6)  # the lowest of samples


def test_delayed_force_acts_beyond_release():
    """Taken at release already, the energy of the long delay would be a smaller one."""
    run = simulate(contact(TABLE, 200.0, 0.2))
    at_release = float(run.kinetic_energy.interp(time=float(run.episode_release[0])) - run.kinetic_energy[0])
    assert at_release == pytest.approx(4.918e-3, abs=1e-5)  # the reference is of the last 1 ms step before release


@pytest.mark.full
@pytest.mark.parametrize("geometry", LENGTH)
def test_increments_of_the_delays(table, geometry):
    """Neither geometry has the printed pair, and the short delay adds energy, too."""
    ideal, short, long = (energy_by_scipy(geometry, loop) for loop in list(LOOPS)[1:])
    over = f"energy gained over h = 0, {geometry}"
    added, more = row(table(14), f"{over}, h = 0.016 s"), row(table(14), f"{over}, h = 0.2 s")
    assert added.computed == pytest.approx(short - ideal, abs=2e-9) and added.computed > 0
    assert more.computed == pytest.approx(long - ideal, abs=2e-9)
    assert "is a gain" in added.note and "cannot be had" in more.note
    assert abs(more.computed / 7e-3 - 1) > 0.3
    assert "θ = 30°, l₀ = 1 m and m* = 0.5 m" in table(14).note and "Table 1" in table(14).note
