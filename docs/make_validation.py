"""Write validation.md, printed, computed and independent numbers beside each other: `python docs/make_validation.py`.

`make verify` calls it after the tests. It takes a few minutes, needs the packages of the `dev` extra, and ends with an error
where a computed number is further from the independent one than that is trusted to.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tomlkit

import dockdyn

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "validation.md"
sys.path[:0] = [
    str(ROOT / "tests"),
    str(ROOT / "tests" / "contact"),
    str(ROOT / "tests" / "docking"),
]  # independent models that the tests use

SECOND = "second implementation"
ROUNDING = 1e-10  # differences below this are not told apart: they change with the machine
INTRODUCTION = f"""# Validation

Written by `docs/make_validation.py`, which `make verify` runs after the tests. Three numbers a row: what the paper prints,
what dockdyn computes, and what something else computes that shares no code with it.

“By” says what that is. A *closed form* is evaluated here with NumPy. *SciPy*, *tdcpy* and *Pinocchio* were run when this
page was written, on a model written for that purpose; Drake by `benchmarks/drake_impacts.py`, of contacts so stiff that
both places where a contact may act, in the middle of the overlap or where a ball is deepest, are one; its hydroelastic
contact by `benchmarks/drake_patches.py`: there a block is lifted by what it displaces, here its sides bear along the plane's
normal, too, which is 0.1 to 1.2 % more.
“{SECOND.capitalize()}” is a number from another implementation of the paper, which shares no code with dockdyn; it is given
to the digits shown. What was measured is beside the materials as published, with no number fitted to it. At 9.5° elastic
half-spaces, solved by annuli that stick or slip (Maw et al. 1976), keep 4.4 % less than Kharaz's ball, too. The spins are
0.2 to 14 % (at 6° and 60°) more than the velocities measured beside them allow, as a ball keeps its angular momentum about
where it touches, whatever the law; and where all slides any law gives 5/2 μ (1 + e) v cos θ / r. Inputs of Chung
and Ooi's tests (2011) are those of the examples of Yade and PySPH, of 3, 7 and 8 as recalled; where other numbers were
recalled and not looked up, the row says so. Where the paper prints another number than both, [Errata](errata.md) says
why. All rows of all papers: `dockdyn reproduce`.
"""
HEAD = "| Quantity | Printed | Computed | Independent | Unit | By | Difference |\n|---|---|---|---|---|---|---|"


class Known(NamedTuple):
    """An independent number for a row of a paper's table."""

    paper: str
    part: int | str
    quantity: str
    value: float | Callable[[], float]
    by: str
    trusted: float  # largest difference


class Line(NamedTuple):
    """A row of the page."""

    quantity: str
    printed: str
    computed: float
    independent: float
    unit: str
    by: str
    trusted: float

    def text(self) -> str:
        numbers = (f"{self.computed:.8g}", f"{self.independent:.8g}")
        gap = abs(self.computed - self.independent)
        told = f"{gap:.1e}" if gap > ROUNDING else f"below {ROUNDING:g}"
        return "| " + " | ".join((self.quantity, self.printed, *numbers, self.unit, self.by, told)) + " |"


def delay_margin(damping: float, stiffness: float = 1000.0, mass: float = 375.0) -> float:
    """Eqs. 150 and 151 of Sazawal et al. (s)."""
    b, k = damping / mass, stiffness / mass
    frequency = np.sqrt(b**2 / 2 + np.sqrt(b**4 / 4 + k**2))
    return float(np.arctan2(frequency * b, k) / frequency)


@cache
def gibson_impacts() -> list[float]:
    """Times of impact by SciPy's DOP853, on equations of motion in complex numbers."""
    import planar_arm_reference as planar

    return [impact.time for impact in planar.solve(planar.Parameters(), 40.0).impacts]


def first_separation(case: str) -> float:
    """Relative velocity (m/s) after the first impact of four masses, by SciPy's DOP853."""
    from four_mass_reference import Line as FourMasses

    masses = {"A": (17, 2, 1.5, 15), "B": (10, 10, 10, 10)}[case]
    return float(FourMasses((1000 / 15000, 200 / 15000), masses).after_first_contact())


