"""Sazawal et al., Figures 7–9: the delay at which a resting contact turns unstable.

Charts and margins are of the preset `sazawal-spring-dashpot`, linearised from the model that simulates it; the paper's
closed forms stand beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xarray as xr

from dockdyn.papers.reproduction import Made, PaperPart, Progress
from dockdyn.papers.sazawal import pictures
from dockdyn.papers.sazawal.closed_form import (
    contact_matrix,
    normal_dynamics,
    printed_contact_matrix,
    wall_axes,
)
from dockdyn.papers.sazawal.geometry import DAMPING, INERTIA, REDUCED_MASS, STIFFNESS, Geometry, margins_of
from dockdyn.papers.table import Row
from dockdyn.records import record
from dockdyn.scenario.axis import Sweep
from dockdyn.scenario.load import load
from dockdyn.stability import critical_delay, rightmost_roots
from dockdyn.studies.margins.answer import margins
from dockdyn.studies.margins.sweep import stability_dataset

SHARPNESS = 49  # values along the axes of a chart


Compliance = tuple[float, float]  # stiffness (N/m), damping (N s/m)
DAMPINGS: list[Compliance] = [(STIFFNESS, damping) for damping in (50, 100, 200, 400, 800)]
STIFFNESSES: list[Compliance] = [(stiffness, DAMPING) for stiffness in (250, 500, 2000, 4000)]
FEW: list[Compliance] = [(STIFFNESS, 200), (STIFFNESS, 800)]


@record
class Family:
    """What a figure varies, and what its rows say of it."""

    varied: str
    symbol: str
    unit: str
    geometries: dict[float, Geometry]  # the curves, by the value in `unit`
    sweep: Sweep  # the same values
    tabled: tuple[float, float]  # values with rows
    compliances: list[Compliance]  # of the rows
    printed: str  # what the text says of the stable region
    others: Callable[[], list[Row]]  # rows of this figure alone

    def label(self, value: float) -> str:
        return f"{self.symbol} = {value:g}{'' if self.unit == '°' else ' '}{self.unit}"

    def make(self, progress: Progress) -> Made:
        charts = []
        for done, axes in enumerate(self.axes(), start=1):
            charts.append(stability_dataset(Geometry().scenario(), [*axes, self.sweep]).to_xarray())
            progress(done / 3)
        rows = [*self.critical_delays(), self.trend(), *self.longest_delays(), *self.others()]
        rows.append(self.against_chart(charts))
        labels = [self.label(value) for value in self.geometries]
        return pictures.regions(charts, labels, self.closed_forms()), rows

    @staticmethod
    def axes() -> tuple[list[Sweep], list[Sweep]]:
        """Return the two planes, the delay first."""
        return (
            [Sweep("loop.delay", 0, 0.7, SHARPNESS), Sweep("contact.probe.normal.damping", 0, 2000, SHARPNESS)],
            [Sweep("loop.delay", 0, 2.5, SHARPNESS), Sweep("contact.probe.normal.stiffness", 1, 1500, SHARPNESS)],
        )

    def closed_forms(self) -> list[list[Any]]:
        """Return points (delay, damping) and (delay, stiffness) of every curve by eqs. 149–151."""
        dampings = np.arange(100, 2000, 200)
        stiffnesses = np.array([50, 75, 100, 150, 200, 300, 400, 600, 800, 1100, 1400])
        masses = [geometry.effective_mass() for geometry in self.geometries.values()]
        return [
            [(np.asarray(critical_delay(dampings, STIFFNESS, mass)), dampings) for mass in masses],
            [(np.asarray(critical_delay(DAMPING, stiffnesses, mass)), stiffnesses) for mass in masses],
        ]

    def critical_delays(self) -> Iterator[Row]:
        """Yield effective masses and critical delays of the general path, the closed forms beside them."""
        for value in self.tabled:
            geometry, label = self.geometries[value], self.label(value)
            mass = geometry.effective_mass()
            for index, (stiffness, damping) in enumerate(self.compliances):
                general = margins_of(geometry, stiffness, damping)
                if index == 0:
                    heavy = general["effective_mass_kg"]
                    yield Row(f"effective mass m†, {label}", None, heavy, "kg", f"eq. 149: {mass:.6f}")
                closed = float(critical_delay(damping, stiffness, mass))
                name = f"critical delay, {label}, k = {stiffness:g} N/m, b = {damping:g} N s/m"
                yield Row(name, None, general["critical_delay_s"], "s", f"eqs. 149–151: {closed:.6f}")

    def trend(self) -> Row:
        """Return what a larger value does to the critical delay."""
        stiffness, damping = FEW[-1]
        one, other = (
            margins_of(self.geometries[value], stiffness, damping)["critical_delay_s"] for value in self.tabled
        )
        before, after = map(self.label, self.tabled)
        name = f"change of the critical delay from {before} to {after}"
        return Row(name, self.printed, other - one, "s", f"k = {stiffness:g} N/m, b = {damping:g} N s/m. As printed.")

    def against_chart(self, charts: list[xr.Dataset]) -> Row:
        """Return the traced boundaries against eq. 151."""
        worst = 0.0
        for member, geometry in enumerate(self.geometries.values()):
            mass = geometry.effective_mass()
            for chart, compliance in zip(charts, ("damping", "stiffness"), strict=True):
                places = np.stack([chart.boundary_x.values[member], chart.boundary_y.values[member]])
                delay, varied = places[:, np.isfinite(places).all(axis=0) & (places[0] < chart.x.values[-1])]
                damping, stiffness = (varied, STIFFNESS) if compliance == "damping" else (DAMPING, varied)
                worst = max(worst, float(np.abs(critical_delay(damping, stiffness, mass) - delay).max()))
        return Row("traced boundaries, largest distance from eq. 151", None, worst, "s", "Located to 1e-7 of an axis.")

    def longest_delays(self) -> Iterator[Row]:
        """Yield how long a delay any damping makes stable."""
        for value, geometry in self.geometries.items():
            mass = geometry.effective_mass()
            longest = float(critical_delay(np.linspace(1, 2000, 20_000), STIFFNESS, mass).max())
            name = f"longest delay that any damping makes stable, {self.label(value)}"
            limit = np.pi * mass / (2 * DAMPING)
            note = f"With k = 1000 N/m kept. With b = 200 N s/m kept, any k: π m† / (2 b) = {limit:.4f} s."
            yield Row(name, "exists", longest, "s", note)


def _probe_rows() -> list[Row]:
    """Return figure 7: scaling of the compliance, roots, and the printed M."""
    once, twice = (
        margins_of(Geometry(), stiffness, damping)["critical_delay_s"]
        for stiffness, damping in ((STIFFNESS, DAMPING), (STIFFNESS / 4, DAMPING / 2))
    )
    rows = [
        Row(
            "critical delay with b / 2 and k / 4 over that with b and k, l₀ = 1 m",
            "no compliance is stable beyond a certain delay",
            twice / once,
            "1",
            "Not so: (b / T, k / T²) scales the critical delay by T. A limit exists only while k or b is kept.",
        )
    ]
    for delay, words in ((0.016, "Stable."), (0.2, "Unstable, barely: the critical delay is 0.193 s.")):
        root = margins_of(Geometry(), delay=delay)["rightmost_roots"][0]
        rows += _root_rows(f"rightmost root, l₀ = 1 m, h = {delay:g} s", root, words)
    apex = np.array([1.0, 0.0, 0.0])  # r_TS of Table 1, m
    axes = wall_axes(np.radians(30), 0.0)
    probe, contact = np.array([2.0, 0.0, 0.0]), apex + 0.5 * axes[:, 0]
    general = margins(load("sazawal-spring-dashpot", {"stability.distance": 0.5, "loop.delay": 0.1}))
    mass = f"m† = {general['effective_mass_kg']:.4f} kg, critical delay {general['critical_delay_s']:.6f} s."
    table = "Table 1, m* = 0.5 m, h = 0.1 s: root"
    rows += _root_rows(table, general["rightmost_roots"][0], f"From the simulated model. {mass}")
    right = contact_matrix(REDUCED_MASS, INERTIA, INERTIA, probe, contact)
    printed = printed_contact_matrix(REDUCED_MASS, INERTIA, INERTIA, probe, contact, apex)
    rows += _root_rows(f"{table} by M of eq. 120, corrected", _normal_root(right, axes, 0.1), "The same.")
    rows += _root_rows(
        f"{table} by M of eq. 120 as printed",
        _normal_root(printed, axes, 0.1),
        "Its + r_TS× takes the target's torque about the apex; no such motion appears in a simulation.",
    )
    return rows


def _normal_root(matrix: np.ndarray, axes: np.ndarray, delay: float) -> list[float]:
    """Return the rightmost root (1/s) along the normal by a contact matrix, real and imaginary part."""
    damping, stiffness = normal_dynamics(DAMPING, STIFFNESS, matrix, axes)
    free, late = [[0, 1], [0, 0]], [[0, 0], [-stiffness, -damping]]
    root = rightmost_roots(np.array([free, late], float), np.array([delay]), count=1)[0]
    return [float(root.real), abs(float(root.imag))]


def _root_rows(name: str, root: list[float], note: str) -> list[Row]:
    return [
        Row(f"{name}, real part", None, root[0], "1/s", note),
        Row(f"{name}, imaginary part", None, abs(root[1]), "rad/s"),
    ]


def _cone_rows() -> list[Row]:
    """Return figure 8: effective stiffness and damping as the cone opens."""
    narrow, wide = (margins_of(Geometry(half_angle=angle))["normal_dynamics"] for angle in (30, 60))
    words = "increase as the angle decreases"
    return [
        Row("change of b_d from θ = 60° to 30°", words, narrow[0] - wide[0], "1/s", "As printed."),
        Row("change of k_d from θ = 60° to 30°", words, narrow[1] - wide[1], "1/s²", "As printed."),
    ]


def _distance_rows() -> list[Row]:
    """Return figure 9: effective stiffness and damping closer to the tip of the nozzle."""
    close, far = (margins_of(Geometry(distance=distance))["normal_dynamics"] for distance in (0.5, 1.0))
    words = "increase closer to the nozzle tip"
    note = "The opposite of the sentence after eq. 149, and as eq. 149 has it: m* is the target's lever."
    return [
        Row("change of b_d from m* = 1 to 0.5 m", words, close[0] - far[0], "1/s", note),
        Row("change of k_d from m* = 1 to 0.5 m", words, close[1] - far[1], "1/s²", note),
    ]


NOTE = (
    "m_r = 1500 kg, all moments of inertia 500 kg m² (J_z is not printed), r_TS = 0, φ* = 0. Curves are traced by "
    "`stability_dataset` and rows computed by `margins`, both from the Jacobians of the model that simulates; the closed "
    "forms stand beside them. The printed legend is not in the text at hand: the values of {} are chosen here. "
    "Stable to the left of a curve."
)

FAMILIES = {
    7: Family(
        "length of the probe",
        "l₀",
        "m",
        {length: Geometry(probe=length) for length in (0.5, 1.0, 1.5)},
        Sweep("body.chaser.feature.probe.position.0", 0.5, 1.5, 3),
        (1.0, 1.5),
        [*DAMPINGS, *STIFFNESSES],
        "a shorter probe broadens the range",
        _probe_rows,
    ),
    8: Family(
        "half angle of the cone",
        "θ",
        "°",
        {angle: Geometry(half_angle=angle) for angle in (30.0, 45.0, 60.0)},
        Sweep("body.target.surface.cone.half_angle", "30 deg", "60 deg", 3),
        (30.0, 60.0),
        FEW,
        "a larger angle broadens the range",
        _cone_rows,
    ),
    9: Family(
        "distance of the contact from the apex",
        "m*",
        "m",
        {distance: Geometry(distance=distance) for distance in (0.5, 0.75, 1.0)},
        Sweep("stability.distance", 0.5, 1.0, 3),
        (0.5, 1.0),
        FEW,
        "a shorter distance broadens the range",
        _distance_rows,
    ),
}

FIGURES: dict[int | str, PaperPart] = {
    number: PaperPart(
        f"Sazawal et al., Fig. {number}: stable delays, {family.varied} varied",
        family.make,
        NOTE.format(family.symbol),
    )
    for number, family in FAMILIES.items()
}
