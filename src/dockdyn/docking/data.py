"""What a run of a mechanism leaves: bodies, groups of contacts, loads at named points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from dockdyn.contact.group import ContactGroup
from dockdyn.deferred import Bool
from dockdyn.docking.component_data import component_names, component_variables
from dockdyn.docking.impact_prediction import predicted_impacts
from dockdyn.docking.impossible_impacts import refuse_impossible
from dockdyn.docking.known_loads import known_variables
from dockdyn.docking.missed_latches import VARIABLES as MISSED
from dockdyn.docking.missed_latches import missed_latches
from dockdyn.docking.modal_truncation import mode_excesses, stated_mode_errors
from dockdyn.docking.port_doubts import port_actors
from dockdyn.docking.ramp_latch_data import RAMP_VARIABLES, ramp_variables
from dockdyn.docking.schema.control import moved_joints, steered_bodies
from dockdyn.docking.schema.elements import ElementSection, MagnetSection
from dockdyn.docking.schema.flexible import UniformBeamSection
from dockdyn.docking.schema.mechanism import MechanismSection
from dockdyn.docking.schema.multibody import SeveralBodiesSection
from dockdyn.docking.schema.phases import time_to_change
from dockdyn.docking.step_limit import explain_many_steps
from dockdyn.docking.tank_data import tank_variables
from dockdyn.mechanism.loads import Group
from dockdyn.results.control.data import control_data
from dockdyn.results.energy_class import LOSSLESS, effect_variable, energy_effect
from dockdyn.results.log_data import Log
from dockdyn.results.measures import Either, sum_in_order
from dockdyn.results.outcome import OUTCOME, outcome_left
from dockdyn.results.overlap import damped_elements, damped_laws
from dockdyn.results.run import (
    Described,
    Layout,
    Run,
    contact_variables,
    energies_after,
    episode_variable,
    sampled_variables,
    scalar_variable,
)
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.made import made
from dockdyn.scenario.tables.force_table import LAW as MEASURED

VARIABLES: Layout = {
    "position": (("body", "axis"), "m", "position of the centre of mass, inertial"),
    "attitude": (("body", "quaternion"), "1", "unit quaternion, body to inertial, scalar first"),
    "rotation": (("body", "axis"), "rad", "rotation vector since the start, body axes, at most half a turn long"),
    "velocity": (("body", "axis"), "m/s", "velocity of the centre of mass, inertial"),
    "rate": (("body", "axis"), "rad/s", "angular velocity, body axes"),
    "contact_point": (("contact", "axis"), "m", "where the deepest member touches, axes of the second body"),
    "feature_position": (
        ("contact", "axis"),
        "m",
        "middle of the feature from the surface's reference point, or from the second body, axes of that body",
    ),
    "azimuth": (
        ("contact",),
        "rad",
        "angle of the middle of the feature around the docking axis, atan2(−y, z) in the docking frame",
    ),
    "depth": (("contact",), "m", "penetration depth of the deepest member; positive is overlap, negative separation"),
    "depth_rate": (("contact",), "m/s", "penetration rate of the deepest member; positive goes in"),
    "sliding_speed": (("contact",), "m/s", "speed of the deepest member over what it touches"),
    "normal_force": (("contact",), "N", "sum of the members' normal forces where they are generated, before the delay"),
    "contact_force": (
        ("contact", "axis"),
        "N",
        "contact force with friction that acts on the first body, after the delay, inertial",
    ),
    "contact_moment": (
        ("contact", "axis"),
        "N m",
        "moment that acts on the first body, about the group's reference point, inertial",
    ),
    "load_force": (
        ("point", "axis"),
        "N",
        "force of contacts, elements, reflected inertia and joints on the body, body axes",
    ),
    "load_moment": (("point", "axis"), "N m", "their moment about the point, body axes"),
    "kinetic_energy": ((), "J", "kinetic energy of all bodies"),
    "internal_energy": (
        (),
        "J",
        "energy that elements and flexible links store, and of the inertia that elements reflect",
    ),
    "contact_energy": (
        ("contact",),
        "J",
        "energy that the contact stores, by its law at rest and along the surface; of what yields what it gives back",
    ),
    "contact_loss": (
        ("contact",),
        "J",
        "energy that the contact has taken and does not store; less what a delay gave, where the loop has one",
    ),
    "work": (
        (),
        "J",
        "work of contacts, motors, thrusters and phases, less what elements and flexible links have dissipated",
    ),
    "linear_momentum": (("axis",), "N s", "linear momentum of all bodies, inertial"),
    "angular_momentum": (("axis",), "N m s", "angular momentum about the common centre of mass, inertial"),
    "linear_momentum_scale": ((), "N s", "sum of the bodies' linear momenta by magnitude"),
    "angular_momentum_scale": ((), "N m s", "sum of the bodies' spins, and of distances times momenta, by magnitude"),
}

ELEMENT_VARIABLES: Layout = {
    "element_tension": (
        ("element",),
        "N",
        "tension between its ends, negative pushes; of bushings, latches and own elements that show none the size of the force",
    ),
    "line_length": (
        ("line",),
        "m",
        "distance of the anchors; of a latch, how far its striker is from where it was caught",
    ),
    "latch_held": (("latch",), "1", "whether the latch holds: 1 yes, 0 no"),
    "connection_closed": (("connection",), "1", "whether the connection is closed: 1 yes, 0 no"),
    "bushing_turn": (("bushing",), "rad", "angle by which the bushing is turned from how it began"),
    "thrust": (("fixed_thruster",), "N", "force of the thruster on its body"),
    "thrust_spent": (("fixed_thruster",), "N s", "impulse that the thruster has given since the start, by size"),
    "phase_number": ((), "1", "which phase, from 0"),
}

ELEMENT_LOADS: Layout = {
    "element_force": (("element", "axis"), "N", "force on the first body, with that of reflected inertia, inertial"),
    "element_moment": (
        ("element", "axis"),
        "N m",
        "moment on that body about its anchor, striker or place there, of an own element about the centre of mass, inertial",
    ),
    "thrust_force": (("fixed_thruster", "axis"), "N", "force of the thruster on its body, inertial"),
}

JOINT_VARIABLES: Layout = {
    "joint_angle": (("joint",), "SI", "angle or travel of joints, in the unit of joint_unit: rad, m; 0 of locked ones"),
    "joint_rate": (("joint",), "SI", "rate of that: rad/s, m/s"),
    "joint_force": (("joint", "axis"), "N", "force through the joint on the body that it holds, that body's axes"),
    "joint_moment": (("joint", "axis"), "N m", "moment through the joint on that body, at the joint, its axes"),
}

MODE_VARIABLES: Layout = {
    "modal_coordinate": (
        ("mode",),
        "SI",
        "how far each mode of flexible links is deflected, in the unit of mode_unit: m, rad of twist",
    ),
    "modal_rate": (("mode",), "SI", "rate of that: m/s, rad/s"),
    "elastic_energy": (
        ("flexible_link",),
        "J",
        "energy that the link gives back when it unbends, part of internal_energy",
    ),
}

IMPACT_VARIABLES: Layout = {
    "impact_impulse": (
        ("contact",),
        "N s",
        "impulse of impacts along the normal since the start; 0 of contacts with a force law",
    ),
}

IMPULSE_VARIABLES: Layout = {
    "thruster_impulse": (("axis",), "N s", "impulse of thrusters since the start, inertial"),
    "thruster_turning_impulse": (
        ("axis",),
        "N m s",
        "angular impulse of thrusters since the start about the common centre of mass, inertial",
    ),
}

GRAVITY_VARIABLES: Layout = {
    "gravity_impulse": (("axis",), "N s", "impulse since t = 0 of the tide of gravity on all bodies, inertial"),
    "gravity_turning_impulse": (
        ("axis",),
        "N m s",
        "angular impulse since t = 0 of it about the common centre of mass",
    ),
    "gravity_work": ((), "J", "work since t = 0 of it on all bodies"),
}

PORT_UNITS = {"tension": "N", "compression": "N", "shear": "N", "torsion_moment": "N m", "bending_moment": "N m"}


# numbers of a whole run: the dimension, unit and words
WHOLE: dict[str, tuple[tuple[str, ...], str, str]] = {
    **{
        f"interface_{name}": (("port",), unit, f"largest {name.replace('_', ' ')} on the body")
        for name, unit in PORT_UNITS.items()
    },
    "element_peak_force": (("element",), "N", "largest force between its ends, at the steps of the integration"),
    "bushing_peak_turn": (("bushing",), "rad", "largest angle by which the bushing was turned"),
    "capture_time": ((), "s", "when the last of the latches fell in, the first time that all held"),
    "release_time": ((), "s", "when the first of the latches, all of which held, let go for the first time"),
    "capture_onset": (("capture",), "s", "when the last of the latches fell in, each time that all held"),
    "capture_release": (("capture",), "s", "when the first of them let go again; NaN where all hold at the end"),
    "latch_time": (("latch",), "s", "when the latch fell in for the first time"),
    "latch_closed": (("latch",), "1", "whether it holds at the end: 1 yes, 0 no"),
    "latch_bounces": (("latch",), "1", "how often its striker has bounced at the end of the play"),
    **{name: (("latch",), *words) for name, words in MISSED.items()},
    "friction_loss": (
        ("contact",),
        "J",
        "energy that friction took where it is generated, less what it stores at the end; 0 of a contact without",
    ),
    "spin_share": (
        ("flexible_link",),
        "1",
        "largest rate at which a link by a table of modes turns, over its lowest frequency; 0 of a beam, which stiffens",
    ),
    **{name: ((), *words) for name, words in OUTCOME.items()},
}
NUMBERS = {"latch_bounces": int}


def whole_run_data(log: Log, delay: Either, ports: int, bushings: int, watched: bool = True) -> dict[str, Any]:
    """Return those of `WHOLE` that the log of a run has, `delay` (s) being that of contact forces; loads at so many ports and
    turns of so many bushings where they were `watched`."""
    xp, seen = log.time.__array_namespace__(), log.seen
    caught, let_go = _captures(log)
    found = outcome_left(*_left_at_end(log.acting(delay), xp.any(caught), log.at_end()))
    if "latch_held" in seen:
        found["capture_time"] = log.first_time(caught)
        found["release_time"] = log.first_time(let_go)
        held = (seen["latch_held"] > 0) & log.valid[:, None]
        found["latch_time"] = xp.stack([log.first_time(held[:, index]) for index in range(held.shape[1])])
        found["latch_closed"] = held[log.last] * 1.0
    if "latch_taut" in seen:
        taut = seen["latch_taut"] > 0
        left = taut[:-1] & ~taut[1:] & (seen["latch_held"][1:] > 0) & log.valid[1:, None]
        found["latch_bounces"] = left.sum(axis=0).astype(int)
    if "spin_share" in seen:
        shares = xp.where(log.valid[:, None], seen["spin_share"], 0.0)
        found["spin_share"] = xp.concat([shares, *([log.samples["spin_share"]] if log.samples else [])]).max(axis=0)
    rubbed = log.friction_losses()
    if rubbed is not None:
        found["friction_loss"] = sum_in_order(rubbed)
    end = log.peaks.shape[1] - bushings - (0 if rubbed is None or not watched else rubbed.shape[1])
    first = end - ports * len(PORT_UNITS)
    if "element_force" in seen and watched:
        forces = log.peaks[:, first - seen["element_force"].shape[1] : first]
        found["element_peak_force"] = xp.maximum(forces.max(axis=0), 0.0)
    if ports and watched:
        loads = log.peaks[:, first:end]
        largest = xp.maximum(loads.max(axis=0), 0.0).reshape(
            ports, len(PORT_UNITS)
        )  # under compression alone no tension
        found |= {f"interface_{name}": largest[:, index] for index, name in enumerate(PORT_UNITS)}
    if bushings and watched:
        turns = log.peaks[:, end : end + bushings].max(axis=0, initial=0.0)
        found["bushing_peak_turn"] = 2 * xp.arccos(xp.clip(1.0 - turns, -1.0, 1.0))
    return found


def _captures(log: Log) -> tuple[Bool[Any, "rows"], Bool[Any, "rows"]]:
    """Return at which rows all latches come to hold, and at which the first of them lets go again; none without latches."""
    xp = log.time.__array_namespace__()
    hold = log.valid & (log.seen["latch_held"].min(axis=1) > 0 if "latch_held" in log.seen else False)
    before = xp.concat([xp.zeros(1, dtype=bool), hold[:-1]])
    return hold & ~before, before & ~hold & log.valid


def _capture_times(log: Log) -> dict[str, np.ndarray]:
    """Return when each capture of a run began and ended (s); nothing without latches."""
    if "latch_held" not in log.seen:
        return {}
    onset, release = (np.asarray(log.time)[np.asarray(rows)] for rows in _captures(log))
    return {
        "capture_onset": onset,
        "capture_release": np.append(release, np.full(len(onset) - len(release), np.nan)),
    }


# of runs that have such parts
LAYOUT = (
    RAMP_VARIABLES
    | ELEMENT_VARIABLES
    | ELEMENT_LOADS
    | JOINT_VARIABLES
    | MODE_VARIABLES
    | IMPACT_VARIABLES
    | IMPULSE_VARIABLES
    | GRAVITY_VARIABLES
)


def describe_run(scenario: Scenario, run: Run) -> Described:
    """Return what a run of a mechanism leaves in its dataset."""
    content = scenario.content
    refuse_impossible(scenario, run)
    effects = energy_effects(content)
    steered = steered_bodies(content.control, content)[0] if content.control is not None else ""
    control = control_data(content.control, run, f"“{steered}”", moved_joints(content))
    return Described(
        variables={
            **sampled_variables(VARIABLES, run),
            **sampled_variables(
                {name: LAYOUT[name] for name in LAYOUT if name in run.sampled and name not in RAMP_VARIABLES}, run
            ),
            **control.variables,
            **_whole_run(content, run),
            **known_variables(content, run),
            **ramp_variables(content, run),
            **_phase_times(content, run),
            **mode_excesses(content, run),
            **tank_variables(content, run),
            **component_variables(content, run),
            **_joint_ranges(content),
            **_episode_variables(content, run, effects),
            **predicted_impacts(content, run),
        },
        coordinates={
            **coordinate_names(content),
            **joint_names(content),
            **flexible_names(content),
            **component_names(content),
            **({"port": content.ports()} if content.ports() else {}),
            **({"tank": [tank.name for tank in content.tank]} if content.tank else {}),
            **({"phase": [phase.name for phase in content.phase]} if content.phase else {}),
            **control.coordinates,
        },
        attributes=control.attributes
        | ({"steered_body": steered} if control.attributes else {})
        | rigid_grips(content)
        | struck_contacts(content)
        | port_actors(content)
        | measured_ranges(content)
        | magnet_tables(content)
        | stated_mode_errors(content)
        | small_beams(content)
        | stated_damping(content)
        | explain_many_steps(scenario, run),
        conservative=_keeps_energy(content, effects),
        capture_law=capture_law(content),
    )


def capture_law(content: MechanismSection) -> str:
    """Return what holds once the latch behind a ramp has fallen in; empty without one."""
    held = [one for one in content.latch if one.ramp is not None]
    return "" if len(held) != 1 else f"rigid, {held[0].grip}" if held[0].rigid else held[0].grip


def rigid_grips(content: MechanismSection) -> dict[str, str]:
    """Return the names of the latches that hold rigidly, a line each, as an attribute of the result; nothing where there is
    none."""
    names = [one.name for one in content.latch if one.rigid]
    return {"rigid_grips": "\n".join(names)} if names else {}


def struck_contacts(content: MechanismSection) -> dict[str, str]:
    """Return the names of the contacts with an impact law, a line each, as an attribute of the result; nothing without any."""
    named = zip(content.contact_names(), content.contacts, strict=True)
    names = [name for name, contact in named if contact.impact is not None]
    return {"impact_contacts": "\n".join(names)} if names else {}


def measured_ranges(content: MechanismSection) -> dict[str, str]:
    """Return for each contact with a measured force its number, largest depth (m), and fastest opening and closing (m/s), a
    line each, as an attribute of the result; nothing without any. A force at one rate alone is of all rates."""
    lines = []
    for number, contact in enumerate(content.contacts):
        law: Any = contact.normal
        if law is not None and law.law == MEASURED:
            ends = (law.rate[0], law.rate[-1]) if len(law.rate) > 1 else (-math.inf, math.inf)
            lines.append("\t".join([str(number), *(repr(float(end)) for end in (law.depth[-1], *ends))]))
    return {"measured_ranges": "\n".join(lines)} if lines else {}


def magnet_tables(content: MechanismSection) -> dict[str, str]:
    """Return of each line of a magnet by a table its name, pole radius and first and last gap (m) and the forces there (N), a
    line each, as an attribute of the result; nothing without any."""
    lines = []
    for one in content.ties():
        if isinstance(one, MagnetSection) and one.gaps is not None and one.forces is not None:
            numbers = (one.pole_radius, one.gaps[0], one.gaps[-1], one.forces[0], one.forces[-1])
            lines += ["\t".join([name, *(repr(float(number)) for number in numbers)]) for name in _member_names(one)]
    return {"magnet_tables": "\n".join(lines)} if lines else {}


def small_beams(content: MechanismSection) -> dict[str, str]:
    """Return the names of the links that are beams without a basis, with their lengths (m), a line each, as an attribute of the
    result; nothing without any."""
    links = {body.name: body.flexible for body in content.bodies if isinstance(body.flexible, UniformBeamSection)}
    lines = [f"{name}\t{float(beam.length)!r}" for name, beam in links.items()]
    return {"small_beams": "\n".join(lines)} if lines else {}


def stated_damping(content: SeveralBodiesSection) -> dict[str, str]:
    """Return what came of damping that is stated by a ratio or a restitution, a line a contact and element, as an attribute of
    the result; nothing without any."""
    names, contacts = content.contact_names(), content.contacts
    lines = {}
    for number, contact in enumerate(contacts):
        if contact.normal is not None and contact.normal.law == "hunt-crossley" and contact.normal.damping is None:
            key = "restitution" if contact.normal.damping_ratio is None else "damping_ratio"
            found = f"{float(made(contact.normal).damping):.6g} s/m"
            lines[number] = f"{found}, from {key} = {getattr(contact.normal, key):g} at {contact.normal.speed:g} m/s"
    if stated := content.relative_laws():
        groups = content.model().groups
        for (_, key, number), found in zip(stated, damped_laws(content), strict=True):
            value, between = getattr(contacts[number].normal, key), f"{float(found.mass):.6g} kg"
            alone = _where_alone(groups[number])
            lines[number] = f"{float(found.damping):.6g} N s/m, from {key} = {value:g} between {between}{alone}"
    told = [f"{names[number]}: {lines[number]}" for number in sorted(lines)]
    if elements := content.relative_elements():
        for (path, key, value), dashpots in zip(elements, damped_elements(content), strict=True):
            words = _span_of(dashpots, "N s/m")
            if path.startswith("bushing."):
                along, about = _span_of(dashpots[:3], "N s/m along"), _span_of(dashpots[3:], "N m s/rad about its axes")
                words = " and ".join(filter(None, (along, about)))
            told.append(f"{path}: {words}, from {key} = {value:g}")
    return {"stated_damping": "\n".join(told)} if told else {}


def _where_alone(group: Group) -> str:
    """Return words on which members a damping holds for that is stated by the bodies' masses, of a group of several."""
    members = group.weights.shape[0] if isinstance(group, ContactGroup) else 1
    return f", where one of its {members} members touches alone" if members > 1 else ""


