"""Presets of mechanisms do what their titles say: they capture, or cage, and keep both momenta and energy."""

import numpy as np
import pytest
from scipy.signal import periodogram
from scipy.spatial.transform import Rotation

import dockdyn


def attitude(dataset, body):
    return Rotation.from_quat(dataset.attitude.sel(body=body).values, scalar_first=True)


def seen_from(dataset, body, places):
    """Inertial places (times, 3) in the axes of a body, m."""
    return attitude(dataset, body).inv().apply(places - dataset.position.sel(body=body).values)


def check_balances(dataset):
    summary = dockdyn.summarise(dataset)
    assert summary["status"] == "finished"
    assert max(summary["linear_momentum_error"], summary["angular_momentum_error"]) < 1e-9
    assert summary["work_energy_error"] < 1e-6
    return summary


@pytest.mark.full_cases("sprung-probe-latch")
@pytest.mark.parametrize(
    "name",
    [
        "soyuz-like-probe",
        "sprung-probe-latch",
        pytest.param("nozzle-capture", marks=pytest.mark.full),
        pytest.param("apas-like", marks=pytest.mark.full),
        pytest.param("berthing-mechanism", marks=pytest.mark.full),
    ],
)
def test_a_mechanism_captures(name):
    dataset = dockdyn.simulate(dockdyn.load(name))
    assert check_balances(dataset)["captured"]
    assert not np.isnan(dataset.phase_began.values[1:] if "phase_began" in dataset else 0).any()


@pytest.mark.full
def test_soft_capture_goes_through_its_phases():
    """Also without any misalignment the rings touch first; then all latches fall in, and the ring is pulled back."""
    dataset = dockdyn.simulate(dockdyn.load("idss-soft-capture"))
    ready, lunge, attenuate, retract = dataset.phase_began.values
    assert ready < lunge == dataset.episode_onset.values[0] < attenuate == dataset.capture_time < retract
    assert dataset.outcome_is_open == 0


@pytest.mark.full
def test_jaws_cage_the_ring():
    """At the end the tube is between the jaws, and each jaw reaches past its middle."""
    dataset = dockdyn.simulate(dockdyn.load("adapter-gripper"))
    check_balances(dataset)
    angle = np.linspace(0, 2 * np.pi, 20_001)
    circle = np.stack([np.full_like(angle, 0.9), 0.597 * np.cos(angle), 0.597 * np.sin(angle)], axis=1)  # m, client
    places = dataset.position.sel(body="client").values[-1] + attitude(dataset, "client")[-1].apply(circle)
    end = dataset.isel(time=slice(-1, None))
    tube = seen_from(end, "servicer", places)
    tube = tube[np.argmin(np.linalg.norm(tube - [1, 0, 0], axis=1))]
    upper, lower = (
        seen_from(end, "servicer", end.position.sel(body=f"{side}-jaw").values)[0] for side in ("upper", "lower")
    )
    assert lower[1] < tube[1] < upper[1]
    assert upper[1] - 0.04 < tube[1] < lower[1] + 0.04  # tips of the jaws
    assert max(abs(one[0] - tube[0]) for one in (upper, lower)) < 0.04 - 0.018


@pytest.mark.full
def test_solar_arrays_swing_after_docking():
    """Near 0.2 Hz, with which the root held each bends out of its plane: faster, since the bus moves with them."""
    dataset = dockdyn.simulate(dockdyn.load("flexible-panels"))
    assert check_balances(dataset)["captured"]
    times = np.linspace(6, 20, 1000)  # s
    swing = np.interp(times, dataset.time.values, dataset.modal_coordinate.sel(mode="left-array bend1"))
    frequency, power = periodogram(swing, 1 / (times[1] - times[0]), "hann", nfft=65_536)
    assert 0.2 < frequency[np.argmax(power)] < 0.26
