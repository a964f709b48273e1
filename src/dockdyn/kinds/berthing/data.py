"""The dataset and the summary of a run of the kind `berthing`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from dockdyn.kinds.berthing.left_out_modes import mode_excess
from dockdyn.kinds.berthing.model import COMPLIANT, HOLDS, Berthing, Struck
from dockdyn.mechanics.trees.composite_bodies import Tree
from dockdyn.mechanism.impact_contact import ImpactContact
from dockdyn.results.attributes import run_attributes
from dockdyn.results.control.budget import control_attributes
from dockdyn.results.episodes import episodes, from_log
from dockdyn.scenario.load import Scenario

UNIT_OF = {"rad/s": "rad", "m/s": "m"}  # of what has a rate in this unit

# name: (dimensions after time, units, long name)
VARIABLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "joint_angle": (("joint",), "SI", "angle or travel of joints with one coordinate: rad, m"),
    "ball_attitude": (("ball", "quaternion"), "1", "attitude of spherical joints, scalar first"),
    "coordinate_rate": (("coordinate",), "SI", "velocity of the chaser, by coordinate: m/s, rad/s, 1/s of modes"),
    "target_coordinate_rate": (("target_coordinate",), "SI", "velocity of the target, by coordinate"),
    "base_position": (("system", "axis"), "m", "position of the base, inertial"),
    "base_attitude": (("system", "quaternion"), "1", "attitude of the base, body to inertial, scalar first"),
    "modal_coordinate": (("mode",), "SI", "modal coordinate"),
    "outline": (("system", "frame", "axis"), "m", "origins of link frames in the order of the tree, inertial"),
    "tip_deflection": (("link",), "m", "deflection of a link's end across it"),
    "hold_force": (("axis",), "N", "force that holds chaser and target together, on the chaser, inertial"),
    "torque": (("coordinate",), "SI", "torque or force of control: N m, N"),
    "kinetic_energy": ((), "J", "kinetic energy of both"),
    "potential_energy": ((), "J", "energy of bent links and joint springs"),
    "work": ((), "J", "work of control since the impact"),
    "contact_work": ((), "J", "work of contact forces and of further impacts since the impact at t = 0"),
    "wheel_momentum": (("axis",), "N m s", "angular momentum of the base's wheel, base axes"),
    "wheel_torque": (("axis",), "N m", "torque of the wheel on the base, base axes"),
    "thruster_force": (("axis",), "N", "force of thrusters on the base, base axes"),
    "thruster_torque": (("axis",), "N m", "torque of thrusters on the base, base axes"),
    "thruster_impulse": (("axis",), "N s", "impulse of thrusters, inertial"),
    "thruster_turning_impulse": (("axis",), "N m s", "angular impulse of thrusters about the inertial origin"),
    "thruster_use": (("use",), "SI", "what thrusters have given, by size over the base's axes: N s, N m s"),
    "spin_momentum": (("axis",), "N m s", "angular momentum of both about their centre of mass, without the wheel's"),
    "linear_momentum": (("axis",), "N s", "linear momentum of both, inertial"),
    "angular_momentum": (("axis",), "N m s", "angular momentum of both and the wheel about the inertial origin"),
    "linear_momentum_scale": ((), "N s", "sum of both linear momenta by magnitude"),
    "angular_momentum_scale": ((), "N m s", "sum of both angular momenta and the wheel's by magnitude"),
}
# name: (units, long name), of a contact that acts after t = 0
CONTACT = {
    "depth": ("m", "depth of the contact, positive is overlap"),
    "sliding_speed": ("m/s", "sliding speed at the contact"),
    "normal_force": ("N", "normal force of the contact"),
}
# name: (units, long name), of impacts, that at t = 0 the first
IMPACTS = {
    "impact_time": ("s", "when the impact was"),
    "impact_approach_speed": ("m/s", "approach speed before the impact"),
    "impact_normal_impulse": ("N s", "normal impulse"),
    "impact_tangential_impulse": ("N s", "tangential impulse, its size"),
    "impact_loss": ("J", "energy that the impact took"),
}


@dataclass
class Motion:
    """What integration left, in NumPy arrays."""

    states: Any  # with a leading axis, samples at equal intervals
    interval: float  # s
    finished: bool
    status: str
    integrator: str
    steps: int
    rejected: int
    log: Any = None  # moments of located integration
    stiffness: float = float("nan")  # `dockdyn.kinds.berthing.stiffness`; where contact comes and goes not estimated


def dataset_of(
    scenario: Scenario,
    model: Berthing,
    struck: Struck,
    motion: Motion,
    seen: dict[str, Any],
    at_moments: dict[str, Any],
    wall_time: float,
) -> xr.Dataset:
    """The dataset of a run: what was observed at its samples, and at the moments of its log."""
    chaser, target = (side.tree for side in model.sides)
    names, rate_units = chaser.names(), _velocity_units(chaser)
    moving = zip(chaser.layout.coordinates, chaser.layout.joints, strict=True)
    data: dict[str, Any] = {
        name: (("time", *dims), seen[name], {"units": u, "long_name": w}) for name, (dims, u, w) in VARIABLES.items()
    }
    data |= at_once(model, struck)
    if model.contact is not None:
        data |= {
            name: ("time", seen[name], {"units": units, "long_name": words}) for name, (units, words) in CONTACT.items()
        }
    # the log has no row for the start
    rates: Any = np.concatenate([seen["depth_rate"][:1], at_moments["depth_rate"]]) if model.contact is not None else []
    data |= _impacts_of(model, struck, motion) | _contacts_of(motion, rates)
    peaks, times = (data[name][1] for name in ("episode_peak_force", "episode_peak_time"))
    if len(peaks) and (excess := mode_excess(scenario.content, model, float(peaks[0]), float(times[0]))) is not None:
        words = "share by which the first peak force is too large, as the beams have no more modes"
        data["mode_excess"] = ((), excess, {"units": "1", "long_name": words})
    modes = seen["modal_coordinate"].shape[1]
    times = motion.interval * np.arange(len(seen["work"]))
    coordinates = {
        "time": ("time", times, {"units": "s", "long_name": "time since the impact"}),
        "joint": [names[column] for column in chaser.joint_columns()],
        "joint_unit": ("joint", [UNIT_OF[rate_units[column]] for column in chaser.joint_columns()]),
        "ball": [name for name, kind in moving if kind == "spherical"],
        "coordinate": names,
        "coordinate_unit": ("coordinate", rate_units),
        "target_coordinate": target.names(),
        "target_coordinate_unit": ("target_coordinate", _velocity_units(target)),
        "mode": names[len(names) - modes :],
        "link": list(chaser.layout.names),
        "system": ["chaser", "target"],
        "use": ["impulse", "angular impulse"],
        "axis": ["x", "y", "z"],
        "quaternion": ["w", "x", "y", "z"],
        "row": impulse_rows(model)[: len(struck.impact.impulse)],
    }
    return xr.Dataset(data, coordinates, attributes(scenario, model, motion, wall_time))


def _velocity_units(tree: Tree) -> list[str]:
    """Units of a tree's velocities: base, joints, modes."""
    found = {"free": ["m/s"] * 3 + ["rad/s"] * 3, "planar": ["m/s"] * 2 + ["rad/s"], "fixed": []}[tree.layout.base]
    joints, modes, _ = tree.layout.columns()
    for own, kind in zip(joints, tree.layout.joints, strict=True):
        found += ["m/s" if kind == "prismatic" else "rad/s"] * len(own)
    return found + ["1/s"] * sum(map(len, modes))


