"""Scenarios of several bodies for tests of the kind `mechanism`, and how a run of one is judged."""

import copy
import operator
from functools import reduce

import numpy as np
from scipy.spatial.transform import Rotation

import dockdyn

PARTS = ("position", "velocity", "attitude", "rate")


def quaternion(rotation):
    """Attitude, scalar first, of a rotation vector (rad)."""
    return Rotation.from_rotvec(rotation).as_quat(scalar_first=True).tolist()


def pressing(stiffness, exponent, damping, friction=0.2, regularisation=5e-3):
    """Hunt and Crossley's law and friction, as a contact states them."""
    return {
        "normal": {"law": "hunt-crossley", "stiffness": stiffness, "exponent": exponent, "damping": damping},
        "friction": {"law": "coulomb", "coefficient": friction, "regularisation": regularisation},
    }


ARM_PLACE, ARM_TURN = [1.0, 0.05, -0.02], [0.1, -0.05, 0.2]
FOUR = {
    "schema": 2,
    "duration": 6.0,
    "body": {
        "tug": {
            "mass": 400.0,
            "inertia": [[80.0, 5.0, -3.0], [5.0, 120.0, 4.0], [-3.0, 4.0, 130.0]],
            "position": [-2.6, 0.02, 0.03],
            "velocity": [0.15, 0.005, -0.004],
            "attitude": quaternion([0.05, -0.02, 0.03]),
            "rate": [0.01, -0.005, 0.008],
        },
        "arm": {
            "on": "tug",
            "mass": 40.0,
            "inertia": [[2.0, 0.1, 0.0], [0.1, 3.0, 0.2], [0.0, 0.2, 3.5]],
            "position": ARM_PLACE,
            "attitude": quaternion(ARM_TURN),
            "feature": {"tips": {"position": [0.3, 0.12, 0.02], "radius": 0.03, "copies": 3}},
            "port": {"wrist": {"position": [-0.2, 0.0, 0.0]}},
        },
        "target": {
            "mass": 700.0,
            "inertia": [[200.0, 10.0, 5.0], [10.0, 300.0, -8.0], [5.0, -8.0, 280.0]],
            "position": [0.0, 0.0, 0.0],
            "velocity": [0.01, -0.003, 0.002],
            "attitude": quaternion([-0.1, 0.05, 0.02]),
            "rate": [-0.01, 0.012, 0.004],
            "surface": {
                "dome": {"shape": "sphere", "centre": [-0.6, 0.02, 0.0], "radius": 0.4},
                "deck": {"shape": "plane", "point": [0.0, 0.5, 0.0], "normal": [0.1, 1.0, 0.05]},
            },
        },
        "visitor": {
            "mass": 60.0,
            "inertia": [6.0, 8.0, 9.0],
            "position": [0.1, 1.25, 0.1],
            "velocity": [0.02, -0.16, 0.01],
            "attitude": quaternion([0.1, 0.3, -0.05]),
            "rate": [0.02, 0.03, -0.05],
            "feature": {"feet": {"positions": [[0.2, -0.3, 0.05], [-0.2, -0.3, -0.05]], "radius": 0.04}},
        },
    },
    "contact": {
        "tips": {"between": ["tips", "dome"], **pressing(2e5, 1.5, 0.3)},
        "feet": {"between": ["feet", "deck"], **pressing(4e5, 2.0, 0.2)},
    },
    "bushing": {
        "mount": {
            "between": ["arm", "tug"],
            "position": [0.8, 0.0, 0.0],
            "attitude": quaternion([0.1, 0.2, -0.1]),
            "stiffness": [3000.0, 900.0, 1100.0],
            "turning_stiffness": [40.0, 90.0, 80.0],
            "damping": [150.0, 60.0, 50.0],
            "turning_damping": [2.0, 4.0, 5.0],
        }
    },
    "strut": {
        "tether": {
            "between": ["visitor", "tug"],
            "anchor": [[-0.1, 0.05, 0.0], [0.5, 0.4, 0.1]],
            "stiffness": 5.0,
            "damping": 1.0,
        },
        "rod": {
            "between": ["target", "visitor"],
            "anchor": [[0.4, 0.5, -0.2], [0.1, 0.0, 0.1]],
            "stiffness": 4.0,
            "damping": 0.5,
        },
    },
    "output": {"interval": 0.05},
}


def petals(x, inward):
    """A polyline of three edges that stands off a ring at `x` (m)."""
    return [[x, 0.28, -0.15], [x + inward, 0.25, -0.05], [x + inward, 0.25, 0.05], [x, 0.28, 0.15]]


