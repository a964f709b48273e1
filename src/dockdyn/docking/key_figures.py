"""The key figures of a mechanism: what all runs with contacts have, and the loads at its named points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.docking.component_data import recovered_data, recovery_figures, recovery_names
from dockdyn.docking.data import (
    PORT_UNITS,
    element_names,
    is_conservative,
    whole_run_data,
)
from dockdyn.docking.impact_prediction import FIGURES as PREDICTED
from dockdyn.docking.impact_prediction import relative_data
from dockdyn.docking.known_loads import known_loads
from dockdyn.docking.ramp_latch_data import FIGURES as BEHIND_A_RAMP
from dockdyn.docking.ramp_latch_data import ramp_data
from dockdyn.docking.run_warnings import FAST, MANY_BOUNCES
from dockdyn.docking.schema.mechanism import MechanismSection
from dockdyn.docking.tank_data import tank_data, tank_figures
from dockdyn.integrate.solution import Solution
from dockdyn.mechanism.loads import bushing_count
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.results.contact_figures import (
    CAPTURED,
    CONTACTS,
    LATCHED,
    MOTION,
    OUTCOME,
    SOLVER,
    contact_figures,
    stored_figure,
)
from dockdyn.results.contact_summary import dataset_data
from dockdyn.results.control.figures import CONTROL
from dockdyn.results.key_figures import KeyFigure, LocatedFigures
from dockdyn.results.log_data import Log, log_data
from dockdyn.results.measures import finite_or_none
from dockdyn.results.requirements import KNOWN, MEMBER, resolve_figure
from dockdyn.scenario.language.errors import ScenarioError, nearest
from dockdyn.scenario.load import Scenario


def _at_ports(name: str, unit: str) -> KeyFigure:
    """Return the largest of a part of the load over all ports."""
    variable = f"interface_{name}"
    words, figure_name = f"largest {name.replace('_', ' ')} at a port", f"port.{name}_{unit.replace(' ', '_')}"
    return KeyFigure(figure_name, words, lambda data: data[variable].max(), needs=variable)


def _port_figures(names: Sequence[str], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the largest of each part of the load at each port, as in "body.arm.port.wrist.shear_N"; `names` are those of body
    and port."""
    return {
        f"body.{_port_path(name)}.{load.name.removeprefix('port.')}": data[load.needs][index]
        for index, name in enumerate(names)
        for load in LOADS
        if load.needs in data
    }


def _port_path(name: str) -> str:
    """Return what figures call a port that data calls by its body and itself."""
    return "{0}.port.{2}".format(*name.rpartition(" "))


def _latch_path(name: str) -> str:
    """Return what figures call a latch that data counts from 1 in its structure."""
    of, _, number = name.partition(" ")
    return f"{of}.{int(number) - 1}" if number else of


