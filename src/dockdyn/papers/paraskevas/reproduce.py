"""Paraskevas et al., impact docking of two multibody systems: Table 1, Figures 3–5, 7–9 and eqs. 25 and 26 recomputed.

Every simulation is one of the presets `paraskevas-a` to `paraskevas-d`, `paraskevas-latch` and `paraskevas-latch-slow`.
The rows "contact stiffness" and "chaser stiffness" of Table 1 are swapped: only contact 15000, chaser 1000 and target
200 N/m gives its numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from dockdyn import simulate
from dockdyn.impact.formulas.contact_duration import first_order_correction
from dockdyn.impact.formulas.latching import minimum_latching_velocity
from dockdyn.papers import reproduction
from dockdyn.papers.paraskevas import map as paraskevas_map
from dockdyn.papers.paraskevas import pictures
from dockdyn.papers.paraskevas import ratios as paraskevas_ratios
from dockdyn.papers.paraskevas.cases import (
    CHASER,
    CHASER_FRONT,
    STIFFNESSES,
    TARGET,
    TARGET_FRONT,
    Case,
    relative_velocity,
    run_case,
)
from dockdyn.papers.reproduction import PaperPart, Progress
from dockdyn.papers.table import PaperTable, Row
from dockdyn.results.run import Variable
from dockdyn.results.store import write_result
from dockdyn.scenario.load import load

CASES = {  # relative velocity after the first impact (m/s) as printed: eq. 18, simulation
    "A": ("0.0403", "0.0402"),
    "B": ("0", "−0.000476"),
    "C": ("0.02728", "0.02715"),
    "D": ("0.0413", "0.0412"),
}
MASSES = {  # kg, m₁ to m₄ as printed
    "A": ("17", "2", "1.5", "15"),
    "B": ("10", "10", "10", "10"),
    "C": ("5", "50", "10", "100"),
    "D": ("100", "20", "10", "200"),
}
DIFFERENCES = {"A": "0.0001", "B": "0.000476", "C": "0.00013", "D": "0.0001"}  # m/s, “absolute error” as printed
AS_PRINTED = {STIFFNESSES["contact"]: 1000, STIFFNESSES["chaser"]: 15000}  # N/m, the rows of Table 1 not swapped
AFTER_CONTACT = 0.1  # s, shown of Fig. 7
BEFORE = 0.1  # s, shown of Figs. 8 and 9 before first contact
LATCH = (15.0, 17.0, 100.0, np.pi / 4, 0.02)  # section 5.2: masses (kg), stiffness (N/m), angle (rad), length (m)


def _first_impacts(progress: Progress) -> tuple[None, list[Row]]:
    """Return table 1."""
    rows = []
    for done, (case, (printed, simulated)) in enumerate(CASES.items(), start=1):
        run, swapped, given = run_case(case), run_case(case, **AS_PRINTED), Case.of(case)
        predicted, found = (float(run[f"episode_relative_{name}"][0]) for name in ("predicted", "after"))
        note = "Rounds to 0.02727." if case == "C" else ""
        as_printed = float(swapped.episode_relative_after[0])
        rows += [
            *_properties(case),
            Row(f"{case}: e_l", None, given.mass_ratio, "1"),
            Row(f"{case}: eq. 18", printed, predicted, "m/s", note),
            Row(f"{case}: simulated", simulated, found, "m/s"),
            Row(f"{case}: absolute error of eq. 18", DIFFERENCES[case], abs(predicted - found), "m/s"),
            Row(f"{case}: eq. 18 with correction", None, predicted + _correction(given), "m/s"),
            Row(f"{case}: simulated with the stiffnesses as printed", simulated, as_printed, "m/s"),
            Row(f"{case}: contacts in five slow periods", None, float(run.sizes["episode"]), "1", "Eq. 18: the first."),
        ]
        progress(done / len(CASES))
    return None, rows


def _correction(given: Case) -> float:
    """Return the first-order correction (m/s) of the first impact of a case."""
    return float(first_order_correction(given.chaser, given.target, given.speed, given.contact, *given.inside))


def _properties(case: str) -> list[Row]:
    """Return the rows of Table 1 that are given: masses, stiffnesses and the relative velocity before."""
    given, swapped = Case.of(case), "Rows swapped in print."
    masses, (chaser, target) = (*given.chaser, *given.target), given.inside
    return [
        *(
            Row(f"{case}: m{number}", printed, float(mass), "kg")
            for number, printed, mass in zip("₁₂₃₄", MASSES[case], masses, strict=True)
        ),
        Row(f"{case}: contact stiffness", "1000", given.contact, "N/m", swapped),
        Row(f"{case}: chaser stiffness", "15000", chaser, "N/m", swapped),
        Row(f"{case}: target stiffness", "200", target, "N/m"),
        Row(f"{case}: relative velocity before", "0.05", given.speed, "m/s"),
    ]


def _equal_ratios(progress: Progress) -> tuple[None, list[Row]]:
    """Return the rows of eqs. 25 and 26, and what simulations with the springs of Table 1 give."""
    rows = paraskevas_ratios.equal_rows()
    for ratio in (0.5, 2.0):
        masses = [mass for chain in paraskevas_ratios.equal_chains(ratio) for mass in chain]
        names = (CHASER, CHASER_FRONT, TARGET_FRONT, TARGET)
        run = run_case("B", **{f"body.{name}.mass": mass for name, mass in zip(names, masses, strict=True)})
        after = float(run.episode_relative_after[0] / run.episode_relative_before[0])
        name = f"eq. 26: simulated with the springs of Table 1, λ = {ratio:g}, e* = 1"
        rows.append(Row(name, f"{(ratio - 1) / (ratio + 1):.6g}", after, "1", "Springs inside of finite stiffness."))
        progress(0.5)
    return None, rows


@lru_cache(maxsize=1)
def _relative_velocities() -> xr.Dataset:
    """Return figure 7: relative velocity of the centres of mass through the first contact."""
    runs, velocity = {}, []
    for case in CASES:
        given = Case.of(case)
        contact = given.gap / given.speed  # s, when it begins
        runs[case] = run_case(case, **{"duration": contact + AFTER_CONTACT, "output.interval": 2e-4})
        velocity.append(relative_velocity(runs[case], given))
    one = next(iter(runs.values()))
    release = [float(run.episode_release[0] - run.episode_onset[0]) for run in runs.values()]

    def each(name: str) -> list[float]:
        return [float(run[name][0]) for run in runs.values()]

    def of_cases(values: list[float], units: str, words: str) -> Variable:
        return ("case", values, {"units": units, "long_name": words})

    words = "relative velocity of the centres of mass"
    return xr.Dataset(
        {
            "relative_velocity": (("case", "time"), np.stack(velocity), {"units": "m/s", "long_name": words}),
            "predicted": of_cases(each("episode_relative_predicted"), "m/s", f"{words} after the impact, eq. 18"),
            "after": of_cases(each("episode_relative_after"), "m/s", f"{words} at the first release"),
            "release": of_cases(release, "s", "first release since first contact"),
        },
        coords={
            "case": list(CASES),
            "time": ("time", one.time.values - contact, {"units": "s", "long_name": "time since first contact"}),
        },
    )


def _relative_velocity_rows(data: xr.Dataset) -> list[Row]:
    rows = []
    for case, (_, simulated) in CASES.items():
        one = data.sel(case=case)
        rows.append(Row(f"{case}: relative velocity after", simulated, float(one.after), "m/s"))
        rows.append(Row(f"{case}: duration of the contact", None, 1e3 * float(one.release), "ms"))
    return rows


def latching(names: dict[str, dict[str, Any]]) -> xr.Dataset:
    """Return runs of a probe that meets the latch, by label: preset and changes; first contact is at t = 0."""
    runs = {}
    for label, changes in names.items():
        changes = dict(changes)
        name = changes.pop("preset")
        speed = load(name, changes).content.named(CHASER).velocity
        at_contact = {f"body.{CHASER}.position": -BEFORE * speed, "duration": BEFORE + 1.2, "output.interval": 5e-3}
        runs[label] = simulate(load(name, {**changes, **at_contact}))
    one = next(iter(runs.values()))

    def over_time(pick: Callable[[xr.Dataset], xr.DataArray], units: str, words: str) -> Variable:
        values = np.stack([pick(run).values for run in runs.values()])
        return (("run", "time"), values, {"units": units, "long_name": words})

    def of_runs(name: str) -> Variable:
        return ("run", [float(run[name]) for run in runs.values()], one[name].attrs)

    return xr.Dataset(
        {
            "chaser_velocity": over_time(lambda run: run.velocity[:, 0, 0], "m/s", "velocity of the chaser"),
            "target_velocity": over_time(lambda run: run.velocity[:, 1, 0], "m/s", "velocity of the target"),
            "travel": over_time(lambda run: run.latch_travel, "m", "travel into the latch"),
            "speed": of_runs("latch_entry_speed"),
            "greatest_travel": of_runs("greatest_travel"),
            "latch_time": ("run", [float(run.capture_time) - BEFORE for run in runs.values()], {"units": "s"}),
        },
        coords={
            "run": list(runs),
            "time": ("time", one.time.values - BEFORE, {"units": "s", "long_name": "time since first contact"}),
        },
        attrs={"length": float(one.latch_length)},
    )


@lru_cache(maxsize=1)
def _too_slow() -> xr.Dataset:
    """Return figure 8, and the paper's rounded least speed."""
    name = "paraskevas-latch-slow"
    return latching({"0.05 m/s": {"preset": name}, "0.07 m/s": {"preset": name, f"body.{CHASER}.velocity": 0.07}})