def impulse_rows(model: Berthing) -> list[str]:
    return ["normal", "tangent", "moment"] if model.planar else ["normal", "tangent 1", "tangent 2", *("moment",) * 3]


def at_once(model: Berthing, struck: Struck) -> dict[str, Any]:
    """What the impact at t = 0 did; with a compliant contact, nothing."""
    impact = struck.impact
    loss = impact.energy_loss + struck.lock_loss
    none = model.law.name == COMPLIANT
    scalars: dict[str, tuple[Any, str, str]] = {
        "impact_energy_loss": (loss, "J", "energy that the impact at t = 0 took, locks included"),
        "lock_energy_loss": (struck.lock_loss, "J", "energy that locking joints before it took"),
        "newton": (impact.newton, "1", "Newton's coefficient of restitution that came out"),
        "poisson": (impact.poisson, "1", "Poisson's coefficient of restitution that came out"),
        "energetic": (impact.energetic, "1", "energetic coefficient of restitution that came out"),
        "sticks": (impact.stick, "1", "whether the contact sticks at the end of the impact"),
        "energy_created": (impact.energy_created, "1", "whether the impact created energy"),
    }
    if none:
        scalars |= {name: (np.nan, *scalars[name][1:]) for name in ("newton", "poisson", "energetic")}
    found: dict[str, Any] = {n: ((), float(v), {"units": u, "long_name": w}) for n, (v, u, w) in scalars.items()}
    words = {"units": "N s", "long_name": "impulse on the chaser at t = 0"}
    found["impulse"] = (("row",), np.asarray(impact.impulse), words)
    if struck.fewer is not None:
        words = {
            "units": "N s",
            "long_name": "the same impulse with one mode fewer of each kind in every flexible link",
        }
        found["impulse_of_fewer_modes"] = (("row",), np.asarray(struck.fewer), words)
    for name, side, dimension in zip(("", "target_"), model.sides, ("coordinate", "target_coordinate"), strict=True):
        words = {"units": "SI", "long_name": f"velocity of the {'target' if name else 'chaser'} before"}
        found[f"{name}coordinate_rate_before"] = ((dimension,), np.asarray(side.velocities), words)
    return found


