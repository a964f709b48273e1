"""Robots from logs drawn at random: none fits worse than the true robot would, and what no robot explains is refused."""

import numpy as np
import pytest
from identify_logs import written
from robot_logs import drawn, fit_of, response
from scipy.signal import cont2discrete, lfilter

from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.studies.identification.robot import IdentifiedRobot, Records, identify_robot

LOGS = 300
QUICK = 6
SHORT = 1.0  # percentage points below the reachable fit


def explained(robot: IdentifiedRobot) -> float:
    """Fit (%) of the continuous robot, by SciPy's own sampling, behind its dead time; the start of the log is unknown."""
    transfer, records, late = robot.transfer, robot.records, robot.fit.orders.delay
    top, bottom, _ = cont2discrete((transfer.numerator, transfer.denominator), records.period)
    driven = response(bottom[1:], top.ravel()[1:], 0, records.command[: len(records.command) - late])
    free = [lfilter([1.0], bottom, np.eye(1, len(driven), at)[0]) for at in range(len(bottom) - 1)]
    columns, measured = np.stack([np.ones(len(driven)), *free], axis=1), records.actual[late:]
    return fit_of(measured, driven + columns @ np.linalg.lstsq(columns, measured - driven)[0])


def shortfall(seed: int) -> float:
    """Percentage points by which the robot of a drawn log fits less well than the true one."""
    log = drawn(seed)
    robot = identify_robot(Records("log", log.period, log.command, log.actual))
    return log.reachable() - min(robot.percent, explained(robot))


def refusal(command: np.ndarray, actual: np.ndarray) -> str:
    with pytest.raises(ScenarioError) as error:
        identify_robot(Records("log", 0.002, command, actual))
    return str(error.value)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(QUICK))
def test_a_robot_fits_as_well_as_the_true_one(seed):
    assert shortfall(seed) < SHORT, drawn(seed).words


@pytest.mark.full
def test_robots_of_all_logs_fit_as_well_as_the_true_ones():
    short = {drawn(seed).words: by for seed in range(LOGS) if (by := shortfall(seed)) >= SHORT}
    assert short == {}


@pytest.mark.full
@pytest.mark.parametrize("noise", [0.0, 2e-5])
@pytest.mark.parametrize("excitation", ["binary", "white"])
def test_a_robot_of_order_one_without_dead_time_is_found(excitation, noise):
    """The simplest robot, where many others fit an exact log as well."""
    rng = np.random.default_rng(5)
    command = 0.01 * (rng.choice([-1.0, 1.0], 1500) if excitation == "binary" else rng.standard_normal(1500))
    actual = lfilter([0.0, 0.3], [1.0, -0.7], command) + noise * rng.standard_normal(1500)
    robot = identify_robot(Records("log", 0.002, command, actual))
    assert (robot.fit.orders.a, robot.fit.orders.delay) == (1, 0)
    assert np.r_[robot.fit.a, robot.fit.b] == pytest.approx([-0.7, 0.3], abs=1e-3 if noise else 1e-9)
    assert robot.percent > (99.0 if noise else 100 - 1e-6)


@pytest.mark.parametrize(
    "late", [13, pytest.param(24, marks=pytest.mark.full), pytest.param(55, marks=pytest.mark.full)]
)
def test_a_long_dead_time_is_found(late):
    rng = np.random.default_rng(late)
    command = 0.01 * np.repeat(rng.choice([-1.0, 1.0], 60), 10)
    actual = response(np.array([-1.2, 0.4]), np.array([0.15, 0.05]), late, command) + 1e-5 * rng.standard_normal(600)
    robot = identify_robot(Records("log", 0.001, command, actual))
    assert robot.fit.orders.delay == late
    assert robot.percent > 99


@pytest.mark.full_cases("9")
@pytest.mark.parametrize("row", [3, 9])
def test_a_step_in_the_first_rows_is_enough(row):
    command = np.where(np.arange(300) >= row, 0.01, 0.0)
    actual = lfilter([0.0, 0.1], [1.0, -0.9], command) + 1e-6 * np.random.default_rng(row).standard_normal(300)
    robot = identify_robot(Records("log", 0.002, command, actual))
    assert robot.fit.orders.delay == 0
    assert np.roots(np.r_[1.0, robot.fit.a]).real.max() == pytest.approx(0.9, abs=1e-3)


