"""What of a command is old is old together: its place, its velocity and the acceleration in it, in runs and in margins."""

import numpy as np
import pytest
from helpers.line_rig import line_rig
from numpy.testing import assert_allclose

import dockdyn
from dockdyn.rig.compensator import growth_of_run, join_rig
from dockdyn.stability.growth import batch_of_one, growth_rates
from dockdyn.stability.loop import make_loop
from dockdyn.stability.pade import approximate_loop
from dockdyn.stability.sampled_loop import SampledLoop
from dockdyn.stability.transfer_function import TransferFunction


def some_contact(rng, hold):
    """The mass (kg), stiffness (N/m) and damping (N s/m) of a contact that turns by a third of a radian in a hold (s)."""
    mass, frequency = 10 ** rng.uniform(1, 3), rng.uniform(0.31, 0.34) / hold
    return mass, mass * frequency**2, rng.uniform(0.1, 1.2) * mass * frequency


def rig_in(contact, loop, **others):
    """A rig along a line in such a contact."""
    mass, stiffness, damping = contact
    law = {"law": "spring-dashpot", "stiffness": stiffness, "damping": damping}
    return line_rig(mass, law | others.pop("law", {}), loop=loop, **{"velocity": 0.05, "duration": 1.0} | others)


def growths_of(scenario):
    """The growth rate (1/s) of the run's own map, and of the margins."""
    return growth_of_run(scenario), SampledLoop(join_rig(scenario).loop).growth_rate()


def growth_of_waiting(contact, hold, holds):
    """The growth rate (1/s) of a mass under F = −K x − B v of so many holds ago, held: by a map from hold to hold."""
    mass, stiffness, damping = contact
    count = 2 * (holds + 1)
    whole = np.eye(count, k=-2)  # pairs of place and velocity, the newest first
    whole[:2] = 0
    whole[:2, :2] = [[1, hold], [0, 1]]
    whole[:2, -2:] -= np.outer([hold**2 / 2, hold], [stiffness, damping]) / mass
    return np.log(np.abs(np.linalg.eigvals(whole)).max()) / hold


@pytest.mark.full
@pytest.mark.parametrize(("dynamics", "after"), [("continuous", 1), ("continuous", 2), ("zero-order-hold", 1)])
def test_a_robot_that_follows_at_once_has_the_velocity_of_the_command_that_applies(load, dynamics, after):
    """Commands that apply so many holds later are a delay of so many holds."""
    rng = np.random.default_rng(after)
    for _ in range(3):
        hold = 10 ** rng.uniform(-3, -2)
        contact = some_contact(rng, hold)
        loop = {"hold": {"period": hold, "applies_after": after}}
        if dynamics != "continuous":
            loop["dynamics"] = {"period": hold, "method": dynamics}
        scenario = load(rig_in(contact, loop, bilateral=True, law={"adhesion": True}))
        run, judged = growths_of(scenario)
        assert run == pytest.approx(judged, rel=1e-9)
        if dynamics == "zero-order-hold":  # what is measured is what was there before the command of the instant
            assert run == pytest.approx(growth_of_waiting(contact, hold, after + 1), rel=1e-9)
        if dynamics == "continuous":
            assert run == pytest.approx(growth_of_waiting(contact, hold, after), rel=1e-9)
        near = {"position": -0.3 * hold * 0.05}
        later = {"delay": after * hold, **loop, "hold": {"period": hold}}
        bounces = [
            dockdyn.simulate(load(rig_in(contact, one, **near, duration=40 * hold))).velocity.values
            for one in (loop, later)
        ]
        assert_allclose(*bounces, rtol=0, atol=1e-9 * np.abs(bounces).max())


LAG = {"bandwidth": "60 Hz", "damping": 0.7}
JUMPY = {"numerator": [2e-3, 1.0], "denominator": [4e-6, 3e-3, 1.0]}  # its velocity jumps with each command
LEADS = "command-lead"
SHAPES = {  # dynamics, robot, law, delay in holds
    "half a period, at once": ("half-period", None, None, 0.7),
    "half a period, at once, leads": ("half-period", None, LEADS, 1.3),
    "half a period, leads": ("half-period", LAG, LEADS, 0.6),
    "leads": ("continuous", LAG, LEADS, 1.6),
    "leads, at a command": ("continuous", None, LEADS, 1.0),
    "half a period, leads, at a command": ("half-period", None, LEADS, 0.5),
    "leads, a jumping velocity, at a command": ("continuous", JUMPY, LEADS, 1.0),
}


@pytest.mark.full_cases(*(name for name in SHAPES if name != "half a period, at once, leads"))
@pytest.mark.parametrize("name", SHAPES)
def test_a_run_with_continuous_dynamics_grows_as_its_margins_say(load, name):
    """The margins by the exact map, which `tests/stability` compares with a simulation; the run by its own, in ticks."""
    dynamics, robot, law, delay = SHAPES[name]
    rng = np.random.default_rng(list(SHAPES).index(name))
    for _ in range(4):
        hold = rng.uniform(3e-3, 5e-3)
        contact = some_contact(rng, hold)
        loop = {"delay": delay * hold, "hold": {"period": hold}, "dynamics": {"method": dynamics}}
        if dynamics == "half-period":
            loop["dynamics"]["period"] = hold  # so that half of it is an instant of the delay of half a hold, too
        if robot is not None:
            loop["robot"] = robot
        if law is not None:
            lead = hold * rng.uniform(0.3, 1.5)
            loop["compensator"] = {"law": law, "lead": lead, "second_lead": lead**2 * rng.uniform(0.2, 1.5)}
        run, judged = growths_of(load(rig_in(contact, loop, bilateral=True, law={"adhesion": True})))
        assert run == pytest.approx(judged, abs=1e-4 * np.sqrt(contact[1] / contact[0]))


@pytest.mark.full
def test_commands_that_wait_make_the_robot_s_velocity_late_too():
    """Beside the exact loop with its instants, of which the fifth order leaves out what is beyond the oscillation."""
    rng = np.random.default_rng(21)
    for number in range(24):
        mass, frequency, hold = 10 ** rng.uniform(1, 3), rng.uniform(8, 25), rng.uniform(1e-3, 3e-3)
        stiffness = mass * frequency**2
        robot = TransferFunction((1.0,), (4e-6, 2e-3, 1.0)) if number % 2 else None
        loop = make_loop(
            mass,
            stiffness,
            rng.uniform(0, 0.1) * mass * frequency,
            delay=rng.uniform(0, 2) * hold,
            hold=hold,
            robot=robot,
            applies_after=int(rng.integers(1, 6)),
            gain=rng.uniform(0.1, 0.5) * mass * frequency,
        )
        exact = growth_rates(batch_of_one(loop))[0]
        found = approximate_loop(loop, robot, 5).roots(float(loop.gain)).real.max()
        assert found == pytest.approx(exact, abs=1e-4 * frequency)