THREE = {
    "schema": 2,
    "duration": 5.0,
    "loop": {"delay": 0.02},
    "approach": {
        "of": "ring.face",
        "to": "target.port",
        "distance": 0.22,
        "closing_speed": 0.1,
        "lateral_offset": [0.03, -0.02],
        "lateral_velocity": [0.004, -0.006],
        "pitch": 0.03,
        "roll": 0.05,
        "yaw_rate": 0.01,
    },
    "body": {
        "chaser": {"mass": 500.0, "inertia": [80.0, 100.0, 110.0]},
        "ring": {
            "on": "chaser",
            "mass": 25.0,
            "inertia": [2.0, 1.5, 1.4],
            "position": [1.0, 0.0, 0.0],
            "feature": {
                "petals": {"shape": "edge", "points": petals(0.0, 0.06), "radius": 0.004, "copies": 3},
                "tip": {"position": [0.12, 0.01, 0.0], "radius": 0.02},
            },
            "port": {"face": {"position": [0.0, 0.0, 0.0], "axis": [1, 0, 0]}},
        },
        "target": {
            "mass": 900.0,
            "inertia": [300.0, 400.0, 410.0],
            "velocity": [0.02, -0.01, 0.0],
            "rate": [0.01, 0.004, -0.006],
            "feature": {"petals": {"shape": "edge", "points": petals(1.0, 0.06), "radius": 0.004, "copies": 3}},
            "surface": {
                "drogue": {
                    "shape": "cone",
                    "apex": [0.8, 0, 0],
                    "axis": [1, 0, 0],
                    "half_angle": 0.7,
                    "rim_radius": 0.15,
                }
            },
            "port": {"port": {"position": [1.0, 0.0, 0.0], "axis": [1, 0, 0]}},
        },
    },
    "contact": {
        "petals": {"between": ["ring.petals", "target.petals"], **pressing(2e4, 1.0, 1.0)},
        "probe": {"between": ["tip", "drogue"], **pressing(1e4, 1.5, 0.5)},
    },
    "strut": {
        "struts": {
            "between": ["ring", "chaser"],
            "hexapod": {"ring_radius": 0.3, "base_radius": 0.35, "ring_spread": 0.3, "base_position": [0.7, 0.0, 0.0]},
            "stiffness": 4000.0,
            "damping": 60.0,
            "slip": 25.0,
        }
    },
    "output": {"interval": 0.05},
}


def changed(case, **keys):
    """A case of its own with tables or numbers of the top level replaced."""
    return copy.deepcopy(case) | keys


def at(case, values):
    """A case of its own with values at paths such as `contact.tips.between.0`; None takes a key away."""
    found = copy.deepcopy(case)
    for path, value in values.items():
        *way, last = [int(key) if key.isdecimal() else key for key in path.split(".")]
        inner = reduce(operator.getitem, way, found)
        if value is None:
            del inner[last]
        else:
            inner[last] = copy.deepcopy(value)
    return found


def moved(case, turn=(0.0, 0.0, 0.0), shift=(0.0, 0.0, 0.0), boost=(0.0, 0.0, 0.0)):
    """The same scene turned (rad) about the origin, shifted (m) and seen from a frame that moves (m/s)."""
    found = copy.deepcopy(case)
    rotation = Rotation.from_rotvec(turn)
    for body in found["body"].values():
        if "on" in body:
            continue
        attitude = Rotation.from_quat(body.get("attitude", [1, 0, 0, 0]), scalar_first=True)
        body["attitude"] = (rotation * attitude).as_quat(scalar_first=True).tolist()
        body["position"] = (rotation.apply(body.get("position", [0, 0, 0])) + shift).tolist()
        body["velocity"] = (rotation.apply(body.get("velocity", [0, 0, 0])) + boost).tolist()
    return found


def energy_error(data) -> float:
    """Largest error of kinetic and internal energy less work, of the largest of them."""
    parts = [data[name].values for name in ("kinetic_energy", "internal_energy", "work")]
    total = parts[0] + parts[1] - parts[2]
    return float(np.abs(total - total[0]).max() / max(np.abs(part).max() for part in parts))


def momentum_error(data) -> float:
    """Largest error of linear and of angular momentum, of their scales."""
    return max(
        float(np.abs(data[name] - data[name][0]).max() / data[f"{name}_scale"].max())
        for name in ("linear_momentum", "angular_momentum")
    )


def motion(data):
    """All that moves, a row for each sample, quaternions with one sign."""
    rows = {name: data[name].values for name in PARTS}
    rows["attitude"] = rows["attitude"] * np.where(rows["attitude"][..., :1] < 0, -1, 1)
    return rows


def simulated(load, case, overrides=None):
    """A finished run of a case."""
    data = dockdyn.simulate(load(case, overrides))
    assert data.attrs["finished"]
    return data