def _impacts_of(model: Berthing, struck: Struck, motion: Motion) -> dict[str, Any]:
    """All impacts, over the dimension `impact`."""
    rows: list[Any] = []
    after: list[list[Any]] = [[], []]
    if model.law.name != COMPLIANT:
        impulse = np.asarray(struck.impact.impulse)
        sideways = np.linalg.norm(impulse[1 : 2 if model.planar else 3])
        rows.append([0.0, -float(struck.before[0]), impulse[0], sideways, float(struck.impact.energy_loss)])
        after = [[np.asarray(v)] for v in struck.velocities]
    if isinstance(model.contact, ImpactContact):
        hits = np.stack(motion.log.state.memory.hit, axis=1)
        first = np.stack(motion.states.memory.hit, axis=1)[:1]
        again = (np.diff(hits, axis=0, prepend=first) != 0).any(axis=1)
        rows += list(np.column_stack([motion.log.time, hits])[again])
        after = [[*first, *v[again]] for first, v in zip(after, motion.log.state.v, strict=True)]
    table = np.array(rows).reshape(-1, len(IMPACTS))
    found: dict[str, Any] = {
        name: (("impact",), table[:, i], {"units": units, "long_name": words})
        for i, (name, (units, words)) in enumerate(IMPACTS.items())
    }
    for name, values, side in zip(("", "target_"), after, model.sides, strict=True):
        words = {"units": "SI", "long_name": f"velocity of the {'target' if name else 'chaser'} after the impact"}
        shaped = np.array(values).reshape(len(values), side.velocities.shape[0])
        found[f"impact_{name}coordinate_rate"] = (("impact", f"{name}coordinate"), shaped, words)
    return found


def _contacts_of(motion: Motion, rates: np.ndarray) -> dict[str, Any]:
    """Contacts that lasted, over the dimension `episode`; `rates` of the depth, at the start and at the log's moments."""
    found = []
    if motion.log is not None:
        first = tuple(np.asarray(mode)[0] for mode in motion.states.mode)
        found = episodes(from_log(motion.log, len(motion.log.time), first), 0.0)
    columns = {
        "episode_onset": ([e.onset for e in found], "s", "onset"),
        "episode_release": ([e.release for e in found], "s", "release"),
        "episode_approach_speed": ([rates[e.onset_row] for e in found], "m/s", "approach speed at onset"),
        "episode_peak_force": ([e.peak for e in found], "N", "peak normal force"),
        "episode_peak_time": ([e.peak_time for e in found], "s", "time of the peak"),
        "episode_impulse": ([e.impulse for e in found], "N s", "impulse of the normal force"),
    }
    return {n: (("episode",), np.array(v, float), {"units": u, "long_name": w}) for n, (v, u, w) in columns.items()}


def attributes(scenario: Scenario, model: Berthing, motion: Motion, wall_time: float) -> dict[str, Any]:
    content = scenario.content
    damped = any(link.damping for link in [*content.chaser.link, *content.target.link]) or any(
        link.beam is not None and link.beam.damping for link in [*content.chaser.link, *content.target.link]
    )
    return run_attributes(scenario, motion.status, motion.finished, motion.integrator, wall_time) | {
        "tolerance": content.integrator.error(motion.integrator == "located"),
        "stiffness": motion.stiffness,
        "steps": motion.steps,
        "rejected": motion.rejected,
        "law": content.impact.law,
        "joined": int(model.law.name in HOLDS),
        "again": int(model.contact is not None),
        **control_attributes(content.control),
        "undamped": int(not damped),
    }
