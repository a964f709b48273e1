"""What control may take up, and what of it is used up, at the end of a run or before."""

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
    capacity = dataset.attrs["wheel_capacity_N_m_s"]
    wheel = float(abs(dataset.wheel_momentum[-1]).max())
    holds = f"the wheel holds {wheel:.3g} of {capacity:.3g} N m s" if capacity else ""
    return [*([holds] if wheel >= SPENT * capacity else []), *_thrusters_spent(dataset, "N m s", 1)]


def _thrusters_spent(dataset: Dataset, unit: str, place: int) -> list[str]:
    """Return that the budget of thrusters in a unit is used up at the end, in words, empty ones where there is none; nothing
    where it is not."""
    used, budget = float(dataset.thruster_use[-1, place]), dataset.attrs[f"thruster_budget_{unit.replace(' ', '_')}"]
    if used < SPENT * budget:
        return []
    return [f"thrusters have used {used:.3g} of {budget:.3g} {unit}" if budget else ""]


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
    spent = [*_thrusters_spent(dataset, "N m s", 1), *_thrusters_spent(dataset, "N s", 0)]
    lacking = dataset.attrs["thrusters_lack"]
    warnings = (
        [f"thrusters alone cannot give what control may ask for: {lacking} (axes of {steered_body(dataset)})"]
        if lacking
        else []
    )
    if thrusters_idle(dataset):
        warnings.append(IDLE)
    run_out = [f"control has run out at the end: {words}" for words in spent if words]
    return warnings + _wheel_full(dataset) + run_out


def _wheel_full(dataset: Dataset) -> list[str]:
    """Return a warning where the wheel is full at any time of a run: it may have emptied again by the end."""
    capacity, time = dataset.attrs["wheel_capacity_N_m_s"], dataset.time.values
    full = np.abs(dataset.wheel_momentum.values).max(axis=1) >= SPENT * capacity
    if not capacity or not full.any():
        return []
    share = np.trapezoid(full.astype(float), time) / (time[-1] - time[0]) if len(time) > 1 else 1.0
    end = " and at its end" if full[-1] else ""
    return [
        f"the wheel is full, at its {capacity:.3g} N m s, first at t = {time[full.argmax()]:.6g} s, for {100 * share:.2g} % of "
        f"the run{end}: then it gives no more of what control asks for"
    ]
