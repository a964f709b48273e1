"""What reports of runs with contacts have in common: contacts and loads as tables, errors of what should be conserved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.report import ENERGY, ReportBlock, Table, conservation_errors
from dockdyn.report.wording import NOTHING, align_numbers, contacts_or_count, format_significant
from dockdyn.results.contact_summary import overlapping_contacts
from dockdyn.results.measures import acts_beside_contacts, describe_work_sources, from_outside, stores_inside
from dockdyn.results.requirements import NOISE, without_rounding

LISTED = 300  # contacts in the table; more only make the page slow
FINE = 10  # samples a contact needs for its sampled loads to be trusted
EFFECTS = {
    "passive": "energy lost",
    "lossless": "energy kept",
    "active": "energy gained",
    "unresolved": "it changed the energy by less than this run resolves",
}


def has_loads(dataset: Dataset) -> bool:
    """Return whether anything acted between the bodies: a contact, or what holds a captured probe."""
    return bool(dataset.sizes["episode"]) or bool(np.isfinite(dataset.get("capture_time", np.nan)))


def contacts_in_words(dataset: Dataset, summary: dict[str, Any], classes: list[str]) -> list[str]:
    """Return how many contacts there were, how hard, and what they did to the energy, a sentence each."""
    count = len(classes)
    seat = seat_force(dataset, summary)
    if not dataset.sizes["contact"]:
        return []
    if not count:
        held = f"; the catch then holds the probe on the wall with up to {seat}" if seat else ""
        return [
            "There was no contact." if summary["captured"] is None else f"There was no contact beside the latch{held}."
        ]
    if all_struck(dataset):
        number, impulse, _ = hardest_impact(dataset)
        largest = f"{format_significant(impulse)} N s in Q{number}"
        return [f"{count} contact{'s' if count > 1 else ''} by impact laws; largest normal impulse {largest}."]
    peak = int(np.argmax(dataset.episode_peak_force.values))
    largest = f"{format_significant(float(dataset.episode_peak_force[peak]))} N in Q{peak + 1}"
    if seat:
        largest = f"{seat} where the catch holds the probe on the wall, {largest} before"
    words = [f"{count} contact{'s' if count > 1 else ''}; largest normal force {largest}."]
    for name, effect in EFFECTS.items():
        numbers = [index + 1 for index, found in enumerate(classes) if found == name]
        if numbers:
            fed = _energy_fed(dataset, numbers) if name == "active" else ""
            words.append(f"{_describe_contacts(numbers, count)} {name} ({effect}{fed}).")
    unsettled = [index + 1 for index, found in enumerate(classes) if found == NOTHING]
    if unsettled:
        words.append(f"{_describe_contacts(unsettled, count)} not over when the run ended.")
    return words


def _energy_fed(dataset: Dataset, numbers: Sequence[int]) -> str:
    """Return how much energy active contacts have gained, beyond what their laws took, and which most; of some that overlap
    in time only the most, as each has that of the whole motion meanwhile."""
    gains = {number: float(dataset.episode_energy_gain[number - 1]) for number in numbers}
    most = max(gains, key=lambda number: gains[number])
    if len(gains) == 1:
        return f": {format_significant(gains[most])} J fed in"
    if set(overlapping_contacts(dataset)) & gains.keys():
        return f": up to {format_significant(gains[most])} J fed in, Q{most}"
    return f": {format_significant(sum(gains.values()))} J fed in, most in Q{most}"


def all_struck(dataset: Dataset) -> bool:
    """Return whether the velocities jump at every contact that a run had: none has a force to tell but that of rest."""
    struck = str(dataset.attrs.get("impact_contacts", "")).splitlines()
    names = [str(dataset.contact.values[int(number)]) for number in dataset.episode_contact.values]
    return bool(names) and all(name in struck for name in names)


def hardest_impact(dataset: Dataset) -> tuple[int, float, float]:
    """Return the number of the contact with the largest normal impulse, this (N s), and when it began (s)."""
    hardest = int(np.argmax(dataset.episode_impulse.values))
    return hardest + 1, float(dataset.episode_impulse[hardest]), float(dataset.episode_onset[hardest])


def seat_force(dataset: Dataset, summary: dict[str, Any]) -> str:
    """Return the largest normal force of what a catch holds on the wall, and when; empty where that of a contact is larger."""
    force, free = summary.get("latch.seat_peak_force_N"), dataset.episode_peak_force
    if force is None or (free.size and force <= float(free.max())):
        return ""
    return f"{format_significant(force)} N (at {format_significant(summary['latch.seat_peak_time_s'], 6)} s)"


def _describe_contacts(numbers: list[int], count: int) -> str:
    """Return some of all contacts as the subject of a sentence."""
    if len(numbers) == count > 1:
        return "All were"
    return f"{contacts_or_count(numbers, 60)} {'were' if len(numbers) > 1 else 'was'}"


PLACE = "that of the feature from the surface’s reference point, in the axes of the body with the surface"


def contacts_block(dataset: Dataset, summary: dict[str, Any], classes: list[str], place: str = PLACE) -> ReportBlock:
    """Return the contacts on the page; `place` says what their position is.

    Without any the table has its columns alone, for a page that computes: other numbers may bring some.
    """
    if not dataset.sizes["contact"]:
        return ReportBlock("Contacts", where="below")
    classed = any(classes) if classes else not acts_beside_contacts(dataset)
    inside = " and of what is stored inside" if acts_beside_contacts(dataset) else ""
    inside = " with what the latch has taken" if "catch_taken" in dataset else inside
    dash = " A dash: the run ended before." if NOTHING in classes else ""
    said = (
        "the class says what the contact itself did to it: passive took energy out, active added some, lossless kept it; "
        "without delay that follows from its laws, whatever error the run has."
        if classed
        else ("elements and joints take and give some meanwhile, so it says nothing of a contact alone.")
    )
    notes = [
        f"Onset and release are at depth zero. The position is {place}. "
        "Peak force and its time are those of the normal force where it is generated; the "
        f"impulse is that of the normal force. The energy change is that of the kinetic energy{inside} since t = 0, taken when "
        f"the last delayed force of the contact has acted; {said}{dash}"
    ]
    if float(dataset.attrs["delay_s"]) > 0 and classed:
        notes.append(
            "The energy change in a contact is that from its onset until its last late force has acted; where it is positive "
            "the loop’s delay has fed in more than the contact’s laws took."
        )
    if any(classes) and (together := contacts_or_count(overlapping_contacts(dataset), 60)):
        notes.append(
            f"{together} overlap others in time: their energy is that of the whole motion meanwhile, not of one contact alone, "
            "and so is a class that does not follow from laws."
        )
    table = _contacts_table(dataset, summary, classes, classed)
    return ReportBlock("Contacts", words="" if classes else "None.", table=table, notes=notes, where="below")


def _contacts_table(dataset: Dataset, summary: dict[str, Any], classes: list[str], classed: bool) -> Table:
    """Return one row a contact, of which a narrow screen shows force and class first; azimuths only where contacts have any."""
    found = summary["contacts"][:LISTED]
    late = float(dataset.attrs["delay_s"]) > 0 and classed
    onset, release, at = (
        align_numbers([contact[name] for contact in found], 6) for name in ("onset_s", "release_s", "peak_time_s")
    )
    release = [
        one if contact["release_s"] is not None else "still touching"
        for contact, one in zip(found, release, strict=True)
    ]
    places = align_numbers([part for contact in found for part in contact["position_m"]], 5)

    def figure(name: str) -> list[str]:
        return [format_significant(contact[name]) for contact in found]

    at_start = float(dataset.kinetic_energy[0])

    def energy(values: Iterable[float | None]) -> list[str]:
        return [format_significant(without_rounding(value, at_start)) for value in values]

    def energy_of(name: str) -> list[str]:
        return energy(map(float, dataset[name].values[: len(found)]))

    azimuths = align_numbers([contact["azimuth_deg"] for contact in found], 5)
    lost = energy(contact.get("friction_loss_J") for contact in found)
    # by what a page that computes calls it: head, unit, cells
    columns: list[tuple[str, str, str, Sequence[str]]] = [
        ("number", "contact", "", [f"Q{number}" for number in range(1, len(found) + 1)]),
        ("onset", "onset", "s", onset),
        ("release", "release", "s", release),
        ("feature", "feature", "", [contact["feature"] for contact in found]),
        ("surface", "surface", "", [contact["surface"] for contact in found]),
        *((axis, axis, "m", places[place::3]) for place, axis in enumerate("xyz")),
        *([("azimuth", "azimuth", "deg", azimuths)] if "episode_azimuth" in dataset else []),
        ("approach_speed", "approach speed", "m/s", figure("approach_speed_m_s")),
        ("peak_force", "peak force", "N", figure("peak_force_N")),
        ("peak_time", "at", "s", at),
        ("impulse", "impulse", "N s", figure("impulse_N_s")),
        *([("friction_loss", "friction took", "J", lost)] if "episode_friction_loss" in dataset else []),
        ("energy", "energy change after", "J", energy_of("episode_energy")),
        *([("class", "class", "", classes[: len(found)])] if classed else []),
        *([("gain", "energy change in it", "J", energy_of("episode_energy_gain"))] if late else []),
    ]
    keys = [key for key, *_ in columns]
    return Table(
        [(head, unit) for _, head, unit, _ in columns],
        [list(row) for row in zip(*(cells for *_, cells in columns), strict=True)],
        [("", 5), ("position at onset", 3), ("", len(columns) - 8)],
        {place for place, key in enumerate(keys) if key in ("number", "class", "feature", "surface")},
        {"active"},
        look="dense",
        left_out=max(0, len(classes) - LISTED),
        live="contacts",
        keys=keys,
        first=[place for place, key in enumerate(keys) if key in ("peak_force", "class")],
    )


def printed_contacts(summary: dict[str, Any], labels: Sequence[str] | None = None) -> Table:
    """Return the contacts on the terminal, a row each, by their feature and surface or by `labels`."""
    found = zip(summary["contacts"], summary["contact.energy_change_J"], summary["energy_class"], strict=True)
    classed, at_start = any(summary["energy_class"]), summary["kinetic_energy_start_J"]
    names = labels or [f"{contact['feature']}–{contact['surface']}" for contact in summary["contacts"]]
    rows = [
        [
            f"{number} {names[number - 1]}",
            f"{contact['onset_s']:.4f}",
            "touching" if contact["release_s"] is None else f"{contact['release_s']:.4f}",
            f"{contact['approach_speed_m_s']:.4g}",
            f"{contact['peak_force_N']:.4g}",
            f"{contact['impulse_N_s']:.4g}",
            "" if energy is None else f"{without_rounding(energy, at_start):+.5g}",
            *([sort or ""] if classed else []),
        ]
        for number, (contact, energy, sort) in enumerate(found, start=1)
    ]
    columns = [("contact", ""), ("onset", "s"), ("release", "s"), ("approach", "m/s"), ("peak", "N")]
    columns += [("impulse", "N s"), ("energy", "after, J"), *([("class", "")] if classed else [])]
    return Table(columns, rows, worded={0, 7} if classed else {0})


def loads_block(dataset: Dataset, summary: dict[str, Any]) -> ReportBlock:
    """Return the loads at named points on the page, where anything acted between the bodies."""
    note = "Components: each one’s value of largest magnitude, not all at the same time."
    table = _loads_table(dataset) if has_loads(dataset) else None
    return ReportBlock(
        "Peak loads at named points", table=table, notes=[f"{note} {_sampling_note(dataset, summary)}"], where="after"
    )


def _loads_table(dataset: Dataset) -> Table:
    """Return the largest force and moment at each named point, and each component's value of largest magnitude."""
    rows, loads = [], ("load_force", "load_moment")
    largest_of_all = max(float(np.abs(dataset[name].values).max()) for name in loads)
    for index, name in enumerate(dataset.point.values):
        row = [str(name)]
        for variable in loads:
            values = dataset[variable].values[:, index]
            values = np.where(np.abs(values) < NOISE * largest_of_all, 0.0, values)
            size = np.linalg.norm(values, axis=1)
            largest = int(np.argmax(size))
            time = format_significant(float(dataset.time[largest])) if size[largest] > 0 else NOTHING
            extremes = values[np.argmax(np.abs(values), axis=0), range(3)]
            most, *parts = align_numbers([float(size[largest]), *map(float, extremes)])
            row += [most, time, *parts]
        rows.append(row)
    force = [("largest", "N"), ("at", "s"), ("x", "N"), ("y", "N"), ("z", "N")]
    moment = [("largest", "N m"), ("at", "s"), ("x", "N m"), ("y", "N m"), ("z", "N m")]
    groups = [("", 1), ("force", 5), ("moment about the point", 5)]
    return Table([("point", ""), *force, *moment], rows, groups, worded={0}, look="broad")


