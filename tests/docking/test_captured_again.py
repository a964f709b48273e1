"""What lets go and catches again, as often as phases say: each capture and release by hand, in figures and in words."""

import numpy as np
import pytest

import dockdyn
from dockdyn.pages import report_of
from dockdyn.studies.campaign.answers import campaign_answers
from dockdyn.studies.cases.batch import run_cases

MASS, SPEED, GAP, REACH = (3.0, 5.0), 0.1, 0.05, 0.01  # kg, m/s, m, m
HELD, APART, OUT, BACK = 0.4, 0.3, 0.06, 0.09  # s, s, N, N: it is held, pushed out, then back
CAUGHT = (GAP - REACH) / SPEED  # s
# out by OUT/m over APART, back by BACK/m until it is where it was let go, on which the other mass has no part
RETURN = APART * OUT / BACK * (1 + np.sqrt(1 + BACK / OUT))  # s
ROUND = HELD + APART + RETURN  # s, from one capture to the next


def docked(rounds, released=False, latches=("hook",), opened=("hook",)):
    """A body that rigid latches catch, let go and catch again in so many rounds, and let go in the end or not."""
    thrusters = {
        name: {"body": "probe", "position": [0.0] * 3, "direction": [way, 0.0, 0.0], "force": 0.0}
        for name, way in (("out", 1.0), ("back", -1.0))
    }
    opens, closes = ({f"latch.{name}.closed": closed for name in opened} for closed in (False, True))
    quiet = {"thruster.out.force": 0.0, "thruster.back.force": 0.0}
    phase = {"comes": {}}
    for number in range(rounds):
        phase |= {
            f"holds-{number}": {"when": "latched", "set": quiet},
            f"leaves-{number}": {"when": {"lasting": HELD}, "set": opens | {"thruster.out.force": OUT}},
            f"returns-{number}": {
                "when": {"lasting": APART},
                "set": closes | {"thruster.out.force": 0.0, "thruster.back.force": BACK},
            },
        }
    phase["stays"] = {"when": "latched", "set": quiet}
    if released:
        phase["goes"] = {"when": {"lasting": HELD}, "set": opens | {"thruster.out.force": OUT}}
    begins = {"position": [GAP, 0.0, 0.0], "velocity": [-SPEED, 0.0, 0.0]}
    catch = {"between": ["probe", "target"], "reach": REACH, "lateral": 0.02, "grip": "weld"}
    catch |= (
        {"anchor": [[0.0] * 3] * 2} if len(latches) == 1 else {"stiffness": 1e4, "damping": 4e2, "grip": "compliant"}
    )
    places = {name: [0.0, 0.1 * number, 0.0] for number, name in enumerate(latches)}
    return {
        "schema": 2,
        "duration": CAUGHT + rounds * ROUND + HELD + 0.1,
        "body": {
            "probe": {"mass": MASS[0], "inertia": [1.0] * 3, **begins},
            "target": {"mass": MASS[1], "inertia": [1.0] * 3, "position": [0.0] * 3},
        },
        "latch": {name: {"anchor": [places[name]] * 2} | catch for name in latches},
        "thruster": thrusters,
        "phase": phase,
    }


@pytest.mark.full_cases("1-False", "2-False", "2-True")
@pytest.mark.parametrize("released", [False, True])
@pytest.mark.parametrize("rounds", [1, 2])
def test_each_capture_and_release_is_told(rounds, released):
    scenario = dockdyn.load(docked(rounds, released))
    run = dockdyn.simulate(scenario)
    summary = dockdyn.summarise(run)
    onsets = CAUGHT + ROUND * np.arange(rounds + 1)
    releases = [*(onsets + HELD)[:rounds], onsets[-1] + HELD if released else None]
    assert [one["onset_s"] for one in summary["captures"]] == pytest.approx(onsets.tolist(), abs=1e-9)
    assert [one["release_s"] for one in summary["captures"]] == [
        one if one is None else pytest.approx(one, abs=1e-9) for one in releases
    ]
    assert summary["captured"] and summary["capture_time_s"] == summary["captures"][0]["onset_s"]
    assert summary["release_time_s"] == summary["captures"][0]["release_s"]
    assert summary["held_at_end"] is not released and not summary["outcome_open"]
    batch = run_cases(scenario, ["body.probe.mass"], np.array([[MASS[0]]])).figures
    for name in ("captured", "capture_time_s", "release_time_s", "held_at_end", "outcome_open"):
        assert batch[name][0] == pytest.approx(float(summary[name]), abs=1e-12), name
    report = report_of(run)
    assert report.headline == f"Captured at {CAUGHT:.4f} s, released " + ("again" if released else "and captured again")
    assert report.verdict.count("Captured again at t = ") == rounds
    assert report.verdict.count("Released again at t = ") == rounds - (not released)
    assert ("held by the latches" in report.verdict) is not released
    assert f"Captured again at t = {onsets[1]:.5f}"[:-1] in report.verdict