@lru_cache(maxsize=1)
def _fast_enough() -> xr.Dataset:
    """Return figure 9."""
    return latching({"0.0709 m/s": {"preset": "paraskevas-latch"}})


def _too_slow_rows(data: xr.Dataset) -> list[Row]:
    slow, rounded = (data.sel(run=run) for run in data.run.values)
    note = "Of 20 mm. The paper's rounded least speed does not latch."
    return [
        Row("0.05 m/s: greatest travel", "not fully inserted", 1e3 * float(slow.greatest_travel), "mm", "Of 20 mm."),
        Row("0.05 m/s: velocity of the chaser after", None, float(slow.chaser_velocity[-1]), "m/s"),
        Row("0.05 m/s: velocity of the target after", None, float(slow.target_velocity[-1]), "m/s"),
        Row("0.07 m/s: greatest travel", "successful (Fig. 9)", 1e3 * float(rounded.greatest_travel), "mm", note),
    ]


def _fast_enough_rows(data: xr.Dataset) -> list[Row]:
    one = data.isel(run=0)
    chaser, target, stiffness, angle, length = LATCH
    least = float(minimum_latching_velocity(chaser, target, stiffness, angle, axial_length=length))
    other = float(minimum_latching_velocity(19.0, 16.5, stiffness, angle, axial_length=length))
    quarter = np.pi / 2 * length / least
    return [
        Row("least speed that latches (eq. 46)", "0.07", least, "m/s", "ω l_p: contact begins at zero penetration."),
        Row("the same with the masses of Table 1, case A", None, other, "m/s", "19 and 16.5 kg, not 15 and 17 kg."),
        Row("0.0709 m/s: time from first contact to latch", None, float(one.latch_time), "s"),
        Row("quarter period (eq. 44)", None, quarter, "s", "The latest at which a probe can latch, not when it does."),
        Row("0.0709 m/s: common velocity after", None, float(one.chaser_velocity[-1]), "m/s"),
    ]