PAPERS = {
    "sazawal": "Sazawal et al.",
    "paraskevas": "Paraskevas et al.",
    "sits": "SITS",
    "gibson": "Gibson and Murphey",
    "cyril": "Cyril et al.",
}
PIN = "pin, N_y, θ₄ free, n = 0"
KNOWN = [
    *(
        Known(
            "sazawal", 7, f"critical delay, l₀ = 1 m, k = 1000 N/m, b = {b} N s/m", delay_margin(b), "closed form", 1e-9
        )
        for b in (50, 100, 200, 400, 800)
    ),
    *(Known("paraskevas", "table-1", f"{c}: simulated", lambda c=c: first_separation(c), "SciPy", 1e-8) for c in "AB"),
    Known("paraskevas", "table-1", "C: simulated", 0.0271536, SECOND, 1e-7),
    Known("paraskevas", "table-1", "D: simulated", 0.0412147, SECOND, 1e-7),
    Known(
        "paraskevas", 9, "least speed that latches (eq. 46)", 0.02 * np.sqrt(100 / (15 * 17 / 32)), "closed form", 1e-9
    ),
    Known("sits", "delays", "measurement delay alone, growth rate", 0.0399957, SECOND, 1e-7),
    Known("sits", "delays", "control cycle alone, growth rate", 0.0399936, SECOND, 1e-7),
    Known("sits", "delays", "response of the robot alone, growth rate", 0.011063, SECOND, 1e-6),
    Known("sits", "robot", "delay at ω_n", 0.5526, SECOND, 1e-4),
    Known("gibson", "impacts", "impact 1, side-wall: time", lambda: gibson_impacts()[0], "SciPy", 1e-3),
    Known("gibson", "impacts", "impact 2, floor: time", lambda: gibson_impacts()[1], "SciPy", 1e-3),
    Known("cyril", "start", "kinetic energy of the chaser", 0.137194, SECOND, 1e-6),
    Known("cyril", "start", "linear momentum, x", -2.004428, SECOND, 1e-6),
    Known("cyril", "plastic", f"{PIN}: energy lost", 0.075580, SECOND, 1e-6),
    Known("cyril", "plastic", f"{PIN}: normal impulse", 2.16140, SECOND, 1e-5),
    Known("cyril", "plastic", f"{PIN}: tangential impulse", 0.89548, SECOND, 1e-5),
    Known("cyril", "plastic", "pin, N_h, θ₄ locked, n = 3: energy lost", 0.084504, SECOND, 1e-6),
]


def of_papers() -> Iterator[tuple[str, list[Line]]]:
    """Rows of the papers, each part computed once."""
    for paper, title in PAPERS.items():
        source, found = importlib.import_module(f"dockdyn.papers.{paper}.reproduce"), []
        for part in dict.fromkeys(known.part for known in KNOWN if known.paper == paper):
            with tempfile.TemporaryDirectory() as folder:
                rows = {row.quantity: row for table in source.reproduce(part, folder) for row in table.rows}
            for known in KNOWN:
                if (known.paper, known.part) == (paper, part):
                    row, value = rows[known.quantity], known.value() if callable(known.value) else known.value
                    cells = (known.quantity, row.printed or "", row.computed, value, row.unit)
                    found.append(Line(*cells, known.by, known.trusted))
        yield title, found


def engines() -> list[Line]:
    """What no paper prints, beside other programs that are run now."""
    import tdcpy
    import tdcpy.rdde
    from pinocchio_bodies import pair, pin
    from scipy.linalg import solve_continuous_are

    from dockdyn.control.lqr import solve_riccati
    from dockdyn.impact import contact_matrix
    from dockdyn.stability import rightmost_roots

    found = []
    for delay in (0.016, 0.2):  # s; Sazawal et al., k = 1000 N/m, b = 200 N s/m on 375 kg
        matrices = np.array([[[0, 1], [0, 0]], [[0, 0], [-1000 / 375, -200 / 375]]], float)
        root = rightmost_roots(matrices, np.array([delay]), count=1)[0]
        system = tdcpy.rdde.RDDE(A=np.stack(list(matrices), axis=-1), hA=np.array([0.0, delay]))
        known = max(np.asarray(tdcpy.roots(system, r=float(root.real) - 0.1)[0]), key=lambda s: s.real)
        name = f"rightmost root of a delayed spring and dashpot, h = {delay:g} s"
        found.append(Line(f"{name}, real part", "", root.real, known.real, "1/s", "tdcpy", 1e-9))
        found.append(Line(f"{name}, imaginary part", "", abs(root.imag), abs(known.imag), "1/s", "tdcpy", 1e-9))
    two = pair(0)
    decomposition = pin.ConstraintCholeskyDecomposition(two.model, two.data, *two.constraint)
    decomposition.compute(two.model, two.data, *two.constraint, 0.0)
    other = decomposition.getInverseOperationalSpaceInertiaMatrix()[0, 0]
    ours = float(contact_matrix(two.jacobian, two.mass)[0, 0])
    found.append(
        Line("W_nn of two free bodies that meet off their centres", "", ours, other, "1/kg", "Pinocchio", 1e-11)
    )
    random = np.random.default_rng(10)
    a, b = random.normal(size=(6, 6)), random.normal(size=(6, 2))
    ours, other = (
        float(np.trace(np.asarray(f(a, b, np.eye(6), np.eye(2))))) for f in (solve_riccati, solve_continuous_are)
    )
    found.append(Line("trace of the solution of a Riccati equation of six states", "", ours, other, "1", "SciPy", 1e-8))
    return found