@pytest.mark.full
@pytest.mark.parametrize("method", ["iv", "arx"])
def test_all_methods_recover_a_drawn_robot_without_noise(method):
    """Of the first drawn logs without noise."""
    exact = [log for log in map(drawn, range(60)) if np.array_equal(log.actual, log.clean)][:4]
    for log in exact:
        robot = identify_robot(Records("log", log.period, log.command, log.actual), method=method)
        assert robot.percent > 99.99, log.words


@pytest.mark.full
@pytest.mark.parametrize("kind", ["noise", "wandering", "of another command"])
@pytest.mark.parametrize("seed", range(2))
def test_positions_that_the_command_has_no_part_in_are_refused(kind, seed):
    rng = np.random.default_rng(seed)
    command, other = (0.01 * np.repeat(rng.choice([-1.0, 1.0], 60), 10) for _ in range(2))
    noise = rng.standard_normal(600)
    actual = {
        "noise": 1e-3 * noise,
        "wandering": 1e-4 * np.cumsum(noise),
        "of another command": lfilter([0.0, 0.3], [1.0, -0.7], other) + 1e-5 * noise,
    }[kind]
    assert "no robot that was tried describes the log" in refusal(command, actual)


@pytest.mark.full
def test_a_robot_in_much_noise_is_an_answer_that_says_so():
    """Noise as large as the motion: the fit is low and yet all there is."""
    rng = np.random.default_rng(1)
    command = 0.01 * np.repeat(rng.choice([-1.0, 1.0], 200), 10)
    clean = lfilter([0.0, 0.3], [1.0, -0.7], command)
    actual = clean + np.std(clean) * rng.standard_normal(2000)
    robot = identify_robot(Records("log", 0.002, command, actual))
    assert robot.percent == pytest.approx(fit_of(actual, clean), abs=1.0)
    assert any("the rest is noise; with a larger motion" in words for words in robot.warnings)


def test_a_log_that_no_robot_describes_ends_in_one_line(dock, tmp_path):
    rng = np.random.default_rng(3)
    command, actual = np.repeat(rng.choice([-1.0, 1.0], 60), 10), rng.standard_normal(600)
    rows = [f"{0.002 * k:.3f},{u},{y:.6f}" for k, (u, y) in enumerate(zip(command, actual, strict=True))]
    ended = dock("identify", "robot", written(tmp_path, ["time [s],command [mm],actual [mm]", *rows]), "--out", "found")
    ended.check_refused()
    assert ended.stderr.startswith("error: log.csv: no robot that was tried describes the log: with orders ")
    assert not (tmp_path / "found").exists()


def late_robot(seed):
    """Return samples of a noisy sweep, up to 20 Hz, of a robot with two poles, a zero and 4 to 12 ms of dead time; its dead
    time (samples), and its transfer function without that."""
    rng, period = np.random.default_rng(100 + seed), 0.002
    late, natural, ratio = int(rng.integers(2, 7)), 2 * np.pi * rng.uniform(20, 50), rng.uniform(0.5, 1.0)
    transfer = [rng.uniform(-1e-3, 3e-3) * natural**2, natural**2], [1.0, 2 * ratio * natural, natural**2]
    top, bottom, _ = cont2discrete(transfer, period)
    times = np.arange(1501) * period
    command = 0.025 * np.sin(2 * np.pi * 20 / (2 * times[-1]) * times**2)
    actual = response(bottom[1:], top.ravel()[1:], late, command) + 1e-4 * rng.standard_normal(len(times))
    return Records("log", period, command, actual), late, transfer


@pytest.mark.full_cases("24")
@pytest.mark.parametrize("count", [6, 24])
def test_dead_time_and_band_hold_in_noise(count):
    """Dead time costs a coefficient, not one for each of its samples: else a zero more took its place, and of twelve bands one
    held. Which orders and dead time a robot has is part of the band; six robots tell its share of 95 % to a fifth."""
    near, held = 0, []
    for seed in range(count):
        records, late, transfer = late_robot(seed)
        robot = identify_robot(records)
        near += abs(robot.fit.orders.delay - late) <= 1
        rivals = [words for words in robot.warnings if "does not tell the dead time" in words]
        assert rivals or abs(robot.fit.orders.delay - late) <= 1
        for frequency in (2.0, 10.0, 20.0):
            at = int(np.argmin(np.abs(robot.band.frequency - frequency)))
            turning = 2j * np.pi * robot.band.frequency[at]
            true = np.divide(*(np.polyval(part, turning) for part in transfer)) * np.exp(
                -turning * late * records.period
            )
            held.append(abs(np.angle(robot.band.response[at] / true, deg=True)) <= robot.band.phase[at])
    assert near >= 0.7 * count
    assert np.mean(held) >= 0.75
