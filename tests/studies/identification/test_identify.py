"""Identification against data of SciPy's own simulation, references of the SITS page and known statistics."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm, logm
from scipy.signal import cont2discrete, lfilter, lsim, zpk2tf
from scipy.spatial.transform import Rotation

from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.stability.discrete import continuous_equivalent
from dockdyn.studies.identification.arm_path import generic_arm, lead_tip
from dockdyn.studies.identification.bounce_log import Bounce, read_bounce
from dockdyn.studies.identification.contact import ContactSearch, contact_toml, identify_contact
from dockdyn.studies.identification.output_error import Orders, fit_difference_equation
from dockdyn.studies.identification.plan import SineSweep
from dockdyn.studies.identification.robot import Records, fit_to_other_log, identify_robot

PERIOD = 0.002  # s
ZEROS, POLES, GAIN = [-206.5679], [-181.7836 + 185.4564j, -181.7836 - 185.4564j], 326.4756  # a stand-in of SITS's robot
A, B = [-1.295833, 0.483292], [0.548679, -0.361221]  # the same in samples
TRUTH = -2.870  # deg, at 10 Hz
NOISE = 1e-4  # m


def swept(count: int = 1501, highest: float = 10.0) -> np.ndarray:
    """SITS eq. 23 with a frequency that rises to `highest` (Hz); m."""
    t = np.arange(count) * PERIOD
    return 0.025 * np.sin(2 * np.pi * highest * t / t[-1] * t)


def answer(command: np.ndarray, zeros=ZEROS, poles=POLES, gain=GAIN, late: int = 0) -> np.ndarray:
    """Positions of a robot whose commands are held for a period, by SciPy's continuous simulation."""
    top, bottom = zpk2tf(zeros, poles, gain)
    _, found, _ = lsim((np.real(top), np.real(bottom)), command, np.arange(len(command)) * PERIOD, interp=False)
    return np.r_[np.zeros(late), found[: len(found) - late]]


def phase(found) -> float:
    """deg, of the continuous robot at 10 Hz."""
    return float(np.degrees(np.angle(continuous_equivalent(list(found.a), list(found.b), PERIOD).at(20j * np.pi))))


# --- the robot ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["arx", "iv", "oe"])
def test_the_robot_of_the_paper_is_recovered_exactly_without_noise(method):
    command = swept()
    assert len(command) == 1501
    found = fit_difference_equation(command, answer(command), Orders(2, 2), method)
    top, bottom, _ = cont2discrete(zpk2tf(ZEROS, POLES, GAIN), PERIOD, method="zoh")
    assert found.a == pytest.approx(bottom[1:], abs=1e-9)
    assert found.b == pytest.approx(top.ravel()[1:], abs=1e-9)
    assert found.a == pytest.approx(A, abs=2e-6)  # as printed
    assert found.b == pytest.approx(B, abs=2e-6)
    assert phase(found) == pytest.approx(TRUTH, abs=5e-4)
    assert np.abs(found.residual).max() < 1e-12


def phases(seeds: int) -> dict[str, np.ndarray]:
    """Phases at 10 Hz (deg) that the methods find with noise."""
    command = swept()
    clean = answer(command)
    found: dict[str, list[float]] = {"arx": [], "iv": [], "oe": []}
    for seed in range(seeds):
        noisy = clean + NOISE * np.random.default_rng(seed).standard_normal(len(clean))
        for method, values in found.items():
            values.append(phase(fit_difference_equation(command, noisy, Orders(2, 2), method)))
    return {method: np.array(values) for method, values in found.items()}


@pytest.mark.full
@pytest.mark.parametrize("seeds", [40, 200])
def test_refined_estimates_are_unbiased_where_least_squares_are_not(seeds):
    found = phases(seeds)
    one_run = 0.033  # deg, by which single runs scatter: −2.29 is that of one
    assert found["arx"].mean() == pytest.approx(-2.29, abs=one_run)
    assert found["arx"].std() == pytest.approx(one_run, rel=0.25)
    for method in ("iv", "oe"):
        error = found[method].mean() - TRUTH
        assert abs(error) < 3 * found[method].std() / math.sqrt(seeds)
        assert found[method].std() < 0.02


