"""Control of a body of a mechanism: beside free flight, closed forms, an independent integration, balances, campaigns."""

import copy

import numpy as np
import pytest
from mechanism_cases import PARTS, quaternion, simulated
from plain_tables import by_name, contacts_by_name
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import dockdyn

CHASER = {
    "mass": 300.0,
    "inertia": [[60.0, 5.0, -8.0], [5.0, 80.0, 4.0], [-8.0, 4.0, 90.0]],
    "position": [2.1, 0.1, 0.05],
    "velocity": [-0.1, 0.02, 0.0],
    "rate": [0.05, -0.1, 0.08],
    "feature": {"tip": {"position": [-1.0, 0.0, 0.0]}},
}
TARGET = {
    "mass": 800.0,
    "inertia": [200.0, 250.0, 300.0],
    "position": [0.0, 0.0, 0.0],
    "rate": [0.01, -0.02, 0.03],
    "surface": {"plate": {"shape": "plane", "point": [1.0, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}},
}
PRESS = {
    "normal": {"law": "spring-dashpot", "stiffness": 2000.0, "damping": 60.0},
    "friction": {"law": "coulomb", "coefficient": 0.2, "regularisation": 5e-3},
}
HOLD = {
    "law": "attitude-hold",
    "base_stiffness": 40.0,
    "base_damping": 30.0,
    "attitude": [1.0, 0.0, 0.0, 0.0],
    "base_limit": 2.0,
    "base_capacity": 6.0,
    "thruster_torque": 1.5,
    "position_stiffness": 5.0,
    "velocity_damping": 60.0,
    "position": [0.0, 0.0, 0.0],
    "velocity": [-0.02, 0.0, 0.0],
    "thruster_force": 20.0,
    "thruster_impulse": 150.0,
}
JETS = [
    {"position": [-1.0, y, z], "direction": direction, "force": 8.0}
    for y, z in ((0.5, 0.5), (-0.5, 0.5), (0.5, -0.5), (-0.5, -0.5))
    for direction in ([1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0], [0, 0, 1.0], [0, 0, -1.0])
]
CONTROL_PARTS = (
    "wheel_momentum",
    "thruster_impulse",
    "thruster_turning_impulse",
    "thruster_use",
    "control_work",
    "attitude_error",
    "wheel_torque",
)


def shared(control, **keys):
    """What scenarios have in common: a tumbling chaser that is pressed against a plate, with delay."""
    return {
        "schema": 2,
        "duration": 6.0,
        "control": control,
        "loop": {"delay": 0.02},
        "output": {"interval": 0.05},
    } | keys


def mechanism(control, **keys):
    contact = {"between": ["tip", "plate"], **PRESS}
    bodies = {"chaser": {**CHASER}, "target": {**TARGET}}
    placed = {"body": "chaser", **control}
    return copy.deepcopy({"body": bodies, "contact": contacts_by_name([contact]), **shared(placed, **keys)})


def at_port(points):
    """A chaser that is held before a target that turns: its tip before the plate, or before a point on that, as `points`."""
    chaser = CHASER | {"feature": {"tip": {"position": [-1.0, 0.1, 0.0]}}, "attitude": quaternion([0.1, 0, 0.2])}
    chaser |= {"position": [3.0, 0.1, 0.05]}
    control = {key: HOLD[key] for key in ("law", "base_stiffness", "base_damping", "position_stiffness")}
    control |= {
        "frame": "port",
        "velocity_damping": 60.0,
        "position": [0.5, 0.05, 0.0],
        "attitude": quaternion([0.1, 0, 0]),
    }
    contact = {"between": ["tip", "plate"], **PRESS}
    bodies = [{"name": "chaser", **chaser}, {"name": "target", **TARGET}]
    for key in ("position", "velocity", "attitude", "rate"):
        bodies[0].pop(key)
    approach = {"of": "tip", "to": "plate", "axis": [-1.0, 0.0, 0.0]}
    if points:
        bodies[0]["port"] = {"nose": {"position": [-1.0, 0.1, 0.0], "axis": [-1.0, 0, 0]}}
        bodies[1]["port"] = {"berth": {"position": [1.0, 0.0, 0.0], "axis": [1.0, 0, 0]}}
        approach = {"of": "nose", "to": "berth"}
    found = {"body": by_name(bodies), "contact": contacts_by_name([contact])}
    approach |= {"distance": 1.0, "closing_speed": 0.02, "lateral_offset": [0.1, -0.1], "pitch": 0.1, "roll_rate": 0.02}
    return copy.deepcopy(found | shared(control, approach=approach, duration=20.0))


@pytest.mark.full
def test_a_tip_before_a_surface_is_a_point_before_a_port(load):
    """The body that approaches is steered and its target is what it approaches, where nothing else is said."""
    one, other = (simulated(load, at_port(points)) for points in (False, True))
    for name in (*PARTS, *CONTROL_PARTS):
        np.testing.assert_allclose(other[name], one[name], rtol=0, atol=1e-8, err_msg=name)
    assert float(abs(other.attitude_error[-1]).max()) < float(abs(other.attitude_error[0]).max())


def hinged(**control):
    """A bus and a panel on a hinge about z, in a plane; the attitude of the bus is held."""
    bus = {"mass": 80.0, "inertia": [20.0, 25.0, 30.0], "rate": [0.0, 0.0, 0.05]}
    panel = {
        "mass": 12.0,
        "inertia": [3.0, 1.0, 4.0],
        "on": "bus",
        "position": [0.6 + 0.9, 0.0, 0.0],
        "joint": {
            "kind": "revolute",
            "position": [0.6, 0.0, 0.0],
            "axis": [0, 0, 1],
            "start": 0.2,
            "stiffness": 6.0,
            "damping": 0.8,
        },
    }
    hold = {"law": "attitude-hold", "base_stiffness": 9.0, "base_damping": 12.0, "body": "bus"}
    return {
        "schema": 2,
        "duration": 20.0,
        "body": {"bus": bus, "panel": panel},
        "control": hold | control,
        "output": {"interval": 0.1},
    }


def of_the_plane(times, body="bus"):
    """Angles of the bus and of the panel (rad) by Lagrange's equations of the two about their centre of mass."""
    reduced, a, b = 80.0 * 12.0 / 92.0, 0.6, 0.9

    def rates(_, x):
        theta, psi, turning, swinging = x
        off = psi - theta
        coupling = reduced * a * b
        mass = np.array(
            [[30.0 + reduced * a**2, coupling * np.cos(off)], [coupling * np.cos(off), 4.0 + reduced * b**2]]
        )
        hinge = -6.0 * off - 0.8 * (swinging - turning)
        held, rate = (theta, turning) if body == "bus" else (psi, swinging)
        torque = -9.0 * held - 12.0 * rate
        loads = np.array([-hinge, hinge]) + (np.array([torque, 0.0]) if body == "bus" else np.array([0.0, torque]))
        loads += coupling * np.sin(off) * np.array([swinging**2, -(turning**2)])
        return [turning, swinging, *np.linalg.solve(mass, loads)]

    start = [0.0, 0.2, 0.05, 0.05]
    return solve_ivp(rates, (0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-14).y


@pytest.mark.full
@pytest.mark.parametrize("body", ["bus", "panel"])
def test_a_hinged_panel_swings_as_lagrange_says(load, body):
    """With the attitude of the root held, or that of the link: the wheel's momentum is what the bodies have lost."""
    attitude = [1.0, 0.0, 0.0, 0.0]
    data = simulated(load, hinged(body=body, attitude=attitude))
    wanted = of_the_plane(data.time.values, body)
    turns = Rotation.from_quat(data.attitude.values.reshape(-1, 4), scalar_first=True).as_rotvec().reshape(-1, 2, 3)
    np.testing.assert_allclose(turns[:, :, 2], wanted[:2].T, rtol=0, atol=1e-9)
    held = 0 if body == "bus" else 1
    np.testing.assert_allclose(data.attitude_error.values[:, 2], turns[:, held, 2], rtol=0, atol=1e-12)
    assert dockdyn.summarise(data)["angular_momentum_error"] < 1e-12
    change = data.kinetic_energy + data.internal_energy - data.work - data.control_work
    np.testing.assert_allclose(change, change[0], rtol=0, atol=1e-11)
    assert data.attrs["steered_body"] == body


def test_a_welded_body_is_held_as_the_whole(load):
    """A place is reached by a damped oscillator of the whole mass, where the force is on the common centre of mass."""
    part = {"mass": 40.0, "inertia": [5.0, 6.0, 7.0]}
    bodies = {
        "left": {**part, "on": "core", "position": [0.5, 0.2, 0.0], "joint": {"kind": "locked"}},
        "core": {**part, "position": [0.3, -0.2, 0.1], "velocity": [0.0, 0.02, 0.0]},
        "right": {**part, "on": "core", "position": [-0.5, -0.2, 0.0], "joint": {"kind": "locked"}},
    }
    control = {"law": "rate-damping", "body": "core", "base_damping": 5.0, "position_stiffness": 3.0}
    control |= {"velocity_damping": 12.0, "position": [0.0, 0.0, 0.0]}
    case = {"schema": 2, "duration": 30.0, "body": bodies, "control": control}
    data = simulated(load, case)
    frequency, decay = np.sqrt(3.0 / 120.0), 12.0 / 240.0
    damped, time = np.sqrt(frequency**2 - decay**2), data.time.values
    for axis, (place, speed) in enumerate(((0.3, 0.0), (-0.2, 0.02), (0.1, 0.0))):
        wave = place * np.cos(damped * time) + (speed + decay * place) / damped * np.sin(damped * time)
        np.testing.assert_allclose(data.position[:, 1, axis], np.exp(-decay * time) * wave, rtol=0, atol=1e-9)
