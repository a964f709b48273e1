"""Friction by bristles, LuGre's and one of the user's own: against SciPy, closed forms and itself in turned axes."""

import numpy as np
import pytest
from contact_benchmarks import drawn_block, pressed_block
from helpers.refusals import refused
from mechanical_models import slope
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from sticking_ball import ball_on_plane

import dockdyn

PRESSED = 100.0  # N, by each of two rails
MASS, SPRING, SPEED, RAILS = 2.0, 500.0, 0.1, 1e9  # kg, N/m, m/s, kg: of the block that rails draw
DAHL = '''
"""Dahl's friction: bristles without damping and without Stribeck's curve."""

from dockdyn import Bristles
from dockdyn.contact.laws.friction import length_of


class Dahl(Bristles):
    coefficient: float
    presliding: float

    def bend(self, stretch, sliding):
        return sliding - stretch * (length_of(sliding) / self.presliding)

    def pull(self, normal_force, stretch, sliding):
        return stretch * (-normal_force * self.coefficient / self.presliding)
'''


def drawn(seed):
    """Friction by random numbers, and the rates of place, velocity and stretch of a block that rails draw, and of these."""
    draw = np.random.default_rng(seed)
    mu, z0, tau, viscosity = (
        draw.uniform(0.1, 0.3),
        draw.uniform(2e-5, 1e-4),
        draw.uniform(0, 2e-3),
        draw.uniform(0, 0.2),
    )
    static, slow = mu * draw.uniform(1.0, 1.6), draw.uniform(5e-3, 2e-2)
    friction = {
        "law": "lugre",
        "coefficient": mu,
        "static_coefficient": static,
        "stribeck_speed": slow,
        "presliding": z0,
        "retardation_time": tau,
        "viscosity": viscosity,
    }

    def rates(_, state):
        place, velocity, stretch, drawing = state
        sliding = velocity - drawing
        most = mu + (static - mu) * np.exp(-((sliding / slow) ** 2))
        bending = sliding - mu / z0 * abs(sliding) / most * stretch
        force = -2 * PRESSED * (mu / z0 * (stretch + tau * bending) + viscosity * sliding)
        return velocity, (force - SPRING * place) / MASS, bending, -force / RAILS

    return friction, rates


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 8))])
def test_a_block_that_rails_draw_moves_as_by_another_integrator(load, seed):
    friction, rates = drawn(seed)
    tables, _ = drawn_block()
    tables |= {"duration": 2.5, "integrator": {"tolerance": 1e-13}}  # an error of an onset of slip grows a millionfold
    for contact in tables["contact"].values():
        contact["friction"] = friction
    result = dockdyn.simulate(load(tables))
    time = result["time"].values
    known = solve_ivp(rates, (0, 2.5), [0, SPEED, 0, SPEED], method="LSODA", rtol=1e-12, atol=1e-14, t_eval=time)
    block = result.sel(body="block", axis="x")
    assert np.ptp(known.y[1]) > 0.02  # it slips
    assert block["position"].values == pytest.approx(known.y[0], abs=1e-6 * np.abs(known.y[0]).max())
    assert block["velocity"].values == pytest.approx(known.y[1], abs=1e-5 * np.abs(known.y[1]).max())


@pytest.mark.full
def test_what_is_pushed_less_than_friction_holds_stays(load):
    """It gives way by z₀ F/(μ N) and, as bristles creep where they are bent by a part of what they hold, rests there."""
    friction = {"law": "lugre", "coefficient": 0.3, "presliding": 1e-4, "retardation_time": 3e-3}
    push = 0.2 * 2 * 0.3 * PRESSED
    result = dockdyn.simulate(load(pressed_block(push, friction, 1.0)))
    place = result["position"].sel(body="block", axis="x").values
    half = len(place) // 2
    assert np.ptp(place[half:]) < 1e-9
    assert 0.2 * 1e-4 < place[-1] < 0.4 * 1e-4


