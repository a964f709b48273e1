"""The summary of a run: what `dockdyn run --json` prints."""

from __future__ import annotations

import math
import tomllib
from typing import Any

import numpy as np
import xarray as xr

from dockdyn.scenario.requirement import Requirement, requirements_of
from dockdyn.study.berthing_summary import summarise_berthing
from dockdyn.study.flight_control import control_totals, control_used_up
from dockdyn.study.measures import drift, given_by_contacts, kept, number, ratio
from dockdyn.study.orbital_summary import summarise_orbital_arm
from dockdyn.study.requirements import judge
from dockdyn.study.rig_summary import summarise_rig

SUMMARIES = {"berthing": summarise_berthing, "orbital-arm": summarise_orbital_arm, "rig": summarise_rig}
COARSE = 1e-4  # relative error above which a run is not to be trusted without a warning
CAUGHT = {
    "capture_impulse_along_N_s": "capture_impulse_along",
    "capture_impulse_across_N_s": "capture_impulse_across",
    "capture_energy_loss_J": "capture_loss",
}
LOSSLESS = 1e-9  # share of the kinetic energy below which a change of energy counts as none


def summarise(dataset: xr.Dataset, name: str = "scenario") -> dict[str, Any]:
    """Contacts, energy, errors of conserved quantities, warnings, requirements. Keys carry their unit; plain Python types.

    Raises ScenarioError, which calls the scenario `name`, where a requirement does not fit the figures.
    """
    summary = within_range(SUMMARIES.get(dataset.attrs["kind"], summarise_contacts)(dataset))
    return summary | {"requirements": judge(stated_requirements(dataset, name), summary, name)}


