"""A latch with play that is pressed steadily: where it settles and over how many bounces, beside an independent integration."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dockdyn
from dockdyn.studies.cases.batch import run_cases

LIGHT, HEAVY, PLAY, STIFFNESS, SPEED = 40.0, 4000.0, 1e-3, 3e5, 0.01  # kg, kg, m, N/m, m/s
REDUCED = LIGHT * HEAVY / (LIGHT + HEAVY)
CRITICAL = 2 * np.sqrt(STIFFNESS * REDUCED)
PUSH, DRAG = 100.0, 2.0  # N/m of a spring compressed by 1 m, N s/m beside it


def pressed(damping, duration):
    """A striker begins on its seat and is pushed out of it by a soft spring."""
    return {
        "schema": 2,
        "duration": duration,
        "body": {
            "probe": {"mass": LIGHT, "inertia": [1.0] * 3, "velocity": [SPEED, 0.0, 0.0]},
            "socket": {"mass": HEAVY, "inertia": [1e3] * 3},
        },
        "latch": {
            "hook": {
                "between": ["probe", "socket"],
                "anchor": [[0.0] * 3] * 2,
                "reach": 0.01,
                "lateral": 0.01,
                "stiffness": STIFFNESS,
                "damping": damping,
                "play": PLAY,
            }
        },
        "strut": {
            "push": {
                "between": ["probe", "socket"],
                "anchor": [[0.0] * 3, [-5.0, 0.0, 0.0]],
                "stiffness": PUSH,
                "damping": DRAG,
                "free_length": 6.0,
            }
        },
        "integrator": {"max_events": 3000},
    }


def end_of_play(t, y, free, damping):
    return abs(y[0]) - PLAY


end_of_play.terminal = True


def bounces(damping, duration):
    """How often the striker enters the stop, and where it is at the end (m), by SciPy's integrator from end to end."""

    def flow(t, y, free, damping):
        way, speed = y
        beyond = 0.0 if free else way - np.sign(way) * PLAY
        force = PUSH * (1 - way) - DRAG * speed - STIFFNESS * beyond - (0.0 if free else damping * speed)
        return [speed, force / REDUCED]

    time, state, free, entered = 0.0, np.array([0.0, SPEED]), True, 0
    while time < duration:
        end_of_play.direction = 1 if free else -1
        found = solve_ivp(
            flow, (time, duration), state, "DOP853", events=end_of_play, args=(free, damping), rtol=1e-11, atol=1e-15
        )
        time, state = found.t[-1], found.y[:, -1]
        if time < duration:
            entered += free
            free = not free
            state = np.array([np.sign(state[0]) * PLAY, state[1]])  # exactly at the end, whichever side it was found on
    return entered, state[0]


@pytest.mark.full_cases("0.03", "0.1", "0.5")
@pytest.mark.parametrize("share", [0.03, 0.1, 0.5, 2.0])
def test_a_damped_latch_settles_at_the_end_of_its_play(load, share):
    """After as many bounces as the independent integration has, stretched by the load over its stiffness."""
    damping = share * CRITICAL
    run = dockdyn.simulate(load(pressed(damping, 10.0)))
    entered, way = bounces(damping, 10.0)
    assert run.latch_bounces.sel(latch="hook") == entered - 1  # the last one does not end
    assert float(run.line_length.sel(line="hook")[-1]) == pytest.approx(way, abs=1e-9)
    assert way == pytest.approx(PLAY + PUSH * (1 - PLAY) / STIFFNESS, rel=1e-4)
    assert not [words for words in dockdyn.summarise(run)["warnings"] if "hook" in words]


@pytest.mark.full_cases("fixed")
@pytest.mark.parametrize("method", ["fixed", "variational"])
def test_every_method_counts_the_same_bounces(load, method):
    damping = 0.01 * CRITICAL
    run = dockdyn.simulate(load(pressed(damping, 6.0) | {"integrator": {"method": method, "step": 2e-4}}))
    assert int(run.latch_bounces.sel(latch="hook")) == bounces(damping, 6.0)[0] - 1 > 3


@pytest.mark.full
def test_an_undamped_latch_bounces_on_and_is_told(load):
    """What damps elsewhere is slow: over bounce upon bounce, as the independent integration has them."""
    run = dockdyn.simulate(load(pressed(0.0, 15.0)))
    entered, _ = bounces(0.0, 15.0)
    assert abs(int(run.latch_bounces.sel(latch="hook")) - entered) <= 1 and entered > 100
    (told,) = [words for words in dockdyn.summarise(run)["warnings"] if "hook" in words]
    assert told.startswith(f"latch 'hook' has bounced {int(run.latch_bounces[0])} times in its play")


@pytest.mark.full
def test_the_cases_of_a_campaign_count_bounces_as_runs_do(load):
    scenario = load(pressed(0.0, 10.0))
    dampings = [0.0, 0.03 * CRITICAL, 0.5 * CRITICAL]
    cases = run_cases(scenario, ["latch.hook.damping"], np.array(dampings)[:, None])
    runs = [dockdyn.simulate(load(pressed(damping, 10.0))) for damping in dampings]
    assert cases.figures["latch.bounces"].tolist() == [int(run.latch_bounces[0]) for run in runs]
    assert cases.figures["latch.bounces"][0] > 50


@pytest.mark.full
def test_a_required_peak_of_contacts_says_what_a_latch_bears_beside_it():
    """A spring that stops a reduced mass bears v √(k m), of which the largest force of contacts has nothing."""
    scenario = pressed(0.0, 0.1)
    del scenario["strut"], scenario["latch"]["hook"]["play"]
    scenario["body"]["probe"]["feature"] = {"tip": {"position": [1.0, 0.0, 0.0], "radius": 0.1}}
    scenario["body"]["socket"]["surface"] = {
        "stop": {"shape": "plane", "point": [2.0, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}
    }
    scenario["contact"] = {"end": {"between": ["tip", "stop"], "normal": {"law": "hertz", "stiffness": 1e6}}}
    without, required = (
        dockdyn.summarise(dockdyn.simulate({**scenario, **more}))
        for more in ({}, {"requirements": {"peak_force": "< 10 N"}})
    )
    assert required["captured"] and required["peak_force_N"] == 0.0 and required["requirements"][0]["met"]
    (words,) = set(required["warnings"]) - set(without["warnings"])
    assert words.startswith("latch 'hook' bears up to ") and "has nothing of it" in words
    assert float(words.split()[5]) == pytest.approx(SPEED * np.sqrt(STIFFNESS * REDUCED), rel=1e-3)
