"""The dataset of a run of the kind `orbital-arm`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from dockdyn.kinds.orbital_arm.schema import OrbitalArmSection
from dockdyn.results.attributes import run_attributes
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.tree import SCALAR

Layout = dict[str, tuple[tuple[str, ...], str, str]]  # name: (dimensions after time, units, long name)

VARIABLES: Layout = {
    "joint_angle": (("joint",), "SI", "angle or travel of joints: rad, m"),
    "joint_rate": (("joint",), "SI", "its rate"),
    "set_point": (("joint",), "SI", "what control holds it at"),
    "torque": (("joint",), "SI", "torque or force of control: N m, N"),
    "base_position": (
        ("axis",),
        "m",
        "position of the station's frame from the reference point, axes that do not turn",
    ),
    "base_attitude": (("quaternion",), "1", "attitude of the station, body to inertial, scalar first"),
    "base_rate": (("axis",), "rad/s", "angular velocity of the station, its axes"),
    "centre_position": (("axis",), "m", "centre of mass of all from the reference point"),
    "centre_velocity": (("axis",), "m/s", "its velocity against the reference point's"),
    "outline": (("link", "axis"), "m", "origins of link frames from the reference point"),
    "kinetic_energy": ((), "J", "kinetic energy of all against the reference point's motion"),
    "potential_energy": ((), "J", "energy in the tide of gravity about the reference point, and of springs in joints"),
    "work": ((), "J", "work of control, and of dampers in joints, since t = 0"),
    "orbit_invariant": (
        (),
        "J",
        "energy less mean motion times orbital angular momentum, which a circular orbit keeps",
    ),
    "linear_momentum": (("axis",), "N s", "linear momentum of all against the reference point's motion"),
    "angular_momentum": (("axis",), "N m s", "angular momentum of all about their centre of mass"),
    "gravity_impulse": (("axis",), "N s", "impulse since t = 0 of the tide of gravity on all"),
    "gravity_turning_impulse": (("axis",), "N m s", "angular impulse since t = 0 of it about their centre of mass"),
    "linear_momentum_scale": ((), "N s", "sum of the links' linear momenta by magnitude"),
    "angular_momentum_scale": ((), "N m s", "sum of the links' angular momenta by magnitude"),
    "phase": ((), "1", "index of the phase of control"),
    "latched": ((), "1", "whether the latch holds the payload"),
    "released": ((), "1", "whether the arm has let the payload go"),
    "newton_iterations": ((), "1", "corrections of Newton's method in the step that ends here"),
}
ATTITUDE: dict[bool, Layout] = {  # by whether it is planar
    True: {"theta": ((), "rad", "attitude of the station against the orbital frame")},
    False: {"attitude_error_orbit": ((), "rad", "angle between the station and its start in the orbital frame")},
}
CONTACT: Layout = {
    "contact_place": (("point", "axis"), "m", "points that touch, station axes"),
    "gap": (("contact",), "m", "distance of a point from a surface, negative is overlap"),
}
# name: (units, long name)
EVENTS = {
    "event_time": ("s", "time of the event"),
    "event_contact": ("1", "index of the contact; −1 for what no contact did"),
    "approach_speed": ("m/s", "approach speed before"),
    "impulse_normal": ("N s", "impulse along the normal"),
    "impulse_tangential": ("N s", "impulse across it, its size"),
    "energy_loss": ("J", "energy that it took"),
}


@dataclass
class Motion:
    """What integration left, in NumPy arrays."""

    time: Any  # s
    seen: dict[str, Any]  # observed at those times
    events: dict[str, Any]  # the columns of EVENTS
    what: list[str]  # impact, latch, part, release, phase
    status: str
    finished: bool
    facts: dict[str, Any]  # further attributes


def labels(content: OrbitalArmSection) -> tuple[list[str], list[str]]:
    """Names of the points that touch, and of the contacts, each point with every surface."""
    if content.contact is None:
        return [], []
    link, count = content.contact.link, len(content.contact.points)
    points = [link] if count == 1 else [f"{link} {number}" for number in range(1, count + 1)]
    return points, [f"{point}/{surface}" for point in points for surface in content.contact.names()]


def dataset_of(scenario: Scenario, motion: Motion, wall_time: float) -> xr.Dataset:
    """The dataset of a run."""
    content = scenario.content
    layout = VARIABLES | ATTITUDE[content.planar] | (CONTACT if content.contact is not None else {})
    data: dict[str, Any] = {
        name: (("time", *dims), motion.seen[name], {"units": units, "long_name": words})
        for name, (dims, units, words) in layout.items()
    }
    data |= {n: (("event",), motion.events[n], {"units": u, "long_name": w}) for n, (u, w) in EVENTS.items()}
    data["what"] = (("event",), np.array(motion.what, dtype=str), {"units": "1", "long_name": "what happened"})
    joints = content.arm.joints(SCALAR)
    points, contacts = labels(content)
    coordinates = {
        "time": ("time", motion.time, {"units": "s", "long_name": "time"}),
        "joint": [link.coordinate or link.name for link in joints],
        "joint_unit": ("joint", ["m" if link.joint == "prismatic" else "rad" for link in joints]),
        "link": [link.name for link in content.arm.ordered()],
        "axis": ["x", "y", "z"],
        "quaternion": ["w", "x", "y", "z"],
    }
    if contacts:
        coordinates |= {"point": points, "contact": contacts}
    attributes = run_attributes(scenario, motion.status, motion.finished, "variational", wall_time) | {
        "law": content.impact.law,
        "latch": "" if content.latch is None else content.latch.hold,
        "control": content.control.law,
        "tolerance": content.integrator.tolerance,
        "adaptive": int(content.integrator.error is not None),
        **motion.facts,
    }
    return xr.Dataset(data, coordinates, attributes)