@pytest.mark.full
def test_the_delay_that_what_sticks_bears(load):
    """Of m ẍ = −(k x + b ẋ) one delay ago, k = N μ/z₀ and b = N (τ μ/z₀ + σ₂): atan(ω b/k)/ω, m² ω⁴ = k² + ω² b²."""
    friction = {"law": "lugre", "coefficient": 0.3, "presliding": 1e-4, "retardation_time": 1e-3, "viscosity": 0.7}
    tables = pressed_block(0.0, friction, 1.0)
    for contact in tables["contact"].values():
        contact["normal"]["damping"] = 400.0  # along the normal it bears more
    tables["loop"] = {"delay": 1e-4}
    stiffness = 2 * PRESSED * 0.3 / 1e-4
    damping = 1e-3 * stiffness + 2 * PRESSED * 0.7
    frequency = np.sqrt(np.roots([MASS**2, -(damping**2), -(stiffness**2)]).max())
    expected = np.arctan(frequency * damping / stiffness) / frequency
    assert dockdyn.margins(load(tables))["critical_delay_s"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.full
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 10))])
def test_a_bounce_is_the_same_in_turned_axes(load, seed):
    """And as seen by bodies that both fly: momenta stay, work and energy agree."""
    draw = np.random.default_rng(seed)
    normal = {"law": "hertz", "exponent": 1.5, "stiffness": 1e8}
    friction = {"law": "lugre", "coefficient": 0.2, "presliding": 2e-5, "retardation_time": 1e-4}
    motion = [*draw.uniform(-0.3, 0.3, 2), -0.4], draw.uniform(-8, 8, 3)
    found = []
    for turn in (Rotation.identity(), Rotation.from_rotvec(draw.uniform(-2, 2, 3))):
        tables = ball_on_plane(*motion, normal, friction, turn) | {"integrator": {"tolerance": 1e-13}}
        tables["body"]["anvil"] |= {"fixed": False, "mass": 2.0, "inertia": [0.2, 0.16, 0.24]}
        result = dockdyn.simulate(load(tables))
        summary = dockdyn.summarise(result)
        assert summary["linear_momentum_error"] < 1e-12
        assert summary["angular_momentum_error"] < 1e-11
        assert summary["work_energy_error"] < 1e-8
        found.append(turn.inv().apply(result["velocity"].sel(body="ball").values[-1]))
    assert found[1] == pytest.approx(found[0], abs=1e-9)


@pytest.mark.full_cases("True")
@pytest.mark.parametrize("curved", [False, True])
def test_it_keeps_the_order_of_the_method(load, curved):
    """From onset to release, and where the normal turns in the second body by a quarter of a radian, while it slides: |v| has a
    corner where sliding ends."""
    friction = {"law": "lugre", "coefficient": 0.2, "presliding": 1e-3, "retardation_time": 1e-4}
    normal = {"law": "spring-dashpot", "stiffness": 1e3}
    along = [0.3, 0.1] if curved else [0.9, 0.3]
    tables = ball_on_plane([*along, -0.1], [1.0, 8.0, -5.0], normal, friction)
    if curved:
        tables["body"]["anvil"]["surface"]["top"] = {"shape": "sphere", "centre": [0.0, 0.0, -0.1], "radius": 0.1}

    def end(step):
        last = dockdyn.simulate(load(tables | {"integrator": {"step": step}})).isel(time=-1).sel(body="ball")
        return np.concatenate([last[name].values for name in ("position", "velocity", "rate")])

    steps = np.array([1.6e-3, 8e-4, 4e-4, 2e-4])
    best = end(steps[-1] / 8)
    errors = [np.abs(end(step) - best).max() for step in steps]
    assert slope(steps, errors) >= 3.5
    assert errors[-1] < 1e-8


