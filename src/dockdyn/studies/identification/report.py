"""The report of an identification, for the page and the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from dockdyn.installed import version
from dockdyn.report.report import Plot, Report, ReportBlock, Rows, Table
from dockdyn.report.tile import Tile
from dockdyn.report.verdict import Advice
from dockdyn.report.wording import format_significant
from dockdyn.studies.identification.contact import IdentifiedContact, contact_toml
from dockdyn.studies.identification.plots import bode_figure, fit_figure, force_figure, residual_figure, stroke_figure
from dockdyn.studies.identification.robot import IdentifiedRobot, robot_toml
from dockdyn.studies.identification.wording import METHODS, contact_rows, contact_verdict, robot_rows, robot_verdict


def robot_report(robot: IdentifiedRobot, answer: dict[str, Any], again: str = "") -> Report:
    """Return what `dockdyn identify robot` found; `again` is what was typed for it."""
    note = (
        "Bayesian information criterion: how well a choice fits, less what its coefficients and samples of dead time "
        "cost. A difference of ten leaves "
        "little doubt; with a smaller one the choice with fewer coefficients is as good."
    )
    return _identification_report(
        "Robot",
        robot_verdict(answer),
        robot_rows(answer),
        robot_toml(robot),
        ("Log", f"{robot.records.name}, {answer['samples']} samples"),
        ReportBlock("Orders that were compared", table=candidate_table(answer), notes=[note], where="after"),
        headline=f"{format_significant(answer['fit_percent'], 4)} % of the motion explained",
        tiles=_robot_tiles(answer),
        plots=tuple(_robot_figures(robot)),
        made=[
            ("Method", METHODS[answer["method"]]),
            ("Uncertainty", "standard deviations, for residuals that may have memory (Newey–West)"),
            ("Continuous model", "that whose response to commands held for a period goes through the same samples"),
            ("dockdyn", version("dockdyn")),
        ],
        warnings=answer["warnings"],
        again=again,
    )


def contact_report(contact: IdentifiedContact, answer: dict[str, Any], again: str = "") -> Report:
    """Return what `dockdyn identify contact` found; `again` is what was typed for it."""
    return _identification_report(
        "Contact",
        contact_verdict(answer),
        contact_rows(answer),
        contact_toml(contact),
        ("Log", f"{contact.bounce.name}, {answer['samples']} samples about the first contact"),
        headline=f"{format_significant(answer['fit_percent'], 4)} % of the force explained",
        tiles=_contact_tiles(answer),
        plots=tuple(_contact_figures(contact)),
        made=[
            ("Law", "spring and dashpot that presses only, its force late, with a bias"),
            ("Uncertainty", "standard deviations; that of the delay is at least a period over √12"),
            ("dockdyn", version("dockdyn")),
        ],
        warnings=answer["warnings"],
        again=again,
    )


def _identification_report(
    what: str,
    verdict: str,
    rows: Rows,
    toml: str,
    log: tuple[str, str],
    *blocks: ReportBlock,
    **parts: Any,  # noqa: ANN401, fields of a `Report`
) -> Report:
    """Return the report of an identification of `what`, with the tables that a scenario takes."""
    return Report(
        title=f"{what}, identified",
        verdict=verdict,
        key=[(_capitalise_quantity(words), *value) for words, *value in rows],
        blocks=[ReportBlock("For a scenario", text=toml), *blocks, ReportBlock(rows=[log], where="inputs")],
        advice=[
            Advice("Next", "Put the tables below into a scenario; this page does not compute, that of its run does.")
        ],
        terminal=[verdict, ReportBlock(rows=rows, text=toml)],
        **parts,
    )


def _fit_tile(answer: dict[str, Any], what: str) -> Tile:
    """Return how much of a log is explained."""
    share = answer["fit_percent"]
    bars = [(what, share / 100, f"{format_significant(share, 4)} %")]
    return Tile("Explained", format_significant(share, 4), "%", f"of the {what}", bars=bars)


def _robot_tiles(answer: dict[str, Any]) -> list[Tile]:
    """Return the numbers of a robot that matter."""
    late = Tile(
        "Dead time", format_significant(1e3 * answer["dead_time_s"]), "ms", f"{answer['delay_samples']} samples"
    )
    gain = Tile("Gain at rest", format_significant(answer["gain_at_rest"], 6), "", "of command to position")
    phase = answer["phase_at_10_hz_deg"]
    turned = (
        [] if phase is None else [Tile("Phase at 10 Hz", format_significant(phase, 4), "deg", "dead time included")]
    )
    return [_fit_tile(answer, "motion"), late, *([] if answer["gain_at_rest"] is None else [gain]), *turned]


def _contact_tiles(answer: dict[str, Any]) -> list[Tile]:
    """Return the numbers of a contact that matter."""
    return [
        _fit_tile(answer, "force"),
        Tile("Stiffness", format_significant(answer["stiffness_N_m"]), "N/m", "of the spring"),
        Tile("Damping", format_significant(answer["damping_N_s_m"]), "N s/m", "of the dashpot"),
        Tile("Delay of the force", format_significant(1e3 * answer["delay_s"], 3), "ms", "as measured"),
    ]


def _capitalise_quantity(words: str) -> str:
    """Return a quantity at the start of its row; a symbol stays as it is."""
    return words if len(words) < 3 else words[0].upper() + words[1:]


def _robot_figures(robot: IdentifiedRobot) -> Iterator[Plot]:
    yield Plot(
        "fit",
        partial(fit_figure, robot),
        "Commanded, actual and simulated position: the last two should lie on each other, and the residual below should "
        "look alike at all times.",
    )
    words = (
        "Frequency response, dead time included, with the band that is 95 % sure; its half width is below. Outside the "
    )
    words += "shaded range the log tells little, and the model is an extrapolation."
    yield Plot("bode", partial(bode_figure, robot), words)
    if robot.tests is not None:
        yield Plot(
            "residual",
            partial(residual_figure, robot),
            "Correlations of the residuals: bars beyond the band on the left are noise with memory or missing dynamics; "
            "on the right, at lags above zero, missing dynamics, and below zero feedback from the position to the command.",
        )


def _contact_figures(contact: IdentifiedContact) -> Iterator[Plot]:
    yield Plot(
        "force",
        partial(force_figure, contact),
        "Measured and fitted force: what is left below should be noise alone, at the ends of the contact, too.",
    )
    yield Plot(
        "stroke",
        partial(stroke_figure, contact),
        "What the force has beside the spring’s, over depth, in and out: delay and damping both open the loop, to opposite "
        "sides. With the delay taken back the damping is left, and the area inside is the energy that it takes out.",
    )


def candidate_table(answer: dict[str, Any]) -> Table | None:
    """Return the orders that came next, by their distance from the best."""
    found = answer["candidates"]
    if len(found) < 2:
        return None
    best = min(each["criterion"] for each in found)
    rows = [
        [", ".join(map(str, each["orders"])), str(each["delay_samples"]), f"{each['criterion'] - best:.1f}"]
        for each in found
    ]
    return Table([("orders", ""), ("delay", "samples"), ("criterion above the best", "")], rows, worded={0})