def components() -> list[Line]:
    """Return a docking of two vehicles by finite elements beside one of all of their displacements."""
    from component_cases import full_docking, near_docking

    with tempfile.TemporaryDirectory() as folder:
        run = dockdyn.simulate(load(near_docking(Path(folder))))
    full = full_docking(run)
    name, ours = "two vehicles by finite elements, friction and 4 ms of delay", float(run.episode_peak_force.max())
    lasted = 1e3 * float(run.episode_release[0] - run.episode_onset[0])
    expected = 1e3 * float(np.ptp(full.time[full.pressed > 0]))
    return [
        Line(f"{name}: peak force", "", ours, full.pressed.max(), "N", "SciPy, full models", 0.01 * full.pressed.max()),
        Line(f"{name}: duration", "", lasted, expected, "ms", "SciPy, full models", 0.01 * expected),
    ]


def load(tables: dict[str, object]) -> dockdyn.Scenario:
    """Return the scenario of these tables."""
    from plain_tables import plain

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "contact.toml"
        file.write_text(tomlkit.dumps(plain(tables)), encoding="utf-8")
        return dockdyn.load(file)


def of_drake() -> list[Line]:
    """Return motions after impacts of whole bodies with friction, beside those of Drake that are kept with the tests."""
    from impact_scenes import SCENES, STIFFNESSES, drake_says, drake_version, tables_of

    found, stiffness, by = [], STIFFNESSES[-1], f"Drake {drake_version()}"
    for name, scene in SCENES.items():
        run, said = dockdyn.simulate(load(tables_of(scene, stiffness))), drake_says(name, stiffness)[0]
        for key, word, unit in (("velocity", "speed", "m/s"), ("rate", "rate", "rad/s")):
            ours, theirs = (float(np.linalg.norm(one)) for one in (run[key].sel(body="body0")[-1], said[key]))
            found.append(Line(f"{name}: {word} afterwards", "", ours, theirs, unit, by, 3e-4 * theirs))
    return found


def patches_of_drake() -> list[Line]:
    """Return forces of faces on faces, beside those of Drake's hydroelastic contact that are kept with the tests."""
    import contact_patches as known
    from patch_places import DEPTHS, PLACES, SLOPES, drake_forces, drake_version

    found, by = [], f"Drake {drake_version()}, hydroelastic"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for depth, slope in ((1, 0), (1, 1), (1, 2), (2, 2)):
            deep, tilt = DEPTHS[depth], SLOPES[slope]
            ours = known.tilted_block_force(load, folder, 8_000, deep, tilt)
            theirs = float(drake_forces("block on a half space")[depth, slope])
            words = (
                f"block {1e3 * deep:g} mm deep in a half space, tilted by {np.degrees(tilt):.1f}°, 8,000 points: force"
            )
            found.append(Line(words, "", ours, theirs, "N", by, 0.015 * theirs))
        for place in (3, 5):
            ours = known.block_force(load, folder, 20_000, *PLACES[place])
            theirs = float(drake_forces("block on a block")[place])
            turn = f"{np.degrees(PLACES[place][0]):.0f}°"
            words = f"block on a block, turned by {turn}, overlap in part, 20,000 points a side: force"
            found.append(Line(words, "", ours, theirs, "N", by, 0.01 * theirs))
    return found