@pytest.mark.full
def test_band_holds_the_truth_as_often_as_it_says():
    command = swept()
    clean = answer(command)
    top, bottom = zpk2tf(ZEROS, POLES, GAIN)
    inside = []
    for seed in range(60):
        noisy = clean + NOISE * np.random.default_rng(seed).standard_normal(len(clean))
        band = identify_robot(Records("log", PERIOD, command, noisy), (2, 2), 0).band
        s = 2j * np.pi * band.frequency
        off = np.log(band.response / (np.polyval(top, s) / np.polyval(bottom, s)))
        chosen = np.searchsorted(band.frequency, [1.0, 5.0, 10.0, 18.0])
        inside += list(np.abs(np.degrees(off.imag))[chosen] < band.phase[chosen])
        inside += list(np.abs(20 / np.log(10) * off.real)[chosen] < band.magnitude[chosen])
    assert 0.88 < np.mean(inside) < 0.99  # 95 %, of 480 that go together


@pytest.mark.full
@pytest.mark.parametrize(
    ("zeros", "poles", "late"),
    [
        ([], [-80.0], 0),
        ([], [-60.0 + 90j, -60.0 - 90j], 2),
        ([-300.0], [-150.0 + 40j, -150.0 - 40j], 1),
        ([], [-50.0 + 120j, -50.0 - 120j, -90.0], 0),
        ([-40.0 + 100j, -40.0 - 100j], [-60.0 + 80j, -60.0 - 80j, -120.0], 3),
    ],
)
def test_orders_and_dead_time_are_found(zeros, poles, late):
    """In noise of 1 µm; dead time is added by hand."""
    gain = float(np.real(np.prod(-np.array(poles)) / np.prod(-np.array(zeros or [-1.0]))))
    command = swept(2001, 40.0)
    actual = answer(command, zeros, poles, gain, late)
    noisy = actual + 1e-6 * np.random.default_rng(3).standard_normal(len(actual))
    found = identify_robot(Records("log", PERIOD, command, noisy))
    assert (found.fit.orders.a, found.fit.orders.delay) == (len(poles), late)
    ordered = sorted(found.transfer.poles(), key=lambda pole: (round(pole.real), pole.imag))
    expected = sorted(poles, key=lambda pole: (round(complex(pole).real), complex(pole).imag))
    assert np.abs(np.array(ordered) - np.array(expected)).max() < 0.02 * abs(poles[0])
    assert found.dead_time == pytest.approx(late * PERIOD)
    assert found.gain == pytest.approx(1, abs=1e-3)
    assert found.tests.white and found.tests.independent
    assert not [words for words in found.warnings if "gain" in words or "residuals" in words]


