"""`dockdyn impact` as a user runs it: answers against momentum balances and simulations of its own, refusals."""

import json
import re

import numpy as np
import pytest
from places import DOCS
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

from dockdyn.cli import main as cli

MULTIBODY = ("multibody", "--masses", "17", "2", "1.5", "15", "--speed", "0.05 m/s")
STIFFNESSES = ("--contact-stiffness", "15 kN/m", "--chaser-stiffness", "1 kN/m", "--target-stiffness", "200 N/m")
LATCH = ("latch", "--chaser-mass", "40 kg", "--target-mass", "6 kg", "--stiffness", "350 N/m", "--angle", "25 deg")


@pytest.fixture
def impact(dock, monkeypatch, tmp_path):
    """Runs `dockdyn impact …` in an empty folder; gives exit code, output and errors."""
    monkeypatch.setenv("COLUMNS", "160")

    def command(*arguments):
        ended = dock("impact", *arguments)
        assert list(tmp_path.iterdir()) == []
        return ended

    return command


@pytest.fixture
def answer(impact):
    """The JSON of a command that works."""

    def command(*arguments):
        code, out, err = impact(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return command


# --- four masses ----------------------------------------------------------------------------------------------------


def collision(masses, speed, restitution, internal=0.0):
    """Velocities of both centres of mass after, and the impulse: the two masses that meet collide, the others coast."""
    m1, m2, m3, m4 = masses
    first, behind = speed + internal, speed - internal * m2 / m1  # m₂ ahead of its own centre of mass; the target rests
    common = m2 * first / (m2 + m3)
    parting = restitution * first
    after = common - m3 * parting / (m2 + m3), common + m2 * parting / (m2 + m3)
    return (m1 * behind + m2 * after[0]) / (m1 + m2), m3 * after[1] / (m3 + m4), m3 * after[1]


@pytest.mark.parametrize(
    ("masses", "speed", "restitution", "internal", "motion"),
    [
        ((12, 3, 5, 40), 0.08, 0.7, 0.0, "iv"),
        ((2, 30, 8, 3), 0.02, 1.0, 0.0, "v"),
        ((10, 10, 10, 10), 0.05, 1.0, 0.0, "iii"),
        ((5, 4, 7, 9), 0.06, 0.4, 0.03, None),
        ((5, 4, 7, 9), 0.06, 0.0, -0.02, None),
    ],
)
def test_velocities_are_those_of_a_collision_of_two_of_the_masses(answer, masses, speed, restitution, internal, motion):
    given = ("--restitution", restitution, "--internal-speed", internal)
    found = answer("multibody", "--masses", *masses, "--speed", f"{100 * speed} cm/s", *given)
    chaser, target, impulse = collision(masses, speed, restitution, internal)
    assert found["chaser_velocity_after_m_s"] == pytest.approx(chaser, rel=1e-12)
    assert found["target_velocity_after_m_s"] == pytest.approx(target, rel=1e-12)
    assert found["relative_velocity_after_m_s"] == pytest.approx(chaser - target, rel=1e-10, abs=1e-16)
    assert found["impulse_N_s"] == pytest.approx(impulse, rel=1e-12)
    m1, m2, m3, m4 = masses
    together = m2 * m3 / (m2 + m3) * (m1 + m2 + m3 + m4) / ((m1 + m2) * (m3 + m4))
    assert found["effective_mass_ratio"] == pytest.approx(together, rel=1e-12)
    assert found["motion_class"] == motion
    assert found["first_order_correction_m_s"] is None
    assert found["warnings"] == []


def simulated(masses, contact, chaser, target, speed):
    """Relative velocity of the centres of mass when the contact first opens: a matrix exponential, and a root."""
    m = np.array(masses, float)
    stretch = np.diff(np.eye(4), axis=0)
    flow = np.zeros((8, 8))
    flow[:4, 4:] = np.eye(4)
    flow[4:, :4] = -(stretch.T * [chaser, contact, target]) @ stretch / m[:, None]
    start = np.r_[np.zeros(4), speed, speed, 0, 0]

    def depth(t):
        state = expm(flow * t) @ start
        return state[1] - state[2]

    half = np.pi * np.sqrt(m[1] * m[2] / (m[1] + m[2]) / contact)
    velocity = (expm(flow * brentq(depth, 0.6 * half, 1.4 * half, xtol=1e-15)) @ start)[4:]
    return velocity[:2] @ m[:2] / m[:2].sum() - velocity[2:] @ m[2:] / m[2:].sum()


def test_the_correction_brings_the_prediction_to_the_simulation(answer):
    masses, speed = (8, 3, 4, 20), 0.03
    found = answer(
        *("multibody", "--masses", *masses, "--speed", speed),
        *("--contact-stiffness", "40 kN/m", "--chaser-stiffness", "900 N/m", "--target-stiffness", "700 N/m"),
    )
    right = simulated(masses, 40e3, 900, 700, speed)
    plain = found["relative_velocity_after_m_s"]
    corrected = plain + found["first_order_correction_m_s"]
    assert found["first_order_correction_m_s"] < 0
    assert abs(corrected - right) < 0.03 * abs(plain - right)


@pytest.mark.parametrize(
    "more", [("--restitution", 0.9), ("--internal-speed", "1 mm/s"), ("--contact-damping", "5 N s/m")]
)
def test_no_correction_where_its_formula_does_not_hold(answer, more):
    assert answer(*MULTIBODY, *STIFFNESSES)["first_order_correction_m_s"] == pytest.approx(-7.53e-5, rel=2e-3)
    assert answer(*MULTIBODY, *STIFFNESSES, *more)["first_order_correction_m_s"] is None


def test_the_table_of_the_paper(answer):
    """Case A, eq. 18 and the correction as computed elsewhere, however the masses are written."""
    found = answer(*MULTIBODY, *STIFFNESSES)
    assert found["effective_mass_ratio"] == pytest.approx(0.09706083, abs=5e-9)
    assert found["relative_velocity_after_m_s"] == pytest.approx(0.0402939, abs=5e-8)
    corrected = found["relative_velocity_after_m_s"] + found["first_order_correction_m_s"]
    assert corrected == pytest.approx(0.0402186, abs=5e-8)
    assert found["motion_class"] == "iv"
    other = ("multibody", "--speed", "5 cm/s", "--masses", "17 kg", "2000 g", "1.5", "0.015 t", *STIFFNESSES)
    again = answer(*other)
    assert again.pop("warnings") == found.pop("warnings") and again.pop("motion_class") == found.pop("motion_class")
    assert again == pytest.approx(found, rel=1e-14)


def test_warnings(answer):
    soft = list(STIFFNESSES)
    assert answer(*MULTIBODY, *soft)["warnings"] == []
    soft[-1] = "6 N/mm"  # 0.4 of 15 kN/m
    (line,) = answer(*MULTIBODY, *soft)["warnings"]
    assert "target stiffness is 0.4" in line
    # π √(0.857 kg / 15 kN/m) = 23.7 ms, in which a wave goes 119 m; a dashpot makes it longer
    (line,) = answer(*MULTIBODY, *STIFFNESSES, "--size", "100 m")["warnings"]
    assert "23.7 ms" in line and "1.2 times" in line
    assert answer(*MULTIBODY, *STIFFNESSES, "--size", "50 m")["warnings"] == []
    # 60 m take 24 ms there and back; 30 N s/m make ζ = 0.13, and the contact until zero force shorter by 8 %
    assert answer(*MULTIBODY, *STIFFNESSES, "--size", "58 m")["warnings"] == []
    (line,) = answer(*MULTIBODY, *STIFFNESSES, "--size", "58 m", "--contact-damping", "30 N*s/m")["warnings"]
    assert "21.9 ms" in line


def test_what_is_printed(impact):
    code, out, err = impact(*MULTIBODY)
    assert (code, err) == (0, "")
    first, *rest = out.splitlines()
    assert first.startswith("Favourable for docking") and "0.04029 m/s" in first
    assert any("relative velocity after" in line and "0.0402939" in line for line in rest)
    assert "warning" not in out
    _, parting, _ = impact("multibody", "--masses", 2, 30, 8, 3, "--speed", 0.02)
    assert parting.startswith("Unfavourable for docking")
    _, still, _ = impact("multibody", "--masses", 10, 10, 10, 10, "--speed", 0.02)
    assert still.startswith("No relative velocity is left")
    stiff = ("--contact-stiffness", 1000, "--chaser-stiffness", 900, "--target-stiffness", 1)
    _, warned, _ = impact(*MULTIBODY, *stiff)
    assert "warning: chaser stiffness is 0.9 of the contact stiffness" in warned


# --- the latch ------------------------------------------------------------------------------------------------------


def pushed(speed, travel, friction, preload):
    """When a probe has pushed the latch of `LATCH` to `travel` (m), None if never; and how far it gets."""
    masses, stiffness, angle = (40.0, 6.0), 350.0, np.radians(25)

    def rates(t, y):
        spring = preload + stiffness * (y[0] - y[1]) * np.tan(angle)
        # ramp and latch: normal force N with N cos θ − μ N sin θ = spring, and N sin θ + μ N cos θ along the line
        normal = spring / (np.cos(angle) - friction * np.sin(angle))
        force = normal * (np.sin(angle) + friction * np.cos(angle))
        return [y[2], y[3], -force / masses[0], force / masses[1]]

    def there(t, y):
        return y[0] - y[1] - travel

    def turns(t, y):
        return y[2] - y[3]

    there.terminal = turns.terminal = True
    start, kind = [0, 0, speed, 0], {"method": "DOP853", "rtol": 1e-12, "atol": 1e-15, "max_step": 2e-3}
    run = solve_ivp(rates, (0, 10), start, events=[there, turns], **kind)
    return (run.t[-1] if len(run.t_events[0]) else None), run.y[0, -1] - run.y[1, -1]


@pytest.mark.parametrize("length", ["axial", "lateral"])
@pytest.mark.parametrize(("friction", "preload"), [(0.0, 0.0), (0.3, 0.0), (0.0, 0.8), (0.3, 0.8)])
def test_the_least_speed_divides_latched_from_not(answer, length, friction, preload):
    travel = 0.015 if length == "axial" else 0.015 / np.tan(np.radians(25))  # m
    given = (*LATCH, f"--{length}-length", "15 mm", "--friction", friction, "--preload", f"{preload} N")
    plain = answer(*given)
    assert plain["latched"] is None and plain["latch_time_s"] is None
    least = plain["minimum_velocity_m_s"]
    assert pushed(0.9999 * least, travel, friction, preload)[0] is None
    for share in (1.0001, 1.4):
        time, _ = pushed(share * least, travel, friction, preload)
        found = answer(*given, "--speed", share * least)
        assert found == {**plain, "latched": True, "latch_time_s": pytest.approx(time, rel=1e-6)}
    assert answer(*given, "--speed", 0.9999 * least) == {**plain, "latched": False}
    _, reach = pushed(0.5 * least, travel, friction, preload)
    if not preload:  # then the motion is a sine
        assert found["frequency_rad_s"] == pytest.approx(0.5 * least / reach, rel=1e-6)


def test_what_is_printed_of_a_latch(impact):
    """The paper's latch, which its rounded speed of 0.07 m/s does not close."""
    paper = ("latch", "--chaser-mass", 15, "--target-mass", 17, "--stiffness", 100, "--angle", "45 deg")
    length = ("--axial-length", "2 cm")
    code, out, err = impact(*paper, *length)
    assert (code, err) == (0, "") and out.startswith("Latches from 0.0708492 m/s on.")
    _, out, _ = impact(*paper, *length, "--speed", 0.07)
    assert out.startswith("Does not latch: 0.07 m/s") and "19.7603 mm of 20 mm" in out
    _, out, _ = impact(*paper, *length, "--speed", "71 mm/s")
    assert out.startswith("Latches: 0.071 m/s") and "time from first contact" in out


# --- what is refused ------------------------------------------------------------------------------------------------

MASSES = ("--masses", 17, 2, 1.5, 15)
RAMP = (*LATCH, "--axial-length", "15 mm")
REFUSED = [
    (("multibody", "--masses", 17, 0, 1.5, 15, "--speed", 1), ["--masses: 0", "greater than 0 kg"]),
    (("multibody", "--masses", 17, 2, -1.5, 15, "--speed", 1), ["--masses: -1.5", "greater than 0 kg"]),
    (("multibody", "--masses", 17, 2, "nan", 15, "--speed", 1), ["--masses: nan", "greater than 0 kg"]),
    (("multibody", "--masses", 17, 2, "15 N", 15, "--speed", 1), ["--masses: 15 N", "must be a mass", '"5 kg"']),
    (("multibody", "--masses", 17, 2, 1.5, "--speed", 1), ["--masses: --speed", "must be a mass"]),
    (("multibody", *MASSES, "--speed", "5 s"), ["--speed: 5 s", "must be a speed in m/s"]),
    (("multibody", *MASSES, "--speed", 0), ["--speed: 0", "greater than 0 m/s", "do not approach"]),
    (("multibody", *MASSES, "--speed", -0.1), ["--speed: -0.1", "greater than 0 m/s"]),
    (("multibody", *MASSES, "--speed", 0.1, "--internal-speed", -0.2), ["--speed: 0.1", "greater than 0.2 m/s"]),
    ((*MULTIBODY, "--restitution", 1.1), ["--restitution: 1.1", "at least 0 and at most 1"]),
    ((*MULTIBODY, "--restitution", -0.1), ["--restitution: -0.1", "at least 0 and at most 1"]),
    ((*MULTIBODY, "--contact-stiffness", 1e4), ["--chaser-stiffness", "must be given all three"]),
    ((*MULTIBODY, "--size", 5), ["--contact-stiffness", "must be given all three"]),
    ((*MULTIBODY, *STIFFNESSES[:-1], 0), ["--target-stiffness: 0", "greater than 0 N/m"]),
    ((*MULTIBODY, *STIFFNESSES, "--contact-damping", -1), ["--contact-damping: -1", "at least 0"]),
    ((*MULTIBODY, *STIFFNESSES, "--size", 0), ["--size: 0", "greater than 0 m"]),
    (LATCH, ["--axial-length, --lateral-length", "none given", "must be one of them"]),
    ((*RAMP, "--lateral-length", "1 cm"), ["--axial-length, --lateral-length", "both given", "must be one of them"]),
    ((*LATCH, "--axial-length", -0.01), ["--axial-length: -0.01", "greater than 0 m"]),
    ((*RAMP, "--angle", 45), ["--angle: 45", "bare number is in rad", "less than 90 deg"]),
    ((*RAMP, "--angle", "90 deg"), ["--angle: 90 deg", "less than 90 deg"]),
    ((*RAMP, "--angle", "0 deg"), ["--angle: 0 deg", "greater than 0 deg"]),
    ((*RAMP, "--speed", 0), ["--speed: 0", "greater than 0 m/s"]),
    ((*RAMP, "--chaser-mass", "-15 kg"), ["--chaser-mass: -15 kg", "greater than 0 kg"]),
    ((*RAMP, "--target-mass", "1 m"), ["--target-mass: 1 m", "must be a mass"]),
    ((*RAMP, "--stiffness", 0), ["--stiffness: 0", "greater than 0 N/m"]),
    ((*RAMP, "--friction", -0.1), ["--friction: -0.1", "at least 0"]),
    ((*RAMP, "--friction", 2.2), ["--friction: 2.2", "must be less than 1/tan(angle) = 2.14451", "jams"]),
    ((*RAMP, "--angle", "45 deg", "--friction", 1), ["--friction: 1", "less than 1/tan(angle) = 1", "jams"]),
    ((*RAMP, "--preload", "-1 N"), ["--preload: -1 N", "at least 0 N"]),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_bad_input_is_one_clear_line(impact, arguments, words):
    ended = impact(*arguments, "--json")
    ended.check_refused(*words)
    assert ended.stderr.startswith("error: ")


@pytest.mark.parametrize("arguments", [("multibody", "--speed", 1), ("multibody", "--masses", 1, 2, 3), ("latch",)])
def test_what_is_missing_is_said(impact, arguments):
    code, out, err = impact(*arguments)
    assert (code, out) == (cli.BAD_INPUT, "")
    assert "Traceback" not in err and "--" in err


# --- what is documented ---------------------------------------------------------------------------------------------


def test_every_key_is_documented(answer):
    listed = re.findall(r"`(\w+)`", (DOCS / "impact.md").read_text(encoding="utf-8"))
    assert not {*answer(*MULTIBODY), *answer(*RAMP)} - set(listed)
