"""A controller of the user's own, one file beside the scenario: against the built-in law, closed forms, in campaigns."""

import json

import numpy as np
import pytest
from helpers.ball_before_plate import ball_before_plate
from helpers.refusals import refused
from scipy.linalg import expm

import dockdyn
from dockdyn.scenario.load import parse

MODULE = '''
from typing import Literal

import dockdyn
import jax.numpy as jnp
from dockdyn import parameter
from dockdyn.control import Command
from dockdyn.control.plant import attitude_error
from jaxtyping import Array, Float


class Hold(dockdyn.Controller):
    """The built-in law, written again."""

    base_stiffness: float = parameter("N*m/rad", "a gain", least=0)
    base_damping: float = parameter("N*m*s/rad", "a gain", least=0)
    attitude: Float[Array, "4"] = parameter("", "an attitude")
    position_stiffness: float = parameter("N/m", "a gain", least=0)
    velocity_damping: float = parameter("N*s/m", "a gain", least=0)
    position: Float[Array, "3"] = parameter("m", "a length")
    velocity: Float[Array, "3"] = parameter("m/s", "a speed")

    def act(self, memory, seen):
        body = seen.chaser
        torque = -self.base_stiffness * attitude_error(self.attitude, body.attitude) - self.base_damping * body.rate
        away, drift = body.position - self.position, body.velocity - self.velocity
        return memory, Command(-self.position_stiffness * away - self.velocity_damping * drift, torque)


class Follow(dockdyn.Controller):
    """A place beside the target is held by PID, whichever way that flies; rates are damped."""

    stiffness: float = parameter("N/m", "a gain", least=0)
    damping: float = parameter("N*s/m", "a gain", least=0)
    integral: float = parameter("N/(m*s)", "a gain", least=0, default=0.0)
    turning: float = parameter("N*m*s/rad", "a gain", least=0, default=10.0)
    place: Float[Array, "3"] = parameter("m", "a length", default=(10.0, 0.0, 0.0))

    def init(self, seen):
        return {"integral": jnp.zeros(3)}

    def act(self, memory, seen):
        error = seen.chaser.position - seen.target.position - self.place
        drift = seen.chaser.velocity - seen.target.velocity
        force = -self.stiffness * error - self.damping * drift - self.integral * memory["integral"]
        return {"integral": error}, Command(force, -self.turning * seen.chaser.rate)


class Shaken(dockdyn.Controller):
    """A clock, and a force by it."""

    amplitude: float = parameter("N", "a force")
    frequency: float = parameter("rad/s", "an angular rate", above=0)
    way: Literal["x", "y"] = dockdyn.field(static=True, default="x")

    def init(self, seen):
        return 0

    def act(self, memory, seen):
        axis = jnp.eye(3)[0 if self.way == "x" else 1]
        return 1, Command(self.amplitude * jnp.sin(self.frequency * memory) * axis, jnp.zeros(3))


class Forgetful(Shaken):
    def act(self, memory, seen):
        return (), Command(jnp.zeros(3), jnp.zeros(3))


class Flat(Shaken):
    def act(self, memory, seen):
        return 0.0, Command(jnp.zeros(2), jnp.zeros(3))


class Faulty(Shaken):
    def act(self, memory, seen):
        return 0.0, seen.nothing


class Idle(dockdyn.Controller):
    gain: float = parameter()


class Taken(Idle):
    base_limit: float = parameter("N*m", "a torque")
'''
LIMITS = {
    "base_limit": 2.0,
    "base_capacity": 6.0,
    "thruster_force": 20.0,
    "thruster_torque": 1.5,
    "thruster_impulse": 150.0,
    "thruster_angular_impulse": 6.0,
}
FOLLOW = {"law": "own_control:Follow", "stiffness": "50 N/m", "damping": "60 N s/m", "integral": 4.0}


@pytest.fixture
def folder(own_files):
    return own_files({"own_control.py": MODULE})


