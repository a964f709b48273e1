"""Margins of mechanisms: beside free flight, beside a characteristic equation written by hand, and beside runs."""

import numpy as np
import pytest
import tomlkit
from masses_on_a_spring import MASSES, on_a_spring, open_loop
from numpy.testing import assert_allclose
from plain_tables import by_name, contacts_by_name
from report_page import Page
from resting_contacts import REST, fitted_root, nozzle
from scipy.optimize import brentq
from two_bodies import two_bodies

import dockdyn
from dockdyn.cli import main as cli
from dockdyn.pages import report_html
from dockdyn.scenario.preset_files import preset_text
from dockdyn.studies.margins.sweep import parse_sweep, stability_dataset

TIPS = [[0.5, 0.4, 0.1], [0.5, -0.7, 0.2], [0.5, 0.1, -0.5]]  # m, on the chaser
PLATE = {"shape": "plane", "point": [-0.4, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}
LAW = {"law": "spring-dashpot", "stiffness": 900.0, "damping": 120.0}
CHASER = {"mass": 120.0, "inertia": [[30.0, 2.0, -1.0], [2.0, 25.0, 3.0], [-1.0, 3.0, 40.0]]}
TARGET = {
    "mass": 700.0,
    "inertia": [[120.0, 5.0, 4.0], [5.0, 150.0, -6.0], [4.0, -6.0, 90.0]],
    "surface": {"plate": PLATE},
}


def beginning(depth):
    """How the chaser begins: in front of the plate and approaching, or at rest in it."""
    place = -0.9 + (depth or -1e-3)
    return {"position": [place, 0.0, 0.0], "velocity": [0.0 if depth else 0.01, 0.0, 0.0]}


def head():
    return {"schema": 2, "duration": 20.0, "loop": {"delay": 0.03}}


def in_flight(tips, depth):
    features = {f"tip{i}": {"position": place} for i, place in enumerate(tips)}
    contacts = [{"between": [f"tip{i}", "plate"], "normal": LAW} for i in range(len(tips))]
    bodies = {
        "chaser": CHASER | beginning(depth) | {"feature": features},
        "target": TARGET | {"position": [0.0] * 3},
    }
    return head() | two_bodies(bodies | {"contact": contacts_by_name(contacts)})


def as_mechanism(tips, depth):
    """The same, all tips one feature."""
    feature = {"positions": tips, "radius": 0.0}
    chaser = {"name": "chaser"} | CHASER | beginning(depth) | {"feature": {"tips": feature}}
    target = {"name": "target"} | TARGET | {"position": [0.0] * 3}
    return head() | {
        "body": by_name([chaser, target]),
        "contact": {"tips": {"between": ["tips", "plate"], "normal": LAW}},
    }


@pytest.mark.full
@pytest.mark.parametrize(("tips", "depth"), [(TIPS[:1], 0.0), (TIPS[1:2], REST), (TIPS, REST)])
def test_a_group_has_the_margins_of_its_members_each_a_contact_of_its_own(load, tips, depth):
    known = dockdyn.margins(load(in_flight(tips, depth)))
    found = dockdyn.margins(load(as_mechanism(tips, depth)))
    for key in ("critical_delay_s", "delay_margin_s", "growth_rate_1_s", "crossing_frequency_rad_s", "drift_modes"):
        assert_allclose(found[key], known[key], rtol=1e-9, err_msg=key)
    assert_allclose(found["rightmost_roots"][:4], known["rightmost_roots"][:4], rtol=1e-7)
    assert found["nominal"]["members_closed"] == len(tips)
    assert found["stiffness_N_m"] == pytest.approx(len(tips) * known["stiffness_N_m"], rel=1e-12)
    shares = {row["body"]: row["energy_share"] for row in known["mode"]}
    for row in found["mode"]:
        assert row["energy_share"] == pytest.approx(shares[row["body"]], rel=1e-6)
    if len(tips) == 1:
        assert found["effective_mass_kg"] == pytest.approx(known["effective_mass_kg"], rel=1e-9)
        for key, name in (
            ("body.chaser.mass", "body.chaser.mass"),
            ("contact.tip0.normal.damping", "contact.tips.normal.damping"),
        ):
            assert found["sensitivities"][name] == pytest.approx(known["sensitivities"][key], rel=1e-6)


# --- two masses on a spring, touched by a third through a delay ------------------------------------------------------


def critical_by_hand():
    """The shortest delay with a root on the imaginary axis, where open loop times exp(−jωh) is −1."""
    grid = np.geomspace(0.1, 500, 40000)
    values = np.log(np.abs(open_loop(1j * grid)))
    found = []
    for at in np.flatnonzero(np.diff(np.sign(values))):
        w = brentq(lambda x: np.log(abs(open_loop(1j * x))), grid[at], grid[at + 1], xtol=1e-14)
        found.append(((np.angle(open_loop(1j * w)) - np.pi) % (2 * np.pi)) / w)
    return min(found)


@pytest.mark.full
@pytest.mark.parametrize("element", [True, False])
def test_two_masses_on_a_spring_and_a_delayed_contact(load, element):
    delay = 0.01
    found = dockdyn.margins(load(on_a_spring(delay, element)))
    assert_allclose(found["critical_delay_s"], critical_by_hand(), rtol=1e-8)
    for pair in found["rightmost_roots"][:4]:
        root = complex(*pair)
        assert abs(1 + open_loop(root) * np.exp(-root * delay)) < 1e-7
    assert found["effective_mass_kg"] == pytest.approx(1 / (1 / MASSES[0] + 1 / MASSES[1]), rel=1e-9)
    assert sum(row["energy_share"] for row in found["mode"]) == pytest.approx(1, rel=1e-12)
    page = Page(report_html(stability_dataset(load(on_a_spring(delay, element)), [])))
    assert [row[0] for row in page.tables["The motion that decides"]][-3:] == [row["body"] for row in found["mode"]]


@pytest.mark.full
def test_a_sweep_finds_the_critical_delay(load):
    limit = critical_by_hand()
    data = stability_dataset(load(on_a_spring(0.01)), [parse_sweep(f"loop.delay=0:{2 * limit}:7")])
    assert_allclose(data.boundary_x.values, [limit], rtol=0, atol=4e-7 * limit)


# --- a place on the wall of a cone -----------------------------------------------------------------------------------


def in_a_cone(start, **stability):
    """A probe on a slide of a vehicle, which begins at `start` (m), and a target with a cone."""
    arm = {"kind": "prismatic", "axis": [1, 0, 0], "stiffness": 500.0, "damping": 20.0}
    probe = {"name": "probe", "on": "vehicle", "joint": arm, "mass": 12.0, "inertia": [1.0, 1.2, 1.4]}
    probe |= {"position": [0.8, 0.1, 0.0], "feature": {"tip": {"position": [0.4, 0.0, 0.0], "shape": "point"}}}
    cone = {"shape": "cone", "apex": [-0.3, 0.0, 0.0], "axis": [-1.0, 0.0, 0.0], "half_angle": 0.6}
    vehicle = {"name": "vehicle", **CHASER, "position": start}
    return head() | {
        "body": by_name(
            [vehicle, probe, {"name": "target", **TARGET, "position": [0.0] * 3, "surface": {"cone": cone}}]
        ),
        "contact": {"tip": {"between": ["tip", "cone"], "normal": LAW}},
        "stability": stability,
    }


@pytest.mark.full
def test_a_probe_on_a_slide_is_put_on_the_wall_of_a_cone(load):
    """With what joints hold to it, wherever it begins; as if it began there. A cone that opens along −x is one along x that is
    turned about z by half a turn."""
    azimuth, distance = 0.7, 0.25
    wall = [-1.0, -1.0, 1.0] * nozzle(0.6, azimuth)[:, 0]
    begun = [-0.3, 0.0, 0.0] + distance * wall - [1.2, 0.1, 0.0]
    found = dockdyn.margins(load(in_a_cone([-3.0, 0.5, 0.2], distance=distance, azimuth=azimuth)))
    known = dockdyn.margins(load(in_a_cone(list(begun), time=0.0, closed=["tip"], depth=0.0)))
    for key in ("critical_delay_s", "growth_rate_1_s", "effective_mass_kg", "drift_modes"):
        assert found[key] == pytest.approx(known[key], rel=1e-9), key
    assert found["nominal"]["distance_m"] == pytest.approx(distance, rel=1e-9)
    assert np.radians(found["nominal"]["azimuth_deg"]) == pytest.approx(azimuth, rel=1e-9)


# --- runs ------------------------------------------------------------------------------------------------------------


def panels_on_the_bottom(delay):
    """`flexible-panels` head on, its probe at rest in the bottom of the cone, which pulls as well as it pushes."""
    scene = tomlkit.parse(preset_text("flexible-panels")).unwrap()
    for key in ("approach", "contact_law", "latch", "requirements", "integrator"):
        del scene[key]
    chaser, target = scene["body"]["chaser"], scene["body"]["target"]
    chaser |= {"position": [1.215 + 0.015 + 1.6 - REST, 0.0, 0.0], "attitude": [0.0, 0.0, 0.0, 1.0]}
    target["position"] = [0.0, 0.0, 0.0]
    law = {"law": "test_linearised_contact:Bilateral", "stiffness": 2e4, "damping": 1500.0, "rest": REST}
    bottom = {"between": scene["contact"]["probe-on-the-bottom"]["between"], "normal": law}
    return scene | {"contact": {"bottom": bottom}, "loop": {"delay": delay}}


@pytest.mark.full
@pytest.mark.parametrize("relative", [0.9, 1.1])
def test_the_panels_run_grows_and_decays_as_predicted(load, relative):
    limit = dockdyn.margins(load(panels_on_the_bottom(1e-3)))["critical_delay_s"]
    scene = panels_on_the_bottom(relative * limit)
    found = dockdyn.margins(load(scene))
    assert found["stable"] == (relative < 1)
    growth, frequency = np.abs(found["rightmost_roots"][0])
    scene["duration"], scene["integrator"] = 60.0, {"step": 5e-3}
    scene["body"]["chaser"]["velocity"] = [-1e-9, 0.0, 0.0]
    data = dockdyn.simulate(load(scene))
    assert data.attrs["status"] == "finished"
    time, depth = data.time.values, data.depth.values[:, 0] - REST
    late = time > 45.0  # the panels, which the nudge sets swinging, too, have come to rest beside what grows
    if relative > 1:
        simulated = fitted_root(time[late], depth[late], frequency)
        assert_allclose([simulated.real, simulated.imag], [growth, frequency], rtol=2e-3)
    else:
        assert np.abs(depth[late]).max() < np.abs(depth[~late]).max()


@pytest.mark.full
def test_a_run_warns_of_a_delay_above_the_critical_one(load):
    limit = critical_by_hand()
    calm, late = (dockdyn.simulate(load(on_a_spring(share * limit))) for share in (0.7, 1.4))
    assert not calm.attrs["prediction"]
    words = f"{1400 * limit:.4g} ms is above the critical one of {1000 * limit:.4g} ms"
    assert words in late.attrs["prediction"], late.attrs["prediction"]


@pytest.mark.full
def test_a_run_of_the_panels_warns_of_a_delay_above_the_critical_one():
    short = {"duration": "2.9 s"}
    calm = dockdyn.simulate(dockdyn.load("flexible-panels", short))
    assert not calm.attrs["prediction"]
    late = dockdyn.simulate(dockdyn.load("flexible-panels", short | {"loop.delay": "80 ms"}))
    limit = 1e3 * dockdyn.margins(dockdyn.load("flexible-panels", short))["critical_delay_s"]
    assert 50 < limit < 80
    assert f"80 ms is above the critical one of {limit:.4g} ms" in late.attrs["prediction"]


LINES = [
    ({"stability.closed": ["probe"]}, ["stability.closed", "'probe'", "probe-in-the-cone"]),
    ({"stability.closed": []}, ["stability", "closed", "at least one"]),
    ({"stability.time": "21 s"}, ["stability.time", "at most", "20 s"]),
    ({"stability.time": "1 s", "stability.at": "peak-force"}, ["stability", "at and time", "one of the two"]),
    ({"stability.at": "noon"}, ["stability.at", "'peak-force'"]),
    ({"stability.time": "0 s"}, ["stability.time = 0 s", "no contact is closed", "stability.closed"]),
    ({"contact": {}}, ["loop.delay", "no [contact.NAME]"]),
]
OF_FEW_BODIES = [
    ({"duration": 0.05}, ["duration", "no contact within it", "must be longer"]),
    ({"duration": 0.05, "stability.at": "peak-force"}, ["stability.at", "nothing presses"]),
    ({"stability.distance": 0.3}, ["stability.distance", "plane", "must be a cone"]),
    ({"stability.distance": 0.3, "stability.time": 0.1}, ["stability", "without at, time and closed"]),
    ({"stability.azimuth": 0.3}, ["stability", "azimuth needs a distance"]),
    ({"contact.tips.normal": {"law": "hertz", "stiffness": 1e7}}, ["stability.depth", "stiffness", "positive"]),
]


@pytest.mark.full_cases("flexible-panels-changes5-words5", "None-changes12-words12", "None-changes7-words7")
@pytest.mark.parametrize(
    ("preset", "changes", "words"),
    [("flexible-panels", *line) for line in LINES] + [(None, *line) for line in OF_FEW_BODIES],
)
def test_bad_input_is_one_clear_line(load, preset, changes, words):
    with pytest.raises(dockdyn.ScenarioError) as error:
        dockdyn.margins(dockdyn.load(preset, changes) if preset else load(as_mechanism(TIPS[:1], 0.0), changes))
    said = str(error.value)
    assert len(said.splitlines()) == 1
    for word in words:
        assert word in said, said


@pytest.mark.full
def test_the_state_may_be_that_of_a_time_or_of_the_largest_force(dock):
    chosen = ("--set", "stability.at=peak-force")
    code, out, _ = dock("stability", "flexible-panels", *chosen)
    assert code == 0
    assert "The motion that decides, by its kinetic energy:" in out
    held = {"stability.time": "15 s", "stability.closed": ["probe-on-the-bottom"], "stability.depth": "1 mm"}
    found = dockdyn.margins(dockdyn.load("flexible-panels", held))
    assert found["nominal"]["surface"] == "target.bottom"
    free = dockdyn.margins(dockdyn.load("flexible-panels"))
    assert found["drift_modes"] < free["drift_modes"]  # the latch holds
    assert cli.BAD_INPUT == dock("stability", "flexible-panels", "--set", "stability.time=-1")[0]
