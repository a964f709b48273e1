"""Measures of a rig's motion against closed forms: swings of known amplitude and phase, bounces of known restitution."""

import numpy as np
import pytest

from dockdyn.rig.measures import MeasuredMotion, motion_measures, recent_force

MASS, OMEGA = 500.0, 6.3  # kg, rad/s
TIME = np.linspace(0, 40, 40001)  # s
STEP = (OMEGA * 1e-3) ** 2 / 4  # twice what a chord between two samples takes from a peak


def swing(size, growth=0.0, omega=OMEGA, phase=0.0):
    """Position Re[−j size/ω exp((growth + j ω) t + j phase)] and what follows from it; one axis, leading lanes."""
    s = np.asarray(growth + 1j * omega)[..., None]
    z = -1j * np.asarray(size / omega)[..., None] * np.exp(s * TIME + 1j * np.asarray(phase)[..., None])
    return MeasuredMotion(*(values.real[..., None] for values in (z, s * z, MASS * s**2 * z)))


def test_a_swing_of_the_same_decay_shows_its_amplitude_and_phase():
    ideal, rig = swing(0.05, -0.05), swing(0.05 * 1.07, -0.05, phase=0.4)
    found = motion_measures(TIME, ideal, rig, OMEGA, bilateral=True)
    assert found["amplitude_ratio"] == pytest.approx(1.07, rel=0.02)  # whichever of its peaks the window has
    # atan2(ω X, V) is the phase but for the decay, which bends it by about (σ/ω) sin 2φ at most
    assert found["phase_error_rad"] == pytest.approx(0.4, abs=2 * 0.05 / OMEGA)
    assert found["ideal_restitution"] == pytest.approx(np.exp(-0.05 * np.pi / OMEGA), rel=STEP)


@pytest.mark.parametrize("ratio", [0.3, 1.0, 250.0])
def test_undamped_swings_are_measured_exactly(ratio):
    found = motion_measures(TIME, swing(0.05), swing(0.05 * ratio), OMEGA, bilateral=True)
    assert found["amplitude_ratio"] == pytest.approx(ratio, rel=1e-5)
    assert found["recovery_coefficient"] == pytest.approx(ratio, rel=1e-5)
    assert found["phase_error_rad"] == pytest.approx(0, abs=1e-9)
    force = MASS * OMEGA * 0.05  # N, largest of the ideal one
    assert found["peak_force_error_N"] == pytest.approx(force * (ratio - 1), rel=1e-5, abs=1e-9)
    assert found["end_force_error_N"] == pytest.approx(force * abs(ratio - 1), rel=1e-5, abs=1e-9)
    assert found["end_velocity_error_m_s"] == pytest.approx(0.05 * abs(ratio - 1), rel=1e-5, abs=1e-12)
    assert found["apparent_restitution"] == pytest.approx(1, rel=STEP)


def test_recovery_mixes_amplitude_and_phase_where_the_ratio_does_not():
    found = motion_measures(TIME, swing(0.05), swing(0.05 * 1.2, phase=0.5), OMEGA, bilateral=True)
    assert found["amplitude_ratio"] == pytest.approx(1.2, rel=1e-4)
    assert found["recovery_coefficient"] == pytest.approx(1.2 * np.cos(0.5), rel=1e-4)
    assert found["phase_error_rad"] == pytest.approx(0.5, abs=1e-9)
    # the difference of two pointers, 1.2 at 0.5 rad and 1
    apart = 0.05 * np.sqrt(1.2**2 + 1 - 2 * 1.2 * np.cos(0.5))
    assert found["end_velocity_error_m_s"] == pytest.approx(apart, rel=1e-4)


def test_phase_is_counted_over_many_turns():
    """A rig that swings 2 % faster is many radians ahead after 40 s, not folded into a turn."""
    found = motion_measures(TIME, swing(0.05), swing(0.05, omega=1.02 * OMEGA), OMEGA, bilateral=True)
    assert found["phase_error_rad"] == pytest.approx(0.02 * OMEGA * 40, abs=0.03)  # of an ellipse, not a circle


def test_lanes_are_measured_each_for_itself():
    sizes = np.array([0.5, 1.0, 2.0, 40.0])
    found = motion_measures(TIME, swing(0.05), swing(0.05 * sizes), np.full(4, OMEGA), bilateral=True)
    assert found["amplitude_ratio"] == pytest.approx(sizes, rel=1e-5)
    assert {name: values.shape for name, values in found.items()} == dict.fromkeys(found, (4,))