def _span_of(numbers: np.ndarray, unit: str) -> str:
    """Return the smallest and the largest of the numbers above zero, with their unit; empty without any."""
    above = numbers[numbers > 0]
    ends = dict.fromkeys(f"{end:.6g}" for end in (above.min(), above.max())) if above.size else ()
    return f"{' to '.join(ends)} {unit}" if ends else ""


def coordinate_names(content: SeveralBodiesSection) -> dict[str, list[str]]:
    """Return the names along the dimensions of what a mechanism has over time."""
    parts: dict[str, Any] = {}
    if isinstance(content, MechanismSection):
        parts = joint_names(content) | flexible_names(content)
    return {
        "body": content.names(),
        "axis": ["x", "y", "z"],
        "quaternion": ["w", "x", "y", "z"],
        "contact": content.contact_names(),
        "point": [name for name, _, _ in content.points()],
        **element_names(content),
        **{name: values for name, values in parts.items() if isinstance(values, list)},
    }


def element_names(content: SeveralBodiesSection) -> dict[str, list[str]]:
    """Return names of the elements, the members of a structure one by one: of all between two bodies, of
    those along a line, of latches, of bushings; of thrusters."""
    named = [(section.kind, name) for section in content.ties() for name in _member_names(section)]
    found = {
        "element": [name for _, name in named],
        "line": [name for kind, name in named if kind not in ("bushing", "connection") and ":" not in kind],
        "latch": [name for kind, name in named if kind == "latch"],
        "connection": [name for kind, name in named if kind == "connection"],
        "bushing": [name for kind, name in named if kind == "bushing"],
        "fixed_thruster": [section.name for section in content.thruster],
    }
    return {dimension: names for dimension, names in found.items() if names}


