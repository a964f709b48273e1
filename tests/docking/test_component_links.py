"""Bodies by finite elements that joints hold, and that hold others: beside a monolithic integration, and balances."""

import numpy as np
import pytest
from component_cases import vehicle
from finite_elements import boom, frame_model
from mechanism_cases import energy_error, momentum_error, simulated
from monolithic_docking import struck_by_spring
from scipy.linalg import block_diag, null_space

COUNT, HUB, ARM = 6, 3.0, 2.0  # bars of each, their lengths, m
HINGE, CAP, BLOCK = 4e3, 6.0, 40.0  # N m, kg, kg
REACH, RADIUS = 0.15, 0.02  # m, of the cap's centre from the arm's end, and of the ball on it
STIFF, SPEED, GAP = 2e5, 0.1, 1e-4  # N/m, m/s, m


def models():
    """Nodes, mass and stiffness of a hub along x with a lump, and of an arm that goes on along y from its end."""
    nodes, bars = boom(COUNT, HUB)
    hub = nodes, *frame_model(nodes, bars, radius=0.06, lumps=[(1, 150.0, 40.0)])
    along = np.stack([np.zeros(COUNT + 1), np.linspace(0, ARM, COUNT + 1), np.zeros(COUNT + 1)], axis=1)
    arm = along, *frame_model(along, bars, radius=0.04, lumps=[(3, 4.0, 0.3)])
    return hub, arm


def jointed(folder, **flexible):
    """The arm on the hub's end by a hinge along z with a spring, a rigid cap locked to its end, and a block that strikes it."""
    hub, arm = models()
    base, centre = vehicle(*hub, {"bus": 1, "end": COUNT}, folder, "hub", modes=20, **flexible)
    link, own = vehicle(*arm, {"root": 0, "tip": COUNT}, folder, "arm", modes=20, **flexible)
    hinge = hub[0][COUNT] - centre
    far = np.array([0.0, ARM + REACH, 0.0])
    joint = {"kind": "revolute", "position": hinge.tolist(), "axis": [0.0, 0.0, 1.0], "stiffness": HINGE}
    cap = {
        "on": "arm",
        "mass": CAP,
        "inertia": [0.05, 0.04, 0.06],
        "position": (far - own).tolist(),
        "joint": {"kind": "locked", "position": (arm[0][COUNT] - own).tolist()},
        "feature": {"ball": {"position": [0.0, 0.0, 0.0], "radius": RADIUS}},
    }
    face = {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}
    block = {
        "mass": BLOCK,
        "inertia": [1.0, 1.0, 1.0],
        "position": (hinge + far + [RADIUS + GAP, 0.0, 0.0]).tolist(),
        "velocity": [-SPEED, 0.0, 0.0],
        "surface": {"face": face},
    }
    on_hub = {"on": "hub", "position": (hinge + own).tolist(), "joint": joint}
    return {
        "schema": 2,
        "duration": 0.06,
        "body": {"hub": base, "arm": link | on_hub, "cap": cap, "block": block},
        "contact": {
            "hit": {
                "between": ["ball", "face"],
                "normal": {"law": "spring-dashpot", "stiffness": STIFF, "damping": 0.0},
            }
        },
        "output": {"interval": 2e-4},
    }


def whole_model():
    """Mass and stiffness of hub, arm, cap and the block's place along x in one, the row of the gap, and the block's number."""
    (_, *hub), (_, *arm) = models()
    cap = np.diag([CAP] * 3 + [0.05, 0.04, 0.06])
    mass = block_diag(hub[0].toarray(), arm[0].toarray(), cap, [[BLOCK]])
    stiffness = block_diag(hub[1].toarray(), arm[1].toarray(), np.zeros((7, 7)))
    end, root, tip, body = 6 * COUNT, 6 * (COUNT + 1), 6 * (2 * COUNT + 1), 12 * (COUNT + 1)
    spring = np.zeros(len(mass))
    spring[end + 5], spring[root + 5] = -1.0, 1.0
    stiffness += HINGE * np.outer(spring, spring)
    same = np.zeros((11, len(mass)))
    for number in range(5):  # all but the turn about z
        same[number, end + number], same[number, root + number] = -1.0, 1.0
    lever = np.cross(np.eye(3), [0.0, REACH, 0.0])  # each row: what a turn about that axis does to the cap's place
    same[5:, body : body + 6], same[5:, tip : tip + 6] = np.eye(6), -np.eye(6)
    same[5:8, tip + 3 : tip + 6] -= lever.T
    free, row = null_space(same), np.zeros(len(mass))
    row[body], row[-1] = 1.0, -1.0
    return free.T @ mass @ free, free.T @ stiffness @ free, row @ free, free


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("links")


def test_what_a_jointed_link_carries_is_struck_as_monolithic_finite_elements_are(load, folder):
    """Small turns, all modes up to 1.5 kHz: the history of the force within 1 % of its peak."""
    data = simulated(load, jointed(folder, up_to=1500.0))
    mass, stiffness, row, free = whole_model()
    start = np.zeros(len(free))
    start[-1] = -SPEED
    begun = np.linalg.solve(mass, free.T @ (np.concatenate([np.zeros(len(free) - 1), [BLOCK]]) * start))
    step, count = 5e-6, 12000
    force = struck_by_spring(mass, stiffness, begun, row, GAP, STIFF, step, count)
    seen = np.linalg.norm(data.contact_force.values[:, 0], axis=-1)
    expected = np.interp(data.time.values[1:], step * np.arange(1, count + 1), force)
    assert float(data.episode_peak_force.max()) == pytest.approx(force.max(), rel=0.01)
    np.testing.assert_allclose(seen[1:], expected, rtol=0, atol=0.01 * force.max())
    assert momentum_error(data) < 1e-10
    assert energy_error(data) < 1e-6


def test_a_link_that_turns_keeps_momenta_and_energy(load, folder):
    case = jointed(folder, up_to=200.0, damping_ratio=0.01)
    case["body"]["hub"]["rate"] = [0.1, 0.2, 0.3]
    case["body"]["arm"]["joint"] |= {"start_rate": -0.5, "damping": 2.0, "stiffness": 50.0}
    data = simulated(load, case | {"duration": 1.0, "output": {"interval": 0.01}})
    assert np.abs(data.joint_angle.values).max() > 0.1
    assert float(data.episode_peak_force.max()) > 100.0
    assert momentum_error(data) < 1e-10
    assert energy_error(data) < 1e-6