@pytest.mark.full_cases("0")
@pytest.mark.parametrize("seed", range(8))
def test_continuous_robot_is_the_matrix_logarithm_of_the_sampled_one(seed):
    """Of the augmented matrix of state and held command; SciPy's logarithm as the independent one."""
    rng = np.random.default_rng(seed)
    order = int(rng.integers(1, 5))
    discrete_poles: list[complex] = [0.5 + 0.4 * rng.random() for _ in range(order % 2)]
    for _ in range(order // 2):
        pole = rng.uniform(0.3, 0.95) * np.exp(1j * rng.uniform(0.1, 2.5))
        discrete_poles += [pole, pole.conjugate()]
    a, b = np.real(np.poly(discrete_poles))[1:], rng.normal(size=order)
    augmented = np.zeros((order + 1, order + 1))
    augmented[0, :order], augmented[0, order] = -a, 1.0
    augmented[1:order, : order - 1] = np.eye(order - 1)
    augmented[order, order] = 1.0
    rates = np.real(logm(augmented)) / PERIOD
    s = 2j * np.pi * np.array([0.1, 3.0, 40.0, 200.0])
    expected = [b @ np.linalg.solve(value * np.eye(order) - rates[:order, :order], rates[:order, order]) for value in s]
    assert continuous_equivalent(list(a), list(b), PERIOD).at(s) == pytest.approx(expected, rel=1e-7)
    assert expm(rates * PERIOD) == pytest.approx(augmented, abs=1e-9)


def test_units_offsets_and_turned_directions_change_nothing_else():
    command = swept()
    actual = answer(command) + NOISE * np.random.default_rng(5).standard_normal(1501)
    plain = identify_robot(Records("log", PERIOD, command, actual), (2, 2), 0)
    for scale, rest, shift in ((1000.0, 0.0, 0.0), (1.0, 0.4, 0.4), (-1.0, 0.2, 0.23)):
        moved = identify_robot(Records("log", PERIOD, scale * command + rest, scale * actual + shift), (2, 2), 0)
        assert moved.fit.a == pytest.approx(plain.fit.a, abs=1e-7)
        assert moved.fit.b == pytest.approx(plain.fit.b, abs=1e-7)
        assert moved.percent == pytest.approx(plain.percent, abs=1e-6)


def test_residuals_tell_noise_with_memory_and_missing_dynamics():
    command, rng = swept(), np.random.default_rng(2)
    clean = answer(command)
    coloured = lfilter([1.0], [1.0, -0.9], 3e-5 * rng.standard_normal(len(clean)))
    remembered = identify_robot(Records("log", PERIOD, command, clean + coloured), (2, 2), 0)
    assert not remembered.tests.white
    assert remembered.tests.independent
    assert phase(remembered.fit) == pytest.approx(TRUTH, abs=0.1)  # output error does not need white noise
    simple = identify_robot(Records("log", PERIOD, command, clean + 1e-5 * rng.standard_normal(len(clean))), (1, 1), 0)
    assert not simple.tests.independent
    assert any("go with the command" in words for words in simple.warnings)


def test_white_residuals_are_taken_for_others_as_rarely_as_stated():
    command = swept()
    clean = answer(command)
    verdicts = []
    for seed in range(60):
        noisy = clean + NOISE * np.random.default_rng(100 + seed).standard_normal(len(clean))
        tests = identify_robot(Records("log", PERIOD, command, noisy), (2, 2), 0).tests
        verdicts.append((tests.white, tests.independent))
    assert np.mean(verdicts, axis=0).min() > 0.93  # 99 %


def test_another_log_is_explained_by_the_right_robot_alone():
    command, other = swept(), 0.01 * np.sign(np.sin(2 * np.pi * 2.3 * np.arange(1200) * PERIOD))
    found = identify_robot(Records("log", PERIOD, command, answer(command)))
    assert fit_to_other_log(found, Records("other", PERIOD, other, answer(other) + 0.1)) > 99.99
    slower = answer(other, [], [-60.0], 60.0)
    assert fit_to_other_log(found, Records("other", PERIOD, other, slower)) < 90


def test_gain_at_rest_and_unstable_robots_are_said():
    command = swept()
    short = identify_robot(Records("log", PERIOD, command, 0.98 * answer(command)))
    assert short.gain == pytest.approx(0.98, abs=1e-4)
    assert any("gain at rest is 0.98" in words for words in short.warnings)
    runaway = lfilter([0.0, 0.01], [1.0, -1.004], command)
    found = identify_robot(Records("log", PERIOD, command, runaway), (1, 1), 0, "arx")
    assert found.fit.a == pytest.approx([-1.004], abs=1e-9)
    assert any("unstable" in words for words in found.warnings)


@pytest.mark.parametrize(("a", "words"), [([0.5], "z = -0.5"), ([-0.5, 0.0], "z = 0")])
def test_samples_of_no_continuous_robot_are_refused(a, words):
    """A pole on the negative real axis, and one at zero."""
    command = np.random.default_rng(0).normal(size=400)
    b = [0.3] if len(a) == 1 else [0.3, 0.1]
    actual = lfilter([0.0, *b], [1.0, *a], command)
    with pytest.raises(ScenarioError, match=words):
        identify_robot(Records("log.csv", PERIOD, command, actual), (len(a), len(b)), 0, "arx")


@pytest.mark.full
def test_a_step_seen_by_an_encoder_gives_no_order_to_its_rounding():
    command = np.r_[np.zeros(50), np.full(450, 0.01)]
    seen = np.round(answer(command) / 1e-6) * 1e-6  # steps of 1 µm
    found = identify_robot(Records("log", PERIOD, command, seen))
    assert (found.fit.orders, found.warnings) == (Orders(2, 2), [])
    assert phase(found.fit) == pytest.approx(TRUTH, abs=0.01)


# --- the contact ----------------------------------------------------------------------------------------------------

STIFFNESS, DAMPING, MASS, SPEED = 2e4, 120.0, 400.0, 0.05  # N/m, N s/m, kg, m/s
ONSET = 0.30037  # s


def bounce(delay: float, seed: int = 0, force_noise: float = 0.0, place_noise: float = 0.0, period: float = 1e-3):
    """A free mass against a wall, position and late force; also speed before and after."""

    def law(x, v):
        return np.where(x > 0, np.maximum(STIFFNESS * x + DAMPING * v, 0.0), 0.0)

    def rate(_, state):
        return [state[1], -float(law(state[0], state[1])) / MASS]

    end = 1.1
    solved = solve_ivp(
        rate, (0, end), [-SPEED * ONSET, SPEED], rtol=1e-10, atol=1e-13, max_step=1e-3, dense_output=True
    )
    time = np.arange(0, end, period)
    x, force = solved.sol(time)[0], law(*solved.sol(np.maximum(time - delay, 0)))
    rng = np.random.default_rng(seed)
    x = x + place_noise * rng.standard_normal(len(x))
    force = force + force_noise * rng.standard_normal(len(x))
    touching = np.flatnonzero(np.abs(force) > max(5 * force_noise, 0.02 * force.max()))
    made = Bounce("log", time, x, force, None, int(touching[0]), int(touching[-1]), True)
    return made, -solved.sol(end)[1] / SPEED


@pytest.mark.full
@pytest.mark.parametrize("delay", [0.0, 2.3e-3, 16e-3])
def test_contact_without_noise(delay):
    """A free mass on a spring and dashpot moves alike whatever the delay: only the first sample tells it, to a period."""
    made, ratio = bounce(delay)
    found = identify_contact(made)
    assert found.delay.value == pytest.approx(delay, abs=1.2e-3)
    assert found.damping.value == pytest.approx(DAMPING + STIFFNESS * (found.delay.value - delay), abs=2.0)
    assert found.stiffness.value == pytest.approx(STIFFNESS, rel=2e-3)
    assert found.restitution.value == pytest.approx(ratio, abs=1e-6)
    known = identify_contact(made, delay)
    assert known.delay.value == delay
    assert known.damping.value == pytest.approx(DAMPING, rel=1e-3)
    assert known.stiffness.value == pytest.approx(STIFFNESS, rel=1e-4)
    assert known.surface.value == pytest.approx(0.0, abs=1e-7)


@pytest.mark.full
def test_a_position_that_is_later_than_the_force_is_told_however_little_is_known():
    made, _ = bounce(-0.8e-3, 3, 3.0, 3e-5)
    found = identify_contact(made)
    free, _ = ContactSearch(made).weighed(None)
    assert -2 * found.delay.deviation < free[2] < 0
    assert any(f"best is negative: {1e3 * free[2]:.2g} ± " in words for words in found.warnings)


def test_what_does_not_come_has_no_restitution():
    """Of a log that stands still before its contact, or goes away, none is told."""
    made, _ = bounce(2.3e-3)
    for gone in (0.0, -0.1):
        moved = replace(
            made,
            position=np.where(
                made.time < made.time[made.first],
                made.position[made.first] + gone * (made.time - made.time[made.first]),
                made.position,
            ),
        )
        assert identify_contact(moved, 2.3e-3).restitution is None


@pytest.mark.full_cases("0")
@pytest.mark.parametrize("seed", range(6))
def test_no_force_is_before_its_depth(seed):
    """Where a negative delay fits best, all is fitted with 0, and as sure as the delay is known; the truth lies within."""
    draw = np.random.default_rng([7, seed])
    late = -draw.uniform(1.5, 4.0) * 1e-3
    made, _ = bounce(late, seed, draw.uniform(0, 1.0), draw.uniform(0, 2e-5))
    found, known = identify_contact(made), identify_contact(made, 0.0)
    assert found.delay.value == 0.0 and any("negative" in words for words in found.warnings)
    assert [found.stiffness.value, found.damping.value] == [known.stiffness.value, known.damping.value]
    assert found.damping.deviation > known.damping.deviation and found.delay.deviation >= 1e-3 / math.sqrt(12) * (
        1 - 1e-9
    )
    assert 'delay = "0.0 s"' in contact_toml(found)


@pytest.mark.full
@pytest.mark.parametrize("seeds", [6, 32])
def test_uncertainties_of_a_contact_are_those_over_many_bounces(seeds):
    """0.5 N of force noise, 0.01 mm of position noise; delays of any share of a period."""
    scores = []
    for seed in range(seeds):
        delay = 2e-3 + 1e-3 * seed / seeds
        made, ratio = bounce(delay, seed, 0.5, 1e-5)
        found = identify_contact(made)
        pairs = (found.stiffness, STIFFNESS), (found.damping, DAMPING), (found.delay, delay), (found.restitution, ratio)
        scores.append([(estimate.value - truth) / estimate.deviation for estimate, truth in pairs])
    scores = np.array(scores)
    assert np.abs(scores.mean(axis=0)).max() < 4 / math.sqrt(seeds)
    assert np.abs(scores).max() < 4.5
    sizes = np.sqrt((scores**2).mean(axis=0))  # one, within what so many bounces can tell
    assert sizes.max() < 1 + 3 / math.sqrt(2 * seeds)
    assert sizes.min() > 1 - 3 / math.sqrt(2 * seeds)


@pytest.mark.parametrize("seed", range(2))
def test_uncertainties_hold_where_the_force_is_measured_better_than_the_position(seed):
    """The noise of the position times the stiffness is 2 to 20 times that of the force."""
    draw, scores = np.random.default_rng([77, seed]), []
    for turn in range(8):
        place, delay = 10 ** draw.uniform(-5.5, -4.5), draw.uniform(2e-3, 5e-3)
        made, _ = bounce(delay, 100 * seed + turn, STIFFNESS * place / draw.uniform(2, 20), place)
        found = identify_contact(made)
        assert found.delay.deviation >= 1e-3 / math.sqrt(12) * (1 - 1e-9)
        pairs = (found.stiffness, STIFFNESS), (found.damping, DAMPING), (found.delay, delay)
        scores.append([(estimate.value - truth) / estimate.deviation for estimate, truth in pairs])
    assert np.sqrt((np.array(scores) ** 2).mean(axis=0)).max() < 1 + 3 / math.sqrt(2 * len(scores))
    assert np.abs(scores).max() < 4


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_turned_signs_and_a_bias_of_the_force_change_nothing_else(tmp_path, seed):
    """Of position, force and velocity, each to either side; the bias is told as the log has it."""
    made, _ = bounce(2.3e-3, 1, 0.5)
    rng, numbers = np.random.default_rng(seed), []
    speed = np.gradient(made.position, made.time)
    for number in range(4):
        turn, sign, spin = rng.choice([-1, 1], 3) if number else (1, 1, 1)
        bias, file = float(rng.uniform(-9, 9)), Path(tmp_path / f"{number}.csv")
        columns = turn * made.position + rng.uniform(-1, 1), sign * made.force + bias, spin * speed
        rows = zip(made.time, *columns, strict=True)
        file.write_text("t,x,f,v\n" + "\n".join(f"{t:.4f},{x:.12f},{f:.12f},{v:.12f}" for t, x, f, v in rows))
        found = identify_contact(read_bounce(file, {}))
        numbers.append([found.stiffness.value, found.damping.value, found.delay.value, found.restitution.value])
        assert found.bias.value == pytest.approx(bias, abs=0.2)
        assert any("so it is turned" in words for words in found.warnings) == (spin != turn)
    for one in numbers[1:]:
        assert one == pytest.approx(numbers[0], rel=1e-6)


# --- the experiment -------------------------------------------------------------------------------------------------


def test_sweep_without_limits_is_that_of_the_paper():
    time, command = SineSweep(0.025, 0.0, 20.0, 3.0).planned(PERIOD)
    assert command == pytest.approx(swept(), abs=1e-14)  # a phase of 190 rad in another order of operations
    assert time[-1] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("speed", "acceleration"), [(0.4, math.inf), (math.inf, 10.0), (0.5, 30.0), (0.05, 200.0), (3.0, 2.0)]
)
def test_sweep_keeps_to_its_limits_and_loses_amplitude_only_where_it_must(speed, acceleration):
    sweep = SineSweep(0.025, 0.5, 15.0, 8.0, speed, acceleration)
    time, command = sweep.planned(1e-3)
    rate = np.gradient(command, time)
    assert np.abs(rate).max() <= speed * (1 + 1e-6)
    if math.isfinite(acceleration):
        assert np.abs(np.diff(command, 2)).max() / 1e-6 <= acceleration * (1 + 1e-6)
        assert abs(command[1] - command[0]) < 1e-7 and abs(command[-1] - command[-2]) < 1e-7
    assert np.abs(command).max() <= 0.025 * (1 + 1e-12)
    for t in (2.0, 4.0, 6.5):  # no more than a third below what a steady sine could have
        turning = 2 * np.pi * (0.5 + 14.5 * t / 8.0)
        possible = min(0.025, speed / turning, acceleration / turning**2)
        assert np.abs(command[np.abs(time - t) < 0.3]).max() > 0.6 * possible


