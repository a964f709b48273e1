"""What control may take up, and what of it is used up at the end of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.dataset import Dataset

if TYPE_CHECKING:
    from dockdyn.scenario.tables.actuators import ActuatorSection


SPENT = 0.99  # of a capacity or budget: it is used up
IDLE = (
    "no thruster has fired: nothing was wanted of one, or nothing that one can give; look at the directions of references and "
    "thrust, and at the dead band"
)


def control_attributes(control: ActuatorSection) -> dict[str, Any]:
    """Return the law and what wheel and thrusters may take up, for a dataset; zero where there are none."""

    def most(limit: float | None, budget: float | None) -> float:
        return 0.0 if limit is None else np.inf if budget is None else float(budget)

    return {
        "controlled": int(control.law != "none"),
        "control": control.law,
        "wheel_capacity_N_m_s": most(control.base_limit, control.base_capacity),
        "thruster_budget_N_s": most(control.thruster_force, control.thruster_impulse),
        "thruster_budget_N_m_s": most(control.thruster_torque, control.thruster_angular_impulse),
    }


def steered_body(dataset: Dataset) -> str:
    """Return what control steers, in words."""
    name = dataset.attrs.get("steered_body", "")
    return f"“{name}”" if name else "the chaser"


def used_up(dataset: Dataset) -> list[str]:
    """Return what of the wheel and of the thrusters' torque is used up at the end, in words; empty ones where there is none."""
    capacity, budget = dataset.attrs["wheel_capacity_N_m_s"], dataset.attrs["thruster_budget_N_m_s"]
    wheel, used = float(abs(dataset.wheel_momentum[-1]).max()), float(dataset.thruster_use[-1, 1])
    spent = []
    if wheel >= SPENT * capacity:
        spent.append(f"the wheel holds {wheel:.3g} of {capacity:.3g} N m s" if capacity else "")
    if used >= SPENT * budget:
        spent.append(f"thrusters have used {used:.3g} of {budget:.3g} N m s" if budget else "")
    return spent


def thrusters_idle(dataset: Dataset) -> bool:
    """Return whether a chaser has thrusters that control needs, and none of them has ever fired."""
    if "control_work" not in dataset:
        return False
    pushing = "thruster" in dataset.dims or dataset.attrs["thruster_budget_N_s"] > 0
    turning = dataset.attrs["thruster_budget_N_m_s"] > 0 and dataset.attrs["wheel_capacity_N_m_s"] == 0
    return bool(pushing or turning) and not np.any(dataset.thruster_use[-1])


def control_warnings(dataset: Dataset) -> list[str]:
    """Return warnings: what of a steered body cannot give what is asked, has never given any, or can give no more."""
    if "control_work" not in dataset:
        return []
    used, budget = float(dataset.thruster_use[-1, 0]), dataset.attrs["thruster_budget_N_s"]
    found = [words for words in used_up(dataset) if words]
    if budget and used >= SPENT * budget:
        found.append(f"thrusters have used {used:.3g} of {budget:.3g} N s")
    lacking = dataset.attrs["thrusters_lack"]
    warnings = (
        [f"thrusters alone cannot give what control may ask for: {lacking} (axes of {steered_body(dataset)})"]
        if lacking
        else []
    )
    if thrusters_idle(dataset):
        warnings.append(IDLE)
    return warnings + [f"control has run out at the end: {words}" for words in found]
