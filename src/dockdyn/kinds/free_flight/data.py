"""What a run of free flight leaves: bodies, contacts, loads at named points."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockdyn.contact.latch import HELD
from dockdyn.kinds.free_flight.schema import FreeFlightSection
from dockdyn.kinds.impact_prediction import predicted_impacts
from dockdyn.results.capture_loads import LOADS, capture_loads
from dockdyn.results.control.data import control_data
from dockdyn.results.energy_class import LOSSLESS, effect_variable, energy_effect
from dockdyn.results.run import (
    Described,
    Layout,
    Run,
    capture_variables,
    contact_names,
    contact_variables,
    energies_after,
    episode_variable,
    forces_act,
    outcome_variables,
    sampled_variables,
    scalar,
)
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.made import made, ramp_of
from dockdyn.scenario.tables.latch import ConeLatchSection

VARIABLES: Layout = {
    "position": (("body", "axis"), "m", "position of the centre of mass, inertial"),
    "attitude": (("body", "quaternion"), "1", "attitude, body to inertial, scalar first"),
    "rotation": (("body", "axis"), "rad", "rotation vector since the start, body axes"),
    "velocity": (("body", "axis"), "m/s", "velocity of the centre of mass, inertial"),
    "rate": (("body", "axis"), "rad/s", "angular velocity, body axes"),
    "feature_position": (
        ("contact", "axis"),
        "m",
        "feature from the surface's reference point, axes of the surface's body",
    ),
    "azimuth": (("contact",), "rad", "angle of the feature around the docking axis"),
    "depth": (("contact",), "m", "penetration depth, positive is overlap"),
    "depth_rate": (("contact",), "m/s", "penetration rate"),
    "sliding_speed": (("contact",), "m/s", "speed of the feature over the surface"),
    "normal_force": (("contact",), "N", "normal force where it is generated"),
    "contact_force": (("contact", "axis"), "N", "contact force that acts on the chaser, inertial"),
    "load_force": (("point", "axis"), "N", "force of contacts and latch on the body, body axes"),
    "load_moment": (("point", "axis"), "N m", "their moment about the point, body axes"),
    "kinetic_energy": ((), "J", "kinetic energy of both bodies"),
    "work": ((), "J", "work of contacts and ramp, less what the latch has dissipated"),
    "linear_momentum": (("axis",), "N s", "linear momentum of both bodies, inertial"),
    "angular_momentum": (("axis",), "N m s", "angular momentum about the common centre of mass, inertial"),
    "linear_momentum_scale": ((), "N s", "sum of the bodies' linear momenta by magnitude"),
    "angular_momentum_scale": ((), "N m s", "sum of the bodies' spins, and of distances times momenta, by magnitude"),
}

LATCH_VARIABLES: Layout = {
    "latch_travel": ((), "m", "travel of the tip along the docking axis since the ramp began"),
    "latch_rate": ((), "m/s", "rate of that travel"),
    "latch_force": (
        ("axis",),
        "N",
        "force of the latch's ramp on the chaser where it is generated, inertial",
    ),
    "hold_force": (("axis",), "N", "force by which the latch holds the chaser, inertial"),
    "catch_taken": ((), "J", "energy that the capture has taken: in the catch's springs, by its dampers, or at once"),
}
CATCH_VARIABLES: Layout = {
    "catch_travel": ((), "m", "how far the catch has yielded"),
    "catch_moment": (("axis",), "N m", "moment about the tip by which the catch holds the chaser, inertial"),
    "catch_stored": ((), "J", "energy in the catch"),
    "internal_energy": ((), "J", "energy that is stored inside, which is that in the catch"),
    "catch_dissipated": ((), "J", "energy that the catch's dampers have taken"),
}


def describe(scenario: Scenario, run: Run) -> Described:
    """What a run of free flight leaves in its dataset."""
    content = scenario.content
    latch = _latch_variables(content.latch, run) if content.latch is not None else {}
    control = control_data(content.control, run)
    return Described(
        variables={
            **sampled_variables(VARIABLES, run),
            **_episode_variables(scenario, run),
            **_outcome(content, run),
            **predicted_impacts(content, run),
            **latch,
            **control.variables,
        },
        coordinates=coordinates(content) | control.coordinates,
        attributes=control.attributes,
        conservative=conservative(content),
        capture_law=f"{content.latch.hold_law}, {content.latch.hold}" if content.latch is not None else "",
    )


def coordinates(content: FreeFlightSection) -> dict[str, list[str]]:
    """The names along the dimensions of `VARIABLES`."""
    return {
        "body": ["chaser", "target"],
        "axis": ["x", "y", "z"],
        "quaternion": ["w", "x", "y", "z"],
        "contact": _contact_names(content),
        "point": [name for name, _, _ in content.named_places()],
    }


def _latch_variables(latch: ConeLatchSection, run: Run) -> dict[str, Any]:
    """Travel into the latch and its forces over time, the capture, the speed that it took."""
    moments = run.at_moments
    last = len(run.moment_times) - 1
    loads = capture_loads(np, run.log, moments, moments["latch_mode"], run.moment_times, last)
    catch = {}
    if latch.hold_law == "compliant":
        catch = sampled_variables(CATCH_VARIABLES, run) | {
            "catch_stroke": scalar(moments["catch_stroke"][0], "m", "way that the catch can yield"),
            "catch_swing": scalar(
                moments["catch_swing"][0], "s", "time within which every mode of the catch has swung once"
            ),
        }
    return {
        **sampled_variables(LATCH_VARIABLES, run),
        **catch,
        **{name: scalar(loads[name], unit, words) for name, (unit, words, _) in LOADS.items()},
        "peak_force_known": scalar(loads["peak_force_known"], "1", "whether the largest force is known: 1 yes, 0 no"),
        **capture_variables(run, moments["latch_rate"], moments["latch_needed_speed"]),
        "latch_length": scalar(ramp_of(latch).length, "m", "travel until the latch falls in"),
    }


def _outcome(content: FreeFlightSection, run: Run) -> dict[str, Any]:
    """Whether the outcome is open at the end, and how long the probe would still take."""
    at_end = {name: values[-1] for name, values in run.at_moments.items()}
    latch = content.latch
    captured = latch is not None and bool((run.at_moments["latch_mode"] == HELD).any())
    length = None if latch is None else ramp_of(latch).length
    return outcome_variables(forces_act(run, content.loop.delay), captured, at_end, length)


def _contact_names(content: FreeFlightSection) -> list[str]:
    """Names of the contacts."""
    found = content.contact
    return contact_names([c.name for c in found], [c.feature for c in found], [c.surface for c in found])


def conservative(content: FreeFlightSection) -> bool:
    """Whether energy returns to its value after every contact: no delay, and laws that say that they keep it."""
    return content.latch is None and all(effect == LOSSLESS for effect in _effects(content))


def _effects(content: FreeFlightSection) -> list[str]:
    """What the laws of each contact must do to the energy."""
    laws = [[made(law) for law in (one.normal, one.friction) if law is not None] for one in content.contact]
    return [energy_effect(one, content.loop.delay) for one in laws]


def _episode_variables(scenario: Scenario, run: Run) -> dict[str, Any]:
    """Variables over the dimension `episode`: one entry a contact from onset to release."""
    contacts = scenario.content.contact
    found = run.episodes
    since_start, since_onset = energies_after(run)
    positions = np.array(run.at_onset("feature_position")).reshape(len(found), 3)
    on_cone = np.array([scenario.content.pair(contacts[e.contact])[1].shape == "cone" for e in found], bool)
    azimuth = np.where(on_cone, np.array(run.at_onset("azimuth"), float), np.nan)
    variable = episode_variable
    return {
        **contact_variables(run),
        **effect_variable(_effects(scenario.content), run),
        "episode_feature": variable(np.array([contacts[e.contact].feature for e in found], str), "1", "feature"),
        "episode_surface": variable(np.array([contacts[e.contact].surface for e in found], str), "1", "surface"),
        "episode_position": variable(positions, "m", "feature at onset, as feature_position", "axis"),
        "episode_azimuth": variable(azimuth, "rad", "azimuth at onset (cones)"),
        "episode_energy": variable(since_start, "J", "kinetic energy after, relative to t = 0"),
        "episode_energy_gain": variable(since_onset, "J", "kinetic energy after, relative to onset"),
        "kinetic_energy_end": scalar(
            run.at_moments["kinetic_energy"][-1], "J", "kinetic energy of both bodies at the end"
        ),
    }