def within_range(summary: dict[str, Any]) -> dict[str, Any]:
    """The summary without the figures that are no numbers any more, such as energies that overflow; a warning names them."""
    lost = []

    def finite(value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return {key: finite(item, f"{name}.{key}".removeprefix(".")) for key, item in value.items()}
        if isinstance(value, list):
            return [finite(item, f"{name}.{index}") for index, item in enumerate(value)]
        if isinstance(value, float) and not math.isfinite(value):
            lost.append(name)
            return None
        return value

    kept = finite(summary, "")
    if lost:
        names = ", ".join(lost[:3]) + (f" and {len(lost) - 3} more" if len(lost) > 3 else "")
        kept["warnings"].append(f"beyond the range of numbers, so left out: {names}")
    return kept


def stated_requirements(dataset: xr.Dataset, name: str = "scenario") -> tuple[Requirement, ...]:
    """The requirements of the scenario that was run."""
    return requirements_of(tomllib.loads(dataset.attrs["scenario"]).get("requirements", {}), name)


def summarise_contacts(dataset: xr.Dataset) -> dict[str, Any]:
    """Of two free bodies or two chains of masses."""
    flight = "angular_momentum" in dataset
    skeleton = {
        "kind": dataset.attrs["kind"],
        "title": dataset.attrs["title"],
        "status": dataset.attrs["status"],
        "contacts": [contact(dataset.isel(episode=i)) for i in range(dataset.sizes["episode"])],
        "impacts": impacts(dataset),
        **capture(dataset),
        "kinetic_energy_start_J": float(dataset.kinetic_energy[0]),
        "linear_momentum_error": drift(kept(dataset, "linear"), dataset.linear_momentum_scale),
        "angular_momentum_error": drift(kept(dataset, "angular"), dataset.angular_momentum_scale) if flight else None,
        "energy_error": energy_error(dataset),
        "work_energy_error": work_energy_error(dataset),
        **totals(dataset),
        **control_totals(dataset),
        "warnings": warnings(dataset),
        "integrator": dataset.attrs["integrator"],
        "step_s": float(dataset.attrs["step_s"]),
        "step_error": float(dataset.attrs["step_error"]),
        "steps": int(dataset.attrs["steps"]),
        "end_time_s": float(dataset.attrs["end_time_s"]),
        "wall_time_s": float(dataset.attrs["wall_time_s"]),
    }
    return skeleton | (flight_energies(dataset) if flight else chain_velocities(dataset))


def totals(dataset: xr.Dataset) -> dict[str, Any]:
    """All contacts together: how many, how hard."""
    if not dataset.sizes["episode"]:
        none = dict.fromkeys(("first_contact_s", "peak_time_s", "largest_approach_speed_m_s"))
        return {"contact_count": 0, "peak_normal_force_N": 0.0, "contact_impulse_N_s": 0.0, **none}
    hardest = int(dataset.episode_peak_force.values.argmax())
    return {
        "contact_count": dataset.sizes["episode"],
        "peak_normal_force_N": float(dataset.episode_peak_force[hardest]),
        "contact_impulse_N_s": float(dataset.episode_impulse.sum()),
        "first_contact_s": float(dataset.episode_onset.min()),
        "peak_time_s": number(dataset.episode_peak_time[hardest]),
        "largest_approach_speed_m_s": float(dataset.episode_approach_speed.max()),
    }


def flight_energies(dataset: xr.Dataset) -> dict[str, Any]:
    """What each contact of two free bodies did to their kinetic energy."""
    start = float(dataset.kinetic_energy[0])
    energy = [number(value) for value in dataset.episode_energy.values]
    gains = [number(value) for value in dataset.episode_energy_gain.values]
    return {
        "kinetic_energy_end_J": float(dataset.kinetic_energy_end),
        "kinetic_energy_change_J": energy,
        "energy_class": [classify(gain, start, after) for gain, after in zip(gains, energy, strict=True)],
    }


def chain_velocities(dataset: xr.Dataset) -> dict[str, Any]:
    """Relative velocity of the centres of mass of two chains, simulated and predicted, around each contact."""
    if "latch_rigid_speed" in dataset:
        return {
            "minimum_velocity_m_s": number(dataset.latch_least_speed),
            "minimum_velocity_rigid_m_s": float(dataset.latch_rigid_speed),
            "greatest_travel_m": float(dataset.greatest_travel),
        }
    return {
        "effective_mass_ratio": float(dataset.effective_mass_ratio),
        "restitution": number(dataset.restitution),
        **{
            f"relative_velocity_{when}_m_s": [number(value) for value in dataset[f"episode_relative_{when}"].values]
            for when in ("before", "after", "predicted")
        },
        "first_order_correction_m_s": number(dataset.first_order_correction),
    }


def capture(dataset: xr.Dataset) -> dict[str, Any]:
    """Whether a latch caught the probe; None throughout where there is none."""
    names = ("captured", "capture_time_s", "capture_speed_margin_m_s", *CAUGHT)
    if "capture_time" not in dataset:
        return dict.fromkeys(names)
    least = dataset.latch_least_speed if "latch_least_speed" in dataset else dataset.latch_needed_speed
    return {
        "captured": bool(np.isfinite(dataset.capture_time)),
        "capture_time_s": number(dataset.capture_time),
        "capture_speed_margin_m_s": number(dataset.latch_entry_speed - least),
        **{name: number(dataset[variable]) for name, variable in CAUGHT.items()},
    }


def impacts(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """Velocities that jumped: a latch that fell in."""
    if "capture_time" not in dataset or not np.isfinite(dataset.capture_time):
        return []
    return [
        {
            "time_s": float(dataset.capture_time),
            "law": str(dataset.attrs["capture_law"]),
            "impulse_normal_N_s": float(dataset.capture_impulse_along),
            "impulse_tangential_N_s": number(dataset.capture_impulse_across),
            "energy_loss_J": float(dataset.capture_loss),
        }
    ]


def contact(episode: xr.Dataset) -> dict[str, Any]:
    """One contact, from onset to release; places and azimuths of free bodies only."""
    flight = "episode_azimuth" in episode
    azimuth = float(episode.episode_azimuth) if flight else math.nan
    return {
        "onset_s": float(episode.episode_onset),
        "release_s": number(episode.episode_release),
        "feature": str(episode.episode_feature.values),
        "surface": str(episode.episode_surface.values),
        "position_m": [float(value) for value in episode.episode_position.values] if flight else None,
        "azimuth_deg": math.degrees(azimuth) % 360 if np.isfinite(azimuth) else None,
        "approach_speed_m_s": float(episode.episode_approach_speed),
        "peak_normal_force_N": float(episode.episode_peak_force),
        "peak_time_s": number(episode.episode_peak_time),
        "impulse_N_s": float(episode.episode_impulse),
    }


def work_energy_error(dataset: xr.Dataset) -> float | None:
    """Largest difference between the contact forces' work and the change of energy, relative to the largest energy.

    The energy is the kinetic one, with that of springs inside, less the work of control; None where dampers inside take
    some, too.
    """
    if not dataset.attrs["undamped"]:
        return None
    error = abs(given_by_contacts(dataset) - dataset.work)
    return ratio(float(error.max()), float(dataset.kinetic_energy.max()))


def classify(gain: float | None, start: float, after: float | None) -> str | None:
    """A contact by the energy it added (Sazawal et al., after eq. 152); None while it is not over."""
    if gain is None or after is None:
        return None
    if abs(gain) <= LOSSLESS * max(start, start + after):
        return "lossless"
    return "passive" if gain < 0 else "active"


def overlapping(dataset: xr.Dataset) -> list[int]:
    """Numbers of the contacts during which the force of another one acted, too: their energies cannot be told apart."""
    onset, release = dataset.episode_onset.values, dataset.episode_release.values
    over = np.where(np.isfinite(release), release + float(dataset.attrs["delay_s"]), np.inf)
    together = (onset[:, None] < over) & (onset < over[:, None])
    return [int(index) + 1 for index in np.flatnonzero(together.sum(axis=1) > 1)]


def energy_error(dataset: xr.Dataset) -> float | None:
    """Where energy should hold: its largest change over whole contacts, relative to the largest; else None."""
    largest = float(dataset.kinetic_energy.max())
    whole = [value for value in dataset.episode_energy.values if np.isfinite(value)]
    if not dataset.attrs["conservative"]:
        return None
    return ratio(float(np.max(np.abs(whole))), largest) if whole else 0.0


def warnings(dataset: xr.Dataset) -> list[str]:
    """What the reader should know before trusting the numbers."""
    found = []
    if not dataset.attrs["finished"]:
        found.append(dataset.attrs["status"])
    found += [line for line in dataset.attrs["prediction"].splitlines() if line]
    if dataset.attrs["step_error"] > COARSE:
        found.append(
            f"the step is too long for the motion: a step's error reaches {dataset.attrs['step_error']:.1e} of it; "
            "leave integrator.step out to have it chosen"
        )
    work_error = work_energy_error(dataset)
    if work_error is not None and work_error > COARSE:
        found.append(f"the work of the contact forces and the change of energy differ by {work_error:.1e}")
    if overlapping(dataset):
        found.append(
            "some contacts overlap in time or within one delay: their energies are those of all of them together"
        )
    found += control_used_up(dataset)
    if not dataset.sizes["episode"]:
        found.append("no contact within the duration")
    return found
