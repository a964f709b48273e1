"""Thrusters as they are: allocation against SciPy, impulses of pulses, dead bands, what a table lacks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers.ball_before_plate import ball_before_plate
from helpers.refusals import refused
from scipy.optimize import nnls

import dockdyn
from dockdyn.control.allocation import RIDGE, nonnegative_least_squares
from dockdyn.programs import Program

FORCE, LEVER, INERTIA, MASS = 5.0, 0.8, 90.0, 300.0


@Program
def solved(matrices, rights):
    return jax.lax.map(lambda both: nonnegative_least_squares(*both), (matrices, rights))


@pytest.mark.parametrize("count", [4, 6, 12, 24])
def test_allocation_is_that_of_scipy(count):
    """Random tables, some of them with thrusters that are alike: as near to what is wanted as can be."""
    draw = np.random.default_rng(count)
    matrices = draw.normal(size=(60, 6, count))
    matrices[::5, :, 1] = matrices[::5, :, 0]
    rights = draw.normal(size=(60, 6)) * 10 ** draw.uniform(-3, 3, (60, 1))
    found = np.asarray(solved(matrices, rights))
    assert (found >= 0).all()
    for matrix, right, thrusts in zip(matrices, rights, found, strict=True):
        ridge = RIDGE * np.sum(matrix**2) / count
        larger = np.concatenate([matrix, np.sqrt(ridge) * np.eye(count)]), np.concatenate([right, np.zeros(count)])
        _, least = nnls(*larger)
        assert np.linalg.norm(larger[0] @ thrusts - larger[1]) <= least * (1 + 1e-6)
        # without the ridge: as near as the smallest of the nearest, or nearer than that is long
        nearest, least = nnls(matrix, right)
        most = np.hypot(least, np.sqrt(ridge) * np.linalg.norm(nearest))
        assert np.linalg.norm(matrix @ thrusts - right) <= most * (1 + 1e-12)


def test_nothing_wanted_is_nothing_given():
    assert not np.asarray(nonnegative_least_squares(jnp.eye(6), jnp.zeros(6))).any()


def block(axes=(0, 1, 2)):
    """Pairs of thrusters that push along both ways of each axis, at a lever across it."""
    table = {}
    for axis in axes:
        for way in (1.0, -1.0):
            for side in (1.0, -1.0):
                place, direction = [0.0] * 3, [0.0] * 3
                direction[axis], place[(axis + 1) % 3] = way, side * LEVER
                table[f"jet{len(table)}"] = {"position": place, "direction": direction, "force": FORCE}
    return table


NO_GAINS = dict.fromkeys(("base_stiffness", "base_damping", "position_stiffness", "velocity_damping"), 0.0)


def flight(control, **changes):
    """A body far from a plate; gains that are not stated are zero, so that few structures are compiled, those that are None
    are not there."""
    control = {"law": "attitude-hold", "period": 0.5, "thruster": block(), **NO_GAINS, **control}
    duration = changes.pop("duration", 20.0)
    return ball_before_plate(
        {"velocity": [0.0, 0.0, 0.0], "rate": [0.0, 0.0, 0.0]} | changes,
        duration=duration,
        output={"interval": 0.05},
        control={key: value for key, value in control.items() if value is not None},
    )


GAINS = {"base_stiffness": 10.0, "base_damping": 60.0, "position_stiffness": 20.0, "velocity_damping": 100.0}


@pytest.mark.full
@pytest.mark.parametrize(
    "modulation",
    [{"shortest_pulse": 0.03}, {"law": "on-off", "switch_on": 0.4, "switch_off": 0.1}, {"deadband": 0.01}],
    ids=["pulse-width", "on-off", "no shortest pulse"],
)
def test_momentum_changes_by_the_impulses_of_the_pulses(run, modulation):
    """Of a body that tumbles: what thrusters fired is all that its momenta change by; force times on-time is what they use."""
    content = flight(GAINS | {"modulation": modulation}, rate=[0.02, -0.03, 0.05], velocity=[0.02, -0.05, 0.03])
    found = run(content)
    for kind, given in (("linear", "thruster_impulse"), ("angular", "thruster_turning_impulse")):
        left = found[f"{kind}_momentum"] - found[given]
        np.testing.assert_allclose(left, np.broadcast_to(left[0], left.shape), rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.thruster_use[:, 0], FORCE * found.thruster_on_time.sum("thruster"), atol=1e-10)
    figures = dockdyn.summarise(found)
    assert figures["control.thruster_pulses"] == found.thruster_pulses[-1].sum() > 5
    assert figures["control.thruster_impulse_N_s"] > 1 and not figures["warnings"][:-1]


@pytest.mark.full
def test_a_pulse_lasts_what_is_wanted_of_its_period(run):
    """A drift of a body that does not turn is damped: each sample takes the share of it that the gain and the period say."""
    speed, gain, period, duration = 0.01, 30.0, 0.5, 10.0
    content = flight({"base_damping": 0.0, "base_stiffness": 0.0, "velocity_damping": gain}, velocity=[0.0, speed, 0.0])
    content["duration"] = duration
    found = run(content)
    wanted = speed * (1 - gain * period / MASS) ** np.arange(duration / period)
    np.testing.assert_allclose(found.velocity[:: round(period / 0.05), 0, 1][:-1], wanted, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.thruster_use[-1, 0], MASS * (speed - float(found.velocity[-1, 0, 1])), atol=1e-9)


@pytest.mark.full
def test_thrusters_that_are_asked_for_too_much_keep_the_direction(run):
    """All fire a period at most, in the shares of what is wanted."""
    content = flight(
        {"base_damping": 0.0, "base_stiffness": 0.0, "velocity_damping": 1e4}, velocity=[0.3, -0.1, 0.0], duration=0.5
    )
    pushed = run(content).thruster_impulse.values[-1]
    np.testing.assert_allclose(pushed, [-2 * FORCE * 0.5, 2 * FORCE * 0.5 / 3, 0.0], rtol=0, atol=1e-6)


def limit_cycle(run, rate, duration=400.0):
    """Attitude about z by pulses of the least length, thrusters in couples."""
    shortest, deadband, period, stiffness = 0.02, 0.015, 0.1, 50.0
    modulation = {"shortest_pulse": shortest, "deadband": deadband}
    control = {"base_stiffness": stiffness, "base_damping": 100.0, "period": period, "modulation": modulation}
    return run(flight(control, rate=[0.0, 0.0, rate], duration=duration)), shortest, deadband, period, stiffness


@pytest.mark.full
def test_a_dead_band_leaves_the_limit_cycle_of_a_double_integrator(run):
    """Each pulse of the couple turns the rate by Δ; with ∓Δ/2 between the edges it goes to and fro between them for ever.

    The couple fires where its wanted on-time reaches the dead band: K θ + D Δ/2 = 2 F L · deadband / period, at the sample
    after. So the amplitude is within what is turned in a period and a pulse, and the time of a cycle that of both ways.
    """
    step = 2 * FORCE * LEVER * 0.02 / INERTIA  # Δ, rad/s
    found, shortest, deadband, period, stiffness = limit_cycle(run, step / 2)
    edge = (2 * FORCE * LEVER * deadband / period - 100.0 * step / 2) / stiffness
    angle, rate = found.attitude_error.values[:, 2], found.rate.values[:, 0, 2]
    assert edge <= np.abs(angle).max() <= edge + step / 2 * (period + shortest)
    firing = found.thruster_firing.values.any(axis=1)
    np.testing.assert_allclose(np.abs(rate[~firing]), step / 2, rtol=0, atol=1e-12)
    turns = int(found.thruster_pulses[-1].sum()) // 2  # two thrusters a turn
    ways = (400.0 - edge / (step / 2)) / (2 * edge / (step / 2))
    assert ways - 2 <= turns <= ways + 1
    np.testing.assert_allclose(found.thruster_use[-1, 0], 2 * turns * FORCE * shortest, rtol=0, atol=1e-12)


@pytest.mark.full
def test_a_schmitt_trigger_goes_on_at_one_share_and_off_at_another(run):
    """A drift is pushed against without a pause from the sample above `switch_on` to the one below `switch_off`."""
    gain, on, off = 50.0, 0.6, 0.2
    control = {"base_damping": 0.0, "base_stiffness": 0.0, "velocity_damping": gain, "period": 0.1}
    modulation = {"law": "on-off", "switch_on": on, "switch_off": off}
    speed = 1.2 * on * 2 * FORCE / gain
    found = run(flight(control | {"modulation": modulation}, velocity=[0.0, speed, 0.0]))
    slowed = 2 * FORCE / MASS * 0.1
    samples = np.ceil((speed - off * 2 * FORCE / gain) / slowed)
    np.testing.assert_allclose(found.velocity[-1, 0, 1], speed - samples * slowed, rtol=0, atol=1e-12)
    assert int(found.thruster_pulses[-1].sum()) == 2
    quiet = run(flight(control | {"modulation": modulation}, velocity=[0.0, 0.8 * on * 2 * FORCE / gain, 0.0]))
    assert not quiet.thruster_pulses.values.any()
    idle = [[line for line in dockdyn.summarise(one)["warnings"] if "fired" in line] for one in (found, quiet)]
    assert idle[0] == [] and idle[1][0].startswith("no thruster has fired: nothing was wanted of one")
    assert ("they never fired" in dockdyn.report_html(quiet), "they never fired" in dockdyn.report_html(found)) == (
        True,
        False,
    )


@pytest.mark.full
def test_what_a_table_cannot_give_is_said(run):
    lines = dockdyn.summarise(run(flight(GAINS | {"thruster": block(axes=(0, 0, 0))}, duration=1.0)))["warnings"]
    (line,) = [line for line in lines if "thrusters" in line]
    assert line.startswith("thrusters alone cannot give what control may ask for: force along +y, force along +z")
    assert "force along +x" not in line and "about +z" not in line and "torque about −y" in line
    wheel = {"thruster": block(axes=(0, 0, 0)), "base_stiffness": 1.0, "base_damping": 9.0, "base_limit": 2.0}
    found = run(flight(wheel | {"position_stiffness": None, "velocity_damping": None}, duration=1.0))
    assert not found.attrs["thrusters_lack"]


def test_refusals_in_one_line(load):
    for changes, words in (
        ({"period": None}, "switched at samples: period is missing"),
        ({"thruster_force": 3.0}, "thruster_force is a limit of ideal thrusters"),
        ({"thruster": {}}, "is empty"),
        ({"modulation": {"switch_on": 0.5}}, "law pulse-width has no switch_on"),
        ({"modulation": {"law": "on-off", "switch_on": 0.2, "switch_off": 0.5}}, "switch_off is above switch_on"),
        ({"modulation": {"shortest_pulse": 3.0}}, "must be at most the period"),
        (
            {"thruster": {"a": {"position": [0, 0, 0], "direction": [0, 0, 0], "force": 1.0}}},
            "control.thruster.a.direction",
        ),
    ):
        content = {"schema": 2, **flight(GAINS | changes)}
        with refused(words):
            load(content)


@pytest.mark.full
def test_cases_of_a_campaign_are_the_runs_alone(load, tmp_path):
    """Pulses, samples and limits in a compiled batch: what the thrusters have used is that of the run."""
    gain = {"distribution": "uniform", "low": 60.0, "high": 140.0}
    content = flight(GAINS | {"velocity_damping": gain}, velocity=[0.02, -0.05, 0.03], duration=4.0)
    content |= {"schema": 2, "requirements": {"control.thruster_impulse_N_s": "< 1 kN s"}}
    case = load(content)
    found = dockdyn.campaign(case, tmp_path / "kept", runs=2)
    for index, value in enumerate(found["control.velocity_damping"].values):
        alone = dockdyn.summarise(dockdyn.simulate(case.at({"control.velocity_damping": float(value)})))
        assert float(found["control.thruster_impulse_N_s"][index]) == pytest.approx(
            alone["control.thruster_impulse_N_s"], rel=1e-9
        )


@pytest.mark.full
def test_the_report_shows_which_thruster_fires_when(run):
    """The rows of the figure are filled for as long as the thrusters fired, where they fired."""
    from dockdyn.pages import report_of

    found = run(flight(GAINS | {"modulation": {"shortest_pulse": 0.03}}, rate=[0.02, -0.03, 0.05]))
    (shown,) = (plot.draw() for plot in report_of(found).plots if plot.name == "thrusters")
    fires, on_time = shown.panels
    names = [str(name) for name in found.thruster.values]
    assert [name for _, name in fires.ticks] == names == [line.name for line in on_time.lines]
    for line, (foot, name) in zip(fires.lines[::2], fires.ticks, strict=True):
        own = found.sel(thruster=name)
        on = (np.asarray(line.y) > foot).astype(float)
        assert np.trapezoid(on, line.x) == pytest.approx(float(own.thruster_on_time[-1]), abs=1e-9)
        assert np.count_nonzero(np.diff(on) > 0) <= int(own.thruster_pulses[-1])  # pulses without a pause are one
        at = np.searchsorted(line.x, found.time.values, side="right") - 1
        inside = (on[at] > 0) | (np.abs(np.subtract.outer(found.time.values, line.x)).min(axis=1) < 1e-9)
        assert np.all(inside[own.thruster_firing.values > 0])
    assert any(len(line.x) > 2 for line in fires.lines)