def test_a_release_while_another_latch_holds_leaves_nothing_apart():
    content = docked(0, latches=("hook", "pawl"))
    content["phase"] |= {"opens": {"when": {"lasting": HELD}, "set": {"latch.hook.closed": False}}}
    run = dockdyn.simulate(dockdyn.load(content))
    summary, report = dockdyn.summarise(run), report_of(run)
    assert summary["captured"] and summary["held_at_end"] is False
    assert summary["release_time_s"] == pytest.approx(CAUGHT + HELD, abs=1e-9)
    assert "1 of 2 latches holds at the end." in report.verdict and "held by 1 of 2 latches." in report.verdict


def test_a_release_is_neither_missed_nor_open(tmp_path):
    """Contact or a striker on its way at the end leave open what comes of no latch that has already held."""
    content = docked(1)
    content["duration"] = CAUGHT + HELD + APART + 0.9 * RETURN  # on its way back
    content["body"]["probe"]["mass"] = {"distribution": "uniform", "low": MASS[0], "high": 1.01 * MASS[0]}
    scenario = dockdyn.load(content)
    summary = dockdyn.summarise(dockdyn.simulate(scenario))
    assert summary["captured"] and not summary["held_at_end"] and not summary["outcome_open"]
    assert not [words for words in summary["warnings"] if "not captured" in words]
    answers = campaign_answers(dockdyn.campaign(scenario, tmp_path / "cases", runs=4), "here")
    assert answers["capture_probability"] == 1 and answers["released"] == 4 and answers["undecided"] == 0


@pytest.mark.full_cases("0-weld", "0-pin", "1-weld")
@pytest.mark.parametrize("grip", ["weld", "pin"])
@pytest.mark.parametrize("seed", range(6))
def test_what_has_not_moved_is_caught_again(load, seed, grip):
    """It is where it was caught, at the end of the latch's reach, on which side rounding says; wherever the bodies are."""
    draw = np.random.default_rng([8, seed])
    tables = docked(0)
    shift, speed = draw.uniform(-1, 1, 3) * 10 ** draw.uniform(-1, 3), draw.uniform(0.01, 0.3)
    for name in ("probe", "target"):
        tables["body"][name]["mass"] = draw.uniform(1, 100)
        tables["body"][name]["position"] = (np.array(tables["body"][name]["position"]) + shift).tolist()
    tables["body"]["probe"]["velocity"] = (-speed * np.array([1.0, *draw.uniform(-0.01, 0.01, 2)])).tolist()
    tables["latch"]["hook"] |= {"grip": grip}
    opens, closes = ({"latch.hook.closed": closed} for closed in (False, True))
    tables["phase"] = {"comes": {}, "lets-go": {"when": "latched", "set": {}}}
    for turn in range(3):
        tables["phase"] |= {
            f"opens-{turn}": {"when": {"lasting": 0.3}, "set": opens},
            f"closes-{turn}": {"when": {"lasting": draw.uniform(0.0, 0.2)}, "set": closes},
        }
    tables["duration"] = GAP / speed + 2.0
    run = dockdyn.simulate(load(tables))
    found = dockdyn.summarise(run)
    assert found["held_at_end"] is True, found
    assert len(run.capture_onset) == 4
