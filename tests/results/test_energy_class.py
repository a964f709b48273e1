"""What is said of the energy of contacts: lossless, passive, active, or not resolved, for both kinds and any tolerance."""

import copy

import jax.numpy as jnp
import numpy as np
import pytest
from plain_tables import contacts_by_name

import dockdyn
from dockdyn.contact.laws.coulomb import Coulomb
from dockdyn.contact.laws.force_stroke import ForceStroke
from dockdyn.contact.laws.hertz import Hertz
from dockdyn.contact.laws.hunt_crossley import HuntCrossley
from dockdyn.contact.laws.parallel import Parallel
from dockdyn.contact.laws.spring_dashpot import SpringDashpot
from dockdyn.contact.laws.turning_resistance import TurningResistance
from dockdyn.scenario.setups import setup_named

CHASER = {"mass": 40.0, "inertia": [4.0] * 3, "position": [-0.5, -0.1, 0.0], "velocity": [0.1, 0.0, 0.0]}
TARGET = {"mass": 60.0, "inertia": [8.0] * 3, "position": [0.0, 0.0, 0.0]}
TIP = {"position": [0.2, 0.0, 0.0]}
BALL = {"shape": "sphere", "centre": [0.0, 0.0, 0.0], "radius": 0.25}
FRICTION = {"law": "coulomb", "coefficient": 0.1, "regularisation": 1e-3}
ENDS = {"stroke": [0.0, 0.02], "force": [0.0, 10.0], "bottoming_stiffness": 5e3}
LOSSLESS = {
    "linear": {"law": "spring-dashpot", "stiffness": 500.0},
    "hertz": {"law": "hertz", "stiffness": 5e4},
    "table": {"law": "force-stroke", **ENDS},
}
PASSIVE = {
    "dashpot": {"law": "spring-dashpot", "stiffness": 500.0, "damping": 1e-7},
    "hunt-crossley": {"law": "hunt-crossley", "stiffness": 5e4, "damping": 1e-9},
    "hysteresis": {"law": "force-stroke", **ENDS, "unloading_force": [0.0, 9.999]},
}


def case(normal, friction=None):
    """Two bodies that touch once, off their centres."""
    contact = {"between": ["tip", "ball"], "normal": normal} | ({"friction": friction} if friction else {})
    first, second = {**CHASER, "feature": {"tip": TIP}}, {**TARGET, "surface": {"ball": BALL}}
    bodies = {"body": {"chaser": first, "target": second}}
    return {
        "schema": 2,
        "duration": 2.5,
        "contact": contacts_by_name([contact]),
        **copy.deepcopy(bodies),
    }


def judged(load, scenario, **changes):
    data = dockdyn.simulate(load(scenario, changes))
    assert data.attrs["finished"] and data.sizes["episode"] == 1
    return data, dockdyn.summarise(data)


LONG = [pytest.param(law, marks=pytest.mark.full) for law in ("linear", "table", "dashpot", "hysteresis")]


@pytest.mark.full
@pytest.mark.parametrize("law", ["hertz", "hunt-crossley", *LONG])
def test_the_class_is_that_of_the_law_at_any_tolerance(load, law):
    """Lossless laws keep energy and the least damper takes some, however much more the run's own error is."""
    expected = "lossless" if law in LOSSLESS else "passive"
    gains = []
    for tolerance in (1e-6, 1e-9, 1e-11):
        scenario = case((LOSSLESS | PASSIVE)[law])
        data, summary = judged(load, scenario, **{"integrator.tolerance": tolerance})
        assert summary["energy_class"] == [expected], tolerance
        assert not [one for one in summary["warnings"] if "damps the contact only" not in one]
        gains.append(abs(float(data.episode_energy_gain[0] / data.kinetic_energy[0])))
    if law == "hertz":  # what a threshold of 1e-9 would call a loss, and one that onset and release are resolved
        assert gains[0] > 1e-8 and gains[-1] < 1e-9
    if law == "hunt-crossley":  # less than the error: the class does not come from it
        other, _ = judged(load, case(LOSSLESS["hertz"]), **{"integrator.tolerance": 1e-6})
        assert gains[0] == pytest.approx(abs(float(other.episode_energy_gain[0] / other.kinetic_energy[0])), rel=0.1)


@pytest.mark.full
def test_friction_takes_and_delay_gives(load):
    spring = LOSSLESS["linear"]
    assert judged(load, case(spring, FRICTION))[1]["energy_class"] == ["passive"]
    assert judged(load, case(spring, FRICTION | {"coefficient": 0.0}))[1]["energy_class"] == ["lossless"]
    for delay in ("20 us", "2 ms"):
        data, summary = judged(load, case(spring), **{"loop.delay": delay})
        assert summary["energy_class"] == ["active"] and float(data.episode_energy_gain[0]) > 0
    # with as much damping as undoes the delay, and more, what is left is a loss: f = k d(t − h) + c ḋ(t − h), c > k h
    data, summary = judged(load, case({**spring, "damping": 10.0}), **{"loop.delay": "2 ms"})
    assert summary["energy_class"] == ["passive"] and float(data.episode_energy_gain[0]) < 0