def _member_names(section: ElementSection) -> list[str]:
    """Return the names of the members of a structure, one by one; of a single element its own."""
    count = section.count()
    return [section.name] if count == 1 else [f"{section.name} {number + 1}" for number in range(count)]


def joint_names(content: MechanismSection) -> dict[str, Any]:
    """Return names of the bodies that joints hold, and the units of the joints' coordinates."""
    held = [body for body in content.bodies if body.joint is not None]
    units = {"revolute": "rad", "prismatic": "m", "spherical": "1", "locked": "1"}
    found = [units[body.joint.motion] for body in held if body.joint is not None]
    return {"joint": [body.name for body in held], "joint_unit": ("joint", found)} if held else {}


def flexible_names(content: MechanismSection) -> dict[str, Any]:
    """Return names of the modes of flexible links, the units of their coordinates, and of the links that have any."""
    bodies = [body for body in content.bodies if body.flexible is not None]
    links = [(body.name, body.flexible) for body in bodies if body.flexible and body.flexible.mode_units()]
    if not links:
        return {}
    units = [unit for _, flexible in links for unit in flexible.mode_units()]
    names = [f"{link} {mode}" for link, mode in content.modes()]
    return {"mode": names, "mode_unit": ("mode", units), "flexible_link": [name for name, _ in links]}


