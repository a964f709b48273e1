"""Error against step, and against how many steps a tolerance takes, from onset to release."""

import numpy as np
import pytest
from mechanical_models import slope
from sticking_ball import MASS, ball_on_plane

import dockdyn
from dockdyn.scenario.language.places import places_of
from dockdyn.studies.objectives.derivatives import slopes_of, value_of

SPRING = {"law": "spring-dashpot", "stiffness": 1e3, "damping": 5.0}
ELASTIC = {"law": "spring-dashpot", "stiffness": 1e3}
SMOOTH = {"law": "coulomb", "coefficient": 0.2, "regularisation": 0.02}
LAWS = {  # and the velocity along the plane; friction that sticks is of first order where sliding turns or begins
    "spring and dashpot": (SPRING, SMOOTH, [0.9, 0.3]),
    "standard linear solid": (
        {"law": "zener", "stiffness": 1e3, "series_stiffness": 500.0, "relaxation_time": 0.05},
        SMOOTH,
        [0.9, 0.3],
    ),
    "slides straight on": (ELASTIC, {"law": "stick-slip", "coefficient": 0.05, "stiffness": 500.0}, [0.9, 0.0]),
}
STEPS = np.array([6.4e-3, 3.2e-3, 1.6e-3, 8e-4])  # s


@pytest.mark.full_cases("spring and dashpot", "slides straight on")
@pytest.mark.parametrize("name", LAWS)
def test_errors_fall_with_the_fourth_power_of_the_step(load, name):
    normal, friction, along = LAWS[name]
    spin = [0.0, 3.0, 0.0] if along[1] == 0 else [1.0, 8.0, -5.0]
    tables = ball_on_plane([*along, -0.1], spin, normal, friction) | {"duration": 0.16, "output": {"interval": 8e-3}}

    def end(step):
        last = dockdyn.simulate(load(tables | {"integrator": {"step": step}})).isel(time=-1).sel(body="ball")
        return np.concatenate([last[key].values for key in ("position", "velocity", "rate")])

    best = end(STEPS[-1] / 8)
    errors = [np.abs(end(step) - best).max() for step in STEPS]
    assert slope(STEPS, errors) >= 3.5
    assert errors[-1] < 1e-9


@pytest.mark.parametrize(
    "normal", [SPRING, {"law": "hunt-crossley", "stiffness": 1e4, "exponent": 2.0, "damping": 1.0}]
)
def test_an_impulse_is_the_change_of_momentum_however_long_steps_are(load, normal):
    """Of a force linear in the motion the integral by ends and middle of a step is that of the motion itself."""
    tables = ball_on_plane([0.0, 0.0, -0.1], [0.0] * 3, normal, None) | {"duration": 0.5}
    del tables["contact"]["hit"]["friction"]

    def missed(step):
        run = dockdyn.simulate(load(tables | {"integrator": {"step": step}}))
        speed = float(run.velocity.isel(time=-1).sel(body="ball", axis="z"))
        return abs(float(run.episode_impulse[0]) / (MASS * (speed + 0.1)) - 1)

    errors = [missed(step) for step in (0.02, 0.01, 0.005)]
    if normal is SPRING:
        assert max(errors) < 1e-13
    else:
        assert slope(np.array([0.02, 0.01, 0.005]), errors) > 4.5


RUBS = {
    "coulomb": SMOOTH,
    "lugre": {"law": "lugre", "coefficient": 0.2, "presliding": 1e-3, "retardation_time": 1e-4},
    "stick-slip": {"law": "stick-slip", "coefficient": 0.2, "stiffness": 500.0},
}
STIFF = {"stiffness": 1e5}
EVERY = {
    "spring-dashpot": {"stiffness": 1e3, "damping": 5.0},
    "hertz": STIFF | {"exponent": 1.5},
    "hunt-crossley": STIFF | {"exponent": 1.5, "damping": 0.5},
    "elastic-plastic": {"stiffness": 1e3, "yield_force": 2.0, "plastic_stiffness": 300.0, "damping": 3.0},
    "force-stroke": {
        "stroke": [0.0, 1e-3, 2e-3, 5e-3],
        "force": [0.0, 1.0, 1.5, 4.0],
        "unloading_force": [0.0, 0.7, 1.0, 3.0],
        "bottoming_stiffness": 2e3,
        "damping": 3.0,
        "transition_rate": 0.02,
    },
    "thornton": STIFF | {"yield_force": 3.0},
    "zener": {"stiffness": 1e3, "series_stiffness": 500.0, "relaxation_time": 0.05},
    "dmt": STIFF | {"exponent": 1.5, "pull_off_force": 0.3, "damping": 3.0},
    "jkr": STIFF | {"pull_off_force": 0.3, "damping": 3.0},
    "measured": {
        "depth": [0, 1e-3, 2e-3, 4e-3],
        "rate": [0, 0.05, 0.2],
        "force": [[0, 0, 0], [1.0, 1.2, 1.3], [1.8, 2.0, 2.4], [4.0, 4.5, 5.0]],
    },
}
QUICK = ("thornton-coulomb", "hertz-lugre")


