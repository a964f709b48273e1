"""The report of an identification: one HTML file that opens with no network."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from typing import Any

import xarray as xr

from dockdyn.report.page import Drawn, Table, render, versions
from dockdyn.studies.identification.console import METHODS, contact_rows, contact_verdict, robot_rows, robot_verdict
from dockdyn.studies.identification.contact import Contact, contact_toml
from dockdyn.studies.identification.plots import bode_figure, fit_figure, force_figure, residual_figure, stroke_figure
from dockdyn.studies.identification.robot import Robot, robot_toml


def render_robot_report(robot: Robot, answer: dict[str, Any], again: str = "") -> str:
    """What `dockdyn identify robot` found, as HTML; `again` is what was typed for it."""
    inputs = [("Log", f"{robot.records.name}, {answer['samples']} samples")]
    made = [
        ("Method", METHODS[answer["method"]]),
        ("Uncertainty", "standard deviations, for residuals that may have memory (Newey–West)"),
        ("Continuous model", "that whose response to commands held for a period goes through the same samples"),
    ]
    return page(
        "Robot, identified",
        robot_toml(robot),
        robot_verdict(answer),
        answer,
        robot_rows(answer),
        inputs,
        made,
        robot_figures(robot),
        candidates(answer),
        again,
    )


def render_contact_report(contact: Contact, answer: dict[str, Any], again: str = "") -> str:
    """What `dockdyn identify contact` found, as HTML; `again` is what was typed for it."""
    inputs = [("Log", f"{contact.bounce.name}, {answer['samples']} samples about the first contact")]
    made = [
        ("Law", "spring and dashpot that presses only, its force late, with a bias"),
        ("Uncertainty", "standard deviations; that of the delay is at least a period over √12"),
    ]
    return page(
        "Contact, identified",
        contact_toml(contact),
        contact_verdict(answer),
        answer,
        contact_rows(answer),
        inputs,
        made,
        contact_figures(contact),
        None,
        again,
    )


def page(
    title: str,
    toml: str,
    verdict: str,
    answer: dict[str, Any],
    rows: list[tuple[str, str, str]],
    inputs: list[tuple[str, str]],
    made: list[tuple[str, str]],
    figures: Iterator[Drawn],
    compared: Table | None,
    again: str,
) -> str:
    dataset = xr.Dataset(attrs={"title": title, "scenario": toml, "dockdyn_version": version("dockdyn")})
    return render(
        "studies/identification/report.html",
        dataset,
        verdict=verdict,
        warnings=answer["warnings"],
        summary=[(titled(words), f"{value} {unit}".strip()) for words, value, unit in rows],
        figures=figures,
        candidates=compared,
        inputs=inputs,
        made=[*made, *versions(dataset)],
        again=again,
    )


def titled(words: str) -> str:
    """A quantity at the start of its row; a symbol stays as it is."""
    return words if len(words) < 3 else words[0].upper() + words[1:]


def robot_figures(robot: Robot) -> Iterator[Drawn]:
    yield (
        partial(fit_figure, robot),
        "Commanded, actual and simulated position: the last two should lie on each other, and the residual below should "
        "look alike at all times.",
    )
    words = (
        "Frequency response, dead time included, with the band that is 95 % sure; its half width is below. Outside the "
    )
    words += "shaded range the log tells little, and the model is an extrapolation."
    yield partial(bode_figure, robot), words
    if robot.tests is not None:
        yield (
            partial(residual_figure, robot),
            "Correlations of the residuals: bars beyond the band on the left are noise with memory or missing dynamics; "
            "on the right, at lags above zero, missing dynamics, and below zero feedback from the position to the command.",
        )


def contact_figures(contact: Contact) -> Iterator[Drawn]:
    yield (
        partial(force_figure, contact),
        "Measured and fitted force: what is left below should be noise alone, at the ends of the contact, too.",
    )
    yield (
        partial(stroke_figure, contact),
        "What the force has beside the spring’s, over depth, in and out: delay and damping both open the loop, to opposite "
        "sides. With the delay taken back the damping is left, and the area inside is the energy that it takes out.",
    )


def candidates(answer: dict[str, Any]) -> Table | None:
    """The orders that came next, by their distance from the best."""
    found = answer["candidates"]
    if len(found) < 2:
        return None
    best = min(each["criterion"] for each in found)
    rows = [
        [", ".join(map(str, each["orders"])), str(each["delay_samples"]), f"{each['criterion'] - best:.1f}"]
        for each in found
    ]
    return Table([("orders", ""), ("delay", "samples"), ("criterion above the best", "")], rows, [], worded={0})