@pytest.mark.full
def test_a_law_of_the_users_own_remembers(load, tmp_path, monkeypatch):
    (tmp_path / "bent.py").write_text(DAHL)
    monkeypatch.chdir(tmp_path)
    places = []
    for friction in (
        {"law": "bent:Dahl", "coefficient": 0.3, "presliding": 1e-4},
        {"law": "lugre", "coefficient": 0.3, "presliding": 1e-4},
    ):
        tables, _ = drawn_block()
        tables["duration"] = 0.1
        for contact in tables["contact"].values():
            contact["friction"] = friction
        result = dockdyn.simulate(load(tables))
        places.append(result["position"].sel(body="block", axis="x").values)
    assert np.ptp(places[0]) > 5e-3
    assert places[0] == pytest.approx(places[1], abs=1e-12)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"coefficient": 0}, ("coefficient", "greater than 0")),
        ({"presliding": 0}, ("presliding", "greater than 0")),
        ({"viscosity": -1}, ("viscosity", "at least 0")),
        ({"stiffness": 1e5}, ("stiffness",)),
    ],
)
def test_refused_keys(load, change, words):
    friction = {"law": "lugre", "coefficient": 0.1, "presliding": 1e-5, **change}
    with refused("contact.hit.friction", *words):
        load(ball_on_plane([0, 0, -1], [0, 0, 0], {"law": "hertz", "exponent": 1.5, "stiffness": 1e9}, friction))


def test_bristles_bend_on_where_a_contact_pulls(load):
    """Through the neck of a contact that adheres, out beyond where surfaces met, bristles are held as the surfaces are: a point
    that swings there as it slides moves as by another integrator, and lets go of them only as it parts."""
    mass, stiffness, pull_off, coefficient, presliding, tau = 0.5, 1e8, 10.0, 0.4, 4e-5, 2e-4
    scale = (4 * pull_off / stiffness) ** (2 / 3)
    friction = {"law": "lugre", "coefficient": coefficient, "presliding": presliding, "retardation_time": tau}
    normal = {"law": "jkr", "stiffness": stiffness, "pull_off_force": pull_off}

    def force(depth):
        root = brentq(lambda y: y**4 - 2 / 3 * y - depth / scale, 6 ** (-1 / 3), 10.0, xtol=1e-15)
        return 4 * pull_off * root**3 * (root**3 - 1)

    def rates(_, state):
        height, upwards, _, sliding, bent = state
        pressing = force(-height)
        bending = sliding - abs(sliding) / presliding * bent
        rubs = -max(pressing, 0) * coefficient / presliding * (bent + tau * bending)
        return upwards, pressing / mass, sliding, rubs / mass, bending

    along, deep, out = 0.02, 0.6 * scale, 0.16 * scale
    # as much as it takes from `deep` to where it turns
    rising = np.sqrt(max(-2 * quad(force, -out, deep, epsabs=0)[0] / mass, 0.0))
    tables = {
        "schema": 2,
        "duration": 0.02,
        "body": {
            "block": {
                "mass": mass,
                "inertia": [0.1, 0.1, 0.1],
                "position": [0.0, 0.0, -deep],
                "velocity": [along, 0.0, rising],
                "feature": {"tip": {"shape": "point", "position": [0.0, 0.0, 0.0]}},
            },
            "ground": {
                "fixed": True,
                "position": [0.0, 0.0, 0.0],
                "surface": {"top": {"shape": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}},
            },
        },
        "contact": {"tip": {"between": ["block.tip", "ground.top"], "normal": normal, "friction": friction}},
        "integrator": {"tolerance": 1e-12},
        "output": {"interval": 1e-4},
    }
    result = dockdyn.simulate(load(tables))
    time = result["time"].values
    state = [-deep, rising, 0.0, along, 0.0]
    known = solve_ivp(rates, (0, time[-1]), state, method="LSODA", rtol=1e-11, atol=1e-15, t_eval=time)
    block = result["position"].sel(body="block").values
    assert (known.y[0] > 0.1 * scale).any() and known.y[0].max() < 0.2 * scale  # it pulls, and does not part
    assert np.count_nonzero(np.diff(np.sign(known.y[0]))) >= 4
    assert np.ptp(known.y[3]) > 0.2 * along  # friction slows it
    assert block[:, 2] == pytest.approx(known.y[0], abs=1e-6 * scale)
    assert block[:, 0] == pytest.approx(known.y[2], abs=1e-5 * known.y[2].max())
