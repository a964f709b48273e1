"""Numbers of a scenario from a log: synthetic truth with noise, how often intervals hold it, what a log does not tell."""

import json

import numpy as np
import pytest
from places import DOCS

import dockdyn
from dockdyn.results.exchange.measured_log import run_columns

STIFFNESS, SPEED = "contact.fronts.normal.stiffness", "body.chaser-front.velocity"
TRUTH = {STIFFNESS: 12_000.0, SPEED: 0.055}
SHORT = {"duration": 0.25, "output.interval": 0.001}
NOISE = 1e-3  # m/s
COLUMN = "velocity.chaser-front.x"


def log_of(folder, seed, overrides=None):
    """A log of the velocity of a mass, with noise, and its file."""
    dataset = dockdyn.simulate(dockdyn.load("paraskevas-a", TRUTH | SHORT | (overrides or {})))
    column = run_columns(dataset)[COLUMN]
    noise = NOISE * np.random.default_rng(seed).normal(size=len(column.values))
    rows = zip(dataset.time.values.tolist(), (column.values + noise).tolist(), strict=True)
    file = folder / f"log-{seed}.csv"
    file.write_text(f"time [s],{column.heading}\n" + "".join(f"{time!r},{value!r}\n" for time, value in rows))
    return file


def test_stiffness_and_speed_from_a_noisy_log(tmp_path, dock):
    """And a column that no run has is told to be of no use."""
    file = log_of(tmp_path, 1)
    heading, *rows = file.read_text().splitlines()
    file.write_text("\n".join([f"{heading},position.chaser [m]", *(f"{row},0.0" for row in rows)]) + "\n")
    code, out, err = dock(
        "identify", "parameters", str(file), "--scenario", "paraskevas-a", "--set", "duration=0.25 s",
        "--key", STIFFNESS, "--key", SPEED, "--json", "--out", "found",
    )  # fmt: skip
    assert code == 0, err
    found = json.loads(out)
    for one in found["parameters"]:
        assert abs(one["value"] - TRUTH[one["key"]]) < 4 * one["standard_error"]
        assert one["standard_error"] < 0.02 * TRUTH[one["key"]]
        assert one["bounded"] and not one["by_profile"]
    assert found["columns"][COLUMN]["noise"] == pytest.approx(NOISE, rel=0.15)
    assert found["warnings"] == ["not used, for the run has no such variable: position.chaser [m]"]
    described = (DOCS / "identify.md").read_text().split("| `identify parameters` |")[1].split("\n\n")[0]
    told = {*found, *found["parameters"][0], *found["columns"][COLUMN]}
    assert not sorted(key for key in told if f"`{key}`" not in described)
    again = dockdyn.load(tmp_path / "found" / "scenario.toml")
    assert dict(again.content.contact[0].normal)["stiffness"] == pytest.approx(
        found["parameters"][0]["value"], rel=1e-12
    )


@pytest.mark.full
def test_intervals_hold_the_truth_as_often_as_they_say(tmp_path):
    """Of 60 logs the 95 % interval of each number misses at most 8 times: more has a probability of 0.4 %."""
    scenario, repeats = dockdyn.load("paraskevas-a", {"duration": 0.25}), 60
    missed, spread = dict.fromkeys(TRUTH, 0), {key: [] for key in TRUTH}
    for seed in range(repeats):
        fit = dockdyn.identify_parameters(scenario, log_of(tmp_path, seed), list(TRUTH))
        for one in fit.parameters:
            low, high = one.interval
            missed[one.key] += not low <= TRUTH[one.key] <= high
            spread[one.key].append((one.value, one.error))
    assert max(missed.values()) <= 8, missed
    for key, pairs in spread.items():
        values, errors = np.array(pairs).T
        assert values.mean() == pytest.approx(TRUTH[key], abs=4 * errors.mean() / np.sqrt(repeats)), key
        assert values.std(ddof=1) == pytest.approx(errors.mean(), rel=0.35), key


