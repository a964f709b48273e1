"""What contacts remember while a rigid grip carries what they press: bodies that it holds at rest rest once it lets go, what
relaxes does so by its own law, and what has opened meanwhile begins anew."""

import numpy as np
import pytest
import tomlkit
import xarray as xr
from scipy.integrate import solve_ivp

import dockdyn

FIRST, SERIES, TIME = 2000.0, 3000.0, 0.05  # N/m, N/m, s
ZENER = {"law": "zener", "stiffness": FIRST, "series_stiffness": SERIES, "relaxation_time": TIME}
DAMPED = {"law": "spring-dashpot", "stiffness": 1e5, "damping": 2000.0}
CREEPS = ZENER | {"stiffness": 5e4, "series_stiffness": 1e5, "relaxation_time": 0.02}
STICKS = {"law": "stick-slip", "coefficient": 0.5, "stiffness": 2e4, "retardation_time": 0.1}
BRISTLES = {"law": "lugre", "coefficient": 0.5, "presliding": "0.5 mm", "retardation_time": 0.1}
HOLDS = {"law": "jkr", "stiffness": 3e6, "pull_off_force": 5.0, "damping": 1000.0}
RESTS = {  # normal law, friction, the force (N) on the block, upwards and sideways
    "zener": (CREEPS, None, -50.0, 0.0),
    "stick-slip": (DAMPED, STICKS, -50.0, 10.0),
    "lugre": (DAMPED, BRISTLES, -50.0, 10.0),
    "jkr": (HOLDS, None, 4.5, 0.0),
}
CARRIED = [
    *RESTS,
    *(pytest.param(f"{one}-fixed", marks=pytest.mark.full) for one in RESTS),
    *(pytest.param(f"{one}-four", marks=pytest.mark.full) for one in RESTS),
]