@pytest.mark.full
def test_what_a_run_does_not_resolve_is_said(load):
    """Under delay the numbers decide: between bodies that fly past at 10 km/s together they cannot, and no class is guessed."""
    scenario = case(LOSSLESS["linear"])
    for body in scenario["body"].values():
        body["velocity"] = [*body.get("velocity", [0.0] * 3)[:2], 1e4]
    data, summary = judged(load, scenario, **{"loop.delay": "2 ms"})
    assert summary["energy_class"] == ["unresolved"]
    assert "less than this run resolves" in setup_named("mechanism").report(data, summary).verdict
    assert judged(load, scenario)[1]["energy_class"] == ["lossless"]


@pytest.mark.full
def test_what_a_latch_takes_is_not_laid_to_contacts():
    """However the latch holds, the contact before the capture took what it took, by the law of its dashpot."""
    cases = [
        dockdyn.load("probe-cone-latch", {"latch.capture.grip": grip, "loop.delay": 0.0})
        for grip in ("compliant-weld", "weld")
    ]
    summaries = [dockdyn.summarise(dockdyn.simulate(case)) for case in cases]
    assert [one["captured"] for one in summaries] == [True, True]
    assert [one["energy_class"] for one in summaries] == [["passive"]] * 2
    changes = [one["contact.energy_change_J"] for one in summaries]
    np.testing.assert_allclose(*changes, rtol=1e-9)


@pytest.mark.full
def test_a_law_that_is_not_what_it_says_is_warned_of(load):
    """Steps that are far too long lose energy of a lossless law: the class is the law's, and a warning says so."""
    scenario = case({**LOSSLESS["linear"], "stiffness": 2e5})
    _, summary = judged(load, scenario, **{"integrator.method": "fixed", "integrator.step": "25 ms"})
    assert summary["energy_class"] == ["lossless"]
    assert any("whose law cannot do so changed the kinetic energy" in line for line in summary["warnings"])


@pytest.mark.full_cases("law4", "law5")
@pytest.mark.parametrize(
    "law",
    [
        SpringDashpot(500.0, 40.0, False),
        SpringDashpot(500.0, 40.0, True),
        HuntCrossley(5e4, 1.5, 30.0),
        Hertz(5e4, 1.5),
        ForceStroke(*map(jnp.array, ([0.0, 0.02], [0.0, 10.0], [0.0, 8.0])), *map(jnp.array, (1.0, 5e3, 3.0, 1e-3))),
        ForceStroke(*map(jnp.array, ([0.0, 0.02], [0.0, 8.0], [0.0, 10.0])), *map(jnp.array, (1.0, 5e3, 0.0, 1e-3))),
        Parallel((Hertz(5e4, 1.5), SpringDashpot(0.0, -5.0, False))),
    ],
)
def test_laws_say_what_their_forces_do(law):
    """Work of the force that acts around random loops of depth: zero of lossless laws, never negative of passive ones, and of
    those that say neither negative of some."""
    rng = np.random.default_rng(3)
    times = np.linspace(0.0, 1.0, 4001)
    works = []
    for _ in range(20):
        frequency, phase = rng.integers(1, 5, 4), rng.uniform(0, 2 * np.pi, 4)
        waves = rng.uniform(0, 6e-3, 4) * np.sin(2 * np.pi * np.outer(times, frequency) + phase)
        depth = waves.sum(axis=1) + rng.uniform(0.0, 0.01)
        rate = np.gradient(depth, times)
        force = np.array(law.force(depth, rate))
        acting = np.where(depth > 0, force if law.adheres() else np.maximum(force, 0.0), 0.0)
        works.append(
            np.sum((acting[1:] + acting[:-1]) / 2 * np.diff(depth)) / np.sum(np.abs(acting[1:] * np.diff(depth)))
        )
    least, largest = min(works), max(works)
    assert law.lossless() == (max(-least, largest) < 1e-5)
    assert law.passive() == (least > -1e-5)


def test_friction_says_what_it_does():
    assert Coulomb(0.2, 1e-3).passive() and not Coulomb(0.2, 1e-3).lossless()
    assert Coulomb(0.0, 1e-3).lossless()
    rolls, free = TurningResistance(1e-3, 0.0, 1e-3), TurningResistance(0.0, 0.0, 1e-3)
    assert Coulomb(0.0, 1e-3, rolls).passive() and not Coulomb(0.0, 1e-3, rolls).lossless()
    assert Coulomb(0.0, 1e-3, free).lossless()