def contacts() -> list[Line]:
    """Return contacts whose outcome is known in closed form."""
    import contact_benchmarks as known

    found, form = [], "closed form"
    for name in known.ELASTIC:
        tables, peak, duration = known.elastic_impact(name)
        run, test = dockdyn.simulate(load(tables)), f"Chung and Ooi's test {1 if 'like' in name else 2}, {name}"
        lasted = float(run.episode_release[0] - run.episode_onset[0])
        found.append(Line(f"{test}: peak force", "", float(run.episode_peak_force[0]), peak, "N", form, 1e-9 * peak))
        found.append(Line(f"{test}: duration", "", 1e6 * lasted, 1e6 * duration, "µs", form, 1e-8 * 1e6 * duration))
    for number, tangential, spin in ((5, 10.0, 0.0), (6, 0.0, 21.0)):
        tables, expected = known.sliding_impact(tangential, spin)
        ours = known.motion_after(dockdyn.simulate(load(tables)))
        came = f"{tangential:g} m/s along the plane" if tangential else f"{spin:g} rad/s"
        for key, unit in (("velocity", "m/s"), ("spin", "rad/s")):
            trusted = 1e-6 * abs(expected[key])
            cells = f"Chung and Ooi's test {number}, {came}: {key} afterwards", "", ours[key], expected[key]
            found.append(Line(*cells, unit, form, trusted))
    for kept in (0.2, 0.5, 1.0):
        tables, speed = known.restituted_impact(kept)
        ours = float(dockdyn.simulate(load(tables))["velocity"].sel(body="ball", axis="z")[-1])
        found.append(
            Line(f"Chung and Ooi's test 3, restitution {kept:g}: speed afterwards", "", ours, speed, "m/s", form, 1e-6)
        )
    for number, ratio, spin in ((7, 1.0, 10.0), (8, 5.0, 8.0)):
        tables, motions = known.spinning_impact(ratio, spin)
        ours = known.motion_after(dockdyn.simulate(load(tables)))
        for key, unit in (("velocity", "m/s"), ("spin", "rad/s")):
            cells = (
                f"Chung and Ooi's test {number}, {spin:g} rad/s: {key} afterwards",
                "",
                ours[key],
                motions["ball"][key],
            )
            found.append(Line(*cells, unit, f"{form} of an instant", 2e-3 * abs(motions["ball"][key])))
    for name, (tables, expected), by, trusted in (
        ("ball that yields: restitution", known.plastic_impact(), "closed form, Thornton 1997", 1e-8),
        (
            "ball that adheres, at twice the speed at which it stays: restitution",
            known.adhering_impact(),
            "closed form to three digits, Thornton and Ning 1998",
            1e-3,
        ),
    ):
        run = dockdyn.simulate(load(tables))
        along = run["velocity"].sel(body="ball", axis="z").values
        found.append(Line(name, "", float(-along[-1] / along[0]), expected, "1", by, trusted))
    tables, delay = known.creeping_contact()
    ours = 1e6 * dockdyn.margins(load(tables))["critical_delay_s"]
    name = "ball on a standard linear solid: critical delay"
    found.append(Line(name, "", ours, 1e6 * delay, "µs", form, 1e-7 * 1e6 * delay))
    tables, period = known.drawn_block()
    ours = float(np.mean(np.diff(known.turning_times(dockdyn.simulate(load(tables))))))
    name = "block drawn through a spring: period of its stick–slip"
    found.append(Line(name, "", ours, period, "s", form, 2e-3 * period))
    tables, way = known.brick_on_incline(3600.0)
    run = dockdyn.simulate(load(tables))
    crept = 1e6 * float(np.ptp(run["position"].sel(body="brick").values[run.time.values >= 60.0] @ way))
    found.append(
        Line("brick on an incline of 20° for an hour: creep after the first minute", "", crept, 0.0, "µm", form, 1.0)
    )
    tables, expected = known.ball_that_rolls()
    run = dockdyn.simulate(load(tables))
    places = run["position"].sel(body="ball", axis="x").values
    ours = {"way": float(places[-1]), "time": known.stopping_time(run)}
    for key, unit in (("way", "m"), ("time", "s")):
        trusted = 1e-3 * expected[key]
        found.append(Line(f"ball that rolls to rest: {key}", "", ours[key], expected[key], unit, form, trusted))
    tables, expected = known.disc_that_spins()
    run = dockdyn.simulate(load(tables))
    ours = {
        "angle": float(run["rotation"].sel(body="ball", axis="z")[-1]),
        "rate": float(known.inertial_rates(run)[50, 2]),
    }
    for key, name, unit in (("rate", "rate after 0.5 s", "rad/s"), ("angle", "angle until it rests", "rad")):
        trusted = 1e-7 * expected[key]
        found.append(Line(f"disc that spins to rest: {name}", "", ours[key], expected[key], unit, form, trusted))
    ours, expected = known.least_friction_that_jams(load), known.DEPTH / (2 * known.OFFSET)
    found.append(Line("peg in a hole: least friction by which it jams", "", ours, expected, "1", form, 1e-3 * expected))
    return [*found, *patches()]