def bounce_within(load, tables, tolerance):
    """Return where the ball is at the end, how fast, and how many steps that took."""
    result = dockdyn.simulate(load(tables | {"integrator": {"tolerance": tolerance}}))
    last = result.isel(time=-1).sel(body="ball")
    found = np.concatenate([last[key].values for key in ("position", "velocity", "rate")])
    return found, int(result.attrs["steps"]), float(result["depth"].values[-1, 0])


@pytest.mark.full_cases(*(f"{law}-{rub}" for law in EVERY for rub in RUBS if f"{law}-{rub}" not in QUICK))
@pytest.mark.parametrize("rub", RUBS)
@pytest.mark.parametrize("law", EVERY)
def test_errors_fall_faster_than_with_the_power_of_the_steps_that_are_taken(load, law, rub):
    """Of every law, whatever corners it has, by steps that a tolerance chooses; what sticks begins to slip within a step, where
    nothing asks for one to end."""
    tables = ball_on_plane([0.3, 0.1, -0.1], [1.0, 8.0, -5.0], {"law": law} | EVERY[law], RUBS[rub])
    tables |= {"duration": 0.25, "output": {"interval": 0.25}}
    best, _, depth = bounce_within(load, tables, 1e-14)
    assert depth < 0
    found = [bounce_within(load, tables, 10.0**-digits) for digits in range(5, 10)]
    steps, errors = np.array([count for _, count, _ in found]), [np.abs(end - best).max() for end, _, _ in found]
    if rub != "stick-slip":
        assert slope(1 / steps, errors) >= 3.5
    assert errors[-1] < 1e-6  # rad/s of 9


YIELDS = {
    "elastic-plastic": {"stiffness": 4e5, "yield_force": 20.0, "plastic_stiffness": 5e4},
    "thornton": {"stiffness": 2e6, "yield_force": 3.0},
}
CORNERS = [[x, y, -0.02] for x in (-0.05, 0.05) for y in (-0.04, 0.04)]


def block_on_feet(law, apart):
    """A block that comes down on its feet one after the other: as four contacts that are `apart`, or as one of four members."""
    tables = ball_on_plane([0.2, -0.1, -0.3], [0.8, 1.1, 2.0], {"law": law} | YIELDS[law], SMOOTH)
    body, (hit,) = tables["body"]["ball"], tables["contact"].values()
    body |= {"inertia": [2e-3, 2.5e-3, 3e-3], "position": [0.0, 0.0, 0.0402]}
    if apart:
        body["feature"] = {f"tip{i}": {"position": one, "radius": 0.02} for i, one in enumerate(CORNERS)}
        tables["contact"] = {one: hit | {"between": [f"ball.{one}", "anvil.top"]} for one in body["feature"]}
    else:
        body["feature"] = {"tip": {"positions": CORNERS, "radius": 0.02}}
    return tables | {"duration": 0.02, "output": {"interval": 0.02}}


@pytest.mark.full_cases("elastic-plastic")
@pytest.mark.parametrize("law", YIELDS)
def test_members_that_yield_turn_within_steps(load, law):
    """Of one contact that is alone each step ends beside where its depth turns; of several that is found within the step."""
    best, *_ = bounce_within(load, block_on_feet(law, apart=True), 1e-14)
    found = [bounce_within(load, block_on_feet(law, apart=False), 10.0**-digits) for digits in range(7, 13)]
    steps, errors = np.array([count for _, count, _ in found]), [np.abs(end - best).max() for end, *_ in found]
    assert slope(1 / steps, errors) >= 3.5
    assert errors[3] < 2e-7 and errors[-1] < 1e-9  # rad/s of 10, by the ends of steps alone 2.6e-4


@pytest.mark.full
@pytest.mark.parametrize("law", YIELDS)
def test_slopes_of_members_that_yield_are_those_of_differences(load, law):
    """Of runs whose members turn within steps, which finer steps tell: by the ends of steps they told up to 70 % else."""
    tables, of = block_on_feet(law, apart=False), "contact.hit.impulse_N_s"
    case, fine = load(tables), load(tables | {"integrator": {"tolerance": 1e-13}})
    keys = ("contact.hit.normal.stiffness", "contact.hit.normal.yield_force", "body.ball.mass", "body.ball.velocity.2")
    places = [place for place in places_of(case) if place.key in keys]
    found, _ = slopes_of(case, [of], places)
    for place, told in zip(places, found[of][1], strict=True):
        step = 1e-4 * abs(place.value)
        ends = [value_of(fine.at(place.written(place.value + side * step)), of) for side in (1, -1)]
        assert told == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=5e-4)
