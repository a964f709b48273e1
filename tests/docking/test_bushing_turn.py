"""A bushing turned by more than half a turn: beyond its law, and told so with its name and when."""

import json

import numpy as np
import pytest
import tomlkit
import xarray as xr

import dockdyn

RATE, STIFFNESS, OWN, OTHER = 1.5, 0.1, 2.0, 400.0  # rad/s, N m/rad, kg m², kg m²
BODY = {"mass": 10.0, "inertia": [OWN] * 3}
HINGE = {
    "schema": 2,
    "duration": 4.0,
    "body": {"arm": BODY | {"rate": [RATE, 0.0, 0.0]}, "base": BODY | {"inertia": [OTHER] * 3}},
    "bushing": {
        "hinge": {
            "between": ["arm", "base"],
            "position": [0.0, 0.0, 0.0],
            "stiffness": [1e3] * 3,
            "turning_stiffness": [STIFFNESS] * 3,
        }
    },
}


def angle(time, rate=RATE):
    """Two bodies on a torsion spring, by the closed form."""
    frequency = np.sqrt(STIFFNESS * (1 / OWN + 1 / OTHER))
    return rate / frequency * np.sin(frequency * time)


@pytest.mark.full
def test_the_turn_is_told_up_to_half_a_turn_and_beyond_it_warned_of(load):
    run = dockdyn.simulate(load(HINGE))
    time, turn = run.time.values, run.bushing_turn.sel(bushing="hinge").values
    within = angle(time) < np.pi
    assert 0.3 < within.mean() < 0.9
    np.testing.assert_allclose(turn[within], angle(time)[within], atol=1e-6)
    assert (turn[~within] > np.pi).all()
    (told,) = [words for words in dockdyn.summarise(run)["warnings"] if "hinge" in words]
    assert f"bushing 'hinge' is turned by more than half a turn at t = {time[~within][0]:.6g} s" in told


def test_a_bushing_that_stays_below_is_not_warned_of(load):
    run = dockdyn.simulate(load(HINGE, {"body.arm.rate": [0.1, 0.0, 0.0]}))
    assert run.bushing_turn.max() < np.pi
    assert not [words for words in dockdyn.summarise(run)["warnings"] if "hinge" in words]


BEAM = {
    "kind": "beam",
    "basis": "polynomial",
    "length": 1.0,
    "mass_per_length": 4.0,
    "bending_stiffness": [4e3, 5e3],
    "bending_modes": [1, 1],
}
LINKS = {
    "spherical": {"joint": {"kind": "spherical", "position": [0.5, 0.0, 0.0]}},
    "locked": {"joint": {"kind": "revolute", "position": [0.5, 0.0, 0.0], "axis": [0, 0, 1], "locked": True}},
    "beam": {
        "joint": {
            "kind": "revolute",
            "position": [0.5, 0.0, 0.0],
            "axis": [0, 0, 1],
            "stiffness": 5.0,
            "start_rate": 0.05,
        },
        "mass": 10.0,
        "inertia": [0.4, 4.0, 4.0],
        "flexible": BEAM,
    },
}


@pytest.mark.full_cases("locked", "beam")
@pytest.mark.parametrize("kind", LINKS)
def test_the_turn_of_a_link_of_a_tree_is_the_same_wherever_the_scene_is_turned(kind):
    """Links of trees with balls, locked joints and large beams pass half a turn of their own; the bushing hardly turns."""

    def run(degrees):
        turned = {"axis": [0, 0, 1], "angle": f"{degrees} deg"}
        out = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.0])
        arm = {"on": "base", "position": [1.0, 0.0, 0.0], "mass": 5.0, "inertia": [0.1, 0.5, 0.5]} | LINKS[kind]
        free = {"mass": 5.0, "inertia": [0.2] * 3, "attitude": turned, "rate": [0.0, 0.0, 0.25]}
        free |= {"position": (1.8 * out).tolist(), "velocity": np.cross([0, 0, 0.2], 1.8 * out).tolist()}
        base = {"mass": 500.0, "inertia": [500.0] * 3, "attitude": turned, "rate": [0.0, 0.0, 0.2]}
        stiff = {"stiffness": [200.0] * 3, "turning_stiffness": [20.0] * 3}
        tie = {"between": ["arm", "free"], "position": [-0.5, 0.0, 0.0]} | stiff
        content = {"schema": 2, "duration": 2.0, "body": {"base": base, "arm": arm, "free": free}}
        return dockdyn.simulate(dockdyn.load(content | {"bushing": {"tie": tie}}))

    level, beyond = run(0.0), run(170.0)
    assert not [words for words in dockdyn.summarise(beyond)["warnings"] if "tie" in words]
    turns = [one.bushing_turn.sel(bushing="tie").interp(time=np.linspace(0, 2, 50)) for one in (level, beyond)]
    assert 1e-3 < turns[0].max() < 0.1
    np.testing.assert_allclose(turns[1], turns[0], atol=1e-6)
    attitudes = beyond.attitude.sel(body="arm").values  # its sign goes on
    assert (np.sum(attitudes[1:] * attitudes[:-1], axis=1) > 0.99).all()


@pytest.mark.full
def test_a_campaign_counts_the_cases_that_turn_so_far_and_says_so_once(dock, tmp_path):
    rates = [{"distribution": "uniform", "low": 0.1, "high": 1.4}, 0.0, 0.0]
    bodies = HINGE["body"] | {"arm": HINGE["body"]["arm"] | {"rate": rates}}
    (tmp_path / "hinge.toml").write_text(tomlkit.dumps(HINGE | {"body": bodies}), encoding="utf-8")
    ended = dock("campaign", "run", "hinge.toml", "--runs", 24, "--seed", 3, "--out", "c", "--json")
    assert ended.returncode == 0, ended.stderr
    data = xr.load_dataset(tmp_path / "c" / "campaign.nc", engine="h5netcdf")
    last = angle(HINGE["duration"], data["body.arm.rate.0"].values)  # it grows until then
    beyond = last > np.pi
    assert 3 < beyond.sum() < 21
    turns = data["bushing.turn_rad"].values
    np.testing.assert_allclose(turns[~beyond], last[~beyond], atol=1e-6)
    assert (turns[beyond] > np.pi).all()
    (told,) = json.loads(ended.stdout)["doubtful"]
    first = f"dockdyn campaign rerun c {np.flatnonzero(beyond)[0]}"
    assert (told["cases"], told["command"]) == (beyond.sum(), first)
    words = f"in {beyond.sum()} of 24 cases a bushing is turned by more than half a turn"
    assert (tmp_path / "c" / "campaign-report.html").read_text().count(words) == 1
    assert dock("campaign", "report", "c").stdout.count(words) == 1