def patches() -> list[Line]:
    """Return forces of faces that press over an area, by clouds of points."""
    import contact_patches as known

    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for tilt in (0.0, 1.0):
            ours, expected = (
                known.punch_force(load, folder, 8_000, np.radians(tilt)),
                known.punch_closed_form(np.radians(tilt)),
            )
            found.append((f"flat punch on a plane, tilted by {tilt:g}°, 8,000 points: force", ours, expected))
        ours, expected = known.shaft_force(load, folder, 8_000), known.shaft_closed_form()
        found.append(("shaft in a wider hole, 8,000 points: force", ours, expected))
        for turn, shift in ((0.0, (0.07, -0.11)), (17.0, (0.05, 0.06)), (100.0, (0.08, -0.09))):
            place = np.radians(turn), shift
            ours, expected = known.block_force(load, folder, 20_000, *place), known.block_closed_form(*place)
            found.append(
                (f"block on a block, turned by {turn:g}°, overlap in part, 20,000 points a side: force", ours, expected)
            )
    return [Line(name, "", ours, expected, "N", "closed form", 0.01 * expected) for name, ours, expected in found]


def published() -> list[Line]:
    """Return what others print of other cases."""
    import published_cases as known

    rows = [
        *known.of_delays(),
        *known.of_runs(load),
        *known.of_balls(load),
        *known.of_hinged_beam(load),
        *known.of_stopped_beam(load),
        *known.of_spinning_beam(load),
    ]
    return [
        Line(name, f"{theirs:g}", ours, theirs, unit, by, trusted) for name, ours, theirs, unit, by, trusted in rows
    ]


def elastic_half_spaces() -> list[Line]:
    """Return oblique impacts of a ball beside a solution without springs for its surface."""
    import oblique_impacts as known
    from elastic_annuli import velocity_left

    found, materials = [], (known.BALL, known.ANVIL, known.RADIUS, known.DENSITY)
    for angle in (3.703, 9.496, 20.012):
        ours, _ = known.rebound(load, angle)
        theirs = velocity_left(*materials, known.COEFFICIENT, known.RESTITUTION, known.SPEED, angle)
        name = f"oblique impact, {angle:g}° from the normal: velocity left along the anvil"
        found.append(Line(name, "", ours, theirs, "1", "elastic half-spaces by annuli, NumPy", 5e-3 * theirs))
    return found


def measured() -> list[Line]:
    """Return what was measured, of which no number was fitted."""
    from oblique_impacts import SPIN, TANGENTIAL, rebound

    by = "measured, Kharaz et al. 2001; stiffness of the anvil recalled"
    kept = "oblique impact, {:g}° from the normal: velocity left along the anvil"
    spin = "oblique impact, {:g}° from the normal: spin"
    return [
        *(
            Line(kept.format(a), "", rebound(load, a)[0], value, "1", by, 0.05 * value)
            for a, value in TANGENTIAL.items()
        ),
        *(Line(spin.format(a), "", rebound(load, a)[1], value, "rad/s", by, 0.15 * value) for a, value in SPIN.items()),
    ]


def main() -> int:
    written, wrong = [INTRODUCTION], []
    tables = [*of_papers(), ("Contacts", contacts())]
    tables += [
        (
            "Beside other programs",
            [*engines(), *components(), *of_drake(), *patches_of_drake(), *elastic_half_spaces()],
        ),
        ("Beside other publications", published()),
    ]
    tables += [("Beside measurements", measured())]
    for title, lines in tables:
        written.append(f"## {title}\n\n{HEAD}\n" + "\n".join(line.text() for line in lines) + "\n")
        wrong += [line.quantity for line in lines if not abs(line.computed - line.independent) <= line.trusted]
    PAGE.write_text("\n".join(written), encoding="utf-8")
    print(f"Written: {PAGE.relative_to(ROOT)}")
    for quantity in wrong:
        print(f"differs by more than is trusted: {quantity}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