def bounce(before, after, begin, length, way=(1.0, 0.0, 0.0)):
    """A half-sine push along −`way` that turns `before` (m/s) into −`after`, with a steady drift across."""
    way = np.asarray(way)
    impulse = MASS * (before + after)
    inside = (TIME > begin) & (TIME < begin + length)
    force = np.where(inside, -impulse * np.pi / (2 * length) * np.sin(np.pi * (TIME - begin) / length), 0.0)
    done = np.clip((TIME - begin) / length, 0, 1)
    speed = before - (before + after) * (1 - np.cos(np.pi * done)) / 2
    place = np.concatenate([[0.0], np.cumsum((speed[1:] + speed[:-1]) / 2 * np.diff(TIME))])
    across = np.linalg.svd(way[None])[2][1] if way.size > 1 else np.zeros(1)
    return MeasuredMotion(
        np.outer(place, way) + np.outer(0.01 * TIME, across), np.outer(speed, way) + 0.01 * across, np.outer(force, way)
    )


@pytest.mark.parametrize("way", [(1.0,), (0.6, 0.0, -0.8)], ids=["one axis", "in space"])
def test_restitution_is_that_along_the_push(way):
    found = motion_measures(
        TIME, bounce(0.05, 0.04, 10, 1.0, way), bounce(0.05, 0.051, 10.02, 1.0, way), OMEGA, bilateral=False
    )
    assert found["ideal_restitution"] == pytest.approx(0.8, rel=1e-6)
    assert found["apparent_restitution"] == pytest.approx(1.02, rel=1e-6)
    assert np.isnan(found["phase_error_rad"])
    drift = 0.01 if len(way) > 1 else 0.0
    assert found["amplitude_ratio"] == pytest.approx(np.hypot(0.051, drift) / np.hypot(0.04, drift), rel=1e-6)
    assert found["end_force_error_N"] == 0  # both fly freely at the end
    assert found["end_velocity_error_m_s"] == pytest.approx(0.011, rel=1e-6)


def test_noise_on_the_force_does_not_hide_the_end_of_a_bounce():
    rig = bounce(0.05, 0.05, 10, 1.0, (1.0,))
    noise = 0.2 * np.random.default_rng(3).standard_normal(rig.force.shape)  # N, of a push of some 80 N
    noisy = MeasuredMotion(rig.position, rig.velocity, rig.force + noise)
    found = motion_measures(TIME, rig, noisy, OMEGA, bilateral=False)
    assert found["apparent_restitution"] == pytest.approx(1, abs=2e-3)
    assert found["amplitude_ratio"] == pytest.approx(1, rel=1e-9)


def test_rounding_in_free_flight_makes_no_peak():
    """Else the first instant after a bounce, when the rounded speed falls from there, is one across the corner before it."""
    ideal, rig = bounce(0.05, 0.04, 39.45, 0.05, (1.0,)), bounce(0.05, 0.051, 39.4, 0.1, (1.0,))
    for way in (-1e-12, 1e-12):
        rounded = MeasuredMotion(ideal.position, ideal.velocity * (1 + way * TIME[:, None]), ideal.force)
        found = motion_measures(TIME, rounded, rig, OMEGA, bilateral=False)
        assert found["recovery_coefficient"] == pytest.approx(0.051 / 0.04, rel=1e-9)


def test_what_is_not_there_is_nan():
    still = MeasuredMotion(*(np.zeros((len(TIME), 1)) for _ in range(3)))
    found = motion_measures(TIME, still, still, np.nan, bilateral=False)
    for name in ("amplitude_ratio", "recovery_coefficient", "apparent_restitution", "ideal_restitution"):
        assert np.isnan(found[name]), name
    pressed = bounce(0.05, 0.05, 39.5, 1.0, (1.0,))  # the run ends inside the push
    assert np.isnan(motion_measures(TIME, pressed, pressed, OMEGA, bilateral=False)["ideal_restitution"])


def test_a_force_too_large_for_its_square_is_infinite_and_says_nothing(recwarn):
    """NumPy's warning of the overflow came on the terminal of `dockdyn compare sits-fgc`."""
    found = recent_force(np.array([[1.0, 0, 0], [1e200, 0, 0], [0, 0, 0]]), 1.0, 1.0)
    assert found[:, 0].tolist() == [1.0, np.inf, np.inf] and not recwarn.list
    alone = recent_force(np.array([[1.0], [-1e200], [0.0]]), 1.0, 1.0)  # which needs no square
    assert alone[:, 0].tolist() == [1.0, 1e200, 1e200]
