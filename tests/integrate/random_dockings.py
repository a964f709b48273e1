"""Random dockings as scenarios, seen from elsewhere or with roles exchanged, and what a run says of their contacts.

Every random docking starts with a ball just off the wall of a cone, closing at a drawn speed, while both bodies, with
full inertia tensors, turn at up to 0.5 rad/s about any axis.
"""

import copy

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.scenario.language.units import SMALLEST

DURATION = 5.0  # s
INTERVAL = 0.1  # s, between samples


def examples(count):
    """Settings of a random test: the same `count` cases in every run, no time limit on any."""
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


# --- random dockings -------------------------------------------------------------------------------------------------


def vector(pick, most):
    """A vector at most `most` long."""
    return np.array([pick(-most, most) for _ in range(3)]) / 3**0.5


def rotation(pick):
    return Rotation.from_rotvec(vector(pick, np.pi * 3**0.5))


def quaternion(turn):
    return turn.as_quat(scalar_first=True)


def inertia(pick, mass):
    """A tensor that a body can have: masses at chosen distances (m) along turned axes."""
    spread = mass * np.array([pick(0.2, 0.8) for _ in range(3)]) ** 2
    turn = rotation(pick).as_matrix()
    tensor = turn @ np.diag(spread.sum() - spread) @ turn.T
    return (tensor + tensor.T) / 2


def docking(pick, law="spring-dashpot", delay=None, friction=None, frequency=None, damped=True):
    """A docking as a scenario; every number that is not given is `pick(low, high)`.

    `frequency` (rad/s) is that of the contact's spring with the reduced mass; the levers make contacts faster.
    """
    masses = np.exp([pick(np.log(200), np.log(5000)) for _ in range(2)])  # kg
    reduced = masses.prod() / masses.sum()
    frequency = pick(0.5, 3.0) if frequency is None else frequency
    rates = [vector(pick, 0.5), vector(pick, 0.5)]  # rad/s, body axes
    turns = [rotation(pick), rotation(pick)]
    origin, drift, tip = vector(pick, 2.0), vector(pick, 0.05), vector(pick, 1.5)

    frame = rotation(pick).as_matrix()  # columns: the cone's axis and two across
    apex, half_angle = vector(pick, 1.0), np.radians(pick(20, 60))
    around, distance = pick(0, 2 * np.pi), pick(0.3, 1.0)
    radius, closing = 0.05, pick(0.02, 0.05)
    gap = 0.01 * closing  # 10 ms away: the turning bodies' accelerations (1 m/s² at most) cannot turn it back
    outward = np.cos(around) * frame[:, 1] + np.sin(around) * frame[:, 2]
    along_wall = np.cos(half_angle) * frame[:, 0] + np.sin(half_angle) * outward
    normal = np.sin(half_angle) * frame[:, 0] - np.cos(half_angle) * outward
    centre = turns[1].apply(apex + distance * along_wall + (radius + gap) * normal)

    # the ball's velocity over the wall: closing, and sliding across
    slope = pick(0, 2 * np.pi)
    across = np.cos(slope) * along_wall + np.sin(slope) * np.cross(normal, along_wall)
    relative = turns[1].apply(pick(0, 0.05) * across - closing * normal)
    velocity = drift + np.cross(turns[1].apply(rates[1]), centre) + relative
    lever = turns[0].apply(tip)

    normal_law = {
        "spring-dashpot": lambda k: {
            "stiffness": k,
            "damping": 2 * pick(0, 0.3) * damped * k / frequency,
            "adhesion": False,
        },
        # at the depth of a few centimetres these are about as stiff
        "hertz": lambda k: {"stiffness": 5 * k, "exponent": 1.5},
        "hunt-crossley": lambda k: {"stiffness": 5 * k, "exponent": 1.5, "damping": pick(0, 20)},
        "force-stroke": lambda k: {
            "stroke": [0.0, 0.01, 0.03],
            "force": [0.0, 0.012 * k, 0.03 * k],
            "unloading_force": [0.0, 0.005 * k, 0.03 * k],
            "bottoming_stiffness": 2 * k,
            "preload": pick(0, 0.003) * k,
            "damping": pick(0, 0.2) * k / frequency,
        },
    }[law](reduced * frequency**2)
    coefficient = pick(0, 0.4) if friction is None else friction
    return {
        "duration": DURATION,
        "chaser": {
            "mass": masses[0],
            "inertia": inertia(pick, masses[0]),
            "position": origin + centre - lever,
            "velocity": velocity - np.cross(turns[0].apply(rates[0]), lever),
            "attitude": quaternion(turns[0]),
            "rate": rates[0],
            "feature": {"tip": {"position": tip, "radius": radius}},
        },
        "target": {
            "mass": masses[1],
            "inertia": inertia(pick, masses[1]),
            "position": origin,
            "velocity": drift,
            "attitude": quaternion(turns[1]),
            "rate": rates[1],
            "surface": {"cone": {"shape": "cone", "apex": apex, "axis": frame[:, 0], "half_angle": half_angle}},
        },
        "contact": {
            "tip": {
                "between": ["tip", "cone"],
                "normal": {"law": law, **normal_law},
                "friction": {"law": "coulomb", "coefficient": coefficient},
            }
        },
        "loop": {"delay": pick(0.005, 0.08) if delay is None else delay},
        "output": {"interval": INTERVAL},
    }


def drawn(draw):
    """`pick` for a random test; sizes that a scenario may not have are 0."""

    def pick(low, high):
        value = draw(st.floats(low, high, allow_subnormal=False))
        return 0.0 if abs(value) < SMALLEST else value

    return pick


@st.composite
def dockings(draw, **given):
    return docking(drawn(draw), **given)


@st.composite
def frames(draw):
    """A rotation, a shift (m) and a boost (m/s)."""
    pick = drawn(draw)
    return rotation(pick), vector(pick, 5.0), vector(pick, 1.0)


ONE_DOCKING = docking(np.random.default_rng(41).uniform)


CONTACT_KEYS = (
    "onset_s",
    "release_s",
    "position_m",
    "approach_speed_m_s",
    "peak_force_N",
    "peak_time_s",
    "impulse_N_s",
)


def contact_numbers(dataset):
    """Everything the summary says of the contacts, in one row, scaled to order one (times and lengths are so already)."""
    found = dockdyn.summarise(dataset)["contacts"]
    forces = max([contact["peak_force_N"] for contact in found], default=1.0)
    speeds = max([abs(contact["approach_speed_m_s"]) for contact in found], default=1.0)
    scales = dict.fromkeys(CONTACT_KEYS, 1.0) | {
        "peak_force_N": forces,
        "impulse_N_s": forces,
        "approach_speed_m_s": speeds,
    }
    row = [
        np.atleast_1d(np.array(contact[key] if contact[key] is not None else -1.0)) / scales[key]
        for contact in found
        for key in CONTACT_KEYS
    ]
    return np.concatenate(row) if row else np.zeros(0)


# --- frames, units, roles --------------------------------------------------------------------------------------------


def moved(content, turn, shift, boost):
    """The scene turned, shifted and set in uniform motion."""
    content = copy.deepcopy(content)
    for name in ("chaser", "target"):
        body = content[name]
        body["position"] = turn.apply(body["position"]) + shift
        body["velocity"] = turn.apply(body["velocity"]) + boost
        body["attitude"] = quaternion(turn * Rotation.from_quat(body["attitude"], scalar_first=True))
    return content


def swapped(content):
    """Chaser and target exchanged, with what they carry."""
    return content | {"chaser": content["target"], "target": content["chaser"]}
