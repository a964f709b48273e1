"""What a run of an assembly leaves: bodies, groups of contacts, loads at named points."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockdyn.kinds.assembly.schema import AssemblySection
from dockdyn.results.measures import changed_by_contacts
from dockdyn.results.run import (
    Described,
    Layout,
    Run,
    contact_variables,
    episode_variable,
    forces_act,
    outcome_variables,
    sampled_variables,
    scalar,
)
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.made import made

VARIABLES: Layout = {
    "position": (("body", "axis"), "m", "position of the centre of mass, inertial"),
    "attitude": (("body", "quaternion"), "1", "attitude, body to inertial, scalar first"),
    "rotation": (("body", "axis"), "rad", "rotation vector since the start, body axes"),
    "velocity": (("body", "axis"), "m/s", "velocity of the centre of mass, inertial"),
    "rate": (("body", "axis"), "rad/s", "angular velocity, body axes"),
    "contact_point": (("contact", "axis"), "m", "where the deepest member touches, axes of the second body"),
    "depth": (("contact",), "m", "penetration depth of the deepest member, positive is overlap"),
    "depth_rate": (("contact",), "m/s", "penetration rate of the deepest member"),
    "sliding_speed": (("contact",), "m/s", "speed of the deepest member over what it touches"),
    "normal_force": (("contact",), "N", "sum of the members' normal forces where they are generated"),
    "contact_force": (("contact", "axis"), "N", "contact force that acts on the first body, inertial"),
    "contact_moment": (
        ("contact", "axis"),
        "N m",
        "moment that acts on the first body, about the group's reference point",
    ),
    "load_force": (("point", "axis"), "N", "force of contacts and elements on the body, body axes"),
    "load_moment": (("point", "axis"), "N m", "their moment about the point, body axes"),
    "kinetic_energy": ((), "J", "kinetic energy of all bodies"),
    "work": ((), "J", "work of the contacts"),
    "linear_momentum": (("axis",), "N s", "linear momentum of all bodies, inertial"),
    "angular_momentum": (("axis",), "N m s", "angular momentum about the common centre of mass, inertial"),
    "linear_momentum_scale": ((), "N s", "sum of the bodies' linear momenta by magnitude"),
    "angular_momentum_scale": ((), "N m s", "sum of the bodies' angular momenta by magnitude"),
}


def describe(scenario: Scenario, run: Run) -> Described:
    """What a run of an assembly leaves in its dataset."""
    content = scenario.content
    return Described(
        variables={
            **sampled_variables(VARIABLES, run),
            **_episode_variables(content, run),
            **_outcome(content, run),
        },
        coordinates={
            "body": content.names(),
            "axis": ["x", "y", "z"],
            "quaternion": ["w", "x", "y", "z"],
            "contact": contact_names(content),
            "point": [name for name, _, _ in content.points()],
        },
        conservative=conservative(content),
    )


def contact_names(content: AssemblySection) -> list[str]:
    """Names of the contacts: their own, or their feature's, with that of what it touches where that is not enough."""
    features = [contact.feature for contact in content.contact]
    return [
        contact.name
        or (contact.feature if features.count(contact.feature) == 1 else f"{contact.feature} {contact.partner()}")
        for contact in content.contact
    ]


def conservative(content: AssemblySection) -> bool:
    """Whether energy returns to its value after every contact: no delay, and laws that say that they keep it."""
    laws = [law for contact in content.contact for law in (contact.normal, contact.friction) if law is not None]
    return content.loop.delay == 0 and all(made(law).lossless() for law in laws)


def _outcome(content: AssemblySection, run: Run) -> dict[str, Any]:
    """Whether the outcome is open at the end, and how long the approach would still take."""
    at_end = {name: values[-1] for name, values in run.at_moments.items()}
    return outcome_variables(forces_act(run, content.loop.delay), False, at_end, None)


def _episode_variables(content: AssemblySection, run: Run) -> dict[str, Any]:
    """Variables over the dimension `episode`: one entry a group from its first onset to its last release."""
    contacts, found = content.contact, run.episodes
    energy = changed_by_contacts(run.at_moments)

    def after(since: str) -> list[float]:
        return [
            energy[e.settled_row] - (energy[0] if since == "start" else energy[e.onset_row])
            if e.settled_row >= 0
            else np.nan
            for e in found
        ]

    places = np.array(run.at_onset("contact_point")).reshape(len(found), 3)
    partners = np.array([contacts[e.contact].partner() for e in found], str)
    variable = episode_variable
    return {
        **contact_variables(run),
        "episode_feature": variable(np.array([contacts[e.contact].feature for e in found], str), "1", "feature"),
        "episode_surface": variable(partners, "1", "what it touched"),
        "episode_position": variable(places, "m", "where at onset, as contact_point", "axis"),
        "episode_energy": variable(after("start"), "J", "energy after, relative to t = 0"),
        "episode_energy_gain": variable(after("onset"), "J", "energy after, relative to onset"),
        "kinetic_energy_end": scalar(
            run.at_moments["kinetic_energy"][-1], "J", "kinetic energy of all bodies at the end"
        ),
    }
