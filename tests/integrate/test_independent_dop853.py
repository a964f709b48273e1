"""Cross-check: two cases beside an independent integration of the equations of motion with SciPy's DOP853.

What agreement to expect, from the integrators alone:
- DOP853 with a relative tolerance of 1e-12 in each of at most 100 steps that matter to a contact: 1e-10 at the worst.
- dockdyn's fourth-order Runge–Kutta on an oscillation of frequency ω, over half a period, has a relative error of about
  π (ω dt)⁴ / 120. The contacts below last about π / ω = 0.8 s, so ω = 4 rad/s: 4e-9 at the default step of 5 ms. The cubic
  that reads the delayed force adds (ω dt)⁴ / 384, and damping factors near one. So 1e-8 is asked for. At 1 ms all this
  is 625 times smaller, 7e-12, below DOP853's own: 1e-10 is asked for.
- The time of a peak is where a slope vanishes. It is read from a cubic between mesh points, whose slope is wrong by
  dt³ f⁗ / 125: the time by ω² dt³ / 125 = 2e-8 s at 5 ms and 1e-10 s at 1 ms. 1e-7 s and 1e-9 s are asked for.
Times are in seconds of order one, so their errors count as relative ones; states are compared with errors of the same
size in m, m/s, rad/s, all of order one or below.
"""

import numpy as np
import pytest
from dop853_reference import SLACK, reference_of, unit

import dockdyn


def scenario_of(case):
    """The case as the scenario file has it: the cone's angle with its unit."""
    target = {**case["target"], "surface": {}}
    for name, surface in case["target"]["surface"].items():
        own = {key: value for key, value in surface.items() if key != "half_angle_degrees"}
        angle = surface.get("half_angle_degrees")
        target["surface"][name] = own | ({} if angle is None else {"half_angle": f"{angle} deg"})
    return {**case, "target": target}


BALL_IN_CONE = {
    "duration": 9.0,
    "chaser": {
        "mass": 870.0,
        "inertia": [[310.0, -22.0, 14.0], [-22.0, 365.0, -31.0], [14.0, -31.0, 270.0]],
        "position": [2.517, 0.116, 0.334],
        "velocity": [-0.031, 0.017, 0.012],
        "attitude": unit([0.10, -0.03, 0.07, 0.99]),
        "rate": [0.021, -0.034, 0.016],
        "feature": {"ball": {"position": [1.35, 0.11, -0.07], "radius": 0.06}},
    },
    "target": {
        "mass": 2350.0,
        "inertia": [[1900.0, 130.0, -85.0], [130.0, 1450.0, 210.0], [-85.0, 210.0, 2200.0]],
        "position": [0.15, -0.2, 0.1],
        "velocity": [0.003, -0.002, 0.004],
        "attitude": unit([0.98, 0.09, -0.12, 0.11]),
        "rate": [-0.012, 0.019, 0.027],
        "surface": {
            "cone": {"shape": "cone", "apex": [0.82, 0.13, -0.09], "axis": [0.9, 0.3, -0.2], "half_angle_degrees": 34.0}
        },
    },
    "contact": {
        "ball": {
            "between": ["ball", "cone"],
            "normal": {"law": "spring-dashpot", "stiffness": 2600.0, "damping": 170.0},
            "friction": {"law": "coulomb", "coefficient": 0.23},
        }
    },
    "loop": {"delay": 0.0317},
    "output": {"interval": 0.1},
}

