"""The kind `orbital-arm` away from the beaten track: turned mounts, many orbits, laws beside schedules."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dockdyn
from dockdyn.mechanics.orbit import eccentric_anomaly
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Matrix
from dockdyn.scenario.load import parse

ARM = """
schema = 1
kind = "orbital-arm"
duration = "4 s"
motion = "planar"
{orbit}

[[arm.link]]
name = "station"
mass = "2000 kg"
inertia = [600, 600, 800]

[[arm.link]]
name = "boom"
parent = "station"
mount = [0, 2, 0]
start = "100 deg"
mass = "60 kg"
centre = [1, 0, 0]
inertia = [1, 20, 20]

[[arm.link]]
name = "box"
parent = "boom"
joint = "locked"
mount = [2, 0.3, 0]
mount_attitude = [0.7071067811865476, 0, 0, 0.7071067811865476]  # a quarter turn about z
mass = "50 kg"
centre = [0.2, 0.1, 0]
inertia = [2, 3, 4]
{more}
"""
BAY = """
[contact]
link = "box"
points = [[0.5, 0, 0], [0, 0.25, 0]]

[[contact.surface]]
name = "floor"
shape = "plane"
point = [0, 1.0, 0]
normal = [0, 1, 0]

[latch]
surface = "floor"
hold = "weld"

[control]
law = "joint-pd"
stiffness = [400]
damping = [300]
limit = [200]

[[control.phase]]
name = "wait"
set_point = ["100 deg"]
until = "0.3 s"

[[control.phase]]
name = "lower"
set_point = ["-80 deg"]
until = "latched"

[[control.phase]]
name = "back"
set_point = ["-20 deg"]
release = true
"""
ORBIT = """
[orbit]
semi_major_axis = "6900 km"
"""


def scenario(orbit="", more="", **overrides):
    return parse(ARM.format(orbit=orbit, more=more), "arm", overrides)


@pytest.mark.full
def test_a_turned_mount_is_turned_in_the_plane_as_in_space():
    """Contact points, and the payload's mass and inertia once the station has it."""
    found = []
    for motion in ("planar", "free"):
        model = scenario(ORBIT, BAY, motion=motion).model()
        q, _, mode = model.initial()
        origin, turn = model.pose(q, model.touch.link)
        attitude = Quaternion.from_matrix(Matrix.of(turn)).array()
        planar = motion == "planar"
        v = jnp.array([0.3, -0.2, 0.7, 1.1] if planar else [0.3, -0.2, 0, 0, 0, 0.7, 1.1])
        later = q.at[-1].add(0.8)  # the arm goes on alone
        for held in (False, True):
            mode = mode._replace(latched=jnp.asarray(held), released=jnp.asarray(held), place=origin, attitude=attitude)
            found.append((model.places(q), model.lagrangian(0.0, later, v, mode), turn))
    (planar_arm, planar_station), (arm, station) = found[:2], found[2:]
    # the quarter turn: x of the box is the boom's y
    angle = np.deg2rad(100.0)
    boom = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    corner = np.array([0.0, 2.0]) + boom @ (np.array([2.0, 0.3]) + np.array([0.0, 0.5]))
    np.testing.assert_allclose(planar_arm[0][0, :2], corner, atol=1e-12)
    for plane, space in ((planar_arm, arm), (planar_station, station)):
        np.testing.assert_allclose(plane[0], space[0], atol=1e-12)
        np.testing.assert_allclose(plane[2], space[2], atol=1e-12)
        assert float(plane[1]) == pytest.approx(float(space[1]), rel=1e-12)
    assert abs(float(arm[1] - station[1])) > 1  # J: it matters who has the payload


@pytest.mark.full
def test_the_discrete_law_beside_a_schedule_and_a_latch():
    """Neither a phase that ends by time nor a capture is an elastic impact."""
    law = "\n[impact]\nlaw = 'variational'\n"
    run = dockdyn.simulate(scenario("", BAY.replace("\n[latch]", law + "\n[latch]"), duration=8.0))
    summary = dockdyn.summarise(run)
    assert summary["status"] == "finished"
    assert summary["captured"] and summary["release_time_s"] == summary["capture_time_s"]
    loss = summary["impacts"][-1]["energy_loss_J"]
    assert loss > 0
    assert summary["energy_error"] < 1e-3 and summary["angular_momentum_error"] < 1e-10


@pytest.mark.full
def test_an_attitude_over_more_than_an_orbit():
    """5704 s a turn; a station that turns with the orbital frame keeps its angle to it."""
    content = {"duration": 7000.0, "integrator.step": 1.0, "output.interval": 10.0, "arm.link.1.joint": "locked"}
    text = ARM.format(orbit=ORBIT, more="").replace('start = "100 deg"\n', "")
    run = dockdyn.simulate(parse(text, "arm", content))
    theta = run.theta.values
    assert np.abs(np.diff(theta)).max() < 0.05
    summary = dockdyn.summarise(run)
    # gravity's impulses are those of the steps, however few of them are kept
    assert summary["linear_momentum_error"] < 1e-9 and summary["angular_momentum_error"] < 1e-9


@pytest.mark.parametrize("eccentricity", [0.0, 0.3, 0.9, 0.995, 0.9999])
def test_kepler_at_any_eccentricity(eccentricity):
    mean = np.concatenate([np.linspace(-np.pi, np.pi, 4001), np.geomspace(1e-12, 1.0, 400)])
    found = jax.vmap(lambda m: eccentric_anomaly(m, jnp.asarray(eccentricity)))(jnp.asarray(mean))
    residual = np.asarray(found) - eccentricity * np.sin(found) - mean
    assert np.abs(residual).max() < 2e-15


def test_a_joint_that_is_called_as_the_attitude_is_refused():
    with pytest.raises(dockdyn.ScenarioError, match="theta"):
        scenario(**{"arm.link.1.coordinate": "theta"})


@pytest.mark.full
@pytest.mark.filterwarnings("error")
def test_a_scene_in_which_nothing_moves_has_a_report(dock, tmp_path):
    path = tmp_path / "still.toml"
    path.write_text(ARM.format(orbit="", more=""), encoding="utf-8")
    assert dock("run", str(path), "--out", str(tmp_path / "out")).returncode == 0
