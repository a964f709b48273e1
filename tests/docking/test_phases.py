"""Phases of a capture: numbers of elements change at the right instants, and the account of the energy goes on."""

import numpy as np
import pytest
from mechanism_cases import changed, energy_error, momentum_error, pressing, simulated
from scipy.optimize import brentq

import dockdyn
from dockdyn.docking.run_warnings import mechanism_doubts

# --- a capture in six phases -----------------------------------------------------------------------------------------

SEAT, REACH, START, CLOSING = 1.0, 0.03, 0.2, 0.1  # m, m, m, m/s
LASTING, SLOW, CALM = 0.4, 0.004, 0.3  # s, m/s, s


def axes(i):
    """A place on a circle about the x axis."""
    return [0.2 * np.cos(2 * np.pi * i / 3), 0.2 * np.sin(2 * np.pi * i / 3)]


HELD = {"strut.struts.speed": 0.0, "strut.struts.slip": 10.0, "strut.struts.damping": 90.0}
CAPTURE = {
    "schema": 2,
    "duration": 14.0,
    "body": {
        "chaser": {
            "mass": 300.0,
            "inertia": [60.0, 80.0, 90.0],
            "position": [SEAT + START + 0.9, 0.0, 0.0],
            "velocity": [-CLOSING, 0.001, 0.0],
            "rate": [0.0, 0.002, 0.001],
        },
        "ring": {
            "on": "chaser",
            "mass": 20.0,
            "inertia": [1.0, 1.5, 1.5],
            "position": [-0.8, 0.0, 0.0],
            "feature": {"face": {"positions": [[-0.09, *axes(i + 0.5)] for i in range(3)], "radius": 0.01}},
        },
        "target": {
            "mass": 900.0,
            "inertia": [300.0, 400.0, 410.0],
            "position": [0.0, 0.0, 0.0],
            "velocity": [0.0, 0.0, 0.0],
            "rate": [0.0, 0.0, 0.0],
            "surface": {"wall": {"shape": "plane", "point": [SEAT, 0, 0], "normal": [1, 0, 0]}},
        },
    },
    "contact": {"face": {"between": ["face", "wall"], **pressing(2e4, 1.0, 1.0)}},
    "strut": {
        "struts": {
            "between": ["ring", "chaser"],
            "hexapod": {"ring_radius": 0.25, "base_radius": 0.3, "ring_spread": 0.3, "base_position": [-0.5, 0.0, 0.0]},
            "stiffness": 3000.0,
            "damping": 40.0,
            "slip": 30.0,
            "speed": 0.0,
            "moved_mass": 1.5,
        }
    },
    "latch": {
        "latches": {
            "between": ["ring", "target"],
            "anchors": [[[-0.1, *axes(i)], [SEAT - REACH, *axes(i)]] for i in range(3)],
            "reach": REACH - 0.002,
            "lateral": 0.05,
            "stiffness": 4e3,
            "damping": 80.0,
            "play": 0.001,
        }
    },
    "phase": {
        "ready": {},
        "lunge": {"when": "contact", "set": {"strut.struts.speed": 0.02}},
        "hold": {
            "when": "latched",
            "set": {"strut.struts.speed": 0.0, "strut.struts.slip": 10.0, "strut.struts.damping": 90.0},
        },
        "stiffen": {
            "when": {"lasting": LASTING},
            "set": {"latch.latches.stiffness": 9e3, "strut.struts.stiffness": 5000.0, "strut.struts.moved_mass": 3.0},
        },
        "calm": {"when": {"speed": SLOW, "between": ["chaser", "target"], "lasting": CALM}},
        "never": {"when": {"lasting": 1000.0}},
    },
    "output": {"interval": 0.005},
}


@pytest.fixture(scope="module")
def capture(load):
    return simulated(load, CAPTURE)


def test_one_phase_is_the_whole_run(load):
    bodies = {
        "a": {"mass": 10.0, "inertia": [1.0] * 3},
        "b": {"mass": 20.0, "inertia": [1.0] * 3, "position": [1, 0, 0]},
    }
    run = simulated(load, {"schema": 2, "duration": 0.5, "body": bodies, "phase": {"only": {}}})
    assert run.phase_began.values.tolist() == [0.0] and not any(
        "began" in words for words in dockdyn.summarise(run)["warnings"]
    )


@pytest.mark.full
def test_phases_begin_when_they_should(capture):
    """At the first onset, when the last latch falls in, a time later; the one that never begins is not a number."""
    began = capture.phase_began.values
    assert began[0] == 0
    assert began[1] == float(capture.episode_onset[0])
    assert began[2] == float(capture.capture_time) > began[1]
    assert began[3] == pytest.approx(began[2] + LASTING, abs=1e-12)
    assert began[4] > began[3] + CALM
    assert np.isnan(began[5])
    assert mechanism_doubts(capture) == ["phase 'never' never began: what it waits for did not come"]
    blocked = capture.assign(phase_began=capture.phase_began.where(capture.phase_began < began[3]))
    later = "'calm', 'never'"
    assert mechanism_doubts(blocked) == [
        f"phase 'stiffen' never began: what it waits for did not come; nor did what comes after it, {later}"
    ]
    number = capture.phase_number.values
    expected = np.sum(capture.time.values[:, None] >= began[:5] - 1e-12, axis=1) - 1
    np.testing.assert_array_equal(number, expected)