TWO_POINTS = {
    "duration": 4.0,
    "chaser": {
        "mass": 640.0,
        "inertia": [[240.0, 18.0, -25.0], [18.0, 310.0, 12.0], [-25.0, 12.0, 190.0]],
        "position": [1.99, 0.05, 0.02],
        "velocity": [-0.06, 0.025, -0.015],
        "attitude": unit([0.05, 0.04, -0.06, 0.99]),
        "rate": [0.03, 0.02, -0.025],
        "feature": {"left": {"position": [1.1, 0.45, 0.05]}, "right": {"position": [1.05, -0.5, -0.1]}},
    },
    "target": {
        "mass": 1480.0,
        "inertia": [[820.0, -60.0, 45.0], [-60.0, 990.0, 70.0], [45.0, 70.0, 760.0]],
        "position": [-0.1, 0.05, 0.0],
        "velocity": [0.0, 0.004, 0.006],
        "attitude": unit([0.99, -0.05, 0.08, 0.06]),
        "rate": [0.015, -0.02, 0.03],
        "surface": {
            "wall": {"shape": "plane", "point": [0.75, 0.0, 0.0], "normal": [1.0, 0.12, -0.2]},
            "bump": {"shape": "sphere", "centre": [0.82, 0.51, 0.2], "radius": 0.31},
        },
    },
    "contact": {
        "left": {
            "between": ["left", "wall"],
            "normal": {"law": "spring-dashpot", "stiffness": 1900.0, "damping": 90.0},
            "friction": {"law": "coulomb", "coefficient": 0.17},
        },
        "right": {
            "between": ["right", "bump"],
            "normal": {"law": "spring-dashpot", "stiffness": 1400.0, "damping": 130.0},
            "friction": {"law": "coulomb", "coefficient": 0.31},
        },
    },
    "loop": {"delay": 0.0},
    "output": {"interval": 0.1},
}


CASES = {"ball in a cone, delayed": BALL_IN_CONE, "two points, two surfaces": TWO_POINTS}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture(scope="module")
def reference(case):
    return reference_of(case)


@pytest.mark.full
def test_the_case_is_worth_comparing(case, reference):
    """Contacts, clamp, overlap of both contacts where there are two: what the comparison is meant to cover does happen."""
    touches = reference.touches()
    assert len(touches) == 2 and all("release" in touch for touch in touches)
    assert sum(after == SLACK for *_, after in reference.events) == 2
    if len(reference.contacts) == 2:
        assert {touch["contact"] for touch in touches} == {0, 1}
        assert max(t["onset"] for t in touches) < min(t["release"] for t in touches) - 0.5


@pytest.mark.full_cases(
    "ball in a cone, delayed-0.001-1e-10-1e-09",
    "two points, two surfaces-0.001-1e-10-1e-09",
    "two points, two surfaces-None-1e-08-1e-07",
)
@pytest.mark.parametrize(("step", "agreement", "peak_time_agreement"), [(None, 1e-8, 1e-7), (1e-3, 1e-10, 1e-9)])
def test_motion_and_contacts_agree(run, case, reference, step, agreement, peak_time_agreement):
    dataset = run(scenario_of(case), **({} if step is None else {"integrator.step": step}))
    summary = dockdyn.summarise(dataset)
    names = list(case["contact"])
    touches = reference.touches()
    assert [names.index(contact["feature"]) for contact in summary["contacts"]] == [t["contact"] for t in touches]
    for contact, touch in zip(summary["contacts"], touches, strict=True):
        assert contact["onset_s"] == pytest.approx(touch["onset"], rel=0, abs=agreement)
        assert contact["release_s"] == pytest.approx(touch["release"], rel=0, abs=agreement)
        assert contact["peak_force_N"] == pytest.approx(touch["peak"], rel=agreement)
        assert contact["peak_time_s"] == pytest.approx(touch["peak_time"], rel=0, abs=peak_time_agreement)
        assert contact["impulse_N_s"] == pytest.approx(touch["impulse"], rel=agreement)

    largest = reference.kinetic_energy(reference.state(0.0))  # damping, friction: the start has the most
    energies = [touch["energy"] for touch in sorted(touches, key=lambda touch: touch["onset"])]
    assert summary["contact.energy_change_J"] == pytest.approx(energies, rel=0, abs=agreement * largest)

    end = dataset.isel(time=-1)
    assert float(end.time) == pytest.approx(case["duration"], rel=1e-14)
    for index, name in enumerate(("chaser", "target")):
        body = reference.final[13 * index : 13 * index + 13]
        seen = end.sel(body=name)
        turn = unit(body[6:10])
        turn = turn * np.sign(turn @ seen.attitude.values)
        for value, expected in (
            (seen.position, body[0:3]),
            (seen.velocity, body[3:6]),
            (seen.attitude, turn),
            (seen.rate, body[10:13]),
        ):
            assert np.abs(value.values - expected).max() < agreement