def flight(control, **chaser):
    """A tumbling ball before a moving plate, in a delayed loop."""
    start = {
        "inertia": [[60.0, 5.0, -8.0], [5.0, 80.0, 4.0], [-8.0, 4.0, 90.0]],
        "position": [2.1, 0.1, 0.05],
        "velocity": [-0.1, 0.02, 0.0],
        "rate": [0.05, -0.1, 0.08],
    }
    tables = {"duration": 6.0, "control": control, "loop": {"delay": 0.02}, "output": {"interval": 0.02}}
    return ball_before_plate(start | chaser, {"velocity": [0.0, 0.03, -0.01]}, **tables)


def away(control):
    """The same where nothing touches."""
    return flight(control, position=[10.3, -0.2, 0.1], velocity=[0.02, 0.0, 0.01])


FIXED = {"integrator": {"method": "fixed", "step": 2e-3}, "duration": 2.0}


@pytest.mark.full
@pytest.mark.parametrize("integrator", [{}, FIXED], ids=["located", "fixed"])
def test_a_copy_of_the_built_in_law_gives_its_run_exactly(folder, load, integrator):
    """Through contact, with wheel and thrusters at their limits, by both integrators."""
    gains = {"base_stiffness": 40.0, "base_damping": 30.0, "position_stiffness": 50.0, "velocity_damping": 60.0}
    gains |= {"attitude": [1.0, 0, 0, 0], "position": [0.0, 0, 0], "velocity": [-0.02, 0, 0]} | LIMITS
    own, built_in = (
        dockdyn.simulate(load(flight({"law": law, **gains}) | integrator))
        for law in ("own_control:Hold", "attitude-hold")
    )
    assert set(own.data_vars) == set(built_in.data_vars) and own.sizes == built_in.sizes
    for name in own.data_vars:
        np.testing.assert_array_equal(own[name].values, built_in[name].values, err_msg=name)
    assert own.attrs["control"] == "own_control:Hold"


@pytest.mark.full
def test_what_it_remembers_is_integrated(folder, load):
    """PID towards a place beside a flying target: a linear system, by the exponential of its matrix."""
    found = dockdyn.simulate(load(away(FOLLOW)))
    error = (found.position[:, 0] - found.position[:, 1]).values - [10.0, 0, 0]
    matrix = np.array([[0, 1, 0], [-50 / 300, -60 / 300, -4 / 300], [1, 0, 0]])
    start = np.array([[0.3, -0.2, 0.1], [0.02, -0.03, 0.02], [0, 0, 0]])
    wanted = np.array([(expm(matrix * time) @ start)[0] for time in found.time.values])
    np.testing.assert_allclose(error, wanted, rtol=0, atol=1e-10)
    summary = dockdyn.summarise(found)
    assert summary["linear_momentum_error"] < 1e-12 and summary["angular_momentum_error"] < 1e-12
    energy = summary["kinetic_energy_end_J"] - float(found.kinetic_energy[0])
    assert (
        summary["control.work_J"] == pytest.approx(energy, rel=1e-9) and summary["control.attitude_error_rad"] is None
    )


@pytest.mark.full
def test_a_clock_of_its_own(folder, load):
    """ẍ = A sin(ω t) / m, from rest: x = A (ω t − sin ω t) / (m ω²); numbers of Python and a word serve, too."""
    shaken = {"law": "own_control:Shaken", "amplitude": "30 N", "frequency": "120 deg/s", "way": "y"}
    found = dockdyn.simulate(load(flight(shaken, position=[10, 0, 0], velocity=[0, 0, 0], rate=[0, 0, 0])))
    phase = 2 * np.pi / 3 * found.time.values
    wanted = 30 * (phase - np.sin(phase)) / (300 * (2 * np.pi / 3) ** 2)
    np.testing.assert_allclose(found.position[:, 0, 1], wanted, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found.position[:, 0, [0, 2]], [[10, 0]] * len(phase))


