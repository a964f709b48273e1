"""Which figures the run of a rig has, known before it: what its requirements may name."""

from __future__ import annotations

from dockdyn.results.requirements import resolve_figure, without_unit
from dockdyn.rig.summary import PARTS
from dockdyn.scenario.language.errors import ScenarioError, is_key_inside
from dockdyn.scenario.load import Scenario

FIGURES = (
    "peak_measured_force_N", "amplitude_ratio", "phase_error_rad", "peak_force_error_N", "end_force_error_N",
    "end_velocity_error_m_s", "recovery_coefficient", "apparent_restitution", "ideal_restitution", "restitution_error",
    "amplitude_error", "spectral_radius", "amplitude_bound", "stiffness_N_m", "effective_mass_kg", "gain_lowest_N_s_m",
    "gain_highest_N_s_m", "gain_range_stable", "gain_range_stable.exact", "gain_range_stable.routh",
    *(f"delay_budget_ms.{part}" for part in PARTS), "delay_total_ms", "delay_restitution", "sensor_error_N",
    "kinetic_energy_start_J", "kinetic_energy_error_J", "step_s", "steps", "end_time_s", "wall_time_s",
)  # fmt: skip
MEANT = {"peak_force": "peak_measured_force"}  # figures of a mechanism, and what a rig has of them
OF_MECHANISM = ("captured", "capture_time", "contact", "latch", "body")  # it has nothing of


def refuse_unknown_requirements(scenario: Scenario) -> None:
    """Raise ScenarioError for a requirement on a figure that no run of a rig has."""
    for one in scenario.requirements:
        where = f"{scenario.name}: requirements.{one.name}"
        name = without_unit(one.figure)
        if name in MEANT:
            raise ScenarioError(f"{where}: no such figure on a rig; did you mean {MEANT[name]!r}?")
        if any(is_key_inside(name, word) for word in OF_MECHANISM):
            raise ScenarioError(
                f"{where}: a rig tells what its loop measures, nothing of single contacts, latches and capture; must be a "
                "figure of the rig, such as peak_measured_force, or asked of the mechanism without [rig]"
            )
        resolve_figure(one.figure, dict.fromkeys(FIGURES), where)