@pytest.mark.full
def test_a_speed_has_been_low_for_as_long_as_is_asked(capture):
    """And at no time before."""
    bodies = [list(capture.body.values).index(name) for name in ("chaser", "target")]
    first, second = (capture.velocity.values[:, body] for body in bodies)
    slow = np.linalg.norm(first - second, axis=1) < SLOW
    time, (stiffen, calm) = capture.time.values, capture.phase_began.values[3:5]
    step = time[1] - time[0]
    assert slow[(time > calm - CALM + step) & (time < calm - step)].all()
    waiting = (time > stiffen) & (time < calm - CALM - step)
    lasted = longest = 0.0
    for low in slow[waiting]:
        lasted = lasted + step if low else 0.0
        longest = max(longest, lasted)
    assert longest < CALM + step


def test_the_account_of_energy_and_momentum_goes_on(capture):
    """Also where a phase changes the stiffness of what is stretched, or the mass that moves along: that is work."""
    assert float(capture.kinetic_energy[-1]) < 0.3 * float(capture.kinetic_energy[0])
    assert energy_error(capture) < 1e-6
    assert momentum_error(capture) < 1e-10


def test_numbers_are_those_of_the_phase(capture):
    """Brakes hold no more than they may: 30 N, then 10 N; nothing moves struts before the contact."""
    began, time = capture.phase_began.values, capture.time.values
    struts = [str(name).startswith("struts") for name in capture.element.values]
    assert np.ptp(capture.line_length.values[time < began[1], :6], axis=0).max() < 1e-4
    assert sum(struts) == 6
    held = capture.latch_held.values
    assert not held[time < began[1]].any() and held[time > began[2]].all()


@pytest.mark.full
def test_a_phase_changes_nothing_before_it_begins(capture, load):
    """The same run with other numbers in a later phase is the same until then."""
    case = changed(CAPTURE)
    case["phase"]["hold"]["set"]["strut.struts.slip"] = 20.0
    other = simulated(load, case)
    before = capture.time.values < float(capture.phase_began[2])
    for name in ("position", "velocity", "rate"):
        np.testing.assert_array_equal(other[name].values[before], capture[name].values[before])
        assert np.abs(other[name].values[-1] - capture[name].values[-1]).max() > 1e-6
    np.testing.assert_array_equal(other.phase_began[:3], capture.phase_began[:3])


# --- a clock that is interrupted -------------------------------------------------------------------------------------

MASSES, STIFFNESS, DAMPING, LOW, LASTS = (30.0, 60.0), 320.0, 8.0, 0.05, 0.4
REDUCED = MASSES[0] * MASSES[1] / sum(MASSES)


def swing(speed):
    """Two bodies on a spring and damper along a line; they begin at rest length and part at a speed."""
    return {
        "schema": 2,
        "duration": 12.0,
        "body": {
            name: {
                "mass": mass,
                "inertia": [1.0, 1.0, 1.0],
                "position": [place, 0.0, 0.0],
                "velocity": [v, 0, 0],
            }
            for name, mass, place, v in (("one", MASSES[0], 0.0, 0.03), ("other", MASSES[1], 1.0, 0.03 + speed))
        },
        "strut": {
            "spring": {
                "between": ["one", "other"],
                "anchor": [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
                "stiffness": STIFFNESS,
                "damping": DAMPING,
            }
        },
        "phase": {
            "swings": {},
            "slow": {
                "when": {"speed": LOW, "between": ["other", "one"], "lasting": LASTS},
                "set": {"strut.spring.stiffness": 2 * STIFFNESS},
            },
        },
        "output": {"interval": 0.02},
    }


def rate(speed):
    """Relative velocity (m/s) of the free damped oscillator as a function of time."""
    omega = np.sqrt(STIFFNESS / REDUCED)
    fade = DAMPING / (2 * REDUCED)
    damped = np.sqrt(omega**2 - fade**2)
    return lambda t: speed * np.exp(-fade * t) * (np.cos(damped * t) - fade / damped * np.sin(damped * t))


def slow_for_so_long(speed):
    """When the speed has been low for the time that is asked, and how often it was low in vain."""

    def excess(t):
        return abs(rate(speed)(t)) - LOW

    mesh = np.linspace(0.0, 12.0, 24001)
    values = np.array([excess(t) for t in mesh])
    since, vain = (0.0 if values[0] < 0 else None), 0
    for i in np.flatnonzero(np.sign(values[:-1]) != np.sign(values[1:])):
        root = brentq(excess, mesh[i], mesh[i + 1], xtol=1e-14)
        if values[i] > 0:
            since = root
        elif root - since < LASTS:
            since, vain = None, vain + 1
        else:
            break
    return since + LASTS, vain


@pytest.mark.full_cases("0.02-False")
@pytest.mark.parametrize(("speed", "interrupted"), [(0.2, True), (0.02, False)])
def test_a_clock_that_is_interrupted_starts_again(load, speed, interrupted):
    """Low at every turn, never for long enough until the swings have faded; and from the start on, if it is low there."""
    data = simulated(load, swing(speed))
    expected, vain = slow_for_so_long(speed)
    assert (vain > 2) == interrupted
    assert float(data.phase_began[1]) == pytest.approx(expected, abs=1e-9)
    before = data.time.values < expected
    seen = data.velocity.values[:, 1, 0] - data.velocity.values[:, 0, 0]
    np.testing.assert_allclose(seen[before], rate(speed)(data.time.values[before]), rtol=0, atol=1e-9)
    assert energy_error(data) < 1e-9
