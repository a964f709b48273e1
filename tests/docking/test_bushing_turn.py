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
