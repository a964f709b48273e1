"""Coulomb's friction, regularised, against how far and how long a body slides."""

import numpy as np
import pytest
from law_bounces import DURATION, SMOOTH, reduced
from plain_tables import by_name, contacts_by_name
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from sticking_ball import ball_on_plane

import dockdyn


@pytest.mark.full
def test_sliding_distance_between_two_rails(run):
    """Pressed between two parallel planes by N on either side, the chaser slides: m v̇ = −2 μ N v / √(v² + ε²).

    So √(v² + ε²) dv = −a dx and √(v² + ε²)/v dv = −a dt with a = 2 μ N / m: distance and time are known at any speed.
    """
    masses, speed, stiffness, overlap = (600.0, 1800.0), 0.05, 9000.0, 0.004
    friction, smoothing = 0.27, 1.5e-3
    turn = Rotation.from_rotvec([0.8, -0.4, 1.3])
    attitude = turn.as_quat(scalar_first=True)
    along = turn.apply([1.0, 0.0, 0.0])
    start = np.array([0.2, -0.1, 0.4])

    def rail(name, side):
        contact = {
            "between": [f"{name}-shoe", f"{name}-rail"],
            "normal": {"law": "spring-dashpot", "stiffness": stiffness},
            "friction": {"law": "coulomb", "coefficient": friction, "regularisation": smoothing},
        }
        shoe = {"name": f"{name}-shoe", "position": [0.0, side * 0.3, 0.0]}
        plane = {
            "name": f"{name}-rail",
            "shape": "plane",
            "point": [0.0, side * (0.3 - overlap), 0.0],
            "normal": [0.0, -side, 0.0],
        }
        return contact, shoe, plane

    sides = [rail("upper", 1.0), rail("lower", -1.0)]
    dataset = run(
        {
            "duration": DURATION,
            "chaser": {
                "mass": masses[0],
                "inertia": [80, 90, 100],
                "position": start,
                "velocity": 0.75 * speed * along,
                "attitude": attitude,
                "feature": by_name([shoe for _, shoe, _ in sides]),
            },
            "target": {
                "mass": masses[1],
                "inertia": [200, 150, 180],
                "position": start,
                "velocity": -0.25 * speed * along,
                "attitude": attitude,
                "surface": by_name([plane for *_, plane in sides]),
            },
            "contact": contacts_by_name([contact for contact, *_ in sides]),
            "output": {"interval": 0.1},
        }
    )
    deceleration = 2 * friction * stiffness * overlap / reduced(masses)

    def primitive(v):  # of √(v² + ε²)
        return (v * np.hypot(v, smoothing) + smoothing**2 * np.arcsinh(v / smoothing)) / 2

    def clock(v):  # of √(v² + ε²) / v
        return np.hypot(v, smoothing) - smoothing * np.arcsinh(smoothing / v)

    relative = dataset.velocity.values[:, 0] - dataset.velocity.values[:, 1]
    offset = dataset.position.values[:, 0] - dataset.position.values[:, 1]
    for i in (5, 11, 12, -1):  # sliding, slowing, creeping, and as good as stopped
        time = float(dataset.time[i])
        left = np.exp(brentq(lambda u, t=time: clock(speed) - clock(np.exp(u)) - deceleration * t, -300, np.log(speed)))
        distance = (primitive(speed) - primitive(left)) / deceleration
        assert relative[i] @ along == pytest.approx(left, abs=SMOOTH * speed)
        assert offset[i] @ along == pytest.approx(distance, rel=SMOOTH)
    assert relative[-1] @ along < smoothing / 100, "it was meant to stop"
    assert dataset.normal_force.values == pytest.approx(stiffness * overlap, rel=1e-12)
    # almost the textbook's v² / (2 a): the regularisation adds ε² (ln(2 v / ε) + 1/2) / (2 a)
    textbook = (speed**2 + smoothing**2 * (np.log(2 * speed / smoothing) + 0.5)) / (2 * deceleration)
    assert offset[-1] @ along == pytest.approx(textbook, rel=1e-5)


@pytest.mark.full_cases("turning0")
@pytest.mark.parametrize("turning", [{}, {"rolling": 1e-3, "spinning": 1e-3}])
def test_what_pulls_does_not_rub(load, turning):
    """A ball that slides leaves a plate that adheres: as the plate presses it is slowed, as it pulls nothing changes it."""
    friction = {"law": "coulomb", "coefficient": 0.1, "regularisation": 2e-3, **turning}
    law = {"law": "spring-dashpot", "stiffness": 3e5, "damping": 300.0, "adhesion": True}
    tables = ball_on_plane([2.0, 0.0, -0.4], [1.0, -3.0, 2.0], law, friction)
    run = dockdyn.simulate(load(tables | {"duration": 0.02, "output": {"interval": 1e-5}}))
    pulls = np.flatnonzero(run.normal_force.values[:, 0] < 0)
    assert len(pulls) > 50
    ball = run.sel(body="ball")
    for motion in (ball.velocity.values[:, :2], ball.rate.values):
        assert np.linalg.norm(motion[0] - motion[pulls[0]]) > 0.02 * np.linalg.norm(motion[0])
        late = motion[pulls]
        turned = np.linalg.norm(late, axis=1)
        assert turned == pytest.approx(turned[0], rel=1e-9)
    assert np.diff(run.contact_loss.values[:, 0]).min() > -1e-12