@lru_cache(maxsize=1)
def _single_mass() -> xr.Dataset:
    return paraskevas_ratios.plane(0.0)


@lru_cache(maxsize=1)
def wall() -> xr.Dataset:
    return paraskevas_ratios.plane(np.inf)


Data = Callable[[], xr.Dataset]


def _make_figure(
    title: str, data: Data, draw: Callable[[xr.Dataset], Figure], rows: Callable[[xr.Dataset], list[Row]], note: str
) -> PaperPart:
    """Return a figure whose picture and rows come from one dataset."""

    def make(progress: Progress) -> tuple[Figure, list[Row]]:
        found = data()
        progress(0.8)
        return draw(found), rows(found)

    return PaperPart(f"Paraskevas et al., {title}", make, note)


ELASTIC = "Elastic (e* = 1); λ_c = m₁/m₂, λ_i = m₂/m₃, λ_t = m₄/m₃."
TRACED = f"{ELASTIC} The line e_l = ½ is traced to 1e-9 of an axis."
UNDAMPED = "Undamped; the events are located."
LATCHES = "15 and 17 kg, 100 N/m, 45°, 20 mm, no friction."
SQUARE = (
    "Case A's masses with other stiffnesses inside, each over that of the contact; errors over the relative velocity before "
    "the impact. Undamped, so these two ratios decide. Beyond the line the masses still touch when the depth has its first "
    "minimum: the first separation of the stiff contact never comes. `validity_warnings` warns where either ratio is above "
    "0.1, well before."
)

