"""What the page of a run on a rig shows first: headline, numbers that matter, what decides, what to do next."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.charts.chart import Source
from dockdyn.report.tile import Tile
from dockdyn.report.tile_pictures import draw_place
from dockdyn.report.verdict import Advice
from dockdyn.report.wording import NOTHING, capitalise_first, format_significant
from dockdyn.rig.comparison.choice import NONE
from dockdyn.rig.measures import find_hardest_time, vector_size
from dockdyn.rig.summary import (
    CLOSE,
    PARTS,
    bounce_counts,
    counting_error,
    describe_instability,
    uncounted_errors,
)

DIGITS = 3
TENTHS = 1000  # of a percent, in one
MARGIN, MARGIN_COMMAND = "See up to which delay the loop is stable:", "dockdyn stability scenario.toml"
BOUNCE, SWING, FORCE = "apparent_restitution", "amplitude_ratio", "peak_measured_force_N"
# what figures must be there for words of the headline, as `dockdyn.report.verdict.headline_of` has them
HEADLINES = (
    ({SWING: None, "phase_error_rad": None}, f"Amplitude {{{SWING}}} times that without rig"),
    ({BOUNCE: None, "ideal_restitution": None}, f"Restitution {{{BOUNCE}}}, without rig {{ideal_restitution}}"),
)
PHASE = "phase_error_rad"
PHASE_OFF, AT_END = (
    f"the phase error is {{{PHASE}}} rad",
    f"the amplitude at the end is {{{SWING}}} times that without rig",
)
BOUNCES = f"a bounce shows restitution {{{BOUNCE}}}, without rig {{ideal_restitution}}"
# what the sentence below the headline says, in the same way
LEADS = (
    ({SWING: None, PHASE: None}, f"{AT_END}, {PHASE_OFF}"),
    ({PHASE: None}, PHASE_OFF),
    ({BOUNCE: None, "ideal_restitution": None, SWING: None}, f"{BOUNCES}, {AT_END}"),
    ({BOUNCE: None, "ideal_restitution": None}, BOUNCES),
    ({SWING: None}, AT_END),
)
WITHOUT = "Without a compensator"
GAINS_UNJUDGED = "Whether the loop is stable at every gain that it visits, dockdyn run says of these numbers."


def law_in_words(summary: dict[str, Any]) -> str:
    """Return by which compensator a rig runs, as a sentence begins with it."""
    return WITHOUT if summary["compensator"] == NONE else f"With {summary['compensator']}"


def rig_headline(dataset: Dataset, summary: dict[str, Any]) -> str:
    """Return whether the loop is stable, and how far the motion is from that without rig, in a few words."""
    if summary["status"] != "finished":
        return capitalise_first(summary["status"])
    if unstable := describe_instability(dataset, summary):
        return capitalise_first(unstable)
    _, off = counting_error(summary)
    begin = "Stable loop" if (summary["spectral_radius"] or 2.0) <= 1.0 else "The rig"
    if np.isnan(off):
        return "No contact to compare"
    if abs(off) <= CLOSE:
        within = max(math.ceil(round(TENTHS * abs(off), 6)), 1) / 10
        true = f"{'first bounce' if bounce_counts(summary) else 'amplitude'} true to {within:g} %"
        if off_beside := uncounted_errors(dataset, summary):
            name, words = next(iter(off_beside.items()))
            return f"{begin}, {true}, {name} {words}"
        return f"{begin}, {true}"
    what = "restitution" if bounce_counts(summary) else "amplitude"
    return f"{begin}, {what} {format_significant(100 * abs(off), 2)} % too {'high' if off > 0 else 'low'}"


def rig_tiles(dataset: Dataset, summary: dict[str, Any]) -> list[Tile]:
    """Return the numbers that matter: amplitude or bounce, energy fed in, force, where the delay comes from."""
    return [_ratio_tile(summary), _energy_tile(dataset, summary), _force_tile(dataset, summary), _delay_tile(summary)]


def _ratio_tile(summary: dict[str, Any]) -> Tile:
    """Return the measure that counts beside that without rig."""
    bounce, ideal = summary["apparent_restitution"], summary["ideal_restitution"]
    if bounce_counts(summary):
        line = draw_place(bounce, ideal, "", ("rig", "without"))
        note = f"without rig {format_significant(ideal)}"
        figure = [(BOUNCE, 1.0)]
        return Tile("Restitution of a bounce", format_significant(bounce), "", note, picture=line, figures=figure)
    ratio, phase = summary["amplitude_ratio"], summary["phase_error_rad"]
    if ratio is None:
        return Tile("Amplitude", NOTHING, "", "nothing to compare")
    ahead = "" if phase is None else f"; phase {format_significant(phase, DIGITS)} rad ahead"
    line = draw_place(ratio, 1.0, "", ("rig", "without"))
    figure = [(SWING, 1.0)]
    return Tile(
        "Amplitude over that without rig",
        format_significant(ratio),
        "",
        f"at the end{ahead}",
        picture=line,
        figures=figure,
    )


def _energy_tile(dataset: Dataset, summary: dict[str, Any]) -> Tile:
    """Return the energy that the loop has put in, or taken, over that without rig."""
    error = summary["kinetic_energy_error_J"]
    difference = dataset.kinetic_energy.values - dataset.ideal_kinetic_energy.values
    start = format_significant(summary["kinetic_energy_start_J"])
    words = "Energy fed in" if error > 0 else "Energy taken beyond the contact’s"
    return Tile(
        words,
        format_significant(abs(error), DIGITS),
        "J",
        f"at the end; of {start} J at the start",
        dataset.time.values,
        difference,
        "green",
        alarming=bool(describe_instability(dataset, summary)) and error > 0,
        figures=[("kinetic_energy_error_J", 1.0 if error > 0 else -1.0)],
        source=Source([("kinetic_energy", 0, 1.0), ("ideal_kinetic_energy", 0, -1.0)]),
    )


def _force_tile(dataset: Dataset, summary: dict[str, Any]) -> Tile:
    force, error, acting = (
        summary["peak_measured_force_N"],
        summary["peak_force_error_N"],
        vector_size(dataset.total_force.values),
    )
    at = find_hardest_time(dataset)
    note = "" if at is None else f"at {format_significant(at)} s; "
    note += f"on the model {format_significant(acting.max(), DIGITS)} N"
    if error is not None:
        note += f", {format_significant(abs(error), DIGITS)} N {'more' if error > 0 else 'less'} than without rig"
    return Tile(
        "Largest measured force",
        format_significant(force),
        "N",
        note,
        dataset.time.values,
        acting,
        "orange",
        figures=[(FORCE, 1.0)],
        source=Source([("total_force", axis, 1.0) for axis in range(dataset.sizes["axis"])], size=True),
    )


def _delay_tile(summary: dict[str, Any]) -> Tile:
    """Return the delay of the loop with its parts, the largest first."""
    total = summary["delay_total_ms"]
    parts = sorted(summary["delay_budget_ms"].items(), key=lambda item: -item[1])
    bars = [(PARTS[part], late / (total or 1.0), format_significant(late, DIGITS)) for part, late in parts[:6]]
    note = "at the contact’s frequency"
    return Tile("Delay, all in all", format_significant(total, DIGITS), "ms", note, bars=bars, limits=["loop"])


def rig_advice(dataset: Dataset, summary: dict[str, Any]) -> list[Advice]:
    """Return what decides how true the rig is, and what to do next."""
    advice = []
    law = summary["compensator"]
    parts = sorted(summary["delay_budget_ms"].items(), key=lambda item: -item[1])
    if parts and summary["delay_total_ms"]:
        part, late = parts[0]
        share = format_significant(100 * late / summary["delay_total_ms"], 2)
        compensated = "no compensator" if law == NONE else f"the compensator {law}"
        words = f"{capitalise_first(PARTS[part])}: {format_significant(late, DIGITS)} ms, {share} % of the delay"
        advice.append(Advice("Decides", f"{words}; {compensated}."))
    if "dockdyn compare" in summary["recommendation"]:
        advice.append(
            Advice("Next", "See which compensator is best on this rig:", "dockdyn compare scenario.toml", "settings")
        )
    return [*advice, Advice("Margin", MARGIN, MARGIN_COMMAND, "settings")]