def _whole_run(content: MechanismSection, run: Run) -> dict[str, Any]:
    """Return numbers of a whole run."""
    bushings = len(element_names(content).get("bushing", []))
    found = whole_run_data(run.log, content.loop.delay, len(content.ports()), bushings, run.watched)
    found |= _capture_times(run.log) | missed_latches(run)
    return {
        name: (
            dimensions,
            np.asarray(found[name], int if name == "latch_bounces" else float),
            {"units": unit, "long_name": words},
        )
        for name, (dimensions, unit, words) in WHOLE.items()
        if name in found
    }


def _phase_times(content: MechanismSection, run: Run) -> dict[str, Any]:
    """Return when each phase began, NaN for one that did not; nothing where there are none."""
    if not content.phase:
        return {}
    number = run.log.seen.get("phase_number")  # None of one phase, which is the whole run
    began = [0.0 if number is None else run.log.first_time(number >= index) for index in range(len(content.phase))]
    needed = [*(time_to_change(*both) for both in itertools.pairwise(content.phase)), 0.0]
    words = "how long what the phase changes takes to be there, where the next one does not set it at once"
    return {
        "phase_began": (("phase",), np.array(began), {"units": "s", "long_name": "when the phase began"}),
        "phase_change_time": (("phase",), np.array(needed), {"units": "s", "long_name": words}),
    }


