"""dockdyn: the mechanics of spacecraft docking, berthing and capture, and of the rigs that test them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dockdyn import backend

if TYPE_CHECKING:
    from dockdyn import impact, stability
    from dockdyn.api import replay_html, stepper, summarise
    from dockdyn.api import simulate as _simulate
    from dockdyn.contact.laws.bristles import Bristles
    from dockdyn.contact.laws.friction import Friction
    from dockdyn.contact.laws.normal_law import NormalLaw
    from dockdyn.contact.laws.yielding_law import YieldingLaw
    from dockdyn.contact.surfaces.surface import Extent, Surface
    from dockdyn.control.controller import Controller
    from dockdyn.dataset import in_xarray
    from dockdyn.docking.latching import least_latching_speed
    from dockdyn.docking.resting import resting_state
    from dockdyn.elements.force_element import ForceElement
    from dockdyn.hil.compensators.compensator import Compensator
    from dockdyn.impact.laws.impact_law import ImpactLaw
    from dockdyn.mechanics.vector import Vector
    from dockdyn.pages import explore, report_html
    from dockdyn.parameters import parameter
    from dockdyn.realtime.devices.roles import ForceSensor, Robot
    from dockdyn.report.plot import plot
    from dockdyn.results.store import open_result as _open_result
    from dockdyn.rig.comparison.compare import compare as _compare
    from dockdyn.scenario.distributions.own_distribution import Distribution
    from dockdyn.scenario.language.errors import ScenarioError
    from dockdyn.scenario.load import Scenario, load
    from dockdyn.scenario.preset_files import presets
    from dockdyn.scenario.sanity.check import check_numbers
    from dockdyn.studies.campaign.answers import campaign_answers
    from dockdyn.studies.campaign.conduct import campaign as _campaign
    from dockdyn.studies.convergence.converged import check_convergence
    from dockdyn.studies.design.conduct import design
    from dockdyn.studies.envelope.search import envelope as _envelope
    from dockdyn.studies.identification.bounce_log import read_bounce
    from dockdyn.studies.identification.contact import identify_contact
    from dockdyn.studies.identification.parameters import identify_parameters
    from dockdyn.studies.identification.robot import identify_robot, read_robot_log
    from dockdyn.studies.margins.answer import margins
    from dockdyn.studies.objectives.objective import objective
    from dockdyn.studies.sensitivity.table import sensitivity
    from dockdyn.trees import field

    campaign = in_xarray(_campaign)
    compare = in_xarray(_compare)
    envelope = in_xarray(_envelope)
    open_result = in_xarray(_open_result)
    simulate = in_xarray(_simulate)

backend.configure_jax()

# loaded on first use, so that `import dockdyn` and `dockdyn --help` stay quick
PLACES = {
    "Bristles": "contact.laws.bristles",
    "Compensator": "hil.compensators.compensator",
    "Controller": "control.controller",
    "Distribution": "scenario.distributions.own_distribution",
    "Extent": "contact.surfaces.surface",
    "ForceElement": "elements.force_element",
    "ForceSensor": "realtime.devices.roles",
    "Friction": "contact.laws.friction",
    "ImpactLaw": "impact.laws.impact_law",
    "NormalLaw": "contact.laws.normal_law",
    "Robot": "realtime.devices.roles",
    "Scenario": "scenario.load",
    "ScenarioError": "scenario.language.errors",
    "Surface": "contact.surfaces.surface",
    "Vector": "mechanics.vector",
    "YieldingLaw": "contact.laws.yielding_law",
    "campaign": "studies.campaign.conduct",
    "campaign_answers": "studies.campaign.answers",
    "check_numbers": "scenario.sanity.check",
    "compare": "rig.comparison.compare",
    "check_convergence": "studies.convergence.converged",
    "design": "studies.design.conduct",
    "envelope": "studies.envelope.search",
    "explore": "pages",
    "field": "trees",
    "identify_contact": "studies.identification.contact",
    "identify_parameters": "studies.identification.parameters",
    "identify_robot": "studies.identification.robot",
    "least_latching_speed": "docking.latching",
    "load": "scenario.load",
    "margins": "studies.margins.answer",
    "objective": "studies.objectives.objective",
    "open_result": "results.store",
    "parameter": "parameters",
    "plot": "report.plot",
    "presets": "scenario.preset_files",
    "read_bounce": "studies.identification.bounce_log",
    "read_robot_log": "studies.identification.robot",
    "replay_html": "api",
    "report_html": "pages",
    "resting_state": "docking.resting",
    "sensitivity": "studies.sensitivity.table",
    "simulate": "api",
    "stepper": "api",
    "summarise": "api",
}

IN_XARRAY = {
    "campaign",
    "compare",
    "envelope",
    "open_result",
    "simulate",
}  # what returns a dataset returns one of Xarray's

__all__ = [
    "Bristles",
    "Compensator",
    "Controller",
    "Distribution",
    "Extent",
    "ForceElement",
    "ForceSensor",
    "Friction",
    "ImpactLaw",
    "NormalLaw",
    "Robot",
    "Scenario",
    "ScenarioError",
    "Surface",
    "Vector",
    "YieldingLaw",
    "campaign",
    "campaign_answers",
    "check_convergence",
    "check_numbers",
    "compare",
    "design",
    "envelope",
    "explore",
    "field",
    "identify_contact",
    "identify_parameters",
    "identify_robot",
    "impact",
    "least_latching_speed",
    "load",
    "margins",
    "objective",
    "open_result",
    "parameter",
    "plot",
    "presets",
    "read_bounce",
    "read_robot_log",
    "replay_html",
    "report_html",
    "resting_state",
    "sensitivity",
    "simulate",
    "stability",
    "stepper",
    "summarise",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401, whatever has the name
    if name == "__version__":
        from dockdyn.installed import version

        return version("dockdyn")
    if name in ("impact", "stability"):
        return importlib.import_module(f"dockdyn.{name}")
    if name not in PLACES:
        raise AttributeError(f"module 'dockdyn' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"dockdyn.{PLACES[name]}"), name)
    if name in IN_XARRAY:
        from dockdyn.dataset import in_xarray

        found = globals()[name] = in_xarray(found)
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