def _latch_figures(names: Sequence[str], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return when each latch fell in and whether it is closed at the end, as in "latch.capture.time_s"; members of a structure
    are counted from 0."""
    found = {}
    for index, name in enumerate(names if "latch_time" in data else ()):
        path = f"latch.{_latch_path(name)}"
        found[f"{path}.time_s"] = data["latch_time"][index]
        found[f"{path}.closed"] = data["latch_closed"][index]
    return found


def _figures_of_members(content: MechanismSection, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of each contact, latch, port and tank by itself."""
    latches = element_names(content).get("latch", ())
    return (
        contact_figures(content.contact_names(), data)
        | _latch_figures(latches, data)
        | _port_figures(content.ports(), data)
        | tank_figures([tank.name for tank in content.tank], tank_data(content, data))
        | recovery_figures(recovery_names(content)[0], recovered_data(content, data))
    )


LOADS = tuple(_at_ports(name, unit) for name, unit in PORT_UNITS.items())
FIGURES = (
    *CAPTURED,
    stored_figure("release_time_s", "release time", "release_time", only_with=LATCHED),
    KeyFigure(
        "held_at_end",
        "whether all latches hold at the end",
        lambda data: data["latch_closed"].min(),
        smooth=False,
        number=bool,
        needs="latch_closed",
    ),
    *OUTCOME,
    *MOTION,
    *CONTACTS,
    *SOLVER,
    *LOADS,
    KeyFigure(
        "bushing.turn_rad",
        "largest angle by which a bushing is turned",
        lambda data: data["bushing_peak_turn"].max(),
        needs="bushing_peak_turn",
        doubtful_from=np.pi,
        doubt="a bushing is turned by more than half a turn, its moment and energy jump, and what follows is not to be trusted",
    ),
    KeyFigure(
        "latch.bounces",
        "bounces of a latch in its play",
        lambda data: data["latch_bounces"].max(),
        smooth=False,
        number=int,
        needs="latch_bounces",
        doubtful_from=MANY_BOUNCES,
        doubt="a latch bounces in its play without settling: what holds it takes too little energy",
    ),
    KeyFigure(
        "beam.spin_share",
        "largest rate at which a flexible link by a table of modes turns, over its lowest frequency",
        lambda data: data["spin_share"].max(),
        smooth=False,
        needs="spin_share",
        doubtful_from=FAST,
        doubt="a flexible link by a table of modes turns at more than a tenth of its lowest frequency, and what its spin adds "
        "to its stiffness is left out",
    ),
    KeyFigure(
        "thruster.impulse_N_s",
        "impulse of thrusters, by size",
        lambda data: data["thrust_spent"][-1].sum(),
        "samples",
        needs="thrust_spent",
    ),
    *CONTROL,
    stored_figure("kinetic_energy_end_J", "kinetic energy at the end", "kinetic_energy_end"),
    stored_figure(
        "contact.energy_change_J", "change of energy since the start, after a contact", "episode_energy", each=True
    ),
    *PREDICTED,
    *BEHIND_A_RAMP,
)


def _mechanism_data(model: Mechanism, solution: Solution, log: Log) -> dict[str, Any]:
    """Return the data of a run of a mechanism from its log."""
    delay = 0.0 if model.delay is None else model.delay
    ports = sum(point.axis is not None for point in model.points)
    found = log_data(log, solution, delay) | whole_run_data(log, delay, ports, bushing_count(model.elements))
    found |= ramp_data(model, log)
    return found | known_loads(model, log, found.get(KNOWN, 1.0)) | relative_data(model, solution, log, delay)


def stated_features(content: MechanismSection) -> dict[str, bool]:
    """Return what the scenario is, as far as figures depend on it."""
    holds = content.control is not None and content.control.law == "attitude-hold"
    return {"conservative": is_conservative(content), "undamped": True, "attitude-hold": holds}


def member_summary(dataset: Dataset) -> dict[str, Any]:
    """Return the figures of each contact, latch, port, tank and recovery of a result by itself, for its summary."""
    data = dataset_data(dataset)
    names = {
        table: [str(name) for name in dataset[table].values] if table in dataset.coords else []
        for table in ("contact", "latch", "port", "tank", "recovery")
    }
    found = contact_figures(names["contact"], data) | _port_figures(names["port"], data)
    found |= _latch_figures(names["latch"], data) | tank_figures(names["tank"], data)
    found |= recovery_figures(names["recovery"], data)
    return {name: _plain_figure(name, value) for name, value in found.items()}


def capture_rows(dataset: Dataset) -> list[dict[str, Any]]:
    """Return each capture of a run: when all latches came to hold, and when the first of them let go again (s)."""
    if "capture_onset" not in dataset:
        return []
    times = zip(dataset.capture_onset.values, dataset.capture_release.values, strict=True)
    return [{"onset_s": float(onset), "release_s": finite_or_none(release)} for onset, release in times]


def _plain_figure(name: str, value: float) -> float | int | bool | None:
    """Return a figure as JSON has it: a count, a yes or no or a number; None for what did not happen."""
    kinds = {"count": int, "closed": bool}
    return kinds.get(name.rpartition(".")[2], float)(value) if np.isfinite(value) else None


MECHANISM = LocatedFigures(FIGURES, _mechanism_data, stated_features, _figures_of_members)

# numbers of a summary that are no key figures: of the control of an arm, of clouds, of the run
OTHERS = (
    "settling_time_s",
    "remaining_rate_rad_s",
    "remaining_momentum_N_m_s",
    "sampling_error",
    "sampling_uncertainty",
    "wall_time_s",
)


def refuse_unknown_requirements(scenario: Scenario, figures: Sequence[KeyFigure]) -> None:
    """Raise ScenarioError for a requirement on a figure that no run of a mechanism, whose key figures these are, has, or of a
    member that this one lacks."""
    known, members = dict.fromkeys((*(one.name for one in figures), *OTHERS)), _member_names(scenario.content)
    for one in scenario.requirements:
        where, table = f"{scenario.name}: requirements.{one.name}", one.figure.partition(".")[0]
        found = MEMBER.fullmatch(one.figure)
        if found is None:
            resolve_figure(one.figure, known, where)
            continue
        member = found["member"] or f"{found['body']}.port.{found['port']}"
        if member not in members[table]:
            kind = "port of a body" if table == "body" else table
            raise ScenarioError(f"{where}: {member!r} is no {kind} of the mechanism; {nearest(member, members[table])}")


def _member_names(content: MechanismSection) -> dict[str, list[str]]:
    """Return the names of contacts, latches, tanks, recoveries and ports as they stand in names of figures, by table."""
    return {
        "contact": content.contact_names(),
        "latch": [_latch_path(name) for name in element_names(content).get("latch", ())],
        "tank": [tank.name for tank in content.tank],
        "recovery": recovery_names(content)[0],
        "body": [_port_path(name) for name in content.ports()],
    }
