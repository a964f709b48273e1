"""What a run on a rig leaves: model and robot, forces, energies, and the same contact without rig."""

from __future__ import annotations

import json
from typing import Any

from dockdyn.dataset import Dataset
from dockdyn.docking.data import ELEMENT_VARIABLES, element_names
from dockdyn.integrate.solution import Status
from dockdyn.results.attributes import run_attributes
from dockdyn.results.dataset import REASONS
from dockdyn.results.drive import finite_rows
from dockdyn.rig.limits import first_times
from dockdyn.rig.model.rig import Rig
from dockdyn.rig.rig_theory import contact_frequency
from dockdyn.rig.run import Course
from dockdyn.rig.schema import RigContent
from dockdyn.scenario.load import Scenario
from dockdyn.stability.loop import Loop

AXIS, POSE = ("axis",), ("coordinate",)
VARIABLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "position": (
        AXIS,
        "m",
        "position of the model, the virtual bodies, of what touches; on a line from where it touches",
    ),
    "velocity": (AXIS, "m/s", "velocity of the model"),
    "robot_position": (AXIS, "m", "position of the mock-up that the robot carries"),
    "robot_velocity": (AXIS, "m/s", "velocity of that mock-up"),
    "contact_force": (AXIS, "N", "contact force on the model's side, at the robot, now"),
    "measured_force": (AXIS, "N", "contact force as the sensor tells it: late, held, imperfect"),
    "virtual_force": (AXIS, "N", "force of the contact computed in software, with a virtual contact"),
    "compensation_force": (AXIS, "N", "force that the compensator adds, its gain and inertia counted"),
    "total_force": (AXIS, "N", "force on the model"),
    "gain": ((), "N s/m", "damping gain of the compensator; 0 where it has none or is gated"),
    "kinetic_energy": ((), "J", "kinetic energy of the model"),
    "port_work": ((), "J", "work of the contact force at the robot since the start"),
    "contact_work": ((), "J", "the same with that of its moment, and of all places where it acts; in space"),
    "port_energy": ((), "J", "energy that the contacts at the robot store, by their laws at rest"),
    "port_loss": ((), "J", "energy that they have taken since the start and do not store; of robots with dynamics"),
    "model_work": ((), "J", "work of all forces on the model: its kinetic energy since t = 0"),
    "model_pose": (
        POSE,
        "m, rad",
        "pose of {carried} seen from {standing}, of the virtual bodies: place and rotation vector",
    ),
    "robot_pose": (POSE, "m, rad", "the same of the mock-up"),
    "stiffness_estimate": ((), "N/m", "contact stiffness as the compensator identifies it"),
    "excess_energy": (
        (),
        "J",
        "energy that the loop has put in beyond what the contact gave, as the compensator observes it",
    ),
    "net_energy": ((), "J", "all energy given to the model since the start, as the compensator observes it"),
    "observed_energy": ((), "J", "sum over instants of the energy that the oracle variable-gain observes"),
    "ideal_position": (AXIS, "m", "position without rig"),
    "ideal_velocity": (AXIS, "m/s", "velocity without rig"),
    "ideal_force": (AXIS, "N", "contact force without rig"),
    "ideal_kinetic_energy": ((), "J", "kinetic energy without rig"),
    "ideal_pose": (POSE, "m, rad", "the same without rig"),
}


def mock_up_names(content: RigContent) -> dict[str, str]:
    """Return what is carried and what stands, in words."""
    return dict(zip(("carried", "standing"), content.mock_ups, strict=True))


def coordinates_of(rig: Rig) -> dict[str, list[str]]:
    """Return the names along the dimensions of `VARIABLES`."""
    along = {"axis": ["x", "y", "z"][: rig.plant.port_axes]}
    return along | ({"coordinate": ["x", "y", "z", "rx", "ry", "rz"]} if rig.plant.axes > 1 else {})


def dataset_of(scenario: Scenario, rig: Rig, loop: Loop, course: Course, facts: dict[str, Any]) -> Dataset:
    """Return the dataset of a run; what came before a number that is not finite."""
    found = course.seen | course.ideal
    layout = VARIABLES | ELEMENT_VARIABLES
    found = {name: values for name, values in found.items() if name in layout}
    found["model_work"] = found["kinetic_energy"] - found["kinetic_energy"][0]
    if rig.robot.robot is not None:  # one without dynamics jumps from command to command, which is no work
        stored = found["port_energy"]
        found["port_loss"] = stored[0] - stored - found.get("contact_work", found["port_work"])
    if scenario.content.loop.virtual_contact is None:
        found.pop("virtual_force", None)
    kept, first_nonfinite = finite_rows(found)
    finished = kept == len(course.time)
    end = course.time[max(kept - 1, 0)]
    status = REASONS[Status.FINISHED if finished else Status.NOT_FINITE].format(
        time=end, first_nonfinite=first_nonfinite
    )
    step = course.time[1] - course.time[0] if len(course.time) > 1 else 0.0
    coordinates: dict[str, Any] = {"time": ("time", course.time[:kept], {"units": "s", "long_name": "time"})}
    coordinates |= coordinates_of(rig) | element_names(scenario.content)
    names = mock_up_names(scenario.content)
    variables = {
        name: (("time", *dims), found[name][:kept], {"units": units, "long_name": words.format(**names)})
        for name, (dims, units, words) in layout.items()
        if name in found
    }
    attributes = run_attributes(scenario, status, finished, loop.dynamics, course.wall_time) | {
        "motion": scenario.content.motion,
        **names,
        "step_s": float(rig.tick),
        "steps": round(float(end) / float(rig.tick)),
        "interval_s": float(step),
        "delay_s": float(loop.delay),
        "mass_kg": float(loop.effective_mass),
        "stiffness_N_m": float(loop.stiffness),
        "damping_N_s_m": float(loop.damping),
        "frequency_rad_s": contact_frequency(loop),
        "bilateral": int(rig.plant.ever_touching),
        "limits_reached": json.dumps(first_times(scenario.content, course.reached, float(rig.tick), float(end))),
        **facts,
    }
    return Dataset(variables, coordinates, attributes)