def _joint_ranges(content: MechanismSection) -> dict[str, Any]:
    """Return the ranges of joints that have one but no stops, NaN of others; nothing where there is none."""
    joints = [body.joint for body in content.bodies if body.joint is not None]
    found = [getattr(joint, "range", None) if getattr(joint, "stroke", None) is None else None for joint in joints]
    if not any(found):
        return {}
    ends = np.array([[np.nan, np.nan] if one is None else one for one in found])
    words = "within which the joint is meant to stay, without stops"
    return {"joint_range": (("joint", "end"), ends, {"units": "SI", "long_name": words})}


def is_conservative(content: MechanismSection) -> bool:
    """Return whether energy, with that stored inside, returns to its value after every contact: no delay, and nothing that
    takes or gives any but by laws that say that they keep it."""
    return _keeps_energy(content, _effects(content))


def _keeps_energy(content: MechanismSection, effects: Iterable[str]) -> bool:
    """Return whether it is conservative, by what its contacts do to the energy."""
    kept = all(section.is_spring() for section in content.acts().values()) and not content.phase
    return kept and not content.modes() and all(effect == LOSSLESS for effect in effects)


def energy_effects(content: MechanismSection) -> list[str]:
    """Return what the laws of each contact must do to the energy."""
    return list(_effects(content))