def chain(joints: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Place (m) and attitude of the generic arm's flange, from the dimensions that its docstring states."""
    turn, place = Rotation.identity(), np.zeros(3)
    steps = [((0, 0, 0), "z"), ((0.35, 0, 0.75), "y"), ((1.25, 0, 0), "y"), ((0, 0, 0.05), "x"), ((1.2, 0, 0), "y")]
    for (arm, axis), angle in zip([*steps, ((0, 0, 0), "x")], joints, strict=True):
        place = place + turn.apply(arm)
        turn = turn * Rotation.from_euler(axis, angle)
    return place + turn.apply([0.2, 0, 0]), turn.as_matrix()


def test_joints_lead_the_flange_along_the_line_with_its_attitude_held():
    arm, direction = generic_arm(), np.array([2.0, -1.0, 1.0])
    time, command = SineSweep(0.025, 0.0, 4.0, 1.0).planned(5e-3)
    path = lead_tip(arm, direction, command, time)
    middle, upright = chain(arm.start)
    for joints, offset in zip(path.joints, command, strict=True):
        place, turn = chain(joints)
        assert place == pytest.approx(middle + offset * direction / np.sqrt(6), abs=1e-9)
        assert turn == pytest.approx(upright, abs=1e-9)
    assert np.ptp(path.joints, axis=0).min() > 0
