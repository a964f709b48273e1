"""SITS, section 5.3: the runs with compensators, and what is measured of them.

Runs "with T/2" are those of the presets `sits-fgc`, `sits-lgc` and `sits-scvg`; "continuous" are the preset `sits` with the
settings of its `[compare.NAME]`. All multiply the model's velocity, sampled at 2 ms, unless their name says otherwise.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import xarray as xr

from dockdyn.dataset import as_dataset
from dockdyn.deferred import Float, jax, jnp
from dockdyn.hil.compensators.compensator import CompensatorInput
from dockdyn.hil.energy_observer import Oracle
from dockdyn.papers.sits.rig import rig
from dockdyn.rig.measures import at_last_peak
from dockdyn.rig.simulate import simulate_rig
from dockdyn.rig.summary import measures_of
from dockdyn.scenario.load import Scenario, load

type Series = Float[np.ndarray, "time"]

PRINTED_COEFFICIENT = {"loop.compensator.gain": 110.62}  # N s/m: with it e_R is the printed 1.0203
SWITCHES = (26.0, 36.0, 46.0)  # s, t_ε of Fig. 11
T2 = "with T/2"
S1 = "continuous"


def tuned_gain(**keys: object) -> dict[str, Any]:
    """Return a fixed gain, tuned."""
    return {"loop.compensator": {"law": "fixed-gain", **keys}}


def settings_in_preset(law: str) -> dict[str, Any]:
    """Return the settings of a law in `[compare.NAME]` of the preset `sits`."""
    found = next(section.unnamed() for section in load("sits").content.compare if section.law == law)
    return {"loop.compensator": found.model_dump(exclude_none=True)}


def cases() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return preset and overrides of every run, by name."""
    both = {"law": "velocity-acceleration", "velocity": "model", "period": "2 ms"}
    on_robot = {"loop.compensator.velocity": "robot", "loop.compensator.period": None}
    tracked = {"velocity": "tracking-differentiator", "period": "2 ms"}
    found: dict[str, tuple[str, dict[str, Any]]] = {
        f"FGC, {T2}": ("sits-fgc", {}),
        f"FGC of the printed e_R, {T2}": ("sits-fgc", PRINTED_COEFFICIENT),
        f"LGC, {T2}": ("sits-lgc", {}),
        f"SCVG, {T2}": ("sits-scvg", {}),
        f"SCVG as printed, {T2}": ("sits-scvg", {"loop.compensator.form": "as-printed"}),
        f"velocity and acceleration, {T2}": ("sits-fgc", {"loop.compensator": both}),
        f"FGC, {S1}": ("sits", settings_in_preset("fixed-gain")),
        f"LGC, {S1}": ("sits", settings_in_preset("linear-gain")),
        f"SCVG, {S1}": ("sits", settings_in_preset("variable-gain")),
        f"velocity and acceleration, {S1}": ("sits", settings_in_preset("velocity-acceleration")),
        f"none, {T2}": ("sits-fgc", {"loop.compensator": None}),
        "FGC on the robot's velocity": ("sits-fgc", tuned_gain(velocity="robot")),
        "FGC on the robot's velocity, sampled": ("sits-fgc", tuned_gain(velocity="robot", period="2 ms")),
        "FGC on the tracking differentiator's": ("sits-fgc", tuned_gain(**tracked, differentiator_form="as-printed")),
        "FGC on the differentiator's, straight lines": ("sits-fgc", tuned_gain(**tracked)),
        "SCVG on the robot's velocity": ("sits-scvg", on_robot),
    }
    for time in SWITCHES:
        found[f"SCVG, t_ε = {time:g} s"] = ("sits-scvg", {"loop.compensator.switch_time": time})
    return found


@lru_cache
def scenario(name: str) -> Scenario:
    """Return one of `cases`."""
    preset, changes = cases()[name]
    return load(preset, changes)


@lru_cache
def run(name: str) -> xr.Dataset:
    """Return the run of one of `cases`."""
    return simulate_rig(scenario(name)).to_xarray()


@lru_cache
def measure(name: str) -> dict[str, float]:
    """Return its measures."""
    return {what: float(value) for what, value in measures_of(as_dataset(run(name))).items()}


def axis(found: xr.Dataset, name: str) -> Series:
    return found[name].values[:, 0]


def force_error(found: xr.Dataset) -> Series:
    """Return e_F, N (eq. 44): the ideal force less all that acts on the target."""
    return axis(found, "ideal_force") - axis(found, "total_force")


def velocity_error(found: xr.Dataset) -> Series:
    """Return e_V, mm/s (eq. 44)."""
    return 1e3 * (axis(found, "velocity") - axis(found, "ideal_velocity"))


def coefficients(found: xr.Dataset) -> tuple[Series, Series]:
    """Return e_R (eq. 44) at each peak of the ideal speed, and when (s)."""
    ideal, speed = (np.abs(axis(found, name)) for name in ("ideal_velocity", "velocity"))
    at = np.flatnonzero((ideal[1:-1] >= ideal[:-2]) & (ideal[1:-1] > ideal[2:])) + 1
    pairs = [at_last_peak(ideal[i - 1 : i + 2], speed[i - 1 : i + 2], 0) for i in at]
    return found.time.values[at], np.array([other / own for own, other in pairs])


def acting_forces(found: xr.Dataset) -> dict[str, Series]:
    """Return what F_x of eq. 45 may be (N): as a sensor reads it, just before commands; just after them; and all forces."""
    own, (first, second) = rig(), found.time.values[:2]
    after = -own.stiffness * axis(found, "robot_position") - own.damping * axis(found, "robot_velocity")
    late = round(own.delay / float(second - first))  # samples
    return {
        "the measured force": axis(found, "measured_force"),
        "the force just after commands": np.concatenate([np.zeros(late), after[:-late]]),
        "all forces": axis(found, "total_force"),
    }


def observed_energy(found: xr.Dataset, force: Series) -> Series:
    """Return ε_h, J (eq. 45), of a run with F_x the series `force`."""
    names = ("ideal_position", "ideal_force", "robot_position")
    known = {name: jnp.asarray(found[name].values) for name in names} | {"force": jnp.asarray(force[:, None])}
    rows = CompensatorInput(**(dict.fromkeys(CompensatorInput._fields) | known))  # type: ignore[arg-type]
    return np.asarray(jax.vmap(lambda one: Oracle().step((), one)[1])(rows))


def largest_between(found: xr.Dataset, values: Series, first: float, last: float) -> float:
    """Return the largest size of a series from `first` to `last` (s)."""
    time = found.time.values
    return float(np.abs(values[(time >= first) & (time <= last)]).max())


def last_cycle(found: xr.Dataset, values: Series) -> float:
    """Return the largest size of a series in the last cycle."""
    end = float(found.time[-1])
    return largest_between(found, values, end - 2 * np.pi / rig().frequency, end)
