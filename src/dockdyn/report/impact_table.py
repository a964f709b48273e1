"""What effective masses say of the contacts of a run, beside what the run says: a table, a line of print, a class."""

from __future__ import annotations

from typing import Any

from dockdyn.impact.formulas.effective_mass import MOTION_CLASSES, motion_class
from dockdyn.report.report import ReportBlock, Table
from dockdyn.report.wording import NOTHING, align_numbers, format_significant

LISTED = 300  # contacts in the table
WHENS = ("before", "after", "predicted")
TITLE = "Relative velocity by effective masses"


def first_impact_rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what the masses alone decide of the first contact, for the summary table; nothing where they do not."""
    if not summary.get("contact.velocity_predicted_m_s") or summary["contact.velocity_predicted_m_s"][0] is None:
        return []
    ratio, restitution = summary["contact.mass_ratio"][0], summary["contact.restitution"][0]
    found = motion_class(min(ratio, 1.0), restitution)
    return [
        ("Effective mass at the first contact", f"{format_significant(summary['contact.effective_mass_kg'][0])} kg"),
        ("Effective mass ratio", format_significant(ratio, 6)),
        ("First contact by its masses", f"class {found}: {MOTION_CLASSES[found]}"),
    ]


def first_impact_in_words(summary: dict[str, Any]) -> list[str]:
    """Return what the first contact did to the relative velocity of the centres of mass, beside what the masses say, in a
    sentence; nothing where they do not."""
    if not first_impact_rows(summary):
        return []
    before, after, predicted = (summary[f"contact.velocity_{when}_m_s"][0] for when in WHENS)
    if after is None:
        return ["The run ended during the first contact."]
    course = "keep approaching" if after > 0 else "part"
    return [
        f"After the first contact the two {course}: their relative velocity went from {format_significant(before)} to "
        f"{format_significant(after)} m/s, where effective masses predict {format_significant(predicted)} m/s."
    ]


def predicted_block(summary: dict[str, Any]) -> ReportBlock:
    """Return the contacts with simulation and prediction beside each other; empty where nothing is predicted."""
    if not summary.get("contact.velocity_predicted_m_s"):
        return ReportBlock(TITLE)
    note = (
        "Of the centres of mass of the two bodies, or of the trees that joints make of them, along the normal at onset, "
        "positive as they approach. Predicted is the velocity after a contact in which nothing but these two and what joints "
        "hold rigidly takes part, from the velocities at its onset: it errs where springs or other contacts act meanwhile, and "
        "more where they are loaded at onset. The mass ratio is the effective mass at the contact over that of both as wholes."
    )
    return ReportBlock(TITLE, table=_impact_table(summary), notes=[note])


def _impact_table(summary: dict[str, Any]) -> Table:
    """Return one row an impact, simulation and prediction beside each other."""
    found = summary["contacts"][:LISTED]
    columns = [("impact", ""), ("onset", "s"), ("release", "s"), ("closing speed", "m/s"), ("impulse", "N s")]
    columns += [
        ("peak force", "N"),
        ("mass ratio", ""),
        ("before", "m/s"),
        ("after", "m/s"),
        ("predicted", "m/s"),
        ("off by", "m/s"),
    ]
    times = {name: align_numbers([contact[name] for contact in found], 6) for name in ("onset_s", "release_s")}
    speeds = {when: align_numbers(summary[f"contact.velocity_{when}_m_s"][:LISTED], 6) for when in WHENS}
    rows, ratios = [], summary["contact.mass_ratio"]
    for index, contact in enumerate(found):
        after, predicted = (summary[f"contact.velocity_{when}_m_s"][index] for when in ("after", "predicted"))
        off = NOTHING if after is None or predicted is None else format_significant(predicted - after, 2)
        rows.append(
            [
                f"Q{index + 1}",
                times["onset_s"][index],
                times["release_s"][index],
                format_significant(contact["approach_speed_m_s"]),
                format_significant(contact["impulse_N_s"]),
                format_significant(contact["peak_force_N"]),
                NOTHING if ratios[index] is None else format_significant(ratios[index]),
                *(speeds[when][index] for when in speeds),
                off,
            ]
        )
    groups = [("", 7), ("relative velocity of the centres of mass", 4)]
    late = max(0, len(summary["contacts"]) - LISTED)
    return Table(columns, rows, groups, worded={0}, look="dense", left_out=late)
