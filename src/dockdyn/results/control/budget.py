"""What control may take up, and what of it is used up, at the end of a run or before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Bool, Float

if TYPE_CHECKING:
    from dockdyn.scenario.tables.actuators import ActuatorSection


# what actuators give, by the key of its limit
GIVEN = {
    "limit": "motor_effort",
    "base_limit": "wheel_torque",
    "thruster_force": "thruster_force",
    "thruster_torque": "thruster_torque",
}
WITHIN = ("detumble", "reaction-null-space")  # laws that ask for no more than actuators give
FULLY = 1 - 1e-9  # of a limit: it is reached
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
        "actuator_limits": json.dumps(actuator_limits(control)),
    }


def actuator_limits(control: ActuatorSection) -> dict[str, Any]:
    """Return the limits that are stated of what actuators give, by key."""
    return {key: limit for key in GIVEN if (limit := getattr(control, key, None)) is not None}


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
    return warnings + _at_limits(dataset) + _wheel_full(dataset) + run_out


def _wheel_full(dataset: Dataset) -> list[str]:
    """Return a warning where the wheel is full at any time of a run: it may have emptied again by the end."""
    capacity, time = dataset.attrs["wheel_capacity_N_m_s"], dataset.time.values
    full = np.abs(dataset.wheel_momentum.values).max(axis=1) >= SPENT * capacity
    if not capacity or not full.any():
        return []
    when = _since_when(full, time)
    return [f"the wheel is full, at its {capacity:.3g} N m s, {when}: then it gives no more of what control asks for"]


def _at_limits(dataset: Dataset) -> list[str]:
    """Return a warning for every limit of an actuator that holds back what control asks for, by the samples of a run."""
    if dataset.attrs["control"] in WITHIN:
        return []
    found = []
    for key, limit in json.loads(dataset.attrs["actuator_limits"]).items():
        if "thruster" in dataset.dims and key != "base_limit":  # those of a table fire or do not
            continue
        given = np.array(dataset[GIVEN[key]].values)
        if key == "base_limit":  # of the motor, which carries the wheel along
            given += np.cross(
                dataset.rate.sel(body=dataset.attrs["steered_body"]).values, dataset.wheel_momentum.values
            )
        reached = (np.abs(given) >= FULLY * np.asarray(limit)).any(axis=1)
        if reached.any():
            when = _since_when(reached, dataset.time.values)
            found.append(f"control.{key} is reached, {when}: then control gives less than it asks for")
    return found


def _since_when(reached: Bool[np.ndarray, "time"], time: Float[np.ndarray, "time"]) -> str:
    """Return since when and for how much of a run something is so, by its samples, in words."""
    share = np.trapezoid(reached.astype(float), time) / (time[-1] - time[0]) if len(time) > 1 else 1.0
    end = " and at its end" if reached[-1] else ""
    return f"first at t = {time[reached.argmax()]:.6g} s, for {100 * share:.2g} % of the run{end}"