def resting(kind, weld):
    """A block on a plane, which forces press or hang; once it rests a weld closes between the two for 1 s, if there is one."""
    kind, _, way = kind.removesuffix("-slip").partition("-")
    normal, friction, up, aside = RESTS["stick-slip" if kind == "stick" else kind]
    tip, contact = {"position": [0, 0, -0.1], "radius": 0.05}, {"between": ["tip", "floor"], "normal": normal}
    if way == "four":  # several members, of which none is alone
        corners = [[x, y, -0.1] for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
        tip = {"positions": corners, "radius": 0.05}
    block = {"mass": 10.0, "inertia": [1e9] * 3, "position": [0, 0, 0.1495 if up < 0 else 0.15 - 2e-5]}
    at = {"body": "block", "position": [0, 0, 0]}
    content = {
        "schema": 2,
        "duration": 4.0,
        "body": {
            "block": block | {"feature": {"tip": tip}},
            "ground": {
                "fixed": True,
                "surface": {"floor": {"shape": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}},
            },
        },
        "contact": {"c": contact | ({"friction": friction} if friction else {})},
        "thruster": {
            "press": at | {"direction": [0, 0, 1 if up > 0 else -1], "force": abs(up)},
            "side": at | {"direction": [1, 0, 0], "force": aside},
        },
        "connection": {
            "w": {"between": ["block", "ground"], "anchor": [[0, 0, -0.15], [0, 0, 0]], "grip": "weld", "closed": False}
        },
        "phase": {
            "rest": {},
            "close": {"when": {"lasting": 2.0}, "set": {"connection.w.closed": weld}},
            "open": {"when": {"lasting": 1.0}, "set": {"connection.w.closed": False}},
        },
        "output": {"interval": 0.002},
    }
    return content | ({"integrator": {"method": "fixed", "step": 2e-4}} if way == "fixed" else {})


@pytest.mark.parametrize("kind", CARRIED)
def test_a_weld_between_bodies_at_rest_changes_nothing(kind):
    run = dockdyn.simulate(dockdyn.load(resting(kind, weld=True)))
    time, place = run.time.values, run.position.values[:, 0]
    held = (time > 2.001) & (time < 2.999)
    assert (run.normal_force.values[held] == 0).all()
    stored = run.contact_energy.values[:, 0]
    np.testing.assert_allclose(stored[held], stored[time < 1.999][-1], rtol=1e-6)
    moved = np.abs(place[time > 3.001] - place[time < 1.999][-1])
    assert moved.max() < 1e-8
    pressed = run.normal_force.values[:, 0]
    assert pressed[time > 3.001] == pytest.approx(pressed[time < 1.999][-1], rel=1e-5)


def held_apart(hold):
    """Two bodies pressed together by `DEPTH` from the start, which a latch holds for so long (s)."""
    return {
        "schema": 2,
        "duration": hold + 2.0,
        "body": {
            "a": {
                "mass": 10.0,
                "inertia": [1.0] * 3,
                "position": [0, 0, 0.15 - DEPTH],
                "feature": {"tip": {"position": [0, 0, -0.1], "radius": 0.05}},
            },
            "b": {
                "mass": 20.0,
                "inertia": [2.0] * 3,
                "surface": {"wall": {"shape": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}},
            },
        },
        "contact": {"c": {"between": ["tip", "wall"], "normal": ZENER}},
        "latch": {
            "l": {"between": ["a", "b"], "anchor": [[0, 0, -0.15], [0, 0, 0]], "axis": [0, 0, 1]}
            | {"reach": 0.0, "lateral": 0.1, "grip": "weld"}
        },
        "phase": {"held": {}, "open": {"when": {"lasting": hold}, "set": {"latch.l.closed": False}}},
    }


DEPTH = 1e-3  # m


def parting_speed(hold, mass=10.0):
    """The speed (m/s) at which they part in closed form and by SciPy: held, the dashpot gives way by d (1 − exp(−t/τ))."""

    reduced = mass * 20.0 / (mass + 20.0)

    def rate(_, x):
        depth, speed, crept = x
        return [speed, -(FIRST * depth + SERIES * (depth - crept)) / reduced, (depth - crept) / TIME]

    def ends(_, x):
        return FIRST * x[0] + SERIES * (x[0] - x[2])

    ends.terminal, ends.direction = True, -1
    start = [DEPTH, 0.0, DEPTH * (1 - np.exp(-hold / TIME))]
    return -solve_ivp(rate, (0, 2), start, "DOP853", rtol=1e-12, atol=1e-15, events=ends).y[1, -1]


@pytest.mark.parametrize("hold", [0.3 * TIME, 20 * TIME])
def test_what_a_weld_holds_pressed_relaxes_until_it_lets_go(hold):
    run = dockdyn.simulate(dockdyn.load(held_apart(hold)))
    speed = run.velocity.values[-1, 0, 2] - run.velocity.values[-1, 1, 2]
    assert speed == pytest.approx(parting_speed(hold), rel=1e-6)


ROUND, WIDE, HIGH, TILT, TURNING = 0.05, 0.1, 0.06, 0.4, 0.8  # m, m, m, rad, rad/s


def tilted(method):
    """A rim that a pin holds at its middle above a plane, on which it turns from one side over none to the other."""
    rim = {"shape": "circle", "centre": [0, 0, 0], "normal": [0, 0, 1], "major_radius": WIDE, "radius": ROUND}
    content = {
        "schema": 2,
        "duration": 1.15,
        "body": {
            "a": {"mass": 10.0, "inertia": [1.0] * 3, "position": [0, 0, HIGH], "rate": [0, -TURNING, 0]}
            | {"attitude": {"axis": [0, 1, 0], "angle": TILT}, "feature": {"rim": rim}},
            "b": {"fixed": True, "surface": {"floor": {"shape": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}}},
        },
        "contact": {"c": {"between": ["rim", "floor"], "normal": ZENER}},
        "connection": {"pin": {"between": ["a", "b"], "anchor": [[0, 0, 0], [0, 0, HIGH]], "grip": "pin"}},
        "output": {"interval": 0.005},
    }
    return content if method == "located" else content | {"integrator": {"method": method, "step": 1e-3}}


@pytest.mark.full_cases("fixed")
@pytest.mark.parametrize("method", ["located", "fixed"])
def test_what_opens_under_a_pin_recovers_and_relaxes_as_it_is_pressed_again(method):
    """The energy that the contact stores, which no force tells, at depths that are known: of a rim at an angle.

    A depth that changes is taken at its mean in each step: of second order, in steps that no force makes shorter.
    """
    run = dockdyn.simulate(dockdyn.load(tilted(method)))
    time = run.time.values

    def depth(time):
        return ROUND + WIDE * np.abs(np.sin(TILT - TURNING * time)) - HIGH

    def rate(time, crept):
        return (np.maximum(depth(time), SERIES / (FIRST + SERIES) * crept) - crept) / TIME

    crept = solve_ivp(rate, (0, time[-1]), [0.0], rtol=1e-10, atol=1e-14, max_step=1e-3, dense_output=True).sol(time)[0]
    assert depth(time).min() < -5e-3
    np.testing.assert_allclose(run.depth.values[:, 0], depth(time), atol=2e-7)  # flat it is rounded
    assert not run.normal_force.values.any()
    surface = np.maximum(depth(time), SERIES / (FIRST + SERIES) * crept)
    stored = (FIRST * surface**2 + SERIES * (surface - crept) ** 2) / 2
    np.testing.assert_allclose(
        run.contact_energy.values[:, 0], stored, atol={"located": 5e-4, "fixed": 5e-6}[method] * stored.max()
    )


@pytest.mark.full
def test_a_campaign_remembers_as_a_run_does(dock, tmp_path):
    """Cases side by side part after the hold by the closed form."""
    content = held_apart(20 * TIME)
    content["body"]["a"]["mass"] = {"distribution": "uniform", "low": 5.0, "high": 20.0}
    (tmp_path / "held.toml").write_text(tomlkit.dumps(content), encoding="utf-8")
    ended = dock("campaign", "run", "held.toml", "--runs", 8, "--seed", 3, "--out", "c")
    assert ended.returncode == 0, ended.stderr
    data = xr.load_dataset(tmp_path / "c" / "campaign.nc", engine="h5netcdf")
    masses = data["body.a.mass"].values
    energies = [parting_speed(20 * TIME, mass) ** 2 * mass * 10.0 / (mass + 20.0) for mass in masses]
    np.testing.assert_allclose(data["kinetic_energy_end_J"].values, energies, rtol=1e-6)
