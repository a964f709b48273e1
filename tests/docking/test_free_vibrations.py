"""Modes of free vehicles while nothing acts on them: closed forms, the promise that nothing does, and runs without them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from component_cases import docking
from mechanism_cases import energy_error, momentum_error
from scipy.linalg import expm

import dockdyn
from dockdyn import programs
from dockdyn.integrate.model import State
from dockdyn.mechanics.rigid_body import Twist
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.vibrations import FreeVibration, later_state, time_alone
from dockdyn.scenario.made import model_of

CAUGHT = {"between": ["chaser", "target"], "reach": 0.05, "lateral": 0.06, "stiffness": 2e5, "damping": 800.0}
CLOSE = 1e-9  # m and m/s, beside the same without closed forms


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("vibrating")


def test_a_mode_by_itself_goes_on_as_its_matrix_says():
    draw = np.random.default_rng(4)
    mass, frequency = draw.uniform(1.0, 900.0, 40), 10 ** draw.uniform(-1, 4.5, 40)
    ratio = draw.uniform(0.0, 0.95, 40)
    one = FreeVibration(0, mass, mass * frequency**2, 2 * ratio * frequency * mass)
    begun, rates, time = draw.normal(size=40), draw.normal(size=40) * frequency, 3.0 / np.median(frequency)
    found = np.array(one.later(begun, rates, time))
    for k in range(40):
        flow = np.array([[0.0, 1.0], [-(frequency[k] ** 2), -2 * ratio[k] * frequency[k]]])
        scale = np.array([1.0, frequency[k]])
        expected = expm(time * flow * scale / scale[:, None]) @ (np.array([begun[k], rates[k]]) / scale) * scale
        np.testing.assert_allclose(found[:, k] / scale, expected / scale, atol=1e-11 * (1 + frequency[k] * time))
    moments = np.linspace(0, 20, 500)[:, None] / frequency
    swung = np.abs(one.later(begun, rates, moments)[0]).max(axis=0)
    assert (swung <= np.asarray(one.amplitude(begun, rates)) * (1 + 1e-12)).all()


def drawn_case(folder, seed, caught):
    """Frames that meet with any speeds, delay and laws; with a latch that may catch the probe, or without."""
    draw = np.random.default_rng(seed)
    case = docking(folder, float(draw.choice([0.0, 0.003])), up_to=float(draw.uniform(15.0, 40.0)))
    case["duration"], case["output"] = 0.6, {"interval": 0.02}
    case["approach"] |= {"closing_speed": draw.uniform(0.05, 0.15), "distance": draw.uniform(0.001, 0.02)}
    law = case["contact"]["probe"]
    law["normal"] |= {"stiffness": 10 ** draw.uniform(4, 5.3), "exponent": float(draw.choice([1.0, 1.5]))}
    if caught:
        tip = case["body"]["chaser"]["feature"]["probe"]["position"]
        seat = case["body"]["target"]["surface"]["cone"]["apex"]
        case["latch"] = {"catch": CAUGHT | {"anchor": [tip, list(seat)], "axis": [-1.0, 0.0, 0.0]}}
    return case


def run(load, case, tolerance=1e-11):
    return dockdyn.simulate(load(case | {"integrator": {"tolerance": tolerance}}))


@pytest.mark.full_cases("True-2", "True-3", "False-3", "True-4", "False-4")
@pytest.mark.parametrize("seed", [2, 3, 4])
@pytest.mark.parametrize("caught", [False, True])
def test_runs_are_those_without_closed_forms(load, folder, monkeypatch, tmp_path, caught, seed):
    case = drawn_case(folder, seed, caught)
    found = run(load, case)
    monkeypatch.setattr(Mechanism, "time_foreseen", lambda *_: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(programs, "kept", type(programs.kept)())
    expected = run(load, case, 1e-13)
    usual = run(load, case)
    assert float(found.episode_peak_force.max()) > 1.0
    for name in ("position", "velocity", "attitude", "rate", "modal_coordinate", "modal_rate", "elastic_energy"):
        size = np.abs(expected[name].values).max()
        off, before = (np.abs(one[name].values - expected[name].values).max() / size for one in (found, usual))
        assert off < max(3 * before, CLOSE), name
    assert found.steps < 1.05 * usual.steps
    assert momentum_error(found) < 1e-12 and energy_error(found) < 1e-9


def test_flight_costs_no_more_than_that_of_rigid_bodies(load, folder):
    """After the last contact nothing but the 20 ms in which one may begin and end unseen bounds steps."""
    case = docking(folder, None, up_to=40.0) | {"output": {"interval": 0.1}}
    early, late = (run(load, case | {"duration": duration}) for duration in (1.6, 3.6))
    assert np.nanmax(early.episode_release) < 1.5 and np.abs(early.modal_rate.values[-1]).max() > 1e-3
    assert late.steps - early.steps < 1.2 * 2.0 / 0.02


@pytest.mark.full_cases("2", "3")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_closed_forms_serve_from_release_to_the_next_contact(load, folder, seed):
    """However fast modes ring, the way there takes steps of 20 ms and some hundred that grow from one contact and shrink to
    the other."""
    draw = np.random.default_rng(seed)
    case = docking(folder, None, modes=int(draw.integers(20, 35)), up_to=1e4) | {"output": {"interval": 0.1}}
    case["approach"] |= {"closing_speed": draw.uniform(0.09, 0.12)}
    case["contact"]["probe"]["normal"] |= {"stiffness": 10 ** draw.uniform(4.6, 5.0)}
    whole = run(load, case)
    release, onset = float(whole.episode_release[0]), float(whole.episode_onset[1])
    early, late = (run(load, case | {"duration": moment}) for moment in (release, onset))
    assert np.abs(early.modal_rate.values[-1]).max() > 1e-3
    assert late.steps - early.steps < 1.2 * (onset - release) / 0.02 + 100


@pytest.mark.full_cases("False")
@pytest.mark.parametrize("caught", [False, True])
def test_nothing_comes_to_act_within_the_time_that_is_promised(load, folder, caught):
    """Whatever modes ring, and however near: at none of many moments of that time is anything deep, or within a latch."""
    model = model_of(load(drawn_case(folder, 2, caught)).content)
    begun, draw, promised = model.initial(), np.random.default_rng(8), 0

    @jax.jit
    def guards(x, times):
        """Event functions as all fly on, bodies straight ahead and their modes in closed form."""

        def at(time):
            moved = later_state(model, x, x, time)
            both = zip(x.q.roots, x.v.roots, strict=True)
            roots = tuple(pose.shifted(twist.velocity * time) for pose, twist in both)
            flown = State(moved.q._replace(roots=roots), moved.v, moved.mode, moved.memory)
            return jnp.stack(model.outputs(time, flown).guards)

        return jax.lax.map(at, times)

    ahead = jax.jit(lambda x: time_alone(model, x, model.outputs(jnp.zeros(()), x)))
    straight = tuple(Twist(twist.velocity, twist.rate * 0.0) for twist in begun.v.roots)
    for _ in range(200):
        size = 10 ** draw.uniform(-5, -2.3)
        modes, rates = (
            tuple(jnp.asarray(draw.normal(size=one.shape) * size * by) for one in begun.q.modes) for by in (1.0, 30.0)
        )
        v = begun.v._replace(modes=rates, roots=straight)
        x = State(begun.q._replace(modes=modes), v, begun.mode, begun.memory)
        time = float(ahead(x))
        if time > 0:
            promised += 1
            assert np.asarray(guards(x, np.linspace(0, time, 400))).max() <= 0
    assert 20 < promised < 200