FIGURES: dict[int | str, PaperPart] = {
    "table-1": PaperPart(
        "Paraskevas et al., Table 1: relative velocity after the first impact",
        _first_impacts,
        "Contact 15000, chaser 1000, target 200 N/m: the rows “contact” and “chaser stiffness” are printed the other way "
        "round. Five periods of the slower of the two motions inside.",
    ),
    "equal": PaperPart(
        "Paraskevas et al., section 3.3.1: equal mass ratios of chaser and target",
        _equal_ratios,
        f"m₁/m₂ = m₄/m₃ = λ, m₂/m₃ = {paraskevas_ratios.CONTACT:g}, which does not matter. Printed is what eqs. 25 and 26 "
        "give, computed the impact of any four masses (eqs. 14, 18 and 19).",
    ),
    3: _make_figure(
        "Fig. 3: a target of one mass", _single_mass, pictures.mass_ratios, paraskevas_ratios.single_mass_rows, TRACED
    ),
    4: _make_figure("Fig. 4: a target on a wall", wall, pictures.mass_ratios, paraskevas_ratios.wall_rows, TRACED),
    5: _make_figure(
        "Fig. 5: mass ratios that leave no relative velocity",
        paraskevas_ratios.locus,
        pictures.zero_locus,
        paraskevas_ratios.locus_rows,
        f"{ELASTIC} Eq. 32 solved for λ_t, or for λ_c where λ_t is known, with λ_t where it prints λ_i for it. A λ_t exists "
        "for λ_i above the line of Fig. 3 (λ_c > 1), or that of Fig. 4 (λ_c < 1); a λ_c for 1/λ_i so, by λ_t.",
    ),
    7: _make_figure(
        "Fig. 7: relative velocity through the first impact",
        _relative_velocities,
        pictures.relative_velocities,
        _relative_velocity_rows,
        UNDAMPED,
    ),
    8: _make_figure("Fig. 8: too slow to latch", _too_slow, pictures.latch_motion, _too_slow_rows, LATCHES),
    9: _make_figure("Fig. 9: latched", _fast_enough, pictures.latch_motion, _fast_enough_rows, LATCHES),
    "map": _make_figure(
        "beyond the paper: where eq. 18 holds",
        paraskevas_map.stiffness_map,
        pictures.stiffness_map,
        paraskevas_map.map_rows,
        SQUARE,
    ),
}
DATA: dict[int | str, Data] = {
    3: _single_mass,
    4: wall,
    5: paraskevas_ratios.locus,
    7: _relative_velocities,
    8: _too_slow,
    9: _fast_enough,
    "map": paraskevas_map.stiffness_map,
}


def reproduce(figure: int | str | None, folder: Path, progress: Progress | None = None) -> list[PaperTable]:
    """Recompute one of `FIGURES`, or all when None: see `reproduction.reproduce`. Writes each figure's data as netCDF, too."""
    tables = reproduction.reproduce(FIGURES, figure, folder, progress)
    for table in tables:
        if table.name in DATA:
            stem = f"figure-{table.name}" if isinstance(table.name, int) else table.name
            write_result(DATA[table.name](), Path(folder) / f"{stem}.nc")
    return tables