def _effects(content: MechanismSection) -> Iterator[str]:
    """Yield what the laws of each contact must do to the energy."""
    for one in content.contacts:
        laws = one.laws() if one.impact is None else [one.impact]
        yield energy_effect(map(made, laws), content.loop.delay)


def _left_at_end(
    acting: Either, captured: Either, at_end: Mapping[str, Any]
) -> tuple[Either, Either, Mapping[str, Any], float | None]:
    """Return the arguments of `outcome_left` for what is observed of a mechanism at the end, where contacts last or are
    `acting`, and that was `captured` or not.

    With latches the ring approaches while the striker of an open one does; where some of them hold, they may still pull the
    others in.
    """
    if "latch_held" not in at_end:
        return acting, captured, at_end, None
    ways = {"latch_travel": -at_end["latch_gap"], "latch_rate": at_end["latch_closing"]}
    return acting | (at_end["latch_held"] > 0).any(), captured, ways, 0.0


def _episode_variables(content: MechanismSection, run: Run, effects: list[str]) -> dict[str, Any]:
    """Return variables over the dimension `episode`: one entry a group from its first onset to its last release."""
    contacts, found = content.contact, run.episodes
    since_start, since_onset = energies_after(run, content.loop.delay)
    places = np.array(run.at_onset("contact_point")).reshape(len(found), 3)
    partners = np.array([contacts[e.contact].between[1] for e in found], str)
    variable = episode_variable
    return {
        **contact_variables(run),
        **effect_variable(effects, run),
        "episode_feature": variable(np.array([contacts[e.contact].between[0] for e in found], str), "1", "feature"),
        "episode_surface": variable(partners, "1", "what it touched"),
        "episode_position": variable(places, "m", "where at onset, as contact_point", "axis"),
        **_contact_azimuths(content, run),
        "episode_energy": variable(since_start, "J", "energy after, relative to t = 0"),
        "episode_energy_gain": variable(since_onset, "J", "energy after, relative to onset"),
        "kinetic_energy_end": scalar_variable(
            run.log.seen["kinetic_energy"][-1], "J", "kinetic energy of all bodies at the end"
        ),
    }


def _contact_azimuths(content: MechanismSection, run: Run) -> dict[str, Any]:
    """Return the angle at which each contact of a single member with a cone began, NaN of others; nothing without such a
    pair."""
    on_cone = content.contacts_with_azimuth()
    if not any(on_cone):
        return {}
    found = [
        angle if on_cone[episode.contact] else np.nan
        for episode, angle in zip(run.episodes, run.at_onset("azimuth"), strict=True)
    ]
    return {"episode_azimuth": episode_variable(np.array(found, float), "rad", "azimuth at onset, on cones")}