def test_it_is_written_back_and_set(folder, load):
    scenario = load(away(FOLLOW | LIMITS), {"control.damping": "70 N s/m"})
    assert 'damping = "70.0 N*s/m"' in scenario.text() and "place = [10.0, 0.0, 0.0]" in scenario.text()
    again = parse(scenario.text(), scenario.name, folder=scenario.folder)
    assert again == scenario and again.content.control.damping == 70.0
    names = again.model().names()
    first = names.index("work")
    assert names[first : first + 3] == ["work", "controller integral", "control work"]


@pytest.mark.parametrize(
    ("control", "says"),
    [
        ({"law": "own_control:Nothing"}, "control: cannot import 'own_control:Nothing'"),
        ({"law": "pathlib:Path"}, "pathlib:Path must be a subclass of dockdyn.Controller"),
        ({"stifness": 1.0}, "control: own_control:Follow has no field 'stifness'; its fields: "),
        ({"base_stiffness": 1.0}, "control: law own_control:Follow has no base_stiffness; it has stiffness, damping"),
        ({"law": "own_control:Shaken"}, "control: own_control:Shaken has no field 'damping'"),
        ({"stiffness": None}, "control.stiffness"),
        ({"stiffness": "5 N"}, "control.stiffness = '5 N': must be a gain of at least 0 N/m"),
        ({"damping": -1}, "control.damping = -1: must be a gain of at least 0 N*s/m"),
        ({"place": [1, 2]}, "control.place"),
        ({"base_capacity": 1.0}, "control: base_capacity is that of a wheel with base_limit, which is missing"),
        ({"law": "own_control:Taken"}, "own_control:Taken has a field 'base_limit', a name that is taken"),
    ],
)
def test_what_cannot_be_is_one_line(folder, control, says):
    with refused(says):
        dockdyn.load("probe-cone", {"control": FOLLOW | control})


@pytest.mark.parametrize(
    ("law", "says"),
    [
        ("Forgetful", "act must give the rate of what init gives, in its shapes"),
        ("Flat", "act must give the rate of what init gives, in its shapes, and a Command of two rows of 3 numbers"),
        ("Faulty", "act fails (AttributeError: 'Measured' object has no attribute 'nothing')"),
        ("Idle", "own_control:Idle must define act"),
    ],
)
def test_answers_are_checked(folder, law, says):
    numbers = {"gain": 1.0} if law == "Idle" else {"amplitude": 1.0, "frequency": 1.0}
    with refused(says, match=r"^probe-cone: control: own_control:"):
        dockdyn.load("probe-cone", {"control": {"law": f"own_control:{law}", **numbers}})


@pytest.mark.full
def test_reported_replayed_and_kept_out(folder, dock, load):
    (folder / "mine.toml").write_text(load(flight(FOLLOW | LIMITS)).text())
    code, _, err = dock("run", "mine.toml", "--out", "x")
    assert (code, err) == (0, "")
    page = (folder / "x/report.html").read_text(encoding="utf-8")
    assert 'id="scene-script"' in page and "own_control:Follow" in page
    for command in (("run", "mine.toml", "--out", "y"), ("view", "x", "--html", "z.html")):
        code, _, err = dock(*command, "--no-own-code")
        assert code == 2 and "is code of its own, which is refused" in err and len(err.splitlines()) == 1


@pytest.mark.full
def test_its_numbers_are_dispersed(folder, dock, load):
    """Cases of a batch are the runs of these cases alone, and another module is another campaign."""
    spread = {"distribution": "uniform", "low": "40 N/m", "high": "60 N/m"}
    (folder / "mine.toml").write_text(load(flight(FOLLOW | LIMITS), {"control.stiffness": spread}).text())
    arguments = ("campaign", "run", "mine.toml", "--runs", "3", "--out", "many", "--json")
    code, out, err = dock(*arguments)
    assert code == 0, err
    assert (json.loads(out)["runs"], json.loads(out)["failed"]) == (3, 0)
    assert "control.stiffness" in (folder / "many/campaign-report.html").read_text(encoding="utf-8")
    (folder / "own_control.py").write_text(MODULE + "# changed\n")
    code, _, err = dock(*arguments, "--resume")
    assert code == 2 and "module own_control has changed" in err
