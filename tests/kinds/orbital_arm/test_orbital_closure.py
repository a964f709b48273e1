"""Closed loops of the kind `orbital-arm`: a four-bar linkage on a free base, a parallelogram."""

import math

import numpy as np
import pytest
import tomlkit

import dockdyn
from dockdyn.scenario.load import parse

CRANK, COUPLER, START = 0.5, 1.0, 1.2  # m, m, rad
MASSES = {"base": 50.0, "crank": 2.0, "coupler": 3.0, "rocker": 2.0}  # kg
INERTIAS = {"base": 5.0, "crank": 0.05, "coupler": 0.2, "rocker": 0.05}  # kg m², about the centre of mass
RATE = 2.0  # rad/s, of the crank at the start


def bar(name, parent, mount, start, rate, length):
    return {
        "name": name,
        "parent": parent,
        "mount": [mount, 0, 0],
        "start": start,
        "start_rate": rate,
        "mass": MASSES[name],
        "centre": [length / 2, 0, 0],
        "inertia": [0.01, INERTIAS[name], INERTIAS[name]],
    }


def four_bar(**changed):
    """The linkage, turning: coupler parallel to the base, so that crank and rocker are parallel."""
    base = {"name": "base", "mass": MASSES["base"], "inertia": [INERTIAS["base"]] * 3}
    links = [
        base,
        bar("crank", "base", 1.0, START, RATE, CRANK),
        bar("coupler", "crank", CRANK, -START, -RATE, COUPLER),
        bar("rocker", "coupler", COUPLER, START - math.pi, RATE, CRANK),
    ]
    closure = {"links": ["rocker", "base"], "points": [[CRANK, 0, 0], [1.0 + COUPLER, 0, 0]]}
    content = {"schema": 1, "kind": "orbital-arm", "duration": 5.0, "motion": "planar", "arm": {"link": links}}
    return tomlkit.dumps(content | {"closure": [closure | changed]})


@pytest.fixture(scope="module")
def turning():
    return dockdyn.simulate(parse(four_bar(), "four-bar"))


@pytest.mark.full
def test_the_loop_stays_closed(turning):
    """The rocker's end by the angles of the joints, and its velocity by their rates."""
    angles, rates = (np.cumsum(values, axis=1) for values in (turning.joint_angle.values, turning.joint_rate.values))
    lengths = np.array([CRANK, COUPLER, CRANK])
    along, across = np.cos(angles) @ lengths, np.sin(angles) @ lengths
    assert max(np.abs(along - COUPLER).max(), np.abs(across).max()) < 1e-11
    moving = (lengths * np.sin(angles) * rates).sum(1), (lengths * np.cos(angles) * rates).sum(1)
    assert np.abs(moving).max() < 1e-11
    assert np.ptp(angles[:, 0]) > 2 * math.pi  # the crank goes round, also where all bars are in line


def test_energy_and_momentum_are_kept(turning):
    """Its value at the start in closed form; it stays within a band of second order in the step."""
    summary = dockdyn.summarise(turning)
    assert summary["status"] == "finished" and not summary["warnings"]
    energy = turning.kinetic_energy.values
    assert energy[0] == pytest.approx(energy_at_the_start(), rel=1e-12)
    assert np.abs(energy / energy[0] - 1).max() < 1e-4  # (0.01 s · 2 rad/s)² is 4e-4
    assert summary["linear_momentum_error"] < 1e-12 and summary["angular_momentum_error"] < 1e-12


def energy_at_the_start():
    """About the reference point, which moves with the centre of mass: crank and rocker turn, the coupler circles."""
    hinge = np.array([-math.sin(START), math.cos(START)]) * CRANK * RATE
    velocities = {"base": 0 * hinge, "crank": hinge / 2, "coupler": hinge, "rocker": hinge / 2}
    whole = sum(MASSES.values())
    drift = sum(MASSES[name] * velocities[name] for name in MASSES) / whole
    moving = sum(0.5 * MASSES[name] * velocities[name] @ velocities[name] for name in MASSES)
    turning = 0.5 * (INERTIAS["crank"] + INERTIAS["rocker"]) * RATE**2
    return moving + turning - 0.5 * whole * drift @ drift


@pytest.mark.full
def test_the_error_of_the_energy_is_of_second_order():
    widths = []
    for step in (0.02, 0.01):
        overrides = {"integrator.step": step, "duration": 1.0, "output.interval": 0.02}
        energy = dockdyn.simulate(parse(four_bar(), "four-bar", overrides)).kinetic_energy.values
        widths.append(np.ptp(energy) / energy[0])
    assert 1.8 < math.log2(widths[0] / widths[1]) < 2.2


@pytest.mark.full
def test_a_welded_loop_is_stiff():
    """A weld at the last hinge leaves a parallelogram no motion."""
    text = four_bar(hold="weld")
    still = {f"arm.link.{name}.start_rate": 0 for name in ("crank", "coupler", "rocker")}
    held = {
        "law": "joint-pd",
        "stiffness": [5, 0, 0],
        "damping": [0, 0, 0],
        "phase": [{"name": "pull", "set_point": [0.9, 0, 0]}],
    }
    run = dockdyn.simulate(parse(text, "four-bar", still | {"control": held}))
    assert np.ptp(run.joint_angle.values, axis=0).max() < 1e-11


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"links": ["rockr", "base"]}, "did you mean 'rocker'"),
        ({"links": ["base", "base"]}, "must be two links"),
        ({"links": ["base"]}, "closure"),
        ({"hold": "glue"}, "hold"),
        ({"points": [[CRANK, 0, 0]]}, "points"),
        ({"points": [[CRANK, 0, 0], [2.1, 0, 0]]}, "ends start 0.1 m apart"),
        ({"point": [0, 0, 0]}, "point"),
    ],
)
def test_bad_loops_are_refused_in_one_line(changed, words, dock, tmp_path):
    (tmp_path / "bad.toml").write_text(four_bar(**changed), encoding="utf-8")
    ended = dock("run", "bad.toml", "--out", tmp_path / "out")
    assert ended.returncode == 2
    said = ended.stderr.strip()
    assert words in " ".join(said.split()) and "closure" in said and "Traceback" not in said
    assert len(said.splitlines()) == 1


def test_ends_that_part_at_the_start_are_refused():
    with pytest.raises(dockdyn.ScenarioError, match=r"closure.0 = rocker – base: .* m/s apart") as caught:
        dockdyn.simulate(parse(four_bar(), "four-bar", {"arm.link.rocker.start_rate": 0}))
    assert "\n" not in str(caught.value)