@pytest.mark.full
def test_what_a_log_does_not_tell_is_said(tmp_path):
    """Before contact the stiffness has no part in the motion: its profile is flat."""
    before = {"duration": 0.012}
    file = log_of(tmp_path, 2, before)
    scenario = dockdyn.load("paraskevas-a", before)
    fit = dockdyn.identify_parameters(scenario, file, [STIFFNESS, SPEED])
    stiffness, speed = fit.parameters
    assert stiffness.interval == (None, None)
    assert stiffness.profiled and not np.isfinite(stiffness.error)
    assert any(f"{STIFFNESS}: not identifiable" in words for words in fit.warnings)
    assert speed.bounded
    assert abs(speed.value - TRUTH[SPEED]) < 4 * speed.error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--key", "stiffness"), "stiffness: unknown key"),
        (("--key", SPEED, "--key", SPEED), f"--key {SPEED}: given twice"),
        (("--key", "duration"), "has no part in the motion"),
    ],
)
def test_bad_keys_are_one_line(dock, tmp_path, arguments, words):
    file = tmp_path / "log.csv"
    file.write_text("time [s],velocity.chaser-front [m/s]\n0,0\n")
    code, _, err = dock("identify", "parameters", str(file), "--scenario", "paraskevas-a", *arguments)
    assert code == 2
    assert err.count("\n") == 1
    assert words in err


CAUGHT = {
    "schema": 2,
    "motion": "line",
    "duration": 3.0,
    "body": {
        "a": {"mass": 50.0, "position": -0.1, "velocity": 0.1},
        "b": {"mass": 80.0},
        "plate": {"on": "b", "mass": 5.0, "joint": {"kind": "prismatic", "stiffness": 900.0, "damping": 4.0}},
    },
    "latch": {"l": {"between": ["a", "plate"], "reach": 1e-3, "stiffness": 8e3, "damping": 50.0}},
    "contact": {"c": {"between": ["a", "plate"], "normal": {"law": "hertz", "stiffness": 1.5e5, "exponent": 1.5}}},
    "output": {"interval": 0.005},
}


@pytest.mark.full
def test_what_was_measured_after_a_capture_that_ends_the_run_counts(load, tmp_path):
    """The log goes on where the run would have ended: so does the run that is held against it."""
    truth = dockdyn.simulate(load(CAUGHT))
    file = tmp_path / "log.csv"
    rows = zip(truth.time.values.tolist(), run_columns(truth)["velocity.a.x"].values.tolist(), strict=True)
    file.write_text("time [s],velocity.a.x [m/s]\n" + "".join(f"{time!r},{value!r}\n" for time, value in rows))
    ends = load(CAUGHT, {"latch.l.ends_run": True, "body.a.mass": 44.0})
    assert dockdyn.simulate(ends).time.values[-1] < 1.5
    fit = dockdyn.identify_parameters(ends, file, ["body.a.mass"])
    assert fit.parameters[0].value == pytest.approx(50.0, rel=1e-9) and len(fit.time) == truth.sizes["time"]
    assert fit.scenario.content.latch[0].ends_run


def test_times_of_a_log_need_not_be_those_of_samples(tmp_path):
    """A cart on a spring, ten rows in a period, which begin at any time: what lies between samples is read as it is."""
    mass, stiffness, damping, start, noise = 7.0, 300.0, 2.0, 0.03, 1e-5
    cart = {"mass": mass, "on": "ground", "joint": {"stiffness": stiffness, "damping": damping, "start": 0.02}}
    tables = {"schema": 2, "duration": 6.0, "motion": "line", "body": {"ground": {"fixed": True}, "cart": cart}}
    omega, ratio = np.sqrt(stiffness / mass), damping / 2 / np.sqrt(stiffness * mass)
    swing = omega * np.sqrt(1 - ratio**2)
    rng, moved = np.random.default_rng(3), []
    for number in range(6):
        time = np.arange(rng.uniform(0, 0.1), 6.0, 0.1)
        place = np.cos(swing * time) + ratio / np.sqrt(1 - ratio**2) * np.sin(swing * time)
        place = start * np.exp(-ratio * omega * time) * place + noise * rng.standard_normal(time.size)
        file = tmp_path / f"{number}.csv"
        np.savetxt(file, np.stack([time, place], 1), delimiter=",", header="time [s],joint_angle.cart", comments="")
        fit = dockdyn.identify_parameters(dockdyn.load(tables), file, ["body.cart.joint.start"])
        (found,) = fit.parameters
        moved.append((found.value - start) / found.error)
        assert fit.scenario.content.output.interval is None  # as the user has it
        assert fit.noise["joint_angle.cart"] == pytest.approx(noise, rel=0.3)
    assert np.abs(moved).max() < 4 and abs(np.mean(moved)) < 1.7  # four times its own spread, of six draws