def _sampling_note(dataset: Dataset, summary: dict[str, Any]) -> str:
    """Return how the loads were sampled, whether that was often enough, and what is not in them."""
    if dataset.sizes["time"] < 2:
        return "The run has a single sample."
    interval = float(dataset.time[1] - dataset.time[0])
    words = f"Sampled every {interval:.3g} s, in the axes of the point’s own body."
    if summary["captured"] and summary["impacts"]:
        words += (
            f" The capture is not in them: its {format_significant(summary['latch.impulse_along_N_s'])} N s act at an "
            "instant, and their largest force is not known."
        )
    if "catch_swing" in dataset and summary["captured"] and (swing := float(dataset.catch_swing)) < FINE * interval:
        words += (
            f" The latch’s catch swings within {swing:.3g} s: peaks between samples are missed, though the summary "
            f"has its largest force; set output.interval to {max(swing, 1e-6) / FINE:.1g} s or less to see them."
        )
    lasted = dataset.episode_release.values - dataset.episode_onset.values
    if np.any(lasted < FINE * interval):
        shortest = int(np.nanargmin(lasted))
        words += (
            f" Q{shortest + 1} lasted only {lasted[shortest]:.3g} s: peaks between samples are missed; set "
            f"output.interval to {max(lasted[shortest], 1e-6) / FINE:.1g} s or less to see them."
        )
    return words


def conservation_rows(dataset: Dataset, summary: dict[str, Any]) -> ReportBlock:
    """Return errors of what should be conserved."""
    largest = f"{ENERGY}, {format_significant(float(dataset.kinetic_energy.max()))} J"
    linear, angular = (float(dataset[f"{name}_momentum_scale"].max()) for name in ("linear", "angular"))
    givers = [
        words for name, words in (("thruster", "thrusters’"), ("gravity", "gravity’s")) if f"{name}_impulse" in dataset
    ]
    gone = f", less {' and '.join(givers)} impulses" if givers else ""
    worked = from_outside(dataset)
    less = f", less the work of {worked}" if worked else ""
    energy = "energy" if stores_inside(dataset) else "kinetic energy"
    lossy = "nothing: delay, friction or the contact's law may change it"
    return conservation_errors(
        [
            (
                f"linear momentum{gone}",
                summary["linear_momentum_error"],
                f"the largest sum of the bodies’ momenta by magnitude, {format_significant(linear)} N s",
            ),
            (
                f"angular momentum about the common centre of mass{gone}",
                summary["angular_momentum_error"],
                f"the largest sum of the bodies’ own by magnitude, spin included, {format_significant(angular)} N m s",
            ),
            (
                f"{energy} over whole contacts{less}",
                summary["energy_error"],
                lossy if summary["energy_error"] is None else largest,
            ),
            (
                f"work of {describe_work_sources(dataset)} against change of {energy}{less}",
                summary["work_energy_error"],
                largest,
            ),
        ]
    )
